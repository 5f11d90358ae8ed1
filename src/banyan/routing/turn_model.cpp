// Adaptive minimal routing on meshes that forbids just enough turns to break all cycles, without virtual channels:
// west_first, north_last and negative_first (Glass and Ni 1992), odd_even (Chiu 2000). West is x-, north is y+.
// `unrestricted` forbids no turn: it deadlocks, and shows what the rules are for.
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "banyan/core/registry.hpp"
#include "banyan/routing/parts/space.hpp"

namespace banyan::routing::turn_model {
namespace {

enum class Rule : u8 { west_first, north_last, negative_first, odd_even, unrestricted };

class TurnModel final : public core::Routing {
 public:
  TurnModel(const config::Values& values, const core::RoutingContext& context, Rule rule)
      : space_(values, context), rule_(rule), vcs_(static_cast<u8>(context.vcs)) {}

  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    const u32 destination = request.packet->destination;
    const u32 target = space_.switch_of(destination);
    if (request.at == target) return add(space_.port_of(destination), out);
    switch (rule_) {
      case Rule::negative_first:
        if (add_signed(request.at, target, false, out)) return;
        add_signed(request.at, target, true, out);
        return;
      case Rule::unrestricted:
        add_signed(request.at, target, false, out);
        add_signed(request.at, target, true, out);
        return;
      default:
        break;
    }
    const u32 x = space_.coordinate(request.at, 0);
    const u32 y = space_.coordinate(request.at, 1);
    const u32 to_x = space_.coordinate(target, 0);
    const u32 to_y = space_.coordinate(target, 1);
    const bool odd_even = rule_ == Rule::odd_even;
    const bool along_x = odd_even ? x_allowed(x, to_x, y == to_y) : x != to_x;
    bool along_y = y != to_y;
    if (rule_ == Rule::west_first) along_y = along_y && x <= to_x;
    if (rule_ == Rule::north_last) along_y = along_y && (y > to_y || x == to_x);
    if (odd_even)
      along_y = along_y && y_allowed(x, to_x, space_.coordinate(space_.switch_of(request.packet->source), 0));
    if (along_x) add(x < to_x ? space_.port_up(0) : space_.port_down(0), out);
    if (along_y) add(y < to_y ? space_.port_up(1) : space_.port_down(1), out);
  }
  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    // Odd-even lets packets turn in their source's column.
    return {.reads_source = rule_ == Rule::odd_even, .random = false};
  }

 private:
  void add(u32 port, core::Candidates& out) const noexcept { out.add({static_cast<u16>(port), 0, vcs_}); }

  /// All steps up, or all steps down; whether there are any.
  bool add_signed(u32 at, u32 target, bool up, core::Candidates& out) const noexcept {
    bool any = false;
    for (u32 d = 0; d < space_.dimensions(); ++d) {
      const u32 from = space_.coordinate(at, d);
      const u32 to = space_.coordinate(target, d);
      if (from == to || (from < to) != up) continue;
      add(up ? space_.port_up(d) : space_.port_down(d), out);
      any = true;
    }
    return any;
  }

  /// Chiu 2000, Figure 4 (ROUTE): eastbound packets must not turn from east in even columns, and so must not enter the
  /// destination's column too late; westbound packets must not turn towards west in odd columns.
  [[nodiscard]] static bool x_allowed(u32 x, u32 to_x, bool row_done) noexcept {
    if (x >= to_x) return x > to_x;
    return row_done || to_x % 2 == 1 || to_x - x != 1;
  }
  [[nodiscard]] static bool y_allowed(u32 x, u32 to_x, u32 source_x) noexcept {
    if (x == to_x) return true;
    return x < to_x ? x % 2 == 1 || x == source_x : x % 2 == 0;
  }

  parts::Space space_;
  Rule rule_;
  u8 vcs_;
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  const std::string& name = values.text("rule");
  const Rule rule = name == "west_first"       ? Rule::west_first
                    : name == "north_last"     ? Rule::north_last
                    : name == "negative_first" ? Rule::negative_first
                    : name == "odd_even"       ? Rule::odd_even
                                               : Rule::unrestricted;
  auto routing = std::make_unique<TurnModel>(values, context, rule);
  const core::Grid* const grid = context.topology->grid();
  if (grid == nullptr || !grid->is_mesh()) {
    values.fail("rule", "turn models need a mesh: rings close circles without turns",
                fmt::format("use the topology {}", core::topologies_with([](const core::Topology& t) {
                              return t.grid() != nullptr && t.grid()->is_mesh();
                            })));
  }
  const bool plane = rule != Rule::negative_first && rule != Rule::unrestricted;
  const std::size_t dimensions =
      static_cast<std::size_t>(std::count_if(grid->size.begin(), grid->size.end(), [](u32 k) { return k > 1; }));
  if (plane && dimensions != 2) {
    values.fail("rule", fmt::format("{} is a rule for 2 dimensions, the mesh has {}", name, dimensions),
                "use negative_first, or a mesh of 2 dimensions");
  }
  return routing;
}

}  // namespace

using config::Parameter;
extern const core::RoutingRow row_turn_model;
const core::RoutingRow row_turn_model{
    {"turn_model",
     "Adaptive shortest paths on meshes without the turns that close circles: west-first, north-last, negative-first, "
     "odd-even.",
     "C. J. Glass and L. M. Ni, The Turn Model for Adaptive Routing, ISCA 1992; G.-M. Chiu, The Odd-Even Turn Model "
     "for "
     "Adaptive Routing, IEEE Transactions on Parallel and Distributed Systems 11(7), 2000",
     {
         Parameter::choice("rule", {"west_first", "north_last", "negative_first", "odd_even", "unrestricted"},
                           "west_first")
             .doc("Which turns are forbidden; unrestricted forbids none and can deadlock."),
     }},
    make};

}  // namespace banyan::routing::turn_model
