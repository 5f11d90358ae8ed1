// Claims of a paper as checks over measured figures. Every comparison respects the confidence intervals: what lies
// within them is undecided, never a confirmation.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "banyan/api/result.hpp"
#include "banyan/study/claim_statistics.hpp"
#include "banyan/study/spec.hpp"

namespace banyan::study {

/// One point of a figure. `axes` holds every axis of the figure by its short name; `series` the variant.
struct Point {
  std::string series;
  std::vector<std::pair<std::string, std::string>> axes;
  std::size_t run = 0;  ///< index into StudyResult::runs
};

/// A figure with what was measured for it.
struct FigureResult {
  FigureSpec spec;
  std::vector<Point> points;  ///< series by series, within one in the order of the sweep
  std::string csv;            ///< path of the CSV file; "" when no folder was given
};

/// What becomes of a claim. `undecided`: the intervals allow both readings at more than half of its points.
/// `not_tested`: this form of the study is too short, or too light, for what the sentence speaks of.
enum class ClaimVerdict { reproduced, partly, undecided, not_reproduced, not_tested };
/// "reproduced", "partly", "undecided", "not reproduced", "not tested"
[[nodiscard]] std::string to_string(ClaimVerdict verdict);

struct Outcome {
  ClaimVerdict verdict = ClaimVerdict::not_reproduced;
  std::string measured;       ///< with numbers and intervals
  std::string note;           ///< exceptions and what else a reader should know
  std::size_t undecided = 0;  ///< points at which the intervals allow both readings
};

/// Values of some axes, by short name; "series" selects the variant. Values compare as numbers where they are numbers.
using Selection = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] Selection with(Selection selection, std::string axis, std::string value);

/// Counts where a claim holds, is undecided and fails, and says so in words.
class Tally {
 public:
  /// `where`: the place, last axis last ("σ = 100, γ = 0.2" is {{"σ","100"},{"γ","0.2"}}).
  void add(const Selection& where, Decision decision);

  [[nodiscard]] std::size_t points() const { return entries_.size(); }
  [[nodiscard]] std::size_t count(Decision decision) const;
  [[nodiscard]] std::size_t open() const;  ///< points at which the intervals allow both readings

  /// Undecided: neither holds nor fails at more than half of the points. Reproduced: otherwise, when it holds at all
  /// others, and the means say that it holds where the intervals do not tell. Not reproduced: fails at more points than
  /// the means say that it holds at, or holds nowhere. Partly: holds somewhere, and not everywhere. Wider intervals and
  /// missing values never make a verdict better.
  [[nodiscard]] ClaimVerdict verdict() const;
  /// "holds at 5 of 8 points, fails at 1, undecided at 2"
  [[nodiscard]] std::string summary() const;
  [[nodiscard]] std::string exceptions() const;  ///< "fails at σ = 100, γ = 0.1, 0.2; undecided at ..."; "" for none

  /// verdict, "`detail`; " + summary, exceptions
  [[nodiscard]] Outcome outcome(const std::string& detail = "") const;

 private:
  struct Entry {
    Selection where;
    Decision decision;
  };
  [[nodiscard]] std::string places(Decision decision, Decision or_this) const;
  std::vector<Entry> entries_;
};

/// A number of the paper against ours: reproduced within `tolerance`, partly within three times of it; undecided when
/// the interval does not tell which.
[[nodiscard]] Outcome compare_number(double paper, const Estimate& ours, double tolerance, const std::string& unit);

/// A claim of one sentence that may hold in part: reproduced when the whole holds; partly when the whole fails and the
/// part holds; not reproduced when both fail; undecided otherwise.
[[nodiscard]] Outcome graded(Decision whole, Decision part, const std::string& measured, const std::string& note = "");

/// Joins a run's groups into the batches of time that View::ratio() compares, so that it gives the same, to the last
/// bit, from a tenth of the numbers. The warm-up and groups too few for batches are left out.
void join_groups(api::Result& run);

