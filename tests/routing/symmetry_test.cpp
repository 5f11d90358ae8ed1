// Do channels that a symmetry of the network maps onto each other carry the same load under uniform traffic? Expected
// loads are added up exactly: every pair, every header, and every next step that a routing function may choose by its
// random word. That these steps are equally frequent is a test of its own.
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "routing/spaces.hpp"

namespace banyan::test::symmetry_test {
namespace {

constexpr u32 kVcs = 16;

/// A network, and a name for each of its channels that is the same for channels which a symmetry exchanges.
struct Symmetric {
  std::string name;
  std::unique_ptr<core::Topology> topology;
  std::function<std::string(const core::Channel&)> orbit;
};

std::string text(const Sizes& size) {
  std::string joined;
  for (const i64 k : size) joined += " " + std::to_string(k);
  return joined;
}

/// Translations and reflections of a torus, a hypercube or a HyperX exchange all channels of a dimension.
std::string dimension_of(const core::Topology& t, const core::Channel& c) {
  const std::vector<u32>& size = t.grid() != nullptr ? t.grid()->size : t.hyperx()->size;
  u32 stride = 1;
  for (std::size_t d = 0; d < size.size(); ++d) {
    if (c.from.node / stride % size[d] != c.to.node / stride % size[d]) return std::to_string(d);
    stride *= size[d];
  }
  return "none";
}

/// Reflections of a mesh.
std::string place_on_mesh(const core::Grid& grid, const core::Channel& c) {
  std::string place;
  u32 stride = 1;
  for (const u32 k : grid.size) {
    const u32 from = c.from.node / stride % k;
    const u32 to = c.to.node / stride % k;
    const auto mirrored = [&](u32 x) { return k - 1 - x; };
    const auto pair = std::min(std::pair{from, to}, std::pair{mirrored(from), mirrored(to)});
    place += fmt::format("{}>{} ", pair.first, pair.second);
    stride *= k;
  }
  return place;
}

std::vector<Symmetric> symmetric_networks() {
  std::vector<Symmetric> list;
  const auto add = [&](std::string name, std::unique_ptr<core::Topology> t, auto orbit) {
    const core::Topology* topology = t.get();
    list.push_back({std::move(name), std::move(t),
                    [topology, orbit](const core::Channel& c) { return std::string(orbit(*topology, c)); }});
  };
  for (const Sizes& size : {Sizes{8}, {5, 3}, {4, 4}, {6, 6}, {6, 4}, {4, 2, 4}}) {
    add("torus" + text(size), torus_of(size), dimension_of);
  }
  add("torus 4 4, 2 terminals per switch", topology("torus", {{"size", Sizes{4, 4}}, {"concentration", i64{2}}}),
      dimension_of);
  add("hypercube 4", cube_of(4), dimension_of);
  add("hyperx 4 3", hyperx_of({4, 3}), dimension_of);
  for (const Sizes& size : {Sizes{4, 4}, {5, 3}}) {
    add("mesh" + text(size), mesh_of(size),
        [](const core::Topology& t, const core::Channel& c) { return place_on_mesh(*t.grid(), c); });
  }
  const auto level = [](const core::Topology& t, const core::Channel& c) {
    return fmt::format("{}>{}", t.graph().level(c.from.node), t.graph().level(c.to.node));
  };
  add("fat_tree 4 2", topology("fat_tree", {{"arity", i64{4}}, {"levels", i64{2}}}), level);
  add("fat_tree 2 4", topology("fat_tree", {{"arity", i64{2}}, {"levels", i64{4}}}), level);
  add("xgft 4 4 1 2", topology("xgft", {{"children", Sizes{4, 4}}, {"parents", Sizes{1, 2}}}), level);
  for (const char* wiring : {"perfect_shuffle", "k_ary_n_tree"}) {
    for (const auto& [hosts, ports] : {std::pair<i64, i64>{64, 8}, {32, 8}, {8, 8}, {16, 4}}) {
      add(fmt::format("bidirectional_min {} {} {}", hosts, ports, wiring),
          topology("bidirectional_min", {{"hosts", hosts}, {"ports", ports}, {"wiring", std::string(wiring)}}), level);
    }
  }
  add("multistage_cube 16", topology("multistage_cube", {{"terminals", i64{16}}, {"radix", i64{2}}}), level);
  add("extra_stage_cube 16", topology("extra_stage_cube", {{"terminals", i64{16}}, {"radix", i64{2}}}), level);
  // Of 50 switches: the graph of Hoffman and Singleton, any edge of which can be mapped onto any other.
  add("slim_fly 5", topology("slim_fly", {{"q", i64{5}}, {"concentration", i64{1}}}),
      [](const core::Topology&, const core::Channel&) { return "all"; });
  // Groups are turned into each other.
  add("dragonfly",
      topology("dragonfly", {{"terminals_per_router", i64{1}},
                             {"routers_per_group", i64{3}},
                             {"global_ports", i64{1}},
                             {"arrangement", std::string("palm_tree")}}),
      [](const core::Topology& t, const core::Channel& c) {
        return fmt::format("{}:{}", c.from.node % t.dragonfly()->routers, c.from.port);
      });
  return list;
}

/// Flits per channel when every pair sends one flit.
class Loads {
 public:
  Loads(const core::Topology& topology, const core::Routing& routing)
      : graph_(topology.graph()), routing_(routing), load_(graph_.channels().size(), 0.0) {
    for (u32 s = 0; s < graph_.terminals(); ++s) {
      for (u32 d = 0; d < graph_.terminals(); ++d) {
        const u32 headers = routing.headers(s, d);
        for (u32 h = 0; h < headers; ++h) {
          packet_ = {};
          packet_.source = s;
          packet_.destination = d;
          routing.prepare(packet_, static_cast<u32>(((u64{h} << 32U) + (u64{1} << 31U)) / headers));
          walk(graph_.channel(graph_.injection(s)).to, 0, 1.0 / headers, 0);
        }
      }
    }
  }
  [[nodiscard]] const std::vector<double>& of_channels() const { return load_; }
  /// The packet and the place of steps with a choice, as many as a test wants.
  [[nodiscard]] const std::vector<std::pair<core::Packet, core::RouteRequest>>& choices() const { return choices_; }

