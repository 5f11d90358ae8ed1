// banyan run and banyan sweep.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/api/export.hpp"
#include "banyan/api/metrics.hpp"
#include "banyan/api/profile.hpp"
#include "banyan/api/sweep.hpp"
#include "banyan/base/error.hpp"
#include "banyan/cli/announce.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/converted.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/interrupt.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/cli/plot.hpp"
#include "banyan/cli/progress.hpp"
#include "banyan/cli/ranks.hpp"
#include "banyan/cli/workers.hpp"
#include "banyan/store/parts.hpp"
#include "banyan/store/sweep.hpp"

namespace banyan::cli {
namespace {

std::string in_folder(const std::string& folder, const char* name) {
  return (std::filesystem::path(folder) / name).string();
}

/// The overrides of an experiment; --seed is one, those of a BookSim2 configuration are not.
api::Overrides overrides_of(const RunArguments& arguments) {
  api::Overrides overrides;
  if (!arguments.booksim) overrides = arguments.overrides;
  if (arguments.running.seed) overrides.push_back(fmt::format("run.seed={}", *arguments.running.seed));
  return overrides;
}

/// What a BookSim2 configuration means; empty when the file is an experiment.
booksim::Conversion conversion_of(const RunArguments& arguments) {
  if (!arguments.booksim) return {};
  return converted(arguments.file, arguments.overrides, arguments.ignore_unmapped, &note);
}

api::ExperimentSet read(const RunArguments& arguments, const std::string& converted) {
  if (arguments.file.empty()) return {arguments.resume, {}, {api::experiment_of_checkpoint(arguments.resume)}};
  if (!arguments.booksim) return read_experiments(arguments.file, overrides_of(arguments));
  return api::read_experiments_text(converted, arguments.file, overrides_of(arguments));
}

/// Where the experiment came from; --seed counts as an override, but not beside those of a BookSim2 configuration.
store::Source source_of(const RunArguments& arguments, const std::string& converted, const char* command) {
  store::Source source{
      command, arguments.file, converted.empty() ? read_file(arguments.file) : converted, overrides_of(arguments), {}};
  if (!arguments.booksim) return source;
  source.overrides = arguments.overrides;
  source.options = {"--booksim"};
  if (arguments.ignore_unmapped) source.options.emplace_back("--ignore-unmapped");
  if (arguments.running.seed) source.options.push_back(fmt::format("--seed={}", *arguments.running.seed));
  return source;
}

void require_outputs(const RunArguments& arguments, const api::ExperimentSet& set) {
  if (!arguments.running.out.empty()) require_writable_folder(arguments.running.out);
  std::vector<NamedFile> read{{"the experiment", arguments.file}};
  // A checkpoint may take the place of that from which the run goes on.
  const bool renewed = !arguments.checkpoint.empty() && !arguments.resume.empty() &&
                       is_same_file(arguments.checkpoint, arguments.resume);
  if (!renewed) read.push_back({"--resume", arguments.resume});
  std::set<std::string> known;
  for (const api::Experiment& point : set.points) {
    for (const api::Input& input : point.inputs) {
      if (known.insert(input.path).second) read.push_back({input.key, input.path});
    }
  }
  std::vector<NamedFile> written{{"--svg", arguments.svg},
                                 {"--record-trace", arguments.trace},
                                 {"--log", arguments.log},
                                 {"--checkpoint", arguments.checkpoint}};
  if (const std::string& out = arguments.running.out; !out.empty()) {
    for (const char* name :
         {"result.json", "result.csv", "series.csv", "results.json", "results.csv", "results.sqlite"})
      written.push_back({"--out", in_folder(out, name)});
  }
  require_outputs(written, read);
}

/// A checkpoint names its experiment, and where it is written can be left out where it was read.
api::CheckpointOptions checkpoints_of(const RunArguments& arguments) {
  api::CheckpointOptions checkpoint{arguments.checkpoint, arguments.checkpoint_seconds, arguments.resume};
  if (checkpoint.file.empty() && arguments.checkpoints) checkpoint.file = arguments.resume;
  return checkpoint;
}

void require_experiment(const RunArguments& arguments) {
  const auto refuse = [](const char* key, const char* cause, const char* remedy) {
    throw ConfigError({"command line", 0, 0, key}, cause, remedy);
  };
  if (arguments.checkpoints && arguments.checkpoint.empty() && arguments.resume.empty())
    refuse("--checkpoint-every", "says how often a checkpoint is written, and not where", "add --checkpoint FILE");
  const bool only_overrides = arguments.file.find('=') != std::string::npos && !std::filesystem::exists(arguments.file);
  if (!arguments.resume.empty() && only_overrides)
    refuse("--resume", "the experiment of a checkpoint cannot be changed", "leave out key=value and --seed");
  if (!arguments.file.empty()) return;
  if (arguments.resume.empty()) refuse("FILE", "FILE is required", "see \"banyan run --help\"");
  if (!arguments.overrides.empty() || arguments.running.seed)
    refuse("--resume", "the experiment of a checkpoint cannot be changed", "leave out key=value and --seed");
  if (!arguments.running.out.empty())
    refuse("--out", "a result store keeps the text of the experiment", "name the experiment file beside --resume");
}

void require_single(const api::ExperimentSet& set) {
  if (set.axis_names.empty()) return;
  throw ConfigError(
      {set.file, 0, 0, "sweep"},
      fmt::format("the file sweeps {}: {} points, not one run", fmt::join(set.axis_names, ", "), set.points.size()),
      fmt::format("use \"banyan sweep {}\", or give every swept key one value: {}=VALUE", set.file,
                  fmt::join(set.axis_names, "=VALUE ")));
}

/// Prints to standard error where a script reads standard output.
void show(const RunArguments& arguments, const std::vector<report::Chart>& charts) {
  if (charts.empty()) {
    note("the run recorded no time series to plot; run.window=CYCLES records them, run.series=all those of sessions");
    return;
  }
  if (!arguments.svg.empty()) write_file(arguments.svg, report::to_svg(charts));
  if (arguments.plot) draw_plots(charts, arguments.running.json || arguments.csv ? stderr : stdout);
}

/// Prints to standard error where a script reads standard output.
void show(const RunArguments& arguments, const api::Profile& profile) {
  const std::string text = api::to_table(profile);
  if (!arguments.csv) return show_text("\n" + text);
  std::fputs(text.c_str(), stderr);
}

void write_run(const std::string& folder, const api::Result& result) {
  write_file(in_folder(folder, "result.json"), api::to_json(result) + "\n");
  write_file(in_folder(folder, "result.csv"), api::to_csv(result));
  const std::string series = api::series_csv(result);
  if (!series.empty()) write_file(in_folder(folder, "series.csv"), series);
  for (const api::Table& table : result.tables) {
    write_file(in_folder(folder, (table.name + ".csv").c_str()), api::to_csv(table));
  }
}

/// A misspelt metric should not cost a whole sweep: a short run of the first point and the glossary tell the names.
/// What the glossary knows may be reported by a longer run alone, such as what a disturbance does.
void check_metrics(const api::ExperimentSet& set, const std::vector<std::string>& metrics) {
  if (metrics.empty()) return;
  const api::Experiment& first = set.points.front();
  api::Experiment trial = first;
  constexpr i64 kTrialCycles = 500;
  for (const char* key : {"warmup", "measure", "duration"}) {
    trial.run.set(key, std::min(trial.run.integer(key), kTrialCycles));
  }
  const bool shorter = first.jobs.empty() &&
                       (first.run.integer("duration") > kTrialCycles || first.run.integer("measure") > kTrialCycles);
  trial.run.set("sessions", i64{2});
  trial.run.set("precision", 0.0);
  trial.run.set("extension", i64{1});
  trial.fork = {};
  const api::Result result = api::run(trial);
  for (const std::string& name : metrics) {
    const bool known = api::find_metric(name) != nullptr;
    if (result.find(name) != nullptr || (known && shorter)) continue;
    std::vector<std::string> names;
    for (const stats::Metric& metric : result.metrics) names.push_back(metric.name);
    if (!known) {
      for (const api::MetricRow& row : api::metric_rows()) names.emplace_back(row.name);
    }
    const std::string near = nearest_name(name, names);
    if (!near.empty()) {
      throw ConfigError({"command line", 0, 0, "--metric"}, fmt::format("\"{}\" is no metric of this experiment", name),
                        fmt::format("did you mean \"{}\"?", near));
    }
    note(
        fmt::format("a short run of the first point reports no metric \"{}\"; if no point does, the sweep is kept and "
                    "the command fails at its end",
                    name));
  }
}

}  // namespace

namespace {

/// Nobody writes a result before all ranks have one. What it took is that of all of them.
void await_ranks(engine::Ranks& ranks, api::Result& result) {
  result.cpu_seconds = ranks.sum(result.cpu_seconds, [](double& sum, double more) { sum += more; });
  result.peak_bytes = ranks.sum(result.peak_bytes, [](u64& most, u64 more) { most = std::max(most, more); });
}

/// `ranks`: the processes that share the run, of which the first one writes and prints; nullptr: there is one.
int run_text(const RunArguments& arguments, const std::string& text, engine::Ranks* ranks) {
  const bool first = ranks == nullptr || ranks->rank() == 0;
  const bool quiet = arguments.running.quiet || !first;
  const api::ExperimentSet set = read(arguments, text);
  require_single(set);
  if (first) require_outputs(arguments, set);
  if (first && !arguments.booksim) warn_of_idle_parameters(set.points);
  // What a rank needs is a part of that, and where the others are is not known.
  std::string needs = ranks == nullptr ? announce_needs(set.points, 1, quiet) : "";
  std::optional<store::Writer> store;
  if (first && !arguments.running.out.empty()) store.emplace(arguments.running.out);
  api::RunOptions options;
  options.threads = arguments.running.threads.value_or(0);
  options.profile = arguments.profile;
  options.ranks = ranks;
  if (ranks == nullptr) options.interrupted = watch_interrupt();
  options.watches = arguments.watches;
  options.packet_log = arguments.log;
  options.checkpoint = checkpoints_of(arguments);
  std::string trace;
  if (!arguments.trace.empty()) options.trace = &trace;
  api::Result result;
  {
    const bool jobs = !set.points.front().jobs.empty();
    ProgressDisplay display(quiet, jobs ? "operations" : "", 1.0, std::move(needs));
    display.name(arguments.file.empty() ? set.points.front().name : arguments.file);
    options.progress_unit = [&](const std::string& unit) { display.unit(unit); };
    options.progress = [&](u64 done, u64 total) { display(done, total); };
    result = api::run(set.points.front(), options);
  }
  if (ranks != nullptr) await_ranks(*ranks, result);
  if (!first) return kDone;
  if (!result.warning.empty()) note("warning: " + result.warning);
  if (!result.fewer_threads.empty() && !arguments.running.quiet) note(result.fewer_threads);
  if (result.verdict == api::Verdict::saturated) warn_of_choices(set.points);
  if (!arguments.trace.empty()) write_file(arguments.trace, trace);
  if (store) {
    store->put(result);
    store->plan(set, source_of(arguments, text, "run"));
  }
  // The store holds what the experiment itself gives; what is shown says besides what BookSim2 would print.
  if (arguments.booksim) booksim::add_printed_latencies(result);
  if (store) write_run(arguments.running.out, result);
  if (arguments.running.json) print(api::to_json(result) + "\n");
  if (arguments.csv) print(api::to_csv(result));
  if (!arguments.running.json && !arguments.csv) show_text(api::to_table(result));
  if (result.profile != nullptr && !arguments.running.json) show(arguments, *result.profile);
  if (arguments.plot || !arguments.svg.empty()) show(arguments, run_plots(result));
  return kDone;
}

int run_on(const RunArguments& arguments, engine::Ranks* ranks) {
  require_experiment(arguments);
  const booksim::Conversion conversion = conversion_of(arguments);
  try {
    return run_text(arguments, conversion.toml, ranks);
  } catch (const ConfigError& error) {
    if (!arguments.booksim) throw;
    throw booksim::in_terms_of_settings(error, conversion, arguments.file);
  }
}

}  // namespace

int run(const RunArguments& arguments) {
  if (const std::optional<Launched> of = launched())
    return on_ranks(*of, [&](engine::Ranks& ranks) { return run_on(arguments, &ranks); });
  return run_on(arguments, nullptr);
}

namespace {

struct SweptTable {
  api::ExperimentSet set;
  std::vector<api::Result> results;
};

/// What BookSim2 would print of points, which is shown and not stored.
void add_printed(std::vector<api::Result>& results, const RunArguments& arguments) {
  if (!arguments.booksim) return;
  for (api::Result& result : results) booksim::add_printed_latencies(result);
}

/// The sweep of a folder, whoever ran its points. Its files say, as "run" does, what the store does not hold.
/// `in_parts`: workers of this command have just run them.
SweptTable finish(api::ExperimentSet set, const store::Source& source, const RunArguments& arguments,
                  const api::SweepOptions& options, bool in_parts) {
  const std::string& out = arguments.running.out;
  store::Writer store(out);
  std::vector<api::Result> results = store::sweep(set, source, store, options, &note, !in_parts);
  add_printed(results, arguments);
  write_file(in_folder(out, "results.csv"), api::to_csv(set, results));
  write_file(in_folder(out, "results.json"), api::to_json(set, results) + "\n");
  return {std::move(set), std::move(results)};
}

/// One part alone; where mpirun gave this process its part, the first one waits for the others and has all of them.
SweptTable sweep_one_part(api::ExperimentSet set, const store::Source& source, const RunArguments& arguments,
                          const api::SweepOptions& options) {
  const std::string given = part_of_environment();
  const store::SweepPart part = store::read_part(arguments.part.empty() ? given : arguments.part);
  store::PartResults done = store::sweep_part(set, source, arguments.running.out, part, options, &note);
  if (arguments.part.empty() && part.index == 1) {
    await_parts(set, source, part.count, arguments);
    return finish(std::move(set), source, arguments, options, true);
  }
  add_printed(done.results, arguments);
  api::ExperimentSet own{set.file, set.axis_names, {}};
  for (const std::size_t i : done.places) own.points.push_back(std::move(set.points[i]));
  return {std::move(own), std::move(done.results)};
}

bool in_parts(const RunArguments& arguments) {
  return !arguments.slurm && (!arguments.part.empty() || !part_of_environment().empty());
}

/// Nothing where the points are not awaited.
std::optional<SweptTable> swept(api::ExperimentSet set, const RunArguments& arguments,
                                const api::SweepOptions& options) {
  const store::Source source = source_of(arguments, "", "sweep");
  const std::string& out = arguments.running.out;
  if (in_parts(arguments)) return sweep_one_part(std::move(set), source, arguments, options);
  if (arguments.slurm && !run_on_slurm(set, source, arguments)) return std::nullopt;
  if (!out.empty()) return finish(std::move(set), source, arguments, options, false);
  std::vector<api::Result> results = api::sweep(set, options);
  add_printed(results, arguments);
  return SweptTable{std::move(set), std::move(results)};
}

void require_folder(const RunArguments& arguments) {
  if (!arguments.running.out.empty()) return;
  const auto refuse = [](const std::string& key, const std::string& cause) {
    throw ConfigError({"command line", 0, 0, key}, cause + " a folder in which all parts meet",
                      "give --out DIR, the same for all, or one for each worker and \"banyan merge\" after them");
  };
  if (arguments.slurm) refuse("--slurm", "a sweep over many jobs needs");
  if (!arguments.part.empty()) refuse("--part", "a part of a sweep needs");
  if (in_parts(arguments)) refuse("", "a sweep over the processes of mpirun needs");
}

/// "42 % of 120 points, 3.1 points/s, 0:12 left, at load = 0.3": the time that is left is a prediction where there is
/// one.
std::string sweep_text(u64 done, u64 total, double seconds, const api::SweepStatus& status) {
  const std::optional<double> left = status.grounded ? std::optional(status.seconds_left) : std::nullopt;
  const std::string text = progress_text(done, total, seconds, "points", 1000.0, left);
  return status.at.empty() ? text : text + ", at " + status.at;
}

/// One of the processes that mpirun started shows its progress and prints.
bool is_silent(const RunArguments& arguments) {
  return arguments.part.empty() && in_parts(arguments) && store::read_part(part_of_environment()).index != 1;
}

}  // namespace

int sweep(const RunArguments& arguments) {
  require_folder(arguments);
  api::ExperimentSet set = arguments.booksim ? booksim_sweep(arguments.file, arguments.overrides,
                                                             overrides_of(arguments), arguments.ignore_unmapped)
                                             : read(arguments, "");
  if (arguments.plot || !arguments.svg.empty()) static_cast<void>(plotted_axis(set));
  require_outputs(arguments, set);
  const u32 threads =
      arguments.running.threads.value_or(in_parts(arguments) ? 1U : std::max(1U, std::thread::hardware_concurrency()));
  const bool silent = is_silent(arguments);
  const bool quiet = arguments.running.quiet || silent;
  std::string needs = announce_needs(set.points, threads, quiet);
  if (!silent && !arguments.booksim) warn_of_idle_parameters(set.points);
  if (!silent) check_metrics(set, arguments.metrics);
  api::SweepOptions options;
  options.threads = threads;
  options.interrupted = watch_interrupt();
  std::optional<SweptTable> awaited;
  {
    ProgressDisplay display(quiet || arguments.slurm, "points", 1000.0, std::move(needs));
    api::SweepStatus status;
    const auto start = std::chrono::steady_clock::now();
    options.status = [&](const api::SweepStatus& now) { status = now; };
    options.progress = [&](u64 at, u64 total) {
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (!quiet) display.show(sweep_text(at, total, seconds, status));
    };
    awaited = swept(std::move(set), arguments, options);
  }
  if (!awaited || silent) return kDone;
  SweptTable& done = *awaited;
  if (done.results.empty()) {
    note(fmt::format("part {} has no points: the sweep has fewer points than parts", arguments.part));
    return kDone;
  }
  if (arguments.running.json) print(api::to_json(done.set, done.results) + "\n");
  if (arguments.csv) print(api::to_csv(done.set, done.results));
  if (!arguments.running.json && !arguments.csv)
    show_text(api::to_table(done.set, done.results, arguments.metrics), done.set.axis_names.size());
  if (arguments.plot || !arguments.svg.empty()) show(arguments, sweep_plots(done.set, done.results, arguments.metrics));
  std::vector<api::Experiment> saturated;
  for (std::size_t i = 0; i < done.results.size(); ++i) {
    if (done.results[i].verdict == api::Verdict::saturated) saturated.push_back(done.set.points[i]);
  }
  warn_of_choices(saturated);
  return kDone;
}

}  // namespace banyan::cli
