// The colours and shapes that the page defines, for canvas and legend alike.

export const kPaletteSize = 8;
/** Solid, and dashes of their own where the palette is used again. */
export const kFamilies = 4;
/** Curves that colour and dashes tell apart. */
export const kLooks = kPaletteSize * kFamilies;

export interface Colours {
  ink: string;
  soft: string;
  rule: string;
  ground: string;
  curves: string[];
}

/** As the style sheet has them now: they change with the theme. */
export function currentColours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const get = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: get("ink"),
    soft: get("soft"),
    rule: get("rule"),
    ground: get("ground"),
    curves: Array.from({ length: kPaletteSize }, (_, i) => get(`c${i}`)),
  };
}
