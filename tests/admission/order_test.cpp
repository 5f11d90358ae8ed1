// Does any admission show in which order packets of one tick arrived at a terminal?
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "banyan/api/experiment.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::order_test {
namespace {

/// Circuits end at a terminal in one tick, and the order of steps says which is told first.
std::string many_at_once(const std::string& admission, const std::string& feedback, u64 seed,
                         const std::string& order) {
  return "topology = { name = 'bidirectional_min', hosts = 16 }\nswitch = 'circuit'\nrouting = 'fully_adaptive'\n"
         "traffic = { name = 'adversarial', load = 1.0, group_size = 2 }\nadmission = { name = '" +
         admission + "'" + feedback +
         " }\nrun = { warmup = 50, measure = 300, drain = 700, watchdog = 0, seed = " + std::to_string(seed) +
         ", step_order = '" + order + "' }\n";
}

TEST(OrderOfArrivals, ShowsInNoAdmission) {
  u32 compared = 0;
  for (const core::AdmissionRow* const row : core::admission_rows()) {
    for (const std::string feedback : {"", ", feedback = 'words'"}) {
      const auto is_feedback = [](const config::Parameter& p) { return p.name == "feedback"; };
      if (!feedback.empty() && std::none_of(row->info.parameters.begin(), row->info.parameters.end(), is_feedback))
        continue;
      for (u64 seed = 711; seed <= 718; ++seed) {
        const auto hash = [&](const std::string& order) {
          return api::run(api::read_experiments_text(many_at_once(row->info.name, feedback, seed, order), "many", {})
                              .points.front())
              .state_hash;
        };
        EXPECT_EQ(hash("ascending"), hash("permuted")) << row->info.name << feedback << ", seed " << seed;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 8U * core::admission_rows().size());
}

}  // namespace
}  // namespace banyan::order_test
