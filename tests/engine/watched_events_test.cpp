// Are the events that a run keeps, of more than it can keep, the same however the network is cut?
#include <gtest/gtest.h>

#include <vector>

#include "engine/machines.hpp"

namespace banyan::engine::watched_events_test {
namespace {

std::vector<test::Script::Line> messages() {
  std::vector<test::Script::Line> lines;
  for (Tick birth = 0; birth < 100; birth += 2) {
    for (u32 t = 0; t < 16; ++t) lines.push_back({t, birth, (t + 5) % 16, 3});
  }
  return lines;
}

ProbeReport watched(u32 shards, std::size_t most) {
  EngineSettings settings;
  settings.shards = shards;
  settings.probe.most_events = most;
  for (u32 t = 0; t < 16; ++t) settings.probe.ports.push_back({true, t, 0});
  test::Rig rig({"mesh", {{"size", std::vector<i64>{4, 4}}}}, {"vc_router", {{"vcs", i64{2}}}}, {"dimension_order"},
                settings);
  Machine& machine = rig.run_script(messages());
  machine.run_until(400);
  return machine.probed();
}

TEST(WatchedEvents, OfTooManyTheSameAreKeptInEveryCut) {
  const ProbeReport all = watched(1, 1'000'000);
  EXPECT_EQ(all.lost_events, 0U);
  ASSERT_GT(all.events.size(), 1000U);
  for (const std::size_t most : {std::size_t{1}, std::size_t{37}, std::size_t{500}, std::size_t{501}}) {
    const ProbeReport one = watched(1, most);
    EXPECT_LE(one.events.size(), most);
    EXPECT_EQ(one.events.size() + one.lost_events, all.events.size());
    for (std::size_t i = 0; i < one.events.size(); ++i) EXPECT_EQ(one.events[i].at, all.events[i].at);
    for (const u32 shards : {2U, 5U}) {
      const ProbeReport cut = watched(shards, most);
      EXPECT_EQ(cut.lost_events, one.lost_events) << most << " in " << shards;
      ASSERT_EQ(cut.events.size(), one.events.size()) << most << " in " << shards;
      for (std::size_t i = 0; i < cut.events.size(); ++i) {
        EXPECT_EQ(cut.events[i].at, one.events[i].at);
        EXPECT_EQ(cut.events[i].node, one.events[i].node);
        EXPECT_EQ(cut.events[i].kind, one.events[i].kind);
      }
    }
  }
}

}  // namespace
}  // namespace banyan::engine::watched_events_test
