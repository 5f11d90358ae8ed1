// What a run gives back.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "banyan/base/types.hpp"
#include "banyan/stats/metric.hpp"
#include "banyan/stats/packed_congestion.hpp"
#include "banyan/stats/sum_count.hpp"

namespace banyan::api {

/// How a run ended. `steady`: a steady state was measured; `saturated`: source queues grow without bound;
/// `deadlocked`: packets wait on each other in a cycle (`explanation` says which); `finished`: every counted message
/// of a finite traffic (sessions, batches) was delivered.
enum class Verdict { steady, saturated, deadlocked, finished };
[[nodiscard]] std::string to_string(Verdict verdict);
/// "saturated", "steady (uncertain)".
[[nodiscard]] std::string verdict_text(Verdict verdict, bool certain);

/// What a mean is made of, so that two runs can be compared in pairs: one sum and count per session, or per window of
/// time from cycle 0 on.
struct Groups {
  std::string metric;
  std::vector<stats::SumCount> sums;
};

/// Values in buckets, ascending; low and high are both inclusive.
struct Histogram {
  struct Bucket {
    u64 low = 0;
    u64 high = 0;
    u64 count = 0;
  };
  std::string name;
  std::string unit;
  std::vector<Bucket> buckets;
};

/// What a run wrote down on request: rows of cells under named columns.
struct Table {
  using Cell = std::variant<u64, double, std::string>;
  std::string name;
  std::vector<std::string> columns;  ///< with the unit in brackets where there is one
  std::vector<std::vector<Cell>> rows;
};
[[nodiscard]] std::string to_text(const Table::Cell& cell);
/// A value as tables print it: a whole number in full, any other with six digits, or those before its point when they
/// are more.
[[nodiscard]] std::string number_text(double value);

/// The state on the way: of the machine after `at` cycles of a steady run, or after session number `at`.
struct Checkpoint {
  u64 at = 0;
  u64 hash = 0;
  bool operator==(const Checkpoint&) const = default;
};

struct Profile;

/// Between the name of a metric and that of the model that predicts it: "packet_latency@circuit_torus".
inline constexpr char kPredictedBy = '@';

struct Result {
  std::string version;
  std::string compiler;
  u64 state_hash = 0;         ///< of final statistics and internal state; equal for any thread count
  std::string configuration;  ///< resolved, as canonical JSON
  u64 configuration_hash = 0;
  u64 seed = 0;
  Verdict verdict = Verdict::steady;
  bool certain = true;  ///< false: `verdict` is the likelier one, and `explanation` names the rules that were not met
  std::string explanation;  ///< warm-up rule, why saturated, which deadlock
  std::string warning;      ///< what the user should know at once; "": nothing
  std::vector<stats::Metric> metrics;
  std::vector<stats::Series> series;
  std::vector<Histogram> histograms;
  std::vector<Table> tables;  ///< channels, flows and watched events, when they were asked for
  std::shared_ptr<const stats::PackedCongestion> trees;  ///< nullptr unless run.trees; kept by the store
  std::string jobs;  ///< what each job has shown, the JSON array of docs/workload/jobs.md; "" where there are none
  std::vector<Groups> groups;  ///< of metrics with an interval; kept by the store and in the JSON
  double group_cycles = 0.0;   ///< length of a group; 0: a group is a session
  u64 group_cut = 0;           ///< groups at the front that are warm-up
  std::vector<Checkpoint> checkpoints;
  double cpu_seconds = 0.0;  ///< of all threads of the run
  u64 peak_bytes = 0;
  std::shared_ptr<const Profile> profile;  ///< nullptr unless RunOptions::profile; not kept by the store
  std::string fewer_threads;  ///< why not as many threads stepped as were asked for; not kept beside the run

  /// The metric, or nullptr.
  [[nodiscard]] const stats::Metric* find(const std::string& name) const;
  /// The metric; throws ConfigError that names the nearest when there is none.
  [[nodiscard]] const stats::Metric& at(const std::string& name) const;
};

/// Counter of results whose sessions are equal by construction: its means are exact and have no interval.
inline constexpr const char* kDeterministic = "deterministic";

/// One JSON object (README, "For scripts"): banyan, state_hash, configuration, verdict, metrics, cpu_seconds,
/// peak_bytes; profile where there is one.
[[nodiscard]] std::string to_json(const Result& result);
/// Inverse of to_json without tables and profile: all that comparing, verifying and plotting need.
[[nodiscard]] Result from_json(const std::string& text);
/// A readable table; of the tables on request what fits a screen, and no profile.
[[nodiscard]] std::string to_table(const Result& result);

/// A run, or the finished points of a sweep.
struct Runs {
  std::string name;  ///< for messages
  std::vector<std::string> axis_names;
  std::vector<std::vector<std::pair<std::string, std::string>>> axes;  ///< [point]: (axis, value)
  std::vector<Result> results;
  std::vector<std::string> printed;  ///< [point]: the JSON that it was read from; empty when they come from a store
};

}  // namespace banyan::api
