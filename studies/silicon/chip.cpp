#include "chip.hpp"

#include <fmt/core.h>

#include <array>

#include "banyan/base/error.hpp"
#include "banyan/config/resolve.hpp"
#include "banyan/config/toml_reader.hpp"

namespace banyan::study::silicon {
namespace {

using config::Parameter;

constexpr u32 kNiuStages = kRouterStages / 2;  ///< of a router's pipeline, at either end of a way

struct DramPort {
  u32 column;
  u32 row;
  u32 controller;
};

/// arch-wormhole.yaml, "dram": six controllers of three ports each.
constexpr std::array<DramPort, 18> kDramPorts{{{0, 0, 0},
                                               {0, 1, 0},
                                               {0, 11, 0},
                                               {0, 5, 1},
                                               {0, 6, 1},
                                               {0, 7, 1},
                                               {5, 0, 2},
                                               {5, 1, 2},
                                               {5, 11, 2},
                                               {5, 2, 3},
                                               {5, 9, 3},
                                               {5, 10, 3},
                                               {5, 3, 4},
                                               {5, 4, 4},
                                               {5, 8, 4},
                                               {5, 5, 5},
                                               {5, 6, 5},
                                               {5, 7, 5}}};

const config::ComponentInfo& constants_info() {
  static const config::ComponentInfo info{
      "constants",
      "Constants and choices of the study silicon",
      "studies/silicon/README.md",
      {Parameter::real("l1_latency", 0.0).unit("cycles").range(1, 1000).required(),
       Parameter::real("dram_latency", 0.0).unit("cycles").range(1, 2000).required(),
       Parameter::real("l1_rate", 0.0).unit("bytes/cycle").range(1, kFlitBytes).required(),
       Parameter::real("l1_shared_rate", 0.0).unit("bytes/cycle").range(1, 2 * kFlitBytes).required(),
       Parameter::real("dram_rate", 0.0).unit("bytes/cycle").range(1, kFlitBytes).required(),
       Parameter::real("barrier_overhead", 0.0).unit("cycles").range(0, 1000).required(),
       Parameter::integer("hop_latency", 9).unit("cycles").range(kRouterStages + 1, 100).required(),
       Parameter::integer("niu_latency", 5).unit("cycles").range(kNiuStages + 1, 100).required(),
       Parameter::integer("buddies", 2).range(1, 8).required(),
       Parameter::integer("buffer", 16).unit("flits").range(1, 1024).required(),
       Parameter::choice("allocator", {"islip", "input_first", "output_first", "wavefront"}, "islip").required(),
       Parameter::boolean("hold_switch", false).required()}};
  return info;
}

/// Switches in the order of their nodes, then both terminals of each, then the links of each along x and along y: ports
/// of a switch are its two terminals (0, 1), and then in the order of the lines that mention it.
struct Links {
  std::string lines;
  std::vector<u32> port;  ///< [2 * node + axis]: of the switch that the link leaves
};

u32 neighbour(u32 noc, u32 node, u32 axis) {
  const u32 column = node % kColumns;
  const u32 row = node / kColumns;
  const auto step = [noc](u32 at, u32 size) { return (at + (noc == 0 ? 1 : size - 1)) % size; };
  return axis == 0 ? node_at(step(column, kColumns), row) : node_at(column, step(row, kRows));
}

Links links_of(u32 noc, const Constants& constants) {
  Links links;
  const auto line = [&links](const std::string& text) { links.lines += "\"" + text + "\",\n"; };
  // The stages of the last router count half for the way in and half for the way out.
  const u32 niu = constants.niu_latency - kNiuStages;
  for (u32 node = 0; node < kNodes; ++node) line(fmt::format("switch {}", node));
  for (u32 node = 0; node < kNodes; ++node) {
    line(fmt::format("terminal ask{} {} latency={}", node, node, niu));
    line(fmt::format("terminal answer{} {} latency={}", node, node, niu));
  }
  std::vector<u32> ports(kNodes, 2);
  for (u32 node = 0; node < kNodes; ++node) {
    for (const u32 axis : {0U, 1U}) {
      const u32 to = neighbour(noc, node, axis);
      line(fmt::format("link {} {} latency={} one_way", node, to, constants.hop_latency - kRouterStages));
      links.port.push_back(ports[node]++);
      ++ports[to];
    }
  }
  return links;
}

/// The axis along which a packet goes on, of a way that is not at its end.
u32 next_axis(u32 noc, u32 at, u32 to) {
  const bool column_done = at % kColumns == to % kColumns;
  const bool row_done = at / kColumns == to / kColumns;
  return noc == 0 ? (column_done ? 1 : 0) : (row_done ? 0 : 1);
}

/// Requests have the lower half of the virtual channels, data the upper half. Each half is divided by the dateline: a
/// packet takes the first part while the edge of the chip lies ahead of it in its ring, otherwise the second.
std::string table_of(u32 noc, const Constants& constants, const std::vector<u32>& ports) {
  std::string lines;
  for (u32 to = 0; to < kNodes; ++to) {
    for (u32 at = 0; at < kNodes; ++at) {
      if (at == to) continue;
      const u32 axis = next_axis(noc, at, to);
      const u32 from_place = axis == 0 ? at % kColumns : at / kColumns;
      const u32 to_place = axis == 0 ? to % kColumns : to / kColumns;
      const bool wraps = noc == 0 ? from_place > to_place : from_place < to_place;
      for (const u32 answer : {0U, 1U}) {
        // What goes to the terminal that answers is a request.
        const u32 first = ((answer == 1 ? 0 : 2) + (wraps ? 0 : 1)) * constants.buddies;
        lines += fmt::format("\"{} {} {} {} {}\",\n", at, 2 * to + answer, ports[2 * at + axis], first,
                             first + constants.buddies);
      }
    }
  }
  return lines;
}

std::string rates_of(const Constants& constants) {
  std::string rates;
  for (const DramPort& port : kDramPorts) {
    rates += fmt::format("\"{} {}\", ", 2 * node_at(port.column, port.row) + 1, constants.dram_rate / kFlitBytes);
  }
  return rates;
}

}  // namespace

std::string node_name(u32 node) { return fmt::format("({}, {})", node % kColumns, node / kColumns); }

std::optional<u32> dram_controller(u32 node) {
  for (const DramPort& port : kDramPorts) {
    if (node_at(port.column, port.row) == node) return port.controller;
  }
  return std::nullopt;
}

std::vector<u32> route(u32 noc, u32 from, u32 to) {
  std::vector<u32> links;
  for (u32 at = from; at != to;) {
    const u32 axis = next_axis(noc, at, to);
    links.push_back(2 * at + axis);
    at = neighbour(noc, at, axis);
  }
  return links;
}

config::Values read_constants(const std::string& text, const std::vector<std::string>& overrides) {
  const config::ComponentInfo& info = constants_info();
  std::vector<config::Entry> entries = config::read_toml_text(text, "silicon/constants.toml").entries;
  for (const std::string& override : overrides) {
    const Where where{"command line", 0, 0, override};
    const std::size_t sign = override.find('=');
    if (sign == std::string::npos) throw ConfigError(where, "sets nothing", "write NAME=VALUE");
    const std::string key = override.substr(0, sign);
    config::assign(entries, {key, where, config::read_toml_value(override.substr(sign + 1), where)});
  }
  return config::resolve(entries, info, {"silicon/constants.toml", 0, 0, ""});
}

Constants constants_of(const config::Values& values) {
  Constants constants;
  constants.l1_latency = values.real("l1_latency");
  constants.dram_latency = values.real("dram_latency");
  constants.l1_rate = values.real("l1_rate");
  constants.l1_shared_rate = values.real("l1_shared_rate");
  constants.dram_rate = values.real("dram_rate");
  constants.barrier_overhead = values.real("barrier_overhead");
  constants.hop_latency = values.natural("hop_latency");
  constants.niu_latency = values.natural("niu_latency");
  constants.buddies = values.natural("buddies");
  constants.buffer = values.natural("buffer");
  constants.allocator = values.text("allocator");
  constants.hold_switch = values.flag("hold_switch");
  return constants;
}

api::Experiment network(u32 noc, const Constants& constants) {
  const Links links = links_of(noc, constants);
  const std::string text = fmt::format(
      "topology = {{ name = \"graph_file\", lines = [{}] }}\n"
      "routing = {{ name = \"table\", lines = [{}] }}\n"
      "switch = {{ name = \"vc_router\", vcs = {}, buffer = {}, sw_allocator = \"{}\", "
      "hold_switch_for_packet = {} }}\n"
      "admission = {{ name = \"rate\", flow = \"terminal\", rate = {}, own = [{}] }}\n"
      "traffic = {{ name = \"injected\", longest = {}, max_packet = {} }}\n",
      links.lines, table_of(noc, constants, links.port), 4 * constants.buddies, constants.buffer, constants.allocator,
      constants.hold_switch, constants.l1_rate / kFlitBytes, rates_of(constants),
      kLongestRead / kFlitBytes + kLongestRead / kLongestPacketBytes, kLongestPacketBytes / kFlitBytes + 1);
  return api::read_experiments_text(text, fmt::format("silicon/NOC_{}", noc), {}).points.front();
}

}  // namespace banyan::study::silicon
