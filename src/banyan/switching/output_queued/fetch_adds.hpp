// What fetch-and-adds need of interchange boxes beside the queues of the way there: wait buffers in which requests stay
// that were combined with another one, memory words at the terminals, and the queues of the way back (Gottlieb,
// Grishman, Kruskal, McAuliffe, Rudolph, Snir, The NYU Ultracomputer, IEEE Transactions on Computers C-32(2), 1983,
// sections 2 and 3).
//
// A request is one packet that goes to a memory and comes back with the value that it found there. The way back is the
// way there in the opposite direction, through a half of every box that is like the half of the way there: a queue per
// channel, numbered like the queue that the channel feeds on the way there, and as many places in it.
#pragma once

#include <span>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/engine/own_metrics.hpp"
#include "banyan/switching/output_queued/box_order.hpp"
#include "banyan/switching/output_queued/layout.hpp"

namespace banyan::switching::output_queued {

struct CombiningParameters {
  u32 ways = 1;             ///< requests that may become one in a queue: 1 none, 2 pairwise, kNone any number
  u32 wait_buffer = kNone;  ///< requests that wait beside a queue, at the most; kNone: no bound
};

class FetchAdds {
 public:
  FetchAdds(engine::Builder& builder, const CombiningParameters& parameters, const Layout& layout,
            const BoxOrder& order, u32 places);

  void reset(u32 replication);

  // --- the way there ---------------------------------------------------------------------------------------------
  /// A packet left its source.
  void taken(core::PacketId id);
  [[nodiscard]] bool is_request(core::PacketId id) const noexcept { return of(id).request; }
  /// It crosses a box from the input `port`, into another queue.
  void pass(core::PacketId id, u32 port) noexcept {
    Request& r = of(id);
    r.back = r.back << port_bits_ | port;
    r.here = 1;
    ++r.boxes;
  }
  /// Lets a request that comes from the input `port` join the first one in queue q that it may be combined with. True:
  /// it waits beside the queue until that one comes back. `packets`: what the queue holds, oldest first.
  template <class At>
  [[nodiscard]] bool join(u32 q, u32 packets, At&& at, core::PacketId id, u32 port) noexcept {
    if (ways_ < 2 || of(id).word == kNone || waiting_[q].count >= wait_buffer_) return false;
    for (u32 i = 0; i < packets; ++i) {
      const core::PacketId into = at(i);
      if (of(into).word != of(id).word || of(into).here >= ways_) continue;
      wait(q, into, id, port);
      return true;
    }
    return false;
  }
  /// Whether the memory of a terminal has room for an answer.
  [[nodiscard]] bool may_serve(u32 terminal) const noexcept {
    return lines_[layout_.ejection_base + terminal].count < places_;
  }
  /// The memory of a terminal takes a request and answers it.
  void serve(core::PacketId id, u32 terminal) noexcept;

  // --- the way back ----------------------------------------------------------------------------------------------
  /// One cycle: terminals take an answer each, and boxes pass answers on, those next to the sources first.
  void step(Tick now) noexcept;

  [[nodiscard]] u64 digest() const;
  /// The digest of one packet and of what has joined it.
  [[nodiscard]] u64 digest_of(core::PacketId id) const;
  /// Adds the answers of the way back and what waits for them, and looks whether every value that a word gave out is on
  /// its way to one request, or has come to one. `there`: calls its argument with every packet of the way there.
  template <class There>
  void hold(engine::Holdings& into, There&& there) const {
    Audit audit(words_.size());
    there([&](core::PacketId id) { count_request(id, audit); });
    finish(audit, into);
  }
  [[nodiscard]] u64 crossings() const noexcept { return crossings_; }
  /// Packets that were written into queues of the way back, and those that lie there or wait beside queues; what
  /// joins another request is written like what enters a queue of the way there.
  [[nodiscard]] u64 writes() const noexcept { return crossings_ - returned_ + spread_; }
  [[nodiscard]] u64 buffered() const noexcept;
  [[nodiscard]] engine::OwnMetrics& metrics() noexcept { return own_; }
  void archive(Archive& a) {
    a(requests_, waits_, free_waits_, waiting_, lines_, answers_, words_, crossings_, returned_, spread_, strange_,
      own_);
  }

