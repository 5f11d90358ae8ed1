// What no network can exceed: the load of its channels under the actual routing function, counted pair by pair, and
// that of its cuts and of its channels together under any routing.
//
// Two kinds of bounds. When all demands are met alike (a steady state, in which every one of them is met in full), the
// most loaded part of the network is full first: its capacity over its load, times what is offered. Beyond saturation
// demands that avoid this part are met in full while others share what is left, and more is accepted in sum. Whatever
// the shares x(f) of the demands r(f) are, the flits of all demands on each channel fit its capacity: a linear program,
// whose dual bounds the sum for any weights of the channels. Where the demands are not known, the channels from and to
// the terminals bound what is accepted, and the time that a finite traffic takes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "banyan/analysis/parts/paths.hpp"
#include "banyan/core/multicast.hpp"

namespace banyan::analysis::throughput_bounds {
namespace {

using core::Bound;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// A cut: what has to cross it, and what can, in flits per cycle.
struct Cut {
  double load = 0.0;
  double capacity = 0.0;

  /// How many times too much; 0: nothing crosses it.
  [[nodiscard]] double ratio() const {
    if (load <= 0.0) return 0.0;
    return capacity > 0.0 ? load / capacity : kUnbounded;
  }
  /// What does not fit, at the least.
  [[nodiscard]] double excess() const { return std::max(0.0, load - capacity); }
};

/// The most loaded cut, and the one that leaves most behind.
struct Cuts {
  double ratio = 0.0;
  double excess = 0.0;

  void add(const Cut& cut) {
    ratio = std::max(ratio, cut.ratio());
    excess = std::max(excess, cut.excess());
  }
};

/// Bounds as flits per cycle and terminal: what is offered times the capacity over the load at that offer.
struct Bounds {
  double offered = 0.0;
  double channels = kUnbounded;
  double terminals = kUnbounded;
  double cut = kUnbounded;
  double distance = kUnbounded;
  double overload = kUnbounded;  ///< however demands are met
  double any = kUnbounded;       ///< whatever the demands are
  bool proven_channels = true;   ///< the loads of channels are those that every switch makes
  bool proven = true;            ///< the demands are known and not estimated

  /// The bound for demands that are met alike.
  [[nodiscard]] double alike() const {
    const double rest = std::min({terminals, cut, distance});
    return proven_channels ? std::min(rest, channels) : rest;
  }
};

class ThroughputBounds final : public core::Analysis {
 public:
  explicit ThroughputBounds(Bounds bounds) : bounds_(bounds) {}

  std::vector<core::Prediction> predict() const override {
    std::vector<core::Prediction> list;
    const auto add = [&](const char* metric, double value, Bound bound) {
      if (value < kUnbounded) list.push_back({metric, value, "flits/cycle/terminal", false, bound});
    };
    const double alike = bounds_.alike();
    if (!bounds_.proven) {
      add("accepted_load", bounds_.any, Bound::overload);
    } else if (bounds_.offered > alike) {
      add("accepted_load", bounds_.overload, Bound::overload);
    } else {
      add("accepted_load", alike, Bound::upper);
    }
    add("proportional_throughput", alike, bounds_.proven ? Bound::upper : Bound::none);
    add("channel_load_throughput", bounds_.channels, Bound::none);
    add("bisection_throughput", bounds_.cut, Bound::none);
    add("distance_throughput", bounds_.distance, Bound::none);
    add("terminal_throughput", bounds_.terminals, Bound::none);
    return list;
  }

 private:
  Bounds bounds_;
};

/// Demands that are not known. Whatever arrives crosses the channel to its terminal.
class AnyDemands final : public core::Analysis {
 public:
  /// `ejected`: flits per cycle that all terminals together take; `flits`: of a finite traffic, at least.
  AnyDemands(double ejected, u32 terminals, bool finite, double flits)
      : ejected_(ejected), terminals_(terminals), finite_(finite), flits_(flits) {}

