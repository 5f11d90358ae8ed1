// Is a buffer below the credit round trip told, and is the number of flits right: does a stream run at full speed with
// so many, and not with one less?
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "api/runs.hpp"
#include "banyan/api/experiment.hpp"

namespace banyan::api::round_trip_test {
namespace {

/// One long packet alone, through one virtual channel of one long channel. The round trip is 2 x 5 cycles of channel,
/// 1 + 1 of traversal, and 1 in the next buffer.
const std::string kLine =
    "topology = { name = \"mesh\", size = [2], latency = [5] }\n"
    "switch   = { name = \"vc_router\", vcs = 1, buffer = 13 }\n"
    "routing  = \"dimension_order\"\n"
    "traffic  = { name = \"permutation\", pattern = \"bit_complement\", process = \"at_once\", batch = 1, size = 1000 "
    "}\n"
    "run      = { duration = 5000 }\n";
/// Two switches of four stages, the three channels, and the other flits.
constexpr double kUnhindered = 2 * 4 + 1 + 5 + 1 + 999;

double latency(const Overrides& overrides) { return run_of(kLine, overrides).find("packet_latency")->mean; }

TEST(RoundTrip, SoManyFlitsAsIsSaidRunAtFullSpeed) {
  EXPECT_EQ(latency({}), kUnhindered);
  EXPECT_EQ(run_of(kLine).warning, "");
  EXPECT_TRUE(check(experiment_of(kLine)).empty());
  EXPECT_GT(latency({"switch.buffer=12"}), kUnhindered + 999 / 13);
  EXPECT_EQ(latency({"switch.buffer=17", "switch.credit_delay=4"}), kUnhindered);
  EXPECT_GT(latency({"switch.buffer=16", "switch.credit_delay=4"}), kUnhindered + 50);
  EXPECT_EQ(latency({"switch.buffer=15", "switch.traversal_delay=3"}), kUnhindered + 2 * 2);
  EXPECT_GT(latency({"switch.buffer=14", "switch.traversal_delay=3"}), kUnhindered + 50);
}

TEST(RoundTrip, ASmallerBufferIsToldWithTheRemedy) {
  const auto notes = check(experiment_of(kLine, {"switch.buffer=12"}));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("13 cycles"), std::string::npos) << notes[0];
  EXPECT_NE(notes[0].find("together hold 12"), std::string::npos) << notes[0];
  EXPECT_NE(notes[0].find("switch.buffer = 13"), std::string::npos) << notes[0];
  EXPECT_EQ(run_of(kLine, {"switch.buffer=12"}).warning, notes[0]);
  const auto longer = check(experiment_of(kLine, {"switch.buffer=12", "switch.credit_delay=4"}));
  ASSERT_EQ(longer.size(), 1U);
  EXPECT_NE(longer[0].find("switch.buffer = 17"), std::string::npos) << longer[0];
}

TEST(RoundTrip, SeveralVirtualChannelsTogetherMayCoverIt) {
  const Overrides two{"switch.vcs=2", "switch.buffer=12"};
  const auto notes = check(experiment_of(kLine, two));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("a packet of 1000 flits pauses"), std::string::npos) << notes[0];
  Overrides shorter = two;
  shorter.emplace_back("traffic.size=12");
  EXPECT_TRUE(check(experiment_of(kLine, shorter)).empty());
  Overrides shared = two;
  shared.emplace_back("switch.buffer_policy=shared");
  EXPECT_TRUE(check(experiment_of(kLine, shared)).empty());
}

/// Cycles from one flit of a packet that is alone to the next.
double interval(Overrides overrides) {
  constexpr int kFlits = 120;
  overrides.emplace_back("run.duration=20000");
  overrides.emplace_back(fmt::format("traffic.size={}", kFlits));
  const double shorter = latency(overrides);
  overrides.back() = fmt::format("traffic.size={}", 2 * kFlits);
  return (latency(overrides) - shorter) / kFlits;
}

double number_behind(const std::string& text, const std::string& words) {
  const std::size_t at = text.find(words);
  return at == std::string::npos ? 0.0 : std::stod(text.substr(at + words.size()));
}

struct Router {
  int latency;
  int traversal;
  int credit;
  int allocation;
  int cycles_per_flit;
  double speedup;
  bool held;
  bool overlaps;
  int output_speedup = 1;

  [[nodiscard]] Overrides overrides() const {
    return {fmt::format("topology.latency={}", latency),
            fmt::format("topology.cycles_per_flit={}", cycles_per_flit),
            fmt::format("switch.traversal_delay={}", traversal),
            fmt::format("switch.credit_delay={}", credit),
            fmt::format("switch.sw_alloc_delay={}", allocation),
            fmt::format("switch.internal_speedup={:.1f}", speedup),
            fmt::format("switch.hold_switch_for_packet={}", held),
            fmt::format("switch.overlapping_stages={}", overlaps),
            fmt::format("switch.output_speedup={}", output_speedup)};
  }
};

