// The same drawing on a canvas and as SVG.
import type { Segment } from "./layout";

export interface Pen {
  lines(segments: readonly Segment[], colour: string, width: number, dash?: readonly number[]): void;
  boxes(boxes: readonly (readonly [x: number, y: number, side: number])[], fill: string, edge: string): void;
  dots(dots: readonly (readonly [x: number, y: number, radius: number])[], fill: string, edge: string): void;
  text(text: string, x: number, y: number, size: number, colour: string, ground: string): void;
}

/** On screen: world coordinates are transformed by the context, widths are in its units. */
export class CanvasPen implements Pen {
  constructor(private readonly context: CanvasRenderingContext2D) {}

  lines(segments: readonly Segment[], colour: string, width: number, dash: readonly number[] = []): void {
    if (segments.length === 0) return;
    const g = this.context;
    g.beginPath();
    for (const [x0, y0, x1, y1] of segments) {
      g.moveTo(x0, y0);
      g.lineTo(x1, y1);
    }
    g.strokeStyle = colour;
    g.lineWidth = width;
    g.setLineDash([...dash]);
    g.stroke();
  }

  boxes(boxes: readonly (readonly [number, number, number])[], fill: string, edge: string): void {
    this.shapes(fill, edge, (g) => {
      for (const [x, y, side] of boxes) g.rect(x - side, y - side, 2 * side, 2 * side);
    });
  }

  dots(dots: readonly (readonly [number, number, number])[], fill: string, edge: string): void {
    this.shapes(fill, edge, (g) => {
      for (const [x, y, radius] of dots) {
        g.moveTo(x + radius, y);
        g.arc(x, y, radius, 0, 2 * Math.PI);
      }
    });
  }

  text(text: string, x: number, y: number, size: number, colour: string, ground: string): void {
    const g = this.context;
    g.font = `600 ${size}px system-ui, sans-serif`;
    g.textAlign = "center";
    g.textBaseline = "middle";
    g.setLineDash([]);
    g.lineWidth = size / 4;
    g.lineJoin = "round";
    g.strokeStyle = ground;
    g.strokeText(text, x, y);
    g.fillStyle = colour;
    g.fillText(text, x, y);
  }

  private shapes(fill: string, edge: string, path: (g: CanvasRenderingContext2D) => void): void {
    const g = this.context;
    g.beginPath();
    path(g);
    g.fillStyle = fill;
    g.fill();
    g.strokeStyle = edge;
    g.lineWidth = 0.025;
    g.setLineDash([]);
    g.stroke();
  }
}

const number = (value: number) => String(Math.round(value * 1000) / 1000);
const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] ?? c);

export class SvgPen implements Pen {
  private readonly parts: string[] = [];

  lines(segments: readonly Segment[], colour: string, width: number, dash: readonly number[] = []): void {
    if (segments.length === 0) return;
    const path = segments.map((s) => `M${number(s[0])} ${number(s[1])}L${number(s[2])} ${number(s[3])}`).join("");
    const dashes = dash.length === 0 ? "" : ` stroke-dasharray="${dash.map(number).join(" ")}"`;
    this.parts.push(`<path d="${path}" stroke="${colour}" stroke-width="${number(width)}"${dashes} fill="none"/>`);
  }

  boxes(boxes: readonly (readonly [number, number, number])[], fill: string, edge: string): void {
    for (const [x, y, side] of boxes) {
      this.parts.push(
        `<rect x="${number(x - side)}" y="${number(y - side)}" width="${number(2 * side)}" height="${number(2 * side)}" ` +
          `fill="${fill}" stroke="${edge}" stroke-width="0.025"/>`,
      );
    }
  }

  dots(dots: readonly (readonly [number, number, number])[], fill: string, edge: string): void {
    for (const [x, y, radius] of dots) {
      this.parts.push(
        `<circle cx="${number(x)}" cy="${number(y)}" r="${number(radius)}" fill="${fill}" stroke="${edge}" ` +
          'stroke-width="0.025"/>',
      );
    }
  }

  text(text: string, x: number, y: number, size: number, colour: string, ground: string): void {
    this.parts.push(
      `<text x="${number(x)}" y="${number(y)}" font-size="${number(size)}" font-weight="600" ` +
        'font-family="system-ui, sans-serif" text-anchor="middle" dominant-baseline="central" paint-order="stroke" ' +
        `stroke="${ground}" stroke-width="${number(size / 4)}" fill="${colour}">${escaped(text)}</text>`,
    );
  }

  /** The whole file. */
  file(width: number, height: number, ground: string, title: string): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${number(width)} ${number(height)}" width="1200" ` +
      `height="${Math.round((1200 * height) / width)}"><title>${escaped(title)}</title>` +
      `<rect width="${number(width)}" height="${number(height)}" fill="${ground}"/>${this.parts.join("\n")}</svg>\n`
    );
  }
}