  std::vector<core::Prediction> predict() const override {
    if (!finite_) return {{"accepted_load", ejected_ / terminals_, "flits/cycle/terminal", false, Bound::overload}};
    // The first flit arrives in the cycle of its birth at the earliest.
    return {{"completion_time", std::max(0.0, flits_ / ejected_ - 1.0), "cycles", false, Bound::lower}};
  }

 private:
  double ejected_;
  u32 terminals_;
  bool finite_;
  double flits_;
};

/// Flits per cycle of a channel from a terminal, to a terminal, or between switches.
double capacity_of(const core::AnalysisContext& context, const core::Channel& channel) {
  const core::Capacity& full = context.capacity;
  const double flits = channel.from.terminal ? full.injection : channel.to.terminal ? full.ejection : full.channel;
  return flits / channel.link.cycles_per_flit;
}

/// What the channels of all terminals together carry, to them or from them.
double capacity_of_ends(const core::AnalysisContext& context, bool out) {
  const core::Graph& graph = context.topology->graph();
  double sum = 0.0;
  for (u32 t = 0; t < graph.terminals(); ++t) {
    sum += capacity_of(context, graph.channel(out ? graph.injection(t) : graph.ejection(t)));
  }
  return sum;
}

/// All cuts of one switch and its terminals from the rest, by what enters and by what leaves.
Cuts switches(const core::AnalysisContext& context, const parts::TrafficMatrix& traffic) {
  const core::Graph& graph = context.topology->graph();
  std::vector<Cut> in(graph.switches());
  std::vector<Cut> out(graph.switches());
  for (const core::Channel& c : graph.channels()) {
    if (c.from.terminal || c.to.terminal || c.failed) continue;
    out[c.from.node].capacity += capacity_of(context, c);
    in[c.to.node].capacity += capacity_of(context, c);
  }
  for (u32 s = 0; s < traffic.terminals(); ++s) {
    const u32 from = graph.channel(graph.injection(s)).to.node;
    for (u32 d = 0; d < traffic.terminals(); ++d) {
      const u32 to = graph.channel(graph.ejection(d)).from.node;
      if (from == to) continue;
      out[from].load += traffic(s, d);
      in[to].load += traffic(s, d);
    }
  }
  // The excess of each is left behind by other demands: those into different switches are different ones.
  Cuts cuts;
  for (const std::vector<Cut>* const list : {&in, &out}) {
    double excess = 0.0;
    for (const Cut& cut : *list) {
      cuts.add(cut);
      excess += cut.excess();
    }
    cuts.excess = std::max(cuts.excess, excess);
  }
  return cuts;
}

/// All cuts of a mesh or torus into two by planes across one dimension, in both directions.
Cuts planes(const core::Grid& grid, const core::AnalysisContext& context, const parts::TrafficMatrix& traffic) {
  const core::Graph& graph = context.topology->graph();
  Cuts cuts;
  u32 stride = 1;
  for (std::size_t d = 0; d < grid.size.size(); ++d) {
    const u32 size = grid.size[d];
    const auto coordinate = [&](u32 s) { return s / stride % size; };
    for (u32 begin = 0; begin < (grid.wrap[d] ? size : 1U); ++begin) {
      for (u32 length = 1; length < size; ++length) {
        const auto inside = [&](u32 s) { return (coordinate(s) + size - begin) % size < length; };
        Cut out;
        Cut in;
        for (const core::Channel& c : graph.channels()) {
          if (c.from.terminal || c.to.terminal || c.failed || inside(c.from.node) == inside(c.to.node)) continue;
          (inside(c.from.node) ? out : in).capacity += capacity_of(context, c);
        }
        for (u32 s = 0; s < traffic.terminals(); ++s) {
          const bool leaves = inside(s / grid.concentration);
          for (u32 t = 0; t < traffic.terminals(); ++t)
            (leaves ? out : in).load += inside(t / grid.concentration) == leaves ? 0.0 : traffic(s, t);
        }
        cuts.add(out);
        cuts.add(in);
      }
    }
    stride *= size;
  }
  return cuts;
}

/// All cuts of a fat tree that part what lies below the switches of a level with the same terminals from the rest, in
/// both directions. Only the upper ports of these switches lead out.
Cuts subtrees(const core::Tree& tree, const core::AnalysisContext& context, const parts::TrafficMatrix& traffic) {
  const core::Graph& graph = context.topology->graph();
  Cuts cuts;
  for (const core::TreeLevel& level : tree.levels) {
    if (level.up_ports == 0) continue;
    const auto key = [&](u32 t) { return t / level.key_divide % level.key_modulo; };
    std::vector<Cut> up(level.key_modulo);
    std::vector<Cut> down(level.key_modulo);
    for (const core::Channel& c : graph.channels()) {
      if (c.from.terminal || c.to.terminal || c.failed) continue;
      const auto leads_out = [&](const core::End& e) {
        return e.node - level.first < level.count && e.port - level.down_ports < level.up_ports;
      };
      if (leads_out(c.from)) up[tree.key[c.from.node]].capacity += capacity_of(context, c);
      if (leads_out(c.to)) down[tree.key[c.to.node]].capacity += capacity_of(context, c);
    }
    for (u32 s = 0; s < traffic.terminals(); ++s) {
      for (u32 d = 0; d < traffic.terminals(); ++d) {
        if (key(s) == key(d)) continue;
        up[key(s)].load += traffic(s, d);
        down[key(d)].load += traffic(s, d);
      }
    }
    for (const std::vector<Cut>* const list : {&up, &down}) {
      for (const Cut& cut : *list) cuts.add(cut);
    }
  }
  return cuts;
}

/// All channels between switches together when every flit takes a shortest path.
struct Distances {
  Cut all;                ///< what they have to carry, and what they can
  double overload = 0.0;  ///< flits per cycle that arrive at the most when the nearest demands are met first
};

Distances distances(const core::AnalysisContext& context, const parts::TrafficMatrix& traffic) {
  const core::Graph& graph = context.topology->graph();
  Distances result;
  for (const core::Channel& c : graph.channels()) {
    if (!c.from.terminal && !c.to.terminal && !c.failed) result.all.capacity += capacity_of(context, c);
  }
  std::vector<double> demand;  // [channels on a shortest path]
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
      if (hops == kNone) continue;
      if (hops >= demand.size()) demand.resize(hops + 1, 0.0);
      demand[hops] += traffic(s, d);
    }
  }
  double left = result.all.capacity;
  for (std::size_t hops = 0; hops < demand.size(); ++hops) {
    const double load = demand[hops] * static_cast<double>(hops);
    result.all.load += load;
    const double met = load <= left ? demand[hops] : left / static_cast<double>(hops);
    result.overload += met;
    left = std::max(0.0, left - load);
  }
  return result;
}

