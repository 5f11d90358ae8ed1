// Seam 2: a routing function chooses output ports and virtual channels.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "banyan/config/schema.hpp"
#include "banyan/core/hop_random.hpp"
#include "banyan/core/multicast.hpp"
#include "banyan/core/packet.hpp"
#include "banyan/core/topology.hpp"

namespace banyan::core {

/// One possible next step: an output port and a range of virtual channels [vc_begin, vc_end).
struct Candidate {
  u16 port = 0;
  u8 vc_begin = 0;
  u8 vc_end = 1;
  u8 priority = 0;  ///< higher is preferred; equal priorities are chosen among by the switch (free space, then random)
  /// The virtual channels belong to the escape subnetwork (Duato 1993): whatever else is blocked, it drains by itself.
  /// A routing that marks any candidate offers a marked one at every step; core/dependencies.hpp proves it.
  bool escape = false;
};

/// A short list without allocation. Routing functions fill it in a fixed order.
class Candidates {
 public:
  static constexpr u32 kCapacity = 64;

  /// The places stay uninitialized: a list is made for every routed packet.
  Candidates() noexcept {}  // NOLINT(modernize-use-equals-default): a union member needs it

  void clear() noexcept { size_ = 0; }
  void add(Candidate c) noexcept {
    if (size_ < kCapacity) items_[size_++] = c;
  }
  [[nodiscard]] u32 size() const noexcept { return size_; }
  [[nodiscard]] const Candidate& operator[](u32 i) const noexcept { return items_[i]; }
  [[nodiscard]] const Candidate* begin() const noexcept { return items_.data(); }
  [[nodiscard]] const Candidate* end() const noexcept { return items_.data() + size_; }

 private:
  union {
    std::array<Candidate, kCapacity> items_;
  };
  u32 size_ = 0;
};

/// What a routing function may see of queues. The values are those of the beginning of the tick.
class Occupancy {
 public:
  virtual ~Occupancy() = default;
  /// Flits that wait for or occupy the buffers behind an output port, over all its virtual channels: credits in use.
  [[nodiscard]] virtual u32 used(u32 switch_, u32 port) const noexcept = 0;
};

/// How far a routing function looks at queues. `network` is a bound that no machine has, to compare with.
enum class Sight : u8 { none, own_switch, network };

/// Where a packet's head stands.
struct RouteRequest {
  u32 at = 0;       ///< switch
  u32 in_port = 0;  ///< input port
  u32 in_vc = 0;    ///< virtual channel that it arrived on
  const Packet* packet = nullptr;
  HopWord random;                        ///< one random word of this (packet, hop)
  const Occupancy* occupancy = nullptr;  ///< never nullptr for a routing with a sight other than none
};

/// A head of a packet to `destination` at switch `at`.
struct Visit {
  u32 at = 0;
  u32 destination = 0;
};

/// How a source route is packed into Packet::tag. bits_per_hop == 0: the routing gives no source routes.
struct TagFormat {
  u32 bits_per_hop = 0;
  u32 hops = 0;  ///< hops of the longest path
};

/// The hot spots of the traffic, as routing functions of paper 1 see them.
struct HotSpot {
  u32 traffic = 0;   ///< index of the traffic; bit `traffic` of Packet::pending is its flag
  u32 terminal = 0;  ///< the coordinator
};

struct RoutingContext {
  const Topology* topology = nullptr;
  std::vector<HotSpot> hot_spots;
  u32 vcs = 1;                   ///< virtual channels per channel of the switch model
  bool free_first_step = false;  ///< SwitchRow::free_first_step
  bool for_remedy = false;       ///< another routing asks whether this one exists (routings_on)
};

/// What a routing is, whatever it is asked. One that forwards to another copies the whole and changes what it must, so
/// that nothing is lost on the way.
struct RoutingTraits {
  TagFormat tag_format = {};
  /// Classes of packets (Packet::vc_class below this) that are routed each in its way; for analysis.
  u32 classes = 1;
  /// False when neither prepare() nor route() reads the packet's source: analysis is shorter then.
  bool reads_source = true;
  /// True when all that route() reads of its request is the switch and the packet's destination, and the next step is
  /// the same every time: a switch may then ask once and remember the answer, or ask steps().
  bool by_destination = false;
  /// Queues that route() asks for.
  Sight sight = Sight::none;
  /// Virtual channels that freedom from deadlock needs.
  u32 required_vcs = 1;
  /// True when prepare() or route() reads Packet::pending, which is written for nobody else.
  bool reads_pending = false;
  /// False when neither prepare() nor route() reads the random word that it gets.
  bool random = true;
  /// True when packets of one (source, destination) pair must arrive in the order of their generation. Worms with
  /// several destinations are left out: they take ways of their own.
  bool in_order = false;
  /// True when there is one candidate at every step, and it depends on the pair, the header and random words alone: the
  /// source of a packet may then draw the whole way. What is `in_order` need not say so.
  bool oblivious = false;
};

class Routing {
 public:
  virtual ~Routing() = default;

