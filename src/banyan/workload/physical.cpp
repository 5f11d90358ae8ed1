// The physical rules (docs/workload/hosts.md), on the ideal network or over a carrier: a core and an interface do what
// they have to do in the order in which it becomes possible; what waits for the end of an operation begins when that is
// over, on whatever core; a receive costs its own core; a message above the eager limit asks first.
#include "banyan/workload/physical.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/workload/event_queue.hpp"
#include "banyan/workload/match_queue.hpp"
#include "banyan/workload/partly_free.hpp"
#include "banyan/workload/rank_clock.hpp"
#include "banyan/workload/replay.hpp"
#include "banyan/workload/trace_back.hpp"
#include "banyan/workload/unfinished.hpp"

namespace banyan::workload {
namespace physical {

enum class Kind : u8 {
  ready,     ///< an operation waits for nothing any more
  arrival,   ///< the first byte of a message is at the receiver, over a carrier the last; the operation is its send
  request,   ///< likewise the question whether it may come
  consent,   ///< the answer is at the sender
  received,  ///< all of a message is there, and the operation is its receive
};

struct Event {
  u64 time = 0;
  u64 order = 0;  ///< number of its coming into being
  Place place;
  u64 what = 0;  ///< its kind and, 8 bits higher, the bytes of the message that is received

  [[nodiscard]] Kind kind() const noexcept { return static_cast<Kind>(what & 0xffU); }
  [[nodiscard]] u64 bytes() const noexcept { return what >> 8U; }

  [[nodiscard]] bool before(const Event& other) const noexcept {
    return time < other.time + (order < other.order ? 1 : 0);  // no branch: which one is taken cannot be foretold
  }
};

/// A message that waits for its receive.
struct Waiting {
  Place send;
  u64 complete = 0;   ///< when all of it is there
  bool asks = false;  ///< only its request is here
};

/// A core, or one direction of an interface.
struct Resource {
  u64 free = 0;
  Execution last = TraceBack::kNobody;
};

/// Contributions to a reduction in the network.
struct Gathering {
  u64 latest = 0;                       ///< when the last of them was sent
  Execution last = TraceBack::kNobody;  ///< which is that of this send
  std::vector<Place> sends;             ///< of those that are here, where no carrier has them

  void archive(Archive& a) { a(latest, last, sends); }
};

class Replay {
 public:
  Replay(const Program& program, const Host& host, const IdealWire& wire, const ReplayOptions& options,
         Carrier* carrier = nullptr)
      : program_(program),
        host_(host),
        wire_(wire),
        options_(options),
        carrier_(carrier),
        stream_(host.gap_per_byte < wire.per_byte ? wire.per_byte : host.gap_per_byte),
        cores_(std::max(host.cores, program.cores())),
        nics_(std::max(host.nics, program.nics())),
        core_(std::size_t{program.ranks()} * cores_),
        sender_(std::size_t{program.ranks()} * nics_),
        receiver_(std::size_t{program.ranks()} * nics_),
        left_(program.ranks()),
        repeats_left_(program.ranks(), options.repeats),
        free_(program),
        messages_(program.ranks()),
        receives_(program.ranks()),
        queue_(std::size_t{program.ranks()} * 2),
        trace_(program, options.repeats),
        clock_(program.ranks(), cores_ == 1, carrier == nullptr),
        calculations_(host.units_per_ns, core_.size()),
        contributions_(options.reduces ? program.ranks() : 0) {
    out_.ends.assign(program.ranks(), options.start);
  }

