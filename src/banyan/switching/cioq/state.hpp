// What ports of CIOQ switches hold: packets in queues that share a memory, and the CAM lines of set-aside queues.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/pages.hpp"
#include "banyan/base/types.hpp"
#include "banyan/switching/parts/marking.hpp"

namespace banyan::switching::cioq {

enum class Organization : u8 { one, voqsw, voqnet, dbbm, recn_basic, recn_enhanced };

/// The parameters of the model, in bytes, packets, cycles (a byte on a link) and parts of a cycle.
struct Plan {
  Organization organization = Organization::recn_enhanced;
  u32 memory = 32'768;  ///< of a port, bytes
  u32 packet = 64;      ///< longest packet, bytes
  u32 overhead = 6;     ///< bytes that a packet occupies links and crossbars for beyond its own
  u32 link_parts = 3;   ///< parts of a cycle per byte on a link: the numerator of the speedup
  u32 crossbar_parts = 2;
  u32 control_cycles = 20;  ///< how long a control message is on its way
  u32 classes = 1;          ///< queues of voqnet and dbbm
  u32 class_packets = 0;    ///< packets of a queue of theirs; 0: the memory is shared
  u32 saqs = 8;             ///< per port
  // Packets in a queue from which on it acts; xon: down to which.
  u32 egress_detection = 128;
  u32 ingress_detection = 32;
  u32 propagation = 16;
  u32 xoff = 48;
  u32 xon = 16;
  Tick idle_cycles = 20'000;  ///< a set-aside queue that was never used may be freed after so long; 0: it may not
  bool markers = true;
  parts::Marking marking;  ///< by packets in a queue
  bool log = false;        ///< keep a list of what happens to set-aside queues
  u32 notify_packets = 0;  ///< RECN: of so many packets that wait for a root the source of one is told; 0: none
  bool pause = false;      ///< links are stopped by pauses instead of credits
  u32 pause_xoff = 0;      ///< bytes of a class at an input port from which on it says stop
  u32 pause_xon = 0;       ///< down to which it says go on
  u32 pause_headroom = 0;  ///< bytes kept for what arrives after that

  [[nodiscard]] bool recn() const { return organization >= Organization::recn_basic; }
  [[nodiscard]] bool enhanced() const { return organization == Organization::recn_enhanced; }
  [[nodiscard]] bool per_class() const {
    return organization == Organization::voqnet || organization == Organization::dbbm;
  }
};

/// A packet in the network: all that moves it. Its record in the pool is touched where it enters and where it leaves.
struct Item {
  u64 route = 0;       ///< output ports still ahead, the next one in the lowest bits
  u32 packet = kNone;  ///< in the pool; kNone: no packet
  u16 bytes = 0;
  u16 queue_class = 0;  ///< queue of voqnet and dbbm; RECN: turns of the line whose queue it came from, or 0
};

/// Item::packet of an entry of a queue that is no packet: it unblocks the set-aside queue of that line when it gets to
/// the head.
inline constexpr u32 kMarker = 0x80000000U;
inline constexpr u32 kMarkedLineBits = 6;  ///< a port has at most 63 lines
[[nodiscard]] inline u32 marker_of(u32 port, u32 line) noexcept { return kMarker | port << kMarkedLineBits | line; }
[[nodiscard]] inline u32 line_of_marker(u32 packet) noexcept { return packet & ((1U << kMarkedLineBits) - 1); }

inline constexpr u8 kNowhere = 0xff;

/// The first entry lies in the queue itself: most queues hold one packet or none, and what a packet needs to leave is
/// there as soon as its queue is.
struct alignas(32) Queue {
  Item head;     ///< no packet: the queue is empty
  u32 next = 0;  ///< place of the second entry; 0: there is none
  u32 tail = 0;  ///< place of the last one, where there is a second; otherwise 0
  u32 packets = 0;
  u32 target = kNowhere;  ///< output port for which it is ready (ingress)