/// Whatever the pipeline: what is told to pause does, what is told to bound is no more than that, what nothing is told
/// of does not pause, and with what is told to suffice nothing does.
TEST(RoundTrip, IsTrueOfEveryPipeline) {
  const std::vector<Router> routers{
      {5, 1, 0, 1, 1, 1.0, false, true},    {3, 1, 0, 2, 1, 1.0, false, true},    {4, 0, 0, 4, 1, 1.0, false, true},
      {2, 2, 3, 1, 1, 1.0, false, true},    {3, 3, 1, 2, 1, 1.0, false, true},    {1, 1, 0, 16, 1, 1.0, false, true},
      {3, 1, 0, 1, 2, 1.0, false, true},    {3, 1, 0, 2, 2, 1.0, false, true},    {3, 1, 0, 4, 3, 1.0, false, true},
      {3, 1, 0, 1, 1, 1.0, true, true},     {3, 1, 0, 3, 1, 1.0, true, true},     {1, 2, 2, 4, 1, 1.0, true, true},
      {3, 3, 0, 1, 1, 1.0, false, false},   {3, 1, 0, 3, 1, 1.0, false, false},   {3, 2, 2, 2, 1, 1.0, false, false},
      {3, 4, 3, 1, 1, 1.0, false, false},   {1, 0, 0, 4, 1, 1.0, false, false},   {3, 1, 0, 1, 1, 2.0, false, true},
      {1, 3, 0, 1, 1, 4.0, false, true},    {2, 3, 2, 1, 1, 16.0, false, true},   {2, 1, 0, 4, 1, 2.0, false, true},
      {3, 1, 0, 1, 1, 1.5, false, true},    {2, 1, 0, 4, 1, 1.5, false, true},    {2, 3, 2, 1, 2, 2.0, false, true},
      {3, 2, 0, 2, 3, 1.0, true, true},     {3, 4, 1, 4, 3, 1.0, false, true, 2}, {1, 0, 0, 2, 2, 1.0, false, true, 2},
      {2, 0, 0, 2, 3, 1.0, false, true, 2},
  };
  int told = 0;
  int bounds = 0;
  for (const Router& router : routers) {
    const auto with = [&](int vcs, int buffer) {
      Overrides all = router.overrides();
      all.push_back(fmt::format("switch.vcs={}", vcs));
      all.push_back(fmt::format("switch.buffer={}", buffer));
      return all;
    };
    for (const int vcs : {1, 4}) {
      const double best = interval(with(vcs, 100));
      for (const int buffer : {1, 2, 3, 4, 6, 8, 10, 12, 14, 17, 20}) {
        const Overrides one = with(vcs, buffer);
        std::string note;
        for (const std::string& each : check(experiment_of(kLine, one))) {
          if (each.find("credit round trip") != std::string::npos) note = each;
        }
        const double now = interval(one);
        const std::string where = fmt::format("{}: {} per flit, {} at best; {}", fmt::join(one, " "), now, best, note);
        if (note.empty()) {
          // Steps of cycles are known to within one, and allocations that take what waits when they are done not
          // better.
          if (router.speedup == 1.0 && router.output_speedup == 1 && (router.overlaps || router.allocation == 1)) {
            EXPECT_NEAR(now, best, 1e-9) << where;
          }
          continue;
        }
        ++told;
        if (note.find("pauses on its way") != std::string::npos) { EXPECT_GT(now, best) << where; }
        if (const double most = number_behind(note, "no such channel carries more than "); most > 0.0) {
          ++bounds;
          // Of the channel between the switches, or of that to the terminal, which takes a cycle for a flit.
          const bool to_terminal = note.find("to a terminal") != std::string::npos;
          EXPECT_LE((to_terminal ? 1 : router.cycles_per_flit) / now, most * 1.005) << where << " (three digits)";
        }
        const std::size_t own = note.find("for full speed of all together, ");
        const double enough =
            own != std::string::npos ? std::stod(note.substr(own + 32)) : number_behind(note, "use switch.buffer = ");
        EXPECT_NEAR(interval(with(vcs, static_cast<int>(enough))), best, 1e-9) << where;
      }
    }
  }
  EXPECT_GT(told, 100);
  EXPECT_GT(bounds, 30);
}

/// All virtual channels together fill no more of a channel than is told, and where they meet nobody else, as much.
TEST(RoundTrip, BoundsWhatAllVirtualChannelsCarry) {
  for (const int vcs : {4, 10}) {
    for (const int allocation : {1, 4, 10}) {
      const std::string text = fmt::format(
          "topology = {{ name = 'mesh', size = [2, 1], concentration = {0}, latency = 4 }}\n"
          "switch = {{ name = 'vc_router', vcs = {0}, buffer = 1, sw_alloc_delay = {1} }}\nrouting = "
          "'dimension_order'\n"
          "traffic = {{ name = 'permutation', pattern = 'neighbour', process = 'at_once', batch = 1, size = 400 }}\n"
          "run = {{ duration = 100000 }}\n",
          vcs, allocation);
      std::string note;
      for (const std::string& each : check(experiment_of(text))) {
        if (each.find("credit round trip") != std::string::npos) note = each;
      }
      const double most = number_behind(note, "no such channel carries more than ");
      ASSERT_GT(most, 0.0) << vcs << " " << allocation << " " << note;
      const double carried = vcs * 400.0 / run_of(text).at("packet_latency_max").mean;
      EXPECT_LE(carried, most * 1.005) << note;
      EXPECT_GE(carried, 0.9 * std::min(most, 1.0)) << note;
    }
  }
}

}  // namespace
}  // namespace banyan::api::round_trip_test
