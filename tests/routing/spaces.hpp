// Small networks with coordinates, for tests of routing functions on them.
#pragma once

#include "support/rows.hpp"

namespace banyan::test {

using Sizes = std::vector<i64>;

inline std::unique_ptr<core::Topology> mesh_of(Sizes size) { return topology("mesh", {{"size", std::move(size)}}); }
inline std::unique_ptr<core::Topology> torus_of(Sizes size) { return topology("torus", {{"size", std::move(size)}}); }
inline std::unique_ptr<core::Topology> hyperx_of(Sizes size) { return topology("hyperx", {{"size", std::move(size)}}); }
inline std::unique_ptr<core::Topology> cube_of(i64 degree) { return topology("hypercube", {{"degree", degree}}); }

inline std::vector<std::unique_ptr<core::Topology>> meshes() {
  std::vector<std::unique_ptr<core::Topology>> list;
  for (const Sizes& size : {Sizes{5, 4}, {2, 6}, {4, 4}}) list.push_back(mesh_of(size));
  list.push_back(topology("mesh", {{"size", Sizes{3, 3}}, {"concentration", i64{2}}}));
  return list;
}

inline std::vector<std::unique_ptr<core::Topology>> spaces() {
  std::vector<std::unique_ptr<core::Topology>> list = meshes();
  for (const Sizes& size : {Sizes{5, 4}, {6}, {4, 2, 3}}) list.push_back(torus_of(size));
  for (const Sizes& size : {Sizes{4, 3}, {2, 3, 2}}) list.push_back(hyperx_of(size));
  list.push_back(mesh_of({3, 2, 3}));
  list.push_back(cube_of(4));
  return list;
}

/// 2 where a ring must be cut, 1 elsewhere.
inline u32 ring_classes(const core::Topology& t) {
  if (t.grid() == nullptr) return 1;
  for (std::size_t d = 0; d < t.grid()->size.size(); ++d) {
    if (t.grid()->wrap[d]) return 2;
  }
  return 1;
}

/// Mean hops between switches of ordered pairs of terminals over all headers, and the number of samples.
struct MeanHops {
  u64 sum = 0;
  u64 count = 0;
  [[nodiscard]] double mean() const { return static_cast<double>(sum) / static_cast<double>(count); }
};
inline MeanHops mean_hops(const core::Topology& t, const core::Routing& r) {
  MeanHops result;
  for (u32 s = 0; s < t.graph().terminals(); ++s) {
    for (u32 d = 0; d < t.graph().terminals(); ++d) {
      const u32 headers = r.headers(s, d);
      for (u32 h = 0; h < headers; ++h) {
        core::Packet packet;
        packet.source = s;
        packet.destination = d;
        r.prepare(packet, static_cast<u32>(((u64{h} << 32U) + (u64{1} << 31U)) / headers));
        result.sum += follow(t, r, packet, mix64(u64{s} << 32U | d));
        ++result.count;
      }
    }
  }
  return result;
}

}  // namespace banyan::test
