// Several networks side by side: is every message in the right one, do they know nothing of each other, and do the
// results count terminals once?
#include "banyan/api/subnetworks.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "api/runs.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/api/network.hpp"
#include "banyan/base/error.hpp"

namespace banyan::api::subnetworks_test {
namespace {

double mean_of(const Result& result, const std::string& name) {
  const stats::Metric* const metric = result.find(name);
  EXPECT_NE(metric, nullptr) << name;
  return metric == nullptr ? 0.0 : metric->mean;
}

const std::string kRequests =
    "topology = { name = \"mesh\", size = [4, 4] }\n"
    "switch   = { name = \"vc_router\", vcs = 2, buffer = 4 }\n"
    "routing  = \"dimension_order\"\n"
    "traffic  = { name = \"uniform\", load = 0.1, size = 2, reply_size = [4] }\n"
    "[run]\n"
    "warmup  = 500\n"
    "measure = 4000\n"
    "audit = \"full\"\n";

TEST(Subnetworks, TheGraphIsSoManyCopies) {
  const Experiment experiment = experiment_of(kMesh, {"topology.subnetworks=3"});
  const Network network = build_network(experiment);
  const core::Graph& graph = network.topology->graph();
  const core::Graph& one = network.topology->one_subnetwork().graph();
  EXPECT_EQ(network.topology->subnetworks(), 3U);
  EXPECT_EQ(network.topology->traffic_terminals(), 16U);
  EXPECT_EQ(graph.terminals(), 48U);
  EXPECT_EQ(graph.switches(), 3 * one.switches());
  EXPECT_EQ(graph.channels().size(), 3 * one.channels().size());
  const auto copy = [](const core::End& end) { return end.node % 3; };
  for (const core::Channel& c : graph.channels()) EXPECT_EQ(copy(c.from), copy(c.to));
  std::set<std::string> labels;
  for (u32 s = 0; s < graph.switches(); ++s) labels.insert(network.topology->label(s));
  EXPECT_EQ(labels.size(), graph.switches());
}

TEST(Subnetworks, MessagesInOneOfThemBehaveAsInOneNetwork) {
  const Result one = run_of(kMesh);
  for (const char* subnetwork : {"0", "1"}) {
    const Result two = run_of(kMesh, {"topology.subnetworks=2", std::string("traffic.subnetwork=") + subnetwork});
    for (const char* metric : {"offered_load", "accepted_load", "packet_latency", "hops", "delivered_packets"}) {
      EXPECT_EQ(mean_of(one, metric), mean_of(two, metric)) << metric << " " << subnetwork;
    }
  }
}

/// Answers with the switch and the destination that it was asked about, and is unlike the default in all of its traits.
class Unlike final : public core::Routing {
 public:
  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    return {.tag_format = {3, 5},
            .classes = 2,
            .reads_source = false,
            .by_destination = true,
            .required_vcs = 7,
            .reads_pending = true,
            .random = false,
            .in_order = true};
  }
  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    out.add({static_cast<u16>(100 * request.at + request.packet->destination)});
  }
  void steps(std::span<const core::Visit> visits, core::Candidate* out) const noexcept override {
    for (const core::Visit& v : visits) *out++ = {static_cast<u16>(1000 + 100 * v.at + v.destination)};
  }
};

TEST(Subnetworks, RoutingsKeepAllTraitsAndTheStepsOfManyHeads) {
  const std::unique_ptr<core::Routing> copied = replicate(std::make_unique<Unlike>(), 2);
  const core::RoutingTraits traits = copied->traits();
  EXPECT_EQ(traits.tag_format.bits_per_hop, 3U);
  EXPECT_EQ(traits.tag_format.hops, 5U);
  EXPECT_EQ(traits.classes, 2U);
  EXPECT_FALSE(traits.reads_source);
  EXPECT_TRUE(traits.by_destination);
  EXPECT_EQ(traits.required_vcs, 7U);
  EXPECT_TRUE(traits.reads_pending);
  EXPECT_FALSE(traits.random);
  EXPECT_TRUE(traits.in_order);
  std::vector<core::Visit> visits;
  for (u32 k = 0; k < 150; ++k) visits.push_back({k % 8, k % 10});
  std::vector<core::Candidate> steps(visits.size());
  copied->steps(visits, steps.data());
  for (u32 k = 0; k < 150; ++k) EXPECT_EQ(steps[k].port, 1000 + k % 8 / 2 * 100 + k % 10 / 2) << k;
}

class Quiet final : public core::Traffic {
 public:
  [[nodiscard]] core::TrafficTraits traits() const noexcept override {
    return {.replicates = true, .header_flits = 3, .longest_message = 9, .shortest_message = 6, .random = false};
  }
  void begin(u32) override {}
  [[nodiscard]] bool next(u32, u64, Tick, core::Message&) const noexcept override { return false; }
};

TEST(Subnetworks, TrafficsKeepTheirTraitsAndAreDivided) {
  const std::unique_ptr<core::Traffic> divided = divide(std::make_unique<Quiet>(), 2, 0, 1);
  EXPECT_TRUE(divided->replicates());
  EXPECT_EQ(divided->header_flits(), 3U);
  EXPECT_EQ(divided->longest_message(), 9U);
  EXPECT_EQ(divided->shortest_message(), 6U);
  EXPECT_TRUE(divided->sifts());
  EXPECT_TRUE(divided->random()) << "the copy is drawn";
}

