// Does one warmed-up state serve several values of a parameter? A point with the value of the warm-up is the
// undisturbed run; others agree with runs of their own; every parameter whose row says that it may change is tried.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "admission/admissions.hpp"
#include "banyan/api/catalog.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/api/fork.hpp"
#include "banyan/api/reader.hpp"
#include "banyan/api/sweep.hpp"
#include "banyan/base/error.hpp"

namespace banyan::forked_test {
namespace {

api::ExperimentSet read(const std::string& text, const api::Overrides& overrides = {}) {
  return api::read_experiments_text(text, "fork.toml", overrides);
}

/// Goes on from its own warm-up, read from its state.
api::Experiment forked_from_itself(api::Experiment experiment) {
  auto warm = std::make_shared<const api::Experiment>(experiment);
  experiment.fork = {"nothing", "0", std::move(warm), {}};
  return experiment;
}

double mean_of(const api::Result& result, const std::string& name) {
  const stats::Metric* metric = result.find(name);
  return metric == nullptr ? std::nan("") : metric->mean;
}

TEST(Forked, AStateThatGoesOnUnchangedEndsAsTheUndisturbedRun) {
  const std::vector<std::string> runs{
      "warmup = 500, measure = 3000, audit = 'full'",
      "warmup = 1024, measure = 100, extension = 16, shards = 3",  // a look at the end of the warm-up; again, longer
      "warmup = 3000, measure = 1000, precision = 0.05, trees = true, window = 500",
  };
  for (const test::Network& network : test::networks()) {
    for (const std::string& run : runs) {
      for (const u32 threads : {1U, 2U}) {
        const api::Experiment experiment = test::experiment(network.text, "", run);
        api::RunOptions options;
        options.threads = threads;
        const api::Result whole = api::run(experiment, options);
        const api::Result forked = api::run(forked_from_itself(experiment), options);
        EXPECT_EQ(forked.state_hash, whole.state_hash) << network.model << ": " << run;
        EXPECT_EQ(forked.verdict, whole.verdict) << network.model << ": " << run;
        EXPECT_EQ(mean_of(forked, "packet_latency_p99"), mean_of(whole, "packet_latency_p99")) << network.model;
      }
    }
  }
}

const std::string kMesh =
    "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 2, buffer = 4 }\n"
    "routing = 'dimension_order'\ntraffic = { name = 'uniform', load = 0.3, size = 3 }\n";

TEST(Forked, OfASweepTheFirstValueIsTheUndisturbedRunAndTheOthersPayNoWarmUp) {
  const std::string axes = "run = { warmup = 20000, measure = 2000 }\n[sweep]\n\"traffic.load\" = [0.2, 0.3, 0.35]\n";
  const api::ExperimentSet forks = read(kMesh + "fork = { after = 'warmup', vary = 'traffic.load' }\n" + axes);
  const api::ExperimentSet alone = read(kMesh + axes);
  ASSERT_EQ(forks.points.size(), 3U);
  EXPECT_EQ(forks.points[0].configuration_hash, alone.points[0].configuration_hash);
  EXPECT_NE(forks.points[1].configuration_hash, alone.points[1].configuration_hash);
  EXPECT_EQ(forks.points[1].fork.vary, "traffic.uniform.load");
  api::SweepOptions options;
  options.threads = 2;
  const std::vector<api::Result> one = api::sweep(forks, options);
  const std::vector<api::Result> other = api::sweep(alone, options);
  EXPECT_EQ(one[0].state_hash, other[0].state_hash);
  // A point that is run by itself, as verify does it, is the same as one of a sweep.
  EXPECT_EQ(api::run(api::experiment_from(forks.points[2].configuration, api::catalog())).state_hash,
            one[2].state_hash);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(mean_of(one[i], "accepted_load"), mean_of(other[i], "accepted_load"), 0.02);
  EXPECT_NE(one[1].explanation.find("warmed up with traffic.uniform.load = 0.2"), std::string::npos);
}

TEST(Forked, AStateIsMadeOnceAndHeldAsLongAsItIsAskedFor) {
  const api::ExperimentSet set = read(kMesh +
                                      "fork = { after = 'warmup', vary = 'load' }\nrun = { warmup = 100 }\n"
                                      "[sweep]\n\"run.seed\" = [1, 2]\nload = [0.1, 0.2, 0.3]\n");
  api::WarmStates states(set.points);
  int made = 0;
  const auto make = [&] { return api::WarmState{1, std::to_string(++made)}; };
  for (const api::Experiment& point : set.points) {
    if (point.fork.warm == nullptr) continue;
    EXPECT_EQ(states.of(*point.fork.warm, make)->bytes, point.run.integer("seed") == 1 ? "1" : "2");
  }
  EXPECT_EQ(made, 2);
  for (const api::Experiment& point : set.points) EXPECT_FALSE(states.has(point));
}

// --- every parameter that may change -----------------------------------------------------------------------------

struct Change {
  std::string network;
  std::string from;
  std::string to;
};

const std::string kMarking =
    "topology = { name = 'mesh', size = [4, 4] }\nrouting = 'dimension_order'\n"
    "switch = { name = 'vc_router', vcs = 2, mark.low = 2, mark.high = 6 }\n"
    "traffic = { name = 'hot_spot', load = 0.4, size = 4, fraction = 0.2 }\n";
const std::string kAdapters =
    "topology = { name = 'bidirectional_min', hosts = 16, ports = 4 }\n"
    "routing = { name = 'nearest_common_ancestor', up = 'd_mod_k' }\n"
    "traffic = { name = 'hot_spot', load = 0.5, size = 64, fraction = 0.15 }\n";
const std::string kRecn = kAdapters +
                          "switch = { name = 'cioq', queues = 'recn_enhanced', memory = 4096, egress_detection = 16, "
                          "ingress_detection = 12, speedup = 1, propagation = 4, xoff = 12, xon = 4, saqs = 4, "
                          "recn.notify_sources = true, mark.low = 4, mark.high = 8 }\nadmission = { name = 'dcqcn' }\n";

std::string held(const std::string& admission) { return kMarking + "admission = { name = '" + admission + "' }\n"; }

/// By component and parameter.
std::map<std::string, Change> changes() {
  std::map<std::string, Change> all{
      {"vc_router.mark.low", {held("dctcp"), "1", "5"}},
      {"vc_router.mark.high", {held("dctcp"), "3", "12"}},
      {"vc_router.mark.probability", {held("dctcp"), "0.1", "1"}},
      {"vc_router.mark.above", {held("dctcp"), "0.05", "1"}},
      {"cioq.saqs", {kRecn, "1", "6"}},
      {"cioq.egress_detection", {kRecn, "48", "8"}},
      {"cioq.ingress_detection", {kRecn, "60", "4"}},
      {"cioq.propagation", {kRecn, "10", "2"}},
      {"cioq.xoff", {kRecn, "40", "8"}},
      {"cioq.xon", {kRecn, "1", "10"}},
      {"cioq.saq_timeout", {kRecn, "100", "20000"}},
      {"cioq.recn.notify_packets", {kRecn, "64", "1"}},
      {"cioq.mark.low", {kRecn, "1", "6"}},
      {"cioq.mark.high", {kRecn, "5", "40"}},
      {"cioq.mark.probability", {kRecn, "0.05", "1"}},
      {"cioq.mark.above", {kRecn, "0.05", "1"}},
      {"rate.rate", {kMesh + "admission = { name = 'rate', flow = 'terminal' }\n", "0.9", "0.2"}},
      {"window.size", {kMesh + "admission = { name = 'window', flow = 'terminal' }\n", "200", "6"}},
      {"receiver_credits.rate", {kMesh + "admission = 'receiver_credits'\n", "0.95", "0.2"}},
  };
  const auto add = [&](const std::string& admission, const std::string& parameter, const char* from, const char* to) {
    all[admission + "." + parameter] = {held(admission), from, to};
  };
  add("dctcp", "gain", "0.9", "0.02");
  for (const auto& [name, from, to] :
       std::vector<std::tuple<const char*, const char*, const char*>>{{"gain", "0.5", "0.001"},
                                                                      {"notification_time", "20", "5000"},
                                                                      {"estimate_time", "5000", "100"},
                                                                      {"increase_time", "5000", "100"},
                                                                      {"increase_flits", "2000", "20"},
                                                                      {"recovery", "20", "1"},
                                                                      {"additive", "0.0001", "0.05"},
                                                                      {"hyper", "0.0001", "0.2"}}) {
    add("dcqcn", name, from, to);
  }
  add("hpcc", "target", "0.9", "0.2");
  add("hpcc", "stages", "50", "0");
  add("hpcc", "flows", "200", "2");
  for (const auto& [name, from, to] :
       std::vector<std::tuple<const char*, const char*, const char*>>{{"target", "400", "10"},
                                                                      {"hop_target", "200", "1"},
                                                                      {"flow_target", "500", "0"},
                                                                      {"increase", "0.01", "5"},
                                                                      {"decrease", "0.01", "0.9"},
                                                                      {"most_decrease", "0.3", "0.05"},
                                                                      {"least", "0.001", "2"},
                                                                      {"most", "1000", "1"}}) {
    add("swift", name, from, to);
  }
  for (auto& [key, change] : all) {
    // A target that the network is beyond, so that what is cut and by how much shows.
    if (key.starts_with("dcqcn.")) {
      // Times that are short enough for rates to fall and rise many times.
      change.network = kMarking +
                       "admission = { name = 'dcqcn', gain = 0.2, notification_time = 50, estimate_time = 60, "
                       "increase_time = 60, recovery = 2, additive = 0.002, hyper = 0.01 }\n";
    }
    if (key == "dcqcn.hyper") {
      change.network = kMarking +
                       "admission = { name = 'dcqcn', flow = 'terminal', gain = 0.2, notification_time = 50, "
                       "estimate_time = 60, increase_time = 20, increase_flits = 4, recovery = 1, additive = 0.0005, "
                       "least = 0.01 }\n";
    }
    if (key.starts_with("swift."))
      change.network = kMarking + "admission = { name = 'swift', target = 20, hop_target = 5 }\n";
  }
  add("infiniband_cc", "ccti_increase", "1", "8");
  add("infiniband_cc", "ccti_timer", "5000", "50");
  add("infiniband_cc", "cct_step", "0.125", "8");
  return all;
}

/// What the run with `to` says, forked from `from`, against one of its own.
void expect_alike(const std::string& name, const std::string& key, const Change& change) {
  const std::string text = change.network + "run = { warmup = 3000, measure = 10000 }\n";
  const auto run = [&](const std::string& value, const std::string& fork) {
    return api::run(read(fork + text, {key + "=" + value}).points.front());
  };
  const api::Result before = run(change.from, "");
  const api::Result alone = run(change.to, "");
  const api::Result forked =
      run(change.to, fmt::format("fork = {{ after = 'warmup', vary = '{}', from = {} }}\n", key, change.from));
  ASSERT_NE(forked.explanation.find("warmed up with"), std::string::npos) << name;
  EXPECT_NE(before.state_hash, alone.state_hash) << name << " makes no difference here: nothing is tested";
  EXPECT_NE(forked.state_hash, before.state_hash) << name;
  EXPECT_EQ(forked.verdict, alone.verdict) << name;
  for (const char* const metric : {"accepted_load", "packet_latency"}) {
    const stats::Metric* a = alone.find(metric);
    const stats::Metric* b = forked.find(metric);
    if (a == nullptr && b == nullptr) continue;
    ASSERT_TRUE(a != nullptr && b != nullptr) << name << ": " << metric;
    ASSERT_TRUE(a->half_width && b->half_width) << name << ": " << metric;
    EXPECT_LE(std::abs(a->mean - b->mean), *a->half_width + *b->half_width)
        << name << ": " << metric << " " << a->mean << " alone, " << b->mean << " forked, " << mean_of(before, metric)
        << " before";
  }
}

TEST(Forked, EveryParameterThatMayChangeAgreesWithARunOfItsOwn) {
  const std::map<std::string, Change> known = changes();
  std::set<std::string> tried;
  const api::Catalog& catalog = api::catalog();
  for (const api::Kind* kind : catalog.kinds()) {
    for (const config::ComponentInfo* info : kind->components) {
      for (const config::Parameter& parameter : info->parameters) {
        if (parameter.changes_in_flight == config::InFlight::no || kind == &catalog.traffic) continue;
        const std::string name = info->name + "." + parameter.name;
        ASSERT_TRUE(known.contains(name)) << name << " may change in flight: give two values of it here";
        expect_alike(name, kind->section + "." + parameter.name, known.at(name));
        tried.insert(name);
      }
    }
  }
  EXPECT_EQ(tried.size(), known.size());
}

/// A timer of the warm-up that would run for longer than what is measured must not hide the new one.
TEST(Forked, AShorterTimeHoldsForTimersThatRun) {
  const std::string run = "run = { warmup = 3000, measure = 10000 }\n";
  struct Timer {
    const char* key;
    std::string network;
    std::string longer;
    const char* shorter;
  };
  const std::string credits =
      "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 4 }\n"
      "routing = 'dimension_order'\ntraffic = { name = 'uniform', load = 0.2, size = 4 }\n";
  const std::string kLong = "1000000";
  const std::string marked =
      "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 4, buffer = 8, mark.low = 2, "
      "mark.high = 4 }\nrouting = 'dimension_order'\ntraffic = { name = 'hot_spot', load = 0.15, size = 4 }\n";
  const std::string dcqcn = marked +
                            "admission = { name = 'dcqcn', gain = 0.2, notification_time = 50, estimate_time = 60, "
                            "increase_time = 60, recovery = 2, additive = 0.002, hyper = 0.01 }\n";
  for (const Timer& timer :
       std::vector<Timer>{{"admission.ccti_timer", marked + "admission = 'infiniband_cc'\n", kLong, "500"},
                          {"admission.notification_time", dcqcn, kLong, "50"},
                          {"admission.estimate_time", dcqcn, kLong, "60"},
                          {"admission.increase_time", dcqcn, kLong, "60"},
                          {"switch.saq_timeout", kRecn, kLong, "100"},
                          {"admission.rate", credits + "admission = 'receiver_credits'\n", "0.0001", "0.95"},
                          {"admission.rate", credits + "admission = 'rate'\n", "0.0001", "0.95"}}) {
    const auto result = [&](const std::string& value, const std::string& fork) {
      return api::run(read(fork + timer.network + run, {std::string(timer.key) + "=" + value}).points.front());
    };
    const api::Result before = result(timer.longer, "");
    const api::Result alone = result(timer.shorter, "");
    const api::Result forked = result(
        timer.shorter, fmt::format("fork = {{ after = 'warmup', vary = '{}', from = {} }}\n", timer.key, timer.longer));
    EXPECT_NE(forked.state_hash, before.state_hash) << timer.key << ": the new time had no effect at all";
    const double accepted = forked.at("accepted_load").mean;
    EXPECT_NEAR(accepted, alone.at("accepted_load").mean, 0.1 * alone.at("accepted_load").mean)
        << timer.key << " " << before.at("accepted_load").mean << " before";
  }
}

TEST(Forked, TheLoadOfEveryTrafficAgreesWithARunOfItsOwn) {
  int tried = 0;
  for (const config::ComponentInfo* info : api::catalog().traffic.components) {
    const auto load = std::find_if(info->parameters.begin(), info->parameters.end(),
                                   [](const config::Parameter& p) { return p.name == "load"; });
    if (load == info->parameters.end() || load->changes_in_flight == config::InFlight::no) continue;
    for (const char* process : {"bernoulli", "poisson", "normal", "on_off"}) {
      const std::string network = fmt::format(
          "topology = {{ name = 'mesh', size = [4, 4] }}\nswitch = {{ name = 'vc_router', vcs = 4 }}\n"
          "routing = 'dimension_order'\ntraffic = {{ name = '{}', size = 2, process = '{}' }}\n",
          info->name, process);
      try {
        static_cast<void>(api::check(read(network).points.front()));
      } catch (const ConfigError&) { continue; }  // needs another topology
      expect_alike(fmt::format("{} {}", info->name, process), "traffic.load", {network, "0.05", "0.15"});
      ++tried;
    }
  }
  EXPECT_GE(tried, 24);
}

// --- what is refused ----------------------------------------------------------------------------------------------

std::string refusal_of(const std::string& text) {
  try {
    for (const api::Experiment& point : read(text).points) static_cast<void>(api::check(point));
  } catch (const ConfigError& error) { return error.cause() + " | " + error.remedy(); }
  return "";
}

TEST(Forked, WhatCannotBeForkedIsRefusedWithItsRemedy) {
  const std::string run = "run = { warmup = 500, measure = 1000 }\n";
  const auto fork = [](const std::string& vary) {
    return fmt::format("fork = {{ after = 'warmup', vary = '{}' }}\n", vary);
  };
  const std::string loads = "[sweep]\n\"traffic.load\" = [0.2, 0.3]\n";
  const std::vector<std::pair<std::string, std::string>> refused{
      {kMesh + run + fork("switch.buffer") + "[sweep]\n\"switch.buffer\" = [4, 8]\n",
       "switch.buffer may not change in flight | leave out fork, or vary one of switch.mark.low"},
      {kMesh + run + fork("traffic.load"), "\"traffic.load\" is not swept | give [sweep] an axis of it"},
      {kMesh + run + fork("traffic.laod") + loads, "laod"},
      {kMesh + run + "fork = { after = 'measure', vary = 'traffic.load' }\n" + loads, "write after = \"warmup\""},
      {kMesh + run + "fork = { after = 'warmup', varies = 'traffic.load' }\n" + loads,
       "a fork has no \"varies\" | it has after, vary, from"},
      {kMesh + run + "fork = { after = 'warmup' }\n" + loads, "it has no \"vary\""},
      {kMesh + run + "fork = 'warmup'\n" + loads, "is no table"},
      {kMesh + run + fork("traffic.load") + "[sweep]\n\"traffic.load\" = [0, 0.3]\n",
       "a network with 0 is another one"},
      {kMesh + run + fork("traffic.load") +
           "[sweep]\n\"traffic.load\" = [0.1, 0.3]\n\"run.seed\" = [1, 2]\nzip = [[\"traffic.load\", \"run.seed\"]]\n",
       "take it out of sweep.zip"},
      {kMesh + run + fork("traffic.load") + "[sweep]\n\"traffic.load\" = [0.0001, 0.3]\n", "less than a message"},
      {kMesh + "run = { duration = 500 }\n" + fork("traffic.load") + loads, "a run of fixed length (run.duration)"},
      {kMesh + "run = { warmup = 0 }\n" + fork("traffic.load") + loads, "leaves no warm-up"},
      {kRecn + run + fork("switch.saqs") + "[sweep]\n\"switch.saqs\" = [4, 2]\n", "may only grow in flight"},
      {"topology = { name = 'extra_stage_cube', terminals = 16 }\nswitch = 'output_queued'\n"
       "routing = 'isolated_hot_spot'\ntraffic = ['synchronization', 'uniform']\n" +
           fork("traffic.uniform.load") + "[sweep]\n\"traffic.uniform.load\" = [0.2, 0.3]\n",
       "an experiment of sessions"},
      {"topology = { name = 'mesh', size = [4, 4] }\nswitch = 'vc_router'\nrouting = 'dimension_order'\n"
       "[[job]]\ngenerator = { collective = 'all_reduce', algorithm = 'ring', bytes = 64, ranks = 4 }\n[fork]\nafter = "
       "'warmup'\n"
       "vary = 'switch.mark.high'\nfrom = 4\n",
       "an experiment of jobs has no warm-up"},
  };
  for (const auto& [text, part] : refused) {
    const std::string refusal = refusal_of(text);
    EXPECT_NE(refusal.find(part), std::string::npos) << text << "\nsays: " << refusal;
  }
}

}  // namespace
}  // namespace banyan::forked_test
