#include "banyan/core/graph.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace banyan::core {
namespace {

void claim(u32& place, u32 channel, const char* what) {
  if (place != kNone) throw std::logic_error(std::string("two channels at one ") + what);
  place = channel;
}

}  // namespace

Graph::Graph(u32 terminals) : terminals_(terminals), injection_(terminals, kNone), ejection_(terminals, kNone) {}

Graph::Graph(std::shared_ptr<const Wiring> wiring, u32 most_listed)
    : terminals_(wiring->terminals()), count_(wiring->channels()), listed_(false), wiring_(std::move(wiring)) {
  for (const Wiring::Block& block : wiring_->blocks()) {
    if (block.switches == 0) continue;
    blocks_.push_back({switches_, total_ports_, block.ports, block.level});
    switches_ += block.switches;
    total_ports_ += block.switches * block.ports;
  }
  if (count_ <= most_listed) list();
}

void Graph::list() {
  const u32 channels = std::exchange(count_, 0);
  listed_ = true;
  switches_ = 0;
  blocks_.clear();
  injection_.assign(terminals_, kNone);
  ejection_.assign(terminals_, kNone);
  for (const Wiring::Block& block : wiring_->blocks()) {
    for (u32 i = 0; i < block.switches; ++i) add_switch(block.ports, block.ports, block.level);
  }
  channels_.reserve(channels);
  for (u32 c = 0; c < channels; ++c) {
    const End from = wiring_->begin_of(c);
    const Wiring::Way way = wiring_->way(from);
    add_channel(from, way.to, way.link);
  }
}

u32 Graph::add_switch(u32 inputs, u32 outputs, u32 level) {
  if (computes()) throw std::logic_error("nothing is added to a graph that computes");
  level_.push_back(level);
  input_base_.push_back(input_base_.back() + inputs);
  output_base_.push_back(output_base_.back() + outputs);
  into_.resize(input_base_.back(), kNone);
  out_of_.resize(output_base_.back(), kNone);
  return switches_++;
}

u32 Graph::add_channel(End from, End to, Link link) {
  if (computes()) throw std::logic_error("nothing is added to a graph that computes");
  if (from.terminal) {
    claim(injection_.at(from.node), count_, "terminal's injection");
  } else {
    claim(out_of_.at(output_base_.at(from.node) + from.port), count_, "output port");
  }
  if (to.terminal) {
    claim(ejection_.at(to.node), count_, "terminal's ejection");
  } else {
    claim(into_.at(input_base_.at(to.node) + to.port), count_, "input port");
  }
  channels_.push_back({from, to, link, false});
  return count_++;
}

void Graph::fail_channel(u32 channel) {
  if (computes()) list();
  wiring_.reset();
  channels_[channel].failed = true;
}

bool Graph::damaged() const {
  return std::any_of(channels_.begin(), channels_.end(), [](const Channel& c) { return c.failed; });
}

Channel Graph::compute(u32 c) const {
  const End from = wiring_->begin_of(c);
  const Wiring::Way way = wiring_->way(from);
  return {from, way.to, way.link, false};
}

u32 Graph::compute_into(const End& to) const {
  const End from = wiring_->way(to).to;  // the other direction of the same link leads there
  return from.node == kNone ? kNone : wiring_->number(from);
}

u32 Graph::compute_out_of(const End& from) const {
  return wiring_->way(from).to.node == kNone ? kNone : wiring_->number(from);
}

u32 Graph::levels() const {
  u32 levels = level_.empty() ? 0 : *std::max_element(level_.begin(), level_.end()) + 1;
  for (const Block& block : blocks_) levels = std::max(levels, block.level + 1);
  return levels;
}

std::vector<u32> Graph::topological_order() const {
  std::vector<u32> waiting(switches(), 0);
  for (const Channel& c : channels()) {
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
      if (c == kNone) continue;
      const End to = channel(c).to;
      if (!to.terminal && --waiting[to.node] == 0) order.push_back(to.node);
    }
  }
  if (order.size() != switches()) order.clear();
  return order;
}

u32 Graph::most_ports() const {
  u32 ports = 1;
  for (const Block& block : blocks_) ports = std::max(ports, block.ports);
  for (u32 s = 0; s < level_.size(); ++s) ports = std::max({ports, inputs(s), outputs(s)});
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
      if (c == kNone) continue;
      const Channel there = channel(c);
      if (there.failed || there.to.terminal || distance[there.to.node] != kNone) continue;
      distance[there.to.node] = distance[at] + 1;
      queue.push_back(there.to.node);
    }
  }
  return distance;
}

}  // namespace banyan::core
