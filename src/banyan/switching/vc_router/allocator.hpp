// Allocators: matchings between requesters and resources (Dally and Towles 2004, chapter 19), for many routers that
// share the scratch memory and have arbiters of their own. For the general kernel of vc_router: any size, not fast.
#pragma once

#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/base/types.hpp"

namespace banyan::switching::parts {

enum class AllocatorKind : u8 {
  input_first,   ///< separable: every input chooses one output, every output one of the inputs that chose it
  output_first,  ///< separable: every output chooses one input, every input one of the outputs that chose it
  islip,         ///< output_first with round-robin arbiters (McKeown 1999)
  pim,           ///< output_first with arbiters that draw one of those that ask (Anderson et al. 1993)
  pim_offset,    ///< the same, but the first that asks at or behind a place that is drawn (BookSim2's pim)
  wavefront,     ///< diagonals of the request matrix, the first one rotating (Tamir and Chi 1993)
  max_size,      ///< a matching of maximum size: a bound for the others, unfair
  lonely,        ///< every input asks the output that fewest inputs want, which takes one of those that ask (BookSim2)
};

enum class ArbiterKind : u8 {
  round_robin,  ///< the first at or after the one behind the last that won
  matrix,       ///< the one that won longest ago
  age,          ///< the one with the smallest key, round-robin among equals
};

/// A line of arbiters of one kind, `size` requesters each. What counts as a win the caller tells with `won`.
class Arbiters {
 public:
  /// Smaller ranks win.
  struct Rank {
    u64 first = 0;
    u64 second = 0;
    bool operator<(const Rank& other) const noexcept {
      return first != other.first ? first < other.first : second < other.second;
    }
  };

  Arbiters(ArbiterKind kind, std::size_t count, u32 size);

  void reset();
  [[nodiscard]] Rank rank(std::size_t arbiter, u32 requester, u64 key) const noexcept {
    const u64 distance = (requester + u64{size_} - next_[arbiter]) % size_;
    switch (kind_) {
      case ArbiterKind::round_robin:
        return {distance, 0};
      case ArbiterKind::matrix:
        return {won_[arbiter * size_ + requester], requester};
      case ArbiterKind::age:
        break;
    }
    return {key, distance};
  }
  void won(std::size_t arbiter, u32 requester) noexcept;
  /// Moves on by one, whoever won. Round-robin arbiters only.
  void turn(std::size_t arbiter) noexcept { next_[arbiter] = next_[arbiter] + 1 == size_ ? 0 : next_[arbiter] + 1; }
  /// State for digests: of arbiters [first, first + count).
  template <class Hasher>
  void digest(std::size_t first, std::size_t count, Hasher& h) const {
    for (std::size_t a = first; a < first + count; ++a) h.add(next_[a]);
    if (kind_ != ArbiterKind::matrix) return;
    for (std::size_t i = first * size_; i < (first + count) * size_; ++i) h.add(won_[i]);
  }

  void archive(Archive& a) { a(next_, won_); }

 private:
  ArbiterKind kind_;
  u32 size_;
  std::vector<u32> next_;  ///< [arbiter]; for the matrix: its wins so far
  std::vector<u32> won_;   ///< matrix, [arbiter * size + requester]: number of the win, 0 for none
};

class Allocator {
 public:
  /// Inputs and outputs have numbers of at most so many bits, and iterations are at most 64: pim addresses its draws
  /// so.
  static constexpr u32 kIndexBits = 12;

  struct Setup {
    AllocatorKind kind = AllocatorKind::islip;
    ArbiterKind arbiter = ArbiterKind::round_robin;
    u32 iterations = 1;
    u32 inputs = 1;
    u32 outputs = 1;
    /// The first `lanes` of every 2^shift numbers are used: pim_offset draws a place among those.
    u32 shift = 0;
    u32 lanes = 1;
  };

  Allocator(const Setup& setup, u32 instances);

  /// `random`: what pim draws from.
  void reset(const Random& random = {});
  /// Forgets the requests; those that follow are of one instance. `owner` and `step`: the address of what pim draws, so
  /// that it depends on nothing that happened before.
  void begin(u32 instance, u32 owner = 0, u64 step = 0) noexcept;
  /// May be called once per pair. `key`: smaller is older.
  void request(u32 input, u32 output, u64 key = 0);
  void allocate() noexcept;
  /// The output that the input was given, or kNone.
  [[nodiscard]] u32 of_input(u32 input) const noexcept { return of_input_[input]; }

  template <class Hasher>
  void digest(u32 instance, Hasher& h) const {
    input_arbiters_.digest(std::size_t{instance} * setup_.inputs, setup_.inputs, h);
    output_arbiters_.digest(std::size_t{instance} * setup_.outputs, setup_.outputs, h);
    h.add(turn_[instance]);
  }

  void archive(Archive& a) { a(input_arbiters_, output_arbiters_, turn_); }

 private:
  struct Request {
    u32 input = 0;
    u32 output = 0;
    u64 key = 0;
  };
  struct Choice {
    Arbiters::Rank rank;
    u32 partner = kNone;
  };

  [[nodiscard]] bool open(const Request& r) const noexcept {
    return of_input_[r.input] == kNone && of_output_[r.output] == kNone;
  }
  void match(u32 input, u32 output) noexcept {
    of_input_[input] = output;
    of_output_[output] = input;
  }
  /// Rank of a request in a round of pim or pim_offset, for the output that chooses first or the input that chooses
  /// second.
  [[nodiscard]] Arbiters::Rank drawn(const Request& r, u32 round, bool second) const noexcept;
  bool iterate(u32 round) noexcept;
  void wavefront() noexcept;
  void max_size() noexcept;
  void lonely() noexcept;
  bool augment(u32 input) noexcept;

  Setup setup_;
  Arbiters input_arbiters_;   ///< [instance * inputs + input], over outputs
  Arbiters output_arbiters_;  ///< [instance * outputs + output], over inputs
  std::vector<u32> turn_;     ///< [instance]: first diagonal, first input
  Random random_;
  u32 instance_ = 0;
  u32 owner_ = 0;
  u64 step_ = 0;
  std::vector<Request> requests_;
  std::vector<u32> of_input_;
  std::vector<u32> of_output_;
  std::vector<Choice> of_first_;   ///< scratch: what the inputs (input_first) or outputs chose
  std::vector<Choice> of_second_;  ///< scratch: what the others chose among those
  std::vector<u8> visited_;        ///< scratch of max_size, [output]
  std::vector<u32> wanted_;        ///< scratch of lonely, [output]: inputs that want it
};

}  // namespace banyan::switching::parts
