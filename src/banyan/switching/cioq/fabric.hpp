// All CIOQ switches and input adapters of a shard: one population, driven by exact times (parts of a cycle). What they
// send to another shard goes by mail (shards.cpp).
//
// An ingress is an input port of a switch; an egress is an output port, or the injection side of an adapter. A packet
// moves: admittance queue -> egress queue of the adapter -> link -> ingress queue -> crossbar -> egress queue -> link
// ... Within one part of a cycle everything that ends is handled first; then idle adapters, crossbars and links start
// what they can, so that the order among what ends together decides nothing but places in a queue.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "banyan/core/admission.hpp"
#include "banyan/core/routing.hpp"
#include "banyan/core/utilization.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/engine/feedback_delay.hpp"
#include "banyan/engine/own_metrics.hpp"
#include "banyan/engine/population.hpp"
#include "banyan/engine/terminals.hpp"
#include "banyan/switching/cioq/admittance.hpp"
#include "banyan/switching/cioq/events.hpp"
#include "banyan/switching/cioq/state.hpp"
#include "banyan/switching/parts/round_robin.hpp"

namespace banyan::switching::cioq {

class Fabric final : public engine::Population {
 public:
  /// `bits`: of a turn in a route.
  Fabric(engine::Builder& builder, u32 shard, const Plan& plan, u32 bits);
  /// The populations of all shards, for whoever looks at the network between two ticks; nullptr: in another process.
  void look_at(std::vector<const Fabric*> fabrics) { fabrics_ = std::move(fabrics); }

  void reset(u32 replication) override;
  Tick run(Tick now) noexcept override;
  void archive(Archive& a) override;
  u64 digest() const override;
  bool hashes_movements() const noexcept override { return true; }
  void hold(engine::Holdings& into) const override;
  u64 movements() const noexcept override { return movements_; }
  /// A packet is written into the memory of an input, read through the crossbar into that of an output, and read out of
  /// that onto the link. Memories of adapters belong to hosts; their links count.
  bool activity(engine::Activity& into) const override {
    into += {moved_.in + moved_.across, moved_.across + moved_.out, moved_.across, moved_.over_links, 0, false};
    return true;
  }
  bool expects(Tick) const override;
  void blocked_on(engine::BlockedView& into) const override;
  void tell_border(u32 round, std::vector<u64>& words) const override;
  void hear_border(u32 round, std::span<const u64> words) override;
  void occupancy(std::vector<u64>& levels) const override;
  void full_channels(std::vector<u32>& channels) const override;
  engine::OwnMetrics* own_metrics() noexcept override;
  // What came from other shards.
  void take_in(Tick due, const engine::FlitArrival& arrival) override;
  void take_in(Tick due, const engine::ControlArrival& arrival) override;
  void hold(const engine::FlitArrival& arrival, engine::Holdings& into) const override;
  void hold(const engine::ControlArrival& arrival, engine::Holdings& into) const override;
  u64 digest_of(Tick due, const engine::FlitArrival& arrival, const core::Packet& packet) const override;
  u64 digest_of(Tick due, const engine::ControlArrival& arrival) const override;

  /// Lane of a port's crossbar side, apart from that of its link.
  static constexpr u32 kCrossbar = 1;
  // Kinds of what the wheel holds: ingresses that transfer through a crossbar, egresses that do over a link.
  static constexpr u32 kCrossings = 0;
  static constexpr u32 kLinks = 1;

  // --- for tests and for what watches --------------------------------------------------------------------------
  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] const RecnCounts& counts() const noexcept { return counts_; }
  [[nodiscard]] const std::vector<RecnEvent>& log() const noexcept { return log_; }
  /// Congestion roots right now: egresses whose normal queue was notified, ingress lines that owe nobody a token.
  struct Roots {
    std::vector<u32> egress;   ///< ports
    std::vector<u32> ingress;  ///< ports, one entry per line
  };
  [[nodiscard]] Roots roots() const;

 private:
  friend struct FabricAccess;  ///< of tests, which set up states of queues by hand

  /// What is decided when the program is compiled: packets of classes have places of their own, RECN looks up lines;
  /// and whether links are stopped by pauses instead of credits. So is whether a network is large.
  enum class Mode : u8 { shared, recn, classes, paused_shared, paused_recn, paused_classes };
  [[nodiscard]] static constexpr bool sets_aside(Mode m) noexcept { return m == Mode::recn || m == Mode::paused_recn; }
  [[nodiscard]] static constexpr bool divides(Mode m) noexcept {
    return m == Mode::classes || m == Mode::paused_classes;
  }
  [[nodiscard]] static constexpr bool pauses(Mode m) noexcept { return m >= Mode::paused_shared; }

