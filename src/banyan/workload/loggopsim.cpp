// The rules of LogGOPSim (T. Hoefler, T. Schneider, A. Lumsdaine: LogGOPSim - Simulating Large-Scale Applications in
// the LogGOPS Model, LSAP 2010), as its program has them:
//
// - An operation or message that finds its core or interface busy tries again when both are free; among those that try
//   at one time the one that came into being first goes first. LogGOPSim puts each back into its queue of events; here
//   those that wait for the same core and interface wait together, and only the first of them is in the queue.
// - What becomes free begins when its core is free, even if what freed it ended later on another core.
// - A message costs the core and the interface of the receiver with the numbers that it had at the sender, when it
//   arrives; a receive costs nothing.
// - A message above the eager limit travels like any other, and its send ends when it meets its receive.
#include <algorithm>
#include <array>
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
namespace loggopsim {
namespace {

enum class Kind : u8 { operation = 0, message = 1, wake = 3 };

/// Ordered by time, then by age: `order` is the number of its coming into being, with the kind in its last bits.
struct Event {
  u64 time = 0;
  u64 order = 0;
  u32 rank = 0;       ///< of the operation; of a wake, which queue
  u32 operation = 0;  ///< of a message that of its send

  [[nodiscard]] Kind kind() const noexcept { return static_cast<Kind>(order & 3U); }
  [[nodiscard]] bool before(const Event& other) const noexcept {
    return time < other.time + (order < other.order ? 1 : 0);  // no branch: which one is taken cannot be foretold
  }
};

/// What waits for a core, or for a core and an interface in one direction: the oldest first.
struct WaitQueue {
  u64 key = 0;
  u64 awaited = 0;             ///< order of the wake that is in the queue of events; 0: none is
  std::vector<Event> waiting;  ///< a heap with the oldest in front

  void push(const Event& event) {
    waiting.push_back(event);
    std::push_heap(waiting.begin(), waiting.end(), is_younger);
  }
  Event pop() {
    std::pop_heap(waiting.begin(), waiting.end(), is_younger);
    const Event oldest = waiting.back();
    waiting.pop_back();
    return oldest;
  }
  void archive(Archive& a) { a(key, awaited, waiting); }

 private:
  static bool is_younger(const Event& a, const Event& b) noexcept { return a.order > b.order; }
};

class Replay {
 public:
  Replay(const Program& program, const Host& host, const IdealWire& wire, const ReplayOptions& options)
      : program_(program),
        host_(host),
        wire_(wire),
        options_(options),
        stream_(host.gap_per_byte < wire.per_byte ? wire.per_byte : host.gap_per_byte),
        cores_(std::max(host.cores, program.cores())),
        nics_(std::max(host.nics, program.nics())),
        core_free_(std::size_t{program.ranks()} * cores_, options.start),
        send_free_(std::size_t{program.ranks()} * nics_, options.start),
        receive_free_(std::size_t{program.ranks()} * nics_, options.start),
        left_(program.ranks()),
        repeats_left_(program.ranks(), options.repeats),
        free_(program),
        messages_(program.ranks()),
        receives_(program.ranks()),
        queue_(std::size_t{program.ranks()} * 2),
        trace_(program, options.repeats),
        clock_(program.ranks(), cores_ == 1, true),
        holder_(core_free_.size(), TraceBack::kNobody),
        sender_(send_free_.size(), TraceBack::kNobody),
        receiver_(receive_free_.size(), TraceBack::kNobody) {}

  JobOutcome run() {
    out_.start = options_.start;
    alone_ = frees_earlier();
    total_ = program_.operations() * options_.repeats;
    for (u32 r = 0; r < program_.ranks(); ++r) {
      if (begin_iteration(r)) offer(r, true);
    }
    if (options_.keeper != nullptr) options_.keeper->begin([this](Archive& a) { archive(a); });
    while (!queue_.empty()) {
      const Event event = queue_.pop();
      checked_ = {kNone, kNone};
      take(event);
      if (checked_.second != kNone && checked_.second < checked_.first) std::swap(checked_.first, checked_.second);
      for (const u32 rank : {checked_.first, checked_.second}) {
        if (rank != kNone && !freed_of(rank).empty()) offer(rank, false);
      }
      if (out_.operations >= report_) report();
    }
    finish();
    return std::move(out_);
  }

