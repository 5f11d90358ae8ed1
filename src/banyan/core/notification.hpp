// What a switch tells the source of a packet that waits at a congested output, and the admissions that hear it.
#pragma once

#include "banyan/base/types.hpp"

namespace banyan::core {

/// Feedback::kind of it. Only an admission that is a HearsSwitches is told.
inline constexpr u8 kSwitchNotification = 255;

/// An admission derives from it when its heard() takes such feedback, at the sending end of the packet's flow.
class HearsSwitches {
 public:
  HearsSwitches() = default;
  virtual ~HearsSwitches() = default;
  HearsSwitches(const HearsSwitches&) = delete;
  HearsSwitches& operator=(const HearsSwitches&) = delete;
};

}  // namespace banyan::core
