// Does the explorer read its record, lay networks out, and link to what it shows?
import { describe, expect, it } from "vitest";
import { chartsOfCurves, curvesOf, timeText } from "../src/curves";
import { parseTarget } from "../src/explorer";
import { channelEnds, drawChannels, layOut, type NetworkData } from "../src/layout";
import { readLink, writeLink } from "../src/link";
import { SheetPen } from "../src/pen";
import { ByteReader, parseRecord, type RecordData } from "../src/record";
import { channelName, channelsByUse, distanceTo, part, Scene, sceneColours, step } from "../src/scene";
import { SvgSheet } from "../src/sheet";

/** The other end of ByteReader. */
function bytes(...values: (number | number[])[]): Uint8Array {
  const out: number[] = [];
  for (const value of values) {
    if (Array.isArray(value)) {
      out.push(...value);
      continue;
    }
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) out.push((rest % 128) + 128);
    out.push(rest);
  }
  return Uint8Array.from(out);
}

/** Two switches in a row, one terminal before and one behind them. */
const kRow: NetworkData = {
  name: "row",
  shape: "stages",
  bidirectional: false,
  terminals: 2,
  sizes: [],
  levels: [0, 1],
  labels: ["first", "second"],
  ports: ["0"],
  channels: [-1, 0, 0, 0, 0, 0, 1, 0, 1, 0, -2, 0],
};

/** Two samples: nothing, then a tree with its root at channel 2. */
function record(): RecordData {
  const tree = [7, 2, 1, 1, 2, 0, 3, 1, 2, 1, 1];
  return parseRecord(
    bytes(
      ...[20, 1_000_000],
      ...[2, 1, 2, 0, 4, 1, 1, 0, 4],
      ...[2, 20, 8, 2, 30, 0, 0, 20, 300, 3, 60, 1, ...tree],
      ...[2, 0, 0, 0, 1, 1, 2],
      ...[2, 1, 1],
      ...[1, 0, 1, 3],
      ...[1, 0, 0, 2],
      0,
      ...[1, [1], 2, [254, 10]],
      ...[3, [0, 0, 255], 3, [0, 255, 0]],
      ...[1, 40, 0, 7, 7, 2, 2, 2, 1],
      0,
    ),
  );
}

describe("record", () => {
  it("reads numbers of any size", () => {
    const reader = new ByteReader(bytes(0, 127, 128, 300, 2 ** 40));
    expect([0, 1, 2, 3, 4].map(() => reader.natural())).toEqual([0, 127, 128, 300, 2 ** 40]);
    expect(() => reader.natural()).toThrow("too early");
  });

  it("reads samples, differences of bytes, trees and events", () => {
    const { places, samples, events, threshold } = record();
    expect(threshold).toBe(1);
    expect(places[0]).toEqual({ kind: "output", index: 2, lane: 0, capacity: 4 });
    expect(samples.map((s) => s.at)).toEqual([20, 40]);
    expect([...(samples[1]?.fill ?? [])]).toEqual([255, 10]);
    expect([...(samples[1]?.use ?? [])]).toEqual([0, 255, 255]);
    const tree = samples[1]?.trees[0];
    expect(tree?.members).toEqual([
      { place: 0, depth: 0, victims: 0 },
      { place: 1, depth: 1, victims: 2 },
    ]);
    expect(tree?.mostVictims).toEqual([{ source: 0, destination: 0, packets: 2 }]);
    expect(events).toEqual([{ at: 40, kind: "born", tree: 7, other: 7, root: 2, oldRoot: 2, members: 2, depth: 1 }]);
  });

  it("becomes curves", () => {
    expect(curvesOf(record())).toEqual({
      times: [20, 40],
      throughput: [0.4, 15],
      latency: [15, 20],
      largest: [0, 2],
      all: [0, 2],
    });
  });

  it("becomes charts in seconds and bytes where the run knows", () => {
    const cycles = chartsOfCurves(curvesOf(record()));
    expect(cycles.map(({ x }) => x.label)).toEqual(["cycle", "cycle", "cycle"]);
    expect(cycles.slice(0, 2).map(({ y }) => y.unit)).toEqual(["flits/cycle", "cycles"]);
    const seconds = chartsOfCurves(curvesOf(record()), { cycle: 500, flit: 1000 });
    expect(seconds.map(({ x }) => x.label)).toEqual(Array(3).fill("time (\u00b5s)"));
    expect(seconds[0]?.lines[0]?.x).toEqual([10, 20]);
    expect(seconds.slice(0, 2).map(({ y }) => y.unit)).toEqual(["GB/s", "ns"]);
    expect(seconds[0]?.lines[0]?.y).toEqual([0.8, 30]);
    expect(seconds[1]?.lines[0]?.y).toEqual([7500, 10000]);
    // A run that knows no flit has its rates in flits.
    expect(chartsOfCurves(curvesOf(record()), { cycle: 2 }).map(({ y }) => y.unit)).toEqual([
      "flits/cycle",
      "ns",
      "buffers",
    ]);
  });

  it("tells the time that is shown", () => {
    expect(timeText(1234, {})).toBe("cycle 1234");
    expect(timeText(1234, { cycle: 2 })).toBe("2468 ns");
    expect(timeText(50_000, { cycle: 2 })).toBe("100 \u00b5s");
  });
});

