// Other programs: their words and their exit status.
#pragma once

#include <string>
#include <vector>

namespace banyan::cli {

struct ProgramSaid {
  bool found = false;  ///< whether there is such a program
  int status = -1;     ///< 128 and more: ended by a signal
  std::string out;
  std::string err;
};

/// Runs a program of the PATH, without a shell, with nothing on its standard input.
[[nodiscard]] ProgramSaid run_program(const std::vector<std::string>& words);

/// The path of this program.
[[nodiscard]] std::string own_path();

/// Quoted for a shell.
[[nodiscard]] std::string quoted_for_shell(const std::string& word);

}  // namespace banyan::cli
