// The claims of García et al. (DIAB-05-07-1, 2005), in our own short words, as checks over the measured figures. A run
// is one transient: values are means over seeds with their intervals of 95 %, so that one seed alone decides nothing.
// What "near the maximum", "dramatically" and the like mean stands here, once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "banyan/study/study.hpp"

namespace banyan::study::congestion_trees {
namespace {

constexpr double kNumber = 0.15;     ///< a number of the text counts as reproduced within 15 %
constexpr double kPoints = 5.0;      ///< a percentage of the text counts as reproduced within 5 points
constexpr double kAlike = 0.10;      ///< "roughly the same", "equally": within 10 %
constexpr double kStays = 7.0;       ///< "stays", "near the maximum": the lowest 10 us lose less than 7 %
constexpr double kStrong = 25.0;     ///< a "strong" degradation: a quarter or more, in per cent
constexpr double kRecovered = 95.0;  ///< recovered: 95 % of the throughput before
constexpr double kPractically =
    25.0;                        ///< "practically does not recover": less than a quarter of what was lost comes back
constexpr double kFall = 0.5;    ///< a fall of the text is there when ours is nearer to it than to none
constexpr double kFar = 1.2;     ///< "far" better: by a fifth
constexpr double kSmooth = 0.5;  ///< "smooth" beside an "oscillation": less than half of it
constexpr double kGrows = 1.1;   ///< "grows": by a tenth
constexpr double kXoff = 48;     ///< packets in a set-aside queue at which it says Xoff
constexpr double kOnTheWay = 2;  ///< packets that reach it after that (docs/switching/cioq.md)

const std::string kVoqsw = "voqsw";
const std::string kBasic = "recn_basic";
const std::string kEnhanced = "recn_enhanced";

std::string text(const Estimate& e, const std::string& unit) {
  if (!e.known && e.count == 1) return fmt::format("{:.1f}{} (1 seed)", e.mean, unit);
  return to_string(e) + unit;
}

Estimate of(const View& view, const std::string& figure, const Selection& at, const std::string& metric) {
  return over_seeds(view, figure, at, [&](const Selection& point) { return view.at(figure, point, metric); });
}

/// One metric beside another of the same run, in per cent.
Estimate percent_of(const View& view, const std::string& figure, const Selection& at, const std::string& metric,
                    const std::string& whole) {
  return over_seeds(view, figure, at, [&](const Selection& point) {
    return 100.0 * (view.at(figure, point, metric) / view.at(figure, point, whole));
  });
}

/// What is lost at worst, in per cent of the throughput before.
Estimate drop(const View& view, const std::string& figure, const Selection& at) {
  return Estimate::exactly(100) - percent_of(view, figure, at, "lowest_throughput", "throughput_before");
}

/// Mean throughput after the congestion, in per cent of that before.
Estimate back(const View& view, const std::string& figure, const Selection& at) {
  return percent_of(view, figure, at, "throughput_after", "throughput_before");
}

/// How much of what was lost at worst comes back, in per cent.
Estimate regained(const View& view, const std::string& figure, const Selection& at) {
  return over_seeds(view, figure, at, [&](const Selection& point) {
    const Estimate lowest = view.at(figure, point, "lowest_throughput");
    return 100.0 * ((view.at(figure, point, "throughput_after") - lowest) /
                    (view.at(figure, point, "throughput_before") - lowest));
  });
}

/// How much the throughput changes from one window to the next, in per cent of its mean, from the start of the
/// congestion on. A level that shifts once changes little from window to window; an oscillation changes all the time.
Estimate oscillation(const View& view, const std::string& figure, const Selection& at, double start) {
  return over_seeds(view, figure, at, [&](const Selection& point) {
    const stats::Series& series = view.series(figure, point, "throughput");
    double squares = 0.0;
    double sum = 0.0;
    u64 steps = 0;
    for (std::size_t i = 1; i < series.values.size(); ++i) {
      if (series.start + series.interval * static_cast<double>(i - 1) < start) continue;
      const double step = series.values[i] - series.values[i - 1];
      squares += step * step;
      sum += series.values[i];
      ++steps;
    }
    if (steps < 2 || !(sum > 0)) return Estimate::unknown();
    const auto n = static_cast<double>(steps);
    return Estimate::exactly(100.0 * std::sqrt(squares / n) / (sum / n));
  });
}

Selection point(const std::string& series, const std::string& load) { return {{"series", series}, {"load", load}}; }

Decision below(const Estimate& a, double limit) { return less(a, Estimate::exactly(limit)); }
Decision above(const Estimate& a, double limit) { return greater(a, Estimate::exactly(limit)); }
Decision near(const Estimate& ours, double paper) { return inside(ours, paper * (1 - kNumber), paper * (1 + kNumber)); }

/// "falls from a to b": both numbers within the tolerance, and the fall between them too, since numbers that are near
/// each other are both met without one. In part a fall by a tenth.
Outcome from_to(const View& view, const std::string& figure, const Selection& at, double before, double lowest) {
  const Estimate first = of(view, figure, at, "throughput_before");
  const Estimate last = of(view, figure, at, "lowest_throughput");
  const Estimate fall = over_seeds(view, figure, at, [&](const Selection& point) {
    return view.at(figure, point, "throughput_before") - view.at(figure, point, "lowest_throughput");
  });
  return graded(both(both(near(first, before), near(last, lowest)), above(fall, kFall * (before - lowest))),
                less(last, first, 0.1),
                fmt::format("from {} to {} bytes/ns, by {}; the paper's {} to {}", text(first, ""), text(last, ""),
                            text(fall, ""), before, lowest));
}

Outcome stays(const View& view, const std::string& figure, const std::vector<std::string>& loads) {
  Tally tally;
  std::string measured;
  for (const std::string& load : loads) {
    const Estimate lost = drop(view, figure, point(kEnhanced, load));
    tally.add({{"load", load}}, below(lost, kStays));
    measured += fmt::format("{}loses {} at load {}", measured.empty() ? "" : ", ", text(lost, " %"), load);
  }
  return tally.outcome(measured);
}

// ---- Figure 7 ----

constexpr double kStart = 800e3;  ///< ns: the congestion begins

Outcome basic_7(const View& view) { return from_to(view, "7-seeds", point(kBasic, "1.0"), 44, 37); }
Outcome voqsw_7(const View& view) { return from_to(view, "7-seeds", point(kVoqsw, "1.0"), 44, 25); }
Outcome enhanced_7(const View& view) { return stays(view, "7-seeds", {"1.0"}); }

Outcome mild_7(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string& series : {kBasic, kEnhanced}) {
    const Estimate lost = drop(view, "7-seeds", point(series, "0.5"));
    tally.add(view.symbols({{"series", series}}), below(lost, kStrong));
    measured += (measured.empty() ? "" : ", ") + view.symbols({{"series", series}}).front().second + " loses " +
                text(lost, " %");
  }
  return tally.outcome(measured);
}

Outcome alike_7(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string& load : view.values("7-seeds", "load")) {
    const Estimate basic = of(view, "7-seeds", point(kBasic, load), "throughput_during");
    const Estimate enhanced = of(view, "7-seeds", point(kEnhanced, load), "throughput_during");
    tally.add({{"load", load}}, equal_within(basic, enhanced, kAlike));
    measured += fmt::format("{}{} and {} bytes/ns at load {}", measured.empty() ? "" : ", ", text(basic, ""),
                            text(enhanced, ""), load);
  }
  return tally.outcome("mean during the congestion, basic and enhanced: " + measured);
}

