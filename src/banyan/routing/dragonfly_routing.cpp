// Dragonflies: minimal (local, global, local), Valiant's over a random group, UGAL (Kim et al. 2008) and progressive
// adaptive routing (PAR; Jiang, Kim and Dally 2009), which may change its mind at the second router.
//
// The virtual channels that a packet arrives on tell its state. Local classes: 0 the first step of a packet that may
// still leave the direct way (PAR), then in this order the source's group on a detour, the intermediate group (or the
// source's group on the direct way), the destination's group. Global classes: 0 into the intermediate group, 1 into the
// destination's. Every step goes to a higher class or from local to global, so dependencies have no cycle.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>

#include "banyan/base/hash.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/core/registry.hpp"
#include "banyan/routing/parts/places.hpp"
#include "banyan/routing/parts/vc_classes.hpp"

namespace banyan::routing::dragonfly_routing {
namespace {

enum class Policy : u8 { minimal, valiant, ugal_l, ugal_g, par };

/// Local classes of a policy; those that it does not use are kNone. Groups of one router have no local channels: as
/// many as there are classes of global ones.
struct LocalClasses {
  u32 count;
  u32 first;        ///< direct way in the source's group
  u32 detour;       ///< detour in the source's group
  u32 middle;       ///< intermediate group
  u32 destination;  ///< destination's group
};

LocalClasses local_classes(Policy policy, u32 routers) {
  if (routers == 1) return {policy == Policy::minimal ? 1U : 2U, 0, 0, 0, 0};
  if (policy == Policy::minimal) return {2, 0, kNone, kNone, 1};
  if (policy == Policy::par) return {4, 0, 1, 2, 3};
  return {3, 1, 0, 1, 2};
}

struct Options {
  u32 threshold = 0;      ///< by how many flits the detour must be better
  u32 detour_weight = 0;  ///< what waits on the detour counts so many times, on the direct way once; 0: channels to go
  bool single = false;    ///< packets use the first virtual channel of a class only
  bool router = false;    ///< detours visit a certain router of their group
};

class DragonflyRouting final : public core::Routing {
 public:
  DragonflyRouting(const core::Dragonfly& shape, const core::Graph& graph, Policy policy, u32 vcs,
                   const Options& options)
      : shape_(shape),
        graph_(graph),
        policy_(policy),
        use_(local_classes(policy, shape.routers)),
        local_(vcs, std::min(vcs, use_.count)),
        global_(vcs, policy == Policy::minimal ? 1 : std::min(vcs, 2U)),
        options_(options) {
    gateways_.resize(std::size_t{shape.groups} * shape.groups);
    for (u32 s = 0; s < shape.groups * shape.routers; ++s) {
      for (u32 j = 0; j < shape.global_ports; ++j) {
        const u32 peer = shape.peer[std::size_t{s} * shape.global_ports + j];
        if (peer != kNone) gateways_[std::size_t{s / shape.routers} * shape.groups + peer].push_back({s, j});
      }
    }
  }

  void prepare(core::Packet& packet, u32 word) const noexcept override {
    if (policy_ != Policy::minimal) packet.state = below(word, detours());
  }
  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    step(request, false, out);
  }
  void all_candidates(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    step(request, policy_ != Policy::minimal && policy_ != Policy::valiant, out);
  }
  [[nodiscard]] u32 headers(u32, u32) const noexcept override { return policy_ == Policy::minimal ? 1 : detours(); }
  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    const bool local = policy_ == Policy::ugal_l || policy_ == Policy::par;
    const core::Sight near = local ? core::Sight::own_switch : core::Sight::none;
    return {.reads_source = false,
            .sight = policy_ == Policy::ugal_g ? core::Sight::network : near,
            .required_vcs = use_.count,
            .random = policy_ != Policy::minimal};
  }

 private:
  struct Gateway {
    u32 router;  ///< switch
    u32 port;    ///< global port, from 0
  };

