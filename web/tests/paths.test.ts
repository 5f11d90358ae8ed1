// Do the critical paths of jobs say which message waited longest, and where?
import { describe, expect, it } from "vitest";
import type { PathMessage } from "../src/data";
import { longestWait, waitText } from "../src/paths";

function message(rank: number, channel: number, waited: number): PathMessage {
  const what = `rank ${rank}, operation 0 (send 8b to ${rank + 1} tag 0)`;
  return { what, sent: 0, arrived: 9, place: "switch 2", port: "up 1", channel, waited, channels: [channel] };
}

describe("critical paths", () => {
  it("know their longest wait", () => {
    const paths = [
      { job: "ring", unit: "ns", messages: [message(0, 4, 1), message(1, 5, 29)] },
      { job: "tree", unit: "ns", messages: [message(2, 6, 3)] },
    ];
    const longest = longestWait(paths);
    expect(longest?.channel).toBe(5);
    expect(longest === null ? "" : waitText(longest)).toBe(
      "ring, rank 1, operation 0 (send 8b to 2 tag 0): 29 ns at switch 2, up 1",
    );
    expect(longestWait([])).toBeNull();
    expect(longestWait([{ job: "alone", unit: "ns", messages: [message(0, 4, 0)] }])).toBeNull();
  });
});