Outcome oscillates(const View& view, const std::string& figure) {
  Tally tally;
  std::string measured;
  for (const std::string& load : view.values(figure, "load")) {
    const Estimate basic = oscillation(view, figure, point(kBasic, load), kStart);
    const Estimate enhanced = oscillation(view, figure, point(kEnhanced, load), kStart);
    tally.add({{"load", load}}, less(enhanced, kSmooth * basic));
    measured += fmt::format("{}{} and {} at load {}", measured.empty() ? "" : ", ", text(basic, " %"),
                            text(enhanced, " %"), load);
  }
  return tally.outcome("change from one window of 10 us to the next, basic and enhanced: " + measured);
}
Outcome oscillates_7(const View& view) { return oscillates(view, "7-seeds"); }
Outcome oscillates_10(const View& view) { return oscillates(view, "10-seeds"); }

Outcome voqsw_stays_down_7(const View& view) {
  const Estimate after = back(view, "7-seeds", point(kVoqsw, "1.0"));
  Tally tally;
  tally.add({}, below(after, kRecovered));
  return tally.outcome(fmt::format("afterwards {} of the throughput before", text(after, " %")));
}

Outcome basic_recovers_7(const View& view) {
  const Estimate after = back(view, "7-seeds", point(kBasic, "1.0"));
  const Estimate voqsw = back(view, "7-seeds", point(kVoqsw, "1.0"));
  return graded(above(after, kRecovered), greater(after, voqsw),
                fmt::format("afterwards {} of the throughput before, VOQsw {}", text(after, " %"), text(voqsw, " %")),
                "partly: it recovers more than VOQsw");
}

