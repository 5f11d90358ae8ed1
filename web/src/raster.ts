// The drawing as pixels in memory. A browser without a graphics card takes ten times as long for the same lines.
import type { Segment } from "./layout";
import type { Pen } from "./pen";

/** From units of the layout to pixels. */
export interface View {
  size: number;
  left: number;
  top: number;
}

interface Label {
  text: string;
  x: number;
  y: number;
  size: number;
  colour: string;
  ground: string;
}

const kWhole = 256;
const kEdge = 0.025;
const kPhases = 128;

/** "#rrggbb" as a pixel of an ImageData. */
export function pixelOf(colour: string): number {
  const [r = 0, g = 0, b = 0] = (/^#(..)(..)(..)/.exec(colour) ?? []).slice(1).map((two) => Number.parseInt(two, 16));
  return 0xff000000 | (b << 16) | (g << 8) | r;
}

/** Covers a pixel with `part` of 256 of a colour. */
function blend(pixels: Int32Array, at: number, over: number, part: number): void {
  if (part <= 0) return;
  if (part >= kWhole - 1) {
    pixels[at] = over;
    return;
  }
  const under = pixels[at] as number;
  if (under === over) return;
  const rb = under & 0xff00ff;
  const g = under & 0x00ff00;
  const newRb = (rb + ((((over & 0xff00ff) - rb) * part) >> 8)) & 0xff00ff;
  const newG = (g + ((((over & 0x00ff00) - g) * part) >> 8)) & 0x00ff00;
  pixels[at] = 0xff000000 | newRb | newG;
}

const clamped = (value: number) => Math.max(0, Math.min(1, value));

/** How much of a pixel lies in dashes, by where it is along the line. */
interface Dashes {
  period: number;
  shares: Float64Array;
}

/** Of lengths that are drawn and left out, in turn; null: nothing is left out. */
function dashesOf(lengths: readonly number[]): Dashes | null {
  const period = lengths.reduce((sum, length) => sum + length, 0);
  if (!(period > 0)) return null;
  const shares = new Float64Array(kPhases);
  for (let n = 0; n < kPhases; ++n) {
    const at = ((n + 0.5) * period) / kPhases;
    let begin = 0;
    // The first dash comes again behind the last gap.
    for (const [i, length] of [...lengths, lengths[0] ?? 0].entries()) {
      const drawn = Math.min(at + 0.5, begin + length) - Math.max(at - 0.5, begin);
      if (i % 2 === 0) shares[n] = (shares[n] ?? 0) + Math.max(0, drawn);
      begin += length;
    }
  }
  return { period, shares };
}

export class PixelPen implements Pen {
  /** Of the drawing, which lie over everything else. */
  readonly labels: Label[] = [];
  private readonly colours = new Map<string, number>();
  private view: View = { size: 1, left: 0, top: 0 };

  /** Row by row. */
  constructor(
    private readonly pixels: Int32Array,
    private readonly width: number,
    private readonly height: number,
  ) {}

  /** Begins a drawing over another, or over one colour. */
  begin(view: View, ground: Int32Array | string): void {
    this.view = view;
    this.labels.length = 0;
    if (typeof ground === "string") this.pixels.fill(this.pixel(ground));
    else this.pixels.set(ground);
  }

  lines(segments: readonly Segment[], colour: string, width: number, dash: readonly number[] = []): void {
    const { size, left, top } = this.view;
    const pixel = this.pixel(colour);
    const half = (width * size) / 2;
    const dashes = dashesOf(dash.map((length) => length * size));
    for (const [x0, y0, x1, y1] of segments) {
      this.line(x0 * size + left, y0 * size + top, x1 * size + left, y1 * size + top, half, pixel, dashes);
    }
  }

  boxes(boxes: readonly (readonly [number, number, number])[], fill: string, edge: string): void {
    const { size, left, top } = this.view;
    const [inside, outside] = [this.pixel(fill), this.pixel(edge)];
    const rim = (kEdge * size) / 2;
    for (const [x, y, side] of boxes) {
      this.box(x * size + left, y * size + top, side * size + rim, outside);
      this.box(x * size + left, y * size + top, side * size - rim, inside);
    }
  }

  dots(dots: readonly (readonly [number, number, number])[], fill: string, edge: string): void {
    const { size, left, top } = this.view;
    const [inside, outside] = [this.pixel(fill), this.pixel(edge)];
    const rim = (kEdge * size) / 2;
    for (const [x, y, radius] of dots) this.dot(x * size + left, y * size + top, radius * size, rim, inside, outside);
  }

  text(text: string, x: number, y: number, size: number, colour: string, ground: string): void {
    this.labels.push({ text, x, y, size, colour, ground });
  }

  private pixel(colour: string): number {
    let pixel = this.colours.get(colour);
    if (pixel === undefined) {
      pixel = pixelOf(colour);
      this.colours.set(colour, pixel);
    }
    return pixel;
  }

  /** Along its longer direction, a column or row of pixels at a time. Its ends are at right angles to it. */
  private line(
    x0: number,
    y0: number,
    x1: number,
    y1: number,
    half: number,
    pixel: number,
    dashes: Dashes | null,
  ): void {
    const length = Math.hypot(x1 - x0, y1 - y0);
    if (!(length > 0)) return;
    const steep = Math.abs(y1 - y0) > Math.abs(x1 - x0);
    // (u, v): along and across. The pixel (u, v) lies at u * along + v * across.
    const [u0, v0, u1, v1] = steep ? [y0, x0, y1, x1] : [x0, y0, x1, y1];
    const [along, across] = steep ? [this.width, 1] : [1, this.width];
    const [mostU, mostV] = steep ? [this.height, this.width] : [this.width, this.height];
    const [du, dv] = [(u1 - u0) / length, (v1 - v0) / length];
    const slope = dv / du;
    const cosine = Math.abs(du);
    const most = Math.min(1, 2 * half);
    const reach = (half + 0.5) / cosine;
    const tip = Math.abs(dv) * (half + 0.5) + 0.5;
    const first = Math.max(0, Math.floor(Math.min(u0, u1) - tip));
    const last = Math.min(mostU - 1, Math.ceil(Math.max(u0, u1) + tip));
    const begin = Math.min(u0, u1) + tip;
    const end = Math.max(u0, u1) - tip;
    const { pixels } = this;
    let centre = v0 + (first + 0.5 - u0) * slope;
    // Along the line, in periods of its dashes.
    const pace = dashes === null ? 0 : 1 / (du * dashes.period);
    let phase = (first + 0.5 - u0) * pace;
    for (let u = first; u <= last; ++u, centre += slope, phase += pace) {
      const drawn = dashes === null ? 1 : (dashes.shares[((phase - Math.floor(phase)) * kPhases) | 0] as number);
      if (drawn <= 0) continue;
      const low = Math.max(0, (centre - reach + 0.5) | 0);
      const high = Math.min(mostV - 1, (centre + reach - 0.5) | 0);
      const whole = u + 0.5 > begin && u + 0.5 < end;
      let at = u * along + low * across;
      for (let v = low; v <= high; ++v, at += across) {
        const off = v + 0.5 - centre;
        let share = half + 0.5 - (off < 0 ? -off : off) * cosine;
        share = Math.min(share, most) * drawn;
        if (!whole) {
          const far = (u + 0.5 - u0) * du + (v + 0.5 - v0) * dv;
          share *= clamped(far + 0.5) * clamped(length - far + 0.5);
        }
        blend(pixels, at, pixel, (share * kWhole) | 0);
      }
    }
  }

  private box(x: number, y: number, half: number, pixel: number): void {
    if (half <= 0) return;
    const share = (at: number, middle: number) => clamped(half + 0.5 - Math.abs(at + 0.5 - middle));
    const [left, right] = [Math.max(0, Math.floor(x - half)), Math.min(this.width - 1, Math.ceil(x + half) - 1)];
    const [top, bottom] = [Math.max(0, Math.floor(y - half)), Math.min(this.height - 1, Math.ceil(y + half) - 1)];
    for (let row = top; row <= bottom; ++row) {
      const part = share(row, y);
      for (let column = left; column <= right; ++column) {
        blend(this.pixels, row * this.width + column, pixel, (part * share(column, x) * kWhole) | 0);
      }
    }
  }

  private dot(x: number, y: number, radius: number, rim: number, inside: number, outside: number): void {
    const most = radius + rim + 0.5;
    const [left, right] = [Math.max(0, Math.floor(x - most)), Math.min(this.width - 1, Math.ceil(x + most))];
    const [top, bottom] = [Math.max(0, Math.floor(y - most)), Math.min(this.height - 1, Math.ceil(y + most))];
    for (let row = top; row <= bottom; ++row) {
      for (let column = left; column <= right; ++column) {
        const dx = column + 0.5 - x;
        const dy = row + 0.5 - y;
        const squared = dx * dx + dy * dy;
        if (squared >= most * most) continue;
        const distance = Math.sqrt(squared);
        const at = row * this.width + column;
        blend(this.pixels, at, outside, ((radius + rim + 0.5 - distance) * kWhole) | 0);
        blend(this.pixels, at, inside, ((radius - rim + 0.5 - distance) * kWhole) | 0);
      }
    }
  }
}
