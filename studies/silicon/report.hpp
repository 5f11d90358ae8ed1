// What the study says: errors of the waits at barriers, per trace and per class, of Banyan and of simpler models.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "banyan/config/schema.hpp"
#include "replay.hpp"

namespace banyan::study::silicon {

/// Of a set of barriers; of none the errors mean nothing, and are printed as "-" or null. Errors are relative: (model -
/// measured) / measured wait.
struct Errors {
  u64 barriers = 0;
  double median = 0.0;  ///< of absolute values, like ninetieth and worst
  double ninetieth = 0.0;
  double worst = 0.0;
  double bias = 0.0;            ///< mean with sign
  std::optional<double> ranks;  ///< Spearman's correlation of the ends within a trace; of a class its mean over traces
};

[[nodiscard]] Errors errors_of(const std::vector<double>& errors);
/// Spearman's rank correlation; nothing of fewer than 3 pairs, or where all of one side are equal.
[[nodiscard]] std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

struct TraceResult {
  std::string name;
  TraceClass trace_class = TraceClass::other;
  u64 left_out = 0;  ///< barriers that overlap what the profiler sent
  u64 empty = 0;     ///< barriers that wait for nothing; no error is counted of them
  u64 others = 0;    ///< events that are not replayed
  std::map<std::string, Errors> models;
};

struct ClassResult {
  TraceClass trace_class = TraceClass::other;
  u64 traces = 0;
  std::map<std::string, Errors> models;
};

/// In the order in which they are printed; the first is Banyan.
[[nodiscard]] const std::vector<std::string>& model_names();

struct Comparison {
  std::vector<std::pair<std::string, std::string>> constants;
  std::vector<TraceResult> traces;
  std::vector<ClassResult> classes;
};

[[nodiscard]] Comparison compare(const std::vector<Trace>& traces, const config::Values& constants);
[[nodiscard]] std::string to_table(const Comparison& comparison);
[[nodiscard]] std::string to_json(const Comparison& comparison);

}  // namespace banyan::study::silicon
