// A trace replayed closed: the gap between two events of a processor is the measured one, and what follows a barrier
// follows its simulated end.
#pragma once

#include <vector>

#include "carrier.hpp"
#include "trace.hpp"

namespace banyan::study::silicon {

/// A barrier behind reads.
struct Barrier {
  u32 processor = 0;      ///< index in the trace
  u32 phase = 0;          ///< how many barriers of the processor came before it
  Tick last_issue = 0;    ///< measured
  Tick end = 0;           ///< measured
  double model_wait = 0;  ///< from the last issue to the end, in the model
  double model_end = 0;
  bool overlaps_profiler = false;  ///< the profiler sent between the barrier before it and its end

  [[nodiscard]] double wait() const { return static_cast<double>(end - last_issue); }
  [[nodiscard]] double error() const { return (model_wait - wait()) / wait(); }  ///< relative, with its sign
};

struct Replay {
  std::vector<Barrier> barriers;  ///< that wait for reads
  u64 empty = 0;                  ///< barriers that wait for nothing
};

/// Throws InvariantError when a read never comes back.
[[nodiscard]] Replay replay(const Trace& trace, const Constants& constants, Carrier& carrier);

/// No simulation: a barrier ends when the busiest port or link on the ways of its reads could have carried all that the
/// processors read up to their barriers of the same number. The wait is at least that of zero load.
[[nodiscard]] Replay bottleneck(const Trace& trace, const Constants& constants);

}  // namespace banyan::study::silicon
