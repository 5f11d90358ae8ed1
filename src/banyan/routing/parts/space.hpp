// Coordinates of meshes, tori, hypercubes and HyperX networks under one name: which ports lead nearer in a dimension.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "banyan/core/registry.hpp"
#include "banyan/core/routing.hpp"
#include "banyan/routing/parts/places.hpp"

namespace banyan::routing::parts {

class Space {
 public:
  /// A step that reduces the distance in one dimension. On rings, class 0 while the wrap link lies ahead, else 1.
  struct Step {
    u16 port = 0;
    u8 ring_class = 0;
    bool ring = false;
  };
  /// The shortest ways in one dimension: both ways around a ring at half of its length.
  struct Steps {
    std::array<Step, 2> step;
    u32 count = 0;
  };

  /// Throws ConfigError on other topologies, and where links have failed.
  Space(const config::Values& values, const core::RoutingContext& context) {
    require_whole(values, context);
    const core::Grid* const grid = context.topology->grid();
    const core::HyperX* const hyperx = context.topology->hyperx();
    if (grid == nullptr && hyperx == nullptr) {
      values.fail("name", fmt::format("{} needs a topology with coordinates", values.component()),
                  fmt::format("use the topology {}", core::topologies_with([](const core::Topology& t) {
                                return t.grid() != nullptr || t.hyperx() != nullptr;
                              })));
    }
    const std::vector<u32>& size = grid != nullptr ? grid->size : hyperx->size;
    concentration_ = grid != nullptr ? grid->concentration : hyperx->concentration;
    u32 stride = 1;
    for (std::size_t d = 0; d < size.size(); ++d) {
      Dimension dimension{size[d], stride, 0, 0, Kind::full};
      if (grid != nullptr) {
        dimension.up = grid->port_up[d];
        dimension.down = grid->port_down[d];
        dimension.kind = grid->wrap[d] && size[d] > 2 ? Kind::ring : Kind::line;
        rings_ = rings_ || dimension.kind == Kind::ring;
      } else {
        dimension.up = hyperx->first_port[d];
      }
      if (size[d] > 1) dimensions_.push_back(dimension);
      stride *= size[d];
    }
    switches_ = stride;
    terminal_port_ = context.topology->graph().channel(context.topology->graph().ejection(0)).from.port;
  }

  [[nodiscard]] u32 switches() const noexcept { return switches_; }
  /// Dimensions of more than one switch.
  [[nodiscard]] u32 dimensions() const noexcept { return static_cast<u32>(dimensions_.size()); }
  [[nodiscard]] bool rings() const noexcept { return rings_; }
  /// Classes that cut the rings: 2 with rings, 1 without.
  [[nodiscard]] u32 ring_classes() const noexcept { return rings_ ? 2 : 1; }
  [[nodiscard]] u32 switch_of(u32 terminal) const noexcept { return terminal / concentration_; }
  [[nodiscard]] u32 port_of(u32 terminal) const noexcept { return terminal_port_ + terminal % concentration_; }
  [[nodiscard]] bool just_entered(const core::RouteRequest& request) const noexcept {
    return request.in_port >= terminal_port_;
  }
  [[nodiscard]] u32 size(u32 d) const noexcept { return dimensions_[d].size; }
  [[nodiscard]] u32 coordinate(u32 s, u32 d) const noexcept { return s / dimensions_[d].stride % dimensions_[d].size; }
  [[nodiscard]] u32 stride(u32 d) const noexcept { return dimensions_[d].stride; }
  /// A closed ring of more than two switches.
  [[nodiscard]] bool ring(u32 d) const noexcept { return dimensions_[d].kind == Kind::ring; }
  [[nodiscard]] u32 port_up(u32 d) const noexcept { return dimensions_[d].up; }
  [[nodiscard]] u32 port_down(u32 d) const noexcept { return dimensions_[d].down; }

  [[nodiscard]] Steps steps(u32 d, u32 at, u32 target) const noexcept {
    const Dimension& dimension = dimensions_[d];
    const u32 from = coordinate(at, d);
    const u32 to = coordinate(target, d);
    Steps result;
    if (from == to) return result;
    const auto add = [&](u32 port, u32 ring_class, bool ring) {
      result.step[result.count++] = {static_cast<u16>(port), static_cast<u8>(ring_class), ring};
    };
    switch (dimension.kind) {
      case Kind::full:
        add(dimension.up + (to < from ? to : to - 1), 0, false);
        break;
      case Kind::line:
        add(from < to ? dimension.up : dimension.down, 0, false);
        break;
      case Kind::ring: {
        const u32 ahead = from < to ? to - from : to + dimension.size - from;
        if (2 * ahead <= dimension.size) add(dimension.up, from > to ? 0 : 1, true);
        if (2 * ahead >= dimension.size) add(dimension.down, from < to ? 0 : 1, true);
        break;
      }
    }
    return result;
  }

  [[nodiscard]] u32 distance(u32 d, u32 at, u32 target) const noexcept {
    const Dimension& dimension = dimensions_[d];
    const u32 from = coordinate(at, d);
    const u32 to = coordinate(target, d);
    const u32 direct = from < to ? to - from : from - to;
    if (dimension.kind == Kind::full) return direct == 0 ? 0 : 1;
    return dimension.kind == Kind::ring ? std::min(direct, dimension.size - direct) : direct;
  }
  [[nodiscard]] u32 distance(u32 at, u32 target) const noexcept {
    u32 sum = 0;
    for (u32 d = 0; d < dimensions(); ++d) sum += distance(d, at, target);
    return sum;
  }

  /// The coordinate in dimension d after `count` steps of a shortest way from one switch towards another: of two ways
  /// around a ring, the one of number `way`.
  [[nodiscard]] u32 toward(u32 d, u32 from, u32 to, u32 count, u32 way = 0) const noexcept {
    const Dimension& dimension = dimensions_[d];
    const u32 start = coordinate(from, d);
    if (count == 0) return start;
    if (dimension.kind == Kind::full) return coordinate(to, d);
    const bool up = steps(d, from, to).step[way].port == dimension.up;
    return (start + (up ? count : dimension.size - count)) % dimension.size;
  }

  /// The steps of dimension order, ascending or descending; at != target. There are two only at half of the length of a
  /// ring of even size, and there every packet has to take either with the same probability, or one direction of the
  /// ring carries more than the other.
  [[nodiscard]] Steps ordered_steps(u32 at, u32 target, bool ascending = true) const noexcept {
    for (u32 i = 0; i < dimensions(); ++i) {
      const Steps found = steps(ascending ? i : dimensions() - 1 - i, at, target);
      if (found.count != 0) return found;
    }
    return {};
  }
  /// One of them, by the lowest bit of the packet's word. It is drawn once: a step later one way around is shorter.
  [[nodiscard]] Step ordered_step(u32 at, u32 target, const core::HopWord& word, bool ascending = true) const noexcept {
    const Steps found = ordered_steps(at, target, ascending);
    return found.step[found.count == 2 ? word() & 1U : 0];
  }

 private:
  enum class Kind : u8 { line, ring, full };
  struct Dimension {
    u32 size;
    u32 stride;
    u32 up;
    u32 down;
    Kind kind;
  };

  std::vector<Dimension> dimensions_;
  u32 switches_ = 1;
  u32 concentration_ = 1;
  u32 terminal_port_ = 0;
  bool rings_ = false;
};

}  // namespace banyan::routing::parts
