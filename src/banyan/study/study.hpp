// A study: the experiments behind every figure of one paper, the paper's claims as checks, and a page of text. Its
// folder studies/<slug>/ holds study.toml, one experiment per figure, claims.cpp and README.md; the text files are
// embedded in the program when it is built, so an installed program needs no source tree.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/api/result.hpp"
#include "banyan/study/claim.hpp"
#include "banyan/study/spec.hpp"

namespace banyan::study {

/// A model as a curve of its own over a figure's abscissa, between the loads that were simulated too.
struct ModelCurve {
  std::string metric;  ///< of the chart that it is drawn in
  std::string model;   ///< registry name of the analysis
  std::vector<std::pair<double, double>> points;
};

/// What a study that measures files is given, and what it says of them.
struct FilesOptions {
  std::string folder;
  std::vector<std::string> overrides;  ///< "NAME=VALUE", of the study's constants
};
/// Values of the files, and where two of them stand for one thing a scatter of the one over the other. Text is plain.
struct FilesFigure {
  struct Dot {
    double x = 0.0;
    double y = 0.0;
    std::string name;
  };
  struct Series {
    std::string label;
    std::vector<Dot> dots;
  };
  std::string id;
  std::string title;
  std::string caption;
  std::string x_label;
  std::string y_label;
  std::string unit;             ///< of x and y
  std::vector<Series> scatter;  ///< on logarithmic axes, the last one above the others; empty: only the values
  api::Table values;            ///< also a CSV file
};
struct FilesResult {
  std::string table;
  std::string json;
  std::vector<std::pair<std::string, std::string>> tiles;  ///< value, name
  std::vector<FilesFigure> figures;
  std::vector<std::pair<std::string, std::string>> provenance;  ///< name, value
  std::vector<std::pair<std::string, std::string>> refused;     ///< files that are in no part of it, and why
};

struct Study;

/// Registration row: `const study::StudyRow row_NAME` in `namespace banyan::study::NAME`, in
/// studies/<slug>/claims.cpp, where NAME is the slug with '_' for '-'.
struct StudyRow {
  std::string_view slug;
  std::vector<Claim> (*claims)() = nullptr;
  std::vector<ModelCurve> (*curves)(std::string_view figure) = nullptr;  ///< none where it is absent
  /// For a study whose study.toml names files in place of figures. Throws ConfigError, InvariantError.
  FilesResult (*measure)(const Study& study, const FilesOptions& options) = nullptr;
};

/// A study as the program holds it: its row and its embedded files.
struct Study {
  const StudyRow* row = nullptr;
  std::span<const EmbeddedFile> files;
};

/// All studies, sorted by slug. The build generates the table from the folders' names.
[[nodiscard]] std::span<const Study> studies();
/// Throws ConfigError that names the nearest.
[[nodiscard]] const Study& find_study(std::string_view slug);
[[nodiscard]] StudySpec spec_of(const Study& study);

using Reader =
    std::function<api::ExperimentSet(const std::string& text, const std::string& name, const api::Overrides&)>;
using Runner = std::function<api::Result(const api::Experiment&, const api::RunOptions&)>;

struct StudyOptions {
  Mode mode = Mode::standard;
  std::vector<std::string> figures;  ///< ids; empty: all of the mode
  std::vector<std::string> fires;    ///< names; their figures beside the others that are chosen
  u32 threads = 1;                   ///< points that run at the same time
  std::string out_dir;               ///< CSV files go here; created when missing; "": nothing is written
  std::optional<u64> seed;           ///< of figures without an axis of seeds; those keep theirs
  api::Overrides overrides;          ///< after those of series, mode and figure
  api::Progress progress;            ///< in thousandths of a point
  /// Told before every `progress`: the point that has run for longest, "case-4, dcqcn, seed = 3".
  std::function<void(const std::string&)> at;
  /// Told before every `progress`: seconds until the last run is done, or nothing while nobody knows. Where all figures
  /// say what their runs take it is that at first, of another machine, and more and more that of the runs that are
  /// made; else it is that of these runs from the first.
  std::function<void(std::optional<double>)> left;
  /// Whether `run` has a result of before for this one. Empty: for none.
  std::function<bool(const api::Experiment&)> has;
  /// Told before the first run: how many there are, and the CPU seconds that they will take, 0: not known.
  std::function<void(const std::vector<api::Experiment>& runs, double seconds)> announce;
  const bool* interrupted = nullptr;  ///< polled; true stops with Interrupted
  Reader read;                        ///< default: api::read_experiments_text
  Runner run;                         ///< default: api::run
};

struct ClaimResult {
  std::string id;
  std::string section;
  std::string text;
  std::string measured;
  ClaimVerdict verdict = ClaimVerdict::not_reproduced;
  bool expected = true;
  std::string note;
  std::size_t undecided = 0;  ///< points at which the intervals allow both readings
};

struct StudyResult {
  StudySpec spec;
  Mode mode = Mode::standard;
  std::vector<FigureResult> figures;
  std::vector<ClaimResult> claims;
  std::vector<api::Result> runs;  ///< each configuration once, in the order of first use
  u64 points = 0;                 ///< of all figures, shared ones counted in each

