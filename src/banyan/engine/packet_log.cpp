#include "banyan/engine/packet_log.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "banyan/engine/machine.hpp"

namespace banyan::engine {

void PacketLog::look(const Machine& machine, Tick done) {
  if (done < next_) return;
  next_ = done + kPeriod;
  collect(machine);
}

void PacketLog::finish(const Machine& machine) {
  collect(machine);
  std::vector<std::pair<const PacketName*, const Open*>> rest;
  for (const auto& [name, packet] : open_) rest.emplace_back(&name, &packet);
  std::stable_sort(rest.begin(), rest.end(),
                   [](const auto& a, const auto& b) { return a.second->birth < b.second->birth; });
  for (const auto& [name, packet] : rest) {
    if (packet->single) tell(*name, *packet, packet->destination, packet->enter, kNever, false);
    for (const u32 terminal : packet->owed) tell(*name, *packet, terminal, packet->enter, kNever, false);
  }
  open_.clear();
  next_ = kPeriod;
}

void PacketLog::collect(const Machine& machine) {
  PacketSteps steps = machine.take_steps();
  std::vector<PacketSteps::Hop>& hops = steps.hops;
  std::vector<PacketSteps::End>& ends = steps.ends;
  std::vector<bool> reduces;
  for (const core::Traffic* traffic : machine.traffics()) reduces.push_back(traffic->reduces());
  auto terminals = steps.terminals.begin();
  for (const PacketSteps::Start& s : steps.starts) {
    const auto first = std::exchange(terminals, terminals + s.copies);
    open_[s.packet] = {s.destination, s.flits, {first, terminals}, s.copies == 0, reduces[s.packet.traffic], s.birth,
                       s.enter,       {}};
  }
  // A model that moves a packet over several channels within a tick does so in one shard, and in their order; but the
  // result of a reduction, which has the name of one of the contributions, branches in several.
  const auto when = [&](const PacketSteps::Hop& h) {
    return std::pair(h.at, reduces[h.packet.traffic] ? h.channel + 1 : 0);
  };
  std::stable_sort(hops.begin(), hops.end(), [&](const auto& a, const auto& b) { return when(a) < when(b); });
  for (const PacketSteps::Hop& h : hops) {
    if (const auto found = open_.find(h.packet); found != open_.end()) found->second.hops.push_back({h.channel, h.at});
  }
  std::sort(ends.begin(), ends.end(), [](const auto& a, const auto& b) {
    return std::tie(a.at, a.packet, a.terminal) < std::tie(b.at, b.packet, b.terminal);
  });
  for (const PacketSteps::End& e : ends) {
    const auto found = open_.find(e.packet);
    if (found == open_.end()) continue;
    tell(e.packet, found->second, e.terminal, e.enter, e.at, !e.answer);
    std::erase(found->second.owed, e.terminal);
    if (found->second.owed.empty()) open_.erase(found);
  }
}

void PacketLog::tell(const PacketName& name, const Open& packet, u32 destination, Tick enter, Tick arrival,
                     bool whole) {
  way_.clear();
  const auto leads_here = [&](const Hop& h) { return h.channel == graph_.ejection(destination); };
  const bool branched = !packet.single || (packet.reduces && std::ranges::any_of(packet.hops, leads_here));
  if (!branched) {
    for (const Hop& h : packet.hops) way_.push_back(h.channel);
  } else {
    follow(packet, destination);
  }
  if (whole) leave(name.source, destination);
  listener_({name, destination, packet.flits, packet.birth, enter, arrival, way_});
}

/// Models of networks whose terminals are part of their switches tell of no channel to a terminal.
void PacketLog::leave(u32 source, u32 terminal) {
  const u32 last = graph_.ejection(terminal);
  const core::End& at = graph_.channel(way_.empty() ? graph_.injection(source) : way_.back()).to;
  if (!at.terminal && at.node == graph_.channel(last).from.node) way_.push_back(last);
}

/// Finds the way of a packet that divides to one of its terminals: back from there, each time over the last channel
/// that the packet crossed to where it is known to have been.
void PacketLog::follow(const Open& packet, u32 terminal) {
  core::End to = graph_.channel(graph_.ejection(terminal)).to;
  for (auto h = packet.hops.rbegin(); h != packet.hops.rend(); ++h) {
    const core::Channel& channel = graph_.channel(h->channel);
    if (channel.to.terminal != to.terminal || channel.to.node != to.node) continue;
    way_.push_back(h->channel);
    to = channel.from;
  }
  std::reverse(way_.begin(), way_.end());
}

}  // namespace banyan::engine
