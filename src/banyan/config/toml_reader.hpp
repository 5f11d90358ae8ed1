// TOML text to tree. The TOML library is known to toml_reader.cpp alone.
#pragma once

#include <string>

#include "banyan/config/tree.hpp"

namespace banyan::config {

/// Reads a file. Throws ConfigError: no such file, a directory, unreadable, or a syntax error with line and column.
/// `what`: what it should hold, for messages.
[[nodiscard]] Node read_toml_file(const std::string& path, const std::string& what = "an experiment");

/// Reads a text; `name` stands for the file in every place.
[[nodiscard]] Node read_toml_text(const std::string& text, const std::string& name);

/// Reads one value as the command line gives it: TOML syntax, or a bare word or quantity as a text without quotes
/// (`full`, `8 Gbps`, `[full, cheap]`). Every place in the result is `where`.
[[nodiscard]] Node read_toml_value(const std::string& text, const Where& where);

}  // namespace banyan::config
