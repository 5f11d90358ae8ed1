// Seam 4: a traffic says which messages each terminal generates, when, to whom and how long.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/config/schema.hpp"
#include "banyan/core/packet.hpp"
#include "banyan/core/topology.hpp"

namespace banyan::core {

struct Message {
  Tick birth = kNever;
  u32 destination = 0;
  u32 flits = 1;
  u32 word = 0;    ///< a random word for the routing's choice at generation
  u8 flags = 0;    ///< PacketFlag
  u8 rank = 0;     ///< order among posted messages of one birth and tag: lower ones leave first
  u16 copies = 0;  ///< terminals that a multidestination message is for (Traffic::destinations); 0: `destination` alone
  u16 offers = 1;  ///< deliveries that count as offered with this message
  /// Packet::message of the packets of an answering traffic: unique among its source's messages in flight.
  u32 tag = 0;
  u32 state = 0;           ///< the generating process's own memory, handed on from one message of a cursor to the next
  bool elsewhere = false;  ///< of a traffic that sifts: another source queue's, go on with the next
};

struct TrafficContext {
  const Topology* topology = nullptr;
  u32 terminals = 0;
  u32 index = 0;  ///< position in the experiment; also the priority within one cycle (lower is first)
  u64 seed = 0;
  Tick ticks_per_cycle = 1;
  double cycle_ns = 0.0;  ///< length of a cycle; 0: the switch model gives it none
};

/// The words of a choice that is made for a whole message: the `number`th (32 bits of it) of its terminal and traffic,
/// or the one with that tag. Messages of one tag differ in destination or rank.
[[nodiscard]] inline Words words_of(const Random& random, u32 terminal, u32 traffic, u64 number,
                                    const Message& message) noexcept {
  return random.at(u64{terminal} << 32U | static_cast<u32>(number),
                   u64{traffic} << 40U | u64{message.rank} << 32U | message.destination);
}

/// The multicast that a packet belongs to: it is complete when `copies` messages of its group have arrived.
struct MulticastGroup {
  u32 copies = 0;  ///< 0: the packet belongs to none
  u64 group = 0;   ///< unique among the multicasts of a traffic that are under way
};

/// How switches with virtual channels are to treat messages of one class: a traffic's, or a traffic's replies.
struct Service {
  u8 priority = 0;         ///< higher goes first
  u32 vc_begin = 0;        ///< virtual channels that they may use: [vc_begin, vc_end)
  u32 vc_end = kNone;      ///< kNone: to the last
  u32 subnetwork = kNone;  ///< the one of several networks that takes them (Topology::subnetworks); kNone: any
  bool operator==(const Service&) const = default;
};

/// Takes the messages that an answering traffic generates at one terminal.
class Outbox {
 public:
  Outbox() = default;
  virtual ~Outbox() = default;
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  virtual void post(const Message& message) noexcept = 0;
  /// At another terminal of the graph that lives in the same shard: the same terminal in another subnetwork.
  virtual void post_at(u32 terminal, const Message& message) noexcept {
    static_cast<void>(terminal);
    post(message);
  }
};

/// When a traffic that disturbs the network, a fire, does so: what the other traffics get through before, during and
/// after it is compared.
struct Disturbance {
  Tick from = kNever;  ///< kNever: it does not
  Tick to = kNever;    ///< kNever: until its last message has arrived
};

/// What a traffic is, whatever it is asked. One that forwards to another copies the whole and changes what it must, so
/// that nothing is lost on the way.
struct TrafficTraits {
  /// `next` gives messages of other source queues too, marked (Message::elsewhere).
  bool sifts = false;
  /// Messages come from start, departed and delivered, and `next` is not called. One that generates besides posts its
  /// next message when one has left its source: `departed` may give it a birth that has passed.
  bool answers = false;
  /// An answering traffic limits how many requests of a terminal may wait for their replies.
  bool limits_requests = false;
  /// Latencies of whole multicasts are recorded (multicast_of).
  bool multicasts = false;
  /// Messages may have several destinations, so that switches must replicate.
  bool replicates = false;
  /// Messages are fetch-and-adds: one adds 1 to a memory word of its destination and comes back to its source with the
  /// value that the word had. It counts as delivered when it is back, and its latency is that of the round trip.
  bool fetch_adds = false;
  /// Messages are contributions to a reduction in the network: one comes back to its source with the sum of what all
  /// members brought (members, contribution, reduced). It counts as delivered when that is there, and its latency is
  /// that of the round trip. A terminal has one under way at a time.
  bool reduces = false;
  /// Flits of the header of a message with several destinations, counted in its length; 0: those of a bit string.
  u32 header_flits = 0;
  /// Longest message in flits.
  u32 longest_message = 1;
  /// No message is shorter, in flits; 1 where that is not known. Buffers are made for as many packets as fit.
  u32 shortest_message = 1;
  /// Longest packet that messages are cut into, in flits; kNone: messages are not cut.
  u32 longest_packet = kNone;
  /// False when nothing of its messages but Message::word depends on chance: every replication has the same ones.
  bool random = true;
  /// A finite traffic (one synchronization, one batch) defines a session: from its first birth to its last arrival.
  bool finite = false;
  u64 total_messages = 0;  ///< of a finite traffic, per session
  Disturbance disturbance = {};
  u32 streams = 0;  ///< of the disturbance
  /// Integrated autocorrelation time of what a source generates, in cycles: what it does now says so long something
  /// about what it will do. 0: births do not depend on each other.
  double remembers = 0.0;
  /// Integrated autocorrelation time, in cycles, of where a source stands between two of its messages, times the chance
  /// that one goes where the last one went: sources at nearly equal distances meet each other in the same way for so
  /// long. 0: the next message comes at any time, or goes elsewhere.
  double keeps_phase = 0.0;
  /// The hot spot that `pending` speaks of, or kNone.
  u32 hot_spot = kNone;
};

/// Generation is a pure function of (terminal, nth): sources are cursors, never queues in memory. `begin` re-keys the
/// randomness for a replication.
///
/// A traffic that `answers` generates its messages instead when something happens at a terminal: at the start, when one
/// of its messages has left its source (`departed`), when one has arrived (`delivered`). Its state is kept per
/// terminal: a call for a terminal comes from the shard of that terminal, beside calls for terminals of other shards,
/// and may touch nothing else. Calls of one tick at one terminal must commute.
class Traffic {
 public:
  virtual ~Traffic() = default;

