#include "banyan/store/sweep.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "banyan/api/version.hpp"
#include "banyan/base/error.hpp"
#include "banyan/store/digest.hpp"
#include "banyan/store/heartbeat.hpp"

namespace banyan::store {
namespace {

std::string shell_word(const std::string& word) {
  static constexpr const char* kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+./,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// Whether the run of that configuration is kept.
using Has = std::function<bool(u64)>;

/// What a command is to run, and where that is kept.
struct Task {
  const api::ExperimentSet& set;
  std::vector<std::size_t> places;  ///< in the set
  Has has;
  std::string folder;
  std::string continuation;
  std::string what = "points";  ///< "points", "points of part 2/8"

  [[nodiscard]] std::size_t kept() const {
    return static_cast<std::size_t>(std::count_if(
        places.begin(), places.end(), [this](std::size_t i) { return has(set.points[i].configuration_hash); }));
  }
};

/// The points that are still to be run, each configuration once, and where they stand in the whole sweep.
struct Missing {
  api::ExperimentSet set;
  std::vector<std::size_t> places;
};

Missing missing_points(const Task& task) {
  Missing missing;
  missing.set.file = task.set.file;
  missing.set.axis_names = task.set.axis_names;
  std::set<u64> seen;
  for (const std::size_t i : task.places) {
    const u64 hash = task.set.points[i].configuration_hash;
    if (!seen.insert(hash).second || task.has(hash)) continue;
    missing.set.points.push_back(task.set.points[i]);
    missing.places.push_back(i);
  }
  return missing;
}

/// Stores points as they finish; after the first failure nothing more, and the points that run are stopped.
class Keeper {
 public:
  Keeper(Writer& store, const Missing& missing, const api::SweepOptions& options)
      : store_(store), missing_(missing), options_(options) {}

  void finished(std::size_t point, const api::Result& result) {
    if (failure_) throw Interrupted("interrupted");
    try {
      store_.put(result);
    } catch (const ConfigError& error) {
      failure_ = error;
      failed_ = true;
      throw;
    }
    if (options_.finished) options_.finished(missing_.places[point], result);
  }
  void progress(u64 done, u64 total) {
    if (failed_) throw Interrupted("interrupted");
    if (options_.progress) options_.progress(done, total);
  }
  [[nodiscard]] const std::optional<ConfigError>& failure() const { return failure_; }

 private:
  Writer& store_;
  const Missing& missing_;
  const api::SweepOptions& options_;
  std::optional<ConfigError> failure_;
  std::atomic<bool> failed_{false};
};

std::string kept_text(const Task& task) {
  return fmt::format("{} of {} {} are kept in {}", task.kept(), task.places.size(), task.what, task.folder);
}

void run_missing(const Task& task, Writer& store, const api::SweepOptions& options) {
  const Missing missing = missing_points(task);
  if (missing.set.points.empty()) return;
  Keeper keeper(store, missing, options);
  api::SweepOptions mine = options;
  mine.progress = [&keeper](u64 done, u64 total) { keeper.progress(done, total); };
  mine.finished = [&keeper](std::size_t point, const api::Result& result) { keeper.finished(point, result); };
  const std::string on = fmt::format("continue with: {}", task.continuation);
  try {
    static_cast<void>(api::sweep(missing.set, mine));
  } catch (...) {
    if (const auto& failure = keeper.failure()) {
      throw ConfigError(failure->where(), fmt::format("{}; {}", failure->cause(), kept_text(task)),
                        fmt::format("{}, then {}", failure->remedy(), on));
    }
    try {
      throw;
    } catch (const Interrupted&) {
      throw Interrupted(fmt::format("interrupted; {}\n  remedy: {}", kept_text(task), on));
    }
  }
}

/// What the points that are kept have cost.
std::vector<std::pair<api::Experiment, double>> known_costs(const Task& task, const Reader& reader) {
  std::vector<std::pair<api::Experiment, double>> known;
  for (const std::size_t i : task.places) {
    const double seconds = reader.cpu_seconds(task.set.points[i].configuration_hash);
    if (seconds > 0.0) known.emplace_back(task.set.points[i], seconds);
  }
  return known;
}

void tell_kept(const Task& task, const Tell& say) {
  const std::size_t had = task.kept();
  if (had == 0 || !say) return;
  say(fmt::format("{} of {} {} are in {} already and are not run again", had, task.places.size(), task.what,
                  task.folder));
}

}  // namespace

std::string continuation(const Source& source, const std::string& folder) {
  std::string command = fmt::format("banyan {} {}", source.command, shell_word(source.file));
  for (const std::string& change : source.overrides) command += " " + shell_word(change);
  for (const std::string& option : source.options) command += " " + shell_word(option);
  // Who named the file of a store means its folder.
  const std::filesystem::path path(folder);
  const bool file = path.filename() == kFileName;
  return command + " --out " + shell_word(!file ? folder : path.has_parent_path() ? path.parent_path().string() : ".");
}

std::vector<api::Result> sweep(const api::ExperimentSet& set, const Source& source, Writer& store,
                               const api::SweepOptions& options, const Tell& say, bool tells_kept) {
  absorb_parts(store.folder(), store, say);
  store.plan(set, source);
  for (std::size_t i = 0; i < set.points.size() && say; ++i) {
    const std::vector<std::string> rows = store.reader().damage(set.points[i].configuration_hash);
    if (!rows.empty()) say(fmt::format("point {} is damaged and is run again: {}", i, damage_text(rows)));
  }
  Task task{
      set, {}, [&store](u64 run) { return store.has(run); }, store.folder(), continuation(source, store.folder())};
  task.places.resize(set.points.size());
  std::iota(task.places.begin(), task.places.end(), std::size_t{0});
  if (tells_kept) tell_kept(task, say);
  api::SweepOptions mine = options;
  mine.known = known_costs(task, store.reader());
  run_missing(task, store, mine);
  std::vector<api::Result> results;
  results.reserve(set.points.size());
  Table table = store.reader().table();
  require_whole(table);
  for (std::optional<api::Result>& result : table.results) results.push_back(std::move(result).value());
  return results;
}

namespace {

/// What earlier workers had, and what their points cost.
struct Elsewhere {
  /// The copy goes from its folder at once, so that a worker that is killed while its points run leaves nothing there.
  Elsewhere(const std::string& folder, const std::shared_ptr<const Joined>& joined) : reader(folder, joined) {
    for (const u64 run : reader.runs()) {
      if (reader.made(run).version == api::version()) runs.insert(run);
    }
  }

