#include "banyan/api/topology_export.hpp"

#include <fmt/core.h>

#include <memory>

#include "banyan/api/network.hpp"
#include "banyan/config/json.hpp"

namespace banyan::api {
namespace {

using core::Channel;
using core::End;
using core::Graph;
using core::Topology;

/// The channel that leads back between the same two ends, or kNone.
u32 back_of(const Graph& graph, const Channel& c) {
  u32 back = kNone;
  if (c.to.terminal) {
    back = graph.injection(c.to.node);
  } else if (c.from.terminal) {
    back = graph.ejection(c.from.node);
  } else if (c.to.port < graph.outputs(c.to.node)) {
    back = graph.channel_out_of(c.to.node, c.to.port);
  }
  return back != kNone && graph.channel(back).to == c.from && graph.channel(back).from == c.to ? back : kNone;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string dot_node(const End& end) { return fmt::format("{}{}", end.terminal ? "t" : "s", end.node); }

std::string dot_edge(const Topology& topology, const Channel& c, bool both) {
  std::string attributes = both ? "dir=both" : "dir=forward";
  const auto port = [&](const End& end, const char* name) {
    if (!end.terminal) attributes += fmt::format(", {}={}", name, quoted(topology.port_label(end.node, end.port)));
  };
  port(c.from, "taillabel");
  port(c.to, "headlabel");
  if (c.link.latency_cycles != 1 || c.link.cycles_per_flit != 1) {
    attributes += fmt::format(", label=\"{} x {}\"", c.link.latency_cycles, c.link.cycles_per_flit);
  }
  if (c.failed) attributes += ", style=dashed, color=red";
  return fmt::format("  {} -> {} [{}];\n", dot_node(c.from), dot_node(c.to), attributes);
}

nlohmann::ordered_json json_of(const Topology& topology, const End& end) {
  nlohmann::ordered_json object;
  if (end.terminal) {
    object["terminal"] = end.node;
  } else {
    object["switch"] = end.node;
    object["port"] = end.port;
    object["label"] = topology.port_label(end.node, end.port);
  }
  return object;
}

}  // namespace

std::string topology_dot(const Experiment& experiment) {
  const std::unique_ptr<Topology> topology = build_topology(experiment);
  const Graph& graph = topology->graph();
  std::string text = fmt::format("digraph {} {{\n  node [fontname=sans];\n", quoted(experiment.topology.component()));
  for (u32 s = 0; s < graph.switches(); ++s) {
    text += fmt::format("  s{} [shape=box, label={}];\n", s, quoted(topology->label(s)));
  }
  for (u32 t = 0; t < graph.terminals(); ++t) text += fmt::format("  t{} [shape=circle, label=\"{}\"];\n", t, t);
  for (u32 i = 0; i < graph.channels().size(); ++i) {
    const Channel& c = graph.channel(i);
    const u32 back = back_of(graph, c);
    if (back == kNone || i < back) text += dot_edge(*topology, c, back != kNone);
  }
  return text + "}\n";
}

std::string topology_json(const Experiment& experiment) {
  const std::unique_ptr<Topology> topology = build_topology(experiment);
  const Graph& graph = topology->graph();
  nlohmann::ordered_json object;
  object["topology"] = config::to_json(experiment.topology);
  object["switches"] = nlohmann::ordered_json::array();
  for (u32 s = 0; s < graph.switches(); ++s) {
    object["switches"].push_back({{"id", s},
                                  {"label", topology->label(s)},
                                  {"coordinates", topology->coordinates(s)},
                                  {"level", graph.level(s)},
                                  {"inputs", graph.inputs(s)},
                                  {"outputs", graph.outputs(s)}});
  }
  object["terminals"] = nlohmann::ordered_json::array();
  for (u32 t = 0; t < graph.terminals(); ++t) {
    object["terminals"].push_back({{"id", t},
                                   {"enters_at", graph.channel(graph.injection(t)).to.node},
                                   {"leaves_from", graph.channel(graph.ejection(t)).from.node}});
  }
  object["channels"] = nlohmann::ordered_json::array();
  for (u32 i = 0; i < graph.channels().size(); ++i) {
    const Channel& c = graph.channel(i);
    object["channels"].push_back({{"id", i},
                                  {"from", json_of(*topology, c.from)},
                                  {"to", json_of(*topology, c.to)},
                                  {"latency", c.link.latency_cycles},
                                  {"cycles_per_flit", c.link.cycles_per_flit},
                                  {"failed", c.failed}});
  }
  return config::dump(object) + "\n";
}

}  // namespace banyan::api
