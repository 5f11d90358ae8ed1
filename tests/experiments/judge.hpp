// Runs an experiment in every mode that must not change its results, and says what is wrong with what comes out.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "banyan/api/catalog.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/api/measure/steady.hpp"
#include "banyan/api/needs.hpp"
#include "banyan/api/network.hpp"
#include "banyan/api/predictions.hpp"
#include "banyan/api/reader.hpp"
#include "banyan/base/error.hpp"
#include "banyan/core/dependencies.hpp"
#include "banyan/core/size.hpp"
#include "banyan/workload/formats.hpp"
#include "banyan/workload/inspection.hpp"
#include "experiments/recipe.hpp"

namespace banyan::test::experiments {

/// `kind` is the same for the same fault in different experiments, as far as that can be told: it is what shrinking
/// keeps.
struct Finding {
  std::string kind;
  std::string detail;
};

enum class Fate {
  passed,
  refused,
  too_large,  ///< more terminals than are wanted here, or more memory than a child may have
  failed,
};

struct Judgement {
  Fate fate = Fate::passed;
  std::vector<Finding> findings;
  std::vector<std::string> refusals;  ///< their places and causes
};

struct Mode {
  const char* name;
  u32 threads = 1;
  bool full_audit = false;
  bool permuted = false;
  bool all_awake = false;
  i64 shards = 0;

  void set(config::Values& run) const {
    run.set("audit", std::string(full_audit ? "full" : "cheap"));
    run.set("step_order", std::string(permuted ? "permuted" : "ascending"));
    run.set("wake", std::string(all_awake ? "all" : "needed"));
    run.set("shards", shards);
  }
};

/// The first is the one that the others are compared with. What is audited in full: all that is in one shard, and what
/// is on its way between shards. Threads wait for each other in every window, which takes longer than all the rest
/// where the machine has other work: one mode has them.
inline const std::vector<Mode>& modes() {
  static const std::vector<Mode> all{
      {.name = "plain", .full_audit = true},
      {.name = "all awake", .all_awake = true},
      {.name = "permuted, two shards, two threads", .threads = 2, .permuted = true, .shards = 2},
      {.name = "all awake, permuted, seven shards",
       .full_audit = true,
       .permuted = true,
       .all_awake = true,
       .shards = 7},
      {.name = "a shard per switch", .shards = 255},
  };
  return all;
}

/// Changes an experiment that does not run, as the file of that path; false: there is nothing left to try.
using Repairer = std::function<bool(Recipe&, const Refusal&, const std::string&)>;

/// For tests of the judge itself: plants a fault in what a mode's run gave.
using Disturb = std::function<void(const Mode&, api::Result&)>;

class Judge {
 public:
  explicit Judge(std::filesystem::path folder, Disturb disturb = {})
      : folder_(std::move(folder)), disturb_(std::move(disturb)) {}

  /// `tried` hears of the experiment before it is tried, and of each repair of it.
  [[nodiscard]] Judgement judge(const Recipe& recipe, const std::function<void(const Recipe&)>& tried,
                                const Repairer& repair) {
    write_files(recipe, folder_);
    Recipe accepted = recipe;
    std::vector<std::string> refusals;
    while (true) {
      tried(accepted);
      Judgement judgement = judge(to_toml(accepted), kMostTerminalCycles);
      if (judgement.fate == Fate::refused) refusals.push_back(refusal_.where.key + ": " + refusal_.cause);
      const bool ran = judgement.fate != Fate::refused && judgement.fate != Fate::too_large;
      if (ran || !repair || !repair(accepted, refusal_, path())) {
        judgement.refusals = std::move(refusals);
        return judgement;
      }
    }
  }

  /// An experiment as a file says it, of any length.
  [[nodiscard]] Judgement judge(const std::string& toml) {
    return judge(toml, std::numeric_limits<double>::infinity());
  }

