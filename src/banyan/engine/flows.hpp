// What the terminals of one shard keep per flow where an admission holds packets back: the messages that wait, both
// ends as the admission numbers them, and what is on its way between ends. An experiment without admission has none of
// it.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/flat_map.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/pages.hpp"
#include "banyan/core/admission.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/engine/agenda.hpp"
#include "banyan/engine/feedback_delay.hpp"
#include "banyan/engine/own_metrics.hpp"
#include "banyan/engine/wait.hpp"
#include "banyan/engine/waiting.hpp"

namespace banyan::engine {

/// Feedback on its way to an end, or an end's timer.
struct Word {
  enum class Kind : u8 {
    heard,    ///< feedback: the end hears it when it is due
    timer,    ///< an end's own
    leaving,  ///< feedback that is put into a packet when it is due, at the terminal that tells it
    carried,  ///< feedback that its packet brings: at the terminal that will hear it, until the packet is there
    clock,    ///< of a terminal: behind all that it hears
  };
  Tick due = 0;
  u32 terminal = 0;   ///< where it is
  u32 peer = kNone;   ///< of a receiving end that hears it: the source
  u32 other = kNone;  ///< leaving: the terminal that hears it; carried: the one that told it
  u32 tag = 0;        ///< of the packet, one of the terminal that told it
  u64 key = 0;
  core::Feedback feedback;
  Kind kind = Kind::heard;

  /// Orders by time; within a tick by what tells words apart, so that the order of posting cannot show.
  [[nodiscard]] static bool before(const Word& a, const Word& b) noexcept;
  [[nodiscard]] u64 digest() const noexcept;
};

class Flows final : public core::Pace {
 public:
  struct Setup {
    std::unique_ptr<core::Admission> admission;
    std::shared_ptr<FeedbackDelay> delays;  ///< of this shard
    u32 queues = 0;                         ///< source queues of the shard
    u32 traffics = 1;
    u32 limit = 0;          ///< messages of a traffic that wait in the flows of a source queue
    u32 control_flits = 0;  ///< length of the packets that carry feedback; 0: words do
    SteadyPlan steady;
  };
  /// A message that waits in a flow.
  struct Waiting {
    core::Message message;
    u64 nth = 0;
    u32 offset = 0;  ///< flits that have left
    u16 traffic = 0;
    u8 priority = 0;  ///< of its service class
    u32 next = kNone;
  };
  /// The flow of a source queue that sends next.
  struct Head {
    u32 lane = kNone;
    Tick again = kNever;  ///< without a lane: when to ask again
  };
  /// Posts a word to the terminal's shard.
  using Post = void (*)(void* to, const Word& word);

  explicit Flows(Setup setup);

  void reset();
  /// Words for terminals of other shards go through `post`, those for its own too.
  void connect(Post post, void* to) {
    post_ = post;
    post_to_ = to;
  }

  // --- the source's part -----------------------------------------------------------------------------------------
  [[nodiscard]] bool full(u32 queue, u32 traffic) const noexcept {
    return waiting_[std::size_t{queue} * setup_.traffics + traffic] >= setup_.limit;
  }
  [[nodiscard]] bool any_waits(u32 queue) const noexcept { return !active_[queue].empty(); }
  [[nodiscard]] u64 waiting_flits(u32 queue) const noexcept { return waiting_flits_[queue]; }
  /// This lane sends nothing until unpark(), which says whether any lane was parked.
  void park(u32 queue, u32 lane);
  bool unpark(u32 queue);
  /// A message of source queue `queue` waits from now on.
  void join(u32 queue, const core::FlowMember& member, const core::Message& message, u64 nth, u32 traffic, u8 priority,
            Tick now);
  /// Which of the open flows sends next: of the highest priority the one whose message is the oldest.
  /// `departure(waiting)`: what would leave.
  template <class DepartureOf>
  [[nodiscard]] Head choose(u32 queue, Tick now, DepartureOf&& departure) {
    open_gates(queue, now);
    const std::vector<Open>& open = open_[queue];
    while (!open.empty()) {
      const u32 lane = open.front().lane;
      Lane& l = lanes_[lane];
      l.again = setup_.admission->may_send(l.end, departure(waits_[l.messages.first]), now);
      if (l.again <= now) return {lane, next_gate(queue)};
      shut(lane);
    }
    return {kNone, next_gate(queue)};
  }
  [[nodiscard]] Waiting& front(u32 lane) noexcept { return waits_[lanes_[lane].messages.first]; }
  /// A part of the front left; `whole`: nothing of it waits any more.
  void left(u32 queue, u32 lane, u32 destination, const core::Departure& what, bool whole, Tick now);
  template <class F>
  void for_each_waiting(u32 queue, F&& f) const {
    for (const u32 lane : active_[queue]) waits_.for_each(lanes_[lane].messages, f);
  }

