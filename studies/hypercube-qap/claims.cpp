// The claims of Buzzard and Mudge (Short Latency Routing for Hypercube Multiprocessors) in our own short words, as
// checks over the measured figures. What "significantly", "about equal" and "light" mean stands here, once.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "banyan/study/study.hpp"

namespace banyan::study::hypercube_qap {
namespace {

constexpr double kSignificantly =
    0.2;  ///< "significantly", "much better": by a fifth; "small", "minor", "about equal": less
constexpr double kNegligible = 0.05;  ///< "negligible", "minimal": within 5 %
constexpr double kSharply = 0.25;     ///< "rises sharply": by a quarter
constexpr double kKnee = 2.0;         ///< beyond a knee data take twice what they take at the lightest load ...
constexpr double kBefore = 1.25;      ///< ... and at half of that load hardly more: a straight line would give 1.5
constexpr double kMuch = 0.5;         ///< "much of this difference": half
constexpr double kDelivered = 0.97;   ///< less is saturated ...
constexpr double kInFlight = 30.0;    ///< ... and so are more messages per node on their way
constexpr double kHeavy = 1536.0;     ///< cases A to C are moderate to heavy, in intervals of messages of 512 bytes
constexpr double kLight = 5120.0;     ///< cases G to I are light

const std::string kFirst = "message_latency_first";
const std::string kLast = "message_latency_last";
const std::vector<std::string> kBoth{kFirst, kLast};

double number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

std::string value_of(const Selection& at, const std::string& axis) {
  for (const auto& [name, text] : at) {
    if (name == axis) return text;
  }
  return "";
}

/// The interval of a point as one of messages of 512 bytes: Figures 2 and 4 have time scaled by 4.
double load_of(const std::string& figure, const Selection& at) {
  return number(value_of(at, "interval")) / (figure == "2" || figure == "4" ? 4.0 : 1.0);
}
std::string case_of(double interval) {
  constexpr std::array<double, 9> kCases{1024, 1280, 1536, 2048, 2560, 3072, 5120, 7168, 9216};
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    if (kCases[i] == interval) return std::string(1, static_cast<char>('A' + i));
  }
  return fmt::format("{}", interval);
}

/// A measured value; beyond saturation it is larger than all others.
struct Value {
  bool saturated = false;
  Estimate mean;
};

Value value(const View& view, const std::string& figure, const Selection& at, const std::string& metric) {
  const api::Result& run = view.result(figure, at);
  if (run.verdict == api::Verdict::finished) return {false, Estimate::unknown()};
  if (run.verdict != api::Verdict::steady) return {true, {}};
  const Estimate accepted = view.at(figure, at, "accepted_load");
  const Estimate offered = view.at(figure, at, "offered_load");
  const Estimate latency = view.at(figure, at, "packet_latency");
  if (!accepted.known || !offered.known || !latency.known) return {false, Estimate::unknown()};
  const double in_flight = latency.mean / number(value_of(at, "interval"));
  if (accepted.mean < kDelivered * offered.mean || in_flight > kInFlight) return {true, {}};
  return {false, view.at(figure, at, metric)};
}
std::string words(const Value& v) { return v.saturated ? "saturated" : to_string(v.mean); }

Decision better(const Value& a, const Value& b, double margin = 0.0) {
  if (a.saturated && b.saturated) return Decision::undecided;
  if (a.saturated) return b.mean.known ? Decision::fails : Decision::undecided;
  if (b.saturated) return a.mean.known ? Decision::holds : Decision::undecided;
  return less(a.mean, b.mean, margin);
}
Decision about_equal(const Value& a, const Value& b, double tolerance) {
  if (a.saturated && b.saturated) return Decision::undecided;
  if (a.saturated || b.saturated) return (a.saturated ? b : a).mean.known ? Decision::fails : Decision::undecided;
  return equal_within(a.mean, b.mean, tolerance);
}

/// Compares two series of a figure at every load that `of` takes.
template <class Of, class Decide>
void compare(const View& view, Tally& tally, const std::string& figure, const std::string& a, const std::string& b,
             const std::vector<std::string>& metrics, Of&& of, Decide&& decide) {
  for (const Selection& at : view.grid(figure, {"interval"}, {{"series", a}})) {
    const double load = load_of(figure, at);
    if (!of(load)) continue;
    for (const std::string& metric : metrics) {
      tally.add({{"Figure", figure}, {"case", case_of(load)}, {"", metric == kFirst ? "first" : "last"}},
                decide(value(view, figure, with(at, "series", a), metric),
                       value(view, figure, with(at, "series", b), metric)));
    }
  }
}
bool heavy(double interval) { return interval <= kHeavy; }
bool light(double interval) { return interval >= kLight; }
bool any(double) { return true; }

/// first / last of both series at one load.
std::string pair_at(const View& view, const std::string& figure, const std::string& a, const std::string& b,
                    double interval) {
  const Selection at{{"interval", fmt::format("{}", interval)}};
  const auto both = [&](const std::string& series) {
    return words(value(view, figure, with(at, "series", series), kFirst)) + " / " +
           words(value(view, figure, with(at, "series", series), kLast));
  };
  return fmt::format("first / last at case {}: {} against {}", case_of(load_of(figure, at)), both(a), both(b));
}

// --- QAP against K(K-1) -------------------------------------------------------------------------------------------

Outcome equal_lines_heavy(const View& view) {
  Tally tally;
  for (const char* figure : {"3", "4"}) {
    compare(view, tally, figure, "qap", "kk1_two", kBoth, heavy,
            [](const Value& a, const Value& b) { return better(a, b, kSignificantly); });
  }
  return tally.outcome(pair_at(view, "3", "qap", "kk1_two", 2048));
}

Outcome equal_lines_light(const View& view) {
  Tally tally;
  for (const char* figure : {"3", "4"}) {
    compare(view, tally, figure, "qap", "kk1_two", kBoth, light,
            [](const Value& a, const Value& b) { return about_equal(a, b, kSignificantly); });
  }
  return tally.outcome(pair_at(view, "3", "qap", "kk1_two", 9216));
}

Outcome unequal_lines_heavy(const View& view) {
  Tally tally;
  for (const char* figure : {"1", "2"}) {
    compare(view, tally, figure, "qap", "kk1_four", kBoth, heavy,
            [](const Value& a, const Value& b) { return better(a, b, kSignificantly); });
  }
  return tally.outcome(pair_at(view, "1", "qap", "kk1_four", 1536));
}

Outcome unequal_lines_heavy_first(const View& view) {
  Tally tally;
  for (const char* figure : {"1", "2"}) {
    compare(view, tally, figure, "qap", "kk1_four", {kFirst}, heavy,
            [](const Value& a, const Value& b) { return better(a, b, kSignificantly); });
  }
  return tally.outcome(pair_at(view, "2", "qap", "kk1_four", 8192));
}

Outcome unequal_lines_light(const View& view) {
  Tally tally;
  compare(view, tally, "1", "qap", "kk1_four", kBoth, light,
          [](const Value& a, const Value& b) { return better(b, a); });
  return tally.outcome(pair_at(view, "1", "qap", "kk1_four", 9216));
}

Outcome gap(const View& view) {
  Tally tally;
  double most = 0.0;
  for (const auto& pair : std::vector<std::pair<std::string, std::string>>{
           {"1", "kk1_four"}, {"2", "kk1_four"}, {"3", "kk1_two"}, {"4", "kk1_two"}}) {
    const std::string& figure = pair.first;
    const std::string& other = pair.second;
    for (const Selection& at : view.grid(figure, {"interval"}, {{"series", "qap"}})) {
      const auto of = [&](const std::string& series) -> Value {
        const Value first = value(view, figure, with(at, "series", series), kFirst);
        if (first.saturated) return first;
        return {false, view.at(figure, with(at, "series", series), kLast) - first.mean};
      };
      const Value qap = of("qap");
      const Value circuit = of(other);
      const Selection where{{"Figure", figure}, {"case", case_of(load_of(figure, at))}};
      if (qap.saturated || circuit.saturated) {
        tally.add(where, better(qap, circuit));
        continue;
      }
      most = std::max(most, qap.mean.mean / circuit.mean.mean);
      tally.add(where, less(qap.mean, 4.0 * circuit.mean));
    }
  }
  return tally.outcome(fmt::format("largest ratio of the gaps {:.2f}", most));
}

Outcome four_lines(const View& view) {
  // The sign of the comparison is that of Figure 3.
  Tally tally;
  for (const Selection& at : view.grid("four-lines", {"interval"}, {{"series", "qap4"}})) {
    for (const std::string& metric : kBoth) {
      const auto sign = [&](const std::string& figure, const std::string& a, const std::string& b) {
        return better(value(view, figure, with(at, "series", a), metric),
                      value(view, figure, with(at, "series", b), metric));
      };
      tally.add({{"case", case_of(load_of("3", at))}, {"", metric == kFirst ? "first" : "last"}},
                alike(sign("four-lines", "qap4", "kk1_four"), sign("3", "qap", "kk1_two")));
    }
  }
  return tally.outcome(pair_at(view, "four-lines", "qap4", "kk1_four", 2048));
}

// --- buffers, packets, the first step -----------------------------------------------------------------------------

Outcome buffers_above(const View& view) {
  Tally tally;
  for (const Selection& at : view.grid("5", {"interval"}, {})) {
    for (const std::string& metric : kBoth) {
      for (const auto& [fewer, more] : std::vector<std::pair<std::string, std::string>>{
               {"3", "4"}, {"3", "6"}, {"3", "8"}, {"4", "6"}, {"4", "8"}}) {
        if (!view.has_point("5", with(at, "buffers", fewer)) || !view.has_point("5", with(at, "buffers", more)))
          continue;
        tally.add({{"case", case_of(load_of("5", at))},
                   {"buffers", fewer + " to " + more},
                   {"", metric == kFirst ? "first" : "last"}},
                  about_equal(value(view, "5", with(at, "buffers", fewer), metric),
                              value(view, "5", with(at, "buffers", more), metric), kNegligible));
      }
    }
  }
  const Selection busy{{"interval", "1536"}};
  return tally.outcome(fmt::format("last at case C with 3 and 8: {} and {}",
                                   words(value(view, "5", with(busy, "buffers", "3"), kLast)),
                                   words(value(view, "5", with(busy, "buffers", "8"), kLast))));
}

/// An impact, and a small one: more than nothing, and less than a fifth.
Outcome buffers_below(const View& view) {
  Tally tally;
  for (const Selection& at : view.grid("5", {"interval"}, {})) {
    if (!heavy(load_of("5", at))) continue;
    const Value few = value(view, "5", with(at, "buffers", "1"), kLast);
    const Value enough = value(view, "5", with(at, "buffers", "4"), kLast);
    const Decision impact = better(enough, few);
    Decision small = Decision::undecided;
    if (!few.saturated && !enough.saturated) small = less(few.mean, (1 + kSignificantly) * enough.mean);
    if (few.saturated && !enough.saturated && enough.mean.known) small = Decision::fails;
    tally.add({{"case", case_of(load_of("5", at))}}, both(impact, small));
  }
  const auto last = [&](const char* interval, const char* buffers) {
    return words(value(view, "5", {{"interval", interval}, {"buffers", buffers}}, kLast));
  };
  return tally.outcome(fmt::format("last with 1 and 4 at case A: {} and {}, at case C: {} and {}", last("1024", "1"),
                                   last("1024", "4"), last("1536", "1"), last("1536", "4")));
}

std::string sizes_at(const View& view, const std::string& interval, const std::string& figure = "6") {
  std::string text;
  for (const std::string& p : view.values(figure, "payload")) {
    const Selection at{{"interval", interval}, {"payload", p}};
    text += fmt::format("{}P = {}: {} / {}", text.empty() ? "" : ", ", p, words(value(view, figure, at, kFirst)),
                        words(value(view, figure, at, kLast)));
  }
  return "first / last at case " + case_of(number(interval)) + ": " + text;
}

Tally over_sizes(const View& view, const std::vector<std::pair<std::string, std::string>>& steps, bool (*of)(double),
                 const std::string& metric, const std::function<Decision(const Value&, const Value&)>& decide,
                 const std::string& figure = "6") {
  Tally tally;
  for (const Selection& at : view.grid(figure, {"interval"}, {})) {
    if (!of(load_of("6", at))) continue;
    for (const auto& [small, large] : steps) {
      if (!view.has_point(figure, with(at, "payload", small)) || !view.has_point(figure, with(at, "payload", large)))
        continue;
      tally.add({{"case", case_of(load_of("6", at))}, {"P", small + " to " + large}},
                decide(value(view, figure, with(at, "payload", small), metric),
                       value(view, figure, with(at, "payload", large), metric)));
    }
  }
  return tally;
}
const std::vector<std::pair<std::string, std::string>> kAbove{{"64", "128"}, {"128", "256"}, {"64", "256"}};

Outcome larger_first(const View& view) {
  return over_sizes(view, kAbove, any, kFirst, [](const Value& s, const Value& l) { return better(s, l); })
      .outcome(sizes_at(view, "2048"));
}
Outcome larger_last(const View& view) {
  return over_sizes(view, kAbove, any, kLast, [](const Value& s, const Value& l) { return better(l, s); })
      .outcome(sizes_at(view, "9216"));
}
Outcome larger_last_cut_through(const View& view) {
  return over_sizes(
             view, kAbove, any, kLast, [](const Value& s, const Value& l) { return better(l, s); }, "6-cut-through")
      .outcome(sizes_at(view, "2048", "6-cut-through"));
}
Outcome smaller_last(const View& view) {
  return over_sizes(view, {{"16", "64"}, {"32", "64"}}, any, kLast,
                    [](const Value& s, const Value& l) { return better(l, s, kSharply / (1.0 + kSharply)); })
      .outcome(sizes_at(view, "3072"));
}
Outcome small_at_light_load(const View& view) {
  return over_sizes(view, {{"32", "64"}}, light, kFirst,
                    [](const Value& s, const Value& l) { return better(s, l, kNegligible); })
      .outcome(sizes_at(view, "9216"));
}

/// What packets of 32 bytes gain of what the first data of QAP come later than those of K(K-1).
Outcome recovers_much(const View& view) {
  Tally tally;
  std::string detail;
  for (const Selection& at : view.grid("6", {"interval"}, {{"payload", "64"}})) {
    if (!light(load_of("6", at))) continue;
    const Value usual = value(view, "6", with(at, "payload", "64"), kFirst);
    const Value small = value(view, "6", with(at, "payload", "32"), kFirst);
    const Value circuit = value(view, "1", with(at, "series", "kk1_four"), kFirst);
    if (usual.saturated || small.saturated || circuit.saturated) {
      tally.add({{"case", case_of(load_of("6", at))}}, Decision::undecided);
      continue;
    }
    const Estimate behind = usual.mean - circuit.mean;
    const Estimate gained = usual.mean - small.mean;
    // Where nothing is behind, there is nothing to recover.
    tally.add({{"case", case_of(load_of("6", at))}},
              both(greater(behind, Estimate::exactly(0)), greater(gained, kMuch * behind)));
    detail = fmt::format("at case {}: {} behind with 64 bytes, of which 32 bytes gain {}", case_of(load_of("6", at)),
                         to_string(behind), to_string(gained));
  }
  return tally.outcome(detail);
}

Outcome minor_first(const View& view) {
  return over_sizes(view, {{"16", "64"}, {"32", "64"}}, any, kFirst,
                    [](const Value& s, const Value& l) {
                      if (s.saturated || l.saturated) return better(s, l);
                      return both(less(s.mean, l.mean), less((1 - kSignificantly) * l.mean, s.mean));
                    })
      .outcome(sizes_at(view, "3072"));
}

Outcome ecube_inferior(const View& view) {
  Tally tally;
  compare(view, tally, "first-step", "qap", "ecube", kBoth, any,
          [](const Value& a, const Value& b) { return better(a, b); });
  return tally.outcome(pair_at(view, "first-step", "qap", "ecube", 2048));
}

Outcome random_inferior(const View& view) {
  Tally tally;
  compare(view, tally, "first-step", "qap", "random", kBoth, any,
          [](const Value& a, const Value& b) { return better(a, b); });
  return tally.outcome(pair_at(view, "first-step", "qap", "random", 2048));
}

// --- everything ---------------------------------------------------------------------------------------------------

Outcome degrees(const View& view) {
  // Who is better, at each degree as at degree 6.
  Tally tally;
  for (const char* other : {"kk1_four", "kk1_two"}) {
    for (const Selection& at : view.grid("degree", {"interval", "degree"}, {{"series", "qap"}})) {
      for (const std::string& metric : kBoth) {
        const auto sign = [&](const Selection& where) {
          return better(value(view, "degree", with(where, "series", "qap"), metric),
                        value(view, "degree", with(where, "series", other), metric));
        };
        if (same_value(value_of(at, "degree"), "6")) continue;  // the degree that the others are compared with
        tally.add({{"lines", std::string(other) == "kk1_two" ? "2" : "4"},
                   {"case", case_of(number(value_of(at, "interval")))},
                   {"", metric == kFirst ? "first" : "last"},
                   {"n", value_of(at, "degree")}},
                  alike(sign(at), sign({{"interval", value_of(at, "interval")}, {"degree", "6"}})));
      }
    }
  }
  return tally.outcome();
}

Outcome no_deadlock(const View& view) {
  Tally tally;
  std::size_t runs = 0;
  u64 messages = 0;
  for (const char* figure : {"1", "2", "3", "4", "5", "6", "first-step"}) {
    for (const Point& point : view.figure(figure).points) {
      if (point.series.find("kk1") != std::string::npos || point.series == "ecube") continue;
      Selection at{{"series", point.series}};
      for (const auto& axis : point.axes) at.push_back(axis);
      const api::Result& run = view.result(figure, at);
      ++runs;
      messages += static_cast<u64>(run.at("delivered_packets").mean);
      tally.add({{"Figure", figure}}, run.verdict == api::Verdict::deadlocked ? Decision::fails : Decision::holds);
    }
  }
  return tally.outcome(fmt::format("{} runs, {} messages delivered", runs, messages));
}

Outcome kk1_beats_k(const View& view) {
  Tally tally;
  compare(view, tally, "k", "kk1_four", "k", kBoth, any, [](const Value& a, const Value& b) { return better(a, b); });
  return tally.outcome(pair_at(view, "k", "kk1_four", "k", 2048));
}

/// A curve of the last data over the load, from light to heavy; loads are messages of 512 bytes per 1,000 cycles.
struct Curve {
  std::vector<double> loads;
  std::vector<Value> last;
};
Curve curve(const View& view, const std::string& figure, const std::string& series) {
  std::vector<std::string> intervals = view.values(figure, "interval", {{"series", series}});
  std::sort(intervals.begin(), intervals.end(),
            [](const std::string& a, const std::string& b) { return number(a) > number(b); });
  Curve found;
  for (const std::string& interval : intervals) {
    found.loads.push_back(1000.0 / load_of(figure, {{"interval", interval}}));
    found.last.push_back(value(view, figure, {{"series", series}, {"interval", interval}}, kLast));
  }
  return found;
}
/// Still below `factor` times what it takes at the lightest load.
Decision still_below(const Curve& curve, std::size_t i, double factor) {
  if (curve.last.front().saturated) return Decision::undecided;
  if (curve.last[i].saturated) return curve.last.front().mean.known ? Decision::fails : Decision::undecided;
  return less(curve.last[i].mean, factor * curve.last.front().mean);
}
Bracket knee(const Curve& curve) {
  constexpr double kBeyond = 1e6;  // no load of the sweep
  std::vector<Decision> answers;
  for (std::size_t i = 0; i < curve.loads.size(); ++i) answers.push_back(still_below(curve, i, kKnee));
  return bracket(curve.loads, answers, kBeyond);
}
/// A bend, and not a straight line: at half of the load of the knee, or just above it, the data take hardly longer.
Decision has_knee(const Curve& curve) {
  const Bracket found = knee(curve);
  Decision somewhere = Decision::fails;
  for (std::size_t i = 0; i < curve.loads.size(); ++i) {
    if (curve.loads[i] < found.next) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (2 * curve.loads[j] >= curve.loads[i]) somewhere = either(somewhere, still_below(curve, j, kBefore));
    }
    break;
  }
  if (somewhere == Decision::holds || somewhere == Decision::likely) return somewhere;
  // Where loads are open the knee may lie elsewhere.
  const bool open =
      std::any_of(curve.last.begin(), curve.last.end(), [](const Value& v) { return !v.saturated && !v.mean.known; });
  return open ? Decision::undecided : somewhere;
}

