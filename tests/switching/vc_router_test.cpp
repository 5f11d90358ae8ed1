// Is the virtual-channel router right to the cycle: latency, allocation, credits, and does it say why it deadlocks?
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "banyan/base/hash.hpp"
#include "engine/machines.hpp"
#include "support/effort.hpp"

namespace banyan::vc_router_test {
namespace {

using banyan::i64;
using banyan::kNever;
using banyan::Tick;
using banyan::u32;
using banyan::u64;
using banyan::test::Given;
using banyan::test::Part;
using banyan::test::Rig;
using Line = banyan::test::Script::Line;

using Ints = std::vector<i64>;

/// A flit that nothing stops leaves in the cycle after its arrival, unless `more` says otherwise.
Part router(i64 vcs, i64 buffer, const Given& more = {}) {
  Given given{{"vcs", vcs},
              {"buffer", buffer},
              {"routing_delay", i64{0}},
              {"vc_alloc_delay", i64{0}},
              {"traversal_delay", i64{0}}};
  given.insert(given.end(), more.begin(), more.end());
  return {"vc_router", given};
}

/// One switch that joins `terminals` terminals.
Part crossbar(i64 terminals, i64 latency = 1) {
  return {"mesh", {{"size", Ints{1}}, {"concentration", terminals}, {"terminal_latency", latency}}};
}

const Part kDimensionOrder{"dimension_order"};

// --- Zero load: latency = injection + hops * (routing + vc + 1 + traversal) + links + ejection + flits - 1
// ------------

struct ZeroLoad {
  std::string name;
  Part topology;
  Ints size;
  bool wrap;
  Ints latency;
  Tick terminal_latency;
};

/// Delays of the stages of one router.
struct Stages {
  i64 routing;
  i64 vc_allocation;
  i64 traversal;
  i64 credit;
  i64 sw_allocation = 1;
  bool speculative = false;

  [[nodiscard]] Tick per_hop() const {
    const i64 allocation = speculative ? std::max(vc_allocation, sw_allocation) : vc_allocation + sw_allocation;
    return static_cast<Tick>(routing + allocation + traversal);
  }
  [[nodiscard]] Given given() const {
    return {{"routing_delay", routing}, {"vc_alloc_delay", vc_allocation}, {"traversal_delay", traversal},
            {"credit_delay", credit},   {"sw_alloc_delay", sw_allocation}, {"speculative", speculative}};
  }
};

const std::vector<Stages>& pipelines() {
  static const std::vector<Stages> list{{0, 0, 0, 0},
                                        {1, 1, 1, 0},
                                        {0, 1, 0, 2},
                                        {1, 0, 2, 1},
                                        {3, 1, 1, 0},
                                        {7, 0, 5, 3},
                                        // what only the general kernel does
                                        {1, 1, 1, 0, 1, true},
                                        {0, 1, 0, 1, 1, true},
                                        {0, 3, 1, 0},
                                        {2, 1, 0, 1, 2},
                                        {1, 4, 2, 2, 3}};
  return list;
}

/// Switches passed and latencies of the channels between them, from coordinates alone.
struct Way {
  Tick hops = 1;
  Tick links = 0;
};

Way way(const ZeroLoad& c, u32 from, u32 to) {
  Way result;
  for (std::size_t d = 0; d < c.size.size(); ++d) {
    const i64 k = c.size[d];
    const i64 a = from % k;
    const i64 b = to % k;
    from /= static_cast<u32>(k);
    to /= static_cast<u32>(k);
    const i64 direct = a < b ? b - a : a - b;
    const i64 steps = c.wrap ? std::min(direct, k - direct) : direct;
    result.hops += static_cast<Tick>(steps);
    result.links += static_cast<Tick>(steps * c.latency[d]);
  }
  return result;
}

std::vector<ZeroLoad> zero_load_cases() {
  std::vector<ZeroLoad> cases;
  {
    const Given grid{{"size", Ints{4, 3}}, {"latency", Ints{1, 3}}, {"terminal_latency", i64{2}}};
    cases.push_back({"mesh", {"mesh", grid}, {4, 3}, false, {1, 3}, 2});
    cases.push_back({"torus", {"torus", grid}, {4, 3}, true, {1, 3}, 2});
    cases.push_back({"hypercube", {"hypercube", {{"degree", i64{4}}}}, {2, 2, 2, 2}, false, {1, 1, 1, 1}, 1});
  }
  return cases;
}

void expect_closed_form(const ZeroLoad& c, const Stages& stages) {
  Rig rig(c.topology, router(2, 40, stages.given()), kDimensionOrder);
  const u32 terminals = rig.topology().graph().terminals();
  std::vector<Line> lines;
  Tick birth = 0;
  for (u32 from = 0; from < terminals; ++from) {
    for (u32 to = 0; to < terminals; ++to) {
      for (const u32 flits : {1U, 2U, 5U, 20U}) {
        if (from != to) lines.push_back({from, birth, to, flits});
        birth += 200;
      }
    }
  }
  const std::vector<Tick> times = rig.deliveries(lines, kNever);
  ASSERT_EQ(times.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Way w = way(c, lines[i].source, lines[i].destination);
    const Tick expected = 2 * c.terminal_latency + w.hops * stages.per_hop() + w.links +
                          (lines[i].flits - 1) * static_cast<Tick>(stages.sw_allocation);
    ASSERT_EQ(times[i] - lines[i].birth, expected)
        << c.name << ": " << lines[i].source << " to " << lines[i].destination << ", " << lines[i].flits << " flits";
  }
  EXPECT_EQ(rig.machine().next(), kNever) << "an empty network sleeps";
}

TEST(VcRouterZeroLoad, LatencyEqualsTheClosedFormForEveryPairSizeAndPipeline) {
  for (const Stages& stages : pipelines()) {
    SCOPED_TRACE(testing::Message() << "routing " << stages.routing << ", vc " << stages.vc_allocation << ", traversal "
                                    << stages.traversal << ", credit " << stages.credit << ", switch "
                                    << stages.sw_allocation << (stages.speculative ? ", speculative" : ""));
    for (const ZeroLoad& c : zero_load_cases()) expect_closed_form(c, stages);
  }
}

/// Switches between two, counting both; channels between switches are `latency` long each.
struct Hops {
  explicit Hops(const banyan::core::Graph& of) : graph(of) {}

