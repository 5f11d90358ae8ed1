// Error bars and markers on the canvas of a chart.

import { marked } from "./beyond";
import type { LineData } from "./data";
import { isBeyond, kRings } from "./data";
import type { Colours } from "./palette";

/** Positions on the canvas, in its own pixels. */
export interface Plane {
  context: CanvasRenderingContext2D;
  /** Canvas pixels per CSS pixel. */
  ratio: number;
  /** The pixel of an x; NaN: it has none. */
  x(value: number): number;
  /** Where a point is drawn, if it is. */
  place(point: number): { x: number; y: number } | null;
  y(value: number): number;
  /** The edges of the plot: a bar that goes beyond is cut there, and has no cap. */
  top: number;
  bottom: number;
}

const kCap = 3;
const kRing = 8.5;
/** Of a pixel: an end on the edge is not cut. */
const kRounding = 0.01;

function drawErrors(plane: Plane, line: LineData, colour: string): void {
  const { context, ratio } = plane;
  const cap = kCap * ratio;
  context.strokeStyle = colour;
  context.lineWidth = 1.2 * ratio;
  context.globalAlpha = 0.8;
  context.beginPath();
  line.error?.forEach((error, i) => {
    const mean = line.y[i];
    const at = plane.place(i);
    if (!error || mean === null || mean === undefined || at === null) return;
    const { x } = at;
    const high = plane.y(mean + error);
    const lowest = plane.y(mean - error);
    const low = Number.isFinite(lowest) ? lowest : Number.POSITIVE_INFINITY;
    if (low < plane.top || high > plane.bottom) return;
    context.moveTo(x, Math.max(high, plane.top));
    context.lineTo(x, Math.min(low, plane.bottom));
    for (const y of [high, low]) {
      if (y < plane.top - kRounding || y > plane.bottom + kRounding) continue;
      context.moveTo(x - cap, y);
      context.lineTo(x + cap, y);
    }
  });
  context.stroke();
  context.globalAlpha = 1;
}

/** Upwards, behind the marker of a point that has no value. */
const kArrow = "M0 0v-9m-3 3l3-3l3 3";

function drawMarkers(plane: Plane, line: LineData, shape: Path2D, colour: string, colours: Colours): void {
  const { context, ratio } = plane;
  const arrow = new Path2D(kArrow);
  const hollow = line.family > 0;
  const beyond = marked(line, (x) => plane.x(x) / ratio);
  line.x.forEach((_, i) => {
    const at = plane.place(i);
    if (at === null || (isBeyond(line, i) && !beyond[i])) return;
    context.save();
    context.translate(at.x, at.y);
    context.scale(ratio, ratio);
    if (isBeyond(line, i)) {
      context.strokeStyle = colour;
      context.lineWidth = 1.4;
      context.stroke(arrow);
    }
    context.setLineDash([]); // not that of the curve
    context.fillStyle = hollow ? colours.ground : colour;
    context.strokeStyle = hollow ? colour : colours.ground;
    context.lineWidth = hollow ? 1.8 : 1;
    context.fill(shape);
    context.stroke(shape);
    const ring = isBeyond(line, i) ? undefined : kRings.find((kind) => kind.holds(line, i));
    if (ring !== undefined) {
      context.setLineDash([...ring.dash]);
      context.strokeStyle = colours.ink;
      context.lineWidth = 1.4;
      context.beginPath();
      context.arc(0, 0, kRing, 0, 2 * Math.PI);
      context.stroke();
    }
    context.restore();
  });
}

export function drawLine(plane: Plane, line: LineData, shapes: readonly Path2D[], colours: Colours): void {
  const colour = colours.curves[line.colour % colours.curves.length] ?? colours.ink;
  if (!line.analytical) drawErrors(plane, line, colour);
  const shape = shapes[line.colour % shapes.length];
  if (line.markers && shape !== undefined) drawMarkers(plane, line, shape, colour, colours);
}
