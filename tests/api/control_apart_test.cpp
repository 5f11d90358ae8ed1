// Is what ends of flows tell each other in packets no part of what is counted as load: totals, the table of flows,
// marks?
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <variant>

#include "api/runs.hpp"
#include "banyan/api/experiment.hpp"

namespace banyan::api::control_apart_test {
namespace {

const std::string kTree =
    "topology = { name = 'bidirectional_min', hosts = 16, ports = 4 }\n"
    "switch = { name = 'cioq', queues = '1q', packet = 256, mark = { low = 4, high = 8 } }\n"
    "routing = { name = 'nearest_common_ancestor', up = 'd_mod_k' }\n"
    "traffic = { name = 'flows', sources = [1, 2, 3, 0, 8, 9, 10], destinations = [0, 0, 0, 1, 1, 1, 2], loads = "
    "[0.8], "
    "size = 256 }\n";
const std::string kRouters =
    "topology = { name = 'mesh', size = [4, 4] }\n"
    "switch = { name = 'vc_router', vcs = 4, mark = { low = 2, high = 4 } }\nrouting = 'dimension_order'\n"
    "traffic = { name = 'permutation', pattern = 'transpose', load = 0.3, size = 4 }\n";

double sum_of(const Table& table, std::size_t column) {
  double sum = 0.0;
  for (const auto& row : table.rows)
    std::visit(
        [&](const auto& cell) {
          if constexpr (std::is_arithmetic_v<std::decay_t<decltype(cell)>>) sum += static_cast<double>(cell);
        },
        row[column]);
  return sum;
}

/// In a run of one length, in which all that is delivered is measured, three places tell of the same packets.
TEST(ControlApart, TotalsTheTableOfFlowsAndMarksSpeakOfLoad) {
  for (const std::string& network : {kTree, kRouters}) {
    for (const char* admission : {"none", "window", "dctcp", "swift", "dcqcn", "receiver_credits", "infiniband_cc"}) {
      SCOPED_TRACE(fmt::format("{} on {}", admission, network));
      const Result result =
          run_of(network, {fmt::format("admission={}", admission), "run.tables=flows", "run.duration=60000"});
      const double packets = result.at("delivered_packets").mean;
      const double flits = result.at("delivered_flits").mean;
      ASSERT_GT(packets, 100.0);
      EXPECT_EQ(static_cast<double>(result.at("packet_latency").count), packets);
      ASSERT_EQ(result.tables.front().name, "flows");
      const Table& flows = result.tables.front();
      EXPECT_EQ(sum_of(flows, 2), packets);
      EXPECT_EQ(sum_of(flows, 3), flits);
      if (const stats::Metric* marked = result.find("marked")) {
        EXPECT_EQ(sum_of(flows, flows.columns.size() - 1),
                  std::round(marked->mean * static_cast<double>(marked->count)));
      }
    }
  }
}

}  // namespace
}  // namespace banyan::api::control_apart_test