  [[nodiscard]] const api::Result& run_of(const Point& point) const { return runs.at(point.run); }
  [[nodiscard]] View view() const { return {spec, figures, runs}; }
  [[nodiscard]] double cpu_seconds() const;
  /// A hash over all runs in order, equal for any number of threads.
  [[nodiscard]] u64 state_hash() const;
  /// True when every claim that is marked as expected is reproduced, or not tested by this form of the study.
  [[nodiscard]] bool as_expected() const;
};

/// Runs the figures and checks the claims whose figures were run; the others are not tested, or left out when the
/// caller chose the figures. Points with the same configuration run once; they
/// run in parallel, each with one thread, and results are placed by index, so nothing depends on `threads`.
/// Throws ConfigError, InvariantError, Interrupted.
[[nodiscard]] StudyResult run_study(std::string_view slug, const StudyOptions& options = {});
[[nodiscard]] StudyResult run_study(const Study& study, const StudyOptions& options = {});

/// Throws ConfigError when the study has no figure or fire that was chosen.
void check_choice(const Study& study, const StudyOptions& options);

/// The figures of a specification, by itself or changed, over the study's files; without claims, and nothing is
/// written.
[[nodiscard]] StudyResult run_figures(const Study& study, StudySpec spec, const StudyOptions& options);

/// Runs what [search] of the study and `search` of its series list, on every fire that has a table, and gives the text
/// of `best.toml`: by series and fire the set with the best score, which may be the one that the series has.
/// Throws ConfigError where the study searches nothing.
[[nodiscard]] std::string search_best(const Study& study, const StudyOptions& options = {});

/// The claims over what was run: run_study() calls it, and it gives the same for a result that was stored and loaded.
/// A form of the study that lacks a claim's figure, or the length that its sentence needs, does not test it; where
/// somebody chose the figures, claims that stand on others are left out.
[[nodiscard]] std::vector<ClaimResult> judge(const StudyRow& row, const StudyResult& result);

/// Points of a figure that differ in the axis `over` alone; where the figure has none each point is a pool of its own.
struct Pool {
  const Point* first = nullptr;
  std::vector<std::size_t> runs;  ///< indices into StudyResult::runs
};
[[nodiscard]] std::vector<Pool> pools_of(const FigureResult& figure);
/// A metric of the one run of a pool, or the mean over its runs with its interval of 95 % after Student; without an
/// interval where their values are equal. Nothing where a run has no such metric.
[[nodiscard]] std::optional<stats::Metric> metric_of(const StudyResult& result, const Pool& pool,
                                                     const std::string& name);

/// A value of the table of remedies beside each other on one fire.
struct FireCell {
  std::string fire;
  std::string remedy;  ///< name of the series
  /// Name of the metric; "parameters": how many of the remedy's had to be set; "queues": per input port of a switch,
  /// the most that it needed.
  std::string column;
  Estimate value;  ///< over the seeds; its interval is unknown where there is one seed
  u64 seeds = 0;
  u64 missing = 0;  ///< seeds whose run has no such value, as a recovery that does not come: the mean is not known then
};

/// The tables of all figures with a fire and metrics over seeds, remedy by remedy.
[[nodiscard]] std::vector<FireCell> fire_table(const StudyResult& result);
/// The cells of one figure; empty where it gives no table.
[[nodiscard]] std::vector<FireCell> fire_cells(const StudyResult& result, const FigureResult& figure);
/// "12.1 ± 0.3", "12.1" of one seed, "none in 2 of 3" where seeds have no value.
[[nodiscard]] std::string to_string(const FireCell& cell);

/// What runs of a figure's series warn of, such as a control that cannot act there.
struct RunWarning {
  std::string figure;
  std::string series;
  std::string text;
  u64 runs = 0;
};

/// Of all figures, in their order.
[[nodiscard]] std::vector<RunWarning> warnings(const StudyResult& result);

/// One row per point: series, axes, then mean, half width and count of every metric, verdict and state hash. A figure
/// over time has one row per cycle.
[[nodiscard]] std::string to_csv(const StudyResult& result, const FigureResult& figure);

/// One JSON object (README, "For scripts"): study, figures [{id, csv}], claims [{id, section, claim, measured,
/// verdict, expected}], warnings [{figure, series, runs, warning}], and where the study has fires table [{fire, remedy,
/// column, unit, mean, half_width, seeds, missing}].
/// `csv` is the path of the file that was written.
[[nodiscard]] std::string to_json(const StudyResult& result);

/// The claims as a readable table, at most `width` columns wide.
[[nodiscard]] std::string to_table(const StudyResult& result, std::size_t width = 100);

/// Everything of a result that its charts and its claims stand on in one JSON text, and back: `banyan study report`
/// renders a finished run again, and with --judge judges it again.
[[nodiscard]] std::string dump(const StudyResult& result);
/// The specification and the words of the claims come from the study as it is embedded. Throws ConfigError when the
/// text is no dump of this study.
[[nodiscard]] StudyResult load(std::string_view text);

/// What a study of files said, likewise.
struct MeasuredFiles {
  StudySpec spec;
  FilesResult result;
};
[[nodiscard]] std::string dump(const StudySpec& spec, const FilesResult& result);
/// Nothing where the text is of a study that has figures; throws like load().
[[nodiscard]] std::optional<MeasuredFiles> load_files(std::string_view text);

/// The name of the file in `out_dir` that holds dump().
inline constexpr const char* kDumpFile = "study.json";

}  // namespace banyan::study
