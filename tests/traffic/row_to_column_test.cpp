// Does every row send to all terminals of its column alike, and to no others?
#include "banyan/base/error.hpp"
#include "component_rows.hpp"
#include "traffic/samples.hpp"

namespace banyan::traffic::row_to_column_test {
namespace {

constexpr u64 kMessages = 50000;

/// Row 0 to 7 of 8 terminals each, and terminals r, 8 + r, ... of column r.
TEST(RowToColumn, TheColumnGetsAllUniformly) {
  for (const bool self : {false, true}) {
    const auto traffic =
        test::make_traffic(traffic::row_to_column::row_row_to_column, {{"row", i64{8}}, {"include_self", self}}, 64);
    for (const u32 source : {0U, 1U, 9U, 35U, 63U}) {
      const auto share = test::shares_of(*traffic, source, 64, kMessages);
      const u32 row = source / 8;
      const bool crosses = source % 8 == row;
      for (u32 t = 0; t < 64; ++t) {
        const double of_column = t == source && !self ? 0.0 : crosses && !self ? 1.0 / 7 : 1.0 / 8;
        test::expect_share(share[t], t % 8 == row ? of_column : 0.0, kMessages);
      }
    }
  }
}

/// With more rows than a row is long the columns go on behind the last terminal of a row, as in BookSim2.
TEST(RowToColumn, RowsBeyondTheLastColumnSendFurther) {
  const auto traffic = test::make_traffic(traffic::row_to_column::row_row_to_column, {{"row", i64{2}}}, 8);
  const auto share = test::shares_of(*traffic, 7, 8, kMessages);
  for (u32 t = 0; t < 8; ++t) test::expect_share(share[t], t == 3 || t == 5 ? 0.5 : 0.0, kMessages);
}

/// Also where a column that goes on behind the last terminal of a row comes back to the row.
TEST(RowToColumn, NobodySendsToItself) {
  for (const auto& [row, terminals] : {std::pair{2U, 8U}, {3U, 15U}, {4U, 24U}, {4U, 32U}, {5U, 50U}}) {
    const auto traffic = test::make_traffic(traffic::row_to_column::row_row_to_column, {{"row", i64{row}}}, terminals);
    for (u32 source = 0; source < terminals; ++source) {
      const auto share = test::shares_of(*traffic, source, terminals, 2000);
      EXPECT_EQ(share[source], 0.0) << source << " of " << terminals << " in rows of " << row;
      u32 others = 0;
      for (const double s : share) others += s > 0.0 ? 1U : 0U;
      bool own = false;
      for (u32 place = 0; place < row; ++place) own = own || place * row + source / row == source;
      EXPECT_EQ(others, row - (own ? 1 : 0)) << source << " of " << terminals << " in rows of " << row;
    }
  }
}

TEST(RowToColumn, RowsWithoutAColumnAreRefused) {
  const auto make = [](i64 row, u32 terminals) {
    return test::make_traffic(traffic::row_to_column::row_row_to_column, {{"row", row}}, terminals);
  };
  EXPECT_THROW(make(7, 64), ConfigError);
  EXPECT_THROW(make(16, 64), ConfigError);
  EXPECT_THROW(make(1, 64), ConfigError);
}

}  // namespace
}  // namespace banyan::traffic::row_to_column_test
