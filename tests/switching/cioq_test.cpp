// Does the CIOQ switch conserve, order and give back everything under every organization of its queues, and does RECN
// put queues aside as sections 4.1 and 4.2 of its paper say?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/switching/cioq/fabric.hpp"
#include "support/effort.hpp"
#include "support/rows.hpp"

namespace banyan::switching::cioq {

/// Sets up states of queues by hand.
struct FabricAccess {
  explicit FabricAccess(Plan plan, u32 hosts = 16)
      : topology(test::topology("bidirectional_min", {{"hosts", i64{hosts}}})),
        routing(test::routing("nearest_common_ancestor", *topology, 1, {{"up", std::string("destination_digit")}})),
        builder(*topology, *routing, {}, {}, {}) {
    builder.cut_messages(plan.packet);
    builder.partition_as_one();
    auto owned = std::make_unique<Fabric>(builder, 0, plan, kBits);
    fabric = owned.get();
    builder.add(0, std::move(owned));
    fabric->reset(0);
  }

  /// A packet with these turns ahead.
  Item packet(const std::vector<u32>& turns) { return {path(turns), fabric->pool_.allocate(), 64, 0}; }
  static u64 path(const std::vector<u32>& turns) {
    u64 route = 0;
    for (std::size_t i = 0; i < turns.size(); ++i) route |= u64{turns[i]} << (i * kBits);
    return route;
  }
  u32 arrives(u32 ingress, const std::vector<u32>& turns) {
    const Item item = packet(turns);
    fabric->receive(ingress, item);
    return item.packet;
  }
  bool notify(u32 ingress, const std::vector<u32>& turns, u8 peer = kNowhere) {
    const std::vector<u32> rest(turns.begin() + 1, turns.end());
    return fabric->notify_ingress(ingress, turns.front(), path(rest), static_cast<u32>(rest.size()), peer);
  }
  [[nodiscard]] u32 line_of(u32 ingress, const std::vector<u32>& turns) const {
    return fabric->in_.find(ingress, path(turns), static_cast<u32>(turns.size()));
  }
  [[nodiscard]] const Line& line(u32 ingress, u32 k) const { return fabric->in_.line(ingress, k); }
  [[nodiscard]] u32 packets(u32 ingress, u32 q) const { return fabric->in_.queue(ingress, q).packets; }
  [[nodiscard]] u32 aside(u32, u32 k) const { return fabric->in_.base + k; }
  u32 leaves(u32 ingress, u32 q) {
    const u32 id = fabric->pop<Fabric::Mode::recn>(fabric->in_, ingress, q).packet;
    fabric->after_pop_in(ingress, q);
    return id;
  }
  [[nodiscard]] std::vector<std::pair<Fabric::Message, u64>> sent() const {
    std::vector<std::pair<Fabric::Message, u64>> list;
    for (u64 n = 0; n < fabric->controls_.size(); ++n) {
      list.emplace_back(fabric->controls_[n].kind, fabric->controls_[n].path);
    }
    return list;
  }
  using Message = Fabric::Message;

