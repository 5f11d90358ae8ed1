// What a switch model meets when it is installed: the network around it, and the place to put its populations.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "banyan/core/routing.hpp"
#include "banyan/core/topology.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/engine/cut.hpp"
#include "banyan/engine/interfaces.hpp"
#include "banyan/engine/population_of.hpp"
#include "banyan/engine/ranks.hpp"
#include "banyan/engine/shard.hpp"

namespace banyan::engine {

/// Settings of the engine that every population may ask for. Results must not depend on permuted, step_all, shards.
struct EngineSettings {
  u64 seed = 1;
  bool permuted = false;      ///< step the entities of a phase in another order
  bool step_all = false;      ///< step every entity in every tick
  u32 shards = 0;             ///< 0: chosen by size
  u32 threads = 1;            ///< threads over the shards of one machine
  u32 cut_for = 0;            ///< threads that the cut is made for; 0: as many
  SteadyPlan steady;          ///< windows of a steady run
  bool trees = false;         ///< congestion trees are recorded
  bool check_order = false;   ///< audit the order of delivery where the routing promises one
  u32 generation_series = 0;  ///< length of the series of births of a session
  ProbePlan probe;            ///< what to write down beside the counters
  /// Makes the part of one shard where packets are held back at their sources. Empty: none are.
  std::function<std::unique_ptr<core::Admission>()> admission;
  bool tells_in_packets = false;              ///< the last traffic is a ControlTraffic
  Tick utilization_time = 0;                  ///< core::Admission::utilization_time
  u32 flow_limit = 0;                         ///< messages of a traffic that may wait in the flows of a queue
  core::ZeroLoad zero_load;                   ///< of one flit, which is what ends of a flow tell each other
  u32 packet_slots = PacketPool::kMostSlots;  ///< of a packet pool, at most
  Ranks* ranks = nullptr;                     ///< the processes that share the network; nullptr: this one has all of it
};

class Builder {
 public:
  Builder(const core::Topology& topology, const core::Routing& routing, std::span<core::Traffic* const> traffics,
          std::vector<core::HotSpot> hot_spots, EngineSettings settings);

  [[nodiscard]] const core::Topology& topology() const { return topology_; }
  [[nodiscard]] const core::Routing& routing() const { return routing_; }
  [[nodiscard]] std::span<core::Traffic* const> traffics() const { return traffics_; }
  [[nodiscard]] const EngineSettings& settings() const { return settings_; }
  /// Longest packet that the traffics send, in flits.
  [[nodiscard]] u32 longest_message() const;
  /// No packet is shorter, in flits; 1 where that is not known.
  [[nodiscard]] u32 shortest_packet() const;
  /// The same of those that are load: without what ends of flows tell each other.
  [[nodiscard]] u32 shortest_packet_of_load() const;

  /// Whether switches make copies of a traffic's packets for several destinations.
  [[nodiscard]] bool replicates() const;
  /// Whether switches add up the packets of a traffic.
  [[nodiscard]] bool reduces() const;

  /// Messages are cut into packets of at most so many flits, whatever the traffics say; before partition.
  void cut_messages(u32 longest) { longest_packet_ = longest; }
  /// Cuts the network: `switch_shard[s]` is the shard of switch s; terminals live with the switch that they inject
  /// into. Called once by the switch model, before anything else; creates the terminals.
  void partition(std::vector<u32> switch_shard, u32 shards);
  /// Source queues per terminal, of which a message joins one at random; before partition.
  void source_queues(u32 queues) { source_queues_ = queues; }
  /// Messages of a pair may overtake each other whatever the routing promises, because a terminal sends several at
  /// once, or because switches change their order; before partition.
  void several_at_once() { in_turn_ = false; }
  /// The whole network in one shard (populations with peer access). Who asks for several ranks is told why: `cause`,
  /// and what helps.
  void partition_as_one(const std::string& cause = "this switch model steps such a network as a whole",
                        const std::string& remedy = "run it without mpirun");

  /// Cuts the network into parts of about `bytes_per_switch` x switches <= kShardBytes, or into settings().shards.
  /// Which switches share a shard: cut_network.
  void partition_by_size(u64 bytes_per_switch);
  /// Cuts like partition_by_size, for populations that gain nothing from small parts: into no more than there are
  /// threads, or into settings().shards; never into more than `most`.
  void partition_for_threads(u64 bytes_per_switch, u32 most = kNone);
  /// The switches of a shard, ascending.
  [[nodiscard]] std::vector<u32> switches_of(u32 shard) const;

