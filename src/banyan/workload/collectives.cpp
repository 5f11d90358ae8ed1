#include "banyan/workload/collectives.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

namespace banyan::workload {
namespace collectives {
namespace {

using Order = CollectivePlan::Order;
using List = std::vector<u32>;
using Sets = std::vector<List>;  ///< per position in a list of members the blocks that belong to it

constexpr bool kReduce = true;
constexpr bool kCopy = false;

List all_members(const CollectivePlan& plan) {
  List members(plan.members());
  std::iota(members.begin(), members.end(), 0U);
  return members;
}

/// Member i + root at position i.
List members_from(const CollectivePlan& plan, u32 root) {
  List members = all_members(plan);
  std::rotate(members.begin(), members.begin() + root, members.end());
  return members;
}

/// Block `members[i]` at position i.
Sets own_blocks(const List& members) {
  Sets sets;
  for (const u32 member : members) sets.push_back({member});
  return sets;
}

Sets first_blocks(u32 count) {
  List blocks(count);
  std::iota(blocks.begin(), blocks.end(), 0U);
  return own_blocks(blocks);
}

List joined(const Sets& sets) {
  List all;
  for (const List& set : sets) all.insert(all.end(), set.begin(), set.end());
  return all;
}

u32 size_of(const List& list) noexcept { return static_cast<u32>(list.size()); }

// --- rings ----------------------------------------------------------------------------------------------------------

/// Position i ends with its set reduced (Patarasuk, Yuan 2009).
void ring_reduce_scatter(CollectivePlan& plan, const List& members, const Sets& sets) {
  const u32 n = size_of(members);
  for (u32 step = 0; step + 1 < n; ++step) {
    for (u32 i = 0; i < n; ++i) plan.move(members[i], members[(i + 1) % n], sets[(i + 2 * n - step - 1) % n], kReduce);
    plan.end_round();
  }
}

/// Position i begins with its set, and ends with all.
void ring_all_gather(CollectivePlan& plan, const List& members, const Sets& sets) {
  const u32 n = size_of(members);
  for (u32 step = 0; step + 1 < n; ++step) {
    for (u32 i = 0; i < n; ++i) plan.move(members[i], members[(i + 1) % n], sets[(i + n - step) % n], kCopy);
    plan.end_round();
  }
}

/// Segments one behind the other from member to member.
void chain(CollectivePlan& plan, const List& members, const List& blocks, bool reduce) {
  for (u32 segment = 0; segment < plan.segments(); ++segment) {
    for (u32 i = 0; i + 1 < size_of(members); ++i) {
      plan.move_segment(members[i], members[i + 1], blocks, reduce, segment);
      plan.end_round();
    }
  }
}

// --- halving and doubling -------------------------------------------------------------------------------------------

/// Where the number of members is not a power of two, some hand their part to a neighbour first, and get the result
/// from it in the end (Thakur, Rabenseifner, Gropp 2005, section 4.5).
struct Folded {
  List active;                             ///< a power of two of members
  Sets sets;                               ///< the blocks of each, with those of the member that it acts for
  std::vector<std::pair<u32, u32>> pairs;  ///< positions of who is away, and of who acts for it
};

Folded fold(const List& members, const Sets& sets) {
  const u32 n = size_of(members);
  const u32 extra = n - std::bit_floor(n);
  Folded folded;
  for (u32 i = 0; i < n; ++i) {
    if (i < 2 * extra && i % 2 == 0) {
      folded.pairs.emplace_back(i, i + 1);
      continue;
    }
    folded.active.push_back(members[i]);
    if (sets.empty()) continue;
    folded.sets.push_back(sets[i]);
    if (i < 2 * extra) folded.sets.back().insert(folded.sets.back().end(), sets[i - 1].begin(), sets[i - 1].end());
  }
  return folded;
}

/// The members that are away hand over those blocks.
void hand_over(CollectivePlan& plan, const List& members, const Folded& folded, const List& blocks, bool reduce) {
  for (const auto& [away, acting] : folded.pairs) plan.move(members[away], members[acting], blocks, reduce);
  plan.end_round();
}

void hand_back(CollectivePlan& plan, const List& members, const Folded& folded, const List& blocks) {
  for (const auto& [away, acting] : folded.pairs) plan.move(members[acting], members[away], blocks, kCopy);
  plan.end_round();
}

/// The blocks of the positions that agree with `position` in all bits but those of `free`.
List blocks_around(const Sets& sets, u32 position, u32 free) {
  List blocks;
  const u32 fixed = position & ~free;
  u32 bits = 0;
  do {
    const List& set = sets[fixed | bits];
    blocks.insert(blocks.end(), set.begin(), set.end());
    bits = (bits - free) & free;
  } while (bits != 0);
  return blocks;
}

/// Vector halving: partners at the distances of `bits`, in that order. Every position ends with its set reduced.
void halve(CollectivePlan& plan, const List& active, const Sets& sets, const List& bits) {
  u32 open = size_of(active) - 1;
  for (const u32 bit : bits) {
    open &= ~bit;
    for (u32 i = 0; i < size_of(active); ++i) {
      plan.move(active[i], active[i ^ bit], blocks_around(sets, i ^ bit, open), kReduce);
    }
    plan.end_round();
  }
}

/// Vector doubling: every position begins with its set, and ends with all.
void double_up(CollectivePlan& plan, const List& active, const Sets& sets, const List& bits) {
  u32 known = 0;
  for (const u32 bit : bits) {
    for (u32 i = 0; i < size_of(active); ++i) {
      plan.move(active[i], active[i ^ bit], blocks_around(sets, i, known), kCopy);
    }
    plan.end_round();
    known |= bit;
  }
}

List distances_up(u32 members) {
  List bits;
  for (u32 bit = 1; bit < members; bit *= 2) bits.push_back(bit);
  return bits;
}

List distances_down(u32 members) {
  List bits = distances_up(members);
  std::ranges::reverse(bits);
  return bits;
}

void all_reduce_recursive_doubling(CollectivePlan& plan, const List& members, const List& blocks) {
  const Folded folded = fold(members, {});
  hand_over(plan, members, folded, blocks, kReduce);
  for (const u32 bit : distances_up(size_of(folded.active))) {
    for (u32 i = 0; i < size_of(folded.active); ++i)
      plan.move(folded.active[i], folded.active[i ^ bit], blocks, kReduce);
    plan.end_round();
  }
  hand_back(plan, members, folded, blocks);
}

/// Rabenseifner's: the largest exchanges are with the nearest.
void all_reduce_halving_doubling(CollectivePlan& plan, const List& members) {
  const Folded folded = fold(members, {});
  const u32 active = size_of(folded.active);
  const Sets sets = first_blocks(active);
  hand_over(plan, members, folded, joined(sets), kReduce);
  halve(plan, folded.active, sets, distances_up(active));
  double_up(plan, folded.active, sets, distances_down(active));
  hand_back(plan, members, folded, joined(sets));
}

void reduce_scatter_halving(CollectivePlan& plan, const List& members, const Sets& sets) {
  const Folded folded = fold(members, sets);
  hand_over(plan, members, folded, joined(sets), kReduce);
  halve(plan, folded.active, folded.sets, distances_down(size_of(folded.active)));
  for (const auto& [away, acting] : folded.pairs) plan.move(members[acting], members[away], sets[away], kCopy);
  plan.end_round();
}

void all_gather_doubling(CollectivePlan& plan, const List& members, const Sets& sets) {
  const Folded folded = fold(members, sets);
  for (const auto& [away, acting] : folded.pairs) plan.move(members[away], members[acting], sets[away], kCopy);
  plan.end_round();
  double_up(plan, folded.active, folded.sets, distances_up(size_of(folded.active)));
  for (const auto& [away, acting] : folded.pairs) {
    List others;
    for (u32 i = 0; i < size_of(members); ++i) {
      if (i != away) others.insert(others.end(), sets[i].begin(), sets[i].end());
    }
    plan.move(members[acting], members[away], std::move(others), kCopy);
  }
  plan.end_round();
}

// --- trees ----------------------------------------------------------------------------------------------------------

/// Sends from the member at position 0; whoever has the data serves its largest subtree first.
void binomial_broadcast(CollectivePlan& plan, const List& members, const List& blocks) {
  const u32 n = size_of(members);
  for (u32 segment = 0; segment < plan.segments(); ++segment) {
    for (u32 bit = std::bit_ceil(n) / 2; bit > 0; bit /= 2) {
      for (u32 i = 0; i + bit < n; i += 2 * bit) {
        plan.move_segment(members[i], members[i + bit], blocks, kCopy, segment);
      }
      plan.end_round();
    }
  }
}

void binomial_reduce(CollectivePlan& plan, const List& members, const List& blocks) {
  const u32 n = size_of(members);
  for (u32 segment = 0; segment < plan.segments(); ++segment) {
    for (u32 bit = 1; bit < n; bit *= 2) {
      for (u32 i = 0; i + bit < n; i += 2 * bit) {
        plan.move_segment(members[i + bit], members[i], blocks, kReduce, segment);
      }
      plan.end_round();
    }
  }
}

/// The blocks of the subtree below position `i`, which has `bit` positions.
List subtree_blocks(const Sets& sets, u32 i, u32 bit) {
  List blocks;
  for (u32 k = i; k < std::min(i + bit, static_cast<u32>(sets.size())); ++k) {
    blocks.insert(blocks.end(), sets[k].begin(), sets[k].end());
  }
  return blocks;
}

void binomial_scatter(CollectivePlan& plan, const List& members, const Sets& sets) {
  const u32 n = size_of(members);
  for (u32 bit = std::bit_ceil(n) / 2; bit > 0; bit /= 2) {
    for (u32 i = 0; i + bit < n; i += 2 * bit) {
      plan.move(members[i], members[i + bit], subtree_blocks(sets, i + bit, bit), kCopy);
    }
    plan.end_round();
  }
}

void binomial_gather(CollectivePlan& plan, const List& members, const Sets& sets) {
  const u32 n = size_of(members);
  for (u32 bit = 1; bit < n; bit *= 2) {
    for (u32 i = 0; i + bit < n; i += 2 * bit) {
      plan.move(members[i + bit], members[i], subtree_blocks(sets, i + bit, bit), kCopy);
    }
    plan.end_round();
  }
}

/// An edge of a tree over positions 1 ... p, parents before their children.
struct Edge {
  u32 parent = 0;
  u32 child = 0;
};

/// The in-order tree over first ... first + size - 1, whose leaves are at the odd places: the root is at the largest
/// power of two.
void in_order_tree(u32 first, u32 size, u32 parent, std::vector<Edge>& edges) {
  if (size == 0) return;
  const u32 half = std::bit_floor(size);
  const u32 root = first + half - 1;
  edges.push_back({parent, root});
  in_order_tree(first, half - 1, root, edges);
  in_order_tree(root + 1, size - half, root, edges);
}

/// Two trees below position 0 in which nobody else is an inner node of both, so that the halves of a vector use what
/// every member can send and receive (Sanders, Speck, Traeff, Two-Tree Algorithms for Full Bandwidth Broadcast,
/// Reduction and Scan, 2009): the second is the first one mirrored, or shifted by one.
std::array<std::vector<Edge>, 2> two_trees(u32 members) {
  const u32 p = members - 1;
  std::array<std::vector<Edge>, 2> trees;
  in_order_tree(1, p, 0, trees[0]);
  const auto other = [p](u32 i) { return i == 0 ? 0 : p % 2 == 0 ? p + 1 - i : i % p + 1; };
  for (const Edge& edge : trees[0]) trees[1].push_back({other(edge.parent), other(edge.child)});
  return trees;
}

/// Edges in levels, from the root down: those of one level belong to different children at the same depth.
std::vector<std::vector<Edge>> levels_of(const std::vector<Edge>& edges, u32 members) {
  List depth(members, 0);
  std::vector<std::vector<Edge>> levels;
  for (const Edge& edge : edges) {
    depth[edge.child] = depth[edge.parent] + 1;
    if (levels.size() < depth[edge.child]) levels.emplace_back();
    levels[depth[edge.child] - 1].push_back(edge);
  }
  return levels;
}

/// Block 0 up or down the first tree, block 1 the second; segments follow each other.
void two_tree_phase(CollectivePlan& plan, const List& members, bool up) {
  if (size_of(members) < 2) return;
  const auto trees = two_trees(size_of(members));
  const std::array<u32, 2> lanes{plan.lane(Order::chained), plan.lane(Order::chained)};
  for (u32 segment = 0; segment < plan.segments(); ++segment) {
    for (u32 tree = 0; tree < 2; ++tree) {
      plan.use_lane(lanes[tree]);
      std::vector<std::vector<Edge>> levels = levels_of(trees[tree], size_of(members));
      if (up) std::ranges::reverse(levels);
      for (const std::vector<Edge>& level : levels) {
        for (const Edge& edge : level) {
          const u32 parent = members[edge.parent];
          const u32 child = members[edge.child];
          plan.move_segment(up ? child : parent, up ? parent : child, {tree}, up ? kReduce : kCopy, segment);
        }
        plan.end_round();
      }
    }
  }
}

// --- every pair -----------------------------------------------------------------------------------------------------

void bruck_all_gather(CollectivePlan& plan) {
  const u32 n = plan.members();
  plan.use_lane(plan.lane(Order::in_steps));
  for (u32 distance = 1; distance < n; distance *= 2) {
    const u32 count = std::min(distance, n - distance);
    for (u32 i = 0; i < n; ++i) {
      List blocks;
      for (u32 k = 0; k < count; ++k) blocks.push_back((i + k) % n);
      plan.move(i, (i + n - distance) % n, std::move(blocks), kCopy);
    }
    plan.end_round();
  }
}

void pairwise_reduce_scatter(CollectivePlan& plan) {
  const u32 n = plan.members();
  plan.use_lane(plan.lane(Order::in_steps));
  for (u32 step = 1; step < n; ++step) {
    for (u32 i = 0; i < n; ++i) plan.move(i, (i + step) % n, {(i + step) % n}, kReduce);
    plan.end_round();
  }
}

/// In an all-to-all, place k of member i holds first what it has for member i + k, and last what member i - k has for
/// it.
void direct_all_to_all(CollectivePlan& plan, Order order) {
  const u32 n = plan.members();
  plan.use_lane(plan.lane(order));
  for (u32 step = 1; step < n; ++step) {
    for (u32 i = 0; i < n; ++i) {
      const u32 to = (i + step) % n;
      const std::array<u64, 1> size{plan.block_bytes(to)};
      plan.move_sized(i, to, {step}, size);
    }
    plan.end_round();
  }
}

/// Place k travels the distances of its bits (Bruck, Ho, Kipnis, Upfal, Weathersby 1997).
void bruck_all_to_all(CollectivePlan& plan) {
  const u32 n = plan.members();
  plan.use_lane(plan.lane(Order::in_steps));
  for (u32 bit = 1; bit < n; bit *= 2) {
    for (u32 i = 0; i < n; ++i) {
      List places;
      std::vector<u64> sizes;
      for (u32 k = bit; k < n; ++k) {
        if ((k & bit) == 0) continue;
        places.push_back(k);
        const u32 gone = k & (bit - 1);  // what is at place k now has come that far
        sizes.push_back(plan.block_bytes((i + k - gone) % n));
      }
      plan.move_sized(i, (i + bit) % n, places, sizes);
    }
    plan.end_round();
  }
}

void disseminate(CollectivePlan& plan, const List& members) {
  const u32 n = size_of(members);
  for (u32 distance = 1; distance < n; distance *= 2) {
    for (u32 i = 0; i < n; ++i) plan.move(members[i], members[(i + distance) % n], {0}, kReduce);
    plan.end_round();
  }
}

// --- groups ---------------------------------------------------------------------------------------------------------

/// Members in groups of which the last may be smaller. As many members of each group as the smallest one has are
/// active; the others hand their part to one of them.
struct Groups {
  std::vector<List> members;  ///< per group
  u32 active = 0;             ///< per group
  [[nodiscard]] u32 count() const noexcept { return static_cast<u32>(members.size()); }
  [[nodiscard]] List active_of(u32 group) const { return {members[group].begin(), members[group].begin() + active}; }
  /// The active members at one place, of all groups.
  [[nodiscard]] List row(u32 place) const {
    List row;
    for (const List& group : members) row.push_back(group[place]);
    return row;
  }
  /// Own block and those of the members that the one at `place` acts for.
  [[nodiscard]] List acted_for(u32 group, u32 place) const {
    List blocks;
    for (u32 k = place; k < size_of(members[group]); k += active) blocks.push_back(members[group][k]);
    return blocks;
  }
  /// The blocks of all groups at one place.
  [[nodiscard]] List column(u32 place) const {
    List blocks;
    for (u32 g = 0; g < count(); ++g) {
      const List own = acted_for(g, place);
      blocks.insert(blocks.end(), own.begin(), own.end());
    }
    return blocks;
  }
};

Groups groups_of(u32 members, u32 size) {
  Groups groups;
  groups.active = size;
  for (u32 first = 0; first < members; first += size) {
    List& group = groups.members.emplace_back();
    for (u32 i = first; i < std::min(first + size, members); ++i) group.push_back(i);
    groups.active = std::min(groups.active, size_of(group));
  }
  return groups;
}

/// The members that are not active send to, or receive from, those that act for them. `blocks` is what a pair moves.
template <typename Blocks>
void with_inactive(CollectivePlan& plan, const Groups& groups, bool back, bool reduce, const Blocks& blocks) {
  for (const List& group : groups.members) {
    for (u32 first = groups.active; first < size_of(group); first += groups.active) {
      for (u32 k = first; k < std::min(first + groups.active, size_of(group)); ++k) {
        const u32 acting = group[k % groups.active];
        plan.move(back ? acting : group[k], back ? group[k] : acting, blocks(group[k]), reduce);
      }
      plan.end_round();
    }
  }
}

void all_reduce_groups(CollectivePlan& plan, const Groups& groups) {
  const Sets parts = first_blocks(groups.active);
  const List everything = joined(parts);
  with_inactive(plan, groups, false, kReduce, [&](u32) { return everything; });
  for (u32 g = 0; g < groups.count(); ++g) ring_reduce_scatter(plan, groups.active_of(g), parts);
  for (u32 place = 0; place < groups.active; ++place) {
    all_reduce_recursive_doubling(plan, groups.row(place), parts[place]);
  }
  for (u32 g = 0; g < groups.count(); ++g) ring_all_gather(plan, groups.active_of(g), parts);
  with_inactive(plan, groups, true, kCopy, [&](u32) { return everything; });
}

Sets rows_of(const Groups& groups, u32 place) {
  Sets sets;
  for (u32 g = 0; g < groups.count(); ++g) sets.push_back(groups.acted_for(g, place));
  return sets;
}

Sets columns_of(const Groups& groups) {
  Sets sets;
  for (u32 place = 0; place < groups.active; ++place) sets.push_back(groups.column(place));
  return sets;
}

void reduce_scatter_groups(CollectivePlan& plan, const Groups& groups) {
  const Sets columns = columns_of(groups);
  const List everything = joined(columns);
  with_inactive(plan, groups, false, kReduce, [&](u32) { return everything; });
  for (u32 g = 0; g < groups.count(); ++g) ring_reduce_scatter(plan, groups.active_of(g), columns);
  for (u32 place = 0; place < groups.active; ++place) {
    ring_reduce_scatter(plan, groups.row(place), rows_of(groups, place));
  }
  with_inactive(plan, groups, true, kCopy, [](u32 member) { return List{member}; });
}

void all_gather_groups(CollectivePlan& plan, const Groups& groups) {
  const Sets columns = columns_of(groups);
  const List everything = joined(columns);
  with_inactive(plan, groups, false, kCopy, [](u32 member) { return List{member}; });
  for (u32 place = 0; place < groups.active; ++place) ring_all_gather(plan, groups.row(place), rows_of(groups, place));
  for (u32 g = 0; g < groups.count(); ++g) ring_all_gather(plan, groups.active_of(g), columns);
  with_inactive(plan, groups, true, kCopy, [&](u32 member) {
    List others;
    std::ranges::copy_if(everything, std::back_inserter(others), [member](u32 block) { return block != member; });
    return others;
  });
}

/// The members of each group with its leader first: the root, or the first one.
std::vector<List> led_by(const Groups& groups, u32 root, List& leaders) {
  std::vector<List> led = groups.members;
  for (List& group : led) {
    const auto at = std::ranges::find(group, root);
    if (at != group.end()) std::iter_swap(group.begin(), at);
    leaders.push_back(group.front());
  }
  std::iter_swap(leaders.begin(), std::ranges::find_if(leaders, [&](u32 leader) { return leader == root; }));
  return led;
}

void broadcast_groups(CollectivePlan& plan, const Groups& groups, u32 root) {
  List leaders;
  const std::vector<List> led = led_by(groups, root, leaders);
  binomial_broadcast(plan, leaders, {0});
  for (const List& group : led) binomial_broadcast(plan, group, {0});
}

void reduce_groups(CollectivePlan& plan, const Groups& groups, u32 root) {
  List leaders;
  const std::vector<List> led = led_by(groups, root, leaders);
  for (const List& group : led) binomial_reduce(plan, group, {0});
  binomial_reduce(plan, leaders, {0});
}

void barrier_groups(CollectivePlan& plan, const Groups& groups) {
  for (const List& group : groups.members) binomial_reduce(plan, group, {0});
  disseminate(plan, groups.row(0));
  for (const List& group : groups.members) binomial_broadcast(plan, group, {0});
}

// --- the table ------------------------------------------------------------------------------------------------------

struct Row {
  Collective collective;
  Algorithm algorithm;
  /// Number of blocks of a member's data: 0 for one per member.
  u32 (*blocks)(u32 members, u32 group);
  void (*add)(CollectivePlan&, const CollectiveOperation&);
};

u32 one(u32, u32) { return 1; }
u32 two(u32, u32) { return 2; }
u32 per_member(u32 members, u32) { return members; }
u32 per_active(u32 members, u32) { return std::bit_floor(members); }
u32 per_place(u32 members, u32 group) {
  const u32 rest = members % group;
  return members < group ? members : rest == 0 ? group : rest;
}

constexpr std::array kRows{
    Row{Collective::all_reduce, Algorithm::ring, per_member,
        [](CollectivePlan& plan, const CollectiveOperation&) {
          const List members = all_members(plan);
          ring_reduce_scatter(plan, members, own_blocks(members));
          ring_all_gather(plan, members, own_blocks(members));
        }},
    Row{Collective::all_reduce, Algorithm::recursive_doubling, one,
        [](CollectivePlan& plan, const CollectiveOperation&) {
          all_reduce_recursive_doubling(plan, all_members(plan), {0});
        }},
    Row{Collective::all_reduce, Algorithm::halving_doubling, per_active,
        [](CollectivePlan& plan, const CollectiveOperation&) { all_reduce_halving_doubling(plan, all_members(plan)); }},
    Row{Collective::all_reduce, Algorithm::binomial, one,
        [](CollectivePlan& plan, const CollectiveOperation&) {
          binomial_reduce(plan, all_members(plan), {0});
          plan.use_lane(plan.lane(Order::chained));
          binomial_broadcast(plan, all_members(plan), {0});
        }},
    Row{Collective::all_reduce, Algorithm::double_binary_tree, two,
        [](CollectivePlan& plan, const CollectiveOperation&) {
          two_tree_phase(plan, all_members(plan), true);
          two_tree_phase(plan, all_members(plan), false);
        }},
    Row{Collective::all_reduce, Algorithm::hierarchical, per_place,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          all_reduce_groups(plan, groups_of(plan.members(), operation.group));
        }},

