// What waits for what, as the watchdog tells it.
#pragma once

#include <string>
#include <tuple>

#include "banyan/base/archive.hpp"
#include "banyan/base/types.hpp"

namespace banyan::engine {

/// One thing that waits, for the watchdog: `waiter` holds its own resource and waits for `resource`'s holder.
struct Wait {
  u64 waiter = 0;       ///< id of the resource that is held (any numbering that is unique in the network)
  u64 resource = 0;     ///< id of the resource that is waited for
  std::string text;     ///< "packet 17 from 3 to 9 in stage 2 box 1 input 0 waits for ..."
  u64 packet = kNever;  ///< identity of the packet, when one packet may wait at several places

  void archive(Archive& a) { a(waiter, resource, text, packet); }
};
/// An order that does not depend on the cut into shards.
[[nodiscard]] inline bool comes_before(const Wait& a, const Wait& b) {
  return std::tie(a.waiter, a.resource, a.packet, a.text) < std::tie(b.waiter, b.resource, b.packet, b.text);
}

}  // namespace banyan::engine
