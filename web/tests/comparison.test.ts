// Does a comparison draw what the reader chose, and does its address bring it back?
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { toMatplotlib, toPdf, toSvg } from "../src/chart_files";
import {
  abscissas,
  type Choice,
  type ComparisonData,
  chartsOf,
  firstChoice,
  type RunState,
  readChoice,
  writeChoice,
} from "../src/comparison";
import { line } from "./helpers";

/** Two switches, two loads, two seeds; the last point has no latency. The program pools the seeds. */
function sweep(): ComparisonData {
  const points = [];
  for (const s of [0, 1]) {
    for (const l of [0, 1]) {
      for (const r of [0, 1]) {
        const known = !(s === 1 && l === 1);
        points.push({
          at: [s, l, r],
          metrics: [known ? ([10 * (s + 1) + l + 2 * r, 1] as [number, number]) : null],
          series: [{ start: 5, interval: 10, values: [s, l, r] }],
        });
      }
    }
  }
  return {
    time: "cycles",
    axes: [
      { key: "switch.queues", name: "queues", unit: "", seed: false, names: ["1q", "voqsw"], numbers: [null, null] },
      {
        key: "traffic.load",
        name: "load",
        unit: "flits/cycle",
        seed: false,
        names: ["0.1", "0.2"],
        numbers: [0.1, 0.2],
      },
      { key: "run.seed", name: "seed", unit: "", seed: true, names: ["1", "2"], numbers: [1, 2] },
    ],
    metrics: [{ name: "packet_latency", unit: "cycles" }],
    series: [{ name: "throughput", unit: "bytes/ns" }],
    points,
    pools: [0, 1, 2, 3].map((pool) => ({
      points: [2 * pool, 2 * pool + 1],
      metrics: [pool === 3 ? null : [10 * Math.floor(pool / 2) + 11 + (pool % 2), 17.5, 2]],
    })),
  };
}

const verdicts: RunState[] = ["steady", "steady", "steady", "steady", "steady", "steady", "saturated", "saturated"].map(
  (verdict) => ({ verdict, certain: true }),
);

function choice(change: Partial<Choice>): Choice {
  const first = firstChoice(sweep());
  if (first === null) throw new Error("nothing to choose");
  return { ...first, ...change };
}

