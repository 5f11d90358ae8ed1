// Does an address keep which curves are hidden, beside everything else that it says?
import { describe, expect, it } from "vitest";
import { readHidden, writeHidden } from "../src/address";
import { readLink } from "../src/link";

const kHidden = new Map([
  [0, new Set(["o1turn", "a=b & c, μ_{SYN}"])],
  [12, new Set(["?hide1=x"])],
]);

describe("hidden curves", () => {
  it("come back from the address, whatever they are called", () => {
    const hash = writeHidden("", kHidden);
    expect(hash).toMatch(/^#charts\?hide0=o1turn&/);
    expect(readHidden(hash)).toEqual(kHidden);
    expect(writeHidden(hash, new Map())).toBe("#");
  });

  it("stand behind what else the address says", () => {
    const hash = writeHidden("#network?run=1&time=120", kHidden);
    expect(readLink(hash)?.time).toBe(120);
    expect(readHidden(hash)).toEqual(kHidden);
    expect(writeHidden(hash, new Map([[3, new Set(["x"])]]))).toBe("#network?run=1&time=120&hide3=x");
    expect(writeHidden(hash, new Map())).toBe("#network?run=1&time=120");
  });

  it("are none where the address says something else", () => {
    for (const hash of ["", "#", "#metrics", "#compare?metric=x&hide=y", "#charts?hide=1&hidex=2"]) {
      expect(readHidden(hash).size).toBe(0);
    }
  });
});
