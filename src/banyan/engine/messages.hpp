// Messages of several packets of which some have arrived at a terminal of a shard, and others have not.
#pragma once

#include "banyan/base/archive.hpp"
#include "banyan/base/flat_map.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/core/packet.hpp"

namespace banyan::engine {

class PartialMessages {
 public:
  /// Adds a packet that arrived at `now`; `first`: when the first packet of its message did. True when it completes
  /// the message, whatever the order in which its packets came.
  bool add(const core::Packet& packet, Tick now, Tick& first) {
    const Key key{packet.source, packet.destination, packet.message, packet.traffic};
    Part& part = parts_[key];
    if (part.flits == 0) part.first = now;
    part.flits += packet.flits;
    first = part.first;
    if (part.flits != packet.message_flits) return false;
    parts_.erase(key);
    return true;
  }

  void clear() { parts_.clear(); }

  [[nodiscard]] u64 digest() const noexcept {
    u64 sum = 0;
    parts_.for_each([&](const Key& key, const Part& part) {
      Hasher h;
      for (const u64 v :
           {u64{key.source}, u64{key.destination}, u64{key.message}, u64{key.traffic}, u64{part.flits}, part.first})
        h.add(v);
      sum += h.value();
    });
    return sum;
  }

  void archive(Archive& a) { a(parts_); }

 private:
  struct Key {
    u32 source = kNone;
    u32 destination = kNone;
    u32 message = kNone;
    u32 traffic = kNone;

    friend bool operator==(const Key&, const Key&) = default;
    [[nodiscard]] u64 hash() const noexcept {
      const u64 ends = mix64(static_cast<u64>(source) << 32U | destination);
      return mix64(ends + (static_cast<u64>(traffic) << 32U | message));
    }
  };
  struct Part {
    u64 flits = 0;  ///< that arrived
    Tick first = 0;
  };

  FlatMap<Part, Key> parts_{256};
};

}  // namespace banyan::engine
