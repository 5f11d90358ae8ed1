#include "banyan/api/measure/steady.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "banyan/api/energy.hpp"
#include "banyan/api/fork.hpp"
#include "banyan/api/measure/disturbance.hpp"
#include "banyan/api/measure/precision.hpp"
#include "banyan/api/measure/steady_windows.hpp"
#include "banyan/api/measure/time_series.hpp"
#include "banyan/api/packet_log_file.hpp"
#include "banyan/api/profiler.hpp"
#include "banyan/api/recorded.hpp"
#include "banyan/api/threads.hpp"
#include "banyan/engine/steady.hpp"
#include "banyan/stats/fairness.hpp"
#include "banyan/stats/interval.hpp"

namespace banyan::api {
namespace {

using engine::SteadyOutcome;
using engine::SteadyRecord;
using stats::SumCount;

/// Windows that a run is recorded in: enough for MSER-5 in groups of five and for 20 batches after any cut.
constexpr Tick kWindows = 1024;

/// What a requested precision is about.
const std::vector<std::string> kPrecise{"packet_latency", "accepted_load"};

/// Cycles that are not measured, of those asked for.
Tick warmup_of(const config::Values& run) { return is_fixed(run) ? 0 : static_cast<Tick>(run.integer("warmup")); }

/// Where nobody says how often trees are sampled, the interval doubles where that would take much of the time of the
/// run, as long as a run of the planned length keeps some samples.
Tick longest_interval(const config::Values& run) {
  constexpr Tick kSamples = 12;
  const i64 cycles = is_fixed(run) ? run.integer("duration") : run.integer("warmup") + run.integer("measure");
  return static_cast<Tick>(cycles) / kSamples;
}

Sources sources_of(const Experiment& experiment, const Network& network) {
  const core::SwitchRow& row = switch_row(experiment);
  return {row.unlimited_queues == nullptr ? u64{network.topology->traffic_terminals()}
                                          : row.unlimited_queues(experiment.switching, network.topology->graph()),
          network.remembers, network.keeps_phase, network.longest_message};
}

/// Flits generated and not delivered at the end of each window.
std::vector<double> inside_of(const SteadyRecord& record) {
  std::vector<double> inside;
  i64 flits = 0;
  for (std::size_t i = 0; i < record.offered.size(); ++i) {
    flits += static_cast<i64>(record.offered[i]) - static_cast<i64>(record.accepted[i]);
    inside.push_back(static_cast<double>(flits));
  }
  return inside;
}

/// How long messages are held back where the recovery of a run is tried. Buffers fill within a few times the time that
/// packets are in the network. A sixteenth of the run is enough for that in most networks, and what a trial costs: it
/// is four times as long at the most, and at half of saturation it ends after a fifteenth of the flits of the run.
Tick held_of(const SteadyOutcome& measured) {
  constexpr Tick kTransits = 4;
  SumCount inside;
  for (const engine::LatencySums& born : measured.record.births) {
    inside.merge({born.latency - born.queueing, born.packets});
  }
  const auto transits = static_cast<Tick>(inside.mean()) * kTransits;
  return std::max<Tick>({measured.counted / 16, std::min(transits, measured.counted / 4), 1});
}

/// Whether the user has interrupted the run, whose last state is kept then.
bool stopped(const RunOptions& options) {
  if (options.interrupted == nullptr || !*options.interrupted) return false;
  if (options.keeper != nullptr) options.keeper->save();
  return true;
}

/// How long messages are held back for a backlog that lies so many times as far above the mean as the run has ever been
/// in its last half.
Tick held_for(double times, const SteadyRecord& record) {
  const std::vector<double> inside = inside_of(record);
  const std::span<const double> settled = std::span(inside).last(inside.size() / 2);
  const std::span<const u64> offered = std::span(record.offered).last(settled.size());
  const u64 flits = std::accumulate(offered.begin(), offered.end(), u64{0});
  if (flits == 0) return 1;
  const double mean = stats::average(settled);
  const double most = *std::max_element(settled.begin(), settled.end());
  const double per_cycle = static_cast<double>(flits) / static_cast<double>(settled.size()) /
                           std::ldexp(1.0, static_cast<int>(record.plan.shift));
  return static_cast<Tick>(std::ceil((mean + times * (most - mean)) / per_cycle));
}

/// How the network goes on when it begins with the backlog of `held` of `length` / 4 cycles (stats::Recovery). As many
/// cycles pass in which buffers fill, and twice as many are looked at. It ends when half of the backlog is gone.
stats::Recovery recovery_from(Tick held, Tick length, const Experiment& experiment, const Network& network,
                              engine::EngineSettings settings, const RunOptions& options, const SteadyOutcome& measured,
                              const stats::VerdictRule& rule, double& helper_cpu_seconds) {
  engine::SteadyPlan plan;
  plan.hold = held;
  plan.end = length;
  plan.shift = static_cast<u32>(std::bit_width(std::max<Tick>(plan.end / kWindows, 1)) - 1);
  settings.steady = plan;
  settings.probe = {};
  const Instance instance = build_instance(experiment, network, settings);

  stats::Recovery recovery;
  recovery.held = held;
  const std::vector<double> usual = inside_of(measured.record);
  recovery.usual = usual.empty() ? 0.0 : *std::max_element(usual.begin(), usual.end());

  engine::SteadySettings steady;
  steady.fixed = true;
  steady.watchdog = 0;
  steady.keeper = options.keeper;
  Tick next = held;
  const engine::RunKeeper::Part part(options.keeper, [&](Archive& a) { a(next, recovery.backlog, recovery.left); });
  steady.keep_going = [&](Tick now) {
    if (stopped(options)) return false;
    if (now < next) return true;
    next = now + length / 16;  // what still waits is counted message by message
    const std::vector<double> inside = inside_of(instance.machine->record(plan));
    recovery.backlog = inside[(held - 1) >> plan.shift];
    recovery.left = inside[(std::min(now, plan.end) - 1) >> plan.shift];
    return !stats::recovers(recovery, rule);
  };
  const SteadyOutcome outcome = engine::run_steady(*instance.machine, plan, steady);
  helper_cpu_seconds += instance.machine->helper_cpu_seconds();
  if (options.interrupted != nullptr && *options.interrupted) throw Interrupted("interrupted");
  if (outcome.end == SteadyOutcome::End::interrupted) return recovery;
  const std::vector<double> inside = inside_of(outcome.record);
  recovery.backlog = inside[(held - 1) >> plan.shift];
  recovery.left = inside.back();
  const auto last = [](const std::vector<u64>& flits) { return std::span<const u64>(flits).last(flits.size() / 2); };
  recovery.growth = stats::growth(last(outcome.record.offered), last(outcome.record.accepted),
                                  sources_of(experiment, network).queues);
  return recovery;
}

/// How it goes on after the backlog of held_of(), and where it does not recover, after a smaller one (Evidence).
struct Recoveries {
  stats::Recovery first;
  std::optional<stats::Recovery> from_less;
};

Recoveries recoveries_of(const Experiment& experiment, const Network& network, const engine::EngineSettings& settings,
                         const RunOptions& options, const SteadyOutcome& measured, const stats::VerdictRule& rule,
                         double times, double& helper_cpu_seconds) {
  const Tick most = held_of(measured);
  const auto begun_with = [&](Tick held) {
    return recovery_from(held, 4 * most, experiment, network, settings, options, measured, rule, helper_cpu_seconds);
  };
  Recoveries recoveries;
  bool tried = false;
  const engine::RunKeeper::Part stage(options.keeper, [&](Archive& a) { a(tried); });
  if (!tried) recoveries.first = begun_with(most);
  tried = true;
  const engine::RunKeeper::Part found(options.keeper, [&](Archive& a) { a(recoveries.first); });
  if (stats::recovers(recoveries.first, rule)) return recoveries;
  const Tick less = held_for(times, measured.record);
  if (less >= most) return recoveries;
  recoveries.from_less = begun_with(less);
  recoveries.from_less->times = times;
  return recoveries;
}

/// Decides whether the run goes on, from integer sums and hence the same for any threads: for a precision, or until its
/// verdict is certain.
class Stopping {
 public:
  Stopping(const config::Values& run, const core::Topology& topology, const Sources& sources)
      : run_(run),
        topology_(topology),
        sources_(sources),
        goal_(precision_goal(run)),
        measure_(static_cast<Tick>(run.integer("measure"))),
        limit_(goal_ ? precision_limit(run, measure_) : extension_limit(run, measure_)) {}

