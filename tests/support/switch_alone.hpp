// One switch per test, without a network: the engine's channels are mocks. Flits and credits are put in by hand, and
// what the switch sends is taken out, cycle by cycle.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "banyan/core/traffic.hpp"
#include "banyan/engine/builder.hpp"
#include "support/script.hpp"

namespace banyan::test {

/// A switch model per switch, on a topology of one switch with a terminal per port. Channels take `latency` cycles.
class SwitchAlone {
 public:
  /// What left the switch over its channels; `entity` of an arrival is the terminal.
  using Out = engine::Arrivals;

  SwitchAlone(std::unique_ptr<core::Topology> topology, std::unique_ptr<core::Routing> routing,
              const core::SwitchRow& row, const config::Values& values)
      : topology_(std::move(topology)),
        routing_(std::move(routing)),
        nothing_(topology_->graph().terminals(), {}),
        traffics_{&nothing_},
        outside_(1024) {
    if (topology_->graph().switches() != 1) throw std::logic_error("a switch alone has no neighbours");
    engine::Builder builder(*topology_, *routing_, traffics_, {}, engine::EngineSettings{});
    row.install(values, builder);
    shards_ = builder.take_shards();
    auto* const channels = dynamic_cast<engine::ChannelPopulation*>(shards_[0].populations.at(1).get());
    if (channels == nullptr) throw std::logic_error(row.info.name + " does not send over channels");
    model_ = channels;
    // In place of the interfaces: a list of what has arrived there.
    wires_.inboxes = {&outside_, &model_->inbox()};
    due_.assign(2, kNever);
    wires_.due = &due_;
    wires_.pools = {&shards_[0].terminals->pool()};
    model_->connect(wires_, 1);
    model_->reset(0);
  }

  /// A packet of so many flits; the terminals are those of the topology.
  [[nodiscard]] core::PacketId packet(u32 source, u32 destination, u32 flits) {
    const core::PacketId id = shards_[0].terminals->pool().allocate();
    core::Packet& packet = shards_[0].terminals->pool()[id];
    packet = {};
    packet.source = source;
    packet.destination = destination;
    packet.sequence = sequence_++;
    packet.flits = flits;
    routing_->prepare(packet, 0);
    return id;
  }
  /// The nth flit of a packet arrives at the input of its source in this cycle, on a virtual channel.
  void put(core::PacketId id, u32 nth, u32 vc = 0) {
    const core::Packet& packet = shards_[0].terminals->pool()[id];
    core::Flit flit;
    flit.packet = id;
    flit.destination = packet.destination;
    flit.sequence = static_cast<u16>(nth);
    flit.vc = static_cast<u8>(vc);
    flit.flags = static_cast<u8>((nth == 0 ? core::kHead : 0) | (nth + 1 == packet.flits ? core::kTail : 0));
    const u32 port = topology_->graph().channel(topology_->graph().injection(packet.source)).to.port;
    model_->inbox().add(now_, engine::FlitArrival{flit, 0, port});
  }
  /// The place behind the output to a terminal is free again in this cycle.
  void credit(u32 terminal, u32 vc = 0) {
    const u32 port = topology_->graph().channel(topology_->graph().ejection(terminal)).from.port;
    const core::Control control{engine::kCredit, static_cast<u16>(vc), 1};
    model_->inbox().add(now_, engine::ControlArrival{control, 0, port});
  }
  /// One cycle of the switch; then, what has arrived at the terminals in this cycle.
  Out cycle() {
    model_->run(now_);
    Out out;
    outside_.take(now_, [&](const engine::Arrivals& arrivals) { out = arrivals; });
    ++now_;
    return out;
  }
  [[nodiscard]] Tick now() const { return now_; }
  [[nodiscard]] engine::ChannelPopulation& model() { return *model_; }

 private:
  std::unique_ptr<core::Topology> topology_;
  std::unique_ptr<core::Routing> routing_;
  Script nothing_;
  std::vector<core::Traffic*> traffics_;
  std::vector<engine::Shard> shards_;
  engine::ChannelPopulation* model_ = nullptr;
  engine::Inbox outside_;
  std::vector<Tick> due_;
  engine::Wires wires_;
  Tick now_ = 0;
  u32 sequence_ = 0;
};

}  // namespace banyan::test
