// Parameters that are given and mean nothing are told with their place, unless another point makes use of them.
#include "banyan/api/idle.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace banyan::idle_parameters_test {
namespace {

using Notes = std::vector<std::string>;

Notes notes(const std::string& text, const api::Overrides& overrides = {}) {
  return api::idle_parameters(api::read_experiments_text(text, "x.toml", overrides).points);
}

const std::string kRest = "topology = 'fat_tree'\ntraffic = 'uniform'\n";
const std::string kCioq = kRest + "switch = { name = 'cioq', queues = 'voqsw', saqs = 4 }\n";

TEST(IdleParameters, AreToldWithTheirPlaceAndWhatTheyNeed) {
  EXPECT_EQ(
      notes(kCioq),
      Notes{"x.toml:3:52: switch.saqs: 4 changes nothing with queues = voqsw; it means something only with queues "
            "= recn_basic or recn_enhanced"});
  EXPECT_EQ(
      notes(kRest + "switch = 'cioq'\n", {"switch.pause.xoff=4000"}),
      Notes{"command line: switch.pause.xoff: 4000 changes nothing with flow_control = credits; it means something "
            "only with flow_control = pause"});
  EXPECT_EQ(
      notes(kRest + "switch = 'vc_router'\n", {"mark.probability=0.5"}),
      Notes{"command line: switch.mark.probability: 0.5 changes nothing with mark.high = 0; it means something only "
            "with mark.high"});
  EXPECT_EQ(notes(kRest + "switch = 'vc_router'\n", {"topology.failure_seed=7"}),
            Notes{"command line: topology.failure_seed: 7 changes nothing with random_failed_links = 0 and "
                  "random_failed_switches = 0; it means something only with random_failed_links or "
                  "random_failed_switches"});
  EXPECT_EQ(notes(kRest + "switch = 'vc_router'\nrun = { duration = 5000, warmup = 500 }\n").size(), 1U);
}

TEST(IdleParameters, AreNoneWhereTheyMeanSomethingOrHaveTheirDefault) {
  EXPECT_EQ(notes(kCioq, {"switch.queues=recn_basic"}), Notes{});
  EXPECT_EQ(notes(kCioq, {"switch.saqs=8"}), Notes{});
  EXPECT_EQ(notes(kRest + "switch = { name = 'vc_router', mark.low = 1, mark.high = 4, mark.probability = 0.5 }\n"),
            Notes{});
  EXPECT_EQ(notes(kRest + "switch = 'vc_router'\nrun = { warmup = 500 }\n"), Notes{});
}

TEST(IdleParameters, OfTheFileAreNotToldWhereTheCommandLineChangesWhatTheyNeed) {
  const std::string recn = kRest + "switch = { name = 'cioq', saqs = 4 }\n";
  EXPECT_EQ(notes(recn, {"switch.queues=voqsw"}), Notes{});
  EXPECT_EQ(notes(recn, {"switch.queues=voqsw", "switch.xon=4"}).size(), 1U);
  EXPECT_EQ(notes(kRest + "switch = 'vc_router'\nrun = { warmup = 500 }\n", {"run.duration=4000"}), Notes{});
}

TEST(IdleParameters, OfASweepAreThoseThatNoPointMakesUseOf) {
  EXPECT_EQ(notes(kCioq + "[sweep]\n\"switch.queues\" = ['1q', 'voqsw', 'recn_enhanced']\n"), Notes{});
  EXPECT_EQ(notes(kCioq + "[sweep]\n\"switch.queues\" = ['1q', 'voqsw']\n").size(), 1U);
  EXPECT_EQ(notes(kCioq + "[sweep]\n\"switch.saqs\" = [2, 4, 8]\n").size(), 1U);
}

}  // namespace
}  // namespace banyan::idle_parameters_test
