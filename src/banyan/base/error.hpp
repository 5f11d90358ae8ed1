// Errors of the build phase. The library throws them, the command line prints them and exits with 2.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan {

/// A place in a configuration: file, line and column (1-based; 0: unknown) and the dotted path of the key.
struct Where {
  std::string file;
  u32 line = 0;
  u32 column = 0;
  std::string key;
};

/// Bad input: one line of cause, one line of remedy, and the place that it stands at.
class ConfigError : public std::runtime_error {
 public:
  ConfigError(Where where, std::string cause, std::string remedy);

  [[nodiscard]] const Where& where() const noexcept { return where_; }
  [[nodiscard]] const std::string& cause() const noexcept { return cause_; }
  [[nodiscard]] const std::string& remedy() const noexcept { return remedy_; }

 private:
  Where where_;
  std::string cause_;
  std::string remedy_;
};

/// A broken invariant found while running (lost flit, wrong terminal, negative credit). Exit status 3.
class InvariantError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The run was interrupted by the user (Control-C). Exit status 130.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The candidate nearest to `name` in edit distance (Damerau-Levenshtein), or "" when none is near enough
/// to be a plausible misspelling (distance above a third of the length, at least 2).
[[nodiscard]] std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace banyan
