// Packets shorter than the turn of a virtual channel: what a channel cannot carry for want of virtual channels.
#pragma once

#include <string>

#include "banyan/api/network.hpp"

namespace banyan::api {

/// A sentence with the formula, what is accepted, and a remedy, when virtual channels turn too slowly for the load of
/// the experiment; empty when they do not, and when that cannot be known (traffic that is no steady stream). Networks
/// of up to 256 terminals are simulated for some thousand cycles, as they are, without the delays, and with more
/// virtual channels; of larger ones the most loaded channel is, between two switches.
[[nodiscard]] std::string vc_turn_note(const Experiment& experiment, const Network& network, const Traffics& traffics);

}  // namespace banyan::api
