// Where the switches and terminals of a network are drawn: in its own shape, in units of a switch's distance.

export interface NetworkData {
  name: string;
  shape: "stages" | "levels" | "grid" | "cube" | "groups" | "ring";
  /** Terminals send and receive at one place. */
  bidirectional: boolean;
  terminals: number;
  /** Switches per dimension; routers and groups of a dragonfly. */
  sizes: number[];
  /** By switch. */
  levels: number[];
  labels: string[];
  /** Names of the ports of a switch. */
  ports: string[];
  /** Four numbers per channel: from, its port, to, its port; terminal t is -1 - t. */
  channels: number[];
}

export interface Point {
  x: number;
  y: number;
}

export interface Layout {
  switches: Point[];
  /** Where a terminal sends from, and where it receives. */
  sources: Point[];
  sinks: Point[];
  /** Half the side of a switch. */
  radius: number;
  width: number;
  height: number;
}

export interface ChannelEnds {
  from: number;
  fromPort: number;
  to: number;
  toPort: number;
}

export function channelCount(network: NetworkData): number {
  return network.channels.length / 4;
}

export function channelEnds(network: NetworkData, channel: number): ChannelEnds {
  const [from = 0, fromPort = 0, to = 0, toPort = 0] = network.channels.slice(4 * channel, 4 * channel + 4);
  return { from, fromPort, to, toPort };
}

export function isTerminal(node: number): boolean {
  return node < 0;
}
export function terminalOf(node: number): number {
  return -1 - node;
}

/** Positions 0 to count - 1, spread over `extent`, in the middle of equal parts. */
function spread(count: number, extent: number): number[] {
  return Array.from({ length: count }, (_, i) => ((i + 0.5) * extent) / count);
}

function byLevel(network: NetworkData): number[][] {
  const levels: number[][] = [];
  network.levels.forEach((level, s) => {
    levels[level] ??= [];
    levels[level]?.push(s);
  });
  return Array.from(levels, (list) => list ?? []);
}

/** Levels side by side, left to right: x along, y across. */
function stages(network: NetworkData): Point[] {
  const levels = byLevel(network);
  const most = Math.max(...levels.map((list) => list.length), 1);
  const gap = Math.max(3, most * 0.22);
  const points: Point[] = [];
  levels.forEach((list, level) => {
    const across = spread(list.length, most);
    list.forEach((s, i) => {
      points[s] = { x: gap * (level + 1), y: across[i] ?? 0 };
    });
  });
  return points;
}

/** Levels one above the other, the highest on top. */
function levels(network: NetworkData): Point[] {
  const top = Math.max(...network.levels, 0);
  const most = Math.max(...byLevel(network).map((list) => list.length), 1);
  const gap = Math.max(2, most * 0.16);
  return stages(network).map(({ y: across }, s) => ({ x: across, y: gap * (top - (network.levels[s] ?? 0) + 0.7) }));
}

/** The first two dimensions in a plane; further ones as planes side by side, then below each other. */
function grid(network: NetworkData): Point[] {
  const [a = 1, b = 1, ...rest] = network.sizes;
  return network.levels.map((_, s) => {
    let left = Math.floor(s / (a * b));
    let x = s % a;
    let y = Math.floor(s / a) % b;
    let [stepX, stepY] = [a + 1, b + 1];
    rest.forEach((size, i) => {
      const at = left % size;
      left = Math.floor(left / size);
      if (i % 2 === 0) {
        x += at * stepX;
        stepX *= size;
      } else {
        y += at * stepY;
        stepY *= size;
      }
    });
    return { x: x + 0.5, y: y + 0.5 };
  });
}

/** Every dimension is a direction of its own: two long ones, then shorter ones, slanted. */
function cube(network: NetworkData): Point[] {
  const dimensions = network.sizes.length;
  const vectors: Point[] = [];
  for (let d = 0; d < dimensions; ++d) {
    const shift = Math.floor(d / 2);
    const scale = 2 ** (shift * 1.15);
    vectors.push(d % 2 === 0 ? { x: scale * 1.6, y: scale * 0.22 * (shift % 2) } : { x: scale * 0.5, y: scale * 1.3 });
  }
  return network.levels.map((_, s) => {
    const at = { x: 0.5, y: 0.5 };
    vectors.forEach((v, d) => {
      if (((s >> d) & 1) === 0) return;
      at.x += v.x;
      at.y += v.y;
    });
    return at;
  });
}

