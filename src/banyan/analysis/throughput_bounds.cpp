// What no network can exceed: the load of its channels under the actual routing function, counted pair by pair, and
// that of its cuts and of its channels together under any routing.
#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "banyan/analysis/parts/paths.hpp"

namespace banyan::analysis::throughput_bounds {
namespace {

using core::Bound;

/// Bounds as flits per cycle and terminal: what is offered times the capacity over the load at that offer.
struct Bounds {
  double channels = std::numeric_limits<double>::infinity();
  double terminals = std::numeric_limits<double>::infinity();
  double cut = std::numeric_limits<double>::infinity();
  double distance = std::numeric_limits<double>::infinity();
  bool choice = false;
};

class ThroughputBounds final : public core::Analysis {
 public:
  explicit ThroughputBounds(Bounds bounds) : bounds_(bounds) {}

  std::vector<core::Prediction> predict() const override {
    std::vector<core::Prediction> list;
    double proven = std::min({bounds_.terminals, bounds_.cut, bounds_.distance});
    if (!bounds_.choice) proven = std::min(proven, bounds_.channels);
    const auto add = [&](const char* metric, double value, Bound bound) {
      if (value < std::numeric_limits<double>::infinity()) {
        list.push_back({metric, value, "flits/cycle/terminal", false, bound});
      }
    };
    add("accepted_load", proven, Bound::upper);
    add("channel_load_throughput", bounds_.channels, Bound::none);
    add("bisection_throughput", bounds_.cut, Bound::none);
    add("distance_throughput", bounds_.distance, Bound::none);
    add("terminal_throughput", bounds_.terminals, Bound::none);
    return list;
  }

