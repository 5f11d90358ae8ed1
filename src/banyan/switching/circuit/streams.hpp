// Data of established circuits. Virtual channels of one channel share its bandwidth of one flit per cycle; a path has a
// buffer of two flits behind every channel but the last. A stream is moved only when it has to be: when the sharing of
// a channel on its path changes, and when its tail may cross a channel. In between, the state of all its buffers is
// two words, a cycle is a dozen operations on them, and whole periods of the turns are skipped.
//
// Within cycle t: reservations and releases at t are in force; then data move. A flit that crosses a channel in cycle t
// can cross the next one in t + 1; a place that a flit leaves in t can be taken in t + 1. The virtual channel that a
// tail crosses in cycle t is free from t + 1 on.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <span>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/bits.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/types.hpp"

namespace banyan::switching::parts {

/// tdm: in every cycle the turn is of the next reserved virtual channel, and is lost when that one has nothing to send.
/// demand: the turn is of the next one that has a flit and a place for it.
enum class Sharing : u8 { tdm, demand };

class CircuitStreams {
 public:
  static constexpr u32 kMostStages = 64;  ///< channels of a path
  static constexpr u32 kMostVcs = 64;

  /// `counted`: channels whose use is summed up.
  CircuitStreams(u32 channels, u32 vcs, u32 circuits, Sharing sharing, u32 counted)
      : sharing_(sharing),
        vcs_(vcs),
        counted_(counted),
        channels_(channels),
        owner_(static_cast<std::size_t>(channels) * vcs),
        stage_(static_cast<std::size_t>(channels) * vcs),
        streams_(circuits),
        path_(static_cast<std::size_t>(circuits) * kMostStages) {
    touched_.reserve(circuits);
    coupled_.reserve(circuits);
    crowded_.reserve(channels);
  }

  void clear() {
    std::fill(channels_.begin(), channels_.end(), Channel{});
    std::fill(streams_.begin(), streams_.end(), Stream{});
    touched_.clear();
    coupled_.clear();
    late_ = false;
    moved_ = busy_ = squares_ = 0;
  }

  /// Bit per virtual channel of a channel that is reserved.
  [[nodiscard]] u64 reserved(u32 channel) const noexcept { return channels_[channel].reserved; }
  /// Channels that a circuit has reserved and not given back.
  [[nodiscard]] u32 held(u32 circuit) const noexcept { return streams_[circuit].stages - streams_[circuit].released; }
  [[nodiscard]] u32 channel_of(u32 circuit, u32 stage) const noexcept { return path(circuit)[stage] / kMostVcs; }
  [[nodiscard]] u32 vc_of(u32 circuit, u32 stage) const noexcept { return path(circuit)[stage] % kMostVcs; }
  [[nodiscard]] u32 owner(u32 channel, u32 vc) const noexcept { return owner_[channel * vcs_ + vc]; }

  /// Adds a channel to the end of the circuit's path.
  void reserve(u32 circuit, u32 channel, u32 vc, Tick now) noexcept {
    Stream& s = streams_[circuit];
    change(channel, now);
    u64& reserved = channels_[channel].reserved;
    if (reserved != 0) {
      ++s.shared;
      if (std::has_single_bit(reserved)) ++streams_[only_owner(channel)].shared;
    }
    reserved |= u64{1} << vc;
    owner_[channel * vcs_ + vc] = circuit;
    stage_[channel * vcs_ + vc] = static_cast<u8>(s.stages);
    path(circuit)[s.stages++] = channel * kMostVcs + vc;
    if (sharing_ == Sharing::tdm) take_turns_with(s, channel);
  }
  /// Gives the last channel of a path back on which no data move yet.
  void release_last(u32 circuit, Tick now) noexcept {
    Stream& s = streams_[circuit];
    const u32 place = path(circuit)[--s.stages];
    change(place / kMostVcs, now);
    give_back(s, place);
  }

  /// Data move from cycle `now` on. Requires at least one channel and one flit.
  void start(u32 circuit, u32 flits, Tick now) noexcept {
    Stream& s = streams_[circuit];
    s.on = true;
    s.left = s.flits = flits;
    s.at = now;
    touch(circuit);
    if (sharing_ == Sharing::demand) join(circuit, now);
  }