  [[nodiscard]] std::vector<u32> from(u32 first) const {
    std::vector<u32> hops(graph.switches(), 0);
    std::vector<u32> queue{first};
    hops[first] = 1;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (u32 port = 0; port < graph.outputs(queue[i]); ++port) {
        const u32 channel = graph.channel_out_of(queue[i], port);
        if (channel == banyan::kNone || graph.channel(channel).to.terminal) continue;
        const u32 next = graph.channel(channel).to.node;
        if (hops[next] != 0) continue;
        hops[next] = hops[queue[i]] + 1;
        queue.push_back(next);
      }
    }
    return hops;
  }
  [[nodiscard]] Tick latency() const {
    for (const banyan::core::Channel& c : graph.channels()) {
      if (!c.from.terminal && !c.to.terminal) return c.link.latency_cycles;
    }
    return 0;
  }

  const banyan::core::Graph& graph;
};

void expect_closed_form(const Part& topology, const Part& routing, const Stages& stages) {
  Rig rig(topology, router(4, 40, stages.given()), routing);
  const banyan::core::Graph& graph = rig.topology().graph();
  const Hops hops(graph);
  std::vector<Line> lines;
  std::vector<Tick> expected;
  for (u32 from = 0; from < graph.terminals(); ++from) {
    const banyan::core::Channel& in = graph.channel(graph.injection(from));
    const std::vector<u32> switches = hops.from(in.to.node);
    for (u32 to = from % 3; to < graph.terminals(); to += 3) {
      if (from == to) continue;
      const banyan::core::Channel& out = graph.channel(graph.ejection(to));
      const u32 flits = 1 + (from + to) % 6;
      lines.push_back({from, 200 * lines.size(), to, flits});
      expected.push_back(in.link.latency_cycles + out.link.latency_cycles + switches[out.from.node] * stages.per_hop() +
                         (switches[out.from.node] - 1) * hops.latency() +
                         (flits - 1) * static_cast<Tick>(stages.sw_allocation));
    }
  }
  const std::vector<Tick> times = rig.deliveries(lines, kNever);
  ASSERT_EQ(times.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ASSERT_EQ(times[i] - lines[i].birth, expected[i])
        << topology.name << ": " << lines[i].source << " to " << lines[i].destination;
  }
}

TEST(VcRouterZeroLoad, LatencyEqualsTheClosedFormOnEveryTopology) {
  const Part shortest{"shortest_path", {{"choice", std::string("fixed")}}};
  const Part ancestor{"nearest_common_ancestor", {{"up", std::string("d_mod_k")}}};
  const Part adaptive_ancestor{"nearest_common_ancestor", {{"up", std::string("adaptive")}}};
  const std::vector<std::pair<Part, Part>> networks{
      {{"mesh", {{"size", Ints{3, 2}}, {"concentration", i64{2}}, {"latency", Ints{2}}}}, kDimensionOrder},
      {{"torus", {{"size", Ints{5, 3}}, {"latency", Ints{3}}}}, kDimensionOrder},
      {{"hypercube", {{"degree", i64{4}}}}, kDimensionOrder},
      {{"hyperx", {{"size", Ints{3, 4}}, {"concentration", i64{2}}, {"latency", Ints{4}}}}, kDimensionOrder},
      {{"fat_tree", {{"arity", i64{3}}, {"levels", i64{3}}, {"latency", Ints{2}}}}, ancestor},
      {{"fat_tree", {{"arity", i64{3}}, {"levels", i64{3}}, {"latency", Ints{2}}}}, adaptive_ancestor},
      {{"mesh", {{"size", Ints{4, 4}}}}, {"minimal_adaptive"}},
      {{"xgft", {{"children", Ints{3, 3}}, {"parents", Ints{1, 2}}}}, ancestor},
      {{"bidirectional_min", {{"hosts", i64{16}}, {"ports", i64{4}}}}, ancestor},
      {{"multistage_cube", {{"terminals", i64{16}}, {"radix", i64{4}}}}, {"destination_tag"}},
      {{"extra_stage_cube", {{"terminals", i64{16}}, {"radix", i64{2}}}}, {"destination_tag"}},
      {{"dragonfly", {{"local_latency", i64{3}}, {"global_latency", i64{3}}}}, shortest},
      {{"slim_fly", {{"q", i64{3}}, {"concentration", i64{1}}, {"latency", i64{2}}}}, shortest},
      {{"graph_file"}, shortest},
  };
  for (const auto& [topology, routing] : networks) {
    SCOPED_TRACE(topology.name);
    for (const std::size_t i : {1U, 4U, 6U, 10U}) {
      if (i == 6U || !test::kSanitized) expect_closed_form(topology, routing, pipelines()[i]);
    }
  }
}

/// Settings that must not cost an unhindered packet a cycle.
const std::vector<Given>& free_of_charge() {
  static const std::vector<Given> list{
      {{"kernel", std::string("general")}},
      {{"vc_allocator", std::string("wavefront")}, {"sw_allocator", std::string("max_size")}},
      {{"vc_allocator", std::string("input_first")},
       {"sw_allocator", std::string("output_first")},
       {"arbiter", std::string("matrix")},
       {"sw_alloc_iterations", i64{3}}},
      {{"vc_allocator", std::string("output_first")},
       {"sw_allocator", std::string("input_first")},
       {"arbiter", std::string("age")}},
      {{"hold_switch_for_packet", true}},
      {{"wait_for_tail_credit", true}},
      {{"vc_busy_when_full", true}},
      {{"input_speedup", i64{2}}, {"output_speedup", i64{2}}},
      {{"buffer_policy", std::string("shared")}, {"reserved", i64{2}}},
      {{"flow", std::string("cut_through")}, {"kernel", std::string("general")}}};
  return list;
}

TEST(VcRouterZeroLoad, NeitherAllocatorsNorBuffersNorSpeedupsAddAnything) {
  for (const Given& more : free_of_charge()) {
    Given given{{"routing_delay", i64{1}}, {"vc_alloc_delay", i64{1}}, {"traversal_delay", i64{1}}};
    given.insert(given.end(), more.begin(), more.end());
    for (const u32 flits : {1U, 2U, 9U}) {
      Rig rig({"mesh", {{"size", Ints{5, 2}}}}, router(3, 40, given), kDimensionOrder);
      EXPECT_EQ(rig.latency_of({0, 0, 9, flits}), 2 + 6 * 4 + 5 + flits - 1) << more.front().first;
    }
  }
}

TEST(VcRouterZeroLoad, StoreAndForwardPaysTheLengthAtEveryHop) {
  for (const u32 flits : {1U, 2U, 9U}) {
    Rig rig({"mesh", {{"size", Ints{5}}}}, router(1, 12, {{"flow", std::string("store_and_forward")}}),
            kDimensionOrder);
    EXPECT_EQ(rig.latency_of({0, 0, 4, flits}), 2 + 5 + 4 + (flits - 1) * (5 + 1));
  }
}

TEST(VcRouterZeroLoad, AnInternalSpeedupPutsStagesIntoOneCycle) {
  const Given stages{{"routing_delay", i64{1}}, {"vc_alloc_delay", i64{1}}, {"traversal_delay", i64{0}}};
  Given fast = stages;
  fast.emplace_back("internal_speedup", 3.0);
  Rig slow_rig({"mesh", {{"size", Ints{5}}}}, router(1, 12, stages), kDimensionOrder);
  Rig fast_rig({"mesh", {{"size", Ints{5}}}}, router(1, 12, fast), kDimensionOrder);
  EXPECT_EQ(slow_rig.latency_of({0, 0, 4, 3}), 2 + 5 * 3 + 4 + 2);
  EXPECT_EQ(fast_rig.latency_of({0, 0, 4, 3}), 2 + 5 + 4 + 2) << "routing and both allocations in one cycle";
}

TEST(VcRouterZeroLoad, TheCrossbarCountsInStepsToo) {
  Given stages{{"routing_delay", i64{1}}, {"vc_alloc_delay", i64{1}}, {"traversal_delay", i64{1}}};
  // Four stages of one step: four steps make one cycle of them, two make two, one and a half three.
  for (const auto& [speedup, cycles] : std::vector<std::pair<double, Tick>>{{1.0, 4}, {2.0, 2}, {4.0, 1}, {5.0, 1}}) {
    Given fast = stages;
    fast.emplace_back("internal_speedup", speedup);
    Rig rig({"mesh", {{"size", Ints{5}}}}, router(1, 12, fast), kDimensionOrder);
    EXPECT_EQ(rig.latency_of({0, 0, 4, 3}), 2 + 5 * cycles + 4 + 2) << speedup;
  }
  stages.back().second = i64{3};  // a longer stage ends in the first step of its last cycle
  stages.emplace_back("internal_speedup", 4.0);
  Rig rig({"mesh", {{"size", Ints{5}}}}, router(1, 12, stages), kDimensionOrder);
  EXPECT_EQ(rig.latency_of({0, 0, 4, 3}), 2 + 5 * 3 + 4 + 2);
}

/// When packets of two terminals arrive that share a switch and nothing else, the second a cycle behind the first.
std::vector<Tick> arrivals_one_apart(const Given& given) {
  Rig rig(crossbar(4), router(2, 12, given), kDimensionOrder);
  return rig.deliveries({{0, 0, 2, 1}, {1, 1, 3, 1}});
}

TEST(VcRouterZeroLoad, AStageThatDoesNotOverlapMakesTheNextPacketWait) {
  for (const char* stage : {"routing_delay", "vc_alloc_delay", "sw_alloc_delay", "traversal_delay"}) {
    SCOPED_TRACE(stage);
    const std::vector<Tick> overlapping = arrivals_one_apart({{stage, i64{4}}});
    const std::vector<Tick> waiting = arrivals_one_apart({{stage, i64{4}}, {"overlapping_stages", false}});
    ASSERT_EQ(overlapping.size(), 2U);
    ASSERT_EQ(waiting.size(), 2U);
    EXPECT_EQ(overlapping[1], overlapping[0] + 1);
    EXPECT_EQ(waiting[0], overlapping[0]) << "the first finds the stage idle";
    EXPECT_EQ(waiting[1], waiting[0] + 4) << "the second begins when the first has finished";
    EXPECT_EQ(arrivals_one_apart({{stage, i64{1}}, {"overlapping_stages", false}}),
              arrivals_one_apart({{stage, i64{1}}}))
        << "a stage of one cycle is always idle";
  }
}

TEST(VcRouterZeroLoad, CutThroughAddsNothing) {
  for (const u32 flits : {1U, 7U}) {
    Rig rig({"mesh", {{"size", Ints{5}}}}, router(1, 8, {{"flow", std::string("cut_through")}}), kDimensionOrder);
    EXPECT_EQ(rig.latency_of({0, 0, 4, flits}), 2 + 5 + 4 + flits - 1);
  }
}

TEST(VcRouterZeroLoad, HopsAreSwitchesPassed) {
  Rig rig({"mesh", {{"size", Ints{4, 4}}}}, router(2, 4), kDimensionOrder);
  ASSERT_NE(rig.latency_of({0, 0, 15, 3}), kNever);
  EXPECT_EQ(rig.machine().tallies()[0].hops, 7U);
}

// --- Allocation ----------------------------------------------------------------------------------------------------

/// Terminals 2 and 3 send long packets to 1 and keep both virtual channels of that output busy; terminal 0 has a packet
/// for 1, which must wait, and behind it one for 2.
std::vector<Line> blockade() { return {{2, 0, 1, 100}, {3, 0, 1, 100}, {0, 10, 1, 1}, {0, 10, 2, 1}}; }

TEST(VcRouter, ABlockedVirtualChannelDoesNotBlockItsPort) {
  Rig rig(crossbar(4), router(2, 4), kDimensionOrder);
  const std::vector<Tick> times = rig.deliveries(blockade());
  ASSERT_EQ(times.size(), 4U);
  EXPECT_EQ(times[0], 11U + 3U) << "the packet to 2 passes the blocked one: one cycle behind it, zero load otherwise";
}

TEST(VcRouter, WithOneVirtualChannelTheHeadOfTheLineBlocks) {
  Rig rig(crossbar(4), router(1, 4), kDimensionOrder);
  const std::vector<Tick> times = rig.deliveries(blockade());
  ASSERT_EQ(times.size(), 4U);
  EXPECT_GT(times[0], 100U);
}

TEST(VcRouter, AnOutputSendsOneFlitPerCycle) {
  Rig rig(crossbar(4), router(4, 8), kDimensionOrder);
  const std::vector<Tick> times = rig.deliveries({{0, 0, 3, 40}, {1, 0, 3, 40}, {2, 0, 3, 40}});
  ASSERT_EQ(times.size(), 3U);
  EXPECT_EQ(times.back(), 3 + 120 - 1U) << "no cycle is lost either";
}

TEST(VcRouter, InputsShareAnOutputRoundRobin) {
  Rig rig(crossbar(4), router(4, 8), kDimensionOrder);
  const std::vector<Tick> times = rig.deliveries({{0, 0, 3, 40}, {1, 0, 3, 40}, {2, 0, 3, 40}});
  ASSERT_EQ(times.size(), 3U);
  EXPECT_EQ(times[1], times[0] + 1);
  EXPECT_EQ(times[2], times[0] + 2);
}

TEST(VcRouter, APacketHoldsItsVirtualChannelFromHeadToTail) {
  Rig rig(crossbar(4), router(1, 8), kDimensionOrder);
  const std::vector<Tick> times = rig.deliveries({{0, 0, 3, 40}, {1, 0, 3, 40}});
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0], 3 + 40 - 1U) << "no flit of the other packet comes between";
  EXPECT_EQ(times[1], times[0] + 40);
}

