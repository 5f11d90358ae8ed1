#include "banyan/api/advice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "banyan/analysis/parts/paths.hpp"
#include "banyan/api/predictions.hpp"
#include "banyan/base/error.hpp"
#include "banyan/core/dependencies.hpp"
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

/// Flits per cycle of every pair of terminals.
using Rate = std::function<double(u32, u32)>;

/// Loads of the channels over their capacity.
class Loads {
 public:
  explicit Loads(const core::AnalysisContext& context)
      : context_(context), values_(config::Values::defaults(kInfo)), paths_(values_, context, true) {}

  /// The load of the most loaded channel. Where switches or queues choose (chose()), all ports are taken equally often:
  /// an estimate, good enough to tell a half from a whole.
  [[nodiscard]] double worst(const Rate& rate) {
    return worst_of(rate, [&](u32 s, u32 d, auto&& add) { paths_.follow(s, d, add); });
  }
  [[nodiscard]] bool chose() const { return paths_.chose(); }
  /// The same of what no choice keeps from a channel; nothing where that takes too long to find out.
  [[nodiscard]] std::optional<double> forced(const Rate& rate) {
    u64 places = kMostPlaces;
    const double load = worst_of(rate, [&](u32 s, u32 d, auto&& add) {
      if (places != 0) static_cast<void>(paths_.follow_forced(s, d, places, add));
    });
    return places != 0 ? std::optional(load) : std::nullopt;
  }
  [[nodiscard]] const config::Values& values() const { return values_; }

 private:
  static constexpr u64 kMostPlaces = u64{1} << 20U;  ///< a second
  static const config::ComponentInfo kInfo;

  template <class Follow>
  double worst_of(const Rate& rate, const Follow& follow) {
    const core::Graph& graph = context_.topology->graph();
    std::vector<double> load(graph.channels().size(), 0.0);
    for (u32 s = 0; s < graph.terminals(); ++s) {
      for (u32 d = 0; d < graph.terminals(); ++d) {
        const double flits = rate(s, d);
        if (flits > 0.0) follow(s, d, [&](u32 channel, double share) { load[channel] += share * flits; });
      }
    }
    double worst = 0.0;
    for (u32 c = 0; c < load.size(); ++c) {
      const core::Channel& channel = graph.channel(c);
      const double capacity = channel.from.terminal ? context_.capacity.injection
                              : channel.to.terminal ? context_.capacity.ejection
                                                    : context_.capacity.channel;
      worst = std::max(worst, load[c] * channel.link.cycles_per_flit / capacity);
    }
    return worst;
  }

  const core::AnalysisContext& context_;
  config::Values values_;
  analysis::parts::Paths paths_;
};
const config::ComponentInfo Loads::kInfo{"advice", "", "", {}};

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

/// Flits per cycle and terminal that an experiment's traffic may have until a channel is full.
class Throughput {
 public:
  explicit Throughput(const Experiment& experiment)
      : network_(build_network(experiment)),
        traffics_(build_traffics(experiment, *network_.topology)),
        context_(analysis_context(experiment, network_, traffics_)) {
    if (network_.topology->subnetworks() > 1 ||
        !follows_soon(network_.topology->graph(), *network_.routing, kMostForNote)) {
      return;
    }
    loads_.emplace(context_);
    matrix_.emplace(loads_->values(), context_);
    expansion_ = expansion(experiment);
    alike_ = until_full(loads_->worst(rate()));
    const u32 terminals = network_.topology->graph().terminals();
    for (u32 s = 0; s < terminals && !some_silent_; ++s) {
      bool sends = false;
      for (u32 d = 0; d < terminals && !sends; ++d) sends = (*matrix_)(s, d) > 0.0;
      some_silent_ = !sends;
    }
  }

  /// False: all the rest is not known.
  [[nodiscard]] bool known() const { return matrix_.has_value(); }
  /// Where all choices are taken equally often (Loads::worst).
  [[nodiscard]] double alike() const { return alike_; }
  /// Nobody knows the queues by which the routing function chooses before a run.
  [[nodiscard]] bool by_queues() const { return network_.routing->sight() != core::Sight::none; }
  /// Switches choose among ways: alike() is an estimate.
  [[nodiscard]] bool chosen() const { return loads_->chose(); }
  [[nodiscard]] bool some_silent() const { return some_silent_; }
  /// What no queues let pass; nothing where that is not known.
  [[nodiscard]] std::optional<double> most() {
    if (!by_queues()) return alike_;
    const std::optional<double> forced = loads_->forced(rate());
    return forced ? std::optional(until_full(*forced)) : std::nullopt;
  }

 private:
  [[nodiscard]] Rate rate() const {
    return [&](u32 s, u32 d) { return (*matrix_)(s, d); };
  }
  [[nodiscard]] double until_full(double worst) const {
    return worst <= 0.0 ? 1.0 : std::min(1.0, matrix_->offered() / (worst * expansion_));
  }
  /// Flits for which a packet takes a channel, over its own: in the mean over messages, where these have several
  /// lengths, as if all lengths between the shortest and the longest were alike.
  [[nodiscard]] double expansion(const Experiment& experiment) const {
    const auto framing_of = switch_row(experiment).framing;
    if (framing_of == nullptr) return 1.0;
    const core::Framing framing = framing_of(experiment.switching);
    double flits = 0.0;
    double taken = 0.0;
    for (const auto& traffic : traffics_) {
      const core::TrafficTraits traits = traffic->traits();
      const double message = (static_cast<double>(traits.shortest_message) + traits.longest_message) / 2.0;
      const double packets = std::ceil(message / std::min(traits.longest_packet, framing.longest));
      flits += traffic->offered_load();
      taken += traffic->offered_load() * (1.0 + packets * framing.overhead / message);
    }
    return flits > 0.0 ? taken / flits : 1.0;
  }

