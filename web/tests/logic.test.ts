// Does the page's logic, without a page, do what its comments say?
import { describe, expect, it } from "vitest";
import { align } from "../src/align";
import { bandOf, marked, rowsBeyond } from "../src/beyond";
import { isUnsettled, parseReport } from "../src/data";
import { decodeDataAddress } from "../src/download";
import { extentOf, scaled } from "../src/extent";
import { describePoint, formatEstimate, formatNumber, labelParts, plainLabel } from "../src/format";
import { across, along, first, nearest } from "../src/nearest";
import { shortNames } from "../src/short_names";
import { axis, chart, line } from "./helpers";

describe("align", () => {
  it("unites the abscissas of all lines", () => {
    const { x, ys } = align([line([1, 3], [10, 30]), line([2, 3], [20, 31])]);
    expect(x).toEqual([1, 2, 3]);
    expect(ys).toEqual([
      [10, null, 30],
      [null, 20, 31],
    ]);
  });

  it("keeps several points at one x, and sorts", () => {
    const { x, ys } = align([line([3, 1, 1], [30, 10, 11]), line([1], [5])]);
    expect(x).toEqual([1, 1, 3]);
    expect(ys).toEqual([
      [10, 11, 30],
      [5, null, null],
    ]);
  });

  it("makes nothing of nothing", () => {
    expect(align([])).toEqual({ x: [], ys: [] });
  });
});

describe("extent", () => {
  it("includes error bars and zero, and ends at round values", () => {
    const { x, y } = extentOf([line([0, 1], [40, 95], { error: [null, 10] })], axis(), axis());
    expect(y).toEqual([0, 150]);
    expect(x[0]).toBeCloseTo(-0.03);
    expect(x[1]).toBeCloseTo(1.03);
  });

  it("leaves out what a logarithmic axis cannot show", () => {
    const { y } = extentOf([line([1, 2, 4], [0, 8, 16], { error: [1, 10, 1] })], axis(true), axis(true));
    expect(y[0]).toBeGreaterThan(0);
    expect(y[0]).toBeLessThanOrEqual(8);
    expect(y[1]).toBeGreaterThanOrEqual(18);
  });

  it("is not stretched over decades by an interval that nearly reaches zero", () => {
    const { y } = extentOf([line([1, 2], [100, 900], { error: [99.999, 10] })], axis(), axis(true));
    expect(y[0]).toBeGreaterThan(50);
  });

  it("is not stretched by an interval many times the range of the values", () => {
    const wide = (error: number) => extentOf([line([1, 2], [0.6, 0.9], { error: [error, 0.05] })], axis(), axis()).y;
    expect(wide(14)).toEqual([0, 1]);
    expect(wide(0.8)[0]).toBe(0);
    expect(wide(0.8)[1]).toBeGreaterThanOrEqual(1.4);
    expect(extentOf([line([5], [0], { error: [5] })], axis(), axis()).y).toEqual([0, 5]);
  });

  it("shows something when there is nothing, or one point", () => {
    expect(extentOf([], axis(), axis())).toEqual({ x: [0, 1], y: [0, 1] });
    expect(extentOf([line([5], [0])], axis(), axis())).toEqual({ x: [4.5, 5.5], y: [0, 1] });
  });

  it("makes room for points beyond saturation", () => {
    const beyond = line([0, 1, 9], [5, 6, null], { verdict: ["steady", "steady", "saturated"] });
    expect(extentOf([beyond], axis(), axis()).x[1]).toBeGreaterThan(9);
  });

  it("zooms around a point", () => {
    expect(scaled([0, 10], 5, 0.5, false)).toEqual([2.5, 7.5]);
    expect(scaled([0, 10], 0, 0.5, false)).toEqual([0, 5]);
    const [low, high] = scaled([1, 256], 16, 0.5, true);
    expect([low, high]).toEqual([4, 64]);
  });
});

