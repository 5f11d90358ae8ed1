#include "banyan/engine/interfaces.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace banyan::engine {

Interfaces::Interfaces(Terminals& terminals, const Setup& setup, std::vector<u32> injection,
                       std::vector<u32> cycles_per_flit)
    : terminals_(terminals),
      setup_(setup),
      injection_(std::move(injection)),
      senders_(terminals.size()),
      credits_(static_cast<std::size_t>(terminals.size()) * setup.vcs),
      pool_(setup.pool == 0 ? 0 : terminals.size()),
      cycles_(std::move(cycles_per_flit)),
      free_at_(cycles_.size()),
      head_at_(static_cast<std::size_t>(terminals.size()) * setup.vcs),
      idle_((terminals.size() + 63) / 64) {}

void Interfaces::reset(u32) {
  std::fill(senders_.begin(), senders_.end(), Sender{});
  std::fill(credits_.begin(), credits_.end(), setup_.credits);
  std::fill(pool_.begin(), pool_.end(), setup_.pool);
  std::fill(free_at_.begin(), free_at_.end(), 0);
  std::fill(head_at_.begin(), head_at_.end(), 0);
  std::fill(idle_.begin(), idle_.end(), 0);
  for (u32 e = 0; e < terminals_.size(); ++e) idle_[e >> 6U] |= u64{1} << (e & 63U);
  received_ = 0;
  order_broken_ = false;
}

// These two in one piece each: in calls a run of requests takes 2 % more instructions.
[[gnu::flatten]] bool Interfaces::accept(u32 e, u32, const core::Flit& flit, Io& io) noexcept {
  io.control_up(e, {kCredit, flit.vc, 1}, setup_.credit_delay);
  ++received_;
  Tick& head_at = head_at_[static_cast<std::size_t>(e) * setup_.vcs + flit.vc];
  if ((flit.flags & core::kHead) != 0) { head_at = io.now() | ((flit.flags & core::kMarked) != 0 ? kMarkedHead : 0); }
  if ((flit.flags & core::kTail) != 0) {
    const core::Packet& packet = io.packet(flit.packet);
    if (flit.sequence + 1U != packet.flits) order_broken_ = true;
    terminals_.sink.deliver(packet, terminals_.global(e), io.now(), flit.auxiliary, io.now() - (head_at & ~kMarkedHead),
                            (head_at & kMarkedHead) != 0, io.value(flit.packet));
    io.release(flit.packet);
  }
  return false;
}

bool Interfaces::accept(u32 e, u32, const core::Control& control, Io&) noexcept {
  give_back(e, control.vc, control.argument);
  return senders_[e].left != 0 || ready(e);
}

void Interfaces::wake_by_source(Tick now, std::vector<u64>& awake) noexcept {
  terminals_.source.advance(now);
  const std::span<const u64> ready = terminals_.source.ready();
  // Terminals with a packet under way wake by themselves; those that wait for credits are woken by them.
  for (std::size_t w = 0; w < awake.size(); ++w) awake[w] |= ready[w] & idle_[w];
}

void Interfaces::wake_by_source(Tick now, std::vector<u64>& awake, u32 first, u32 last) noexcept {
  terminals_.source.advance(now, first, last);
  const std::span<const u64> ready = terminals_.source.ready();
  for (u32 w = first; w < last; ++w) awake[w] |= ready[w] & idle_[w];
}

bool Interfaces::start(u32 e, Tick now) noexcept {
  Sender& sender = senders_[e];
  terminals_.source.prioritize(e, now);
  const u32 need = setup_.whole_packet ? terminals_.source.head_flits(e) : 1;
  const auto [begin, end] = head_vcs(e);
  const bool inside = sender.vc >= begin && sender.vc < end;  // the last used one: the next is tried first
  u32 vc = inside ? sender.vc : end - 1;
  for (u32 i = begin; i < end; ++i) {
    vc = vc + 1 == end ? begin : vc + 1;
    if (!may_start(e, vc, need)) continue;
    sender.packet = terminals_.source.take(e, now);
    sender.left = terminals_.pool()[sender.packet].flits;
    sender.next = 0;
    sender.vc = static_cast<u8>(vc);
    idle_[e >> 6U] &= ~(u64{1} << (e & 63U));
    return true;
  }
  return false;
}

