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

/// Asks every model of the experiment. Throws ConfigError when one does not describe it.
[[nodiscard]] std::vector<Predictions> predict(const Experiment& experiment, const Network& network);

/// Adds "METRIC@MODEL" behind each measured metric, says where a model has no steady state, and warns of a run that
/// contradicts a proven bound.
void add_predictions(Result& result, const std::vector<Predictions>& predictions);

}  // namespace banyan::api
