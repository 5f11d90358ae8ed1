// banyan study list, run, search and report.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "banyan/api/needs.hpp"
#include "banyan/base/error.hpp"
#include "banyan/base/file.hpp"
#include "banyan/cli/announce.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/interrupt.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/cli/progress.hpp"
#include "banyan/report/study_report.hpp"
#include "banyan/store/store.hpp"
#include "banyan/store/sweep.hpp"
#include "banyan/study/study.hpp"

namespace banyan::cli {
namespace {

namespace fs = std::filesystem;

study::Mode mode_of(const StudyRunArguments& arguments) {
  if (arguments.quick) return study::Mode::quick;
  return arguments.full ? study::Mode::full : study::Mode::standard;
}

std::string default_folder(const std::string& study) { return (fs::path("out") / study).string(); }

std::string out_folder(const StudyRunArguments& arguments) {
  return arguments.running.out.empty() ? default_folder(arguments.name) : arguments.running.out;
}

study::StudyOptions options_of(const StudyRunArguments& arguments) {
  study::StudyOptions options;
  options.mode = mode_of(arguments);
  options.figures = arguments.figures;
  options.fires = arguments.fires;
  options.threads = arguments.running.threads.value_or(std::max(1U, std::thread::hardware_concurrency()));
  options.out_dir = out_folder(arguments);
  options.seed = arguments.running.seed;
  options.overrides = arguments.overrides;
  options.interrupted = watch_interrupt();
  return options;
}

/// A folder with study.json, that file itself, or the name of a study that was run into its default folder.
std::string dump_path(const std::string& from) {
  std::error_code error;
  if (fs::is_directory(from, error)) return (fs::path(from) / study::kDumpFile).string();
  if (fs::exists(from, error)) return from;
  return (fs::path(default_folder(from)) / study::kDumpFile).string();
}

std::string read_dump(const std::string& path) {
  std::optional<std::string> text = read_text_file(path);
  if (!text) {
    throw ConfigError({path, 0, 0, ""}, "there is no finished study",
                      "name the folder that \"banyan study run NAME --out FOLDER\" wrote");
  }
  return std::move(*text);
}

/// The finished runs of a study that is not finished: what was interrupted or killed goes on where it stopped.
class Journal {
 public:
  explicit Journal(const std::string& folder) : path_((fs::path(folder) / "unfinished").string()) {
    std::error_code error;
    fs::create_directories(path_, error);
    store_.emplace(path_);
  }
  ~Journal() {
    try {
      if (store_ && store_->reader().runs().empty()) discard();
    } catch (const ConfigError&) { return; }
  }
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  api::Result run(const api::Experiment& experiment, const api::RunOptions& options) {
    if (std::optional<api::Result> had = find(experiment)) return *std::move(had);
    api::Result result = api::run(experiment, options);
    // Tables are not in a store: such a run is made again.
    if (!result.tables.empty()) return result;
    const std::scoped_lock lock(mutex_);
    store_->put(result);
    ++kept_;
    return result;
  }