  /// Brings a stream up to cycle `now` and gives the channel back that its tail has crossed, if any. Returns the number
  /// of channels that the tail has crossed; when it is that of the path, the circuit is over: finish() is next.
  u32 settle(u32 circuit, Tick now) noexcept {
    Stream& s = streams_[circuit];
    advance(circuit, now);
    touch(circuit);
    while (s.released < s.tail) {
      const u32 place = path(circuit)[s.released];
      if (sharing_ == Sharing::demand) part(circuit, s.released, now);
      change(place / kMostVcs, now);
      give_back(s, place);
      ++s.released;
    }
    return s.tail;
  }
  void finish(u32 circuit) noexcept { streams_[circuit] = Stream{}; }

  /// settle() for the most frequent case, when it is that: the source has sent everything, the stream is up to the
  /// cycle before, and its tail crosses a channel that nobody shares. Returns false, and has done nothing, otherwise.
  [[nodiscard]] bool glide(u32 circuit, Tick now) noexcept {
    Stream& s = streams_[circuit];
    if (sharing_ == Sharing::demand || s.left != 0 || s.crowded != 0 || s.at + 1 != now) return false;
    const u64 turn = s.turn[s.at & 1U];
    const u32 place = path(circuit)[s.tail];
    Channel& channel = channels_[place / kMostVcs];
    const bool crosses = (((s.two >> (s.tail - 1) | s.two >> s.tail) & 1U) == 0) && (turn >> s.tail & 1U) != 0;
    if (!crosses || s.tail != s.released || !std::has_single_bit(channel.reserved)) return false;
    step(s, turn);
    if (channel.since != now) {
      const u64 cycles = place / kMostVcs < counted_ ? now - channel.since : 0;
      busy_ += cycles;
      squares_ += cycles;
      channel.last = place % kMostVcs;
      channel.since = now;
    }
    channel.reserved = 0;
    ++s.released;
    return true;
  }
  /// True when the tail can cross its next channel in cycle `now`, up to which the stream is.
  [[nodiscard]] bool glides_on(u32 circuit, Tick now) const noexcept {
    const Stream& s = streams_[circuit];
    return ((s.two >> (s.tail - 1) | s.two >> s.tail) & 1U) == 0 && (s.turn[now & 1U] >> s.tail & 1U) != 0;
  }
  /// Its next_look() is asked for at the end of this cycle.
  void touch(u32 circuit) noexcept {
    if (streams_[circuit].touched) return;
    streams_[circuit].touched = true;
    touched_.push_back(circuit);
  }

  /// When the first flit arrived at the end of the path; kNever: not yet.
  [[nodiscard]] Tick head_arrival(u32 circuit) const noexcept { return streams_[circuit].head_at; }
  [[nodiscard]] u32 stages(u32 circuit) const noexcept { return streams_[circuit].stages; }
  [[nodiscard]] u32 released(u32 circuit) const noexcept { return streams_[circuit].released; }
  [[nodiscard]] u32 channels() const noexcept { return static_cast<u32>(channels_.size()); }

  /// demand: moves the data of cycle `now` of all streams that share a channel with another; after all reservations
  /// and releases at `now`. Calls crossed(circuit) where a tail has crossed a channel: to be settled at now + 1.
  template <class Crossed>
  void share(Tick now, Crossed&& crossed) noexcept;
  /// True when share() has to be called in every cycle.
  [[nodiscard]] bool sharing() const noexcept { return !coupled_.empty(); }

  /// Circuits whose next_look() may have changed since the last call; calls visit(circuit).
  template <class Visit>
  void take_touched(Visit&& visit) noexcept {
    for (const u32 circuit : touched_) {
      streams_[circuit].touched = false;
      if (streams_[circuit].on) visit(circuit);
    }
    touched_.clear();
  }
  /// The earliest tick at which the stream's tail may have crossed one more channel; it is never later than that.
  [[nodiscard]] Tick next_look(u32 circuit) noexcept;

  /// Flits that left their sources since clear, times the switches that they pass, as far as they were looked at.
  [[nodiscard]] u64 moved() const noexcept { return moved_; }
  /// The reserved virtual channels of the first `counted` channels and their squares, per channel, summed over all
  /// cycles since clear that came before the channel's last change.
  [[nodiscard]] u64 busy() const noexcept { return busy_; }
  [[nodiscard]] u64 squares() const noexcept { return squares_; }
  /// A tail crossed a channel before it was looked at.
  [[nodiscard]] bool late() const noexcept { return late_; }

