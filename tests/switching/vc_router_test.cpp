// Is the virtual-channel router right to the cycle: latency, allocation, credits, and does it say why it deadlocks?
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "engine/machines.hpp"

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

  [[nodiscard]] Tick per_hop() const { return static_cast<Tick>(routing + vc_allocation + 1 + traversal); }
  [[nodiscard]] Given given() const {
    return {{"routing_delay", routing},
            {"vc_alloc_delay", vc_allocation},
            {"traversal_delay", traversal},
            {"credit_delay", credit}};
  }
};

const std::vector<Stages>& pipelines() {
  static const std::vector<Stages> list{{0, 0, 0, 0}, {1, 1, 1, 0}, {0, 1, 0, 2},
                                        {1, 0, 2, 1}, {3, 1, 1, 0}, {7, 0, 5, 3}};
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
    const Tick expected = 2 * c.terminal_latency + w.hops * stages.per_hop() + w.links + lines[i].flits - 1;
    ASSERT_EQ(times[i] - lines[i].birth, expected)
        << c.name << ": " << lines[i].source << " to " << lines[i].destination << ", " << lines[i].flits << " flits";
  }
  EXPECT_EQ(rig.machine().next(), kNever) << "an empty network sleeps";
}

TEST(VcRouterZeroLoad, LatencyEqualsTheClosedFormForEveryPairSizeAndPipeline) {
  for (const Stages& stages : pipelines()) {
    SCOPED_TRACE(testing::Message() << "routing " << stages.routing << ", vc " << stages.vc_allocation << ", traversal "
                                    << stages.traversal << ", credit " << stages.credit);
    for (const ZeroLoad& c : zero_load_cases()) expect_closed_form(c, stages);
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

// --- Deadlock
// ----------------------------------------------------------------------------------------------------------

banyan::api::Result run_torus(const std::string& switching, const std::string& routing, const std::string& more) {
  const std::string text =
      "topology = { name = 'torus', size = [8, 8] }\nswitch = " + switching + "\nrouting = " + routing +
      "\n[[traffic]]\nname = 'uniform'\nload = 0.9\nsize = 8\n[run]\nwarmup = 100\nwatchdog = 1000\n" + more;
  return banyan::api::run(banyan::api::read_experiments_text(text, "torus", {}).points.front(), {});
}

TEST(VcRouterDeadlock, ATorusWithoutDatelinesDeadlocksAndTheCycleIsExplained) {
  const banyan::api::Result result =
      run_torus("{ name = 'vc_router', vcs = 1, buffer = 4 }", "{ name = 'dimension_order', datelines = false }", "");
  EXPECT_EQ(result.verdict, banyan::api::Verdict::deadlocked);
  EXPECT_NE(result.explanation.find("packets wait on each other in a cycle:"), std::string::npos) << result.explanation;
  EXPECT_NE(result.explanation.find("packet "), std::string::npos) << result.explanation;
  EXPECT_NE(result.explanation.find("in switch ("), std::string::npos) << result.explanation;
  EXPECT_NE(result.explanation.find(" waits for output "), std::string::npos) << result.explanation;
  EXPECT_NE(result.explanation.find(" waits for a credit of output "), std::string::npos) << result.explanation;
}

TEST(VcRouterDeadlock, WithDatelinesItNeverDoes) {
  for (const char* const classes : {"change", "fixed", "balanced"}) {
    const banyan::api::Result result = run_torus(
        "{ name = 'vc_router', vcs = 2, buffer = 4 }",
        "{ name = 'dimension_order', classes = '" + std::string(classes) + "' }", "measure = 60000\ndrain = 200000\n");
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

TEST(VcRouterRefuses, SwitchesOfMoreThan64Ports) {
  Rig rig(crossbar(65), router(1, 4), kDimensionOrder);
  const std::string text = refusal([&] { rig.run_script({}); });
  EXPECT_NE(text.find("65 ports | use switches of at most 64 ports"), std::string::npos) << text;
}

}  // namespace
