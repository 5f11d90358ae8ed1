// What the field says about jobs that share a network, in our own short words, as checks over the same three jobs on
// three networks. Values are means over seeds with their intervals of 95 %, so that one seed alone decides nothing.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "banyan/study/study.hpp"

namespace banyan::study::jobs {
namespace {

constexpr double kUntouched = 1.02;  ///< "not hurt": a fiftieth longer
constexpr double kHurt = 1.2;        ///< "hurt": a fifth longer
constexpr double kLittle = 1.1;      ///< "little": a tenth longer

const std::vector<std::string> kNetworks{"fat-tree", "dragonfly", "torus"};
const std::vector<std::string> kJobs{"ring", "tree", "exchange"};
const std::vector<std::string> kReductions{"ring", "tree"};
const std::vector<std::string> kPairs{"fat-tree-pairs", "dragonfly-pairs", "torus-pairs"};

/// The name of a series of a network: "fat_tree_adaptive_credits".
std::string variant(std::string network, const std::string& kind) {
  for (char& c : network) c = c == '-' ? '_' : c;
  return network + "_" + kind;
}

std::string alone(const std::string& job) { return "slowdown_alone." + job; }
std::string ideal(const std::string& job) { return "slowdown_ideal." + job; }

/// The mean over the seeds of a metric of a variant under a placement.
Estimate mean(const View& view, const std::string& figure, const std::string& series, const std::string& placement,
              const std::string& metric) {
  return over_seeds(view, figure, {{"series", series}, {"placement", placement}},
                    [&](const Selection& point) { return view.at(figure, point, metric); });
}

/// The same of the quotient of two metrics, each with a selection of its own, seed by seed.
Estimate quotient(const View& view, const std::string& figure, const Selection& a, const std::string& metric_a,
                  const Selection& b, const std::string& metric_b) {
  return over_seeds(view, figure, a, [&](const Selection& point) {
    Selection other = point;
    for (const auto& [axis, value] : b) other = with(other, axis, value);
    if (!view.has_point(figure, other)) return Estimate::unknown();
    const Estimate over = view.at(figure, other, metric_b);
    const Estimate value = view.at(figure, point, metric_a);
    if (!value.known || !over.known || !(over.mean > 0)) return Estimate::unknown();
    return Estimate::exactly(value.mean / over.mean);
  });
}

Decision below(const Estimate& a, double limit) { return less(a, Estimate::exactly(limit)); }
Decision above(const Estimate& a, double limit) { return greater(a, Estimate::exactly(limit)); }

void say(std::string& text, const Estimate& value, const std::string& what) {
  text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(value), what);
}

Outcome blocks_isolate(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string& network : kNetworks) {
    for (const std::string& job : kJobs) {
      const Estimate slowdown = mean(view, network, variant(network, "fixed"), "blocked", alone(job));
      tally.add({{"", network}, {"", job}}, below(slowdown, kUntouched));
      say(measured, slowdown, fmt::format("({}, {})", job, network));
    }
  }
  return tally.outcome("times as long as alone: " + measured);
}

Outcome random_hurts(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string& network : kNetworks) {
    for (const std::string& job : kReductions) {
      const Estimate slowdown = mean(view, network, variant(network, "fixed"), "random", alone(job));
      tally.add({{"", network}, {"", job}}, above(slowdown, kHurt));
      say(measured, slowdown, fmt::format("({}, {})", job, network));
    }
  }
  return tally.outcome("times as long as alone: " + measured);
}

/// What the exchange takes in blocks over what it takes scattered, beside the others in both.
Outcome scattering_helps_exchange(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string& network : kNetworks) {
    const std::string series = variant(network, "fixed");
    const Estimate ratio = quotient(view, network, {{"series", series}, {"placement", "random"}}, ideal("exchange"),
                                    {{"placement", "blocked"}}, ideal("exchange"));
    tally.add({{"", network}}, below(ratio, 1.0));
    say(measured, ratio, "(" + network + ")");
  }
  return tally.outcome("of its time in blocks, placed at random: " + measured);
}

/// In each pair with the exchange, who is hurt more.
Outcome bully(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string& figure : kPairs) {
    for (const std::string& job : kReductions) {
      const Selection pair{{"series", job + "_exchange"}, {"placement", "random"}};
      const Estimate ratio = quotient(view, figure, pair, alone(job), {}, alone("exchange"));
      tally.add({{"", figure}, {"", job}}, above(ratio, 1.0));
      say(measured, ratio, fmt::format("({}, {})", job, figure));
    }
  }
  return tally.outcome("the all-reduce's slowdown over the exchange's: " + measured);
}

/// Whom the ring suffers from: its slowdown beside the exchange over that beside the tree.
Outcome exchange_hurts_most(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string& figure : kPairs) {
    const Estimate ratio = quotient(view, figure, {{"series", "ring_exchange"}, {"placement", "random"}}, alone("ring"),
                                    {{"series", "ring_tree"}}, alone("ring"));
    tally.add({{"", figure}}, above(ratio, 1.0));
    say(measured, ratio, "(" + figure + ")");
  }
  return tally.outcome("the ring's slowdown beside the exchange over that beside the tree: " + measured);
}

