// A job on hosts of the physical rules, event by event, over whatever carries its messages: the ideal network inside,
// or a simulated one in somebody else's loop.
#pragma once

#include <memory>

#include "banyan/workload/replay.hpp"

namespace banyan::workload {

/// A message on its way between two ranks: what its arrival means to the replay.
struct Parcel {
  Place send;  ///< the operation to which it belongs
  u8 kind = 0;
  u32 repeat = 0;  ///< of the rank that sends, from 0
  u64 sent = 0;    ///< when it went onto the wire
};

/// Takes messages from one rank to another.
class Carrier {
 public:
  Carrier() = default;
  virtual ~Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  /// Rank `from` puts a message on the wire at `at`. PhysicalReplay::deliver() is called when its last byte has
  /// arrived.
  virtual void carry(u32 from, u32 to, u64 bytes, u64 at, const Parcel& parcel) = 0;
  /// True when the two ranks share a terminal: their messages take no wire, and carry() is not called for them.
  [[nodiscard]] virtual bool together(u32 a, u32 b) const = 0;
};

/// The events of one job in their order: time, then rank, then the order of coming into being.
class PhysicalReplay {
 public:
  /// `wire`: what `carrier` does at best, of which only the time per byte counts. All must outlive this.
  PhysicalReplay(const Program& program, const Host& host, const IdealWire& wire, const ReplayOptions& options,
                 Carrier& carrier);
  ~PhysicalReplay();
  PhysicalReplay(const PhysicalReplay&) = delete;
  PhysicalReplay& operator=(const PhysicalReplay&) = delete;

  /// When the next event is due; ~0: none is.
  [[nodiscard]] u64 next() const noexcept;
  /// Takes the next event; there must be one.
  void advance();
  /// Whether a parcel is the message itself, not the question whether it may come or the answer to that.
  [[nodiscard]] static bool is_message(const Parcel& parcel) noexcept;
  /// The last byte of a message is there at `at`.
  void deliver(const Parcel& parcel, u64 at);
  /// No message is put on the wire less than so long after the event that leads to it: the overhead of the host, but
  /// for the answers to messages that ask first.
  [[nodiscard]] u64 lookahead() const noexcept;
  /// Operations that have ended.
  [[nodiscard]] u64 operations() const noexcept;
  /// What the run has shown, when nothing is due and nothing on its way.
  [[nodiscard]] JobOutcome finish();
  void archive(Archive& a);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace banyan::workload
