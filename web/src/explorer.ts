// The network of a run over time: its queues, channels and congestion trees, on a canvas with curves below in step.

import { select } from "d3-selection";
import { type ZoomTransform, zoom, zoomIdentity } from "d3-zoom";
import { replaceAddress } from "./address";
import "./explorer.css";
import { Curves, timeText, type Worth } from "./curves";
import type { ReportData } from "./data";
import { element } from "./dom";
import { animatedGif } from "./exports";
import { formatNumber } from "./format";
import { Inspector } from "./inspector";
import { drawChannels, type Layout, layOut } from "./layout";
import { type LinkState, readLink, writeLink } from "./link";
import { currentColours } from "./palette";
import { longestWait, pathList, waitText } from "./paths";
import { CanvasPen, SheetPen } from "./pen";
import { PixelPen, type View } from "./raster";
import { fromBase64, type RecordData, readRecord, type Sample } from "./record";
import { saveMenu } from "./save_menu";
import { Scene, type SceneColours, type SceneState, sceneColours, type Target, treeColour } from "./scene";
import { CanvasSheet, MatplotlibSheet, PdfSheet, type Sheet, SvgSheet } from "./sheet";

const kMostPixels = 2;
const kFrames = 120;
/** Width of a picture that is saved, in points. */
const kSheetWidth = 800;
const kSpeeds = [1, 2, 5, 10, 30, 60];
/** While it plays, words change so often that they can be read, in ms. */
const kWords = 100;

export function parseTarget(text: string): Target | null {
  const found = /^\s*(?:(terminal|switch|channel|[tsc])\s*)?(\d+)\s*$/i.exec(text);
  if (found === null) return null;
  const letter = (found[1] ?? "t")[0]?.toLowerCase();
  const kind = letter === "s" ? "switch" : letter === "c" ? "channel" : "terminal";
  return { kind, number: Number(found[2]) };
}

/** The picture in memory. */
interface Surface {
  image: ImageData;
  pen: PixelPen;
  /** The network without what is in it, and what it was drawn for. */
  backdrop: Int32Array;
  backdropPen: PixelPen;
  key: string;
}

export class Explorer {
  private record: RecordData | null = null;
  private scene: Scene | null = null;
  private at = 0;
  private playing: number | null = null;
  private tree: number | null = null;
  private target: Target | null = null;
  private transform: ZoomTransform = zoomIdentity;
  private colours: SceneColours = sceneColours(currentColours());
  private pending = false;
  private wordsAt = 0;
  /** Of the canvas on the page. */
  private width = 0;
  private height = 0;
  private surface: Surface | null = null;

  private readonly canvas = element("canvas", {
    class: "network",
    tabindex: "0",
    role: "application",
    "aria-label":
      "The network. Left and right: time. Up and down: trees. Space: play. Plus, minus and 0: zoom. Escape: nothing chosen.",
  });
  private readonly status = element("output", { class: "explorer-status", "aria-live": "polite" });
  private readonly hover = element("div", { class: "explorer-hover", hidden: "" });
  private readonly slider = element("input", { type: "range", min: "0", max: "0", value: "0", "aria-label": "Time" });
  private readonly play = element("button", { type: "button", class: "play" }, "Play");
  private readonly speed = element("select", { "aria-label": "Samples per second" });
  private readonly run = element("select", { "aria-label": "Run" });
  private readonly colourBy = element("select", { "aria-label": "Colour" });
  private readonly search = element("input", {
    type: "search",
    "aria-label": "Search a terminal, switch or channel",
    placeholder: "terminal 5, switch 3, channel 7",
  });
  private readonly treeList = element("div", { class: "tree-list", role: "group", "aria-label": "Congestion trees" });
  private readonly paths = element("div", { class: "paths" });
  private readonly legend = element("div", { class: "heat-legend" });
  private readonly tools = element("div", { class: "explorer-tools" });
  private readonly curves: Curves;
  private readonly inspector: Inspector;
  private readonly zoomer = zoom<HTMLCanvasElement, unknown>().scaleExtent([0.8, 60]);

  constructor(
    private readonly place: HTMLElement,
    private readonly data: ReportData,
  ) {
    this.curves = new Curves(data.markers, (index) => this.go(index));
    this.inspector = new Inspector((target) => this.choose(target));
    this.build();
    this.listen();
    const link = readLink(location.hash);
    void this.open(link?.run ?? 0, link);
  }

  /** After a change of colours. */
  repaint(): void {
    this.colours = sceneColours(currentColours());
    this.explain();
    this.curves.repaint();
    this.showTrees();
    this.redraw();
  }

