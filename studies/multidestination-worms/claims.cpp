// The claims of Sivaram, Stunkel, Panda (ISCA-24, 1997; IEEE TPDS), in our own short words, as checks over the measured
// figures. What "saturated", "nearly equal" and "alike" mean stands here, once.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "banyan/study/study.hpp"

namespace banyan::study::multidestination_worms {
namespace {

constexpr double kSlow = 5.0;
constexpr double kCarriedAll = 0.98;
constexpr double kAlike = 0.10;     ///< "perform alike": within 10 %
constexpr double kNearly = 0.10;    ///< "nearly equal": (a) exceeds (b) by at most 10 %
constexpr double kCarried = 0.97;   ///< "carries the load": this part of what is offered is received
constexpr double kTwo = 0.15;       ///< a factor of 2, as far as the steps of the sweep can tell it
constexpr double kSixtyLow = 1.45;  ///< "up to almost 60 %", read off a printed curve: 45 to 75 %
constexpr double kSixtyHigh = 1.75;
constexpr double kSignificantly = 0.2;  ///< "much", "significant": by a fifth
constexpr double kFlat = 0.05;          ///< "flat": level within 5 % beyond saturation
/// Nobody receives more than one flit per cycle: a stable system is in saturation at 1 (section 7.2).
constexpr double kFull = 1.0;

const std::string kCentralHw = "central_hw";
const std::string kCentralSw = "central_sw";
const std::string kInputHw = "input_hw";
const std::string kInputSw = "input_sw";
const std::string kLast = "multicast_latency_last";
const std::string kMean = "multicast_latency_mean";
const std::string kReceived = "received_load";
const std::string kOffered = "offered_load";

double number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

/// The receivers get this part of what is offered.
Decision carries(const View& view, const std::string& figure, const Selection& at, double part) {
  return greater(view.ratio(figure, at, kReceived, kOffered), Estimate::exactly(part));
}

/// A point is saturated when its run says so, and reports no latency for that reason; or when its latency is above five
/// times that of the lowest load and the backlog grows by more than 2 % of what is offered, which a short run need not
/// find significant. Latency alone does not make a point saturated: near its limit, a network that carries all of the
/// load has such queues too.
Decision steady(const View& view, const std::string& figure, const Selection& at, const std::string& metric) {
  const api::Result& run = view.result(figure, at);
  if (run.verdict == api::Verdict::finished) return Decision::undecided;
  if (run.verdict != api::Verdict::steady) return Decision::fails;
  const Estimate here = view.at(figure, at, metric);
  const Estimate unloaded = view.at(figure, with(at, "load", view.values(figure, "load").front()), metric);
  const Decision quick = less(here, kSlow * unloaded);
  if (quick == Decision::holds) return quick;
  if (!here.known || !unloaded.known) return Decision::undecided;
  return either(quick, carries(view, figure, at, kCarriedAll));
}

/// Where a curve saturates: between the last load at which it is steady and the first at which it is not.
Bracket knee(const View& view, const std::string& figure, const Selection& fixed, const std::string& metric = kLast) {
  std::vector<double> loads;
  std::vector<Decision> answers;
  for (const std::string& load : view.values(figure, "load", fixed)) {
    loads.push_back(number(load));
    answers.push_back(steady(view, figure, with(fixed, "load", load), metric));
  }
  return bracket(loads, answers, kFull);
}
std::string to_text(const Bracket& knee) {
  return knee.next < kFull ? fmt::format("{:g} to {:g}", knee.last, knee.next) : fmt::format("above {:g}", knee.last);
}

Selection of(const std::string& series, const std::string& m) { return {{"series", series}, {"m", m}}; }

std::string knees(const View& view, const std::string& figure, const std::string& series) {
  std::string text;
  for (const std::string& m : view.values(figure, "m")) {
    text += fmt::format("{}m = {}: {}", text.empty() ? "" : ", ", m, to_text(knee(view, figure, of(series, m))));
  }
  return text;
}

/// The latencies of a curve's loads or degrees while no point is saturated. Points that are open stay, and open the
/// rest.
struct Steady {
  std::vector<Estimate> values;
  bool open = false;
};
void append(Steady& curve, const View& view, const std::string& figure, const Selection& at,
            const std::string& metric) {
  const Decision decision = steady(view, figure, at, metric);
  if (decision == Decision::fails) return;
  curve.open = curve.open || decision != Decision::holds;
  curve.values.push_back(view.at(figure, at, metric));
}

Outcome hardware_falls(const View& view, const std::string& metric) {
  Tally tally;
  std::string detail;
  const std::vector<std::string> degrees = view.values("14", "m");
  for (const std::string& series : {kCentralHw, kInputHw}) {
    for (const std::string& load : view.values("14", "load")) {
      Steady curve;
      for (const std::string& m : degrees) append(curve, view, "14", with(of(series, m), "load", load), metric);
      if (curve.values.size() != degrees.size()) continue;  // one of the degrees is saturated at this load
      tally.add(view.symbols({{"series", series}, {"load", load}}),
                curve.open ? Decision::undecided : falls(curve.values));
      if (series == kCentralHw && same_value(load, "0.7")) {
        for (const Estimate& e : curve.values)
          detail += (detail.empty() ? "central buffer, load 0.7: " : ", ") + to_string(e);
      }
    }
  }
  return tally.outcome(detail);
}
Outcome hardware_falls_last(const View& view) {
  Outcome outcome = hardware_falls(view, kLast);
  outcome.note += std::string(outcome.note.empty() ? "" : ". ") +
                  "Definition (a) has a hump: the last of 6 independent arrivals is later than the last of 2 or of 15 "
                  "that share their way";
  return outcome;
}
Outcome hardware_falls_mean(const View& view) { return hardware_falls(view, kMean); }

Outcome software_rises(const View& view) {
  Tally tally;
  for (const std::string& series : {kCentralSw, kInputSw}) {
    for (const std::string& load : view.values("14", "load")) {
      Steady curve;
      for (const std::string& m : view.values("14", "m")) {
        const std::size_t before = curve.values.size();
        append(curve, view, "14", with(of(series, m), "load", load), kLast);
        if (curve.values.size() == before) break;
      }
      if (curve.values.size() < 2) continue;
      tally.add(view.symbols({{"series", series}, {"load", load}}),
                curve.open ? Decision::undecided : rises(curve.values));
    }
  }
  return tally.outcome();
}

/// Along the degrees the saturation load never goes up (`down`) or never down, as far as the sweep tells, and the ends
/// differ.
void order_of_knees(Tally& tally, const View& view, const std::string& figure, const std::string& series, bool down) {
  const std::vector<std::string> degrees = view.values(figure, "m");
  const auto at = [&](std::size_t i) { return knee(view, figure, of(series, degrees[i])); };
  for (std::size_t i = 1; i < degrees.size(); ++i) {
    tally.add(view.symbols({{"series", series}, {"m", degrees[i]}}),
              down ? not_earlier(at(i - 1), at(i)) : not_earlier(at(i), at(i - 1)));
  }
  const std::size_t last = degrees.size() - 1;
  tally.add(view.symbols({{"series", series}, {"m", "all"}}), down ? later(at(0), at(last)) : later(at(last), at(0)));
}

Outcome software_saturates_earlier(const View& view) {
  Tally tally;
  for (const std::string& series : {kCentralSw, kInputSw}) order_of_knees(tally, view, "14", series, true);
  return tally.outcome("central buffer, software: " + knees(view, "14", kCentralSw));
}

/// Messages of 512 bytes beside those of 128 bytes, at the degrees that both figures have.
Outcome long_software_earlier(const View& view) {
  Tally tally;
  for (const std::string& series : {kCentralSw, kInputSw}) {
    for (const std::string& m : view.values("16", "m")) {
      tally.add(view.symbols({{"series", series}, {"m", m}}),
                later(knee(view, "14", of(series, m)), knee(view, "16", of(series, m))));
    }
    order_of_knees(tally, view, "16", series, true);
  }
  return tally.outcome("central buffer, software, 128 bytes: " + knees(view, "14", kCentralSw) +
                       "; 512 bytes: " + knees(view, "16", kCentralSw));
}

Outcome hardware_saturates_later(const View& view) {
  Tally tally;
  for (const auto& [hard, soft] : {std::pair{kCentralHw, kCentralSw}, std::pair{kInputHw, kInputSw}}) {
    for (const std::string& m : view.values("14", "m")) {
      Bracket far = knee(view, "14", of(soft, m));
      far.last *= 1.0 + kSignificantly;
      far.next *= 1.0 + kSignificantly;
      tally.add(view.symbols({{"series", hard}, {"m", m}}), later(knee(view, "14", of(hard, m)), far));
    }
  }
  return tally.outcome("central buffer, hardware: " + knees(view, "14", kCentralHw) +
                       "; software: " + knees(view, "14", kCentralSw));
}

Outcome input_against_software(const View& view) {
  const std::vector<std::string> degrees = view.values("14", "m");
  Tally tally;
  tally.add(view.symbols({{"m", degrees.front()}}),
            later(knee(view, "14", of(kCentralSw, degrees.front())), knee(view, "14", of(kInputHw, degrees.front()))));
  tally.add(view.symbols({{"m", degrees.back()}}),
            later(knee(view, "14", of(kInputHw, degrees.back())), knee(view, "14", of(kCentralSw, degrees.back()))));
  return tally.outcome("input buffer, hardware: " + knees(view, "14", kInputHw) +
                       "; central buffer, software: " + knees(view, "14", kCentralSw));
}

Outcome input_rises(const View& view) {
  Tally tally;
  order_of_knees(tally, view, "14", kInputHw, false);
  return tally.outcome("input buffer, hardware: " + knees(view, "14", kInputHw));
}

Outcome central_above_ninety(const View& view) {
  Tally tally;
  double least = 1.0;
  for (const std::string& m : view.values("15", "m")) {
    const Selection at = with(of(kCentralHw, m), "load", "0.9");
    const Estimate received = view.at("15", at, kReceived);
    const Estimate offered = view.at("15", at, kOffered);
    least = std::min(least, received.mean / offered.mean);
    tally.add(view.symbols({{"m", m}}), carries(view, "15", at, kCarried));
  }
  return tally.outcome(fmt::format("at 0.9, {:.1f} % of what is offered at least is received", 100 * least));
}

Outcome long_messages(const View& view) {
  Tally tally;
  for (const std::string& m : view.values("16", "m")) {
    const Bracket found = knee(view, "16", of(kCentralHw, m));
    tally.add(view.symbols({{"m", m}}), number(m) <= 4 ? inside(found, 0.0, 0.9) : inside(found, 0.9, kFull));
  }
  return tally.outcome(knees(view, "16", kCentralHw));
}

Outcome long_messages_order(const View& view) {
  Tally tally;
  for (const std::string& series : {kCentralHw, kInputHw}) order_of_knees(tally, view, "16", series, false);
  return tally.outcome("central buffer: " + knees(view, "16", kCentralHw) +
                       "; input buffer: " + knees(view, "16", kInputHw));
}

/// The largest ratio over message sizes and degrees is about 2, between the least and the most that the sweeps allow.
Outcome factor_two(const View& view) {
  Bracket most;
  std::string where;
  for (const std::string figure : {"14", "16"}) {
    for (const std::string& m : view.values(figure, "m")) {
      const Bracket central = knee(view, figure, of(kCentralHw, m));
      const Bracket input = knee(view, figure, of(kInputHw, m));
      const Bracket allowed = ratio(central, input);
      if (allowed.last > most.last) {
        where = fmt::format("figure {}, m = {}: {} against {}", figure, m, to_text(central), to_text(input));
      }
      most = {std::max(most.last, allowed.last), std::max(most.next, allowed.next)};
    }
  }
  const Estimate range{(most.last + most.next) / 2, (most.next - most.last) / 2, 0, true};
  const Decision two = inside(range, 2 * (1 - kTwo), 2 * (1 + kTwo));
  Outcome outcome;
  outcome.verdict = two == Decision::holds             ? ClaimVerdict::reproduced
                    : two != Decision::fails           ? ClaimVerdict::undecided
                    : most.last > 1.0 + kSignificantly ? ClaimVerdict::partly
                    : most.next < 1.0 + kSignificantly ? ClaimVerdict::not_reproduced
                                                       : ClaimVerdict::undecided;
  outcome.undecided = outcome.verdict == ClaimVerdict::undecided ? 1 : 0;
  outcome.measured = fmt::format("at most {:.2f} to {:.2f} ({})", most.last, most.next, where);
  outcome.note = "partly: the central buffer saturates later by a fifth at least, but not by a factor of 2 within 15 %";
  return outcome;
}

Outcome larger_system(const View& view) {
  Tally tally;
  Decision somewhere = Decision::fails;
  for (const std::string& m : view.values("17", "m")) {
    const auto at = [&](const char* nodes) { return Selection{{"series", kCentralHw}, {"m", m}, {"N", nodes}}; };
    const Bracket small = knee(view, "17", at("16"));
    const Bracket large = knee(view, "17", at("64"));
    const Bracket slightly{(1 - kSignificantly) * small.last, (1 - kSignificantly) * small.next,
                           (1 - kSignificantly) * small.before};
    tally.add(view.symbols({{"m", m}}), both(not_earlier(small, large), not_earlier(large, slightly)));
    somewhere = either(somewhere, later(small, large));
    const std::string low = view.values("17", "load").front();
    tally.add(view.symbols({{"m", m}, {"load", low}}), less(view.at("17", with(at("16"), "load", low), kLast),
                                                            view.at("17", with(at("64"), "load", low), kLast)));
  }
  tally.add({{"", "earlier at one degree at least"}}, somewhere);
  return tally.outcome();
}

/// Hardware steady and software saturated: hardware perturbs less. Both saturated: nothing to compare.
Outcome bimodal_hardware(const View& view) {
  Tally tally;
  std::string detail;
  for (const std::string& load : view.values("18", "load")) {
    const Selection hard{{"series", kCentralHw}, {"load", load}};
    const Selection soft{{"series", kCentralSw}, {"load", load}};
    for (const std::string metric : {"message_latency_last", "unicast_latency"}) {
      const Decision h = steady(view, "18", hard, metric);
      const Decision s = steady(view, "18", soft, metric);
      if (h == Decision::fails && s == Decision::fails) continue;
      Decision decision = less(view.at("18", hard, metric), view.at("18", soft, metric));
      if (s == Decision::fails) decision = h == Decision::holds ? Decision::holds : Decision::undecided;
      if (h == Decision::fails) decision = s == Decision::holds ? Decision::fails : Decision::undecided;
      tally.add({{"", metric == "unicast_latency" ? "one destination" : "all"}, {"load", load}}, decision);
      if (same_value(load, "0.7")) {
        detail +=
            fmt::format("{}{} against {} cycles", detail.empty() ? "load 0.7, all and with one destination: " : ", ",
                        to_string(view.at("18", hard, metric)), to_string(view.at("18", soft, metric)));
      }
    }
  }
  return tally.outcome(detail);
}

Estimate received_over_seeds(const View& view, const Selection& where) {
  return over_seeds(view, "15-seeds", where, [&](const Selection& at) { return view.at("15-seeds", at, kReceived); });
}

/// What a curve receives from the first load on at which every seed's run is certainly saturated.
std::vector<Estimate> beyond_saturation(const View& view, const Selection& fixed) {
  std::vector<Estimate> received;
  for (const std::string& load : view.values("15-seeds", "load", fixed)) {
    const Selection where = with(fixed, "load", load);
    const std::vector<std::string> seeds = view.values("15-seeds", "seed", where);
    const bool saturated = std::all_of(seeds.begin(), seeds.end(), [&](const std::string& seed) {
      const api::Result& run = view.result("15-seeds", with(where, "seed", seed));
      return run.verdict == api::Verdict::saturated && run.certain;
    });
    if (saturated || !received.empty()) received.push_back(received_over_seeds(view, where));
  }
  return received;
}

Outcome beyond(const View& view, const std::string& series, bool flat) {
  Tally tally;
  std::string detail;
  for (const std::string& m : view.values("15-seeds", "m")) {
    const std::vector<Estimate> received = beyond_saturation(view, of(series, m));
    if (received.size() < 2) continue;  // saturated at the last load of the sweep, or never
    tally.add(view.symbols({{"m", m}}),
              flat ? level(received, kFlat) : both(rises(received), grows(received, 1 + kFlat)));
    detail += fmt::format("{}m = {}: {} to {}", detail.empty() ? "received beyond saturation, " : ", ", m,
                          to_string(received.front()), to_string(received.back()));
  }
  return tally.outcome(detail);
}
Outcome software_does_not_flatten(const View& view) { return beyond(view, kCentralSw, false); }
Outcome hardware_flattens(const View& view) { return beyond(view, kInputHw, true); }

/// At a load of 1, where every source has something to send all the time, over seeds.
Outcome large_m_bandwidth(const View& view) {
  Tally tally;
  std::string detail;
  const std::vector<std::string> degrees = view.values("15-seeds", "m");
  const std::string top = view.values("15-seeds", "load").back();
  const auto received = [&](const std::string& m) {
    return received_over_seeds(view, with(of(kCentralHw, m), "load", top));
  };
  for (const std::string& m : degrees) {
    if (m != degrees.back()) tally.add(view.symbols({{"m", m}}), greater(received(degrees.back()), received(m)));
    detail +=
        fmt::format("{}m = {}: {}", detail.empty() ? "received at " + top + ", " : ", ", m, to_string(received(m)));
  }
  return tally.outcome(detail);
}

Outcome single_alike(const View& view) {
  Tally tally;
  std::string detail;
  const std::string low = view.values("14", "load").front();
  for (const std::string& m : view.values("14", "m")) {
    const Estimate central = view.at("14", with(of(kCentralHw, m), "load", low), kLast);
    const Estimate input = view.at("14", with(of(kInputHw, m), "load", low), kLast);
    // Both runs have the same messages.
    const Estimate ratio =
        view.ratio("14", with(of(kInputHw, m), "load", low), with(of(kCentralHw, m), "load", low), kLast);
    tally.add(view.symbols({{"m", m}}), equal_within(ratio, Estimate::exactly(1), kAlike));
    detail += fmt::format("{}m = {}: {} and {} (ratio {})", detail.empty() ? "" : ", ", m, to_string(central),
                          to_string(input), to_string(ratio));
  }
  return tally.outcome(fmt::format("at load {}, central and input buffer, {}", low, detail));
}

/// (a) over (b), of the same messages.
Estimate spread(const View& view, const Selection& at) { return view.ratio("19", at, kLast, kMean); }

Outcome definitions_six(const View& view) {
  const std::vector<std::string> loads = view.values("19", "load");
  const Estimate low = spread(view, with(of(kCentralHw, "6"), "load", loads.front()));
  Estimate most = low;
  Decision known = Decision::holds;
  for (const std::string& load : loads) {
    const Selection at = with(of(kCentralHw, "6"), "load", load);
    const Decision decision = steady(view, "19", at, kLast);
    if (decision == Decision::fails) continue;
    if (decision != Decision::holds) known = Decision::undecided;
    if (spread(view, at).mean > most.mean) most = spread(view, at);
  }
  Tally tally;
  tally.add({{"", "low load"}}, equal_within(low, Estimate::exactly(1.0), kNearly));
  tally.add({{"", "high load"}}, both(known, inside(most, kSixtyLow, kSixtyHigh)));
  return tally.outcome(fmt::format("(a) exceeds (b) by {} % at the lowest load and by up to {} %",
                                   to_string(100.0 * (low - Estimate::exactly(1))),
                                   to_string(100.0 * (most - Estimate::exactly(1)))));
}

Outcome definitions_fifteen(const View& view) {
  Tally tally;
  for (const std::string& load : view.values("19", "load")) {
    if (number(load) > 0.5) continue;
    tally.add(view.symbols({{"load", load}}),
              equal_within(spread(view, with(of(kCentralHw, "15"), "load", load)), Estimate::exactly(1.0), kNearly));
  }
  return tally.outcome();
}

Outcome definitions_software(const View& view) {
  Tally tally;
  double least = 100.0;
  for (const std::string& series : {kCentralSw, kInputSw}) {
    for (const std::string& m : view.values("19", "m")) {
      for (const std::string& load : view.values("19", "load")) {
        const Selection at = with(of(series, m), "load", load);
        if (steady(view, "19", at, kLast) == Decision::fails) continue;
        if (spread(view, at).known) least = std::min(least, spread(view, at).mean);
        tally.add(view.symbols({{"series", series}, {"m", m}, {"load", load}}),
                  greater(spread(view, at), Estimate::exactly(1 + kSignificantly)));
      }
    }
  }
  return tally.outcome(fmt::format("(a) exceeds (b) by {:.0f} % at least", 100 * (least - 1)));
}

/// Input FIFOs against the central buffer at m = 6: by how much (a) over (b) has grown since the lowest load, at each
/// load above it.
Outcome definitions_grow(const View& view) {
  Tally tally;
  std::string detail;
  std::vector<Estimate> input;
  const std::vector<std::string> loads = view.values("19", "load");
  const auto grown = [&](const Selection& at) {
    return spread(view, at) - spread(view, with(at, "load", loads.front()));
  };
  for (const std::string& load : loads) {
    const Selection hard = with(of(kInputHw, "6"), "load", load);
    const Selection central = with(of(kCentralHw, "6"), "load", load);
    const Decision both_steady = both(steady(view, "19", hard, kLast), steady(view, "19", central, kLast));
    if (both_steady == Decision::fails) continue;
    input.push_back(both_steady == Decision::holds ? spread(view, hard) : Estimate::unknown());
    if (load == loads.front()) continue;
    tally.add({{"load", load}}, both(both_steady == Decision::holds ? Decision::holds : Decision::undecided,
                                     greater(grown(hard), grown(central))));
    detail = fmt::format("{} against {} at load {}, the last that both carry", to_string(grown(hard)),
                         to_string(grown(central)), load);
  }
  tally.add({{"", "with the load"}}, rises(input));
  return tally.outcome("growth of (a) over (b) since the lowest load, input FIFO and central buffer: " + detail);
}

Outcome input_software_worst(const View& view) {
  Tally tally;
  for (const std::string& series : {kCentralHw, kCentralSw, kInputHw}) {
    Decision somewhere = Decision::fails;
    for (const std::string& m : view.values("14", "m")) {
      const Bracket other = knee(view, "14", of(series, m));
      const Bracket worst = knee(view, "14", of(kInputSw, m));
      tally.add(view.symbols({{"series", series}, {"m", m}}), not_earlier(other, worst));
      somewhere = either(somewhere, later(other, worst));
    }
    tally.add(view.symbols({{"series", series}, {"m", "one at least"}}), somewhere);
  }
  return tally.outcome("input buffer, software: " + knees(view, "14", kInputSw));
}

Outcome multiport_between(const View& view) {
  Tally tally;
  std::string detail;
  for (const auto& [bits, ports, soft] : {std::array{kCentralHw, std::string("central_multiport"), kCentralSw},
                                          std::array{kInputHw, std::string("input_multiport"), kInputSw}}) {
    for (const std::string& m : view.values("encodings", "m")) {
      for (const std::string& load : view.values("encodings", "load")) {
        const auto at = [&](const std::string& series) { return with(of(series, m), "load", load); };
        const auto latency = [&](const std::string& series) { return view.at("encodings", at(series), kLast); };
        // What is saturated is worse than what is steady; two that are saturated are not compared.
        const auto better = [&](const std::string& a, const std::string& b) {
          const Decision first = steady(view, "encodings", at(a), kLast);
          const Decision second = steady(view, "encodings", at(b), kLast);
          if (first == Decision::fails && second == Decision::fails) return;
          Decision decision = less(latency(a), latency(b));
          if (second == Decision::fails) decision = first == Decision::holds ? Decision::holds : Decision::undecided;
          if (first == Decision::fails) decision = second == Decision::holds ? Decision::fails : Decision::undecided;
          tally.add(view.symbols({{"series", a}, {"m", m}, {"load", load}}), decision);
        };
        better(ports, soft);
        better(bits, ports);
        if (bits != kCentralHw || !same_value(load, "0.3")) continue;
        detail += fmt::format("{}m = {}: {}, {}, {}", detail.empty() ? "central buffer, load 0.3: " : "; ", m,
                              to_string(latency(bits)), to_string(latency(ports)), to_string(latency(soft)));
      }
    }
  }
  return tally.outcome(detail);
}

std::vector<Claim> claims() {
  // Where a network saturates, intervals are widest: a claim that stands on it holds at most points, stays open at
  // some, and is not expected, although an independent simulation finds it to hold.
  const std::string needs_loads = "it stands on where curves saturate, which only runs of the paper's length tell";
  return {
      {"hardware-falls",
       "7.3",
       "Hardware: latency falls as m grows at equal effective load, definition (a)",
       {"14"},
       false,
       hardware_falls_last,
       ""},
      {"hardware-falls-mean",
       "7.3",
       "Hardware: latency falls as m grows at equal effective load, definition (b)",
       {"14"},
       false,
       hardware_falls_mean,
       ""},
      {"software-rises",
       "7.3",
       "Software: latency rises with m",
       {"14"},
       false,
       software_rises,
       needs_loads,
       Mode::full},
      {"software-saturates",
       "7.3",
       "Software saturates early, and earlier with m",
       {"14"},
       false,
       software_saturates_earlier,
       needs_loads,
       Mode::full},
      {"long-software",
       "7.4",
       "512 bytes: software saturates earlier than with 128 bytes, and earlier with m",
       {"14", "16"},
       false,
       long_software_earlier,
       needs_loads,
       Mode::full},
      {"hardware-later",
       "7.3",
       "Hardware saturates much later than software",
       {"14"},
       false,
       hardware_saturates_later,
       "much: by a fifth; " + needs_loads,
       Mode::full},
      {"input-against-software",
       "7.3",
       "Replication at input FIFOs is worse than software over central buffers for small m, better for large m",
       {"14"},
       false,
       input_against_software,
       needs_loads,
       Mode::full},
      {"input-rises",
       "7.3",
       "The saturation load of input FIFO replication rises with m",
       {"14"},
       false,
       input_rises,
       needs_loads,
       Mode::full},
      {"hardware-flat",
       "7.3",
       "Beyond saturation the received load of input FIFO replication is flat",
       {"15-seeds"},
       true,
       hardware_flattens,
       "flat: level within 5 %; means over seeds, from the load on at which all are saturated",
       Mode::full},
      {"large-m-bandwidth",
       "7.3",
       "Central buffer, hardware: the highest bandwidth is that of the largest m",
       {"15-seeds"},
       true,
       large_m_bandwidth,
       "the paper calls the curves hard to distinguish; means over seeds at a load of 1",
       Mode::full},
      {"central-ninety",
       "7.3",
       "Central buffers carry above 90 % of the load with messages of 128 bytes",
       {"15"},
       true,
       central_above_ninety,
       "carried: at least 97 % of an effective load of 0.9 is received; what the queues hold more at the end than at "
       "the beginning is as much as that in the quick form",
       Mode::standard},
      {"software-not-flat",
       "7.3",
       "Central buffer, software: beyond saturation the received load does not flatten",
       {"15-seeds"},
       false,
       software_does_not_flatten,
       "not flat: it goes on to grow, by more than 5 % in all; means over seeds, from the load on at which all are "
       "saturated",
       Mode::full},
      {"long-messages",
       "7.4",
       "512 bytes, 16 nodes: 2-way and 4-way saturate before 0.9, 6-way and 9-way above",
       {"16"},
       false,
       long_messages,
       needs_loads,
       Mode::full},
      {"long-messages-order",
       "7.4",
       "512 bytes: hardware saturates later as m grows",
       {"16"},
       false,
       long_messages_order,
       needs_loads,
       Mode::full},
      {"factor-two",
       "1",
       "With equal storage the central buffer saturates later by up to a factor of 2",
       {"14", "16"},
       false,
       factor_two,
       "a factor of 2: within 15 %; " + needs_loads,
       Mode::full},
      {"larger-system",
       "7.5",
       "64 nodes are slower and saturate slightly earlier than 16",
       {"17"},
       false,
       larger_system,
       "slightly: by less than a fifth; " + needs_loads,
       Mode::full},
      {"bimodal",
       "7.6",
       "Hardware multicasts perturb messages with one destination less than software's",
       {"18"},
       false,
       bimodal_hardware,
       "near saturation means are known too badly to tell",
       Mode::standard},
      {"alike", "9", "Both switches perform alike at low load", {"14"}, true, single_alike, "alike: within 10 %"},
      {"definitions-6",
       "7.7",
       "m = 6: (a) and (b) nearly equal at low load, up to almost 60 % apart at high load",
       {"19"},
       false,
       definitions_six,
       "nearly equal: within 10 %; almost 60 %: 45 to 75 %; " + needs_loads,
       Mode::full},
      {"definitions-grow",
       "7.7",
       "m = 6: with input FIFOs the difference between (a) and (b) grows faster",
       {"19"},
       false,
       definitions_grow,
       needs_loads,
       Mode::full},
      {"definitions-15",
       "7.7",
       "m = 15: (a) and (b) are close over a large range of loads",
       {"19"},
       true,
       definitions_fifteen,
       needs_loads,
       Mode::full},
      {"definitions-software",
       "7.7",
       "Software: (a) and (b) always differ significantly",
       {"19"},
       false,
       definitions_software,
       "significantly: by a fifth",
       Mode::full},
      {"multiport",
       "3.2",
       "Multiport encoding, in several phases, is better than software and not as good as one phase",
       {"encodings"},
       false,
       multiport_between,
       "near saturation means are known too badly to tell",
       Mode::standard},
      {"input-software-worst",
       "7.8",
       "Software over input buffers is the worst of the four",
       {"14"},
       false,
       input_software_worst,
       needs_loads,
       Mode::full},
  };
}

}  // namespace

extern const StudyRow row_multidestination_worms;
const StudyRow row_multidestination_worms{"multidestination-worms", claims};

}  // namespace banyan::study::multidestination_worms
