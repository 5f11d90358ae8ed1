// One chart as a file: SVG, PDF and PNG from one drawing, and the matplotlib program that draws the same.
import type { ChartData, LineData } from "./data";
import { isBeyond, kRings, type RingKind, ranksBeyond } from "./data";
import { save } from "./exports";
import { bandOf, extentOf, isWhole, logTicks, niceStep, type Range, shows } from "./extent";
import { cutInTheMiddle, formatNumber, formatPlace, plainLabel } from "./format";

const kWidth = 640;
const kHeight = 400;
const kMargin = { left: 70, right: 16, top: 44, bottom: 48 };
const kLegendLine = 16;
const kMostColumns = 4;
/** Names that the legend of matplotlib may have in the plot. */
const kLegendInside = 8;
/** Of matplotlib's plot: its height, and what usually lies between it and its title, in points. */
const kPlotPoints = 220;
const kTitlePad = 6;
/** Height of a row of matplotlib's legend below the plot. */
const kLegendInch = 0.15;
/** Mean advance of the legend's text. */
const kLegendCharacter = 5.8;
const kRing = 6.5;
const kInk = "#1a1a1a";
const kSoft = "#707070";
const kRule = "#dddddd";
/** As the light palette of the page has them (src/banyan/report/chart.cpp), for paper. */
const kDashes = ["", "6 4", "2 3", "9 3 2 3"];

type Anchor = "start" | "middle" | "end";

/** What every format can draw. Lengths in points, y downwards. */
interface Sheet {
  path(points: readonly (readonly [number, number])[], colour: string, width: number, dash?: string): void;
  disc(x: number, y: number, radius: number, fill: string, edge: string): void;
  text(text: string, x: number, y: number, size: number, colour: string, anchor: Anchor, upwards?: boolean): void;
}

const round = (value: number) => String(Math.round(value * 100) / 100);
const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] ?? c);

class SvgSheet implements Sheet {
  private readonly parts: string[] = [];

  path(points: readonly (readonly [number, number])[], colour: string, width: number, dash = ""): void {
    const d = points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${round(x)} ${round(y)}`).join("");
    const dashes = dash === "" ? "" : ` stroke-dasharray="${dash}"`;
    this.parts.push(`<path d="${d}" fill="none" stroke="${colour}" stroke-width="${width}"${dashes}/>`);
  }

  disc(x: number, y: number, radius: number, fill: string, edge: string): void {
    this.parts.push(`<circle cx="${round(x)}" cy="${round(y)}" r="${radius}" fill="${fill}" stroke="${edge}"/>`);
  }

  text(text: string, x: number, y: number, size: number, colour: string, anchor: Anchor, upwards = false): void {
    const turn = upwards ? ` transform="rotate(-90 ${round(x)} ${round(y)})"` : "";
    this.parts.push(
      `<text x="${round(x)}" y="${round(y)}" font-size="${size}" font-family="Helvetica, Arial, sans-serif" ` +
        `fill="${colour}" text-anchor="${anchor}"${turn}>${escaped(text)}</text>`,
    );
  }

  file(height: number): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${kWidth}" height="${height}" viewBox="0 0 ${kWidth} ${height}">` +
      `<rect width="${kWidth}" height="${height}" fill="#ffffff"/>\n${this.parts.join("\n")}\n</svg>\n`
    );
  }
}

/** Widths of Helvetica's characters, in thousandths of the size, near enough to place a text by its middle or end. */
const kCharacter = 530;

/** One page of PDF 1.4 in its standard font, whose encoding has the characters of Western Europe. */
class PdfSheet implements Sheet {
  private readonly parts: string[] = [];

  constructor(private readonly height: number) {}

  path(points: readonly (readonly [number, number])[], colour: string, width: number, dash = ""): void {
    const way = points.map(([x, y], i) => `${round(x)} ${round(this.height - y)} ${i === 0 ? "m" : "l"}`).join(" ");
    this.parts.push(`${this.colour(colour, "RG")} ${width} w [${dash}] 0 d ${way} S`);
  }

