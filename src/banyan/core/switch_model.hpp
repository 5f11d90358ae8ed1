// What a switch model per switch must have, and what it may have: the contract of engine::PopulationOf<Model>.
//
// A model is a plain class with flat arrays for all its entities (switches) of one shard. Deliveries of a tick precede
// its steps; accept calls of different ports must commute; a step without reason must change nothing.
#pragma once

#include <concepts>
#include <span>
#include <vector>

#include "banyan/core/packet.hpp"

namespace banyan {
class Archive;
}  // namespace banyan

namespace banyan::engine {
class BlockedView;
class Io;
class OwnMetrics;
struct Activity;
struct Holdings;
}  // namespace banyan::engine

namespace banyan::core {

/// What every model has.
template <class Model>
concept RequiredOfSwitchModel = requires(Model m, const Model& c, u32 entity, u32 port, Tick now, const Flit& flit,
                                         const Control& control, engine::Io& io, engine::Holdings& held,
                                         std::vector<u64>& levels) {
  // A flit has arrived at a port: true, or the present tick, steps the entity now; false, or kNever, does not.
  //   bool accept(u32 e, u32 port, const core::Flit& f, Io&) noexcept { queue(e, port).push(f); return true; }
  requires std::same_as<decltype(m.accept(entity, port, flit, io)), bool> ||
      std::same_as<decltype(m.accept(entity, port, flit, io)), Tick>;
  // A control word has arrived at a port, likewise: a credit that changes nothing steps nobody.
  //   bool accept(u32 e, u32 port, const core::Control& c, Io&) noexcept { return credits(e, port)++ == 0; }
  requires std::same_as<decltype(m.accept(entity, port, control, io)), bool> ||
      std::same_as<decltype(m.accept(entity, port, control, io)), Tick>;
  // How many switches of this shard there are.
  //   u32 entities() const { return switches_; }
  { c.entities() } -> std::convertible_to<u32>;
  // The longest way (latency + extra) of anything that arrives.
  //   Tick horizon() const { return longest_latency_ + kSerialization; }
  { c.horizon() } -> std::convertible_to<Tick>;
  // How many flits have moved so far: a watchdog looks whether the number grows.
  //   u64 movements() const { return moved_; }
  { c.movements() } -> std::convertible_to<u64>;
  // Makes the network empty, at tick 0, with random words of that replication.
  //   void reset(u32 replication) { clear_queues(); replication_ = replication; }
  m.reset(u32{});
  // A hash of all state, a sum over entities, so that shards add up.
  //   u64 digest() const { u64 sum = 0; for (u32 e = 0; e < switches_; ++e) sum += hash_of(e); return sum; }
  { c.digest() } -> std::convertible_to<u64>;
  // Shows the audit all that it holds.
  //   void hold(engine::Holdings& held) const { for (const core::Flit& f : all_flits()) held.add(f); }
  c.hold(held);
  // Adds the packets in its buffers to the level of each switch.
  //   void occupancy(std::vector<u64>& levels) const { for (const Queue& q : queues_) levels[q.at] += q.packets(); }
  c.occupancy(levels);
};

/// The functions that a model may have beside these. It lists them: `static constexpr u32 kProvides = kStep |
/// kBlockedOn;`
enum Provided : u32 {
  /// Steps one entity, and says when to step it next if nothing arrives before.
  ///   Tick step(u32 e, Tick now, engine::Io& io) noexcept { return forward(e, io) ? now + 1 : kNever; }
  kStep = 1U << 0U,
  /// Steps all that are awake, in place of step; permuted: in another order, which must change nothing.
  ///   void step_many(std::span<u64> awake, Tick now, bool permuted, engine::Io& io) noexcept;
  kStepMany = 1U << 1U,
  /// Adds those that have something to do by themselves, a bit per entity.
  ///   void wake_by_source(Tick now, std::vector<u64>& awake) noexcept { awake[0] |= due_at(now); }
  kWakeBySource = 1U << 2U,
  /// Says when wake_by_source or step_many will have some.
  ///   Tick next_source_after(Tick now) const noexcept { return calendar_.next_after(now); }
  kNextSourceAfter = 1U << 3U,
  /// Says whether it has something on a wire of its own.
  ///   bool expects() const noexcept { return on_wires_ != 0; }
  kExpects = 1U << 4U,
  /// Says for how long a flit that gets on may not move.
  ///   Tick longest_silence() const noexcept { return cycles_per_packet_; }
  kLongestSilence = 1U << 17U,
  /// Says how many blocks of 64 entities a channel leads across, at most: blocks may make several ticks at once
  /// (engine/wave.hpp). kNone: they may not.
  ///   u32 reach() const noexcept { return reach_; }
  kReach = 1U << 5U,
  /// Is called before a block makes its first tick of a wave.
  ///   void begin_block(u32 block, Tick now) noexcept { ask_for_memory_of(block); }
  kBeginBlock = 1U << 6U,
  /// Steps those of one block that are awake, as step_many does with all.
  ///   void step_block(u32 block, u64& awake, Tick now, engine::Io& io) noexcept;
  kStepBlock = 1U << 7U,
  /// Is called before a wave, in a model with wake_by_source.
  ///   void begin_wave(Tick now) noexcept { source_.advance(now); }
  kBeginWave = 1U << 8U,
  /// Is called after a wave of so many ticks, likewise.
  ///   void end_wave(Tick now, Tick ticks) noexcept { source_.end_wave(now, ticks); }
  kEndWave = 1U << 9U,
  /// Says who waits for what; every model with buffers has it.
  ///   void blocked_on(engine::BlockedView& view) const { for (const Wait& w : waits()) view.add(w); }
  kBlockedOn = 1U << 10U,
  /// Adds the channels whose buffer is full.
  ///   void full_channels(std::vector<u32>& full) const { for (u32 c : channels_) if (is_full(c)) full.push_back(c); }
  kFullChannels = 1U << 11U,
  /// Adds what its hardware did, for energy.
  ///   void activity(engine::Activity& all) const { all.buffer_writes += writes_; }
  kActivity = 1U << 12U,
  /// Gives what it adds to the result.
  ///   engine::OwnMetrics* own_metrics() noexcept { return &metrics_; }
  kOwnMetrics = 1U << 13U,
  /// Shows the audit what is on the wire to it; likewise for a control word.
  ///   void hold_arrival(u32 e, u32 port, const Flit& f, engine::Holdings& held) const { held.add(f); }
  kHoldArrival = 1U << 14U,
  /// Asks for the memory that accept will need; likewise for a control word.
  ///   void fetch(u32 e, u32 port, const Flit& f, engine::Io&) noexcept { __builtin_prefetch(&queue(e, port)); }
  kFetch = 1U << 15U,
  /// Says whether fetch is to be called: in a small network it is not worth it.
  ///   bool fetches() const noexcept { return larger_than_the_cache_; }
  kFetches = 1U << 16U,
  /// Writes or reads all its state (base/archive.hpp), so that a run can be resumed.
  ///   void archive(Archive& a) { a(queues_, credits_, moved_); }
  kArchive = 1U << 18U,
};

namespace switch_model {

/// Whether a class has a member of that name, whatever its kind: it makes the name ambiguous beside another one.
// NOLINTBEGIN(bugprone-macro-parentheses): a name is no expression
#define BANYAN_SWITCH_MODEL_OPTIONAL(NAME, BIT, ...)                                                                 \
  struct Fallback_##NAME {                                                                                           \
    int NAME;                                                                                                        \
  };                                                                                                                 \
  template <class Model>                                                                                             \
  struct Both_##NAME : Model, Fallback_##NAME {};                                                                    \
  template <class Model>                                                                                             \
  constexpr bool named_##NAME = !requires {                                                                          \
    &Both_##NAME<Model>::NAME;                                                                                       \
  };                                                                                                                 \
  template <class Model>                                                                                             \
  constexpr bool usable_##NAME =                                                                                     \
      requires(Model m, const Model& c, u32 n, Tick now, const Flit& flit, const Control& control, engine::Io& io,   \
               engine::Holdings& held, engine::BlockedView& view, engine::Activity& activity, u64& word, Archive& a, \
               std::vector<u64>& words, std::vector<u32>& numbers) {                                                 \
    __VA_ARGS__                                                                                                      \
  };                                                                                                                 \
  template <class Model>                                                                                             \
  constexpr bool checked_##NAME() {                                                                                  \
    static_assert(!std::is_final_v<Model>,                                                                           \
                  "a switch model cannot be final: its functions are looked for by deriving");                       \
    constexpr bool listed = (Model::kProvides & BIT) != 0;                                                           \
    static_assert(!listed || named_##NAME<Model>, #NAME " is listed in kProvides (" #BIT ") and missing");           \
    static_assert(!listed || !named_##NAME<Model> || usable_##NAME<Model>,                                           \
                  #NAME " has another signature than core/switch_model.hpp asks for");                               \
    static_assert(listed || !named_##NAME<Model>, #NAME " is defined and not listed in kProvides (" #BIT ")");       \
    return true;                                                                                                     \
  }
// NOLINTEND(bugprone-macro-parentheses)

BANYAN_SWITCH_MODEL_OPTIONAL(step, kStep, requires std::same_as<decltype(m.step(n, now, io)), Tick>;)
BANYAN_SWITCH_MODEL_OPTIONAL(step_many, kStepMany, m.step_many(std::span<u64>(words), now, true, io);)
BANYAN_SWITCH_MODEL_OPTIONAL(wake_by_source, kWakeBySource, m.wake_by_source(now, words);)
BANYAN_SWITCH_MODEL_OPTIONAL(next_source_after, kNextSourceAfter,
                             requires std::same_as<decltype(c.next_source_after(now)), Tick>;)
BANYAN_SWITCH_MODEL_OPTIONAL(expects, kExpects, requires std::same_as<decltype(c.expects()), bool>;)
BANYAN_SWITCH_MODEL_OPTIONAL(longest_silence, kLongestSilence,
                             requires std::same_as<decltype(c.longest_silence()), Tick>;)
BANYAN_SWITCH_MODEL_OPTIONAL(reach, kReach, requires std::same_as<decltype(c.reach()), u32>;)
BANYAN_SWITCH_MODEL_OPTIONAL(begin_block, kBeginBlock, m.begin_block(n, now);)
BANYAN_SWITCH_MODEL_OPTIONAL(step_block, kStepBlock, m.step_block(n, word, now, io);)
BANYAN_SWITCH_MODEL_OPTIONAL(begin_wave, kBeginWave, m.begin_wave(now);)
BANYAN_SWITCH_MODEL_OPTIONAL(end_wave, kEndWave, m.end_wave(now, now);)
BANYAN_SWITCH_MODEL_OPTIONAL(blocked_on, kBlockedOn, c.blocked_on(view);)
BANYAN_SWITCH_MODEL_OPTIONAL(full_channels, kFullChannels, c.full_channels(numbers);)
BANYAN_SWITCH_MODEL_OPTIONAL(activity, kActivity, c.activity(activity);)
BANYAN_SWITCH_MODEL_OPTIONAL(own_metrics, kOwnMetrics,
                             requires std::same_as<decltype(m.own_metrics()), engine::OwnMetrics*>;)
BANYAN_SWITCH_MODEL_OPTIONAL(hold_arrival, kHoldArrival, c.hold_arrival(n, n, flit, held);
                             c.hold_arrival(n, n, control, held);)
BANYAN_SWITCH_MODEL_OPTIONAL(fetch, kFetch, m.fetch(n, n, flit, io); m.fetch(n, n, control, io);)
BANYAN_SWITCH_MODEL_OPTIONAL(fetches, kFetches, requires std::same_as<decltype(c.fetches()), bool>;)
BANYAN_SWITCH_MODEL_OPTIONAL(archive, kArchive, m.archive(a);)

#undef BANYAN_SWITCH_MODEL_OPTIONAL

/// Fails to compile, with a sentence, where what is listed and what is defined differ.
template <class Model>
constexpr bool lists_what_it_has() {
  static_assert(
      requires { Model::kProvides; }, "a switch model lists its optional functions in kProvides");
  constexpr bool steps = (Model::kProvides & (kStep | kStepMany)) != 0;
  static_assert(steps, "a switch model has step or step_many");
  return checked_step<Model>() && checked_step_many<Model>() && checked_wake_by_source<Model>() &&
         checked_next_source_after<Model>() && checked_expects<Model>() && checked_longest_silence<Model>() &&
         checked_reach<Model>() && checked_begin_block<Model>() && checked_step_block<Model>() &&
         checked_begin_wave<Model>() && checked_end_wave<Model>() && checked_blocked_on<Model>() &&
         checked_full_channels<Model>() && checked_activity<Model>() && checked_own_metrics<Model>() &&
         checked_hold_arrival<Model>() && checked_fetch<Model>() && checked_fetches<Model>() &&
         checked_archive<Model>();
}

}  // namespace switch_model

/// Every model says `static_assert(core::SwitchModel<Model>)` behind its class. It must not be final.
template <class Model>
concept SwitchModel = RequiredOfSwitchModel<Model> && switch_model::lists_what_it_has<Model>();

}  // namespace banyan::core