  [[nodiscard]] bool empty() const noexcept { return head.packet == kNone; }
  /// True when a packet is at the head: no marker, and not nothing.
  [[nodiscard]] bool has_packet() const noexcept { return (head.packet & kMarker) == 0; }
  /// One comparison, which is nearly always false: whether the queue is empty is as good as random.
  [[nodiscard]] bool has_marker() const noexcept { return head.packet - kMarker < kNone - kMarker; }
};
static_assert(sizeof(Queue) == 32);
static_assert((kNone & kMarker) != 0);

/// The entries of all queues behind their heads, eight in a row in two cache lines: what comes and goes stays where it
/// was used last, and a row seldom ends, which nobody can foresee.
class Store {
 public:
  void reserve(u64 entries) { grow((entries + kRow - 1) / kRow); }
  void clear() noexcept {
    created_ = 1;
    free_ = kNone;
    items_[0] = {};
  }
  /// The last entry of a queue that is not empty.
  [[nodiscard]] const Item& last(const Queue& queue) const noexcept {
    return queue.next == 0 ? queue.head : items_[queue.tail];
  }
  /// Calls `f` for all entries, from the head on.
  template <class F>
  void for_each(const Queue& queue, F&& f) const {
    if (queue.empty()) return;
    f(queue.head);
    // Rows lie anywhere, but which comes next is found in an array of its own, two rows ahead.
    u32 ahead = queue.next / kRow;
    const auto ask = [&] {
      if (ahead == queue.tail / kRow) return;
      ahead = links_[ahead] / kRow;
      __builtin_prefetch(&items_[std::size_t{ahead} * kRow]);
      __builtin_prefetch(&items_[std::size_t{ahead} * kRow + kRow / 2]);
    };
    ask();
    ask();
    for (u32 place = queue.next; place != 0; place = place == queue.tail ? 0 : after(place)) {
      if ((place & (kRow - 1)) == 0) ask();
      f(items_[place]);
    }
  }
  /// True when it is at the head now.
  bool push(Queue& queue, const Item& item) {
    if (queue.empty()) {
      queue.head = item;
      return true;
    }
    if (queue.next == 0) {
      queue.next = queue.tail = row();
    } else if ((queue.tail & (kRow - 1)) != kRow - 1) {
      ++queue.tail;
    } else {
      const u32 place = row();
      links_[queue.tail / kRow] = place;
      queue.tail = place;
    }
    items_[queue.tail] = item;
    return false;
  }
  /// Requires that the queue is not empty.
  Item take(Queue& queue) noexcept {
    const Item item = queue.head;
    const u32 place = queue.next;
    if (place == 0) {
      queue.head.packet = kNone;
      return item;
    }
    queue.head = items_[place];
    if (place == queue.tail) {
      queue.next = queue.tail = 0;
      release(place);
    } else {
      queue.next = after(place);
      if ((place & (kRow - 1)) == kRow - 1) {
        fetch(queue.next);
        release(place);
      }
    }
    return item;
  }
  /// The same without a branch, for queues whose length nobody can predict. Behind the last entry comes the one at
  /// place 0, which is no packet.
  Item take_evenly(Queue& queue) noexcept {
    const Item item = queue.head;
    const u32 place = queue.next;
    u32& link = links_[place / kRow];
    const u32 behind = link;
    const u32 more = mask_if(place != queue.tail);
    const u32 row_ends = mask_if((place & (kRow - 1)) == kRow - 1);
    const u32 leaves = mask_if(place != 0) & (~more | row_ends);  // the row
    queue.head = items_[place];
    queue.next = either(row_ends, behind, place + 1) & more;
    queue.tail &= more;
    link = either(leaves, free_, behind);
    free_ = either(leaves, place & ~(kRow - 1), free_);
    fetch(queue.next);
    return item;
  }
  /// Asks for the memory of an entry, or for nothing that harms (0).
  void fetch(u32 place) const noexcept { __builtin_prefetch(items_.data() + place); }

