// Up*/down* on any graph, also a damaged one (Autonet; Schroeder et al. 1991): channels towards the root are up, and a
// packet that went down never goes up again. Of the legal paths the shortest are taken. Dependencies have no cycle on
// one virtual channel.
//
// Switches are ordered breadth first from a root, or by the levels of the topology, the highest first, where it has
// some: on fat trees that keeps all roots in use, where one root would carry everything. Equal ones are ordered by
// their number, and so are all where there is one level: on meshes and tori that leaves more of the shortest paths and
// loads the channels at the root less than breadth first does, so that the loads of channels decide between the two.
#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>

#include "banyan/base/hash.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/routing/parts/places.hpp"

namespace banyan::routing::up_down {
namespace {

constexpr u32 kManyVcs = 64;  ///< more than any routing function of a small network asks for

enum class Choice : u8 { fixed, random, adaptive };

class UpDown final : public core::Routing {
 public:
  UpDown(const config::Values& values, const core::RoutingContext& context, Choice choice)
      : graph_(context.topology->graph()),
        places_(graph_),
        choice_(choice),
        vcs_(static_cast<u8>(context.vcs)),
        column_(graph_.switches(), kNone) {
    parts::require_one_switch_per_terminal(values, context);
    for (u32 t = 0; t < graph_.terminals(); ++t) {
      u32& column = column_[places_.switch_of(t)];
      if (column != kNone) continue;
      column = static_cast<u32>(hosts_.size());
      hosts_.push_back(places_.switch_of(t));
    }
    if (hosts_.size() * graph_.switches() > kMostEntries) {
      values.fail("name",
                  fmt::format("up_down would need a table of {} distances", 2 * hosts_.size() * graph_.switches()),
                  "use a network of less than 5,000 switches");
    }
    if (values.text("order") == "automatic" && values.integer("root") < 0) {
      choose_order(values);
    } else {
      order(values, values.text("order") == "levels");
    }
    check(values, context);
  }

  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    step(request, choice_ == Choice::adaptive, out);
  }
  void all_candidates(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    step(request, choice_ != Choice::fixed, out);
  }
  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    return {
        .reads_source = false, .random = choice_ == Choice::random, .in_order = choice_ == Choice::fixed && vcs_ == 1};
  }

  /// Worms go up over any channel, and down along one tree: to every switch from its upper neighbour that is nearest to
  /// the root; on the levels of a fat tree, from all of its upper neighbours.
  [[nodiscard]] std::unique_ptr<core::MulticastRoutes> multicast_routes() const override {
    using Way = core::MulticastRoutes::Way;
    std::vector<u32> parent(graph_.switches(), kNone);  // the channel
    for (u32 c = 0; c < graph_.channels().size(); ++c) {
      if (!usable(c) || up(c)) continue;
      u32& best = parent[graph_.channel(c).to.node];
      if (best == kNone || rank_[graph_.channel(c).from.node] < rank_[graph_.channel(best).from.node]) best = c;
    }
    std::vector<Way> way;
    for (u32 c = 0; c < graph_.channels().size(); ++c) {
      if (graph_.channel(c).to.terminal) {
        way.push_back(Way::down);
      } else if (graph_.channel(c).from.terminal || (usable(c) && up(c))) {
        way.push_back(Way::up);
      } else {
        way.push_back(usable(c) && ((by_level_ && graph_.levels() > 1) || parent[graph_.channel(c).to.node] == c)
                          ? Way::down
                          : Way::unused);
      }
    }
    try {
      auto routes = std::make_unique<core::MulticastRoutes>(graph_, way);
      if (routes->complete()) return routes;
    } catch (const std::logic_error&) {}  // the levels are no tree
    return nullptr;
  }

 private:
  static constexpr u16 kFar = 0xffff;
  /// Each takes a search of the whole network; where so many central ones fail, links and not roots are missing.
  static constexpr std::size_t kMostRoots = 64;
  static constexpr std::size_t kMostEntries = std::size_t{1} << 25U;