TEST(VcRouter, HeadsWaitForAVirtualChannelRoundRobin) {
  // Every source has three packets; with one virtual channel the sources take turns.
  std::vector<Line> lines;
  for (u32 source = 0; source < 3; ++source) {
    for (u32 k = 0; k < 3; ++k) lines.push_back({source, 0, 3, 10 + source});
  }
  Rig rig(crossbar(4), router(1, 8), kDimensionOrder);
  const std::vector<Tick> times = rig.deliveries(lines);
  ASSERT_EQ(times.size(), 9U);
  std::vector<Tick> lengths;
  for (std::size_t i = 1; i < times.size(); ++i) lengths.push_back(times[i] - times[i - 1]);
  EXPECT_EQ(lengths, (std::vector<Tick>{11, 12, 10, 11, 12, 10, 11, 12}));
}

/// Ring of eight, one virtual channel per dateline class. Packets 6->2 and 7->2 cross the wrap link (class 1), packets
/// 0->3 do not (class 0); the links 0->1 and 1->2 must carry both without end.
TEST(VcRouter, DatelineClassesShareALinkFairlyUnderOverload) {
  for (const bool general : {false, true}) {
    banyan::engine::EngineSettings settings;
    settings.shards = 8;
    Given more;
    if (general) more.emplace_back("kernel", std::string("general"));
    Rig rig({"torus", {{"size", Ints{8}}}}, router(2, 4, more),
            {"dimension_order", {{"classes", std::string("fixed")}}}, settings);
    std::vector<Line> lines;
    for (const u32 flits : {1U, 3U, 2U}) {
      for (u32 k = 0; k < 200; ++k) {
        for (const u32 source : {6U, 7U}) lines.push_back({source, 0, 2, flits});
        lines.push_back({0, 0, 3, flits});
      }
    }
    banyan::engine::Machine& machine = rig.run_script(lines);
    machine.run_until(500);
    machine.audit();
    const auto crossing = static_cast<double>(machine.shards()[2].terminals->recorder.delivered_flits());
    const auto staying = static_cast<double>(machine.shards()[3].terminals->recorder.delivered_flits());
    EXPECT_GT(crossing + staying, 450.0) << "the link is busy";
    EXPECT_NEAR(crossing / (crossing + staying), 0.5, 0.1);
  }
}

