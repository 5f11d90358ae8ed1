#include "banyan/engine/tree_tracker.hpp"

#include <algorithm>
#include <iterator>

namespace banyan::engine {
namespace {

using stats::CongestionEventKind;
using stats::CongestionPlace;
using stats::CongestionTree;

u32 common(const std::vector<u32>& a, const std::vector<u32>& b) {
  u32 count = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      ++count;
      ++i;
      ++j;
    } else {
      ++(a[i] < b[j] ? i : j);
    }
  }
  return count;
}

constexpr u32 kGone = kNone - 1;  ///< a living tree that is part of another one from now on

/// Whether it is at least half.
bool most_of(u32 part, std::size_t whole) { return part != 0 && 2 * std::size_t{part} >= whole; }

/// Whether a buffer on the channel is among the places.
bool lies_on(const std::vector<u32>& members, u32 channel, const std::vector<CongestionPlace>& places) {
  return std::any_of(members.begin(), members.end(), [&](u32 m) {
    return places[m].kind <= 1 && places[m].index == channel;  // input or output buffer
  });
}

/// Both have a queue of the same memory, or the same queue.
bool share_memory(const std::vector<u32>& a, const std::vector<u32>& b, const std::vector<CongestionPlace>& places) {
  const auto memories = [&](const std::vector<u32>& members) {
    std::vector<std::pair<u8, u32>> list;
    for (const u32 m : members) list.emplace_back(places[m].kind, places[m].index);
    std::sort(list.begin(), list.end());
    return list;
  };
  const auto of_a = memories(a);
  const auto of_b = memories(b);
  std::vector<std::pair<u8, u32>> both;
  std::set_intersection(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), std::back_inserter(both));
  return !both.empty();
}

}  // namespace

void TreeTracker::tell(u64 at, CongestionEventKind kind, const CongestionTree& tree, u32 other, u32 old_root) {
  events_.push_back({at, kind, tree.id, other, tree.root, old_root, static_cast<u32>(tree.members.size()), tree.depth});
}

/// A tree with the root of a living one is that one.
void TreeTracker::keep_roots(std::vector<CongestionTree>& trees) {
  for (std::size_t l = 0; l < living_.size(); ++l) {
    for (u32 n = 0; n < trees.size(); ++n) {
      if (trees[n].root != living_[l].root || numbered_[n] != 0) continue;
      trees[n].id = living_[l].id;
      numbered_[n] = 1;
      successor_[l] = n;
    }
  }
}

/// A tree with a new root that took over most of a living one's members is that one, with its root moved: downstream
/// when a buffer on the old root's channel is a member now, upstream when one on the new root's was a member before.
void TreeTracker::move_roots(u64 at, std::vector<CongestionTree>& trees, const std::vector<CongestionPlace>& places) {
  struct Pair {
    u32 shared;
    u32 l;
    u32 n;
    bool down;
  };
  std::vector<Pair> pairs;
  for (u32 l = 0; l < living_.size(); ++l) {
    if (successor_[l] != kNone) continue;
    for (u32 n = 0; n < trees.size(); ++n) {
      if (numbered_[n] != 0) continue;
      const bool down = lies_on(members_[n], living_[l].root, places);
      if (!down && !lies_on(living_[l].members, trees[n].root, places)) continue;
      const u32 shared = common(living_[l].members, members_[n]);
      if (most_of(shared, std::min(living_[l].members.size(), members_[n].size())))
        pairs.push_back({shared, l, n, down});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.shared > b.shared; });
  for (const Pair& p : pairs) {
    if (successor_[p.l] != kNone || numbered_[p.n] != 0) continue;
    CongestionTree& tree = trees[p.n];
    tree.id = living_[p.l].id;
    numbered_[p.n] = 1;
    successor_[p.l] = p.n;
    tell(at, p.down ? CongestionEventKind::moved_downstream : CongestionEventKind::moved_upstream, tree, tree.id,
         living_[p.l].root);
  }
}

/// What is left is new: a part of a living tree that left it, or born.
void TreeTracker::bear(u64 at, std::vector<CongestionTree>& trees) {
  for (u32 n = 0; n < trees.size(); ++n) {
    if (numbered_[n] != 0) continue;
    trees[n].id = next_id_++;
    u32 parent = kNone;
    u32 most = 0;
    for (u32 l = 0; l < living_.size(); ++l) {
      if (successor_[l] == kNone) continue;
      std::vector<u32> left;
      const std::vector<u32>& now = members_[successor_[l]];
      std::set_difference(living_[l].members.begin(), living_[l].members.end(), now.begin(), now.end(),
                          std::back_inserter(left));
      const u32 shared = common(left, members_[n]);
      if (shared <= most || !most_of(shared, members_[n].size())) continue;
      most = shared;
      parent = l;
    }
    if (parent == kNone) {
      tell(at, CongestionEventKind::born, trees[n], trees[n].id, trees[n].root);
    } else {
      tell(at, CongestionEventKind::split, trees[n], living_[parent].id, living_[parent].root);
    }
    Living fresh;
    fresh.id = trees[n].id;
    fresh.most_members = static_cast<u32>(members_[n].size());
    fresh.most_depth = trees[n].depth;
    if (parent != kNone) fresh.parent = living_[parent].id;
    living_.push_back(std::move(fresh));
    successor_.push_back(n);
  }
}

