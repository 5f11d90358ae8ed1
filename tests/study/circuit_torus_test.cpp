// Is every figure of the circuit study runnable, and every claim answerable, in each form of the study?
#include <gtest/gtest.h>

#include <set>

#include "banyan/analysis/parts/circuit_torus_model.hpp"
#include "study/fake_study.hpp"

namespace banyan::study::circuit_torus_test {
namespace {

/// A simulation that agrees with its model within a few per cent; steady up to a load that depends on the case.
api::Result pretend(const api::Experiment& experiment, const api::RunOptions&) {
  api::Result result = test::fake_result(experiment);
  const double load = experiment.traffics.front().real("load");
  const double alpha = experiment.traffics.front().real("fraction");
  if (load > (alpha > 0.1 ? 0.19 : 0.66)) {
    result.verdict = api::Verdict::saturated;
  } else {
    result.metrics.push_back(test::metric("packet_latency", 50 * (1 + load), 0.1));
    result.metrics.push_back(test::metric("service_time", 45, 0.1));
    result.metrics.push_back(test::metric("service_time_squared", 45 * 45 + 100, 0.1));
  }
  if (!experiment.analyses.empty() && load < (alpha > 0.1 ? 0.17 : 0.5)) {
    stats::Metric model = test::metric("packet_latency@circuit_torus", 51 * (1 + load), 0);
    model.counter = true;
    result.metrics.push_back(model);
  }
  return result;
}

StudyResult run(Mode mode) {
  StudyOptions options;
  options.mode = mode;
  options.run = pretend;
  return run_study("circuit-torus", options);
}

TEST(CircuitTorusStudy, every_claim_is_answered) {
  const StudyResult full = run(Mode::full);
  EXPECT_EQ(full.claims.size(), find_study("circuit-torus").row->claims().size());
  for (const ClaimResult& claim : full.claims) EXPECT_FALSE(claim.measured.empty()) << claim.id;
  const StudyResult quick = run(Mode::quick);
  EXPECT_GE(quick.claims.size(), full.claims.size() - 1);
  EXPECT_LT(quick.runs.size(), full.runs.size() / 2);
}

TEST(CircuitTorusStudy, figure_2_is_the_papers_eight_cases) {
  const StudyResult full = run(Mode::full);
  std::set<std::string> cases;
  for (const FigureResult& figure : full.figures) {
    if (figure.spec.id.front() != '2') continue;
    cases.insert(figure.spec.title);
    EXPECT_EQ(figure.points.size(), 9U);
  }
  EXPECT_EQ(cases.size(), 8U);
}

/// The numbers in the claims and in the loads of the files are those of the model.
TEST(CircuitTorusStudy, loads_stand_on_the_models_saturation) {
  const std::map<std::string, double> expected{{"2a", 0.39107}, {"2b", 0.15630}, {"2c", 0.51648}, {"2d", 0.16103},
                                               {"2e", 0.49512}, {"2f", 0.16915}, {"2g", 0.61691}, {"2h", 0.17175}};
  const Study& study = find_study("circuit-torus");
  for (const auto& [id, saturation] : expected) {
    const api::ExperimentSet set =
        api::read_experiments_text(std::string(file_text(study.files, "figure-" + id + ".toml")), id, {});
    const api::Experiment& first = set.points.front();
    analysis::parts::CircuitTorusInput input;
    input.vcs = static_cast<u32>(first.switching.integer("vcs"));
    input.flits = static_cast<double>(first.traffics.front().integer("size"));
    input.alpha = first.traffics.front().real("fraction");
    EXPECT_NEAR(analysis::parts::saturation_rate(input) * input.flits, saturation, 2e-5) << id;
    EXPECT_NEAR(first.traffics.front().real("load"), 0.1 * saturation, 1e-4) << id;
  }
}

}  // namespace
}  // namespace banyan::study::circuit_torus_test
