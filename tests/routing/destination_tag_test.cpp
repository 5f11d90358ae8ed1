// Does every packet arrive, over one path or over n disjoint ones, and around the faults?
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "topology/networks.hpp"

namespace banyan {
namespace {

using namespace test;

void expect_all_pairs_arrive(const core::Topology& topology, const core::Routing& routing, u32 word) {
  const u32 terminals = topology.graph().terminals();
  const std::size_t stages = topology.multistage()->digit_of_stage.size();
  for (u32 s = 0; s < terminals; ++s) {
    for (u32 d = 0; d < terminals; ++d) {
      const Path path = path_of(topology, routing, s, d, word);
      ASSERT_TRUE(path.arrived) << s << " to " << d;
      ASSERT_EQ(path.switches.size(), stages);
    }
  }
}

TEST(DestinationTag, EveryPairArrivesOnEveryWiringAndSize) {
  for (const auto& [terminals, radix] : all_sizes()) {
    for (const std::string& wiring : all_wirings()) {
      SCOPED_TRACE(wiring + " " + std::to_string(terminals) + " " + std::to_string(radix));
      const TopologyPointer topology = cube(terminals, radix, wiring);
      expect_all_pairs_arrive(*topology, *routing_on(*topology, routing::row_destination_tag), 0);
    }
  }
}

}  // namespace
}  // namespace banyan
