// Does multicast traffic draw m different others, offer its load, and forward along the tree of U-Min?
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/traffic/parts/multicasts.hpp"
#include "component_rows.hpp"

namespace banyan::traffic::multicast_test {

namespace {

std::unique_ptr<core::Traffic> multicast(u32 terminals, i64 degree, double load, const char* how = "hardware",
                                         double share = 1.0) {
  config::Values values = config::Values::defaults(traffic::multicast::row_multicast.info);
  values.set("load", load);
  values.set("degree", degree);
  values.set("share", share);
  values.set("implementation", std::string(how));
  core::TrafficContext context;
  context.terminals = terminals;
  context.seed = 5;
  auto traffic = traffic::multicast::row_multicast.make(values, context);
  traffic->begin(0);
  return traffic;
}

TEST(Multicast, DrawsDifferentOthersUniformly) {
  const auto traffic = multicast(16, 4, 0.5);
  std::vector<u32> hits(16);
  constexpr u64 kDraws = 20000;
  for (u64 nth = 0; nth < kDraws; ++nth) {
    std::vector<u64> bits(1);
    traffic->destinations(3, nth, {}, bits);
    ASSERT_EQ(std::popcount(bits[0]), 4);
    ASSERT_EQ(bits[0] >> 3U & 1U, 0U);
    for (u32 t = 0; t < 16; ++t) hits[t] += static_cast<u32>(bits[0] >> t & 1U);
  }
  const double expected = kDraws * 4.0 / 15.0;
  for (u32 t = 0; t < 16; ++t) {
    if (t != 3) { EXPECT_NEAR(hits[t], expected, 5.0 * std::sqrt(expected)) << t; }
  }
}

TEST(Multicast, GeneratesItsEffectiveLoad) {
  for (const double share : {1.0, 0.2}) {
    const auto traffic = multicast(16, 6, 0.4, "hardware", share);
    core::Message message;
    Tick previous = kNever;
    u64 all = 0;
    u64 of_multicasts = 0;
    for (u64 nth = 0; nth < 40000; ++nth) {
      ASSERT_TRUE(traffic->next(1, nth, previous, message));
      previous = message.birth;
      all += u64{message.offers} * message.flits;
      if (message.copies != 0) of_multicasts += u64{message.offers} * message.flits;
    }
    EXPECT_NEAR(static_cast<double>(all) / static_cast<double>(previous), 0.4, 0.02);
    EXPECT_NEAR(static_cast<double>(of_multicasts) / static_cast<double>(all), share, 0.02);
  }
}

TEST(Multicast, AChainOfAnyLengthIsCoveredInCeilLogPhases) {
  for (u32 nodes = 2; nodes <= 300; ++nodes) {
    for (const u32 source : {0U, nodes / 3, nodes - 1}) {
      std::set<u32> reached{source};
      std::vector<Segment> open{{0, nodes - 1, source}};
      u32 phases = 0;
      while (!open.empty()) {
        ++phases;
        std::vector<Segment> next;
        for (const Segment& s : open) {
          if (s.low == s.high) continue;
          const Half half = split(s);
          ASSERT_TRUE(reached.insert(half.target).second);
          next.push_back(half.theirs);
          next.push_back(half.rest);
        }
        open = next;
        if (std::all_of(open.begin(), open.end(), [](const Segment& s) { return s.low == s.high; })) break;
      }
      EXPECT_EQ(reached.size(), nodes);
      EXPECT_EQ(phases, static_cast<u32>(std::bit_width(nodes - 1)));
    }
  }
}

TEST(Multicast, RefusesMoreDestinationsThanThereAreOthersAndHeadersLongerThanTheMessage) {
  EXPECT_THROW(multicast(16, 16, 0.1), ConfigError);
  EXPECT_THROW(multicast(1024, 4, 0.1), ConfigError);  // 65 header flits, 64 in all
  EXPECT_NO_THROW(multicast(1024, 4, 0.1, "software"));
}

}  // namespace
}  // namespace banyan::traffic::multicast_test
