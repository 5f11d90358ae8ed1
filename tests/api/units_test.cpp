// Cycles with a length and flits with a size: do parameters take times and bytes, and does the result show them?
#include <gtest/gtest.h>

#include <string>

#include "api/runs.hpp"
#include "banyan/api/result.hpp"
#include "banyan/base/error.hpp"

namespace banyan::api::units_test {
namespace {

const std::string kPhysical =
    "topology = { name = \"mesh\", size = [4, 4], latency = [\"6 ns\", 2] }\n"
    "switch   = { name = \"vc_router\", vcs = 2, buffer = \"256 B\" }\n"
    "routing  = \"dimension_order\"\n"
    "traffic  = { name = \"uniform\", load = 0.2, size = \"128 B\" }\n"
    "run      = { cycle_time = \"2 ns\", flit = \"32 B\", warmup = \"1 us\", measure = \"8 us\" }\n";
const std::string kBare =
    "topology = { name = \"mesh\", size = [4, 4], latency = [3, 2] }\n"
    "switch   = { name = \"vc_router\", vcs = 2, buffer = 8 }\n"
    "routing  = \"dimension_order\"\n"
    "traffic  = { name = \"uniform\", load = 0.2, size = 4 }\n"
    "run      = { warmup = 500, measure = 4000 }\n";

TEST(Units, AreTheSameRun) {
  const Result physical = run_of(kPhysical);
  const Result bare = run_of(kBare);
  EXPECT_EQ(physical.state_hash, bare.state_hash);
  EXPECT_EQ(physical.at("cycle_length").mean, 2.0);
  EXPECT_EQ(physical.at("flit_size").mean, 32.0);
  EXPECT_EQ(bare.find("cycle_length"), nullptr);
}

/// Where a flit is a byte by the switch model, numbers of flits are bytes.
TEST(Units, OfASwitchWhoseFlitIsAByte) {
  const auto size_of = [](const std::string& size) {
    return experiment_of(
               "topology = { name = \"bidirectional_min\", hosts = 16 }\nswitch = \"cioq\"\n"
               "routing = \"nearest_common_ancestor\"\ntraffic = { name = \"incast\", amount = " +
               size + " }\n")
        .traffics.front()
        .integer("amount");
  };
  EXPECT_EQ(size_of("\"64 KiB\""), 65536);
  EXPECT_EQ(size_of("65536"), 65536);
}

TEST(Units, AreShown) {
  Result result = run_of(kPhysical);
  for (stats::Metric& metric : result.metrics) {
    if (metric.name == "packet_latency") metric.mean = 50.0;
    if (metric.name == "accepted_load") metric.mean = 0.25;
  }
  const std::string text = to_table(result);
  EXPECT_NE(text.find(" 100 ns\n"), std::string::npos) << text;
  // 0.25 x 256 bit in 2 ns.
  EXPECT_NE(text.find("32 Gbit/s per terminal"), std::string::npos) << text;
  EXPECT_EQ(to_table(run_of(kBare)).find("in other units"), std::string::npos);
}

TEST(Units, LeaveTheIdentityOfExperimentsWithout) {
  EXPECT_EQ(experiment_of(kBare).configuration.find("cycle_time"), std::string::npos);
  EXPECT_NE(experiment_of(kPhysical).configuration.find("cycle_time"), std::string::npos);
}

std::string refusal(const std::string& text, const Overrides& overrides) {
  try {
    static_cast<void>(experiment_of(text, overrides));
  } catch (const ConfigError& error) { return error.what(); }
  return "it was taken";
}

TEST(Units, AreRefusedWhereTheyCannotBe) {
  EXPECT_NE(refusal(kBare, {"traffic.size=\"128 B\""}).find("flits"), std::string::npos)
      << refusal(kBare, {"traffic.size=\"128 B\""});
  EXPECT_NE(refusal(kPhysical, {"traffic.size=\"100 B\""}).find("size"), std::string::npos)
      << refusal(kPhysical, {"traffic.size=\"100 B\""});
  EXPECT_NE(refusal(kPhysical, {"run.warmup=\"3 kg\""}).find("warmup"), std::string::npos);
  // cioq knows how long a cycle is.
  const std::string cioq =
      "topology = { name = \"bidirectional_min\", hosts = 16 }\nswitch = \"cioq\"\nrouting = { name = "
      "\"nearest_common_ancestor\", up = \"destination_digit\" }\ntraffic = { name = \"uniform\", load = 0.1, size = "
      "64 "
      "}\n";
  EXPECT_NE(refusal(cioq, {"run.cycle_time=\"2 ns\""}).find("says itself"), std::string::npos)
      << refusal(cioq, {"run.cycle_time=\"2 ns\""});
}

}  // namespace
}  // namespace banyan::api::units_test