  Network network_;
  Traffics traffics_;
  core::AnalysisContext context_;
  std::optional<Loads> loads_;
  std::optional<analysis::parts::TrafficMatrix> matrix_;
  double expansion_ = 1.0;
  double alike_ = 1.0;
  bool some_silent_ = false;
};

/// Whether an experiment can be built at all, and packets of it cannot wait for each other in a circle: as the switch
/// model holds them, and by the ways that the routing function leaves them, whatever the model is.
bool runs(const Experiment& experiment) {
  try {
    const Network network = build_network(experiment);
    static_cast<void>(build_instance(experiment, network, engine_settings(experiment)));
    if (std::ranges::any_of(check_deadlock({experiment}), &DeadlockNote::may_deadlock)) return false;
    const core::DependencyReport ways = core::check_dependencies(
        network.topology->one_subnetwork(), *network.routing_in_one, switch_row(experiment).vcs(experiment.switching));
    return ways.verdict != core::DependencyVerdict::cyclic && ways.verdict != core::DependencyVerdict::lost;
  } catch (const ConfigError&) { return false; }
}

/// Whether the network is too large to follow its paths, known before it is built.
bool is_large(const Experiment& experiment) {
  const core::TopologyRow& row = topology_row(experiment);
  if (row.size == nullptr) return false;
  const double terminals = row.size(experiment.topology).terminals;
  return terminals * terminals > static_cast<double>(kMostForNote);
}

/// The routing function or the topology of an experiment.
struct Choosing {
  const char* name;
  config::Values Experiment::*values;
  const config::ComponentInfo* info;
};

/// The values of a parameter that is a choice or a flag.
std::vector<config::Value> values_of(const config::Parameter& p) {
  std::vector<config::Value> list(p.choices.begin(), p.choices.end());
  if (p.fallback && std::holds_alternative<bool>(*p.fallback)) list = {true, false};
  return list;
}

std::vector<Choosing> parts_of(const Experiment& experiment) {
  std::vector<Choosing> parts;
  for (const core::RoutingRow* row : core::routing_rows()) {
    if (row->info.name != experiment.routing.component()) continue;
    parts.push_back({"routing", &Experiment::routing, &row->info});
  }
  parts.push_back({"topology", &Experiment::topology, &topology_row(experiment).info});
  return parts;
}

std::string setting(const std::string& name, const config::Value& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return fmt::format("{} = {}", name, *flag);
  return fmt::format("{} = \"{}\"", name, std::get<std::string>(value));
}

/// What there is to say of a parameter with whose value the traffic has the throughput `now`.
std::optional<std::string> note_on(const Experiment& experiment, const Choosing& part, const config::Parameter& p,
                                   Throughput& now) {
  const auto with = [&](const config::Value& value) {
    Experiment other = experiment;
    (other.*part.values).set(p.name, value);
    return other;
  };
  struct Better {
    double throughput;
    bool by_queues;
    bool chosen;
    config::Value value;
  };
  std::vector<Better> better;
  for (const config::Value& value : values_of(p)) {
    if (value == (experiment.*part.values).all().at(p.name)) continue;
    try {
      const Throughput then(with(value));
      if (!then.known() || now.alike() >= kHalf * then.alike()) continue;
      better.push_back({then.alike(), then.by_queues(), then.chosen(), value});
    } catch (const ConfigError&) {}  // does not exist here
  }
  if (better.empty()) return std::nullopt;
  const std::optional<double> most = now.most();
  std::erase_if(better, [&](const Better& b) { return !most || *most >= kHalf * b.throughput; });
  std::ranges::stable_sort(better, [](const Better& a, const Better& b) { return a.throughput > b.throughput; });
  for (const Better& b : better) {
    if (!runs(with(b.value))) continue;
    const char* const now_if = now.by_queues() ? ", whatever the queues are,"
                               : now.chosen()  ? ", if switches take all ways equally often,"
                                               : "";
    const std::string then = b.by_queues ? fmt::format("whose channels suffice for {:.3g}", b.throughput)
                                         : fmt::format("which fills none before {:.3g}{}", b.throughput,
                                                       b.chosen ? " if they are taken equally often" : "");
    return fmt::format(
        "{}.{}{} fills a channel when this traffic has {:.3g} flits per cycle and terminal{}; use {}, {}", part.name,
        setting(p.name, (experiment.*part.values).all().at(p.name)), now_if, *most,
        now.some_silent() ? " in the mean of all terminals, of which some send nothing" : "", setting(p.name, b.value),
        then);
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
    const double worst = Loads(context).worst([&](u32 s, u32 d) { return s == d ? 0.0 : share; });
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
    if (!point.jobs.empty()) continue;  // no steady stream of messages
    if (std::ranges::any_of(known, [&](const Experiment* other) { return same_demands(point, *other); })) continue;
    known.push_back(&point);
    try {
      if (is_large(point)) continue;
      Throughput now(point);
      if (!now.known()) continue;
      // Another topology is another network: the remedy where no value of the routing function is one.
      const std::size_t before = notes.size();
      for (const Choosing& part : parts_of(point)) {
        for (const config::Parameter& p : part.info->parameters) {
          if (notes.size() != before && part.values == &Experiment::topology) continue;
          if (auto note = note_on(point, part, p, now)) notes.push_back(std::move(*note));
        }
      }
    } catch (const ConfigError&) {}  // no steady stream of messages with one destination
  }
  return notes;
}

}  // namespace banyan::api
