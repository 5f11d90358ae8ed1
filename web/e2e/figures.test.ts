// Can every figure of every page be taken home, as a picture, as a program that draws it, and as numbers?
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch, open, type Reports, whatIsMissing, writeReports } from "./browser";

const kJob = `topology = { name = "fat_tree", arity = 2, levels = 2 }
switch = "vc_router"
routing = "up_down"
run = { tables = "channels" }
[[job]]
name = "all-reduce"
generator = { collective = "all_reduce", bytes = 4096, ranks = 4 }
`;

const kTrees = `topology = { name = "multistage_cube", terminals = 16, radix = 2 }
switch = { name = "output_queued", buffer = 4 }
routing = "destination_tag"
traffic = { name = "hot_spot", load = 0.6, fraction = 0.3, targets = [5] }
run = { warmup = 50, measure = 350, drain = 0, trees = true, trees_interval = 10 }
`;

const kKinds = ["SVG", "PDF", "PNG", "matplotlib", "CSV"] as const;
const kBegins = { SVG: "<svg ", PDF: "%PDF-1.4", PNG: "\u0089PNG", matplotlib: "import matplotlib", CSV: "" };
const hasMatplotlib = () => spawnSync("/usr/bin/python3", ["-c", "import matplotlib"]).status === 0;

describe.skipIf(whatIsMissing() !== "")("the figures of a page", () => {
  let browser: Browser;
  let reports: Reports;
  let folder: string;
  let pages: Record<string, string>;

  function report(name: string, experiment: string): string {
    writeFileSync(join(folder, `${name}.toml`), experiment);
    const banyan = (...words: string[]) =>
      execFileSync(process.env.BANYAN_PROGRAM ?? "", words, { cwd: folder, stdio: "pipe" });
    banyan("run", `${name}.toml`, "--out", name);
    banyan("report", name);
    return pathToFileURL(join(folder, name, "report.html")).href;
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "banyan-figures-"));
    reports = writeReports();
    const { run, study, sweep } = reports;
    pages = { run, study, sweep, job: report("job", kJob), trees: report("trees", kTrees) };
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
    reports?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(["run", "study", "sweep", "job", "trees"])("are saved in every kind: %s", async (name) => {
    const first = await open(browser, pages[name] ?? "");
    await first.page.locator("canvas").first().waitFor();
    // One canvas is one figure: charts, comparisons, the network and its curves.
    const menus = await first.page.locator(".save:visible").count();
    await expect.poll(() => first.page.locator("canvas:visible").count()).toBe(menus);
    await first.page.context().close();
    const programs: string[] = [];
    for (let i = 0; i < menus; ++i) {
      // Of one visit the browser takes some ten files before it asks.
      const { page, complaints } = await open(browser, pages[name] ?? "");
      await page.locator("canvas").first().waitFor();
      for (const kind of kKinds) {
        const download = page.waitForEvent("download");
        await page.locator(".save:visible").nth(i).getByRole("button", { name: kind, exact: true }).click();
        const end = { SVG: "svg", PDF: "pdf", PNG: "png", matplotlib: "py", CSV: "csv" }[kind];
        const path = join(folder, `${name}-${i}.${end}`);
        expect((await download).suggestedFilename()).toMatch(new RegExp(`^[\\w.-]+\\.${end}$`));
        await (await download).saveAs(path);
        expect(readFileSync(path, "latin1").slice(0, kBegins[kind].length)).toBe(kBegins[kind]);
        expect(statSync(path).size).toBeGreaterThan(40);
        if (kind === "matplotlib") programs.push(path);
      }
      expect(complaints).toEqual([]);
      await page.context().close();
    }
    expect(programs.length).toBeGreaterThan(1);
    if (hasMatplotlib()) {
      // All in one process: to start matplotlib takes longer than to draw.
      const all =
        "import sys\nimport matplotlib.pyplot as plt\n" +
        "for name in sys.argv[1:]:\n  with open(name) as file: exec(file.read())\n  print(plt.gcf().axes != [])\n  plt.close('all')";
      const options = { cwd: folder, env: { ...process.env, MPLBACKEND: "Agg" }, encoding: "utf8" as const };
      const drawn = spawnSync("/usr/bin/python3", ["-c", all, ...programs], options);
      expect(drawn.stderr).toBe("");
      expect(drawn.stdout).toBe("True\n".repeat(programs.length));
    }
  });
});
