// The part of the plane that a chart shows. src/banyan/report/axis.hpp has the same for static drawings and the terminal, and
// tests/report/axis_cases.json holds both to it.
import { type AxisData, type ChartData, isBeyond, type LineData } from "./data";

export type Range = readonly [low: number, high: number];

export interface Extent {
  x: Range;
  y: Range;
}

const kDivisions = 5;

/** The smallest of 1, 2, 5 times a power of ten that divides `span` into at most `divisions` parts. */
export function niceStep(span: number, divisions: number): number {
  const rough = span / divisions;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  for (const factor of [1, 2, 5]) {
    if (factor * magnitude >= rough * (1 - 1e-9)) return factor * magnitude;
  }
  return 10 * magnitude;
}

/** Widened to round values. */
function niceRange(low: number, high: number): Range {
  if (!(high > low)) return [low, low + 1];
  const step = niceStep(high - low, kDivisions);
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
}

/** Of values on a linear axis: it includes zero, because a cut one exaggerates. */
export function linearRange(low: number, high: number): Range {
  return niceRange(Math.min(low, 0), Math.max(high, 0));
}

/** Marks of a logarithmic axis; where round powers give fewer, even steps do. */
const kFewest = 3;

export function isPowerOfTwo(value: number): boolean {
  return value > 0 && Number.isInteger(Math.log2(value));
}

function evenTicks(low: number, high: number, divisions: number): number[] {
  const step = niceStep(high - low, divisions);
  const ticks: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(k * step);
  return ticks;
}

/** Every `step`-th power of `base` in the range, times each of the factors. */
function powers(low: number, high: number, base: number, step: number, factors: readonly number[]): number[] {
  const ticks: number[] = [];
  const first = Math.floor(Math.log(low) / Math.log(base) / step - 1e-9) * step;
  for (let e = first; base ** e <= high; e += step) {
    for (const factor of factors) {
      const value = factor * base ** e;
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) ticks.push(value);
    }
  }
  return ticks;
}

/** At most `most` round values of a logarithmic axis, as log_ticks() of the static drawing finds them. */
export function logTicks(low: number, high: number, most: number, binary: boolean): number[] {
  if (!(high > low) || !(low > 0)) return [];
  let ticks = binary ? powers(low, high, 2, 1, [1]) : powers(low, high, 10, 1, [1, 2, 5]);
  if (ticks.length < kFewest) return evenTicks(low, high, Math.min(most, kDivisions));
  for (let step = 1; ticks.length > most; step++) ticks = powers(low, high, binary ? 2 : 10, step, [1]);
  return ticks;
}

/** Where a value can be drawn on the axis. */
export function shows(axis: AxisData, value: number | null | undefined): value is number {
  return typeof value === "number" && Number.isFinite(value) && (!axis.log || value > 0);
}

class Growing {
  low = Number.POSITIVE_INFINITY;
  high = Number.NEGATIVE_INFINITY;

  constructor(private readonly axis: AxisData) {}

  add(value: number | null | undefined): void {
    if (!shows(this.axis, value)) return;
    this.low = Math.min(this.low, value);
    this.high = Math.max(this.high, value);
  }

  get empty(): boolean {
    return this.low > this.high;
  }
}

/** A little air on both sides, so that markers on the edge are whole. */
function padded(low: number, high: number, log: boolean): Range {
  if (!(high > low)) return log ? [low / 2, low * 2] : [low - 0.5, high + 0.5];
  if (log) {
    const factor = (high / low) ** 0.03;
    return [low / factor, high * factor];
  }
  const air = 0.03 * (high - low);
  return [low - air, high + air];
}

/** A quantity without a value below zero has no error bar there either, however wide its intervals are. */
function lowestOfBars(lowestValue: number): number {
  return lowestValue < 0 ? Number.NEGATIVE_INFINITY : 0;
}

