// Fills the profile of a run while it goes on.
#pragma once

#include <chrono>
#include <memory>

#include "banyan/api/profile.hpp"
#include "banyan/engine/machine.hpp"

namespace banyan::api {

/// Seconds by the clock on the wall.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  /// The seconds up to now; starts again.
  double lap() {
    const double seconds = this->seconds();
    start_ = Clock::now();
    return seconds;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// What a cut and its windows were; times are not touched.
void add_cut(Profile& profile, const engine::Machine& machine);

/// A machine ran for so many seconds, on its threads. What is neither mail nor waiting nor between the windows was
/// work.
void add_run(Profile& profile, const engine::Machine& machine, double seconds);

}  // namespace banyan::api