  /// Adds a circuit's buffers and turns to a state hash.
  void hash(u32 circuit, Hasher& h) const noexcept {
    const Stream& s = streams_[circuit];
    for (const u64 v : {u64{s.on}, s.at, s.one, s.two, u64{s.left}, u64{s.tail}, u64{s.stages}}) h.add(v);
    for (u32 j = s.released; j < s.stages; ++j) h.add(path(circuit)[j]);
  }
  [[nodiscard]] u64 digest_of_channels() const noexcept {
    u64 sum = 0;
    for (u32 c = 0; c < channels_.size(); ++c) {
      const Channel& channel = channels_[c];
      if (channel.since == 0) continue;
      Hasher h;
      for (const u64 v : {u64{c}, channel.reserved, channel.since, u64{channel.last}}) h.add(v);
      sum += h.value();
    }
    return sum;
  }

  void archive(Archive& a) {
    a(channels_, owner_, stage_, streams_, path_, touched_, coupled_, moved_, busy_, squares_, late_);
  }

 private:
  struct Channel {
    u64 reserved = 0;
    u64 streaming = 0;  ///< demand: virtual channels whose circuit sends data
    u64 want = 0;       ///< demand: within share()
    Tick since = 0;     ///< tdm: the set is the same since this cycle
    u32 last = 0;       ///< virtual channel of the last turn before `since` (demand: so far as it is known)
    u32 base = 0;       ///< demand: flits that the only stream had sent when it became the only one
  };
  /// A line of the cache; at most kMostStages channels are counted by bytes.
  struct alignas(64) Stream {
    u64 one = 0;  ///< bit j: the buffer behind channel j of the path holds a flit
    u64 two = 0;  ///< bit j: it holds two
    Tick at = 0;  ///< all cycles before are done
    Tick head_at = kNever;
    /// tdm: stages that have the turn in even and in odd cycles; of stages in no crowded channel.
    std::array<u64, 2> turn{~u64{0}, ~u64{0}};
    u32 left = 0;      ///< flits that are still at the source
    u32 flits = 0;     ///< of the message
    u8 stages = 0;     ///< channels of the path
    u8 tail = 0;       ///< channels that the tail has crossed
    u8 released = 0;   ///< channels that were given back
    u8 shared = 0;     ///< channels of the path that another circuit has reserved too
    u8 contended = 0;  ///< demand: channels that another stream uses too
    u8 crowded = 0;    ///< tdm: channels of the path that more than two circuits have reserved
    bool on = false;
    bool touched = false;
  };
  static_assert(sizeof(Stream) == 64 && kMostStages <= 0xff);
  /// When the virtual channels of a path have their turns, from the stream's `at` on.
  struct Turns {
    u64 always = 0;  ///< stages that have every turn
    u32 rings = 0;   ///< how many different numbers of sharers there are, beyond 1
    u32 period = 1;
    std::array<u32, kMostVcs> size;   ///< [ring]
    std::array<u32, kMostVcs> phase;  ///< [ring]: where it is
  };
  static constexpr u32 kLongestPeriod = 16;  ///< of the turns, to be skipped as a whole

  [[nodiscard]] u32* path(u32 circuit) noexcept { return &path_[static_cast<std::size_t>(circuit) * kMostStages]; }
  [[nodiscard]] const u32* path(u32 circuit) const noexcept {
    return &path_[static_cast<std::size_t>(circuit) * kMostStages];
  }
  [[nodiscard]] static u64 below_bit(u32 bit) noexcept { return (u64{1} << bit) - 1; }
  [[nodiscard]] static u64* ring(std::vector<u64>& masks, u32 size) noexcept { return &masks[size * (size - 1) / 2]; }

