// Does a synchronization generate paper 1's messages: N - 1 of them, normally distributed, to the coordinator?
#include <gtest/gtest.h>

#include <cmath>

#include "banyan/core/traffic.hpp"
#include "component_rows.hpp"

namespace banyan::traffic::synchronization_test {

namespace {

std::unique_ptr<core::Traffic> synchronization(double mean, double deviation, i64 coordinator = 0,
                                               u32 terminals = 256) {
  config::Values values = config::Values::defaults(traffic::synchronization::row_synchronization.info);
  values.set("mean", mean);
  values.set("deviation", deviation);
  values.set("coordinator", coordinator);
  core::TrafficContext context;
  context.terminals = terminals;
  context.seed = 9;
  auto traffic = traffic::synchronization::row_synchronization.make(values, context);
  traffic->begin(0);
  return traffic;
}

TEST(Synchronization, EveryTerminalButTheCoordinatorSendsOneMessage) {
  const auto traffic = synchronization(3000, 10, 17);
  u32 messages = 0;
  for (u32 t = 0; t < 256; ++t) {
    core::Message message;
    if (!traffic->next(t, 0, kNever, message)) {
      EXPECT_EQ(t, 17U);
      continue;
    }
    ++messages;
    EXPECT_EQ(message.destination, 17U);
    EXPECT_NE(message.flags & core::kSynchronization, 0);
    EXPECT_FALSE(traffic->next(t, 1, message.birth, message));
  }
  EXPECT_EQ(messages, 255U);
  EXPECT_EQ(traffic->total_messages(), 255U);
  EXPECT_TRUE(traffic->finite());
  EXPECT_EQ(traffic->hot_spot(), 17U);
}

TEST(Synchronization, TimesHaveTheGivenMeanAndDeviation) {
  const auto traffic = synchronization(3000, 50);
  double sum = 0.0;
  double squares = 0.0;
  u32 n = 0;
  for (u32 replication = 0; replication < 100; ++replication) {
    traffic->begin(replication);
    for (u32 t = 1; t < 256; ++t) {
      core::Message message;
      ASSERT_TRUE(traffic->next(t, 0, kNever, message));
      const double x = static_cast<double>(message.birth);
      sum += x;
      squares += x * x;
      ++n;
    }
  }
  const double mean = sum / n;
  EXPECT_NEAR(mean, 3000.0, 5.0 * 50.0 / std::sqrt(n));
  // Rounding to cycles adds a variance of 1/12; the deviation's standard error is sigma / sqrt(2 n).
  EXPECT_NEAR(std::sqrt(squares / n - mean * mean), std::sqrt(2500.0 + 1.0 / 12.0), 5.0 * 50.0 / std::sqrt(2.0 * n));
}

TEST(Synchronization, TimesBeforeTheStartAreRedrawn) {
  const auto traffic = synchronization(0, 100);
  for (u32 t = 1; t < 256; ++t) {
    core::Message message;
    ASSERT_TRUE(traffic->next(t, 0, kNever, message));
    EXPECT_LT(message.birth, 1000U);
  }
  EXPECT_THROW(synchronization(-1000, 10), ConfigError);
}

TEST(Synchronization, TheFlagIsSetFromTheTerminalsOwnMessageOnAndNeverAtTheCoordinator) {
  const auto traffic = synchronization(3000, 10);
  core::Message message;
  ASSERT_TRUE(traffic->next(5, 0, kNever, message));
  EXPECT_FALSE(traffic->pending(5, message.birth - 1));
  EXPECT_TRUE(traffic->pending(5, message.birth));
  EXPECT_FALSE(traffic->pending(0, 1000000));
}

TEST(Synchronization, ReplicationsDifferAndRepeat) {
  const auto traffic = synchronization(3000, 10);
  core::Message first;
  core::Message other;
  core::Message again;
  ASSERT_TRUE(traffic->next(5, 0, kNever, first));
  traffic->begin(1);
  u32 equal = 0;
  for (u32 t = 1; t < 256; ++t) {
    traffic->begin(0);
    ASSERT_TRUE(traffic->next(t, 0, kNever, first));
    traffic->begin(1);
    ASSERT_TRUE(traffic->next(t, 0, kNever, other));
    equal += first.birth == other.birth ? 1U : 0U;
  }
  EXPECT_LT(equal, 40U);  // about 7 by chance
  traffic->begin(0);
  ASSERT_TRUE(traffic->next(255, 0, kNever, again));
  EXPECT_EQ(again.birth, first.birth);
}

TEST(Synchronization, ACoordinatorOutsideTheNetworkIsRefused) {
  EXPECT_THROW(synchronization(3000, 10, 256), ConfigError);
}

}  // namespace
}  // namespace banyan::traffic::synchronization_test
