#include "banyan/api/energy.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "banyan/api/result.hpp"
#include "banyan/base/error.hpp"
#include "banyan/config/resolve.hpp"
#include "banyan/config/toml_reader.hpp"

namespace banyan::api {
namespace {

using config::Entry;
using config::Node;
using Names = std::vector<std::string>;

const Names kCostedEvents{"buffer_writes", "buffer_reads", "crossbar_traversals", "link_traversals", "vc_allocations"};
const Names kCostedParts{"switches", "inputs", "crosspoints", "channels"};

std::string text_of(const Entry& entry) {
  if (entry.value.kind == Node::Kind::text && !entry.value.text.empty()) return entry.value.text;
  throw ConfigError(entry.value.where, fmt::format("{} is a text", entry.key),
                    fmt::format("write {} = \"...\"", entry.key));
}

[[noreturn]] void unknown(const Entry& entry, const std::string& what, const Names& known) {
  throw ConfigError(entry.where, fmt::format("{} has no \"{}\"", what, entry.key),
                    config::suggestion(entry.key, known, "it has"));
}

Cost cost_of(const Entry& entry) {
  constexpr const char* kForm = "write { cost = 1.5, source = \"where the figure is from\" }";
  if (entry.value.kind != Node::Kind::table) throw ConfigError(entry.value.where, "a cost is a table", kForm);
  Cost cost{entry.key, -1.0, ""};
  for (const Entry& part : entry.value.entries) {
    if (part.key == "source") {
      cost.source = text_of(part);
    } else if (part.key == "cost") {
      const bool whole = part.value.kind == Node::Kind::integer;
      cost.cost = whole ? static_cast<double>(part.value.integer) : part.value.real;
      const bool number = whole || part.value.kind == Node::Kind::real;
      if (!number || !std::isfinite(cost.cost) || cost.cost < 0.0)
        throw ConfigError(part.value.where, "a cost is a number from 0", kForm);
    } else {
      unknown(part, "a cost", {"cost", "source"});
    }
  }
  if (cost.cost < 0.0) throw ConfigError(entry.where, "the cost is missing", kForm);
  if (cost.source.empty()) throw ConfigError(entry.where, "a figure whose source is not told cannot be checked", kForm);
  return cost;
}

std::vector<Cost> costs_in(const Entry& table, const Names& known) {
  if (table.value.kind != Node::Kind::table) {
    throw ConfigError(table.value.where, fmt::format("{} is a table of costs", table.key),
                      fmt::format("write [{}], and a line for each of {}", table.key, fmt::join(known, ", ")));
  }
  std::vector<Cost> costs;
  for (const Entry& entry : table.value.entries) {
    if (std::find(known.begin(), known.end(), entry.key) == known.end()) unknown(entry, table.key, known);
    costs.push_back(cost_of(entry));
  }
  return costs;
}

u64 counted(const engine::Activity& activity, const std::string& event) {
  const u64 counters[] = {activity.buffer_writes, activity.buffer_reads, activity.crossbar_traversals,
                          activity.link_traversals, activity.vc_allocations};
  return counters[std::find(kCostedEvents.begin(), kCostedEvents.end(), event) - kCostedEvents.begin()];
}

/// Counts parts: ports that something is attached to, channels that work.
u64 parts(const core::Graph& graph, const std::string& part) {
  u64 channels = 0;
  std::vector<u64> inputs(graph.switches());
  std::vector<u64> outputs(graph.switches());
  for (const core::Channel& c : graph.channels()) {
    if (c.failed) continue;
    ++channels;
    if (!c.to.terminal) ++inputs[c.to.node];
    if (!c.from.terminal) ++outputs[c.from.node];
  }
  if (part == "switches") return graph.switches();
  if (part == "channels") return channels;
  u64 sum = 0;
  for (u32 s = 0; s < graph.switches(); ++s) sum += part == "inputs" ? inputs[s] : inputs[s] * outputs[s];
  return sum;
}

void add_metric(Result& result, const char* name, std::string unit, double value) {
  result.metrics.push_back(stats::Metric::exact(name, std::move(unit), value));
}

}  // namespace

CostTable read_costs(const std::string& file) {
  CostTable table;
  const Node root = config::read_toml_file(file, "a table of costs (run.energy)");
  for (const Entry& entry : root.entries) {
    if (entry.key == "name") {
      table.name = text_of(entry);
    } else if (entry.key == "unit") {
      table.unit = text_of(entry);
    } else if (entry.key == "area_unit") {
      table.area_unit = text_of(entry);
    } else if (entry.key == "events") {
      table.events = costs_in(entry, kCostedEvents);
    } else if (entry.key == "cycles") {
      table.cycles = costs_in(entry, kCostedParts);
    } else if (entry.key == "areas") {
      table.areas = costs_in(entry, kCostedParts);
    } else {
      unknown(entry, "a table of costs", {"name", "unit", "area_unit", "events", "cycles", "areas"});
    }
  }
  const auto require = [&](bool there, const char* cause, const char* remedy) {
    if (!there) throw ConfigError({file, 0, 0, ""}, cause, remedy);
  };
  require(!table.events.empty(), "the table says of no event what it costs",
          "add [events] with lines such as buffer_reads = { cost = 1.03, source = \"...\" }");
  require(!table.unit.empty(), "the table does not say in which unit energy is", "add unit = \"pJ\"");
  require(table.areas.empty() || !table.area_unit.empty(), "the table does not say in which unit areas are",
          "add area_unit = \"mm2\"");
  return table;
}

std::optional<CostTable> costs_of(const Experiment& experiment) {
  const std::string& name = experiment.run.text("energy");
  if (name.empty()) return std::nullopt;
  return read_costs(name);
}

std::string energy_note(const CostTable& costs, const engine::Activity& activity) {
  std::string note;
  const auto without = [&](const char* part, std::initializer_list<std::string_view> events) {
    std::vector<std::string> useless;
    for (const Cost& cost : costs.events) {
      if (std::ranges::find(events, cost.of) != events.end()) useless.push_back(cost.of);
    }
    if (useless.empty()) return;
    note += fmt::format("{}the table of costs has {}, which count nothing here: this switch has no {}",
                        note.empty() ? "" : "; ", fmt::join(useless, " and "), part);
  };
  if (!activity.has_vcs) without("virtual channels", {"vc_allocations"});
  if (!activity.has_buffers) without("buffers", {"buffer_writes", "buffer_reads"});
  return note;
}

void add_energy(Result& result, const CostTable& costs, const core::Graph& graph, const engine::Activity& activity,
                u64 cycles, u64 flits, u64 flit_bytes) {
  Table table{"energy", {"part", "count", "cost (" + costs.unit + ")", "energy (" + costs.unit + ")", "source"}, {}};
  const auto sum_of = [&](const std::vector<Cost>& list, const char* suffix, auto&& count) {
    double sum = 0.0;
    for (const Cost& cost : list) {
      const u64 times = count(cost.of);
      const double energy = static_cast<double>(times) * cost.cost;
      table.rows.push_back({cost.of + suffix, times, cost.cost, energy, cost.source});
      sum += energy;
    }
    return sum;
  };
  if (const std::string note = energy_note(costs, activity); !note.empty())
    result.warning += (result.warning.empty() ? "" : "; ") + note;
  const double dynamic = sum_of(costs.events, "", [&](const std::string& of) { return counted(activity, of); });
  const double fixed =
      sum_of(costs.cycles, " x cycles", [&](const std::string& of) { return parts(graph, of) * cycles; });
  const double energy = dynamic + fixed;
  add_metric(result, "energy", costs.unit, energy);
  add_metric(result, "energy_dynamic", costs.unit, dynamic);
  if (!costs.cycles.empty()) add_metric(result, "energy_static", costs.unit, fixed);
  if (flits != 0) add_metric(result, "energy_per_flit", costs.unit + "/flit", energy / static_cast<double>(flits));
  if (flits != 0 && flit_bytes != 0)
    add_metric(result, "energy_per_bit", costs.unit + "/bit",
               energy / (static_cast<double>(flits) * static_cast<double>(flit_bytes) * 8.0));
  if (cycles != 0) add_metric(result, "energy_per_cycle", costs.unit + "/cycle", energy / static_cast<double>(cycles));
  if (!costs.areas.empty()) {
    double area = 0.0;
    for (const Cost& cost : costs.areas) area += static_cast<double>(parts(graph, cost.of)) * cost.cost;
    add_metric(result, "area", costs.area_unit, area);
  }
  result.tables.push_back(std::move(table));
}

}  // namespace banyan::api
