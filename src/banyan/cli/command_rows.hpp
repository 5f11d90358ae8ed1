// The rows that the parser reads, as data: --help, the completion of shells and the manual cannot disagree.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace banyan::cli {

struct OptionRow {
  std::vector<std::string> names;  ///< "--quiet", "-q"; of an argument without dashes its name alone: "FILE"
  std::string value;               ///< "DIR"; "" when it is a flag; of an argument without dashes its name
  std::string help;
  bool positional = false;
  bool required = false;
  bool repeatable = false;
};

struct CommandRow {
  std::string path;  ///< "banyan study run"
  std::string help;
  std::vector<OptionRow> options;
  std::vector<CommandRow> commands;

  [[nodiscard]] std::string name() const;  ///< the last word of the path
  [[nodiscard]] std::vector<OptionRow> positionals() const;
};

/// What a parser was told, its commands included, in the order in which it was told.
[[nodiscard]] CommandRow rows_of(const CLI::App& app);

/// All commands that do something, in order: "banyan run", "banyan study list".
[[nodiscard]] std::vector<CommandRow> leaves_of(const CommandRow& row);

}  // namespace banyan::cli