  /// Asked at the end of the plan, before the last packets have arrived.
  std::optional<engine::SteadyPlan> longer(const SteadyRecord& record) {
    return goal_ ? until_precise(record) : until_certain(record);
  }

  /// True when the run has ended, and has to be done again, longer: nothing of what came after the end was recorded.
  /// What had not arrived when it was decided can make intervals wider than asked. And a verdict is first judged when
  /// everything has arrived, as without an extension, so that a run whose verdict is certain at once is the same.
  [[nodiscard]] bool again(const Result& result, bool undecided) {
    if (ended_ || measure_ >= limit_) return false;
    if (!goal_) {
      if (undecided) extend();
      return undecided;
    }
    if (result.verdict != Verdict::steady || !std::isfinite(sources_.remembers + sources_.keeps_phase)) return false;
    const std::optional<double> missing = precision_missing(result, *goal_, kPrecise);
    if (missing == 0.0) return false;
    measure_ = std::min(limit_, stats::next_checkpoint(measure_, missing));
    return true;
  }

  /// The caller has ended the run.
  void end_here() { ended_ = true; }
  [[nodiscard]] bool asks() const { return goal_ || looks_ > 0; }
  /// The rule of the verdict for the present look.
  [[nodiscard]] stats::VerdictRule rule() const { return stats::rule_at(looks_); }
  /// True when more is measured than run.measure, for the verdict.
  [[nodiscard]] bool extended() const { return looks_ > 0; }
  [[nodiscard]] Tick measure() const { return measure_; }
  [[nodiscard]] engine::SteadyPlan plan() const { return steady_plan(run_, measure_); }
  [[nodiscard]] Tick end() const { return plan().end; }
  void archive(Archive& a) { a(measure_, looks_, ended_); }

