// Admittance queues of input adapters: one per destination, without a bound of their own. A message waits in 16 bytes.
//
// Which of them sends the next packet is drawn, all that can send being equally likely. In turn they would lock
// adapters that are all backlogged into one rotation for good: each would always send to another destination than the
// others, or always to the same ones.
//
// In small networks a table has a queue for every adapter and destination. In large ones, where it would take the
// square of the terminals, each adapter has a list of the destinations for which something waits, and their queues are
// in one hash table. Both choose alike.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/flat_map.hpp"
#include "banyan/base/pages.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/engine/terminals.hpp"
#include "banyan/engine/waiting.hpp"

namespace banyan::switching::cioq {

class Admittance {
 public:
  /// Terminals up to which there is a table by default: it has 134 MB then, and four times as much for twice as many.
  static constexpr u32 kMostInTable = 4096;

  /// For experiments whose messages wait in flows at their source: none wait here, and all adapters are asked.
  void leave_to_flows(u32 adapters) {
    adapters_.assign(adapters + 1, Adapter{});
    flows_ = true;
  }
  /// `numbers`: of the adapters' terminals in the network, of which there are so many.
  void resize(std::vector<u32> numbers, u32 terminals, u32 most_in_table = kMostInTable) {
    const u32 adapters = static_cast<u32>(numbers.size());
    numbers_ = std::move(numbers);
    terminals_ = terminals;
    in_table_ = terminals <= most_in_table;
    if (in_table_) {
      words_ = (terminals + 63) / 64;
      queues_.resize(std::size_t{adapters} * terminals);
      active_.resize(std::size_t{adapters} * words_);
      parked_.resize(active_.size());
    } else {
      lists_.resize(adapters);
    }
    adapters_.resize(adapters + 1);  // one more, for which nothing ever waits
    left_.clear();
    messages_.reserve(std::size_t{std::min<u32>(adapters, kChunks)} << kChunkBits);
  }
  void clear(const Random& turns) {
    random_ = turns;
    std::fill(queues_.begin(), queues_.end(), engine::Queue{});
    std::fill(active_.begin(), active_.end(), 0);
    std::fill(parked_.begin(), parked_.end(), 0);
    for (Lists& lists : lists_) lists = {};
    far_queues_.clear();
    std::fill(adapters_.begin(), adapters_.end(), Adapter{});
    for (std::size_t t = 0; flows_ && t + 1 < adapters_.size(); ++t) adapters_[t].waiting = 1;
    left_.clear();
    messages_.clear();
  }

  /// Asks for the memory that push() needs: first for the queue, later for the message that is its last.
  void fetch_queue(u32 adapter, u32 destination) const noexcept {
    if (in_table_) __builtin_prefetch(&queues_[std::size_t{adapter} * terminals_ + destination]);
  }
  void fetch_last(u32 adapter, u32 destination) const noexcept {
    if (!in_table_) return;
    const engine::Queue& queue = queues_[std::size_t{adapter} * terminals_ + destination];
    if (!queue.empty()) __builtin_prefetch(&messages_[queue.last], 1);
  }
  void push(u32 adapter, const engine::Source::Kept& kept) {
    const u32 id = messages_.take();
    Waiting& m = messages_[id];
    m = {static_cast<u32>(kept.birth), kept.nth, kNone,
         kept.flits | static_cast<u32>(kept.traffic) << 25U | static_cast<u32>(kept.flags & 15U) << 28U};
    engine::Queue& to = queue(adapter, kept.destination);
    if (to.empty()) {
      set_active(adapter, kept.destination);
      ++adapters_[adapter].waiting;
    }
    messages_.append(to, id);
    adapters_[adapter].flits += kept.flits;
    adapters_[adapter].identity += identity(m, kept.destination);
  }
  [[nodiscard]] u64 waiting_flits(u32 adapter) const noexcept { return adapters_[adapter].flits; }