describe("nearest", () => {
  const lines = [line([0, 10, 20], [0, 0, 0]), line([0, 10], [5, null]), line([0, 10, 20], [50, 50, 50])];
  const place = (l: number, p: number) => {
    const y = lines[l]?.y[p];
    return l === 2 || y === null || y === undefined ? null : { x: lines[l]?.x[p] as number, y };
  };

  it("finds the nearest drawn point within reach", () => {
    expect(nearest(lines, place, { x: 9, y: 1 }, 40)).toEqual({ line: 0, point: 1 });
    expect(nearest(lines, place, { x: 1, y: 4 }, 40)).toEqual({ line: 1, point: 0 });
    expect(nearest(lines, place, { x: 500, y: 500 }, 40)).toBeNull();
  });

  it("walks along a line and stops at its ends", () => {
    expect(along(lines, place, { line: 0, point: 0 }, 1)).toEqual({ line: 0, point: 1 });
    expect(along(lines, place, { line: 0, point: 2 }, 1)).toEqual({ line: 0, point: 2 });
    expect(along(lines, place, { line: 1, point: 0 }, 1)).toEqual({ line: 1, point: 0 });
  });

  it("changes to the next visible line at the same place", () => {
    expect(across(lines, place, { line: 0, point: 2 }, 1)).toEqual({ line: 1, point: 0 });
    expect(across(lines, place, { line: 1, point: 0 }, 1)).toEqual({ line: 0, point: 0 });
    expect(across(lines, place, { line: 1, point: 0 }, -1)).toEqual({ line: 0, point: 0 });
  });

  it("starts at the first drawn point", () => {
    expect(first(lines, place)).toEqual({ line: 0, point: 0 });
    expect(first(lines, () => null)).toBeNull();
  });
});

describe("format", () => {
  it("writes numbers shortly", () => {
    expect(formatNumber(0.30000000000000004)).toBe("0.3");
    expect(formatNumber(-12.5)).toBe("−12.5");
    expect(formatNumber(0)).toBe("0");
    expect(formatNumber(2_500_000)).toBe("2.5e6");
    expect(formatNumber(0.00001)).toBe("1e-5");
  });

  it("gives a half width two digits that matter, and the mean as many", () => {
    expect(formatEstimate(117.4321, 1.912)).toBe("117.4 ± 1.9");
    expect(formatEstimate(0.12345, 0.00123)).toBe("0.1235 ± 0.0012");
    expect(formatEstimate(1234.5, 56.7)).toBe("1235 ± 57");
    expect(formatEstimate(3.5, null)).toBe("3.5");
    expect(formatEstimate(3.5, 0)).toBe("3.5");
    expect(formatEstimate(1_966_080, null)).toBe("1,966,080");
  });

  it("splits labels at subscripts", () => {
    expect(labelParts("μ_{SYN} (cycles)")).toEqual([
      { text: "μ", subscript: false },
      { text: "SYN", subscript: true },
      { text: " (cycles)", subscript: false },
    ]);
    expect(labelParts("_{")).toEqual([{ text: "_{", subscript: false }]);
    expect(plainLabel("μ_{BG(Tot)}")).toBe("μ BG(Tot)");
  });

  it("says everything about a point", () => {
    const data = chart([line([0.2], [117.4], { error: [1.9], count: [5100], verdict: ["saturated"] })]);
    expect(describePoint(data, { line: 0, point: 0 })).toEqual({
      line: "bypass",
      where: "γ = 0.2",
      value: "117.4 ± 1.9 cycles",
      basis: "5,100 samples, saturated",
    });
    const beyond = chart([line([0.2], [null], { verdict: ["saturated"] })]);
    expect(describePoint(beyond, { line: 0, point: 0 }).value).toBe("no steady state");
    const doubtful = chart([line([1], [2], { verdict: ["steady"], uncertain: [true] })]);
    expect(describePoint(doubtful, { line: 0, point: 0 }).basis).toBe("steady (uncertain)");
    const model = chart([line([0.2], [117], { analytical: true })]);
    expect(describePoint(model, { line: 0, point: 0 }).basis).toBe("analytical");
    expect(describePoint(model, { line: 7, point: 0 }).value).toBe("");
  });

  it("names the place of a point on an axis without numbers", () => {
    const data = chart([line([0.9, 2.1], [1, 2])]);
    data.x.names = ["linear", "random"];
    expect(describePoint(data, { line: 0, point: 0 }).where).toBe("γ = linear");
    expect(describePoint(data, { line: 0, point: 1 }).where).toBe("γ = random");
    expect(extentOf(data.lines, data.x, data.y).x).toEqual([0.5, 2.5]);
  });
});

