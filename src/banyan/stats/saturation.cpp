#include "banyan/stats/saturation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "banyan/base/error.hpp"

namespace banyan::stats {

namespace {

constexpr std::size_t kFewestWindows = 32;  ///< below, neither increments nor correlations mean anything
constexpr std::size_t kStretches = 20;      ///< increments for the error: as many as batches, for the same reason
/// The sum of autocorrelations ends after so many correlation times (Sokal 1997): what follows is noise.
constexpr double kCorrelationTimes = 5.0;
/// From one level to half of it, from 1 % down to 0.03 %, the quantiles of 60,000 random walks of 700 steps grow by
/// 0.23 to 0.27 (statistic of Dickey and Fuller), and by 4 to 6 (length in correlation times; with noise of three steps
/// beside the walk 4 to 9). The second may grow by less: a walk that looks long has to show next to no growth as well.
/// Six looks at walks whose drift is the limit then are wrong in 5 % of cases, which is what they may be, as with 7.
constexpr double kUnitRootPerLook = 0.26;
constexpr double kForgetsPerLook = 3.0;

/// Flits in the system at the end of each window, from 0 on.
std::vector<double> levels_of(std::span<const u64> offered, std::span<const u64> accepted) {
  std::vector<double> levels;
  levels.reserve(offered.size());
  i64 inside = 0;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    inside += static_cast<i64>(offered[i]) - static_cast<i64>(accepted[i]);
    levels.push_back(static_cast<double>(inside));
  }
  return levels;
}

/// Least-squares slope per window.
double slope_of(std::span<const double> levels) noexcept {
  const double middle = (static_cast<double>(levels.size()) - 1.0) / 2.0;
  double products = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const double offset = static_cast<double>(i) - middle;
    products += offset * levels[i];
    squares += offset * offset;
  }
  return squares > 0.0 ? products / squares : 0.0;
}

std::vector<double> residuals_of(std::span<const double> levels, double slope) {
  const double mean = average(levels);
  const double middle = (static_cast<double>(levels.size()) - 1.0) / 2.0;
  std::vector<double> residuals;
  residuals.reserve(levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    residuals.push_back(levels[i] - mean - slope * (static_cast<double>(i) - middle));
  }
  return residuals;
}

double product_at(std::span<const double> values, std::size_t lag) noexcept {
  double sum = 0.0;
  for (std::size_t i = 0; i + lag < values.size(); ++i) sum += values[i] * values[i + lag];
  return sum;
}

/// 1 + 2 (sum of autocorrelations), in windows; at least 1.
double correlation_time(std::span<const double> residuals) noexcept {
  const double variance = product_at(residuals, 0);
  if (!(variance > 0.0)) return 1.0;
  double time = 1.0;
  for (std::size_t lag = 1; lag < residuals.size() / 2; ++lag) {
    time = std::max(1.0, time + 2.0 * product_at(residuals, lag) / variance);
    if (static_cast<double>(lag) >= kCorrelationTimes * time) break;
  }
  return time;
}

/// The means of so many stretches stand for the level where a random walk is tested for: noise that is faster hides no
/// walk in them.
constexpr std::size_t kBlocks = 50;

/// The t statistic of a in: step = constant + a * level before + b * step before (Dickey and Fuller 1979, J. Am. Stat.
/// Assoc. 74). 0 where there is nothing to tell.
double unit_root(std::span<const double> levels) {
  const std::size_t length = levels.size() / kBlocks;
  if (length == 0) return 0.0;
  const std::span<const double> used = levels.last(length * kBlocks);
  std::vector<double> block;
  for (std::size_t i = 0; i < kBlocks; ++i) block.push_back(average(used.subspan(i * length, length)));
  std::vector<double> step;
  std::vector<double> before;
  std::vector<double> step_before;
  for (std::size_t i = 2; i < kBlocks; ++i) {
    step.push_back(block[i] - block[i - 1]);
    before.push_back(block[i - 1]);
    step_before.push_back(block[i - 1] - block[i - 2]);
  }
  for (std::vector<double>* values : {&step, &before, &step_before}) {
    const double mean = average(*values);
    for (double& value : *values) value -= mean;
  }
  const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  const double squares = product(before, before);
  const double step_squares = product(step_before, step_before);
  const double mixed = product(before, step_before);
  const double determinant = squares * step_squares - mixed * mixed;
  if (!(determinant > 0.0)) return 0.0;
  const double a = (product(before, step) * step_squares - product(step_before, step) * mixed) / determinant;
  const double b = (product(step_before, step) * squares - product(before, step) * mixed) / determinant;
  const double rest = product(step, step) - a * product(before, step) - b * product(step_before, step);
  const double variance = rest / (static_cast<double>(step.size()) - 3.0) * step_squares / determinant;
  return variance > 0.0 ? a / std::sqrt(variance) : 0.0;
}

