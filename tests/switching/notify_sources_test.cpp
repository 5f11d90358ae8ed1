// Do sources hear of the roots that RECN isolates, are those throttled that feed them and no others, and does nothing
// depend on the order of steps?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "support/rows.hpp"

namespace banyan::switching::notify_sources_test {
namespace {

api::Experiment read(const std::string& text) { return api::read_experiments_text(text, "told", {}).points.front(); }

/// Sixteen of 64 hosts send to host 3 more than its link takes, beside uniform traffic; speedup 1, so that inputs and
/// outputs both detect.
std::string fire(const std::string& switch_, const std::string& admission, const std::string& how = "seed = 1",
                 double hot = 0.08) {
  return fmt::format(
      "topology = {{ name = 'bidirectional_min', hosts = 64 }}\n"
      "routing = {{ name = 'nearest_common_ancestor', up = 'destination_digit' }}\n"
      "switch = {{ name = 'cioq', speedup = 1, {} }}\nadmission = {{ name = {} }}\n"
      "traffic = [ {{ name = 'uniform', load = 0.3, size = 64 }}, {{ name = 'flows', sources = [1, 5, 9, 13, 17, 21, "
      "25, "
      "29, 33, 37, 41, 45, 49, 53, 57, 61], destinations = [3], loads = [{}], size = 64 }} ]\n"
      "run = {{ duration = 700000, {} }}\n",
      switch_, admission, hot, how);
}

const std::string kTold = "queues = 'recn_enhanced', recn.notify_sources = true";
const std::string kSilent = "queues = 'recn_enhanced', recn.notify_sources = false";
const std::string kInfiniband = "'infiniband_cc', ccti_timer = 4000, cct_step = 0.5";
const std::string kDcqcn =
    "'dcqcn', notification_time = 4000, estimate_time = 5500, increase_time = 5500, gain = 0.0625";

TEST(NotifySources, ThrottlesThoseThatFeedTheRootAndNoOthers) {
  for (const std::string& admission : {kInfiniband, kDcqcn}) {
    SCOPED_TRACE(admission);
    const api::Result told = api::run(read(fire(kTold, admission)), {});
    const api::Result silent = api::run(read(fire(kSilent, admission)), {});
    EXPECT_GT(told.at("notifications_to_sources").mean, 100);
    EXPECT_EQ(silent.find("notifications_to_sources"), nullptr);
    // The hot host gets most of what it got. The set-aside queues are given back, for what is too much waits at the
    // sources, and the others lose nothing.
    EXPECT_GT(told.at("accepted_load.flows").mean, 0.7 * silent.at("accepted_load.flows").mean);
    EXPECT_GT(told.at("accepted_load.uniform").mean, 0.98 * silent.at("accepted_load.uniform").mean);
    EXPECT_GT(silent.at("saqs_at_end").mean, 50);
    EXPECT_LT(told.at("saqs_at_end").mean, 0.3 * silent.at("saqs_at_end").mean);
  }
}

TEST(NotifySources, HearNothingWhereNothingBurns) {
  const api::Result calm = api::run(read(fire(kTold, kInfiniband, "seed = 1", 0.02)), {});
  EXPECT_EQ(calm.at("notifications_to_sources").mean, 0);
}

/// Of every packet that waits at a root a source is told, or of every n-th.
TEST(NotifySources, AreToldOfAShareOfThePackets) {
  const std::string slow = "'infiniband_cc', ccti_limit = 0";  // it hears, and does nothing
  const double all = api::run(read(fire(kTold, slow)), {}).at("notifications_to_sources").mean;
  const double some =
      api::run(read(fire(kTold + ", recn.notify_packets = 8", slow)), {}).at("notifications_to_sources").mean;
  EXPECT_NEAR(some, all / 8, all / 8 * 0.1);
}

TEST(NotifySources, DependNeitherOnShardsNorOnTheOrderOfSteps) {
  for (const std::string& admission : {kInfiniband, kDcqcn, kDcqcn + ", feedback = 'words'"}) {
    const std::string what = kTold + ", recn.notify_packets = 3";
    const api::Result first = api::run(read(fire(what, admission)), {});
    EXPECT_GT(first.at("notifications_to_sources").mean, 50);
    for (const char* how : {"seed = 1, shards = 3", "seed = 1, step_order = 'permuted'", "seed = 1, wake = 'all'",
                            "seed = 1, audit = 'full'"}) {
      EXPECT_EQ(api::run(read(fire(what, admission, how)), {}).state_hash, first.state_hash) << admission << how;
    }
  }
}

TEST(NotifySources, NeedRootsAndEars) {
  const auto refusal_of = [](const std::string& switch_, const std::string& admission) {
    return test::refusal([&] { api::check(read(fire(switch_, admission))); });
  };
  EXPECT_EQ(refusal_of(kTold, "'dcqcn'"), "");
  EXPECT_EQ(refusal_of(kTold, "'infiniband_cc'"), "");
  const std::string no_ears = refusal_of(kTold, "'none'");
  EXPECT_NE(no_ears.find("no admission hears what switches tell the sources"), std::string::npos) << no_ears;
  EXPECT_NE(no_ears.find("use the admission dcqcn or infiniband_cc, or recn.notify_sources = false"), std::string::npos)
      << no_ears;
  for (const char* deaf : {"'swift'", "'dctcp'", "'window'", "'rate'", "'receiver_credits'"}) {
    EXPECT_NE(refusal_of(kTold, deaf).find("the admission is none that hears"), std::string::npos) << deaf;
  }
  const std::string no_roots = refusal_of("queues = 'voqsw', recn.notify_sources = true", "'dcqcn'");
  EXPECT_NE(no_roots.find("queues = \"voqsw\" know of no roots"), std::string::npos) << no_roots;
  EXPECT_NE(no_roots.find("use queues = \"recn_enhanced\""), std::string::npos);
}

}  // namespace
}  // namespace banyan::switching::notify_sources_test