  // No field of theirs is a byte: a store to a byte may change anything, as far as the compiler knows.
  struct Ingress {
    Item item;             ///< in transfer
    u32 upstream = kNone;  ///< egress; kElsewhere: in another shard
    u32 switch_ = 0;
    u32 out_base = 0;  ///< first egress of the switch
    u32 port : 8 = 0;
    u32 to : 8 = 0;     ///< output port of the transfer
    u32 turn : 8 = 0;   ///< round robin over queues
    u32 aside : 1 = 0;  ///< some line is valid
    u32 far : 1 = 0;    ///< what feeds it is in another shard
  };
  struct alignas(64) Egress {
    Item item;            ///< on the link
    u64 ready = 0;        ///< bit per queue that may send, where a word holds them
    u64 root_inputs = 0;  ///< inputs that hold a token of the normal queue's congestion
    u32 free = 0;         ///< bytes of memory
    i32 credit = 0;       ///< bytes of the memory behind the link
    u32 down = kNone;     ///< ingress, or terminal; 0: what is in another shard
    u32 switch_ = 0;      ///< or terminal, for an adapter
    u32 channel = kNone;  ///< of the graph
    u32 fed_by = 0;       ///< adapter that fills it; of a switch's, the number behind the last one
    u16 wire = 0;         ///< class of latency
    u16 turn = 0;         ///< round robin over queues
    u8 port = 0;
    bool marked = false;  ///< in the list of links to look at
    bool to_terminal : 1 = false;
    bool adapter : 1 = false;
    bool aside : 1 = false;    ///< some line is valid
    bool starved : 1 = false;  ///< waits for credit
    bool paused : 1 = false;   ///< told to pause, where a port has one class
    bool far : 1 = false;      ///< leads to another shard
  };
  static_assert(sizeof(Egress) == 64);
  struct alignas(64) Switch {
    /// Outputs that may take a packet now from an input that has one for them, if it is idle.
    [[nodiscard]] u64 open() const noexcept { return idle_out & room & wanted; }

    // In this order, for the compiler changes neighbours together in a vector register, which takes longer.
    u64 idle_in = 0;
    u64 room = 0;  ///< outputs with memory for a packet
    u64 idle_out = 0;
    u64 wanted = 0;  ///< outputs that some input has a packet for
    u32 in_base = 0;
    u32 out_base = 0;
    bool marked = false;
  };
  struct Arrival {
    Tick at;
    Item item;
    u32 down;  ///< ingress, or terminal
  };
  /// A transfer through a crossbar that starts now.
  struct Crossing {
    u32 ingress;
    u32 egress;
    u32 output;  ///< port of the egress
    u32 queue;
  };
  struct Credit {
    Tick at;
    u32 egress;
    u16 bytes;
    u16 queue_class;
  };
  /// The ingress behind an egress tells it to stop a class, or to go on.
  struct PauseFrame {
    Tick at;
    u32 egress;
    u16 queue_class;
    bool stops;
  };
  /// What an ingress holds of a class.
  struct Pausing {
    u32 bytes = 0;
    bool told = false;  ///< it said stop
  };
  /// What the egress upstream heard.
  struct Heard {
    bool stop = false;      ///< it stands still
    Tick changed = kNever;  ///< when it last heard something, cycles
  };
  /// What one port tells another; the last three in mail to other shards only.
  enum class Message : u8 { notification, token, xon, xoff, credit, stop, go };
  struct Control {
    Tick at;
    u64 path;
    u32 port;  ///< egress for notification, Xon and Xoff; ingress for a token
    u8 length;
    Message kind;
  };
  struct Timer {
    Tick at;
    u32 port;
    u32 generation;
    u8 line;
    bool ingress;
  };