function onCircle(i: number, count: number, radius: number): Point {
  const angle = (2 * Math.PI * i) / count - Math.PI / 2;
  return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
}

/** Groups on a circle, the routers of each on a small one. */
function groups(network: NetworkData): Point[] {
  const [routers = 1, count = 1] = network.sizes;
  const small = Math.max(0.8, (routers * 1.3) / (2 * Math.PI));
  const large = Math.max(small * 2, (count * small * 2.6) / (2 * Math.PI));
  const centre = large + small + 1.5;
  return network.levels.map((_, s) => {
    const group = onCircle(Math.floor(s / routers), count, large);
    const router = onCircle(s % routers, routers, small);
    return { x: centre + group.x + router.x, y: centre + group.y + router.y };
  });
}

function ring(network: NetworkData): Point[] {
  const count = network.levels.length;
  const radius = Math.max(1.5, (count * 1.2) / (2 * Math.PI));
  return network.levels.map((_, s) => {
    const at = onCircle(s, count, radius);
    return { x: radius + 1.5 + at.x, y: radius + 1.5 + at.y };
  });
}

const kShapes = { stages, levels, grid, cube, groups, ring };

/** Terminals of a switch around its place, or in a row below the tree, or left and right of the stages. */
function placeTerminals(network: NetworkData, switches: Point[], extent: Point): { sources: Point[]; sinks: Point[] } {
  const sources: Point[] = [];
  const sinks: Point[] = [];
  const enters = new Map<number, number>();
  const leaves = new Map<number, number>();
  for (let c = 0; c < channelCount(network); ++c) {
    const { from, to } = channelEnds(network, c);
    if (isTerminal(from)) enters.set(terminalOf(from), to);
    if (isTerminal(to)) leaves.set(terminalOf(to), from);
  }
  const atSwitch = new Map<number, number[]>();
  for (let t = 0; t < network.terminals; ++t) {
    const s = enters.get(t) ?? 0;
    atSwitch.set(s, [...(atSwitch.get(s) ?? []), t]);
  }
  /** In the order of their switches across, so that lines do not cross. */
  const ordered = (at: Map<number, number>, along: "x" | "y") =>
    Array.from({ length: network.terminals }, (_, t) => t).sort(
      (a, b) => (switches[at.get(a) ?? 0]?.[along] ?? 0) - (switches[at.get(b) ?? 0]?.[along] ?? 0) || a - b,
    );
  if (network.shape === "stages") {
    const place = spread(network.terminals, extent.y);
    const gap = Math.max(3, extent.y * 0.22) * 0.62;
    const first = Math.min(...switches.map((p) => p.x));
    const last = Math.max(...switches.map((p) => p.x));
    ordered(enters, "y").forEach((t, i) => {
      sources[t] = { x: first - gap, y: place[i] ?? 0 };
    });
    ordered(leaves, "y").forEach((t, i) => {
      sinks[t] = network.bidirectional ? (sources[t] ?? { x: 0, y: 0 }) : { x: last + gap, y: place[i] ?? 0 };
    });
  } else if (network.shape === "levels") {
    const place = spread(network.terminals, extent.x);
    const lowest = Math.max(...switches.map((p) => p.y));
    ordered(enters, "x").forEach((t, i) => {
      sources[t] = { x: place[i] ?? 0, y: lowest + Math.max(1.2, extent.x * 0.06) };
      sinks[t] = sources[t] ?? { x: 0, y: 0 };
    });
  } else {
    for (const [s, list] of atSwitch) {
      const at = switches[s] ?? { x: 0, y: 0 };
      list.forEach((t, i) => {
        const angle = Math.PI * (0.75 + (list.length === 1 ? 0 : (0.5 * i) / (list.length - 1) - 0.25));
        sources[t] = { x: at.x + 0.42 * Math.cos(angle), y: at.y + 0.42 * Math.sin(angle) };
        sinks[t] = sources[t] ?? at;
      });
    }
  }
  return { sources, sinks };
}

