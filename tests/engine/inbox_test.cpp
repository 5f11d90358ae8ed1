// Does the inbox hand out every arrival at its tick, in order, and say when the next is due?
#include "banyan/engine/inbox.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
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
  const Tick horizon = *rc::gen::inRange<Tick>(1, 200);
  Inbox inbox(horizon);
  Model model;
  Tick now = 0;
  u32 id = 0;
  for (u32 round = 0; round < 60; ++round) {
    const u32 count = *rc::gen::inRange(0U, 6U);
    for (u32 i = 0; i < count; ++i) {
      const Tick due = now + *rc::gen::inRange<Tick>(1, horizon + 1);
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
  inbox.for_each([&](const Arrivals& arrivals) {
    for (const FlitArrival& a : arrivals.flits) sum += a.entity;
  });
  EXPECT_EQ(sum, 15U);
}

TEST(Inbox, ClearForgetsEverything) {
  Inbox inbox(10);
  for (Tick t = 1; t <= 10; ++t) inbox.add(t, FlitArrival{});
  inbox.clear();
  EXPECT_EQ(inbox.next_after(0), kNever);
  inbox.add(1, FlitArrival{{}, 5, 0});
  inbox.take(1, [&](const Arrivals& arrivals) { EXPECT_EQ(ids(arrivals.flits), std::vector<u32>{5}); });
}

}  // namespace
}  // namespace banyan::inbox_test
