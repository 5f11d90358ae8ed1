// The run without a network and without hosts, and why a schedule does not get to its end.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "banyan/workload/inspection.hpp"
#include "banyan/workload/match_queue.hpp"
#include "banyan/workload/partly_free.hpp"

namespace banyan::workload {
namespace {

class Run {
 public:
  Run(const Program& program, bool with_chain, u64 eager)
      : program_(program), eager_(eager), free_(program), messages_(program.ranks()), receives_(program.ranks()) {
    first_.reserve(program.ranks());
    u64 sum = 0;
    for (u32 r = 0; r < program.ranks(); ++r) {
      first_.push_back(sum);
      sum += program.operations(r);
    }
    done_.assign((sum + 63) / 64, 0);
    begun_ = done_;
    if (with_chain) end_cause_ = cause_ = std::vector<Place>(sum, {kNone, kNone});
  }

  Untimed run() {
    for (u32 r = 0; r < program_.ranks(); ++r) {
      for (u32 i = 0; i < program_.operations(r); ++i) {
        if (program_.waits_for(r, i) == 0) begin({r, i}, 0, {kNone, kNone});
        drain(0);
      }
    }
    while (!ends_.empty()) drain(ends_.top().at);
    if (out_.done == program_.operations()) {
      if (!cause_.empty()) trace_back();
    } else {
      explain();
      const auto waits = [&](Place place) { return !bit(begun_, index(place)); };
      const bool no_message = !out_.cycle.empty() && std::ranges::all_of(out_.cycle, waits);
      if (!no_message && !meets_in_one_order(program_)) {
        out_.open = true;
        if (!out_.cycle.empty()) out_.stuck = std::exchange(out_.cycle, {});
      }
    }
    return std::move(out_);
  }

 private:
  static constexpr u32 kBegin = u32{1} << 31U;

  struct End {
    u64 at = 0;
    u64 number = 0;
    Place place;
    bool operator>(const End& other) const { return at != other.at ? at > other.at : number > other.number; }
  };

  [[nodiscard]] u64 index(Place p) const { return first_[p.rank] + p.operation; }
  [[nodiscard]] static bool bit(const std::vector<u64>& bits, u64 i) { return (bits[i >> 6U] >> (i & 63U) & 1U) != 0; }
  static void set(std::vector<u64>& bits, u64 i) { bits[i >> 6U] |= u64{1} << (i & 63U); }
  /// The begin of an operation as a cause; a place without the mark is the end of one.
  [[nodiscard]] static Place begin_of(Place place) { return {place.rank | kBegin, place.operation}; }
  void note_cause(std::vector<Place>& of, Place place, Place cause) const {
    if (!of.empty()) of[index(place)] = cause;
  }

  void drain(u64 until) {
    while (!ends_.empty() && ends_.top().at <= until) {
      const End end = ends_.top();
      ends_.pop();
      finish(end.place, end.at);
    }
  }

  void begin(Place place, u64 at, Place cause) {
    set(begun_, index(place));
    note_cause(cause_, place, cause);
    const Operation o = program_.operation(place.rank, place.operation);
    if (o.kind == OperationKind::calculate) {
      ends_.push({at + o.amount, number_++, place});
    } else if (o.kind == OperationKind::send) {
      Place receive;
      const bool found = receives_.take(o.peer, place.rank, o.tag, receive);
      if (found || o.amount <= eager_) ends_.push({at, number_++, place});
      if (found) {
        meet(place, receive);
        note_cause(end_cause_, receive, begin_of(place));
        ends_.push({at, number_++, receive});
      } else {
        messages_.push(o.peer, place.rank, o.tag, place);
      }
    } else {
      Place send;
      if (messages_.take(place.rank, o.peer, o.tag, send)) {
        meet(send, place);
        if (program_.operation(send.rank, send.operation).amount > eager_) {
          note_cause(end_cause_, send, begin_of(place));
          ends_.push({at, number_++, send});
        }
        ends_.push({at, number_++, place});
      } else {
        receives_.push(place.rank, o.peer, o.tag, place);
      }
    }
    program_.for_each_after_start(place.rank, place.operation, [&](u32 d) {
      release({place.rank, d}, at, begin_of(place));
    });
  }