  /// Between two events nothing is free that was not offered.
  void archive(Archive& a) {
    a(core_free_, send_free_, receive_free_, left_, repeats_left_, free_, early_, messages_, receives_, queue_, trace_,
      clock_);
    a(calculations_, holder_, sender_, receiver_, waiting_, queue_of_, idle_queues_, now_, born_, report_, out_);
  }

 private:
  static constexpr u64 kPeriod = u64{1} << 20U;  ///< operations between two reports

  [[nodiscard]] u64& core_free(u32 rank, u32 cpu) noexcept { return core_free_[std::size_t{rank} * cores_ + cpu]; }
  [[nodiscard]] u64& send_free(u32 rank, u32 nic) noexcept { return send_free_[std::size_t{rank} * nics_ + nic]; }
  [[nodiscard]] u64& receive_free(u32 rank, u32 nic) noexcept { return receive_free_[std::size_t{rank} * nics_ + nic]; }
  [[nodiscard]] u64 next_order(Kind kind) noexcept { return ++born_ << 2U | static_cast<u64>(kind); }

  /// All that waits for nothing, for the first time or once more; false: no repeat is left, or nothing is to be done.
  bool begin_iteration(u32 rank) {
    left_[rank] = program_.operations(rank);
    if (left_[rank] == 0 || repeats_left_[rank] == 0) return false;
    --repeats_left_[rank];
    const Execution before = trace_.last_of(rank);
    trace_.again(rank);
    std::vector<u32>& freed = freed_of(rank);
    for (u32 i = 0; i < program_.operations(rank); ++i) {
      program_.passes(rank, i);
      if (program_.waits_for(rank, i) != 0) continue;
      trace_.waited({rank, i}, before, now_);
      freed.push_back(i);
    }
    return true;
  }

  // Only two ranks can free anything within one event.
  [[nodiscard]] std::vector<u32>& freed_of(u32 rank) noexcept {
    if (freed_[0].first == rank || (freed_[0].second.empty() && freed_[1].first != rank)) {
      freed_[0].first = rank;
      return freed_[0].second;
    }
    freed_[1].first = rank;
    return freed_[1].second;
  }
  void check(u32 rank) noexcept {
    if (checked_.first == kNone || checked_.first == rank) {
      checked_.first = rank;
    } else {
      checked_.second = rank;
    }
  }

  /// What became free at a rank becomes events: sends first, then receives, then calculations.
  void offer(u32 rank, bool first) {
    std::vector<u32>& freed = freed_of(rank);
    if (freed.size() == 1) {
      offer(rank, freed.front(), program_.operation(rank, freed.front()), first);
      freed.clear();
      return;
    }
    for (const OperationKind kind : {OperationKind::send, OperationKind::receive, OperationKind::calculate}) {
      for (const u32 i : freed) {
        const Operation o = program_.operation(rank, i);
        if (o.kind == kind) offer(rank, i, o, first);
      }
    }
    freed.clear();
  }
  void offer(u32 rank, u32 operation, const Operation& o, bool first) {
    u64 time = options_.start;
    if (!first) time = core_free(rank, o.cpu);
    if (!first && o.kind == OperationKind::send) time = std::max(time, send_free(rank, o.nic));
    queue_.push({time, next_order(Kind::operation), rank, operation}, rank * 2);
  }