/// Var(slope) = 6/5 sigma^2 / n of a random walk with variance sigma^2 per window. The increments are those of single
/// values at the ends of stretches, with all noise that is faster: too wide rather than too narrow. But for a network
/// that is empty at nearly all of these ends, of which the increments tell nothing: what wanders is known no better
/// than what returns to a mean, with the standard error `at_least`.
Interval wandering(std::span<const double> levels, double slope, double offered, double at_least) {
  const auto n = levels.size();
  const std::size_t stride = std::max<std::size_t>(1, n / (kStretches + 1));
  std::vector<double> increments;
  for (std::size_t i = n % stride; i + stride < n; i += stride) increments.push_back(levels[i + stride] - levels[i]);
  const auto count = static_cast<double>(increments.size());
  const double variance = std::pow(mean_interval(increments).standard_error, 2) * count / static_cast<double>(stride);
  const double error = std::sqrt(1.2 * variance / static_cast<double>(n)) / offered;
  return make_interval(slope / offered, std::max(error, at_least), count - 1.0, kConfidence);
}

/// Var(slope) = 12 v t / n^3 of a stationary process with variance v and integrated autocorrelation time t.
Interval settled(std::span<const double> residuals, double time, double slope, double offered) {
  const auto n = static_cast<double>(residuals.size());
  const double error = std::sqrt(12.0 * product_at(residuals, 0) * time / std::pow(n, 4));
  return make_interval(slope / offered, error / offered, std::max(1.0, n / time - 2.0), kConfidence);
}

/// "2.31 % ± 0.52 %"
std::string per_cent(const Interval& interval) {
  const std::string mean = fmt::format("{:.2f} %", interval.mean * 100.0);
  return interval.half_width ? fmt::format("{} ± {:.2f} %", mean, *interval.half_width * 100.0) : mean;
}

Interval at(const Interval& interval, double confidence) {
  return make_interval(interval.mean, interval.standard_error, interval.degrees_of_freedom, confidence);
}

/// The interval that a steady state is judged by.
Interval below(const Growth& growth, const VerdictRule& rule) {
  return at(growth.relaxations >= rule.forgets ? growth.settled : growth.wandering, rule.steady_confidence);
}

/// The interval that saturation is judged by.
Interval above(const Growth& growth, const VerdictRule& rule) {
  return at(growth.wandering, rule.saturated_confidence);
}

/// The limit that growth is above when it is more than queues show that find their mean together: d standard errors,
/// and the quantile of the non-central t distribution, in the approximation t sqrt(1 + d^2 / (2 degrees of freedom)).
double together(const Growth& growth, const VerdictRule& rule) {
  const Interval interval = above(growth, rule);
  const double d = rule.together * std::sqrt(static_cast<double>(growth.queues));
  return d * interval.standard_error +
         interval.half_width.value_or(0.0) * std::sqrt(1.0 + d * d / (2.0 * interval.degrees_of_freedom));
}

/// Whether growth is likelier than a steady state, where neither is certain: a standard error above the limit, and
/// above what queues show that find their mean together, unless flits still wait at their sources.
bool likely_grows(const Evidence& e, const VerdictRule& rule) {
  if (!e.sources_wait && e.growth.last_half <= rule.last_half * e.growth.share) return false;
  const double together = e.sources_wait ? 0.0 : rule.together * std::sqrt(static_cast<double>(e.growth.queues));
  return e.growth.share - (together + 1.0) * e.growth.wandering.standard_error > rule.growth;
}

