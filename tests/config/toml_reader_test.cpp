// Does the tree keep what the file says: values, order and places?
#include "banyan/config/toml_reader.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>

#include "config/support.hpp"

namespace banyan::config::toml_reader_test {
namespace {

TEST(TomlReader, KeepsTheOrderOfTheFile) {
  const Node root = read_toml_text("zebra = 1\nalpha = 2\n[middle]\nz = 1\na = 2\n", "x.toml");
  ASSERT_EQ(root.entries.size(), 3U);
  EXPECT_EQ(root.entries[0].key, "zebra");
  EXPECT_EQ(root.entries[1].key, "alpha");
  EXPECT_EQ(root.entries[2].value.entries[0].key, "z");
}

TEST(TomlReader, KnowsThePlaceAndPathOfEveryKeyAndValue) {
  const Node root = read_toml_text("[switch]\n  buffer =   12\n", "x.toml");
  const Entry& buffer = root.entries[0].value.entries[0];
  EXPECT_EQ(buffer.where.file, "x.toml");
  EXPECT_EQ(buffer.where.line, 2U);
  EXPECT_EQ(buffer.where.column, 3U);
  EXPECT_EQ(buffer.where.key, "switch.buffer");
  EXPECT_EQ(buffer.value.where.line, 2U);
  EXPECT_EQ(buffer.value.where.column, 14U);
}

TEST(TomlReader, KnowsThePlaceOfArrayItems) {
  const Node root = read_toml_text("a = [1,\n  2]", "x.toml");
  EXPECT_EQ(root.entries[0].value.items[1].where.line, 2U);
  EXPECT_EQ(root.entries[0].value.items[1].where.column, 3U);
}

TEST(TomlReader, ReadsEveryKind) {
  const Node root = read_toml_text("a=true\nb=-5\nc=0.5\nd='x'\ne=[1]\nf={g=1}\n", "x");
  EXPECT_EQ(root.find("a")->value.kind, Node::Kind::boolean);
  EXPECT_EQ(root.find("b")->value.integer, -5);
  EXPECT_EQ(root.find("c")->value.real, 0.5);
  EXPECT_EQ(root.find("d")->value.text, "x");
  EXPECT_EQ(root.find("e")->value.items.size(), 1U);
  EXPECT_EQ(root.find("f")->value.entries.size(), 1U);
  EXPECT_EQ(root.find("h"), nullptr);
}

TEST(TomlReader, ASyntaxErrorHasItsPlace) {
  const ConfigError error = error_of([] { static_cast<void>(read_toml_text("a = 1\nb = = 2\n", "x.toml")); });
  EXPECT_EQ(error.where().file, "x.toml");
  EXPECT_EQ(error.where().line, 2U);
  EXPECT_GT(error.where().column, 0U);
  EXPECT_FALSE(error.remedy().empty());
}

TEST(TomlReader, ADuplicateKeyIsAnError) {
  EXPECT_EQ(error_of([] { static_cast<void>(read_toml_text("a = 1\na = 2\n", "x")); }).where().line, 2U);
}

/// Found by the fuzzer: the library has no answer to such characters.
TEST(TomlReader, CharactersBeyondAsciiBelongInTextsAndComments) {
  const std::string e = "\xc3\xa9";
  const ConfigError error = error_of([&] { read_toml_text("a = 1\n# " + e + "\nb = [" + e + "]\n", "x"); });
  EXPECT_EQ(error.where().line, 3U);
  EXPECT_EQ(error.where().column, 6U);
  const std::string many(3, '"');
  for (const std::string& text : {"\"" + e + "\"", "'" + e + "'", many + e + "\n\\\n x" + e + many, "'''\\" + e + "'''",
                                  "\"\\\"" + e + "\" # " + e, many + "\\\n " + many + " # " + e}) {
    EXPECT_NO_THROW(read_toml_text("a = " + text + "\n", "x")) << text;
  }
  EXPECT_NO_THROW(read_toml_text("\xef\xbb\xbfz = 1\n", "x"));
  for (const std::string& text : {e, "1" + e, many + "\\" + e + many, many + "\\\n " + e + many}) {
    EXPECT_THROW(read_toml_text("a = " + text + "\n", "x"), ConfigError) << text;
  }
}

/// Found by the fuzzer: the library ends the program.
TEST(TomlReader, AHeaderBeginsWithAName) {
  const ConfigError error = error_of([] { read_toml_text("a = [\n[+1]]\n [~run]\n", "x"); });
  EXPECT_EQ(error.where().line, 3U);
  EXPECT_EQ(error.where().column, 3U);
  for (const char* text : {"[[~a]]", "[[\na]]", "[ ", "[[", "[]", "[[[a]]]", "[a.~]", "[\"a\" ~]"}) {
    EXPECT_THROW(read_toml_text(text, "x"), ConfigError) << text;
  }
  EXPECT_NO_THROW(read_toml_text("[ \"~\" ]\n[[a.b]]\nc = [\n[{ d = 1 }],\n]\n", "x"));
}

TEST(TomlReader, ADateIsRefused) {
  const ConfigError error = error_of([] { static_cast<void>(read_toml_text("a = 1979-05-27\n", "x")); });
  EXPECT_EQ(error.where().key, "a");
}

TEST(TomlReader, AMissingFileNamesTheNearestOne) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "toml_reader_missing";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "figure_5.toml") << "a = 1\n";
  const std::string path = (folder / "figure5.toml").string();
  const ConfigError error = error_of([&] { static_cast<void>(read_toml_file(path)); });
  EXPECT_EQ(error.where().file, path);
  EXPECT_EQ(error.cause(), "no such file");
  EXPECT_TRUE(contains(error.remedy(), "figure_5.toml"));
}

