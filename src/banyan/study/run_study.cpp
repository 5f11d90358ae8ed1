#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <numeric>

#include "banyan/api/sweep.hpp"
#include "banyan/base/error.hpp"
#include "banyan/base/file.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/parallel.hpp"
#include "banyan/study/study.hpp"

namespace banyan::study {
namespace {

constexpr u64 kUnitsPerPoint = 1000;

const ModeSpec* find_mode(const std::map<Mode, ModeSpec>& modes, Mode mode) {
  const auto found = modes.find(mode);
  return found == modes.end() ? nullptr : &found->second;
}

/// True when one of the figure's axes is the seed.
bool sweeps_seeds(const StudySpec& spec, const FigureSpec& figure) {
  const auto is_seed = [&](const std::string& axis) { return spec.axis(axis)->key == "run.seed"; };
  return std::any_of(figure.lines.begin(), figure.lines.end(), is_seed) ||
         std::any_of(figure.panels.begin(), figure.panels.end(), is_seed) || (!figure.x.empty() && is_seed(figure.x)) ||
         (!figure.over.empty() && is_seed(figure.over));
}

/// The overrides of one series of a figure, weakest first. `seeds`: in place of those that the figure sweeps.
api::Overrides overrides_of(const StudySpec& spec, const FigureSpec& figure, const SeriesSpec* series,
                            const StudyOptions& options, const std::string& seeds = "") {
  api::Overrides all;
  const auto append = [&](const std::vector<std::string>& more) { all.insert(all.end(), more.begin(), more.end()); };
  append(figure.set);
  for (const ModeSpec* mode : {find_mode(figure.special, options.mode), find_mode(spec.modes, options.mode)}) {
    if (mode == nullptr || !mode->set) continue;
    append(*mode->set);
    break;
  }
  if (series != nullptr) {
    append(series->set);
    append(series->parameters_on(figure.fire));
  }
  append(options.overrides);
  if (options.seed && !sweeps_seeds(spec, figure)) all.push_back(fmt::format("run.seed={}", *options.seed));
  if (!seeds.empty()) all.push_back(fmt::format("sweep.run.seed=[{}]", seeds));
  return all;
}

/// Whether the user gives the axis other values: what a mode keeps of those of the study says nothing of them.
bool is_given(const StudyOptions& options, const std::string& key) {
  const auto sets = [&](const std::string& o) {
    return o.starts_with("sweep." + key + "=") || o.starts_with(key + "=");
  };
  return std::any_of(options.overrides.begin(), options.overrides.end(), sets);
}

/// As many seeds as the figure sweeps, from the one that is asked for on; "" where it sweeps none, or they are given.
std::string seeds_from(const StudySpec& spec, const FigureSpec& figure, const api::ExperimentSet& set,
                       const StudyOptions& options) {
  if (!options.seed || !sweeps_seeds(spec, figure) || is_given(options, "run.seed")) return "";
  std::vector<std::string> known;
  for (const api::Experiment& point : set.points) {
    for (const auto& [key, value] : point.axes) {
      if (key == "run.seed" && std::find(known.begin(), known.end(), value) == known.end()) known.push_back(value);
    }
  }
  std::string seeds;
  for (std::size_t i = 0; i < known.size(); ++i) seeds += fmt::format("{}{}", i == 0 ? "" : ", ", *options.seed + i);
  return seeds;
}

/// True when the mode keeps this value; what a figure says about an axis replaces what the study says.
bool keeps(const StudySpec& spec, const FigureSpec& figure, Mode mode, const std::string& axis,
           const std::string& value) {
  for (const ModeSpec* source : {find_mode(figure.special, mode), find_mode(spec.modes, mode)}) {
    if (source == nullptr) continue;
    const auto kept = source->keep.find(axis);
    if (kept == source->keep.end()) continue;
    return std::any_of(kept->second.begin(), kept->second.end(),
                       [&](const std::string& v) { return same_value(v, value); });
  }
  return true;
}

/// True when the declared axes determine the value of this one: it only moves along with them.
bool moves_along(const StudySpec& spec, const api::ExperimentSet& set, const std::string& key) {
  std::map<std::vector<std::string>, std::string> values;
  return std::all_of(set.points.begin(), set.points.end(), [&](const api::Experiment& point) {
    std::vector<std::string> declared;
    std::string own;
    for (const auto& [axis, value] : point.axes) {
      if (axis == key) own = value;
      if (spec.axis_of_key(axis) != nullptr) declared.push_back(value);
    }
    return values.try_emplace(std::move(declared), own).first->second == own;
  });
}

/// Every axis of the sweep needs its place in the figure, and the other way round; one that is not declared may move
/// along with the others.
void check_axes(const StudySpec& spec, const FigureSpec& figure, const api::ExperimentSet& set,
                const StudyOptions& options) {
  std::vector<std::string> used = figure.lines;
  used.insert(used.end(), figure.panels.begin(), figure.panels.end());
  if (!figure.x.empty()) used.push_back(figure.x);
  if (!figure.over.empty()) used.push_back(figure.over);
  const Where where{spec.name + "/study.toml", 0, 0, "figure(" + figure.id + ")"};
  for (const std::string& key : set.axis_names) {
    const AxisSpec* axis = spec.axis_of_key(key);
    if (axis == nullptr) {
      if (moves_along(spec, set, key)) continue;
      throw ConfigError(where, "the sweep's axis '" + key + "' is not declared", "declare it in [axes]");
    }
    if (std::find(used.begin(), used.end(), axis->name) == used.end()) {
      throw ConfigError(where, "axis '" + axis->name + "' of " + figure.file + " has no place in the figure",
                        "use it as x or over, in lines or in panels");
    }
  }
  for (const std::string& name : used) {
    const std::string& key = spec.axis(name)->key;
    if (std::find(set.axis_names.begin(), set.axis_names.end(), key) == set.axis_names.end()) {
      if (is_given(options, key)) {
        throw ConfigError({key, 0, 0, ""}, fmt::format("figure '{}' sweeps it, and one value is no axis", figure.id),
                          fmt::format("give it as \"sweep.{}=[VALUE]\"", key));
      }
      throw ConfigError(where, figure.file + " does not sweep axis '" + name + "'",
                        "add \"" + key + "\" to its [sweep]");
    }
  }
}

/// The distinct experiments of all figures, in the order of first use. The hash leaves out the experiment's name.
class Worklist {
 public:
  /// `seconds`: what the run takes, as far as its figure says.
  /// `name`: of the first point that needs it.
  std::size_t add(api::Experiment experiment, double seconds, std::string name) {
    const auto [place, fresh] = index_.try_emplace(experiment.configuration_hash, experiments_.size());
    if (fresh) {
      experiments_.push_back(std::move(experiment));
      names_.push_back(std::move(name));
      costs_.push_back(seconds);
      seconds_ += seconds;
      all_say_ = all_say_ && seconds > 0.0;
    }
    return place->second;
  }
  /// CPU time of all; 0: not known of some.
  [[nodiscard]] double seconds() const { return all_say_ ? seconds_ : 0.0; }
  [[nodiscard]] const std::vector<api::Experiment>& experiments() const { return experiments_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// CPU seconds of each, as its figure says.
  [[nodiscard]] const std::vector<double>& costs() const { return costs_; }

 private:
  std::map<u64, std::size_t> index_;
  std::vector<std::string> names_;
  std::vector<api::Experiment> experiments_;
  std::vector<double> costs_;
  double seconds_ = 0.0;
  bool all_say_ = true;
};

std::vector<const FigureSpec*> figures_of_fire(const StudySpec& spec, const std::string& fire) {
  std::vector<const FigureSpec*> figures;
  std::vector<std::string> fires;
  for (const FigureSpec& figure : spec.figures) {
    if (figure.fire == fire) figures.push_back(&figure);
    if (!figure.fire.empty() && std::find(fires.begin(), fires.end(), figure.fire) == fires.end()) {
      fires.push_back(figure.fire);
    }
  }
  if (!figures.empty() && !fire.empty()) return figures;
  if (fires.empty()) {
    throw ConfigError({}, fmt::format("study '{}' has no fires", spec.name), "choose its figures with --figure");
  }
  std::string known;
  for (const std::string& name : fires) known += (known.empty() ? "" : ", ") + name;
  const std::string near = nearest_name(fire, fires);
  throw ConfigError({}, fmt::format("study '{}' has no fire '{}'", spec.name, fire),
                    near.empty() ? "its fires are " + known : "did you mean '" + near + "'?");
}

std::vector<const FigureSpec*> chosen_figures(const StudySpec& spec, const StudyOptions& options) {
  std::vector<const FigureSpec*> chosen;
  const auto of_the_mode = [&](const FigureSpec& figure) {
    return std::find(figure.modes.begin(), figure.modes.end(), options.mode) != figure.modes.end();
  };
  if (options.figures.empty() && options.fires.empty()) {
    for (const FigureSpec& figure : spec.figures) {
      if (of_the_mode(figure)) chosen.push_back(&figure);
    }
    return chosen;
  }
  const auto choose = [&](const FigureSpec* figure) {
    if (std::find(chosen.begin(), chosen.end(), figure) == chosen.end()) chosen.push_back(figure);
  };
  for (const std::string& fire : options.fires) {
    const std::vector<const FigureSpec*> of_the_fire = figures_of_fire(spec, fire);
    // One that the mode leaves out is run when it is asked for by name.
    const bool any =
        std::any_of(of_the_fire.begin(), of_the_fire.end(), [&](const auto* f) { return of_the_mode(*f); });
    for (const FigureSpec* figure : of_the_fire) {
      if (!any || of_the_mode(*figure)) choose(figure);
    }
  }
  for (const std::string& id : options.figures) {
    const FigureSpec* figure = spec.figure(id);
    if (figure == nullptr) {
      std::string known;
      for (const FigureSpec& candidate : spec.figures) known += (known.empty() ? "" : ", ") + candidate.id;
      throw ConfigError({}, fmt::format("study '{}' has no figure '{}'", spec.name, id), "its figures are " + known);
    }
    choose(figure);
  }
  return chosen;
}

FigureResult plan_figure(const Study& study, const StudySpec& spec, const FigureSpec& figure,
                         const StudyOptions& options, const Reader& read, Worklist& work) {
  FigureResult result;
  result.spec = figure;
  const std::string text(file_text(study.files, figure.file));
  const std::vector<std::string> names = figure.series.empty() ? std::vector<std::string>{""} : figure.series;
  for (const std::string& name : names) {
    api::ExperimentSet set =
        read(text, spec.name + "/" + figure.file, overrides_of(spec, figure, spec.find_series(name), options));
    check_axes(spec, figure, set, options);
    // A mode keeps points by the seeds of the study.
    const api::ExperimentSet own = set;
    if (const std::string seeds = seeds_from(spec, figure, set, options); !seeds.empty()) {
      set =
          read(text, spec.name + "/" + figure.file, overrides_of(spec, figure, spec.find_series(name), options, seeds));
    }
    for (std::size_t i = 0; i < set.points.size(); ++i) {
      api::Experiment& experiment = set.points[i];
      Point point{name, {}, 0};
      bool kept = true;
      for (std::size_t a = 0; a < experiment.axes.size(); ++a) {
        const auto& [key, value] = experiment.axes[a];
        const AxisSpec* const declared = spec.axis_of_key(key);
        if (declared == nullptr) continue;
        const std::string& axis = declared->name;
        kept =
            kept && (is_given(options, key) || keeps(spec, figure, options.mode, axis, own.points[i].axes[a].second));
        point.axes.emplace_back(axis, value);
      }
      if (!kept) continue;
      std::string label = figure.id + (name.empty() ? "" : ", " + name);
      if (const std::string axes = api::axes_text(experiment); !axes.empty()) label += ", " + axes;
      point.run = work.add(std::move(experiment), figure.seconds, std::move(label));
      result.points.push_back(std::move(point));
    }
  }
  return result;
}

/// The time that runs still take.
class Forecast {
 public:
  /// `all`: the cost of all runs, in CPU seconds where it is `measured`; in anything else it tells nothing before a run
  /// was made.
  Forecast(double all, bool measured, u32 threads) : all_(all), measured_(measured), threads_(threads) {}