  /// Whether that run was made before.
  [[nodiscard]] bool has(const api::Experiment& experiment) {
    const std::scoped_lock lock(mutex_);
    return store_->has(experiment.configuration_hash);
  }
  [[nodiscard]] std::size_t kept() const { return kept_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// The study is finished: its folder holds all that the runs gave.
  void discard() {
    store_.reset();
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    kept_ = 0;
  }

 private:
  std::optional<api::Result> find(const api::Experiment& experiment) {
    const std::scoped_lock lock(mutex_);
    if (!store_->has(experiment.configuration_hash)) return std::nullopt;
    std::optional<api::Result> result = store_->reader().find(experiment.configuration_hash);
    if (!result) return result;
    if (had_++ == 0) note("runs in " + path_ + ", of a study that was interrupted, are not made again");
    ++kept_;
    result->configuration = experiment.configuration;  // which has the name of this one
    return result;
  }

  std::string path_;
  std::mutex mutex_;
  std::optional<store::Writer> store_;
  std::size_t kept_ = 0;
  std::size_t had_ = 0;
};

/// The command as it was given, with the folder where it goes on.
std::string continuation(const StudyRunArguments& arguments, const std::string& folder) {
  store::Source source{arguments.search ? "study search" : "study run", arguments.name, "", arguments.overrides, {}};
  if (arguments.quick) source.options.emplace_back("--quick");
  if (arguments.full) source.options.emplace_back("--full");
  for (const std::string& figure : arguments.figures) source.options.push_back("--figure=" + figure);
  for (const std::string& fire : arguments.fires) source.options.push_back("--fire=" + fire);
  if (arguments.running.seed) source.options.push_back(fmt::format("--seed={}", *arguments.running.seed));
  return store::continuation(source, folder);
}

/// What is to come, before it comes.
std::function<void(const std::vector<api::Experiment>&, double)> announcement(u32 threads, bool quiet) {
  return [threads, quiet](const std::vector<api::Experiment>& runs, double seconds) {
    const std::string needs = announce_needs(runs, threads, quiet);
    if (quiet) return;
    // What was measured is nearer than what is estimated.
    if (seconds <= 0.0) {
      if (!needs.empty()) note(needs);
      return;
    }
    const std::string memory = api::memory_text(runs, threads);
    note(fmt::format("{} runs, about {} of CPU time, {} on {} thread{}{}", runs.size(), api::duration_text(seconds),
                     api::duration_text(seconds / threads), threads, threads == 1 ? "" : "s",
                     memory.empty() ? "" : ", and " + memory + " of memory"));
  };
}

/// Runs the study by `work` with a journal; what is interrupted says how it goes on.
template <typename Work>
auto run_and_keep(const StudyRunArguments& arguments, study::StudyOptions options, const Work& work) {
  Journal journal(options.out_dir);
  options.run = [&journal](const api::Experiment& experiment, const api::RunOptions& run) {
    return journal.run(experiment, run);
  };
  options.has = [&journal](const api::Experiment& experiment) { return journal.has(experiment); };
  options.announce = announcement(options.threads, arguments.running.quiet);
  ProgressDisplay display(arguments.running.quiet, "points", 1000.0);
  options.progress = [&display](u64 done, u64 total) { display(done, total); };
  options.at = [&display](const std::string& point) { display.name(point); };
  options.left = [&display](std::optional<double> seconds) { display.left(seconds); };
  try {
    auto result = work(options);
    journal.discard();
    return result;
  } catch (const Interrupted&) {
    throw Interrupted(fmt::format("interrupted; {} finished runs are kept in {}\n  remedy: continue with: {}",
                                  journal.kept(), journal.path(), continuation(arguments, options.out_dir)));
  }
}

void write_text(const std::string& path, const std::string& text) {
  const std::string reason = write_whole_file(path, text);
  if (!reason.empty())
    throw ConfigError({path, 0, 0, ""}, "cannot be written: " + reason, "choose another folder with --out");
}

/// A study of files has no figures to choose from.
int measure_files(const study::Study& chosen, const StudyRunArguments& arguments) {
  if (arguments.traces.empty()) {
    throw ConfigError({"", 0, 0, ""}, fmt::format("study '{}' needs {}", arguments.name, study::spec_of(chosen).files),
                      "give their folder with --traces DIR");
  }
  if (!arguments.figures.empty() || !arguments.fires.empty()) {
    throw ConfigError({"", 0, 0, ""}, fmt::format("study '{}' has no figures", arguments.name),
                      "leave out --figure and --fire");
  }
  const study::StudySpec spec = study::spec_of(chosen);
  const study::FilesResult result = chosen.row->measure(chosen, {arguments.traces, arguments.overrides});
  const std::string folder = out_folder(arguments);
  require_writable_folder(folder);
  const std::string page = report::write_page(report::page_of(spec, result), folder);
  write_text((fs::path(folder) / study::kDumpFile).string(), study::dump(spec, result));
  if (arguments.running.json) {
    print(result.json + "\n");
  } else {
    show_text(fmt::format("{}\nReport: {}\n", result.table, page));
  }
  for (const auto& [name, why] : result.refused) note(fmt::format("error: not read: {}", why));
  return result.refused.empty() ? kDone : kBadInput;
}

}  // namespace

int study_list(const StudyListArguments& arguments) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::string text;
  for (const study::Study& one : study::studies()) {
    const study::StudySpec spec = study::spec_of(one);
    if (arguments.names) {
      text += spec.name + "\n";
    } else {
      text += fmt::format("{}\n  {}\n  {}\n", spec.name, spec.title, spec.reference);
    }
    list.push_back({{"study", spec.name}, {"title", spec.title}, {"reference", spec.reference}});
  }
  arguments.json ? print(list.dump(2) + "\n") : show_text(text);
  return kDone;
}

int study_run(const StudyRunArguments& arguments) {
  const study::Study& chosen = study::find_study(arguments.name);
  if (chosen.row->measure != nullptr) return measure_files(chosen, arguments);
  if (!arguments.traces.empty()) {
    throw ConfigError({"", 0, 0, "--traces"}, fmt::format("study '{}' reads no traces", arguments.name),
                      "leave the option out");
  }
  const study::StudyOptions options = options_of(arguments);
  // Before the folder is made: what is misspelt leaves none behind.
  study::check_choice(chosen, options);
  require_writable_folder(options.out_dir);
  const study::StudyResult result = run_and_keep(
      arguments, options, [&](const study::StudyOptions& o) { return study::run_study(arguments.name, o); });
  const std::string page = report::write_study_report(result, options.out_dir);
  if (arguments.running.json) {
    print(study::to_json(result) + "\n");
  } else {
    show_text(fmt::format("{}\nReport: {}\n", study::to_table(result), page));
  }
  return result.as_expected() ? kDone : kFailed;
}

int study_search(const StudyRunArguments& arguments) {
  const study::Study& study = study::find_study(arguments.name);
  const study::StudyOptions options = options_of(arguments);
  study::check_choice(study, options);
  require_writable_folder(options.out_dir);
  const std::string best =
      run_and_keep(arguments, options, [&](const study::StudyOptions& o) { return study::search_best(study, o); });
  write_text((fs::path(options.out_dir) / study::kBestFile).string(), best);
  print(best);
  return kDone;
}

int study_report(const StudyReportArguments& arguments) {
  const std::string path = dump_path(arguments.from);
  std::string folder = arguments.out.empty() ? fs::path(path).parent_path().string() : arguments.out;
  if (folder.empty()) folder = ".";
  const std::string text = read_dump(path);
  if (const std::optional<study::MeasuredFiles> files = study::load_files(text)) {
    if (arguments.judge) {
      throw ConfigError({"", 0, 0, "--judge"}, fmt::format("study '{}' has no claims", files->spec.name),
                        "leave the option out");
    }
    require_writable_folder(folder);
    const std::string page = report::write_page(report::page_of(files->spec, files->result), folder);
    show_text(fmt::format("{}\nReport: {}\n", files->result.table, page));
    return kDone;
  }
  study::StudyResult result = study::load(text);
  if (arguments.judge) result.claims = study::judge(*study::find_study(result.spec.name).row, result);
  require_writable_folder(folder);
  const std::string page = report::write_study_report(result, folder);
  show_text(fmt::format("{}\nReport: {}\n", study::to_table(result), page));
  return arguments.judge && !result.as_expected() ? kFailed : kDone;
}

}  // namespace banyan::cli
