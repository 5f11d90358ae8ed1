// The remedy for a word of a workload file that is none of those that may stand there.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "banyan/base/error.hpp"

namespace banyan::workload {

/// The nearest of the words, where one is near; `otherwise` else.
[[nodiscard]] inline std::string remedy_for(std::string_view word, const std::vector<std::string>& words,
                                            const std::string& otherwise) {
  const std::string nearest = nearest_name(word, words);
  return nearest.empty() ? otherwise : fmt::format("did you mean \"{}\"?", nearest);
}

}  // namespace banyan::workload
