// Does Table 1, reconstructed, say what an empty network takes?
#include <gtest/gtest.h>

#include <map>

#include "banyan/engine/builder.hpp"
#include "banyan/engine/machine.hpp"
#include "support/rows.hpp"

namespace banyan::test::transport_times_test {
namespace {

class OneMessage final : public core::Traffic {
 public:
  OneMessage(u32 to, u32 flits) : to_(to), flits_(flits) {}
  void begin(u32) override {}
  [[nodiscard]] bool next(u32 terminal, u64 nth, Tick, core::Message& out) const noexcept override {
    if (terminal != 0 || nth != 0) return false;
    out.birth = 3;
    out.destination = to_;
    out.flits = flits_;
    return true;
  }
  [[nodiscard]] core::TrafficTraits traits() const noexcept override { return {.longest_message = flits_}; }

 private:
  u32 to_;
  u32 flits_;
};

struct Ends {
  u64 first = 0;
  u64 last = 0;
};

Ends run(const std::string& switch_name, const Settings& given, const std::string& routing_name, u32 to, u32 flits) {
  const auto cube = topology("hypercube", {{"degree", i64{5}}});
  const core::SwitchRow& row = row_named(core::switching_rows(), switch_name);
  const core::RoutingRow& route = row_named(core::routing_rows(), routing_name);
  const auto routing = route.make(settings(route.info, {}), {cube.get(), {}, 1, true});
  OneMessage message(to, flits);
  std::vector<core::Traffic*> traffics{&message};
  engine::EngineSettings engine_settings;
  engine_settings.steady = {0, 1U << 20U, 0};
  engine_settings.steady.shift = 20;
  engine::Builder builder(*cube, *routing, traffics, {}, engine_settings);
  row.install(settings(row.info, given), builder);
  engine::Machine machine(builder.take_shards(), traffics, builder.window(), 1);
  machine.reset(0);
  machine.set_window({0, kNever - 1});
  machine.run_until(1U << 19U);
  machine.audit();
  const engine::LatencySums tally = machine.tallies()[0];
  // A circuit tells its first data by itself: the last less the time between them.
  return {tally.latency - tally.serialization, tally.latency};
}

TEST(TransportTimes, AreThoseOfTheSwitchModels) {
  const core::AnalysisRow& row = row_named(core::analysis_rows(), "transport_times");
  for (const u32 bandwidth : {1U, 2U}) {
    for (const u32 length : {1U, 64U, 65U, 300U, 1000U}) {
      for (const u32 to : {1U, 6U, 31U}) {
        const i64 k = std::popcount(to);
        std::map<std::string, double> table;
        for (const core::Prediction& p :
             row.make(settings(row.info, {{"distance", k}, {"length", i64{length}}, {"bandwidth", i64{bandwidth}}}), {})
                 ->predict()) {
          table[p.metric] = p.value;
        }
        const auto expect = [&](const std::string& transport, const Ends& measured) {
          EXPECT_EQ(static_cast<double>(measured.first), table.at(transport + "_first")) << transport << ' ' << length;
          EXPECT_EQ(static_cast<double>(measured.last), table.at(transport + "_last")) << transport << ' ' << length;
        };
        for (const std::string transport : {"packet", "datagram", "virtual_circuit"}) {
          expect(transport,
                 run("packet_node", {{"transport", transport}, {"bandwidth", i64{bandwidth}}}, "qap", to, length));
        }
        if (bandwidth != 1) continue;
        const Settings circuit{{"vcs", i64{1}},         {"pipeline", false},      {"acquire", i64{10}},
                               {"acknowledge", i64{0}}, {"header", i64{8}},       {"sources", std::string("one")},
                               {"backtrack", i64{0}},   {"retry_delay", i64{100}}};
        expect("circuit", run("circuit", circuit, "fully_adaptive", to, length));
      }
    }
  }
}

TEST(TransportTimes, HandComputed) {
  // k = 2, L = 100, P = 64, H = 8, t_l = 10: packets of 72 and 44 bytes.
  const core::AnalysisRow& row = row_named(core::analysis_rows(), "transport_times");
  std::map<std::string, double> table;
  for (const core::Prediction& p :
       row.make(settings(row.info, {{"distance", i64{2}}, {"length", i64{100}}}), {})->predict())
    table[p.metric] = p.value;
  EXPECT_EQ(table.at("packet_first"), 2 * 82);
  EXPECT_EQ(table.at("packet_last"), 2 * 10 + 72 + 116 + 10);
  EXPECT_EQ(table.at("datagram_last"), 2 * 118);
  EXPECT_EQ(table.at("circuit_last"), 2 * 10 + 108);
  EXPECT_EQ(table.at("virtual_circuit_last"), 2 * 10 + 72 + 108);
}

}  // namespace
}  // namespace banyan::test::transport_times_test
