// The wait at a terminal whose channel is the bottleneck: M/G/1, packets of any lengths that arrive by a Poisson
// process.
#include <memory>

#include "banyan/analysis/parts/source_queue.hpp"

namespace banyan::analysis::m_g_1 {
namespace {

std::unique_ptr<core::Analysis> make(const config::Values& values, const core::AnalysisContext& context) {
  return std::make_unique<parts::SourceQueue>(values, context);
}

}  // namespace

extern const core::AnalysisRow row_m_g_1;
const core::AnalysisRow row_m_g_1{
    {"m_g_1",
     "Mean wait at a terminal whose channel is the only bottleneck: Poisson arrivals, packets of any lengths.",
     "L. Kleinrock, Queueing Systems, volume 1, Wiley, 1975, section 5.6 (Pollaczek and Khinchine)",
     {}},
    make};

}  // namespace banyan::analysis::m_g_1
