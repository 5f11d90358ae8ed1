// Does a terminal load its own output and the next one in the stated proportion?
#include "component_rows.hpp"
#include "traffic/samples.hpp"

namespace banyan::traffic::diagonal_test {
namespace {

constexpr u64 kMessages = 20000;

TEST(Diagonal, TwoThirdsGoToTheOwnOutput) {
  const auto traffic = test::make_traffic(traffic::diagonal::row_diagonal, {}, 10);
  for (const u32 t : {0U, 9U}) {
    const auto share = test::shares_of(*traffic, t, 10, kMessages);
    test::expect_share(share[t], 2.0 / 3, kMessages);
    test::expect_share(share[(t + 1) % 10], 1.0 / 3, kMessages);
  }
}

TEST(Diagonal, TheProportionIsAParameter) {
  const auto share =
      test::shares_of(*test::make_traffic(traffic::diagonal::row_diagonal, {{"own", 0.1}}, 10), 4, 10, kMessages);
  test::expect_share(share[4], 0.1, kMessages);
  test::expect_share(share[5], 0.9, kMessages);
}

}  // namespace
}  // namespace banyan::traffic::diagonal_test
