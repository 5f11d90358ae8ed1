// A network in somebody else's loop: a processor model, a controller, a learner. The caller says what is sent and how
// far time goes, and is told what has arrived; the traffics of the experiment run beside it.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/api/profile.hpp"
#include "banyan/engine/packet_log.hpp"
#include "banyan/engine/probe.hpp"

namespace banyan::api {

/// The last cycle that a network that is stepped comes to, and the most at a time: as far as a signed number counts.
inline constexpr Tick kLastCycle = std::numeric_limits<i64>::max();

/// A message of the caller that has arrived.
struct Delivery {
  u64 id = 0;  ///< what inject() returned
  u32 source = 0;
  u32 destination = 0;
  u32 flits = 0;
  Tick injected = 0;
  Tick delivered = 0;  ///< arrival of its last flit
};

/// Sums over all traffics since the begin.
struct NetworkCounts {
  u64 packets_taken = 0;  ///< that left their sources
  u64 packets_delivered = 0;
  u64 flits_taken = 0;
  u64 flits_delivered = 0;
};

/// An experiment with the traffic "injected", one or several of them, one cycle after the other. Parameters of its run
/// are the seed, shards and the engine's modes. Results are the same for any number of threads.
class SteppedNetwork {
 public:
  /// Throws ConfigError, also when the experiment has no traffic "injected".
  /// `threads`: no more than cores, nor than pay for so many switches; 0: as many as cores are free.
  /// `probe`: what to write down beside. `ranks`: the processes that share the network, of which each calls all
  /// functions below in the same order with the same arguments, and is told the same; nullptr: this one has all of it.
  explicit SteppedNetwork(const Experiment& experiment, u32 threads = 1, const engine::ProbePlan& probe = {},
                          engine::Ranks* ranks = nullptr);
  ~SteppedNetwork();
  SteppedNetwork(const SteppedNetwork&) = delete;
  SteppedNetwork& operator=(const SteppedNetwork&) = delete;
  SteppedNetwork(SteppedNetwork&&) noexcept;
  SteppedNetwork& operator=(SteppedNetwork&&) noexcept;

  /// Begins again at cycle 0 with an empty network. `replication`: other randomness of the same seed.
  void reset(u32 replication = 0);

  /// Generates a message at `source` in the next cycle, or in the later one `at`; returns its number, which counts from
  /// 0. Messages of one source and one cycle leave in the order of injection. Throws ConfigError when a terminal does
  /// not exist, when the message is longer than the traffic says, or when `at` has passed or is above kLastCycle.
  /// `door`: of which of the traffics "injected", in their order; they may differ in priority. A message into one with
  /// `members` is a member's contribution to a reduction in the network, and arrives as the sum of those of all.
  u64 inject(u32 source, u32 destination, u32 flits = 1, Tick at = 0, u32 door = 0);
  /// Packet::message of the packets of a message, by what inject() returned; of contributions to reductions another.
  [[nodiscard]] static u32 tag_of(u64 id) noexcept { return static_cast<u32>(id); }
  /// Throws what inject() would throw, and injects nothing.
  void check(u32 source, u32 destination, u32 flits = 1, Tick at = 0, u32 door = 0) const;

  /// Simulates so many cycles; those in which nothing happens cost nothing. Throws InvariantError, and ConfigError
  /// where there are no so many cycles up to kLastCycle.
  void step(Tick cycles = 1);
  /// Simulates until a message of the caller arrives, or so many cycles at most; true: one has. Costs nothing for
  /// cycles in which nothing happens. `ahead`: may go on for so many cycles behind one in which something happens,
  /// for the caller answers an arrival no sooner; several cycles at once take less time.
  bool step_to_delivery(Tick most, Tick ahead = 0);

  /// Messages of the caller that arrived in the last step, by time, destination and number.
  [[nodiscard]] std::span<const Delivery> delivered() const noexcept;

  /// Cycles that are done.
  [[nodiscard]] Tick now() const noexcept;
  /// The earliest cycle in which something can happen; before now() where that is not known.
  [[nodiscard]] Tick next() const noexcept;
  [[nodiscard]] u32 terminals() const noexcept;
  /// Messages of the caller that have not arrived.
  [[nodiscard]] std::size_t in_flight() const noexcept;
  [[nodiscard]] NetworkCounts counts() const;
  /// The hash of the state, as a run computes it at its checkpoints.
  [[nodiscard]] u64 hash() const;
  /// What the probe has seen.
  [[nodiscard]] engine::ProbeReport probed() const;
  /// From now on `listener` is told of every packet that arrives, in the order of arrivals; for a probe of every
  /// packet.
  void log(engine::PacketLog::Listener listener);
  /// Tells of what has arrived since the listener was told last, then of what has not; the log ends with it.
  void end_log();
  /// From now on the network takes the time of its steps.
  void watch();
  /// Adds those times, the cut into shards, and what was done.
  void add_to(Profile& profile) const;
  /// Why it has fewer threads than were asked for; empty where it has not.
  [[nodiscard]] const std::string& fewer_threads() const noexcept;
  /// CPU time of the threads beside the caller's.
  [[nodiscard]] double helper_cpu_seconds() const noexcept;
  /// All state between two steps whose arrivals the caller has noted, of a network that was built in the same way.
  /// Throws NotArchived.
  void archive(Archive& a);
  /// Conservation of packets, flits and credits. Throws InvariantError.
  void audit() const;
  /// "" unless nothing will ever move again while packets wait for each other: who waits for whom.
  [[nodiscard]] std::string deadlock() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace banyan::api
