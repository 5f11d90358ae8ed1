#include "banyan/api/sweep.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace banyan::api {
namespace {

/// Calls work(0) ... work(count - 1), taken in order by `threads` threads. After an error no further index is taken;
/// those below it were taken before, so the lowest index with an error is the same however threads are scheduled.
void in_parallel(std::size_t count, u32 threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::vector<std::exception_ptr> errors(count);
  const auto take = [&] {
    while (!stop) {
      const std::size_t index = next++;
      if (index >= count) return;
      try {
        work(index);
      } catch (...) {
        errors[index] = std::current_exception();
        stop = true;
      }
    }
  };
  std::vector<std::thread> helpers;
  const std::size_t workers = std::min<std::size_t>(std::max(threads, 1U), count);
  for (std::size_t i = 1; i < workers; ++i) helpers.emplace_back(take);
  take();
  for (std::thread& helper : helpers) helper.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

/// Adds the progress of points that run at the same time.
class Meter {
 public:
  Meter(const SweepOptions& options, std::size_t points) : options_(options), parts_(points, 0) {}

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
    set(point, kWhole);
    if (options_.finished) options_.finished(point, result);
  }

 private:
  static constexpr u64 kWhole = 1000;

  void set(std::size_t point, u64 part) {
    done_ += part - parts_[point];
    parts_[point] = part;
    if (options_.progress) options_.progress(done_, parts_.size() * kWhole);
  }

  const SweepOptions& options_;
  std::mutex mutex_;
  std::vector<u64> parts_;
  u64 done_ = 0;
};

}  // namespace

std::vector<Result> sweep(const ExperimentSet& set, const SweepOptions& options) {
  const std::size_t count = set.points.size();
  // A point that cannot be built must not cost the work of all points before it.
  in_parallel(count, options.threads, [&](std::size_t i) {
    if (options.interrupted != nullptr && *options.interrupted) throw Interrupted("interrupted");
    static_cast<void>(check(set.points[i]));
  });
  std::vector<Result> results(count);
  Meter meter(options, count);
  RunOptions one;
  one.threads = std::max<u32>(1, options.threads / static_cast<u32>(std::max<std::size_t>(count, 1)));
  one.interrupted = options.interrupted;
  in_parallel(count, options.threads, [&](std::size_t i) {
    RunOptions mine = one;
    mine.progress = [&meter, i](u64 done, u64 total) { meter.update(i, done, total); };
    results[i] = run(set.points[i], mine);
    meter.finish(i, results[i]);
  });
  return results;
}

}  // namespace banyan::api
