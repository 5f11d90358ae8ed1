// Multistage networks as columns of n x n boxes between digit permutations: what the literature draws.
#pragma once

#include <fmt/core.h>

#include <limits>
#include <utility>
#include <vector>

#include "banyan/base/bits.hpp"
#include "banyan/config/schema.hpp"
#include "banyan/core/graph.hpp"
#include "banyan/core/size.hpp"

namespace banyan::topology {

/// A permutation of n^k positions that moves base-n digits: digit j of the image is digit from[j] of the argument.
class DigitPermutation {
 public:
  static DigitPermutation identity(u32 digits) {
    DigitPermutation p;
    for (u32 j = 0; j < digits; ++j) p.from_.push_back(j);
    return p;
  }

  /// The perfect n-shuffle of the lowest `low` digits: they rotate one place up, the highest of them becomes digit 0.
  static DigitPermutation shuffle(u32 digits, u32 low) {
    DigitPermutation p = identity(digits);
    for (u32 j = 0; j < low; ++j) p.from_[j] = (j + low - 1) % low;
    return p;
  }

  /// The inverse of shuffle(digits, low): digit 0 becomes the highest of the lowest `low` digits.
  static DigitPermutation unshuffle(u32 digits, u32 low) {
    DigitPermutation p = identity(digits);
    for (u32 j = 0; j < low; ++j) p.from_[j] = (j + 1) % low;
    return p;
  }

  /// The butterfly permutation: digits 0 and i change places.
  static DigitPermutation exchange(u32 digits, u32 i) {
    DigitPermutation p = identity(digits);
    std::swap(p.from_[0], p.from_[i]);
    return p;
  }

  /// This permutation first, then `next`.
  [[nodiscard]] DigitPermutation then(const DigitPermutation& next) const {
    DigitPermutation p;
    for (const u32 j : next.from_) p.from_.push_back(from_[j]);
    return p;
  }

  [[nodiscard]] u32 operator()(u32 x, u32 n) const {
    u64 image = 0;
    for (u32 j = 0; j < from_.size(); ++j) image += digit(x, n, from_[j]) * power(n, j);
    return static_cast<u32>(image);
  }

 private:
  std::vector<u32> from_;
};

/// The columns of boxes between wires.size() permutations. Permutation 0 leads from the terminals into the first
/// column, the last one from the last column to the terminals; box b of a column has the positions b*n .. b*n + n-1 as
/// its ports. Boxes are numbered column by column, and channel c*N + x starts at position x before permutation c.
[[nodiscard]] inline core::Graph build_columns(u32 terminals, u32 radix, const std::vector<DigitPermutation>& wires) {
  using core::End;
  core::Graph graph(terminals);
  const u32 columns = static_cast<u32>(wires.size()) - 1;
  const u32 boxes = terminals / radix;
  for (u32 s = 0; s < columns; ++s) {
    for (u32 b = 0; b < boxes; ++b) graph.add_switch(radix, radix, s);
  }
  for (u32 c = 0; c <= columns; ++c) {
    for (u32 x = 0; x < terminals; ++x) {
      const u32 y = wires[c](x, radix);
      graph.add_channel(c == 0 ? End::of_terminal(x) : End::of_switch((c - 1) * boxes + x / radix, x % radix),
                        c == columns ? End::of_terminal(y) : End::of_switch(c * boxes + y / radix, y % radix));
    }
  }
  return graph;
}

/// The columns of a cube network: every link keeps its number through a box, and the box of a column that sets digit i
/// joins the n links that differ only there. Terminals sit on the links of their own number.
[[nodiscard]] inline core::Graph build_cube_columns(u32 terminals, u32 radix, u32 digits,
                                                    const std::vector<u32>& digit_of_stage) {
  // Collecting the links that differ in digit i side by side is a shuffle of the lowest i + 1 digits.
  std::vector<DigitPermutation> wires;
  DigitPermutation to_links = DigitPermutation::identity(digits);
  for (const u32 i : digit_of_stage) {
    wires.push_back(to_links.then(DigitPermutation::shuffle(digits, i + 1)));
    to_links = DigitPermutation::unshuffle(digits, i + 1);
  }
  wires.push_back(to_links);
  return build_columns(terminals, radix, wires);
}

/// The box of link `link` in a column of a cube network that sets digit i, and the link's port there.
struct BoxPort {
  u32 box = 0;
  u32 port = 0;
};
[[nodiscard]] inline BoxPort cube_box(u32 link, u32 radix, u32 digits, u32 i) {
  const u32 position = DigitPermutation::shuffle(digits, i + 1)(link, radix);
  return {position / radix, position % radix};
}

/// log_n N, or ConfigError at `terminals` that names the powers of n around N.
[[nodiscard]] inline u32 checked_digits(const config::Values& values) {
  const u32 terminals = values.natural("terminals");
  const u32 radix = values.natural("radix");
  const auto digits = exact_log(terminals, radix);
  if (digits && *digits >= 1) return *digits;
  u64 below = radix;
  while (below * radix < terminals) below *= radix;
  values.fail("terminals", fmt::format("{} terminals are no power of the radix {}", terminals, radix),
              fmt::format("use {} or {}", below, below * radix));
}

/// The size of so many columns; terminals that are no power of the radix are counted up to the next.
[[nodiscard]] inline core::NetworkSize columns_size(const config::Values& values, double more_columns) {
  const double terminals = values.natural("terminals");
  const double radix = values.natural("radix");
  double columns = more_columns;
  for (double reached = 1.0; reached < terminals; reached *= radix) ++columns;
  core::NetworkSize size;
  size.terminals = terminals;
  size.switches = columns * terminals / radix;
  size.inputs = columns * terminals;
  size.channels = (columns + 1.0) * terminals;
  size.passed = columns;
  return size;
}

}  // namespace banyan::topology
