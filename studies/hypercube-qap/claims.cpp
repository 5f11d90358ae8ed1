// The claims of Buzzard and Mudge (Short Latency Routing for Hypercube Multiprocessors) in our own short words, as
// checks over the measured figures. What "significantly", "about equal" and "light" mean stands here, once.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>

#include "banyan/study/study.hpp"

namespace banyan::study::hypercube_qap {
namespace {

constexpr double kSignificantly = 0.2;  ///< "significantly better": by a fifth
constexpr double kNegligible = 0.05;    ///< "negligible", "minimal": within 5 %
constexpr double kSharply = 0.25;       ///< "rises sharply": by a quarter
constexpr double kDelivered = 0.97;     ///< less is saturated ...
constexpr double kInFlight = 30.0;      ///< ... and so are more messages per node on their way
constexpr double kHeavy = 1536.0;       ///< cases A to C are moderate to heavy, in intervals of messages of 512 bytes
constexpr double kLight = 5120.0;       ///< cases G to I are light

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
  if (run.verdict != api::Verdict::steady) return {true, {}};
  const double delivered = view.at(figure, at, "accepted_load").mean / view.at(figure, at, "offered_load").mean;
  const double in_flight = view.at(figure, at, "packet_latency").mean / number(value_of(at, "interval"));
  if (delivered < kDelivered || in_flight > kInFlight) return {true, {}};
  return {false, view.at(figure, at, metric)};
}
std::string words(const Value& v) { return v.saturated ? "saturated" : to_string(v.mean); }

Decision better(const Value& a, const Value& b, double margin = 0.0) {
  if (a.saturated) return b.saturated ? Decision::undecided : Decision::fails;
  return b.saturated ? Decision::holds : less(a.mean, b.mean, margin);
}
Decision alike(const Value& a, const Value& b, double tolerance) {
  if (a.saturated || b.saturated) return a.saturated == b.saturated ? Decision::undecided : Decision::fails;
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
    // On the scale of the figures, whose curves go up to the knee: the difference beside twice the larger value.
    compare(view, tally, figure, "qap", "kk1_two", kBoth, light,
            [](const Value& a, const Value& b) { return alike(a, b, 0.5); });
  }
  return tally.outcome(pair_at(view, "3", "qap", "kk1_two", 9216));
}

Outcome unequal_lines_heavy(const View& view) {
  Tally tally;
  for (const char* figure : {"1", "2"}) {
    compare(view, tally, figure, "qap", "kk1_four", kBoth, heavy,
            [](const Value& a, const Value& b) { return better(a, b); });
  }
  return tally.outcome(pair_at(view, "1", "qap", "kk1_four", 1536));
}

Outcome unequal_lines_heavy_first(const View& view) {
  Tally tally;
  for (const char* figure : {"1", "2"}) {
    compare(view, tally, figure, "qap", "kk1_four", {kFirst}, heavy,
            [](const Value& a, const Value& b) { return better(a, b); });
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
      if (qap.saturated || circuit.saturated) continue;
      most = std::max(most, qap.mean.mean / circuit.mean.mean);
      tally.add({{"Figure", figure}, {"case", case_of(load_of(figure, at))}}, less(qap.mean, 4.0 * circuit.mean));
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
      const Decision four = sign("four-lines", "qap4", "kk1_four");
      const Decision two = sign("3", "qap", "kk1_two");
      const bool known = four != Decision::undecided && two != Decision::undecided;
      tally.add({{"case", case_of(load_of("3", at))}, {"", metric == kFirst ? "first" : "last"}},
                !known        ? Decision::undecided
                : four == two ? Decision::holds
                              : Decision::fails);
    }
  }
  return tally.outcome(pair_at(view, "four-lines", "qap4", "kk1_four", 2048));
}

// --- buffers, packets, the first step -----------------------------------------------------------------------------

Outcome buffers_above(const View& view) {
  Tally tally;
  for (const Selection& at : view.grid("5", {"interval"}, {})) {
    for (const std::string& metric : kBoth) {
      for (const auto& [fewer, more] :
           std::vector<std::pair<std::string, std::string>>{{"3", "4"}, {"4", "6"}, {"6", "8"}, {"4", "8"}}) {
        if (!view.has_point("5", with(at, "buffers", fewer)) || !view.has_point("5", with(at, "buffers", more)))
          continue;
        tally.add({{"case", case_of(load_of("5", at))},
                   {"buffers", fewer + " to " + more},
                   {"", metric == kFirst ? "first" : "last"}},
                  alike(value(view, "5", with(at, "buffers", fewer), metric),
                        value(view, "5", with(at, "buffers", more), metric), kNegligible));
      }
    }
  }
  const Selection busy{{"interval", "1536"}};
  return tally.outcome(fmt::format("last at case C with 3 and 8: {} and {}",
                                   words(value(view, "5", with(busy, "buffers", "3"), kLast)),
                                   words(value(view, "5", with(busy, "buffers", "8"), kLast))));
}

