#include "banyan/api/network.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "banyan/api/advice.hpp"
#include "banyan/api/class_routing.hpp"
#include "banyan/api/draft.hpp"
#include "banyan/api/inputs.hpp"
#include "banyan/api/recorded.hpp"
#include "banyan/api/subnetworks.hpp"
#include "banyan/engine/control_traffic.hpp"
#include "banyan/engine/round_trips.hpp"

namespace banyan::api {
namespace {

template <class Row>
const Row& row_of(std::span<const Row* const> rows, const std::string& name) {
  for (const Row* row : rows) {
    if (row->info.name == name) return *row;
  }
  throw std::logic_error("component vanished: " + name);
}

/// A traffic whose sources stop generating when too much waits needs a switch model that tells how much waits.
void refuse_limit(const core::Traffic& traffic, const config::Values& values, const core::SwitchRow& switching,
                  u32 terminals) {
  for (u32 t = 0; !switching.keeps_messages && t < terminals; ++t) {
    if (traffic.waiting_limit(t) == kNone) continue;
    values.fail("limit", fmt::format("the switch {} does not limit what waits at a source", switching.info.name),
                "use limit = 0 (no limit), or the switch " +
                    core::switches_with([](const core::SwitchRow& row) { return row.keeps_messages; }));
  }
}

void refuse_subnetwork(const core::Traffic& traffic, const config::Values& values, u32 subnetworks) {
  for (const bool replies : {false, true}) {
    const u32 named = traffic.service(replies).subnetwork;
    if (named == kNone || named < subnetworks) continue;
    values.fail(replies ? "reply_subnetwork" : "subnetwork",
                fmt::format("subnetwork {} of a topology that has {}", named, subnetworks),
                fmt::format("name one from 0 to {}, or give the topology more subnetworks", subnetworks - 1));
  }
  // What a terminal hears at one time from several subnetworks would be answered in the order in which these are
  // stepped.
  if (subnetworks > 1 && traffic.answers() &&
      (traffic.service(false).subnetwork == kNone || traffic.service(true).subnetwork == kNone)) {
    values.fail("name", "it answers what it receives, and the topology has several subnetworks",
                "name one for its messages and one for its answers, where it knows subnetwork and reply_subnetwork");
  }
  if (subnetworks > 1 && traffic.hot_spot() != kNone) {
    values.fail("name", "its sources know of one way to the hot spot, and the topology has several subnetworks",
                "use topology.subnetworks = 1");
  }
}

std::vector<core::HotSpot> hot_spots_of(const std::vector<std::unique_ptr<core::Traffic>>& traffics) {
  std::vector<core::HotSpot> spots;
  for (u32 i = 0; i < traffics.size(); ++i) {
    if (traffics[i]->hot_spot() != kNone) spots.push_back({i, traffics[i]->hot_spot()});
  }
  return spots;
}

void refuse_replication(const Experiment& experiment, const core::SwitchRow& switching,
                        const std::vector<std::unique_ptr<core::Traffic>>& traffics) {
  if (switching.replicates) return;
  for (std::size_t i = 0; i < traffics.size(); ++i) {
    if (!traffics[i]->replicates()) continue;
    experiment.traffics[i].fail(
        "name",
        fmt::format("the switch {} does not replicate messages with several destinations",
                    experiment.switching.component()),
        fmt::format("use the switch {}, or multicast in software",
                    core::switches_with([](const core::SwitchRow& row) { return row.replicates; })));
  }
}

void refuse_fetch_adds(const Experiment& experiment, const core::SwitchRow& switching, u32 subnetworks,
                       const std::vector<std::unique_ptr<core::Traffic>>& traffics) {
  for (std::size_t i = 0; i < traffics.size(); ++i) {
    if (!traffics[i]->fetch_adds()) continue;
    if (!switching.serves_memory) {
      experiment.traffics[i].fail(
          "fetch_add", fmt::format("the switch {} has no memories that answer", experiment.switching.component()),
          fmt::format("use the switch {}, or fetch_add = false",
                      core::switches_with([](const core::SwitchRow& row) { return row.serves_memory; })));
    }
    if (subnetworks > 1) {
      experiment.topology.fail("subnetworks", "fetch-and-adds for one word would meet in one network only",
                               "use subnetworks = 1, or traffics without fetch_add");
    }
    if (!experiment.admission.component().empty() && experiment.admission.component() != "none") {
      experiment.admission.fail("name", "an admission learns from what arrives, and a fetch-and-add comes back itself",
                                "use admission = \"none\", or traffics without fetch_add");
    }
  }
}

void refuse_reductions(const Experiment& experiment, const core::SwitchRow& switching,
                       const std::vector<std::unique_ptr<core::Traffic>>& traffics) {
  for (std::size_t i = 0; i < traffics.size(); ++i) {
    if (!traffics[i]->reduces()) continue;
    const bool given = experiment.traffics[i].component() == "injected";
    if (!switching.reduces) {
      experiment.traffics[i].fail(
          given ? "members" : "implementation",
          fmt::format("the switch {} does not add up what passes through it", experiment.switching.component()),
          fmt::format("use the switch {}, or {}",
                      core::switches_with([](const core::SwitchRow& row) { return row.reduces; }),
                      given ? "leave members out" : "implementation = \"software\""));
    }
    if (!experiment.admission.component().empty() && experiment.admission.component() != "none") {
      experiment.admission.fail("name", "an admission learns from what arrives, and contributions end in switches",
                                "use admission = \"none\", or implementation = \"hardware\"");
    }
  }
}

/// What ends of flows tell each other takes so long where the model has no formula: a cycle per switch and channel.
const core::ZeroLoad kPlainTimes{.fixed = 1, .per_hop = 1, .per_cycle = 1, .ends = 1};

core::ZeroLoad times_of(const Experiment& experiment, u32 flits) {
  const core::SwitchRow& switching = switch_row(experiment);
  if (switching.zero_load == nullptr) return kPlainTimes;
  core::ZeroLoad times = switching.zero_load(experiment.switching, flits);
  return times.unknown.empty() ? times : kPlainTimes;
}

/// Flits that round trips count on for the way back: a control packet of the switch model, or one of the admission's
/// where that is longer.
u32 way_back(const Experiment& experiment) {
  const u32 usual = switch_row(experiment).control_flits;
  if (!experiment.admission.all().contains("feedback_flits")) return usual;
  if (experiment.admission.text("feedback") != "packets") return usual;
  return std::max(usual, experiment.admission.natural("feedback_flits"));
}

/// Lets an admission ask for round trips. What it keeps of them is its own: shards may ask at the same time.
void tell_round_trips(const Experiment& experiment, const core::Graph& graph, core::AdmissionContext& context) {
  const auto trips = std::make_shared<engine::RoundTrips>(graph, times_of(experiment, context.longest_packet),
                                                          times_of(experiment, way_back(experiment)));
  context.round_trip = [trips](u32 source, u32 destination) { return trips->between(source, destination); };
  context.longest_round_trip = [trips] { return trips->longest(); };
}

/// What an admission is told of the network and the traffics.
core::AdmissionContext admission_context(const Experiment& experiment, const Traffics& traffics,
                                         const core::Graph& graph) {
  const core::SwitchRow& switching = switch_row(experiment);
  const core::Framing framing =
      switching.framing != nullptr ? switching.framing(experiment.switching) : core::Framing{};
  core::AdmissionContext context;
  context.terminals = graph.terminals();
  context.cycle_ns = cycle_ns(experiment);
  context.overhead = framing.overhead;
  for (const auto& t : traffics) {
    context.longest_packet =
        std::max(context.longest_packet, std::min({t->longest_message(), t->longest_packet(), framing.longest}));
  }
  const auto cycles = [&](u32 channel) { return graph.channel(channel).link.cycles_per_flit; };
  for (u32 t = 0; t < graph.terminals(); ++t) {
    context.injection.push_back(cycles(graph.injection(t)));
    context.ejection.push_back(cycles(graph.ejection(t)));
  }
  const auto full = [](const std::vector<u32>& links) {
    return std::all_of(links.begin(), links.end(), [](u32 c) { return c == 1; });
  };
  if (full(context.injection)) context.injection.clear();
  if (full(context.ejection)) context.ejection.clear();
  tell_round_trips(experiment, graph, context);
  return context;
}

std::string with_classes() {
  return core::switches_with([](const core::SwitchRow& row) { return row.serves_classes; });
}

/// nullptr: nothing holds packets back, or what ends of flows tell each other goes in words.
std::unique_ptr<core::Traffic> control_traffic(const Experiment& experiment, const Traffics& traffics,
                                               const core::Graph& graph) {
  if (experiment.admission.component().empty()) return nullptr;
  const core::AdmissionRow& row = row_of(core::admission_rows(), experiment.admission.component());
  const auto admission = row.make(experiment.admission, admission_context(experiment, traffics, graph));
  if (admission == nullptr || !admission->carrier().packets) return nullptr;
  const core::Carrier carrier = admission->carrier();
  if (carrier.priority != 0 && !switch_row(experiment).serves_classes) {
    experiment.admission.fail(
        "feedback_priority", fmt::format("the switch {} does not tell classes apart", switch_row(experiment).info.name),
        "remove it, or use the switch " + with_classes());
  }
  return std::make_unique<engine::ControlTraffic>(
      carrier.flits != 0 ? carrier.flits : switch_row(experiment).control_flits, carrier.priority);
}

/// [Packet::vc_class]: how the switches are to treat messages and replies of every traffic, and feedback in packets.
std::vector<core::Service> services_of(const Experiment& experiment, const Traffics& traffics,
                                       const core::SwitchRow& switching, u32 vcs, const core::Graph& graph) {
  std::vector<core::Service> services;
  for (u32 i = 0; i < traffics.size(); ++i) {
    for (const bool replies : {false, true}) {
      const core::Service service = traffics[i]->service(replies);
      const std::string prefix = replies ? "reply_" : "";
      const bool restricted = service.vc_begin != 0 || service.vc_end != kNone;
      if (!switching.serves_classes && (restricted || service.priority != 0)) {
        experiment.traffics[i].fail(prefix + (restricted ? "vc_range" : "priority"),
                                    fmt::format("the switch {} does not tell classes apart", switching.info.name),
                                    "remove it, or use the switch " + with_classes());
      }
      if (restricted && service.vc_end > vcs) {
        experiment.traffics[i].fail(
            prefix + "vc_range", fmt::format("virtual channel {} of a switch that has {}", service.vc_end - 1, vcs),
            fmt::format("name virtual channels from 0 to {}, or give the switch more", vcs - 1));
      }
      services.push_back(service);
    }
  }
  if (const auto control = control_traffic(experiment, traffics, graph); control != nullptr)
    services.insert(services.end(), 2, control->service(false));
  return services;
}

}  // namespace

const core::SwitchRow& switch_row(const Experiment& experiment) {
  return row_of(core::switching_rows(), experiment.switching.component());
}

const core::TopologyRow& topology_row(const Experiment& experiment) {
  return row_of(core::topology_rows(), experiment.topology.component());
}

u32 subnetworks_of(const Experiment& experiment) {
  return experiment.topology.all().contains("subnetworks") ? experiment.topology.natural("subnetworks") : 1;
}

double cycle_ns(const Experiment& experiment) {
  const core::SwitchRow& row = switch_row(experiment);
  return row.cycle_ns == nullptr ? experiment.run.real("cycle_time") : row.cycle_ns(experiment.switching);
}

u32 flit_bytes(const Experiment& experiment) {
  const u32 own = row_of(core::switching_rows(), experiment.switching.component()).flit_bytes;
  return own != 0 ? own : experiment.run.natural("flit");
}

std::unique_ptr<core::Topology> build_topology(const Experiment& experiment) {
  require_unchanged(experiment);
  std::unique_ptr<core::Topology> one =
      row_of(core::topology_rows(), experiment.topology.component()).make(experiment.topology);
  const u32 copies = subnetworks_of(experiment);
  if (copies == 1) return one;
  // Ports, switches and channels are numbered in 32 bits, of packets in 24.
  const core::Graph& graph = one->graph();
  if (u64{copies} * std::max<u64>(graph.total_outputs(), graph.channels().size()) > (u64{1} << 30U)) {
    experiment.topology.fail("subnetworks", fmt::format("{} copies of this network are too large", copies),
                             "use fewer, or a smaller network");
  }
  return replicate(std::move(one), copies);
}

Traffics build_traffics(const Experiment& experiment, const core::Topology& topology) {
  if (experiment.traffics.size() > kMostTraffics) {
    experiment.traffics.back().fail("name", fmt::format("{} traffics", experiment.traffics.size()),
                                    fmt::format("use at most {} in one experiment", kMostTraffics));
  }
  Traffics traffics;
  const core::SwitchRow& switching = switch_row(experiment);
  const double length = cycle_ns(experiment);
  double load = 0.0;
  for (u32 i = 0; i < experiment.traffics.size(); ++i) {
    const config::Values& values = experiment.traffics[i];
    const u64 seed = static_cast<u64>(experiment.run.integer("seed"));
    const core::TrafficContext context{&topology.one_subnetwork(), topology.traffic_terminals(), i, seed, 1, length};
    traffics.push_back(row_of(core::traffic_rows(), values.component()).make(values, context));
    refuse_limit(*traffics.back(), values, switching, context.terminals);
    load += traffics.back()->offered_load();
    refuse_subnetwork(*traffics.back(), values, topology.subnetworks());
    if (topology.subnetworks() > 1)
      traffics.back() = divide(std::move(traffics.back()), topology.subnetworks(), i, seed);
  }
  if (load > topology.subnetworks() + 1e-12) {
    experiment.traffics.back().fail(
        "load", fmt::format("the traffics offer {} flits per terminal and cycle together", load),
        fmt::format("offer at most {}: a terminal generates no more than its channel{} could carry",
                    topology.subnetworks(), topology.subnetworks() > 1 ? "s" : ""));
  }
  return traffics;
}

namespace {

[[noreturn]] void refuse_ports(const Experiment& experiment, const core::SwitchRow& switching,
                               const std::string& what) {
  experiment.switching.fail("name",
                            fmt::format("{}, and {} takes at most {}", what, switching.info.name, switching.most_ports),
                            fmt::format("use switches of at most {} ports", switching.most_ports));
}

}  // namespace

Network build_network(const Experiment& experiment) {
  Network network;
  const core::SwitchRow& switching = switch_row(experiment);
  // What the parameters tell is refused before anything large is built.
  if (const auto size = topology_row(experiment).size; size != nullptr) {
    const core::NetworkSize told = size(experiment.topology);
    if (told.inputs > told.switches * switching.most_ports) {
      refuse_ports(experiment, switching,
                   fmt::format("switches have {:.4g} ports in the mean", told.inputs / told.switches));
    }
  }
  network.topology = build_topology(experiment);
  if (const u32 ports = network.topology->graph().most_ports(); ports > switching.most_ports) {
    refuse_ports(experiment, switching, fmt::format("a switch has {} ports", ports));
  }
  const auto traffics = build_traffics(experiment, *network.topology);
  network.hot_spots = hot_spots_of(traffics);
  double all_load = 0.0;
  for (const auto& traffic : traffics) {
    network.remembers = std::max(network.remembers, traffic->traits().remembers);
    all_load += traffic->offered_load();
    network.longest_message = std::max(network.longest_message, traffic->longest_message());
  }
  // A traffic with a part of the load that is lost in the noise of the others fixes nothing, nor does one that nobody
  // waits for.
  constexpr double kCounts = 0.05;
  for (const auto& traffic : traffics) {
    if (switching.without_contention || traffic->offered_load() < kCounts * all_load) continue;
    network.keeps_phase = std::max(network.keeps_phase, traffic->traits().keeps_phase);
  }
  refuse_reductions(experiment, switching, traffics);
  refuse_replication(experiment, switching, traffics);
  refuse_fetch_adds(experiment, switching, network.topology->subnetworks(), traffics);
  const u32 vcs = switching.vcs(experiment.switching);
  const core::RoutingRow& routing = row_of(core::routing_rows(), experiment.routing.component());
  network.routing = route_classes(
      services_of(experiment, traffics, switching, vcs, network.topology->graph()), vcs, [&](u32 of_class) {
        return routing.make(experiment.routing, {&network.topology->one_subnetwork(), network.hot_spots, of_class,
                                                 switching.free_first_step});
      });
  network.routing_in_one = network.routing.get();
  if (const u32 copies = network.topology->subnetworks(); copies > 1) {
    if (switching.replicates) {
      experiment.topology.fail(
          "subnetworks",
          fmt::format("the switch {} replicates worms in one network only", experiment.switching.component()),
          "use subnetworks = 1, or another switch");
    }
    network.routing = replicate(std::move(network.routing), copies);
  }
  if (switching.source_routes != nullptr && !network.routing->oblivious()) {
    experiment.routing.fail("name",
                            fmt::format("{} decides on the way, and the switch {} needs the way at the source: {}",
                                        experiment.routing.component(), switching.info.name, switching.source_routes),
                            in_order_remedy(experiment, network.topology->one_subnetwork(), vcs));
  }
  if (network.routing->sight() > switching.sight) {
    experiment.routing.fail("name",
                            fmt::format("{} looks at queues, which the switch {} does not show",
                                        experiment.routing.component(), switching.info.name),
                            fmt::format("use the switch {}, or a routing that does not look at queues",
                                        core::switches_with([&](const core::SwitchRow& row) {
                                          return row.sight >= network.routing->sight();
                                        })));
  }
  return network;
}

namespace {

/// Messages of a traffic that a source queue keeps in memory when gates are shut (80 kB); what is born behind them
/// waits at the cursors, as everything does without an admission.
constexpr u32 kFlowLimit = 1024;

/// Lets the machine keep flows where the experiment's admission does.
void admit(const Experiment& experiment, Instance& instance, const core::Graph& graph,
           engine::EngineSettings& settings) {
  if (experiment.admission.component().empty()) return;
  const core::AdmissionRow& row = row_of(core::admission_rows(), experiment.admission.component());
  const core::AdmissionContext context = admission_context(experiment, instance.traffics, graph);
  const auto one = row.make(experiment.admission, context);
  if (one == nullptr) return;
  settings.admission = [&row, &experiment, &graph, context] {
    core::AdmissionContext of_shard = context;
    tell_round_trips(experiment, graph, of_shard);
    of_shard.longest_round_trip = context.longest_round_trip;  // nobody asks while shards run
    return row.make(experiment.admission, of_shard);
  };
  if (switch_row(experiment).writes_utilization) settings.utilization_time = one->utilization_time();
  settings.flow_limit = kFlowLimit;
  settings.zero_load = times_of(experiment, 1);
  instance.control = control_traffic(experiment, instance.traffics, graph);
  settings.tells_in_packets = instance.control != nullptr;
}

}  // namespace

Instance build_instance(const Experiment& experiment, const Network& network, engine::EngineSettings settings) {
  Instance instance;
  instance.traffics = build_traffics(experiment, *network.topology);
  for (const auto& traffic : instance.traffics) instance.traffic_pointers.push_back(traffic.get());
  admit(experiment, instance, network.topology->graph(), settings);
  instance.all_traffics = instance.traffic_pointers;
  if (instance.control != nullptr) instance.all_traffics.push_back(instance.control.get());
  engine::EngineSettings of_cut = settings;
  if (settings.cut_for != 0) of_cut.threads = settings.cut_for;  // models cut for as many, too
  engine::Builder builder(*network.topology, *network.routing, instance.all_traffics, network.hot_spots, of_cut);
  switch_row(experiment).install(experiment.switching, builder);
  const engine::Cut cut = builder.cut();
  instance.machine = std::make_unique<engine::Machine>(builder.take_shards(), instance.traffic_pointers,
                                                       builder.window(), settings.threads, settings.ranks);
  instance.machine->note_cut(cut);
  if (counts_activity(experiment) && !instance.machine->activity()) {
    const char* const asked = experiment.run.flag("activity") ? "activity" : "energy";
    if (switch_row(experiment).without_contention) {
      experiment.run.fail(asked,
                          fmt::format("{} has no switches, links or buffers whose work could be counted",
                                      experiment.switching.component()),
                          fmt::format("use another switch model, or leave run.{} away", asked));
    }
    experiment.run.fail(asked,
                        fmt::format("{} does not count what its hardware does", experiment.switching.component()),
                        fmt::format("leave run.{} away", asked));
  }
  return instance;
}

engine::EngineSettings engine_settings(const Experiment& experiment) {
  engine::EngineSettings settings;
  settings.seed = static_cast<u64>(experiment.run.integer("seed"));
  settings.permuted = experiment.run.text("step_order") == "permuted";
  settings.step_all = experiment.run.text("wake") == "all";
  settings.shards = experiment.run.natural("shards");
  settings.trees = experiment.run.flag("trees");
  settings.check_order = experiment.run.text("audit") == "full";
  return settings;
}

bool marks_packets(const Experiment& experiment) {
  const config::Values& switching = experiment.switching;
  return switching.all().contains("mark.high") && switching.natural("mark.high") != 0;
}

std::string traffic_suffix(const Experiment& experiment, std::size_t traffic) {
  const std::string& name = experiment.traffics[traffic].component();
  const auto same = [&](const config::Values& other) { return other.component() == name; };
  const bool alone = std::count_if(experiment.traffics.begin(), experiment.traffics.end(), same) == 1;
  return "." + (alone ? name : std::to_string(traffic));
}

std::string own_metric(const Experiment& experiment, const Result& result, const std::string& name) {
  return result.find(name) == nullptr ? name : name + "." + experiment.switching.component();
}

LinkOverhead link_overhead(const Experiment& experiment) {
  for (const char* name : {"overhead", "header"}) {
    if (experiment.switching.all().contains(name)) {
      return {static_cast<double>(experiment.switching.natural(name)), name, switch_row(experiment).framing != nullptr};
    }
  }
  return {};
}

std::string overhead_text(const LinkOverhead& more, double packet_flits, double load) {
  const double with = load * (1.0 + more.flits / packet_flits);
  return fmt::format(
      "a packet takes {:g} flits more of every link than its {:.3g} (switch.{}), so that the offered load of {:.4g} is "
      "{:.4g} with it{}",
      more.flits, packet_flits, more.parameter, load, with,
      more.at_terminals && with > 1.0
          ? ": more than the link of a terminal carries; longer packets (traffic.size) would need less"
          : "");
}

bool is_fixed(const config::Values& run) { return run.integer("duration") > 0; }

bool has_sessions(const Experiment& experiment, const Traffics& traffics) {
  if (is_fixed(experiment.run)) return false;
  return std::any_of(traffics.begin(), traffics.end(), [](const auto& traffic) { return traffic->finite(); });
}

}  // namespace banyan::api
