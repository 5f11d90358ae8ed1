#include "banyan/report/drawing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <tuple>
#include <vector>

#include "banyan/report/markup.hpp"

namespace banyan::report {
namespace {

using core::Channel;
using core::End;
using core::Graph;
using core::Topology;

struct Spot {
  double x = 0.0;
  double y = 0.0;
};
using Spots = std::vector<Spot>;

/// Lengths are in units of the distance between two switches.
struct NetworkLayout {
  std::string shape;
  bool bidirectional = false;  ///< terminals send and receive at one place
  Spots switches;
  Spots sources;        ///< where a terminal sends from
  Spots sinks;          ///< where it receives
  double radius = 0.0;  ///< half the side of a switch
  Spot size;
};

constexpr double kMargin = 0.8;
constexpr double kMostPixels = 1200.0;
constexpr double kPixels = 60.0;  ///< per unit, where the drawing is small

/// The middle of part `i` of `count` equal ones.
double spread(std::size_t i, std::size_t count, double extent) {
  return (static_cast<double>(i) + 0.5) * extent / static_cast<double>(count);
}

std::vector<std::vector<u32>> by_level(const Graph& graph) {
  std::vector<std::vector<u32>> levels;
  for (u32 s = 0; s < graph.switches(); ++s) {
    if (levels.size() <= graph.level(s)) levels.resize(graph.level(s) + std::size_t{1});
    levels[graph.level(s)].push_back(s);
  }
  return levels;
}

double widest(const std::vector<std::vector<u32>>& levels) {
  std::size_t most = 1;
  for (const auto& level : levels) most = std::max(most, level.size());
  return static_cast<double>(most);
}

/// Levels side by side, left to right.
Spots stages(const Graph& graph) {
  const auto levels = by_level(graph);
  const double most = widest(levels);
  const double gap = std::max(3.0, most * 0.22);
  Spots points(graph.switches());
  for (std::size_t level = 0; level < levels.size(); ++level) {
    for (std::size_t i = 0; i < levels[level].size(); ++i)
      points[levels[level][i]] = {gap * static_cast<double>(level + 1), spread(i, levels[level].size(), most)};
  }
  return points;
}

/// Levels one above the other, the highest on top.
Spots levels(const Graph& graph) {
  const auto all = by_level(graph);
  const double gap = std::max(2.0, widest(all) * 0.16);
  Spots points = stages(graph);
  for (u32 s = 0; s < graph.switches(); ++s) {
    const double below_top = static_cast<double>(all.size() - 1 - graph.level(s));
    points[s] = {points[s].y, gap * (below_top + 0.7)};
  }
  return points;
}

/// The first two dimensions in a plane; further ones as planes side by side, then below each other.
Spots grid(u32 switches, const std::vector<u32>& sizes) {
  const u32 a = sizes.empty() ? 1 : sizes[0];
  const u32 b = sizes.size() < 2 ? 1 : sizes[1];
  Spots points;
  for (u32 s = 0; s < switches; ++s) {
    u32 left = s / (a * b);
    u64 x = s % a;
    u64 y = s / a % b;
    u64 step_x = a + 1;
    u64 step_y = b + 1;
    for (std::size_t d = 2; d < sizes.size(); ++d) {
      const u32 at = left % sizes[d];
      left /= sizes[d];
      u64& step = d % 2 == 0 ? step_x : step_y;
      (d % 2 == 0 ? x : y) += at * step;
      step *= sizes[d];
    }
    points.push_back({static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5});
  }
  return points;
}

/// Every dimension is a direction of its own: two long ones, then shorter ones, slanted.
Spots cube(u32 switches, std::size_t dimensions) {
  Spots directions;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::size_t pair = d / 2;
    const auto shift = static_cast<double>(pair);
    const double scale = std::exp2(shift * 1.15);
    directions.push_back(d % 2 == 0 ? Spot{scale * 1.6, scale * 0.22 * static_cast<double>(pair % 2)}
                                    : Spot{scale * 0.5, scale * 1.3});
  }
  Spots points;
  for (u32 s = 0; s < switches; ++s) {
    Spot at{0.5, 0.5};
    for (std::size_t d = 0; d < dimensions; ++d) {
      if ((s >> d & 1U) == 0) continue;
      at.x += directions[d].x;
      at.y += directions[d].y;
    }
    points.push_back(at);
  }
  return points;
}

Spot on_circle(u32 i, u32 count, double radius) {
  const double angle = 2 * std::numbers::pi * i / count - std::numbers::pi / 2;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// Groups on a circle, the routers of each on a small one.
Spots group_circles(u32 switches, u32 routers, u32 count) {
  const double small = std::max(0.8, routers * 1.3 / (2 * std::numbers::pi));
  const double large = std::max(small * 2, count * small * 2.6 / (2 * std::numbers::pi));
  const double centre = large + small + 1.5;
  Spots points;
  for (u32 s = 0; s < switches; ++s) {
    const Spot group = on_circle(s / routers, count, large);
    const Spot router = on_circle(s % routers, routers, small);
    points.push_back({centre + group.x + router.x, centre + group.y + router.y});
  }
  return points;
}

Spots ring(u32 switches) {
  const double radius = std::max(1.5, switches * 1.2 / (2 * std::numbers::pi));
  Spots points;
  for (u32 s = 0; s < switches; ++s) {
    const Spot at = on_circle(s, switches, radius);
    points.push_back({radius + 1.5 + at.x, radius + 1.5 + at.y});
  }
  return points;
}

Spots place_switches(const std::string& shape, const Topology& topology) {
  const Graph& graph = topology.graph();
  const u32 switches = graph.switches();
  if (shape == "stages") return stages(graph);
  if (shape == "levels") return levels(graph);
  if (shape == "cube") return cube(switches, topology.grid()->size.size());
  if (shape == "grid")
    return grid(switches, topology.grid() != nullptr ? topology.grid()->size : topology.hyperx()->size);
  if (shape == "groups") return group_circles(switches, topology.dragonfly()->routers, topology.dragonfly()->groups);
  return ring(switches);
}

/// The switch at the other end of a terminal's channel; the first one where a failure left none.
u32 switch_at(const Graph& graph, u32 channel, bool enters) {
  if (channel == kNone) return 0;
  return enters ? graph.channel(channel).to.node : graph.channel(channel).from.node;
}

/// Terminals of a switch around its place, or in a row below the tree, or left and right of the stages.
void place_terminals(const Graph& graph, const Spot& extent, NetworkLayout& layout) {
  const u32 terminals = graph.terminals();
  std::vector<u32> enters(terminals);
  std::vector<u32> leaves(terminals);
  for (u32 t = 0; t < terminals; ++t) {
    enters[t] = switch_at(graph, graph.injection(t), true);
    leaves[t] = switch_at(graph, graph.ejection(t), false);
  }
  // In the order of their switches across, so that lines do not cross.
  const auto ordered = [&](const std::vector<u32>& at, double Spot::*across) {
    std::vector<u32> order(terminals);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](u32 a, u32 b) { return layout.switches[at[a]].*across < layout.switches[at[b]].*across; });
    return order;
  };
  layout.sources.resize(terminals);
  layout.sinks.resize(terminals);
  if (layout.shape == "stages") {
    const double gap = std::max(3.0, extent.y * 0.22) * 0.62;
    const auto [first, last] = std::minmax_element(layout.switches.begin(), layout.switches.end(),
                                                   [](const Spot& a, const Spot& b) { return a.x < b.x; });
    std::size_t i = 0;
    for (const u32 t : ordered(enters, &Spot::y))
      layout.sources[t] = {first->x - gap, spread(i++, terminals, extent.y)};
    i = 0;
    for (const u32 t : ordered(leaves, &Spot::y)) {
      const Spot right{last->x + gap, spread(i++, terminals, extent.y)};
      layout.sinks[t] = layout.bidirectional ? layout.sources[t] : right;
    }
    return;
  }
  if (layout.shape == "levels") {
    double lowest = 0.0;
    for (const Spot& p : layout.switches) lowest = std::max(lowest, p.y);
    std::size_t i = 0;
    for (const u32 t : ordered(enters, &Spot::x))
      layout.sources[t] = {spread(i++, terminals, extent.x), lowest + std::max(1.2, extent.x * 0.06)};
  } else {
    std::map<u32, std::vector<u32>> around;
    for (u32 t = 0; t < terminals; ++t) around[enters[t]].push_back(t);
    for (const auto& [s, list] : around) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        const double turn =
            list.size() == 1 ? 0.0 : 0.5 * static_cast<double>(i) / static_cast<double>(list.size() - 1) - 0.25;
        const double angle = std::numbers::pi * (0.75 + turn);
        const Spot& at = layout.switches[s];
        layout.sources[list[i]] = {at.x + 0.42 * std::cos(angle), at.y + 0.42 * std::sin(angle)};
      }
    }
  }
  layout.sinks = layout.sources;
}

