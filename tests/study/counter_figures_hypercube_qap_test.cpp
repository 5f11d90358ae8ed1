// Can every claim of the hypercube study fail?
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "study/counter_figures.hpp"

namespace banyan::study::counter_figures_hypercube_qap_test {
namespace {

using test::Change;
using test::comparison;
using test::CounterFigure;
using test::line;
using test::together;
using test::World;

const std::string kFirst = "message_latency_first";
const std::string kLast = "message_latency_last";

/// Times of a curve at cases A to I, beside that at case I.
using Curve = std::array<double, 9>;
constexpr std::array<double, 9> kCases{1024, 1280, 1536, 2048, 2560, 3072, 5120, 7168, 9216};
/// Knees at case C, C and D.
constexpr Curve kQap{4, 3, 2.2, 1.2, 1.15, 1.12, 1.05, 1.02, 1};
constexpr Curve kFour{6, 4.5, 3.5, 1.2, 1.15, 1.12, 1.05, 1.02, 1};
constexpr Curve kTwo{8, 6, 5, 3, 1.2, 1.15, 1.05, 1.02, 1};

/// The case of a point: messages of 2048 bytes have time scaled by 4.
std::size_t case_of(const std::string& figure, const Point& point) {
  const double interval = World::number(point, "interval") / (figure == "2" || figure == "4" ? 4 : 1);
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    if (kCases[i] == interval) return i;
  }
  ADD_FAILURE() << "no case " << interval;
  return 0;
}

bool has_axis(const Point& point, const std::string& name) {
  return std::any_of(point.axes.begin(), point.axes.end(), [&](const auto& axis) { return axis.first == name; });
}

/// The time of the last data.
double time_of(const std::string& figure, const Point& point) {
  const std::size_t i = case_of(figure, point);
  const std::string& series = point.series;
  if (series == "kk1_two") return 1050 * kTwo[i];
  if (series == "k") return 1.1 * 850 * kFour[i];
  if (series == "qap4") return 0.9 * 850 * kFour[i];
  if (series.starts_with("kk1") || series == "full" || series == "ecube_circuit") return 850 * kFour[i];
  double time = 1000 * kQap[i];
  if (series == "random") time *= 1.2;
  if (series == "ecube") time *= 1.3;
  if (has_axis(point, "buffers") && World::number(point, "buffers") < 3) time *= 1.1;
  return time;
}

World paper() {
  World world("hypercube-qap", test::fake_run);
  const std::map<double, std::pair<double, double>> sizes{// by payload: factors of first and last
                                                          {16, {0.85, 1.8}},
                                                          {32, {0.9, 1.3}},
                                                          {64, {1, 1}},
                                                          {128, {1.3, 0.9}},
                                                          {256, {1.6, 0.8}}};
  for (const char* figure : {"1", "2", "3", "4", "5", "6", "6-cut-through", "first-step", "circuits", "k", "four-lines",
                             "degree", "receivers", "ports", "readings", "circuit-readings", "spread"}) {
    for (const Point* point : world.points(figure, {})) {
      const double last = time_of(figure, *point);
      std::pair<double, double> size{1, 1};
      if (has_axis(*point, "payload")) size = sizes.at(World::number(*point, "payload"));
      world.result().runs.at(point->run).verdict = api::Verdict::steady;
      world.set(*point, kFirst, 0.6 * last * size.first);
      world.set(*point, kLast, last * size.second);
      world.set(*point, "completion_time", point->series == "qap" ? 1000 : 1200);
      world.set(*point, "receiver_stall", 20);
      world.set(*point, "packet_latency", 100);
      world.set(*point, "offered_load", 0.3);
      world.set(*point, "accepted_load", 0.3);
      world.set(*point, "delivered_packets", 1000);
    }
  }
  return world;
}

Selection at(const std::string& series, const std::string& interval) {
  return {{"series", series}, {"interval", interval}};
}
Change ratio(const std::string& figure, const Selection& where, const std::string& metric, const Selection& differs,
             double factor) {
  return [=](World& world) { world.relate(figure, where, metric, differs, metric, factor); };
}
/// Plainly false, just false and just true ratios of one metric of two points.
CounterFigure ratios(const std::string& claim, const std::string& figure, const Selection& where,
                     const std::string& metric, const Selection& differs, double plainly, double barely, double just) {
  return {claim, ratio(figure, where, metric, differs, plainly), ratio(figure, where, metric, differs, barely),
          ratio(figure, where, metric, differs, just)};
}

/// The gap between first and last of QAP, `factor` times the four that K(K-1)'s gap allows: on four lines, where it is
/// the smaller.
Change gap(double factor) {
  return [=](World& world) {
    const Point& qap = *world.points("1", at("qap", "2048")).front();
    const Point& circuit = world.partner("1", qap, {{"series", "kk1_four"}});
    const double allowed = 4 * (world.get(circuit, kLast) - world.get(circuit, kFirst));
    world.set(qap, kLast, world.get(qap, kFirst) + factor * allowed);
  };
}

Change curve(const std::string& figure, const std::string& series, const Curve& times) {
  return [=](World& world) {
    for (const Point* point : world.points(figure, {{"series", series}})) {
      world.set(*point, kLast, 1000 * times[case_of(figure, *point)]);
    }
  };
}
/// A straight line over the load, and not a knee: twice the time at case D, half as long again at half of that load.
Curve straight() {
  Curve times{};
  const double idle = 1 / kCases[8];
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = 1 + 1.05 * (1 / kCases[i] - idle) / (1 / kCases[3] - idle);
  return times;
}

/// Packets of 32 bytes gain this part of what QAP is behind at the light loads.
Change recovered(double part) {
  return [=](World& world) {
    for (const char* interval : {"5120", "7168", "9216"}) {
      const double usual = world.get("6", {{"interval", interval}, {"payload", "64"}}, kFirst);
      const double circuit = world.get("1", at("kk1_four", interval), kFirst);
      world.set("6", {{"interval", interval}, {"payload", "32"}}, kFirst, usual - part * (usual - circuit));
    }
  };
}

Change deadlocks(const Selection& where, const std::string& figure = "1") {
  return [=](World& world) {
    for (const Point* point : world.points(figure, where)) {
      world.result().runs.at(point->run).verdict = api::Verdict::deadlocked;
    }
  };
}

/// QAP is far behind by first data that 32 bytes do not help, or not behind at all.
Change nothing_behind(double first_64, double first_32) {
  return [=](World& world) {
    for (const char* interval : {"5120", "7168", "9216"}) {
      world.set("1", at("kk1_four", interval), kFirst, 1500);
      world.set("6", {{"interval", interval}, {"payload", "64"}}, kFirst, first_64);
      world.set("6", {{"interval", interval}, {"payload", "32"}}, kFirst, first_32);
    }
  };
}

/// QAP has no steady state but at the lightest load, or not at the heaviest.
Change saturated(const std::vector<std::string>& figures, bool all_but_one) {
  return [=](World& world) {
    for (const std::string& figure : figures) {
      double lightest = 0.0;
      double heaviest = 1e9;
      for (const Point* point : world.points(figure, {{"series", "qap"}})) {
        lightest = std::max(lightest, World::number(*point, "interval"));
        heaviest = std::min(heaviest, World::number(*point, "interval"));
      }
      for (const Point* point : world.points(figure, {{"series", "qap"}})) {
        const double interval = World::number(*point, "interval");
        if (all_but_one ? interval == lightest : interval != heaviest) continue;
        world.saturate(figure, {{"series", "qap"}, {"interval", World::axis(*point, "interval")}},
                       {kFirst, kLast, "completion_time", "receiver_stall"});
      }
    }
  };
}

Change stalls(double part) {
  return [=](World& world) { world.set("receivers", {{"series", "qap"}}, "receiver_stall", 1000 * part); };
}

/// First and last data of one series `factor` times those of another, at every point.
Change both_data(const std::string& figure, const Selection& where, const Selection& differs, double factor) {
  return together({ratio(figure, where, kFirst, differs, factor), ratio(figure, where, kLast, differs, factor)});
}

/// Sets first and last data of a point of `figure` far above or far below `beside`, so that the comparison of QAP with
/// circuits comes out as the opposite of that in Figure 1.
Change reversed(const std::string& figure, const std::string& series, const std::string& beside_figure,
                const std::string& beside, bool circuit) {
  return [=](World& world) {
    for (const Point* point : world.points(figure, {{"series", series}})) {
      const std::string interval = World::axis(*point, "interval");
      for (const std::string& metric : {kFirst, kLast}) {
        const bool qap_is_better =
            world.get("1", at("qap", interval), metric) < world.get("1", at("kk1_four", interval), metric);
        const double other = world.get(beside_figure, at(beside, interval), metric);
        world.set(*point, metric, other * (qap_is_better == circuit ? 0.1 : 10));
      }
    }
  };
}

/// At degree 6 the better of QAP and circuits is the one that at all other degrees is the worse.
Change other_at_degree_six() {
  return [](World& world) {
    for (const Point* point : world.points("degree", {{"series", "qap"}, {"degree", "6"}})) {
      for (const std::string& metric : {kFirst, kLast}) {
        const double circuit = world.get(world.partner("degree", *point, {{"series", "kk1_two"}}), metric);
        world.set(*point, metric, world.get(*point, metric) < circuit ? 10 * circuit : 0.1 * circuit);
      }
    }
  };
}

/// Makes claims false at all of their points whose counter-figures change single ones.
void everywhere(std::vector<CounterFigure>& all) {
  const Selection qap{{"series", "qap"}};
  const Selection two{{"series", "kk1_two"}};
  const Selection four{{"series", "kk1_four"}};
  const auto is_false = [&](const std::string& claim, const std::vector<Change>& changes) {
    test::everywhere(all, claim, together(changes));
  };
  const auto sizes = [](const std::string& figure, const std::string& of, const std::string& beside,
                        const std::string& metric, double factor) {
    return ratio(figure, {{"payload", of}}, metric, {{"payload", beside}}, factor);
  };
  is_false("equal-lines-heavy", {both_data("3", qap, two, 2), both_data("4", qap, two, 2)});
  is_false("equal-lines-light", {both_data("3", qap, two, 2), both_data("4", qap, two, 2)});
  is_false("unequal-lines-heavy", {both_data("1", qap, four, 2), both_data("2", qap, four, 2)});
  is_false("unequal-lines-heavy-first", {both_data("1", qap, four, 2), both_data("2", qap, four, 2)});
  is_false("unequal-lines-light", {both_data("1", four, qap, 2)});
  is_false("four-lines", {both_data("four-lines", {{"series", "qap4"}}, four, 2)});
  is_false("gap", {[](World& world) {
             for (const char* figure : {"1", "2", "3", "4"}) world.scale(figure, {{"series", "qap"}}, kLast, 100);
           }});
  is_false("buffers-above", {line("5", {}, "buffers", kFirst, 1000, 100), line("5", {}, "buffers", kLast, 1000, 100)});
  is_false("buffers-below", {[](World& world) { world.saturate("5", {{"buffers", "1"}}, {kFirst, kLast}); }});
  is_false("larger-first", {sizes("6", "128", "64", kFirst, 0.5), sizes("6", "256", "64", kFirst, 0.25)});
  is_false("larger-last", {sizes("6", "128", "64", kLast, 2), sizes("6", "256", "64", kLast, 4)});
  is_false("larger-last-cut-through",
           {sizes("6-cut-through", "128", "64", kLast, 2), sizes("6-cut-through", "256", "64", kLast, 4)});
  is_false("smaller-last", {sizes("6", "16", "64", kLast, 0.5), sizes("6", "32", "64", kLast, 0.5)});
  is_false("small-at-light-load", {sizes("6", "32", "64", kFirst, 2)});
  is_false("minor-first", {sizes("6", "16", "64", kFirst, 0.5), sizes("6", "32", "64", kFirst, 0.5)});
  is_false("random-inferior", {both_data("first-step", qap, {{"series", "random"}}, 2)});
  is_false("ecube-inferior", {both_data("first-step", qap, {{"series", "ecube"}}, 2)});
  is_false("kk1-beats-k", {both_data("k", four, {{"series", "k"}}, 2)});
  is_false("degrees", {other_at_degree_six()});
  is_false("receivers-equal", {ratio("receivers", qap, "completion_time", two, 2)});
  is_false("receivers-unequal", {ratio("receivers", qap, "completion_time", four, 2)});
  std::vector<Change> all_deadlock;
  for (const std::string figure : {"1", "2", "3", "4", "5", "6"}) all_deadlock.push_back(deadlocks({}, figure));
  all_deadlock.push_back(deadlocks({}, "first-step"));
  is_false("no-deadlock", all_deadlock);
  const Curve flat{1, 1, 1, 1, 1, 1, 1, 1, 1};
  is_false("knees", {curve("1", "qap", flat), curve("1", "kk1_four", flat), curve("3", "kk1_two", flat),
                     curve("2", "qap", flat), curve("2", "kk1_four", flat), curve("4", "kk1_two", flat)});
  is_false("knee-strongest", {curve("3", "kk1_two", flat), curve("4", "kk1_two", flat)});
  std::vector<Change> opposite;
  for (const std::string series : {"one_port", "pipelined", "always", "cut_through"})
    opposite.push_back(reversed("readings", series, "1", "kk1_four", false));
  for (const std::string series : {"kk1_unlimited", "kk1_quick", "kk1_slow"})
    opposite.push_back(reversed("circuit-readings", series, "1", "qap", true));
  opposite.push_back(reversed("spread", "qap_variance", "spread", "kk1_variance", false));
  is_false("sensitivity", opposite);
}

std::vector<CounterFigure> figures() {
  const Selection two{{"series", "kk1_two"}};
  const Selection four{{"series", "kk1_four"}};
  const auto payload = [](const std::string& interval, const std::string& bytes) {
    return Selection{{"interval", interval}, {"payload", bytes}};
  };
  const Selection bytes_64{{"payload", "64"}};
  Curve below = kQap;  // never twice
  below[0] = below[1] = below[2] = 1.98;
  Curve above = below;
  above[0] = above[1] = above[2] = 2.02;
  std::vector<CounterFigure> all{
      ratios("equal-lines-light", "3", at("qap", "9216"), kLast, two, 2, 1.27, 1.24),
      ratios("equal-lines-light", "3", at("qap", "9216"), kFirst, two, 0.5, 0.79, 0.81),
      {"gap", gap(2), gap(1.01), gap(0.99)},
      {"gap", saturated({"1", "2", "3", "4"}, true), saturated({"1"}, false), gap(0.99)},
      ratios("four-lines", "four-lines", at("qap4", "2048"), kLast, four, 2, 1.01, 0.99),
      ratios("buffers-above", "5", {{"interval", "1536"}, {"buffers", "3"}}, kLast, {{"buffers", "8"}}, 2, 1.06, 1.045),
      ratios("buffers-below", "5", {{"interval", "1536"}, {"buffers", "1"}}, kLast, {{"buffers", "4"}}, 0.5, 0.99,
             1.01),
      ratios("buffers-below", "5", {{"interval", "1536"}, {"buffers", "1"}}, kLast, {{"buffers", "4"}}, 3, 1.21, 1.19),
      {"buffers-below",
       [](World& world) {
         world.saturate("5", {{"interval", "1536"}, {"buffers", "1"}}, {kFirst, kLast});
       },
       ratio("5", {{"interval", "1536"}, {"buffers", "1"}}, kLast, {{"buffers", "4"}}, 1.21),
       ratio("5", {{"interval", "1536"}, {"buffers", "1"}}, kLast, {{"buffers", "4"}}, 1.19)},
      ratios("minor-first", "6", payload("3072", "32"), kFirst, bytes_64, 0.5, 0.79, 0.81),
      ratios("minor-first", "6", payload("3072", "32"), kFirst, bytes_64, 1.5, 1.01, 0.99),
      {"recovers-much", recovered(-1), recovered(0.48), recovered(0.52)},
      {"recovers-much", nothing_behind(1000, 1010), nothing_behind(1498, 1000), nothing_behind(1520, 1505)},
      ratios("degrees", "degree", {{"series", "qap"}, {"interval", "9216"}, {"degree", "8"}}, kLast, four, 0.5, 0.99,
             1.01),
      {"no-deadlock", deadlocks({{"series", "qap"}}), deadlocks(at("qap", "1024")), [](World&) {}},
      {"knees", curve("1", "qap", {1, 1, 1, 1, 1, 1, 1, 1, 1}), curve("1", "qap", below), curve("1", "qap", above)},
      {"knees", curve("3", "kk1_two", straight()), curve("3", "kk1_two", {4, 3, 2, 2.05, 1.3, 1.26, 1.1, 1.05, 1}),
       curve("3", "kk1_two", {4, 3, 2.5, 2.05, 1.3, 1.24, 1.1, 1.05, 1})},
      {"knee-strongest", curve("3", "kk1_two", {1, 1, 1, 1, 1, 1, 1, 1, 1}), curve("3", "kk1_two", kQap),
       curve("3", "kk1_two", {4, 3, 2.5, 2.05, 1.9, 1.2, 1.1, 1.05, 1})},
      {"stalls", stalls(0.5), stalls(0.051), stalls(0.049)},
      {"stalls", saturated({"receivers"}, true), stalls(0.051), stalls(0.049)},
      ratios("sensitivity", "readings", at("one_port", "9216"), kLast, {{"series", "qap"}}, 0.5, 0.84, 0.86),
  };
  const auto add = [&](const std::vector<CounterFigure>& more) { all.insert(all.end(), more.begin(), more.end()); };
  add(comparison("equal-lines-heavy", "3", at("qap", "1536"), kFirst, two, kFirst, 0.8));
  add(comparison("equal-lines-heavy", "4", at("qap", "4096"), kLast, two, kLast, 0.8));
  add(comparison("unequal-lines-heavy", "1", at("qap", "1280"), kLast, four, kLast, 0.8));
  add(comparison("unequal-lines-heavy-first", "1", at("qap", "1280"), kFirst, four, kFirst, 0.8));
  add(comparison("unequal-lines-light", "1", at("kk1_four", "7168"), kLast, {{"series", "qap"}}, kLast, 1.0));
  add(comparison("larger-first", "6", payload("2048", "64"), kFirst, {{"payload", "128"}}, kFirst, 1.0));
  add(comparison("larger-last", "6", payload("2048", "128"), kLast, bytes_64, kLast, 1.0));
  add(comparison("larger-last-cut-through", "6-cut-through", payload("2048", "128"), kLast, bytes_64, kLast, 1.0));
  add(comparison("smaller-last", "6", payload("3072", "64"), kLast, {{"payload", "32"}}, kLast, 0.8));
  add(comparison("small-at-light-load", "6", payload("9216", "32"), kFirst, bytes_64, kFirst, 0.95));
  add(comparison("random-inferior", "first-step", at("qap", "2048"), kLast, {{"series", "random"}}, kLast, 1.0));
  add(comparison("ecube-inferior", "first-step", at("qap", "2048"), kFirst, {{"series", "ecube"}}, kFirst, 1.0));
  add(comparison("kk1-beats-k", "k", at("kk1_four", "2048"), kLast, {{"series", "k"}}, kLast, 1.0));
  add(comparison("receivers-equal", "receivers", at("qap", "2048"), "completion_time", two, "completion_time", 1.0));
  add(comparison("receivers-unequal", "receivers", at("qap", "2048"), "completion_time", four, "completion_time", 1.0));
  everywhere(all);
  return all;
}

test::CounterStudy study_of() {
  return {"hypercube-qap", paper, figures(), {"offered_load", "accepted_load", "delivered_packets"}};
}
const bool kRegistered = test::studies_with_counter_figures().insert("hypercube-qap").second;

TEST(HypercubeQapCounterFigures, every_claim_has_them) { test::every_claim_has_counter_figures(study_of()); }
TEST(HypercubeQapCounterFigures, every_claim_can_fail) { test::claims_can_fail(study_of()); }
TEST(HypercubeQapCounterFigures, fewer_data_never_give_a_better_verdict) {
  test::fewer_data_are_never_better(study_of(), 3);
}
TEST(HypercubeQapCounterFigures, a_stored_study_is_judged_like_the_run) {
  test::a_stored_study_is_judged_like_the_run(study_of());
}

}  // namespace
}  // namespace banyan::study::counter_figures_hypercube_qap_test
