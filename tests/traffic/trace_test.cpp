// Are traces read as they are written, and do messages wait for what they must?
#include <fstream>

#include "banyan/base/error.hpp"
#include "banyan/traffic/parts/trace_file.hpp"
#include "build_info.hpp"
#include "component_rows.hpp"
#include "traffic/posted.hpp"
#include "traffic/runs.hpp"
#include "traffic/samples.hpp"

namespace banyan::traffic::trace_test {
namespace {

using test::packet_of;
using test::Posted;

const std::string kSmall = std::string(BANYAN_SOURCE_DIR) + "/tests/traffic/small.trace";

std::unique_ptr<core::Traffic> small(test::Settings more = {}) {
  more.emplace_back("file", kSmall);
  return test::make_traffic(traffic::trace::row_trace, more, 16);
}

/// The message of the error that a text causes.
std::string refusal(const std::string& text) {
  try {
    static_cast<void>(read_trace(text, "t.trace"));
  } catch (const ConfigError& error) { return error.what(); }
  return "accepted";
}

TEST(Trace, WhatIsWrittenIsReadAgain) {
  const std::vector<TraceMessage> messages{
      {7, 0, 1, 2, 5, {}, 0}, {3, 12, 2, 1, 1, {{7, 0}}, 0}, {9, 1, 2, 3, 4, {{7, 20}, {3, 1}}, 0}};
  const std::vector<TraceMessage> again = read_trace(write_trace(messages), "again");
  ASSERT_EQ(again.size(), messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    EXPECT_EQ(again[i].id, messages[i].id);
    EXPECT_EQ(again[i].cycle, messages[i].cycle);
    EXPECT_EQ(again[i].source, messages[i].source);
    EXPECT_EQ(again[i].destination, messages[i].destination);
    EXPECT_EQ(again[i].flits, messages[i].flits);
    ASSERT_EQ(again[i].after.size(), messages[i].after.size());
    for (std::size_t k = 0; k < messages[i].after.size(); ++k) {
      EXPECT_EQ(again[i].after[k].id, messages[i].after[k].id);
      EXPECT_EQ(again[i].after[k].delay, messages[i].after[k].delay);
    }
  }
  EXPECT_EQ(write_trace(again), write_trace(messages));
}

TEST(Trace, CommentsAndBlanksMeanNothing) {
  const auto messages = read_trace("\n# nothing\n  4 10 1 2 3   # a message\r\n\n", "t");
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].id, 4U);
  EXPECT_EQ(messages[0].line, 3U);
}

TEST(Trace, ErrorsNameLineAndField) {
  EXPECT_NE(refusal("0 0 1 2 3\n1 x 1 2 3\n").find("t.trace:2"), std::string::npos);
  EXPECT_NE(refusal("0 0 1 2 3\n1 x 1 2 3\n").find("the cycle is \"x\""), std::string::npos);
  EXPECT_NE(refusal("0 0 1 2\n").find("4 fields"), std::string::npos);
  EXPECT_NE(refusal("0 0 1 2 0\n").find("number of flits"), std::string::npos);
  EXPECT_NE(refusal("0 0 1 2 3 behind 4\n").find("\"behind\""), std::string::npos);
  EXPECT_NE(refusal("0 0 1 2 3 after\n").find("\"after\" follows"), std::string::npos);
  EXPECT_NE(refusal("0 0 1 2 3\n0 0 1 2 3\n").find("the id 0 is there twice"), std::string::npos);
  EXPECT_NE(refusal("0 0 1 2 3 after 8\n").find("message 8, which is not there"), std::string::npos);
  EXPECT_NE(refusal("0 0 1 2 3\n1 0 5 6 1 after 0\n").find("waits at terminal 5"), std::string::npos);
  EXPECT_NE(refusal("0 0 1 2 3 after 1\n1 0 2 1 1 after 0\n").find("wait for it"), std::string::npos);
}

