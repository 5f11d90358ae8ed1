// Do the pages show what the program says? Of every console block that runs or checks a file which its page contains.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace banyan::cli::shown_output_test {
namespace {

struct Block {
  std::string kind;
  std::vector<std::string> lines;
};

std::vector<Block> blocks_of(const std::filesystem::path& page) {
  std::vector<Block> blocks;
  std::ifstream file(page);
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("```", 0) == 0) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(3), {}});
    } else if (inside) {
      blocks.back().lines.push_back(line);
    }
  }
  return blocks;
}

/// Words of a line, one blank between them: columns may be as wide as they like.
std::string words_of(const std::string& line) {
  std::istringstream words(line);
  std::string text;
  for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// The words behind "$ banyan" where a block is of this kind; none otherwise.
std::vector<std::string> command_of(const Block& block) {
  static const std::regex form(R"(\$ banyan ((run|check) [\w-]+\.toml( [\w.]+=[\w.]+)*))");
  std::smatch found;
  if (block.kind != "console" || block.lines.size() < 2) return {};
  if (!std::regex_match(block.lines.front(), found, form)) return {};
  std::istringstream words(found[1].str());
  return {std::istream_iterator<std::string>(words), {}};
}

TEST(ShownOutput, IsWhatTheProgramSays) {
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(BANYAN_SOURCE_DIR "/docs")) {
    if (entry.path().extension() != ".md") continue;
    fresh_scratch();
    for (const Block& block : blocks_of(entry.path())) {
      if (block.kind == "toml" && !block.lines.empty() && block.lines.front().rfind("# ", 0) == 0) {
        std::string text;
        for (const std::string& line : block.lines) text += line + "\n";
        const std::string name = block.lines.front().substr(2);
        if (std::regex_match(name, std::regex(R"([\w-]+\.toml)"))) write_text(name, text);
        continue;
      }
      const std::vector<std::string> command = command_of(block);
      if (command.empty() || !std::filesystem::exists(scratch() / command[1])) continue;
      ++compared;
      const Said said = banyan(command);
      std::vector<std::string> printed;
      std::istringstream lines(said.out + said.err);
      for (std::string line; std::getline(lines, line);) printed.push_back(words_of(line));
      auto from = printed.begin();
      for (std::size_t i = 1; i < block.lines.size() && block.lines[i] != "..."; ++i) {
        const auto place = std::find(from, printed.end(), words_of(block.lines[i]));
        EXPECT_NE(place, printed.end()) << entry.path() << " shows: " << block.lines[i] << "\nand the program says:\n"
                                        << said.out << said.err;
        if (place == printed.end()) break;
        from = place + 1;
      }
    }
  }
  EXPECT_GE(compared, std::size_t{4});
}

}  // namespace
}  // namespace banyan::cli::shown_output_test
