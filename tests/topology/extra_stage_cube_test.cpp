// Is it the network of Figure 2, with its stages bypassed and its faults where they belong?
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "topology/digits.hpp"
#include "topology/networks.hpp"

namespace banyan::extra_stage_cube_test {
namespace {

using namespace test;
using Texts = std::vector<std::string>;
using Stages = std::vector<u32>;

const Given kInputBypassed{{"input_stage", std::string("bypassed")}};
const Given kOutputBypassed{{"output_stage", std::string("bypassed")}};

Given with_faults(const Texts& faults, bool reconfigure = true) {
  return {{"faults", faults}, {"reconfigure", reconfigure}};
}

std::set<u32> failed_channels(const core::Graph& graph) {
  std::set<u32> failed;
  for (u32 c = 0; c < graph.channels().size(); ++c) {
    if (graph.channel(c).failed) failed.insert(c);
  }
  return failed;
}

TEST(ExtraStageCube, StageIJoinsLinksThatDifferInDigitIAndTheExtraStageIsLikeStageZero) {
  for (const auto& [terminals, radix] : all_sizes()) {
    const TopologyPointer topology = extra_stage_cube(terminals, radix);
    const core::Graph& graph = topology->graph();
    const core::Multistage& stages = *topology->multistage();
    ASSERT_EQ(graph.levels(), stages.digits + 1);
    const std::vector<u32> number = link_numbers(graph);
    for (u32 s = 0; s < graph.switches(); ++s) {
      const u32 stage = stages.digits - graph.level(s);
      EXPECT_EQ(stages.stage_label[graph.level(s)], stage);
      EXPECT_EQ(stages.digit_of_stage[graph.level(s)], stage % stages.digits);
      const u32 first = number[graph.channel_into(s, 0)];
      for (u32 port = 0; port < radix; ++port) {
        ASSERT_EQ(number[graph.channel_into(s, port)], with_digit(first, radix, stage % stages.digits, port));
      }
    }
    for (u32 t = 0; t < terminals; ++t) EXPECT_EQ(number[graph.ejection(t)], t);
  }
}

TEST(ExtraStageCube, WithABypassedInputStageItIsTheMultistageCube) {
  for (const auto& [terminals, radix] : all_sizes()) {
    const TopologyPointer bypassed = extra_stage_cube(terminals, radix, kInputBypassed);
    const TopologyPointer plain = cube(terminals, radix);
    EXPECT_FALSE(bypassed->multistage()->extra_stage);
    EXPECT_EQ(bypassed->multistage()->digit_of_stage, plain->multistage()->digit_of_stage);
    const auto same = [](const core::Channel& a, const core::Channel& b) { return a.from == b.from && a.to == b.to; };
    const auto& left = bypassed->graph().channels();
    const auto& right = plain->graph().channels();
    EXPECT_TRUE(std::equal(left.begin(), left.end(), right.begin(), right.end(), same));
  }
}

TEST(ExtraStageCube, ABypassedStageIsNotInThePath) {
  EXPECT_EQ(extra_stage_cube(8, 2)->multistage()->stage_label, (Stages{3, 2, 1, 0}));
  EXPECT_EQ(extra_stage_cube(8, 2, kInputBypassed)->multistage()->stage_label, (Stages{2, 1, 0}));
  EXPECT_EQ(extra_stage_cube(8, 2, kOutputBypassed)->multistage()->stage_label, (Stages{3, 2, 1}));
  EXPECT_EQ(extra_stage_cube(8, 2, kOutputBypassed)->multistage()->digit_of_stage, (Stages{0, 2, 1}));
  EXPECT_FALSE(extra_stage_cube(8, 2, kOutputBypassed)->multistage()->extra_stage);
  EXPECT_TRUE(extra_stage_cube(8, 2)->multistage()->extra_stage);
}

TEST(ExtraStageCube, BypassingBothOuterStagesIsRefused) {
  Given both = kInputBypassed;
  both.insert(both.end(), kOutputBypassed.begin(), kOutputBypassed.end());
  EXPECT_EQ(config_error([&] { extra_stage_cube(8, 2, both); }),
            "with both outer stages bypassed no stage sets digit 0 of the destination | enable output_stage or "
            "input_stage");
}

TEST(ExtraStageCube, BoxesAreLabelledWithThePapersStageNumbers) {
  EXPECT_EQ(extra_stage_cube(8, 2)->label(0), "stage 3 box 0");
  EXPECT_EQ(extra_stage_cube(8, 2)->label(15), "stage 0 box 3");
  EXPECT_EQ(extra_stage_cube(8, 2, kInputBypassed)->label(0), "stage 2 box 0");
}

TEST(ExtraStageCube, AFailedBoxLosesAllItsChannels) {
  const TopologyPointer topology = extra_stage_cube(16, 4, with_faults({"box 1 2"}, false));
  const core::Graph& graph = topology->graph();
  const u32 box = 4 + 2;
  ASSERT_EQ(topology->label(box), "stage 1 box 2");
  std::set<u32> expected;
  for (u32 port = 0; port < 4; ++port) {
    expected.insert(graph.channel_into(box, port));
    expected.insert(graph.channel_out_of(box, port));
  }
  EXPECT_EQ(failed_channels(graph), expected);
}

TEST(ExtraStageCube, AFailedLinkIsTheOneOfItsNumberBehindItsStage) {
  for (u32 stage = 1; stage <= 3; ++stage) {
    for (u32 link = 0; link < 8; ++link) {
      const std::string fault = "link " + std::to_string(stage) + " " + std::to_string(link);
      const TopologyPointer topology = extra_stage_cube(8, 2, with_faults({fault}, false));
      const core::Graph& graph = topology->graph();
      const std::set<u32> failed = failed_channels(graph);
      ASSERT_EQ(failed.size(), 1U);
      EXPECT_EQ(link_numbers(graph)[*failed.begin()], link);
      EXPECT_EQ(topology->multistage()->stage_label[graph.level(graph.channel(*failed.begin()).from.node)], stage);
    }
  }
}

TEST(ExtraStageCube, OuterLinksAreInUseWhetherTheirStageIsBypassedOrNot) {
  Given input = with_faults({"link 3 5"}, false);
  input.insert(input.end(), kInputBypassed.begin(), kInputBypassed.end());
  const TopologyPointer behind_multiplexer = extra_stage_cube(8, 2, input);
  EXPECT_EQ(failed_channels(behind_multiplexer->graph()), std::set<u32>{behind_multiplexer->graph().injection(5)});

  Given output = with_faults({"link 1 5"}, false);
  output.insert(output.end(), kOutputBypassed.begin(), kOutputBypassed.end());
  const TopologyPointer before_demultiplexer = extra_stage_cube(8, 2, output);
  EXPECT_EQ(failed_channels(before_demultiplexer->graph()), std::set<u32>{before_demultiplexer->graph().ejection(5)});
}

TEST(ExtraStageCube, OfTwoDualLinksTheOneInUseFails) {
  const auto failed = [](const std::string& fault, const Given& setting) {
    Given given = with_faults({fault}, false);
    given.insert(given.end(), setting.begin(), setting.end());
    return failed_channels(extra_stage_cube(8, 2, given)->graph());
  };
  const TopologyPointer both = extra_stage_cube(8, 2);
  EXPECT_EQ(failed("input_link 3", {}), std::set<u32>{both->graph().injection(3)});
  EXPECT_EQ(failed("input_bypass 3", {}), std::set<u32>{});
  EXPECT_EQ(failed("input_link 3", kInputBypassed), std::set<u32>{});
  EXPECT_EQ(failed("input_bypass 3", kInputBypassed).size(), 1U);
  EXPECT_EQ(failed("output_link 3", {}), std::set<u32>{both->graph().ejection(3)});
  EXPECT_EQ(failed("output_bypass 3", {}), std::set<u32>{});
  EXPECT_EQ(failed("output_link 3", kOutputBypassed), std::set<u32>{});
  EXPECT_EQ(failed("output_bypass 3", kOutputBypassed).size(), 1U);
}

TEST(ExtraStageCube, OuterStagesAreEnabledAndDisabledAsAdamsAndSiegelDo) {
  const Stages without_input{2, 1, 0};
  const Stages without_output{3, 2, 1};
  const Stages all{3, 2, 1, 0};
  const auto stages = [](const Texts& faults, const Given& setting = {}) {
    Given given = with_faults(faults);
    given.insert(given.end(), setting.begin(), setting.end());
    return extra_stage_cube(8, 2, given)->multistage()->stage_label;
  };
  EXPECT_EQ(stages({}), all);
  EXPECT_EQ(stages({}, kInputBypassed), without_input);
  EXPECT_EQ(stages({"box 3 1"}), without_input);
  EXPECT_EQ(stages({"input_link 6"}), without_input);
  EXPECT_EQ(stages({"input_bypass 6"}, kInputBypassed), all);
  EXPECT_EQ(stages({"box 0 1"}), without_output);
  EXPECT_EQ(stages({"box 0 1"}, kInputBypassed), without_output);
  EXPECT_EQ(stages({"output_link 6"}), without_output);
  EXPECT_EQ(stages({"output_bypass 6"}, kOutputBypassed), without_input);
  EXPECT_EQ(stages({"box 2 1"}, kInputBypassed), all);
  EXPECT_EQ(stages({"link 2 1"}, kInputBypassed), all);
  EXPECT_EQ(stages({"link 3 1"}, kInputBypassed), all);
  EXPECT_EQ(stages({"link 1 1"}, kOutputBypassed), all);
  EXPECT_EQ(stages({"box 3 1"}, kInputBypassed), without_input);
}

TEST(ExtraStageCube, WithoutReconfigurationTheStagesStayAsAskedFor) {
  const TopologyPointer topology = extra_stage_cube(8, 2, with_faults({"box 3 1"}, false));
  EXPECT_EQ(topology->multistage()->stage_label, (Stages{3, 2, 1, 0}));
  EXPECT_EQ(failed_channels(topology->graph()).size(), 4U);
}

TEST(ExtraStageCube, FaultsThatNameNothingAreRefusedWithARemedy) {
  const auto error = [](const std::string& fault) {
    return config_error([&] { extra_stage_cube(8, 2, with_faults({fault})); });
  };
  EXPECT_EQ(error("bix 1 1"),
            "the fault \"bix 1 1\" names no part of the network | did you mean \"box\"? parts are box, link, "
            "input_link, input_bypass, output_link and output_bypass");
  EXPECT_EQ(error("box 1"),
            "the fault \"box 1\" does not read as a part and its numbers | write it as \"box STAGE BOX\"");
  EXPECT_EQ(error("link 1 x"),
            "the fault \"link 1 x\" does not read as a part and its numbers | write it as \"link STAGE LINK\"");
  EXPECT_EQ(error("input_link 1 2"),
            "the fault \"input_link 1 2\" does not read as a part and its numbers | write it as \"input_link LINK\"");
  EXPECT_EQ(error("box 4 0"), "the fault \"box 4 0\" names a stage outside the network | use a stage from 0 to 3");
  EXPECT_EQ(error("link 0 0"), "the fault \"link 0 0\" names a stage outside the network | use a stage from 1 to 3");
  EXPECT_EQ(error("box 0 4"), "the fault \"box 0 4\" names a part outside the network | use a box from 0 to 3");
  EXPECT_EQ(error("output_link 8"),
            "the fault \"output_link 8\" names a part outside the network | use a link from 0 to 7");
  EXPECT_NE(error(""), "");
  EXPECT_NE(error("box -1 0"), "");
  EXPECT_EQ(error("  box   3  0 "), "");
}

TEST(ExtraStageCube, FaultsOfVeryLargeNetworksAreRefused) {
  EXPECT_EQ(config_error([] { extra_stage_cube(16384, 4, with_faults({"box 1 0"})); }), "");
  EXPECT_EQ(config_error([] { extra_stage_cube(65536, 4, with_faults({"box 1 0"})); }),
            "faults are traced for up to 16384 terminals only | use fewer terminals or no faults");
}

TEST(ExtraStageCube, TerminalsThatAreNoPowerOfTheRadixAreRefusedWithThePowersAround) {
  EXPECT_EQ(config_error([] { extra_stage_cube(100, 4); }),
            "100 terminals are no power of the radix 4 | use 64 or 256");
}

}  // namespace
}  // namespace banyan::extra_stage_cube_test
