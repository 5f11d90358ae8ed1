// Do sources become ready exactly at the birth of their messages, however far ahead and however time jumps?
#include "banyan/engine/terminals.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "engine/machines.hpp"

namespace banyan::terminals_test {
namespace {

using banyan::kNever;
using banyan::kNone;
using banyan::Tick;
using banyan::u32;
using banyan::u64;
using banyan::engine::Terminals;
using banyan::test::Script;
namespace core = banyan::core;

class NoRouting final : public core::Routing {
 public:
  void route(const core::RouteRequest&, core::Candidates&) const noexcept override {}
};

/// Terminals of one shard that hold all terminals of a network, on scripts.
struct Fixture {
  Fixture(u32 terminals, const std::vector<std::vector<Script::Line>>& scripts, u32 queues = 1, Tick hold = 0) {
    for (const auto& lines : scripts) {
      traffics.push_back(std::make_unique<Script>(terminals, lines));
      pointers.push_back(traffics.back().get());
    }
    Terminals::Setup setup;
    for (u32 t = 0; t < terminals; ++t) setup.terminals.push_back(t);
    setup.traffics = pointers;
    setup.routing = &routing;
    setup.total_terminals = terminals;
    setup.queues = queues;
    setup.steady.hold = hold;
    subject = std::make_unique<Terminals>(setup);
    subject->reset(0);
  }

  std::vector<std::unique_ptr<Script>> traffics;
  std::vector<core::Traffic*> pointers;
  NoRouting routing;
  std::unique_ptr<Terminals> subject;
};

/// The same by lists: the messages of every terminal in the order in which they leave its queue.
struct Model {
  Model(u32 terminals, const std::vector<std::vector<Script::Line>>& scripts) : queue(terminals), taken(terminals) {
    for (const auto& lines : scripts) {
      for (const Script::Line& line : lines) queue[line.source].push_back(line);
    }
    // Equal births leave in the order of the traffics, which is the order of the list.
    for (auto& q : queue) {
      std::stable_sort(q.begin(), q.end(), [](const auto& a, const auto& b) { return a.birth < b.birth; });
    }
  }
  [[nodiscard]] Tick birth(u32 t) const { return taken[t] < queue[t].size() ? queue[t][taken[t]].birth : kNever; }

