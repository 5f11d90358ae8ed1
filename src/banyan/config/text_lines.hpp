// Components that take lines of text from a file or from the experiment: their parameters `file` and `lines`.
#pragma once

#include <string>
#include <vector>

#include "banyan/base/text_lines.hpp"
#include "banyan/config/schema.hpp"

namespace banyan::config {

/// The lines of `file`, where one is named, or `given`. `what`: "routing table". Throws ConfigError where there are
/// both, or the file cannot be read.
[[nodiscard]] std::vector<TextLine> lines_of(const Values& values, const std::string& what,
                                             const std::vector<std::string>& given);

}  // namespace banyan::config
