// Does a run of the default length go on until its verdict is certain, say so, and is all else as if that length had
// been asked for?
#include <gtest/gtest.h>

#include <string>

#include "api/runs.hpp"
#include "banyan/api/catalog.hpp"
#include "banyan/api/reader.hpp"
#include "banyan/api/verify.hpp"
#include "banyan/base/error.hpp"

namespace banyan::api::extension_test {
namespace {

/// 4 % below its saturation, where a default run is too short for four seeds of six.
const std::string kNearMesh =
    "topology = { name = \"mesh\", size = [4, 4] }\n"
    "switch   = { name = \"vc_router\", vcs = 4, buffer = 8 }\n"
    "routing  = \"dimension_order\"\n"
    "traffic  = { name = \"uniform\", size = 4, load = 0.69 }\n";

bool says(const Result& result, const std::string& part) { return result.explanation.find(part) != std::string::npos; }

/// The measured length in default lengths; 1 where the run was not extended.
double lengths(const Result& result) {
  const stats::Metric* measured = result.find("measured_cycles");
  return measured == nullptr ? 1.0 : measured->mean / 20'000.0;
}

std::string seed(u32 number) { return "run.seed=" + std::to_string(number); }

TEST(Extension, ARunGoesOnUntilItsVerdictIsCertain) {
  u32 extended = 0;
  for (u32 number = 1; number <= 6; ++number) {
    const Result once = run_of(kNearMesh, {seed(number), "run.extension=1"});
    const Result result = run_of(kNearMesh, {seed(number)});
    EXPECT_TRUE(result.certain) << number << ": " << result.explanation;
    EXPECT_EQ(result.verdict, Verdict::steady) << number;
    // One that was certain at once may have stood on too few degrees of freedom.
    if (!once.certain) { EXPECT_GT(lengths(result), 1.0) << number; }
    EXPECT_EQ(says(result, "because the verdict or the latencies were uncertain before (run.extension = 64)"),
              lengths(result) > 1.0);
    extended += once.certain ? 0U : 1U;
  }
  EXPECT_GT(extended, 0U) << "the test has nothing to look at";
}

/// Saturation is told in the same way.
TEST(Extension, SaturationBecomesCertainToo) {
  for (u32 number = 1; number <= 3; ++number) {
    const Result result = run_of(kNearMesh, {seed(number), "load=0.735"});
    EXPECT_EQ(result.verdict, Verdict::saturated) << number;
    EXPECT_TRUE(result.certain) << number << ": " << result.explanation;
  }
}

/// Everything that is reported is of the whole measurement.
TEST(Extension, AnExtendedRunIsTheRunOfThatLength) {
  for (u32 number = 1; number <= 3; ++number) {
    const Result extended = run_of(kNearMesh, {seed(number)});
    const auto measured = static_cast<u64>(lengths(extended) * 20'000.0);
    const Result direct = run_of(kNearMesh, {seed(number), "run.measure=" + std::to_string(measured)});
    EXPECT_EQ(direct.state_hash, extended.state_hash) << number;
    for (const stats::Metric& metric : direct.metrics) {
      EXPECT_EQ(extended.at(metric.name).mean, metric.mean) << metric.name;
      EXPECT_EQ(extended.at(metric.name).half_width, metric.half_width) << metric.name;
      EXPECT_EQ(extended.at(metric.name).count, metric.count) << metric.name;
    }
  }
}

/// A verdict that is certain at once leaves the run as it was.
TEST(Extension, ACertainRunIsNotExtended) {
  for (const char* load : {"load=0.3", "load=0.6", "load=0.8"}) {
    const Result with = run_of(kNearMesh, {load});
    const Result without = run_of(kNearMesh, {load, "run.extension=1"});
    EXPECT_EQ(with.state_hash, without.state_hash) << load;
    EXPECT_EQ(with.explanation, without.explanation) << load;
    EXPECT_EQ(with.find("measured_cycles"), nullptr) << load;
  }
}

TEST(Extension, LengthsThatAreGivenAreExtendedOnlyWhenAskedFor) {
  for (const char* given : {"run.measure=1000", "run.measure=20000", "run.precision=20 %"}) {
    EXPECT_EQ(experiment_of(kNearMesh, {given}).run.integer("extension"), 1) << given;
  }
  const Result given = run_of(kNearMesh, {"run.measure=1000"});
  EXPECT_FALSE(given.certain);
  EXPECT_LT(given.at("simulated_cycles").mean, 4000.0);
  const Result asked = run_of(kNearMesh, {"run.measure=1000", "run.extension=3"});
  EXPECT_EQ(asked.at("measured_cycles").mean, 3000.0) << "1000, 2000, and the limit";
  EXPECT_FALSE(asked.certain);
  EXPECT_TRUE(says(asked, "3000 cycles were measured instead of 1000")) << asked.explanation;
  // The remedy.
  EXPECT_TRUE(says(asked, "a longer run (run.measure) would tell")) << asked.explanation;
  EXPECT_TRUE(run_of(kNearMesh, {"run.measure=400000"}).certain);
}

TEST(Extension, DoesNotDependOnThreadsShardsOrWaking) {
  const Result one = run_of(kNearMesh, {seed(1)});
  ASSERT_GT(lengths(one), 1.0) << "the test has nothing to look at";
  for (const char* other : {"run.shards=3", "run.step_order=permuted", "run.wake=all"}) {
    const Result same = run_of(kNearMesh, {seed(1), other}, 2);
    EXPECT_EQ(same.state_hash, one.state_hash) << other;
    EXPECT_EQ(same.explanation, one.explanation) << other;
    EXPECT_EQ(same.checkpoints, one.checkpoints) << other;
  }
}

/// A stored result is run again from its configuration, which has every length.
TEST(Extension, IsPartOfTheConfiguration) {
  const Experiment experiment = experiment_of(kNearMesh);
  EXPECT_NE(experiment.configuration.find("\"extension\""), std::string::npos);
  const Experiment again = experiment_from(experiment.configuration, catalog());
  EXPECT_EQ(again.configuration, experiment.configuration);
  EXPECT_EQ(again.run.integer("extension"), kDefaultExtension);
  const Experiment given = experiment_of(kNearMesh, {"run.measure=20000"});
  EXPECT_EQ(given.configuration.find("\"extension\""), std::string::npos) << "such experiments keep their identity";
  EXPECT_EQ(experiment_from(given.configuration, catalog()).run.integer("extension"), 1);
  EXPECT_NE(given.configuration_hash, experiment.configuration_hash);
  EXPECT_TRUE(verify(run_of(kNearMesh, {seed(1)}), {}).equal);
}

TEST(Extension, IsRefusedBesideAPrecision) {
  try {
    static_cast<void>(run_of(kNearMesh, {"run.precision=5 %", "run.extension=4"}));
    FAIL() << "it ran";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("run.extension"), std::string::npos) << error.what();
  }
  EXPECT_NO_THROW(static_cast<void>(run_of(kNearMesh, {"run.precision=50 %"})));
  EXPECT_NO_THROW(static_cast<void>(run_of(kNearMesh, {"run.extension=2"})));
}

}  // namespace
}  // namespace banyan::api::extension_test
