#include "banyan/report/study_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "banyan/base/error.hpp"
#include "banyan/report/markup.hpp"

namespace banyan::report {
namespace {

using study::ClaimResult;
using study::ClaimVerdict;
using study::FigureResult;
using study::Point;
using study::StudyResult;

constexpr const char* kPageStyle = R"css(
*{box-sizing:border-box}
html{color-scheme:light dark}
body{margin:0;background:var(--ground);color:var(--ink);line-height:1.5;
  font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1240px;margin:0 auto;padding:24px 20px 64px}
h1{font-size:1.75rem;line-height:1.2;margin:.2em 0 .4em}
h2{font-size:1.25rem;margin:2.2em 0 .6em;padding-top:.6em;border-top:1px solid var(--rule)}
h3{font-size:1.05rem;margin:1.8em 0 .2em}
p{margin:.4em 0;max-width:75ch}
.soft{color:var(--soft)}
.small{font-size:.875rem}
.nowrap{white-space:nowrap}
a{color:var(--c0)}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.8125rem}
pre{overflow-x:auto;padding:12px;border:1px solid var(--rule);border-radius:6px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 16px;margin:.6em 0}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
.tiles{display:flex;flex-wrap:wrap;gap:12px;margin:1.2em 0}
.tile{border:1px solid var(--rule);border-radius:8px;padding:10px 16px;min-width:120px}
.tile b{display:block;font-size:1.4rem;line-height:1.2}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr));gap:24px;margin:.8em 0}
.charts svg{display:block;width:100%;max-width:600px;height:auto}
table{border-collapse:collapse;width:100%;font-size:.9375rem}
th,td{text-align:left;vertical-align:top;padding:8px 10px;border-bottom:1px solid var(--rule)}
th{font-weight:600;color:var(--soft);font-size:.8125rem}
.scroll{overflow-x:auto}
.scroll td,.scroll th{white-space:nowrap;padding:4px 10px;font-size:.8125rem;font-variant-numeric:tabular-nums}
.scroll td.n,.scroll th.n{text-align:right}
.badge{display:inline-block;white-space:nowrap;border-radius:999px;padding:1px 10px;font-size:.8125rem;font-weight:600;
  border:1.5px solid currentColor}
.yes{color:#116b3c}.part{color:#8a5a00}.no{color:#b3261e}
@media (prefers-color-scheme: dark){.yes{color:#52c98b}.part{color:#e6b54a}.no{color:#ff8a80}}
summary{cursor:pointer;color:var(--soft);font-size:.875rem;margin:.4em 0}
@media (max-width: 720px){
  main{padding:16px 14px 48px}
  h1{font-size:1.35rem}
  .claims thead{display:none}
  .claims tr{display:block;padding:10px 0;border-bottom:1px solid var(--rule)}
  .claims td{display:block;border:0;padding:2px 0}
  dl{grid-template-columns:1fr}
  dt{margin-top:6px}
}
)css";

std::string badge(ClaimVerdict verdict) {
  const char* style = verdict == ClaimVerdict::reproduced ? "yes" : verdict == ClaimVerdict::partly ? "part" : "no";
  const char* mark = verdict == ClaimVerdict::reproduced ? "\xE2\x9C\x93"
                     : verdict == ClaimVerdict::partly   ? "~"
                                                         : "\xE2\x9C\x97";
  return fmt::format("<span class=\"badge {}\">{} {}</span>", style, mark, study::to_string(verdict));
}

std::string tile(const std::string& value, const std::string& name) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span class=\"soft small\">{}</span></div>\n", escape(value),
                     escape(name));
}

std::string head(const StudyResult& result) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
      "<style>\n{}{}</style>\n</head>\n<body>\n<main>\n",
      escape(result.spec.title), chart_style(":root"), kPageStyle);
}

std::string introduction(const StudyResult& result) {
  const auto reproduced = std::count_if(result.claims.begin(), result.claims.end(),
                                        [](const ClaimResult& c) { return c.verdict == ClaimVerdict::reproduced; });
  std::string html =
      fmt::format("<h1>{}</h1>\n<p class=\"soft\">{}</p>\n", escape(result.spec.title), escape(result.spec.reference));
  if (!result.spec.summary.empty()) html += fmt::format("<p>{}</p>\n", escape(result.spec.summary));
  html += "<div class=\"tiles\">\n";
  html += tile(fmt::format("{} of {}", reproduced, result.claims.size()), "claims reproduced");
  html += tile(fmt::format("{}", result.figures.size()), "figures");
  html += tile(fmt::format("{}", result.runs.size()), fmt::format("runs for {} points", result.points));
  html += tile(fmt::format("{:.1f} s", result.cpu_seconds()), "CPU time");
  html += tile(study::to_string(result.mode), "form of the run");
  return html + "</div>\n";
}

std::string claim_row(const ClaimResult& claim) {
  std::string html =
      fmt::format("<tr id=\"claim-{}\"><td>{}</td><td>{} <span class=\"soft small nowrap\">section {}</span></td>",
                  escape(claim.id), badge(claim.verdict), escape(claim.text), escape(claim.section));
  html += fmt::format("<td>{}", escape(claim.measured));
  if (!claim.note.empty()) html += fmt::format("<br><span class=\"soft small\">{}</span>", escape(claim.note));
  if (!claim.expected) html += "<br><span class=\"soft small\">not expected to hold everywhere</span>";
  return html + "</td></tr>\n";
}