  /// `waits`: for a message. What waits for its beginning has waited for what it waited for until then.
  void started(u32 rank, u32 operation, bool waits) {
    check(rank);
    const Place place{rank, operation};
    const Execution cause = waits ? trace_.cause_of(place) : trace_.now(place);
    program_.for_each_after_start(rank, operation, [&](u32 d) { release(rank, d, cause); });
  }
  void done(u32 rank, u32 operation) {
    check(rank);
    const Execution cause = trace_.now({rank, operation});
    program_.for_each_after_end(rank, operation, [&](u32 d) { release(rank, d, cause); });
    if (--left_[rank] == 0) static_cast<void>(begin_iteration(rank));
    if (++out_.operations % (kPeriod * 4) == 0) program_.release_pages();
  }
  void release(u32 rank, u32 operation, Execution cause) {
    if (early_.size() != 0 && early_.find(key_of(rank, operation)) != nullptr) [[unlikely]]
      return;
    program_.fetch(rank, operation + kAhead);
    trace_.fetch({rank, operation + kAhead});
    trace_.waited({rank, operation}, cause, now_);
    u64 unused = 0;
    if (free_.release(rank, operation, unused)) freed_of(rank).push_back(operation);
  }
  /// LogGOPSim ends a send again: what waits for it and for something else still has one less to wait for, and may go
  /// too early. Counts go round below zero there, so that nothing begins twice.
  void end_again(Place send) {
    check(send.rank);
    program_.for_each_after_end(send.rank, send.operation, [&](u32 d) {
      if (!free_.release_partly(send.rank, d)) return;
      early_[key_of(send.rank, d)] = 1;
      freed_of(send.rank).push_back(d);
    });
  }
  [[nodiscard]] static u64 key_of(u32 rank, u32 operation) noexcept { return u64{rank} << 32U | operation; }
  void report() {
    report_ += kPeriod;
    if (options_.progress) options_.progress(out_.operations, total_);
    if (options_.keeper != nullptr) options_.keeper->rest();
    if (options_.interrupted != nullptr && *options_.interrupted) throw Interrupted("interrupted");
  }

  /// The core does this from now on, until it is free; it may have waited for what the core did before.
  void occupy(u32 rank, u32 cpu, Place place, u64 until) {
    u64& free = core_free(rank, cpu);
    Execution& holder = holder_[std::size_t{rank} * cores_ + cpu];
    if (free == now_) trace_.waited(place, holder, now_);
    free = until;
    holder = trace_.now(place);
    trace_.begun(place, now_);
    trace_.ended(place, until);
  }

  /// An interface does this from now on, until it is free; `place` may have waited for what it did before.
  void use(u64& free, Execution& user, Place place, Execution by, u64 until) noexcept {
    if (free == now_) trace_.waited(place, user, now_);
    free = until;
    user = by;
  }

  void take(const Event& event) {
    now_ = event.time;
    if (event.kind() == Kind::wake) {
      wake(event);
      return;
    }
    const Operation o = program_.operation(event.rank, event.operation);
    if (event.kind() == Kind::message) {
      const u64 ready = std::max(core_free(o.peer, o.cpu), receive_free(o.peer, o.nic));
      ready <= event.time ? arrive(event, o) : wait(event, o);
    } else if (o.kind == OperationKind::send) {
      const u64 ready = std::max(core_free(event.rank, o.cpu), send_free(event.rank, o.nic));
      ready <= event.time ? send(event, o) : wait(event, o);
    } else if (o.kind == OperationKind::calculate) {
      core_free(event.rank, o.cpu) <= event.time ? calculate(event, o) : wait(event, o);
    } else {
      post(event, o);
    }
  }

