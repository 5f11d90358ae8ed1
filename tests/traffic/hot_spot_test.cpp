// Do hot spots get their share, and everybody else the rest?
#include <gtest/gtest.h>

#include <cmath>

#include "banyan/core/registry.hpp"
#include "component_rows.hpp"

namespace banyan::traffic::hot_spot_test {
namespace {

constexpr u32 kTerminals = 64;
constexpr u32 kMessages = 4000;  // per terminal

config::Values values(double fraction, std::vector<i64> targets, std::vector<double> rates, bool include_self) {
  config::Values v = config::Values::defaults(traffic::hot_spot::row_hot_spot.info);
  v.set("fraction", fraction);
  v.set("targets", std::move(targets));
  v.set("rates", std::move(rates));
  v.set("include_self", include_self);
  return v;
}

std::unique_ptr<core::Traffic> make(const config::Values& v) {
  auto traffic = traffic::hot_spot::row_hot_spot.make(v, {nullptr, kTerminals, 0, 11, 1});
  traffic->begin(0);
  return traffic;
}

/// Share of the messages of terminals [first, last) that each terminal gets.
std::vector<double> shares(const config::Values& v, u32 first = 0, u32 last = kTerminals) {
  const auto traffic = make(v);
  std::vector<double> result(kTerminals, 0.0);
  for (u32 t = first; t < last; ++t) {
    Tick previous = kNever;
    for (u64 nth = 0; nth < kMessages; ++nth) {
      core::Message m;
      EXPECT_TRUE(traffic->next(t, nth, previous, m));
      previous = m.birth;
      result[m.destination] += 1.0 / (kMessages * (last - first));
    }
  }
  return result;
}

/// |measured - p| within five standard deviations of a binomial share of n draws.
void expect_share(double measured, double p, double n) {
  EXPECT_NEAR(measured, p, 5.0 * std::sqrt(p * (1.0 - p) / n) + 1e-12);
}

TEST(HotSpot, TheHotTerminalGetsTheFractionAndItsUniformShare) {
  const double n = 64.0 * kMessages;
  const std::vector<double> share = shares(values(0.2, {5}, {1.0}, true));
  for (u32 t = 0; t < kTerminals; ++t) expect_share(share[t], (t == 5 ? 0.2 : 0.0) + 0.8 / 64, n);
}

TEST(HotSpot, RatesDivideTheFraction) {
  const double n = 64.0 * kMessages;
  const std::vector<double> share = shares(values(0.4, {1, 60, 7}, {1.0, 2.0, 5.0}, true));
  expect_share(share[1], 0.4 / 8 + 0.6 / 64, n);
  expect_share(share[60], 0.4 * 2 / 8 + 0.6 / 64, n);
  expect_share(share[7], 0.4 * 5 / 8 + 0.6 / 64, n);
  expect_share(share[30], 0.6 / 64, n);
}

TEST(HotSpot, FractionOneSendsEverythingToTheTargets) {
  const std::vector<double> share = shares(values(1.0, {3, 9}, {1.0}, true));
  EXPECT_NEAR(share[3] + share[9], 1.0, 1e-9);
  expect_share(share[3], 0.5, 64.0 * kMessages);
}

TEST(HotSpot, FractionZeroIsUniform) {
  const std::vector<double> share = shares(values(0.0, {3}, {1.0}, true));
  for (u32 t = 0; t < kTerminals; ++t) expect_share(share[t], 1.0 / 64, 64.0 * kMessages);
}

TEST(HotSpot, AHotTerminalSendsUniformlyToTheOthers) {
  const std::vector<double> share = shares(values(0.5, {5}, {1.0}, false), 5, 6);
  EXPECT_EQ(share[5], 0.0);
  for (u32 t = 0; t < kTerminals; ++t) {
    if (t != 5) expect_share(share[t], 1.0 / 63, kMessages);
  }
}

TEST(HotSpot, ATargetOfRateZeroIsNotHot) {
  const std::vector<double> share = shares(values(1.0, {3, 9, 4}, {0.0, 1.0, 0.0}, true));
  EXPECT_NEAR(share[9], 1.0, 1e-9);
}

TEST(HotSpot, BirthsAreThoseOfTheSharedInjectionProcess) {
  config::Values v = values(0.3, {5}, {1.0}, false);
  v.set("load", 0.25);
  v.set("size", i64{4});
  const auto traffic = make(v);
  Tick previous = kNever;
  core::Message m;
  for (u64 nth = 0; nth < 20000; ++nth) {
    ASSERT_TRUE(traffic->next(2, nth, previous, m));
    EXPECT_TRUE(previous == kNever || m.birth > previous);
    previous = m.birth;
  }
  EXPECT_EQ(m.flits, 4U);
  EXPECT_EQ(traffic->longest_message(), 4U);
  EXPECT_DOUBLE_EQ(traffic->offered_load(), 0.25);
  EXPECT_NEAR(20000.0 / static_cast<double>(previous), 0.25 / 4, 0.25 / 4 * 0.05);
}

TEST(HotSpot, TargetsAndRatesThatDoNotFitAreRefused) {
  EXPECT_THROW(make(values(0.1, {64}, {1.0}, false)), ConfigError);
  EXPECT_THROW(make(values(0.1, {-1}, {1.0}, false)), ConfigError);
  EXPECT_THROW(make(values(0.1, {}, {1.0}, false)), ConfigError);
  EXPECT_THROW(make(values(0.1, {1, 2}, {1.0, 2.0, 3.0}, false)), ConfigError);
  EXPECT_THROW(make(values(0.1, {1, 2}, {0.0, 0.0}, false)), ConfigError);
}

}  // namespace
}  // namespace banyan::traffic::hot_spot_test
