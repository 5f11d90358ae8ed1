#include "banyan/traffic/parts/injection.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "banyan/base/math.hpp"

namespace banyan::traffic {
namespace {

/// A distance that is not shorter is none; twice as long is still a tick.
constexpr double kLongestTicks = 0x1.0p62;

/// After so many events of bursts and pauses without a message the rest of the gap is drawn at once. It has the same
/// law either way; drawing takes as long as a hundred events, and a rate that goes to 0 would take events without end.
constexpr u64 kMostEvents = 4096;

/// Uniform in (0, 1].
double above_zero(u64 word) noexcept { return (static_cast<double>(word >> 11U) + 1.0) * 0x1.0p-53; }

}  // namespace

std::vector<config::Parameter> Process::parameters() {
  using config::Parameter;
  return {
      Parameter::choice("process", {"bernoulli", "poisson", "normal", "on_off", "at_once"}, "bernoulli")
          .doc("When messages are generated: in every cycle with the same probability; at exponential distances in "
               "continuous time, several in one cycle if it happens; at normally distributed distances, those below 0 "
               "set to 0, the first after a part of one, so that terminals are out of phase; in bursts; or, of a "
               "batch, all in cycle 0"),
      Parameter::integer("interval", 0)
          .unit("cycles")
          .range(0, 1e9)
          .doc("Mean distance of process = \"normal\" before distances below 0 are set to 0; 0: what makes the load"),
      Parameter::real("spread", 0.5)
          .range(0, 100)
          .doc("Second argument of process = \"normal\", as a multiple of its mean"),
      Parameter::choice("spread_is", {"deviation", "variance"}, "deviation")
          .doc("Whether the second argument of process = \"normal\" is a standard deviation or a variance"),
      Parameter::real("burst", 10).unit("cycles").range(1, 1e12).doc("Mean length of a burst of process = \"on_off\""),
      Parameter::real("pause", 10)
          .unit("cycles")
          .range(1, 1e12)
          .doc("Mean length of a pause between bursts of process = \"on_off\""),
  };
}

Process::Process(const config::Values& values, const core::TrafficContext& context, double rate)
    : seed_(context.seed), index_(context.index), ticks_per_cycle_(context.ticks_per_cycle) {
  const std::string& process = values.text("process");
  for (const char* name : {"interval", "spread", "spread_is"}) {
    if (process == "normal" || !is_changed(values, parameters(), name)) continue;
    values.fail(name, "process = \"" + process + "\" does not draw normal distances",
                "remove it, or use process = \"normal\"");
  }
  if (process == "on_off") {
    kind_ = Kind::on_off;
    const double burst = values.real("burst");
    const double pause = values.real("pause");
    on_ = burst / (burst + pause);
    remembers_ = 2.0 / (1.0 / burst + 1.0 / pause);
    rate_on_ = rate / on_;
    if (rate_on_ > 1.0) {
      values.fail("load", fmt::format("{:.4g} messages per cycle of a burst would be needed, 1 is possible", rate_on_),
                  "lower the load, or make the pauses shorter or the bursts longer");
    }
    const double end = 1.0 / burst;
    const double event = end + (1.0 - end) * rate_on_;
    pause_ = GeometricGap(1.0 / pause);
    event_ = GeometricGap(event);
    ends_ = end / event;
    find_law_of_gaps(end, 1.0 / pause);
    return;
  }
  for (const char* name : {"burst", "pause"}) {
    if (is_changed(values, parameters(), name)) {
      values.fail(name, "process = \"" + process + "\" has no bursts", "remove it, or use process = \"on_off\"");
    }
  }
  if (process == "normal") {
    make_normal(values, rate);
    return;
  }
  if (process == "at_once") {
    kind_ = Kind::at_once;
  } else if (process == "poisson") {
    kind_ = Kind::poisson;
    if (rate > 0.0) ticks_per_message_ = static_cast<double>(ticks_per_cycle_) / rate;
  } else {
    gap_ = GeometricGap(rate);
  }
}

void Process::make_normal(const config::Values& values, double rate) {
  kind_ = Kind::normal;
  const double given = static_cast<double>(values.integer("interval"));
  constexpr double kLongest = 1e300;  // beyond every run, and products with it are still numbers
  const double wanted = given > 0.0 ? given : rate > 0.0 ? std::min(1.0 / rate, kLongest) : 0.0;
  if (given > 0.0 && is_changed(values, Injection::parameters(), "load")) {
    values.fail("interval", "interval and load both say how often messages come", "remove one of the two");
  }
  const auto cycles = static_cast<double>(ticks_per_cycle_);
  const auto take = [&](double mean) {
    const double second = values.real("spread") * mean;
    ticks_per_message_ = mean * cycles;
    deviation_ = (values.text("spread_is") == "variance" ? std::sqrt(second) : second) * cycles;
  };
  take(wanted);
  if (given > 0.0 || wanted == 0.0 || wanted >= kLongest) return;
  // A load is kept: distances that are set to 0 make the mean longer than that of the normal numbers.
  double low = 0.0;
  double high = wanted;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    take(middle);
    (mean_distance() > wanted ? high : low) = middle;
  }
  take(high);
}

