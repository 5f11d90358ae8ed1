// Output-queued interchange boxes (Wang, Siegel, Nichols, Abraham 1992, section 2): a FIFO of S packets per output
// port; in every cycle one packet per non-empty buffer moves on, a buffer takes as many as it has places, and when the
// requests exceed the free places by R, R randomly chosen packets stay where they are.
//
// All boxes move in the same cycle and see each other's free places, so this population reads and writes across
// switches (peer access) and lives in one shard. A buffer is numbered by the port that it feeds: the heads that one box
// chooses among lie side by side.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/bits.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/core/switching.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/engine/population.hpp"
#include "banyan/engine/terminals.hpp"
#include "banyan/switching/output_queued/fetch_adds.hpp"

namespace banyan::switching::output_queued {
namespace {

using core::PacketId;

constexpr Stream kConflicts{"output_queued: conflicts"};
constexpr Stream kWays{"output_queued: choices of routings"};

/// Two are too few in large networks of boxes of two inputs (Lee, Kruskal, Kuck 1986): the next number.
constexpr u32 kDefaultWays = 3;

struct Entry {
  PacketId packet;
  u32 route;  ///< lowest bits: output port at the box that the buffer feeds; above: the following hops (tagged)
};

/// A FIFO in the table of entries: `tail` is the index where the next packet goes, `fill` the distance back to the
/// oldest. Both in units of table rows, so that a step is an addition and a mask.
struct Ring {
  u32 tail;
  u32 fill;
  u32 box;  ///< whose output it is; one behind the last box for a slot of a terminal
  u32 unused;
};

/// Boxes [end of the group before, end) of the order of movement, and their inputs [end of the group before, words_end)
/// as bits. `last`: their outputs lead to terminals.
struct Group {
  u32 end;
  bool last;
  u32 words_end = 0;
};

/// Inputs of one group in one word of the bits per queue.
struct GroupWord {
  u32 word;
  u64 queues;
};

struct Move {
  u32 from;
  u32 to;
  Entry entry;
};

/// Stride: input and output ports per box, rounded up to a power of two. Tagged: routes are source routes that fit an
/// entry; otherwise the routing is asked at every hop.
template <u32 Stride, bool Tagged>
class OutputQueued final : public engine::Population {
 public:
  OutputQueued(engine::Builder& builder, u32 places, bool same_cycle, const CombiningParameters* combining)
      : graph_(builder.topology().graph()),
        routing_(builder.routing()),
        terminals_(builder.terminals(0)),
        pool_(terminals_.pool()),
        probe_(builder.probe(0)),
        places_(places),
        same_cycle_(same_cycle),
        permuted_(builder.settings().permuted),
        seed_(builder.settings().seed),
        tag_bits_(builder.routing().tag_format().bits_per_hop),
        path_length_(static_cast<u16>(builder.routing().tag_format().hops)),
        boxes_(graph_.switches()),
        ejection_base_((boxes_ * Stride + 63) / 64 * 64),
        row_(std::bit_ceil(ejection_base_ + graph_.terminals())),
        queues_(ejection_base_ + graph_.terminals()),
        rings_(queues_, Ring{0, 0, boxes_, 0}),
        crowded_(boxes_ + 1),
        closed_((boxes_ + 1) * Stride / 64 + 1),
        wrap_(row_ * std::bit_ceil(places) - 1),
        full_(row_ * places),
        crowded_from_(places >= Stride ? row_ * (places - Stride + 1) : kNone),
        entries_(std::size_t{wrap_} + 1),
        far_(entries_.size() * sizeof(Entry) > kFarBytes),
        occupied_(ejection_base_ / 64),
        slots_(ejection_base_ / 64),
        arrived_((graph_.terminals() + 63) / 64),
        target_(static_cast<std::size_t>(boxes_) * Stride, kNone),
        slot_of_terminal_(graph_.terminals()),
        terminal_of_slot_(queues_),
        free_slots_(graph_.terminals() / 64 + 1),
        injected_into_(boxes_) {
    for (u32 s = 0; s < boxes_; ++s) {
      for (u32 p = 0; p < graph_.outputs(s); ++p) {
        const u32 q = queue_behind(graph_.channel_out_of(s, p));
        target_[s * Stride + p] = q;
        if (q != kNone) rings_[q].box = s;
      }
    }
    // One bit behind the terminals is for queues that are no slots.
    std::fill(terminal_of_slot_.begin(), terminal_of_slot_.end(), graph_.terminals());
    for (u32 t = 0; t < graph_.terminals(); ++t) {
      const core::End to = graph_.channel(graph_.injection(t)).to;
      slot_of_terminal_[t] = to.node * Stride + to.port;
      terminal_of_slot_[slot_of_terminal_[t]] = t;
      slots_[slot_of_terminal_[t] >> 6U] |= u64{1} << (slot_of_terminal_[t] & 63U);
      injected_into_[to.node] = 1;
    }
    order_boxes();
    collect_words();
    const u64 most = static_cast<u64>(graph_.channels().size()) * places_ + graph_.terminals();
    // Where fetch-and-adds are combined, as many packets again are on their way back.
    pool_.reserve(static_cast<u32>(std::min<u64>(combining == nullptr ? most : 2 * most, kReserveMost)));
    moves_.reserve(static_cast<std::size_t>(boxes_) * Stride);
    if (combining == nullptr) return;
    fetch_adds_ = std::make_unique<FetchAdds>(
        builder, *combining,
        BoxLayout{Stride, queues_, ejection_base_, places_, path_length_, target_, slot_of_terminal_, order_});
  }