 private:
  std::optional<engine::SteadyPlan> until_certain(const SteadyRecord& record) {
    if (measure_ >= limit_) return std::nullopt;
    const SteadyWindows windows(record, run_, topology_, sources_);
    stats::Evidence evidence = windows.evidence();
    evidence.widest_latency = "packet_latency";
    evidence.latency_width = windows.settled_latency().interval.relative_half_width();
    const stats::Judgement judgement = stats::judge(evidence, rule());
    if (judgement.certain && (judgement.saturated || windows.latencies_stand())) return std::nullopt;
    extend();
    return plan();
  }

  void extend() {
    measure_ = std::min(limit_, 2 * measure_);
    ++looks_;
  }

  std::optional<engine::SteadyPlan> until_precise(const SteadyRecord& record) {
    const SteadyWindows windows(record, run_, topology_, sources_);
    const stats::Growth growth = windows.growth();
    if (stats::certainly_saturated(windows.evidence()) || !windows.forgets()) return std::nullopt;
    const stats::BatchMeans latency = windows.settled_latency();
    stats::BatchMeans accepted = windows.load(record.accepted, windows.accepted());
    accepted.interval =
        SteadyWindows::accepted_beside(windows.load(record.offered, windows.offered()).interval, accepted.interval);
    const bool precise = stats::reached(latency, *goal_) && stats::reached(accepted, *goal_);
    if (precise && stats::level(growth)) return std::nullopt;
    if (measure_ >= limit_) return std::nullopt;
    const auto remaining =
        std::max(stats::remaining_effort(latency.interval, *goal_), stats::remaining_effort(accepted.interval, *goal_));
    measure_ = std::min(limit_, stats::next_checkpoint(measure_, remaining));
    return plan();
  }

  const config::Values& run_;
  const core::Topology& topology_;
  Sources sources_;
  std::optional<stats::PrecisionGoal> goal_;
  Tick measure_;
  Tick limit_;
  u32 looks_ = 0;  ///< at shorter measurements, by the rule of verdicts
  bool ended_ = false;
};

class SteadyReport {
 public:
  /// `recoveries`: asked when nothing else is against a steady state, with the least burst that is to be recovered from
  /// (stats::burst_times).
  SteadyReport(const Experiment& experiment, const Network& network, const SteadyOutcome& outcome,
               const Stopping& stopping, std::function<Recoveries(double)> recoveries)
      : experiment_(experiment),
        stopping_(stopping),
        recoveries_(std::move(recoveries)),
        run_(experiment.run),
        outcome_(outcome),
        terminals_(network.topology->traffic_terminals()),
        windows_(outcome.record, experiment.run, *network.topology, sources_of(experiment, network)) {}

  Result result() {
    add_latencies();
    add_own(engine::OwnMetrics::Kind::mean);
    Result means = std::exchange(result_, {});
    judge(means);
    if (result_.verdict != Verdict::deadlocked) {
      add_loads();
      add_fairness();
      add_own(engine::OwnMetrics::Kind::level);
    }
    if ((result_.verdict == Verdict::steady && !late_) || result_.verdict == Verdict::finished) add(std::move(means));
    if (result_.verdict == Verdict::steady) {
      if (const std::string shortness = windows_.shortness(); !shortness.empty() && !late_) {
        result_.warning = result_.warning.empty() ? shortness : result_.warning + "; " + shortness;
        result_.explanation += "; " + shortness;
      }
      state_precision(result_, run_, kPrecise, windows_.forgets());
    }
    add_counters();
    add_time_series(result_, experiment_, outcome_.record.timeline, outcome_.counted, terminals_);
    for (const auto& [at, hash] : outcome_.checkpoints) result_.checkpoints.push_back({at, hash});
    result_.state_hash = outcome_.hash;
    return std::move(result_);
  }

  /// After result(): its verdict is uncertain, or its latencies stand on too little, and a longer run would tell.
  [[nodiscard]] bool undecided() const { return undecided_; }

 private:
  /// `means`: what is reported of a steady state.
  void judge(const Result& means) {
    result_.explanation = windows_.warmup_text();
    if (outcome_.end == SteadyOutcome::End::deadlocked) {
      result_.verdict = Verdict::deadlocked;
      result_.explanation = outcome_.explanation;
      return;
    }
    if (is_fixed(run_)) {
      result_.verdict = Verdict::finished;
      result_.explanation = fmt::format(
          "exactly {} cycles from an empty network ({}); means of what happened in them, without intervals: "
          "no steady state is assumed",
          outcome_.counted,
          outcome_.counted < planned_end(run_) ? "less than run.duration, because of run.settle" : "run.duration");
      return;
    }
    if (stopping_.extended()) {
      result_.explanation += fmt::format(
          "; {} cycles were measured instead of {}, because the verdict or the latencies were uncertain before "
          "(run.extension = {})",
          stopping_.measure(), run_.integer("measure"), run_.integer("extension"));
    }
    const stats::VerdictRule rule = stopping_.rule();
    stats::Evidence evidence = windows_.evidence();
    evidence.sources_wait = !outcome_.sources_empty;
    evidence.all_arrived = outcome_.end == SteadyOutcome::End::drained;
    if (evidence.all_arrived) std::tie(evidence.widest_latency, evidence.latency_width) = widest_latency(means);
    stats::Judgement judgement = stats::judge(evidence, rule);
    if (judgement.certain && !judgement.saturated) {
      const double lengths = static_cast<double>(stopping_.measure()) / static_cast<double>(run_.integer("measure"));
      const Recoveries recoveries = recoveries_(stats::burst_times(evidence.growth, lengths, rule));
      evidence.recovery = recoveries.first;
      evidence.recovery_from_less = recoveries.from_less;
      judgement = stats::judge(evidence, rule);
    }
    undecided_ = judgement.longer || (judgement.certain && !judgement.saturated && !windows_.latencies_stand());
    result_.certain = judgement.certain;
    if (judgement.saturated) {
      result_.verdict = Verdict::saturated;
      windows_.set_saturated();
      result_.explanation = judgement.reason + overhead();
      if (!evidence.all_arrived) result_.explanation += "; " + outcome_.explanation;
      result_.explanation +=
          "; no latency is reported: it would grow with the length of the run; loads are those after the " +
          windows_.warmup_text();
      return;
    }
    late_ = !evidence.all_arrived;
    if (!judgement.certain) result_.explanation += "; " + judgement.reason;
    if (!judgement.warning.empty()) result_.explanation += "; " + (result_.warning = judgement.warning);
    if (!late_) return;
    result_.warning = outcome_.explanation + "; no latency is reported: the slowest packets would be missing";
    result_.explanation += "; " + result_.warning;
  }