  [[nodiscard]] u32 group(u32 s) const noexcept { return s / shape_.routers; }
  /// Numbers that Packet::state draws from: groups, or routers.
  [[nodiscard]] u32 detours() const noexcept {
    return options_.router ? shape_.groups * shape_.routers : shape_.groups;
  }
  [[nodiscard]] u32 middle_group(const core::Packet& p) const noexcept {
    return options_.router ? group(static_cast<u32>(p.state)) : static_cast<u32>(p.state);
  }
  [[nodiscard]] u32 target(const core::Packet& p) const noexcept { return p.destination / shape_.terminals; }
  [[nodiscard]] u32 local_port(u32 at, u32 to) const noexcept {
    const u32 own = at % shape_.routers;
    const u32 other = to % shape_.routers;
    return other < own ? other : other - 1;
  }
  /// The router whose global channel a packet takes from here to another group: this one if it has one.
  [[nodiscard]] Gateway gateway(u32 at, u32 to_group) const noexcept {
    const std::vector<Gateway>& all = gateways_[std::size_t{group(at)} * shape_.groups + to_group];
    // A fixed choice of the pair.
    const u32 word = static_cast<u32>(mix64(static_cast<u64>(at) << 32U | to_group) >> 32U);
    for (const Gateway& g : all) {
      if (g.router == at) return g;
    }
    return all[below(word, static_cast<u32>(all.size()))];
  }
  [[nodiscard]] core::Candidate narrowed(core::Candidate c) const noexcept {
    if (options_.single) c.vc_end = static_cast<u8>(c.vc_begin + 1);
    return c;
  }
  /// The step towards another group, by a local class and a global one.
  [[nodiscard]] core::Candidate outward(u32 at, u32 to_group, u32 local, u32 global) const noexcept {
    const Gateway g = gateway(at, to_group);
    if (g.router == at) {
      const u32 c = policy_ == Policy::minimal ? 0 : global;
      return narrowed(global_.candidate(shape_.routers - 1 + g.port, c, c + 1));
    }
    return narrowed(local_.candidate(local_port(at, g.router), local, local + 1));
  }
  /// The step towards the destination.
  [[nodiscard]] core::Candidate direct(u32 at, const core::Packet& packet, u32 local) const noexcept {
    const u32 goal = target(packet);
    if (at == goal) {
      const u32 port = shape_.routers - 1 + shape_.global_ports + packet.destination % shape_.terminals;
      if (!options_.single) return local_.any(port);
      const u32 c = local == use_.first ? use_.first : use_.destination;
      return narrowed(local_.candidate(port, c, c + 1));
    }
    if (group(at) == group(goal)) {
      return narrowed(local_.candidate(local_port(at, goal), use_.destination, use_.destination + 1));
    }
    return outward(at, group(goal), local, 1);
  }
  [[nodiscard]] core::Candidate detour(u32 at, const core::Packet& packet) const noexcept {
    return outward(at, middle_group(packet), use_.detour, 0);
  }
  /// The step behind the global channel of a detour: to its router, and from there to the destination.
  [[nodiscard]] core::Candidate in_middle(u32 at, const core::Packet& packet) const noexcept {
    const u32 router = static_cast<u32>(packet.state);
    if (!options_.router || at == router) return direct(at, packet, use_.middle);
    return narrowed(local_.candidate(local_port(at, router), use_.detour, use_.detour + 1));
  }

  void step(const core::RouteRequest& request, bool all, core::Candidates& out) const noexcept {
    const core::Packet& packet = *request.packet;
    const u32 at = request.at;
    if (request.in_port >= shape_.routers - 1 + shape_.global_ports) return decide(request, all, use_.first, out);
    if (request.in_port >= shape_.routers - 1) {
      const bool first = policy_ != Policy::minimal && global_.of(request.in_vc) == 0;
      return out.add(first ? in_middle(at, packet) : direct(at, packet, use_.middle));
    }
    const u32 c = local_.of(request.in_vc);
    if (c == use_.detour && group(at) != middle_group(packet)) return out.add(detour(at, packet));
    if (c == use_.detour) return out.add(direct(at, packet, use_.middle));
    if (policy_ == Policy::par && c == use_.first) return decide(request, all, use_.first, out);
    out.add(direct(at, packet, c == use_.first ? use_.first : use_.middle));
  }

  /// The direct way or the detour over group Packet::state.
  void decide(const core::RouteRequest& request, bool all, u32 local, core::Candidates& out) const noexcept {
    const core::Packet& packet = *request.packet;
    const u32 at = request.at;
    const u32 goal = group(target(packet));
    const u32 middle = middle_group(packet);
    const bool only_direct = policy_ == Policy::minimal || at == target(packet) || middle == group(at) ||
                             (middle == goal && !options_.router) || (policy_ != Policy::valiant && goal == group(at));
    if (only_direct) return out.add(direct(at, packet, local));
    if (policy_ == Policy::valiant) return out.add(detour(at, packet));
    if (all) {
      out.add(direct(at, packet, local));
      out.add(detour(at, packet));
      return;
    }
    out.add(direct_is_better(request, local) ? direct(at, packet, local) : detour(at, packet));
  }

