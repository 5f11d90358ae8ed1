// What packet nodes show of their state: digest, conservation, who waits for whom.
#include <fmt/core.h>

#include <string>
#include <vector>

#include "banyan/switching/packet_node/network.hpp"

namespace banyan::switching::packet_node {

/// Queues in their order, buffers, and who is on the way until when.
u64 PacketNode::digest() const {
  u64 sum = 0;
  for (u32 i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    if (link.requests == 0 && link.sending == kNone && link.buffers.free == capacity(i)) continue;
    Hasher h;
    h.add(i);
    h.add(static_cast<u64>(link.requests) << 32U | link.buffers.free);
    parcels_.for_each(link.passing, [&](const Parcel& p) { add_parcel(h, p); });
    messages_.for_each(link.sources, [&](const Message& m) { add_message(h, m); });
    sum += h.value();
  }
  calendar_.for_each(now_, [&](Tick ahead, u32 event) {
    Hasher h;
    h.add(ahead);
    h.add(event & 1U);
    if ((event & 1U) == 0) {
      h.add(event >> 1U);
    } else {
      add_parcel(h, parcels_[event >> 1U]);
    }
    sum += h.value();
  });
  return sum;
}

bool PacketNode::activity(engine::Activity& into) const {
  u64 buffered = 0;
  for (const Link& link : links_) {
    parcels_.for_each(link.passing, [&](const Parcel& p) { buffered += bytes_of(p); });
  }
  into += {.buffer_writes = passed_ + buffered,
           .buffer_reads = passed_,
           .crossbar_traversals = movements_,
           .link_traversals = movements_,
           .has_vcs = false};
  return true;
}

void PacketNode::hold(engine::Holdings& into) const {
  std::vector<u32> used(links_.size(), 0);
  std::vector<u32> waiting(links_.size(), 0);
  for (u32 i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    parcels_.for_each(link.passing, [&](const Parcel&) { ++waiting[i], ++used[pool_of(i)]; });
    messages_.for_each(link.sources, [&](const Message&) { ++waiting[i]; });
    if (link.sending != kNone && link.sender == kNone) ++used[pool_of(i)];
    if (waiting[i] != link.requests)
      violate(into, i, fmt::format("{} requests, counted {}", waiting[i], link.requests));
  }
  for (u32 i = 0; i < parcels_.size(); ++i) {
    const Parcel& p = parcels_[i];
    if (p.message != kNone && p.flying && p.ahead != kHere) ++used[pool_of(p.ahead)];
  }
  for (u32 i = 0; i < links_.size(); ++i) {
    if (used[i] + links_[i].buffers.free == capacity(i)) continue;
    violate(into, i, fmt::format("{} buffers in use and {} free of {}", used[i], links_[i].buffers.free, capacity(i)));
  }
  for (u32 i = 0; i < messages_.size(); ++i) {
    if (messages_[i].flits != 0) count(into, messages_[i].record, 1);
  }
  if (stranded_) into.violations.emplace_back("the routing gave a packet no link that exists");
  if (disordered_) into.violations.emplace_back("packets of a message arrived out of order");
}

/// A packet that is passing through holds a buffer of the link that it takes next, a message at its source the idle
/// link that it does not let others have.
void PacketNode::blocked_on(engine::BlockedView& into) const {
  using engine::Why;
  for (u32 i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    if (link.far == kNone) continue;
    const engine::Resource here = buffers_of(i);
    if (!setup_.shared && link.buffers.free != setup_.buffers) {
      into.fill(here, setup_.buffers - link.buffers.free, setup_.buffers);
    }
    if (into.wants_contents()) {
      parcels_.for_each(link.passing, [&](const Parcel& p) { into.packet(here, record_of(p.message)); });
    }
    if (link.requests == 0) continue;
    const u32 channel = channel_out_of(i);
    // Where a message waits, the first packet that is passing through has the link.
    const bool kept = link.passing.empty() || link.sending != kNone || setup_.take_over == TakeOver::never;
    const bool source = source_first(link) && kept;
    const core::Packet& packet = record_of(source ? link.sources.first : parcels_[link.passing.first].message);
    const engine::Resource front = source ? engine::Resource::source(packet.source, i % ports_) : here;
    if (link.waits_for < links_.size()) {
      into.blocked(front, buffers_of(link.waits_for), Why::space, packet, channel);
    } else {
      into.blocked(front, engine::Resource::port(channel), Why::bandwidth, packet, channel);
    }
    if (source && !link.passing.empty() && link.sending == kNone) {
      into.blocked(here, front, Why::held, record_of(parcels_[link.passing.first].message), channel);
    }
  }
  if (!setup_.shared) return;
  for (u32 i = 0; i < links_.size(); i += ports_) {
    const u32 used = capacity(i) - links_[i].buffers.free;
    if (used != 0) into.fill(engine::Resource::memory(i / ports_), used, capacity(i));
  }
}

void PacketNode::violate(engine::Holdings& into, u32 link, const std::string& what) const {
  into.violations.push_back(fmt::format("node {} link {}: {}", link / ports_, link % ports_, what));
}
void PacketNode::add_message(Hasher& h, const Message& m) const {
  const core::Packet& packet = pool_[m.record];
  h.add(static_cast<u64>(packet.source) << 32U | packet.sequence);
  h.add(static_cast<u64>(packet.traffic) << 32U | m.left);
  h.add(m.arrived);
}
void PacketNode::add_parcel(Hasher& h, const Parcel& p) const {
  add_message(h, messages_[p.message]);
  h.add(static_cast<u64>(p.begin) << 32U | p.links);
}

engine::Resource PacketNode::buffers_of(u32 link) const {
  return setup_.shared ? engine::Resource::memory(link / ports_) : engine::Resource::output(channel_out_of(link));
}

}  // namespace banyan::switching::packet_node
