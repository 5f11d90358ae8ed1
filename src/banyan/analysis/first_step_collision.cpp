// Two messages generated at once on one node of a hypercube: how likely they want the same first link (Buzzard and
// Mudge, equations 1 and 2).
//
// E-cube (equation 1): the k-th link is the first for (2^n / (2^n - 1)) 2^-k of the destinations, so that both choose
// the same with probability (2^n / (2^n - 1))^2 sum over k of 4^-k, which goes to 1/3.
//
// QAP (equation 2): the second message collides only when it can use no other link than the first one's: when its
// destination is the neighbour over that link, one of 2^n - 1 whatever the link: exactly 1 / (2^n - 1). Equation (2) as
// printed is (2^n / (2^n - 1))^2 sum 2^-k / (2^n - 1): the sum is (2^n - 1) / 2^n, which cancels one of the two
// factors, so that 2^n / (2^n - 1)^2 is left. It normalises once too often, for 1 / (2^n - 1) counts destinations other
// than the own node already. Both go to 0.
//
// A random first step: 1/n, by symmetry: the first step of each message is uniform over the dimensions.
#include <fmt/core.h>

#include <cmath>

#include "banyan/core/analysis.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::analysis::first_step_collision {
namespace {

class FirstStepCollision final : public core::Analysis {
 public:
  explicit FirstStepCollision(u32 degree) : degree_(degree) {}

  [[nodiscard]] std::vector<core::Prediction> predict() const override {
    const double nodes = std::ldexp(1.0, static_cast<int>(degree_));
    const double others = nodes - 1.0;
    double squares = 0.0;
    for (u32 k = 1; k <= degree_; ++k) squares += std::ldexp(1.0, -2 * static_cast<int>(k));
    return {{"collision_ecube", nodes / others * (nodes / others) * squares, "probability", false},
            {"collision_qap", 1.0 / others, "probability", false},
            {"collision_qap_as_printed", nodes / (others * others), "probability", false},
            {"collision_qap_random", 1.0 / degree_, "probability", false}};
  }

 private:
  u32 degree_;
};

std::unique_ptr<core::Analysis> make(const config::Values& values, const core::AnalysisContext& context) {
  const core::Grid* const grid = context.topology->grid();
  if (grid == nullptr || !grid->is_hypercube()) {
    values.fail("name", "first_step_collision counts links of a hypercube's node",
                fmt::format("use the topology {}", core::topologies_with([](const core::Topology& t) {
                              return t.grid() != nullptr && t.grid()->is_hypercube();
                            })));
  }
  return std::make_unique<FirstStepCollision>(static_cast<u32>(grid->size.size()));
}

}  // namespace

extern const core::AnalysisRow row_first_step_collision;
const core::AnalysisRow row_first_step_collision{
    {"first_step_collision",
     "Probability that two messages of one node want the same first link of a hypercube, by way of routing",
     "Buzzard and Mudge, Short Latency Routing for Hypercube Multiprocessors, equations 1 and 2",
     {}},
    &make};

}  // namespace banyan::analysis::first_step_collision
