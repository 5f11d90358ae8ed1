// Do the buffers of vc_router hold what was put into them, whether all their places exist or some are lent?
#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/switching/vc_router/flit_rings.hpp"

namespace banyan::vc_router_flit_rings_test {
namespace {

using namespace switching::parts;

BufferedFlit flit_of(core::PacketId packet) {
  core::Flit flit;
  flit.packet = packet;
  flit.flags = core::kHead | core::kTail;
  return BufferedFlit::pack(flit);
}

/// Random puts and takes, more of these and more of those by turns, beside queues of the standard library.
template <class Places>
void expect_queues(u32 places) {
  constexpr u32 kGroups = 2;
  constexpr u32 kRings = 5;
  FlitRingsOf<Places> rings(kGroups, kRings, places);
  std::vector<RingStateOf<u16>> states(kGroups * kRings);
  std::vector<std::deque<core::PacketId>> queues(states.size());
  u64 word = places;
  for (u32 n = 0; n < 20000; ++n) {
    word = mix64(word + 1);
    const u32 number = static_cast<u32>(word % states.size());
    const u32 group = number / kRings;
    const u32 ring = number % kRings;
    std::deque<core::PacketId>& queue = queues[number];
    const bool put = (word >> 32U) % 4 < (n / 500 % 2 == 0 ? 3U : 1U);
    if (put && queue.size() < places) {
      rings.push(group, ring, states[number], flit_of(n));
      queue.push_back(n);
    } else if (!put && !queue.empty()) {
      ASSERT_EQ(rings.pop(group, ring, states[number]).packet(), queue.front());
      queue.pop_front();
    }
    ASSERT_EQ(states[number].count, queue.size());
    for (u32 i = 0; i < queue.size(); ++i) ASSERT_EQ(rings.at(group, ring, states[number], i).packet(), queue[i]);
  }
}

TEST(FlitRings, AreQueues) {
  for (const u32 places : {1U, 2U, 3U, 7U, 8U, 9U, 40U}) {
    SCOPED_TRACE(places);
    expect_queues<AllPlaces>(places);
    expect_queues<LentPlaces>(places);
  }
}

TEST(FlitRings, GiveTheirGroupBackWhenTheyBeginAnew) {
  FlitRingsOf<LentPlaces> rings(1, 3, 8);
  RingStateOf<u16> state;
  for (u32 k = 0; k < LentPlaces::kFirst; ++k) rings.push(0, 1, state, flit_of(k));
  EXPECT_FALSE(rings.cells().has_group(1));
  rings.push(0, 1, state, flit_of(9));
  EXPECT_TRUE(rings.cells().has_group(1));
  while (state.count != 0) static_cast<void>(rings.pop(0, 1, state));
  rings.push(0, 1, state, flit_of(10));
  EXPECT_FALSE(rings.cells().has_group(1));
  EXPECT_EQ(rings.front(0, 1, state).packet(), 10U);
}

}  // namespace
}  // namespace banyan::vc_router_flit_rings_test
