// What the field says about the remedies against congestion, in our own short words, as checks over the same fires.
// Values are means over seeds with their intervals of 95 %, so that one seed alone decides nothing.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "banyan/study/study.hpp"

namespace banyan::study::remedies {
namespace {

constexpr double kStays = 0.93;      ///< "at once": the victims' lowest 10 us keep as much of the throughput before
constexpr double kEachTrip = 0.85;   ///< the same of the lowest 1 us, which scatter more
constexpr double kOff = 1.5;         ///< "off": by a half
constexpr double kThrottles = 1.05;  ///< "throttles victims": costs them a twentieth
constexpr double kHoldsUp = 0.8;     ///< "hold up": victims lose a fifth
constexpr double kTowards = 0.5;     ///< "falls towards VOQsw": more than half of its percentile remains

const std::vector<std::string> kSudden{"case-4", "case-4-speedup-1"};

Selection of(const std::string& remedy) { return {{"series", remedy}}; }

/// Of one run; its interval does not matter beside that over the seeds.
Estimate quotient(const Estimate& a, const Estimate& b) {
  if (!a.known || !b.known || !(b.mean > 0)) return Estimate::unknown();
  return Estimate::exactly(a.mean / b.mean);
}

/// The share of the throughput before that the victims keep in their lowest window.
Estimate kept(const View& view, const std::string& fire, const std::string& remedy) {
  return over_seeds(view, fire, of(remedy), [&](const Selection& point) {
    return quotient(view.at(fire, point, "lowest_throughput"), view.at(fire, point, "throughput_before"));
  });
}

/// One metric of a remedy over that of another at the same seeds: runs of a seed have the same fire.
Estimate beside(const View& view, const std::string& fire, const std::string& remedy, const std::string& other,
                const std::string& metric) {
  return over_seeds(view, fire, of(remedy), [&](const Selection& point) {
    const Selection beside_it = with(point, "series", other);
    if (!view.has_point(fire, beside_it)) return Estimate::unknown();
    return quotient(view.at(fire, point, metric), view.at(fire, beside_it, metric));
  });
}

Selection place(const View& view, const std::string& fire, const std::string& remedy) {
  return {{"", fire}, {"", view.symbols(of(remedy)).front().second}};
}

Decision below(const Estimate& a, double limit) { return less(a, Estimate::exactly(limit)); }
Decision above(const Estimate& a, double limit) { return greater(a, Estimate::exactly(limit)); }

Outcome isolation_at_once(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string& fire : kSudden) {
    const Estimate share = kept(view, fire, "recn_enhanced");
    tally.add(place(view, fire, "recn_enhanced"), above(share, kStays));
    measured += fmt::format("{}{} in {}", measured.empty() ? "keeps " : ", ", to_string(share), fire);
  }
  return tally.outcome(measured);
}

/// In windows of a round trip, what isolates is never as late as what throttles.
Outcome round_trip(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string remedy : {"recn_enhanced", "dcqcn", "infiniband_cc"}) {
    const Estimate share = kept(view, "round-trip", remedy);
    tally.add(place(view, "round-trip", remedy),
              remedy == "recn_enhanced" ? above(share, kEachTrip) : below(share, kEachTrip));
    measured += fmt::format("{}{} {}", measured.empty() ? "" : ", ", remedy, to_string(share));
  }
  return tally.outcome("of the throughput before, the lowest round trip keeps " + measured);
}

Outcome throttling_late(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string& fire : kSudden) {
    for (const std::string remedy : {"dcqcn", "dctcp", "swift"}) {
      const Estimate share = kept(view, fire, remedy);
      tally.add(place(view, fire, remedy), below(share, kStays));
      measured += fmt::format("{}{} {} in {}", measured.empty() ? "" : ", ", remedy, to_string(share), fire);
    }
  }
  return tally.outcome("keep " + measured);
}

Outcome frees(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string fire : {"case-2", "case-4", "moving"}) {
    const Estimate ratio = beside(view, fire, "recn_dcqcn", "recn_enhanced", "congestion_tree_members_most");
    tally.add(place(view, fire, "recn_dcqcn"), below(ratio, 1.0));
    measured += fmt::format("{}{} in {}", measured.empty() ? "trees of " : ", ", to_string(ratio), fire);
  }
  return tally.outcome(measured + " of their size without throttling");
}

Outcome together(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string fire : {"case-2", "case-4", "moving", "storm"}) {
    for (const std::string alone : {"recn_enhanced", "dcqcn"}) {
      const Estimate ratio = beside(view, fire, "recn_dcqcn", alone, "victim_latency_p99");
      tally.add(place(view, fire, alone), below(ratio, 1.0));
      measured += fmt::format("{}{} of {} in {}", measured.empty() ? "" : ", ", to_string(ratio), alone, fire);
    }
  }
  return tally.outcome("the worst victim's percentile is " + measured);
}

Outcome root_marks(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string fire : {"case-2", "case-4", "moving"}) {
    const Estimate ratio = beside(view, fire, "dcqcn_root", "dcqcn", "throughput_during");
    tally.add({{"", fire}}, above(ratio, kThrottles));
    measured += fmt::format("{}{} in {}", measured.empty() ? "" : ", ", to_string(ratio), fire);
  }
  return tally.outcome("with marks at roots the victims get " + measured + " of what they get with marks everywhere");
}

Outcome many_roots(const View& view) {
  const Estimate storm = beside(view, "storm", "recn_enhanced", "voqsw", "victim_latency_p99");
  const Estimate few = beside(view, "moving", "recn_enhanced", "voqsw", "victim_latency_p99");
  Tally tally;
  tally.add({{"", "storm"}}, above(storm, kTowards));
  tally.add({{"", "moving"}}, below(few, kTowards));
  return tally.outcome(
      fmt::format("the worst victim's percentile is {} of VOQsw's in the storm, {} with one root at a time",
                  to_string(storm), to_string(few)));
}