NetworkLayout lay_out(const std::string& name, const Topology& topology) {
  NetworkLayout layout;
  layout.shape = shape_of(name, topology);
  layout.bidirectional = topology.multistage() == nullptr;
  layout.switches = place_switches(layout.shape, topology);
  layout.radius = layout.shape == "stages" ? 0.36 : 0.17;
  Spot extent{0.5, 0.5};
  for (const Spot& p : layout.switches) extent = {std::max(extent.x, p.x + 0.5), std::max(extent.y, p.y + 0.5)};
  place_terminals(topology.graph(), extent, layout);
  Spot low{1e300, 1e300};
  Spot high;
  const auto all = {&layout.switches, &layout.sources, &layout.sinks};
  for (const Spots* points : all) {
    for (const Spot& p : *points) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
  }
  for (Spots* points : all) {
    for (Spot& p : *points) p = {p.x - low.x + kMargin, p.y - low.y + kMargin};
  }
  layout.size = {high.x - low.x + 2 * kMargin, high.y - low.y + 2 * kMargin};
  return layout;
}

const Spot& place_of(const NetworkLayout& layout, const End& end, bool sends) {
  if (!end.terminal) return layout.switches[end.node];
  return (sends ? layout.sources : layout.sinks)[end.node];
}

/// A switch, a port of it, and whether that is drawn on its right side.
using Side = std::tuple<u32, u32, bool>;

