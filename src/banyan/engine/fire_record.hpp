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

/// The record of one shard, or merged. All are integers: it does not matter in which order events come and shards
/// merge.
struct FireRecord {
  struct Stream {
    u64 flits = 0;   ///< that arrived
    u64 timely = 0;  ///< of those, before the end of the disturbance
    Tick last = 0;   ///< the latest arrival
  };
  /// Victims' latencies: buckets within 6 % are enough for a tail, of which there is one per terminal.
  static constexpr u32 kBits = 4;
  static constexpr u64 kLongest = u64{1} << 40U;

  FireRecord() = default;
  /// Nothing is recorded where no traffic disturbs.
  FireRecord(std::span<core::Traffic* const> traffics, u32 terminals) : when(disturbance_of(traffics)) {
    if (when.from == kNever) return;
    for (const core::Traffic* traffic : traffics) {
      first.push_back(static_cast<u32>(streams.size()));
      streams.resize(streams.size() + traffic->streams());
      targets.resize(terminals);
      for (u32 s = 0; s < traffic->streams(); ++s) {
        if (const u32 target = traffic->stream(s).destination; target < terminals) targets[target] = 1;
      }
    }
    victims.assign(terminals, stats::Histogram(kBits, kLongest));
  }

  void burnt(u32 traffic, u32 stream, u32 flits, Tick now) noexcept {
    Stream& its = streams[first[traffic] + stream];
    its.flits += flits;
    if (now <= when.to) its.timely += flits;
    its.last = std::max(its.last, now);
  }
  /// Who sends to a receiver of the disturbance is no victim there: the link is taken.
  void suffered(const core::Packet& packet, Tick now) noexcept {
    if (targets[packet.destination] != 0) return;
    if (packet.birth >= when.from && packet.birth <= when.to) victims[packet.source].add(now - packet.birth);
  }
  void clear() {
    streams.assign(streams.size(), {});
    for (stats::Histogram& victim : victims) victim = stats::Histogram(kBits, kLongest);
  }
  void merge(const FireRecord& other) {
    if (first.empty()) {
      *this = other;
      return;
    }
    for (std::size_t i = 0; i < other.streams.size(); ++i) {
      streams[i].flits += other.streams[i].flits;
      streams[i].timely += other.streams[i].timely;
      streams[i].last = std::max(streams[i].last, other.streams[i].last);
    }
    for (std::size_t i = 0; i < other.victims.size(); ++i) victims[i].merge(other.victims[i]);
  }
  void archive(Archive& a) { a(when, first, streams, targets, victims); }

  core::Disturbance when;
  std::vector<u32> first;                 ///< [traffic]: its first stream
  std::vector<Stream> streams;            ///< of all traffics
  std::vector<u8> targets;                ///< [terminal]: a stream goes there
  std::vector<stats::Histogram> victims;  ///< [source terminal]: latencies of packets born during the disturbance
};

}  // namespace banyan::engine
