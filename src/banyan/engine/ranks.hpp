// One network over several processes (ranks), docs/decisions/0009-one-network-over-ranks.md. Every rank runs the whole
// program on its own shards, and takes every decision from sums over all ranks: so all take the same ones, and no rank
// commands another. What carries bytes between ranks is a RankTransport, which nothing but its own file knows
// (src/banyan/mpi).
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/types.hpp"

namespace banyan::engine {

/// Carries bytes between processes that call swap() equally often.
class RankTransport {
 public:
  virtual ~RankTransport() = default;
  [[nodiscard]] virtual u32 rank() const = 0;
  [[nodiscard]] virtual u32 size() const = 0;
  /// Sends out[r] to rank r, and returns when every other rank's text for this one is in in[r]. [rank()] of both is not
  /// looked at.
  virtual void swap(const std::vector<std::string>& out, std::vector<std::string>& in) = 0;
};

/// How a process ends that cannot go on.
struct RankFailure {
  u32 rank = 0;
  int status = 1;      ///< to exit with
  std::string reason;  ///< what its user is told

  void archive(Archive& a) { a(rank, status, reason); }
};

/// Another rank has failed: this one ends too.
class RankFailed : public std::runtime_error {
 public:
  explicit RankFailed(RankFailure failure) : std::runtime_error(failure.reason), failure_(std::move(failure)) {}
  [[nodiscard]] const RankFailure& failure() const noexcept { return failure_; }

 private:
  RankFailure failure_;
};

class Ranks {
 public:
  explicit Ranks(RankTransport& transport);

  [[nodiscard]] u32 rank() const noexcept { return rank_; }
  [[nodiscard]] u32 size() const noexcept { return size_; }
  /// The shards of a rank are those from first() on that are before first() of the next one.
  [[nodiscard]] u32 first(u32 rank, u32 shards) const noexcept { return static_cast<u32>(u64{shards} * rank / size_); }

  /// The rank of a shard.
  [[nodiscard]] u32 rank_of(u32 shard, u32 shards) const noexcept {
    return static_cast<u32>((u64{shard} * size_ + size_ - 1) / shards);
  }

  /// The text that goes to a rank with the next exchange(): to be appended to.
  [[nodiscard]] std::string& to(u32 rank) noexcept { return out_[rank]; }
  /// The text that came from a rank with the last exchange(), behind its kind.
  [[nodiscard]] const std::string& from(u32 rank) const noexcept { return in_[rank]; }
  static constexpr std::size_t kHeader = 1;  ///< bytes of from() that are no payload

  /// Meets all other ranks. Throws RankFailed when one of them came to tell that it has failed.
  void exchange() { meet(Kind::window); }

  /// What sum() does with lists: one behind the other.
  static constexpr auto kJoin = [](auto& all, const auto& more) { all.insert(all.end(), more.begin(), more.end()); };

  /// Adds up a value of every rank, in the order of ranks: `add(sum, theirs)`. Every rank returns the same.
  template <class T, class Add>
  [[nodiscard]] T sum(T mine, Add&& add) {
    ArchiveToText written;
    written(mine);
    const std::string text = written.take();
    for (u32 r = 0; r < size_; ++r) {
      if (r != rank_) to(r) += text;
    }
    meet(Kind::sum);
    T theirs = mine;
    T all = rank_ == 0 ? mine : read(0, theirs);
    for (u32 r = 1; r < size_; ++r) add(all, r == rank_ ? mine : read(r, theirs));
    return all;
  }

  /// Tells all other ranks, in place of the next exchange or sum, that this one cannot go on. Of several that fail
  /// together the first is returned: it is the one to tell its user.
  [[nodiscard]] RankFailure fail(int status, const std::string& reason);

 private:
  enum class Kind : char { window = 'w', sum = 's', failure = 'f' };

  void begin();
  void meet(Kind kind);
  template <class T>
  T& read(u32 rank, T& into) {
    ArchiveOfText text(in_[rank], kHeader);
    text(into);
    return into;
  }

  RankTransport& transport_;
  u32 rank_;
  u32 size_;
  std::vector<std::string> out_;
  std::vector<std::string> in_;
};

}  // namespace banyan::engine