  // --- asking for memory ahead -----------------------------------------------------------------------------------
  /// Whether the ends are too many for a cache near by, so that it pays to ask for one before it is needed.
  [[nodiscard]] bool large() const noexcept { return ends_.size() >= kManyEnds; }
  /// First for the place of an end, when that is here for the end itself. `peer`: kNone for an end at the source.
  /// Returns what fetch_end() takes.
  u32 fetch_place(u32 terminal, u32 peer, const core::FlowMember& member) const noexcept {
    const u32 hash = hash_of(terminal, peer, setup_.admission->flow_key(member));
    __builtin_prefetch(&places_[hash & (places_.size() - 1)]);
    return hash;
  }
  void fetch_end(u32 hash, bool at_source) const noexcept {
    for (u32 at = hash;; ++at) {
      const Place place = places_[at & (places_.size() - 1)];
      if (place.end == kNone) return;
      if (place.hash != hash) continue;
      __builtin_prefetch(&ends_[place.end]);
      return setup_.admission->fetch(place.end, at_source);
    }
  }
  void fetch_end(u32 terminal, u32 peer, const core::FlowMember& member) const noexcept {
    fetch_end(hash_of(terminal, peer, setup_.admission->flow_key(member)), peer == kNone);
  }

  // --- the sink's part -------------------------------------------------------------------------------------------
  /// A packet of `member` arrived at `terminal`; of a multidestination packet its last copy.
  void arrived(u32 terminal, const core::FlowMember& member, const core::Packet& packet, const core::Signals& signals,
               Tick now);

  // --- feedback in packets ---------------------------------------------------------------------------------------
  /// The last packet with some feedback left the source queue of its terminal.
  void control_left(const core::Packet& packet);
  /// It arrived: the end hears it in the next tick, after all that its terminal was told before.
  void control_arrived(const core::Packet& packet, Tick now);
  /// A message found the flows of its queue full, and came in so many ticks late.
  void note_late(Tick ticks) noexcept { own_.count(late_, ticks); }
  /// A packet left its source queue: what share of them is control is a metric.
  [[gnu::always_inline]] void note_flits(bool control, u32 flits, Tick now) noexcept {
    own_.add(control_share_, now, control ? flits : 0, flits);
  }

  // --- time ------------------------------------------------------------------------------------------------------
  /// Whether advance() has anything to do.
  [[nodiscard]] bool is_due(Tick now) const noexcept { return !changed_.empty() || agenda_.next() <= now; }
  /// What is heard up to `now`; source queues whose gates may have opened are handed to `changed(queue, tick)`,
  /// messages with feedback to `leave(terminal, message)`.
  template <class Changed, class Leave>
  void advance(Tick now, Changed&& changed, Leave&& leave) {
    now_ = now;
    agenda_.take(now, [&](const Word& word) {
      if (word.kind == Word::Kind::leaving) {
        leave(word.terminal, into_packet(word));
      } else {
        hear(word);
      }
    });
    for (const auto& [queue, at] : changed_) changed(queue, std::max(at, now));
    changed_.clear();
  }
  /// The next tick after `now` at which something is heard, or a gate was asked for meanwhile.
  [[nodiscard]] Tick next_after(Tick now) const noexcept {
    if (!changed_.empty()) return now + 1;
    return std::max(now + 1, agenda_.next());
  }
  /// Takes a word in; the tick when something is to be done about it, kNever: when its packet arrives.
  Tick add(const Word& word) {
    if (word.kind == Word::Kind::carried) {
      on_their_way_[packet_of(word.other, word.tag)] = word;
      return kNever;
    }
    agenda_.put(word);
    return word.due;
  }

  /// Hands a word to the terminal that it is for, of whatever shard.
  void deliver(const Word& word) {
    if (post_ == nullptr) {
      static_cast<void>(add(word));
    } else {
      post_(post_to_, word);
    }
  }

