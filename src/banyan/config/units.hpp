// Units of values: "8 Gbps", "64 B", "800 us", "1 %", "1.5 KiB".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::config {

/// A number with an optional unit, as written.
struct Quantity {
  double number = 0.0;
  std::optional<i64> whole;  ///< the number when it was written as an integer (exact beyond 2^53)
  std::string unit;          ///< "" when none was written
};

/// Reads "NUMBER [UNIT]". Nothing when the text does not start with a number.
[[nodiscard]] std::optional<Quantity> parse_quantity(std::string_view text);

/// The quantity in the parameter's declared unit; a bare number is taken to be in it. Nothing when the unit does not
/// fit. Counts ("cycles", "flits", any word that is not in the table of physical units) fit themselves only, singular
/// or plural. A pure number (declared unit "") may be written in %.
[[nodiscard]] std::optional<double> convert(const Quantity& quantity, std::string_view declared);

/// The units that fit, for messages and help: {"ps", "ns", "us", "ms", "s"} for "ns", {"cycles"} for "cycles".
[[nodiscard]] std::vector<std::string> fitting_units(std::string_view declared);

}  // namespace banyan::config
