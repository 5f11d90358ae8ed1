#include "banyan/engine/flows.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>

#include "banyan/engine/indexed_heap.hpp"

namespace banyan::engine {
namespace {

constexpr std::size_t kFewestPlaces = 64;
constexpr std::size_t kEndsAhead = 12;  ///< ends between asking for the memory of one and reading it

}  // namespace

bool Word::before(const Word& a, const Word& b) noexcept {
  const auto key = [](const Word& w) {
    const core::Feedback& f = w.feedback;
    return std::tie(w.due, w.terminal, w.kind, w.key, w.peer, w.other, f.kind, f.sent, f.flits, f.value, f.packets,
                    f.marked, f.hops, w.tag);
  };
  return key(a) < key(b);
}

u64 Word::digest() const noexcept {
  Hasher h;
  for (const u64 v : {due, u64{terminal}, u64{peer}, u64{other} << 32U | tag, key, feedback.sent, u64{feedback.flits},
                      u64{feedback.value}, u64{feedback.packets}, u64{feedback.marked}, u64{feedback.hops},
                      u64{feedback.kind}, u64{static_cast<u8>(kind)}}) {
    h.add(v);
  }
  return h.value();
}

Flows::Flows(Setup setup)
    : setup_(std::move(setup)),
      active_(setup_.queues),
      open_(setup_.queues),
      closed_(setup_.queues),
      parked_(setup_.queues),
      waiting_(std::size_t{setup_.queues} * setup_.traffics),
      waiting_flits_(setup_.queues),
      own_(setup_.steady) {
  late_ = own_.declare("wait_behind_flows", "cycles", OwnMetrics::Kind::total);
  marked_ = own_.declare("marked", "", OwnMetrics::Kind::level);
  if (setup_.control_flits != 0) control_share_ = own_.declare("control_share", "", OwnMetrics::Kind::level);
}

void Flows::reset() {
  setup_.admission->begin();
  now_ = 0;
  ends_.clear();
  places_.assign(kFewestPlaces, Place{});
  forget_digests();
  lanes_.clear();
  free_lane_ = kNone;
  waits_.clear();
  const auto clear_each = [](auto& lists) {
    for (auto& list : lists) list.clear();
  };
  clear_each(active_);
  clear_each(open_);
  clear_each(closed_);
  clear_each(parked_);
  std::fill(waiting_.begin(), waiting_.end(), 0);
  std::fill(waiting_flits_.begin(), waiting_flits_.end(), 0);
  agenda_.clear();
  changed_.clear();
  tags_.clear();
  at_source_.clear();
  on_their_way_.clear();
  own_.clear();
}

u32 Flows::open_end(u32 terminal, u32 peer, u64 key, u32 first_peer) {
  const u32 end = static_cast<u32>(ends_.size());
  const bool at_source = peer == kNone;
  ends_.push_back({.key = key, .terminal = terminal, .peer = first_peer, .at_source = at_source});
  if (2 * ends_.size() > places_.size()) {
    const PageVector<Place> known = std::exchange(places_, PageVector<Place>(2 * places_.size(), Place{}));
    for (const Place place : known) {
      if (place.end != kNone) enter(place);
    }
  }
  enter({end, hash_of(terminal, peer, key)});
  digests_.push_back(0);
  touched_.push_back(end);
  touch(end);
  setup_.admission->open(end, {terminal, at_source, first_peer, key});
  return end;
}

void Flows::enter(Place place) {
  u32 at = place.hash;
  while (places_[at & (places_.size() - 1)].end != kNone) ++at;
  places_[at & (places_.size() - 1)] = place;
}

void Flows::forget_digests() {
  digests_.assign(ends_.size(), 0);
  touched_.assign(ends_.size(), kNone);
  touched_count_ = 0;
  sum_of_digests_ = 0;
  for (u32 end = 0; end < ends_.size(); ++end) {
    ends_[end].touched = false;
    touch(end);
  }
}

u32 Flows::take_lane(u32 end, u32 queue) {
  const u32 lane = free_lane_ != kNone ? free_lane_ : static_cast<u32>(lanes_.size());
  if (lane == lanes_.size()) lanes_.emplace_back();
  Lane& l = lanes_[lane];
  free_lane_ = l.next_of_end;
  l = {.end = end, .queue = queue, .next_of_end = std::exchange(ends_[end].first_lane, lane)};
  return lane;
}

void Flows::give_back_lane(u32 lane) noexcept {
  Lane& l = lanes_[lane];
  u32* link = &ends_[l.end].first_lane;
  while (*link != lane) link = &lanes_[*link].next_of_end;
  *link = std::exchange(l.next_of_end, std::exchange(free_lane_, lane));
}

bool Flows::breaks_tie(u32 a, u32 b) const noexcept {
  const Lane& x = lanes_[a];
  const Lane& y = lanes_[b];
  const Waiting& first = waits_[x.messages.first];
  const Waiting& other = waits_[y.messages.first];
  return std::tie(first.traffic, first.nth, x.end) < std::tie(other.traffic, other.nth, y.end);
}

/// Puts it where its `again` says: a lane that must be asked now is open, or will be when open_gates looks for it.
void Flows::insert_among(u32 lane) {
  Lane& l = lanes_[lane];
  const auto place = [&](const auto& x) -> u32& { return lanes_[x.lane].place; };
  if (l.again == kNever) {
    l.gate = Gate::shut;
  } else if (l.again == 0) {
    l.gate = Gate::open;
    heap_push(
        open_[l.queue], open_entry(lane), [&](const Open& a, const Open& b) { return before(a, b); }, place);
  } else {
    l.gate = Gate::closed;
    heap_push(
        closed_[l.queue], Closed{l.again, lane}, [](const Closed& a, const Closed& b) { return a.again < b.again; },
        place);
  }
}

void Flows::remove_from_among(u32 lane) noexcept {
  const Lane& l = lanes_[lane];
  const auto place = [&](const auto& x) -> u32& { return lanes_[x.lane].place; };
  if (l.gate == Gate::open) {
    heap_erase(
        open_[l.queue], l.place, [&](const Open& a, const Open& b) { return before(a, b); }, place);
  } else if (l.gate == Gate::closed) {
    heap_erase(
        closed_[l.queue], l.place, [](const Closed& a, const Closed& b) { return a.again < b.again; }, place);
  }
}

void Flows::settle(u32 lane) noexcept {
  heap_settle(
      open_[lanes_[lane].queue], lanes_[lane].place, [&](const Open& a, const Open& b) { return before(a, b); },
      [&](const Open& x) -> u32& { return lanes_[x.lane].place; });
}

void Flows::open_gate(u32 queue) {
  const u32 lane = closed_[queue].front().lane;
  remove(lane);
  lanes_[lane].again = 0;
  insert(lane);
}

void Flows::park(u32 queue, u32 lane) {
  remove(lane);
  lanes_[lane].gate = Gate::parked;
  parked_[queue].push_back(lane);
}

bool Flows::unpark(u32 queue) {
  if (parked_[queue].empty()) return false;
  for (const u32 lane : parked_[queue]) insert(lane);
  parked_[queue].clear();
  return true;
}

void Flows::arrived(u32 terminal, const core::FlowMember& member, const core::Packet& packet,
                    const core::Signals& signals, Tick now) {
  now_ = now;
  const u32 end = end_of(terminal, member.source, setup_.admission->flow_key(member), member.source);
  ends_[end].flits += packet.flits;
  touch(end);
  own_.add(marked_, now, signals.marked ? 1 : 0);
  setup_.admission->arrived(end, packet, signals, now, *this);
}

void Flows::hear(const Word& word) {
  if (word.kind == Word::Kind::clock) return setup_.admission->clock(word.terminal, word.due, *this);
  const u32 end = end_of(word.terminal, word.peer, word.key, word.peer);
  touch(end);
  if (word.kind == Word::Kind::timer) {
    setup_.admission->timer(end, word.due, *this);
  } else {
    setup_.admission->heard(end, word.feedback, word.due, *this);
  }
}

void Flows::gate(u32 end, Tick at) noexcept {
  for (u32 lane = ends_[end].first_lane; lane != kNone; lane = lanes_[lane].next_of_end) {
    Lane& l = lanes_[lane];
    if (!l.messages.empty()) changed_.emplace_back(l.queue, at);
    if (at >= l.again) continue;
    const bool waits = l.gate == Gate::closed || l.gate == Gate::shut;
    if (waits) remove(lane);
    l.again = at;
    if (waits) insert(lane);
  }
}

void Flows::wake(u32 end, Tick at) noexcept {
  const End& e = ends_[end];
  static_cast<void>(add({.due = std::max(at, now_ + 1),
                         .terminal = e.terminal,
                         .peer = e.at_source ? kNone : e.peer,
                         .key = e.key,
                         .feedback = {},
                         .kind = Word::Kind::timer}));
}

void Flows::wake_terminal(u32 terminal, Tick at) noexcept {
  // It stands behind all words of the terminal: its peer and key are the greatest.
  static_cast<void>(add(
      {.due = std::max(at, now_ + 1), .terminal = terminal, .key = ~u64{}, .feedback = {}, .kind = Word::Kind::clock}));
}

void Flows::tell(u32 end, const core::Feedback& feedback) noexcept {
  const End& e = ends_[end];
  if (e.peer == kNone) return;  // a multidestination packet has no one other end
  Word word{.due = now_ + 1,
            .terminal = e.peer,
            .peer = e.at_source ? e.terminal : kNone,
            .key = e.key,
            .feedback = feedback};
  word.feedback.sent = now_;
  if (setup_.control_flits != 0) {
    // What a terminal tells in one tick goes into packets in an order that does not depend on who was asked first.
    word.kind = Word::Kind::leaving;
    word.terminal = e.terminal;
    word.other = e.peer;
  } else {
    word.due = now_ + setup_.delays->between(e.terminal, e.peer);
  }
  deliver(word);
}

core::Message Flows::into_packet(const Word& word) {
  Word inside = word;
  inside.tag = tags_[word.terminal]++;
  at_source_[packet_of(word.terminal, inside.tag)] = inside;
  return {.birth = word.due, .destination = word.other, .flits = setup_.control_flits, .tag = inside.tag};
}

/// The terminal at the other end may be another shard's: what the packet carries goes ahead of it, since a word reaches
/// another shard in the next window and no packet does before.
void Flows::control_left(const core::Packet& packet) {
  const u64 which = packet_of(packet.source, packet.message);
  Word word = *at_source_.find(which);
  at_source_.erase(which);
  word.kind = Word::Kind::carried;
  word.due = kNever;
  word.terminal = packet.destination;
  word.other = packet.source;
  deliver(word);
}

void Flows::control_arrived(const core::Packet& packet, Tick now) {
  const u64 which = packet_of(packet.source, packet.message);
  Word word = *on_their_way_.find(which);
  on_their_way_.erase(which);
  word.kind = Word::Kind::heard;
  word.due = now + 1;
  word.other = kNone;
  deliver(word);
}

void Flows::explain(std::vector<Wait>& into, std::size_t most) const {
  std::vector<Wait> shut;
  const auto cut = [&] {
    std::sort(shut.begin(), shut.end(), &comes_before);
    shut.resize(std::min(shut.size(), most));
  };
  for (const std::vector<u32>& lanes : active_) {
    for (const u32 lane : lanes) {
      const Lane& l = lanes_[lane];
      if (l.again != kNever) continue;
      const core::Message& message = waits_[l.messages.first].message;
      const End& flow = ends_[l.end];
      if (shut.size() >= most) {
        // Its sentence is written only where it may be among the first.
        const Wait bound{flow.terminal, message.destination, {}, flow.key};
        if (comes_before(shut[most - 1], bound)) continue;
      }
      shut.push_back({flow.terminal, message.destination,
                      fmt::format("a message of {} flits from terminal {} to {} waits at its source: {}", message.flits,
                                  flow.terminal, message.destination, setup_.admission->explain(l.end)),
                      flow.key});
      if (shut.size() >= most) cut();
    }
  }
  cut();
  into.insert(into.end(), std::make_move_iterator(shut.begin()), std::make_move_iterator(shut.end()));
}

std::string Flows::violation() const {
  const core::Admission& admission = *setup_.admission;
  const std::span<const End> ends = ends_;
  const bool apart = admission.ends_are_apart();
  for (u32 end = 0; apart && end < ends.size(); ++end) {
    if (!ends[end].touched && digests_[end] != digest_of(ends[end], admission.digest(end))) {
      return fmt::format(
          "what the admission remembers of a flow of terminal {} has changed, and nothing happened to it",
          ends[end].terminal);
    }
  }
  return admission.violation();
}

u64 Flows::digest() const noexcept {
  u64 sum = 0;
  if (setup_.admission->ends_are_apart()) {
    // What the admission is asked for changes none of these, which the compiler cannot know.
    const core::Admission& admission = *setup_.admission;
    const std::span<const End> ends = ends_;
    const std::span<u64> digests = digests_;
    const std::span<const u32> touched{touched_.data(), touched_count_};
    const auto look = [&](u32 end) {
      const u64 now = digest_of(ends[end], admission.digest(end));
      ends[end].touched = false;
      sum += now - std::exchange(digests[end], now);
    };
    std::size_t i = 0;
    if (large()) {
      for (; i + kEndsAhead < touched.size(); ++i) {
        const u32 ahead = touched[i + kEndsAhead];
        __builtin_prefetch(&ends[ahead]);
        __builtin_prefetch(&digests[ahead]);
        admission.fetch(ahead, true);
        look(touched[i]);
      }
    }
    for (; i < touched.size(); ++i) look(touched[i]);
    touched_count_ = 0;
    sum_of_digests_ += sum;
    sum = sum_of_digests_;
  } else {
    for (u32 end = 0; end < ends_.size(); ++end) sum += digest_of(ends_[end], setup_.admission->digest(end));
  }
  agenda_.for_each([&](const Word& word) { sum += word.digest(); });
  for (const FlatMap<Word>* words : {&at_source_, &on_their_way_})
    words->for_each([&](u64, const Word& word) { sum += word.digest(); });
  for (const std::vector<u32>& lanes : active_) {
    for (const u32 lane : lanes) {
      waits_.for_each(lanes_[lane].messages, [&](const Waiting& w) {
        Hasher h;
        for (const u64 v :
             {u64{ends_[lanes_[lane].end].terminal}, w.message.birth, w.nth, u64{w.offset}, u64{w.traffic}}) {
          h.add(v);
        }
        sum += h.value();
      });
    }
  }
  return sum;
}

}  // namespace banyan::engine
