// Shortest paths on any graph, also a damaged one. The i-th hop uses class i of the virtual channels, so that as many
// classes as the network's diameter keep it free of deadlock. Where all shortest paths lead up and then down nothing
// can wait in a circle, and every hop uses all virtual channels.
#include <algorithm>
#include <memory>

#include "banyan/routing/parts/hop_paths.hpp"
#include "banyan/routing/parts/vc_classes.hpp"

namespace banyan::routing::shortest_path {
namespace {

enum class Choice : u8 { fixed, first, random, adaptive };

class ShortestPath final : public core::Routing {
 public:
  ShortestPath(const config::Values& values, const core::RoutingContext& context, Choice choice)
      : paths_(values, context),
        needed_(values.flag("hop_classes") && !paths_.up_then_down() ? paths_.diameter() : 1),
        classes_(context.vcs, std::min(context.vcs, needed_)),
        choice_(choice) {
    parts::require_vcs(values, context, needed_, "one class per hop of the longest path");
  }

  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    step(request, choice_ == Choice::adaptive, out);
  }
  void all_candidates(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    step(request, choice_ == Choice::random || choice_ == Choice::adaptive, out);
  }
  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    // Classes of hops leave packets no choice between switches, but at their source and at their destination.
    return {.reads_source = false,
            .required_vcs = needed_,
            .random = choice_ == Choice::random,
            .in_order = (choice_ == Choice::fixed || choice_ == Choice::first) && classes_.vcs() == 1};
  }

 private:
  void step(const core::RouteRequest& request, bool all, core::Candidates& out) const noexcept {
    const u32 destination = request.packet->destination;
    const u32 target = paths_.places().switch_of(destination);
    if (request.at == target) return out.add(classes_.any(paths_.places().port_of(destination)));
    const u32 next = needed_ == 1 || paths_.places().just_entered(request) ? 0 : classes_.of(request.in_vc) + 1;
    if (all) {
      paths_.nearer(request.at, target, [&](u32 port) { out.add(classes_.candidate(port, next, next + 1)); });
    } else if (choice_ == Choice::first) {
      out.add(classes_.candidate(paths_.lowest(request.at, target), next, next + 1));
    } else {
      const auto word = [&] {
        return choice_ == Choice::random ? request.random() : paths_.fixed_word(request.at, target);
      };
      out.add(classes_.candidate(paths_.choose(request.at, target, word), next, next + 1));
    }
  }

  parts::HopPaths paths_;
  u32 needed_;  ///< classes
  parts::VcClasses classes_;
  Choice choice_;
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  const std::string& name = values.text("choice");
  const Choice choice = name == "fixed"    ? Choice::fixed
                        : name == "first"  ? Choice::first
                        : name == "random" ? Choice::random
                                           : Choice::adaptive;
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
         Parameter::choice("choice", {"fixed", "first", "random", "adaptive"}, "adaptive")
             .doc("Among several shortest ways: one for ever, that over the lowest port, one at random per hop, or any "
                  "that is free."),
         Parameter::boolean("hop_classes", true)
             .doc(
                 "Whether the i-th hop uses class i of the virtual channels, but on trees, whose shortest paths cannot "
                 "close a circle; false: all, and freedom from deadlock depends on the graph (banyan check)."),
     }},
    make};

}  // namespace banyan::routing::shortest_path
