// Valiant's algorithm: the shortest way to a random switch, and from there to the destination. Any traffic becomes two
// uniform ones. Each phase has virtual channels of its own.
#include <memory>

#include "banyan/routing/parts/minimal_paths.hpp"

namespace banyan::routing::valiant {
namespace {

/// Where a packet leaves that stands at its destination's switch before it has been at the random one.
enum class Exit : u8 { source, anywhere, never };

class Valiant final : public core::Routing {
 public:
  Valiant(const config::Values& values, const core::RoutingContext& context, Exit early_exit)
      : phases_(values, context, values.flag("hop_classes")), early_exit_(early_exit) {}

  void prepare(core::Packet& packet, u32 word) const noexcept override {
    const std::vector<u32>& hosts = phases_.paths().hosts();
    packet.state = hosts[below(word, static_cast<u32>(hosts.size()))];
  }
  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    step(request, false, out);
  }
  void all_candidates(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    step(request, true, out);
  }
  [[nodiscard]] u32 headers(u32, u32) const noexcept override {
    return static_cast<u32>(phases_.paths().hosts().size());
  }
  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    return {.reads_source = false, .required_vcs = phases_.required_vcs()};
  }

 private:
  void step(const core::RouteRequest& request, bool all, core::Candidates& out) const noexcept {
    const core::Packet& packet = *request.packet;
    const bool entered = phases_.paths().just_entered(request);
    const bool at_random_switch = parts::TwoPhases::intermediate(packet) == request.at;
    if (request.at == phases_.paths().switch_of(packet.destination)) {
      const bool leaves =
          early_exit_ == Exit::anywhere || (entered && (early_exit_ == Exit::source || at_random_switch));
      if (leaves) return out.add(phases_.eject(packet));
    }
    if (!entered) return phases_.next_step(request, all, out);
    phases_.first_step(request, at_random_switch, all, out);
  }

  parts::TwoPhases phases_;
  Exit early_exit_;
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  const std::string& name = values.text("early_exit");
  const Exit early_exit = name == "source" ? Exit::source : name == "anywhere" ? Exit::anywhere : Exit::never;
  return std::make_unique<Valiant>(values, context, early_exit);
}

}  // namespace

using config::Parameter;
extern const core::RoutingRow row_valiant;
const core::RoutingRow row_valiant{
    {"valiant",
     "Valiant's algorithm: the shortest way to a random switch, then to the destination.",
     "L. G. Valiant and G. J. Brebner, Universal Schemes for Parallel Communication, STOC 1981",
     {
         Parameter::choice("early_exit", {"source", "anywhere", "never"}, "source")
             .doc("Where a packet leaves that stands at its destination's switch before it has been at the random one: "
                  "at its source's switch only, anywhere, or nowhere."),
         parts::TwoPhases::hop_classes_row(),
     }},
    make};

}  // namespace banyan::routing::valiant