  // Pauses (pause.cpp).
  /// For the class of a packet that arrives at an ingress or leaves its memory.
  [[nodiscard]] Pausing& pausing(u32 ingress, const Item& item) noexcept {
    return pausing_[std::size_t{ingress} * plan_.classes + (queue_of_class_ & item.queue_class)];
  }
  [[nodiscard]] Heard& heard(u32 egress, u32 queue_class) noexcept {
    return heard_[std::size_t{egress} * plan_.classes + queue_class];
  }
  [[nodiscard]] const Heard& heard(u32 egress, u32 queue_class) const noexcept {
    return heard_[std::size_t{egress} * plan_.classes + queue_class];
  }
  [[nodiscard]] bool stands_still(u32 egress, const Item& item) const noexcept {
    return heard(egress, queue_of_class_ & item.queue_class).stop;
  }
  [[nodiscard]] Tick run_paused(Tick now) noexcept;
  void set_up_pauses();
  void reset_pauses();
  void note_arrival(u32 ingress, const Item& item) noexcept;
  void note_departure(u32 ingress, const Item& item) noexcept;
  void send_pause(u32 ingress, u32 queue_class, bool stops) noexcept;
  void take_pauses(Fifo<PauseFrame>& frames, Tick part) noexcept;
  [[nodiscard]] u64 pause_digest() const;
  [[nodiscard]] u64 digest_of(const PauseFrame& frame) const;
  void check_pauses(engine::Holdings& into) const;
  /// Whether what is behind a link counts as full: its sender stands still, or was let go on so shortly ago that it
  /// cannot have filled it again (else the trees of a sample would come and go with the pauses).
  [[nodiscard]] bool is_paused(u32 egress, u32 queue_class, Tick now) const noexcept;

  // Other shards (shards.cpp).
  static constexpr u32 kElsewhere = kNone - 1;
  /// An ingress or egress of whatever shard; no fabric: it is in another process.
  struct Port {
    const Fabric* fabric;
    u32 port;
  };
  /// The ingress at the other end of the link of an egress, and the egress at that of an ingress, where there is one.
  [[nodiscard]] Port behind(u32 egress) const noexcept {
    if (!egress_[egress].far) return {this, egress_[egress].down};
    const engine::Target& to = far_down_[egress];
    return {fabrics_[to.shard], to.entity};
  }
  [[nodiscard]] Port before(u32 ingress) const noexcept {
    if (ingress_[ingress].far == 0) return {this, ingress_[ingress].upstream};
    const engine::Target& to = far_up_[ingress];
    return {fabrics_[to.shard], to.entity};
  }
  /// The numbers of ports among those of their shards.
  struct Numbers {
    std::vector<u32> in_base;   ///< [switch]: of its first ingress
    std::vector<u32> out_base;  ///< [switch]: of its first egress
    std::vector<u32> adapters;  ///< [shard]: of the first egress of an adapter
  };
  [[nodiscard]] static Numbers number_ports(const engine::Builder& builder);
  void attach(const engine::Builder& builder, u32 shard, const Numbers& numbers);
  /// The number in the graph of a switch, a port or a terminal of this shard.
  [[nodiscard]] u32 node(u32 s) const noexcept { return nodes_.empty() ? s : nodes_[s]; }
  [[nodiscard]] u32 everywhere_in(u32 ingress) const noexcept {
    return nodes_.empty() ? ingress : graph_.input_base(nodes_[ingress_[ingress].switch_]) + ingress_[ingress].port;
  }
  [[nodiscard]] u32 everywhere_out(u32 egress) const noexcept {
    if (nodes_.empty()) return egress;
    const Egress& out = egress_[egress];
    if (egress >= adapters_) return graph_.total_outputs() + terminals_.global(egress - adapters_);
    return graph_.output_base(nodes_[out.switch_]) + out.port;
  }
  /// The record of a packet of whatever shard.
  [[nodiscard]] core::Packet& record(core::PacketId id) const noexcept {
    return (*pools_[id >> engine::PacketPool::kIndexBits])[id];
  }
  [[nodiscard]] u32 channel_into(u32 ingress) const {
    return graph_.channel_into(node(ingress_[ingress].switch_), ingress_[ingress].port);
  }
  [[gnu::noinline]] void mail_packet(u32 egress, const Item& item) noexcept;
  [[gnu::noinline]] void mail_credit(u32 ingress, const Item& item) noexcept;
  void mail(const engine::Target& to, Tick at, Message kind, u32 length, u64 path) noexcept;
  void tell_upstream(u32 ingress, const Line& line, Message kind) noexcept;
  void give_token_back(u32 egress, u64 path, u32 length) noexcept;
  /// What ports in other processes have told before somebody asked who waits for what (hear_border).
  struct FarLine {
    u64 path;
    u64 length;
    u64 number;
    u64 packets;  ///< in its set-aside queue
  };
  struct Border {
    Tick last = 0;                                          ///< parts: when something happened in other processes
    std::unordered_map<u32, std::vector<FarLine>> lines;    ///< [egress]: of the ingress behind it
    std::unordered_map<u32, std::vector<u64>> class_bytes;  ///< [egress][class]: likewise, where there are pauses
    std::unordered_map<u32, u64> room;                      ///< [ingress]: room_behind() of the egress before it
  };
  /// A set-aside queue of the ingress behind an egress.
  struct QueueBehind {
    u32 number = kNone;  ///< of its line; kNone: there is none with that path
    u64 packets = 0;
  };
  [[nodiscard]] QueueBehind queue_behind(u32 egress, const Line& line) const;
  /// What came by mail goes where it would be if the network were one.
  void take_mail();
  /// The last cycle in which anything happened in the network.
  [[nodiscard]] Tick last_cycle() const noexcept;
  [[nodiscard]] Arrival arrival_of(Tick due, const engine::FlitArrival& arrival) const noexcept;
  [[nodiscard]] Control control_of(Tick due, const engine::ControlArrival& arrival) const noexcept;
  [[nodiscard]] u64 digest_of(const Control& control) const;

