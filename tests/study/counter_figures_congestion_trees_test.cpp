// Can every claim of the study of congestion trees fail?
#include <gtest/gtest.h>

#include "study/counter_figures.hpp"

namespace banyan::study::counter_figures_congestion_trees_test {
namespace {

using test::Change;
using test::CounterFigure;
using test::together;
using test::World;

const std::string kBasic = "recn_basic";
const std::string kEnhanced = "recn_enhanced";
const std::string kVoqsw = "voqsw";

Selection at(const std::string& series, const std::string& load) { return {{"series", series}, {"load", load}}; }
Selection of(const std::string& series) { return {{"series", series}}; }

/// Seeds scatter a little, so that a mean over them has an interval.
void spread(World& world, const std::string& figure, const Selection& where, const std::string& metric, double value) {
  for (const Point* point : world.points(figure, where)) {
    world.set(*point, metric, value * (1 + 0.0005 * (World::number(*point, "seed") - 3)));
  }
}
Change value(const std::string& figure, const Selection& where, const std::string& metric, double value) {
  return [=](World& world) { spread(world, figure, where, metric, value); };
}
struct Transient {
  double before, lowest, during, after;
};
void transient(World& world, const std::string& figure, const Selection& where, const Transient& t) {
  spread(world, figure, where, "throughput_before", t.before);
  spread(world, figure, where, "lowest_throughput", t.lowest);
  spread(world, figure, where, "throughput_during", t.during);
  spread(world, figure, where, "throughput_after", t.after);
}

/// From window to window by +-`part` around 40 bytes/ns.
void oscillate(World& world, const std::string& figure, const Selection& where, double part) {
  for (const Point* point : world.points(figure, where)) {
    const double scatter = 1 + 0.0005 * (World::number(*point, "seed") - 3);
    stats::Series series{"throughput", "bytes/ns", 0.0, 10e3, {}};
    for (int i = 0; i < 160; ++i) series.values.push_back(40 * (1 + (i % 2 == 0 ? part : -part) * scatter));
    world.result().runs.at(point->run).series = {series};
  }
}
Change oscillation(const std::string& figure, double enhanced) {
  return [=](World& world) { oscillate(world, figure, of(kEnhanced), enhanced); };
}

using Events = std::vector<std::string>;
/// These happen one after the other, and no others.
Change events(const std::string& figure, const std::string& series, const Events& names) {
  return [=](World& world) {
    const Point& point = *world.points(figure, of(series)).front();
    std::erase_if(world.result().runs.at(point.run).metrics, [](const stats::Metric& metric) {
      return metric.name.starts_with("detected.") || metric.name.starts_with("aside.") ||
             metric.name.starts_with("root.");
    });
    double time = 1000;
    for (const std::string& name : names) world.set(point, name, time += 1000);
  };
}

const Events kGrowth{"detected.s0.out0", "aside.s0.in1", "aside.s1.out1", "aside.s1.in0", "aside.t1"};
const Events kSpots{"detected.s1.in0",  "detected.s1.in1",  "detected.s1.in2",  "detected.s2.in0",
                    "detected.s2.in1",  "detected.s2.in2",  "detected.s1.out3", "detected.s2.out3",
                    "detected.s3.out3", "detected.s4.out3", "detected.s0.out0", "root.s0.out0"};

const Events kApart{"detected.s0.out0", "detected.s1.out0", "root.s0.out0", "root.s1.out0"};

Events replaced(Events all, const std::string& from, const std::string& to) {
  std::replace(all.begin(), all.end(), from, to);
  return all;
}
Events swapped(Events all, std::size_t a, std::size_t b) {
  std::swap(all[a], all[b]);
  return all;
}

Change roots(const std::string& figure, const std::string& series, double outputs, double inputs) {
  return [=](World& world) {
    for (const Point* point : world.points(figure, of(series))) {
      world.set(*point, "roots_egress", outputs);
      world.set(*point, "roots_ingress", inputs);
    }
  };
}

World paper() {
  World world("congestion-trees", test::fake_run);
  // Some of these points are those of figure 10.
  spread(world, "choices", {{"up", "destination_digit"}}, "lowest_throughput", 10);
  spread(world, "choices", {{"up", "straight"}}, "lowest_throughput", 20);
  spread(world, "choices", {{"up", "hashed"}}, "lowest_throughput", 15);
  transient(world, "7-seeds", at(kBasic, "0.5"), {25, 23, 24, 25});
  transient(world, "7-seeds", at(kEnhanced, "0.5"), {25, 24.5, 24.8, 25});
  transient(world, "7-seeds", at(kVoqsw, "0.5"), {25, 15, 16, 18});
  transient(world, "7-seeds", at(kBasic, "1.0"), {44, 37, 41, 43.5});
  transient(world, "7-seeds", at(kEnhanced, "1.0"), {44, 43, 43.5, 44});
  transient(world, "7-seeds", at(kVoqsw, "1.0"), {44, 25, 28, 30});
  transient(world, "9-seeds", at(kBasic, "0.5"), {25, 10, 12, 24});
  transient(world, "9-seeds", at(kEnhanced, "0.5"), {25, 24.5, 24.8, 25});
  transient(world, "9-seeds", at(kVoqsw, "0.5"), {25, 9, 11, 18});
  transient(world, "9-seeds", at(kBasic, "1.0"), {44, 10, 14, 30});
  transient(world, "9-seeds", at(kEnhanced, "1.0"), {44, 43, 43.5, 44});
  transient(world, "9-seeds", at(kVoqsw, "1.0"), {44, 10, 13, 20});
  transient(world, "10-seeds", at(kBasic, "0.5"), {25, 25 * 0.67, 20, 25});
  transient(world, "10-seeds", at(kEnhanced, "0.5"), {25, 24.5, 24.8, 25});
  transient(world, "10-seeds", at(kVoqsw, "0.5"), {25, 9, 11, 18});
  transient(world, "10-seeds", at(kBasic, "1.0"), {44, 44 * 0.55, 30, 38});
  transient(world, "10-seeds", at(kEnhanced, "1.0"), {44, 43, 43.5, 44});
  transient(world, "10-seeds", at(kVoqsw, "1.0"), {44, 10, 13, 20});
  transient(world, "11a-seeds", of(kBasic), {350, 170, 200, 180});
  transient(world, "11a-seeds", of(kEnhanced), {350, 345, 347, 350});
  transient(world, "11b-seeds", of(kBasic), {1400, 500, 600, 530});
  transient(world, "11b-seeds", of(kEnhanced), {1400, 1380, 1390, 1400});
  for (const std::string figure : {"7-seeds", "10-seeds"}) {
    oscillate(world, figure, of(kBasic), 0.1);
    oscillate(world, figure, of(kEnhanced), 0.01);
  }
  spread(world, "10-seeds", of(kEnhanced), "saq_most_packets", 45);
  spread(world, "10-seeds", of(kEnhanced), "saq_most_after_xoff", 2);
  spread(world, "8-seeds", {}, "packet_latency", 130);
  spread(world, "8-seeds", {{"series", kBasic}, {"speedup", "1"}}, "packet_latency", 160);
  spread(world, "fits", {{"overhead", "6"}}, "throughput_before", 44);
  spread(world, "fits", {{"overhead", "0"}}, "throughput_before", 48);
  spread(world, "fits", {{"limit", "64"}}, "saqs_at_end", 100);
  spread(world, "fits", {{"limit", "0"}}, "saqs_at_end", 200);
  roots("6", kBasic, 5, 0)(world);
  roots("6", kEnhanced, 1, 0)(world);
  roots("6-seven", kBasic, 7, 0)(world);
  roots("6-seven", kEnhanced, 1, 0)(world);
  events("1a", kEnhanced, kGrowth)(world);
  events("1b", kEnhanced, kSpots)(world);
  events("1b", kBasic, {"detected.s0.out0"})(world);
  events("2", "two_flows_no_speedup", {"detected.s0.in1"})(world);
  events("2", "two_flows", {"detected.s0.out0"})(world);
  events("2", "three_flows", {"detected.s0.in1", "detected.s0.out0"})(world);
  events("1c", "before", {"root.s1.out3"})(world);
  events("1c", "after", {"root.s0.out0"})(world);
  events("3a", "before", {"detected.s0.out0", "root.s0.out0"})(world);
  events("3a", "after", {"detected.s0.out0", "detected.s2.out2", "root.s2.out2"})(world);
  events("3b", "after", kApart)(world);
  world.set("3b", of("after"), "saqs_most_per_port", 2);
  events("3c", "before", {"root.s0.out0"})(world);
  events("3c", "after", {"root.s1.out1"})(world);
  return world;
}

const std::string kLowest = "lowest_throughput";
const std::string kAfter = "throughput_after";
const std::string kDuring = "throughput_during";

Change both_loads(const std::string& figure, double low, double full) {
  return together(
      {value(figure, at(kEnhanced, "0.5"), kLowest, low), value(figure, at(kEnhanced, "1.0"), kLowest, full)});
}

/// What basic RECN has afterwards, so that this part of what it lost comes back.
Change regains(const std::string& figure, double before, double lowest, double part) {
  return value(figure, of(kBasic), kAfter, lowest + part * (before - lowest));
}

/// The gaps at worst and afterwards with 2048 hosts, `factor` times those with 512 (50 and 48.6 % of 1400).
Change gap(double factor) {
  return together({value("11b-seeds", of(kBasic), kLowest, 1380 - 1400 * 0.5 * factor),
                   value("11b-seeds", of(kBasic), kAfter, 1400 - 1400 * (170.0 / 350) * factor)});
}

/// The lowest throughput with one way up, where it is 10 bytes/ns with all others.
Change choices(double straight) {
  return together({value("choices", of(kBasic), kLowest, 10),
                   value("choices", {{"series", kBasic}, {"up", "straight"}}, kLowest, straight)});
}

/// What basic RECN has at worst and afterwards in case 4 with speedup, of 44 before.
Change basic_10_recovers(double lowest, double after) {
  return together(
      {value("10-seeds", at(kBasic, "1.0"), kLowest, lowest), value("10-seeds", at(kBasic, "1.0"), kAfter, after)});
}

/// Both other mechanisms carry `factor` times what enhanced RECN does, at all loads of all figures.
Change all_beside_enhanced(double factor) {
  return [=](World& world) {
    for (const std::string figure : {"7-seeds", "9-seeds", "10-seeds"}) {
      for (const std::string& series : {kBasic, kVoqsw})
        world.relate(figure, of(series), kDuring, of(kEnhanced), kDuring, factor);
    }
  };
}

std::vector<CounterFigure> figures() {
  const auto lowest = [](const std::string& figure, const Selection& where, double v) {
    return value(figure, where, kLowest, v);
  };
  std::vector<CounterFigure> all{
      {"1a", events("1a", kEnhanced, swapped(kGrowth, 0, 4)), events("1a", kEnhanced, swapped(kGrowth, 2, 3)),
       events("1a", kEnhanced, kGrowth)},
      {"1a", events("1a", kEnhanced, {"detected.s1.in0"}),
       events("1a", kEnhanced,
              {"detected.s0.out0", "aside.s0.in1", "aside.s1.out1", "aside.s1.in0", "aside.t1", "detected.s1.out1"}),
       events("1a", kEnhanced, kGrowth)},
      {"1b", events("1b", kEnhanced, {"detected.s0.out0", "root.s1.out3", "root.s2.out3"}),
       events("1b", kEnhanced, replaced(kSpots, "detected.s1.in2", "detected.s3.in2")),
       events("1b", kEnhanced, kSpots)},
      {"1b", events("1b", kEnhanced, {"detected.s0.out0", "root.s1.out3"}),
       events("1b", kEnhanced, replaced(kSpots, "root.s0.out0", "root.s1.out3")), events("1b", kEnhanced, kSpots)},
      {"2", events("2", "two_flows", {"detected.s0.in1"}),
       events("2", "three_flows", {"detected.s0.out0", "detected.s0.in1"}),
       events("2", "three_flows", {"detected.s0.in1"})},
      {"2", events("2", "two_flows_no_speedup", {"detected.s0.out0"}),
       events("2", "two_flows_no_speedup", {"detected.s0.in1", "detected.s0.out0"}),
       events("2", "two_flows_no_speedup", {"detected.s0.in2"})},
      {"1c", events("1c", "after", {"root.s1.out3"}), events("1c", "after", {"root.s0.out0", "root.s1.out3"}),
       events("1c", "after", {"root.s0.out0"})},
      {"3a", events("3a", "after", {"detected.s0.out0"}), events("3a", "before", {"detected.s2.out2", "root.s0.out0"}),
       events("3a", "after", {"detected.s2.out2", "root.s2.out2"})},
      // The common root comes and goes again; it comes and the old one stays beside it.
      {"3a", events("3a", "after", {"detected.s0.out0", "detected.s2.out2", "root.s0.out0", "root.s1.out0"}),
       events("3a", "after", {"detected.s0.out0", "detected.s2.out2", "root.s0.out0", "root.s2.out2"}),
       events("3a", "after", {"detected.s2.out2", "root.s2.out2"})},
      {"3b", events("3b", "after", {"detected.s2.out2"}),
       events("3b", "after", {"detected.s2.out2", "detected.s1.out0", "root.s0.out0", "root.s1.out0"}),
       events("3b", "after", {"detected.s0.in1", "root.s0.out0", "root.s1.out0"})},
      // One tree only; a second one that ends.
      {"3b", events("3b", "after", {"detected.s0.out0", "root.s0.out0"}),
       events("3b", "after", {"detected.s0.out0", "detected.s1.out0", "root.s0.out0"}), events("3b", "after", kApart)},
      {"3b", events("3b", "after", {}), [](World& world) { world.set("3b", of("after"), "saqs_most_per_port", 1); },
       [](World& world) { world.set("3b", of("after"), "saqs_most_per_port", 3); }},
      {"3c", events("3c", "after", {"root.s0.out0"}), events("3c", "before", {"root.s1.out1"}),
       events("3c", "after", {"root.s1.out2"})},
      {"3c", events("3c", "after", {"root.s0.out0"}), events("3c", "after", {"root.s0.out0", "root.s1.out1"}),
       events("3c", "after", {"root.s1.out2"})},
      {"6", roots("6", kBasic, 1, 0), roots("6", kEnhanced, 2, 0), roots("6", kBasic, 2, 0)},
      {"6", roots("6", kEnhanced, 5, 0), roots("6", kBasic, 5, 1), roots("6", kBasic, 3, 0)},
      {"6-seven", roots("6-seven", kBasic, 1, 0), roots("6-seven", kBasic, 6, 0), roots("6-seven", kBasic, 7, 0)},
      {"6-seven", roots("6-seven", kEnhanced, 7, 0), roots("6-seven", kEnhanced, 1, 1),
       roots("6-seven", kEnhanced, 1, 0)},
      {"8", value("8-seeds", {}, "packet_latency", 130),
       value("8-seeds", {{"series", kBasic}, {"speedup", "1"}}, "packet_latency", 130 * 1.09),
       value("8-seeds", {{"series", kBasic}, {"speedup", "1"}}, "packet_latency", 130 * 1.11)},
      {"8", value("8-seeds", {{"series", kEnhanced}, {"speedup", "1.5"}}, "packet_latency", 260),
       value("8-seeds", {{"series", kBasic}, {"speedup", "1.5"}}, "packet_latency", 130 * 1.13),
       value("8-seeds", {{"series", kBasic}, {"speedup", "1.5"}}, "packet_latency", 130 * 1.09)},
      {"7-basic", lowest("7-seeds", at(kBasic, "1.0"), 44), lowest("7-seeds", at(kBasic, "1.0"), 37 * 1.16),
       lowest("7-seeds", at(kBasic, "1.0"), 37 * 1.06)},
      {"7-basic", value("7-seeds", at(kBasic, "1.0"), "throughput_before", 88),
       value("7-seeds", at(kBasic, "1.0"), "throughput_before", 44 * 1.16),
       value("7-seeds", at(kBasic, "1.0"), "throughput_before", 44 * 1.14)},
      // Both numbers are near, and what lies between them is no fall, or less than half of the paper's.
      {"7-basic",
       together(
           {value("7-seeds", at(kBasic, "1.0"), "throughput_before", 40), lowest("7-seeds", at(kBasic, "1.0"), 40)}),
       lowest("7-seeds", at(kBasic, "1.0"), 44 - 3.4), lowest("7-seeds", at(kBasic, "1.0"), 44 - 3.6)},
      {"7-voqsw", lowest("7-seeds", at(kVoqsw, "1.0"), 44), lowest("7-seeds", at(kVoqsw, "1.0"), 25 * 0.84),
       lowest("7-seeds", at(kVoqsw, "1.0"), 25 * 0.86)},
      {"7-voqsw-stays-down", value("7-seeds", at(kVoqsw, "1.0"), kAfter, 44),
       value("7-seeds", at(kVoqsw, "1.0"), kAfter, 44 * 0.96), value("7-seeds", at(kVoqsw, "1.0"), kAfter, 44 * 0.94)},
      {"7-basic-recovers", value("7-seeds", at(kBasic, "1.0"), kAfter, 20),
       value("7-seeds", at(kBasic, "1.0"), kAfter, 44 * 0.94), value("7-seeds", at(kBasic, "1.0"), kAfter, 44 * 0.96)},
      {"7-oscillation", oscillation("7-seeds", 0.2), oscillation("7-seeds", 0.0505), oscillation("7-seeds", 0.0495)},
      {"10-oscillation", oscillation("10-seeds", 0.2), oscillation("10-seeds", 0.0505),
       oscillation("10-seeds", 0.0495)},
      {"7-alike", value("7-seeds", at(kBasic, "1.0"), kDuring, 20),
       value("7-seeds", at(kBasic, "1.0"), kDuring, 43.5 * 0.89),
       value("7-seeds", at(kBasic, "1.0"), kDuring, 43.5 * 0.91)},
      {"7-enhanced", lowest("7-seeds", at(kEnhanced, "1.0"), 20), lowest("7-seeds", at(kEnhanced, "1.0"), 44 * 0.92),
       lowest("7-seeds", at(kEnhanced, "1.0"), 44 * 0.94)},
      {"7-mild", lowest("7-seeds", at(kBasic, "0.5"), 5), lowest("7-seeds", at(kBasic, "0.5"), 25 * 0.74),
       lowest("7-seeds", at(kBasic, "0.5"), 25 * 0.76)},
      {"9-basic-half", lowest("9-seeds", at(kBasic, "0.5"), 25), lowest("9-seeds", at(kBasic, "0.5"), 11.6),
       lowest("9-seeds", at(kBasic, "0.5"), 11.4)},
      {"9-basic-full", lowest("9-seeds", at(kBasic, "1.0"), 44), lowest("9-seeds", at(kBasic, "1.0"), 8.4),
       lowest("9-seeds", at(kBasic, "1.0"), 8.6)},
      {"9-basic-stays-down", value("9-seeds", at(kBasic, "1.0"), kAfter, 44),
       value("9-seeds", at(kBasic, "1.0"), kAfter, 44 * 0.96), value("9-seeds", at(kBasic, "1.0"), kAfter, 44 * 0.94)},
      {"9-enhanced", both_loads("9-seeds", 10, 20), both_loads("9-seeds", 24.5, 44 * 0.92),
       both_loads("9-seeds", 23.5, 41.4)},
      {"10-basic", lowest("10-seeds", at(kBasic, "1.0"), 44), lowest("10-seeds", at(kBasic, "1.0"), 44 * 0.49),
       lowest("10-seeds", at(kBasic, "1.0"), 44 * 0.51)},
      {"10-enhanced", both_loads("10-seeds", 10, 20), both_loads("10-seeds", 25 * 0.92, 43),
       both_loads("10-seeds", 23.5, 41.4)},
      {"10-partial-recovery", value("10-seeds", at(kBasic, "1.0"), kAfter, 10),
       value("10-seeds", at(kBasic, "1.0"), kAfter, 44 * 0.96),
       value("10-seeds", at(kBasic, "1.0"), kAfter, 44 * 0.94)},
      {"10-partial-recovery", value("10-seeds", at(kBasic, "1.0"), kAfter, 10), basic_10_recovers(10, 23.8),
       basic_10_recovers(10, 24.2)},
      {"10-partial-recovery", basic_10_recovers(30, 30), basic_10_recovers(30, 30 + 14 * 0.24),
       basic_10_recovers(30, 30 + 14 * 0.26)},
      {"speedup-helps-basic", lowest("10-seeds", of(kBasic), 1), lowest("10-seeds", at(kBasic, "1.0"), 9.5),
       lowest("10-seeds", at(kBasic, "1.0"), 10.5)},
      {"order", value("9-seeds", of(kEnhanced), kDuring, 5), value("7-seeds", at(kBasic, "1.0"), kDuring, 43.5 * 1.02),
       value("7-seeds", at(kBasic, "1.0"), kDuring, 43.5 * 0.98)},
      {"order", all_beside_enhanced(1.008), value("7-seeds", at(kBasic, "1.0"), kDuring, 43.5 * 1.005),
       all_beside_enhanced(0.995)},
      {"bounded",
       together({value("10-seeds", at(kEnhanced, "1.0"), "saq_most_packets", 512),
                 value("10-seeds", at(kEnhanced, "1.0"), "saq_most_after_xoff", 400)}),
       value("10-seeds", at(kEnhanced, "1.0"), "saq_most_packets", 51),
       value("10-seeds", at(kEnhanced, "1.0"), "saq_most_packets", 50)},
      {"11-512", lowest("11a-seeds", of(kEnhanced), 100), lowest("11a-seeds", of(kEnhanced), 350 * 0.92),
       lowest("11a-seeds", of(kEnhanced), 350 * 0.94)},
      {"11-512", regains("11a-seeds", 350, 170, 1.0), regains("11a-seeds", 350, 170, 0.26),
       regains("11a-seeds", 350, 170, 0.24)},
      {"11-2048", lowest("11b-seeds", of(kBasic), 1400), lowest("11b-seeds", of(kBasic), 1400 * 0.76),
       together({lowest("11b-seeds", of(kBasic), 1400 * 0.74), regains("11b-seeds", 1400, 1400 * 0.74, 0.1)})},
      {"11-gap", gap(0.5), gap(1.08), gap(1.12)},
      {"choices", value("choices", of(kBasic), kLowest, 10), choices(14.9), choices(15.1)},
      {"fits", value("fits", {{"overhead", "6"}}, "throughput_before", 88),
       value("fits", {{"overhead", "6"}}, "throughput_before", 44 * 1.06),
       value("fits", {{"overhead", "6"}}, "throughput_before", 44 * 1.04)},
      {"fits", value("fits", {{"limit", "0"}}, "saqs_at_end", 50), value("fits", {{"limit", "0"}}, "saqs_at_end", 99),
       value("fits", {{"limit", "0"}}, "saqs_at_end", 101)},
  };
  const auto everywhere = [&](const std::string& claim, const std::vector<Change>& changes) {
    test::everywhere(all, claim, together(changes));
  };
  everywhere("2", {events("2", "two_flows_no_speedup", {"detected.s0.out0"}),
                   events("2", "two_flows", {"detected.s0.in1"}), events("2", "three_flows", {"detected.s0.out0"})});
  everywhere("6-seven", {roots("6-seven", kBasic, 1, 7), roots("6-seven", kEnhanced, 7, 1)});
  everywhere("7-alike", {value("7-seeds", of(kBasic), kDuring, 10)});
  everywhere("7-mild", {lowest("7-seeds", at(kBasic, "0.5"), 5), lowest("7-seeds", at(kEnhanced, "0.5"), 5)});
  everywhere("10-basic", {lowest("10-seeds", of(kBasic), 44)});
  everywhere("10-partial-recovery",
             {value("10-seeds", at(kBasic, "1.0"), kAfter, 44), value("10-seeds", at(kVoqsw, "1.0"), kAfter, 44)});
  everywhere("11-512", {lowest("11a-seeds", of(kEnhanced), 100), lowest("11a-seeds", of(kBasic), 340),
                        value("11a-seeds", of(kBasic), kAfter, 350)});
  everywhere("order", {value("7-seeds", of(kEnhanced), kDuring, 5), value("9-seeds", of(kEnhanced), kDuring, 5),
                       value("10-seeds", of(kEnhanced), kDuring, 5)});
  everywhere("fits", {value("fits", {{"overhead", "6"}}, "throughput_before", 88),
                      value("fits", {{"overhead", "0"}}, "throughput_before", 40),
                      value("fits", {{"limit", "0"}}, "saqs_at_end", 50)});
  return all;
}

test::CounterStudy study_of() {
  return {"congestion-trees", paper, figures(), {"detected.", "aside.", "root", "saqs_most_per_port"}};
}
const bool kRegistered = test::studies_with_counter_figures().insert("congestion-trees").second;

TEST(CongestionTreesCounterFigures, every_claim_has_them) { test::every_claim_has_counter_figures(study_of()); }
TEST(CongestionTreesCounterFigures, every_claim_can_fail) { test::claims_can_fail(study_of()); }
TEST(CongestionTreesCounterFigures, fewer_data_never_give_a_better_verdict) {
  test::fewer_data_are_never_better(study_of(), 2);
}
TEST(CongestionTreesCounterFigures, a_stored_study_is_judged_like_the_run) {
  test::a_stored_study_is_judged_like_the_run(study_of());
}

}  // namespace
}  // namespace banyan::study::counter_figures_congestion_trees_test