  /// True when some destination has a packet and is not parked.
  [[nodiscard]] bool has_next(u32 adapter) const noexcept {
    return adapters_[adapter].waiting != adapters_[adapter].parked;
  }
  /// The one of these destinations that sends the next packet, the same until it does; kNone.
  [[nodiscard]] u32 next(u32 adapter) const noexcept {
    const Adapter& a = adapters_[adapter];
    const u32 count = a.waiting - a.parked;
    if (count == 0) return kNone;
    if (!in_table_) [[unlikely]]
      return next_in_list(adapter);
    const u64* active = &active_[std::size_t{adapter} * words_];
    if (count == 1) return nth(active, 0);
    const Words words = random_.at(numbers_[adapter], a.packets);
    for (u32 i = 0; i < 3; ++i) {  // where most destinations wait, the first place that is drawn will do
      const u32 place = below(words[i], terminals_);
      if ((active[place >> 6U] >> (place & 63U) & 1U) != 0) return place;
    }
    return nth(active, below(words[3], count));
  }
  /// Asks for the memory of the message that is next, of its destination; kNone.
  u32 fetch_next(u32 adapter) const noexcept {
    const u32 destination = next(adapter);
    if (destination == kNone) return kNone;
    __builtin_prefetch(&messages_[first(adapter, destination)]);
    return destination;
  }
  /// The message at the head for a destination, and how much of it has left.
  [[nodiscard]] engine::Source::Kept front(u32 adapter, u32 destination, Tick now, u32& offset) const noexcept {
    const u32 id = first(adapter, destination);
    const Waiting& m = messages_[id];
    offset = left_of(id);
    // The birth's upper half: nothing waits for 2^32 cycles.
    const Tick birth = now - static_cast<u32>(static_cast<u32>(now) - m.birth);
    return {birth,
            m.nth,
            destination,
            m.flits & kFlits,
            m.nth,
            static_cast<u8>(m.flits >> 25U & 7U),
            static_cast<u8>(m.flits >> 28U)};
  }
  /// So many flits of that message left as a packet.
  void pop(u32 adapter, u32 destination, u32 flits) {
    Adapter& a = adapters_[adapter];
    ++a.packets;
    a.flits -= flits;
    engine::Queue& from = queue(adapter, destination);
    const u32 id = from.first;
    const Waiting& m = messages_[id];
    const u32 left = left_of(id) + flits;
    if (left < (m.flits & kFlits)) {
      note_left(id, left);
      return;
    }
    if (left != flits) note_left(id, 0);
    a.identity -= identity(m, destination);
    messages_.give_back(messages_.pop(from));
    if (!from.empty()) return;
    clear_active(adapter, destination);
    if (!in_table_) far_queues_.erase(key(adapter, destination));
    --a.waiting;
  }
  /// A destination that cannot send now is left out until unpark.
  void park(u32 adapter, u32 destination) noexcept {
    clear_active(adapter, destination);
    if (in_table_) {
      parked_[word(adapter, destination)] |= u64{1} << (destination & 63U);
    } else {
      lists_[adapter].parked.push_back(destination);
    }
    ++adapters_[adapter].parked;
  }
  void unpark(u32 adapter) noexcept {
    if (adapters_[adapter].parked == 0) return;
    adapters_[adapter].parked = 0;
    if (!in_table_) return unpark_list(adapter);
    for (u32 w = 0; w < words_; ++w) {
      active_[std::size_t{adapter} * words_ + w] |= std::exchange(parked_[std::size_t{adapter} * words_ + w], 0);
    }
  }

  /// Hashes sums over what waits, which are kept up to date: there may be millions of messages.
  [[nodiscard]] u64 digest(u32 adapter) const noexcept {
    Hasher h;
    for (const u64 v : {adapters_[adapter].packets, adapters_[adapter].flits, adapters_[adapter].identity}) h.add(v);
    return h.value();
  }

  void archive(Archive& a) {
    a(queues_, active_, parked_, lists_, far_queues_, adapters_, messages_);
    std::size_t left = left_.size();
    a(left);
    left_.resize(left);
    for (auto& flits : left_) {
      bool any = flits != nullptr;
      a(any);
      if (any && flits == nullptr) flits = std::make_unique<u32[]>(1U << kChunkBits);
      if (any) a.row(flits.get(), 1U << kChunkBits);
    }
  }

 private:
  static constexpr u32 kChunkBits = 14;
  static constexpr u32 kChunks = 16;  ///< made at once: five megabytes; a longer backlog allocates while it grows
  static constexpr u32 kFlits = (1U << 25U) - 1;

  struct Waiting {
    u32 birth;
    u32 nth;  ///< of an answering traffic the tag
    u32 next;
    u32 flits;  ///< 25 bits; above them the traffic (3) and the flags (4)
  };
  struct Adapter {
    u64 flits = 0;
    u64 identity = 0;  ///< sum over the waiting messages
    u64 packets = 0;   ///< that left
    u32 waiting = 0;   ///< destinations with messages
    u32 parked = 0;
  };

  /// Of an adapter in a large network: destinations with a packet that are not parked, ascending; and those that are.
  struct Lists {
    std::vector<u32> active;
    std::vector<u32> parked;
    void archive(Archive& a) { a(active, parked); }
  };

