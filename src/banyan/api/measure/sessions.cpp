#include "banyan/api/measure/sessions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "banyan/api/energy.hpp"
#include "banyan/api/measure/precision.hpp"
#include "banyan/api/measure/time_series.hpp"
#include "banyan/api/packet_log_file.hpp"
#include "banyan/api/profiler.hpp"
#include "banyan/api/recorded.hpp"
#include "banyan/base/cpu_time.hpp"
#include "banyan/engine/session.hpp"
#include "banyan/stats/interval.hpp"
#include "banyan/stats/saturation.hpp"

namespace banyan::api {
namespace {

using engine::LatencySums;
using engine::SessionOutcome;
using stats::SumCount;

constexpr u32 kSeriesLength = 4096;  ///< cycles after a session's begin that series cover
constexpr u64 kMostSessions = 1'000'000'000;
/// Of which a network takes a gigabyte or two (bench/README.md), where each rank has one.
constexpr u32 kMostSwitchesDealt = 1U << 16U;

/// What a requested precision is about.
const std::vector<std::string> kPreciseOfSessions{"mu_syn",         "mu_bg_tot",       "mu_bg_hs",
                                                  "session_cycles", "completion_time", "packet_latency"};

/// Delay in paper 1's sense: latency less one cycle per traversed stage. A packet passes one stage per cycle at most,
/// so it is never negative.
SumCount delay(const LatencySums& t) { return {t.latency - t.hops, t.packets}; }
SumCount plus(SumCount a, SumCount b) {
  a.merge(b);
  return a;
}

/// Whether all sessions are equal by construction: no component draws a word that another one reads.
bool is_deterministic(const Experiment& experiment, const Network& network) {
  const core::SwitchRow& row = switch_row(experiment);
  if (!row.draws_nothing || network.routing->random()) return false;
  if (row.draws != nullptr && row.draws(experiment.switching)) return false;
  const Traffics traffics = build_traffics(experiment, *network.topology);
  return std::none_of(traffics.begin(), traffics.end(), [](const auto& traffic) { return traffic->random(); });
}

/// How many sessions there are at least.
u64 sessions_of(const Experiment& experiment, const Network& network) {
  return is_deterministic(experiment, network) ? 1 : experiment.run.natural("sessions");
}

/// Runs the sessions of an experiment; outcome i is that of replication i whatever thread ran it.
class SessionRunner {
 public:
  SessionRunner(const Experiment& experiment, const Network& network, engine::EngineSettings settings,
                const RunOptions& options)
      : experiment_(experiment), network_(network), settings_(std::move(settings)), options_(options) {
    session_ = session_settings(experiment.run);
    settings_.probe = probe_plan(experiment, *network.topology, options, 0);
    if (const engine::TreePlan wanted = tree_plan(experiment); wanted.interval != 0) {
      trees_.emplace(*network.topology, *network.routing, wanted);
    }
    const bool first = options.ranks == nullptr || options.ranks->rank() == 0;
    if (deals_sessions(experiment, network, options)) {
      dealt_by_ = options.ranks;
      if (!first) trees_.reset();  // they are of the first session
    } else if (options.ranks != nullptr) {
      settings_.ranks = options.ranks;
      settings_.cut_for = options.ranks->size();
    }
    if (!options.packet_log.empty() && (first || dealt_by_ != nullptr))
      log_.emplace(first ? options.packet_log : "", experiment, network.topology->graph());
    const std::string& series = experiment.run.text("series");
    if (series == "generation" || series == "all") settings_.generation_series = kSeriesLength;
  }

  /// Sessions 0 ... count - 1; those that are there are not run again.
  const std::vector<SessionOutcome>& run(std::size_t count) {
    next_ = 0;
    outcomes_.resize(count);
    finished_.resize(count);
    u32 left = 0;
    for (u32 i = 0; i < count; ++i) left += finished_[i] == 0 && is_own(i) ? 1 : 0;
    // Ranks that share the network step one session after the other, all of them the same one.
    const u32 threads = settings_.ranks != nullptr ? 1 : std::clamp(options_.threads, 1U, std::max(left, 1U));
    profile_.threads.resize(std::max<std::size_t>(profile_.threads.size(), threads));
    const Stopwatch round;
    std::vector<std::thread> helpers;
    for (u32 i = 1; i < threads; ++i) helpers.emplace_back([this, i] { help(i); });
    work(0);
    for (std::thread& t : helpers) t.join();
    profile_.run_seconds += round.seconds();
    if (error_) std::rethrow_exception(error_);
    if (interrupted_) throw Interrupted("interrupted");
    if (dealt_by_ != nullptr) join_ranks();
    return outcomes_;
  }

