// Does a group send all to the one that lies `offset` groups further?
#include "banyan/base/error.hpp"
#include "component_rows.hpp"
#include "traffic/samples.hpp"

namespace banyan::traffic::adversarial_test {
namespace {

constexpr u64 kMessages = 50000;

TEST(Adversarial, OneGroupGetsAllUniformly) {
  for (const i64 offset : {1, 3, 6}) {
    const auto traffic =
        test::make_traffic(traffic::adversarial::row_adversarial, {{"group_size", i64{8}}, {"offset", offset}}, 72);
    for (const u32 source : {0U, 35U, 71U}) {
      const auto share = test::shares_of(*traffic, source, 72, kMessages);
      const u32 target = (source / 8 + static_cast<u32>(offset)) % 9;
      for (u32 t = 0; t < 72; ++t) test::expect_share(share[t], t / 8 == target ? 1.0 / 8 : 0.0, kMessages);
    }
  }
}

TEST(Adversarial, AGroupThatWouldSendToItselfIsRefused) {
  EXPECT_THROW(
      test::make_traffic(traffic::adversarial::row_adversarial, {{"group_size", i64{8}}, {"offset", i64{9}}}, 72),
      ConfigError);
  EXPECT_THROW(test::make_traffic(traffic::adversarial::row_adversarial, {{"group_size", i64{72}}}, 72), ConfigError);
  EXPECT_THROW(test::make_traffic(traffic::adversarial::row_adversarial, {{"group_size", i64{7}}}, 72), ConfigError);
}

}  // namespace
}  // namespace banyan::traffic::adversarial_test
