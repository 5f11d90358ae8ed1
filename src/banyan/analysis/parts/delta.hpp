// What models of delta networks need of an experiment: a multistage network and uniform packets of one flit.
#pragma once

#include <fmt/core.h>

#include "banyan/analysis/parts/uniform_flits.hpp"
#include "banyan/core/analysis.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::analysis::parts {

struct Delta {
  u32 radix = 2;
  u32 stages = 1;
  double load = 0.0;
};

[[nodiscard]] inline Delta delta_of(const config::Values& values, const core::AnalysisContext& context) {
  const core::Multistage* const network = context.topology->multistage();
  if (network == nullptr || network->extra_stage) {
    values.fail("name", fmt::format("{} describes a delta network", values.component()),
                fmt::format("use the topology {}", core::topologies_with([](const core::Topology& t) {
                              return t.multistage() != nullptr && !t.multistage()->extra_stage;
                            })));
  }
  expect_uniform_flits(values, context);
  return {network->radix, static_cast<u32>(network->digit_of_stage.size()), context.traffics.front()->real("load")};
}

}  // namespace banyan::analysis::parts