  void archive(Archive& a) {
    a(outcomes_, finished_, under_way_);
    // The first session is shown while it is under way, in its own state.
    if (!finished_.empty() && finished_.front() != 0 && trees_) a(*trees_);
    done_ = static_cast<u64>(std::count(finished_.begin(), finished_.end(), 1));
  }

  /// What probes wrote down: counts of all sessions, events of the first.
  void add_tables(Result& result) const {
    engine::ProbeReport sum;
    u64 cycles = 0;
    for (const SessionOutcome& o : outcomes_) {
      sum.merge(o.probed);
      cycles += o.close - o.begin + 1;
    }
    sum.events = outcomes_.front().probed.events;
    sum.lost_events = outcomes_.front().probed.lost_events;
    std::optional<engine::Activity> activity = outcomes_.front().activity;
    for (std::size_t i = 1; i < outcomes_.size() && activity; ++i) *activity += *outcomes_[i].activity;
    add_activity(result, experiment_, activity);
    if (const auto costs = costs_of(experiment_); costs && activity) {
      u64 ticks = 0;
      u64 flits = 0;
      for (const SessionOutcome& o : outcomes_) {
        ticks += o.ticks;
        flits += o.delivered_flits;
      }
      add_energy(result, *costs, network_.topology->graph(), *activity, ticks, flits, flit_bytes(experiment_));
    }
    add_recorded(result, experiment_, settings_.probe, sum, *network_.topology, cycles);
    if (options_.trace != nullptr)
      *options_.trace = trace_text(outcomes_.front().probed, experiment_.traffics.size(), *network_.topology);
  }

  /// The congestion trees of the first session.
  void add_trees_of_first(Result& result) {
    if (trees_) add_trees(result, trees_->take(), trees_->marks());
  }

  void finish_log() {
    if (log_) log_->finish();
  }

  /// CPU time of the threads beside the caller's.
  [[nodiscard]] double helper_cpu_seconds() const { return helper_cpu_seconds_; }

  [[nodiscard]] std::shared_ptr<const Profile> profile() const {
    auto profile = std::make_shared<Profile>(profile_);
    for (Profile::Thread& thread : profile->threads) {
      thread.wait = std::max(0.0, profile->run_seconds - thread.work - thread.mail - thread.other);
    }
    if (dealt_by_ != nullptr) { profile->threads = dealt_by_->sum(std::move(profile->threads), engine::Ranks::kJoin); }
    for (const SessionOutcome& o : outcomes_) profile->moves += o.movements;
    profile->switches = network_.topology->graph().switches();
    profile->threads_asked = std::max(1U, options_.threads);
    profile->fewer_threads = fewer_threads();
    return profile;
  }
  /// Why not as many threads as were asked for; empty: there were.
  [[nodiscard]] std::string fewer_threads() const {
    const std::size_t used = profile_.threads.size();
    if (used >= options_.threads) return "";
    return fmt::format("{} of {} threads run{} these sessions: {}", used, options_.threads, used == 1 ? "s" : "",
                       settings_.ranks != nullptr ? "ranks that share a network step one session after the other"
                                                  : "there are no more sessions");
  }

 private:
  /// A session that is done, perhaps by another rank.
  struct Done {
    u32 session = 0;
    SessionOutcome outcome;
    std::string lines;  ///< of the log
    void archive(Archive& a) { a(session, outcome, lines); }
  };
  [[nodiscard]] bool is_own(u32 session) const {
    return dealt_by_ == nullptr || session % dealt_by_->size() == dealt_by_->rank();
  }
  /// What each rank has run since the last time, for all.
  void join_ranks() {
    std::vector<Done> all = dealt_by_->sum(std::exchange(dealt_, {}), engine::Ranks::kJoin);
    for (Done& one : all) put(std::move(one));
    done_ = outcomes_.size();
  }
  void put(Done session) {
    outcomes_[session.session] = std::move(session.outcome);
    finished_[session.session] = 1;
    if (log_) log_->put(session.session, std::move(session.lines));
  }

