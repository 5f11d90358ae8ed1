// Shortest paths on any graph, also a damaged one. The i-th hop uses class i of the virtual channels, so that as many
// classes as the network's diameter keep it free of deadlock.
#include <memory>

#include "banyan/routing/parts/hop_paths.hpp"
#include "banyan/routing/parts/vc_classes.hpp"

namespace banyan::routing {
namespace {

enum class Choice : u8 { fixed, random, adaptive };

class ShortestPath final : public core::Routing {
 public:
  ShortestPath(const config::Values& values, const core::RoutingContext& context, Choice choice)
      : paths_(values, context), classes_(context.vcs, std::min(context.vcs, paths_.diameter())), choice_(choice) {
    parts::require_vcs(values, context, paths_.diameter(), "one class per hop of the longest path");
  }

  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    step(request, choice_ == Choice::adaptive, out);
  }
  void all_candidates(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    step(request, choice_ != Choice::fixed, out);
  }
  [[nodiscard]] u32 required_vcs() const noexcept override { return paths_.diameter(); }
  [[nodiscard]] bool reads_source() const noexcept override { return false; }
  [[nodiscard]] bool in_order() const noexcept override {
    return choice_ == Choice::fixed && classes_.vcs() == classes_.classes();
  }

 private:
  void step(const core::RouteRequest& request, bool all, core::Candidates& out) const noexcept {
    const u32 destination = request.packet->destination;
    const u32 target = paths_.places().switch_of(destination);
    if (request.at == target) return out.add(classes_.any(paths_.places().port_of(destination)));
    const u32 next = paths_.places().just_entered(request) ? 0 : classes_.of(request.in_vc) + 1;
    if (all) {
      paths_.nearer(request.at, target, [&](u32 port) { out.add(classes_.candidate(port, next, next + 1)); });
    } else {
      const u32 word = choice_ == Choice::random ? request.random : paths_.fixed_word(request.at, target);
      out.add(classes_.candidate(paths_.choose(request.at, target, word), next, next + 1));
    }
  }

  parts::HopPaths paths_;
  parts::VcClasses classes_;
  Choice choice_;
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  const std::string& name = values.text("choice");
  const Choice choice = name == "fixed" ? Choice::fixed : name == "random" ? Choice::random : Choice::adaptive;
  return std::make_unique<ShortestPath>(values, context, choice);
}

}  // namespace

using config::Parameter;
extern const core::RoutingRow row_shortest_path;
const core::RoutingRow row_shortest_path{
    {"shortest_path",
     "Shortest paths on any graph; each hop takes the next class of virtual channels.",
     "P. M. Merlin and P. J. Schweitzer, Deadlock Avoidance in Store-and-Forward Networks, IEEE Transactions on "
     "Communications 28(3), 1980; K. D. Gunther, Prevention of Deadlocks in Packet-Switched Data Transport Systems, "
     "IEEE "
     "Transactions on Communications 29(4), 1981",
     {
         Parameter::choice("choice", {"fixed", "random", "adaptive"}, "adaptive")
             .doc("Among several shortest ways: one for ever, one at random per hop, or any that is free."),
     }},
    make};

}  // namespace banyan::routing