 private:
  [[nodiscard]] Judgement judge(const std::string& toml, double most_terminal_cycles) {
    Judgement judgement;
    most_terminal_cycles_ = most_terminal_cycles;
    findings_.clear();
    refusal_ = {};
    text_ = toml;
    try {
      judgement.fate = run();
    } catch (const std::bad_alloc&) { judgement.fate = Fate::too_large; } catch (const InvariantError& error) {
      if (controls_order() && std::string(error.what()).find("overtook") != std::string::npos) {
        judgement.fate = Fate::refused;
      } else {
        find("broken invariant", error.what());
      }
    } catch (const std::exception& error) { find("exception", error.what()); }
    judgement.findings = findings_;
    if (!findings_.empty()) judgement.fate = Fate::failed;
    refusal_.too_large = judgement.fate == Fate::too_large;
    return judgement;
  }

  /// The point is many experiments: small networks, large ones for few cycles.
  static constexpr double kMostTerminals = 600;
  static constexpr double kMostSwitches = 1200;
  static constexpr double kMostTerminalCycles = 400'000;
  static constexpr double kMostPackets = 2e6;  ///< by the program's own estimate: a second or less per mode
  static constexpr i64 kMostParts = 8192;      ///< ranks of a job, segments of its messages
  static constexpr double kMostOperations = 100'000;
  static constexpr i64 kMostBytesOfJob = i64{1} << 24U;  ///< per rank, on a network whose flits take turns

  static bool too_large(const core::NetworkSize& size) {
    return size.terminals > kMostTerminals || size.switches > kMostSwitches;
  }
  /// Nothing where the topology is refused: check() says so, unless it has something to say before.
  static std::optional<core::NetworkSize> size_of(const api::Experiment& experiment) {
    try {
      return core::size_of(api::build_topology(experiment)->graph());
    } catch (const ConfigError&) { return std::nullopt; }
  }
  static double most_cycles(const config::Values& run) {
    if (api::is_fixed(run)) return static_cast<double>(run.integer("duration"));
    const char* const limit = run.real("precision") > 0.0 ? "precision_limit" : "extension";
    const double longest = static_cast<double>(run.integer(limit));
    const double steady = static_cast<double>(run.integer("warmup")) +
                          longest * static_cast<double>(run.integer("measure")) +
                          static_cast<double>(run.integer("drain"));
    const double sessions =
        static_cast<double>(run.integer("sessions")) * static_cast<double>(run.integer("session_limit"));
    return std::max(steady, sessions);
  }

  /// In cycles of terminals; a look for congestion trees goes through all channels, and from each of their virtual
  /// channels to those of the next that its head may take: 80 ms where 16,000 of them wait for 256 others each.
  static double most_work(const api::Experiment& experiment, const core::NetworkSize& size) {
    const config::Values& run = experiment.run;
    constexpr double kVcsOfACycle = 64.0;
    const double vcs = api::switch_row(experiment).vcs(experiment.switching);
    const double cycles = most_cycles(run);
    const auto interval = static_cast<double>(run.integer("trees_interval"));
    const double looks = run.flag("trees") && interval > 0.0 ? cycles / interval : 0.0;
    return cycles * size.terminals + looks * size.channels * std::max(1.0, vcs * vcs / kVcsOfACycle);
  }

  /// A model without a limit at its terminals sends replies and batches of any length within a few cycles.
  static bool too_many_packets(const api::Experiment& experiment) {
    std::optional<api::Work> work = api::WorkOfRuns()(experiment);
    if (work && work->packets * work->most_times > kMostPackets) return true;
    if (!work || !work->at_least) return false;
    api::Experiment longest = experiment;  // what is sent beside finite messages until their limit
    longest.run.set("duration", experiment.run.integer("sessions") * experiment.run.integer("session_limit"));
    work = api::WorkOfRuns()(longest);
    return work && work->packets > kMostPackets;
  }
  static bool too_many_parts(const config::Values& job) {
    const i64 ranks = std::max<i64>(1, job.integer("generator.ranks"));
    if (static_cast<double>(job.integer("repeats")) * static_cast<double>(ranks) > kMostOperations) return true;
    return job.integer("generator.ranks") > kMostParts || job.integer("generator.segments") > kMostParts;
  }

