// Groups of terminals with consecutive numbers: shared by the patterns that know near and far.
#pragma once

#include <string>

#include "banyan/config/schema.hpp"
#include "banyan/core/traffic.hpp"

namespace banyan::traffic {

inline config::Parameter group_parameter() {
  return config::Parameter::integer("group_size", 1)
      .required()
      .unit("terminals")
      .range(1, 4294967295.0)
      .doc("Terminals per group; groups are consecutive numbers from 0 on, as a dragonfly numbers them");
}

/// Throws ConfigError when the groups do not fill the network.
inline u32 group_size(const config::Values& values, const core::TrafficContext& context) {
  const u32 group = values.natural("group_size");
  if (context.terminals % group != 0) {
    values.fail(
        "group_size",
        "groups of " + std::to_string(group) + " do not fill " + std::to_string(context.terminals) + " terminals",
        "use a divisor of the number of terminals");
  }
  return group;
}

}  // namespace banyan::traffic
