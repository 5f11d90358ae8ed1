#include "banyan/engine/machine.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <exception>
#include <tuple>
#include <utility>

#include "banyan/base/cpu_time.hpp"
#include "banyan/base/error.hpp"
#include "banyan/base/pages.hpp"
#include "banyan/engine/watchdog.hpp"

namespace banyan::engine {
namespace {

using Clock = std::chrono::steady_clock;

[[nodiscard]] double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What sums over ranks do with the things below.
constexpr auto kJoin = Ranks::kJoin;
constexpr auto kAdd = [](auto& sum, const auto& more) { sum += more; };
constexpr auto kAddEach = [](auto& sum, const auto& more) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
};
constexpr auto kMerge = [](auto& sum, const auto& more) { sum.merge(more); };
constexpr auto kLeast = [](auto& least, const auto& other) { least = std::min(least, other); };
constexpr auto kLargest = [](auto& most, const auto& more) { most = std::max(most, more); };
constexpr auto kSmallest = [](auto& least, const auto& more) { least = std::min(least, more); };
constexpr auto kAnd = [](bool& all, bool more) { all = all && more; };
constexpr auto kOr = [](bool& any, bool more) { any = any || more; };

/// What precedes a parcel on its way to another rank.
struct ParcelHeader {
  u32 from = 0;  ///< shards
  u32 to = 0;
  u32 flits = 0;
  u32 controls = 0;
  u32 freed = 0;
  u32 copies = 0;
  u32 words = 0;
};
/// A packet whose head is among the flits of a parcel.
struct Record {
  core::Packet packet;
  core::PacketId id = 0;
  u32 value = 0;
};

/// What the ends of a flow know of it, as the audit sums it up. It travels between ranks, so nothing in it is idle.
struct FlowSum {
  u64 source = 0;
  u64 key = 0;
  u64 sent = 0;
  u64 arrived = 0;
};

/// The first of the rows of a flow takes over what the others say; those are left out. There may be millions of rows,
/// so they are not sorted.
void join_by_flow(std::vector<FlowSum>& rows) {
  PageVector<u32> firsts(std::bit_ceil(2 * rows.size() + 1), kNone);  // by a hash, with linear probing
  u32 flows = 0;
  for (const FlowSum row : rows) {
    for (u64 at = mix64(row.key * 0x9e3779b97f4a7c15ULL + row.source);; ++at) {
      u32& first = firsts[at & (firsts.size() - 1)];
      if (first == kNone) {
        first = flows;
        rows[flows++] = row;
        break;
      }
      FlowSum& its = rows[first];
      if (its.source != row.source || its.key != row.key) continue;
      its.sent += row.sent;
      its.arrived += row.arrived;
      break;
    }
  }
  rows.resize(flows);
}

template <class T>
void append(std::string& text, const T* data, std::size_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  text.append(reinterpret_cast<const char*>(data), count * sizeof(T));
}

/// Takes objects from a text, one behind the other.
struct Cursor {
  const std::string& text;
  std::size_t at;

  template <class T>
  void take(T* into, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (count == 0) return;
    if (count * sizeof(T) > text.size() - at) throw InvariantError("a message of another rank ends too early");
    std::memcpy(into, text.data() + at, count * sizeof(T));
    at += count * sizeof(T);
  }
  template <class T>
  void take(std::vector<T>& into, std::size_t count) {
    into.resize(count);
    take(into.data(), count);
  }
};

}  // namespace

Machine::Machine(std::vector<Shard> shards, std::span<core::Traffic* const> traffics, Tick window, u32 threads,
                 Ranks* ranks)
    : shards_(std::move(shards)),
      ranks_(ranks),
      own_(shards_.size()),
      traffics_(traffics),
      window_(std::max<Tick>(window, 1)),
      patience_(threads) {
  if (ranks_ != nullptr) {
    const u32 all = static_cast<u32>(shards_.size());
    first_ = ranks_->first(ranks_->rank(), all);
    own_ = ranks_->first(ranks_->rank() + 1, all) - first_;
  }
  threads_ = std::clamp(threads, 1U, static_cast<u32>(own_));
  forgets_ = std::all_of(this->shards().begin(), this->shards().end(), [](const Shard& shard) {
    return std::none_of(shard.populations.begin(), shard.populations.end(),
                        [](const auto& population) { return population->looks_back(); });
  });
  for (auto& published : published_) published.assign(shards_.size(), 0);
  for (auto& turns : turns_) turns.assign(shards_.size(), 0.0);
  growth_.resize(shards_.size());
  helper_cpu_seconds_.assign(threads_, 0.0);
  watches_.resize(threads_);
  barrier_ = std::make_unique<WindowBarrier>(threads_);
  together_ = threads_ > 1 && threads_ == shards_.size() &&
              std::none_of(shards_.begin(), shards_.end(), [](const Shard& s) { return s.border_of.empty(); });
  try {
    for (u32 worker = 1; worker < threads_; ++worker) helpers_.emplace_back([this, worker] { helper(worker); });
  } catch (...) {
    dismiss_helpers();
    throw;
  }
}

Machine::~Machine() { dismiss_helpers(); }

/// There may be fewer of them than there should: the system has no more threads.
void Machine::dismiss_helpers() {
  quit_ = true;
  barrier_->arrive(threads_ - static_cast<u32>(helpers_.size()));
  for (std::thread& t : helpers_) t.join();
}

