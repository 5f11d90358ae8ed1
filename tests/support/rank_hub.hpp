// Ranks for tests: threads that swap texts.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "banyan/engine/ranks.hpp"

namespace banyan::test {

/// Where so many threads meet and swap texts.
class Hub {
 public:
  explicit Hub(u32 size) : size_(size), boxes_(size, std::vector<std::string>(size)) {}

  [[nodiscard]] u32 size() const { return size_; }
  void swap(u32 rank, const std::vector<std::string>& out, std::vector<std::string>& in) {
    std::unique_lock lock(mutex_);
    boxes_[rank] = out;
    meet(lock);
    for (u32 r = 0; r < size_; ++r) in[r] = boxes_[r][rank];
    meet(lock);
  }

 private:
  void meet(std::unique_lock<std::mutex>& lock) {
    const u64 round = round_;
    if (++there_ == size_) {
      there_ = 0;
      ++round_;
      all_there_.notify_all();
    }
    all_there_.wait(lock, [&] { return round_ != round; });
  }

  u32 size_;
  std::vector<std::vector<std::string>> boxes_;  ///< [from][to]
  std::mutex mutex_;
  std::condition_variable all_there_;
  u32 there_ = 0;
  u64 round_ = 0;
};

class ThreadTransport final : public engine::RankTransport {
 public:
  ThreadTransport(Hub& hub, u32 rank) : hub_(hub), rank_(rank) {}
  [[nodiscard]] u32 rank() const override { return rank_; }
  [[nodiscard]] u32 size() const override { return hub_.size(); }
  void swap(const std::vector<std::string>& out, std::vector<std::string>& in) override { hub_.swap(rank_, out, in); }

 private:
  Hub& hub_;
  u32 rank_;
};

/// Calls `act` on so many ranks at a time.
inline void on_ranks(u32 size, const std::function<void(engine::Ranks&)>& act) {
  Hub hub(size);
  std::vector<std::thread> threads;
  for (u32 r = 0; r < size; ++r) {
    threads.emplace_back([&, r] {
      ThreadTransport transport(hub, r);
      engine::Ranks ranks(transport);
      act(ranks);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace banyan::test
