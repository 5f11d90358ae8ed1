// Fat trees: up to a level whose switches have the destination below them, and down again (turnaround routing). On the
// way up every port leads to such a switch; `up` says which one is taken. Dependencies lead up and then down only, so
// that one virtual channel is enough.
#include <fmt/core.h>

#include <memory>
#include <stdexcept>

#include "banyan/base/hash.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/core/registry.hpp"
#include "banyan/routing/parts/places.hpp"

namespace banyan::routing::nearest_common_ancestor {
namespace {

enum class Up : u8 { d_mod_k, s_mod_k, destination_digit, straight, hashed, random, two_choices, adaptive };

class NearestCommonAncestor final : public core::Routing {
 public:
  NearestCommonAncestor(const core::Topology& topology, Up up, u32 vcs)
      : tree_(*topology.tree()), graph_(topology.graph()), up_(up), vcs_(static_cast<u8>(vcs)) {
    u64 divide = 1;
    for (const core::TreeLevel& level : tree_.levels) {
      up_divide_.push_back(static_cast<u32>(divide));
      if (level.up_ports != 0 && divide < (u64{1} << 31U)) divide *= level.up_ports;
    }
    for (u32 l = 0; l < tree_.levels.size(); ++l) spare_divide_.push_back(spare_divide(l));
  }

  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    choose(request, up_ == Up::adaptive, request.random, out);
  }
  void all_candidates(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    choose(request, up_ == Up::adaptive || up_ == Up::random || up_ == Up::two_choices, 0, out);
  }
  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    return {.reads_source = up_ == Up::s_mod_k || up_ == Up::hashed,
            .sight = up_ == Up::two_choices ? core::Sight::own_switch : core::Sight::none,
            .random = up_ == Up::random || up_ == Up::two_choices,
            .in_order = vcs_ == 1 && up_ != Up::random && up_ != Up::two_choices && up_ != Up::adaptive,
            .oblivious = vcs_ == 1 && up_ != Up::two_choices && up_ != Up::adaptive};
  }
  [[nodiscard]] std::unique_ptr<core::MulticastRoutes> multicast_routes() const override {
    using Way = core::MulticastRoutes::Way;
    std::vector<Way> way;
    for (const core::Channel& c : graph_.channels()) {
      const bool up = c.from.terminal || (!c.to.terminal && graph_.level(c.to.node) > graph_.level(c.from.node));
      way.push_back(up ? Way::up : Way::down);
    }
    try {
      auto routes = std::make_unique<core::MulticastRoutes>(graph_, way);
      if (routes->complete()) return routes;
    } catch (const std::logic_error&) {}  // trees whose switches share some of what is below them
    return nullptr;
  }

 private:
  void choose(const core::RouteRequest& request, bool all, const core::HopWord& random,
              core::Candidates& out) const noexcept {
    const u32 l = graph_.level(request.at);
    const core::TreeLevel& level = tree_.levels[l];
    const u32 destination = request.packet->destination;
    u32 first = level.down_ports;
    u32 count = level.up_ports;
    const bool down = destination / level.key_divide % level.key_modulo == tree_.key[request.at];
    if (down) {
      first = destination / level.port_divide % level.port_modulo * level.port_times;
      count = level.port_times;
    }
    if (all) {
      for (u32 i = 0; i < count; ++i) out.add({static_cast<u16>(first + i), 0, vcs_});
    } else {
      out.add({static_cast<u16>(first + pick(request, l, down, first, count, random)), 0, vcs_});
    }
  }