    Row{Collective::all_gather, Algorithm::ring, per_member,
        [](CollectivePlan& plan, const CollectiveOperation&) {
          ring_all_gather(plan, all_members(plan), own_blocks(all_members(plan)));
        }},
    Row{Collective::all_gather, Algorithm::recursive_doubling, per_member,
        [](CollectivePlan& plan, const CollectiveOperation&) {
          all_gather_doubling(plan, all_members(plan), own_blocks(all_members(plan)));
        }},
    Row{Collective::all_gather, Algorithm::bruck, per_member,
        [](CollectivePlan& plan, const CollectiveOperation&) { bruck_all_gather(plan); }},
    Row{Collective::all_gather, Algorithm::hierarchical, per_member,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          all_gather_groups(plan, groups_of(plan.members(), operation.group));
        }},

    Row{Collective::reduce_scatter, Algorithm::ring, per_member,
        [](CollectivePlan& plan, const CollectiveOperation&) {
          ring_reduce_scatter(plan, all_members(plan), own_blocks(all_members(plan)));
        }},
    Row{Collective::reduce_scatter, Algorithm::halving_doubling, per_member,
        [](CollectivePlan& plan, const CollectiveOperation&) {
          reduce_scatter_halving(plan, all_members(plan), own_blocks(all_members(plan)));
        }},
    Row{Collective::reduce_scatter, Algorithm::pairwise, per_member,
        [](CollectivePlan& plan, const CollectiveOperation&) { pairwise_reduce_scatter(plan); }},
    Row{Collective::reduce_scatter, Algorithm::hierarchical, per_member,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          reduce_scatter_groups(plan, groups_of(plan.members(), operation.group));
        }},