  /// A part of the work is done: by a run that is going on, or was made before.
  void add(double cost, bool made_before) {
    done_ += cost;
    (made_before ? kept_ : made_) += cost;
  }
  [[nodiscard]] std::optional<double> seconds_left() const {
    constexpr double kEnough = 0.05;  // of the work: a hundred of 2,000 runs tell what this machine takes for a second
    const double rest = std::max(0.0, all_ - done_);
    const double as_said = rest / threads_;
    if (made_ <= 0.0) return measured_ || rest <= 0.0 ? std::optional(as_said) : std::nullopt;
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const double trust = measured_ ? std::min(1.0, made_ / (kEnough * (all_ - kept_))) : 1.0;
    return (1.0 - trust) * as_said + trust * passed * rest / made_;
  }

 private:
  double all_;
  bool measured_;
  double threads_;
  double done_ = 0.0;
  double made_ = 0.0;  ///< since the start
  double kept_ = 0.0;  ///< from before
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Adds up the progress of points that run at the same time.
class Meter {
 public:
  Meter(const StudyOptions& options, const Worklist& work)
      : options_(options),
        experiments_(work.experiments()),
        names_(work.names()),
        // Where a figure does not say what its runs take, each counts as much as any other.
        costs_(work.seconds() > 0.0 ? work.costs() : std::vector<double>(names_.size(), 1.0)),
        done_(names_.size(), 0),
        made_before_(names_.size(), false),
        forecast_(std::accumulate(costs_.begin(), costs_.end(), 0.0), work.seconds() > 0.0, options.threads) {}

