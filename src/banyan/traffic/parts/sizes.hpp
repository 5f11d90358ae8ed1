// How long messages are, and into which packets they are cut: shared by every traffic.
#pragma once

#include <string_view>
#include <vector>

#include "banyan/base/rng.hpp"
#include "banyan/config/schema.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/traffic/parts/geometric.hpp"

namespace banyan::traffic {

inline constexpr Stream kLengths{"sizes: lengths"};

using core::kLongestPacket;
inline constexpr u32 kLongestMessage = 1U << 24U;

/// True when a parameter of these rows has another value than its default. A resolved configuration gives all values,
/// so that "given" alone says nothing.
[[nodiscard]] bool is_changed(const config::Values& values, const std::vector<config::Parameter>& rows,
                              std::string_view name);

/// Lengths of messages in flits. Draws are addressed by (terminal, nth), in a stream of their own.
class Sizes {
 public:
  static std::vector<config::Parameter> parameters();

  Sizes(const config::Values& values, const core::TrafficContext& context);

  void begin(u32 replication) { random_ = Random(seed_, kLengths, index_, replication); }

  [[nodiscard]] u32 operator()(u32 terminal, u64 nth) const noexcept {
    return kind_ == Kind::fixed ? size_ : draw(terminal, nth);
  }

  [[nodiscard]] double mean() const noexcept { return mean_; }  ///< of the lengths as drawn: rounded and limited
  [[nodiscard]] bool random() const noexcept { return kind_ != Kind::fixed; }
  [[nodiscard]] u32 longest() const noexcept { return longest_; }
  [[nodiscard]] u32 shortest() const noexcept { return kind_ == Kind::fixed ? size_ : 1; }
  /// Longest packet that messages are cut into; kNone: they are not cut.
  [[nodiscard]] u32 longest_packet() const noexcept { return longest_packet_; }

 private:
  enum class Kind : u8 { fixed, list, geometric, exponential };

  void read_list(const config::Values& values);
  void read_continuous(const config::Values& values);
  void check_unused(const config::Values& values) const;
  [[nodiscard]] u32 draw(u32 terminal, u64 nth) const noexcept;

  u64 seed_;
  u32 index_;
  Kind kind_ = Kind::fixed;
  u32 size_;
  u32 longest_;
  u32 longest_packet_ = kNone;
  double mean_;
  std::vector<u32> lengths_;  ///< of a list
  std::vector<u64> below_;    ///< a 32-bit word below this, and not below the one before, chooses the length
  GeometricGap geometric_;
  Random random_;
};

}  // namespace banyan::traffic