TEST(VcRouter, MasksOfSeveralWordsBehaveAsOneWord) {
  std::vector<Line> lines;
  for (u32 k = 0; k < 200; ++k) lines.push_back({k % 4, k / 2, (k * 7 + k / 4) % 4, 1 + k % 9});
  Rig narrow(crossbar(4), router(8, 4), kDimensionOrder);
  const std::vector<Tick> expected = narrow.deliveries(lines);
  ASSERT_EQ(expected.size(), lines.size());
  for (const i64 terminals : {9, 33, 64}) {
    Rig wide(crossbar(terminals), router(8, 4), kDimensionOrder);
    EXPECT_EQ(wide.deliveries(lines), expected) << terminals << " ports";
  }
}

/// Two implementations that share buffers and credits only: delivery by delivery the same.
TEST(VcRouter, TheFastKernelDoesWhatTheGeneralOneDoes) {
  const std::vector<Given> settings{
      {},
      {{"routing_delay", i64{1}}, {"vc_alloc_delay", i64{1}}, {"traversal_delay", i64{1}}},
      {{"routing_delay", i64{4}}, {"credit_delay", i64{2}}},
      {{"source_credit_delay", i64{1}}},
      {{"vc_alloc_delay", i64{1}}, {"vc_busy_when_full", true}},
      {{"flow", std::string("cut_through")}}};
  for (const Given& setting : settings) {
    for (const auto& [vcs, buffer, longest] :
         {std::tuple{1, 9, 9U}, {3, 9, 1U}, {4, 9, 4U}, {20, 9, 3U}, {3, 256, 4U}}) {
      std::vector<Line> lines;
      u64 word = 7;
      for (u32 k = 0; k < 3000; ++k) {
        word = banyan::mix64(word + 1);
        const auto draw = [&](u32 shift, u32 n) { return static_cast<u32>(word >> shift & 0xffffU) % n; };
        lines.push_back({draw(0, 24), k / 12, draw(16, 24), 1 + draw(32, longest)});
      }
      std::vector<Tick> times[2];
      for (const bool general : {false, true}) {
        Given given = setting;
        if (general) given.emplace_back("kernel", std::string("general"));
        Rig rig({"torus", {{"size", Ints{4, 3}}, {"concentration", i64{2}}}}, router(vcs + 1, buffer, given),
                kDimensionOrder);
        rig.run_script(lines);
        u64 seen = 0;
        while (rig.machine().next() < 20'000 && seen < lines.size()) {
          const Tick now = rig.machine().step();
          for (const u64 delivered = rig.machine().totals().delivered; seen < delivered; ++seen) {
            times[general ? 1 : 0].push_back(now);
          }
        }
        rig.machine().audit();
      }
      ASSERT_EQ(times[0].size(), lines.size());
      EXPECT_EQ(times[0], times[1]) << vcs << " virtual channels";
    }
  }
}

