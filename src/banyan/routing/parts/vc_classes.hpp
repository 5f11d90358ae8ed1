// Virtual channels divided into classes of equal size; the last ones take what does not divide.
#pragma once

#include <fmt/core.h>

#include <string>

#include "banyan/config/resolve.hpp"
#include "banyan/core/registry.hpp"
#include "banyan/core/routing.hpp"

namespace banyan::routing::parts {

class VcClasses {
 public:
  VcClasses(u32 vcs, u32 classes) : vcs_(vcs), classes_(classes) {}

  [[nodiscard]] u32 vcs() const noexcept { return vcs_; }
  [[nodiscard]] u32 classes() const noexcept { return classes_; }
  [[nodiscard]] u8 begin(u32 c) const noexcept { return static_cast<u8>(vcs_ * c / classes_); }
  /// The class of a virtual channel.
  [[nodiscard]] u32 of(u32 vc) const noexcept { return ((vc + 1) * classes_ - 1) / vcs_; }
  /// Port with the classes [first, last).
  [[nodiscard]] core::Candidate candidate(u32 port, u32 first, u32 last, u8 priority = 0,
                                          bool escape = false) const noexcept {
    return {static_cast<u16>(port), begin(first), begin(last), priority, escape};
  }
  [[nodiscard]] core::Candidate any(u32 port) const noexcept { return candidate(port, 0, classes_); }

 private:
  u32 vcs_;
  u32 classes_;
};

/// The switch models that can be given virtual channels, for remedies: "vc_router with vcs = 4".
inline std::string switch_with_vcs(u32 vcs) {
  return fmt::format("{} with vcs = {}", core::switches_with([](const core::SwitchRow& row) {
                       return config::find_parameter(row.info, "vcs") != nullptr;
                     }),
                     vcs);
}

/// Refuses a switch with fewer virtual channels than the routing has classes.
inline void require_vcs(const config::Values& values, const core::RoutingContext& context, u32 classes,
                        const std::string& why) {
  if (context.vcs >= classes) return;
  values.fail("name",
              fmt::format("{} needs {} virtual channels here ({}), the switch has {}", values.component(), classes, why,
                          context.vcs),
              "use the switch " + switch_with_vcs(classes));
}

}  // namespace banyan::routing::parts