// ---- Figures 9 and 10 ----

Outcome basic_9_half(const View& view) { return from_to(view, "9-seeds", point(kBasic, "0.5"), 25, 10); }
Outcome basic_9_full(const View& view) { return from_to(view, "9-seeds", point(kBasic, "1.0"), 44, 10); }
Outcome enhanced_9(const View& view) { return stays(view, "9-seeds", {"0.5", "1.0"}); }
Outcome enhanced_10(const View& view) { return stays(view, "10-seeds", {"0.5", "1.0"}); }

Outcome basic_9_down(const View& view) {
  const Estimate after = back(view, "9-seeds", point(kBasic, "1.0"));
  Tally tally;
  tally.add({}, below(after, kRecovered));
  return tally.outcome(fmt::format("afterwards {} of the throughput before", text(after, " %")));
}

Outcome basic_10(const View& view) {
  Tally tally;
  std::string measured;
  for (const auto& [load, paper] : {std::pair{"0.5", 33.0}, std::pair{"1.0", 45.0}}) {
    const Estimate lost = drop(view, "10-seeds", point(kBasic, load));
    tally.add({{"load", load}}, inside(lost, paper - kPoints, paper + kPoints));
    measured +=
        fmt::format("{}{} at load {} (paper {} %)", measured.empty() ? "" : ", ", text(lost, " %"), load, paper);
  }
  return tally.outcome(measured);
}

Outcome partial_recovery_10(const View& view) {
  const Estimate basic = back(view, "10-seeds", point(kBasic, "1.0"));
  const Estimate voqsw = back(view, "10-seeds", point(kVoqsw, "1.0"));
  const Estimate again = regained(view, "10-seeds", point(kBasic, "1.0"));
  Tally tally;
  tally.add({{"", "recovers incompletely"}}, both(above(again, kPractically), below(basic, kRecovered)));
  tally.add({{"", "far above VOQsw"}}, greater(basic, kFar * voqsw));
  return tally.outcome(
      fmt::format("afterwards basic has {} of the throughput before, VOQsw {}; {} of what basic lost comes back",
                  text(basic, " %"), text(voqsw, " %"), text(again, " %")));
}

Outcome speedup_helps_basic(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string load : {"0.5", "1.0"}) {
    const Estimate without = drop(view, "9-seeds", point(kBasic, load));
    const Estimate with_speedup = drop(view, "10-seeds", point(kBasic, load));
    tally.add({{"load", load}}, less(with_speedup, without));
    measured += fmt::format("{}loses {} with and {} without at load {}", measured.empty() ? "" : ", ",
                            text(with_speedup, " %"), text(without, " %"), load);
  }
  return tally.outcome(measured);
}

/// The seed places the sources for all three mechanisms, so they are compared seed by seed. Where all carry the same,
/// none carries most.
Outcome order_of_mechanisms(const View& view) {
  Tally tally;
  for (const std::string figure : {"7-seeds", "9-seeds", "10-seeds"}) {
    for (const std::string& load : view.values(figure, "load")) {
      const auto more_than = [&](const std::string& other) {
        const Estimate ratio = over_seeds(view, figure, point(kEnhanced, load), [&](const Selection& at) {
          return view.at(figure, at, "throughput_during") /
                 view.at(figure, with(at, "series", other), "throughput_during");
        });
        return above(ratio, 1);
      };
      tally.add({{"figure", figure.substr(0, figure.find('-'))}, {"load", load}},
                both(more_than(kBasic), more_than(kVoqsw)));
    }
  }
  return tally.outcome("mean throughput during the congestion, seed by seed");
}

Outcome bounded_queues(const View& view) {
  const Estimate most = of(view, "10-seeds", point(kEnhanced, "1.0"), "saq_most_packets");
  const Estimate after = of(view, "10-seeds", point(kEnhanced, "1.0"), "saq_most_after_xoff");
  const auto up_to = [](const Estimate& e, double limit) { return below(e, limit + 0.5); };  // of whole packets
  return graded(up_to(most, kXoff + kOnTheWay), up_to(after, kOnTheWay),
                fmt::format("at most {} packets in a set-aside queue, {} of them after it said Xoff", text(most, ""),
                            text(after, "")),
                "Xoff is at 48 packets, and 2 are on their way then; partly: only these 2 follow, and what lies in the "
                "normal queue upstream when a queue is set aside follows too");
}