TEST(Subnetworks, TwoCarryWhatOneCannot) {
  const Overrides heavy{"traffic.load=0.9"};
  EXPECT_EQ(run_of(kMesh, heavy).verdict, Verdict::saturated);
  Overrides two = heavy;
  two.emplace_back("topology.subnetworks=2");
  const Result result = run_of(kMesh, two);
  EXPECT_EQ(result.verdict, Verdict::steady) << result.explanation;
  EXPECT_NEAR(mean_of(result, "accepted_load"), 0.9, 0.02);
  // Each of them has half of the load.
  EXPECT_NEAR(mean_of(result, "packet_latency") / mean_of(run_of(kMesh, {"traffic.load=0.45"}), "packet_latency"), 1.0,
              0.05);
}

TEST(Subnetworks, RequestsAndRepliesDoNotMeet) {
  const Overrides apart{"topology.subnetworks=2", "traffic.subnetwork=0", "traffic.reply_subnetwork=1"};
  const Result result = run_of(kRequests, apart);
  EXPECT_EQ(result.verdict, Verdict::steady);
  // Requests alone in their network do as those that nobody answers.
  Overrides channels = apart;
  channels.emplace_back("run.tables=channels");
  const Result tables = run_of(kRequests, channels);
  u64 flits[2] = {0, 0};
  for (const Table& table : tables.tables) {
    if (table.name != "channels") continue;
    for (const auto& row : table.rows) {
      const std::string& from = std::get<std::string>(row[1]);
      if (from.starts_with("terminal")) flits[std::stoul(from.substr(9)) % 2] += std::get<u64>(row[5]);
    }
  }
  ASSERT_GT(flits[0], 0U);
  EXPECT_NEAR(static_cast<double>(flits[1]) / static_cast<double>(flits[0]), 2.0, 0.05);  // 4 flits for 2
}

TEST(Subnetworks, ResultsDoNotDependOnShards) {
  const std::pair<std::string, Overrides> kinds[] = {
      {kMesh, {"topology.subnetworks=3"}},
      {kRequests, {"topology.subnetworks=3", "traffic.subnetwork=0", "traffic.reply_subnetwork=2"}}};
  for (const auto& [network, kind] : kinds) {
    const Result one = run_of(network, kind);
    for (const char* shards : {"2", "5", "16"}) {
      Overrides more = kind;
      more.push_back(std::string("run.shards=") + shards);
      const Result other = run_of(network, more, 2);
      EXPECT_EQ(one.state_hash, other.state_hash) << shards;
    }
    Overrides permuted = kind;
    permuted.insert(permuted.end(), {"run.step_order=permuted", "run.wake=all"});
    EXPECT_EQ(one.state_hash, run_of(network, permuted).state_hash);
  }
}

TEST(Subnetworks, EverySwitchModelHasThem) {
  const std::string run = "[run]\nduration = 1000\naudit = \"full\"\n";
  const std::string mesh = "topology = { name = \"mesh\", size = [4, 4], subnetworks = 2 }\n";
  const std::string cube = "topology = { name = \"multistage_cube\", terminals = 16, subnetworks = 2 }\n";
  const std::string tree = "topology = { name = \"fat_tree\", arity = 2, levels = 3, subnetworks = 2 }\n";
  const std::string uniform = "traffic = { name = \"uniform\", load = 0.2 }\n";
  for (const std::string& network :
       {mesh + "switch = \"vc_router\"\nrouting = \"dimension_order\"\n",
        mesh + "switch = { name = \"vc_router\", sw_allocator = \"wavefront\" }\nrouting = \"minimal_adaptive\"\n",
        mesh + "switch = \"circuit\"\nrouting = \"dimension_order\"\n",
        cube + "switch = \"output_queued\"\nrouting = \"destination_tag\"\n",
        tree + "switch = \"cioq\"\nrouting = { name = \"nearest_common_ancestor\", up = \"d_mod_k\" }\n"}) {
    SCOPED_TRACE(network);
    const Result result = run_of(network + uniform + run);
    EXPECT_EQ(result.verdict, Verdict::finished);
    EXPECT_GT(mean_of(result, "delivered_packets"), 0.0);
  }
}

TEST(Subnetworks, WhatDoesNotFitIsRefused) {
  EXPECT_THROW(run_of(kMesh, {"topology.subnetworks=2", "traffic.subnetwork=2"}), ConfigError);
  EXPECT_THROW(run_of(kMesh, {"traffic.subnetwork=1"}), ConfigError);
  EXPECT_THROW(run_of(kMesh, {"topology.subnetworks=2", "traffic.reply_subnetwork=1"}), ConfigError);
  EXPECT_THROW(run_of(kMesh, {"topology.subnetworks=0"}), ConfigError);
  EXPECT_THROW(run_of(kRequests, {"topology.subnetworks=2"}), ConfigError);
  EXPECT_THROW(run_of(kRequests, {"topology.subnetworks=2", "traffic.subnetwork=1"}), ConfigError);
  EXPECT_THROW(run_of(kSessions, {"topology.subnetworks=2"}), ConfigError);
}

TEST(Subnetworks, DeadlockIsJudgedInOneOfThem) {
  const auto notes = check_deadlock({experiment_of(kMesh, {"topology.subnetworks=4"})});
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_FALSE(notes.front().bad);
  EXPECT_EQ(notes.front().text, check_deadlock({experiment_of(kMesh)}).front().text);
}

}  // namespace
}  // namespace banyan::api::subnetworks_test
