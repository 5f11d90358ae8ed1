#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "banyan/api/catalog.hpp"
#include "banyan/api/energy.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/api/fork.hpp"
#include "banyan/api/inputs.hpp"
#include "banyan/api/jobs.hpp"
#include "banyan/api/measure/sessions.hpp"
#include "banyan/api/measure/steady.hpp"
#include "banyan/api/network.hpp"
#include "banyan/api/over_ranks.hpp"
#include "banyan/api/predictions.hpp"
#include "banyan/api/profiler.hpp"
#include "banyan/api/reader.hpp"
#include "banyan/api/version.hpp"
#include "banyan/api/warnings.hpp"
#include "banyan/base/archive.hpp"
#include "banyan/base/cpu_time.hpp"
#include "banyan/base/error.hpp"
#include "banyan/config/json.hpp"
#include "banyan/core/registry.hpp"
#include "banyan/engine/run_keeper.hpp"

#ifndef BANYAN_VERSION
#define BANYAN_VERSION "unknown"
#endif
#ifndef BANYAN_COMPILER
#define BANYAN_COMPILER "unknown"
#endif

namespace banyan::api {

using nlohmann::json;

namespace {

u64 peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<u64>(usage.ru_maxrss) * 1024U;
}

/// Series of more windows are no drawing and no table any more.
constexpr i64 kMostSeriesWindows = 100'000;

/// Refuses run.settle where nothing is to be waited for.
void require_settling(const config::Values& run, const Traffics& traffics) {
  if (!is_fixed(run) || run.integer("window") == 0) {
    run.fail("settle", "ends a run of fixed length by its time series, and this one has none",
             "give run.duration and run.window, or leave out run.settle");
  }
  const auto disturbs = [](const auto& traffic) { return traffic->disturbance().from != kNever; };
  if (std::none_of(traffics.begin(), traffics.end(), disturbs)) {
    run.fail("settle", "no traffic of this experiment disturbs the network for a while",
             fmt::format("add the traffic {}, or leave out run.settle",
                         core::traffics_with(
                             [](const core::Traffic& traffic) { return traffic.disturbance().from != kNever; })));
  }
}

/// Refuses series of stages where worms lie in several of them at once.
void require_stages(const Experiment& experiment) {
  const std::string& series = experiment.run.text("series");
  if (series == "none" || series == "generation" || !switch_row(experiment).hides_stages) return;
  experiment.run.fail("series", "the switch does not tell what lies in each stage, nor which are full",
                      "leave it out, or use run.trees = true, for congestion trees");
}

/// Refuses parameters that this kind of run would pass over in silence.
void require_fitting(const Experiment& experiment, const Traffics& traffics, bool sessions) {
  const config::Values& run = experiment.run;
  if (run.integer("settle") != 0) require_settling(run, traffics);
  if (sessions) {
    require_stages(experiment);
    if (run.integer("window") == 0) return;
    run.fail(
        "window", "a finite traffic makes this an experiment of sessions",
        "leave it away (run.series records time series of sessions), or give the run a fixed length (run.duration)");
  }
  if (run.text("series") != "none") {
    run.fail("series", "these series are of sessions, and no traffic of this experiment is finite",
             "give run.window, the length of the windows in which load and latency are recorded");
  }
  if (run.real("precision") > 0.0 && !is_fixed(run) && run.integer("extension") > 1) {
    run.fail("extension", "a run with a precision goes on for that, within run.precision_limit",
             "leave out run.extension or run.precision");
  }
  const i64 window = run.integer("window");
  if (window > 0 && static_cast<i64>(planned_end(run)) / window > kMostSeriesWindows) {
    run.fail("window", fmt::format("gives {} windows", static_cast<i64>(planned_end(run)) / window),
             fmt::format("give longer windows: at most {} fit", kMostSeriesWindows));
  }
}

/// Refuses a listener where there are no windows to tell of.
void require_windows(const config::Values& run, bool sessions, const RunOptions& options) {
  if (!options.window || (!sessions && run.integer("window") != 0)) return;
  run.fail("window",
           sessions ? "an experiment of sessions has no windows to tell of" : "there are no windows to tell of",
           sessions ? "give the run a fixed length (run.duration), or call it without a function for windows"
                    : "give run.window, the length of a window in cycles");
}

/// Messages with several destinations have no line in a trace.
void require_traceable(const Experiment& experiment, const Traffics& traffics, const RunOptions& options) {
  for (std::size_t i = 0; options.trace != nullptr && i < traffics.size(); ++i) {
    if (!traffics[i]->replicates()) continue;
    experiment.traffics[i].fail("name", "its messages have several destinations, and those of a trace have one",
                                "record no trace, or multicast in software");
  }
}

Result run_whole(const Experiment& experiment, const RunOptions& options);

std::string program() { return fmt::format("{} ({}, sources {})", BANYAN_VERSION, BANYAN_COMPILER, state_digest()); }

/// The first parameter in which two configurations differ.
std::string first_difference(const std::string& theirs, const std::string& ours) {
  const auto flat = [](const std::string& text) {
    json all = json::parse(text);
    all.erase("name");  // of the experiment: it tells two apart for people
    leave_out_paths(all);
    return all.flatten();
  };
  const json a = flat(theirs);
  const json b = flat(ours);
  const auto value_of = [](const json& all, const std::string& key) {
    return all.contains(key) ? all[key].dump() : std::string();
  };
  // Which component it is says more than a parameter that only one of two components has.
  const auto rank_of = [&](const std::string& path) {
    return path.ends_with("/name") ? 0 : a.contains(path) && b.contains(path) ? 1 : 2;
  };
  std::string first;
  for (const json& all : {a, b}) {
    for (const auto& [path, value] : all.items()) {
      if (value_of(a, path) == value_of(b, path)) continue;
      if (first.empty() || rank_of(path) < rank_of(first)) first = path;
    }
  }
  if (first.empty()) return {};
  std::string key = first.substr(1);
  std::replace(key.begin(), key.end(), '/', '.');
  if (!a.contains(first)) return fmt::format("{} is {} here and not there", key, value_of(b, first));
  if (!b.contains(first)) return fmt::format("{} is {} there and not here", key, value_of(a, first));
  return fmt::format("{} is {} there and {} here", key, value_of(a, first), value_of(b, first));
}

/// What ranks must have in common: they decide alike, and only from what all of them know.
struct Asked {
  std::string program;
  std::string configuration;  ///< with digests of all files that it names
  Watches watches;
  std::array<bool, 4> records{};