void Machine::reset(u32 replication) {
  for (core::Traffic* t : traffics_) t->begin(replication);
  // Before any terminal is reset: what is born at tick 0 may tell terminals of other shards something at once.
  for (Shard& shard : shards_) {
    for (auto& parcels : shard.parcels) {
      for (Parcel& parcel : parcels) parcel.clear();
    }
    for (auto& touched : shard.touched) std::fill(touched.begin(), touched.end(), 0);
    shard.reset_borders();
    if (shard.guests != nullptr) shard.guests->clear();
  }
  for (Shard& shard : shards()) {
    if (shard.probe != nullptr) shard.probe->reset();
    shard.terminals->reset(replication);
    for (auto& population : shard.populations) population->reset(replication);
    std::fill(shard.due.begin(), shard.due.end(), 0);
  }
  for (auto& published : published_) std::fill(published.begin(), published.end(), 0);
  for (auto& failed : failed_) failed.store(false, std::memory_order_relaxed);
  failure_ = nullptr;
  if (ranks_ != nullptr) exchange_parcels(parity_);
  next_ = 0;
}

void Machine::helper(u32 worker) {
  for (;;) {
    barrier_->arrive_and_wait();  // released by run_until, or by the destructor
    if (quit_) return;
    run_windows(worker);
  }
}

void Machine::run_until(Tick end) {
  if (next_ >= end) return;
  if (shards_.size() == 1) {
    Shard& only = shards_.front();
    while (next_ < end) {
      require_room(0, only.most_ticks(end - next_));
      const u64 before = live(0);
      next_ = only.run(next_, end);
      note_growth(0, before);
    }
    return;
  }
  if (failure_) std::rethrow_exception(failure_);
  end_ = end;
  if (threads_ > 1) barrier_->arrive_and_wait();
  run_windows(0);
  if (failure_) std::rethrow_exception(failure_);
}

void Machine::meet(u32 worker) {
  if (threads_ == 1) return;
  if (!watched_) return barrier_->arrive_and_wait();
  const Clock::time_point start = Clock::now();
  barrier_->arrive_and_wait();
  watches_[worker].seconds.wait += seconds_since(start);
}

/// A window of the shards of one thread. Where one of them cannot go on, the thread still comes to the barrier, behind
/// which all of them see it.
void Machine::run_shards(std::size_t first, std::size_t last, Tick begin, Tick end, u32 parity, u32 worker) {
  for (std::size_t i = first; i < last; ++i) {
    try {
      require_room(i, end - begin);
      const u64 before = live(i);
      run_shard(i, begin, end, parity, worker);
      note_growth(i, before);
    } catch (...) {
      note_failure(i, parity);
      if (is_wave(begin, end)) shards_[i].give_up();
      return;
    }
  }
}

/// In a handler of exceptions. Of several shards that fail in one window the first is spoken of.
void Machine::note_failure(std::size_t shard, u32 parity) {
  const std::lock_guard lock(failure_mutex_);
  if (!failure_ || shard < failed_shard_) {
    failed_shard_ = shard;
    failure_ = std::current_exception();
  }
  failed_[parity].store(true, std::memory_order_relaxed);
}

/// Every thread runs the same sequence of windows, each on its own shards. Parcels that were filled under one parity
/// are emptied by their receivers in the next window, under the other: one barrier per window is enough.
/// A thread has shards whose numbers follow each other: most of what they send goes to each other.
void Machine::run_windows(u32 worker) {
  const std::size_t first = first_ + own_ * worker / threads_;
  const std::size_t last = first_ + own_ * (worker + 1) / threads_;
  u32 parity = parity_;
  for (;;) {
    Tick begin = kNever;
    for (const Tick t : published_[parity]) begin = std::min(begin, t);
    if (begin >= end_) {
      if (worker != 0) helper_cpu_seconds_[worker] = thread_cpu_seconds();
      if (threads_ > 1) barrier_->arrive_and_wait();  // nobody reads published_ any more
      if (worker == 0) {
        next_ = begin;
        parity_ = parity;
      }
      return;
    }
    const bool wave = together_ && end_ - begin >= kMostWaveTicks;
    const Tick end = wave ? begin + kMostWaveTicks : std::min(end_, begin + window_);
    const u32 next_parity = parity ^ 1U;
    run_shards(first, last, begin, end, next_parity, worker);
    if (watched_) ++watches_[worker].windows;
    meet(worker);
    if (watched_ && worker == 0) note_turns(next_parity);
    if (failed_[next_parity].load(std::memory_order_relaxed)) [[unlikely]] {
      if (threads_ > 1) barrier_->arrive_and_wait();  // nobody reads failed_ any more
      return;
    }
    if (ranks_ != nullptr && !meet_ranks(next_parity, worker)) return;
    parity = next_parity;
  }
}

/// Between two windows one thread speaks for its rank. False: another rank has failed; the error goes on in that
/// thread.
bool Machine::meet_ranks(u32 parity, u32 worker) {
  std::exception_ptr error;
  if (worker == 0) {
    const Clock::time_point start = watched_ ? Clock::now() : Clock::time_point{};
    try {
      exchange_parcels(parity);
    } catch (...) {
      error = std::current_exception();
      broken_ = true;
    }
    if (watched_) watches_[worker].seconds.wait += seconds_since(start);
  }
  meet(worker);
  if (error) std::rethrow_exception(error);
  return !broken_;
}

