// Does an agenda give what a sorted list would, however far ahead things are put?
#include "banyan/engine/agenda.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <stdexcept>
#include <tuple>

namespace banyan::engine::agenda_test {
namespace {

struct Thing {
  Tick due = 0;
  u32 number = 0;
  [[nodiscard]] static bool before(const Thing& a, const Thing& b) noexcept {
    return std::tie(a.due, a.number) < std::tie(b.due, b.number);
  }
  bool operator<(const Thing& other) const noexcept { return before(*this, other); }
};

/// How far ahead: in this tick, near by, some spans, a round of the spans and more, beyond them.
constexpr Tick kAhead[] = {1, 30, 5000, 60'000, 4096 * 1024, 9'000'000, Tick{3} << 31U, Tick{1} << 40U};

class Both {
 public:
  explicit Both(u32 seed) : random_(seed) {}

  void put(Tick due) {
    const Thing thing{due, static_cast<u32>(random_())};
    agenda_.put(thing);
    sorted_.insert(thing);
  }
  Tick some_time(Tick now) {
    const Tick ahead = kAhead[random_() % std::size(kAhead)];
    return now + random_() % ahead;
  }
  /// What is taken may put in what is due at once, or was due before.
  void take(Tick now) {
    agenda_.take(now, [&](const Thing& thing) {
      ASSERT_FALSE(sorted_.empty());
      EXPECT_EQ(sorted_.begin()->due, thing.due);
      EXPECT_EQ(sorted_.begin()->number, thing.number);
      sorted_.erase(sorted_.begin());
      ++taken_;
      if (random_() % 4 == 0) put(thing.due + random_() % 3);
      if (random_() % 16 == 0) put(thing.due - std::min<Tick>(thing.due, random_() % 9000));
      if (random_() % 2 == 0 && sorted_.size() < 3000) put(some_time(thing.due));
    });
    check();
    EXPECT_GT(agenda_.next(), now);
  }
  void check() const {
    EXPECT_EQ(agenda_.empty(), sorted_.empty());
    EXPECT_EQ(agenda_.next(), sorted_.empty() ? kNever : sorted_.begin()->due);
    std::multiset<Thing> seen;
    agenda_.for_each([&](const Thing& thing) { seen.insert(thing); });
    EXPECT_EQ(seen.size(), sorted_.size());
    EXPECT_TRUE(std::equal(seen.begin(), seen.end(), sorted_.begin(),
                           [](const Thing& a, const Thing& b) { return !(a < b) && !(b < a); }));
  }
  /// Another agenda goes on from what this one was.
  void hand_over() {
    ArchiveToText written;
    written(agenda_);
    agenda_ = Agenda<Thing>();
    agenda_.put({3, 3});
    const std::string text = written.take();
    ArchiveOfText read(text);
    read(agenda_);
    EXPECT_TRUE(read.ended());
    check();
  }
  [[nodiscard]] u64 taken() const noexcept { return taken_; }
  [[nodiscard]] Tick next() const noexcept { return agenda_.next(); }
  u32 draw() { return static_cast<u32>(random_()); }

 private:
  std::minstd_rand random_;
  Agenda<Thing> agenda_;
  std::multiset<Thing> sorted_;
  u64 taken_ = 0;
};

TEST(Agenda, GivesWhatASortedListWould) {
  for (u32 seed = 1; seed <= 20; ++seed) {
    Both both(seed);
    Tick now = 0;
    for (int round = 0; round < 400; ++round) {
      for (u32 n = both.draw() % 8; n > 0; --n) both.put(both.some_time(now));
      if (both.draw() % 8 == 0) both.put(now - std::min<Tick>(now, both.draw() % 10'000));
      both.check();
      if (both.draw() % 16 == 0) both.hand_over();
      // A tick further, some way, or to what is due next.
      const u32 how = both.draw() % 4;
      now = how == 0   ? now + 1
            : how == 1 ? both.some_time(now)
                       : std::max(now, both.next() == kNever ? 0 : both.next());
      both.take(now);
    }
    EXPECT_GT(both.taken(), 1000U);
  }
}

TEST(Agenda, IsEmptyWhenItWasCleared) {
  Agenda<Thing> agenda;
  agenda.put({5, 1});
  agenda.put({5'000'000, 2});
  agenda.put({Tick{1} << 50U, 3});
  agenda.clear();
  EXPECT_TRUE(agenda.empty());
  EXPECT_EQ(agenda.next(), kNever);
  agenda.put({7, 4});
  u32 taken = 0;
  agenda.take(10, [&](const Thing& thing) { taken += thing.number; });
  EXPECT_EQ(taken, 4U);
}

TEST(Agenda, GoesOnAfterAThingThatThrewAndAClear) {
  Agenda<Thing> agenda;
  agenda.put({5000, 1});
  EXPECT_THROW(agenda.take(6000, [](const Thing&) { throw std::runtime_error("no"); }), std::runtime_error);
  agenda.clear();
  agenda.put({3, 2});
  EXPECT_EQ(agenda.next(), 3U);
  u32 taken = 0;
  agenda.take(3, [&](const Thing& thing) { taken += thing.number; });
  EXPECT_EQ(taken, 2U);
}

}  // namespace
}  // namespace banyan::engine::agenda_test