const std::vector<std::array<std::string, 2>> kCurves{{"1", "qap"}, {"1", "kk1_four"}, {"3", "kk1_two"},
                                                      {"2", "qap"}, {"2", "kk1_four"}, {"4", "kk1_two"}};

std::string knee_text(const View& view, const std::string& figure, const std::string& series) {
  const Bracket found = knee(curve(view, figure, series));
  if (found.next > 1e5) return fmt::format("Figure {} {}: none", figure, series);
  return fmt::format("Figure {} {}: case {}", figure, series, case_of(std::round(1000.0 / found.next)));
}

Outcome knees(const View& view) {
  Tally tally;
  std::string text;
  for (const auto& [figure, series] : kCurves) {
    tally.add({{"Figure", figure}, {"", series}}, has_knee(curve(view, figure, series)));
    text += (text.empty() ? "" : "; ") + knee_text(view, figure, series);
  }
  return tally.outcome("lightest load at which the last data take twice what they take at case I: " + text);
}

/// Most apparent for K(K-1) on as many lines as QAP: there its knee is at the lightest load.
Outcome knee_strongest(const View& view) {
  Tally tally;
  std::string text;
  for (const auto& [equal, unequal] :
       {std::pair(std::string("3"), std::string("1")), std::pair(std::string("4"), std::string("2"))}) {
    const Bracket circuit = knee(curve(view, equal, "kk1_two"));
    tally.add({{"Figure", equal}, {"", "QAP"}}, later(knee(curve(view, equal, "qap")), circuit));
    tally.add({{"Figure", equal}, {"", "K(K-1), four lines"}}, later(knee(curve(view, unequal, "kk1_four")), circuit));
    text += fmt::format("{}{}; {}; {}", text.empty() ? "" : "; ", knee_text(view, equal, "kk1_two"),
                        knee_text(view, equal, "qap"), knee_text(view, unequal, "kk1_four"));
  }
  return tally.outcome(text);
}

