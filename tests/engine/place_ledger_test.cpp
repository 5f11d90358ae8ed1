// Does the audit of credits see a credit that came from nowhere, and one that went?
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "banyan/base/error.hpp"
#include "engine/machines.hpp"

namespace banyan::engine::place_ledger_test {
namespace {

using Errors = std::vector<std::pair<std::pair<u32, u32>, i64>>;

Errors errors_of(const PlaceLedger& ledger) {
  Errors errors;
  ledger.for_each_error([&](u32 channel, u32 vc, i64 missing) { errors.push_back({{channel, vc}, missing}); });
  return errors;
}

TEST(PlaceLedger, EveryPlaceIsKnownOnce) {
  PlaceLedger ledger;
  ledger.open(3, 1, 8);
  ledger.known(3, 1, 5);
  ledger.known(3, 1, 3);
  EXPECT_TRUE(errors_of(ledger).empty());
  ledger.known(3, 1, 1);
  EXPECT_EQ(errors_of(ledger), (Errors{{{3, 1}, -1}}));
  ledger.open(0, 63, 2);
  EXPECT_EQ(errors_of(ledger), (Errors{{{0, 63}, 2}, {{3, 1}, -1}}));
}

TEST(PlaceLedger, ChannelsWithoutCreditsAreNotJudged) {
  PlaceLedger ledger;
  ledger.known(7, 0, 4);
  EXPECT_TRUE(errors_of(ledger).empty());
}

class Credits : public testing::TestWithParam<const char*> {
 protected:
  /// A mesh in the midst of its packets.
  Machine& busy(test::Rig& rig) {
    std::vector<test::Script::Line> lines;
    for (u32 s = 0; s < 16; ++s) {
      for (Tick t = 0; t < 20; t += 5) lines.push_back({s, t, 15 - s, 4});
    }
    Machine& machine = rig.run_script(lines);
    machine.run_until(15);
    machine.audit();
    return machine;
  }
  test::Rig rig() const {
    return test::Rig({"mesh", {{"size", std::vector<i64>{4, 4}}, {"latency", std::vector<i64>{3}}}},
                     {"vc_router", {{"vcs", i64{2}}, {"buffer", i64{4}}, {"kernel", std::string(GetParam())}}},
                     {"dimension_order"});
  }
  static ChannelPopulation& population(Machine& machine, std::size_t i) {
    return static_cast<ChannelPopulation&>(*machine.shards().front().populations[i]);
  }
  static std::string refusal(const Machine& machine) {
    try {
      machine.audit();
    } catch (const InvariantError& error) { return error.what(); }
    return "accepted";
  }
};

TEST_P(Credits, OneFromNowhereIsFound) {
  test::Rig rig = this->rig();
  Machine& machine = busy(rig);
  // Port 0 of the first switch leads to its neighbour.
  population(machine, 1).inbox().add(machine.next() + 1, ControlArrival{{kCredit, 1, 1}, 0, 0});
  EXPECT_NE(refusal(machine).find("virtual channel 1 of switch 0 port 0, 1 are known twice"), std::string::npos)
      << refusal(machine);
}

TEST_P(Credits, ThoseOfATerminalAreJudgedToo) {
  test::Rig rig = this->rig();
  Machine& machine = busy(rig);
  population(machine, 0).inbox().add(machine.next() + 1, ControlArrival{{kCredit, 0, 1}, 5, 0});
  EXPECT_NE(refusal(machine).find("of terminal 5 port 0, 1 are known twice"), std::string::npos) << refusal(machine);
}

TEST_P(Credits, LostOnesAreFound) {
  test::Rig rig = this->rig();
  Machine& machine = busy(rig);
  bool any = false;
  population(machine, 0).inbox().for_each([&](const auto& a) {
    any |= std::is_same_v<decltype(a), const ControlArrival&>;
  });
  ASSERT_TRUE(any);
  population(machine, 0).inbox().clear();
  EXPECT_NE(refusal(machine).find("are lost"), std::string::npos) << refusal(machine);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Credits, testing::Values("auto", "general"));

}  // namespace
}  // namespace banyan::engine::place_ledger_test
