// Predictions of analytical models, as metrics beside those that were measured.
#pragma once

#include <string>
#include <vector>

#include "banyan/api/network.hpp"
#include "banyan/core/analysis.hpp"

namespace banyan::api {

/// What one model says about an experiment.
struct Predictions {
  std::string model;
  std::vector<core::Prediction> list;
};

/// What models may look at. `traffics` are set to the begin of a replication.
[[nodiscard]] core::AnalysisContext analysis_context(const Experiment& experiment, const Network& network,
                                                     const Traffics& traffics);

/// Asks every model of the experiment. Throws ConfigError when one does not describe it.
[[nodiscard]] std::vector<Predictions> predict(const Experiment& experiment, const Network& network);

/// What every model of the registry proves of this experiment, by the defaults of its parameters: predictions that are
/// bounds. Models that do not describe the experiment are left out.
[[nodiscard]] std::vector<Predictions> proven_bounds(const Experiment& experiment, const Network& network);

/// run() on a network that is built already, with what models say of it: several runs share both, whatever their
/// [run] is but for its seed. Throws ConfigError, InvariantError, Interrupted.
[[nodiscard]] Result run_on(const Experiment& experiment, const Network& network,
                            const std::vector<Predictions>& predictions, const RunOptions& options = {});

/// Adds "METRIC@MODEL" behind each measured metric, says where a model has no steady state, and warns of a run that
/// contradicts a proven bound.
void add_predictions(Result& result, const std::vector<Predictions>& predictions);

}  // namespace banyan::api
