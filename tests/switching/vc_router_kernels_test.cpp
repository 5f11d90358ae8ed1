// Do the two kernels of vc_router deliver the same in every cycle, with every routing, over all settings that both can
// run?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/api/network.hpp"
#include "banyan/base/error.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/engine/machine.hpp"
#include "banyan/switching/vc_router/general.hpp"
#include "engine/small_instances.hpp"
#include "support/effort.hpp"

namespace banyan::vc_router_kernels_test {
namespace {

constexpr Tick kTicks = 1500;

/// Random settings within what the fast kernel does: its routing stage and one more are at most 14 cycles, the rest at
/// most one; the other parameters are those that it leaves at their defaults.
std::vector<std::string> settings(u64 word) {
  const auto draw = [&](u32 n) {
    word = mix64(word + 1);
    return static_cast<u32>(word >> 20U) % n;
  };
  const u32 flits = 1 + draw(6);
  const bool cut_through = draw(3) == 0;
  const u32 numbers[] = {1, 2, 3, 4, 8, 13, 20};
  const u32 vcs = numbers[draw(7)];
  const u32 buffers[] = {1, 2, 4, 9, 300};
  const u32 buffer = buffers[draw(5)];
  const u32 routing_delay = draw(2) == 0 ? draw(2) : draw(15);
  // Stages of one cycle at most overlap or not, with one result.
  const bool overlap = routing_delay > 1 || draw(2) == 0;
  // Virtual channels of the only traffic, which may leave others idle.
  const std::string range = draw(3) == 0 ? fmt::format("[{}, {}]", vcs > 8 ? draw(3) : 0, vcs - 1) : "[]";
  return {fmt::format("switch.vcs={}", vcs),
          fmt::format("switch.buffer={}", cut_through ? std::max(buffer, flits) : buffer),
          fmt::format("switch.flow={}", cut_through ? "cut_through" : "wormhole"),
          fmt::format("switch.routing_delay={}", routing_delay),
          fmt::format("switch.overlapping_stages={}", overlap),
          fmt::format("switch.vc_alloc_delay={}", draw(2)),
          fmt::format("switch.traversal_delay={}", draw(2)),
          fmt::format("switch.credit_delay={}", draw(4)),
          fmt::format("switch.source_credit_delay={}", draw(4)),
          fmt::format("switch.vc_busy_when_full={}", draw(2) == 0),
          "traffic.vc_range=" + range,
          fmt::format("traffic.max_packet={}", draw(3) == 0 ? flits / 2 : 0),
          fmt::format("traffic.size={}", flits),
          fmt::format("traffic.load={}", 0.05 + 0.1 * draw(9)),
          fmt::format("run.shards={}", draw(4)),
          fmt::format("run.seed={}", draw(1000))};
}

struct Seen {
  std::vector<u64> delivered;  ///< [cycle]
  u64 latency = 0;
  bool general = false;
};

Seen run(const std::string& text, std::vector<std::string> overrides, const std::string& kernel) {
  overrides.push_back("switch.kernel=" + kernel);
  const api::Experiment experiment = api::read_experiments_text(text, "kernels", overrides).points.front();
  api::Network network = api::build_network(experiment);
  const api::Instance instance = api::build_instance(experiment, network, api::engine_settings(experiment));
  engine::Machine& machine = *instance.machine;
  machine.reset(0);
  machine.set_window({0, kNever - 1});
  Seen seen;
  const engine::Population* const switches = machine.shards()[0].populations[1].get();
  seen.general = dynamic_cast<const engine::PopulationOf<switching::parts::VcRouterGeneral>*>(switches) != nullptr;
  for (Tick t = 0; t < kTicks; ++t) {
    machine.run_until(t);
    seen.delivered.push_back(machine.totals().delivered);
  }
  machine.audit();
  for (const auto& tally : machine.tallies()) seen.latency += tally.latency;
  return seen;
}

TEST(VcRouterKernels, DeliverTheSameInEveryCycleWithEveryRoutingAndRandomSettings) {
  std::set<std::string> routings;
  u64 word = 1;
  for (const test::Combination& c : test::all_combinations()) {
    if (c.switching->info.name != "vc_router" || c.traffic->info.name != "uniform") continue;
    for (u32 k = 0; k < test::tries(2U, 1U); ++k) {
      const std::vector<std::string> drawn = settings(++word);
      SCOPED_TRACE(c.name() + fmt::format(" {}", fmt::join(drawn, " ")));
      const std::string text = c.text("watchdog = 0");
      Seen fast;
      try {
        fast = run(text, drawn, "auto");
      } catch (const ConfigError&) {
        continue;  // this routing does not exist on that topology, or needs other virtual channels
      }
      const Seen general = run(text, drawn, "general");
      EXPECT_FALSE(fast.general);
      EXPECT_TRUE(general.general);
      EXPECT_EQ(fast.delivered, general.delivered);
      EXPECT_EQ(fast.latency, general.latency);
      if (fast.delivered.back() != 0) routings.insert(c.routing->info.name);
    }
  }
  for (const core::RoutingRow* row : core::routing_rows())
    EXPECT_TRUE(routings.contains(row->info.name)) << row->info.name;
}

}  // namespace
}  // namespace banyan::vc_router_kernels_test
