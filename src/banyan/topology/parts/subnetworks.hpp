// The number of copies of a network that lie side by side: a parameter of every topology.
#pragma once

#include "banyan/config/schema.hpp"

namespace banyan::topology::parts {

inline constexpr u32 kMostSubnetworks = 64;

inline config::Parameter subnetworks_parameter() {
  return config::Parameter::integer("subnetworks", 1)
      .range(1, kMostSubnetworks)
      .doc(
          "Copies of the network side by side; every terminal has a channel into each, and every message takes one: "
          "that which its traffic names, or a random one.");
}

}  // namespace banyan::topology::parts
