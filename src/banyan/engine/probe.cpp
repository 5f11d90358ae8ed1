#include "banyan/engine/probe.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "banyan/base/bits.hpp"

namespace banyan::engine {
namespace {

bool by_pair(const Flow& a, const Flow& b) {
  return std::pair(a.source, a.destination) < std::pair(b.source, b.destination);
}

PacketName name_of(const core::Packet& packet) { return {packet.source, packet.sequence, packet.traffic}; }

}  // namespace

void Flow::merge(const Flow& other) {
  packets += other.packets;
  flits += other.flits;
  latency += other.latency;
  longest = std::max(longest, other.longest);
  queueing += other.queueing;
  serialization += other.serialization;
  wire += other.wire;
  marked += other.marked;
}

void ProbeReport::merge(const ProbeReport& other) {
  const auto add_each = [](std::vector<u64>& all, const std::vector<u64>& more) {
    all.resize(std::max(all.size(), more.size()));
    for (std::size_t c = 0; c < more.size(); ++c) all[c] += more[c];
  };
  add_each(channel_flits, other.channel_flits);
  add_each(channel_overhead, other.channel_overhead);
  std::vector<Flow> all;
  std::merge(flows.begin(), flows.end(), other.flows.begin(), other.flows.end(), std::back_inserter(all), by_pair);
  flows.clear();
  for (const Flow& flow : all) {
    if (!flows.empty() && !by_pair(flows.back(), flow)) {
      flows.back().merge(flow);
    } else {
      flows.push_back(flow);
    }
  }
}

void ProbeReport::join(const ProbeReport& other) {
  merge(other);
  const auto add = [](auto& all, const auto& more) {
    all.insert(all.end(), more.begin(), more.end());
    std::sort(all.begin(), all.end());
  };
  add(events, other.events);
  add(messages, other.messages);
  lost_events += other.lost_events;
  first_lost = std::min(first_lost, other.first_lost);
}

void ProbeReport::keep_events(std::size_t most) {
  if (events.size() > most) first_lost = std::min(first_lost, events[most].at);
  const auto end =
      std::partition_point(events.begin(), events.end(), [&](const Event& e) { return e.at < first_lost; });
  lost_events += static_cast<u64>(events.end() - end);
  events.erase(end, events.end());
}

void PacketSteps::join(const PacketSteps& other) {
  starts.insert(starts.end(), other.starts.begin(), other.starts.end());
  terminals.insert(terminals.end(), other.terminals.begin(), other.terminals.end());
  hops.insert(hops.end(), other.hops.begin(), other.hops.end());
  ends.insert(ends.end(), other.ends.begin(), other.ends.end());
}

Probe::Probe(const ProbePlan& plan, const core::Graph& graph) : plan_(plan), graph_(graph), from_(plan.from) {
  if (plan_.channels) {
    channel_flits_.resize(graph.channels().size());
    channel_overhead_.resize(graph.channels().size());
  }
  for (const WatchedPacket& packet : plan_.packets) {
    if (packet.source >= source_watched_.size()) source_watched_.resize(packet.source + 1, false);
    source_watched_[packet.source] = true;
  }
}

void Probe::number(u32 population, Numbering numbering) {
  if (populations_.size() <= population) {
    populations_.resize(population + 1);
    channel_of_.resize(population + 1);
  }
  std::vector<u32>& channels = channel_of_[population];
  channels.clear();
  for (const u32 node : numbering.nodes) {
    for (u32 port = 0; port < numbering.ports; ++port) {
      const bool there = numbering.terminals || port < graph_.outputs(node);
      const u32 channel = numbering.terminals ? graph_.injection(node) : kNone;
      channels.push_back(there && !numbering.terminals ? graph_.channel_out_of(node, port) : channel);
    }
  }
  populations_[population] = std::move(numbering);
}

void Probe::reset() {
  std::fill(channel_flits_.begin(), channel_flits_.end(), 0);
  std::fill(channel_overhead_.begin(), channel_overhead_.end(), 0);
  flows_.clear();
  events_.clear();
  messages_.clear();
  marks_.clear();
  steps_ = {};
  lost_events_ = 0;
  first_lost_ = kNever;
  from_ = plan_.from;
  to_ = kNever;
}

void Probe::set_window(Tick from, Tick to) {
  from_ = std::max(plan_.from, from);
  to_ = to;
}

bool Probe::watched(const core::Packet& packet) const {
  if (packet.source >= source_watched_.size() || !source_watched_[packet.source]) return false;  // as most are
  const bool ends = packet.traffic == 0 && (packet.flags & core::kMessageLast) != 0;
  return std::ranges::any_of(plan_.packets, [&](const WatchedPacket& w) {
    if (w.source != packet.source) return false;
    return w.tag == kNone ? w.sequence == packet.sequence : ends && w.tag == packet.message;
  });
}

bool Probe::watched(bool terminal, u32 node, u32 port) const {
  if (plan_.ports.empty()) return false;
  const WatchedPort key{terminal, node, terminal ? 0 : port};
  return std::find(plan_.ports.begin(), plan_.ports.end(), key) != plan_.ports.end();
}

void Probe::keep(const Event& event) {
  if (events_.size() < plan_.most_events) {
    events_.push_back(event);
  } else {
    ++lost_events_;
    first_lost_ = std::min(first_lost_, event.at);
  }
}

void Probe::note(EventKind kind, bool terminal, u32 node, u32 port, const core::Flit& flit, const core::Packet& packet,
                 Tick now) {
  if (!watched(packet) && !watched(terminal, node, port)) return;
  keep({now, kind, terminal, node, port, flit.vc, packet.source, packet.sequence, packet.traffic, packet.message,
        packet.destination, packet.birth, flit.sequence, packet.flits});
}

void Probe::sent(u32 population, u32 out, const core::Flit& flit, const core::Packet& packet, Tick now) {
  // A whole packet may travel as one word: head and tail at once, its last flit's number on it.
  const bool whole = (flit.flags & core::kHead) != 0 && (flit.flags & core::kTail) != 0;
  if (plan_.channels && counts(now)) {
    const u32 channel = channel_of_[population][out];
    if (channel != kNone) channel_flits_[channel] += whole ? packet.flits : 1U;
  }
  if (plan_.every_packet && (flit.flags & core::kHead) != 0) note_hop(channel_of_[population][out], packet, now);
  if (!plan_.watches()) return;
  const Numbering& numbering = populations_[population];
  note(EventKind::sent, numbering.terminals, numbering.nodes[out / numbering.ports], out % numbering.ports, flit,
       packet, now);
}

void Probe::arrived(u32 population, u32 entity, u32 port, const core::Flit& flit, const core::Packet& packet,
                    Tick now) {
  const Numbering& numbering = populations_[population];
  if (plan_.flows && (flit.flags & core::kHead) != 0) {
    const u32 node = numbering.nodes[entity];
    const u32 channel = numbering.terminals ? graph_.ejection(node) : graph_.channel_into(node, port);
    if (channel != kNone) on_wire(packet, graph_.channel(channel).link.latency_cycles * plan_.cycle);
  }
  if (!plan_.watches()) return;
  note(EventKind::arrived, numbering.terminals, numbering.nodes[entity], port, flit, packet, now);
}

void Probe::credited(u32 population, u32 entity, u32 port, const core::Control& control, Tick now) {
  if (plan_.ports.empty()) return;
  const Numbering& numbering = populations_[population];
  const u32 node = numbering.nodes[entity];
  if (!watched(numbering.terminals, node, port)) return;
  Event event;
  event.at = now;
  event.kind = EventKind::credited;
  event.terminal = numbering.terminals;
  event.node = node;
  event.port = port;
  event.vc = control.vc;
  event.flit = control.argument;
  keep(event);
}

void Probe::taken(u32 terminal, const core::Packet& packet, Tick now, std::span<const u64> header) {
  if (plan_.messages && (packet.flags & core::kMessageFirst) != 0) {
    messages_.push_back(
        {packet.birth, packet.source, packet.traffic, packet.sequence, packet.destination, packet.message_flits});
  }
  if (plan_.every_packet) {
    const std::size_t before = steps_.terminals.size();
    for_each_bit(header, [&](u32 bit) { steps_.terminals.push_back(bit); });
    const auto copies = static_cast<u32>(steps_.terminals.size() - before);
    steps_.starts.push_back({name_of(packet), packet.destination, packet.flits, copies, packet.birth, packet.enter});
  }
  if (plan_.watches()) note(EventKind::taken, true, terminal, 0, core::Flit{}, packet, now);
}

/// nullptr when the packet does not count.
Flow* Probe::flow_of(const core::Packet& packet) {
  if (!plan_.flows || packet.traffic == plan_.control || packet.birth < from_ || packet.birth > to_) return nullptr;
  Flow& flow = flows_[static_cast<u64>(packet.source) << 32U | packet.destination];
  flow.source = packet.source;
  flow.destination = packet.destination;
  return &flow;
}

void Probe::on_wire(const core::Packet& packet, Tick ticks) {
  if (Flow* flow = flow_of(packet)) flow->wire += ticks;
}

void Probe::delivered(const core::Packet& packet, Tick now, Tick serialization, bool marked, bool answer) {
  if (Flow* flow = flow_of(packet)) {
    const Tick latency = now - packet.birth;
    flow->merge({0, 0, 1, packet.flits, latency, latency, packet.enter - packet.birth, serialization, 0,
                 marked ? u64{1} : u64{0}});
  }
  if (plan_.every_packet) steps_.ends.push_back({name_of(packet), packet.destination, packet.enter, now, answer});
  if (!plan_.watches()) return;
  note(EventKind::delivered, true, answer ? packet.source : packet.destination, 0, core::Flit{}, packet, now);
}

void Probe::marked(const core::Packet& packet, u32 channel, u32 vc, Tick now) {
  if (plan_.marks && packet.traffic != plan_.control && counts(now)) marks_.add(packet, channel, vc);
}

void Probe::crossed(u32 channel, const core::Packet& packet, Tick now, u64 overhead) {
  // In one cycle through a box and over the channel behind it: the way into the first box takes none of its own.
  if (plan_.flows && !graph_.channel(channel).from.terminal) on_wire(packet, plan_.cycle);
  count_on(channel, packet.flits, overhead, now);
  note_hop(channel, packet, now);
  note_sent(channel, packet, now);
}

void Probe::chunk_sent(u32 channel, const core::Packet& packet, u32 flits, bool first, Tick now, u64 overhead) {
  count_on(channel, flits, overhead, now);
  if (!first) return;
  if (plan_.flows) on_wire(packet, graph_.channel(channel).link.latency_cycles * plan_.cycle);
  note_hop(channel, packet, now);
  note_sent(channel, packet, now);
}

void Probe::count_on(u32 channel, u32 flits, u64 overhead, Tick now) {
  if (!plan_.channels || !counts(now)) return;
  channel_flits_[channel] += flits;
  channel_overhead_[channel] += overhead;
}

void Probe::note_hop(u32 channel, const core::Packet& packet, Tick now) {
  if (plan_.every_packet && channel != kNone) steps_.hops.push_back({name_of(packet), channel, now});
}

void Probe::note_sent(u32 channel, const core::Packet& packet, Tick now) {
  if (!plan_.watches()) return;
  const core::Channel& c = graph_.channel(channel);
  note(EventKind::sent, c.from.terminal, c.from.node, c.from.port, core::Flit{}, packet, now);
}

void Probe::add_to(ProbeReport& report) const {
  ProbeReport mine;
  mine.channel_flits = channel_flits_;
  mine.channel_overhead = channel_overhead_;
  for (const auto& [pair, flow] : flows_) mine.flows.push_back(flow);
  std::sort(mine.flows.begin(), mine.flows.end(), by_pair);
  mine.events = events_;
  mine.messages = messages_;
  mine.lost_events = lost_events_;
  mine.first_lost = first_lost_;
  report.join(mine);
}

}  // namespace banyan::engine
