// Does DCQCN find the fixed point of its fluid model, and are its flows equal there?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "admission/admissions.hpp"
#include "banyan/base/archive.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::dcqcn_test {
namespace {

using namespace banyan;

/// One flow, at its source. Nobody wakes it.
class Sender final : public core::Pace {
 public:
  explicit Sender(const std::string& admission, const std::vector<u32>& injection = {}) {
    const api::Experiment e = test::experiment(test::networks().front().text, admission);
    core::AdmissionContext context;
    context.terminals = 2;
    context.cycle_ns = 1.0;
    context.injection = injection;
    for (const core::AdmissionRow* const row : core::admission_rows()) {
      if (row->info.name == e.admission.component()) made_ = row->make(e.admission, context);
    }
    made_->begin();
    made_->open(0, {.terminal = 0, .at_source = true, .peer = 1, .key = 0});
  }
  void notify(Tick now) { made_->heard(0, {.packets = 1, .marked = 1}, now, *this); }
  void send(u32 flits, Tick now) { made_->sent(0, {flits}, now, *this); }
  [[nodiscard]] Tick free_at() const { return made_->may_send(0, {1}, 0); }
  [[nodiscard]] core::Admission& admission() { return *made_; }

  void gate(u32, Tick) noexcept override { FAIL() << "timers open no gate"; }
  void wake(u32, Tick) noexcept override { FAIL() << "timers wait for nobody"; }
  void wake_terminal(u32, Tick) noexcept override { FAIL() << "nothing is shared"; }
  void tell(u32, const core::Feedback&) noexcept override { FAIL() << "sources tell nothing"; }

 private:
  std::unique_ptr<core::Admission> made_;
};

/// The reaction point of the paper, tick by tick: 70 ticks until the estimate decays, 60 until the rate rises, a stage
/// of the byte counter every 100 flits.
struct Stepped {
  double rate = 1.0, target = 1.0, estimate = 1.0, next = 0.0;
  u32 flits = 0, times = 0, bytes = 0;
  Tick decay_at = 0, increase_at = 0;
  bool limited = false;