  void help(u32 thread) noexcept {
    work(thread);
    const std::lock_guard<std::mutex> lock(mutex_);
    helper_cpu_seconds_ += thread_cpu_seconds();
  }

  /// Everything before `done` is done.
  void sample(const engine::Machine& machine, Tick done) {
    while (trees_->next() <= done) trees_->observe(machine);
  }

  void work(u32 thread) noexcept {
    try {
      const Stopwatch building;
      Instance instance = build_instance(experiment_, network_, settings_);
      if (options_.profile) instance.machine->watch();
      const double build_seconds = building.seconds();
      const Stopwatch running;
      for (u32 i = next_++; i < outcomes_.size() && !stop_; i = next_++) {
        if (options_.interrupted != nullptr && *options_.interrupted) {
          interrupted_ = true;
          stop_ = true;
          const std::lock_guard<std::mutex> lock(mutex_);
          if (options_.keeper != nullptr) options_.keeper->save();
          return;
        }
        if (finished_[i] != 0 || !is_own(i)) continue;
        engine::SessionSettings session = session_;
        if (options_.keeper != nullptr) keep_session(session, i);
        if (i == 0 && trees_) {
          session.before_step = [this](const engine::Machine& machine, Tick done) { sample(machine, done); };
        }
        std::string lines;
        engine::PacketLog packets(network_.topology->graph(), [this, i, &lines](const engine::LoggedPacket& packet) {
          if (log_) log_->add_line(lines, i, packet);  // of ranks that share the network the first writes it
        });
        if (!options_.packet_log.empty()) session.log = &packets;
        engine::SessionOutcome outcome = engine::run_session(*instance.machine, *network_.topology, i, session);
        const std::lock_guard<std::mutex> lock(mutex_);
        if (dealt_by_ == nullptr) {
          put({i, std::move(outcome), std::move(lines)});
        } else {
          dealt_.push_back({i, std::move(outcome), std::move(lines)});
        }
        under_way_.erase(i);
        done_ += dealt_by_ == nullptr ? 1 : dealt_by_->size();  // the others have got about as far
        if (options_.keeper != nullptr && options_.keeper->due()) options_.keeper->save();
        if (options_.progress) options_.progress(std::min<u64>(done_, outcomes_.size()), outcomes_.size());
      }
      if (options_.profile) note_times(thread, *instance.machine, build_seconds, running.seconds());
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stop_ = true;
    }
  }

  /// Lets the session i tell its state now and then, and begin with what was told before.
  void keep_session(engine::SessionSettings& session, u32 i) {
    constexpr u32 kLooks = 256;  ///< ticks between looks at the clock
    auto last = std::chrono::steady_clock::now();
    u32 ticks = 0;
    session.keep = [this, i, last, ticks](const engine::RunKeeper::State& state, bool begin) mutable {
      if (begin) return resume_session(state, i);
      if (ticks++ % kLooks != 0) return;
      const std::lock_guard<std::mutex> lock(mutex_);
      const bool stops = options_.interrupted != nullptr && *options_.interrupted;
      if (!stops && !options_.keeper->due() && !options_.keeper->due_since(last)) return;
      ArchiveToText text;
      state(text);
      if (i == 0 && trees_) text(*trees_);
      under_way_[i] = text.take();
      options_.keeper->save();
      last = std::chrono::steady_clock::now();
      if (stops) throw Interrupted("interrupted");
    };
  }
  void resume_session(const engine::RunKeeper::State& state, u32 i) {
    std::string text;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto told = under_way_.find(i);
      if (told == under_way_.end()) return;
      text = told->second;
    }
    ArchiveOfText archive(text);
    state(archive);
    if (i == 0 && trees_) archive(*trees_);
  }

  void note_times(u32 thread, const engine::Machine& machine, double build_seconds, double seconds) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const double mail = machine.scaling().workers.front().mail;
    profile_.threads[thread].work += seconds - mail;
    profile_.threads[thread].mail += mail;
    profile_.threads[thread].other += build_seconds;
    add_cut(profile_, machine);
  }