  void begin() {
    out_.start = options_.start;
    total_ = program_.operations() * options_.repeats;
    for (u32 r = 0; r < program_.ranks(); ++r) begin_iteration(r, options_.start);
  }
  JobOutcome run() {
    begin();
    if (options_.keeper != nullptr) options_.keeper->begin([this](Archive& a) { archive(a); });
    while (!queue_.empty()) {
      take(queue_.pop());
      if (out_.operations >= report_) report();
    }
    return finish();
  }
  [[nodiscard]] u64 next() const noexcept { return queue_.empty() ? ~u64{0} : queue_.first().time; }
  void advance() { take(queue_.pop()); }
  void deliver(const Parcel& parcel, u64 at) {
    const Kind kind = static_cast<Kind>(parcel.kind);
    const u32 peer = operation(parcel.send).peer;
    const bool sum = kind == Kind::arrival && contributes(parcel.send.rank, peer);
    clock_.awaits(kind == Kind::consent ? parcel.send.rank : peer,
                  sum ? gathering(parcel.send.rank).latest : parcel.sent, at, 0);
    push(at, kind, parcel.send);
  }
  [[nodiscard]] u64 operations() const noexcept { return out_.operations; }
  [[nodiscard]] u64 lookahead() const noexcept { return asking_ == 0 ? host_.overhead : 0; }
  void archive(Archive& a) {
    a(core_, sender_, receiver_, left_, repeats_left_, free_, messages_, receives_, receive_of_, handled_, queue_,
      trace_, clock_, calculations_, contributions_, gatherings_);
    a(asking_, now_, born_, report_, out_);
  }
  JobOutcome finish() {
    for (const u64 end : out_.ends) out_.completion = std::max(out_.completion, end);
    out_.times = clock_.times(options_.start, out_.ends);
    if (out_.operations != total_) {
      out_.explanation = unfinished(program_, of_places(), receives_);
    } else {
      out_.critical_path = trace_.chain();
    }
    return std::move(out_);
  }

 private:
  static constexpr u64 kPeriod = u64{1} << 20U;  ///< operations between two reports

  [[nodiscard]] Resource& core(Place p, const Operation& o) { return core_[std::size_t{p.rank} * cores_ + o.cpu]; }
  [[nodiscard]] Resource& sender(Place p, const Operation& o) { return sender_[std::size_t{p.rank} * nics_ + o.nic]; }
  [[nodiscard]] Operation operation(Place p) const { return program_.operation(p.rank, p.operation); }
  /// What a rank sends to itself where a network reduces.
  [[nodiscard]] bool contributes(u32 rank, u32 peer) const { return options_.reduces && rank == peer; }
  [[nodiscard]] bool asks_first(u32 rank, const Operation& o) const {
    return o.amount > host_.eager && !contributes(rank, o.peer);
  }
  [[nodiscard]] static u64 further(const Operation& o) { return o.amount == 0 ? 0 : o.amount - 1; }
  /// One operation takes less than kLongestOperation, so that none goes round the end of the clock unseen.
  void require_time(u64 at) const {
    if (at < kEndOfTime) [[likely]]
      return;
    throw ConfigError({program_.path(), 0, 0, ""}, "its times go beyond 2^63 units, which is as far as a run counts",
                      "give a shorter schedule, or a longer cycle_time");
  }
  void push(u64 time, Kind kind, Place place, u64 bytes = 0) {
    require_time(time);
    u64 order = ++born_;
    if (carrier_ != nullptr) {
      const bool at_peer = kind == Kind::arrival || kind == Kind::request;
      constexpr unsigned kBirths = 40;
      order |= u64{at_peer ? operation(place).peer : place.rank} << kBirths;
    }
    queue_.push({time, order, place, bytes << 8U | static_cast<u8>(kind)},
                place.rank * 2 + (kind == Kind::ready || kind == Kind::received ? 0 : 1));
  }
  /// Between the ends of a send: its message or request, or the consent that comes back.
  void carry(u64 at, Kind kind, Place send, const Operation& o) {
    require_time(at);
    const bool back = kind == Kind::consent;
    if (kind == Kind::arrival) trace_.sent(send, at);
    if (kind == Kind::arrival && contributes(send.rank, o.peer)) return contribute(at, send, o);
    if (carrier_ == nullptr) {
      if (kind == Kind::arrival && options_.message)
        options_.message(now_, {send, o.peer, o.amount, at, at + wire_.latency + wire_.per_byte.of(further(o))});
      clock_.awaits(back ? send.rank : o.peer, at, at + wire_.latency, now_);
      return push(at + wire_.latency, kind, send);
    }
    if (carrier_->together(send.rank, o.peer)) return push(at, kind, send);
    const u64 bytes = kind == Kind::arrival ? o.amount : 0;
    carrier_->carry(back ? o.peer : send.rank, back ? send.rank : o.peer, bytes, at,
                    {send, static_cast<u8>(kind), trace_.repeat_of(send.rank), at});
  }

