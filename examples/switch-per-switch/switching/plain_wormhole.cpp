// A wormhole switch: one FIFO per input, outputs that keep to a packet from its head to its tail, inputs that take
// turns, and a credit per place behind every output. A flit that nobody hinders leaves a switch in the cycle of its
// arrival.
#include "banyan/core/switching.hpp"
#include "banyan/engine/per_switch.hpp"

namespace banyan::switching::plain_wormhole {
namespace {

/// All switches of one shard. Port p of entity e has the number e * ports_ + p, as an input and as an output.
class PlainWormhole : public engine::PerSwitch {
 public:
  static constexpr u32 kProvides = core::kStep | core::kBlockedOn | core::kHoldArrival | core::kArchive;

  PlainWormhole(engine::Builder& builder, u32 shard, u32 ports, u32 places)
      : PerSwitch(builder, shard, ports), places_(places), state_(into_.size()), flits_(into_.size() * places) {}

  bool accept(u32 e, u32 port, const core::Flit& flit, engine::Io&) noexcept {
    const u32 i = e * ports_ + port;
    flits_[i * places_ + (state_[i].first + state_[i].count++) % places_] = flit;
    return true;
  }
  bool accept(u32 e, u32 port, const core::Control& credit, engine::Io&) noexcept {
    state_[e * ports_ + port].credits += credit.argument;
    return true;
  }
  Tick step(u32 e, Tick now, engine::Io& io) noexcept {
    const u32 begin = e * ports_;
    for (u32 i = begin; i < begin + ports_; ++i) {
      if (state_[i].count != 0 && state_[i].to == kNone) route(i, flit(i, 0));
    }
    bool moved = false;
    for (u32 o = begin; o < begin + ports_; ++o) {
      for (u32 k = 0; k < ports_ && state_[o].from == kNone; ++k) {
        const u32 i = begin + (state_[o].turn + k) % ports_;
        if (state_[i].to == o) state_[o].from = i;
      }
      const u32 i = state_[o].from;
      if (i == kNone || state_[i].count == 0 || state_[o].credits == 0) continue;
      send(i, o, flit(i, 0), io);
      moved = true;
    }
    return moved ? now + 1 : kNever;  // what waits for a flit or a credit is stepped when that arrives
  }

  void reset(u32 replication) {
    restart(Stream("plain_wormhole: choices of routings"), replication);
    for (Port& p : state_) p = {.credits = places_};
  }
  void archive(Archive& a) { a(movements_, state_, flits_); }
  [[nodiscard]] u64 digest() const {
    u64 sum = 0;
    for (u32 i = 0; i < state_.size(); ++i) {
      Hasher h;
      const u32 to = state_[i].to == kNone ? kNone : state_[i].to % ports_;
      const u32 from = state_[i].from == kNone ? kNone : state_[i].from % ports_;
      for (const u32 v : {switches_[i / ports_], i % ports_, state_[i].credits, state_[i].turn, to, from}) h.add(v);
      for (u32 n = 0; n < state_[i].count; ++n) h.add(engine::flit_digest(packet(flit(i, n).packet), flit(i, n)));
      sum += h.value();
    }
    return sum;
  }
  void hold(engine::Holdings& into) const {
    for (u32 i = 0; i < state_.size(); ++i) {
      for (u32 n = 0; n < state_[i].count; ++n) into.add(flit(i, n));
      hold_places(into, i, places_, state_[i].count, state_[i].credits);
    }
  }
  void occupancy(std::vector<u64>& levels) const {  // a packet is where its tail is
    for (u32 i = 0; i < state_.size(); ++i) {
      for (u32 n = 0; n < state_[i].count; ++n) levels[level(i)] += (flit(i, n).flags & core::kTail) != 0 ? 1U : 0U;
    }
  }
  void blocked_on(engine::BlockedView& into) const {
    for (u32 i = 0; i < state_.size(); ++i) {
      for (u32 n = 0; n < state_[i].count; ++n)
        into.packet(engine::Resource::input(into_[i]), packet(flit(i, n).packet));
      if (state_[i].count == 0 || state_[i].to == kNone) continue;
      const Port& out = state_[state_[i].to];
      const u32 held = out.from == i ? kNone : out.from;
      show_wait(into, i, state_[i].count, places_, flit(i, 0).packet, state_[i].to, out.credits == 0, held);
    }
  }

 private:
  struct Port {
    u32 first = 0;  ///< place of the oldest flit in the FIFO
    u32 count = 0;
    u32 to = kNone;    ///< output of the packet at the front of the FIFO, when its head has been routed
    u32 credits = 0;   ///< free places behind the output
    u32 from = kNone;  ///< input of the packet that the output keeps to
    u32 turn = 0;      ///< port of the input that the output asks first
  };

  /// Of the candidates of highest priority the one with most credits, the first among equals.
  void route(u32 i, const core::Flit& head) noexcept {
    ask_routing(i, head.packet, head.auxiliary);
    u64 best = 0;
    for (const core::Candidate& c : candidates_) {
      const u32 o = i / ports_ * ports_ + c.port;
      const u64 rank = (u64{c.priority} << 32U | state_[o].credits) + 1;
      if (rank > best) state_[i].to = o;
      best = std::max(best, rank);
    }
  }
  void send(u32 i, u32 o, core::Flit flit, engine::Io& io) noexcept {
    ++flit.auxiliary;  // switches passed
    ++movements_;
    --state_[o].credits;
    io.send(o, flit);
    state_[i].first = (state_[i].first + 1) % places_;
    --state_[i].count;
    io.control_up(i, {engine::kCredit, 0, 1});
    if ((flit.flags & core::kTail) == 0) return;
    state_[o].turn = (i + 1) % ports_;
    state_[o].from = state_[i].to = kNone;
  }
  [[nodiscard]] const core::Flit& flit(u32 i, u32 n) const noexcept {
    return flits_[i * places_ + (state_[i].first + n) % places_];
  }

  u32 places_;
  std::vector<Port> state_;        ///< [port]
  std::vector<core::Flit> flits_;  ///< [input * places + place]
};
static_assert(core::SwitchModel<PlainWormhole>);

void install(const config::Values& values, engine::Builder& builder) {
  const u32 places = values.natural("buffer");
  engine::PerSwitch::install<PlainWormhole>(values, builder, places, 32 + places * sizeof(core::Flit));
}

}  // namespace

extern const core::SwitchRow row_plain_wormhole;
const core::SwitchRow row_plain_wormhole{
    .info = {"plain_wormhole",
             "Wormhole switches with one FIFO per input",
             "Dally and Towles, Principles and Practices of Interconnection Networks, section 13.2",
             {config::Parameter::integer("buffer", 4).unit("flits").range(1, 1024).doc("Places of each input FIFO")}},
    .install = &install,
    .vcs = [](const config::Values&) { return 1U; },
    .draws_nothing = true,
    .zero_load = [](const config::Values&, u32 flits) -> core::ZeroLoad {
      return {.fixed = flits - 1.0, .per_cycle = 1, .ends = 1};
    }};

}  // namespace banyan::switching::plain_wormhole
