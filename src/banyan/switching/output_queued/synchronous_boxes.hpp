// How interchange boxes move: the steps of a cycle. All boxes move in the same cycle and see each other's free places,
// so this population reads and writes across switches (peer access) and lives in one shard.
#pragma once

#include <array>
#include <bit>
#include <limits>
#include <span>
#include <vector>

#include "banyan/base/bits.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/switching/output_queued/boxes.hpp"
#include "banyan/switching/output_queued/input_order.hpp"

namespace banyan::switching::output_queued {

inline constexpr Stream kConflicts{"output_queued: conflicts"};
inline constexpr Stream kOrders{"output_queued: orders of inputs"};
inline constexpr Stream kWays{"output_queued: choices of routings"};

/// Stride: input and output ports per box, rounded up to a power of two. Tagged: routes are source routes that fit an
/// entry; otherwise the routing is asked at every hop.
template <u32 Stride, bool Tagged>
class SynchronousBoxes final : public Boxes {
 public:
  SynchronousBoxes(engine::Builder& builder, u32 places, bool same_cycle, const CombiningParameters* combining)
      : Boxes(builder, Stride, places, combining),
        routing_(builder.routing()),
        probe_(builder.probe(0)),
        same_cycle_(same_cycle),
        permuted_(builder.settings().permuted),
        seed_(builder.settings().seed),
        tag_bits_(builder.routing().tag_format().bits_per_hop),
        path_length_(static_cast<u16>(builder.routing().tag_format().hops)) {
    moves_.reserve(static_cast<std::size_t>(layout_.boxes) * Stride);
  }

  void reset(u32 replication) override {
    Boxes::reset(replication);
    random_ = Random(seed_, kConflicts, 0, replication);
    inputs_.reset(Random(seed_, kOrders, 0, replication));
    hop_random_ = core::HopRandom(seed_, kWays, replication);
  }

  Tick run(Tick now) noexcept override {
    inputs_.at(now);
    if (fetch_adds_ != nullptr) [[unlikely]] {
      fill_slots<true>(now);
      step_fetch_adds(now);
      return next_run(now);
    }
    fill_slots<false>(now);
    if (same_cycle_) {
      eject(now);
      step_downstream_first(now);
    } else {
      step_two_phase(now);
    }
    return next_run(now);
  }

 private:
  static constexpr u64 kPorts = ~u64{0} >> (64 - Stride);  ///< the bits of the inputs of a box

  struct Move {
    u32 from;
    u32 to;
    Entry entry;
  };

  [[nodiscard]] Tick next_run(Tick now) const noexcept {
    return pool_.live() != 0 || terminals_.source.waiting_terminals() != 0 ? now + 1
                                                                           : terminals_.source.next_birth_after(now);
  }

  /// Terminals with a waiting message and a free slot show its head to their box. `Requests`: it may be a
  /// fetch-and-add.
  template <bool Requests>
  void fill_slots(Tick now) noexcept {
    terminals_.source.advance(now);
    const std::span<const u64> ready = terminals_.source.ready();
    for (std::size_t w = 0; w < ready.size(); ++w) {
      u64 bits = ready[w] & free_slots_[w];
      free_slots_[w] &= ~bits;
      for (; bits != 0; bits &= bits - 1) {
        const u32 t = static_cast<u32>(w * 64) + static_cast<u32>(std::countr_zero(bits));
        const u32 q = layout_.slot_of_terminal[t];
        const core::PacketId id = terminals_.source.take(t, now);
        if constexpr (Requests) fetch_adds_->taken(id);
        queues_.fill_slot(q, {id, first_route(id, q)});
      }
    }
  }

  [[nodiscard]] u32 first_route(core::PacketId id, u32 q) noexcept {
    if constexpr (Tagged) {
      return static_cast<u32>(pool_[id].tag);
    } else {
      return ask_routing(id, q);
    }
  }

