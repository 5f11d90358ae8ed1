// The clock: runs the shards of a network, skipping ticks in which nothing is due. Shards run for a window at a time
// (the shortest latency between them), on one or several threads; what they send to each other is handed over between
// windows. The result does not depend on the number of shards or threads.
#pragma once

#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/memory_reserve.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/engine/cut.hpp"
#include "banyan/engine/own_metrics.hpp"
#include "banyan/engine/ranks.hpp"
#include "banyan/engine/shard.hpp"
#include "banyan/engine/window_barrier.hpp"

namespace banyan::engine {

/// Sums over all shards.
struct Totals {
  u64 taken = 0;
  u64 taken_flits = 0;
  u64 delivered = 0;
  u64 delivered_flits = 0;
  u64 misdelivered = 0;
  u64 disordered = 0;
  u64 counted_taken = 0;
  u64 counted_delivered = 0;
  u64 movements = 0;
  u64 waiting = 0;  ///< taken, and still at their sources: in models that keep the messages of a terminal
  // What of the first four is control: no part of load and latency.
  u64 control_taken = 0;
  u64 control_taken_flits = 0;
  u64 control_delivered = 0;
  u64 control_delivered_flits = 0;

  /// Without control, as it is reported.
  [[nodiscard]] Totals of_load() const noexcept {
    Totals load = *this;
    load.taken -= control_taken;
    load.taken_flits -= control_taken_flits;
    load.delivered -= control_delivered;
    load.delivered_flits -= control_delivered_flits;
    load.control_taken = load.control_taken_flits = load.control_delivered = load.control_delivered_flits = 0;
    return load;
  }

  Totals& operator+=(const Totals& other) noexcept {
    taken += other.taken;
    taken_flits += other.taken_flits;
    delivered += other.delivered;
    delivered_flits += other.delivered_flits;
    misdelivered += other.misdelivered;
    disordered += other.disordered;
    counted_taken += other.counted_taken;
    counted_delivered += other.counted_delivered;
    movements += other.movements;
    waiting += other.waiting;
    control_taken += other.control_taken;
    control_taken_flits += other.control_taken_flits;
    control_delivered += other.control_delivered;
    control_delivered_flits += other.control_delivered_flits;
    return *this;
  }
};

/// Where the time of a machine's threads went, from watch() on; of all ranks.
struct Scaling {
  Cut cut;
  Tick window = 1;  ///< ticks, at most
  u64 windows = 0;  ///< that were run
  u64 mails = 0;    ///< flits, control words and freed records that went from shard to shard
  struct Worker {
    double work = 0.0;  ///< seconds in shards
    double mail = 0.0;  ///< seconds in which it took in what other shards sent
    double wait = 0.0;  ///< seconds at barriers: the others had more to do, or had no core
    bool operator==(const Worker&) const = default;
  };
  std::vector<Worker> workers;  ///< [thread]; of one rank after those of another
  /// Sum over windows of the most time that a thread had to work, over the mean: what windows would take without any
  /// waiting for memory or barriers. Of one thread it says that of its shards, as if each had a thread. 0: not known,
  /// of several ranks, none of which knows how long the others worked in a window.
  double longest = 1.0;
};

class Machine {
 public:
  /// `window`: shortest latency, in ticks, of any channel between two shards. `threads`: at most as many as own shards
  /// are used. `ranks`: the processes that share the network; each has its shards (Shard::guests of the others'), and
  /// calls the functions below in the same order with the same arguments, for they meet in them. What is asked for is
  /// that of the whole network. nullptr: this process has all of it.
  Machine(std::vector<Shard> shards, std::span<core::Traffic* const> traffics, Tick window, u32 threads = 1,
          Ranks* ranks = nullptr);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Starts a replication: empty network, tick 0.
  void reset(u32 replication);

  /// Runs the next tick at which something is due, and returns it; kNever when nothing will ever happen.
  Tick step() {
    const Tick now = next_;
    if (now == kNever) return kNever;
    if (shards_.size() == 1) {
      require_room(0, 1);
      const u64 before = live(0);
      next_ = shards_.front().run(now);
      note_growth(0, before);
    } else {
      run_until(now + 1);
    }
    return now;
  }
  /// Runs all ticks before `end`. Throws ConfigError where the packets of a shard would not fit, std::bad_alloc where
  /// memory has run out, as step() does; of several shards, which may have stopped at different ticks then, every
  /// further call throws the same until reset().
  void run_until(Tick end);
  /// The next tick at which something is due.
  [[nodiscard]] Tick next() const noexcept { return next_; }

  /// Between ticks: generates a message of an answering traffic, born at a tick that is not done yet. All ranks call
  /// it, whosever the terminal is.
  void post(u32 traffic, u32 terminal, const core::Message& message);