describe("data", () => {
  it("refuses another format", () => {
    expect(() => parseReport('{"format": 2}')).toThrow("format");
    expect(() => parseReport("null")).toThrow("format");
    expect(parseReport('{"format": 1, "charts": []}').charts).toEqual([]);
  });

  it("tells means from what is none", () => {
    expect(["steady", "saturated", "deadlocked", "finished", undefined].map(isUnsettled)).toEqual([
      false,
      true,
      true,
      false,
      false,
    ]);
  });
});

describe("marks of points without a value", () => {
  const beyond = (x: number[]) =>
    line(
      x,
      x.map(() => null),
      { verdict: x.map(() => "saturated") },
    );
  const at = (x: number) => x;

  it("have a row for each curve, unless they are far from each other", () => {
    const lines = [beyond([100, 120]), line([1], [5]), beyond([105]), beyond([300])];
    expect(rowsBeyond(lines, at)).toEqual({ of: [0, 0, 1, 0], count: 2 });
  });

  it("do not cover each other within a row", () => {
    expect(marked(beyond([100, 104, 108, 112, 130]), at)).toEqual([true, false, false, true, true]);
  });

  it("never lie closer than they are high, and leave the values three quarters of their height", () => {
    for (const rows of [1, 4, 12, 30]) {
      const { more, share, step } = bandOf(rows, 180);
      expect(step * (180 + more)).toBeGreaterThanOrEqual(13);
      expect((1 - share) * (180 + more)).toBeGreaterThanOrEqual(134);
    }
    expect(bandOf(0, 180)).toEqual({ more: 0, share: 0, step: 0 });
  });
});

describe("names for little room", () => {
  it("keep what tells them apart", () => {
    expect(shortNames(["queues = recn_enhanced", "queues = voqsw"], 14)).toEqual(["recn_enhanced", "voqsw"]);
    expect(shortNames(["recn_enhanced", "recn_basic"], 9)).toEqual(["enhanced", "basic"]);
    expect(shortNames(["a name, load = 0.1", "a name, load = 0.2"], 10)).toEqual(["load = 0.1", "load = 0.2"]);
    expect(shortNames(["low_load_x", "high_load_x"], 6)).toEqual(["low", "high"]);
    expect(shortNames(["recn_enhanced", "recn_basic", "voqsw"], 10)).toEqual(["…enhanced", "recn_basic", "voqsw"]);
  });

  it("are whole where there is room, and cut where there is none", () => {
    expect(shortNames(["queues = a", "queues = b"], 10)).toEqual(["queues = a", "queues = b"]);
    expect(shortNames(["extraordinarily"], 8)).toEqual(["ex…arily"]);
    expect(shortNames([], 8)).toEqual([]);
  });
});

describe("download", () => {
  it("decodes percent-encoded addresses alone", () => {
    expect(decodeDataAddress("data:text/csv;charset=utf-8,a%2C%CE%B3%0A")).toEqual({
      type: "text/csv;charset=utf-8",
      text: "a,γ\n",
    });
    expect(decodeDataAddress("data:text/csv;base64,AAAA")).toBeNull();
    expect(decodeDataAddress("https://example.org/")).toBeNull();
  });
});
