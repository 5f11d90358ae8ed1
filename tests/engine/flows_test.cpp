// Do flows send what their gates let through, when they let it through, and is a gate that stays shut explained?
#include "banyan/engine/flows.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/engine/steady.hpp"
#include "engine/machines.hpp"

namespace banyan::test::flows_test {
namespace {

using core::Departure;
using core::Feedback;
using core::FlowEnd;

/// What happened, and what to do, by (terminal, destination or peer).
struct Log {
  std::vector<std::tuple<std::string, u32, u32, Tick>> events;  ///< what, terminal, peer, tick

  [[nodiscard]] std::vector<Tick> of(const std::string& what) const {
    std::vector<Tick> ticks;
    for (const auto& [name, terminal, peer, at] : events) {
      if (name == what) ticks.push_back(at);
    }
    return ticks;
  }
};

/// Writes down every call. Flows to `shut` never open; packets leave at multiples of `grid` only.
class Recording : public core::Admission {
 public:
  Recording(Log& log, u32 shut, Tick grid) : log_(log), shut_(shut), grid_(grid) {}

  void begin() override { ends_.clear(); }
  u64 flow_key(const core::FlowMember& member) const noexcept override { return member.destination; }
  void open(u32 end, const FlowEnd& what) override {
    EXPECT_EQ(end, ends_.size());
    ends_.push_back(what);
  }
  void queued(u32 end, u32, Tick now, core::Pace&) noexcept override { note("queued", end, now); }
  Tick may_send(u32 end, const Departure&, Tick now) const noexcept override {
    return ends_[end].key == shut_ ? kNever : (now + grid_ - 1) / grid_ * grid_;
  }
  void sent(u32 end, const Departure&, Tick now, core::Pace&) noexcept override { note("sent", end, now); }
  void arrived(u32 end, const core::Packet& packet, const core::Signals&, Tick now,
               core::Pace& pace) noexcept override {
    note("arrived", end, now);
    pace.tell(end, {.flits = packet.flits, .value = 17, .packets = 1});
  }
  void heard(u32 end, const Feedback& feedback, Tick now, core::Pace& pace) noexcept override {
    note("heard", end, now);
    EXPECT_EQ(feedback.value, 17U);
    EXPECT_LT(feedback.sent, now);
    pace.wake(end, now + 5);
  }
  void timer(u32 end, Tick now, core::Pace&) noexcept override { note("timer", end, now); }
  u64 digest(u32 end) const noexcept override { return end + 1; }
  std::string explain(u32) const override { return "it is told to stay shut"; }

 private:
  void note(const char* what, u32 end, Tick now) {
    log_.events.emplace_back(what, ends_[end].terminal, ends_[end].peer, now);
  }

  Log& log_;
  u64 shut_;
  Tick grid_;
  std::vector<FlowEnd> ends_;
};

const core::ZeroLoad kTimes{.fixed = 1, .per_hop = 1, .per_cycle = 1, .ends = 1};

engine::EngineSettings held(Log& log, u32 shut = kNone, Tick grid = 1, u32 limit = 64) {
  engine::EngineSettings settings;
  settings.admission = [&log, shut, grid] { return std::make_unique<Recording>(log, shut, grid); };
  settings.flow_limit = limit;
  settings.zero_load = kTimes;
  return settings;
}

Rig line(const engine::EngineSettings& settings) {
  return Rig({"mesh", {{"size", std::vector<i64>{4}}}}, {"vc_router", {{"vcs", i64{2}}}}, {"dimension_order"},
             settings);
}

/// One packet from terminal 0 to 3 of four switches in a row: every call once, in its order. The word back passes the
/// two terminals' channels and three between switches, each with its switch: 1 + 2 + 3 (1 + 1) ticks.
TEST(Flows, CallsOfOnePacket) {
  Log log;
  Rig rig = line(held(log));
  rig.run_script({{0, 10, 3, 2}});
  rig.drain(1000);
  ASSERT_EQ(log.events.size(), 5U);
  EXPECT_EQ(log.of("queued"), std::vector<Tick>{10});
  EXPECT_EQ(log.of("sent"), std::vector<Tick>{10});
  const Tick arrived = log.of("arrived").at(0);
  EXPECT_EQ(log.of("heard"), std::vector<Tick>{arrived + 9});
  EXPECT_EQ(log.of("timer"), std::vector<Tick>{arrived + 14});
}

/// Whose ends all remember how many messages were queued, and which says whether that is apart.
class Shared final : public Recording {
 public:
  Shared(Log& log, bool apart) : Recording(log, kNone, 1), apart_(apart) {}
  void queued(u32, u32, Tick, core::Pace&) noexcept override { ++queued_; }
  u64 digest(u32 end) const noexcept override { return queued_ << 32U | end; }
  bool ends_are_apart() const noexcept override { return apart_; }

