// Is what a model would have to hold before the first cycle refused when it is too much?
#include <gtest/gtest.h>

#include <string>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"

namespace banyan::test::start_test {
namespace {

std::string refusal(const std::string& model, const std::string& traffic) {
  const std::string text = "topology = { name = 'hypercube', degree = 4 }\nswitch = '" + model +
                           "'\nrouting = 'ecube'\ntraffic = { name = 'uniform', " + traffic +
                           " }\nrun = { session_limit = 100 }\n";
  try {
    static_cast<void>(api::check(api::read_experiments_text(text, "start", {}).points.front()));
  } catch (const ConfigError& error) { return error.cause(); }
  return "";
}

/// Such a model takes every message in when it is generated, and died of it.
TEST(Start, OfModelsThatTakeAllMessagesInIsBounded) {
  const std::string text =
      "packet_node takes all messages of a terminal in when they are generated, and these are "
      "more than 1048577 at once";
  EXPECT_EQ(refusal("packet_node", "process = 'at_once', batch = 7629034"), text);
  EXPECT_EQ(refusal("packet_node", "process = 'at_once', batch = 1000000000000"), text);
  EXPECT_EQ(refusal("packet_node", "process = 'at_once', batch = 1000"), "");
  EXPECT_EQ(refusal("packet_node", "load = 1.0, batch = 1000000000000"), "") << "they come one after the other";
  EXPECT_EQ(refusal("packet_node", "load = 1.0, process = 'poisson', batch = 1000000000000"), "");
  EXPECT_EQ(refusal("packet_node", "process = 'at_once', batch = 1000000000, reply_size = [1]"), text);
  EXPECT_EQ(refusal("packet_node", "process = 'at_once', batch = 1000000000, reply_size = [1], outstanding = 2"), "");
  EXPECT_EQ(refusal("ideal", "process = 'at_once', batch = 1000000000000"), "ideal" + text.substr(text.find(' ')));
  EXPECT_EQ(refusal("vc_router", "process = 'at_once', batch = 1000000000000"), "") << "they wait where they are born";
}

}  // namespace
}  // namespace banyan::test::start_test
