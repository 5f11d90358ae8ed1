#include "banyan/workload/netrace.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/base/pages.hpp"
#include "banyan/workload/compressed.hpp"
#include "banyan/workload/formats.hpp"

namespace banyan::workload {
namespace netrace {
namespace {

// Layout, little-endian and packed (netrace.h). Header: magic (u32), version (float), name of the benchmark (30 bytes),
// nodes (u8), 1 byte, cycles (u64), packets (u64), length of the notes (u32), regions (u32), 8 bytes; the notes; 24
// bytes per region. A packet: cycle (u64), number (u32), address (u32), type, source, destination, kinds of nodes,
// number of those that wait for it (u8 each); their numbers (u32 each). Packets come in the order of their cycles.
constexpr u32 kMagic = 0x484A5455;
constexpr std::size_t kHeader = 72;
constexpr std::size_t kRegion = 24;
constexpr std::size_t kPacket = 21;
constexpr u8 kClockCore = 1;  ///< core 0 sends and receives
constexpr u64 kLastCycle = u64{1} << 62U;

/// Bytes by type of packet: 8 of address and command, and 64 of data where there are any; 0: no such type.
constexpr std::array<u8, 31> kBytes{0,  8, 72, 72, 72, 8, 72, 0, 0, 0, 0, 0, 0, 8, 8, 8,
                                    72, 0, 0,  0,  0,  0, 0,  0, 0, 8, 0, 8, 8, 8, 72};

template <typename T>
T load(const char* at) noexcept {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// A packet that others wait for, or that waits for others.
struct Wait {
  u32 packet = 0;   ///< number of the one that waits
  u32 rank = 0;     ///< where the other one arrives
  u32 arrival = 0;  ///< operation of that rank
  std::size_t at = 0;
};

struct Sent {
  u32 packet = 0;
  u32 rank = 0;
  u32 operation = 0;
};

class Reader {
 public:
  Reader(const std::string& path, NetraceNotes* notes)
      : path_(path), notes_(notes), bytes_(read_uncompressed(path)), builder_(0) {}

  ScheduleBuilder read() {
    read_header();
    while (at_ < bytes_.size()) read_packet();
    if (packets_ != announced_) {
      refuse(fmt::format("{} packets are announced, and {} are there", announced_, packets_));
    }
    connect();
    if (notes_ != nullptr) notes_->packets = packets_;
    return std::move(builder_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what,
                           const char* remedy = "give the whole file, as the tracer wrote it") const {
    throw ConfigError({path_, 0, 0, ""}, fmt::format("byte {}: {}", at_, what), remedy);
  }
  void need(std::size_t bytes, const char* what) const {
    if (bytes_.size() - at_ < bytes) refuse(fmt::format("the file is cut short in {}", what));
  }

  void read_header() {
    need(kHeader, "its header");
    const char* const header = bytes_.data();
    if (load<u32>(header) != kMagic) {
      refuse("this is no netrace file, which a file in bzip2 is taken for",
             "uncompress a workload of another kind first");
    }
    const float version = load<float>(header + 4);
    if (version != 1.0F)
      refuse(fmt::format("version {} of the format is not known", version), "give a trace of version 1.0");
    nodes_ = static_cast<unsigned char>(header[38]);
    if (nodes_ == 0) refuse("the trace has no nodes");
    announced_ = load<u64>(header + 48);
    const u32 notes = load<u32>(header + 56);
    const u32 regions = load<u32>(header + 60);
    if (notes_ != nullptr) notes_->benchmark = std::string(header + 8, strnlen(header + 8, 30));
    at_ = kHeader;
    // The reference reader skips the notes only where they have fewer than 8,192 bytes; longer ones are not written.
    if (notes >= 8192) refuse(fmt::format("{} bytes of notes are announced", notes));
    need(notes, "its notes");
    at_ += notes;
    if (regions > 100) refuse(fmt::format("{} regions are announced", regions));
    need(regions * kRegion, "its regions");
    at_ += regions * kRegion;
    builder_ = ScheduleBuilder(nodes_);
    clocks_.assign(nodes_, {});
    reserve();
    reserve_pages(sent_, std::min<u64>(announced_, bytes_.size() / kPacket));
  }

  /// Room for what the packets say, as far as they are sound: read_packet() looks.
  void reserve() {
    std::vector<std::array<u32, 2>> of_node(nodes_);  // what it sends, and receives
    u64 waiting = 0;
    for (std::size_t at = at_; bytes_.size() - at >= kPacket;) {
      const auto byte = [&](std::size_t offset) { return static_cast<unsigned char>(bytes_[at + offset]); };
      if (byte(17) >= nodes_ || byte(18) >= nodes_) break;
      ++of_node[byte(17)][0];
      ++of_node[byte(18)][1];
      waiting += byte(20);
      const std::size_t length = kPacket + std::size_t{4} * byte(20);
      if (bytes_.size() - at < length) break;
      at += length;
    }
    // A departure is a calculation of the clock and two dependencies.
    for (u32 n = 0; n < nodes_; ++n)
      builder_.reserve(n, 2 * of_node[n][0] + of_node[n][1], 2 * of_node[n][0] + of_node[n][1]);
    reserve_pages(waits_, waiting);
  }

  void read_packet() {
    need(kPacket, "a packet");
    const char* const packet = bytes_.data() + at_;
    const u64 cycle = load<u64>(packet);
    const u32 number = load<u32>(packet + 8);
    const auto type = static_cast<unsigned char>(packet[16]);
    const u32 from = static_cast<unsigned char>(packet[17]);
    const u32 to = static_cast<unsigned char>(packet[18]);
    const u32 waiting = static_cast<unsigned char>(packet[20]);
    if (type >= kBytes.size() || kBytes[type] == 0)
      refuse(fmt::format("packet {} is of the unknown type {}", number, type));
    if (from >= nodes_ || to >= nodes_) {
      refuse(fmt::format("packet {} goes from node {} to {}, and there are {}", number, from, to, nodes_));
    }
    if (cycle < cycle_) refuse(fmt::format("packet {} is of cycle {}, behind one of {}", number, cycle, cycle_));
    if (cycle > kLastCycle) refuse(fmt::format("packet {} is of cycle {}", number, cycle));
    if (packets_ >= (1U << 30U)) refuse("the trace has more than 2^30 packets", "give a part of it");
    cycle_ = cycle;
    const std::size_t begin = at_;
    at_ += kPacket;
    need(std::size_t{4} * waiting, "the packets that wait for one");

    const u32 due = clock(from, cycle);
    u32 departure = 0;
    u32 arrival = 0;
    if (from == to) {
      departure = arrival = builder_.calculate(from, 0);
      if (notes_ != nullptr) ++notes_->local;
    } else {
      departure = builder_.send(from, kBytes[type], to, packets_);
      arrival = builder_.receive(to, kBytes[type], from, packets_);
    }
    if (due != kNone) builder_.after_end(from, departure, due);
    sent_.push_back({number, from, departure});
    for (u32 k = 0; k < waiting; ++k, at_ += 4) {
      waits_.push_back({load<u32>(bytes_.data() + at_), to, arrival, begin});
    }
    ++packets_;
  }

  /// The operation that ends at that cycle: the clock of a rank is a core that computes from one departure to the next.
  u32 clock(u32 rank, u64 cycle) {
    Clock& clock = clocks_[rank];
    if (cycle > clock.cycle) {
      const u32 next = builder_.calculate(rank, cycle - clock.cycle, kClockCore);
      if (clock.operation != kNone) builder_.after_end(rank, next, clock.operation);
      clock = {cycle, next};
    }
    return clock.operation;
  }

  void connect() {
    const auto by_number = [](const Sent& a, const Sent& b) { return a.packet < b.packet; };
    if (!std::is_sorted(sent_.begin(), sent_.end(), by_number)) std::stable_sort(sent_.begin(), sent_.end(), by_number);
    for (std::size_t i = 1; i < sent_.size(); ++i) {
      if (sent_[i].packet == sent_[i - 1].packet)
        refuse(fmt::format("two packets have the number {}", sent_[i].packet));
    }
    u32 tag = packets_;
    for (const Wait& wait : waits_) {
      const Sent* const found = find(wait.packet);
      if (found == nullptr) {
        at_ = wait.at;
        refuse(fmt::format("packet {} waits for this one, and is not there", wait.packet));
      }
      u32 cleared = wait.arrival;
      if (wait.rank != found->rank) {
        // It hears of the arrival elsewhere by a message of no bytes.
        const u32 notice = builder_.send(wait.rank, 0, found->rank, tag);
        builder_.after_end(wait.rank, notice, wait.arrival);
        cleared = builder_.receive(found->rank, 0, wait.rank, tag++);
        if (notes_ != nullptr) ++notes_->notices;
      }
      builder_.after_end(found->rank, found->operation, cleared);
    }
  }

  /// Among the packets in the order of their numbers, which mostly have no gaps.
  [[nodiscard]] const Sent* find(u32 packet) const {
    const u64 guess = u64{packet} - sent_.front().packet;
    if (guess < sent_.size() && sent_[guess].packet == packet) return &sent_[guess];
    const auto found = std::lower_bound(sent_.begin(), sent_.end(), packet,
                                        [](const Sent& sent, u32 number) { return sent.packet < number; });
    return found == sent_.end() || found->packet != packet ? nullptr : &*found;
  }

  struct Clock {
    u64 cycle = 0;
    u32 operation = kNone;
  };

  const std::string& path_;
  NetraceNotes* notes_;
  std::string bytes_;
  std::size_t at_ = 0;
  ScheduleBuilder builder_;
  u32 nodes_ = 0;
  u64 announced_ = 0;
  u32 packets_ = 0;
  u64 cycle_ = 0;
  std::vector<Clock> clocks_;
  std::vector<Sent> sent_;
  std::vector<Wait> waits_;
};

bool recognizes(const std::string& path, std::string_view start) {
  static_cast<void>(path);
  return is_bzip2(start) || is_netrace(start);
}

Program read_program(const std::string& path) { return Program(Reader(path, nullptr).read(), path); }

}  // namespace
}  // namespace netrace

const Format format_netrace = {"netrace", "netrace (bzip2)", &netrace::recognizes, &netrace::read_program};

bool is_netrace(std::string_view start) noexcept {
  return start.size() >= 4 && netrace::load<u32>(start.data()) == netrace::kMagic;
}

Schedule read_netrace(const std::string& path, NetraceNotes* notes) {
  return netrace::Reader(path, notes).read().build();
}

}  // namespace banyan::workload