  const Experiment& experiment_;
  const Network& network_;
  engine::EngineSettings settings_;
  const RunOptions& options_;
  engine::SessionSettings session_;
  std::optional<engine::TreeRecorder> trees_;
  std::optional<PacketLogFile> log_;
  Profile profile_;
  std::vector<SessionOutcome> outcomes_;
  std::vector<u8> finished_;              ///< [session]
  engine::Ranks* dealt_by_ = nullptr;     ///< the processes that run some of the sessions each; nullptr: this one all
  std::vector<Done> dealt_;               ///< that this one has run, and not told the others yet
  std::map<u32, std::string> under_way_;  ///< state of sessions that have begun, as they told it last
  std::atomic<u32> next_{0};
  std::atomic<bool> stop_{false};
  std::atomic<bool> interrupted_{false};
  std::mutex mutex_;
  u64 done_ = 0;
  double helper_cpu_seconds_ = 0.0;
  std::exception_ptr error_;
};

/// Turns the outcomes into metrics.
class SessionReport {
 public:
  SessionReport(const Experiment& experiment, const Network& network, const std::vector<SessionOutcome>& outcomes,
                bool deterministic)
      : experiment_(experiment),
        network_(network),
        outcomes_(outcomes),
        deterministic_(deterministic),
        confidence_(experiment.run.real("confidence")) {
    finite_.resize(experiment.traffics.size());
    for (const core::HotSpot& h : network.hot_spots) finite_[h.traffic] = true;
  }

  Result result() {
    // Sessions that were cut off would bias every mean.
    if (all_finished()) {
      if (network_.hot_spots.empty()) {
        add_completion();
      } else {
        add_messages();
        add_sessions();
      }
      add_latency();
      add_own();
    }
    add_traffics();
    add_counters();
    add_trees();
    add_series();
    Hasher h;
    for (const SessionOutcome& o : outcomes_) {
      h.add(o.hash);
      result_.checkpoints.push_back({result_.checkpoints.size(), o.hash});
    }
    result_.state_hash = h.value();
    judge();
    return std::move(result_);
  }

 private:
  template <class F>
  std::vector<SumCount> per_session(F&& f) const {
    std::vector<SumCount> groups;
    groups.reserve(outcomes_.size());
    for (const SessionOutcome& o : outcomes_) groups.push_back(f(o));
    return groups;
  }

  /// Sum over the classes of finite (synchronization) or of the other traffics; hot: only what goes to a hot spot.
  [[nodiscard]] SumCount sum(const SessionOutcome& o, bool finite, bool hot_only,
                             SumCount (*f)(const LatencySums&)) const {
    SumCount total;
    for (u32 t = 0; t < finite_.size(); ++t) {
      if (finite_[t] != finite) continue;
      total = plus(total, f(o.tallies[engine::tally_class(t, true)]));
      if (!hot_only) total = plus(total, f(o.tallies[engine::tally_class(t, false)]));
    }
    return total;
  }

  void ratio(const std::string& name, const std::string& unit, const std::vector<SumCount>& groups) {
    u64 count = 0;
    for (const SumCount& g : groups) count += g.count;
    if (count == 0) return;
    result_.metrics.push_back(stats::to_metric(name, unit, stats::ratio_interval(groups, confidence_)));
    result_.groups.push_back({name, groups});
  }
  void mean(const std::string& name, const std::string& unit, const std::vector<double>& samples) {
    result_.metrics.push_back(stats::to_metric(name, unit, stats::mean_interval(samples, confidence_)));
    Groups groups{name, {}};
    for (const double sample : samples) groups.sums.push_back({static_cast<u64>(sample), 1});
    result_.groups.push_back(std::move(groups));
  }
  void counter(const std::string& name, const std::string& unit, u64 value) {
    result_.metrics.push_back(stats::Metric::exact(name, unit, static_cast<double>(value)));
  }

  void add_messages() {
    ratio("mu_syn", "cycles", per_session([&](const SessionOutcome& o) { return sum(o, true, false, delay); }));
    ratio("mu_bg_tot", "cycles", per_session([&](const SessionOutcome& o) { return sum(o, false, false, delay); }));
    ratio("mu_bg_hs", "cycles", per_session([&](const SessionOutcome& o) { return sum(o, false, true, delay); }));
  }

