// Progress on standard error: one line that renews itself on a terminal, a plain line every five seconds elsewhere.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "banyan/base/types.hpp"

namespace banyan::cli {

/// Percentage, rate and remaining time: "42 % of 8,000 cycles, 12,300 cycles/s, 0:12 left". `per_unit`: steps of `done`
/// that make one `unit` (a sweep reports thousandths of points); unit "": no rate. `left`: the
/// remaining time, where something knows better than the rate.
[[nodiscard]] std::string progress_text(u64 done, u64 total, double seconds, const std::string& unit, double per_unit,
                                        std::optional<double> left = {});

/// The same where a rate tells nothing: "42 % of 28 points, 0:12 left".
/// `left`: seconds, or nothing where nobody knows.
[[nodiscard]] std::string foreseen_text(u64 done, u64 total, const std::string& unit, double per_unit,
                                        std::optional<double> left);

/// "1:02:03", or "0:12".
[[nodiscard]] std::string duration_text(double seconds);

class ProgressDisplay {
 public:
  /// `first`: said before all else, when the work has gone on for a second without an error, or with the first
  /// progress.
  ProgressDisplay(bool quiet, std::string unit, double per_unit, std::string first = "");
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  /// What is going on, before its progress: "mesh.toml"; "" for nothing.
  void name(std::string name) {
    const std::lock_guard lock(mutex_);
    name_ = std::move(name);
  }
  /// The remaining time in seconds, as far as it is known, before its progress: for steps that do not all take as long.
  void left(std::optional<double> seconds) {
    const std::lock_guard lock(mutex_);
    foreseen_ = true;
    left_ = seconds;
  }
  /// What `done` counts, before the first progress.
  void unit(std::string unit) { unit_ = std::move(unit); }

  /// The first call ends the display of what is awaited.
  void operator()(u64 done, u64 total);
  /// The same with a text of one's own.
  void show(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;

  /// Until there is progress: "building, 0:12".
  void await_progress();
  void stop_waiting();
  void say_first();
  /// With what is going on, for a line.
  [[nodiscard]] std::string named(const std::string& text) const { return name_.empty() ? text : name_ + ": " + text; }

  bool quiet_;
  bool terminal_;
  std::string name_;
  std::string unit_;
  double per_unit_;
  std::string first_;
  bool foreseen_ = false;  ///< whether `left_` says what is left, and not the rate
  std::optional<double> left_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
  bool shown_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> waiting_{true};
  std::thread waiter_;
};

}  // namespace banyan::cli
