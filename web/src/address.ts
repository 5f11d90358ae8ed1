// The curves that a reader has hidden, in the address: "hide3=o1turn" hides a curve of the page's chart 3 by its name.
// These words stand behind those of whatever part of the page the address is about (src/comparison.ts, src/link.ts).

/** Names of curves by the number of their chart. */
export type HiddenCurves = ReadonlyMap<number, ReadonlySet<string>>;

const kWord = /^hide(\d{1,6})$/;
/** The part of an address that is about charts alone. */
const kCharts = "#charts";

/** The same names with or without one of them. */
export function changed(names: Iterable<string>, name: string, hidden: boolean): ReadonlySet<string> {
  const now = new Set(names);
  if (hidden) now.add(name);
  else now.delete(name);
  return now;
}

function split(hash: string): { part: string; words: URLSearchParams } {
  const at = hash.indexOf("?");
  return at < 0
    ? { part: "", words: new URLSearchParams() }
    : { part: hash.slice(0, at), words: new URLSearchParams(hash.slice(at + 1)) };
}

export function readHidden(hash: string): HiddenCurves {
  const hidden = new Map<number, Set<string>>();
  for (const [word, name] of split(hash).words) {
    const chart = kWord.exec(word)?.[1];
    if (chart === undefined) continue;
    const names = hidden.get(Number(chart)) ?? new Set();
    hidden.set(Number(chart), names.add(name));
  }
  return hidden;
}

/** The same address with these curves hidden and no others; "#" where nothing is left to say. */
export function writeHidden(hash: string, hidden: HiddenCurves): string {
  const { part, words } = split(hash);
  const told = new URLSearchParams([...words].filter(([word]) => !kWord.test(word)));
  for (const [chart, names] of hidden) {
    for (const name of names) told.append(`hide${chart}`, name);
  }
  const text = String(told);
  if (text === "" && (part === kCharts || part === "")) return "#";
  return `${part === "" ? kCharts : part}?${text}`;
}

/** Makes `hash` the address of the page; curves stay hidden. The history of the browser stays as it is. */
export function replaceAddress(hash: string): void {
  history.replaceState(null, "", writeHidden(hash, readHidden(location.hash)));
}