  /// Finite traffics that are no synchronizations: from the first message to the last arrival.
  void add_completion() {
    std::vector<double> cycles;
    for (const SessionOutcome& o : outcomes_) cycles.push_back(static_cast<double>(o.close - o.begin));
    mean("completion_time", "cycles", cycles);
  }

  void add_sessions() {
    std::vector<double> cycles;
    std::vector<double> background;
    std::vector<double> hot;
    for (const SessionOutcome& o : outcomes_) {
      cycles.push_back(static_cast<double>(o.close - o.begin));
      background.push_back(static_cast<double>(sum(o, false, false, delay).count));
      hot.push_back(static_cast<double>(sum(o, false, true, delay).count));
    }
    mean("session_cycles", "cycles", cycles);
    mean("session_background", "packets", background);
    mean("session_hot_background", "packets", hot);
    ratio("session_bandwidth", "packets/cycle", per_session([](const SessionOutcome& o) {
            return SumCount{o.delivered_within, o.close - o.begin + 1};
          }));
  }

  void add_latency() {
    const auto of_all = [&](SumCount (*f)(const LatencySums&)) {
      return per_session(
          [&](const SessionOutcome& o) { return plus(sum(o, true, false, f), sum(o, false, false, f)); });
    };
    ratio("packet_latency", "cycles", of_all([](const LatencySums& t) { return SumCount{t.latency, t.packets}; }));
    ratio("network_latency", "cycles", of_all([](const LatencySums& t) {
            return SumCount{t.latency - t.queueing, t.packets};
          }));
    ratio("source_queueing", "cycles", of_all([](const LatencySums& t) { return SumCount{t.queueing, t.packets}; }));
    ratio("head_latency", "cycles", of_all([](const LatencySums& t) {
            return SumCount{t.latency - t.queueing - t.serialization, t.packets};
          }));
    ratio("serialization_latency", "cycles", of_all([](const LatencySums& t) {
            return SumCount{t.serialization, t.packets};
          }));
    if (!switch_row(experiment_).without_contention)
      ratio("hops", "switches", of_all([](const LatencySums& t) { return SumCount{t.hops, t.packets}; }));
    ratio("message_latency_first", "cycles", of_all([](const LatencySums& t) {
            return SumCount{t.message_first, t.messages};
          }));
    ratio("message_latency_last", "cycles", of_all([](const LatencySums& t) {
            return SumCount{t.message_last, t.messages};
          }));
  }

  /// Metrics of the switch model's own: these have the same places in all sessions, before those found late.
  void add_own() {
    if (outcomes_.empty()) return;
    for (std::size_t i = 0; i < outcomes_.front().own.entries().size(); ++i) {
      const engine::OwnMetrics::Entry& entry = outcomes_.front().own.entries()[i];
      if (entry.windows.empty()) continue;
      ratio(own_metric(experiment_, result_, entry.name), entry.unit,
            per_session([&](const SessionOutcome& o) { return o.own.entries()[i].windows.front(); }));
    }
  }

  void add_traffics() {
    if (experiment_.traffics.size() < 2) return;
    for (u32 t = 0; t < experiment_.traffics.size(); ++t) {
      ratio("packet_latency" + traffic_suffix(experiment_, t), "cycles", per_session([&](const SessionOutcome& o) {
              const auto latency = [](const LatencySums& tally) { return SumCount{tally.latency, tally.packets}; };
              return plus(latency(o.tallies[engine::tally_class(t, false)]),
                          latency(o.tallies[engine::tally_class(t, true)]));
            }));
    }
  }

  void add_counters() {
    u64 cycles = 0;
    u64 delivered = 0;
    u64 moves = 0;
    for (const SessionOutcome& o : outcomes_) {
      cycles += o.ticks;
      delivered += o.delivered;
      moves += o.movements;
    }
    counter("sessions", "sessions", outcomes_.size());
    if (deterministic_) counter(kDeterministic, "", 1);
    counter("simulated_cycles", "cycles", cycles);
    counter("terminal_cycles", "terminal cycles", cycles * network_.topology->traffic_terminals());
    counter("delivered_packets", "packets", delivered);
    counter("packet_moves", "moves", moves);
    engine::OwnMetrics own;
    for (const SessionOutcome& o : outcomes_) own.merge(o.own);
    for (const engine::OwnMetrics::Entry& entry : own.entries()) {
      if (entry.windows.empty()) counter(entry.name, entry.unit, entry.value);
    }
  }

