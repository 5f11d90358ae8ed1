// The legend: one button per curve, which shows and hides it.
import type { LineData } from "./data";
import { kRings } from "./data";
import { element, label, svgElement } from "./dom";
import { plainLabel } from "./format";
import { kPaletteSize } from "./palette";
import { shortNames } from "./short_names";

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

function ringNote({ name, meaning }: { name: string; meaning: string }): HTMLElement {
  const ring = svgElement("circle", { class: name, r: "6" });
  const drawing = svgElement(
    "svg",
    { class: "banyan-chart swatch", viewBox: "-14 -7 28 14", width: "28", height: "14", "aria-hidden": "true" },
    ring,
  );
  return element("span", { class: "note" }, drawing, meaning);
}

/** Characters of a name; the whole of a longer one is in its title. */
const kLongest = 56;

export class Legend {
  readonly root = element("div", { class: "legend", role: "group", "aria-label": "Curves, shown or hidden" });
  private readonly visible: boolean[];
  private readonly buttons: HTMLButtonElement[];

  constructor(
    lines: readonly LineData[],
    markers: readonly string[],
    hidden: ReadonlySet<string>,
    note: string,
    clicked: (line: number, show: boolean) => void,
  ) {
    this.visible = lines.map(() => true);
    const names = shortNames(
      lines.map((line) => line.label),
      kLongest,
    );
    this.buttons = lines.map((line, i) => {
      const button = element("button", { type: "button", "aria-pressed": "true" }, swatch(line, markers));
      const name = names[i] ?? line.label;
      if (name !== line.label) button.title = plainLabel(line.label);
      button.append(element("span", {}, ...label(name)));
      button.addEventListener("click", () => clicked(i, !this.shows(i)));
      return button;
    });
    lines.forEach((line, i) => {
      this.set(i, !hidden.has(line.label));
    });
    const rings = kRings.filter((kind) => lines.some((line) => line.x.some((_, point) => kind.holds(line, point))));
    const notes = rings.map(ringNote);
    if (note !== "") notes.push(element("span", { class: "note" }, note));
    // Many curves scroll, what marks mean does not.
    this.root.append(element("div", { class: "legend-curves" }, ...this.buttons));
    if (notes.length > 0) this.root.append(element("div", {}, ...notes));
  }

  shows(line: number): boolean {
    return this.visible[line] ?? false;
  }

  set(line: number, show: boolean): void {
    this.visible[line] = show;
    this.buttons[line]?.setAttribute("aria-pressed", String(show));
  }
}
