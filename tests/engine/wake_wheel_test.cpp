// Is every entity woken exactly at the ticks that it asked for, near or far?
#include "banyan/engine/wake_wheel.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace banyan::wake_wheel_test {
namespace {

using banyan::kNever;
using banyan::Tick;
using banyan::u32;
using banyan::u64;
using banyan::engine::WakeWheel;

std::set<u32> entities(const std::vector<u64>& bits) {
  std::set<u32> set;
  for (u32 e = 0; e < bits.size() * 64; ++e) {
    if ((bits[e / 64] >> (e % 64) & 1U) != 0) set.insert(e);
  }
  return set;
}

RC_GTEST_PROP(WakeWheel, AgreesWithASortedSet, ()) {
  const u32 count = *rc::gen::inRange(1U, 150U);
  WakeWheel wheel(count);
  std::set<std::pair<Tick, u32>> model;
  Tick now = *rc::gen::inRange<Tick>(0, 1000);
  for (u32 round = 0; round < 80; ++round) {
    const u32 wakes = *rc::gen::inRange(0U, 5U);
    for (u32 i = 0; i < wakes; ++i) {
      const u32 e = *rc::gen::inRange(0U, count);
      const Tick ahead = *rc::gen::element<Tick>(1, 2, 5, 62, 63, 64, 65, 100, 1000);
      wheel.wake(e, now + ahead, now);
      model.emplace(now + ahead, e);
    }
    const Tick next = wheel.next_after(now);
    RC_ASSERT(next == (model.empty() ? kNever : model.begin()->first));
    now = next == kNever || *rc::gen::inRange(0, 4) == 0 ? now + 1 : next;
    std::vector<u64> awake((count + 63) / 64);
    wheel.take(now, awake);
    std::set<u32> expected;
    while (!model.empty() && model.begin()->first <= now) {
      expected.insert(model.begin()->second);
      model.erase(model.begin());
    }
    RC_ASSERT(entities(awake) == expected);
  }
}

/// One wheel makes several ticks at once, one word of entities after the other; everybody who is woken asks again.
RC_GTEST_PROP(WakeWheel, AWaveTakesTheSameTicks, ()) {
  const u32 count = 150;
  const std::size_t words = 3;
  const std::vector<Tick> aheads{1, 2, 3, 4, 5, 59, 60, 61, 63, 64, 65, 300};
  const auto ahead = [&](u32 e, Tick now) { return aheads[(e * 7 + now * 5) % aheads.size()]; };
  WakeWheel one(count);
  WakeWheel many(count);
  Tick now = *rc::gen::inRange<Tick>(0, 1000);
  for (WakeWheel* const wheel : {&one, &many}) {
    for (u32 e = 0; e < count; e += 3) wheel->wake(e, now + ahead(e, now), now);
  }
  ++now;
  for (u32 round = 0; round < 60; ++round) {
    const Tick ticks = *rc::gen::inRange<Tick>(1, banyan::engine::kMostWaveTicks + 1);
    std::set<std::pair<Tick, u32>> expected;
    std::set<std::pair<Tick, u32>> woken;
    for (Tick t = now; t < now + ticks; ++t) {
      std::vector<u64> awake(words);
      one.take(t, awake);
      for (const u32 e : entities(awake)) {
        expected.emplace(t, e);
        one.wake(e, t + ahead(e, t), t);
      }
    }
    many.begin_wave(now, ticks);
    for (std::size_t w = 0; w < words; ++w) {
      for (Tick t = now; t < now + ticks; ++t) {
        std::vector<u64> awake(words);
        many.take(t, awake, w, w + 1);
        for (const u32 e : entities(awake)) {
          woken.emplace(t, e);
          many.wake(e, t + ahead(e, t), t);
        }
      }
    }
    many.end_wave(now, ticks);
    RC_ASSERT(woken == expected);
    now += ticks;
    RC_ASSERT(many.next_after(now - 1) == one.next_after(now - 1));
  }
}

TEST(WakeWheel, ClearForgetsNearAndFar) {
  WakeWheel wheel(70);
  wheel.wake(1, 5, 0);
  wheel.wake(69, 500, 0);
  wheel.clear();
  EXPECT_EQ(wheel.next_after(0), kNever);
  std::vector<u64> awake(2);
  wheel.take(5, awake);
  EXPECT_TRUE(entities(awake).empty());
}

}  // namespace
}  // namespace banyan::wake_wheel_test
