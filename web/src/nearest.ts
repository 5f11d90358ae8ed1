// Which point the reader means: the nearest one for the mouse, the next one for the keyboard.
import type { LineData } from "./data";

export interface PointId {
  line: number;
  point: number;
}

/** Position in pixels, or null for a point that is not drawn. */
export type Place = (line: number, point: number) => { x: number; y: number } | null;

/** The nearest drawn point within `reach` pixels. A distance along x weighs more: curves are read at an x. */
export function nearest(
  lines: readonly LineData[],
  place: Place,
  at: { x: number; y: number },
  reach: number,
): PointId | null {
  let best: PointId | null = null;
  let least = reach * reach;
  lines.forEach((line, l) => {
    for (let p = 0; p < line.x.length; ++p) {
      const where = place(l, p);
      if (where === null) continue;
      const dx = where.x - at.x;
      const dy = where.y - at.y;
      const distance = dx * dx + dy * dy;
      if (distance < least) {
        least = distance;
        best = { line: l, point: p };
      }
    }
  });
  return best;
}

/** The neighbour along a line (`step` 1 or -1), or the same point at the end of it. */
export function along(lines: readonly LineData[], place: Place, from: PointId, step: 1 | -1): PointId {
  const length = lines[from.line]?.x.length ?? 0;
  for (let p = from.point + step; p >= 0 && p < length; p += step) {
    if (place(from.line, p) !== null) return { line: from.line, point: p };
  }
  return from;
}

/** The point of the next drawn line, in the order of the legend, that is nearest in x. */
export function across(lines: readonly LineData[], place: Place, from: PointId, step: 1 | -1): PointId {
  const here = place(from.line, from.point);
  if (here === null) return from;
  for (let n = 1; n < lines.length; ++n) {
    const line = (from.line + step * n + lines.length * n) % lines.length;
    let best: PointId | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (let p = 0; p < (lines[line]?.x.length ?? 0); ++p) {
      const where = place(line, p);
      if (where !== null && Math.abs(where.x - here.x) < least) {
        least = Math.abs(where.x - here.x);
        best = { line, point: p };
      }
    }
    if (best !== null) return best;
  }
  return from;
}

/** The first drawn point of all. */
export function first(lines: readonly LineData[], place: Place): PointId | null {
  for (let line = 0; line < lines.length; ++line) {
    for (let point = 0; point < (lines[line]?.x.length ?? 0); ++point) {
      if (place(line, point) !== null) return { line, point };
    }
  }
  return null;
}