 private:
  Bounds bounds_;
};

/// Of all cuts of a mesh or torus into two by planes across one dimension: the one that is loaded most.
double loaded_cut(const core::Grid& grid, const core::Graph& graph, const parts::TrafficMatrix& traffic) {
  double worst = 0.0;
  u32 stride = 1;
  for (std::size_t d = 0; d < grid.size.size(); ++d) {
    const u32 size = grid.size[d];
    const auto coordinate = [&](u32 s) { return s / stride % size; };
    for (u32 begin = 0; begin < (grid.wrap[d] ? size : 1U); ++begin) {
      for (u32 length = 1; length < size; ++length) {
        const auto inside = [&](u32 s) { return (coordinate(s) + size - begin) % size < length; };
        double capacity = 0.0;  // of the channels that lead out of the part
        for (const core::Channel& c : graph.channels()) {
          if (c.from.terminal || c.to.terminal || c.failed) continue;
          if (inside(c.from.node) && !inside(c.to.node)) capacity += 1.0 / c.link.cycles_per_flit;
        }
        double load = 0.0;
        for (u32 s = 0; s < traffic.terminals(); ++s) {
          if (!inside(s / grid.concentration)) continue;
          for (u32 t = 0; t < traffic.terminals(); ++t) load += inside(t / grid.concentration) ? 0.0 : traffic(s, t);
        }
        if (load > 0) worst = std::max(worst, capacity > 0 ? load / capacity : std::numeric_limits<double>::infinity());
      }
    }
    stride *= size;
  }
  return worst;
}

/// Of all cuts of a fat tree that part what lies below the switches of a level with the same terminals from the rest:
/// the one that is loaded most. Only the upward channels of these switches lead out.
double loaded_subtree(const core::Tree& tree, const core::Graph& graph, const parts::TrafficMatrix& traffic) {
  double worst = 0.0;
  for (const core::TreeLevel& level : tree.levels) {
    if (level.up_ports == 0) continue;
    const auto key = [&](u32 t) { return t / level.key_divide % level.key_modulo; };
    std::vector<double> capacity(level.key_modulo);
    std::vector<double> load(level.key_modulo);
    for (u32 s = level.first; s < level.first + level.count; ++s) {
      for (u32 p = level.down_ports; p < level.down_ports + level.up_ports; ++p) {
        const u32 c = graph.channel_out_of(s, p);
        if (c == kNone || graph.channel(c).failed) continue;
        capacity[tree.key[s]] += 1.0 / graph.channel(c).link.cycles_per_flit;
      }
    }
    for (u32 s = 0; s < traffic.terminals(); ++s) {
      for (u32 d = 0; d < traffic.terminals(); ++d) load[key(s)] += key(s) == key(d) ? 0.0 : traffic(s, d);
    }
    for (u32 k = 0; k < level.key_modulo; ++k) {
      if (load[k] <= 0) continue;
      worst = std::max(worst, capacity[k] > 0 ? load[k] / capacity[k] : std::numeric_limits<double>::infinity());
    }
  }
  return worst;
}

/// What all channels between switches have to carry when every flit takes a shortest path, over what they can.
double loaded_distance(const core::Graph& graph, const parts::TrafficMatrix& traffic) {
  double capacity = 0.0;
  for (const core::Channel& c : graph.channels()) {
    if (!c.from.terminal && !c.to.terminal && !c.failed) capacity += 1.0 / c.link.cycles_per_flit;
  }
  double demand = 0.0;
  std::vector<u32> distance;
  u32 measured = kNone;  // from this switch; terminals of one switch follow each other
  for (u32 s = 0; s < traffic.terminals(); ++s) {
    const u32 home = graph.channel(graph.injection(s)).to.node;
    if (home != measured) {
      distance = graph.distances_from(home);
      measured = home;
    }
    for (u32 d = 0; d < traffic.terminals(); ++d) {
      const u32 hops = distance[graph.channel(graph.ejection(d)).from.node];
      if (hops != kNone) demand += traffic(s, d) * hops;
    }
  }
  return capacity > 0 ? demand / capacity : 0.0;
}

std::unique_ptr<core::Analysis> make(const config::Values& values, const core::AnalysisContext& context) {
  const core::Graph& graph = context.topology->graph();
  const parts::TrafficMatrix traffic(values, context);
  parts::Paths paths(values, context);
  std::vector<double> load(graph.channels().size(), 0.0);
  for (u32 s = 0; s < traffic.terminals(); ++s) {
    for (u32 d = 0; d < traffic.terminals(); ++d) {
      if (traffic(s, d) <= 0) continue;
      paths.follow(s, d, [&](u32 channel, double share) { load[channel] += share * traffic(s, d); });
    }
  }
  // Circuits pass between terminal and switch without limit unless they are given one.
  const bool circuits = context.switching->component() == "circuit";
  double channels = 0.0;
  double terminals = 0.0;
  for (u32 c = 0; c < load.size(); ++c) {
    const core::Channel& channel = graph.channel(c);
    const bool to_terminal = channel.to.terminal;
    if (!to_terminal && !channel.from.terminal) {
      channels = std::max(channels, load[c] * channel.link.cycles_per_flit);
      continue;
    }
    const i64 lanes = circuits ? context.switching->integer(to_terminal ? "ejection_flits" : "injection_flits") : 1;
    if (lanes != 0)
      terminals = std::max(terminals, load[c] * channel.link.cycles_per_flit / static_cast<double>(lanes));
  }
  Bounds bounds;
  const double offered = traffic.offered();
  bounds.choice = paths.chose();
  if (channels > 0) bounds.channels = offered / channels;
  if (terminals > 0) bounds.terminals = offered / terminals;
  if (context.topology->grid() != nullptr) {
    const double cut = loaded_cut(*context.topology->grid(), graph, traffic);
    if (cut > 0) bounds.cut = offered / cut;
  }
  if (context.topology->tree() != nullptr) {
    const double cut = loaded_subtree(*context.topology->tree(), graph, traffic);
    if (cut > 0) bounds.cut = offered / cut;
  }
  const double distance = loaded_distance(graph, traffic);
  if (distance > 0) bounds.distance = offered / distance;
  return std::make_unique<ThroughputBounds>(bounds);
}

}  // namespace

extern const core::AnalysisRow row_throughput_bounds;
const core::AnalysisRow row_throughput_bounds{
    {"throughput_bounds",
     "Upper bounds of the throughput: channel loads of the actual routing function, cuts, terminals.",
     "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, sections 3.3 and 23.1",
     {}},
    make};

}  // namespace banyan::analysis::throughput_bounds
