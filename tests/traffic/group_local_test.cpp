// Do messages stay in their group as often as stated, and spread evenly within and without?
#include "banyan/base/error.hpp"
#include "component_rows.hpp"
#include "traffic/samples.hpp"

namespace banyan::traffic::group_local_test {
namespace {

constexpr u64 kMessages = 200000;

test::Settings groups(i64 size, double local, bool include_self = false) {
  return {{"group_size", size}, {"local", local}, {"include_self", include_self}};
}

TEST(GroupLocal, NearAndFarAreUniform) {
  const auto traffic = test::make_traffic(traffic::group_local::row_group_local, groups(8, 0.75), 32);
  for (const u32 source : {3U, 17U}) {
    const auto share = test::shares_of(*traffic, source, 32, kMessages);
    for (u32 t = 0; t < 32; ++t) {
      const double p = t == source ? 0.0 : t / 8 == source / 8 ? 0.75 / 7 : 0.25 / 24;
      test::expect_share(share[t], p, kMessages);
    }
  }
}

TEST(GroupLocal, TheSourceCountsWhereItIsIncluded) {
  const auto share = test::shares_of(
      *test::make_traffic(traffic::group_local::row_group_local, groups(8, 1.0, true), 32), 9, 32, kMessages);
  for (u32 t = 8; t < 16; ++t) test::expect_share(share[t], 1.0 / 8, kMessages);
}

TEST(GroupLocal, GroupsThatDoNotFitAreRefused) {
  EXPECT_THROW(test::make_traffic(traffic::group_local::row_group_local, groups(7, 0.5), 32), ConfigError);
  EXPECT_THROW(test::make_traffic(traffic::group_local::row_group_local, groups(32, 0.5), 32), ConfigError);
  EXPECT_THROW(test::make_traffic(traffic::group_local::row_group_local, groups(1, 0.5), 32), ConfigError);
}

}  // namespace
}  // namespace banyan::traffic::group_local_test
