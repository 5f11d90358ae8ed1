// Collective operations as closed-loop jobs: what a terminal sends next depends on what it has received.
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/bits.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/traffic/parts/sizes.hpp"

namespace banyan::traffic::collective {
namespace {

constexpr Stream kWays{"collective: ways"};

enum class Kind : u8 { all_to_all, ring_all_reduce, recursive_doubling };

/// A job of `iterations` times `steps` messages per terminal. Step k may be sent when the message of step k-1 has
/// arrived; in an all-to-all the steps of one iteration do not wait for each other, only iterations do.
class Collective final : public core::Traffic {
 public:
  Collective(const config::Values& values, const core::TrafficContext& context, Kind kind)
      : kind_(kind),
        terminals_(context.terminals),
        iterations_(values.natural("iterations")),
        size_(values.natural("size")),
        longest_packet_(values.natural("max_packet") == 0 ? kNone : values.natural("max_packet")),
        compute_(static_cast<Tick>(values.integer("compute")) * context.ticks_per_cycle),
        seed_(context.seed),
        index_(context.index) {
    steps_ = kind == Kind::all_to_all        ? terminals_ - 1
             : kind == Kind::ring_all_reduce ? 2 * (terminals_ - 1)
                                             : static_cast<u32>(std::countr_zero(terminals_));
    words_ = (2 * steps_ + 63) / 64;
    arrived_.resize(static_cast<std::size_t>(terminals_) * words_);
    sources_.resize(terminals_);
  }

  void begin(u32 replication) override {
    random_ = Random(seed_, kWays, index_, replication);
    std::fill(arrived_.begin(), arrived_.end(), 0);
    std::fill(sources_.begin(), sources_.end(), Source{});
  }
  bool next(u32, u64, Tick, core::Message&) const noexcept override { return false; }
  [[nodiscard]] core::TrafficTraits traits() const noexcept override {
    return {.answers = true,
            .longest_message = flits(),
            .shortest_message = flits(),
            .longest_packet = longest_packet_,
            .random = false,
            .finite = true,
            .total_messages = u64{terminals_} * steps_ * iterations_};
  }

  void start(u32 terminal, core::Outbox& out) noexcept override { send(terminal, 0, out); }

  void delivered(const core::Packet& packet, u32 terminal, Tick now, core::Outbox& out) noexcept override {
    Source& source = sources_[terminal];
    mark(terminal, packet.message, true);
    const u32 before = source.complete;
    const u32 all = steps_ * iterations_;
    while (source.complete < all && marked(terminal, source.complete)) mark(terminal, source.complete++, false);
    if (kind_ == Kind::all_to_all ? source.complete / steps_ != before / steps_ : source.complete != before) {
      send(terminal, now + 1 + compute_, out);
    }
  }

  u64 digest(u32 terminal) const noexcept override {
    Hasher h;
    h.add(sources_[terminal].sent);
    h.add(sources_[terminal].complete);
    for (u32 w = 0; w < words_; ++w) h.add(arrived_[static_cast<std::size_t>(terminal) * words_ + w]);
    return h.value();
  }
  std::string violation() const override {
    for (u32 t = 0; t < terminals_; ++t) {
      if (sources_[t].sent > allowed(sources_[t].complete)) {
        return "terminal " + std::to_string(t) + " sent a message of a collective too early";
      }
    }
    return {};
  }
  void archive(Archive& a) override { a(arrived_, sources_); }

 private:
  struct Source {
    u32 sent = 0;      ///< messages of steps 0 ... sent - 1 of all iterations were posted
    u32 complete = 0;  ///< and of steps 0 ... complete - 1 arrived
  };

  /// Messages that may be sent after `complete` ones have arrived.
  [[nodiscard]] u32 allowed(u32 complete) const noexcept {
    const u32 most = steps_ * iterations_;
    const u32 count = kind_ == Kind::all_to_all ? (complete / steps_ + 1) * steps_ : complete + 1;
    return count < most ? count : most;
  }

  void send(u32 terminal, Tick birth, core::Outbox& out) noexcept {
    Source& source = sources_[terminal];
    for (const u32 end = allowed(source.complete); source.sent < end; ++source.sent) {
      core::Message message;
      message.birth = birth;
      message.destination = partner(terminal, source.sent % steps_);
      message.flits = flits();
      message.word = random_.at(terminal, source.sent)[0];
      message.tag = source.sent;
      out.post(message);
    }
  }

