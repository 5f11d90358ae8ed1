// What a switch model meets when it is installed: the network around it, and the place to put its populations.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "banyan/core/routing.hpp"
#include "banyan/core/topology.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/engine/shard.hpp"

namespace banyan::engine {

/// Settings of the engine that every population may ask for. Results must not depend on permuted, step_all, shards.
struct EngineSettings {
  u64 seed = 1;
  bool permuted = false;   ///< step the entities of a phase in another order
  bool step_all = false;   ///< step every entity in every tick
  u32 shards = 0;          ///< 0: chosen by size
  SteadyPlan steady;       ///< windows of a steady run
  u32 generation_series = 0;  ///< length of the series of births of a session
};

class Builder {
 public:
  Builder(const core::Topology& topology, const core::Routing& routing, std::span<core::Traffic* const> traffics,
          std::vector<core::HotSpot> hot_spots, EngineSettings settings);

  [[nodiscard]] const core::Topology& topology() const { return topology_; }
  [[nodiscard]] const core::Routing& routing() const { return routing_; }
  [[nodiscard]] std::span<core::Traffic* const> traffics() const { return traffics_; }
  [[nodiscard]] const EngineSettings& settings() const { return settings_; }
  [[nodiscard]] u32 longest_message() const;

  /// Cuts the network: `switch_shard[s]` is the shard of switch s; terminals live with the switch that they inject
  /// into. Called once by the switch model, before anything else; creates the terminals.
  void partition(std::vector<u32> switch_shard, u32 shards);
  /// The whole network in one shard (populations with peer access).
  void partition_as_one();

  [[nodiscard]] u32 shards() const { return static_cast<u32>(parts_.size()); }
  [[nodiscard]] u32 shard_of(u32 switch_) const { return switch_shard_[switch_]; }
  [[nodiscard]] Shard& shard(u32 i) { return parts_[i]; }
  [[nodiscard]] Terminals& terminals(u32 shard) { return *parts_[shard].terminals; }
  void add(u32 shard, std::unique_ptr<Population> population);

  [[nodiscard]] std::vector<Shard> take_shards() { return std::move(parts_); }

 private:
  const core::Topology& topology_;
  const core::Routing& routing_;
  std::span<core::Traffic* const> traffics_;
  std::vector<core::HotSpot> hot_spots_;
  EngineSettings settings_;
  std::vector<u32> switch_shard_;
  std::vector<Shard> parts_;
};

}  // namespace banyan::engine
