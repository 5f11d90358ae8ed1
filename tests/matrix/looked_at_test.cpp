// Is what others see of a network (who waits for what, flits of channels, packets of flows, its hash and its audits)
// the same however it is cut into shards and ranks? And is everything seen once? Every switch with its routings and
// traffics.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "banyan/api/measure/steady.hpp"
#include "banyan/api/network.hpp"
#include "banyan/base/archive.hpp"
#include "banyan/base/error.hpp"
#include "banyan/engine/congestion.hpp"
#include "engine/small_instances.hpp"
#include "support/rank_hub.hpp"

namespace banyan::looked_at_test {
namespace {

using test::Combination;

constexpr Tick kLooks = 14;
constexpr const char* kRun = "warmup = 100, measure = 600, sessions = 1, audit = 'full'";

std::vector<std::string> seen_of(const engine::BlockedView& view) {
  std::vector<std::string> all;
  for (const engine::Fill& f : view.fills())
    all.push_back(fmt::format("{:x} holds {} of {}", f.resource, f.used, f.capacity));
  for (const engine::Blocked& b : view.all_blocked()) {
    all.push_back(fmt::format("{:x} waits for {:x}, why {}, via {}, {} to {}, packet {:x}", b.resource, b.on,
                              static_cast<u32>(b.why), b.via, b.source, b.destination, b.packet));
  }
  for (const engine::Content& c : view.contents()) {
    const core::Packet& p = *c.packet;
    all.push_back(fmt::format("{:x} has {} {} {} to {}, tag {:x}, state {:x}, class {}, route {:x}", c.resource,
                              p.source, p.traffic, p.sequence, p.destination, p.tag, p.state, p.vc_class, c.route));
  }
  for (const engine::SetAside& s : view.all_set_aside())
    all.push_back(fmt::format("{:x} is set aside for {} and holds {}", s.resource, s.root, s.used));
  std::sort(all.begin(), all.end());
  return all;
}

/// The ways that packets carry end at their destinations. Returns how many do.
u64 ways_that_lead_home(const engine::BlockedView& view, const core::Graph& graph) {
  if (view.route_bits() == 0) return 0;
  const engine::SourceRoutes routes(graph);
  u64 home = 0;
  for (const engine::Content& c : view.contents()) {
    const engine::Resource at = engine::Resource::of(c.resource);
    EXPECT_NE(at.kind, engine::ResourceKind::memory) << "a way begins behind a channel";
    u32 last = at.kind == engine::ResourceKind::source ? graph.injection(at.index) : at.index;
    routes.follow(last, c.route, view.route_bits(), [&](u32 channel) { last = channel; });
    EXPECT_EQ(last, graph.ejection(c.packet->destination)) << c.packet->source << " to " << c.packet->destination;
    ++home;
  }
  return home;
}

/// What can be seen of a machine, kLooks times.
struct Seen {
  u64 ways = 0;
  std::vector<u64> hashes;
  std::vector<u64> audited;
  std::vector<std::vector<std::string>> views;
  std::string probed;
};

std::string told(const engine::ProbeReport& report) {
  std::string text = fmt::format("{}", fmt::join(report.channel_flits, " "));
  for (const engine::Flow& f : report.flows)
    text += fmt::format("\n{} to {}: {} {} {} {}", f.source, f.destination, f.packets, f.flits, f.latency, f.queueing);
  for (const engine::SentMessage& m : report.messages) text += fmt::format("\n{} {} {}", m.birth, m.source, m.flits);
  return text;
}

class Looker {
 public:
  Looker(const api::Experiment& experiment, const api::Network& network, u32 shards, engine::Ranks* ranks = nullptr)
      : experiment_(experiment), network_(network), settings_(api::engine_settings(experiment)) {
    const bool sessions = api::has_sessions(experiment, api::build_traffics(experiment, *network.topology));
    if (!sessions)
      settings_.steady = api::steady_plan(experiment.run, static_cast<Tick>(experiment.run.integer("measure")));
    end_ = sessions ? kNever : settings_.steady.end;
    settings_.probe.channels = settings_.probe.flows = settings_.probe.messages = true;
    settings_.trees = true;
    settings_.shards = shards;
    settings_.ranks = ranks;
    instance_ = make();
  }
  /// Whether there is more than one shard.
  [[nodiscard]] bool is_cut() const { return instance_.machine->cut().shards > 1; }

  /// After every so many ticks. `moved`: another machine takes over on the way.
  Seen look(Tick every, bool moved) {
    Seen seen;
    for (Tick at = every; at <= kLooks * every; at += every) {
      instance_.machine->run_until(at);
      seen.hashes.push_back(instance_.machine->hash());
      seen.audited.push_back(instance_.machine->audit());
      engine::BlockedView view(true);
      view.look_at(at);
      instance_.machine->blocked_on(view);
      seen.views.push_back(seen_of(view));
      seen.ways += ways_that_lead_home(view, network_.topology->graph());
      if (moved && at == kLooks / 2 * every) take_over();
    }
    seen.probed = told(instance_.machine->probed());
    return seen;
  }

