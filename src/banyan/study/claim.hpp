// Claims of a paper as checks over measured figures. Every comparison respects the confidence intervals: what lies
// within them is undecided, never a confirmation.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "banyan/api/result.hpp"
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

/// A mean with the half width of its interval.
struct Estimate {
  double mean = 0.0;
  double half_width = 0.0;
  u64 count = 0;
  bool known = true;  ///< false: the run reported no such metric

  [[nodiscard]] static Estimate exactly(double value) { return {value, 0.0, 0, true}; }
};

/// Sums and products of independent estimates; the half widths add in quadrature.
[[nodiscard]] Estimate operator+(const Estimate& a, const Estimate& b);
[[nodiscard]] Estimate operator-(const Estimate& a, const Estimate& b);
[[nodiscard]] Estimate operator*(double factor, const Estimate& a);
[[nodiscard]] Estimate operator/(const Estimate& a, const Estimate& b);  ///< first order

/// "117.4 ± 1.9"
[[nodiscard]] std::string to_string(const Estimate& estimate);

/// A comparison of estimates: it holds or fails significantly, or the intervals do not tell.
enum class Decision { holds, undecided, fails };

/// a < b. With a margin: a < (1 - margin) b, so margin 0.5 is "less than half".
[[nodiscard]] Decision less(const Estimate& a, const Estimate& b, double margin = 0.0);
[[nodiscard]] Decision greater(const Estimate& a, const Estimate& b);
/// |a - b| <= tolerance * max(|a|, |b|): holds when the means do and the difference is not significantly larger.
[[nodiscard]] Decision equal_within(const Estimate& a, const Estimate& b, double tolerance);
/// The last is below the first, and no step rises; `rises` the same upwards. Two values at least.
[[nodiscard]] Decision falls(const std::vector<Estimate>& values);
[[nodiscard]] Decision rises(const std::vector<Estimate>& values);
/// The largest and the smallest are equal within the tolerance.
[[nodiscard]] Decision level(const std::vector<Estimate>& values, double tolerance);
/// |change| <= share * |reference|, for two changes on one scale.
[[nodiscard]] Decision small_beside(const Estimate& change, const Estimate& reference, double share);

enum class ClaimVerdict { reproduced, partly, not_reproduced };
[[nodiscard]] std::string to_string(ClaimVerdict verdict);  ///< "reproduced", "partly", "not reproduced"

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

  /// Reproduced: fails nowhere and holds at half of the points at least. Not reproduced: holds nowhere, or fails at
  /// more points than it holds at. Partly: everything between.
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
  [[nodiscard]] std::string places(Decision decision) const;
  std::vector<Entry> entries_;
};

/// The worst of several verdicts that a claim consists of.
[[nodiscard]] ClaimVerdict worst(ClaimVerdict a, ClaimVerdict b);

/// A number of the paper against ours: reproduced within `tolerance`, partly within three times of it.
[[nodiscard]] Outcome compare_number(double paper, const Estimate& ours, double tolerance, const std::string& unit);

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

/// One claim of a paper, in our own short words.
struct Claim {
  std::string id;
  std::string section;
  std::string text;
  std::vector<std::string> figures;  ///< that it stands on; a run without one of them leaves the claim out
  bool expected = true;              ///< an independent simulation finds it to hold: failing fails the study
  Outcome (*check)(const View&) = nullptr;
  std::string note;  ///< fixed words about it
};

}  // namespace banyan::study
