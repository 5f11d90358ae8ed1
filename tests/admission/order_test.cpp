// Does any admission show in which order packets of one tick arrived at a terminal?
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "banyan/api/experiment.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::order_test {
namespace {

/// Circuits end at a terminal in one tick, and the order of steps says which is told first.
const std::string kPairs =
    "topology = { name = 'bidirectional_min', hosts = 16 }\nswitch = 'circuit'\nrouting = 'fully_adaptive'\n"
    "traffic = { name = 'adversarial', load = 1.0, group_size = 2 }\n";
/// Of several that arrive at once, some have waited in the network and others have not.
const std::string kFire =
    "topology = { name = 'hypercube', degree = 4 }\nswitch = 'circuit'\nrouting = 'dimension_order'\n"
    "traffic = { name = 'incast', size = 1 }\n";

TEST(OrderOfArrivals, ShowsInNoAdmission) {
  u32 compared = 0;
  for (const core::AdmissionRow* const row : core::admission_rows()) {
    for (const std::string feedback : {"", ", feedback = 'words'"}) {
      const auto is_feedback = [](const config::Parameter& p) { return p.name == "feedback"; };
      if (!feedback.empty() && std::none_of(row->info.parameters.begin(), row->info.parameters.end(), is_feedback))
        continue;
      const auto expect_same = [&](const std::string& network, const std::string& run) {
        const auto hash = [&](const std::string& order) {
          const std::string text = network + "admission = { name = '" + row->info.name + "'" + feedback +
                                   " }\nrun = { watchdog = 0, step_order = '" + order + "', " + run + " }\n";
          return api::run(api::read_experiments_text(text, "many", {}).points.front()).state_hash;
        };
        EXPECT_EQ(hash("ascending"), hash("permuted")) << row->info.name << feedback << ", " << run;
        ++compared;
      };
      for (u64 seed = 711; seed <= 718; ++seed)
        expect_same(kPairs, "warmup = 50, measure = 300, drain = 700, seed = " + std::to_string(seed));
      expect_same(kFire, "warmup = 0, measure = 237, drain = 513");
    }
  }
  EXPECT_GE(compared, 8U * core::admission_rows().size());
}

}  // namespace
}  // namespace banyan::order_test
