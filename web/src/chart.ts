// One interactive chart, in place of the static drawing that the program left in the page.
import uPlot from "uplot";
import { align } from "./align";
import { axisWidth, endRoom } from "./axis";
import { type Band, bandOf, type Rows, rowsBeyond } from "./beyond";
import { type AxisData, type ChartData, isBeyond, type LineData } from "./data";
import { element, label } from "./dom";
import type { Plane } from "./draw";
import { drawLine } from "./draw";
import type { Extent, Range } from "./extent";
import { belowBand, extentOf, isPowerOfTwo, isWhole, leftOut, logTicks, scaled, shareOf, shows } from "./extent";
import { describePoint, formatNumber, formatPlace, plainLabel } from "./format";
import { Legend } from "./legend";
import type { PointId } from "./nearest";
import { across, along, first, nearest } from "./nearest";
import type { Colours } from "./palette";
import { currentColours } from "./palette";
import { shortNames } from "./short_names";
import { Tooltip } from "./tooltip";

const kReach = 40;
/** Between marks of an axis, in pixels. */
const kSpaceX = 46;
const kSpaceY = 36;
const kFewestMarks = 4;
/** Around the plot, for markers and arrows on its edge. */
const kAir = 12;
/** Mean advance of the text of axes. */
const kCharacter = 6.4;
const kWholeSteps = Array.from({ length: 15 }, (_, e) => [1, 2, 5].map((factor) => factor * 10 ** e)).flat();
const kHeights = { ratio: 0.62, least: 220, most: 340 };
/** Axes and air, beside the plot and above and below it. */
const kBesidePlot = 60;
const kBelowPlot = 44;
const kFont = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
/** Of the families of curves; the static drawing has the same in its style sheet. */
const kDashes: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [9, 3, 2, 3]];

interface Position {
  x: number;
  y: number;
}

export interface ChartOptions {
  markers: readonly string[];
  /** Called when the reader asks for a point's run. */
  openRun: (run: number) => void;
  /** The lines of each plot that is compared with this one, and has its axes. */
  together?: readonly (readonly LineData[])[];
  /** Names of the curves that are hidden at first. */
  hidden?: ReadonlySet<string>;
  /** Called when the reader has hidden or shown the curves of this name. */
  hid?: (name: string, hidden: boolean) => void;
}

export class LiveChart {
  private readonly shapes: Path2D[];
  private readonly legend: Legend;
  private readonly tooltip = new Tooltip();
  private readonly plot: HTMLElement;
  private readonly reset = element("button", { type: "button", class: "reset", hidden: "" }, "Reset zoom");
  private readonly chart: uPlot;
  private readonly whole: Extent;
  /** Where points without a value are marked; both follow the size. */
  private rows: Rows = { of: [], count: 0 };
  private band: Band = { more: 0, share: 0, step: 0 };
  private zoom: Extent | null = null;
  private colours: Colours = currentColours();
  private current: PointId | null = null;
  /** The last label of the horizontal axis, whose half may stand out to the right. */
  private lastMark = "";
  private readonly resizing = new ResizeObserver(() => {
    this.chart.setSize(this.size());
    this.refresh();
  });

  constructor(
    figure: HTMLElement,
    private readonly data: ChartData,
    private readonly options: ChartOptions,
  ) {
    this.shapes = options.markers.map((path) => new Path2D(path));
    const clicked = (line: number, show: boolean) => {
      this.toggle(line, show);
      options.hid?.(data.lines[line]?.label ?? "", !show);
    };
    this.legend = new Legend(data.lines, options.markers, options.hidden ?? new Set(), leftOut(data), clicked);
    this.whole = extentOf(options.together?.flat() ?? data.lines, data.x, data.y);
    this.plot = element("div", {
      class: "plot",
      tabindex: "0",
      role: "group",
      "aria-roledescription": "chart",
      "aria-label": `${plainLabel(data.title)}. ${plainLabel(data.y.label)} over ${plainLabel(data.x.label)}. Arrow keys walk along the points; plus, minus and zero zoom; Enter shows the run.`,
    });
    figure.prepend(this.frame());
    figure.classList.add("is-live");
    this.chart = new uPlot(this.settings(), this.columns(), this.plot);
    this.plot.append(this.tooltip.spot, this.tooltip.root);
    this.listen();
  }

  /** After a change of theme. */
  repaint(): void {
    this.colours = currentColours();
    this.chart.redraw(false, true);
  }

