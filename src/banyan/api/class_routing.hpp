// Messages whose traffics keep to some of the virtual channels: every class of them is routed by a routing function of
// its own, which knows of no others.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "banyan/core/routing.hpp"
#include "banyan/core/traffic.hpp"

namespace banyan::api {

/// `services`: [Packet::vc_class]. `make` builds the routing function for a switch of so many virtual channels. Where
/// every class uses all of the `vcs`, it is that function itself.
[[nodiscard]] std::unique_ptr<core::Routing> route_classes(
    const std::vector<core::Service>& services, u32 vcs,
    const std::function<std::unique_ptr<core::Routing>(u32 vcs)>& make);

}  // namespace banyan::api