  private build(): void {
    const explorers = this.data.explorers ?? [];
    explorers.forEach((one, i) => {
      this.run.append(new Option(one.title === "" ? `Run ${i + 1}` : one.title, String(i)));
    });
    for (const speed of kSpeeds) this.speed.append(new Option(`${speed} per second`, String(speed), speed === 10));
    this.speed.value = "10";
    this.colourBy.append(new Option("Queues", "occupancy"), new Option("Channels in use", "use"));
    const step = (text: string, name: string, by: number) => {
      const button = element("button", { type: "button", "aria-label": name, title: name }, text);
      button.addEventListener("click", () => this.go(this.at + by));
      return button;
    };
    const action = (text: string, act: () => void) => {
      const button = element("button", { type: "button" }, text);
      button.addEventListener("click", act);
      return button;
    };
    if (explorers.length > 1) this.tools.append(this.run);
    this.tools.append(
      this.colourBy,
      this.search,
      action("Whole network", () => this.fit()),
      saveMenu(
        {
          SVG: () => this.drawn((...size) => new SvgSheet(...size, this.fileName())).file(),
          PDF: () => this.drawn((...size) => new PdfSheet(...size)).file(),
          PNG: () => this.drawn((...size) => new CanvasSheet(...size)).file(),
          matplotlib: () => this.drawn((...size) => new MatplotlibSheet(...size)).file(this.fileName()),
          CSV: () => this.inspector.csv(this.samples()[this.at] as Sample),
          GIF: () => this.gif(),
        },
        () => this.fileName(),
      ),
    );
    const time = element(
      "div",
      { class: "explorer-time" },
      step("Start", "To the start", Number.NEGATIVE_INFINITY),
      step("◀", "One sample back", -1),
      this.play,
      step("▶", "One sample on", 1),
      this.slider,
      this.speed,
    );
    const stage = element("div", { class: "stage" }, this.canvas, this.hover);
    this.place.append(
      this.tools,
      element(
        "div",
        { class: "explorer-main" },
        element("div", { class: "explorer-left" }, stage, this.legend, time, this.status, this.curves.element),
        element("div", { class: "explorer-side" }, this.treeList, this.paths, this.inspector.element),
      ),
    );
    this.place.classList.add("is-live");
    this.explain();
  }

  /** What colours and signs mean. */
  private explain(): void {
    const steps = this.colours.heat.map((colour) => {
      const step = element("span", { class: "heat-step" });
      step.style.background = colour;
      return step;
    });
    const still = this.isStill();
    const text = still ? "a channel, from hardly to always in use" : "a queue, from nearly empty to full";
    // A sign stays on the line of its words.
    const entry = (sign: HTMLElement, words: string) => element("span", { class: "entry" }, sign, words);
    const sign = (name: string) => element("span", { class: `sign ${name}` });
    this.legend.replaceChildren(
      entry(element("span", { class: "heat-steps", role: "img", "aria-label": text }, ...steps), text),
    );
    if (still) return;
    this.legend.append(
      entry(sign("victim"), "holds victims"),
      entry(sign("cut"), "source cut off by a tree"),
      entry(sign("aside"), "queue set aside, with a dot at the root that it is for"),
    );
  }

  private listen(): void {
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.play.addEventListener("click", () => this.toggle());
    this.speed.addEventListener("change", () => {
      if (this.playing !== null) {
        this.toggle();
        this.toggle();
      }
    });
    this.run.addEventListener("change", () => void this.open(Number(this.run.value), null));
    this.colourBy.addEventListener("change", () => this.changed());
    this.search.addEventListener("change", () => this.find());
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("mousemove", (event) => this.hoverAt(event));
    this.canvas.addEventListener("mouseleave", () => {
      this.hover.hidden = true;
    });
    this.canvas.addEventListener("click", (event) => this.choose(this.hit(event)));
    this.zoomer.on("zoom", ({ transform }: { transform: ZoomTransform }) => {
      this.transform = transform;
      this.redraw();
    });
    select(this.canvas).call(this.zoomer).on("dblclick.zoom", null);
    new ResizeObserver(() => {
      this.width = this.canvas.clientWidth;
      this.height = this.canvas.clientHeight;
      this.redraw();
    }).observe(this.canvas);
    addEventListener("hashchange", () => {
      const link = readLink(location.hash);
      if (link !== null) void this.open(link.run, link);
    });
  }

