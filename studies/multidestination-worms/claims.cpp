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
constexpr double kAlike = 0.10;    ///< "perform alike": within 10 %
constexpr double kNearly = 0.10;   ///< "nearly equal": (a) exceeds (b) by at most 10 %
constexpr double kCarried = 0.97;  ///< "carries the load": this part of what is offered is received
constexpr double kSteep = 1.4;     ///< "up to about 60 %": at least 40 %

const std::string kCentralHw = "central_hw";
const std::string kCentralSw = "central_sw";
const std::string kInputHw = "input_hw";
const std::string kInputSw = "input_sw";
const std::string kLast = "multicast_latency_last";
const std::string kMean = "multicast_latency_mean";

double number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

/// A point is saturated when its run says so, and reports no latency for that reason; or when its latency is above five
/// times that of the lowest load and the backlog grows by more than 2 % of what is offered, which a short run need not
/// find significant. Latency alone does not make a point saturated: near its limit, a network that carries all of the
/// load has such queues too.
bool steady(const View& view, const std::string& figure, const Selection& at, const std::string& metric) {
  if (view.result(figure, at).verdict != api::Verdict::steady) return false;
  const std::vector<std::string> loads = view.values(figure, "load");
  const Estimate unloaded = view.at(figure, with(at, "load", loads.front()), metric);
  const Estimate here = view.at(figure, at, metric);
  if (!here.known || !unloaded.known) return false;
  if (here.mean <= kSlow * unloaded.mean) return true;
  return view.at(figure, at, "received_load").mean >= kCarriedAll * view.at(figure, at, "offered_load").mean;
}

/// The highest load of the sweep below which no point is saturated, and the next one (1 above the last).
struct Knee {
  double last = 0.0;
  double next = 1.0;
};
Knee knee(const View& view, const std::string& figure, const Selection& fixed, const std::string& metric = kLast) {
  Knee found;
  for (const std::string& load : view.values(figure, "load", fixed)) {
    if (!steady(view, figure, with(fixed, "load", load), metric)) {
      found.next = number(load);
      return found;
    }
    found.last = number(load);
  }
  return found;
}
std::string to_text(const Knee& knee) {
  return knee.next < 1.0 ? fmt::format("{:g} to {:g}", knee.last, knee.next) : fmt::format("above {:g}", knee.last);
}
Decision later(const Knee& a, const Knee& b) {
  if (a.last >= b.next) return Decision::holds;
  return a.next <= b.last ? Decision::fails : Decision::undecided;
}
/// Ranges that touch leave it open: one load of one run decides there.
Decision not_earlier(const Knee& a, const Knee& b) {
  if (a.next < b.last) return Decision::fails;
  return a.next > b.last ? Decision::holds : Decision::undecided;
}

Selection of(const std::string& series, const std::string& m) { return {{"series", series}, {"m", m}}; }

std::string knees(const View& view, const std::string& figure, const std::string& series) {
  std::string text;
  for (const std::string& m : view.values(figure, "m")) {
    text += fmt::format("{}m = {}: {}", text.empty() ? "" : ", ", m, to_text(knee(view, figure, of(series, m))));
  }
  return text;
}

Outcome hardware_falls(const View& view, const std::string& metric) {
  Tally tally;
  std::string detail;
  for (const std::string& series : {kCentralHw, kInputHw}) {
    for (const std::string& load : view.values("14", "load")) {
      std::vector<Estimate> values;
      for (const std::string& m : view.values("14", "m")) {
        const Selection at = with(of(series, m), "load", load);
        if (!steady(view, "14", at, metric)) continue;
        values.push_back(view.at("14", at, metric));
      }
      if (values.size() != view.values("14", "m").size()) continue;
      tally.add(view.symbols({{"series", series}, {"load", load}}), less(values.back(), values.front()));
      if (series == kCentralHw && same_value(load, "0.7")) {
        for (const Estimate& e : values)
          detail += (detail.empty() ? "central buffer, load 0.7: " : ", ") + to_string(e);
      }
    }
  }
  return tally.outcome(detail);
}
Outcome hardware_falls_last(const View& view) {
  Outcome outcome = hardware_falls(view, kLast);
  outcome.note =
      "of the smallest and the largest m; in between, definition (a) has a hump: the last of 6 independent "
      "arrivals is later than the last of 2 or of 15 that share their way";
  return outcome;
}
Outcome hardware_falls_mean(const View& view) { return hardware_falls(view, kMean); }

