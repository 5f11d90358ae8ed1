// Can every claim of the study of multidestination worms fail?
#include <gtest/gtest.h>

#include <map>

#include "study/counter_figures.hpp"

namespace banyan::study::counter_figures_multidestination_worms_test {
namespace {

using test::Change;
using test::CounterFigure;
using test::kJustAbove;
using test::kJustBelow;
using test::line;
using test::together;
using test::World;

const std::vector<std::string> kLatencies{"multicast_latency_last", "multicast_latency_mean", "message_latency_last",
                                          "unicast_latency"};
const std::string kLast = "multicast_latency_last";
const std::string kMean = "multicast_latency_mean";

Selection curve(const std::string& series, const std::string& m) { return {{"series", series}, {"m", m}}; }
bool software(const Point& point) { return point.series.ends_with("_sw"); }
bool central(const Point& point) { return point.series.starts_with("central"); }

/// (a) over (b) with messages of 512 bytes.
double spread(const Point& point, double m) {
  if (software(point)) return 1.5;
  if (m > 6) return 1.04;
  const double part = (World::number(point, "load") - 0.1) / 0.8;
  return 1.05 + (central(point) ? 0.55 : 1.2) * part;
}

/// Seeds scatter a little.
double by_seed(const Point& point) {
  const bool seeds =
      std::any_of(point.axes.begin(), point.axes.end(), [](const auto& axis) { return axis.first == "seed"; });
  return seeds ? 1 + 0.0005 * (World::number(point, "seed") - 3) : 1;
}

/// A steady point: its latencies rise with the load, fall with m in hardware, and rise with it in software.
void make_steady(World& world, const std::string& figure, const Point& point) {
  const bool has_m = figure != "18";
  const double m = has_m ? World::number(point, "m") : 4;
  const double load = World::number(point, "load");
  double last = software(point) ? 300 * (1 + load) * (1 + 0.05 * m) : 200 * (1 + load) * (1 - 0.005 * m);
  if (point.series.ends_with("multiport")) last *= 1.1;
  if (!central(point)) last *= 1.02;
  if (figure == "17" && World::number(point, "N") > 16) last *= 1.2;
  const bool large = figure == "16" || figure == "17" || figure == "19";
  world.result().runs.at(point.run).verdict = api::Verdict::steady;
  world.set(point, kLast, last);
  world.set(point, kMean, last / (large ? spread(point, m) : 1.05));
  world.set(point, "message_latency_last", last);
  world.set(point, "unicast_latency", 0.9 * last);
  world.set(point, "offered_load", load);
  world.set(point, "received_load", load * by_seed(point));
}

/// Makes a curve saturate at this load of the sweep, the first that it does not carry; 1: at none.
void saturate_from(World& world, const std::string& figure, const Selection& where, double first) {
  for (const Point* point : world.points(figure, where)) {
    make_steady(world, figure, *point);
    const double load = World::number(*point, "load");
    if (first >= 1 || load < first - 1e-9) continue;
    // Software goes on to grow; hardware is flat.
    world.set(*point, "received_load", (software(*point) ? 0.9 * load : 0.98 * first) * by_seed(*point));
    api::Result& run = world.result().runs.at(point->run);
    run.verdict = api::Verdict::saturated;
    std::erase_if(run.metrics, [](const stats::Metric& metric) {
      return std::find(kLatencies.begin(), kLatencies.end(), metric.name) != kLatencies.end();
    });
  }
}

using Knees = std::map<std::string, double>;  ///< by m
const std::map<std::string, Knees> kSmall{{"central_hw", {{"2", 1}, {"4", 1}, {"6", 1}, {"9", 1}, {"15", 1}}},
                                          {"central_sw", {{"2", 0.7}, {"4", 0.6}, {"6", 0.6}, {"9", 0.5}, {"15", 0.4}}},
                                          {"input_hw", {{"2", 0.6}, {"4", 0.7}, {"6", 0.8}, {"9", 0.85}, {"15", 0.9}}},
                                          {"input_sw", {{"2", 0.4}, {"4", 0.4}, {"6", 0.3}, {"9", 0.3}, {"15", 0.2}}}};
const Knees kSeven{{"central_hw", 1}, {"central_sw", 0.55}, {"input_hw", 0.8}, {"input_sw", 0.3}};  ///< by series
const std::map<std::string, Knees> kLarge{{"central_hw", {{"2", 0.85}, {"4", 0.9}, {"6", 0.95}, {"9", 1}, {"15", 1}}},
                                          {"central_sw", {{"2", 0.5}, {"4", 0.4}, {"6", 0.4}, {"9", 0.3}, {"15", 0.3}}},
                                          {"input_hw", {{"2", 0.5}, {"4", 0.6}, {"6", 0.7}, {"9", 0.8}, {"15", 0.85}}},
                                          {"input_sw", {{"2", 0.3}, {"4", 0.2}, {"6", 0.2}, {"9", 0.2}, {"15", 0.2}}}};

void set_knees(World& world, const std::string& figure, const std::map<std::string, Knees>& all) {
  for (const auto& [series, knees] : all) {
    for (const auto& [m, first] : knees) {
      if (world.view().values(figure, "m", {{"series", series}}).empty()) continue;
      const std::vector<std::string> has = world.view().values(figure, "m", {{"series", series}});
      if (std::find(has.begin(), has.end(), m) != has.end()) saturate_from(world, figure, curve(series, m), first);
    }
  }
}

/// What is received at the highest load, over seeds that scatter a little.
Change bandwidth(const std::string& m, double received) {
  return [=](World& world) {
    for (const Point* point : world.points("15-seeds", with(curve("central_hw", m), "load", "1.0"))) {
      world.set(*point, "received_load", received * by_seed(*point));
    }
  };
}

World paper() {
  World world("multidestination-worms", test::fake_run);
  for (const char* figure : {"14", "17", "18", "encodings"}) {
    for (const Point* point : world.points(figure, {})) make_steady(world, figure, *point);
  }
  set_knees(world, "14", kSmall);
  set_knees(world, "15-seeds", kSmall);
  for (const auto& [series, first] : kSeven) saturate_from(world, "15-seeds", curve(series, "7"), first);
  // The largest m receives most: 1 % more at the highest load.
  for (const char* m : {"2", "4", "6", "7", "9", "15"}) bandwidth(m, std::string(m) == "15" ? 0.95 : 0.94)(world);
  set_knees(world, "16", kLarge);
  set_knees(world, "19", kLarge);
  for (const auto& [m, large] : Knees{{"2", 0.8}, {"4", 0.85}, {"15", 0.95}}) {
    saturate_from(world, "17", {{"m", m}, {"N", "16"}}, kLarge.at("central_hw").at(m));
    saturate_from(world, "17", {{"m", m}, {"N", "64"}}, large);
  }
  saturate_from(world, "18", {{"series", "central_sw"}}, 0.8);
  return world;
}

/// The same values of m for the saturation of a curve: `{"2", 0.5}` and so on.
Change knees(const std::string& figure, const std::string& series, const Knees& all) {
  return [=](World& world) {
    for (const auto& [m, first] : all) saturate_from(world, figure, curve(series, m), first);
  };
}
Knees all_at(double first, bool fifteen = true) {
  Knees knees{{"2", first}, {"4", first}, {"6", first}, {"9", first}};
  if (fifteen) knees["15"] = first;
  return knees;
}

/// A metric over m at every steady load of both switches.
Change over_m(const std::vector<std::string>& series, const std::string& metric, double from, double to) {
  return [=](World& world) {
    for (const std::string& one : series) {
      for (const char* m : {"2", "4", "6", "9", "15"}) saturate_from(world, "14", curve(one, m), 1);
      for (const std::string& load : world.view().values("14", "load")) {
        line("14", {{"series", one}, {"load", load}}, "m", metric, from, to)(world);
      }
    }
  };
}

Change ratio(const std::string& figure, const Selection& where, double factor, const std::string& load = "") {
  return [=](World& world) {
    for (const Point* point : world.points(figure, where)) {
      if (world.result().runs.at(point->run).verdict != api::Verdict::steady) continue;
      if (!load.empty() && !same_value(World::axis(*point, "load"), load)) continue;
      world.set(*point, kLast, factor * world.get(*point, kMean));
    }
  };
}

/// What is received beyond saturation grows along a line over the loads.
Change after_saturation(const std::string& series, double growth) {
  return [=](World& world) {
    for (const char* m : {"2", "4", "6", "7", "9", "15"}) {
      saturate_from(world, "15-seeds", curve(series, m), 0.8);
      for (const Point* point : world.points("15-seeds", curve(series, m))) {
        const double part = (World::number(*point, "load") - 0.8) / 0.2;
        world.set(*point, "received_load", 0.4 * (1 + growth * part) * by_seed(*point));
      }
    }
  };
}

Change bimodal(double factor) {
  return [=](World& world) {
    saturate_from(world, "18", {{"series", "central_sw"}}, 1);
    for (const char* metric : {"message_latency_last", "unicast_latency"}) {
      world.relate("18", {{"series", "central_hw"}}, metric, {{"series", "central_sw"}}, metric, factor);
    }
  };
}

Change encodings(const std::string& low, const std::string& high, double factor) {
  return [=](World& world) { world.relate("encodings", {{"series", low}}, kLast, {{"series", high}}, kLast, factor); };
}

Change sizes(double small, double large, double latency) {
  return [=](World& world) {
    for (const char* m : {"2", "4", "15"}) {
      saturate_from(world, "17", {{"m", m}, {"N", "16"}}, small);
      saturate_from(world, "17", {{"m", m}, {"N", "64"}}, large);
    }
    world.relate("17", {{"N", "16"}, {"load", "0.1"}}, kLast, {{"N", "64"}}, kLast, latency);
  };
}

Change at_ninety(double factor) {
  return [=](World& world) {
    world.set("15", {{"series", "central_hw"}, {"load", "0.9"}}, "received_load", 0.9 * factor);
  };
}

Change alike(double factor) {
  return [=](World& world) {
    world.relate("14", {{"series", "input_hw"}, {"load", "0.1"}}, kLast, {{"series", "central_hw"}}, kLast, factor);
  };
}

/// (a) over (b) with input FIFOs beside the central buffer, at every load above the lowest.
Change faster(double factor) {
  return [=](World& world) {
    for (const Point* point : world.points("19", curve("input_hw", "6"))) {
      if (world.result().runs.at(point->run).verdict != api::Verdict::steady || World::number(*point, "load") < 0.2)
        continue;
      const Point& other = world.partner("19", *point, {{"series", "central_hw"}});
      world.set(*point, kLast, factor * world.get(*point, kMean) * world.get(other, kLast) / world.get(other, kMean));
    }
  };
}

/// (a) over (b) at m = 6 along the steady loads, from the lowest to 0.6, the last that input FIFOs carry.
Change grows(const std::string& series, double from, double to) {
  return [=](World& world) {
    for (const Point* point : world.points("19", curve(series, "6"))) {
      if (world.result().runs.at(point->run).verdict != api::Verdict::steady) continue;
      const double part = (World::number(*point, "load") - 0.1) / 0.5;
      world.set(*point, kLast, (from + part * (to - from)) * world.get(*point, kMean));
    }
  };
}

std::vector<CounterFigure> figures() {
  const std::vector<std::string> hard{"central_hw", "input_hw"};
  const std::vector<std::string> soft{"central_sw", "input_sw"};
  std::vector<CounterFigure> all{
      {"hardware-falls", over_m(hard, kLast, 100, 200), over_m(hard, kLast, 100, 101), over_m(hard, kLast, 100, 98)},
      {"hardware-falls-mean", over_m(hard, kMean, 100, 200), over_m(hard, kMean, 100, 101),
       over_m(hard, kMean, 100, 98)},
      {"hardware-falls",  // falls from end to end, with a hump at m = 6 of more than a tenth of the fall
       over_m(hard, kLast, 100, 200),
       [](World& world) {
         world.scale("14", {{"m", "6"}}, kLast, 1.1);
       },
       over_m(hard, kLast, 100, 98)},
      {"software-rises", over_m(soft, kLast, 200, 100), over_m(soft, kLast, 101, 100), over_m(soft, kLast, 100, 102)},
      {"software-saturates", knees("14", "central_sw", {{"2", 0.3}, {"4", 0.4}, {"6", 0.5}, {"9", 0.6}, {"15", 0.8}}),
       knees("14", "central_sw", all_at(0.5)),
       knees("14", "central_sw", {{"2", 0.6}, {"4", 0.6}, {"6", 0.5}, {"9", 0.5}, {"15", 0.5}})},
      {"software-saturates", knees("14", "central_sw", {{"2", 0.3}, {"4", 0.4}, {"6", 0.5}, {"9", 0.6}, {"15", 0.8}}),
       knees("14", "central_sw", {{"2", 0.85}, {"4", 0.9}, {"6", 0.95}, {"9", 0.5}, {"15", 0.4}}),
       knees("14", "central_sw", {{"2", 0.9}, {"4", 0.9}, {"6", 0.85}, {"9", 0.85}, {"15", 0.85}})},
      {"long-software", knees("16", "central_sw", all_at(0.95, false)),
       knees("16", "central_sw", {{"2", 0.7}, {"4", 0.6}, {"6", 0.6}, {"9", 0.5}}),
       knees("16", "central_sw", {{"2", 0.6}, {"4", 0.5}, {"6", 0.5}, {"9", 0.4}})},
      {"hardware-later", knees("14", "input_hw", all_at(0.2)), knees("14", "input_hw", kSmall.at("input_sw")),
       knees("14", "input_hw", {{"2", 0.6}, {"4", 0.6}, {"6", 0.5}, {"9", 0.5}, {"15", 0.4}})},
      {"input-against-software", knees("14", "input_hw", {{"2", 0.95}, {"15", 0.2}}),
       knees("14", "input_hw", {{"2", 0.7}, {"15", 0.9}}), knees("14", "input_hw", {{"2", 0.6}, {"15", 0.5}})},
      {"input-rises", knees("14", "input_hw", {{"2", 0.8}, {"4", 0.7}, {"6", 0.6}, {"9", 0.5}, {"15", 0.4}}),
       knees("14", "input_hw", all_at(0.6)),
       knees("14", "input_hw", {{"2", 0.6}, {"4", 0.6}, {"6", 0.7}, {"9", 0.7}, {"15", 0.7}})},
      // Down by a step of the sweep, and then up; up where the sweep can tell.
      {"input-rises", knees("14", "input_hw", {{"2", 0.8}, {"4", 0.7}, {"6", 0.6}, {"9", 0.5}, {"15", 0.4}}),
       knees("14", "input_hw", {{"2", 0.95}, {"4", 0.9}, {"6", 0.85}, {"9", 0.9}, {"15", 1}}),
       knees("14", "input_hw", {{"2", 0.85}, {"4", 0.85}, {"6", 0.9}, {"9", 0.9}, {"15", 0.95}})},
      {"hardware-flat", after_saturation("input_hw", 0.5), after_saturation("input_hw", 0.07),
       after_saturation("input_hw", 0.04)},
      {"software-not-flat", after_saturation("central_sw", -0.5), after_saturation("central_sw", 0.04),
       after_saturation("central_sw", 0.07)},
      {"large-m-bandwidth", bandwidth("15", 0.5), bandwidth("7", 0.95 * kJustAbove), bandwidth("7", 0.95 * kJustBelow)},
      {"central-ninety", at_ninety(0.5), at_ninety(0.96), at_ninety(0.98)},
      {"long-messages", knees("16", "central_hw", {{"2", 1}, {"4", 1}, {"6", 0.5}, {"9", 0.5}}),
       knees("16", "central_hw", {{"4", 0.95}}), knees("16", "central_hw", {{"4", 0.9}, {"6", 0.95}, {"9", 0.95}})},
      {"long-messages", knees("16", "central_hw", {{"2", 1}, {"4", 1}, {"6", 0.5}, {"9", 0.5}}),
       knees("16", "central_hw", {{"6", 0.9}}), knees("16", "central_hw", {{"4", 0.9}, {"6", 0.95}, {"9", 0.95}})},
      {"long-messages-order", knees("16", "input_hw", {{"2", 0.8}, {"4", 0.7}, {"6", 0.6}, {"9", 0.5}}),
       knees("16", "input_hw", all_at(0.6, false)),
       knees("16", "input_hw", {{"2", 0.6}, {"4", 0.6}, {"6", 0.6}, {"9", 0.7}})},
      {"long-messages-order", knees("16", "input_hw", {{"2", 0.8}, {"4", 0.7}, {"6", 0.6}, {"9", 0.5}}),
       together({knees("16", "central_hw", {{"2", 0.95}, {"4", 0.9}, {"6", 0.85}, {"9", 1}}),
                 knees("16", "input_hw", {{"2", 0.95}, {"4", 0.9}, {"6", 0.85}, {"9", 1}})}),
       knees("16", "input_hw", {{"2", 0.85}, {"4", 0.85}, {"6", 0.9}, {"9", 0.9}})},
      {"factor-two",
       [](World& world) {
         for (const char* figure : {"14", "16"}) {
           const auto degrees = std::string(figure) == "14" ? all_at(1) : all_at(1, false);
           knees(figure, "input_hw", degrees)(world);
           knees(figure, "central_hw", degrees)(world);
         }
       },
       [](World& world) {  // at most 1.58
         knees("14", "input_hw", {{"2", 0.7}})(world);
         knees("16", "input_hw", all_at(0.7, false))(world);
       },
       [](World& world) {
         knees("14", "input_hw", {{"2", 0.6}})(world);
       }},
      {"factor-two", knees("14", "input_hw", all_at(0.1)), knees("14", "input_hw", all_at(0.4)),
       knees("14", "input_hw", {{"2", 0.6}})},
      {"larger-system", sizes(0.5, 0.95, 2), sizes(0.8, 0.8, 0.99), sizes(0.85, 0.8, 0.99)},
      {"larger-system", sizes(0.95, 0.4, 0.5), sizes(0.85, 0.8, 1.01), sizes(0.85, 0.8, 0.99)},
      {"larger-system", sizes(0.95, 0.4, 0.5), sizes(0.9, 0.7, 0.9), sizes(0.85, 0.8, 0.99)},
      {"larger-system", sizes(0.95, 0.4, 0.5),
       [](World& world) {  // later by a step of the sweep, at one degree
         saturate_from(world, "17", {{"m", "2"}, {"N", "64"}}, 0.9);
       },
       sizes(0.85, 0.8, 0.99)},
      {"bimodal", bimodal(2), bimodal(1.01), bimodal(0.99)},
      {"alike", alike(2), alike(1.12), alike(1.1)},
      {"alike", alike(0.5), alike(0.89), alike(0.91)},
      {"definitions-6", ratio("19", curve("central_hw", "6"), 3), ratio("19", curve("central_hw", "6"), 1.12, "0.1"),
       ratio("19", curve("central_hw", "6"), 1.1, "0.1")},
      {"definitions-6", ratio("19", curve("central_hw", "6"), 1.05), ratio("19", curve("central_hw", "6"), 1.77, "0.9"),
       ratio("19", curve("central_hw", "6"), 1.73, "0.9")},
      {"definitions-6", ratio("19", curve("central_hw", "6"), 1.05),
       [](World& world) {
         for (const char* load : {"0.6", "0.7", "0.8", "0.85", "0.9"})
           ratio("19", curve("central_hw", "6"), 1.44, load)(world);
       },
       ratio("19", curve("central_hw", "6"), 1.73, "0.9")},
      {"definitions-15", ratio("19", curve("central_hw", "15"), 2), ratio("19", curve("central_hw", "15"), 1.12, "0.5"),
       ratio("19", curve("central_hw", "15"), 1.1)},
      {"definitions-grow", faster(0.8), faster(0.99), faster(1.01)},
      // With input FIFOs the difference is larger at every load, and does not grow, or no faster.
      {"definitions-grow", together({grows("input_hw", 1.60, 1.62), grows("central_hw", 1.05, 1.58)}),
       together({grows("input_hw", 1.30, 1.30 + 0.30 * kJustBelow), grows("central_hw", 1.05, 1.35)}),
       together({grows("input_hw", 1.30, 1.30 + 0.30 * kJustAbove), grows("central_hw", 1.05, 1.35)})},
      {"definitions-software", ratio("19", curve("input_sw", "6"), 1.0),
       ratio("19", curve("input_sw", "6"), 1.19, "0.1"), ratio("19", curve("input_sw", "6"), 1.21)},
      {"multiport", encodings("central_multiport", "central_sw", 2), encodings("central_multiport", "central_sw", 1.01),
       encodings("central_multiport", "central_sw", 0.99)},
      {"multiport", encodings("input_hw", "input_multiport", 2), encodings("input_hw", "input_multiport", 1.01),
       encodings("input_hw", "input_multiport", 0.99)},
      {"input-software-worst", knees("14", "input_sw", all_at(0.95)), knees("14", "input_sw", {{"15", 0.7}}),
       knees("14", "input_sw", {{"2", 0.5}, {"4", 0.5}, {"6", 0.5}, {"9", 0.4}, {"15", 0.3}})},
      {"input-software-worst", knees("14", "input_sw", all_at(0.95)),
       together({knees("14", "central_sw", {{"15", 0.95}}), knees("14", "input_sw", {{"15", 0.95}})}),
       together({knees("14", "central_sw", {{"15", 0.9}}), knees("14", "input_sw", {{"15", 0.9}})})},
  };
  const auto everywhere = [&](const std::string& claim, const std::vector<Change>& changes) {
    test::everywhere(all, claim, together(changes));
  };
  // Steps of more than 0.1, below which the sweep tells nothing.
  const Knees down{{"2", 0.95}, {"4", 0.7}, {"6", 0.4}, {"9", 0.1}, {"15", 0.1}};
  const Knees up{{"2", 0.1}, {"4", 0.4}, {"6", 0.7}, {"9", 0.95}, {"15", 0.95}};
  const auto of_large = [](Knees knees) {
    knees.erase("15");
    return knees;
  };
  everywhere("software-saturates", {knees("14", "central_sw", up), knees("14", "input_sw", up)});
  everywhere("long-software", {knees("14", "central_sw", all_at(0.1)), knees("14", "input_sw", all_at(0.1)),
                               knees("16", "central_sw", of_large(up)), knees("16", "input_sw", of_large(up))});
  everywhere("hardware-later", {knees("14", "central_hw", all_at(0.2)), knees("14", "input_hw", all_at(0.2))});
  everywhere("input-rises", {knees("14", "input_hw", down)});
  everywhere("long-messages-order",
             {knees("16", "central_hw", of_large(down)), knees("16", "input_hw", of_large(down))});
  everywhere("definitions-software",
             {ratio("19", {{"series", "central_sw"}}, 1.0), ratio("19", {{"series", "input_sw"}}, 1.0)});
  everywhere("multiport",
             {encodings("central_multiport", "central_sw", 2), encodings("central_hw", "central_multiport", 2),
              encodings("input_multiport", "input_sw", 2), encodings("input_hw", "input_multiport", 2)});
  return all;
}

test::CounterStudy study_of() {
  return {"multidestination-worms", paper, figures(), {"offered_load", "received_load"}};
}
const bool kRegistered = test::studies_with_counter_figures().insert("multidestination-worms").second;

TEST(MultidestinationWormsCounterFigures, every_claim_has_them) { test::every_claim_has_counter_figures(study_of()); }
TEST(MultidestinationWormsCounterFigures, every_claim_can_fail) { test::claims_can_fail(study_of()); }
TEST(MultidestinationWormsCounterFigures, fewer_data_never_give_a_better_verdict) {
  test::fewer_data_are_never_better(study_of(), 2);
}
TEST(MultidestinationWormsCounterFigures, a_stored_study_is_judged_like_the_run) {
  test::a_stored_study_is_judged_like_the_run(study_of());
}
TEST(MultidestinationWormsCounterFigures, without_the_windows_of_a_run_claims_come_out_otherwise) {
  World world = paper();
  test::record_windows(world);
  EXPECT_EQ(world.judge("definitions-software").verdict, ClaimVerdict::reproduced);
  for (api::Result& run : world.result().runs) run.groups.clear();
  EXPECT_EQ(world.judge("definitions-software").verdict, ClaimVerdict::undecided);
}

}  // namespace
}  // namespace banyan::study::counter_figures_multidestination_worms_test
