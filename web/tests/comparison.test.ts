// Does a comparison draw what the reader chose, and does its address bring it back?
import { describe, expect, it } from "vitest";
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

  it("ends a curve over time where the first of its seeds ends", () => {
    const data = sweep();
    const longer = data.points[1]?.series[0];
    if (longer) longer.values = [0, 1, 1, 90, 91];
    const lines = chartsOf(data, verdicts, choice({ metric: "throughput", x: "time" }))[0]?.lines;
    expect(lines?.[0]?.x).toEqual([5, 15, 25]);
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