 private:
  api::Instance make() {
    api::Instance instance = api::build_instance(experiment_, network_, settings_);
    instance.machine->reset(0);
    instance.machine->set_window({0, end_ - 1});
    return instance;
  }
  void take_over() {
    ArchiveToText written;
    written(*instance_.machine);
    const std::string state = written.take();
    instance_ = make();
    ArchiveOfText read(state);
    read(*instance_.machine);
    EXPECT_TRUE(read.ended());
  }

  const api::Experiment& experiment_;
  const api::Network& network_;
  engine::EngineSettings settings_;
  Tick end_ = 0;
  api::Instance instance_;
};

void expect_same(const Seen& one, const Seen& other, const std::string& what) {
  EXPECT_EQ(one.hashes, other.hashes) << what;
  EXPECT_EQ(one.audited, other.audited) << what;
  EXPECT_EQ(one.probed, other.probed) << what;
  EXPECT_EQ(one.ways, other.ways) << what;
  EXPECT_TRUE(one.views == other.views) << what;
  for (std::size_t i = 0; i < one.views.size(); ++i) {
    const auto at =
        std::mismatch(one.views[i].begin(), one.views[i].end(), other.views[i].begin(), other.views[i].end());
    if (at.first == one.views[i].end() && at.second == other.views[i].end()) continue;
    ADD_FAILURE() << what << ", look " << i << ": " << (at.first == one.views[i].end() ? "nothing" : *at.first)
                  << " instead of " << (at.second == other.views[i].end() ? "nothing" : *at.second);
    return;
  }
}

struct Tried {
  std::map<std::string, u32> whole;   ///< by switch
  std::map<std::string, u32> copied;  ///< of those over ranks: switches copy packets
  std::map<std::string, u32> cut;
  std::map<std::string, u32> shared;
  std::map<std::string, u64> ways;

