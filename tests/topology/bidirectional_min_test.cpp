// Do bidirectional multistage networks have the sizes of the literature, and their digits lead down to every host?
#include <gtest/gtest.h>

#include "topology/trees.hpp"

namespace banyan::test::bidirectional_min_test {
namespace {

std::unique_ptr<core::Topology> min(i64 hosts, i64 ports, const std::string& wiring) {
  return topology("bidirectional_min", {{"hosts", hosts}, {"ports", ports}, {"wiring", wiring}});
}

TEST(BidirectionalMin, HasTheSizesOfTheCongestionTreePaper) {
  for (const auto& [hosts, switches, stages] : {std::tuple<u32, u32, u32>{64, 48, 3}, {512, 640, 5}, {2048, 3072, 6}}) {
    for (const char* wiring : {"perfect_shuffle", "k_ary_n_tree"}) {
      const auto t = min(hosts, 8, wiring);
      EXPECT_EQ(t->graph().terminals(), hosts);
      EXPECT_EQ(t->graph().switches(), switches);
      EXPECT_EQ(t->graph().levels(), stages);
    }
  }
}

TEST(BidirectionalMin, DigitsLeadToEveryHost) {
  for (const char* wiring : {"perfect_shuffle", "k_ary_n_tree"}) {
    for (const auto& [hosts, ports] : {std::pair<i64, i64>{64, 8},
                                       {16, 8},
                                       {4, 8},
                                       {32, 8},
                                       {128, 8},
                                       {8, 8},
                                       {16, 4},
                                       {27, 6},
                                       {36, 12},
                                       {12, 12},
                                       {18, 12},
                                       {512, 8}}) {
      SCOPED_TRACE(testing::Message() << wiring << " of " << hosts << " hosts, " << ports << " ports");
      const auto t = min(hosts, ports, wiring);
      expect_tree(*t);
      expect_bidirectional(t->graph());
    }
  }
}

TEST(BidirectionalMin, TheTreeWiringOfAPowerIsAKAryNTree) {
  const auto stages = min(64, 8, "k_ary_n_tree");
  const auto tree = topology("fat_tree");
  ASSERT_EQ(stages->graph().channels().size(), tree->graph().channels().size());
  for (u32 c = 0; c < tree->graph().channels().size(); ++c) {
    EXPECT_EQ(stages->graph().channel(c).from, tree->graph().channel(c).from);
    EXPECT_EQ(stages->graph().channel(c).to, tree->graph().channel(c).to);
  }
}

TEST(BidirectionalMin, StagesAreJoinedByAPerfectShuffle) {
  // Up port u of switch s of a stage is position x = 4 s + u of 64; it leads to the position with its base-4 digits
  // rotated.
  const auto t = min(64, 8, "perfect_shuffle");
  for (u32 stage = 0; stage < 2; ++stage) {
    for (u32 x = 0; x < 64; ++x) {
      const u32 image = x * 4 % 64 + x / 16;
      const core::End& to = t->graph().channel(t->graph().channel_out_of(stage * 16 + x / 4, 4 + x % 4)).to;
      EXPECT_EQ(to, core::End::of_switch((stage + 1) * 16 + image / 4, image % 4));
    }
  }
}

TEST(BidirectionalMin, HostsThatAreNoPowerHaveRedundantPortsInTheHighestStage) {
  for (const char* wiring : {"perfect_shuffle", "k_ary_n_tree"}) {
    const auto t = min(512, 8, wiring);
    EXPECT_EQ(t->tree()->levels.back().port_times, 2U);
    for (std::size_t l = 0; l + 1 < 5; ++l) EXPECT_EQ(t->tree()->levels[l].port_times, 1U);
  }
}

TEST(BidirectionalMin, HostThirtyTwoSitsAtSwitchEight) {
  EXPECT_EQ(switch_of(min(64, 8, "perfect_shuffle")->graph(), 32), 8U);
}

TEST(BidirectionalMin, RefusesOtherNumbersOfHostsAndOddPorts) {
  EXPECT_NE(refusal([] { min(12, 8, "perfect_shuffle"); }).find("use 8 or 16"), std::string::npos);
  EXPECT_NE(refusal([] { min(48, 12, "perfect_shuffle"); }).find("use 36 or 72"), std::string::npos);
  EXPECT_NE(refusal([] { min(48, 8, "perfect_shuffle"); }).find("use 32 or 64"), std::string::npos)
      << refusal([] { min(48, 8, "perfect_shuffle"); });
  EXPECT_NE(refusal([] { min(64, 7, "perfect_shuffle"); }).find("use 6 or 8"), std::string::npos);
  EXPECT_NE(refusal([] { min(2, 8, "perfect_shuffle"); }).find("use 4 hosts"), std::string::npos);
}

}  // namespace
}  // namespace banyan::test::bidirectional_min_test
