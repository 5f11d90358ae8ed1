// Worms given one by one, over a small network of central_buffer or input_buffer switches.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/core/registry.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/engine/machine.hpp"
#include "support/rows.hpp"

namespace banyan::test {

using Given = std::vector<std::pair<std::string, config::Value>>;

inline config::Values values_of(const config::ComponentInfo& info, const Given& given) {
  config::Values values = config::Values::defaults(info);
  for (const auto& [name, value] : given) values.set(name, value);
  return values;
}

/// Worms given in advance, per terminal in order of birth.
class Worms final : public core::Traffic {
 public:
  explicit Worms(u32 terminals) : messages(terminals), sets(terminals) {}
  void begin(u32) override {}
  bool next(u32 terminal, u64 nth, Tick, core::Message& out) const noexcept override {
    if (nth >= messages[terminal].size()) return false;
    out = messages[terminal][nth];
    return true;
  }
  [[nodiscard]] core::TrafficTraits traits() const noexcept override {
    return {.replicates = with_worms, .longest_message = longest};
  }
  void destinations(u32 terminal, u64 nth, const core::Message&, std::span<u64> bits) const noexcept override {
    for (const u32 t : sets[terminal][nth]) bits[t / 64] |= u64{1} << (t % 64);
  }

  /// One destination: a packet of the ordinary kind.
  void send(u32 from, const std::vector<u32>& to, Tick birth, u32 flits) {
    core::Message message;
    message.birth = birth;
    message.flits = flits;
    message.destination = to.front();
    if (to.size() > 1) message.copies = message.offers = static_cast<u16>(to.size());
    messages[from].push_back(message);
    sets[from].push_back(to);
    longest = std::max(longest, flits);
  }

  std::vector<std::vector<core::Message>> messages;
  std::vector<std::vector<std::vector<u32>>> sets;
  u32 longest = 1;
  bool with_worms = true;  ///< some may have several destinations
};

struct WormRig {
  WormRig(const std::string& topology_name, const Given& shape, std::string switch_name, Given values,
          const std::string& routing_name = "nearest_common_ancestor", const Given& routing_values = {},
          engine::EngineSettings settings = {})
      : switch_name_(std::move(switch_name)), values_(std::move(values)), settings_(settings) {
    const auto& row = row_named(core::topology_rows(), topology_name);
    topology = row.make(values_of(row.info, shape));
    const auto& how = row_named(core::routing_rows(), routing_name);
    routing = how.make(values_of(how.info, routing_values), {topology.get(), {}, 1});
    worms = std::make_unique<Worms>(topology->graph().terminals());
    pointer_ = worms.get();
  }

  void build() {
    engine::Builder builder(*topology, *routing, std::span<core::Traffic* const>(&pointer_, 1), {}, settings_);
    const auto& row = row_named(core::switching_rows(), switch_name_);
    row.install(values_of(row.info, values_), builder);
    machine = std::make_unique<engine::Machine>(builder.take_shards(), std::span<core::Traffic* const>(&pointer_, 1),
                                                builder.window(), 1);
    machine->reset(0);
    machine->set_window({0, kNever - 1});
  }
  /// Everything that was sent, audited now and then; false when it does not arrive within `limit` cycles.
  bool run(Tick limit = 1'000'000, Tick audit_every = 64) {
    if (machine == nullptr) build();
    for (Tick now = audit_every; now <= limit; now += audit_every) {
      machine->run_until(now);
      machine->audit();
      if (machine->next() == kNever) break;
    }
    return machine->totals().taken == machine->totals().delivered && machine->next() == kNever;
  }
  [[nodiscard]] engine::LatencySums tally() const { return machine->tallies()[0]; }
  /// Latency of a lone worm: to the last of its destinations, and to the first.
  struct Lone {
    Tick last = 0;
    Tick first = 0;
  };
  Lone lone(u32 from, const std::vector<u32>& to, u32 flits, Tick birth = 11) {
    worms->messages.assign(worms->messages.size(), {});
    worms->sets.assign(worms->sets.size(), {});
    worms->send(from, to, birth, flits);
    machine.reset(0);
    EXPECT_TRUE(run());
    const engine::LatencySums t = tally();
    return {t.multicasts + t.unicasts == 1 ? t.multicast_last + t.unicast_latency : 0,
            t.multicast_first + t.unicast_latency};
  }

  std::unique_ptr<core::Topology> topology;
  std::unique_ptr<core::Routing> routing;
  std::unique_ptr<Worms> worms;
  std::unique_ptr<engine::Machine> machine;

 private:
  std::string switch_name_;
  Given values_;
  engine::EngineSettings settings_;
  core::Traffic* pointer_ = nullptr;
};

/// Switches between two hosts of the tree of 8-port switches: 1, 3, 5 ...
inline u32 switches_between(const core::Tree& tree, u32 a, u32 b) {
  u32 level = 0;
  for (; level + 1 < tree.levels.size(); ++level) {
    const core::TreeLevel& l = tree.levels[level];
    if (a / l.key_divide % l.key_modulo == b / l.key_divide % l.key_modulo) break;
  }
  return 2 * level + 1;
}

/// Worms of 1 to N - 1 destinations and of every length that holds their header.
inline void random_worms(test::Worms& worms, u32 each, Tick span, u32 longest, u64 salt) {
  const u32 terminals = static_cast<u32>(worms.messages.size());
  const u32 header = 1 + (terminals + 15) / 16;
  for (u32 t = 0; t < terminals; ++t) {
    for (u32 i = 0; i < each; ++i) {
      u64 word = mix64(salt + t * 1000003ULL + i);
      const u32 degree = 1 + static_cast<u32>(word % (terminals - 1));
      const u32 flits = header + static_cast<u32>((word >> 32U) % (longest - header + 1));
      std::vector<u32> to;
      while (to.size() < degree) {
        word = mix64(word);
        const u32 d = static_cast<u32>(word % terminals);
        if (d != t && std::find(to.begin(), to.end(), d) == to.end()) to.push_back(d);
      }
      worms.send(t, to, i * span / each, flits);
    }
  }
}

/// Sends packets of all lengths up to one with one destination each.
inline void random_packets(test::Worms& worms, u32 each, u32 longest, u64 salt) {
  worms.with_worms = false;
  const u32 terminals = static_cast<u32>(worms.messages.size());
  for (u32 t = 0; t < terminals; ++t) {
    for (u32 i = 0; i < each; ++i) {
      const u64 word = mix64(mix64(salt) + t * 1000003ULL + i);
      worms.send(t, {(t + 1 + static_cast<u32>(word % (terminals - 1))) % terminals}, i,
                 1 + static_cast<u32>((word >> 32U) % longest));
    }
  }
}

/// The value that a word draws; the word becomes the next one.
template <class T>
T one_of(u64& word, std::initializer_list<T> values) {
  const T found = values.begin()[word % values.size()];
  word = mix64(word);
  return found;
}

/// A bidirectional MIN of 8-port switches.
inline Given tree(i64 hosts, i64 ports = 8) { return {{"hosts", hosts}, {"ports", ports}}; }

}  // namespace banyan::test