std::string claim_table(const StudyResult& result) {
  if (result.claims.empty()) return "";
  std::string html =
      "<h2 id=\"claims\">Claims</h2>\n"
      "<p class=\"soft small\">The paper's statements in our own words. Comparisons respect the confidence intervals: "
      "what "
      "lies within them confirms nothing.</p>\n"
      "<table class=\"claims\"><thead><tr><th>Verdict</th><th>Claim</th><th>Measured</th></tr></thead>\n<tbody>\n";
  for (const ClaimResult& claim : result.claims) html += claim_row(claim);
  return html + "</tbody></table>\n";
}

std::string cell(const stats::Metric* metric) {
  if (metric == nullptr) return "<td class=\"n\"></td>";
  return fmt::format(
      "<td class=\"n\">{}</td>",
      escape(study::to_string(study::Estimate{metric->mean, metric->half_width.value_or(0.0), 0, true})));
}

std::string data_table(const StudyResult& result, const FigureResult& figure) {
  if (figure.points.empty() || figure.spec.metrics.empty()) return "";
  std::string html = "<details><summary>Values</summary><div class=\"scroll\"><table><thead><tr><th>Series</th>";
  for (const auto& [axis, value] : figure.points.front().axes) {
    html += fmt::format("<th class=\"n\">{}</th>", escape(result.spec.axis(axis)->symbol));
  }
  for (const std::string& name : figure.spec.metrics) {
    const study::MetricSpec& metric = *result.spec.metric(name);
    html += fmt::format("<th class=\"n\">{}{}</th>", html_label(metric.symbol),
                        metric.unit.empty() ? "" : " (" + escape(metric.unit) + ")");
  }
  html += "<th>Verdict</th></tr></thead><tbody>\n";
  for (const Point& point : figure.points) {
    const study::SeriesSpec* series = result.spec.find_series(point.series);
    const api::Result& run = result.run_of(point);
    html += fmt::format("<tr><td>{}</td>", escape(series == nullptr ? point.series : series->label));
    for (const auto& [axis, value] : point.axes) html += fmt::format("<td class=\"n\">{}</td>", escape(value));
    for (const std::string& name : figure.spec.metrics) html += cell(run.find(name));
    html += fmt::format("<td>{}</td></tr>\n", escape(api::to_string(run.verdict)));
  }
  return html + "</tbody></table></div></details>\n";
}

std::string pretty(const std::string& configuration) {
  const auto json = nlohmann::ordered_json::parse(configuration, nullptr, false);
  return json.is_discarded() ? configuration
                             : json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string configuration_of(const StudyResult& result, const FigureResult& figure) {
  if (figure.points.empty()) return "";
  return fmt::format("<details><summary>Resolved configuration of the first point</summary><pre>{}</pre></details>\n",
                     escape(pretty(result.run_of(figure.points.front()).configuration)));
}

std::string figure_section(const StudyResult& result, const FigureResult& figure) {
  const std::string csv = study::to_csv(result, figure);
  // A figure of the paper has its number as id.
  const bool numbered = !figure.spec.id.empty() && figure.spec.id.find_first_not_of("0123456789") == std::string::npos;
  std::string html = fmt::format("<section id=\"figure-{}\"><h3>{}{}</h3>\n", escape(figure.spec.id),
                                 numbered ? "Figure " + escape(figure.spec.id) + ": " : "", escape(figure.spec.title));
  if (!figure.spec.caption.empty())
    html += fmt::format("<p class=\"soft small\">{}</p>\n", escape(figure.spec.caption));
  html += "<div class=\"charts\">\n";
  for (const NamedChart& named : charts_of(result, figure)) html += to_svg(named.chart, false);
  html += "</div>\n";
  html += fmt::format(
      "<p class=\"small\"><a download=\"figure-{}.csv\" href=\"data:text/csv;charset=utf-8,{}\">Data as CSV</a></p>\n",
      escape(figure.spec.id), percent_encode(csv));
  return html + data_table(result, figure) + configuration_of(result, figure) + "</section>\n";
}

std::string seeds(const StudyResult& result) {
  std::vector<u64> seen;
  for (const api::Result& run : result.runs) {
    if (std::find(seen.begin(), seen.end(), run.seed) == seen.end()) seen.push_back(run.seed);
  }
  std::string text;
  for (const u64 seed : seen) text += fmt::format("{}{}", text.empty() ? "" : ", ", seed);
  return text;
}

std::string provenance(const StudyResult& result) {
  std::string html = "<h2 id=\"provenance\">Where the numbers come from</h2>\n<dl>\n";
  const auto row = [&](const std::string& name, const std::string& value) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(value));
  };
  row("Study", result.spec.name);
  row("Form", study::to_string(result.mode));
  if (!result.runs.empty()) {
    row("Banyan", result.runs.front().version);
    row("Compiler", result.runs.front().compiler);
    row("Seed", seeds(result));
  }
  row("State hash of all runs", fmt::format("{:016x}", result.state_hash()));
  row("Intervals", "half widths at the confidence of the runs, over independent sessions; drawn as error bars");
  return html + "</dl>\n";
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) throw ConfigError({path.string(), 0, 0, ""}, "cannot be written", "choose another folder with --out");
}

}  // namespace

std::string study_page(const StudyResult& result) {
  std::string html = head(result) + introduction(result) + claim_table(result) + "<h2 id=\"figures\">Figures</h2>\n";
  for (const FigureResult& figure : result.figures) html += figure_section(result, figure);
  return html + provenance(result) + "</main>\n</body>\n</html>\n";
}

std::string write_study_report(const StudyResult& result, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::filesystem::path page = std::filesystem::path(folder) / "report.html";
  write_file(page, study_page(result));
  for (const FigureResult& figure : result.figures) {
    for (const NamedChart& named : charts_of(result, figure)) {
      write_file(std::filesystem::path(folder) / named.file, to_svg(named.chart, true));
    }
  }
  return page.string();
}

}  // namespace banyan::report