 private:
  /// What a packet carries as a request. Values are counts of earlier requests for its word: every one adds 1.
  struct Request {
    u64 sum = 1;         ///< what it adds, for all requests that it stands for
    u64 value = 0;       ///< of the word before, on the way back
    u64 back = 0;        ///< inputs of the boxes that it has crossed, the last one lowest
    u32 word = kNone;    ///< number of the shared word; kNone: a word that nobody else asks for
    u32 here = 1;        ///< requests that it stands for of those that came to the queue where it is
    u32 joined = kNone;  ///< the wait that began last of those that end when it comes back
    u32 boxes = 0;       ///< that it crossed on the way there; it crosses the same on the way back
    bool request = false;
  };
  /// A request that waits beside a queue for the answer of the one that it was combined with.
  struct Wait {
    core::PacketId packet = 0;
    u32 queue = 0;
    u64 offset = 0;    ///< its value is that of the other one, and what had joined that before
    u32 next = kNone;  ///< before: the wait that began earlier; answered: the next answer of the queue's
  };
  /// Waits of one queue.
  struct Waiting {
    u32 count = 0;
    u32 first = kNone;  ///< answered ones, in the order of their answers
    u32 last = kNone;
  };
  /// Answers that are to cross a channel back, oldest first; a ring in answers_.
  struct Line {
    u32 head = 0;
    u32 count = 0;
  };
  /// A shared word: its value, and sums over mixed values, which show a value that was given out twice or never.
  struct Word {
    u64 value = 0;
    u64 issued = 0;  ///< requests that left their sources
    u64 returned = 0;
    u64 given = 0;
    u64 taken = 0;
  };
  struct Audit {
    explicit Audit(std::size_t words) : unserved(words), served(words), on_the_way(words) {}
    std::vector<u64> unserved;    ///< [word]: requests whose memory has not been reached
    std::vector<u64> served;      ///< [word]: answers on the way back
    std::vector<u64> on_the_way;  ///< [word]: the sum of their mixed values
    u64 waits = 0;
    u64 packets = 0;
    u64 broken_sums = 0;
  };

  [[nodiscard]] static u32 index(core::PacketId id) noexcept { return id & engine::PacketPool::kIndexOfOne; }
  [[nodiscard]] Request& of(core::PacketId id) noexcept { return requests_[index(id)]; }
  [[nodiscard]] const Request& of(core::PacketId id) const noexcept { return requests_[index(id)]; }
  [[nodiscard]] core::PacketId answer(u32 q, u32 i) const noexcept {
    return answers_[std::size_t{q} * places_ + (lines_[q].head + i) % places_];
  }
  void append(u32 q, core::PacketId id) noexcept {
    Line& line = lines_[q];
    answers_[std::size_t{q} * places_ + (line.head + line.count++) % places_] = id;
  }
  core::PacketId drop(u32 q) noexcept {
    Line& line = lines_[q];
    const core::PacketId id = answers_[std::size_t{q} * places_ + line.head];
    line.head = (line.head + 1) % places_;
    --line.count;
    return id;
  }

  void wait(u32 q, core::PacketId into, core::PacketId id, u32 port) noexcept;
  void arrive(core::PacketId id, u32 terminal, Tick now) noexcept;
  void step_box(u32 box, Tick now) noexcept;
  void spread(u32 q, u32 base) noexcept;
  void end_waits(core::PacketId id, u32 q) noexcept;
  void count_request(core::PacketId id, Audit& audit) const;
  void count_answer(core::PacketId id, u64 value, Audit& audit) const;
  void finish(Audit& audit, engine::Holdings& into) const;

  std::span<core::Traffic* const> traffics_;
  engine::Terminals& terminals_;
  engine::PacketPool& pool_;
  u32 ways_;
  u32 wait_buffer_;
  const Layout& layout_;
  const BoxOrder& order_;
  u32 port_bits_;
  u32 places_;
  bool permuted_;
  u64 seed_;
  std::vector<Request> requests_;  ///< [packet]
  std::vector<Wait> waits_;
  std::vector<u32> free_waits_;
  std::vector<Waiting> waiting_;         ///< [queue]
  std::vector<Line> lines_;              ///< [queue]
  std::vector<core::PacketId> answers_;  ///< [queue * places]
  std::vector<Word> words_;              ///< [terminal]
  u64 crossings_ = 0;
  u64 returned_ = 0;  ///< answers that reached their terminals
  u64 spread_ = 0;    ///< answers that left a wait buffer
  u64 strange_ = 0;   ///< answers whose value their word never had, or that came to another terminal
  Random random_;
  engine::OwnMetrics own_;
  u32 combined_;
  u32 done_;
  u32 operations_;
  u32 peak_;
};

}  // namespace banyan::switching::output_queued
