// Does the harness of counter-figures cover every study, and does it notice a claim that cannot fail?
#include "study/counter_figures.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

namespace banyan::study::counter_figures_test {
namespace {

TEST(CounterFigures, every_study_has_them) {
  for (const Study& study : studies()) {
    if (study.row->measure != nullptr) continue;  // without figures there are no claims over them
    EXPECT_TRUE(test::studies_with_counter_figures().contains(std::string(study.row->slug)))
        << "write tests/study/counter_figures_... for " << study.row->slug;
  }
}

test::CounterStudy without(const std::string& claim) {
  test::CounterStudy study{"circuit-torus", {}, {}, {}};
  for (const Claim& one : find_study(study.slug).row->claims()) {
    if (one.id != claim) {
      const test::Change nothing = [](test::World&) {};
      study.figures.push_back({one.id, nothing, nothing, nothing});
    }
  }
  return study;
}

TEST(CounterFigures, a_claim_without_them_is_noticed) {
  test::every_claim_has_counter_figures(without("no such claim"));
  EXPECT_NONFATAL_FAILURE(test::every_claim_has_counter_figures(without("sharing")),
                          "claim 'sharing' has no counter-figures");
}

}  // namespace
}  // namespace banyan::study::counter_figures_test