  /// The latency with the widest interval in relation to its mean; "" when no packet arrived.
  static std::pair<std::string, std::optional<double>> widest_latency(const Result& means) {
    std::pair<std::string, std::optional<double>> widest{"", 0.0};
    for (const stats::Metric& metric : means.metrics) {
      if (metric.counter || metric.name.find("latency") == std::string::npos) continue;
      if (!metric.half_width) return {metric.name, std::nullopt};
      const double width = metric.mean > 0.0 ? *metric.half_width / metric.mean : 0.0;
      if (widest.first.empty() || width > *widest.second) widest = {metric.name, width};
    }
    return widest;
  }

  /// What packets take of a link beyond their own flits, where that is more than a tenth of them: a load may be too
  /// much for a link although its flits are not.
  [[nodiscard]] std::string overhead() const {
    if (outcome_.totals.delivered == 0) return "";
    const double flits =
        static_cast<double>(outcome_.totals.delivered_flits) / static_cast<double>(outcome_.totals.delivered);
    const LinkOverhead more = link_overhead(experiment_);
    if (more.flits <= 0.1 * flits) return "";
    return "; " + overhead_text(more, flits, windows_.load(outcome_.record.offered, windows_.offered()).interval.mean);
  }

  void add(Result means) {
    std::move(means.metrics.begin(), means.metrics.end(), std::back_inserter(result_.metrics));
    std::move(means.histograms.begin(), means.histograms.end(), std::back_inserter(result_.histograms));
    std::move(means.groups.begin(), means.groups.end(), std::back_inserter(result_.groups));
    if (means.groups.empty()) return;
    result_.group_cycles = means.group_cycles;
    result_.group_cut = means.group_cut;
  }

  void add_loads() {
    const auto add = [&](const std::string& name, const std::vector<u64>& flits, const stats::Interval& load) {
      if (is_fixed(run_)) return add_whole(name, "flits/cycle/terminal", total_of(flits));
      result_.metrics.push_back(stats::to_metric(name, "flits/cycle/terminal", load));
      windows_.keep_load(result_, name, flits);
    };
    const auto add_both = [&](const std::string& of_traffic, const std::vector<u64>& offered,
                              const std::vector<u64>& accepted) {
      const stats::Interval in = windows_.load(offered, windows_.offered()).interval;
      add("offered_load" + of_traffic, offered, in);
      const stats::Interval out = accepted_load(in, windows_.load(accepted, windows_.accepted()).interval);
      if (of_traffic.empty() && in.half_width && !out.half_width) {
        result_.explanation +=
            fmt::format("; accepted_load has no interval: it may be {:.3g} or all that is offered", out.mean);
      }
      add("accepted_load" + of_traffic, accepted, out);
    };
    add_both("", outcome_.record.offered, outcome_.record.accepted);
    if (multicasts()) {
      add("received_load", outcome_.record.accepted,
          accepted_load(windows_.load(outcome_.record.offered, windows_.offered()).interval,
                        windows_.load(outcome_.record.accepted, windows_.accepted()).interval));
    }
    for (std::size_t i = 0; i < outcome_.record.shares.size(); ++i) {
      add_both(suffix(i), outcome_.record.shares[i].offered, outcome_.record.shares[i].accepted);
    }
  }

  /// An interval from below nothing to more than twice the mean says less than none.
  [[nodiscard]] stats::Interval accepted_load(const stats::Interval& offered, const stats::Interval& accepted) const {
    if (result_.verdict != Verdict::steady) return accepted;
    stats::Interval wide = SteadyWindows::accepted_beside(offered, accepted);
    const bool narrow = accepted.half_width && *accepted.half_width < accepted.mean;
    if (narrow && *wide.half_width >= wide.mean) wide.half_width.reset();
    return wide;
  }

  [[nodiscard]] bool multicasts() const {
    const auto& births = outcome_.record.births;
    return std::any_of(births.begin(), births.end(),
                       [](const engine::LatencySums& b) { return b.multicasts + b.unicasts != 0; });
  }

