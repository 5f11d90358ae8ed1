// What classical models of switches and delta networks take for granted of the traffic.
#pragma once

#include <fmt/core.h>

#include "banyan/core/analysis.hpp"

namespace banyan::analysis::parts {

/// Refuses all but independent arrivals of single flits for outputs that are drawn uniformly from all: in a cycle every
/// terminal generates one with the same probability, whatever happened before.
inline void expect_uniform_flits(const config::Values& values, const core::AnalysisContext& context) {
  const config::Values& traffic = *context.traffics.front();
  if (context.traffics.size() != 1 || traffic.component() != "uniform" || !traffic.flag("include_self") ||
      traffic.text("size_distribution") != "fixed" || traffic.integer("size") != 1) {
    values.fail("name", fmt::format("{} describes uniform packets of one flit to all outputs", values.component()),
                "use the traffic uniform alone, with include_self = true, size = 1 and size_distribution = \"fixed\"");
  }
  if (context.held_back) {
    values.fail("name", fmt::format("{} describes sources that nothing holds back", values.component()),
                "use admission = \"none\"");
  }
  if (traffic.text("process") != "bernoulli" || context.generators.front()->answers() ||
      context.generators.front()->finite()) {
    values.fail("name",
                fmt::format("{} describes arrivals with the same probability in every cycle", values.component()),
                "use process = \"bernoulli\" in the traffic, without a batch and without replies");
  }
}

}  // namespace banyan::analysis::parts
