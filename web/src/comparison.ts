// What a reader of a sweep compares: any metric over any axis or over time, a curve for each combination of the other
// axes, one plot or one per value of an axis. Pure: choices in, charts out.
import type { ChartData, LineData, RunData } from "./data";
import { isUnsettled } from "./data";
import { kFamilies, kPaletteSize } from "./palette";

export interface ComparedAxis {
  key: string;
  /** The last word of the key. */
  name: string;
  /** Of its numbers; "": none. */
  unit: string;
  /** Repetitions of one point: pooled unless the reader wants them apart. */
  seed: boolean;
  /** Of its values. */
  names: string[];
  /** null: the value is no number. */
  numbers: (number | null)[];
}

export interface Named {
  name: string;
  unit: string;
}

export interface ComparedPoint {
  /** Place of the value along each axis. */
  at: number[];
  /** In the order of ComparisonData.metrics: mean and half width. */
  metrics: ([mean: number | null, half?: number | null] | null)[];
  /** In the order of ComparisonData.series. */
  series: ({ start: number; interval: number; values: (number | null)[] } | null)[];
}

/** Points that differ in their seeds alone, with the means of their means and the intervals that these give. */
export interface ComparedPool {
  points: number[];
  /** In the order of ComparisonData.metrics; null: no mean of all seeds. `count`: seeds that have a value. */
  metrics: ([mean: number, half: number | null, count: number] | null)[];
}

/** The points of a sweep; point i is run i of the report. */
export interface ComparisonData {
  /** The unit of time of the series. */
  time: string;
  axes: ComparedAxis[];
  metrics: Named[];
  series: Named[];
  points: ComparedPoint[];
  /** The seeds of each point together, where the sweep has seeds. */
  pools?: ComparedPool[];
}

/** What a run found, and whether that is certain. */
export type RunState = Pick<RunData, "verdict" | "certain">;

/** Stands for time among the axes. */
export const kTime = "time";

export interface Choice {
  metric: string;
  /** Key of an axis, or kTime. */
  x: string;
  /** Key of the axis that has a plot for each value; "": one plot. */
  split: string;
  pooled: boolean;
  /** Axes of which one value is shown, by key; curves tell the others apart. */
  only: Readonly<Record<string, string>>;
  logX: boolean;
  logY: boolean;
  /** Names of the curves that are not shown. */
  hidden: readonly string[];
}

/** Endings of the metrics that say how the values of another one are distributed. */
const kStatistic = /_(p\d+|max)$/;

/** "packet_latency" of "packet_latency_p99", where there is such a metric. */
export function baseMetric(data: ComparisonData, metric: string): string {
  const base = metric.replace(kStatistic, "");
  return data.metrics.some(({ name }) => name === base) ? base : metric;
}

/** The mean of a metric and its percentiles: names of metrics beside what a reader chooses among. */
export function statistics(data: ComparisonData, metric: string): { metric: string; name: string }[] {
  const base = baseMetric(data, metric);
  const others = data.metrics.filter(({ name }) => name !== base && baseMetric(data, name) === base);
  return [
    { metric: base, name: "mean" },
    ...others.map(({ name }) => ({ metric: name, name: name.slice(base.length + 1) })),
  ];
}

const numeric = (axis: ComparedAxis) => axis.numbers.length > 1 && axis.numbers.every((n) => n !== null);

/** The axes that curves may be drawn over: places of numbers, or of names; seeds only where they are told apart. */
export function abscissas(data: ComparisonData, metric: string, pooled: boolean): { key: string; name: string }[] {
  const found = data.axes
    .filter((axis) => axis.names.length > 1 && !(axis.seed && pooled))
    .map(({ key, name }) => ({ key, name }));
  if (data.series.some(({ name }) => name === metric)) found.push({ key: kTime, name: withUnit("time", data.time) });
  return found;
}

/** The load, where it was swept; else the last axis of numbers, or of names. Seeds are no axis. */
export function usualAbscissa(data: ComparisonData): string | undefined {
  const axes = data.axes.filter((axis) => axis.names.length > 1 && !axis.seed);
  const numbers = axes.filter(numeric);
  return (numbers.filter((axis) => axis.name === "load").at(-1) ?? numbers.at(-1) ?? axes.at(-1))?.key;
}

/** Latency over the usual axis; the first series over time where only seeds were swept. */
export function firstChoice(data: ComparisonData): Choice | null {
  const x = usualAbscissa(data) ?? (data.series.length > 0 ? kTime : undefined);
  const names = x === kTime ? data.series : data.metrics;
  const metric = names.find(({ name }) => name === (x === kTime ? "throughput" : "packet_latency")) ?? names[0];
  if (x === undefined || metric === undefined) return null;
  return { metric: metric.name, x, split: "", pooled: true, only: {}, logX: false, logY: false, hidden: [] };
}

