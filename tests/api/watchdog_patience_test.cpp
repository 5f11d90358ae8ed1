// A network in which packets are long under way is not deadlocked, and sessions that are cut off give no means.
#include <gtest/gtest.h>

#include <string>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"

namespace banyan::watchdog_patience_test {
namespace {

namespace api = banyan::api;

api::Result run(const std::string& text, const api::Overrides& overrides = {}) {
  return api::run(api::read_experiments_text(text, "test.toml", overrides).points.front());
}

const std::string kFar =
    "topology = { name = \"mesh\", size = [4], latency = [15000] }\nswitch = { name = \"vc_router\", buffer = 4 }\n"
    "routing = \"dimension_order\"\ntraffic = { name = \"uniform\", load = 0.00001 }\n"
    "run = { warmup = 0, measure = 400000, drain = 400000, watchdog = 1000 }\n";

const std::string kCut =
    "topology = { name = \"extra_stage_cube\", terminals = 64, radix = 4 }\nswitch = \"output_queued\"\n"
    "routing = \"isolated_hot_spot\"\nrun = { sessions = 2 }\n[[traffic]]\nname = \"synchronization\"\nmean = 200\n"
    "[[traffic]]\nname = \"uniform\"\nload = 0.4\ninclude_self = true\n";

const std::string kRing =
    "topology = { name = \"torus\", size = [8, 8] }\nswitch = { name = \"vc_router\", vcs = 1, buffer = 1 }\n"
    "routing = { name = \"dimension_order\", datelines = false }\n"
    "traffic = { name = \"uniform\", load = 0.9, size = 5 }\nrun = { warmup = 300, measure = 1500 }\n";

TEST(WatchdogPatience, PacketsOnALongChannelDoNotWait) {
  const api::Result result = run(kFar);
  EXPECT_NE(result.verdict, api::Verdict::deadlocked) << result.explanation;
}

TEST(WatchdogPatience, ADeadlockIsFoundAtTheSameTickWhateverIsAudited) {
  const api::Result cheap = run(kRing);
  const api::Result full = run(kRing, {"run.audit=full"});
  EXPECT_EQ(cheap.verdict, api::Verdict::deadlocked);
  EXPECT_EQ(cheap.at("simulated_cycles").mean, full.at("simulated_cycles").mean);
  EXPECT_EQ(cheap.state_hash, full.state_hash);
}

TEST(WatchdogPatience, SessionsThatAreCutOffGiveNoMeans) {
  const api::Result whole = run(kCut);
  EXPECT_EQ(whole.verdict, api::Verdict::finished);
  EXPECT_NE(whole.find("mu_syn"), nullptr);
  for (const char* limit : {"run.session_limit=1", "run.session_limit=210"}) {
    const api::Result cut = run(kCut, {limit});
    EXPECT_EQ(cut.verdict, api::Verdict::saturated);
    for (const char* name : {"mu_syn", "mu_bg_tot", "session_cycles", "packet_latency"}) {
      EXPECT_EQ(cut.find(name), nullptr) << name;
    }
  }
}

TEST(WatchdogPatience, RefusesASynchronizationThatCannotBeDrawn) {
  EXPECT_THROW(run(kCut, {"synchronization.mean=-75", "synchronization.deviation=10"}), banyan::ConfigError);
  EXPECT_EQ(run(kCut, {"synchronization.mean=-25", "synchronization.deviation=10"}).verdict, api::Verdict::finished);
}

}  // namespace
}  // namespace banyan::watchdog_patience_test
