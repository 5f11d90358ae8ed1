// Is every multicast that cannot be refused with one message that says what would do?
#include <gtest/gtest.h>

#include <string>

#include "api/runs.hpp"
#include "banyan/base/error.hpp"

namespace banyan::api::worm_refusals_test {
namespace {

const std::string kTree = "topology = { name = \"bidirectional_min\", hosts = 16, ports = 8 }\n";
const std::string kMesh = "topology = { name = \"mesh\", size = [4, 4] }\n";
const std::string kTorus = "topology = { name = \"torus\", size = [4, 4] }\n";

/// Cause and remedy, or "" when it runs.
std::string refusal(const std::string& topology, const std::string& routing, const std::string& switch_,
                    const Overrides& overrides = {}) {
  const std::string text = topology + "routing = " + routing + "\nswitch = \"" + switch_ +
                           "\"\ntraffic = { name = \"multicast\", load = 0.1, degree = 4, size = 64 }\n"
                           "run = { warmup = 100, measure = 400 }\n";
  try {
    run_of(text, overrides);
  } catch (const ConfigError& error) { return error.cause() + ": " + error.remedy(); }
  return "";
}

class WormRefusals : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Switches, WormRefusals, testing::Values("central_buffer", "input_buffer"));

TEST_P(WormRefusals, ARoutingWithoutACommonAncestorIsNamedWithThoseThatHaveOne) {
  const std::string expected =
      "the routing knows no common ancestor of several terminals from which a worm could replicate: use the routing "
      "destination_tag, nearest_common_ancestor or up_down, whichever fits the topology";
  EXPECT_EQ(refusal(kMesh, "\"dimension_order\"", GetParam()), expected);
  EXPECT_EQ(refusal(kTorus, "{ name = \"dimension_order\", datelines = false }", GetParam()), expected);
  EXPECT_EQ(refusal(kTorus, "\"up_down\"", GetParam()), "") << "what the message says, does";
  // These switches have no virtual channels to give.
  EXPECT_EQ(refusal(kTorus, "\"dimension_order\"", GetParam()),
            "dimension_order with datelines needs 2 virtual channels on a torus, the switch has 1: use the switch "
            "circuit or vc_router with vcs = 2, or set datelines = false and accept deadlocks");
  EXPECT_EQ(refusal(kTorus, "\"nearest_common_ancestor\"", GetParam()),
            "nearest_common_ancestor needs a fat tree: use the topology bidirectional_min, fat_tree or xgft");
}

TEST_P(WormRefusals, SetsAndHeadersThatDoNotFitAreRefusedWithTheSizeThatWould) {
  const auto tree = [&](const Overrides& overrides) {
    return refusal(kTree, "\"nearest_common_ancestor\"", GetParam(), overrides);
  };
  EXPECT_EQ(tree({"traffic.degree=15"}), "");
  EXPECT_EQ(tree({"traffic.degree=16"}), "a multicast to 16 of the other 15 terminals: use a degree of at most 15");
  EXPECT_EQ(tree({"traffic.size=1"}),
            "the header of a worm for 16 terminals has 2 flits, the whole message 1: use messages of at least 2 flits");
  EXPECT_EQ(tree({"topology.hosts=1024", "traffic.size=256", "switch.fifo=64"}),
            "a header for 1024 terminals has 65 flits in chunks of 8, and the FIFO 64: use a FIFO of at least 72 "
            "flits");
}

TEST(WormSpace, PacketsBeyondTheGuaranteedSpaceAreRefusedWithTheSpaceTheyNeed) {
  const Overrides large{"traffic.size=4096"};
  EXPECT_EQ(refusal(kTree, "\"nearest_common_ancestor\"", "central_buffer", large),
            "a replicated packet of 4096 flits needs 528 chunks with those that are held back for its outputs, and the "
            "switch has 256: use at least 528 chunks, or shorter packets");
  EXPECT_EQ(refusal(kTree, "\"nearest_common_ancestor\"", "input_buffer", large),
            "a replicated packet of 4096 flits does not fit a FIFO of 320: use a FIFO of at least 4096 flits, or "
            "shorter packets");
}

}  // namespace
}  // namespace banyan::api::worm_refusals_test
