// Does a machine that has warmed up run without asking for memory?
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "banyan/api/network.hpp"
#include "banyan/base/error.hpp"
#include "engine/small_instances.hpp"

namespace {

std::atomic<bool> counting{false};
std::atomic<banyan::u64> allocations{0};

/// Not inlined: the compiler would see malloc's memory in delete expressions, and warn.
[[gnu::noinline]] void* counted(std::size_t size, std::size_t alignment) noexcept {
  if (counting.load(std::memory_order_relaxed)) ++allocations;
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
}

void* counted_or_throw(std::size_t size, std::size_t alignment) {
  for (;;) {
    if (void* const memory = counted(size, alignment); memory != nullptr) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();  // finds some, or throws
  }
}

[[gnu::noinline]] void give_back(void* p) noexcept { std::free(p); }

}  // namespace

void* operator new(std::size_t size) { return counted_or_throw(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t a) { return counted_or_throw(size, static_cast<std::size_t>(a)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return counted(size, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { give_back(p); }
void operator delete(void* p, std::size_t) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { give_back(p); }
void* operator new[](std::size_t size) { return counted_or_throw(size, alignof(std::max_align_t)); }
void* operator new[](std::size_t size, std::align_val_t a) {
  return counted_or_throw(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size, alignof(std::max_align_t));
}
void* operator new[](std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return counted(size, static_cast<std::size_t>(a));
}
void operator delete[](void* p) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t) noexcept { give_back(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { give_back(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { give_back(p); }

namespace {

using banyan::ConfigError;
using banyan::Tick;
using banyan::u32;
using banyan::u64;
using banyan::test::all_combinations;
using banyan::test::Combination;
namespace api = banyan::api;

constexpr Tick kWarmup = 3000;
constexpr Tick kMeasure = 10'000;

struct Warm {
  u64 allocations = 0;    ///< between kWarmup and kWarmup + kMeasure
  u64 inside_before = 0;  ///< packets at kWarmup
  u64 inside_after = 0;
};

Warm warm_run(const api::Experiment& experiment, u32 shards) {
  const api::Network network = api::build_network(experiment);
  banyan::engine::EngineSettings settings;
  settings.shards = shards;
  settings.steady = {6, kWarmup + kMeasure, kWarmup};
  const api::Instance instance = api::build_instance(experiment, network, settings);
  instance.machine->reset(0);
  instance.machine->set_window({0, kWarmup + kMeasure - 1});
  instance.machine->run_until(kWarmup);
  const auto inside = [&] { return instance.machine->totals().taken - instance.machine->totals().delivered; };
  Warm warm;
  warm.inside_before = inside();
  allocations = 0;
  counting = true;
  instance.machine->run_until(kWarmup + kMeasure);
  counting = false;
  EXPECT_GT(instance.machine->totals().delivered, 100U);
  warm.allocations = allocations;
  warm.inside_after = inside();
  return warm;
}
u64 allocations_of(const api::Experiment& experiment, u32 shards) { return warm_run(experiment, shards).allocations; }

TEST(Allocation, TheCounterCounts) {
  allocations = 0;
  counting = true;
  const auto list = std::make_unique<std::vector<int>>(100);
  counting = false;
  EXPECT_EQ(allocations, 2U) << list->size();
}

/// Answers wait in a pool, and messages of several packets in a table: both are as large as they get after the warm-up.
TEST(Allocation, AWarmClosedLoopAllocatesNothing) {
  const api::Experiment experiment =
      api::read_experiments_text(
          "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 4, buffer = 8 }\n"
          "routing = 'dimension_order'\n"
          "traffic = { name = 'uniform', load = 1.0, size = 7, max_packet = 3, reply_size = 5, outstanding = 2 }\n",
          "small", {})
          .points.front();
  for (const u32 shards : {1U, 3U}) EXPECT_EQ(allocations_of(experiment, shards), 0U) << shards;
}

/// Every switch on every topology, with the first routing that works there, from light load to beyond saturation. A
/// model that keeps the messages that wait at its terminals needs memory for them where they become more and more.
TEST(Allocation, AWarmMachineAllocatesNothing) {
  std::string last;
  u32 looked = 0;
  for (const Combination& c : all_combinations()) {
    if (c.traffic->info.name != "uniform") continue;
    const std::string pair = c.topology->info.name + " x " + c.switching->info.name;
    if (pair == last) continue;
    try {
      for (const char* const load : {"0.05", "0.4", "1.0"}) {
        const api::Experiment experiment =
            api::read_experiments_text(c.text(""), "small", {std::string("load=") + load}).points.front();
        for (const u32 shards : {1U, 3U}) {
          const Warm warm = warm_run(experiment, shards);
          const bool keeps = c.switching->keeps_messages || c.switching->info.name == "packet_node";
          if (keeps && 20 * warm.inside_after > 21 * warm.inside_before) continue;
          EXPECT_EQ(warm.allocations, 0U) << c.name() << ", load " << load << ", " << shards << " shards";
          ++looked;
        }
      }
      last = pair;
    } catch (const ConfigError&) { continue; }
  }
  EXPECT_GT(looked, 200U);
}

TEST(Allocation, NeitherLongPacketsNorLongChannelsAllocate) {
  for (const char* const text :
       {"topology = { name = 'mesh', size = [4, 4], latency = 40, terminal_latency = 9 }\n"
        "switch = { name = 'vc_router', vcs = 4, buffer = 64 }\nrouting = 'dimension_order'\n"
        "traffic = [{ name = 'uniform', load = 0.5, size = 1 }]\n",
        "topology = { name = 'torus', size = [4, 4] }\n"
        "switch = { name = 'vc_router', vcs = 16, buffer = 4, routing_delay = 5, traversal_delay = 4 }\nrouting = "
        "'dimension_order'\n"
        "traffic = [{ name = 'uniform', load = 0.5, size = 20 }, { name = 'hot_spot', load = 0.1 }]\n"}) {
    const api::Experiment experiment = api::read_experiments_text(text, "long", {}).points.front();
    for (const u32 shards : {1U, 3U}) EXPECT_EQ(allocations_of(experiment, shards), 0U) << text << shards << " shards";
  }
}

}  // namespace