  // --- core::Pace ------------------------------------------------------------------------------------------------
  void gate(u32 end, Tick at) noexcept override;
  void wake(u32 end, Tick at) noexcept override;
  void wake_terminal(u32 terminal, Tick at) noexcept override;
  void tell(u32 end, const core::Feedback& feedback) noexcept override;

  // --- looked at -------------------------------------------------------------------------------------------------
  [[nodiscard]] std::size_t ends() const noexcept { return ends_.size(); }
  /// f(source, key, flits sent, flits arrived) for every end.
  template <class F>
  void for_each_end(F&& f) const {
    for (const End& e : ends_)
      f(e.at_source ? e.terminal : e.peer, e.key, e.at_source ? e.flits : 0, e.at_source ? 0 : e.flits);
  }
  [[nodiscard]] std::string violation() const;
  [[nodiscard]] OwnMetrics& own_metrics() noexcept { return own_; }
  /// The gates that are shut for good unless something is heard: one sentence each, with the terminal as the waiter and
  /// the destination as what it waits for; the first `most` by comes_before().
  void explain(std::vector<Wait>& into, std::size_t most) const;
  [[nodiscard]] bool expects() const noexcept { return !agenda_.empty(); }
  [[nodiscard]] u64 digest() const noexcept;
  /// Gives the next tick at which something is heard, or a gate is looked at.
  [[nodiscard]] Tick goes_on(Tick from) {
    setup_.admission->goes_on(from, *this);
    forget_digests();
    return changed_.empty() ? agenda_.next() : from;
  }
  void archive(Archive& a) {
    a(*setup_.admission, now_, ends_, places_, lanes_, free_lane_, waits_, active_, open_, closed_, parked_, waiting_,
      waiting_flits_);
    if (a.reading()) forget_digests();
    a(agenda_, changed_, tags_, at_source_, on_their_way_, own_);
  }

 private:
  static constexpr std::size_t kManyEnds = std::size_t{1} << 14U;

  /// Half a line of the cache, and all of an end that a packet needs: there are two for each pair of terminals.
  struct alignas(32) End {
    u64 key = 0;
    u64 flits = 0;  ///< sent or arrived
    u32 terminal = 0;
    u32 peer = kNone;  ///< of an end at the source: where its last message goes
    u32 first_lane = kNone;
    bool at_source = false;
    mutable bool touched = false;  ///< no part of the state: something happened since digest() looked at it

