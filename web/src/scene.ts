// What is drawn of a network at one time: queues by how full they are, channels in use, trees with their victims.
import type { Layout, NetworkData, Point, Segment } from "./layout";
import { channelEnds, isTerminal, terminalOf } from "./layout";
import type { Pen } from "./pen";
import type { Place, RecordData, Sample, Tree } from "./record";

export interface SceneColours {
  ground: string;
  ink: string;
  soft: string;
  rule: string;
  /** From nearly empty to full. */
  heat: string[];
  /** Of trees; each has a dash pattern of its own too. */
  trees: string[];
}

export type Target =
  | { kind: "channel"; number: number }
  | { kind: "switch"; number: number }
  | { kind: "terminal"; number: number };

export interface SceneState {
  sample: Sample;
  /** Shows this tree alone; null: all. */
  tree: number | null;
  colourBy: "occupancy" | "use";
  target: Target | null;
  queues: boolean;
}

const kLightHeat = ["#c9dcef", "#a3c3e2", "#7aa8d3", "#528cc1", "#3270ab", "#1d5390", "#0f3870", "#071f4a"];
const kDarkHeat = ["#1d3a57", "#2a527b", "#3a6ca0", "#5487bf", "#78a4d4", "#a0c1e5", "#c8ddf3", "#f2f8ff"];
/** Okabe and Ito 2008, without the blues of the queues; darker on a light ground. */
const kLightTrees = ["#c04f00", "#a3327a", "#007a55", "#8a6a00", "#5b3fa8", "#b3261e"];
const kDarkTrees = ["#ff8a3d", "#e58cc0", "#2fd0a0", "#f0d440", "#b7a0ff", "#ff8a80"];
const kDashes: readonly (readonly number[])[] = [
  [],
  [0.16, 0.08],
  [0.05, 0.06],
  [0.24, 0.06, 0.05, 0.06],
  [0.1, 0.1],
  [0.3, 0.12],
];

/** Light or dark, by what the page's ground is. */
export function sceneColours(page: { ground: string; ink: string; soft: string; rule: string }): SceneColours {
  const dark = isDark(page.ground);
  return { ...page, heat: dark ? kDarkHeat : kLightHeat, trees: dark ? kDarkTrees : kLightTrees };
}

export function isDark(colour: string): boolean {
  const hex = /^#(..)(..)(..)$/.exec(colour);
  if (hex === null) return false;
  const [r = 0, g = 0, b = 0] = hex.slice(1).map((part) => Number.parseInt(part, 16));
  return 0.3 * r + 0.59 * g + 0.11 * b < 128;
}

export function treeColour(colours: SceneColours, tree: number): string {
  return colours.trees[tree % colours.trees.length] ?? colours.ink;
}
export function treeDash(tree: number): readonly number[] {
  return kDashes[tree % kDashes.length] ?? [];
}

/** Part of a segment, from one share of its length to another, at most so long. */
export function part([x0, y0, x1, y1]: Segment, atEnd: boolean, longest: number): Segment {
  const length = Math.hypot(x1 - x0, y1 - y0) || 1;
  const share = Math.min(longest / length, 0.4);
  const [dx, dy] = [(x1 - x0) * share, (y1 - y0) * share];
  return atEnd ? [x1 - dx, y1 - dy, x1, y1] : [x0, y0, x0 + dx, y0 + dy];
}

export class Scene {
  /** Fullest queue of [output, input] of every channel, of every switch's memory and every source, of a sample. */
  private readonly outputs: Uint8Array;
  private readonly inputs: Uint8Array;
  private readonly memories: Uint8Array;
  private readonly sources: Uint8Array;
  /** Where the buffers of channels lie, before and behind them. */
  private readonly starts: Segment[];
  private readonly ends: Segment[];
  /** The tree that a channel was drawn for last: several of a tree's members may lie at one channel. */
  private readonly drawn: Float64Array;
  private drawing = 0;