// ---- Figure 11 ----

Selection series(const std::string& name) { return {{"series", name}}; }

Outcome larger(const View& view, const std::string& figure) {
  const Estimate enhanced = drop(view, figure, series(kEnhanced));
  const Estimate basic = drop(view, figure, series(kBasic));
  const Estimate again = regained(view, figure, series(kBasic));
  Tally tally;
  tally.add({{"", "enhanced stays"}}, below(enhanced, kStays));
  tally.add({{"", "basic drops"}}, above(basic, kStrong));
  tally.add({{"", "basic does not recover"}}, below(again, kPractically));
  return tally.outcome(fmt::format("enhanced loses {} at worst, basic {}; {} of what basic lost comes back",
                                   text(enhanced, " %"), text(basic, " %"), text(again, " %")));
}

Outcome larger_512(const View& view) { return larger(view, "11a-seeds"); }
Outcome larger_2048(const View& view) { return larger(view, "11b-seeds"); }

/// How far the two mechanisms are apart, at worst and afterwards, in per cent of the throughput before.
Outcome gap_grows(const View& view) {
  const auto worst = [&](const std::string& figure) {
    return drop(view, figure, series(kBasic)) - drop(view, figure, series(kEnhanced));
  };
  const auto afterwards = [&](const std::string& figure) {
    return back(view, figure, series(kEnhanced)) - back(view, figure, series(kBasic));
  };
  Tally tally;
  tally.add({{"", "at worst"}}, grows({worst("11a-seeds"), worst("11b-seeds")}, kGrows));
  tally.add({{"", "afterwards"}}, grows({afterwards("11a-seeds"), afterwards("11b-seeds")}, kGrows));
  return tally.outcome(fmt::format("apart by {} with 512 hosts and {} with 2048 at worst, by {} and {} afterwards",
                                   text(worst("11a-seeds"), " %"), text(worst("11b-seeds"), " %"),
                                   text(afterwards("11a-seeds"), " %"), text(afterwards("11b-seeds"), " %")));
}

// ---- Scenarios (Figures 1 to 3, 6) ----

/// Of events, which happen in a run or do not.
ClaimVerdict verdict_of(bool all, bool some) {
  return all ? ClaimVerdict::reproduced : some ? ClaimVerdict::partly : ClaimVerdict::not_reproduced;
}

/// Results of one run: when something first happened at a port (ns), and roots at the end.
class Events {
 public:
  Events(const View& view, const std::string& figure, const std::string& series)
      : result_(view.result(figure, {{"series", series}})) {}

  [[nodiscard]] bool has(const std::string& event) const { return result_.find(event) != nullptr; }
  [[nodiscard]] double at(const std::string& event) const {
    const stats::Metric* metric = result_.find(event);
    return metric == nullptr ? std::nan("") : metric->mean;
  }
  /// All of them happened, one after the other.
  [[nodiscard]] bool in_order(const std::vector<std::string>& events) const {
    for (std::size_t i = 0; i + 1 < events.size(); ++i) {
      if (!(at(events[i]) < at(events[i + 1]))) return false;
    }
    return std::all_of(events.begin(), events.end(), [&](const std::string& e) { return has(e); });
  }
  [[nodiscard]] std::string text(const std::vector<std::string>& events) const {
    std::string all;
    for (const std::string& event : events) {
      all +=
          (all.empty() ? "" : ", ") + event + (has(event) ? fmt::format(" at {:.1f} us", at(event) / 1000) : ": never");
    }
    return all;
  }
  /// The ports that are roots at the end.
  [[nodiscard]] std::string roots() const { return listed("root."); }
  [[nodiscard]] std::string detections() const { return listed("detected."); }

 private:
  [[nodiscard]] std::string listed(const std::string& prefix) const {
    std::string all;
    for (const stats::Metric& metric : result_.metrics) {
      if (metric.name.rfind(prefix, 0) == 0) all += (all.empty() ? "" : " ") + metric.name.substr(prefix.size());
    }
    return all.empty() ? "none" : all;
  }

  const api::Result& result_;
};

Outcome from_root_to_leaves(const View& view) {
  const Events run(view, "1a", kEnhanced);
  const std::vector<std::string> order{"detected.s0.out0", "aside.s0.in1", "aside.s1.out1", "aside.s1.in0", "aside.t1"};
  const bool first = run.detections() == "s0.out0";
  return {verdict_of(first && run.in_order(order), first),
          fmt::format("detected at {} only; {}", run.detections(), run.text(order)), ""};
}

