// The manual page, written from the parser's rows.
#pragma once

#include <string>

#include "banyan/cli/command_rows.hpp"

namespace banyan::cli {

/// Source for man(1): banyan.1.
[[nodiscard]] std::string manual_page(const CommandRow& program, const std::string& version);
/// The same as a page of the documentation.
[[nodiscard]] std::string manual_markdown(const CommandRow& program);

}  // namespace banyan::cli
