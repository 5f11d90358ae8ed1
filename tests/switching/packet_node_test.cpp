// Does the packet node time, order, conserve and explain as its page says?
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "banyan/core/registry.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/engine/machine.hpp"
#include "component_rows.hpp"
#include "support/script.hpp"

namespace banyan::packet_node_test {
namespace {

using namespace banyan;
using test::Script;
using Given = std::vector<std::pair<std::string, config::Value>>;

config::Values values_of(const config::ComponentInfo& info, const Given& given) {
  config::Values values = config::Values::defaults(info);
  for (const auto& [name, value] : given) values.set(name, value);
  return values;
}

/// Both dimensions of a 2 x 2 mesh at the source, for the choice by queue length.
class EitherWay final : public core::Routing {
 public:
  explicit EitherWay(const core::Topology& topology) : topology_(topology) {}
  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    const core::Grid& grid = *topology_.grid();
    const u32 wrong = request.at ^ request.packet->destination;
    for (u32 d = 2; d > 0; --d) {  // the higher dimension first: ties must go to the lower port all the same
      if ((wrong >> (d - 1) & 1U) == 0) continue;
      const bool up = (request.at >> (d - 1) & 1U) == 0;
      out.add({static_cast<u16>(up ? grid.port_up[d - 1] : grid.port_down[d - 1]), 0, 1, 0});
    }
  }

 private:
  const core::Topology& topology_;
};

/// Always up, round a ring: no order of the channels, so buffers can wait for each other in a circle.
class Clockwise final : public core::Routing {
 public:
  explicit Clockwise(const core::Topology& topology) : topology_(topology) {}
  void route(const core::RouteRequest&, core::Candidates& out) const noexcept override {
    out.add({static_cast<u16>(topology_.grid()->port_up[0]), 0, 1, 0});
  }

 private:
  const core::Topology& topology_;
};

struct Rig {
  Rig(const core::TopologyRow& row, const Given& shape, const Given& node, engine::EngineSettings settings = {},
      u32 traffics = 1)
      : topology(row.make(values_of(row.info, shape))), node_(node), settings_(std::move(settings)) {
    for (u32 i = 0; i < traffics; ++i) scripts.push_back(std::make_unique<Script>(terminals()));
    for (const auto& s : scripts) s->announce(1000);
    for (const auto& s : scripts) pointers_.push_back(s.get());
  }

  /// After the scripts are written.
  void build(const core::RoutingRow& row = routing::dimension_order::row_dimension_order) {
    routing = row.make(values_of(row.info, {}), {topology.get(), {}, 1, true});
    install();
  }
  void build(std::unique_ptr<core::Routing> own) {
    routing = std::move(own);
    install();
  }

  [[nodiscard]] u32 terminals() const { return topology->graph().terminals(); }
  [[nodiscard]] u64 node_digest() const {
    u64 sum = 0;
    for (const engine::Shard& shard : machine->shards()) sum += shard.populations[0]->digest();
    return sum;
  }
  engine::LatencySums run(Tick end = kNever) {
    machine->reset(0);
    machine->set_window({0, kNever - 1});
    machine->run_until(end);
    machine->audit();
    return machine->tallies()[0];
  }

  std::unique_ptr<core::Topology> topology;
  std::unique_ptr<core::Routing> routing;
  std::vector<std::unique_ptr<Script>> scripts;
  std::unique_ptr<engine::Machine> machine;

 private:
  void install() {
    engine::Builder builder(*topology, *routing, pointers_, {}, settings_);
    switching::packet_node::row_packet_node.install(values_of(switching::packet_node::row_packet_node.info, node_),
                                                    builder);
    machine = std::make_unique<engine::Machine>(builder.take_shards(), pointers_, builder.window(), settings_.threads);
  }

