// A look at the first cycles of an experiment, with and without something: the same messages at the same times.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "banyan/api/experiment.hpp"

namespace banyan::api {

/// Parameters of the switch and other values for them.
using SwitchChanges = std::vector<std::pair<std::string, config::Value>>;

/// The cycles that a short run counts, behind a fifth as many that fill the network.
struct ShortRun {
  Tick cycles = 0;

  /// The cycles before those that count.
  [[nodiscard]] Tick fill() const { return cycles / 5; }
  [[nodiscard]] Tick end() const { return fill() + cycles; }

  /// So many that a run takes some hundredths of a second, and no more than the experiment itself, down to a thousand;
  /// 0: networks of so many terminals take longer.
  [[nodiscard]] static ShortRun of(u32 terminals, Tick planned);
};

/// Flits per cycle and terminal that arrive in a short run. Throws ConfigError where the changes cannot be built.
[[nodiscard]] double accepted(const Experiment& experiment, const SwitchChanges& changes, ShortRun run);

}  // namespace banyan::api
