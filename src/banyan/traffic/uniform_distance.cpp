// Uniform distance, then uniform among the terminals at that distance (Buzzard and Mudge, section 4 and Table 2): near
// terminals are reached as often as far ones although there are fewer of them.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "banyan/core/registry.hpp"
#include "banyan/traffic/parts/pattern.hpp"

namespace banyan::traffic::uniform_distance {
namespace {

/// Terminals of a network whose distances are listed pair by pair. In larger tori, all of whose switches see the same
/// network, those of one switch are listed; in smaller ones too many results are recorded with the other order.
constexpr u32 kMostListed = 4096;

/// Distances in links between switches; terminals of one switch are 0 apart.
class UniformDistance final : public Pattern {
 public:
  UniformDistance(const config::Values& values, const core::TrafficContext& context)
      : Pattern(values, context), terminals_(context.terminals) {
    const core::Topology& topology = *context.topology;
    hypercube_degree_ = degree_of(topology);
    if (hypercube_degree_ == 0 && terminals_ > kMostListed && is_whole_torus(topology)) torus_ = topology.grid();
    const u32 longest = hypercube_degree_ != 0 ? hypercube_degree_
                        : torus_ != nullptr    ? list_offsets()
                                               : list_distances(values, topology);
    least_ = values.natural("least");
    const u32 most = values.natural("most") != 0 ? values.natural("most") : longest;
    if (most > longest) {
      values.fail("most", "no terminals are " + std::to_string(most) + " links apart",
                  "the network's longest distance is " + std::to_string(longest));
    }
    if (least_ > most) {
      values.fail("least",
                  "the range of distances, " + std::to_string(least_) + " to " + std::to_string(most) + ", is empty",
                  "make least at most as large as most");
    }
    range_ = most - least_ + 1;
    if (hypercube_degree_ != 0) count_subsets();
    if (hypercube_degree_ == 0 && torus_ == nullptr) check_reach(values, most);
  }

  u32 destination(u32 terminal, u64, const Words& words) const noexcept override {
    // One word holds both draws: the distance takes the upper part of it, what is left decides among the terminals.
    const u64 scaled = static_cast<u64>(words[2]) * range_;
    const u32 distance = least_ + static_cast<u32>(scaled >> 32U);
    const u32 rest = static_cast<u32>(scaled);
    if (hypercube_degree_ != 0) {
      return terminal ^ subset(below(rest, subsets_[hypercube_degree_][distance]), distance);
    }
    if (torus_ != nullptr) return far_from(terminal, listed_[first_[distance] + below(rest, at_distance(distance))]);
    const u32 begin = first_[std::size_t{terminal} * (longest_ + 2) + distance];
    const u32 end = first_[std::size_t{terminal} * (longest_ + 2) + distance + 1];
    return listed_[std::size_t{terminal} * terminals_ + begin + below(rest, end - begin)];
  }

  void add_shares(u32 terminal, double weight, std::span<double> shares) const override {
    for (u32 d = least_; d < least_ + range_; ++d) {
      if (torus_ != nullptr) {
        for (u32 i = first_[d]; i < first_[d + 1]; ++i) {
          shares[far_from(terminal, listed_[i])] += weight / range_ / at_distance(d);
        }
        continue;
      }
      if (hypercube_degree_ == 0) {
        const u32* const row = &first_[std::size_t{terminal} * (longest_ + 2) + d];
        const std::span<const u32> there(&listed_[std::size_t{terminal} * terminals_ + row[0]], row[1] - row[0]);
        for (const u32 to : there) shares[to] += weight / range_ / static_cast<double>(there.size());
        continue;
      }
      const u32 count = subsets_[hypercube_degree_][d];
      for (u32 i = 0; i < count; ++i) shares[terminal ^ subset(i, d)] += weight / range_ / count;
    }
  }

 private:
  /// Degree of a hypercube with one terminal per switch; 0 otherwise.
  [[nodiscard]] static u32 degree_of(const core::Topology& topology) {
    const core::Grid* const grid = topology.grid();
    if (grid == nullptr || grid->concentration != 1) return 0;
    const auto binary = [](u32 size) { return size == 2; };
    return std::all_of(grid->size.begin(), grid->size.end(), binary) ? static_cast<u32>(grid->size.size()) : 0;
  }

