// Samples a machine for its congestion trees: between ticks, at a fixed interval, so that it changes nothing and does
// not depend on shards or threads.
#pragma once

#include <map>
#include <tuple>

#include "banyan/base/archive.hpp"
#include "banyan/engine/congestion.hpp"
#include "banyan/engine/tree_tracker.hpp"

namespace banyan::engine {

class Machine;

struct TreePlan {
  Tick interval = 0;  ///< ticks between samples; 0: none
  double threshold = 1.0;
  Tick spacing = 1;    ///< ticks between the looks that a sample takes: the time of a packet
  bool flows = false;  ///< what the packets of every flow wait for
  Tick longest = 0;    ///< up to which the interval doubles where samples would take much of the time of the run
};

/// Marks between the first and the last sample, of packets that had none (docs/explanation/congestion-trees.md).
struct JudgedMarks {
  u64 all = 0;
  u64 false_ones = 0;  ///< on packets that went through no root from there on
};

class TreeRecorder {
 public:
  TreeRecorder(const core::Topology& topology, const core::Routing& routing, const TreePlan& plan);

  /// The machine is to be observed when all ticks before this one are done.
  [[nodiscard]] Tick next() const noexcept { return next_look_; }
  /// Is called at next(): a look before a sample, or the sample.
  void observe(const Machine& machine);
  /// One record per run; ends the recording.
  [[nodiscard]] stats::CongestionRecord take();
  [[nodiscard]] const JudgedMarks& marks() const noexcept { return marks_; }
  void archive(Archive& a) {
    a(next_, next_look_, finder_, tracker_, record_, flits_, packets_, latency_, read_, arrived_, waits_, marks_,
      roots_);
  }

 private:
  /// When there are more samples, every other one goes and the interval doubles.
  static constexpr std::size_t kMostSamples = 2048;
  /// How often the machine is looked at before a sample (TreeFinder::look).
  static constexpr Tick kLooks = 3;
  /// A sample may read one packet for so many that arrive meanwhile. Reading one takes about as long as one hop of the
  /// fastest models, and an arrival is several hops: measured, samples stay below 5 % of the time with all models
  /// (docs/explanation/congestion-trees.md).
  static constexpr u64 kArrivalsPerRead = 4;

  void sample(const Machine& machine, Tick at);
  void plan_looks();
  void add_fill(stats::CongestionSample& sample) const;
  void add_use(stats::CongestionSample& sample) const;
  void add_progress(const Machine& machine, stats::CongestionSample& sample);
  void add_waits();
  void judge_marks(const Machine& machine, const std::vector<stats::CongestionTree>& trees);
  void thin();
  /// Doubles the interval where samples read too much.
  void economize(const Machine& machine);

  const core::Graph& graph_;
  TreePlan plan_;
  Tick spacing_;    ///< of looks, so that they fit between samples
  Tick next_;       ///< sample
  Tick next_look_;  ///< at or before it
  BlockedView glance_{false};
  BlockedView view_{true};
  TreeFinder finder_;
  TreeTracker tracker_;
  stats::CongestionRecord record_;
  u64 flits_ = 0;
  u64 packets_ = 0;
  u64 latency_ = 0;
  u64 read_ = 0;     ///< packets that samples read since the interval last changed
  u64 arrived_ = 0;  ///< packets that had arrived then
  std::map<std::tuple<u32, u32, u8, u32, u32, u32>, u64> waits_;
  JudgedMarks marks_;
  std::vector<u32> roots_;  ///< of the last sample, ascending
};

}  // namespace banyan::engine