  disc(x: number, y: number, radius: number, fill: string, edge: string): void {
    // Four curves of Bezier are a circle up to 0.03 % of its radius.
    const k = 0.5523 * radius;
    const cy = this.height - y;
    const p = (dx: number, dy: number) => `${round(x + dx)} ${round(cy + dy)}`;
    this.parts.push(
      `${this.colour(fill, "rg")} ${this.colour(edge, "RG")} 1 w [] 0 d ${p(radius, 0)} m ` +
        `${p(radius, k)} ${p(k, radius)} ${p(0, radius)} c ${p(-k, radius)} ${p(-radius, k)} ${p(-radius, 0)} c ` +
        `${p(-radius, -k)} ${p(-k, -radius)} ${p(0, -radius)} c ${p(k, -radius)} ${p(radius, -k)} ${p(radius, 0)} c B`,
    );
  }

  text(text: string, x: number, y: number, size: number, colour: string, anchor: Anchor, upwards = false): void {
    const width = (text.length * size * kCharacter) / 1000;
    const back = anchor === "start" ? 0 : anchor === "middle" ? width / 2 : width;
    const [px, py] = upwards ? [x, this.height - y - back] : [x - back, this.height - y];
    const turn = upwards ? "0 1 -1 0" : "1 0 0 1";
    const codes = [...text].map((c) => {
      const code = c === "\u2212" ? 45 : (c.codePointAt(0) ?? 63);
      return `\\${(code < 256 ? code : 63).toString(8).padStart(3, "0")}`;
    });
    this.parts.push(
      `BT /F1 ${size} Tf ${this.colour(colour, "rg")} ${turn} ${round(px)} ${round(py)} Tm (${codes.join("")}) Tj ET`,
    );
  }