    Row{Collective::broadcast, Algorithm::ring, one,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          chain(plan, members_from(plan, operation.root), {0}, kCopy);
        }},
    Row{Collective::broadcast, Algorithm::halving_doubling, per_member,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          const List members = members_from(plan, operation.root);
          binomial_scatter(plan, members, own_blocks(members));
          all_gather_doubling(plan, members, own_blocks(members));
        }},
    Row{Collective::broadcast, Algorithm::binomial, one,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          binomial_broadcast(plan, members_from(plan, operation.root), {0});
        }},
    Row{Collective::broadcast, Algorithm::double_binary_tree, two,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          two_tree_phase(plan, members_from(plan, operation.root), false);
        }},
    Row{Collective::broadcast, Algorithm::hierarchical, one,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          broadcast_groups(plan, groups_of(plan.members(), operation.group), operation.root);
        }},

    Row{Collective::reduce, Algorithm::ring, one,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          List members = members_from(plan, operation.root);
          std::ranges::reverse(members);
          chain(plan, members, {0}, kReduce);
        }},
    Row{Collective::reduce, Algorithm::halving_doubling, per_member,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          const List members = members_from(plan, operation.root);
          reduce_scatter_halving(plan, members, own_blocks(members));
          binomial_gather(plan, members, own_blocks(members));
        }},
    Row{Collective::reduce, Algorithm::binomial, one,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          binomial_reduce(plan, members_from(plan, operation.root), {0});
        }},
    Row{Collective::reduce, Algorithm::double_binary_tree, two,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          two_tree_phase(plan, members_from(plan, operation.root), true);
        }},
    Row{Collective::reduce, Algorithm::hierarchical, one,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          reduce_groups(plan, groups_of(plan.members(), operation.group), operation.root);
        }},

    Row{Collective::gather, Algorithm::binomial, per_member,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          const List members = members_from(plan, operation.root);
          binomial_gather(plan, members, own_blocks(members));
        }},
    Row{Collective::gather, Algorithm::linear, per_member,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          plan.use_lane(plan.lane(Order::free));
          for (u32 i = 0; i < plan.members(); ++i) {
            if (i != operation.root) plan.move(i, operation.root, {i}, kCopy);
          }
          plan.end_round();
        }},
    Row{Collective::scatter, Algorithm::binomial, per_member,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          const List members = members_from(plan, operation.root);
          binomial_scatter(plan, members, own_blocks(members));
        }},
    Row{Collective::scatter, Algorithm::linear, per_member,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          plan.use_lane(plan.lane(Order::free));
          for (u32 i = 0; i < plan.members(); ++i) {
            if (i != operation.root) plan.move(operation.root, i, {i}, kCopy);
          }
          plan.end_round();
        }},

    Row{Collective::all_to_all, Algorithm::pairwise, per_member,
        [](CollectivePlan& plan, const CollectiveOperation&) { direct_all_to_all(plan, Order::in_steps); }},
    Row{Collective::all_to_all, Algorithm::linear, per_member,
        [](CollectivePlan& plan, const CollectiveOperation&) { direct_all_to_all(plan, Order::free); }},
    Row{Collective::all_to_all, Algorithm::bruck, per_member,
        [](CollectivePlan& plan, const CollectiveOperation&) { bruck_all_to_all(plan); }},

    Row{Collective::barrier, Algorithm::dissemination, one,
        [](CollectivePlan& plan, const CollectiveOperation&) { disseminate(plan, all_members(plan)); }},
    Row{Collective::barrier, Algorithm::recursive_doubling, one,
        [](CollectivePlan& plan, const CollectiveOperation&) {
          all_reduce_recursive_doubling(plan, all_members(plan), {0});
        }},
    Row{Collective::barrier, Algorithm::binomial, one,
        [](CollectivePlan& plan, const CollectiveOperation&) {
          binomial_reduce(plan, all_members(plan), {0});
          binomial_broadcast(plan, all_members(plan), {0});
        }},
    Row{Collective::barrier, Algorithm::hierarchical, one,
        [](CollectivePlan& plan, const CollectiveOperation& operation) {
          barrier_groups(plan, groups_of(plan.members(), operation.group));
        }},
};

