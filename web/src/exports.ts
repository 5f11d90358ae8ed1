// Pictures to keep.
import { applyPalette, GIFEncoder, quantize } from "gifenc";
import type { Sample } from "./record";

const kWidth = 800;

export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** One frame per sample; `ratio`: width over height. `draw` gets the context and the picture's width in pixels. */
export async function animatedGif(
  samples: readonly Sample[],
  ratio: number,
  perSecond: number,
  draw: (g: CanvasRenderingContext2D, width: number, sample: Sample) => void,
): Promise<ArrayBuffer> {
  const canvas = document.createElement("canvas");
  canvas.width = kWidth;
  canvas.height = Math.round(kWidth / ratio);
  const g = canvas.getContext("2d", { willReadFrequently: true });
  if (g === null) throw new Error("no canvas");
  const gif = GIFEncoder();
  for (const sample of samples) {
    draw(g, kWidth, sample);
    const { data } = g.getImageData(0, 0, canvas.width, canvas.height);
    const palette = quantize(data, 64);
    gif.writeFrame(applyPalette(data, palette), canvas.width, canvas.height, { palette, delay: 1000 / perSecond });
    // The page stays alive.
    await new Promise((resolve) => setTimeout(resolve));
  }
  gif.finish();
  return gif.bytes().slice().buffer as ArrayBuffer;
}
