// Every state of the explorer as the end of an address, and back.
import type { Target } from "./scene";

export interface LinkState {
  run: number;
  /** Cycles. */
  time: number;
  tree: number | null;
  target: Target | null;
  colourBy: "occupancy" | "use";
}

const kLetters = { t: "terminal", s: "switch", c: "channel" } as const;

/** "#network?run=0&time=120&tree=3&at=c17". */
export function writeLink(state: LinkState): string {
  const words = new URLSearchParams({ run: String(state.run), time: String(state.time) });
  if (state.tree !== null) words.set("tree", String(state.tree));
  if (state.target !== null) words.set("at", `${state.target.kind[0]}${state.target.number}`);
  if (state.colourBy === "use") words.set("colour", "use");
  return `#network?${words}`;
}

function natural(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** null when the address says nothing about the explorer. */
export function readLink(hash: string): LinkState | null {
  if (!hash.startsWith("#network?")) return null;
  const words = new URLSearchParams(hash.slice("#network?".length));
  const at = /^([tsc])(\d{1,9})$/.exec(words.get("at") ?? "");
  const kind = kLetters[(at?.[1] ?? "") as keyof typeof kLetters];
  return {
    run: natural(words.get("run")) ?? 0,
    time: natural(words.get("time")) ?? 0,
    tree: natural(words.get("tree")),
    target: at === null || kind === undefined ? null : { kind, number: Number(at[2]) },
    colourBy: words.get("colour") === "use" ? "use" : "occupancy",
  };
}