[[gnu::flatten]] Tick Interfaces::step(u32 e, Tick now, Io& io) noexcept {
  Sender& sender = senders_[e];
  if (!cycles_.empty() && free_at_[e] > now) return free_at_[e];
  if (sender.left == 0 && !(ready(e) && start(e, now))) return kNever;
  if (room(e, sender.vc) == 0) return kNever;
  take_place(e, sender.vc);
  core::Flit flit;
  flit.packet = sender.packet;
  flit.destination = terminals_.pool()[sender.packet].destination;
  flit.sequence = sender.next;
  flit.vc = sender.vc;
  flit.flags = static_cast<u8>((sender.next == 0 ? core::kHead : 0) | (sender.left == 1 ? core::kTail : 0));
  ++sender.next;
  --sender.left;
  const Tick cycles = cycles_per_flit(e);
  io.send(e, flit, cycles - 1);
  if (!cycles_.empty()) free_at_[e] = now + cycles;
  if (sender.left != 0) return now + cycles;
  idle_[e >> 6U] |= u64{1} << (e & 63U);
  return ready(e) ? now + cycles : kNever;
}

u64 Interfaces::digest() const {
  u64 sum = 0;
  for (u32 e = 0; e < terminals_.size(); ++e) {
    Hasher h;
    h.add(terminals_.global(e));
    h.add(senders_[e].left);
    h.add(senders_[e].vc);
    for (u32 vc = 0; vc < setup_.vcs; ++vc) h.add(credits_[static_cast<std::size_t>(e) * setup_.vcs + vc]);
    for (u32 vc = 0; vc < setup_.vcs; ++vc) h.add(head_at_[static_cast<std::size_t>(e) * setup_.vcs + vc]);
    sum += h.value();
  }
  return sum;
}

void Interfaces::hold(Holdings& into) const {
  for (const Sender& s : senders_) {
    into.packets += s.left != 0 ? 1U : 0U;
    into.flits += s.left;
  }
  into.flits += received_ - terminals_.recorder.delivered_flits();
  for (u32 e = 0; e < terminals_.size(); ++e) {
    for (u32 vc = 0; vc < setup_.vcs; ++vc) {
      into.places.open(injection_[e], vc, setup_.credits);
      into.places.known(injection_[e], vc, credits_[static_cast<std::size_t>(e) * setup_.vcs + vc]);
    }
  }
  for (const u32 c : credits_) {
    if (c > setup_.credits)
      into.violations.push_back(fmt::format("an interface holds {} credits of {}", c, setup_.credits));
  }
  if (order_broken_) into.violations.emplace_back("a packet's tail arrived before its other flits");
}

void Interfaces::hold_arrival(u32 e, u32, const core::Flit& flit, Holdings& into) const {
  into.places.known(setup_.graph->ejection(terminals_.global(e)), flit.vc, 1);
}

void Interfaces::hold_arrival(u32 e, u32, const core::Control& control, Holdings& into) const {
  into.places.known(injection_[e], control.vc, control.argument);
}

void Interfaces::blocked_on(BlockedView& into) const {
  for (u32 e = 0; e < terminals_.size(); ++e) {
    const Sender& sender = senders_[e];
    const bool under_way = sender.left != 0;
    if (!under_way && !ready(e)) continue;
    const Resource here = Resource::source(terminals_.global(e));
    into.fill(here, 1, 1);
    const u32 need = under_way || !setup_.whole_packet ? 1 : terminals_.source.head_flits(e);
    const u32 first = under_way ? sender.vc : head_vcs(e).first;
    const u32 end = under_way ? sender.vc + 1U : head_vcs(e).second;
    bool room_somewhere = false;
    for (u32 vc = first; vc < end; ++vc) room_somewhere |= under_way ? room(e, vc) >= need : may_start(e, vc, need);
    const core::Packet* packet = under_way ? &terminals_.pool()[sender.packet] : nullptr;
    if (packet != nullptr && into.wants_contents()) into.packet(here, *packet);
    const auto wait = [&](Resource on, Why why) {
      if (packet != nullptr) {
        into.blocked(here, on, why, *packet, injection_[e]);
      } else {
        into.blocked(here, on, why);
      }
    };
    if (room_somewhere) {
      wait(Resource::port(injection_[e]), Why::bandwidth);
      continue;
    }
    for (u32 vc = first; vc < end; ++vc) wait(Resource::input(injection_[e], vc), Why::space);
  }
}

}  // namespace banyan::engine
