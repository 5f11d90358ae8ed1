// What is known of reductions in the network beside the chunks in the buffers: which contributions a switch has put
// together, how many terminals' they are, and the values that they carry, which are checked where the results arrive.
//
// A contribution is one worm from a terminal that comes back with the result. At a switch where several meet, one of
// them carries on what all have brought. The others' records wait until the result is at their terminals, as combined
// fetch-and-adds do. The result is a worm with a record of its own, of which every terminal gets a copy.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/engine/own_metrics.hpp"
#include "banyan/engine/population.hpp"
#include "banyan/engine/terminals.hpp"
#include "banyan/switching/worms/reduction_tree.hpp"

namespace banyan::switching {

/// The collective operations of an experiment: the traffics that reduce, and their trees.
struct Collectives {
  std::vector<u32> number;           ///< [traffic]: which collective it is; kNone: none
  std::vector<u32> traffics;         ///< [collective]
  std::vector<ReductionTree> trees;  ///< [collective]

  [[nodiscard]] u32 count() const noexcept { return static_cast<u32>(traffics.size()); }
};

class Reductions {
 public:
  using PacketId = core::PacketId;

  /// What a switch has of a collective.
  struct Sum {
    PacketId packet = kNone;  ///< that goes on; kNone: nothing is here
    PacketId sent = kNone;    ///< what goes out: that one, or the result
    u32 group = 0;            ///< Packet::message
    u64 weight = 0;           ///< terminals whose contributions are here as a whole
    u64 value = 0;            ///< of these
    u64 joined = 0;           ///< inputs over which they came
    u16 written = 0;          ///< chunks that all have brought
    u16 kept = 0;             ///< chunks of these in the buffer, copies of the header included
    u8 hops = 0;              ///< most of a contribution
  };

  /// `shard`: whose switches they are.
  Reductions(engine::Builder& builder, u32 shard, std::shared_ptr<const Collectives> collectives, u32 switches,
             u32 ports)
      : traffics_(builder.traffics()),
        terminals_(builder.terminals(shard)),
        pool_(terminals_.pool()),
        pools_(builder.pools()),
        collectives_(std::move(collectives)),
        ports_(ports),
        own_(std::size_t{collectives_->count()} * builder.topology().graph().terminals(), kNone),
        sums_(std::size_t{switches} * collectives_->count()),
        parts_(sums_.size() * ports),
        metrics_(builder.settings().steady) {
    if (!any()) return;
    using Kind = engine::OwnMetrics::Kind;
    done_ = metrics_.declare("reductions", "reductions", Kind::total);
    combined_ = metrics_.declare("combined_worms", "worms", Kind::total);
  }

  [[nodiscard]] bool any() const noexcept { return collectives_->count() != 0; }
  [[nodiscard]] u32 count() const noexcept { return collectives_->count(); }
  [[nodiscard]] engine::OwnMetrics* metrics() noexcept { return any() ? &metrics_ : nullptr; }

  void reset() {
    std::fill(own_.begin(), own_.end(), kNone);
    std::fill(sums_.begin(), sums_.end(), Sum{});
    std::fill(parts_.begin(), parts_.end(), u16{0});
    wrong_ = 0;
    expected_of_ = kNone;
    metrics_.clear();
  }
  void archive(Archive& a) { a(own_, sums_, parts_, wrong_, metrics_); }

  // --- packets ---------------------------------------------------------------------------------------------------
  [[nodiscard]] u32 collective(const core::Packet& packet) const noexcept {
    return collectives_->number[packet.traffic];
  }
  [[nodiscard]] bool is_contribution(const core::Packet& packet) const noexcept {
    return any() && packet.copies == 0 && collective(packet) != kNone;
  }
  [[nodiscard]] bool is_result(const core::Packet& packet) const noexcept {
    return any() && packet.copies != 0 && collective(packet) != kNone;
  }
  /// Terminals whose contributions a packet carries; 1 for every other one.
  [[nodiscard]] u64 weight(PacketId id) const noexcept {
    return any() && is_contribution(record(id)) ? carried(id).weight : 1;
  }
  /// A packet left its source.
  void taken(PacketId id) {
    if (!any()) return;
    const core::Packet& packet = pool_[id];
    if (!is_contribution(packet)) return;
    carried(id) = {traffics_[packet.traffic]->contribution(packet.source, packet.message), 1};
    own(collective(packet), packet.source) = id;
  }
  /// The tail of a result arrived at a terminal; who has its record has to hear of it.
  void deliver(PacketId id, u32 terminal, Tick now, u32 hops, Tick serialization) noexcept {
    const core::Packet& packet = record(id);
    const PacketId mine = std::exchange(own(collective(packet), terminal), kNone);
    if (mine == kNone || pool_[mine].message != packet.message || carried(id).value != expected(packet)) ++wrong_;
    terminals_.sink.deliver_result(mine == kNone ? packet : pool_[mine], terminal, now, hops, serialization);
    if (mine != kNone) pool_.release(mine);
  }

