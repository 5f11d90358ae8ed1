// Question: is there memory for who found none, once, and is that known afterwards?
#include "banyan/base/memory_reserve.hpp"

#include <gtest/gtest.h>

#include <new>

namespace banyan::memory_reserve_test {
namespace {

TEST(MemoryReserve, IsGivenAwayAndKeptBackAgain) {
  EXPECT_FALSE(MemoryReserve::give()) << "nothing is kept where nothing runs";
  const MemoryReserve reserve;
  EXPECT_NO_THROW(MemoryReserve::require());
  EXPECT_TRUE(MemoryReserve::give());
  EXPECT_TRUE(MemoryReserve::give()) << "another thread may look for it too";
  EXPECT_NO_THROW(MemoryReserve::require()) << "there is memory: it is kept back again";
  EXPECT_TRUE(MemoryReserve::give());
}

TEST(MemoryReserve, IsNotLookedForWithoutEnd) {
  const MemoryReserve reserve;
  u32 times = 0;
  while (MemoryReserve::give()) ++times;
  EXPECT_GE(times, 2U);
}

TEST(MemoryReserve, StandsBehindNewWhileOneExists) {
  const std::new_handler before = std::get_new_handler();
  {
    const MemoryReserve one;
    const MemoryReserve other;
    EXPECT_NE(std::get_new_handler(), before);
  }
  EXPECT_EQ(std::get_new_handler(), before);
}

}  // namespace
}  // namespace banyan::memory_reserve_test
