#include "banyan/report/page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "banyan/base/error.hpp"
#include "banyan/base/file.hpp"
#include "banyan/report/bundle.hpp"
#include "banyan/report/content_policy.hpp"
#include "banyan/report/explorer.hpp"
#include "banyan/report/markup.hpp"

namespace banyan::report {
namespace {

using study::ClaimResult;
using study::ClaimVerdict;

std::string head(const Page& page, const std::string& style) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<main>\n",
      content_policy(style, bundle().script), escape(page.title), style);
}

std::string introduction(const Page& page) {
  std::string html = fmt::format("<header><h1>{}</h1><div id=\"tools\"></div></header>\n<p class=\"soft\">{}</p>\n",
                                 escape(page.title), escape(page.reference));
  if (!page.summary.empty()) html += fmt::format("<p>{}</p>\n", escape(page.summary));
  html += "<div class=\"tiles\">\n";
  for (const auto& [value, name] : page.tiles) {
    html += fmt::format("<div class=\"tile\"><b>{}</b><span class=\"soft small\">{}</span></div>\n", escape(value),
                        escape(name));
  }
  return html + "</div>\n";
}

std::string badge(ClaimVerdict verdict) {
  const char* style = "open";
  const char* mark = "?";
  if (verdict == ClaimVerdict::reproduced) {
    style = "yes";
    mark = "\xE2\x9C\x93";
  } else if (verdict == ClaimVerdict::partly) {
    style = "part";
    mark = "~";
  } else if (verdict == ClaimVerdict::not_reproduced) {
    style = "no";
    mark = "\xE2\x9C\x97";
  } else if (verdict == ClaimVerdict::not_tested) {
    mark = "\xE2\x80\x93";
  }
  return fmt::format("<span class=\"badge {}\">{} {}</span>", style, mark, study::to_string(verdict));
}

/// Beside the verdict, so that nobody takes "reproduced" for "at every point".
std::string undecided_text(const ClaimResult& claim) {
  if (claim.undecided == 0) return "";
  return fmt::format("<br><span class=\"soft small\">undecided at {} {}</span>", claim.undecided,
                     claim.undecided == 1 ? "point" : "points");
}

std::string claim_row(const ClaimResult& claim) {
  std::string html =
      fmt::format("<tr id=\"claim-{}\"><td>{}</td><td>{} <span class=\"soft small nowrap\">section {}</span></td>",
                  escape(claim.id), badge(claim.verdict) + undecided_text(claim), foldable(escape(claim.text)),
                  escape(claim.section));
  html += fmt::format("<td>{}", foldable(escape(claim.measured)));
  if (!claim.note.empty())
    html += fmt::format("<br><span class=\"soft small\">{}</span>", foldable(escape(claim.note)));
  if (!claim.expected && claim.verdict != ClaimVerdict::reproduced)
    html += "<br><span class=\"soft small\">not expected to hold everywhere</span>";
  return html + "</td></tr>\n";
}

std::string claim_table(const std::vector<ClaimResult>& claims) {
  if (claims.empty()) return "";
  std::string html =
      "<h2 id=\"claims\">Claims</h2>\n"
      "<p class=\"soft small\">The paper's statements in our own words. Comparisons respect the confidence intervals: "
      "what lies within them confirms nothing. Reproduced: holds at half of the points at least, and at the others the "
      "means say so too. Undecided: the intervals allow both readings at more than half of the points. Not tested: "
      "this "
      "form of the study is too short for the sentence.</p>\n"
      "<table class=\"claims\"><thead><tr><th>Verdict</th><th>Claim</th><th>Measured</th></tr></thead>\n<tbody>\n";
  for (const ClaimResult& claim : claims) html += claim_row(claim);
  return html + "</tbody></table>\n";
}

