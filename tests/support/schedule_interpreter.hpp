// Executes a schedule whose messages carry values, in any order that its dependencies allow; and times it on a network
// of latency and bandwidth only. Both know nothing of how the schedule was made, beside what each message carries.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "banyan/base/types.hpp"
#include "banyan/workload/collective_plan.hpp"
#include "banyan/workload/schedule.hpp"

namespace banyan::test {

/// A piece of data: a number per byte, which a reduction adds modulo 2^64, and the ranks that it has heard of.
struct PieceOfData {
  std::vector<u64> bytes;
  u64 known = 0;  ///< bit per rank
  friend bool operator==(const PieceOfData&, const PieceOfData&) = default;
};

using Memory = std::vector<std::vector<PieceOfData>>;  ///< [rank][piece]

/// Runs `schedule` from `memory`. What may be done next is chosen at random: a send takes its data when it begins, a
/// receive changes its rank's data when it ends. `rendezvous`: a send ends only after its receive has begun. Throws
/// when a message has other bytes than its operations say, or when nothing can go on.
class Execution {
 public:
  Execution(const workload::Schedule& schedule, const std::vector<workload::Transfer>& transfers, Memory& memory,
            u32 seed, bool rendezvous)
      : schedule_(schedule), memory_(memory), random_(seed), rendezvous_(rendezvous) {
    for (u32 r = 0; r < schedule.ranks.size(); ++r) {
      waits_.push_back(schedule.ranks[r].waits_for);
      transfers_.emplace_back(waits_[r].size(), nullptr);
      left_ += waits_[r].size();
      for (u32 i = 0; i < waits_[r].size(); ++i) {
        if (waits_[r][i] == 0) steps_.push_back({r, i, false});
      }
    }
    for (const workload::Transfer& transfer : transfers) {
      transfers_[transfer.from][transfer.send] = &transfer;
      transfers_[transfer.to][transfer.receive] = &transfer;
    }
  }

  void run() {
    while (left_ > 0) {
      if (steps_.empty()) throw std::runtime_error(std::to_string(left_) + " operations cannot go on");
      std::swap(steps_[random_() % steps_.size()], steps_.back());
      const Step step = steps_.back();
      steps_.pop_back();
      if (step.ends) {
        end(step.rank, step.operation);
        --left_;
      } else {
        begin(step.rank, step.operation);
      }
      for (const workload::Dependent& dependent : schedule_.ranks[step.rank].dependents_of(step.operation)) {
        if (dependent.after_start != step.ends && --waits_[step.rank][dependent.operation] == 0) {
          steps_.push_back({step.rank, dependent.operation, false});
        }
      }
    }
  }

 private:
  struct Step {
    u32 rank;
    u32 operation;
    bool ends;
  };
  struct Message {
    const workload::Transfer* transfer = nullptr;
    std::vector<PieceOfData> data;
  };
  struct Channel {
    std::deque<Message> sent;     ///< without a receive yet
    std::deque<u32> receives;     ///< without a message yet
    std::map<u32, Message> held;  ///< by receive: matched
  };

  Channel& channel(u32 from, u32 to, u32 tag) { return channels_[{from, to, tag}]; }

  void begin(u32 rank, u32 index) {
    const workload::Operation& operation = schedule_.ranks[rank].operations[index];
    if (operation.kind == workload::OperationKind::calculate) {
      steps_.push_back({rank, index, true});
    } else if (operation.kind == workload::OperationKind::send) {
      Message message{transfers_[rank][index], {}};
      if (message.transfer == nullptr || message.transfer->to != operation.peer)
        throw std::runtime_error("another peer");
      u64 bytes = 0;
      for (const u32 piece : message.transfer->pieces) {
        message.data.push_back(memory_[rank][piece]);
        bytes += memory_[rank][piece].bytes.size();
      }
      if (bytes != operation.amount) throw std::runtime_error("a message has other bytes than its send says");
      if (!rendezvous_) steps_.push_back({rank, index, true});
      Channel& to = channel(rank, operation.peer, operation.tag);
      to.sent.push_back(std::move(message));
      match(to);
    } else {
      Channel& from = channel(operation.peer, rank, operation.tag);
      from.receives.push_back(index);
      match(from);
    }
  }

  void match(Channel& at) {
    while (!at.sent.empty() && !at.receives.empty()) {
      const workload::Transfer& transfer = *at.sent.front().transfer;
      if (at.receives.front() != transfer.receive) throw std::runtime_error("a receive got another message");
      if (rendezvous_) steps_.push_back({transfer.from, transfer.send, true});
      steps_.push_back({transfer.to, transfer.receive, true});
      at.held[transfer.receive] = std::move(at.sent.front());
      at.sent.pop_front();
      at.receives.pop_front();
    }
  }

