#include "banyan/engine/endpoint_plan.hpp"

#include <algorithm>
#include <utility>

namespace banyan::engine {
namespace {

/// Every terminal once per queue.
EndpointSetup with_queues(EndpointSetup setup) {
  if (setup.queues == 1) return setup;
  std::vector<u32> queues;
  queues.reserve(setup.terminals.size() * setup.queues);
  for (const u32 terminal : setup.terminals) queues.insert(queues.end(), setup.queues, terminal);
  setup.terminals = std::move(queues);
  return setup;
}

}  // namespace

EndpointPlan::EndpointPlan(EndpointSetup setup)
    : EndpointSetup(with_queues(std::move(setup))),
      traffic_count(static_cast<u32>(traffics.size())),
      counted(traffic_count - (tells_in_packets ? 1U : 0U)),
      control(tells_in_packets ? counted : kNone),
      hot((total_terminals + 63) / 64) {
  if (routing != nullptr && routing->reads_pending()) flagged = hot_spots;
  for (const core::HotSpot& h : hot_spots) hot[h.terminal >> 6U] |= u64{1} << (h.terminal & 63U);
  const bool watched = steady.series_window != 0 && disturbance_of(traffics).from != kNever;
  for (const core::Traffic* t : traffics) {
    is_finite.push_back(t->finite() ? 1 : 0);
    longest.push_back(std::min(t->longest_packet(), longest_packet));
    const bool cut = t->longest_packet() != kNone || t->longest_message() > longest_packet;
    special.push_back(static_cast<u8>(
        (cut ? kCut : 0) | (t->answers() ? kAnswers : 0) | (t->multicasts() || t->replicates() ? kMulticasts : 0) |
        (t->sifts() ? kSifts : 0) | (flows != nullptr ? kAdmitted : 0) | (watched ? kWatched : 0)));
    any_answers = any_answers || t->answers();
    for (const bool replies : {false, true}) priorities.push_back(t->service(replies).priority);
  }
  if (control != kNone) special[control] = kControl | kAnswers;
  prioritized = std::any_of(priorities.begin(), priorities.end(), [](u8 priority) { return priority != 0; });
  if (!any_answers) return;
  local_of.assign(total_terminals, kNone);
  for (u32 local = size(); local > 0; --local) local_of[terminals[local - 1]] = local - 1;
}

}  // namespace banyan::engine
