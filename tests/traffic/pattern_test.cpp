// Do batches end, are messages answered, and does the limit on outstanding messages hold?
#include "banyan/traffic/parts/pattern.hpp"

#include "banyan/base/error.hpp"
#include "component_rows.hpp"
#include "traffic/posted.hpp"
#include "traffic/runs.hpp"
#include "traffic/samples.hpp"

namespace banyan::traffic::pattern_test {
namespace {

using test::make_traffic;
using test::packet_of;
using test::Posted;
using test::run_on_mesh;

TEST(Pattern, ABatchHasItsMessagesAndNoMore) {
  const auto traffic =
      make_traffic(traffic::uniform::row_uniform, {{"batch", i64{7}}, {"process", std::string("at_once")}}, 16);
  EXPECT_TRUE(traffic->finite());
  EXPECT_EQ(traffic->total_messages(), 7U * 16);
  const auto messages = test::messages_of(*traffic, 3, 100);
  ASSERT_EQ(messages.size(), 7U);
  for (const core::Message& m : messages) EXPECT_EQ(m.birth, 0U);
}

TEST(Pattern, SilentTerminalsHaveNoPartInABatch) {
  const auto traffic =
      make_traffic(traffic::permutation::row_permutation, {{"batch", i64{7}}}, 16);  // transpose: a diagonal of 4
  EXPECT_EQ(traffic->total_messages(), 7U * 12);
}

TEST(Pattern, ADestinationAnswersAfterItsDelay) {
  const auto traffic =
      make_traffic(traffic::uniform::row_uniform, {{"reply_size", std::vector<i64>{5}}, {"reply_delay", i64{20}}}, 16);
  ASSERT_TRUE(traffic->answers());
  Posted posted;
  traffic->start(3, posted);
  ASSERT_EQ(posted.messages.size(), 1U);
  const core::Message request = posted.messages.front();
  Posted replies;
  traffic->delivered(packet_of(request, 3), request.destination, 100, replies);
  ASSERT_EQ(replies.messages.size(), 1U);
  EXPECT_EQ(replies.messages.front().destination, 3U);
  EXPECT_EQ(replies.messages.front().flits, 5U);
  EXPECT_EQ(replies.messages.front().birth, 121U);
}

TEST(Pattern, EveryLengthHasItsReply) {
  const auto traffic = make_traffic(traffic::uniform::row_uniform,
                                    {{"size_distribution", std::string("list")},
                                     {"sizes", std::vector<i64>{1, 4}},
                                     {"reply_size", std::vector<i64>{4, 1}}},
                                    16);
  core::Message request;
  request.destination = 9;
  for (const u32 flits : {1U, 4U}) {
    request.flits = flits;
    Posted replies;
    traffic->delivered(packet_of(request, 3), 9, 100, replies);
    ASSERT_EQ(replies.messages.size(), 1U);
    EXPECT_EQ(replies.messages.front().flits, 5 - flits);
  }
}

TEST(Pattern, ASourceAtItsLimitWaitsForAReply) {
  const auto traffic = make_traffic(traffic::uniform::row_uniform,
                                    {{"load", 1.0}, {"reply_size", std::vector<i64>{1}}, {"outstanding", i64{2}}}, 16);
  Posted posted;
  traffic->start(3, posted);
  for (Tick now = 0; now < 2; ++now) {
    const core::Message last = posted.messages.back();
    traffic->departed(packet_of(last, 3), 3, now, posted);
  }
  EXPECT_EQ(posted.messages.size(), 2U) << "two left, none is answered";
  core::Packet reply;
  reply.source = posted.messages.front().destination;
  reply.message = posted.messages.front().tag + 1;
  traffic->delivered(reply, 3, 50, posted);
  ASSERT_EQ(posted.messages.size(), 3U);
  EXPECT_EQ(posted.messages.back().birth, 51U);
  EXPECT_EQ(traffic->violation(), "");
}

TEST(Pattern, WithoutALimitRequestsAreThoseOfAnOpenLoop) {
  const auto open = make_traffic(traffic::uniform::row_uniform, {{"load", 0.3}}, 16);
  const auto closed =
      make_traffic(traffic::uniform::row_uniform, {{"load", 0.3}, {"reply_size", std::vector<i64>{1}}}, 16);
  Posted posted;
  closed->start(5, posted);
  const auto expected = test::messages_of(*open, 5, 200);
  for (const core::Message& m : expected) {
    EXPECT_EQ(posted.messages.back().birth, m.birth);
    EXPECT_EQ(posted.messages.back().destination, m.destination);
    closed->departed(packet_of(posted.messages.back(), 5), 5, m.birth + 3, posted);
  }
}

TEST(Pattern, OneOutstandingMessageMakesThroughputTheInverseOfARoundTrip) {
  const api::Result result =
      run_on_mesh("{ name = 'uniform', load = 1.0, reply_size = 1, outstanding = 1 }", "measure = 20000");
  // Per round trip two flits and two latencies; the next message is born in the cycle after the arrival, as a reply is.
  const double trip = 2 * (result.at("packet_latency").mean + 1);
  EXPECT_NEAR(result.at("accepted_load").mean, 2 / trip, 0.02 * 2 / trip);
}

TEST(Pattern, RepliesAddTheirLoad) {
  const api::Result result =
      run_on_mesh("{ name = 'uniform', load = 0.1, size = 2, reply_size = 6 }", "measure = 20000");
  EXPECT_NEAR(result.at("accepted_load").mean, 0.4, 0.4 * 0.05);
}

TEST(Pattern, ABatchReportsItsCompletion) {
  const api::Result result =
      run_on_mesh("{ name = 'uniform', process = 'at_once', batch = 50, reply_size = 1, outstanding = 8 }");
  EXPECT_EQ(result.verdict, api::Verdict::finished);
  EXPECT_EQ(result.at("delivered_packets").mean, 2 * 2 * 50 * 16);
  EXPECT_GT(result.at("completion_time").mean, 50.0);
}

TEST(Pattern, ClosedLoopsDependOnNothingButTheirSeed) {
  for (const char* traffic :
       {"{ name = 'uniform', load = 0.4, size = 3, reply_size = 5, outstanding = 3, max_packet = 2 }",
        "{ name = 'hot_spot', load = 0.05, reply_size = 4, reply_delay = 7 }"}) {
    const auto states = test::states_of(traffic, "measure = 3000, warmup = 500");
    for (const u64 state : states) EXPECT_EQ(state, states.front()) << traffic;
  }
}

TEST(Pattern, SettingsThatDoNotFitAreRefused) {
  const auto refused = [](const test::Settings& settings) {
    EXPECT_THROW(make_traffic(traffic::uniform::row_uniform, settings, 16), ConfigError);
  };
  refused({{"outstanding", i64{4}}});
  refused({{"reply_delay", i64{4}}});
  refused({{"reply_size", std::vector<i64>{}}});
  refused({{"reply_size", std::vector<i64>{1, 2}}});
  refused({{"process", std::string("at_once")}});
  refused({{"size_distribution", std::string("list")},
           {"sizes", std::vector<i64>{1, 4}},
           {"reply_size", std::vector<i64>{0, 1}},
           {"outstanding", i64{4}}});
}

/// Where it depends on the length of a message if it is answered, their number is found by drawing all lengths: a batch
/// of any size was drawn.
TEST(Pattern, ABatchWhoseAnswersCannotBeCountedIsRefused) {
  const auto refusal = [](const std::vector<i64>& replies, i64 batch) -> std::string {
    try {
      static_cast<void>(make_traffic(traffic::uniform::row_uniform,
                                     {{"batch", batch},
                                      {"size_distribution", std::string("list")},
                                      {"sizes", std::vector<i64>{1, 5}},
                                      {"size_weights", std::vector<double>{1.0, 1.0}},
                                      {"reply_size", replies}},
                                     16));
    } catch (const ConfigError& error) { return error.cause(); }
    return "";
  };
  EXPECT_EQ(refusal({0, 3}, 1'000'000'000'000),
            "the answers to 1000000000000 messages of a terminal are too many to be counted");
  EXPECT_EQ(refusal({2, 1}, 1'000'000'000'000), "") << "all are answered: nothing is to be counted";
  EXPECT_EQ(refusal({0, 3}, 1000), "");
}

}  // namespace
}  // namespace banyan::traffic::pattern_test
