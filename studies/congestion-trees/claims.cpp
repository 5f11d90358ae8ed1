// The claims of García et al. (DIAB-05-07-1, 2005), in our own short words, as checks over the measured figures. A run
// is one transient: values are medians over seeds with their ranges. What "near the maximum", "dramatically" and the
// like mean stands here, once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "banyan/study/study.hpp"

namespace banyan::study::congestion_trees {
namespace {

constexpr double kNumber = 0.15;     ///< a number of the text counts as reproduced within 15 %
constexpr double kStays = 0.07;      ///< "stays", "near the maximum": the lowest 10 us lose at most 7 %
constexpr double kStrong = 0.25;     ///< a "strong" degradation: a quarter or more
constexpr double kRecovered = 0.95;  ///< recovered: 95 % of the throughput before

const std::string kVoqsw = "voqsw";
const std::string kBasic = "recn_basic";
const std::string kEnhanced = "recn_enhanced";

/// Median and range over the seeds.
struct Spread {
  std::vector<double> values;  ///< ascending

  [[nodiscard]] double median() const {
    const std::size_t n = values.size();
    return n == 0 ? std::nan("") : n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2.0;
  }
  [[nodiscard]] double low() const { return values.front(); }
  [[nodiscard]] double high() const { return values.back(); }
};

std::string text(const Spread& s, const std::string& unit) {
  if (s.values.size() < 2) return fmt::format("{:.1f}{}", s.median(), unit);
  return fmt::format("{:.1f}{} ({:.1f} to {:.1f}, {} seeds)", s.median(), unit, s.low(), s.high(), s.values.size());
}

template <class F>
Spread over_seeds(const View& view, const std::string& figure, const Selection& at, F&& value) {
  Spread spread;
  for (const std::string& seed : view.values(figure, "seed", at))
    spread.values.push_back(value(with(at, "seed", seed)));
  std::sort(spread.values.begin(), spread.values.end());
  return spread;
}

Spread of(const View& view, const std::string& figure, const Selection& at, const std::string& metric) {
  return over_seeds(view, figure, at, [&](const Selection& point) { return view.at(figure, point, metric).mean; });
}

/// What is lost at worst, in per cent of the throughput before.
Spread drop(const View& view, const std::string& figure, const Selection& at) {
  return over_seeds(view, figure, at, [&](const Selection& point) {
    return 100.0 *
           (1.0 - view.at(figure, point, "lowest_throughput").mean / view.at(figure, point, "throughput_before").mean);
  });
}

/// Mean throughput after the congestion, in per cent of that before.
Spread back(const View& view, const std::string& figure, const Selection& at) {
  return over_seeds(view, figure, at, [&](const Selection& point) {
    return 100.0 * view.at(figure, point, "throughput_after").mean / view.at(figure, point, "throughput_before").mean;
  });
}

Selection point(const std::string& series, const std::string& load) { return {{"series", series}, {"load", load}}; }

ClaimVerdict verdict(bool all, bool some) {
  return all ? ClaimVerdict::reproduced : some ? ClaimVerdict::partly : ClaimVerdict::not_reproduced;
}

bool near(double ours, double paper, double tolerance) { return std::abs(ours - paper) <= tolerance * paper; }

/// "from a to b": both numbers within the tolerance, or the fall alone.
Outcome from_to(const View& view, const std::string& figure, const Selection& at, double before, double lowest) {
  const Spread first = of(view, figure, at, "throughput_before");
  const Spread last = of(view, figure, at, "lowest_throughput");
  const bool numbers = near(first.median(), before, kNumber) && last.low() * (1.0 - kNumber) <= lowest &&
                       lowest <= last.high() * (1.0 + kNumber);
  return {verdict(numbers, last.median() < 0.9 * first.median()),
          fmt::format("from {} to {} bytes/ns; the paper's {} to {}", text(first, ""), text(last, ""), before, lowest),
          ""};
}

Outcome stays(const View& view, const std::string& figure, const std::vector<std::string>& loads) {
  bool all = true;
  bool some = false;
  std::string measured;
  for (const std::string& load : loads) {
    const Spread lost = drop(view, figure, point(kEnhanced, load));
    const bool holds = lost.median() <= 100.0 * kStays;
    all = all && holds;
    some = some || holds;
    measured += fmt::format("{}loses {} at load {}", measured.empty() ? "" : ", ", text(lost, " %"), load);
  }
  return {verdict(all, some), measured, ""};
}

// ---- Figure 7 ----

Outcome basic_7(const View& view) { return from_to(view, "7-seeds", point(kBasic, "1.0"), 44, 37); }
Outcome voqsw_7(const View& view) { return from_to(view, "7-seeds", point(kVoqsw, "1.0"), 44, 25); }
Outcome enhanced_7(const View& view) { return stays(view, "7-seeds", {"1.0"}); }

Outcome mild_7(const View& view) {
  const Spread basic = drop(view, "7-seeds", point(kBasic, "0.5"));
  const Spread enhanced = drop(view, "7-seeds", point(kEnhanced, "0.5"));
  return {
      verdict(basic.median() < 100 * kStrong && enhanced.median() < 100 * kStrong, enhanced.median() < 100 * kStrong),
      fmt::format("basic loses {}, enhanced {}", text(basic, " %"), text(enhanced, " %")), ""};
}

Outcome voqsw_stays_down_7(const View& view) {
  const Spread after = back(view, "7-seeds", point(kVoqsw, "1.0"));
  return {verdict(after.median() < 100 * kRecovered, after.low() < 100 * kRecovered),
          fmt::format("afterwards {} of the throughput before", text(after, " %")), ""};
}

Outcome basic_recovers_7(const View& view) {
  const Spread after = back(view, "7-seeds", point(kBasic, "1.0"));
  const Spread voqsw = back(view, "7-seeds", point(kVoqsw, "1.0"));
  return {verdict(after.median() >= 100 * kRecovered, after.median() > voqsw.median()),
          fmt::format("afterwards {} of the throughput before, VOQsw {}", text(after, " %"), text(voqsw, " %")), ""};
}

// ---- Figures 9 and 10 ----

Outcome basic_9_half(const View& view) { return from_to(view, "9-seeds", point(kBasic, "0.5"), 25, 10); }
Outcome basic_9_full(const View& view) { return from_to(view, "9-seeds", point(kBasic, "1.0"), 44, 10); }
Outcome enhanced_9(const View& view) { return stays(view, "9-seeds", {"0.5", "1.0"}); }
Outcome enhanced_10(const View& view) { return stays(view, "10-seeds", {"0.5", "1.0"}); }

Outcome basic_10(const View& view) {
  bool all = true;
  bool some = false;
  std::string measured;
  for (const auto& [load, paper] : {std::pair{"0.5", 33.0}, std::pair{"1.0", 45.0}}) {
    const Spread lost = drop(view, "10-seeds", point(kBasic, load));
    const bool inside = lost.low() - 5 <= paper && paper <= lost.high() + 5;
    all = all && inside;
    some = some || inside || lost.median() > 10;
    measured +=
        fmt::format("{}{} at load {} (paper {} %)", measured.empty() ? "" : ", ", text(lost, " %"), load, paper);
  }
  return {verdict(all, some), measured, ""};
}

Outcome partial_recovery_10(const View& view) {
  const Spread basic = back(view, "10-seeds", point(kBasic, "1.0"));
  const Spread voqsw = back(view, "10-seeds", point(kVoqsw, "1.0"));
  const bool incomplete = basic.median() < 100.0;
  const bool above = basic.median() > 1.2 * voqsw.median();
  return {
      verdict(incomplete && above, above),
      fmt::format("afterwards basic has {} of the throughput before, VOQsw {}", text(basic, " %"), text(voqsw, " %")),
      "far above: by a fifth or more"};
}

Outcome speedup_helps_basic(const View& view) {
  bool all = true;
  bool some = false;
  std::string measured;
  for (const std::string load : {"0.5", "1.0"}) {
    const Spread without = drop(view, "9-seeds", point(kBasic, load));
    const Spread with_speedup = drop(view, "10-seeds", point(kBasic, load));
    const bool holds = with_speedup.median() < without.median();
    all = all && holds;
    some = some || holds;
    measured += fmt::format("{}loses {} with and {} without at load {}", measured.empty() ? "" : ", ",
                            text(with_speedup, " %"), text(without, " %"), load);
  }
  return {verdict(all, some), measured, ""};
}

Outcome order_of_mechanisms(const View& view) {
  Tally tally;
  for (const std::string figure : {"7-seeds", "9-seeds", "10-seeds"}) {
    for (const std::string& load : view.values(figure, "load")) {
      const double voqsw = of(view, figure, point(kVoqsw, load), "throughput_during").median();
      const double basic = of(view, figure, point(kBasic, load), "throughput_during").median();
      const double enhanced = of(view, figure, point(kEnhanced, load), "throughput_during").median();
      const bool holds = enhanced >= 0.99 * basic && enhanced >= 0.99 * voqsw;
      tally.add({{"figure", figure.substr(0, figure.find('-'))}, {"load", load}},
                holds ? Decision::holds : Decision::fails);
    }
  }
  return tally.outcome("mean throughput during the congestion, within 1 %");
}

Outcome bounded_queues(const View& view) {
  const Spread most = of(view, "10-seeds", point(kEnhanced, "1.0"), "saq_most_packets");
  return {verdict(most.high() < 512, most.median() < 512),
          fmt::format("at most {} packets in a set-aside queue, of the 512 of the memory", text(most, "")),
          "Xoff is at 48 packets; what lies in the normal queue upstream when a queue is set aside follows into it"};
}

// ---- Figure 11 ----

Selection series(const std::string& name) { return {{"series", name}}; }

Outcome larger(const View& view, const std::string& figure) {
  const Spread enhanced = drop(view, figure, series(kEnhanced));
  const Spread basic = drop(view, figure, series(kBasic));
  const Spread after = back(view, figure, series(kBasic));
  const bool high = enhanced.median() <= 100 * kStays;
  const bool low = basic.median() > 100 * kStrong;
  return {verdict(high && low && after.median() < 100 * kRecovered, low && enhanced.median() < basic.median()),
          fmt::format("enhanced loses {} at worst, basic {}; basic has {} of the throughput before afterwards",
                      text(enhanced, " %"), text(basic, " %"), text(after, " %")),
          ""};
}

Outcome larger_512(const View& view) { return larger(view, "11a-seeds"); }
Outcome larger_2048(const View& view) { return larger(view, "11b-seeds"); }

/// How far the two mechanisms are apart at worst, in per cent of the throughput before.
double gap(const View& view, const std::string& figure) {
  return drop(view, figure, series(kBasic)).median() - drop(view, figure, series(kEnhanced)).median();
}

Outcome gap_grows(const View& view) {
  const double at_512 = gap(view, "11a-seeds");
  const double at_2048 = gap(view, "11b-seeds");
  const double back_512 = back(view, "11a-seeds", series(kBasic)).median();
  const double back_2048 = back(view, "11b-seeds", series(kBasic)).median();
  return {verdict(at_2048 > at_512, back_2048 < back_512),
          fmt::format("the lowest throughputs are {:.0f} % of the maximum apart with 512 hosts, {:.0f} % with 2048; "
                      "afterwards basic has {:.0f} % and {:.0f} %",
                      at_512, at_2048, back_512, back_2048),
          "in part: only what basic recovers"};
}

// ---- Scenarios (Figures 1 to 3, 6) ----

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
  return {verdict(first && run.in_order(order), first),
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
  return {verdict(spots && merged, merged),
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
  return {verdict(a && b && c, a || b || c),
          fmt::format("2 flows, speedup 1: {}; 2 flows, speedup 2: {}; 3 flows, speedup 2: {}", two_1, two_2,
                      three.text({"detected.s0.in1", "detected.s0.out0"})),
          ""};
}

/// Roots before and after a change.
Outcome roots_move(const View& view, const std::string& figure, const std::string& before, const std::string& after,
                   const std::string& note) {
  const std::string first = Events(view, figure, "before").roots();
  const std::string last = Events(view, figure, "after").roots();
  return {verdict(first == before && last == after, first == before || last == after),
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
  const bool fresh = !before.has("detected.s2.out2") && after.has("detected.s2.out2");
  return {verdict(fresh && before.roots() == "s0.out0", fresh),
          fmt::format("roots before: {}; {}; roots at the end: {}", before.roots(),
                      after.text({"detected.s0.out0", "detected.s2.out2"}), after.roots()),
          "s2.out2 is the output that both trees share"};
}

Outcome trees_stay_apart(const View& view) {
  const Events run(view, "3b", "after");
  const bool both = run.has("detected.s0.out0") || run.has("detected.s0.in1");
  const bool none = !run.has("detected.s2.out2");
  const double lines = view.at("3b", {{"series", "after"}}, "saqs_most_per_port").mean;
  return {verdict(both && none && lines >= 2, none),
          fmt::format("detected at {}; up to {:.0f} set-aside queues at one port; roots at the end: {}",
                      run.detections(), lines, run.roots()),
          ""};
}

Outcome root_moves_upstream(const View& view) {
  const Events before(view, "3c", "before");
  const Events after(view, "3c", "after");
  const bool first = before.roots() == "s0.out0";
  const bool moved = after.roots().find("s1") != std::string::npos;
  return {
      verdict(first && moved, first),
      fmt::format("roots before: {}; 300 us after the branch ended: {}", before.roots(), after.roots()),
      "as the paper says, the queues of the old root stay full while the other three flows go on: RECN keeps seeing "
      "it as the root until they drain"};
}

Outcome one_tree(const View& view) {
  std::string measured;
  bool single = true;
  bool several = true;
  for (const std::string& up : view.values("6", "up")) {
    for (const std::string& placement : view.values("6", "placement")) {
      const auto roots = [&](const std::string& series, const char* metric) {
        return of(view, "6", {{"series", series}, {"up", up}, {"placement", placement}}, metric);
      };
      const Spread basic = roots(kBasic, "roots_egress");
      const Spread enhanced = roots(kEnhanced, "roots_egress");
      const Spread inside = roots(kEnhanced, "roots_ingress");
      single = single && enhanced.median() == 1 && inside.median() == 0;
      several = several && basic.median() > 1;
      if (up == "destination_digit" || placement == "random") {
        measured += fmt::format("{}{} {}: basic {:.0f} ({:.0f} to {:.0f}), enhanced {:.0f} + {:.0f} at inputs",
                                measured.empty() ? "" : "; ", placement, up, basic.median(), basic.low(), basic.high(),
                                enhanced.median(), inside.median());
      }
    }
  }
  return {verdict(single && several, single || several), measured,
          "the paper does not say where the eight sources are nor how the way up is chosen"};
}

Outcome storage(const View& view) {
  const auto latency = [&](const std::string& series, const std::string& speedup) {
    return of(view, "8-seeds", {{"series", series}, {"speedup", speedup}}, "packet_latency");
  };
  const Spread basic_1 = latency(kBasic, "1");
  const Spread enhanced_1 = latency(kEnhanced, "1");
  const Spread basic_2 = latency(kBasic, "1.5");
  const Spread enhanced_2 = latency(kEnhanced, "1.5");
  const bool worse = basic_1.median() > 1.1 * enhanced_1.median();
  const bool equal = near(enhanced_1.median(), enhanced_2.median(), 0.1);
  const bool alike = near(basic_2.median(), enhanced_2.median(), 0.1);
  return {verdict(worse && equal && alike, worse || (equal && alike)),
          fmt::format("mean latency without speedup: basic {}, enhanced {}; with 1.5: basic {}, enhanced {}",
                      text(basic_1, " ns"), text(enhanced_1, " ns"), text(basic_2, " ns"), text(enhanced_2, " ns")),
          "synthetic I/O instead of the paper's trace, which cannot be had; equal: within 10 %"};
}

// ---- Ours ----

Outcome placement_matters(const View& view) {
  Spread basic;
  for (const Selection& at : view.grid("choices", {"up", "placement", "seed"}, {{"series", kBasic}})) {
    basic.values.push_back(view.at("choices", with(at, "series", kBasic), "lowest_throughput").mean);
  }
  std::sort(basic.values.begin(), basic.values.end());
  return {
      verdict(basic.high() > 1.5 * basic.low(), basic.high() > 1.2 * basic.low()),
      fmt::format("basic RECN's lowest throughput over up phases, placements and seeds: {} bytes/ns", text(basic, "")),
      ""};
}

Outcome fits(const View& view) {
  const auto at = [&](const char* overhead, const char* limit, const char* metric) {
    return view.at("fits", {{"series", kEnhanced}, {"overhead", overhead}, {"limit", limit}}, metric).mean;
  };
  return {
      ClaimVerdict::reproduced,
      fmt::format("before the congestion {:.1f} bytes/ns with 6 bytes of overhead, {:.1f} without; set-aside queues "
                  "500 us after it: {:.0f} with a limit of 64 messages, {:.0f} without",
                  at("6", "64", "throughput_before"), at("0", "64", "throughput_before"), at("6", "64", "saqs_at_end"),
                  at("6", "0", "saqs_at_end")),
      "values without the fits, for comparison; nothing to reproduce"};
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
      {"3a", "3.3", "Two trees that overlap get a new common root and merge", {"3a"}, true, trees_merge, ""},
      {"3b", "3.3", "Two trees that overlap stay separate", {"3b"}, true, trees_stay_apart, ""},
      {"3c", "3.3", "A branch that ends moves the root upstream", {"3c"}, false, root_moves_upstream, ""},
      {"6",
       "4.2",
       "Basic RECN sees one tree as several, all at outputs; enhanced RECN as one",
       {"6"},
       true,
       one_tree,
       ""},
      {"8",
       "5.3",
       "Storage: basic RECN is worse without speedup; enhanced is equal with and without; alike at 1.5",
       {"8-seeds"},
       false,
       storage,
       ""},
      {"7-basic", "5.3", "Case 2: basic RECN falls from 44 to 37 bytes/ns", {"7-seeds"}, false, basic_7, ""},
      {"7-voqsw", "5.3", "Case 2: VOQsw falls from 44 to 25 bytes/ns", {"7-seeds"}, false, voqsw_7, ""},
      {"7-voqsw-stays-down",
       "5.3",
       "Case 2: VOQsw does not recover when the tree disappears",
       {"7-seeds"},
       true,
       voqsw_stays_down_7,
       ""},
      {"7-basic-recovers",
       "5.3",
       "Case 2: basic RECN recovers, with oscillation",
       {"7-seeds"},
       false,
       basic_recovers_7,
       ""},
      {"7-enhanced", "5.3", "Case 2: enhanced RECN does not degrade", {"7-seeds"}, true, enhanced_7, ""},
      {"7-mild", "5.3", "Case 1: no strong degradation under either RECN", {"7-seeds"}, true, mild_7, ""},
      {"9-basic-half",
       "5.3",
       "Case 3, no speedup: basic RECN falls from 25 to 10 bytes/ns",
       {"9-seeds"},
       false,
       basic_9_half,
       ""},
      {"9-basic-full",
       "5.3",
       "Case 4, no speedup: basic RECN falls from 44 to 10 bytes/ns",
       {"9-seeds"},
       false,
       basic_9_full,
       "a single input queue without speedup cannot carry 44 bytes/ns: it is limited head-of-line"},
      {"9-enhanced", "5.3", "No speedup: enhanced RECN stays at the maximum", {"9-seeds"}, true, enhanced_9, ""},
      {"10-basic",
       "5.3",
       "Speedup 1.5: basic RECN drops by 33 % (case 3) and 45 % (case 4)",
       {"10-seeds"},
       false,
       basic_10,
       "within 5 points of the range over seeds"},
      {"10-enhanced", "5.3", "Speedup 1.5: enhanced RECN stays almost constant", {"10-seeds"}, true, enhanced_10, ""},
      {"10-partial-recovery",
       "5.3",
       "Case 4, speedup 1.5: basic RECN recovers incompletely, far above VOQsw",
       {"10-seeds"},
       false,
       partial_recovery_10,
       ""},
      {"speedup-helps-basic",
       "5.3",
       "Basic RECN loses less with speedup than without",
       {"9-seeds", "10-seeds"},
       false,
       speedup_helps_basic,
       ""},
      {"order",
       "5.3",
       "During congestion enhanced RECN carries most",
       {"7-seeds", "9-seeds", "10-seeds"},
       true,
       order_of_mechanisms,
       ""},
      {"bounded", "4.1", "Xon/Xoff bounds the packets in a set-aside queue", {"10-seeds"}, true, bounded_queues, ""},
      {"11-512",
       "5.3",
       "512 hosts: enhanced RECN near the maximum, basic drops dramatically and does not recover",
       {"11a-seeds"},
       false,
       larger_512,
       ""},
      {"11-2048",
       "5.3",
       "2048 hosts: enhanced RECN near the maximum, basic drops dramatically and does not recover",
       {"11b-seeds"},
       false,
       larger_2048,
       ""},
      {"11-gap", "5.3", "The difference grows with the network", {"11a-seeds", "11b-seeds"}, false, gap_grows, ""},
      {"choices",
       "ours",
       "What basic RECN loses depends on placement and up phase by a factor of 1.5 or more",
       {"choices"},
       false,
       placement_matters,
       ""},
      {"fits", "ours", "What the two fits change", {"fits"}, true, fits, ""},
  };
}

}  // namespace

extern const StudyRow row_congestion_trees;
const StudyRow row_congestion_trees{"congestion-trees", claims};

}  // namespace banyan::study::congestion_trees
