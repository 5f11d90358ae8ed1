#include "banyan/engine/steady.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "banyan/engine/full_audits.hpp"
#include "banyan/engine/progress_watch.hpp"

namespace banyan::engine {
namespace {

/// The run is looked at after so many ticks: at fixed ticks, so that it ends at the same one however it is sharded.
constexpr Tick kPeriod = 64;
constexpr Tick kPeriodMeasured = 1024;

/// True when the run is over, all ticks before `now` being done; sets how.
bool over(const Machine& machine, const SteadyPlan& plan, const SteadySettings& settings, Tick now,
          SteadyOutcome& out) {
  if (now < plan.end) return false;
  if (settings.fixed) return true;
  const Totals sum = machine.totals();
  if (sum.counted_taken == sum.counted_delivered && machine.sources_past_window()) return true;
  if (now < plan.end + settings.drain) return false;
  if (settings.watchdog != 0 && machine.asleep(now - 1)) {
    out.end = SteadyOutcome::End::deadlocked;
    out.explanation = machine.explain_blockage();
    return true;
  }
  out.end = SteadyOutcome::End::not_drained;
  out.sources_empty = machine.sources_past_window();
  const u64 inside = sum.counted_taken - sum.counted_delivered;
  std::string left = inside == 0   ? ""
                     : inside == 1 ? "1 counted packet was still in the network"
                                   : fmt::format("{} counted packets were still in the network", inside);
  if (!out.sources_empty)
    left += inside == 0 ? "counted packets had not left their sources" : ", and others at their sources,";
  out.explanation = fmt::format("{} {} ticks after the last was generated (run.drain{})", left, settings.drain,
                                out.sources_empty ? "; more of it is needed where channels are very long" : "");
  return true;
}

/// What looks at a run between its ticks.
struct Observers {
  Checkpoints checkpoints;
  TreeRecorder* trees = nullptr;

