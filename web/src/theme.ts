// Light, dark, or as the system says.

const kThemes = ["auto", "light", "dark"] as const;
type Theme = (typeof kThemes)[number];
const kKey = "banyan-theme";

function stored(): Theme {
  try {
    return kThemes.find((theme) => theme === localStorage.getItem(kKey)) ?? "auto";
  } catch {
    return "auto"; // a page without storage
  }
}

function store(theme: Theme): void {
  try {
    localStorage.setItem(kKey, theme);
  } catch {
    // The choice lasts as long as the page.
  }
}

/** Puts the switch into `place`; `changed` is called after every change of colours. */
export function addThemeSwitch(place: HTMLElement, changed: () => void): void {
  const select = document.createElement("select");
  select.setAttribute("aria-label", "Colours of the page");
  for (const theme of kThemes) {
    const names = { auto: "System colours", light: "Light", dark: "Dark" };
    select.append(new Option(names[theme], theme));
  }
  const apply = (theme: Theme) => {
    if (theme === "auto") {
      delete document.documentElement.dataset.theme;
    } else {
      document.documentElement.dataset.theme = theme;
    }
    changed();
  };
  select.value = stored();
  apply(stored());
  select.addEventListener("change", () => {
    const theme = kThemes.find((one) => one === select.value) ?? "auto";
    store(theme);
    apply(theme);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  place.append(select);
}
