// Throughput, latency and the size of the trees, with the time that is shown.
import uPlot from "uplot";
import { axisWidth } from "./axis";
import { chartFiles, fileStem, lookOf } from "./chart_files";
import type { ChartData } from "./data";
import { element } from "./dom";
import { linearRange } from "./extent";
import { formatNumber } from "./format";
import { currentColours } from "./palette";
import type { RecordData } from "./record";
import { saveMenu } from "./save_menu";

/** What cycles and flits are worth in seconds and bytes, where a run knows: how its times and rates are shown. */
export interface Worth {
  /** ns. */
  cycle?: number | undefined;
  /** Bytes. */
  flit?: number | undefined;
}

/** A unit that times up to this many ns are easy to read in, and how many ns it is. */
function timeUnit(most: number): [string, number] {
  const units: [string, number][] = [
    ["s", 1e9],
    ["ms", 1e6],
    ["\u00b5s", 1e3],
  ];
  return units.find(([, size]) => most >= 10 * size) ?? ["ns", 1];
}

/** "cycle 1,234", or "12.34 µs". */
export function timeText(at: number, { cycle }: Worth): string {
  if (cycle === undefined) return `cycle ${formatNumber(at)}`;
  const [unit, size] = timeUnit(at * cycle);
  return `${formatNumber((at * cycle) / size)} ${unit}`;
}

export interface CurveData {
  /** Cycles. */
  times: number[];
  /** Flits per cycle, from the sample before. */
  throughput: (number | null)[];
  /** Cycles, of what was delivered since the sample before. */
  latency: (number | null)[];
  /** Buffers in the largest tree, and in all. */
  largest: number[];
  all: number[];
}

export function curvesOf(record: RecordData): CurveData {
  const curves: CurveData = { times: [], throughput: [], latency: [], largest: [], all: [] };
  let before = 0;
  for (const sample of record.samples) {
    const cycles = sample.at - before;
    before = sample.at;
    curves.times.push(sample.at);
    curves.throughput.push(cycles > 0 ? sample.flits / cycles : null);
    curves.latency.push(sample.packets > 0 ? sample.latency / sample.packets : null);
    const sizes = sample.trees.map((tree) => tree.members.length);
    curves.largest.push(Math.max(0, ...sizes));
    curves.all.push(new Set(sample.trees.flatMap((tree) => tree.members.map((m) => m.place))).size);
  }
  return curves;
}

/** A chart for each quantity, in seconds and bytes where the run knows. */
export function chartsOfCurves(
  { times, throughput, latency, largest, all }: CurveData,
  worth: Worth = {},
): ChartData[] {
  const { cycle, flit } = worth;
  const [timeName, timeSize] = timeUnit((times.at(-1) ?? 0) * (cycle ?? 1));
  const x = cycle === undefined ? times : times.map((time) => (time * cycle) / timeSize);
  const [xLabel, xSymbol] = cycle === undefined ? ["cycle", "cycle"] : [`time (${timeName})`, "t"];
  const chart = (title: string, unit: string, ...curves: [string, (number | null)[]][]): ChartData => ({
    title,
    subtitle: "",
    x: { label: xLabel ?? "", symbol: xSymbol ?? "", unit: "", log: false },
    y: { label: `${title} (${unit})`, symbol: "", unit, log: false },
    lines: curves.map(([label, y], family) => {
      return { label, colour: 0, family, markers: false, analytical: false, x, y };
    }),
  });
  const scaled = (values: (number | null)[], factor: number) =>
    values.map((value) => (value === null ? null : value * factor));
  const charts = [
    cycle === undefined || flit === undefined
      ? chart("Throughput", "flits/cycle", ["throughput", throughput])
      : chart("Throughput", "GB/s", ["throughput", scaled(throughput, flit / cycle)]),
    cycle === undefined
      ? chart("Latency", "cycles", ["latency", latency])
      : chart("Latency", "ns", ["latency", scaled(latency, cycle)]),
    chart("Tree size", "buffers", ["largest tree", largest], ["all trees", all]),
  ];
  let colour = 0;
  for (const line of charts.flatMap(({ lines }) => lines)) line.colour = colour++;
  return charts;
}