  void archive(Archive& a) { a(items_, links_, created_, free_); }

 private:
  static constexpr u32 kRow = 8;

  /// All bits, or none. (Of `condition ? a : b` the compiler makes a branch.)
  [[nodiscard]] static u32 mask_if(bool condition) noexcept { return 0U - u32{condition}; }
  [[nodiscard]] static u32 either(u32 mask, u32 a, u32 b) noexcept { return b ^ ((a ^ b) & mask); }

  [[nodiscard]] u32 after(u32 place) const noexcept {
    return (place & (kRow - 1)) != kRow - 1 ? place + 1 : links_[place / kRow];
  }
  [[nodiscard]] u32 row() {
    const u32 place = free_;
    if (place == kNone) [[unlikely]]
      return fresh();
    free_ = links_[place / kRow];
    return place;
  }
  [[nodiscard, gnu::noinline]] u32 fresh() {
    if (created_ == links_.size()) grow(u64{created_} * 2);
    return created_++ * kRow;
  }
  void release(u32 place) noexcept {
    links_[place / kRow] = free_;
    free_ = place & ~(kRow - 1);
  }
  [[gnu::noinline, gnu::cold]] void grow(u64 rows) {
    links_.resize(std::max<u64>(rows, 1));
    items_.resize((links_.size() + 1) * kRow);  // one more, for those who look ahead
  }

  PageVector<Item> items_;
  PageVector<u32> links_;  ///< [row]: the row behind it in its queue, or among the free ones
  u32 created_ = 0;
  u32 free_ = kNone;
};

/// A line of the content-addressable memory of a port, and the state of its set-aside queue (SAQ).
struct alignas(64) Line {
  u64 path = 0;          ///< turns from here to the congested point, packed like a route
  u64 mask = 0;          ///< of their bits
  u64 inputs = 0;        ///< egress: inputs that hold a token (were notified); 0: a leaf
  Tick since = 0;        ///< allocated, cycles
  Tick slowed = kNever;  ///< last Xoff or Xon of the queue of the same path downstream, cycles
  u32 generation = 0;    ///< counts allocations
  u32 late = 0;          ///< packets that came from the queue of the same path upstream since it was told Xoff
  u32 unreported = 0;    ///< packets to a root since a source was last told
  u8 length = 0;         ///< turns
  u8 peer = kNowhere;    ///< ingress: the egress line of the same path; kNowhere: the root
  bool blocked = false;  ///< a marker has to come out of another queue first
  bool used = false;
  bool stopped = false;    ///< the queue of the same path downstream said Xoff
  bool signalled = false;  ///< said Xoff itself
  bool notified = false;   ///< ingress: the egress upstream holds a token; not a leaf
  bool token = false;      ///< ingress: owes its egress a token
};

/// The ports of one side: ingresses, or egresses (of switches, then of adapters).
struct Side {
  u32 base = 1;    ///< normal, detection or other queues before the SAQs
  u32 stride = 1;  ///< queues per port
  u32 saqs = 0;
  PageVector<Queue> queues;  ///< [port * stride + queue]
  PageVector<Line> lines;    ///< [port * saqs + line]
  PageVector<u64> valid;     ///< [port]: bit per line
  /// [port * (stride + 1) + queue]: of what a port adds to the state's hash, all before the first queue that is not
  /// empty. Not in large networks, nor where the queues do not fit a word.
  std::vector<Hasher> quiet;