  constructor(
    readonly network: NetworkData,
    readonly layout: Layout,
    readonly segments: readonly Segment[],
    readonly record: RecordData,
  ) {
    this.outputs = new Uint8Array(segments.length);
    this.inputs = new Uint8Array(segments.length);
    this.memories = new Uint8Array(layout.switches.length);
    this.sources = new Uint8Array(network.terminals);
    this.drawn = new Float64Array(segments.length);
    const longest = network.shape === "stages" ? 0.62 : 0.26;
    this.starts = segments.map((segment) => part(segment, false, longest));
    this.ends = segments.map((segment) => part(segment, true, longest));
  }

  /** The segment of a buffer, or the point of a memory or source. */
  segmentOf(place: Place): Segment | null {
    if (place.kind === "source" || place.kind === "memory") return null;
    const list = { port: this.segments, input: this.ends, output: this.starts }[place.kind];
    return list[place.index] ?? null;
  }
  pointOf(place: Place): Point | null {
    if (place.kind === "source") return this.layout.sources[place.index] ?? null;
    if (place.kind === "memory") return this.layout.switches[place.index] ?? null;
    return null;
  }

  /** `pixel`: size of one in units of the layout. */
  draw(pen: Pen, colours: SceneColours, state: SceneState, pixel: number): void {
    this.drawNetwork(pen, colours);
    this.drawSample(pen, colours, state, pixel);
  }

  /** What is the same at every time: on a canvas it is drawn once. */
  drawNetwork(pen: Pen, colours: SceneColours): void {
    const { layout } = this;
    pen.lines(this.segments, colours.rule, 0.025);
    pen.boxes(
      layout.switches.map(({ x, y }) => [x, y, layout.radius] as const),
      colours.ground,
      colours.soft,
    );
    const dots = [...layout.sources, ...(this.network.bidirectional ? [] : layout.sinks)];
    pen.dots(
      dots.map(({ x, y }) => [x, y, 0.1] as const),
      colours.ground,
      colours.soft,
    );
  }

  /** What is in the network at one time, over drawNetwork. */
  drawSample(pen: Pen, colours: SceneColours, state: SceneState, pixel: number): void {
    this.read(state.sample);
    this.drawChannels(pen, colours, state);
    this.drawNodes(pen, colours);
    const shown = state.sample.trees.filter((tree) => state.tree === null || tree.id === state.tree);
    for (const tree of shown) this.drawTree(pen, colours, tree, state.tree !== null, pixel);
    if (state.queues) this.drawSetAside(pen, colours, state.sample, pixel);
    if (state.target !== null) this.drawTarget(pen, colours, state.target);
  }

  private read(sample: Sample): void {
    for (const list of [this.outputs, this.inputs, this.memories, this.sources]) list.fill(0);
    const lists = {
      output: this.outputs,
      port: this.outputs,
      input: this.inputs,
      memory: this.memories,
      source: this.sources,
    };
    for (let i = 0; i < sample.fill.length; ++i) {
      const fill = sample.fill[i] ?? 0;
      const place = this.record.places[i];
      if (fill === 0 || place === undefined) continue;
      const list = lists[place.kind];
      if ((list[place.index] ?? 0) < fill) list[place.index] = fill;
    }
  }

  private drawChannels(pen: Pen, colours: SceneColours, state: SceneState): void {
    const busy: Segment[] = [];
    const heat: Segment[][] = colours.heat.map(() => []);
    const add = (fills: Uint8Array, places: readonly Segment[], c: number) => {
      const fill = fills[c] ?? 0;
      const place = places[c];
      if (fill > 0 && place !== undefined) heat[step(fill, colours.heat.length)]?.push(place);
    };
    this.segments.forEach((segment, c) => {
      if ((state.sample.use[c] ?? 0) > 0) busy.push(segment);
      add(this.outputs, this.starts, c);
      add(this.inputs, this.ends, c);
    });
    if (state.colourBy === "use") {
      channelsByUse(this.segments, state.sample.use, colours.heat.length).forEach((segments, i) => {
        pen.lines(segments, colours.heat[i] ?? colours.ink, 0.06);
      });
      return;
    }
    pen.lines(busy, colours.soft, 0.022);
    heat.forEach((segments, i) => {
      pen.lines(segments, colours.heat[i] ?? colours.ink, 0.085);
    });
  }

