#include "banyan/api/export.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "banyan/api/axis_units.hpp"
#include "banyan/api/physical.hpp"
#include "banyan/api/pool_seeds.hpp"
#include "banyan/base/error.hpp"
#include "banyan/config/json.hpp"
#include "banyan/config/resolve.hpp"
#include "banyan/stats/interval.hpp"

namespace banyan::api {
namespace {

using nlohmann::ordered_json;
using stats::Metric;
using Cells = std::vector<std::string>;

/// Metrics that a table shows side by side when none are chosen: more do not fit a line.
constexpr std::size_t kColumns = 5;

/// RFC 4180.
std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string line(const Cells& cells) {
  std::string text;
  for (const std::string& cell : cells) text += (&cell == &cells.front() ? "" : ",") + csv_cell(cell);
  return text + "\n";
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }
std::string number(const std::optional<double>& value) { return value ? number(*value) : ""; }

Cells metric_names(const std::vector<Result>& results) {
  Cells names;
  for (const Result& result : results) {
    for (const Metric& metric : result.metrics) {
      if (std::find(names.begin(), names.end(), metric.name) == names.end()) names.push_back(metric.name);
    }
  }
  return names;
}

bool is_counter(const std::string& name, const std::vector<Result>& results) {
  return std::all_of(results.begin(), results.end(), [&](const Result& result) {
    const Metric* metric = result.find(name);
    return metric == nullptr || metric->counter;
  });
}

bool is_constant(const std::string& name, const std::vector<Result>& results) {
  const Metric* const first = results.front().find(name);
  return std::all_of(results.begin(), results.end(), [&](const Result& result) {
    const Metric* const metric = result.find(name);
    return first != nullptr && metric != nullptr && metric->mean == first->mean;
  });
}

Cells csv_head(const ExperimentSet& set, const Cells& names, const std::vector<Result>& results) {
  Cells head = set.axis_names;
  head.insert(head.end(), {"verdict", "state_hash", "certain"});
  for (const std::string& name : names) {
    head.push_back(name);
    if (!is_counter(name, results)) head.insert(head.end(), {name + "_half_width", name + "_count"});
  }
  return head;
}

Cells csv_row(const Experiment& point, const Result& result, const Cells& names, const std::vector<Result>& results) {
  Cells row;
  for (const auto& [key, value] : point.axes) row.push_back(value);
  row.insert(row.end(),
             {to_string(result.verdict), fmt::format("{:016x}", result.state_hash), result.certain ? "true" : "false"});
  for (const std::string& name : names) {
    const Metric* metric = result.find(name);
    row.push_back(metric == nullptr ? "" : number(metric->mean));
    if (is_counter(name, results)) continue;
    row.push_back(metric == nullptr ? "" : number(metric->half_width));
    row.push_back(metric == nullptr ? "" : fmt::format("{}", metric->count));
  }
  return row;
}

void require_reported(const std::vector<Result>& results, const Cells& chosen) {
  const Cells all = metric_names(results);
  for (const std::string& name : chosen) {
    if (std::find(all.begin(), all.end(), name) != all.end()) continue;
    throw ConfigError({"", 0, 0, name}, "no point reports such a metric", config::suggestion(name, all, "there are"));
  }
}

bool is_seed(const std::string& axis) { return axis.substr(axis.rfind('.') + 1) == "seed"; }

/// "slowdown_alone" of "slowdown_alone.ring": what is said of each job, or of each traffic.
std::string family_of(const std::string& name) { return name.substr(0, name.find('.')); }

/// What is said of a whole run first, then how much its parts were slowed down, which is what they are compared in;
/// parts beside each other.
void sort_by_weight(Cells& names) {
  const auto weight = [](const std::string& name) {
    return name.find('.') == std::string::npos ? 0 : name.starts_with("slowdown") ? 1 : 2;
  };
  const Cells order = names;
  const auto first_of_family = [&](const std::string& name) {
    return std::find_if(order.begin(), order.end(), [&](auto& other) { return family_of(other) == family_of(name); });
  };
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return std::pair(weight(a), first_of_family(a)) < std::pair(weight(b), first_of_family(b));
  });
}

/// About kColumns names: a family is shown as a whole or not at all, the first two in any case.
void cut_between_families(Cells& names) {
  if (names.size() <= kColumns) return;
  std::size_t end = 0;
  for (std::size_t families = 0; end < names.size(); ++families) {
    const std::string family = family_of(names[end]);
    std::size_t next = end;
    while (next < names.size() && family_of(names[next]) == family) ++next;
    if (families >= 2 && next > kColumns) break;
    end = next;
  }
  names.resize(end);
}