Outcome spots_merge(const View& view) {
  const Events run(view, "1b", kEnhanced);
  bool spots = true;
  for (const char* at : {"s1", "s2"}) {
    for (const char* input : {".in0", ".in1", ".in2"}) {
      spots = spots && run.in_order({fmt::format("detected.{}{}", at, input), fmt::format("detected.{}.out3", at)});
    }
  }
  for (const char* at : {"s0", "s3", "s4"}) {
    spots = spots && run.detections().find(fmt::format("{}.in", at)) == std::string::npos;
    spots = spots && run.detections().find(fmt::format("{}.out", at)) != std::string::npos;
  }
  const bool merged = run.roots() == "s0.out0";
  return {verdict_of(spots && merged, merged),
          fmt::format("detected at {}; roots at the end: {}; basic RECN detects at {}", run.detections(), run.roots(),
                      Events(view, "1b", kBasic).detections()),
          "three flows meet at s1 and s2, two at s3, s4 and the root s0"};
}

Outcome first_detection(const View& view) {
  const std::string two_1 = Events(view, "2", "two_flows_no_speedup").detections();
  const std::string two_2 = Events(view, "2", "two_flows").detections();
  const std::string three_2 = Events(view, "2", "three_flows").detections();
  const bool a = two_1.find("in") != std::string::npos && two_1.find("out") == std::string::npos;
  const bool b = two_2.find("out") == 3 && two_2.find("in") == std::string::npos;
  const Events three(view, "2", "three_flows");
  const bool c = three.has("detected.s0.in1") &&
                 (!three.has("detected.s0.out0") || three.at("detected.s0.in1") < three.at("detected.s0.out0"));
  return {verdict_of(a && b && c, a || b || c),
          fmt::format("2 flows, speedup 1: {}; 2 flows, speedup 2: {}; 3 flows, speedup 2: {}", two_1, two_2,
                      three.text({"detected.s0.in1", "detected.s0.out0"})),
          ""};
}

/// Roots before and after a change.
Outcome roots_move(const View& view, const std::string& figure, const std::string& before, const std::string& after,
                   const std::string& note) {
  const std::string first = Events(view, figure, "before").roots();
  const std::string last = Events(view, figure, "after").roots();
  // In part: the new root is there, and others beside it.
  return {verdict_of(first == before && last == after, first == before && last.find(after) != std::string::npos),
          fmt::format("roots before: {}; afterwards: {}; detected in all: {}", first, last,
                      Events(view, figure, "after").detections()),
          note};
}

Outcome root_moves_downstream(const View& view) {
  return roots_move(view, "1c", "s1.out3", "s0.out0", "first detected at the inputs of s1");
}

Outcome trees_merge(const View& view) {
  const Events before(view, "3a", "before");
  const Events after(view, "3a", "after");
  const bool fresh = before.roots() == "s0.out0" && !before.has("detected.s2.out2") && after.has("root.s2.out2");
  // In part: the common root is there, and others beside it.
  return {
      verdict_of(fresh && after.roots() == "s2.out2", fresh),
      fmt::format("roots before: {}; {}; roots at the end: {}", before.roots(),
                  after.text({"detected.s0.out0", "detected.s2.out2"}), after.roots()),
      "s2.out2 is the output that both trees share; the root of the extracted tree moves there, and RECN keeps seeing "
      "the old one too"};
}

Outcome trees_stay_apart(const View& view) {
  const Events run(view, "3b", "after");
  const bool apart = run.roots() == "s0.out0 s1.out0" && !run.has("detected.s2.out2");
  const double lines = view.at("3b", {{"series", "after"}}, "saqs_most_per_port").mean;
  // In part: no port has a queue for both, so they do not overlap.
  return {verdict_of(apart && lines >= 2, apart),
          fmt::format("detected at {}; up to {:.0f} set-aside queues at one port; roots at the end: {}",
                      run.detections(), lines, run.roots()),
          ""};
}

Outcome root_moves_upstream(const View& view) {
  const Events before(view, "3c", "before");
  const Events after(view, "3c", "after");
  const bool first = before.roots() == "s0.out0";
  const bool fresh = after.roots().find("s1") != std::string::npos;
  const bool gone = after.roots().find("s0.out0") == std::string::npos;
  return {
      verdict_of(first && fresh && gone, first && fresh),
      fmt::format("roots before: {}; 300 us after the branch ended: {}", before.roots(), after.roots()),
      "as the paper says, the queues of the old root stay full while the other three flows go on: RECN keeps seeing "
      "it as the root until they drain"};
}