  [[nodiscard]] static u32 pairs_delay(const Stream& s) noexcept;
  [[nodiscard]] u32 only_owner(u32 channel) const noexcept {
    return owner(channel, static_cast<u32>(std::countr_zero(channels_[channel].reserved)));
  }
  void give_back(Stream& s, u32 place) noexcept {
    const u32 index = place / kMostVcs;
    u64& reserved = channels_[index].reserved;
    reserved &= ~(u64{1} << place % kMostVcs);
    if (reserved == 0) return;
    --s.shared;
    if (std::has_single_bit(reserved)) --streams_[only_owner(index)].shared;
    if (sharing_ == Sharing::demand) return;
    const u32 left = static_cast<u32>(std::popcount(reserved));
    if (left >= 2) --s.crowded;
    if (left == 2) for_owners(index, [](Stream& other, u32) { --other.crowded; });
    if (left <= 2) set_turns(index);
  }

  // --- turns of one or two ---
  template <class Each>
  void for_owners(u32 index, Each&& each) noexcept {
    for (u64 bits = channels_[index].reserved; bits != 0; bits &= bits - 1) {
      const u32 at = index * vcs_ + static_cast<u32>(std::countr_zero(bits));
      each(streams_[owner_[at]], stage_[at]);
    }
  }
  /// The turns of a channel whose set has just become one of two at most.
  void set_turns(u32 index) noexcept {
    const Channel& channel = channels_[index];
    const bool two = !std::has_single_bit(channel.reserved);
    u64 parity = two ? next_rank(channel, 2) ^ (channel.since & 1U) : 0;  // of the cycles of the lower one
    for_owners(index, [&](Stream& s, u32 stage) {
      const u64 bit = u64{1} << stage;
      s.turn[parity] |= bit;
      if (two) {
        s.turn[parity ^ 1U] &= ~bit;
      } else {
        s.turn[1] |= bit;
      }
      parity ^= 1U;
    });
  }
  /// A circuit has reserved its last channel, with others or alone.
  void take_turns_with(Stream& s, u32 index) noexcept {
    const u32 n = static_cast<u32>(std::popcount(channels_[index].reserved));
    if (n <= 2) return set_turns(index);
    if (n > 3) {
      ++s.crowded;
    } else {
      for_owners(index, [](Stream& each, u32) { ++each.crowded; });
    }
  }

  /// The set of a channel is about to change at `now`: what it did before is settled.
  void change(u32 index, Tick now) noexcept {
    Channel& channel = channels_[index];
    if (channel.since == now) return;  // no cycle has passed with the present set
    const u64 shares = static_cast<u64>(std::popcount(channel.reserved)) * (index < counted_ ? 1U : 0U);
    busy_ += shares * (now - channel.since);
    squares_ += shares * shares * (now - channel.since);
    if (channel.reserved != 0 && sharing_ == Sharing::tdm) {
      for (u64 bits = channel.reserved; bits != 0; bits &= bits - 1) {
        const u32 circuit = owner_[index * vcs_ + static_cast<u32>(std::countr_zero(bits))];
        if (!streams_[circuit].on) continue;
        advance(circuit, now);
        touch(circuit);
      }
      const u32 n = static_cast<u32>(std::popcount(channel.reserved));
      const u64 turn = next_rank(channel, n) + (now - 1 - channel.since);
      channel.last = nth_set_bit(channel.reserved, n == 1 ? 0 : static_cast<u32>(turn % n));
    }
    channel.since = now;
  }
  /// Rank among the reserved virtual channels of the one that has the turn in cycle `since`.
  [[nodiscard]] static u32 next_rank(const Channel& channel, u32 n) noexcept {
    const u32 rank = static_cast<u32>(std::popcount(channel.reserved & ((u64{2} << channel.last) - 1)));
    return rank == n ? 0 : rank;
  }
  /// Cycles from `at` to the next turn of a virtual channel, and the number of sharers.
  struct Turn {
    u32 wait;
    u32 n;
  };
  [[nodiscard]] Turn turn_of(u32 circuit, u32 stage, Tick at) const noexcept {
    const Stream& s = streams_[circuit];
    if (s.crowded == 0) {
      if ((s.turn[at & 1U] >> stage & 1U) == 0) return {1, 2};
      return {0, (s.turn[~at & 1U] >> stage & 1U) != 0 ? 1U : 2U};
    }
    const u32 place = path(circuit)[stage];
    const Channel& channel = channels_[place / kMostVcs];
    const u32 n = static_cast<u32>(std::popcount(channel.reserved));
    if (n == 1) return {0, 1};
    const u32 mine = static_cast<u32>(std::popcount(channel.reserved & below_bit(place % kMostVcs)));
    const u32 turn = static_cast<u32>((next_rank(channel, n) + (at - channel.since)) % n);
    return {mine >= turn ? mine - turn : mine + n - turn, n};
  }