bool half_gone(const Recovery& recovery) noexcept {
  return recovery.left < recovery.backlog / 2.0 || recovery.left <= recovery.usual;
}

bool recovers_from_less(const Evidence& e, const VerdictRule& rule) {
  return e.recovery_from_less && recovers(*e.recovery_from_less, rule);
}

std::string doubts_of(const Evidence& e, const VerdictRule& rule) {
  std::vector<std::string> doubts;
  if (!e.growth.settled.half_width) {
    doubts.emplace_back("the measurement is too short to tell what stays in queues");
  } else if (!level(e.growth, rule)) {
    doubts.push_back(fmt::format("of the offered load {} stays in queues ({:g} % interval; limit {:g} %)",
                                 per_cent(below(e.growth, rule)), rule.steady_confidence * 100.0, rule.growth * 100.0));
  }
  if (e.filling) doubts.emplace_back("the run ends before the network can have filled");
  if (e.memories < rule.memories) {
    doubts.push_back(fmt::format(
        "the sources send in bursts, and the measurement lasts for {:.2g} autocorrelation times of them (limit {:g})",
        e.memories, rule.memories));
  }
  if (e.mixings < rule.memories) {
    doubts.push_back(fmt::format(
        "the sources send at nearly equal distances to the same destinations, and the measurement lasts for "
        "{:.2g} autocorrelation times of their phases (limit {:g})",
        e.mixings, rule.memories));
  }
  if (!e.warmup_found && e.growth.relaxations < rule.long_enough)
    doubts.emplace_back("the end of the warm-up was not found in the first half of the run");
  if (!e.all_arrived) doubts.emplace_back("not everything arrived");
  if (e.recovery && !recovers(*e.recovery, rule) && !recovers_from_less(e, rule)) {
    const Recovery& least = e.recovery_from_less.value_or(*e.recovery);
    const std::string far =
        least.times > 0.0 ? fmt::format(" ({:.1f} times as far above the mean as the run has been)", least.times) : "";
    doubts.push_back(
        fmt::format("it might not recover from a burst: networks can carry less once buffers are full, and begun with "
                    "the backlog of {} cycles{} this one keeps {} of the offered load in queues",
                    least.held, far, per_cent(above(least.growth, rule))));
  }
  if (!e.widest_latency.empty() && !e.latency_width) {
    doubts.push_back(fmt::format("{} has no interval", e.widest_latency));
  } else if (e.latency_width && *e.latency_width > rule.latency) {
    doubts.push_back(fmt::format("{} is known only within {:.0f} % (limit {:.0f} %)", e.widest_latency,
                                 *e.latency_width * 100.0, rule.latency * 100.0));
  }
  return fmt::format("{}", fmt::join(doubts, "; "));
}

}  // namespace

VerdictRule rule_at(u32 look) {
  VerdictRule rule;
  const double share = std::ldexp(1.0, -static_cast<int>(look));
  rule.steady_confidence = 1.0 - (1.0 - rule.steady_confidence) * share;
  rule.saturated_confidence = 1.0 - (1.0 - rule.saturated_confidence) * share;
  rule.unit_root -= kUnitRootPerLook * look;
  rule.forgets += kForgetsPerLook * look;
  return rule;
}

Growth growth(std::span<const u64> offered, std::span<const u64> accepted, u64 queues) {
  if (offered.size() != accepted.size()) throw InvariantError("growth: series of unequal length");
  Growth result;
  result.queues = queues;
  double sum = 0.0;
  for (const u64 flits : offered) sum += static_cast<double>(flits);
  if (offered.size() < kFewestWindows) return result;
  if (!(sum > 0.0)) {  // what was never offered cannot stay behind
    result.wandering = result.settled = make_interval(0.0, 0.0, 1.0, kConfidence);
    return result;
  }
  const double per_window = sum / static_cast<double>(offered.size());
  const std::vector<double> levels = levels_of(offered, accepted);
  const double slope = slope_of(levels);
  const std::vector<double> residuals = residuals_of(levels, slope);
  const double time = correlation_time(residuals);
  result.share = slope / per_window;
  result.settled = settled(residuals, time, slope, per_window);
  result.wandering = wandering(levels, slope, per_window, result.settled.standard_error);
  result.unit_root = unit_root(levels);
  result.relaxations = static_cast<double>(levels.size()) / time;
  result.last_half = slope_of(std::span<const double>(levels).subspan(levels.size() / 2)) / per_window;
  return result;
}