  void add_latencies() {
    add_means("", outcome_.record.births);
    add_percentiles();
    for (std::size_t i = 0; i < outcome_.record.shares.size(); ++i) {
      add_means(suffix(i), outcome_.record.shares[i].births);
    }
  }

  void add_means(const std::string& of_traffic, const std::vector<engine::LatencySums>& births) {
    using Births = engine::LatencySums;
    const auto add = [&](const char* name, const char* unit, u64 Births::*count, auto&& field) {
      const std::vector<SumCount> windows = SteadyWindows::sums(births, field, count);
      if (is_fixed(run_)) return add_whole(name + of_traffic, unit, total_of(windows));
      u64 total = 0;
      for (const SumCount& w : windows_.measured(windows)) total += w.count;
      if (total == 0) return;
      result_.metrics.push_back(stats::to_metric(name + of_traffic, unit, windows_.mean(windows).interval));
      windows_.keep(result_, name + of_traffic, windows);
    };
    u64 Births::*const packets = &Births::packets;
    u64 Births::*const messages = &Births::messages;
    add("packet_latency", "cycles", packets, [](const Births& b) { return b.latency; });
    add("network_latency", "cycles", packets, [](const Births& b) { return b.latency - b.queueing; });
    add("source_queueing", "cycles", packets, [](const Births& b) { return b.queueing; });
    add("head_latency", "cycles", packets, [](const Births& b) { return b.latency - b.queueing - b.serialization; });
    add("serialization_latency", "cycles", packets, [](const Births& b) { return b.serialization; });
    if (!switch_row(experiment_).without_contention)
      add("hops", "switches", packets, [](const Births& b) { return b.hops; });
    add("message_latency_first", "cycles", messages, [](const Births& b) { return b.message_first; });
    add("message_latency_last", "cycles", messages, [](const Births& b) { return b.message_last; });
    add_multicasts(of_traffic, births);
  }

  /// Means over messages: a multicast counts once, however many destinations it has.
  void add_multicasts(const std::string& of_traffic, const std::vector<engine::LatencySums>& births) {
    using Births = engine::LatencySums;
    const auto add = [&](const char* name, auto&& sum, auto&& count, u64 unit) {
      std::vector<SumCount> windows;
      for (const Births& b : births) windows.push_back({sum(b), count(b) * unit});
      if (is_fixed(run_)) {
        const SumCount whole = total_of(windows);
        if (whole.count == 0) return;
        add_whole(name + of_traffic, "cycles", whole);
        result_.metrics.back().count /= unit;
        return;
      }
      u64 total = 0;
      for (const SumCount& w : windows_.measured(windows)) total += w.count;
      if (total == 0) return;
      stats::Metric metric = stats::to_metric(name + of_traffic, "cycles", windows_.mean(windows).interval);
      metric.count /= unit;
      result_.metrics.push_back(metric);
      windows_.keep(result_, name + of_traffic, windows);
    };
    const auto multicasts = [](const Births& b) { return b.multicasts; };
    const auto unicasts = [](const Births& b) { return b.unicasts; };
    const auto all = [](const Births& b) { return b.multicasts + b.unicasts; };
    add(
        "multicast_latency_last", [](const Births& b) { return b.multicast_last; }, multicasts, 1);
    add(
        "multicast_latency_mean", [](const Births& b) { return b.multicast_mean; }, multicasts,
        engine::LatencySums::kMeanUnit);
    add(
        "unicast_latency", [](const Births& b) { return b.unicast_latency; }, unicasts, 1);
    const auto cut = [](const Births& b) { return b.messages != 0; };
    if (std::any_of(births.begin(), births.end(), cut)) return;  // the messages of other traffics are there already
    add(
        "message_latency_first", [](const Births& b) { return b.multicast_first + b.unicast_latency; }, all, 1);
    add(
        "message_latency_last", [](const Births& b) { return b.multicast_last + b.unicast_latency; }, all, 1);
  }

  /// Adds the mean alone, over a whole run of fixed length.
  void add_whole(const std::string& name, const std::string& unit, const SumCount& total) {
    if (total.count == 0) return;
    stats::Metric metric;
    metric.name = name;
    metric.unit = unit;
    metric.mean = total.mean();
    metric.count = total.count;
    metric.confidence = run_.real("confidence");
    result_.metrics.push_back(metric);
  }
  [[nodiscard]] SumCount total_of(const std::vector<u64>& flits) const {
    return {std::accumulate(flits.begin(), flits.end(), u64{0}), outcome_.counted * terminals_};
  }
  [[nodiscard]] static SumCount total_of(const std::vector<SumCount>& windows) {
    SumCount total;
    for (const SumCount& window : windows) total.merge(window);
    return total;
  }

  /// What follows the name of a metric of one traffic: the traffic's name, or its number where names repeat.
  [[nodiscard]] std::string suffix(std::size_t traffic) const { return traffic_suffix(experiment_, traffic); }

  void add_percentiles() {
    if (outcome_.record.latency.count() == 0) return;
    for (const auto& [name, p] : {std::pair{"packet_latency_p50", 0.5},
                                  {"packet_latency_p95", 0.95},
                                  {"packet_latency_p99", 0.99},
                                  {"packet_latency_max", 1.0}}) {
      result_.metrics.push_back(stats::Metric::exact(name, "cycles", outcome_.record.latency.quantile(p).value,
                                                     outcome_.record.latency.count()));
    }
    Histogram histogram{"packet_latency", "cycles", {}};
    outcome_.record.latency.for_each_bucket([&](u64 low, u64 high, u64 count) {
      histogram.buckets.push_back({low, high, count});
    });
    result_.histograms.push_back(std::move(histogram));
  }