/// The first metrics that have an interval, each followed by what models predict of it; of results that have none, such
/// as those of jobs, what differs between points.
Cells telling_metrics(const std::vector<Result>& results) {
  const Cells all = metric_names(results);
  Cells names;
  for (const std::string& name : all) {
    if (!is_counter(name, results)) names.push_back(name);
  }
  if (!names.empty()) {
    // Metrics of all traffics come before those of one.
    std::stable_partition(names.begin(), names.end(),
                          [](const std::string& name) { return name.find('.') == std::string::npos; });
    Cells shown;
    for (const std::string& name : names) {
      if (shown.size() >= kColumns) break;
      shown.push_back(name);
      std::ranges::copy_if(all, std::back_inserter(shown),
                           [&](const std::string& other) { return other.starts_with(name + "@"); });
    }
    return shown;
  }
  for (const std::string& name : all) {
    if (results.size() == 1 || !is_constant(name, results)) names.push_back(name);
  }
  sort_by_weight(names);
  cut_between_families(names);
  return names;
}

std::string unit_of(const std::string& name, const std::vector<Result>& results) {
  for (const Result& result : results) {
    if (const Metric* metric = result.find(name)) return metric->unit;
  }
  return "";
}

/// The head of a table and, where anything has one, the units below: of the axes, of `between` columns none.
std::vector<Cells> head_of(const ExperimentSet& set, const std::vector<Result>& results, bool seeds,
                           const Cells& between, const Cells& names) {
  const std::vector<std::string> of_axes = axis_units(set, results);
  std::vector<Cells> rows(2);
  for (std::size_t a = 0; a < set.axis_names.size(); ++a) {
    if (!seeds && is_seed(set.axis_names[a])) continue;
    rows[0].push_back(set.axis_names[a]);
    rows[1].push_back(of_axes[a]);
  }
  for (const std::string& name : between) {
    rows[0].push_back(name);
    rows[1].emplace_back();
  }
  for (const std::string& name : names) {
    rows[0].push_back(name);
    rows[1].push_back(unit_of(name, results));
  }
  if (std::all_of(rows[1].begin(), rows[1].end(), [](const std::string& unit) { return unit.empty(); }))
    rows.pop_back();
  return rows;
}

bool is_exact(const Result& result) { return result.find(kDeterministic) != nullptr; }

/// "12.3 ± 0.4", "12 ± ?" of a mean whose interval is not known. `exact`: it has none because it needs none.
std::string estimate(const Metric* metric, bool exact) {
  if (metric == nullptr || !std::isfinite(metric->mean)) return "-";
  if (metric->counter) return number_text(metric->mean);
  if (!metric->half_width || !std::isfinite(*metric->half_width))
    return fmt::format("{:.6g}{}", metric->mean, exact ? "" : " ± ?");
  if (!(*metric->half_width > 0.0)) return fmt::format("{:.6g}", metric->mean);
  const int digits = std::clamp(1 - static_cast<int>(std::floor(std::log10(*metric->half_width))), 0, 9);
  return fmt::format("{:.{}f} ± {:.{}f}", metric->mean, digits, *metric->half_width, digits);
}

/// Characters, not bytes: a continuation byte of UTF-8 takes no column.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string table_of(const ExperimentSet& set, const std::vector<Result>& results, const Cells& names) {
  std::vector<Cells> rows = head_of(set, results, true, {"verdict"}, names);
  for (std::size_t i = 0; i < results.size(); ++i) {
    Cells row;
    for (std::size_t a = 0; a < set.points[i].axes.size(); ++a) row.push_back(value_name(set.points[i], a));
    row.push_back(verdict_text(results[i].verdict, results[i].certain));
    for (const std::string& name : names) row.push_back(estimate(results[i].find(name), is_exact(results[i])));
    rows.push_back(std::move(row));
  }
  return aligned(rows);
}

/// Points that differ in their seeds alone, in the order of the sweep.
struct Repeated {
  Cells axes;  ///< names of their values, without those of seeds
  std::vector<const Result*> results;
};

std::vector<Repeated> repeated(const ExperimentSet& set, const std::vector<Result>& results) {
  std::vector<Repeated> groups;
  std::map<Cells, std::size_t> places;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Experiment& point = set.points[i];
    Cells axes;
    Cells names;
    for (std::size_t a = 0; a < point.axes.size(); ++a) {
      if (is_seed(point.axes[a].first)) continue;
      axes.push_back(point.axes[a].second);
      names.push_back(value_name(point, a));
    }
    const auto [place, added] = places.emplace(std::move(axes), groups.size());
    if (added) groups.push_back({std::move(names), {}});
    groups[place->second].results.push_back(&results[i]);
  }
  return groups;
}

