// Do messages have the lengths that are asked for, and does the load stay what it is whatever their lengths?
#include "banyan/traffic/parts/sizes.hpp"

#include <map>

#include "banyan/base/error.hpp"
#include "component_rows.hpp"
#include "traffic/samples.hpp"

namespace banyan::traffic::sizes_test {
namespace {

using test::make_traffic;
using test::messages_of;
using test::Settings;
using Integers = std::vector<i64>;
using Reals = std::vector<double>;

constexpr u64 kMessages = 200000;

/// Share of the messages of each length.
std::map<u32, double> lengths(const core::Traffic& traffic) {
  std::map<u32, double> shares;
  for (const core::Message& m : messages_of(traffic, 3, kMessages)) shares[m.flits] += 1.0 / kMessages;
  return shares;
}

Settings with(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

const Settings kTwoPoint{
    {"size_distribution", std::string("list")}, {"sizes", Integers{1, 5}}, {"size_weights", Reals{3.0, 1.0}}};
const Settings kGeometric{{"size_distribution", std::string("geometric")}, {"size", i64{8}}};
const Settings kExponential{{"size_distribution", std::string("exponential")}, {"size", i64{8}}};

TEST(Sizes, AListIsDrawnByItsWeights) {
  const auto share = lengths(*make_traffic(traffic::uniform::row_uniform, kTwoPoint, 16));
  ASSERT_EQ(share.size(), 2U);
  test::expect_share(share.at(1), 0.75, kMessages);
  test::expect_share(share.at(5), 0.25, kMessages);
}

TEST(Sizes, OneWeightServesAll) {
  const auto share = lengths(*make_traffic(
      traffic::uniform::row_uniform, {{"size_distribution", std::string("list")}, {"sizes", Integers{2, 3, 7}}}, 16));
  for (const u32 length : {2U, 3U, 7U}) test::expect_share(share.at(length), 1.0 / 3, kMessages);
}

TEST(Sizes, GeometricLengthsHaveTheGeometricDistribution) {
  const auto share = lengths(*make_traffic(traffic::uniform::row_uniform, kGeometric, 16));
  for (u32 k = 1; k <= 20; ++k) test::expect_share(share.at(k), std::pow(7.0 / 8, k - 1) / 8, kMessages);
}

TEST(Sizes, ExponentialLengthsAreRoundedToTheNearestFlitAndNeverZero) {
  const auto share = lengths(*make_traffic(traffic::uniform::row_uniform, kExponential, 16));
  EXPECT_FALSE(share.contains(0));
  test::expect_share(share.at(1), 1.0 - std::exp(-1.5 / 8), kMessages);
  for (u32 k = 2; k <= 20; ++k) {
    test::expect_share(share.at(k), std::exp(-(k - 0.5) / 8) - std::exp(-(k + 0.5) / 8), kMessages);
  }
}

TEST(Sizes, ALimitCollectsTheLongerDraws) {
  const auto share =
      lengths(*make_traffic(traffic::uniform::row_uniform, with(kGeometric, {{"size_limit", i64{10}}}), 16));
  EXPECT_EQ(share.rbegin()->first, 10U);
  test::expect_share(share.at(10), std::pow(7.0 / 8, 9), kMessages);
}

TEST(Sizes, TheLoadIsInFlitsForEveryDistribution) {
  for (const Settings& sizes :
       {Settings{{"size", i64{6}}}, kTwoPoint, kGeometric, kExponential, with(kGeometric, {{"size_limit", i64{9}}}),
        with(kExponential, {{"size_limit", i64{9}}})}) {
    const auto traffic = make_traffic(traffic::uniform::row_uniform, with(sizes, {{"load", 0.3}}), 16);
    EXPECT_DOUBLE_EQ(traffic->offered_load(), 0.3);
    // Relative deviation of a sum of n lengths over a sum of n gaps, both with a deviation of about their mean.
    EXPECT_NEAR(test::measured_load(messages_of(*traffic, 5, kMessages)), 0.3, 0.3 * 5 * std::sqrt(2.0 / kMessages));
  }
}

TEST(Sizes, TheLongestMessageIsKnown) {
  EXPECT_EQ(make_traffic(traffic::uniform::row_uniform, {{"size", i64{6}}}, 16)->longest_message(), 6U);
  EXPECT_EQ(make_traffic(traffic::uniform::row_uniform, kTwoPoint, 16)->longest_message(), 5U);
  EXPECT_EQ(
      make_traffic(traffic::uniform::row_uniform, with(kGeometric, {{"size_limit", i64{90}}}), 16)->longest_message(),
      90U);
  EXPECT_EQ(make_traffic(traffic::uniform::row_uniform, {}, 16)->longest_packet(), kNone);
  EXPECT_EQ(
      make_traffic(traffic::uniform::row_uniform, {{"size", i64{90}}, {"max_packet", i64{64}}}, 16)->longest_packet(),
      64U);
}

TEST(Sizes, LengthsDoNotDependOnWhatWasDrawnBefore) {
  const auto traffic = make_traffic(traffic::uniform::row_uniform, kGeometric, 16);
  const auto all = messages_of(*traffic, 7, 100);
  core::Message m;
  ASSERT_TRUE(traffic->next(7, 60, all[59].birth, m));
  EXPECT_EQ(m.flits, all[60].flits);
  EXPECT_EQ(m.birth, all[60].birth);
}

TEST(Sizes, WhatDoesNotFitTogetherIsRefused) {
  const auto refused = [](const Settings& settings) {
    EXPECT_THROW(make_traffic(traffic::uniform::row_uniform, settings, 16), ConfigError);
  };
  const config::Value list = std::string("list");
  refused({{"sizes", Integers{1, 2}}});
  refused({{"size_weights", Reals{2.0}}});
  refused({{"size_limit", i64{5}}});
  refused({{"size_distribution", list}, {"size", i64{3}}, {"sizes", Integers{3}}});
  refused({{"size_distribution", list}, {"sizes", Integers{}}});
  refused({{"size_distribution", list}, {"sizes", Integers{1, 2}}, {"size_weights", Reals{1.0, 1.0, 1.0}}});
  refused({{"size_distribution", list}, {"sizes", Integers{1, 2}}, {"size_weights", Reals{0.0, 0.0}}});
  refused(with(kGeometric, {{"size_limit", i64{4}}}));
  refused({{"size", i64{70000}}});
  EXPECT_EQ(make_traffic(traffic::uniform::row_uniform, {{"size", i64{70000}}, {"max_packet", i64{1000}}}, 16)
                ->longest_message(),
            70000U);
}

}  // namespace
}  // namespace banyan::traffic::sizes_test
