// Numbers and labels as a reader sees them.
import { type AxisData, type ChartData, verdictText } from "./data";
import type { PointId } from "./nearest";

const kMinus = "\u2212";

function signed(text: string): string {
  return text.replace(/^-/, kMinus);
}

/** At most six significant digits, without trailing zeros. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  if (value !== 0 && (size >= 1e6 || size < 1e-4)) {
    return signed(
      value
        .toExponential(2)
        .replace(/\.?0+e/, "e")
        .replace("e+", "e"),
    );
  }
  return signed(String(Number(value.toPrecision(6))));
}

/** A value of an axis: what lines share a place of a name lie around it. */
export function formatPlace(axis: AxisData, value: number): string {
  return axis.names?.[Math.round(value) - 1] ?? formatNumber(value);
}

/** A whole number in full. */
function formatWhole(value: number): string {
  const whole = Number.isInteger(value) && Math.abs(value) >= 1e4 && Math.abs(value) < 1e15;
  return whole ? signed(value.toLocaleString("en-US")) : formatNumber(value);
}

/** A half width keeps two digits that matter, and the mean as many: "117.4 ± 1.9". */
export function formatEstimate(mean: number, halfWidth: number | null | undefined): string {
  if (halfWidth === null || halfWidth === undefined || !(halfWidth > 0)) return formatWhole(mean);
  if (Math.abs(mean) >= 1e6 || halfWidth < 1e-9) return `${formatNumber(mean)} ± ${formatNumber(halfWidth)}`;
  const digits = Math.min(9, Math.max(0, 1 - Math.floor(Math.log10(halfWidth))));
  return `${signed(mean.toFixed(digits))} ± ${halfWidth.toFixed(digits)}`;
}

export interface LabelPart {
  text: string;
  subscript: boolean;
}

/** Splits "μ_{SYN} x" at its subscripts. */
export function labelParts(label: string): LabelPart[] {
  const parts: LabelPart[] = [];
  let rest = label;
  for (let found = /_\{([^}]*)\}/.exec(rest); found !== null; found = /_\{([^}]*)\}/.exec(rest)) {
    if (found.index > 0) parts.push({ text: rest.slice(0, found.index), subscript: false });
    parts.push({ text: found[1] ?? "", subscript: true });
    rest = rest.slice(found.index + found[0].length);
  }
  if (rest !== "") parts.push({ text: rest, subscript: false });
  return parts;
}

/** "μ_{SYN}" as "μ SYN": for places that hold nothing but characters. */
export function plainLabel(label: string): string {
  return labelParts(label)
    .map((part) => (part.subscript ? ` ${part.text}` : part.text))
    .join("");
}

export function titleOf(chart: ChartData): string {
  return chart.subtitle === "" ? chart.title : `${chart.title}: ${chart.subtitle}`;
}

/** At most `most` characters: the begin, and twice as much of the end, where names of curves have their numbers. */
export function cutInTheMiddle(text: string, most: number): string {
  const characters = [...text];
  if (characters.length <= most) return text;
  const ahead = Math.floor(most / 3);
  const behind = most - ahead - 1;
  return `${characters.slice(0, ahead).join("")}…${characters.slice(characters.length - behind).join("")}`;
}

export interface PointText {
  line: string;
  where: string;
  value: string;
  /** Samples and verdict. */
  basis: string;
}

/** What is said about one point. */
export function describePoint(chart: ChartData, id: PointId): PointText {
  const line = chart.lines[id.line];
  const x = line?.x[id.point];
  const y = line?.y[id.point];
  if (line === undefined || x === undefined || y === undefined) {
    return { line: "", where: "", value: "", basis: "" };
  }
  const unit = chart.y.unit === "" ? "" : ` ${chart.y.unit}`;
  const count = line.count?.[id.point];
  const basis = line.analytical ? ["analytical"] : [];
  if (count !== null && count !== undefined) basis.push(`${count.toLocaleString("en-US")} samples`);
  const verdict = line.verdict?.[id.point];
  if (verdict) basis.push(verdictText(verdict, line.uncertain?.[id.point] !== true));
  return {
    line: line.label,
    where: `${chart.x.symbol} = ${formatPlace(chart.x, x)}`,
    value: y === null ? "no steady state" : `${formatEstimate(y, line.error?.[id.point])}${unit}`,
    basis: basis.join(", "),
  };
}