  void calculate(const Event& event, const Operation& o) {
    const u64 until = event.time + calculations_.of(o.amount, std::size_t{event.rank} * cores_ + o.cpu);
    occupy(event.rank, o.cpu, {event.rank, event.operation}, until);
    clock_.computes(event.rank, event.time, until, event.time);
    started(event.rank, event.operation, false);
    done(event.rank, event.operation);
  }
  void send(const Event& event, const Operation& o) {
    started(event.rank, event.operation, false);
    const u64 more = o.amount - 1;
    const Place place{event.rank, event.operation};
    const u64 until = event.time + host_.overhead + host_.overhead_per_byte.of(more);
    const u64 sent = event.time + host_.overhead;
    occupy(event.rank, o.cpu, place, until);
    clock_.handles(event.rank, event.time, until, event.time);
    clock_.awaits(o.peer, sent, sent + wire_.latency, event.time);
    trace_.sent(place, sent);
    if (options_.message)
      options_.message(event.time, {place, o.peer, o.amount, sent, sent + wire_.latency + wire_.per_byte.of(more)});
    use(send_free(event.rank, o.nic), sender_[std::size_t{event.rank} * nics_ + o.nic], place, trace_.now(place),
        event.time + host_.gap + host_.gap_per_byte.of(more));
    queue_.push({event.time + host_.overhead + wire_.latency, next_order(Kind::message), event.rank, event.operation},
                event.rank * 2 + 1);
    ++out_.messages;
    out_.bytes += o.amount;
    if (o.amount <= host_.eager) done(event.rank, event.operation);
  }
  void post(const Event& event, const Operation& o) {
    started(event.rank, event.operation, true);
    Place send;
    if (!messages_.take(event.rank, o.peer, o.tag, send)) {
      receives_.push(event.rank, o.peer, o.tag, event.operation);
      return;
    }
    // LogGOPSim asks for the size of the receive here, and for that of the message where the receive was first. Where
    // only the receive is above the limit, the send has ended already. With repeats, which LogGOPSim does not have, it
    // may have been a part of the repeat before.
    if (o.amount > host_.eager) {
      if (program_.operation(send.rank, send.operation).amount > host_.eager) {
        done(send.rank, send.operation);
      } else if (options_.repeats == 1) {
        end_again(send);
      }
      hold_sender(send.rank, o, event.time);
    }
    trace_.begun({event.rank, event.operation}, event.time);
    trace_.ended({event.rank, event.operation}, event.time);
    done(event.rank, event.operation);
  }
  void arrive(const Event& event, const Operation& o) {
    const u64 more = o.amount - 1;
    const u64 streamed = std::max(host_.overhead_per_byte.of(more), stream_.of(more));
    const u64 until = event.time + host_.overhead + streamed;
    const u64 interface = event.time + host_.gap + host_.gap_per_byte.of(more);
    u32 receive = 0;
    clock_.handles(o.peer, event.time, until, event.time);
    const Execution message = trace_.arrived({event.rank, event.operation}, event.time + stream_.of(more));
    const bool matched = receives_.take(o.peer, event.rank, o.tag, receive);
    // What waits for the receive is told by its message; on the core it is the receive, or the message itself.
    if (matched) trace_.waited({o.peer, receive}, message, event.time);
    u64& free = receive_free(o.peer, o.nic);
    Execution& user = receiver_[std::size_t{o.peer} * nics_ + o.nic];
    if (matched) {
      use(free, user, {o.peer, receive}, trace_.now({o.peer, receive}), interface);
      occupy(o.peer, o.cpu, {o.peer, receive}, until);
    } else {
      free = interface;
      user = message;
      core_free(o.peer, o.cpu) = until;
      holder_[std::size_t{o.peer} * cores_ + o.cpu] = message;
    }
    if (!matched) {
      messages_.push(o.peer, event.rank, o.tag, {event.rank, event.operation});
      return;
    }
    if (o.amount > host_.eager) {
      done(event.rank, event.operation);
      hold_sender(event.rank, o, event.time);
    }
    done(o.peer, receive);
  }
  /// `o`: what met the message, whose numbers of core and interface are those of the sender that go on.
  void hold_sender(u32 sender, const Operation& o, u64 now) {
    u64& core = core_free(sender, o.cpu);
    core = std::max(core, now);
    u64& nic = send_free(sender, o.nic);
    nic = std::max(nic, now);
  }