  /// A torus with one terminal per switch and all of its links.
  [[nodiscard]] static bool is_whole_torus(const core::Topology& topology) {
    const core::Grid* const grid = topology.grid();
    if (grid == nullptr || grid->concentration != 1) return false;
    for (std::size_t d = 0; d < grid->size.size(); ++d) {
      if (!grid->wrap[d] && grid->size[d] > 2) return false;
    }
    const auto& channels = topology.graph().channels();
    return std::none_of(channels.begin(), channels.end(), [](const core::Channel& c) { return c.failed; });
  }
  /// The terminal that is `offset` away, both as numbers of switches.
  [[nodiscard]] u32 far_from(u32 terminal, u32 offset) const noexcept {
    u32 to = 0;
    u32 stride = 1;
    for (const u32 size : torus_->size) {
      const u32 sum = terminal % size + offset % size;
      to += stride * (sum >= size ? sum - size : sum);
      stride *= size;
      terminal /= size;
      offset /= size;
    }
    return to;
  }
  [[nodiscard]] u32 at_distance(u32 distance) const noexcept { return first_[distance + 1] - first_[distance]; }
  /// All offsets by their distance; returns the longest.
  u32 list_offsets() {
    std::vector<u32> distances(terminals_);
    for (u32 offset = 0; offset < terminals_; ++offset) {
      u32 rest = offset;
      for (const u32 size : torus_->size) {
        distances[offset] += std::min(rest % size, size - rest % size);
        rest /= size;
      }
      longest_ = std::max(longest_, distances[offset]);
    }
    first_.assign(longest_ + 2, 0);
    for (const u32 d : distances) ++first_[d + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<u32> next = first_;
    listed_.resize(terminals_);
    for (u32 offset = 0; offset < terminals_; ++offset) listed_[next[distances[offset]]++] = offset;
    return longest_;
  }

  void count_subsets() {
    subsets_.assign(hypercube_degree_ + 1, std::vector<u32>(hypercube_degree_ + 1, 0));
    for (u32 n = 0; n <= hypercube_degree_; ++n) {
      subsets_[n][0] = 1;
      for (u32 k = 1; k <= n; ++k) subsets_[n][k] = subsets_[n - 1][k - 1] + (k < n ? subsets_[n - 1][k] : 0);
    }
  }
  /// The index-th set of `size` bits (combinatorial number system).
  [[nodiscard]] u32 subset(u32 index, u32 size) const noexcept {
    u32 bits = 0;
    for (u32 bit = hypercube_degree_; bit > size; --bit) {
      const u32 without = subsets_[bit - 1][size];
      if (index < without) continue;
      index -= without;
      bits |= 1U << (bit - 1);
      --size;
    }
    return bits | ((1U << size) - 1U);
  }

  /// Terminals by distance from every terminal; returns the longest distance.
  u32 list_distances(const config::Values& values, const core::Topology& topology) {
    const core::Graph& graph = topology.graph();
    if (terminals_ > kMostListed) {
      values.fail("name", "uniform_distance lists all pairs of " + std::to_string(terminals_) + " terminals",
                  fmt::format("use the topology {} with one terminal per switch, or at most {} terminals",
                              core::topologies_with(
                                  [](const core::Topology& t) { return is_whole_torus(t) || degree_of(t) != 0; }),
                              kMostListed));
    }
    std::vector<std::vector<u32>> distances;
    for (u32 t = 0; t < terminals_; ++t) {
      distances.push_back(graph.distances_from(graph.channel(graph.injection(t)).to.node));
      for (u32 other = 0; other < terminals_; ++other) {
        const u32 d = distances[t][graph.channel(graph.ejection(other)).from.node];
        if (d != kNone) longest_ = std::max(longest_, d);
      }
    }
    for (u32 t = 0; t < terminals_; ++t) {
      u32 count = 0;
      for (u32 d = 0; d <= longest_; ++d) {
        first_.push_back(count);
        for (u32 other = 0; other < terminals_; ++other) {
          if (distances[t][graph.channel(graph.ejection(other)).from.node] != d) continue;
          listed_.push_back(other);
          ++count;
        }
      }
      first_.push_back(count);
      listed_.resize(std::size_t{t + 1} * terminals_);
    }
    return longest_;
  }
  void check_reach(const config::Values& values, u32 most) const {
    for (u32 t = 0; t < terminals_; ++t) {
      for (u32 d = least_; d <= most; ++d) {
        const std::size_t row = std::size_t{t} * (longest_ + 2);
        if (first_[row + d] != first_[row + d + 1]) continue;
        values.fail("most", "terminal " + std::to_string(t) + " has no other " + std::to_string(d) + " links away",
                    "choose a range of distances at which every terminal finds others");
      }
    }
  }

  u32 terminals_;
  u32 hypercube_degree_ = 0;
  const core::Grid* torus_ = nullptr;  ///< a large one
  u32 least_ = 1;
  u32 range_ = 1;
  u32 longest_ = 0;
  std::vector<std::vector<u32>> subsets_;  ///< binomial coefficients
  std::vector<u32> first_;   ///< [terminal][distance]: begin in its part of listed_; of a large torus [distance]
  std::vector<u32> listed_;  ///< [terminal][...]: others by distance; of a large torus offsets
};

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  return std::make_unique<UniformDistance>(values, context);
}

config::ComponentInfo info() {
  using config::Parameter;
  config::ComponentInfo row{"uniform_distance",
                            "Uniform distance, then a uniform choice among the terminals at that distance",
                            "Buzzard and Mudge, Short Latency Routing for Hypercube Multiprocessors, section 4 and "
                            "Table 2",
                            Pattern::parameters()};
  row.parameters.push_back(
      Parameter::integer("least", 1).unit("links").range(1, 65535).doc("Shortest distance of a destination"));
  row.parameters.push_back(Parameter::integer("most", 0).unit("links").range(0, 65535).doc(
      "Longest distance of a destination; 0: the network's longest"));
  return row;
}

}  // namespace

extern const core::TrafficRow row_uniform_distance;
const core::TrafficRow row_uniform_distance{info(), &make};

}  // namespace banyan::traffic::uniform_distance