  /// The reduction that a rank has contributed to last. Of the two that may be under way, some ranks have the sum of
  /// the first and have gone on to the second.
  [[nodiscard]] Gathering& gathering(u32 rank) { return gatherings_[contributions_[rank] % 2]; }
  void contribute(u64 at, Place send, const Operation& o) {
    ++contributions_[send.rank];
    Gathering& all = gathering(send.rank);
    if (at >= all.latest) {
      all.latest = at;
      all.last = trace_.now(send);
    }
    if (carrier_ != nullptr)
      return carrier_->carry(send.rank, send.rank, o.amount, at,
                             {send, static_cast<u8>(Kind::arrival), trace_.repeat_of(send.rank), at});
    all.sends.push_back(send);
    if (all.sends.size() < program_.ranks()) return;
    for (const Place each : all.sends) {
      clock_.awaits(each.rank, all.latest, all.latest + wire_.latency, now_);
      push(all.latest + wire_.latency, Kind::arrival, each);
    }
    all.sends.clear();
  }

  void begin_iteration(u32 rank, u64 at) {
    left_[rank] = program_.operations(rank);
    if (left_[rank] == 0 || repeats_left_[rank] == 0) return;
    --repeats_left_[rank];
    const Execution before = trace_.last_of(rank);
    trace_.again(rank);
    for (u32 i = 0; i < program_.operations(rank); ++i) {
      program_.passes(rank, i);
      if (program_.waits_for(rank, i) != 0) continue;
      trace_.waited({rank, i}, before, at);
      push(at, Kind::ready, {rank, i});
    }
  }
  void release(Place place, u64 at, Execution cause) {
    program_.fetch(place.rank, place.operation + kAhead);
    trace_.fetch({place.rank, place.operation + kAhead});
    trace_.waited(place, cause, at);
    if (free_.release(place.rank, place.operation, at)) push(at, Kind::ready, place);
  }
  /// `waits`: it has begun and waits for another rank. What waits for its beginning has waited for what it waited for
  /// until then, whatever its end waits for, or how long it takes.
  void begun(Place place, u64 at, bool waits) {
    trace_.begun(place, at);
    const Execution cause = waits ? trace_.cause_of(place) : trace_.beginning(place);
    program_.for_each_after_start(place.rank, place.operation, [&](u32 d) { release({place.rank, d}, at, cause); });
  }
  void ended(Place place, u64 at) {
    require_time(at);
    trace_.ended(place, at);
    const Execution cause = trace_.now(place);
    program_.for_each_after_end(place.rank, place.operation, [&](u32 d) { release({place.rank, d}, at, cause); });
    out_.ends[place.rank] = std::max(out_.ends[place.rank], at);
    if (--left_[place.rank] == 0) begin_iteration(place.rank, out_.ends[place.rank]);
    if (++out_.operations % (kPeriod * 4) == 0) program_.release_pages();
  }
  void report() {
    report_ += kPeriod;
    if (options_.progress) options_.progress(out_.operations, total_);
    if (options_.keeper != nullptr) options_.keeper->rest();
    if (options_.interrupted != nullptr && *options_.interrupted) throw Interrupted("interrupted");
  }

  void take(const Event& event) {
    now_ = event.time;
    const Operation o = operation(event.place);
    switch (event.kind()) {
      case Kind::ready:
        if (o.kind == OperationKind::calculate) return calculate(event, o);
        if (o.kind == OperationKind::send) return send(event, o);
        return post(event, o);
      case Kind::arrival:
        return arrive(event, o);
      case Kind::request:
        return ask(event, o);
      case Kind::consent:
        return transfer(event, o);
      case Kind::received:
        return receive(event, o);
    }
  }

  /// The time at which `place` has the resource, from `at` on.
  u64 take_turn(Resource& resource, Place place, u64 at) {
    if (resource.free <= at) return at;
    trace_.waited(place, resource.last, resource.free);
    return resource.free;
  }

