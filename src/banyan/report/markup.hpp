// Text on its way into HTML and SVG. Everything that comes from a configuration passes here.
#pragma once

#include <string>
#include <string_view>

namespace banyan::report {

/// Escapes markup for element content and attribute values; control characters that XML forbids become U+FFFD, and so
/// do bytes that are no UTF-8.
[[nodiscard]] std::string escape(std::string_view text);

/// Escaped, with "_{x}" as a subscript: <sub> for a page, <tspan> for a drawing.
[[nodiscard]] std::string html_label(std::string_view text);
[[nodiscard]] std::string svg_label(std::string_view text);
/// Without the marks: "μ_{SYN}" is "μ SYN".
[[nodiscard]] std::string plain_label(std::string_view text);

/// Percent-encoded, for data: addresses.
[[nodiscard]] std::string percent_encode(std::string_view bytes);

}  // namespace banyan::report
