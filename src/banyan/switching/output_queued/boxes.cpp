#include "banyan/switching/output_queued/boxes.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace banyan::switching::output_queued {
namespace {

constexpr u64 kReserveMost = 1U << 20U;  ///< records reserved at once; larger networks grow while warming up

}  // namespace

Boxes::Boxes(engine::Builder& builder, u32 ports, u32 places, const CombiningParameters* combining)
    : graph_(builder.topology().graph()),
      terminals_(builder.terminals(0)),
      pool_(terminals_.pool()),
      layout_(graph_, ports),
      order_(graph_, layout_),
      queues_(layout_, places),
      free_slots_(graph_.terminals() / 64 + 1) {
  const u64 most = static_cast<u64>(graph_.channels().size()) * places + graph_.terminals();
  // Where fetch-and-adds are combined, as many packets again are on their way back.
  pool_.reserve(static_cast<u32>(std::min<u64>(combining == nullptr ? most : 2 * most, kReserveMost)));
  if (combining != nullptr) fetch_adds_ = std::make_unique<FetchAdds>(builder, *combining, layout_, order_, places);
}

void Boxes::reset(u32 replication) {
  queues_.reset();
  std::fill(free_slots_.begin(), free_slots_.end(), 0);
  for (u32 t = 0; t < graph_.terminals(); ++t) free_slots_[t >> 6U] |= u64{1} << (t & 63U);
  movements_ = left_ = 0;
  if (fetch_adds_ != nullptr) fetch_adds_->reset(replication);
}

void Boxes::archive(Archive& a) {
  a(queues_, free_slots_, movements_, left_);
  if (fetch_adds_ != nullptr) a(*fetch_adds_);
}

u64 Boxes::digest() const {
  u64 sum = mix64(movements_);
  for (u32 q = 0; q < layout_.queues; ++q) {
    if (queues_.count(q) == 0) continue;
    Hasher h;
    h.add(q);
    for (u32 i = 0; i < queues_.count(q); ++i) {
      const core::PacketId id = queues_.entry(q, i).packet;
      const core::Packet& packet = pool_[id];
      h.add(packet.birth);
      h.add((static_cast<u64>(packet.source) << 32U) | packet.destination);
      if (fetch_adds_ != nullptr) h.add(fetch_adds_->digest_of(id));
    }
    sum += h.value();
  }
  return fetch_adds_ == nullptr ? sum : sum + fetch_adds_->digest();
}

void Boxes::hold(engine::Holdings& into) const {
  for (u32 q = 0; q < layout_.queues; ++q) {
    const u32 count = queues_.count(q);
    into.packets += count;
    into.flits += count;
    if (count > queues_.places()) {
      into.violations.push_back(fmt::format("buffer {} holds {} packets in {} places", q, count, queues_.places()));
    }
  }
  if (fetch_adds_ == nullptr) return;
  fetch_adds_->hold(into, [&](auto&& f) {
    for (u32 q = 0; q < layout_.queues; ++q) {
      for (u32 i = 0; i < queues_.count(q); ++i) f(queues_.entry(q, i).packet);
    }
  });
}

u64 Boxes::movements() const noexcept {
  return fetch_adds_ == nullptr ? movements_ : movements_ + fetch_adds_->crossings();
}

engine::OwnMetrics* Boxes::own_metrics() noexcept { return fetch_adds_ == nullptr ? nullptr : &fetch_adds_->metrics(); }

bool Boxes::activity(engine::Activity& into) const {
  u64 buffered = 0;
  for (u32 q = 0; q < layout_.queues; ++q) buffered += layout_.is_slot(q) ? 0 : queues_.count(q);
  if (fetch_adds_ != nullptr) {
    const u64 there = movements_ - left_;
    const u64 writes = there + fetch_adds_->writes();
    into += {writes, writes - buffered - fetch_adds_->buffered(), writes, movements(), 0, false};
    return true;
  }
  const u64 writes = movements_ - terminals_.recorder.delivered();
  into += {writes, writes - buffered, writes, movements_, 0, false};
  return true;
}

void Boxes::blocked_on(engine::BlockedView& into) const {
  using engine::Resource;
  using engine::Why;
  for (u32 s = 0; s < layout_.boxes; ++s) {
    const u32 base = s * layout_.stride;
    for (u32 p = 0; p < graph_.inputs(s); ++p) {
      const u32 q = base + p;
      if (queues_.count(q) == 0) continue;
      const u32 channel = graph_.channel_into(s, p);
      const bool slot = layout_.is_slot(q);
      const Resource here = slot ? Resource::source(layout_.terminal_of_slot[q]) : Resource::output(channel);
      show_queue(here, q, slot ? 1 : queues_.places(), into);
      const u32 out = queues_.head(q).route & (layout_.stride - 1);
      const u32 to = layout_.target[base + out];
      if (to == kNone) continue;
      const bool room = queues_.has_room(to, 1);
      into.blocked(here, room ? Resource::port(channel) : Resource::output(graph_.channel_out_of(s, out)),
                   room ? Why::bandwidth : Why::space, pool_[queues_.head(q).packet], channel);
    }
  }
  for (u32 t = 0; t < layout_.terminals; ++t) {
    const u32 q = layout_.ejection_base + t;
    if (queues_.count(q) == 0) continue;
    const u32 channel = graph_.ejection(t);
    show_queue(Resource::output(channel), q, queues_.places(), into);
    into.blocked(Resource::output(channel), Resource::port(channel), Why::bandwidth, pool_[queues_.head(q).packet],
                 channel);
  }
}

void Boxes::show_queue(engine::Resource here, u32 q, u32 places, engine::BlockedView& into) const {
  into.fill(here, queues_.count(q), places);
  if (!into.wants_contents()) return;
  for (u32 i = 0; i < queues_.count(q); ++i) into.packet(here, pool_[queues_.entry(q, i).packet]);
}

void Boxes::occupancy(std::vector<u64>& levels) const {
  for (u32 s = 0; s < layout_.boxes; ++s) {
    for (u32 p = 0; p < graph_.outputs(s); ++p) {
      const u32 q = layout_.target[s * layout_.stride + p];
      if (q != kNone) levels[graph_.level(s)] += queues_.count(q);
    }
  }
}

void Boxes::full_channels(std::vector<u32>& channels) const {
  for (u32 s = 0; s < layout_.boxes; ++s) {
    for (u32 p = 0; p < graph_.outputs(s); ++p) {
      const u32 q = layout_.target[s * layout_.stride + p];
      if (q != kNone && !queues_.has_room(q, 1)) channels.push_back(graph_.channel_out_of(s, p));
    }
  }
}

}  // namespace banyan::switching::output_queued
