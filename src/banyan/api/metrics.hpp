// The glossary of metrics: every name that a result can print, with its unit, what it means, its formula and where it
// is counted. A test runs experiments and looks every name up.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace banyan::api {

struct MetricRow {
  std::string_view name;        ///< "root.*": any name that begins so; others exactly
  std::string_view unit;        ///< "" for a pure number
  std::string_view definition;  ///< one sentence
  std::string_view formula;
  std::string_view counted;  ///< where, and over which packets
};

/// All metrics, sorted by name.
[[nodiscard]] std::span<const MetricRow> metric_rows();

/// The row of a printed name, which may have a traffic, a model or a prediction behind it ("packet_latency.uniform",
/// "packet_latency@kruskal_snir"); nullptr where there is none.
[[nodiscard]] const MetricRow* find_metric(std::string_view printed);

/// One row for people.
[[nodiscard]] std::string to_text(const MetricRow& row);
/// All rows as a page of the documentation.
[[nodiscard]] std::string metrics_markdown();
/// All names with their units, a line each.
[[nodiscard]] std::string metrics_text();

}  // namespace banyan::api
