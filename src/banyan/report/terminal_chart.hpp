// A chart as text, for a quick look: curves in braille dots, points as marks, colours where the terminal has them.
#pragma once

#include <string>

#include "banyan/report/chart.hpp"

namespace banyan::report {

struct TerminalStyle {
  std::size_t columns = 80;  ///< of the terminal; at least 40 are used
  std::size_t rows = 17;     ///< of the plotting area; rounded up to an odd number
  bool colour = false;       ///< escape sequences; the marks tell curves apart without them
};

/// Title, plot with axes, and a legend, ending in a line break. No line is wider than `columns`, as long as that is 40
/// or more. Control characters of labels are replaced: a configuration cannot drive the terminal.
[[nodiscard]] std::string to_terminal(const Chart& chart, const TerminalStyle& style);

}  // namespace banyan::report
