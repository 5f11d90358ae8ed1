// Cycles with a length and flits with a size: do parameters take times and bytes, and does the result show them?
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

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
    if (metric.name == "delivered_flits") metric.mean = 65456;
  }
  const std::string text = to_table(result);
  EXPECT_NE(text.find(" 100 ns\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" 2.0946 MB\n"), std::string::npos) << text;
  // 0.25 x 256 bit in 2 ns.
  EXPECT_NE(text.find("32 Gbit/s (4 GB/s) per terminal"), std::string::npos) << text;
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

TEST(Units, ALoadIsARateWhereBothAreKnown) {
  const auto load_of = [](const std::string& load) {
    return experiment_of(kPhysical, {"traffic.load=" + load}).traffics.front().real("load");
  };
  EXPECT_DOUBLE_EQ(load_of("\"4 GB/s\""), 0.25);  // of 32 B in 2 ns
  EXPECT_DOUBLE_EQ(load_of("\"32 Gbps\""), 0.25);
  EXPECT_EQ(experiment_of(kPhysical, {"traffic.load=\"4 GB/s\""}).configuration_hash,
            experiment_of(kPhysical, {"traffic.load=0.25"}).configuration_hash);
  const std::string most = refusal(kPhysical, {"traffic.load=\"25 GB/s\""});
  EXPECT_NE(most.find("\"25 GB/s\" is 1.5625 flits/cycle where a cycle takes 2 ns (run.cycle_time, "),
            std::string::npos)
      << most;
  EXPECT_NE(most.find("give load up to 16 GB/s"), std::string::npos) << most;
  EXPECT_DOUBLE_EQ(load_of("\"16 GB/s\""), 1.0);
  const std::string unknown = refusal(kBare, {"traffic.load=\"4 GB/s\""});
  EXPECT_NE(unknown.find("with the length of a cycle (run.cycle_time) and the size of a flit (run.flit)"),
            std::string::npos)
      << unknown;
  EXPECT_DOUBLE_EQ(experiment_of(kBare, {"run.cycle_time=2", "run.flit=32", "traffic.load=\"4 GB/s\""})
                       .traffics.front()
                       .real("load"),
                   0.25);
}

/// Whoever mistypes a unit is told all that fit: where cycles and flits are worth something, and where they are not
/// yet.
TEST(Units, WhatDoesNotFitNamesAllThatDo) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases{
      {"traffic.load=\"4 Gb\"", {"flits/cycle", "Gbps", "GB/s", "bytes/ns"}},
      {"traffic.load=\"4 ns\"", {"flits/cycle", "Gbps", "GB/s"}},
      {"topology.latency=\"4 B\"", {"cycles", "ps, ns, us, ms, s"}},
      {"traffic.size=\"4 GB/s\"", {"flits", "bits, B, KB, KiB"}}};
  for (const auto& [given, named] : cases) {
    for (const std::string& text : {kPhysical, kBare}) {
      const std::string said = refusal(text, {given});
      const std::size_t remedy = said.find("remedy: ");
      ASSERT_NE(remedy, std::string::npos) << given << ": " << said;
      for (const std::string& unit : named)
        EXPECT_NE(said.find(unit, remedy), std::string::npos) << unit << "\n" << said;
    }
  }
  EXPECT_NE(refusal(kPhysical, {"traffic.load=\"4 Gbs\""}).find("did you mean \"Gbps\"?"), std::string::npos);
  EXPECT_EQ(refusal(kPhysical, {"traffic.load=\"4 ns\""}).find("did you mean"), std::string::npos);
  EXPECT_EQ(refusal(kPhysical, {"topology.latency=\"4 cycle\""}), "it was taken");
}

/// A time that is no whole number of cycles says what a cycle is, and where that stands.
TEST(Units, WhatIsNoWholeNumberNamesTheLengthOfACycle) {
  const std::string text = refusal(kPhysical, {"topology.latency=\"5 ns\""});
  EXPECT_NE(text.find("topology.latency: \"5 ns\" is 2.5 cycles where a cycle takes 2 ns (run.cycle_time, "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(":5:27)"), std::string::npos) << text;
  EXPECT_NE(text.find("give latency as 6 ns, or another multiple of 2 ns"), std::string::npos) << text;
  EXPECT_EQ(refusal(kPhysical, {"topology.latency=\"6 ns\""}), "it was taken");
  const std::string flits = refusal(kPhysical, {"traffic.size=\"100 B\""});
  EXPECT_NE(flits.find("\"100 B\" is 3.125 flits where a flit has 32 B (run.flit, "), std::string::npos) << flits;
  EXPECT_EQ(refusal(kPhysical, {"run.cycle_time=\"0.1 ns\"", "topology.latency=\"0.3 ns\""}), "it was taken");
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
  EXPECT_NE(refusal(cioq, {"run.cycle_time=\"2 ns\""}).find("the switch cioq says itself what that is, 1 ns"),
            std::string::npos)
      << refusal(cioq, {"run.cycle_time=\"2 ns\""});
  EXPECT_NE(refusal(cioq, {"run.flit=\"16 B\""}).find("says itself what that is, 1 bytes"), std::string::npos);
  EXPECT_EQ(refusal(cioq, {"run.flit=\"1 B\"", "run.cycle_time=\"1 ns\""}), "it was taken");
  // So does ideal of a flit: its time per byte is not one per flit of another size.
  const std::string ideal =
      "topology = { name = \"mesh\", size = [4, 4] }\nswitch = { name = \"ideal\", latency = 100, per_byte = 2 }\n"
      "routing = \"dimension_order\"\ntraffic = { name = \"uniform\", load = 0.01, size = \"64 B\" }\n"
      "run = { duration = 20000, cycle_time = \"1 ns\" }\n";
  EXPECT_NE(refusal(ideal, {"run.flit=\"16 B\""}).find("says itself what that is, 1 bytes"), std::string::npos);
  const Result bytes = run_of(ideal);
  EXPECT_EQ(bytes.at("packet_latency").mean, 100.0 + 2.0 * 63);
  EXPECT_EQ(bytes.at("flit_size").mean, 1.0);
}

}  // namespace
}  // namespace banyan::api::units_test