/// The fast kernel counts the places of a buffer in bytes where they are few enough.
TEST(VcRouter, BuffersFillToTheLastNumberOfAByteAndBeyond) {
  std::vector<Line> lines;
  for (u32 k = 0; k < 1500; ++k) lines.push_back({1 + k % 3, k / 3, 0, 1 + k % 2});
  for (const i64 buffer : {253, 254, 255, 256, 257}) {
    std::vector<std::vector<Tick>> times;
    for (const char* kernel : {"auto", "general"}) {
      Rig rig({"mesh", {{"size", Ints{4}}}}, router(1, buffer, {{"kernel", std::string(kernel)}}), kDimensionOrder);
      rig.run_script(lines);
      // Two of three sources' flits have nowhere to go, and fill the buffers from the last channel back.
      u32 most = 0;
      for (Tick end = 700; end < 720; ++end) {
        rig.machine().run_until(end);
        rig.machine().audit();
        banyan::engine::BlockedView view;
        rig.machine().blocked_on(view);
        for (const banyan::engine::Fill& fill : view.fills()) most = std::max(most, fill.used);
      }
      EXPECT_EQ(most, buffer) << kernel;
      times.push_back(rig.deliveries(lines));
    }
    EXPECT_EQ(times[0].size(), lines.size()) << buffer << " places";
    EXPECT_EQ(times[0], times[1]) << buffer << " places";
  }
}

