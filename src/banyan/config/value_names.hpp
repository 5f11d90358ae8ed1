// What the values of one axis are called where curves are told apart: by what differs, never by their TOML.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "banyan/config/tree.hpp"

namespace banyan::config {

/// One name per value, each different from the others where the values differ. Scalars are called as they are written
/// ("voqsw", 0.3); tables by the entries in which they differ: {name = "a", x = 1} and {name = "b", x = 1} are "a" and
/// "b"; with equal names {name = "a", x = 1} and {name = "a", x = 2} are "x = 1" and "x = 2". Arrays of tables
/// likewise, each table under its name.
[[nodiscard]] std::vector<std::string> value_names(std::span<const Node> values);

}  // namespace banyan::config
