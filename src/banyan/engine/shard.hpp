// One part of the network: its terminals, its populations, and the times at which they want to run.
#pragma once

#include <memory>
#include <vector>

#include "banyan/engine/population.hpp"
#include "banyan/engine/terminals.hpp"

namespace banyan::engine {

struct Shard {
  std::unique_ptr<Terminals> terminals;
  std::vector<std::unique_ptr<Population>> populations;
  std::vector<Tick> due;  ///< per population: the next tick at which it runs

  /// Runs everything that is due at `now`; returns the next tick at which something is.
  Tick run(Tick now) noexcept {
    Tick next = kNever;
    for (std::size_t i = 0; i < populations.size(); ++i) {
      if (due[i] <= now) due[i] = populations[i]->run(now);
      next = due[i] < next ? due[i] : next;
    }
    return next;
  }
};

}  // namespace banyan::engine