  /// How evenly the sources are served: the least that one got through, and Jain's index over all.
  void add_fairness() {
    const stats::Fairness fairness = stats::fairness(outcome_.accepted_of_sources);
    const auto cycles = outcome_.counted - std::min(outcome_.counted, warmup_of(run_));
    if (outcome_.accepted_of_sources.empty() || cycles == 0) return;
    const auto add = [&](const char* name, const char* unit, double value) {
      result_.metrics.push_back(stats::Metric::exact(name, unit, value, outcome_.accepted_of_sources.size()));
    };
    add("accepted_load_min", "flits/cycle", static_cast<double>(fairness.minimum) / static_cast<double>(cycles));
    add("accepted_load_fairness", "Jain's index", fairness.jain);
  }

  /// Metrics of the switch model's own, of one kind.
  void add_own(engine::OwnMetrics::Kind kind) {
    for (const engine::OwnMetrics::Entry& entry : outcome_.own.entries()) {
      if (entry.kind != kind) continue;
      const std::vector<SumCount>& windows = entry.windows;
      const std::string name = own_metric(experiment_, result_, entry.name);
      if (is_fixed(run_)) {
        add_whole(name, entry.unit, total_of(windows));
        continue;
      }
      u64 total = 0;
      for (const SumCount& w : windows_.measured(windows)) total += w.count;
      if (total == 0) continue;
      result_.metrics.push_back(stats::to_metric(name, entry.unit, windows_.mean(windows).interval));
      windows_.keep(result_, name, windows);
    }
  }

  void add_counters() {
    const auto counter = [&](const std::string& name, const std::string& unit, u64 value) {
      result_.metrics.push_back(stats::Metric::exact(name, unit, static_cast<double>(value)));
    };
    counter("simulated_cycles", "cycles", outcome_.ticks);
    if (stopping_.extended()) counter("measured_cycles", "cycles", stopping_.measure());
    counter("delivered_packets", "packets", outcome_.totals.delivered);
    counter("delivered_flits", "flits", outcome_.totals.delivered_flits);
    if (is_fixed(run_)) {
      counter("packets_left", "packets", outcome_.totals.taken - outcome_.totals.delivered - outcome_.totals.waiting);
    }
    counter("flit_hops", "hops", outcome_.totals.movements);
    for (const engine::OwnMetrics::Entry& entry : outcome_.own.entries()) {
      if (entry.windows.empty()) counter(entry.name, entry.unit, entry.value);
    }
  }

  const Experiment& experiment_;
  const Stopping& stopping_;
  std::function<Recoveries(double)> recoveries_;
  const config::Values& run_;
  const SteadyOutcome& outcome_;
  bool undecided_ = false;  ///< a longer run would tell more
  bool late_ = false;       ///< packets were still on their way at the end of the drain, and no growth is shown
  u32 terminals_;
  SteadyWindows windows_;
  Result result_;
};

}  // namespace

Tick planned_end(const config::Values& run) {
  return static_cast<Tick>(is_fixed(run) ? run.integer("duration") : run.integer("warmup") + run.integer("measure"));
}

engine::SteadyPlan steady_plan(const config::Values& run, Tick measure) {
  engine::SteadyPlan plan;
  const Tick warmup = warmup_of(run);
  plan.end = is_fixed(run) ? planned_end(run) : warmup + measure;
  plan.shift = static_cast<u32>(std::bit_width(std::max<Tick>(plan.end / kWindows, 1)) - 1);
  plan.histogram_from = warmup;
  plan.series_window = static_cast<Tick>(run.integer("window"));
  return plan;
}

namespace {

/// Tells the caller of a run what its windows hold.
class WindowTeller {
 public:
  using Listener = std::function<bool(const Window&)>;

  WindowTeller(const Listener& listener, u32 terminals) : listener_(listener), terminals_(terminals) {}

  /// Tells the windows that are over at `now`; true when the caller has seen enough.
  bool tell(const engine::Timeline& timeline, Tick now) {
    if (!listener_) return false;
    const Tick length = timeline.length();
    for (; !ended_ && (next_ + 1) * length <= now && next_ < timeline.size(); ++next_) {
      engine::TimelineWindow sum;
      for (u32 t = 0; t < timeline.traffics(); ++t) sum += timeline.at(next_, t);
      ended_ = listener_(window_of(sum, length));
    }
    return ended_;
  }
  [[nodiscard]] bool ended() const { return ended_; }
  void archive(Archive& a) { a(next_, inside_, waiting_, ended_); }

