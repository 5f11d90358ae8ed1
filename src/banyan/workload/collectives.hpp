// Collective operations as schedules: which messages each rank sends and receives, and what each waits for, by
// algorithm.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "banyan/base/types.hpp"
#include "banyan/config/schema.hpp"
#include "banyan/workload/collective_plan.hpp"
#include "banyan/workload/schedule.hpp"

namespace banyan::workload {

enum class Collective : u8 {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  gather,
  scatter,
  all_to_all,
  barrier,
};

enum class Algorithm : u8 {
  automatic,  ///< by size and number of members, as libraries choose: see choose_algorithm()
  ring,
  recursive_doubling,
  halving_doubling,
  bruck,
  binomial,
  double_binary_tree,
  pairwise,
  linear,
  dissemination,
  hierarchical,
  in_network,  ///< the switches reduce; not of append_collective()
};

/// One collective operation. `bytes` is the whole vector: what every member has of an all_reduce, a reduce_scatter or a
/// reduce, what each has in the end of an all_gather, what the root has of a broadcast, a scatter or (in the end) a
/// gather, and what each member has for all members, itself included, of an all_to_all. Where it falls into one block
/// per member (all_gather, reduce_scatter, gather, scatter, all_to_all), the first ones are a byte longer if it does
/// not divide.
struct CollectiveOperation {
  Collective collective = Collective::all_reduce;
  Algorithm algorithm = Algorithm::automatic;
  u64 bytes = 0;
  u32 segments = 1;
  u32 root = 0;   ///< index of a member: of broadcast, reduce, gather and scatter
  u32 group = 1;  ///< hierarchical: members per group; the last group has the rest
};

[[nodiscard]] std::string_view name_of(Collective collective) noexcept;
[[nodiscard]] std::string_view name_of(Algorithm algorithm) noexcept;
[[nodiscard]] std::optional<Collective> collective_named(std::string_view name) noexcept;
[[nodiscard]] std::optional<Algorithm> algorithm_named(std::string_view name) noexcept;
[[nodiscard]] std::vector<std::string> collective_names();
/// The algorithms of one collective, "automatic" included.
[[nodiscard]] std::vector<std::string> algorithm_names(Collective collective);
[[nodiscard]] bool has_algorithm(Collective collective, Algorithm algorithm) noexcept;
/// Whether one member is special: CollectiveOperation::root.
[[nodiscard]] bool has_root(Collective collective) noexcept;
/// Whether switches can do it for all ranks of a job: Algorithm::in_network, which the two above leave out.
[[nodiscard]] bool has_in_network(Collective collective) noexcept;

/// What Algorithm::automatic stands for: the thresholds of MPICH (Thakur, Rabenseifner and Gropp, 2005).
[[nodiscard]] Algorithm choose_algorithm(Collective collective, u64 bytes, u32 members) noexcept;

/// The algorithm of an operation; of an automatic one that which is chosen.
[[nodiscard]] Algorithm algorithm_of(const CollectiveOperation& operation, u32 members) noexcept;

/// Pieces of data that the members hold together: what making the schedule takes memory for, beside the schedule.
[[nodiscard]] u64 tracked_pieces(const CollectiveOperation& operation, u32 members) noexcept;
/// Above that number a collective is refused: a ring of 4,096 members has as many pieces, and 67 million operations.
inline constexpr u64 kMostPieces = 1ULL << 24U;

/// Adds the operations of a collective among `place.members`. The algorithm must be one of has_algorithm().
CollectiveEnd append_collective(ScheduleBuilder& schedule, const CollectiveOperation& operation,
                                const CollectivePlace& place);

/// Adds what one rank does in a collective of all ranks that switches reduce: a contribution per segment, which it
/// sends to itself with tags from `tag` on (ReplayOptions::reduces), each when the sum of the one before is there. The
/// first begins after `after`, what is kNone left out. Returns the receive of the last sum.
u32 append_contributions(ScheduleBuilder& schedule, u32 rank, u64 bytes, u32 segments, u32 tag,
                         std::array<u32, 2> after);

/// The parameters of `generator = { collective = ..., ... }`.
[[nodiscard]] const config::ComponentInfo& collective_info();
/// The schedule that such a table describes. Throws ConfigError where the parameters do not fit each other. In the
/// network, a rank sends its contributions to itself, one after the other (ReplayOptions::reduces).
[[nodiscard]] Schedule make_collective(const config::Values& values);

}  // namespace banyan::workload