TEST(VcRouter, SixtyFourPortsWithSixtyFourVirtualChannelsRun) {
  Rig rig(crossbar(64), router(64, 2), kDimensionOrder);
  std::vector<Line> lines;
  for (u32 k = 0; k < 640; ++k) lines.push_back({k % 64, k / 64, (k * 11 + 5) % 64, 3});
  EXPECT_EQ(rig.deliveries(lines).size(), lines.size());
}

// --- Credits ---------------------------------------------------------------------------------------------------------

TEST(VcRouterCredits, ABufferGivesItsPlacesOncePerRoundTrip) {
  // Between routers a credit counts 2 + traversal + 2 * latency + credit delay cycles after the grant that used it.
  for (const Tick latency : {1U, 5U}) {
    for (const Stages& stages : pipelines()) {
      if (stages.sw_allocation != 1) continue;
      const Tick round_trip = 2 + static_cast<Tick>(stages.traversal + stages.credit) + 2 * latency;
      for (u32 buffer = 1; buffer <= round_trip + 1; ++buffer) {
        const Part line{"mesh", {{"size", Ints{3}}, {"latency", Ints{static_cast<i64>(latency)}}}};
        Rig rig(line, router(1, buffer, stages.given()), kDimensionOrder);
        const u32 flits = 50;
        // While a router still routes the head, places fill up without coming back: then a buffer must cover that too.
        const auto stall = static_cast<Tick>(stages.routing + stages.vc_allocation);
        if (stall != 0 && buffer < round_trip + stall) continue;
        const Tick head = 2 + 3 * stages.per_hop() + 2 * latency;
        const Tick full = buffer >= round_trip ? flits - 1 : (flits - 1) / buffer * round_trip + (flits - 1) % buffer;
        EXPECT_EQ(rig.latency_of({0, 0, 2, flits}), head + full) << "latency " << latency << ", buffer " << buffer;
      }
    }
  }
}

TEST(VcRouterCredits, CutThroughWaitsForRoomForTheWholePacket) {
  // Eight places, round trips of 22 cycles: of the second packet of five flits, wormhole sends the first three at once.
  const std::vector<Line> lines{{0, 0, 1, 5}, {0, 0, 1, 5}};
  Rig wormhole(crossbar(2, 10), router(1, 8), kDimensionOrder);
  EXPECT_EQ(wormhole.deliveries(lines), (std::vector<Tick>{25, 44}));
  Rig cut_through(crossbar(2, 10), router(1, 8, {{"flow", std::string("cut_through")}}), kDimensionOrder);
  EXPECT_EQ(cut_through.deliveries(lines), (std::vector<Tick>{25, 48}));
}

