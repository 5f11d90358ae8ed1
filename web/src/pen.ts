// The same drawing on a canvas and on a sheet that is saved.
import type { Segment } from "./layout";
import { circle, type Sheet, type Way } from "./sheet";

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

/** `scale`: points of the sheet for a unit of the drawing. */
export class SheetPen implements Pen {
  constructor(
    private readonly sheet: Sheet,
    private readonly scale: number,
  ) {}

  lines(segments: readonly Segment[], colour: string, width: number, dash: readonly number[] = []): void {
    if (segments.length === 0) return;
    const ways = segments.map(([x0, y0, x1, y1]) => this.way([x0, y0], [x1, y1]));
    const dashes = dash.map((part) => part * this.scale);
    this.sheet.lines(ways, colour, width * this.scale, dashes);
  }

  boxes(boxes: readonly (readonly [number, number, number])[], fill: string, edge: string): void {
    const ways = boxes.map(([x, y, side]) =>
      this.way([x - side, y - side], [x + side, y - side], [x + side, y + side], [x - side, y + side]),
    );
    this.areas(ways, fill, edge);
  }

  dots(dots: readonly (readonly [number, number, number])[], fill: string, edge: string): void {
    const { scale } = this;
    this.areas(
      dots.map(([x, y, radius]) => circle(x * scale, y * scale, radius * scale)),
      fill,
      edge,
    );
  }

  text(text: string, x: number, y: number, size: number, colour: string, ground: string): void {
    const em = size * this.scale;
    this.sheet.text(text, x * this.scale, y * this.scale + 0.35 * em, em, colour, "middle", { halo: ground });
  }

  private areas(ways: readonly Way[], fill: string, edge: string): void {
    if (ways.length > 0) this.sheet.areas(ways, fill, edge, 0.025 * this.scale);
  }

  private way(...points: readonly (readonly [number, number])[]): Way {
    return points.map(([x, y]) => [x * this.scale, y * this.scale]);
  }
}