  /// Output port at the box that queue q feeds: of the candidates of highest priority the one with the fewest waiting
  /// packets, the first among equals.
  [[nodiscard]] u32 ask_routing(core::PacketId id, u32 q) noexcept {
    const core::Packet& packet = pool_[id];
    const u32 at = q / Stride;
    core::Candidates candidates;
    routing_.route({at, q % Stride, 0, &packet, core::HopWord(hop_random_, packet, at, packet.hops)}, candidates);
    u32 best = 0;
    i64 best_score = std::numeric_limits<i64>::min();
    for (const core::Candidate& c : candidates) {
      const u32 to = layout_.target[at * Stride + c.port];
      if (to == kNone) continue;
      const i64 score = static_cast<i64>(c.priority) * 65536 - queues_.count(to);
      if (score > best_score) {
        best_score = score;
        best = c.port;
      }
    }
    return best;
  }

  void eject(Tick now) noexcept {
    for (std::size_t w = 0; w < queues_.arrived().size(); ++w) {
      if (queues_.far()) fetch_arrived(w);
      u64 bits = queues_.arrived()[w];
      movements_ += static_cast<u64>(std::popcount(bits));
      for (; bits != 0; bits &= bits - 1) {
        const u32 t = static_cast<u32>(w * 64) + static_cast<u32>(std::countr_zero(bits));
        const u32 q = layout_.ejection_base + t;
        const core::PacketId id = queues_.head(q).packet;
        queues_.drop_head(q);
        const core::Packet& packet = pool_[id];
        if (probe_ != nullptr) [[unlikely]]
          probe_->crossed(graph_.ejection(t), packet, now);
        terminals_.sink.deliver(packet, t, now, Tagged ? path_length_ : packet.hops);
        pool_.release(id);
      }
    }
  }

  /// Asks for the records of the packets that leave after those of word w.
  void fetch_arrived(std::size_t w) const noexcept {
    const auto each = [&](std::size_t word, auto&& f) {
      if (word >= queues_.arrived().size()) return;
      for (u64 bits = queues_.arrived()[word]; bits != 0; bits &= bits - 1) {
        f(queues_.head(layout_.ejection_base + static_cast<u32>(word * 64) + static_cast<u32>(std::countr_zero(bits))));
      }
    };
    each(w + 2, [](const Entry& e) { __builtin_prefetch(&e); });
    each(w + 1, [&](const Entry& e) { __builtin_prefetch(&pool_[e.packet]); });
  }

  void step_downstream_first(Tick now) noexcept {
    if constexpr (Tagged) {
      if (!permuted_ && !order_.mixed() && probe_ == nullptr) return step_unwatched(now);
    }
    for (const BoxOrder::Group& group : order_.groups()) {
      const u32 size = static_cast<u32>(group.boxes.size());
      for (u32 i = 0; i < size; ++i) {
        step_box(group.boxes[permuted_ ? (size - 1 - i + static_cast<u32>(now)) % size : i], now);
      }
    }
  }

  /// Steps all boxes: the open ones by whole words of inputs, the others one by one.
  void step_unwatched(Tick now) noexcept {
    for (const BoxOrder::Group& group : order_.groups()) {
      queues_.move_open<Stride>(group, tag_bits_, inputs_, [&](u32 word, u64 moved, u64 closed) {
        movements_ += static_cast<u64>(std::popcount(moved));
        for (u64 bits = moved & layout_.slots[word]; bits != 0; bits &= bits - 1) {
          free_slot(word * 64 + static_cast<u32>(std::countr_zero(bits)));
        }
        while (closed != 0) {
          const u32 box = (word * 64 + static_cast<u32>(std::countr_zero(closed))) / Stride;
          step_box(box, now);
          closed &= ~(kPorts << (box * Stride & 63U));
        }
      });
    }
  }

  [[gnu::noinline]] void step_box(u32 s, Tick now) noexcept {
    const u32 base = s * Stride;
    const u64 waiting = queues_.waiting(base);
    if (waiting == 0) return;
    std::array<Entry, Stride> heads;
    std::array<u32, Stride> to;
    u64 mask = choose(base, waiting, now, heads, to);
    movements_ += static_cast<u64>(std::popcount(mask));
    note_injection(base, waiting, mask, heads, now);
    for (mask = inputs_.arrange(mask); mask != 0; mask &= mask - 1) {
      const u32 p = inputs_.input(static_cast<u32>(std::countr_zero(mask)));
      if (probe_ != nullptr) [[unlikely]]
        show(s, p, heads[p], now);
      queues_.drop_head(base + p);
      queues_.append(to[p], {heads[p].packet, next_route(heads[p], to[p])});
    }
  }

