// What an algorithm of a collective operation says: which blocks of data each message moves, in rounds. From that one
// statement the plan makes the operations of the schedule (their bytes, and what they wait for) and, for tests, the
// record of what every message carries; so the two cannot differ.
//
// Each member holds the same number of blocks of data, and each block is cut into `segments` pieces that travel as
// messages of their own. A message reads pieces of its sender when its send begins, and changes the same pieces of its
// receiver (by a copy, or by a reduction into what is there) when its receive ends. Hence:
// - a send waits for the end of the receives that made what it reads;
// - a receive waits for the begin of the sends that read what it changes, and for the end of what changed it before.
// Besides, the messages of one lane follow each other at each member: see Order.
#pragma once

#include <span>
#include <vector>

#include "banyan/base/types.hpp"
#include "banyan/workload/schedule.hpp"

namespace banyan::workload {

/// What one message of a collective moves: pieces of the sender's data, to the same pieces of the receiver's.
struct Transfer {
  u32 from = 0;     ///< rank
  u32 send = 0;     ///< its operation
  u32 to = 0;       ///< rank
  u32 receive = 0;  ///< its operation
  std::vector<u32> pieces;
  bool reduce = false;  ///< combined with what the receiver has; else it replaces that
};

/// Where a collective stands in a schedule.
struct CollectivePlace {
  std::span<const u32> members;                ///< the rank of each member; their order is that of the collective
  u32 first_tag = 0;                           ///< of its messages; they use consecutive tags
  std::span<const u32> begin;                  ///< per member an operation that it waits for, or none for all
  std::vector<Transfer>* transfers = nullptr;  ///< for tests: receives what each message moves
};

/// What a collective left in the schedule.
struct CollectiveEnd {
  u32 tags = 0;  ///< number of tags used
  u64 messages = 0;
  u32 blocks = 0;                      ///< of each member's data; block b is in the pieces b * segments and following
  std::vector<std::vector<u32>> last;  ///< per member: when these operations have ended, so has its part
};

class CollectivePlan {
 public:
  /// How the messages of a lane follow each other at one member.
  enum class Order : u8 {
    chained,   ///< sends one after the other, receives one after the other
    in_steps,  ///< a round begins when the member's sends and receives of the round before have ended
    free,      ///< as soon as the data allow
  };

  CollectivePlan(ScheduleBuilder& schedule, const CollectivePlace& place, u64 bytes, u32 blocks, u32 segments);

  [[nodiscard]] u32 members() const noexcept { return members_; }
  [[nodiscard]] u32 blocks() const noexcept { return blocks_; }
  [[nodiscard]] u32 segments() const noexcept { return segments_; }

  /// A new lane, for send() of what follows. Lane 0 exists and is chained.
  u32 lane(Order order);
  void use_lane(u32 lane) noexcept { current_lane_ = lane; }

  /// One message per segment, in the round that is open: the sends of a round read what was there before it.
  void move(u32 from, u32 to, std::vector<u32> blocks, bool reduce);
  /// Only the message of one segment. `sizes`, if any, are the lengths of the blocks in this message, where they are
  /// not those of an even partition.
  void move_segment(u32 from, u32 to, std::vector<u32> blocks, bool reduce, u32 segment,
                    std::span<const u64> sizes = {});
  void move_sized(u32 from, u32 to, const std::vector<u32>& blocks, std::span<const u64> sizes);

  /// Closes the round: its operations enter the schedule, sends before receives.
  void end_round();

  /// Length of a block: the blocks share the bytes evenly, the first ones having one more where they do not divide.
  [[nodiscard]] u64 block_bytes(u32 block) const noexcept { return part(bytes_, blocks_, block); }
  /// The same for a segment of that many bytes.
  [[nodiscard]] static u64 part(u64 bytes, u32 parts, u32 index) noexcept {
    return bytes / parts + (index < bytes % parts ? 1 : 0);
  }

  [[nodiscard]] CollectiveEnd finish() const;

 private:
  struct Message {
    u32 from = 0;
    u32 to = 0;
    u32 lane = 0;
    u32 tag = 0;
    u32 send = 0;
    u64 bytes = 0;
    bool reduce = false;
    std::vector<u32> pieces;
  };
  struct Piece {
    u32 changed = kNone;  ///< the receive that last changed it
    u32 read = kNone;     ///< the last send since then that read it
    u32 read_lane = 0;
  };
  struct Lane {
    Order order = Order::chained;
    std::vector<u32> last_send;  ///< per member
    std::vector<u32> last_receive;
    std::vector<u32> round_send;  ///< as of the end of the round before
    std::vector<u32> round_receive;
  };

  [[nodiscard]] Piece& piece(u32 member, u32 piece) {
    return pieces_[static_cast<std::size_t>(member) * blocks_ * segments_ + piece];
  }
  void add_send(Message& message);
  void add_receive(Message& message);
  void wait_for(u32 operation);
  void follow(u32 member, u32 operation);

  ScheduleBuilder* schedule_;
  CollectivePlace place_;
  u64 bytes_;
  u32 members_;
  u32 blocks_;
  u32 segments_;
  u32 current_lane_ = 0;
  u32 round_ = 0;
  u64 messages_ = 0;
  std::vector<Piece> pieces_;
  std::vector<Lane> lanes_;
  std::vector<Message> round_messages_;
  std::vector<std::vector<u32>> free_operations_;  ///< per member
  std::vector<u32> ends_;                          ///< what the operation at hand waits for
  std::vector<u32> starts_;
};

}  // namespace banyan::workload