  void add_trees() {
    if (outcomes_.empty() || outcomes_.front().tree_height.empty()) return;
    const auto per_cycle = [&](const std::string& name, const std::string& unit, u64 SessionOutcome::*field) {
      ratio(name, unit, per_session([&](const SessionOutcome& o) {
              return SumCount{o.*field, o.close - o.begin + 1};
            }));
    };
    per_cycle("tree_height", "stages", &SessionOutcome::tree_height_sum);
    per_cycle("tree_boxes", "switches", &SessionOutcome::tree_boxes_sum);
    per_cycle("tree_boxes_outside", "switches", &SessionOutcome::tree_other_sum);
    std::vector<double> most;
    for (const SessionOutcome& o : outcomes_) most.push_back(o.tree_height_most);
    mean("tree_height_most", "stages", most);
  }

  /// Mean over the sessions that last at least so long.
  template <class F>
  void series(const std::string& name, const std::string& unit, F&& value_at) {
    stats::Series out{name, unit, 0.0, 1.0, {}};
    for (std::size_t i = 0; i < kSeriesLength; ++i) {
      u64 alive = 0;
      double total = 0.0;
      for (const SessionOutcome& o : outcomes_) {
        if (o.close - o.begin < i) continue;
        ++alive;
        total += static_cast<double>(value_at(o, i));
      }
      if (alive == 0) break;
      out.values.push_back(total / static_cast<double>(alive));
    }
    result_.series.push_back(std::move(out));
  }

  void add_series() {
    if (outcomes_.empty()) return;
    const SessionOutcome& first = outcomes_.front();
    if (!first.generated.empty() && !first.generated.front().empty()) {
      const auto generated = [&](bool finite) {
        return [this, finite](const SessionOutcome& o, std::size_t i) {
          u64 total = 0;
          for (u32 t = 0; t < finite_.size(); ++t) {
            if (finite_[t] == finite) total += o.generated[engine::tally_class(t, true)][i];
          }
          return total;
        };
      };
      series("generated_synchronization", "packets/cycle", generated(true));
      series("generated_hot_background", "packets/cycle", generated(false));
    }
    for (std::size_t l = 0; l < first.occupancy.size(); ++l) {
      series(fmt::format("occupancy_level_{}", l), "packets",
             [l](const SessionOutcome& o, std::size_t i) { return o.occupancy[l][i]; });
    }
    if (!first.tree_height.empty()) {
      series("tree_height", "stages", [](const SessionOutcome& o, std::size_t i) { return o.tree_height[i]; });
      series("tree_boxes", "switches", [](const SessionOutcome& o, std::size_t i) { return o.tree_boxes[i]; });
    }
  }

  [[nodiscard]] bool all_finished() const {
    return std::all_of(outcomes_.begin(), outcomes_.end(),
                       [](const SessionOutcome& o) { return o.end == SessionOutcome::End::finished; });
  }

