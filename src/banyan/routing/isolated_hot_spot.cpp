// Isolated hot spot messages (paper 1, section 4.3, Figure 7): while its source has a pending synchronization request,
// background to the hot spot follows the synchronization, and all other background avoids the reserved subnetwork.
#include <memory>
#include <utility>

#include "banyan/routing/parts/reserved_output.hpp"

namespace banyan::routing::isolated_hot_spot {
namespace {

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  return std::make_unique<ReservedOutput>(values, context, [](const core::HotSpot& spot, u32 destination) {
    return std::pair(destination == spot.terminal, true);
  });
}

}  // namespace

extern const core::RoutingRow row_isolated_hot_spot;
const core::RoutingRow row_isolated_hot_spot{
    {"isolated_hot_spot",
     "Synchronization and background to a pending hot spot take the upper outputs of the input stage; other background "
     "avoids them.",
     "M.-C. Wang, H. J. Siegel, M. A. Nichols, S. Abraham: Using the extra stage cube multipath network to reduce the "
     "impact of hot spots. Purdue TR-EE 92-25, 1992, section 4.3",
     {}},
    make};

}  // namespace banyan::routing::isolated_hot_spot
