#include "banyan/workload/program.hpp"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <utility>

#include "banyan/base/error.hpp"
#include "banyan/base/hash.hpp"

namespace banyan::workload {
namespace {

constexpr std::size_t kCookie = 8;
constexpr std::size_t kHead = kCookie + 4 + 1 + 1;
constexpr std::size_t kSpan = 16;  ///< begin and end of a rank's part

/// Memory that is not cleared, and in large pages where the system has some: each of the small ones would be a fault.
EncodedBytes room_for(std::size_t bytes) {
  constexpr std::size_t kPage = std::size_t{1} << 21U;
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + 63) / 64 * 64;
  auto* const room = static_cast<char*>(std::aligned_alloc(
      rounded < kPage ? 64 : kPage, rounded < kPage ? rounded : (rounded + kPage - 1) / kPage * kPage));
  if (room == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (rounded >= kPage) static_cast<void>(madvise(room, rounded, MADV_HUGEPAGE));
#endif
  return EncodedBytes(room);
}

/// Writes the layout into bytes whose number is known.
class Encoder {
 public:
  explicit Encoder(std::size_t bytes) : bytes_(room_for(bytes)) {}
  template <class T>
  void put(T value) noexcept {
    put_at(at_, value);
    at_ += sizeof value;
  }
  template <class T>
  void put_at(std::size_t at, T value) noexcept {
    std::memcpy(bytes_.get() + at, &value, sizeof value);
  }
  [[nodiscard]] std::size_t size() const { return at_; }
  [[nodiscard]] EncodedBytes take() { return std::move(bytes_); }