  void calculate(const Event& event, const Operation& o) {
    Resource& mine = core(event.place, o);
    const u64 start = take_turn(mine, event.place, event.time);
    mine = {start + calculations_.of(o.amount, static_cast<std::size_t>(&mine - core_.data())),
            trace_.now(event.place)};
    clock_.computes(event.place.rank, start, mine.free, now_);
    begun(event.place, start, false);
    ended(event.place, mine.free);
  }
  void send(const Event& event, const Operation& o) {
    Resource& mine = core(event.place, o);
    Resource& nic = sender(event.place, o);
    const bool eager = !asks_first(event.place.rank, o);
    u64 start = take_turn(mine, event.place, event.time);
    if (eager) start = take_turn(nic, event.place, start);
    mine = {start + host_.overhead + host_.overhead_per_byte.of(further(o)),
            eager ? trace_.now(event.place) : trace_.beginning(event.place)};
    clock_.handles(event.place.rank, start, mine.free, now_);
    begun(event.place, start, !eager);
    ++out_.messages;
    out_.bytes += o.amount;
    carry(start + host_.overhead, eager ? Kind::arrival : Kind::request, event.place, o);
    if (!eager) {
      ++asking_;
      if (mine.free > start + host_.overhead) handled_[key(event.place)] = mine.free;
      return;
    }
    nic = {start + host_.gap + host_.gap_per_byte.of(further(o)), trace_.now(event.place)};
    ended(event.place, mine.free);
  }
  void post(const Event& event, const Operation& o) {
    begun(event.place, event.time, true);
    Waiting message;
    if (!messages_.take(event.place.rank, o.peer, o.tag, message)) {
      receives_.push(event.place.rank, o.peer, o.tag, event.place.operation);
    } else if (message.asks) {
      receive_of_[key(message.send)] = event.place;
      trace_.waited(message.send, trace_.cause_of(event.place), event.time);
      carry(event.time, Kind::consent, message.send, operation(message.send));
    } else {
      meet(event.place, message.send, std::max(event.time, message.complete), message.complete);
    }
  }
  /// When all of a message is there that the event announces; the receiver's interface is charged.
  u64 complete_at(const Event& event, const Operation& o) {
    if (carrier_ != nullptr && !contributes(event.place.rank, o.peer) && carrier_->together(event.place.rank, o.peer)) {
      return event.time;
    }
    Resource& nic = receiver_[std::size_t{o.peer} * nics_ + o.nic];
    if (carrier_ == nullptr) {
      const u64 first = std::max(event.time, nic.free);
      nic.free = first + host_.gap + host_.gap_per_byte.of(further(o));
      return first + stream_.of(further(o));
    }
    // The last byte is here. Bytes share the link in the network; only an interface slower than it takes longer.
    const u64 took = wire_.per_byte.of(further(o));
    const u64 first = std::max(event.time - std::min(event.time, took), nic.free);
    const u64 length = wire_.per_byte < host_.gap_per_byte ? host_.gap_per_byte.of(further(o)) : 0;
    nic.free = first + host_.gap + length;
    return std::max(event.time, first + length);
  }
  void arrive(const Event& event, const Operation& o) {
    const u64 complete = complete_at(event, o);
    clock_.awaits(o.peer, event.time, complete, now_);
    trace_.arrived(event.place, complete);
    u32 receive = 0;
    if (asks_first(event.place.rank, o)) {
      const auto found = receive_of_.find(key(event.place));
      meet(found->second, event.place, complete, complete);
      receive_of_.erase(found);
    } else if (receives_.take(o.peer, event.place.rank, o.tag, receive)) {
      meet({o.peer, receive}, event.place, complete, complete);
    } else {
      messages_.push(o.peer, event.place.rank, o.tag, {event.place, complete, false});
    }
  }
  void ask(const Event& event, const Operation& o) {
    u32 receive = 0;
    if (receives_.take(o.peer, event.place.rank, o.tag, receive)) {
      receive_of_[key(event.place)] = {o.peer, receive};
      carry(event.time, Kind::consent, event.place, o);
    } else {
      messages_.push(o.peer, event.place.rank, o.tag, {event.place, event.time, true});
    }
  }
  void transfer(const Event& event, const Operation& o) {
    --asking_;
    Resource& nic = sender(event.place, o);
    const u64 start = take_turn(nic, event.place, event.time);
    if (start > event.time) trace_.resumed(event.place, start);
    const u64 gone = host_.gap_per_byte.of(further(o));
    nic = {start + host_.gap + gone, trace_.now(event.place)};
    carry(start, Kind::arrival, event.place, o);
    u64 end = start + gone;
    // The core may handle its bytes for longer than they take to leave.
    if (const auto found = handled_.find(key(event.place)); found != handled_.end()) {
      end = std::max(end, found->second);
      handled_.erase(found);
    }
    ended(event.place, end);
  }
  /// `at`: when both are there.
  void meet(Place receive, Place send, u64 at, u64 complete) {
    trace_.waited(receive, contributes(send.rank, receive.rank) ? gathering(send.rank).last : trace_.met(send),
                  complete);
    constexpr u64 kMost = (u64{1} << 56U) - 1;  // longer ones, of 72 petabytes, cost no more
    push(at, Kind::received, receive, std::min(operation(send).amount, kMost));
  }
  void receive(const Event& event, const Operation& o) {
    Operation sent = o;
    sent.amount = event.bytes();
    Resource& mine = core(event.place, o);
    const u64 start = take_turn(mine, event.place, event.time);
    mine = {start + host_.overhead + host_.overhead_per_byte.of(further(sent)), trace_.now(event.place)};
    clock_.handles(event.place.rank, start, mine.free, now_);
    trace_.begun(event.place, start);
    ended(event.place, mine.free);
  }

