#include "banyan/api/measure_steady.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <thread>

#include "banyan/engine/steady.hpp"
#include "banyan/stats/batch_means.hpp"
#include "banyan/stats/interval.hpp"
#include "banyan/stats/saturation.hpp"
#include "banyan/stats/warmup.hpp"

namespace banyan::api {
namespace {

using engine::SteadyOutcome;
using engine::SteadyRecord;
using stats::SumCount;

/// Windows that a run is recorded in: enough for MSER-5 in groups of five and for 20 batches after any cut.
constexpr Tick kWindows = 1024;

engine::SteadyPlan plan_of(const config::Values& run) {
  engine::SteadyPlan plan;
  const Tick warmup = static_cast<Tick>(run.integer("warmup"));
  plan.end = warmup + static_cast<Tick>(run.integer("measure"));
  plan.shift = static_cast<u32>(std::bit_width(std::max<Tick>(plan.end / kWindows, 1)) - 1);
  plan.histogram_from = warmup;
  return plan;
}

class SteadyReport {
 public:
  SteadyReport(const Experiment& experiment, const Network& network, const engine::SteadyPlan& plan,
               const SteadyOutcome& outcome)
      : plan_(plan),
        outcome_(outcome),
        terminals_(network.topology->graph().terminals()),
        window_(static_cast<double>(Tick{1} << plan.shift)) {
    rule_.confidence = experiment.run.real("confidence");
    const u64 given = (static_cast<u64>(experiment.run.integer("warmup")) + (u64{1} << plan.shift) - 1) >> plan.shift;
    const stats::Warmup found = stats::mser(births([](const SteadyRecord::Births& b) { return b.latency; }));
    cut_ = std::max<u64>(given, found.valid ? found.windows : 0);
    warmup_text_ = fmt::format("warm-up: {} cycles cut (run.warmup = {}; {})",
                               static_cast<u64>(static_cast<double>(cut_) * window_), experiment.run.integer("warmup"),
                               found.statement(window_));
    // The last window may be cut short by the end: rates leave it out.
    whole_ = static_cast<u64>(plan.end >> plan.shift);
    cut_ = std::min(cut_, whole_ == 0 ? 0 : whole_ - 1);
  }

  Result result() {
    judge();
    if (result_.verdict != Verdict::deadlocked) add_loads();
    if (result_.verdict == Verdict::steady) add_latencies();
    add_counters();
    result_.state_hash = outcome_.hash;
    return std::move(result_);
  }

 private:
  template <class F>
  [[nodiscard]] std::vector<SumCount> births(F&& field) const {
    std::vector<SumCount> out;
    for (const SteadyRecord::Births& b : outcome_.record.births) out.push_back({field(b), b.packets});
    return out;
  }

  template <class T>
  [[nodiscard]] std::span<const T> measured(const std::vector<T>& windows) const {
    return std::span<const T>(windows).subspan(cut_, whole_ - cut_);
  }

  void judge() {
    result_.explanation = warmup_text_;
    if (outcome_.end == SteadyOutcome::End::deadlocked) {
      result_.verdict = Verdict::deadlocked;
      result_.explanation = outcome_.explanation;
      return;
    }
    std::vector<SumCount> backlog;
    u64 waiting = 0;
    for (std::size_t i = 0; i < outcome_.record.offered.size(); ++i) {
      waiting += outcome_.record.offered[i];
      waiting -= outcome_.record.taken[i];
      backlog.push_back({waiting, 1});
    }
    stats::SaturationRule rule;
    rule.confidence = rule_.confidence;
    const stats::Saturation saturation = stats::saturation(
        measured(backlog), measured(outcome_.record.offered), measured(outcome_.record.accepted), window_, rule);
    if (saturation.saturated || outcome_.end == SteadyOutcome::End::not_drained) {
      result_.verdict = Verdict::saturated;
      result_.explanation = fmt::format("{}; no latency is reported: it would grow with the length of the run",
                                        saturation.saturated ? saturation.statement : outcome_.explanation);
    }
  }

