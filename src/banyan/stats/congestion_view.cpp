#include "banyan/stats/congestion_view.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace banyan::stats {
namespace {

struct Life {
  std::size_t first = 0;  ///< sample
  std::size_t last = 0;
  std::set<u32> roots;
};

std::map<u32, Life> lives_of(const CongestionRecord& record) {
  std::map<u32, Life> lives;
  for (std::size_t i = 0; i < record.samples.size(); ++i) {
    for (const CongestionTree& tree : record.samples[i].trees) {
      const auto [life, fresh] = lives.try_emplace(tree.id);
      if (fresh) life->second.first = i;
      life->second.last = i;
      life->second.roots.insert(tree.root);
    }
  }
  return lives;
}

bool is_root(const CongestionSample& sample, u32 channel) {
  return std::any_of(sample.trees.begin(), sample.trees.end(),
                     [&](const CongestionTree& tree) { return tree.root == channel; });
}

}  // namespace

CongestionView compare_views(const CongestionRecord& record) {
  CongestionView view;
  const auto& samples = record.samples;
  std::set<u32> roots;
  std::set<u32> true_roots;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    view.most_queues = std::max(view.most_queues, static_cast<u32>(samples[i].queues.size()));
    for (const CongestionQueue& queue : samples[i].queues) {
      ++view.queue_samples;
      if (!is_root(samples[i], queue.root)) ++view.useless_samples;
      roots.insert(queue.root);
      for (std::size_t k = i == 0 ? 0 : i - 1; k < std::min(samples.size(), i + 2); ++k) {
        if (is_root(samples[k], queue.root)) true_roots.insert(queue.root);
      }
    }
  }
  view.roots = static_cast<u32>(roots.size());
  view.false_roots = static_cast<u32>(roots.size() - true_roots.size());
  for (const auto& named : lives_of(record)) {
    const Life& life = named.second;
    if (life.last == life.first) continue;
    ++view.trees;
    for (std::size_t i = life.first; i < std::min(samples.size(), life.last + 2); ++i) {
      const auto& queues = samples[i].queues;
      const std::set<u32>& its = life.roots;
      const auto serves = [&its](const CongestionQueue& queue) { return its.contains(queue.root); };
      if (std::none_of(queues.begin(), queues.end(), serves)) continue;
      ++view.detected;
      view.delay += samples[i].at - samples[life.first].at;
      break;
    }
  }
  view.missed = view.trees - view.detected;
  return view;
}

}  // namespace banyan::stats
