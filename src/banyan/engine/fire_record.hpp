// What is recorded of traffics that disturb the network for a while, and of the others meanwhile: when the streams of a
// disturbance are complete, and how long its victims' packets take.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/stats/histogram.hpp"

namespace banyan::engine {

/// When the disturbances of all traffics together begin and end.
[[nodiscard]] inline core::Disturbance disturbance_of(std::span<core::Traffic* const> traffics) {
  core::Disturbance all;
  for (const core::Traffic* traffic : traffics) {
    const core::Disturbance its = traffic->disturbance();
    if (its.from == kNever) continue;
    all.to = all.from == kNever ? its.to : std::max(all.to, its.to);  // kNever is the greatest
    all.from = std::min(all.from, its.from);
  }
  return all;
}

/// Of a record, what says how far the disturbances and their victims are: little, that may be looked at often.
struct FireProgress {
  struct Stream {
    u64 flits = 0;   ///< that arrived
    u64 timely = 0;  ///< of those, before the end of the stream
    Tick last = 0;   ///< the latest arrival
  };

  void merge(const FireProgress& other) {
    streams.resize(std::max(streams.size(), other.streams.size()));
    for (std::size_t i = 0; i < other.streams.size(); ++i) {
      streams[i].flits += other.streams[i].flits;
      streams[i].timely += other.streams[i].timely;
      streams[i].last = std::max(streams[i].last, other.streams[i].last);
    }
    longest = std::max(longest, other.longest);
  }
  void archive(Archive& a) { a(streams, longest); }

  std::vector<Stream> streams;  ///< of all traffics
  u64 longest = 0;              ///< flits of a victim's packet
};

/// The record of one shard, or merged. All are integers: it does not matter in which order events come and shards
/// merge.
struct FireRecord : FireProgress {
  /// A victim's packet that was generated when nobody knew yet whether the disturbance would go on.
  struct Late {
    Tick birth = 0;
    Tick latency = 0;
    u64 source = 0;
  };
  /// Of the buckets of victims' latencies, of which there are as many as terminals: a percentile within 0.8 %, or
  /// within 3 % where there are so many that the buckets would take gigabytes.
  [[nodiscard]] static u32 bits(std::size_t terminals) noexcept { return terminals <= 4096 ? 6 : 4; }
  static constexpr u64 kLongest = u64{1} << 40U;

  FireRecord() = default;
  /// Nothing is recorded where no traffic disturbs.
  FireRecord(std::span<core::Traffic* const> traffics, u32 terminals) : when(disturbance_of(traffics)) {
    if (when.from == kNever) return;
    known = when.to == kNever ? when.from : when.to;
    for (const core::Traffic* traffic : traffics) {
      first.push_back(static_cast<u32>(plans.size()));
      targets.resize(terminals);
      for (u32 s = 0; s < traffic->streams(); ++s) {
        plans.push_back(traffic->stream(s));
        if (const u32 target = plans.back().destination; target < terminals) targets[target] = 1;
      }
      // One of a time is over then, whatever others do.
      if (const Tick to = traffic->disturbance().to; to != kNever) known = std::max(known, to);
    }
    streams.resize(plans.size());
    begin = known;
    clear();
    victims.assign(terminals, stats::Histogram(bits(terminals), kLongest));
  }

  void burnt(u32 traffic, u32 stream, u32 flits, Tick now) noexcept {
    const u32 at = first[traffic] + stream;
    Stream& its = streams[at];
    const core::Traffic::Stream& plan = plans[at];
    const bool was_open = its.flits < plan.flits;
    its.flits += flits;
    if (now <= plan.to) its.timely += flits;
    its.last = std::max(its.last, now);
    if (when.to != kNever || plan.flits == 0) return;
    known = std::max(known, now);
    if (!was_open || its.flits < plan.flits || ++complete < of_amount()) return;
    close(known);
  }
  /// Who sends to a receiver of the disturbance is no victim there: the link is taken.
  void suffered(const core::Packet& packet, Tick now) {
    longest = std::max<u64>(longest, packet.flits);
    if (targets[packet.destination] != 0 || packet.birth < when.from || packet.birth > closed) return;
    if (packet.birth <= known) {
      victims[packet.source].add(now - packet.birth);
    } else if (when.to == kNever) {
      late.push_back({packet.birth, now - packet.birth, packet.source});
      if (late.size() >= patience) sift();
    }
  }
  /// Streams of a known length, whose last arrival ends the disturbance where that is not a time.
  [[nodiscard]] u64 of_amount() const noexcept {
    return static_cast<u64>(
        std::count_if(plans.begin(), plans.end(), [](const auto& plan) { return plan.flits != 0; }));
  }
  /// The disturbance was over at `end`.
  void close(Tick end) {
    known = std::max(known, end);
    closed = known;
    sift();
  }
  /// Those that are known to be victims by now count, others that are known not to be go.
  void sift() {
    std::erase_if(late, [&](const Late& one) {
      if (one.birth <= known) victims[one.source].add(one.latency);
      return one.birth <= known || one.birth > closed;
    });
    patience = std::max<u64>(kPatience, 2 * late.size());
  }
  void clear() {
    streams.assign(streams.size(), {});
    for (stats::Histogram& victim : victims) victim = stats::Histogram(bits(victims.size()), kLongest);
    late.clear();
    longest = 0;
    complete = 0;
    known = begin;
    closed = when.to;
    patience = kPatience;
  }
  void merge(const FireRecord& other) {
    if (first.empty()) {
      *this = other;
      return;
    }
    FireProgress::merge(other);
    for (std::size_t i = 0; i < other.victims.size(); ++i) victims[i].merge(other.victims[i]);
    late.insert(late.end(), other.late.begin(), other.late.end());
    complete += other.complete;  // what one stream sends arrives in one shard
    known = std::max(known, other.known);
    closed = std::min(closed, other.closed);
  }
  void archive(Archive& a) {
    a(when, first, streams, targets, victims, late, longest, begin, known, closed, complete, patience);
  }

  static constexpr u64 kPatience = 4096;

  core::Disturbance when;
  std::vector<u32> first;                    ///< [traffic]: its first stream
  std::vector<core::Traffic::Stream> plans;  ///< of all traffics
  std::vector<u8> targets;                   ///< [terminal]: a stream goes there
  std::vector<stats::Histogram> victims;     ///< [source terminal]: latencies of packets born during the disturbance
  std::vector<Late> late;                    ///< where no time ends it
  Tick begin = 0;                            ///< `known` at the start
  Tick known = 0;                            ///< it lasts until then, at least
  Tick closed = kNever;                      ///< it lasts no longer
  u64 complete = 0;                          ///< streams of a known length that are
  u64 patience = kPatience;                  ///< of those that are late, before they are looked through
};

}  // namespace banyan::engine