  /** Memories and sources that hold something. */
  private drawNodes(pen: Pen, colours: SceneColours): void {
    const boxes: [number, number, number][][] = colours.heat.map(() => []);
    this.layout.switches.forEach(({ x, y }, s) => {
      const fill = this.memories[s] ?? 0;
      if (fill > 0) boxes[step(fill, colours.heat.length)]?.push([x, y, this.layout.radius]);
    });
    boxes.forEach((list, i) => {
      if (list.length > 0) pen.boxes(list, colours.heat[i] ?? colours.ink, colours.soft);
    });
    const full = this.layout.sources.filter((_, t) => (this.sources[t] ?? 0) > 0);
    pen.dots(
      full.map(({ x, y }) => [x, y, 0.1] as const),
      colours.heat[4] ?? colours.ink,
      colours.soft,
    );
  }

  /** Members as a line around their queues, victims as dots, the root by its number. */
  private drawTree(pen: Pen, colours: SceneColours, tree: Tree, alone: boolean, pixel: number): void {
    const colour = treeColour(colours, tree.id);
    const branches: Segment[] = [];
    const dots: [number, number, number][] = [];
    const victims: [number, number, number][] = [];
    ++this.drawing;
    for (const member of tree.members) {
      const place = this.record.places[member.place];
      if (place === undefined) continue;
      const point = this.pointOf(place);
      if (point !== null) dots.push([point.x, point.y, Math.min(0.15, 6 * pixel)]);
      const segment = this.segmentOf(place);
      if (segment === null) continue;
      if (this.drawn[place.index] !== this.drawing) branches.push(this.segments[place.index] ?? segment);
      this.drawn[place.index] = this.drawing;
      if (member.victims > 0)
        victims.push([(segment[0] + segment[2]) / 2, (segment[1] + segment[3]) / 2, Math.min(0.075, 4 * pixel)]);
    }
    // However small the network is drawn, a tree can be seen. Dashes of less than a few pixels cannot be told apart.
    const width = alone ? Math.max(0.9 * pixel, 0.07) : Math.max(0.6 * pixel, 0.055);
    pen.lines(branches, colour, width, pixel < 0.03 ? treeDash(tree.id) : []);
    pen.dots(dots, colour, colours.ground);
    pen.dots(victims, colours.ground, colour);
    const root = this.segments[tree.root];
    if (root === undefined) return;
    pen.lines([root], colour, Math.max(1.5 * pixel, 0.13));
    const at = part(root, false, 0.5);
    const size = Math.max(13 * pixel, 0.12);
    pen.dots([[at[0], at[1], Math.min(0.17, 7 * pixel)]], colour, colours.ground);
    pen.text(`T${tree.id}`, at[0], at[1] - size, size, colour, colours.ground);
  }

  /** A square per queue that was set aside, side by side, and a dot where the switches believe the roots to be. */
  private drawSetAside(pen: Pen, colours: SceneColours, sample: Sample, pixel: number): void {
    const roots = new Set(sample.queues.map((queue) => queue.root));
    const believed: [number, number, number][] = [];
    for (const root of roots) {
      const segment = root === null ? undefined : this.segments[root];
      if (segment !== undefined) believed.push([segment[0], segment[1], Math.min(0.15, 6 * pixel)]);
    }
    const perPlace = new Map<string, number>();
    const boxes: [number, number, number][] = [];
    for (const queue of sample.queues) {
      const place = this.record.places[queue.place];
      const segment = place === undefined ? null : this.segmentOf(place);
      if (place === undefined || segment === null) continue;
      const key = `${place.kind}${place.index}`;
      const nth = perPlace.get(key) ?? 0;
      perPlace.set(key, nth + 1);
      const end = place.kind === "input" ? [segment[2], segment[3]] : [segment[0], segment[1]];
      boxes.push([(end[0] ?? 0) + 0.1 * nth, (end[1] ?? 0) + 0.1, 0.045]);
    }
    if (boxes.length > 0) pen.boxes(boxes, colours.ink, colours.ground);
    if (believed.length > 0) pen.dots(believed, colours.ink, colours.ground);
  }

