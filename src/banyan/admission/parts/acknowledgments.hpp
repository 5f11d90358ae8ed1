// Acknowledgments of several packets in one: the receiving end of windows.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "banyan/admission/parts/carrier.hpp"
#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"

namespace banyan::admission::parts {

/// `own`, the parameters of acknowledgments and those of the carrier. `every`: packets that one speaks of by default,
/// `wait`: how long one waits by default, in words.
[[nodiscard]] inline std::vector<config::Parameter> with_acknowledgments(
    std::vector<config::Parameter> own, i64 every,
    const std::string& wait = "the longest round trip of the network without load") {
  using config::Parameter;
  own.push_back(Parameter::integer("feedback_every", every)
                    .unit("packets")
                    .range(1, 65'535)
                    .doc("Most packets of a flow that one acknowledgment speaks of, and no more than the smallest "
                         "window holds where that is a packet; 1: each has its own, 2: the delayed acknowledgments "
                         "of TCP (RFC 5681)"));
  own.push_back(Parameter::integer("feedback_wait", 0)
                    .unit("cycles")
                    .range(0, 1'000'000'000)
                    .doc("Longest time for which an acknowledgment waits for more packets to speak of; 0: " + wait));
  return with_carrier(std::move(own));
}

/// The receiving ends of one shard.
class Acknowledgments {
 public:
  Acknowledgments() = default;
  Acknowledgments(u32 every, Tick wait) : every_(every), wait_(wait) {}

  void begin() noexcept { ends_.clear(); }
  /// Longest time from a packet to the acknowledgment that speaks of it.
  [[nodiscard]] Tick wait() const noexcept { return every_ == 1 ? 0 : wait_; }
  void open(u32 end) { ends_.resize(std::size_t{end} + 1); }
  /// `one`: what the acknowledgment of a packet says. The last `value` and `hops` stand, of several at one tick the
  /// largest; what is counted is added up. One that is full goes in the next tick, so that the order of arrivals in a
  /// tick does not show.
  void arrived(u32 end, const core::Feedback& one, Tick now, core::Pace& pace) noexcept {
    if (every_ == 1) return pace.tell(end, one);
    End& e = ends_[end];
    const bool again = e.sum.packets != 0 && e.last == now;
    e.last = now;
    e.sum.flits += one.flits;
    e.sum.packets = static_cast<u16>(e.sum.packets + one.packets);
    e.sum.marked = static_cast<u16>(e.sum.marked + one.marked);
    e.sum.value = again ? std::max(e.sum.value, one.value) : one.value;
    e.sum.hops = again ? std::max(e.sum.hops, one.hops) : one.hops;
    const Tick due = e.sum.packets >= every_ ? now + 1 : now + wait_;
    if (due >= e.due) return;
    e.due = due;
    pace.wake(end, due);
  }
  /// What waits goes now.
  void flush(u32 end, core::Pace& pace) noexcept {
    if (ends_[end].due != kNever) tell(end, pace);
  }
  /// The timer of an acknowledgment that has gone meanwhile comes too early for the one that waits now.
  void timer(u32 end, Tick now, core::Pace& pace) noexcept {
    if (now >= ends_[end].due) tell(end, pace);
  }
  [[nodiscard]] u64 digest(u32 end) const noexcept {
    const End& e = ends_[end];
    if (e.due == kNever) return 0;
    Hasher h;
    for (const u64 v : {e.due, u64{e.sum.flits}, u64{e.sum.packets}, u64{e.sum.marked}, u64{e.sum.value}}) h.add(v);
    return h.value();
  }
  void archive(Archive& a) { a(ends_); }

 private:
  struct End {
    core::Feedback sum;
    Tick last = 0;
    Tick due = kNever;  ///< kNever: nothing waits
  };

  void tell(u32 end, core::Pace& pace) noexcept {
    pace.tell(end, ends_[end].sum);
    ends_[end] = {};
  }

  u32 every_ = 1;
  Tick wait_ = 1;
  std::vector<End> ends_;  ///< [end]; of sending ends nothing changes
};

/// `least`: packets of the smallest window. To wait for more than these would stop the flow.
[[nodiscard]] inline Acknowledgments acknowledgments(const config::Values& values,
                                                     const core::AdmissionContext& context, double least = 65'535.0) {
  const double every = std::min<double>(values.natural("feedback_every"), least);
  if (every < 2.0) return {};
  const u32 wait = values.natural("feedback_wait");
  return {static_cast<u32>(every), wait != 0 ? wait : std::max<Tick>(context.longest(), 1)};
}

/// Where a window may be less than a packet: what comes as fast as the slowest link of a terminal takes it is told of
/// together, and anything slower packet by packet, so that no window waits for a packet that it does not let go.
[[nodiscard]] inline Acknowledgments prompt_acknowledgments(const config::Values& values,
                                                            const core::AdmissionContext& context) {
  const u32 every = values.natural("feedback_every");
  if (every < 2) return {};
  u64 packet = 1;
  for (u32 t = 0; t < context.terminals; ++t) {
    packet = std::max({packet, context.injection_cycles(t, context.longest_packet),
                       context.ejection_cycles(t, context.longest_packet)});
  }
  const u32 wait = values.natural("feedback_wait");
  return {every, wait != 0 ? wait : every * packet};
}

}  // namespace banyan::admission::parts
