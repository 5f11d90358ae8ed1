// The configuration of a point, on demand: from its row in the table of values or from its mark in a chart.
import { type RunData, verdictText } from "./data";
import { element } from "./dom";

/** Everything that says where a point comes from. */
export function runDetails(run: RunData): HTMLElement {
  const list = element("dl");
  const row = (name: string, value: string) => {
    if (value !== "") list.append(element("dt", {}, name), element("dd", {}, value));
  };
  row("Verdict", verdictText(run.verdict, run.certain));
  row("Explanation", run.explanation);
  row("Warning", run.warning ?? "");
  row("Seed", run.seed);
  row("State hash", run.stateHash);
  row("Banyan", run.version);
  row("Compiler", run.compiler);
  const text = JSON.stringify(run.configuration, null, 2);
  return element("div", { class: "run" }, list, element("pre", { tabindex: "0" }, text));
}

/** A button at the end of each row that opens the row's run beneath it. */
export function addRunButtons(table: HTMLTableElement, runs: readonly RunData[]): void {
  const head = table.tHead?.rows[0];
  if (head === undefined || table.querySelector("tr[data-run]") === null) return;
  head.append(element("th", { scope: "col" }, "Configuration"));
  const columns = head.cells.length;
  for (const row of table.querySelectorAll<HTMLTableRowElement>("tr[data-run]")) {
    const run = runs[Number(row.dataset.run)];
    const cell = element("td");
    row.append(cell);
    if (run === undefined) continue;
    const button = element("button", { type: "button", class: "link", "aria-expanded": "false" }, "show");
    let opened: HTMLElement | null = null;
    button.addEventListener("click", () => {
      if (opened === null) {
        opened = element("tr", {}, element("td", { colspan: String(columns) }, runDetails(run)));
        row.after(opened);
      } else {
        opened.remove();
        opened = null;
      }
      button.setAttribute("aria-expanded", String(opened !== null));
      button.textContent = opened === null ? "show" : "hide";
    });
    cell.append(button);
  }
}

/** Windows that are narrower have no room for a table's columns beside each other. */
const kNarrow = 720;

/** Folds each row of a table into lines, every cell behind the name of its column, while a narrow window is too small for it. */
export function foldRows(table: HTMLTableElement): void {
  const box = table.parentElement;
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map((head) => head.textContent ?? "");
  if (box === null) return;
  for (const row of table.tBodies[0]?.rows ?? []) {
    [...row.cells].forEach((cell, i) => {
      cell.dataset.head = heads[i] ?? "";
    });
  }
  new ResizeObserver(() => {
    table.classList.remove("folded");
    table.classList.toggle("folded", box.clientWidth < kNarrow && box.scrollWidth > box.clientWidth);
  }).observe(box);
}

/** One panel per figure, for the point that was clicked. */
export class RunPanel {
  private readonly body = element("div");
  private readonly root: HTMLElement;

  constructor(private readonly runs: readonly RunData[]) {
    const close = element("button", { type: "button", class: "link" }, "close");
    close.addEventListener("click", () => {
      this.root.hidden = true;
    });
    const head = element("div", { class: "panel-head" }, element("strong", {}, "The point that you chose"), close);
    this.root = element("section", { class: "panel", hidden: "", "aria-live": "polite" }, head, this.body);
  }

  get element(): HTMLElement {
    return this.root;
  }

  open(run: number): void {
    const data = this.runs[run];
    if (data === undefined) return;
    this.body.replaceChildren(runDetails(data));
    this.root.hidden = false;
  }
}
