// Makes the page of a report interactive. The page is complete without this script: every part finds the static
// elements that the program wrote and adds to them.
import "uplot/dist/uPlot.min.css";
import "./report.css";
import { changed, readHidden, writeHidden } from "./address";
import { LiveChart } from "./chart";
import { chartFiles, lookOf } from "./chart_files";
import { addComparison } from "./compare";
import type { ReportData } from "./data";
import { parseReport } from "./data";
import { mendDownloads } from "./download";
import { Explorer } from "./explorer";
import { addRunButtons, foldRows, RunPanel } from "./runs";
import { saveMenu } from "./save_menu";
import { addThemeSwitch } from "./theme";

/** A part of the page; gives back what to do after a change of colours. */
type Part = (data: ReportData) => () => void;

const charts: Part = (data) => {
  const live = new Map<number, LiveChart>();
  const hidden = readHidden(location.hash);
  for (const section of document.querySelectorAll<HTMLElement>("section.figure")) {
    const panel = new RunPanel(data.runs);
    section.querySelector(".charts")?.after(panel.element);
    for (const figure of section.querySelectorAll<HTMLElement>("figure[data-chart]")) {
      const number = Number(figure.dataset.chart);
      const chart = data.charts[number];
      if (chart === undefined) continue;
      const options = {
        markers: data.markers,
        openRun: (run: number) => panel.open(run),
        hidden: hidden.get(number) ?? new Set<string>(),
        hid: (name: string, now: boolean) => {
          const all = readHidden(location.hash);
          const names = changed(all.get(number) ?? [], name, now);
          history.replaceState(null, "", writeHidden(location.hash, new Map(all).set(number, names)));
        },
      };
      const made = new LiveChart(figure, chart, options);
      live.set(number, made);
      // The program has written a link to its static drawing, whose name all files have.
      const caption = figure.querySelector("figcaption");
      const name = caption?.querySelector("a")?.download.replace(/\.svg$/, "") ?? `chart-${number}`;
      const files = chartFiles(
        () => made.shown(),
        () => name,
        lookOf(data.markers),
      );
      caption?.replaceChildren(saveMenu(files, () => name));
    }
  }
  window.addEventListener("hashchange", () => {
    const now = readHidden(location.hash);
    for (const [number, chart] of live) chart.hide(now.get(number) ?? new Set());
  });
  return () => {
    for (const chart of live.values()) chart.repaint();
  };
};

const comparison: Part = (data) => {
  const made = addComparison(data);
  return () => made?.repaint();
};

const configurations: Part = (data) => {
  for (const table of document.querySelectorAll<HTMLTableElement>("table.values")) {
    addRunButtons(table, data.runs);
    foldRows(table);
  }
  for (const first of document.querySelectorAll(".first-configuration")) first.remove();
  return () => {};
};

const network: Part = (data) => {
  const place = document.getElementById("explorer");
  if (place === null || data.explorers === undefined) return () => {};
  const explorer = new Explorer(place, data);
  return () => explorer.repaint();
};

// Another part is another entry here.
const kParts: Part[] = [comparison, charts, configurations, network];

function start(): void {
  const data = parseReport(document.getElementById("report-data")?.textContent ?? "");
  const repaint = kParts.map((part) => part(data));
  const tools = document.getElementById("tools");
  if (tools !== null) {
    addThemeSwitch(tools, () => {
      for (const part of repaint) part();
    });
  }
  mendDownloads();
}

start();
