// The wait at a terminal whose channel is the bottleneck: M/D/1, packets of one length that arrive by a Poisson
// process.
#include <memory>

#include "banyan/analysis/parts/source_queue.hpp"

namespace banyan::analysis::m_d_1 {
namespace {

std::unique_ptr<core::Analysis> make(const config::Values& values, const core::AnalysisContext& context) {
  for (const config::Values* traffic : context.traffics) {
    const auto kind = traffic->all().find("size_distribution");
    if (kind == traffic->all().end() || kind->second == config::Value(std::string("fixed"))) continue;
    values.fail("name", "the D of m_d_1 says that all packets have one length",
                "use size_distribution = \"fixed\" in the traffic, or the analysis m_g_1");
  }
  return std::make_unique<parts::SourceQueue>(values, context);
}

}  // namespace

extern const core::AnalysisRow row_m_d_1;
const core::AnalysisRow row_m_d_1{
    {"m_d_1",
     "Mean wait at a terminal whose channel is the only bottleneck: Poisson arrivals, packets of one length.",
     "L. Kleinrock, Queueing Systems, volume 1, Wiley, 1975, section 5.6 (Pollaczek and Khinchine)",
     {}},
    make};

}  // namespace banyan::analysis::m_d_1