  [[nodiscard]] Turns turns(u32 circuit) noexcept {
    const Stream& s = streams_[circuit];
    Turns t;
    for (u32 j = s.released; j < s.stages; ++j) {
      const Turn turn = turn_of(circuit, j, s.at);
      if (turn.n == 1) {
        t.always |= u64{1} << j;
        continue;
      }
      u32 r = 0;
      while (r < t.rings && t.size[r] != turn.n) ++r;
      u64* const masks = ring(masks_, turn.n);
      if (r == t.rings) {
        std::fill(masks, masks + turn.n, u64{0});
        t.size[r] = turn.n;
        t.phase[r] = 0;
        ++t.rings;
        t.period = std::lcm(std::min(t.period, 1U << 20U), turn.n);
      }
      masks[turn.wait] |= u64{1} << j;
    }
    return t;
  }
  [[nodiscard]] u64 next_turn(Turns& t) noexcept {
    u64 turn = t.always;
    for (u32 r = 0; r < t.rings; ++r) {
      turn |= ring(masks_, t.size[r])[t.phase[r]];
      if (++t.phase[r] == t.size[r]) t.phase[r] = 0;
    }
    return turn;
  }

  /// One cycle of a stream. `turn`: the stages that have their turn.
  static void step(Stream& s, u64 turn) noexcept {
    const u64 last = u64{1} << (s.stages - 1);
    const u64 move = turn & ((s.one << 1U) | (s.left != 0 ? 1U : 0U)) & ~s.two;
    const u64 in = move & (last - 1);
    const u64 out = move >> 1U;
    const u64 grows = in & ~out;
    const u64 shrinks = out & ~in;
    if (s.left != 0) {
      s.left -= static_cast<u32>(move & 1U);
      if (s.left == 0) s.tail = 1;
    } else if ((move >> s.tail & 1U) != 0 && (s.two >> (s.tail - 1) & 1U) == 0) {
      ++s.tail;
    }
    const u64 two = s.two;
    s.two = (two & ~shrinks) | (grows & s.one);
    s.one = (s.one & ~(shrinks & ~two)) | grows;
    ++s.at;
    if ((move & last) != 0 && s.head_at == kNever) s.head_at = s.at;
  }

  /// All cycles before `to`, with the present turns.
  void advance(u32 circuit, Tick to) noexcept {
    Stream& s = streams_[circuit];
    if (s.at >= to) return;
    const u32 before = s.left;
    if (s.crowded == 0) {
      advance(s, to, s.shared == 0 || sharing_ == Sharing::demand ? 1U : 2U, [&] { return s.turn[s.at & 1U]; });
    } else {
      Turns t = turns(circuit);
      advance(s, to, t.period, [&] { return next_turn(t); });
    }
    moved_ += static_cast<u64>(before - s.left) * (s.stages + 1);
  }
  template <class Turn>
  void advance(Stream& s, Tick to, u32 period, Turn&& turn) noexcept {
    while (s.at < to) {
      // When a period has passed and the buffers look the same, so does every further one while the source has flits.
      const u64 one = s.one;
      const u64 two = s.two;
      const u32 left = s.left;
      const bool skips = left > 1 && period <= kLongestPeriod;
      const Tick pause = skips ? std::min<Tick>(to, s.at + period) : to;
      while (s.at < pause) {
        const u32 tail = s.tail;
        step(s, turn());
        if (s.tail != tail && s.at != to) late_ = true;
      }
      if (s.one != one || s.two != two || s.left == left || s.left == 0 || !skips || s.at == to) continue;
      const u32 sent = left - s.left;
      const Tick periods = std::min<Tick>((s.left - 1) / sent, (to - s.at) / period);
      s.left -= sent * static_cast<u32>(periods);
      s.at += periods * period;
    }
  }