/// "2 of 3 saturated" where seeds do not agree.
std::string verdict_of(const Repeated& group) {
  const Result& worst = **std::max_element(group.results.begin(), group.results.end(), [](auto* a, auto* b) {
    const auto unsettled = [](const Result* r) {
      return r->verdict == Verdict::deadlocked ? 2 : r->verdict == Verdict::saturated ? 1 : 0;
    };
    return unsettled(a) < unsettled(b);
  });
  const auto agree = std::count_if(group.results.begin(), group.results.end(),
                                   [&](const Result* r) { return r->verdict == worst.verdict; });
  const bool all = agree == static_cast<std::ptrdiff_t>(group.results.size());
  const bool certain = std::all_of(group.results.begin(), group.results.end(), [](auto* r) { return r->certain; });
  return (all ? "" : fmt::format("{} of {} ", agree, group.results.size())) + verdict_text(worst.verdict, certain);
}

std::string estimate(const Repeated& group, const std::string& name) {
  const auto has = [&](const Result* result) { return result->find(name) != nullptr; };
  const auto first = std::find_if(group.results.begin(), group.results.end(), has);
  if (first == group.results.end()) return "-";
  if (group.results.size() == 1) return estimate((*first)->find(name), is_exact(**first));
  const std::optional<stats::Interval> interval = pool_seeds(group.results, name);
  if (!interval) return fmt::format("none in {} of {}", seeds_without(group.results, name), group.results.size());
  Metric pooled = *(*first)->find(name);
  pooled.mean = interval->mean;
  pooled.half_width = interval->half_width;
  return estimate(&pooled, is_exact(**first));
}

/// Seeds are repetitions of a point: one line for all of them.
std::string pooled_table(const ExperimentSet& set, const std::vector<Result>& results, const Cells& names) {
  const std::vector<Repeated> groups = repeated(set, results);
  if (groups.size() == results.size()) return table_of(set, results, names);
  std::vector<Cells> rows = head_of(set, results, false, {"seeds", "verdict"}, names);
  for (const Repeated& group : groups) {
    Cells row = group.axes;
    row.insert(row.end(), {fmt::format("{}", group.results.size()), verdict_of(group)});
    for (const std::string& name : names) row.push_back(estimate(group, name));
    rows.push_back(std::move(row));
  }
  const double first = confidence_of(results.front());
  const bool alike = std::ranges::all_of(results, [&](const Result& r) { return confidence_of(r) == first; });
  const std::string intervals = alike ? fmt::format("{:g} % intervals", 100.0 * first) : "intervals of run.confidence";
  return aligned(rows) +
         fmt::format("\nmeans over seeds, with {}; --csv, --json and export have every seed\n", intervals);
}

/// "uncertain whether it is steady: ...; a longer run (run.measure) would tell" of what a result explains.
std::string doubt_of(const Result& result) {
  const std::size_t at = result.explanation.find("uncertain whether");
  return at == std::string::npos ? result.explanation : result.explanation.substr(at);
}

/// How many points are not certain, and of the first why, and what helps; "" when all are. An empty line parts it from
/// the table, whose columns end there.
std::string doubts_text(const std::vector<Result>& results) {
  const auto uncertain = [](const Result& result) { return !result.certain; };
  const auto first = std::find_if(results.begin(), results.end(), uncertain);
  if (first == results.end()) return "";
  const auto count = std::count_if(results.begin(), results.end(), uncertain);
  return fmt::format("\n{} of {} points uncertain; the first: {}\n", count, results.size(), doubt_of(*first));
}

/// The warnings on a line behind an empty one.
std::string warnings_text(const std::vector<Result>& results) {
  const std::string text = warnings_of(results);
  return text.empty() ? "" : "\n" + text + "\n";
}

}  // namespace

std::string warnings_of(const std::vector<Result>& results) {
  const auto warns = [](const Result& result) { return !result.warning.empty(); };
  const auto first = std::find_if(results.begin(), results.end(), warns);
  if (first == results.end()) return "";
  if (results.size() == 1) return "warning: " + first->warning;
  const auto count = std::count_if(results.begin(), results.end(), warns);
  return fmt::format("{} of {} points with a warning; the first: {}", count, results.size(), first->warning);
}