export function layOut(network: NetworkData): Layout {
  const switches = kShapes[network.shape](network);
  const size = (points: Point[], along: "x" | "y") => Math.max(...points.map((p) => p[along]), 0);
  const inner = { x: size(switches, "x") + 0.5, y: size(switches, "y") + 0.5 };
  const { sources, sinks } = placeTerminals(network, switches, inner);
  const all = [...switches, ...sources, ...sinks];
  const least = (along: "x" | "y") => all.reduce((low, p) => Math.min(low, p[along]), Number.POSITIVE_INFINITY);
  const most = (along: "x" | "y") => all.reduce((high, p) => Math.max(high, p[along]), 0);
  const [left, top] = [least("x") - 0.8, least("y") - 0.8];
  const move = ({ x, y }: Point) => ({ x: x - left, y: y - top });
  return {
    switches: switches.map(move),
    sources: sources.map(move),
    sinks: sinks.map(move),
    radius: network.shape === "stages" ? 0.36 : 0.17,
    width: most("x") - left + 0.8,
    height: most("y") - top + 0.8,
  };
}

/** A channel as it is drawn, from (x0, y0) to (x1, y1). */
export type Segment = [x0: number, y0: number, x1: number, y1: number];

/** Ports of stages lie in order on the left and the right side of their box. */
function sidePorts(network: NetworkData, layout: Layout): Map<string, Point> {
  const at = new Map<string, Point>();
  const sides = new Map<string, { node: number; port: number; right: boolean }[]>();
  for (let c = 0; c < channelCount(network); ++c) {
    const { from, fromPort, to, toPort } = channelEnds(network, c);
    const x = (node: number, sends: boolean) =>
      (isTerminal(node) ? (sends ? layout.sources : layout.sinks)[terminalOf(node)] : layout.switches[node])?.x ?? 0;
    for (const [node, port, right] of [
      [from, fromPort, x(to, false) > x(from, true)],
      [to, toPort, x(from, true) > x(to, false)],
    ] as const) {
      if (isTerminal(node)) continue;
      const key = `${node}${right ? "r" : "l"}`;
      const list = sides.get(key) ?? [];
      if (!list.some((one) => one.port === port)) list.push({ node, port, right });
      sides.set(key, list);
    }
  }
  for (const list of sides.values()) {
    list.sort((a, b) => a.port - b.port);
    list.forEach(({ node, port, right }, i) => {
      const box = layout.switches[node] ?? { x: 0, y: 0 };
      const across = (2 * layout.radius * (i + 0.5)) / list.length - layout.radius;
      at.set(`${node}:${port}${right ? "r" : "l"}`, {
        x: box.x + (right ? layout.radius : -layout.radius),
        y: box.y + across,
      });
    });
  }
  return at;
}

/** All channels. Two between the same nodes lie side by side. */
export function drawChannels(network: NetworkData, layout: Layout): Segment[] {
  const ports = network.shape === "stages" ? sidePorts(network, layout) : null;
  const apart = network.bidirectional ? 0.045 : 0;
  const segments: Segment[] = [];
  for (let c = 0; c < channelCount(network); ++c) {
    const { from, fromPort, to, toPort } = channelEnds(network, c);
    const place = (node: number, sends: boolean): Point =>
      (isTerminal(node) ? (sends ? layout.sources : layout.sinks)[terminalOf(node)] : layout.switches[node]) ?? {
        x: 0,
        y: 0,
      };
    let a = place(from, true);
    let b = place(to, false);
    const right = b.x > a.x;
    if (ports !== null) {
      a = ports.get(`${from}:${fromPort}${right ? "r" : "l"}`) ?? a;
      b = ports.get(`${to}:${toPort}${right ? "l" : "r"}`) ?? b;
    }
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const [ux, uy] = [(b.x - a.x) / length, (b.y - a.y) / length];
    const cut = (node: number) => (ports !== null || isTerminal(node) ? 0 : Math.min(layout.radius, length / 3));
    const [ox, oy] = [-uy * apart, ux * apart];
    segments.push([
      a.x + ux * cut(from) + ox,
      a.y + uy * cut(from) + oy,
      b.x - ux * cut(to) + ox,
      b.y - uy * cut(to) + oy,
    ]);
  }
  return segments;
}
