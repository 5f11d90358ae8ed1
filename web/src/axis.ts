// What the axes of all charts have in common.
import type uPlot from "uplot";

/** Between the labels of a vertical axis and the chart, and beside them. */
const kAir = 8;
const kLeast = 36;
const kEnd = 12;

/** In pixels of the page. */
function widest(chart: uPlot, labels: readonly (string | null)[], index: number): number {
  const font = chart.axes[index]?.font;
  const g = chart.ctx;
  g.save();
  // uPlot has multiplied the size of its fonts by the pixels per unit.
  g.font = Array.isArray(font) ? String(font[0]) : (font ?? g.font);
  const most = Math.max(0, ...labels.map((label) => g.measureText(label ?? "").width));
  g.restore();
  return most / devicePixelRatio;
}

/** Of a vertical axis: as wide as its widest label. */
export function axisWidth(chart: uPlot, labels: string[], index: number): number {
  return Math.max(kLeast, Math.ceil(widest(chart, labels ?? [], index)) + kAir);
}

/** To the right of a plot: half of the last label of the horizontal axis, and markers on the edge, are whole. */
export function endRoom(chart: uPlot, label: string): number {
  return Math.max(kEnd, Math.ceil(widest(chart, [label], 0) / 2) + 2);
}
