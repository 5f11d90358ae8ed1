// E-cube routing: dimension order on a hypercube, from the lowest dimension on.
#include <memory>

#include "banyan/routing/parts/first_step.hpp"

namespace banyan::routing::ecube {
namespace {

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  return std::make_unique<parts::HypercubeSteps<parts::FirstStep::fixed>>(values, context);
}

}  // namespace

extern const core::RoutingRow row_ecube;
const core::RoutingRow row_ecube{{"ecube",
                                  "The lowest dimension in which the addresses differ, at every step.",
                                  "C. R. Lang, The Extension of Object-Oriented Languages to a Homogeneous Concurrent "
                                  "Architecture, California Institute of Technology, 5014:TR:82, 1982",
                                  {}},
                                 make};

}  // namespace banyan::routing::ecube
