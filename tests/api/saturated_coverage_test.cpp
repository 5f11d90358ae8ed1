// Beyond saturation, does the interval of what is accepted hold what is accepted in the long run?
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "support/effort.hpp"

namespace banyan::api::saturated_coverage_test {
namespace {

struct Network {
  const char* name;
  std::string text;
  std::vector<std::string> lengths;  ///< of the runs
};

const std::string kRouter = "switch = { name = \"vc_router\", vcs = 4, buffer = 8 }\n";
const std::string kDefault;
const std::string kShort = "run = { warmup = 1000, measure = 4000 }\n";

/// The mesh is just beyond saturation (0.4), where queues at the sources fill for longest and windows show least of it.
const Network kNetworks[] = {
    {"mesh",
     "topology = { name = \"mesh\", size = [8, 8] }\nrouting = \"dimension_order\"\n" + kRouter +
         "traffic = { name = \"uniform\", size = 4, load = 0.45 }\n",
     {kDefault, kShort}},
    {"fat tree",
     "topology = { name = \"fat_tree\", arity = 4, levels = 3 }\nrouting = \"nearest_common_ancestor\"\n" + kRouter +
         "traffic = { name = \"uniform\", size = 4, load = 0.95 }\n",
     {kShort}},
    {"cioq",
     "topology = { name = \"bidirectional_min\", hosts = 16, ports = 4 }\nswitch = { name = \"cioq\", queues = \"1q\", "
     "packet = 64 }\nrouting = { name = \"nearest_common_ancestor\", up = \"d_mod_k\" }\n"
     "traffic = { name = \"uniform\", size = 64, load = 0.95 }\n",
     {kDefault}},
};

stats::Metric accepted(const std::string& text, u32 seed) {
  const Result result =
      run(read_experiments_text(text, "beyond.toml", {"run.seed=" + std::to_string(seed)}).points.front());
  EXPECT_EQ(result.verdict, Verdict::saturated) << text;
  return result.at("accepted_load");
}

/// With 30 runs of each an interval of 95 % holds in 26 of 30 or more with a probability of 0.98.
TEST(SaturatedCoverage, OfWhatIsAcceptedInTheLongRun) {
  if (test::kSanitized) GTEST_SKIP() << "statistics are the other builds' affair";
  constexpr u32 kRuns = 30;
  for (const Network& network : kNetworks) {
    const std::string long_run = network.text + "run = { warmup = 20000, measure = 100000 }\n";
    const double truth = (accepted(long_run, 901).mean + accepted(long_run, 902).mean) / 2.0;
    for (const std::string& length : network.lengths) {
      u32 held = 0;
      double width = 0.0;
      for (u32 seed = 1; seed <= kRuns; ++seed) {
        const stats::Metric metric = accepted(network.text + length, seed);
        ASSERT_TRUE(metric.half_width) << network.name;
        held += std::abs(metric.mean - truth) <= *metric.half_width ? 1 : 0;
        width += *metric.half_width / kRuns;
      }
      EXPECT_GE(held, 26U) << network.name << " " << length;
      EXPECT_LT(width, 0.06 * truth) << network.name << ": an interval that holds everything says nothing";
    }
  }
}

}  // namespace
}  // namespace banyan::api::saturated_coverage_test