  void resize(u32 ports, u32 base_queues, u32 saqs_per_port) {
    base = base_queues;
    saqs = saqs_per_port;
    stride = base + saqs;
    queues.resize(static_cast<std::size_t>(ports) * stride);
    lines.resize(static_cast<std::size_t>(ports) * saqs);
    valid.resize(ports);
  }
  void clear() {
    clear_queues();
    valid.assign(valid.size(), 0);
  }
  void clear_queues() {
    queues.assign(queues.size(), {});
    lines.assign(lines.size(), {});
  }
  /// A network may go on with more set-aside queues than the one whose state it reads.
  void archive(Archive& a) {
    u32 written = saqs;
    a(written);
    if (written == saqs) return a(queues, lines, valid);
    if (written > saqs) throw ArchiveMismatch("it has more set-aside queues");
    Side fewer;
    const u32 ports = static_cast<u32>(valid.size());
    fewer.resize(ports, base, written);
    fewer.clear();
    a(fewer.queues, fewer.lines, valid);
    clear_queues();
    for (u32 port = 0; port < ports; ++port) {
      for (u32 q = 0; q < fewer.stride; ++q) queue(port, q) = fewer.queue(port, q);
      for (u32 k = 0; k < written; ++k) line(port, k) = fewer.line(port, k);
    }
  }
  [[nodiscard]] Queue& queue(u32 port, u32 q) noexcept { return queues[std::size_t{port} * stride + q]; }
  [[nodiscard]] const Queue& queue(u32 port, u32 q) const noexcept { return queues[std::size_t{port} * stride + q]; }
  [[nodiscard]] Line& line(u32 port, u32 k) noexcept { return lines[std::size_t{port} * saqs + k]; }
  [[nodiscard]] const Line& line(u32 port, u32 k) const noexcept { return lines[std::size_t{port} * saqs + k]; }

  /// Asks for the memory that match() will need; the first lines are the ones that are mostly there.
  void fetch_lines(u32 port) const noexcept {
    __builtin_prefetch(&valid[port]);
    __builtin_prefetch(&lines[std::size_t{port} * saqs]);
    __builtin_prefetch(&lines[std::size_t{port} * saqs] + 1);
  }

  /// The line that shares most turns with a route, of those with fewer than `below` turns; kNone: no line.
  [[nodiscard]] u32 match(u32 port, u64 route, u32 below = 256) const noexcept {
    u32 best = kNone;
    u32 longest = 0;
    for (u64 m = valid[port]; m != 0; m &= m - 1) {
      const u32 k = static_cast<u32>(std::countr_zero(m));
      const Line& l = line(port, k);
      if (l.length > longest && l.length < below && ((route ^ l.path) & l.mask) == 0) {
        best = k;
        longest = l.length;
      }
    }
    return best;
  }
  /// The line with exactly that path; kNone.
  [[nodiscard]] u32 find(u32 port, u64 path, u32 length) const noexcept {
    for (u64 m = valid[port]; m != 0; m &= m - 1) {
      const u32 k = static_cast<u32>(std::countr_zero(m));
      if (line(port, k).length == length && line(port, k).path == path) return k;
    }
    return kNone;
  }
};

/// What happened to congestion detection and set-aside queues since the start of the run.
struct RecnCounts {
  u64 allocated = 0;
  u64 freed = 0;
  u64 rejected = 0;  ///< notifications
  u64 detected_ingress = 0;
  u64 detected_egress = 0;
  u64 most_saqs = 0;     ///< at one port
  u64 most_packets = 0;  ///< in one set-aside queue
  u64 most_late = 0;     ///< Line::late
  u64 told_sources = 0;
};

/// What pauses did since the start of the run.
struct PauseCounts {
  u64 told = 0;           ///< frames that stop
  u64 most_headroom = 0;  ///< bytes of a class above the threshold
  u64 overruns = 0;       ///< packets that found no room
};

/// One entry of the log.
struct RecnEvent {
  enum class Kind : u8 { detected, allocated, rejected, unblocked, stopped, freed };
  Tick at = 0;  ///< parts
  Kind kind = Kind::detected;
  bool ingress = false;
  u32 port = 0;  ///< number of the side
  u64 path = 0;
  u8 length = 0;
};

}  // namespace banyan::switching::cioq
