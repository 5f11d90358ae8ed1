// A job that runs alone on the ideal network: the dedicated loop for it (docs/decisions/0007-jobs.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/workload/host.hpp"
#include "banyan/workload/program.hpp"

namespace banyan::workload {

/// An operation on the chain that ended last: it waited for the one before.
struct CriticalStep {
  Place place;
  u64 begin = 0;
  u64 end = 0;
  // For a send: when its message went onto the wire, and when all of it was at the receiver.
  u64 sent = 0;
  u64 arrived = 0;
  u64 resumed = 0;  ///< of a send that asked and then waited for its interface: when it had that; else 0
  u32 repeat = 0;   ///< of its rank, from 0
};

/// Where the time of a rank went, from its start to its end. What several of its cores do at once counts for the first
/// that holds: calculations, overheads, messages on their way to it, nothing of these.
struct RankTimes {
  u64 computing = 0;
  u64 overhead = 0;  ///< of sends and receives (o, O)
  u64 network = 0;   ///< messages are on their way to it
  u64 waiting = 0;   ///< for others
};

/// What a run of a job has shown. Times are those of the run; ranks have all their repeats.
struct JobOutcome {
  std::vector<u64> ends;  ///< [rank], when it was done
  u64 start = 0;
  u64 completion = 0;  ///< when the last rank was done
  u64 operations = 0;  ///< that ended
  u64 messages = 0;
  u64 bytes = 0;
  std::vector<RankTimes> times;  ///< [rank]
  /// Only jobs of at most kMostTraced operations, repeats included, have one.
  std::vector<CriticalStep> critical_path;
  std::string explanation;  ///< why it could not go on; empty: it is done

  void archive(Archive& a) {
    a(ends, start, completion, operations, messages, bytes, times, critical_path, explanation);
  }
};

/// Operations of which a run keeps what each has waited for: 48 bytes of each.
inline constexpr u64 kMostTraced = u64{1} << 22U;

/// Operations that follow each other in a rank's list mostly do so in time too, between those of all other ranks: the
/// one so far behind an operation that is released is fetched ahead. So many fill some cache lines.
inline constexpr u32 kAhead = 8;

/// Who keeps the state of a run in a file now and then.
class ReplayKeeper {
 public:
  ReplayKeeper() = default;
  virtual ~ReplayKeeper() = default;
  ReplayKeeper(const ReplayKeeper&) = delete;
  ReplayKeeper& operator=(const ReplayKeeper&) = delete;

  /// Before the first event. `state` lists all of it, for as long as the run takes; a run that goes on from such a file
  /// reads it here.
  virtual void begin(std::function<void(Archive&)> state) = 0;
  /// Is called between two events, every million operations or so.
  virtual void rest() = 0;
};

/// A message that went onto the wire of a replay without contention.
struct WireMessage {
  Place send;
  u32 to = 0;  ///< rank
  u64 bytes = 0;
  u64 sent = 0;
  u64 arrived = 0;  ///< its last byte is at the other end
};

struct ReplayOptions {
  u64 start = 0;
  u32 repeats = 1;  ///< a rank begins again when all its operations are done
  /// What a rank sends to itself is a contribution to a reduction in the network: it arrives when those of all ranks
  /// do. A rank sends the next one when the one before has arrived.
  bool reduces = false;
  std::function<void(u64 done, u64 total)> progress;  ///< of operations; may be empty
  const bool* interrupted = nullptr;                  ///< polled; true stops with Interrupted
  ReplayKeeper* keeper = nullptr;
  /// Told of every message, at a time `now` that never falls and is not behind `sent`; may be empty.
  std::function<void(u64 now, const WireMessage&)> message;
};

/// The rules of LogGOPSim (HostRules::loggopsim), to the unit of time, with a stable order of equal events.
[[nodiscard]] JobOutcome replay_loggopsim(const Program& program, const Host& host, const IdealWire& wire,
                                          const ReplayOptions& options);

/// The physical rules (HostRules::physical; docs/workload/hosts.md).
[[nodiscard]] JobOutcome replay_physical(const Program& program, const Host& host, const IdealWire& wire,
                                         const ReplayOptions& options);

}  // namespace banyan::workload