  void set_window(Window window);
  void close(u32 traffic, Tick at);
  void finish_records();
  /// What was recorded up to the end of the plan. `waiting`: with the messages that wait at their sources.
  [[nodiscard]] SteadyRecord record(const SteadyPlan& plan, bool waiting = true) const;
  /// The part of that which costs little, whatever the number of terminals.
  [[nodiscard]] SteadyProgress progress(const SteadyPlan& plan) const;
  /// Goes on recording, up to a later end.
  void extend(const SteadyPlan& longer);
  /// A state that was read goes on at tick `from`, in a machine that may have been built with other values of
  /// parameters that may change in flight.
  void goes_on(Tick from);

  [[nodiscard]] Totals totals() const;
  /// Where a disturbance ends with its last arrival, and all have come: tells the records, which keep less from then
  /// on.
  void close_disturbance();
  /// Flits that the network took from every terminal that generates any, in the measured part of a steady run;
  /// ascending.
  [[nodiscard]] std::vector<u64> accepted_of_sources() const;
  /// What the switches and links did since reset; nothing when a switch model does not count that.
  [[nodiscard]] std::optional<Activity> activity() const;
  /// What the switch models measured themselves since reset, over all shards.
  [[nodiscard]] OwnMetrics own_metrics() const;
  /// What the probes wrote down since reset.
  [[nodiscard]] ProbeReport probed() const;
  /// What the probes saw of packets since the last time (ProbePlan::every_packet).
  [[nodiscard]] PacketSteps take_steps() const;
  /// What switches marked since the last time (ProbePlan::marks).
  [[nodiscard]] std::vector<MarkLog::Entry> take_marks() const;
  [[nodiscard]] std::vector<LatencySums> tallies() const;
  [[nodiscard]] u64 finite_delivered(u32 traffic) const;
  [[nodiscard]] Tick finite_latest(u32 traffic) const;
  /// Birth of the earliest message of a traffic that has not left its source.
  [[nodiscard]] Tick first_birth(u32 traffic) const;
  [[nodiscard]] bool sources_past_window() const;
  /// Birth of the earliest message from a tick on; kNever where there is none, or what arrives decides.
  [[nodiscard]] Tick next_birth_after(Tick now) const;
  /// Channels at whose end there is no room.
  [[nodiscard]] std::vector<u32> full_channels() const;
  /// Packets in the switches of each level of a graph that has so many.
  [[nodiscard]] std::vector<u64> occupancy(u32 levels) const;
  /// Messages that were born in each tick of a session (EngineSettings::generation_series), by tally_class.
  [[nodiscard]] std::vector<u32> generated(u32 tally) const;
  [[nodiscard]] std::span<core::Traffic* const> traffics() const noexcept { return traffics_; }
  /// The shards that this process steps.
  [[nodiscard]] std::span<const Shard> shards() const noexcept { return {shards_.data() + first_, own_}; }
  [[nodiscard]] std::span<Shard> shards() noexcept { return {shards_.data() + first_, own_}; }

  /// The cut that was made, for scaling().
  void note_cut(Cut cut) { cut_ = std::move(cut); }
  [[nodiscard]] const Cut& cut() const noexcept { return cut_; }
  /// From now on clocks are read, two or three times per shard and window; only where there are several shards.
  void watch() noexcept { watched_ = shards_.size() > 1; }
  [[nodiscard]] Scaling scaling() const;
  [[nodiscard]] u32 threads() const noexcept { return threads_; }

  /// All state between two calls of run_until, of a machine that was reset for the same replication.
  void archive(Archive& a);

  [[nodiscard]] u64 hash() const;
  /// Checks conservation: taken = delivered + held, no misdelivery, what the populations find. Returns the packets that
  /// it looked at. Throws InvariantError.
  u64 audit() const;
  /// CPU time of the threads beside the caller's, up to the end of the last run_until.
  [[nodiscard]] double helper_cpu_seconds() const noexcept;
  /// True when nothing will ever happen any more, but for steps that run.wake asks for. `now`: done.
  [[nodiscard]] bool asleep(Tick now) const;
  /// True when something will happen that depends on nobody: what is on its way over a channel arrives, a transfer
  /// ends, a timer runs out.
  [[nodiscard]] bool expects(Tick now) const;
  /// Ticks for which packets that get on may not move although expects() is false, at the most.
  [[nodiscard]] Tick longest_silence() const;
  /// Who waits for what in the whole network (between ticks).
  void blocked_on(BlockedView& into) const;
  /// Explains why nothing moves.
  [[nodiscard]] std::string explain_blockage() const;

