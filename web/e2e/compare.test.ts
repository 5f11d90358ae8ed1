// Does a reader who compares the points of a sweep see what he chose, in any window, and take it home?
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch, open, picture, type Reports, whatIsMissing, writeReports } from "./browser";

const kChosen = "#compare?metric=packet_latency_p99&x=traffic.load&split=switch.buffer&log=y";

describe.skipIf(whatIsMissing() !== "")("the comparison of a sweep's points", () => {
  let browser: Browser;
  let reports: Reports;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "banyan-compare-"));
    reports = writeReports();
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
    reports?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const at = (hash: string, width = 1280) =>
    open(browser, reports.compared + hash, { viewport: { width, height: 900 } });
  const plots = (page: Page) => page.locator("#compare figure.compared");
  const choose = (page: Page, name: string, option: string) =>
    page.locator(`#compare select[name="${name}"]`).selectOption({ label: option });
  const curves = (page: Page, plot = 0) => plots(page).nth(plot).locator("div.legend button").allInnerTexts();
  const subtitles = (page: Page) => page.locator("#compare .chart-subtitle").allInnerTexts();
  const drawings = (page: Page) =>
    page
      .locator("#compare canvas")
      .evaluateAll((all) => all.map((canvas) => (canvas as HTMLCanvasElement).toDataURL()));
  /** What is said of the points of the first plot, from left to right, for the curve that the walk begins on. */
  async function walk(page: Page): Promise<string[]> {
    await plots(page).first().locator(".plot").focus();
    const said: string[] = [];
    for (let i = 0; i < 3; ++i) {
      await page.keyboard.press("ArrowRight");
      said.push(await page.locator("#compare .tooltip").first().innerText());
    }
    return said;
  }

  it("begins with latency over load, curves over each other and seeds pooled", async () => {
    const { page, complaints } = await at("");
    expect(await plots(page).count()).toBe(1);
    expect(await curves(page)).toEqual([
      "dimension_order, buffer = 2",
      "dimension_order, buffer = 8",
      "o1turn, buffer = 2",
      "o1turn, buffer = 8",
    ]);
    const said = await walk(page);
    expect(said[0]).toMatch(/^dimension_order, buffer = 2\nload = 0\.1: [\d.]+ ± [\d.]+ cycles\n3 samples, steady$/);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it("has units on its axes and in the table of values", async () => {
    const { page } = await at("#compare?metric=packet_latency&x=switch.buffer");
    expect(await page.locator("#compare .axis-name.below").innerText()).toBe("switch.buffer (flits)");
    const heads = await page.locator("table.values").first().locator("th").allTextContents();
    expect(heads.slice(0, 4)).toEqual(["routing", "switch.buffer (flits)", "run.seed", "traffic.load (flits/cycle)"]);
    expect(heads).toContain("packet_latency (cycles)");
    await page.context().close();
  });

  it("shows points without a steady state at the upper edge, and not as data", async () => {
    const { page } = await at("");
    const said = await walk(page);
    expect(said[2]).toMatch(/load = 0\.9: no steady state\nsaturated$/);
    await page.waitForTimeout(200);
    const spot = await page.locator("#compare .spot").first().boundingBox();
    const over = await page.locator("#compare .u-over").first().boundingBox();
    if (spot === null || over === null) throw new Error("no point is shown");
    expect(Math.abs(spot.y + spot.height / 2 - over.y)).toBeLessThan(3);
    // The axis is made for the data: their latencies are below 60 cycles.
    const first = await page.locator("#compare canvas").first();
    expect(await first.isVisible()).toBe(true);
    await page.context().close();
  });

  it("has metric, percentile, axis, plots, values and seeds for choice, each in the address", async () => {
    const { page, complaints } = await at("");
    const hash = () => decodeURIComponent(new URL(page.url()).hash);
    await choose(page, "as", "p99");
    expect(hash()).toContain("metric=packet_latency_p99");
    expect(await page.locator("#compare .axis-name").first().innerText()).toBe("packet_latency_p99 (cycles)");
    await choose(page, "one plot per", "buffer");
    expect(hash()).toContain("split=switch.buffer");
    expect(await subtitles(page)).toEqual(["buffer = 2", "buffer = 8"]);
    expect(await curves(page, 1)).toEqual(["dimension_order", "o1turn"]);
    await choose(page, "routing", "o1turn");
    expect(hash()).toContain("only=routing=o1turn");
    expect(await subtitles(page)).toEqual(["buffer = 2, routing = o1turn", "buffer = 8, routing = o1turn"]);
    await page.getByLabel("seeds pooled").uncheck();
    expect(hash()).toContain("seeds=apart");
    expect(await curves(page)).toEqual(["seed = 1", "seed = 2", "seed = 3"]);
    await page.getByLabel("seeds pooled").check();
    const before = await drawings(page);
    await page.getByLabel("log y").check();
    await page.getByLabel("log x").check();
    expect(hash()).toContain("log=xy");
    expect(await drawings(page)).not.toEqual(before);
    await choose(page, "over", "buffer");
    expect(hash()).toContain("x=switch.buffer");
    expect(hash()).not.toContain("split=");
    await choose(page, "Metric", "throughput");
    expect(hash()).toContain("metric=throughput&x=time");
    expect(await page.locator("#compare .axis-name.below").innerText()).toBe("cycles");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it("keeps in the address which curves are hidden, in all plots", async () => {
    const { page, complaints } = await at("#compare?metric=packet_latency&x=traffic.load&split=switch.buffer");
    const pressed = () =>
      page
        .locator("#compare div.legend button")
        .evaluateAll((all) => all.map((button) => button.getAttribute("aria-pressed")));
    expect(await pressed()).toEqual(["true", "true", "true", "true"]);
    const whole = await drawings(page);
    await page.locator("#compare div.legend button").nth(1).click();
    expect(await pressed()).toEqual(["true", "false", "true", "false"]);
    expect(new URL(page.url()).hash).toContain("hide=o1turn");
    // A chart further down hides curves of its own.
    const chart = page.locator("figure.chart").first();
    await chart.locator("div.legend button").first().click();
    expect(new URL(page.url()).hash).toMatch(/^#compare\?.*hide=o1turn.*&hide0=/);
    await page.mouse.move(0, 0);
    await choose(page, "Metric", "hops");
    expect(await pressed()).toEqual(["true", "false", "true", "false"]);
    await choose(page, "Metric", "packet_latency");
    const some = await drawings(page);
    expect(some).not.toEqual(whole);
    await page.reload();
    expect(await pressed()).toEqual(["true", "false", "true", "false"]);
    expect(await drawings(page)).toEqual(some);
    expect(await chart.locator('div.legend button[aria-pressed="false"]').count()).toBe(1);
    await chart.locator("div.legend button").first().click();
    await page.locator("#compare div.legend button").nth(3).click();
    expect(new URL(page.url()).hash).not.toContain("hide");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it("marks uncertain points, counts them, and says so of each", async () => {
    const { page } = await at("");
    const tiles = await page.locator(".tile").allInnerTexts();
    expect(tiles.some((text) => /^\d+\s+uncertain$/.test(text))).toBe(true);
    expect(await page.locator("#compare .legend .note").allInnerTexts()).toContain(
      "uncertain verdict: a longer run may tell",
    );
    // The static drawing says the same of the same points.
    const rings = await page.locator("figure.chart").first().locator(".static circle.doubt").count();
    expect(rings).toBeGreaterThan(0);
    expect(await page.locator("figure.chart").first().locator(".live circle.doubt").count()).toBe(1);
    await page.context().close();
  });

  it.each([400, 1280, 2000])("has legends no taller than their plots in a window of %i pixels", async (width) => {
    const { page } = await at("#compare?metric=throughput&x=time&seeds=apart", width);
    await page.locator("#compare canvas").first().waitFor();
    await picture(page, `legend-${width}`);
    const taller = await page.locator(".live").evaluateAll((all) =>
      all.flatMap((live) => {
        const plot = live.querySelector(".plot")?.getBoundingClientRect().height ?? 0;
        const legend = live.querySelector(".legend")?.getBoundingClientRect().height ?? 0;
        return legend > plot + 1 ? [`${legend} > ${plot}`] : [];
      }),
    );
    expect(taller).toEqual([]);
    await page.context().close();
  });

  it.each([400, 1280])("keeps in sight what marks mean, in a window of %i pixels", async (width) => {
    const { page } = await at("#compare?metric=packet_latency&x=traffic.load&seeds=apart&log=y", width);
    await page.locator("#compare canvas").first().waitFor();
    await picture(page, `notes-${width}`);
    const legends = await page.locator("#compare .legend").evaluateAll((all) =>
      all.map((legend) => {
        const bottom = legend.getBoundingClientRect().bottom;
        const notes = [...legend.querySelectorAll(".note")];
        return {
          notes: notes.length,
          lost: notes.filter((one) => one.getBoundingClientRect().bottom > bottom + 1).length,
        };
      }),
    );
    expect(legends).toEqual([{ notes: 2, lost: 0 }]);
    await page.context().close();
  });

  it("says how many points a logarithmic axis leaves out", async () => {
    const zero = "#compare?metric=serialization_latency&x=traffic.load";
    const notes = async (hash: string) => {
      const { page } = await at(hash);
      const found = await page.locator("#compare .legend .note").allInnerTexts();
      await page.context().close();
      return found.join("\n");
    };
    expect(await notes(`${zero}&log=y`)).toMatch(/\d+ points at or below 0 are not on a logarithmic axis/);
    expect(await notes(zero)).not.toContain("logarithmic");
  });

  it("draws the curves of all points over time in one plot", async () => {
    const { page } = await at("#compare?metric=throughput&x=time");
    expect(await plots(page).count()).toBe(1);
    expect((await curves(page)).length).toBe(12);
    expect((await curves(page))[2]).toBe("dimension_order, buffer = 2, load = 0.9");
    await page.context().close();
  });

  it("comes back from its address, and goes where a changed address says", async () => {
    const { page } = await at(kChosen);
    const drawn = await drawings(page);
    expect(drawn.length).toBe(2);
    await page.reload();
    expect(await drawings(page)).toEqual(drawn);
    await page.evaluate(() => {
      location.hash = "#compare?metric=hops&x=switch.buffer";
    });
    await expect.poll(() => plots(page).count()).toBe(1);
    expect(await page.locator('#compare select[name="Metric"]').inputValue()).toBe("hops");
    await page.evaluate(() => {
      location.hash = "#compare?metric=nonsense&x=nowhere&only=routing%3Dnothing";
    });
    await expect.poll(() => page.locator('#compare select[name="Metric"]').inputValue()).toBe("packet_latency");
    await page.context().close();
  });

  it("says where more curves are drawn than colours and dashes tell apart", async () => {
    const { page } = await open(browser, reports.many);
    const note = page.locator("#compare p.soft.small:not([hidden])").filter({ hasText: "curves" });
    await expect.poll(() => note.innerText()).toContain("35 curves: colours and dashes repeat after 32");
    expect(await page.locator("#figures ~ * .chart-subtitle, svg").allInnerTexts()).not.toEqual([]);
    await choose(page, "buffer", "4");
    await expect.poll(() => note.count()).toBe(0);
    await page.context().close();
  });

  it("is headed as what it is where a search for saturation chose the points", async () => {
    const { page, complaints } = await open(browser, reports.search);
    const text = await page.locator("main").innerText();
    expect(text).toContain("Search for saturation of many.toml");
    expect(text).toContain("the network saturates between");
    expect(text).not.toContain("Sweep of");
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it.each([400, 700, 1280, 2000])("clips nothing in a window of %i pixels", async (width) => {
    for (const [name, hash] of [
      ["latency", ""],
      ["multiples", kChosen],
      ["time", "#compare?metric=packet_latency&x=time&log=y"],
      ["small", "#compare?metric=source_queueing&x=switch.buffer&split=traffic.load"],
    ] as const) {
      const { page } = await at(hash, width);
      await page.locator("#compare canvas").first().waitFor();
      await picture(page, `compare-${name}-${width}`);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      const out = await page.locator("#compare :is(select, button, label, span, canvas)").evaluateAll((all) =>
        all.flatMap((one) => {
          const { left, right, width: wide } = one.getBoundingClientRect();
          return wide > 0 && (left < 0 || right > window.innerWidth) ? [one.outerHTML.slice(0, 200)] : [];
        }),
      );
      expect(out).toEqual([]);
      // What is drawn ends before the edge of its canvas; a name or a marker that reaches it was cut there.
      const cut = await page.locator("#compare canvas").evaluateAll((all) =>
        all.flatMap((one) => {
          const canvas = one as HTMLCanvasElement;
          const { width: wide, height } = canvas;
          const context = canvas.getContext("2d");
          const edges = { left: [0, 0, 1, height], right: [wide - 1, 0, 1, height], top: [0, 0, wide, 1] } as const;
          return Object.entries(edges).flatMap(([edge, [x, y, w, h]]) =>
            context?.getImageData(x, y, w, h).data.some((value, i) => i % 4 === 3 && value > 0) ? [edge] : [],
          );
        }),
      );
      expect(cut).toEqual([]);
      await page.context().close();
    }
  });

  it("saves a plot as SVG, PDF, PNG and as the matplotlib program that draws it", async () => {
    const { page, complaints } = await at("");
    const saved = async (kind: string, name: string) => {
      const download = page.waitForEvent("download");
      await plots(page).first().getByRole("button", { name: kind, exact: true }).click();
      expect((await download).suggestedFilename()).toBe(name);
      const path = join(folder, name);
      await (await download).saveAs(path);
      return path;
    };
    const svg = readFileSync(await saved("SVG", "packet-latency.svg"), "utf8");
    expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    const shown = await page.evaluate((text) => {
      const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
      return [...parsed.querySelectorAll("text")].map((one) => one.textContent);
    }, svg);
    for (const text of [
      "Packet latency",
      "traffic.load (flits/cycle)",
      "packet_latency (cycles)",
      "o1turn, buffer = 8",
    ]) {
      expect(shown).toContain(text);
    }
    const pdf = readFileSync(await saved("PDF", "packet-latency.pdf"), "latin1");
    expect(pdf).toMatch(/^%PDF-1\.4\n/);
    expect(pdf).toMatch(/%%EOF\n$/);
    // Where the table of its objects says they are, they are.
    const places = [...pdf.matchAll(/^(\d{10}) 00000 n/gm)].map(([, place]) => Number(place));
    expect(places.map((place) => pdf.slice(place, place + 7))).toEqual([1, 2, 3, 4, 5, 6].map((n) => `${n} 0 obj`));
    const png = readFileSync(await saved("PNG", "packet-latency.png"));
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    expect(png.readUInt32BE(16)).toBe(1280);
    const program = await saved("matplotlib", "packet-latency.py");
    rmSync(join(folder, "packet-latency.pdf"));
    if (hasMatplotlib()) {
      execFileSync("/usr/bin/python3", [program], { cwd: folder, env: { ...process.env, MPLBACKEND: "Agg" } });
      expect(statSync(join(folder, "packet-latency.pdf")).size).toBeGreaterThan(5000);
    }
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});

function hasMatplotlib(): boolean {
  try {
    execFileSync("/usr/bin/python3", ["-c", "import matplotlib"], { stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}