  static constexpr u32 kBits = 3;
  std::unique_ptr<core::Topology> topology;
  std::unique_ptr<core::Routing> routing;
  engine::Builder builder;
  Fabric* fabric = nullptr;
};

namespace {

Plan enhanced() { return {}; }
Plan basic() {
  Plan plan;
  plan.organization = Organization::recn_basic;
  return plan;
}

constexpr u32 kIngress = 4;  ///< an input from below

// ---- Figure 4: detection at an ingress ----

TEST(CioqRecn, ALongDetectionQueueBecomesASetAsideQueue) {
  FabricAccess it(enhanced());
  std::vector<u32> ids;
  for (u32 n = 0; n < 31; ++n) ids.push_back(it.arrives(kIngress, {5, 1}));
  EXPECT_EQ(it.packets(kIngress, 5), 31U);
  EXPECT_EQ(it.line_of(kIngress, {5}), kNone);
  ids.push_back(it.arrives(kIngress, {5, 2}));
  // Swapped: the detection queue is empty, the packets are in the set-aside queue of the output, which is not blocked.
  const u32 k = it.line_of(kIngress, {5});
  ASSERT_NE(k, kNone);
  EXPECT_EQ(it.packets(kIngress, 5), 0U);
  EXPECT_EQ(it.packets(kIngress, it.aside(kIngress, k)), 32U);
  EXPECT_FALSE(it.line(kIngress, k).blocked);
  EXPECT_FALSE(it.line(kIngress, k).token);
  // It counts as congested at once: upstream is told.
  ASSERT_EQ(it.sent().size(), 1U);
  EXPECT_EQ(it.sent()[0].first, FabricAccess::Message::notification);
  EXPECT_EQ(it.sent()[0].second, FabricAccess::path({5}));
  // Order is kept, and others are not touched.
  EXPECT_EQ(it.leaves(kIngress, it.aside(kIngress, k)), ids[0]);
  it.arrives(kIngress, {6, 1});
  EXPECT_EQ(it.packets(kIngress, 6), 1U);
}

TEST(CioqRecn, ASwapTakesMarkersAlong) {
  FabricAccess it(enhanced());
  for (u32 n = 0; n < 20; ++n) it.arrives(kIngress, {5, 1});
  ASSERT_TRUE(it.notify(kIngress, {5, 1}, 0));  // more specific than what will be detected
  const u32 deep = it.line_of(kIngress, {5, 1});
  EXPECT_TRUE(it.line(kIngress, deep).blocked);
  for (u32 n = 0; n < 12; ++n) it.arrives(kIngress, {5, 2});
  const u32 k = it.line_of(kIngress, {5});
  ASSERT_NE(k, kNone);
  for (u32 n = 0; n < 19; ++n) it.leaves(kIngress, it.aside(kIngress, k));
  EXPECT_TRUE(it.line(kIngress, deep).blocked);
  it.leaves(kIngress, it.aside(kIngress, k));  // the last packet before the marker
  EXPECT_FALSE(it.line(kIngress, deep).blocked);
}

TEST(CioqRecn, ADetectedQueueAdoptsTheTokenOfItsEgress) {
  FabricAccess it(enhanced());
  for (u32 n = 0; n < 32; ++n) it.arrives(kIngress, {5, 1});
  const u32 k = it.line_of(kIngress, {5});
  ASSERT_NE(k, kNone);
  EXPECT_EQ(it.fabric->roots().ingress.size(), 1U);
  EXPECT_TRUE(it.notify(kIngress, {5}));
  EXPECT_EQ(it.line_of(kIngress, {5}), k);
  EXPECT_TRUE(it.line(kIngress, k).token);
  EXPECT_TRUE(it.fabric->roots().ingress.empty());
}

// ---- Figure 5.a: a more specific notification ----

TEST(CioqRecn, BasicDiscardsMoreSpecificNotifications) {
  FabricAccess it(basic());
  EXPECT_TRUE(it.notify(kIngress, {5}));
  EXPECT_FALSE(it.notify(kIngress, {5, 1}, 0));
  EXPECT_EQ(it.line_of(kIngress, {5, 1}), kNone);
  EXPECT_TRUE(it.notify(kIngress, {6, 1}, 0)) << "another output is not more specific";
}

TEST(CioqRecn, EnhancedBlocksTheMoreSpecificQueueBehindTheLessSpecific) {
  FabricAccess it(enhanced());
  ASSERT_TRUE(it.notify(kIngress, {5}));  // point A
  const u32 a = it.line_of(kIngress, {5});
  it.arrives(kIngress, {5, 1, 2});
  it.arrives(kIngress, {5, 3, 2});
  EXPECT_EQ(it.packets(kIngress, it.aside(kIngress, a)), 2U);
  ASSERT_TRUE(it.notify(kIngress, {5, 1}, 0));  // point B behind A
  const u32 b = it.line_of(kIngress, {5, 1});
  ASSERT_NE(b, kNone);
  EXPECT_TRUE(it.line(kIngress, b).blocked);
  it.arrives(kIngress, {5, 1, 2});  // through B: its own queue from now on
  it.arrives(kIngress, {5, 3, 2});
  EXPECT_EQ(it.packets(kIngress, it.aside(kIngress, a)), 3U);
  EXPECT_EQ(it.packets(kIngress, it.aside(kIngress, b)), 1U);
  it.leaves(kIngress, it.aside(kIngress, a));
  EXPECT_TRUE(it.line(kIngress, b).blocked);
  it.leaves(kIngress, it.aside(kIngress, a));
  EXPECT_FALSE(it.line(kIngress, b).blocked);
}

TEST(CioqRecn, AnEmptyButBlockedQueueTakesTheMarkerToo) {
  FabricAccess it(enhanced());
  it.arrives(kIngress, {5, 1, 2});
  ASSERT_TRUE(it.notify(kIngress, {5}));
  ASSERT_TRUE(it.notify(kIngress, {5, 1}, 0));
  const u32 a = it.line_of(kIngress, {5});
  const u32 b = it.line_of(kIngress, {5, 1});
  EXPECT_TRUE(it.line(kIngress, a).blocked);
  EXPECT_TRUE(it.line(kIngress, b).blocked) << "the older packet is still in the detection queue";
  it.leaves(kIngress, 5);
  EXPECT_FALSE(it.line(kIngress, a).blocked);
  EXPECT_FALSE(it.line(kIngress, b).blocked);
}

// ---- Figure 5.b: a less specific notification ----

TEST(CioqRecn, ALessSpecificQueueTakesOnlyWhatTheMoreSpecificLeaves) {
  for (const Plan& plan : {basic(), enhanced()}) {
    FabricAccess it(plan);
    ASSERT_TRUE(it.notify(kIngress, {5, 1}, 0));  // point B
    ASSERT_TRUE(it.notify(kIngress, {5}));        // then A before it
    const u32 b = it.line_of(kIngress, {5, 1});
    const u32 a = it.line_of(kIngress, {5});
    it.arrives(kIngress, {5, 1, 2});
    it.arrives(kIngress, {5, 3, 2});
    EXPECT_EQ(it.packets(kIngress, it.aside(kIngress, a)), 1U);
    EXPECT_EQ(it.packets(kIngress, it.aside(kIngress, b)), 1U);
    EXPECT_FALSE(it.line(kIngress, a).blocked || it.line(kIngress, b).blocked) << "nothing older was there";
  }
}

TEST(CioqRecn, ATurnOfZeroBehindAPathIsNoPartOfIt) {
  FabricAccess it(basic());
  ASSERT_TRUE(it.notify(kIngress, {5, 0}, 0));
  EXPECT_TRUE(it.notify(kIngress, {5})) << "{5} is less specific than {5, 0}, not more";
}

TEST(CioqRecn, NoQueueIsLeftThenTheNotificationIsRejected) {
  Plan plan = enhanced();
  plan.saqs = 2;
  FabricAccess it(plan);
  EXPECT_TRUE(it.notify(kIngress, {5}));
  EXPECT_TRUE(it.notify(kIngress, {6}));
  EXPECT_FALSE(it.notify(kIngress, {7}));
}

// ---- Whole runs ----

constexpr const char* kSmall =
    "memory = 4096, egress_detection = 16, ingress_detection = 8, propagation = 4, xoff = 12, xon = 4, "
    "saq_timeout = 2000";

/// A tree to terminal 5 amid random traffic; both end, and everything has time to come back.
api::Result run_tree(const std::string& queues, const std::string& more_switch, u32 hosts, const std::string& wiring,
                     u64 seed, const std::string& kind = "sudden", double speedup = 1.5) {
  const std::string text = fmt::format(
      "topology = {{ name = 'bidirectional_min', hosts = {}, wiring = '{}' }}\n"
      "switch = {{ name = 'cioq', queues = '{}', speedup = {}, {}{} }}\n"
      "routing = {{ name = 'nearest_common_ancestor', up = 'destination_digit' }}\n"
      "[[traffic]]\nname = 'congestion'\ndestinations = [5]\nshares = [0.4]\nkind = '{}'\nstart = 5000\n"
      "duration = 15000\ninterval = 1000\nnormal_end = 30000\nnormal_load = 0.8\n"
      "[run]\nseed = {}\nwarmup = 0\nmeasure = 600000\naudit = 'full'\n",
      hosts, wiring, queues, speedup, kSmall, more_switch, kind, seed);
  return api::run(api::read_experiments_text(text, "tree", {}).points.front());
}

TEST(Cioq, EveryOrganizationDeliversEverythingInOrderAndGivesEverythingBack) {
  for (const char* queues : {"1q", "voqsw", "voqnet", "dbbm", "recn_basic", "recn_enhanced"}) {
    for (const double speedup : {1.0, 1.5}) {
      SCOPED_TRACE(fmt::format("{} at speedup {}", queues, speedup));
      const api::Result result = run_tree(queues, "", 16, "perfect_shuffle", 3, "sudden", speedup);
      EXPECT_GT(result.at("delivered_packets").mean, 3000);
      if (std::string(queues).substr(0, 4) != "recn") continue;
      EXPECT_GT(result.at("saqs_allocated").mean, 10);
      EXPECT_EQ(result.at("saqs_at_end").mean, 0);
      EXPECT_EQ(result.at("roots_egress").mean, 0);
    }
  }
}

TEST(Cioq, RandomShapesGiveEverythingBack) {
  for (u64 n = 0; n < test::tries<u64>(12, 4); ++n) {
    const u32 hosts = n % 3 == 0 ? 32 : n % 3 == 1 ? 16 : 64;
    const std::string queues = n % 2 == 0 ? "recn_enhanced" : "recn_basic";
    SCOPED_TRACE(fmt::format("case {}", n));
    const api::Result result =
        run_tree(queues, fmt::format(", saqs = {}", 1 + n % 5), hosts, n % 4 < 2 ? "perfect_shuffle" : "k_ary_n_tree",
                 100 + n, n % 3 == 0 ? "incremental" : "sudden", n % 5 == 0 ? 1.0 : 4.0 / 3.0);
    EXPECT_EQ(result.at("saqs_at_end").mean, 0);
    EXPECT_EQ(result.at("saqs_allocated").mean, result.at("saqs_freed").mean);
  }
}

TEST(Cioq, XoffBoundsWhatTheQueueUpstreamStillSends) {
  // After Xoff: the packet on the link, and one that starts before Xoff is there (control_delay of 20 cycles, packets
  // of 70). Inside a switch none. What lay in the normal queue upstream when the queue was set aside is not bound by
  // it.
  for (const char* queues : {"recn_basic", "recn_enhanced"}) {
    const api::Result result = run_tree(queues, "", 64, "perfect_shuffle", 3);
    EXPECT_GT(result.at("saq_most_packets").mean, 12);
    EXPECT_GE(result.at("saq_most_after_xoff").mean, 1);
    EXPECT_LE(result.at("saq_most_after_xoff").mean, 2);
  }
}

TEST(Cioq, WithoutMarkersPacketsOvertakeEachOther) {
  EXPECT_THROW(run_tree("recn_enhanced", ", markers = false", 16, "perfect_shuffle", 3), InvariantError);
}

TEST(Cioq, WithoutTheTimeoutSetAsideQueuesLeak) {
  double left = 0;
  for (u64 seed = 1; seed <= 4; ++seed) {
    const std::string text = fmt::format(
        "topology = {{ name = 'bidirectional_min', hosts = 16 }}\n"
        "switch = {{ name = 'cioq', queues = 'recn_enhanced', memory = 4096, egress_detection = 16, "
        "ingress_detection = 8, propagation = 4, xoff = 12, xon = 4, saq_timeout = 0 }}\n"
        "routing = {{ name = 'nearest_common_ancestor', up = 'destination_digit' }}\n"
        "[[traffic]]\nname = 'congestion'\ndestinations = [5]\nshares = [0.4]\nstart = 5000\nduration = 15000\n"
        "normal_end = 30000\n[run]\nseed = {}\nwarmup = 0\nmeasure = 120000\n",
        seed);
    left += api::run(api::read_experiments_text(text, "leak", {}).points.front()).at("saqs_at_end").mean;
  }
  EXPECT_GT(left, 0);
}

/// Three flows whose destinations have the same lowest digit: the ways up that go by it are one.
api::Result three_flows(const std::string& up, const std::string& queues, const std::string& run) {
  return api::run(
      api::read_experiments_text(
          fmt::format("topology = {{ name = 'fat_tree', arity = 4, levels = 2 }}\n"
                      "switch = {{ name = 'cioq', queues = '{}', overhead = 0 }}\n"
                      "routing = {{ name = 'nearest_common_ancestor', up = '{}' }}\n"
                      "traffic = {{ name = 'flows', sources = [0, 1, 2], destinations = [4, 8, 12], loads = [0.9] }}\n"
                      "run = {{ duration = 100000, {} }}\n",
                      queues, up, run),
          "ways", {})
          .points.front());
}

TEST(Cioq, DrawsTheWayOfEachPacketAtItsSource) {
  for (const std::string queues : {"1q", "voqsw", "voqnet", "dbbm", "recn_basic", "recn_enhanced"}) {
    const auto accepted = [](const api::Result& result) { return result.at("accepted_load").mean * 16 / 3; };
    const api::Result random = three_flows("random", queues, "seed = 1");
    EXPECT_GT(accepted(random), 0.85) << queues;
    EXPECT_LT(accepted(three_flows("destination_digit", queues, "seed = 1")), 0.36) << queues;
    EXPECT_EQ(random.state_hash, three_flows("random", queues, "seed = 1, wake = 'all'").state_hash) << queues;
    EXPECT_NE(random.state_hash, three_flows("random", queues, "seed = 2").state_hash) << queues;
  }
}

std::string refusal_of(const std::string& what) {
  return test::refusal([&] {
    api::check(api::read_experiments_text(
                   fmt::format("topology = {{ name = 'bidirectional_min', hosts = 64 }}\n"
                               "switch = {{ name = 'cioq', {} }}\nrouting = {{ name = 'nearest_common_ancestor', "
                               "up = 'destination_digit' }}\ntraffic = {{ name = 'uniform', size = 64, load = 0.5 }}\n",
                               what),
                   "bad", {})
                   .points.front());
  });
}

TEST(Cioq, RefusesWhatCannotBe) {
  EXPECT_NE(refusal_of("speedup = 0.5").find("speedup"), std::string::npos);
  EXPECT_NE(refusal_of("xon = 50").find("xon = 50 is above xoff = 48"), std::string::npos);
  EXPECT_NE(refusal_of("propagation = 40").find("propagation = 40 is above ingress_detection = 32"), std::string::npos);
  EXPECT_NE(refusal_of("turnpool = 14").find("5 turns of 3 bits do not fit a turnpool of 14"), std::string::npos);
  EXPECT_NE(refusal_of("memory = 6400").find("egress_detection = 128 packets, and a memory of 6400 bytes holds 100"),
            std::string::npos);
  EXPECT_NE(
      refusal_of("memory = 256, saqs = 8, egress_detection = 4, ingress_detection = 4, propagation = 2, xoff = 4, "
                 "xon = 1")
          .find("the memory has room for 4"),
      std::string::npos);
  EXPECT_EQ(refusal_of("turnpool = 15"), "");
}

// --- traffics that answer
// ---------------------------------------------------------------------------------------------

api::Result answered(const std::string& traffic, const std::string& queues, const std::string& more = "") {
  const std::string text =
      "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\nswitch = { name = \"cioq\", queues = \"" + queues +
      "\" }\nrouting = { name = \"nearest_common_ancestor\", up = \"d_mod_k\" }\ntraffic = " + traffic +
      "\n[run]\nduration = 100000\naudit = \"full\"\n" + more;
  return api::run(api::read_experiments_text(text, "x", {}).points.front());
}

TEST(Cioq, every_request_has_its_reply_and_the_state_does_not_depend_on_how_it_is_run) {
  const std::string traffic = "{ name = \"uniform\", load = 0.2, size = 64, reply_size = 128 }";
  for (const char* queues : {"1q", "voqnet", "recn_enhanced"}) {
    const api::Result plain = answered(traffic, queues);
    // Requests of a fifth and replies of twice as much.
    EXPECT_NEAR(plain.at("accepted_load").mean, 0.6, 0.03) << queues;
    EXPECT_EQ(answered(traffic, queues, "wake = \"all\"\n").state_hash, plain.state_hash) << queues;
    EXPECT_EQ(answered(traffic, queues, "step_order = \"permuted\"\n").state_hash, plain.state_hash) << queues;
  }
}

/// With a limit as many requests are out as it allows.
TEST(Cioq, outstanding_requests_are_limited) {
  const std::string traffic = "{ name = \"uniform\", load = 1, size = 64, reply_size = 64, outstanding = ";
  const double one = answered(traffic + "1 }", "voqnet").at("accepted_load").mean;
  const double two = answered(traffic + "2 }", "voqnet").at("accepted_load").mean;
  EXPECT_GT(two, 1.5 * one);
  EXPECT_LT(two, 2.1 * one);
}

/// Networks of 4,096 ports and more have a step of their own, which asks for memory ahead: every organization, each
/// with credits and with pauses, delivers as in one cut in two, whose halves are small.
TEST(Cioq, LargeNetworksDoAsTheirHalves) {
  const std::vector<std::string> organizations{"queues = 'voqsw'", "queues = 'dbbm', classes = 2", "queues = '1q'",
                                               "queues = 'recn_basic'", "queues = 'recn_enhanced'"};
  for (const std::string& queues : organizations) {
    for (const char* flow_control : {"credits", "pause"}) {
      const auto run_of = [&](u32 shards) {
        return api::run(
            api::read_experiments_text(
                fmt::format("topology = {{ name = 'fat_tree', arity = 8, levels = 3 }}\n"
                            "routing = {{ name = 'nearest_common_ancestor', up = 'destination_digit' }}\n"
                            "switch = {{ name = 'cioq', flow_control = '{}', {} }}\n"
                            "traffic = [ {{ name = 'uniform', load = 0.2, size = 64 }}, {{ name = 'hot_spot', "
                            "load = 0.1, size = 64, targets = [3], fraction = 1.0 }} ]\n"
                            "run = {{ duration = 6000, shards = {}, audit = 'full' }}\n",
                            flow_control, queues, shards),
                "large", {})
                .points.front(),
            {});
      };
      SCOPED_TRACE(queues + ", " + flow_control);
      const api::Result large = run_of(1);
      const api::Result halves = run_of(4);
      EXPECT_EQ(large.state_hash, halves.state_hash);
      EXPECT_GT(large.at("delivered_packets").mean, 1000.0);
    }
  }
}

}  // namespace
}  // namespace banyan::switching::cioq
