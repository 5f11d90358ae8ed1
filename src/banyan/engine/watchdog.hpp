// Finds and explains deadlocks: packets that wait on each other in a cycle.
#pragma once

#include <string>
#include <vector>

#include "banyan/engine/population.hpp"

namespace banyan::engine {

/// A shortest cycle among the waits (waiter -> resource -> that resource's own waiters), empty when there is none.
[[nodiscard]] std::vector<Wait> shortest_wait_cycle(const std::vector<Wait>& waits);

/// The cycle in words, one line per wait (a worm waits at several places); says so when packets wait without a cycle.
[[nodiscard]] std::string explain(const std::vector<Wait>& cycle, std::size_t waiting);

}  // namespace banyan::engine
