#include "banyan/api/recorded.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <tuple>

#include "banyan/api/network.hpp"
#include "banyan/base/error.hpp"
#include "banyan/config/resolve.hpp"
#include "banyan/traffic/parts/trace_file.hpp"

namespace banyan::api {
namespace {

using engine::Event;
using engine::EventKind;

[[noreturn]] void refuse(const std::string& watch, const std::string& cause, const std::string& remedy) {
  throw ConfigError({"command line", 0, 0, "--watch"}, fmt::format("\"{}\": {}", watch, cause), remedy);
}

std::optional<u32> number(const std::string& text) {
  u32 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The switch of that number or label.
std::optional<u32> find_switch(const std::string& text, const core::Topology& topology) {
  const u32 switches = topology.graph().switches();
  if (const auto value = number(text)) return *value < switches ? value : std::nullopt;
  for (u32 s = 0; s < switches; ++s) {
    if (topology.label(s) == text) return s;
  }
  return std::nullopt;
}

u32 terminal_of(const std::string& watch, const std::string& text, const core::Topology& topology) {
  const u32 terminals = topology.graph().terminals();
  const auto value = number(text);
  if (!value || *value >= terminals) {
    refuse(watch, fmt::format("\"{}\" is no terminal of this network", text),
           fmt::format("give a number from 0 to {}", terminals - 1));
  }
  return *value;
}

/// The port of that number or label.
u32 port_of(const std::string& watch, const std::string& text, u32 s, const core::Topology& topology) {
  const u32 ports = std::max(topology.graph().inputs(s), topology.graph().outputs(s));
  const auto value = number(text);
  if (value && *value < ports) return *value;
  std::vector<std::string> labels;
  for (u32 port = 0; port < ports; ++port) {
    labels.push_back(topology.port_label(s, port));
    if (labels.back() == text) return port;
  }
  refuse(watch, fmt::format("switch {} has no port \"{}\"", topology.label(s), text),
         fmt::format("give a number from 0 to {}, or one of {}", ports - 1, fmt::join(labels, ", ")));
}

void add_watch(engine::ProbePlan& plan, const std::string& watch, const core::Topology& topology) {
  const std::size_t equals = watch.find('=');
  const std::string kind = watch.substr(0, equals);
  const std::string rest = equals == std::string::npos ? "" : watch.substr(equals + 1);
  const std::size_t colon = rest.rfind(':');
  const std::string first = rest.substr(0, colon);
  const std::string second = colon == std::string::npos ? "" : rest.substr(colon + 1);
  if (kind == "packet") {
    const auto nth = number(second);
    if (!nth) refuse(watch, "this names no packet", "write packet=SOURCE:NTH, such as packet=3:17 (both from 0)");
    plan.packets.push_back({terminal_of(watch, first, topology), *nth});
  } else if (kind == "port") {
    const core::Graph& graph = topology.graph();
    if (second.empty()) refuse(watch, "this names no port", "write port=SWITCH:PORT, such as port=5:2");
    const auto s = find_switch(first, topology);
    if (!s) {
      refuse(watch, fmt::format("\"{}\" is no switch of this network", first),
             fmt::format("give a number from 0 to {}, or a label such as \"{}\"", graph.switches() - 1,
                         topology.label(0)));
    }
    plan.ports.push_back({false, *s, port_of(watch, second, *s, topology)});
  } else if (kind == "terminal") {
    plan.ports.push_back({true, terminal_of(watch, rest, topology), 0});
  } else {
    refuse(watch, "packets, ports and terminals can be watched",
           config::suggestion(kind, {"packet", "port", "terminal"}, "write one of these before \"=\":"));
  }
}

std::string place(const core::Topology& topology, bool terminal, u32 node) {
  return terminal ? fmt::format("terminal {}", node) : topology.label(node);
}

std::string port_name(const core::Topology& topology, bool terminal, u32 node, u32 port) {
  return terminal ? "" : topology.port_label(node, port);
}

const char* verb(EventKind kind) {
  switch (kind) {
    case EventKind::arrived:
      return "arrives";
    case EventKind::delivered:
      return "is delivered";
    case EventKind::credited:
      return "gets credit";
    case EventKind::taken:
      return "leaves its source queue";
    case EventKind::sent:
      return "is sent";
  }
  return "";
}

Table channel_table(const engine::ProbeReport& report, const core::Topology& topology, const Experiment& experiment,
                    u64 cycles) {
  Table table{"channels", {"channel", "from", "from_port", "to", "to_port", "flits", "utilization"}, {}};
  const auto& channels = topology.graph().channels();
  for (u32 c = 0; c < channels.size(); ++c) {
    const core::Channel& channel = channels[c];
    if (channel.failed) continue;
    const u64 flits = report.channel_flits[c];
    const double share = utilization(flits, report.channel_overhead[c], channel.link, experiment, cycles);
    table.rows.push_back({u64{c}, place(topology, channel.from.terminal, channel.from.node),
                          port_name(topology, channel.from.terminal, channel.from.node, channel.from.port),
                          place(topology, channel.to.terminal, channel.to.node),
                          port_name(topology, channel.to.terminal, channel.to.node, channel.to.port), flits, share});
  }
  return table;
}

/// What the samples say about the packets of a flow at the front of a buffer.
struct Fronts {
  u64 credit = 0;  ///< that waited for room, or for what another packet held
  u64 all = 0;
  u64 longest = 0;  ///< of the waits behind one flow
  std::string behind;
};

std::map<std::pair<u32, u32>, Fronts> fronts_of(const stats::CongestionRecord* trees, const core::Topology& topology) {
  std::map<std::pair<u32, u32>, Fronts> all;
  if (trees == nullptr) return all;
  for (const stats::CongestionWait& w : trees->waits) {
    Fronts& fronts = all[{w.source, w.destination}];
    fronts.all += w.samples;
    if (w.why == static_cast<u8>(engine::Why::bandwidth)) continue;
    fronts.credit += w.samples;
    if (w.samples <= fronts.longest || w.behind_source == kNone) continue;
    fronts.longest = w.samples;
    fronts.behind = fmt::format("{} to {}", w.behind_source, w.behind_destination);
    if (w.root == kNone) continue;
    const core::End& from = topology.graph().channel(w.root).from;
    fronts.behind += fmt::format(", root {} {}", place(topology, from.terminal, from.node),
                                 port_name(topology, from.terminal, from.node, from.port));
  }
  return all;
}

/// The parts of a latency add up to it: what is neither at the source, on a channel nor between head and tail was spent
/// in switches, and is divided as the samples of the packets there say.
Table flow_table(const engine::ProbeReport& report, u64 cycles, const stats::CongestionRecord* trees,
                 const core::Topology& topology, bool marks) {
  Table table{"flows",
              {"source", "destination", "packets", "flits", "load (flits/cycle)", "packet_latency (cycles)",
               "packet_latency_max (cycles)", "source_queueing (cycles)", "wire (cycles)", "serialization (cycles)",
               "waiting_for_credit (cycles)", "routing_and_allocation (cycles)", "behind"},
              {}};
  if (marks) table.columns.push_back("marked");
  const auto fronts = fronts_of(trees, topology);
  for (const engine::Flow& flow : report.flows) {
    if (flow.packets == 0) continue;
    const auto mean = [&](u64 sum) { return static_cast<double>(sum) / static_cast<double>(flow.packets); };
    const u64 known = flow.queueing + flow.serialization;
    // When a run ends before everything has arrived, packets on their way have been on channels too.
    const u64 rest = flow.latency - std::min(known, flow.latency);
    const u64 wire = std::min(flow.wire, rest);
    const u64 inside = rest - wire;
    const auto seen = fronts.find({flow.source, flow.destination});
    const bool sampled = seen != fronts.end() && seen->second.all != 0;
    const double share =
        sampled ? static_cast<double>(seen->second.credit) / static_cast<double>(seen->second.all) : 0.0;
    const u64 credit = static_cast<u64>(share * static_cast<double>(inside));
    table.rows.push_back({u64{flow.source}, u64{flow.destination}, flow.packets, flow.flits,
                          cycles == 0 ? 0.0 : static_cast<double>(flow.flits) / static_cast<double>(cycles),
                          mean(flow.latency), flow.longest, mean(flow.queueing), mean(wire), mean(flow.serialization),
                          trees == nullptr ? Table::Cell(std::string()) : Table::Cell(mean(credit)),
                          mean(inside - credit), sampled ? seen->second.behind : std::string()});
    if (marks) table.rows.back().emplace_back(flow.marked);
  }
  return table;
}

Table event_table(const engine::ProbeReport& report, const core::Topology& topology) {
  Table table{"events", {"cycle", "packet", "traffic", "from", "to", "flit", "of", "event", "place", "port", "vc"}, {}};
  for (const Event& e : report.events) {
    const bool credit = e.kind == EventKind::credited;
    const auto of_packet = [&](u64 value) { return credit ? Table::Cell(std::string()) : Table::Cell(value); };
    table.rows.push_back({e.at, credit ? std::string() : fmt::format("{}:{}", e.source, e.sequence),
                          of_packet(e.traffic), of_packet(e.source), of_packet(e.destination), u64{e.flit},
                          of_packet(e.flits), std::string(verb(e.kind)), place(topology, e.terminal, e.node),
                          port_name(topology, e.terminal, e.node, e.port), u64{e.vc}});
  }
  return table;
}

void add_utilization(Result& result, const engine::ProbeReport& report, const core::Graph& graph,
                     const Experiment& experiment, u64 cycles) {
  double most = 0.0;
  double sum = 0.0;
  u64 count = 0;
  for (u32 c = 0; c < graph.channels().size(); ++c) {
    const core::Channel& channel = graph.channel(c);
    if (channel.failed || channel.from.terminal || channel.to.terminal || cycles == 0) continue;
    const double share =
        utilization(report.channel_flits[c], report.channel_overhead[c], channel.link, experiment, cycles);
    most = std::max(most, share);
    sum += share;
    ++count;
  }
  if (count == 0) return;
  for (const auto& [name, value] :
       {std::pair{"channel_utilization_mean", sum / static_cast<double>(count)}, {"channel_utilization_max", most}}) {
    result.metrics.push_back(stats::Metric::exact(name, "of channels between switches", value, count));
  }
}

}  // namespace

engine::ProbePlan probe_plan(const Experiment& experiment, const core::Topology& topology, const RunOptions& options,
                             Tick from) {
  engine::ProbePlan plan;
  const std::string& tables = experiment.run.text("tables");
  plan.channels = tables == "channels" || tables == "all";
  plan.flows = tables == "flows" || tables == "all";
  plan.from = from;
  plan.messages = options.trace != nullptr;
  plan.every_packet = !options.packet_log.empty();
  plan.marks = experiment.run.flag("trees") && marks_packets(experiment);
  for (const std::string& watch : options.watches) add_watch(plan, watch, topology);
  return plan;
}

std::string trace_text(const engine::ProbeReport& report, std::size_t traffics, const core::Topology& topology) {
  const u32 copies = topology.subnetworks();
  std::vector<traffic::TraceMessage> messages;
  messages.reserve(report.messages.size());
  for (const engine::SentMessage& m : report.messages) {
    if (m.traffic >= traffics) continue;  // feedback of an admission, which a run of the trace has anew
    messages.push_back({messages.size(), m.birth, m.source / copies, m.destination / copies, m.flits, {}, 0});
  }
  return traffic::write_trace(messages);
}

/// Cycles between two samples where nobody says. A sample costs what hundreds of packets cost that move; where links
/// have a rate a cycle is the time of a byte, and 80 us are some 1,200 packets of 64 bytes per port.
Tick default_tree_interval(const Experiment& experiment) {
  constexpr double kLengthNs = 80'000.0;
  if (switch_row(experiment).cycle_ns == nullptr) return 1000;
  return std::max<Tick>(1, static_cast<Tick>(kLengthNs / cycle_ns(experiment)));
}

engine::TreePlan tree_plan(const Experiment& experiment) {
  engine::TreePlan plan;
  if (!experiment.run.flag("trees")) return plan;
  plan.interval = static_cast<Tick>(experiment.run.integer("trees_interval"));
  if (plan.interval == 0) plan.interval = default_tree_interval(experiment);
  plan.threshold = experiment.run.real("trees_threshold");
  const std::string& tables = experiment.run.text("tables");
  plan.flows = tables == "flows" || tables == "all";
  return plan;
}

namespace {

void add_false_marks(Result& result, const engine::JudgedMarks& marks, bool trees) {
  if (marks.all == 0) return;
  if (!trees) {
    result.explanation += std::string(result.explanation.empty() ? "" : "; ") +
                          "no sample saw a congestion tree, so that all marks count as false";
  }
  result.metrics.push_back(stats::Metric::exact(
      "false_marks", "of marks", static_cast<double>(marks.false_ones) / static_cast<double>(marks.all), marks.all));
}

}  // namespace

void add_trees(Result& result, const stats::CongestionRecord& record, const engine::JudgedMarks& marks) {
  std::size_t most = 0;
  u64 largest = 0;
  u64 depth = 0;
  u64 victims = 0;
  u64 life = 0;
  std::map<u32, u64> seen_since;  // [id]
  for (const stats::CongestionSample& sample : record.samples) {
    most = std::max(most, sample.trees.size());
    for (const stats::CongestionTree& tree : sample.trees) {
      largest = std::max<u64>(largest, tree.members.size());
      depth = std::max<u64>(depth, tree.depth);
      victims = std::max<u64>(victims, tree.victims);
      // It lasts from the sample that first saw it to the one that does not any more.
      life = std::max(life, sample.at - seen_since.try_emplace(tree.id, sample.at).first->second + record.interval);
    }
  }
  if (record.samples.empty()) {
    result.explanation += std::string(result.explanation.empty() ? "" : "; ") +
                          "no sample of congestion trees was taken: run.trees_interval is longer than the run";
    return add_false_marks(result, marks, false);
  }
  for (const auto& [name, unit, value] : {std::tuple{"congestion_trees_most", "trees", u64{most}},
                                          {"congestion_tree_members_most", "buffers", largest},
                                          {"congestion_tree_depth_most", "switches", depth},
                                          {"congestion_tree_victims_most", "packets", victims},
                                          {"congestion_tree_life_most", "cycles", life}}) {
    result.metrics.push_back(stats::Metric::exact(name, unit, static_cast<double>(value), record.samples.size()));
  }
  add_false_marks(result, marks, most != 0);
  result.trees = std::make_shared<const stats::PackedCongestion>(record);
}

bool counts_activity(const Experiment& experiment) {
  return experiment.run.flag("activity") || !experiment.run.text("energy").empty();
}

void add_activity(Result& result, const Experiment& experiment, const std::optional<engine::Activity>& activity) {
  if (!counts_activity(experiment) || !activity) return;
  using engine::Activity;
  for (const auto& [name, field] : {std::pair{"buffer_writes", &Activity::buffer_writes},
                                    {"buffer_reads", &Activity::buffer_reads},
                                    {"crossbar_traversals", &Activity::crossbar_traversals},
                                    {"link_traversals", &Activity::link_traversals},
                                    {"vc_allocations", &Activity::vc_allocations}}) {
    if (field == &Activity::vc_allocations && !activity->has_vcs) continue;
    const bool of_buffers = field == &Activity::buffer_writes || field == &Activity::buffer_reads;
    if (of_buffers && !activity->has_buffers) continue;
    result.metrics.push_back(stats::Metric::exact(name, field == &Activity::vc_allocations ? "packets" : "flits",
                                                  static_cast<double>((*activity).*field)));
  }
}

double utilization(u64 flits, u64 overhead, const core::Link& link, const Experiment& experiment, u64 cycles) {
  if (cycles == 0) return 0.0;
  const auto capacity = switch_row(experiment).capacity;
  const double bandwidth = capacity == nullptr ? 1.0 : capacity(experiment.switching).channel;
  return std::min(
      1.0, static_cast<double>(flits * link.cycles_per_flit + overhead) / (static_cast<double>(cycles) * bandwidth));
}

void add_recorded(Result& result, const Experiment& experiment, const engine::ProbePlan& plan,
                  const engine::ProbeReport& report, const core::Topology& topology, u64 cycles) {
  if (plan.channels) {
    add_utilization(result, report, topology.graph(), experiment, cycles);
    result.tables.push_back(channel_table(report, topology, experiment, cycles));
  }
  if (plan.flows) {
    const stats::CongestionRecord trees = result.trees == nullptr ? stats::CongestionRecord() : result.trees->record();
    result.tables.push_back(
        flow_table(report, cycles, result.trees == nullptr ? nullptr : &trees, topology, marks_packets(experiment)));
  }
  if (plan.watches()) {
    result.tables.push_back(event_table(report, topology));
    if (report.lost_events != 0) {
      if (!result.warning.empty()) result.warning += "; ";
      result.warning += fmt::format("{} more events of what is watched happened than are kept", report.lost_events);
    }
  }
}

}  // namespace banyan::api
