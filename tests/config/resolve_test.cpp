// Is every value of the declared type, unit and range, and every mistake answered with its place and remedy?
#include "banyan/config/resolve.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <stdexcept>

#include "banyan/config/json.hpp"
#include "banyan/config/toml_reader.hpp"
#include "config/support.hpp"

namespace banyan::config::resolve_test {
namespace {

Values read(const std::string& text) {
  const Node root = read_toml_text(text, "x.toml");
  return resolve(root.entries, example(), {"x.toml", 0, 0, "switch"});
}

ConfigError refused(const std::string& text) {
  return error_of([&] { static_cast<void>(read(text)); });
}

TEST(Resolve, DefaultsFillWhatIsNotGiven) {
  const Values values = read("buffer = 8\n");
  EXPECT_EQ(values.integer("buffer"), 8);
  EXPECT_TRUE(values.given("buffer"));
  EXPECT_EQ(values.integer("size"), 64);
  EXPECT_FALSE(values.given("size"));
  EXPECT_EQ(values.component(), "example");
}

TEST(Resolve, DefaultsAloneEqualAnEmptyTable) { EXPECT_EQ(to_json(Values::defaults(example())), to_json(read(""))); }

TEST(Resolve, ValuesAreConvertedToTheDeclaredUnit) {
  const Values values =
      read("size = '1.5 KiB'\nspeed = '2 GB/s'\ndelay = '800 us'\nload = '50 %'\nbuffer = '3 packets'\n");
  EXPECT_EQ(values.integer("size"), 1536);
  EXPECT_EQ(values.real("speed"), 16.0);
  EXPECT_EQ(values.real("delay"), 800000.0);
  EXPECT_EQ(values.real("load"), 0.5);
  EXPECT_EQ(values.integer("buffer"), 3);
}

TEST(Resolve, ListsTakeALoneValueToo) {
  const Values values = read("faults = 3\nweights = [1, 0.5]\nnames = ['a', 'b']\n");
  EXPECT_EQ(values.integers("faults"), std::vector<i64>{3});
  EXPECT_EQ(values.reals("weights"), (std::vector<double>{1.0, 0.5}));
  EXPECT_EQ(values.texts("names"), (std::vector<std::string>{"a", "b"}));
}

TEST(Resolve, AMisspeltKeyNamesTheNearest) {
  const ConfigError error = refused("\nbufer = 8\n");
  EXPECT_EQ(error.where().line, 2U);
  EXPECT_EQ(error.where().column, 1U);
  EXPECT_EQ(error.where().key, "switch.bufer");
  EXPECT_TRUE(contains(error.cause(), "example has no parameter \"bufer\""));
  EXPECT_TRUE(contains(error.remedy(), "did you mean \"buffer\"?"));
}

TEST(Resolve, AKeyLikeNoOtherListsThemAll) {
  EXPECT_TRUE(contains(refused("zzzzzzzzz = 8\n").remedy(), "example takes buffer, size, speed"));
}

TEST(Resolve, AWrongTypeSaysWhatIsExpected) {
  EXPECT_TRUE(contains(refused("buffer = true\n").cause(), "buffer is a whole number in packets"));
  EXPECT_TRUE(contains(refused("buffer = 'many'\n").remedy(), "a whole number in packets"));
  EXPECT_TRUE(contains(refused("include_self = 1\n").remedy(), "true or false"));
  EXPECT_TRUE(contains(refused("label = 1\n").remedy(), "a text"));
  EXPECT_TRUE(contains(refused("load = [0.1]\n").cause(), "an array"));
  EXPECT_TRUE(contains(refused("load = {a = 1}\n").cause(), "a table"));
  EXPECT_TRUE(contains(refused("buffer = 1.5\n").cause(), "not a whole number"));
  EXPECT_TRUE(contains(refused("size = '0.3 B'\n").cause(), "not a whole number"));
}

TEST(Resolve, AWholeRealCountsAsAnInteger) { EXPECT_EQ(read("buffer = 1e3\n").integer("buffer"), 1000); }

TEST(Resolve, AValueOutOfRangeNamesTheRange) {
  const ConfigError error = refused("buffer = 0\n");
  EXPECT_EQ(error.where().column, 10U);
  EXPECT_TRUE(contains(error.cause(), "0 is out of range"));
  EXPECT_TRUE(contains(error.remedy(), "from 1 up to 65535 packets"));
  EXPECT_TRUE(contains(refused("speed = 0\n").remedy(), "above 0"));
  EXPECT_TRUE(contains(refused("load = 1.01\n").remedy(), "from 0 up to 1"));
  EXPECT_TRUE(contains(refused("faults = [1, 100]\n").cause(), "100 is out of range"));
}

TEST(Resolve, TheRangeHoldsAfterConversion) {
  EXPECT_TRUE(contains(refused("load = '150 %'\n").cause(), "150 % is out of range"));
}

TEST(Resolve, NotANumberIsRefused) {
  EXPECT_TRUE(contains(refused("weights = nan\n").cause(), "not finite"));
  EXPECT_TRUE(contains(refused("weights = inf\n").cause(), "not finite"));
  static_cast<void>(refused("buffer = nan\n"));
  static_cast<void>(refused("buffer = inf\n"));
  static_cast<void>(refused("buffer = 1e300\n"));
}

TEST(Resolve, AUnitThatDoesNotFitNamesThoseThatDo) {
  const ConfigError error = refused("size = '8 Gbps'\n");
  EXPECT_TRUE(contains(error.cause(), "unit \"Gbps\" does not fit: size is in bytes"));
  EXPECT_TRUE(contains(error.remedy(), "KiB"));
  EXPECT_TRUE(contains(refused("buffer = '8 flits'\n").remedy(), "packets"));
  EXPECT_TRUE(contains(refused("load = '8 ns'\n").cause(), "load is a pure number"));
  EXPECT_TRUE(contains(refused("speed = '8 gbps'\n").remedy(), "did you mean"));
  EXPECT_TRUE(contains(refused("faults = '8 %'\n").cause(), "does not fit"));
}

TEST(Resolve, AValueThatIsNoneOfTheChoicesNamesTheNearest) {
  const ConfigError error = refused("order = 'permutted'\n");
  EXPECT_TRUE(contains(error.cause(), "\"permutted\" is not a value of order"));
  EXPECT_TRUE(contains(error.remedy(), "did you mean \"permuted\"?"));
}

TEST(Resolve, ARequiredParameterMustBeGiven) {
  const ComponentInfo info{"strict", "", "", {Parameter::integer("size", 0).required().unit("bytes")}};
  const ConfigError error = error_of([&] { static_cast<void>(resolve({}, info, {"x.toml", 4, 2, "topology"})); });
  EXPECT_EQ(error.where().line, 4U);
  EXPECT_EQ(error.where().key, "topology.size");
  EXPECT_TRUE(contains(error.cause(), "missing"));
  EXPECT_THROW(static_cast<void>(Values::defaults(info)), ConfigError);
}

TEST(Resolve, OnTheCommandLineANumberMayBeAText) {
  const Entry label{"label", {}, read_toml_value("4", {"command line", 0, 0, "label"})};
  EXPECT_EQ(resolve({label}, example(), {}).text("label"), "4");
}

/// What a program tries by itself goes no further than what a file may say.
TEST(Values, AChangeIsAsBoundedAsAFile) {
  for (const Parameter& parameter : example().parameters) {
    if (!parameter.fallback || parameter.type != Type::integer || !std::isfinite(parameter.high)) continue;
    Values values = read("");
    const auto high = static_cast<i64>(parameter.high) - (parameter.high_open ? 1 : 0);
    const auto low = static_cast<i64>(parameter.low) + (parameter.low_open ? 1 : 0);
    change(values, example(), parameter.name, high);
    EXPECT_EQ(values.integer(parameter.name), high);
    for (const i64 beyond : {high + 1, low - 1}) {
      EXPECT_THROW(change(values, example(), parameter.name, beyond), ConfigError) << parameter.name;
      EXPECT_EQ(values.integer(parameter.name), high) << "and nothing has changed";
    }
  }
  Values values = read("");
  EXPECT_THROW(change(values, example(), "nothing", i64{1}), std::logic_error);
}

TEST(Values, AskingForWhatWasNotDeclaredIsAProgrammingError) {
  const Values values = read("");
  EXPECT_THROW(static_cast<void>(values.integer("nothing")), std::logic_error);
  EXPECT_THROW(static_cast<void>(values.real("buffer")), std::logic_error);
}

TEST(Values, ANaturalIsKnownToFit) {
  EXPECT_EQ(read("buffer = 5").natural("buffer"), 5U);
  EXPECT_THROW(static_cast<void>(read("size = 5000000000").natural("size")), std::logic_error);
}

TEST(Values, AFailurePointsAtTheValueOrAtTheComponentOfADefault) {
  const Node root = read_toml_text("\n buffer = 7\n", "x.toml");
  const Values values = resolve(root.entries, example(), {"x.toml", 9, 3, "switch"});
  EXPECT_EQ(error_of([&] { values.fail("buffer", "c", "r"); }).where().line, 2U);
  const ConfigError error = error_of([&] { values.fail("size", "c", "r"); });
  EXPECT_EQ(error.where().line, 9U);
  EXPECT_EQ(error.where().key, "switch.size");
}

TEST(Json, SchemaStatesTypeRangeAndDefault) {
  const auto schema = schema_of(example(), true);
  EXPECT_EQ(schema["properties"]["name"]["const"], "example");
  EXPECT_EQ(schema["properties"]["buffer"]["anyOf"][0]["type"], "integer");
  EXPECT_EQ(schema["properties"]["buffer"]["anyOf"][0]["maximum"], 65535);
  EXPECT_EQ(schema["properties"]["buffer"]["default"], 12);
  EXPECT_EQ(schema["properties"]["speed"]["anyOf"][0]["exclusiveMinimum"], 0);
  EXPECT_EQ(schema["properties"]["order"]["enum"].size(), 2U);
  EXPECT_EQ(schema["additionalProperties"], false);
}

TEST(Json, NotANumberBecomesNullAndBrokenTextIsReplaced) {
  EXPECT_EQ(dump(nlohmann::json(std::numeric_limits<double>::quiet_NaN())), "null");
  EXPECT_EQ(dump(nlohmann::json(std::numeric_limits<double>::infinity())), "null");
  EXPECT_NO_THROW(static_cast<void>(dump(nlohmann::json("\xff"))));
}

RC_GTEST_PROP(Resolve, AResolvedConfigurationReadsBackAsItself, ()) {
  Values values("example", {});
  const auto buffer = *rc::gen::inRange<i64>(1, 65536);
  const auto load = static_cast<double>(*rc::gen::inRange<i64>(0, i64{1} << 53)) * 0x1.0p-53;
  const std::string text = "buffer = " + to_text(Value(buffer)) + "\nload = " + to_text(Value(load)) + "\n";
  const nlohmann::json once = to_json(read(text));
  const nlohmann::json twice = nlohmann::json::parse(dump(once));
  RC_ASSERT(once["buffer"].get<i64>() == buffer);
  RC_ASSERT(once["load"].get<double>() == load);
  RC_ASSERT(twice == once);
  RC_ASSERT(dump(twice) == dump(once));
}

}  // namespace
}  // namespace banyan::config::resolve_test