Outcome software_rises(const View& view) {
  Tally tally;
  for (const std::string& series : {kCentralSw, kInputSw}) {
    for (const std::string& load : view.values("14", "load")) {
      std::vector<Estimate> values;
      for (const std::string& m : view.values("14", "m")) {
        if (!steady(view, "14", with(of(series, m), "load", load), kLast)) break;
        values.push_back(view.at("14", with(of(series, m), "load", load), kLast));
      }
      if (values.size() >= 2) tally.add(view.symbols({{"series", series}, {"load", load}}), rises(values));
    }
  }
  return tally.outcome();
}

Outcome software_saturates_earlier(const View& view) {
  Tally tally;
  for (const std::string& series : {kCentralSw, kInputSw}) {
    const std::vector<std::string> degrees = view.values("14", "m");
    for (std::size_t i = 1; i < degrees.size(); ++i) {
      tally.add(view.symbols({{"series", series}, {"m", degrees[i]}}),
                not_earlier(knee(view, "14", of(series, degrees[i - 1])), knee(view, "14", of(series, degrees[i]))));
    }
    tally.add(view.symbols({{"series", series}}),
              later(knee(view, "14", of(series, degrees.front())), knee(view, "14", of(series, degrees.back()))));
  }
  return tally.outcome("central buffer, software: " + knees(view, "14", kCentralSw));
}

Outcome hardware_saturates_later(const View& view) {
  Tally tally;
  for (const auto& [hard, soft] : {std::pair{kCentralHw, kCentralSw}, std::pair{kInputHw, kInputSw}}) {
    for (const std::string& m : view.values("14", "m")) {
      tally.add(view.symbols({{"series", hard}, {"m", m}}),
                later(knee(view, "14", of(hard, m)), knee(view, "14", of(soft, m))));
    }
  }
  return tally.outcome();
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
  const std::vector<std::string> degrees = view.values("14", "m");
  for (std::size_t i = 1; i < degrees.size(); ++i) {
    tally.add(view.symbols({{"m", degrees[i]}}),
              not_earlier(knee(view, "14", of(kInputHw, degrees[i])), knee(view, "14", of(kInputHw, degrees[i - 1]))));
  }
  tally.add(view.symbols({{"m", degrees.back()}}),
            later(knee(view, "14", of(kInputHw, degrees.back())), knee(view, "14", of(kInputHw, degrees.front()))));
  return tally.outcome("input buffer, hardware: " + knees(view, "14", kInputHw));
}

Outcome central_above_ninety(const View& view) {
  Tally tally;
  double least = 1.0;
  for (const std::string& m : view.values("15", "m")) {
    const Selection at = with(of(kCentralHw, m), "load", "0.9");
    const Estimate received = view.at("15", at, "received_load");
    const Estimate offered = view.at("15", at, "offered_load");
    least = std::min(least, received.mean / offered.mean);
    tally.add(view.symbols({{"m", m}}), received.mean >= kCarried * offered.mean ? Decision::holds : Decision::fails);
  }
  return tally.outcome(fmt::format("at 0.9, {:.1f} % of what is offered at least is received", 100 * least));
}

Outcome long_messages(const View& view) {
  Tally tally;
  for (const std::string& m : view.values("16", "m")) {
    const Knee found = knee(view, "16", of(kCentralHw, m));
    const bool small = number(m) <= 4;
    const bool early = found.next <= 0.9;
    const bool late = found.last >= 0.9;
    tally.add(view.symbols({{"m", m}}),
              small ? (early ? Decision::holds : Decision::fails) : (late ? Decision::holds : Decision::fails));
  }
  return tally.outcome(knees(view, "16", kCentralHw));
}

Outcome long_messages_order(const View& view) {
  Tally tally;
  for (const std::string& series : {kCentralHw, kInputHw}) {
    const std::vector<std::string> degrees = view.values("16", "m");
    for (std::size_t i = 1; i < degrees.size(); ++i) {
      tally.add(view.symbols({{"series", series}, {"m", degrees[i]}}),
                not_earlier(knee(view, "16", of(series, degrees[i])), knee(view, "16", of(series, degrees[i - 1]))));
    }
  }
  return tally.outcome("central buffer: " + knees(view, "16", kCentralHw) +
                       "; input buffer: " + knees(view, "16", kInputHw));
}