  void reset(u32 replication) override {
    for (u32 q = 0; q < queues_; ++q) rings_[q] = {q, 0, rings_[q].box, 0};
    std::fill(crowded_.begin(), crowded_.end(), crowded_from_ == kNone ? 1U : 0U);
    std::fill(closed_.begin(), closed_.end(), crowded_from_ == kNone ? ~u64{0} : u64{0});
    std::fill(occupied_.begin(), occupied_.end(), 0);
    std::fill(arrived_.begin(), arrived_.end(), 0);
    std::fill(free_slots_.begin(), free_slots_.end(), 0);
    for (u32 t = 0; t < graph_.terminals(); ++t) free_slots_[t >> 6U] |= u64{1} << (t & 63U);
    movements_ = 0;
    random_ = Random(seed_, kConflicts, 0, replication);
    hop_random_ = core::HopRandom(seed_, kWays, replication);
    if (fetch_adds_ == nullptr) return;
    left_ = 0;
    fetch_adds_->reset(replication);
  }

  Tick run(Tick now) noexcept override {
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

  void archive(Archive& a) override {
    a(rings_, crowded_, closed_, entries_, occupied_, arrived_, free_slots_, movements_, left_);
    if (fetch_adds_ != nullptr) a(*fetch_adds_);
  }

  u64 digest() const override {
    u64 sum = mix64(movements_);
    for (u32 q = 0; q < queues_; ++q) {
      if (count(q) == 0) continue;
      Hasher h;
      h.add(q);
      for (u32 i = 0; i < count(q); ++i) {
        const core::Packet& packet = pool_[entry(q, i).packet];
        h.add(packet.birth);
        h.add((static_cast<u64>(packet.source) << 32U) | packet.destination);
        if (fetch_adds_ != nullptr) h.add(fetch_adds_->digest_of(entry(q, i).packet));
      }
      sum += h.value();
    }
    return fetch_adds_ == nullptr ? sum : sum + fetch_adds_->digest();
  }

  void hold(engine::Holdings& into) const override {
    for (u32 q = 0; q < queues_; ++q) {
      into.packets += count(q);
      into.flits += count(q);
      if (count(q) > places_) {
        into.violations.push_back(fmt::format("buffer {} holds {} packets in {} places", q, count(q), places_));
      }
    }
    if (fetch_adds_ == nullptr) return;
    fetch_adds_->hold(into, [&](auto&& f) {
      for (u32 q = 0; q < queues_; ++q) {
        for (u32 i = 0; i < count(q); ++i) f(entry(q, i).packet);
      }
    });
  }

  u64 movements() const noexcept override {
    return fetch_adds_ == nullptr ? movements_ : movements_ + fetch_adds_->crossings();
  }
  engine::OwnMetrics* own_metrics() noexcept override {
    return fetch_adds_ == nullptr ? nullptr : &fetch_adds_->metrics();
  }

  /// A packet moves over a link, through a box and into the buffer behind it at once; from the last one it leaves.
  bool activity(engine::Activity& into) const override {
    u64 buffered = 0;
    for (u32 q = 0; q < queues_; ++q)
      buffered += q >= ejection_base_ || terminal_of_slot_[q] == graph_.terminals() ? count(q) : 0;
    if (fetch_adds_ != nullptr) {
      const u64 there = movements_ - left_;
      const u64 writes = there + fetch_adds_->writes();
      into += {writes, writes - buffered - fetch_adds_->buffered(), writes, movements(), 0, false};
      return true;
    }
    const u64 writes = movements_ - terminals_.recorder.delivered();
    into += {writes, writes - buffered, writes, movements_, 0, false};
    return true;
  }

  void blocked_on(engine::BlockedView& into) const override {
    using engine::Resource;
    using engine::Why;
    for (u32 s = 0; s < boxes_; ++s) {
      for (u32 p = 0; p < graph_.inputs(s); ++p) {
        const u32 q = s * Stride + p;
        if (count(q) == 0) continue;
        const u32 channel = graph_.channel_into(s, p);
        const bool slot = terminal_of_slot_[q] != graph_.terminals();
        const Resource here = slot ? Resource::source(terminal_of_slot_[q]) : Resource::output(channel);
        show_queue(here, q, slot ? 1 : places_, into);
        const u32 out = entry(q, 0).route & (Stride - 1);
        const u32 to = target_[q - p + out];
        if (to == kNone) continue;
        const bool room = count(to) < places_;
        into.blocked(here, room ? Resource::port(channel) : Resource::output(graph_.channel_out_of(s, out)),
                     room ? Why::bandwidth : Why::space, pool_[entry(q, 0).packet], channel);
      }
    }
    for (u32 t = 0; t < graph_.terminals(); ++t) {
      const u32 q = ejection_base_ + t;
      if (count(q) == 0) continue;
      const u32 channel = graph_.ejection(t);
      show_queue(Resource::output(channel), q, places_, into);
      into.blocked(Resource::output(channel), Resource::port(channel), Why::bandwidth, pool_[entry(q, 0).packet],
                   channel);
    }
  }

  void occupancy(std::vector<u64>& levels) const override {
    for (u32 s = 0; s < boxes_; ++s) {
      for (u32 p = 0; p < graph_.outputs(s); ++p) {
        const u32 q = target_[s * Stride + p];
        if (q != kNone) levels[graph_.level(s)] += count(q);
      }
    }
  }

  void full_channels(std::vector<u32>& channels) const override {
    for (u32 s = 0; s < boxes_; ++s) {
      for (u32 p = 0; p < graph_.outputs(s); ++p) {
        const u32 q = target_[s * Stride + p];
        if (q != kNone && count(q) == places_) channels.push_back(graph_.channel_out_of(s, p));
      }
    }
  }

 private:
  static constexpr u64 kPorts = Stride == 64 ? ~u64{0} : (u64{1} << (Stride & 63U)) - 1;
  static constexpr u64 kReserveMost = 1U << 20U;  ///< records reserved at once; larger networks grow while warming up

  /// Entries that are more than this do not stay in a second-level cache; asking early costs 5 % where they do.
  static constexpr std::size_t kFarBytes = 1U << 19U;

  [[nodiscard]] u32 queue_behind(u32 channel) const {
    if (channel == kNone || graph_.channel(channel).failed) return kNone;
    const core::End to = graph_.channel(channel).to;
    return to.terminal ? ejection_base_ + to.node : to.node * Stride + to.port;
  }

  void show_queue(engine::Resource here, u32 q, u32 places, engine::BlockedView& into) const {
    into.fill(here, count(q), places);
    if (!into.wants_contents()) return;
    for (u32 i = 0; i < count(q); ++i) into.packet(here, pool_[entry(q, i).packet]);
  }

  /// Boxes in the order of movement: those next to the destinations first. `groups_` bounds sets of boxes that
  /// neither feed each other nor are fed by each other's feeders: their order is free.
  void order_boxes() {
    std::vector<u32> sorted = graph_.topological_order();
    if (sorted.empty()) {
      order_.resize(boxes_);
      for (u32 s = 0; s < boxes_; ++s) order_[s] = s;
      groups_ = {{boxes_, false}};
      return;
    }
    std::vector<u32> depth(boxes_, 0);
    u32 deepest = 0;
    for (const u32 s : sorted) {
      for (u32 p = 0; p < graph_.outputs(s); ++p) {
        const u32 c = graph_.channel_out_of(s, p);
        if (c == kNone || graph_.channel(c).to.terminal) continue;
        u32& d = depth[graph_.channel(c).to.node];
        d = std::max(d, depth[s] + 1);
        deepest = std::max(deepest, d);
      }
    }
    for (u32 d = deepest + 1; d > 0; --d) {
      for (u32 s = 0; s < boxes_; ++s) {
        if (depth[s] == d - 1) order_.push_back(s);
      }
      split_by_target(groups_.empty() ? 0 : groups_.back().end);
    }
  }

  /// Cuts the boxes order_[begin ..) into groups of which all outputs, or none, lead to terminals; boxes with both
  /// kinds cannot be stepped unrolled.
  void split_by_target(u32 begin) {
    const auto leads_to_terminals = [&](u32 s) {
      u32 terminals = 0;
      u32 others = 0;
      for (u32 p = 0; p < graph_.outputs(s); ++p) {
        const u32 q = target_[s * Stride + p];
        if (q != kNone) ++(q >= ejection_base_ ? terminals : others);
      }
      mixed_ |= terminals != 0 && others != 0;
      return terminals != 0;
    };
    const auto first = order_.begin() + begin;
    const auto middle = std::stable_partition(first, order_.end(), leads_to_terminals);
    if (middle != first) groups_.push_back({static_cast<u32>(middle - order_.begin()), true});
    if (middle != order_.end()) groups_.push_back({static_cast<u32>(order_.size()), false});
  }

  /// The inputs of every group's boxes, as bits.
  void collect_words() {
    u32 begin = 0;
    for (Group& group : groups_) {
      const std::size_t first = group_words_.size();
      for (u32 i = begin; i < group.end; ++i) {
        const u32 base = order_[i] * Stride;
        if (group_words_.size() == first || group_words_.back().word != base >> 6U)
          group_words_.push_back({base >> 6U, 0});
        group_words_.back().queues |= kPorts << (base & 63U);
      }
      group.words_end = static_cast<u32>(group_words_.size());
      begin = group.end;
    }
  }

  [[nodiscard]] const Entry& entry(u32 q, u32 i) const noexcept {
    return entries_[(rings_[q].tail - rings_[q].fill + i * row_) & wrap_];
  }
  [[nodiscard]] u32 count(u32 q) const noexcept { return rings_[q].fill / row_; }

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
        const u32 q = slot_of_terminal_[t];
        const PacketId id = terminals_.source.take(t, now);
        if constexpr (Requests) fetch_adds_->taken(id);
        entries_[q] = {id, first_route(id, q)};
        rings_[q] = {(q + row_) & wrap_, row_, boxes_, 0};
        occupied_[q >> 6U] |= u64{1} << (q & 63U);
      }
    }
  }