Decision equals(const Estimate& count, double number) { return inside(count, number, number); }

/// The paper's numbers, for sources and a way up with which its own network has them.
Outcome seven_roots(const View& view) {
  const auto roots = [&](const std::string& which, const char* metric) {
    Estimate count = view.at("6-seven", {{"series", which}}, metric);
    count.half_width = 0.0;  // a count of one run
    return count;
  };
  Tally tally;
  tally.add({{"", "basic, at outputs"}}, equals(roots(kBasic, "roots_egress"), 7));
  tally.add({{"", "basic, at inputs"}}, equals(roots(kBasic, "roots_ingress"), 0));
  tally.add({{"", "enhanced, at outputs"}}, equals(roots(kEnhanced, "roots_egress"), 1));
  tally.add({{"", "enhanced, at inputs"}}, equals(roots(kEnhanced, "roots_ingress"), 0));
  return tally.outcome("roots of basic RECN: " + Events(view, "6-seven", kBasic).roots() +
                       "; of enhanced: " + Events(view, "6-seven", kEnhanced).roots());
}

Outcome one_tree(const View& view) {
  std::string measured;
  Tally tally;
  for (const std::string& up : view.values("6", "up")) {
    for (const std::string& placement : view.values("6", "placement")) {
      const auto roots = [&](const std::string& which, const char* metric) {
        return of(view, "6", {{"series", which}, {"up", up}, {"placement", placement}}, metric);
      };
      const Estimate basic = roots(kBasic, "roots_egress");
      const Estimate enhanced = roots(kEnhanced, "roots_egress");
      const Estimate inside_enhanced = roots(kEnhanced, "roots_ingress");
      tally.add({{"", placement}, {"up", up}},
                both(above(basic, 1), both(equals(roots(kBasic, "roots_ingress"), 0),
                                           both(equals(enhanced, 1), equals(inside_enhanced, 0)))));
      if (up == "destination_digit" || placement == "random") {
        measured += fmt::format("{}{} {}: basic {}, enhanced {} + {} at inputs", measured.empty() ? "" : "; ",
                                placement, up, text(basic, ""), text(enhanced, ""), text(inside_enhanced, ""));
      }
    }
  }
  Outcome outcome = tally.outcome(measured);
  outcome.note += std::string(outcome.note.empty() ? "" : ". ") +
                  "the paper does not say where the eight sources are nor how the way up is chosen";
  return outcome;
}

Outcome storage(const View& view) {
  const auto latency = [&](const std::string& which, const std::string& speedup) {
    return of(view, "8-seeds", {{"series", which}, {"speedup", speedup}}, "packet_latency");
  };
  const Estimate basic_1 = latency(kBasic, "1");
  const Estimate enhanced_1 = latency(kEnhanced, "1");
  const Estimate basic_2 = latency(kBasic, "1.5");
  const Estimate enhanced_2 = latency(kEnhanced, "1.5");
  Tally tally;
  tally.add({{"", "basic worse without speedup"}}, greater(basic_1, (1 + kAlike) * enhanced_1));
  tally.add({{"", "enhanced equal with and without"}}, equal_within(enhanced_1, enhanced_2, kAlike));
  tally.add({{"", "alike at 1.5"}}, equal_within(basic_2, enhanced_2, kAlike));
  Outcome outcome = tally.outcome(
      fmt::format("mean latency without speedup: basic {}, enhanced {}; with 1.5: basic {}, enhanced {}",
                  text(basic_1, " ns"), text(enhanced_1, " ns"), text(basic_2, " ns"), text(enhanced_2, " ns")));
  outcome.note += std::string(outcome.note.empty() ? "" : ". ") +
                  "synthetic I/O instead of the paper's trace, which cannot be had; equal: within 10 %";
  return outcome;
}

// ---- Ours ----

/// The largest and the smallest of the means over seeds, over up phases and placements.
Outcome placement_matters(const View& view) {
  constexpr double kFactor = 1.5;
  std::optional<Estimate> low;
  std::optional<Estimate> high;
  for (const Selection& at : view.grid("choices", {"up", "placement"}, {{"series", kBasic}})) {
    const Estimate lowest = of(view, "choices", with(at, "series", kBasic), "lowest_throughput");
    if (!low || !lowest.known || lowest.mean < low->mean) low = lowest;
    if (!high || !lowest.known || lowest.mean > high->mean) high = lowest;
    if (!lowest.known) break;
  }
  Tally tally;
  tally.add({}, greater(*high, kFactor * *low));
  return tally.outcome(fmt::format("basic RECN's lowest throughput, from {} to {} bytes/ns by up phase and placement",
                                   text(*low, ""), text(*high, "")));
}

