// Sums over windows of time, in bounded memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/types.hpp"
#include "banyan/stats/sum_count.hpp"

namespace banyan::stats {

/// (sum, count) per window of time. When `capacity` windows are full, neighbours are merged two by two and the window
/// doubles: any run keeps between capacity / 2 and capacity windows, and the windows depend only on the latest time
/// that was seen, not on the order of adding or merging. Times in sub-ticks from `start` on. No allocation after
/// construction.
class TimeSeries {
 public:
  static constexpr u32 kDefaultCapacity = 4096;  ///< 64 KiB; at least 100 windows per batch of 20 after any doubling

  /// `window`: length of a window at first, sub-ticks, at least 1. `capacity`: even, at least 2.
  TimeSeries(Tick start, Tick window, u32 capacity = kDefaultCapacity)
      : start_(start), window_(window), current_begin_(start), windows_(capacity) {
    if (window == 0) throw InvariantError("time series with windows of no length");
    if (capacity < 2 || capacity % 2 != 0) throw InvariantError("time series with an odd capacity, or none");
  }

  /// One value at `time` >= start.
  void add(Tick time, u64 value) noexcept { add(time, SumCount{value, 1}); }

  /// Several values at once.
  void add(Tick time, const SumCount& values) noexcept {
    if (time - current_begin_ >= window_) seek(time);  // mostly the window of the last call: no division
    windows_[current_].merge(values);
    size_ = std::max(size_, current_ + 1);
  }

  /// Makes the series reach to `end` (exclusive), with empty windows where nothing happened.
  void extend_to(Tick end) noexcept {
    if (end <= start_) return;
    seek(end - 1);
    size_ = std::max(size_, current_ + 1);
  }

  /// Adds the other series, which must have the same start and capacity and windows of a length that differs by a power
  /// of two (as those of shards do), else throws InvariantError. Equal to adding its values one by one.
  void merge(const TimeSeries& other) {
    if (start_ != other.start_ || windows_.size() != other.windows_.size()) {
      throw InvariantError("time series of unlike layout merged");
    }
    TimeSeries finer = other;
    while (finer.window_ < window_) finer.double_window();
    while (window_ < finer.window_) double_window();
    if (finer.window_ != window_) throw InvariantError("time series of unlike windows merged");
    for (std::size_t i = 0; i < finer.size_; ++i) windows_[i].merge(finer.windows_[i]);
    size_ = std::max(size_, finer.size_);
  }

  void hash_into(Hasher& hasher) const noexcept {
    hasher.add(start_);
    hasher.add(window_);
    hasher.add(size_);
    for (const SumCount& window : windows()) window.hash_into(hasher);
  }

  [[nodiscard]] Tick start() const noexcept { return start_; }
  [[nodiscard]] Tick window_length() const noexcept { return window_; }  ///< sub-ticks
  /// All windows up to the last that was touched; window i covers [start + i w, start + (i + 1) w).
  [[nodiscard]] std::span<const SumCount> windows() const noexcept { return {windows_.data(), size_}; }
  /// Those that end at or before `end`: the last, partial window would count too low in a rate. Call extend_to(end)
  /// first where silent windows at the end matter.
  [[nodiscard]] std::span<const SumCount> complete_windows(Tick end) const noexcept {
    const u64 whole = end <= start_ ? 0 : (end - start_) / window_;
    return windows().first(std::min<std::size_t>(size_, whole));
  }
  /// Everything together.
  [[nodiscard]] SumCount total() const noexcept {
    SumCount total;
    for (const SumCount& window : windows()) total.merge(window);
    return total;
  }

  /// Same windows with the same contents (where the last add went does not matter).
  friend bool operator==(const TimeSeries& a, const TimeSeries& b) noexcept {
    return a.start_ == b.start_ && a.window_ == b.window_ && std::ranges::equal(a.windows(), b.windows());
  }

 private:
  void seek(Tick time) noexcept {
    while ((time - start_) / window_ >= windows_.size()) double_window();
    current_ = static_cast<std::size_t>((time - start_) / window_);
    current_begin_ = start_ + current_ * window_;
  }

  void double_window() noexcept {
    const std::size_t half = (size_ + 1) / 2;
    for (std::size_t i = 0; i < half; ++i) {
      SumCount pair = windows_[2 * i];
      pair.merge(windows_[2 * i + 1]);  // capacity is even, and unused windows are zero
      windows_[i] = pair;
    }
    std::fill(windows_.begin() + static_cast<std::ptrdiff_t>(half), windows_.end(), SumCount{});
    size_ = half;
    window_ *= 2;
    current_ /= 2;
    current_begin_ = start_ + current_ * window_;
  }

  Tick start_;
  Tick window_;
  Tick current_begin_;
  std::size_t current_ = 0;
  std::size_t size_ = 0;
  std::vector<SumCount> windows_;
};

/// Mean of the observations of each window (0 where there is none), e.g. for Series::values.
[[nodiscard]] inline std::vector<double> window_means(std::span<const SumCount> windows) {
  std::vector<double> values;
  values.reserve(windows.size());
  for (const SumCount& window : windows) values.push_back(window.mean());
  return values;
}

/// Sum of each window per unit of `window_length`, e.g. flits per cycle.
[[nodiscard]] inline std::vector<double> window_rates(std::span<const SumCount> windows, double window_length) {
  std::vector<double> values;
  values.reserve(windows.size());
  for (const SumCount& window : windows) values.push_back(static_cast<double>(window.sum) / window_length);
  return values;
}

}  // namespace banyan::stats