bool level(const Growth& growth, const VerdictRule& rule) {
  const Interval interval = below(growth, rule);
  if (!interval.half_width) return false;
  const Interval settled = at(growth.settled, rule.steady_confidence);
  const bool returns = growth.relaxations >= rule.forgets || growth.unit_root < rule.unit_root;
  const bool shows_none = settled.low() < rule.growth && settled.high() < rule.noise;
  return (returns && shows_none) || interval.high() < rule.growth;
}

double burst_times(const Growth& growth, double measured, const VerdictRule& rule) {
  const double observations = std::max(growth.relaxations, 2.0);
  const double expected = rule.ahead / (measured * rule.tipped);
  const double r = std::max(1.0, 1.0 + std::log(expected) / std::log(observations));
  return r + std::sqrt(r * r - r);
}

bool recovers(const Recovery& recovery, const VerdictRule& rule) {
  const Interval interval = above(recovery.growth, rule);
  return half_gone(recovery) || (interval.half_width && interval.high() < 0.0);
}

bool collapses(const Recovery& recovery, const VerdictRule& rule) {
  const Interval interval = above(recovery.growth, rule);
  return !half_gone(recovery) && interval.half_width && interval.low() > 0.0;
}

bool grows(const Growth& growth, const VerdictRule& rule) {
  const Interval interval = above(growth, rule);
  if (!interval.half_width || growth.last_half <= rule.last_half * growth.share) return false;
  // The slope of half a random walk has twice the variance.
  const bool straight = growth.last_half - std::sqrt(2.0) * *interval.half_width > rule.straight * growth.share;
  return growth.share - (straight ? *interval.half_width : together(growth, rule)) > rule.growth;
}

bool certainly_saturated(const Evidence& e, const VerdictRule& rule) {
  return grows(e.growth, rule) && !e.filling && e.memories >= rule.memories;
}

Judgement judge(const Evidence& e, const VerdictRule& rule) {
  Judgement verdict;
  if (certainly_saturated(e, rule)) {
    verdict.saturated = true;
    verdict.certain = true;
    verdict.reason =
        fmt::format("saturated: of the offered load {} stays in queues ({:g} % interval; limit {:g} %)",
                    per_cent(above(e.growth, rule)), rule.saturated_confidence * 100.0, rule.growth * 100.0);
    return verdict;
  }
  const std::string doubts = doubts_of(e, rule);
  verdict.certain = doubts.empty();
  if (verdict.certain) {
    if (e.recovery && !recovers(*e.recovery, rule)) {
      verdict.warning = fmt::format(
          "the network would not recover from every burst: it carries less once its buffers are full, and begun with "
          "the backlog of {} cycles it keeps {} of the offered load in queues; from that of {} cycles, {:.1f} times as "
          "far above the mean as the run has been, it recovers",
          e.recovery->held, per_cent(above(e.recovery->growth, rule)), e.recovery_from_less->held,
          e.recovery_from_less->times);
    }
    return verdict;
  }
  verdict.saturated = !e.filling && likely_grows(e, rule);
  // What has not arrived although no queue grows needs a longer drain, and what collapses does so in any run, unless a
  // longer one has to recover from less.
  const bool forgets = e.memories > 0.0 && e.mixings > 0.0;
  verdict.longer = forgets && !(e.recovery && collapses(*e.recovery, rule) && !e.recovery_from_less) &&
                   (e.all_arrived || e.filling || !level(e.growth, rule));
  verdict.reason = fmt::format("uncertain whether it is {}: {}{}", verdict.saturated ? "saturated" : "steady", doubts,
                               verdict.longer ? "; a longer run (run.measure) would tell" : "");
  return verdict;
}

}  // namespace banyan::stats
