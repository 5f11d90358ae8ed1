// The [sweep] table: axes of values, alone or linked, and their product.
//
//   [sweep]
//   "traffic.uniform.load" = [0.1, 0.2]                          # a list
//   "switch.buffer" = { from = 4, to = 20, step = 4 }            # a range; or { from, to, count }
//   zip = [["topology.terminals", "topology.radix"]]             # keys that move together, one value of each per point
//   names = ["small", "large"]                                   # of the values of the only axis, in tables and
//   legends;
//                                                                # with several: names = { "switch.buffer" = ["small",
//                                                                ...] }
#pragma once

#include <string>
#include <vector>

#include "banyan/config/tree.hpp"

namespace banyan::config {

/// One axis: one key, or several linked ones. values[i][k] is what keys[k] takes at the axis' i-th place.
struct Axis {
  std::vector<std::string> keys;
  std::vector<Where> places;  ///< of the keys
  std::vector<std::vector<Node>> values;
  /// What the values are called where curves are told apart: sweep.names, or made by make_names().
  std::vector<std::string> names;
  bool named = false;  ///< by sweep.names, so that no key is needed beside them
};

/// Fills `names` where the file gives none. Keys that move together are told apart by the first of them whose values
/// all differ, or by all of them.
void make_names(Axis& axis);

/// For each key the shortest of its ends that no other key has: "load" of "traffic.load", "uniform.load" beside
/// "traffic.incast.load".
[[nodiscard]] std::vector<std::string> short_names(const std::vector<std::string>& keys);

/// What `place` of the axis is called beside other axes: a given name or a text alone, else "buffer = 8" with the short
/// name of its key.
[[nodiscard]] std::string label_of(const Axis& axis, std::size_t place, const std::string& short_name);

/// Axes in the order of the file; linked keys stand at the place of the first of them.
[[nodiscard]] std::vector<Axis> read_sweep(const Node& table);

/// The values of one axis: an array, or a range table. Throws ConfigError when there is none.
[[nodiscard]] std::vector<Node> read_axis_values(const Node& node, const std::string& key);

/// Every combination of one index per axis, the last axis fastest. Without axes: one empty combination.
[[nodiscard]] std::vector<std::vector<std::size_t>> product(const std::vector<std::size_t>& lengths);

/// Most points that a sweep may have: more is surely a slip, and every point is held in memory.
inline constexpr std::size_t kMostPoints = 100'000;

}  // namespace banyan::config
