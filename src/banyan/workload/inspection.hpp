// What a schedule says without being run: what is in it, whether sends and receives belong together, whether it can be
// done at all, and how long it takes on a network and on hosts that take no time.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "banyan/workload/program.hpp"

namespace banyan::workload {

/// Sends (or receives) of `rank` to (from) `peer` with `tag` that have no counterpart.
struct Unmatched {
  bool send = false;
  u32 rank = 0;
  u32 peer = 0;  ///< kAnyPeer: of any rank
  u32 tag = 0;   ///< kAnyTag: of any tag
  u64 count = 0;
};

/// Messages of one size from one rank to another.
struct LargeMessage {
  u64 bytes = 0;
  u32 from = 0;
  u32 to = 0;
  u64 count = 0;
};

struct Pair {
  u32 from = 0;
  u32 to = 0;
  u64 messages = 0;
  u64 bytes = 0;
};

struct Contents {
  std::array<u64, 3> operations{};  ///< [OperationKind]
  u64 bytes = 0;                    ///< of all sends
  u64 received = 0;                 ///< of all receives
  u64 calculated = 0;               ///< ns
  u64 dependencies = 0;
  u64 longest = 0;  ///< bytes of a send
};

[[nodiscard]] Contents contents_of(const Program& program);

/// All that can be known before a run: where wildcards of both kinds compete for the messages of a rank, what is left
/// over on both sides is not told. In the order of ranks.
[[nodiscard]] std::vector<Unmatched> unmatched_of(const Program& program);

/// The pairs of ranks that exchange most bytes, and the largest messages, at most `most` each.
struct Exchange {
  u64 pairs = 0;  ///< that exchange anything
  std::vector<Pair> busiest;
  std::vector<LargeMessage> largest;
};
[[nodiscard]] Exchange exchange_of(const Program& program, std::size_t most);

/// A run in which only calculations take time, each rank does as much at once as it may, and messages are there at
/// once; a send of more bytes than `eager` ends when its receive has begun.
struct Untimed {
  u64 length = 0;            ///< ns, of the longest chain
  std::vector<Place> chain;  ///< its operations, first to last; empty where it was not asked for
  u64 done = 0;              ///< operations
  std::vector<Place> cycle;  ///< each waits for the next, the last for the first
  std::vector<Place> stuck;  ///< without a cycle: the first operations that wait for what never comes
  /// It did not end, and with other times other sends and receives might meet and all operations end: `stuck` has what
  /// waits in this run.
  bool open = false;
  u64 shorter = 0;                        ///< receives of fewer bytes than the message that they met
  std::pair<Place, Place> short_receive;  ///< the first of them, behind its send
};
[[nodiscard]] Untimed run_untimed(const Program& program, bool with_chain, u64 eager = ~u64{0});

/// "rank 3, operation 7 (recv 64b from 2 tag 5)": operations of a rank are numbered from 0, as in JSON.
[[nodiscard]] std::string to_text(const Program& program, Place place);
[[nodiscard]] std::string to_text(const Unmatched& unmatched);

/// "2 receives are shorter than what is sent to them, the first: ..."; "" where none is.
[[nodiscard]] std::string short_receives_text(const Program& program, const Untimed& untimed);

/// Whether the nth send of a pair and tag meets the nth receive whatever takes how long: there are no wildcards, and
/// dependencies give such sends, and such receives, an order. False, too, where that takes too long to find out.
[[nodiscard]] bool meets_in_one_order(const Program& program);

/// The run without a network, or ConfigError where sends and receives do not match or operations wait for each other in
/// a circle, whatever takes how long. Sends above the eager limit are part of such a circle where it does not depend on
/// time who meets whom.
Untimed require_sound(const Program& program, u64 eager = ~u64{0});

}  // namespace banyan::workload
