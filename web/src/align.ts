// One column of x for all curves of a chart, as the charting library wants it.
import type { LineData } from "./data";

export interface Aligned {
  x: number[];
  /** One array per line; null where the line has no point. */
  ys: (number | null)[][];
}

/** The union of all x, each as often as the line that has it most often. */
function unionOf(lines: readonly LineData[]): number[] {
  const most = new Map<number, number>();
  for (const line of lines) {
    const here = new Map<number, number>();
    for (const x of line.x) here.set(x, (here.get(x) ?? 0) + 1);
    for (const [x, times] of here) most.set(x, Math.max(most.get(x) ?? 0, times));
  }
  const sorted = [...most.keys()].sort((a, b) => a - b);
  return sorted.flatMap((x) => new Array<number>(most.get(x) ?? 1).fill(x));
}

export function align(lines: readonly LineData[]): Aligned {
  const x = unionOf(lines);
  const ys = lines.map((line) => {
    const y = new Array<number | null>(x.length).fill(null);
    const order = line.x.map((_, i) => i).sort((a, b) => (line.x[a] as number) - (line.x[b] as number));
    let at = 0;
    for (const i of order) {
      while (at < x.length && (x[at] as number) < (line.x[i] as number)) at += 1;
      y[at] = line.y[i] ?? null;
      at += 1;
    }
    return y;
  });
  return { x, ys };
}
