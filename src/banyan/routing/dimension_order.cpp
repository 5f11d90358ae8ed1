// Dimension-order routing on meshes, tori, hypercubes and HyperX networks: a packet corrects one coordinate after the
// other, each by the shortest way (XY, YX, e-cube). Dally and Seitz, Deadlock-Free Message Routing in Multiprocessor
// Interconnection Networks, IEEE Transactions on Computers C-36(5), 1987.
//
// A ring of more than 2 switches would let packets wait on each other in a circle. Two classes of virtual channels cut
// it open at datelines (parameter `classes`), all computed from source, position and destination:
//   change    class 0 while the wrap link lies ahead, class 1 as soon as it does not: section IV of the paper.
//   fixed     class 1 in the whole ring for packets that cross the wrap link, class 0 for the others.
//   balanced  as fixed, but a packet that crosses neither the wrap link nor the ring's middle link may take either
//             class, by the parity of the coordinates of its source and destination: both classes carry the same
//             load under uniform traffic (Scott and Thorson, Optimized Routing in the Cray T3D, 1994).
// A fixed class is free of deadlock since shortest paths of class 1 never use the middle link (a packet over both links
// would travel more than half of the ring), those of class 0 never the wrap link.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "banyan/core/registry.hpp"
#include "banyan/core/routing.hpp"
#include "banyan/routing/parts/places.hpp"
#include "banyan/routing/parts/vc_classes.hpp"

namespace banyan::routing::dimension_order {
namespace {

/// Division of numbers below 2^31 by a constant, as one multiplication (Granlund and Montgomery, 1994).
class Divisor {
 public:
  explicit Divisor(u32 d)
      : value_(d), shift_(31U + static_cast<u32>(std::bit_width(d - 1U))), multiplier_((u64{1} << shift_) / d + 1) {}

  [[nodiscard]] u32 value() const noexcept { return value_; }
  [[nodiscard]] u32 quotient(u32 x) const noexcept { return static_cast<u32>((x * multiplier_) >> shift_); }
  [[nodiscard]] u32 remainder(u32 x) const noexcept { return x - quotient(x) * value_; }

 private:
  u32 value_;
  u32 shift_;
  u64 multiplier_;
};

enum class Classes { none, change, fixed, balanced };

struct Dimension {
  Divisor size;
  Divisor stride;
  u16 port_up;
  u16 port_down;
  bool ring;  ///< wraps, and has more than 2 switches
  bool full;  ///< of a HyperX network: ports from port_up on lead to every other coordinate

  [[nodiscard]] u32 coordinate(u32 s) const noexcept { return size.remainder(stride.quotient(s)); }
};

class DimensionOrder final : public core::Routing {
 public:
  DimensionOrder(const core::Topology& topology, bool ascending, Classes classes, bool random_ties, u32 vcs)
      : concentration_(topology.grid() != nullptr ? topology.grid()->concentration : topology.hyperx()->concentration),
        classes_(classes),
        random_ties_(random_ties),
        vcs_(static_cast<u8>(vcs)) {
    const core::Grid* const grid = topology.grid();
    const std::vector<u32>& sizes = grid != nullptr ? grid->size : topology.hyperx()->size;
    u32 stride = 1;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      const u32 size = sizes[d];
      if (size > 1) {
        const bool ring = grid != nullptr && grid->wrap[d] && size > 2;
        const u32 up = grid != nullptr ? grid->port_up[d] : topology.hyperx()->first_port[d];
        const u32 down = grid != nullptr ? grid->port_down[d] : up;
        const Dimension dimension{Divisor(size), Divisor(stride), static_cast<u16>(up), static_cast<u16>(down),
                                  ring,          grid == nullptr};
        dimensions_.insert(ascending ? dimensions_.end() : dimensions_.begin(), dimension);
        any_ring_ = any_ring_ || ring;
      }
      stride *= size;
    }
    terminal_port_ = topology.graph().channel(topology.graph().ejection(0)).from.port;
    note_places(topology);
  }

  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    step(request, false, out);
  }
  void all_candidates(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    step(request, true, out);
  }

