// The critical paths of jobs in the explorer: which message waited for which channel, and how long.
import type { PathData, PathMessage } from "./data";
import { element } from "./dom";
import { formatNumber } from "./format";

interface Wait extends PathMessage {
  job: string;
  unit: string;
}

/** The message of all paths that waited longest at one place; null: none waited anywhere. */
export function longestWait(paths: readonly PathData[]): Wait | null {
  let longest: Wait | null = null;
  for (const { job, unit, messages } of paths) {
    for (const message of messages) {
      if (message.waited > (longest?.waited ?? 0)) longest = { ...message, job, unit };
    }
  }
  return longest;
}

/** "ring, rank 3, operation 4 (...): 29 ns at level 0 switch 2, up 1"; `what` names the rank. */
export function waitText(wait: Wait): string {
  const port = wait.port === "" ? "" : `, ${wait.port}`;
  return `${wait.job}, ${wait.what}: ${formatNumber(wait.waited)} ${wait.unit} at ${wait.place}${port}`;
}

/** A list for each job, each message a button that chooses the channel that it waited for. */
export function pathList(paths: readonly PathData[], choose: (channel: number) => void): HTMLElement[] {
  return paths.flatMap(({ job, unit, messages }) => {
    const items = messages.map((message) => {
      const button = element(
        "button",
        { type: "button", class: "link" },
        `${formatNumber(message.arrived)} ${unit}: ${message.what}`,
      );
      button.addEventListener("click", () => choose(message.channel));
      const port = message.port === "" ? "" : `, ${message.port}`;
      const waited =
        message.waited > 0
          ? `waited ${formatNumber(message.waited)} ${unit} at ${message.place}${port}`
          : "waited nowhere";
      return element("li", {}, button, ` ${waited}`);
    });
    return [element("h3", {}, `Critical path of ${job}`), element("ol", { class: "flows path" }, ...items)];
  });
}