  // Movement (fabric.cpp).
  template <Mode M, bool Large>
  [[nodiscard]] Tick run_as(Tick now) noexcept;
  template <Mode M, bool Large>
  void step(Tick part) noexcept;
  /// Counts the credits that are due until `part`.
  template <Mode M>
  void take_credits(Tick part) noexcept;
  /// Without classes credits are counted when somebody waits for one, and now and then: whoever asks how many there are
  /// has to see to it that those are counted that are due.
  void settle(Tick part) noexcept {
    if (!divides(mode_) && credits_.next() <= part) take_credits<Mode::shared>(part);
  }
  void settle() const;
  /// Whether credits are to be counted in the part in which they are due.
  template <Mode M>
  [[nodiscard]] bool counts_credits() const noexcept {
    return divides(M) || starved_ != 0;
  }
  /// True when there is credit for a packet, or no pause; otherwise the egress waits for it from now on.
  template <Mode M>
  [[nodiscard]] bool has_credit(Egress& out) noexcept {
    if constexpr (pauses(M)) return divides(M) || !out.paused;
    if (divides(M) || out.credit >= packet_) [[likely]]
      return true;
    return ask_credit(out);
  }
  [[nodiscard, gnu::noinline]] bool ask_credit(Egress& out) noexcept;
  template <Mode M, bool Large>
  void take_arrivals(Fifo<Arrival>& wire, Tick part) noexcept;
  void deliver(Fifo<Arrival>& wire, Tick end) noexcept;
  /// f(packet, terminal) for what arrives at terminals before `end`.
  template <class F>
  void for_each_exit(Tick end, F&& f) {
    for (const Fifo<Arrival>& wire : exits()) {
      for (u64 n = 0; n < wire.size() && wire[n].at < end; ++n) {
        f(record(wire[n].item.packet), terminals_.global(wire[n].down));
      }
    }
  }
  template <Mode M, bool Large>
  void end_transfers(Tick part) noexcept;
  template <Mode M, bool Large>
  void start_crossings() noexcept;
  template <Mode M, bool Large>
  void start_links() noexcept;
  void take_tokens(Tick part) noexcept;
  void take_controls(Tick part) noexcept;
  template <bool Large>
  void generate(Tick now) noexcept;
  template <Mode M, bool Large>
  void fill(u32 adapter) noexcept;
  /// The same where messages wait in flows at their source.
  template <Mode M>
  void fill_from_flows(u32 adapter) noexcept;
  /// Whether a packet of that route would have to wait in the adapter for those of its own queue.
  template <Mode M>
  [[nodiscard]] bool held_back(u32 e, u64 route, u32 queue_class) noexcept;
  template <Mode M>
  void put_into_adapter(u32 e, core::PacketId id, u64 route, u32 hops, u32 queue_class) noexcept;
  /// What was held back may go.
  void unpark(u32 adapter) noexcept {
    if (flows_) {
      terminals_.source.unpark(adapter);
    } else {
      admittance_.unpark(adapter);
    }
  }
  template <Mode M>
  void end_crossbar(u32 ingress) noexcept;
  template <Mode M, bool Large>
  void end_link(u32 egress) noexcept;
  template <Mode M, class One>
  void arbitrate(Switch& sw, One&& one) noexcept;
  template <Mode M, bool Large>
  void start_crossbar(const Crossing& crossing) noexcept;
  template <Mode M, bool Large>
  void start_link(u32 egress) noexcept;
  /// Packets of an ingress for an output, in whatever queues.
  [[nodiscard]] u32& towards(u32 ingress, u32 output) noexcept {
    return towards_[std::size_t{ingress} * ports_ + output];
  }
  /// Where packets are marked or utilizations are written, of a packet that comes into a queue, and of one that leaves
  /// one of `length`, itself included, over a link.
  void note_put_in(u32 ingress, const Item& item) noexcept;
  void note_departure(u32 egress, const Item& item, u32 length, bool free) noexcept;
  /// Cycles for which a packet occupies a link.
  [[nodiscard]] u32 link_cycles(const Item& item) const noexcept { return item.bytes + plan_.overhead; }
  /// Of a packet that leaves a queue of `length`, itself included, for a channel; `free`: the next packet could follow.
  void mark_packet(const Item& item, u32 switch_, u32 channel, u32 length, bool free) noexcept;
  template <Mode M>
  void put_in(u32 ingress, const Item& item) noexcept;
  void receive(u32 ingress, const Item& item) noexcept;  ///< for tests of RECN
  template <Mode M>
  void put_out(u32 egress, const Item& item, u32 ingress) noexcept;
  bool push(Side& side, u32 port, u32 q, const Item& item) noexcept {
    Queue& queue = side.queue(port, q);
    ++queue.packets;
    return store_.push(queue, item);
  }
  /// Takes the packet at the head, and every marker that is behind it.
  template <Mode M>
  [[nodiscard]] Item pop(Side& side, u32 port, u32 q) noexcept {
    Queue& queue = side.queue(port, q);
    --queue.packets;
    const Item item = is_in(side) ? store_.take(queue) : store_.take_evenly(queue);
    if (sets_aside(M) && queue.has_marker()) [[unlikely]]
      pop_markers(side, port, q);
    return item;
  }
  void pop_markers(Side& side, u32 port, u32 q) noexcept;
  template <Mode M>
  void offer(u32 ingress, u32 q, u32 output) noexcept;
  template <Mode M>
  void withdraw(u32 ingress, u32 q, u32 output) noexcept;
  void refresh_in(u32 ingress, u32 q) noexcept;
  void refresh_out(u32 egress, u32 q) noexcept;
  template <Mode M>
  void set_ready(u32 egress, u32 q, bool ready) noexcept;
  /// True when an idle link may find a packet to send.
  template <Mode M>
  [[nodiscard]] bool may_send(Egress& out) noexcept {
    const bool credit = has_credit<M>(out);
    return divides(M) || (credit & (out.ready != 0));
  }
  template <Mode M>
  [[nodiscard]] u32 choose_out(u32 egress, const u64* open) const noexcept;
  /// The queue that an egress will send from next, as far as can be told.
  template <Mode M>
  [[nodiscard]] const Queue& next_out(u32 egress) const noexcept {
    const Egress& out = egress_[egress];
    const bool known = !divides(M) && out.ready != 0;
    return out_.queue(egress, known ? parts::round_robin(out.ready, out.turn) : 0);
  }
  template <Mode M>
  [[nodiscard]] u32 choose_in(u32 ingress, u32 output) noexcept;
  [[nodiscard]] bool may_cross(u32 ingress, u32 output) noexcept;
  template <Mode M>
  [[nodiscard]] Tick earliest(Tick from, Tick soon) const noexcept;
  void mark_switch(u32 s, Switch& sw, bool wanted = true) noexcept {
    marked_switches_.push_if(wanted & !sw.marked, s);
    sw.marked = sw.marked | wanted;
  }
  void mark_link(u32 e, Egress& out, bool wanted = true) noexcept {
    marked_links_.push_if(wanted & !out.marked, e);
    out.marked = out.marked | wanted;
  }
  void mark_adapter(u32 a, bool wanted = true) noexcept {
    const u16 marked = adapter_marked_[a];
    marked_adapters_.push_if(wanted & (marked == 0), a);
    adapter_marked_[a] = marked | (wanted ? 1 : 0);
  }
  [[nodiscard]] std::span<Fifo<Arrival>> wires() noexcept { return {wires_.data(), latencies_}; }
  [[nodiscard]] std::span<const Fifo<Arrival>> wires() const noexcept { return {wires_.data(), latencies_}; }
  [[nodiscard]] std::span<Fifo<Arrival>> exits() noexcept { return {wires_.data() + latencies_, latencies_}; }
  void set_class_room(u32 egress, u32 q, bool room) noexcept;
  [[nodiscard]] u64 route_of(u32 source, u32 destination, u32& hops) noexcept;
  void fetch_route(u32 source, u32 destination) const noexcept {
    if (!routes_.empty()) __builtin_prefetch(&routes_[std::size_t{source} * graph_.terminals() + destination]);
  }
  [[nodiscard]] u64 find_route(u32 source, u32 destination, u32& hops) const noexcept;