const Row* row_of(Collective collective, Algorithm algorithm) noexcept {
  for (const Row& row : kRows) {
    if (row.collective == collective && row.algorithm == algorithm) return &row;
  }
  return nullptr;
}

constexpr std::array<std::string_view, 9> kCollectives{
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "gather", "scatter", "all_to_all", "barrier"};
constexpr std::array<std::string_view, 12> kAlgorithms{
    "automatic", "ring",   "recursive_doubling", "halving_doubling", "bruck",     "binomial", "double_binary_tree",
    "pairwise",  "linear", "dissemination",      "hierarchical",     "in_network"};

/// Switches give all members the sum of what all have. Of a reduce only the root uses it; in a broadcast all others
/// bring zeros, so that the sum is what the root has (Almási and others, Optimization of MPI Collective Communication
/// on BlueGene/L Systems, ICS 2005).
constexpr std::array kReduced{Collective::all_reduce, Collective::broadcast, Collective::reduce, Collective::barrier};

Schedule reduced_in_network(const CollectiveOperation& operation, u32 ranks) {
  ScheduleBuilder schedule(ranks);
  for (u32 r = 0; r < ranks; ++r)
    append_contributions(schedule, r, operation.bytes, operation.segments, 0, {kNone, kNone});
  return schedule.build();
}

