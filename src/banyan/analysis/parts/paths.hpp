// The paths of the actual routing function between two terminals of an empty network, each with its probability: where
// the switch is offered several next steps, or the routing function draws one of several, every port of the highest
// priority is taken equally often. Of a routing function that looks at queues, on request, all that it may answer is
// taken equally often.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "banyan/analysis/parts/traffic_matrix.hpp"

namespace banyan::analysis::parts {

class Paths {
 public:
  static constexpr u64 kMostWalks = u64{1} << 21U;  ///< pairs times headers
  static constexpr u32 kMostHops = 4096;

  Paths(const config::Values& values, const core::AnalysisContext& context, bool whatever_queues = false)
      : graph_(context.topology->graph()), routing_(*context.router), values_(values), vcs_(context.vcs) {
    by_queues_ = routing_.sight() != core::Sight::none;
    if (by_queues_ && !whatever_queues) {
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
      core::Packet packet = prepared(source, destination, h, headers);
      walk(packet, 1.0 / headers, visit);
    }
  }
  /// The channels that no packet of a pair can avoid, whatever switches and queues choose: calls visit(channel,
  /// probability), once per header that prepare() may choose. Looks at `most` places at most, which it counts down;
  /// false: that was too few.
  template <class Visit>
  [[nodiscard]] bool follow_forced(u32 source, u32 destination, u64& most, const Visit& visit) {
    const u32 headers = routing_.headers(source, destination);
    for (u32 h = 0; h < headers; ++h) {
      const core::Packet packet = prepared(source, destination, h, headers);
      const auto [begin, end] = routing_.entry_vcs(packet.vc_class, vcs_);
      const core::End first = graph_.channel(graph_.injection(source)).to;
      std::map<Range, std::vector<u32>> known;
      for (const u32 channel : forced_from(packet, {first.node, first.port, begin, end}, known, most)) {
        visit(channel, 1.0 / headers);
      }
      if (most == 0) return false;
    }
    return true;
  }
  /// True when some step offered the switch a choice so far: then loads depend on how switches choose, and bound
  /// nothing. A choice that the routing function draws by itself is no such step: its mean loads are what they are.
  [[nodiscard]] bool chose() const noexcept { return chose_; }

 private:
  using Place = std::tuple<u32, u32, u32>;       ///< switch, input port, virtual channel
  using Range = std::tuple<u32, u32, u32, u32>;  ///< switch, port, virtual channels [begin, end)

  /// A port of the highest priority. The virtual channels of all candidates for it, and the first of the best one.
  struct Way {
    u32 port;
    u32 begin;
    u32 end;
    u32 vc;
  };

  [[nodiscard]] core::Packet prepared(u32 source, u32 destination, u32 header, u32 headers) const {
    core::Packet packet;
    packet.source = source;
    packet.destination = destination;
    const u64 word = ((static_cast<u64>(header) << 32U) + (u64{1} << 31U)) / headers;
    routing_.prepare(packet, static_cast<u32>(word));
    return packet;
  }

  /// Channels on every way from a place, whichever of its virtual channels the packet is on; sorted. A way that comes
  /// back to a place is taken to avoid all of them.
  [[nodiscard]] std::vector<u32> forced_from(const core::Packet& packet, const Range& range,
                                             std::map<Range, std::vector<u32>>& known, u64& most) {
    if (const auto found = known.find(range); found != known.end()) return found->second;
    if (most == 0 || --most == 0) return {};
    const auto [at, port, begin, end] = range;
    std::vector<Range> steps;  // the port is that of the output
    for (u32 vc = begin; vc < end; ++vc) {
      candidates_.clear();
      routing_.all_candidates({at, port, vc, &packet, 0, nullptr}, candidates_);
      for (const core::Candidate& c : candidates_) steps.emplace_back(at, c.port, c.vc_begin, c.vc_end);
    }
    std::ranges::sort(steps);
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    known[range] = {};
    std::optional<std::vector<u32>> forced;
    for (const auto& [from, out, first, last] : steps) {
      const u32 channel = graph_.channel_out_of(from, out);
      const core::End to = graph_.channel(channel).to;
      std::vector<u32> way;
      if (!to.terminal) way = forced_from(packet, {to.node, to.port, first, last}, known, most);
      way.insert(std::ranges::lower_bound(way, channel), channel);
      if (!forced) {
        forced = std::move(way);
      } else {
        std::erase_if(*forced, [&](u32 other) { return !std::ranges::binary_search(way, other); });
      }
    }
    return known[range] = forced.value_or(std::vector<u32>{});
  }

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
    if (!by_queues_) {
      candidates_.clear();
      routing_.route({at, port, vc, &packet, 0, nullptr}, candidates_);
      best_ports();
      if (ways_.size() > 1) {
        chose_ = true;
        return;
      }
    }
    candidates_.clear();
    routing_.all_candidates({at, port, vc, &packet, 0, nullptr}, candidates_);
    best_ports();
    chose_ = chose_ || (by_queues_ && ways_.size() > 1);
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
  bool by_queues_ = false;
  bool chose_ = false;
};

}  // namespace banyan::analysis::parts