/// The root of a tree that another has taken over. Where the other is the younger one and takes over its first tree,
/// the root has moved there: a tree may begin at the new root before it ends at the old one. Else they have merged.
CongestionEventKind TreeTracker::end_of(const Living& old, const CongestionTree& heir, const std::vector<u32>& members,
                                        const std::vector<CongestionPlace>& places) {
  const auto its = std::find_if(living_.begin(), living_.end(), [&](const Living& l) { return l.id == heir.id; });
  if (heir.id < old.id || its == living_.end() || its->inherited) return CongestionEventKind::merged;
  const bool down = lies_on(members, old.root, places);
  if (!down && !lies_on(old.members, heir.root, places)) return CongestionEventKind::merged;
  its->inherited = true;
  return down ? CongestionEventKind::moved_downstream : CongestionEventKind::moved_upstream;
}

/// A living tree without a successor has gone over into the tree that has most of its members, or is missing.
void TreeTracker::bury(u64 at, const std::vector<CongestionTree>& trees, const std::vector<CongestionPlace>& places) {
  std::vector<Living> next;
  std::vector<std::pair<u32, u32>> heirs;  // of living ones: the tree of the sample
  for (u32 l = 0; l < living_.size(); ++l) {
    if (successor_[l] != kNone) continue;
    for (u32 i = 0; i < trees.size(); ++i) {
      if (!most_of(common(living_[l].members, members_[i]), living_[l].members.size())) continue;
      heirs.emplace_back(l, i);
      break;
    }
  }
  for (const auto& [l, i] : heirs) {
    CongestionTree gone;
    gone.id = living_[l].id;
    gone.root = living_[l].root;
    const CongestionEventKind kind = end_of(living_[l], trees[i], members_[i], places);
    if (kind == CongestionEventKind::merged) {
      tell(at, kind, gone, trees[i].id, living_[l].root);
    } else {
      tell(at, kind, trees[i], living_[l].id, living_[l].root);
    }
    successor_[l] = kGone;
  }
  for (u32 l = 0; l < living_.size(); ++l) {
    if (successor_[l] == kGone) continue;
    Living& old = living_[l];
    const u32 n = successor_[l];
    if (n != kNone) {
      old.root = trees[n].root;
      old.members = members_[n];
      old.missing = 0;
      next.push_back(old);
      continue;
    }
    if (old.missing == 0) old.missing_since = at;
    if (++old.missing >= kPatience) {
      end(old, trees);
    } else {
      next.push_back(old);
    }
  }
  for (Living& l : next) {
    const auto now =
        std::find_if(living_.begin(), living_.end(), [&](const Living& other) { return other.id == l.id; });
    l.inherited = now->inherited;
  }
  living_ = std::move(next);
}

/// A tree has died. Where most of it had left it with a root upstream, that is where its root has moved.
void TreeTracker::end(const Living& old, const std::vector<CongestionTree>& trees) {
  for (Living& other : living_) {
    if (other.parent != old.id || other.inherited) continue;
    const auto its =
        std::find_if(trees.begin(), trees.end(), [&](const CongestionTree& t) { return t.id == other.id; });
    if (its == trees.end()) continue;
    other.inherited = true;
    tell(old.missing_since, CongestionEventKind::moved_upstream, *its, old.id, old.root);
    return;
  }
  CongestionTree gone;
  gone.id = old.id;
  gone.root = old.root;
  tell(old.missing_since, CongestionEventKind::died, gone, old.id, old.root);
}

/// Told when a tree is twice as large as when it was told last, or deeper.
void TreeTracker::grow(u64 at, const std::vector<CongestionTree>& trees) {
  for (const CongestionTree& tree : trees) {
    const auto living = std::find_if(living_.begin(), living_.end(), [&](const Living& l) { return l.id == tree.id; });
    const u32 members = static_cast<u32>(tree.members.size());
    if (members < 2 * living->most_members && tree.depth <= living->most_depth) continue;
    living->most_members = std::max(members, living->most_members);
    living->most_depth = std::max(tree.depth, living->most_depth);
    tell(at, CongestionEventKind::grown, tree, tree.id, tree.root);
  }
}

void TreeTracker::compare_pairs(u64 at, const std::vector<CongestionTree>& trees,
                                const std::vector<CongestionPlace>& places) {
  std::set<std::pair<u32, u32>> now;
  for (u32 a = 0; a < trees.size(); ++a) {
    for (u32 b = a + 1; b < trees.size(); ++b) {
      if (!share_memory(members_[a], members_[b], places)) continue;
      const std::pair<u32, u32> pair(std::min(trees[a].id, trees[b].id), std::max(trees[a].id, trees[b].id));
      now.insert(pair);
      if (!overlapping_.contains(pair)) {
        const CongestionTree& first = trees[a].id == pair.first ? trees[a] : trees[b];
        tell(at, CongestionEventKind::overlap, first, pair.second, first.root);
      }
    }
  }
  overlapping_ = std::move(now);
}

void TreeTracker::follow(u64 at, std::vector<CongestionTree>& trees, const std::vector<CongestionPlace>& places) {
  members_.assign(trees.size(), {});
  for (std::size_t n = 0; n < trees.size(); ++n) {
    for (const stats::CongestionMember& m : trees[n].members) members_[n].push_back(m.place);
    std::sort(members_[n].begin(), members_[n].end());
  }
  numbered_.assign(trees.size(), 0);
  successor_.assign(living_.size(), kNone);
  keep_roots(trees);
  move_roots(at, trees, places);
  bear(at, trees);
  bury(at, trees, places);
  grow(at, trees);
  compare_pairs(at, trees, places);
}

}  // namespace banyan::engine