  /// One cycle where packets are fetch-and-adds: the way back, the memories, and the way there.
  void step_fetch_adds(Tick now) noexcept {
    fetch_adds_->step(now);
    eject_or_serve(now);
    for (const BoxOrder::Group& group : order_.groups()) {
      const u32 size = static_cast<u32>(group.boxes.size());
      for (u32 i = 0; i < size; ++i) step_combining_box(group.boxes[permuted_ ? size - 1 - i : i], now);
    }
  }

  void eject_or_serve(Tick now) noexcept {
    for (std::size_t w = 0; w < queues_.arrived().size(); ++w) {
      for (u64 bits = queues_.arrived()[w]; bits != 0; bits &= bits - 1) {
        const u32 t = static_cast<u32>(w * 64) + static_cast<u32>(std::countr_zero(bits));
        const u32 q = layout_.ejection_base + t;
        const core::PacketId id = queues_.head(q).packet;
        const bool request = fetch_adds_->is_request(id);
        if (request && !fetch_adds_->may_serve(t)) continue;
        queues_.drop_head(q);
        ++movements_;
        ++left_;
        if (probe_ != nullptr) [[unlikely]]
          probe_->crossed(graph_.ejection(t), pool_[id], now);
        if (request) {
          fetch_adds_->serve(id, t);
          continue;
        }
        terminals_.sink.deliver(pool_[id], t, now, path_length_);
        pool_.release(id);
      }
    }
  }

  /// Does what step_box does, but a request that meets another one for its word in the queue that it enters joins it,
  /// and takes no place.
  void step_combining_box(u32 s, Tick now) noexcept {
    const u32 base = s * Stride;
    u64 waiting = queues_.waiting(base);
    for (u64 m = inputs_.arrange(waiting); m != 0; m &= m - 1) {
      const u32 p = inputs_.input(static_cast<u32>(std::countr_zero(m)));
      const Entry head = queues_.head(base + p);
      if (!join(layout_.target[base + (head.route & (Stride - 1))], head.packet, p)) continue;
      waiting &= ~(u64{1} << p);
      leave(s, p, head, now);
    }
    if (waiting == 0) return;
    std::array<Entry, Stride> heads;
    std::array<u32, Stride> to;
    u64 mask = choose(base, waiting, now, heads, to);
    note_injection(base, waiting & ~mask, 0, heads, now);
    for (mask = inputs_.arrange(mask); mask != 0; mask &= mask - 1) {
      const u32 p = inputs_.input(static_cast<u32>(std::countr_zero(mask)));
      leave(s, p, heads[p], now);
      // Those that come in one cycle meet, too.
      if (join(to[p], heads[p].packet, p)) continue;
      fetch_adds_->pass(heads[p].packet, p);
      queues_.append(to[p], {heads[p].packet, heads[p].route >> tag_bits_});
    }
  }

  [[nodiscard]] bool join(u32 q, core::PacketId id, u32 port) noexcept {
    return fetch_adds_->join(
        q, queues_.count(q), [&](u32 i) { return queues_.entry(q, i).packet; }, id, port);
  }

  void leave(u32 s, u32 p, Entry head, Tick now) noexcept {
    if (probe_ != nullptr) [[unlikely]]
      show(s, p, head, now);
    ++movements_;
    queues_.drop_head(s * Stride + p);
    if (layout_.is_slot(s * Stride + p)) free_slot(s * Stride + p);
  }

  /// The packet at input p of a box crosses the channel that ends there.
  void show(u32 s, u32 p, Entry head, Tick now) const {
    probe_->crossed(graph_.channel_into(s, p), pool_[head.packet], now);
  }

  /// Reads the heads of the box's inputs and returns the inputs whose head may move.
  [[nodiscard]] [[gnu::always_inline]] u64 choose(u32 base, u64 mask, Tick now, std::array<Entry, Stride>& heads,
                                                  std::array<u32, Stride>& to) const noexcept {
    const u32 requests = static_cast<u32>(std::popcount(mask));
    bool tight = false;
    for (u64 m = mask; m != 0; m &= m - 1) {
      const u32 p = static_cast<u32>(std::countr_zero(m));
      const u32 q = base + p;
      heads[p] = queues_.head(q);
      to[p] = layout_.target[base + (heads[p].route & (Stride - 1))];
      tight |= !queues_.has_room(to[p], requests);
    }
    return tight ? resolve(base, mask, now, heads, to) : mask;
  }

