// Does each flow send what it is told, when it is told?
#include "banyan/base/error.hpp"
#include "component_rows.hpp"
#include "traffic/samples.hpp"

namespace banyan::traffic::flows_test {
namespace {

std::unique_ptr<core::Traffic> make_flows(const test::Settings& given) {
  config::Values values = config::Values::defaults(traffic::flows::row_flows.info);
  for (const auto& [name, value] : given) values.set(name, value);
  core::TrafficContext context;
  context.terminals = 16;
  context.cycle_ns = 0.5;
  return traffic::flows::row_flows.make(values, context);
}

TEST(Flows, EachSendsFromItsStartToItsEndAtItsLoad) {
  const auto traffic = make_flows({{"sources", std::vector<i64>{3, 5}},
                                   {"destinations", std::vector<i64>{8, 9}},
                                   {"loads", std::vector<double>{1.0, 0.25}},
                                   {"starts", std::vector<double>{100, 200}},
                                   {"ends", std::vector<double>{0, 1000}}});
  core::Message message;
  ASSERT_TRUE(traffic->next(3, 10, 0, message));
  EXPECT_EQ(message.birth, 200U + 10 * 64) << "half a nanosecond per cycle";
  EXPECT_EQ(message.destination, 8U);
  ASSERT_TRUE(traffic->next(5, 6, 0, message));
  EXPECT_EQ(message.birth, 400U + 6 * 256);
  EXPECT_FALSE(traffic->next(5, 7, 0, message)) << "after its end";
  EXPECT_FALSE(traffic->next(4, 0, 0, message)) << "no flow";
  EXPECT_EQ(traffic->waiting_limit(3), kNone);
}

TEST(Flows, RefusesListsThatDoNotFit) {
  EXPECT_THROW(make_flows({{"sources", std::vector<i64>{3, 3}}}), ConfigError);
  EXPECT_THROW(make_flows({{"sources", std::vector<i64>{16}}}), ConfigError);
  EXPECT_THROW(make_flows({{"sources", std::vector<i64>{1, 2, 3}}, {"loads", std::vector<double>{1, 1}}}), ConfigError);
}

}  // namespace
}  // namespace banyan::traffic::flows_test
