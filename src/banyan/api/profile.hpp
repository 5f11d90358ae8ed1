// Where the time of a run went: the work itself, and what several threads cost beside it.
#pragma once

#include <string>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::api {

struct Profile {
  /// Seconds of one thread. They add up to run_seconds.
  struct Thread {
    double work = 0.0;   ///< stepping switches and terminals
    double mail = 0.0;   ///< taking in what other shards sent
    double wait = 0.0;   ///< at barriers, or for the last session: others had more to do, or no core
    double other = 0.0;  ///< between windows: records, checks, audits, which one thread does for all
  };
  std::vector<Thread> threads;  ///< that stepped
  u32 threads_asked = 1;
  std::string fewer_threads;  ///< why not as many as were asked for; empty: there were
  double seconds = 0.0;       ///< of the whole run, by the clock on the wall
  double build_seconds = 0.0;
  double run_seconds = 0.0;

  u32 switches = 0;
  u32 shards = 1;
  std::string cut_by = "nothing";  ///< what the shards were made by
  u64 channels = 0;
  u64 crossing_channels = 0;  ///< between two shards
  double heaviest = 1.0;      ///< ports of the largest shard, relative to the mean
  u64 window = 1;             ///< ticks that shards run on their own, at most
  u64 windows = 0;            ///< that were run; 0 with one shard
  u64 mails = 0;              ///< flits and control words that went from shard to shard
  u64 moves = 0;              ///< flit-hops, or moves of packets in sessions
  u64 peak_bytes = 0;
  /// The most work of a thread in each window, relative to the mean; of one thread with several shards, of these. 0:
  /// not known, of several ranks.
  double imbalance_in_windows = 0.0;

  /// The most work of a thread, relative to the mean; 1 where it is even.
  [[nodiscard]] double imbalance() const;
  /// Nanoseconds of work and mail per move, of all threads: what grows when they wait for the memory.
  [[nodiscard]] double nanoseconds_per_move() const;
};

/// The profile as a table of at most 80 columns.
[[nodiscard]] std::string to_table(const Profile& profile);

}  // namespace banyan::api