  [[nodiscard]] u32 partner(u32 terminal, u32 step) const noexcept {
    if (kind_ == Kind::all_to_all) return (terminal + 1 + step) % terminals_;
    if (kind_ == Kind::ring_all_reduce) return (terminal + 1) % terminals_;
    return terminal ^ (1U << step);
  }
  /// A ring moves the vector in as many parts as there are terminals.
  [[nodiscard]] u32 flits() const noexcept {
    return kind_ == Kind::ring_all_reduce ? (size_ + terminals_ - 1) / terminals_ : size_;
  }

  // Nobody is more than one iteration ahead of a terminal that it sends to: two iterations of bits go round.
  void mark(u32 terminal, u32 message, bool value) noexcept {
    const u32 bit = message % (2 * steps_);
    u64& word = arrived_[static_cast<std::size_t>(terminal) * words_ + (bit >> 6U)];
    word = value ? word | u64{1} << (bit & 63U) : word & ~(u64{1} << (bit & 63U));
  }
  [[nodiscard]] bool marked(u32 terminal, u32 message) const noexcept {
    const u32 bit = message % (2 * steps_);
    return (arrived_[static_cast<std::size_t>(terminal) * words_ + (bit >> 6U)] >> (bit & 63U) & 1U) != 0;
  }

  Kind kind_;
  u32 terminals_;
  u32 iterations_;
  u32 size_;
  u32 longest_packet_;
  Tick compute_;
  u64 seed_;
  u32 index_;
  Random random_;
  u32 steps_ = 0;
  u32 words_ = 0;
  std::vector<u64> arrived_;  ///< [terminal * words]: bit per message beyond `complete` that arrived
  std::vector<Source> sources_;
};

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  const std::string& name = values.text("operation");
  const Kind kind = name == "all_to_all"        ? Kind::all_to_all
                    : name == "ring_all_reduce" ? Kind::ring_all_reduce
                                                : Kind::recursive_doubling;
  if (context.terminals < 2) {
    values.fail("operation", "a collective operation needs at least 2 terminals", "use a larger network");
  }
  if (kind == Kind::recursive_doubling && !is_power_of_two(context.terminals)) {
    values.fail("operation",
                "recursive doubling pairs terminals by address bits, and " + std::to_string(context.terminals) +
                    " terminals are no power of 2",
                "use ring_all_reduce, or a network with 2, 4, 8 ... terminals");
  }
  const u64 steps = kind == Kind::ring_all_reduce ? 2 * (u64{context.terminals} - 1) : context.terminals;
  if (steps * values.natural("iterations") > 0xffffffffULL) {
    values.fail("iterations", "a terminal would send more than 2^32 messages", "use fewer iterations");
  }
  if (values.natural("size") > kLongestPacket && values.natural("max_packet") == 0) {
    values.fail("size", "a packet has at most " + std::to_string(kLongestPacket) + " flits",
                "cut the messages into packets with max_packet");
  }
  return std::make_unique<Collective>(values, context, kind);
}

using config::Parameter;

}  // namespace

extern const core::TrafficRow row_collective;
const core::TrafficRow row_collective{
    {"collective",
     "A collective operation over all terminals as a closed-loop job that reports its completion time",
     "Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International Journal "
     "of High Performance Computing Applications 19(1), 2005",
     {Parameter::choice("operation", {"all_to_all", "ring_all_reduce", "recursive_doubling_all_reduce"}, "all_to_all")
          .doc("What the terminals do together"),
      Parameter::integer("size", 16)
          .unit("flits")
          .range(1, kLongestMessage)
          .doc("Length of the vector: what a terminal has for each other one in an all-to-all, and what is reduced in "
               "an "
               "all-reduce; a ring sends it in as many parts, rounded up, as there are terminals"),
      Parameter::integer("iterations", 1)
          .range(1, 4294967295.0)
          .doc("Times that the operation is done; a terminal starts the next when its own part of one is complete"),
      Parameter::integer("compute", 0)
          .unit("cycles")
          .range(0, 1e12)
          .doc("From the arrival that a message waits for to its generation, beside the next cycle"),
      Parameter::integer("max_packet", 0)
          .unit("flits")
          .range(0, kLongestPacket)
          .doc("Longest packet that messages are cut into; 0: messages are not cut")}},
    &make};

}  // namespace banyan::traffic::collective
