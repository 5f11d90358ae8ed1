// Several copies of one network side by side, among which the messages of every terminal are divided. Switch models see
// one larger network, and need to know nothing of it: each copy has terminals of its own.
#pragma once

#include <memory>

#include "banyan/core/routing.hpp"
#include "banyan/core/topology.hpp"
#include "banyan/core/traffic.hpp"

namespace banyan::api {

[[nodiscard]] std::unique_ptr<core::Topology> replicate(std::unique_ptr<core::Topology> one, u32 copies);

/// Routes in each copy as `one` does in the network of which they are copies. Has no way for worms of several
/// destinations (core::Routing::multicast_routes).
[[nodiscard]] std::unique_ptr<core::Routing> replicate(std::unique_ptr<core::Routing> one, u32 copies);

/// The messages of `one`, each in the copy that its service names (core::Service::subnetwork), or in a random one.
/// `index`: that of the traffic.
[[nodiscard]] std::unique_ptr<core::Traffic> divide(std::unique_ptr<core::Traffic> one, u32 copies, u32 index,
                                                    u64 seed);

}  // namespace banyan::api
