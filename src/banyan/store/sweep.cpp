#include "banyan/store/sweep.hpp"

#include <fmt/core.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "banyan/base/error.hpp"
#include "banyan/store/digest.hpp"

namespace banyan::store {
namespace {

std::string shell_word(const std::string& word) {
  static constexpr const char* kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+./,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// The points that are still to be run, each configuration once, and where they stand in the whole sweep.
struct Missing {
  api::ExperimentSet set;
  std::vector<std::size_t> places;
};

Missing missing_points(const api::ExperimentSet& set, const Writer& store) {
  Missing missing;
  missing.set.file = set.file;
  missing.set.axis_names = set.axis_names;
  std::set<u64> seen;
  for (std::size_t i = 0; i < set.points.size(); ++i) {
    const u64 hash = set.points[i].configuration_hash;
    if (!seen.insert(hash).second || store.has(hash)) continue;
    missing.set.points.push_back(set.points[i]);
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

std::size_t kept_of(const api::ExperimentSet& set, const Writer& store) {
  std::size_t kept = 0;
  for (const api::Experiment& point : set.points) kept += store.has(point.configuration_hash) ? 1U : 0U;
  return kept;
}

std::string kept_text(const api::ExperimentSet& set, const Writer& store) {
  return fmt::format("{} of {} points are kept in {}", kept_of(set, store), set.points.size(), store.folder());
}

void run_missing(const api::ExperimentSet& set, const Source& source, Writer& store, const Missing& missing,
                 const api::SweepOptions& options) {
  Keeper keeper(store, missing, options);
  api::SweepOptions mine = options;
  mine.progress = [&keeper](u64 done, u64 total) { keeper.progress(done, total); };
  mine.finished = [&keeper](std::size_t point, const api::Result& result) { keeper.finished(point, result); };
  const std::string on = fmt::format("continue with: {}", continuation(source, store.folder()));
  try {
    static_cast<void>(api::sweep(missing.set, mine));
  } catch (...) {
    if (const auto& failure = keeper.failure()) {
      throw ConfigError(failure->where(), fmt::format("{}; {}", failure->cause(), kept_text(set, store)),
                        fmt::format("{}, then {}", failure->remedy(), on));
    }
    try {
      throw;
    } catch (const Interrupted&) {
      throw Interrupted(fmt::format("interrupted; {}\n  remedy: {}", kept_text(set, store), on));
    }
  }
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
                               const api::SweepOptions& options, const std::function<void(const std::string&)>& say) {
  store.plan(set, source);
  for (std::size_t i = 0; i < set.points.size() && say; ++i) {
    const std::vector<std::string> rows = store.reader().damage(set.points[i].configuration_hash);
    if (!rows.empty()) say(fmt::format("point {} is damaged and is run again: {}", i, damage_text(rows)));
  }
  const Missing missing = missing_points(set, store);
  const std::size_t had = kept_of(set, store);
  if (had > 0 && say) {
    say(fmt::format("{} of {} points are in {} already and are not run again", had, set.points.size(), store.folder()));
  }
  if (!missing.set.points.empty()) run_missing(set, source, store, missing, options);
  std::vector<api::Result> results;
  results.reserve(set.points.size());
  Table table = store.reader().table();
  require_whole(table);
  for (std::optional<api::Result>& result : table.results) results.push_back(std::move(result).value());
  return results;
}

}  // namespace banyan::store
