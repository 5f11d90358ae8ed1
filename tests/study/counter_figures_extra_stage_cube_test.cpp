// Can every claim of the Extra Stage Cube study fail?
#include <gtest/gtest.h>

#include <cmath>

#include "study/counter_figures.hpp"

namespace banyan::study::counter_figures_extra_stage_cube_test {
namespace {

using test::comparison;
using test::CounterFigure;
using test::flat;
using test::kJustAbove;
using test::kJustBelow;
using test::line;
using test::together;
using test::trend;
using test::World;

const Selection kBypass{{"series", "bypass"}};
const Selection kBg{{"series", "isolated_background"}};
const Selection kHs{{"series", "isolated_hot_spot"}};
const Selection kSection{{"series", "hot_section"}};
const Selection kNumbers{{"series", "bypass"}, {"gamma", "0.5"}};

/// What decides a session: the paper's symbols.
struct Place {
  std::string series;
  double gamma = 0.5, sigma = 10, S = 12, K = 4, n = 4, N = 256;
};

/// The delays as the paper's sentences have them, in simple formulas.
struct Delays {
  double syn = 0, tot = 0, hot = 0;
};
Delays delays(const Place& p) {
  const double tree = 1.15 / (1.0 + 0.015 * p.sigma);  // what the spread leaves of the saturation tree: 1 at σ = 10
  const double size = std::sqrt(p.N / 256.0);
  const Delays bypass{116 * (0.9 + 0.2 * p.gamma) * tree * size,
                      (40 + 106 * p.gamma) * tree * size * (1.0 + 0.06 * (12 - p.S)),
                      151 * (0.75 + 0.5 * p.gamma) * tree * size};
  if (p.series == "bypass") return bypass;
  // A saturated input stage lets the background wait for as long as the session lasts.
  const double threshold = (p.n - 1) / p.n * (p.series == "isolated_background" ? 1.0 : 256.0 / 255.0);
  const double boxes = std::pow(4.0 / p.n, 0.3) * (p.gamma > threshold ? p.N / 256.0 : 1.0);
  if (p.series == "isolated_background") {
    const double tot = (4 + 10 * p.gamma) * boxes;
    return {bypass.syn + 0.95 * (bypass.tot - tot) + 20 * p.gamma, tot, 3 * tot};
  }
  const Delays isolated{1.08 * bypass.syn, (3 + 6 * p.gamma) * boxes, 0.94 * bypass.hot};
  if (p.series == "isolated_hot_spot") return isolated;
  const double doublings = std::log2(p.K);
  const double settled = p.S >= 12 ? 1.0 - 0.005 * (p.S - 12) : p.S >= 8 ? 2.0 : 6.0;
  return {isolated.syn * (1 - 0.002 * doublings) * (1 + 0.004 * (12 - p.S)),
          isolated.tot * (1 + 0.2 * (std::fabs(doublings - 2) - 2)) * settled,
          isolated.hot * (1 - 0.002 * doublings) * (1 - 0.004 * (12 - p.S))};
}

World paper() {
  World world("extra-stage-cube", test::fake_run);
  std::vector<std::pair<const Point*, std::string>> points;
  for (const FigureResult& figure : world.result().figures) {
    for (const Point& point : figure.points) points.emplace_back(&point, figure.spec.id);
  }
  for (const auto& [point, figure] : points) {
    Place p;
    p.series = point->series;
    if (figure == "threshold-2") p.n = 2;
    if (figure == "larger-1024") p.N = 1024;
    if (figure == "larger-4096") p.N = 4096;
    for (const auto& [name, text] : point->axes) {
      const double value = std::strtod(text.c_str(), nullptr);
      if (name == "gamma") p.gamma = value;
      if (name == "sigma") p.sigma = value;
      if (name == "S") p.S = value;
      if (name == "K") p.K = value;
      if (name == "n") p.n = value;
      if (name == "N") p.N = value;
    }
    const Delays d = delays(p);
    const double session = 325;
    world.set(*point, "mu_syn", d.syn);
    world.set(*point, "mu_bg_tot", d.tot);
    world.set(*point, "mu_bg_hs", d.hot);
    world.set(*point, "session_cycles", session);
    world.set(*point, "session_bandwidth", 256 * p.gamma * (p.series == "bypass" ? 0.4 : 0.9));
    world.set(*point, "session_background", p.gamma * 256 * session);
    world.set(*point, "session_hot_background", p.gamma * session);
    world.set(*point, "sessions", 125);
    world.set(*point, "tree_height", 3 - 0.02 * p.S);
    const double second_tree = p.series == "isolated_background" ? 60 * p.gamma : 0.6 * p.gamma;
    world.set(*point, "tree_boxes_outside", second_tree);
    if (figure != "6") continue;
    // Synchronization in the first 55 cycles, hot background evenly over the session.
    stats::Series sync{"generated_synchronization", "messages", 0.0, 1.0, std::vector<double>(325, 0.0)};
    std::fill_n(sync.values.begin(), 55, 255.0 / 55);
    const stats::Series hot{"generated_hot_background", "messages", 0.0, 1.0, std::vector<double>(325, 0.5)};
    world.result().runs.at(point->run).series = {sync, hot};
  }
  return world;
}

test::Change number(const std::string& metric, double value) {
  return [=](World& world) { world.set("8", kNumbers, metric, value); };
}
/// A number of the text: half as large again; 1 % beyond the 5 % that count as reproduced; 1 % within.
CounterFigure number_of(const std::string& claim, const std::string& metric, double paper) {
  return {claim, number(metric, 1.5 * paper), number(metric, 1.06 * paper), number(metric, 0.96 * paper)};
}

test::Change scaled(const std::string& figure, const Selection& where, const std::string& metric, double factor) {
  return [=](World& world) { world.scale(figure, where, metric, factor); };
}

/// The synchronization lasts so many cycles of 325: what comes after it is the rest of the hot background.
test::Change synchronization_lasts(std::size_t cycles) {
  return [=](World& world) {
    for (api::Result& run : world.result().runs) {
      for (stats::Series& series : run.series) {
        if (series.name != "generated_synchronization") continue;
        std::fill(series.values.begin(), series.values.end(), 0.0);
        std::fill_n(series.values.begin(), cycles, 255.0 / static_cast<double>(cycles));
      }
    }
  };
}

/// Isolated BG: synchronization waits longer by `factor` times what the background waits less.
test::Change moved(double factor) {
  return [=](World& world) {
    for (const Point* point : world.points("5", kBg)) {
      const Point& bypass = world.partner("5", *point, kBypass);
      const double fall = world.get(bypass, "mu_bg_tot") - world.get(*point, "mu_bg_tot");
      world.set(*point, "mu_syn", world.get(bypass, "mu_syn") + factor * fall);
    }
  };
}

/// Delays of all background that leave the other background `factor` times below the hot one.
test::Change hot_over_cold(double factor) {
  return [=](World& world) {
    for (const Point* point : world.points("8", kBg)) {
      const double cold = world.get(*point, "mu_bg_tot") / (1.0 + (factor - 1.0) / 256.0);
      world.set(*point, "mu_bg_hs", factor * cold);
    }
  };
}

/// Delays of other background with N = 1,024 beside those with N = 256, above the threshold.
test::Change saturation(const std::string& series, double factor) {
  return [=](World& world) {
    for (const std::string figure : {"threshold-2", "threshold-4"}) {
      const double threshold = figure == "threshold-2" ? 0.51 : 0.76;
      for (const Point* point : world.points(figure, {{"series", series}, {"N", "1024"}})) {
        if (World::number(*point, "gamma") < threshold) continue;
        const Point& small = world.partner(figure, *point, {{"N", "256"}});
        for (const char* metric : {"mu_bg_tot", "mu_bg_hs"}) {
          world.set(*point, metric, factor * world.get(small, metric));
        }
      }
    }
  };
}
/// A measure that finds saturation at every load finds nothing.
test::Change saturated_everywhere(const std::string& series) {
  return [=](World& world) {
    for (const std::string figure : {"threshold-2", "threshold-4"}) {
      for (const Point* point : world.points(figure, {{"series", series}, {"N", "1024"}})) {
        const Point& small = world.partner(figure, *point, {{"N", "256"}});
        for (const char* metric : {"mu_bg_tot", "mu_bg_hs"}) world.set(*point, metric, 2.02 * world.get(small, metric));
      }
    }
  };
}

/// The delay of other sections beside K = 4: lowered to `factor` times at one of them.
test::Change best_section(const std::string& sections, double factor) {
  return [=](World& world) {
    world.relate("13", with(kSection, "K", sections), "mu_bg_tot", {{"K", "4"}}, "mu_bg_tot", factor);
  };
}

/// The delay over K: 100 at K = 1, 100 - `down` at 4, then `up` more up to 256.
test::Change both_sides(double down, double up) {
  return [=](World& world) {
    for (const Point* point : world.points("13", kSection)) {
      const double doublings = std::log2(World::number(*point, "K"));
      world.set(*point, "mu_bg_tot",
                doublings <= 2 ? 100 - down * doublings / 2 : 100 - down + up * (doublings - 2) / 6);
    }
  };
}

/// The lead of synchronization over hot background over the load, from `low` to `high` cycles.
test::Change lead(double low, double high) {
  return [=](World& world) {
    for (const Selection& series : {kBypass, kHs}) {
      for (const Point* point : world.points("8", series)) {
        const double part = (World::number(*point, "gamma") - 0.1) / 0.7;
        world.set(*point, "mu_syn", 100);
        world.set(*point, "mu_bg_hs", 100 + low + part * (high - low));
      }
    }
  };
}

/// What arrives in a cycle of a session, under the two schemes, as `factor` times what does with bypass.
test::Change bandwidth(double factor) {
  return [=](World& world) {
    for (const Selection& series : {kBg, kHs})
      world.relate("8", series, "session_bandwidth", kBypass, "session_bandwidth", factor);
  };
}
test::Change boxes(double outside) {
  return [=](World& world) { world.set("tree-load", kBg, "tree_boxes_outside", outside); };
}

test::Change one_section(double factor) { return scaled("13", with(kSection, "K", "1"), "mu_syn", factor); }

/// Reverses the order of the schemes for these buffers, or brings them to `factor` times each other.
test::Change order(double factor, const std::vector<std::string>& capacities = {"16", "20"}) {
  return [=](World& world) {
    for (const std::string& capacity : capacities) {
      world.relate("15", with(kSection, "S", capacity), "mu_syn", kBypass, "mu_syn", 1.0 / factor);
      world.relate("16", with(kSection, "S", capacity), "mu_bg_tot", kBypass, "mu_bg_tot", factor);
      world.relate("17", with(kSection, "S", capacity), "mu_bg_hs", kBypass, "mu_bg_hs", factor);
    }
  };
}

test::Change count(double factor) { return scaled("8", {}, "session_background", factor); }

test::Change shorter(double factor) {
  return [=](World& world) {
    world.relate("short-mean", {{"mu", "600"}}, "mu_syn", {{"mu", "3000"}}, "mu_syn", factor);
  };
}

CounterFigure larger(const std::string& figure) {
  return {figure,
          [=](World& world) {
            world.relate(figure, kBg, "mu_bg_tot", kBypass, "mu_bg_tot", 2.0);
            world.relate(figure, kHs, "mu_bg_hs", kBypass, "mu_bg_hs", 2.0);
          },
          [=](World& world) { world.relate(figure, kHs, "mu_bg_hs", kBypass, "mu_bg_hs", kJustAbove); },
          [=](World& world) { world.relate(figure, kHs, "mu_bg_hs", kBypass, "mu_bg_hs", kJustBelow); }};
}

std::vector<CounterFigure> figures() {
  std::vector<CounterFigure> all{
      number_of("number-mu-syn", "mu_syn", 116),
      number_of("number-mu-bg-hs", "mu_bg_hs", 151),
      number_of("number-session", "session_cycles", 325),
      number_of("number-hot-background", "session_hot_background", 162.5),
      {"number-ratio", number("mu_bg_hs", 1.0 * 116), number("mu_bg_hs", 1.2 * 116), number("mu_bg_hs", 1.26 * 116)},
      {"background-count", count(2), count(1.06), count(1.04)},
      {"background-count", scaled("8", {}, "session_hot_background", 2),
       scaled("8", {}, "session_hot_background", 0.94), scaled("8", {}, "session_hot_background", 0.96)},
      {"delay-moves", moved(5), moved(2.02), moved(1.98)},
      {"delay-moves", moved(-1), moved(0.49), moved(0.51)},
      {"hot-waits-longer-bypass", scaled("5", kNumbers, "mu_bg_hs", 0.5),
       [](World& w) { w.relate("5", kNumbers, "mu_bg_hs", {}, "mu_syn", kJustBelow); },
       [](World& w) { w.relate("5", kNumbers, "mu_bg_hs", {}, "mu_syn", kJustAbove); }},
      {"synchronization-is-early", synchronization_lasts(325), synchronization_lasts(88), synchronization_lasts(75)},
      {"secondary-tree", hot_over_cold(1.0), hot_over_cold(1.98), hot_over_cold(2.02)},
      {"secondary-tree", hot_over_cold(1.0), boxes(0.99), boxes(1.01)},
      {"hot-above-synchronization", lead(-50, -40), lead(-50, -1), lead(-20, 60)},
      {"hot-above-synchronization", lead(60, -20), lead(31, 30), lead(-50, 1)},
      {"system-bandwidth", bandwidth(0.5), bandwidth(kJustBelow), bandwidth(kJustAbove)},
      {"system-bandwidth", bandwidth(0.1),
       [](World& w) {  // the delays alone say nothing of it
         for (const Selection& series : {kBg, kHs}) w.scale("8", series, "mu_bg_tot", 0.01);
         bandwidth(kJustBelow)(w);
       },
       bandwidth(kJustAbove)},
      {"four-sections-best", best_section("2", 0.5), best_section("8", 0.99), best_section("8", 1.01)},
      {"four-sections-both-sides", both_sides(-40, -40), both_sides(40, -1), both_sides(40, 10)},
      {"four-sections-both-sides", both_sides(-40, 10), both_sides(-1, 40), both_sides(3, 40)},
      flat("syn-flat-in-sections", "13", kSection, "K", "mu_syn", 0.10),
      {"one-section", one_section(1.5), one_section(1.0001), one_section(1.0)},
      flat("spread-hot-section-background", "14", kSection, "sigma", "mu_bg_tot", 0.20),
      trend("spread-bypass", "14", kBypass, "sigma", "mu_syn", true, 0.2),
      trend("spread-bypass", "14", kBypass, "sigma", "mu_bg_tot", true),
      trend("spread-hot-section", "14", kSection, "sigma", "mu_bg_hs", true, 0.2),
      {"input-stage-isolated-bg", saturation("isolated_background", 1.0), saturation("isolated_background", 1.98),
       saturation("isolated_background", 2.02)},
      {"input-stage-isolated-bg", saturated_everywhere("isolated_background"),
       saturated_everywhere("isolated_background"), saturation("isolated_background", 2.02)},
      {"input-stage-isolated-hs", saturation("isolated_hot_spot", 1.0), saturation("isolated_hot_spot", 1.98),
       saturation("isolated_hot_spot", 2.02)},
      trend("bottleneck-shrinks", "radix", {{"series", "isolated_hot_spot"}, {"gamma", "0.8"}}, "n", "mu_bg_tot", true),
      // Lines from S = 4 to 20 that change by 100 %, 20.2 % and 19.8 % of their end between S = 12 and 20.
      {"settles", line("16", kSection, "S", "mu_bg_tot", 100, 500), line("16", kSection, "S", "mu_bg_tot", 100, 167.8),
       line("16", kSection, "S", "mu_bg_tot", 100, 165.6)},
      trend("buffers-lower-syn", "15", kSection, "S", "mu_syn", true),
      trend("buffers-raise-hot", "17", kSection, "S", "mu_bg_hs", false),
      flat("buffers-leave-bypass", "15", kBypass, "S", "mu_syn", 0.20),
      flat("buffers-leave-bypass", "17", kBypass, "S", "mu_bg_hs", 0.20),
      trend("buffers-help-bypass", "16", kBypass, "S", "mu_bg_tot", true, 0.2),
      trend("buffers-shorten-tree", "tree-buffers", kBypass, "S", "tree_height", true),
      {"order-of-schemes", order(2.0), order(kJustAbove), order(kJustBelow)},
      larger("larger-1024"),
      larger("larger-4096"),
      {"short-mean", shorter(2.0), shorter(1.035), shorter(1.025)},
  };
  const auto add = [&](const std::vector<CounterFigure>& more) { all.insert(all.end(), more.begin(), more.end()); };
  add(comparison("background-falls-isolated-bg", "8", kBg, "mu_bg_tot", kBypass, "mu_bg_tot", 0.5));
  add(comparison("background-falls-isolated-hs", "8", kHs, "mu_bg_tot", kBypass, "mu_bg_tot", 0.5));
  add(comparison("background-falls-hot-section", "14", with(kSection, "sigma", "10"), "mu_bg_tot", kBypass, "mu_bg_tot",
                 0.5));
  add(comparison("background-falls-any-spread", "14", kSection, "mu_bg_tot", kBypass, "mu_bg_tot", 0.5));
  add(comparison("hot-waits-less-isolated", "5", kBg, "mu_bg_hs", {}, "mu_syn", 1.0));
  add(comparison("secondary-tree-removed", "tree-load", kHs, "tree_boxes_outside", kBg, "tree_boxes_outside", 0.1));
  add(comparison("hs-lowers-syn", "8", kHs, "mu_syn", kBg, "mu_syn", 0.8));
  add(comparison("hs-raises-hot", "8", kBg, "mu_bg_hs", kHs, "mu_bg_hs", 0.8));
  add(comparison("hs-lowers-background", "8", kHs, "mu_bg_tot", kBg, "mu_bg_tot", 1.0));
  add(comparison("hs-syn-above-bypass", "8", kBypass, "mu_syn", kHs, "mu_syn", 1.0));
  add(comparison("hs-hot-below-bypass", "8", kHs, "mu_bg_hs", kBypass, "mu_bg_hs", 1.0));
  add(comparison("hot-section-like-isolated-hs", "14", kSection, "mu_bg_tot", kBypass, "mu_bg_tot", 1.0));
  add(comparison("hot-section-like-isolated-hs", "14", kSection, "mu_bg_hs", kBypass, "mu_bg_hs", 1.0));
  add(comparison("hot-section-like-isolated-hs", "14", kBypass, "mu_syn", kSection, "mu_syn", 1.0));
  add(comparison("small-buffer", "16", with(kSection, "S", "8"), "mu_bg_tot", with(kBypass, "S", "20"), "mu_bg_tot",
                 1.0));
  const auto everywhere = [&](const std::string& claim, const std::vector<test::Change>& changes) {
    test::everywhere(all, claim, together(changes));
  };
  // Gives one metric `factor` times another's value, at all points of a series.
  const auto related = [](const std::string& figure, const Selection& where, const std::string& metric,
                          const Selection& differs, const std::string& other, double factor) {
    return test::Change([=](World& world) { world.relate(figure, where, metric, differs, other, factor); });
  };
  everywhere("secondary-tree", {hot_over_cold(1.0), scaled("tree-load", kBg, "tree_boxes_outside", 0)});
  everywhere("four-sections-best",
             {line("13", kSection, "K", "mu_bg_tot", 200, 50),
              related("13", with(kSection, "K", "1"), "mu_bg_tot", {{"K", "4"}}, "mu_bg_tot", 0.5),
              related("13", with(kSection, "K", "2"), "mu_bg_tot", {{"K", "4"}}, "mu_bg_tot", 0.5)});
  everywhere("spread-bypass",
             {line("14", kBypass, "sigma", "mu_syn", 100, 150), line("14", kBypass, "sigma", "mu_bg_hs", 100, 150),
              line("14", kBypass, "sigma", "mu_bg_tot", 100, 150)});
  everywhere("spread-hot-section",
             {line("14", kSection, "sigma", "mu_syn", 100, 150), line("14", kSection, "sigma", "mu_bg_hs", 100, 150)});
  everywhere("hot-section-like-isolated-hs", {related("14", kSection, "mu_bg_tot", kBypass, "mu_bg_tot", 2),
                                              related("14", kSection, "mu_bg_hs", kBypass, "mu_bg_hs", 2),
                                              related("14", kSection, "mu_syn", kBypass, "mu_syn", 0.5)});
  everywhere("bottleneck-shrinks", {line("radix", with(kBg, "gamma", "0.8"), "n", "mu_bg_tot", 100, 150),
                                    line("radix", with(kHs, "gamma", "0.8"), "n", "mu_bg_tot", 100, 150)});
  everywhere("buffers-leave-bypass",
             {line("15", kBypass, "S", "mu_syn", 100, 200), line("17", kBypass, "S", "mu_bg_hs", 100, 200)});
  everywhere("order-of-schemes", {order(2.0, {"4", "8", "16", "20"})});
  for (const std::string figure : {"larger-1024", "larger-4096"}) {
    everywhere(figure, {related(figure, kBg, "mu_bg_tot", kBypass, "mu_bg_tot", 2),
                        related(figure, kHs, "mu_bg_tot", kBypass, "mu_bg_tot", 2),
                        related(figure, kSection, "mu_bg_tot", kBypass, "mu_bg_tot", 2),
                        related(figure, kBypass, "mu_bg_hs", {}, "mu_syn", 0.5),
                        related(figure, kHs, "mu_bg_hs", kBypass, "mu_bg_hs", 2),
                        related(figure, kBg, "mu_syn", kBypass, "mu_syn", 0.5),
                        related(figure, kHs, "mu_syn", kBypass, "mu_syn", 0.7),
                        related(figure, kBg, "mu_bg_hs", {}, "mu_syn", 2)});
  }
  everywhere("short-mean",
             {scaled("short-mean", {{"mu", "600"}}, "mu_syn", 2), scaled("short-mean", {{"mu", "600"}}, "mu_bg_tot", 2),
              scaled("short-mean", {{"mu", "600"}}, "mu_bg_hs", 2)});
  return all;
}

test::CounterStudy study_of() { return {"extra-stage-cube", paper, figures(), {"sessions"}}; }
const bool kRegistered = test::studies_with_counter_figures().insert("extra-stage-cube").second;

TEST(ExtraStageCubeCounterFigures, every_claim_has_them) { test::every_claim_has_counter_figures(study_of()); }
TEST(ExtraStageCubeCounterFigures, every_claim_can_fail) { test::claims_can_fail(study_of()); }
TEST(ExtraStageCubeCounterFigures, fewer_data_never_give_a_better_verdict) {
  test::fewer_data_are_never_better(study_of(), 2);
}
TEST(ExtraStageCubeCounterFigures, a_stored_study_is_judged_like_the_run) {
  test::a_stored_study_is_judged_like_the_run(study_of());
}

}  // namespace
}  // namespace banyan::study::counter_figures_extra_stage_cube_test
