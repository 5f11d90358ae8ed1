// The paths of the actual routing function between two terminals of an empty network, each with its probability: where
// several next steps are offered, every port of the highest priority is taken equally often.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "banyan/analysis/parts/traffic_matrix.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/rng.hpp"

namespace banyan::analysis::parts {

class Paths {
 public:
  static constexpr u64 kMostWalks = u64{1} << 21U;  ///< pairs times headers
  static constexpr u32 kMostHops = 4096;

  Paths(const config::Values& values, const core::AnalysisContext& context)
      : graph_(context.topology->graph()), routing_(*context.router), values_(values) {
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
  /// True when some step offered a choice so far: then loads depend on how switches choose, and bound nothing.
  [[nodiscard]] bool chose() const noexcept { return chose_; }

 private:
  using Place = std::tuple<u32, u32, u32>;  ///< switch, input port, virtual channel

  template <class Visit>
  void walk(core::Packet& packet, double weight, const Visit& visit) {
    const u32 injection = graph_.injection(packet.source);
    visit(injection, weight);
    const core::End first = graph_.channel(injection).to;
    std::map<Place, double> here{{{first.node, first.port, 0}, weight}};
    for (u32 hops = 0; !here.empty(); ++hops) {
      if (hops == kMostHops) {
        values_.fail("name", fmt::format("the path from {} to {} does not end", packet.source, packet.destination),
                     "use a routing that reaches every terminal");
      }
      std::map<Place, double> next;
      for (const auto& [place, share] : here) step(packet, place, share, visit, next);
      here = std::move(next);
    }
  }
  template <class Visit>
  void step(const core::Packet& packet, const Place& place, double share, const Visit& visit,
            std::map<Place, double>& next) {
    const auto [at, port, vc] = place;
    core::Candidates candidates;
    // A fixed word of the pair: an analysis has no seed, and its answer is the same every time.
    const u32 word = static_cast<u32>(mix64(static_cast<u64>(packet.source) << 32U | packet.destination));
    routing_.route({at, port, vc, &packet, word, nullptr}, candidates);
    u32 best = 0;
    for (const core::Candidate& c : candidates) best = std::max<u32>(best, c.priority);
    std::vector<core::Candidate> ways;
    for (const core::Candidate& c : candidates) {
      const bool seen = std::any_of(ways.begin(), ways.end(), [&](const auto& way) { return way.port == c.port; });
      if (c.priority == best && !seen) ways.push_back(c);
    }
    chose_ = chose_ || ways.size() > 1;
    for (const core::Candidate& way : ways) {
      const u32 channel = graph_.channel_out_of(at, way.port);
      const double part = share / static_cast<double>(ways.size());
      visit(channel, part);
      const core::End to = graph_.channel(channel).to;
      if (!to.terminal) next[{to.node, to.port, way.vc_begin}] += part;
    }
  }

  const core::Graph& graph_;
  const core::Routing& routing_;
  const config::Values& values_;
  bool chose_ = false;
};

}  // namespace banyan::analysis::parts