  /// Without markers packets of cioq overtake each other: it is there to show that the audit of order sees it.
  [[nodiscard]] bool controls_order() const {
    static const std::regex without(R"(\nmarkers = false\n)");
    return std::regex_search(text_, without);
  }

  void find(const std::string& kind, const std::string& detail) { findings_.push_back({kind, detail}); }

  [[nodiscard]] api::Experiment read() const { return api::read_experiments_text(text_, path(), {}).points.front(); }
  [[nodiscard]] std::string path() const { return (folder_ / "experiment.toml").string(); }

  /// What every mode builds is built once, and shared by all but the first.
  struct Built {
    api::Network network;
    std::vector<api::Predictions> predictions;
  };

  Fate run() {
    std::optional<api::Experiment> experiment;
    Built built;
    std::string refusal;
    try {
      experiment = read();
      modes().front().set(experiment->run);
      const core::TopologyRow& row = api::topology_row(*experiment);
      if (row.size != nullptr && too_large(row.size(experiment->topology))) return Fate::too_large;
      if (!experiment->jobs.empty()) return run_jobs(*experiment);
      const std::optional<core::NetworkSize> size = size_of(*experiment);
      if (size && too_large(*size)) return Fate::too_large;
      if (size && most_work(*experiment, *size) > most_terminal_cycles_) return Fate::too_large;
      if (too_many_packets(*experiment)) return Fate::too_large;
      api::check(*experiment);
      built.network = api::build_network(*experiment);
      built.predictions = api::predict(*experiment, built.network);
      judge_routing(*experiment, built.network);
    } catch (const ConfigError& error) {
      judge_refusal(error);
      refusal = error.what();
      refusal_ = {error.where(), error.cause(), error.remedy()};
    }
    if (!experiment) return Fate::refused;
    std::optional<api::Result> first = run_plain(*experiment, refusal);
    if (!first) return findings_.empty() ? Fate::refused : Fate::failed;
    if (disturb_) disturb_(modes().front(), *first);
    judge_result(*experiment, built.network, *first);
    const std::string first_text = text_of(*first);
    for (const Mode& mode : modes()) {
      if (&mode == &modes().front()) continue;
      api::Experiment other = *experiment;
      mode.set(other.run);
      api::RunOptions options;
      options.threads = mode.threads;
      api::Result result = api::run_on(other, built.network, built.predictions, options);
      if (disturb_) disturb_(mode, result);
      if (compare(mode.name, *first, result)) break;
      // All that is stored of a result takes as long to write as the run: once, of the mode that differs most.
      if (&mode == &modes().back() && compare_text(mode.name, first_text, text_of(result))) break;
    }
    return Fate::passed;
  }

  /// Jobs end by themselves, and are measured by their ends: models, loads and channels are not asked.
  Fate run_jobs(const api::Experiment& experiment) {
    if (std::ranges::any_of(experiment.jobs, too_many_parts)) return Fate::too_large;
    const auto too_long = [](const config::Values& job) { return job.integer("generator.bytes") > kMostBytesOfJob; };
    const bool moves = !api::switch_row(experiment).without_contention;
    if (moves && std::ranges::any_of(experiment.jobs, too_long)) return Fate::too_large;
    std::string refusal;
    try {
      api::check(experiment);
      if (too_large(core::size_of(api::build_topology(experiment)->graph()))) return Fate::too_large;
    } catch (const ConfigError& error) {
      judge_refusal(error);
      refusal = error.what();
      refusal_ = {error.where(), error.cause(), error.remedy()};
    }
    std::optional<api::Result> first = run_plain(experiment, refusal);
    if (!first && refusal.empty() && findings_.empty()) return Fate::passed;  // ends_by_time()
    if (!first) return findings_.empty() ? Fate::refused : Fate::failed;
    if (disturb_) disturb_(modes().front(), *first);
    judge_text(*first);
    judge_metrics(*first);
    judge_tables(*first);
    const stats::Metric* const operations = first->find("operations");
    if (operations != nullptr && operations->mean > kMostOperations) {
      return findings_.empty() ? Fate::too_large : Fate::failed;
    }
    const std::string first_text = text_of(*first);
    for (const Mode& mode : modes()) {
      if (&mode == &modes().front()) continue;
      api::Experiment other = experiment;
      mode.set(other.run);
      api::RunOptions options;
      options.threads = mode.threads;
      api::Result result = api::run(other, options);
      if (disturb_) disturb_(mode, result);
      if (compare(mode.name, *first, result)) break;
      if (compare_text(mode.name, first_text, text_of(result))) break;
    }
    return Fate::passed;
  }

