// What does each admission cost, with its defaults, on a network where nothing burns? No more than is stated here and
// in docs/how-to/hold-packets-back.md.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "admission/admissions.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::calm_test {
namespace {

using namespace banyan;

/// Shares of the accepted load of `none`, at most.
struct Cost {
  double cioq = 0.0;
  double vc_router = 0.0;
};

const std::map<std::string, Cost>& stated() {
  static const std::map<std::string, Cost> all{
      {"dcqcn", {0.05, 0.05}},
      {"dctcp", {0.05, 0.05}},
      {"hpcc", {0.05, 0.05}},
      {"infiniband_cc", {0.05, 0.05}},
      {"none", {0.0, 0.0}},
      {"rate", {0.01, 0.01}},
      {"receiver_credits", {0.05, 0.05}},
      {"swift", {0.05, 0.05}},
      {"window", {0.05, 0.05}},
  };
  return all;
}

/// Terminals of a tree of full bisection. Packets of 64 bytes, or of 8 flits.
std::string network(bool cioq, bool permutation) {
  const std::string size = cioq ? "64" : "8";
  return std::string("topology = { name = 'bidirectional_min', hosts = 64, ports = 8 }\nswitch = ") +
         (cioq ? "{ name = 'cioq', mark = { low = 20, high = 60, probability = 0.1 } }"
               : "{ name = 'vc_router', vcs = 4, buffer = 16, mark = { low = 64, high = 200, probability = 0.1 } }") +
         "\nrouting = { name = 'nearest_common_ancestor', up = 'destination_digit' }\ntraffic = { name = " +
         (permutation ? "'permutation', pattern = 'bit_complement'" : "'uniform'") + ", load = 0.6, size = " + size +
         " }\n";
}

TEST(Calm, NoAdmissionCostsMoreThanItsStatedShare) {
  for (const bool cioq : {true, false}) {
    for (const bool permutation : {false, true}) {
      const std::string run =
          cioq ? "warmup = 40000, measure = 60000, extension = 1" : "warmup = 4000, measure = 10000, extension = 1";
      const double open = test::run(network(cioq, permutation), "", run).at("accepted_load").mean;
      ASSERT_NEAR(open, 0.6, 0.02) << cioq << permutation;
      for (const core::AdmissionRow* const row : core::admission_rows()) {
        const auto share = stated().find(row->info.name);
        ASSERT_NE(share, stated().end()) << row->info.name << " has no entry in stated()";
        const api::Result held = test::run(network(cioq, permutation), "'" + row->info.name + "'", run);
        const double cost = 1.0 - held.at("accepted_load").mean / open;
        const auto mean = [&](const char* name) {
          const stats::Metric* const metric = held.find(name);
          return metric == nullptr ? 0.0 : metric->mean;
        };
        const std::string line = fmt::format("{} {} {}: cost {:.3f}, control {:.3f}, latency {:.0f}",
                                             cioq ? "cioq" : "vc_router", permutation ? "permutation" : "uniform",
                                             row->info.name, cost, mean("control_share"), mean("packet_latency"));
        EXPECT_LE(cost, (cioq ? share->second.cioq : share->second.vc_router) + 0.005) << line;
      }
    }
  }
}

}  // namespace
}  // namespace banyan::calm_test
