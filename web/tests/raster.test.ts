// Do lines, boxes and dots cover the pixels that they should?
import { describe, expect, it } from "vitest";
import { PixelPen, pixelOf } from "../src/raster";

const kSide = 40;
const kInk = "#204080";
const kGround = "#ffffff";
const kUnit = { size: 1, left: 0, top: 0 };

function drawing(draw: (pen: PixelPen) => void, view = kUnit) {
  const pixels = new Int32Array(kSide * kSide);
  const pen = new PixelPen(pixels, kSide, kSide);
  pen.begin(view, kGround);
  draw(pen);
  const isInk = (x: number, y: number) => pixels[y * kSide + x] === pixelOf(kInk);
  const isGround = (x: number, y: number) => pixels[y * kSide + x] === pixelOf(kGround);
  /** How much ink there is, in pixels. */
  const ink = pixels.reduce((sum, pixel) => sum + (0xff - (pixel & 0xff)) / (0xff - 0x20), 0);
  return { pixels, pen, isInk, isGround, ink };
}

describe("pixels of a drawing", () => {
  it("are those of an ImageData", () => {
    const bytes = new Uint8Array(Int32Array.of(pixelOf("#102030")).buffer);
    expect([...bytes]).toEqual([0x10, 0x20, 0x30, 0xff]);
  });

  it("are filled by a line that covers them, and by no other", () => {
    const { isInk, isGround, ink } = drawing((pen) => pen.lines([[5, 10, 25, 10]], kInk, 2));
    expect(isInk(5, 9) && isInk(24, 10)).toBe(true);
    expect(isGround(4, 9) && isGround(25, 9) && isGround(10, 8) && isGround(10, 11)).toBe(true);
    expect(ink).toBeCloseTo(40, 0);
  });

  it.each([
    [3, 4, 36, 31, 3],
    [36, 31, 3, 4, 3],
    [20, 2, 23, 38, 1],
    [2, 20, 38, 17, 0.4],
    [8, 8, 9, 9.5, 2],
  ])("hold as much ink as the line from %d, %d to %d, %d is large", (x0, y0, x1, y1, width) => {
    const { ink } = drawing((pen) => pen.lines([[x0, y0, x1, y1]], kInk, width));
    const area = Math.hypot(x1 - x0, y1 - y0) * width;
    expect(Math.abs(ink - area)).toBeLessThan(0.06 * area + 0.5);
  });

  it("keep the ground between dashes", () => {
    const { isInk, isGround, ink } = drawing((pen) => pen.lines([[0, 10, 40, 10]], kInk, 2, [4, 6]));
    expect(isInk(2, 10) && isGround(7, 10) && isInk(12, 10)).toBe(true);
    expect(ink).toBeCloseTo(32, 0);
  });

  it("follow the view, and end at the picture's edge", () => {
    const { isInk, ink } = drawing((pen) => pen.lines([[-100, 2, 100, 2]], kInk, 1), { size: 4, left: 3, top: 1 });
    expect(isInk(0, 9) && isInk(kSide - 1, 9)).toBe(true);
    expect(ink).toBeCloseTo(4 * kSide, 0);
    const outside = drawing((pen) => {
      pen.lines([[-9, -9, -2, -30]], kInk, 3);
      pen.boxes([[60, 60, 5]], kInk, kInk);
      pen.dots([[-20, 10, 3]], kInk, kInk);
    });
    expect(outside.ink).toBe(0);
  });

  it("are those of boxes and dots, what comes later over what came before", () => {
    const { isInk, isGround } = drawing((pen) => {
      pen.boxes([[10, 10, 4]], kInk, kInk);
      pen.dots([[28, 28, 5]], kInk, kInk);
      pen.boxes([[10, 10, 2]], kGround, kGround);
    });
    expect(isInk(7, 7) && isInk(12, 13) && isGround(10, 10) && isGround(4, 10)).toBe(true);
    expect(isInk(28, 24) && isInk(31, 28) && isGround(33, 33)).toBe(true);
  });

  it("leave text to who can write", () => {
    const { pen, ink } = drawing((p) => p.text("T1", 3, 4, 2, kInk, kGround));
    expect(pen.labels.map((label) => label.text)).toEqual(["T1"]);
    expect(ink).toBe(0);
  });
});
