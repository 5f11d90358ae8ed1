// Saturation of a switch with one FIFO per input under uniform traffic: packets behind a blocked head wait although
// their outputs are idle.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "banyan/analysis/parts/uniform_flits.hpp"
#include "banyan/core/analysis.hpp"

namespace banyan::analysis::karol_hluchyj_morgan {
namespace {

constexpr u32 kExact = 20;  ///< largest switch whose Markov chain is solved
constexpr u32 kHalf = kExact / 2;

/// How many heads wait for each output, in descending order.
using Heads = std::vector<u16>;

/// The chain of the heads of N saturated inputs: in a cycle every output that is wanted serves one head, and each of
/// these inputs shows a new one for a random output. Returns served packets per cycle and output.
double saturation(u32 n) {
  // Levels by the number of heads: from each state those that were served leave, and new ones come one by one.
  std::map<Heads, double> state{{Heads(n, 1), 1.0}};
  double served = 0.0;
  for (u32 iteration = 0; iteration < 2000; ++iteration) {
    double now = 0.0;
    std::vector<std::map<Heads, double>> level(n + 1);
    for (const auto& [heads, probability] : state) {
      Heads left;
      for (const u16 count : heads) {
        if (count > 1) left.push_back(static_cast<u16>(count - 1));
      }
      now += probability * static_cast<double>(heads.size());
      level[n - heads.size()][left] += probability;
    }
    for (u32 m = 0; m < n; ++m) {
      for (const auto& [heads, probability] : level[m]) {
        Heads fresh = heads;
        fresh.push_back(1);
        level[m + 1][fresh] += probability * static_cast<double>(n - heads.size()) / n;
        for (std::size_t i = 0; i < heads.size();) {
          std::size_t same = i;
          while (same < heads.size() && heads[same] == heads[i]) ++same;
          Heads more = heads;
          ++more[i];  // the first of equals: the order stays
          level[m + 1][more] += probability * static_cast<double>(same - i) / n;
          i = same;
        }
      }
    }
    state = std::move(level[n]);
    const bool settled = std::abs(now - served) < 1e-10 * n;
    served = now;
    if (settled && iteration > 4) break;
  }
  return served / n;
}

/// The limit for large N is 2 - sqrt(2); between, the distance from it falls as 1 / N, with a term in 1 / N^2.
double saturation_of(u32 n) {
  if (n <= kExact) return saturation(n);
  const double limit = 2 - std::sqrt(2.0);
  const double a = (saturation(kExact) - limit) * kExact;
  const double b = (saturation(kHalf) - limit) * kHalf;
  const double second = (b - a) * kExact;  // a + second / N - second / kExact
  return limit + (a - second / kExact + second / n) / n;
}

class Karol final : public core::Analysis {
 public:
  Karol(u32 ports, double load) : ports_(ports), load_(load) {}
  std::vector<core::Prediction> predict() const override {
    const double saturation = saturation_of(ports_);
    return {{"accepted_load", std::min(load_, saturation), "flits/cycle/terminal", false, core::Bound::none},
            {"saturation_throughput", saturation, "flits/cycle/terminal", false, core::Bound::none},
            {"large_switch_throughput", 2 - std::sqrt(2.0), "flits/cycle/terminal", false, core::Bound::none}};
  }

 private:
  u32 ports_;
  double load_;
};

std::unique_ptr<core::Analysis> make(const config::Values& values, const core::AnalysisContext& context) {
  const core::Graph& graph = context.topology->graph();
  if (graph.switches() != 1 || context.switching->component() != "vc_router" || context.vcs != 1) {
    values.fail("name", "karol_hluchyj_morgan describes one switch with one FIFO per input",
                "use a network of one switch, such as multistage_cube with radix = terminals, and the switch vc_router "
                "with vcs = 1");
  }
  parts::expect_uniform_flits(values, context);
  return std::make_unique<Karol>(graph.terminals(), context.traffics.front()->real("load"));
}

}  // namespace

extern const core::AnalysisRow row_karol_hluchyj_morgan;
const core::AnalysisRow row_karol_hluchyj_morgan{
    {"karol_hluchyj_morgan",
     "Saturation throughput of an input-queued switch: 58.6 % for many ports, exact for few.",
     "M. J. Karol, M. G. Hluchyj, S. P. Morgan, Input Versus Output Queueing on a Space-Division Packet Switch, IEEE "
     "Transactions on Communications 35(12), 1987",
     {}},
    make};

}  // namespace banyan::analysis::karol_hluchyj_morgan
