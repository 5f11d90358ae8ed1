// Is every JSON file compared with what it should look like, and every fault named with its place, in our own words?
#include "banyan/config/json_file.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "banyan/base/error.hpp"

namespace banyan::config::json_file_test {
namespace {

JsonFile file_of(const std::string& text) { return {text, "f.json", "a box", "give a box"}; }

std::string refusal(const std::string& text, const JsonShape& shape = JsonShape::anything()) {
  try {
    file_of(text).require(shape);
  } catch (const ConfigError& error) { return error.what(); }
  return "accepted";
}

const JsonShape& box() {
  static const JsonShape shape = JsonShape::object(
      {{"name", JsonShape::text()},
       {"sizes", JsonShape::list_of(JsonShape::number(0.0, 10.0))},
       {"lids",
        JsonShape::map_of(JsonShape::object({{"open", JsonShape::boolean()}, {"hash", JsonShape::hash(), false}}))},
       {"kind", JsonShape::one_of({"red", "blue"}), false},
       {"count", JsonShape::natural().or_null(), false},
       {"pair", JsonShape::list_of(JsonShape::text(), 2), false},
       {"sums", JsonShape::numbers(), false}});
  return shape;
}

std::string box_with(const std::string& more) {
  return "{\"name\": \"a\",\n \"sizes\": [1, 2.5],\n \"lids\": {\"x\": {\"open\": true}}" + more + "}";
}

TEST(JsonFile, WhatFitsIsRead) {
  EXPECT_EQ(refusal(box_with(""), box()), "accepted");
  EXPECT_EQ(refusal(box_with(", \"kind\": \"blue\", \"count\": null, \"pair\": [\"a\", \"b\"], \"sums\": \"1 2 0\", "
                             "\"more\": {\"than\": [\"is\", \"asked\"]}"),
                    box()),
            "accepted");
  EXPECT_EQ(refusal(box_with(", \"sums\": \"\", \"count\": 18446744073709551615"), box()), "accepted");
  const JsonFile file = file_of(box_with(""));
  EXPECT_EQ(file.json().at("sizes").at(1), 2.5);
}

TEST(JsonFile, EveryFaultHasItsPlaceAndSaysWhatIsExpected) {
  const std::pair<std::string, std::string> faults[] = {
      {"[1]", "f.json:1:1: not a box: a list of 1 is no value here: an object is expected\n  remedy: give a box"},
      {"{\"nam\": 1}", "f.json:1:1: not a box: the key \"name\" is missing\n  remedy: is it \"nam\"?"},
      {"{\"name\": 1}", "f.json:1:10: name: not a box: 1 is no value here: a text is expected"},
      {"{\"name\": \"a\",\n \"sizes\": [1,\n  \"big\"]}",
       "f.json:3:3: sizes.1: not a box: the text \"big\" is no value here: a number from 0 to 10 is expected"},
      {"{\"name\": \"a\", \"sizes\": [1e308]}", "f.json:1:25: sizes.0: not a box: 1e+308 is no value here"},
      {"{\"name\": \"ä\\\"]\", \"sizes\": [-1]}", "f.json:1:28: sizes.0: not a box: -1 is no value here"},
      {"{\"name\": \"a\", \"sizes\": [], \"lids\": {\"x\": {\"open\": 0}}}",
       "f.json:1:51: lids.x.open: not a box: 0 is no value here: true or false is expected"},
      {box_with(", \"kind\": \"green\""), "one of \"red\", \"blue\" is expected"},
      {box_with(", \"count\": -1"), "-1 is no value here: a whole number from 0 on, or null is expected"},
      {box_with(", \"count\": 1.0"), "1.0 is no value here: a whole number"},
      {box_with(", \"pair\": [\"a\"]"), "a list of 1 is no value here: a list of 2 is expected"},
      {box_with(", \"sums\": \"1  2\""), "a text of whole numbers"},
      {box_with(", \"sums\": \"1 \""), "a text of whole numbers"},
      {box_with(", \"sums\": \"18446744073709551616\""), "a text of whole numbers"},
      {"{\"name\": \"a\", \"sizes\": [], \"lids\": {\"x\": {\"open\": true, \"hash\": \"12\"}}}",
       "a text of 16 hexadecimal digits is expected"},
  };
  for (const auto& [text, words] : faults) {
    EXPECT_NE(refusal(text, box()).find(words), std::string::npos) << text << "\n" << refusal(text, box());
  }
}

TEST(JsonFile, WhatIsNoJsonHasItsPlace) {
  const std::pair<std::string, std::string> faults[] = {
      {"", "f.json: the file is empty: it is not a box"},
      {" \n", "the file is empty"},
      {"{\"a\": 1,\n \"b\": }", "f.json:2:7: not a box: no JSON: "},
      {"{\"a\": 1", "it ends before it is complete"},
      {"{\"a\": 1e999}", "f.json:1:11: not a box: no JSON: the number 1e999 is too large"},
      {"{\"a\": 1, \"a\": 2}", "the key \"a\" stands twice in one object"},
      {std::string(1000, '['), "it is nested more than 64 levels deep"},
      {"{\"a\": \"\xff\"}", "no JSON: "},
      {"{} x", "no JSON: "},
      {"\x01", "no JSON: "},
  };
  for (const auto& [text, words] : faults) {
    const std::string said = refusal(text);
    EXPECT_NE(said.find(words), std::string::npos) << said << "\n  expected: " << words;
    EXPECT_EQ(said.find("exception"), std::string::npos) << said;
    EXPECT_EQ(said.find("syntax error"), std::string::npos) << said;
  }
}

RC_GTEST_PROP(JsonFile, AnyTextIsReadOrRefused, (const std::string& text)) {
  for (const std::string& all : {text, "{\"a\": " + text + "}", "[\"" + text + "\"]"}) {
    const std::string said = refusal(all, box());
    RC_ASSERT(said == "accepted" || said.find("remedy: ") != std::string::npos);
    RC_ASSERT(said.find("json.exception") == std::string::npos);
  }
}

}  // namespace
}  // namespace banyan::config::json_file_test