  void steps(std::span<const core::Visit> visits, core::Candidate* out) const noexcept override {
    if (any_ring_) return core::Routing::steps(visits, out);
    if (!places_.empty()) {
      for (const core::Visit& visit : visits) *out++ = step_on_mesh(visit.at, visit.destination);
    } else {
      for (const core::Visit& visit : visits) *out++ = step_without_rings(visit.at, visit.destination);
    }
  }

  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    // Only ties and classes on rings look at the source.
    // Between fixed ends there is one path; on several virtual channels packets of a pair may still pass each other.
    return {.reads_source = any_ring_,
            .by_destination = !any_ring_,
            .required_vcs = any_ring_ && classes_ != Classes::none ? 2U : 1U,
            .random = any_ring_ && random_ties_,
            .in_order = vcs_ == 1 && !(any_ring_ && random_ties_)};
  }

  /// No packet turns back to an earlier dimension, so that a cycle lies in one line of switches; a packet's way there
  /// depends on its coordinates in that dimension and on the parity of all of them; and the lines of a dimension are
  /// alike. One line of each dimension stands for all: the one through switch 0. The packets of the other parity come
  /// to it from a neighbour in an earlier dimension, or leave it for one in a later.
  [[nodiscard]] bool represents(u32 source, u32 destination) const noexcept override {
    if (concentration_.remainder(source) != 0 || concentration_.remainder(destination) != 0) return false;
    u32 moves = 0;
    u32 long_moves = 0;
    for (const Dimension& dimension : dimensions_) {
      const u32 from = dimension.coordinate(concentration_.quotient(source));
      const u32 to = dimension.coordinate(concentration_.quotient(destination));
      if (from == 0 && to == 0) continue;
      ++moves;
      if (from + to != 1) ++long_moves;
    }
    return moves <= 2 && long_moves <= 1;
  }

 private:
  /// Without a branch: which dimension is the first that is not done yet is as good as random.
  [[nodiscard]] core::Candidate step_on_mesh(u32 at_switch, u32 destination) const noexcept {
    const u32 target = concentration_.quotient(destination);
    const u32 from = places_[at_switch];
    const u32 goal = places_[target];
    u32 port = terminal_port_ + concentration_.remainder(destination);
    for (u32 d = static_cast<u32>(dimensions_.size()); d-- > 0;) {
      const u32 at = from >> (d * kPlaceBits) & kPlaceMask;
      const u32 to = goal >> (d * kPlaceBits) & kPlaceMask;
      const u32 up = at < to ? ~0U : 0U;
      const u32 way = (steps_[d].up & up) | (steps_[d].down & ~up);
      const u32 done = at == to ? ~0U : 0U;
      port = (port & done) | (way & ~done);
    }
    return {static_cast<u16>(port), 0, vcs_};
  }
  /// The step in a network in which no dimension wraps.
  [[nodiscard]] core::Candidate step_without_rings(u32 at_switch, u32 destination) const noexcept {
    const u32 target = concentration_.quotient(destination);
    for (const Dimension& dimension : dimensions_) {
      const u32 at = dimension.coordinate(at_switch);
      const u32 to = dimension.coordinate(target);
      if (at == to) continue;
      if (dimension.full) return {static_cast<u16>(dimension.port_up + (to < at ? to : to - 1)), 0, vcs_};
      return {at < to ? dimension.port_up : dimension.port_down, 0, vcs_};
    }
    return {static_cast<u16>(terminal_port_ + concentration_.remainder(destination)), 0, vcs_};
  }
  /// On a mesh whose coordinates fit into a word, they are looked up: quotients and remainders for every step of every
  /// packet would be most of the routing.
  void note_places(const core::Topology& topology) {
    const core::Grid* const grid = topology.grid();
    const bool fits = std::all_of(dimensions_.begin(), dimensions_.end(),
                                  [](const Dimension& d) { return d.size.value() <= kPlaceMask + 1; });
    if (grid == nullptr || any_ring_ || !fits || dimensions_.size() * kPlaceBits > 32) return;
    for (u32 s = 0; s < topology.graph().switches(); ++s) {
      u32 place = 0;
      for (std::size_t d = 0; d < dimensions_.size(); ++d) place |= dimensions_[d].coordinate(s) << (d * kPlaceBits);
      places_.push_back(place);
    }
    for (const Dimension& d : dimensions_) steps_.push_back({d.port_up, d.port_down});
  }

  void step(const core::RouteRequest& request, bool all, core::Candidates& out) const noexcept {
    const u32 destination = request.packet->destination;
    if (!places_.empty()) return out.add(step_on_mesh(request.at, destination));
    if (!any_ring_) return out.add(step_without_rings(request.at, destination));
    const u32 target = concentration_.quotient(destination);
    if (request.at == target) {
      out.add({static_cast<u16>(terminal_port_ + concentration_.remainder(destination)), 0, vcs_});
      return;
    }
    for (const Dimension& dimension : dimensions_) {
      const u32 at = dimension.coordinate(request.at);
      const u32 to = dimension.coordinate(target);
      if (at == to) continue;
      if (dimension.ring) {
        const bool tie =
            random_ties_ && 2 * (at < to ? to - at : to + dimension.size.value() - at) == dimension.size.value();
        if (!all || !tie) {
          out.add(ring_step(dimension, at, to, *request.packet, tie ? request.random() : 0));
        } else {
          for (u32 way = 0; way < 2; ++way) out.add(ring_step(dimension, at, to, *request.packet, way));
        }
      } else {
        out.add({at < to ? dimension.port_up : dimension.port_down, 0, vcs_});
      }
      return;
    }
  }

  [[nodiscard]] core::Candidate ring_step(const Dimension& dimension, u32 at, u32 to, const core::Packet& packet,
                                          u32 random) const noexcept {
    const u32 size = dimension.size.value();
    const u32 ahead = at < to ? to - at : to + size - at;  // links on the way up
    // At distance k/2 both ways are shortest. The parity of the source's coordinate here and of all coordinates in the
    // other dimensions decides: of the switches of a ring, and of the packets of a switch, half go each way.
    // Otherwise a random bit decides: it is drawn once, since a step later one way is shorter.
    const u32 tie = random_ties_ ? random : parity(packet) ^ to;
    const bool up = 2 * ahead < size || (2 * ahead == size && (tie & 1U) == 0);
    const u16 port = up ? dimension.port_up : dimension.port_down;
    if (classes_ == Classes::none) return {port, 0, vcs_};
    const u32 vc_class = ring_class(dimension, up, at, to, packet);
    return {port, static_cast<u8>(vcs_ * vc_class / 2), static_cast<u8>(vcs_ * (vc_class + 1) / 2)};
  }

  [[nodiscard]] u32 ring_class(const Dimension& dimension, bool up, u32 at, u32 to,
                               const core::Packet& packet) const noexcept {
    if (classes_ == Classes::change) return (up ? at > to : at < to) ? 0 : 1;
    const u32 from = dimension.coordinate(concentration_.quotient(packet.source));
    const bool over_wrap = up ? from > to : from < to;
    if (classes_ == Classes::fixed || over_wrap) return over_wrap ? 1 : 0;
    // The middle link joins middle and middle + 1.
    const u32 middle = (dimension.size.value() - 1) / 2;
    const bool over_middle = (from <= middle) != (to <= middle);
    return over_middle ? 0 : parity(packet);
  }

  /// The parity of all coordinates of source and destination: one bit per pair, the same at every hop.
  [[nodiscard]] u32 parity(const core::Packet& packet) const noexcept {
    const u32 source = concentration_.quotient(packet.source);
    const u32 target = concentration_.quotient(packet.destination);
    u32 sum = 0;
    for (const Dimension& dimension : dimensions_) sum += dimension.coordinate(source) + dimension.coordinate(target);
    return sum & 1U;
  }

  std::vector<Dimension> dimensions_;  ///< of more than one switch, in the order in which they are corrected
  Divisor concentration_;
  u32 terminal_port_ = 0;  ///< port of a switch's first terminal
  Classes classes_;
  bool random_ties_;
  u8 vcs_;
  bool any_ring_ = false;
  struct Step {
    u32 up = 0;  ///< ports
    u32 down = 0;
  };
  static constexpr u32 kPlaceBits = 8;
  static constexpr u32 kPlaceMask = (1U << kPlaceBits) - 1;
  std::vector<u32> places_;  ///< [switch]: coordinates, the first to be corrected lowest; empty: not looked up
  std::vector<Step> steps_;  ///< [dimension], in that order
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  parts::require_whole(values, context);
  if (context.topology->grid() == nullptr && context.topology->hyperx() == nullptr) {
    values.fail("order", "dimension_order needs a topology with coordinates",
                fmt::format("use the topology {}", core::topologies_with([](const core::Topology& t) {
                              return t.grid() != nullptr || t.hyperx() != nullptr;
                            })));
  }
  Classes classes = Classes::none;
  if (values.flag("datelines")) {
    const std::string& name = values.text("classes");
    classes = name == "change" ? Classes::change : name == "fixed" ? Classes::fixed : Classes::balanced;
  }
  auto routing = std::make_unique<DimensionOrder>(*context.topology, values.text("order") == "ascending", classes,
                                                  values.text("ties") == "random", context.vcs);
  if (context.vcs < routing->required_vcs()) {
    values.fail("datelines", "dimension_order with datelines needs 2 virtual channels on a torus, the switch has 1",
                "use the switch " + parts::switch_with_vcs(2) + ", or set datelines = false and accept deadlocks");
  }
  return routing;
}

}  // namespace

