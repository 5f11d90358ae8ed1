// What is there when a run begins: models that take every message out of its source queue when it is born hold all that
// are born at once.
#pragma once

#include <fmt/core.h>

#include "banyan/config/schema.hpp"
#include "banyan/engine/builder.hpp"

namespace banyan::switching::parts {

/// Messages of all terminals that a model may hold from the first tick on: some gigabytes.
inline constexpr u64 kMostAtStart = u64{1} << 24U;

/// Whether a terminal of the traffic has so many messages at tick 0. They are numbered by time, and one that is not
/// there at once comes some ticks after the one before, so that a few in a row do not seem to be by chance.
[[nodiscard]] inline bool starts_with(const core::Traffic& traffic, u32 terminal, u64 messages) {
  constexpr u64 kInARow = 64;
  core::Message message;
  for (u64 nth = messages; nth < messages + kInARow; ++nth) {
    if (!traffic.next(terminal, nth, 0, message) || message.birth != 0) return false;
  }
  return true;
}

/// Throws ConfigError when the model would have to hold more than it may. With an admission few of them join the flows.
inline void require_few_at_start(const config::Values& values, const engine::Builder& builder) {
  if (builder.settings().admission) return;
  const u32 terminals = builder.topology().graph().terminals();
  const u64 most = kMostAtStart / terminals + 1;
  for (const core::Traffic* traffic : builder.traffics()) {
    if (!traffic->finite() || traffic->traits().limits_requests) continue;
    for (u32 t = 0; t < terminals; ++t) {
      if (!starts_with(*traffic, t, most)) continue;
      values.fail("name",
                  fmt::format("{} takes all messages of a terminal in when they are generated, and these are more than "
                              "{} at once",
                              values.component(), most),
                  "use a smaller batch, or another process than at_once");
    }
  }
}

}  // namespace banyan::switching::parts
