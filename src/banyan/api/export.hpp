// Results for other programs and for reading: CSV, JSON and tables of one run and of a sweep.
#pragma once

#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"

namespace banyan::api {

/// One row per metric: metric, mean, half_width, confidence, count, unit.
[[nodiscard]] std::string to_csv(const Result& result);
/// One column per time series, one row per interval; "" when there is none.
[[nodiscard]] std::string series_csv(const Result& result);

/// The time series of all points: one row per value, with the point's axes, series, unit and time; "" when there are
/// none.
[[nodiscard]] std::string series_csv(const ExperimentSet& set, const std::vector<Result>& results);

/// A table as it is, its columns as the head.
[[nodiscard]] std::string to_csv(const Table& table);

/// How many points have a warning, and that of the first, in one sentence; "" when none has.
[[nodiscard]] std::string warnings_of(const std::vector<Result>& results);

/// One row per point: the axes, verdict, state hash and whether the verdict is certain, then mean, half width and count
/// of every metric.
[[nodiscard]] std::string to_csv(const ExperimentSet& set, const std::vector<Result>& results);
/// What a run cost: CPU seconds and memory, the only parts of a result that differ from run to run.
enum class Costs { shown, left_out };
/// One object: banyan, file, axes, points [{axes, and everything of the point's result}].
[[nodiscard]] std::string to_json(const ExperimentSet& set, const std::vector<Result>& results,
                                  Costs costs = Costs::shown);
/// Axes, verdict and the chosen metrics with their intervals; none chosen: the first ones that have an interval, and
/// where none has one, as in runs of jobs, the first ones that differ between points. Points that differ in their seeds
/// alone are one line, with the means over them. Below it, why points are uncertain. Throws ConfigError when a chosen
/// metric is reported by no point.
[[nodiscard]] std::string to_table(const ExperimentSet& set, const std::vector<Result>& results,
                                   const std::vector<std::string>& metrics = {});
/// All metrics of all points, as many tables below each other as they need; of a run alone, its table.
[[nodiscard]] std::string to_whole_table(const ExperimentSet& set, const std::vector<Result>& results);

/// Rows of cells as lines, each column as wide as its widest cell; all rows have as many cells as the first.
[[nodiscard]] std::string aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace banyan::api