  /// Runs what `check` accepted, or refused with `refusal`: both must say the same.
  std::optional<api::Result> run_plain(const api::Experiment& experiment, const std::string& refusal) {
    std::string run_refusal;
    std::optional<api::Result> result;
    try {
      result = api::run(experiment);
    } catch (const ConfigError& error) { run_refusal = error.what(); }
    if (run_refusal == refusal) return result;
    if (refusal.empty() && ends_by_time(experiment, run_refusal)) return std::nullopt;
    find(refusal.empty() ? "check accepts what run refuses" : "check and run refuse differently",
         fmt::format("check says \"{}\", run \"{}\"", refusal, run_refusal));
    return std::nullopt;
  }

  /// Where who meets whom depends on time, only the run knows that operations wait for each other.
  static bool ends_by_time(const api::Experiment& experiment, const std::string& run_refusal) {
    if (run_refusal.find(" cannot go on: ") == std::string::npos) return false;
    return std::ranges::any_of(experiment.jobs, [](const config::Values& job) {
      return job.given("file") && !workload::meets_in_one_order(workload::read_workload(job.text("file")));
    });
  }

  /// One cause, one remedy, a place.
  void judge_refusal(const ConfigError& error) {
    const auto bad = [&](const std::string& text) { return text.empty() || text.find('\n') != std::string::npos; };
    if (bad(error.cause()) || bad(error.remedy())) find("a refusal is not one cause and one remedy", error.what());
    const Where& where = error.where();
    const bool binary = where.file.ends_with(".et");  // has no lines
    if (where.file.empty() || (where.line == 0 && !binary)) find("a refusal has no place", error.what());
  }

  /// No packet finds itself without a way, whatever the switch does with it.
  void judge_routing(const api::Experiment& experiment, const api::Network& network) {
    constexpr u64 kMostSteps = 200'000;
    const core::Topology& topology = network.topology->one_subnetwork();
    const core::DependencyReport report = core::check_dependencies(
        topology, *network.routing_in_one, api::switch_row(experiment).vcs(experiment.switching), kMostSteps);
    if (report.verdict == core::DependencyVerdict::lost)
      find("a packet without a way", core::explain(report, topology));
  }

