// Are the demands that traffics state those of the messages that they generate?
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "banyan/api/network.hpp"
#include "banyan/base/error.hpp"
#include "engine/small_instances.hpp"
#include "traffic/samples.hpp"

namespace banyan::test::demands_test {
namespace {

constexpr u64 kMessages = 4000;

/// Each destination's share of a terminal's messages, and the load of the terminal, within five standard deviations of
/// chance. Bernoulli gaps are geometric: their mean scatters by less than 1 / sqrt(messages).
void expect_demands(const core::Traffic& traffic, u32 terminals) {
  double offered = 0.0;
  for (u32 from = 0; from < terminals; ++from) {
    std::vector<double> stated(terminals, 0.0);
    ASSERT_TRUE(traffic.demands(from, stated));
    double load = 0.0;
    for (const double flits : stated) load += flits;
    offered += load / terminals;
    const std::vector<core::Message> messages = messages_of(traffic, from, kMessages);
    if (messages.empty()) {
      EXPECT_EQ(load, 0.0) << "terminal " << from << " sends nothing";
      continue;
    }
    EXPECT_NEAR(measured_load(messages), load, 5.0 / std::sqrt(kMessages) * load) << "terminal " << from;
    const std::vector<double> measured = shares_of(traffic, from, terminals, kMessages);
    for (u32 to = 0; to < terminals; ++to) {
      SCOPED_TRACE(fmt::format("from {} to {}", from, to));
      expect_share(measured[to], stated[to] / load, kMessages);
    }
  }
  EXPECT_NEAR(offered, traffic.offered_load(), 1e-9);
}

/// Every traffic on every topology where it exists, with both values of its flags.
TEST(Demands, WhatATrafficStatesIsWhatItSends) {
  std::set<std::string> stating;
  for (const core::TopologyRow* topology : core::topology_rows()) {
    for (const core::TrafficRow* traffic : core::traffic_rows()) {
      std::vector<std::string> variants{""};
      for (const config::Parameter& p : traffic->info.parameters) {
        if (!p.fallback || !std::holds_alternative<bool>(*p.fallback)) continue;
        variants.push_back(fmt::format(", {} = {}", p.name, !std::get<bool>(*p.fallback)));
      }
      for (const std::string& variant : variants) {
        std::string row = small_component(traffic->info, small_values({{"load", "0.3"}}));
        row.insert(row.size() - 2, variant);
        SCOPED_TRACE(topology->info.name + " " + row);
        try {
          const api::Experiment e =
              api::read_experiments_text(fmt::format("topology = {}\nswitch = 'cioq'\nrouting = 'shortest_path'\n"
                                                     "traffic = {}\n",
                                                     small_component(topology->info, small_values({})), row),
                                         "demands", {})
                  .points.front();
          const auto made = api::build_topology(e);
          const auto traffics = api::build_traffics(e, *made);
          traffics.front()->begin(0);
          std::vector<double> flits(made->graph().terminals(), 0.0);
          if (!traffics.front()->demands(0, flits)) continue;
          stating.insert(traffic->info.name);
          expect_demands(*traffics.front(), made->graph().terminals());
        } catch (const ConfigError&) { continue; }  // does not exist there
      }
    }
  }
  for (const char* name : {"adversarial", "asymmetric", "diagonal", "flows", "group_local", "hot_spot", "permutation",
                           "row_to_column", "taper", "uniform", "uniform_distance"}) {
    EXPECT_TRUE(stating.contains(name)) << name;
  }
}

/// Demands are of a long run without an end in which all that is sent is all that arrives.
TEST(Demands, BatchesAndRepliesStateNone) {
  for (const core::TrafficRow* row : core::traffic_rows()) {
    if (row->info.name != "uniform") continue;
    std::vector<double> flits(16, 0.0);
    EXPECT_TRUE(make_traffic(*row, {}, 16)->demands(0, flits));
    flits.assign(16, 0.0);
    EXPECT_FALSE(make_traffic(*row, {{"batch", i64{10}}}, 16)->demands(0, flits));
    EXPECT_FALSE(make_traffic(*row, {{"reply_size", std::vector<i64>{4}}}, 16)->demands(0, flits));
    EXPECT_EQ(flits, std::vector<double>(16, 0.0));
  }
}

/// A source that posts a message when the one before has left falls behind in an overload: what it has not posted yet
/// is offered all the same, however long the run is.
TEST(Demands, WhatAnsweringSourcesHaveNotPostedIsOffered) {
  const std::string tree =
      "topology = { name = 'bidirectional_min', hosts = 16 }\n"
      "routing = 'nearest_common_ancestor'\nswitch = 'input_buffer'\n";
  const std::string mesh =
      "topology = { name = 'mesh', size = [4, 4] }\nrouting = 'dimension_order'\n"
      "switch = { name = 'vc_router', vcs = 4 }\n";
  for (const std::string& text :
       {tree + "traffic = { name = 'multicast', load = 0.95, implementation = 'software' }\n",
        tree + "traffic = { name = 'bimodal', load = 0.95, share = 0.5, implementation = 'software' }\n",
        mesh + "traffic = { name = 'uniform', load = 0.9, size = 4, reply_size = [1] }\n"}) {
    for (const char* measure : {"run.measure=20000", "run.measure=100000"}) {
      const api::Result result =
          api::run(api::read_experiments_text(text, "demands", {measure, "run.drain=1000"}).points.front());
      const double declared = text.find("0.95") != std::string::npos ? 0.95 : 0.9;
      SCOPED_TRACE(text + measure);
      EXPECT_EQ(result.verdict, api::Verdict::saturated);
      EXPECT_TRUE(result.certain) << result.explanation;
      // Replies are offered when a request arrives: at most a flit for four here.
      const stats::Metric& offered = result.at("offered_load");
      EXPECT_GE(offered.mean, 0.97 * declared);
      EXPECT_LE(offered.mean, (text.starts_with(mesh) ? 1.25 : 1.03) * declared);
      EXPECT_LT(offered.half_width.value(), 0.1 * declared);
      EXPECT_LT(result.at("accepted_load").mean, 0.9 * declared);
    }
  }
}

}  // namespace
}  // namespace banyan::test::demands_test