  /// Adds the interfaces (population 0 of every shard); after partition.
  void add_interfaces(Interfaces::Setup setup);
  /// Adds a switch population (population 1 of its shard); `ports`: port numbers per switch in Io's numbering, that is
  /// port p of the shard's i-th switch has number i * ports + p.
  template <class Model>
  void add_switches(u32 shard, std::unique_ptr<Model> model, u32 ports) {
    switch_ports_ = ports;
    add(shard, std::make_unique<PopulationOf<Model>>(std::move(model), settings_.permuted, settings_.step_all));
  }
  /// Connects interfaces and switches along the channels of the graph; last step. `least_extra`: what every POD that a
  /// switch sends to a switch takes at least beyond the channel's latency; shards run on their own for as long.
  void wire(Tick least_extra = 0);
  /// In place of add_interfaces, add_switches and wire, when population 0 of every shard is a WholeNetwork: what one
  /// sends to another is known to it before the latency of a channel between them has passed, or `most_window` ticks.
  void join_networks(Tick most_window = kNever);
  /// The number of a switch, or of a terminal, among those of its shard.
  [[nodiscard]] u32 entity_of(const core::End& end) const {
    return end.terminal ? terminal_entity_[end.node] : switch_entity_[end.node];
  }
  [[nodiscard]] u32 shard_of(const core::End& end) const {
    return end.terminal ? terminal_shard_[end.node] : switch_shard_[end.node];
  }
  /// Longest latency of a channel, in ticks.
  [[nodiscard]] Tick longest_latency() const;
  /// Shortest latency between two shards (1 when there is one shard).
  [[nodiscard]] Tick window() const { return window_; }

  /// The cut that was made.
  [[nodiscard]] Cut cut() const;
  [[nodiscard]] u32 shards() const { return static_cast<u32>(parts_.size()); }
  /// Those that this process steps, ascending: only they get populations.
  [[nodiscard]] std::span<const u32> own_shards() const { return own_; }
  [[nodiscard]] u32 shard_of(u32 switch_) const { return switch_shard_[switch_]; }
  [[nodiscard]] Shard& shard(u32 i) { return parts_[i]; }
  /// The probe of a shard, or nullptr; after partition.
  [[nodiscard]] Probe* probe(u32 shard) { return parts_[shard].probe.get(); }
  /// The shard must be an own one.
  [[nodiscard]] Terminals& terminals(u32 shard) { return *parts_[shard].terminals; }
  /// The records of the packets that the terminals of a shard send; of another rank's, copies of those that are here.
  [[nodiscard]] PacketPool& pool(u32 shard) {
    return is_own(shard) ? parts_[shard].terminals->pool() : parts_[first_of_rank(shard)].guests->pool();
  }
  /// [PacketId >> PacketPool::kIndexBits]: where the record of a packet is; after partition.
  [[nodiscard]] std::vector<PacketPool*> pools();
  void add(u32 shard, std::unique_ptr<Population> population);

  [[nodiscard]] std::vector<Shard> take_shards();

 private:
  [[nodiscard]] u32 shortest_packet(std::span<core::Traffic* const> traffics) const;
  void partition_into(u64 wanted, u32 most);
  void deal_shards();
  [[nodiscard]] bool is_own(u32 shard) const { return shard >= own_.front() && shard <= own_.back(); }
  /// The first shard of the rank that has a shard.
  [[nodiscard]] u32 first_of_rank(u32 shard) const {
    return settings_.ranks->first(settings_.ranks->rank_of(shard, shards()), shards());
  }
  [[nodiscard]] u32 cut_for() const { return settings_.cut_for != 0 ? settings_.cut_for : settings_.threads; }
  static void plan_wave(Shard& part);
  void join_waves();
  void reserve();

  const core::Topology& topology_;
  const core::Routing& routing_;
  std::span<core::Traffic* const> traffics_;
  std::vector<core::HotSpot> hot_spots_;
  EngineSettings settings_;
  std::vector<u32> switch_shard_;
  std::vector<u32> switch_entity_;  ///< index of a switch inside its shard
  std::vector<u32> terminal_shard_;
  std::vector<u32> terminal_entity_;
  u32 switch_ports_ = 0;
  u32 longest_packet_ = kNone;
  u32 source_queues_ = 1;
  u32 slots_ = 1;  ///< of each packet pool
  bool in_turn_ = true;
  Tick window_ = 1;
  std::string cut_by_ = "the switch model";
  std::string whole_because_;  ///< of partition_as_one
  std::string whole_remedy_;
  std::vector<Shard> parts_;
  std::vector<u32> own_;
};

}  // namespace banyan::engine