/// With the fits the numbers are the paper's; without them they are not.
Outcome fits(const View& view) {
  const auto at = [&](const char* overhead, const char* limit, const char* metric) {
    return of(view, "fits", {{"series", kEnhanced}, {"overhead", overhead}, {"limit", limit}}, metric);
  };
  constexpr double kPaper = 44;
  constexpr double kClose = 0.05;
  const Estimate fitted = at("6", "64", "throughput_before");
  const Estimate bare = at("0", "64", "throughput_before");
  const Estimate limited = at("6", "64", "saqs_at_end");
  const Estimate unlimited = at("6", "0", "saqs_at_end");
  Tally tally;
  tally.add({{"", "44 bytes/ns with the overhead"}}, inside(fitted, kPaper * (1 - kClose), kPaper * (1 + kClose)));
  tally.add({{"", "more without"}}, above(bare, kPaper * (1 + kClose)));
  tally.add({{"", "fewer queues left with the limit"}}, less(limited, unlimited));
  return tally.outcome(
      fmt::format("before the congestion {} bytes/ns with 6 bytes of overhead, {} without; set-aside queues 500 us "
                  "after it: {} with "
                  "a limit of 64 messages, {} without",
                  text(fitted, ""), text(bare, ""), text(limited, ""), text(unlimited, "")));
}

