// The loop of a population: instantiated in the model's own file, so that accept and step are inlined into it.
// What a model has to have, and what it may have: core/switch_model.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "banyan/core/switch_model.hpp"
#include "banyan/engine/io.hpp"
#include "banyan/engine/population.hpp"
#include "banyan/engine/wake_wheel.hpp"
#include "banyan/engine/wave.hpp"

namespace banyan::engine {

/// The part of a channel population that the wiring code sees.
class ChannelPopulation : public Population {
 public:
  /// Far ends: [model's output port], [model's input port].
  std::vector<Target> down;
  std::vector<Target> up;

  [[nodiscard]] virtual Inbox& inbox() noexcept = 0;
  virtual void connect(Wires& wires, u32 population) = 0;
};

template <class Model>
class PopulationOf final : public ChannelPopulation {
  static_assert(core::SwitchModel<Model>);

 public:
  PopulationOf(std::unique_ptr<Model> model, bool permuted, bool step_all)
      : model_(std::move(model)),
        inbox_(model_->horizon() + (kBlocks ? kMostWaveTicks : 0)),
        wheel_(model_->entities()),
        awake_((model_->entities() + 63) / 64),
        permuted_(permuted),
        step_all_(step_all) {}

  Inbox& inbox() noexcept override { return inbox_; }
  void connect(Wires& wires, u32 population) override {
    io_ = std::make_unique<Io>(wires, population, down, up);
    probe_ = wires.probe;
    population_ = population;
    if (blocks().count == 0) return;
    const std::size_t ports = up.size() + down.size();
    for (Coming& coming : coming_) {
      coming.flits.reserve(ports, awake_.size());
      coming.controls.reserve(2 * ports, awake_.size());
    }
  }
  [[nodiscard]] Model& model() noexcept { return *model_; }

  void reset(u32 replication) override {
    inbox_.clear();
    wheel_.clear();
    std::fill(awake_.begin(), awake_.end(), 0);
    only_asked_ = false;
    model_->reset(replication);
  }

  [[nodiscard]] Blocks blocks() const override {
    if constexpr (kBlocks) {
      if (probe_ == nullptr && !step_all_ && model_->reach() != kNone)
        return {static_cast<u32>(awake_.size()), model_->reach(), permuted_};
    }
    return {};
  }
  void begin_wave(Tick now, Tick ticks) noexcept override {
    wave_begin_ = now;
    wave_ticks_ = ticks;
    inbox_.come_to(now);
    wheel_.begin_wave(now, ticks);
    if constexpr (has(core::kBeginWave)) model_->begin_wave(now);
  }
  void run_blocks(u32 first, u32 last, Tick now, bool fresh) noexcept override {
    if constexpr (kBlocks) {
      if constexpr (has(core::kBeginBlock)) {
        if (fresh) model_->begin_block(first, now);
      }
      for (Tick t = now; t < now + 2; ++t) {
        io_->set_now(t);
        take_arrivals(t, first, last);
        wheel_.take(t, awake_, first, last);
        if constexpr (has(core::kWakeBySource)) model_->wake_by_source(t, awake_, first, last);
        for (u32 w = first; w < last; ++w) {
          if constexpr (has(core::kStepBlock)) {
            model_->step_block(w, awake_[w], t, *io_);
          } else if (permuted_) {
            step_word<true>(w, t);
          } else {
            step_word<false>(w, t);
          }
        }
      }
    }
  }
  Tick end_wave() noexcept override {
    for (Tick t = 0; t < wave_ticks_; ++t) {
      inbox_.take(wave_begin_ + t, [](const Arrivals&) {});
      coming_[t].flits.restart();
      coming_[t].controls.restart();
    }
    wheel_.end_wave(wave_begin_, wave_ticks_);
    if constexpr (has(core::kEndWave)) model_->end_wave(wave_begin_, wave_ticks_);
    return next_after(wave_begin_ + wave_ticks_ - 1);
  }

