// Does uniform traffic generate what its load says, to whom it says?
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "banyan/traffic/parts/injection.hpp"
#include "component_rows.hpp"

namespace banyan::traffic::uniform_test {

namespace {

std::unique_ptr<core::Traffic> uniform(double load, bool include_self, u32 terminals = 16, i64 size = 1) {
  config::Values values = config::Values::defaults(traffic::uniform::row_uniform.info);
  values.set("load", load);
  values.set("size", size);
  values.set("include_self", include_self);
  core::TrafficContext context;
  context.terminals = terminals;
  context.seed = 5;
  auto traffic = traffic::uniform::row_uniform.make(values, context);
  traffic->begin(0);
  return traffic;
}

TEST(Uniform, GeneratesItsLoad) {
  for (const double load : {0.005, 0.1, 0.5, 0.9, 1.0}) {
    const auto traffic = uniform(load, true);
    core::Message message;
    Tick previous = kNever;
    constexpr u64 kMessages = 20000;
    for (u64 nth = 0; nth < kMessages; ++nth) {
      ASSERT_TRUE(traffic->next(3, nth, previous, message));
      if (nth > 0) { ASSERT_GT(message.birth, previous); }
      previous = message.birth;
    }
    const double measured = static_cast<double>(kMessages) / static_cast<double>(previous + 1);
    // Five standard errors of a geometric gap's mean.
    EXPECT_NEAR(measured, load, 5.0 * load * std::sqrt((1.0 - load) / kMessages) + 1e-12) << load;
  }
}

TEST(Uniform, GapsAreGeometricInTheTableAndBeyondIt) {
  for (const double p : {0.01, 0.3}) {  // by logarithm, by table
    const GeometricGap gap(p);
    const Random random(3, Stream{"test"}, 0, 0);
    std::vector<double> counts(6);
    constexpr u32 kDraws = 200000;
    for (u32 i = 0; i < kDraws; ++i) {
      const Words w = random.at(0, i);
      const Tick g = gap((static_cast<u64>(w[0]) << 32U) | w[1]);
      ASSERT_GE(g, 1U);
      if (g <= counts.size()) ++counts[g - 1];
    }
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const double expected = p * std::pow(1.0 - p, static_cast<double>(k));
      EXPECT_NEAR(counts[k] / kDraws, expected, 5.0 * std::sqrt(expected / kDraws)) << p << " " << k + 1;
    }
  }
}

TEST(Uniform, AFullLoadGeneratesInEveryCycleAndNoLoadNever) {
  core::Message message;
  const auto full = uniform(1.0, true);
  ASSERT_TRUE(full->next(0, 0, kNever, message));
  EXPECT_EQ(message.birth, 0U);
  ASSERT_TRUE(full->next(0, 1, 0, message));
  EXPECT_EQ(message.birth, 1U);
  EXPECT_FALSE(uniform(0.0, true)->next(0, 0, kNever, message));
}

TEST(Uniform, LongPacketsComeLessOften) {
  const auto traffic = uniform(0.5, true, 16, 5);
  core::Message message;
  Tick previous = kNever;
  for (u64 nth = 0; nth < 10000; ++nth) {
    ASSERT_TRUE(traffic->next(0, nth, previous, message));
    EXPECT_EQ(message.flits, 5U);
    previous = message.birth;
  }
  EXPECT_NEAR(5.0 * 10000 / static_cast<double>(previous), 0.5, 0.02);
}

TEST(Uniform, DestinationsAreUniformWithAndWithoutTheSource) {
  for (const bool self : {true, false}) {
    const auto traffic = uniform(1.0, self);
    std::vector<u32> counts(16);
    core::Message message;
    constexpr u32 kDraws = 32000;
    for (u64 nth = 0; nth < kDraws; ++nth) {
      ASSERT_TRUE(traffic->next(3, nth, nth, message));
      ++counts.at(message.destination);
    }
    const double expected = static_cast<double>(kDraws) / (self ? 16 : 15);
    for (u32 d = 0; d < 16; ++d) {
      if (!self && d == 3) {
        EXPECT_EQ(counts[d], 0U);
      } else {
        EXPECT_NEAR(counts[d], expected, 5.0 * std::sqrt(expected)) << d;
      }
    }
  }
}

TEST(Uniform, ANetworkOfOneTerminalWithoutSelfIsRefused) {
  EXPECT_THROW(uniform(0.1, false, 1), ConfigError);
  EXPECT_NO_THROW(uniform(0.1, true, 1));
}

}  // namespace
}  // namespace banyan::traffic::uniform_test
