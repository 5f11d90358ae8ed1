// Do flows send what their gates let through, when they let it through, and is a gate that stays shut explained?
#include "banyan/engine/flows.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <memory>
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
