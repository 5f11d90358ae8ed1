// Packets shorter than the turn of a virtual channel: what a channel cannot carry for want of virtual channels.
#pragma once

#include <string>

#include "banyan/api/network.hpp"

namespace banyan::api {

/// A sentence with the formula and a remedy when the virtual channels of some channel turn too slowly for the load of
/// the experiment, by the mean paths of its routing function; empty when they do not, and when that cannot be known
/// (traffic that is no steady stream). Of networks with too many paths only the terminals' channels are looked at.
[[nodiscard]] std::string vc_turn_note(const Experiment& experiment, const Network& network, const Traffics& traffics);

}  // namespace banyan::api
