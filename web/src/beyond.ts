// Points without a value because their run found no steady state: they are marked in a band above all values, in rows
// in which no mark covers another. chart.cpp has the same for static drawings.
import { isBeyond, type LineData } from "./data";

/** From one row to the next, and from one mark to the next in a row, in pixels. */
export const kMark = 14;
const kBeside = 11;
/** Of the height of the plot that values alone would have. */
const kMostBand = 0.25;
/** Beyond so many, rows lie closer. */
const kMostRows = 32;

export interface Rows {
  /** Of each line. */
  of: number[];
  count: number;
}

/** Every line has a row of its own, or one with lines whose marks are elsewhere; `at`: the pixel of an x. */
export function rowsBeyond(lines: readonly LineData[], at: (x: number) => number): Rows {
  const rows: number[][] = [];
  const of = lines.map((line) => {
    const marks = line.x
      .filter((_, i) => isBeyond(line, i))
      .map(at)
      .filter(Number.isFinite);
    if (marks.length === 0) return 0;
    const free = rows.findIndex((taken) => taken.every((one) => marks.every((x) => Math.abs(x - one) >= kBeside)));
    const row = free < 0 ? rows.length : free;
    rows[row] = [...(rows[row] ?? []), ...marks];
    return row;
  });
  return { of, count: rows.length };
}

/** The points of a line that are marked: those that would cover the mark before are not. */
export function marked(line: LineData, at: (x: number) => number): boolean[] {
  let last = Number.NEGATIVE_INFINITY;
  return line.x.map((x, i) => {
    if (!isBeyond(line, i) || !(at(x) - last >= kBeside)) return false;
    last = at(x);
    return true;
  });
}

/** The upper part of a plot, which these marks have for themselves. */
export interface Band {
  /** By how much the plot is higher than without marks, so that its values keep most of their height, in pixels. */
  more: number;
  /** Of the height of that plot. */
  share: number;
  /** From one row to the next below it, of that height. */
  step: number;
}

/** `height`: of the plot without marks. */
export function bandOf(rows: number, height: number): Band {
  const band = Math.min(rows, kMostRows) * kMark;
  const more = Math.max(0, Math.ceil(band - kMostBand * height));
  const share = band / (height + more);
  return { more, share, step: rows === 0 ? 0 : share / rows };
}