Outcome factor_two(const View& view) {
  double most = 0.0;
  std::string where;
  for (const std::string& figure : {std::string("14"), std::string("16")}) {
    if (!view.has(figure)) continue;
    for (const std::string& m : view.values(figure, "m")) {
      const Knee central = knee(view, figure, of(kCentralHw, m));
      const Knee input = knee(view, figure, of(kInputHw, m));
      const double ratio = central.last / std::max(0.01, input.last);
      if (ratio <= most) continue;
      most = ratio;
      where = fmt::format("figure {}, m = {}: {} to {}", figure, m, to_text(central), to_text(input));
    }
  }
  const ClaimVerdict verdict = most >= 1.8   ? ClaimVerdict::reproduced
                               : most >= 1.2 ? ClaimVerdict::partly
                                             : ClaimVerdict::not_reproduced;
  return {verdict, fmt::format("at most {:.2f} ({})", most, where),
          "partly: the central buffer saturates later by a fifth at least, but not by a factor of 2"};
}

Outcome larger_system(const View& view) {
  Tally tally;
  for (const std::string& m : view.values("17", "m")) {
    const auto at = [&](const char* nodes) { return Selection{{"series", kCentralHw}, {"m", m}, {"N", nodes}}; };
    tally.add(view.symbols({{"m", m}}), not_earlier(knee(view, "17", at("16")), knee(view, "17", at("64"))));
    const std::string low = view.values("17", "load").front();
    tally.add(view.symbols({{"m", m}, {"load", low}}), less(view.at("17", with(at("16"), "load", low), kLast),
                                                            view.at("17", with(at("64"), "load", low), kLast)));
  }
  return tally.outcome();
}

Outcome bimodal_hardware(const View& view) {
  Tally tally;
  for (const std::string& load : view.values("18", "load")) {
    const Selection hard{{"series", kCentralHw}, {"load", load}};
    const Selection soft{{"series", kCentralSw}, {"load", load}};
    for (const char* metric : {"message_latency_last", "unicast_latency"}) {
      const Estimate h = view.at("18", hard, metric);
      const Estimate s = view.at("18", soft, metric);
      if (!h.known) continue;
      tally.add(view.symbols({{"load", load}}), s.known ? less(h, s) : Decision::holds);
    }
  }
  return tally.outcome();
}

Outcome software_does_not_flatten(const View& view) {
  Tally tally;
  for (const std::string& m : view.values("15", "m")) {
    const std::vector<Estimate> received = view.along("15", "load", of(kCentralSw, m), "received_load");
    const std::size_t n = received.size();
    tally.add(view.symbols({{"m", m}}), greater(received[n - 1], received[n - 2]));
  }
  return tally.outcome();
}

Outcome single_alike(const View& view) {
  Tally tally;
  const std::string low = view.values("14", "load").front();
  for (const std::string& m : view.values("14", "m")) {
    tally.add(view.symbols({{"m", m}}), equal_within(view.at("14", with(of(kCentralHw, m), "load", low), kLast),
                                                     view.at("14", with(of(kInputHw, m), "load", low), kLast), kAlike));
  }
  return tally.outcome(fmt::format("at load {}", low));
}

double spread(const View& view, const Selection& at) {
  return view.at("19", at, kLast).mean / view.at("19", at, kMean).mean;
}

Outcome definitions_six(const View& view) {
  const std::vector<std::string> loads = view.values("19", "load");
  const double low = spread(view, with(of(kCentralHw, "6"), "load", loads.front()));
  double most = 0.0;
  for (const std::string& load : loads) {
    if (!steady(view, "19", with(of(kCentralHw, "6"), "load", load), kLast)) continue;
    most = std::max(most, spread(view, with(of(kCentralHw, "6"), "load", load)));
  }
  Tally tally;
  tally.add({{"", "low load"}}, low <= 1 + kNearly ? Decision::holds : Decision::fails);
  tally.add({{"", "high load"}}, most >= kSteep ? Decision::holds : Decision::fails);
  return tally.outcome(fmt::format("(a) exceeds (b) by {:.0f} % at the lowest load and by up to {:.0f} %",
                                   100 * (low - 1), 100 * (most - 1)));
}

Outcome definitions_fifteen(const View& view) {
  Tally tally;
  for (const std::string& load : view.values("19", "load")) {
    if (number(load) > 0.5) continue;
    tally.add(view.symbols({{"load", load}}), spread(view, with(of(kCentralHw, "15"), "load", load)) <= 1 + kNearly
                                                  ? Decision::holds
                                                  : Decision::fails);
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
        if (!view.at("19", at, kLast).known) continue;
        least = std::min(least, spread(view, at));
        tally.add(view.symbols({{"series", series}, {"m", m}, {"load", load}}),
                  spread(view, at) > 1 + kNearly ? Decision::holds : Decision::fails);
      }
    }
  }
  return tally.outcome(fmt::format("(a) exceeds (b) by {:.0f} % at least", 100 * (least - 1)));
}

