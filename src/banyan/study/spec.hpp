// What a study's folder says: its figures, their axes and lines, and the short and long forms of a run.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace banyan::study {

/// How much of a study is run: `quick` for CI and demonstrations, `full` with the paper's own effort.
enum class Mode { quick, standard, full };
[[nodiscard]] std::string to_string(Mode mode);  ///< "quick", "default", "full"

/// One text file of a study's folder, embedded in the program.
struct EmbeddedFile {
  std::string_view name;  ///< relative to the folder
  std::string_view text;
};

/// A sweep axis under the short name that figures and claims use.
struct AxisSpec {
  std::string name;    ///< "gamma"
  std::string key;     ///< the key of the sweep: "traffic.uniform.load"
  std::string label;   ///< "Background load"
  std::string symbol;  ///< "γ"
  std::string unit;    ///< "messages per PE and cycle"; "" for a pure number
};

struct MetricSpec {
  std::string name;
  std::string label;
  std::string symbol;
  std::string unit;
};

/// A named variant of an experiment: overrides on top of the figure's file.
struct SeriesSpec {
  std::string name;
  std::string label;
  std::vector<std::string> set;
  /// Overrides after `set`: parameters of it that have to be chosen, as a table of fires counts them.
  std::vector<std::string> parameters;
  /// The sets that a search tries in place of `parameters`.
  std::vector<std::vector<std::string>> candidates;
  /// Takes the place of `parameters` on the fires named: the best candidate of each, as a search found them. Only
  /// series that the file of best sets makes ("swift_best" of "swift") have some.
  std::map<std::string, std::vector<std::string>> per_fire;
  double queues = 0.0;  ///< per input port of a switch, without those that it makes as it needs them; 0: not said
  double queues_per_output = 0.0;  ///< beside those: for each output of the switch (FigureSpec::ports)

  [[nodiscard]] const std::vector<std::string>& parameters_on(const std::string& fire) const;
};

/// What a mode changes: overrides, and the values of each axis (by short name) that it keeps. What a figure says for
/// a mode replaces what the study says: `set` as a whole, `keep` axis by axis.
struct ModeSpec {
  std::optional<std::vector<std::string>> set;
  std::map<std::string, std::vector<std::string>> keep;
};

struct FigureSpec {
  std::string id;
  std::string title;
  std::string caption;
  std::string file;              ///< the experiment, in the same folder
  std::vector<std::string> set;  ///< overrides of the figure, weaker than all others
  /// The fire whose table this figure gives: its metrics over seeds, a row per series; or the one that it draws over
  /// time. "": none.
  std::string fire;
  std::string x;                    ///< axis of the abscissa; "" for a figure over time
  std::vector<std::string> lines;   ///< axes that make one line per value, beside the series
  std::vector<std::string> panels;  ///< axes that make one chart per value
  /// Axis of repetitions, such as the seed: charts and tables show means over its values; "": none.
  std::string over;
  std::vector<std::string> series;   ///< names of SeriesSpec; empty: the file as it stands
  std::vector<std::string> metrics;  ///< one chart each
  /// Over time: names of stats::Series drawn against the cycle. One chart each where several series or lines are
  /// compared, otherwise all in the chart of their point.
  std::vector<std::string> time_series;
  std::string time_unit;    ///< of the abscissa of a figure over time: "us"; "": cycles
  double time_scale = 1.0;  ///< time_units per cycle
  bool log_x = false;
  bool log_y = false;                    ///< on every chart of the figure
  std::vector<std::string> log_y_names;  ///< metrics and time series with a logarithmic axis of their own
  std::vector<Mode> modes;               ///< that run this figure
  double seconds = 0.0;                  ///< CPU time of a run, as it was measured; 0: not said
  double ports = 8.0;                    ///< of a switch, for the queues of the table of a fire
  std::map<Mode, ModeSpec> special;      ///< the figure's own words for a mode

  /// True when it is the table of a fire.
  [[nodiscard]] bool gives_table() const;
  [[nodiscard]] bool has_log_y(const std::string& metric_or_series) const;
};

/// What a search for the best parameters on a fire looks at: the product of the means of `most`, over those of `least`
/// that the fire has.
struct SearchSpec {
  std::vector<std::string> most;
  std::vector<std::string> least;
  std::vector<std::string> set;  ///< overrides of the search, such as seeds that no table has
};

struct StudySpec {
  std::string name;
  std::string title;
  std::string reference;
  std::string summary;
  std::string files;  ///< that the study measures in place of figures: "traces of ..."; "": none
  SearchSpec search;
  std::vector<AxisSpec> axes;
  std::vector<MetricSpec> metrics;
  std::vector<SeriesSpec> series;
  std::map<Mode, ModeSpec> modes;
  std::vector<FigureSpec> figures;

  [[nodiscard]] const AxisSpec* axis(std::string_view axis_name) const;
  [[nodiscard]] const AxisSpec* axis_of_key(std::string_view key) const;
  [[nodiscard]] const MetricSpec* metric(std::string_view metric_name) const;
  [[nodiscard]] const SeriesSpec* find_series(std::string_view series_name) const;
  [[nodiscard]] const FigureSpec* figure(std::string_view id) const;
};

/// The name of the file of best sets in a study's folder; a study may be without.
inline constexpr const char* kBestFile = "best.toml";

/// Reads `study.toml`, and `best.toml`, which a search wrote: by series and fire the best set of parameters. A series
/// with such sets is run twice on the fires that have a table: as it is, and as "<series>_best". Throws ConfigError
/// with the place of what is wrong; every name that a figure uses is checked.
[[nodiscard]] StudySpec parse_study(std::string_view content, std::string name, std::string_view best = "");

/// The text of a file of the folder. Throws ConfigError when there is none.
[[nodiscard]] std::string_view file_text(std::span<const EmbeddedFile> files, std::string_view name);

/// Equal as numbers where both are numbers ("0.50" and "0.5"), as text otherwise.
[[nodiscard]] bool same_value(std::string_view a, std::string_view b);

}  // namespace banyan::study
