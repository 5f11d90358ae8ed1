// One chart as a file: SVG, PDF and PNG from one drawing, a program of matplotlib, and its numbers.
import { bandOf, marked, type Rows, rowsBeyond } from "./beyond";
import type { ChartData, LineData } from "./data";
import { isBeyond, kRings, type RingKind, verdictText } from "./data";
import { extentOf, isWhole, leftOut, logTicks, niceStep, type Range, shareOf, shows } from "./extent";
import { formatNumber, formatPlace, plainLabel, titleOf } from "./format";
import { toMatplotlib } from "./matplotlib";
import { kPaletteSize } from "./palette";
import type { Files } from "./save_menu";
import { CanvasSheet, circle, PdfSheet, type Sheet, SvgSheet, type Way } from "./sheet";
import { shortNames } from "./short_names";

const kWidth = 640;
const kMargin = { left: 70, right: 16, top: 44, bottom: 48 };
/** Of the plot, without marks of points that have no value. */
const kPlotHeight = 308;
const kLegendLine = 16;
const kMostColumns = 4;
/** Mean advance of the legend's text. */
const kLegendCharacter = 5.8;
const kRing = 6.5;
const kInk = "#1a1a1a";
const kSoft = "#707070";
const kRule = "#dddddd";
const kGround = "#ffffff";
/** As the light palette of the page has them (src/banyan/report/chart.cpp), for paper. */
const kDashes: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [9, 3, 2, 3]];

/** How the lines of a page look. */
export interface Look {
  /** SVG path data around (0, 0), one for each place of the palette. */
  markers: readonly string[];
  /** Of a line, as six digits. */
  colour: (line: LineData) => string;
}

/** With the palette of the page. */
export function lookOf(markers: readonly string[]): Look {
  const colour = (line: LineData) => {
    const value = getComputedStyle(document.documentElement).getPropertyValue(`--c${line.colour}`).trim();
    return /^#[0-9a-f]{6}$/i.test(value) ? value : kInk;
  };
  return { markers, colour };
}

/** The corners of a marker, whose path has straight lines and, of a disc, two arcs. */
function cornersOf(path: string): Way {
  const corners: [number, number][] = [];
  let [x, y] = [0, 0];
  for (const [, letter, rest] of path.matchAll(/([MLhva])([-\d. ]*)/g)) {
    const [first = 0, second = 0] = (rest ?? "").trim().split(/\s+/).map(Number);
    if (letter === "a") return circle(x + first, y, first);
    [x, y] = letter === "h" ? [x + first, y] : letter === "v" ? [x, y + first] : [first, second];
    corners.push([x, y]);
  }
  return corners;
}

