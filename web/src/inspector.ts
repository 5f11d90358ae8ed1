// What is known about the chosen port, switch, terminal or tree at the time that is shown.
import { timeText, type Worth } from "./curves";
import { element } from "./dom";
import { formatNumber } from "./format";
import { channelEnds, isTerminal, type NetworkData, terminalOf } from "./layout";
import type { FlowCount, Place, RecordData, Sample, Tree } from "./record";
import { channelName, type Target } from "./scene";

const kMostRows = 60;

export class Inspector {
  readonly element = element("div", { class: "inspector" });
  private network: NetworkData | null = null;
  private record: RecordData | null = null;
  private worth: Worth = {};
  /** Places by channel, switch and terminal. */
  private readonly of = {
    channel: new Map<number, number[]>(),
    switch: new Map<number, number[]>(),
    terminal: new Map<number, number[]>(),
  };

  constructor(private readonly choose: (target: Target) => void) {}

  show(network: NetworkData, record: RecordData, worth: Worth): void {
    this.worth = worth;
    this.network = network;
    this.record = record;
    for (const map of Object.values(this.of)) map.clear();
    record.places.forEach((place, i) => {
      const map =
        place.kind === "memory" ? this.of.switch : place.kind === "source" ? this.of.terminal : this.of.channel;
      map.set(place.index, [...(map.get(place.index) ?? []), i]);
    });
  }

  /** Of one thing, for the pointer. */
  lines(sample: Sample, target: Target): string[] {
    const { network, record } = this;
    if (network === null || record === null) return [];
    const lines = [this.title(target)];
    for (const place of this.placesOf(target).slice(0, 8)) {
      const fill = sample.fill[place] ?? 0;
      const what = record.places[place];
      if (what === undefined || fill === 0) continue;
      lines.push(`${this.placeName(what)}: ${Math.round((fill * 100) / 255)} % of ${formatNumber(what.capacity)}`);
    }
    const trees = this.treesOf(sample, target);
    if (trees.length > 0) lines.push(`in ${trees.map((tree) => `T${tree.id}`).join(", ")}`);
    if (lines.length === 1) lines.push("empty");
    return lines;
  }

  /** How full every buffer is, and how much each channel is in use. */
  csv(sample: Sample): string {
    const { network, record } = this;
    if (network === null || record === null) return "";
    const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const percent = (value: number | undefined) => String(Math.round(((value ?? 0) * 1000) / 255) / 10);
    const buffers = record.places.map((place, i) => `${cell(this.placeName(place))},${percent(sample.fill[i])},\n`);
    const channels = Array.from({ length: network.channels.length / 4 }, (_, c) => {
      return `${cell(channelName(network, c))},,${percent(sample.use[c])}\n`;
    });
    return `place,full (%),in use (%)\n${buffers.join("")}${channels.join("")}`;
  }

  update(sample: Sample, target: Target | null, treeId: number | null): void {
    const parts: Node[] = [];
    const tree = sample.trees.find((one) => one.id === treeId);
    if (treeId !== null)
      parts.push(
        ...(tree === undefined ? [element("p", {}, `Tree ${treeId} is not there now.`)] : this.treeParts(tree)),
      );
    if (target !== null) parts.push(...this.targetParts(sample, target));
    if (parts.length === 0)
      parts.push(element("p", { class: "soft" }, "Choose a tree, or a port, switch or terminal in the picture."));
    parts.push(...this.eventParts(sample, treeId));
    this.element.replaceChildren(...parts);
  }

  private title(target: Target): string {
    if (this.network === null) return "";
    if (target.kind === "terminal") return `Terminal ${target.number}`;
    if (target.kind === "switch") return `Switch ${this.network.labels[target.number] ?? target.number}`;
    return channelName(this.network, target.number);
  }

  private placesOf(target: Target): number[] {
    const own = this.of[target.kind].get(target.number) ?? [];
    if (target.kind === "channel" || this.network === null) return own;
    // A switch has the buffers at its ports, a terminal those of its channels.
    const places = [...own];
    const node = target.kind === "switch" ? target.number : -1 - target.number;
    for (let c = 0; c < this.network.channels.length / 4; ++c) {
      const { from, to } = channelEnds(this.network, c);
      for (const place of this.of.channel.get(c) ?? []) {
        const kind = this.record?.places[place]?.kind;
        if ((kind === "input" ? to : from) === node) places.push(place);
      }
    }
    return places;
  }

  private treesOf(sample: Sample, target: Target): Tree[] {
    const places = new Set(this.placesOf(target));
    const isRoot = (tree: Tree) => target.kind === "channel" && tree.root === target.number;
    return sample.trees.filter((tree) => isRoot(tree) || tree.members.some((member) => places.has(member.place)));
  }

