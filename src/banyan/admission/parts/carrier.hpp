// How feedback travels: the parameters that admissions share.
#pragma once

#include <utility>
#include <vector>

#include "banyan/core/admission.hpp"

namespace banyan::admission::parts {

/// These parameters, and those of the carrier.
[[nodiscard]] inline std::vector<config::Parameter> with_carrier(std::vector<config::Parameter> own) {
  using config::Parameter;
  const std::vector<Parameter> carrier{
      Parameter::choice("feedback", {"packets", "words"}, "packets")
          .doc("What one end of a flow tells the other goes in packets of their own, or in words that take the "
               "zero-load latency of the pair and no bandwidth"),
      Parameter::integer("feedback_flits", 0)
          .only_with("feedback", {"packets"})
          .unit("flits")
          .range(0, 65'535)
          .doc("Length of these packets; 0: the shortest that makes sense on the switch's links (24 bytes in cioq, "
               "otherwise 1 flit)"),
      Parameter::integer("feedback_priority", 0)
          .only_with("feedback", {"packets"})
          .range(0, 255)
          .doc("Priority of these packets in switches that know priorities; higher goes first")};
  own.insert(own.end(), carrier.begin(), carrier.end());
  return own;
}

[[nodiscard]] inline core::Carrier carrier(const config::Values& values) {
  return {.packets = values.text("feedback") == "packets",
          .flits = values.natural("feedback_flits"),
          .priority = static_cast<u8>(values.natural("feedback_priority"))};
}

}  // namespace banyan::admission::parts
