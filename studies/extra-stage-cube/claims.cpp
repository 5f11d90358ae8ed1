// The claims of Wang, Siegel, Nichols, Abraham (TR-EE 92-25, 1992), in our own short words, as checks over the measured
// figures. What "greatly", "about" and "hardly" mean stands here, once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "banyan/study/study.hpp"

namespace banyan::study::extra_stage_cube {
namespace {

constexpr double kNumber = 0.05;  ///< a number of the text counts as reproduced within 5 %
constexpr double kGreatly = 0.5;  ///< "falls greatly": to less than half
constexpr double kAbout = 0.5;    ///< "by about as much": the smaller is at least half of the larger
constexpr double kLevel = 0.10;   ///< "nearly flat": by at most 10 %
constexpr double kSame = 0.03;    ///< "the same": within 3 % on average
constexpr double kMost = 0.75;    ///< "most": three of four
constexpr double kTree = 1.0;     ///< a tree has one box at least
constexpr double kRemains = 0.1;  ///< "removed": at most a tenth remains
/// "significantly", "substantially" (and, with "not", "relatively stable"): by a fifth, the least that is plain to see
/// on the printed scales.
constexpr double kSignificantly = 0.2;

const std::string kBypass = "bypass";
const std::string kIsolatedBg = "isolated_background";
const std::string kIsolatedHs = "isolated_hot_spot";
const std::string kHotSection = "hot_section";
const std::string kSyn = "mu_syn";
const std::string kTot = "mu_bg_tot";
const std::string kHot = "mu_bg_hs";
const std::string kBandwidth = "session_bandwidth";

/// The point of which the paper's text gives numbers: bypass, γ = 0.5, σ = 10, S = 12.
Selection numbers_point() { return {{"series", kBypass}, {"gamma", "0.5"}}; }

double value(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

/// Mean delay of the background that is not bound for the hot spot.
Estimate cold_background(const View& view, const std::string& figure, const Selection& at) {
  const double hot = view.at(figure, at, "session_hot_background").mean;
  const double all = view.at(figure, at, "session_background").mean;
  if (!(all > hot)) return {0.0, 0.0, 0, false};
  const double share = hot / all;
  const Estimate total = view.at(figure, at, kTot);
  const Estimate hot_delay = view.at(figure, at, kHot);
  return (1.0 / (1.0 - share)) * (total - share * hot_delay);
}

/// "A's metric is below B's metric" at every point that both series have.
struct Relation {
  std::string low_series;
  std::string low_metric;
  std::string high_series;
  std::string high_metric;
  double margin = 0.0;
};

Tally relate(const View& view, const std::string& figure, const std::vector<std::string>& axes,
             const Relation& relation, const Selection& label = {}) {
  Tally tally;
  for (const Selection& at : view.grid(figure, axes, {{"series", relation.low_series}})) {
    const Estimate low = view.at(figure, with(at, "series", relation.low_series), relation.low_metric);
    const Estimate high = view.at(figure, with(at, "series", relation.high_series), relation.high_metric);
    Selection where = label;
    for (const auto& symbol : view.symbols(at)) where.push_back(symbol);
    tally.add(where, less(low, high, relation.margin));
  }
  return tally;
}

/// Both metrics at one point, in words.
std::string pair_at(const View& view, const std::string& figure, const Selection& at, const Relation& relation) {
  const Estimate low = view.at(figure, with(at, "series", relation.low_series), relation.low_metric);
  const Estimate high = view.at(figure, with(at, "series", relation.high_series), relation.high_metric);
  std::string where;
  for (const auto& [name, text] : view.symbols(at)) where += (where.empty() ? "" : ", ") + name + " = " + text;
  return fmt::format("{} against {} cycles at {}", to_string(low), to_string(high), where);
}

Outcome relation_over_load(const View& view, const std::string& figure, const Relation& relation) {
  return relate(view, figure, {"gamma"}, relation).outcome(pair_at(view, figure, {{"gamma", "0.5"}}, relation));
}

/// A trend of one metric of one series along `axis`, checked for every combination of the other axes.
using Trend = Decision (*)(const std::vector<Estimate>&);

void trend(Tally& tally, const View& view, const std::string& figure, const std::string& series,
           const std::string& axis, const std::vector<std::string>& others, const std::string& metric, Trend decide,
           const Selection& label = {}) {
  for (const Selection& at : view.grid(figure, others, {{"series", series}})) {
    Selection where = view.symbols(label);
    for (const auto& symbol : view.symbols(at)) where.push_back(symbol);
    tally.add(where, decide(view.along(figure, axis, with(at, "series", series), metric)));
  }
}

Decision about_level(const std::vector<Estimate>& values) { return level(values, kLevel); }
Decision stable_within(const std::vector<Estimate>& values) { return level(values, kSignificantly); }
Decision falls_all_the_way(const std::vector<Estimate>& values) { return falls(values); }
Decision rises_all_the_way(const std::vector<Estimate>& values) { return rises(values); }

/// "from 120 ± 2 to 80 ± 1 cycles at γ = 0.5": the ends of a trend.
std::string ends(const View& view, const std::string& figure, const Selection& fixed, const std::string& axis,
                 const std::string& metric) {
  const std::vector<Estimate> all = view.along(figure, axis, fixed, metric);
  std::string where;
  for (const auto& [name, text] : view.symbols(fixed)) {
    if (!name.empty()) where += (where.empty() ? "" : ", ") + name + " = " + text;
  }
  return fmt::format("from {} to {} cycles at {}", to_string(all.front()), to_string(all.back()), where);
}

// ---- Numbers in the text (sections 4.1 and 4.3) ----

Outcome number_mu_syn(const View& view) {
  return compare_number(116, view.at("8", numbers_point(), kSyn), kNumber, "cycles");
}

Outcome number_mu_bg_hs(const View& view) {
  return compare_number(151, view.at("8", numbers_point(), kHot), kNumber, "cycles");
}

Outcome number_ratio(const View& view) {
  return compare_number(1.30, view.at("8", numbers_point(), kHot) / view.at("8", numbers_point(), kSyn), kNumber, "");
}

Outcome number_session(const View& view) {
  return compare_number(325, view.at("8", numbers_point(), "session_cycles"), kNumber, "cycles");
}

Outcome number_hot_background(const View& view) {
  return compare_number(162.5, view.at("8", numbers_point(), "session_hot_background"), kNumber, "messages");
}

/// Counts of single points scatter; their mean over the loads tells more.
Outcome background_count(const View& view) {
  Tally tally;
  for (const std::string& series : view.values("8", "series")) {
    std::vector<Estimate> all;
    std::vector<Estimate> hot;
    for (const std::string& gamma : view.values("8", "gamma")) {
      const Selection at{{"series", series}, {"gamma", gamma}};
      const Estimate expected = value(gamma) * 256.0 * view.at("8", at, "session_cycles");
      all.push_back(view.at("8", at, "session_background") / expected);
      hot.push_back(256.0 * view.at("8", at, "session_hot_background") / view.at("8", at, "session_background"));
    }
    for (const auto& [name, ratios] : {std::pair(std::string("all"), all), std::pair(std::string("hot"), hot)}) {
      Selection where = view.symbols({{"series", series}});
      where.emplace_back("", name);
      tally.add(where, one_on_average(ratios, kNumber, kLevel));
    }
  }
  return tally.outcome(
      fmt::format("|β| = {} at γ = 0.5 with bypass", to_string(view.at("8", numbers_point(), "session_background"))));
}

// ---- Isolated background (section 4.2) ----

/// The background's delay under one scheme against bypass, at the points of `axes` that `among` leaves.
Outcome background_falls(const View& view, const std::string& figure, const std::string& series,
                         const std::vector<std::string>& axes, Selection among = {}) {
  Tally tally;
  double least = 1.0;
  double most = -1.0;
  among = with(among, "series", series);
  for (const Selection& at : view.grid(figure, axes, among)) {
    const Estimate ours = view.at(figure, with(at, "series", series), kTot);
    const Estimate bypass = view.at(figure, with(at, "series", kBypass), kTot);
    tally.add(view.symbols(at), less(ours, bypass, kGreatly));
    const double fall = 1.0 - ours.mean / bypass.mean;
    least = std::min(least, fall);
    most = std::max(most, fall);
  }
  const auto percent = [](double share) { return std::round(100 * share) + 0.0; };  // + 0: never "-0"
  return tally.outcome(fmt::format("falls by {:.0f} to {:.0f} %", percent(least), percent(most)));
}

Outcome falls_isolated_bg(const View& view) { return background_falls(view, "8", kIsolatedBg, {"gamma"}); }
Outcome falls_isolated_hs(const View& view) { return background_falls(view, "8", kIsolatedHs, {"gamma"}); }
Outcome falls_hot_section(const View& view) {
  return background_falls(view, "14", kHotSection, {"sigma", "gamma"}, {{"sigma", "10"}});
}
Outcome falls_hot_section_spread(const View& view) {
  return background_falls(view, "14", kHotSection, {"sigma", "gamma"});
}

Outcome delay_moves(const View& view) {
  Tally tally;
  std::string detail;
  for (const Selection& at : view.grid("5", {"gamma"})) {
    const Selection bypass = with(at, "series", kBypass);
    const Selection isolated = with(at, "series", kIsolatedBg);
    const Estimate rise = view.at("5", isolated, kSyn) - view.at("5", bypass, kSyn);
    const Estimate fall = view.at("5", bypass, kTot) - view.at("5", isolated, kTot);
    tally.add(view.symbols(at), equal_within(rise, fall, kAbout));
    if (same_value(at.front().second, "0.5")) {
      detail = fmt::format("synchronization +{}, background −{} cycles at γ = 0.5", to_string(rise), to_string(fall));
    }
  }
  return tally.outcome(detail);
}

Outcome hot_waits_longer_bypass(const View& view) {
  const Relation relation{kBypass, kSyn, kBypass, kHot};
  Tally tally;
  const Selection at = numbers_point();
  tally.add(view.symbols({{"gamma", "0.5"}}), less(view.at("5", at, kSyn), view.at("5", at, kHot)));
  Outcome outcome = tally.outcome(pair_at(view, "5", {{"gamma", "0.5"}}, relation));
  outcome.note = "over all loads: " + relate(view, "5", {"gamma"}, relation).summary();
  return outcome;
}

Outcome hot_waits_less_isolated(const View& view) {
  const Relation relation{kIsolatedBg, kHot, kIsolatedBg, kSyn};
  return relation_over_load(view, "5", relation);
}

Outcome synchronization_is_early(const View& view) {
  const Selection at = {{"series", kBypass}};
  const std::vector<double>& sync = view.series("6", at, "generated_synchronization").values;
  const std::vector<double>& hot = view.series("6", at, "generated_hot_background").values;
  const double all_sync = std::accumulate(sync.begin(), sync.end(), 0.0);
  const double all_hot = std::accumulate(hot.begin(), hot.end(), 0.0);
  double seen = 0.0;
  std::size_t cycle = 0;
  while (cycle < sync.size() && seen < 0.99 * all_sync) seen += sync[cycle++];
  const auto middle = hot.begin() + static_cast<std::ptrdiff_t>(std::min(cycle, hot.size()));
  // The series are means over the sessions; a share of counts scatters as a binomial.
  const double counted = all_hot * view.at("6", at, "sessions").mean;
  Estimate later = Estimate::unknown();
  if (counted > 0 && all_sync > 0) {
    const double share = std::accumulate(middle, hot.end(), 0.0) / all_hot;
    later = {share, 1.96 * std::sqrt(share * (1.0 - share) / counted), static_cast<u64>(counted), true};
  }
  Tally tally;
  tally.add({}, greater(later, Estimate::exactly(kMost)));
  return tally.outcome(
      fmt::format("99 % of the synchronization messages are generated in the first {} cycles of a "
                  "session, {} % of the hot background afterwards",
                  cycle, to_string(100.0 * later)));
}

/// Hot background far behind the rest, and saturated boxes outside the subnetwork of the synchronization.
Outcome secondary_tree(const View& view) {
  Tally tally;
  for (const Selection& at : view.grid("8", {"gamma"})) {
    const Selection isolated = with(at, "series", kIsolatedBg);
    const Selection where = view.symbols(at);
    tally.add({{"", "delay"}, where.front()},
              less(cold_background(view, "8", isolated), view.at("8", isolated, kHot), kGreatly));
    tally.add({{"", "boxes"}, where.front()},
              greater(view.at("tree-load", isolated, "tree_boxes_outside"), Estimate::exactly(kTree)));
  }
  const Selection at = {{"series", kIsolatedBg}, {"gamma", "0.5"}};
  return tally.outcome(
      fmt::format("hot background {}, other background {} cycles, {} saturated boxes outside the "
                  "reserved subnetwork at γ = 0.5",
                  to_string(view.at("8", at, kHot)), to_string(cold_background(view, "8", at)),
                  to_string(view.at("tree-load", at, "tree_boxes_outside"))));
}

// ---- Isolated hot spot (section 4.3) ----

/// Where the mean number of boxes is 0 under isolated BG, there is no second tree to remove.
Outcome secondary_tree_removed(const View& view) {
  Tally tally;
  std::string none;
  for (const Selection& at : view.grid("tree-load", {"gamma"})) {
    const Estimate removed = view.at("tree-load", with(at, "series", kIsolatedHs), "tree_boxes_outside");
    const Estimate present = view.at("tree-load", with(at, "series", kIsolatedBg), "tree_boxes_outside");
    if (present.known && present.mean == 0.0 && removed.known && removed.mean == 0.0) {
      none += (none.empty() ? "" : ", ") + at.front().second;
      continue;
    }
    tally.add(view.symbols(at), less(removed, present, 1.0 - kRemains));
  }
  const Selection at = {{"gamma", "0.8"}};
  Outcome outcome = tally.outcome(
      fmt::format("{} against {} saturated boxes outside the reserved subnetwork at γ = 0.8",
                  to_string(view.at("tree-load", with(at, "series", kIsolatedHs), "tree_boxes_outside")),
                  to_string(view.at("tree-load", with(at, "series", kIsolatedBg), "tree_boxes_outside"))));
  if (!none.empty()) outcome.note += (outcome.note.empty() ? "" : "; ") + ("no second tree at γ = " + none);
  return outcome;
}

Outcome hs_lowers_syn(const View& view) {
  return relation_over_load(view, "8", {kIsolatedHs, kSyn, kIsolatedBg, kSyn, kSignificantly});
}

Outcome hs_raises_hot(const View& view) {
  return relation_over_load(view, "8", {kIsolatedBg, kHot, kIsolatedHs, kHot, kSignificantly});
}

Outcome hs_lowers_background(const View& view) {
  const Relation relation{kIsolatedHs, kTot, kIsolatedBg, kTot};
  Tally tally;
  for (const Selection& at : view.grid("8", {"gamma"})) {
    if (value(at.front().second) < 0.6) continue;
    tally.add(view.symbols(at), less(view.at("8", with(at, "series", kIsolatedHs), kTot),
                                     view.at("8", with(at, "series", kIsolatedBg), kTot)));
  }
  Outcome outcome = tally.outcome(pair_at(view, "8", {{"gamma", "0.8"}}, relation));
  outcome.note +=
      (outcome.note.empty() ? "" : "; ") + ("over all loads: " + relate(view, "8", {"gamma"}, relation).summary());
  return outcome;
}

Outcome hs_syn_above_bypass(const View& view) {
  return relation_over_load(view, "8", {kBypass, kSyn, kIsolatedHs, kSyn});
}

Outcome hs_hot_below_bypass(const View& view) {
  return relation_over_load(view, "8", {kIsolatedHs, kHot, kBypass, kHot});
}

/// "As γ increases": the lead of synchronization over hot background grows, and is there at the highest load.
Outcome hot_above_syn(const View& view) {
  Tally tally;
  std::string detail;
  for (const std::string& series : {kBypass, kIsolatedHs}) {
    const Selection of{{"series", series}};
    std::vector<Estimate> lead;
    for (const std::string& gamma : view.values("8", "gamma", of)) {
      const Selection at = with(of, "gamma", gamma);
      lead.push_back(view.at("8", at, kHot) - view.at("8", at, kSyn));
    }
    tally.add(view.symbols(with(of, "gamma", "all")), rises(lead));
    tally.add(view.symbols(with(of, "gamma", view.values("8", "gamma").back())),
              greater(lead.back(), Estimate::exactly(0)));
    detail += fmt::format("{}{}: {} to {} cycles", detail.empty() ? "" : "; ", view.symbols(of).front().second,
                          to_string(lead.front()), to_string(lead.back()));
  }
  return tally.outcome("hot background later than synchronization by, from the lowest to the highest load, " + detail);
}

Outcome system_bandwidth(const View& view) {
  Tally tally;
  for (const std::string& series : {kIsolatedBg, kIsolatedHs}) {
    for (const Selection& load : view.grid("8", {"gamma"})) {
      Selection where = view.symbols({{"series", series}});
      where.push_back(view.symbols(load).front());
      tally.add(where, greater(view.at("8", with(load, "series", series), kBandwidth),
                               view.at("8", with(load, "series", kBypass), kBandwidth)));
    }
  }
  const auto at_half = [&](const std::string& series) {
    return to_string(view.at("8", {{"series", series}, {"gamma", "0.5"}}, kBandwidth));
  };
  return tally.outcome(
      fmt::format("packets that arrive per cycle of a session at γ = 0.5: bypass {}, isolated BG {}, "
                  "isolated HS {}",
                  at_half(kBypass), at_half(kIsolatedBg), at_half(kIsolatedHs)));
}

// ---- Hot section (section 4.4) ----

Outcome four_sections_best(const View& view) {
  Tally tally;
  std::string detail;
  for (const Selection& load : view.grid("13", {"gamma"})) {
    const Estimate best = view.at("13", with(load, "K", "4"), kTot);
    for (const std::string& sections : view.values("13", "K")) {
      if (same_value(sections, "4")) continue;
      const Selection other = with(load, "K", sections);
      tally.add(view.symbols(other), less(best, view.at("13", other, kTot)));
    }
    const std::vector<std::string> all = view.values("13", "K");
    const auto lower = [&](const std::string& a, const std::string& b) {
      return view.at("13", with(load, "K", a), kTot).mean < view.at("13", with(load, "K", b), kTot).mean;
    };
    const std::string least = *std::min_element(all.begin(), all.end(), lower);
    detail += fmt::format("{}γ = {}: least at K = {} ({} cycles)", detail.empty() ? "" : ", ", load.front().second,
                          least, to_string(view.at("13", with(load, "K", least), kTot)));
  }
  return tally.outcome(detail);
}

/// Down to K = 4, up from there.
Outcome sections_on_both_sides(const View& view) {
  Tally tally;
  std::string detail;
  for (const std::string& gamma : view.values("13", "gamma")) {
    std::vector<Estimate> down;
    std::vector<Estimate> up;
    for (const std::string& sections : view.values("13", "K", {{"gamma", gamma}})) {
      const Estimate delay = view.at("13", {{"gamma", gamma}, {"K", sections}}, kTot);
      if (value(sections) <= 4) down.push_back(delay);
      if (value(sections) >= 4) up.push_back(delay);
    }
    Selection where = view.symbols({{"gamma", gamma}});
    tally.add({where.front(), {"", "K up to 4"}}, falls(down));
    tally.add({where.front(), {"", "K from 4"}}, rises(up));
    detail += fmt::format("{}γ = {}: {}, {}, {} cycles", detail.empty() ? "K = 1, 4, 256 at " : "; ", gamma,
                          to_string(down.front()), to_string(up.front()), to_string(up.back()));
  }
  return tally.outcome(detail);
}

Outcome syn_flat_in_sections(const View& view) {
  Tally tally;
  trend(tally, view, "13", kHotSection, "K", {"gamma"}, kSyn, about_level);
  const std::vector<Estimate> all = view.along("13", "K", {{"gamma", "0.8"}}, kSyn);
  const auto smaller = [](const Estimate& a, const Estimate& b) { return a.mean < b.mean; };
  const auto [low, high] = std::minmax_element(all.begin(), all.end(), smaller);
  return tally.outcome(fmt::format("{} to {} cycles at γ = 0.8", to_string(*low), to_string(*high)));
}

Outcome one_section_is_isolated_hs(const View& view) {
  Tally tally;
  for (const Selection& load : view.grid("13", {"gamma"})) {
    const Selection isolated = with(load, "series", kIsolatedHs);
    if (!view.has_point("8", isolated)) continue;
    Decision same = Decision::holds;
    for (const std::string& metric : {kSyn, kTot, kHot, std::string("session_cycles")}) {
      const Estimate one = view.at("13", with(load, "K", "1"), metric);
      const Estimate other = view.at("8", isolated, metric);
      same = both(same, !one.known || !other.known ? Decision::undecided
                        : one.mean == other.mean   ? Decision::holds
                                                   : Decision::fails);
    }
    tally.add(view.symbols(load), same);
  }
  return tally.outcome("the three delays and the session, compared to the last bit");
}

/// Against itself. What bypass's changes by on the way, on the paper's common scale, is told beside.
Outcome hot_section_hardly_feels_spread(const View& view) {
  Tally tally;
  std::string changes;
  for (const std::string& gamma : view.values("14", "gamma")) {
    const Selection at{{"gamma", gamma}};
    const std::vector<Estimate> ours = view.along("14", "sigma", with(at, "series", kHotSection), kTot);
    const std::vector<Estimate> bypass = view.along("14", "sigma", with(at, "series", kBypass), kTot);
    tally.add(view.symbols(at), level(ours, kSignificantly));
    changes += fmt::format("{}{} {} to {} (bypass {} to {})", changes.empty() ? "from σ = 10 to 100 at γ = " : "; ",
                           gamma, to_string(ours.front()), to_string(ours.back()), to_string(bypass.front()),
                           to_string(bypass.back()));
  }
  return tally.outcome(changes + " cycles");
}

/// Falls all the way; with a margin by that part at least.
Decision falls_by(const std::vector<Estimate>& values, double margin) {
  return values.size() < 2 ? Decision::undecided : both(falls(values), less(values.back(), values.front(), margin));
}
Decision falls_substantially(const std::vector<Estimate>& values) { return falls_by(values, kSignificantly); }

Outcome bypass_falls_with_spread(const View& view) {
  Tally tally;
  for (const std::string& metric : {kSyn, kHot}) {
    trend(tally, view, "14", kBypass, "sigma", {"gamma"}, metric, falls_substantially, {{"measure", metric}});
  }
  trend(tally, view, "14", kBypass, "sigma", {"gamma"}, kTot, falls_all_the_way, {{"measure", kTot}});
  return tally.outcome(
      fmt::format("μ_SYN {}", ends(view, "14", {{"series", kBypass}, {"gamma", "0.5"}}, "sigma", kSyn)));
}

Outcome hot_section_falls_with_spread(const View& view) {
  Tally tally;
  for (const std::string& metric : {kSyn, kHot}) {
    trend(tally, view, "14", kHotSection, "sigma", {"gamma"}, metric, falls_substantially, {{"measure", metric}});
  }
  return tally.outcome(
      fmt::format("μ_SYN {}", ends(view, "14", {{"series", kHotSection}, {"gamma", "0.5"}}, "sigma", kSyn)));
}

Outcome hot_section_like_isolated_hs(const View& view) {
  Tally tally;
  const auto merge = [&](const std::string& measure, const Relation& relation) {
    for (const Selection& at : view.grid("14", {"sigma", "gamma"}, {{"series", kHotSection}})) {
      Selection where = view.symbols({{"measure", measure}});
      for (const auto& symbol : view.symbols(at)) where.push_back(symbol);
      tally.add(where, less(view.at("14", with(at, "series", relation.low_series), relation.low_metric),
                            view.at("14", with(at, "series", relation.high_series), relation.high_metric)));
    }
  };
  merge(kSyn, {kBypass, kSyn, kHotSection, kSyn});
  merge(kTot, {kHotSection, kTot, kBypass, kTot});
  merge(kHot, {kHotSection, kHot, kBypass, kHot});
  return tally.outcome();
}

// ---- Input stage (section 4.4) ----

/// The delay of a saturated queue grows with the time that it has been saturated: N grows fourfold, the session with
/// it, and so the delay. Twice is the middle between "not at all" and "fourfold".
Decision saturates(const View& view, const std::string& figure, const Selection& at) {
  const Estimate small = cold_background(view, figure, with(at, "N", "256"));
  const Estimate large = cold_background(view, figure, with(at, "N", "1024"));
  return less(2.0 * small, large);
}

Decision stable(const View& view, const std::string& figure, const Selection& at) {
  const Estimate small = cold_background(view, figure, with(at, "N", "256"));
  const Estimate large = cold_background(view, figure, with(at, "N", "1024"));
  return less(large, 2.0 * small);
}

/// The paper derives a sufficient condition from the input stage alone: above the threshold it must saturate. Where the
/// network behind it saturates earlier is told beside.
Outcome input_stage(const View& view, const std::string& series, double factor) {
  Tally tally;
  std::string earlier;
  for (const auto& [figure, n] :
       {std::pair(std::string("threshold-2"), 2.0), std::pair(std::string("threshold-4"), 4.0)}) {
    const double threshold = factor * (n - 1) / n;
    std::string below;
    for (const Selection& at : view.grid(figure, {"gamma"}, {{"series", series}})) {
      const Decision decision = saturates(view, figure, with(at, "series", series));
      const Selection where{{"n", fmt::format("{}", n)}, view.symbols(at).front()};
      if (value(at.front().second) > threshold) {
        tally.add(where, decision);
      } else if (same_value(at.front().second, view.values(figure, "gamma").front())) {
        // Far below, the same measure must find a stable stage, or it would find saturation everywhere.
        tally.add(where, stable(view, figure, with(at, "series", series)));
      } else if (decision == Decision::holds) {
        below += (below.empty() ? "" : ", ") + at.front().second;
      }
    }
    if (!below.empty()) {
      earlier += fmt::format("{}n = {}: saturated below {:.3g} too, at γ = {}", earlier.empty() ? "" : "; ", n,
                             threshold, below);
    }
  }
  const Selection at = {{"series", series}, {"gamma", "0.6"}};
  Outcome outcome = tally.outcome(fmt::format("n = 2, γ = 0.6: {} cycles with N = 256, {} with N = 1,024",
                                              to_string(cold_background(view, "threshold-2", with(at, "N", "256"))),
                                              to_string(cold_background(view, "threshold-2", with(at, "N", "1024")))));
  if (!earlier.empty()) outcome.note += (outcome.note.empty() ? "" : "; ") + earlier;
  return outcome;
}

Outcome input_stage_isolated_bg(const View& view) { return input_stage(view, kIsolatedBg, 1.0); }
Outcome input_stage_isolated_hs(const View& view) { return input_stage(view, kIsolatedHs, 256.0 / 255.0); }

Outcome bottleneck_shrinks(const View& view) {
  Tally tally;
  std::string detail;
  for (const std::string& series : {kIsolatedBg, kIsolatedHs}) {
    const Selection at = {{"series", series}, {"gamma", "0.8"}};
    const std::vector<Estimate> all = view.along("radix", "n", at, kTot);
    tally.add(view.symbols(at), falls(all));
    std::string numbers;
    for (const Estimate& one : all) numbers += (numbers.empty() ? "" : ", ") + to_string(one);
    detail += fmt::format("{}{}: {} cycles", detail.empty() ? "" : "; ", view.symbols(at).front().second, numbers);
  }
  return tally.outcome("n = 2, 4, 16 at γ = 0.8: " + detail);
}

// ---- Buffer sizes (section 5) ----

Outcome small_buffer_beats_large(const View& view) {
  Tally tally;
  for (const Selection& at : view.grid("16", {"gamma", "sigma"}, {{"series", kHotSection}})) {
    const Estimate small = view.at("16", with(with(at, "series", kHotSection), "S", "8"), kTot);
    const Estimate large = view.at("16", with(with(at, "series", kBypass), "S", "20"), kTot);
    tally.add(view.symbols(at), less(small, large));
  }
  const Selection at = {{"gamma", "0.6"}, {"sigma", "10"}};
  return tally.outcome(fmt::format("{} against {} cycles at γ = 0.6, σ = 10",
                                   to_string(view.at("16", with(with(at, "series", kHotSection), "S", "8"), kTot)),
                                   to_string(view.at("16", with(with(at, "series", kBypass), "S", "20"), kTot))));
}

/// "Relatively stable" from S = 12 on: against itself. What smaller buffers gain is told beside.
Outcome settles_from_twelve(const View& view) {
  Tally tally;
  for (const Selection& at : view.grid("16", {"gamma", "sigma"}, {{"series", kHotSection}})) {
    std::vector<Estimate> from_twelve;
    for (const std::string& capacity : view.values("16", "S")) {
      if (value(capacity) < 12) continue;
      from_twelve.push_back(view.at("16", with(with(at, "series", kHotSection), "S", capacity), kTot));
    }
    tally.add(view.symbols(at), level(from_twelve, kSignificantly));
  }
  const Selection at = {{"series", kHotSection}, {"gamma", "0.6"}, {"sigma", "10"}};
  return tally.outcome(fmt::format(
      "S = 4: {}, S = 12: {}, S = 20: {} cycles at γ = 0.6, σ = 10", to_string(view.at("16", with(at, "S", "4"), kTot)),
      to_string(view.at("16", with(at, "S", "12"), kTot)), to_string(view.at("16", with(at, "S", "20"), kTot))));
}

Outcome buffers_lower_syn(const View& view) {
  Tally tally;
  trend(tally, view, "15", kHotSection, "S", {"gamma", "sigma"}, kSyn, falls_all_the_way);
  return tally.outcome(ends(view, "15", {{"series", kHotSection}, {"gamma", "0.6"}, {"sigma", "10"}}, "S", kSyn));
}

Outcome buffers_raise_hot(const View& view) {
  Tally tally;
  trend(tally, view, "17", kHotSection, "S", {"gamma", "sigma"}, kHot, rises_all_the_way);
  return tally.outcome(ends(view, "17", {{"series", kHotSection}, {"gamma", "0.6"}, {"sigma", "10"}}, "S", kHot));
}

Outcome buffers_leave_bypass(const View& view) {
  Tally tally;
  trend(tally, view, "15", kBypass, "S", {"gamma", "sigma"}, kSyn, stable_within, {{"measure", kSyn}});
  trend(tally, view, "17", kBypass, "S", {"gamma", "sigma"}, kHot, stable_within, {{"measure", kHot}});
  const Selection at = {{"series", kBypass}, {"gamma", "0.6"}, {"sigma", "10"}};
  return tally.outcome("μ_SYN " + ends(view, "15", at, "S", kSyn) + ", μ_BG(HS) " + ends(view, "17", at, "S", kHot));
}

Outcome buffers_help_bypass_background(const View& view) {
  Tally tally;
  trend(tally, view, "16", kBypass, "S", {"gamma", "sigma"}, kTot, falls_substantially);
  return tally.outcome(ends(view, "16", {{"series", kBypass}, {"gamma", "0.6"}, {"sigma", "10"}}, "S", kTot));
}

Outcome buffers_shorten_tree(const View& view) {
  Tally tally;
  trend(tally, view, "tree-buffers", kBypass, "S", {"gamma", "sigma"}, "tree_height", falls_all_the_way);
  const std::vector<Estimate> all =
      view.along("tree-buffers", "S", {{"series", kBypass}, {"gamma", "0.6"}, {"sigma", "10"}}, "tree_height");
  return tally.outcome(fmt::format("mean height from {} to {} stages at γ = 0.6, σ = 10", to_string(all.front()),
                                   to_string(all.back())));
}

Outcome order_of_schemes_stays(const View& view) {
  Tally tally;
  const std::vector<std::pair<std::string, Relation>> relations = {
      {"15", {kBypass, kSyn, kHotSection, kSyn}},
      {"16", {kHotSection, kTot, kBypass, kTot}},
      {"17", {kHotSection, kHot, kBypass, kHot}},
  };
  for (const auto& [figure, relation] : relations) {
    const auto decide = [&, id = figure, r = relation](const Selection& at) {
      return less(view.at(id, with(at, "series", r.low_series), r.low_metric),
                  view.at(id, with(at, "series", r.high_series), r.high_metric));
    };
    for (const Selection& at : view.grid(figure, {"gamma", "sigma", "S"}, {{"series", kHotSection}})) {
      const std::string capacity = view.symbols(at).back().second;
      if (same_value(capacity, "12")) continue;  // the order that the others are compared with
      Selection where = view.symbols({{"measure", relation.low_metric}});
      for (const auto& symbol : view.symbols(at)) where.push_back(symbol);
      tally.add(where, alike(decide(with(at, "S", "12")), decide(at)));
    }
  }
  return tally.outcome();
}

// ---- Beyond the paper ----

Outcome larger_network(const View& view, const std::string& figure) {
  Tally tally;
  const auto merge = [&](const std::string& words, const Relation& relation, bool only_half) {
    for (const Selection& at : view.grid(figure, {"gamma"}, {{"series", relation.low_series}})) {
      if (only_half && !same_value(at.front().second, "0.5")) continue;
      Selection where = {{"", words}};
      for (const auto& symbol : view.symbols(at)) where.push_back(symbol);
      tally.add(where, less(view.at(figure, with(at, "series", relation.low_series), relation.low_metric),
                            view.at(figure, with(at, "series", relation.high_series), relation.high_metric)));
    }
  };
  merge("isolated BG spares the background", {kIsolatedBg, kTot, kBypass, kTot}, false);
  merge("isolated HS spares the background", {kIsolatedHs, kTot, kBypass, kTot}, false);
  merge("hot section spares the background", {kHotSection, kTot, kBypass, kTot}, false);
  merge("bypass lets hot background wait longest", {kBypass, kSyn, kBypass, kHot}, true);
  merge("isolated BG lets it wait less", {kIsolatedBg, kHot, kIsolatedBg, kSyn}, true);
  merge("isolated HS has less synchronization delay than isolated BG", {kIsolatedHs, kSyn, kIsolatedBg, kSyn}, false);
  merge("isolated HS has more synchronization delay than bypass", {kBypass, kSyn, kIsolatedHs, kSyn}, false);
  merge("isolated HS has less hot delay than bypass", {kIsolatedHs, kHot, kBypass, kHot}, false);
  return tally.outcome("background " + pair_at(view, figure, {{"gamma", "0.5"}}, {kHotSection, kTot, kBypass, kTot}));
}

Outcome larger_1024(const View& view) { return larger_network(view, "larger-1024"); }
Outcome larger_4096(const View& view) { return larger_network(view, "larger-4096"); }

Outcome short_mean(const View& view) {
  Tally tally;
  double most = 0.0;
  for (const std::string& series : view.values("short-mean", "series")) {
    for (const std::string& metric : {kSyn, kTot, kHot}) {
      std::vector<Estimate> ratios;
      for (const Selection& at : view.grid("short-mean", {"series", "sigma", "gamma"}, {{"series", series}})) {
        const Estimate shorter = view.at("short-mean", with(at, "mu", "600"), metric);
        const Estimate longer = view.at("short-mean", with(at, "mu", "3000"), metric);
        ratios.push_back(shorter / longer);
        most = std::max(most, std::abs(ratios.back().mean - 1.0));
      }
      tally.add(view.symbols({{"series", series}, {"measure", metric}}), one_on_average(ratios, kSame, kLevel));
    }
  }
  return tally.outcome(fmt::format("largest difference {:.1f} %", 100 * most));
}

std::vector<Claim> claims() {
  return {
      {"number-mu-syn",
       "4.3",
       "Bypass, γ = 0.5, σ = 10: mean synchronization delay 116 cycles",
       {"8"},
       true,
       number_mu_syn,
       ""},
      {"number-mu-bg-hs", "4.3", "Same point: mean hot background delay 151 cycles", {"8"}, true, number_mu_bg_hs, ""},
      {"number-ratio",
       "4.3",
       "Same point: hot background waits 30 % longer than synchronization",
       {"8"},
       true,
       number_ratio,
       ""},
      {"number-session", "4.1", "Same point: a session lasts about 325 cycles", {"8"}, true, number_session, ""},
      {"number-hot-background",
       "4.3",
       "Same point: 162.5 hot background messages per session",
       {"8"},
       true,
       number_hot_background,
       "",
       Mode::standard},
      {"background-count",
       "4.3",
       "A session has γ N |session| background messages, one N-th of them hot",
       {"8"},
       true,
       background_count,
       ""},
      {"background-falls-isolated-bg",
       "4.2",
       "Isolated BG cuts the background's delay greatly",
       {"8"},
       false,
       falls_isolated_bg,
       "greatly: to less than half"},
      {"background-falls-isolated-hs",
       "4.3",
       "Isolated HS cuts the background's delay greatly",
       {"8"},
       true,
       falls_isolated_hs,
       "greatly: to less than half"},
      {"background-falls-hot-section",
       "4.4",
       "Hot section cuts the background's delay greatly (σ = 10)",
       {"14"},
       true,
       falls_hot_section,
       "greatly: to less than half"},
      {"background-falls-any-spread",
       "4.4",
       "Hot section cuts the background's delay greatly at every σ",
       {"14"},
       false,
       falls_hot_section_spread,
       "greatly: to less than half"},
      {"delay-moves",
       "4.2",
       "Isolated BG: synchronization delay rises by about what the background's falls",
       {"5"},
       false,
       delay_moves,
       "about: the smaller is at least half of the larger"},
      {"hot-waits-longer-bypass",
       "4.2",
       "Bypass, γ = 0.5: hot background waits longer than synchronization",
       {"5"},
       true,
       hot_waits_longer_bypass,
       ""},
      {"hot-waits-less-isolated",
       "4.2",
       "Isolated BG: hot background waits less than synchronization",
       {"5"},
       true,
       hot_waits_less_isolated,
       ""},
      {"synchronization-is-early",
       "4.2",
       "Most synchronization messages are generated before the hot background",
       {"6"},
       true,
       synchronization_is_early,
       ""},
      {"secondary-tree",
       "4.2",
       "Isolated BG: hot background waits much longer than other background (second tree)",
       {"8", "tree-load"},
       false,
       secondary_tree,
       "much: twice; a second tree: one saturated box outside the reserved subnetwork at least, on average"},
      {"secondary-tree-removed",
       "4.3",
       "Isolated HS removes the second tree",
       {"tree-load"},
       true,
       secondary_tree_removed,
       "removes: at most a tenth of its boxes remain"},
      {"hs-lowers-syn",
       "4.3",
       "Isolated HS has significantly less synchronization delay than isolated BG",
       {"8"},
       false,
       hs_lowers_syn,
       "significantly: by a fifth"},
      {"hs-raises-hot",
       "4.3",
       "Isolated HS has significantly more hot background delay than isolated BG",
       {"8"},
       false,
       hs_raises_hot,
       "significantly: by a fifth"},
      {"hs-lowers-background",
       "4.3",
       "Isolated HS has less background delay than isolated BG at high load (γ >= 0.6)",
       {"8"},
       true,
       hs_lowers_background,
       ""},
      {"hs-syn-above-bypass",
       "4.3",
       "Isolated HS has more synchronization delay than bypass",
       {"8"},
       true,
       hs_syn_above_bypass,
       ""},
      {"hs-hot-below-bypass",
       "4.3",
       "Isolated HS has less hot background delay than bypass",
       {"8"},
       true,
       hs_hot_below_bypass,
       ""},
      {"hot-above-synchronization",
       "4.3",
       "Bypass and isolated HS: as the load grows, hot background waits longer than synchronization",
       {"8"},
       true,
       hot_above_syn,
       "later at the highest load, and by more with every load"},
      {"system-bandwidth",
       "6",
       "Keeping the background out of the tree raises the bandwidth of the system",
       {"8"},
       false,
       system_bandwidth,
       "the paper measures no bandwidth; here, all packets that arrive while a session lasts, by its cycles"},
      {"four-sections-best",
       "4.4",
       "K = 4 gives the least background delay at γ = 0.7 and 0.8",
       {"13"},
       true,
       four_sections_best,
       ""},
      {"four-sections-both-sides",
       "4.4",
       "The background delay falls as K grows to 4, and rises from there on",
       {"13"},
       true,
       sections_on_both_sides,
       ""},
      {"syn-flat-in-sections",
       "4.4",
       "Synchronization delay is nearly flat in K",
       {"13"},
       true,
       syn_flat_in_sections,
       "nearly flat: within 10 %"},
      {"one-section", "4.4", "K = 1 is isolated HS", {"8", "13"}, true, one_section_is_isolated_hs, ""},
      {"spread-hot-section-background",
       "4.4",
       "Hot section: σ does not affect the background delay significantly",
       {"14"},
       false,
       hot_section_hardly_feels_spread,
       "not significantly: it is level within a fifth of itself"},
      {"spread-bypass",
       "4.4",
       "Bypass: all three delays fall as σ grows, those of hot messages substantially",
       {"14"},
       true,
       bypass_falls_with_spread,
       "substantially: by a fifth"},
      {"spread-hot-section",
       "4.4",
       "Hot section: synchronization and hot background delay fall substantially as σ grows",
       {"14"},
       false,
       hot_section_falls_with_spread,
       ""},
      {"hot-section-like-isolated-hs",
       "4.4",
       "Hot section against bypass: more synchronization delay, less background and hot background delay",
       {"14"},
       false,
       hot_section_like_isolated_hs,
       ""},
      {"input-stage-isolated-bg",
       "4.4",
       "Isolated BG saturates the input stage when γ > (n-1)/n",
       {"threshold-2", "threshold-4"},
       false,
       input_stage_isolated_bg,
       "saturated: the delay of other background more than doubles when N, and with it the session, grows fourfold; at "
       "the "
       "lowest load it must not"},
      {"input-stage-isolated-hs",
       "4.4",
       "Isolated HS saturates the input stage when γ > (n-1)/n N/(N-1)",
       {"threshold-2", "threshold-4"},
       true,
       input_stage_isolated_hs,
       "saturated: the delay of other background more than doubles when N, and with it the session, grows fourfold; at "
       "the "
       "lowest load it must not"},
      {"bottleneck-shrinks",
       "4.4",
       "Larger boxes make the input stage less of a bottleneck",
       {"radix"},
       true,
       bottleneck_shrinks,
       ""},
      {"small-buffer",
       "5",
       "Hot section with S = 8 has less background delay than bypass with S = 20",
       {"16"},
       false,
       small_buffer_beats_large,
       ""},
      {"settles",
       "5",
       "Hot section: background delay is relatively stable from S = 12 on",
       {"16"},
       false,
       settles_from_twelve,
       "stable: level within a fifth of itself"},
      {"buffers-lower-syn",
       "5",
       "Hot section: synchronization delay falls as S grows",
       {"15"},
       true,
       buffers_lower_syn,
       ""},
      {"buffers-raise-hot",
       "5",
       "Hot section: hot background delay rises as S grows",
       {"17"},
       false,
       buffers_raise_hot,
       ""},
      {"buffers-leave-bypass",
       "5",
       "Bypass: S leaves synchronization and hot background delay relatively stable",
       {"15", "17"},
       true,
       buffers_leave_bypass,
       "stable: level within a fifth of itself"},
      {"buffers-help-bypass",
       "5",
       "Bypass: background delay falls substantially as S grows",
       {"16"},
       true,
       buffers_help_bypass_background,
       ""},
      {"buffers-shorten-tree",
       "5",
       "Bypass: the saturation tree gets lower as S grows",
       {"tree-buffers"},
       true,
       buffers_shorten_tree,
       ""},
      {"order-of-schemes",
       "5",
       "The order of bypass and hot section is for every S that of S = 12",
       {"15", "16", "17"},
       false,
       order_of_schemes_stays,
       ""},
      {"larger-1024", "6", "A network of 1,024 processors behaves alike", {"larger-1024"}, true, larger_1024, ""},
      {"larger-4096", "6", "A network of 4,096 processors behaves alike", {"larger-4096"}, true, larger_4096, ""},
      {"short-mean",
       "ours",
       "A mean synchronization time of 600 cycles gives the same delays as the paper's 3000",
       {"short-mean"},
       true,
       short_mean,
       "the same: within 3 % on average over loads and spreads, and nowhere off by more than 10 %",
       Mode::standard},
  };
}

}  // namespace

extern const StudyRow row_extra_stage_cube;
const StudyRow row_extra_stage_cube{"extra-stage-cube", claims};

}  // namespace banyan::study::extra_stage_cube
