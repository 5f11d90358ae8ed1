// What the program writes into the page (src/banyan/report/page_data.cpp), and how it is read.
import type { ComparisonData } from "./comparison";
import type { NetworkData } from "./layout";

export interface AxisData {
  label: string;
  /** How a value of this axis is introduced: "γ". */
  symbol: string;
  unit: string;
  log: boolean;
  /** Names of the places 1, 2, ... of an axis without numbers; its points are not joined. */
  names?: string[];
}

/** One curve. The arrays have one entry per point; those that may be missing are absent when no point has them. */
export interface LineData {
  label: string;
  /** Place in the palette; also chooses the marker. */
  colour: number;
  /** 0: solid, with filled markers; others have dashes of their own and hollow markers. */
  family: number;
  markers: boolean;
  /** Absent: by a curve. */
  joined?: false;
  /** A model's curve, not a measurement. */
  analytical: boolean;
  x: number[];
  /** null: no value. */
  y: (number | null)[];
  error?: (number | null)[];
  count?: (number | null)[];
  verdict?: (string | null)[];
  /** The verdict is the likelier one; a longer run may tell. */
  uncertain?: (true | null)[];
  /** Index into ReportData.runs. */
  run?: (number | null)[];
}

export interface ChartData {
  title: string;
  subtitle: string;
  x: AxisData;
  y: AxisData;
  lines: LineData[];
}

export interface RunData {
  configuration: unknown;
  seed: string;
  stateHash: string;
  verdict: string;
  /** false: the verdict is the likelier one. */
  certain: boolean;
  explanation: string;
  /** Pages of before have none. */
  warning?: string;
  version: string;
  compiler: string;
}

/** A message of a critical path, followed through the network. */
export interface PathMessage {
  /** "rank 3, operation 4 (send 8b to 5 tag 0)". */
  what: string;
  sent: number;
  arrived: number;
  /** Where its last packet waited longest: a switch or terminal, the port that it left from, and that port's channel. */
  place: string;
  port: string;
  channel: number;
  waited: number;
  /** All that it went over. */
  channels: number[];
}

export interface PathData {
  job: string;
  /** Of times. */
  unit: string;
  /** The last first. */
  messages: PathMessage[];
}

/** A run that recorded its congestion trees, or the critical paths of its jobs. */
export interface ExplorerData {
  title: string;
  /** Index into ReportData.runs. */
  run: number;
  /** Index into ReportData.networks. */
  network: number;
  /** Base64 of what src/record.ts reads. */
  record: string;
  /** ns that a cycle takes, where the run knows. */
  cycle?: number;
  /** Bytes that a flit has, where the run knows. */
  flit?: number;
  /** Of a run with jobs. */
  paths?: PathData[];
}

export interface ReportData {
  format: 1;
  /** SVG path data around (0, 0), one for each place of the palette. */
  markers: string[];
  charts: ChartData[];
  runs: RunData[];
  /** Of a sweep. */
  comparison?: ComparisonData;
  explorers?: ExplorerData[];
  networks?: NetworkData[];
}

/** Verdicts under which a number is no steady-state mean. */
export function isUnsettled(verdict: string | null | undefined): boolean {
  return verdict === "saturated" || verdict === "deadlocked";
}

/** "saturated", "steady (uncertain)". */
export function verdictText(verdict: string, certain: boolean): string {
  return certain ? verdict : `${verdict} (uncertain)`;
}

export interface RingKind {
  /** Class of the ring in the style sheet of the charts. */
  name: string;
  meaning: string;
  /** On the canvas. */
  dash: readonly number[];
  holds(line: LineData, point: number): boolean;
}

/** Rings around points that need a second look; of a point that is both, the first holds. As chart.cpp has them. */
export const kRings: readonly RingKind[] = [
  {
    name: "ring",
    meaning: "saturated or deadlocked; with an arrow: no value",
    dash: [],
    holds: (line, point) => isUnsettled(line.verdict?.[point]),
  },
  {
    name: "doubt",
    meaning: "uncertain verdict: a longer run may tell",
    dash: [3, 3],
    holds: (line, point) => line.uncertain?.[point] === true,
  },
];

/** A point without a value, because its run found no steady state: marked in a band above all values. */
export function isBeyond(line: LineData | undefined, point: number): boolean {
  return line?.y[point] === null && isUnsettled(line.verdict?.[point]);
}

/** Throws when the text is not what this script was built for. */
export function parseReport(text: string): ReportData {
  const data: unknown = JSON.parse(text);
  if (typeof data !== "object" || data === null || (data as { format?: unknown }).format !== 1) {
    throw new Error("the data of this page have an unknown format");
  }
  return data as ReportData;
}
