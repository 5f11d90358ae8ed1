// Valiant's algorithm: the shortest way to a random switch, and from there to the destination. Any traffic becomes two
// uniform ones. Each phase has virtual channels of its own.
#include <memory>

#include "banyan/routing/parts/minimal_paths.hpp"

namespace banyan::routing::valiant {
namespace {

class Valiant final : public core::Routing {
 public:
  Valiant(const config::Values& values, const core::RoutingContext& context) : phases_(values, context) {}

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
  [[nodiscard]] bool reads_source() const noexcept override { return false; }
  [[nodiscard]] u32 required_vcs() const noexcept override { return phases_.required_vcs(); }

 private:
  void step(const core::RouteRequest& request, bool all, core::Candidates& out) const noexcept {
    if (!phases_.paths().just_entered(request)) return phases_.next_step(request, all, out);
    const core::Packet& packet = *request.packet;
    if (request.at == phases_.paths().switch_of(packet.destination)) return out.add(phases_.eject(packet));
    phases_.first_step(request, parts::TwoPhases::intermediate(packet) == request.at, all, out);
  }

  parts::TwoPhases phases_;
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  return std::make_unique<Valiant>(values, context);
}

}  // namespace

extern const core::RoutingRow row_valiant;
const core::RoutingRow row_valiant{
    {"valiant",
     "Valiant's algorithm: the shortest way to a random switch, then to the destination.",
     "L. G. Valiant and G. J. Brebner, Universal Schemes for Parallel Communication, STOC 1981",
     {}},
    make};

}  // namespace banyan::routing::valiant
