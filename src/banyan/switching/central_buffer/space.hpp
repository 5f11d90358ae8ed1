// Who may take space in the central buffers of switches, so that worms do not wedge
// (docs/switching/central_buffer.md, "Points that the paper leaves open").
//
// Every chunk is charged to an account until all outputs have read it. Where space is guaranteed, a packet for several
// outputs is charged as a whole when it is admitted, and its chunks never wait for space. A packet for one output is
// charged chunk by chunk. Under the guarded rules such packets leave space for replicated ones, and those that also go
// up leave space for those that only go down: down is where packets always find their way out.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/switching/central_buffer/settings.hpp"

namespace banyan::switching::central_buffer {

class Space {
 public:
  /// Packets for one output, replicated packets that only go down, those that also go up, chunks that are held back for
  /// an output, and sums of reductions, whose space is set apart and not counted here.
  enum Account : u8 { kSingle, kReplicated, kUpward, kHeld, kSummed };
  /// What is in use at a switch.
  struct Used {
    u64 held = 0;    ///< outputs whose held-back chunk is in use
    u32 shared = 0;  ///< chunks used or reserved, but for those held back
    u32 single = 0;  ///< of these: by packets for one output
    u32 upward = 0;  ///< of these: by replicated packets that also go up
  };
  /// A header that asks for space. Headers are ordered by the cycle from which on they can be written.
  struct Header {
    Tick since = kNever;
    u32 input = kNone;
    bool only_down = false;  ///< its packet is replicated and does not go up

    bool operator==(const Header&) const = default;
    bool operator<(const Header& other) const noexcept {
      return since != other.since ? since < other.since : input < other.input;
    }
  };

  Space(const BufferSettings& settings, u32 switches, u32 ports)
      : rules_(settings.rules), used_(switches), short_(switches) {
    const bool guarded = rules_ == Rules::guarded;
    most_shared_ = settings.chunks - settings.sums - (guarded ? ports : 0);
    most_upward_ = most_shared_ - (guarded && settings.admits_upward ? settings.reserve : 0);
    most_single_ = most_upward_ - (guarded ? settings.reserve : 0);
  }

  void clear() {
    std::fill(used_.begin(), used_.end(), Used{});
    std::fill(short_.begin(), short_.end(), Short{});
  }
  void archive(Archive& a) { a(used_, short_); }
  [[nodiscard]] const Used& used(u32 s) const noexcept { return used_[s]; }

  // --- packets for one output ------------------------------------------------------------------------------------
  /// Whether they find space in the part of the buffer that all outputs share.
  [[nodiscard]] bool has_single(u32 s) const noexcept {
    const Used& used = used_[s];
    return used.single < most_single_ && used.single + used.upward < most_upward_ && used.shared < most_shared_;
  }
  /// Takes a chunk of that part, or else the one that is held back for the output.
  [[nodiscard]] bool take_single(u32 s, u32 o, bool starving, u8& account) noexcept {
    if (!has_single(s)) return take_held(s, o, starving, account);
    ++used_[s].shared;
    ++used_[s].single;
    account = kSingle;
    return true;
  }
  /// Takes the chunk that is held back for what an output starves for.
  [[nodiscard]] bool take_held(u32 s, u32 o, bool starving, u8& account) noexcept {
    const u64 bit = u64{1} << o;
    if (rules_ != Rules::guarded || !starving || (used_[s].held & bit) != 0) return false;
    used_[s].held |= bit;
    account = kHeld;
    return true;
  }

  // --- replicated packets ----------------------------------------------------------------------------------------
  /// True when a replicated header that came earlier is short of space. One that also goes up does not stop those that
  /// only go down: they would wait for each other.
  [[nodiscard]] bool stopped(u32 s, const Header& header) const noexcept {
    return short_[s][0] < header || (!header.only_down && short_[s][1] < header);
  }
  /// Whether it is this header that stops others.
  [[nodiscard]] bool is_short(u32 s, const Header& header) const noexcept {
    return short_[s][header.only_down ? 0 : 1] == header;
  }
  /// Takes space for copies of a header and, where it is guaranteed, for the rest of the packet.
  [[nodiscard]] bool admit(u32 s, const Header& header, u32 copies, u32 rest, u8& account) noexcept {
    if (stopped(s, header)) return false;
    account = header.only_down ? kReplicated : kUpward;
    Header& first_short = short_[s][header.only_down ? 0 : 1];
    const bool admitted = take(s, account, copies + (rules_ == Rules::none ? 0 : rest));
    if (!admitted) {
      first_short = header;
    } else if (first_short == header) {
      first_short = {};
    }
    return admitted;
  }
  /// Takes space for a further chunk of a packet that was admitted, unless it has that already.
  [[nodiscard]] bool take_next(u32 s, u8 account) noexcept { return rules_ != Rules::none || take(s, account, 1); }

  /// A chunk was read for the last time, by output `o`.
  void give_back(u32 s, u8 account, u32 o) noexcept {
    Used& used = used_[s];
    if (account == kHeld) {
      used.held &= ~(u64{1} << o);
      return;
    }
    --used.shared;
    used.single -= account == kSingle ? 1U : 0U;
    used.upward -= account == kUpward ? 1U : 0U;
  }

 private:
  /// The oldest headers that are short of space: of those that only go down, and of the others.
  using Short = std::array<Header, 2>;

  [[nodiscard]] bool take(u32 s, u8 account, u32 chunks) noexcept {
    Used& used = used_[s];
    if (used.shared + chunks > most_shared_) return false;
    if (account == kUpward && used.single + used.upward + chunks > most_upward_) return false;
    used.shared += chunks;
    used.upward += account == kUpward ? chunks : 0;
    return true;
  }

  Rules rules_;
  u32 most_shared_;  ///< chunks beside those that are held back and those of sums
  u32 most_upward_;  ///< of these: for packets with one output and those that also go up
  u32 most_single_;  ///< of these: for packets with one output
  std::vector<Used> used_;
  std::vector<Short> short_;
};

}  // namespace banyan::switching::central_buffer
