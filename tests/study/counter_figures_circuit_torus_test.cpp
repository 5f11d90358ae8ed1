// Can every claim of the circuit study fail?
#include <gtest/gtest.h>

#include "banyan/analysis/parts/circuit_torus_model.hpp"
#include "study/counter_figures.hpp"

namespace banyan::study::counter_figures_circuit_torus_test {
namespace {

using analysis::parts::CircuitTorusInput;
using analysis::parts::solve;
using test::Change;
using test::CounterFigure;
using test::World;

const std::string kLatency = "packet_latency";
const std::string kModel = "packet_latency@circuit_torus";
const std::vector<std::string> kFigures{"2a", "2b", "2c", "2d", "2e", "2f", "2g", "2h"};

CircuitTorusInput case_of(const std::string& figure) {
  CircuitTorusInput input;
  const int index = figure.back() - 'a';
  input.k = 8;
  input.flits = index < 4 ? 32 : 64;
  input.vcs = index % 4 < 2 ? 2 : 6;
  input.alpha = index % 2 == 0 ? 0.02 : 0.3;
  return input;
}

/// The points of a case in the order of the loads: 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.05 and 1.25 of its
/// saturation.
constexpr std::size_t kHalf = 3;
constexpr std::size_t kLast = 6;

void predict(World& world, const Point& point, CircuitTorusInput input) {
  input.rate = World::number(point, "load") / input.flits;
  const auto solution = solve(input);
  if (solution.saturated) return;
  stats::Metric model = test::metric(kModel, solution.latency, 0);
  model.counter = true;
  world.result().runs.at(point.run).metrics.push_back(model);
}
/// A simulation off which the model is by this relative error.
void measure(World& world, const Point& point, double error) {
  if (world.result().runs.at(point.run).find(kModel) == nullptr) return;
  world.set(point, kLatency, world.get(point, kModel) / (1 + error));
}

/// Gives the service time a variance with which equation 23 leads to the measured latency.
void explain(World& world, const Point& point, CircuitTorusInput input) {
  input.rate = World::number(point, "load") / input.flits;
  const double stretch = solve(input).multiplexing;
  double low = 0.0;
  double high = 1e7;
  for (int i = 0; i < 60; ++i) {
    input.service_variance = (low + high) / 2;
    const auto solution = solve(input);
    (solution.saturated || solution.latency > world.get(point, kLatency) ? high : low) = *input.service_variance;
  }
  world.set(point, "service_time", 100);
  world.set(point, "service_time_squared", 100.0 * 100.0 + low * stretch * stretch);
}

World paper() {
  World world("circuit-torus", test::fake_run);
  for (api::Result& run : world.result().runs) run.verdict = api::Verdict::steady;
  for (const std::string& figure : kFigures) {
    const std::vector<const Point*> points = world.points(figure, {});
    for (std::size_t i = 0; i < points.size(); ++i) {
      predict(world, *points[i], case_of(figure));
      world.set(*points[i], kLatency, 1000);
      measure(world, *points[i], i <= kHalf ? -0.02 : -0.08);
      world.set(*points[i], "service_time", 100);
      world.set(*points[i], "service_time_squared", 100.0 * 100.0);
      if (i >= kHalf && i <= kLast) explain(world, *points[i], case_of(figure));
    }
    world.saturate(figure, {{"load", World::axis(*points.back(), "load")}}, {kLatency});
  }
  for (const char* figure : {"channels", "larger-16"}) {
    for (const Point* point : world.points(figure, {})) {
      CircuitTorusInput input;
      input.k = std::string(figure) == "channels" ? 8 : 16;
      input.flits = 32;
      input.alpha = 0.02;
      input.vcs = static_cast<u32>(World::number(*point, "V"));
      predict(world, *point, input);
      world.set(*point, kLatency, 1000);
      measure(world, *point, 0.05);
    }
  }
  for (const Point* point : world.points("sharing", {{"sharing", "tdm"}})) {
    if (world.result().runs.at(point->run).find(kLatency) == nullptr) world.set(*point, kLatency, 200);
  }
  world.relate("sharing", {{"sharing", "demand"}}, kLatency, {{"sharing", "tdm"}}, kLatency, 0.8);
  return world;
}

/// The error of the model at these points of every case.
Change error_at(std::size_t from, std::size_t to, double error) {
  return [=](World& world) {
    for (const std::string& figure : kFigures) {
      const std::vector<const Point*> points = world.points(figure, {});
      for (std::size_t i = from; i <= to; ++i) measure(world, *points[i], error);
    }
  };
}
Change discrepancy(double half, double last) {
  return [=](World& world) {
    error_at(kHalf, kHalf, half)(world);
    error_at(kLast, kLast, last)(world);
  };
}

/// The model says nothing of these points.
Change unpredicted(std::size_t from, std::size_t to) {
  return [=](World& world) {
    for (const std::string& figure : kFigures) {
      const std::vector<const Point*> points = world.points(figure, {});
      for (std::size_t i = from; i <= to; ++i) {
        std::erase_if(world.result().runs.at(points[i]->run).metrics,
                      [](const stats::Metric& m) { return m.name == kModel; });
      }
    }
  };
}

/// The measured latencies at `part` of the way from the printed model to the one with the simulated variance.
Change variance(double part) {
  return [=](World& world) {
    for (const std::string& figure : kFigures) {
      const std::vector<const Point*> points = world.points(figure, {});
      for (std::size_t i = kHalf; i <= kLast; ++i) {
        const double printed = world.get(*points[i], kModel);
        world.set(*points[i], kLatency, printed + part * (world.get(*points[i], kLatency) - printed));
      }
    }
  };
}

/// The simulation saturates from this point on.
Change saturates(std::size_t from, const std::vector<std::string>& figures) {
  return [=](World& world) {
    for (const std::string& figure : figures) {
      const std::vector<const Point*> points = world.points(figure, {});
      for (std::size_t i = from; i < points.size(); ++i) {
        world.saturate(figure, {{"load", World::axis(*points[i], "load")}}, {kLatency});
      }
    }
  };
}

Change trust(const std::string& figure, const Selection& where, double error) {
  return [=](World& world) {
    for (const Point* point : world.points(figure, where)) measure(world, *point, error);
  };
}

std::vector<CounterFigure> figures() {
  std::vector<CounterFigure> all{
      {"accuracy", error_at(0, kLast, 0.5), error_at(kLast, kLast, -0.103), error_at(kLast, kLast, -0.098)},
      {"accuracy", error_at(0, kLast, -0.3), saturates(kLast, {"2c"}), error_at(0, kLast, 0.098)},
      {"accuracy", unpredicted(2, kLast), unpredicted(kLast, kLast), error_at(0, kLast, 0.098)},
      {"discrepancy", discrepancy(0.2, 0.01), discrepancy(-0.09, -0.08), discrepancy(-0.07, -0.08)},
      {"variance", variance(-1), variance(0.6), variance(0.72)},  // two thirds of the way leave half of the error
      {"half", error_at(0, kHalf, 0.2), error_at(0, kHalf, 0.031), error_at(0, kHalf, 0.029)},
      {"saturates-first", saturates(kLast, kFigures), saturates(kLast + 1, {"2d"}), saturates(kLast + 2, kFigures)},
      {"trust-channels", trust("channels", {}, 0.5), trust("channels", {{"V", "4"}, {"load", "0.1"}}, 0.103),
       trust("channels", {}, 0.098)},
      {"trust-larger", trust("larger-16", {}, 0.5), trust("larger-16", {{"V", "6"}, {"load", "0.02"}}, -0.103),
       trust("larger-16", {}, -0.098)},
  };
  for (const CounterFigure& figure :
       test::comparison("sharing", "sharing", {{"sharing", "demand"}}, kLatency, {{"sharing", "tdm"}}, kLatency, 1.0)) {
    all.push_back(figure);
  }
  return all;
}

test::CounterStudy study_of() { return {"circuit-torus", paper, figures(), {kModel}}; }
const bool kRegistered = test::studies_with_counter_figures().insert("circuit-torus").second;

TEST(CircuitTorusCounterFigures, every_claim_has_them) { test::every_claim_has_counter_figures(study_of()); }
TEST(CircuitTorusCounterFigures, every_claim_can_fail) { test::claims_can_fail(study_of()); }
TEST(CircuitTorusCounterFigures, fewer_data_never_give_a_better_verdict) {
  test::fewer_data_are_never_better(study_of(), 4);
}
TEST(CircuitTorusCounterFigures, a_stored_study_is_judged_like_the_run) {
  test::a_stored_study_is_judged_like_the_run(study_of());
}

}  // namespace
}  // namespace banyan::study::counter_figures_circuit_torus_test
