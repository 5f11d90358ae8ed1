// Links to data: addresses work without this script, but browsers refuse to save long ones.

/** The bytes of "data:TYPE,PERCENT-ENCODED", or null for anything else. */
export function decodeDataAddress(address: string): { type: string; text: string } | null {
  const found = /^data:([^,]*),/.exec(address);
  if (found === null || found[1]?.endsWith(";base64")) return null;
  return { type: found[1] ?? "", text: decodeURIComponent(address.slice(found[0].length)) };
}

export function mendDownloads(): void {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[download]") : null;
    const data = decodeDataAddress(link?.getAttribute("href") ?? "");
    if (link === null || data === null) return;
    const address = URL.createObjectURL(new Blob([data.text], { type: data.type }));
    const original = link.getAttribute("href") ?? "";
    link.href = address;
    setTimeout(() => {
      link.setAttribute("href", original);
      URL.revokeObjectURL(address);
    }, 1000);
  });
}