  /// Blocks, for every output whose requests exceed its free places by R, R of them at random.
  [[nodiscard]] u64 resolve(u32 base, u64 mask, Tick now, const std::array<Entry, Stride>& heads,
                            const std::array<u32, Stride>& to) const noexcept {
    std::array<u64, Stride> asking{};
    for (u64 m = mask; m != 0; m &= m - 1) {
      const u32 p = static_cast<u32>(std::countr_zero(m));
      asking[heads[p].route & (Stride - 1)] |= u64{1} << p;
    }
    for (u64 m = mask; m != 0; m &= m - 1) {
      const u32 p = static_cast<u32>(std::countr_zero(m));
      const u32 out = heads[p].route & (Stride - 1);
      u64 group = asking[out];
      asking[out] = 0;
      const u32 free = queues_.places() - queues_.count(to[p]);
      const u32 count = static_cast<u32>(std::popcount(group));
      if (count <= free) continue;
      if (free == 0) {
        mask &= ~group;
        continue;
      }
      Words words{};
      for (u32 k = 0; k < count - free; ++k) {
        if (k % 4 == 0) words = random_.at(base + out + static_cast<u64>(k / 4) * layout_.queues, now);
        const u64 loser = u64{1} << nth_set_bit(group, below(words[k % 4], count - k));
        group &= ~loser;
        mask &= ~loser;
      }
    }
    return mask;
  }

  /// Slots whose head moved are free; heads that stay enter the network in the next cycle at the earliest.
  [[gnu::always_inline]] void note_injection(u32 base, u64 waiting, u64 moving, const std::array<Entry, Stride>& heads,
                                             Tick now) noexcept {
    for (u64 bits = waiting & layout_.slots[base >> 6U] >> (base & 63U); bits != 0; bits &= bits - 1) {
      const u32 p = static_cast<u32>(std::countr_zero(bits));
      if ((moving >> p & 1U) != 0) {
        free_slot(base + p);
      } else {
        core::Packet& packet = pool_[heads[p].packet];
        if (terminals_.sink.has_timeline()) [[unlikely]]
          terminals_.sink.postponed(packet, now + 1);
        packet.enter = now + 1;
      }
    }
  }

  [[nodiscard]] u32 next_route(Entry e, u32 to) noexcept {
    if constexpr (Tagged) {
      return e.route >> tag_bits_;
    } else {
      ++pool_[e.packet].hops;
      return to >= layout_.ejection_base ? 0U : ask_routing(e.packet, to);
    }
  }

  /// The alternative reading: places that become free in a cycle are usable from the next on.
  void step_two_phase(Tick now) noexcept {
    moves_.clear();
    for (u32 i = 0; i < layout_.boxes; ++i) {
      const u32 s = permuted_ ? layout_.boxes - 1 - i : i;
      const u32 base = s * Stride;
      const u64 waiting = queues_.waiting(base);
      if (waiting == 0) continue;
      std::array<Entry, Stride> heads;
      std::array<u32, Stride> to;
      u64 mask = choose(base, waiting, now, heads, to);
      note_injection(base, waiting, mask, heads, now);
      for (mask = inputs_.arrange(mask); mask != 0; mask &= mask - 1) {
        const u32 p = inputs_.input(static_cast<u32>(std::countr_zero(mask)));
        if (probe_ != nullptr) [[unlikely]]
          show(s, p, heads[p], now);
        moves_.push_back({base + p, to[p], heads[p]});
      }
    }
    eject(now);
    movements_ += moves_.size();
    for (const Move& m : moves_) queues_.drop_head(m.from);
    // All routes before any arrival: an adaptive choice must not depend on the order of the boxes.
    for (Move& m : moves_) m.entry.route = next_route(m.entry, m.to);
    for (const Move& m : moves_) queues_.append(m.to, m.entry);
  }

  const core::Routing& routing_;
  engine::Probe* probe_;  ///< nullptr: nobody watches
  bool same_cycle_;
  bool permuted_;
  u64 seed_;
  u32 tag_bits_;
  u16 path_length_;
  std::vector<Move> moves_;
  Random random_;  ///< of conflicts
  InputOrder<Stride> inputs_;
  core::HopRandom hop_random_;
};

}  // namespace banyan::switching::output_queued