  private async open(run: number, link: LinkState | null): Promise<void> {
    const one = (this.data.explorers ?? [])[run];
    const network = (this.data.networks ?? [])[one?.network ?? 0];
    if (one === undefined || network === undefined) return;
    if (this.run.value !== String(run) || this.record === null) {
      this.run.value = String(run);
      this.record = await readRecord(fromBase64(one.record));
      const layout = layOut(network);
      this.scene = new Scene(network, layout, drawChannels(network, layout), this.record);
      this.curves.show(this.record, one);
      this.inspector.show(network, this.record, one);
      this.shape(layout);
      this.explain();
    }
    this.slider.max = String(Math.max(0, this.samples().length - 1));
    this.place.classList.toggle("is-still", this.isStill());
    if (this.isStill()) this.colourBy.value = "use";
    const paths = one.paths ?? [];
    this.paths.replaceChildren(...pathList(paths, (channel) => this.choose({ kind: "channel", number: channel })));
    const longest = longestWait(paths);
    this.target = link?.target ?? (longest === null ? null : { kind: "channel", number: longest.channel });
    this.tree = link?.tree ?? null;
    if (link?.colourBy !== undefined) this.colourBy.value = link.colourBy;
    this.at = -1;
    const index = link === null ? this.busiest() : this.indexAt(link.time);
    this.go(index);
    if (link !== null) this.place.scrollIntoView();
  }

  /** The canvas is as high as the network needs it to be. */
  private shape(layout: Layout): void {
    const ratio = Math.max(0.45, Math.min(1.1, layout.height / layout.width));
    this.canvas.style.aspectRatio = `1 / ${ratio}`;
  }

  /** One sample of channels in use: how the links were used over the whole run, without trees. */
  private isStill(): boolean {
    return this.record?.places.length === 0 && this.samples().length === 1;
  }

  private worth(): Worth {
    return this.data.explorers?.[Number(this.run.value || 0)] ?? {};
  }
  private samples(): Sample[] {
    return this.record?.samples ?? [];
  }
  private busiest(): number {
    let best = 0;
    let most = -1;
    this.samples().forEach((sample, i) => {
      const members = sample.trees.reduce((sum, tree) => sum + tree.members.length, 0);
      if (members > most) {
        most = members;
        best = i;
      }
    });
    return best;
  }
  private indexAt(time: number): number {
    let found = 0;
    this.samples().forEach((sample, i) => {
      if (sample.at <= time) found = i;
    });
    return found;
  }

  private go(index: number): void {
    const last = this.samples().length - 1;
    const next = Math.max(0, Math.min(last, index));
    if (next === this.at) return;
    this.at = next;
    this.slider.value = String(next);
    this.changed();
  }

  private toggle(): void {
    if (this.playing !== null) {
      cancelAnimationFrame(this.playing);
      this.playing = null;
      this.play.textContent = "Play";
      this.changed();
      return;
    }
    if (this.at >= this.samples().length - 1) this.go(0);
    this.play.textContent = "Pause";
    let last = performance.now();
    let due = 0;
    const frame = (now: number) => {
      due += ((now - last) * Number(this.speed.value)) / 1000;
      last = now;
      if (due >= 1) {
        this.go(this.at + Math.floor(due));
        due %= 1;
      }
      if (this.at >= this.samples().length - 1) {
        this.toggle();
        return;
      }
      this.playing = requestAnimationFrame(frame);
    };
    this.playing = requestAnimationFrame(frame);
  }

  private chooseTree(id: number | null): void {
    this.tree = id;
    this.changed();
  }
  private choose(target: Target | null): void {
    this.target = target;
    this.changed();
  }

  private find(): void {
    const target = parseTarget(this.search.value);
    const most = { terminal: this.scene?.network.terminals, switch: this.scene?.network.levels.length };
    const limit = target?.kind === "channel" ? this.scene?.segments.length : most[target?.kind ?? "terminal"];
    if (target === null || target.number >= (limit ?? 0)) {
      this.search.setAttribute("aria-invalid", "true");
      return;
    }
    this.search.removeAttribute("aria-invalid");
    this.choose(target);
  }