  /** Hides the curves of these names, and shows all others. */
  hide(names: ReadonlySet<string>): void {
    this.data.lines.forEach((line, i) => {
      if (this.legend.shows(i) === names.has(line.label)) this.toggle(i, !names.has(line.label));
    });
  }

  /** What a file of the chart holds: the curves that the reader sees. */
  shown(): ChartData {
    const lines = this.data.lines.filter((_, i) => this.legend.shows(i));
    return lines.length === 0 ? this.data : { ...this.data, lines };
  }

  /** Before its figure is taken from the page. */
  destroy(): void {
    this.resizing.disconnect();
    this.chart.destroy();
  }

  // --- what is on the page

  private frame(): HTMLElement {
    const live = element("div", { class: "live" });
    live.append(element("div", { class: "chart-title" }, ...label(this.data.title)));
    if (this.data.subtitle !== "") {
      live.append(element("div", { class: "chart-subtitle" }, ...label(this.data.subtitle)));
    }
    const yName = element("span", { class: "axis-name" }, ...label(this.data.y.label));
    live.append(element("div", { class: "chart-top" }, yName, this.reset));
    live.append(this.plot, element("div", { class: "axis-name below" }, ...label(this.data.x.label)));
    live.append(this.legend.root);
    return live;
  }

  private size(): { width: number; height: number } {
    const width = Math.max(200, this.plot.clientWidth);
    const least = Math.round(Math.min(kHeights.most, Math.max(kHeights.least, width * kHeights.ratio)));
    const share = shareOf(this.whole.x, this.data.x.log);
    const at = (x: number) => (width - kBesidePlot) * share(x);
    this.rows = rowsBeyond(this.data.lines, at);
    const counts = (this.options.together ?? []).map((lines) => rowsBeyond(lines, at).count);
    this.band = bandOf(Math.max(this.rows.count, ...counts), least - kBelowPlot);
    const height = least + this.band.more;
    // A legend of many curves scrolls, rather than being taller than what it explains.
    this.legend.root.style.maxHeight = `${height}px`;
    return { width, height };
  }

  private columns(): uPlot.AlignedData {
    const { x, ys } = align(this.data.lines);
    // A logarithmic axis has no place for zero.
    const drawable = ys.map((y) => y.map((value) => (shows(this.data.y, value) ? value : null)));
    return [x, ...drawable];
  }

  private scale(axis: AxisData, which: "x" | "y"): uPlot.Scale {
    return {
      time: false,
      distr: axis.log ? 3 : 1,
      range: () => [...this.scaleOf(which)] as uPlot.Range.MinMax,
    };
  }

  /** Round marks on a logarithmic axis, and names on one without numbers, in place of uPlot's. */
  private marks(axis: AxisData, which: "x" | "y", space: number): Partial<uPlot.Axis> {
    if (axis.names) {
      return {
        splits: () => axis.names?.map((_, i) => i + 1) ?? [],
      };
    }
    if (!axis.log) {
      const whole = which === "x" && isWhole(this.data.lines);
      return {
        ...(whole ? { incrs: kWholeSteps } : {}),
        // None stands in the band above the values.
        splits: (_u, _axis, low, _high, step) => {
          const last = this.extent()[which][1];
          const ticks: number[] = [];
          for (let k = Math.ceil(low / step - 1e-9); k * step <= last + 1e-9 * step; k++) {
            ticks.push(Number((k * step).toPrecision(12)));
          }
          return ticks;
        },
      };
    }
    const binary = which === "x" && this.data.lines.every((line) => line.x.every(isPowerOfTwo));
    return {
      splits: (u, _axis, low, high) => {
        const pixels = which === "x" ? u.over.clientWidth : u.over.clientHeight;
        const last = Math.min(high, this.extent()[which][1]);
        return logTicks(low, last, Math.max(kFewestMarks, Math.floor(pixels / space)), binary);
      },
      filter: (_u, splits) => splits,
    };
  }