/// `open`: nothing else stands in its figure.
std::string values_table(const Table& table, bool open) {
  if (table.rows.empty()) return "";
  const auto numeric = [&](std::size_t column) { return column < table.numeric.size() && table.numeric[column]; };
  std::string html = open ? "<details open>" : "<details>";
  html +=
      "<summary>Values</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Values\">"
      "<table class=\"values\"><thead><tr>";
  for (std::size_t i = 0; i < table.head.size(); ++i) {
    html += fmt::format("<th scope=\"col\"{}>{}</th>", numeric(i) ? " class=\"n\"" : "",
                        foldable(html_label(table.head[i])));
  }
  html += "</tr></thead><tbody>\n";
  for (const Table::Row& row : table.rows) {
    html += row.run ? fmt::format("<tr data-run=\"{}\">", *row.run) : "<tr>";
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      html += fmt::format("<td{}>{}</td>", numeric(i) ? " class=\"n\"" : "", foldable(escape(row.cells[i])));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div></details>\n";
}

std::string pretty(const std::string& configuration) {
  const auto json = nlohmann::ordered_json::parse(configuration, nullptr, false);
  return json.is_discarded() ? configuration
                             : json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// The script shows every point's configuration; without it there is at least the first.
std::string first_configuration(const Page& page, const Table& table) {
  if (table.rows.empty() || !table.rows.front().run) return "";
  return fmt::format(
      "<details class=\"first-configuration\"><summary>Resolved configuration of the first point</summary><pre>{}</pre>"
      "</details>\n",
      escape(pretty(page.runs.at(*table.rows.front().run)->configuration)));
}

std::string chart_figure(const NamedChart& named, std::size_t number) {
  return fmt::format(
      "<figure class=\"chart\" data-chart=\"{}\"><div class=\"static\">{}</div>\n"
      "<figcaption class=\"downloads\"><a download=\"{}\" href=\"data:image/svg+xml;charset=utf-8,{}\">SVG</a>"
      "</figcaption></figure>\n",
      number, to_svg(named.chart, false), escape(named.file), percent_encode(to_svg(named.chart, true)));
}

/// `next` numbers the charts of the page, as page_data() does.
std::string figure_section(const Page& page, const Figure& figure, std::size_t& next) {
  std::string html =
      fmt::format("<section class=\"figure\" id=\"figure-{}\"><h3>{}</h3>\n", escape(figure.id), escape(figure.title));
  if (!figure.caption.empty()) html += fmt::format("<p class=\"soft small\">{}</p>\n", escape(figure.caption));
  html += "<div class=\"charts\">\n";
  for (const NamedChart& named : figure.charts) html += chart_figure(named, next++);
  html += "</div>\n";
  if (!figure.csv.empty()) {
    html += fmt::format(
        "<p class=\"downloads\"><a download=\"{}\" href=\"data:text/csv;charset=utf-8,{}\">Data as CSV</a></p>\n",
        escape(figure.csv_file), percent_encode(figure.csv));
  }
  return html + values_table(figure.values, figure.charts.empty()) + first_configuration(page, figure.values) +
         "</section>\n";
}

std::string network_list(const Page& page) {
  std::string html = "<h2 id=\"network\">The network over time</h2>\n<ul>\n";
  for (const auto& [file, title] : page.network_pages) {
    html += fmt::format("<li><a href=\"{}\">{}</a></li>\n", percent_encode(file), escape(title));
  }
  return html + "</ul>\n";
}

std::string unrecorded(const Page& page) {
  if (page.unrecorded.empty()) return "";
  std::string html =
      "<h2 id=\"unrecorded\">Not recorded</h2>\n<p class=\"soft small\">Give these words behind the file of the "
      "experiment, as in <code>banyan run FILE run.tables=all</code>, or set the keys in it.</p>\n<dl>\n";
  for (const auto& [what, words] : page.unrecorded) {
    html += fmt::format("<dt>{}</dt><dd><code>{}</code></dd>\n", escape(what), escape(words));
  }
  return html + "</dl>\n";
}

std::string provenance(const Page& page) {
  std::string html = "<h2 id=\"provenance\">Where the numbers come from</h2>\n<dl>\n";
  for (const auto& [name, value] : page.provenance) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(value));
  }
  html += "</dl>\n";
  if (bundle().script.empty()) {
    html +=
        "<p class=\"soft small\">This program was built without Node.js, so the drawings of this page are static. A "
        "program built with it writes interactive ones.</p>\n";
  }
  return html;
}

std::string scripts(const Page& page) {
  if (bundle().script.empty()) return "";
  return fmt::format(
      "<script type=\"application/json\" id=\"report-data\">{}</script>\n"
      "<script>{}</script>\n",
      page_data(page), bundle().script);
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  const std::string reason = write_whole_file(path.string(), text);
  if (!reason.empty()) {
    throw ConfigError({path.string(), 0, 0, ""}, "cannot be written: " + reason, "choose another folder with --out");
  }
}

}  // namespace

std::string to_html(const Page& page) {
  const std::string style = chart_style(":root") + std::string(bundle().page_style) + std::string(bundle().style);
  std::string html = head(page, style) + introduction(page) + claim_table(page.claims);
  html += page.network_pages.empty() ? explorer_section(page.runs) : network_list(page);
  if (page.comparison && !bundle().script.empty()) {
    html +=
        "<section id=\"compare\" hidden><h2>Compare</h2>\n<p class=\"soft small\">Any metric over any axis or over "
        "time; the address holds what is chosen.</p></section>\n";
  }
  html += "<h2 id=\"figures\">Figures</h2>\n";
  std::size_t chart = 0;
  for (const Figure& figure : page.figures) html += figure_section(page, figure, chart);
  return html + unrecorded(page) + provenance(page) + "</main>\n" + scripts(page) + "</body>\n</html>\n";
}

std::string file_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    name += plain ? c : '_';
  }
  return name;
}

std::string seeds_of(const std::vector<const api::Result*>& runs) {
  std::vector<u64> seen;
  for (const api::Result* run : runs) {
    if (std::find(seen.begin(), seen.end(), run->seed) == seen.end()) seen.push_back(run->seed);
  }
  std::string text;
  for (const u64 seed : seen) text += fmt::format("{}{}", text.empty() ? "" : ", ", seed);
  return text;
}

std::vector<std::pair<std::string, std::string>> provenance_of(const std::vector<const api::Result*>& runs) {
  if (runs.empty()) return {};
  return {{"Banyan", runs.front()->version}, {"Compiler", runs.front()->compiler}, {"Seed", seeds_of(runs)}};
}

void write_html(const Page& page, const std::string& path) { write_file(path, to_html(page)); }

std::string write_page(const Page& page, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::filesystem::path path = std::filesystem::path(folder) / "report.html";
  write_file(path, to_html(page));
  for (const Figure& figure : page.figures) {
    for (const NamedChart& named : figure.charts) {
      write_file(std::filesystem::path(folder) / named.file, to_svg(named.chart, true));
    }
    if (!figure.csv.empty()) write_file(std::filesystem::path(folder) / figure.csv_file, figure.csv);
  }
  return path.string();
}

}  // namespace banyan::report