double Process::mean_distance() const noexcept {
  if (kind_ != Kind::normal || ticks_per_message_ <= 0.0) return 0.0;
  if (deviation_ <= 0.0) return ticks_per_message_ / static_cast<double>(ticks_per_cycle_);
  // E max(0, X) = mean P(Z > -a) + deviation phi(a), with a = mean / deviation.
  const double a = ticks_per_message_ / deviation_;
  return (ticks_per_message_ * normal_distribution(a) + deviation_ * normal_density(a)) /
         static_cast<double>(ticks_per_cycle_);
}

double Process::keeps_phase() const noexcept {
  const double mean = mean_distance();
  if (mean <= 0.0) return 0.0;
  const double turn = std::numbers::pi * deviation_ / ticks_per_message_;
  const double exponent = 2.0 * turn * turn;
  // 1 - exp(-x), which is x where it is so small that the difference would lose its digits.
  const double forgotten = exponent < 1e-8 ? exponent : 1.0 - portable_exp(-exponent);
  return forgotten > 0.0 ? mean * 2.0 * (1.0 - forgotten) / forgotten : std::numeric_limits<double>::infinity();
}

Tick Process::normal(Tick previous, u64 word, core::Message& out) const noexcept {
  if (ticks_per_message_ <= 0.0) return kNever;
  return after(previous, normal_gap(word), out);
}

double Process::normal_gap(u64 word) const noexcept {
  // The number lies in the middle of one of 2^53 intervals, so that it is never 0 and never 1.
  const double p = (static_cast<double>(word >> 11U) + 0.5) * 0x1.0p-53;
  return std::max(0.0, ticks_per_message_ + deviation_ * normal_quantile(p));
}

/// Starts like a process that has gone on for ever: the first birth is at t with a probability in proportion to that of
/// a gap longer than t (Cox, Renewal Theory, section 5.1). A uniform t below a bound that no gap exceeds is taken when
/// a gap that is drawn for it is longer. Otherwise all terminals would begin in phase, and at small spreads stay so.
Tick Process::first_normal(u32 terminal, core::Message& out) const noexcept {
  if (ticks_per_message_ <= 0.0) return kNever;
  // A normal number is more than 8 deviations above its mean once in 10^15 draws.
  const double bound = ticks_per_message_ + 8.0 * deviation_;
  for (u64 attempt = 0;; ++attempt) {
    const Words words = first_births_.at(terminal, attempt);
    const double at = unit_real(words[2], words[3]) * bound;
    if (at < normal_gap(static_cast<u64>(words[0]) << 32U | words[1])) return after(kNever, at, out);
  }
}

Tick Process::poisson(Tick previous, u64 word, core::Message& out) const noexcept {
  if (ticks_per_message_ <= 0.0) return kNever;
  return after(previous, -portable_log(above_zero(word)) * ticks_per_message_, out);
}

Tick Process::after(Tick previous, double gap, core::Message& out) noexcept {
  if (!(gap < kLongestTicks)) return kNever;
  const auto whole = static_cast<Tick>(gap);
  const u64 part =
      static_cast<u64>((gap - static_cast<double>(whole)) * 0x1.0p32) + (previous == kNever ? 0 : out.state);
  out.state = static_cast<u32>(part);
  return (previous == kNever ? 0 : previous) + whole + (part >> 32U);
}

