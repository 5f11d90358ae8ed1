// Does every purpose that draws random words have a stream of its own, and does nothing else make words of a seed?
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>
#include <vector>

#include "support/repository.hpp"

namespace banyan::streams_test {
namespace {

using banyan::test::lines_of;
using banyan::test::project_files;
using banyan::test::read_file;
using banyan::test::repository_root;

template <class F>
void each_line(F&& f) {
  for (const std::string& file : project_files("src/banyan/", {".cpp", ".hpp"})) {
    const std::vector<std::string> lines = lines_of(read_file(repository_root() / file));
    for (std::size_t i = 0; i < lines.size(); ++i) f(file, lines, i);
  }
}

std::string place(const std::string& file, std::size_t i) { return file + ":" + std::to_string(i + 1); }

TEST(Streams, NamesAreUniqueAndSayWhatTheyAreFor) {
  static const std::regex declaration(R"x(\bStream k\w+\{"([^"]*)"\})x");
  static const std::regex name(R"([a-z_]+: [a-z_, ]+)");
  std::map<std::string, std::string> first;
  each_line([&](const std::string& file, const std::vector<std::string>& lines, std::size_t i) {
    std::smatch found;
    if (!std::regex_search(lines[i], found, declaration)) return;
    EXPECT_TRUE(std::regex_match(found[1].str(), name)) << place(file, i) << ": " << found[1];
    const auto [other, is_new] = first.emplace(found[1].str(), place(file, i));
    EXPECT_TRUE(is_new) << place(file, i) << ": \"" << found[1] << "\" is the stream of " << other->second << " too";
  });
  EXPECT_GE(first.size(), 20U);
}

/// Words come from base/rng.hpp. A hash may choose too, if the choice is fixed and the code says so.
TEST(Streams, NothingElseMakesWordsOfASeed) {
  static const std::regex seeded(R"(\bmix64\(.*seed|seed.*\bmix64\()");
  static const std::regex word(R"(static_cast<u32>\(\s*mix64\(|\bword = .*mix64\()");
  static const std::regex library(
      R"(\bstd::(rand|srand|mt19937|random_device|uniform_|normal_distribution)|\brand\(\))");
  each_line([&](const std::string& file, const std::vector<std::string>& lines, std::size_t i) {
    EXPECT_FALSE(std::regex_search(lines[i], seeded)) << place(file, i) << ": " << lines[i];
    EXPECT_FALSE(std::regex_search(lines[i], library)) << place(file, i) << ": " << lines[i];
    if (!std::regex_search(lines[i], word)) return;
    bool fixed = false;
    for (std::size_t k = i < 4 ? 0 : i - 4; k <= i; ++k) {
      fixed = fixed || lines[k].find("ixed") != std::string::npos;
    }
    EXPECT_TRUE(fixed) << place(file, i)
                       << ": a word that a hash makes is no random one; say that it is fixed: " << lines[i];
  });
}

}  // namespace
}  // namespace banyan::streams_test
