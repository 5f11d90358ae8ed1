// The buttons below every figure that save it.
import { element } from "./dom";
import { save } from "./exports";

const kKinds = {
  SVG: { end: "svg", type: "image/svg+xml" },
  PDF: { end: "pdf", type: "application/pdf" },
  PNG: { end: "png", type: "image/png" },
  GIF: { end: "gif", type: "image/gif" },
  matplotlib: { end: "py", type: "text/x-python" },
  CSV: { end: "csv", type: "text/csv" },
} as const;

type Content = string | Blob | ArrayBuffer;

/** How each kind of file is made. */
export type Files = Partial<Record<keyof typeof kKinds, () => Content | Promise<Content>>>;

/** `stem`: the name of a file without its ending. */
export function saveMenu(files: Files, stem: () => string): HTMLElement {
  const menu = element("span", { class: "save" }, "Save as");
  for (const [kind, { end, type }] of Object.entries(kKinds)) {
    const make = files[kind as keyof typeof kKinds];
    if (make === undefined) continue;
    const button = element("button", { type: "button", class: "link" }, kind);
    button.addEventListener("click", async () => save(new Blob([await make()], { type }), `${stem()}.${end}`));
    menu.append(button);
  }
  return menu;
}
