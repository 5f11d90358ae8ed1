#include "banyan/core/graph.hpp"

#include <algorithm>
#include <stdexcept>

namespace banyan::core {
namespace {

void claim(u32& place, u32 channel, const char* what) {
  if (place != kNone) throw std::logic_error(std::string("two channels at one ") + what);
  place = channel;
}

}  // namespace

Graph::Graph(u32 terminals) : injection_(terminals, kNone), ejection_(terminals, kNone) {}

u32 Graph::add_switch(u32 inputs, u32 outputs, u32 level) {
  const u32 index = switches();
  level_.push_back(level);
  input_base_.push_back(input_base_.back() + inputs);
  output_base_.push_back(output_base_.back() + outputs);
  into_.resize(input_base_.back(), kNone);
  out_of_.resize(output_base_.back(), kNone);
  return index;
}

u32 Graph::add_channel(End from, End to, Link link) {
  const u32 index = static_cast<u32>(channels_.size());
  if (from.terminal) {
    claim(injection_.at(from.node), index, "terminal's injection");
  } else {
    claim(out_of_.at(output_base_.at(from.node) + from.port), index, "output port");
  }
  if (to.terminal) {
    claim(ejection_.at(to.node), index, "terminal's ejection");
  } else {
    claim(into_.at(input_base_.at(to.node) + to.port), index, "input port");
  }
  channels_.push_back({from, to, link, false});
  return index;
}

bool Graph::damaged() const {
  return std::any_of(channels_.begin(), channels_.end(), [](const Channel& c) { return c.failed; });
}

u32 Graph::levels() const { return level_.empty() ? 0 : *std::max_element(level_.begin(), level_.end()) + 1; }

std::vector<u32> Graph::topological_order() const {
  std::vector<u32> waiting(switches(), 0);
  for (const Channel& c : channels_) {
    if (!c.from.terminal && !c.to.terminal) ++waiting[c.to.node];
  }
  std::vector<u32> order;
  order.reserve(switches());
  for (u32 s = 0; s < switches(); ++s) {
    if (waiting[s] == 0) order.push_back(s);
  }
  for (std::size_t next = 0; next < order.size(); ++next) {
    const u32 s = order[next];
    for (u32 p = 0; p < outputs(s); ++p) {
      const u32 c = channel_out_of(s, p);
      if (c == kNone || channels_[c].to.terminal) continue;
      if (--waiting[channels_[c].to.node] == 0) order.push_back(channels_[c].to.node);
    }
  }
  if (order.size() != switches()) order.clear();
  return order;
}

u32 Graph::most_ports() const {
  u32 ports = 1;
  for (u32 s = 0; s < switches(); ++s) ports = std::max({ports, inputs(s), outputs(s)});
  return ports;
}

std::vector<u32> Graph::distances_from(u32 start) const {
  std::vector<u32> distance(switches(), kNone);
  std::vector<u32> queue{start};
  distance[start] = 0;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const u32 at = queue[next];
    for (u32 p = 0; p < outputs(at); ++p) {
      const u32 c = channel_out_of(at, p);
      if (c == kNone || channels_[c].failed || channels_[c].to.terminal) continue;
      const u32 to = channels_[c].to.node;
      if (distance[to] != kNone) continue;
      distance[to] = distance[at] + 1;
      queue.push_back(to);
    }
  }
  return distance;
}

}  // namespace banyan::core