Outcome buffers_below(const View& view) {
  Tally tally;
  for (const Selection& at : view.grid("5", {"interval"}, {})) {
    if (!heavy(load_of("5", at))) continue;
    tally.add({{"case", case_of(load_of("5", at))}}, better(value(view, "5", with(at, "buffers", "4"), kLast),
                                                            value(view, "5", with(at, "buffers", "1"), kLast)));
  }
  const Selection busy{{"interval", "2048"}};
  return tally.outcome(fmt::format("last at case D with 1 and 4: {} and {}",
                                   words(value(view, "5", with(busy, "buffers", "1"), kLast)),
                                   words(value(view, "5", with(busy, "buffers", "4"), kLast))));
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
  return over_sizes(view, {{"32", "64"}}, light, kFirst, [](const Value& s, const Value& l) { return better(s, l); })
      .outcome(sizes_at(view, "9216"));
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
        const Decision here = sign(at);
        const Decision six = sign({{"interval", value_of(at, "interval")}, {"degree", "6"}});
        const bool known = here != Decision::undecided && six != Decision::undecided;
        tally.add({{"lines", std::string(other) == "kk1_two" ? "2" : "4"},
                   {"case", case_of(number(value_of(at, "interval")))},
                   {"", metric == kFirst ? "first" : "last"},
                   {"n", value_of(at, "degree")}},
                  !known        ? Decision::undecided
                  : here == six ? Decision::holds
                                : Decision::fails);
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

Outcome knees(const View& view) {
  // The knee: from where on the last data take half as long again as at the lightest load; twice is told too.
  Tally tally;
  std::string text;
  for (const auto& pair : std::vector<std::pair<std::string, std::string>>{
           {"1", "qap"}, {"1", "kk1_four"}, {"3", "kk1_two"}, {"2", "qap"}, {"2", "kk1_four"}, {"4", "kk1_two"}}) {
    const std::string& figure = pair.first;
    const std::string& series = pair.second;
    const std::vector<std::string> loads = view.values(figure, "interval", {{"series", series}});
    const auto last = [&](const std::string& i) {
      return value(view, figure, {{"series", series}, {"interval", i}}, kLast);
    };
    const Value idle = last(loads.back());
    const auto from = [&](double factor) {
      std::string knee;
      for (const std::string& i : loads) {
        const Value v = last(i);
        if (v.saturated || v.mean.mean > factor * idle.mean.mean) knee = i;
      }
      return knee.empty() ? "none" : case_of(load_of(figure, {{"interval", knee}}));
    };
    const std::string half = from(1.5);
    tally.add({{"Figure", figure}, {"", series}}, half == "none" ? Decision::fails : Decision::holds);
    text += fmt::format("{}Figure {} {}: {}, {}", text.empty() ? "" : "; ", figure, series, half, from(2.0));
  }
  return tally.outcome("lightest load at which the last data take 1.5 times, and twice, what they take at case I: " +
                       text);
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
    if (stall.saturated) continue;
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
        const bool known = base != Decision::undecided && other != Decision::undecided;
        tally.add({{"", name}, {"", metric == kFirst ? "first" : "last"}, {"case", case_of(load_of("1", at))}},
                  !known          ? Decision::undecided
                  : base == other ? Decision::holds
                                  : Decision::fails);
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
  const std::string assumed = "t_l = 10, H = 8, retry overhead 100: the source of the paper's timing is not at hand";
  return {
      {"equal-lines-heavy",
       "4",
       "Equal lines: QAP is significantly better at moderate to heavy load",
       {"3", "4"},
       true,
       equal_lines_heavy,
       "significantly: by a fifth, at cases A to C; " + assumed},
      {"equal-lines-light",
       "4",
       "Equal lines: about equal at light load",
       {"3", "4"},
       false,
       equal_lines_light,
       "within a factor of 2 at cases G to I, as on the scale of the paper's figures; at zero load QAP stores and "
       "forwards a first packet at every hop, so that its first data must come later"},
      {"unequal-lines-heavy",
       "4",
       "K(K-1) with twice the lines: QAP is still better at moderate to heavy load",
       {"1", "2"},
       true,
       unequal_lines_heavy,
       "first and last, cases A to C"},
      {"unequal-lines-heavy-first",
       "4",
       "The same of the first data alone",
       {"1", "2"},
       true,
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
       true,
       gap,
       "where neither is saturated"},
      {"buffers-above",
       "4.1",
       "From 3 or 4 buffers per neighbour on more gain next to nothing",
       {"5"},
       true,
       buffers_above,
       "within 5 %"},
      {"buffers-below", "4.1", "Few buffers cost a little under heavy load", {"5"}, true, buffers_below, ""},
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
       ""},
      {"random-inferior",
       "3",
       "A random first step is inferior to the shortest queue",
       {"first-step"},
       true,
       random_inferior,
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
      {"kk1-beats-k", "4", "K(K-1) is better than K", {"k"}, true, kk1_beats_k, ""},
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
       "knee: half as long again as at the lightest load"},
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