  private placeName(place: Place): string {
    const { network } = this;
    if (network === null) return "";
    if (place.kind === "source") return `source of terminal ${place.index}`;
    if (place.kind === "memory") return `memory of ${network.labels[place.index] ?? place.index}`;
    const { from, fromPort, to, toPort } = channelEnds(network, place.index);
    const name = (node: number) => (isTerminal(node) ? `terminal ${terminalOf(node)}` : (network.labels[node] ?? ""));
    const lane = place.lane === 0xffffff ? "" : place.lane === 0 ? "" : ` lane ${place.lane}`;
    if (place.kind === "input") return `${name(to)} input ${toPort}${lane}`;
    return `${name(from)} output ${network.ports[fromPort] ?? fromPort}${lane}`;
  }

  private row(name: string, value: string): Node[] {
    return [element("dt", {}, name), element("dd", {}, value)];
  }

  private flows(name: string, flows: readonly FlowCount[], all: number): Node[] {
    if (flows.length === 0) return [];
    const list = flows.map((flow) => {
      const button = element("button", { type: "button", class: "link" }, `${flow.source} → ${flow.destination}`);
      button.addEventListener("click", () => this.choose({ kind: "terminal", number: flow.source }));
      return element("li", {}, button, ` ${formatNumber(flow.packets)} packets`);
    });
    const more = all > flows.length ? [element("li", { class: "soft" }, `and ${all - flows.length} more`)] : [];
    return [element("h4", {}, name), element("ul", { class: "flows" }, ...list, ...more)];
  }

  private treeParts(tree: Tree): Node[] {
    if (this.network === null) return [];
    const root = element("button", { type: "button", class: "link" }, channelName(this.network, tree.root));
    root.addEventListener("click", () => this.choose({ kind: "channel", number: tree.root }));
    return [
      element("h3", {}, `Tree ${tree.id}`),
      element("p", { class: "root" }, "Root: ", root),
      element(
        "dl",
        {},
        ...this.row("Buffers", `${tree.members.length} in ${tree.switches} switches, ${tree.leaves} leaves`),
        ...this.row("Depth", `${tree.depth} switches`),
        ...this.row("Per stage", tree.perStage.join(", ")),
        ...this.row("Sources cut off", String(tree.sources)),
        ...this.row("Packets to the root", `${tree.packets} of ${tree.flows} flows`),
        ...this.row("Victims", `${tree.victims} of ${tree.victimFlows} flows`),
        ...this.row("Ports idle for them", String(tree.idlePorts)),
      ),
      ...this.flows("Fed by", tree.mostFlows, tree.flows),
      ...this.flows("Victims", tree.mostVictims, tree.victimFlows),
    ];
  }

  private targetParts(sample: Sample, target: Target): Node[] {
    const rows = this.placesOf(target).flatMap((place) => {
      const what = this.record?.places[place];
      const fill = sample.fill[place] ?? 0;
      if (what === undefined) return [];
      const trees = sample.trees.filter((tree) => tree.members.some((member) => member.place === place));
      const set = sample.queues.filter((queue) => queue.place === place);
      return [
        element(
          "tr",
          {},
          element("td", {}, this.placeName(what)),
          element("td", { class: "n" }, `${Math.round((fill * 100) / 255)} %`),
          element(
            "td",
            {},
            [...trees.map((tree) => `T${tree.id}`), ...set.map((queue) => `set aside, ${queue.used}`)].join(", "),
          ),
        ),
      ];
    });
    const head = element("tr", {}, ...["Buffer", "Full", "Trees"].map((text) => element("th", { scope: "col" }, text)));
    return [
      element("h3", {}, this.title(target)),
      rows.length === 0
        ? element(
            "p",
            {},
            this.record?.places.length === 0
              ? "What was in buffers was not recorded."
              : "Nothing was ever in a buffer here.",
          )
        : element(
            "div",
            { class: "scroll", tabindex: "0", role: "region", "aria-label": "Buffers" },
            element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows.slice(0, kMostRows))),
          ),
    ];
  }

  private eventParts(sample: Sample, treeId: number | null): Node[] {
    const until = (this.record?.events ?? []).filter(
      (event) => event.at <= sample.at && (treeId === null || event.tree === treeId || event.other === treeId),
    );
    if (until.length === 0) return [];
    const last = until.slice(-6).reverse();
    const words = last.map((event) => {
      const other = event.other !== event.tree ? ` T${event.other}` : "";
      const link =
        { merged: " into", split: " from", "overlapping but separate": ": with" }[event.kind as string] ?? "";
      return element("li", {}, `${timeText(event.at, this.worth)}: T${event.tree} ${event.kind}${link}${other}`);
    });
    return [element("h4", {}, "Events"), element("ul", { class: "events" }, ...words)];
  }
}