  [[nodiscard]] static u64 key(Place p) noexcept { return u64{p.rank} << 32U | p.operation; }
  [[nodiscard]] MatchQueue<Place> of_places() const {
    MatchQueue<Place> places(program_.ranks());
    for (u32 r = 0; r < program_.ranks(); ++r)
      messages_.for_each(r, [&](u32 peer, u32 tag, const Waiting& w) { places.push(r, peer, tag, w.send); });
    return places;
  }

  const Program& program_;
  const Host& host_;
  const IdealWire& wire_;
  const ReplayOptions& options_;
  Carrier* carrier_;
  PerByte stream_;  ///< per byte that arrives: no sooner than it left
  u32 cores_;
  u32 nics_;
  std::vector<Resource> core_;
  std::vector<Resource> sender_;
  std::vector<Resource> receiver_;
  std::vector<u32> left_;          ///< [rank], operations of this repeat
  std::vector<u32> repeats_left_;  ///< [rank]
  PartlyFree free_;
  MatchQueue<Waiting> messages_;
  MatchQueue<u32> receives_;
  std::unordered_map<u64, Place> receive_of_;  ///< of sends that may come
  std::unordered_map<u64, u64> handled_;       ///< of sends that asked: when their core has handled their bytes
  EventQueue<Event> queue_;
  TraceBack trace_;
  RankClock clock_;
  Calculations calculations_;
  std::vector<u64> contributions_;  ///< [rank], that it has sent
  std::array<Gathering, 2> gatherings_;
  u64 asking_ = 0;  ///< messages that ask first, and have no consent yet
  u64 now_ = 0;
  u64 born_ = 0;
  u64 total_ = 0;
  u64 report_ = kPeriod;  ///< operations, at the next report
  JobOutcome out_;
};

}  // namespace physical

struct PhysicalReplay::State {
  State(const Program& program, const Host& host, const IdealWire& wire, const ReplayOptions& options, Carrier& carrier)
      : replay(program, host, wire, options, &carrier) {}
  physical::Replay replay;
};

PhysicalReplay::PhysicalReplay(const Program& program, const Host& host, const IdealWire& wire,
                               const ReplayOptions& options, Carrier& carrier)
    : state_(std::make_unique<State>(program, host, wire, options, carrier)) {
  state_->replay.begin();
}
PhysicalReplay::~PhysicalReplay() = default;
u64 PhysicalReplay::next() const noexcept { return state_->replay.next(); }
void PhysicalReplay::advance() { state_->replay.advance(); }
void PhysicalReplay::deliver(const Parcel& parcel, u64 at) { state_->replay.deliver(parcel, at); }
bool PhysicalReplay::is_message(const Parcel& parcel) noexcept {
  return static_cast<physical::Kind>(parcel.kind) == physical::Kind::arrival;
}
u64 PhysicalReplay::operations() const noexcept { return state_->replay.operations(); }
u64 PhysicalReplay::lookahead() const noexcept { return state_->replay.lookahead(); }
void PhysicalReplay::archive(Archive& a) { state_->replay.archive(a); }
JobOutcome PhysicalReplay::finish() { return state_->replay.finish(); }

JobOutcome replay_physical(const Program& program, const Host& host, const IdealWire& wire,
                           const ReplayOptions& options) {
  return physical::Replay(program, host, wire, options).run();
}

}  // namespace banyan::workload
