// Do notifications and the timer step through the table as the specification says, and are equal flows equal there?
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "admission/admissions.hpp"
#include "banyan/base/error.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::infiniband_cc_test {
namespace {

using namespace banyan;

std::string table(const std::string& more = "") { return "{ name = 'infiniband_cc'" + more + " }"; }

/// Flows of one terminal, and its clock, on links where a packet occupies 6 flits more than its own.
class Sender final : public core::Pace {
 public:
  explicit Sender(const std::string& admission, u32 flows = 1, u32 cycles_per_flit = 1) {
    const api::Experiment e = test::experiment(test::networks().front().text, admission);
    for (const core::AdmissionRow* const row : core::admission_rows()) {
      if (row->info.name != e.admission.component()) continue;
      made_ = row->make(e.admission, {.terminals = 128,
                                      .longest_packet = 64,
                                      .cycle_ns = 1.0,
                                      .overhead = 6,
                                      .injection = std::vector<u32>(128, cycles_per_flit),
                                      .ejection = {},
                                      .round_trip = {},
                                      .longest_round_trip = {}});
    }
    made_->begin();
    for (u32 f = 0; f < flows; ++f) made_->open(f, {.terminal = 3, .at_source = true, .peer = 10 + f, .key = f});
  }

  void advance(Tick until) {
    for (; !clocks_.empty() && clocks_.begin()->first <= until; clocks_.erase(clocks_.begin())) {
      now_ = clocks_.begin()->first;
      made_->clock(clocks_.begin()->second, now_, *this);
      EXPECT_EQ(made_->violation(), "");
    }
    now_ = until;
  }
  void notify(u32 flow = 0) { made_->heard(flow, {.packets = 1, .marked = 1}, now_, *this); }
  /// Ticks from a packet that leaves now to the next one.
  Tick gap(u32 flits, u32 flow = 0) {
    made_->sent(flow, {flits}, now_, *this);
    return made_->may_send(flow, {flits}, now_) - now_;
  }
  [[nodiscard]] std::size_t clocks() const { return clocks_.size(); }
  [[nodiscard]] Tick now() const { return now_; }

  void gate(u32, Tick) noexcept override {}
  void wake(u32, Tick) noexcept override { FAIL() << "the timer is the terminal's"; }
  void wake_terminal(u32 terminal, Tick at) noexcept override { clocks_.emplace(at, terminal); }
  void tell(u32, const core::Feedback&) noexcept override { FAIL() << "sources tell nothing"; }

