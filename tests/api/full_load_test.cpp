// Is the load found at which the first part is full, with few questions?
#include "banyan/api/full_load.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace banyan::api::full_load_test {
namespace {

/// A part of a network has to carry `others`, and `slope` for each flit of the varied load.
struct Part {
  double others = 0.0;
  double slope = 0.0;
};

struct Network {
  std::vector<Part> parts;
  double others = 0.1;  ///< that are offered
  int asked = 0;

  Fullness operator()(double load) {
    ++asked;
    Fullness all{0.0, others + load, {}, "theory"};
    for (const Part& part : parts) all.ratio = std::max(all.ratio, part.others + part.slope * load);
    return all;
  }
};

TEST(FullLoad, IsThatOfTheFirstPartThatIsFull) {
  Network network{{{0.8, 0.5}, {0.0, 8.0}, {0.5, 2.0}}};
  const auto found = full_load(std::ref(network), 0.9);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->load, 0.125, 1e-9);
  EXPECT_NEAR(found->offered, 0.225, 1e-9);
  EXPECT_EQ(found->others, 0.1);
  EXPECT_EQ(found->model, "theory");
}

TEST(FullLoad, TakesFewQuestionsHoweverManyPartsAreFullBeyondIt) {
  Network one{{{0.832, 1.0}}};
  EXPECT_NEAR(full_load(std::ref(one), 0.9)->load, 0.168, 1e-9);
  EXPECT_LE(one.asked, 3);
  Network many;
  double first = 1.0;
  for (int i = 0; i < 200; ++i) {
    const double others = 0.95 - 0.95 * i / 200.0;
    const double slope = 0.1 + 0.01 * i * i;
    many.parts.push_back({others, slope});
    first = std::min(first, (1.0 - others) / slope);
  }
  EXPECT_NEAR(full_load(std::ref(many), 0.9)->load, first, 1e-8);
  EXPECT_LE(many.asked, 12);
}

TEST(FullLoad, IsNoneWhereTheOthersFillAPart) {
  Network network{{{1.5, 1.0}}};
  EXPECT_EQ(full_load(std::ref(network), 0.9)->load, 0.0);
  EXPECT_EQ(network.asked, 1);
}

TEST(FullLoad, MayLieBeyondTheGreatest) {
  Network network{{{0.2, 0.4}}};
  EXPECT_NEAR(full_load(std::ref(network), 0.9)->load, 2.0, 1e-9);
  Network never{{{0.2, 0.0}}};
  EXPECT_FALSE(full_load(std::ref(never), 0.9));
}

TEST(FullLoad, OfAllTrafficsTogetherTakesNoSearch) {
  Network network{{{0.0, 4.0}}, 0.0};
  EXPECT_NEAR(full_load(std::ref(network), 1.0)->load, 0.25, 1e-12);
  EXPECT_EQ(network.asked, 2);
}

}  // namespace
}  // namespace banyan::api::full_load_test
