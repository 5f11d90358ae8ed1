// Are hashes on the way taken at ticks that depend on the length of a run alone, and can a record grow without loss?
#include "banyan/engine/checkpoints.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "banyan/engine/steady_record.hpp"

namespace banyan::engine::checkpoints_test {
namespace {

TEST(Checkpoints, StayFewAndEvenlySpaced) {
  Checkpoints checkpoints;
  for (u32 i = 0; i < 300; ++i) {
    checkpoints.add(mix64(checkpoints.next()));
    ASSERT_LE(checkpoints.entries().size(), 32U);
    if (i >= 16) { ASSERT_GE(checkpoints.entries().size(), 16U); }
    const Tick step = checkpoints.entries().front().at;
    for (std::size_t k = 0; k < checkpoints.entries().size(); ++k) {
      ASSERT_EQ(checkpoints.entries()[k].at, step * (k + 1));
      ASSERT_EQ(checkpoints.entries()[k].hash, mix64(step * (k + 1)));
    }
    ASSERT_EQ(checkpoints.next(), step * (checkpoints.entries().size() + 1));
  }
}

TEST(Checkpoints, AKnownEndSparesHashesAndChangesNone) {
  for (const Tick end : {Tick{1}, Tick{100'000}, Tick{131'071}, Tick{131'072}, Tick{5'000'000}}) {
    for (const Tick length : {end, end + end / 3, 5 * end}) {
      std::vector<Checkpoints> both{Checkpoints(), Checkpoints(end)};
      std::vector<u32> taken;
      for (Checkpoints& checkpoints : both) {
        for (taken.push_back(0); checkpoints.next() <= length; ++taken.back())
          checkpoints.add(mix64(checkpoints.next()));
      }
      ASSERT_EQ(both[0].entries().size(), both[1].entries().size());
      for (std::size_t k = 0; k < both[0].entries().size(); ++k) {
        EXPECT_EQ(both[0].entries()[k].at, both[1].entries()[k].at);
        EXPECT_EQ(both[0].entries()[k].hash, both[1].entries()[k].hash);
      }
      EXPECT_LE(taken[1], taken[0]);
      if (end == 5'000'000 && length == end) { EXPECT_LT(taken[1], taken[0] / 3); }
    }
    // One that ends early is known to within half of its time.
    Checkpoints early(end);
    while (early.next() <= end / 100) early.add(0);
    if (end / 100 < 1024) continue;
    ASSERT_FALSE(early.entries().empty());
    EXPECT_GT(2 * early.entries().back().at, end / 100);
  }
}

/// Windows of 2^shift ticks up to `end`, as a run of that plan would have recorded the flits of `ticks`.
SteadyRecord record_of(u32 shift, Tick end, const std::vector<u64>& ticks, Tick done) {
  SteadyRecord record({shift, end, 0});
  for (Tick t = 0; t < std::min<Tick>(done, ticks.size()); ++t) {
    record.offered[t >> shift] += ticks[t];
    record.births[t >> shift].packets += ticks[t];
    record.births[t >> shift].latency += 2 * ticks[t];
  }
  return record;
}

RC_GTEST_PROP(SteadyRecord, GrowsIntoTheRecordOfTheLongerRun, ()) {
  const Tick end = *rc::gen::inRange<Tick>(1, 300);
  const Tick longer = end + *rc::gen::inRange<Tick>(1, 900);
  const u32 shift = *rc::gen::inRange<u32>(0, 4);
  const u32 more = *rc::gen::inRange<u32>(0, 4);
  std::vector<u64> ticks(longer);
  for (Tick t = 0; t < longer; ++t) ticks[t] = mix64(t) % 100;
  SteadyRecord record = record_of(shift, end, ticks, end);
  record.extend({shift + more, longer, 0});
  for (Tick t = end; t < longer; ++t) {
    record.offered[t >> record.plan.shift] += ticks[t];
    record.births[t >> record.plan.shift].packets += ticks[t];
    record.births[t >> record.plan.shift].latency += 2 * ticks[t];
  }
  const SteadyRecord whole = record_of(shift + more, longer, ticks, longer);
  Hasher a;
  Hasher b;
  record.hash(a);
  whole.hash(b);
  RC_ASSERT(record.offered == whole.offered);
  RC_ASSERT(a.value() == b.value());
}

}  // namespace
}  // namespace banyan::engine::checkpoints_test
