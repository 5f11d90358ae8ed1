// The comparison of a sweep's page: what is drawn over what is the reader's choice, and stands in the address.
import { changed, replaceAddress } from "./address";
import { LiveChart } from "./chart";
import { chartFiles, fileStem, lookOf } from "./chart_files";
import {
  abscissas,
  baseMetric,
  type Choice,
  type ComparisonData,
  chartsOf,
  firstChoice,
  kTime,
  readChoice,
  statistics,
  usualAbscissa,
  writeChoice,
} from "./comparison";
import type { ReportData } from "./data";
import { element } from "./dom";
import { kLooks } from "./palette";
import { RunPanel } from "./runs";
import { saveMenu } from "./save_menu";

/** At most so many plots beside each other: more are no comparison. */
const kMostPlots = 12;

interface Option {
  value: string;
  text: string;
}

export class Comparison {
  private readonly controls = element("form", { class: "compare-controls" });
  private readonly plots = element("div", { class: "charts" });
  private readonly note = element("p", { class: "soft small", hidden: "" });
  private readonly panel: RunPanel;
  private charts: LiveChart[] = [];
  private choice: Choice;

  constructor(
    place: HTMLElement,
    private readonly report: ReportData,
    private readonly data: ComparisonData,
    first: Choice,
  ) {
    this.choice = readChoice(location.hash, data) ?? first;
    this.panel = new RunPanel(report.runs);
    this.controls.addEventListener("submit", (event) => event.preventDefault());
    place.append(this.controls, this.plots, this.note, this.panel.element);
    window.addEventListener("hashchange", () => {
      const told = readChoice(location.hash, data);
      if (told === null || writeChoice(told) === writeChoice(this.choice)) return;
      this.choice = told;
      this.draw();
    });
    this.draw();
    if (location.hash.startsWith("#compare?")) place.scrollIntoView();
  }

  repaint(): void {
    for (const chart of this.charts) chart.repaint();
  }

  private choose(change: Partial<Choice>): void {
    this.choice = { ...this.choice, ...change };
    // A metric that is no series has no time, and the other way round.
    const xs = abscissas(this.data, this.choice.metric, this.choice.pooled).map(({ key }) => key);
    const isMetric = this.data.metrics.some(({ name }) => name === this.choice.metric);
    const fits = xs.includes(this.choice.x) && (isMetric || this.choice.x === kTime);
    if (!fits) this.choice.x = isMetric ? (usualAbscissa(this.data) ?? this.choice.x) : kTime;
    if (this.choice.split === this.choice.x) this.choice.split = "";
    const hidden = this.data.axes.filter(({ seed }) => seed && this.choice.pooled).map(({ key }) => key);
    const only = Object.entries(this.choice.only).filter(
      ([key, name]) => name !== "" && ![this.choice.x, this.choice.split, ...hidden].includes(key),
    );
    this.choice.only = Object.fromEntries(only);
    replaceAddress(writeChoice(this.choice));
    this.draw();
  }

  /** In all plots, where a curve has one name and one colour. */
  private hide(name: string, hidden: boolean): void {
    const names = changed(this.choice.hidden, name, hidden);
    this.choice = { ...this.choice, hidden: [...names] };
    for (const chart of this.charts) chart.hide(names);
    replaceAddress(writeChoice(this.choice));
  }

  private select(name: string, options: Option[], chosen: string, change: (value: string) => void): HTMLElement {
    const list = element("select", { name });
    for (const { value, text } of options) list.append(element("option", { value }, text));
    list.value = chosen;
    list.addEventListener("change", () => change(list.value));
    return element("label", {}, `${name} `, list);
  }

  private check(name: string, checked: boolean, change: (value: boolean) => void): HTMLElement {
    const box = element("input", { type: "checkbox" });
    box.checked = checked;
    box.addEventListener("change", () => change(box.checked));
    return element("label", {}, box, ` ${name}`);
  }

