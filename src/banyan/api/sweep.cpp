#include "banyan/api/sweep.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>

#include "banyan/api/cost_prediction.hpp"
#include "banyan/api/fork.hpp"
#include "banyan/base/parallel.hpp"

namespace banyan::api {
namespace {

using Clock = std::chrono::steady_clock;

/// Which point comes next, how far all are, and how long the rest will take.
class Schedule {
 public:
  Schedule(const ExperimentSet& set, const SweepOptions& options, WarmStates& warm_states)
      : set_(set),
        options_(options),
        warm_states_(warm_states),
        costs_(set.points),
        parts_(set.points.size(), 0),
        states_(set.points.size()) {
    for (const auto& [point, seconds] : options.known) costs_.add(point, seconds);
    tell();
  }

  /// The point that is likely to take longest; nothing when all are begun, or after an error.
  std::optional<std::size_t> take() {
    const std::scoped_lock lock(mutex_);
    if (failed_) return std::nullopt;
    if (order_.empty() || version_ != costs_.version()) sort();
    if (next_ == order_.size()) return std::nullopt;
    if (warm_states_.any()) prefer_warm();
    const std::size_t point = order_[next_++];
    states_[point] = State::running;
    running_.push_back(point);
    return point;
  }

  void update(std::size_t point, u64 done, u64 total) {
    const std::scoped_lock lock(mutex_);
    const u64 part =
        total == 0
            ? 0
            : std::min(kWhole, static_cast<u64>(static_cast<double>(done) / static_cast<double>(total) * kWhole));
    set(point, part);
  }
  void finish(std::size_t point, const Result& result) {
    const std::scoped_lock lock(mutex_);
    std::erase(running_, point);
    states_[point] = State::finished;
    ++finished_;
    costs_.add(point, result.cpu_seconds);
    cpu_seconds_ += result.cpu_seconds;
    set(point, kWhole);
    if (options_.finished) options_.finished(point, result);
  }
  void fail() {
    const std::scoped_lock lock(mutex_);
    failed_ = true;
  }

 private:
  /// A state that is there takes memory until all have gone on from it: their points come first.
  void prefer_warm() {
    const auto waiting = order_.begin() + static_cast<std::ptrdiff_t>(next_);
    const auto warm = std::find_if(waiting, order_.end(), [&](auto i) { return warm_states_.has(set_.points[i]); });
    if (warm != order_.end()) std::rotate(waiting, warm, warm + 1);
  }

  enum class State { waiting, running, finished };
  static constexpr u64 kWhole = 1000;
  static constexpr std::chrono::milliseconds kPause{100};  ///< between two predictions of the time that is left

  /// The points that wait, the longest first; equal ones stay in the order of the sweep.
  void sort() {
    version_ = costs_.version();
    next_ = 0;
    order_.clear();
    std::vector<double> seconds(states_.size());
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (states_[i] != State::waiting) continue;
      seconds[i] = costs_.seconds(i);
      order_.push_back(i);
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return seconds[a] > seconds[b]; });
  }

  void set(std::size_t point, u64 part) {
    done_ += part - parts_[point];
    parts_[point] = part;
    tell();
    if (options_.progress) options_.progress(done_, parts_.size() * kWhole);
  }

  void tell() {
    if (!options_.status) return;
    const auto now = Clock::now();
    if (now - told_ >= kPause || finished_ != status_.finished) {
      told_ = now;
      status_.seconds_left = seconds_left(std::chrono::duration<double>(now - start_).count());
    }
    status_.finished = finished_;
    status_.points = parts_.size();
    status_.grounded = costs_.grounded();
    status_.at = running_.empty() ? "" : axes_text(set_.points[running_.front()]);
    options_.status(status_);
  }

  [[nodiscard]] double seconds_left(double elapsed) const {
    double work = 0.0;
    double longest = 0.0;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (states_[i] == State::finished) continue;
      const double left = costs_.seconds(i) * (1.0 - static_cast<double>(parts_[i]) / static_cast<double>(kWhole));
      work += left;
      longest = std::max(longest, left);
    }
    const auto threads = static_cast<double>(std::clamp<std::size_t>(options_.threads, 1, parts_.size()));
    // Neighbours on the machine make a second of CPU time longer than one of the clock.
    const double slowness =
        cpu_seconds_ > 0.0 ? std::max(1.0, elapsed * threads / (cpu_seconds_ + begun_seconds())) : 1.0;
    return std::max(work / threads, longest) * slowness;
  }
  [[nodiscard]] double begun_seconds() const {
    double sum = 0.0;
    for (const std::size_t i : running_) {
      sum += costs_.seconds(i) * static_cast<double>(parts_[i]) / static_cast<double>(kWhole);
    }
    return sum;
  }

  const ExperimentSet& set_;
  const SweepOptions& options_;
  WarmStates& warm_states_;
  std::mutex mutex_;
  CostPrediction costs_;
  std::vector<u64> parts_;
  std::vector<State> states_;
  std::vector<std::size_t> order_;
  std::size_t next_ = 0;
  u64 version_ = 0;
  std::vector<std::size_t> running_;  ///< in the order in which they were begun
  u64 done_ = 0;
  std::size_t finished_ = 0;
  double cpu_seconds_ = 0.0;
  bool failed_ = false;
  SweepStatus status_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point told_ = start_ - std::chrono::hours(1);
};

/// Runs what the schedule gives, on so many threads. Of several errors, that of the first point.
void run_all(Schedule& schedule, std::size_t count, u32 threads, const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> errors(count);
  in_parallel(std::min<std::size_t>(std::max(threads, 1U), count), threads, [&](std::size_t) {
    while (const std::optional<std::size_t> point = schedule.take()) {
      try {
        work(*point);
      } catch (...) {
        errors[*point] = std::current_exception();
        schedule.fail();
      }
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace

std::string axes_text(const Experiment& point) {
  std::string text;
  for (std::size_t a = 0; a < point.axes.size(); ++a) {
    text += (text.empty() ? "" : ", ") + point.axes[a].first + " = " + value_name(point, a);
  }
  return text;
}

std::vector<Result> sweep(const ExperimentSet& set, const SweepOptions& options) {
  const std::size_t count = set.points.size();
  // A point that cannot be built must not cost the work of all points before it.
  in_parallel(count, options.threads, [&](std::size_t i) {
    if (options.interrupted != nullptr && *options.interrupted) throw Interrupted("interrupted");
    static_cast<void>(check(set.points[i]));
  });
  std::vector<Result> results(count);
  if (count == 0) return results;
  WarmStates warm_states(set.points);
  RunOptions one;
  one.warm_states = &warm_states;
  one.threads = std::max<u32>(1, options.threads / static_cast<u32>(count));
  one.interrupted = options.interrupted;
  Schedule schedule(set, options, warm_states);
  run_all(schedule, count, options.threads, [&](std::size_t i) {
    RunOptions mine = one;
    mine.progress = [&schedule, i](u64 done, u64 total) { schedule.update(i, done, total); };
    results[i] = run(set.points[i], mine);
    schedule.finish(i, results[i]);
  });
  return results;
}

}  // namespace banyan::api
