// A hot spot takes one flit per cycle from N terminals of which each sends it the fraction h, and its uniform share.
#include <fmt/core.h>

#include <memory>

#include "banyan/core/analysis.hpp"

namespace banyan::analysis::pfister_norton {
namespace {

class PfisterNorton final : public core::Analysis {
 public:
  explicit PfisterNorton(double bound) : bound_(bound) {}
  std::vector<core::Prediction> predict() const override {
    return {{"accepted_load", bound_, "flits/cycle/terminal", false, core::Bound::upper}};
  }

 private:
  double bound_;
};

std::unique_ptr<core::Analysis> make(const config::Values& values, const core::AnalysisContext& context) {
  if (context.traffics.size() != 1 || context.traffics.front()->component() != "hot_spot" ||
      context.traffics.front()->integers("targets").size() != 1) {
    values.fail("name", "pfister_norton describes the traffic hot_spot with one target", "use this traffic alone");
  }
  const config::Values& traffic = *context.traffics.front();
  const core::Graph& graph = context.topology->graph();
  const double n = graph.terminals();
  const double h = traffic.real("fraction");
  const auto target = static_cast<u32>(traffic.integers("targets").front());
  double capacity = 1.0 / graph.channel(graph.ejection(target)).link.cycles_per_flit;
  if (context.switching->component() == "circuit") {
    // Circuits end at a terminal over as many lanes as they are given, or as channels lead to its switch.
    const core::End exit = graph.channel(graph.ejection(target)).from;
    const i64 lanes = context.switching->integer("ejection_flits");
    capacity = static_cast<double>(lanes);
    if (lanes == 0) {
      for (u32 p = 0; p < graph.inputs(exit.node); ++p) {
        const u32 c = graph.channel_into(exit.node, p);
        capacity += c != kNone && !graph.channel(c).from.terminal ? 1.0 : 0.0;
      }
    }
  }
  // Flits per cycle that the hot spot gets for each that a terminal sends. Without messages to itself its own share
  // goes elsewhere, and the N - 1 others' uniform messages have N - 1 destinations.
  const double arriving = traffic.flag("include_self") ? h * n + (1 - h) : (n - 1) * h + (1 - h);
  return std::make_unique<PfisterNorton>(capacity / arriving);
}

}  // namespace

extern const core::AnalysisRow row_pfister_norton;
const core::AnalysisRow row_pfister_norton{
    {"pfister_norton",
     "The load at which a hot spot takes all that it can: 1 / (1 + h (N - 1)).",
     "G. F. Pfister, V. A. Norton, Hot Spot Contention and Combining in Multistage Interconnection Networks, IEEE "
     "Transactions on Computers C-34(10), 1985",
     {}},
    make};

}  // namespace banyan::analysis::pfister_norton