const kHeight = 120;

interface Chart {
  chart: uPlot;
  /** A line at the time that is shown, over the chart: the chart itself stays as it is. */
  time: HTMLElement;
}

export class Curves {
  readonly element = element("div", { class: "curves" });
  private charts: Chart[] = [];
  private record: RecordData | null = null;
  private worth: Worth = {};
  private at = 0;
  private axisWidth = 0;

  constructor(
    private readonly markers: readonly string[],
    private readonly choose: (index: number) => void,
  ) {
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  show(record: RecordData, worth: Worth): void {
    this.record = record;
    this.worth = worth;
    this.repaint();
  }

  mark(index: number): void {
    this.at = index;
    for (const one of this.charts) this.showTime(one);
  }

  repaint(): void {
    for (const { chart } of this.charts) chart.destroy();
    this.charts = [];
    if (this.record === null) return;
    this.axisWidth = 0;
    for (const chart of chartsOfCurves(curvesOf(this.record), this.worth)) this.add(chart);
    for (const { chart } of this.charts) chart.redraw(false, true);
  }

  /** Of the vertical axes: one below the other, the charts have one axis of time. */
  private commonWidth(needed: number): number {
    this.axisWidth = Math.max(this.axisWidth, needed);
    return this.axisWidth;
  }

  private add(data: ChartData): void {
    const colours = currentColours();
    const axis = { stroke: colours.soft, grid: { stroke: colours.rule, width: 1 }, ticks: { show: false } };
    const series = data.lines.map(
      ({ label, colour, family }): uPlot.Series => ({
        label,
        stroke: colours.curves[colour] ?? colours.ink,
        width: 1.5,
        points: { show: false },
        ...(family === 0 ? {} : { dash: [6, 4] }),
      }),
    );
    const names = data.lines.length < 2 ? "" : ": the largest tree, and dashed all trees";
    const stem = () => fileStem(data);
    const title = element(
      "div",
      { class: "curve-title" },
      `${data.y.label}${data.x.symbol === "t" ? ` over ${data.x.label}` : ""}${names} `,
      saveMenu(
        chartFiles(() => data, stem, lookOf(this.markers)),
        stem,
      ),
    );
    const holder = element("div", { class: "curve" }, title);
    this.element.append(holder);
    const time = element("div", { class: "curve-time" });
    const chart = new uPlot(
      {
        width: Math.max(200, this.element.clientWidth),
        height: kHeight,
        scales: {
          x: { time: false },
          y: { range: (_u, low, high) => [...linearRange(low ?? 0, high ?? 0)] as uPlot.Range.MinMax },
        },
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, sync: { key: "banyan-explorer" } },
        axes: [
          { ...axis, size: 26, space: 70 },
          { ...axis, size: (chart, labels, index) => this.commonWidth(axisWidth(chart, labels, index)) },
        ],
        series: [{}, ...series],
        hooks: {
          draw: [(drawn) => this.showTime({ chart: drawn, time })],
          destroy: [() => holder.remove()],
        },
      },
      [data.lines[0]?.x ?? [], ...data.lines.map(({ y }) => y)],
      holder,
    );
    chart.over.append(time);
    chart.over.addEventListener("click", () => {
      if (chart.cursor.idx !== null && chart.cursor.idx !== undefined) this.choose(chart.cursor.idx);
    });
    this.charts.push({ chart, time });
  }

  private showTime({ chart, time }: Chart): void {
    const at = this.record?.samples[this.at]?.at;
    time.hidden = at === undefined;
    // The charts may be in another unit of time than the record.
    const place = chart.data[0]?.[this.at] ?? 0;
    if (at !== undefined) time.style.transform = `translateX(${Math.round(chart.valToPos(place, "x"))}px)`;
  }

  private resize(): void {
    const width = Math.max(200, this.element.clientWidth);
    for (const { chart } of this.charts) chart.setSize({ width, height: kHeight });
  }
}