  void begin(std::size_t point) {
    const std::scoped_lock lock(mutex_);
    running_.push_back(point);
    made_before_[point] = options_.has && options_.has(experiments_[point]);
  }
  void end(std::size_t point) {
    report(point, 1, 1);
    const std::scoped_lock lock(mutex_);
    std::erase(running_, point);
  }

  void report(std::size_t point, u64 done, u64 total) {
    if (!options_.progress) return;
    const std::scoped_lock lock(mutex_);
    const u64 units = total == 0 ? 0 : std::min(kUnitsPerPoint, done * kUnitsPerPoint / total);
    if (units <= done_[point]) return;
    const u64 more = units - done_[point];
    forecast_.add(costs_[point] * static_cast<double>(more) / kUnitsPerPoint, made_before_[point]);
    sum_ += more;
    done_[point] = units;
    if (options_.at && !running_.empty()) options_.at(names_[running_.front()]);
    if (options_.left) options_.left(forecast_.seconds_left());
    options_.progress(sum_, kUnitsPerPoint * done_.size());
  }

 private:
  const StudyOptions& options_;
  const std::vector<api::Experiment>& experiments_;
  const std::vector<std::string>& names_;  ///< of the points
  std::vector<double> costs_;
  std::mutex mutex_;
  std::vector<std::size_t> running_;  ///< points, in the order in which they began
  std::vector<u64> done_;
  std::vector<bool> made_before_;  ///< such a run is done at once, and tells nothing of this machine
  u64 sum_ = 0;
  Forecast forecast_;
};

std::vector<api::Result> run_all(const Worklist& work, const StudyOptions& options, const Runner& run) {
  const std::vector<api::Experiment>& experiments = work.experiments();
  std::vector<api::Result> results(experiments.size());
  Meter meter(options, work);
  in_parallel(experiments.size(), options.threads, [&](std::size_t i) {
    if (options.interrupted != nullptr && *options.interrupted) throw Interrupted("interrupted");
    api::RunOptions one;
    one.threads = 1;
    one.interrupted = options.interrupted;
    one.progress = [&meter, i](u64 done, u64 total) { meter.report(i, done, total); };
    meter.begin(i);
    results[i] = run(experiments[i], one);
    meter.end(i);
  });
  return results;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  const std::string reason = write_whole_file(path.string(), text);
  if (!reason.empty()) {
    throw ConfigError({path.string(), 0, 0, ""}, "cannot be written: " + reason, "choose another folder with --out");
  }
}

/// Before the work, not after it: a folder that cannot be written costs nothing.
void prepare_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder)) {
    throw ConfigError({folder, 0, 0, ""}, "the folder cannot be created", "choose another folder with --out");
  }
  const std::filesystem::path probe = std::filesystem::path(folder) / ".banyan-probe";
  write_file(probe, "");
  std::filesystem::remove(probe, error);
}

/// The shortest form that has all figures of a claim, and the length that it asks for.
Mode shortest_form(const Claim& claim, const StudySpec& spec) {
  Mode mode = claim.from;
  for (const std::string& id : claim.figures) {
    const FigureSpec* const figure = spec.figure(id);
    if (figure == nullptr || figure->modes.empty()) continue;
    mode = std::max(mode, *std::min_element(figure->modes.begin(), figure->modes.end()));
  }
  return mode;
}

/// True when somebody chose the figures: they are not those of the form.
bool chose_figures(const StudyResult& result) {
  const auto has = [&](const std::string& id) { return result.view().has(id); };
  return !std::all_of(result.spec.figures.begin(), result.spec.figures.end(), [&](const FigureSpec& figure) {
    const bool of_the_form = std::find(figure.modes.begin(), figure.modes.end(), result.mode) != figure.modes.end();
    return has(figure.id) == of_the_form;
  });
}

}  // namespace

