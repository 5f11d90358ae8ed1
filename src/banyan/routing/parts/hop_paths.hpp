// Shortest paths on any graph, by tables of distances; virtual channels climb one class per hop, so that dependencies
// cannot close a circle (Gunther 1981; Merlin and Schweitzer 1980).
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/routing/parts/places.hpp"

namespace banyan::routing::parts {

/// Distances from every switch to every switch that has terminals, over working channels.
class HopPaths {
 public:
  /// Throws ConfigError where a pair of terminals is cut off, and where the table would be too large.
  HopPaths(const config::Values& values, const core::RoutingContext& context)
      : graph_(&context.topology->graph()), places_(*graph_), column_(graph_->switches(), kNone) {
    require_one_switch_per_terminal(values, context);
    for (u32 t = 0; t < graph_->terminals(); ++t) {
      const u32 s = places_.switch_of(t);
      if (column_[s] != kNone) continue;
      column_[s] = static_cast<u32>(hosts_.size());
      hosts_.push_back(s);
    }
    if (hosts_.size() * graph_->switches() > kMostEntries) {
      values.fail(
          "name",
          fmt::format("{} would need a table of {} distances", values.component(), hosts_.size() * graph_->switches()),
          fmt::format("use a network of less than {} switches", 8192));
    }
    distance_.assign(hosts_.size() * graph_->switches(), kFar);
    for (std::size_t i = 0; i < hosts_.size(); ++i) fill(i);
    check(values);
  }

  [[nodiscard]] const Places& places() const noexcept { return places_; }
  /// Switches with terminals.
  [[nodiscard]] const std::vector<u32>& hosts() const noexcept { return hosts_; }
  /// Channels on the longest of the shortest paths between terminals' switches, at least 1.
  [[nodiscard]] u32 diameter() const noexcept { return diameter_; }
  /// Channels from a switch to a switch with terminals.
  [[nodiscard]] u32 distance(u32 at, u32 host) const noexcept { return distance_[row(column_[host]) + at]; }

  /// Whether all shortest paths between terminals lead up the levels of the topology and then down, as on trees: then
  /// no dependencies close a circle, whatever virtual channels packets take.
  [[nodiscard]] bool up_then_down() const {
    if (graph_->levels() < 2) return false;
    std::vector<u8> reached(graph_->switches());
    std::vector<u8> gone_down(graph_->switches());
    std::vector<std::vector<u32>> at_distance(std::size_t{diameter_} + 1);
    for (const u32 target : hosts_) {
      std::fill(reached.begin(), reached.end(), u8{0});
      std::fill(gone_down.begin(), gone_down.end(), u8{0});
      for (auto& list : at_distance) list.clear();
      for (u32 s = 0; s < graph_->switches(); ++s) {
        if (distance(s, target) <= diameter_) at_distance[distance(s, target)].push_back(s);
      }
      for (const u32 host : hosts_) reached[host] = 1;
      bool legal = true;
      for (u32 far = diameter_; far > 0; --far) {
        for (const u32 s : at_distance[far]) {
          if (reached[s] == 0) continue;
          nearer(s, target, [&](u32 port) {
            const u32 next = graph_->channel(graph_->channel_out_of(s, port)).to.node;
            reached[next] = 1;
            if (graph_->level(next) < graph_->level(s)) {
              gone_down[next] = 1;
            } else if (graph_->level(next) == graph_->level(s) || gone_down[s] != 0) {
              legal = false;
            }
          });
          if (!legal) return false;
        }
      }
    }
    return true;
  }

  /// Calls visit(port) for every port that leads nearer to a switch with terminals.
  template <typename Visit>
  void nearer(u32 at, u32 host, const Visit& visit) const noexcept {
    const u16* const distance = &distance_[row(column_[host])];
    for (u32 port = 0; port < graph_->outputs(at); ++port) {
      const u32 c = graph_->channel_out_of(at, port);
      if (c == kNone || graph_->channel(c).failed || graph_->channel(c).to.terminal) continue;
      if (distance[graph_->channel(c).to.node] + 1 == distance[at]) visit(port);
    }
  }
  /// One of those ports, by the word that `word` gives; it is asked only where there is a choice.
  template <typename Word>
  [[nodiscard]] u32 choose(u32 at, u32 host, const Word& word) const noexcept {
    u32 count = 0;
    nearer(at, host, [&](u32) { ++count; });
    u32 left = count > 1 ? below(word(), count) : 0;
    u32 chosen = 0;
    nearer(at, host, [&](u32 port) {
      if (left-- == 0) chosen = port;
    });
    return chosen;
  }
  /// The lowest of those ports.
  [[nodiscard]] u32 lowest(u32 at, u32 host) const noexcept {
    u32 found = kNone;
    nearer(at, host, [&](u32 port) { found = std::min(found, port); });
    return found;
  }
  /// The same word for a switch and a goal: a fixed choice.
  [[nodiscard]] static u32 fixed_word(u32 at, u32 host) noexcept {
    return static_cast<u32>(mix64(static_cast<u64>(at) << 32U | host) >> 32U);
  }

 private:
  static constexpr u16 kFar = 0xffff;
  static constexpr std::size_t kMostEntries = std::size_t{1} << 26U;

  [[nodiscard]] std::size_t row(u32 column) const noexcept { return std::size_t{column} * graph_->switches(); }

  /// Breadth first against the channels.
  void fill(std::size_t column) {
    u16* const distance = &distance_[row(static_cast<u32>(column))];
    std::vector<u32> queue{hosts_[column]};
    distance[hosts_[column]] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (u32 port = 0; port < graph_->inputs(queue[i]); ++port) {
        const u32 c = graph_->channel_into(queue[i], port);
        if (c == kNone || graph_->channel(c).failed || graph_->channel(c).from.terminal) continue;
        const u32 from = graph_->channel(c).from.node;
        if (distance[from] != kFar) continue;
        distance[from] = static_cast<u16>(distance[queue[i]] + 1);
        queue.push_back(from);
      }
    }
  }

  void check(const config::Values& values) {
    for (u32 d = 0; d < graph_->terminals(); ++d) {
      for (const u32 s : hosts_) {
        const u32 length = distance(s, places_.switch_of(d));
        if (length != kFar) {
          diameter_ = std::max(diameter_, length);
          continue;
        }
        u32 source = 0;
        while (places_.switch_of(source) != s) ++source;
        values.fail("name", fmt::format("no path leads from terminal {} to terminal {}", source, d),
                    "let fewer links and switches fail");
      }
    }
  }

  const core::Graph* graph_;
  Places places_;
  std::vector<u32> column_;
  std::vector<u32> hosts_;
  std::vector<u16> distance_;
  u32 diameter_ = 1;
};

}  // namespace banyan::routing::parts