 private:
  Window window_of(const engine::TimelineWindow& sum, Tick length) {
    inside_ += sum.entered - sum.delivered;
    waiting_ += sum.offered - sum.taken;
    const double per_terminal = 1.0 / (static_cast<double>(length) * terminals_);
    Window window;
    window.number = next_;
    window.from = next_ * length;
    window.to = window.from + length;
    window.offered_load = static_cast<double>(sum.offered) * per_terminal;
    window.accepted_load = static_cast<double>(sum.accepted) * per_terminal;
    window.packet_latency = sum.delivered == 0 ? std::numeric_limits<double>::quiet_NaN()
                                               : static_cast<double>(sum.latency) / static_cast<double>(sum.delivered);
    window.delivered_packets = sum.delivered;
    window.packets_in_network = inside_;
    window.source_backlog_flits = waiting_;
    return window;
  }

  const Listener& listener_;
  double terminals_;
  std::size_t next_ = 0;
  u64 inside_ = 0;
  u64 waiting_ = 0;
  bool ended_ = false;
};

constexpr std::size_t kManyBytes = 1U << 20U;  ///< of a log, worth a call of the system

/// What samples the congestion trees of a run, where it is asked for.
std::optional<engine::TreeRecorder> tree_recorder(const Experiment& experiment, const Network& network,
                                                  const Instance& instance) {
  engine::TreePlan wanted = tree_plan(experiment);
  if (wanted.interval == 0) return std::nullopt;
  for (const core::Traffic* traffic : instance.traffic_pointers) {
    wanted.spacing = std::max<Tick>(wanted.spacing, std::min(traffic->longest_message(), traffic->longest_packet()));
  }
  if (experiment.run.integer("trees_interval") == 0) {
    wanted.longest = longest_interval(experiment.run);
    wanted.interval = std::min(wanted.interval, std::max<Tick>(wanted.longest, 1));
  }
  return std::make_optional<engine::TreeRecorder>(*network.topology, *network.routing, wanted);
}

/// What every run of this experiment is told, whatever it is for.
engine::SteadySettings steady_settings(const Experiment& experiment) {
  engine::SteadySettings steady;
  steady.fixed = is_fixed(experiment.run);
  steady.drain = static_cast<Tick>(experiment.run.integer("drain"));
  steady.watchdog = static_cast<Tick>(experiment.run.integer("watchdog"));
  steady.full_audit = experiment.run.text("audit") == "full";
  return steady;
}

WarmState warm_up(const Experiment& experiment, const RunOptions& options, double& helper_cpu_seconds) {
  const Network network = build_network(experiment);
  engine::EngineSettings settings = engine_settings(experiment);
  WarmState warm;
  share_out(settings, experiment, network.topology->graph().switches(), options.threads, options.ranks);
  warm.cut_for = settings.cut_for;
  settings.probe = probe_plan(experiment, *network.topology, options, warmup_of(experiment.run));
  settings.steady = steady_plan(experiment.run, static_cast<Tick>(experiment.run.integer("measure")));
  const Instance instance = build_instance(experiment, network, settings);
  std::optional<engine::TreeRecorder> trees = tree_recorder(experiment, network, instance);
  engine::SteadySettings steady = steady_settings(experiment);
  if (trees) steady.trees = &*trees;
  steady.stop = warmup_of(experiment.run);
  steady.state = &warm.bytes;
  steady.keep_going = [&](Tick now) {
    if (options.progress) options.progress(now, settings.steady.end);
    return !stopped(options);
  };
  static_cast<void>(engine::run_steady(*instance.machine, settings.steady, steady));
  if (warm.bytes.empty()) throw Interrupted("interrupted");
  helper_cpu_seconds += instance.machine->helper_cpu_seconds();
  return warm;
}

/// One run of the length that `stopping` says, prolonged as it says, from the state `warm` on where it is given; and
/// whether a longer one would tell the verdict.
std::pair<Result, bool> run_once(const Experiment& experiment, const Network& network, engine::EngineSettings settings,
                                 const RunOptions& options, Stopping& stopping, Profile* profile, PacketLogFile* log,
                                 const WarmState* warm) {
  const engine::SteadyPlan plan = stopping.plan();
  const std::optional<CostTable> costs = costs_of(experiment);
  settings.steady = plan;
  const Tick warmup = warmup_of(experiment.run);
  Stopwatch watch;
  Instance instance = build_instance(experiment, network, settings);
  const double build_seconds = watch.lap();
  if (profile != nullptr) instance.machine->watch();
  engine::SteadySettings steady = steady_settings(experiment);
  if (warm != nullptr) steady.start = &warm->bytes;
  std::optional<engine::TreeRecorder> trees = tree_recorder(experiment, network, instance);
  if (trees) steady.trees = &*trees;
  const Aftermath aftermath(instance.traffic_pointers);
  const auto settle = static_cast<Tick>(experiment.run.integer("settle"));
  WindowTeller teller(options.window, network.topology->traffic_terminals());
  if (settle != 0) {
    steady.enough = [&aftermath, settle](const engine::SteadyProgress& progress, Tick now) {
      return aftermath.settled(progress, now, settle);
    };
    steady.enough_every = plan.series_window;
  }
  if (options.window) {
    steady.at_window = [&teller](const engine::SteadyProgress& progress, Tick now) {
      return teller.tell(progress.timeline, now);
    };
  }
  std::string lines;
  engine::PacketLog packets(network.topology->graph(), [&](const engine::LoggedPacket& packet) {
    if (log == nullptr) return;  // the first of several ranks writes it
    log->add_line(lines, 0, packet);
    if (lines.size() < kManyBytes) return;
    log->write(lines);
    lines.clear();
  });
  if (log != nullptr) log->restart();
  if (!options.packet_log.empty()) steady.log = &packets;
  if (stopping.asks()) steady.longer = [&](const SteadyRecord& record) { return stopping.longer(record); };
  steady.keep_going = [&](Tick now) {
    if (options.progress) options.progress(std::min(now, stopping.end()), stopping.end());
    return !stopped(options);
  };
  watch.lap();
  steady.keeper = options.keeper;
  SteadyOutcome outcome(plan);
  bool measured = false;
  const engine::RunKeeper::Part stage(options.keeper, [&](Archive& a) {
    a(measured, teller);
    if (trees) a(*trees);
  });
  if (!measured) outcome = engine::run_steady(*instance.machine, plan, steady);
  measured = true;
  const engine::RunKeeper::Part found(options.keeper, [&](Archive& a) { a(outcome); });
  const u32 switches = network.topology->graph().switches();
  const std::string fewer = why_fewer_threads(experiment, *instance.machine, switches, options.threads, options.ranks);
  if (profile != nullptr) {
    add_run(*profile, *instance.machine, watch.seconds());
    add_cut(*profile, *instance.machine);
    profile->build_seconds += build_seconds;
    profile->moves += outcome.totals.movements;
    profile->switches = switches;
    profile->threads_asked = std::max(settings.threads, options.threads);
    profile->fewer_threads = fewer;
  }
  if (outcome.end == SteadyOutcome::End::interrupted) throw Interrupted("interrupted");
  if (log != nullptr) log->write(lines);
  double helper_cpu_seconds = instance.machine->helper_cpu_seconds();
  instance.machine.reset();  // two machines at once would take twice the memory
  const auto recoveries = [&](double times) {
    return recoveries_of(experiment, network, settings, options, outcome, stopping.rule(), times, helper_cpu_seconds);
  };
  SteadyReport report(experiment, network, outcome, stopping, recoveries);
  Result result = report.result();
  aftermath.report(result, outcome.record, outcome.counted);
  add_units(result, cycle_ns(experiment), flit_bytes(experiment));
  add_activity(result, experiment, outcome.activity);
  if (costs && outcome.activity) {
    add_energy(result, *costs, network.topology->graph(), *outcome.activity, outcome.ticks,
               outcome.totals.delivered_flits, flit_bytes(experiment));
  }
  if (trees) add_trees(result, trees->take(), trees->marks());
  add_recorded(result, experiment, settings.probe, outcome.probed, *network.topology, outcome.counted - warmup);
  if (options.trace != nullptr)
    *options.trace = trace_text(outcome.probed, experiment.traffics.size(), *network.topology);
  if (teller.ended()) {
    result.explanation += fmt::format("; ended by the caller after {} cycles", outcome.counted);
    stopping.end_here();
  }
  result.cpu_seconds = helper_cpu_seconds;
  result.fewer_threads = fewer;
  return {std::move(result), report.undecided()};
}

}  // namespace

Result measure_steady(const Experiment& experiment, const Network& network, engine::EngineSettings settings,
                      const RunOptions& options) {
  share_out(settings, experiment, network.topology->graph().switches(), options.threads, options.ranks);
  settings.probe = probe_plan(experiment, *network.topology, options, warmup_of(experiment.run));
  Stopping stopping(experiment.run, *network.topology, sources_of(experiment, network));
  const auto profile = options.profile ? std::make_shared<Profile>() : nullptr;
  std::optional<PacketLogFile> log;
  if (!options.packet_log.empty() && (options.ranks == nullptr || options.ranks->rank() == 0))
    log.emplace(options.packet_log, experiment, network.topology->graph());
  std::shared_ptr<const WarmState> warm;
  double cpu_seconds = 0.0;
  const auto go_on_from_warm_up = [&] {
    RunOptions without = options;
    without.keeper = nullptr;
    WarmStates own({});
    WarmStates& states = options.warm_states == nullptr ? own : *options.warm_states;
    warm = states.of(*experiment.fork.warm, [&] { return warm_up(*experiment.fork.warm, without, cpu_seconds); });
    settings.cut_for = warm->cut_for;
  };
  const bool forked = experiment.fork.warm != nullptr;
  if (forked) {
    if (!options.packet_log.empty()) {
      throw ConfigError({options.packet_log, 0, 0, ""}, "a run that goes on from a warm-up (fork) has no log of it",
                        "leave out --log, or fork");
    }
    if (options.checkpoint.resume.empty()) go_on_from_warm_up();
  }
  const engine::RunKeeper::Part part(options.keeper, [&](Archive& a) { a(settings.cut_for, stopping); });
  for (;;) {
    auto [result, undecided] =
        run_once(experiment, network, settings, options, stopping, profile.get(), log ? &*log : nullptr, warm.get());
    cpu_seconds += result.cpu_seconds;
    if (forked) {
      result.explanation += fmt::format("; warmed up with {} = {}", experiment.fork.vary, experiment.fork.from);
    }
    result.cpu_seconds = cpu_seconds;
    result.profile = profile;
    if (stopping.again(result, undecided)) {
      if (forked && warm == nullptr) go_on_from_warm_up();
      continue;
    }
    if (log) log->finish();
    return std::move(result);
  }
}

}  // namespace banyan::api
