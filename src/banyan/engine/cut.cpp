#include "banyan/engine/cut.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#ifdef BANYAN_METIS
#include <metis.h>
#endif

namespace banyan::engine {
namespace {

std::vector<u32> in_order(u32 switches, u32 copies, u32 shards) {
  const u32 places = switches / copies;
  std::vector<u32> of(switches);
  for (u32 s = 0; s < switches; ++s) of[s] = static_cast<u32>(static_cast<u64>(s / copies) * shards / places);
  return of;
}

/// Every level of a tree likewise: the switches with the same terminals below follow each other.
std::vector<u32> level_by_level(const core::Tree& tree, u32 shards) {
  std::vector<u32> of;
  for (const core::TreeLevel& level : tree.levels) {
    for (u32 i = 0; i < level.count; ++i) of.push_back(static_cast<u32>(u64{i} * shards / level.count));
  }
  return of;
}

/// True when switches whose numbers are close are close in the network.
bool ordered(const core::Topology& topology) {
  return topology.grid() != nullptr || topology.dragonfly() != nullptr || topology.hyperx() != nullptr;
}

#ifdef BANYAN_METIS
/// Shards that were used, numbered without gaps.
void renumber(std::vector<u32>& of) {
  std::vector<u32> used(of);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (u32& shard : of) { shard = static_cast<u32>(std::lower_bound(used.begin(), used.end(), shard) - used.begin()); }
}

/// Cuts by recursive bisection, so that the first half of the numbers is one half of the network. A place weighs as
/// much as it has ports. Empty when METIS fails.
std::vector<u32> by_metis(const core::Topology& topology, u32 shards) {
  const core::Graph& graph = topology.graph();
  const u32 copies = topology.subnetworks();
  const u32 places = graph.switches() / copies;
  std::vector<std::pair<u32, u32>> edges;  // both ways
  std::vector<idx_t> weights(places, 0);
  for (const core::Channel& c : graph.channels()) {
    if (!c.from.terminal) ++weights[c.from.node / copies];
    if (!c.to.terminal) ++weights[c.to.node / copies];
    if (c.from.terminal || c.to.terminal || c.from.node / copies == c.to.node / copies) continue;
    edges.emplace_back(c.from.node / copies, c.to.node / copies);
    edges.emplace_back(c.to.node / copies, c.from.node / copies);
  }
  std::sort(edges.begin(), edges.end());
  std::vector<idx_t> first(std::size_t{places} + 1, 0);
  std::vector<idx_t> to;
  std::vector<idx_t> channels;  // [edge]
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (i != 0 && edges[i] == edges[i - 1]) {
      ++channels.back();
      continue;
    }
    to.push_back(static_cast<idx_t>(edges[i].second));
    channels.push_back(1);
    ++first[edges[i].first + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::array<idx_t, METIS_NOPTIONS> options{};
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NUMBERING] = 0;
  idx_t vertices = static_cast<idx_t>(places);
  idx_t constraints = 1;
  idx_t parts = static_cast<idx_t>(shards);
  idx_t cut = 0;
  std::vector<idx_t> part(places, 0);
  // METIS sets the handlers of signals while it works, and draws from the C library's one generator.
  static const auto one_at_a_time = std::make_unique<std::mutex>();
  const std::lock_guard<std::mutex> lock(*one_at_a_time);
  if (METIS_PartGraphRecursive(&vertices, &constraints, first.data(), to.data(), weights.data(), nullptr,
                               channels.data(), &parts, nullptr, nullptr, options.data(), &cut,
                               part.data()) != METIS_OK) {
    return {};
  }
  std::vector<u32> of(graph.switches());
  for (u32 s = 0; s < of.size(); ++s) of[s] = static_cast<u32>(part[s / copies]);
  renumber(of);
  return of;
}
#endif

}  // namespace

bool has_partitioner() noexcept {
#ifdef BANYAN_METIS
  return true;
#else
  return false;
#endif
}

std::vector<u32> cut_network(const core::Topology& topology, u32 shards, std::string& by) {
  by = "the order of switches";
  std::vector<u32> plain = in_order(topology.graph().switches(), topology.subnetworks(), shards);
  if (shards == 1 || ordered(topology)) return plain;
  const core::Tree* const tree = topology.tree();
  if (tree != nullptr && topology.graph().computes() && tree->levels.front().count >= shards) {
    by = "the order of switches on each level";  // a partitioner would list the whole graph
    return level_by_level(*tree, shards);
  }
#ifdef BANYAN_METIS
  std::vector<u32> better = by_metis(topology, shards);
  if (!better.empty()) {
    by = "METIS";
    return better;
  }
#endif
  return plain;
}

Cut measure_cut(const core::Graph& graph, const std::vector<u32>& shard, const std::vector<u32>& terminal, u32 shards) {
  Cut cut;
  cut.shards = shards;
  std::vector<u64> ports(shards, 0);
  for (const core::Channel& c : graph.channels()) {
    const u32 from = c.from.terminal ? terminal[c.from.node] : shard[c.from.node];
    const u32 to = c.to.terminal ? terminal[c.to.node] : shard[c.to.node];
    ++ports[from];
    ++ports[to];
    cut.crossing += from != to ? 1U : 0U;
  }
  cut.channels = graph.channels().size();
  if (cut.channels != 0) {
    cut.heaviest = static_cast<double>(*std::max_element(ports.begin(), ports.end())) * shards /
                   static_cast<double>(2 * cut.channels);
  }
  return cut;
}

}  // namespace banyan::engine