using config::Parameter;

extern const core::RoutingRow row_dimension_order;
const core::RoutingRow row_dimension_order{
    {
        "dimension_order",
        "Shortest paths on meshes, tori, hypercubes and HyperX networks, one dimension after the other (XY, YX, "
        "e-cube).",
        "W. J. Dally and C. L. Seitz, Deadlock-Free Message Routing in Multiprocessor Interconnection Networks, IEEE "
        "Transactions on Computers C-36(5), 1987",
        {
            Parameter::choice("order", {"ascending", "descending"}, "ascending")
                .doc("Order of the dimensions: ascending (XY, e-cube) or descending (YX)."),
            Parameter::choice("ties", {"coordinates", "random"}, "coordinates")
                .doc("The way around a ring at half of its length: fixed for a pair by its coordinates, half of the "
                     "pairs each way, or drawn for every packet."),
            Parameter::boolean("datelines", true)
                .doc("Split the virtual channels of rings into two classes; false lets a torus deadlock."),
            Parameter::choice("classes", {"change", "fixed", "balanced"}, "balanced")
                .only_with("datelines")
                .doc("How datelines assign classes: change behind the wrap link, fixed per ring, or fixed and "
                     "balanced."),
        },
    },
    make,
};

}  // namespace banyan::routing::dimension_order