/**
 * Widens the range of the values by the error bars, but for those that would stretch the axis: an interval that nearly
 * reaches zero takes a logarithmic one over decades, and one that ends farther from the values than these and zero lie
 * apart leaves them a part of a linear one. Such a bar is cut at the edge of the plot, as one below zero is.
 */
function addBars(lines: readonly LineData[], xAxis: AxisData, yAxis: AxisData, y: Growing): void {
  const low = Math.min(y.low, 0);
  const high = Math.max(y.high, 0);
  const reach = high > low ? high - low : Number.POSITIVE_INFINITY;
  const lowest = lowestOfBars(low);
  for (const line of lines) {
    line.x.forEach((value, i) => {
      const mean = line.y[i];
      if (!shows(xAxis, value) || !shows(yAxis, mean)) return;
      const error = line.error?.[i] ?? 0;
      if (yAxis.log ? mean - error >= mean / 10 : mean - error >= low - reach) y.add(Math.max(mean - error, lowest));
      if (yAxis.log || mean + error <= high + reach) y.add(mean + error);
    });
  }
}

/** What shows every point of the lines with its error bar, which is cut where it would stretch the axis. */
export function extentOf(lines: readonly LineData[], xAxis: AxisData, yAxis: AxisData): Extent {
  const x = new Growing(xAxis);
  const y = new Growing(yAxis);
  for (const line of lines) {
    line.x.forEach((value, i) => {
      const mean = line.y[i];
      if (isBeyond(line, i)) x.add(value);
      if (!shows(xAxis, value) || !shows(yAxis, mean)) return;
      x.add(value);
      y.add(mean);
    });
  }
  addBars(lines, xAxis, yAxis, y);
  if (x.empty || y.empty) return { x: xAxis.log ? [1, 2] : [0, 1], y: yAxis.log ? [1, 2] : [0, 1] };
  return {
    x: xAxis.names ? [0.5, xAxis.names.length + 0.5] : padded(x.low, x.high, xAxis.log),
    y: yAxis.log ? padded(y.low, y.high, true) : linearRange(y.low, y.high),
  };
}

/** Where a value lies in the range of an axis: 0 at its low end, 1 at its high one. */
export function shareOf([low, high]: Range, log: boolean): (value: number) => number {
  const map = log ? Math.log : (v: number) => v;
  return (value) => (map(value) - map(low)) / (map(high) - map(low));
}

/** Says how many points a logarithmic axis leaves out; "": none. */
export function leftOut(chart: ChartData): string {
  const isOut = (axis: AxisData, value: number | null | undefined) =>
    axis.log && typeof value === "number" && Number.isFinite(value) && value <= 0;
  let count = 0;
  for (const { x, y } of chart.lines) {
    x.forEach((value, i) => {
      if (isOut(chart.x, value) || isOut(chart.y, y[i])) ++count;
    });
  }
  if (count === 0) return "";
  return `${count} ${count === 1 ? "point at or below 0 is" : "points at or below 0 are"} not on a logarithmic axis`;
}

/** The range of an axis that shows `range` below its upper part, of which `band` is the share. */
export function belowBand([low, high]: Range, band: number, log: boolean): Range {
  const map = log ? Math.log2 : (v: number) => v;
  const back = log ? (v: number) => 2 ** v : (v: number) => v;
  return [low, back(map(low) + (map(high) - map(low)) / (1 - band))];
}

/** Whether an axis has whole numbers alone: its marks are whole then. */
export function isWhole(lines: readonly LineData[]): boolean {
  return lines.every(({ x }) => x.every(Number.isInteger));
}

/** Around `centre`, `factor` times as wide as before (on a logarithmic axis: in its logarithm). */
export function scaled(range: Range, centre: number, factor: number, log: boolean): Range {
  const map = log ? Math.log2 : (v: number) => v;
  const back = log ? (v: number) => 2 ** v : (v: number) => v;
  const middle = map(centre);
  return [back(middle - (middle - map(range[0])) * factor), back(middle + (map(range[1]) - middle) * factor)];
}
