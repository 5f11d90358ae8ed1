// Are the packets of a message put together again, and are answers taken in order?
#include "banyan/engine/messages.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "banyan/base/rng.hpp"
#include "banyan/engine/answers.hpp"
#include "traffic/runs.hpp"

namespace banyan::engine::messages_test {
namespace {

core::Packet part(u32 source, u32 message, u32 flits, u32 whole) {
  core::Packet packet;
  packet.source = source;
  packet.destination = 1;
  packet.message = message;
  packet.flits = flits;
  packet.message_flits = whole;
  return packet;
}

TEST(PartialMessages, AMessageIsCompleteWithItsLastFlitInAnyOrder) {
  PartialMessages table;
  Tick first = 0;
  EXPECT_FALSE(table.add(part(3, 7, 2, 10), 100, first));
  EXPECT_FALSE(table.add(part(4, 7, 4, 10), 101, first));
  EXPECT_FALSE(table.add(part(3, 7, 4, 10), 105, first));
  EXPECT_TRUE(table.add(part(3, 7, 4, 10), 109, first));
  EXPECT_EQ(first, 100U);
  EXPECT_NE(table.digest(), 0U);
  EXPECT_FALSE(table.add(part(4, 7, 4, 10), 110, first));
  EXPECT_TRUE(table.add(part(4, 7, 2, 10), 111, first));
  EXPECT_EQ(first, 101U);
  EXPECT_EQ(table.digest(), 0U);
}

/// Against counting in a plain table, through growth and removals.
TEST(PartialMessages, ManyMessagesAtOnce) {
  constexpr u32 kMessages = 5000;
  PartialMessages table;
  std::vector<u32> left(kMessages, 4);
  const Random random(1, Stream{"test"}, 2, 3);
  u32 open = kMessages;
  for (u64 draw = 0; open != 0; ++draw) {
    const u32 m = below(random.at(0, draw)[0], kMessages);
    if (left[m] == 0) continue;
    Tick first = 0;
    --left[m];
    ASSERT_EQ(table.add(part(m % 17, m, 1, 4), draw, first), left[m] == 0);
    open -= left[m] == 0 ? 1U : 0U;
  }
  EXPECT_EQ(table.digest(), 0U);
}

core::Message at(Tick birth, u32 tag) {
  core::Message m;
  m.birth = birth;
  m.tag = tag;
  return m;
}

TEST(Answers, ComeInTheOrderOfBirthWhateverTheOrderOfPosting) {
  Answers answers(2);
  for (const auto& [birth, tag] : {std::pair{5U, 1U}, {3U, 2U}, {9U, 3U}, {5U, 0U}, {4U, 4U}}) {
    answers.insert(1, at(birth, tag));
  }
  core::Message m;
  std::vector<u32> tags;
  for (answers.pop(1, m); m.birth != kNever; answers.pop(1, m)) tags.push_back(m.tag);
  EXPECT_EQ(tags, (std::vector<u32>{2, 4, 0, 1, 3}));
  answers.pop(0, m);
  EXPECT_EQ(m.birth, kNever);
}

TEST(Messages, ALongMessageInAnEmptyNetworkStreamsItsPackets) {
  const auto run = [](const std::string& more) {
    return test::run_on_mesh(
        "{ name = 'permutation', pattern = 'bit_complement', load = 0.001, size = 40" + more + " }",
        "measure = 400000");
  };
  const api::Result whole = run("");
  const api::Result cut = run(", max_packet = 8");
  const double first = cut.at("message_latency_first").mean;
  const double last = cut.at("message_latency_last").mean;
  // Five packets of 8 flits follow each other without a gap: the last ends 32 cycles after the first, and when the one
  // packet of 40 flits would.
  EXPECT_NEAR(last - first, 32.0, 0.5);
  EXPECT_NEAR(last, whole.at("packet_latency").mean, 0.02 * last);
  EXPECT_NEAR(cut.at("offered_load").mean, whole.at("offered_load").mean, 1e-9);
}

TEST(Messages, CuttingDependsOnNothingButTheSeed) {
  const auto states = test::states_of(
      "{ name = 'uniform', load = 0.3, size = 9, size_distribution = 'geometric', max_packet = 4 }", "measure = 3000");
  for (const u64 state : states) EXPECT_EQ(state, states.front());
}

TEST(Messages, SeveralTrafficsHaveResultsOfTheirOwn) {
  const api::Result result = test::run_on_mesh(
      "{ name = 'uniform', load = 0.1 }, { name = 'permutation', load = 0.2, size = 4, include_self = true }",
      "measure = 20000");
  const double uniform = result.at("accepted_load.uniform").mean;
  const double permutation = result.at("accepted_load.permutation").mean;
  EXPECT_NEAR(uniform, 0.1, 0.01);
  EXPECT_NEAR(permutation, 0.2, 0.02);
  EXPECT_NEAR(uniform + permutation, result.at("accepted_load").mean, 1e-9);
  EXPECT_GT(result.at("packet_latency.permutation").mean, result.at("packet_latency.uniform").mean);
  EXPECT_TRUE(result.at("hops.uniform").count > 0);
}

}  // namespace
}  // namespace banyan::engine::messages_test
