// Is Patel's recurrence what a delta network that drops blocked requests does?
#include "analysis/beside.hpp"
#include "banyan/base/rng.hpp"
#include "support/rows.hpp"

namespace banyan::test::patel_test {
namespace {

/// Requests walk the library's own network by destination tags; at every switch one request per output goes on.
double dropped(u32 terminals, u32 radix, double load, u32 cycles) {
  const auto network = topology("multistage_cube", {{"terminals", i64{terminals}}, {"radix", i64{radix}}});
  const auto tags = routing("destination_tag", *network, 1);
  const core::Graph& graph = network->graph();
  const Random random(3, Stream{"test"}, 3, terminals);
  u64 arrived = 0;
  for (u32 cycle = 0; cycle < cycles; ++cycle) {
    struct Request {
      core::Packet packet;
      u32 channel = 0;
    };
    std::vector<Request> alive;
    for (u32 t = 0; t < terminals; ++t) {
      const Words words = random.at(t, cycle);
      if (unit_real(words[0], words[1]) >= load) continue;
      Request r;
      r.packet.source = t;
      r.packet.destination = below(words[2], terminals);
      tags->prepare(r.packet, words[3]);
      r.channel = graph.injection(t);
      alive.push_back(r);
    }
    for (u32 stage = 0; stage < network->multistage()->digit_of_stage.size(); ++stage) {
      std::map<u32, std::vector<Request>> wants;  // by output channel
      for (Request& r : alive) {
        const core::End to = graph.channel(r.channel).to;
        core::Candidates next;
        tags->route({to.node, to.port, 0, &r.packet, 0, nullptr}, next);
        wants[graph.channel_out_of(to.node, next[0].port)].push_back(r);
      }
      alive.clear();
      for (auto& [channel, requests] : wants) {
        const u32 word = random.at(u64{1} << 32U | channel, u64{cycle} * 16 + stage)[0];
        Request winner = requests[below(word, static_cast<u32>(requests.size()))];
        winner.channel = channel;
        alive.push_back(winner);
      }
    }
    arrived += alive.size();
  }
  return static_cast<double>(arrived) / cycles / terminals;
}

double model(u32 terminals, u32 radix, double load) {
  return run_toml("topology = { name = 'multistage_cube', terminals = " + std::to_string(terminals) +
                  ", radix = " + std::to_string(radix) +
                  " }\nswitch = 'output_queued'\nrouting = 'destination_tag'\nanalysis = 'patel'\n"
                  "traffic = { name = 'uniform', include_self = true, load = " +
                  std::to_string(load) + " }\nrun = { warmup = 100, measure = 100 }\n")
      .at("unbuffered_throughput@patel")
      .mean;
}

TEST(Patel, one_crossbar_by_hand) { EXPECT_NEAR(model(2, 2, 1.0), 0.75, 1e-12); }

TEST(Patel, agrees_with_requests_that_are_dropped) {
  EXPECT_NEAR(model(64, 2, 1.0), dropped(64, 2, 1.0, 400), 0.01);
  EXPECT_NEAR(model(64, 4, 0.5), dropped(64, 4, 0.5, 400), 0.01);
}

TEST(Patel, refuses_other_networks) {
  EXPECT_NE(refused("topology = { name = 'torus', size = [4, 4] }\nswitch = 'circuit'\nrouting = 'fully_adaptive'\n"
                    "analysis = 'patel'\ntraffic = { name = 'uniform', load = 0.1 }\n"),
            "");
}

}  // namespace
}  // namespace banyan::test::patel_test
