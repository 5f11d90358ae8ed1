// Does each switch model do in one switch, cycle by cycle, what it says: with flits and credits put in by hand where it
// is reached over channels, with packets at its terminals where it holds whole networks?
#include "support/switch_alone.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/machines.hpp"
#include "support/rows.hpp"

namespace banyan::switch_alone_test {
namespace {

using test::Given;
using test::Part;
using test::SwitchAlone;

// --- over channels: vc_router, both kernels ----------------------------------------------------------------------

class OverChannels : public testing::TestWithParam<std::string> {
 protected:
  /// A router of four terminals and one virtual channel that passes a flit on in the cycle after its arrival.
  static SwitchAlone router(i64 buffer) {
    std::unique_ptr<core::Topology> topology =
        test::topology("mesh", {{"size", std::vector<i64>{1}}, {"concentration", i64{4}}});
    std::unique_ptr<core::Routing> routing = test::routing("dimension_order", *topology, 1);
    const core::SwitchRow& row = test::row_named(core::switching_rows(), "vc_router");
    const Part part{"vc_router",
                    {{"vcs", i64{1}},
                     {"buffer", buffer},
                     {"routing_delay", i64{0}},
                     {"vc_alloc_delay", i64{0}},
                     {"traversal_delay", i64{0}},
                     {"kernel", GetParam()}}};
    return {std::move(topology), std::move(routing), row, test::values_of(row, part)};
  }
  /// The flits that have arrived at a terminal in a cycle, as packet * 100 + number.
  static std::vector<u32> at(u32 terminal, const SwitchAlone::Out& out) {
    std::vector<u32> flits;
    for (const engine::FlitArrival& a : out.flits) {
      if (a.entity == terminal) flits.push_back(a.flit.packet * 100 + a.flit.sequence);
    }
    return flits;
  }
};

TEST_P(OverChannels, AFlitTakesACycleAndItsChannelAndFreesItsPlace) {
  SwitchAlone alone = router(4);
  const core::PacketId id = alone.packet(0, 2, 1);
  alone.put(id, 0);
  for (Tick t = 0; t < 6; ++t) {
    const SwitchAlone::Out out = alone.cycle();
    EXPECT_EQ(at(2, out), t == 2 ? std::vector<u32>{id * 100} : std::vector<u32>{}) << t;
    ASSERT_EQ(out.controls.size(), t == 2 ? 1U : 0U) << t;
    for (const engine::ControlArrival& credit : out.controls) {
      EXPECT_EQ(credit.entity, 0U) << "it goes to the terminal that sent the flit";
    }
  }
}

TEST_P(OverChannels, NoFlitLeavesWithoutACredit) {
  SwitchAlone alone = router(2);
  const core::PacketId id = alone.packet(0, 3, 4);
  std::vector<Tick> left;
  for (Tick t = 0; t < 30; ++t) {
    if (t < 2) alone.put(id, static_cast<u32>(t));
    if (t == 5 || t == 6) alone.put(id, static_cast<u32>(t - 3));
    if (t == 12 || t == 20) alone.credit(3);
    if (!at(3, alone.cycle()).empty()) left.push_back(t);
  }
  EXPECT_EQ(left, (std::vector<Tick>{2, 3, 14, 22}));
}

TEST_P(OverChannels, APacketKeepsItsVirtualChannelToItsTail) {
  SwitchAlone alone = router(8);
  const core::PacketId first = alone.packet(0, 3, 3);
  const core::PacketId second = alone.packet(1, 3, 2);
  std::vector<u32> order;
  for (Tick t = 0; t < 20; ++t) {
    if (t == 0 || t == 4 || t == 8) alone.put(first, static_cast<u32>(t / 4));  // with gaps
    if (t == 1 || t == 2) alone.put(second, static_cast<u32>(t - 1));
    for (const u32 flit : at(3, alone.cycle())) order.push_back(flit);
  }
  EXPECT_EQ(order, (std::vector<u32>{first * 100, first * 100 + 1, first * 100 + 2, second * 100, second * 100 + 1}));
}

TEST_P(OverChannels, OutputsAreServedAtOnceAndInputsTakeTurns) {
  SwitchAlone alone = router(8);
  std::vector<u32> from;
  for (Tick t = 0; t < 12; ++t) {
    if (t < 4) {
      alone.put(alone.packet(0, 3, 1), 0);
      alone.put(alone.packet(1, 3, 1), 0);
      alone.put(alone.packet(2, 1, 1), 0);
    }
    const SwitchAlone::Out out = alone.cycle();
    EXPECT_EQ(at(1, out).size(), t >= 2 && t < 6 ? 1U : 0U) << "nobody hinders the packets for terminal 1, " << t;
    for (const u32 flit : at(3, out)) from.push_back(flit / 100 % 3);  // packets were made in turn
  }
  ASSERT_EQ(from.size(), 8U);
  for (std::size_t i = 2; i < from.size(); ++i) EXPECT_NE(from[i], from[i - 1]) << i;
}

INSTANTIATE_TEST_SUITE_P(Kernels, OverChannels, testing::Values("auto", "general"),
                         [](const auto& kernel) { return kernel.param; });

// --- whole networks: one switch of them ---------------------------------------------------------------------------

struct Whole {
  Part switching;
  Part topology;
  Part routing;
  u32 flits;
  /// How much later the second of two for the same terminal arrives: the flits or, with cioq's overhead of 6, the bytes
  /// that pass the channel before it. A circuit's header tries again in the cycle in which the first tail has passed,
  /// and then takes what it takes alone. Terminals of one packet_node exchange messages at once.
  Tick behind;
};

class OneSwitch : public testing::TestWithParam<Whole> {
 protected:
  /// From birth to arrival, of a message that meets nobody: what the model's row says of channels of one cycle.
  [[nodiscard]] static Tick alone() {
    const core::SwitchRow& row = test::row_named(core::switching_rows(), GetParam().switching.name);
    const core::ZeroLoad zero = row.zero_load(test::values_of(row, GetParam().switching), GetParam().flits);
    return static_cast<Tick>(zero.home ? *zero.home : zero.fixed + 2 * zero.ends);
  }
  [[nodiscard]] static std::vector<Tick> deliveries(const std::vector<test::Script::Line>& lines) {
    test::Rig rig(GetParam().topology, GetParam().switching, GetParam().routing);
    return rig.deliveries(lines);
  }
};

TEST_P(OneSwitch, AMessageThatMeetsNobodyTakesItsZeroLoadLatency) {
  const u32 flits = GetParam().flits;
  EXPECT_EQ(deliveries({{0, 10, 1, flits}}), (std::vector<Tick>{10 + alone()}));
}

TEST_P(OneSwitch, MessagesToDifferentTerminalsDoNotHinderEachOther) {
  const u32 flits = GetParam().flits;
  const Tick at = 10 + alone();
  EXPECT_EQ(deliveries({{0, 10, 1, flits}, {2, 10, 3, flits}}), (std::vector<Tick>{at, at}));
}

TEST_P(OneSwitch, OfTwoForOneTerminalTheSecondWaitsForTheFirst) {
  const u32 flits = GetParam().flits;
  const Tick at = 10 + alone();
  EXPECT_EQ(deliveries({{0, 10, 1, flits}, {2, 10, 1, flits}}), (std::vector<Tick>{at, at + GetParam().behind}));
}

const Part kTree{"bidirectional_min", {{"hosts", i64{4}}, {"ports", i64{8}}}};
const Part kUpAndDown{"nearest_common_ancestor"};

INSTANTIATE_TEST_SUITE_P(
    Models, OneSwitch,
    testing::Values(Whole{{"central_buffer"}, kTree, kUpAndDown, 16, 16},
                    Whole{{"input_buffer"}, kTree, kUpAndDown, 16, 16},
                    Whole{{"cioq"}, kTree, {"nearest_common_ancestor", {{"up", std::string("d_mod_k")}}}, 64, 64 + 6},
                    Whole{{"output_queued"},
                          {"multistage_cube", {{"terminals", i64{4}}, {"radix", i64{4}}}},
                          {"destination_tag"},
                          1,
                          1},
                    Whole{{"circuit", {{"ejection_circuits", i64{1}}}},
                          {"mesh", {{"size", std::vector<i64>{1}}, {"concentration", i64{4}}}},
                          {"dimension_order"},
                          16,
                          15},
                    Whole{{"packet_node"},
                          {"mesh", {{"size", std::vector<i64>{1}}, {"concentration", i64{4}}}},
                          {"dimension_order"},
                          16,
                          0}),
    [](const auto& model) { return model.param.switching.name; });

}  // namespace
}  // namespace banyan::switch_alone_test
