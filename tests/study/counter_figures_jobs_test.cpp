// Can every claim of the study of jobs fail?
#include <gtest/gtest.h>

#include "study/counter_figures.hpp"

namespace banyan::study::counter_figures_jobs_test {
namespace {

using test::Change;
using test::CounterFigure;
using test::World;

const std::vector<std::string> kNetworks{"fat-tree", "dragonfly", "torus"};
const std::vector<std::string> kPairs{"fat-tree-pairs", "dragonfly-pairs", "torus-pairs"};
const std::vector<std::string> kPlacements{"linear", "blocked", "spread", "random"};
const std::vector<std::string> kJobs{"ring", "tree", "exchange"};

std::string alone(const std::string& job) { return "slowdown_alone." + job; }
std::string ideal(const std::string& job) { return "slowdown_ideal." + job; }

std::string variant(std::string network, const std::string& kind) {
  for (char& c : network) c = c == '-' ? '_' : c;
  return network + "_" + kind;
}

/// Seeds scatter a little, so that a mean over them has an interval.
void spread(World& world, const std::string& figure, const Selection& where, const std::string& metric, double value) {
  for (const Point* point : world.points(figure, where)) {
    world.set(*point, metric, value * (1 + 0.0005 * (World::number(*point, "seed") - 5.5)));
  }
}

/// What a quotient divides by: only the other value scatters.
void fixed(World& world, const std::string& figure, const Selection& where, const std::string& metric, double value) {
  for (const Point* point : world.points(figure, where)) world.set(*point, metric, value);
}

Selection at(const std::string& series, const std::string& placement) {
  return {{"series", series}, {"placement", placement}};
}

/// The paper's world, in which every sentence is true.
World paper() {
  World world("jobs", test::fake_run);
  for (const std::string& network : kNetworks) {
    const std::string direct = variant(network, "fixed");
    const std::string adaptive = variant(network, "adaptive");
    const std::string credits = variant(network, "fixed_credits");
    for (const std::string& job : kJobs) {
      spread(world, network, at(direct, "blocked"), alone(job), 1.0);
      fixed(world, network, at(direct, "random"), alone(job), 2.0);
      fixed(world, network, at(direct, "random"), ideal(job), 3.0);
      spread(world, network, at(adaptive, "random"), ideal(job), 2.0);
      spread(world, network, at(adaptive, "random"), alone(job), 1.5);
      spread(world, network, at(credits, "random"), alone(job), 1.5);
    }
    spread(world, network, at(direct, "random"), alone("ring"), 2.0);
    spread(world, network, at(direct, "random"), alone("tree"), 2.0);
    spread(world, network, at(direct, "random"), ideal("exchange"), 3.0);
    fixed(world, network, at(direct, "blocked"), ideal("exchange"), 5.0);
    fixed(world, network, at(direct, "blocked"), ideal("ring"), 1.0);
    fixed(world, network, at(direct, "linear"), ideal("ring"), 1.0);
    spread(world, network, at(direct, "spread"), ideal("ring"), 3.0);
    spread(world, network, at(credits, "blocked"), ideal("ring"), 1.05);
    spread(world, network, at(adaptive, "blocked"), alone("ring"), 1.2);
  }
  for (const std::string& figure : kPairs) {
    for (const std::string job : {"ring", "tree"}) {
      const std::string pair = job + std::string("_exchange");
      spread(world, figure, at(pair, "random"), alone(job), 2.0);
      fixed(world, figure, at(pair, "random"), alone("exchange"), 1.2);
    }
    fixed(world, figure, at("ring_tree", "random"), alone("ring"), 1.3);
  }
  return world;
}

/// The value of a metric of these jobs on these figures, in a variant (of a network) or a series under a placement.
Change value(const std::vector<std::string>& figures, const std::string& series, const std::string& placement,
             std::string (*metric)(const std::string&), const std::vector<std::string>& jobs, double value) {
  return [=](World& world) {
    for (const std::string& figure : figures) {
      const bool of_pairs = figure.ends_with("-pairs");
      for (const std::string& job : jobs) {
        const std::string name = of_pairs ? series : variant(figure, series);
        spread(world, figure, at(name, placement), metric(job), value);
      }
    }
  };
}

std::vector<CounterFigure> figures() {
  const std::vector<std::string> ring{"ring"};
  const std::vector<std::string> reductions{"ring", "tree"};
  const std::vector<std::string> exchange{"exchange"};
  const std::vector<std::string> one{"torus"};
  const std::vector<std::string> pair{"torus-pairs"};
  const double below = test::kJustBelow;
  const double above = test::kJustAbove;
  return {
      {"blocks-isolate", value(kNetworks, "fixed", "blocked", alone, kJobs, 2),
       value(one, "fixed", "blocked", alone, exchange, 1.02 * above),
       value(kNetworks, "fixed", "blocked", alone, kJobs, 1.02 * below)},
      {"random-hurts", value(kNetworks, "fixed", "random", alone, reductions, 1),
       value(one, "fixed", "random", alone, ring, 1.2 * below),
       value(kNetworks, "fixed", "random", alone, reductions, 1.2 * above)},
      {"scattering-helps-exchange", value(kNetworks, "fixed", "random", ideal, exchange, 8),
       value(one, "fixed", "random", ideal, exchange, 5 * above),
       value(kNetworks, "fixed", "random", ideal, exchange, 5 * below)},
      {"spread-costs-ring", value(kNetworks, "fixed", "spread", ideal, ring, 1),
       value(one, "fixed", "spread", ideal, ring, 1.2 * below),
       value(kNetworks, "fixed", "spread", ideal, ring, 1.2 * above)},
      {"bully",
       test::together({value(kPairs, "ring_exchange", "random", alone, ring, 1),
                       value(kPairs, "tree_exchange", "random", alone, {"tree"}, 1)}),
       value(pair, "tree_exchange", "random", alone, {"tree"}, 1.2 * below),
       value(kPairs, "ring_exchange", "random", alone, ring, 1.2 * above)},
      {"exchange-hurts-most", value(kPairs, "ring_exchange", "random", alone, ring, 1),
       value(pair, "ring_exchange", "random", alone, ring, 1.3 * below),
       value(kPairs, "ring_exchange", "random", alone, ring, 1.3 * above)},
      {"adaptive-faster", value(kNetworks, "adaptive", "random", ideal, kJobs, 5),
       value(one, "adaptive", "random", ideal, ring, 3 * above),
       value(kNetworks, "adaptive", "random", ideal, ring, 3 * below)},
      {"adaptive-shields", value(kNetworks, "adaptive", "random", alone, reductions, 4),
       value(one, "adaptive", "random", alone, ring, 2 * above * 1.002),
       value(kNetworks, "adaptive", "random", alone, reductions, 2 * below * 0.998)},
      {"detours-mix", value({"dragonfly"}, "adaptive", "blocked", alone, ring, 1),
       value({"dragonfly"}, "adaptive", "blocked", alone, ring, 1.02 * below),
       value({"dragonfly"}, "adaptive", "blocked", alone, ring, 1.02 * above)},
      {"credits-shield", value(kNetworks, "fixed_credits", "random", alone, reductions, 4),
       value(one, "fixed_credits", "random", alone, ring, 2 * above),
       value(kNetworks, "fixed_credits", "random", alone, reductions, 2 * below)},
      {"credits-cost-little", value(kNetworks, "fixed_credits", "blocked", ideal, ring, 2),
       value(one, "fixed_credits", "blocked", ideal, ring, 1.1 * above),
       value(kNetworks, "fixed_credits", "blocked", ideal, ring, 1.1 * below)},
  };
}

test::CounterStudy study_of() { return {"jobs", paper, figures(), {}}; }
const bool kRegistered = test::studies_with_counter_figures().insert("jobs").second;

TEST(JobsCounterFigures, every_claim_has_them) { test::every_claim_has_counter_figures(study_of()); }
TEST(JobsCounterFigures, every_claim_can_fail) { test::claims_can_fail(study_of()); }
TEST(JobsCounterFigures, fewer_data_never_give_a_better_verdict) { test::fewer_data_are_never_better(study_of(), 4); }
TEST(JobsCounterFigures, a_stored_study_is_judged_like_the_run) {
  test::a_stored_study_is_judged_like_the_run(study_of());
}

}  // namespace
}  // namespace banyan::study::counter_figures_jobs_test