  Reader reader;
  std::set<u64> runs;
};

}  // namespace

PartResults sweep_part(const api::ExperimentSet& set, const Source& source, const std::string& folder,
                       const SweepPart& part, const api::SweepOptions& options, const Tell& say) {
  Plan plan = plan_of(set, source);
  const std::string file = new_part_file(folder, part);
  Heartbeat heartbeat(file, part, plan.digest);
  try {
    const Elsewhere elsewhere(folder, join_for_part(folder, plan, part, say));
    PartResults results;
    results.places = places_of(set, part);
    std::vector<Plan::Point> own;
    for (const std::size_t i : results.places) own.push_back(std::move(plan.points[i]));
    plan.points = std::move(own);
    Writer store(folder, file);
    store.plan(plan);
    Source again = source;
    again.options.push_back("--part=" + to_text(part));
    const Task task{set,
                    results.places,
                    [&](u64 run) { return elsewhere.runs.contains(run) || store.has(run); },
                    folder,
                    continuation(again, folder),
                    fmt::format("points of part {}", to_text(part))};
    tell_kept(task, say);
    const std::size_t had = task.kept();
    heartbeat.status(had, task.places.size(), -1.0, "");
    api::SweepOptions mine = options;
    mine.status = [&](const api::SweepStatus& status) {
      heartbeat.status(had + status.finished, task.places.size(), status.grounded ? status.seconds_left : -1.0,
                       status.at);
      if (options.status) options.status(status);
    };
    mine.known = known_costs(task, elsewhere.reader);
    run_missing(task, store, mine);
    for (const std::size_t i : results.places) {
      const u64 run = set.points[i].configuration_hash;
      results.results.push_back((elsewhere.runs.contains(run) ? elsewhere.reader : store.reader()).find(run).value());
      results.results.back().configuration = set.points[i].configuration;
    }
    heartbeat.finish();
    return results;
  } catch (const ConfigError& error) {
    heartbeat.fail(error.cause());
    throw;
  } catch (const std::exception& error) {
    heartbeat.fail(error.what());
    throw;
  }
}

}  // namespace banyan::store