  void meet(Place send, Place receive) {
    const auto amount = [&](Place p) { return program_.operation(p.rank, p.operation).amount; };
    if (amount(receive) < amount(send) && out_.shorter++ == 0) out_.short_receive = {send, receive};
  }

  void finish(Place place, u64 at) {
    set(done_, index(place));
    ++out_.done;
    if (at >= out_.length) {
      out_.length = at;
      last_ = place;
    }
    program_.for_each_after_end(place.rank, place.operation, [&](u32 d) { release({place.rank, d}, at, place); });
    constexpr u64 kPeriod = u64{1} << 22U;
    if (out_.done % kPeriod == 0) program_.release_pages();
  }

  void release(Place place, u64 at, Place cause) {
    if (free_.release(place.rank, place.operation, at)) begin(place, at, cause);
  }

  void trace_back() {
    bool begins = false;
    for (Place p = last_;;) {
      if (out_.chain.empty() || out_.chain.back() != p) out_.chain.push_back(p);
      const u64 i = index(p);
      const Place cause = begins || end_cause_[i].rank == kNone ? cause_[i] : end_cause_[i];
      if (cause.rank == kNone) break;
      begins = (cause.rank & kBegin) != 0;
      p = {cause.rank & ~kBegin, cause.operation};
    }
    std::ranges::reverse(out_.chain);
  }

  // --- why it does not end -----------------------------------------------------------------------------------------
  /// What an operation that is not done waits for, or nothing where no operation can ever free it.
  std::optional<Place> waits_for(Place place) {
    if (!bit(begun_, index(place))) {
      auto [found, added] = before_.try_emplace(place.rank);
      if (added) {
        std::vector<u32>& earlier = found->second;
        earlier.assign(program_.operations(place.rank), kNone);
        for (u32 i = 0; i < program_.operations(place.rank); ++i) {
          if (!bit(done_, index({place.rank, i})))
            program_.for_each_after_end(place.rank, i, [&](u32 d) { earlier[d] = i; });
          if (!bit(begun_, index({place.rank, i})))
            program_.for_each_after_start(place.rank, i, [&](u32 d) { earlier[d] = i; });
        }
      }
      return Place{place.rank, found->second[place.operation]};
    }
    const Operation o = program_.operation(place.rank, place.operation);  // a receive whose message has not come
    if (o.kind == OperationKind::send) return receive_for(place, o);
    const u32 from = o.peer == kAnyPeer ? 0 : o.peer;
    const u32 to = o.peer == kAnyPeer ? program_.ranks() : o.peer + 1;
    for (u32 r = from; r < to; ++r) {
      for (u32 i = 0; i < program_.operations(r); ++i) {
        if (bit(done_, index({r, i}))) continue;
        const Operation s = program_.operation(r, i);
        if (s.kind == OperationKind::send && s.peer == place.rank &&
            (s.tag == o.tag || s.tag == kAnyTag || o.tag == kAnyTag))
          return Place{r, i};
      }
    }
    return std::nullopt;
  }

  /// What a send above the eager limit waits for.
  std::optional<Place> receive_for(Place send, const Operation& o) {
    for (u32 i = 0; i < program_.operations(o.peer); ++i) {
      if (bit(done_, index({o.peer, i}))) continue;
      const Operation r = program_.operation(o.peer, i);
      if (r.kind == OperationKind::receive && (r.peer == send.rank || r.peer == kAnyPeer) &&
          (r.tag == o.tag || r.tag == kAnyTag || o.tag == kAnyTag))
        return Place{o.peer, i};
    }
    return std::nullopt;
  }

  void explain() {
    constexpr u64 kTried = 64;  // operations that are walked from; each walk ends in a cycle or in a message that lacks
    std::vector<u64> walked(first_.empty() ? 0 : done_.size(), 0);
    for (u32 r = 0; r < program_.ranks() && out_.cycle.empty() && out_.stuck.size() < kTried; ++r) {
      for (u32 i = 0; i < program_.operations(r) && out_.cycle.empty() && out_.stuck.size() < kTried; ++i) {
        std::vector<Place> path;
        std::optional<Place> at = Place{r, i};
        while (at && !bit(done_, index(*at)) && !bit(walked, index(*at))) {
          set(walked, index(*at));
          path.push_back(*at);
          at = waits_for(*at);
        }
        if (path.empty()) continue;
        if (!at) {
          out_.stuck.push_back(path.back());
          continue;
        }
        const auto from = std::ranges::find(path, *at);
        if (from != path.end()) out_.cycle.assign(from, path.end());
      }
    }
  }

