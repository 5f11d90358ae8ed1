#include "banyan/engine/round_trips.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <queue>
#include <set>
#include <utility>

namespace banyan::engine {

RoundTrips::RoundTrips(const core::Graph& graph, core::ZeroLoad packet, core::ZeroLoad feedback)
    : graph_(graph), packet_(std::move(packet)), feedback_(std::move(feedback)), ways_(graph.switches()) {}

const std::vector<RoundTrips::Way>& RoundTrips::ways_from(u32 switch_) {
  std::vector<Way>& ways = ways_[switch_];
  if (!ways.empty()) return ways;
  ways.resize(graph_.switches());
  using Place = std::pair<double, u32>;
  std::vector<double> reached(graph_.switches(), -1.0);
  std::priority_queue<Place, std::vector<Place>, std::greater<>> next;
  const auto reach = [&](u32 node, double at, Way way) {
    if (reached[node] >= 0.0 && reached[node] <= at) return;
    reached[node] = at;
    ways[node] = way;
    next.emplace(at, node);
  };
  reach(switch_, 0.0, {0, 0});
  while (!next.empty()) {
    const auto [distance, at] = next.top();
    next.pop();
    if (distance > reached[at]) continue;
    for (u32 port = 0; port < graph_.outputs(at); ++port) {
      const u32 c = graph_.channel_out_of(at, port);
      if (c == kNone || graph_.channel(c).failed || graph_.channel(c).to.terminal) continue;
      reach(graph_.channel(c).to.node, distance + packet_.per_hop + packet_.per_cycle * latency(c),
            {ways[at].hops + 1, ways[at].cycles + latency(c)});
    }
  }
  return ways;
}

Tick RoundTrips::one_way(u32 from, u32 to, const core::ZeroLoad& times) {
  const u32 injection = graph_.injection(from);
  const u32 ejection = graph_.ejection(to);
  const Way way = ways_from(graph_.channel(injection).to.node)[graph_.channel(ejection).from.node];
  if (way.hops == kNone) return 0;
  const double ends = times.ends * (latency(injection) + latency(ejection));
  const double ticks =
      way.hops == 0 && times.home ? *times.home : times.fixed + times.per_hop * way.hops + times.per_cycle * way.cycles;
  return static_cast<Tick>(std::max(1.0, std::ceil(ticks + ends - 1e-9)));
}

Tick RoundTrips::between(u32 source, u32 destination) {
  const Tick there = one_way(source, destination, packet_);
  const Tick back = one_way(destination, source, feedback_);
  return there == 0 || back == 0 ? 2 : there + back;
}

Tick RoundTrips::longest() {
  if (longest_ != 0) return longest_;
  // Terminals of a switch whose channels are equally long are as far from all others.
  std::vector<u32> some;
  std::set<std::array<u32, 4>> known;
  for (u32 t = 0; t < graph_.terminals(); ++t) {
    const u32 injection = graph_.injection(t);
    const u32 ejection = graph_.ejection(t);
    const std::array<u32, 4> kind{graph_.channel(injection).to.node, graph_.channel(ejection).from.node,
                                  latency(injection), latency(ejection)};
    if (known.insert(kind).second) some.push_back(t);
  }
  for (const u32 a : some) {
    for (const u32 b : some) longest_ = std::max(longest_, between(a, b));
  }
  return longest_;
}

}  // namespace banyan::engine
