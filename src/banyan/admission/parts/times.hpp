// Times in nanoseconds, for admissions whose literature gives them so.
#pragma once

#include <algorithm>
#include <cmath>

#include "banyan/core/admission.hpp"

namespace banyan::admission::parts {

[[nodiscard]] inline config::Parameter cycle_parameter() {
  return config::Parameter::real("cycle", 1.0)
      .unit("ns")
      .range(1e-6, 1e9)
      .doc("Length of a cycle, where the switch gives it none; 1 ns and flits of 5 bytes are links of 40 Gbps");
}

/// Nanoseconds per cycle: the switch's, or the parameter.
[[nodiscard]] inline double cycle_ns(const config::Values& values, const core::AdmissionContext& context) {
  return context.cycle_ns > 0.0 ? context.cycle_ns : values.real("cycle");
}

/// A time in ticks, at least one.
[[nodiscard]] inline Tick ticks_of(double ns, double cycle_ns) {
  return static_cast<Tick>(std::max(1.0, std::round(ns / cycle_ns)));
}

/// When a wait that began at one pace is over if the rest of it, from `from` on, is at another one. Paces are times per
/// flit or per cycle; all in one unit.
[[nodiscard]] inline u64 sooner(u64 over, u64 from, u64 before, u64 pace) {
  if (over <= from) return over;
  const double rest = static_cast<double>(over - from) / static_cast<double>(before);
  return from + static_cast<u64>(rest * static_cast<double>(pace));
}

}  // namespace banyan::admission::parts