/// Hands over what goes to other ranks. What comes from there is put where the shards of this one look for it.
void Machine::exchange_parcels(u32 parity) {
  const u32 all = static_cast<u32>(shards_.size());
  Tick next = kNever;
  for (std::size_t i = first_; i < first_ + own_; ++i) next = std::min(next, published_[parity][i]);
  for (u32 r = 0; r < ranks_->size(); ++r) {
    if (r == ranks_->rank()) continue;
    append(ranks_->to(r), &next, 1);
    for (Shard& from : shards()) {
      for (u32 to = ranks_->first(r, all); to < ranks_->first(r + 1, all); ++to) {
        if ((from.touched[parity][to >> 6U] >> (to & 63U) & 1U) == 0) continue;
        pack(from, to, from.parcels[parity][to], ranks_->to(r));
        std::swap(from.parcels[parity][to], from.parcels[parity ^ 1U][to]);  // both are empty: one needs room
      }
    }
  }
  ranks_->exchange();
  for (u32 r = 0; r < ranks_->size(); ++r) {
    if (r != ranks_->rank()) unpack(r, parity);
  }
}

/// The packets of another rank, where a handle is of one of them; nullptr: the packet is of this rank.
Guests* Machine::guests_of(const Shard& shard, core::PacketId id) {
  const u32 owner = shard.wires.pool(id).shard();
  return owner >= first_ && owner < first_ + own_ ? nullptr : shards_[owner].guests.get();
}

/// The first flit of a packet takes its record along: nothing of a packet goes ahead of it. So does the tail that a
/// worm mails to a terminal, which has the number 0 too. What a contribution brings is known when the tail leaves, and
/// goes with it: heads that come back would bring what it was. Between ranks packets go by the handles of their owners.
void Machine::pack(const Shard& from, u32 to, Parcel& parcel, std::string& text) {
  const auto count = [](const auto& list) { return static_cast<u32>(list.size()); };
  const ParcelHeader header{
      from.wires.shard,   to, count(parcel.flits), count(parcel.controls), count(parcel.freed), count(parcel.copies),
      count(parcel.words)};
  std::string records;
  for (Mail<FlitArrival>& mail : parcel.flits) {
    core::Flit& flit = mail.arrival.flit;
    const core::PacketId ours = flit.packet;
    Guests* const guests = guests_of(from, ours);
    if (guests != nullptr) flit.packet = guests->theirs(ours);
    const PacketPool& pool = from.wires.pool(ours);
    if (flit.sequence == 0) {
      const Record record{pool[ours], flit.packet, pool.keeps_values() ? pool.value(ours) : u32{0}};
      append(records, &record, 1);
      if (record.packet.copies != 0) append(records, pool.header(ours), pool.words_of_header());
    }
    if (pool.keeps_contributions() && (flit.flags & core::kTail) != 0) append(records, &pool.contribution(ours), 1);
    if (guests != nullptr && forgets_ && (flit.flags & core::kTail) != 0) guests->leave(ours);
  }
  for (core::PacketId& id : parcel.freed) {
    Guests& guests = *guests_of(from, id);
    guests.forget(std::exchange(id, guests.theirs(id)));
  }
  // More copies may come: such a guest is kept until its owner uses the handle again.
  for (ArrivedCopy& copy : parcel.copies) copy.packet = guests_of(from, copy.packet)->theirs(copy.packet);
  append(text, &header, 1);
  append(text, parcel.flits.data(), parcel.flits.size());
  append(text, parcel.controls.data(), parcel.controls.size());
  append(text, parcel.freed.data(), parcel.freed.size());
  append(text, parcel.copies.data(), parcel.copies.size());
  append(text, parcel.words.data(), parcel.words.size());
  text += records;
  parcel.clear();
}

void Machine::unpack(u32 rank, u32 parity) {
  const u32 all = static_cast<u32>(shards_.size());
  Cursor cursor{ranks_->from(rank), Ranks::kHeader};
  Tick next = 0;
  cursor.take(&next, 1);
  for (u32 i = ranks_->first(rank, all); i < ranks_->first(rank + 1, all); ++i) {
    published_[parity][i] = next;
    std::fill(shards_[i].touched[parity].begin(), shards_[i].touched[parity].end(), 0);
    for (std::size_t to = first_; to < first_ + own_; ++to)  // both are empty: one needs room
      std::swap(shards_[i].parcels[parity][to], shards_[i].parcels[parity ^ 1U][to]);
  }
  while (cursor.at < cursor.text.size()) {
    ParcelHeader header;
    cursor.take(&header, 1);
    Shard& from = shards_[header.from];
    Parcel& parcel = from.parcels[parity][header.to];
    from.touched[parity][header.to >> 6U] |= u64{1} << (header.to & 63U);
    cursor.take(parcel.flits, header.flits);
    cursor.take(parcel.controls, header.controls);
    std::vector<core::PacketId> freed;
    cursor.take(freed, header.freed);
    std::vector<ArrivedCopy> copies;
    cursor.take(copies, header.copies);
    cursor.take(parcel.words, header.words);
    const Shard& to = shards_[header.to];
    std::vector<u64> destinations;
    for (Mail<FlitArrival>& mail : parcel.flits) {
      core::Flit& flit = mail.arrival.flit;
      Guests* const guests = guests_of(to, flit.packet);
      PacketPool& pool = to.wires.pool(flit.packet);
      if (flit.sequence == 0) {
        Record record;
        cursor.take(&record, 1);
        const u16 value = static_cast<u16>(record.value);
        if (guests == nullptr) {
          pool.copy(flit.packet, record.packet, value);
        } else {
          flit.packet = guests->enter(flit.packet, record.packet, value);
        }
        if (record.packet.copies != 0) {
          destinations.resize(pool.words_of_header());
          cursor.take(destinations.data(), destinations.size());
          if (guests != nullptr) pool.copy_header(flit.packet, destinations.data());
        }
      } else if (guests != nullptr) {
        flit.packet = guests->ours(flit.packet);
      }
      if (pool.keeps_contributions() && (flit.flags & core::kTail) != 0)
        cursor.take(&pool.contribution(flit.packet), 1);
    }
    // The other rank knows of this one's packets, and not of which of its shards they are.
    const auto parcel_of = [&](core::PacketId id) -> Parcel& {
      const u32 owner = to.wires.pool(id).shard();
      from.touched[parity][owner >> 6U] |= u64{1} << (owner & 63U);
      return from.parcels[parity][owner];
    };
    for (const core::PacketId id : freed) parcel_of(id).freed.push_back(id);
    for (const ArrivedCopy& copy : copies) parcel_of(copy.packet).copies.push_back(copy);
  }
}

