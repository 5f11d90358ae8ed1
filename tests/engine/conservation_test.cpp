// Are packets, flits and credits conserved in every network that we can think of?
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "engine/machines.hpp"

namespace banyan::conservation_test {
namespace {

using banyan::u32;

u32 between(u32 low, u32 high) { return *rc::gen::inRange(low, high + 1); }

std::string random_topology() {
  const std::string grid = fmt::format("latency = {}, terminal_latency = {}", between(1, 6), between(1, 4));
  switch (between(0, 2)) {
    case 0:
      return fmt::format("{{ name = 'mesh', size = [{}, {}], {} }}", between(2, 4), between(1, 4), grid);
    case 1:
      return fmt::format("{{ name = 'torus', size = [{}, {}], concentration = {}, {} }}", between(3, 5), between(1, 3),
                         between(1, 2), grid);
    default:
      return fmt::format("{{ name = 'hypercube', degree = {}, {} }}", between(1, 4), grid);
  }
}

/// audit = "full": conservation of packets and flits, bits against counts, credits against places, every 64 ticks.
RC_GTEST_PROP(Conservation, HoldsForRandomRouters, ()) {
  const bool cut_through = *rc::gen::arbitrary<bool>();
  const u32 buffer = between(cut_through ? 6 : 1, 12);
  const std::string text = fmt::format(
      "topology = {}\nswitch = {{ name = 'vc_router', vcs = {}, buffer = {}, routing_delay = {}, vc_alloc_delay = {}, "
      "traversal_delay = {}, credit_delay = {}, source_credit_delay = {}, vc_busy_when_full = {}, flow = '{}' }}\n"
      "routing = 'dimension_order'\n"
      "traffic = [{{ name = 'uniform', load = {}, size = {} }}, {{ name = 'uniform', load = 0.1 }}]\n"
      "run = {{ warmup = 50, measure = {}, drain = 500, audit = 'full', seed = {}, shards = {}, wake = '{}' }}\n",
      random_topology(), between(2, 20), buffer, between(0, 3), between(0, 1), between(0, 3), between(0, 2),
      between(0, 2), *rc::gen::arbitrary<bool>(), cut_through ? "cut_through" : "wormhole", between(0, 90) / 100.0,
      between(1, 6), between(1, 700), between(0, 1000), between(0, 4), between(0, 3) == 0 ? "all" : "needed");
  RC_LOG() << text;
  const banyan::api::Result result =
      banyan::api::run(banyan::api::read_experiments_text(text, "random", {}).points.front(), {});
  RC_ASSERT(result.verdict != banyan::api::Verdict::deadlocked);
}

std::string any_of(const std::vector<std::string>& names) { return *rc::gen::elementOf(names); }

/// The same over the settings of the general kernel.
RC_GTEST_PROP(Conservation, HoldsForRandomSettingsOfRouters, ()) {
  const bool shared = *rc::gen::arbitrary<bool>();
  const std::string flow = any_of({"wormhole", "cut_through", "store_and_forward"});
  const bool speculative = *rc::gen::arbitrary<bool>();
  const std::vector<std::string> allocators{"input_first", "output_first", "wavefront", "max_size"};
  std::string text = fmt::format(
      "topology = {}\nrouting = 'dimension_order'\ntraffic = [{{ name = 'uniform', load = {}, size = {} }}]\n"
      "run = {{ warmup = 50, measure = {}, drain = 500, audit = 'full', seed = {}, shards = {} }}\n",
      random_topology(), between(0, 90) / 100.0, between(1, 6), between(1, 400), between(0, 1000), between(0, 3));
  text += fmt::format(
      "[switch]\nname = 'vc_router'\nvcs = {}\nbuffer = {}\nflow = '{}'\nbuffer_policy = '{}'\n{}speculative = {}\n"
      "routing_delay = {}\nvc_alloc_delay = {}\nsw_alloc_delay = {}\ntraversal_delay = {}\ncredit_delay = {}\n",
      between(2, 9), between(6, 9), flow, shared ? "shared" : "private", shared ? "reserved = 6\n" : "", speculative,
      between(0, 3), speculative ? 1 : between(0, 3), speculative ? 1 : between(1, 3), between(0, 2), between(0, 2));
  text += fmt::format(
      "vc_allocator = '{}'\nsw_allocator = '{}'\narbiter = '{}'\ninput_speedup = {}\noutput_speedup = {}\n"
      "internal_speedup = {}\nhold_switch_for_packet = {}\nwait_for_tail_credit = {}\n",
      any_of(allocators), any_of(allocators), any_of({"round_robin", "matrix", "age"}), between(1, 2), between(1, 2),
      between(2, 5) / 2.0, *rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>());
  RC_LOG() << text;
  const banyan::api::Result result =
      banyan::api::run(banyan::api::read_experiments_text(text, "random", {}).points.front(), {});
  RC_ASSERT(result.verdict != banyan::api::Verdict::deadlocked);
}

// --- An audit finds what is wrong ------------------------------------------------------------------------------------

/// A mesh of virtual-channel routers under way, and the list of what arrives at its routers.
struct UnderWay {
  UnderWay() : script(16, lines()) {
    const core::TopologyRow& mesh = test::row_named(core::topology_rows(), "mesh");
    topology = mesh.make(test::values_of(mesh, {"mesh", {{"size", std::vector<i64>{4, 4}}}}));
    const core::RoutingRow& order = test::row_named(core::routing_rows(), "dimension_order");
    routing = order.make(test::values_of(order, {"dimension_order"}), {topology.get(), {}, 8});
    engine::Builder builder(*topology, *routing, traffics, {}, {});
    const core::SwitchRow& router = test::row_named(core::switching_rows(), "vc_router");
    router.install(test::values_of(router, {"vc_router"}), builder);
    std::vector<engine::Shard> shards = builder.take_shards();
    arriving = shards.front().wires.inboxes[1];
    machine = std::make_unique<engine::Machine>(std::move(shards), traffics, builder.window(), 1);
    machine->reset(0);
    machine->set_window({0, kNever - 1});
    machine->run_until(40);
    machine->audit();
  }
  static std::vector<test::Script::Line> lines() {
    std::vector<test::Script::Line> lines;
    for (u32 k = 0; k < 640; ++k) lines.push_back({k % 16, k / 16, (k * 7 + 3) % 16, 3});
    return lines;
  }
  [[nodiscard]] std::string found() const {
    try {
      machine->audit();
    } catch (const InvariantError& error) { return error.what(); }
    return "nothing";
  }