/// Ports of stages lie in order on the left and the right side of their box.
std::map<Side, Spot> side_ports(const Graph& graph, const NetworkLayout& layout) {
  std::map<Side, Spot> at;
  for (const Channel& c : graph.channels()) {
    const bool right = place_of(layout, c.to, false).x > place_of(layout, c.from, true).x;
    const bool left = place_of(layout, c.from, true).x > place_of(layout, c.to, false).x;
    if (!c.from.terminal) at[{c.from.node, c.from.port, right}];
    if (!c.to.terminal) at[{c.to.node, c.to.port, left}];
  }
  std::map<std::pair<u32, bool>, std::vector<Spot*>> sides;  // by port
  for (auto& [side, point] : at) sides[{std::get<0>(side), std::get<2>(side)}].push_back(&point);
  for (auto& [side, ports] : sides) {
    const Spot& box = layout.switches[side.first];
    for (std::size_t i = 0; i < ports.size(); ++i) {
      *ports[i] = {box.x + (side.second ? layout.radius : -layout.radius),
                   box.y + spread(i, ports.size(), 2 * layout.radius) - layout.radius};
    }
  }
  return at;
}

/// Two channels between the same nodes lie side by side.
std::string channel_line(const Channel& c, const NetworkLayout& layout, const std::map<Side, Spot>& ports) {
  Spot a = place_of(layout, c.from, true);
  Spot b = place_of(layout, c.to, false);
  const bool right = b.x > a.x;
  const bool stages = layout.shape == "stages";
  const auto port_at = [&](const End& end, bool on_right, const Spot& other) {
    const auto found = end.terminal ? ports.end() : ports.find({end.node, end.port, on_right});
    return found == ports.end() ? other : found->second;
  };
  a = port_at(c.from, right, a);
  b = port_at(c.to, !right, b);
  const double distance = std::hypot(b.x - a.x, b.y - a.y);
  const double length = distance == 0.0 ? 1.0 : distance;
  const Spot unit{(b.x - a.x) / length, (b.y - a.y) / length};
  const double apart = layout.bidirectional ? 0.045 : 0.0;
  const auto cut = [&](const End& end) { return stages || end.terminal ? 0.0 : std::min(layout.radius, length / 3); };
  return fmt::format("M{:.3f} {:.3f}L{:.3f} {:.3f}", a.x + unit.x * cut(c.from) - unit.y * apart,
                     a.y + unit.y * cut(c.from) + unit.x * apart, b.x - unit.x * cut(c.to) - unit.y * apart,
                     b.y - unit.y * cut(c.to) + unit.x * apart);
}

}  // namespace

