// Text that is shown on terminals, which obey control characters.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace banyan {

/// What no name may have, wherever it is read from, because it changes what a terminal or an editor shows.
struct TextFault {
  std::size_t at = 0;  ///< the byte where it begins
  std::string what;    ///< for people: "the control character U+001B"
};

/// The first control character (C0, delete, C1), byte that is no UTF-8, or mark that changes the direction of the text
/// around it. Nothing when the text shows as it is.
[[nodiscard]] std::optional<TextFault> text_fault(std::string_view text);

/// The text with every such fault written out: "\x1b" for a byte, "\u{202e}" for a mark. Newlines stay.
[[nodiscard]] std::string with_faults_shown(std::string_view text);

/// The text with '?' for every such fault: for charts, whose columns are counted.
[[nodiscard]] std::string without_controls(std::string_view text);

}  // namespace banyan