 private:
  void walk(const core::End& at, u32 vc, double share, u32 depth) {
    ASSERT_LT(depth, 64U);
    core::RouteRequest request;
    request.at = at.node;
    request.in_port = at.port;
    request.in_vc = vc;
    request.packet = &packet_;
    core::Candidates candidates;
    routing_.all_candidates(request, candidates);
    const bool escapes = std::any_of(candidates.begin(), candidates.end(), [](const auto& c) { return c.escape; });
    std::map<u32, core::Candidate> ways;  // of adaptive functions with an escape: the escape alone
    for (const core::Candidate& c : candidates) {
      if (c.escape || !escapes) ways.try_emplace(c.port, c);
    }
    if (ways.size() > 1 && choices_.size() < 40) choices_.emplace_back(packet_, request);
    for (const auto& [port, candidate] : ways) {
      const u32 c = graph_.channel_out_of(at.node, port);
      const double part = share / static_cast<double>(ways.size());
      load_[c] += part;
      if (!graph_.channel(c).to.terminal) walk(graph_.channel(c).to, candidate.vc_begin, part, depth + 1);
    }
  }

  const core::Graph& graph_;
  const core::Routing& routing_;
  core::Packet packet_;
  std::vector<double> load_;
  std::vector<std::pair<core::Packet, core::RouteRequest>> choices_;
};

/// Of routing functions with a choice by the random word alone: every step that may come comes equally often.
void expect_equal_choice(const core::Routing& routing, const Loads& loads) {
  if (routing.sight() != core::Sight::none) return;
  constexpr u32 kTrials = 2000;
  for (const auto& [packet, place] : loads.choices()) {
    core::RouteRequest request = place;
    request.packet = &packet;
    core::Candidates all;
    routing.all_candidates(request, all);
    std::map<u32, u32> count;
    for (u32 i = 0; i < kTrials; ++i) {
      request.random = static_cast<u32>(mix64(i + 1) >> 20U);
      core::Candidates chosen;
      routing.route(request, chosen);
      u32 ports = 0;
      for (const core::Candidate& c : chosen) {
        const bool escapes = std::any_of(all.begin(), all.end(), [](const auto& x) { return x.escape; });
        if (escapes && !c.escape) continue;
        ++count[c.port];
        ++ports;
      }
      if (ports != 1) return;  // the switch chooses, and not the routing function
    }
    const double mean = static_cast<double>(kTrials) / static_cast<double>(count.size());
    for (const auto& [port, times] : count) EXPECT_NEAR(times, mean, 5 * std::sqrt(mean)) << "port " << port;
  }
}

/// Whether prepare() makes no headers but those that headers() counts, each as often: analyses rely on it.
void expect_all_headers(const core::Topology& topology, const core::Routing& routing) {
  const auto header = [&](u32 source, u32 destination, u32 word) {
    core::Packet packet;
    packet.source = source;
    packet.destination = destination;
    routing.prepare(packet, word);
    return std::tuple{packet.tag, packet.state, packet.vc_class};
  };
  constexpr u32 kTrials = 2000;
  const u32 n = topology.graph().terminals();
  for (const auto& [s, d] : {std::pair{0U, n - 1}, std::pair{1U, n / 2}, std::pair{n / 2, 0U}}) {
    const u32 headers = routing.headers(s, d);
    if (headers > 100) continue;                                          // too few trials for each
    std::map<std::tuple<u64, u64, u8>, std::pair<double, double>> share;  // counted, drawn
    for (u32 h = 0; h < headers; ++h) {
      const u32 word = static_cast<u32>(((u64{h} << 32U) + (u64{1} << 31U)) / headers);
      share[header(s, d, word)].first += kTrials / static_cast<double>(headers);
    }
    for (u32 i = 0; i < kTrials; ++i) share[header(s, d, static_cast<u32>(mix64(i + 1) >> 20U))].second += 1.0;
    for (const auto& [made, counts] : share) {
      EXPECT_NEAR(counts.first, counts.second, 5 * std::sqrt(counts.first)) << s << " to " << d;
    }
  }
}

/// The default of a routing function and each value of its choices, one at a time.
std::vector<Settings> variants(const config::ComponentInfo& info) {
  std::vector<Settings> list{{}};
  for (const config::Parameter& p : info.parameters) {
    for (const std::string& choice : p.choices) {
      if (config::Value(choice) != *p.fallback) list.push_back({{p.name, choice}});
    }
    if (p.type == config::Type::boolean) list.push_back({{p.name, !std::get<bool>(*p.fallback)}});
  }
  return list;
}

/// Routing functions that prefer some channels by their definition.
const std::map<std::string, std::string> kUnequalByDefinition{
    {"turn_model", "forbids turns of one sense only"},
    {"up_down", "has a root"},
    {"fully_adaptive directions=up", "goes one way around"},
    {"shortest_path choice=fixed", "a hash of switch and destination"},
    {"shortest_path choice=first", "the lowest port"},
    {"nearest_common_ancestor up=hashed", "a hash of source and destination"},
    {"valiant hop_classes=false", "the lowest port"},
    {"ugal hop_classes=false", "the lowest port"},
};
/// They count digits from the hosts, and the perfect shuffle joins the stages by others: `banyan check` says so.
bool counts_other_digits(const std::string& network, const std::string& routing) {
  return network.ends_with("perfect_shuffle") && (routing.ends_with("up=d_mod_k") || routing.ends_with("up=s_mod_k"));
}

/// Headers of all pairs: how long it takes to follow them.
u64 headers_of(const core::Topology& topology, const core::Routing& routing) {
  u64 sum = 0;
  for (u32 s = 0; s < topology.graph().terminals(); ++s) {
    for (u32 d = 0; d < topology.graph().terminals(); ++d) sum += routing.headers(s, d);
  }
  return sum;
}
constexpr u64 kMostHeaders = 50'000;  ///< of a larger network there is a smaller sibling

TEST(Symmetry, ChannelsThatASymmetryExchangesCarryTheSameLoad) {
  std::set<std::string> tested;
  for (const Symmetric& network : symmetric_networks()) {
    for (const core::RoutingRow* row : core::routing_rows()) {
      if (kUnequalByDefinition.contains(row->info.name)) continue;
      for (const Settings& given : variants(row->info)) {
        std::string name = row->info.name;
        for (const auto& [key, value] : given) {
          const std::string* chosen = std::get_if<std::string>(&value);
          name += " " + key + "=" + (chosen != nullptr ? *chosen : std::get<bool>(value) ? "true" : "false");
        }
        if (kUnequalByDefinition.contains(name) || counts_other_digits(network.name, name)) continue;
        SCOPED_TRACE(network.name + ", " + name);
        std::unique_ptr<core::Routing> r;
        try {
          r = routing(row->info.name, *network.topology, kVcs, given);
        } catch (const ConfigError&) { continue; }  // does not exist there
        expect_all_headers(*network.topology, *r);
        if (headers_of(*network.topology, *r) > kMostHeaders) continue;
        const Loads loads(*network.topology, *r);
        std::map<std::string, std::pair<double, double>> range;
        const core::Graph& graph = network.topology->graph();
        for (u32 c = 0; c < graph.channels().size(); ++c) {
          const core::Channel& channel = graph.channel(c);
          if (channel.from.terminal || channel.to.terminal) continue;
          const double load = loads.of_channels()[c];
          auto& [low, high] = range.try_emplace(network.orbit(channel), load, load).first->second;
          low = std::min(low, load);
          high = std::max(high, load);
        }
        for (const auto& [orbit, bounds] : range) {
          EXPECT_NEAR(bounds.first, bounds.second, 1e-9 * bounds.second) << "channels " << orbit;
        }
        expect_equal_choice(*r, loads);
        tested.insert(row->info.name);
      }
    }
  }
  for (const char* name : {"dimension_order", "valiant", "romm", "ugal", "o1turn", "minimal_adaptive",
                           "nearest_common_ancestor", "destination_tag", "dragonfly_routing", "shortest_path"}) {
    EXPECT_TRUE(tested.contains(name)) << name;
  }
}

}  // namespace
}  // namespace banyan::test::symmetry_test
