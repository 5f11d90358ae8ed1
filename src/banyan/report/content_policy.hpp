// What the page allows itself: its own script and its own style, known by their hashes, and nothing from outside.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "banyan/base/types.hpp"

namespace banyan::report {

/// SHA-256 (FIPS 180-4).
[[nodiscard]] std::array<unsigned char, 32> sha256(std::string_view bytes);

/// RFC 4648, section 4, with padding.
[[nodiscard]] std::string base64(std::string_view bytes);

/// A Content-Security-Policy for a page with one style element and one script element ("" for none), under which no
/// other script runs, whatever text found its way into the page.
[[nodiscard]] std::string content_policy(std::string_view style, std::string_view script);

}  // namespace banyan::report