std::string shape_of(const std::string& name, const Topology& topology) {
  const core::Grid* grid = topology.grid();
  if (grid != nullptr) {
    const bool cube =
        grid->size.size() > 2 && std::all_of(grid->size.begin(), grid->size.end(), [](u32 size) { return size == 2; });
    return cube ? "cube" : "grid";
  }
  if (topology.hyperx() != nullptr) return "grid";
  if (topology.dragonfly() != nullptr) return "groups";
  // A bidirectional MIN is drawn as the multistage network that it is, a fat tree as a tree.
  if (topology.tree() != nullptr) return name == "bidirectional_min" ? "stages" : "levels";
  if (topology.multistage() != nullptr) return "stages";
  return topology.graph().levels() > 1 ? "stages" : "ring";
}

std::string network_svg(const std::string& name, const Topology& topology) {
  const Graph& graph = topology.graph();
  const NetworkLayout layout = lay_out(name, topology);
  const double pixels = std::min(kPixels, kMostPixels / std::max(layout.size.x, layout.size.y));
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.3f} {1:.3f}\" width=\"{2:.0f}\" height=\"{3:.0f}\">"
      "<title>{4}</title>\n<rect width=\"{0:.3f}\" height=\"{1:.3f}\" fill=\"#ffffff\"/>\n",
      layout.size.x, layout.size.y, layout.size.x * pixels, layout.size.y * pixels, escape(name));
  const std::map<Side, Spot> ports = layout.shape == "stages" ? side_ports(graph, layout) : std::map<Side, Spot>();
  std::string works;
  std::string failed;
  for (const Channel& c : graph.channels()) (c.failed ? failed : works) += channel_line(c, layout, ports);
  svg += fmt::format("<path d=\"{}\" stroke=\"#7a8899\" stroke-width=\"0.03\" fill=\"none\"/>\n", works);
  if (!failed.empty()) {
    svg += fmt::format(
        "<path d=\"{}\" stroke=\"#b3261e\" stroke-width=\"0.03\" stroke-dasharray=\"0.12 0.08\" fill=\"none\"/>\n",
        failed);
  }
  const auto terminal = [&](const Spot& p, u32 t) {
    svg += fmt::format(
        "<circle cx=\"{:.3f}\" cy=\"{:.3f}\" r=\"0.09\" fill=\"#ffffff\" stroke=\"#7a8899\" stroke-width=\"0.03\">"
        "<title>terminal {}</title></circle>\n",
        p.x, p.y, t);
  };
  for (u32 t = 0; t < graph.terminals(); ++t) {
    terminal(layout.sources[t], t);
    if (!layout.bidirectional) terminal(layout.sinks[t], t);
  }
  for (u32 s = 0; s < graph.switches(); ++s) {
    svg += fmt::format(
        "<rect x=\"{:.3f}\" y=\"{:.3f}\" width=\"{:.3f}\" height=\"{:.3f}\" "
        "fill=\"#2f6fa7\"><title>{}</title></rect>\n",
        layout.switches[s].x - layout.radius, layout.switches[s].y - layout.radius, 2 * layout.radius,
        2 * layout.radius, escape(topology.label(s)));
  }
  return svg + "</svg>\n";
}

}  // namespace banyan::report