Outcome tuned_elsewhere(const View& view) {
  const Estimate far = beside(view, "case-4", "swift_far", "swift", "victim_latency_p99");
  const Estimate near = beside(view, "collateral", "swift", "swift_far", "throughput_during");
  Tally tally;
  tally.add({{"", "case-4"}}, above(far, kOff));
  tally.add({{"", "collateral"}}, below(near, 1 / kOff));
  return tally.outcome(fmt::format(
      "Swift with targets for long links has {} of the worst victim's percentile in case 4; with those for case 4 the "
      "long flow gets {} of its throughput in collateral",
      to_string(far), to_string(near)));
}

Outcome cube_isolation(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string remedy : {"isolated_background", "isolated_hot_spot", "hot_section"}) {
    const Estimate ratio = beside(view, "cube", remedy, "bypass", "mu_bg_tot");
    tally.add(place(view, "cube", remedy), below(ratio, 1.0));
    measured += fmt::format("{}{} {}", measured.empty() ? "" : ", ", remedy, to_string(ratio));
  }
  return tally.outcome("background delay beside bypass: " + measured);
}

/// Packets that throttling behind the isolation keeps out of the network are not in the set-aside queues.
Outcome told_sources(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string fire : {"case-2", "case-4", "moving"}) {
    const Estimate ratio = beside(view, fire, "recn_told_infiniband_cc", "recn_enhanced", "victim_latency_p99");
    tally.add(place(view, fire, "recn_told_infiniband_cc"), below(ratio, 1.0));
    measured += fmt::format("{}{} in {}", measured.empty() ? "" : ", ", to_string(ratio), fire);
  }
  return tally.outcome("the worst victim's percentile beside RECN alone: " + measured);
}

/// Pauses stop a link for all: what they hold up is what one queue holds up.
Outcome pauses_spread(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string fire : {"case-2", "case-4", "storm"}) {
    const Estimate ratio = beside(view, fire, "pause", "voqnet", "throughput_during");
    tally.add({{"", fire}}, below(ratio, kHoldsUp));
    measured += fmt::format("{}{} in {}", measured.empty() ? "" : ", ", to_string(ratio), fire);
  }
  return tally.outcome("the victims get of what they get where nobody is held up: " + measured);
}

Outcome combining(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string remedy : {"isolated_background", "isolated_hot_spot", "hot_section"}) {
    const Estimate background = beside(view, "cube", "combining", remedy, "mu_bg_tot");
    const Estimate session = beside(view, "cube", "combining", remedy, "session_cycles");
    tally.add(place(view, "cube", remedy), below(background, 1.0));
    tally.add(place(view, "cube", remedy), below(session, 1.0));
    measured += fmt::format("{}{} of the background's delay and {} of the time of {}", measured.empty() ? "" : ", ",
                            to_string(background), to_string(session), remedy);
  }
  return tally.outcome(measured);
}

std::vector<Claim> claims() {
  return {
      {"isolation-at-once", "isolation",
       "Isolation in the switches reacts at once: the victims' throughput hardly falls", kSudden, true,
       isolation_at_once, "", Mode::standard},
      {"round-trip",
       "isolation",
       "Isolation reacts within one round trip, throttling does not",
       {"round-trip"},
       false,
       round_trip,
       "",
       Mode::standard},
      {"throttling-late", "throttling",
       "Throttling at the end hosts reacts later: at first the victims' throughput falls", kSudden, false,
       throttling_late,
       "DCTCP and Swift open every flow with a small window, which holds the fire back "
       "before anything is measured",
       Mode::standard},
      {"throttling-frees",
       "both",
       "Throttling frees resources that isolation holds: trees are smaller",
       {"case-2", "case-4", "moving"},
       false,
       frees,
       "",
       Mode::standard},
      {"together",
       "both",
       "Isolation and throttling together beat each alone",
       {"case-2", "case-4", "moving", "storm"},
       false,
       together,
       "",
       Mode::standard},
      {"root-marks",
       "marks",
       "Marking all that waits behind a tree throttles victims, marking at roots does not",
       {"case-2", "case-4", "moving"},
       false,
       root_marks,
       "",
       Mode::standard},
      {"many-roots",
       "isolation",
       "With more roots than set-aside queues RECN falls towards VOQsw",
       {"storm", "moving"},
       true,
       many_roots,
       "",
       Mode::standard},
      {"tuned-elsewhere",
       "parameters",
       "A remedy tuned on one fire is off on another",
       {"case-4", "collateral"},
       false,
       tuned_elsewhere,
       "",
       Mode::standard},
      {"told-sources",
       "both",
       "Sources that RECN tells of its roots make the victims' worst percentile smaller than RECN alone does",
       {"case-2", "case-4", "moving"},
       false,
       told_sources,
       "",
       Mode::standard},
      {"pauses-spread",
       "pause",
       "Pauses of a port with one class hold up victims",
       {"case-2", "case-4", "storm"},
       false,
       pauses_spread,
       "",
       Mode::standard},
      {"combining",
       "cube",
       "Combining beats isolation where requests can be combined",
       {"cube"},
       false,
       combining,
       "",
       Mode::standard},
      {"cube-isolation",
       "cube",
       "On the Extra Stage Cube every scheme of isolation shortens the background's delay",
       {"cube"},
       true,
       cube_isolation,
       "",
       Mode::standard},
  };
}

}  // namespace

extern const StudyRow row_remedies;
const StudyRow row_remedies{"remedies", claims};

}  // namespace banyan::study::remedies
