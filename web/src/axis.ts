// What the axes of all charts have in common.
import type uPlot from "uplot";

/** Between the labels of a vertical axis and the chart, and beside them. */
const kAir = 8;
const kLeast = 36;

/** Of a vertical axis: as wide as its widest label. */
export function axisWidth(chart: uPlot, labels: string[], index: number): number {
  const font = chart.axes[index]?.font;
  const g = chart.ctx;
  g.save();
  // uPlot has multiplied the size of its fonts by the pixels per unit.
  g.font = Array.isArray(font) ? String(font[0]) : (font ?? g.font);
  const widest = Math.max(0, ...(labels ?? []).map((label) => g.measureText(label ?? "").width));
  g.restore();
  return Math.max(kLeast, Math.ceil(widest / devicePixelRatio) + kAir);
}
