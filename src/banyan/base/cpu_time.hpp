// CPU time of the calling thread: what a run costs, whatever else the process does at the same time.
#pragma once

#include <ctime>

namespace banyan {

[[nodiscard]] inline double thread_cpu_seconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace banyan