Outcome input_software_worst(const View& view) {
  Tally tally;
  for (const std::string& m : view.values("14", "m")) {
    for (const std::string& series : {kCentralHw, kCentralSw, kInputHw}) {
      tally.add(view.symbols({{"series", series}, {"m", m}}),
                not_earlier(knee(view, "14", of(series, m)), knee(view, "14", of(kInputSw, m))));
    }
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
        const auto at = [&](const std::string& series) {
          return view.at("encodings", with(of(series, m), "load", load), kLast);
        };
        if (!at(ports).known || !at(bits).known) continue;
        if (at(soft).known)
          tally.add(view.symbols({{"series", ports}, {"m", m}, {"load", load}}), less(at(ports), at(soft)));
        tally.add(view.symbols({{"series", bits}, {"m", m}, {"load", load}}), less(at(bits), at(ports)));
        if (bits != kCentralHw || !same_value(load, "0.3") || !at(soft).known) continue;
        detail += fmt::format("{}m = {}: {}, {}, {}", detail.empty() ? "central buffer, load 0.3: " : "; ", m,
                              to_string(at(bits)), to_string(at(ports)), to_string(at(soft)));
      }
    }
  }
  return tally.outcome(detail);
}

std::vector<Claim> claims() {
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
      {"software-rises", "7.3", "Software: latency rises with m", {"14"}, true, software_rises, ""},
      {"software-saturates",
       "7.3",
       "Software saturates early, and earlier with m",
       {"14"},
       true,
       software_saturates_earlier,
       ""},
      {"hardware-later",
       "7.3",
       "Hardware saturates much later than software",
       {"14"},
       true,
       hardware_saturates_later,
       ""},
      {"input-against-software",
       "7.3",
       "Replication at input FIFOs is worse than software over central buffers for small m, better for large m",
       {"14"},
       false,
       input_against_software,
       ""},
      {"input-rises",
       "7.3",
       "The saturation load of input FIFO replication rises with m",
       {"14"},
       true,
       input_rises,
       ""},
      {"central-ninety",
       "7.3",
       "Central buffers carry above 90 % of the load with messages of 128 bytes",
       {"15"},
       true,
       central_above_ninety,
       "carried: at least 97 % of an effective load of 0.9 is received"},
      {"software-not-flat",
       "7.3",
       "Central buffer, software: the received load does not flatten",
       {"15"},
       false,
       software_does_not_flatten,
       ""},
      {"long-messages",
       "7.4",
       "512 bytes, 16 nodes: 2-way and 4-way saturate before 0.9, 6-way and 9-way above",
       {"16"},
       false,
       long_messages,
       ""},
      {"long-messages-order",
       "7.4",
       "512 bytes: hardware saturates later as m grows",
       {"16"},
       true,
       long_messages_order,
       ""},
      {"factor-two",
       "1",
       "With equal storage the central buffer saturates later by up to a factor of 2",
       {"14", "16"},
       false,
       factor_two,
       ""},
      {"larger-system",
       "7.5",
       "64 nodes are slower and saturate slightly earlier than 16",
       {"17"},
       true,
       larger_system,
       ""},
      {"bimodal",
       "7.6",
       "Hardware multicasts perturb messages with one destination less than software's",
       {"18"},
       true,
       bimodal_hardware,
       ""},
      {"alike", "9", "Both switches perform alike for single multicasts and low load", {"14"}, true, single_alike, ""},
      {"definitions-6",
       "7.7",
       "m = 6: (a) and (b) nearly equal at low load, up to about 60 % apart at high load",
       {"19"},
       false,
       definitions_six,
       ""},
      {"definitions-15",
       "7.7",
       "m = 15: (a) and (b) are close over a large range of loads",
       {"19"},
       true,
       definitions_fifteen,
       ""},
      {"definitions-software", "7.7", "Software: (a) and (b) always differ", {"19"}, true, definitions_software, ""},
      {"multiport",
       "3.2",
       "Multiport encoding, in several phases, is better than software and not as good as one phase",
       {"encodings"},
       true,
       multiport_between,
       ""},
      {"input-software-worst",
       "7.8",
       "Software over input buffers is the worst of the four",
       {"14"},
       true,
       input_software_worst,
       ""},
  };
}

}  // namespace

extern const StudyRow row_multidestination_worms;
const StudyRow row_multidestination_worms{"multidestination-worms", claims};

}  // namespace banyan::study::multidestination_worms