  virtual void begin(u32 replication) = 0;
  /// The nth message (from 0) of `terminal`, generated after `previous` (kNever for nth == 0: none before). `out` is
  /// the message before, of which only `state` may be read. Returns false when there is none any more.
  [[nodiscard]] virtual bool next(u32 terminal, u64 nth, Tick previous, Message& out) const noexcept = 0;

  /// The same at every call.
  [[nodiscard]] virtual TrafficTraits traits() const noexcept { return {}; }
  [[nodiscard]] bool sifts() const noexcept { return traits().sifts; }
  [[nodiscard]] bool answers() const noexcept { return traits().answers; }
  [[nodiscard]] bool multicasts() const noexcept { return traits().multicasts; }
  [[nodiscard]] bool replicates() const noexcept { return traits().replicates; }
  [[nodiscard]] bool fetch_adds() const noexcept { return traits().fetch_adds; }
  [[nodiscard]] bool reduces() const noexcept { return traits().reduces; }
  [[nodiscard]] u32 header_flits() const noexcept { return traits().header_flits; }
  [[nodiscard]] u32 longest_message() const noexcept { return traits().longest_message; }
  [[nodiscard]] u32 shortest_message() const noexcept { return traits().shortest_message; }
  [[nodiscard]] u32 longest_packet() const noexcept { return traits().longest_packet; }
  [[nodiscard]] bool random() const noexcept { return traits().random; }
  [[nodiscard]] bool finite() const noexcept { return traits().finite; }
  [[nodiscard]] u64 total_messages() const noexcept { return traits().total_messages; }
  [[nodiscard]] Disturbance disturbance() const noexcept { return traits().disturbance; }
  [[nodiscard]] u32 streams() const noexcept { return traits().streams; }
  [[nodiscard]] u32 hot_spot() const noexcept { return traits().hot_spot; }

  /// The first messages of a terminal.
  virtual void start(u32 terminal, Outbox& out) noexcept {
    static_cast<void>(terminal);
    static_cast<void>(out);
  }
  /// The last packet of a message left the source queue of `terminal`. What is posted may be born before `now`, but not
  /// before that message.
  virtual void departed(const Packet& packet, u32 terminal, Tick now, Outbox& out) noexcept {
    static_cast<void>(packet);
    static_cast<void>(terminal);
    static_cast<void>(now);
    static_cast<void>(out);
  }
  /// A model that keeps messages in queues of its own (Source::keep) took this one into a queue of `terminal`;
  /// departed() is called later. What is posted may be born before `now`, but not before that message.
  virtual void kept(const Packet& packet, u32 terminal, Tick now, Outbox& out) noexcept {
    static_cast<void>(packet);
    static_cast<void>(terminal);
    static_cast<void>(now);
    static_cast<void>(out);
  }
  /// The last packet of a message arrived at its destination `terminal`. What is posted must be born after `now`.
  virtual void delivered(const Packet& packet, u32 terminal, Tick now, Outbox& out) noexcept {
    static_cast<void>(packet);
    static_cast<void>(terminal);
    static_cast<void>(now);
    static_cast<void>(out);
  }
  /// For an answering traffic that posts a message when the one before has left, however late that is: the messages
  /// that it generates by itself at `terminal` behind the last one that it posted, `ahead` = 0, 1 ..., so that what
  /// waits counts as offered. `out` is the message before, of which nothing may be read when ahead == 0. False: there
  /// is none, or when it is generated depends on what arrives.
  [[nodiscard]] virtual bool unposted(u32 terminal, u64 ahead, Message& out) const noexcept {
    static_cast<void>(terminal);
    static_cast<void>(ahead);
    static_cast<void>(out);
    return false;
  }
  /// The digest of what an answering traffic remembers of a terminal.
  [[nodiscard]] virtual u64 digest(u32 terminal) const noexcept {
    static_cast<void>(terminal);
    return 0;
  }
  /// What is wrong with what it remembers, for audits between two ticks; empty: nothing.
  [[nodiscard]] virtual std::string violation() const { return {}; }

