#include "banyan/workload/collective_plan.hpp"

#include <algorithm>
#include <utility>

namespace banyan::workload {

CollectivePlan::CollectivePlan(ScheduleBuilder& schedule, const CollectivePlace& place, u64 bytes, u32 blocks,
                               u32 segments)
    : schedule_(&schedule),
      place_(place),
      bytes_(bytes),
      members_(static_cast<u32>(place.members.size())),
      blocks_(blocks),
      segments_(segments),
      pieces_(static_cast<std::size_t>(members_) * blocks * segments),
      free_operations_(members_) {
  lane(Order::chained);
}

u32 CollectivePlan::lane(Order order) {
  const std::vector<u32> nobody(members_, kNone);
  lanes_.push_back({order, nobody, nobody, nobody, nobody});
  return static_cast<u32>(lanes_.size() - 1);
}

void CollectivePlan::move(u32 from, u32 to, std::vector<u32> blocks, bool reduce) {
  for (u32 segment = 0; segment + 1 < segments_; ++segment) move_segment(from, to, blocks, reduce, segment);
  move_segment(from, to, std::move(blocks), reduce, segments_ - 1);
}

void CollectivePlan::move_sized(u32 from, u32 to, const std::vector<u32>& blocks, std::span<const u64> sizes) {
  for (u32 segment = 0; segment < segments_; ++segment) move_segment(from, to, blocks, false, segment, sizes);
}

void CollectivePlan::move_segment(u32 from, u32 to, std::vector<u32> blocks, bool reduce, u32 segment,
                                  std::span<const u64> sizes) {
  if (blocks.empty()) return;
  Message message;
  message.from = from;
  message.to = to;
  message.lane = current_lane_;
  message.tag = place_.first_tag + round_ * segments_ + segment;
  message.reduce = reduce;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const u64 block = sizes.empty() ? block_bytes(blocks[i]) : sizes[i];
    message.bytes += part(block, segments_, segment);
    blocks[i] = blocks[i] * segments_ + segment;
  }
  message.pieces = std::move(blocks);
  round_messages_.push_back(std::move(message));
}

void CollectivePlan::end_round() {
  if (round_messages_.empty()) return;
  for (Message& message : round_messages_) add_send(message);
  for (Message& message : round_messages_) add_receive(message);
  for (const Message& message : round_messages_) {
    Lane& lane = lanes_[message.lane];
    for (const u32 member : {message.from, message.to}) {
      lane.round_send[member] = lane.last_send[member];
      lane.round_receive[member] = lane.last_receive[member];
    }
  }
  messages_ += round_messages_.size();
  round_messages_.clear();
  ++round_;
}

void CollectivePlan::wait_for(u32 operation) {
  if (operation != kNone && std::ranges::find(ends_, operation) == ends_.end()) ends_.push_back(operation);
}

/// Gives the operation at hand what it waits for.
void CollectivePlan::follow(u32 member, u32 operation) {
  const u32 rank = place_.members[member];
  if (ends_.empty() && !place_.begin.empty()) wait_for(place_.begin[member]);
  for (const u32 earlier : ends_) schedule_->after_end(rank, operation, earlier);
  for (const u32 earlier : starts_) {
    if (std::ranges::find(ends_, earlier) == ends_.end()) schedule_->after_start(rank, operation, earlier);
  }
  ends_.clear();
  starts_.clear();
}

void CollectivePlan::add_send(Message& message) {
  Lane& lane = lanes_[message.lane];
  const u32 from = message.from;
  message.send = schedule_->send(place_.members[from], message.bytes, place_.members[message.to], message.tag);
  if (lane.order != Order::free) wait_for(lane.last_send[from]);
  if (lane.order == Order::in_steps) wait_for(lane.round_receive[from]);
  for (const u32 p : message.pieces) {
    Piece& data = piece(from, p);
    wait_for(data.changed);
    // Only the last reader is remembered; where the lane does not order readers, they begin in turn.
    const bool ordered = data.read_lane == message.lane && lane.order != Order::free;
    if (data.read != kNone && !ordered && std::ranges::find(starts_, data.read) == starts_.end()) {
      starts_.push_back(data.read);
    }
    data.read = message.send;
    data.read_lane = message.lane;
  }
  follow(from, message.send);
  lane.last_send[from] = message.send;
  if (lane.order == Order::free) free_operations_[from].push_back(message.send);
}

void CollectivePlan::add_receive(Message& message) {
  Lane& lane = lanes_[message.lane];
  const u32 to = message.to;
  const u32 receive = schedule_->receive(place_.members[to], message.bytes, place_.members[message.from], message.tag);
  if (lane.order != Order::free) wait_for(lane.last_receive[to]);
  if (lane.order == Order::in_steps) wait_for(lane.round_send[to]);
  for (const u32 p : message.pieces) {
    Piece& data = piece(to, p);
    wait_for(data.changed);
    if (data.read != kNone && std::ranges::find(starts_, data.read) == starts_.end()) starts_.push_back(data.read);
    data = {receive, kNone, 0};
  }
  follow(to, receive);
  lane.last_receive[to] = receive;
  if (lane.order == Order::free) free_operations_[to].push_back(receive);
  if (place_.transfers != nullptr) {
    place_.transfers->push_back({place_.members[message.from], message.send, place_.members[to], receive,
                                 std::move(message.pieces), message.reduce});
  }
}

CollectiveEnd CollectivePlan::finish() const {
  CollectiveEnd end;
  end.tags = round_ * segments_;
  end.messages = messages_;
  end.blocks = blocks_;
  end.last = free_operations_;
  for (u32 member = 0; member < members_; ++member) {
    std::vector<u32>& last = end.last[member];
    for (const Lane& lane : lanes_) {
      if (lane.order == Order::free) continue;
      if (lane.last_send[member] != kNone) last.push_back(lane.last_send[member]);
      if (lane.last_receive[member] != kNone) last.push_back(lane.last_receive[member]);
    }
    if (last.empty() && !place_.begin.empty() && place_.begin[member] != kNone) last.push_back(place_.begin[member]);
  }
  return end;
}

}  // namespace banyan::workload
