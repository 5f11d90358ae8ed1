// The hot section (paper 1, section 4.4, Figure 12): only background to terminals near the hot spot, whose paths share
// boxes with the saturation tree, avoids the reserved subnetwork; background to the other sections goes straight.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "banyan/routing/parts/reserved_output.hpp"

namespace banyan::routing::hot_section {
namespace {

/// Terminals per section.
u32 checked_section(const config::Values& values, u32 terminals) {
  const u32 sections = values.natural("sections");
  if (is_power_of_two(sections) && terminals % sections == 0) return terminals / sections;
  const u32 most = u32{1} << static_cast<u32>(std::countr_zero(terminals));
  const u32 lower = std::min(std::bit_floor(sections), most);
  const u32 upper = std::min(lower * 2, most);
  values.fail(
      "sections",
      fmt::format("{} sections: their number must be a power of two that divides {} terminals", sections, terminals),
      lower == upper ? fmt::format("use {}", lower) : fmt::format("use {} or {}", lower, upper));
}

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  const u32 section = checked_section(values, context.topology->graph().terminals());
  return std::make_unique<ReservedOutput>(values, context, [section](const core::HotSpot& spot, u32 destination) {
    return std::pair(destination == spot.terminal, destination / section == spot.terminal / section);
  });
}

}  // namespace

using config::Parameter;
extern const core::RoutingRow row_hot_section;
const core::RoutingRow row_hot_section{
    {"hot_section",
     "As isolated_hot_spot, but only background to the section of terminals around a pending hot spot avoids the upper "
     "outputs.",
     "M.-C. Wang, H. J. Siegel, M. A. Nichols, S. Abraham: Using the extra stage cube multipath network to reduce the "
     "impact of hot spots. Purdue TR-EE 92-25, 1992, section 4.4",
     {
         Parameter::integer("sections", 4)
             .range(1, 1 << 20)
             .doc("Sections of equal size that the terminals are divided into, K: a power of two that divides N."),
     }},
    make};

}  // namespace banyan::routing::hot_section
