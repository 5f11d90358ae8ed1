// Quasi-adaptive routing (QAP, Buzzard and Mudge): the first step takes the shortest queue among the dimensions that
// lead nearer, all later steps are e-cube.
#include <memory>

#include "banyan/routing/parts/first_step.hpp"

namespace banyan::routing::qap {
namespace {

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  return std::make_unique<parts::HypercubeSteps<parts::FirstStep::shortest>>(values, context);
}

}  // namespace

extern const core::RoutingRow row_qap;
const core::RoutingRow row_qap{
    {"qap",
     "Quasi-adaptive: the first step into the shortest queue of a dimension that leads nearer, then e-cube.",
     "G. Buzzard and T. Mudge, Short Latency Routing for Hypercube Multiprocessors, section 3",
     {}},
    make};

}  // namespace banyan::routing::qap