void Machine::take_parcels(std::size_t index, u32 parity, u32 worker) {
  Shard& shard = shards_[index];
  for (Shard& other : shards_) {
    if ((other.touched[parity ^ 1U][index >> 6U] >> (index & 63U) & 1U) == 0) continue;
    Parcel& parcel = other.parcels[parity ^ 1U][index];
    if (watched_) {
      watches_[worker].mails +=
          parcel.flits.size() + parcel.controls.size() + parcel.freed.size() + parcel.copies.size();
    }
    shard.receive(parcel);
  }
}

void Machine::run_shard(std::size_t index, Tick begin, Tick end, u32 parity, u32 worker) {
  Shard& shard = shards_[index];
  Clock::time_point start = watched_ ? Clock::now() : Clock::time_point{};
  take_parcels(index, parity, worker);
  if (watched_) {
    watches_[worker].seconds.mail += seconds_since(start);
    start = Clock::now();
  }
  // What was sent under this parity was received in the last window.
  std::fill(shard.touched[parity].begin(), shard.touched[parity].end(), 0);
  shard.wires.parcels = &shard.parcels[parity];
  shard.wires.touched = &shard.touched[parity];
  Tick next = shard.next_due();
  double waited = 0.0;
  if (is_wave(begin, end)) {
    next = shard.run_together(begin, patience_, [&](auto&& wait) {
      if (!watched_) return wait();
      const Clock::time_point then = Clock::now();
      wait();
      waited += seconds_since(then);
    });
  } else {
    while (next < end) next = shard.run(std::max(next, begin), end);
  }
  for (std::size_t w = 0; w < shard.touched[parity].size(); ++w) {
    for (u64 bits = shard.touched[parity][w]; bits != 0; bits &= bits - 1) {
      next = std::min(next, shard.parcels[parity][w * 64 + static_cast<u32>(std::countr_zero(bits))].earliest);
    }
  }
  published_[parity][index] = next;
  if (watched_) {
    const double worked = seconds_since(start) - waited;
    watches_[worker].seconds.work += worked;
    watches_[worker].seconds.wait += waited;
    turns_[parity][index] = worked;
  }
}

/// Between two windows: the longest turn of a thread, or of a shard where one thread has all.
void Machine::note_turns(u32 parity) {
  const std::size_t turns = threads_ > 1 ? threads_ : own_;
  double longest = 0.0;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    double seconds = 0.0;
    for (std::size_t i = own_ * turn / turns; i < own_ * (turn + 1) / turns; ++i) seconds += turns_[parity][first_ + i];
    longest = std::max(longest, seconds);
    all_turns_ += seconds / static_cast<double>(turns);
  }
  longest_turns_ += longest;
}

Scaling Machine::scaling() const {
  Scaling scaling;
  scaling.cut = cut_;
  scaling.window = together_ ? kMostWaveTicks : window_;
  for (const Watch& watch : watches_) {
    scaling.mails += watch.mails;
    scaling.windows = std::max(scaling.windows, watch.windows);
    scaling.workers.push_back(watch.seconds);
  }
  scaling.mails = over_ranks(scaling.mails, kAdd);
  scaling.workers = over_ranks(std::move(scaling.workers), kJoin);
  if (all_turns_ > 0.0) scaling.longest = longest_turns_ / all_turns_;
  if (ranks_ != nullptr) scaling.longest = 0.0;
  return scaling;
}

void Machine::post(u32 traffic, u32 terminal, const core::Message& message) {
  if (places_.empty()) {
    for (u32 s = static_cast<u32>(first_); s < first_ + own_; ++s) {
      const Terminals& terminals = *shards_[s].terminals;
      for (u32 queue = 0; queue < terminals.size(); queue += terminals.queues()) {
        const u32 number = terminals.global(queue);
        if (number >= places_.size()) places_.resize(number + 1);
        places_[number] = {s, queue};
      }
    }
  }
  next_ = std::min(next_, message.birth);
  if (terminal >= places_.size() || places_[terminal].shard == kNone) {
    // The terminal is of another rank, whose shards all have one entry here: when the first of them has something to
    // do.
    Tick& theirs = published_[parity_][first_ == 0 ? own_ : 0];
    theirs = std::min(theirs, message.birth);
    return;
  }
  const Place place = places_[terminal];
  Shard& shard = shards_[place.shard];
  Source::Post(shard.terminals->source, place.queue, traffic).post(message);
  shard.due[0] = std::min(shard.due[0], message.birth);
  published_[parity_][place.shard] = std::min(published_[parity_][place.shard], message.birth);
}