/** "#compare?metric=packet_latency&x=traffic.load". */
export function writeChoice(choice: Choice): string {
  const words = new URLSearchParams({ metric: choice.metric, x: choice.x });
  if (choice.split !== "") words.set("split", choice.split);
  if (!choice.pooled) words.set("seeds", "apart");
  for (const [key, name] of Object.entries(choice.only)) words.append("only", `${key}=${name}`);
  const log = `${choice.logX ? "x" : ""}${choice.logY ? "y" : ""}`;
  if (log !== "") words.set("log", log);
  for (const name of choice.hidden) words.append("hide", name);
  return `#compare?${words}`;
}

/** What the address says, as far as these data have it; null when it says nothing about a comparison. */
export function readChoice(hash: string, data: ComparisonData): Choice | null {
  const first = firstChoice(data);
  if (!hash.startsWith("#compare?") || first === null) return null;
  const words = new URLSearchParams(hash.slice("#compare?".length));
  const known = (text: string | null, among: readonly string[], otherwise: string) =>
    text !== null && among.includes(text) ? text : otherwise;
  const metrics = [...data.metrics, ...data.series].map(({ name }) => name);
  const metric = known(words.get("metric"), metrics, first.metric);
  const pooled = words.get("seeds") !== "apart";
  const xs = abscissas(data, metric, pooled).map(({ key }) => key);
  const splits = data.axes.map(({ key }) => key);
  const log = words.get("log") ?? "";
  const x = known(words.get("x"), xs, xs.includes(first.x) ? first.x : (xs[0] ?? first.x));
  const split = known(words.get("split"), splits, "");
  const told = words.getAll("only");
  const only = data.axes.flatMap(({ key, names }) => {
    const name = names.find((one) => told.includes(`${key}=${one}`));
    return name === undefined || key === x || key === split ? [] : [[key, name]];
  });
  return {
    metric,
    x,
    split,
    only: Object.fromEntries(only),
    pooled,
    logX: log.includes("x"),
    logY: log.includes("y"),
    hidden: words.getAll("hide"),
  };
}

/** The mean of values. */
function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The axes whose values tell curves apart. */
function curveAxes(data: ComparisonData, choice: Choice): number[] {
  return data.axes.flatMap((axis, a) =>
    axis.key === choice.x ||
    axis.key === choice.split ||
    axis.key in choice.only ||
    axis.names.length < 2 ||
    (axis.seed && choice.pooled)
      ? []
      : [a],
  );
}

/** What one value of an axis is called where nothing else names the axis. */
function placeName(axis: ComparedAxis, place: number): string {
  return `${axis.name} = ${axis.names[place] ?? ""}`;
}

/** What one value of an axis is called in a legend. A number needs to be told of what, a name of one's own does not. */
function valueName(axis: ComparedAxis, place: number): string {
  const name = axis.names[place] ?? "";
  return numeric(axis) && /^[-+.]?\d/.test(name) ? placeName(axis, place) : name;
}

interface Group {
  label: string;
  points: number[];
}

/** Points by what tells them apart, in the order of the sweep. */
function grouped(
  data: ComparisonData,
  points: readonly number[],
  axes: readonly number[],
  nameOf = valueName,
): Group[] {
  const groups = new Map<string, Group>();
  for (const point of points) {
    const at = data.points[point]?.at ?? [];
    const key = axes.map((a) => at[a]).join(" ");
    const found = groups.get(key);
    if (found !== undefined) {
      found.points.push(point);
      continue;
    }
    const names = axes.map((a) => (data.axes[a] === undefined ? "" : nameOf(data.axes[a], at[a] ?? 0)));
    groups.set(key, { label: names.join(", "), points: [point] });
  }
  return [...groups.values()];
}

function emptyLine(label: string, place: number, markers: boolean): LineData {
  const family = Math.floor(place / kPaletteSize) % kFamilies;
  return { label, colour: place % kPaletteSize, family, markers, analytical: false, x: [], y: [] };
}

/** What the points of one place have: the run's own interval, or that of the seeds together. */
function estimateOf(
  data: ComparisonData,
  here: readonly number[],
  metric: number,
): [number | null, number | null, number | null] {
  const [first] = here;
  const one = first === undefined ? null : data.points[first]?.metrics[metric];
  if (here.length === 1) return [one?.[0] ?? null, one?.[1] ?? null, null];
  const pool = data.pools?.find(({ points }) => points.length === here.length && points[0] === first);
  return pool?.metrics[metric] ?? [null, null, null];
}

/** Where the values of an axis stand; without numbers at 1, 2, ... by their order. */
function placesOf(axis: ComparedAxis | undefined): number[] {
  if (axis === undefined) return [];
  return numeric(axis) ? axis.numbers.map(Number) : axis.names.map((_, i) => i + 1);
}

/** Curves of one place of a name stand side by side in so much of the way to the next. */
const kSideBySide = 0.6;

