// Store-and-forward packet nodes (Buzzard and Mudge, sections 2 and 3): whole packets, a FIFO request queue per
// outbound link, packet buffers that are reserved before transmission, and a routing-and-acquire time that occupies the
// link.
//
// A node is a switch with its processors. A processor's next packet stays at the processor, as a request in a link's
// queue, until its transmission starts; a packet for a processor of the node needs no buffer. So the channels between
// terminals and switches carry nothing, and the population draws from the terminals itself.
//
// A packet crosses a link as one flit that is head and tail at once, `sequence` naming the last of its flits. It is
// sent when the transmission starts and delivered when its last flit is there.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/core/switching.hpp"
#include "banyan/engine/builder.hpp"

namespace banyan::switching {
namespace {

using core::PacketId;

constexpr u32 kMostPorts = 64;           ///< ports fit a mask
constexpr u32 kMostFlits = 65536;        ///< Flit::sequence
constexpr u32 kMostBuffers = 64;         ///< buffers of a link fit a mask
constexpr u64 kReserveMost = 1U << 20U;  ///< records reserved at once; larger networks grow while warming up

/// The idle population in the place of interfaces: processors are a part of their nodes.
class NoInterfaces {
 public:
  explicit NoInterfaces(u32 terminals) : terminals_(terminals) {}
  bool accept(u32, u32, const core::Flit&, engine::Io&) noexcept { return false; }
  bool accept(u32, u32, const core::Control&, engine::Io&) noexcept { return false; }
  Tick step(u32, Tick, engine::Io&) noexcept { return kNever; }
  [[nodiscard]] u32 entities() const noexcept { return terminals_; }
  [[nodiscard]] Tick horizon() const noexcept { return 1; }
  void reset(u32) {}
  [[nodiscard]] u64 digest() const { return 0; }
  void hold(engine::Holdings&) const {}
  [[nodiscard]] u64 movements() const noexcept { return 0; }
  void waits(std::vector<engine::Wait>&) const {}
  void occupancy(std::vector<u64>&) const {}

 private:
  u32 terminals_;
};

struct Setup {
  u32 buffers = 1;    ///< per inbound link
  u32 bandwidth = 1;  ///< flits per tick
  Tick acquire = 0;   ///< ticks
};

/// What a step looks at first.
struct Node {
  u64 fresh = 0;             ///< bit per input: its latest packet has not been routed
  u64 waiting = 0;           ///< bit per output: requests in its queue
  Tick registered = kNever;  ///< the wake-up that the engine knows of
};

/// An outbound link.
struct Out {
  Tick free_at = 0;  ///< busy before
  u32 head = kNone;  ///< queue of requests: slots
  u32 tail = kNone;
  u32 waiting = 0;  ///< requests in the queue
  u32 credits = 0;  ///< free buffers at the far node
  u32 far = kNone;  ///< node at the far end; kNone: no link
  u32 cycles_per_flit = 1;
};

/// A buffer of an inbound link, or the place of a processor's next packet. What a hop needs stands here: the packet's
/// record is read by the routing only.
struct Slot {
  PacketId packet = 0;
  u32 next = kNone;  ///< in the queue of requests
  u32 destination = 0;
  u16 last = 0;  ///< number of the last flit
  u16 hops = 0;  ///< nodes passed, this one included
};
static_assert(sizeof(Node) == 24 && sizeof(Out) == 32 && sizeof(Slot) == 16);

class PacketNode {
 public:
  PacketNode(engine::Builder& builder, u32 shard, u32 ports, const Setup& setup)
      : topology_(builder.topology()),
        graph_(topology_.graph()),
        routing_(builder.routing()),
        terminals_(builder.terminals(shard)),
        pool_(terminals_.pool()),
        setup_(setup),
        seed_(builder.settings().seed),
        ports_(ports),
        names_(builder.switches_of(shard)),
        nodes_(names_.size()),
        outs_(names_.size() * ports),
        free_(outs_.size()),
        fresh_slot_(outs_.size(), kNone),
        home_(graph_.terminals()),
        places_(static_cast<u32>(outs_.size()) * setup.buffers),
        slots_(places_ + terminals_.size()),
        idle_((terminals_.size() + 63) / 64) {
    for (u32 t = 0; t < graph_.terminals(); ++t) home_[t] = graph_.channel(graph_.ejection(t)).from.node;
    place_processors();
    u32 slowest = 1;
    for (const core::Channel& c : graph_.channels()) slowest = std::max(slowest, c.link.cycles_per_flit);
    for (u32 e = 0; e < names_.size(); ++e) {
      for (u32 p = 0; p < graph_.outputs(names_[e]); ++p) place_link(e, p);
    }
    horizon_ = builder.longest_latency() + transmission(builder.longest_message(), slowest);
    pool_.reserve(static_cast<u32>(std::min<u64>(slots_.size() + outs_.size(), kReserveMost)));
  }

