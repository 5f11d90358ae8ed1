// The claims of Safaei, Khonsari, Fathy, Ould-Khaoua (2006), in our own short words, and what we observe beside them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "banyan/analysis/parts/circuit_torus_model.hpp"
#include "banyan/study/study.hpp"

namespace banyan::study::circuit_torus {
namespace {

using analysis::parts::CircuitTorusInput;
using analysis::parts::solve;

constexpr double kGood = 0.10;   ///< "a good degree of accuracy": within 10 %, on average over the eight cases
constexpr double kClose = 0.03;  ///< what a pair of independent programs reached as a mean

const std::string kLatency = "packet_latency";
const std::string kModel = "packet_latency@circuit_torus";

/// One of the eight cases of Figure 2; `saturation`: the model's, in flits per node and cycle.
struct Case {
  const char* figure;
  u32 flits;
  u32 vcs;
  double alpha;
  double saturation;
};
constexpr Case kCases[] = {{"2a", 32, 2, 0.02, 0.39107}, {"2b", 32, 2, 0.3, 0.15630},  {"2c", 32, 6, 0.02, 0.51648},
                           {"2d", 32, 6, 0.3, 0.16103},  {"2e", 64, 2, 0.02, 0.49512}, {"2f", 64, 2, 0.3, 0.16915},
                           {"2g", 64, 6, 0.02, 0.61691}, {"2h", 64, 6, 0.3, 0.17175}};
const std::vector<std::string> kFigure2{"2a", "2b", "2c", "2d", "2e", "2f", "2g", "2h"};

double value(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

/// The point of a case that is nearest to a fraction of the model's saturation.
std::string load_at(const View& view, const Case& c, double fraction) {
  std::string best;
  for (const std::string& load : view.values(c.figure, "load")) {
    const auto distance = [&](const std::string& l) { return std::abs(value(l) / c.saturation - fraction); };
    if (best.empty() || distance(load) < distance(best)) best = load;
  }
  return best;
}

/// (model - simulation) / simulation; nothing where one of them has no steady state.
std::optional<Estimate> relative_error(const View& view, const std::string& figure, const Selection& at) {
  const Estimate measured = view.at(figure, at, kLatency);
  const Estimate model = view.at(figure, at, kModel);
  if (!measured.known || !model.known) return std::nullopt;
  return model / measured - Estimate::exactly(1.0);
}

std::string percent(double ratio) { return fmt::format("{:+.1f} %", 100 * ratio); }

/// Errors at one fraction of saturation over the cases, as text and mean of their absolute values.
struct Errors {
  std::string text;
  double mean = 0.0;
  double largest = 0.0;
  u32 count = 0;
};
Errors errors_at(const View& view, double fraction) {
  Errors e;
  for (const Case& c : kCases) {
    const auto error = relative_error(view, c.figure, {{"load", load_at(view, c, fraction)}});
    e.text += fmt::format("{}{} {}", e.text.empty() ? "" : ", ", c.figure, error ? percent(error->mean) : "none");
    if (!error) continue;
    e.mean += std::abs(error->mean);
    e.largest = std::max(e.largest, std::abs(error->mean));
    ++e.count;
  }
  if (e.count != 0) e.mean /= e.count;
  return e;
}

Outcome accuracy(const View& view) {
  Outcome out;
  double worst_error = 0.0;
  u32 count = 0;
  for (const double fraction : {0.2, 0.5, 0.8}) {
    const Errors e = errors_at(view, fraction);
    out.measured += fmt::format("{}at {} of saturation: mean {:.1f} %, largest {:.1f} %",
                                out.measured.empty() ? "" : "; ", fraction, 100 * e.mean, 100 * e.largest);
    out.note += fmt::format("{}at {}: {}", out.note.empty() ? "Model against simulation " : "; ", fraction, e.text);
    worst_error = std::max(worst_error, e.mean);
    count += e.count;
  }
  out.verdict = count != 3 * std::size(kCases) ? ClaimVerdict::not_reproduced
                : worst_error <= kGood         ? ClaimVerdict::reproduced
                                               : ClaimVerdict::partly;
  return out;
}

Outcome close_to_half(const View& view) {
  double sum = 0.0;
  u32 count = 0;
  for (const Case& c : kCases) {
    for (const std::string& load : view.values(c.figure, "load")) {
      if (value(load) > 0.51 * c.saturation) continue;
      const auto error = relative_error(view, c.figure, {{"load", load}});
      if (!error) continue;
      sum += std::abs(error->mean);
      ++count;
    }
  }
  const double mean = count == 0 ? 1.0 : sum / count;
  return {mean <= kClose       ? ClaimVerdict::reproduced
          : mean <= 2 * kClose ? ClaimVerdict::partly
                               : ClaimVerdict::not_reproduced,
          fmt::format("mean of |error| {:.1f} % over {} points", 100 * mean, count), ""};
}

/// The last load at which both have a steady state, beside half of the saturation.
Outcome discrepancy(const View& view) {
  Tally tally;
  std::string text;
  for (const Case& c : kCases) {
    std::optional<Estimate> last;
    std::string at;
    for (const std::string& load : view.values(c.figure, "load")) {
      if (const auto error = relative_error(view, c.figure, {{"load", load}})) {
        last = error;
        at = load;
      }
    }
    const auto half = relative_error(view, c.figure, {{"load", load_at(view, c, 0.5)}});
    if (!last || !half) continue;
    text += fmt::format("{}{} {} at {:.2f} of saturation", text.empty() ? "" : ", ", c.figure, percent(last->mean),
                        value(at) / c.saturation);
    const auto size = [](Estimate e) {
      e.mean = std::abs(e.mean);
      return e;
    };
    tally.add({{"case", c.figure}}, less(size(*half), size(*last)));
  }
  Outcome out = tally.outcome("the error at the last common point is larger than at half of the saturation");
  out.note = text + (out.note.empty() ? "" : ". " + out.note);
  return out;
}

Outcome model_saturates_first(const View& view) {
  Tally tally;
  std::string text;
  for (const Case& c : kCases) {
    double last_steady = 0.0;
    double first_saturated = 0.0;
    for (const std::string& load : view.values(c.figure, "load")) {
      if (view.result(c.figure, {{"load", load}}).verdict == api::Verdict::steady) {
        last_steady = value(load);
      } else if (first_saturated == 0.0) {
        first_saturated = value(load);
      }
    }
    const std::string upper = first_saturated == 0.0 ? "above" : fmt::format("to {:.3f}", first_saturated);
    text += fmt::format("{}{} {:.3f}, {:.3f} {}", text.empty() ? "" : "; ", c.figure, c.saturation, last_steady, upper);
    tally.add({{"case", c.figure}}, last_steady > c.saturation                                 ? Decision::holds
                                    : first_saturated != 0.0 && first_saturated < c.saturation ? Decision::fails
                                                                                               : Decision::undecided);
  }
  Outcome out = tally.outcome("the simulation is still steady beyond the model's saturation");
  out.note = "Saturation in flits per node and cycle, model and simulation: " + text +
             (out.note.empty() ? "" : ". " + out.note);
  return out;
}

/// Section 4: put the simulated variance of the service time into equation 23.
Outcome variance(const View& view) {
  Tally tally;
  std::string text;
  for (const Case& c : kCases) {
    for (const double fraction : {0.5, 0.8}) {
      const Selection at{{"load", load_at(view, c, fraction)}};
      const auto printed = relative_error(view, c.figure, at);
      const Estimate service = view.at(c.figure, at, "service_time");
      const Estimate squared = view.at(c.figure, at, "service_time_squared");
      const Estimate measured = view.at(c.figure, at, kLatency);
      if (!printed || !service.known || !squared.known) continue;
      CircuitTorusInput input;
      input.k = 8;
      input.vcs = c.vcs;
      input.flits = c.flits;
      input.alpha = c.alpha;
      input.rate = value(at.front().second) / c.flits;
      // Equation 1 stretches S and W by the degree of multiplexing; the measured time is stretched already.
      const double stretch = solve(input).multiplexing;
      input.service_variance = (squared.mean - service.mean * service.mean) / (stretch * stretch);
      const auto solution = solve(input);
      if (solution.saturated) continue;
      const double error = solution.latency / measured.mean - 1;
      text += fmt::format("{}{} at {}: {} becomes {}", text.empty() ? "" : "; ", c.figure, fraction,
                          percent(printed->mean), percent(error));
      tally.add({{"case", c.figure}, {"fraction", fmt::format("{}", fraction)}},
                std::abs(error) < std::abs(printed->mean) ? Decision::holds : Decision::fails);
    }
  }
  Outcome out = tally.outcome("the simulated variance in equation 23 brings the model nearer");
  out.note = text + (out.note.empty() ? "" : ". " + out.note);
  return out;
}

/// Where the error stays within kGood: for each V, the largest such load beside the model's saturation.
Outcome trust(const View& view, const std::string& figure) {
  Outcome out;
  Tally tally;
  for (const std::string& vcs : view.values(figure, "V")) {
    double trusted = 0.0;
    double last = 0.0;
    double worst_error = 0.0;
    bool still = true;
    for (const std::string& load : view.values(figure, "load")) {
      const auto error = relative_error(view, figure, {{"V", vcs}, {"load", load}});
      if (!error) continue;
      last = value(load);
      worst_error = std::abs(error->mean) > std::abs(worst_error) ? error->mean : worst_error;
      still = still && std::abs(error->mean) <= kGood;
      if (still) trusted = value(load);
    }
    out.measured += fmt::format("{}V = {}: to {} of {} (worst {})", out.measured.empty() ? "" : "; ", vcs, trusted,
                                last, percent(worst_error));
    tally.add({{"V", vcs}}, trusted > 0 ? Decision::holds : Decision::fails);
  }
  out.verdict = tally.verdict();
  out.note = "the largest load up to which the model is within 10 %, of those at which both have a steady state";
  return out;
}

Outcome demand_is_faster(const View& view) {
  Tally tally;
  std::string text;
  for (const std::string& load : view.values("sharing", "load")) {
    const Estimate tdm = view.at("sharing", {{"sharing", "tdm"}, {"load", load}}, kLatency);
    const Estimate demand = view.at("sharing", {{"sharing", "demand"}, {"load", load}}, kLatency);
    if (!tdm.known || !demand.known) continue;
    text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", percent(demand.mean / tdm.mean - 1), load);
    tally.add({{"load", load}}, less(demand, tdm));
  }
  return tally.outcome("latency on demand beside turns: " + text);
}

std::vector<Claim> claims() {
  return {
      {"accuracy", "4", "The model predicts the latency with a good degree of accuracy in all regions", kFigure2, true,
       accuracy,
       "good: within 10 % on average over the eight cases, at each of 0.2, 0.5 and 0.8 of the model's saturation"},
      {"discrepancy", "4", "Some discrepancies are apparent around the saturation point", kFigure2, false, discrepancy,
       ""},
      {"variance", "4", "They come from approximations such as the variance of the service time", kFigure2, false,
       variance,
       "a test of the explanation: the variance of the simulated service time goes into equation 23, all else stays"},
      {"half", "ours", "Up to half of its saturation the model is within 3 % on average", kFigure2, false,
       close_to_half, "what two independent programs of this model reached"},
      {"saturates-first", "ours", "The model saturates earlier than the simulation", kFigure2, false,
       model_saturates_first, "an observation of ours"},
      {"trust-channels",
       "ours",
       "8-ary 2-cube, V = 1 to 8: where the model stops being trustworthy",
       {"channels"},
       false,
       [](const View& view) { return trust(view, "channels"); },
       ""},
      {"trust-larger",
       "ours",
       "16-ary 2-cube: where the model stops being trustworthy",
       {"larger-16"},
       false,
       [](const View& view) { return trust(view, "larger-16"); },
       ""},
      {"sharing",
       "ours",
       "Turns on demand give a lower latency than turns over reserved channels",
       {"sharing"},
       true,
       demand_is_faster,
       ""},
  };
}

}  // namespace

extern const StudyRow row_circuit_torus;
const StudyRow row_circuit_torus{"circuit-torus", claims};

}  // namespace banyan::study::circuit_torus