  void judge() {
    result_.verdict = Verdict::finished;
    result_.explanation =
        "every session starts from an empty network that the background warms up until the first finite message; "
        "intervals over sessions (ratio estimator)";
    if (deterministic_) {
      result_.explanation =
          "deterministic: nothing in this experiment is random, so that all sessions are equal; one was run, and its "
          "means are exact, without an interval";
    }
    const bool equal = std::any_of(result_.metrics.begin(), result_.metrics.end(),
                                   [](const stats::Metric& metric) { return !metric.counter && !metric.half_width; });
    if (!deterministic_ && equal && outcomes_.size() > 1) {
      result_.explanation +=
          fmt::format("; a mean of fewer than {} sessions that are all equal has no interval", stats::kFewestEqual);
    }
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      const SessionOutcome& o = outcomes_[i];
      if (o.end == SessionOutcome::End::finished) continue;
      result_.verdict = o.end == SessionOutcome::End::deadlocked ? Verdict::deadlocked : Verdict::saturated;
      // A session that was cut off shows that it is long, not that queues grow (stats::judge).
      result_.certain = result_.verdict == Verdict::deadlocked;
      result_.explanation =
          fmt::format("session {}: {}; no means are reported: they would be of parts of sessions", i, o.explanation);
      return;
    }
    doubt_wide_means();
  }

  /// The rule is that of steady states: no latency is certain that is known so badly.
  void doubt_wide_means() {
    const stats::Metric* widest = nullptr;
    double most = stats::VerdictRule{}.latency;
    for (const stats::Metric& metric : result_.metrics) {
      const bool time = metric.name == "completion_time" || metric.name.find("latency") != std::string::npos;
      if (metric.counter || !time || !metric.half_width || !(metric.mean > 0.0)) continue;
      if (*metric.half_width <= most * metric.mean) continue;
      widest = &metric;
      most = *metric.half_width / metric.mean;
    }
    if (widest == nullptr) return;
    result_.certain = false;
    result_.explanation += fmt::format(
        "; uncertain: {} is known within {:.0f} % only; more sessions (run.sessions) "
        "would tell",
        widest->name, 100.0 * most);
  }

  const Experiment& experiment_;
  const Network& network_;
  const std::vector<SessionOutcome>& outcomes_;
  bool deterministic_;
  double confidence_;
  std::vector<bool> finite_;
  Result result_;
};

/// The next number of sessions towards the precision that is asked for; nothing when it is reached, or cannot be.
std::optional<u64> more_sessions(const Result& result, u64 sessions, const stats::PrecisionGoal& goal,
                                 double confidence) {
  if (result.verdict != Verdict::finished) return std::nullopt;
  std::optional<double> remaining;
  bool reached = true;
  for (const std::string& name : kPreciseOfSessions) {
    for (const Groups& groups : result.groups) {
      if (groups.metric != name) continue;
      const stats::Interval interval = stats::ratio_interval(groups.sums, confidence);
      reached = reached && stats::reached(interval, goal);
      remaining = std::max(remaining, stats::remaining_effort(interval, goal));
    }
  }
  if (reached) return std::nullopt;
  return stats::next_checkpoint(sessions, remaining);
}

}  // namespace

bool deals_sessions(const Experiment& experiment, const Network& network, const RunOptions& options) {
  if (options.ranks == nullptr || options.keeper != nullptr) return false;
  if (network.topology->graph().switches() > kMostSwitchesDealt) return false;
  return sessions_of(experiment, network) >= options.ranks->size();
}

engine::SessionSettings session_settings(const config::Values& run) {
  engine::SessionSettings session;
  session.limit = static_cast<Tick>(run.integer("session_limit"));
  session.watchdog = static_cast<Tick>(run.integer("watchdog"));
  session.full_audit = run.text("audit") == "full";
  const std::string& series = run.text("series");
  session.occupancy = series == "occupancy" || series == "all";
  session.tree = series == "tree" || series == "all";
  session.series_length = kSeriesLength;
  return session;
}

Result measure_sessions(const Experiment& experiment, const Network& network, engine::EngineSettings settings,
                        const RunOptions& options) {
  SessionRunner runner(experiment, network, std::move(settings), options);
  const bool deterministic = is_deterministic(experiment, network);
  const auto goal = deterministic ? std::nullopt : precision_goal(experiment.run);
  u64 sessions = sessions_of(experiment, network);
  const u64 limit = std::min<u64>(precision_limit(experiment.run, sessions), kMostSessions);
  const engine::RunKeeper::Part part(options.keeper, [&](Archive& a) { a(sessions, runner); });
  for (;;) {
    Result result = SessionReport(experiment, network, runner.run(sessions), deterministic).result();
    const auto more = goal ? more_sessions(result, sessions, *goal, experiment.run.real("confidence")) : std::nullopt;
    if (more && sessions < limit) {
      sessions = std::min(limit, *more);
      continue;
    }
    if (goal && result.verdict == Verdict::finished) state_precision(result, experiment.run, kPreciseOfSessions);
    add_units(result, cycle_ns(experiment), flit_bytes(experiment));
    runner.add_tables(result);
    runner.add_trees_of_first(result);
    runner.finish_log();
    result.cpu_seconds = runner.helper_cpu_seconds();
    result.fewer_threads = runner.fewer_threads();
    if (options.profile) result.profile = runner.profile();
    return result;
  }
}

}  // namespace banyan::api
