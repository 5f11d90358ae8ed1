// What can be written as key=value behind the file of an experiment.
#pragma once

#include <string>
#include <vector>

namespace banyan::api {

/// A key of an experiment and what it may be.
struct Key {
  std::string path;                 ///< "switch.buffer", "traffic.uniform.load", "routing"
  std::vector<std::string> values;  ///< where there are few: names of components, choices, true and false
};

/// The keys of the experiment in a file: of its components, in the order of their tables, and of a traffic among others
/// by its name. Throws ConfigError where the file is no experiment.
[[nodiscard]] std::vector<Key> keys_of(const std::string& file);

}  // namespace banyan::api