void Machine::set_window(Window window) {
  for (Shard& shard : shards()) {
    shard.terminals->recorder.set_window(window);
    if (shard.probe != nullptr) shard.probe->set_window(window.from, window.to);
  }
}

void Machine::close(u32 traffic, Tick at) {
  for (Shard& shard : shards()) shard.terminals->source.close(traffic, at);
}

void Machine::finish_records() {
  // The first shard of all gets what the others have; the others keep it, and nobody reads it there.
  std::vector<MulticastLedger::Entry> open;
  for (Shard& shard : shards()) {
    if (shard.wires.shard != 0) kJoin(open, shard.terminals->sink.open_multicasts());
  }
  open = over_ranks(std::move(open), kJoin);
  if (first_ == 0) shards().front().terminals->sink.join_multicasts(open);
  for (Shard& shard : shards()) shard.terminals->source.add_waiting(shard.terminals->recorder.record());
}

SteadyRecord Machine::record(const SteadyPlan& plan, bool waiting) const {
  SteadyRecord sum(plan, static_cast<u32>(traffics_.size()));
  for (const Shard& shard : shards()) {
    sum.merge(shard.terminals->recorder.record());
    if (waiting) shard.terminals->source.add_waiting(sum);
  }
  return over_ranks(std::move(sum), kMerge);
}

SteadyProgress Machine::progress(const SteadyPlan& plan) const {
  SteadyProgress sum{Timeline(plan.series_window, plan.end, static_cast<u32>(traffics_.size())), {}};
  for (const Shard& shard : shards()) {
    const SteadyRecord& record = shard.terminals->recorder.record();
    sum.timeline.merge(record.timeline);
    sum.fire.merge(record.fire);
  }
  return over_ranks(std::move(sum), kMerge);
}

void Machine::goes_on(Tick from) {
  Tick next = kNever;
  for (Shard& shard : shards()) {
    Flows* const flows = shard.terminals->source.flows();
    if (flows == nullptr) continue;
    shard.due[0] = std::min(shard.due[0], flows->goes_on(from));
    next = std::min(next, shard.due[0]);
  }
  // The next window begins with the earliest of all, on every rank.
  next_ = std::min(next_, over_ranks(next, kLeast));
  published_[parity_][first_] = std::min(published_[parity_][first_], next_);
}

void Machine::extend(const SteadyPlan& longer) {
  for (Shard& shard : shards()) {
    shard.terminals->recorder.extend(longer);
    if (Flows* flows = shard.terminals->source.flows(); flows != nullptr) flows->own_metrics().extend(longer);
    for (const auto& population : shard.populations) {
      if (OwnMetrics* own = population->own_metrics(); own != nullptr) own->extend(longer);
    }
  }
}

std::vector<u64> Machine::accepted_of_sources() const {
  std::vector<u64> flits;
  for (const Shard& shard : shards()) {
    const Terminals& terminals = *shard.terminals;
    const u32 queues = terminals.queues() * shard.topology->subnetworks();
    for (u32 local = 0; local < terminals.size(); local += queues) {
      u64 sum = 0;
      bool source = false;
      for (u32 queue = local; queue < local + queues; ++queue) {
        sum += terminals.recorder.accepted_of()[queue];
        source |= terminals.source.is_source(queue);
      }
      if (source) flits.push_back(sum);
    }
  }
  flits = over_ranks(std::move(flits), kJoin);
  std::sort(flits.begin(), flits.end());
  return flits;
}

bool Machine::asleep(Tick now) const {
  bool asleep = !expects_here(now);
  for (const Shard& shard : shards()) {
    for (std::size_t i = 0; i < shard.populations.size(); ++i) {
      if (shard.due[i] != kNever && !shard.populations[i]->only_asked()) asleep = false;
    }
  }
  return over_ranks(asleep, kAnd);
}

bool Machine::expects(Tick now) const { return over_ranks(expects_here(now), kOr); }

bool Machine::expects_here(Tick now) const {
  for (const Shard& shard : shards()) {
    for (const auto& population : shard.populations) {
      if (population->expects(now)) return true;
    }
    if (const Flows* flows = shard.terminals->source.flows(); flows != nullptr && flows->expects()) return true;
  }
  for (const Shard& shard : shards_) {
    for (const auto& parcels : shard.parcels) {
      for (const Parcel& parcel : parcels) {
        if (!parcel.flits.empty() || !parcel.controls.empty() || !parcel.words.empty()) return true;
      }
    }
  }
  return false;
}

Tick Machine::longest_silence() const {
  Tick longest = 0;
  for (const Shard& shard : shards()) {
    for (const auto& population : shard.populations) longest = std::max(longest, population->longest_silence());
  }
  return over_ranks(longest, kLargest);
}

std::optional<Activity> Machine::activity() const {
  Activity sum;
  bool all = true;
  for (const Shard& shard : shards()) {
    for (const auto& population : shard.populations) all = all && population->activity(sum);
  }
  if (!over_ranks(all, kAnd)) return std::nullopt;
  return over_ranks(sum, kAdd);
}