  const Program& program_;
  u64 eager_;
  PartlyFree free_;
  MatchQueue<Place> messages_;
  MatchQueue<Place> receives_;
  std::vector<u64> first_;  ///< [rank], number of its first operation
  std::vector<u64> done_;   ///< bit per operation
  std::vector<u64> begun_;
  std::vector<Place> cause_;      ///< of every operation's begin
  std::vector<Place> end_cause_;  ///< of the end, where that waited for another rank
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::unordered_map<u32, std::vector<u32>> before_;  ///< by rank: for each operation one that it still waits for
  u64 number_ = 0;
  Place last_;
  Untimed out_;
};

/// Whether dependencies order those operations of a rank that meet others by their order.
class OrderOfRank {
 public:
  OrderOfRank(const Program& program, u32 rank) : program_(program), rank_(rank) {}

  /// `steps`: what may still be looked at; counted down.
  bool holds(u64& steps) {
    std::map<std::tuple<OperationKind, u32, u32>, std::vector<u32>> alike;
    bool several = false;
    for (u32 i = 0; i < program_.operations(rank_); ++i) {
      const Operation o = program_.operation(rank_, i);
      if (o.kind == OperationKind::calculate) continue;
      if (o.peer == kAnyPeer || o.tag == kAnyTag) return false;
      std::vector<u32>& same = alike[{o.kind, o.peer, o.tag}];
      same.push_back(i);
      several = several || same.size() > 1;
    }
    if (!several) return true;
    sort();
    return std::ranges::all_of(alike, [&](auto& entry) {
      std::vector<u32>& list = entry.second;
      std::ranges::sort(list, {}, [&](u32 i) { return number_[i]; });
      for (std::size_t k = 1; k < list.size(); ++k) {
        if (!reaches(list[k - 1], list[k], steps)) return false;
      }
      return true;
    });
  }

 private:
  template <class F>
  void for_each_next(u32 i, F&& f) const {
    program_.for_each_after_start(rank_, i, f);
    program_.for_each_after_end(rank_, i, f);
  }
  /// Numbers the operations so that each comes after all that it waits for; those of a circle come last.
  void sort() {
    const u32 count = program_.operations(rank_);
    number_.assign(count, kNone);
    seen_.assign(count, kNone);
    std::vector<u32> waits(count);
    std::vector<u32> ready;
    for (u32 i = 0; i < count; ++i) {
      waits[i] = program_.waits_for(rank_, i);
      if (waits[i] == 0) ready.push_back(i);
    }
    u32 next = 0;
    while (!ready.empty()) {
      const u32 i = ready.back();
      ready.pop_back();
      number_[i] = next++;
      for_each_next(i, [&](u32 d) {
        if (--waits[d] == 0) ready.push_back(d);
      });
    }
  }
  /// Whether b waits for a, by whatever is between them.
  bool reaches(u32 a, u32 b, u64& steps) {
    bool found = false;
    open_.assign(1, a);
    while (!open_.empty() && !found) {
      const u32 i = open_.back();
      open_.pop_back();
      for_each_next(i, [&](u32 d) {
        if (steps != 0) --steps;
        found = found || d == b;
        if (number_[d] >= number_[b] || seen_[d] == a) return;
        seen_[d] = a;
        open_.push_back(d);
      });
      if (steps == 0) return false;
    }
    return found;
  }

  const Program& program_;
  u32 rank_;
  std::vector<u32> number_;  ///< [operation]
  std::vector<u32> seen_;    ///< [operation], from which one last
  std::vector<u32> open_;
};

}  // namespace

bool meets_in_one_order(const Program& program) {
  u64 steps = 10'000'000;  // a second or less
  for (u32 r = 0; r < program.ranks(); ++r) {
    if (!OrderOfRank(program, r).holds(steps)) return false;
  }
  return true;
}

Untimed run_untimed(const Program& program, bool with_chain, u64 eager) {
  if (program.operations() == 0) return {};
  return Run(program, with_chain, eager).run();
}

}  // namespace banyan::workload