  [[nodiscard]] static u64 key(u32 adapter, u32 destination) noexcept { return u64{adapter} << 32U | destination; }
  void set_active(u32 adapter, u32 destination) {
    if (in_table_) {
      active_[word(adapter, destination)] |= u64{1} << (destination & 63U);
      return;
    }
    std::vector<u32>& active = lists_[adapter].active;
    active.insert(std::lower_bound(active.begin(), active.end(), destination), destination);
  }
  void clear_active(u32 adapter, u32 destination) noexcept {
    if (in_table_) {
      active_[word(adapter, destination)] &= ~(u64{1} << (destination & 63U));
      return;
    }
    std::vector<u32>& active = lists_[adapter].active;
    active.erase(std::lower_bound(active.begin(), active.end(), destination));
  }
  /// As next() does where there is a table.
  [[nodiscard, gnu::noinline]] u32 next_in_list(u32 adapter) const noexcept {
    const std::vector<u32>& active = lists_[adapter].active;
    if (active.size() == 1) return active.front();
    const Words words = random_.at(numbers_[adapter], adapters_[adapter].packets);
    for (u32 i = 0; i < 3; ++i) {
      const u32 place = below(words[i], terminals_);
      if (std::binary_search(active.begin(), active.end(), place)) return place;
    }
    return active[below(words[3], static_cast<u32>(active.size()))];
  }
  [[gnu::noinline]] void unpark_list(u32 adapter) noexcept {
    Lists& lists = lists_[adapter];
    lists.active.insert(lists.active.end(), lists.parked.begin(), lists.parked.end());
    std::sort(lists.active.begin(), lists.active.end());
    lists.parked.clear();
  }

  [[nodiscard]] static u64 identity(const Waiting& m, u32 destination) noexcept {
    return mix64((static_cast<u64>(m.birth) << 32U | m.nth) ^ (static_cast<u64>(destination) << 40U) ^ m.flits);
  }
  /// The `n`th set bit, of which there are more.
  [[nodiscard]] static u32 nth(const u64* words, u32 n) noexcept {
    u32 w = 0;
    for (u32 here = 0; (here = static_cast<u32>(std::popcount(words[w]))) <= n; ++w) n -= here;
    u64 bits = words[w];
    for (; n != 0; --n) bits &= bits - 1;
    return w * 64 + static_cast<u32>(std::countr_zero(bits));
  }
  [[nodiscard]] std::size_t word(u32 adapter, u32 destination) const noexcept {
    return std::size_t{adapter} * words_ + (destination >> 6U);
  }
  /// A new one where none is known.
  [[nodiscard]] engine::Queue& queue(u32 adapter, u32 destination) {
    if (in_table_) [[likely]]
      return queues_[std::size_t{adapter} * terminals_ + destination];
    return far_queues_[key(adapter, destination)];
  }
  /// The first message for a destination for which something waits.
  [[nodiscard]] u32 first(u32 adapter, u32 destination) const noexcept {
    if (in_table_) [[likely]]
      return queues_[std::size_t{adapter} * terminals_ + destination].first;
    return far_queues_.find(key(adapter, destination))->first;
  }

  /// Flits of a message that have left. Most messages leave at once: only chunks in which one did not have counts.
  [[nodiscard]] u32 left_of(u32 id) const noexcept {
    const u32 chunk = id >> kChunkBits;
    return chunk < left_.size() && left_[chunk] != nullptr ? left_[chunk][id & ((1U << kChunkBits) - 1)] : 0;
  }
  void note_left(u32 id, u32 flits) {
    const u32 chunk = id >> kChunkBits;
    if (chunk >= left_.size()) left_.resize(chunk + std::size_t{1});
    if (left_[chunk] == nullptr) left_[chunk] = std::make_unique<u32[]>(1U << kChunkBits);
    left_[chunk][id & ((1U << kChunkBits) - 1)] = flits;
  }

  Random random_;
  std::vector<u32> numbers_;  ///< [adapter]: its terminal
  u32 terminals_ = 0;
  u32 words_ = 0;
  bool in_table_ = true;
  PageVector<engine::Queue> queues_;  ///< [adapter * terminals + destination], where there is a table
  PageVector<u64> active_;            ///< [adapter * words]: destinations with a packet that are not parked
  std::vector<u64> parked_;
  std::vector<Lists> lists_;           ///< [adapter], where there is no table
  FlatMap<engine::Queue> far_queues_;  ///< by key(), likewise
  std::vector<Adapter> adapters_;
  engine::Queues<Waiting, engine::Chunks<Waiting, kChunkBits>> messages_;
  std::vector<std::unique_ptr<u32[]>> left_;  ///< [chunk of messages_]; nullptr: of all of them nothing has left
  bool flows_ = false;
};

}  // namespace banyan::switching::cioq
