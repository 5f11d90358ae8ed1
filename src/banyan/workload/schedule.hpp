// A schedule: what the ranks of a parallel program do, and what each operation waits for. Readers of files and
// generators of collectives build it through ScheduleBuilder; the host model runs it.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "banyan/base/pages.hpp"
#include "banyan/base/types.hpp"

namespace banyan::workload {

enum class OperationKind : u8 { send, receive, calculate };

/// Matches a send of any rank, or of any tag (Operation::peer, Operation::tag of a receive).
inline constexpr u32 kAnyPeer = std::numeric_limits<u32>::max();
inline constexpr u32 kAnyTag = std::numeric_limits<u32>::max();

struct Operation {
  OperationKind kind = OperationKind::calculate;
  u8 cpu = 0;      ///< the core of its host that it occupies
  u8 nic = 0;      ///< the network interface that a message passes
  u32 peer = 0;    ///< rank at the other end; kAnyPeer in a receive: of whoever sends
  u32 tag = 0;     ///< a send and a receive match when their tags are equal, or the receive's is kAnyTag
  u64 amount = 0;  ///< bytes of a message, nanoseconds of a calculation
};

/// The operations of one rank in the order of their numbers. Operation i is waited for by `dependents(i)`: those with
/// `after_start` may begin when i has begun, the others when i has ended.
struct Dependent {
  u32 operation = 0;
  bool after_start = false;
};

struct RankSchedule {
  std::vector<Operation> operations;
  std::vector<u64> first_dependent;  ///< operations.size() + 1 entries into `dependents`
  std::vector<Dependent> dependents;
  std::vector<u32> waits_for;  ///< number of operations that each one waits for

  [[nodiscard]] std::span<const Dependent> dependents_of(u32 operation) const noexcept {
    return std::span(dependents)
        .subspan(first_dependent[operation], first_dependent[operation + 1] - first_dependent[operation]);
  }
};

struct Schedule {
  std::vector<RankSchedule> ranks;
};

/// Collects operations in any order of ranks; operations of one rank are numbered from 0 in the order of the calls.
class ScheduleBuilder {
 public:
  explicit ScheduleBuilder(u32 ranks) : ranks_(ranks) {}

  [[nodiscard]] u32 ranks() const noexcept { return static_cast<u32>(ranks_.size()); }
  [[nodiscard]] u32 operations(u32 rank) const noexcept { return static_cast<u32>(ranks_[rank].operations.size()); }

  /// Room for so many, where they are known before.
  void reserve(u32 rank, std::size_t operations, std::size_t dependencies) {
    reserve_pages(ranks_[rank].operations, operations);
    reserve_pages(ranks_[rank].edges, dependencies);
  }

  /// Each returns the number of the new operation at its rank.
  u32 send(u32 rank, u64 bytes, u32 to, u32 tag, u8 cpu = 0, u8 nic = 0) {
    return add(rank, {OperationKind::send, cpu, nic, to, tag, bytes});
  }
  u32 receive(u32 rank, u64 bytes, u32 from, u32 tag, u8 cpu = 0, u8 nic = 0) {
    return add(rank, {OperationKind::receive, cpu, nic, from, tag, bytes});
  }
  u32 calculate(u32 rank, u64 nanoseconds, u8 cpu = 0) {
    return add(rank, {OperationKind::calculate, cpu, 0, 0, 0, nanoseconds});
  }

  /// `operation` of `rank` begins only when `earlier` has ended, or has begun.
  void after_end(u32 rank, u32 operation, u32 earlier) { ranks_[rank].edges.push_back({earlier, {operation, false}}); }
  void after_start(u32 rank, u32 operation, u32 earlier) { ranks_[rank].edges.push_back({earlier, {operation, true}}); }

  [[nodiscard]] std::size_t dependencies(u32 rank) const noexcept { return ranks_[rank].edges.size(); }

  /// What a rank does, and then all of them; what was built is gone from the builder.
  [[nodiscard]] RankSchedule build(u32 rank);
  [[nodiscard]] Schedule build();

 private:
  struct Edge {
    u32 earlier = 0;
    Dependent dependent;
  };
  struct Rank {
    std::vector<Operation> operations;
    std::vector<Edge> edges;
  };

  u32 add(u32 rank, const Operation& operation) {
    ranks_[rank].operations.push_back(operation);
    return static_cast<u32>(ranks_[rank].operations.size() - 1);
  }

  std::vector<Rank> ranks_;
};

}  // namespace banyan::workload
