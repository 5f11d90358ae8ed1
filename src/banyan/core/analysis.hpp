// Seam 5: an analytical model predicts metrics of an experiment, so that theory lies beside simulation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "banyan/config/schema.hpp"
#include "banyan/core/routing.hpp"
#include "banyan/core/switching.hpp"
#include "banyan/core/topology.hpp"
#include "banyan/core/traffic.hpp"

namespace banyan::core {

/// A proven bound. A run beyond it, by more than three half widths of its interval, contradicts the theory where the
/// assumption of the bound holds.
///   upper, lower  of a steady state in which every demand is met in full: compared with runs that are steady for sure.
///                 Beyond saturation some demands may be met at the cost of others, and a mean over all of them passes
///                 the bound.
///   overload      an upper bound of what is accepted in the long run however unfairly demands are met: compared with
///                 saturated runs too.
enum class Bound : u8 { none, upper, lower, overload };

/// One predicted metric, under the name and in the unit that the simulation reports.
struct Prediction {
  std::string metric;
  double value = 0.0;
  std::string unit;
  bool saturated = false;  ///< the model has no steady state there; `value` is meaningless
  Bound bound = Bound::none;
  /// Standard deviation of that of which `value` is the mean, from one packet to the next: few packets may be of the
  /// near pairs by chance.
  double spread = 0.0;
};

/// What a model may look at: resolved components of the experiment.
struct AnalysisContext {
  const Topology* topology = nullptr;
  const config::Values* switching = nullptr;
  Capacity capacity;  ///< of the switch model's channels
  const config::Values* routing = nullptr;
  std::vector<const config::Values*> traffics;
  const Routing* router = nullptr;         ///< the routing function itself
  std::vector<const Traffic*> generators;  ///< the traffics themselves, at the begin of a replication
  u32 vcs = 1;                             ///< virtual channels of the switch model
  bool ways_apart = false;                 ///< SwitchRow::ways_apart
  bool held_back = false;                  ///< an admission holds packets back at their sources
  /// A flit per cycle goes from the queue of a terminal over its channel, and nowhere else: no adapter takes messages
  /// before, and the channel is none that costs nothing.
  bool serves_sources = true;
};

class Analysis {
 public:
  virtual ~Analysis() = default;
  [[nodiscard]] virtual std::vector<Prediction> predict() const = 0;
};

/// Registration row: `const core::AnalysisRow row_NAME` in `namespace banyan::analysis::NAME`. `make` throws
/// ConfigError when the model does not describe that experiment, naming what it needs.
struct AnalysisRow {
  config::ComponentInfo info;
  std::unique_ptr<Analysis> (*make)(const config::Values&, const AnalysisContext&) = nullptr;
};

}  // namespace banyan::core