  // Congestion (recn.cpp). What has to be looked at for every packet is here, the rest is rare.
  void after_put_in(u32 ingress, u32 q) noexcept {
    if (q >= in_.base) {
      after_put_aside_in(ingress, q);
    } else if (in_.queue(ingress, q).packets >= detection_) {
      detect(ingress, q);
    }
  }
  void after_pop_in(u32 ingress, u32 q) noexcept {
    if (q >= in_.base) after_pop_aside_in(ingress, q);
  }
  void after_put_out(u32 egress, u32 q, u32 ingress) noexcept {
    if (q >= out_.base) {
      after_put_aside_out(egress, q, ingress);
    } else if (ingress != kNone && out_.queue(egress, q).packets >= plan_.egress_detection) {
      detect_out(egress, ingress);
    }
  }
  void after_pop_out(u32 egress, u32 q) noexcept {
    if (q >= out_.base) after_pop_aside_out(egress, q);
  }
  void after_put_aside_in(u32 ingress, u32 q) noexcept;
  void after_pop_aside_in(u32 ingress, u32 q) noexcept;
  void after_put_aside_out(u32 egress, u32 q, u32 ingress) noexcept;
  void after_pop_aside_out(u32 egress, u32 q) noexcept;
  void detect_out(u32 egress, u32 ingress) noexcept;
  void count_late(Line& line, const Queue& queue, u32 turns) noexcept;
  void detect(u32 ingress, u32 output) noexcept;
  void notify_upstream(u32 ingress, u32 k) noexcept;
  void notify_source(Line& line, const Item& item) noexcept;
  [[nodiscard]] bool notify_ingress(u32 ingress, u32 output, u64 path, u32 length, u8 peer) noexcept;
  void notified(u32 egress, u64 path, u32 length) noexcept;
  void token_back(u32 ingress, u64 path, u32 length) noexcept;
  void set_stopped_by_link(u32 egress, u64 path, u32 length, bool stopped) noexcept;
  void signal_inputs(u32 egress, u32 k, bool stopped) noexcept;
  [[nodiscard]] bool refuses(const Side& side, u32 port, u64 path, u32 length) const noexcept;
  [[nodiscard]] u32 allocate(Side& side, u32 port, u64 path, u32 length, u32 base_queue) noexcept;
  void place_marker(Side& side, u32 port, u32 k, u32 base_queue) noexcept;
  void unblock(Side& side, u32 port, u32 k) noexcept;
  void free_in(u32 ingress, u32 k) noexcept;
  void free_out(u32 egress, u32 k) noexcept;
  void age(const Timer& timer) noexcept;
  [[nodiscard]] bool idle(const Side& side, u32 port, u32 k) const noexcept;
  void note_lines(const Side& side, u32 port) noexcept {
    if (is_in(side)) {
      ingress_[port].aside = side.valid[port] != 0 ? 1 : 0;
    } else {
      egress_[port].aside = side.valid[port] != 0;
    }
  }
  void note(RecnEvent::Kind kind, bool ingress, u32 port, u64 path, u32 length) noexcept;