  /// One of the `count` ports from `first` on, which all lead to the destination.
  [[nodiscard]] u32 pick(const core::RouteRequest& request, u32 level, bool down, u32 first, u32 count,
                         const core::HopWord& random) const noexcept {
    if (count == 1) return 0;
    const core::Packet& packet = *request.packet;
    switch (up_) {
      case Up::d_mod_k:
        return packet.destination / (down ? spare_divide_[level] : up_divide_[level]) % count;
      case Up::s_mod_k:
        return packet.source / (down ? spare_divide_[level] : up_divide_[level]) % count;
      case Up::destination_digit:
        return packet.destination / (down ? spare_divide_[level] : tree_.levels[level].port_divide) % count;
      case Up::straight:
        return request.in_port % count;
      case Up::hashed: {  // fixed per pair of terminals, whatever the seed
        // A hash of its own for every choice: bits that two levels share would leave some ports to nobody.
        const u64 pair = mix64(static_cast<u64>(packet.source) << 32U | packet.destination);
        return below(static_cast<u32>(mix64(pair + 2 * level + (down ? 1 : 0)) >> 32U), count);
      }
      case Up::two_choices: {
        const u32 word = random();
        const u32 one = below(word, count);
        const u32 other = below(word * count, count);  // what the first choice left of the word is uniform
        const auto used = [&](u32 port) { return request.occupancy->used(request.at, first + port); };
        return used(one) > used(other) ? other : one;
      }
      default:
        return below(random(), count);
    }
  }

  /// What divides a terminal's number into the digit that chooses among redundant ports down: one that no other choice
  /// on the way of a packet depends on, so that these ports carry equal shares. Where they lead to one switch (a tree),
  /// that switch's ports up have used the lowest part of their digit to choose between switches, and the rest is left;
  /// where they lead to several (a shuffle), it is the part of the lowest digit that chooses no group of ports.
  [[nodiscard]] u32 spare_divide(u32 level) const {
    const core::TreeLevel& l = tree_.levels[level];
    if (l.port_times <= 1 || level == 0) return l.port_divide;
    const u32 one = graph_.channel_out_of(l.first, 0);
    const u32 next = graph_.channel_out_of(l.first, 1);
    const bool same = graph_.channel(one).to.node == graph_.channel(next).to.node;
    return same ? tree_.levels[level - 1].port_divide * l.port_modulo : l.port_modulo;
  }

  const core::Tree& tree_;
  const core::Graph& graph_;
  std::vector<u32> up_divide_;     ///< of d mod k, per level: the product of the parents of all lower ones
  std::vector<u32> spare_divide_;  ///< per level
  Up up_;
  u8 vcs_;
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  parts::require_whole(values, context);
  if (context.topology->tree() == nullptr) {
    values.fail("up", "nearest_common_ancestor needs a fat tree",
                fmt::format("use the topology {}",
                            core::topologies_with([](const core::Topology& t) { return t.tree() != nullptr; })));
  }
  const std::string& name = values.text("up");
  const Up up = name == "d_mod_k"             ? Up::d_mod_k
                : name == "s_mod_k"           ? Up::s_mod_k
                : name == "straight"          ? Up::straight
                : name == "destination_digit" ? Up::destination_digit
                : name == "hashed"            ? Up::hashed
                : name == "random"            ? Up::random
                : name == "two_choices"       ? Up::two_choices
                                              : Up::adaptive;
  return std::make_unique<NearestCommonAncestor>(*context.topology, up, context.vcs);
}

}  // namespace

using config::Parameter;
extern const core::RoutingRow row_nearest_common_ancestor;
const core::RoutingRow row_nearest_common_ancestor{
    {"nearest_common_ancestor",
     "Fat trees: up to the nearest common ancestor by destination, source, hash, chance or free space, and down.",
     "F. Petrini and M. Vanneschi, k-ary n-trees, IPPS 1997; E. Zahavi, D-Mod-K Routing Providing Non-Blocking Traffic "
     "for Shift Permutations on Real Life Fat Trees, Technion CCIT 776, 2010",
     {
         Parameter::choice(
             "up",
             {"d_mod_k", "s_mod_k", "destination_digit", "straight", "hashed", "random", "two_choices", "adaptive"},
             "adaptive")
             .doc("Port on the way up, and among ports that lead down to one switch: by a digit of the destination "
                  "(d_mod_k: counted from the hosts; destination_digit: the one that the level's ports down go by) or "
                  "of the source, the number of the input port, a hash of the pair, at random, the emptier of two at "
                  "random, or any that is free."),
     }},
    make};

}  // namespace banyan::routing::nearest_common_ancestor
