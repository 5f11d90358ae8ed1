// What a mechanism that sets queues aside knows of the congestion trees, against the trees themselves.
#pragma once

#include "banyan/stats/congestion.hpp"

namespace banyan::stats {

struct CongestionView {
  u32 most_queues = 0;      ///< set aside at one time
  u32 trees = 0;            ///< that lived for two samples at least
  u32 detected = 0;         ///< of these: queues were set aside for their root while they lived, or a sample later
  u32 missed = 0;           ///< trees - detected
  u64 delay = 0;            ///< sum over the detected: cycles from the first sample of the tree to that of such a queue
  u32 roots = 0;            ///< channels that queues were set aside for
  u32 false_roots = 0;      ///< of these: at no time, give or take a sample, the root of a tree
  u64 queue_samples = 0;    ///< queues set aside, summed over the samples
  u64 useless_samples = 0;  ///< of these: for a channel that is not the root of a tree at that time
};

[[nodiscard]] CongestionView compare_views(const CongestionRecord& record);

}  // namespace banyan::stats
