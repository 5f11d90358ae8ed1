// Does a terminal send to its own place in both halves?
#include "banyan/base/error.hpp"
#include "component_rows.hpp"
#include "traffic/samples.hpp"

namespace banyan::traffic::asymmetric_test {
namespace {

constexpr u64 kMessages = 20000;

TEST(Asymmetric, BothHalvesGetTheSame) {
  const auto traffic = test::make_traffic(traffic::asymmetric::row_asymmetric, {}, 64);
  for (const u32 t : {0U, 13U, 45U}) {
    const auto share = test::shares_of(*traffic, t, 64, kMessages);
    test::expect_share(share[t % 32], 0.5, kMessages);
    test::expect_share(share[t % 32 + 32], 0.5, kMessages);
  }
}

TEST(Asymmetric, WithoutItselfTheOtherHalfGetsAll) {
  const auto traffic = test::make_traffic(traffic::asymmetric::row_asymmetric, {{"include_self", false}}, 64);
  EXPECT_NEAR(test::shares_of(*traffic, 13, 64, kMessages)[45], 1.0, 1e-9);
  EXPECT_NEAR(test::shares_of(*traffic, 45, 64, kMessages)[13], 1.0, 1e-9);
}

TEST(Asymmetric, AnOddNumberOfTerminalsIsRefused) {
  EXPECT_THROW(test::make_traffic(traffic::asymmetric::row_asymmetric, {}, 27), ConfigError);
}

}  // namespace
}  // namespace banyan::traffic::asymmetric_test
