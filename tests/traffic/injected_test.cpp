// Does the traffic of a stepping program tell what arrived, once and in a fixed order?
#include "banyan/traffic/parts/injected.hpp"

#include "component_rows.hpp"
#include "traffic/posted.hpp"
#include "traffic/samples.hpp"

namespace banyan::traffic::injected_test {
namespace {

core::Packet packet_to(u32 destination, u32 tag) {
  core::Message message;
  message.destination = destination;
  message.tag = tag;
  return test::packet_of(message, 0);
}

TEST(Injected, GeneratesNothingByItself) {
  const auto traffic = test::make_traffic(traffic::injected::row_injected, {}, 16);
  EXPECT_TRUE(test::messages_of(*traffic, 3, 5).empty());
  EXPECT_TRUE(traffic->answers());
  EXPECT_EQ(traffic->longest_message(), 64U);
}

TEST(Injected, TellsArrivalsByTimeTerminalAndTag) {
  const auto made = test::make_traffic(traffic::injected::row_injected, {}, 16);
  auto& traffic = dynamic_cast<Injected&>(*made);
  traffic.make_room(3);
  test::Posted posted;
  traffic.delivered(packet_to(4, 8), 4, 20, posted);
  traffic.delivered(packet_to(2, 9), 2, 20, posted);
  traffic.delivered(packet_to(7, 5), 7, 10, posted);
  std::vector<Injected::Arrival> arrivals;
  traffic.take(arrivals);
  ASSERT_EQ(arrivals.size(), 3U);
  EXPECT_EQ(arrivals[0].key, 5U);
  EXPECT_EQ(arrivals[1].key, 9U);
  EXPECT_EQ(arrivals[2].key, 8U);
  EXPECT_TRUE(posted.messages.empty());
  traffic.take(arrivals);
  EXPECT_EQ(arrivals.size(), 3U) << "nothing is told twice";
}

TEST(Injected, LongMessagesMustBeCut) {
  EXPECT_THROW(test::make_traffic(traffic::injected::row_injected, {{"longest", i64{100'000}}}, 4), ConfigError);
  const auto cut =
      test::make_traffic(traffic::injected::row_injected, {{"longest", i64{100'000}}, {"max_packet", i64{16}}}, 4);
  EXPECT_EQ(cut->longest_packet(), 16U);
}

/// Contributions to one sum share their tag; the terminal tells them apart.
TEST(Injected, ContributionsOfMembersAreToldApart) {
  const auto made = test::make_traffic(traffic::injected::row_injected, {{"members", std::vector<i64>{9, 2, 4}}}, 16);
  auto& traffic = dynamic_cast<Injected&>(*made);
  EXPECT_TRUE(traffic.reduces());
  EXPECT_TRUE(traffic.is_member(9));
  EXPECT_FALSE(traffic.is_member(3));
  EXPECT_NE(traffic.key_of(2, 7), traffic.key_of(4, 7));
  EXPECT_NE(traffic.key_of(2, 7), traffic.key_of(2, 8));
  std::vector<u64> bits(1);
  traffic.members(bits);
  EXPECT_EQ(bits[0], 1U << 9U | 1U << 2U | 1U << 4U);
  EXPECT_EQ(traffic.reduced(7), traffic.contribution(2, 7) + traffic.contribution(4, 7) + traffic.contribution(9, 7));
  EXPECT_NE(traffic.reduced(7), traffic.reduced(8));
  const auto refused = [](std::vector<i64> members, i64 packet) {
    EXPECT_THROW(test::make_traffic(traffic::injected::row_injected,
                                    {{"members", std::move(members)}, {"max_packet", packet}}, 16),
                 ConfigError);
  };
  refused({3}, 0);
  refused({3, 16}, 0);
  refused({3, 5, 3}, 0);
  refused({3, 5}, 16);
}

}  // namespace
}  // namespace banyan::traffic::injected_test