template <std::size_t Count>
std::optional<std::size_t> index_of(const std::array<std::string_view, Count>& names, std::string_view name) noexcept {
  const auto* at = std::ranges::find(names, name);
  if (at == names.end()) return std::nullopt;
  return static_cast<std::size_t>(at - names.begin());
}

template <std::size_t Count>
std::vector<std::string> texts_of(const std::array<std::string_view, Count>& names) {
  return {names.begin(), names.end()};
}

}  // namespace
}  // namespace collectives

std::string_view name_of(Collective collective) noexcept {
  return collectives::kCollectives[static_cast<std::size_t>(collective)];
}

std::string_view name_of(Algorithm algorithm) noexcept {
  return collectives::kAlgorithms[static_cast<std::size_t>(algorithm)];
}

std::optional<Collective> collective_named(std::string_view name) noexcept {
  const auto index = collectives::index_of(collectives::kCollectives, name);
  if (!index) return std::nullopt;
  return static_cast<Collective>(*index);
}

std::optional<Algorithm> algorithm_named(std::string_view name) noexcept {
  const auto index = collectives::index_of(collectives::kAlgorithms, name);
  if (!index) return std::nullopt;
  return static_cast<Algorithm>(*index);
}

std::vector<std::string> collective_names() { return collectives::texts_of(collectives::kCollectives); }

