// Why a replay cannot go on: what waits for a message, and what nobody receives.
#pragma once

#include <fmt/core.h>

#include <string>

#include "banyan/workload/inspection.hpp"
#include "banyan/workload/match_queue.hpp"

namespace banyan::workload {

/// `messages`: sends whose messages have arrived; `receives`: operations of their rank.
[[nodiscard]] inline std::string unfinished(const Program& program, const MatchQueue<Place>& messages,
                                            const MatchQueue<u32>& receives) {
  constexpr u32 kShown = 8;
  if (receives.size() == 0 && messages.size() == 0)
    return "every message was received, and operations wait for the end of others";
  std::string text =
      fmt::format("{} receives wait for a message, {} messages for a receive", receives.size(), messages.size());
  u32 shown = 0;
  for (u32 r = 0; r < program.ranks() && shown < kShown; ++r) {
    const auto show = [&](Place place, const char* what) {
      if (shown++ < kShown) text += fmt::format("; {} {}", to_text(program, place), what);
    };
    receives.for_each(r, [&](u32, u32, u32 operation) { show({r, operation}, "waits"); });
    messages.for_each(r, [&](u32, u32, Place send) { show(send, "is not received"); });
  }
  return text;
}

}  // namespace banyan::workload