  private settings(): uPlot.Options {
    const line = { stroke: () => this.colours.soft, width: 1 };
    const common: uPlot.Axis = {
      stroke: () => this.colours.ink,
      font: kFont,
      ticks: { ...line, size: 5 },
      border: { show: false },
      values: (_u, splits) => splits.map((value) => (value === null ? null : formatNumber(value))),
    };
    return {
      ...this.size(),
      legend: { show: false },
      padding: [kAir + 2, (u) => endRoom(u, this.lastMark), 0, 0],
      cursor: {
        x: false,
        y: false,
        points: { show: false },
        drag: { x: true, y: true, uni: 24, dist: 5, setScale: false },
      },
      scales: { x: this.scale(this.data.x, "x"), y: this.scale(this.data.y, "y") },
      series: [{}, ...this.data.lines.map((data, i) => this.series(data, this.legend.shows(i)))],
      axes: [
        {
          ...common,
          size: 30,
          gap: 4,
          space: kSpaceX,
          grid: { show: false },
          border: { ...line, show: true },
          ...this.marks(this.data.x, "x", kSpaceX),
          values: (u, splits) => {
            const room = Math.floor(u.over.clientWidth / splits.length / kCharacter) - 1;
            const texts = splits.map((value) => (value === null ? "" : formatPlace(this.data.x, value)));
            const labels = this.data.x.names ? shortNames(texts, room) : texts;
            this.lastMark = labels.at(-1) ?? "";
            return labels;
          },
        },
        {
          ...common,
          size: axisWidth,
          gap: 3,
          space: kSpaceY,
          ...this.marks(this.data.y, "y", kSpaceY),
          ticks: { show: false },
          grid: { stroke: () => this.colours.rule, width: 1 },
        },
      ],
      hooks: {
        draw: [() => this.paint()],
        setSelect: [() => this.zoomToSelection()],
        setCursor: [(u) => this.hover({ x: u.cursor.left ?? -1, y: u.cursor.top ?? -1 })],
      },
    };
  }

  private series(data: LineData, show: boolean): uPlot.Series {
    return {
      show,
      stroke: () => this.colours.curves[data.colour % this.colours.curves.length] ?? this.colours.ink,
      width: this.data.x.names || data.joined === false ? 0 : 2,
      spanGaps: true,
      points: { show: false },
      dash: [...(kDashes[data.analytical ? 1 : data.family] ?? [])],
    };
  }

  // --- what is seen of it

  private extent(): Extent {
    if (this.zoom !== null) return this.zoom;
    const lines = this.data.lines.filter((_, i) => this.legend.shows(i));
    return lines.length === 0 || this.options.together !== undefined
      ? this.whole
      : { ...extentOf(lines, this.data.x, this.data.y), x: this.whole.x };
  }

  /** The range of an axis: above the values the band of marks. */
  private scaleOf(which: "x" | "y"): Range {
    const range = this.extent()[which];
    return which === "x" ? range : belowBand(range, this.band.share, this.data.y.log);
  }

  private show(extent: Extent | null): void {
    this.zoom = extent;
    this.reset.hidden = extent === null;
    this.refresh();
  }

  private refresh(): void {
    const x = this.scaleOf("x");
    const y = this.scaleOf("y");
    this.chart.batch(() => {
      this.chart.setScale("x", { min: x[0], max: x[1] });
      this.chart.setScale("y", { min: y[0], max: y[1] });
    });
    this.point(this.current);
  }

  private zoomToSelection(): void {
    const { left, top, width, height } = this.chart.select;
    if (width <= 0 || height <= 0) return;
    const x: Range = [this.chart.posToVal(left, "x"), this.chart.posToVal(left + width, "x")];
    const y: Range = [this.chart.posToVal(top + height, "y"), this.chart.posToVal(top, "y")];
    this.chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (x[1] > x[0] && y[1] > y[0]) this.show({ x, y });
  }

  private zoomBy(factor: number): void {
    const { x, y } = this.extent();
    const centre = (range: Range, log: boolean) => (log ? Math.sqrt(range[0] * range[1]) : (range[0] + range[1]) / 2);
    const line = this.current && this.data.lines[this.current.line];
    const at = this.current && line ? { x: line.x[this.current.point], y: line.y[this.current.point] } : null;
    const { x: xAxis, y: yAxis } = this.data;
    this.show({
      x: scaled(x, at?.x ?? centre(x, xAxis.log), factor, xAxis.log),
      y: scaled(y, at?.y ?? centre(y, yAxis.log), factor, yAxis.log),
    });
  }

  private toggle(line: number, show: boolean): void {
    this.legend.set(line, show);
    if (!show && this.current?.line === line) this.current = null;
    this.chart.setSeries(line + 1, { show });
    this.refresh();
  }