  // --- arrivals --------------------------------------------------------------------------------------------------
  bool accept(u32 e, u32 port, const core::Flit& flit, engine::Io& io) noexcept {
    beyond_first_ -= flit.sequence;
    const core::Packet& packet = io.packet(flit.packet);
    const u32 hops = flit.auxiliary + 1U;
    if (home_[flit.destination] == names_[e]) {
      movements_ += packet.flits;
      terminals_.deliver(packet, packet.destination, io.now(), hops);
      io.release(flit.packet);
      return false;
    }
    const u32 in = e * ports_ + port;
    const u32 buffer = static_cast<u32>(std::countr_zero(free_[in]));
    if (buffer >= setup_.buffers || (nodes_[e].fresh >> port & 1U) != 0) [[unlikely]] {
      overrun_ = true;  // nobody reserved a buffer, or two packets arrived over one link at once
      return false;
    }
    free_[in] &= ~(u64{1} << buffer);
    fresh_slot_[in] = in * setup_.buffers + buffer;
    slots_[fresh_slot_[in]] = {flit.packet, kNone, flit.destination, flit.sequence, static_cast<u16>(hops)};
    __builtin_prefetch(&packet);  // for the routing, in this tick's step
    nodes_[e].fresh |= u64{1} << port;
    return true;
  }

  bool accept(u32 e, u32 port, const core::Control& control, engine::Io&) noexcept {
    outs_[e * ports_ + port].credits += control.argument;
    return (nodes_[e].waiting >> port & 1U) != 0;
  }

  // --- steps -----------------------------------------------------------------------------------------------------
  Tick step(u32 e, Tick now, engine::Io& io) noexcept {
    io_ = &io;
    Node& node = nodes_[e];
    for (; node.fresh != 0; node.fresh &= node.fresh - 1) {
      const u32 port = static_cast<u32>(std::countr_zero(node.fresh));
      request(e, port, fresh_slot_[e * ports_ + port], now);
    }
    // A processor's place is free again once its packet is on the link, so that its next packet may ask in this tick.
    do { take_from_processors(e, now); } while (start_links(e, now, io));
    const Tick next = next_end(e, now);
    if (node.registered <= now) node.registered = kNever;
    if (next >= node.registered) return kNever;
    node.registered = next;
    return next;
  }

  void wake_by_source(Tick now, std::vector<u64>& awake) noexcept {
    terminals_.advance(now);
    const std::span<const u64> ready = terminals_.ready();
    for (std::size_t w = 0; w < ready.size(); ++w) {
      for (u64 bits = ready[w] & idle_[w]; bits != 0; bits &= bits - 1) {
        const u32 e = node_of_[w * 64 + static_cast<u32>(std::countr_zero(bits))];
        awake[e >> 6U] |= u64{1} << (e & 63U);
      }
    }
  }
  [[nodiscard]] Tick next_source_after(Tick now) const noexcept { return terminals_.next_birth_after(now); }

