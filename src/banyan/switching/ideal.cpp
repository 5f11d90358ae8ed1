// A network without contention: every message is at its destination after a latency and a time per byte, whatever else
// is on its way. A flit is a byte. Jobs run here in a loop of their own (workload/replay.hpp) with the same times.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "banyan/core/switching.hpp"
#include "banyan/engine/whole_network.hpp"
#include "banyan/switching/parts/start.hpp"

namespace banyan::switching::ideal {
namespace {

using core::PacketId;

constexpr double kMostTime = 1e15;
constexpr double kMostPerByte = 1e9;
constexpr Tick kNearTicks = 4096;  ///< what is further ahead is in the calendar's heap

class Ideal final : public engine::WholeNetwork {
 public:
  Ideal(engine::Builder& builder, double latency, double per_byte)
      : WholeNetwork(builder, 1, kNearTicks, builder.topology().graph().terminals()),
        latency_(static_cast<Tick>(std::llround(latency))),
        per_byte_(per_byte) {}

  void reset(u32 replication) override { restart(Stream("ideal: nothing is drawn"), replication); }
  void archive(Archive& a) override { archive_network(a); }

  Tick run(Tick now) noexcept override {
    now_ = now;
    calendar_.take(now, false, [&](const u32* events, u32, u32 i) { arrive(events[i]); });
    terminals_.source.advance(now);
    for_each_ready([&](u32 t) {
      // The packets of one message follow each other, and so do their bytes.
      for (u64 before = 0; ready(t);) {
        const PacketId id = terminals_.source.take(t, now);
        if ((pool_[id].flags & core::kMessageFirst) != 0) before = 0;
        before += pool_[id].flits;
        leave(id, now + latency_ + time_of(before - 1));
      }
    });
    return std::min(calendar_.next_after(now), terminals_.source.next_birth_after(now));
  }

 protected:
  void for_each_held(const std::function<void(const engine::HeldPacket&)>& each) const override {
    calendar_.for_each(now_, [&](Tick ahead, u32 id) { each({id, kTerminal, ahead, kNone}); });
  }

 private:
  [[nodiscard]] bool ready(u32 t) const noexcept { return (terminals_.source.ready()[t >> 6U] >> (t & 63U) & 1U) != 0; }
  [[nodiscard]] Tick time_of(u64 bytes) const noexcept {
    return static_cast<Tick>(std::llround(per_byte_ * static_cast<double>(bytes)));
  }
  void leave(PacketId id, Tick at) noexcept {
    movements_ += pool_[id].flits;
    if (at == now_) return arrive(id);
    calendar_.put(id, at, now_);
  }
  void arrive(PacketId id) noexcept { deliver(id, pool_[id].destination, now_); }

  Tick latency_;
  double per_byte_;
};

void install(const config::Values& values, engine::Builder& builder) {
  parts::require_few_at_start(values, builder);
  builder.several_at_once();
  builder.partition_as_one();
  builder.add(0, std::make_unique<Ideal>(builder, values.real("latency"), values.real("per_byte")));
}

core::ZeroLoad zero_load(const config::Values& values, u32 flits) {
  return {.fixed = std::round(values.real("latency")) + std::round(values.real("per_byte") * (flits - 1.0))};
}

core::Capacity capacity(const config::Values&) {
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  return {kNoLimit, kNoLimit, kNoLimit};
}

using config::Parameter;

}  // namespace

extern const core::SwitchRow row_ideal;
const core::SwitchRow row_ideal{
    .info = {"ideal",
             "A network without contention: latency and bandwidth only",
             "Culler et al., LogP: Towards a Realistic Model of Parallel Computation, PPoPP 1993",
             {Parameter::real("latency", 0.0)
                  .unit("cycles")
                  .range(0, kMostTime)
                  .doc("Of the first byte of a message (L); a flit is a byte"),
              Parameter::real("per_byte", 0.0)
                  .unit("cycles")
                  .range(0, kMostPerByte)
                  .doc("Of each further byte of a message (G)")}},
    .install = &install,
    .vcs = [](const config::Values&) { return 1U; },
    .no_dependencies = "messages of the ideal network wait for nothing",
    .keeps_messages = true,  // none of them waits
    .free_first_step = true,
    .serves_classes = true,  // likewise
    .draws_nothing = true,
    .capacity = &capacity,
    .zero_load = &zero_load,
    .memory =
        [](const config::Values& values, const core::NetworkSize& size, double shortest) {
          // At a moderate load as many bytes leave a terminal per cycle as there are cycles to a byte; no more messages
          // than the traffic moves are under way.
          const double time = values.real("latency") + values.real("per_byte") * shortest;
          return size.terminals * 100.0 + 100.0 * std::min(size.terminals * 0.2 * time / shortest, size.moved);
        },
    .without_contention = true,
    .flit_bytes = 1,
    .unlimited_queues = [](const config::Values&, const core::Graph&) { return u64{1}; }};

}  // namespace banyan::switching::ideal