  [[nodiscard]] bool usable(u32 c) const noexcept {
    return c != kNone && !graph_.channel(c).failed && !graph_.channel(c).to.terminal &&
           !graph_.channel(c).from.terminal;
  }
  [[nodiscard]] bool up(u32 c) const noexcept {
    return rank_[graph_.channel(c).to.node] < rank_[graph_.channel(c).from.node];
  }
  /// Distance to a column's switch from `s`, for a packet that may still go up or has gone down.
  [[nodiscard]] std::size_t place(std::size_t column, u32 s, bool down) const noexcept {
    return (column * graph_.switches() + s) * 2 + (down ? 1 : 0);
  }

  /// Orders by levels where there are several, unless failures leave a pair no way over them. Where there is one, by
  /// number if that loads the most loaded channel less than breadth first does.
  void choose_order(const config::Values& values) {
    order(values, true);
    const bool possible = cut_off().empty();
    if (possible && graph_.levels() > 1) return;
    const double by_number = possible && has_one_root() ? highest_load() : std::numeric_limits<double>::infinity();
    order(values, false);
    // Loads are sums in an order of their own: equal ones may differ in the last digits.
    if (cut_off().empty() && by_number >= (1.0 - 1e-9) * highest_load()) return;
    if (by_number < std::numeric_limits<double>::infinity()) order(values, true);
  }

  /// All working switches but one have an upper neighbour, so that worms reach everybody from one switch.
  [[nodiscard]] bool has_one_root() const {
    std::vector<u8> has_upper(graph_.switches(), 0);
    std::vector<u8> works(graph_.switches(), 0);
    for (u32 c = 0; c < graph_.channels().size(); ++c) {
      if (!usable(c)) continue;
      works[graph_.channel(c).from.node] = 1;
      if (up(c)) has_upper[graph_.channel(c).from.node] = 1;
    }
    return std::count(works.begin(), works.end(), u8{1}) - std::count(has_upper.begin(), has_upper.end(), u8{1}) <= 1;
  }

  /// Packets over the most loaded channel between switches when every terminal sends one to every other, and all ways
  /// on from a switch are taken equally often.
  [[nodiscard]] double highest_load() const {
    std::vector<double> terminals(graph_.switches(), 0.0);
    for (u32 t = 0; t < graph_.terminals(); ++t) ++terminals[places_.switch_of(t)];
    std::vector<double> load(graph_.channels().size(), 0.0);
    std::vector<double> packets(std::size_t{2} * graph_.switches());  // at a switch, by whether they have gone down
    std::vector<std::vector<u32>> at_distance;
    for (std::size_t column = 0; column < hosts_.size(); ++column) {
      const u32 target = hosts_[column];
      std::fill(packets.begin(), packets.end(), 0.0);
      for (auto& list : at_distance) list.clear();
      for (const u32 host : hosts_) packets[std::size_t{2} * host] = terminals[host] * terminals[target];
      for (u32 state = 0; state < packets.size(); ++state) {
        const u16 distance = distance_[place(column, state / 2, state % 2 != 0)];
        if (distance == kFar) continue;
        if (at_distance.size() <= distance) at_distance.resize(std::size_t{distance} + 1);
        at_distance[distance].push_back(state);
      }
      for (std::size_t distance = at_distance.size(); distance-- > 1;) {
        for (const u32 state : at_distance[distance]) {
          if (packets[state] == 0.0) continue;
          u32 ways = 0;
          nearer(column, state / 2, state % 2 != 0, [&](u32, u32) { ++ways; });
          const double share = packets[state] / ways;
          nearer(column, state / 2, state % 2 != 0, [&](u32, u32 c) {
            load[c] += share;
            packets[std::size_t{2} * graph_.channel(c).to.node + (up(c) ? 0 : 1)] += share;
          });
        }
      }
    }
    return load.empty() ? 0.0 : *std::max_element(load.begin(), load.end());
  }

  void order(const config::Values& values, bool by_level) {
    by_level_ = by_level;
    const i64 root = values.integer("root");
    if (by_level) {
      std::vector<u32> depth(graph_.switches());
      for (u32 s = 0; s < graph_.switches(); ++s) depth[s] = graph_.levels() - graph_.level(s);
      order_by(depth);
    } else if (root >= static_cast<i64>(graph_.switches())) {
      values.fail("root", fmt::format("there is no switch {}", root),
                  fmt::format("switches are 0 to {}", graph_.switches() - 1));
    } else if (root >= 0) {
      order_by(depths(static_cast<u32>(root)));
    } else {
      // Any root gives every pair a way where links are two-way; one-way links ask for a certain one.
      const std::vector<u32> roots = central_switches();
      for (const u32 candidate : roots) {
        order_by(depths(candidate));
        if (cut_off().empty()) return;
      }
      order_by(depths(roots.front()));
    }
  }

