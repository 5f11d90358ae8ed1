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
  EXPECT_EQ(arrivals[0].tag, 5U);
  EXPECT_EQ(arrivals[1].tag, 9U);
  EXPECT_EQ(arrivals[2].tag, 8U);
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

}  // namespace
}  // namespace banyan::traffic::injected_test