  /// Stops at the first difference. Returns true when there is one.
  bool compare(const std::string& mode, const api::Result& a, const api::Result& b) {
    const auto differ = [&](const std::string& what, const std::string& is, const std::string& was) {
      find("modes differ in " + what, fmt::format("{}: {} instead of {}", mode, is, was));
      return true;
    };
    if (a.verdict != b.verdict) return differ("the verdict", api::to_string(b.verdict), api::to_string(a.verdict));
    for (const stats::Metric& metric : a.metrics) {
      const stats::Metric* const other = b.find(metric.name);
      if (other == nullptr) return differ("which metrics there are", "no " + metric.name, "one");
      if (metric_text(*other) != metric_text(metric)) {
        return differ("metric " + metric.name, metric_text(*other), metric_text(metric));
      }
    }
    if (a.metrics.size() != b.metrics.size()) {
      return differ("which metrics there are", fmt::format("{} metrics", b.metrics.size()),
                    fmt::format("{}", a.metrics.size()));
    }
    if (a.explanation != b.explanation) return differ("the explanation", b.explanation, a.explanation);
    if (a.state_hash != b.state_hash) {
      return differ("the hash", fmt::format("{:016x}", b.state_hash), fmt::format("{:016x}", a.state_hash));
    }
    const auto same = [](const auto& x, const auto& y, auto&& equal) {
      return std::equal(x.begin(), x.end(), y.begin(), y.end(), equal);
    };
    const auto same_bits = [](double x, double y) { return std::bit_cast<u64>(x) == std::bit_cast<u64>(y); };
    if (!same(a.series, b.series, [&](const stats::Series& x, const stats::Series& y) {
          return x.name == y.name && same(x.values, y.values, same_bits);
        })) {
      return differ("series", "other values", "some");
    }
    for (std::size_t t = 0; t < std::max(a.tables.size(), b.tables.size()); ++t) {
      if (a.tables.size() != b.tables.size()) return differ("which tables there are", "other ones", "some");
      if (a.tables[t].rows != b.tables[t].rows) return differ("table " + a.tables[t].name, "other rows", "some");
    }
    if (!same(a.groups, b.groups, [&](const api::Groups& x, const api::Groups& y) {
          return x.metric == y.metric && same(x.sums, y.sums, [](const stats::SumCount& v, const stats::SumCount& w) {
                   return v.sum == w.sum && v.count == w.count;
                 });
        })) {
      return differ("groups", "other sums", "some");
    }
    if ((a.trees == nullptr) != (b.trees == nullptr) || (a.trees != nullptr && !(*a.trees == *b.trees))) {
      return differ("the record of congestion trees", "another", "the first");
    }
    return false;
  }

  /// What is stored of a result, but for what its mode and the machine decide.
  static std::string text_of(api::Result result) {
    result.cpu_seconds = 0.0;
    result.peak_bytes = 0;
    result.configuration.clear();
    return api::to_json(result);
  }
  bool compare_text(const std::string& mode, const std::string& x, const std::string& y) {
    if (x == y) return false;
    std::size_t at = 0;
    while (at < x.size() && at < y.size() && x[at] == y[at]) ++at;
    at -= std::min<std::size_t>(at, 100);
    find("modes differ in what is stored",
         fmt::format("{}: {} instead of {}", mode, y.substr(at, 200), x.substr(at, 200)));
    return true;
  }

  static std::string metric_text(const stats::Metric& m) {
    return fmt::format("{} ± {} of {}", m.mean, m.half_width ? fmt::format("{}", *m.half_width) : "?", m.count);
  }

  void judge_result(const api::Experiment& experiment, const api::Network& network, const api::Result& result) {
    judge_text(result);
    judge_bounds(experiment, network, result);
    judge_metrics(result);
    judge_tables(result);
    judge_channels(experiment, network, result);
    judge_latency(result, !api::switch_row(experiment).without_contention);
    judge_loads(experiment, result);
    judge_length(experiment, result);
    judge_deadlock(experiment, result);
    judge_silence(experiment, network, result);
    judge_files(experiment, result);
  }

  /// No run exceeds what any model proves of it, whether it asked for that model or not.
  void judge_bounds(const api::Experiment& experiment, const api::Network& network, api::Result result) {
    api::add_predictions(result, api::proven_bounds(experiment, network));
    const std::size_t at = result.warning.find("CONTRADICTION");
    if (at != std::string::npos) find("a run contradicts a proven bound", result.warning.substr(at));
  }

  void judge_text(const api::Result& result) {
    static const std::regex no_number(R"((^|[^a-zA-Z])-?(nan|inf)($|[^a-zA-Z]))");
    for (const std::string* text : {&result.explanation, &result.warning}) {
      if (std::regex_search(*text, no_number)) find("a text with a number that is none", *text);
    }
    if (result.explanation.empty()) find("a result without explanation", api::to_string(result.verdict));
  }