Tick Process::burst_gap(u32 terminal, u64 nth, bool first) const noexcept {
  if (rate_on_ <= 0.0) return kNever;
  Tick gap = 0;
  bool on = true;  // a message is generated in a burst only
  for (u64 event = 0;; ++event) {
    const Words words = bursts_.at(terminal | event << 32U, nth);
    const u64 word = (static_cast<u64>(words[0]) << 32U) | words[1];
    if (on && event >= kMostEvents) {
      const Tick rest = rest_of_gap(word);
      return rest == kNever ? kNever : gap + rest;
    }
    const double chance = unit_real(words[2], words[3]);
    if (first && event == 0) {
      on = chance < on_;  // the stationary state in the cycle before the start
    } else if (on) {
      gap += event_(word);
      if (chance >= ends_) return gap;
      on = false;
    } else {
      gap += pause_(word);
      if (chance < rate_on_) return gap;
      on = true;
    }
  }
}

/// In a burst and in a pause a terminal goes on without a message with these chances per cycle:
///   burst: (1 - end)(1 - rate) in it, end into a pause;  pause: 1 - begin in it, begin (1 - rate) into a burst.
/// From a burst, t cycles pass without a message with a chance that is a sum of the powers t of this matrix's
/// eigenvalues.
void Process::find_law_of_gaps(double end, double begin) {
  const double stay = (1.0 - end) * (1.0 - rate_on_);
  const double apart =
      std::sqrt((stay - (1.0 - begin)) * (stay - (1.0 - begin)) + 4.0 * end * begin * (1.0 - rate_on_));
  if (apart <= 0.0) return;  // a message per cycle of a burst: no gap has many events
  // 1 minus the eigenvalues, from their sum and their product, begin * rate, so that a small one keeps its digits.
  const double from_second = 0.5 * (end + rate_on_ - end * rate_on_ + begin + apart);
  const double from_first = begin * rate_on_ / from_second;
  law_base_[0] = 1.0 - from_first;
  law_base_[1] = 1.0 - from_second;
  law_log_ = log_of_complement(from_first);
  law_share_[1] = ((1.0 - end) * rate_on_ - from_first) / apart;
  law_share_[0] = 1.0 - law_share_[1];
}

Tick Process::rest_of_gap(u64 word) const noexcept {
  const double u = above_zero(word);
  const auto longer = [&](Tick t) {  // whether the gap is longer than t: P(gap > t) >= u
    const double cycles = static_cast<double>(t);
    const double second =
        portable_pow(std::abs(law_base_[1]), cycles) * (law_base_[1] < 0.0 && t % 2 == 1 ? -1.0 : 1.0);
    return law_share_[0] * portable_exp(cycles * law_log_) + law_share_[1] * second >= u;
  };
  Tick most = 1;
  while (longer(most)) {
    most *= 2;
    if (static_cast<double>(most) >= GeometricGap::kLongest) return kNever;
  }
  Tick least = most / 2;  // the gap is longer than `least` and not longer than `most`
  while (most - least > 1) {
    const Tick middle = least + (most - least) / 2;
    (longer(middle) ? least : most) = middle;
  }
  return most;
}

std::vector<config::Parameter> Injection::parameters() {
  using config::Parameter;
  std::vector<Parameter> all{
      Parameter::real("load", 0.1)
          .unit("flits/cycle")
          .range(0, 1)
          .in_flight(config::InFlight::above_0)
          .doc("Offered load per terminal: flits generated per cycle, as a fraction of the injection bandwidth"),
  };
  for (const std::vector<Parameter>& more : {Process::parameters(), Sizes::parameters()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

Injection::Injection(const config::Values& values, const core::TrafficContext& context)
    : seed_(context.seed),
      index_(context.index),
      load_(values.real("load")),
      sizes_(values, context),
      process_(values, context, load_ / sizes_.mean()),
      ahead_(context.terminals) {
  if (process_.mean_distance() > 0.0) load_ = sizes_.mean() / process_.mean_distance();
}

}  // namespace banyan::traffic