  [[nodiscard]] bool is_in(const Side& side) const noexcept { return &side == &in_; }
  [[nodiscard]] u32 output_of(u64 route) const noexcept { return static_cast<u32>(route & turn_mask_); }
  [[nodiscard]] u32 base_in(const Item& it) const noexcept {
    return (static_cast<u32>(it.route) & queue_of_turn_) | (it.queue_class & queue_of_class_);
  }
  [[nodiscard]] u32 base_out(const Item& it) const noexcept { return plan_.per_class() ? it.queue_class : 0; }
  [[nodiscard]] u64 path_mask(u32 length) const noexcept {
    return length * bits_ >= 64 ? ~u64{0} : (u64{1} << (length * bits_)) - 1;
  }
  /// Only queues of classes may be more than a word has bits.
  template <Mode M>
  [[nodiscard]] u64* ready_in(u32 ingress, u32 output) noexcept {
    return &ready_in_[(std::size_t{ingress} * ports_ + output) * (divides(M) ? in_words_ : 1)];
  }
  /// Queues of a port that may hold something, where Side::quiet is to be used: packets that may leave are noted, and
  /// the others are in set-aside queues. Otherwise all.
  [[nodiscard]] u64 occupied_in(u32 ingress) const noexcept {
    if (in_.quiet.empty()) return ~u64{0};
    u64 queues = in_.saqs == 0 ? 0 : in_.valid[ingress] << in_.base;
    for (u32 o = 0; o < ports_; ++o) queues |= ready_in_[std::size_t{ingress} * ports_ + o];
    return queues;
  }
  [[nodiscard]] u64 occupied_out(u32 egress) const noexcept {
    return out_.quiet.empty() ? ~u64{0} : egress_[egress].ready | out_.valid[egress] << out_.base;
  }
  /// What a port adds to the state's hash first.
  [[nodiscard]] u64 first_word(const Side& side, u32 port) const noexcept {
    return is_in(side) ? everywhere_in(port) : everywhere_out(port) + (u64{1} << 32U);
  }
  void hash_quiet(Side& side) const;
  static void add_held(engine::Holdings& into, u32 bytes);
  void show_log(const Roots& now);
  [[nodiscard]] u32 root_channel(u32 switch_, u64 path, u32 length) const;
  /// Until a link could have sent a memory full of packets since the last Xon.
  [[nodiscard]] bool is_slowed(const Line& line, Tick now) const noexcept {
    return line.slowed != kNever &&
           now - line.slowed < Tick{plan_.memory} / plan_.packet * (plan_.packet + plan_.overhead);
  }
  [[nodiscard]] u64 room_behind(u32 e, Tick now) const;
  void show_port(engine::BlockedView& into, const Side& side, u32 port, u32 channel, u32 at) const;
  void show_head_in(engine::BlockedView& into, u32 i, u32 q, const Item& head, u32 channel) const;
  /// The memory behind a channel that has no room for a packet of the class; nothing: there is room.
  [[nodiscard]] std::optional<u32> full_behind(const Egress& out, u32 e, u32 queue_class, Tick now) const;
  void show_head_out(engine::BlockedView& into, u32 e, u32 q, const Item& head, u32 channel) const;
  void check_queue(engine::Holdings& into, const Side& side, u32 port, u32 q, u64& bytes) const;

