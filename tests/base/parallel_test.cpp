#include "banyan/base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace banyan {
namespace {

TEST(InParallel, EveryIndexIsTakenOnce) {
  for (const u32 threads : {0U, 1U, 3U, 50U}) {
    for (const std::size_t count : {0U, 1U, 20U}) {
      std::vector<std::atomic<int>> taken(count);
      in_parallel(count, threads, [&](std::size_t i) { ++taken[i]; });
      for (const std::atomic<int>& times : taken) EXPECT_EQ(times, 1);
    }
  }
}

TEST(InParallel, TheLowestErrorIsThrown) {
  for (const u32 threads : {1U, 2U, 8U}) {
    std::atomic<std::size_t> last{0};
    try {
      in_parallel(1000, threads, [&](std::size_t i) {
        if (i > last) last = i;
        if (i >= 5) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "no error";
    } catch (const std::runtime_error& error) { EXPECT_EQ(error.what(), std::string("5")); }
    EXPECT_LT(last, 5U + threads) << "work went on after an error";
  }
}

}  // namespace
}  // namespace banyan
