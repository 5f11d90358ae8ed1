// Do queues that share one memory keep apart, in order, and give back what they no longer need?
#include "banyan/engine/waiting.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <vector>

#include "banyan/base/archive.hpp"

namespace banyan::engine::waiting_test {
namespace {

struct Item {
  u32 value = 0;
  u32 next = kNone;
};

/// Random appends, insertions and departures, beside a deque per queue.
template <class Memory>
void follow(const std::vector<u32>& draws) {
  constexpr u32 kQueues = 3;
  Queues<Item, Memory> items;
  items.reserve(2);
  std::vector<Queue> queues(kQueues);
  std::vector<std::deque<u32>> expected(kQueues);
  std::size_t held = 0;
  std::size_t most = 0;
  u32 value = 0;
  for (const u32 draw : draws) {
    Queue& queue = queues[draw % kQueues];
    std::deque<u32>& known = expected[draw % kQueues];
    const u32 what = draw / kQueues % 4;
    if (what < 2) {
      const u32 place = items.take();
      items[place].value = ++value;
      if (what == 0 || known.empty()) {
        items.append(queue, place);
        known.push_back(value);
      } else {
        const std::size_t position = draw / 16 % (known.size() + 1);  // so many go before it
        u32 before = kNone;
        for (std::size_t i = 0; i < position; ++i) before = before == kNone ? queue.first : items[before].next;
        items.insert(queue, before, place);
        known.insert(known.begin() + static_cast<std::ptrdiff_t>(position), value);
      }
      most = std::max(most, ++held);
    } else if (!known.empty()) {
      const u32 place = items.pop(queue);
      RC_ASSERT(items[place].value == known.front());
      known.pop_front();
      items.give_back(place);
      --held;
    }
    RC_ASSERT(queue.empty() == known.empty());
  }
  for (u32 q = 0; q < kQueues; ++q) {
    std::vector<u32> values;
    items.for_each(queues[q], [&](const Item& item) { values.push_back(item.value); });
    RC_ASSERT(values == std::vector<u32>(expected[q].begin(), expected[q].end()));
  }
  RC_ASSERT(items.size() == most);  // places are used again

  ArchiveToText written;
  written(items);
  const std::string text = written.take();
  ArchiveOfText read(text);
  Queues<Item, Memory> again;
  read(again);
  for (u32 q = 0; q < kQueues; ++q) {
    std::size_t i = 0;
    again.for_each(queues[q], [&](const Item& item) { RC_ASSERT(item.value == expected[q][i++]); });
    RC_ASSERT(i == expected[q].size());
  }
}

RC_GTEST_PROP(Queues, AreDequesThatShareOneMemory, (const std::vector<u32>& draws)) {
  follow<std::vector<Item>>(draws);
  follow<Chunks<Item, 2>>(draws);
}

TEST(Chunks, StayWhereTheyAre) {
  Chunks<Item, 2> items;
  items.emplace_back();
  std::vector<Item*> places{&items[0]};
  constexpr u32 kCount = 1000;  // chunks of their own, whole blocks, and a part of one
  for (u32 i = 1; i < kCount; ++i) {
    items.emplace_back();
    places.push_back(&items[i]);
  }
  for (u32 i = 0; i < kCount; ++i) places[i]->value = i;
  EXPECT_EQ(items.size(), kCount);
  for (u32 i = 0; i < kCount; ++i) {
    EXPECT_EQ(&items[i], places[i]);
    EXPECT_EQ(items[i].value, i) << "two items share a place";
  }
}

}  // namespace
}  // namespace banyan::engine::waiting_test