 private:
  EncodedBytes bytes_;
  std::size_t at_ = 0;
};

u64 roots_of(const RankSchedule& rank) { return static_cast<u64>(std::ranges::count(rank.waits_for, 0U)); }

void encode_rank(const RankSchedule& rank, Encoder& out) {
  out.put(static_cast<u32>(rank.operations.size()));
  out.put(static_cast<u32>(roots_of(rank)));
  for (u32 i = 0; i < rank.operations.size(); ++i) {
    if (rank.waits_for[i] == 0) out.put(i);
  }
  std::vector<u32> dependents;
  dependents.reserve(rank.dependents.size());
  for (u32 i = 0; i < rank.operations.size(); ++i) {
    const Operation& operation = rank.operations[i];
    out.put(rank.waits_for[i]);
    out.put(static_cast<char>(static_cast<u8>(operation.kind) + 1));
    out.put(operation.peer);
    out.put(operation.amount);
    out.put(operation.tag);
    out.put(operation.cpu);
    out.put(operation.nic);
    const std::span<const Dependent> all = rank.dependents_of(i);
    for (const bool after_start : {false, true}) {
      const u32 first = static_cast<u32>(dependents.size());
      for (const Dependent& d : all) {
        if (d.after_start == after_start) dependents.push_back(d.operation);
      }
      out.put(static_cast<u32>(dependents.size()) - first);
      out.put(first);
    }
  }
  for (const u32 d : dependents) out.put(d);
}

}  // namespace

Program::Program(MappedFile file, const std::string& path)
    : path_(path), file_(std::move(file)), bytes_(file_.bytes()) {
  locate();
}

Program::Program(Schedule schedule, const std::string& path) : path_(path) {
  u64 operations = 0;
  u64 dependents = 0;
  for (const RankSchedule& rank : schedule.ranks) {
    operations += rank.operations.size();
    dependents += rank.dependents.size();
  }
  encode(static_cast<u32>(schedule.ranks.size()), operations, dependents,
         [&](u32 r) { return std::exchange(schedule.ranks[r], {}); });
}

Program::Program(ScheduleBuilder builder, const std::string& path) : path_(path) {
  u64 operations = 0;
  u64 dependents = 0;
  for (u32 r = 0; r < builder.ranks(); ++r) {
    operations += builder.operations(r);
    dependents += builder.dependencies(r);
  }
  encode(builder.ranks(), operations, dependents, [&](u32 r) { return builder.build(r); });
}

void Program::encode(u32 ranks, u64 operations, u64 dependents, const std::function<RankSchedule(u32)>& take) {
  // It begins as if all waited for nothing: pages that stay empty are never there.
  Encoder out(kHead + ranks * (kSpan + 8) + operations * (kRecord + 4) + dependents * 4);
  out.put(kGoalCookie);
  out.put(ranks);
  out.put(u8{0});
  out.put(u8{0});
  u8 cpu = 0;
  u8 nic = 0;
  for (std::size_t i = 0; i < std::size_t{ranks} * 2; ++i) out.put(u64{0});
  for (u32 r = 0; r < ranks; ++r) {
    const RankSchedule rank = take(r);
    for (const Operation& operation : rank.operations) {
      cpu = std::max(cpu, operation.cpu);
      nic = std::max(nic, operation.nic);
    }
    out.put_at(kHead + r * kSpan, u64{out.size() - kCookie});
    encode_rank(rank, out);
    out.put_at(kHead + r * kSpan + 8, u64{out.size() - kCookie});
  }
  out.put_at(kHead - 2, cpu);
  out.put_at(kHead - 1, nic);
  const std::size_t size = out.size();
  encoded_ = out.take();
  bytes_ = {encoded_.get(), size};
  locate();
}

void Program::refuse(const std::string& cause, const std::string& remedy) const {
  throw ConfigError({path_, 0, 0, ""}, cause, remedy);
}

void Program::locate() {
  const std::string whole = "give the whole file; a file cut short has lost its end";
  const std::string damaged = "write the file again from its text";
  const u64 size = bytes_.size();
  if (size < kHead) refuse(fmt::format("the file ends at byte {}, in its head of {} bytes", size, kHead), whole);
  const char* const base = bytes_.data() + kCookie;
  const u32 ranks = load<u32>(base);
  cores_ = static_cast<u8>(base[4]) + 1U;
  nics_ = static_cast<u8>(base[5]) + 1U;
  if (ranks == 0) refuse("a schedule of no ranks", "give a schedule of at least one rank");
  if ((size - kHead) / kSpan < ranks) {
    refuse(fmt::format("the file ends at byte {}, in the table of its {} ranks", size, ranks), whole);
  }
  parts_.resize(ranks);
  for (u32 r = 0; r < ranks; ++r) {
    const u64 begin = load<u64>(base + 6 + r * kSpan);
    const u64 end = load<u64>(base + 14 + r * kSpan);
    if (begin > end || begin + kCookie < kHead + ranks * kSpan) {
      refuse(fmt::format("the part of rank {} is said to lie from byte {} to byte {}", r, begin, end), damaged);
    }
    if (end > size - kCookie) {
      refuse(fmt::format("the file ends at byte {}, in the part of rank {}, which goes to byte {}", size, r,
                         end + kCookie),
             whole);
    }
    if (end - begin < 8) refuse(fmt::format("the part of rank {} has {} bytes", r, end - begin), damaged);
    const u64 operations = load<u32>(base + begin);
    const u64 roots = load<u32>(base + begin + 4);
    const u64 records = begin + 8 + roots * 4;
    if (records + operations * kRecord > end) {
      refuse(fmt::format("the part of rank {} has {} bytes, and {} operations do not fit", r, end - begin, operations),
             damaged);
    }
    parts_[r] = {operations_, static_cast<u32>(operations), base + records, base + records + operations * kRecord};
    operations_ += operations;
    check_rank(r, (end - records - operations * kRecord) / 4);
  }
}

void Program::check_rank(u32 rank, u64 dependents) {
  const Part& part = parts_[rank];
  const std::string damaged = "write the file again from its text";
  u64 sum = 0;  // of what each operation waits for, and of what waits for it: 0 when both agree
  for (u32 i = 0; i < part.operations; ++i) {
    passes(rank, i);
    const char* const at = part.records + i * kRecord;
    const auto at_fault = [&](const std::string& what) {
      refuse(fmt::format("operation {} of rank {} {}", i, rank, what), damaged);
    };
    const u32 kind = static_cast<u8>(at[4]);
    if (kind < 1 || kind > 3) at_fault(fmt::format("is of the unknown kind {}", kind));
    const u64 amount = load<u64>(at + 9);
    if (kind != 2) {  // a receive may have room for more than is sent
      u64& longest = kind == 3 ? longest_calculation_ : longest_message_;
      longest = std::max(longest, amount);
    }
    u64& total = totals_[kind - 1];
    total += amount;
    if (total < amount) {
      refuse(fmt::format("the {} of the schedule are more than 2^64 together, at operation {} of rank {}",
                         kind == 3   ? "nanoseconds of all computations"
                         : kind == 1 ? "bytes of all messages"
                                     : "bytes of all receives",
                         i, rank),
             "write shorter ones");
    }
    const u32 peer = load<u32>(at + 5);
    if (kind != 3 && peer >= ranks() && !(kind == 2 && peer == kAnyPeer)) {
      refuse(fmt::format("operation {} of rank {} {} rank {}, and the schedule has {} ranks", i, rank,
                         kind == 1 ? "sends to" : "receives from", peer, ranks()),
             "name a rank that is there");
    }
    if (kind != 3 && (static_cast<u8>(at[21]) >= cores_ || static_cast<u8>(at[22]) >= nics_))
      at_fault("has a core or a network interface above those that the head of the file names");
    sum -= mix64(i + 1) * load<u32>(at);
    for (const std::size_t field : {23U, 31U}) {
      const u64 count = load<u32>(at + field);
      if (count == 0) continue;
      const u64 first = load<u32>(at + field + 4);
      if (first + count > dependents) at_fault("has dependents beyond the end of its rank");
      const char* list = part.dependents + first * 4;
      for (u64 k = 0; k < count; ++k, list += 4) {
        const u32 dependent = load<u32>(list);
        if (dependent >= part.operations) at_fault(fmt::format("has the dependent {}, which is not there", dependent));
        sum += mix64(dependent + 1);
      }
    }
  }
  if (sum != 0) {
    refuse(fmt::format("in rank {} operations wait for another number of operations than there are", rank), damaged);
  }
}

u64 Program::hash() const noexcept {
  Hasher h;
  h.add(ranks());
  for (u32 r = 0; r < ranks(); ++r) {
    h.add(operations(r));
    for (u32 i = 0; i < operations(r); ++i) {
      passes(r, i);
      const Operation o = operation(r, i);
      h.add(u64{static_cast<u8>(o.kind)} << 48U | u64{o.cpu} << 40U | u64{o.nic} << 32U | o.peer);
      h.add(u64{o.tag} << 32U | waits_for(r, i));
      h.add(o.amount);
      for_each_after_start(r, i, [&](u32 d) { h.add(u64{d} << 1U | 1U); });
      for_each_after_end(r, i, [&](u32 d) { h.add(u64{d} << 1U); });
    }
  }
  return h.value();
}

}  // namespace banyan::workload