const Study& find_study(std::string_view slug) {
  std::vector<std::string> names;
  for (const Study& study : studies()) {
    if (study.row->slug == slug) return study;
    names.emplace_back(study.row->slug);
  }
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  const std::string near = nearest_name(slug, names);
  throw ConfigError({}, fmt::format("there is no study '{}'", slug),
                    near.empty() ? "the studies are " + known : "did you mean '" + near + "'?");
}

StudySpec spec_of(const Study& study) {
  const auto best = std::find_if(study.files.begin(), study.files.end(),
                                 [](const EmbeddedFile& file) { return file.name == kBestFile; });
  return parse_study(file_text(study.files, "study.toml"), std::string(study.row->slug),
                     best == study.files.end() ? std::string_view() : best->text);
}

void check_choice(const Study& study, const StudyOptions& options) {
  static_cast<void>(chosen_figures(spec_of(study), options));
}

StudyResult run_study(std::string_view slug, const StudyOptions& options) {
  return run_study(find_study(slug), options);
}

StudyResult run_figures(const Study& study, StudySpec spec, const StudyOptions& options) {
  const Reader read = options.read ? options.read : Reader(&api::read_experiments_text);
  const Runner run = options.run ? options.run : Runner(&api::run);
  StudyResult result;
  result.spec = std::move(spec);
  result.mode = options.mode;
  if (study.row->measure != nullptr) {
    throw ConfigError({}, fmt::format("study '{}' has no figures: it measures files", result.spec.name),
                      "run it with: banyan study run " + result.spec.name + " --traces DIR");
  }

  Worklist work;
  for (const FigureSpec* figure : chosen_figures(result.spec, options)) {
    result.figures.push_back(plan_figure(study, result.spec, *figure, options, read, work));
    result.points += result.figures.back().points.size();
  }
  if (options.announce) options.announce(work.experiments(), work.seconds());
  result.runs = run_all(work, options, run);
  return result;
}

