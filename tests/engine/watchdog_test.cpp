// Does the watchdog find a shortest cycle, and only where there is one?
#include "banyan/engine/watchdog.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace banyan::watchdog_test {
namespace {

using banyan::kNever;
using banyan::u64;
using banyan::engine::explain;
using banyan::engine::shortest_wait_cycle;
using banyan::engine::Wait;

Wait wait(u64 waiter, u64 resource, u64 packet = kNever) {
  return {waiter, resource, std::to_string(waiter) + " waits for " + std::to_string(resource), packet};
}

bool is_cycle(const std::vector<Wait>& cycle) {
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (cycle[i].resource != cycle[(i + 1) % cycle.size()].waiter) return false;
  }
  return true;
}

TEST(Watchdog, AChainIsNoCycle) {
  EXPECT_TRUE(shortest_wait_cycle({wait(1, 2), wait(2, 3), wait(3, 4)}).empty());
  EXPECT_TRUE(shortest_wait_cycle({}).empty());
}

TEST(Watchdog, TheShorterOfTwoCyclesIsFound) {
  const std::vector<Wait> waits{wait(1, 2),   wait(2, 3),   wait(3, 4),   wait(4, 1),   wait(9, 1),
                                wait(10, 11), wait(11, 12), wait(12, 10), wait(12, 50), wait(3, 10)};
  const std::vector<Wait> cycle = shortest_wait_cycle(waits);
  ASSERT_EQ(cycle.size(), 3U);
  EXPECT_TRUE(is_cycle(cycle));
  EXPECT_EQ(cycle.front().waiter, 10U);
}

TEST(Watchdog, AlternativesOfOneWaiterAreFollowed) {
  const std::vector<Wait> cycle = shortest_wait_cycle({wait(1, 7), wait(1, 2), wait(2, 8), wait(2, 1)});
  ASSERT_EQ(cycle.size(), 2U);
  EXPECT_TRUE(is_cycle(cycle));
}

TEST(Watchdog, AWaiterMayWaitForItself) { EXPECT_EQ(shortest_wait_cycle({wait(1, 2), wait(3, 3)}).size(), 1U); }

RC_GTEST_PROP(Watchdog, LengthAgreesWithFloydAndWarshall, ()) {
  const u64 nodes = *rc::gen::inRange<u64>(1, 10);
  std::vector<Wait> waits;
  constexpr u64 kFar = 1000;
  std::vector<std::vector<u64>> distance(nodes, std::vector<u64>(nodes, kFar));
  const u64 edges = *rc::gen::inRange<u64>(0, 2 * nodes);
  for (u64 i = 0; i < edges; ++i) {
    const u64 from = *rc::gen::inRange<u64>(0, nodes);
    const u64 to = *rc::gen::inRange<u64>(0, nodes);
    waits.push_back(wait(from, to));
    distance[from][to] = 1;
  }
  for (u64 k = 0; k < nodes; ++k) {
    for (u64 i = 0; i < nodes; ++i) {
      for (u64 j = 0; j < nodes; ++j) distance[i][j] = std::min(distance[i][j], distance[i][k] + distance[k][j]);
    }
  }
  u64 shortest = kFar;
  for (u64 i = 0; i < nodes; ++i) shortest = std::min(shortest, distance[i][i]);
  const std::vector<Wait> cycle = shortest_wait_cycle(waits);
  RC_ASSERT(cycle.size() == (shortest == kFar ? 0 : shortest));
  RC_ASSERT(is_cycle(cycle));
}

TEST(Watchdog, ExplanationHasOneLinePerWaitAndCountsPacketsOnce) {
  const std::string text = explain({wait(1, 2, 77), wait(2, 3, 77), wait(3, 1)}, 9);
  EXPECT_EQ(text, "2 packets wait on each other in a cycle:\n  1 waits for 2\n  2 waits for 3\n  3 waits for 1");
}

TEST(Watchdog, ExplanationSaysWhenThereIsNoCycle) {
  EXPECT_EQ(explain({}, 9), "nothing moves and 9 packets wait, but not on each other in a cycle");
}

}  // namespace
}  // namespace banyan::watchdog_test
