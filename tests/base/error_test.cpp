// Does an error say where, what and how to mend it?
#include "banyan/base/error.hpp"

#include <gtest/gtest.h>

namespace banyan::error_test {
namespace {

TEST(ConfigError, PrintsPlaceCauseAndRemedy) {
  const ConfigError error({"a.toml", 3, 7, "switch.buffer"}, "0 is below 1", "use 1 to 4096");
  EXPECT_STREQ(error.what(), "a.toml:3:7: switch.buffer: 0 is below 1\n  remedy: use 1 to 4096");
}

TEST(ConfigError, AZeroDoesNotEndIt) {
  const ConfigError error({"f", 1, 2, ""}, std::string("there is \"\0\"", 12), "leave it out");
  EXPECT_STREQ(error.what(), "f:1:2: there is \"\\x00\"\n  remedy: leave it out");
}

TEST(NearestName, FindsMisspellings) {
  const std::vector<std::string> names{"buffer", "space", "sessions"};
  EXPECT_EQ(nearest_name("bufer", names), "buffer");
  EXPECT_EQ(nearest_name("sesions", names), "sessions");
  EXPECT_EQ(nearest_name("psace", names), "space");
}

TEST(NearestName, DoesNotGuessWildly) {
  EXPECT_EQ(nearest_name("temperature", {"buffer", "space"}), "");
  EXPECT_EQ(nearest_name("x", {}), "");
}

}  // namespace
}  // namespace banyan::error_test
