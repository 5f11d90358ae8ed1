// What is said about the point under the mouse or under the keyboard's cursor.

import { element, label } from "./dom";
import type { PointText } from "./format";

const kGap = 14;

export class Tooltip {
  readonly root = element("div", { class: "tooltip", role: "status", hidden: "" });
  readonly spot = element("div", { class: "spot", hidden: "" });

  /** `at` and `size`: the point and the area that the text must stay in, in pixels of the common parent. */
  show(text: PointText, at: { x: number; y: number }, size: { width: number; height: number }): void {
    const value = element("strong", {}, text.value);
    const lines = [...label(text.line)];
    this.root.replaceChildren(
      element("div", { class: "tooltip-line" }, ...lines),
      element("div", {}, `${text.where}: `, value),
      element("div", { class: "tooltip-basis" }, text.basis),
    );
    this.root.hidden = false;
    this.spot.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.root;
    const right = at.x + kGap + width <= size.width;
    const left = right ? at.x + kGap : Math.max(0, at.x - kGap - width);
    const above = at.y - kGap - height >= 0;
    const top = above ? at.y - kGap - height : Math.min(at.y + kGap, Math.max(0, size.height - height));
    this.root.style.transform = `translate(${Math.round(Math.min(left, Math.max(0, size.width - width)))}px, ${Math.round(top)}px)`;
    this.spot.style.transform = `translate(${at.x}px, ${at.y}px)`;
  }

  hide(): void {
    this.root.hidden = true;
    this.spot.hidden = true;
  }
}
