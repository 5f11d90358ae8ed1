// Follows congestion trees from sample to sample: gives them their numbers and writes down what becomes of them
// (docs/explanation/congestion-trees.md, "Over time").
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/stats/congestion.hpp"

namespace banyan::engine {

class TreeTracker {
 public:
  /// A tree that is missing from so many samples in a row has died, at the first of them.
  static constexpr u32 kPatience = 2;

  /// Numbers the trees of a sample, which are in the order of their roots. `places`: of the record so far.
  void follow(u64 at, std::vector<stats::CongestionTree>& trees, const std::vector<stats::CongestionPlace>& places);
  /// What is alive dies with the run unnoticed: it has no event.
  [[nodiscard]] const std::vector<stats::CongestionEvent>& events() const noexcept { return events_; }
  [[nodiscard]] std::vector<stats::CongestionEvent> take_events() { return std::move(events_); }

  void archive(Archive& a) { a(living_, overlapping_, events_, next_id_); }

 private:
  struct Living {
    u32 id = 0;
    u32 root = 0;
    std::vector<u32> members;  ///< places, ascending
    u32 most_members = 0;      ///< that were told
    u32 most_depth = 0;
    u32 parent = kNone;      ///< that it split from
    bool inherited = false;  ///< the root of another tree moved to its own
    u64 missing_since = 0;
    u32 missing = 0;  ///< samples

    void archive(Archive& a) {
      a(id, root, members, most_members, most_depth, parent, inherited, missing_since, missing);
    }
  };

  void keep_roots(std::vector<stats::CongestionTree>& trees);
  void move_roots(u64 at, std::vector<stats::CongestionTree>& trees, const std::vector<stats::CongestionPlace>& places);
  void bear(u64 at, std::vector<stats::CongestionTree>& trees);
  void bury(u64 at, const std::vector<stats::CongestionTree>& trees, const std::vector<stats::CongestionPlace>& places);
  void end(const Living& old, const std::vector<stats::CongestionTree>& trees);
  [[nodiscard]] stats::CongestionEventKind end_of(const Living& old, const stats::CongestionTree& heir,
                                                  const std::vector<u32>& members,
                                                  const std::vector<stats::CongestionPlace>& places);
  void grow(u64 at, const std::vector<stats::CongestionTree>& trees);
  void compare_pairs(u64 at, const std::vector<stats::CongestionTree>& trees,
                     const std::vector<stats::CongestionPlace>& places);
  void tell(u64 at, stats::CongestionEventKind kind, const stats::CongestionTree& tree, u32 other, u32 old_root);

  std::vector<Living> living_;
  std::vector<std::vector<u32>> members_;  ///< [tree of the sample]: places, ascending
  std::vector<u32> successor_;             ///< [living]: tree of the sample, or kNone
  std::vector<u8> numbered_;               ///< [tree of the sample]
  std::set<std::pair<u32, u32>> overlapping_;
  std::vector<stats::CongestionEvent> events_;
  u32 next_id_ = 1;
};

}  // namespace banyan::engine
