// Do congestion sources send where, when and as much as table 1 says, and everybody else at random?
#include <map>
#include <set>

#include "banyan/base/error.hpp"
#include "component_rows.hpp"
#include "traffic/samples.hpp"

namespace banyan::traffic::congestion_test {
namespace {

std::unique_ptr<core::Traffic> make_case(const test::Settings& given, u32 terminals = 64, u64 seed = 1) {
  config::Values values = config::Values::defaults(traffic::congestion::row_congestion.info);
  for (const auto& [name, value] : given) values.set(name, value);
  core::TrafficContext context;
  context.terminals = terminals;
  context.seed = seed;
  context.cycle_ns = 1.0;
  auto traffic = traffic::congestion::row_congestion.make(values, context);
  traffic->begin(0);
  return traffic;
}

/// Births of a terminal's messages, and where the first goes.
struct Sent {
  std::vector<Tick> births;
  u32 first = kNone;
};
Sent sent_by(const core::Traffic& traffic, u32 terminal, u64 most) {
  Sent sent;
  core::Message message;
  for (u64 n = 0; n < most && traffic.next(terminal, n, 0, message); ++n) {
    sent.births.push_back(message.birth);
    if (n == 0) sent.first = message.destination;
  }
  return sent;
}

TEST(Congestion, SuddenSourcesSendTogetherAtTheFullRate) {
  const auto traffic = make_case({});
  u32 sources = 0;
  for (u32 t = 0; t < 64; ++t) {
    if (traffic->waiting_limit(t) == kNone) continue;
    ++sources;
    EXPECT_NE(t, 32U);
    const Sent sent = sent_by(*traffic, t, 100'000);
    EXPECT_EQ(sent.first, 32U);
    EXPECT_EQ(sent.births.front(), 800'000U);
    EXPECT_EQ(sent.births.size(), (300'000 + 63) / 64);
    EXPECT_EQ(sent.births[1] - sent.births[0], 64U);
    EXPECT_EQ(traffic->waiting_limit(t), 64U * 64U);
  }
  EXPECT_EQ(sources, 16U);
  EXPECT_DOUBLE_EQ(traffic->offered_load(), 0.75);
}

TEST(Congestion, IncrementalSourcesStartOneAfterTheOther) {
  const auto traffic = make_case({{"kind", std::string("incremental")}});
  std::set<Tick> starts;
  for (u32 t = 0; t < 64; ++t) {
    if (traffic->waiting_limit(t) == kNone) continue;
    const Sent sent = sent_by(*traffic, t, 100'000);
    starts.insert(sent.births.front());
    EXPECT_EQ(sent.births.size(), (300'000 + 63) / 64);
  }
  ASSERT_EQ(starts.size(), 16U);
  EXPECT_EQ(*starts.begin(), 800'000U);
  EXPECT_EQ(*starts.rbegin(), 800'000U + 15 * 20'000);
}

TEST(Congestion, OthersSendToAnyoneButThemselvesAtTheirLoad) {
  const auto traffic = make_case({{"normal_load", 0.5}});
  std::set<Tick> phases;
  for (u32 t = 0; t < 64; ++t) {
    if (traffic->waiting_limit(t) != kNone) continue;
    const Sent sent = sent_by(*traffic, t, 1000);
    EXPECT_EQ(sent.births[999] - sent.births[0], 999U * 128);
    EXPECT_LT(sent.births[0], 128U);
    phases.insert(sent.births[0]);
    const auto share = test::shares_of(*traffic, t, 64, 20'000);
    for (u32 d = 0; d < 64; ++d) test::expect_share(share[d], d == t ? 0.0 : 1.0 / 63, 20'000);
    if (t > 6) break;
  }
  EXPECT_GT(phases.size(), 3U);
}

TEST(Congestion, PlacementFollowsItsSeedAndSeveralTreesShareNoSource) {
  const auto places = [](const test::Settings& given, u64 seed) {
    const auto traffic = make_case(given, 512, seed);
    std::map<u32, u32> count;
    std::string list;
    for (u32 t = 0; t < 512; ++t) {
      if (traffic->waiting_limit(t) == kNone) continue;
      ++count[sent_by(*traffic, t, 1).first];
      list += std::to_string(t) + " ";
    }
    EXPECT_EQ(count.size(), 4U);
    for (const auto& [destination, sources] : count) EXPECT_EQ(sources, 32U) << destination;
    return list;
  };
  const std::vector<i64> four{32, 201, 428, 500};
  const test::Settings trees{{"destinations", four}, {"shares", std::vector<double>{0.0625}}};
  EXPECT_NE(places(trees, 1), places(trees, 2));
  test::Settings pinned = trees;
  pinned.emplace_back("placement_seed", i64{7});
  EXPECT_EQ(places(pinned, 1), places(pinned, 2));
  for (const char* placement : {"spread", "clustered"}) {
    test::Settings fixed = trees;
    fixed.emplace_back("placement", std::string(placement));
    EXPECT_EQ(places(fixed, 1), places(fixed, 2));
  }
}

TEST(Congestion, RefusesWhatDoesNotFit) {
  EXPECT_THROW(make_case({{"destinations", std::vector<i64>{64}}}), ConfigError);
  EXPECT_THROW(make_case({{"shares", std::vector<double>{1.0}}}), ConfigError);
  EXPECT_THROW(make_case({{"shares", std::vector<double>{0.1, 0.2}}}), ConfigError);
  EXPECT_THROW(test::make_traffic(traffic::congestion::row_congestion, {}, 64), ConfigError)
      << "a cycle without a length";
}

}  // namespace
}  // namespace banyan::traffic::congestion_test
