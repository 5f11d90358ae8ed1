// When messages are generated and how long they are: shared by every open-loop pattern.
#pragma once

#include <algorithm>
#include <vector>

#include "banyan/base/pages.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/config/schema.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/traffic/parts/geometric.hpp"
#include "banyan/traffic/parts/sizes.hpp"

namespace banyan::traffic {

inline constexpr Stream kArrivals{"injection: births, destinations, ways"};
inline constexpr Stream kBursts{"injection: bursts"};
inline constexpr Stream kFirstBirths{"injection: first births"};

/// Moments of generation at one terminal, each from the one before: a pure function of (terminal, nth).
class Process {
 public:
  static std::vector<config::Parameter> parameters();

  /// `rate`: messages per terminal and cycle.
  Process(const config::Values& values, const core::TrafficContext& context, double rate);

  void begin(u32 replication) {
    bursts_ = Random(seed_, kBursts, index_, replication);
    first_births_ = Random(seed_, kFirstBirths, index_, replication);
  }

  /// The next birth after `previous` (kNever: the first); `out` is the message before, whose `state` it goes on from.
  [[nodiscard]] Tick next(u32 terminal, u64 nth, Tick previous, const Words& words, core::Message& out) const noexcept {
    const u64 word = (static_cast<u64>(words[0]) << 32U) | words[1];
    if (kind_ == Kind::at_once) return 0;
    if (kind_ == Kind::poisson) return poisson(previous, word, out);
    if (kind_ == Kind::normal) return previous == kNever ? first_normal(terminal, out) : normal(previous, word, out);
    const Tick gap = kind_ == Kind::bernoulli ? gap_(word) : burst_gap(terminal, nth, previous == kNever);
    if (gap == kNever) return kNever;
    // The first message's gap counts from one cycle before the start: cycle 0 generates like any other.
    return previous == kNever ? (gap - 1) * ticks_per_cycle_ : previous + gap * ticks_per_cycle_;
  }

  /// False when every replication has the same births.
  [[nodiscard]] bool random() const noexcept { return kind_ != Kind::at_once; }

  /// TrafficTraits::remembers. Bursts and pauses have no memory themselves, so that the chance of being in a burst
  /// forgets as exp(-t (1 / burst + 1 / pause)).
  [[nodiscard]] double remembers() const noexcept { return remembers_; }

  /// TrafficTraits::keeps_phase of messages that all go to one place. Normal distances move the phase by sigma / mean
  /// of a turn each, so that its cosine forgets by q = exp(-2 pi^2 (sigma / mean)^2) per message: 2 q / (1 - q)
  /// distances.
  [[nodiscard]] double keeps_phase() const noexcept;

  /// The mean of normal distances in cycles, with those that are set to 0; 0 for other processes.
  [[nodiscard]] double mean_distance() const noexcept;

 private:
  enum class Kind : u8 { bernoulli, poisson, normal, on_off, at_once };

  void make_normal(const config::Values& values, double rate);
  [[nodiscard]] Tick normal(Tick previous, u64 word, core::Message& out) const noexcept;
  [[nodiscard]] double normal_gap(u64 word) const noexcept;
  [[nodiscard]] Tick first_normal(u32 terminal, core::Message& out) const noexcept;
  [[nodiscard]] Tick poisson(Tick previous, u64 word, core::Message& out) const noexcept;
  /// `state` of a message: the part of a tick by which it came after its tick's begin, in 2^-32; the next goes on from
  /// there, so that the mean distance is kept.
  [[nodiscard]] static Tick after(Tick previous, double gap, core::Message& out) noexcept;
  [[nodiscard]] Tick burst_gap(u32 terminal, u64 nth, bool first) const noexcept;
  [[nodiscard]] Tick rest_of_gap(u64 word) const noexcept;
  void find_law_of_gaps(double end, double begin);

  u64 seed_;
  u32 index_;
  Tick ticks_per_cycle_;
  Kind kind_ = Kind::bernoulli;
  GeometricGap gap_;                  ///< Bernoulli: cycles between messages
  double ticks_per_message_ = 0;      ///< Poisson, normal; 0: no messages
  double deviation_ = 0;              ///< normal: ticks
  GeometricGap pause_;                ///< on-off: cycles until it turns on
  GeometricGap event_;                ///< on-off: cycles of a burst until it generates or ends
  double rate_on_ = 0.0;              ///< messages per cycle of a burst
  double ends_ = 0.0;                 ///< probability that the event is the burst's end
  double on_ = 0.0;                   ///< fraction of the cycles in bursts
  double remembers_ = 0.0;            ///< cycles
  double law_share_[2] = {0.0, 0.0};  ///< on-off: P(gap > t) is the sum of share * base^t
  double law_base_[2] = {0.0, 0.0};
  double law_log_ = 0.0;  ///< ln of the first base, which may be too near to 1 for its digits
  Random bursts_;
  Random first_births_;
};

/// The parameters that every open-loop pattern shares (load, process, size), and their use.
class Injection {
 public:
  static std::vector<config::Parameter> parameters();

  Injection(const config::Values& values, const core::TrafficContext& context);

  void begin(u32 replication) {
    random_ = Random(seed_, kArrivals, index_, replication);
    if (drawn_) std::fill(ahead_.begin(), ahead_.end(), Ahead{});
    drawn_ = true;
    process_.begin(replication);
    sizes_.begin(replication);
  }

  /// Fills birth, flits and word of the nth message; returns the words for the destination draw. kNever: no message.
  [[nodiscard]] Words next(u32 terminal, u64 nth, Tick previous, core::Message& out) const noexcept {
    const Words words = draw(terminal, nth);
    out.birth = process_.next(terminal, nth, previous, words, out);
    out.flits = sizes_(terminal, nth);
    out.word = words[3];
    out.flags = 0;
    return words;
  }

  [[nodiscard]] bool random() const noexcept { return process_.random() || sizes_.random(); }
  [[nodiscard]] double remembers() const noexcept { return process_.remembers(); }
  [[nodiscard]] double keeps_phase() const noexcept { return process_.keeps_phase(); }
  [[nodiscard]] double load() const noexcept { return load_; }
  [[nodiscard]] const Sizes& sizes() const noexcept { return sizes_; }

 private:
  /// The words of a terminal's next message, drawn when nothing waits for them: the rounds of one draw depend on each
  /// other, and what a message does on its predecessor's birth.
  struct Ahead {
    u64 until = 0;  ///< number of the message, plus 1; 0: none is drawn
    Words words{};
  };

  [[nodiscard]] Words draw(u32 terminal, u64 nth) const noexcept {
    Ahead& ahead = ahead_[terminal];
    const Words words = ahead.until == nth + 1 ? ahead.words : random_.at(terminal, nth);
    ahead = {nth + 2, random_.at(terminal, nth + 1)};
    return words;
  }

  u64 seed_;
  u32 index_;
  double load_;
  Sizes sizes_;
  Process process_;
  Random random_;
  /// [terminal]; a terminal is asked by one thread at a time. Those that nobody asks take no memory: a traffic is built
  /// to be looked at, too, and each rank asks its own terminals.
  mutable SmallPageVector<Ahead> ahead_;
  bool drawn_ = false;  ///< a replication has begun
};

}  // namespace banyan::traffic
