// Do axes of pages begin and end where static drawings have them? tests/report/axis_test.cpp reads the same cases.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { extentOf, logTicks, niceStep } from "../src/extent";
import { axis, line } from "./helpers";

interface Values {
  why: string;
  x: number[];
  y: number[];
  error: (number | null)[];
  range: [number, number];
}

interface Cases {
  steps: { span: number; parts: number; step: number }[];
  logarithmic_marks: { low: number; high: number; most: number; binary: boolean; marks: number[] }[];
  linear_values: Values[];
  horizontal: { why: string; log: boolean; x: number[]; range: [number, number] }[];
}

const cases = JSON.parse(readFileSync(join(__dirname, "../../tests/report/axis_cases.json"), "utf8")) as Cases;

function expectClose(seen: readonly number[], expected: readonly number[]): void {
  expect(seen).toHaveLength(expected.length);
  expected.forEach((value, i) => {
    expect(seen[i]).toBeCloseTo(value, 9);
  });
}

describe("an axis", () => {
  it.each(cases.steps)("has round steps: $span in $parts", ({ span, parts, step }) => {
    expectClose([niceStep(span, parts) / step], [1]);
  });

  it.each(cases.logarithmic_marks)("has round marks from $low to $high", ({ low, high, most, binary, marks }) => {
    expectClose(logTicks(low, high, most, binary), marks);
  });

  it.each(cases.linear_values)("of values: $why", ({ x, y, error, range }) => {
    expectClose(extentOf([line(x, y, { error })], axis(), axis()).y, range);
  });

  it.each(cases.horizontal)("of places: $why", ({ log, x, range }) => {
    const ones = x.map(() => 1);
    expectClose(extentOf([line(x, ones)], axis(log), axis()).x, range);
  });
});
