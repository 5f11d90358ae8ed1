// Do receivers grant no more than their link takes, in turn, and all that is requested, on every switch model?
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "admission/admissions.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::receiver_credits_test {
namespace {

using namespace banyan;

std::string credits(const std::string& more = "") { return "{ name = 'receiver_credits'" + more + " }"; }

/// One receiver, its clock, and sources that send what they are granted `round_trip` ticks later.
class Receiver final : public core::Pace {
 public:
  struct Grant {
    Tick at = 0;
    u32 end = 0;
    u32 flits = 0;
  };

  Receiver(const std::string& admission, u32 sources, u32 packet, Tick round_trip)
      : packet_(packet), round_trip_(round_trip) {
    const api::Experiment e = test::experiment(test::networks().front().text, admission);
    for (const core::AdmissionRow* const row : core::admission_rows()) {
      if (row->info.name == e.admission.component()) {
        core::AdmissionContext context;
        context.terminals = sources + 1;
        made_ = row->make(e.admission, context);
      }
    }
    made_->begin();
    for (u32 s = 0; s < sources; ++s) made_->open(s, {.terminal = 0, .at_source = false, .peer = s + 1, .key = 0});
    granted_.resize(sources);
    sent_.resize(sources);
  }

  void request(u32 end, u32 flits, Tick at) { made_->heard(end, {.flits = flits, .kind = 0}, at, *this); }
  void send_unsolicited(u32 end, u32 window) {
    granted_[end] += window;
    for (; sent_[end] < granted_[end]; sent_[end] += packet_) arrivals_.emplace(sent_[end] + round_trip_, end);
  }
  void run(Tick until) {
    for (now_ = 0; now_ < until; ++now_) {
      for (; !arrivals_.empty() && arrivals_.begin()->first <= now_; arrivals_.erase(arrivals_.begin())) {
        core::Packet packet;
        packet.flits = packet_;
        packet.enter = now_;
        made_->arrived(arrivals_.begin()->second, packet, {}, now_, *this);
      }
      for (; !timers_.empty() && timers_.begin()->first <= now_; timers_.erase(timers_.begin())) {
        made_->clock(timers_.begin()->second, now_, *this);
      }
      ASSERT_EQ(made_->violation(), "");
    }
  }

  void gate(u32, Tick) noexcept override {}
  void wake(u32, Tick) noexcept override { FAIL() << "the clock is the terminal's"; }
  void wake_terminal(u32 terminal, Tick at) noexcept override { timers_.emplace(at, terminal); }
  void tell(u32 end, const core::Feedback& f) noexcept override {
    grants.push_back({now_, end, f.flits});
    granted_[end] += f.flits;
    for (; sent_[end] < granted_[end]; sent_[end] += packet_) arrivals_.emplace(now_ + round_trip_, end);
  }

  [[nodiscard]] u64 granted(u32 end) const { return granted_[end]; }
  std::vector<Grant> grants;

