// How long the headers of multicasts are and in how many phases they are sent, by their encoding (Sivaram, Stunkel,
// Panda, section 3.2; Xu, Gui, Ni 1994): one worm with a bit per terminal, worms with a field of ports per stage, or
// messages with one destination along a binomial tree.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "banyan/base/rng.hpp"
#include "banyan/config/resolve.hpp"
#include "banyan/core/analysis.hpp"
#include "banyan/core/multicast.hpp"
#include "banyan/core/multiport.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::analysis::multicast_phases {
namespace {

constexpr Stream kSets{"multicast_phases: destinations"};

class MulticastPhases final : public core::Analysis {
 public:
  MulticastPhases(const core::Topology& topology, u32 degree, u32 draws)
      : terminals_(topology.graph().terminals()), degree_(degree), draws_(draws), multiport_(topology) {}

  /// Means over sets that are drawn uniformly, each from a source of its own.
  [[nodiscard]] std::vector<core::Prediction> predict() const override {
    const Random random(0, kSets, 0, 0);
    core::MultiportPlan plan;
    std::vector<u32> others(terminals_);
    u64 worms = 0;
    u64 phases = 0;
    for (u32 nth = 0; nth < draws_; ++nth) {
      const u32 source = below(random.at(0, nth)[0], terminals_);
      std::iota(others.begin(), others.end(), 0U);
      std::swap(others[source], others.back());
      for (u32 k = 0; k < degree_; ++k) {  // the first places of a random order of all but the last
        std::swap(others[k], others[k + below(random.at(k + 1, nth)[0], terminals_ - 1 - k)]);
      }
      multiport_.plan(source, std::span<const u32>(others).first(degree_), plan);
      worms += plan.worms.size();
      phases += plan.phases;
    }
    const auto mean = [&](u64 sum) { return static_cast<double>(sum) / draws_; };
    return {{"header_bit_string", static_cast<double>(core::bit_string_flits(terminals_)), "flits"},
            {"header_multiport", static_cast<double>(multiport_.header_flits()), "flits"},
            {"worms_multiport", mean(worms), "worms"},
            {"phases_bit_string", 1.0, "phases"},
            {"phases_multiport", mean(phases), "phases"},
            {"phases_software", static_cast<double>(std::bit_width(degree_)), "phases"}};
  }

 private:
  u32 terminals_;
  u32 degree_;
  u32 draws_;
  core::Multiport multiport_;
};

std::unique_ptr<core::Analysis> make(const config::Values& values, const core::AnalysisContext& context) {
  const u32 terminals = context.topology->graph().terminals();
  u32 degree = values.natural("degree");
  if (degree == 0) {
    for (const config::Values* traffic : context.traffics) {
      if (degree == 0 && traffic->all().contains("degree")) degree = traffic->natural("degree");
    }
  }
  if (degree == 0 || degree > terminals - 1) {
    values.fail(
        "degree", "a multicast to " + std::to_string(degree) + " of " + std::to_string(terminals - 1) + " others",
        fmt::format("use the traffic {}, or a degree of 1 to {}", core::traffics_with([](const core::TrafficRow& row) {
                      return config::find_parameter(row.info, "degree") != nullptr;
                    }),
                    terminals - 1));
  }
  try {
    return std::make_unique<MulticastPhases>(*context.topology, degree, values.natural("draws"));
  } catch (const std::invalid_argument& cause) {
    values.fail("name", cause.what(),
                fmt::format("use the topology {}", core::topologies_with([](const core::Topology& t) {
                              return t.tree() != nullptr || t.multistage() != nullptr;
                            })));
  }
}

using config::Parameter;

}  // namespace

extern const core::AnalysisRow row_multicast_phases;
const core::AnalysisRow row_multicast_phases{
    {"multicast_phases",
     "Header lengths and phases of multicasts: bit string, multiport encoding, and software",
     "R. Sivaram, D. K. Panda, C. B. Stunkel, Efficient Broadcast and Multicast on Multistage Interconnection Networks "
     "using Multiport Encoding, IEEE TPDS 9(10), 1998; R. Sivaram, C. B. Stunkel, D. K. Panda, Implementing "
     "Multidestination Worms in Switch-Based Parallel Systems, section 3.2",
     {Parameter::integer("degree", 0).range(0, 65535).doc("Destinations of a multicast, m; 0: those of the traffic"),
      Parameter::integer("draws", 1000).range(1, 1000000).doc("Random sets of destinations to average over")}},
    &make};

}  // namespace banyan::analysis::multicast_phases