std::vector<std::string> algorithm_names(Collective collective) {
  std::vector<std::string> names{std::string(name_of(Algorithm::automatic))};
  for (const collectives::Row& row : collectives::kRows) {
    if (row.collective == collective) names.emplace_back(name_of(row.algorithm));
  }
  return names;
}

bool has_root(Collective collective) noexcept {
  return collective == Collective::broadcast || collective == Collective::reduce || collective == Collective::gather ||
         collective == Collective::scatter;
}

bool has_in_network(Collective collective) noexcept {
  return std::ranges::find(collectives::kReduced, collective) != collectives::kReduced.end();
}

u32 append_contributions(ScheduleBuilder& schedule, u32 rank, u64 bytes, u32 segments, u32 tag,
                         std::array<u32, 2> after) {
  u32 last = kNone;
  for (u32 s = 0; s < segments; ++s) {
    const u64 part = CollectivePlan::part(bytes, segments, s);
    const u32 receive = schedule.receive(rank, part, rank, tag + s);
    const u32 send = schedule.send(rank, part, rank, tag + s);
    for (const u32 before : after) {
      if (before == kNone) continue;
      schedule.after_end(rank, receive, before);
      schedule.after_end(rank, send, before);
    }
    last = receive;
    after = {last, kNone};
  }
  return last;
}

