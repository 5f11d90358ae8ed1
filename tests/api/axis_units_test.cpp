// Do the axes of a sweep have the units that their parameters declare?
#include "banyan/api/axis_units.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace banyan::api::axis_units_test {
namespace {

constexpr const char* kExperiment = R"(
topology = { name = "mesh", size = [4, 4] }
switch = { name = "vc_router", vcs = 2, buffer = 4 }
routing = "dimension_order"
traffic = { name = "uniform", load = 0.1 }
)";

std::vector<std::string> units(const std::string& sweep) {
  const ExperimentSet set = read_experiments_text(kExperiment + ("[sweep]\n" + sweep), "x.toml", {});
  std::vector<Result> results(set.points.size());
  for (std::size_t i = 0; i < results.size(); ++i) results[i].configuration = set.points[i].configuration;
  return axis_units(set, results);
}

using Texts = std::vector<std::string>;

TEST(AxisUnits, AreThoseOfTheParameters) {
  EXPECT_EQ(units("\"switch.buffer\" = [2, 4]\n\"traffic.load\" = [0.1, 0.2]\n\"run.warmup\" = [100, 200]"),
            (Texts{"flits", "flits/cycle", "cycles"}));
  EXPECT_EQ(units("\"traffic.uniform.load\" = [0.1, 0.2]"), Texts{"flits/cycle"});
  EXPECT_EQ(units("buffer = [2, 4]"), Texts{"flits"});
}

TEST(AxisUnits, AreNoneForWordsPureNumbersAndValuesThatHaveTheirOwn) {
  EXPECT_EQ(units("routing = [\"dimension_order\", \"o1turn\"]\n\"run.seed\" = [1, 2]"), (Texts{"", ""}));
  EXPECT_EQ(units("\"switch.buffer\" = [\"2 flits\", \"4 flits\"]"), Texts{""});
}

}  // namespace
}  // namespace banyan::api::axis_units_test