  private drawControls(): void {
    const { data, choice } = this;
    const base = baseMetric(data, choice.metric);
    const bases = data.metrics.map(({ name }) => baseMetric(data, name));
    const names = new Set([...bases, ...data.series.map(({ name }) => name)]);
    const parts = choice.x === kTime ? [] : statistics(data, choice.metric);
    const metrics = [...names].map((name) => ({ value: name, text: name }));
    const xs = abscissas(data, choice.metric, choice.pooled).map(({ key, name }) => ({ value: key, text: name }));
    const splits = data.axes
      .filter(({ key, names: values }) => key !== choice.x && values.length > 1)
      .map(({ key, name }) => ({ value: key, text: name }));
    const fixed = data.axes.filter(
      ({ key, seed, names: values }) =>
        key !== choice.x && key !== choice.split && values.length > 1 && !(seed && choice.pooled),
    );
    const controls: HTMLElement[] = [
      this.select("Metric", metrics, base, (metric) => this.choose({ metric })),
      this.select("over", xs, choice.x, (x) => this.choose({ x })),
      this.select("one plot per", [{ value: "", text: "(one for all)" }, ...splits], choice.split, (split) =>
        this.choose({ split }),
      ),
    ];
    if (parts.length > 1) {
      const options = parts.map(({ metric, name }) => ({ value: metric, text: name }));
      controls.splice(
        1,
        0,
        this.select("as", options, choice.metric, (metric) => this.choose({ metric })),
      );
    }
    for (const { key, name, names: values } of fixed) {
      const options = [{ value: "", text: "(all)" }, ...values.map((value) => ({ value, text: value }))];
      controls.push(
        this.select(name, options, choice.only[key] ?? "", (value) =>
          this.choose({ only: { ...choice.only, [key]: value } }),
        ),
      );
    }
    if (data.axes.some(({ seed }) => seed)) {
      controls.push(this.check("seeds pooled", choice.pooled, (value) => this.choose({ pooled: value })));
    }
    controls.push(
      this.check("log x", choice.logX, (logX) => this.choose({ logX })),
      this.check("log y", choice.logY, (logY) => this.choose({ logY })),
    );
    const focus = document.activeElement instanceof HTMLSelectElement ? document.activeElement.name : "";
    this.controls.replaceChildren(...controls);
    if (focus !== "") this.controls.querySelector<HTMLSelectElement>(`select[name="${focus}"]`)?.focus();
  }

  private draw(): void {
    for (const chart of this.charts) chart.destroy();
    this.drawControls();
    const all = chartsOf(this.data, this.report.runs, this.choice);
    const curves = new Set(all.flatMap(({ lines }) => lines.map(({ label }) => label))).size;
    const notes = [
      all.length > kMostPlots ? `The first ${kMostPlots} of ${all.length} plots.` : "",
      curves > kLooks
        ? `${curves} curves: colours and dashes repeat after ${kLooks}. One value of an axis leaves fewer.`
        : "",
    ].filter((text) => text !== "");
    this.note.hidden = notes.length === 0;
    this.note.textContent = notes.join(" ");
    const drawn = all.slice(0, kMostPlots);
    const figures = drawn.map(() => element("figure", { class: "compared" }));
    this.plots.replaceChildren(...figures);
    // Small multiples have the same axes, or they could not be compared by eye.
    const together = drawn.map(({ lines }) => lines);
    this.charts = drawn.map((data, i) => {
      const figure = figures[i] as HTMLElement;
      const chart = new LiveChart(figure, data, {
        markers: this.report.markers,
        openRun: (run: number) => this.panel.open(run),
        together,
        hidden: new Set(this.choice.hidden),
        hid: (name: string, hidden: boolean) => this.hide(name, hidden),
      });
      const stem = () => fileStem(data);
      const files = chartFiles(() => chart.shown(), stem, lookOf(this.report.markers));
      figure.append(element("figcaption", { class: "downloads" }, saveMenu(files, stem)));
      return chart;
    });
  }
}

/** Null where the page compares nothing. */
export function addComparison(report: ReportData): Comparison | null {
  const place = document.getElementById("compare");
  const first = report.comparison === undefined ? null : firstChoice(report.comparison);
  if (place === null || report.comparison === undefined || first === null) return null;
  place.hidden = false;
  return new Comparison(place, report, report.comparison, first);
}