Outcome receivers(const View& view, const std::string& other) {
  Tally tally;
  for (const Selection& at : view.grid("receivers", {"interval"}, {{"series", "qap"}})) {
    tally.add({{"case", case_of(load_of("1", at))}},
              better(value(view, "receivers", with(at, "series", "qap"), "completion_time"),
                     value(view, "receivers", with(at, "series", other), "completion_time")));
  }
  const Selection at{{"interval", "2048"}};
  return tally.outcome(fmt::format("completion at case D: {} against {}; QAP's receivers stall for {} per message",
                                   words(value(view, "receivers", with(at, "series", "qap"), "completion_time")),
                                   words(value(view, "receivers", with(at, "series", other), "completion_time")),
                                   words(value(view, "receivers", with(at, "series", "qap"), "receiver_stall"))));
}
Outcome receivers_equal(const View& view) { return receivers(view, "kk1_two"); }
Outcome receivers_unequal(const View& view) { return receivers(view, "kk1_four"); }

Outcome stalls(const View& view) {
  Tally tally;
  double most = 0.0;
  for (const Selection& at : view.grid("receivers", {"interval"}, {{"series", "qap"}})) {
    const Value stall = value(view, "receivers", with(at, "series", "qap"), "receiver_stall");
    if (stall.saturated) {
      tally.add({{"case", case_of(load_of("1", at))}}, Decision::undecided);
      continue;
    }
    const Estimate done = view.at("receivers", with(at, "series", "qap"), "completion_time");
    most = std::max(most, stall.mean.mean / done.mean);
    tally.add({{"case", case_of(load_of("1", at))}}, less(stall.mean, kNegligible * done));
  }
  return tally.outcome(fmt::format("at most {:.1f} % of the completion time", 100.0 * most));
}