std::string aligned(const std::vector<Cells>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Cells& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (const Cells& row : rows) {
    std::string cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells += (i == 0 ? "" : "  ") + row[i] + std::string(widths[i] - width_of(row[i]), ' ');
    }
    text += cells.substr(0, cells.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string to_csv(const Result& result) {
  std::string text = "metric,mean,half_width,confidence,count,unit\n";
  for (const Metric& metric : result.metrics) {
    const std::string confidence = metric.counter ? "" : number(metric.confidence);
    text += line({metric.name, number(metric.mean), number(metric.half_width), confidence,
                  fmt::format("{}", metric.count), metric.unit});
  }
  return text;
}

std::string series_csv(const Result& result) {
  if (result.series.empty()) return "";
  Cells head;
  std::size_t rows = 0;
  // Series may start at different times: each has a column of its own for the time.
  for (const stats::Series& series : result.series) {
    head.insert(head.end(), {series.name + "_time", series.name});
    rows = std::max(rows, series.values.size());
  }
  std::string text = line(head);
  for (std::size_t i = 0; i < rows; ++i) {
    Cells cells;
    for (const stats::Series& series : result.series) {
      const bool has = i < series.values.size();
      cells.push_back(has ? number(series.start + static_cast<double>(i) * series.interval) : "");
      cells.push_back(has ? number(series.values[i]) : "");
    }
    text += line(cells);
  }
  return text;
}

std::string series_csv(const ExperimentSet& set, const std::vector<Result>& results) {
  std::string text;
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (const stats::Series& series : results[i].series) {
      for (std::size_t n = 0; n < series.values.size(); ++n) {
        Cells row;
        for (const auto& [key, value] : set.points[i].axes) row.push_back(value);
        const double time = series.start + static_cast<double>(n) * series.interval;
        row.insert(row.end(), {series.name, series.unit, number(time), number(series.values[n])});
        text += line(row);
      }
    }
  }
  if (text.empty()) return "";
  Cells head = set.axis_names;
  head.insert(head.end(), {"series", "unit", "time", "value"});
  return line(head) + text;
}

std::string to_csv(const Table& table) {
  std::string text = line(table.columns);
  for (const auto& row : table.rows) {
    Cells cells;
    for (const Table::Cell& cell : row) {
      const double* real = std::get_if<double>(&cell);
      cells.push_back(real != nullptr ? number(*real) : to_text(cell));
    }
    text += line(cells);
  }
  return text;
}

std::string to_csv(const ExperimentSet& set, const std::vector<Result>& results) {
  const Cells names = metric_names(results);
  std::string text = line(csv_head(set, names, results));
  for (std::size_t i = 0; i < results.size(); ++i) text += line(csv_row(set.points[i], results[i], names, results));
  return text;
}

std::string to_json(const ExperimentSet& set, const std::vector<Result>& results, Costs costs) {
  ordered_json all;
  all["banyan"] = results.empty() ? "" : results.front().version;
  all["file"] = set.file;
  all["axes"] = set.axis_names;
  all["points"] = ordered_json::array();
  for (std::size_t i = 0; i < results.size(); ++i) {
    ordered_json point;
    point["axes"] = ordered_json::object();
    for (const auto& [key, value] : set.points[i].axes) point["axes"][key] = value;
    point.update(ordered_json::parse(to_json(results[i])));
    if (costs == Costs::left_out) {
      for (const char* cost : {"cpu_seconds", "peak_bytes"}) point.erase(cost);
    }
    all["points"].push_back(std::move(point));
  }
  return config::dump(all, 2);
}

std::string to_table(const ExperimentSet& set, const std::vector<Result>& results,
                     const std::vector<std::string>& metrics) {
  require_reported(results, metrics);
  return pooled_table(set, in_physical_units(results).results, metrics.empty() ? telling_metrics(results) : metrics) +
         doubts_text(results) + warnings_text(results);
}

std::string to_whole_table(const ExperimentSet& set, const std::vector<Result>& results) {
  if (set.axis_names.empty() && results.size() == 1) return to_table(results.front()) + warnings_text(results);
  const Cells all = metric_names(results);
  std::string text;
  for (std::size_t i = 0; i < all.size(); i += kColumns) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(i);
    const auto to = all.begin() + static_cast<std::ptrdiff_t>(std::min(i + kColumns, all.size()));
    text += (i == 0 ? "" : "\n") + table_of(set, results, Cells(from, to));
  }
  return text + doubts_text(results) + warnings_text(results);
}

}  // namespace banyan::api
