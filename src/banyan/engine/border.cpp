#include "banyan/engine/border.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "banyan/engine/wave.hpp"

namespace banyan::engine {
namespace {

/// A pair of ticks of a block.
struct Step {
  u32 block = 0;
  Tick pair = 0;
};

/// Whether nobody waits for long where every step of a block takes as long.
class Rehearsal {
 public:
  Rehearsal(const std::vector<BorderPlan>& plans, const std::vector<std::vector<Step>>& steps)
      : plans_(plans), steps_(steps), next_(plans.size(), 0), time_(plans.size(), 0), made_(plans.size()) {
    for (std::size_t i = 0; i < plans.size(); ++i) made_[i].assign(plans[i].blocks.size(), kNever);
  }
  [[nodiscard]] bool succeeds() {
    bool any = true;
    while (any) {
      any = false;
      for (std::size_t i = 0; i < plans_.size(); ++i) {
        while (next_[i] < steps_[i].size() && step(i)) any = true;
      }
    }
    std::size_t most = 0;
    Tick last = 0;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (next_[i] < steps_[i].size()) return false;
      most = std::max(most, steps_[i].size());
      last = std::max(last, time_[i]);
    }
    return last * 10 <= Tick{most} * 11;
  }

 private:
  /// False: it has to wait for what is not done yet.
  bool step(std::size_t i) {
    const Step& now = steps_[i][next_[i]];
    const std::vector<BorderPlan::Block>& border = plans_[i].blocks;
    const auto at = std::lower_bound(border.begin(), border.end(), now.block,
                                     [](const BorderPlan::Block& b, u32 block) { return b.block < block; });
    const bool crosses = at != border.end() && at->block == now.block;
    if (crosses && now.pair != 0) {
      for (const auto& [shard, place] : at->near) {
        if (made_[shard][place] == kNever) return false;
        time_[i] = std::max(time_[i], made_[shard][place]);
      }
    }
    ++time_[i];
    ++next_[i];
    if (crosses && now.pair == 0) made_[i][static_cast<std::size_t>(at - border.begin())] = time_[i];
    return true;
  }

  const std::vector<BorderPlan>& plans_;
  const std::vector<std::vector<Step>>& steps_;
  std::vector<std::size_t> next_;        ///< [shard]: step
  std::vector<Tick> time_;               ///< [shard]: at which it begins that
  std::vector<std::vector<Tick>> made_;  ///< [shard][place in its plan]: when the first pair was made
};

}  // namespace

std::vector<BorderPlan> plan_borders(const core::Graph& graph, const std::vector<u32>& shard, u32 shards,
                                     bool backwards) {
  std::vector<u32> count(shards, 0);
  std::vector<u32> block;  // [switch]: inside of its shard
  for (const u32 of : shard) block.push_back(count[of]++ / 64);
  std::vector<u32> reach(shards, 0);
  std::vector<std::map<u32, std::pair<u32, std::set<std::pair<u32, u32>>>>> found(shards);  // (shard, block) there
  for (const core::Channel& c : graph.channels()) {
    if (c.failed || c.from.terminal || c.to.terminal) continue;
    const u32 a = c.from.node;
    const u32 b = c.to.node;
    if (shard[a] == shard[b]) {
      reach[shard[a]] = std::max(reach[shard[a]], std::max(block[a], block[b]) - std::min(block[a], block[b]));
      continue;
    }
    // Flits go one way, credits the other.
    for (const auto& [own, far] : {std::pair{a, b}, std::pair{b, a}}) {
      auto& [channels, near] = found[shard[own]][block[own]];
      ++channels;
      near.emplace(shard[far], block[far]);
    }
  }
  if (*std::max_element(reach.begin(), reach.end()) > kMostReach) return {};
  std::vector<BorderPlan> plans(shards);
  std::vector<std::vector<Step>> steps(shards);
  for (u32 i = 0; i < shards; ++i) {
    plans[i].backwards = backwards != (i % 2 == 1);
    for (const auto& [own, there] : found[i]) {
      BorderPlan::Block& added = plans[i].blocks.emplace_back(BorderPlan::Block{own, there.first, {}});
      for (const auto& [far, of_far] : there.second) {
        const auto place = std::distance(found[far].begin(), found[far].find(of_far));
        added.near.emplace_back(far, static_cast<u32>(place));
      }
    }
    for_each_step((count[i] + 63) / 64, reach[i], kWavePairs, plans[i].backwards, [&](u32 b, Tick pair) {
      steps[i].push_back({b, pair});
    });
  }
  if (!Rehearsal(plans, steps).succeeds()) return {};
  return plans;
}

}  // namespace banyan::engine
