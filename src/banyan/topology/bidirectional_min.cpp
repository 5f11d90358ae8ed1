// Bidirectional multistage networks of 2k-port switches: stages of N/k switches each, k ports towards the hosts and k
// away from them, between perfect k-shuffles or as a k-ary n-tree. Packets turn around at a stage from which their
// destination can be reached; the highest stage reaches all.
//
// With N = r k^(n-1) hosts, 1 < r < k, a switch of the highest stage has k/r ports down to every destination. They lead
// to different switches under the perfect shuffle, and to the same one in the tree. Routing functions choose the first,
// or by a rule of their own (core::TreeLevel::port_times).
#include <fmt/core.h>

#include <cmath>

#include "banyan/base/bits.hpp"
#include "banyan/topology/parts/tree.hpp"

namespace banyan::topology::bidirectional_min {
namespace {

/// N = r k^(n-1) with n stages and 1 < r <= k.
struct Shape {
  u32 hosts = 0;
  u32 half = 0;    ///< k
  u32 stages = 0;  ///< n
  u32 top = 0;     ///< r
};

/// The numbers of hosts next to one that does not fit: `below` times a divisor of k.
std::string nearest_sizes(const Shape& shape, u64 below) {
  u64 less = below;
  u64 more = below * shape.half;
  for (u32 r = 1; r <= shape.half; ++r) {
    if (shape.half % r != 0) continue;
    if (below * r < shape.hosts) less = below * r;
    if (below * r > shape.hosts) more = std::min(more, below * r);
  }
  return fmt::format("use {} or {}", less, more);
}

Shape read_shape(const config::Values& values) {
  Shape shape;
  shape.hosts = values.natural("hosts");
  const u32 ports = values.natural("ports");
  if (ports % 2 != 0) {
    values.fail("ports", fmt::format("{} ports do not divide into two equal halves", ports),
                fmt::format("use {} or {}", ports - 1, ports + 1));
  }
  shape.half = ports / 2;
  if (shape.hosts < shape.half) {
    values.fail("hosts", fmt::format("{} hosts do not fill one switch of {} ports", shape.hosts, ports),
                fmt::format("use {} hosts, or fewer ports", shape.half));
  }
  u64 below = 1;
  while (below * shape.half < shape.hosts) {
    below *= shape.half;
    ++shape.stages;
  }
  ++shape.stages;
  shape.top = static_cast<u32>(shape.hosts / below);
  if (shape.hosts % below != 0 || shape.half % shape.top != 0) {
    values.fail("hosts", fmt::format("{} hosts are no power of {} times a divisor of it", shape.hosts, shape.half),
                nearest_sizes(shape, below));
  }
  return shape;
}

core::TreeLevel level_of(const Shape& shape, u32 l, bool shuffled) {
  const u64 k = shape.half;
  const u64 below = power(k, l);  // terminals below a port of the level, for the tree
  core::TreeLevel level;
  level.count = shape.hosts / shape.half;
  level.down_ports = shape.half;
  const bool highest = l + 1 == shape.stages;
  level.up_ports = highest ? 0 : shape.half;
  if (l == 0) {
    level.port_modulo = highest ? shape.top : shape.half;
    level.key_divide = shape.half;
    level.key_modulo = level.count;
    return level;
  }
  level.port_modulo = highest ? shape.top : shape.half;
  level.port_times = shape.half / level.port_modulo;
  const u64 keys = std::max<u64>(1, shape.hosts / (below * k));
  level.key_modulo = static_cast<u32>(keys);
  if (shuffled) {
    level.key_divide = shape.half;
    level.port_divide = static_cast<u32>(highest ? k : shape.hosts / below);
  } else {
    level.key_divide = static_cast<u32>(std::min<u64>(below * k, shape.hosts));
    level.port_divide = static_cast<u32>(below);
  }
  return level;
}

std::unique_ptr<core::Topology> make(const config::Values& values) {
  const Shape shape = read_shape(values);
  const bool shuffled = values.text("wiring") == "perfect_shuffle";
  parts::TreePlan plan;
  plan.terminals = shape.hosts;
  plan.spare_ports = shape.half;
  const u32 per_stage = shape.hosts / shape.half;
  for (u32 l = 0; l < shape.stages; ++l) {
    plan.tree.levels.push_back(level_of(shape, l, shuffled));
    // A switch's number: what it has in common with the hosts below, then what distinguishes it from others with the
    // same.
    const u32 alike = per_stage / plan.tree.levels.back().key_modulo;
    for (u32 n = 0; n < per_stage; ++n) plan.tree.key.push_back(n / alike);
  }
  parts::read_tree_latency(values, plan);
  const u32 k = shape.half;
  const u32 hosts = shape.hosts;
  if (shuffled) {
    // Position n k + u of a level is shuffled to position n k + u of the next: the digits rotate one place up.
    const auto up = [k, hosts](u32, u32 n, u32 u) {
      const u64 position = u64{n} * k + u;
      const u64 image = position * k % hosts + position * k / hosts;
      return parts::TreeEnd{static_cast<u32>(image / k), static_cast<u32>(image % k)};
    };
    const auto down = [k, hosts](u32, u32 n, u32 port) {
      const u32 position = port * (hosts / k) + n;
      return parts::TreeEnd{position / k, position % k};
    };
    return std::make_unique<parts::TreeTopology>(std::move(plan), values, parts::TreeLinks{up, down});
  }
  struct Level {
    u32 alike = 1;     ///< switches with the same hosts below
    u32 children = 1;  ///< groups of them that a switch of the level above joins
  };
  const auto level = [k, stages = shape.stages, top = shape.top](u32 l) {
    return Level{static_cast<u32>(power(k, l)), l + 2 == stages ? top : k};
  };
  const auto up = [k, level](u32 l, u32 n, u32 u) {
    const auto [alike, children] = level(l);
    const u32 group = n / alike;
    const u32 node = group / children * (alike * children) + n % alike + u % children * alike;
    return parts::TreeEnd{node, group % children * (k / children) + u / children};
  };
  const auto down = [k, level](u32 l, u32 n, u32 port) {
    const auto [alike, children] = level(l - 1);
    const u32 group = n / (alike * children) * children + port / (k / children);
    const u32 among = n % (alike * children);
    return parts::TreeEnd{group * alike + among % alike, port % (k / children) * children + among / alike};
  };
  return std::make_unique<parts::TreeTopology>(std::move(plan), values, parts::TreeLinks{up, down});
}

core::NetworkSize size(const config::Values& values) {
  parts::TreeShape tree;
  tree.terminals = values.natural("hosts");
  tree.spare = std::floor(values.natural("ports") / 2.0);
  double below = 1.0;
  do {
    tree.count.push_back(tree.terminals / tree.spare);
    tree.down.push_back(tree.spare);
    tree.up.push_back(tree.spare);
    tree.children.push_back(tree.spare);
    below *= tree.spare;
  } while (below < tree.terminals);
  tree.up.back() = 0.0;
  return parts::of_wiring(parts::tree_size(tree), values);
}

}  // namespace

using config::Parameter;
extern const core::TopologyRow row_bidirectional_min;
const core::TopologyRow row_bidirectional_min{
    {"bidirectional_min",
     "Bidirectional multistage network: stages of switches with half of their ports on each side, packets turn around.",
     "L. M. Ni, Y. Gui and S. Moore, Performance Evaluation of Switch-Based Wormhole Networks, IEEE TPDS 8(5), 1997; "
     "J. "
     "Duato, S. Yalamanchili and L. Ni, Interconnection Networks, 2003, section 1.8.5",
     parts::tree_parameters({
         Parameter::integer("hosts", 64)
             .range(2, 1 << 20)
             .doc("Terminals N: a power of ports / 2, times a divisor of it in the highest stage."),
         Parameter::integer("ports", 8).range(4, 512).doc("Ports of a switch, 2 k."),
         Parameter::choice("wiring", {"perfect_shuffle", "k_ary_n_tree"}, "perfect_shuffle")
             .doc("How the stages are joined."),
     })},
    make,
    size,
    {"nearest_common_ancestor", "up", "destination_digit"}};

}  // namespace banyan::topology::bidirectional_min
