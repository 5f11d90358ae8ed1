// Isolated background messages (paper 1, section 4.2, Figure 3): while its source has a pending synchronization
// request, no background packet uses the reserved subnetwork.
#include <memory>
#include <utility>

#include "banyan/routing/parts/reserved_output.hpp"

namespace banyan::routing::isolated_background {
namespace {

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  return std::make_unique<ReservedOutput>(values, context,
                                          [](const core::HotSpot&, u32) { return std::pair(false, true); });
}

}  // namespace

extern const core::RoutingRow row_isolated_background;
const core::RoutingRow row_isolated_background{
    {"isolated_background",
     "Synchronization takes the upper outputs of the input stage; background of sources with a pending request avoids "
     "them.",
     "M.-C. Wang, H. J. Siegel, M. A. Nichols, S. Abraham: Using the extra stage cube multipath network to reduce the "
     "impact of hot spots. Purdue TR-EE 92-25, 1992, section 4.2",
     {}},
    make};

}  // namespace banyan::routing::isolated_background
