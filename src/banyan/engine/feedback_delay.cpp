#include "banyan/engine/feedback_delay.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>

namespace banyan::engine {

std::vector<u32> FeedbackDelay::ways_from(u32 terminal) const {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  const core::Channel& injection = graph_.channel(graph_.injection(terminal));
  const u32 home = injection.to.node;
  std::vector<double> to_switch(graph_.switches(), kFar);
  using Place = std::pair<double, u32>;
  std::priority_queue<Place, std::vector<Place>, std::greater<>> next;
  to_switch[home] = 0.0;
  next.emplace(0.0, home);
  while (!next.empty()) {
    const auto [distance, at] = next.top();
    next.pop();
    if (distance > to_switch[at]) continue;
    for (u32 port = 0; port < graph_.outputs(at); ++port) {
      const u32 c = graph_.channel_out_of(at, port);
      if (c == kNone) continue;
      const core::Channel& channel = graph_.channel(c);
      if (channel.failed || channel.to.terminal) continue;
      const double reached = distance + times_.per_hop + std::max(1.0, times_.per_cycle * channel.link.latency_cycles);
      if (reached >= to_switch[channel.to.node]) continue;
      to_switch[channel.to.node] = reached;
      next.emplace(reached, channel.to.node);
    }
  }
  std::vector<u32> ticks(graph_.terminals());
  for (u32 t = 0; t < graph_.terminals(); ++t) {
    const core::Channel& ejection = graph_.channel(graph_.ejection(t));
    const double ends = times_.ends * (injection.link.latency_cycles + ejection.link.latency_cycles);
    const double way = to_switch[ejection.from.node];
    // Nobody can be told what no way leads to: packets of that flow do not arrive either.
    const double delay = std::isinf(way) ? 1.0 : std::ceil(times_.fixed + ends + way - 1e-9);
    ticks[t] = static_cast<u32>(std::max(1.0, delay));
  }
  return ticks;
}

}  // namespace banyan::engine
