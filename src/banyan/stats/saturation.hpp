// Is the network beyond saturation, and is that certain? Every rule that can decide a verdict of a steady run is here.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>

#include "banyan/base/types.hpp"
#include "banyan/stats/interval.hpp"

namespace banyan::stats {

/// Limits of the verdict.
struct VerdictRule {
  /// A network is saturated when more than this share of what is offered stays behind. In a stable system the share is
  /// 0 in the long run, so that any positive limit separates; a thousandth is below what a throughput curve shows.
  double growth = 0.001;
  /// The confidence of the interval of growth that has to lie below the limit.
  double steady_confidence = 0.95;
  /// The confidence of the interval of growth that has to lie above it. It is stricter, because many points of a sweep
  /// are near the knee, and what imitates saturation there is common.
  double saturated_confidence = 0.99;
  /// The queues of a network that is just stable begin empty and grow together until they have found their mean, which
  /// may take longer than the run. N queues at their capacity grow by 0.58 sqrt(N) standard errors of a random walk for
  /// that reason: E|B(t)| = sqrt(2 t / pi), whose slope by least squares is 0.64 / sqrt(T), over sqrt(6 / (5 N T)).
  /// Growth has to be above that as well, unless it does not slow down.
  double together = 0.58;
  /// It does not slow down where the last half of the run has more than this part of it; such queues have 0.72 of their
  /// growth there.
  double straight = 0.8;
  /// Growth goes on when the last half of the run has this part of it at least. A network that fills up within a third
  /// of the run has less.
  double last_half = 1.0 / 3.0;
  /// A process that forgets has a narrow interval of growth, and a random walk a wide one. The narrow one is valid when
  /// the run lasts for so many of the process's correlation times: a detrended random walk looks like 43 of them at
  /// most in 99 % of cases, and like 51 with noise of three steps beside it. At 20 of them, which a third of all random
  /// walks reach, one in six whose drift is the limit would pass for a steady state.
  double forgets = 50.0;
  /// Queues that return to a mean do not grow, and what they show of growth is the noise of what is on its way. They
  /// return when the run lasts for so many of their correlation times, or when the test of Dickey and Fuller rejects a
  /// random walk at 0.1 % (its quantile for 50 values, of 60,000 walks). At 1 % runs at 1 to 3 % above saturation
  /// passed for steady ones.
  double unit_root = -4.5;
  /// In both cases unless growth may be as much as this: noise that hides so steep a line may hide a walk too.
  double noise = 0.005;
  /// A network that would not recover from every burst is steady when it is tipped over within so many run.measure in
  /// less than this share of all runs, as many as a certain saturation may be wrong in. How large a burst it has to
  /// recover from for that: burst_times.
  double ahead = 50.0;
  double tipped = 0.01;
  /// Sources that remember what they did, as those with bursts do, imitate growth, or hide it, while a run is short
  /// against what they remember: it lasts for so many integrated autocorrelation times of theirs at least. The interval
  /// of growth takes the run for some 20 stretches, which are 2.5 of these times long then, so that its error comes out
  /// a tenth too small at most.
  double memories = 50.0;
  /// In so long a run MSER-5 fails to find the end of the warm-up by chance alone: growth shows that nothing changes.
  double long_enough = 32.0;
  /// A steady state is not certain while a latency that is printed has a half width above this share of itself.
  double latency = 0.2;
};

/// The rule at a look at a run that goes on until its verdict is certain; 0 is the first look, with the rule as it is.
/// Every look is one more chance to be certain and wrong. An interval of 95 % errs on the side that matters in 2.5 % of
/// cases; the first look may do that, and all later ones together once more, each half as often as the one before. So a
/// run that is looked at however often is wrong in 5 % of cases at most (1 % where saturation is concerned), which is
/// what the confidences say. What random walks must not pass for is made rarer in the same way.
[[nodiscard]] VerdictRule rule_at(u32 look);

/// How the number of flits grows that are generated and not delivered, as a share of what is offered: 1 - accepted /
/// offered, estimated by least squares.
struct Growth {
  double share = 0.0;
  /// If what is in the system wanders like a random walk, as it does near and beyond saturation: the error of the slope
  /// of a random walk with drift, whose variance is that of its increments over about 20 stretches. The textbook error
  /// of a slope would be too small without limit (Durlauf and Phillips 1988, Econometrica 56(6)).
  Interval wandering;
  /// If it returns to a mean: the error of a slope through a process with the integrated autocorrelation time of the
  /// residuals (window of 5 such times; Sokal 1997).
  Interval settled;
  double relaxations = 0.0;  ///< length of the run in integrated autocorrelation times of the residuals
  double last_half = 0.0;    ///< the share in the last half of the run alone
  double unit_root = 0.0;    ///< t statistic of Dickey and Fuller: far below 0 when the level returns to a mean
  u64 queues = 1;            ///< without limit that may be at their capacity at once
};

/// `offered` (generated) and `accepted` (delivered) flits in equally long windows after the warm-up, for the whole
/// network, and the number of queues without limit that may be at their capacity, such as that of terminals. Fewer than
/// 32 windows: intervals without a half width; nothing offered: no growth. Throws InvariantError when the lengths
/// differ.
[[nodiscard]] Growth growth(std::span<const u64> offered, std::span<const u64> accepted, u64 queues);

/// How many times as far above its mean as in the run a backlog has to lie for a network to reach it seldom enough
/// (VerdictRule::tipped, ::ahead), by chance. `measured`: length of the run in run.measure. Worst case is that what
/// pulls a backlog back becomes less as it grows, and is nothing at the point of no return, c times as far as the most
/// that n correlation times have shown: a backlog that wanders with a drift of 1 - x / c (x: in units of that most)
/// reaches c with n^-r, where the most has n^-1, by Boltzmann's factor: r = c^2 / (2 c - 1). Over the time ahead,
/// (ahead / measured) n n^-r shall be `tipped` at the most; the c of that is returned, at least 1.
[[nodiscard]] double burst_times(const Growth& growth, double measured, const VerdictRule& rule = {});

/// How a network goes on that began with a backlog: every message of a first stretch of time waited at its source until
/// its end.
struct Recovery {
  double times = 0.0;    ///< the backlog lies as many times as far above the mean as the run has been; 0: as it comes
  u64 held = 0;          ///< cycles of that stretch
  double backlog = 0.0;  ///< flits that waited
  double usual = 0.0;    ///< the most flits that the run to be judged had generated and not delivered at any time
  double left = 0.0;     ///< the same at the end
  Growth growth;         ///< after the time in which buffers fill
};

/// What is known of a run when it is judged.
struct Evidence {
  Growth growth;
  bool warmup_found = true;                                   ///< the end of the warm-up lies in the first half
  bool filling = false;                                       ///< the run ends before the network can have filled
  double memories = std::numeric_limits<double>::infinity();  ///< length in autocorrelation times of the sources
  double mixings = std::numeric_limits<double>::infinity();   ///< the same of their phases
  bool sources_wait = false;  ///< flits that count still wait at their sources when the run gives up
  bool all_arrived = true;    ///< everything that counts was delivered before the run gave up waiting for it
  /// A network may carry less once its buffers are full, and stay saturated after a burst at a load at which it was
  /// steady: how it goes on after one. None while it was not tried.
  std::optional<Recovery> recovery;
  /// Where it does not recover from that: how it goes on after the least burst that a run is to be expected not to
  /// meet. None where the first was smaller.
  std::optional<Recovery> recovery_from_less;
  /// Half width over mean of the widest latency that would be printed, and its name. Without a width: it has no
  /// interval.
  std::string widest_latency;
  std::optional<double> latency_width;
};

/// The verdict of a steady run.
struct Judgement {
  bool saturated = false;
  bool certain = false;
  bool longer = false;  ///< it is not certain, and a longer run would tell
  std::string reason;   ///< why it is saturated, or why it is not certain; empty when a steady state is certain
  std::string warning;  ///< of a steady state that is certain: from what it would not recover; may be empty
};

/// The one definition of "saturated" and of "certain":
/// - certainly saturated: the interval of a random walk's growth lies above the limit, and above what queues that find
///   their mean together show, or the growth does not slow down; it goes on in the last half; and the run was not too
///   short for the network to fill, nor against the bursts of the sources;
/// - certainly steady: the interval of growth lies below the limit (that of a process that forgets, where the run is
///   long enough for it; otherwise that of a random walk), or the queues return to a mean and show no growth; the
///   network recovers from a backlog, or at least from a smaller one that is yet far above what it meets by chance; the
///   end of the warm-up was found or the run is long; it was not too short for the network to fill, nor against the
///   bursts of the sources; everything arrived; and every latency is known within its limit;
/// - otherwise uncertain: saturated (uncertain) where growth is a standard error above the limit and above what queues
///   show that find their mean together (nothing where flits still wait at their sources), or else steady (uncertain).
[[nodiscard]] Judgement judge(const Evidence& evidence, const VerdictRule& rule = {});

/// The part of the judgement that needs no latency: the interval of growth lies below the limit, or the queues return
/// to a mean.
[[nodiscard]] bool level(const Growth& growth, const VerdictRule& rule = {});
/// The whole interval of growth lies above the limit, and it goes on.
[[nodiscard]] bool grows(const Growth& growth, const VerdictRule& rule = {});

/// The first part of the judgement.
[[nodiscard]] bool certainly_saturated(const Evidence& evidence, const VerdictRule& rule = {});

/// Half of the backlog is gone, or no more is left than the run to be judged has held, or it certainly becomes less.
[[nodiscard]] bool recovers(const Recovery& recovery, const VerdictRule& rule = {});
/// Most of the backlog is there, and it certainly grows: a longer run would say the same.
[[nodiscard]] bool collapses(const Recovery& recovery, const VerdictRule& rule = {});

}  // namespace banyan::stats