  test::Script script;
  std::vector<core::Traffic*> traffics{&script};
  std::unique_ptr<core::Topology> topology;
  std::unique_ptr<core::Routing> routing;
  engine::Inbox* arriving = nullptr;
  std::unique_ptr<engine::Machine> machine;
};

TEST(Audit, FindsACreditThatNobodyGave) {
  const UnderWay network;
  network.arriving->add(network.machine->next(), engine::ControlArrival{{engine::kCredit, 2, 1}, 5, 0});
  EXPECT_NE(
      network.found().find("credits are not conserved: of the places behind virtual channel 2 of switch 5 port 0"),
      std::string::npos)
      << network.found();
  EXPECT_NE(network.found().find("1 are known twice"), std::string::npos) << network.found();
}

TEST(Audit, FindsACreditThatGotLost) {
  const UnderWay network;
  std::size_t lost = 0;
  for (Tick t = network.machine->next(); lost == 0 && t < network.machine->next() + 2; ++t) {
    network.arriving->take(t, [&](const engine::Arrivals& arrivals) { lost = arrivals.controls.size(); });
  }
  ASSERT_GT(lost, 0U);
  EXPECT_NE(network.found().find("are lost"), std::string::npos) << network.found();
}

TEST(Audit, FindsAFlitThatNobodySent) {
  const UnderWay network;
  core::Flit flit;
  flit.flags = core::kHead | core::kTail;
  network.arriving->add(network.machine->next(), engine::FlitArrival{flit, 5, 0});
  EXPECT_NE(network.found(), "nothing");
}

}  // namespace
}  // namespace banyan::conservation_test
