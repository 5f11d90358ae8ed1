// Does the inbox hand out every arrival at its tick, in order, and say when the next is due?
#include "banyan/engine/inbox.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <type_traits>
#include <vector>

namespace banyan::inbox_test {
namespace {

using banyan::kNever;
using banyan::Tick;
using banyan::u32;
using banyan::engine::Arrivals;
using banyan::engine::ControlArrival;
using banyan::engine::FlitArrival;
using banyan::engine::Inbox;

/// What is due, by tick, in the order of sending.
struct Model {
  std::map<Tick, std::vector<u32>> flits;
  std::map<Tick, std::vector<u32>> controls;

  [[nodiscard]] u32 count_flits() const {
    u32 count = 0;
    for (const auto& [due, list] : flits) count += static_cast<u32>(list.size());
    return count;
  }
  [[nodiscard]] Tick next_after(Tick now) const {
    Tick next = kNever;
    for (const auto* map : {&flits, &controls}) {
      const auto at = map->upper_bound(now);
      if (at != map->end()) next = std::min(next, at->first);
    }
    return next;
  }
};

std::vector<u32> ids(const std::vector<FlitArrival>& arrivals) {
  std::vector<u32> list;
  for (const FlitArrival& a : arrivals) list.push_back(a.entity);
  return list;
}
std::vector<u32> ids(const std::vector<ControlArrival>& arrivals) {
  std::vector<u32> list;
  for (const ControlArrival& a : arrivals) list.push_back(a.entity);
  return list;
}

RC_GTEST_PROP(Inbox, AgreesWithASortedMap, ()) {
  // Beyond kMostSlots too, where arrivals wait for their block.
  const Tick horizon = *rc::gen::oneOf(rc::gen::inRange<Tick>(1, 200), rc::gen::inRange<Tick>(4000, 20'000),
                                       rc::gen::just(Tick{1} << 36U));
  Inbox inbox(horizon);
  Model model;
  Tick now = 0;
  u32 id = 0;
  for (u32 round = 0; round < 60; ++round) {
    const u32 count = *rc::gen::inRange(0U, 6U);
    for (u32 i = 0; i < count; ++i) {
      // Of a few ticks, so that some are due together.
      const Tick due = now + 1 + (horizon - 1) * *rc::gen::inRange<Tick>(0, 9) / 8;
      if (*rc::gen::arbitrary<bool>()) {
        inbox.add(due, FlitArrival{{}, id, 0});
        model.flits[due].push_back(id++);
      } else {
        inbox.add(due, ControlArrival{{}, id, 0});
        model.controls[due].push_back(id++);
      }
    }
    const Tick next = inbox.next_after(now);
    RC_ASSERT(next == model.next_after(now));
    RC_ASSERT(inbox.empty() == (next == kNever));
    u32 flits_on_the_way = 0;
    inbox.for_each(
        [&](const auto& a) { flits_on_the_way += std::is_same_v<decltype(a), const FlitArrival&> ? 1U : 0U; });
    RC_ASSERT(flits_on_the_way == model.count_flits());
    // A tick at which nothing is due may be run too.
    now = next == kNever || *rc::gen::inRange(0, 4) == 0 ? now + 1 : next;
    std::vector<u32> flits;
    std::vector<u32> controls;
    inbox.take(now, [&](const Arrivals& arrivals) {
      flits = ids(arrivals.flits);
      controls = ids(arrivals.controls);
    });
    RC_ASSERT(flits == model.flits[now]);
    RC_ASSERT(controls == model.controls[now]);
    model.flits.erase(now);
    model.controls.erase(now);
  }
}

TEST(Inbox, ForEachVisitsWhatIsOnTheWay) {
  Inbox inbox(10);
  inbox.add(3, FlitArrival{{}, 7, 0});
  inbox.add(9, FlitArrival{{}, 8, 0});
  u32 sum = 0;
  inbox.for_each([&](const auto& a) { sum += a.entity; });
  EXPECT_EQ(sum, 15U);
}

TEST(Inbox, ClearForgetsEverything) {
  Inbox inbox(100'000);
  for (Tick t = 1; t <= 100'000; t += 99) inbox.add(t, FlitArrival{});
  inbox.take(50'000, [](const Arrivals&) {});
  inbox.clear();
  EXPECT_EQ(inbox.next_after(0), kNever);
  inbox.add(1, FlitArrival{{}, 5, 0});
  inbox.take(1, [&](const Arrivals& arrivals) { EXPECT_EQ(ids(arrivals.flits), std::vector<u32>{5}); });
}

}  // namespace
}  // namespace banyan::inbox_test