/// Read access to the measured figures. Asking for a figure, an axis, a point or a metric that does not exist is an
/// error of the claim, and throws std::logic_error that says what there is.
class View {
 public:
  View(const StudySpec& spec, const std::vector<FigureResult>& figures, const std::vector<api::Result>& runs)
      : spec_(&spec), figures_(&figures), runs_(&runs) {}

  [[nodiscard]] bool has(std::string_view figure) const;
  [[nodiscard]] const FigureResult& figure(std::string_view id) const;

  /// The one point that the selection leaves.
  [[nodiscard]] const Point& point(std::string_view figure, const Selection& where) const;
  [[nodiscard]] bool has_point(std::string_view figure, const Selection& where) const;
  [[nodiscard]] const api::Result& result(std::string_view figure, const Selection& where) const;
  [[nodiscard]] Estimate at(std::string_view figure, const Selection& where, std::string_view metric) const;
  /// One metric over another of the same run. They are of the same packets and scatter together, so the interval is
  /// that of their ratio over the run's batches of time, where it kept them; of independent values otherwise.
  [[nodiscard]] Estimate ratio(std::string_view figure, const Selection& where, std::string_view metric,
                               std::string_view over) const;
  /// One metric at one point over the same at another. Runs of one seed and one traffic have the same messages, which
  /// scatter together, so the interval is that of the ratio over pairs of batches, where both runs kept them.
  [[nodiscard]] Estimate ratio(std::string_view figure, const Selection& where, const Selection& other,
                               std::string_view metric) const;
  /// A time series of a run; throws when the run did not record it.
  [[nodiscard]] const stats::Series& series(std::string_view figure, const Selection& where,
                                            std::string_view name) const;

  /// Values of one axis among the points of the selection, in the order of the sweep, each once.
  [[nodiscard]] std::vector<std::string> values(std::string_view figure, std::string_view axis,
                                                const Selection& among = {}) const;
  /// All combinations of values of some axes that exist among the points of the selection.
  [[nodiscard]] std::vector<Selection> grid(std::string_view figure, const std::vector<std::string>& axes,
                                            const Selection& among = {}) const;
  /// The metric along one axis, everything else fixed by the selection.
  [[nodiscard]] std::vector<Estimate> along(std::string_view figure, std::string_view axis, const Selection& fixed,
                                            std::string_view metric) const;

  /// The selection in the paper's symbols, for a Tally: {"sigma","100"} becomes {"σ","100"}. The
  /// series, and a metric named under "measure", become {"", label}.
  [[nodiscard]] Selection symbols(const Selection& where) const;

 private:
  [[nodiscard]] std::vector<const Point*> matching(const FigureResult& figure, const Selection& where) const;
  const StudySpec* spec_;
  const std::vector<FigureResult>* figures_;
  const std::vector<api::Result>* runs_;
};

/// The mean over the seeds of a figure of what `value` says of each, with its interval after Student: for values of one
/// run that have no interval, or one that tells nothing about other runs. Unknown where one of them is.
template <class F>
[[nodiscard]] Estimate over_seeds(const View& view, const std::string& figure, const Selection& at, F&& value) {
  std::vector<double> values;
  bool known = true;
  for (const std::string& seed : view.values(figure, "seed", at)) {
    const Estimate one = value(with(at, "seed", seed));
    known = known && one.known;
    values.push_back(one.mean);
  }
  Estimate mean = mean_of(values);
  mean.known = mean.known && known;
  return mean;
}

/// One claim of a paper, in our own short words.
struct Claim {
  std::string id;
  std::string section;
  std::string text;
  std::vector<std::string> figures;  ///< that it stands on; a run without one of them leaves the claim out
  bool expected = true;              ///< an independent simulation finds it to hold: failing fails the study
  Outcome (*check)(const View&) = nullptr;
  std::string note;  ///< fixed words about it
  /// The shortest form of the study that has the length and the load that the sentence speaks of.
  Mode from = Mode::quick;
};

}  // namespace banyan::study
