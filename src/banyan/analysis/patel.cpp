// A delta network without buffers: of several requests for an output of a crossbar one goes on, the others are lost.
#include <cmath>
#include <memory>

#include "banyan/analysis/parts/delta.hpp"

namespace banyan::analysis::patel {
namespace {

class Patel final : public core::Analysis {
 public:
  explicit Patel(parts::Delta delta) : delta_(delta) {}
  std::vector<core::Prediction> predict() const override {
    // p_(i+1) = 1 - (1 - p_i / b)^b: an output is idle when none of the b inputs asks for it.
    double p = delta_.load;
    for (u32 stage = 0; stage < delta_.stages; ++stage) p = 1 - std::pow(1 - p / delta_.radix, delta_.radix);
    return {{"unbuffered_throughput", p, "flits/cycle/terminal", false, core::Bound::none},
            {"acceptance", delta_.load > 0 ? p / delta_.load : 1.0, "", false, core::Bound::none}};
  }

 private:
  parts::Delta delta_;
};

std::unique_ptr<core::Analysis> make(const config::Values& values, const core::AnalysisContext& context) {
  return std::make_unique<Patel>(parts::delta_of(values, context));
}

}  // namespace

extern const core::AnalysisRow row_patel;
const core::AnalysisRow row_patel{{"patel",
                                   "Throughput of an unbuffered delta network that drops what is blocked.",
                                   "J. H. Patel, Performance of Processor-Memory Interconnections for Multiprocessors, "
                                   "IEEE Transactions on Computers "
                                   "C-30(10), 1981",
                                   {}},
                                  make};

}  // namespace banyan::analysis::patel