  // --- demand ---
  void join(u32 circuit, Tick now) noexcept;
  void part(u32 circuit, u32 stage, Tick now) noexcept;
  void couple(u32 circuit) noexcept {
    if (streams_[circuit].contended++ == 0) coupled_.push_back(circuit);
  }
  void uncouple(u32 circuit) noexcept {
    if (--streams_[circuit].contended != 0) return;
    coupled_.erase(std::find(coupled_.begin(), coupled_.end(), circuit));
    touch(circuit);
  }
  /// The stage of a circuit's path that uses a channel.
  [[nodiscard]] u32 stage_at(u32 circuit, u32 channel) const noexcept {
    u32 j = streams_[circuit].released;
    while (channel_of(circuit, j) != channel) ++j;
    return j;
  }
  /// Flits that have crossed a stage.
  [[nodiscard]] u32 crossed(u32 circuit, u32 stage) const noexcept {
    const Stream& s = streams_[circuit];
    const u64 before = below_bit(stage);
    return s.flits - s.left - static_cast<u32>(std::popcount(s.one & before) + std::popcount(s.two & before));
  }

  Sharing sharing_;
  u32 vcs_;
  u32 counted_;
  std::vector<Channel> channels_;
  std::vector<u32> owner_;       ///< [channel * vcs + vc]: circuit, while it is reserved
  std::vector<u8> stage_;        ///< likewise: of its path
  std::vector<Stream> streams_;  ///< [circuit]
  std::vector<u32> path_;        ///< [circuit * kMostStages + stage]: channel * kMostVcs + vc
  std::vector<u32> touched_;     ///< circuits
  std::vector<u32> coupled_;     ///< demand: circuits that share a channel with another stream
  std::vector<u32> crowded_;     ///< demand: channels that are wanted in this cycle
  std::vector<u64> masks_ = std::vector<u64>(kMostVcs * (kMostVcs + 1) / 2);  ///< rings of turns by their size
  u64 moved_ = 0;
  u64 busy_ = 0;
  u64 squares_ = 0;
  bool late_ = false;
};

/// The time that the channels of a path take at the least for the flits before the tail, when no more than two circuits
/// share one: the maximum over the channels that next_look() asks for. From channel to channel the flits that have to
/// pass become fewer, or stay as many as before. Hence only the first channel counts of those that nobody shares, and
/// of those that are shared the first one, and one after it that has as many flits to pass and the later turn.
inline u32 CircuitStreams::pairs_delay(const Stream& s) noexcept {
  u32 most = s.left - 1;
  const u64 now = s.turn[s.at & 1U];
  u64 shared = ~(s.turn[0] & s.turn[1]) & (~u64{0} >> (64U - s.stages));
  u32 first = 0;  // flits that pass the first shared channel
  for (; shared != 0; shared &= shared - 1) {
    const u32 j = static_cast<u32>(std::countr_zero(shared));
    const u64 before = below_bit(j);
    const u32 waiting = s.left + static_cast<u32>(std::popcount(s.one & before) + std::popcount(s.two & before));
    if (waiting <= 2 * j + 1) break;
    const u32 pass = waiting - 2 * j - 1;
    if (first != 0 && pass != first) break;
    first = pass;
    const u32 wait = (now >> j & 1U) != 0 ? 0 : 1;
    most = std::max(most, wait + 2 * pass);
    if (wait != 0) break;
  }
  return most;
}

inline Tick CircuitStreams::next_look(u32 circuit) noexcept {
  const Stream& s = streams_[circuit];
  if (s.contended != 0) return s.tail > s.released ? s.at : kNever;  // share() moves it
  const bool alone = s.shared == 0 || sharing_ == Sharing::demand;
  if (s.left == 0) {
    // The tail goes on at once when nothing is before it and it has the turn.
    const bool next = ((s.two >> (s.tail - 1) | s.two >> s.tail) & 1U) == 0;
    if (next && (alone || turn_of(circuit, s.tail, s.at).wait == 0)) return s.at + 1;
    Stream copy = s;
    if (s.crowded == 0) {
      while (copy.tail == s.tail) step(copy, copy.turn[copy.at & 1U]);
      return copy.at;
    }
    Turns t = turns(circuit);
    while (copy.tail == s.tail) step(copy, next_turn(t));
    return copy.at;
  }
  // The tail waits at the source until those before it are gone: left - 1 through channel 0, and through channel j all
  // that do not fit into the buffers before it.
  if (alone) return s.at + s.left;
  if (s.crowded == 0) return s.at + pairs_delay(s) + 1;
  Tick earliest = s.at;
  u32 waiting = s.left;
  for (u32 j = 0; j < s.stages && waiting > 2 * j + 1; ++j) {  // a buffer holds two
    const Turn turn = turn_of(circuit, j, s.at);
    earliest = std::max(earliest, s.at + turn.wait + static_cast<Tick>(waiting - 2 * j - 1) * turn.n);
    waiting += static_cast<u32>((s.one >> j & 1U) + (s.two >> j & 1U));
  }
  return earliest + 1;
}

/// Streams that the new one meets are brought up to `now` and move cycle by cycle from here on.
inline void CircuitStreams::join(u32 circuit, Tick now) noexcept {
  for (u32 j = 0; j < streams_[circuit].stages; ++j) {
    const u32 place = path(circuit)[j];
    Channel& channel = channels_[place / kMostVcs];
    if (channel.streaming != 0) {
      if (std::has_single_bit(channel.streaming)) {
        const u32 vc = static_cast<u32>(std::countr_zero(channel.streaming));
        const u32 other = owner(place / kMostVcs, vc);
        if (streams_[other].contended == 0) advance(other, now);
        touch(other);
        if (crossed(other, stage_at(other, place / kMostVcs)) > channel.base) channel.last = vc;
        couple(other);
      }
      couple(circuit);
    } else {
      channel.base = 0;
    }
    channel.streaming |= u64{1} << place % kMostVcs;
  }
}

/// The tail of a stream has crossed one of its channels.
inline void CircuitStreams::part(u32 circuit, u32 stage, Tick now) noexcept {
  static_cast<void>(now);
  const u32 place = path(circuit)[stage];
  Channel& channel = channels_[place / kMostVcs];
  channel.streaming &= ~(u64{1} << place % kMostVcs);
  if (channel.streaming == 0) {
    channel.last = place % kMostVcs;
    return;
  }
  uncouple(circuit);
  if (!std::has_single_bit(channel.streaming)) return;
  const u32 other = owner(place / kMostVcs, static_cast<u32>(std::countr_zero(channel.streaming)));
  channel.base = crossed(other, stage_at(other, place / kMostVcs));
  uncouple(other);
}

template <class Crossed>
void CircuitStreams::share(Tick now, Crossed&& crossed_one) noexcept {
  crowded_.clear();
  for (const u32 circuit : coupled_) {
    Stream& s = streams_[circuit];
    u64 ready = ((s.one << 1U) | (s.left != 0 ? 1U : 0U)) & ~s.two;
    for (; ready != 0; ready &= ready - 1) {
      const u32 place = path(circuit)[std::countr_zero(ready)];
      Channel& channel = channels_[place / kMostVcs];
      if (channel.want == 0) crowded_.push_back(place / kMostVcs);
      channel.want |= u64{1} << place % kMostVcs;
    }
  }
  for (const u32 index : crowded_) {
    Channel& channel = channels_[index];
    const u64 after = channel.want & ~((u64{2} << channel.last) - 1);
    const u64 turn = after != 0 ? after : channel.want;
    channel.last = static_cast<u32>(std::countr_zero(turn));
    channel.want = 0;
  }
  for (const u32 circuit : coupled_) {
    Stream& s = streams_[circuit];
    const u64 ready = ((s.one << 1U) | (s.left != 0 ? 1U : 0U)) & ~s.two;
    u64 turn = 0;
    for (u64 bits = ready; bits != 0; bits &= bits - 1) {
      const u32 j = static_cast<u32>(std::countr_zero(bits));
      const u32 place = path(circuit)[j];
      // Nobody else moved the turn of this channel since: who wanted it and has it now sends.
      if (channels_[place / kMostVcs].last == place % kMostVcs) turn |= u64{1} << j;
    }
    const u32 tail = s.tail;
    const u32 left = s.left;
    s.at = now;
    step(s, turn);
    moved_ += static_cast<u64>(left - s.left) * (s.stages + 1);
    if (s.tail != tail) crossed_one(circuit);
  }
}

}  // namespace banyan::switching::parts