describe("a comparison", () => {
  it("has no mean of the seeds that alone found a steady state", () => {
    const data = sweep();
    const last = data.points[7];
    if (last === undefined) throw new Error("no point");
    last.metrics = [[25, 1]];
    const line = chartsOf(data, [...verdicts.slice(0, 7), { verdict: "steady", certain: true }], choice({}))[0]
      ?.lines[1];
    expect(line?.x).toEqual([0.1, 0.2]);
    expect(line?.y[1]).toBeNull();
    expect(line?.verdict?.[1]).toBe("saturated");
  });

  it("marks a point as uncertain when one of its seeds is", () => {
    const states = verdicts.map((state, i) => ({ ...state, certain: i !== 3 }));
    const [first, second] = chartsOf(sweep(), states, choice({}))[0]?.lines ?? [];
    expect(first?.uncertain).toEqual([null, true]);
    expect(second?.uncertain).toBeUndefined();
  });

  it("shows one value of an axis where the reader wants no more, and keeps that in the address", () => {
    const data = sweep();
    const one = choice({ only: { "switch.queues": "voqsw" }, pooled: false });
    expect(writeChoice(one)).toContain("only=switch.queues%3Dvoqsw");
    expect(readChoice(writeChoice(one), data)).toEqual(one);
    const [chart] = chartsOf(data, verdicts, one);
    expect(chart?.subtitle).toBe("queues = voqsw");
    expect(chart?.lines.map(({ label }) => label)).toEqual(["seed = 1", "seed = 2"]);
  });

  it("draws latency over the last axis of numbers, pooled over seeds", () => {
    const [chart, ...more] = chartsOf(sweep(), verdicts, choice({}));
    expect(more).toEqual([]);
    expect(chart?.lines.map(({ label }) => label)).toEqual(["1q", "voqsw"]);
    expect(chart?.x.label).toBe("traffic.load (flits/cycle)");
    expect(chart?.lines[0]?.x).toEqual([0.1, 0.2]);
    expect(chart?.lines[0]?.y).toEqual([11, 12]);
    expect(chart?.lines[0]?.error).toEqual([17.5, 17.5]);
    expect(chart?.lines[0]?.count).toEqual([2, 2]);
  });

  it("is over the load where it was swept, whatever stands behind it", () => {
    const data = sweep();
    const buffer = {
      key: "switch.buffer",
      name: "buffer",
      unit: "flits",
      seed: false,
      names: ["4", "8"],
      numbers: [4, 8],
    };
    data.axes[2] = buffer;
    expect(firstChoice(data)?.x).toBe("traffic.load");
    data.axes[1] = { ...buffer, key: "switch.vcs", name: "vcs" };
    expect(firstChoice(data)?.x).toBe("switch.buffer");
  });

  it("calls a number by a name of one's own, and a bare number by what it is", () => {
    const data = sweep();
    const choice = firstChoice(data);
    if (choice === null) throw new Error("no choice");
    data.axes[2] = {
      key: "switch.buffer",
      name: "buffer",
      unit: "",
      seed: false,
      names: ["shallow", "16"],
      numbers: [4, 16],
    };
    const labels = chartsOf(data, verdicts, choice)[0]?.lines.map(({ label }) => label);
    expect(labels).toContain("1q, shallow");
    expect(labels).toContain("1q, buffer = 16");
  });

  it("keeps a point beyond saturation, without a value", () => {
    const line = chartsOf(sweep(), verdicts, choice({}))[0]?.lines[1];
    expect(line?.y).toEqual([21, null]);
    expect(line?.verdict).toEqual(["steady", "saturated"]);
  });

  it("tells seeds apart on request, with the intervals of the runs", () => {
    const lines = chartsOf(sweep(), verdicts, choice({ pooled: false }))[0]?.lines;
    expect(lines?.map(({ label }) => label)).toEqual([
      "1q, seed = 1",
      "1q, seed = 2",
      "voqsw, seed = 1",
      "voqsw, seed = 2",
    ]);
    expect(lines?.[0]?.error).toEqual([1, 1]);
  });

  it("draws series of all points over each other in time", () => {
    expect(abscissas(sweep(), "throughput", true).map(({ key }) => key)).toContain("time");
    const lines = chartsOf(sweep(), verdicts, choice({ metric: "throughput", x: "time" }))[0]?.lines;
    expect(lines?.map(({ label }) => label)).toEqual([
      "1q, load = 0.1",
      "1q, load = 0.2",
      "voqsw, load = 0.1",
      "voqsw, load = 0.2",
    ]);
    expect(lines?.[1]?.x).toEqual([5, 15, 25]);
    expect(lines?.[1]?.y).toEqual([0, 1, 0.5]);
  });

  it("has one plot per value of an axis, and a curve keeps its colour", () => {
    const charts = chartsOf(sweep(), verdicts, choice({ metric: "throughput", x: "time", split: "traffic.load" }));
    expect(charts.map(({ subtitle }) => subtitle)).toEqual(["load = 0.1", "load = 0.2"]);
    expect(charts[1]?.lines.map(({ label, colour }) => [label, colour])).toEqual([
      ["1q", 0],
      ["voqsw", 1],
    ]);
  });

  it("comes back from its address, and unknown words fall back", () => {
    const chosen = choice({
      metric: "throughput",
      x: "time",
      split: "switch.queues",
      pooled: false,
      logY: true,
      hidden: ["1q", "a&b=c"],
    });
    expect(readChoice(writeChoice(chosen), sweep())).toEqual(chosen);
    expect(readChoice("#compare?metric=none&x=none&split=none", sweep())).toEqual(choice({}));
    expect(readChoice("#figures", sweep())).toBeNull();
  });

  it("has no seeds over which to draw unless the reader tells them apart", () => {
    const keys = (pooled: boolean) => abscissas(sweep(), "packet_latency", pooled).map(({ key }) => key);
    expect(keys(true)).toEqual(["switch.queues", "traffic.load"]);
    expect(keys(false)).toContain("run.seed");
    const told = readChoice("#compare?metric=packet_latency&x=run.seed", sweep());
    expect(told?.x).toBe("traffic.load");
  });

  it("draws over names where no axis has numbers, one curve beside the other", () => {
    const data = sweep();
    const words = choice({ x: "switch.queues" });
    const [chart] = chartsOf(data, verdicts, words);
    expect(chart?.x.names).toEqual(["1q", "voqsw"]);
    expect(chart?.lines.map(({ label }) => label)).toEqual(["load = 0.1", "load = 0.2"]);
    const places = chart?.lines.map(({ x }) => x) ?? [];
    expect(places.flat().map(Math.round)).toEqual([1, 2, 1, 2]);
    expect(new Set(places.flat()).size).toBe(4);
    const names = { ...data, axes: data.axes.map((axis) => ({ ...axis, numbers: axis.numbers.map(() => null) })) };
    expect(firstChoice(names)?.x).toBe("traffic.load");
  });

  it("names the axis in the title of a plot for one of its values", () => {
    const charts = chartsOf(sweep(), verdicts, choice({ split: "switch.queues" }));
    expect(charts.map(({ subtitle }) => subtitle)).toEqual(["queues = 1q", "queues = voqsw"]);
  });
});

