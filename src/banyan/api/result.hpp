// What a run gives back.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "banyan/base/types.hpp"
#include "banyan/stats/metric.hpp"

namespace banyan::api {

/// How a run ended. `steady`: a steady state was measured; `saturated`: source queues grow without bound;
/// `deadlocked`: packets wait on each other in a cycle (`explanation` says which); `finished`: every counted message
/// of a finite traffic (sessions, batches) was delivered.
enum class Verdict { steady, saturated, deadlocked, finished };
[[nodiscard]] std::string to_string(Verdict verdict);

struct Result {
  std::string version;
  std::string compiler;
  u64 state_hash = 0;          ///< of final statistics and internal state; equal for any thread count
  std::string configuration;   ///< resolved, as canonical JSON
  u64 configuration_hash = 0;
  u64 seed = 0;
  Verdict verdict = Verdict::steady;
  std::string explanation;     ///< warm-up rule, why saturated, which deadlock
  std::vector<stats::Metric> metrics;
  std::vector<stats::Series> series;
  double cpu_seconds = 0.0;    ///< of all threads of the run
  u64 peak_bytes = 0;

  /// The metric, or nullptr.
  [[nodiscard]] const stats::Metric* find(const std::string& name) const;
  /// The metric; throws ConfigError that names the nearest when there is none.
  [[nodiscard]] const stats::Metric& at(const std::string& name) const;
};

/// One JSON object (README, "For scripts"): banyan, state_hash, configuration, verdict, metrics, cpu_seconds, peak_bytes.
[[nodiscard]] std::string to_json(const Result& result);
/// Inverse of to_json as far as metrics, verdict and configuration go (the store and tests use it).
[[nodiscard]] Result from_json(const std::string& text);
/// A readable table.
[[nodiscard]] std::string to_table(const Result& result);

}  // namespace banyan::api