 private:
  [[nodiscard]] u64 live(std::size_t shard) const noexcept { return shards_[shard].terminals->pool().live(); }
  /// Before a shard runs `ticks` ticks at most: throws where twice as many packets as it has ever made in one go would
  /// not fit, or where memory has run out. What simulates cannot throw.
  void require_room(std::size_t shard, Tick ticks) {
    Growth& growth = growth_[shard];
    if (ticks > growth.ticks) [[unlikely]]
      growth = {growth.packets * ((ticks + growth.ticks - 1) / growth.ticks), ticks};
    shards_[shard].terminals->pool().require_room(2 * growth.packets);
    MemoryReserve::require();
  }
  /// The shard had so many packets before it ran.
  void note_growth(std::size_t shard, u64 before) {
    const u64 now = live(shard);
    if (now > before) growth_[shard].packets = std::max(growth_[shard].packets, now - before);
  }

  /// The sum over all ranks of what this one adds up.
  template <class T, class Add>
  [[nodiscard]] T over_ranks(T mine, Add&& add) const {
    if (ranks_ == nullptr) return mine;
    return ranks_->sum(std::move(mine), std::forward<Add>(add));
  }
  void exchange_borders() const;
  void audit_flows(Holdings& held, const Totals& sum) const;
  void audit_copies(Holdings& held) const;
  [[nodiscard]] bool expects_here(Tick now) const;
  void run_windows(u32 worker);
  void run_shard(std::size_t index, Tick begin, Tick end, u32 parity, u32 worker);
  /// Whether a window is a wave that all shards make together.
  [[nodiscard]] bool is_wave(Tick begin, Tick end) const noexcept { return together_ && end - begin == kMostWaveTicks; }
  void run_shards(std::size_t first, std::size_t last, Tick begin, Tick end, u32 parity, u32 worker);
  void note_failure(std::size_t shard, u32 parity);
  void take_parcels(std::size_t index, u32 parity, u32 worker);
  void meet(u32 worker);
  void note_turns(u32 parity);
  [[nodiscard]] bool meet_ranks(u32 parity, u32 worker);
  void exchange_parcels(u32 parity);
  [[nodiscard]] Guests* guests_of(const Shard& shard, core::PacketId id);
  void pack(const Shard& from, u32 to, Parcel& parcel, std::string& text);
  void unpack(u32 rank, u32 parity);
  void helper(u32 worker);
  void dismiss_helpers();

  MemoryReserve reserve_;
  std::vector<Shard> shards_;  ///< of the whole network
  Ranks* ranks_;
  std::size_t first_ = 0;  ///< own shard
  std::size_t own_;        ///< how many there are
  bool forgets_ = false;   ///< nobody looks at packets that have left
  std::span<core::Traffic* const> traffics_;
  Tick window_;
  u32 threads_ = 1;
  Tick next_ = 0;
  /// How many more packets a shard had after it ran, at most.
  struct Growth {
    u64 packets = 0;
    Tick ticks = 1;  ///< it ran so many in one go, at most
  };
  std::vector<Growth> growth_;  ///< [shard]

  // Shared by the threads of run_until. `published_[parity][shard]` is written before the barrier that ends a window
  // and read after it; the other parity is written meanwhile.
  std::array<std::vector<Tick>, 2> published_;
  struct Place {
    u32 shard = kNone;  ///< kNone: of another rank
    u32 queue = 0;      ///< the first of the terminal
  };
  std::vector<Place> places_;  ///< [terminal]; made by the first post()
  Tick end_ = 0;
  u32 parity_ = 0;
  bool quit_ = false;
  bool broken_ = false;  ///< another rank has failed: nothing runs any more
  /// [parity]: a shard of this process could not go on; written and read as published_ is.
  std::array<std::atomic<bool>, 2> failed_{};
  std::mutex failure_mutex_;
  std::size_t failed_shard_ = 0;  ///< the first of them, with what it threw; until the next reset nothing runs
  std::exception_ptr failure_;
  std::unique_ptr<WindowBarrier> barrier_;
  bool together_ = false;  ///< shards make waves together: each has borders, and a thread
  Patience patience_;
  std::vector<std::thread> helpers_;
  std::vector<double> helper_cpu_seconds_;  ///< [worker]
  /// A line of the cache each, for every window writes it.
  struct alignas(64) Watch {
    Scaling::Worker seconds;
    u64 mails = 0;
    u64 windows = 0;
  };
  Cut cut_;
  bool watched_ = false;
  std::vector<Watch> watches_;  ///< [worker]
  /// Seconds of each shard in the last window of that parity, written and read as published_ is; their sum.
  std::array<std::vector<double>, 2> turns_;  ///< [parity][shard]
  double longest_turns_ = 0.0;
  double all_turns_ = 0.0;
};

}  // namespace banyan::engine