  /// Ranks switches by their depth, equal ones by their number, and finds all distances.
  void order_by(const std::vector<u32>& depth) {
    rank_.resize(graph_.switches());
    std::vector<u32> sorted(graph_.switches());
    for (u32 s = 0; s < graph_.switches(); ++s) sorted[s] = s;
    std::stable_sort(sorted.begin(), sorted.end(), [&](u32 a, u32 b) { return depth[a] < depth[b]; });
    for (u32 i = 0; i < sorted.size(); ++i) rank_[sorted[i]] = i;
    distance_.assign(2 * hosts_.size() * graph_.switches(), kFar);
    for (std::size_t column = 0; column < hosts_.size(); ++column) fill(column);
  }

  /// Channels from `root`, breadth first; kNone where it does not reach.
  [[nodiscard]] std::vector<u32> depths(u32 root) const {
    std::vector<u32> depth(graph_.switches(), kNone);
    std::vector<u32> queue{root};
    depth[root] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (u32 p = 0; p < graph_.outputs(queue[i]); ++p) {
        const u32 c = graph_.channel_out_of(queue[i], p);
        if (!usable(c) || depth[graph_.channel(c).to.node] != kNone) continue;
        depth[graph_.channel(c).to.node] = depth[queue[i]] + 1;
        queue.push_back(graph_.channel(c).to.node);
      }
    }
    return depth;
  }

  /// Switches from which all terminals are reached, those whose farthest terminal is nearest first; at most kMostRoots.
  /// Where there is none: the switch of the first terminal.
  [[nodiscard]] std::vector<u32> central_switches() const {
    std::vector<std::pair<u32, u32>> found;  // distance of the farthest terminal, switch
    for (u32 s = 0; s < graph_.switches(); ++s) {
      const std::vector<u32> depth = depths(s);
      u32 farthest = 0;
      for (const u32 host : hosts_) farthest = std::max(farthest, depth[host]);
      if (farthest != kNone) found.emplace_back(farthest, s);
    }
    std::sort(found.begin(), found.end());
    if (found.size() > kMostRoots) found.resize(kMostRoots);
    std::vector<u32> switches;
    for (const auto& [farthest, s] : found) switches.push_back(s);
    if (switches.empty()) switches.push_back(hosts_.front());
    return switches;
  }

  /// Breadth first against the channels, over (switch, whether the packet has gone down).
  void fill(std::size_t column) {
    std::vector<std::pair<u32, bool>> queue{{hosts_[column], true}, {hosts_[column], false}};
    for (const auto& [s, down] : queue) distance_[place(column, s, down)] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const auto [s, down] = queue[i];
      const u16 next = static_cast<u16>(distance_[place(column, s, down)] + 1);
      for (u32 p = 0; p < graph_.inputs(s); ++p) {
        const u32 c = graph_.channel_into(s, p);
        if (!usable(c) || up(c) == down) continue;  // an up channel leads to "may go up", a down channel to "gone down"
        for (const bool before : {false, true}) {
          if (before && !down) continue;
          u16& known = distance_[place(column, graph_.channel(c).from.node, before)];
          if (known != kFar) continue;
          known = next;
          queue.emplace_back(graph_.channel(c).from.node, before);
        }
      }
    }
  }

  /// The switches of a source and a destination without a way up and then down; empty: there are none.
  [[nodiscard]] std::vector<u32> cut_off() const {
    for (const u32 s : hosts_) {
      for (std::size_t column = 0; column < hosts_.size(); ++column) {
        if (distance_[place(column, s, false)] == kFar) return {s, hosts_[column]};
      }
    }
    return {};
  }

  void check(const config::Values& values, const core::RoutingContext& context) const {
    const std::vector<u32> pair = cut_off();
    if (pair.empty()) return;
    const auto first_terminal = [&](u32 s) {
      u32 t = 0;
      while (places_.switch_of(t) != s) ++t;
      return t;
    };
    std::string remedy;
    if (depths(pair[0])[pair[1]] == kNone) {
      remedy = "let fewer links and switches fail";
    } else if (values.text("order") == "levels") {
      remedy = "use order = \"breadth_first\"";
    } else if (values.integer("root") >= 0) {
      remedy = "make links two-way, or leave out root: another one may do";
    } else {
      core::RoutingContext enough = context;
      enough.vcs = std::max(context.vcs, kManyVcs);
      remedy = parts::or_another("make links two-way", values, enough);
    }
    values.fail("name",
                fmt::format("no path up and then down leads from terminal {} to terminal {}", first_terminal(pair[0]),
                            first_terminal(pair[1])),
                remedy);
  }

  /// Calls visit(port, channel) for every next channel of a shortest legal way to a column's switch.
  template <class Visit>
  void nearer(std::size_t column, u32 at, bool down, const Visit& visit) const noexcept {
    const u16 here = distance_[place(column, at, down)];
    for (u32 port = 0; port < graph_.outputs(at); ++port) {
      const u32 c = graph_.channel_out_of(at, port);
      if (!usable(c) || (down && up(c))) continue;
      if (distance_[place(column, graph_.channel(c).to.node, !up(c))] + 1 == here) visit(port, c);
    }
  }

  void step(const core::RouteRequest& request, bool all, core::Candidates& out) const noexcept {
    const u32 destination = request.packet->destination;
    const u32 target = places_.switch_of(destination);
    if (request.at == target) return out.add({static_cast<u16>(places_.port_of(destination)), 0, vcs_});
    const u32 in = graph_.channel_into(request.at, request.in_port);
    const bool down = usable(in) && !up(in);
    const u32 begin = out.size();
    nearer(column_[target], request.at, down, [&](u32 port, u32) { out.add({static_cast<u16>(port), 0, vcs_}); });
    if (all) return;
    // Random, or a fixed choice of the switch and the goal.
    const u32 word = choice_ == Choice::random
                         ? request.random()
                         : static_cast<u32>(mix64(static_cast<u64>(request.at) << 32U | target) >> 32U);
    const core::Candidate chosen = out[begin + below(word, out.size() - begin)];
    out.clear();
    out.add(chosen);
  }

  const core::Graph& graph_;
  parts::Places places_;
  Choice choice_;
  u8 vcs_;
  std::vector<u32> column_;
  std::vector<u32> hosts_;
  std::vector<u32> rank_;
  std::vector<u16> distance_;
  bool by_level_ = false;
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  const std::string& name = values.text("choice");
  const Choice choice = name == "fixed" ? Choice::fixed : name == "random" ? Choice::random : Choice::adaptive;
  return std::make_unique<UpDown>(values, context, choice);
}

}  // namespace