  // --- what the engine asks --------------------------------------------------------------------------------------
  [[nodiscard]] u32 entities() const noexcept { return static_cast<u32>(names_.size()); }
  [[nodiscard]] Tick horizon() const noexcept { return horizon_; }
  [[nodiscard]] u64 movements() const noexcept { return movements_; }

  void reset(u32) {
    std::fill(nodes_.begin(), nodes_.end(), Node{});
    for (Out& out : outs_) {
      out.free_at = 0;
      out.head = out.tail = kNone;
      out.waiting = 0;
      out.credits = out.far == kNone ? 0 : setup_.buffers;
    }
    std::fill(free_.begin(), free_.end(), ~u64{0} >> (kMostBuffers - setup_.buffers));
    std::fill(idle_.begin(), idle_.end(), 0);
    for (u32 t = 0; t < terminals_.size(); ++t) idle_[t >> 6U] |= u64{1} << (t & 63U);
    movements_ = 0;
    beyond_first_ = 0;
    overrun_ = false;
    stranded_ = false;
  }

  /// Credits, buffers, and the queues in order.
  [[nodiscard]] u64 digest() const {
    u64 sum = 0;
    for (u32 e = 0; e < names_.size(); ++e) {
      Hasher h;
      h.add(names_[e]);
      for (u32 i = e * ports_; i < (e + 1) * ports_; ++i) {
        const Out& out = outs_[i];
        h.add(static_cast<u64>(out.credits) << 32U | out.waiting);
        h.add(static_cast<u64>(std::popcount(free_[i])));
        for (u32 slot = out.head; slot != kNone; slot = slots_[slot].next) {
          const core::Packet& packet = io_->packet(slots_[slot].packet);
          h.add(static_cast<u64>(packet.source) << 32U | packet.sequence);
          h.add(static_cast<u64>(packet.traffic) << 32U | slots_[slot].hops);
        }
      }
      sum += h.value();
    }
    return sum;
  }

  void hold(engine::Holdings& into) const {
    into.flits += beyond_first_;  // the engine counts every packet on the way as one flit
    for (u32 e = 0; e < names_.size(); ++e) {
      for (u32 i = e * ports_; i < (e + 1) * ports_; ++i) hold_queue(e, i, into);
    }
    if (overrun_) into.violations.emplace_back("a packet arrived at a node without a buffer for it");
    if (stranded_) into.violations.emplace_back("the routing gave a packet no link that exists");
  }

  void waits(std::vector<engine::Wait>& into) const {
    for (u32 e = 0; e < names_.size(); ++e) {
      for (u64 bits = nodes_[e].waiting; bits != 0; bits &= bits - 1) {
        const u32 p = static_cast<u32>(std::countr_zero(bits));
        const Out& out = outs_[e * ports_ + p];
        if (out.credits != 0) continue;
        for (u32 slot = out.head; slot != kNone; slot = slots_[slot].next) {
          into.push_back({held_by(slot), graph_.channel_out_of(names_[e], p), explain(e, slot, out.far)});
        }
      }
    }
  }

  /// Packets in buffers, without those that are on their way out.
  void occupancy(std::vector<u64>& levels) const {
    for (u32 in = 0; in < free_.size(); ++in) {
      levels[graph_.level(names_[in / ports_])] += setup_.buffers - static_cast<u32>(std::popcount(free_[in]));
    }
  }

 private:
  // --- building --------------------------------------------------------------------------------------------------
  /// Processors of a node are neighbours in `processors_`.
  void place_processors() {
    std::vector<u32> local(graph_.switches(), kNone);
    for (u32 e = 0; e < names_.size(); ++e) local[names_[e]] = e;
    first_processor_.assign(names_.size() + 1, 0);
    for (u32 t = 0; t < terminals_.size(); ++t) {
      node_of_.push_back(local[graph_.channel(graph_.injection(terminals_.global(t))).to.node]);
      processors_.push_back(t);
      ++first_processor_[node_of_[t] + 1];
    }
    for (u32 e = 0; e < names_.size(); ++e) first_processor_[e + 1] += first_processor_[e];
    std::stable_sort(processors_.begin(), processors_.end(), [&](u32 a, u32 b) { return node_of_[a] < node_of_[b]; });
  }

