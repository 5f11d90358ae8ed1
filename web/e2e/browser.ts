// Debian's Chromium, and pages written by the program under test.
import { execFileSync } from "node:child_process";
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const kFlags = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The browser on the PATH, or in BANYAN_CHROMIUM. */
export function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const candidates = folders.flatMap((folder) => ["chromium", "chromium-browser"].map((name) => join(folder, name)));
  return [process.env.BANYAN_CHROMIUM ?? "", ...candidates].find((path) => path !== "" && isProgram(path));
}

/** Why the pages cannot be opened here, or "" when they can. */
export function whatIsMissing(): string {
  if (process.env.BANYAN_PROGRAM === undefined) return "BANYAN_PROGRAM does not name the program";
  if (findChromium() === undefined) return "there is no chromium on the PATH; ./dev test installs it";
  return "";
}

export async function launch(): Promise<Browser> {
  // A user data folder of its own comes with every launch.
  return chromium.launch({ executablePath: findChromium() ?? "", args: kFlags });
}

const kEvil = "<img src=x onerror='window.evil=1'></script><script>window.evil=2</script><!--";

const kSweep = `name = "${kEvil}"
topology = { name = "extra_stage_cube", terminals = 16, radix = 4 }
switch = { name = "output_queued", buffer = 4 }
routing = "destination_tag"
traffic = { name = "uniform", load = 0.25 }
[run]
warmup = 200
measure = 1000
window = 100
[sweep]
buffer = [2, 8]
"traffic.uniform.load" = [0.2, 0.5, 1.0]
`;

/** Several axes, and three seeds; a load of 0.9 is beyond saturation. */
const kCompared = `topology = { name = "mesh", size = [4, 4] }
switch = { name = "vc_router", vcs = 2, buffer = 4 }
routing = "dimension_order"
traffic = { name = "uniform", load = 0.2 }
[run]
warmup = 300
measure = 1500
window = 100
extension = 1
[sweep]
routing = ["dimension_order", "o1turn"]
"switch.buffer" = [2, 8]
"run.seed" = [1, 2, 3]
"traffic.load" = [0.1, 0.2, 0.9]
`;

/** More curves than colours and dashes. */
const kMany = `topology = { name = "mesh", size = [2, 2] }
switch = "vc_router"
routing = "dimension_order"
traffic = { name = "uniform", load = 0.2 }
[run]
warmup = 50
measure = 200
extension = 1
[sweep]
"switch.buffer" = [${Array.from({ length: 35 }, (_, i) => i + 2).join(", ")}]
"traffic.load" = [0.1, 0.2]
`;

/** Everything that the page of a run shows: series, links on the network, terminals, latencies. */
const kRun = `topology = { name = "mesh", size = [4, 4] }
switch = "vc_router"
routing = "dimension_order"
traffic = { name = "uniform", load = 0.2 }
run = { warmup = 300, measure = 1500, window = 100, tables = "all" }
`;

export interface Reports {
  run: string;
  study: string;
  sweep: string;
  compared: string;
  many: string;
  search: string;
  remove(): void;
}

/** A short study, and a sweep that goes beyond saturation and whose name is markup. */
export function writeReports(): Reports {
  const folder = mkdtempSync(join(tmpdir(), "banyan-report-"));
  const banyan = (...words: string[]) => {
    try {
      execFileSync(process.env.BANYAN_PROGRAM ?? "", words, { cwd: folder, stdio: "pipe" });
    } catch (error) {
      // Status 1: a claim failed, which so few sessions cannot avoid.
      if ((error as { status?: number }).status !== 1) throw error;
    }
  };
  const figures = ["5", "6", "15"].flatMap((figure) => ["--figure", figure]);
  banyan("study", "run", "extra-stage-cube", "--quick", ...figures, "--out", "study", "run.sessions=4");
  writeFileSync(join(folder, "sweep.toml"), kSweep);
  banyan("sweep", "sweep.toml", "--out", "sweep");
  banyan("report", "sweep");
  writeFileSync(join(folder, "compared.toml"), kCompared);
  banyan("sweep", "compared.toml", "--out", "compared");
  banyan("report", "compared");
  writeFileSync(join(folder, "run.toml"), kRun);
  banyan("run", "run.toml", "--out", "run");
  banyan("report", "run");
  writeFileSync(join(folder, "many.toml"), kMany);
  banyan("sweep", "many.toml", "--out", "many");
  banyan("report", "many");
  banyan("saturation", "many.toml", "switch.buffer=4", "traffic.load=0.2", "--width", "0.5", "--out", "search");
  banyan("report", "search");
  const page = (name: string) => pathToFileURL(join(folder, name, "report.html")).href;
  return {
    run: page("run"),
    study: page("study"),
    sweep: page("sweep"),
    compared: page("compared"),
    many: page("many"),
    search: page("search"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export interface Opened {
  page: Page;
  /** What the browser complained about. */
  complaints: string[];
  /** What the page asked for, but for itself. */
  requests: string[];
}

export async function open(browser: Browser, address: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const opened: Opened = { page, complaints: [], requests: [] };
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") opened.complaints.push(message.text());
  });
  page.on("pageerror", (error) => opened.complaints.push(error.message));
  page.on("request", (request) => {
    if (request.url() !== address && !request.url().startsWith("blob:")) opened.requests.push(request.url());
  });
  await page.goto(address);
  return opened;
}

/** Keeps a picture for people to look at, when BANYAN_SCREENSHOTS names a folder. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.BANYAN_SCREENSHOTS;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
