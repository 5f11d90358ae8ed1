// A hot spot takes one flit per cycle from N terminals of which each sends it the fraction h, and its uniform share.
#include <fmt/core.h>

#include <cmath>
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
    values.fail("name", "pfister_norton describes the traffic hot_spot with one target",
                "use the traffic hot_spot alone, with targets = [0]");
  }
  if (context.generators.front()->answers()) {
    values.fail("name",
                "pfister_norton describes messages that nobody answers, and what is accepted counts replies too",
                "use reply_size = [0] in the traffic");
  }
  const auto& switching = context.switching->all();
  if (context.generators.front()->fetch_adds() && switching.contains("combining") &&
      context.switching->text("combining") != "none") {
    values.fail("name", "pfister_norton describes requests that all reach the hot spot, and the switch combines them",
                "use combining = \"none\" in the switch, or another analysis");
  }
  const config::Values& traffic = *context.traffics.front();
  const core::Graph& graph = context.topology->graph();
  const double n = graph.terminals();
  const double h = traffic.real("fraction");
  const auto target = static_cast<u32>(traffic.integers("targets").front());
  const core::Channel& exit = graph.channel(graph.ejection(target));
  // Without messages to itself the hot spot's own share goes elsewhere, and the uniform messages have N - 1
  // destinations.
  const bool include_self = traffic.flag("include_self");
  const double uniform = (1 - h) / (include_self ? n : n - 1);
  double capacity = context.capacity.ejection / exit.link.cycles_per_flit;
  // Flits per cycle that the hot spot gets for each that a terminal sends.
  double arriving = (n - (include_self ? 0 : 1)) * (h + uniform);
  if (std::isinf(capacity)) {
    // What others than the terminals of its switch send arrives over the channels into it.
    capacity = 0.0;
    for (u32 p = 0; p < graph.inputs(exit.from.node); ++p) {
      const u32 c = graph.channel_into(exit.from.node, p);
      if (c == kNone || graph.channel(c).from.terminal) continue;
      capacity += context.capacity.channel / graph.channel(c).link.cycles_per_flit;
    }
    u32 others = 0;
    for (u32 t = 0; t < graph.terminals(); ++t) {
      others += graph.channel(graph.injection(t)).to.node != exit.from.node ? 1U : 0U;
    }
    arriving = others * (h + uniform);
  }
  if (arriving <= 0.0) values.fail("name", "nothing is sent to the hot spot", "use a network of several switches");
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