  [[nodiscard]] Tick next() const {
    return trees == nullptr ? checkpoints.next() : std::min(checkpoints.next(), trees->next());
  }
};

void run_until(Machine& machine, Tick end, Observers& observers) {
  while (observers.next() <= end) {
    const Tick at = observers.next();
    machine.run_until(at);
    if (at == observers.checkpoints.next()) observers.checkpoints.add(machine.hash());
    if (observers.trees != nullptr && at == observers.trees->next()) observers.trees->observe(machine);
  }
  machine.run_until(end);
}

/// Where checkpoints are written, and in a large network, the clock and whoever waits for the run are looked at more
/// often than the run: many minutes may lie between two looks at that. All ticks before `done` are done. False: the run
/// is to end here.
bool run_in_parts(Machine& machine, Tick& done, Tick end, Observers& observers, const SteadySettings& settings) {
  constexpr u32 kLarge = 4096;  // switches, of which 64 ticks take a millisecond
  const bool large = machine.shards().front().topology->graph().switches() >= kLarge;
  if (settings.keeper == nullptr && !large) return true;
  while (done < end) {
    if (settings.keeper != nullptr && settings.keeper->due()) settings.keeper->save();
    done = std::min(end, done + kPeriod);
    run_until(machine, done, observers);
    if (done < end && settings.keep_going && !settings.keep_going(done)) return false;
  }
  return true;
}

/// Ends the plan at `now`. What is generated from then on does not count, and is not waited for.
void end_plan(Machine& machine, SteadyPlan& plan, const SteadySettings& settings, Tick now) {
  plan.end = now;
  if (!settings.fixed) machine.set_window({0, plan.end - 1});
}

/// Audits and the ends of windows do not change when the run is looked at: they come between, up to `to`. True when a
/// window was the last that is wanted; `to` is then its end, and that of the plan.
bool pause_on_the_way(Machine& machine, SteadyPlan& plan, const SteadySettings& settings, Tick from, Tick& to,
                      Observers& observers, FullAudits& audits) {
  const Tick window = settings.at_window ? plan.series_window : 0;
  Tick audit = audits.wanted() ? from + FullAudits::kPeriod : kNever;
  Tick window_end = window == 0 ? kNever : (from / window + 1) * window;
  for (;;) {
    if (audit >= to) audit = kNever;
    if (window_end > to || window_end >= plan.end) window_end = kNever;
    const Tick now = std::min(audit, window_end);
    if (now == kNever) return false;
    run_until(machine, now, observers);
    if (now == audit) {
      audits.look(machine);
      audit += FullAudits::kPeriod;
    }
    if (now != window_end) continue;
    window_end += window;
    if (!settings.at_window(machine.progress(plan), now)) continue;
    end_plan(machine, plan, settings, now);
    to = now;
    return true;
  }
}

/// At the end of the plan: goes on when more is wanted.
void prolong(Machine& machine, SteadyPlan& plan, const SteadySettings& settings) {
  if (!settings.longer) return;
  const std::optional<SteadyPlan> longer = settings.longer(machine.record(plan));
  if (!longer) return;
  plan = *longer;
  machine.extend(plan);
  machine.set_window({0, plan.end - 1});
}

/// Before the end of the plan: ends it at `now` when enough was seen.
void shorten(Machine& machine, SteadyPlan& plan, const SteadySettings& settings, Tick now) {
  if (!settings.enough || now >= plan.end || now % settings.enough_every >= kPeriodMeasured) return;
  if (settings.enough(machine.progress(plan), now)) end_plan(machine, plan, settings, now);
}

/// The first tick from `from` on at which the run is looked at.
Tick look_from(Tick from, const SteadyPlan& plan) {
  return std::min(plan.end, (from + kPeriodMeasured - 1) / kPeriodMeasured * kPeriodMeasured);
}

}  // namespace

SteadyOutcome run_steady(Machine& machine, SteadyPlan plan, const SteadySettings& settings) {
  SteadyOutcome out(plan);
  Observers observers{Checkpoints(plan.end), settings.trees};
  ProgressWatch watch(settings.watchdog);
  FullAudits audits(settings.full_audit);
  machine.reset(0);
  machine.set_window({0, plan.end - 1});
  Tick now = 0;        // when the run is looked at
  Tick done = 0;       // all ticks before are done
  Tick from = kNever;  // where it goes on from: the look there, if any, is still to come
  const auto warm_state = [&](Archive& a) {
    a(done, observers.checkpoints, watch, audits);
    if (settings.trees != nullptr) a(*settings.trees);
    a(machine);
  };
  if (settings.start != nullptr) {
    ArchiveOfText state(*settings.start);
    warm_state(state);
    machine.goes_on(done);
    machine.extend(plan);
    machine.set_window({0, plan.end - 1});
    from = done;
    now = look_from(done, plan);
  }
  const RunKeeper::Part part(
      settings.keeper, [&](Archive& a) { a(now, done, from, plan, observers.checkpoints, watch, audits, machine); });
  for (;;) {
    if (settings.keeper != nullptr && settings.keeper->due()) settings.keeper->save();
    if (done == now && now != std::exchange(from, kNever))
      now = now < plan.end ? std::min(plan.end, now + kPeriodMeasured) : now + kPeriod;
    Tick until = settings.stop != 0 ? std::min(now, settings.stop) : now;
    const bool pauses = audits.wanted() || settings.at_window;
    const bool ended = pauses && pause_on_the_way(machine, plan, settings, done, until, observers, audits);
    if (ended) now = until;
    if (!pauses && !run_in_parts(machine, done, until, observers, settings)) {
      out.end = SteadyOutcome::End::interrupted;
      return out;
    }
    if (until == settings.stop) {
      run_until(machine, until, observers);
      done = until;
      ArchiveToText state;
      warm_state(state);
      *settings.state = state.take();
      out.end = SteadyOutcome::End::interrupted;
      return out;
    }
    run_until(machine, now, observers);
    done = now;
    out.ticks = now;
    machine.close_disturbance();
    if (settings.log != nullptr) settings.log->look(machine, now);
    // Where others go on from a state, they say whether it is a deadlock.
    if (watch.stuck(machine, now) && settings.stop == 0) {
      out.end = SteadyOutcome::End::deadlocked;
      out.explanation = machine.explain_blockage();
      break;
    }
    if (now == plan.end && !ended) prolong(machine, plan, settings);
    if (now == plan.end && !ended && settings.at_window) settings.at_window(machine.progress(plan), now);
    shorten(machine, plan, settings, now);
    if (over(machine, plan, settings, now, out)) break;
    audits.look(machine);
    if (settings.keep_going && !settings.keep_going(now)) {
      out.end = SteadyOutcome::End::interrupted;
      return out;
    }
  }
  machine.audit();
  machine.finish_records();
  if (settings.log != nullptr) settings.log->finish(machine);
  out.record = machine.record(plan, false);
  out.checkpoints = observers.checkpoints.entries();
  out.tallies = machine.tallies();
  out.totals = machine.totals().of_load();
  out.probed = machine.probed();
  out.activity = machine.activity();
  out.own = machine.own_metrics();
  out.accepted_of_sources = machine.accepted_of_sources();
  out.counted = plan.end;
  Hasher h;
  h.add(machine.hash());
  h.add(out.ticks);
  out.record.hash(h);
  out.own.hash(h);
  out.hash = h.value();
  return out;
}

}  // namespace banyan::engine