bool has_algorithm(Collective collective, Algorithm algorithm) noexcept {
  return algorithm == Algorithm::automatic || collectives::row_of(collective, algorithm) != nullptr;
}

Algorithm choose_algorithm(Collective collective, u64 bytes, u32 members) noexcept {
  constexpr u64 kKiB = 1024;
  switch (collective) {
    case Collective::all_reduce:
      return bytes <= 2 * kKiB ? Algorithm::recursive_doubling : Algorithm::halving_doubling;
    case Collective::all_gather:
      if (bytes < 80 * kKiB && !std::has_single_bit(members)) return Algorithm::bruck;
      return bytes < 512 * kKiB && std::has_single_bit(members) ? Algorithm::recursive_doubling : Algorithm::ring;
    case Collective::reduce_scatter:
      return bytes < 512 * kKiB ? Algorithm::halving_doubling : Algorithm::pairwise;
    case Collective::broadcast:
      return bytes < 12 * kKiB || members < 8 ? Algorithm::binomial : Algorithm::halving_doubling;
    case Collective::reduce:
      return bytes <= 2 * kKiB ? Algorithm::binomial : Algorithm::halving_doubling;
    case Collective::gather:
    case Collective::scatter:
      return Algorithm::binomial;
    case Collective::all_to_all:
      return members > 0 && bytes / members <= 256 && members >= 8 ? Algorithm::bruck : Algorithm::pairwise;
    case Collective::barrier:
      break;
  }
  return Algorithm::dissemination;
}

Algorithm algorithm_of(const CollectiveOperation& operation, u32 members) noexcept {
  return operation.algorithm == Algorithm::automatic ? choose_algorithm(operation.collective, operation.bytes, members)
                                                     : operation.algorithm;
}

u64 tracked_pieces(const CollectiveOperation& operation, u32 members) noexcept {
  if (operation.algorithm == Algorithm::in_network) return u64{members} * operation.segments;
  const collectives::Row* row = collectives::row_of(operation.collective, algorithm_of(operation, members));
  return members < 2 || row == nullptr ? 0 : u64{members} * row->blocks(members, operation.group) * operation.segments;
}