  void archive(Archive& a) { a(program, configuration, watches, records); }
};

/// Refuses ranks that have read different files, or run different programs.
void require_same(const Experiment& experiment, const RunOptions& options) {
  const Asked mine{program(),
                   experiment.configuration,
                   options.watches,
                   {options.trace != nullptr, !options.packet_log.empty(), !options.checkpoint.file.empty(),
                    !options.checkpoint.resume.empty()}};
  const std::vector<Asked> all = options.ranks->sum(std::vector<Asked>{mine}, engine::Ranks::kJoin);
  for (std::size_t r = 1; r < all.size(); ++r) {
    std::string cause;
    if (all[r].program != all[0].program) {
      cause = fmt::format("process {} runs banyan {}, and process 0 runs {}", r, all[r].program, all[0].program);
    } else if (const std::string what = first_difference(all[r].configuration, all[0].configuration); !what.empty()) {
      cause = fmt::format("process {} has read another experiment: {}, in process 0", r, what);
    } else if (!(all[r].watches == all[0].watches) || all[r].records != all[0].records) {
      cause = fmt::format("process {} was asked for other records or checkpoints than process 0", r);
    } else {
      continue;
    }
    throw ConfigError({"mpirun", 0, 0, ""}, cause, "give all processes the same program, files and options");
  }
}

[[noreturn]] void refuse_unkept(const Experiment& experiment, const NotArchived& error) {
  const std::string seam = error.what();
  const config::Values& values = seam == "switch"    ? experiment.switching
                                 : seam == "traffic" ? experiment.traffics[error.number()]
                                                     : experiment.admission;
  values.fail("name", fmt::format("the {} {} keeps state that no checkpoint can hold", seam, values.component()),
              fmt::format("run it without --checkpoint, or use another {}", seam));
}

/// Runs traffics or jobs.
Result run_either(const Experiment& experiment, const RunOptions& options) {
  return experiment.jobs.empty() ? run_whole(experiment, options) : run_jobs(experiment, options);
}

Result run_kept(const Experiment& experiment, const RunOptions& options) {
  const CheckpointOptions& wanted = options.checkpoint;
  if (!options.packet_log.empty()) {
    throw ConfigError({options.packet_log, 0, 0, ""}, "a log of packets is no part of a checkpoint",
                      "leave out --log, or --checkpoint and --resume");
  }
  if (!wanted.resume.empty()) {
    const engine::CheckpointHeader header = engine::read_checkpoint_header(wanted.resume, program());
    const std::string difference = first_difference(header.configuration, experiment.configuration);
    if (!difference.empty()) {
      throw ConfigError({wanted.resume, 0, 0, ""}, "is of another configuration: " + difference,
                        "give the experiment as it was, or run it from its start");
    }
  }
  engine::RunKeeper keeper({.file = wanted.file,
                            .seconds = wanted.seconds,
                            .resume = wanted.resume,
                            .header = {program(), experiment.configuration},
                            .ranks = options.ranks});
  RunOptions kept = options;
  kept.keeper = &keeper;
  try {
    // What the run writes down besides is asked for on the command line, and no part of the configuration.
    const Watches watches = options.watches;
    const bool trace = options.trace != nullptr;
    const engine::RunKeeper::Part part(&keeper, [&](Archive& a) {
      Watches other = watches;
      bool other_trace = trace;
      a(other, other_trace);
      if (other == watches && other_trace == trace) return;
      throw ConfigError({wanted.resume, 0, 0, ""}, "was written by a run with another --watch or --record-trace",
                        "give them as they were");
    });
    Result result = run_either(experiment, kept);
    if (!keeper.failure().empty()) {
      if (!result.warning.empty()) result.warning += "; ";
      result.warning += fmt::format("the last checkpoint could not be written: {}", keeper.failure());
    }
    return result;
  } catch (const Interrupted&) {
    if (wanted.file.empty()) throw;
    throw Interrupted(
        fmt::format("interrupted; the state of the run is kept in {}\n  remedy: continue with: banyan run --resume {}",
                    wanted.file, wanted.file));
  } catch (const NotArchived& error) { refuse_unkept(experiment, error); } catch (const ArchiveMismatch& error) {
    throw ConfigError({wanted.resume, 0, 0, ""}, fmt::format("does not fit this experiment: {}", error.what()),
                      "run the experiment from its start");
  }
}

std::vector<std::string> check_traffics(const Experiment& experiment) {
  // In the order of run(), so that of several faults both name the same one.
  const Network network = build_network(experiment);
  const Traffics traffics = build_traffics(experiment, *network.topology);
  require_fitting(experiment, traffics, has_sessions(experiment, traffics));
  require_warm_up(experiment, network, has_sessions(experiment, traffics));
  const std::optional<CostTable> costs = costs_of(experiment);
  static_cast<void>(predict(experiment, network));
  const Instance instance = build_instance(experiment, network, engine_settings(experiment));
  std::vector<std::string> warnings = warnings_of(experiment, network, traffics);
  if (const auto activity = instance.machine->activity(); costs && activity) {
    if (std::string note = energy_note(*costs, *activity); !note.empty()) warnings.push_back(std::move(note));
  }
  return warnings;
}

}  // namespace