  /// What waits, times channels to go, of either way; UGAL-G adds up what waits on the whole ways.
  [[nodiscard]] bool direct_is_better(const core::RouteRequest& request, u32 local) const noexcept {
    const core::Packet& packet = *request.packet;
    const u32 at = request.at;
    if (options_.detour_weight != 0) {
      const u64 waiting = request.occupancy->used(at, detour(at, packet).port);
      return request.occupancy->used(at, direct(at, packet, local).port) <=
             waiting * options_.detour_weight + options_.threshold;
    }
    const std::array<u32, 2> goals{kNone, middle_group(packet)};
    std::array<u64, 2> cost{};
    for (u32 way = 0; way < 2; ++way) {
      const u32 first = goals[way] == kNone ? direct(at, packet, local).port : detour(at, packet).port;
      u64 waiting = 0;
      u64 hops = 0;
      bool outbound = goals[way] != kNone;
      for (u32 s = at; s != target(packet); ++hops) {
        outbound = outbound && group(s) != goals[way];
        const u32 port = outbound ? detour(s, packet).port : direct(s, packet, local).port;
        if (policy_ == Policy::ugal_g) waiting += request.occupancy->used(s, port);
        s = graph_.channel(graph_.channel_out_of(s, port)).to.node;
      }
      cost[way] = policy_ == Policy::ugal_g ? waiting : request.occupancy->used(at, first) * hops;
    }
    return cost[0] <= cost[1] + options_.threshold;
  }

  const core::Dragonfly& shape_;
  const core::Graph& graph_;
  std::vector<std::vector<Gateway>> gateways_;  ///< [group * groups + other group]
  Policy policy_;
  LocalClasses use_;
  parts::VcClasses local_;
  parts::VcClasses global_;
  Options options_;
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  parts::require_whole(values, context);
  if (context.topology->dragonfly() == nullptr) {
    values.fail("policy", "this routing needs a dragonfly",
                fmt::format("use the topology {}",
                            core::topologies_with([](const core::Topology& t) { return t.dragonfly() != nullptr; })));
  }
  const std::string& name = values.text("policy");
  const Policy policy = name == "minimal"   ? Policy::minimal
                        : name == "valiant" ? Policy::valiant
                        : name == "ugal_l"  ? Policy::ugal_l
                        : name == "ugal_g"  ? Policy::ugal_g
                                            : Policy::par;
  const u32 routers = context.topology->dragonfly()->routers;
  parts::require_vcs(values, context, local_classes(policy, routers).count,
                     fmt::format("classes of {} channels under {}", routers == 1 ? "global" : "local", name));
  const Options options{values.natural("threshold"), values.natural("detour_weight"),
                        values.text("vcs_per_class") == "one", values.text("detour_over") == "router"};
  if (options.router && policy == Policy::par) {
    values.fail("detour_over", "progressively adaptive routing needs its first class of virtual channels for itself",
                "use detour_over = \"group\"");
  }
  if (options.detour_weight != 0 && policy == Policy::ugal_g) {
    values.fail("detour_weight", "ugal_g adds up what waits on whole ways", "leave detour_weight out, or use ugal_l");
  }
  return std::make_unique<DragonflyRouting>(*context.topology->dragonfly(), context.topology->graph(), policy,
                                            context.vcs, options);
}

}  // namespace

using config::Parameter;
extern const core::RoutingRow row_dragonfly_routing;
const core::RoutingRow row_dragonfly_routing{
    {"dragonfly_routing",
     "Dragonflies: minimal, over a random group (Valiant), by what waits (UGAL), or progressively adaptive (PAR).",
     "J. Kim, W. J. Dally, S. Scott and D. Abts, Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008; N. "
     "Jiang, J. Kim and W. J. Dally, Indirect Adaptive Routing on Large Scale Interconnection Networks, ISCA 2009",
     {
         Parameter::choice("policy", {"minimal", "valiant", "ugal_l", "ugal_g", "par"}, "minimal")
             .doc("Which packets take a detour over a random group."),
         Parameter::integer("threshold", 0)
             .only_with("policy", {"ugal_l", "ugal_g", "par"})
             .unit("flits")
             .range(0, 1 << 20)
             .doc("By how much the detour must be better, for ugal_l, ugal_g and par."),
         Parameter::integer("detour_weight", 0)
             .range(0, 1000)
             .doc("For ugal_l and par: how many times what waits on the detour counts, where what waits on the direct "
                  "way "
                  "counts once; 0: both count as many times as they have channels to go."),
         Parameter::choice("detour_over", {"group", "router"}, "group")
             .only_with("policy", {"valiant", "ugal_l", "ugal_g", "par"})
             .doc("Whether a detour visits a random group or, in it, a random router, as in BookSim2, whose classes of "
                  "virtual channels then have a cycle."),
         Parameter::choice("vcs_per_class", {"all", "one"}, "all")
             .doc("Virtual channels of a class that packets use: all, or one, as in BookSim2."),
     }},
    make};

}  // namespace banyan::routing::dragonfly_routing
