// Seam 5: an analytical model predicts metrics of an experiment, so that theory lies beside simulation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "banyan/config/schema.hpp"
#include "banyan/core/topology.hpp"

namespace banyan::core {

/// One predicted metric, under the name and in the unit that the simulation reports.
struct Prediction {
  std::string metric;
  double value = 0.0;
  std::string unit;
  bool saturated = false;  ///< the model has no steady state there; `value` is meaningless
  bool bound = false;      ///< `value` is a proven bound: a run that exceeds it contradicts the theory
};

/// What a model may look at: resolved components of the experiment.
struct AnalysisContext {
  const Topology* topology = nullptr;
  const config::Values* switching = nullptr;
  const config::Values* routing = nullptr;
  std::vector<const config::Values*> traffics;
};

class Analysis {
 public:
  virtual ~Analysis() = default;
  [[nodiscard]] virtual std::vector<Prediction> predict() const = 0;
};

/// Registration row: `const core::AnalysisRow row_NAME` in `namespace banyan::analysis`.
struct AnalysisRow {
  config::ComponentInfo info;
  std::unique_ptr<Analysis> (*make)(const config::Values&, const AnalysisContext&) = nullptr;
};

}  // namespace banyan::core
