// Does the barrier hold everybody back until all have come, with more threads than cores too?
#include "banyan/engine/window_barrier.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace banyan::engine::window_barrier_test {
namespace {

TEST(WindowBarrier, WhatWasWrittenBeforeIsSeenBehindIt) {
  constexpr u32 kRounds = 300;
  for (const u32 threads : {1U, 2U, 5U}) {
    WindowBarrier barrier(threads);
    std::vector<u32> done(threads, 0);  // written by its own thread only, read by all: the barrier orders that
    std::vector<u32> wrong(threads, 0);
    const auto work = [&](u32 self) {
      for (u32 round = 1; round <= kRounds; ++round) {
        done[self] = round;
        barrier.arrive_and_wait();
        for (const u32 d : done) wrong[self] += d != round ? 1U : 0U;
        barrier.arrive_and_wait();
      }
    };
    std::vector<std::thread> helpers;
    for (u32 t = 1; t < threads; ++t) helpers.emplace_back(work, t);
    work(0);
    for (std::thread& helper : helpers) helper.join();
    for (u32 t = 0; t < threads; ++t) EXPECT_EQ(wrong[t], 0U) << threads << " threads";
  }
}

}  // namespace
}  // namespace banyan::engine::window_barrier_test