  Tick run(Tick now) noexcept override {
    io_->set_now(now);
    take_arrivals(now);
    wheel_.take(now, awake_);
    if constexpr (has(core::kWakeBySource)) model_->wake_by_source(now, awake_);
    if (step_all_) mark_all();
    if constexpr (has(core::kStepMany)) {
      model_->step_many(awake_, now, permuted_, *io_);
    } else if (permuted_) {
      step_awake<true>(now);
    } else {
      step_awake<false>(now);
    }
    const Tick next = next_after(now);
    if (!step_all_) return next;
    only_asked_ = next == kNever;
    return now + 1;
  }

  u64 digest() const override {
    u64 sum = model_->digest();
    inbox_.for_each([&](const auto& a) {
      if constexpr (std::is_same_v<std::decay_t<decltype(a)>, FlitArrival>)
        sum += flit_digest(io_->packet(a.flit.packet), a.flit);
    });
    return sum;
  }
  void hold(Holdings& into) const override {
    inbox_.for_each([&](const auto& a) { hold(a, into); });
    model_->hold(into);
  }
  void hold(const FlitArrival& a, Holdings& into) const override {
    into.add(a.flit);
    if constexpr (has(core::kHoldArrival)) { model_->hold_arrival(a.entity, a.port, a.flit, into); }
  }
  void hold(const ControlArrival& a, Holdings& into) const override {
    if constexpr (has(core::kHoldArrival)) { model_->hold_arrival(a.entity, a.port, a.control, into); }
  }
  u64 movements() const noexcept override { return model_->movements(); }
  bool only_asked() const noexcept override { return only_asked_; }
  bool expects(Tick) const override {
    if (!inbox_.empty()) return true;
    if constexpr (has(core::kExpects)) return model_->expects();
    return false;
  }
  [[nodiscard]] bool looks_back() const noexcept override { return false; }
  Tick longest_silence() const override {
    if constexpr (has(core::kLongestSilence)) return model_->longest_silence();
    return 0;
  }
  bool activity(Activity& into) const override {
    if constexpr (has(core::kActivity)) {
      model_->activity(into);
      return true;
    }
    return false;
  }
  OwnMetrics* own_metrics() noexcept override {
    if constexpr (has(core::kOwnMetrics)) return model_->own_metrics();
    return nullptr;
  }
  void archive(Archive& a) override {
    if constexpr (has(core::kArchive)) {
      a.same(model_->entities());
      a(inbox_, wheel_, awake_, only_asked_, *model_);
    } else {
      throw NotArchived("switch");
    }
  }
  void blocked_on(BlockedView& into) const override {
    if constexpr (has(core::kBlockedOn)) model_->blocked_on(into);
  }
  void occupancy(std::vector<u64>& levels) const override { model_->occupancy(levels); }
  void full_channels(std::vector<u32>& channels) const override {
    if constexpr (has(core::kFullChannels)) model_->full_channels(channels);
  }

 private:
  [[nodiscard]] static constexpr bool has(u32 provided) { return (Model::kProvides & provided) != 0; }
  static constexpr bool kBlocks = (Model::kProvides & core::kReach) != 0;
  /// What arrives at a tick of a wave.
  struct Coming {
    BlockLists flits;
    BlockLists controls;
  };

  [[nodiscard]] Tick next_after(Tick now) const noexcept {
    const Tick next = std::min(wheel_.next_after(now), inbox_.next_after(now));
    if constexpr (has(core::kNextSourceAfter)) return std::min(next, model_->next_source_after(now));
    return next;
  }
  /// Takes in what arrives at the blocks [first, last), in a wave.
  void take_arrivals(Tick now, u32 first, u32 last) noexcept {
    const Arrivals* const arrivals = inbox_.at(now);
    if (arrivals == nullptr) return;
    Coming& coming = coming_[now - wave_begin_];
    coming.flits.sort(arrivals->flits);
    coming.controls.sort(arrivals->controls);
    for (u32 block = first; block < last; ++block) {
      coming.flits.take(block, [&](u32 k) {
        const FlitArrival& a = arrivals->flits[k];
        note(a.entity, model_->accept(a.entity, a.port, a.flit, *io_), now);
      });
      coming.controls.take(block, [&](u32 k) {
        const ControlArrival& a = arrivals->controls[k];
        note(a.entity, model_->accept(a.entity, a.port, a.control, *io_), now);
      });
    }
  }
  void take_arrivals(Tick now) {
    inbox_.take(now, [&](Arrivals& arrivals) {
      if (probe_ != nullptr) [[unlikely]]
        show(arrivals, now);
      deliver(arrivals.flits, now, [](const FlitArrival& a) -> const core::Flit& { return a.flit; });
      deliver(arrivals.controls, now, [](const ControlArrival& a) -> const core::Control& { return a.control; });
    });
  }

