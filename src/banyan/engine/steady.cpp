#include "banyan/engine/steady.hpp"

#include <fmt/format.h>

#include "banyan/engine/progress_watch.hpp"

namespace banyan::engine {
namespace {

constexpr Tick kAuditPeriod = 64;
constexpr Tick kAskPeriod = 1024;  ///< ticks between questions to keep_going

/// True when the run is over at `now`; sets how.
bool over(Machine& machine, const SteadyPlan& plan, const SteadySettings& settings, Tick now, SteadyOutcome& out) {
  if (now + 1 < plan.end) return false;
  const Totals sum = machine.totals();
  if (sum.counted_taken == sum.counted_delivered && machine.sources_past_window()) return true;
  if (now < plan.end + settings.drain) return false;
  out.end = SteadyOutcome::End::not_drained;
  out.explanation = fmt::format("{} counted packets were still in the network {} ticks after the last was generated",
                                sum.counted_taken - sum.counted_delivered, settings.drain);
  return true;
}

}  // namespace

SteadyOutcome run_steady(Machine& machine, const SteadyPlan& plan, const SteadySettings& settings) {
  SteadyOutcome out(plan);
  ProgressWatch watch(settings.watchdog);
  machine.reset(0);
  machine.set_window({0, plan.end - 1});
  Tick next_question = kAskPeriod;
  Tick next_audit = kAuditPeriod;
  for (;;) {
    const Tick now = machine.step();
    if (now == kNever) break;
    out.ticks = now + 1;
    if (over(machine, plan, settings, now, out)) break;
    if (watch.stuck(machine, now)) {
      out.end = SteadyOutcome::End::deadlocked;
      out.explanation = machine.explain_blockage();
      break;
    }
    if (settings.full_audit && now >= next_audit) {
      machine.audit();
      next_audit = now + kAuditPeriod;
    }
    if (now >= next_question) {
      next_question = now + kAskPeriod;
      if (settings.keep_going && !settings.keep_going(now)) {
        out.end = SteadyOutcome::End::interrupted;
        return out;
      }
    }
  }
  machine.audit();
  machine.finish_records();
  for (const Shard& shard : machine.shards()) out.record.merge(shard.terminals->record());
  out.tallies = machine.tallies();
  out.totals = machine.totals();
  Hasher h;
  h.add(machine.hash());
  h.add(out.ticks);
  out.record.hash(h);
  out.hash = h.value();
  return out;
}

}  // namespace banyan::engine
