// All points of an experiment set, in parallel.
#pragma once

#include <vector>

#include "banyan/api/experiment.hpp"

namespace banyan::api {

struct SweepOptions {
  u32 threads = 1;                    ///< points that run at the same time; threads left over go to the points
  Progress progress;                  ///< in thousandths of a point; called from one thread at a time
  const bool* interrupted = nullptr;  ///< polled; true stops with Interrupted
  /// Called with every finished point, in the order of finishing, from one thread at a time. May be empty.
  std::function<void(std::size_t point, const Result& result)> finished;
};

/// Checks every point, then runs them. Results are in the order of the points and do not depend on `threads`; of
/// several errors the one of the first point is thrown. Throws ConfigError, InvariantError, Interrupted.
[[nodiscard]] std::vector<Result> sweep(const ExperimentSet& set, const SweepOptions& options = {});

}  // namespace banyan::api