TEST(TomlReader, ADirectoryIsNoFile) {
  const ConfigError error = error_of([] { static_cast<void>(read_toml_file(testing::TempDir())); });
  EXPECT_TRUE(contains(error.cause(), "directory"));
}

TEST(TomlReader, CommandLineValuesNeedNoQuotes) {
  const Where where{"command line", 0, 0, "k"};
  EXPECT_EQ(read_toml_value("8", where).integer, 8);
  EXPECT_EQ(read_toml_value("0.5", where).real, 0.5);
  EXPECT_EQ(read_toml_value("true", where).kind, Node::Kind::boolean);
  EXPECT_EQ(read_toml_value("full", where).text, "full");
  EXPECT_EQ(read_toml_value("8 Gbps", where).text, "8 Gbps");
  EXPECT_EQ(read_toml_value("\"8 Gbps\"", where).text, "8 Gbps");
  EXPECT_EQ(read_toml_value("[1, 2]", where).items[1].integer, 2);
  EXPECT_EQ(read_toml_value("[full, 8 ns]", where).items[1].text, "8 ns");
  EXPECT_EQ(read_toml_value("{name = 'x', a = 1}", where).entries.size(), 2U);
  EXPECT_EQ(read_toml_value("[1, 2]", where).items[1].where.file, "command line");
}

/// A name of so many parts makes the library recurse until the stack ends; numbers with points are no names.
TEST(TomlReader, NamesOfManyPartsAreRefusedAndManyNumbersAreNot) {
  std::string name = "a";
  std::string numbers = "x = [0.1";
  std::string tables = "x = [{a.b = 0.1}";
  for (u32 i = 0; i < 20000; ++i) {
    name += ".a";
    numbers += ", 0.1";
    tables += ", {a.b = 0.1}";
  }
  const ConfigError error = error_of([&] { static_cast<void>(read_toml_text(name + " = 1\n", "x.toml")); });
  EXPECT_NE(std::string(error.what()).find("a name of very many parts"), std::string::npos) << error.what();
  EXPECT_EQ(read_toml_text(numbers + "]\n", "x.toml").entries.front().value.items.size(), 20001U);
  EXPECT_EQ(read_toml_text(tables + "]\n", "x.toml").entries.front().value.items.size(), 20001U);
}

TEST(TomlReader, ABrokenCommandLineValueIsAnError) {
  for (const char* text : {"", "[1, 2", "{a = 1", "\"x", "1\nb = 2", "]"}) {
    const ConfigError error = error_of([&] {
      static_cast<void>(read_toml_value(text, {"command line", 0, 0, "switch.buffer"}));
    });
    EXPECT_EQ(error.where().key, "switch.buffer") << text;
  }
}

RC_GTEST_PROP(TomlReader, AnyTextIsReadOrRefusedWithAPlace, (const std::string& text)) {
  try {
    static_cast<void>(read_toml_text(text, "x"));
  } catch (const ConfigError& error) { RC_ASSERT(error.where().line > 0U); }
}

RC_GTEST_PROP(TomlReader, IntegersAndRealsSurviveTheRoundTrip, (i64 integer, double real)) {
  const Where where{"x", 1, 1, "k"};
  RC_ASSERT(read_toml_value(to_text(Node::of(integer, where)), where).integer == integer);
  const Node back = read_toml_value(to_text(Node::of(real, where)), where);
  RC_ASSERT((back.kind == Node::Kind::real ? back.real : static_cast<double>(back.integer)) == real);
}

}  // namespace
}  // namespace banyan::config::toml_reader_test