  file(): string {
    const content = this.parts.join("\n");
    const objects = [
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${kWidth} ${this.height}] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
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

  private colour(hex: string, operator: string): string {
    const part = (at: number) => round(Number.parseInt(hex.slice(at, at + 2), 16) / 255);
    return `${part(1)} ${part(3)} ${part(5)} ${operator}`;
  }
}

/** The palette of the page, as six digits. */
function curveColour(line: LineData): string {
  const value = getComputedStyle(document.documentElement).getPropertyValue(`--c${line.colour}`).trim();
  return /^#[0-9a-f]{6}$/i.test(value) ? value : kInk;
}

function ticks([low, high]: Range, log: boolean, most: number, whole = false): number[] {
  if (log) return logTicks(low, high, most, false);
  const step = Math.max(niceStep(high - low, most), whole ? 1 : 0);
  const found: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

/** A ring around a marker, which every format can dash. */
function circle(x: number, y: number): [number, number][] {
  const kSides = 36;
  return Array.from({ length: kSides + 1 }, (_, i) => {
    const angle = (2 * Math.PI * i) / kSides;
    return [x + kRing * Math.cos(angle), y + kRing * Math.sin(angle)];
  });
}

function ringsOf(chart: ChartData): RingKind[] {
  return kRings.filter((kind) => chart.lines.some((line) => line.x.some((_, k) => kind.holds(line, k))));
}

/** A legend in columns, never taller than the plot; behind the last name it has room for, the rest is counted. */
interface FileLegend {
  rows: number;
  columnWidth: number;
  /** Characters of a name. */
  room: number;
  /** Lines that are named. */
  named: number;
}

function layOutLegend(chart: ChartData): FileLegend {
  const most = Math.floor((kHeight - kMargin.top - kMargin.bottom) / kLegendLine) - ringsOf(chart).length;
  const count = chart.lines.length;
  const widthOf = (columns: number) => (kWidth - kMargin.left - kMargin.right) / columns;
  const roomOf = (columns: number) => Math.floor((widthOf(columns) - 40) / kLegendCharacter);
  // As many columns as are needed, as long as names that are cut tell apart what whole ones do.
  const names = chart.lines.map(({ label }) => plainLabel(label));
  const differ = (columns: number) => new Set(names.map((name) => cutInTheMiddle(name, roomOf(columns)))).size;
  let columns = Math.min(kMostColumns, Math.max(1, Math.ceil(count / most)));
  while (columns > 1 && differ(columns) < new Set(names).size) columns--;
  const all = count <= columns * most;
  return {
    rows: all ? Math.ceil(count / columns) : most,
    columnWidth: widthOf(columns),
    room: roomOf(columns),
    named: all ? count : columns * most - 1,
  };
}

function heightOf(chart: ChartData): number {
  return kHeight + kLegendLine * (layOutLegend(chart).rows + ringsOf(chart).length) + 8;
}

function drawLegend(sheet: Sheet, chart: ChartData, colour: (line: LineData) => string): void {
  const { rows, columnWidth, room, named } = layOutLegend(chart);
  const place = (i: number) => ({
    x: kMargin.left + columnWidth * Math.floor(i / Math.max(1, rows)),
    y: kHeight + 4 + kLegendLine * (i % Math.max(1, rows)),
  });
  chart.lines.slice(0, named).forEach((line, i) => {
    const { x, y } = place(i);
    const ink = colour(line);
    if (line.joined === false) {
      sheet.disc(x + 13, y, 3, line.family > 0 ? "#ffffff" : ink, ink);
    } else {
      sheet.path(
        [
          [x, y],
          [x + 26, y],
        ],
        ink,
        1.8,
        kDashes[line.analytical ? 1 : line.family] ?? "",
      );
    }
    sheet.text(cutInTheMiddle(plainLabel(line.label), room), x + 34, y + 4, 11, kInk, "start");
  });
  if (named < chart.lines.length) {
    const { x, y } = place(named);
    sheet.text(`and ${chart.lines.length - named} more`, x + 34, y + 4, 11, kInk, "start");
  }
  ringsOf(chart).forEach(({ meaning, dash }, i) => {
    const y = kHeight + 4 + kLegendLine * (rows + i);
    sheet.path(circle(kMargin.left + 13, y), kInk, 1.2, dash.join(" "));
    sheet.text(meaning, kMargin.left + 34, y + 4, 11, kInk, "start");
  });
}

function drawOn(sheet: Sheet, chart: ChartData, colour: (line: LineData) => string): void {
  const { x, y } = extentOf(chart.lines, chart.x, chart.y);
  const map = ([low, high]: Range, log: boolean, from: number, to: number) => {
    const scale = log ? Math.log : (v: number) => v;
    return (value: number) => from + ((scale(value) - scale(low)) / (scale(high) - scale(low))) * (to - from);
  };
  const right = kWidth - kMargin.right;
  const bottom = kHeight - kMargin.bottom;
  const atX = map(x, chart.x.log, kMargin.left, right);
  const { share, step } = bandOf([chart.lines]);
  const height = bottom - kMargin.top;
  const top = kMargin.top + share * height;
  const atY = map(y, chart.y.log, bottom, top);
  const title = chart.subtitle === "" ? chart.title : `${chart.title}: ${chart.subtitle}`;
  sheet.text(plainLabel(title), kMargin.left, 22, 14, kInk, "start");
  for (const value of ticks(y, chart.y.log, 6)) {
    sheet.path(
      [
        [kMargin.left, atY(value)],
        [right, atY(value)],
      ],
      kRule,
      1,
    );
    sheet.text(formatNumber(value), kMargin.left - 6, atY(value) + 4, 11, kInk, "end");
  }
  sheet.path(
    [
      [kMargin.left, bottom],
      [right, bottom],
    ],
    kSoft,
    1,
  );
  const places = chart.x.names?.length ?? 1;
  const nameRoom = Math.floor((right - kMargin.left) / places / kLegendCharacter) - 1;
  for (const value of chart.x.names?.map((_, i) => i + 1) ?? ticks(x, chart.x.log, 8, isWhole(chart.lines))) {
    sheet.path(
      [
        [atX(value), bottom],
        [atX(value), bottom + 5],
      ],
      kSoft,
      1,
    );
    sheet.text(cutInTheMiddle(formatPlace(chart.x, value), nameRoom), atX(value), bottom + 18, 11, kInk, "middle");
  }
  sheet.text(plainLabel(chart.x.label), (kMargin.left + right) / 2, kHeight - 10, 12, kInk, "middle");
  sheet.text(plainLabel(chart.y.label), 14, (kMargin.top + bottom) / 2, 12, kInk, "middle", true);
  const ranks = ranksBeyond(chart.lines);
  chart.lines.forEach((line, i) => {
    const ink = colour(line);
    const dash = kDashes[line.analytical ? 1 : line.family] ?? "";
    const points = line.x.flatMap((px, k): (readonly [number, number])[] => {
      const py = line.y[k];
      return shows(chart.x, px) && shows(chart.y, py) ? [[atX(px), atY(py)]] : [];
    });
    if (points.length > 1 && !chart.x.names && line.joined !== false) sheet.path(points, ink, 1.8, dash);
    line.x.forEach((px, k) => {
      if (!shows(chart.x, px)) return;
      const py = line.y[k];
      if (isBeyond(line, k)) {
        // Saturated: an arrow at the edge, not a datum.
        const at = atX(px);
        const edge = kMargin.top + step * height * (ranks[i]?.[k] ?? 0);
        const stroke = (...points: (readonly [number, number])[]) => sheet.path(points, ink, 1.4);
        stroke([at, edge + 10], [at, edge]);
        stroke([at - 3, edge + 3], [at, edge], [at + 3, edge + 3]);
        return;
      }
      if (!shows(chart.y, py)) return;
      const error = line.error?.[k];
      if (error !== null && error !== undefined && error > 0) {
        const low = shows(chart.y, py - error) ? Math.min(bottom, atY(py - error)) : bottom;
        const high = Math.max(top, atY(py + error));
        sheet.path(
          [
            [atX(px), low],
            [atX(px), high],
          ],
          ink,
          1,
        );
      }
      if (!line.markers) return;
      sheet.disc(atX(px), atY(py), 3, line.family > 0 ? "#ffffff" : ink, ink);
      const ring = kRings.find((kind) => kind.holds(line, k));
      if (ring !== undefined) sheet.path(circle(atX(px), atY(py)), kInk, 1.2, ring.dash.join(" "));
    });
  });
  drawLegend(sheet, chart, colour);
}

export function toSvg(chart: ChartData, colour: (line: LineData) => string = curveColour): string {
  const sheet = new SvgSheet();
  drawOn(sheet, chart, colour);
  return sheet.file(heightOf(chart));
}

export function toPdf(chart: ChartData, colour: (line: LineData) => string = curveColour): string {
  const sheet = new PdfSheet(heightOf(chart));
  drawOn(sheet, chart, colour);
  return sheet.file();
}

/** A value as Python reads it. */
const python = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(python).join(", ")}]`
    : typeof value === "number" && Number.isFinite(value)
      ? String(value)
      : value === null || value === undefined || typeof value === "number"
        ? "nan"
        : JSON.stringify(value);

/** A program that draws the chart with matplotlib. */
export function toMatplotlib(chart: ChartData, colour: (line: LineData) => string = curveColour): string {
  const styles = ["-", "--", ":", "-."];
  const ranks = ranksBeyond(chart.lines);
  const { share, step } = bandOf([chart.lines]);
  const lines = chart.lines.map((line, i) => {
    const style = line.joined === false || chart.x.names ? "none" : (styles[line.analytical ? 1 : line.family] ?? "-");
    const settled = line.x.map((_, k) => k).filter((k) => !isBeyond(line, k));
    const beyond = line.x.map((_, k) => k).filter((k) => isBeyond(line, k));
    const pick = (values: readonly (number | null)[] | undefined) => python(settled.map((k) => values?.[k] ?? null));
    const errors = line.error === undefined ? "" : `, yerr=${pick(line.error)}, capsize=2`;
    const marker = line.markers
      ? `, marker="o", markersize=4${line.family > 0 ? ', markerfacecolor="white"' : ""}`
      : "";
    const curve = `axes.errorbar(${pick(line.x)}, ${pick(line.y)}${errors}, linestyle=${python(style)}, color=${python(colour(line))}${marker}, label=${python(plainLabel(line.label))})`;
    // Saturated points stand on the upper edge, those of one place one above the other.
    const heights = beyond.map((k) => Number((1 + step * (ranks[i]?.[k] ?? 0)).toFixed(3)));
    const edge = `axes.plot(${python(beyond.map((k) => line.x[k]))}, ${python(heights)}, "^", color=${python(colour(line))}, transform=axes.get_xaxis_transform(), clip_on=False)`;
    return beyond.length === 0 ? curve : `${curve}\n${edge}`;
  });
  const count = chart.lines.length;
  const columns = Math.min(kMostColumns, Math.ceil(count / kLegendInside));
  const below = count > kLegendInside ? Math.ceil(count / columns) : 0;
  return `${[
    "import matplotlib.pyplot as plt",
    "from math import nan",
    "",
    `figure, axes = plt.subplots(figsize=(6.4, ${(4 + kLegendInch * below).toFixed(1)}), layout="constrained")`,
    ...lines,
    ...(chart.x.log ? ['axes.set_xscale("log")'] : []),
    ...(chart.y.log
      ? ['axes.set_yscale("log")']
      : [`axes.set_ylim(bottom=${extentOf(chart.lines, chart.x, chart.y).y[0]})`]),
    `axes.set_xlabel(${python(plainLabel(chart.x.label))})`,
    `axes.set_ylabel(${python(plainLabel(chart.y.label))})`,
    `axes.set_title(${python(plainLabel(chart.subtitle === "" ? chart.title : `${chart.title}: ${chart.subtitle}`))}, pad=${kTitlePad + Math.ceil(kPlotPoints * share)})`,
    ...(chart.x.names
      ? [`axes.set_xticks(${python(chart.x.names.map((_, i) => i + 1))}, labels=${python(chart.x.names)})`]
      : []),
    // Many names would cover the plot: below it, in columns, they do not. Debian's matplotlib 3.6 knows no "outside".
    below > 0
      ? `axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=${columns}, fontsize="xx-small")`
      : "axes.legend()",
    `figure.savefig(${python(`${fileStem(chart)}.pdf`)})`,
  ].join("\n")}\n`;
}

export function fileStem(chart: ChartData): string {
  return plainLabel(`${chart.title} ${chart.subtitle}`)
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

/** Pixels for a point of the drawing. */
const kSharp = 2;

/** Draws on a canvas of its own: the policy of the page lets no image in, not even one that it made itself. */
class CanvasSheet implements Sheet {
  private readonly canvas = document.createElement("canvas");
  private readonly context: CanvasRenderingContext2D;

  constructor(height: number) {
    this.canvas.width = kSharp * kWidth;
    this.canvas.height = kSharp * height;
    const context = this.canvas.getContext("2d");
    if (context === null) throw new Error("no canvas");
    this.context = context;
    context.scale(kSharp, kSharp);
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, kWidth, height);
  }

  path(points: readonly (readonly [number, number])[], colour: string, width: number, dash = ""): void {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash === "" ? [] : dash.split(" ").map(Number));
    context.beginPath();
    for (const [x, y] of points) context.lineTo(x, y);
    context.stroke();
  }

  disc(x: number, y: number, radius: number, fill: string, edge: string): void {
    const { context } = this;
    context.fillStyle = fill;
    context.strokeStyle = edge;
    context.lineWidth = 1;
    context.setLineDash([]);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }

  text(text: string, x: number, y: number, size: number, colour: string, anchor: Anchor, upwards = false): void {
    const { context } = this;
    context.save();
    context.translate(x, y);
    if (upwards) context.rotate(-Math.PI / 2);
    context.font = `${size}px Helvetica, Arial, sans-serif`;
    context.textAlign = anchor === "middle" ? "center" : anchor;
    context.fillStyle = colour;
    context.fillText(text, 0, 0);
    context.restore();
  }

  file(): Promise<Blob> {
    return new Promise((resolve, reject) =>
      this.canvas.toBlob((blob) => (blob === null ? reject(new Error("no picture")) : resolve(blob)), "image/png"),
    );
  }
}

function toPng(chart: ChartData): Promise<Blob> {
  const sheet = new CanvasSheet(heightOf(chart));
  drawOn(sheet, chart, curveColour);
  return sheet.file();
}

export async function saveChart(chart: ChartData, kind: "SVG" | "PDF" | "PNG" | "matplotlib"): Promise<void> {
  const stem = fileStem(chart);
  if (kind === "SVG") save(new Blob([toSvg(chart)], { type: "image/svg+xml" }), `${stem}.svg`);
  if (kind === "PDF") save(new Blob([toPdf(chart)], { type: "application/pdf" }), `${stem}.pdf`);
  if (kind === "PNG") save(await toPng(chart), `${stem}.png`);
  if (kind === "matplotlib") save(new Blob([toMatplotlib(chart)], { type: "text/x-python" }), `${stem}.py`);
}