  void notify(Tick now) {
    target = rate;
    rate = std::max(0.01, rate * (1.0 - estimate / 2.0));
    estimate = 0.9 * estimate + 0.1;
    flits = times = bytes = 0;
    decay_at = now + 70;
    increase_at = now + 60;
    limited = true;
  }
  void tick(Tick now) {
    if (decay_at != 0 && now == decay_at) {
      estimate *= 0.9;
      decay_at += 70;
    }
    if (limited && now == increase_at) {
      ++times;
      increase_at += 60;
      increase();
    }
  }
  void send(u32 length, Tick now) {
    next = std::max(next, static_cast<double>(now)) + length / rate;
    if (!limited) return;
    for (flits += length; flits >= 100; flits -= 100) {
      ++bytes;
      increase();
    }
  }
  void increase() {
    if (std::max(times, bytes) > 2) {
      const u32 both = std::min(times, bytes);
      target = std::min(1.0, target + (both > 2 ? (both - 2) * 0.03 : 0.01));
    }
    rate = (target + rate) / 2.0;
    if (target < 1.0 || rate < 0.999) return;
    rate = 1.0;
    limited = false;
  }
};

std::string timed(double gain = 0.1) {
  return "{ name = 'dcqcn', gain = " + std::to_string(gain) +
         ", notification_time = 10, estimate_time = 70, increase_time = 60, increase_flits = 100, recovery = 2, "
         "additive = 0.01, hyper = 0.03, least = 0.01 }";
}

/// Timers are caught up with when a packet leaves or a notification comes: what they have done by then is what they do
/// tick by tick, however long nothing happened.
TEST(Dcqcn, TimersRunThoughNobodyIsWoken) {
  std::mt19937 random(7);
  u32 rates = 0;
  for (u32 trial = 0; trial < 200; ++trial) {
    Sender lazy(timed());
    Stepped eager;
    const u32 pause = 1U << (trial % 10U);  // mean ticks between two things that happen
    for (Tick now = 1; now < 20'000; ++now) {
      // A timer that is over in the tick of a notification is begun anew.
      if (random() % (10 * pause) == 0) {
        lazy.notify(now);
        eager.notify(now);
      }
      eager.tick(now);
      if (random() % pause == 0 && lazy.free_at() <= now) {
        const u32 flits = 1 + static_cast<u32>(random() % 300);
        lazy.send(flits, now);
        eager.send(flits, now);
        rates += eager.rate < 1.0 ? 1 : 0;
      }
      ASSERT_EQ(lazy.free_at(), static_cast<Tick>(std::ceil(eager.next))) << trial << " " << now;
    }
  }
  EXPECT_GT(rates, 1000U);
}

/// A state goes on with another gain: the estimate has decayed with the old one up to then.
TEST(Dcqcn, ValuesThatChangeInFlightHoldFromThenOn) {
  Sender before(timed(0.5));
  before.notify(1);
  ArchiveToText text;
  text(before.admission());
  const std::string state = text.take();
  const auto after = [&](double gain, Tick from, Tick notified) {
    Sender goes_on(timed(gain));
    ArchiveOfText read(state);
    read(goes_on.admission());
    goes_on.admission().goes_on(from, goes_on);
    goes_on.notify(notified);
    goes_on.send(1000, notified);
    return goes_on.free_at();
  };
  // It is back at the link's rate after 540 ticks.
  const Tick unchanged = after(0.5, 351, 351);
  EXPECT_EQ(after(0.001, 351, 351), unchanged);
  EXPECT_GT(after(0.001, 2, 351), unchanged);
  EXPECT_NE(after(0.5, 351, 500), after(0.001, 351, 500));
}

/// What happened long ago is forgotten, also by a flow that sends as fast as its link takes.
TEST(Dcqcn, TheEstimateDecaysAtTheRateOfTheLinkToo) {
  Sender flow(timed());
  flow.notify(1);
  flow.notify(70'001);  // 0.9^1000
  flow.send(1000, 70'001);
  EXPECT_EQ(flow.free_at(), 71'001U);
}

/// A rate is a share of what the source's own link carries.
TEST(Dcqcn, RatesAreSharesOfSlowLinksToo) {
  Sender flow(timed(), {4, 1});
  flow.send(100, 0);
  EXPECT_EQ(flow.free_at(), 400U);
  flow.notify(1000);  // to a half
  flow.send(100, 1000);
  EXPECT_EQ(flow.free_at(), 1800U);
}

constexpr double kFlitNs = 0.2;          ///< a byte at 40 Gbps
constexpr double kPacketFlits = 1030.0;  ///< 1,024 bytes and the overhead of cioq

/// Terminals 1 .. flows send to terminal 0 as much as they may, over links of 40 Gbps; marks of the paper,
/// with thresholds of 5 and 200 packets.
std::string incast(u32 flows, double load = 0.98) {
  std::string sources = "1";
  for (u32 t = 2; t <= flows; ++t) sources += ", " + std::to_string(t);
  const std::string hosts = flows < 8 ? "8, ports = 16" : "64, ports = 8";
  return "topology = { name = 'bidirectional_min', hosts = " + hosts +
         ", terminal_latency = 500 }\nswitch = { name = 'cioq', queues = '1q', speedup = 2, link = 40, packet = 1024, "
         "memory = 4000000, mark = { low = 5, high = 200, probability = 0.01 } }\n"
         "routing = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
         "traffic = { name = 'flows', sources = [" +
         sources + "], destinations = [0], loads = [" + std::to_string(load) + "], size = 1024 }\n";
}

/// The share of marks at which the rates of N equal flows stand still: the derivatives of the target rate and of the
/// current rate in the fluid model (SIGCOMM 2015) are 0. Packets and nanoseconds.
double fixed_point(u32 flows) {
  const double rate = 1.0 / (kPacketFlits * kFlitNs) / flows;
  const double additive = 0.001 / (kPacketFlits * kFlitNs);
  constexpr double kNotification = 50'000.0;
  constexpr double kTimer = 55'000.0;
  constexpr double kBytes = 1e7 / 1024;
  constexpr double kRecovery = 5.0;
  const auto climbs = [&](double p) {
    const double spared = 1.0 - p;
    const double estimate = 1.0 - std::pow(spared, kTimer * rate);
    const double notified = 1.0 - std::pow(spared, kNotification * rate);
    const auto stage = [&](double packets) { return 1.0 / (std::pow(spared, -packets) - 1.0); };
    const double gap = rate * estimate / kNotification * notified / (rate * p * (stage(kBytes) + stage(kTimer * rate)));
    const double up = additive * rate * p *
                      (std::pow(spared, kRecovery * kBytes) * stage(kBytes) +
                       std::pow(spared, kRecovery * kTimer * rate) * stage(kTimer * rate));
    return up > gap / kNotification * notified;
  };
  double low = 1e-7;
  double high = 0.5;
  for (u32 i = 0; i < 100; ++i) (climbs(std::sqrt(low * high)) ? low : high) = std::sqrt(low * high);
  return low;
}

/// The queue stands where the marks are those of the fixed point. The model knows neither packets nor the first
/// milliseconds, in which the flows cut each other down and climb again: a third is left for that.
TEST(Dcqcn, FindsItsFixedPoint) {
  for (const u32 flows : {2U, 4U}) {
    const double empty = test::run(incast(flows, 0.01), "'dcqcn'", "duration = 2000000").at("network_latency").mean;
    const api::Result held = test::run(incast(flows), "'dcqcn'", "duration = 400000000");
    const double queue = (held.at("network_latency").mean - empty) / kPacketFlits;
    const double expected = 5 + fixed_point(flows) / 0.01 * 195;
    EXPECT_NEAR(queue, expected, expected / 3) << flows;
    EXPECT_GT(held.at("accepted_load_fairness").mean, 0.98) << flows;
    EXPECT_GT(held.at("accepted_load").mean * 8, 0.92 * 1024 / kPacketFlits) << flows;
  }
}

/// 63 flows to 1 have no fixed point below the upper threshold: the queue swings, and the shares are equal all the
/// same.
TEST(Dcqcn, SharesALinkOfManyEvenly) {
  const api::Result held = test::run(incast(63, 0.9), "'dcqcn'", "duration = 200000000");
  EXPECT_GT(fixed_point(63), 0.01);
  EXPECT_GT(held.at("accepted_load_fairness").mean, 0.95);
  EXPECT_GT(held.at("accepted_load").mean * 64, 0.9 * 1024 / kPacketFlits);
  // A notification per flow and 50 us at the most, of 64 bytes.
  EXPECT_LT(held.at("control_share").mean, 63 * 64 / (50'000 / kFlitNs));
}

/// Without a mark the rate is the link's.
TEST(Dcqcn, LeavesACalmNetworkAlone) {
  const std::string calm = incast(2, 0.4);
  const api::Result held = test::run(calm, "'dcqcn'", "duration = 2000000, audit = 'full'");
  const api::Result open = test::run(calm, "{ name = 'window', size = 1000000000, feedback = 'words' }",
                                     "duration = 2000000, audit = 'full'");
  EXPECT_EQ(held.at("marked").mean, 0.0);
  EXPECT_EQ(held.at("accepted_load").mean, open.at("accepted_load").mean);
}

TEST(Dcqcn, HoldsOnEverySwitchModelForAnyShardsAndOrder) {
  for (const test::Network& network : test::networks()) {
    for (const char* feedback : {"packets", "words"}) {
      const std::string dcqcn = std::string(
                                    "{ name = 'dcqcn', notification_time = 50, increase_time = 60, estimate_time "
                                    "= 70, increase_flits = 100, feedback = '") +
                                feedback + "' }";
      const auto hash = [&](const std::string& how) {
        return test::run(network.text, dcqcn, "warmup = 300, measure = 3000, audit = 'full'" + how).state_hash;
      };
      const u64 plain = hash("");
      for (const char* how : {", wake = 'all'", ", step_order = 'permuted'", ", shards = 3"})
        EXPECT_EQ(hash(how), plain) << network.model << how;
    }
  }
}

}  // namespace
}  // namespace banyan::dcqcn_test