    void archive(Archive& a) { a(key, flits, terminal, peer, first_lane, at_source); }
  };
  /// A place in the table of ends. What is in it is told by a part of its hash, without a look at the end.
  struct Place {
    u32 end = kNone;  ///< kNone: a free place
    u32 hash = 0;
  };
  enum class Gate : u8 {
    none,    ///< nothing waits
    open,    ///< as far as is known: it is asked before something leaves
    closed,  ///< until Lane::again
    shut,    ///< until gate()
    parked,
  };
  /// What waits of a flow in one source queue. Where there are many, one is given back when nothing waits any more.
  struct Lane {
    u32 end = 0;
    u32 queue = 0;
    u32 next_of_end = kNone;  ///< of a lane that is free: the next free one
    Queue messages = {};
    u32 active = 0;   ///< position in active_
    u32 place = 0;    ///< position in open_ or closed_
    Tick again = 0;   ///< its gate is asked again then; kNever: when something is heard
    Tick birth = 0;   ///< of its first message
    u8 priority = 0;  ///< likewise
    Gate gate = Gate::none;
  };
  /// What heaps have of a lane, so that most comparisons need no look at it.
  struct Open {
    Tick birth = 0;  ///< as in Lane
    u32 lane = 0;
    u32 priority = 0;
  };
  struct Closed {
    Tick again = 0;  ///< as in Lane
    u32 lane = 0;
  };
  /// Whether a leaves before b, where both gates are open.
  [[nodiscard]] bool before(const Open& a, const Open& b) const noexcept {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.birth != b.birth) return a.birth < b.birth;
    return breaks_tie(a.lane, b.lane);
  }
  [[nodiscard, gnu::noinline]] bool breaks_tie(u32 a, u32 b) const noexcept;
  [[nodiscard]] Open open_entry(u32 lane) const noexcept { return {lanes_[lane].birth, lane, lanes_[lane].priority}; }
  // A lane that is alone, as most are, needs no heap.
  [[gnu::always_inline]] void insert(u32 lane) {
    Lane& l = lanes_[lane];
    std::vector<Open>& open = open_[l.queue];
    if (l.again != 0 || !open.empty()) return insert_among(lane);
    l.gate = Gate::open;
    l.place = 0;
    open.push_back(open_entry(lane));
  }
  [[gnu::always_inline]] void remove(u32 lane) noexcept {
    const Lane& l = lanes_[lane];
    std::vector<Open>& open = open_[l.queue];
    if (l.gate != Gate::open || open.size() != 1) return remove_from_among(lane);
    open.clear();
  }
  [[gnu::noinline]] void insert_among(u32 lane);
  [[gnu::noinline]] void remove_from_among(u32 lane) noexcept;
  void shut(u32 lane) {
    remove(lane);
    insert(lane);
  }
  /// The first message of a lane is another one.
  [[gnu::always_inline]] void look_at_first(u32 lane) noexcept {
    Lane& l = lanes_[lane];
    const Waiting& first = waits_[l.messages.first];
    l.birth = first.message.birth;
    l.priority = first.priority;
    if (l.gate != Gate::open) return;
    std::vector<Open>& open = open_[l.queue];
    open[l.place] = open_entry(lane);
    if (open.size() != 1) settle(lane);
  }
  [[gnu::noinline]] void settle(u32 lane) noexcept;
  void open_gates(u32 queue, Tick now) {
    while (next_gate(queue) <= now) [[unlikely]] open_gate(queue);
  }
  [[gnu::noinline]] void open_gate(u32 queue);
  [[nodiscard]] Tick next_gate(u32 queue) const noexcept {
    return closed_[queue].empty() ? kNever : closed_[queue].front().again;
  }
  /// `peer`: kNone for an end at the source.
  [[nodiscard, gnu::always_inline]] u32 end_of(u32 terminal, u32 peer, u64 key, u32 first_peer) {
    const u32 hash = hash_of(terminal, peer, key);
    for (u32 at = hash;; ++at) {
      const Place place = places_[at & (places_.size() - 1)];
      if (place.end == kNone) [[unlikely]]
        return open_end(terminal, peer, key, first_peer);
      if (place.hash != hash) continue;
      const End& e = ends_[place.end];
      if (e.key == key && e.terminal == terminal && (e.at_source ? kNone : e.peer) == peer) [[likely]]
        return place.end;
    }
  }
  /// It was not met before.
  [[gnu::noinline]] u32 open_end(u32 terminal, u32 peer, u64 key, u32 first_peer);
  [[nodiscard]] static u64 number_of(u32 terminal, u32 peer, u64 key) noexcept {
    return mix64((u64{terminal} << 32U | peer) * 0x9e3779b97f4a7c15ULL + key);
  }
  [[nodiscard]] static u32 hash_of(u32 terminal, u32 peer, u64 key) noexcept {
    return static_cast<u32>(number_of(terminal, peer, key));
  }
  void enter(Place place);
  [[gnu::noinline]] u32 take_lane(u32 end, u32 queue);
  void give_back_lane(u32 lane) noexcept;
  /// Something about an end is another: its digest is looked at again.
  void touch(u32 end) noexcept {
    if (std::exchange(ends_[end].touched, true)) return;
    touched_[touched_count_++] = end;
  }
  void forget_digests();
  /// `remembered`: Admission::digest of that end.
  [[nodiscard]] static u64 digest_of(const End& e, u64 remembered) noexcept {
    const u64 which = number_of(e.terminal, e.at_source ? kNone : e.peer, e.key);
    return mix64(mix64(which ^ e.flits) + remembered);
  }
  void hear(const Word& word);
  [[nodiscard]] core::Message into_packet(const Word& word);
  [[nodiscard]] static u64 packet_of(u32 terminal, u32 tag) noexcept { return u64{terminal} << 32U | tag; }
  void pop(u32 queue, u32 lane);
  static constexpr std::size_t kManyLanes = 8192;  ///< beyond which those in use are kept together, for the cache