  /// The same at every call.
  [[nodiscard]] virtual RoutingTraits traits() const noexcept { return {}; }
  [[nodiscard]] TagFormat tag_format() const noexcept { return traits().tag_format; }
  [[nodiscard]] u32 classes() const noexcept { return traits().classes; }
  [[nodiscard]] bool reads_source() const noexcept { return traits().reads_source; }
  [[nodiscard]] bool by_destination() const noexcept { return traits().by_destination; }
  [[nodiscard]] Sight sight() const noexcept { return traits().sight; }
  [[nodiscard]] u32 required_vcs() const noexcept { return traits().required_vcs; }
  [[nodiscard]] bool reads_pending() const noexcept { return traits().reads_pending; }
  [[nodiscard]] bool random() const noexcept { return traits().random; }
  [[nodiscard]] bool in_order() const noexcept { return traits().in_order; }
  [[nodiscard]] bool oblivious() const noexcept { return traits().oblivious || traits().in_order; }

  /// The next steps of a packet's head at a switch, in a fixed order; never empty for a reachable destination. The head
  /// came there by steps that route() offered. A switch that sends packets elsewhere asks for `by_destination`.
  virtual void route(const RouteRequest& request, Candidates& out) const noexcept = 0;

  /// Called once when a packet is generated; `word` is random. Sets tag, state, vc_class as the routing needs them.
  virtual void prepare(Packet& packet, u32 word) const noexcept {
    static_cast<void>(packet);
    static_cast<void>(word);
  }

  /// All that route() may add for this request, whatever the random word and the queues are; for analysis only, once
  /// each. `request.occupancy` is nullptr here.
  virtual void all_candidates(const RouteRequest& request, Candidates& out) const noexcept { route(request, out); }
  /// How many headers prepare() may choose among for a pair: it uses its word as below(word, headers(...)) only.
  [[nodiscard]] virtual u32 headers(u32 source, u32 destination) const noexcept {
    static_cast<void>(source);
    static_cast<void>(destination);
    return 1;
  }
  /// Where RoutingTraits::by_destination says so: the steps of many heads at once, without their packets' records.
  /// out[k] gets that of visits[k], or one without virtual channels (vc_begin == vc_end) where route() has not exactly
  /// one candidate.
  virtual void steps(std::span<const Visit> visits, Candidate* out) const noexcept {
    Packet packet;
    Candidates candidates;
    for (const Visit& visit : visits) {
      packet.destination = visit.destination;
      candidates.clear();
      route({visit.at, 0, 0, &packet, 0, nullptr}, candidates);
      *out++ = candidates.size() == 1 ? candidates[0] : Candidate{0, 0, 0};
    }
  }
  /// The virtual channels [first, second) on which packets of a class enter the network; none where another class
  /// is routed in the same way.
  [[nodiscard]] virtual std::pair<u32, u32> entry_vcs(u32 vc_class, u32 vcs) const noexcept {
    static_cast<void>(vc_class);
    return {0, vcs};
  }
  /// True for pairs whose packets suffice to decide on deadlock in a network that is too large to follow all: every
  /// cycle of dependencies is one of theirs, but for a symmetry of the network. With (s, d) it holds for (s, 0) and
  /// (0, d), so that not all pairs have to be asked.
  [[nodiscard]] virtual bool represents(u32 source, u32 destination) const noexcept {
    static_cast<void>(source);
    static_cast<void>(destination);
    return true;
  }
  /// The way of worms with several destinations; nullptr where the routing has none.
  [[nodiscard]] virtual std::unique_ptr<MulticastRoutes> multicast_routes() const { return nullptr; }
};

/// Registration row: `const core::RoutingRow row_NAME` in `namespace banyan::routing::NAME`. `make` throws ConfigError
/// when the routing does not exist on that topology, naming what it needs.
struct RoutingRow {
  config::ComponentInfo info;
  std::unique_ptr<Routing> (*make)(const config::Values&, const RoutingContext&) = nullptr;
};

}  // namespace banyan::core