TEST(Trace, MessagesThatWaitForNothingComeInTheOrderOfTheirCycle) {
  const auto traffic = small();
  Posted posted;
  for (u32 t = 0; t < 16; ++t) traffic->start(t, posted);
  ASSERT_EQ(posted.messages.size(), 2U);
  EXPECT_EQ(posted.messages[0].tag, 0U);
  traffic->departed(packet_of(posted.messages[0], 0), 0, 3, posted);
  ASSERT_EQ(posted.messages.size(), 3U);
  EXPECT_EQ(posted.messages[2].tag, 1U);
  EXPECT_EQ(posted.messages[2].birth, 4U);
}

TEST(Trace, AnAnswerWaitsForTheArrivalAndItsDelay) {
  const auto traffic = small();
  core::Packet packet;
  packet.message = 0;
  Posted posted;
  traffic->delivered(packet, 15, 30, posted);
  ASSERT_EQ(posted.messages.size(), 1U);
  EXPECT_EQ(posted.messages[0].tag, 2U);
  EXPECT_EQ(posted.messages[0].birth, 41U);
}

TEST(Trace, AMessageWaitsForAllThatItNames) {
  const auto traffic = small();
  Posted posted;
  core::Packet packet;
  packet.message = 1;
  traffic->delivered(packet, 5, 30, posted);  // message 3 waits for it alone, 4 for 3 too
  ASSERT_EQ(posted.messages.size(), 1U);
  EXPECT_EQ(posted.messages[0].tag, 3U);
  packet.message = 3;
  traffic->departed(packet, 5, 50, posted);
  ASSERT_EQ(posted.messages.size(), 2U);
  EXPECT_EQ(posted.messages[1].tag, 4U);
  EXPECT_EQ(posted.messages[1].birth, 51U);
}

TEST(Trace, TimesScale) {
  const auto traffic = small({{"time_scale", 0.5}});
  Posted posted;
  traffic->start(9, posted);
  ASSERT_EQ(posted.messages.size(), 1U);
  EXPECT_EQ(posted.messages[0].birth, 10U);
}

TEST(Trace, ARunDeliversEveryMessage) {
  const std::string traffic = "{ name = 'trace', file = '" + kSmall + "' }";
  EXPECT_EQ(test::run_on_mesh(traffic, "sessions = 1").at("delivered_packets").mean, 6);
  const auto states = test::states_of(traffic, "sessions = 1");
  for (const u64 state : states) EXPECT_EQ(state, states.front());
}

TEST(Trace, ATraceThatDoesNotFitTheNetworkIsRefused) {
  EXPECT_THROW(test::make_traffic(traffic::trace::row_trace, {{"file", kSmall}}, 8), ConfigError);
  EXPECT_THROW(test::make_traffic(traffic::trace::row_trace, {{"file", std::string("nowhere.trace")}}, 16),
               ConfigError);
}

TEST(Trace, TerminalsAreLookedAtBeforeWhatWaitsForThem) {
  try {
    static_cast<void>(read_trace("0 0 0 16 1\n1 0 15 2 1 after 0\n", "t.trace", 16));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.where().line, 1U);
    EXPECT_EQ(error.cause(), "there is no terminal 16");
  }
}

/// The longest time and the longest scale are both allowed, and not together.
TEST(Trace, TimesThatCannotBeCountedAreRefused) {
  const std::string file = ::testing::TempDir() + "/far.trace";
  const auto cause = [&](const std::string& text, double scale) -> std::string {
    std::ofstream(file) << "# banyan trace 1\n" << text;
    try {
      static_cast<void>(test::make_traffic(traffic::trace::row_trace, {{"file", file}, {"time_scale", scale}}, 16));
    } catch (const ConfigError& error) { return error.cause(); }
    return "";
  };
  const std::string far = "0 4611686018427387904 0 3 1\n";
  EXPECT_EQ(cause(far, 1.0), "");
  EXPECT_EQ(cause(far, 2.0), "4611686018427387904 cycles, 2 times as long, are more than can be counted");
  const std::string late = "0 0 0 3 1\n1 0 3 0 1 after 0+20000000000\n";
  EXPECT_EQ(cause(late, 1e8), "");
  EXPECT_EQ(cause(late, 1e9), "20000000000 cycles, 1e+09 times as long, are more than can be counted");
}

}  // namespace
}  // namespace banyan::traffic::trace_test