  Plan plan_;
  const core::Graph& graph_;
  const core::Routing& routing_;
  engine::Terminals& terminals_;
  engine::PacketPool& pool_;                ///< of the packets that this shard's terminals send
  std::vector<engine::PacketPool*> pools_;  ///< [shard]
  engine::Probe* probe_;
  engine::Wires& network_;                ///< to other shards
  std::vector<u32> nodes_;                ///< [switch]: its number in the graph; empty: there is one shard
  std::vector<engine::Target> far_down_;  ///< [egress]; empty: there is one shard
  std::vector<engine::Target> far_up_;    ///< [ingress]
  std::vector<const Fabric*> fabrics_;    ///< [shard]
  Border border_;
  std::vector<core::Traffic*> traffics_;
  u64 seed_;
  u32 bits_;
  u64 turn_mask_;
  u32 ports_ = 1;     ///< most ports of a switch
  u32 adapters_ = 0;  ///< first egress of an adapter
  Mode mode_ = Mode::shared;
  u32 queue_of_turn_ = 0;    ///< mask: ingress queues are those of the next turn
  u32 queue_of_class_ = 0;   ///< mask: they are those of the packets' classes
  u32 detection_ = kNone;    ///< packets in a detection queue from which on its output is congested
  bool large_ = false;       ///< more than the cache holds: memory is asked for ahead
  bool every_part_ = false;  ///< they are few: nobody looks for those in which something happens
  u32 in_words_ = 1;
  u32 out_words_ = 1;
  std::vector<u32> limits_;  ///< [terminal]: flits that may wait there; kNone