TEST(VcRouterCredits, WaitingForTheTailsCreditLeavesTheVirtualChannelIdleForARoundTrip) {
  // Two packets of one flit over one virtual channel: the second head asks when the first one's place is free again.
  const std::vector<Line> lines{{0, 0, 1, 1}, {0, 0, 1, 1}};
  const Part line{"mesh", {{"size", Ints{2}}, {"latency", Ints{6}}}};
  Rig at_once(line, router(1, 8), kDimensionOrder);
  Rig waiting(line, router(1, 8, {{"wait_for_tail_credit", true}}), kDimensionOrder);
  const std::vector<Tick> first = at_once.deliveries(lines);
  EXPECT_EQ(first[1] - first[0], 1U);
  const std::vector<Tick> second = waiting.deliveries(lines);
  EXPECT_EQ(second[0], first[0]);
  EXPECT_EQ(second[1] - second[0], 2U + 2 * 6U) << "round trip of a credit";
}

TEST(VcRouterCredits, ASourceWaitsForTheTailsCreditToo) {
  // Two packets to different outputs over one virtual channel of a long injection channel.
  const std::vector<Line> lines{{0, 0, 1, 1}, {0, 0, 2, 1}};
  Rig at_once(crossbar(3, 10), router(1, 8), kDimensionOrder);
  Rig waiting(crossbar(3, 10), router(1, 8, {{"wait_for_tail_credit", true}}), kDimensionOrder);
  const std::vector<Tick> first = at_once.deliveries(lines);
  EXPECT_EQ(first[1] - first[0], 1U);
  const std::vector<Tick> second = waiting.deliveries(lines);
  EXPECT_EQ(second[0], first[0]);
  EXPECT_EQ(second[1] - second[0], 1U + 2 * 10U) << "round trip of a credit; a source has no crossbar to pass";
}

TEST(VcRouterCredits, ASourceCountsItsCreditsAfterSourceCreditDelay) {
  // One place: each flit waits for the credit of the one before. The crossbar makes the round trip of the switch's own
  // credits one cycle longer than that of a source's without a delay. The fast kernel and the general one.
  const std::vector<Line> lines{{0, 0, 1, 4}};
  for (const char* kernel : {"auto", "general"}) {
    const auto all = [&](i64 delay) {
      Rig rig(crossbar(2, 10), router(1, 1, {{"source_credit_delay", delay}, {"kernel", std::string(kernel)}}),
              kDimensionOrder);
      return rig.deliveries(lines)[0];
    };
    EXPECT_EQ(all(1), all(0)) << kernel;
    EXPECT_EQ(all(2) - all(1), 3U) << kernel;
    EXPECT_EQ(all(500) - all(1), 3U * 499) << kernel;
  }
}

TEST(VcRouterCredits, AVirtualChannelMayFillTheSharedPool) {
  // Of 4 x 6 places one virtual channel may use all but the reserved ones of the others: 24 - 3 cover a round trip
  // of 20.
  const Part line{"mesh", {{"size", Ints{3}}, {"latency", Ints{9}}}};
  const u32 flits = 100;
  Rig alone(line, router(4, 6), kDimensionOrder);
  Rig shared(line, router(4, 6, {{"buffer_policy", std::string("shared")}}), kDimensionOrder);
  EXPECT_EQ(shared.latency_of({0, 0, 2, flits}), 2 + 3 + 18 + flits - 1);
  EXPECT_GT(alone.latency_of({0, 0, 2, flits}), 3 * flits);
}

TEST(VcRouter, AHeldConnectionKeepsOthersFromTheOutput) {
  // Two packets of equal birth to one output: round-robin interleaves them, a held way sends one after the other.
  const std::vector<Line> lines{{0, 0, 3, 10}, {1, 0, 3, 10}};
  Rig shared(crossbar(4), router(2, 8, {{"kernel", std::string("general")}}), kDimensionOrder);
  Rig held(crossbar(4), router(2, 8, {{"hold_switch_for_packet", true}}), kDimensionOrder);
  const std::vector<Tick> turns = shared.deliveries(lines);
  const std::vector<Tick> whole = held.deliveries(lines);
  EXPECT_EQ(turns[1] - turns[0], 1U);
  EXPECT_GE(whole[1] - whole[0], 8U);
  EXPECT_EQ(whole[1], turns[1]) << "no cycle is lost";
}

TEST(VcRouter, InputSpeedupLetsOnePortFeedTwoOutputs) {
  // Terminal 0's two packets lie in different virtual channels; both outputs are free.
  const std::vector<Line> lines{{0, 0, 1, 6}, {0, 0, 2, 6}};
  Rig one(crossbar(3), router(2, 12), kDimensionOrder);
  Rig two(crossbar(3), router(2, 12, {{"input_speedup", i64{2}}}), kDimensionOrder);
  EXPECT_LE(two.deliveries(lines).back(), one.deliveries(lines).back());
}

