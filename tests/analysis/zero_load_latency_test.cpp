// Is the predicted latency of an empty network that of packets that meet nobody, on any topology and switch?
#include "analysis/beside.hpp"

namespace banyan::test::zero_load_latency_test {
namespace {

void expect_equal(const std::string& text) {
  const api::Result result =
      run_toml(text + "\nanalysis = 'zero_load_latency'\nrun = { warmup = 0, measure = 300000 }\n");
  const stats::Metric& measured = result.at("packet_latency");
  const double model = result.at("packet_latency@zero_load_latency").mean;
  EXPECT_NEAR(model, measured.mean, 4 * measured.half_width.value_or(0) + 0.003 * model) << text;
  const stats::Metric& hops = result.at("hops");
  EXPECT_NEAR(result.at("hops@zero_load_latency").mean, hops.mean, 4 * hops.half_width.value_or(0.1) + 0.01) << text;
  EXPECT_EQ(result.warning, "") << text;
}

TEST(ZeroLoadLatency, agrees_with_circuits) {
  const std::string traffic = "\ntraffic = { name = 'uniform', load = 0.0008, size = 20 }";
  expect_equal("topology = { name = 'torus', size = [4, 4] }\nswitch = 'circuit'\nrouting = 'fully_adaptive'" +
               traffic);
  expect_equal(
      "topology = { name = 'hypercube', degree = 4 }\nrouting = 'dimension_order'\n"
      "switch = { name = 'circuit', vcs = 1, acquire = 10, acknowledge = 0, pipeline = false }" +
      traffic);
  expect_equal(
      "topology = { name = 'mesh', size = [4, 4] }\nrouting = 'fully_adaptive'\n"
      "switch = { name = 'circuit', injection_flits = 1, ejection_flits = 1 }" +
      traffic);
}

TEST(ZeroLoadLatency, agrees_with_routers_and_boxes) {
  expect_equal(
      "topology = { name = 'mesh', size = [4, 4], latency = [3], terminal_latency = 2 }\nswitch = 'vc_router'\n"
      "routing = 'dimension_order'\ntraffic = { name = 'uniform', load = 0.001, size = 5 }");
  expect_equal(
      "topology = { name = 'torus', size = [4, 4] }\nswitch = { name = 'vc_router', speculative = true, buffer = 16 }\n"
      "routing = 'valiant'\ntraffic = { name = 'permutation', pattern = 'transpose', load = 0.001 }");
  expect_equal(
      "topology = { name = 'multistage_cube', terminals = 16, radix = 2 }\nswitch = 'output_queued'\n"
      "routing = 'destination_tag'\ntraffic = { name = 'uniform', load = 0.0005 }");
}

TEST(ZeroLoadLatency, agrees_with_packets_and_their_transports) {
  const std::string cube = "topology = { name = 'hypercube', degree = 4 }\nrouting = 'ecube'\n";
  const std::string traffic = "\ntraffic = { name = 'uniform', load = 0.01, size = 150 }";
  for (const char* more :
       {"", ", transport = 'datagram'", ", transport = 'virtual_circuit'", ", pipelined = true",
        ", transport = 'virtual_circuit', pipelined = true", ", switching = 'cut_through'", ", bandwidth = 4",
        ", switching = 'cut_through', pipelined = true, bandwidth = 2", ", ports = 1", ", payload = 16"}) {
    expect_equal(cube + "switch = { name = 'packet_node'" + more + " }" + traffic);
  }
  expect_equal(
      "topology = { name = 'mesh', size = [3, 3], concentration = 2, latency = [4] }\nrouting = 'dimension_order'\n"
      "switch = 'packet_node'" +
      traffic);
}

TEST(ZeroLoadLatency, agrees_with_combined_queues_and_buffered_wormholes) {
  const std::string tree = "topology = { name = 'bidirectional_min', hosts = 16, ports = 4 }\n";
  for (const char* speedup : {"1", "1.5", "2"}) {
    expect_equal(tree + "routing = { name = 'nearest_common_ancestor', up = 'destination_digit' }\nswitch = { name = " +
                 "'cioq', queues = 'voqsw', speedup = " + speedup +
                 " }\ntraffic = { name = 'uniform', load = 0.002, size = 50 }");
  }
  for (const char* name : {"central_buffer", "input_buffer"}) {
    expect_equal(tree + "routing = 'nearest_common_ancestor'\nswitch = '" + name +
                 "'\ntraffic = { name = 'uniform', load = 0.001, size = 20 }");
    expect_equal(
        "topology = { name = 'hypercube', degree = 4, latency = 3, terminal_latency = 2 }\nrouting = 'ecube'\n"
        "switch = '" +
        std::string(name) + "'\ntraffic = { name = 'uniform', load = 0.001, size = 9 }");
  }
  // Every flit has a switch allocation of its own, unless its packet keeps the way.
  for (const char* flow : {"wormhole", "store_and_forward"}) {
    for (const char* held : {"false", "true"}) {
      for (const char* delay : {"1", "2", "5"}) {
        expect_equal(std::string("topology = { name = 'mesh', size = [4, 4] }\nrouting = 'dimension_order'\n") +
                     "switch = { name = 'vc_router', flow = '" + flow + "', sw_alloc_delay = " + delay +
                     ", hold_switch_for_packet = " + held +
                     ", buffer = 16 }\ntraffic = { name = 'uniform', load = 0.001, size = 5 }");
      }
    }
  }
}

/// Whoever does what the remedy says is described.
TEST(ZeroLoadLatency, the_remedy_of_slow_channels_helps) {
  for (const auto& [topology, key] : {std::pair{"mesh', size = [4, 4], cycles_per_flit = 2", "cycles_per_flit"},
                                      {"dragonfly', global_cycles_per_flit = 2", "global_cycles_per_flit"}}) {
    const std::string text = std::string("topology = { name = '") + topology +
                             " }\nswitch = 'vc_router'\nanalysis = 'zero_load_latency'\n"
                             "traffic = { name = 'uniform', load = 0.1, size = 5 }\n";
    try {
      static_cast<void>(api::check(api::read_experiments_text(text, "slow", {}).points.front()));
      ADD_FAILURE() << "not refused: " << text;
    } catch (const ConfigError& error) {
      EXPECT_NE(error.remedy().find(std::string(key) + " = 1"), std::string::npos) << error.remedy();
    }
    EXPECT_EQ(refused(text, {std::string("topology.") + key + "=1"}), "");
  }
}

TEST(ZeroLoadLatency, has_no_hops_where_there_are_no_switches) {
  const api::Result result = run_toml(
      "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'ideal', latency = 20 }\n"
      "analysis = 'zero_load_latency'\ntraffic = { name = 'uniform', load = 0.1 }\nrun = { measure = 1000 }\n");
  EXPECT_NE(result.find("packet_latency@zero_load_latency"), nullptr);
  EXPECT_EQ(result.find("hops@zero_load_latency"), nullptr);
}

TEST(ZeroLoadLatency, refuses_what_it_does_not_know) {
  const std::string text =
      "topology = { name = 'mesh', size = [4, 4] }\nswitch = 'vc_router'\nrouting = 'dimension_order'\n"
      "analysis = 'zero_load_latency'\ntraffic = { name = 'uniform', load = 0.1, size = 5 }\n";
  EXPECT_EQ(refused(text), "");
  EXPECT_NE(refused(text, {"size_distribution=geometric"}), "");
  EXPECT_NE(refused(text, {"switch.internal_speedup=2"}), "");
  EXPECT_NE(refused(text, {"switch=central_buffer", "switch.bypass=never"}), "");
}

/// The reason is the true one, and its remedy can be followed.
TEST(ZeroLoadLatency, says_why_it_does_not_describe_a_traffic) {
  const std::string head =
      "topology = { name = 'bidirectional_min', hosts = 16, ports = 8 }\nswitch = 'central_buffer'\n"
      "routing = 'nearest_common_ancestor'\nanalysis = 'zero_load_latency'\n";
  for (const char* name : {"multicast", "bimodal"}) {
    const std::string text = head + "traffic = { name = '" + name + "', load = 0.1 }\n";
    EXPECT_EQ(refused(text), std::string("zero_load_latency describes messages with one destination, not ") + name);
    EXPECT_EQ(refused(text, {"traffic.implementation=software"}),
              std::string("zero_load_latency describes a steady stream of messages, not ") + name);
  }
  EXPECT_EQ(refused(head + "traffic = { name = 'uniform', load = 0.1, max_packet = 4, size = 8 }\n"),
            "zero_load_latency describes packets of one length");
  EXPECT_EQ(
      refused(head + "traffic = [{ name = 'uniform', load = 0.1 }, { name = 'uniform', load = 0.1, size = 8 }]\n"),
      "zero_load_latency describes packets of one length, the same for all traffics");
}

}  // namespace
}  // namespace banyan::test::zero_load_latency_test
