// Do the senders of an incast send what they are told, to whom and when they are told?
#include <map>
#include <set>

#include "banyan/base/error.hpp"
#include "component_rows.hpp"
#include "traffic/samples.hpp"

namespace banyan::traffic::incast_test {
namespace {

constexpr u32 kTerminals = 16;

std::unique_ptr<core::Traffic> make_incast(const test::Settings& given, u64 seed = 1) {
  config::Values values = config::Values::defaults(traffic::incast::row_incast.info);
  for (const auto& [name, value] : given) values.set(name, value);
  core::TrafficContext context;
  context.terminals = kTerminals;
  context.seed = seed;
  auto traffic = traffic::incast::row_incast.make(values, context);
  traffic->begin(0);
  return traffic;
}

std::vector<core::Message> messages_of(const core::Traffic& traffic, u32 terminal) {
  std::vector<core::Message> all;
  core::Message message;
  for (Tick before = kNever; traffic.next(terminal, all.size(), before, message); before = message.birth) {
    if (!all.empty()) { EXPECT_GE(message.birth, all.back().birth) << "births never go back"; }
    all.push_back(message);
  }
  return all;
}

core::Packet packet_of(u32 source, u32 nth) {
  core::Packet packet;
  packet.source = source;
  packet.message = nth;
  return packet;
}

TEST(Incast, EverySenderSendsItsAmountToTheReceiver) {
  const auto traffic = make_incast({{"receivers", std::vector<i64>{5}},
                                    {"senders", std::vector<i64>{3, 8}},
                                    {"amount", i64{150}},
                                    {"start", i64{1000}}});
  for (u32 t = 0; t < kTerminals; ++t) {
    const std::vector<core::Message> sent = messages_of(*traffic, t);
    if (t < 3 || t > 8 || t == 5) {
      EXPECT_TRUE(sent.empty()) << t;
      continue;
    }
    ASSERT_EQ(sent.size(), 3U);
    EXPECT_EQ(sent[0].birth, 1000U);
    EXPECT_EQ(sent[1].birth, 1064U);
    EXPECT_EQ(sent[2].flits, 150U - 128) << "the last one is what is left";
    for (const core::Message& message : sent) EXPECT_EQ(message.destination, 5U);
  }
  EXPECT_EQ(traffic->streams(), 5U);
  EXPECT_EQ(traffic->stream(4).flits, 150U);
  EXPECT_EQ(traffic->disturbance().from, 1000U);
  EXPECT_EQ(traffic->disturbance().to, kNever) << "until everything has arrived";
}

TEST(Incast, ADurationEndsAtItsTime) {
  const auto traffic = make_incast({{"senders", std::vector<i64>{1, 2}}, {"duration", i64{640}}, {"load", 0.5}});
  EXPECT_EQ(messages_of(*traffic, 1).size(), 5U) << "at 0, 128, ... 512";
  EXPECT_EQ(traffic->disturbance().to, 640U);
}

TEST(Incast, ASenderOfSeveralDoesOneAfterTheOtherAndItsStreamsAreToldApart) {
  const auto traffic = make_incast(
      {{"receivers", std::vector<i64>{0, 1, 2, 3}}, {"senders", std::vector<i64>{0, 3}}, {"amount", i64{128}}});
  const std::vector<core::Message> sent = messages_of(*traffic, 1);
  ASSERT_EQ(sent.size(), 6U);
  const std::vector<u32> round{2, 2, 3, 3, 0, 0};  // the next terminal first
  std::map<u32, std::set<u32>> streams;
  for (u32 n = 0; n < sent.size(); ++n) {
    EXPECT_EQ(sent[n].destination, round[n]);
    EXPECT_EQ(sent[n].birth, n * 64);
    streams[sent[n].destination].insert(traffic->stream_of(packet_of(1, n)));
  }
  std::set<u32> different;
  for (const auto& [receiver, numbers] : streams) {
    EXPECT_EQ(numbers.size(), 1U);
    different.insert(*numbers.begin());
  }
  EXPECT_EQ(different.size(), 3U);
  EXPECT_EQ(traffic->stream_of(packet_of(1, 6)), kNone);
  EXPECT_EQ(traffic->stream_of(packet_of(9, 0)), kNone) << "no sender";
}

TEST(Incast, DrawnReceiversDifferAndAreNobodysOwnSenders) {
  std::set<std::set<u32>> draws;
  for (u64 seed = 1; seed <= 3; ++seed) {
    const auto traffic = make_incast({{"receivers", std::vector<i64>{}},
                                      {"incasts", i64{6}},
                                      {"fan_in", i64{15}},
                                      {"amount", i64{64}},
                                      {"interval", i64{1000}},
                                      {"spread", i64{500}}},
                                     seed);
    EXPECT_EQ(traffic->streams(), 6U * 15);
    std::set<u32> receivers;
    std::set<Tick> begins;
    for (u32 t = 0; t < kTerminals; ++t) {
      for (const core::Message& message : messages_of(*traffic, t)) {
        EXPECT_NE(message.destination, t);
        receivers.insert(message.destination);
      }
    }
    for (u32 s = 0; s < traffic->streams(); ++s) begins.insert(traffic->stream(s).from);
    EXPECT_EQ(receivers.size(), 6U);
    ASSERT_EQ(begins.size(), 6U);
    Tick lowest = 0;
    for (const Tick begin : begins) {
      EXPECT_GE(begin, lowest);
      EXPECT_LT(begin, lowest + 500);
      lowest += 1000;
    }
    draws.insert(receivers);
  }
  EXPECT_GT(draws.size(), 1U) << "by the seed";
}

TEST(Incast, RefusesWhatDoesNotFit) {
  EXPECT_THROW(make_incast({{"amount", i64{1}}, {"receivers", std::vector<i64>{16}}}), ConfigError);
  EXPECT_THROW(make_incast({{"amount", i64{1}}, {"senders", std::vector<i64>{4, 3}}}), ConfigError);
  EXPECT_THROW(make_incast({{"amount", i64{1}}, {"senders", std::vector<i64>{1, 2, 3}}}), ConfigError);
  EXPECT_THROW(make_incast({{"amount", i64{1}}, {"fan_in", i64{16}}}), ConfigError);
  EXPECT_THROW(make_incast({{"amount", i64{1}}, {"receivers", std::vector<i64>{}}, {"incasts", i64{17}}}), ConfigError);
}

}  // namespace
}  // namespace banyan::traffic::incast_test
