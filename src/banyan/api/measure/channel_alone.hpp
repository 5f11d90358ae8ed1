// What the virtual channels of one channel carry where nothing but the routers at its ends limits them. It is measured:
// flits of several virtual channels take turns at the stages of a port, and fall into step with each other in ways that
// no formula of the stages tells.
#pragma once

#include <vector>

#include "banyan/config/schema.hpp"

namespace banyan::api {

/// What a channel is asked to carry.
struct ChannelLoad {
  std::vector<u32> packets;  ///< flits of each of some packets, drawn from with equal probability; not empty
  double load = 0.0;         ///< flits per cycle, at most 1
  double most = 1.0;         ///< flits per cycle that it carries as far as is known
  u32 latency = 1;           ///< cycles
};

/// What two switches of the model `switching` with `vcs` virtual channels and long buffers carry to each other in 6,000
/// cycles, of what a channel with `most` flits per cycle and no virtual channels carries of the same arrivals; about 1:
/// all of it. Throws ConfigError where the model cannot be built so.
[[nodiscard]] double share_carried_alone(const config::Values& switching, u32 vcs, const ChannelLoad& of);

}  // namespace banyan::api
