// Packets that are stored and forwarded as a whole: a sender sees at once whether the next buffer has a place, without
// credits. So a switch reads the buffers of its neighbours, and this model holds all switches of the network at once.
#include "banyan/core/switching.hpp"
#include "banyan/engine/whole_network.hpp"

namespace banyan::switching::packet_relay {
namespace {

class PacketRelay final : public engine::WholeNetwork {
 public:
  PacketRelay(engine::Builder& builder, u32 places)
      : WholeNetwork(builder, 0, builder.longest_message(), 2 * builder.topology().graph().channels().size()),
        places_(places),
        inputs_(std::size_t{switches_} * ports_),
        senders_(inputs_.size() + graph_.terminals()) {
    for_each_wire([&](u32 from, const Wire& wire) {
      senders_[from < kTerminal ? from : terminal(from - kTerminal)].wire = wire;
    });
    pool_.reserve(static_cast<u32>(inputs_.size() * places) + 2 * graph_.terminals());
  }
  void reset(u32 replication) override {
    restart(Stream("packet_relay: choices of routings"), replication);
    for (Input& in : inputs_) in = {};
    for (Sender& sender : senders_) sender = {sender.wire};
  }
  void archive(Archive& a) override {
    archive_network(a);
    a(inputs_, senders_);
  }
  Tick run(Tick now) noexcept override {
    now_ = now;
    calendar_.take(now, false, [&](const u32* events, u32, u32 i) { happen(events[i] & 3U, events[i] >> 2U); });
    terminals_.source.advance(now);
    for_each_ready([&](u32 t) {
      if (has_room(senders_[terminal(t)])) put_on(terminal(t), terminals_.source.take(t, now));
    });
    for (u32 o = 0; o < inputs_.size(); ++o) {
      if (senders_[o].asked != 0 && senders_[o].from == kNone && has_room(senders_[o])) send(o);
    }
    return std::min(calendar_.next_after(now), terminals_.source.next_birth_after(now));
  }
  void blocked_on(engine::BlockedView& into) const override {
    for (u32 i = 0; i < inputs_.size(); ++i) {
      const Input& in = inputs_[i];
      for (const core::PacketId id : in.fifo) into.packet(engine::Resource::input(channel_into(i)), pool_[id]);
      if (in.here == 0 || in.to == kNone) continue;
      const bool space = senders_[in.to].from == kNone && !has_room(senders_[in.to]);
      show_wait(into, i, in.used, places_, in.fifo.front(), in.to, space);
    }
  }

 protected:
  void for_each_held(const std::function<void(const engine::HeldPacket&)>& each) const override {
    for (u32 i = 0; i < inputs_.size(); ++i) {
      for (u32 n = 0; n < inputs_[i].fifo.size(); ++n) each({inputs_[i].fifo[n], i, n, i / ports_});
    }
    calendar_.for_each(now_, [&](Tick ahead, u32 event) {  // on the way to a terminal
      if ((event & 3U) == kDelivered) each({event >> 2U, kTerminal, ahead, kNone});
    });
  }

 private:
  /// Lowest bits of an event; above them: the input, sender or packet that it happens to.
  enum Event : u32 { kArrived, kLeft, kDelivered };
  struct Input {
    std::vector<core::PacketId> fifo;  ///< on the channel, then here
    u32 here = 0;                      ///< of these: arrived as a whole
    u32 used = 0;                      ///< places, that of a packet which is leaving included
    u32 to = kNone;                    ///< output that a packet asks for or is leaving over
    void archive(Archive& a) { a(fifo, here, used, to); }
  };
  struct Sender {  ///< an output of a switch, or a terminal
    Wire wire;
    u64 asked = 0;     ///< bits: inputs of the switch
    u32 from = kNone;  ///< input whose packet is leaving
    int turn = 0;      ///< input that is asked first
  };
  /// Number of a terminal among the senders.
  [[nodiscard]] u32 terminal(u32 t) const noexcept { return static_cast<u32>(inputs_.size()) + t; }
  [[nodiscard]] bool has_room(const Sender& s) const noexcept {
    return s.wire.to >= kTerminal || inputs_[s.wire.to].used < places_;
  }
  void put_on(u32 sender, core::PacketId id) noexcept {
    const Wire& wire = senders_[sender].wire;
    const Tick left = now_ + pool_[id].flits * wire.per_flit;
    if (sender >= terminal(0)) set_idle(sender - terminal(0), false);
    calendar_.put(sender << 2U | kLeft, left, now_);
    if (wire.to >= kTerminal) return calendar_.put(id << 2U | kDelivered, left + wire.latency - 1, now_);
    calendar_.put(wire.to << 2U | kArrived, left + wire.latency - 1, now_);
    inputs_[wire.to].fifo.push_back(id);
    ++inputs_[wire.to].used;
  }
  void happen(u32 event, u32 what) noexcept {
    if (event == kDelivered) deliver(what, pool_[what].destination, now_);
    if (event == kArrived && inputs_[what].here++ == 0 && inputs_[what].to == kNone) ask(what);
    if (event != kLeft) return;
    if (what >= terminal(0)) return set_idle(what - terminal(0), true);
    const u32 i = std::exchange(senders_[what].from, kNone);
    --inputs_[i].used;
    inputs_[i].to = kNone;
    if (inputs_[i].here != 0) ask(i);
  }
  /// The packet at the front asks for the first of its candidates of highest priority.
  void ask(u32 i) noexcept {
    ask_routing(i, inputs_[i].fifo.front(), pool_[inputs_[i].fifo.front()].hops);
    const auto less = [](const core::Candidate& a, const core::Candidate& b) { return a.priority < b.priority; };
    inputs_[i].to = i / ports_ * ports_ + std::max_element(candidates_.begin(), candidates_.end(), less)->port;
    senders_[inputs_[i].to].asked |= u64{1} << i % ports_;
  }
  void send(u32 o) noexcept {
    Sender& out = senders_[o];
    const int port = (out.turn + std::countr_zero(std::rotr(out.asked, out.turn))) % 64;
    out.asked &= ~(u64{1} << port);
    out.turn = (port + 1) % 64;
    out.from = o / ports_ * ports_ + static_cast<u32>(port);
    Input& in = inputs_[out.from];
    const core::PacketId id = in.fifo.front();
    in.fifo.erase(in.fifo.begin());
    --in.here;
    movements_ += pool_[id].flits;
    ++pool_[id].hops;
    put_on(o, id);
  }
  u32 places_;
  std::vector<Input> inputs_;
  std::vector<Sender> senders_;
};

}  // namespace

extern const core::SwitchRow row_packet_relay;
const core::SwitchRow row_packet_relay{
    .info = {"packet_relay",
             "Packets stored and forwarded as a whole, with the next buffer in sight",
             "Kermani and Kleinrock, Virtual Cut-Through: A New Computer Communication Switching Technique, 1979",
             {config::Parameter::integer("buffer", 2).unit("packets").range(1, 1024).doc("Places of each input")}},
    .install =
        [](const config::Values& values, engine::Builder& builder) {
          builder.partition_as_one();
          builder.add(0, std::make_unique<PacketRelay>(builder, values.natural("buffer")));
        },
    .vcs = [](const config::Values&) { return 1U; },
    .most_ports = 64,  // bits of a word
    .draws_nothing = true,
    .zero_load =
        [](const config::Values&, u32 n) {
          return core::ZeroLoad{2.0 * (n - 1), n - 1.0, 1, 1};
        }};

}  // namespace banyan::switching::packet_relay
