#include "banyan/api/advice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "banyan/analysis/parts/paths.hpp"
#include "banyan/api/predictions.hpp"
#include "banyan/base/error.hpp"
#include "banyan/core/size.hpp"

namespace banyan::api {
namespace {

/// Paths that are followed for one choice: of a remedy, which ends a run that cannot be; of a note on each network.
constexpr u64 kMostForRemedy = u64{1} << 20U;
constexpr u64 kMostForNote = u64{1} << 16U;
/// A choice with less than this part of another's throughput halves it.
constexpr double kHalf = 0.55;

/// Whether there are at most so many; found without asking every pair of a large network.
bool follows_soon(const core::Graph& graph, const core::Routing& routing, u64 most) {
  const u64 terminals = graph.terminals();
  if (terminals * terminals > most) return false;
  u64 paths = 0;
  for (u32 s = 0; s < terminals && paths <= most; ++s) {
    for (u32 d = 0; d < terminals; ++d) paths += routing.headers(s, d);
  }
  return paths <= most;
}

/// Load of the most loaded channel between switches over its capacity; `rate(s, d)`: flits per cycle. Where the routing
/// function leaves a choice to the switch, all ports are taken equally often: an estimate, good enough to tell a half
/// from a whole.
template <class Rate>
double worst_load(const core::AnalysisContext& context, const Rate& rate) {
  const core::Graph& graph = context.topology->graph();
  const config::ComponentInfo info{"advice", "", "", {}};
  const config::Values values = config::Values::defaults(info);
  analysis::parts::Paths paths(values, context);
  std::vector<double> load(graph.channels().size(), 0.0);
  for (u32 s = 0; s < graph.terminals(); ++s) {
    for (u32 d = 0; d < graph.terminals(); ++d) {
      const double flits = rate(s, d);
      if (flits <= 0.0) continue;
      paths.follow(s, d, [&](u32 channel, double share) { load[channel] += share * flits; });
    }
  }
  double worst = 0.0;
  for (u32 c = 0; c < load.size(); ++c) {
    const core::Channel& channel = graph.channel(c);
    if (!channel.from.terminal && !channel.to.terminal) worst = std::max(worst, load[c] * channel.link.cycles_per_flit);
  }
  return worst;
}

bool same(const config::Values& a, const config::Values& b) {
  return a.component() == b.component() && a.all() == b.all();
}

/// Nothing but the load differs.
bool same_demands(const Experiment& a, const Experiment& b) {
  const auto alike = [](const config::Values& x, const config::Values& y) {
    auto first = x.all();
    auto second = y.all();
    first.erase("load");
    second.erase("load");
    return x.component() == y.component() && first == second;
  };
  return same(a.topology, b.topology) && same(a.routing, b.routing) && same(a.switching, b.switching) &&
         std::ranges::equal(a.traffics, b.traffics, alike);
}

/// Flits per cycle and terminal that the experiment's traffic may have until a channel is full; nothing where that is
/// not known.
std::optional<double> throughput(const Experiment& experiment) {
  const Network network = build_network(experiment);
  const core::Graph& graph = network.topology->graph();
  if (network.topology->subnetworks() > 1 || network.routing->sight() != core::Sight::none ||
      !follows_soon(graph, *network.routing, kMostForNote)) {
    return std::nullopt;
  }
  const Traffics traffics = build_traffics(experiment, *network.topology);
  const core::AnalysisContext context = analysis_context(experiment, network, traffics);
  const config::ComponentInfo info{"advice", "", "", {}};
  const analysis::parts::TrafficMatrix matrix(config::Values::defaults(info), context);
  const double worst = worst_load(context, [&](u32 s, u32 d) { return matrix(s, d); });
  if (worst <= 0.0) return std::nullopt;
  // Terminals are no worse off by a load of channels between switches below that of their own.
  return std::min(1.0, matrix.offered() / worst);
}

/// Whether an experiment can be built at all.
bool runs(const Experiment& experiment) {
  try {
    const Network network = build_network(experiment);
    static_cast<void>(build_instance(experiment, network, engine_settings(experiment)));
    return true;
  } catch (const ConfigError&) { return false; }
}

/// Whether the network is too large to follow its paths, known before it is built.
bool is_large(const Experiment& experiment) {
  const core::TopologyRow& row = topology_row(experiment);
  if (row.size == nullptr) return false;
  const double terminals = row.size(experiment.topology).terminals;
  return terminals * terminals > static_cast<double>(kMostForNote);
}

/// Of a choice with which the traffic may have `now` flits per cycle and terminal.
std::optional<std::string> note_on(const Experiment& experiment, const config::Parameter& p, double now) {
  std::vector<std::pair<double, std::string>> better;
  for (const std::string& choice : p.choices) {
    Experiment other = experiment;
    other.routing.set(p.name, choice);
    try {
      const std::optional<double> then = throughput(other);
      if (then && now < kHalf * *then) better.emplace_back(*then, choice);
    } catch (const ConfigError&) {}  // does not exist here
  }
  std::ranges::stable_sort(better, [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [then, choice] : better) {
    Experiment other = experiment;
    other.routing.set(p.name, choice);
    if (!runs(other)) continue;
    return fmt::format(
        "routing.{0} = \"{1}\" fills a channel when this traffic has {2:.3g} flits per cycle and terminal; use "
        "{0} = \"{3}\", which fills none before {4:.3g}",
        p.name, experiment.routing.text(p.name), now, choice, then);
  }
  return std::nullopt;
}

}  // namespace

double uniform_throughput(const core::Topology& topology, const core::Routing& routing, u32 vcs) {
  const core::Graph& graph = topology.graph();
  if (routing.sight() != core::Sight::none || !follows_soon(graph, routing, kMostForRemedy)) return 0.0;
  core::AnalysisContext context;
  context.topology = &topology;
  context.router = &routing;
  context.vcs = vcs;
  const double share = 1.0 / std::max(1.0, graph.terminals() - 1.0);
  try {
    const double worst = worst_load(context, [&](u32 s, u32 d) { return s == d ? 0.0 : share; });
    return std::min(1.0, 1.0 / std::max(worst, 1e-9));
  } catch (const ConfigError&) { return 0.0; }  // paths that do not end
}

std::vector<RoutingChoice> routing_choices(const config::ComponentInfo& info) {
  std::vector<RoutingChoice> list;
  try {
    const config::Values defaults = config::Values::defaults(info);
    list.push_back({defaults, fmt::format("routing = \"{}\"", info.name)});
    for (const config::Parameter& p : info.parameters) {
      for (const std::string& choice : p.choices) {
        if (config::Value(choice) == *p.fallback) continue;
        config::Values values = defaults;
        values.set(p.name, choice);
        list.push_back(
            {std::move(values), fmt::format("routing = {{ name = \"{}\", {} = \"{}\" }}", info.name, p.name, choice)});
      }
    }
  } catch (const ConfigError&) {}  // a required parameter: nobody can guess it
  return list;
}

std::string in_order_remedy(const Experiment& experiment, const core::Topology& topology, u32 vcs) {
  const RoutingChoice* best = nullptr;
  std::vector<RoutingChoice> all;
  const auto append = [&](bool own) {
    for (const core::RoutingRow* row : core::routing_rows()) {
      if ((row->info.name == experiment.routing.component()) != own) continue;
      for (RoutingChoice& choice : routing_choices(row->info)) {
        try {
          const auto routing = row->make(choice.values, {&topology, {}, vcs, false});
          if (!routing->in_order()) continue;
          choice.throughput = uniform_throughput(topology, *routing, vcs);
          all.push_back(std::move(choice));
        } catch (const ConfigError&) {}  // does not exist on this topology
      }
    }
  };
  append(true);
  append(false);
  for (const RoutingChoice& choice : all) {
    if (best == nullptr || choice.throughput > best->throughput * (1.0 + 1e-9)) best = &choice;
  }
  if (best == nullptr) return "use another topology: none of the routing functions keeps to one path here";
  return fmt::format("use {}", best->text);
}

std::vector<std::string> check_choices(const std::vector<Experiment>& points) {
  std::vector<const Experiment*> known;
  std::vector<std::string> notes;
  for (const Experiment& point : points) {
    if (std::ranges::any_of(known, [&](const Experiment* other) { return same_demands(point, *other); })) continue;
    known.push_back(&point);
    try {
      const std::optional<double> now = is_large(point) ? std::nullopt : throughput(point);
      if (!now) continue;
      for (const core::RoutingRow* row : core::routing_rows()) {
        if (row->info.name != point.routing.component()) continue;
        for (const config::Parameter& p : row->info.parameters) {
          if (p.choices.empty()) continue;
          if (auto note = note_on(point, p, *now)) notes.push_back(std::move(*note));
        }
      }
    } catch (const ConfigError&) {}  // no steady stream of messages with one destination
  }
  return notes;
}

}  // namespace banyan::api
