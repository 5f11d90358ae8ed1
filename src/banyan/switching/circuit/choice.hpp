// Which virtual channel the header of a circuit takes at a switch.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>
#include <vector>

#include "banyan/base/bits.hpp"
#include "banyan/core/graph.hpp"
#include "banyan/core/routing.hpp"
#include "banyan/switching/circuit/streams.hpp"

namespace banyan::switching::parts {

/// What is behind an output port of a switch.
struct CircuitWay {
  u32 channel = kNone;   ///< kNone: none that works
  u32 physical = kNone;  ///< whose virtual channels it uses
  u32 to = kNone;        ///< switch
  u16 to_port = 0;
  bool terminal = false;
};

class CircuitChoice {
 public:
  /// A virtual channel to take; way == nullptr: nothing is free.
  struct Taken {
    const CircuitWay* way = nullptr;
    u32 vc = 0;
  };

  /// `in_order`: the first free one in the routing's order, otherwise any. `alternatives`: how many ports may be tried
  /// at the first, second ... hop; 0: all; the last number holds on.
  CircuitChoice(const core::Graph& graph, std::span<const u32> physical, bool in_order, std::vector<u32> alternatives)
      : in_order_(in_order), alternatives_(std::move(alternatives)), ports_(graph.most_ports()) {
    ways_.resize(static_cast<std::size_t>(graph.switches()) * ports_);
    for (u32 c = 0; c < graph.channels().size(); ++c) {
      const core::Channel& channel = graph.channel(c);
      if (channel.from.terminal) continue;
      ways_[std::size_t{channel.from.node} * ports_ + channel.from.port] = {
          channel.failed ? kNone : c, physical[c], channel.to.node, channel.to.port, channel.to.terminal};
    }
  }

  [[nodiscard]] const CircuitWay& way(u32 at, u32 port) const noexcept {
    return ways_[std::size_t{at} * ports_ + port];
  }

  /// Among the candidates of a header at switch `at` before its hop number `hop`. `tried`: bit per port that was tried
  /// there before, and what is tried now; nullptr: nobody asks. `word()` draws a random word.
  template <class Word>
  [[nodiscard]] Taken choose(const core::Candidates& candidates, u32 at, u32 hop, u64* tried,
                             const CircuitStreams& streams, Word&& word) noexcept {
    const u32 limit = alternatives_[std::min<std::size_t>(hop, alternatives_.size() - 1)];
    u32 budget = limit == 0 ? kNone : limit;
    if (tried != nullptr && limit != 0) {
      const u32 used = static_cast<u32>(std::popcount(*tried));
      if (used >= limit) return {};
      budget = limit - used;
    }
    const bool all_count = in_order_ || tried != nullptr || limit != 0;  // also those without a free virtual channel
    const CircuitWay* const ways = &ways_[std::size_t{at} * ports_];
    if (!all_count) return any_of(candidates, ways, streams, word);
    options_ = 0;
    for (const core::Candidate& candidate : candidates) {
      const CircuitWay& way = ways[candidate.port];
      if (way.channel == kNone) continue;
      if (tried != nullptr && (*tried >> candidate.port & 1U) != 0) continue;
      const u64 free = free_of(candidate, way, streams);
      option_[options_++] = {&way, free, candidate.port, candidate.priority};
    }
    return in_order_ ? first_free(budget, tried) : any_free(budget, tried, word);
  }

 private:
  struct Option {
    const CircuitWay* way;
    u64 free;  ///< virtual channels
    u16 port;
    u8 priority;
  };

  static u64 free_of(const core::Candidate& candidate, const CircuitWay& way, const CircuitStreams& streams) noexcept {
    const u64 range = ~u64{0} >> (64U - candidate.vc_end) & ~u64{0} << candidate.vc_begin;
    return range & ~streams.reserved(way.physical);
  }

  /// any_free() where nothing is counted and nobody asks what was tried.
  template <class Word>
  [[nodiscard]] Taken any_of(const core::Candidates& candidates, const CircuitWay* ways, const CircuitStreams& streams,
                             Word&& word) noexcept {
    u32 options = 0;
    u32 total = 0;
    u32 priority = 0;
    for (const core::Candidate& candidate : candidates) {
      const CircuitWay& way = ways[candidate.port];
      if (way.channel == kNone || candidate.priority < priority) continue;
      const u64 free = free_of(candidate, way, streams);
      if (free == 0) continue;
      if (candidate.priority > priority) options = total = 0;
      priority = candidate.priority;
      option_[options++] = {&way, free, candidate.port, candidate.priority};
      total += static_cast<u32>(std::popcount(free));
    }
    if (total == 0) return {};
    u32 left = total == 1 ? 0 : below(word(), total);
    for (u32 i = 0;; ++i) {
      const u32 count = static_cast<u32>(std::popcount(option_[i].free));
      if (left < count) return {option_[i].way, nth_set_bit(option_[i].free, left)};
      left -= count;
    }
  }

  static Taken take(const Option& option, u32 vc, u64* tried) noexcept {
    if (tried != nullptr) *tried |= u64{1} << option.port;
    return {option.way, vc};
  }

  /// The scan in the routing's order ends at the first free channel; those before it count as tried.
  [[nodiscard]] Taken first_free(u32 budget, u64* tried) noexcept {
    for (u32 i = 0; i < options_ && budget > 0; ++i, --budget) {
      if (option_[i].free != 0) return take(option_[i], static_cast<u32>(std::countr_zero(option_[i].free)), tried);
      if (tried != nullptr) *tried |= u64{1} << option_[i].port;
    }
    return {};
  }

  /// Uniform among all free virtual channels of the highest priority that has any.
  template <class Word>
  [[nodiscard]] Taken any_free(u32 budget, u64* tried, Word&& word) noexcept {
    if (budget < options_) {
      for (u32 i = 0; i < budget; ++i) std::swap(option_[i], option_[i + below(word(), options_ - i)]);
      options_ = budget;
      for (u32 i = 0; i < options_ && tried != nullptr; ++i) {
        if (option_[i].free == 0) *tried |= u64{1} << option_[i].port;
      }
    }
    u32 total = 0;
    u32 priority = 0;
    for (u32 i = 0; i < options_; ++i) {
      if (option_[i].free == 0 || (total != 0 && option_[i].priority < priority)) continue;
      if (option_[i].priority > priority) total = 0;
      priority = option_[i].priority;
      total += static_cast<u32>(std::popcount(option_[i].free));
    }
    if (total == 0) return {};
    u32 left = total == 1 ? 0 : below(word(), total);
    for (u32 i = 0;; ++i) {
      if (option_[i].free == 0 || option_[i].priority != priority) continue;
      const u32 count = static_cast<u32>(std::popcount(option_[i].free));
      if (left < count) return take(option_[i], nth_set_bit(option_[i].free, left), tried);
      left -= count;
    }
  }

  bool in_order_;
  std::vector<u32> alternatives_;
  u32 ports_;
  std::vector<CircuitWay> ways_;  ///< [switch * ports + port]
  std::array<Option, core::Candidates::kCapacity> option_{};
  u32 options_ = 0;
};

}  // namespace banyan::switching::parts
