// banyan run and banyan sweep.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "banyan/api/experiment.hpp"
#include "banyan/api/export.hpp"
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
#include "banyan/store/sweep.hpp"

namespace banyan::cli {
namespace {

std::string in_folder(const std::string& folder, const char* name) {
  return (std::filesystem::path(folder) / name).string();
}

/// Of an experiment; --seed is one, those of a BookSim2 configuration are not.
api::Overrides overrides_of(const RunArguments& arguments) {
  api::Overrides overrides;
  if (!arguments.booksim) overrides = arguments.overrides;
  if (arguments.running.seed) overrides.push_back(fmt::format("run.seed={}", *arguments.running.seed));
  return overrides;
}

/// What a BookSim2 configuration means; empty when the file is an experiment.
api::booksim::Conversion conversion_of(const RunArguments& arguments) {
  if (!arguments.booksim) return {};
  return converted(arguments.file, arguments.overrides, arguments.ignore_unmapped);
}

api::ExperimentSet read(const RunArguments& arguments, const std::string& converted) {
  if (!arguments.booksim) return api::read_experiments(arguments.file, overrides_of(arguments));
  return api::read_experiments_text(converted, arguments.file, overrides_of(arguments));
}

/// With --seed as an override, as it was read.
store::Source source_of(const RunArguments& arguments, const std::string& converted, const char* command) {
  return {
      command, arguments.file, arguments.booksim ? converted : read_file(arguments.file), overrides_of(arguments), {}};
}

void require_outputs(const RunArguments& arguments) {
  if (!arguments.running.out.empty()) require_writable_folder(arguments.running.out);
  if (!arguments.svg.empty()) require_writable_file(arguments.svg);
  if (!arguments.trace.empty()) require_writable_file(arguments.trace);
}

void require_single(const api::ExperimentSet& set) {
  if (set.axis_names.empty()) return;
  throw ConfigError(
      {set.file, 0, 0, "sweep"},
      fmt::format("the file sweeps {}: {} points, not one run", fmt::join(set.axis_names, ", "), set.points.size()),
      fmt::format("use \"banyan sweep {}\", or give every swept key one value: {}=VALUE", set.file,
                  fmt::join(set.axis_names, "=VALUE ")));
}

/// To standard error where standard output is read by a script.
void show(const RunArguments& arguments, const std::vector<report::Chart>& charts) {
  if (charts.empty()) {
    note("the run recorded no time series to plot; run.window=CYCLES records them, run.series=all those of sessions");
    return;
  }
  if (!arguments.svg.empty()) write_file(arguments.svg, report::to_svg(charts.front(), true));
  if (arguments.plot) draw_plots(charts, arguments.running.json || arguments.csv ? stderr : stdout);
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

/// A misspelt metric should not cost a whole sweep: what a short run of the first point reports tells the names.
void check_metrics(const api::ExperimentSet& set, const std::vector<std::string>& metrics) {
  if (metrics.empty()) return;
  api::Experiment trial = set.points.front();
  constexpr i64 kTrialCycles = 500;
  for (const char* key : {"warmup", "measure", "duration"}) {
    trial.run.set(key, std::min(trial.run.integer(key), kTrialCycles));
  }
  trial.run.set("sessions", i64{2});
  trial.run.set("precision", 0.0);
  trial.run.set("extension", i64{1});
  const api::Result result = api::run(trial);
  for (const std::string& name : metrics) {
    if (result.find(name) != nullptr) continue;
    std::vector<std::string> names;
    for (const stats::Metric& metric : result.metrics) names.push_back(metric.name);
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

int run_text(const RunArguments& arguments, const std::string& text) {
  const api::ExperimentSet set = read(arguments, text);
  require_single(set);
  require_outputs(arguments);
  std::string needs = announce_needs(set.points, 1, arguments.running.quiet);
  std::optional<store::Writer> store;
  if (!arguments.running.out.empty()) store.emplace(arguments.running.out);
  api::RunOptions options;
  options.threads = arguments.running.threads.value_or(1);
  options.interrupted = watch_interrupt();
  options.watches = arguments.watches;
  std::string trace;
  if (!arguments.trace.empty()) options.trace = &trace;
  api::Result result;
  {
    ProgressDisplay display(arguments.running.quiet, "", 1.0);
    options.progress = [&](u64 done, u64 total) {
      if (!needs.empty()) note(std::exchange(needs, ""));
      display(done, total);
    };
    result = api::run(set.points.front(), options);
  }
  if (!result.warning.empty()) note("warning: " + result.warning);
  if (result.verdict == api::Verdict::saturated) warn_of_choices(set.points);
  if (!arguments.trace.empty()) write_file(arguments.trace, trace);
  if (store) {
    store->put(result);
    store->plan(set, source_of(arguments, text, "run"));
  }
  // The store holds what the experiment itself gives; what is shown says besides what BookSim2 would print.
  if (arguments.booksim) api::booksim::add_printed_latencies(result);
  if (store) write_run(arguments.running.out, result);
  if (arguments.running.json) print(api::to_json(result) + "\n");
  if (arguments.csv) print(api::to_csv(result));
  if (!arguments.running.json && !arguments.csv) print(api::to_table(result));
  if (arguments.plot || !arguments.svg.empty()) show(arguments, run_plots(result));
  return kDone;
}

}  // namespace

int run(const RunArguments& arguments) {
  const api::booksim::Conversion conversion = conversion_of(arguments);
  try {
    return run_text(arguments, conversion.toml);
  } catch (const ConfigError& error) {
    if (!arguments.booksim) throw;
    throw api::booksim::in_terms_of_settings(error, conversion, arguments.file);
  }
}

int sweep(const RunArguments& arguments) {
  const api::ExperimentSet set = read(arguments, "");
  require_outputs(arguments);
  const u32 threads = arguments.running.threads.value_or(std::max(1U, std::thread::hardware_concurrency()));
  std::string needs = announce_needs(set.points, threads, arguments.running.quiet);
  check_metrics(set, arguments.metrics);
  std::optional<store::Writer> store;
  if (!arguments.running.out.empty()) store.emplace(arguments.running.out);
  api::SweepOptions options;
  options.threads = threads;
  options.interrupted = watch_interrupt();
  std::vector<api::Result> results;
  {
    ProgressDisplay display(arguments.running.quiet, "points", 1000.0);
    options.progress = [&](u64 done, u64 total) {
      if (!needs.empty()) note(std::exchange(needs, ""));
      display(done, total);
    };
    results =
        store ? store::sweep(set, source_of(arguments, "", "sweep"), *store, options, &note) : api::sweep(set, options);
  }
  if (store) {
    write_file(in_folder(arguments.running.out, "results.csv"), api::to_csv(set, results));
    write_file(in_folder(arguments.running.out, "results.json"), api::to_json(set, results) + "\n");
  }
  if (arguments.running.json) print(api::to_json(set, results) + "\n");
  if (arguments.csv) print(api::to_csv(set, results));
  if (!arguments.running.json && !arguments.csv) print(api::to_table(set, results, arguments.metrics));
  if (arguments.plot || !arguments.svg.empty()) show(arguments, sweep_plots(set, results, arguments.metrics));
  std::vector<api::Experiment> saturated;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].verdict == api::Verdict::saturated) saturated.push_back(set.points[i]);
  }
  warn_of_choices(saturated);
  return kDone;
}

}  // namespace banyan::cli