  PageVector<Switch> switches_;
  PageVector<Ingress> ingress_;
  PageVector<Egress> egress_;
  Side in_;
  Side out_;
  PageVector<u64> asking_inputs_;  ///< [egress]: inputs with a packet for it that may leave
  // Close together, for arbitration looks at ports that had nothing to do for long. Of two bytes, as no byte is stored.
  PageVector<u16> grant_;       ///< [egress]: round robin over inputs
  PageVector<u16> accept_;      ///< [ingress]: round robin over outputs
  PageVector<u64> ready_in_;    ///< [ingress][output][word]: bit per queue
  std::vector<u64> ready_out_;  ///< [egress][word], where one does not hold the queues of a port
  // What queues per class hold: places used in an egress, and taken behind its link.
  std::vector<u16> class_used_;    ///< [egress * classes + class]
  std::vector<u16> class_credit_;  ///< [egress * classes + class]
  std::vector<u64> class_room_;    ///< [egress][word]
  std::vector<u64> class_open_;    ///< [egress][word]: credit for a packet
  Store store_;
  Admittance admittance_;
  core::HopRandom marks_;
  core::HopRandom ways_;
  std::vector<u32> towards_;  ///< [ingress * ports + output]; empty: nothing is marked
  bool watches_ = false;      ///< packets are marked, or utilizations written
  /// A link as its switch or adapter measures it, where an admission asks for that.
  struct Meter {
    core::LinkMeter link;
    u32 waiting = 0;  ///< link cycles of the packets here that will take it, in ingress queues too
    u32 sent = 0;     ///< link cycles of the packet that it sent last
  };
  std::vector<Meter> meters_;        ///< [egress]; empty: nobody asks
  double utilization_period_ = 1.0;  ///< cycles
  bool flows_ = false;               ///< messages wait in flows at their source, and not in admittance_
  /// [source * terminals + destination], where few enough: the turns, above them (kHopsShift) their number; 0: unknown.
  PageVector<u64> routes_;
  std::vector<u32> sent_;  ///< [adapter]: packets so far; empty: every packet of a pair takes the same way

  Wheel wheel_;  ///< of kCrossings, kLinks
  /// [class of latency], to switches; then to terminals. What arrives there changes nothing in the network: it is told
  /// once per cycle. Where there are several shards, the last of either is what comes from others.
  std::vector<Fifo<Arrival>> wires_;
  std::vector<Tick> wire_parts_;  ///< likewise
  std::size_t latencies_ = 0;     ///< half of their length
  Fifo<Credit> credits_;
  /// Tokens that come back to ingresses, and what egresses are told. Of what is due in one part, tokens come first:
  /// they free lines, and what else they do commutes. What one egress is told keeps its order. So it does not matter in
  /// which order the ports of a network send.
  Fifo<Control> tokens_;
  Fifo<Control> controls_;
  Fifo<Timer> timers_;
  // Received from other shards, and not looked at:
  std::vector<Arrival> mailed_packets_;
  std::vector<Arrival> mailed_exits_;
  std::vector<Credit> mailed_credits_;
  bool has_mail_ = false;
  // Where links are stopped by pauses:
  std::vector<Fifo<PauseFrame>> pause_frames_;  ///< [class of latency]
  std::vector<Pausing> pausing_;                ///< [ingress * classes + class]
  std::vector<Heard> heard_;                    ///< [egress * classes + class]
  std::vector<u64> unpaused_;                   ///< [egress][word]: classes that may go, of queues per class
  PauseCounts pause_counts_;
  u32 own_pauses_ = 0;
  u32 own_headroom_ = 0;
  Marks marked_switches_;
  Marks marked_links_;
  Marks marked_adapters_;
  std::vector<u16> adapter_marked_;  ///< [terminal]; then one that never is. Of two bytes, as no byte is stored
  std::vector<u64> full_adapters_;   ///< [terminal / 64], a bit each, of flows: known to have no room
  std::vector<u64> granted_;         ///< [input], scratch
  struct Born {
    u32 terminal;
    engine::Source::Kept message;
  };
  std::vector<Born> born_;           ///< scratch
  std::vector<u32> due_;             ///< nodes whose transfer ends, scratch
  std::vector<Crossing> crossings_;  ///< that start, scratch
  std::size_t crossings_count_ = 0;

  Tick now_ = 0;    ///< in parts
  Tick cycle_ = 0;  ///< in cycles
  Tick control_parts_ = 0;
  i32 packet_ = 0;    ///< longest, to compare with credits
  u32 starved_ = 0;   ///< egresses that wait for credit; one more where credits take no time
  Tick settled_ = 0;  ///< cycle in which credits were last counted without need
  u64 movements_ = 0;
  /// Bytes since the start of the replication.
  struct Moved {
    u64 in = 0;          ///< into memories of inputs
    u64 across = 0;      ///< crossbars
    u64 out = 0;         ///< out of memories of outputs
    u64 over_links = 0;  ///< with their overhead
  };
  Moved moved_;
  RecnCounts counts_;
  // Where sources are told of roots:
  std::unique_ptr<core::Admission> flow_keys_;  ///< which flow a packet belongs to
  std::unique_ptr<engine::FeedbackDelay> feedback_delay_;
  std::vector<RecnEvent> log_;
  engine::OwnMetrics own_;
  engine::OwnMetrics shown_;  ///< with the log
};

}  // namespace banyan::switching::cioq
