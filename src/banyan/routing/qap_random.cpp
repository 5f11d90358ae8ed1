// What QAP is compared with: the first step is any of the dimensions that lead nearer, at random; later ones are
// e-cube.
#include <memory>

#include "banyan/routing/parts/first_step.hpp"

namespace banyan::routing::qap_random {
namespace {

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  return std::make_unique<parts::HypercubeSteps<parts::FirstStep::random>>(values, context);
}

}  // namespace

extern const core::RoutingRow row_qap_random;
const core::RoutingRow row_qap_random{
    {"qap_random",
     "The first step at random among the dimensions that lead nearer, then e-cube.",
     "G. Buzzard and T. Mudge, Short Latency Routing for Hypercube Multiprocessors, section 3",
     {}},
    make};

}  // namespace banyan::routing::qap_random