  // --- switches --------------------------------------------------------------------------------------------------
  [[nodiscard]] const ReductionTree::Place& place(u32 node, u32 r) const noexcept {
    return collectives_->trees[r].places[node];
  }
  [[nodiscard]] Sum& sum(u32 s, u32 r) noexcept { return sums_[s * count() + r]; }
  [[nodiscard]] const Sum& sum(u32 s, u32 r) const noexcept { return sums_[s * count() + r]; }
  /// Chunks that an input has contributed.
  [[nodiscard]] u16& parts(u32 s, u32 r, u32 i) noexcept { return parts_[(s * count() + r) * ports_ + i]; }
  [[nodiscard]] u16 parts(u32 s, u32 r, u32 i) const noexcept { return parts_[(s * count() + r) * ports_ + i]; }
  /// Whether a contribution may begin at an input: nothing of another operation is there.
  [[nodiscard]] bool may_begin(u32 s, u32 r, PacketId id) const noexcept {
    return sum(s, r).packet == kNone || sum(s, r).group == record(id).message;
  }
  /// A chunk of a contribution is added to the sum. True: the sum has one more chunk that all have brought.
  [[nodiscard]] bool add(u32 s, u32 node, u32 r, u32 i, PacketId id, u8 hops, bool tail) noexcept {
    Sum& sum = this->sum(s, r);
    if (sum.packet == kNone) {
      sum.packet = id;
      sum.group = record(id).message;
    } else if (sum.packet != id && tail) {
      metrics_.count(combined_);
    }
    sum.hops = std::max(sum.hops, hops);
    ++parts(s, r, i);
    if (tail) {
      sum.joined |= u64{1} << i;
      sum.weight += carried(id).weight;
      sum.value += carried(id).value;
    }
    const u64 children = place(node, r).children;
    for (u64 m = children; m != 0; m &= m - 1) {
      if (parts(s, r, static_cast<u32>(std::countr_zero(m))) == sum.written) return false;
    }
    if (++sum.written == 1) sum.sent = place(node, r).top ? turn_round(sum.packet, r) : sum.packet;
    if (sum.joined == children) carried(sum.sent) = {sum.value, sum.weight};
    return true;
  }
  [[nodiscard]] bool is_whole(u32 s, u32 node, u32 r) const noexcept {
    return sum(s, r).joined == place(node, r).children;
  }
  /// All of a sum has left.
  void clear(u32 s, u32 r) noexcept {
    sum(s, r) = {};
    for (u32 i = 0; i < ports_; ++i) parts(s, r, i) = 0;
  }
  /// Chunks of sums in the buffer, which all have brought.
  [[nodiscard]] u32 kept(u32 s) const noexcept {
    u32 chunks = 0;
    for (u32 r = 0; r < count(); ++r) chunks += sum(s, r).kept;
    return chunks;
  }
  /// Chunks of sums that some have brought and others not.
  [[nodiscard]] u32 partial(u32 s) const noexcept {
    u32 chunks = 0;
    for (u32 r = 0; r < count(); ++r) {
      u16 most = 0;
      for (u32 i = 0; i < ports_; ++i) most = std::max(most, parts(s, r, i));
      chunks += sum(s, r).packet == kNone ? 0U : u32{most} - sum(s, r).written;
    }
    return chunks;
  }

  // --- audits ----------------------------------------------------------------------------------------------------
  [[nodiscard]] u64 digest_of(u32 s, u32 r) const noexcept {
    const Sum& sum = this->sum(s, r);
    Hasher h;
    for (const u64 v : {u64{sum.group}, sum.weight, sum.value, sum.joined, u64{sum.written}, u64{sum.hops}}) {
      h.add(v);
    }
    for (u32 i = 0; i < ports_; ++i) h.add(parts(s, r, i));
    return h.value();
  }
  void audit(engine::Holdings& into) const {
    if (wrong_ == 0) return;
    into.violations.push_back(
        fmt::format("{} results of reductions have another value than the sum of the contributions", wrong_));
  }

 private:
  [[nodiscard]] engine::PacketPool& pool(PacketId id) const noexcept {
    return *pools_[id >> engine::PacketPool::kIndexBits];
  }
  [[nodiscard]] const core::Packet& record(PacketId id) const noexcept { return pool(id)[id]; }
  [[nodiscard]] engine::Contribution& carried(PacketId id) const noexcept { return pool(id).contribution(id); }
  [[nodiscard]] PacketId& own(u32 r, u32 terminal) noexcept { return own_[r * (own_.size() / count()) + terminal]; }
  /// The worm that brings the result to all members.
  [[nodiscard]] PacketId turn_round(PacketId from, u32 r) {
    const PacketId id = pool_.allocate();
    pool_[id] = record(from);
    pool_.open_header(id, [&](std::span<u64> bits) { traffics_[collectives_->traffics[r]]->members(bits); });
    pool_[id].copies = static_cast<u16>(pool_.owed(id));
    metrics_.count(done_);
    return id;
  }
  /// What the traffic says that the members add up to, which it computes without asking what was sent.
  [[nodiscard]] u64 expected(const core::Packet& packet) noexcept {
    if (expected_of_ != packet.traffic || expected_group_ != packet.message) {
      expected_of_ = packet.traffic;
      expected_group_ = packet.message;
      expected_ = traffics_[packet.traffic]->reduced(packet.message);
    }
    return expected_;
  }

  std::span<core::Traffic* const> traffics_;
  engine::Terminals& terminals_;
  engine::PacketPool& pool_;
  std::vector<engine::PacketPool*> pools_;  ///< [slot of a handle]
  std::shared_ptr<const Collectives> collectives_;
  u32 ports_;
  std::vector<PacketId> own_;  ///< [collective][terminal]: its contribution that is under way
  std::vector<Sum> sums_;      ///< [switch][collective]
  std::vector<u16> parts_;     ///< [switch][collective][input]
  u64 wrong_ = 0;
  u32 expected_of_ = kNone;  ///< the traffic and the message of the value that was asked for last
  u32 expected_group_ = 0;
  u64 expected_ = 0;
  engine::OwnMetrics metrics_;
  u32 done_ = 0;
  u32 combined_ = 0;
};

}  // namespace banyan::switching
