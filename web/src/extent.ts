// The part of the plane that a chart shows.
import { type AxisData, isBeyond, type LineData } from "./data";

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
export function niceRange(low: number, high: number): Range {
  if (!(high > low)) return [low, low + 1];
  const step = niceStep(high - low, kDivisions);
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
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

/** What shows every point of the lines with its error bar. A linear y axis includes zero: a cut one exaggerates. */
export function extentOf(lines: readonly LineData[], xAxis: AxisData, yAxis: AxisData): Extent {
  const x = new Growing(xAxis);
  const y = new Growing(yAxis);
  for (const line of lines) {
    line.x.forEach((value, i) => {
      const mean = line.y[i];
      if (isBeyond(line, i)) x.add(value);
      if (!shows(xAxis, value) || !shows(yAxis, mean)) return;
      const error = line.error?.[i] ?? 0;
      x.add(value);
      y.add(mean);
      y.add(mean - error);
      y.add(mean + error);
    });
  }
  if (x.empty || y.empty) return { x: xAxis.log ? [1, 2] : [0, 1], y: yAxis.log ? [1, 2] : [0, 1] };
  return {
    x: padded(x.low, x.high, xAxis.log),
    y: yAxis.log ? padded(y.low, y.high, true) : niceRange(Math.min(y.low, 0), Math.max(y.high, 0)),
  };
}

/** Around `centre`, `factor` times as wide as before (on a logarithmic axis: in its logarithm). */
export function scaled(range: Range, centre: number, factor: number, log: boolean): Range {
  const map = log ? Math.log2 : (v: number) => v;
  const back = log ? (v: number) => 2 ** v : (v: number) => v;
  const middle = map(centre);
  return [back(middle - (middle - map(range[0])) * factor), back(middle + (map(range[1]) - middle) * factor)];
}