describe("channels by use", () => {
  it("gives each its share, and none that carried nothing", () => {
    const segments = [0, 1, 2, 3].map((x) => [x, 0, x, 1] as const);
    const lists = channelsByUse(
      segments.map(([a, b, c, d]) => [a, b, c, d]),
      new Uint8Array([0, 1, 128, 255]),
      8,
    );
    expect(lists.map((list) => list.map(([x]) => x))).toEqual([[1], [], [], [2], [], [], [], [3]]);
  });
});

describe("link", () => {
  it("gives back what it was made of", () => {
    for (const target of [null, { kind: "channel", number: 17 }, { kind: "terminal", number: 3 }] as const) {
      const state = { run: 1, time: 640, tree: target === null ? null : 5, target, colourBy: "use" } as const;
      expect(readLink(writeLink(state))).toEqual(state);
    }
  });
  it("takes nothing from what it does not know", () => {
    expect(readLink("#claims")).toBeNull();
    expect(readLink("#network?time=-1&tree=x&at=q9")).toEqual({
      run: 0,
      time: 0,
      tree: null,
      target: null,
      colourBy: "occupancy",
    });
  });
});

describe("search", () => {
  it("finds what is named", () => {
    expect(parseTarget("5")).toEqual({ kind: "terminal", number: 5 });
    expect(parseTarget("switch 12")).toEqual({ kind: "switch", number: 12 });
    expect(parseTarget(" c7 ")).toEqual({ kind: "channel", number: 7 });
    expect(parseTarget("box 3")).toBeNull();
  });
});

function network(shape: NetworkData["shape"], sizes: number[], count: number): NetworkData {
  const channels: number[] = [];
  for (let s = 0; s < count; ++s) channels.push(-1 - s, 0, s, 0, s, 0, -1 - s, 0, s, 1, (s + 1) % count, 1);
  const levels = Array.from({ length: count }, (_, s) => (shape === "levels" || shape === "stages" ? s % 2 : 0));
  const labels = levels.map((_, s) => String(s));
  return { name: shape, shape, bidirectional: true, terminals: count, sizes, levels, labels, ports: [], channels };
}