  /// What it remembers between two ticks. A traffic that answers nothing has nothing to remember; one that does and
  /// does not say what cannot be written.
  virtual void archive(Archive& a) {
    static_cast<void>(a);
    if (answers()) throw NotArchived("traffic");
  }

  /// Sets the bits of the destinations of a message with `copies`, the nth of its terminal; all are clear before.
  virtual void destinations(u32 terminal, u64 nth, const Message& message, std::span<u64> bits) const noexcept {
    static_cast<void>(terminal);
    static_cast<void>(nth);
    static_cast<void>(message);
    static_cast<void>(bits);
  }
  [[nodiscard]] virtual MulticastGroup multicast_of(const Packet& packet) const noexcept {
    return {packet.copies, static_cast<u64>(packet.source) << 32U | packet.message};
  }

  /// Tells whether a fetch-and-add is for the word of its destination that all share, and not for one that nobody else
  /// asks for.
  [[nodiscard]] virtual bool asks_shared_word(const Packet& packet) const noexcept {
    static_cast<void>(packet);
    return false;
  }

  /// For a traffic that reduces: sets the bits of the terminals that take part; all are clear before.
  virtual void members(std::span<u64> bits) const noexcept { static_cast<void>(bits); }
  /// What the message of a terminal adds; contributions to one sum have the same tag (Message::tag). Numbers of which
  /// no two sums are alike by chance.
  [[nodiscard]] virtual u64 contribution(u32 terminal, u32 tag) const noexcept {
    return mix64(u64{tag} << 32U | terminal);
  }
  /// What all members add, modulo 2^64.
  [[nodiscard]] virtual u64 reduced(u32 tag) const noexcept {
    static_cast<void>(tag);
    return 0;
  }

  /// How switches are to treat its messages; those with kReply and the others.
  [[nodiscard]] virtual Service service(bool replies) const noexcept {
    static_cast<void>(replies);
    return {};
  }
  /// Flits per terminal and cycle that it offers on average over all terminals (0 for a finite traffic).
  [[nodiscard]] virtual double offered_load() const noexcept { return 0.0; }
  /// Adds the flits per cycle that `terminal` sends to each terminal in the mean of a long run. Adds nothing and
  /// returns false where that is not known or changes with time, and where what arrives is more than what is sent.
  [[nodiscard]] virtual bool demands(u32 terminal, std::span<double> flits) const {
    static_cast<void>(terminal);
    static_cast<void>(flits);
    return false;
  }
  /// Flits of messages that may wait at `terminal`; a message that finds so many is not generated. Only switch models
  /// that keep the waiting messages (SwitchRow::keeps_messages) can tell.
  [[nodiscard]] virtual u32 waiting_limit(u32 terminal) const noexcept {
    static_cast<void>(terminal);
    return kNone;
  }

  /// What one sender of a disturbance sends to one receiver, from `from` on.
  struct Stream {
    Tick from = 0;
    u64 flits = 0;  ///< in all; 0: not known before
    u32 destination = kNone;
    Tick to = kNever;  ///< of one that has a time instead: nothing is generated from then on
  };
  /// The streams of a disturbance, whose completions are told apart (TrafficTraits::streams of them).
  [[nodiscard]] virtual Stream stream(u32 number) const noexcept {
    static_cast<void>(number);
    return {};
  }
  /// The stream that a packet belongs to; kNone: to none, as what bystanders send that the same traffic generates.
  [[nodiscard]] virtual u32 stream_of(const Packet& packet) const noexcept {
    static_cast<void>(packet);
    return kNone;
  }

  /// True when `terminal` has a pending synchronization request at `at` (paper 1, section 4.2: local hot-spot flag),
  /// leaving aside that the session may have ended (the engine knows that).
  [[nodiscard]] virtual bool pending(u32 terminal, Tick at) const noexcept {
    static_cast<void>(terminal);
    static_cast<void>(at);
    return false;
  }
};

/// Registration row: `const core::TrafficRow row_NAME` in `namespace banyan::traffic::NAME`.
struct TrafficRow {
  config::ComponentInfo info;
  std::unique_ptr<Traffic> (*make)(const config::Values&, const TrafficContext&) = nullptr;
};

}  // namespace banyan::core
