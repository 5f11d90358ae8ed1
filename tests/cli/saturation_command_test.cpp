// Does banyan saturation bracket the knee, keep what it ran, and continue after an interruption?
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace banyan::cli::saturation_command_test {
namespace {

using nlohmann::json;

/// Boxes of one place saturate at about half load.
const std::string kTight =
    "topology = { name = \"multistage_cube\", terminals = 16, radix = 2 }\n"
    "switch   = { name = \"output_queued\", buffer = 1 }\n"
    "routing  = \"destination_tag\"\n"
    "traffic  = { name = \"uniform\", load = 0.2 }\n"
    "[run]\n"
    "warmup  = 500\n"
    "measure = 4000\n";

class SaturationCommand : public testing::Test {
 protected:
  void SetUp() override {
    fresh_scratch();
    write_text("tight.toml", kTight);
  }

  static json knee(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"saturation", "tight.toml", "--json", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Said said = banyan(arguments);
    EXPECT_EQ(said.status, 0) << said.err;
    return json::parse(said.out, nullptr, false);
  }

  static std::string verdict_at(double load) {
    const Said said = banyan({"run", "tight.toml", "--json", "--quiet", "load=" + std::to_string(load)});
    return json::parse(said.out).value("verdict", "");
  }
};

TEST_F(SaturationCommand, ItsPageHasTheBracket) {
  const Said said = banyan({"saturation", "tight.toml", "--width", "0.1", "--out", "out"});
  const std::size_t at = said.out.find("saturates between ");
  ASSERT_NE(at, std::string::npos) << said.out;
  const std::string sentence = said.out.substr(at, said.out.find('\n', at) - at);
  ASSERT_EQ(banyan({"report", "out"}).status, 0);
  const std::string page = read_text(scratch() / "out/report.html");
  EXPECT_TRUE(contains(page, "the network " + sentence + ".")) << sentence;
  EXPECT_TRUE(contains(page, "saturation load"));
}

TEST_F(SaturationCommand, ItsPageSaysWhichLoadTheBracketIsOf) {
  const std::string hot = "traffic = [{ name = \"uniform\", load = 0.2 }, { name = \"hot_spot\", load = 0.01 }]\n";
  write_text("tight.toml", kTight.substr(0, kTight.find("traffic")) + hot + kTight.substr(kTight.find("[run]")));
  const Said said = banyan({"saturation", "tight.toml", "--width", "0.1", "--out", "out", "--key", "uniform.load"});
  EXPECT_TRUE(contains(said.out, "flits per cycle and terminal of uniform.load, beside 0.01 of other")) << said.out;
  ASSERT_EQ(banyan({"report", "out"}).status, 0);
  const std::string page = read_text(scratch() / "out/report.html");
  EXPECT_TRUE(contains(page, "flits per cycle and terminal of uniform.load."));
}

TEST_F(SaturationCommand, BracketsTheKnee) {
  const json wide = knee({"--width", "0.1"});
  const double low = wide["low"];
  const double high = wide["high"];
  EXPECT_LE(high - low, 0.1);
  EXPECT_GT(low, 0.0);
  EXPECT_LT(high, 1.0);
  EXPECT_EQ(verdict_at(low - 0.05), "steady");
  EXPECT_EQ(verdict_at(high + 0.05), "saturated");
  const json narrow = knee({"--width", "0.02"});
  EXPECT_LE(narrow["high"].get<double>() - narrow["low"].get<double>(), 0.02);
  EXPECT_GE(narrow["low"], low);
  EXPECT_LE(narrow["high"], high);
}

TEST_F(SaturationCommand, WhatIsZippedWithTheLoadGoesWithIt) {
  const json plain = knee({"--width", "0.1"});
  write_text("tight.toml", kTight +
                               "[sweep]\n\"traffic.load\" = [0.1, 0.2, 0.7]\n\"run.drain\" = [20000, 20000, 30000]\n"
                               "zip = [[\"traffic.load\", \"run.drain\"]]\n");
  EXPECT_EQ(knee({"--width", "0.1"}), plain);
  // Of independent axes each value is a network of its own.
  write_text("tight.toml", kTight + "[sweep]\n\"traffic.load\" = [0.1, 0.2]\n\"run.drain\" = [20000, 30000]\n");
  expect_refusal(banyan({"saturation", "tight.toml"}), "the file sweeps run.drain: 2 networks, not one",
                 "run.drain=VALUE");
}

TEST_F(SaturationCommand, ContinuesWithWhatItHas) {
  const Said first = banyan({"saturation", "tight.toml", "--width", "0.1", "--out", "out"});
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_TRUE(contains(first.out, "saturates between ")) << first.out;
  EXPECT_TRUE(contains(first.out, "flits per cycle and terminal")) << first.out;
  const Said again = banyan({"saturation", "tight.toml", "--width", "0.1", "--out", "out"});
  EXPECT_EQ(again.out, first.out);
  EXPECT_TRUE(contains(again.err, "runs were in out already")) << again.err;
  const Said table = banyan({"export", "out", "--csv"});
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_TRUE(table.out.starts_with("load,")) << table.out;
}

TEST_F(SaturationCommand, ControlCSaysHowToContinue) {
  const Said said = interrupted({"saturation", "tight.toml", "measure=1e12", "--out", "out", "--quiet"});
  EXPECT_EQ(said.status, 130);
  EXPECT_EQ(said.out, "");
  EXPECT_TRUE(contains(said.err, "interrupted; finished runs are kept in out")) << said.err;
  EXPECT_TRUE(contains(said.err, "continue with: banyan saturation tight.toml measure=1e12 --width=0.01 --out out"))
      << said.err;
}

TEST_F(SaturationCommand, WhatHasNoKneeIsRefused) {
  expect_refusal(banyan({"saturation", "tight.toml", "--width", "0"}), "--width", "");
  expect_refusal(banyan({"saturation", "tight.toml", "--width", "wide"}), "--width", "");
  expect_refusal(banyan({"saturation", "tight.toml", "--key", "traffic.uniform.laod"}), "laod", "\"load\"");
  expect_refusal(banyan({"saturation", "tight.toml", "--key", "switch.buffer"}),
                 "switch.buffer is no load of a traffic", "traffic.uniform.load");
  expect_refusal(banyan({"saturation", "nothing.toml"}), "nothing.toml", "");
  write_text("axes.toml", kTight + "[sweep]\nbuffer = [1, 2]\n");
  expect_refusal(banyan({"saturation", "axes.toml"}), "2 networks, not one", "buffer=VALUE");
}

TEST_F(SaturationCommand, ADeadlockIsNamedOnceAndNotCalledSaturation) {
  write_text("deadlock.toml",
             "topology = { name = \"torus\", size = [8] }\n"
             "switch   = { name = \"vc_router\", vcs = 1, buffer = 2 }\n"
             "routing  = { name = \"dimension_order\", datelines = false }\n"
             "traffic  = { name = \"permutation\", pattern = \"tornado\", size = 4 }\n"
             "[run]\nwarmup = 200\nmeasure = 2000\nwatchdog = 1000\n");
  const Said said = banyan({"saturation", "deadlock.toml", "--width", "0.2", "--quiet"});
  EXPECT_EQ(said.status, 0) << said.err;
  const std::string message = "deadlocks, and is not shown to saturate, between";
  ASSERT_TRUE(contains(said.out, message)) << said.out;
  EXPECT_TRUE(contains(said.out, "wait on each other in a cycle")) << said.out;
  EXPECT_EQ(said.out.find("saturates between"), std::string::npos);
  const Said machine = banyan({"saturation", "deadlock.toml", "--width", "0.2", "--quiet", "--json"});
  EXPECT_EQ(json::parse(machine.out)["deadlocks"], true);
  EXPECT_TRUE(contains(machine.err, "deadlocks at a load of"));
}

}  // namespace
}  // namespace banyan::cli::saturation_command_test
