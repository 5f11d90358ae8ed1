// The legend: one button per curve, which shows and hides it.
import type { LineData } from "./data";
import { isUnsettled } from "./data";
import { element, label, svgElement } from "./dom";
import { kPaletteSize } from "./palette";

function swatch(line: LineData, markers: readonly string[]): SVGSVGElement {
  const colour = line.colour % kPaletteSize;
  const family = line.analytical ? 1 : line.family;
  const style = `line s${colour}${family === 0 ? "" : ` dashed d${family}`}`;
  const group = svgElement("g", { class: style });
  if (line.joined !== false) group.append(svgElement("path", { class: "curve", d: "M-13 0h26" }));
  const shape = markers[colour];
  if (line.markers && shape !== undefined) group.append(svgElement("path", { class: "marker", d: shape }));
  return svgElement(
    "svg",
    { class: "banyan-chart swatch", viewBox: "-14 -7 28 14", width: "28", height: "14", "aria-hidden": "true" },
    group,
  );
}

function ringNote(): HTMLElement {
  const ring = svgElement("circle", { class: "ring", r: "6" });
  const drawing = svgElement(
    "svg",
    { class: "banyan-chart swatch", viewBox: "-14 -7 28 14", width: "28", height: "14", "aria-hidden": "true" },
    ring,
  );
  return element("span", { class: "note" }, drawing, "saturated or deadlocked; with an arrow: no value");
}

export class Legend {
  readonly root = element("div", { class: "legend", role: "group", "aria-label": "Curves, shown or hidden" });
  private readonly visible: boolean[];

  constructor(lines: readonly LineData[], markers: readonly string[], changed: (line: number, show: boolean) => void) {
    this.visible = lines.map(() => true);
    lines.forEach((line, i) => {
      const button = element("button", { type: "button", "aria-pressed": "true" }, swatch(line, markers));
      button.append(element("span", {}, ...label(line.label)));
      button.addEventListener("click", () => {
        const show = !this.visible[i];
        this.visible[i] = show;
        button.setAttribute("aria-pressed", String(show));
        changed(i, show);
      });
      this.root.append(button);
    });
    if (lines.some((line) => line.verdict?.some(isUnsettled))) this.root.append(ringNote());
  }

  shows(line: number): boolean {
    return this.visible[line] ?? false;
  }
}