CollectiveEnd append_collective(ScheduleBuilder& schedule, const CollectiveOperation& operation,
                                const CollectivePlace& place) {
  const u32 members = static_cast<u32>(place.members.size());
  const collectives::Row* row = collectives::row_of(operation.collective, algorithm_of(operation, members));
  CollectivePlan plan(schedule, place, operation.bytes, members == 0 ? 1 : row->blocks(members, operation.group),
                      operation.segments);
  if (members > 1) row->add(plan, operation);
  return plan.finish();
}

const config::ComponentInfo& collective_info() {
  using config::Parameter;
  static const config::ComponentInfo info{
      "collective",
      "One collective operation among all ranks, by the messages of an algorithm",
      "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International "
      "Journal "
      "of High Performance Computing Applications 19(1), 2005; Sanders, Speck, Träff, Two-Tree Algorithms for Full "
      "Bandwidth Broadcast, Reduction and Scan, Parallel Computing 35, 2009",
      {Parameter::choice("collective", collective_names(), "all_reduce").required().doc("What the ranks do together"),
       Parameter::choice("algorithm", collectives::texts_of(collectives::kAlgorithms), "automatic")
           .doc("How; automatic: by size and number of ranks, as MPICH chooses; in_network: the switches reduce what "
                "goes up and replicate what comes down, a segment after the other (all_reduce, broadcast, reduce and "
                "barrier)"),
       Parameter::integer("bytes", 0)
           .unit("bytes")
           .range(0, 1LL << 48)
           .doc("The whole vector: what a rank has of an all-reduce, a reduce-scatter or a reduce, or for all ranks of "
                "an "
                "all-to-all, and what it gets of an all-gather or a broadcast"),
       Parameter::integer("ranks", 2).required().range(1, 1 << 20).doc("Number of ranks"),
       Parameter::integer("segments", 1)
           .range(1, 1 << 16)
           .doc("Parts that each message is cut into, which follow each other through rings and trees, or one of which "
                "is reduced in the network at a time"),
       Parameter::integer("root", 0)
           .range(0, (1 << 20) - 1)
           .doc("Rank that a broadcast or a scatter starts from, and that a reduce or a gather ends at"),
       Parameter::integer("group", 8)
           .range(1, 1 << 20)
           .doc("Ranks per group of hierarchical, in the order of their numbers; the last group has the rest")}};
  return info;
}

Schedule make_collective(const config::Values& values) {
  CollectiveOperation operation;
  operation.collective = *collective_named(values.text("collective"));
  operation.algorithm = *algorithm_named(values.text("algorithm"));
  operation.bytes = static_cast<u64>(values.integer("bytes"));
  operation.segments = values.natural("segments");
  operation.root = values.natural("root");
  operation.group = values.natural("group");
  const u32 ranks = values.natural("ranks");
  const std::string name(name_of(operation.collective));
  const bool in_network = operation.algorithm == Algorithm::in_network;
  const bool reduced = has_in_network(operation.collective);
  if (in_network ? !reduced : !has_algorithm(operation.collective, operation.algorithm)) {
    std::string names;
    for (const std::string& other : algorithm_names(operation.collective)) names += (names.empty() ? "" : ", ") + other;
    if (reduced) names += ", " + std::string(name_of(Algorithm::in_network));
    values.fail("algorithm", name + " has no algorithm \"" + values.text("algorithm") + "\"", "choose one of " + names);
  }
  if (operation.bytes == 0 && operation.collective != Collective::barrier) {
    values.fail("bytes", name + " of no bytes moves nothing",
                "give the length of the vector, such as bytes = \"1 MiB\"");
  }
  if (has_root(operation.collective) ? operation.root >= ranks : values.given("root")) {
    values.fail("root",
                has_root(operation.collective)
                    ? "rank " + std::to_string(operation.root) + " is none of the " + std::to_string(ranks) + " ranks"
                    : name + " has no root",
                has_root(operation.collective) ? "use a rank below " + std::to_string(ranks) : "leave root out");
  }
  if (operation.algorithm != Algorithm::hierarchical && values.given("group")) {
    values.fail("group", "only the algorithm hierarchical has groups", "leave group out");
  }
  if (tracked_pieces(operation, ranks) > kMostPieces) {
    values.fail("ranks",
                name + " by this algorithm cuts what " + std::to_string(ranks) + " ranks hold into " +
                    std::to_string(tracked_pieces(operation, ranks)) + " pieces, more than " +
                    std::to_string(kMostPieces),
                "use fewer ranks or segments, or an algorithm with fewer messages");
  }
  if (in_network) {
    if (ranks == 1) return ScheduleBuilder(1).build();  // as by the other algorithms
    return collectives::reduced_in_network(operation, ranks);
  }
  std::vector<u32> members(ranks);
  std::iota(members.begin(), members.end(), 0U);
  ScheduleBuilder schedule(ranks);
  append_collective(schedule, operation, {members, 0, {}, nullptr});
  return schedule.build();
}

}  // namespace banyan::workload