  private key(event: KeyboardEvent): void {
    const trees = this.samples()[this.at]?.trees ?? [];
    const place = trees.findIndex((tree) => tree.id === this.tree);
    const acts: Record<string, () => void> = {
      ArrowLeft: () => this.go(this.at - 1),
      ArrowRight: () => this.go(this.at + 1),
      PageUp: () => this.go(this.at - 10),
      PageDown: () => this.go(this.at + 10),
      Home: () => this.go(0),
      End: () => this.go(this.samples().length - 1),
      ArrowDown: () => this.chooseTree(trees[place + 1]?.id ?? null),
      ArrowUp: () => this.chooseTree(trees[place < 0 ? trees.length - 1 : place - 1]?.id ?? null),
      " ": () => this.toggle(),
      "+": () => select(this.canvas).call(this.zoomer.scaleBy, 1.4),
      "-": () => select(this.canvas).call(this.zoomer.scaleBy, 1 / 1.4),
      "0": () => this.fit(),
      Escape: () => {
        this.tree = null;
        this.choose(null);
      },
    };
    const act = acts[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  }

  private fit(): void {
    select(this.canvas).call(this.zoomer.transform, zoomIdentity);
  }

  private changed(): void {
    const sample = this.samples()[this.at];
    if (sample === undefined || this.scene === null) return;
    this.curves.mark(this.at);
    const now = performance.now();
    if (this.playing === null || now >= this.wordsAt + kWords) {
      this.wordsAt = now;
      this.say(sample);
    }
    this.redraw();
  }

  private say(sample: Sample): void {
    this.showTrees();
    this.inspector.update(sample, this.target, this.tree);
    this.status.textContent = this.sentence(sample);
    // Browsers refuse to change the address too often.
    if (this.playing === null) replaceAddress(writeLink(this.link(sample)));
  }

  private link(sample: Sample): LinkState {
    const colourBy = this.colourBy.value === "use" ? "use" : "occupancy";
    return { run: Number(this.run.value || 0), time: sample.at, tree: this.tree, target: this.target, colourBy };
  }

  private sentence(sample: Sample): string {
    const paths = this.data.explorers?.[Number(this.run.value || 0)]?.paths ?? [];
    const longest = longestWait(paths);
    if (this.isStill() && longest !== null) return `The longest wait of the critical path: ${waitText(longest)}`;
    if (this.isStill() && paths.length > 0) return "No message of the critical path waited in the network";
    if (this.isStill()) return "How much of the measured time each channel was in use";
    const victims = sample.trees.reduce((sum, tree) => sum + tree.victims, 0);
    const plural = (n: number, one: string) => `${formatNumber(n)} ${one}${n === 1 ? "" : "s"}`;
    const set = sample.queues.length > 0 ? `, ${plural(sample.queues.length, "queue")} set aside` : "";
    const when = timeText(sample.at, this.worth());
    return `${when.charAt(0).toUpperCase()}${when.slice(1)}: ${plural(sample.trees.length, "tree")}, ${plural(victims, "victim")}${set}`;
  }

  private showTrees(): void {
    const sample = this.samples()[this.at];
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.tree : undefined;
    const button = (id: number | null, text: string) => {
      const one = element("button", {
        type: "button",
        "aria-pressed": String(id === this.tree),
        "data-tree": String(id),
      });
      if (id !== null) {
        const swatch = element("span", { class: "tree-swatch" });
        swatch.style.background = treeColour(this.colours, id);
        one.append(swatch);
      }
      one.append(text);
      one.addEventListener("click", () => this.chooseTree(id === this.tree ? null : id));
      return one;
    };
    const trees = [...(sample?.trees ?? [])].sort((a, b) => b.members.length - a.members.length);
    this.treeList.replaceChildren(
      button(null, "All trees"),
      ...trees.slice(0, 40).map((tree) => button(tree.id, `T${tree.id} (${tree.members.length})`)),
    );
    if (focused !== undefined) {
      this.treeList.querySelector<HTMLElement>(`[data-tree="${CSS.escape(focused)}"]`)?.focus();
    }
  }

  private state(sample: Sample): SceneState {
    const colourBy = this.colourBy.value === "use" ? "use" : "occupancy";
    return { sample, tree: this.tree, colourBy, target: this.target, queues: true };
  }

  private redraw(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paint();
    });
  }

  /** From the layout's units to pixels of the page. */
  private scale(layout: Layout, width: number, height: number): { factor: number; left: number; top: number } {
    const factor = Math.min(width / layout.width, height / layout.height);
    return { factor, left: (width - factor * layout.width) / 2, top: (height - factor * layout.height) / 2 };
  }

  private paint(): void {
    const sample = this.samples()[this.at];
    const g = this.canvas.getContext("2d");
    if (sample === undefined || g === null || this.scene === null || this.width === 0 || this.height === 0) return;
    const ratio = Math.min(devicePixelRatio, kMostPixels);
    const { factor, left, top } = this.scale(this.scene.layout, this.width, this.height);
    const { k, x, y } = this.transform;
    const view = { size: ratio * k * factor, left: ratio * (x + k * left), top: ratio * (y + k * top) };
    const surface = this.fitSurface(Math.round(this.width * ratio), Math.round(this.height * ratio));
    surface.pen.begin(view, this.still(this.scene, surface, view));
    this.scene.drawSample(surface.pen, this.colours, this.state(sample), 1 / (factor * k));
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.putImageData(surface.image, 0, 0);
    g.setTransform(view.size, 0, 0, view.size, view.left, view.top);
    const words = new CanvasPen(g);
    for (const one of surface.pen.labels) words.text(one.text, one.x, one.y, one.size, one.colour, one.ground);
    this.canvas.dataset.time = String(sample.at);
  }

  private fitSurface(width: number, height: number): Surface {
    if (this.surface?.image.width === width && this.surface.image.height === height) return this.surface;
    this.canvas.width = width;
    this.canvas.height = height;
    const image = new ImageData(width, height);
    const backdrop = new Int32Array(width * height);
    this.surface = {
      image,
      pen: new PixelPen(new Int32Array(image.data.buffer), width, height),
      backdrop,
      backdropPen: new PixelPen(backdrop, width, height),
      key: "",
    };
    return this.surface;
  }

  /** The network without what is in it, drawn again only when it looks different. */
  private still(scene: Scene, surface: Surface, view: View): Int32Array {
    const key = [view.size, view.left, view.top, this.colours.ground, this.run.value].join(" ");
    if (key === surface.key) return surface.backdrop;
    surface.key = key;
    surface.backdropPen.begin(view, this.colours.ground);
    scene.drawNetwork(surface.backdropPen, this.colours);
    return surface.backdrop;
  }

  private hit(event: MouseEvent): Target | null {
    if (this.scene === null) return null;
    const { factor, left, top } = this.scale(this.scene.layout, this.width, this.height);
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = this.transform.invert([event.clientX - box.left, event.clientY - box.top]);
    return this.scene.hit((x - left) / factor, (y - top) / factor, 8 / (factor * this.transform.k));
  }

  private hoverAt(event: MouseEvent): void {
    const sample = this.samples()[this.at];
    const target = this.hit(event);
    if (target === null || sample === undefined) {
      this.hover.hidden = true;
      return;
    }
    this.hover.replaceChildren(...this.inspector.lines(sample, target).map((line) => element("div", {}, line)));
    this.hover.hidden = false;
    const box = this.canvas.getBoundingClientRect();
    const left = Math.min(event.clientX - box.left + 14, box.width - this.hover.offsetWidth - 4);
    this.hover.style.transform = `translate(${Math.max(0, left)}px, ${event.clientY - box.top + 14}px)`;
  }

  private fileName(): string {
    const run = this.run.selectedOptions[0]?.textContent ?? "network";
    return `${run.replace(/[^\w.-]+/g, "_")}-${this.samples()[this.at]?.at ?? 0}`;
  }

  /** What is seen, on a sheet of its own. */
  private drawn<S extends Sheet>(sheetOf: (width: number, height: number, ground: string) => S): S {
    const { scene } = this;
    const sample = this.samples()[this.at];
    if (scene === null || sample === undefined) throw new Error("there is no network yet");
    const { width, height } = scene.layout;
    const scale = kSheetWidth / width;
    const sheet = sheetOf(kSheetWidth, height * scale, this.colours.ground);
    scene.draw(new SheetPen(sheet, scale), this.colours, this.state(sample), 1 / scale);
    return sheet;
  }

  /** From the time that is shown on, or from the start when it is the last. */
  private gif(): Promise<ArrayBuffer> {
    const { scene, colours } = this;
    if (scene === null) throw new Error("there is no network yet");
    const first = this.at >= this.samples().length - 1 ? 0 : this.at;
    const samples = this.samples().slice(first, first + kFrames);
    const { width, height } = scene.layout;
    return animatedGif(samples, width / height, Number(this.speed.value), (g, pixels, sample) => {
      g.setTransform(1, 0, 0, 1, 0, 0);
      g.fillStyle = colours.ground;
      g.fillRect(0, 0, g.canvas.width, g.canvas.height);
      g.setTransform(pixels / width, 0, 0, pixels / width, 0, 0);
      scene.draw(new CanvasPen(g), colours, this.state(sample), width / pixels);
      new CanvasPen(g).text(
        timeText(sample.at, this.worth()),
        width / 2,
        height - (12 * width) / pixels,
        (14 * width) / pixels,
        colours.ink,
        colours.ground,
      );
    });
  }
}