OwnMetrics Machine::own_metrics() const {
  OwnMetrics sum;
  for (const Shard& shard : shards()) {
    for (const auto& population : shard.populations) {
      if (const OwnMetrics* own = population->own_metrics(); own != nullptr) sum.merge(*own);
    }
    if (Flows* flows = shard.terminals->source.flows(); flows != nullptr) sum.merge(flows->own_metrics());
  }
  return over_ranks(std::move(sum), kMerge);
}

ProbeReport Machine::probed() const {
  ProbeReport report;
  for (const Shard& shard : shards()) {
    if (shard.probe != nullptr) shard.probe->add_to(report);
  }
  report = over_ranks(std::move(report), [](auto& all, const auto& more) { all.join(more); });
  if (const Probe* const probe = shards().front().probe.get(); probe != nullptr)
    report.keep_events(probe->most_events());
  return report;
}

PacketSteps Machine::take_steps() const {
  PacketSteps steps;
  for (const Shard& shard : shards()) steps.join(shard.probe->take_steps());
  return over_ranks(std::move(steps), [](auto& all, const auto& more) { all.join(more); });
}

std::vector<MarkLog::Entry> Machine::take_marks() const {
  std::vector<MarkLog::Entry> entries;
  for (const Shard& shard : shards()) {
    if (shard.probe == nullptr) continue;
    kJoin(entries, shard.probe->marks().entries());
    shard.probe->marks().clear();
  }
  return over_ranks(std::move(entries), kJoin);
}

namespace {

struct CompleteStreams {
  u64 streams = 0;  ///< that are complete
  Tick last = 0;

  CompleteStreams& operator+=(const CompleteStreams& other) noexcept {
    streams += other.streams;
    last = std::max(last, other.last);
    return *this;
  }
};

}  // namespace

void Machine::close_disturbance() {
  const FireRecord& one = shards().front().terminals->recorder.record().fire;
  // All ranks ask alike: a record of one may know by itself.
  if (one.when.from == kNever || one.when.to != kNever) return;
  CompleteStreams all;
  for (const Shard& shard : shards()) {
    const FireRecord& fire = shard.terminals->recorder.record().fire;
    all += {fire.complete, fire.known};
  }
  all = over_ranks(all, kAdd);
  if (all.streams < one.of_amount()) return;
  for (Shard& shard : shards()) shard.terminals->recorder.record().fire.close(all.last);
}

Totals Machine::totals() const {
  Totals sum;
  for (const Shard& shard : shards()) {
    const Terminals& t = *shard.terminals;
    sum.taken += t.recorder.taken();
    sum.taken_flits += t.recorder.taken_flits();
    sum.delivered += t.recorder.delivered();
    sum.delivered_flits += t.recorder.delivered_flits();
    sum.misdelivered += t.sink.misdelivered();
    sum.disordered += t.sink.disordered();
    const Recorder::Control& control = t.recorder.control();
    sum.waiting += t.recorder.waiting();
    sum.control_taken += control.taken;
    sum.control_taken_flits += control.taken_flits;
    sum.control_delivered += control.delivered;
    sum.control_delivered_flits += control.delivered_flits;
    sum.counted_taken += t.recorder.counted_taken();
    sum.counted_delivered += t.recorder.counted_delivered();
    for (const auto& population : shard.populations) sum.movements += population->movements();
  }
  return over_ranks(sum, kAdd);
}

std::vector<LatencySums> Machine::tallies() const {
  std::vector<LatencySums> sum(traffics_.size() * 2);
  for (const Shard& shard : shards()) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += shard.terminals->recorder.tallies()[i];
  }
  return over_ranks(std::move(sum), kAddEach);
}

Tick Machine::next_birth_after(Tick now) const {
  Tick next = kNever;
  for (const Shard& shard : shards()) next = std::min(next, shard.terminals->source.next_birth_after(now));
  return over_ranks(next, kSmallest);
}

/// Lets populations know what is behind channels to other processes.
void Machine::exchange_borders() const {
  for (u32 round = 0; ranks_ != nullptr && round < Population::kBorderRounds; ++round) {
    std::vector<u64> words;
    for (const Shard& shard : shards()) {
      for (const auto& population : shard.populations) population->tell_border(round, words);
    }
    words = over_ranks(std::move(words), kJoin);
    for (const Shard& shard : shards()) {
      for (const auto& population : shard.populations) population->hear_border(round, words);
    }
  }
}

std::vector<u32> Machine::full_channels() const {
  exchange_borders();
  std::vector<u32> channels;
  for (const Shard& shard : shards()) {
    for (const auto& population : shard.populations) population->full_channels(channels);
  }
  return over_ranks(std::move(channels), kJoin);
}

std::vector<u64> Machine::occupancy(u32 levels) const {
  std::vector<u64> sum(levels);
  for (const Shard& shard : shards()) {
    for (const auto& population : shard.populations) population->occupancy(sum);
  }
  return over_ranks(std::move(sum), kAddEach);
}

std::vector<u32> Machine::generated(u32 tally) const {
  std::vector<u32> sum;
  for (const Shard& shard : shards()) {
    const std::vector<u32>& part = shard.terminals->recorder.generated(tally);
    sum.resize(part.size());
    kAddEach(sum, part);
  }
  return over_ranks(std::move(sum), kAddEach);
}

