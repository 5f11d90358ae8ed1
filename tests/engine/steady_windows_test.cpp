// Is a run asked at the end of each of its windows, and does it end there when it is told to?
#include <gtest/gtest.h>

#include <vector>

#include "banyan/engine/steady.hpp"
#include "engine/machines.hpp"

namespace banyan::steady_windows_test {
namespace {

using engine::SteadyOutcome;
using test::Rig;
using test::Script;

constexpr Tick kWindow = 100;
constexpr Tick kEnd = 1000;

/// What a run was asked, and what came out.
struct Questioned {
  std::vector<Tick> asked;
  std::vector<u64> offered;  ///< flits, of the windows before each question
  SteadyOutcome out{{}};
};

/// A run in ten windows, in which every terminal sends a packet of two flits every twentieth tick.
/// `last`: the end of the window that ends it; 0: none does. `asks`: whether it is asked at all.
Questioned run_until_window(Tick last, bool asks = true, bool full_audit = false) {
  engine::EngineSettings settings;
  settings.steady = {.shift = 4, .end = kEnd, .histogram_from = 0, .series_window = kWindow, .hold = 0};
  Rig rig({"mesh", {{"size", std::vector<i64>{4, 4}}}}, {"vc_router"}, {"dimension_order"}, settings);
  std::vector<Script::Line> lines;
  for (Tick birth = 0; birth < kEnd; birth += 20) {
    for (u32 source = 0; source < 16; ++source) lines.push_back({source, birth, (source + 5) % 16, 2});
  }
  engine::Machine& machine = rig.run_script(lines);
  Questioned run;
  engine::SteadySettings steady;
  steady.full_audit = full_audit;
  if (asks) {
    steady.at_window = [&](const engine::SteadyProgress& progress, Tick now) {
      run.asked.push_back(now);
      u64 flits = 0;
      for (std::size_t w = 0; w < now / kWindow; ++w) flits += progress.timeline.at(w, 0).offered;
      run.offered.push_back(flits);
      return now == last;
    };
  }
  run.out = engine::run_steady(machine, settings.steady, steady);
  return run;
}

TEST(SteadyWindows, EveryWindowIsAskedAboutAtItsEndTheLastToo) {
  const Questioned run = run_until_window(0);
  std::vector<Tick> ends;
  std::vector<u64> offered;
  for (Tick end = kWindow; end <= kEnd; end += kWindow) {
    ends.push_back(end);
    offered.push_back(end / 20 * 16 * 2);
  }
  EXPECT_EQ(run.asked, ends);
  EXPECT_EQ(run.offered, offered);
  EXPECT_EQ(run.out.counted, kEnd);
}

TEST(SteadyWindows, ARunThatIsOnlyAskedIsTheSame) {
  const SteadyOutcome alone = run_until_window(0, false).out;
  EXPECT_EQ(run_until_window(0).out.hash, alone.hash);
  EXPECT_EQ(run_until_window(0, true, true).out.hash, alone.hash);
}

/// Packets of the windows that count are waited for; nobody is asked about what comes behind them.
TEST(SteadyWindows, TheRunEndsWithTheWindowThatIsTheLast) {
  for (const bool full_audit : {false, true}) {
    for (const Tick last : {kWindow, 3 * kWindow, 9 * kWindow, kEnd}) {
      const Questioned run = run_until_window(last, true, full_audit);
      EXPECT_EQ(run.asked.back(), last);
      EXPECT_EQ(run.asked.size(), last / kWindow);
      EXPECT_EQ(run.out.counted, last);
      EXPECT_EQ(run.out.end, SteadyOutcome::End::drained);
      EXPECT_GE(run.out.ticks, last);
      EXPECT_EQ(run.out.record.plan.end, last);
      EXPECT_EQ(run.out.totals.counted_taken, last / 20 * 16);
      EXPECT_EQ(run.out.totals.counted_delivered, run.out.totals.counted_taken);
    }
  }
}

}  // namespace
}  // namespace banyan::steady_windows_test
