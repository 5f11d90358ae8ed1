// What makes a flow: the parameter that admissions share.
#pragma once

#include "banyan/core/admission.hpp"

namespace banyan::admission::parts {

enum class FlowIs : u8 { destination, service_class, terminal };

/// The parameter `flow`.
[[nodiscard]] inline config::Parameter flow_parameter() {
  return config::Parameter::choice("flow", {"destination", "class", "terminal"}, "destination")
      .doc(
          "What shares a flow: messages of a source for one destination (and class), those of one class (a traffic, or "
          "its replies), or all of them");
}

[[nodiscard]] inline FlowIs flow_is(const config::Values& values) {
  const std::string& flow = values.text("flow");
  if (flow == "class") return FlowIs::service_class;
  return flow == "terminal" ? FlowIs::terminal : FlowIs::destination;
}

/// core::Admission::flow_key.
[[nodiscard]] inline u64 flow_key(FlowIs flow, const core::FlowMember& member) noexcept {
  switch (flow) {
    case FlowIs::service_class:
      return member.service_class;
    case FlowIs::terminal:
      return 0;
    case FlowIs::destination:
      break;
  }
  return u64{member.service_class} << 32U | member.destination;
}

}  // namespace banyan::admission::parts
