// Do collectives end, with every message, in hardware and in software, and later in software?
#include <gtest/gtest.h>

#include "banyan/api/experiment.hpp"

namespace banyan::multicast_collective_test {
namespace {

using namespace banyan;

api::Result run(const std::string& operation, const std::string& how, int iterations = 3, int hosts = 16) {
  const std::string text =
      "topology = { name = 'bidirectional_min', hosts = " + std::to_string(hosts) +
      ", ports = 8 }\nswitch = 'central_buffer'\n"
      "routing = 'nearest_common_ancestor'\ntraffic = { name = 'multicast_collective', operation = '" +
      operation + "', implementation = '" + how + "', iterations = " + std::to_string(iterations) +
      " }\nrun = { sessions = 1, audit = 'full' }\n";
  return api::run(api::read_experiments_text(text, "collective", {}).points.front(), {});
}

TEST(MulticastCollective, EveryOperationEndsInBothWaysAndHardwareIsNotLater) {
  for (const char* operation : {"broadcast", "reduce", "barrier", "all_reduce", "all_gather"}) {
    const api::Result hard = run(operation, "hardware");
    const api::Result soft = run(operation, "software");
    EXPECT_EQ(hard.verdict, api::Verdict::finished) << operation << hard.explanation;
    EXPECT_EQ(soft.verdict, api::Verdict::finished) << operation << soft.explanation;
    EXPECT_LE(hard.at("completion_time").mean, soft.at("completion_time").mean) << operation;
  }
}

TEST(MulticastCollective, ABroadcastInSoftwareTakesAPhasePerDoubling) {
  // Chain of 16 from node 0: 8 and 4 lie beyond the first switch, 2 and 1 below it.
  EXPECT_EQ(run("broadcast", "software", 1).at("completion_time").mean, 2 * (18 + 64) + 2 * (6 + 64));
}

// The set of all others is one worm per stage: with the ports of all stages but those of the switches of the origin.
TEST(MulticastCollective, MultiportHeadersSpreadInWormsThatTerminalsHelpToSend) {
  for (const int hosts : {16, 64}) {
    for (const char* operation : {"broadcast", "barrier", "all_reduce", "all_gather"}) {
      const api::Result ports = run(operation, "hardware', encoding = 'multiport", 2, hosts);
      const api::Result soft = run(operation, "software", 2, hosts);
      EXPECT_EQ(ports.verdict, api::Verdict::finished) << operation << ports.explanation;
      EXPECT_EQ(ports.at("delivered_packets").mean, soft.at("delivered_packets").mean) << operation;
      if (std::string(operation) == "broadcast") {
        EXPECT_LT(ports.at("completion_time").mean, soft.at("completion_time").mean) << hosts;
      }
    }
  }
}

// Nobody else sends or receives, and every message of the tree is there.
TEST(MulticastCollective, SomeTerminalsMayTakePart) {
  for (const char* operation : {"broadcast", "reduce", "barrier", "all_reduce", "all_gather"}) {
    for (const char* how : {"hardware", "software", "hardware', encoding = 'multiport"}) {
      if (std::string(operation) == "reduce" && std::string(how).size() > 8) continue;
      const api::Result result =
          run(operation, std::string(how) + "', members = [3, 14, 5, 9, 4], root = 5, chain = 'tree");
      EXPECT_EQ(result.verdict, api::Verdict::finished) << operation << how << result.explanation;
      const double messages =
          std::string(operation) == "all_gather" ? 20 : 4 * (operation[0] == 'r' || operation[1] == 'r' ? 1 : 2);
      EXPECT_EQ(result.at("delivered_packets").mean, 3 * messages) << operation << how;
    }
  }
}

std::string refused(const std::string& operation, const std::string& how, const std::string& topology) {
  const std::string text = "topology = " + topology + "\nswitch = 'central_buffer'\nrouting = 'up_down'\n" +
                           "traffic = { name = 'multicast_collective', operation = '" + operation +
                           "', implementation = '" + how + "', encoding = 'multiport' }\nrun = { sessions = 1 }\n";
  try {
    api::run(api::read_experiments_text(text, "collective", {}).points.front(), {});
  } catch (const ConfigError& error) { return error.cause() + ": " + error.remedy(); }
  return "";
}
TEST(MulticastCollective, RefusesMultiportHeadersWhereNothingHasOne) {
  const std::string tree = "{ name = 'bidirectional_min', hosts = 16, ports = 8 }";
  EXPECT_EQ(refused("barrier", "software", tree),
            "messages with one destination have no header of several: remove it, or use implementation = \"hardware\"");
  EXPECT_EQ(refused("reduce", "hardware", tree),
            "a reduce spreads nothing: no message has several destinations: remove it, or use operation = "
            "\"all_reduce\"");
  EXPECT_EQ(refused("barrier", "hardware", "{ name = 'mesh', size = [4, 4] }"),
            "multiport headers need a fat tree or a multistage network: use encoding = \"bit_string\"");
}

}  // namespace
}  // namespace banyan::multicast_collective_test
