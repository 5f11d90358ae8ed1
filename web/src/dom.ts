// Elements from data. Text only ever enters the page through textContent: a configuration may contain markup.
import { labelParts } from "./format";

type Child = Node | string;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function svgElement<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: Node[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** "μ_{SYN}" with a real subscript. */
export function label(text: string): Child[] {
  return labelParts(text).map((part) => (part.subscript ? element("sub", {}, part.text) : part.text));
}