 private:
  std::unique_ptr<core::Admission> made_;
  std::multimap<Tick, u32> clocks_;
  Tick now_ = 0;
};

/// 70 ticks of transmission, and as many again per index: up by each notification, to the limit; down by one with each
/// tick of the timer, to the minimum, where packets follow each other as the link allows and the timer stands still.
TEST(InfinibandCc, StepsThroughItsTable) {
  Sender s(table(", ccti_timer = 1000, ccti_limit = 10, ccti_increase = 3"));
  EXPECT_EQ(s.gap(64), 0U);
  for (const u32 index : {3U, 6U, 9U, 10U, 10U}) {
    s.notify();
    EXPECT_EQ(s.gap(64), 70U * (1 + index));
    EXPECT_EQ(s.gap(8), 14U * (1 + index));
  }
  for (u32 tick = 1; tick <= 10; ++tick) {
    s.advance(tick * 1000 - 1);
    EXPECT_EQ(s.gap(64), 70U * (1 + 11 - tick)) << "before tick " << tick;
    s.advance(tick * 1000);
    EXPECT_EQ(s.gap(64), tick == 10 ? s.gap(64) : 70U * (1 + 10 - tick)) << "after tick " << tick;
  }
  EXPECT_EQ(s.clocks(), 0U);
  s.advance(20'000);
  EXPECT_EQ(s.gap(64), 0U);
  // The timer starts again with the next notification.
  s.advance(20'300);
  s.notify();
  s.advance(21'299);
  EXPECT_EQ(s.gap(64), 70U * 4);
  s.advance(21'300);
  EXPECT_EQ(s.gap(64), 70U * 3);
}

TEST(InfinibandCc, DoesNotFallBelowItsMinimum) {
  Sender s(table(", ccti_timer = 1000, ccti_min = 2, ccti_limit = 4"), 1, 3);
  EXPECT_EQ(s.gap(64), 3U * 70 * 3);
  s.notify();
  s.notify();
  s.notify();
  EXPECT_EQ(s.gap(64), 3U * 70 * 5);
  s.advance(1'000'000);
  EXPECT_EQ(s.gap(64), 3U * 70 * 3);
  Sender still(table(", ccti_timer = 1000, ccti_min = 4, ccti_limit = 4"));
  still.notify();
  EXPECT_EQ(still.clocks(), 0U);
}

/// One timer lowers all flows of the terminal, and each by what it was raised itself.
TEST(InfinibandCc, LowersAllFlowsOfATerminalTogether) {
  Sender s(table(", ccti_timer = 1000"), 3);
  s.notify(0);
  s.advance(600);
  s.notify(2);
  s.notify(2);
  EXPECT_EQ(s.gap(64, 0), 140U);
  EXPECT_EQ(s.gap(64, 1), 0U);
  EXPECT_EQ(s.gap(64, 2), 210U);
  s.advance(1000);
  EXPECT_EQ(s.gap(64, 2), 140U);
  s.advance(1999);
  EXPECT_EQ(s.gap(64, 2), 140U);
  s.advance(2000);
  EXPECT_EQ(s.clocks(), 0U);
}

/// Two bits of shift above fourteen of multiplier; the last entry stands for those that are not given. Without entries
/// the delay grows evenly, or so that the last one leaves each of 128 terminals its share.
TEST(InfinibandCc, ReadsEntriesAsTheSpecificationHasThem) {
  Sender given(table(", cct = [0, 1, 16387, 49157, 20], ccti_limit = 6"));
  for (const double delay : {1.0, 1.5, 0.625, 20.0, 20.0, 20.0, 20.0}) {
    given.notify();
    EXPECT_EQ(given.gap(64), static_cast<Tick>(std::ceil(70 * (1 + delay)))) << delay;
  }
  Sender even(table(", cct_step = 0.25"));
  even.notify();
  EXPECT_EQ(even.gap(64), 88U);  // 87.5
  Sender shares(table(", cct_step = 0, ccti_limit = 100, ccti_increase = 100"));
  shares.notify();
  EXPECT_EQ(shares.gap(64), 70U * 128);
}

/// A minimum of m leaves 1 / (m + 1) of the link to every flow, whoever marks or not, on any model.
TEST(InfinibandCc, DelaysByTransmissionTimesOfTheLink) {
  const std::string cioq =
      "topology = { name = 'bidirectional_min', hosts = 8, ports = 16 }\nswitch = 'cioq'\n"
      "routing = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
      "traffic = { name = 'flows', sources = [1], destinations = [0], loads = [0.9], size = 64 }\n";
  const std::string mesh =
      "topology = { name = 'mesh', size = [2, 4] }\nswitch = { name = 'vc_router', vcs = 2 }\n"
      "routing = 'dimension_order'\n"
      "traffic = { name = 'uniform', load = 0.9, size = 4 }\n";
  for (const u32 least : {2U, 3U, 9U}) {
    const std::string held = table(", ccti_min = " + std::to_string(least));
    EXPECT_NEAR(test::run(cioq, held, "duration = 200000").at("accepted_load").mean * 8, 64.0 / 70 / (least + 1),
                0.002);
    const std::string all = table(", flow = 'terminal', feedback = 'words', ccti_min = " + std::to_string(least));
    EXPECT_NEAR(test::run(mesh, all, "duration = 200000").at("accepted_load").mean, 1.0 / (least + 1), 0.002);
  }
}

constexpr double kPacketNs = (2048 + 6) * 0.5;  ///< a byte in 0.5 ns: 4x DDR of Gran et al., 16 Gbps of data

/// Terminals 1 .. flows send to terminal 0 as much as they may: packets of 2 kB, marks above a sixteenth of the memory.
std::string incast(u32 flows, const std::string& mark) {
  std::string sources = "1";
  for (u32 t = 2; t <= flows; ++t) sources += ", " + std::to_string(t);
  const std::string hosts = flows < 8 ? "8, ports = 16" : "64, ports = 8";
  return "topology = { name = 'bidirectional_min', hosts = " + hosts +
         " }\nswitch = { name = 'cioq', queues = '1q', speedup = 2, link = 16, packet = 2048, memory = 131072, mark = "
         "{ "
         "low = 4, high = 4, root_only = true" +
         mark +
         " } }\nrouting = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
         "traffic = { name = 'flows', sources = [" +
         sources + "], destinations = [0], loads = [0.9], size = 2048 }\n";
}

/// An index stands still on average when a flow is notified once per timer, so that of the packets of N flows, which
/// share a link, N packet times per timer are marked. With fine steps the link is nearly full.
TEST(InfinibandCc, MarksOncePerFlowAndTimer) {
  for (const u32 flows : {2U, 7U}) {
    for (const char* mark : {", above = 0.0909", ""}) {
      const api::Result held =
          test::run(incast(flows, mark), table(", cct_step = 0.125, ccti_limit = 1023"), "duration = 400000000");
      const double expected = flows * kPacketNs / 153'600;
      EXPECT_NEAR(held.at("marked").mean, expected, 0.15 * expected) << flows << mark;
      EXPECT_GT(held.at("accepted_load").mean * 8, 0.9) << flows << mark;
      EXPECT_GT(held.at("accepted_load_fairness").mean, 0.95) << flows << mark;
    }
  }
}

/// The largest share of marks bounds the number of flows that a table holds back: beyond share x timer / packet time
/// they are notified less than once per timer. With all packets marked 63 are held back, with one in eleven they fill
/// the memories of the whole tree.
TEST(InfinibandCc, HoldsBackAsManyFlowsAsItsMarksAllow) {
  const double packets = 153'600 / kPacketNs;
  EXPECT_GT(packets, 63.0);
  EXPECT_LT(0.0909 * packets, 63.0);
  const std::string run = "duration = 200000000";
  const api::Result all = test::run(incast(63, ""), table(), run);
  const api::Result few = test::run(incast(63, ", above = 0.0909"), table(), run);
  EXPECT_GT(all.at("accepted_load_fairness").mean, 0.98);
  EXPECT_LT(few.at("accepted_load_fairness").mean, 0.6);
  EXPECT_GT(all.at("accepted_load").mean * 64, 0.9);
  EXPECT_LT(all.at("network_latency").mean, 0.3 * few.at("network_latency").mean);
}

TEST(InfinibandCc, RefusesTablesThatMeanNothing) {
  const auto refusal = [](const std::string& more) -> std::string {
    try {
      static_cast<void>(test::run(test::networks().front().text, table(more), "warmup = 10, measure = 100"));
    } catch (const ConfigError& error) { return error.remedy(); }
    return "";
  };
  EXPECT_NE(refusal(", ccti_min = 9, ccti_limit = 8").find("use ccti_min = 8 or less"), std::string::npos);
  EXPECT_EQ(refusal(", ccti_min = 8, ccti_limit = 8"), "");
  EXPECT_NE(refusal(", cct = [0, 65536]").find("use entries from 0 to 65535"), std::string::npos);
  EXPECT_EQ(refusal(", cct = [0, 65535]"), "");
}

TEST(InfinibandCc, HoldsOnEverySwitchModelForAnyShardsThreadsAndOrder) {
  for (const test::Network& network : test::networks()) {
    for (const char* more : {", feedback = 'packets'", ", feedback = 'words', flow = 'class'", ", flow = 'terminal'"}) {
      std::string text = network.text;
      const std::string model = network.model;
      if (const auto at = text.find("kernel = 'general'"); at != std::string::npos)
        text.insert(at, "mark = { low = 2, high = 4, above = 0.5 }, ");
      if (const auto at = text.find("packet = 64 }"); at != std::string::npos)
        text.insert(at, "mark = { low = 1, high = 1, above = 0.5, root_only = true }, ");
      const std::string held = table(", ccti_timer = 300, ccti_min = 1" + std::string(more));
      const auto hash = [&](const std::string& how, u32 threads = 1) {
        api::RunOptions options;
        options.threads = threads;
        const api::Result r =
            api::run(test::experiment(text, held, "warmup = 300, measure = 3000, audit = 'full'" + how), options);
        EXPECT_EQ(r.at("marked").mean > 0.0, text.size() != network.text.size()) << model;
        return r.state_hash;
      };
      const u64 plain = hash("");
      for (const char* how : {", wake = 'all'", ", step_order = 'permuted'", ", shards = 3"})
        EXPECT_EQ(hash(how), plain) << model << more << how;
      EXPECT_EQ(hash(", shards = 4", 2), plain) << model << more;
    }
  }
}

}  // namespace
}  // namespace banyan::infiniband_cc_test