  // --- waiting ---------------------------------------------------------------------------------------------------
  /// When what waits in a queue can begin.
  [[nodiscard]] u64 ready_of(u64 key) noexcept {
    const u32 rank = static_cast<u32>(key >> 32U);
    const u64 core = core_free(rank, static_cast<u8>(key));
    const u32 nic = static_cast<u8>(key >> 8U);
    switch (key >> 16U & 3U) {
      case 0:
        return core;
      case 1:
        return std::max(core, send_free(rank, nic));
      default:
        return std::max(core, receive_free(rank, nic));
    }
  }
  void wait(const Event& event, const Operation& o) {
    const bool message = event.kind() == Kind::message;
    u64 key = u64{message ? o.peer : event.rank} << 32U | o.cpu;
    if (o.kind == OperationKind::send) key |= u64{o.nic} << 8U | (message ? 2U : 1U) << 16U;
    if (alone_) {
      Event again = event;
      again.time = ready_of(key);
      queue_.push(again, EventQueue<Event>::kNoLane);
      return;
    }
    const auto [found, added] = queue_of_.try_emplace(key, 0);
    if (added) {
      if (idle_queues_.empty()) {
        found->second = static_cast<u32>(waiting_.size());
        waiting_.emplace_back();
      } else {
        found->second = idle_queues_.back();
        idle_queues_.pop_back();
      }
      waiting_[found->second].key = key;
    }
    WaitQueue& queue = waiting_[found->second];
    queue.push(event);
    if (queue.awaited == 0 || event.order < queue.awaited) call(found->second);
  }
  /// A message of no bytes costs the time of one byte less than none: a core or an interface may be free earlier than
  /// it was thought to be, and what waits for it keeps its own time then.
  [[nodiscard]] bool frees_earlier() const {
    const u64 byte = std::max({host_.overhead_per_byte.of(1), host_.gap_per_byte.of(1), stream_.of(1)});
    if (byte <= std::min(host_.overhead, host_.gap)) return false;
    for (u32 r = 0; r < program_.ranks(); ++r) {
      for (u32 i = 0; i < program_.operations(r); ++i) {
        program_.passes(r, i);
        const Operation o = program_.operation(r, i);
        if (o.kind == OperationKind::send && o.amount == 0) return true;
      }
    }
    return false;
  }
  /// The first of a queue tries when it may.
  void call(u32 number) {
    WaitQueue& queue = waiting_[number];
    const Event& first = queue.waiting.front();
    queue.awaited = first.order;
    queue_.push({ready_of(queue.key), first.order | 3U, number, 0}, EventQueue<Event>::kNoLane);
  }
  void wake(const Event& event) {
    WaitQueue& queue = waiting_[event.rank];
    if (queue.waiting.empty() || (queue.awaited | 3U) != event.order) return;  // an older one came after it was called
    if (ready_of(queue.key) > event.time) {
      call(event.rank);
      return;
    }
    Event first = queue.pop();
    first.time = event.time;
    queue.awaited = 0;
    take(first);
    WaitQueue& after = waiting_[event.rank];
    if (!after.waiting.empty()) {
      call(event.rank);
    } else {
      queue_of_.erase(after.key);
      idle_queues_.push_back(event.rank);
    }
  }

  void finish() {
    out_.ends.resize(program_.ranks());
    for (u32 r = 0; r < program_.ranks(); ++r) {
      u64& end = out_.ends[r];
      for (u32 c = 0; c < cores_; ++c) end = std::max(end, core_free(r, c));
      out_.completion = std::max(out_.completion, end);
    }
    out_.times = clock_.times(options_.start, out_.ends);
    if (out_.operations != total_) {
      out_.explanation = unfinished(program_, messages_, receives_);
    } else {
      // A message that came before its receive may charge its receiver longer than anything else takes.
      for (std::size_t c = 0; c < core_free_.size(); ++c) trace_.held(holder_[c], core_free_[c]);
      out_.critical_path = trace_.chain();
    }
  }

  const Program& program_;
  const Host& host_;
  const IdealWire& wire_;
  const ReplayOptions& options_;
  PerByte stream_;  ///< per byte that arrives: no sooner than it left
  u32 cores_;
  u32 nics_;
  std::vector<u64> core_free_;
  std::vector<u64> send_free_;
  std::vector<u64> receive_free_;
  std::vector<u32> left_;          ///< [rank], operations of this repeat
  std::vector<u32> repeats_left_;  ///< [rank]
  PartlyFree free_;
  FlatMap<u8> early_;  ///< [key_of]: operations that began by a second end of a send; what ends later changes nothing
  MatchQueue<Place> messages_;  ///< that came before their receive
  MatchQueue<u32> receives_;
  EventQueue<Event> queue_;
  TraceBack trace_;
  RankClock clock_;
  Calculations calculations_{host_.units_per_ns, core_free_.size()};
  std::vector<Execution> holder_;    ///< [core], what it did last
  std::vector<Execution> sender_;    ///< [interface], whose message it sent last
  std::vector<Execution> receiver_;  ///< [interface], whose message it received last
  std::vector<WaitQueue> waiting_;
  std::unordered_map<u64, u32> queue_of_;
  std::vector<u32> idle_queues_;
  std::array<std::pair<u32, std::vector<u32>>, 2> freed_;
  std::pair<u32, u32> checked_{kNone, kNone};
  bool alone_ = false;  ///< what waits tries on its own
  u64 now_ = 0;
  u64 born_ = 0;
  u64 total_ = 0;
  u64 report_ = kPeriod;  ///< operations, at the next report
  JobOutcome out_;
};

}  // namespace
}  // namespace loggopsim

JobOutcome replay_loggopsim(const Program& program, const Host& host, const IdealWire& wire,
                            const ReplayOptions& options) {
  return loggopsim::Replay(program, host, wire, options).run();
}

}  // namespace banyan::workload