using config::Parameter;
extern const core::RoutingRow row_up_down;
const core::RoutingRow row_up_down{
    {"up_down",
     "Up*/down*: the shortest paths that go towards a root and then away from it, on any graph and around failures.",
     "M. D. Schroeder et al., Autonet: A High-Speed, Self-Configuring Local Area Network Using Point-to-Point Links, "
     "IEEE "
     "Journal on Selected Areas in Communications 9(8), 1991",
     {
         Parameter::choice("order", {"automatic", "breadth_first", "levels"}, "automatic")
             .doc("What is up: towards a root, breadth first, or towards higher levels of the topology, "
                  "and lower numbers on one level; automatic: by levels where there are several and failures leave "
                  "every pair a way over them, and elsewhere whichever loads the most loaded channel less."),
         Parameter::integer("root", -1)
             .only_with("order", {"automatic", "breadth_first"})
             .range(-1, 1 << 24)
             .doc("Switch that a breadth-first order starts from; -1: one in the middle of the network, from which "
                  "every "
                  "pair has a way. Named, it makes the automatic order breadth first."),
         Parameter::choice("choice", {"fixed", "random", "adaptive"}, "adaptive")
             .doc("Among several shortest ways: one for ever, one at random per hop, or any that is free."),
     }},
    make};

}  // namespace banyan::routing::up_down
