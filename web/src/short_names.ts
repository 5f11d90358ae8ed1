// Names for little room: what all have in common is left out before what tells them apart.
import { cutInTheMiddle, plainLabel } from "./format";

/** A name as words, each with what parts it from the next. */
const wordsOf = (name: string) => name.match(/[^_\s,=/-]*[_\s,=/-]+|[^_\s,=/-]+$/g) ?? [];
const trimmed = (text: string) => text.replace(/^[_\s,=/-]+|[_\s,=/-]+$/g, "");

function commonStart(all: readonly (readonly string[])[]): number {
  const first = all[0] ?? [];
  const shortest = Math.min(...all.map((words) => words.length));
  let count = 0;
  while (count < shortest - 1 && all.every((words) => words[count] === first[count])) ++count;
  return count;
}

/** As many of the last words as have room, behind a sign for those before; of a longer word its begin and end. */
function lastWords(name: string, most: number): string {
  if ([...name].length <= most) return name;
  const words = wordsOf(name);
  while (words.length > 0 && [...words.join("")].length >= most) words.shift();
  return words.length === 0 ? cutInTheMiddle(name, most) : `…${words.join("")}`;
}

/** Each name in at most `most` characters; where one has more, all without the words that they begin or end with alike. */
export function shortNames(labels: readonly string[], most: number): string[] {
  const whole = labels.map(plainLabel);
  if (whole.every((name) => [...name].length <= most)) return [...labels];
  const words = whole.map(wordsOf);
  let start = new Set(whole).size > 1 ? commonStart(words) : 0;
  // A number needs to be told of what.
  if (start > 0 && words.some((all) => /^[-+.\d]/.test(all[start] ?? ""))) --start;
  const rest = words.map((all) => all.slice(start));
  const end = new Set(whole).size > 1 ? commonStart(rest.map((all) => [...all].reverse())) : 0;
  const names = rest.map((all) => trimmed(all.slice(0, all.length - end).join("")));
  const kept = names.every((name) => name !== "") && new Set(names).size === new Set(whole).size ? names : whole;
  const ends = kept.map((name) => lastWords(name, most));
  return new Set(ends).size === new Set(kept).size ? ends : kept.map((name) => cutInTheMiddle(name, most));
}
