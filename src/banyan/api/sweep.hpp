// All points of an experiment set, in parallel.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "banyan/api/experiment.hpp"

namespace banyan::api {

/// How far a sweep is, for people and for those who watch several of them.
struct SweepStatus {
  std::size_t finished = 0;  ///< points
  std::size_t points = 0;
  double seconds_left = 0.0;  ///< on this sweep's threads; a prediction
  bool grounded = false;      ///< whether the prediction rests on a point that is done
  std::string at;             ///< the point that has run for longest: "load = 0.3, buffer = 4"; "" without axes
};

/// "load = 0.3, buffer = 4"
[[nodiscard]] std::string axes_text(const Experiment& point);

struct SweepOptions {
  u32 threads = 1;    ///< points that run at the same time; threads left over go to the points
  Progress progress;  ///< in thousandths of a point; called from one thread at a time
  std::function<void(const SweepStatus&)> status;  ///< before every `progress`, from one thread at a time
  const bool* interrupted = nullptr;               ///< polled; true stops with Interrupted
  /// Points that are done already, of this sweep's axes, and their CPU seconds: what others will cost is told from
  /// them.
  std::vector<std::pair<Experiment, double>> known;
  /// Called with every finished point, in the order of finishing, from one thread at a time. May be empty.
  std::function<void(std::size_t point, const Result& result)> finished;
};

/// Checks every point, then runs them, those that are likely to take longest first, so that no thread is left alone
/// with one at the end. Results are in the order of the points and do not depend on `threads`; of several errors the
/// one of the first point is thrown. Throws ConfigError, InvariantError, Interrupted.
[[nodiscard]] std::vector<Result> sweep(const ExperimentSet& set, const SweepOptions& options = {});

}  // namespace banyan::api