  static constexpr std::size_t kAhead = 8;  ///< arrivals for whose memory is asked before they are taken

  /// Models whose network exceeds the cache ask early for what the next arrivals will touch.
  template <class Arrival, class Pod>
  void deliver(const std::vector<Arrival>& arrivals, Tick now, Pod pod) {
    if constexpr (has(core::kFetch)) {
      if (model_->fetches()) {
        for (std::size_t k = 0; k < arrivals.size(); ++k) {
          if (k + kAhead < arrivals.size()) {
            const Arrival& ahead = arrivals[k + kAhead];
            model_->fetch(ahead.entity, ahead.port, pod(ahead), *io_);
          }
          const Arrival& a = arrivals[k];
          note(a.entity, model_->accept(a.entity, a.port, pod(a), *io_), now);
        }
        return;
      }
    }
    for (const Arrival& a : arrivals) note(a.entity, model_->accept(a.entity, a.port, pod(a), *io_), now);
  }

  /// What accept answered: whether, or when, to step the entity.
  void note(u32 e, bool step, Tick) noexcept {
    if (step) mark(e);
  }
  void note(u32 e, Tick at, Tick now) {
    if (at == now) {
      mark(e);
    } else if (at != kNever) {
      wheel_.wake(e, at, now);
    }
  }
  void mark(u32 e) noexcept { awake_[e >> 6U] |= u64{1} << (e & 63U); }
  void mark_all() noexcept {
    for (u32 e = 0; e < model_->entities(); ++e) mark(e);
  }

  void show(const Arrivals& arrivals, Tick now) {
    for (const FlitArrival& a : arrivals.flits) {
      probe_->arrived(population_, a.entity, a.port, a.flit, io_->packet(a.flit.packet), now);
    }
    for (const ControlArrival& a : arrivals.controls) probe_->credited(population_, a.entity, a.port, a.control, now);
  }

  template <bool Permuted>
  void step_awake(Tick now) noexcept {
    const std::size_t words = awake_.size();
    for (std::size_t i = 0; i < words; ++i) step_word<Permuted>(Permuted ? words - 1 - i : i, now);
  }
  template <bool Permuted>
  void step_word(std::size_t w, Tick now) noexcept {
    u64 bits = awake_[w];
    awake_[w] = 0;
    while (bits != 0) {
      const u32 bit = static_cast<u32>(Permuted ? 63 - std::countl_zero(bits) : std::countr_zero(bits));
      bits &= ~(u64{1} << bit);
      const u32 e = static_cast<u32>(w * 64) + bit;
      const Tick next = model_->step(e, now, *io_);
      if (next != kNever) wheel_.wake(e, next, now);
    }
  }

  std::unique_ptr<Model> model_;
  Inbox inbox_;
  std::array<Coming, kBlocks ? kMostWaveTicks : 0> coming_;  ///< [tick of the wave]
  Tick wave_begin_ = 0;
  Tick wave_ticks_ = 0;
  WakeWheel wheel_;
  std::vector<u64> awake_;
  std::unique_ptr<Io> io_;
  Probe* probe_ = nullptr;
  u32 population_ = 0;
  bool permuted_;
  bool step_all_;
  bool only_asked_ = false;  ///< stepping all is the only reason for the next run
};

}  // namespace banyan::engine
