// Completion scripts for shells, written from the parser's rows.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "banyan/cli/command_rows.hpp"

namespace banyan::cli {

/// Name of a value ("STUDY") to the words that it may be. What is not named is left to the shell: files and folders.
using Choices = std::map<std::string, std::vector<std::string>>;

/// "bash", "zsh", "fish".
[[nodiscard]] const std::vector<std::string>& shells();

/// The script for one of shells().
[[nodiscard]] std::string completion_script(const std::string& shell, const CommandRow& program,
                                            const Choices& choices);

}  // namespace banyan::cli
