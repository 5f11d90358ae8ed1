// Does the calendar of worm switches tell everything once, when it is due, however far ahead that is?
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <tuple>
#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/switching/worms/calendar.hpp"
#include "support/effort.hpp"

namespace banyan::switching::worm_calendar_test {
namespace {

enum Kind : u8 { kInput, kOutput, kCredit, kSource, kArrival };
/// What is told: its kind, whom it is about, and how much (flits are added up, the rest is told once).
using Told = std::tuple<u8, u32, u64>;

constexpr u32 kPorts = 70;  // more than a word has bits
constexpr u32 kTerminals = 5;

/// A calendar that is told everything twice, the second time as a list of what is due.
class Checked {
 public:
  explicit Checked(Tick horizon, u64 salt) : calendar_(horizon, kPorts, kTerminals), horizon_(horizon), word_(salt) {}

  void run(u32 events) {
    Tick now = 0;
    u32 left = events;
    for (;;) {
      EXPECT_EQ(take(now), expected(now)) << "at " << now << ", horizon " << horizon_;
      for (u64 n = draw(6); n != 0 && left != 0; --n, --left) put(now);
      ASSERT_EQ(calendar_.empty(), due_.empty());
      check_lists();
      const Tick next = calendar_.next_after(now);
      ASSERT_EQ(next, due_.empty() ? kNever : due_.begin()->first) << "after " << now << ", horizon " << horizon_;
      if (left == 0 && next == kNever) return;
      // Somebody else may run in between, or long after everything was told.
      if (next == kNever || draw(4) == 0) {
        now += 1 + draw(std::min(next == kNever ? 3 * horizon_ : next - now, Tick{3} * horizon_));
      } else {
        now = next;
      }
      if (next != kNever) now = std::min(now, next);
    }
  }
  void restart() {
    calendar_.clear();
    due_.clear();
  }

 private:
  u64 draw(u64 below) {
    word_ = mix64(word_);
    return word_ % below;
  }

  void put(Tick now) {
    // Near, anywhere, and at the very end of what is allowed.
    const Tick most = horizon_ - 1;
    const Tick ahead = std::max<Tick>(1, draw(3) == 0   ? std::min<Tick>(most, draw(20))
                                         : draw(8) == 0 ? most
                                                        : 1 + draw(most));
    const Tick due = now + ahead;
    const u32 port = static_cast<u32>(draw(kPorts));
    const u32 terminal = static_cast<u32>(draw(kTerminals));
    const u32 flits = 1 + static_cast<u32>(draw(64));
    switch (draw(5)) {
      case kInput:
        calendar_.input(due, port);
        due_[due][{kInput, port}] = 0;
        return;
      case kOutput:
        calendar_.output(due, port);
        due_[due][{kOutput, port}] = 0;
        return;
      case kCredit:
        calendar_.credit(due, port, flits);
        due_[due][{kCredit, port}] += flits;
        return;
      case kSource:
        calendar_.source(due, terminal, flits);
        due_[due][{kSource, terminal}] += flits;
        return;
      default:
        if (due_[due].contains({kArrival, terminal})) return;
        calendar_.arrival(due, terminal, {flits, 7});
        due_[due][{kArrival, terminal}] = flits;
    }
  }

  std::vector<Told> take(Tick now) {
    std::vector<Told> told;
    if (!calendar_.take(now)) return told;
    calendar_.take_inputs(now, [&](u32 i) { told.emplace_back(kInput, i, 0); });
    calendar_.take_outputs(now, [&](u32 o) { told.emplace_back(kOutput, o, 0); });
    calendar_.take_credits(now, [&](u32 o, u32 flits) { told.emplace_back(kCredit, o, flits); });
    calendar_.take_sources(now, [&](u32 t, u32 flits) { told.emplace_back(kSource, t, flits); });
    calendar_.take_arrivals(now, [&](u32 t, const WormCalendar::Arrival& a) {
      told.emplace_back(kArrival, t, a.packet);
      EXPECT_EQ(a.way, 7U);
    });
    std::sort(told.begin(), told.end());
    return told;
  }
  std::vector<Told> expected(Tick now) {
    std::vector<Told> all;
    const auto found = due_.find(now);
    if (found == due_.end()) return all;
    for (const auto& [key, amount] : found->second) all.emplace_back(key.first, key.second, amount);
    due_.erase(found);
    return all;
  }

  /// What is under way, as the audits of credits and packets count it.
  void check_lists() const {
    std::map<u8, u64> sums;
    for (const auto& [due, all] : due_) {
      for (const auto& [key, amount] : all) sums[key.first] += amount;
    }
    u64 credits = 0;
    u64 sources = 0;
    u64 arrivals = 0;
    calendar_.for_each_credit([&](u32, u32 flits) { credits += flits; });
    calendar_.for_each_source_credit([&](u32, u32 flits) { sources += flits; });
    calendar_.for_each_arrival([&](core::PacketId id) { arrivals += id; });
    EXPECT_EQ(credits, sums[kCredit]);
    EXPECT_EQ(sources, sums[kSource]);
    EXPECT_EQ(arrivals, sums[kArrival]);
  }

  WormCalendar calendar_;
  Tick horizon_;
  u64 word_;
  std::map<Tick, std::map<std::pair<u8, u32>, u64>> due_;
};

TEST(WormCalendar, TellsEverythingWhenItIsDue) {
  for (const Tick horizon : {3U, 37U, 64U, 65U, 511U, 512U, 513U, 600U, 767U, 768U, 769U, 1024U, 5000U, 70'000U}) {
    for (u64 salt = 1; salt <= test::tries(6U, 1U); ++salt) {
      Checked checked(horizon, salt * 1000 + horizon);
      checked.run(400);
      checked.restart();
      checked.run(50);
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace banyan::switching::worm_calendar_test