describe("layout", () => {
  it.each([
    ["stages", [], 8],
    ["levels", [], 8],
    ["grid", [4, 2], 8],
    ["grid", [2, 2, 3, 2], 24],
    ["cube", [2, 2, 2, 2], 16],
    ["groups", [4, 3], 12],
    ["ring", [], 5],
  ] as const)("draws %s %j without two switches at one place, inside its frame", (shape, sizes, count) => {
    const layout = layOut(network(shape, [...sizes], count));
    const places = new Set(layout.switches.map(({ x, y }) => `${x.toFixed(3)} ${y.toFixed(3)}`));
    expect(places.size).toBe(count);
    for (const { x, y } of [...layout.switches, ...layout.sources, ...layout.sinks]) {
      expect(x).toBeGreaterThan(0);
      expect(x).toBeLessThan(layout.width);
      expect(y).toBeGreaterThan(0);
      expect(y).toBeLessThan(layout.height);
    }
  });

  it("puts sources left of a unidirectional network and sinks right of it", () => {
    const layout = layOut(kRow);
    const [first, second] = layout.switches;
    expect(layout.sources[0]?.x).toBeLessThan(first?.x ?? 0);
    expect(first?.x).toBeLessThan(second?.x ?? 0);
    expect(layout.sinks[1]?.x).toBeGreaterThan(second?.x ?? 0);
  });

  it("draws two opposite channels side by side", () => {
    const both = { ...network("grid", [2, 1], 2), channels: [0, 0, 1, 0, 1, 0, 0, 0], terminals: 0 };
    const [there = [0, 0, 0, 0], back = [0, 0, 0, 0]] = drawChannels(both, layOut(both));
    expect(there[1]).not.toBeCloseTo(back[1]);
  });
});

describe("scene", () => {
  const layout = layOut(kRow);
  const segments = drawChannels(kRow, layout);
  const scene = new Scene(kRow, layout, segments, record());

  it("finds what lies under the pointer", () => {
    const [x0, y0, x1, y1] = segments[1] ?? [0, 0, 0, 0];
    expect(scene.hit((x0 + x1) / 2, (y0 + y1) / 2 + 0.01, 0.1)).toEqual({ kind: "channel", number: 1 });
    const at = layout.switches[1] ?? { x: 0, y: 0 };
    expect(scene.hit(at.x, at.y, 0.1)).toEqual({ kind: "switch", number: 1 });
    expect(scene.hit(at.x, at.y + 50, 0.1)).toBeNull();
  });

  it("draws a tree with its number, and only what is asked for", () => {
    const colours = sceneColours({ ground: "#ffffff", ink: "#000000", soft: "#555555", rule: "#dddddd" });
    const sample = record().samples[1];
    if (sample === undefined) throw new Error("no sample");
    const picture = (tree: number | null) => {
      const sheet = new SvgSheet(layout.width * 100, layout.height * 100, colours.ground, "a & b");
      scene.draw(
        new SheetPen(sheet, 100),
        colours,
        { sample, tree, colourBy: "occupancy", target: null, queues: true },
        0.01,
      );
      return sheet.file();
    };
    expect(picture(null)).toContain(">T7</text>");
    expect(picture(7)).toContain(">T7</text>");
    expect(picture(8)).not.toContain(">T7</text>");
    expect(picture(null)).toContain("<title>a &amp; b</title>");
  });

  it("tells full from nearly full", () => {
    expect(step(255, 8)).toBe(7);
    expect(step(254, 8)).toBe(6);
    expect(step(1, 8)).toBe(0);
  });

  it("measures distances and parts of lines", () => {
    expect(distanceTo([0, 0, 10, 0], 5, 2)).toBe(2);
    expect(distanceTo([0, 0, 10, 0], 13, 4)).toBe(5);
    expect(part([0, 0, 10, 0], true, 2)).toEqual([8, 0, 10, 0]);
    expect(part([0, 0, 1, 0], false, 2)).toEqual([0, 0, 0.4, 0]);
  });

  it("names channels", () => {
    expect(channelName(kRow, 1)).toBe("first output 0 → second");
    expect(channelName(kRow, 0)).toBe("terminal 0 → first");
    expect(channelEnds(kRow, 2).to).toBe(-2);
  });
});