/// The flits of all demands on the channels between switches. Where a routing draws the ways of a pair, the flits on
/// each are a fixed share of those of the pair only if the source keeps them in one order (`in_order`), so that a way
/// that is full stops the others too. Else each way is met as far as it can be: what crosses a channel with a part of
/// its packets alone is then bounded by that channel alone, and not together with others.
class Demands {
 public:
  /// Kept paths take 12 bytes each; beyond, only single channels bound an overload.
  static constexpr std::size_t kMostKept = std::size_t{1} << 22U;

  Demands(const core::AnalysisContext& context, const parts::TrafficMatrix& traffic, parts::Paths& paths, bool in_order)
      : capacity_(context.topology->graph().channels().size()), load_(capacity_.size(), 0.0) {
    for (u32 c = 0; c < capacity_.size(); ++c) {
      const core::Channel& channel = context.topology->graph().channel(c);
      const bool inner = !channel.from.terminal && !channel.to.terminal;
      capacity_[c] = inner ? capacity_of(context, channel) : kUnbounded;
    }
    for (u32 s = 0; s < traffic.terminals(); ++s) {
      for (u32 d = 0; d < traffic.terminals(); ++d) {
        const double rate = traffic(s, d);
        if (rate <= 0) continue;
        paths.follow(s, d, [&](u32 channel, double share) {
          if (capacity_[channel] == kUnbounded) return;
          load_[channel] += share * rate;
          const bool all = share > 1.0 - 1e-9;
          if (crossed_.size() < kMostKept && (in_order || all)) crossed_.push_back({channel, share});
        });
        rate_.push_back(rate);
        end_.push_back(crossed_.size());
      }
    }
  }

