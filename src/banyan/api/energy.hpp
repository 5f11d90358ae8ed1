// Energy and area: what the hardware did, times a table of costs (docs/how-to/count-energy.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/core/topology.hpp"
#include "banyan/engine/population.hpp"

namespace banyan::api {

/// What one event, one part in every cycle, or one part's area costs.
struct Cost {
  std::string of;  ///< "buffer_reads", "inputs", "crosspoints" ...
  double cost = 0.0;
  std::string source;  ///< where the figure is from
};

struct CostTable {
  std::string name;
  std::string unit;       ///< of energy
  std::string area_unit;  ///< empty: the table has no areas
  std::vector<Cost> events;
  std::vector<Cost> cycles;
  std::vector<Cost> areas;
};

/// Throws ConfigError with the place: a key that it does not know, a cost that is no number from 0, one without source.
[[nodiscard]] CostTable read_costs(const std::string& file);

/// The table of run.energy; nothing where there is none.
[[nodiscard]] std::optional<CostTable> costs_of(const Experiment& experiment);

/// What of the table counts nothing in a switch of that kind, in a sentence; "": nothing.
[[nodiscard]] std::string energy_note(const CostTable& costs, const engine::Activity& activity);

/// Adds the metrics and the table "energy". `cycles` and `flits`: simulated and delivered in all;
/// `flit_bytes`: 0 where a flit has no size.
void add_energy(Result& result, const CostTable& costs, const core::Graph& graph, const engine::Activity& activity,
                u64 cycles, u64 flits, u64 flit_bytes);

}  // namespace banyan::api
