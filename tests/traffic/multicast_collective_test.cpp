// Do collectives end, with every message, in hardware and in software, and later in software?
#include <gtest/gtest.h>

#include "banyan/api/experiment.hpp"

namespace banyan::multicast_collective_test {
namespace {

using namespace banyan;

api::Result run(const std::string& operation, const std::string& how, int iterations = 3) {
  const std::string text =
      "topology = { name = 'bidirectional_min', hosts = 16, ports = 8 }\nswitch = 'central_buffer'\n"
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

}  // namespace
}  // namespace banyan::multicast_collective_test