  /// How many times too much the most loaded channel has to carry.
  [[nodiscard]] double worst() const {
    double worst = 0.0;
    for (u32 c = 0; c < load_.size(); ++c) worst = std::max(worst, load_[c] / capacity_[c]);
    return worst;
  }

  /// Flits per cycle that arrive at the most. For any weights y of the channels, sum over c of y(c) capacity(c) + sum
  /// over f of r(f) max(0, 1 - length of f under y) is such a bound (weak duality): subgradient steps look for good
  /// weights, and the least bound on the way counts.
  [[nodiscard]] double overload() const {
    double best = kUnbounded;
    const double all = sum(rate_);
    for (u32 c = 0; c < load_.size(); ++c) best = std::min(best, all - std::max(0.0, load_[c] - capacity_[c]));
    if (load_.empty() || crossed_.size() >= kMostKept) return std::min(best, all);
    std::vector<double> weight(load_.size(), 0.0);
    std::vector<double> mean(load_.size(), 0.0);
    std::vector<double> used;
    const double scale = 1.0 / std::max(1.0, worst());
    const u64 steps = std::clamp<u64>(kWork / (crossed_.size() + 1), 20, 400);
    for (u64 k = 1; k <= steps; ++k) {
      best = std::min(best, dual(weight, &used));
      const double step = scale / std::sqrt(static_cast<double>(k));
      for (u32 c = 0; c < weight.size(); ++c) {
        if (capacity_[c] < kUnbounded) weight[c] = std::max(0.0, weight[c] + step * (used[c] / capacity_[c] - 1.0));
        mean[c] += (weight[c] - mean[c]) / static_cast<double>(k);
      }
    }
    return std::min(best, dual(mean, nullptr));
  }

 private:
  static constexpr u64 kWork = 200'000'000;  ///< crossed channels that overload() looks at: about a second

  struct Crossed {
    u32 channel;
    double share;
  };

  static double sum(const std::vector<double>& values) {
    double total = 0.0;
    for (const double value : values) total += value;
    return total;
  }

  /// The bound of some weights; `used`: the loads of channels when exactly the demands whose way is shorter than 1 are
  /// met.
  double dual(const std::vector<double>& weight, std::vector<double>* used) const {
    double bound = 0.0;
    for (u32 c = 0; c < weight.size(); ++c) bound += weight[c] > 0.0 ? weight[c] * capacity_[c] : 0.0;
    if (used != nullptr) used->assign(weight.size(), 0.0);
    std::size_t begin = 0;
    for (std::size_t f = 0; f < rate_.size(); ++f) {
      double length = 0.0;
      for (std::size_t i = begin; i < end_[f]; ++i) length += crossed_[i].share * weight[crossed_[i].channel];
      if (length < 1.0) {
        bound += rate_[f] * (1.0 - length);
        for (std::size_t i = begin; used != nullptr && i < end_[f]; ++i) {
          (*used)[crossed_[i].channel] += rate_[f] * crossed_[i].share;
        }
      }
      begin = end_[f];
    }
    return bound;
  }

  std::vector<double> capacity_;  ///< flits per cycle; of channels of terminals: unbounded here
  std::vector<double> load_;
  std::vector<double> rate_;      ///< of every demand
  std::vector<std::size_t> end_;  ///< of every demand, in crossed_
  std::vector<Crossed> crossed_;
};

