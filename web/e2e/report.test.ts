// Does the page work in a browser, for readers with a mouse, a keyboard, a small screen, and without scripts?
import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch, open, picture, type Reports, whatIsMissing, writeReports } from "./browser";

const missing = whatIsMissing();
if (missing !== "") {
  if (process.env.CI) throw new Error(`The report must be tested in a browser, but ${missing}`);
  console.warn(`Skipping the tests of the report in a browser: ${missing}`);
}

describe.skipIf(missing !== "")("the report in a browser", () => {
  let browser: Browser;
  let reports: Reports;

  beforeAll(async () => {
    reports = writeReports();
    browser = await launch();
  });

  afterAll(async () => {
    await browser?.close();
    reports?.remove();
  });

  /** The pixels of a chart's canvas, as text that differs when the drawing does. */
  function drawing(page: Page, chart: number): Promise<string> {
    return page
      .locator("figure.chart canvas")
      .nth(chart)
      .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
  }

  /** Where the first point of the first chart is, in pixels of the window. */
  async function firstPoint(page: Page): Promise<{ x: number; y: number }> {
    const plot = page.locator(".plot").first();
    await plot.scrollIntoViewIfNeeded();
    await plot.focus();
    await page.keyboard.press("ArrowRight");
    await page.locator(".spot:not([hidden])").first().waitFor();
    // The ring glides to its place.
    await page.waitForTimeout(200);
    const box = await page.locator(".spot").first().boundingBox();
    await page.keyboard.press("Escape");
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    if (box === null) throw new Error("no point was shown");
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  }

  it("opens without a complaint and without asking for anything", async () => {
    for (const address of [reports.study, reports.sweep]) {
      const { page, complaints, requests } = await open(browser, address);
      await page.locator("figure.chart.is-live canvas").first().waitFor();
      const figures = await page.locator("figure.chart").count();
      expect(figures).toBeGreaterThan(3);
      expect(await page.locator("figure.chart.is-live canvas").count()).toBe(figures);
      expect(complaints).toEqual([]);
      expect(requests).toEqual([]);
      await page.context().close();
    }
  });

  it("toggles a curve by its legend", async () => {
    const { page } = await open(browser, reports.study);
    const button = page.locator(".legend button").first();
    const before = await drawing(page, 0);
    await button.click();
    expect(await button.getAttribute("aria-pressed")).toBe("false");
    await expect.poll(() => drawing(page, 0)).not.toBe(before);
    await button.press("Enter");
    expect(await button.getAttribute("aria-pressed")).toBe("true");
    await page.mouse.move(0, 0);
    await expect.poll(() => drawing(page, 0)).toBe(before);
    await page.context().close();
  });

  it("shows value, half width, samples and verdict under the mouse", async () => {
    const { page } = await open(browser, reports.study);
    const at = await firstPoint(page);
    const tooltip = page.locator(".tooltip").first();
    expect(await tooltip.isVisible()).toBe(false);
    await page.mouse.move(at.x + 3, at.y + 2);
    await tooltip.waitFor();
    expect(await tooltip.innerText()).toMatch(/^bypass\nγ = 0\.2: [\d.]+ ± [\d.]+ cycles\n[\d,]+ samples, finished$/);
    await page.mouse.move(0, 0);
    await expect.poll(() => tooltip.isVisible()).toBe(false);
    await page.context().close();
  });

  it("shows the configuration of the point that is clicked, and of any row", async () => {
    const { page } = await open(browser, reports.study);
    const at = await firstPoint(page);
    await page.mouse.click(at.x, at.y);
    const panel = page.locator(".panel").first();
    expect(await panel.innerText()).toContain('"extra_stage_cube"');
    expect(await panel.innerText()).toMatch(/State hash\s+[0-9a-f]{16}/);
    await page.getByText("Values", { exact: true }).first().click();
    const button = page.locator("table.values button").first();
    await button.click();
    expect(await button.getAttribute("aria-expanded")).toBe("true");
    expect(await page.locator("table.values pre").first().innerText()).toContain('"seed"');
    await button.click();
    expect(await page.locator("table.values pre").count()).toBe(0);
    await page.context().close();
  });

  it("zooms into what is dragged over and back on a double click", async () => {
    const { page } = await open(browser, reports.study);
    const over = page.locator(".u-over").first();
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    if (box === null) throw new Error("no chart");
    const before = await drawing(page, 0);
    await page.mouse.move(box.x + box.width * 0.3, box.y + box.height * 0.3);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.8, box.y + box.height * 0.8, { steps: 5 });
    await page.mouse.up();
    const reset = page.locator(".reset").first();
    await reset.waitFor();
    expect(await drawing(page, 0)).not.toBe(before);
    await page.mouse.dblclick(box.x + 20, box.y + 20);
    await expect.poll(() => reset.isVisible()).toBe(false);
    await expect.poll(() => drawing(page, 0)).toBe(before);
    await page.context().close();
  });

  it("can be operated by keyboard alone", async () => {
    const { page } = await open(browser, reports.study);
    const reached = new Set<string>();
    for (let i = 0; i < 40; ++i) {
      await page.keyboard.press("Tab");
      reached.add(await page.evaluate(() => `${document.activeElement?.tagName}.${document.activeElement?.className}`));
    }
    for (const stop of ["SELECT.", "DIV.plot", "BUTTON.", "A."]) expect([...reached]).toContain(stop);
    await page.locator(".plot").first().focus();
    const said = () => page.locator(".tooltip").first().innerText();
    await page.keyboard.press("ArrowRight");
    expect(await said()).toContain("γ = 0.2");
    await page.keyboard.press("ArrowRight");
    expect(await said()).toContain("γ = 0.5");
    await page.keyboard.press("ArrowDown");
    expect(await said()).toMatch(/^isolated BG/);
    await page.keyboard.press("+");
    expect(await page.locator(".reset").first().isVisible()).toBe(true);
    await page.keyboard.press("0");
    expect(await page.locator(".reset").first().isVisible()).toBe(false);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    expect(await page.locator(".panel").first().isVisible()).toBe(true);
    await page.context().close();
  });

  it.each([1280, 400])("is nowhere wider than a window of %i pixels", async (width) => {
    for (const [name, address] of [
      ["study", reports.study],
      ["sweep", reports.sweep],
    ] as const) {
      for (const colorScheme of ["light", "dark"] as const) {
        const { page } = await open(browser, address, { viewport: { width, height: 900 }, colorScheme });
        await picture(page, `${name}-${width}-${colorScheme}`);
        for (const summary of await page.locator("summary").all()) {
          if (await summary.isVisible()) await summary.click();
        }
        await page.locator("table.values button").first().click();
        const at = await firstPoint(page);
        await page.mouse.move(at.x, at.y);
        await page.locator(".tooltip").first().waitFor();
        const widest = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(widest).toBeLessThanOrEqual(width);
        await page.context().close();
      }
    }
  });

  it("is light and dark as the system says, and as the reader says", async () => {
    const ground = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const { page } = await open(browser, reports.study, { colorScheme: "light" });
    const light = { page: await ground(page), chart: await drawing(page, 0) };
    expect(light.page).toBe("rgb(255, 255, 255)");
    await page.emulateMedia({ colorScheme: "dark" });
    await expect.poll(() => ground(page)).not.toBe(light.page);
    await expect.poll(() => drawing(page, 0)).not.toBe(light.chart);
    await page.locator("#tools select").selectOption("light");
    expect(await ground(page)).toBe(light.page);
    await expect.poll(() => drawing(page, 0)).toBe(light.chart);
    await page.emulateMedia({ colorScheme: "light" });
    await page.locator("#tools select").selectOption("dark");
    expect(await ground(page)).not.toBe(light.page);
    await page.context().close();
  });

  it("marks points beyond saturation", async () => {
    const { page } = await open(browser, reports.sweep);
    const figure = page.locator("figure.chart", { hasText: "packet_latency (cycles)" }).first();
    expect(await figure.locator("div.legend").innerText()).toContain("saturated or deadlocked");
    await figure.locator(".plot").focus();
    for (let i = 0; i < 4; ++i) await page.keyboard.press("ArrowRight");
    expect(await figure.locator(".tooltip").innerText()).toMatch(/load = 1: no steady state\nsaturated$/);
    await page.context().close();
  });

  it("runs nothing that a configuration smuggles in", async () => {
    const { page } = await open(browser, reports.sweep);
    expect(await page.locator("h1").innerText()).toContain("<img src=x");
    expect(await page.title()).toContain("<img src=x");
    await page.getByText("Values", { exact: true }).first().click();
    await page.locator("table.values button").first().click();
    expect(await page.locator("table.values pre").first().innerText()).toContain("<img src=x");
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.evaluate(() => (window as { evil?: unknown }).evil)).toBeUndefined();
    // Even a script that came into the page would not run.
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "window.evil = 3";
      document.body.append(script);
    });
    expect(await page.evaluate(() => (window as { evil?: unknown }).evil)).toBeUndefined();
    await page.context().close();
  });

  it("saves drawings and values", async () => {
    const { page, complaints } = await open(browser, reports.study);
    for (const [link, name, part] of [
      ["SVG", "figure-5-mu_syn.svg", "<svg xmlns"],
      ["Data as CSV", "figure-5.csv", "series,gamma,"],
    ] as const) {
      const download = page.waitForEvent("download");
      await page.getByText(link, { exact: true }).first().click();
      expect((await download).suggestedFilename()).toBe(name);
      expect(readFileSync(await (await download).path(), "utf8").startsWith(part)).toBe(true);
    }
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it("prints its static drawings", async () => {
    const { page } = await open(browser, reports.study, { colorScheme: "dark" });
    await page.emulateMedia({ media: "print" });
    expect(await page.locator(".static svg").first().isVisible()).toBe(true);
    expect(await page.locator(".live").first().isVisible()).toBe(false);
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe("rgb(255, 255, 255)");
    await page.context().close();
  });

  it("moves nothing for readers who want no motion", async () => {
    const duration = (page: Page) =>
      page
        .locator(".spot")
        .first()
        .evaluate((spot) => getComputedStyle(spot).transitionDuration);
    const { page } = await open(browser, reports.study, { reducedMotion: "reduce" });
    expect(await duration(page)).toBe("0s");
    await page.context().close();
  });

  it.each([400, 700, 1280, 2000])("clips nothing of the page of a run in a window of %i pixels", async (width) => {
    const { page, complaints } = await open(browser, reports.run, { viewport: { width, height: 900 } });
    await page.locator("canvas").first().waitFor();
    await picture(page, `run-${width}`);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    const out = await page.locator(":is(select, button, label, canvas, svg)").evaluateAll((all) =>
      all.flatMap((one) => {
        const { left, right, width: wide } = one.getBoundingClientRect();
        // What a reader can scroll to within its own box is not lost.
        let box = one.parentElement;
        while (box !== null && !/auto|scroll/.test(getComputedStyle(box).overflowX)) box = box.parentElement;
        const lost = wide > 0 && box === null && (left < 0 || right > window.innerWidth);
        return lost ? [one.outerHTML.slice(0, 200)] : [];
      }),
    );
    expect(out).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it.each([400, 760, 1280])("cuts no word of a table in a window of %i pixels", async (width) => {
    for (const address of [reports.run, reports.study, reports.sweep]) {
      const { page } = await open(browser, address, { viewport: { width, height: 900 } });
      await page.evaluate(() => {
        for (const details of document.querySelectorAll("details")) details.open = true;
      });
      const cut = await page.locator("table").evaluateAll((tables) =>
        tables.flatMap((table) => {
          const texts = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
          const found: string[] = [];
          while (texts.nextNode()) {
            const node = texts.currentNode;
            for (const word of (node.textContent ?? "").matchAll(/[^\s/_-]+/g)) {
              const range = document.createRange();
              range.setStart(node, word.index);
              range.setEnd(node, word.index + word[0].length);
              const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
              if (lines.size > 1) found.push(word[0]);
            }
          }
          return found;
        }),
      );
      expect(cut).toEqual([]);
      await page.context().close();
    }
  });

  it("fits the metrics of a run into a window of 400 pixels", async () => {
    const { page } = await open(browser, reports.run, { viewport: { width: 400, height: 900 } });
    const { inner, outer } = await page
      .locator("div.scroll")
      .first()
      .evaluate((box) => ({ inner: box.scrollWidth, outer: box.clientWidth }));
    expect(inner).toBeLessThanOrEqual(outer);
    await page.context().close();
  });

  it("shows drawings, values and a configuration without scripts", async () => {
    const { page, complaints } = await open(browser, reports.study, { javaScriptEnabled: false });
    expect(await page.locator(".static svg").first().isVisible()).toBe(true);
    expect(await page.getByText("Resolved configuration of the first point").first().isVisible()).toBe(true);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