function ticks([low, high]: Range, log: boolean, most: number, whole = false): number[] {
  if (log) return logTicks(low, high, most, false);
  const step = Math.max(niceStep(high - low, most), whole ? 1 : 0);
  const found: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

function ringsOf(chart: ChartData): RingKind[] {
  return kRings.filter((kind) => chart.lines.some((line) => line.x.some((_, k) => kind.holds(line, k))));
}

/** A legend in columns, never taller than the plot; behind the last name it has room for, the rest is counted. */
interface FileLegend {
  rows: number;
  columnWidth: number;
  /** Of the lines that are named. */
  names: string[];
}

function layOutLegend(chart: ChartData): FileLegend {
  const most = Math.floor(kPlotHeight / kLegendLine) - notesOf(chart).length;
  const count = chart.lines.length;
  const widthOf = (columns: number) => (kWidth - kMargin.left - kMargin.right) / columns;
  const labels = chart.lines.map(({ label }) => label);
  const namesIn = (columns: number) => shortNames(labels, Math.floor((widthOf(columns) - 40) / kLegendCharacter));
  // As many columns as are needed, as long as names that are cut tell apart what whole ones do.
  let columns = Math.min(kMostColumns, Math.max(1, Math.ceil(count / most)));
  while (columns > 1 && new Set(namesIn(columns)).size < new Set(labels).size) columns--;
  const all = count <= columns * most;
  return {
    rows: all ? Math.ceil(count / columns) : most,
    columnWidth: widthOf(columns),
    names: namesIn(columns).slice(0, all ? count : columns * most - 1),
  };
}

/** What is said below the names of the lines. */
function notesOf(chart: ChartData): { text: string; ring?: RingKind }[] {
  const out = leftOut(chart);
  return [...ringsOf(chart).map((ring) => ({ text: ring.meaning, ring })), ...(out === "" ? [] : [{ text: out }])];
}

/** Where everything of a chart lies. */
interface Frame {
  x: Range;
  y: Range;
  rows: Rows;
  /** From one row of marks to the next. */
  step: number;
  right: number;
  bottom: number;
  /** Of the values, below the marks of points that have none. */
  top: number;
  legend: FileLegend;
  height: number;
}

function frameOf(chart: ChartData): Frame {
  const { x, y } = extentOf(chart.lines, chart.x, chart.y);
  const right = kWidth - kMargin.right;
  const share = shareOf(x, chart.x.log);
  const rows = rowsBeyond(chart.lines, (value) => (right - kMargin.left) * share(value));
  const band = bandOf(rows.count, kPlotHeight);
  const plot = kPlotHeight + band.more;
  const legend = layOutLegend(chart);
  const bottom = kMargin.top + plot;
  return {
    x,
    y,
    rows,
    step: band.step * plot,
    right,
    bottom,
    top: kMargin.top + band.share * plot,
    legend,
    height: bottom + kMargin.bottom + kLegendLine * (legend.rows + notesOf(chart).length) + 8,
  };
}

function drawMarker(sheet: Sheet, look: Look, line: LineData, x: number, y: number): void {
  const ink = look.colour(line);
  const hollow = line.family > 0;
  const marker = look.markers[line.colour % kPaletteSize];
  const corners = marker === undefined ? circle(0, 0, 3) : cornersOf(marker);
  const placed = corners.map(([dx, dy]) => [x + 0.85 * dx, y + 0.85 * dy] as const);
  sheet.areas([placed], hollow ? kGround : ink, hollow ? ink : kGround, hollow ? 1.4 : 0.6);
}

function drawLegend(sheet: Sheet, chart: ChartData, look: Look, { legend, bottom }: Frame): void {
  const { rows, columnWidth, names } = legend;
  const top = bottom + kMargin.bottom + 4;
  const place = (i: number) => ({
    x: kMargin.left + columnWidth * Math.floor(i / Math.max(1, rows)),
    y: top + kLegendLine * (i % Math.max(1, rows)),
  });
  names.forEach((name, i) => {
    const line = chart.lines[i];
    if (line === undefined) return;
    const { x, y } = place(i);
    const dash = kDashes[line.analytical ? 1 : line.family];
    const swatch: Way = [
      [x, y],
      [x + 26, y],
    ];
    if (line.joined !== false && !chart.x.names) sheet.lines([swatch], look.colour(line), 1.8, dash);
    if (line.markers) drawMarker(sheet, look, line, x + 13, y);
    sheet.text(name, x + 34, y + 4, 11, kInk, "start");
  });
  if (names.length < chart.lines.length) {
    const { x, y } = place(names.length);
    sheet.text(`and ${chart.lines.length - names.length} more`, x + 34, y + 4, 11, kInk, "start");
  }
  notesOf(chart).forEach(({ text, ring }, i) => {
    const y = top + kLegendLine * (rows + i);
    if (ring !== undefined) sheet.lines([circle(kMargin.left + 13, y, kRing)], kInk, 1.2, ring.dash);
    sheet.text(text, kMargin.left + 34, y + 4, 11, kInk, "start");
  });
}

function drawAxes(sheet: Sheet, chart: ChartData, frame: Frame, atX: Place, atY: Place): void {
  const { x, y, right, bottom } = frame;
  for (const value of ticks(y, chart.y.log, 6)) {
    const rule: Way = [
      [kMargin.left, atY(value)],
      [right, atY(value)],
    ];
    sheet.lines([rule], kRule, 1);
    sheet.text(formatNumber(value), kMargin.left - 6, atY(value) + 4, 11, kInk, "end");
  }
  const base: Way = [
    [kMargin.left, bottom],
    [right, bottom],
  ];
  sheet.lines([base], kSoft, 1);
  const places = chart.x.names?.map((_, i) => i + 1) ?? ticks(x, chart.x.log, 8, isWhole(chart.lines));
  const room = Math.floor((right - kMargin.left) / Math.max(1, places.length) / kLegendCharacter) - 1;
  const names = shortNames(
    places.map((value) => formatPlace(chart.x, value)),
    chart.x.names ? room : Number.POSITIVE_INFINITY,
  );
  places.forEach((value, i) => {
    const mark: Way = [
      [atX(value), bottom],
      [atX(value), bottom + 5],
    ];
    sheet.lines([mark], kSoft, 1);
    sheet.text(names[i] ?? "", atX(value), bottom + 18, 11, kInk, "middle");
  });
  sheet.text(chart.x.label, (kMargin.left + right) / 2, bottom + 38, 12, kInk, "middle");
  sheet.text(chart.y.label, 14, (kMargin.top + bottom) / 2, 12, kInk, "middle", { upwards: true });
}

type Place = (value: number) => number;

function drawCurve(
  sheet: Sheet,
  chart: ChartData,
  look: Look,
  index: number,
  frame: Frame,
  atX: Place,
  atY: Place,
): void {
  const line = chart.lines[index];
  if (line === undefined) return;
  const ink = look.colour(line);
  const points = line.x.flatMap((px, k): Way => {
    const py = line.y[k];
    return shows(chart.x, px) && shows(chart.y, py) ? [[atX(px), atY(py)]] : [];
  });
  const joined = points.length > 1 && !chart.x.names && line.joined !== false;
  if (joined) sheet.lines([points], ink, 1.8, kDashes[line.analytical ? 1 : line.family]);
  const beyond = marked(line, atX);
  line.x.forEach((px, k) => {
    if (!shows(chart.x, px)) return;
    const at = atX(px);
    if (beyond[k]) {
      // Saturated: a mark with an arrow at the edge, not a datum.
      const edge = kMargin.top + frame.step * (frame.rows.of[index] ?? 0);
      const stem: Way = [
        [at, edge],
        [at, edge - 9],
      ];
      const head: Way = [
        [at - 3, edge - 6],
        [at, edge - 9],
        [at + 3, edge - 6],
      ];
      sheet.lines([stem, head], ink, 1.4);
      drawMarker(sheet, look, line, at, edge);
      return;
    }
    const py = line.y[k];
    if (isBeyond(line, k) || !shows(chart.y, py)) return;
    const error = line.error?.[k];
    if (error !== null && error !== undefined && error > 0) {
      const low = shows(chart.y, py - error) ? Math.min(frame.bottom, atY(py - error)) : frame.bottom;
      const bar: Way = [
        [at, low],
        [at, Math.max(frame.top, atY(py + error))],
      ];
      sheet.lines([bar], ink, 1);
    }
    if (!line.markers) return;
    drawMarker(sheet, look, line, at, atY(py));
    const ring = kRings.find((kind) => kind.holds(line, k));
    if (ring !== undefined) sheet.lines([circle(at, atY(py), kRing)], kInk, 1.2, ring.dash);
  });
}

function drawOn(sheet: Sheet, chart: ChartData, look: Look, frame: Frame): void {
  const { x, y, right, bottom, top } = frame;
  const shareX = shareOf(x, chart.x.log);
  const shareY = shareOf(y, chart.y.log);
  const atX = (value: number) => kMargin.left + shareX(value) * (right - kMargin.left);
  const atY = (value: number) => bottom + shareY(value) * (top - bottom);
  sheet.text(titleOf(chart), kMargin.left, 22, 14, kInk, "start");
  drawAxes(sheet, chart, frame, atX, atY);
  chart.lines.forEach((_, i) => {
    drawCurve(sheet, chart, look, i, frame, atX, atY);
  });
  drawLegend(sheet, chart, look, frame);
}

export function toSvg(chart: ChartData, look: Look): string {
  const frame = frameOf(chart);
  const sheet = new SvgSheet(kWidth, frame.height, kGround, plainLabel(titleOf(chart)));
  drawOn(sheet, chart, look, frame);
  return sheet.file();
}

export function toPdf(chart: ChartData, look: Look): string {
  const frame = frameOf(chart);
  const sheet = new PdfSheet(kWidth, frame.height, kGround);
  drawOn(sheet, chart, look, frame);
  return sheet.file();
}

function toPng(chart: ChartData, look: Look): Promise<Blob> {
  const frame = frameOf(chart);
  const sheet = new CanvasSheet(kWidth, frame.height, kGround);
  drawOn(sheet, chart, look, frame);
  return sheet.file();
}

/** A row for each point. */
export function toCsv(chart: ChartData): string {
  const cell = (value: string | number | null | undefined) => {
    const text = String(value ?? "");
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rows = chart.lines.flatMap((line) =>
    line.x.map((x, i) => [
      plainLabel(line.label),
      chart.x.names === undefined ? x : formatPlace(chart.x, x),
      line.y[i],
      line.error?.[i],
      line.count?.[i],
      line.verdict?.[i] ? verdictText(line.verdict[i], line.uncertain?.[i] !== true) : "",
    ]),
  );
  const head = ["curve", plainLabel(chart.x.label), plainLabel(chart.y.label), "half width", "samples", "verdict"];
  return [head, ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
}

/** What the chart is saved as; it is asked for when it is saved. `stem` is the name of the files. */
export function chartFiles(chart: () => ChartData, stem: () => string, look: Look): Files {
  return {
    SVG: () => toSvg(chart(), look),
    PDF: () => toPdf(chart(), look),
    PNG: () => toPng(chart(), look),
    matplotlib: () => toMatplotlib(chart(), look.colour, stem()),
    CSV: () => toCsv(chart()),
  };
}

export function fileStem(chart: ChartData): string {
  return plainLabel(`${chart.title} ${chart.subtitle}`)
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}
