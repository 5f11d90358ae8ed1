// A BookSim2 configuration as the text of an experiment, with its remarks said.
#pragma once

#include <string>
#include <vector>

#include "banyan/booksim/booksim.hpp"

namespace banyan::cli {

/// Notes every remark on standard error. Throws ConfigError when something is not mapped, unless that is to be ignored
/// and an experiment is left.
[[nodiscard]] booksim::Conversion converted(const std::string& file, const std::vector<std::string>& overrides,
                                            bool ignore_unmapped);

}  // namespace banyan::cli