  void place_link(u32 e, u32 port) {
    const u32 c = graph_.channel_out_of(names_[e], port);
    if (c == kNone || graph_.channel(c).failed || graph_.channel(c).to.terminal) return;
    outs_[e * ports_ + port].far = graph_.channel(c).to.node;
    outs_[e * ports_ + port].cycles_per_flit = graph_.channel(c).link.cycles_per_flit;
  }

  /// Ticks that a packet occupies a link.
  [[nodiscard]] Tick transmission(u32 flits, u32 cycles_per_flit) const noexcept {
    return setup_.acquire + (static_cast<Tick>(flits) * cycles_per_flit + setup_.bandwidth - 1) / setup_.bandwidth;
  }

  // --- steps -----------------------------------------------------------------------------------------------------
  void take_from_processors(u32 e, Tick now) noexcept {
    for (u32 i = first_processor_[e]; i < first_processor_[e + 1]; ++i) {
      const u32 t = processors_[i];
      while (bit(terminals_.ready()[t >> 6U], t) && bit(idle_[t >> 6U], t)) {
        const PacketId id = terminals_.take(t, now);
        const core::Packet& packet = pool_[id];
        if (home_[packet.destination] == names_[e]) {
          movements_ += packet.flits;
          terminals_.deliver(packet, packet.destination, now, 1);
          pool_.release(id);
          continue;
        }
        idle_[t >> 6U] &= ~(u64{1} << (t & 63U));
        slots_[places_ + t] = {id, kNone, packet.destination, static_cast<u16>(packet.flits - 1), 1};
        request(e, graph_.channel(graph_.injection(packet.source)).to.port, places_ + t, now);
      }
    }
  }
  [[nodiscard]] static bool bit(u64 word, u32 i) noexcept { return (word >> (i & 63U) & 1U) != 0; }

  /// Routes the packet in `slot` and puts it into the queue of its link.
  void request(u32 e, u32 in_port, u32 slot, Tick now) noexcept {
    const core::Packet& packet = io_->packet(slots_[slot].packet);
    candidates_.clear();
    const u64 address =
        (static_cast<u64>(packet.source) << 32U | packet.sequence) ^ (static_cast<u64>(names_[e]) << 20U);
    routing_.route({names_[e], in_port, 0, &packet, static_cast<u32>(mix64(address ^ seed_))}, candidates_);
    const u32 port = choose(e, candidates_, now);
    if (port == kNone) [[unlikely]] {
      stranded_ = true;
      return;
    }
    Out& out = outs_[e * ports_ + port];
    slots_[slot].next = kNone;
    (out.head == kNone ? out.head : slots_[out.tail].next) = slot;
    out.tail = slot;
    ++out.waiting;
    nodes_[e].waiting |= u64{1} << port;
  }

  /// Of the candidates of highest priority the one with the shortest queue, a packet under way included; among equals
  /// the lowest port.
  [[nodiscard]] u32 choose(u32 e, const core::Candidates& candidates, Tick now) const noexcept {
    u32 best = kNone;
    i64 best_score = std::numeric_limits<i64>::min();
    for (const core::Candidate& c : candidates) {
      const Out& out = outs_[e * ports_ + c.port];
      if (out.far == kNone) continue;
      const u32 length = out.waiting + (out.free_at > now ? 1U : 0U);
      const i64 score = (static_cast<i64>(c.priority) << 40U) - (static_cast<i64>(length) << 8U) - c.port;
      if (score > best_score) {
        best = c.port;
        best_score = score;
      }
    }
    return best;
  }

  /// Starts what can start; true when a processor's packet was among it.
  bool start_links(u32 e, Tick now, engine::Io& io) noexcept {
    bool of_processor = false;
    for (u64 bits = nodes_[e].waiting; bits != 0; bits &= bits - 1) {
      const u32 p = static_cast<u32>(std::countr_zero(bits));
      Out& out = outs_[e * ports_ + p];
      if (out.free_at > now) continue;
      if (home_[slots_[out.head].destination] != out.far) {
        if (out.credits == 0) continue;
        --out.credits;
      }
      of_processor |= start(e, p, now, io);
    }
    return of_processor;
  }

