// Text that is shown on terminals, which obey control characters.
#pragma once

#include <string>
#include <string_view>

namespace banyan {

/// The text with '?' for every control character: those below 0x20, delete, and C1, which UTF-8 writes as 0xC2 and 0x80
/// to 0x9F.
[[nodiscard]] inline std::string without_controls(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
      shown += '?';
      ++i;
    } else {
      shown += byte < 0x20 || byte == 0x7F ? '?' : text[i];
    }
  }
  return shown;
}

}  // namespace banyan