Experiment experiment_of_checkpoint(const std::string& file) {
  return experiment_from(engine::read_checkpoint_header(file, program()).configuration, catalog());
}

std::vector<std::string> check(const Experiment& experiment) {
  // What a run goes on from has to run, too.
  if (experiment.fork.warm != nullptr) static_cast<void>(check(*experiment.fork.warm));
  std::vector<std::string> notes = experiment.jobs.empty() ? check_traffics(experiment) : check_jobs(experiment);
  if (experiment.usual_routing) {
    notes.insert(notes.begin(), fmt::format("no routing is named: {}, the usual one of {}",
                                            experiment.routing.component(), experiment.topology.component()));
  }
  return notes;
}

Result run(const Experiment& experiment, const RunOptions& options) {
  if (options.ranks != nullptr) {
    require_same(experiment, options);
    require_shareable(experiment);
  }
  const bool kept = !options.checkpoint.file.empty() || !options.checkpoint.resume.empty();
  Result result = kept ? run_kept(experiment, options) : run_either(experiment, options);
  result.compiler = BANYAN_COMPILER;
  return result;
}

namespace {

Result run_whole(const Experiment& experiment, const RunOptions& options) {
  const double started = thread_cpu_seconds();
  const Stopwatch watch;
  const Network network = build_network(experiment);
  const Traffics traffics = build_traffics(experiment, *network.topology);
  require_traceable(experiment, traffics, options);
  require_fitting(experiment, traffics, has_sessions(experiment, traffics));
  const std::vector<Predictions> predictions = predict(experiment, network);
  const double building = thread_cpu_seconds() - started;
  const double build_seconds = watch.seconds();
  Result result = run_on(experiment, network, predictions, options);
  result.cpu_seconds += building;
  if (result.profile != nullptr) {
    Profile profile = *result.profile;
    profile.build_seconds += build_seconds;
    profile.seconds = watch.seconds();
    profile.peak_bytes = result.peak_bytes;
    result.profile = std::make_shared<const Profile>(std::move(profile));
  }
  return result;
}

/// Whether the run shows that the network carries the load: what keeps it from that need not be looked for, which takes
/// short runs of its own.
bool carries(const Result& result) {
  constexpr double kAll = 0.99;  // notes are about losses of 2 % and more
  const stats::Metric* const offered = result.find("offered_load");
  const stats::Metric* const accepted = result.find("accepted_load");
  const bool all =
      offered != nullptr && accepted != nullptr && offered->mean > 0.0 && accepted->mean >= kAll * offered->mean;
  return (result.verdict == Verdict::steady && result.certain) || all;
}

}  // namespace

