// A report as data, and as one HTML file that needs no server and no network. Studies, sweeps and single runs all end
// as a Page; the interactive script in it (web/) reads the charts and runs that the page carries as JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "banyan/api/result.hpp"
#include "banyan/report/chart.hpp"
#include "banyan/study/study.hpp"

namespace banyan::report {

/// A chart and the file name that it is exported under ("figure-15-mu_syn-gamma-0.4.svg").
struct NamedChart {
  std::string file;
  Chart chart;
};

/// Values as a table. Heads may hold "_{x}" for subscripts; every other text is plain.
struct Table {
  struct Row {
    std::vector<std::string> cells;
    std::optional<std::size_t> run;  ///< place in Page::runs: the configuration behind the row
  };
  std::vector<std::string> head;
  std::vector<bool> numeric;  ///< per column: aligned to the right
  std::vector<Row> rows;
};

struct Figure {
  std::string id;
  std::string title;
  std::string caption;
  std::vector<NamedChart> charts;
  std::string csv_file;
  std::string csv;
  Table values;
};

/// The points of a sweep by the places of their values along its axes, from which a reader chooses what is drawn over
/// what.
struct Comparison {
  struct Axis {
    std::string key;
    std::string name;                ///< short: the last word of the key
    std::string unit;                ///< of its numbers
    bool seed = false;               ///< repetitions of one point, pooled unless the reader wants them apart
    std::vector<std::string> names;  ///< of its values
    std::vector<double> numbers;     ///< NaN: this value is none
  };
  std::vector<Axis> axes;
  std::vector<std::vector<std::size_t>> points;  ///< [place in Page::runs][axis]: place of the value
  /// Places in Page::runs of the points that differ in their seeds alone; empty where no seeds are swept.
  std::vector<std::vector<std::size_t>> pools;
};

struct Page {
  std::string title;
  std::string reference;
  std::string summary;
  std::vector<std::pair<std::string, std::string>> tiles;  ///< value, name
  std::vector<study::ClaimResult> claims;
  std::vector<Figure> figures;
  std::vector<const api::Result*> runs;
  std::optional<Comparison> comparison;  ///< of a sweep
  std::vector<std::string> run_titles;   ///< of the explorer, where runs recorded congestion trees
  /// Pages that show the network of the runs over time, when this page does not: file and title.
  std::vector<std::pair<std::string, std::string>> network_pages;
  /// What a run did not write down, and what is to be given beside its experiment so that it does.
  struct Unrecorded {
    std::string what;
    std::string words;  ///< "run.tables=all"
  };
  std::vector<Unrecorded> unrecorded;
  std::vector<std::pair<std::string, std::string>> provenance;  ///< name, value
};

/// The page. Text from configurations is escaped everywhere, and a content policy lets nothing but the page's own
/// script run.
[[nodiscard]] std::string to_html(const Page& page);

/// What the script reads: charts, in the order of the page, and runs. JSON without a single '<', '>' or '&', so that it
/// cannot end the element that it stands in.
[[nodiscard]] std::string page_data(const Page& page);

/// The name of a result's file in any folder: letters, digits, '-', '_' and '.' stay, everything else becomes '_'.
[[nodiscard]] std::string file_name(std::string_view text);

/// The values that appear among the runs, each once, as "1, 2".
[[nodiscard]] std::string seeds_of(const std::vector<const api::Result*>& runs);

/// Version, compiler, seeds and how intervals are drawn.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> provenance_of(
    const std::vector<const api::Result*>& runs);

/// Writes the page alone.
void write_html(const Page& page, const std::string& path);

/// Writes report.html, one SVG per chart and one CSV file per figure into `folder`, which is created when it is
/// missing; returns the path of the page. Throws ConfigError when a file cannot be written.
std::string write_page(const Page& page, const std::string& folder);

}  // namespace banyan::report
