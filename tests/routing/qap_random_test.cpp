// Does the random first step take each profitable dimension equally often?
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "routing/spaces.hpp"

namespace banyan::test::qap_random_test {
namespace {

TEST(QapRandom, ChoosesEachProfitableDimensionEquallyOften) {
  const auto cube = cube_of(4);
  const auto r = routing("qap_random", *cube, 2);
  core::Packet packet;
  packet.destination = 0b1101;
  core::RouteRequest request;
  request.packet = &packet;
  request.in_port = 4;
  std::array<u32, 4> taken{};
  constexpr u32 kDraws = 3000;
  for (u32 i = 0; i < kDraws; ++i) {
    request.random = static_cast<u32>(mix64(i));
    core::Candidates next;
    r->route(request, next);
    ASSERT_EQ(next.size(), 1U);
    ++taken[next[0].port];
    core::Candidates all;
    r->all_candidates(request, all);
    ASSERT_EQ(all.size(), 3U);
  }
  EXPECT_EQ(taken[1], 0U);
  for (const u32 d : {0U, 2U, 3U}) EXPECT_NEAR(taken[d], kDraws / 3.0, 5.0 * std::sqrt(kDraws * 2.0 / 9.0));
}

}  // namespace
}  // namespace banyan::test::qap_random_test