StudyResult run_study(const Study& study, const StudyOptions& options) {
  if (!options.out_dir.empty()) prepare_folder(options.out_dir);
  StudyResult result = run_figures(study, spec_of(study), options);
  result.claims = judge(*study.row, result);

  if (!options.out_dir.empty()) {
    for (FigureResult& figure : result.figures) {
      const auto path = std::filesystem::path(options.out_dir) / ("figure-" + figure.spec.id + ".csv");
      figure.csv = path.string();
      write_file(path, to_csv(result, figure));
    }
    write_file(std::filesystem::path(options.out_dir) / kDumpFile, dump(result));
  }
  return result;
}

std::vector<ClaimResult> judge(const StudyRow& row, const StudyResult& result) {
  const View view = result.view();
  const bool chosen = chose_figures(result);
  std::vector<ClaimResult> results;
  for (const Claim& claim : row.claims()) {
    const bool covered =
        std::all_of(claim.figures.begin(), claim.figures.end(), [&](const std::string& id) { return view.has(id); });
    if (!covered && chosen) continue;
    Outcome outcome{ClaimVerdict::not_tested, "", ""};
    if (covered && result.mode >= claim.from) {
      outcome = claim.check(view);
    } else {
      outcome.measured = fmt::format("the {} form of the study is too short for this sentence; the {} form tests it",
                                     to_string(result.mode), to_string(shortest_form(claim, result.spec)));
    }
    std::string note = claim.note;
    if (!outcome.note.empty()) note = outcome.note + (note.empty() ? "" : ". " + note);
    results.push_back({claim.id, claim.section, claim.text, outcome.measured, outcome.verdict, claim.expected, note,
                       outcome.undecided});
  }
  return results;
}

double StudyResult::cpu_seconds() const {
  double sum = 0.0;
  for (const api::Result& run : runs) sum += run.cpu_seconds;
  return sum;
}

u64 StudyResult::state_hash() const {
  Hasher hash;
  for (const api::Result& run : runs) {
    hash.add(run.configuration_hash);
    hash.add(run.state_hash);
  }
  return hash.value();
}

bool StudyResult::as_expected() const {
  return std::all_of(claims.begin(), claims.end(), [](const ClaimResult& claim) {
    return !claim.expected || claim.verdict == ClaimVerdict::reproduced || claim.verdict == ClaimVerdict::not_tested;
  });
}

}  // namespace banyan::study
