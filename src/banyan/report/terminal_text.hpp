// Text and tables for a terminal of a given width.
#pragma once

#include <cstddef>
#include <string>

namespace banyan::report {

/// The text without lines that are wider than `columns` characters (at least 20). A table that is too wide becomes
/// several, one below the other, each with the first `keys` columns; where its last column alone is too wide, as in a
/// list with explanations, that is folded in its place. Other lines are folded between words, and go on indented.
/// A table is lines that follow each other, indented alike, whose columns are two spaces or more apart.
[[nodiscard]] std::string fit_to_columns(const std::string& text, std::size_t columns, std::size_t keys = 1);

/// The same text for a terminal that shows colours: heads of tables in bold, and verdicts, where one stands alone in a
/// cell or begins the text ("NAME: VERDICT"), in green, yellow or red. Fold it first: the marks take no column.
[[nodiscard]] std::string in_colour(const std::string& text);

}  // namespace banyan::report
