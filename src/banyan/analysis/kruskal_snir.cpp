// A delta network with infinite buffers at the outputs of its k x k switches, under uniform traffic of load p.
#include <memory>

#include "banyan/analysis/parts/delta.hpp"

namespace banyan::analysis::kruskal_snir {
namespace {

class KruskalSnir final : public core::Analysis {
 public:
  KruskalSnir(parts::Delta delta, bool limit) : delta_(delta), limit_(limit) {}
  std::vector<core::Prediction> predict() const override {
    const double p = delta_.load;
    const double k = delta_.radix;
    const bool saturated = p >= 1;
    // The mean waiting time at the first stage, exact: k Bernoulli inputs, one service per cycle.
    const double first = saturated ? 0.0 : (1 - 1 / k) * p / (2 * (1 - p));
    // Kruskal, Snir and Weiss (1988) fit what it tends to at later stages.
    const double later = limit_ ? first * (1 + 4 * p / (5 * k)) : first;
    const double latency = delta_.stages + first + (delta_.stages - 1) * later;
    return {{"packet_latency", latency, "cycles", saturated, core::Bound::none}};
  }

 private:
  parts::Delta delta_;
  bool limit_;
};

std::unique_ptr<core::Analysis> make(const config::Values& values, const core::AnalysisContext& context) {
  if (context.switching->component() != "output_queued") {
    values.fail("name", "kruskal_snir describes switches with queues at their outputs", "use the switch output_queued");
  }
  return std::make_unique<KruskalSnir>(parts::delta_of(values, context), values.text("later_stages") == "limit");
}

}  // namespace

using config::Parameter;
extern const core::AnalysisRow row_kruskal_snir;
const core::AnalysisRow row_kruskal_snir{
    {"kruskal_snir",
     "Latency of a buffered delta network with infinite queues.",
     "C. P. Kruskal, M. Snir, The Performance of Multistage Interconnection Networks for Multiprocessors, IEEE "
     "Transactions on Computers C-32(12), 1983; with A. Weiss, The Distribution of Waiting Times in Clocked Multistage "
     "Interconnection Networks, IEEE Transactions on Computers 37(11), 1988",
     {Parameter::choice("later_stages", {"first", "limit"}, "first")
          .doc("Waiting time at the stages behind the first: that of the first (1983), or the limit (1988).")}},
    make};

}  // namespace banyan::analysis::kruskal_snir
