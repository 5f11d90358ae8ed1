#include "banyan/engine/builder.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace banyan::engine {

Builder::Builder(const core::Topology& topology, const core::Routing& routing,
                 std::span<core::Traffic* const> traffics, std::vector<core::HotSpot> hot_spots,
                 EngineSettings settings)
    : topology_(topology),
      routing_(routing),
      traffics_(traffics),
      hot_spots_(std::move(hot_spots)),
      settings_(settings) {}

u32 Builder::longest_message() const {
  u32 longest = 0;
  for (const core::Traffic* t : traffics_) longest = std::max(longest, t->longest_message());
  return longest;
}

void Builder::partition(std::vector<u32> switch_shard, u32 shards) {
  if (!parts_.empty()) throw std::logic_error("a network is cut once");
  switch_shard_ = std::move(switch_shard);
  const core::Graph& graph = topology_.graph();
  std::vector<std::vector<u32>> members(shards);
  for (u32 t = 0; t < graph.terminals(); ++t) {
    members[switch_shard_[graph.channel(graph.injection(t)).to.node]].push_back(t);
  }
  parts_.resize(shards);
  for (u32 i = 0; i < shards; ++i) {
    parts_[i].terminals = std::make_unique<Terminals>(
        Terminals::Setup{std::move(members[i]), traffics_, &routing_, hot_spots_, graph.terminals(), i,
                         settings_.steady, settings_.generation_series});
  }
}

void Builder::partition_as_one() { partition(std::vector<u32>(topology_.graph().switches(), 0), 1); }

void Builder::add(u32 shard, std::unique_ptr<Population> population) {
  parts_[shard].populations.push_back(std::move(population));
  parts_[shard].due.push_back(0);
}

}  // namespace banyan::engine
