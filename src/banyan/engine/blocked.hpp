// Who waits for what, in integers: the one relation behind the explanation of a deadlock and the extraction of
// congestion trees (docs/explanation/congestion-trees.md). Every switch model publishes it through
// Population::blocked_on; nobody asks for it in a step, so it costs nothing when nobody looks.
#pragma once

#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/core/packet.hpp"

namespace banyan::engine {

/// What a resource is, and which number of the graph says where.
enum class ResourceKind : u8 {
  input,   ///< buffer at the end of a channel (index: channel)
  output,  ///< buffer before a channel (index: channel)
  port,    ///< the bandwidth of a channel, or the right to hold it (index: channel)
  memory,  ///< memory that all ports of a switch share (index: switch)
  source,  ///< where a terminal's packets wait for the network (index: terminal)
};

/// Names a resource everywhere in a network. The lane tells resources of one place apart: a virtual channel, a queue
/// inside a port's memory, a circuit of a channel that carries several.
struct Resource {
  static constexpr u32 kWhole = 0xffffff;  ///< lane of the memory that the queues of one place share

  ResourceKind kind = ResourceKind::input;
  u32 index = 0;
  u32 lane = 0;

  [[nodiscard]] static Resource input(u32 channel, u32 lane = 0) { return {ResourceKind::input, channel, lane}; }
  [[nodiscard]] static Resource output(u32 channel, u32 lane = 0) { return {ResourceKind::output, channel, lane}; }
  [[nodiscard]] static Resource port(u32 channel, u32 lane = 0) { return {ResourceKind::port, channel, lane}; }
  [[nodiscard]] static Resource memory(u32 switch_, u32 lane = 0) { return {ResourceKind::memory, switch_, lane}; }
  [[nodiscard]] static Resource source(u32 terminal, u32 lane = 0) { return {ResourceKind::source, terminal, lane}; }

  /// The resource in one number, unique in the network.
  [[nodiscard]] u64 id() const noexcept {
    return static_cast<u64>(kind) << 56U | static_cast<u64>(index) << 24U | (lane & 0xffffffU);
  }
  [[nodiscard]] static Resource of(u64 id) noexcept {
    return {static_cast<ResourceKind>(id >> 56U), static_cast<u32>(id >> 24U), static_cast<u32>(id & 0xffffffU)};
  }
  bool operator==(const Resource&) const = default;
};

/// Why a packet does not go on.
enum class Why : u8 {
  space,      ///< the next buffer has no place for it (no credit)
  bandwidth,  ///< it could go on, but a port (always ResourceKind::port) serves one at a time
  held,       ///< another packet or circuit holds what it needs
};

/// A packet at the front of a queue (or a circuit's request) waits. Where several ways would do, one entry for each.
struct Blocked {
  u64 resource = 0;  ///< what the waiter occupies
  u64 on = 0;        ///< what it waits for
  Why why = Why::space;
  u32 via = kNone;  ///< channel over which it would leave its switch, where that is known
  u32 source = 0;
  u32 destination = 0;
  u64 packet = kNever;  ///< (source << 32) + sequence; kNever: no packet waits, but the resource itself
  bool operator==(const Blocked&) const = default;
};

/// How full a resource is. Units are the model's: flits, packets or bytes.
struct Fill {
  u64 resource = 0;
  u32 used = 0;
  u32 capacity = 1;
  bool operator==(const Fill&) const = default;
};

/// A packet (or a part of it) in a resource.
struct Content {
  u64 resource = 0;
  const core::Packet* packet = nullptr;
  u64 route = 0;  ///< BlockedView::route_bits() for each switch ahead: its output port, the next one lowest
};

/// A queue that a switch set aside for a tree, as the mechanism itself sees it (RECN: a SAQ).
struct SetAside {
  u64 resource = 0;  ///< Resource::input or output, the lane naming the queue
  u32 root = kNone;  ///< channel of the root that it was set aside for
  u32 used = 0;      ///< packets in it
  bool operator==(const SetAside&) const = default;
};

/// What a model fills in. A model publishes
///  - fill(): every resource that is not empty (all of one queue's lanes where lanes are queues);
///  - blocked(): what the front of every queue waits for. A front that could leave in this tick waits for the bandwidth
///    of its port. Where queues share a memory, what waits for room waits for the memory, and the memory waits
///    (why = held, no packet) for its queues that use at least an equal share of it;
///  - packet(): every packet in every resource, which is ignored unless wants_contents() is true. Where packets carry
///    the rest of their way, the model gives it too, for all of them, and says with how many bits (source_routes());
///  - set_aside(): where the model manages congestion.
class BlockedView {
 public:
  explicit BlockedView(bool contents = false) : want_contents_(contents) {}