  void judge_metrics(const api::Result& result) {
    std::set<std::string> names;
    for (const stats::Metric& m : result.metrics) {
      if (!names.insert(m.name).second) find("a metric twice", m.name);
      if (!std::isfinite(m.mean)) find("a metric that is no number", m.name);
      if (m.mean < 0.0) find("a metric below 0", fmt::format("{} = {}", m.name, m.mean));
      if (m.half_width && !(std::isfinite(*m.half_width) && *m.half_width >= 0.0)) {
        find("a half width that is none", fmt::format("{} ± {}", m.name, *m.half_width));
      }
      if (!m.counter && m.count == 0) find("a mean of nothing", m.name);
    }
    for (const stats::Series& series : result.series) {
      const bool may_be_empty = series.name.starts_with("packet_latency");  // no packet arrived in that window
      for (const double value : series.values) {
        if ((std::isfinite(value) && value >= 0.0) || (may_be_empty && std::isnan(value))) continue;
        find("a series with a value that is none", series.name);
        break;
      }
    }
  }

  void judge_tables(const api::Result& result) {
    for (const api::Table& table : result.tables) {
      for (const auto& row : table.rows) {
        if (row.size() != table.columns.size()) find("a row of another length", table.name);
        for (std::size_t i = 0; i < std::min(row.size(), table.columns.size()); ++i) {
          const double* const value = std::get_if<double>(&row[i]);
          if (value == nullptr) continue;
          if (!std::isfinite(*value) || *value < 0.0) {
            find("a table with a value that is none", table.name + "." + table.columns[i]);
          } else if (table.columns[i] == "utilization" && *value > 1.0 + 1e-9) {
            find("a channel that is used more than always", fmt::format("{}", *value));
          }
        }
      }
    }
  }

  /// Utilization ends at 1, so flits are counted against what a channel carries in the time that is measured. Some may
  /// have been handed to it that it carries later: the packet under way, or what waits between a switch and a slow
  /// channel, where the switch has such queues.
  void judge_channels(const api::Experiment& experiment, const api::Network& network, const api::Result& result) {
    const auto table = std::find_if(result.tables.begin(), result.tables.end(),
                                    [](const api::Table& t) { return t.name == "channels"; });
    if (table == result.tables.end()) return;
    const stats::Metric* const cycles = result.find("simulated_cycles");
    if (cycles == nullptr) return;
    const config::Values& run = experiment.run;
    const stats::Metric* const sessions = result.find("sessions");
    double measured = cycles->mean + (sessions == nullptr ? 0.0 : sessions->mean);
    if (sessions == nullptr && !api::is_fixed(run)) measured -= static_cast<double>(run.integer("warmup"));
    if (sessions == nullptr && !api::is_fixed(run) && run.real("precision") == 0.0) {
      const stats::Metric* const extended = result.find("measured_cycles");
      measured = std::min(measured, extended ? extended->mean : static_cast<double>(run.integer("measure")));
    }
    const auto natural = [&](const char* name) {
      const auto& all = experiment.switching.all();
      return all.find(name) == all.end() ? 0.0 : static_cast<double>(experiment.switching.integer(name));
    };
    const double bandwidth = std::max(1.0, natural("bandwidth"));
    u64 longest = 1;
    for (const auto& traffic : api::build_traffics(experiment, *network.topology)) {
      longest = std::max<u64>(longest, traffic->longest_message());
    }
    const auto& admission = experiment.admission.all();
    if (admission.contains("feedback") && experiment.admission.text("feedback") == "packets") {
      const u64 own = experiment.admission.natural("feedback_flits");
      longest = std::max<u64>(longest, own != 0 ? own : api::switch_row(experiment).control_flits);
    }
    // Sessions are measured one by one, and each may leave something behind.
    const double ends = sessions == nullptr ? 1.0 : sessions->mean;
    const bool queues = natural("output_speedup") > 1.0 || experiment.switching.component() == "vc_router";
    // Circuits share a channel by its virtual channels, and are counted when they are set up.
    const double circuits = experiment.switching.component() == "circuit" ? natural("vcs") : 1.0;
    const double later = ends * (circuits * static_cast<double>(longest) + natural("header") + bandwidth +
                                 (queues ? natural("vcs") * natural("buffer") + natural("output_buffer") : 0.0));
    for (const auto& row : table->rows) {
      const auto channel = static_cast<std::size_t>(std::get<u64>(row[0]));
      const auto flits = static_cast<double>(std::get<u64>(row[5]));
      const core::Link& link = network.topology->graph().channel(static_cast<u32>(channel)).link;
      const double most = measured * bandwidth / link.cycles_per_flit + later;
      if (flits <= most) continue;
      find("a channel that carries more than it can", fmt::format("channel {}: {} flits in {} cycles of {} per flit",
                                                                  channel, flits, measured, link.cycles_per_flit));
      break;
    }
  }

