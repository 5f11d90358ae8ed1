// Question: does a run end with an exception, on the thread that called it, where simulating cannot go on?
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <system_error>
#include <vector>

#include "banyan/base/error.hpp"
#include "engine/machines.hpp"

namespace banyan::failure_test {
namespace {

test::Rig mesh(u32 shards, u32 threads) {
  engine::EngineSettings settings;
  settings.shards = shards;
  settings.threads = threads;
  settings.packet_slots = 1;  // a pool that can be filled
  return {{"mesh", {{"size", std::vector<i64>{4, 4}}}}, {"vc_router"}, {"dimension_order"}, settings};
}

std::vector<test::Script::Line> some_messages() {
  std::vector<test::Script::Line> lines;
  for (u32 i = 0; i < 64; ++i) {
    test::Script::Line line;
    line.birth = 10 + i;
    line.source = i % 16;
    line.destination = 15 - i % 16;
    line.flits = 4;
    lines.push_back(line);
  }
  return lines;
}

/// Leaves room for no more than `left` packets.
void fill(engine::PacketPool& pool, u64 left) {
  while (pool.live() < pool.most() - left) static_cast<void>(pool.allocate());
}

TEST(Failure, OfOneOfSeveralShardsIsThrownWhereTheRunWasCalled) {
  for (const u32 threads : {1U, 2U}) {
    test::Rig rig = mesh(2, threads);
    engine::Machine& machine = rig.run_script(some_messages());
    ASSERT_EQ(machine.shards().size(), 2U);
    machine.run_until(20);
    fill(machine.shards()[1].terminals->pool(), 1);
    EXPECT_THROW(machine.run_until(1000), ConfigError);
    EXPECT_THROW(machine.run_until(1000), ConfigError) << "and nothing runs after it";
    machine.shards()[1].terminals->pool().clear();
    machine.reset(0);
    machine.run_until(1000);
    machine.audit();
    EXPECT_EQ(machine.totals().delivered, 64U) << "a reset begins again";
  }
}

TEST(Failure, OfTheOnlyShardLeavesItAtTheTickBefore) {
  test::Rig rig = mesh(1, 1);
  engine::Machine& machine = rig.run_script(some_messages());
  machine.run_until(20);
  engine::PacketPool& pool = machine.shards()[0].terminals->pool();
  fill(pool, 1);
  const Tick next = machine.next();
  EXPECT_THROW(machine.run_until(1000), ConfigError);
  EXPECT_THROW(static_cast<void>(machine.step()), ConfigError);
  EXPECT_EQ(machine.next(), next);
}

/// Bytes of address space that this process has.
std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4096;
}

/// Whether a run throws when other allocations have eaten all memory, the reserve of runs too, and goes on when that is
/// free again.
bool throws_without_memory(u32 threads) {
  test::Rig rig = mesh(threads, threads);
  engine::Machine& machine = rig.run_script(some_messages());
  machine.run_until(20);
  // What the test itself keeps, beside the reserve, which may be as large again as it was.
  const std::size_t some = address_space() + (std::size_t{4} << 20U);
  const rlimit none{some, some};
  if (setrlimit(RLIMIT_AS, &none) != 0) return false;
  std::vector<std::unique_ptr<char[]>> eaten;
  eaten.reserve(1U << 16U);
  try {
    for (;;) eaten.push_back(std::make_unique<char[]>(std::size_t{1} << 20U));
  } catch (const std::bad_alloc&) {}
  bool thrown = false;
  try {
    machine.run_until(1000);
  } catch (const std::bad_alloc&) { thrown = true; }
  eaten = decltype(eaten)();  // its own room, too
  if (threads > 1) machine.reset(0);
  machine.run_until(1000);
  return thrown && machine.totals().delivered == 64;
}

/// Whether a machine says so when the system gives it some of its threads only.
bool throws_without_threads() {
  constexpr u32 kThreads = 16;
  const std::size_t some = address_space() + (std::size_t{104} << 20U);  // the reserve and some stacks
  const rlimit none{some, some};
  if (setrlimit(RLIMIT_AS, &none) != 0) return false;  // the stack of a thread is 8 MiB
  test::Rig rig = mesh(kThreads, kThreads);
  try {
    rig.run_script(some_messages());
  } catch (const std::system_error&) { return true; }
  return false;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Failure, OfMemoryIsThrownToo) {
  for (const u32 threads : {1U, 2U}) {
    EXPECT_EXIT(std::exit(throws_without_memory(threads) ? 0 : 1), testing::ExitedWithCode(0), "") << threads;
  }
}

TEST(Failure, OfThreadsIsThrownToo) {
  EXPECT_EXIT(std::exit(throws_without_threads() ? 0 : 1), testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace banyan::failure_test
