// What the study says: errors of the waits at barriers, per trace and per class, of Banyan and of simpler models.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "banyan/config/schema.hpp"
#include "banyan/study/study.hpp"
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

/// A barrier that counts.
struct Wait {
  std::string trace;
  std::string processor;
  u32 node = 0;
  u32 barrier = 0;               ///< how many of the processor came before it
  double measured = 0.0;         ///< cycles
  std::vector<double> modelled;  ///< [model], cycles
};

struct ClassResult {
  TraceClass trace_class = TraceClass::other;
  u64 traces = 0;
  std::map<std::string, Errors> models;
  std::vector<Wait> waits;
};

/// In the order in which they are printed; the first is Banyan.
[[nodiscard]] const std::vector<std::string>& model_names();

struct Comparison {
  std::vector<std::pair<std::string, std::string>> constants;
  std::vector<TraceResult> traces;
  std::vector<ClassResult> classes;
  std::vector<std::pair<std::string, std::string>> refused;  ///< files that are no traces, and why
};

[[nodiscard]] Comparison compare(const std::vector<Trace>& traces, const config::Values& constants);
/// Whether Banyan beats max-min shares on a class, as a sentence.
[[nodiscard]] std::string verdict(const ClassResult& one);
[[nodiscard]] std::string to_table(const Comparison& comparison);
[[nodiscard]] std::string to_json(const Comparison& comparison);
/// Errors by class and by trace, and the waits of each class measured and simulated.
[[nodiscard]] std::vector<FilesFigure> figures_of(const Comparison& comparison);

}  // namespace banyan::study::silicon
