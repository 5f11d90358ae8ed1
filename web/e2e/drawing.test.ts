// Does "banyan export-topology --svg" draw a network as the page of a run does? The program and the page lay it out each
// by themselves.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ReportData } from "../src/data";
import { drawChannels, layOut } from "../src/layout";

const kNetworks: Record<string, string> = {
  grid: '{ name = "mesh", size = [4, 3, 2] }',
  cube: '{ name = "hypercube", degree = 4 }',
  groups: '{ name = "dragonfly", terminals_per_router = 2 }',
  levels: '{ name = "fat_tree" }',
  stages: '{ name = "bidirectional_min", hosts = 16 }',
  ring: '{ name = "graph_file" }',
};

describe.skipIf(process.env.BANYAN_PROGRAM === undefined)("a network that is drawn without a page", () => {
  let folder: string;
  const banyan = (...words: string[]) =>
    execFileSync(process.env.BANYAN_PROGRAM ?? "", words, {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    }).toString();

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "banyan-drawing-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(Object.keys(kNetworks))("has the lines of the page: %s", (shape) => {
    writeFileSync(
      join(folder, `${shape}.toml`),
      `topology = ${kNetworks[shape]}\nswitch = "vc_router"\nrouting = "up_down"\n` +
        'traffic = { name = "uniform", load = 0.02 }\nrun = { duration = 200, tables = "channels" }\n',
    );
    banyan("run", `${shape}.toml`, "--out", shape, "--quiet");
    banyan("report", shape);
    const page = readFileSync(join(folder, shape, "report.html"), "utf8");
    const text = page.match(/<script type="application\/json" id="report-data">(.*?)<\/script>/s)?.[1] ?? "";
    const network = (JSON.parse(text) as ReportData).networks?.[0];
    if (network === undefined) throw new Error("the page has no network");
    expect(network.shape).toBe(shape);
    const layout = layOut(network);
    const svg = banyan("export-topology", `${shape}.toml`, "--svg");
    const [width = 0, height = 0] = (svg.match(/viewBox="0 0 ([\d.]+) ([\d.]+)"/) ?? []).slice(1).map(Number);
    expect(width).toBeCloseTo(layout.width, 2);
    expect(height).toBeCloseTo(layout.height, 2);
    const lines = [...svg.matchAll(/M([-\d.]+) ([-\d.]+)L([-\d.]+) ([-\d.]+)/g)].map((m) => m.slice(1).map(Number));
    const drawn = drawChannels(network, layout);
    expect(lines.length).toBe(drawn.length);
    drawn.forEach((segment, i) => {
      segment.forEach((value, k) => {
        expect(lines[i]?.[k]).toBeCloseTo(value, 2);
      });
    });
  });
});