  std::vector<std::vector<Script::Line>> queue;
  std::vector<std::size_t> taken;
};

std::vector<Script::Line> random_script(u32 terminals) {
  std::vector<Script::Line> lines;
  for (u32 t = 0; t < terminals; ++t) {
    Tick birth = *rc::gen::element<Tick>(0, 1, 255, 256, 257, 5000);
    const u32 count = *rc::gen::inRange(0U, 12U);
    for (u32 k = 0; k < count; ++k) {
      lines.push_back({t, birth, (t + 1) % terminals, 1 + k % 3});
      birth += *rc::gen::element<Tick>(1, 2, 7, 100, 127, 128, 129, 254, 255, 256, 257, 600, 3000);
    }
  }
  return lines;
}

bool ready(const Terminals& terminals, u32 t) { return (terminals.source.ready()[t / 64] >> (t % 64) & 1U) != 0; }

void compare(const Terminals& subject, const Model& model, Tick now) {
  Tick next = kNever;
  u64 waiting = 0;
  for (u32 t = 0; t < model.queue.size(); ++t) {
    const Tick birth = model.birth(t);
    RC_ASSERT(subject.source.birth(t) == birth);
    RC_ASSERT(ready(subject, t) == (birth <= now));
    if (birth > now) next = std::min(next, birth);
    waiting += birth <= now ? 1U : 0U;
  }
  RC_ASSERT(subject.source.next_birth_after(now) == next);
  RC_ASSERT(subject.source.waiting_terminals() == waiting);
}

RC_GTEST_PROP(Terminals, SourcesAgreeWithSortedLists, ()) {
  const u32 terminals = *rc::gen::inRange(1U, 80U);
  const std::vector<std::vector<Script::Line>> scripts{random_script(terminals), random_script(terminals)};
  Fixture fixture(terminals, scripts);
  Terminals& subject = *fixture.subject;
  Model model(terminals, scripts);
  Tick now = 0;
  compare(subject, model, now);
  for (u32 round = 0; round < 120; ++round) {
    for (u32 t = 0; t < terminals; ++t) {
      while (ready(subject, t) && *rc::gen::inRange(0, 4) != 0) {
        const Script::Line& line = model.queue[t][model.taken[t]++];
        RC_ASSERT(subject.source.head_flits(t) == line.flits);
        const core::Packet packet = subject.pool()[subject.source.take(t, now)];
        RC_ASSERT(packet.birth == line.birth);
        RC_ASSERT(packet.enter == now);
        RC_ASSERT(packet.source == t);
        RC_ASSERT(packet.destination == line.destination);
        RC_ASSERT(packet.flits == line.flits);
      }
    }
    compare(subject, model, now);
    const Tick next = subject.source.next_birth_after(now);
    const bool jump = next == kNever || *rc::gen::inRange(0, 3) == 0;
    now = jump ? now + *rc::gen::element<Tick>(1, 2, 63, 127, 128, 255, 256, 257, 1000) : next;
    subject.source.advance(now);
    compare(subject, model, now);
  }
}

TEST(Terminals, EqualBirthsLeaveInTheOrderOfTheTraffics) {
  Fixture fixture(2, {{{0, 5, 1, 1}}, {{0, 5, 1, 2}}});
  Terminals& subject = *fixture.subject;
  subject.source.advance(5);
  EXPECT_EQ(subject.pool()[subject.source.take(0, 5)].traffic, 0);
  EXPECT_EQ(subject.pool()[subject.source.take(0, 5)].traffic, 1);
}

/// A run that begins with a backlog: births go on, and nothing is shown before the end of the hold.
TEST(Terminals, NothingLeavesWhileSourcesAreHeld) {
  Fixture fixture(2, {{{0, 0, 1, 1}, {0, 300, 1, 1}, {1, 700, 0, 2}}}, 1, 700);
  Terminals& subject = *fixture.subject;
  for (Tick now = 0; now < 700; now = subject.source.next_birth_after(now)) {
    subject.source.advance(now);
    EXPECT_FALSE(ready(subject, 0) || ready(subject, 1)) << now;
    EXPECT_LE(subject.source.next_birth_after(now), 700U);
  }
  subject.source.advance(700);
  EXPECT_TRUE(ready(subject, 0) && ready(subject, 1));
  EXPECT_EQ(subject.pool()[subject.source.take(0, 700)].birth, 0U);
  EXPECT_TRUE(ready(subject, 0));
  EXPECT_EQ(subject.pool()[subject.source.take(0, 700)].birth, 300U);
  EXPECT_FALSE(ready(subject, 0));
}

TEST(Terminals, OnlyBirthsInsideTheWindowCount) {
  Fixture fixture(2, {{{0, 4, 1, 1}, {0, 5, 1, 1}, {0, 9, 1, 1}, {0, 10, 1, 1}}});
  Terminals& subject = *fixture.subject;
  subject.recorder.set_window({5, 9});
  subject.source.advance(20);
  for (u32 k = 0; k < 4; ++k) {
    const core::PacketId id = subject.source.take(0, 20);
    subject.sink.deliver(subject.pool()[id], 1, 30 + k, 3);
  }
  EXPECT_EQ(subject.recorder.counted_taken(), 2U);
  EXPECT_EQ(subject.recorder.counted_delivered(), 2U);
  const banyan::engine::LatencySums& tally = subject.recorder.tallies()[0];
  EXPECT_EQ(tally.packets, 2U);
  EXPECT_EQ(tally.latency, (31 - 5) + (32 - 9U));
  EXPECT_EQ(tally.queueing, (20 - 5) + (20 - 9U));
  EXPECT_EQ(tally.hops, 6U);
  EXPECT_EQ(subject.recorder.delivered(), 4U);
  EXPECT_EQ(subject.sink.misdelivered(), 0U);
}

TEST(Terminals, AWrongTerminalIsNoticed) {
  Fixture fixture(3, {{{0, 0, 1, 1}}});
  Terminals& subject = *fixture.subject;
  subject.sink.deliver(subject.pool()[subject.source.take(0, 0)], 2, 7, 1);
  EXPECT_EQ(subject.sink.misdelivered(), 1U);
}

TEST(Terminals, every_message_joins_one_of_several_queues_and_each_queue_keeps_their_order) {
  constexpr u32 kQueues = 3;
  std::vector<Script::Line> lines;
  for (u32 t = 0; t < 2; ++t) {
    for (u32 k = 0; k < 300; ++k) lines.push_back({t, Tick{k} * 2, 1 - t, 1 + k % 5});
  }
  Fixture fixture(2, {lines}, kQueues);
  Terminals& subject = *fixture.subject;
  ASSERT_EQ(subject.size(), 2 * kQueues);
  subject.source.advance(10'000);
  std::vector<std::vector<u32>> births(2);
  for (u32 queue = 0; queue < subject.size(); ++queue) {
    EXPECT_EQ(subject.global(queue), queue / kQueues);
    Tick previous = 0;
    u32 count = 0;
    while ((subject.source.ready()[0] >> queue & 1U) != 0) {
      const core::Packet packet = subject.pool()[subject.source.take(queue, 10'000)];
      EXPECT_EQ(packet.source, queue / kQueues);
      EXPECT_EQ(packet.flits, 1 + packet.birth / 2 % 5);
      if (count != 0) { EXPECT_GT(packet.birth, previous); }
      previous = packet.birth;
      births[packet.source].push_back(static_cast<u32>(packet.birth));
      ++count;
    }
    EXPECT_NEAR(count, 100, 40) << "queue " << queue;  // binomial: 5 standard deviations
  }
  for (auto& of_terminal : births) {
    std::sort(of_terminal.begin(), of_terminal.end());
    ASSERT_EQ(of_terminal.size(), 300U);
    for (u32 k = 0; k < 300; ++k) EXPECT_EQ(of_terminal[k], k * 2);
  }
}

}  // namespace
}  // namespace banyan::terminals_test
