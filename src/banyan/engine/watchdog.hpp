// Finds and explains deadlocks: packets that wait on each other in a cycle.
#pragma once

#include <string>
#include <vector>

#include "banyan/core/topology.hpp"
#include "banyan/engine/population.hpp"

namespace banyan::engine {

/// A shortest cycle among the waits (waiter -> resource -> that resource's own waiters), empty when there is none.
[[nodiscard]] std::vector<Wait> shortest_wait_cycle(const std::vector<Wait>& waits);

/// "input 2 vc 1 of switch (3,1)"; a port by its output.
[[nodiscard]] std::string place(const Resource& resource, const core::Topology& topology);
/// "packet 17->3 in ... waits for a credit of output ...".
[[nodiscard]] std::string describe(const Blocked& blocked, const core::Topology& topology);

/// The cycle in words, one line per wait (a worm waits at several places); says so when packets wait without a cycle.
[[nodiscard]] std::string explain(const std::vector<Wait>& cycle, std::size_t waiting);

}  // namespace banyan::engine
