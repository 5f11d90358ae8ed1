// Do collective operations send what they must, wait for what they must, and end?
#include "banyan/base/error.hpp"
#include "component_rows.hpp"
#include "traffic/posted.hpp"
#include "traffic/runs.hpp"
#include "traffic/samples.hpp"

namespace banyan::traffic::collective_test {
namespace {

using test::Posted;
using test::run_on_mesh;

std::string operation(const std::string& name, const std::string& more = "size = 64") {
  return "{ name = 'collective', operation = '" + name + "', " + more + " }";
}

std::unique_ptr<core::Traffic> make(const char* name, test::Settings more, u32 terminals = 8) {
  more.emplace_back("operation", std::string(name));
  return test::make_traffic(traffic::collective::row_collective, more, terminals);
}

void arrive(core::Traffic& traffic, u32 from, u32 to, u32 message, Tick now, Posted& out) {
  core::Packet packet;
  packet.source = from;
  packet.destination = to;
  packet.message = message;
  traffic.delivered(packet, to, now, out);
}

TEST(Collective, EveryOperationDeliversAllItsMessages) {
  const auto delivered = [](const char* name) {
    return run_on_mesh(operation(name), "sessions = 1").at("delivered_packets").mean;
  };
  EXPECT_EQ(delivered("all_to_all"), 16 * 15);
  EXPECT_EQ(delivered("ring_all_reduce"), 16 * 30);
  EXPECT_EQ(delivered("recursive_doubling_all_reduce"), 16 * 4);
}

TEST(Collective, AnAllToAllSendsToEverybodyAtOnce) {
  const auto traffic = make("all_to_all", {{"size", i64{20}}});
  Posted posted;
  traffic->start(5, posted);
  std::vector<u32> seen(8, 0);
  for (const core::Message& m : posted.messages) {
    ++seen[m.destination];
    EXPECT_EQ(m.flits, 20U);
    EXPECT_EQ(m.birth, 0U);
  }
  EXPECT_EQ(seen, (std::vector<u32>{1, 1, 1, 1, 1, 0, 1, 1}));
}

TEST(Collective, ARingSendsPartsToTheNextAndWaitsForThePrevious) {
  const auto traffic = make("ring_all_reduce", {{"size", i64{20}}, {"compute", i64{9}}});
  Posted posted;
  traffic->start(7, posted);
  ASSERT_EQ(posted.messages.size(), 1U);
  EXPECT_EQ(posted.messages[0].destination, 0U);
  EXPECT_EQ(posted.messages[0].flits, 3U) << "20 flits in 8 parts, rounded up";
  arrive(*traffic, 6, 7, 0, 40, posted);
  ASSERT_EQ(posted.messages.size(), 2U);
  EXPECT_EQ(posted.messages[1].birth, 50U);
}

TEST(Collective, AMessageThatOvertakesItsPredecessorWaitsForIt) {
  const auto traffic = make("ring_all_reduce", {});
  Posted posted;
  traffic->start(7, posted);
  arrive(*traffic, 6, 7, 1, 40, posted);
  EXPECT_EQ(posted.messages.size(), 1U);
  arrive(*traffic, 6, 7, 0, 45, posted);
  ASSERT_EQ(posted.messages.size(), 3U);
  EXPECT_EQ(posted.messages[2].birth, 46U);
  EXPECT_EQ(traffic->violation(), "");
}

TEST(Collective, RecursiveDoublingExchangesWithPartnersByAddressBits) {
  const auto traffic = make("recursive_doubling_all_reduce", {{"size", i64{20}}});
  Posted posted;
  traffic->start(5, posted);
  arrive(*traffic, 4, 5, 0, 10, posted);
  arrive(*traffic, 7, 5, 1, 20, posted);
  ASSERT_EQ(posted.messages.size(), 3U);
  EXPECT_EQ(posted.messages[0].destination, 4U);
  EXPECT_EQ(posted.messages[1].destination, 7U);
  EXPECT_EQ(posted.messages[2].destination, 1U);
  EXPECT_EQ(posted.messages[2].flits, 20U);
  arrive(*traffic, 1, 5, 2, 30, posted);
  EXPECT_EQ(posted.messages.size(), 3U) << "the operation is complete";
}

TEST(Collective, IterationsFollowEachOther) {
  const auto traffic = make("recursive_doubling_all_reduce", {{"iterations", i64{2}}});
  EXPECT_EQ(traffic->total_messages(), 2U * 3 * 8);
  Posted posted;
  traffic->start(5, posted);
  for (u32 step = 0; step < 3; ++step) arrive(*traffic, 5 ^ (1U << step), 5, step, 10 * (step + 1), posted);
  ASSERT_EQ(posted.messages.size(), 4U);
  EXPECT_EQ(posted.messages[3].destination, 4U);
  EXPECT_EQ(posted.messages[3].birth, 31U);
}

TEST(Collective, LongerComputationMakesARingLongerByEveryStep) {
  const auto time = [](int compute) {
    return run_on_mesh(operation("ring_all_reduce", "size = 64, compute = " + std::to_string(compute)), "sessions = 1")
        .at("completion_time")
        .mean;
  };
  EXPECT_EQ(time(100) - time(50), 29 * 50.0) << "30 steps, of which all but the first compute";
}

TEST(Collective, ResultsDependOnNothingButTheSeed) {
  for (const char* name : {"all_to_all", "ring_all_reduce", "recursive_doubling_all_reduce"}) {
    const auto states = test::states_of(operation(name, "size = 40, iterations = 3, max_packet = 7"));
    for (const u64 state : states) EXPECT_EQ(state, states.front()) << name;
  }
}

TEST(Collective, WhatCannotBeDoneIsRefused) {
  EXPECT_THROW(make("recursive_doubling_all_reduce", {}, 12), ConfigError);
  EXPECT_THROW(make("all_to_all", {}, 1), ConfigError);
  EXPECT_THROW(make("all_to_all", {{"size", i64{100000}}}), ConfigError);
}

}  // namespace
}  // namespace banyan::traffic::collective_test
