// UGAL (Singh 2005): at its source, each packet compares the shortest way with Valiant's way over one random switch, by
// what waits on them times their lengths, and keeps to the better one.
//   local   what waits at the source's switch for the first channel of either way, times its channels.
//   global  what waits on all channels of either way: a bound that no machine reaches.
#include <algorithm>
#include <memory>

#include "banyan/routing/parts/minimal_paths.hpp"

namespace banyan::routing::ugal {
namespace {

class Ugal final : public core::Routing {
 public:
  Ugal(const config::Values& values, const core::RoutingContext& context)
      : phases_(values, context, values.flag("hop_classes")),
        global_(values.text("information") == "global"),
        near_(values.text("detours") == "near"),
        threshold_(values.natural("threshold")) {}

  void prepare(core::Packet& packet, u32 word) const noexcept override {
    u32 index = below(word, headers(packet.source, packet.destination));
    if (!near_) {
      packet.state = phases_.paths().hosts()[index];
      return;
    }
    for (const u32 middle : phases_.paths().hosts()) {
      if (!is_near(middle, packet.source, packet.destination) || index-- != 0) continue;
      packet.state = middle;
      return;
    }
  }
  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    if (!phases_.paths().just_entered(request)) return phases_.next_step(request, false, out);
    if (arrived(request)) return out.add(phases_.eject(*request.packet));
    const bool direct = only_direct(request) || direct_is_better(request);
    phases_.first_step(request, direct, false, out);
  }
  void all_candidates(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    if (!phases_.paths().just_entered(request)) return phases_.next_step(request, true, out);
    if (arrived(request)) return out.add(phases_.eject(*request.packet));
    phases_.first_step(request, true, true, out);
    if (!only_direct(request)) phases_.first_step(request, false, true, out);
  }
  [[nodiscard]] u32 headers(u32 source, u32 destination) const noexcept override {
    const std::vector<u32>& hosts = phases_.paths().hosts();
    if (!near_) return static_cast<u32>(hosts.size());
    return static_cast<u32>(
        std::count_if(hosts.begin(), hosts.end(), [&](u32 middle) { return is_near(middle, source, destination); }));
  }
  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    return {.reads_source = near_,
            .sight = global_ ? core::Sight::network : core::Sight::own_switch,
            .required_vcs = phases_.required_vcs()};
  }

 private:
  /// No farther from either end than the ends are from each other.
  [[nodiscard]] bool is_near(u32 middle, u32 source, u32 destination) const noexcept {
    const parts::MinimalPaths& paths = phases_.paths();
    const u32 from = paths.switch_of(source);
    const u32 to = paths.switch_of(destination);
    const u32 most = paths.distance(from, to);
    return paths.distance(from, middle) <= most && paths.distance(middle, to) <= most;
  }
  [[nodiscard]] u32 target(const core::RouteRequest& request) const noexcept {
    return phases_.paths().switch_of(request.packet->destination);
  }
  [[nodiscard]] bool arrived(const core::RouteRequest& request) const noexcept { return request.at == target(request); }
  [[nodiscard]] bool only_direct(const core::RouteRequest& request) const noexcept {
    const u32 middle = parts::TwoPhases::intermediate(*request.packet);
    return middle == request.at || middle == target(request);
  }

  [[nodiscard]] bool direct_is_better(const core::RouteRequest& request) const noexcept {
    const u32 middle = parts::TwoPhases::intermediate(*request.packet);
    const u32 goal = target(request);
    const parts::MinimalPaths& paths = phases_.paths();
    if (global_) {
      const u64 direct = waiting(request, request.at, goal);
      const u64 detour = waiting(request, request.at, middle) + waiting(request, middle, goal);
      return direct <= detour + threshold_;
    }
    const u64 direct = request.occupancy->used(request.at, paths.hop(request.at, goal, kNone, request.random).port);
    const u64 detour = request.occupancy->used(request.at, paths.hop(request.at, middle, kNone, request.random).port);
    const u64 hops = paths.distance(request.at, goal);
    return direct * hops <= detour * (paths.distance(request.at, middle) + paths.distance(middle, goal)) + threshold_;
  }

  /// What waits on all channels of a shortest way, which begins with the step that the packet would take.
  [[nodiscard]] u64 waiting(const core::RouteRequest& request, u32 at, u32 goal) const noexcept {
    u64 sum = 0;
    while (at != goal) {
      const u32 port = phases_.paths().hop(at, goal, kNone, request.random).port;
      sum += request.occupancy->used(at, port);
      at = phases_.paths().behind(at, port);
    }
    return sum;
  }

  parts::TwoPhases phases_;
  bool global_;
  bool near_;
  u32 threshold_;
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  return std::make_unique<Ugal>(values, context);
}

}  // namespace

using config::Parameter;
extern const core::RoutingRow row_ugal;
const core::RoutingRow row_ugal{
    {"ugal",
     "UGAL: each packet takes the shortest way or Valiant's, whichever promises less waiting.",
     "A. Singh, Load-Balanced Routing in Interconnection Networks, PhD thesis, Stanford University, 2005",
     {
         Parameter::choice("information", {"local", "global"}, "local")
             .doc("Queues that are compared: of the source's switch (UGAL-L), or of all on the way (UGAL-G)."),
         Parameter::integer("threshold", 0)
             .unit("flits")
             .range(0, 1 << 20)
             .doc("By how much the detour must be better."),
         Parameter::choice("detours", {"all", "near"}, "all")
             .doc("Switches that a detour may lead over: all with terminals, or those that are no farther from the "
                  "source and from the destination than these are from each other."),
         parts::TwoPhases::hop_classes_row(),
     }},
    make};

}  // namespace banyan::routing::ugal