  void add_loads() {
    const double scale = 1.0 / (window_ * terminals_);
    const auto load = [&](const std::string& name, const std::vector<u64>& flits) {
      std::vector<double> rates;
      for (const u64 f : measured(flits)) rates.push_back(static_cast<double>(f) * scale);
      const stats::BatchMeans means = stats::batch_means(rates, rule_);
      result_.metrics.push_back(stats::to_metric(name, "flits/cycle/terminal", means.interval));
    };
    load("offered_load", outcome_.record.offered);
    load("accepted_load", outcome_.record.accepted);
  }

  void add_latencies() {
    const auto add = [&](const std::string& name, const std::string& unit, const std::vector<SumCount>& windows) {
      u64 count = 0;
      for (const SumCount& w : measured(windows)) count += w.count;
      if (count == 0) return;
      result_.metrics.push_back(
          stats::to_metric(name, unit, stats::ratio_batch_means(measured(windows), rule_).interval));
    };
    using Births = SteadyRecord::Births;
    add("packet_latency", "cycles", births([](const Births& b) { return b.latency; }));
    add("network_latency", "cycles", births([](const Births& b) { return b.latency - b.queueing; }));
    add("source_queueing", "cycles", births([](const Births& b) { return b.queueing; }));
    add("hops", "switches", births([](const Births& b) { return b.hops; }));
    if (outcome_.record.latency.count() == 0) return;
    for (const auto& [name, p] : {std::pair{"packet_latency_p50", 0.5}, {"packet_latency_p95", 0.95},
                                  {"packet_latency_p99", 0.99}, {"packet_latency_max", 1.0}}) {
      stats::Metric metric;
      metric.name = name;
      metric.unit = "cycles";
      metric.mean = outcome_.record.latency.quantile(p).value;
      metric.count = outcome_.record.latency.count();
      metric.counter = true;
      result_.metrics.push_back(metric);
    }
  }

  void add_counters() {
    const auto counter = [&](const std::string& name, const std::string& unit, u64 value) {
      stats::Metric metric;
      metric.name = name;
      metric.unit = unit;
      metric.mean = static_cast<double>(value);
      metric.count = 1;
      metric.counter = true;
      result_.metrics.push_back(metric);
    };
    counter("simulated_cycles", "cycles", outcome_.ticks);
    counter("delivered_packets", "packets", outcome_.totals.delivered);
    counter("delivered_flits", "flits", outcome_.totals.delivered_flits);
    counter("flit_hops", "", outcome_.totals.movements);
  }

  engine::SteadyPlan plan_;
  const SteadyOutcome& outcome_;
  double terminals_;
  double window_;
  stats::BatchRule rule_;
  u64 cut_ = 0;
  u64 whole_ = 0;
  std::string warmup_text_;
  Result result_;
};

}  // namespace

Result measure_steady(const Experiment& experiment, const Network& network, engine::EngineSettings settings,
                      const RunOptions& options) {
  const engine::SteadyPlan plan = plan_of(experiment.run);
  settings.steady = plan;
  // More threads than cores would wait for each other at every window.
  settings.threads = std::min(options.threads, std::max(1U, std::thread::hardware_concurrency()));
  Instance instance = build_instance(experiment, network, settings);
  engine::SteadySettings steady;
  steady.drain = static_cast<Tick>(experiment.run.integer("drain"));
  steady.watchdog = static_cast<Tick>(experiment.run.integer("watchdog"));
  steady.full_audit = experiment.run.text("audit") == "full";
  steady.keep_going = [&](Tick now) {
    if (options.progress) options.progress(std::min(now, plan.end), plan.end);
    return options.interrupted == nullptr || !*options.interrupted;
  };
  const SteadyOutcome outcome = engine::run_steady(*instance.machine, plan, steady);
  if (outcome.end == SteadyOutcome::End::interrupted) throw Interrupted("interrupted");
  Result result = SteadyReport(experiment, network, plan, outcome).result();
  result.cpu_seconds = instance.machine->helper_cpu_seconds();
  return result;
}

}  // namespace banyan::api
