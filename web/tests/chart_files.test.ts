// Does a saved chart hold what the page shows, in every kind of file?
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { toCsv, toPdf, toSvg } from "../src/chart_files";
import type { ChartData } from "../src/data";
import { toMatplotlib } from "../src/matplotlib";
import { axis, line } from "./helpers";

const kMarkers = [
  "M-4.00 0.00 a4 4 0 1 0 8 0 a4 4 0 1 0 -8 0Z",
  "M-3.50 -3.50 h7 v7 h-7Z",
  "M0.00 -4.60 L4.40 3.40 L-4.40 3.40Z",
];

/** Two curves, of which the second is saturated at its end. */
const chart: ChartData = {
  title: "Packet latency",
  subtitle: "",
  x: { ...axis(), label: "traffic.load" },
  y: { ...axis(), label: "packet_latency (cycles)", unit: "cycles" },
  lines: [
    line([0.1, 0.2], [11, 12], { label: "1q", error: [17.5, 17.5] }),
    line([0.1, 0.2], [21, null], { label: "voqsw", colour: 1, verdict: ["steady", "saturated"] }),
  ],
};

describe("a chart as a file", () => {
  const colour = () => "#123456";
  const look = { markers: kMarkers, colour };

  it("is well-formed SVG with every curve and an arrow for what is saturated", () => {
    const hostile = { ...chart, title: "</svg><script>&" };
    const svg = toSvg(hostile, look);
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
      const svg = toSvg({ ...chart, lines }, look);
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
    const named = [...toSvg({ ...chart, lines }, look).matchAll(/y="[4-7]\d\d[^>]*start">([^<]*)/g)].map(
      ([, name]) => name,
    );
    expect(new Set(named).size).toBe(named.length);
    expect(named.length).toBeGreaterThan(20);
  });

  it("is PDF whose table of objects points at them", () => {
    const pdf = toPdf({ ...chart, title: "a) (b \\ \u03b3" }, look);
    const start = Number(/startxref\n(\d+)/.exec(pdf)?.[1]);
    expect(pdf.slice(start, start + 4)).toBe("xref");
    const places = [...pdf.slice(start).matchAll(/(\d{10}) 00000 n/g)].map((found) => Number(found[1]));
    expect(places.length).toBe(6);
    places.forEach((place, i) => {
      expect(pdf.slice(place).startsWith(`${i + 1} 0 obj`)).toBe(true);
    });
    const stream = /\/Length (\d+) >>\nstream\n([\s\S]*?)\nendstream/.exec(pdf);
    expect(stream?.[2]?.length).toBe(Number(stream?.[1]));
  });

  it("is a program of matplotlib with the same numbers", () => {
    const program = toMatplotlib(chart, colour, "latency");
    expect(program).toContain("axes.errorbar([0.1, 0.2], [11, 12], yerr=[");
    expect(program).toContain('axes.plot([0.2], [1], "^"');
    expect(program).toContain('label="voqsw"');
  });

  it("has the marker of each curve", () => {
    const lines = [0, 1, 2].map((colour) => line([1], [1], { colour }));
    const areas = [...toSvg({ ...chart, lines }, look).matchAll(/<path d="([^"]*)Z"/g)].map(([, d]) => d ?? "");
    expect(new Set(areas.map((d) => d.split("L").length)).size).toBe(3);
  });

  it("says which points a logarithmic axis leaves out", () => {
    const lines = [line([1, 2, 3], [0, -1, 5]), line([1], [2])];
    const dropped = { ...chart, y: { ...chart.y, log: true }, lines };
    const said = "2 points at or below 0 are not on a logarithmic axis";
    expect(toSvg(dropped, look)).toContain(said);
    expect(toMatplotlib(dropped, colour, "x")).toContain(said);
    expect(toSvg({ ...dropped, y: chart.y }, look)).not.toContain("logarithmic");
    expect(toSvg({ ...dropped, lines: [line([1], [0])] }, look)).toContain("1 point at or below 0 is not on");
  });

  it("has Greek letters and subscripts", () => {
    const greek = { ...chart, title: "\u03bc_{SYN} \u2265 $5" };
    expect(toPdf(greek, look)).toContain("/F2 14 Tf 0 Ts (\\155) Tj /F1 10.5 Tf -4.2 Ts (\\123\\131\\116) Tj");
    expect(toSvg(greek, look)).toMatch(/\u03bc<tspan dy="4.2" font-size="75%">SYN<\/tspan>/);
    expect(toMatplotlib(greek, colour, "x")).toContain('"\u03bc$_{\\\\mathrm{SYN}}$ \u2265 \\\\$5"');
  });

  it("is a table of its points", () => {
    const lines = [line([1, 2], [3, null], { label: 'a, "b"', error: [0.5, null], verdict: ["steady", "saturated"] })];
    expect(toCsv({ ...chart, lines })).toBe(
      'curve,traffic.load,packet_latency (cycles),half width,samples,verdict\n"a, ""b""",1,3,0.5,,steady\n"a, ""b""",2,,,,saturated\n',
    );
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
      const zero = line([0, 2], [0, 5], { uncertain: [null, true], error: [1, 9] });
      const log = { ...chart, title: "\u03bc_{a b} $5", x: axis(true), y: axis(true), lines: [zero] };
      const unknown = [
        line([0.1, 0.2], [1, null], { error: [null, null], verdict: ["steady", "saturated"] }),
        line([0.1, 0.2], [null, null], { error: [null, null], verdict: ["saturated", "saturated"] }),
        line([0.1, 0.2], [null, null]),
      ];
      for (const drawn of [chart, log, { ...chart, lines: unknown }, many(2, ["a", "b", "$c_d"]), many(40)]) {
        const folder = mkdtempSync(join(tmpdir(), "banyan-matplotlib-"));
        const options = { cwd: folder, env: { ...process.env, MPLBACKEND: "Agg" }, encoding: "utf8" as const };
        const run = spawnSync(python, ["-c", toMatplotlib(drawn, colour, "drawn")], options);
        const files = readdirSync(folder);
        rmSync(folder, { recursive: true });
        expect(run.stderr).toBe("");
        expect(files).toEqual([expect.stringMatching(/\.pdf$/)]);
      }
    },
    60_000,
  );
});