std::vector<Claim> claims() {
  return {
      {"1a",
       "3.1",
       "Flows that meet at the root only: its output first, then from the root to the leaves",
       {"1a"},
       true,
       from_root_to_leaves,
       ""},
      {"1b",
       "3.2",
       "Local spots, at inputs where three flows meet, merge into one tree",
       {"1b"},
       true,
       spots_merge,
       ""},
      {"2",
       "3.2",
       "Two flows congest an input at speedup 1 and the output at 2; three flows an input at 2",
       {"2"},
       true,
       first_detection,
       ""},
      {"1c", "3.3", "A flow that joins downstream moves the root downstream", {"1c"}, true, root_moves_downstream, ""},
      {"3a", "3.3", "Two trees that overlap get a new common root and merge", {"3a"}, false, trees_merge, ""},
      {"3b", "3.3", "Two trees that overlap stay separate", {"3b"}, true, trees_stay_apart, ""},
      {"3c", "3.3", "A branch that ends moves the root upstream", {"3c"}, false, root_moves_upstream, ""},
      {"6",
       "4.2",
       "Basic RECN sees one tree as several, all at outputs; enhanced RECN as one",
       {"6"},
       true,
       one_tree,
       ""},
      {"6-seven",
       "4.2",
       "Figure 6: seven roots under basic RECN, one under enhanced RECN",
       {"6-seven"},
       true,
       seven_roots,
       "sources 4, 5, 8, 9, 20, 21, 24, 25 to host 32, ways up straight: a choice under which the paper's network has "
       "the "
       "paper's roots"},
      {"8",
       "5.3",
       "Storage: basic RECN is worse without speedup; enhanced is equal with and without; alike at 1.5",
       {"8-seeds"},
       false,
       storage,
       "",
       Mode::standard},
      {"7-basic",
       "5.3",
       "Case 2: basic RECN falls from 44 to 37 bytes/ns",
       {"7-seeds"},
       false,
       basic_7,
       "",
       Mode::standard},
      {"7-voqsw", "5.3", "Case 2: VOQsw falls from 44 to 25 bytes/ns", {"7-seeds"}, false, voqsw_7, "", Mode::standard},
      {"7-voqsw-stays-down",
       "5.3",
       "Case 2: VOQsw does not recover when the tree disappears",
       {"7-seeds"},
       true,
       voqsw_stays_down_7,
       "",
       Mode::standard},
      {"7-basic-recovers",
       "5.3",
       "Case 2: basic RECN recovers when the tree disappears",
       {"7-seeds"},
       false,
       basic_recovers_7,
       "",
       Mode::standard},
      {"7-oscillation",
       "5.3",
       "Cases 1 and 2: basic RECN oscillates, enhanced RECN is smooth",
       {"7-seeds"},
       false,
       oscillates_7,
       "smooth: from window to window it changes by less than half of what basic RECN does",
       Mode::standard},
      {"7-alike",
       "5.3",
       "Cases 1 and 2: basic RECN carries roughly as much as enhanced RECN",
       {"7-seeds"},
       false,
       alike_7,
       "roughly: within 10 %",
       Mode::standard},
      {"7-enhanced",
       "5.3",
       "Case 2: enhanced RECN does not degrade",
       {"7-seeds"},
       true,
       enhanced_7,
       "",
       Mode::standard},
      {"7-mild",
       "5.3",
       "Case 1: no strong degradation under either RECN",
       {"7-seeds"},
       true,
       mild_7,
       "",
       Mode::standard},
      {"9-basic-half",
       "5.3",
       "Case 3, no speedup: basic RECN falls from 25 to 10 bytes/ns",
       {"9-seeds"},
       false,
       basic_9_half,
       "",
       Mode::standard},
      {"9-basic-full",
       "5.3",
       "Case 4, no speedup: basic RECN falls from 44 to 10 bytes/ns",
       {"9-seeds"},
       false,
       basic_9_full,
       "a single input queue without speedup cannot carry 44 bytes/ns: it is limited head-of-line",
       Mode::standard},
      {"9-basic-stays-down",
       "5.3",
       "Case 4, no speedup: basic RECN does not fully recover",
       {"9-seeds"},
       false,
       basic_9_down,
       "recovered: 95 % of the throughput before",
       Mode::standard},
      {"9-enhanced",
       "5.3",
       "No speedup: enhanced RECN stays at the maximum",
       {"9-seeds"},
       true,
       enhanced_9,
       "",
       Mode::standard},
      {"10-basic",
       "5.3",
       "Speedup 1.5: basic RECN drops by 33 % (case 3) and 45 % (case 4)",
       {"10-seeds"},
       false,
       basic_10,
       "within 5 points",
       Mode::standard},
      {"10-oscillation",
       "5.3",
       "Speedup 1.5: basic RECN oscillates strongly, enhanced RECN is almost constant",
       {"10-seeds"},
       false,
       oscillates_10,
       "constant: from window to window it changes by less than half of what basic RECN does",
       Mode::standard},
      {"10-enhanced",
       "5.3",
       "Speedup 1.5: enhanced RECN stays almost constant",
       {"10-seeds"},
       true,
       enhanced_10,
       "",
       Mode::standard},
      {"10-partial-recovery",
       "5.3",
       "Case 4, speedup 1.5: basic RECN recovers incompletely, far above VOQsw",
       {"10-seeds"},
       false,
       partial_recovery_10,
       "",
       Mode::standard},
      {"speedup-helps-basic",
       "5.3",
       "Basic RECN loses less with speedup than without",
       {"9-seeds", "10-seeds"},
       false,
       speedup_helps_basic,
       "",
       Mode::standard},
      {"order",
       "5.3",
       "During congestion enhanced RECN carries most",
       {"7-seeds", "9-seeds", "10-seeds"},
       true,
       order_of_mechanisms,
       "",
       Mode::standard},
      {"bounded",
       "4.1",
       "Xon/Xoff keeps a set-aside queue below a threshold",
       {"10-seeds"},
       false,
       bounded_queues,
       "",
       Mode::standard},
      {"11-512",
       "5.3",
       "512 hosts: enhanced RECN near the maximum, basic drops dramatically and does not recover",
       {"11a-seeds"},
       false,
       larger_512,
       "",
       Mode::standard},
      {"11-2048",
       "5.3",
       "2048 hosts: enhanced RECN near the maximum, basic drops dramatically and does not recover",
       {"11b-seeds"},
       false,
       larger_2048,
       "",
       Mode::standard},
      {"11-gap",
       "5.3",
       "The difference grows with the network",
       {"11a-seeds", "11b-seeds"},
       false,
       gap_grows,
       "",
       Mode::standard},
      {"choices",
       "ours",
       "What basic RECN loses depends on placement and up phase by a factor of 1.5 or more",
       {"choices"},
       false,
       placement_matters,
       "",
       Mode::standard},
      {"fits",
       "ours",
       "The fits give the paper's 44 bytes/ns, and fewer queues that stay set aside",
       {"fits"},
       true,
       fits,
       "",
       Mode::standard},
  };
}

}  // namespace

extern const StudyRow row_congestion_trees;
const StudyRow row_congestion_trees{"congestion-trees", claims};

}  // namespace banyan::study::congestion_trees