  /// Where a watchdog has called a silence a deadlock, patience does not help: without it the packets arrive no more
  /// than with it.
  void judge_silence(const api::Experiment& experiment, const api::Network& network, const api::Result& result) {
    if (result.verdict != api::Verdict::deadlocked || experiment.run.integer("watchdog") == 0) return;
    constexpr i64 kPatience = 20'000;
    // The same run, with all that it goes on for: another length sends other packets.
    api::Experiment patient = experiment;
    const bool precise = experiment.run.real("precision") > 0.0;
    const i64 times = std::max(
        {i64{1}, experiment.run.integer("extension"), precise ? experiment.run.integer("precision_limit") : 1});
    const i64 drain = 4 * times * static_cast<i64>(api::planned_end(experiment.run)) + kPatience;
    patient.run.set("watchdog", i64{0});
    patient.run.set("drain", drain);
    patient.run.set("session_limit", std::max(kPatience, experiment.run.integer("session_limit")));
    if (api::is_fixed(experiment.run)) {
      patient.run.set("measure", experiment.run.integer("duration"));
      patient.run.set("warmup", i64{0});
      patient.run.set("duration", i64{0});
      patient.run.set("window", i64{0});
    }
    const api::Result later = api::run_on(patient, network, {});
    // A steady run ends when everything has arrived, or at the end of its drain; its verdict may be "steady" then too.
    const stats::Metric* const cycles = later.find("simulated_cycles");
    const bool sessions = later.find("sessions") != nullptr;
    const bool arrived = sessions ? later.verdict == api::Verdict::finished
                                  : cycles != nullptr && cycles->mean < static_cast<double>(drain);
    if (arrived) find("a silence that is called a deadlock", result.explanation);
  }

  /// `passes_switches`: no packet gets anywhere without one.
  void judge_latency(const api::Result& result, bool passes_switches) {
    const auto mean = [&](const char* name) -> std::optional<double> {
      const stats::Metric* const metric = result.find(name);
      return metric == nullptr ? std::nullopt : std::optional<double>(metric->mean);
    };
    const auto latency = mean("packet_latency");
    if (!latency) return;
    const double slack = 1e-9 * *latency;
    const auto queueing = mean("source_queueing");
    const auto head = mean("head_latency");
    const auto serialization = mean("serialization_latency");
    if (queueing && head && serialization && std::abs(*queueing + *head + *serialization - *latency) > slack) {
      find("parts of a latency that do not add up",
           fmt::format("{} + {} + {} is not {}", *queueing, *head, *serialization, *latency));
    }
    const auto network = mean("network_latency");
    if (network && queueing && std::abs(*queueing + *network - *latency) > slack) {
      find("parts of a latency that do not add up", fmt::format("{} + {} is not {}", *queueing, *network, *latency));
    }
    const auto hops = mean("hops");
    if (hops && passes_switches && *hops < 1.0 - 1e-9)
      find("a packet that passes no switch", fmt::format("hops = {}", *hops));
    double last = 0.0;
    for (const char* name : {"packet_latency_p50", "packet_latency_p95", "packet_latency_p99", "packet_latency_max"}) {
      const auto value = mean(name);
      if (!value) continue;
      if (*value < last) find("percentiles out of order", fmt::format("{} = {} after {}", name, *value, last));
      last = *value;
    }
  }

