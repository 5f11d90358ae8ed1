// Is a network in which gates of an admission wait for their timers called a deadlock, or does it hang? With every
// admission, its slowest values and the least patience, whatever arrives without a watchdog arrives with one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "admission/admissions.hpp"
#include "banyan/base/error.hpp"
#include "banyan/core/registry.hpp"
#include "support/rows.hpp"

namespace banyan::silent_admissions_test {
namespace {

struct Slow {
  std::string admission;
  std::string parameters;

  [[nodiscard]] std::string with(const std::string& more = "") const {
    const std::string comma = parameters.empty() ? "" : ", ";
    return fmt::format("{{ name = '{}'{}{}{} }}", admission, comma, parameters, more);
  }
};

/// Of every admission, the values with which gates are shut for longest.
const std::vector<Slow>& slow_ones() {
  static const std::vector<Slow> all{
      {"rate", "rate = 1e-6, flow = 'terminal'"},
      {"rate", "rate = 0.0005"},
      {"window", "size = 1, flow = 'terminal', feedback_wait = 30000, feedback_every = 1000"},
      {"swift", "target = 0.001, hop_target = 0, least = 1e-5, decrease = 1, most_decrease = 0.999, increase = 1e-6"},
      {"swift", "target = 1, least = 0.001, feedback_every = 50, feedback_wait = 20000"},
      {"dctcp", "gain = 1, initial = 1, least = 1, feedback_every = 1000, feedback_wait = 30000"},
      {"dcqcn", "least = 1e-6, gain = 1, increase_time = 1e6, estimate_time = 1e6"},
      {"hpcc", "target = 0.001, feedback_every = 1000, feedback_wait = 20000, stages = 0"},
      {"infiniband_cc", "ccti_increase = 100, cct_step = 1000, ccti_timer = 1e6, ccti_limit = 127"},
      {"receiver_credits", "rate = 1e-6, unsolicited = false"},
      {"receiver_credits", "rate = 1e-4"},
      {"none", ""},
  };
  return all;
}

const std::string kMarkingMesh =
    "topology = { name = 'mesh', size = [4, 4] }\nrouting = 'dimension_order'\n"
    "switch = { name = 'vc_router', vcs = 2, mark.low = 0, mark.high = 1 }\n"
    "traffic = { name = 'hot_spot', load = 0.2, size = 3, fraction = 0.3 }\n";

void expect_patience(const std::string& name, const std::string& network, const Slow& slow) {
  const auto& parameters = test::row_named(core::admission_rows(), slow.admission).info.parameters;
  const bool tells =
      std::any_of(parameters.begin(), parameters.end(), [](const auto& p) { return p.name == "feedback"; });
  for (const char* feedback : {", feedback = 'packets'", ", feedback = 'words'"}) {
    const std::string how = slow.with(tells ? feedback : "");
    const std::string run = "warmup = 100, measure = 1500, drain = 60000, audit = 'full', ";
    const api::Result patient = test::run(network, how, run + "watchdog = 0");
    for (const char* shards : {"1", "3"}) {
      const api::Result watched = test::run(network, how, run + "watchdog = 1, shards = " + shards);
      EXPECT_NE(watched.verdict, api::Verdict::deadlocked) << name << ": " << how << "\n" << watched.explanation;
      EXPECT_EQ(watched.at("delivered_packets").mean, patient.at("delivered_packets").mean) << name << ": " << how;
      EXPECT_EQ(watched.state_hash, patient.state_hash) << name << ": " << how;
    }
  }
}

TEST(SilentAdmissions, AGateThatWaitsForItsTimerIsNoDeadlock) {
  std::set<std::string> tried;
  for (const Slow& slow : slow_ones()) {
    expect_patience("marking mesh", kMarkingMesh, slow);
    for (const test::Network& network : test::networks()) {
      try {
        static_cast<void>(api::check(test::experiment(network.text, slow.with())));
      } catch (const ConfigError&) { continue; }
      expect_patience(network.model, network.text, slow);
    }
    tried.insert(slow.admission);
  }
  for (const core::AdmissionRow* row : core::admission_rows())
    EXPECT_TRUE(tried.contains(row->info.name)) << row->info.name << " has no values in slow_ones()";
}

/// Sessions end when their last message has arrived, however slowly an admission lets it go.
TEST(SilentAdmissions, SessionsWaitForSlowGates) {
  const std::string batch =
      "topology = { name = 'mesh', size = [4, 4] }\nrouting = 'dimension_order'\n"
      "switch = { name = 'vc_router', vcs = 2, mark.low = 0, mark.high = 1 }\n"
      "traffic = 'collective'\n";
  for (const Slow& slow : slow_ones()) {
    if (slow.parameters.find("1e-6") != std::string::npos) continue;  // a million cycles per flit: the limit ends it
    const std::string admission = slow.with();
    const std::string run = "sessions = 2, session_limit = 20000000, ";
    api::Result patient;
    try {
      patient = test::run(batch, admission, run + "watchdog = 0");
    } catch (const ConfigError& error) {
      ADD_FAILURE() << admission << ": " << error.what();
      continue;
    }
    const api::Result watched = test::run(batch, admission, run + "watchdog = 1");
    EXPECT_EQ(watched.verdict, patient.verdict) << admission << "\n" << watched.explanation;
    EXPECT_EQ(watched.state_hash, patient.state_hash) << admission;
  }
}

}  // namespace
}  // namespace banyan::silent_admissions_test
