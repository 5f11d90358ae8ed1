// A schedule as it is run: the bytes of a GOAL binary file, mapped where they lie or encoded in memory, so that a large
// file takes no memory but for what is being read of it.
//
// Layout, little-endian: cookie (u64); ranks (u32); highest numbers of a core and of a network interface (u8 each); for
// each rank begin and end of its part (u64 each), counted from behind the cookie. The part of a rank: number of
// operations and of those that wait for nothing (u32 each); the numbers of the latter (u32 each); the operations, 39
// bytes each; the numbers of dependents (u32 each), to which the operations point.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "banyan/base/mapped_file.hpp"
#include "banyan/workload/schedule.hpp"

namespace banyan::workload {

/// An operation of a program.
struct Place {
  u32 rank = 0;
  u32 operation = 0;
  bool operator==(const Place&) const = default;
};

/// The bytes of a schedule that was encoded in memory.
struct Freed {
  void operator()(char* bytes) const noexcept { std::free(bytes); }
};
using EncodedBytes = std::unique_ptr<char[], Freed>;

class Program {
 public:
  Program() = default;
  /// Takes the bytes as they are. Throws ConfigError, with the byte, where they are no program: a file cut short, a
  /// rank or an operation that is not there, an operation that waits for another number of operations than there are.
  explicit Program(MappedFile file, const std::string& path);
  /// Throws ConfigError, naming `path`, where a send or a receive has a peer that is not there.
  Program(Schedule schedule, const std::string& path);
  /// Encodes what was built rank by rank, so that no more than one of them is there twice.
  Program(ScheduleBuilder builder, const std::string& path);

  [[nodiscard]] u32 ranks() const noexcept { return static_cast<u32>(parts_.size()); }
  [[nodiscard]] u32 operations(u32 rank) const noexcept { return parts_[rank].operations; }
  [[nodiscard]] u64 operations() const noexcept { return operations_; }
  /// One more than the highest number of a core, and of a network interface.
  [[nodiscard]] u32 cores() const noexcept { return cores_; }
  [[nodiscard]] u32 nics() const noexcept { return nics_; }
  /// The most bytes that are sent in a message, and the longest calculation in nanoseconds.
  [[nodiscard]] u64 longest_message() const noexcept { return longest_message_; }
  [[nodiscard]] u64 longest_calculation() const noexcept { return longest_calculation_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }

  [[nodiscard]] Operation operation(u32 rank, u32 i) const noexcept {
    const char* const at = record(rank, i);
    return {static_cast<OperationKind>(at[4] - 1),
            static_cast<u8>(at[21]),
            static_cast<u8>(at[22]),
            load<u32>(at + 5),
            load<u32>(at + 17),
            load<u64>(at + 9)};
  }
  /// The processor is to fetch an operation that will be asked for soon; `i` may be beyond the last.
  void fetch(u32 rank, u32 i) const noexcept { __builtin_prefetch(record(rank, std::min(i, parts_[rank].operations))); }
  [[nodiscard]] u32 waits_for(u32 rank, u32 i) const noexcept { return load<u32>(record(rank, i)); }

  /// Calls f(operation) for each that may begin when `i` has begun, or has ended, in their order.
  template <class F>
  void for_each_after_start(u32 rank, u32 i, F&& f) const {
    for_each(rank, record(rank, i) + 31, std::forward<F>(f));
  }
  template <class F>
  void for_each_after_end(u32 rank, u32 i, F&& f) const {
    for_each(rank, record(rank, i) + 23, std::forward<F>(f));
  }

  /// A hash of ranks, operations and dependencies: equal for a text and its binary.
  [[nodiscard]] u64 hash() const noexcept;
  /// See MappedFile; const, since a page that is read again holds the same.
  void release_pages() const noexcept { file_.release_pages(); }
  /// For loops over all operations in their order: no more of a large file is held than was looked at last.
  void passes(u32 rank, u32 i) const noexcept {
    constexpr u64 kPeriod = u64{1} << 22U;
    if ((parts_[rank].before + i) % kPeriod == 0) release_pages();
  }

 private:
  struct Part {
    u64 before = 0;  ///< operations of the ranks before
    u32 operations = 0;
    const char* records = nullptr;
    const char* dependents = nullptr;
  };
  static constexpr std::size_t kRecord = 39;

  template <class T>
  [[nodiscard]] static T load(const char* at) noexcept {
    static_assert(std::endian::native == std::endian::little, "the layout is that of little-endian machines");
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  [[nodiscard]] const char* record(u32 rank, u32 i) const noexcept { return parts_[rank].records + i * kRecord; }
  template <class F>
  void for_each(u32 rank, const char* at, F&& f) const {
    const u32 count = load<u32>(at);
    if (count == 0) return;
    const char* dependents = parts_[rank].dependents + std::size_t{load<u32>(at + 4)} * 4;
    for (u32 k = 0; k < count; ++k, dependents += 4) f(load<u32>(dependents));
  }
  void encode(u32 ranks, u64 operations, u64 dependents, const std::function<RankSchedule(u32)>& take);
  void locate();
  void check_rank(u32 rank, u64 dependents);
  [[noreturn]] void refuse(const std::string& cause, const std::string& remedy) const;

  std::string path_;
  MappedFile file_;
  EncodedBytes encoded_;
  std::string_view bytes_;  ///< of one of the two
  std::vector<Part> parts_;
  u64 operations_ = 0;
  u32 cores_ = 1;
  u32 nics_ = 1;
  u64 longest_message_ = 0;
  u64 longest_calculation_ = 0;
  std::array<u64, 3> totals_{};  ///< [OperationKind]: bytes, or ns
};

/// The first bytes of every file in this layout.
inline constexpr u64 kGoalCookie = 4223;

/// The same schedule as text.
[[nodiscard]] std::string to_goal_text(const Program& program);

}  // namespace banyan::workload