  [[nodiscard]] bool wants_contents() const noexcept { return want_contents_; }
  /// The view is that of the beginning of tick `now`: what will have arrived by then only is not in a buffer yet, even
  /// where a model puts it there when it is sent. Without it, all that is known counts as there.
  void look_at(Tick now) noexcept { now_ = now; }
  [[nodiscard]] Tick now() const noexcept { return now_; }
  void fill(Resource resource, u32 used, u32 capacity) { fills_.push_back({resource.id(), used, capacity}); }
  void blocked(Resource resource, Resource on, Why why, const core::Packet& packet, u32 via) {
    blocked_.push_back({resource.id(), on.id(), why, via, packet.source, packet.destination,
                        static_cast<u64>(packet.source) << 32U | packet.sequence});
  }
  void blocked(Resource resource, Resource on, Why why = Why::held) {
    blocked_.push_back({resource.id(), on.id(), why, kNone, 0, 0, kNever});
  }
  void packet(Resource resource, const core::Packet& packet, u64 route = 0) {
    contents_.push_back({resource.id(), &packet, route});
  }
  void source_routes(u32 bits) noexcept { route_bits_ = bits; }
  void set_aside(Resource resource, u32 root_channel, u32 used) {
    set_aside_.push_back({resource.id(), root_channel, used});
  }

  [[nodiscard]] const std::vector<Fill>& fills() const noexcept { return fills_; }
  [[nodiscard]] const std::vector<Blocked>& all_blocked() const noexcept { return blocked_; }
  [[nodiscard]] const std::vector<Content>& contents() const noexcept { return contents_; }
  [[nodiscard]] const std::vector<SetAside>& all_set_aside() const noexcept { return set_aside_; }
  /// Of Content::route; 0: ways are the routing's to say.
  [[nodiscard]] u32 route_bits() const noexcept { return route_bits_; }
  /// What a view holds, with the packets themselves.
  struct Copy {
    std::vector<Fill> fills;
    std::vector<Blocked> blocked;
    std::vector<SetAside> set_aside;
    std::vector<u64> places;            ///< of the packets
    std::vector<core::Packet> packets;  ///< one for each of them
    std::vector<u64> routes;            ///< likewise

    void archive(Archive& a) { a(fills, blocked, set_aside, places, packets, routes); }
    Copy& operator+=(const Copy& more) {
      const auto join = [](auto& all, const auto& others) { all.insert(all.end(), others.begin(), others.end()); };
      join(fills, more.fills);
      join(blocked, more.blocked);
      join(set_aside, more.set_aside);
      join(places, more.places);
      join(packets, more.packets);
      join(routes, more.routes);
      return *this;
    }
  };
  [[nodiscard]] Copy copy() const {
    Copy copy{fills_, blocked_, set_aside_, {}, {}, {}};
    for (const Content& content : contents_) {
      copy.places.push_back(content.resource);
      copy.packets.push_back(*content.packet);
      copy.routes.push_back(content.route);
    }
    return copy;
  }
  /// In place of what the view held.
  void take(Copy&& copy) {
    clear();
    fills_ = std::move(copy.fills);
    blocked_ = std::move(copy.blocked);
    set_aside_ = std::move(copy.set_aside);
    packets_ = std::move(copy.packets);
    for (std::size_t i = 0; i < packets_.size(); ++i)
      contents_.push_back({copy.places[i], &packets_[i], copy.routes[i]});
  }
  void clear() noexcept {
    fills_.clear();
    blocked_.clear();
    contents_.clear();
    set_aside_.clear();
  }

 private:
  bool want_contents_;
  Tick now_ = kNever;
  u32 route_bits_ = 0;
  std::vector<Fill> fills_;
  std::vector<Blocked> blocked_;
  std::vector<Content> contents_;
  std::vector<SetAside> set_aside_;
  std::vector<core::Packet> packets_;  ///< that contents_ speaks of, where they came from other ranks
};

}  // namespace banyan::engine