Result run_on(const Experiment& experiment, const Network& network, const std::vector<Predictions>& predictions,
              const RunOptions& options) {
  const double started = thread_cpu_seconds();
  const Traffics traffics = build_traffics(experiment, *network.topology);
  const bool sessions = has_sessions(experiment, traffics);
  require_traceable(experiment, traffics, options);
  require_fitting(experiment, traffics, sessions);
  require_windows(experiment.run, sessions, options);
  require_warm_up(experiment, network, sessions);
  if (options.ranks != nullptr && !(sessions && deals_sessions(experiment, network, options)))
    require_shareable(experiment, traffics);
  if (options.progress_unit) options.progress_unit(sessions ? "sessions" : "cycles");
  Result result = sessions ? measure_sessions(experiment, network, engine_settings(experiment), options)
                           : measure_steady(experiment, network, engine_settings(experiment), options);
  add_predictions(result, predictions);
  std::string warning;
  for (const std::string& one : warnings_of(experiment, network, traffics, carries(result)))
    warning += (warning.empty() ? "" : "; ") + one;
  if (!warning.empty()) result.warning = result.warning.empty() ? warning : warning + "; " + result.warning;
  result.version = BANYAN_VERSION;
  result.compiler = BANYAN_COMPILER;
  result.configuration = experiment.configuration;
  result.configuration_hash = experiment.configuration_hash;
  result.seed = static_cast<u64>(experiment.run.integer("seed"));
  result.cpu_seconds += thread_cpu_seconds() - started;  // what helping threads spent is there already
  result.peak_bytes = peak_bytes();
  return result;
}

}  // namespace banyan::api