  void judge_loads(const api::Experiment& experiment, const api::Result& result) {
    for (const stats::Metric& offered : result.metrics) {
      if (!offered.name.starts_with("offered_load") || offered.name.find(api::kPredictedBy) != std::string::npos) {
        continue;
      }
      const stats::Metric* const accepted = result.find("accepted_load" + offered.name.substr(12));
      if (accepted == nullptr) continue;
      // From an empty network no more comes out than went in. What is measured after a warm-up may hold what was
      // generated before it.
      const bool whole = api::is_fixed(experiment.run);
      if (!whole && (result.verdict != api::Verdict::steady || !result.certain)) continue;
      const double slack = whole ? 1e-9
                                 : 3 * (offered.half_width.value_or(0.1 * offered.mean) +
                                        accepted->half_width.value_or(0.1 * offered.mean)) +
                                       0.01;
      if (accepted->mean > offered.mean + slack) {
        find("more accepted than offered",
             fmt::format("{} = {}, {} = {}", offered.name, offered.mean, accepted->name, accepted->mean));
      }
    }
    if (const stats::Metric* jain = result.find("accepted_load_fairness"); jain != nullptr && jain->mean > 1 + 1e-9) {
      find("a fairness above 1", fmt::format("{}", jain->mean));
    }
  }

  /// A run ends when its plan says: work is counted in cycles, whatever the clock says.
  void judge_length(const api::Experiment& experiment, const api::Result& result) {
    const config::Values& run = experiment.run;
    const stats::Metric* const cycles = result.find("simulated_cycles");
    if (cycles == nullptr) return;
    const bool precise = run.real("precision") > 0.0;
    const double longest = precise ? static_cast<double>(run.integer("precision_limit")) : 1.0;
    double most = 0.0;
    if (const stats::Metric* sessions = result.find("sessions")) {
      most = sessions->mean * (static_cast<double>(run.integer("session_limit")) + 1);
      const double planned = std::max(1.0, longest) * static_cast<double>(run.integer("sessions"));
      if (sessions->mean > planned) find("more sessions than asked for", fmt::format("{}", sessions->mean));
    } else if (api::is_fixed(run)) {
      most = static_cast<double>(run.integer("duration"));
    } else {
      const double times = precise ? longest : static_cast<double>(run.integer("extension"));
      most = static_cast<double>(run.integer("warmup")) + times * static_cast<double>(run.integer("measure")) +
             static_cast<double>(run.integer("drain")) + 64;
    }
    if (cycles->mean > most)
      find("a run longer than planned", fmt::format("{} cycles, {} planned", cycles->mean, most));
  }

  /// What the analysis of channel dependencies calls free of deadlock does not deadlock.
  void judge_deadlock(const api::Experiment& experiment, const api::Result& result) {
    if (result.verdict != api::Verdict::deadlocked) return;
    // Something that could go on was not woken.
    if (result.explanation.find("not on each other in a cycle") != std::string::npos)
      find("a deadlock without a cycle", result.explanation);
    for (const api::DeadlockNote& note : api::check_deadlock({experiment})) {
      if (!note.text.starts_with("deadlock: acyclic") || note.text.find(" if ") != std::string::npos) continue;
      find("a deadlock where there can be none", result.explanation + " // " + note.text);
    }
  }

  /// What is stored of a run is read again.
  void judge_files(const api::Experiment& experiment, const api::Result& result) {
    const api::Result again = api::from_json(api::to_json(result));
    if (again.metrics.size() != result.metrics.size() || again.state_hash != result.state_hash ||
        again.verdict != result.verdict) {
      find("a stored result is read differently", "");
    }
    if (api::to_table(result).empty()) find("a result that cannot be shown", "");
    const api::Experiment stored = api::experiment_from(experiment.configuration, api::catalog());
    if (stored.configuration != experiment.configuration) {
      find("a stored experiment is read differently", stored.configuration);
    }
  }

  std::filesystem::path folder_;
  Disturb disturb_;
  std::string text_;
  double most_terminal_cycles_ = 0.0;
  Refusal refusal_;  ///< the last one
  std::vector<Finding> findings_;
};

}  // namespace banyan::test::experiments
