#include "banyan/engine/watchdog.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace banyan::engine {

std::vector<Wait> shortest_wait_cycle(const std::vector<Wait>& waits) {
  std::unordered_map<u64, std::vector<std::size_t>> of_waiter;
  for (std::size_t i = 0; i < waits.size(); ++i) of_waiter[waits[i].waiter].push_back(i);

  std::vector<std::size_t> best;
  constexpr std::size_t kUnseen = static_cast<std::size_t>(-1);
  for (std::size_t start = 0; start < waits.size(); ++start) {
    // Breadth first from the wait `start` back to the resource that its waiter holds.
    std::vector<std::size_t> parent(waits.size(), kUnseen);
    std::vector<std::size_t> length(waits.size(), 0);
    std::deque<std::size_t> queue{start};
    parent[start] = start;
    length[start] = 1;
    while (!queue.empty()) {
      const std::size_t at = queue.front();
      queue.pop_front();
      if (!best.empty() && length[at] >= best.size()) break;
      if (waits[at].resource == waits[start].waiter) {
        best.clear();
        for (std::size_t i = at;; i = parent[i]) {
          best.push_back(i);
          if (i == start) break;
        }
        std::reverse(best.begin(), best.end());
        break;
      }
      const auto next = of_waiter.find(waits[at].resource);
      if (next == of_waiter.end()) continue;
      for (const std::size_t i : next->second) {
        if (parent[i] != kUnseen) continue;
        parent[i] = at;
        length[i] = length[at] + 1;
        queue.push_back(i);
      }
    }
  }
  std::vector<Wait> cycle;
  cycle.reserve(best.size());
  for (const std::size_t i : best) cycle.push_back(waits[i]);
  return cycle;
}

namespace {

std::string at_end(const core::End& end, const char* side, u32 lane, const core::Topology& topology) {
  if (end.terminal) return fmt::format("terminal {}", end.node);
  const std::string of = lane == Resource::kWhole ? "" : fmt::format(" vc {}", lane);
  return fmt::format("switch {} {} {}{}", topology.label(end.node), side, end.port, of);
}

}  // namespace

std::string place(const Resource& resource, const core::Topology& topology) {
  const core::Graph& graph = topology.graph();
  switch (resource.kind) {
    case ResourceKind::input:
      return at_end(graph.channel(resource.index).to, "input", resource.lane, topology);
    case ResourceKind::output:
    case ResourceKind::port:
      return at_end(graph.channel(resource.index).from, "output", resource.lane, topology);
    case ResourceKind::memory:
      return fmt::format("the memory of switch {}", topology.label(resource.index));
    case ResourceKind::source:
      return fmt::format("the source queue of terminal {}", resource.index);
  }
  return "";
}

std::string describe(const Blocked& blocked, const core::Topology& topology) {
  const Resource in = Resource::of(blocked.resource);
  const Resource on = Resource::of(blocked.on);
  const std::string who = blocked.packet == kNever ? place(in, topology)
                                                   : fmt::format("packet {}->{} in {}", blocked.source,
                                                                 blocked.destination, place(in, topology));
  const std::string output =
      blocked.via == kNone ? "" : fmt::format("output {}", topology.graph().channel(blocked.via).from.port);
  if (blocked.resource == blocked.on) return who + " finds no way on";
  if (blocked.why == Why::held) {
    return fmt::format("{} waits for {}held by the packet in {}", who, output.empty() ? "what is " : output + ", ",
                       place(on, topology));
  }
  if (blocked.why == Why::bandwidth) return fmt::format("{} waits for its turn at {}", who, place(on, topology));
  return fmt::format("{} waits for a credit{}{}, for {}", who, output.empty() ? "" : " of ", output,
                     place(on, topology));
}

std::string explain(const std::vector<Wait>& cycle, std::size_t waiting) {
  if (cycle.empty()) {
    return fmt::format("nothing moves and {} packets wait, but not on each other in a cycle", waiting);
  }
  std::size_t packets = 0;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const auto same = [&](const Wait& w) { return w.packet != kNever && w.packet == cycle[i].packet; };
    packets += std::none_of(cycle.begin(), cycle.begin() + static_cast<std::ptrdiff_t>(i), same) ? 1U : 0U;
  }
  std::string text = fmt::format("{} packets wait on each other in a cycle:", packets);
  for (const Wait& w : cycle) text += "\n  " + w.text;
  return text;
}

}  // namespace banyan::engine