  /// The head of the queue goes onto the link; true when it is a processor's packet.
  bool start(u32 e, u32 p, Tick now, engine::Io& io) noexcept {
    Node& node = nodes_[e];
    Out& out = outs_[e * ports_ + p];
    const u32 at = out.head;
    const Slot& slot = slots_[at];
    out.head = slot.next;
    if (--out.waiting == 0) {
      out.tail = kNone;
      node.waiting &= ~(u64{1} << p);
    }
    const Tick ticks = transmission(slot.last + 1U, out.cycles_per_flit);
    out.free_at = now + ticks;
    core::Flit flit;
    flit.packet = slot.packet;
    flit.destination = slot.destination;
    flit.sequence = slot.last;
    flit.auxiliary = slot.hops;
    flit.flags = core::kHead | core::kTail;
    io.send(e * ports_ + p, flit, ticks - 1);  // a channel's latency includes the last flit's own tick
    beyond_first_ += flit.sequence;
    movements_ += slot.last + 1U;
    if (at < places_) {
      // The packet still needs its buffer while it is transmitted: the credit comes back afterwards. No packet can
      // arrive on it before, so the buffer itself may be marked free at once.
      const u32 in = at / setup_.buffers;
      free_[in] |= u64{1} << (at % setup_.buffers);
      io.control_up(in, {engine::kCredit, 0, 1}, ticks);
      return false;
    }
    const u32 t = at - places_;
    idle_[t >> 6U] |= u64{1} << (t & 63U);
    pool_[slot.packet].enter = now;
    return true;
  }

  /// The next end of a transmission after which another may start.
  [[nodiscard]] Tick next_end(u32 e, Tick now) const noexcept {
    Tick next = kNever;
    for (u64 bits = nodes_[e].waiting; bits != 0; bits &= bits - 1) {
      const Tick end = outs_[e * ports_ + static_cast<u32>(std::countr_zero(bits))].free_at;
      if (end > now) next = std::min(next, end);
    }
    return next;
  }

  // --- audits and explanations -------------------------------------------------------------------------------------
  void hold_queue(u32 e, u32 index, engine::Holdings& into) const {
    const Out& out = outs_[index];
    u32 waiting = 0;
    for (u32 slot = out.head; slot != kNone; slot = slots_[slot].next) {
      ++waiting;
      ++into.packets;
      into.flits += slots_[slot].last + 1U;
    }
    const u32 port = index - e * ports_;
    if (waiting != out.waiting || (waiting != 0) != bit(nodes_[e].waiting, port)) {
      into.violations.push_back(
          fmt::format("node {} output {}: {} requests counted as {}", names_[e], port, waiting, out.waiting));
    }
    if (out.credits > setup_.buffers) {
      into.violations.push_back(
          fmt::format("node {} output {}: {} credits of {}", names_[e], port, out.credits, setup_.buffers));
    }
  }

  /// The resource that a waiting packet holds: a channel (its buffers at the far end); processors hold none.
  [[nodiscard]] u64 held_by(u32 slot) const {
    if (slot >= places_) return graph_.channels().size() + terminals_.global(slot - places_);
    const u32 in = slot / setup_.buffers;
    return graph_.channel_into(names_[in / ports_], in % ports_);
  }

  [[nodiscard]] std::string explain(u32 e, u32 slot, u32 far) const {
    const core::Packet& packet = io_->packet(slots_[slot].packet);
    const std::string place =
        slot >= places_ ? "at its source"
                        : fmt::format("in a buffer of the link from {}",
                                      topology_.label(graph_.channel(static_cast<u32>(held_by(slot))).from.node));
    return fmt::format("packet {}->{} in node {}, {}, waits for a buffer of node {}", packet.source, packet.destination,
                       topology_.label(names_[e]), place, topology_.label(far));
  }