u64 Machine::finite_delivered(u32 traffic) const {
  u64 sum = 0;
  for (const Shard& shard : shards()) sum += shard.terminals->recorder.finite_delivered(traffic);
  return over_ranks(sum, kAdd);
}

Tick Machine::finite_latest(u32 traffic) const {
  Tick latest = 0;
  for (const Shard& shard : shards()) latest = std::max(latest, shard.terminals->recorder.finite_latest(traffic));
  return over_ranks(latest, kLargest);
}

Tick Machine::first_birth(u32 traffic) const {
  Tick first = kNever;
  for (const Shard& shard : shards()) first = std::min(first, shard.terminals->source.first_birth(traffic));
  return over_ranks(first, kSmallest);
}

bool Machine::sources_past_window() const {
  const bool past = std::all_of(shards().begin(), shards().end(),
                                [](const Shard& shard) { return shard.terminals->source.past_window(); });
  return over_ranks(past, kAnd);
}

void Machine::archive(Archive& a) {
  a.same(shards_.size());
  for (u32 i = 0; i < traffics_.size(); ++i) {
    try {
      a(*traffics_[i]);
    } catch (const NotArchived&) { throw NotArchived("traffic", i); }
  }
  a(shards_, next_, parity_, published_);
}

u64 Machine::hash() const {
  u64 state = 0;
  for (const Shard& shard : shards()) {
    state += shard.terminals->digest();
    for (const auto& population : shard.populations) state += population->digest();
  }
  for (const Shard& shard : shards_) {
    for (const auto& parcels : shard.parcels) {
      for (const Parcel& parcel : parcels) {
        const std::size_t to = static_cast<std::size_t>(&parcel - parcels.data());
        for (const auto& mail : parcel.flits) {
          state += shards_[to].populations[mail.population]->digest_of(
              mail.due, mail.arrival, shards_[to].wires.packet(mail.arrival.flit.packet));
        }
        for (const auto& mail : parcel.controls) {
          state += shards_[to].populations[mail.population]->digest_of(mail.due, mail.arrival);
        }
        for (const Word& word : parcel.words) state += word.digest();
      }
    }
  }
  state = over_ranks(state, kAdd);
  const Totals sum = totals();
  if (shards().front().populations.front()->hashes_movements()) state += mix64(sum.movements);
  Hasher h;
  h.add(state);
  for (const u64 v : {sum.taken, sum.taken_flits, sum.delivered, sum.delivered_flits, sum.movements}) h.add(v);
  constexpr u32 kHashed = LatencySums::kPackets | LatencySums::kFlits | LatencySums::kMessages;
  // Multicasts of which parts arrive in several shards are summed up at the end; the sink has their digest.
  for (const LatencySums& t : tallies()) t.hash(h, kHashed);
  return h.value();
}

/// No flow has more flits arrived than were sent, and all of them have when the network is empty.
void Machine::audit_flows(Holdings& held, const Totals& sum) const {
  std::vector<FlowSum> flows;
  for (const Shard& shard : shards()) {
    const Flows* const of_shard = shard.terminals->source.flows();
    if (of_shard == nullptr) return;
    flows.reserve(flows.size() + of_shard->ends());
    of_shard->for_each_end([&](u32 source, u64 key, u64 sent, u64 arrived) {
      flows.push_back({source, key, sent, arrived});
    });
    if (std::string violation = of_shard->violation(); !violation.empty()) {
      held.violations.push_back(std::move(violation));
    }
  }
  flows = over_ranks(std::move(flows), kJoin);
  join_by_flow(flows);
  u64 in_flight = 0;
  std::vector<FlowSum> wrong;
  for (const FlowSum& flow : flows) {
    in_flight += flow.sent - flow.arrived;
    if (flow.arrived > flow.sent) wrong.push_back(flow);
  }
  std::sort(wrong.begin(), wrong.end(),
            [](const FlowSum& a, const FlowSum& b) { return std::tie(a.source, a.key) < std::tie(b.source, b.key); });
  for (const FlowSum& flow : wrong) {
    held.violations.push_back(fmt::format("of flow {} of terminal {}, {} flits were sent and {} arrived", flow.key,
                                          flow.source, flow.sent, flow.arrived));
  }
  if (sum.taken_flits == sum.delivered_flits && in_flight != 0) {
    held.violations.push_back(fmt::format("{} flits of flows are in flight in an empty network", in_flight));
  }
}

/// Whoever has a record of a packet for several destinations hears of every copy that arrives. Results of reductions
/// are owed from their first chunk on, and are in the network from their last.
void Machine::audit_copies(Holdings& held) const {
  if (!shards().front().terminals->pool().keeps_sets()) return;
  u64 owed = 0;
  u64 told = 0;
  for (const Shard& shard : shards()) owed += shard.terminals->pool().owed_by_all();
  for (const Shard& shard : shards_) {
    for (const auto& parcels : shard.parcels) {
      for (const Parcel& parcel : parcels) told += parcel.copies.size();
    }
  }
  owed = over_ranks(owed, kAdd);
  told = over_ranks(told, kAdd);
  const u64 copies = over_ranks(held.copies, kAdd);
  const bool reduces = shards().front().terminals->pool().keeps_contributions();
  if (owed == copies + told || (reduces && held.packets != 0)) return;
  held.violations.push_back(
      fmt::format("copies are not conserved: {} are owed, {} are in the network, {} have arrived", owed, copies, told));
}