 private:
  u32 packet_;
  Tick round_trip_;
  Tick now_ = 0;
  std::unique_ptr<core::Admission> made_;
  std::multimap<Tick, u32> timers_;
  std::multimap<Tick, u32> arrivals_;
  std::vector<u64> granted_;
  std::vector<u64> sent_;
};

/// In any stretch of time, from one grant to another, at most rate x time and the grant that begins it. Flows whose
/// windows are no limit share the rate to within two grants (the first ones are of one flit), and use all of it.
TEST(ReceiverCredits, GrantsAtTheReceiversPaceInTurn) {
  for (const double rate : {1.0, 0.5, 0.37}) {
    for (const u32 sources : {1U, 2U, 8U, 63U}) {
      for (const u32 packet : {1U, 4U, 9U}) {
        Receiver receiver(credits(", unsolicited = false, window = 100000, rate = " + std::to_string(rate)), sources,
                          packet, 20);
        for (u32 s = 0; s < sources; ++s) receiver.request(s, 10'000'000, 0);
        constexpr Tick kEnd = 12'000;
        receiver.run(kEnd);
        u64 all = 0;
        for (std::size_t from = 0; from < receiver.grants.size(); ++from) {
          const Receiver::Grant& first = receiver.grants[from];
          all += first.flits;
          u64 flits = 0;
          for (std::size_t to = from; to < std::min(from + 200, receiver.grants.size()); ++to) {
            const Receiver::Grant& last = receiver.grants[to];
            // `last` may go once what was granted before it has had its time.
            if (to > from) {
              ASSERT_LE(static_cast<double>(flits), rate * static_cast<double>(last.at - first.at) + 1.0)
                  << rate << " " << sources << " " << packet;
            }
            flits += last.flits;
          }
        }
        EXPECT_NEAR(static_cast<double>(all), rate * kEnd, 10.0 * packet);
        for (u32 s = 0; s < sources; ++s) {
          EXPECT_NEAR(static_cast<double>(receiver.granted(s)), static_cast<double>(all) / sources, 2.0 * packet)
              << rate << " " << sources << " " << packet;
        }
      }
    }
  }
}

/// A window that is shorter than the round trip is granted once per round trip; all of a request is granted in the end,
/// a lone flit too, and nothing beyond it.
TEST(ReceiverCredits, GrantsAWindowPerRoundTripAndJustWhatWasRequested) {
  Receiver endless(credits(", unsolicited = false, rate = 1, window = 8"), 1, 1, 100);
  endless.request(0, 1'000'000, 0);
  endless.run(100'000);
  EXPECT_NEAR(static_cast<double>(endless.granted(0)), 8.0 * 100'000 / 101, 80.0);
  for (const u32 flits : {1U, 7U, 64U, 1000U}) {
    for (const u32 window : {1U, 3U, 64U}) {
      Receiver ends(credits(", unsolicited = false, rate = 1, window = " + std::to_string(window)), 2, 4, 30);
      ends.request(0, flits, 0);
      ends.run(50'000);
      EXPECT_EQ(ends.granted(0), flits) << window;
      EXPECT_EQ(ends.granted(1), 0U);
    }
  }
}

/// What arrives unsolicited asks for as much again: a window of each flow is under way, half of it is granted at once,
/// and the pace is that of the receiver over all flows.
TEST(ReceiverCredits, GrantsWhatArrivesUnsolicited) {
  for (const double rate : {1.0, 0.5}) {
    for (const u32 sources : {1U, 8U}) {
      constexpr u32 kPacket = 4;
      constexpr u32 kWindow = 80;
      Receiver receiver(credits(", window = 80, rate = " + std::to_string(rate)), sources, kPacket, 20);
      for (u32 s = 0; s < sources; ++s) receiver.send_unsolicited(s, kWindow);
      constexpr Tick kEnd = 20'000;
      receiver.run(kEnd);
      u64 all = 0;
      for (const Receiver::Grant& grant : receiver.grants) {
        all += grant.flits;
        EXPECT_EQ(grant.flits, kWindow / 2);
      }
      EXPECT_NEAR(static_cast<double>(all), rate * kEnd, 2.0 * kWindow) << rate << " " << sources;
      for (u32 s = 0; s < sources; ++s) {
        EXPECT_NEAR(static_cast<double>(receiver.granted(s) - kWindow), static_cast<double>(all) / sources, kWindow);
      }
    }
  }
}

/// Terminals 1, 2 ... of a tree send to terminal 0 as much as they may. A packet of 64 flits takes 70 cycles of a link.
std::string incast(u32 others) {
  std::string sources = "1";
  for (u32 t = 2; t <= others; ++t) sources += ", " + std::to_string(t);
  return "topology = { name = 'bidirectional_min', hosts = 64 }\nswitch = 'cioq'\n"
         "routing = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
         "traffic = { name = 'flows', sources = [" +
         sources + "], destinations = [0], loads = [0.9], size = 64 }\n";
}

/// The receiver of an incast is busy, its sources get even shares wherever they sit in the tree, and packets do not
/// wait for each other in the network, as those of all sources do without grants.
TEST(ReceiverCredits, SharesTheLinkOfAnIncast) {
  const double full = 64.0 / 70.0;
  for (const u32 others : {2U, 8U, 63U}) {
    // The first windows of 63 flows take 120,000 cycles of the link.
    const std::string run = "duration = 1200000";
    const api::Result open = test::run(incast(others), "", run);
    for (const bool unsolicited : {true, false}) {
      const std::string more = unsolicited ? "" : ", unsolicited = false, feedback = 'words'";
      const api::Result held = test::run(incast(others), credits(more), run);
      EXPECT_GT(64 * held.at("accepted_load").mean, 0.93 * full) << others << more;
      EXPECT_LE(64 * held.at("accepted_load").mean, (unsolicited ? 0.98 : 0.951) * full) << others << more;
      EXPECT_GT(held.at("accepted_load_fairness").mean, 0.98) << others << more;
      EXPECT_LT(held.at("network_latency").mean, 0.5 * open.at("network_latency").mean) << others << more;
    }
  }
}

/// However messages are cut into packets, no more of the link is granted than the rate, overhead included.
TEST(ReceiverCredits, PayForTheOverheadOfEveryPacket) {
  for (const double rate : {0.95, 0.5}) {
    for (const u32 size : {10U, 64U, 65U, 70U, 100U}) {
      std::string network = incast(8);
      network.replace(network.find("size = 64"), 9, "size = " + std::to_string(size));
      const api::Result held =
          test::run(network, credits(", unsolicited = false, feedback = 'words', rate = " + std::to_string(rate)),
                    "duration = 400000");
      const double packets = size <= 64 ? 1.0 : 2.0;
      const double share = 64 * held.at("accepted_load").mean * (size + packets * 6.0) / size;
      EXPECT_LE(share, 1.002 * rate) << size;
      EXPECT_GE(share, 0.9 * rate) << size;
    }
  }
}

/// Every model runs to its end with full audits, tight windows and long packets, and accepts no more than without.
TEST(ReceiverCredits, HoldsOnEverySwitchModel) {
  for (const test::Network& network : test::networks()) {
    const std::string run = "warmup = 1000, measure = 6000, audit = 'full'";
    const double open = test::run(network.text, "", run).at("accepted_load").mean;
    for (const char* feedback : {"words", "packets"}) {
      for (const char* sizes : {", window = 1", ", window = 64, unsolicited = false, rate = 0.9", ""}) {
        const api::Result held =
            test::run(network.text, credits(std::string(sizes) + ", feedback = '" + feedback + "'"), run);
        EXPECT_GT(held.at("accepted_load").mean, 0.0) << network.model << " " << feedback << sizes;
        EXPECT_LE(held.at("accepted_load").mean, open * 1.01) << network.model << " " << feedback << sizes;
      }
    }
  }
}

/// A session ends when its last message has arrived: no lone flit is left without a grant.
TEST(ReceiverCredits, LetsASessionEnd) {
  const std::string mesh =
      "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 2 }\n"
      "routing = 'dimension_order'\ntraffic = 'collective'\n";
  for (const char* more : {", window = 1", ", window = 7, unsolicited = false, feedback = 'words'", ""}) {
    EXPECT_EQ(test::run(mesh, credits(more), "audit = 'full'").verdict, test::run(mesh, "", "audit = 'full'").verdict)
        << more;
  }
}

TEST(ReceiverCredits, IsTheSameForAnyShardsThreadsAndOrder) {
  for (const test::Network& network : test::networks()) {
    for (const char* feedback : {"words", "packets"}) {
      const std::string held = credits(std::string(", window = 24, feedback = '") + feedback + "'");
      const auto hash = [&](const std::string& how, u32 threads) {
        const api::Experiment e = test::experiment(network.text, held, "warmup = 300, measure = 3000" + how);
        api::RunOptions options;
        options.threads = threads;
        return api::run(e, options).state_hash;
      };
      const u64 plain = hash("", 1);
      const std::string model = network.model;
      EXPECT_EQ(hash(", wake = 'all'", 1), plain) << model << " " << feedback;
      EXPECT_EQ(hash(", step_order = 'permuted'", 1), plain) << model << " " << feedback;
      if (model.starts_with("vc_router")) {
        EXPECT_EQ(hash(", shards = 3", 1), plain) << model << " " << feedback;
        EXPECT_EQ(hash(", shards = 4", 2), plain) << model << " " << feedback;
      }
    }
  }
}

}  // namespace
}  // namespace banyan::receiver_credits_test