  void end(u32 rank, u32 index) {
    const workload::Operation& operation = schedule_.ranks[rank].operations[index];
    if (operation.kind != workload::OperationKind::receive) return;
    Channel& from = channel(operation.peer, rank, operation.tag);
    const Message message = std::move(from.held.at(index));
    from.held.erase(index);
    u64 bytes = 0;
    for (std::size_t k = 0; k < message.data.size(); ++k) {
      const PieceOfData& came = message.data[k];
      bytes += came.bytes.size();
      PieceOfData& piece = memory_[rank][message.transfer->pieces[k]];
      if (!message.transfer->reduce) {
        piece = came;
        continue;
      }
      for (std::size_t b = 0; b < piece.bytes.size(); ++b) piece.bytes[b] += came.bytes.at(b);
      piece.known |= came.known;
    }
    if (bytes != operation.amount) throw std::runtime_error("a receive has other bytes than its message");
  }

  const workload::Schedule& schedule_;
  Memory& memory_;
  std::mt19937 random_;
  bool rendezvous_;
  u64 left_ = 0;
  std::vector<std::vector<u32>> waits_;
  std::vector<std::vector<const workload::Transfer*>> transfers_;
  std::vector<Step> steps_;  ///< what can happen now
  std::map<std::tuple<u32, u32, u32>, Channel> channels_;
};

inline void execute(const workload::Schedule& schedule, const std::vector<workload::Transfer>& transfers,
                    Memory& memory, u32 seed, bool rendezvous) {
  Execution(schedule, transfers, memory, seed, rendezvous).run();
}

/// When each rank ends on a network in which a message of `bytes` occupies its sender's port and its receiver's port
/// for bytes * `per_byte` and takes `latency` between them; messages use a port in the order in which they come to it.
/// Computations take their time, everything else takes none.
inline std::vector<u64> ends_on_ideal_network(const workload::Schedule& schedule, u64 latency, u64 per_byte) {
  using workload::OperationKind;
  const u32 ranks = static_cast<u32>(schedule.ranks.size());
  struct Event {
    u64 time;
    u64 order;
    u32 kind;  ///< 0: an operation begins, 1: it ends, 2: a message reaches its receiver's port
    u32 rank;
    u32 operation;
    bool operator>(const Event& other) const { return std::tie(time, order) > std::tie(other.time, other.order); }
  };
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  u64 order = 0;
  const auto at = [&](u64 time, u32 kind, u32 rank, u32 operation) {
    events.push({time, order++, kind, rank, operation});
  };
  std::vector<std::vector<u32>> waits;
  std::vector<u64> send_port(ranks, 0);
  std::vector<u64> receive_port(ranks, 0);
  std::vector<u64> ends(ranks, 0);
  std::map<std::tuple<u32, u32, u32>, std::deque<u64>> arrived;
  std::map<std::tuple<u32, u32, u32>, std::deque<u32>> posted;
  for (u32 r = 0; r < ranks; ++r) {
    waits.push_back(schedule.ranks[r].waits_for);
    for (u32 i = 0; i < waits[r].size(); ++i) {
      if (waits[r][i] == 0) at(0, 0, r, i);
    }
  }
  while (!events.empty()) {
    const Event event = events.top();
    events.pop();
    const workload::Operation& operation = schedule.ranks[event.rank].operations[event.operation];
    if (event.kind == 2) {
      const u32 to = operation.peer;
      const u64 end = std::max(event.time, receive_port[to]) + operation.amount * per_byte;
      receive_port[to] = end;
      const std::tuple<u32, u32, u32> channel{event.rank, to, operation.tag};
      if (posted[channel].empty()) {
        arrived[channel].push_back(end);
      } else {
        at(end, 1, to, posted[channel].front());
        posted[channel].pop_front();
      }
      continue;
    }
    const bool started = event.kind == 0;
    if (started) {
      if (operation.kind == OperationKind::calculate) at(event.time + operation.amount, 1, event.rank, event.operation);
      if (operation.kind == OperationKind::send) {
        const u64 begin = std::max(event.time, send_port[event.rank]);
        send_port[event.rank] = begin + operation.amount * per_byte;
        at(send_port[event.rank], 1, event.rank, event.operation);
        at(begin + latency, 2, event.rank, event.operation);
      }
      if (operation.kind == OperationKind::receive) {
        const std::tuple<u32, u32, u32> channel{operation.peer, event.rank, operation.tag};
        if (arrived[channel].empty()) {
          posted[channel].push_back(event.operation);
        } else {
          at(std::max(event.time, arrived[channel].front()), 1, event.rank, event.operation);
          arrived[channel].pop_front();
        }
      }
    } else {
      ends[event.rank] = std::max(ends[event.rank], event.time);
    }
    for (const workload::Dependent& dependent : schedule.ranks[event.rank].dependents_of(event.operation)) {
      if (dependent.after_start == started && --waits[event.rank][dependent.operation] == 0) {
        at(event.time, 0, event.rank, dependent.operation);
      }
    }
  }
  return ends;
}

}  // namespace banyan::test