/// The variant `kind` over the variant `base`, of a metric of some jobs, placed at random; below 1 as the sentence
/// says.
Outcome improves(const View& view, const std::string& base, const std::string& kind,
                 const std::vector<std::string>& jobs, std::string (*metric)(const std::string&)) {
  Tally tally;
  std::string measured;
  for (const std::string& network : kNetworks) {
    for (const std::string& job : jobs) {
      const Estimate ratio = quotient(view, network, {{"series", variant(network, kind)}, {"placement", "random"}},
                                      metric(job), {{"series", variant(network, base)}}, metric(job));
      tally.add({{"", network}, {"", job}}, below(ratio, 1.0));
      say(measured, ratio, fmt::format("({}, {})", job, network));
    }
  }
  return tally.outcome("placed at random, with it over without: " + measured);
}

Outcome adaptive_faster(const View& view) { return improves(view, "fixed", "adaptive", kJobs, ideal); }
Outcome adaptive_shields(const View& view) { return improves(view, "fixed", "adaptive", kReductions, alone); }
Outcome credits_shield(const View& view) { return improves(view, "fixed", "fixed_credits", kReductions, alone); }

/// Detours lead through groups of others.
Outcome detours_mix(const View& view) {
  const Estimate ring = mean(view, "dragonfly", variant("dragonfly", "adaptive"), "blocked", alone("ring"));
  Tally tally;
  tally.add({{"", "dragonfly"}}, above(ring, kUntouched));
  return tally.outcome(fmt::format("the ring takes {} times as long as alone", to_string(ring)));
}

Outcome credits_cost_little(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string& network : kNetworks) {
    const Estimate ratio =
        quotient(view, network, {{"series", variant(network, "fixed_credits")}, {"placement", "blocked"}},
                 ideal("ring"), {{"series", variant(network, "fixed")}}, ideal("ring"));
    tally.add({{"", network}}, below(ratio, kLittle));
    say(measured, ratio, "(" + network + ")");
  }
  return tally.outcome("the ring in blocks, with credits over without: " + measured);
}

/// One of each group, then the next: neighbours in a ring are never neighbours in the network.
Outcome spread_costs_ring(const View& view) {
  Tally tally;
  std::string measured;
  for (const std::string& network : kNetworks) {
    const std::string series = variant(network, "fixed");
    const Estimate ratio = quotient(view, network, {{"series", series}, {"placement", "spread"}}, ideal("ring"),
                                    {{"placement", "linear"}}, ideal("ring"));
    tally.add({{"", network}}, above(ratio, kHurt));
    say(measured, ratio, "(" + network + ")");
  }
  return tally.outcome("the ring's time spread over that in line: " + measured);
}

std::vector<Claim> claims() {
  return {
      {"blocks-isolate", "placement", "Jobs in groups of their own are not hurt by their neighbours", kNetworks, true,
       blocks_isolate, ""},
      {"random-hurts", "placement", "Placed at random, all-reduces take a fifth longer than alone, or more", kNetworks,
       true, random_hurts, ""},
      {"scattering-helps-exchange", "placement",
       "An all-to-all ends sooner scattered among others than in a block of its own", kNetworks, true,
       scattering_helps_exchange, ""},
      {"spread-costs-ring", "placement", "A ring that is spread over groups takes a fifth longer than one in line",
       kNetworks, true, spread_costs_ring, "", Mode::standard},
      {"bully", "pairs", "An all-to-all hurts an all-reduce more than it is hurt", kPairs, true, bully, "",
       Mode::standard},
      {"exchange-hurts-most", "pairs", "A ring suffers more from an all-to-all than from another all-reduce", kPairs,
       true, exchange_hurts_most, "", Mode::standard},
      {"adaptive-faster", "routing", "Adaptive routing makes jobs that are mixed faster", kNetworks, false,
       adaptive_faster, ""},
      {"adaptive-shields", "routing", "Adaptive routing makes all-reduces less sensitive to their neighbours",
       kNetworks, false, adaptive_shields, ""},
      {"detours-mix",
       "routing",
       "Detours on the dragonfly hurt jobs that have groups of their own",
       {"dragonfly"},
       true,
       detours_mix,
       "",
       Mode::standard},
      {"credits-shield", "remedy", "Credits of receivers make all-reduces less sensitive to their neighbours",
       kNetworks, false, credits_shield, ""},
      {"credits-cost-little", "remedy", "Credits of receivers cost a job that nobody disturbs little", kNetworks, true,
       credits_cost_little, ""},
  };
}

}  // namespace

extern const StudyRow row_jobs;
const StudyRow row_jobs{"jobs", claims};

}  // namespace banyan::study::jobs