u64 Machine::audit() const {
  const Totals sum = totals();
  Holdings held;
  const std::size_t channels = shards_.front().topology->graph().channels().size();
  held.places = PlaceLedger(channels);
  for (const Shard& shard : shards()) {
    for (const auto& population : shard.populations) population->hold(held);
  }
  for (const Shard& shard : shards_) {
    for (const auto& parcels : shard.parcels) {
      for (const Parcel& parcel : parcels) {
        const std::size_t to = static_cast<std::size_t>(&parcel - parcels.data());
        for (const auto& mail : parcel.flits) shards_[to].populations[mail.population]->hold(mail.arrival, held);
        for (const auto& mail : parcel.controls) shards_[to].populations[mail.population]->hold(mail.arrival, held);
      }
    }
  }
  // In pieces: every rank gets the lists of all.
  constexpr std::size_t kPiece = std::size_t{1} << 18U;
  for (std::size_t first = 0; ranks_ != nullptr && first < channels; first += kPiece)
    held.places.add(over_ranks(held.places.take_unbalanced(first, first + kPiece), kJoin));
  held.places.for_each_error([&](u32 channel, u32 vc, i64 missing) {
    const core::End& from = shards_.front().topology->graph().channel(channel).from;
    held.violations.push_back(
        fmt::format("credits are not conserved: of the places behind virtual channel {} of {} {} port {}, {} {}", vc,
                    from.terminal ? "terminal" : "switch", from.node, from.port, missing > 0 ? missing : -missing,
                    missing > 0 ? "are lost" : "are known twice"));
  });
  for (const Shard& shard : shards()) {
    if (!shard.terminals->source.answers_conserved())
      held.violations.emplace_back("messages of an answering traffic were lost");
  }
  audit_flows(held, sum);
  for (const core::Traffic* t : traffics_) {
    if (std::string violation = t->violation(); !violation.empty()) held.violations.push_back(std::move(violation));
  }
  held.violations = over_ranks(std::move(held.violations), kJoin);
  held.packets = over_ranks(held.packets, kAdd);
  held.flits = over_ranks(held.flits, kAdd);
  audit_copies(held);
  if (!held.violations.empty()) throw InvariantError(held.violations.front());
  if (sum.misdelivered != 0) {
    throw InvariantError(
        fmt::format("{} packets arrived at a terminal that is not their destination", sum.misdelivered));
  }
  if (sum.disordered != 0) {
    throw InvariantError(
        fmt::format("{} packets overtook others of their pair, and the routing promises order", sum.disordered));
  }
  if (sum.taken != sum.delivered + held.packets) {
    throw InvariantError(fmt::format("packets are not conserved: {} entered, {} were delivered, {} are in the network",
                                     sum.taken, sum.delivered, held.packets));
  }
  if (sum.taken_flits != sum.delivered_flits + held.flits) {
    throw InvariantError(fmt::format("flits are not conserved: {} entered, {} were delivered, {} are in the network",
                                     sum.taken_flits, sum.delivered_flits, held.flits));
  }
  return held.packets;
}

double Machine::helper_cpu_seconds() const noexcept {
  double sum = 0.0;
  for (const double seconds : helper_cpu_seconds_) sum += seconds;
  return sum;
}

void Machine::blocked_on(BlockedView& into) const {
  exchange_borders();
  for (const Shard& shard : shards()) {
    for (const auto& population : shard.populations) population->blocked_on(into);
  }
  if (ranks_ == nullptr) return;
  BlockedView::Copy copy = over_ranks(into.copy(), kAdd);
  into.take(std::move(copy));
}

std::string Machine::explain_blockage() const {
  // What tells its waits in text names its resources in its own way: the published ones are not mixed with them.
  std::vector<Wait> waits;
  for (const Shard& shard : shards()) {
    for (const auto& population : shard.populations) population->waits(waits);
  }
  waits = over_ranks(std::move(waits), kJoin);
  const bool told = !waits.empty();
  BlockedView view;
  blocked_on(view);
  const std::vector<Blocked>& blocked = view.all_blocked();
  for (const Blocked& b : blocked) {
    // What waits for its turn will get it: no part of a deadlock.
    if (!told && b.why != Why::bandwidth) waits.push_back({b.resource, b.on, "", b.packet});
  }
  // In an order that does not depend on the cut into shards: of several shortest cycles the first is told.
  std::sort(waits.begin(), waits.end(), &comes_before);
  std::vector<Wait> cycle = shortest_wait_cycle(waits);
  for (Wait& wait : cycle) {
    if (told || !wait.text.empty()) continue;
    for (const Blocked& b : blocked) {
      if (b.why == Why::bandwidth || b.resource != wait.waiter || b.on != wait.resource || b.packet != wait.packet)
        continue;
      wait.text = describe(b, *shards_.front().topology);
      break;
    }
  }
  std::string text = explain(cycle, waits.size());
  constexpr std::size_t kMostGates = 4;
  std::vector<Wait> gates;
  for (const Shard& shard : shards()) {
    if (const Flows* flows = shard.terminals->source.flows(); flows != nullptr) flows->explain(gates, kMostGates);
  }
  gates = over_ranks(std::move(gates), kJoin);
  std::sort(gates.begin(), gates.end(), &comes_before);
  gates.resize(std::min(gates.size(), kMostGates));
  if (!gates.empty() && waits.empty()) text = "nothing moves, and gates of the admission are shut:";
  for (const Wait& gate : gates) text += "\n  " + gate.text;
  return text;
}

}  // namespace banyan::engine
