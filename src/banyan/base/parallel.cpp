#include "banyan/base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace banyan {

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

}  // namespace banyan
