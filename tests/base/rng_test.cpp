// Is randomness addressed, portable and fair enough to stand on?
#include "banyan/base/rng.hpp"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/base/math.hpp"

namespace banyan::rng_test {
namespace {

constexpr Stream kFirst{"test: first"};
constexpr Stream kSecond{"test: second"};

TEST(Random, AnAddressAlwaysGivesTheSameWords) {
  const Random a(7, kFirst, 0, 0);
  const Random b(7, kFirst, 0, 0);
  static_cast<void>(a.at(3, 4));
  EXPECT_EQ(a.at(10, 20), b.at(10, 20));
}

TEST(Random, TheWordsAreTheSameOnEveryMachine) {
  // Golden values: a change here changes every simulated number.
  EXPECT_EQ(Random(1, kFirst, 2, 3).at(4, 5), (Words{0x21eda6e2U, 0x074c131eU, 0xc06c89ebU, 0xd3e2794fU}));
  const Words zero = Random().at(0, 0);
  // Philox 4x32-7 with key 0 and counter 0, from the known-answer file of Random123.
  EXPECT_EQ(zero, (Words{0x5f6fb709U, 0x0d893f64U, 0x4f121f81U, 0x4f730a48U}));
}

TEST(Random, TheWordsAreThoseOfTheLibrary) {
  u64 state = 1;
  const auto draw = [&state] { return state = mix64(state + 0x9e3779b97f4a7c15ULL); };
  for (u32 i = 0; i < 10'000; ++i) {
    const u64 entity = draw() >> (draw() & 63U);
    const u64 event = draw() >> (draw() & 63U);
    const u64 key = draw();
    const std::array<u32, 2> halves{static_cast<u32>(key), static_cast<u32>(key >> 32U)};
    const auto low = [](u64 v) { return static_cast<u32>(v); };
    const auto expected = philox4x32_R(
        kPhiloxRounds, {{low(entity), low(entity >> 32U), low(event), low(event >> 32U)}}, {{halves[0], halves[1]}});
    const Words words = philox(entity, event, halves);
    for (u32 w = 0; w < 4; ++w) ASSERT_EQ(words[w], expected.v[w]) << entity << " " << event << " " << key;
  }
}

TEST(Random, EveryPartOfTheAddressMatters) {
  std::set<Words> seen;
  for (u64 seed = 0; seed < 3; ++seed) {
    for (const Stream stream : {kFirst, kSecond}) {
      for (u32 index = 0; index < 3; ++index) {
        for (u32 replication = 0; replication < 3; ++replication) {
          const Random random(seed, stream, index, replication);
          for (u64 entity : {0ULL, 1ULL, 1ULL << 40U}) {
            for (u64 event : {0ULL, 1ULL, 1ULL << 40U}) seen.insert(random.at(entity, event));
          }
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), 486U);
}

/// Seeds that are alike were the usual trouble: a word that is XORed with a seed is another address's word under
/// another seed.
TEST(Random, ASeedIsNeverAPermutationOfAnother) {
  std::set<Words> seen;
  for (u64 seed = 0; seed < 64; ++seed) {
    const Random random(seed, kFirst, 0, 0);
    for (u64 entity = 0; entity < 64; ++entity) {
      for (u64 event = 0; event < 4; ++event) seen.insert(random.at(entity, event));
    }
  }
  EXPECT_EQ(seen.size(), 64U * 64U * 4U);
}

TEST(Random, WordsAreUniform) {
  const Random random(11, kFirst, 0, 0);
  constexpr u32 kBins = 16;
  constexpr u32 kDraws = 64000;
  for (u32 w = 0; w < 4; ++w) {
    std::vector<double> bins(kBins);
    for (u32 i = 0; i < kDraws; ++i) ++bins[below(random.at(i % 64, i / 64)[w], kBins)];
    double chi_square = 0.0;
    const double expected = static_cast<double>(kDraws) / kBins;
    for (const double count : bins) chi_square += (count - expected) * (count - expected) / expected;
    EXPECT_LT(chi_square, 44.3) << "word " << w;  // 15 degrees of freedom, p = 0.0001
  }
}

TEST(Below, CoversTheRangeAndNothingElse) {
  EXPECT_EQ(below(0, 10), 0U);
  EXPECT_EQ(below(~0U, 10), 9U);
  EXPECT_EQ(below(~0U, 1), 0U);
}

TEST(PortableLog, AgreesWithTheLibraryToTheLastDigits) {
  for (double x = 1e-300; x < 1e300; x *= 1.7) {
    EXPECT_NEAR(portable_log(x), std::log(x), 5e-16 * std::max(1.0, std::fabs(std::log(x)))) << x;
  }
  EXPECT_EQ(portable_log(1.0), 0.0);
}

TEST(PortableExp, AgreesWithTheLibraryToTheLastDigits) {
  for (double x = -700.0; x < 700.0; x += 0.37) EXPECT_NEAR(portable_exp(x) / std::exp(x), 1.0, 1e-15) << x;
  for (double x = 1e-18; x < 1.0; x *= 1.3) EXPECT_NEAR(portable_exp(-x), std::exp(-x), 3e-16) << x;
  EXPECT_EQ(portable_exp(0.0), 1.0);
  EXPECT_EQ(portable_exp(-1e6), 0.0);
  EXPECT_EQ(portable_exp(1e6), std::numeric_limits<double>::infinity());
}

TEST(PortablePow, AgreesWithTheLibraryToTheLastDigits) {
  for (double x = 1e-16; x < 1e7; x *= 1.9) {
    for (const double y : {-4.0, -1.0, -0.7142857142857143, 0.0, 0.5, 1.0, 3.0}) {
      const double size = 1.0 + std::fabs(y * std::log(x));
      EXPECT_NEAR(portable_pow(x, y) / std::pow(x, y), 1.0, 1e-15 * size) << x << " to the power of " << y;
    }
  }
  EXPECT_EQ(portable_pow(1.0, -1.7), 1.0);
  EXPECT_EQ(portable_pow(0.0, 12.0), 0.0);
}

TEST(NormalDistribution, AgreesWithTheLibraryToTheLastDigits) {
  for (double x = 0.0; x < 12.0; x += 0.01) {
    EXPECT_NEAR(normal_distribution(x), 0.5 * std::erfc(-x / std::sqrt(2.0)), 2e-15) << x;
  }
}

TEST(NormalQuantile, IsTheInverseOfTheDistribution) {
  for (double p = 1e-12; p < 1.0; p = p < 0.01 ? p * 3 : p + 0.01) {
    const double distribution = 0.5 * std::erfc(-normal_quantile(p) / std::sqrt(2.0));
    EXPECT_NEAR(distribution, p, 1e-14 + 1e-12 * p) << p;
  }
  EXPECT_EQ(normal_quantile(0.5), 0.0);
}

}  // namespace
}  // namespace banyan::rng_test