  Setup setup_;
  Post post_ = nullptr;
  void* post_to_ = nullptr;
  Tick now_ = 0;
  PageVector<End> ends_;
  PageVector<Place> places_;  ///< ends by hash_of, with linear probing, at most half full
  /// What digest() found last: an end that nothing happened at since then has the same. No part of the state.
  mutable PageVector<u64> digests_;  ///< [end]
  mutable PageVector<u32> touched_;  ///< [touched_count_]: ends that were touched since then; there is room for all
  mutable std::size_t touched_count_ = 0;
  mutable u64 sum_of_digests_ = 0;
  std::vector<Lane> lanes_;
  u32 free_lane_ = kNone;  ///< the one that was given back last is the first to be taken
  Queues<Waiting> waits_;
  std::vector<std::vector<u32>> active_;     ///< [queue]: lanes with messages
  std::vector<std::vector<Open>> open_;      ///< [queue]: those with an open gate; a heap, what leaves next first
  std::vector<std::vector<Closed>> closed_;  ///< [queue]: those whose gate opens by itself; a heap, the earliest first
  std::vector<std::vector<u32>> parked_;     ///< [queue]: those of them that are parked
  std::vector<u32> waiting_;                 ///< [queue * traffics + traffic]: messages
  std::vector<u64> waiting_flits_;           ///< [queue]
  Agenda<Word> agenda_;
  std::vector<std::pair<u32, Tick>> changed_;
  // The next ones are for feedback in packets:
  FlatMap<u32> tags_;           ///< [terminal]: packets that it has told something in
  FlatMap<Word> at_source_;     ///< [packet_of]: its packet waits in a source queue of this shard
  FlatMap<Word> on_their_way_;  ///< [packet_of]: its packet is for a terminal of this shard
  OwnMetrics own_;
  u32 control_share_ = 0;
  u32 marked_ = 0;
  u32 late_ = 0;
};

// A message that joins and leaves its flow costs as much as it has calls: these two are a part of their callers.

[[gnu::always_inline]] inline void Flows::join(u32 queue, const core::FlowMember& member, const core::Message& message,
                                               u64 nth, u32 traffic, u8 priority, Tick now) {
  now_ = now;
  const u32 end = end_of(member.source, kNone, setup_.admission->flow_key(member), member.destination);
  ends_[end].peer = member.destination;
  touch(end);
  u32 lane = ends_[end].first_lane;
  while (lane != kNone && lanes_[lane].queue != queue) lane = lanes_[lane].next_of_end;
  if (lane == kNone) lane = take_lane(end, queue);
  const u32 place = waits_.take();
  Waiting& last = waits_[place];
  last.message = message;
  last.nth = nth;
  last.offset = 0;
  last.traffic = static_cast<u16>(traffic);
  last.priority = priority;
  Lane& l = lanes_[lane];
  const bool first = l.messages.empty();
  waits_.append(l.messages, place);
  if (first) {
    l.again = 0;
    l.active = static_cast<u32>(active_[queue].size());
    active_[queue].push_back(lane);
    look_at_first(lane);
    insert(lane);
  }
  ++waiting_[std::size_t{queue} * setup_.traffics + traffic];
  waiting_flits_[queue] += message.flits;
  setup_.admission->queued(end, message.flits, now, *this);
}

[[gnu::always_inline]] inline void Flows::pop(u32 queue, u32 lane) {
  Lane& l = lanes_[lane];
  const u32 place = waits_.pop(l.messages);
  waits_.give_back(place);
  --waiting_[std::size_t{queue} * setup_.traffics + waits_[place].traffic];
  if (!l.messages.empty()) return look_at_first(lane);
  remove(lane);
  l.gate = Gate::none;
  const u32 moved = active_[queue].back();
  active_[queue][l.active] = moved;
  lanes_[moved].active = l.active;
  active_[queue].pop_back();
  if (lanes_.size() > kManyLanes) give_back_lane(lane);
}

[[gnu::always_inline]] inline void Flows::left(u32 queue, u32 lane, u32 destination, const core::Departure& what,
                                               bool whole, Tick now) {
  now_ = now;
  const u32 end = lanes_[lane].end;
  front(lane).offset += what.flits;
  waiting_flits_[queue] -= what.flits;
  if (whole) pop(queue, lane);
  ends_[end].peer = destination;
  ends_[end].flits += what.flits;
  touch(end);
  setup_.admission->sent(end, what, now, *this);
}

}  // namespace banyan::engine