TEST(VcRouter, TheAgeArbiterLetsTheOldestPass) {
  // The packet that was generated first stands in the input that round-robin serves last.
  const std::vector<Line> lines{{2, 0, 3, 30}, {0, 5, 3, 30}, {1, 5, 3, 30}};
  const Given age{{"arbiter", std::string("age")},
                  {"vc_allocator", std::string("output_first")},
                  {"sw_allocator", std::string("output_first")}};
  Rig turns(crossbar(4), router(4, 8, {{"kernel", std::string("general")}}), kDimensionOrder);
  Rig oldest(crossbar(4), router(4, 8, age), kDimensionOrder);
  EXPECT_EQ(oldest.deliveries(lines).front(), 2U + 1 + 29) << "as if alone";
  EXPECT_GT(turns.deliveries(lines).front(), 60U);
}

// --- Deadlock
// ----------------------------------------------------------------------------------------------------------

banyan::api::Result run_torus(const std::string& switching, const std::string& routing, const std::string& more) {
  const std::string text =
      "topology = { name = 'torus', size = [8, 8] }\nswitch = " + switching + "\nrouting = " + routing +
      "\n[[traffic]]\nname = 'uniform'\nload = 0.9\nsize = 8\n[run]\nwarmup = 100\nwatchdog = 1000\n" + more;
  return banyan::api::run(banyan::api::read_experiments_text(text, "torus", {}).points.front(), {});
}

TEST(VcRouterDeadlock, ATorusWithoutDatelinesDeadlocksAndTheCycleIsExplained) {
  // Which of the two a packet of the cycle waits for differs from seed to seed.
  std::string all;
  for (const char* const seed : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
    const banyan::api::Result result =
        run_torus("{ name = 'vc_router', vcs = 1, buffer = 4 }", "{ name = 'dimension_order', datelines = false }",
                  std::string("seed = ") + seed + "\n");
    EXPECT_EQ(result.verdict, banyan::api::Verdict::deadlocked);
    EXPECT_NE(result.explanation.find("packets wait on each other in a cycle:"), std::string::npos)
        << result.explanation;
    EXPECT_NE(result.explanation.find("packet "), std::string::npos) << result.explanation;
    EXPECT_NE(result.explanation.find("in switch ("), std::string::npos) << result.explanation;
    all += result.explanation;
  }
  EXPECT_NE(all.find(" waits for output "), std::string::npos) << all;
  EXPECT_NE(all.find(" waits for a credit of output "), std::string::npos) << all;
}

TEST(VcRouterDeadlock, WithDatelinesItNeverDoes) {
  for (const char* const classes : {"change", "fixed", "balanced"}) {
    const banyan::api::Result result = run_torus(
        "{ name = 'vc_router', vcs = 2, buffer = 4 }",
        "{ name = 'dimension_order', classes = '" + std::string(classes) + "' }", "measure = 10000\ndrain = 20000\n");
    EXPECT_EQ(result.verdict, banyan::api::Verdict::saturated) << classes << ": " << result.explanation;
    EXPECT_GT(result.at("accepted_load").mean, 0.2);
  }
}

// --- Bad input
// ---------------------------------------------------------------------------------------------------------

template <class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const banyan::ConfigError& error) { return error.cause() + " | " + error.remedy(); }
  return "";
}

TEST(VcRouterRefuses, CutThroughWithPacketsThatDoNotFit) {
  Rig rig(crossbar(2), router(1, 4, {{"flow", std::string("cut_through")}}), kDimensionOrder);
  const std::string text = refusal([&] { rig.run_script({{0, 0, 1, 5}}); });
  EXPECT_NE(text.find("packets of 5 flits do not fit into 4 | use buffer = 5"), std::string::npos) << text;
}

TEST(VcRouterRefuses, SettingsThatContradictEachOther) {
  const std::vector<std::pair<Given, std::string>> cases{
      {{{"arbiter", std::string("age")}}, "set vc_allocator = \"output_first\""},
      {{{"sw_allocator", std::string("wavefront")}, {"sw_alloc_iterations", i64{2}}}, "leave sw_alloc_iterations out"},
      {{{"reserved", i64{2}}}, "leave reserved out"},
      {{{"buffer_policy", std::string("shared")}, {"reserved", i64{9}}}, "use reserved = 8 or less"},
      {{{"speculative", true}, {"vc_alloc_delay", i64{2}}}, "speculative = false"},
      {{{"input_speedup", i64{3}}}, "use input_speedup = 2 or less"},
      {{{"output_buffer", i64{3}}}, "leave output_buffer out"}};
  for (const auto& [given, remedy] : cases) {
    Rig rig(crossbar(3), router(2, 8, given), kDimensionOrder);
    const std::string text = refusal([&] { rig.run_script({}); });
    EXPECT_NE(text.find(remedy), std::string::npos) << given.front().first << ": " << text;
  }
}

}  // namespace
}  // namespace banyan::vc_router_test