 private:
  bool apart_;
  u64 queued_ = 0;
};

TEST(Flows, AnEndThatChangesWithoutACallIsFoundWhereEndsAreSaidToBeApart) {
  for (const bool apart : {false, true}) {
    Log log;
    engine::Flows flows(
        {.admission = std::make_unique<Shared>(log, apart), .delays = nullptr, .queues = 1, .limit = 10, .steady = {}});
    flows.reset();
    flows.join(0, {0, 1, 0}, {.birth = 1, .destination = 1}, 0, 0, 0, 1);
    const u64 one = flows.digest();
    EXPECT_EQ(flows.digest(), one);
    EXPECT_EQ(flows.violation(), "");
    flows.join(0, {0, 2, 0}, {.birth = 1, .destination = 2}, 1, 0, 0, 1);
    EXPECT_NE(flows.digest(), one);
    EXPECT_EQ(flows.violation().empty(), !apart);
  }
}

/// What is behind a shut gate does not hold up other flows of its terminal, and is still there at the end.
TEST(Flows, AShutGateHoldsItsOwnFlowOnly) {
  Log log;
  Rig rig = line(held(log, 2));
  engine::Machine& machine = rig.run_script({{0, 0, 2}, {0, 0, 3}, {0, 1, 2}, {0, 2, 1}, {1, 0, 3}});
  rig.drain(2000);
  EXPECT_EQ(machine.totals().delivered, 3U);
  EXPECT_FALSE(machine.sources_past_window());
  const std::string why = machine.explain_blockage();
  EXPECT_NE(why.find("gates of the admission are shut"), std::string::npos) << why;
  EXPECT_NE(why.find("from terminal 0 to 2 waits at its source: it is told to stay shut"), std::string::npos) << why;
}

/// A run whose gates stay shut ends with the verdict of a deadlock that says so, instead of waiting for ever.
TEST(Flows, AGateThatNeverOpensIsADeadlock) {
  Log log;
  engine::EngineSettings settings = held(log, 2);
  settings.steady = {0, 1000, 0, 0};
  Rig rig = line(settings);
  engine::Machine& machine = rig.run_script({{0, 0, 2}, {0, 0, 3}});
  engine::SteadySettings steady;
  steady.drain = 2000;
  const engine::SteadyOutcome out = engine::run_steady(machine, settings.steady, steady);
  EXPECT_EQ(out.end, engine::SteadyOutcome::End::deadlocked);
  EXPECT_NE(out.explanation.find("it is told to stay shut"), std::string::npos) << out.explanation;
}

/// A gate that tells a tick opens at that tick, whatever else happens; then the injection channel has its say.
TEST(Flows, AGateOpensAtItsTick) {
  Log log;
  Rig rig = line(held(log, kNone, 400));
  engine::Machine& machine = rig.run_script({{0, 1, 3}, {0, 3, 2}, {2, 5, 1}, {3, 401, 0}});
  rig.drain(3000);
  EXPECT_EQ(machine.totals().delivered, 4U);
  EXPECT_EQ(log.of("sent"), (std::vector<Tick>{400, 400, 401, 800}));
}

/// Messages behind a full flow queue keep their births and leave in order.
RC_GTEST_PROP(Flows, AnyLimitDeliversTheSame, ()) {
  std::vector<Script::Line> lines;
  Tick birth = 0;
  const u32 count = *rc::gen::inRange(1U, 60U);
  for (u32 i = 0; i < count; ++i) {
    const u32 source = *rc::gen::inRange(0U, 4U);
    lines.push_back({source, birth, (source + 1 + *rc::gen::inRange(0U, 3U)) % 4, *rc::gen::inRange(1U, 6U)});
    birth += *rc::gen::inRange(0U, 6U);
  }
  Rig plain = line({});
  const std::vector<Tick> expected = plain.deliveries(lines);
  for (const u32 limit : {1U, 2U, 64U}) {
    Log log;
    Rig rig = line(held(log, kNone, 1, limit));
    RC_ASSERT(rig.deliveries(lines) == expected);
    RC_ASSERT(log.of("queued").size() == lines.size());
    RC_ASSERT(log.of("heard").size() == log.of("arrived").size());
  }
}

/// What may leave and is the oldest of the most urgent leaves next, whatever opened, shut, was parked or left before:
/// as a search through all messages finds it.
RC_GTEST_PROP(Flows, TheOldestOfTheMostUrgentGoesNext, ()) {
  constexpr u32 kDestinations = 12;
  class Gates final : public Recording {
   public:
    Gates(Log& log, std::vector<Tick>& opens) : Recording(log, kNone, 1), opens_(opens) {}
    void queued(u32, u32, Tick, core::Pace&) noexcept override {}
    void sent(u32, const Departure&, Tick, core::Pace&) noexcept override {}
    void open(u32 end, const FlowEnd& what) override {
      Recording::open(end, what);
      end_of_[what.key] = end;
      key_of_.push_back(what.key);
    }
    Tick may_send(u32 end, const Departure&, Tick now) const noexcept override {
      return std::max(now, opens_[key_of_[end]]);
    }
    std::map<u64, u32> end_of_;

   private:
    std::vector<Tick>& opens_;
    std::vector<u64> key_of_;
  };
  Log log;
  std::vector<Tick> opens(kDestinations, 0);
  auto admission = std::make_unique<Gates>(log, opens);
  const Gates& gates = *admission;
  engine::Flows flows({.admission = std::move(admission), .delays = nullptr, .queues = 1, .limit = 1000, .steady = {}});
  flows.reset();
  std::map<u32, std::vector<engine::Flows::Waiting>> waiting;  // by destination, the first first
  std::set<u32> parked;
  const auto departure = [](const engine::Flows::Waiting&) { return Departure{1}; };
  u64 nth = 0;
  Tick now = 1;
  for (u32 step = 0; step < 200; ++step, now += *rc::gen::inRange<Tick>(0, 3)) {
    const u32 destination = *rc::gen::inRange(0U, kDestinations);
    switch (*rc::gen::inRange(0, 5)) {
      case 0:
      case 1: {  // a message joins
        engine::Flows::Waiting message{{.birth = now - *rc::gen::inRange<Tick>(0, 2), .destination = destination},
                                       nth++,
                                       0,
                                       0,
                                       *rc::gen::inRange<u8>(0, 3)};
        if (!waiting[destination].empty()) {
          message.message.birth = std::max(message.message.birth, waiting[destination].back().message.birth);
        }
        waiting[destination].push_back(message);
        flows.join(0, {0, destination, 0}, message.message, message.nth, message.traffic, message.priority, now);
        break;
      }
      case 2:  // a gate opens earlier than was said
        if (gates.end_of_.contains(destination)) {
          opens[destination] = std::min(opens[destination], now + *rc::gen::inRange<Tick>(0, 5));
          flows.gate(gates.end_of_.at(destination), opens[destination]);
        }
        break;
      case 3:
        if (flows.unpark(0)) parked.clear();
        break;
      default:
        break;
    }
    const engine::Flows::Head head = flows.choose(0, now, departure);
    u32 best = kNone;
    Tick next = kNever;
    const auto key = [&](u32 d) {
      const engine::Flows::Waiting& w = waiting[d].front();
      return std::tuple(-static_cast<int>(w.priority), w.message.birth, w.nth);
    };
    for (const auto& [d, messages] : waiting) {
      if (messages.empty() || parked.contains(d)) continue;
      if (opens[d] > now) {
        next = std::min(next, opens[d]);
      } else if (best == kNone || key(d) < key(best)) {
        best = d;
      }
    }
    RC_ASSERT((head.lane == kNone) == (best == kNone));
    if (best == kNone) {
      RC_ASSERT(head.again == next);
      continue;
    }
    RC_ASSERT(flows.front(head.lane).nth == waiting[best].front().nth);
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        flows.park(0, head.lane);
        parked.insert(best);
        break;
      case 1:
        break;
      default:  // it leaves, and its gate is shut for a while, or until something is heard
        waiting[best].erase(waiting[best].begin());
        flows.left(0, head.lane, best, {1}, true, now);
        opens[best] = *rc::gen::inRange(0, 4) == 0 ? kNever : now + *rc::gen::inRange<Tick>(0, 20);
    }
  }
}

/// Words that are due together come in the order of what is in them, not in that in which they were posted.
RC_GTEST_PROP(Flows, WordsHaveOneOrder, ()) {
  std::vector<engine::Word> words;
  const u32 count = *rc::gen::inRange(2U, 30U);
  for (u32 i = 0; i < count; ++i) {
    engine::Word word;
    word.due = *rc::gen::inRange<Tick>(1, 4);
    word.terminal = *rc::gen::inRange(0U, 2U);
    word.key = *rc::gen::inRange<u64>(0, 3);
    word.feedback.sent = *rc::gen::inRange<Tick>(0, 3);
    word.feedback.flits = *rc::gen::inRange(1U, 3U);
    word.kind = static_cast<engine::Word::Kind>(*rc::gen::inRange(0, 3));
    words.push_back(word);
  }
  const auto heard = [](const std::vector<engine::Word>& given) {
    std::vector<engine::Word> sorted = given;
    std::stable_sort(sorted.begin(), sorted.end(), engine::Word::before);
    std::vector<u64> digests;
    for (const engine::Word& word : sorted) digests.push_back(word.digest());
    return digests;
  };
  std::vector<engine::Word> backwards(words.rbegin(), words.rend());
  RC_ASSERT(heard(words) == heard(backwards));
}

/// An audit finds a flow of which more arrived than was sent: here a switch that delivers a packet under another key.
TEST(Flows, AnAuditComparesSentAndArrived) {
  class Confused final : public Recording {
   public:
    using Recording::Recording;
    u64 flow_key(const core::FlowMember& member) const noexcept override {
      return ++asked_ == 1 ? 7 : member.destination;
    }

   private:
    mutable u32 asked_ = 0;
  };
  Log log;
  engine::EngineSettings settings = held(log);
  settings.admission = [&log] { return std::make_unique<Confused>(log, kNone, 1); };
  Rig rig = line(settings);
  rig.run_script({{0, 0, 3}});
  EXPECT_THROW(rig.drain(1000), InvariantError);
}

}  // namespace
}  // namespace banyan::test::flows_test
