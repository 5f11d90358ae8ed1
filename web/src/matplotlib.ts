// The program that draws a chart with matplotlib.
import { rowsBeyond } from "./beyond";
import { type ChartData, isBeyond, kRings, type LineData } from "./data";
import { extentOf, leftOut, shareOf } from "./extent";
import { titleOf } from "./format";
import { python, pythonLabel } from "./sheet";

/** Names that a legend may have in the plot, and its columns below it. */
const kLegendInside = 4;
const kMostColumns = 4;
/** The width of the plot, and what usually lies between it and its title, in points. */
const kPlotWidth = 400;
const kTitlePad = 6;
/** From one row of marks above the plot to the next, in points. */
const kRow = 9;
/** Of a legend below the plot: the height of a row in inches, and widths in points. */
const kLegendInch = 0.15;
const kLegendWidth = 440;
const kSwatch = 36;
const kCharacter = 3.3;
const kStyles = ["-", "--", ":", "-."];
/** Near to the markers of the page. */
const kRowers = ["o", "s", "^", "D", "v", "P", "p", "X"];

/** `colour` of a line, as six digits; `stem`: of the file that the program writes. */
export function toMatplotlib(chart: ChartData, colour: (line: LineData) => string, stem: string): string {
  const { x, y } = extentOf(chart.lines, chart.x, chart.y);
  const share = shareOf(x, chart.x.log);
  const rows = rowsBeyond(chart.lines, (value) => kPlotWidth * share(value));
  const curves = chart.lines.map((line, i) => {
    const ink = `color=${python(colour(line))}`;
    const marker = python(kRowers[line.colour % kRowers.length]);
    const style = line.joined === false || chart.x.names ? "none" : (kStyles[line.analytical ? 1 : line.family] ?? "-");
    const settled = line.x.map((_, k) => k).filter((k) => !isBeyond(line, k));
    const beyond = line.x.filter((_, k) => isBeyond(line, k));
    const pick = (values: readonly (number | null)[] | undefined) => python(settled.map((k) => values?.[k] ?? null));
    // Debian's matplotlib 3.6 takes no list of errors without a number.
    const known = settled.some((k) => typeof line.error?.[k] === "number");
    const errors = !known ? "" : `, yerr=${pick(line.error)}, capsize=2`;
    const marks = line.markers
      ? `, marker=${marker}, markersize=4${line.family > 0 ? ', markerfacecolor="white"' : ""}`
      : "";
    const curve = `axes.errorbar(${pick(line.x)}, ${pick(line.y)}${errors}, linestyle=${python(style)}, ${ink}${marks}, label=${pythonLabel(line.label)})`;
    // Points that have no value stand above the plot, in rows.
    const above = python(Number(((kRow * (rows.of[i] ?? 0)) / 72).toFixed(3)));
    const edge = `axes.plot(${python(beyond)}, ${python(beyond.map(() => 1))}, "^", ${ink}, transform=axes.get_xaxis_transform() + ScaledTranslation(0, ${above}, figure.dpi_scale_trans), clip_on=False)`;
    return beyond.length === 0 ? curve : `${curve}\n${edge}`;
  });
  const rings = kRings.flatMap((kind) => {
    const held = chart.lines.flatMap((line) =>
      line.x.flatMap((place, k) => (kind.holds(line, k) ? [{ place, value: line.y[k] ?? null }] : [])),
    );
    if (held.length === 0) return [];
    const drawn = held.filter(({ value }) => value !== null);
    const edges = python(kind.dash.length === 0 ? "-" : "--");
    return [
      `axes.scatter(${python(drawn.map(({ place }) => place))}, ${python(drawn.map(({ value }) => value))}, s=80, facecolors="none", edgecolors="black", linestyles=${edges}, label=${python(kind.meaning)})`,
    ];
  });
  const out = leftOut(chart);
  const count = chart.lines.length + rings.length + (out === "" ? 0 : 1);
  const longest = Math.max(
    0,
    ...chart.lines.map(({ label }) => label.length),
    ...kRings.map(({ meaning }) => meaning.length),
  );
  const columns = Math.max(1, Math.min(kMostColumns, Math.floor(kLegendWidth / (kSwatch + kCharacter * longest))));
  const below = count > kLegendInside ? kLegendInch * (Math.ceil(count / columns) + 1) : 0;
  const band = kRow * rows.count;
  const height = 4 + below + band / 72;
  return `${[
    "import matplotlib.pyplot as plt",
    "from math import nan",
    "from matplotlib.transforms import ScaledTranslation",
    "",
    `figure, axes = plt.subplots(figsize=(6.4, ${height.toFixed(1)}), layout="constrained")`,
    ...curves,
    ...rings,
    ...(out === "" ? [] : [`axes.plot([], [], " ", label=${python(out)})`]),
    ...(chart.x.log ? ['axes.set_xscale("log")'] : []),
    `axes.set_xlim(${x[0]}, ${x[1]})`,
    ...(chart.y.log ? ['axes.set_yscale("log")'] : [`axes.set_ylim(bottom=${y[0]})`]),
    `axes.set_xlabel(${pythonLabel(chart.x.label)})`,
    `axes.set_ylabel(${pythonLabel(chart.y.label)})`,
    `axes.set_title(${pythonLabel(titleOf(chart))}, pad=${kTitlePad + band})`,
    ...(chart.x.names
      ? [
          `axes.set_xticks(${python(chart.x.names.map((_, i) => i + 1))}, labels=[${chart.x.names.map(pythonLabel).join(", ")}])`,
        ]
      : []),
    // Many names would cover the plot: they stand below it. Debian's matplotlib 3.6 knows no "outside".
    ...(below > 0
      ? [
          `figure.get_layout_engine().set(rect=(0, ${(below / height).toFixed(3)}, 1, ${(1 - below / height).toFixed(3)}))`,
          `figure.legend(loc="lower center", ncols=${columns}, fontsize="xx-small")`,
        ]
      : ["axes.legend()"]),
    `figure.savefig(${python(`${stem}.pdf`)})`,
  ].join("\n")}\n`;
}
