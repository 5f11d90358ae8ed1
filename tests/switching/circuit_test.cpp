// Do circuits reserve, come back, acknowledge, stream and free as their page says, to the cycle?
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "engine/machines.hpp"

namespace banyan::test::circuit_test {
namespace {

const Part kTorus{"torus", {{"size", std::vector<i64>{8, 8}}}};
const Part kAdaptive{"fully_adaptive"};

Part circuit(Given given = {}) { return {"circuit", std::move(given)}; }
/// Dimension order and one virtual channel on a line: exactly one way.
Part line(i64 size) { return {"mesh", {{"size", std::vector<i64>{size}}}}; }

u32 ring_distance(u32 a, u32 b, u32 k) {
  const u32 d = a < b ? b - a : a - b;
  return std::min(d, k - d);
}

TEST(Circuit, zero_load_latency_is_m_plus_3r_minus_1_for_every_pair_of_the_torus) {
  Rig rig(kTorus, circuit(), kAdaptive);
  for (u32 s = 0; s < 64; ++s) {
    for (u32 d = 0; d < 64; ++d) {
      if (s == d) continue;
      const u32 r = ring_distance(s % 8, d % 8, 8) + ring_distance(s / 8, d / 8, 8);
      const u32 flits = 1 + (s * 7 + d * 3) % 40;
      ASSERT_EQ(rig.latency_of({s, 5, d, flits}), flits + 3 * r - 1) << s << " to " << d;
    }
  }
}

TEST(Circuit, zero_load_latency_holds_on_any_topology) {
  struct Network {
    Part topology;
    Part routing;
  };
  const std::vector<Network> networks{{{"torus", {{"size", std::vector<i64>{5, 3, 4}}}}, kAdaptive},
                                      {{"mesh", {{"size", std::vector<i64>{3, 5}}}}, kAdaptive},
                                      {{"hypercube", {{"degree", i64{5}}}}, kAdaptive},
                                      {{"hypercube", {{"degree", i64{5}}}}, {"dimension_order"}},
                                      {{"dragonfly"}, kAdaptive},
                                      {{"fat_tree"}, kAdaptive}};
  for (const Network& n : networks) {
    Rig rig(n.topology, circuit(), n.routing);
    const u32 terminals = rig.topology().graph().terminals();
    for (u32 s = 0; s < terminals; s += 5) {
      for (u32 d = s % 3; d < terminals; d += 3) {
        if (s == d) continue;
        const Tick one = rig.latency_of({s, 0, d, 1});
        ASSERT_EQ(one % 3, 0U) << n.topology.name;  // 3 r
        ASSERT_EQ(rig.latency_of({s, 3, d, 20}), one + 19) << n.topology.name;
      }
    }
  }
}

TEST(Circuit, times_per_hop_are_parameters) {
  Rig rig(kTorus, circuit({{"acquire", i64{10}}, {"acknowledge", i64{2}}}), kAdaptive);
  EXPECT_EQ(rig.latency_of({0, 0, 3 + 8 * 2, 16}), 16U + (10 + 2 + 1) * 5 - 1);
  Rig wire({"hypercube", {{"degree", i64{4}}}},
           circuit({{"vcs", i64{1}}, {"pipeline", false}, {"acquire", i64{10}}, {"acknowledge", i64{0}}}), kAdaptive);
  for (u32 d = 1; d < 16; ++d) {
    EXPECT_EQ(wire.latency_of({0, 0, d, 72}), static_cast<u32>(std::popcount(d)) * 10U + 72U);
  }
}

TEST(Circuit, lanes_of_terminals_take_a_cycle_each) {
  Rig rig(kTorus, circuit({{"injection_flits", i64{1}}}), kAdaptive);
  EXPECT_EQ(rig.latency_of({0, 0, 3, 16}), 16U + 9);
  Rig both(kTorus, circuit({{"injection_flits", i64{2}}, {"ejection_flits", i64{1}}}), kAdaptive);
  EXPECT_EQ(both.latency_of({0, 0, 3, 16}), 16U + 10);
}

// Terminals 0 1 2 3 in a line, one virtual channel. Births and lengths are chosen so that each step can be followed.
TEST(Circuit, a_blocked_header_comes_back_and_starts_again_at_once) {
  Rig rig(line(4), circuit({{"vcs", i64{1}}}), {"dimension_order"});
  // 1 -> 3 at 0: acknowledged at 4, data cross 1->2 in cycles 4..13, 2->3 in 5..14. The channel 1->2 is free at 14.
  // 0 -> 2 at 0: takes 0->1 at 0, blocked at 1 at cycle 1, back at 0 at cycle 2, takes 0->1 again at 2 ...: attempts at
  // the even cycles, at switch 1 in the odd ones. Free at 14: the header that is there at 15 goes on, at 2 in cycle 16,
  // acknowledged at 18, data of 10 flits end at 18 + 10 + 1.
  EXPECT_EQ(rig.deliveries({{1, 0, 3, 10}, {0, 0, 2, 10}}), (std::vector<Tick>{15, 29}));
}

TEST(Circuit, a_header_blocked_at_its_source_tries_in_every_cycle) {
  Rig rig(line(3), circuit({{"vcs", i64{1}}, {"sources", std::string("queues")}}), {"dimension_order"});
  // 0 -> 1 twice: the second waits in the queue until the tail of the first has left: that is at 2 + 10 = 12.
  EXPECT_EQ(rig.deliveries({{0, 0, 1, 10}, {0, 0, 1, 10}}), (std::vector<Tick>{12, 24}));
  Rig two(line(3), circuit({{"vcs", i64{1}}, {"directions", std::string("shared")}}), {"dimension_order"});
  // Both ends want the link 0 - 1, which a circuit takes in both directions: whoever loses tries until 12.
  EXPECT_EQ(two.deliveries({{0, 0, 1, 10}, {1, 0, 0, 10}}), (std::vector<Tick>{12, 24}));
  Rig own(line(3), circuit({{"vcs", i64{1}}}), {"dimension_order"});
  EXPECT_EQ(own.deliveries({{0, 0, 1, 10}, {1, 0, 0, 10}}), (std::vector<Tick>{12, 12}));
}

TEST(Circuit, the_pause_before_an_attempt_is_a_parameter) {
  Rig rig(line(3), circuit({{"vcs", i64{1}}, {"directions", std::string("shared")}, {"retry_delay", i64{5}}}),
          {"dimension_order"});
  // The loser tries at 0, 5, 10, 15.
  EXPECT_EQ(rig.deliveries({{0, 0, 1, 10}, {1, 0, 0, 10}}), (std::vector<Tick>{12, 27}));
  Rig random(
      line(3),
      circuit({{"vcs", i64{1}}, {"directions", std::string("shared")}, {"retry_delay", i64{5}}, {"backoff", i64{3}}}),
      {"dimension_order"});
  const std::vector<Tick> times = random.deliveries({{0, 0, 1, 10}, {1, 0, 0, 10}});
  EXPECT_GE(times.at(1), 12U + 12);
  EXPECT_LE(times.at(1), 12U + 12 + 8);
}

TEST(Circuit, a_waiting_header_keeps_what_it_has) {
  Rig rig(line(4), circuit({{"vcs", i64{1}}, {"blocked", std::string("wait")}}), {"dimension_order"});
  // As above, but the header waits at switch 1 and goes on at 14; 16 - 1 + 2 + 10 + 1.
  EXPECT_EQ(rig.deliveries({{1, 0, 3, 10}, {0, 0, 2, 10}}), (std::vector<Tick>{15, 28}));
}

TEST(Circuit, waiting_headers_can_deadlock_and_the_watchdog_tells_the_cycle) {
  const auto set = api::read_experiments_text(
      "topology = { name = 'torus', size = [4] }\nswitch = { name = 'circuit', vcs = 1, blocked = 'wait' }\n"
      "routing = { name = 'fully_adaptive', directions = 'up' }\n"
      "traffic = { name = 'uniform', load = 1.0, size = 8 }\n"
      "run = { warmup = 100, measure = 2000, watchdog = 500 }\n",
      "ring", {});
  const api::Result result = api::run(set.points.front());
  EXPECT_EQ(result.verdict, api::Verdict::deadlocked);
  EXPECT_NE(result.explanation.find("waits"), std::string::npos) << result.explanation;
}

/// A stage of a path is a bit of a word. The run once ended with a broken invariant.
TEST(Circuit, ways_that_are_longer_than_circuits_are_refused) {
  const auto network = [](const std::string& topology, const std::string& routing) {
    return api::read_experiments_text("topology = { " + topology +
                                          " }\nswitch = { name = 'circuit', vcs = 4 }\nrouting = '" + routing +
                                          "'\ntraffic = { name = 'uniform', load = 0.01 }\nrun = { duration = 500 }\n",
                                      "long", {})
        .points.front();
  };
  EXPECT_NO_THROW(api::run(network("name = 'mesh', size = [63]", "dimension_order")));
  EXPECT_NO_THROW(api::check(network("name = 'torus', size = [60]", "dimension_order")));
  for (const api::Experiment& refused : {network("name = 'mesh', size = [64]", "dimension_order"),
                                         network("name = 'torus', size = [64, 64]", "dimension_order"),
                                         network("name = 'torus', size = [80]", "valiant")}) {
    try {
      api::check(refused);
      ADD_FAILURE() << "accepted: " << refused.configuration;
    } catch (const ConfigError& error) {
      EXPECT_NE(error.cause().find("up to 62 channels between switches"), std::string::npos) << error.what();
      EXPECT_EQ(error.where().line, 2U);
    }
  }
}

// A square of 2 x 2 switches, one virtual channel: 0 -> 3 has two ways.
TEST(Circuit, backtracking_finds_the_other_way_without_going_back_to_the_source) {
  const Part square{"mesh", {{"size", std::vector<i64>{2, 2}}}};
  const auto second = [&](const char* blocked, i64 backtrack) {
    Rig rig(square,
            circuit({{"vcs", i64{1}},
                     {"blocked", std::string(blocked)},
                     {"backtrack", backtrack},
                     {"order", std::string("routing")}}),
            kAdaptive);
    // 1 -> 3 holds its channel from 0 on for a long time. 0 -> 3 goes by 1 first (port order), finds it busy at
    // cycle 2.
    const std::vector<Tick> times = rig.deliveries({{1, 0, 3, 100}, {0, 1, 3, 10}});
    return times.front();
  };
  // Back at 0 at cycle 3, by 2 then: at 3 in cycle 5, acknowledged at 7, end at 7 + 10 + 1.
  EXPECT_EQ(second("backtrack", 1), 18U);
  // Given up at once, in cycle 2.
  EXPECT_EQ(second("backtrack", 0), 17U);
  // In the routing's order the header that starts afresh goes by 1 again and again, until 1 -> 3 is over (at 102).
  EXPECT_GT(second("back_to_source", 1), 101U);
}

TEST(Circuit, a_new_header_has_tried_nothing) {
  // The second message finds all that the first one took and left; it has one way, and must take it at once.
  Rig rig(line(4),
          circuit({{"vcs", i64{1}}, {"blocked", std::string("backtrack")}, {"alternatives", std::vector<i64>{1}}}),
          {"dimension_order"});
  EXPECT_EQ(rig.deliveries({{0, 0, 3, 10}, {0, 100, 3, 10}}), (std::vector<Tick>{18, 118}));
}

TEST(Circuit, alternatives_limit_the_ways_that_are_tried) {
  const Part square{"mesh", {{"size", std::vector<i64>{2, 2}}}};
  Rig rig(square,
          circuit({{"vcs", i64{1}},
                   {"blocked", std::string("backtrack")},
                   {"order", std::string("routing")},
                   {"alternatives", std::vector<i64>{1}}}),
          kAdaptive);
  EXPECT_GT(rig.deliveries({{1, 0, 3, 100}, {0, 1, 3, 10}}).back(), 102U);
}

TEST(Circuit, a_terminal_takes_no_more_circuits_than_it_may) {
  const std::vector<Script::Line> lines{{0, 0, 2, 10}, {4, 0, 2, 10}, {18, 0, 2, 10}};
  Rig free(kTorus, circuit(), kAdaptive);
  EXPECT_EQ(free.deliveries(lines), (std::vector<Tick>{15, 15, 15}));
  Rig one(kTorus, circuit({{"ejection_circuits", i64{1}}}), kAdaptive);
  const std::vector<Tick> times = one.deliveries(lines);
  EXPECT_EQ(times.at(0), 15U);
  EXPECT_GT(times.at(1), 15U + 10);
  EXPECT_GT(times.at(2), times.at(1) + 10);
}

TEST(Circuit, virtual_channels_share_a_channel_by_turns) {
  // Both messages need 0 -> 1; with queues of the same terminal both are under way at once.
  const std::vector<Script::Line> lines{{0, 0, 1, 100}, {0, 0, 1, 100}};
  Rig tdm(line(2), circuit({{"sources", std::string("servers")}}), {"dimension_order"});
  const std::vector<Tick> times = tdm.deliveries(lines);
  EXPECT_EQ(times, (std::vector<Tick>{201, 202}));  // 200 flits over one channel from cycle 2 on
  Rig demand(line(2), circuit({{"sources", std::string("servers")}, {"sharing", std::string("demand")}}),
             {"dimension_order"});
  EXPECT_EQ(demand.deliveries(lines), times);
}

TEST(Circuit, idle_turns_are_lost_only_under_tdm) {
  // 1 -> 2 streams alone; the header of 0 -> 3 comes by at 1 and reserves 1 -> 2 until 2 -> 3 lets it through: it never
  // does while 2 -> 3 is full. With turns over reserved channels the stream is slowed down by that.
  const auto first = [&](const char* sharing) {
    Rig rig(line(4), circuit({{"vcs", i64{2}}, {"sources", std::string("servers")}, {"sharing", std::string(sharing)}}),
            {"dimension_order"});
    // Two circuits 2 -> 3 occupy both virtual channels of 2 -> 3.
    return rig.deliveries({{1, 0, 2, 40}, {2, 0, 3, 60}, {2, 0, 3, 60}, {0, 2, 3, 10}}).front();
  };
  EXPECT_EQ(first("demand"), 2U + 40);
  EXPECT_GT(first("tdm"), 2U + 45);
}

api::Result run_text(const std::string& more, const std::string& run) {
  return api::run(api::read_experiments_text("topology = { name = 'torus', size = [4, 4] }\n"
                                             "routing = 'fully_adaptive'\n" +
                                                 more + "\nrun = { " + run + " }\n",
                                             "small", {})
                      .points.front());
}

// The audit at the end checks that every message was delivered or is held, and that every reserved virtual channel
// belongs to a circuit.
TEST(Circuit, everything_is_delivered_after_the_sources_stop) {
  for (const char* kind :
       {"vcs = 2", "sharing = 'demand'", "blocked = 'backtrack'",
        "blocked = 'backtrack', backtrack = 0, order = 'routing'", "backtrack = 0", "sources = 'servers', backoff = 7",
        "sources = 'one', ejection_circuits = 1", "injection_flits = 1, ejection_flits = 1",
        "injection_flits = 1, ejection_flits = 2, sharing = 'demand'", "directions = 'shared'",
        "vcs = 1, pipeline = false, acknowledge = 0, acquire = 4"}) {
    const api::Result result =
        run_text(std::string("switch = { name = 'circuit', ") + kind +
                     " }\ntraffic = { name = 'hot_spot', load = 0.9, fraction = 0.3, size = 9, process = 'poisson' }",
                 "warmup = 0, measure = 5000, drain = 200000, audit = 'full'");
    EXPECT_EQ(result.verdict, api::Verdict::saturated) << kind;
    EXPECT_EQ(result.explanation.find("still in the network"), std::string::npos) << kind << result.explanation;
    EXPECT_GT(result.at("delivered_packets").mean, 5000 * 16 * 0.9 / 9 * 0.95) << kind;
  }
}

/// Whose header comes first is chance then, whatever the routing promises of packets that follow each other.
TEST(Circuit, a_terminal_that_sends_several_at_once_keeps_no_order) {
  for (const char* sources : {"servers", "unlimited"}) {
    const std::string text =
        "topology = { name = 'mesh', size = [4, 5] }\nswitch = { name = 'circuit', vcs = 1, sources = '" +
        std::string(sources) +
        "', injection_circuits = 1 }\nrouting = 'dimension_order'\n"
        "traffic = { name = 'uniform', size = 2, load = 0.9 }\nrun = { warmup = 200, measure = 3000, audit = 'full' "
        "}\n";
    EXPECT_NO_THROW(api::run(api::read_experiments_text(text, "several", {}).points.front(), {})) << sources;
  }
}

/// A message waits in a lane of its destination for a turn that the next one of its pair can have before it.
TEST(Circuit, lanes_of_a_destination_keep_no_order) {
  const char* text =
      "topology = { name = 'mesh', size = [4, 5] }\n"
      "switch = { name = 'circuit', vcs = 1, sources = 'one', ejection_flits = 1, acknowledge = 0 }\n"
      "routing = 'dimension_order'\ntraffic = { name = 'hot_spot', size = 1, load = 0.6, fraction = 0.5 }\n"
      "run = { warmup = 200, measure = 3000, audit = 'full' }\n";
  EXPECT_NO_THROW(api::run(api::read_experiments_text(text, "lanes", {}).points.front(), {}));
}

/// The hot terminal is offered 15 * 0.8 * (0.65 + 0.35 / 15) = 8.08 flits per cycle by the others, and the four
/// channels into its switch carry 4.
TEST(SlowCircuit, no_virtual_channel_leaks_in_ten_million_cycles_at_twice_saturation) {
  for (const char* kind : {"vcs = 2", "vcs = 6, sharing = 'demand'", "vcs = 3, blocked = 'backtrack'"}) {
    const api::Result result =
        run_text(std::string("switch = { name = 'circuit', ") + kind +
                     " }\ntraffic = { name = 'hot_spot', load = 0.8, fraction = 0.65, size = 32, process = 'poisson' }",
                 "warmup = 0, measure = 10000000, drain = 1");
    EXPECT_EQ(result.verdict, api::Verdict::saturated) << kind;
  }
}

TEST(Circuit, the_source_server_is_free_when_the_tail_has_left) {
  Rig rig(line(4), circuit({{"vcs", i64{1}}}), {"dimension_order"});
  // 0 -> 3 over three channels: data from 6 on, tail leaves in cycle 15, arrives at 18. 0 -> 1 starts at 16: its
  // acknowledgment is there at 18, its data end at 28.
  EXPECT_EQ(rig.deliveries({{0, 0, 3, 10}, {0, 0, 1, 10}}), (std::vector<Tick>{18, 28}));
}

TEST(Circuit, own_metrics_of_a_lone_message) {
  const api::Result result =
      run_text("switch = 'circuit'\ntraffic = { name = 'uniform', load = 0.0004, size = 16, process = 'poisson' }",
               "warmup = 0, measure = 400000");
  const double hops = result.at("hops").mean - 1;
  EXPECT_NEAR(result.at("setup_latency").mean, 2 * hops, 0.05);
  EXPECT_NEAR(result.at("message_latency_first").mean, 3 * hops, 0.1);
  EXPECT_NEAR(result.at("message_latency_last").mean, result.at("packet_latency").mean, 1e-9);
  EXPECT_NEAR(result.at("service_time").mean, 2 * hops + 16, 0.1);
  EXPECT_GE(result.at("multiplexing_degree").mean, 1.0);
  EXPECT_LT(result.at("multiplexing_degree").mean, 1.01);
}

TEST(Circuit, bad_parameters_are_refused_with_a_reason) {
  const auto cause = [](const std::string& more) {
    try {
      static_cast<void>(run_text(more, "measure = 100"));
    } catch (const ConfigError& e) { return std::string(e.what()); }
    return std::string("accepted");
  };
  const std::string uniform = "\ntraffic = { name = 'uniform', load = 0.1 }";
  EXPECT_NE(cause("switch = { name = 'circuit', vcs = 0 }" + uniform).find("vcs"), std::string::npos);
  EXPECT_NE(cause("switch = { name = 'circuit', pipeline = false }" + uniform).find("wires"), std::string::npos);
  EXPECT_NE(cause("switch = { name = 'circuit', alternatives = [] }" + uniform).find("alternatives"),
            std::string::npos);
  const std::string hot = "switch = 'circuit'\ntraffic = { name = 'hot_spot', load = 0.1, ";
  EXPECT_NE(cause(hot + "fraction = 1.5 }").find("fraction"), std::string::npos);
  EXPECT_NE(cause(hot + "targets = [16] }").find("there is no terminal 16"), std::string::npos);
}

/// Circuits whose tails are in the lane to their terminal hold no virtual channel any more, so that there may be more
/// of them than servers and virtual channels. Before, the one too many was written behind the end of the table.
TEST(Circuit, MoreMayBeInTheLanesOfTerminalsThanThereAreServersAndChannels) {
  for (u64 seed = 1; seed <= 4; ++seed) {
    const std::string text =
        "topology = { name = 'mesh', size = [2], concentration = 4 }\n"
        "switch = { name = 'circuit', acknowledge = 0, ejection_flits = 1 }\n"
        "routing = 'dimension_order'\ntraffic = { name = 'uniform', load = 1.0, size = 1 }\n"
        "run = { warmup = 0, duration = 3000, audit = 'full', seed = " +
        std::to_string(seed) + " }\n";
    const api::Result result = api::run(api::read_experiments_text(text, "near", {}).points.front());
    EXPECT_GT(result.at("delivered_packets").mean, 100.0) << seed;
  }
}

// --- circuits within one switch -------------------------------------------------------------------------------------

/// They take lanes and places of their terminals like all others: before, a terminal received any number of them.
TEST(Circuit, WithinOneSwitchTakesLanesOfBothTerminals) {
  const auto one = [](Given given) {
    return Rig({"mesh", {{"size", std::vector<i64>{1}}, {"concentration", i64{4}}}}, circuit(std::move(given)),
               {"dimension_order"});
  };
  Rig free = one({});
  EXPECT_EQ(free.latency_of({0, 0, 1, 16}), 15U);
  Rig ejection = one({{"ejection_flits", i64{1}}});
  EXPECT_EQ(ejection.latency_of({0, 0, 1, 16}), 16U);
  Rig both = one({{"injection_flits", i64{1}}, {"ejection_flits", i64{1}}});
  EXPECT_EQ(both.latency_of({0, 0, 1, 16}), 17U);
  // Three to one terminal share its lane by turns: 48 flits take 48 cycles.
  const std::vector<Tick> shared = ejection.deliveries({{0, 0, 3, 16}, {1, 0, 3, 16}, {2, 0, 3, 16}});
  EXPECT_EQ(*std::max_element(shared.begin(), shared.end()), 48U);
  // One circuit at a time.
  Rig places = one({{"injection_circuits", i64{1}}, {"sources", std::string("servers")}});
  const std::vector<Tick> in_turn = places.deliveries({{0, 0, 1, 16}, {0, 0, 2, 16}});
  EXPECT_EQ(*std::max_element(in_turn.begin(), in_turn.end()), 15U + 15U);
}

/// A terminal receives no more than its lanes carry, and sends no more, wherever the others are.
TEST(Circuit, LanesOfATerminalCarryOneFlitPerCycleEach) {
  for (const char* size : {"[1], concentration = 128", "[2], concentration = 8", "[4], concentration = 2"}) {
    for (const char* lanes : {"ejection_flits = 1", "ejection_flits = 2", "injection_flits = 1",
                              "injection_flits = 1, ejection_flits = 1, sharing = 'demand'"}) {
      const std::string text = std::string("topology = { name = 'mesh', size = ") + size +
                               " }\nswitch = { name = 'circuit', sources = 'unlimited', acknowledge = 0, " + lanes +
                               " }\nrouting = 'dimension_order'\n"
                               "traffic = { name = 'hot_spot', load = 0.9, fraction = 1.0, targets = [0], size = 4 }\n"
                               "run = { duration = 2000, audit = 'full', tables = 'flows' }\n";
      const api::Result result = api::run(api::read_experiments_text(text, "lanes", {}).points.front());
      double received = 0.0;
      for (const api::Table& table : result.tables) {
        if (table.name != "flows") continue;
        const auto column = [&](const char* name) {
          return static_cast<std::size_t>(std::find(table.columns.begin(), table.columns.end(), name) -
                                          table.columns.begin());
        };
        for (const auto& row : table.rows) {
          if (std::get<u64>(row.at(column("destination"))) != 0) continue;
          received += static_cast<double>(std::get<u64>(row.at(column("flits"))));
        }
      }
      const bool ejection = std::string(lanes).find("ejection_flits") != std::string::npos;
      const double most = std::string(lanes).find("= 2") != std::string::npos ? 2.0 : 1.0;
      EXPECT_GT(received, 500.0) << size << " " << lanes;
      if (ejection) { EXPECT_LE(received, most * 2000.0) << size << " " << lanes; }
    }
  }
}

}  // namespace
}  // namespace banyan::test::circuit_test
