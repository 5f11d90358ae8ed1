// What is different between two runs of the same network, and whether chance could have done it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "banyan/api/result.hpp"
#include "banyan/stats/interval.hpp"

namespace banyan::api {

/// A metric that both runs report: B - A; without an interval where one of them has none.
struct MetricDifference {
  std::string metric;
  std::string unit;
  double a = 0.0;
  double b = 0.0;
  stats::Difference difference;
  bool counter = false;  ///< one value of each run, such as the completion of jobs or a percentile
};

struct Comparison {
  Verdict a = Verdict::steady;
  Verdict b = Verdict::steady;
  bool a_certain = true;
  bool b_certain = true;
  std::string method;  ///< how the intervals were made, or that there are none, for people
  std::string units;   ///< "": a cycle and a flit are worth the same in both; else what was done about it, for people
  std::vector<MetricDifference> metrics;
  std::vector<std::string> only_a;  ///< what A alone reports, such as the latency of a run that B saturated in
  std::vector<std::string> only_b;
};

/// Pairs the sessions or windows of both runs where they share their seed (common random numbers), else takes them as
/// independent (Welch). Where a cycle or a flit is not worth the same in both, metrics are compared in ns, B and GB/s.
/// Throws ConfigError that names what differs when the networks do.
[[nodiscard]] Comparison compare(const Result& a, const Result& b);

struct RunsComparison {
  std::vector<std::vector<std::pair<std::string, std::string>>> axes;  ///< [point]
  std::vector<Comparison> points;
  /// Over all points: the mean of the differences. Points of one seed depend on each other, so that the mean of their
  /// half widths is taken, which is right for any dependence and otherwise too wide.
  std::vector<MetricDifference> metrics;
  std::vector<std::string> partial;  ///< metrics that one side alone reports at some point: not in `metrics`
};

/// Two single runs, or the same points of two sweeps, matched by their axes. Throws ConfigError that names a point
/// that only one of them has.
[[nodiscard]] RunsComparison compare(const Runs& a, const Runs& b);

/// "B's packet_latency is 4.1 % +- 0.6 % lower", "B's accepted_load is equal within 0.3 %".
[[nodiscard]] std::string sentence(const MetricDifference& difference);
/// Who was compared, by which method, and for each point a sentence per metric with an interval and a table of those
/// without; chosen metrics alone when there are some.
/// Throws ConfigError when a chosen metric was not compared.
[[nodiscard]] std::string to_text(const RunsComparison& comparison, const Runs& a, const Runs& b,
                                  const std::vector<std::string>& chosen = {});
/// {"metrics": {NAME: {"difference", "half_width", "relative", ...}}, "points": [...]}.
[[nodiscard]] std::string to_json(const RunsComparison& comparison, const std::vector<std::string>& chosen = {});

}  // namespace banyan::api