  void one(const std::string& name, const api::Experiment& experiment, Tick every, bool over_ranks) {
    const api::Network network = api::build_network(experiment);
    const std::string& model = experiment.switching.component();
    Looker alone(experiment, network, 1);
    const Seen seen = alone.look(every, false);
    ++whole[model];
    ways[model] += seen.ways;
    for (const std::vector<std::string>& view : seen.views) {
      const auto twice = std::adjacent_find(view.begin(), view.end());
      EXPECT_TRUE(twice == view.end()) << name << ": twice: " << *twice;
    }
    Looker in_shards(experiment, network, 3);
    if (!in_shards.is_cut()) return;
    expect_same(in_shards.look(every, false), seen, name + " in shards");
    ++cut[model];
    if (!over_ranks) return;
    test::on_ranks(2, [&](engine::Ranks& ranks) {
      try {
        expect_same(Looker(experiment, network, 4, &ranks).look(every, true), seen, name + " over ranks");
      } catch (const std::exception& error) { ADD_FAILURE() << name << " over ranks: " << error.what(); }
    });
    ++shared[model];
    const api::Traffics traffics = api::build_traffics(experiment, *network.topology);
    if (std::ranges::any_of(traffics, [](const auto& traffic) { return traffic->replicates(); })) ++copied[model];
  }
};

/// What several processes cannot share, by the traits of traffics (api/over_ranks.cpp).
bool may_be_shared(const api::Experiment& experiment) {
  const api::Network network = api::build_network(experiment);
  const api::Traffics traffics = api::build_traffics(experiment, *network.topology);
  return std::none_of(traffics.begin(), traffics.end(), [](const auto& traffic) { return traffic->fetch_adds(); });
}

TEST(LookedAt, EveryCombinationIsTheSameInEveryCut) {
  Tried tried;
  std::size_t i = 0;
  for (const Combination& c : test::some_combinations()) {
    ++i;
    try {
      const api::Experiment experiment = c.experiment(kRun, {{"load", i % 2 == 0 ? "0.9" : "0.3"}});
      tried.one(c.name(), experiment, 50, may_be_shared(experiment));
    } catch (const ConfigError&) {}
  }
  for (const core::SwitchRow* row : core::switching_rows())
    EXPECT_TRUE(tried.whole.contains(row->info.name)) << row->info.name;
  for (const char* model : {"vc_router", "cioq", "central_buffer", "input_buffer"}) {
    EXPECT_TRUE(tried.cut.contains(model)) << model;
    EXPECT_TRUE(tried.shared.contains(model)) << model;
  }
  for (const char* model : {"central_buffer", "input_buffer"}) EXPECT_TRUE(tried.copied.contains(model)) << model;
}

/// Worms for several destinations that branch where the cut runs: on the way up and down, one output after the other or
/// all at once, in hardware and in phases of both.
TEST(LookedAt, EveryWayOfCopyingIsTheSameInEveryCut) {
  Tried tried;
  const std::vector<std::string> switches = {
      "name = 'central_buffer'", "name = 'central_buffer', replicate_on = 'both_ways'", "name = 'input_buffer'",
      "name = 'input_buffer', replication = 'synchronous'", "name = 'input_buffer', replicate_on = 'both_ways'"};
  const std::vector<std::string> traffics = {
      "name = 'multicast', load = 0.3, degree = 7, size = 20",
      "name = 'multicast', load = 0.9, degree = 15, share = 0.5, size = 33",
      "name = 'multicast', load = 0.3, degree = 9, encoding = 'multiport'",
      "name = 'multicast_collective', operation = 'broadcast', iterations = 20",
      "name = 'multicast_collective', operation = 'all_reduce', implementation = 'in_network', iterations = 50",
      "name = 'multicast_collective', operation = 'barrier', encoding = 'multiport', iterations = 20"};
  for (const std::string& one : switches) {
    for (const std::string& traffic : traffics) {
      if (one.find("'input_buffer'") != std::string::npos && traffic.find("in_network") != std::string::npos) continue;
      const std::string text = fmt::format(
          "topology = {{ name = 'bidirectional_min', hosts = 32, ports = 8 }}\nswitch = {{ {} }}\n"
          "routing = 'nearest_common_ancestor'\ntraffic = {{ {} }}\nrun = {{ {} }}\n",
          one, traffic, kRun);
      try {
        tried.one(text, api::read_experiments_text(text, "worms", {}).points.front(), 50, true);
      } catch (const ConfigError& error) { ADD_FAILURE() << error.what() << text; }
    }
  }
  for (const char* model : {"central_buffer", "input_buffer"}) EXPECT_TRUE(tried.copied.contains(model)) << model;
}

/// Contributions and results that leave a rank and come back to it, chunk by chunk.
TEST(LookedAt, ReductionsAreTheSameInEveryCut) {
  Tried tried;
  const std::vector<std::string> networks = {
      "topology = { name = 'graph_file', lines = ['switch s0', 'switch s1', 'switch s2', 'switch s3', 'switch s4', "
      "'terminal t0 s0', 'terminal t1 s1', 'terminal t2 s2', 'terminal t3 s3', 'terminal t4 s4', 'link s0 s1', "
      "'link s0 s2', 'link s2 s3', 'link s2 s4'] }\nrouting = 'up_down'\n",
      "topology = { name = 'xgft', children = [2, 3, 2], parents = [1, 2, 3], latency = [3] }\n"
      "routing = 'nearest_common_ancestor'\n",
      "topology = { name = 'bidirectional_min', hosts = 27, ports = 6, latency = [3] }\n"
      "routing = 'nearest_common_ancestor'\n"};
  for (const std::string& network : networks) {
    for (const u32 size : {16U, 64U, 200U}) {
      const std::string text = fmt::format(
          "{}switch = {{ name = 'central_buffer', chunk = 4, chunks = 512 }}\ntraffic = {{ name = "
          "'multicast_collective', operation = 'all_reduce', implementation = 'in_network', iterations = 20, size = {} "
          "}}\nrun = {{ {} }}\n",
          network, size, kRun);
      try {
        tried.one(text, api::read_experiments_text(text, "sums", {}).points.front(), 61, true);
      } catch (const ConfigError& error) { ADD_FAILURE() << error.what() << text; }
    }
  }
  EXPECT_EQ(tried.copied["central_buffer"], 9U);
}

/// Queues that are set aside, pauses and classes: what tells the ports of a channel of each other, in a fire.
TEST(LookedAt, EveryOrganizationOfQueuesIsTheSameInEveryCut) {
  Tried tried;
  for (const char* queues : {"1q", "voqsw", "voqnet", "dbbm", "recn_basic", "recn_enhanced"}) {
    for (const char* control : {"credits", "pause"}) {
      const std::string text = fmt::format(
          "topology = {{ name = 'bidirectional_min', hosts = 16 }}\n"
          "routing = {{ name = 'nearest_common_ancestor', up = 'destination_digit' }}\n"
          "switch = {{ name = 'cioq', queues = '{}', flow_control = '{}', memory = 32768, packet = 64, "
          "egress_detection = 12, ingress_detection = 6, propagation = 3, xoff = 9, xon = 3, speedup = 1.5 }}\n"
          "traffic = {{ name = 'hot_spot', load = 0.9, size = 64, fraction = 0.5 }}\nrun = {{ {} }}\n",
          queues, control, "warmup = 0, measure = 21000");
      try {
        tried.one(text, api::read_experiments_text(text, "fire", {}).points.front(), 1500, true);
      } catch (const ConfigError& error) { ADD_FAILURE() << error.what(); }
    }
  }
  EXPECT_EQ(tried.shared["cioq"], 12U);
  EXPECT_GT(tried.ways["cioq"], 10'000U);
}

}  // namespace
}  // namespace banyan::looked_at_test
