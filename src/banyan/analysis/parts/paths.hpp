// The paths of the actual routing function between two terminals of an empty network, each with its probability: where
// the switch is offered several next steps, or the routing function draws one of several, every port of the highest
// priority is taken equally often.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "banyan/analysis/parts/traffic_matrix.hpp"

namespace banyan::analysis::parts {

class Paths {
 public:
  static constexpr u64 kMostWalks = u64{1} << 21U;  ///< pairs times headers
  static constexpr u32 kMostHops = 4096;

  Paths(const config::Values& values, const core::AnalysisContext& context)
      : graph_(context.topology->graph()), routing_(*context.router), values_(values), vcs_(context.vcs) {
    if (routing_.sight() != core::Sight::none) {
      values.fail("name", fmt::format("{} follows paths, and the routing chooses them by queues", values.component()),
                  "use a routing that does not look at queues");
    }
    u64 walks = 0;
    for (u32 s = 0; s < graph_.terminals(); ++s) {
      for (u32 d = 0; d < graph_.terminals(); ++d) walks += routing_.headers(s, d);
    }
    if (walks > kMostWalks) {
      values.fail("name", fmt::format("{} would follow {} paths", values.component(), walks),
                  "use a smaller network, or a routing with fewer paths per pair");
    }
  }

  /// Calls visit(channel, probability) for every channel from terminal to terminal; a channel may come several times.
  template <class Visit>
  void follow(u32 source, u32 destination, const Visit& visit) {
    follow_vcs(source, destination, [&](u32 channel, double share, u32, u32) { visit(channel, share); });
  }
  /// The same with the virtual channels [begin, end) that may be taken: visit(channel, probability, begin, end).
  template <class Visit>
  void follow_vcs(u32 source, u32 destination, const Visit& visit) {
    const u32 headers = routing_.headers(source, destination);
    for (u32 h = 0; h < headers; ++h) {
      core::Packet packet;
      packet.source = source;
      packet.destination = destination;
      const u64 word = ((static_cast<u64>(h) << 32U) + (u64{1} << 31U)) / headers;
      routing_.prepare(packet, static_cast<u32>(word));
      walk(packet, 1.0 / headers, visit);
    }
  }
  /// True when some step offered the switch a choice so far: then loads depend on how switches choose, and bound
  /// nothing. A choice that the routing function draws by itself is no such step: its mean loads are what they are.
  [[nodiscard]] bool chose() const noexcept { return chose_; }

 private:
  using Place = std::tuple<u32, u32, u32>;  ///< switch, input port, virtual channel

  /// A port of the highest priority. The virtual channels of all candidates for it, and the first of the best one.
  struct Way {
    u32 port;
    u32 begin;
    u32 end;
    u32 vc;
  };

  /// Paths mostly do not branch: one place is followed without a table of places.
  template <class Visit>
  void walk(core::Packet& packet, double weight, const Visit& visit) {
    const u32 injection = graph_.injection(packet.source);
    const auto [begin, end] = routing_.entry_vcs(packet.vc_class, vcs_);
    visit(injection, weight, begin, end);
    const core::End first = graph_.channel(injection).to;
    std::map<Place, double> here;
    Place place{first.node, first.port, begin};
    u32 hops = 0;
    for (;; ++hops) {
      require_end(packet, hops);
      choose(packet, place);
      if (ways_.size() != 1) break;  // none: lost
      const u32 channel = graph_.channel_out_of(std::get<0>(place), ways_[0].port);
      visit(channel, weight, ways_[0].begin, ways_[0].end);
      const core::End to = graph_.channel(channel).to;
      if (to.terminal) return;
      place = {to.node, to.port, ways_[0].vc};
    }
    here[place] = weight;
    for (; !here.empty(); ++hops) {
      require_end(packet, hops);
      std::map<Place, double> next;
      for (const auto& [at, share] : here) step(packet, at, share, visit, next);
      here = std::move(next);
    }
  }
  void require_end(const core::Packet& packet, u32 hops) const {
    if (hops < kMostHops) return;
    values_.fail("name", fmt::format("the path from {} to {} does not end", packet.source, packet.destination),
                 "use a routing that reaches every terminal");
  }
  template <class Visit>
  void step(const core::Packet& packet, const Place& place, double share, const Visit& visit,
            std::map<Place, double>& next) {
    choose(packet, place);
    const double part = share / static_cast<double>(ways_.size());
    for (const Way& way : ways_) {
      const u32 channel = graph_.channel_out_of(std::get<0>(place), way.port);
      visit(channel, part, way.begin, way.end);
      const core::End to = graph_.channel(channel).to;
      if (!to.terminal) next[{to.node, to.port, way.vc}] += part;
    }
  }
  /// Fills ways_ for a packet's head at a place.
  void choose(const core::Packet& packet, const Place& place) {
    const auto [at, port, vc] = place;
    candidates_.clear();
    routing_.route({at, port, vc, &packet, 0, nullptr}, candidates_);
    best_ports();
    if (ways_.size() > 1) {
      chose_ = true;
      return;
    }
    candidates_.clear();
    routing_.all_candidates({at, port, vc, &packet, 0, nullptr}, candidates_);
    best_ports();
  }
  void best_ports() {
    u32 best = 0;
    for (const core::Candidate& c : candidates_) best = std::max<u32>(best, c.priority);
    ways_.clear();
    for (const core::Candidate& c : candidates_) {
      const bool seen = std::any_of(ways_.begin(), ways_.end(), [&](const Way& way) { return way.port == c.port; });
      if (c.priority == best && !seen) ways_.push_back({c.port, c.vc_begin, c.vc_end, c.vc_begin});
    }
    for (const core::Candidate& c : candidates_) {
      for (Way& way : ways_) {
        if (way.port != c.port) continue;
        way.begin = std::min<u32>(way.begin, c.vc_begin);
        way.end = std::max<u32>(way.end, c.vc_end);
      }
    }
  }

  const core::Graph& graph_;
  const core::Routing& routing_;
  const config::Values& values_;
  u32 vcs_;
  core::Candidates candidates_;
  std::vector<Way> ways_;
  bool chose_ = false;
};

}  // namespace banyan::analysis::parts