  private drawTarget(pen: Pen, colours: SceneColours, target: Target): void {
    if (target.kind === "channel") {
      const segment = this.segments[target.number];
      if (segment !== undefined) pen.lines([segment], colours.ink, 0.05);
      return;
    }
    const at = target.kind === "switch" ? this.layout.switches[target.number] : this.layout.sources[target.number];
    if (at === undefined) return;
    const ring: Segment[] = [];
    const radius = target.kind === "switch" ? this.layout.radius * 1.6 : 0.24;
    for (let i = 0; i < 24; ++i) {
      const [a, b] = [(i * Math.PI) / 12, ((i + 1) * Math.PI) / 12];
      ring.push([
        at.x + radius * Math.cos(a),
        at.y + radius * Math.sin(a),
        at.x + radius * Math.cos(b),
        at.y + radius * Math.sin(b),
      ]);
    }
    pen.lines(ring, colours.ink, 0.06);
    if (target.kind === "terminal" && !this.network.bidirectional) {
      const sink = this.layout.sinks[target.number];
      if (sink !== undefined) pen.dots([[sink.x, sink.y, 0.17]], colours.ink, colours.ground);
    }
  }

  /** What lies at a point of the drawing, at most `reach` away. */
  hit(x: number, y: number, reach: number): Target | null {
    const near = ({ x: px, y: py }: Point, radius: number) => Math.hypot(px - x, py - y) <= radius;
    for (let t = 0; t < this.network.terminals; ++t) {
      const [source, sink] = [this.layout.sources[t], this.layout.sinks[t]];
      if ((source !== undefined && near(source, 0.14)) || (sink !== undefined && near(sink, 0.14))) {
        return { kind: "terminal", number: t };
      }
    }
    const inside = this.layout.switches.findIndex((p) => near(p, this.layout.radius));
    if (inside >= 0) return { kind: "switch", number: inside };
    let best: Target | null = null;
    let least = reach;
    this.segments.forEach((segment, c) => {
      const distance = distanceTo(segment, x, y);
      if (distance >= least) return;
      least = distance;
      best = { kind: "channel", number: c };
    });
    return best;
  }
}

/** Step of a scale for a fill from 1 to 255; the last for full alone. */
export function step(fill: number, steps: number): number {
  return fill >= 255 ? steps - 1 : Math.min(steps - 2, Math.floor((fill * (steps - 1)) / 255));
}

/** For each colour the channels whose share of use it stands for; none of those that carried nothing. */
export function channelsByUse(segments: readonly Segment[], use: Uint8Array, colours: number): Segment[][] {
  const lists: Segment[][] = Array.from({ length: colours }, () => []);
  segments.forEach((segment, c) => {
    const share = use[c] ?? 0;
    if (share > 0) lists[step(share, colours)]?.push(segment);
  });
  return lists;
}

export function distanceTo([x0, y0, x1, y1]: Segment, x: number, y: number): number {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const along = Math.max(0, Math.min(1, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - x0 - along * dx, y - y0 - along * dy);
}

/** A channel in words. */
export function channelName(network: NetworkData, channel: number): string {
  const { from, fromPort, to } = channelEnds(network, channel);
  const name = (node: number) => (isTerminal(node) ? `terminal ${terminalOf(node)}` : (network.labels[node] ?? ""));
  const port = isTerminal(from) ? "" : ` output ${network.ports[fromPort] ?? fromPort}`;
  return `${name(from)}${port} → ${name(to)}`;
}
