// Does a run say what a disturbance of its traffic did to the throughput, and take times where a cycle has a length?
#include <gtest/gtest.h>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "support/rows.hpp"

namespace banyan::api::disturbance_test {
namespace {

const char* const kTree =
    "topology = { name = 'bidirectional_min', hosts = 16 }\nswitch = { name = 'cioq', queues = 'voqsw', speedup = 1 }\n"
    "routing = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
    "[[traffic]]\nname = 'congestion'\ndestinations = [5]\nshares = [0.5]\nstart = '20 us'\nduration = '20 us'\n"
    "normal_load = 0.5\n[run]\nduration = '80 us'\nwindow = '2 us'\n";

TEST(Disturbance, ThroughputBeforeDuringAndAfterAreMetrics) {
  const Result result = run(read_experiments_text(kTree, "tree", {}).points.front());
  // Eight normal sources send half of the rate.
  EXPECT_NEAR(result.at("throughput_before").mean, 4.0, 0.2);
  EXPECT_LE(result.at("lowest_throughput").mean, result.at("throughput_during").mean);
  EXPECT_GT(result.at("throughput_after").mean, 0.0);
  EXPECT_DOUBLE_EQ(result.at("cycle_length").mean, 1.0);
  EXPECT_EQ(result.at("simulated_cycles").mean, 80'000);
}

TEST(Disturbance, ARateMakesTimesOfCycles) {
  const Result result =
      run(read_experiments_text(kTree, "tree", {"switch.link=16 Gbps", "run.duration=40 us"}).points.front());
  EXPECT_DOUBLE_EQ(result.at("cycle_length").mean, 0.5);
  EXPECT_EQ(result.at("simulated_cycles").mean, 80'000);
}

TEST(Disturbance, ATimeThatIsNoWholeNumberOfCyclesIsRefused) {
  EXPECT_THROW(read_experiments_text(kTree, "tree", {"run.duration=1.5 ns"}), ConfigError);
}

TEST(Disturbance, WithoutARateTimesAreRefused) {
  const std::string refused = test::refusal([] {
    static_cast<void>(
        read_experiments_text("topology = 'mesh'\nswitch = 'vc_router'\nrouting = 'dimension_order'\n"
                              "traffic = 'uniform'\nrun = { measure = '10 us' }\n",
                              "mesh", {}));
  });
  EXPECT_NE(refused.find("cycles"), std::string::npos) << refused;
}

}  // namespace
}  // namespace banyan::api::disturbance_test