/** One curve over an axis: the points of each place pooled. */
function curveOverAxis(
  data: ComparisonData,
  found: readonly RunState[],
  axis: number,
  metric: number,
  group: Group,
  place: number,
): LineData {
  const line = emptyLine(group.label, place, true);
  const numbers = placesOf(data.axes[axis]);
  const places = [...new Set(group.points.map((point) => data.points[point]?.at[axis] ?? 0))];
  places.sort((a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0));
  const errors: (number | null)[] = [];
  const counts: (number | null)[] = [];
  const states: (string | null)[] = [];
  const doubts: (true | null)[] = [];
  const runs: (number | null)[] = [];
  for (const at of places) {
    const here = group.points.filter((point) => data.points[point]?.at[axis] === at);
    const verdicts = here.map((point) => found[point]?.verdict ?? "");
    const state = verdicts.find(isUnsettled) ?? verdicts[0] ?? null;
    const [mean, half, count] = estimateOf(data, here, metric);
    if (mean === null && !isUnsettled(state)) continue;
    line.x.push(numbers[at] ?? at + 1);
    line.y.push(mean);
    errors.push(half);
    counts.push(count);
    states.push(state);
    doubts.push(here.some((point) => found[point]?.certain === false) ? true : null);
    runs.push(here[0] ?? null);
  }
  const curve = { ...line, error: errors, count: counts, verdict: states, run: runs };
  return doubts.includes(true) ? { ...curve, uncertain: doubts } : curve;
}

/** One curve over time: the mean of the points that have a value then, up to where the first of them ends. Those that go on are
 * no sample of all: of runs that end when they have recovered, they are the unlucky ones. */
function curveOverTime(data: ComparisonData, series: number, group: Group, place: number): LineData {
  const line = emptyLine(group.label, place, false);
  const values = new Map<number, number[]>();
  let end = Number.POSITIVE_INFINITY;
  for (const point of group.points) {
    const found = data.points[point]?.series[series];
    if (found) end = Math.min(end, found.start + found.values.length * found.interval);
    found?.values.forEach((value, i) => {
      if (value === null) return;
      const time = found.start + i * found.interval;
      const there = values.get(time);
      if (there === undefined) values.set(time, [value]);
      else there.push(value);
    });
  }
  const run: (number | null)[] = [];
  for (const time of [...values.keys()].sort((a, b) => a - b)) {
    if (time >= end) break;
    line.x.push(time);
    line.y.push(average(values.get(time) ?? []));
    run.push(group.points[0] ?? null);
  }
  return { ...line, run };
}

const words = (name: string) => {
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
};

const withUnit = (name: string, unit: string) => (unit === "" ? name : `${name} (${unit})`);

const timeLabel = (unit: string) => (unit.endsWith("cycles") ? unit : withUnit("time", unit));

/** The charts of a choice; `found` by the runs. */
export function chartsOf(data: ComparisonData, found: readonly RunState[], choice: Choice): ChartData[] {
  const overTime = choice.x === kTime;
  const names = overTime ? data.series : data.metrics;
  const number = names.findIndex(({ name }) => name === choice.metric);
  const axis = data.axes.findIndex(({ key }) => key === choice.x);
  const unit = names[number]?.unit ?? "";
  if (number < 0 || (!overTime && axis < 0)) return [];
  const axes = curveAxes(data, choice);
  const split = data.axes.findIndex(({ key }) => key === choice.split);
  const kept = Object.entries(choice.only).map(([key, name]) => {
    const a = data.axes.findIndex((one) => one.key === key);
    return [a, data.axes[a]?.names.indexOf(name)] as const;
  });
  const all = data.points.flatMap((point, i) => (kept.every(([a, value]) => point.at[a] === value) ? [i] : []));
  const held = kept.map(([a, value]) => (data.axes[a] === undefined ? "" : placeName(data.axes[a], value ?? 0)));
  const parts = split < 0 ? [{ label: "", points: all }] : grouped(data, all, [split], placeName);
  // A curve has one colour in all plots.
  const colours = new Map(grouped(data, all, axes).map(({ label }, i) => [label, i]));
  const ofNames = !overTime && data.axes[axis] !== undefined && !numeric(data.axes[axis]);
  return parts.map(({ label, points }) => ({
    title: words(choice.metric),
    subtitle: [label, ...held].filter((part) => part !== "").join(", "),
    x: {
      label: overTime ? timeLabel(data.time) : withUnit(choice.x, data.axes[axis]?.unit ?? ""),
      symbol: overTime ? (data.time === "cycles" ? "cycle" : "t") : (data.axes[axis]?.name ?? ""),
      unit: overTime ? "" : (data.axes[axis]?.unit ?? ""),
      log: choice.logX && !ofNames,
      ...(ofNames ? { names: data.axes[axis]?.names ?? [] } : {}),
    },
    y: { label: withUnit(choice.metric, unit), symbol: "", unit, log: choice.logY },
    lines: grouped(data, points, axes).map((group) => {
      const place = colours.get(group.label) ?? 0;
      const named = { ...group, label: group.label === "" ? choice.metric : group.label };
      if (overTime) return curveOverTime(data, number, named, place);
      const curve = curveOverAxis(data, found, axis, number, named, place);
      const aside = kSideBySide * ((place + 0.5) / colours.size - 0.5);
      return ofNames ? { ...curve, x: curve.x.map((x) => x + aside) } : curve;
    }),
  }));
}