/// "The comparison of Figure 1 stays when one choice changes": who is better at each case.
Outcome sensitivity(const View& view) {
  Tally tally;
  const auto note = [&](const std::string& name, const std::string& figure, const std::string& qap,
                        const std::string& circuit_figure, const std::string& circuit) {
    for (const Selection& at : view.grid("1", {"interval"}, {{"series", "qap"}})) {
      for (const std::string& metric : kBoth) {
        const Decision base = better(value(view, "1", with(at, "series", "qap"), metric),
                                     value(view, "1", with(at, "series", "kk1_four"), metric));
        const Decision other = better(value(view, figure, with(at, "series", qap), metric),
                                      value(view, circuit_figure, with(at, "series", circuit), metric));
        tally.add({{"", name}, {"", metric == kFirst ? "first" : "last"}, {"case", case_of(load_of("1", at))}},
                  alike(base, other));
      }
    }
  };
  note("one port", "readings", "one_port", "1", "kk1_four");
  note("t_l pipelined", "readings", "pipelined", "1", "kk1_four");
  note("passing packets first", "readings", "always", "1", "kk1_four");
  note("cut-through", "readings", "cut_through", "1", "kk1_four");
  note("circuits without limit per node", "1", "qap", "circuit-readings", "kk1_unlimited");
  note("retry overhead 20", "1", "qap", "circuit-readings", "kk1_quick");
  note("retry overhead 400", "1", "qap", "circuit-readings", "kk1_slow");
  note("variance", "spread", "qap_variance", "spread", "kk1_variance");
  return tally.outcome("who is better in Figure 1, with one choice changed");
}

