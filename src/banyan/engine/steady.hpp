// A steady run: from an empty network, everything recorded from tick 0 in windows; the warm-up is cut afterwards.
// Packets generated before the end count; the run goes on until they are delivered, so that long latencies are not
// missed, or until the drain limit. A run of fixed length ends with the plan, whatever is still on its way.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "banyan/engine/checkpoints.hpp"
#include "banyan/engine/machine.hpp"
#include "banyan/engine/packet_log.hpp"
#include "banyan/engine/run_keeper.hpp"
#include "banyan/engine/steady_record.hpp"
#include "banyan/engine/tree_recorder.hpp"

namespace banyan::engine {

struct SteadySettings {
  Tick drain = 20'000;     ///< ticks after the end in which counted packets may still arrive
  Tick watchdog = 10'000;  ///< ticks without movement that count as a deadlock; 0: never
  bool full_audit = false;
  bool fixed = false;                    ///< ends at the end of the plan
  TreeRecorder* trees = nullptr;         ///< samples the run; nullptr: nobody does
  PacketLog* log = nullptr;              ///< hears of every packet; nullptr: nobody does
  std::function<bool(Tick)> keep_going;  ///< asked now and then; false: stop (interrupted). May be empty.
  /// Asked at the end of the plan with what was recorded so far (the latest packets have not arrived yet): a plan with
  /// a later end and windows at least as long, or nothing. May be empty.
  std::function<std::optional<SteadyPlan>(const SteadyRecord&)> longer;
  /// Asked before the end of the plan, at fixed ticks after `enough_every` of them, with what was recorded before
  /// `now`: true ends the plan. May be empty.
  std::function<bool(const SteadyProgress&, Tick now)> enough;
  Tick enough_every = 0;
  /// Asked at the end of each window of the plan, with what was recorded before `now`: true ends the plan there. May be
  /// empty; then the ends of windows cost nothing.
  std::function<bool(const SteadyProgress&, Tick now)> at_window;
  /// The run stops there, as if interrupted, and its state is written to `state`. 0: it does not.
  Tick stop = 0;
  std::string* state = nullptr;
  /// Such a state, of a machine whose plan was the same or shorter, that the run goes on from; nullptr: it begins anew.
  const std::string* start = nullptr;
  RunKeeper* keeper = nullptr;  ///< writes checkpoints, or has one to go on from; nullptr: nobody asked for them
};

struct SteadyOutcome {
  enum class End { drained, not_drained, deadlocked, interrupted };
  End end = End::drained;
  bool sources_empty = true;  ///< not_drained: nothing that counts waited at its source any more
  std::string explanation;
  SteadyRecord record;
  std::vector<LatencySums> tallies;
  Totals totals;  ///< of_load
  std::vector<Checkpoints::Entry> checkpoints;
  Tick ticks = 0;
  Tick counted = 0;  ///< end of the measured window: what the probes counted is before it
  ProbeReport probed;
  std::optional<Activity> activity;
  OwnMetrics own;
  std::vector<u64> accepted_of_sources;  ///< flits taken from each source between warm-up and `counted`, ascending
  u64 hash = 0;

  explicit SteadyOutcome(const SteadyPlan& plan) : record(plan) {}

  void archive(Archive& a) {
    a(end, sources_empty, explanation, record, tallies, totals, checkpoints, ticks, counted, probed, activity, own);
    a(accepted_of_sources, hash);
  }
};

/// The outcome's record has the plan of the whole run. Throws InvariantError.
[[nodiscard]] SteadyOutcome run_steady(Machine& machine, SteadyPlan plan, const SteadySettings& settings);

}  // namespace banyan::engine
