// Text on its way into HTML and SVG. Everything that comes from a configuration passes here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace banyan::report {

/// Escapes markup for element content and attribute values; control characters that XML forbids become U+FFFD, and so
/// do bytes that are no UTF-8.
[[nodiscard]] std::string escape(std::string_view text);

/// Escaped, with "_{x}" as a subscript: <sub> for a page, <tspan> for a drawing.
[[nodiscard]] std::string html_label(std::string_view text);
/// Markup that may go on in another line behind an underscore, and behind a stroke or a point before a word.
[[nodiscard]] std::string foldable(const std::string& markup);
[[nodiscard]] std::string svg_label(std::string_view text);
/// Takes the marks away: "μ_{SYN}" becomes "μ SYN".
[[nodiscard]] std::string plain_label(std::string_view text);

/// Characters: a continuation byte of UTF-8 takes no column.
[[nodiscard]] std::size_t columns_of(std::string_view text) noexcept;

/// Keeps at most `most` characters: the begin, and twice as much of the end, where names of curves have their numbers.
[[nodiscard]] std::string cut_in_the_middle(const std::string& text, std::size_t most);

/// Each name in at most `most` characters: where one has more, all without the words that they begin or end with alike,
/// and then the last words of each, as far as these still tell them apart.
[[nodiscard]] std::vector<std::string> fit_names(const std::vector<std::string>& names, std::size_t most);

/// Percent-encoded, for data: addresses.
[[nodiscard]] std::string percent_encode(std::string_view bytes);

}  // namespace banyan::report
