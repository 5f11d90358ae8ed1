#include "banyan/engine/builder.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "banyan/base/error.hpp"

namespace banyan::engine {
namespace {

/// Half of a common second-level cache: a shard that fits is stepped without misses (1.1 to 1.3 times faster on large
/// networks, measured on a prototype).
constexpr u64 kShardBytes = 512 * 1024;
/// Every shard has lists and pools of its own, half a megabyte: a mesh of 128x128 stays below 100 MB. More shards,
/// which fit the cache better, saved no time when they were measured.
constexpr u64 kMostChosenShards = 16;
constexpr u32 kMostShards = 255;                      ///< packet handles keep the shard in 8 bits
constexpr const char* kByModel = "the switch model";  ///< as cut_by_ begins

}  // namespace

Builder::Builder(const core::Topology& topology, const core::Routing& routing, std::span<core::Traffic* const> traffics,
                 std::vector<core::HotSpot> hot_spots, EngineSettings settings)
    : topology_(topology),
      routing_(routing),
      traffics_(traffics),
      hot_spots_(std::move(hot_spots)),
      settings_(std::move(settings)) {}

u32 Builder::longest_message() const {
  u32 longest = 0;
  for (const core::Traffic* t : traffics_)
    longest = std::max(longest, std::min(t->longest_message(), t->longest_packet()));
  return longest;
}

bool Builder::replicates() const {
  return std::any_of(traffics_.begin(), traffics_.end(), [](const core::Traffic* t) { return t->replicates(); });
}

bool Builder::reduces() const {
  return std::any_of(traffics_.begin(), traffics_.end(), [](const core::Traffic* t) { return t->reduces(); });
}

u32 Builder::shortest_packet() const { return shortest_packet(traffics_); }

u32 Builder::shortest_packet_of_load() const {
  return shortest_packet(traffics_.first(traffics_.size() - (settings_.tells_in_packets ? 1 : 0)));
}

u32 Builder::shortest_packet(std::span<core::Traffic* const> traffics) const {
  u32 shortest = kNone;
  for (const core::Traffic* t : traffics) {
    const u32 longest = std::min(t->longest_packet(), longest_packet_);
    u32 least = std::max(t->shortest_message(), 1U);
    if (t->longest_message() > longest) {  // messages are cut, and the last packet of one may be short
      const bool equal = t->shortest_message() == t->longest_message();
      least = !equal ? 1 : least % longest == 0 ? longest : least % longest;
    }
    shortest = std::min(shortest, least);
  }
  return shortest;
}

void Builder::partition(std::vector<u32> switch_shard, u32 shards) {
  if (!parts_.empty()) throw std::logic_error("a network is cut once");
  parts_.resize(shards);
  // cioq marks entries of queues by the first bit of a handle.
  slots_ = std::clamp(PacketPool::kSlots / 2 / shards, 1U, std::min(settings_.packet_slots, PacketPool::kMostSlots));
  deal_shards();
  switch_shard_ = std::move(switch_shard);
  const core::Graph& graph = topology_.graph();
  std::vector<u32> switch_count(shards, 0);
  for (const u32 shard : switch_shard_) switch_entity_.push_back(switch_count[shard]++);
  std::vector<std::vector<u32>> members(shards);
  for (u32 t = 0; t < graph.terminals(); ++t) {
    const u32 shard = switch_shard_[graph.channel(graph.injection(t)).to.node];
    terminal_shard_.push_back(shard);
    terminal_entity_.push_back(static_cast<u32>(members[shard].size()));
    members[shard].push_back(t);
  }
  for (Shard& part : parts_) {
    part.topology = &topology_;
    for (auto& parcels : part.parcels) parcels.resize(shards);
    // In windows of a cycle a parcel holds a handful, and its rare largest would be met long after the warm-up. Between
    // many shards windows are long, and most pairs send each other nothing.
    constexpr u32 kFewShards = 8;
    constexpr u32 kHandful = 64;
    if (shards <= kFewShards) {
      for (auto& parcels : part.parcels) {
        for (Parcel& parcel : parcels) parcel.reserve(kHandful);
      }
    }
    for (auto& touched : part.touched) touched.resize((shards + 63) / 64);
  }
  for (const u32 i : own_) {
    if (settings_.probe.any()) {
      ProbePlan plan = settings_.probe;
      if (settings_.tells_in_packets) plan.control = static_cast<u32>(traffics_.size()) - 1;
      parts_[i].probe = std::make_unique<Probe>(plan, graph);
      parts_[i].probe->number(0, {true, 1, members[i]});
      parts_[i].probe->number(1, {false, 1, {}});
    }
    std::shared_ptr<Flows> flows;
    if (settings_.admission) {
      flows = std::make_shared<Flows>(
          Flows::Setup{.admission = settings_.admission(),
                       .delays = std::make_shared<FeedbackDelay>(graph, settings_.zero_load),
                       .queues = static_cast<u32>(members[i].size()) * source_queues_,
                       .traffics = static_cast<u32>(traffics_.size()),
                       .limit = settings_.flow_limit,
                       .control_flits = settings_.tells_in_packets ? traffics_.back()->longest_message() : 0,
                       .steady = settings_.steady});
    }
    parts_[i].terminals = std::make_unique<Terminals>(
        Terminals::Setup{.terminals = std::move(members[i]),
                         .traffics = traffics_,
                         .routing = &routing_,
                         .hot_spots = hot_spots_,
                         .total_terminals = graph.terminals(),
                         .shard = i,
                         .packet_slots = slots_,
                         .steady = settings_.steady,
                         .check_order = settings_.check_order && routing_.in_order() && source_queues_ == 1 && in_turn_,
                         .generation_series = settings_.generation_series,
                         .probe = parts_[i].probe.get(),
                         .longest_packet = longest_packet_,
                         .queues = source_queues_,
                         .seed = settings_.seed,
                         .flows = std::move(flows),
                         .tells_in_packets = settings_.tells_in_packets});
  }
  for (u32 i = 0; i < shards; ++i) {
    if (parts_[i].terminals == nullptr && i == first_of_rank(i)) {
      const u32 rank = settings_.ranks->rank_of(i, shards);
      parts_[i].guests = std::make_unique<Guests>(i, settings_.ranks->first(rank + 1, shards) - i, slots_);
    }
    if (settings_.utilization_time != 0 && !pool(i).keeps_values()) pool(i).keep_values();
    if (replicates() && !pool(i).keeps_sets()) pool(i).keep_sets(graph.terminals());
    if (reduces() && !pool(i).keeps_contributions()) pool(i).keep_contributions();
  }
}

/// Every rank gets shards whose numbers follow each other, which are close in the network.
void Builder::deal_shards() {
  const u32 ranks = settings_.ranks == nullptr ? 1 : settings_.ranks->size();
  if (ranks > shards()) {
    if (!whole_because_.empty())
      throw ConfigError({"mpirun", 0, 0, ""}, fmt::format("{} ranks, and {}", ranks, whole_because_), whole_remedy_);
    throw ConfigError({"mpirun", 0, 0, ""},
                      fmt::format("{} ranks, and this network is cut into no more than {}", ranks, shards()),
                      shards() == settings_.shards ? fmt::format("give run.shards = {} or more, or 0", ranks)
                      : shards() == 1              ? "run it without mpirun"
                                                   : fmt::format("start {} ranks at most", shards()));
  }
  const u32 rank = settings_.ranks == nullptr ? 0 : settings_.ranks->rank();
  const u32 first = settings_.ranks == nullptr ? 0 : settings_.ranks->first(rank, shards());
  const u32 last = settings_.ranks == nullptr ? shards() : settings_.ranks->first(rank + 1, shards());
  for (u32 i = first; i < last; ++i) own_.push_back(i);
}

void Builder::partition_as_one(const std::string& cause, const std::string& remedy) {
  whole_because_ = cause;
  whole_remedy_ = remedy;
  partition(std::vector<u32>(topology_.graph().switches(), 0), 1);
}

void Builder::partition_by_size(u64 bytes_per_switch) {
  const u64 fitting = (bytes_per_switch * topology_.graph().switches() + kShardBytes - 1) / kShardBytes;
  // Every thread gets as many: with three shards on two threads, one thread would have twice the work.
  const u64 threads = std::max(cut_for(), 1U);
  const u64 chosen = (std::min(fitting, kMostChosenShards) + threads - 1) / threads * threads;
  partition_into(settings_.shards != 0 ? settings_.shards : chosen, kMostShards);
}

void Builder::partition_for_threads(u64 bytes_per_switch, u32 most) {
  const u64 fitting = (bytes_per_switch * topology_.graph().switches() + kShardBytes - 1) / kShardBytes;
  const u64 least = settings_.ranks == nullptr ? 1 : settings_.ranks->size();
  partition_into(settings_.shards != 0 ? settings_.shards : std::max(std::min<u64>(fitting, cut_for()), least),
                 std::min(most, kMostShards));
}

void Builder::partition_into(u64 wanted, u32 most) {
  const u32 places = topology_.graph().switches() / topology_.subnetworks();
  const u32 shards = static_cast<u32>(std::clamp<u64>(wanted, 1, std::min(places, most)));
  std::vector<u32> of = cut_network(topology_, shards, cut_by_);
  const u32 used = of.empty() ? 1 : *std::max_element(of.begin(), of.end()) + 1;
  partition(std::move(of), used);
}

Cut Builder::cut() const {
  Cut cut = measure_cut(topology_.graph(), switch_shard_, terminal_shard_, shards());
  // A model that keeps its network whole did that itself; others had too little to cut.
  cut.by = shards() == 1 && cut_by_ != kByModel ? "nothing" : cut_by_;
  return cut;
}

std::vector<PacketPool*> Builder::pools() {
  std::vector<PacketPool*> by_slot;
  for (u32 i = 0; i < shards(); ++i) by_slot.insert(by_slot.end(), slots_, &pool(i));
  return by_slot;
}

std::vector<u32> Builder::switches_of(u32 shard) const {
  std::vector<u32> list;
  for (u32 s = 0; s < switch_shard_.size(); ++s) {
    if (switch_shard_[s] == shard) list.push_back(s);
  }
  return list;
}

std::vector<Shard> Builder::take_shards() {
  const auto shard_of_terminal = std::make_shared<const std::vector<u32>>(terminal_shard_);
  for (const u32 i : own_) {
    Shard& part = parts_[i];
    Flows* const flows = part.terminals->source.flows();
    if (flows == nullptr) continue;
    part.shard_of_terminal = shard_of_terminal;
    flows->connect(&Shard::post, &part);
  }
  return std::move(parts_);
}

void Builder::add(u32 shard, std::unique_ptr<Population> population) {
  parts_[shard].populations.push_back(std::move(population));
  parts_[shard].due.push_back(0);
}

void Builder::add_interfaces(Interfaces::Setup setup) {
  const core::Graph& graph = topology_.graph();
  setup.graph = &graph;
  const auto cycles = [&](u32 t) { return graph.channel(graph.injection(t)).link.cycles_per_flit; };
  for (const u32 i : own_) {
    std::vector<u32> injection;
    std::vector<u32> slow;
    for (u32 e = 0; e < terminals(i).size(); ++e) {
      injection.push_back(graph.injection(terminals(i).global(e)));
      slow.push_back(cycles(terminals(i).global(e)));
    }
    if (std::all_of(slow.begin(), slow.end(), [](u32 c) { return c == 1; })) slow.clear();
    add(i, std::make_unique<PopulationOf<Interfaces>>(
               std::make_unique<Interfaces>(terminals(i), setup, std::move(injection), std::move(slow)),
               settings_.permuted, settings_.step_all));
  }
}

Tick Builder::longest_latency() const {
  Tick longest = 1;
  for (const core::Channel& c : topology_.graph().channels()) longest = std::max<Tick>(longest, c.link.latency_cycles);
  return longest;
}

void Builder::wire(Tick least_extra) {
  const core::Graph& graph = topology_.graph();
  const auto population = [](const core::End& end) { return static_cast<u8>(end.terminal ? 0 : 1); };
  const auto shard_of_end = [&](const core::End& end) {
    return end.terminal ? terminal_shard_[end.node] : switch_shard_[end.node];
  };
  const auto entity = [&](const core::End& end) {
    return end.terminal ? terminal_entity_[end.node] : switch_entity_[end.node];
  };
  const auto port_number = [&](const core::End& end) {
    return end.terminal ? entity(end) : entity(end) * switch_ports_ + end.port;
  };
  const auto channels_of = [&](u32 shard, u8 index) -> ChannelPopulation& {
    return static_cast<ChannelPopulation&>(*parts_[shard].populations[index]);
  };
  for (const u32 i : own_) {
    const std::size_t ports = switches_of(i).size() * switch_ports_;
    for (auto* table : {&channels_of(i, 0).down, &channels_of(i, 0).up}) table->resize(terminals(i).size());
    for (auto* table : {&channels_of(i, 1).down, &channels_of(i, 1).up}) table->resize(ports);
  }
  window_ = longest_latency() + least_extra;
  for (const core::Channel& c : graph.channels()) {
    if (c.failed) continue;
    const u32 from = shard_of_end(c.from);
    const u32 to = shard_of_end(c.to);
    if (is_own(from)) {
      channels_of(from, population(c.from)).down[port_number(c.from)] = {entity(c.to), c.link.latency_cycles, c.to.port,
                                                                         static_cast<u8>(to), population(c.to)};
    }
    if (is_own(to)) {
      channels_of(to, population(c.to)).up[port_number(c.to)] = {entity(c.from), c.link.latency_cycles, c.from.port,
                                                                 static_cast<u8>(from), population(c.from)};
    }
    const Tick extra = c.from.terminal || c.to.terminal ? 0 : least_extra;
    if (from != to) window_ = std::min<Tick>(window_, c.link.latency_cycles + extra);
  }
  for (const u32 i : own_) {
    Shard& part = parts_[i];
    part.wires.shard = i;
    part.wires.probe = part.probe.get();
    if (part.probe != nullptr) part.probe->number(1, {false, switch_ports_, switches_of(i)});
    part.wires.due = &part.due;
    part.wires.parcels = &part.parcels[0];
    part.wires.touched = &part.touched[0];
    part.wires.pools = pools();
    for (u32 k = 0; k < part.populations.size(); ++k) {
      ChannelPopulation& channels = static_cast<ChannelPopulation&>(*part.populations[k]);
      part.wires.inboxes.push_back(&channels.inbox());
      channels.connect(part.wires, k);
    }
    plan_wave(part);
  }
  join_waves();
  reserve();
}

/// Where windows are shorter than a wave of two pairs of ticks, all shards may make one between two barriers.
void Builder::join_waves() {
  if (shards() == 1 || settings_.ranks != nullptr || window_ < 2 || window_ >= kMostWaveTicks) return;
  for (const Shard& part : parts_) {
    if (part.wave.blocks == 0 || part.wave.terminals.empty() || part.wave.pairs != kWavePairs) return;
  }
  const std::vector<BorderPlan> plans =
      plan_borders(topology_.graph(), switch_shard_, shards(), parts_.front().wave.backwards);
  for (u32 i = 0; i < plans.size(); ++i) {
    Shard& part = parts_[i];
    part.wave.backwards = plans[i].backwards;
    part.border_of.assign(part.wave.blocks, nullptr);
    for (const BorderPlan::Block& planned : plans[i].blocks) {
      part.borders.push_back(std::make_unique<BorderBlock>(shards()));
      part.border_of[planned.block] = part.borders.back().get();
      // In two ticks a channel carries two flits and, either way, some credits.
      for (const auto& [far, place] : planned.near) {
        part.borders.back()->parcels[far].flits.reserve(2 * std::size_t{planned.channels});
        part.borders.back()->parcels[far].controls.reserve(4 * std::size_t{planned.channels});
      }
    }
  }
  for (u32 i = 0; i < plans.size(); ++i) {
    for (u32 k = 0; k < plans[i].blocks.size(); ++k) {
      for (const auto& [far, place] : plans[i].blocks[k].near)
        parts_[i].borders[k]->before.push_back(parts_[far].borders[place].get());
    }
  }
}

void Builder::join_networks(Tick most_window) {
  const core::Graph& graph = topology_.graph();
  window_ = std::min(longest_latency(), most_window);
  std::vector<std::size_t> crossing(std::size_t{shards()} * shards());
  std::vector<std::size_t> ending(shards());
  for (const core::Channel& c : graph.channels()) {
    if (c.failed) continue;
    const u32 from = shard_of(c.from);
    const u32 to = shard_of(c.to);
    ending[to] += c.to.terminal ? 1U : 0U;
    if (from == to) continue;
    window_ = std::min<Tick>(window_, c.link.latency_cycles);
    ++crossing[std::size_t{from} * shards() + to];
  }
  for (const u32 i : own_) {
    Shard& part = parts_[i];
    part.wires.shard = i;
    part.wires.probe = part.probe.get();
    part.wires.due = &part.due;
    part.wires.parcels = &part.parcels[0];
    part.wires.touched = &part.touched[0];
    part.wires.inboxes = {nullptr};
    part.wires.pools = pools();
    for (u32 to = 0; to < shards(); ++to) {
      for (auto& parcels : part.parcels) {
        // An output may begin with a packet in the cycle in which its last one leaves the buffer: one more.
        parcels[to].flits.reserve(crossing[std::size_t{i} * shards() + to] * (window_ + 1));
        parcels[to].controls.reserve(crossing[std::size_t{to} * shards() + i] * window_);
        parcels[to].freed.reserve(to == i ? 0 : ending[i] * window_);
        parcels[to].copies.reserve(to == i || !replicates() ? 0 : ending[i] * window_);
      }
    }
  }
}

/// Terminals belong to a block of switches when all of a block of theirs are attached to it, in the same order.
void Builder::plan_wave(Shard& part) {
  if (part.populations.size() != 2) return;
  const Blocks switches = part.populations[1]->blocks();
  if (switches.count == 0) return;
  part.wave.blocks = switches.count;
  part.wave.reach = switches.reach;
  part.wave.backwards = switches.backwards;
  const Blocks interfaces = part.populations[0]->blocks();
  if (interfaces.count == 0) return;
  const ChannelPopulation& terminals = static_cast<ChannelPopulation&>(*part.populations[0]);
  std::vector<u32> first{0};  // of the terminals' blocks
  for (u32 e = 0; e < terminals.down.size(); ++e) {
    const Target& down = terminals.down[e];
    const Target& up = terminals.up[e];
    if (down.entity == kNone || up.entity == kNone || down.entity / 64 != up.entity / 64) return;
    const u32 block = down.entity / 64;
    if (block + 1 < first.size() || (block + 1 > first.size() && e % 64 != 0)) return;
    while (first.size() <= block) first.push_back(e / 64);
  }
  while (first.size() <= switches.count) first.push_back(interfaces.count);
  part.wave.terminals = std::move(first);
  if (switches.reach <= kMostReach) part.wave.pairs = kWavePairs;
}

/// Room for the most that channels carry, so that a run allocates nothing: per tick one flit, and two control words
/// each way. What crosses between shards waits for up to a window.
void Builder::reserve() {
  constexpr std::size_t kControls = 2;
  constexpr std::size_t kMostMails = 1U << 16U;  // larger parcels grow while the network warms up
  struct Crossing {
    std::size_t flits = 0;
    std::size_t controls = 0;
  };
  std::vector<std::size_t> arriving(shards());  // channels that end in the shard: each may bring a packet's last flit
  std::vector<Crossing> between(std::size_t{shards()} * shards());
  for (const u32 i : own_) {
    Shard& part = parts_[i];
    for (auto& p : part.populations) {
      ChannelPopulation& channels = static_cast<ChannelPopulation&>(*p);
      const auto attached = [](const Target& t) { return t.entity != kNone; };
      const auto inputs = static_cast<std::size_t>(std::count_if(channels.up.begin(), channels.up.end(), attached));
      const auto outputs =
          static_cast<std::size_t>(std::count_if(channels.down.begin(), channels.down.end(), attached));
      arriving[i] += inputs;
      channels.inbox().reserve(inputs, kControls * (inputs + outputs));
      for (const Target& t : channels.down) {
        if (!attached(t)) continue;
        ++between[std::size_t{i} * shards() + t.shard].flits;
        ++between[std::size_t{i} * shards() + t.shard].controls;
      }
      for (const Target& t : channels.up) {
        if (attached(t)) ++between[std::size_t{i} * shards() + t.shard].controls;
      }
    }
    terminals(i).pool().reserve(1);
  }
  // Packets come from everywhere: of many shards none sends more than a fraction of what arrives, or not for long.
  const std::size_t thinned = std::max<std::size_t>(shards() / 8, 1);
  for (const u32 from : own_) {
    for (u32 to = 0; to < shards(); ++to) {
      if (from == to) continue;
      const Crossing& crossing = between[std::size_t{from} * shards() + to];
      for (auto& parcels : parts_[from].parcels) {
        parcels[to].flits.reserve(std::min<std::size_t>(crossing.flits * window_, kMostMails));
        parcels[to].controls.reserve(std::min<std::size_t>(kControls * crossing.controls * window_, kMostMails));
        const Tick ticks = parts_[from].borders.empty() ? window_ : kMostWaveTicks;
        parcels[to].freed.reserve(std::min<std::size_t>(arriving[from] * ticks, kMostMails) / thinned + 1);
      }
    }
  }
}

}  // namespace banyan::engine