  [[nodiscard]] u32 first_route(PacketId id, u32 q) noexcept {
    if constexpr (Tagged) {
      return static_cast<u32>(pool_[id].tag);
    } else {
      return ask_routing(id, q);
    }
  }

  /// Output port at the box that queue q feeds: of the candidates of highest priority the one with the fewest waiting
  /// packets, the first among equals.
  [[nodiscard]] u32 ask_routing(PacketId id, u32 q) noexcept {
    const core::Packet& packet = pool_[id];
    const u32 at = q / Stride;
    core::Candidates candidates;
    routing_.route({at, q % Stride, 0, &packet, core::HopWord(hop_random_, packet, at, packet.hops)}, candidates);
    u32 best = 0;
    i64 best_score = std::numeric_limits<i64>::min();
    for (const core::Candidate& c : candidates) {
      const u32 to = target_[at * Stride + c.port];
      if (to == kNone) continue;
      const i64 score = static_cast<i64>(c.priority) * 65536 - count(to);
      if (score > best_score) {
        best_score = score;
        best = c.port;
      }
    }
    return best;
  }

  void eject(Tick now) noexcept {
    for (std::size_t w = 0; w < arrived_.size(); ++w) {
      if (far_) fetch_arrived(w);
      u64 bits = arrived_[w];
      movements_ += static_cast<u64>(std::popcount(bits));
      for (; bits != 0; bits &= bits - 1) {
        const u32 t = static_cast<u32>(w * 64) + static_cast<u32>(std::countr_zero(bits));
        const u32 q = ejection_base_ + t;
        const PacketId id = entry(q, 0).packet;
        drop_head(q);
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
      if (word >= arrived_.size()) return;
      for (u64 bits = arrived_[word]; bits != 0; bits &= bits - 1) {
        f(entry(ejection_base_ + static_cast<u32>(word * 64) + static_cast<u32>(std::countr_zero(bits)), 0));
      }
    };
    each(w + 2, [](const Entry& e) { __builtin_prefetch(&e); });
    each(w + 1, [&](const Entry& e) { __builtin_prefetch(&pool_[e.packet]); });
  }

  /// Takes the oldest packet off a ring. An empty ring restarts at its first place: few cache lines are touched.
  void drop_head(u32 q) noexcept {
    Ring& ring = rings_[q];
    if (ring.fill == crowded_from_) [[unlikely]]
      relieve(ring.box);
    ring.fill -= row_;
    if (ring.fill == 0) {
      ring.tail = q;
      mark(q, false);
    }
  }

  void append(u32 q, Entry e) noexcept {
    Ring& ring = rings_[q];
    entries_[ring.tail] = e;
    ring.tail = (ring.tail + row_) & wrap_;
    ring.fill += row_;
    if (ring.fill == crowded_from_) [[unlikely]]
      crowd(ring.box);
    mark(q, true);
  }

  /// One output more, or less, of a box has fewer free places than the box has inputs.
  void crowd(u32 box) noexcept {
    if (crowded_[box]++ == 0) closed_[box * Stride >> 6U] |= kPorts << (box * Stride & 63U);
  }
  void relieve(u32 box) noexcept {
    if (--crowded_[box] == 0) closed_[box * Stride >> 6U] &= ~(kPorts << (box * Stride & 63U));
  }

  /// Notes whether queue q has packets.
  void mark(u32 q, bool any) noexcept {
    const bool ejection = q >= ejection_base_;
    const u32 bit = ejection ? q - ejection_base_ : q;
    u64& word = ejection ? arrived_[bit >> 6U] : occupied_[bit >> 6U];
    word = (word & ~(u64{1} << (bit & 63U))) | static_cast<u64>(any) << (bit & 63U);
  }

  void step_downstream_first(Tick now) noexcept {
    if constexpr (Tagged) {
      if (!permuted_ && !mixed_ && probe_ == nullptr) {
        u32 begin = 0;
        for (const Group& group : groups_) {
          const std::span<const GroupWord> words(&group_words_[begin], group.words_end - begin);
          if (group.last) {
            far_ ? step_group<true, true>(words, now) : step_group<true, false>(words, now);
          } else {
            far_ ? step_group<false, true>(words, now) : step_group<false, false>(words, now);
          }
          begin = group.words_end;
        }
        return;
      }
    }
    u32 begin = 0;
    for (const Group& group : groups_) {
      const u32 size = group.end - begin;
      for (u32 i = 0; i < size; ++i) {
        step_box(order_[permuted_ ? begin + (size - 1 - i + static_cast<u32>(now)) % size : begin + i], now);
      }
      begin = group.end;
    }
  }

  /// Bit per input of the box whose buffer is not empty.
  [[nodiscard]] u64 waiting_inputs(u32 base) const noexcept { return occupied_[base >> 6U] >> (base & 63U) & kPorts; }

  /// Asks for the memory of the heads of the inputs of a word, or of what they will move into.
  void fetch_heads(GroupWord w) const noexcept {
    for (u64 bits = occupied_[w.word] & w.queues; bits != 0; bits &= bits - 1) {
      __builtin_prefetch(&entry(w.word * 64 + static_cast<u32>(std::countr_zero(bits)), 0));
    }
  }
  void fetch_targets(GroupWord w) const noexcept {
    for (u64 bits = occupied_[w.word] & w.queues; bits != 0; bits &= bits - 1) {
      const u32 q = w.word * 64 + static_cast<u32>(std::countr_zero(bits));
      const u32 to = target_[(q & ~(Stride - 1)) + (entry(q, 0).route & (Stride - 1))];
      if (to != kNone) __builtin_prefetch(&entries_[rings_[to].tail], 1);
    }
  }

  /// step_box for the boxes of one group, of which all outputs lead to terminals (`Last`) or none does. As long as no
  /// output of a box is crowded, everything that waits there moves and nothing has to be compared: such inputs are gone
  /// through as bits, whatever box they belong to, since how many wait at one box is random and its branch could not be
  /// predicted. Everything in locals: stores to the arrays might alias the members.
  template <bool Last, bool Far>
  void step_group(std::span<const GroupWord> words, Tick now) noexcept {
    Ring* const rings = rings_.data();
    Entry* const entries = entries_.data();
    u64* const occupied = occupied_.data();
    u64* const arrived = arrived_.data();
    const u32* const targets = target_.data();
    const u32 row = row_;
    const u32 wrap = wrap_;
    const u32 crowded_from = crowded_from_;
    const u32 tag_bits = tag_bits_;
    const u32 ejection_base = ejection_base_;
    u64 moves = 0;
    if constexpr (Far) {
      fetch_heads(words[0]);
      fetch_targets(words[0]);
      if (words.size() > 1) fetch_heads(words[1]);
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      if constexpr (Far) {
        if (i + 2 < words.size()) fetch_heads(words[i + 2]);
        if (i + 1 < words.size()) fetch_targets(words[i + 1]);
      }
      const u32 word = words[i].word;
      const u64 waiting = occupied[word] & words[i].queues;
      const u64 moved = waiting & ~closed_[word];
      u64 emptied = 0;
      for (u64 bits = moved; bits != 0; bits &= bits - 1) {
        const u64 bit = bits & (~bits + 1);
        const u32 q = word * 64 + static_cast<u32>(std::countr_zero(bits));
        Ring& from = rings[q];
        const u32 tail = from.tail;
        const u32 fill = from.fill;
        const Entry e = entries[(tail - fill) & wrap];
        if (fill == crowded_from) [[unlikely]]
          relieve(from.box);
        // Whether the ring is empty now cannot be predicted: masks instead of branches.
        const u64 empty = u64{0} - static_cast<u64>(fill == row);
        from.fill = fill - row;
        from.tail = tail ^ ((tail ^ q) & static_cast<u32>(empty));
        emptied |= bit & empty;
        const u32 t = targets[(q & ~(Stride - 1)) + (e.route & (Stride - 1))];
        Ring& to = rings[t];
        entries[to.tail] = {e.packet, e.route >> tag_bits};
        to.tail = (to.tail + row) & wrap;
        to.fill += row;
        if (to.fill == crowded_from) [[unlikely]]
          crowd(to.box);
        if constexpr (Last) {
          arrived[(t - ejection_base) >> 6U] |= u64{1} << ((t - ejection_base) & 63U);
        } else {
          occupied[t >> 6U] |= u64{1} << (t & 63U);
        }
      }
      moves += static_cast<u64>(std::popcount(moved));
      occupied[word] &= ~emptied;
      for (u64 bits = moved & slots_[word]; bits != 0; bits &= bits - 1) {
        free_slot(word * 64 + static_cast<u32>(std::countr_zero(bits)));
      }
      for (u64 bits = waiting & ~moved; bits != 0;) {
        const u32 box = (word * 64 + static_cast<u32>(std::countr_zero(bits))) / Stride;
        step_box(box, now);
        bits &= ~(kPorts << (box * Stride & 63U));
      }
    }
    movements_ += moves;
  }

  void step_box(u32 s, Tick now) noexcept {
    const u32 base = s * Stride;
    const u64 waiting = waiting_inputs(base);
    if (waiting == 0) return;
    std::array<Entry, Stride> heads;
    std::array<u32, Stride> to;
    u64 mask = choose(base, waiting, now, heads, to);
    movements_ += static_cast<u64>(std::popcount(mask));
    if (injected_into_[s] != 0) note_injection(base, waiting, mask, heads, now);
    for (; mask != 0; mask &= mask - 1) {
      const u32 p = static_cast<u32>(std::countr_zero(mask));
      if (probe_ != nullptr) [[unlikely]]
        show(s, p, heads[p], now);
      drop_head(base + p);
      append(to[p], {heads[p].packet, next_route(heads[p], to[p])});
    }
  }

  /// One cycle where packets are fetch-and-adds: the way back, the memories, and the way there.
  void step_fetch_adds(Tick now) noexcept {
    fetch_adds_->step(now);
    eject_or_serve(now);
    u32 begin = 0;
    for (const Group& group : groups_) {
      const u32 size = group.end - begin;
      for (u32 i = 0; i < size; ++i) step_combining_box(order_[permuted_ ? begin + (size - 1 - i) : begin + i], now);
      begin = group.end;
    }
  }

  void eject_or_serve(Tick now) noexcept {
    for (std::size_t w = 0; w < arrived_.size(); ++w) {
      for (u64 bits = arrived_[w]; bits != 0; bits &= bits - 1) {
        const u32 t = static_cast<u32>(w * 64) + static_cast<u32>(std::countr_zero(bits));
        const u32 q = ejection_base_ + t;
        const PacketId id = entry(q, 0).packet;
        const bool request = fetch_adds_->is_request(id);
        if (request && !fetch_adds_->may_serve(t)) continue;
        drop_head(q);
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

  /// As step_box. A request that meets another one for its word in the queue that it enters joins it, and takes no
  /// place.
  void step_combining_box(u32 s, Tick now) noexcept {
    const u32 base = s * Stride;
    u64 waiting = waiting_inputs(base);
    for (u64 m = waiting; m != 0; m &= m - 1) {
      const u32 p = static_cast<u32>(std::countr_zero(m));
      const Entry head = entry(base + p, 0);
      if (!join(target_[base + (head.route & (Stride - 1))], head.packet, p)) continue;
      waiting &= ~(u64{1} << p);
      leave(s, p, head, now);
    }
    if (waiting == 0) return;
    std::array<Entry, Stride> heads;
    std::array<u32, Stride> to;
    u64 mask = choose(base, waiting, now, heads, to);
    if (injected_into_[s] != 0) note_injection(base, waiting & ~mask, 0, heads, now);
    for (; mask != 0; mask &= mask - 1) {
      const u32 p = static_cast<u32>(std::countr_zero(mask));
      leave(s, p, heads[p], now);
      // Those that come in one cycle meet, too.
      if (join(to[p], heads[p].packet, p)) continue;
      fetch_adds_->pass(heads[p].packet, p);
      append(to[p], {heads[p].packet, heads[p].route >> tag_bits_});
    }
  }

  [[nodiscard]] bool join(u32 q, PacketId id, u32 port) noexcept {
    return fetch_adds_->join(
        q, count(q), [&](u32 i) { return entry(q, i).packet; }, id, port);
  }

  void leave(u32 s, u32 p, Entry head, Tick now) noexcept {
    if (probe_ != nullptr) [[unlikely]]
      show(s, p, head, now);
    ++movements_;
    drop_head(s * Stride + p);
    if (terminal_of_slot_[s * Stride + p] != graph_.terminals()) free_slot(s * Stride + p);
  }

  /// The packet at input p of a box crosses the channel that ends there.
  void show(u32 s, u32 p, Entry head, Tick now) const {
    probe_->crossed(graph_.channel_into(s, p), pool_[head.packet], now);
  }

  /// Reads the heads of the box's inputs and returns the inputs whose head may move.
  [[nodiscard]] u64 choose(u32 base, u64 mask, Tick now, std::array<Entry, Stride>& heads,
                           std::array<u32, Stride>& to) const noexcept {
    const u32 requests = static_cast<u32>(std::popcount(mask));
    bool tight = false;
    for (u64 m = mask; m != 0; m &= m - 1) {
      const u32 p = static_cast<u32>(std::countr_zero(m));
      const u32 q = base + p;
      heads[p] = entry(q, 0);
      to[p] = target_[base + (heads[p].route & (Stride - 1))];
      tight |= rings_[to[p]].fill + requests * row_ > full_;
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
      const u32 free = places_ - count(to[p]);
      const u32 count = static_cast<u32>(std::popcount(group));
      if (count <= free) continue;
      if (free == 0) {
        mask &= ~group;
        continue;
      }
      Words words{};
      for (u32 k = 0; k < count - free; ++k) {
        if (k % 4 == 0) words = random_.at(base + out + static_cast<u64>(k / 4) * queues_, now);
        const u64 loser = u64{1} << nth_set_bit(group, below(words[k % 4], count - k));
        group &= ~loser;
        mask &= ~loser;
      }
    }
    return mask;
  }

  /// Slots whose head moved are free; heads that stay enter the network in the next cycle at the earliest.
  void note_injection(u32 base, u64 waiting, u64 moving, const std::array<Entry, Stride>& heads, Tick now) noexcept {
    for (; waiting != 0; waiting &= waiting - 1) {
      const u32 p = static_cast<u32>(std::countr_zero(waiting));
      if (terminal_of_slot_[base + p] == graph_.terminals()) continue;
      if ((moving >> p & 1U) != 0) {
        free_slot(base + p);
      } else {
        pool_[heads[p].packet].enter = now + 1;
      }
    }
  }

  /// terminal_of_slot_ of a queue that is no slot leads to a bit that nobody reads.
  void free_slot(u32 q) noexcept {
    const u32 terminal = terminal_of_slot_[q];
    free_slots_[terminal >> 6U] |= u64{1} << (terminal & 63U);
  }

  [[nodiscard]] u32 next_route(Entry e, u32 to) noexcept {
    if constexpr (Tagged) {
      return e.route >> tag_bits_;
    } else {
      ++pool_[e.packet].hops;
      return to >= ejection_base_ ? 0U : ask_routing(e.packet, to);
    }
  }

  /// The alternative reading: places that become free in a cycle are usable from the next on.
  void step_two_phase(Tick now) noexcept {
    moves_.clear();
    for (u32 i = 0; i < boxes_; ++i) {
      const u32 s = permuted_ ? boxes_ - 1 - i : i;
      const u32 base = s * Stride;
      const u64 waiting = waiting_inputs(base);
      if (waiting == 0) continue;
      std::array<Entry, Stride> heads;
      std::array<u32, Stride> to;
      u64 mask = choose(base, waiting, now, heads, to);
      if (injected_into_[s] != 0) note_injection(base, waiting, mask, heads, now);
      for (; mask != 0; mask &= mask - 1) {
        const u32 p = static_cast<u32>(std::countr_zero(mask));
        if (probe_ != nullptr) [[unlikely]]
          show(s, p, heads[p], now);
        moves_.push_back({base + p, to[p], heads[p]});
      }
    }
    eject(now);
    movements_ += moves_.size();
    for (const Move& m : moves_) drop_head(m.from);
    // All routes before any arrival: an adaptive choice must not depend on the order of the boxes.
    for (Move& m : moves_) m.entry.route = next_route(m.entry, m.to);
    for (const Move& m : moves_) append(m.to, m.entry);
  }

  const core::Graph& graph_;
  const core::Routing& routing_;
  engine::Terminals& terminals_;
  engine::PacketPool& pool_;
  engine::Probe* probe_;  ///< nullptr: nobody watches
  u32 places_;
  bool same_cycle_;
  bool permuted_;
  u64 seed_;
  u32 tag_bits_;
  u16 path_length_;
  u32 boxes_;
  u32 ejection_base_;
  u32 row_;  ///< entries per depth, a power of two
  u32 queues_;
  std::vector<Ring> rings_;     ///< [queue]
  std::vector<u32> crowded_;    ///< [box]: outputs with fewer free places than inputs; 1 when all always have
  std::vector<u64> closed_;     ///< bit per queue of a box: the box has such outputs
  u32 wrap_;                    ///< entries in all, less one (a power of two)
  u32 full_;                    ///< Ring::fill of a full buffer
  u32 crowded_from_;            ///< Ring::fill from which an output counts as crowded; kNone: from 0 on
  std::vector<Entry> entries_;  ///< [place * row + queue]: depth-major
  bool far_;                    ///< entries_ exceed the cache
  std::vector<u64> occupied_;   ///< bit per queue of a box: it is not empty
  std::vector<u64> slots_;      ///< bit per queue of a box: it is the slot of a terminal
  std::vector<u64> arrived_;    ///< bit per terminal: its ejection queue is not empty
  std::vector<u32> target_;     ///< [box * Stride + output]: queue
  std::vector<u32> slot_of_terminal_;
  std::vector<u32> terminal_of_slot_;
  std::vector<u64> free_slots_;    ///< bit per terminal
  std::vector<u8> injected_into_;  ///< [box]
  std::vector<u32> order_;
  std::vector<Group> groups_;
  std::vector<GroupWord> group_words_;
  bool mixed_ = false;  ///< some box leads to terminals and to boxes
  std::vector<Move> moves_;
  u64 movements_ = 0;
  u64 left_ = 0;   ///< packets that reached a terminal or its memory, where there are fetch-and-adds
  Random random_;  ///< of conflicts
  core::HopRandom hop_random_;
  std::unique_ptr<FetchAdds> fetch_adds_;  ///< nullptr: no packet is one
};

template <u32 Stride>
void add(engine::Builder& builder, u32 places, bool same_cycle, bool tagged, const CombiningParameters* combining) {
  if (tagged) {
    builder.add(0, std::make_unique<OutputQueued<Stride, true>>(builder, places, same_cycle, combining));
  } else {
    builder.add(0, std::make_unique<OutputQueued<Stride, false>>(builder, places, same_cycle, combining));
  }
}

CombiningParameters read_combining(const config::Values& values) {
  const std::string& kind = values.text("combining");
  if (kind != "k_way" && values.natural("ways") != kDefaultWays) {
    values.fail("ways", fmt::format("combining = \"{}\" has no bound to be chosen", kind),
                "remove it, or use combining = \"k_way\"");
  }
  if (kind == "none" && values.natural("wait_buffer") != 0) {
    values.fail("wait_buffer", "nothing waits where requests are not combined",
                "remove it, or use combining = \"pairwise\"");
  }
  const u32 ways = kind == "none" ? 1 : kind == "pairwise" ? 2 : kind == "k_way" ? values.natural("ways") : kNone;
  const u32 wait_buffer = values.natural("wait_buffer");
  return {ways, wait_buffer == 0 ? kNone : wait_buffer};
}

/// nullopt: no traffic has fetch-and-adds.
std::optional<CombiningParameters> combining_of(const config::Values& values, engine::Builder& builder, u32 ports,
                                                bool tagged, bool same_cycle) {
  const CombiningParameters parameters = read_combining(values);
  const auto traffics = builder.traffics();
  if (std::none_of(traffics.begin(), traffics.end(), [](const core::Traffic* t) { return t->fetch_adds(); })) {
    if (parameters.ways == 1) return std::nullopt;
    values.fail("combining", "no traffic asks for a memory word, so there is nothing to combine",
                "use hot_spot or synchronization with fetch_add = true, or combining = \"none\"");
  }
  const u32 hops = builder.routing().tag_format().hops;
  if (!tagged || hops * static_cast<u32>(std::countr_zero(std::bit_ceil(std::max(ports, 2U)))) > 64) {
    values.fail("name",
                "fetch-and-adds come back on the way that they went, which output_queued keeps in multistage "
                "networks with source routes only",
                "use the topology multistage_cube with the routing destination_tag");
  }
  if (!same_cycle) {
    values.fail("space", "boxes with fetch-and-adds use a place in the cycle in which it becomes free",
                "use space = \"same_cycle\"");
  }
  return parameters;
}

void install(const config::Values& values, engine::Builder& builder) {
  const core::Graph& graph = builder.topology().graph();
  const u32 ports = graph.most_ports();
  if (builder.longest_message() > 1) {
    values.fail("name", "output_queued moves packets of one fixed length, and the traffic has packets of several flits",
                "let the traffic send packets of one flit (a job does without the key packet), or use a switch that "
                "moves flits");
  }
  for (const core::Channel& c : graph.channels()) {
    if (c.link.latency_cycles != 1 || c.link.cycles_per_flit != 1) {
      values.fail("name", "output_queued moves one packet per channel and cycle, and a channel is slower than that",
                  "use channels of latency 1 and full bandwidth, or another switch");
    }
  }
  const std::string& space = values.text("space");
  const bool cyclic = graph.topological_order().empty() && graph.switches() > 0;
  if (cyclic && space == "same_cycle") {
    values.fail("space", "the network has cycles, so no order of its switches lets freed places be used at once",
                "use space = \"next_cycle\"");
  }
  const core::TagFormat tag = builder.routing().tag_format();
  const bool tagged =
      builder.topology().multistage() != nullptr && tag.bits_per_hop != 0 && tag.bits_per_hop * tag.hops <= 32;
  const u32 places = values.natural("buffer");
  const bool same_cycle = space == "same_cycle" || (space == "auto" && !cyclic);
  const std::optional<CombiningParameters> combining = combining_of(values, builder, ports, tagged, same_cycle);
  const CombiningParameters* const with = combining ? &*combining : nullptr;
  builder.partition_as_one();
  switch (std::bit_ceil(ports)) {
    case 1:
    case 2:
      add<2>(builder, places, same_cycle, tagged, with);
      break;
    case 4:
      add<4>(builder, places, same_cycle, tagged, with);
      break;
    case 8:
      add<8>(builder, places, same_cycle, tagged, with);
      break;
    case 16:
      add<16>(builder, places, same_cycle, tagged, with);
      break;
    case 32:
      add<32>(builder, places, same_cycle, tagged, with);
      break;
    default:
      add<64>(builder, places, same_cycle, tagged, with);
      break;
  }
}

u32 vcs(const config::Values&) { return 1; }

using config::Parameter;

/// One cycle per switch.
core::ZeroLoad zero_load(const config::Values&, u32) { return {.fixed = 1, .per_hop = 1}; }

}  // namespace

extern const core::SwitchRow row_output_queued;
const core::SwitchRow row_output_queued{
    .info =
        {"output_queued",
         "Synchronous interchange boxes with a FIFO per output port; packets of one fixed length",
         "Wang, Siegel, Nichols, Abraham 1992, section 2",
         {Parameter::integer("buffer", 12).unit("packets").range(1, 4096).doc("Places per output buffer, S"),
          Parameter::choice("space", {"auto", "same_cycle", "next_cycle"}, "auto")
              .doc("When a place that becomes free can be used: in the same cycle (networks without cycles, packets "
                   "next to "
                   "the destination move first) or from the next cycle on; auto: the former where it is possible"),
          Parameter::choice("combining", {"none", "pairwise", "k_way", "any"}, "none")
              .doc("Requests for one memory word that meet in a queue and go on as one: none; two; up to `ways`; any "
                   "number"),
          Parameter::integer("ways", kDefaultWays)
              .unit("requests")
              .range(2, 4294967294.0)
              .doc("With combining = \"k_way\": requests that may become one in a queue"),
          Parameter::integer("wait_buffer", 0)
              .unit("requests")
              .range(0, 4294967294.0)
              .doc("Combined requests that may wait beside a queue for the answer; where no more may wait, none is "
                   "combined. 0: no bound")}},
    .install = &install,
    .vcs = &vcs,
    .no_dependencies =
        "output_queued boxes take packets from each other in one step of the whole network, which has no cycles",
    .most_ports = 64,
    .serves_memory = true,
    .zero_load = &zero_load,
    .memory =
        [](const config::Values& values, const core::NetworkSize& size, double) {
          constexpr double kReservedMost = 1U << 20U;  // packets
          const double places = size.inputs * values.natural("buffer");
          return size.inputs * 450.0 + places * 8.0 + std::min(places, kReservedMost) * 50.0;
        },
    .packet_flits = 1};

}  // namespace banyan::switching::output_queued