describe("a chart as a file", () => {
  const [chart] = chartsOf(sweep(), verdicts, choice({}));
  if (chart === undefined) throw new Error("no chart");
  const colour = () => "#123456";

  it("is well-formed SVG with every curve and an arrow for what is saturated", () => {
    const hostile = { ...chart, title: "</svg><script>&" };
    const svg = toSvg(hostile, colour);
    expect(svg).toContain("&lt;/svg&gt;&lt;script&gt;&amp;");
    expect(svg.match(/#123456/g)?.length).toBeGreaterThan(6);
    expect(svg).toContain(">voqsw</text>");
  });

  it("has a legend that is never taller than the plot, and names its rings", () => {
    for (const count of [2, 30, 60, 300]) {
      const lines = Array.from({ length: count }, (_, i) => ({
        ...line([1, 2], [3, 4], { uncertain: [true, null] }),
        label: `a long name of a mechanism that all curves have in common, load = ${i}`,
      }));
      const svg = toSvg({ ...chart, lines }, colour);
      const height = Number(/ height="(\d+)"/.exec(svg)?.[1]);
      expect(height - 400).toBeLessThanOrEqual(400 - 44 - 48 + 8);
      expect(svg).toMatch(/oad = 1</);
      expect(svg.includes(" more<")).toBe(count > 72);
      expect(svg).toContain(">uncertain verdict: a longer run may tell<");
      expect(svg).toContain('stroke-dasharray="3 3"');
      const rightmost = Math.max(
        ...[...svg.matchAll(/<text x="([\d.]+)" y="[4-7]\d\d[^>]*start">([^<]*)/g)].map(
          ([, x, t]) => Number(x) + 5.5 * (t?.length ?? 0),
        ),
      );
      expect(rightmost).toBeLessThan(640);
    }
  });

  it("folds its legend only as far as it still tells its curves apart", () => {
    const lines = Array.from({ length: 60 }, (_, i) => ({
      ...line([1, 2], [3, 4]),
      label: `dimension_order, buffer = ${i >> 2}, vcs = ${i % 4}`,
    }));
    const named = [...toSvg({ ...chart, lines }, colour).matchAll(/y="[4-7]\d\d[^>]*start">([^<]*)/g)].map(
      ([, name]) => name,
    );
    expect(new Set(named).size).toBe(named.length);
    expect(named.length).toBeGreaterThan(20);
  });

  it("is PDF whose table of objects points at them", () => {
    const pdf = toPdf({ ...chart, title: "a) (b \\ \u03b3" }, colour);
    const start = Number(/startxref\n(\d+)/.exec(pdf)?.[1]);
    expect(pdf.slice(start, start + 4)).toBe("xref");
    const places = [...pdf.slice(start).matchAll(/(\d{10}) 00000 n/g)].map((found) => Number(found[1]));
    expect(places.length).toBe(5);
    places.forEach((place, i) => {
      expect(pdf.slice(place).startsWith(`${i + 1} 0 obj`)).toBe(true);
    });
    const stream = /\/Length (\d+) >>\nstream\n([\s\S]*?)\nendstream/.exec(pdf);
    expect(stream?.[2]?.length).toBe(Number(stream?.[1]));
  });

  it("is a program of matplotlib with the same numbers", () => {
    const program = toMatplotlib(chart, colour);
    expect(program).toContain("axes.errorbar([0.1, 0.2], [11, 12], yerr=[");
    expect(program).toContain('axes.plot([0.2], [1], "^"');
    expect(program).toContain('label="voqsw"');
  });

  const python = spawnSync("/usr/bin/python3", ["-c", "import matplotlib"]).status === 0 ? "/usr/bin/python3" : "";

  it.skipIf(python === "")(
    "runs with Debian's matplotlib, however many curves and names it has",
    () => {
      const many = (count: number, names?: string[]) => ({
        ...chart,
        x: { ...chart.x, ...(names === undefined ? {} : { names }) },
        lines: Array.from({ length: count }, (_, i) => ({
          ...line([1, 2, 3], [3, null, null], { verdict: ["steady", "saturated", "deadlocked"] }),
          label: `curve ${i}`,
        })),
      });
      for (const drawn of [chart, many(2, ["a", "b", "c"]), many(40)]) {
        const folder = mkdtempSync(join(tmpdir(), "banyan-matplotlib-"));
        const options = { cwd: folder, env: { ...process.env, MPLBACKEND: "Agg" }, encoding: "utf8" as const };
        const run = spawnSync(python, ["-c", toMatplotlib(drawn, colour)], options);
        const files = readdirSync(folder);
        rmSync(folder, { recursive: true });
        expect(run.stderr).toBe("");
        expect(files).toEqual([expect.stringMatching(/\.pdf$/)]);
      }
    },
    60_000,
  );
});