/// Channels to and from terminals.
struct Ends {
  double ratio = 0.0;            ///< of the most loaded one
  double overload = kUnbounded;  ///< flits per cycle that arrive at the most
};

Ends ends(const core::AnalysisContext& context, const parts::TrafficMatrix& traffic) {
  const core::Graph& graph = context.topology->graph();
  Ends result;
  for (const bool out : {true, false}) {
    double met = 0.0;
    for (u32 t = 0; t < traffic.terminals(); ++t) {
      Cut cut{0.0, capacity_of(context, graph.channel(out ? graph.injection(t) : graph.ejection(t)))};
      for (u32 other = 0; other < traffic.terminals(); ++other) {
        cut.load += out ? traffic(t, other) : traffic(other, t);
      }
      result.ratio = std::max(result.ratio, cut.ratio());
      met += std::min(cut.load, cut.capacity);
    }
    result.overload = std::min(result.overload, met);
  }
  return result;
}

/// Nothing where the channels of terminals have no limit, or where the demands are known or can be estimated.
std::unique_ptr<core::Analysis> bound_any_demands(const core::AnalysisContext& context) {
  const auto some = [&](auto&& is) { return std::ranges::any_of(context.generators, is); };
  const bool finite = some([](const core::Traffic* t) { return t->finite(); });
  const bool replicates = some([](const core::Traffic* t) { return t->replicates(); });
  const double ejected = capacity_of_ends(context, false);
  if (ejected == kUnbounded) return nullptr;
  const bool known = !some([](const core::Traffic* t) { return t->answers() || t->fetch_adds(); });
  if (!finite && !replicates && known) return nullptr;
  const u32 terminals = context.topology->graph().terminals();
  double flits = 0.0;
  for (const core::Traffic* t : context.generators) {
    // A worm with several destinations may lose its header on the way.
    const u32 header = t->replicates() ? std::max(t->header_flits(), core::bit_string_flits(terminals)) : 0;
    const u32 least = t->shortest_message() > header ? t->shortest_message() - header : 1;
    if (t->finite()) flits += static_cast<double>(t->total_messages()) * least;
  }
  return std::make_unique<AnyDemands>(ejected, terminals, finite, flits);
}

std::unique_ptr<core::Analysis> make(const config::Values& values, const core::AnalysisContext& context) {
  if (auto bounds = bound_any_demands(context)) return bounds;
  const parts::TrafficMatrix traffic(values, context);
  Bounds bounds;
  bounds.any = std::min(capacity_of_ends(context, true), capacity_of_ends(context, false)) / traffic.terminals();
  bounds.offered = traffic.offered();
  bounds.proven = traffic.exact();
  double accepted = bounds.offered * traffic.terminals();  // flits per cycle in an overload, at the most
  const auto least = [&](double& bound, double ratio, double overload) {
    if (ratio > 0) bound = std::min(bound, bounds.offered / ratio);
    accepted = std::min(accepted, overload);
  };
  const auto cut = [&](const Cuts& cuts) {
    least(bounds.cut, cuts.ratio, bounds.offered * traffic.terminals() - cuts.excess);
  };
  const Ends terminals = ends(context, traffic);
  least(bounds.terminals, terminals.ratio, terminals.overload);
  cut(switches(context, traffic));
  if (context.topology->grid() != nullptr) cut(planes(*context.topology->grid(), context, traffic));
  if (context.topology->tree() != nullptr) cut(subtrees(*context.topology->tree(), context, traffic));
  const Distances distance = distances(context, traffic);
  least(bounds.distance, distance.all.ratio(), distance.overload);
  if (context.router->sight() == core::Sight::none) {
    parts::Paths paths(values, context);
    const Demands demands(context, traffic, paths, !context.ways_apart);
    bounds.proven_channels = !paths.chose();
    const double worst = demands.worst();
    const bool limits = bounds.proven_channels && worst > 1.0;
    least(bounds.channels, worst, limits ? demands.overload() : accepted);
  }
  bounds.overload = accepted / traffic.terminals();
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