  const core::Topology& topology_;
  const core::Graph& graph_;
  const core::Routing& routing_;
  engine::Terminals& terminals_;
  engine::PacketPool& pool_;
  Setup setup_;
  u64 seed_;
  u32 ports_;                         ///< stride: most inputs or outputs of a node
  std::vector<u32> names_;            ///< [entity]: switch of the graph
  std::vector<Node> nodes_;           ///< [entity]
  std::vector<Out> outs_;             ///< [entity * ports + output]
  std::vector<u64> free_;             ///< [entity * ports + input]: bit per free buffer
  std::vector<u32> fresh_slot_;       ///< [entity * ports + input]
  std::vector<u32> home_;             ///< [terminal of the network]: its node
  u32 places_;                        ///< the first slot that is a processor's place
  std::vector<Slot> slots_;           ///< [input * buffers + buffer], then [terminal]
  std::vector<u64> idle_;             ///< bit per terminal: its place is free
  std::vector<u32> node_of_;          ///< [terminal]: entity
  std::vector<u32> processors_;       ///< terminals, by entity
  std::vector<u32> first_processor_;  ///< [entity]
  core::Candidates candidates_;       ///< scratch: its construction is longer than a route
  Tick horizon_ = 1;
  u64 movements_ = 0;     ///< flit-hops
  u64 beyond_first_ = 0;  ///< flits sent less flits received here, first ones left out; a sum over shards
  bool overrun_ = false;
  bool stranded_ = false;
  const engine::Io* io_ = nullptr;  ///< reads packet records of any shard; set before there are any
};

void install(const config::Values& values, engine::Builder& builder) {
  const core::Graph& graph = builder.topology().graph();
  u32 ports = 1;
  for (u32 s = 0; s < graph.switches(); ++s) ports = std::max({ports, graph.inputs(s), graph.outputs(s)});
  if (ports > kMostPorts)
    values.fail("name", fmt::format("a switch has {} ports", ports), "use switches of at most 64 ports");
  if (builder.longest_message() > kMostFlits) {
    values.fail("name", fmt::format("the traffic has packets of {} flits", builder.longest_message()),
                fmt::format("use packets of at most {} flits", kMostFlits));
  }
  const Setup setup{values.natural("buffers_per_link"), values.natural("bandwidth"),
                    static_cast<Tick>(values.integer("acquire"))};
  const u64 port_bytes = sizeof(Out) + 16 + setup.buffers * (sizeof(Slot) + sizeof(core::Packet));
  builder.partition_by_size(sizeof(Node) + ports * port_bytes);
  for (u32 shard = 0; shard < builder.shards(); ++shard) {
    builder.add(shard, std::make_unique<engine::PopulationOf<NoInterfaces>>(
                           std::make_unique<NoInterfaces>(builder.terminals(shard).size()), false, false));
    builder.add_switches(shard, std::make_unique<PacketNode>(builder, shard, ports, setup), ports);
  }
  builder.wire();
}

u32 vcs(const config::Values&) { return 1; }

using config::Parameter;

}  // namespace

extern const core::SwitchRow row_packet_node;
const core::SwitchRow row_packet_node{
    {"packet_node",
     "Store-and-forward nodes: whole packets, buffers reserved before transmission, a request queue per link",
     "Buzzard and Mudge, Short Latency Routing for Hypercube Multiprocessors, sections 2 and 3",
     {Parameter::integer("buffers_per_link", 4)
          .unit("packets")
          .range(1, kMostBuffers)
          .doc("Packet buffers behind every link, reserved before a transmission to them starts."),
      Parameter::integer("bandwidth", 1).unit("flits/cycle").range(1, 4096).doc("Flits that a link carries per cycle."),
      Parameter::integer("acquire", 10)
          .unit("cycles")
          .range(0, 1'000'000)
          .doc("Time to route a packet and acquire its link, which occupies the link, t_l.")}},
    &install,
    &vcs};

}  // namespace banyan::switching