std::vector<Claim> claims() {
  const std::string saturated = "at the case where a curve saturates its mean is known too badly to tell";
  const std::string assumed = "t_l = 10, H = 8, retry overhead 100: the source of the paper's timing is not at hand";
  return {
      {"equal-lines-heavy",
       "4",
       "Equal lines: QAP is significantly better at moderate to heavy load",
       {"3", "4"},
       false,
       equal_lines_heavy,
       "significantly: by a fifth, at cases A to C; " + saturated + "; " + assumed,
       Mode::standard},
      {"equal-lines-light",
       "4",
       "Equal lines: about equal at light load",
       {"3", "4"},
       false,
       equal_lines_light,
       "within a fifth at cases G to I; at zero load QAP stores and forwards a first packet at every hop, so that its "
       "first data must come later"},
      {"unequal-lines-heavy",
       "4",
       "K(K-1) with twice the lines: QAP is still much better at moderate to heavy load",
       {"1", "2"},
       false,
       unequal_lines_heavy,
       "much: by a fifth; first and last, cases A to C"},
      {"unequal-lines-heavy-first",
       "4",
       "The same of the first data alone",
       {"1", "2"},
       false,
       unequal_lines_heavy_first,
       ""},
      {"unequal-lines-light",
       "4",
       "K(K-1) with twice the lines is better at light load and short messages",
       {"1"},
       true,
       unequal_lines_light,
       "cases G to I"},
      {"gap",
       "4",
       "QAP's gap between first and last never exceeds four times that of K(K-1)",
       {"1", "2", "3", "4"},
       false,
       gap,
       "beyond saturation a gap is larger than all others; " + saturated,
       Mode::standard},
      {"buffers-above",
       "4.1",
       "From 3 or 4 buffers per neighbour on more gain next to nothing",
       {"5"},
       false,
       buffers_above,
       "within 5 %"},
      {"buffers-below",
       "4.1",
       "Few buffers have a small impact under heavy load",
       {"5"},
       false,
       buffers_below,
       "small: more than nothing and less than a fifth; 1 buffer per neighbour against 4, cases A to C"},
      {"larger-first",
       "4.1",
       "Above 64 bytes larger packets raise the first packet's time",
       {"6"},
       true,
       larger_first,
       ""},
      {"larger-last",
       "4.1",
       "Above 64 bytes larger packets lower the last packet's time",
       {"6"},
       false,
       larger_last,
       ""},
      {"larger-last-cut-through",
       "4.1",
       "The same when packets go on as soon as their header is there",
       {"6-cut-through"},
       false,
       larger_last_cut_through,
       "an assumption: the paper does not say that packets are cut through"},
      {"smaller-last",
       "4.1",
       "Below 64 bytes the last packet's time rises sharply",
       {"6"},
       false,
       smaller_last,
       "sharply: by a quarter"},
      {"small-at-light-load",
       "4",
       "Packets of 32 bytes help the first data at light load",
       {"6"},
       true,
       small_at_light_load,
       "help: by more than 5 %"},
      {"recovers-much",
       "4",
       "Packets of 32 bytes recover much of what QAP's first data come later than K(K-1)'s at light load",
       {"1", "6"},
       false,
       recovers_much,
       "much: half"},
      {"minor-first",
       "4.1",
       "Below 64 bytes the first packet's time decreases only a little",
       {"6"},
       false,
       minor_first,
       "a little: by less than a fifth"},
      {"random-inferior",
       "3",
       "A random first step is inferior to the shortest queue",
       {"first-step"},
       true,
       random_inferior,
       ""},
      {"ecube-inferior",
       "3",
       "Packets that are routed by e-cube are inferior to QAP",
       {"first-step"},
       false,
       ecube_inferior,
       ""},
      {"degrees",
       "4",
       "Degrees up to 8 behave alike",
       {"degree"},
       false,
       degrees,
       "who is better is the same as at degree 6"},
      {"no-deadlock",
       "3",
       "QAP does not deadlock",
       {"1", "2", "3", "4", "5", "6", "first-step"},
       true,
       no_deadlock,
       "without the take-over rule it does: docs/study/hypercube_qap.md"},
      {"kk1-beats-k", "4", "K(K-1) is better than K", {"k"}, true, kk1_beats_k, "", Mode::standard},
      {"four-lines",
       "4",
       "The equal comparison on four lines resembles that on two",
       {"3", "four-lines"},
       false,
       four_lines,
       "who is better, at every case"},
      {"knees",
       "4",
       "Every curve has a knee",
       {"1", "2", "3", "4"},
       false,
       knees,
       "a knee: twice the time of the lightest load, and at half of that load less than a quarter more"},
      {"knee-strongest",
       "4",
       "The knee is most apparent for K(K-1) on equal lines",
       {"1", "2", "3", "4"},
       false,
       knee_strongest,
       "most apparent: it is met at the lightest load"},
      {"receivers-equal",
       "4",
       "Equal lines: receivers at a quarter of the bandwidth are through sooner with QAP",
       {"receivers"},
       false,
       receivers_equal,
       "the paper only estimates it"},
      {"receivers-unequal",
       "4",
       "Twice the lines for K(K-1): the same",
       {"receivers"},
       false,
       receivers_unequal,
       "the paper only estimates it"},
      {"stalls",
       "4",
       "Such receivers hardly ever wait for QAP's packets",
       {"receivers"},
       false,
       stalls,
       "stalls below 5 % of the completion time"},
      {"sensitivity",
       "ours",
       "Who is better in Figure 1 does not hang on our open choices",
       {"1", "readings", "circuit-readings", "spread"},
       false,
       sensitivity,
       "one choice changed at a time"},
  };
}

}  // namespace

extern const StudyRow row_hypercube_qap;
const StudyRow row_hypercube_qap{"hypercube-qap", claims};

}  // namespace banyan::study::hypercube_qap