  private paint(): void {
    const u = this.chart ?? null;
    if (u === null) return;
    const { left, top, width, height } = u.bbox;
    const air = kAir * uPlot.pxRatio;
    const plane: Omit<Plane, "place"> = {
      context: u.ctx,
      ratio: uPlot.pxRatio,
      x: (value) => (shows(this.data.x, value) ? u.valToPos(value, "x", true) : Number.NaN),
      y: (value) => u.valToPos(value, "y", true),
      top: top + height * this.band.share,
      bottom: top + height,
    };
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(left - air, top - air, width + 2 * air, height + 2 * air);
    u.ctx.clip();
    this.data.lines.forEach((line, i) => {
      const place = (point: number) => this.position(i, point, true);
      if (this.legend.shows(i)) drawLine({ ...plane, place }, line, this.shapes, this.colours);
    });
    u.ctx.restore();
  }

  // --- the point that is talked about

  /** In pixels of the plotting area, or of the canvas; null for what is not drawable. */
  private position(index: number, point: number, onCanvas: boolean): Position | null {
    const line = this.data.lines[index];
    if (line === undefined) return null;
    const x = line.x[point];
    const y = line.y[point];
    if (!shows(this.data.x, x)) return null;
    const at = this.chart.valToPos(x, "x", onCanvas);
    if (isBeyond(line, point)) {
      const down = this.band.step * (this.rows.of[index] ?? 0);
      const { top, height } = this.chart.bbox;
      return { x: at, y: onCanvas ? top + down * height : (down * height) / uPlot.pxRatio };
    }
    return shows(this.data.y, y) ? { x: at, y: this.chart.valToPos(y, "y", onCanvas) } : null;
  }

  /** In pixels of the plotting area; null for what is hidden, zoomed away or not drawable. */
  private readonly place = (line: number, point: number): Position | null => {
    const at = this.position(line, point, false);
    if (at === null || !this.legend.shows(line)) return null;
    const { clientWidth, clientHeight } = this.chart.over;
    const inside = at.x >= -1 && at.y >= -1 && at.x <= clientWidth + 1 && at.y <= clientHeight + 1;
    return inside ? at : null;
  };

  private hover(at: Position): void {
    if (this.chart === undefined) return;
    if (at.x < 0 || at.y < 0) {
      if (document.activeElement !== this.plot) this.point(null);
      return;
    }
    this.point(nearest(this.data.lines, this.place, at, kReach));
  }

  private point(id: PointId | null): void {
    const at = id === null ? null : this.place(id.line, id.point);
    this.current = at === null ? null : id;
    if (id === null || at === null) {
      this.tooltip.hide();
      return;
    }
    const { offsetLeft, offsetTop } = this.chart.over;
    const { clientWidth: width, clientHeight: height } = this.plot;
    this.tooltip.show(describePoint(this.data, id), { x: at.x + offsetLeft, y: at.y + offsetTop }, { width, height });
  }

  private openRun(): void {
    if (this.current === null) return;
    const run = this.data.lines[this.current.line]?.run?.[this.current.point];
    if (run !== null && run !== undefined) this.options.openRun(run);
  }

  // --- what the reader does

  private listen(): void {
    this.resizing.observe(this.plot);
    this.chart.over.addEventListener("dblclick", () => this.show(null));
    this.chart.over.addEventListener("click", () => this.openRun());
    this.reset.addEventListener("click", () => {
      this.show(null);
      this.plot.focus();
    });
    this.plot.addEventListener("blur", () => this.point(null));
    this.plot.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (this.key(event.key)) event.preventDefault();
    });
  }

  private key(key: string): boolean {
    const { lines } = this.data;
    const step = (next: (from: PointId) => PointId) => {
      this.point(this.current === null ? first(lines, this.place) : next(this.current));
      return true;
    };
    switch (key) {
      case "ArrowRight":
        return step((from) => along(lines, this.place, from, 1));
      case "ArrowLeft":
        return step((from) => along(lines, this.place, from, -1));
      case "ArrowDown":
        return step((from) => across(lines, this.place, from, 1));
      case "ArrowUp":
        return step((from) => across(lines, this.place, from, -1));
      case "+":
      case "=":
        this.zoomBy(0.5);
        return true;
      case "-":
        this.zoomBy(2);
        return true;
      case "0":
        this.show(null);
        return true;
      case "Escape":
        this.point(null);
        return true;
      case "Enter":
        this.openRun();
        return true;
      default:
        return false;
    }
  }
}
