// What pictures are drawn on that are saved: one drawing is SVG, PDF, PNG, or a program of matplotlib.
import { labelParts } from "./format";

export type Way = readonly (readonly [x: number, y: number])[];
export type Anchor = "start" | "middle" | "end";

/** Lengths in points, y downwards. */
export interface Sheet {
  lines(ways: readonly Way[], colour: string, width: number, dash?: readonly number[]): void;
  /** Closed ways. */
  areas(ways: readonly Way[], fill: string, edge: string, width: number): void;
  /** `label` may have subscripts; `halo`: the colour around it that keeps it apart from what is below. */
  text(
    label: string,
    x: number,
    y: number,
    size: number,
    colour: string,
    anchor: Anchor,
    more?: { upwards?: boolean; halo?: string },
  ): void;
}

/** Of subscripts, in sizes of their text. */
const kSmall = 0.75;
const kDown = 0.3;

const round = (value: number) => String(Math.round(value * 100) / 100);
const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] ?? c);

export function circle(x: number, y: number, radius: number): Way {
  const sides = Math.min(36, Math.max(12, Math.ceil(6 * radius)));
  return Array.from({ length: sides + 1 }, (_, i) => {
    const angle = (2 * Math.PI * i) / sides;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
}

export class SvgSheet implements Sheet {
  private readonly parts: string[] = [];

  constructor(
    private readonly width: number,
    private readonly height: number,
    private readonly ground: string,
    private readonly title: string,
  ) {}

  lines(ways: readonly Way[], colour: string, width: number, dash: readonly number[] = []): void {
    const dashes = dash.length === 0 ? "" : ` stroke-dasharray="${dash.map(round).join(" ")}"`;
    this.parts.push(
      `<path d="${this.path(ways)}" fill="none" stroke="${colour}" stroke-width="${round(width)}"${dashes}/>`,
    );
  }

  areas(ways: readonly Way[], fill: string, edge: string, width: number): void {
    this.parts.push(
      `<path d="${this.path(ways, "Z")}" fill="${fill}" stroke="${edge}" stroke-width="${round(width)}"/>`,
    );
  }

  text(
    label: string,
    x: number,
    y: number,
    size: number,
    colour: string,
    anchor: Anchor,
    more: { upwards?: boolean; halo?: string } = {},
  ): void {
    const turn = more.upwards ? ` transform="rotate(-90 ${round(x)} ${round(y)})"` : "";
    const halo =
      more.halo === undefined
        ? ""
        : ` paint-order="stroke" stroke="${more.halo}" stroke-width="${round(size / 4)}" font-weight="600"`;
    const down = round(kDown * size);
    const parts = labelParts(label).map(({ text, subscript }) =>
      // A second, empty shift returns to the line: "baseline-shift" is not drawn everywhere.
      subscript
        ? `<tspan dy="${down}" font-size="${100 * kSmall}%">${escaped(text)}</tspan><tspan dy="-${down}">\u200b</tspan>`
        : escaped(text),
    );
    this.parts.push(
      `<text x="${round(x)}" y="${round(y)}" font-size="${round(size)}" font-family="Helvetica, Arial, sans-serif" ` +
        `fill="${colour}" text-anchor="${anchor}"${halo}${turn}>${parts.join("")}</text>`,
    );
  }

  file(): string {
    const { width, height } = this;
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${round(width)}" height="${round(height)}" ` +
      `viewBox="0 0 ${round(width)} ${round(height)}"><title>${escaped(this.title)}</title>` +
      `<rect width="${round(width)}" height="${round(height)}" fill="${this.ground}"/>\n${this.parts.join("\n")}\n</svg>\n`
    );
  }

  private path(ways: readonly Way[], end = ""): string {
    return ways
      .map((way) => way.map(([x, y], i) => `${i === 0 ? "M" : "L"}${round(x)} ${round(y)}`).join("") + end)
      .join("");
  }
}

/** Mean width of Helvetica's characters, in sizes, near enough to place a text by its middle or end. */
const kCharacter = 0.53;
/** Greek letters, and what stands for them in the font Symbol. */
const kGreek = "αβγδεζηθικλμνξοπρςστυφχψωΓΔΘΛΞΠΣΥΦΨΩ";
const kSymbols = "abgdezhqiklmnxoprVstufcywGDQLXPSUFYW";
/** Further characters of Symbol, and those of the encoding of Windows that lie elsewhere in Unicode. */
const kSymbolCodes: Readonly<Record<string, number>> = {
  "−": 0x2d,
  "≤": 0xa3,
  "≥": 0xb3,
  "∞": 0xa5,
  "→": 0xae,
  "≠": 0xb9,
  "≈": 0xbb,
};
const kTextCodes: Readonly<Record<string, number>> = {
  "…": 0x85,
  "–": 0x96,
  "—": 0x97,
  "’": 0x92,
  "“": 0x93,
  "”": 0x94,
};

/** The font of a character, and its code there; a question mark for what neither has. */
function glyph(character: string): { font: "F1" | "F2"; code: number } {
  const greek = kGreek.indexOf(character);
  if (greek >= 0) return { font: "F2", code: kSymbols.charCodeAt(greek) };
  const symbol = kSymbolCodes[character];
  if (symbol !== undefined) return { font: "F2", code: symbol };
  const code = kTextCodes[character] ?? character.codePointAt(0) ?? 63;
  return { font: "F1", code: code < 256 ? code : 63 };
}

/** One page of PDF 1.4 in two of the fonts that every reader has: characters of Western Europe, and Greek letters. */
export class PdfSheet implements Sheet {
  private readonly parts: string[] = [];

  constructor(
    private readonly width: number,
    private readonly height: number,
    ground: string,
  ) {
    this.parts.push(`${this.colour(ground, "rg")} 0 0 ${round(width)} ${round(height)} re f`);
  }

  lines(ways: readonly Way[], colour: string, width: number, dash: readonly number[] = []): void {
    this.parts.push(
      `${this.colour(colour, "RG")} ${round(width)} w [${dash.map(round).join(" ")}] 0 d ${this.path(ways)} S`,
    );
  }

  areas(ways: readonly Way[], fill: string, edge: string, width: number): void {
    this.parts.push(
      `${this.colour(fill, "rg")} ${this.colour(edge, "RG")} ${round(width)} w [] 0 d ${this.path(ways, " h")} B`,
    );
  }

  text(
    label: string,
    x: number,
    y: number,
    size: number,
    colour: string,
    anchor: Anchor,
    more: { upwards?: boolean; halo?: string } = {},
  ): void {
    const parts = labelParts(label);
    const width = parts.reduce(
      (sum, { text, subscript }) => sum + [...text].length * size * kCharacter * (subscript ? kSmall : 1),
      0,
    );
    const back = anchor === "start" ? 0 : anchor === "middle" ? width / 2 : width;
    const [px, py] = more.upwards ? [x, this.height - y - back] : [x - back, this.height - y];
    const turn = more.upwards ? "0 1 -1 0" : "1 0 0 1";
    const shown = parts.flatMap(({ text, subscript }) => {
      const [em, rise] = subscript ? [size * kSmall, -kDown * size] : [size, 0];
      return [...text].map((character) => {
        const { font, code } = glyph(character);
        return { set: `/${font} ${round(em)} Tf ${round(rise)} Ts`, code: `\\${code.toString(8).padStart(3, "0")}` };
      });
    });
    // Characters of one font stand together.
    let words = "";
    shown.forEach(({ set, code }, i) => {
      const goes = i > 0 && shown[i - 1]?.set === set;
      words += goes ? code : `${i > 0 ? ") Tj " : ""}${set} (${code}`;
    });
    if (words === "") return;
    const at = `${turn} ${round(px)} ${round(py)} Tm ${words}) Tj`;
    const halo =
      more.halo === undefined ? "" : `1 Tr ${this.colour(more.halo, "RG")} ${round(size / 4)} w [] 0 d ${at} 0 Tr `;
    this.parts.push(`BT ${halo}${this.colour(colour, "rg")} ${at} ET`);
  }

  file(): string {
    const content = this.parts.join("\n");
    const font = (name: string) => `<< /Type /Font /Subtype /Type1 /BaseFont /${name}`;
    const objects = [
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${round(this.width)} ${round(this.height)}] /Contents 4 0 R ` +
        "/Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>",
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      `${font("Helvetica")} /Encoding /WinAnsiEncoding >>`,
      `${font("Symbol")} >>`,
    ];
    let text = "%PDF-1.4\n";
    const places: number[] = [];
    objects.forEach((object, i) => {
      places.push(text.length);
      text += `${i + 1} 0 obj\n${object}\nendobj\n`;
    });
    const start = text.length;
    const table = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
    return `${text}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  }

  private path(ways: readonly Way[], end = ""): string {
    const step = ([x, y]: readonly [number, number], i: number) =>
      `${round(x)} ${round(this.height - y)} ${i === 0 ? "m" : "l"}`;
    return ways.map((way) => way.map(step).join(" ") + end).join(" ");
  }

  private colour(hex: string, operator: string): string {
    const part = (at: number) => round(Number.parseInt(hex.slice(at, at + 2), 16) / 255);
    return `${part(1)} ${part(3)} ${part(5)} ${operator}`;
  }
}

/** Pixels for a point of the drawing. */
const kSharp = 2;

/** Draws on a canvas of its own: the policy of the page lets no image in, not even one that it made itself. */
export class CanvasSheet implements Sheet {
  private readonly canvas = document.createElement("canvas");
  private readonly context: CanvasRenderingContext2D;

  constructor(width: number, height: number, ground: string) {
    this.canvas.width = Math.round(kSharp * width);
    this.canvas.height = Math.round(kSharp * height);
    const context = this.canvas.getContext("2d");
    if (context === null) throw new Error("no canvas");
    this.context = context;
    context.scale(kSharp, kSharp);
    context.fillStyle = ground;
    context.fillRect(0, 0, width, height);
  }

  lines(ways: readonly Way[], colour: string, width: number, dash: readonly number[] = []): void {
    this.trace(ways, false);
    this.stroke(colour, width, dash);
  }

  areas(ways: readonly Way[], fill: string, edge: string, width: number): void {
    this.trace(ways, true);
    this.context.fillStyle = fill;
    this.context.fill();
    this.stroke(edge, width, []);
  }

  text(
    label: string,
    x: number,
    y: number,
    size: number,
    colour: string,
    anchor: Anchor,
    more: { upwards?: boolean; halo?: string } = {},
  ): void {
    const { context } = this;
    const weight = more.halo === undefined ? "" : "600 ";
    const runs = labelParts(label).map(({ text, subscript }) => {
      const font = `${weight}${subscript ? kSmall * size : size}px Helvetica, Arial, sans-serif`;
      context.font = font;
      return { text, font, width: context.measureText(text).width, down: subscript ? kDown * size : 0 };
    });
    const all = runs.reduce((sum, { width }) => sum + width, 0);
    context.save();
    context.translate(x, y);
    if (more.upwards) context.rotate(-Math.PI / 2);
    context.textAlign = "start";
    context.fillStyle = colour;
    context.setLineDash([]);
    context.lineJoin = "round";
    context.lineWidth = size / 4;
    let at = anchor === "start" ? 0 : anchor === "middle" ? -all / 2 : -all;
    for (const { text, font, width, down } of runs) {
      context.font = font;
      if (more.halo !== undefined) {
        context.strokeStyle = more.halo;
        context.strokeText(text, at, down);
      }
      context.fillText(text, at, down);
      at += width;
    }
    context.restore();
  }

  file(): Promise<Blob> {
    return new Promise((resolve, reject) =>
      this.canvas.toBlob((blob) => (blob === null ? reject(new Error("no picture")) : resolve(blob)), "image/png"),
    );
  }

  private trace(ways: readonly Way[], closed: boolean): void {
    const { context } = this;
    context.beginPath();
    for (const way of ways) {
      way.forEach(([x, y], i) => {
        if (i === 0) context.moveTo(x, y);
        else context.lineTo(x, y);
      });
      if (closed) context.closePath();
    }
  }

  private stroke(colour: string, width: number, dash: readonly number[]): void {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash([...dash]);
    context.stroke();
  }
}

/** A value as Python reads it. */
export function python(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  return value === null || value === undefined || typeof value === "number" ? "nan" : JSON.stringify(value);
}

/** A label as matplotlib reads it, between quotation marks. */
export function pythonLabel(label: string): string {
  const parts = labelParts(label).map(({ text, subscript }) => {
    const plain = text.replaceAll("$", "\\$");
    return subscript ? `$_{\\mathrm{${plain.replace(/[_ #%&{}^]/g, "\\$&")}}}$` : plain;
  });
  return python(parts.join(""));
}

/** A program that draws the same shapes with matplotlib; of charts there is a better one (matplotlib.ts). */
export class MatplotlibSheet implements Sheet {
  private readonly parts: string[] = [];

  constructor(
    private readonly width: number,
    private readonly height: number,
    private readonly ground: string,
  ) {}

  lines(ways: readonly Way[], colour: string, width: number, dash: readonly number[] = []): void {
    // Dashes of matplotlib are in widths of their line.
    const style =
      dash.length === 0 ? "" : `, linestyles=[(0, ${python(dash.map((part) => Number(round(part / width))))})]`;
    this.parts.push(
      `axes.add_collection(LineCollection(${this.ways(ways)}, colors=${python(colour)}, linewidths=${round(width)}${style}, zorder=${this.parts.length}))`,
    );
  }

  areas(ways: readonly Way[], fill: string, edge: string, width: number): void {
    this.parts.push(
      `axes.add_collection(PolyCollection(${this.ways(ways)}, facecolors=${python(fill)}, edgecolors=${python(edge)}, linewidths=${round(width)}, zorder=${this.parts.length}))`,
    );
  }

  text(
    label: string,
    x: number,
    y: number,
    size: number,
    colour: string,
    anchor: Anchor,
    more: { upwards?: boolean; halo?: string } = {},
  ): void {
    const side = { start: "left", middle: "center", end: "right" }[anchor];
    const turn = more.upwards ? ", rotation=90" : "";
    const halo =
      more.halo === undefined
        ? ""
        : `, path_effects=[withStroke(linewidth=${round(size / 4)}, foreground=${python(more.halo)})]`;
    this.parts.push(
      `axes.text(${round(x)}, ${round(y)}, ${pythonLabel(label)}, fontsize=${round(size)}, color=${python(colour)}, ha=${python(side)}${turn}${halo}, zorder=${this.parts.length})`,
    );
  }

  /** `stem`: of the file that the program writes. */
  file(stem: string): string {
    const inches = (points: number) => (points / 72).toFixed(2);
    return `${[
      "import matplotlib.pyplot as plt",
      "from matplotlib.collections import LineCollection, PolyCollection",
      "from matplotlib.patheffects import withStroke",
      "",
      `figure = plt.figure(figsize=(${inches(this.width)}, ${inches(this.height)}), facecolor=${python(this.ground)})`,
      "axes = figure.add_axes((0, 0, 1, 1))",
      "axes.set_axis_off()",
      `axes.set_xlim(0, ${round(this.width)})`,
      `axes.set_ylim(${round(this.height)}, 0)`,
      ...this.parts,
      `figure.savefig(${python(`${stem}.pdf`)}, facecolor=${python(this.ground)})`,
    ].join("\n")}\n`;
  }

  private ways(ways: readonly Way[]): string {
    return python(ways.map((way) => way.map(([x, y]) => [Number(round(x)), Number(round(y))])));
  }
}