  Given node_;
  engine::EngineSettings settings_;
  std::vector<core::Traffic*> pointers_;
};

/// Whole messages without headers.
Given node(i64 buffers, i64 bandwidth, i64 acquire) {
  return {{"buffers_per_link", buffers},
          {"bandwidth", bandwidth},
          {"acquire", acquire},
          {"header", i64{0}},
          {"transport", std::string("datagram")}};
}
Given with(Given given, const std::string& name, config::Value value) {
  for (auto& [key, old] : given) {
    if (key == name) {
      old = std::move(value);
      return given;
    }
  }
  given.emplace_back(name, std::move(value));
  return given;
}
Given square(i64 side, i64 latency = 1) {
  return {{"size", std::vector<i64>{side, side}}, {"latency", std::vector<i64>{latency}}};
}

/// `each` messages per terminal to random others, of random lengths, all born within `span` ticks.
void fill(Script& script, u32 terminals, u32 each, Tick span, u32 longest, u64 salt) {
  for (u32 t = 0; t < terminals; ++t) {
    for (u32 i = 0; i < each; ++i) {
      const u64 word = mix64(salt + t * 1000003ULL + i);
      const u32 to = (t + 1 + static_cast<u32>(word % (terminals - 1))) % terminals;
      script.send(t, to, i * span / each, 1 + static_cast<u32>((word >> 32U) % longest));
    }
  }
}

// --- time ---------------------------------------------------------------------------------------------------------

TEST(PacketNode, ZeroLoadLatencyIsHopsTimesAcquirePlusSerializationForAllPairs) {
  struct Case {
    i64 bandwidth, acquire;
    u32 flits;
  };
  for (const Case& c : {Case{1, 10, 72}, Case{1, 0, 1}, Case{4, 10, 72}, Case{3, 7, 64}, Case{8, 100, 256}}) {
    Rig rig(topology::hypercube::row_hypercube, {{"degree", i64{4}}}, node(1, c.bandwidth, c.acquire));
    rig.build();
    const Tick hop =
        static_cast<Tick>(c.acquire) + (c.flits + static_cast<Tick>(c.bandwidth) - 1) / static_cast<Tick>(c.bandwidth);
    for (u32 from = 0; from < rig.terminals(); ++from) {
      for (u32 to = 0; to < rig.terminals(); ++to) {
        rig.scripts[0]->clear();
        rig.scripts[0]->send(from, to, 17, c.flits);
        const engine::LatencySums tally = rig.run();
        const Tick links = static_cast<Tick>(std::popcount(from ^ to));
        ASSERT_EQ(tally.packets, 1U);
        ASSERT_EQ(tally.latency, links * hop) << from << " to " << to << " with " << c.flits << " flits";
        ASSERT_EQ(tally.queueing, 0U);
        ASSERT_EQ(tally.hops, links + 1);
      }
    }
  }
}

TEST(PacketNode, ALinksLatencyBeyondOneTickIsAddedPerLink) {
  Rig rig(topology::mesh::row_mesh, square(3, 5), node(2, 2, 10));
  rig.build();
  rig.scripts[0]->send(0, 8, 0, 33);
  EXPECT_EQ(rig.run().latency, 4U * (10 + 17 + 5 - 1));
}

TEST(PacketNode, InAMultistageNetworkOnlyTheLinksBetweenBoxesCount) {
  Rig rig(topology::multistage_cube::row_multistage_cube, {{"terminals", i64{16}}, {"radix", i64{2}}}, node(2, 1, 3));
  rig.build(routing::destination_tag::row_destination_tag);
  rig.scripts[0]->send(5, 12, 0, 8);
  const engine::LatencySums tally = rig.run();
  EXPECT_EQ(tally.latency, 3U * (3 + 8));
  EXPECT_EQ(tally.hops, 4U);
}

TEST(PacketNode, PacketsToTheOwnNodeUseNoLink) {
  Rig rig(topology::mesh::row_mesh, {{"size", std::vector<i64>{2, 2}}, {"concentration", i64{2}}}, node(1, 1, 10));
  rig.build();
  rig.scripts[0]->send(0, 1, 4, 50);
  rig.scripts[0]->send(0, 0, 4, 50);
  const engine::LatencySums tally = rig.run();
  EXPECT_EQ(tally.packets, 2U);
  EXPECT_EQ(tally.latency, 0U);
}

TEST(PacketNode, ALinkServesItsRequestsInTheOrderOfTheirArrival) {
  // Three packets of one node for one link: the third waits for two transmissions.
  Rig rig(topology::mesh::row_mesh, {{"size", std::vector<i64>{2}}, {"concentration", i64{3}}}, node(4, 1, 10));
  rig.build();
  for (const u32 from : {2U, 0U, 1U}) rig.scripts[0]->send(from, 3, from == 2 ? 0 : 1, 20);
  EXPECT_EQ(rig.run().latency, 30U + (60 - 1) + (90 - 1));
}

TEST(PacketNode, AFullBufferBehindALinkStopsIt) {
  // A stream over two links of 30 ticks each. A buffer of the middle node is held from the start of one transmission to
  // the end of the next: B packets per 60 ticks, until the link itself is the limit.
  const std::vector<Tick> last_start{0, 9 * 60, 9 * 30, 9 * 30};
  for (u32 buffers = 1; buffers <= 3; ++buffers) {
    Rig rig(topology::mesh::row_mesh, {{"size", std::vector<i64>{3}}}, node(buffers, 1, 10));
    for (u32 i = 0; i < 10; ++i) rig.scripts[0]->send(0, 2, 0, 20);
    rig.build();
    rig.machine->reset(0);
    rig.machine->set_window({0, kNever - 1});
    Tick last = 0;
    while (rig.machine->totals().delivered < 10) last = rig.machine->step();
    EXPECT_EQ(last, last_start[buffers] + 60) << buffers;
  }
}

TEST(PacketNode, APacketForTheNextNodeNeedsNoBuffer) {
  // Node 1's only buffer for the link from node 0 is taken by a packet that cannot go on; one for node 1 still passes.
  Rig rig(topology::mesh::row_mesh, {{"size", std::vector<i64>{3}}, {"concentration", i64{2}}}, node(1, 1, 0));
  rig.build();
  rig.scripts[0]->send(2, 4, 0, 200);  // node 1 to 2: occupies that link until 200
  rig.scripts[0]->send(0, 4, 0, 10);   // node 0 to 2: waits in node 1 from 10 on
  rig.scripts[0]->send(1, 3, 20, 10);  // node 0 to 1
  EXPECT_EQ(rig.run().latency, 200U + 210U + 10U);
}

// --- choice -------------------------------------------------------------------------------------------------------

TEST(PacketNode, TakesTheShortestQueueAndTheLowestPortAmongEquals) {
  Rig rig(topology::mesh::row_mesh, square(2), node(4, 1, 0));
  rig.build(std::make_unique<EitherWay>(*rig.topology));
  const core::Grid& grid = *rig.topology->grid();
  const auto leaves_by = [&](u32 dimension) {
    const u32 c = rig.topology->graph().channel_out_of(0, grid.port_up[dimension]);
    return rig.topology->graph().channel(c).to.node;
  };
  ASSERT_EQ(leaves_by(0), 1U);
  // First packet: dimension 0. Second, while the first is under way: dimension 1. Neither waits.
  rig.scripts[0]->send(0, 3, 0, 40);
  rig.scripts[0]->send(0, 3, 1, 40);
  EXPECT_EQ(rig.run().latency, 80U + 80U);
  // A packet that must use dimension 0 at the same time shows which way the first one went.
  rig.scripts[0]->clear();
  rig.scripts[0]->send(0, 3, 0, 40);
  rig.scripts[0]->send(0, 1, 1, 40);
  EXPECT_EQ(rig.run().latency, 80U + (39U + 40U));
}

// --- order and conservation -----------------------------------------------------------------------------------------

TEST(PacketNode, PacketsOfOnePairArriveInOrder) {
  Rig rig(topology::hypercube::row_hypercube, {{"degree", i64{3}}}, node(2, 1, 2), {}, 2);
  for (u32 i = 0; i < 300; ++i) rig.scripts[0]->send(0, 7, 3 * i, 1 + static_cast<u32>(mix64(i) % 30));
  fill(*rig.scripts[1], rig.terminals(), 200, 3000, 30, 5);
  rig.build();
  rig.machine->reset(0);
  rig.machine->set_window({0, kNever - 1});
  engine::LatencySums before;
  Tick last_birth = 0;
  while (rig.machine->next() != kNever) {
    const Tick now = rig.machine->step();
    const engine::LatencySums after = rig.machine->tallies()[0];
    if (after.packets == before.packets) continue;
    ASSERT_EQ(after.packets, before.packets + 1);
    const Tick birth = now - (after.latency - before.latency);
    ASSERT_TRUE(before.packets == 0 || birth > last_birth);
    last_birth = birth;
    before = after;
  }
  EXPECT_EQ(before.packets, 300U);
}

TEST(PacketNode, NothingIsLostAndEveryBufferAndCreditComesBack) {
  const std::vector<std::pair<const core::TopologyRow*, Given>> shapes{
      {&topology::hypercube::row_hypercube, {{"degree", i64{5}}}},
      {&topology::mesh::row_mesh, square(4, 3)},
      {&topology::mesh::row_mesh, {{"size", std::vector<i64>{3, 2}}, {"concentration", i64{3}}}}};
  for (const auto& [row, shape] : shapes) {
    for (const i64 buffers : {1, 4}) {
      Rig rig(*row, shape, node(buffers, 2, 5));
      fill(*rig.scripts[0], rig.terminals(), 100, 400, 64, 11);
      rig.build();
      rig.machine->reset(0);
      const u64 empty = rig.node_digest();
      for (Tick now = 0; rig.machine->next() != kNever; now += 32) {
        rig.machine->run_until(now);
        rig.machine->audit();
      }
      EXPECT_EQ(rig.machine->totals().delivered, u64{100} * rig.terminals());
      EXPECT_EQ(rig.machine->totals().delivered_flits, rig.machine->totals().taken_flits);
      EXPECT_EQ(rig.node_digest(), empty);
      for (const engine::Shard& shard : rig.machine->shards()) EXPECT_EQ(shard.terminals->pool().live(), 0U);
    }
  }
}

// --- determinism ----------------------------------------------------------------------------------------------------

TEST(PacketNode, ShardsThreadsOrderAndSpuriousStepsDoNotChangeTheHash) {
  const auto hash_of = [](const engine::EngineSettings& settings) {
    Rig rig(topology::hypercube::row_hypercube, {{"degree", i64{5}}}, node(2, 1, 7), settings);
    fill(*rig.scripts[0], rig.terminals(), 30, 2000, 80, 3);
    rig.build();
    rig.machine->reset(0);
    rig.machine->set_window({0, kNever - 1});
    std::vector<u64> hashes;
    for (const Tick end : {500U, 2000U, 12000U}) {
      rig.machine->run_until(end);
      rig.machine->audit();
      hashes.push_back(rig.machine->hash());
    }
    EXPECT_EQ(rig.machine->totals().delivered, 30U * 32);
    return hashes;
  };
  engine::EngineSettings plain;
  plain.shards = 1;
  const std::vector<u64> expected = hash_of(plain);
  EXPECT_NE(expected[0], expected[1]);
  const auto expect_equal = [&](u32 shards, u32 threads, bool permuted, bool all) {
    engine::EngineSettings settings;
    settings.shards = shards;
    settings.threads = threads;
    settings.permuted = permuted;
    settings.step_all = all;
    EXPECT_EQ(hash_of(settings), expected) << shards << ' ' << threads << ' ' << permuted << ' ' << all;
  };
  for (const u32 shards : {1U, 2U, 7U}) {
    for (const bool permuted : {false, true}) {
      for (const bool all : {false, true}) expect_equal(shards, 1, permuted, all);
    }
  }
  expect_equal(2, 2, false, false);
  expect_equal(7, 2, true, false);
}

// --- messages in packets ------------------------------------------------------------------------------------------

TEST(PacketNode, AMessagesFirstAndLastDataFollowTable1ForEveryDistanceLengthHeaderAndPayload) {
  // S = (min(P, L) + H) / BW: first k (t_l + S), last k t_l + (k - 1) S + (L + pH) / BW + (p - 1) t_l.
  for (const bool pipelined : {false, true}) {
    for (const u32 acquire : {0U, 10U}) {
      for (const u32 payload : {16U, 64U, 100U}) {
        for (const u32 header : {0U, 8U, 16U}) {
          Given given = with(with(node(4, 1, acquire), "header", i64{header}), "transport", std::string("packet"));
          given = with(with(given, "payload", i64{payload}), "pipelined", pipelined);
          Rig rig(topology::hypercube::row_hypercube, {{"degree", i64{5}}}, given);
          rig.build(routing::qap::row_qap);
          for (u32 to = 1; to < 32; to += 3) {
            for (const u32 length : {1U, 15U, 64U, 65U, 512U, 1000U}) {
              rig.scripts[0]->clear();
              rig.scripts[0]->send(0, to, 5, length);
              const engine::LatencySums tally = rig.run();
              const u32 k = static_cast<u32>(std::popcount(to));
              const u32 p = (length + payload - 1) / payload;
              const u32 s = std::min(payload, length) + header;
              const u32 last = k * acquire + (k - 1) * s + length + p * header + (pipelined ? 0 : (p - 1) * acquire);
              ASSERT_EQ(tally.messages, 1U);
              ASSERT_EQ(tally.message_first, k * (acquire + s));
              ASSERT_EQ(tally.message_last, last) << k << ' ' << length << ' ' << header << ' ' << payload;
              ASSERT_EQ(tally.latency, last);
            }
          }
        }
      }
    }
  }
}

TEST(PacketNode, TransmissionsTakeWholeTicks) {
  // 2 bytes per tick: packets of 64 + 9 bytes take 37, the last one of 37 + 9 takes 23.
  Given given = with(with(node(4, 2, 10), "header", i64{9}), "transport", std::string("packet"));
  Rig rig(topology::hypercube::row_hypercube, {{"degree", i64{3}}}, given);
  rig.build(routing::ecube::row_ecube);
  rig.scripts[0]->send(0, 7, 0, 165);
  const engine::LatencySums tally = rig.run();
  EXPECT_EQ(tally.message_first, 3U * 47);
  EXPECT_EQ(tally.message_last, 4U * 47 + 33);
}

TEST(PacketNode, AVirtualCircuitRoutesOnlyTheFirstPacket) {
  Given given = with(with(node(4, 1, 10), "header", i64{8}), "transport", std::string("virtual_circuit"));
  Rig rig(topology::hypercube::row_hypercube, {{"degree", i64{4}}}, given);
  rig.build(routing::ecube::row_ecube);
  for (const u32 length : {30U, 64U, 300U}) {
    rig.scripts[0]->clear();
    rig.scripts[0]->send(0, 15, 0, length);
    const u32 first = std::min(length, 64U);
    const engine::LatencySums tally = rig.run();
    EXPECT_EQ(tally.message_first, 4U * (10 + first + 8));
    EXPECT_EQ(tally.message_last, 4U * (10 + first + 8) + (length - first));
  }
}

TEST(PacketNode, APipelineKeepsThePacketsOfAVirtualCircuitInOrder) {
  // The first packet is still being routed when the others, which are not, are on the link.
  Given given = with(with(node(4, 1, 37), "header", i64{8}), "transport", std::string("virtual_circuit"));
  given = with(given, "pipelined", true);
  Rig rig(topology::hypercube::row_hypercube, {{"degree", i64{4}}}, given);
  rig.build(routing::ecube::row_ecube);
  for (const u32 length : {30U, 65U, 300U}) {
    rig.scripts[0]->clear();
    rig.scripts[0]->send(0, 15, 0, length);
    const u32 first = std::min(length, 64U);
    const engine::LatencySums tally = rig.run();
    EXPECT_EQ(tally.message_first, 4U * (37 + first + 8));
    EXPECT_EQ(tally.message_last, 4U * (37 + first + 8) + (length - first));
  }
}

TEST(PacketNode, APipelineNeedsBuffersForWhatIsBeingRouted) {
  // A buffer is held for t_l + 2 S: B of them carry a packet per S when B S >= t_l + 2 S, here with 4, not with 3.
  // k = 3, p = 10, P = 12, H = 8: S = 20, t_l = 40.
  for (const u32 buffers : {3U, 4U}) {
    Given given = with(with(node(buffers, 1, 40), "header", i64{8}), "transport", std::string("packet"));
    given = with(with(given, "payload", i64{12}), "pipelined", true);
    Rig rig(topology::hypercube::row_hypercube, {{"degree", i64{3}}}, given);
    rig.build(routing::ecube::row_ecube);
    rig.scripts[0]->send(0, 7, 0, 120);
    const u64 last = rig.run().message_last;
    constexpr u64 kForm = 3 * 40 + 2 * 20 + 200;
    EXPECT_EQ(last == kForm, buffers == 4) << last;
  }
}

TEST(PacketNode, CutThroughGoesOnWhenTheHeaderIsThere) {
  Given given = with(with(node(4, 1, 10), "header", i64{8}), "switching", std::string("cut_through"));
  Rig rig(topology::hypercube::row_hypercube, {{"degree", i64{4}}}, given);
  rig.build(routing::ecube::row_ecube);
  rig.scripts[0]->send(0, 15, 0, 100);
  const engine::LatencySums tally = rig.run();
  EXPECT_EQ(tally.message_first, 4U * 10 + 3U * 8 + 108);
  EXPECT_EQ(tally.message_last, tally.message_first);
}

TEST(PacketNode, PacketsOfDifferentMessagesTakeTurnsOnALink) {
  // A long message first, a short one a tick later: the short one's only packet goes second.
  Given given = with(with(node(4, 1, 0), "transport", std::string("packet")), "payload", i64{50});
  Rig rig(topology::hypercube::row_hypercube, {{"degree", i64{1}}}, given);
  rig.build(routing::ecube::row_ecube);
  rig.scripts[0]->send(0, 1, 0, 500);
  rig.scripts[0]->send(0, 1, 1, 50);
  const engine::LatencySums tally = rig.run();
  EXPECT_EQ(tally.messages, 2U);
  EXPECT_EQ(tally.message_first, 50U + 99U);
  EXPECT_EQ(tally.message_last, 550U + 99U);
}

TEST(PacketNode, AMessageFollowsTheFirstStepOfItsFirstPacket) {
  // The first message of 0 -> 3 takes dimension 0 and keeps it although dimension 1 is idle; the second takes the
  // other.
  Given given = with(with(node(4, 1, 0), "transport", std::string("packet")), "payload", i64{10});
  Rig rig(topology::hypercube::row_hypercube, {{"degree", i64{2}}}, given);
  rig.build(routing::qap::row_qap);
  rig.scripts[0]->send(0, 3, 0, 100);
  EXPECT_EQ(rig.run().message_last, 110U);
  rig.scripts[0]->send(0, 3, 1, 100);
  EXPECT_EQ(rig.run().message_last, 110U + 110U);
  // E-cube puts both on one link.
  rig.build(routing::ecube::row_ecube);
  EXPECT_GT(rig.run().message_last, 300U);
}

TEST(PacketNode, OnePortSendsAndReceivesOnePacketAtATime) {
  const auto last = [](i64 ports, bool sends) {
    Rig rig(topology::hypercube::row_hypercube, {{"degree", i64{2}}}, with(node(4, 1, 0), "ports", ports));
    rig.build(routing::ecube::row_ecube);
    rig.scripts[0]->send(sends ? 0 : 1, sends ? 1 : 0, 0, 40);
    rig.scripts[0]->send(sends ? 0 : 2, sends ? 2 : 0, 0, 40);
    return rig.run().latency;
  };
  for (const bool sends : {false, true}) {
    EXPECT_EQ(last(0, sends), 40U + 40U);
    EXPECT_EQ(last(2, sends), 40U + 40U);
    EXPECT_EQ(last(1, sends), 40U + 80U);
  }
}

TEST(PacketNode, LinksOfANodeMayShareTheirBuffers) {
  // Three packets pass node 1 of a line towards 2 while the link to 2 is busy: with one buffer per link the pool of
  // node 1 has two (one for each direction).
  const auto delivered_by = [](const std::string& sharing) {
    Rig rig(topology::mesh::row_mesh, {{"size", std::vector<i64>{3}}, {"concentration", i64{2}}},
            with(node(1, 1, 0), "buffer_sharing", sharing));
    rig.build();
    rig.scripts[0]->send(2, 4, 0, 200);
    for (u32 i = 0; i < 3; ++i) rig.scripts[0]->send(0, 4, 0, 10);
    rig.machine->reset(0);
    rig.machine->set_window({0, kNever - 1});
    rig.machine->run_until(150);
    rig.machine->audit();
    return rig.machine->totals().movements;
  };
  EXPECT_EQ(delivered_by("link"), 200U + 10);
  EXPECT_EQ(delivered_by("node"), 200U + 20);
}

TEST(PacketNode, AReceiverStallsWhereDataComeTooLate) {
  // One link: packets of 72 ticks and 10 of acquisition bring 64 bytes. At a quarter of the bandwidth 64 bytes keep the
  // receiver busy for 256 ticks; at full bandwidth it waits 18 before each packet but the first.
  const auto run = [](double consumption, const std::string& metric) {
    Given given = with(with(node(4, 1, 10), "header", i64{8}), "transport", std::string("packet"));
    engine::EngineSettings settings;
    settings.steady = {4, 4096, 0};
    Rig rig(topology::hypercube::row_hypercube, {{"degree", i64{1}}}, with(given, "consumption", consumption),
            settings);
    rig.build(routing::ecube::row_ecube);
    rig.scripts[0]->send(0, 1, 0, 320);
    rig.run();
    const engine::OwnMetrics own = rig.machine->own_metrics();
    for (const auto& entry : own.entries()) {
      if (entry.name == metric) return entry.windows.front().sum;
    }
    return u64{999999};
  };
  EXPECT_EQ(run(0.25, "completion_time"), 82U + 5 * 256);
  EXPECT_EQ(run(0.25, "receiver_stall"), 0U);
  EXPECT_EQ(run(1.0, "completion_time"), 5U * 82 + 64);
  EXPECT_EQ(run(1.0, "receiver_stall"), 4U * 18);
  EXPECT_EQ(run(1.0, "receiver_stalls"), 4U);
}

// --- deadlock -------------------------------------------------------------------------------------------------------

TEST(PacketNode, ADeadlockShowsAsACycleOfBuffers) {
  // Every node of a ring sends two packets three links far, upwards: with one buffer per link all fill at once.
  Rig rig(topology::torus::row_torus, {{"size", std::vector<i64>{5}}}, node(1, 1, 0));
  for (u32 t = 0; t < 5; ++t) {
    for (u32 i = 0; i < 2; ++i) rig.scripts[0]->send(t, (t + 3) % 5, 0, 4);
  }
  rig.build(std::make_unique<Clockwise>(*rig.topology));
  rig.run();
  EXPECT_EQ(rig.machine->totals().delivered, 0U);
  EXPECT_EQ(rig.machine->explain_blockage().substr(0, 36), "5 packets wait on each other in a cy");
}

TEST(PacketNode, TwoBuffersPerLinkLetTheSameRingMove) {
  Rig rig(topology::torus::row_torus, {{"size", std::vector<i64>{5}}}, node(2, 1, 0));
  for (u32 t = 0; t < 5; ++t) rig.scripts[0]->send(t, (t + 3) % 5, 0, 4);
  rig.build(std::make_unique<Clockwise>(*rig.topology));
  EXPECT_EQ(rig.run().packets, 5U);
}

/// Overload: `each` messages per terminal at once, one buffer per link.
u64 stress(const std::string& take_over, const core::RoutingRow& routing, i64 degree, u32 each, u64 salt,
           std::string* explanation = nullptr) {
  Given given = with(with(node(1, 1, 2), "transport", std::string("packet")), "payload", i64{8});
  Rig rig(topology::hypercube::row_hypercube, {{"degree", degree}}, with(given, "take_over", take_over));
  fill(*rig.scripts[0], rig.terminals(), each, each, 60, salt);
  rig.build(routing);
  rig.run();
  if (explanation != nullptr) *explanation = rig.machine->explain_blockage();
  return u64{each} * rig.terminals() - rig.machine->totals().delivered;
}

TEST(PacketNode, QapDeadlocksWithoutTheTakeOverRuleAndNeverWithIt) {
  std::string explanation;
  EXPECT_NE(stress("never", routing::qap::row_qap, 4, 100, 1, &explanation), 0U);
  EXPECT_NE(explanation.find("wait on each other in a cycle"), std::string::npos) << explanation;
  EXPECT_NE(explanation.find("held by the packet in the source queue"), std::string::npos) << explanation;
  for (const core::RoutingRow* routing : {&routing::qap::row_qap, &routing::qap_random::row_qap_random}) {
    for (const char* take_over : {"blocked", "always"}) {
      for (u64 salt = 0; salt < 3; ++salt) EXPECT_EQ(stress(take_over, *routing, 5, 100, salt), 0U);
    }
  }
  EXPECT_EQ(stress("never", routing::ecube::row_ecube, 5, 100, 1), 0U) << "e-cube needs no rule";
}

TEST(SlowPacketNode, QapWithTheTakeOverRuleNeverDeadlocks) {
  for (const i64 degree : {3, 6, 8}) {
    for (u64 salt = 0; salt < 10; ++salt) {
      EXPECT_EQ(stress("blocked", routing::qap::row_qap, degree, 500, salt), 0U) << degree << ' ' << salt;
      EXPECT_EQ(stress("blocked", routing::qap_random::row_qap_random, degree, 500, salt), 0U) << degree << ' ' << salt;
      EXPECT_NE(stress("never", routing::qap::row_qap, std::max<i64>(degree, 4), 500, salt), 0U)
          << degree << ' ' << salt;
    }
  }
}

// --- bad input ------------------------------------------------------------------------------------------------------

TEST(PacketNode, RefusesWhatDoesNotFitTogether) {
  const auto refused = [](const Given& given, const std::string& words) {
    Rig rig(topology::hypercube::row_hypercube, {{"degree", i64{2}}}, given);
    try {
      rig.build(routing::ecube::row_ecube);
      ADD_FAILURE() << words;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  refused({{"payload", i64{8}}, {"header", i64{9}}}, "a payload of 8 flits is shorter than the header of 9");
  refused({{"header", i64{0}}, {"switching", std::string("cut_through")}}, "cut_through sends a packet on");
}

TEST(PacketNode, RefusesATrafficThatCutsItsMessagesItself) {
  Rig rig(topology::mesh::row_mesh, square(2), node(1, 1, 0));
  rig.scripts[0]->cut(16);
  EXPECT_THROW(rig.build(), ConfigError);
}

/// A packet that goes on when its header is there waits for its tail where it came over a slower link. Before, it
/// overtook its own tail, and its record was used again while the slow link still sent it: audits see that.
TEST(PacketNode, CutThroughOverAFasterLinkWaitsForTheTail) {
  for (const u32 slow : {8U, 24U}) {
    const std::string text =
        "topology = { name = 'dragonfly', routers_per_group = 2, global_ports = 1, global_cycles_per_flit = " +
        std::to_string(slow) +
        " }\nswitch = { name = 'packet_node', switching = 'cut_through' }\nrouting = 'up_down'\n"
        "traffic = { name = 'uniform', load = 0.1, size = 100 }\n"
        "run = { warmup = 500, measure = 20000, audit = 'full' }\n";
    const api::Result result = api::run(api::read_experiments_text(text, "slow", {}).points.front());
    EXPECT_GT(result.at("delivered_packets").mean, 100.0) << slow;
  }
}

}  // namespace
}  // namespace banyan::packet_node_test
