// One part of the network: its terminals, its populations, and the times at which they want to run.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/core/topology.hpp"
#include "banyan/engine/border.hpp"
#include "banyan/engine/guests.hpp"
#include "banyan/engine/io.hpp"
#include "banyan/engine/population.hpp"
#include "banyan/engine/terminals.hpp"
#include "banyan/engine/wave.hpp"

namespace banyan::engine {

struct Shard {
  const core::Topology* topology = nullptr;  ///< names what an explanation speaks of
  std::unique_ptr<Probe> probe;              ///< absent unless the run is to write down more
  std::unique_ptr<Terminals> terminals;
  std::vector<std::unique_ptr<Population>> populations;
  /// A shard that another rank steps has no terminals and no populations, and parcels that came from there. The first
  /// one of each rank has the packets of all.
  std::unique_ptr<Guests> guests;
  std::vector<Tick> due;  ///< per population: the next tick at which it runs
  Wave wave;
  Wires wires;
  std::shared_ptr<const std::vector<u32>> shard_of_terminal;  ///< with an admission only
  std::array<std::vector<Parcel>, 2> parcels;                 ///< [parity of the window][destination shard]
  std::array<std::vector<u64>, 2> touched;  ///< [parity]: bit per destination shard, for parcels that are not empty
  std::vector<std::unique_ptr<BorderBlock>> borders;  ///< absent where shards do not make waves together
  std::vector<BorderBlock*> border_of;                ///< [block], with borders only
  u32 waves = 0;                                      ///< that were begun together

  /// Runs everything that is due at `now`; returns the next tick at which something is.
  Tick run(Tick now) noexcept {
    for (std::size_t i = 0; i < populations.size(); ++i) run_one(i, now);
    return next_due();
  }
  /// Likewise, and of the ticks before `end` the next ones with it where blocks may make several at once.
  Tick run(Tick now, Tick end) noexcept {
    if (wave.blocks == 0 || now + 1 >= end) return run(now);
    run_wave(now, std::min<Tick>(wave.pairs, (end - now) / 2), [](u32, Tick, auto&& run) { run(); });
    return next_due();
  }

  /// Ticks that run() makes at once at most where so many are left.
  [[nodiscard]] Tick most_ticks(Tick left) const noexcept {
    return wave.blocks == 0 ? 1 : std::min<Tick>(2 * wave.pairs, left);
  }

  /// Makes a wave beside the other shards, each on a thread of its own. `wait(f)` calls f(), which waits.
  template <class Wait>
  Tick run_together(Tick now, const Patience& patience, Wait&& wait) noexcept {
    static_assert(kWavePairs == 2, "blocks at borders wait once");
    ++waves;
    run_wave(now, kWavePairs, [&](u32 b, Tick pair, auto&& run) {
      BorderBlock* const border = border_of[b];
      if (border == nullptr) return run();
      if (pair == 0) {
        wires.early = &border->parcels;
        run();
        wires.early = nullptr;
        return border->made.come_to(waves);
      }
      for (BorderBlock* other : border->before) {
        wait([&] { other->made.wait_for(waves, patience); });
        receive(other->parcels[wires.shard]);
      }
      run();
    });
    return next_due();
  }
  /// It cannot make the wave that the others begin: they do not wait for it.
  void give_up() noexcept {
    ++waves;
    for (auto& border : borders) border->made.come_to(waves);
  }
  /// Nobody waits any more.
  void reset_borders() noexcept {
    waves = 0;
    for (auto& border : borders) {
      border->made.reset();
      for (Parcel& parcel : border->parcels) parcel.clear();
    }
  }

  [[nodiscard]] Tick next_due() const noexcept {
    Tick next = kNever;
    for (const Tick t : due) next = t < next ? t : next;
    return next;
  }

  /// Takes in what another shard sent during a window, and empties the parcel.
  void receive(Parcel& parcel) {
    for (const auto& mail : parcel.flits) take(mail);
    for (const auto& mail : parcel.controls) take(mail);
    for (const core::PacketId id : parcel.freed) terminals->pool().release(id);
    for (const ArrivedCopy& copy : parcel.copies)
      static_cast<void>(terminals->sink.settle_copy(copy.packet, copy.terminal));
    for (const Word& word : parcel.words) hear(word);
    parcel.clear();
  }

  void archive(Archive& a) {
    if (guests != nullptr) a(*guests);
    if (terminals == nullptr) return a(parcels, touched);
    if (probe != nullptr) a(*probe);
    a(*terminals);
    a.same(populations.size());
    for (const auto& population : populations) a(*population);
    a(due, parcels, touched);
  }

  /// Lets the ends of flows of this shard (`self`) tell the others something.
  static void post(void* self, const Word& word) {
    Shard& shard = *static_cast<Shard*>(self);
    const u32 to = (*shard.shard_of_terminal)[word.terminal];
    if (to == shard.wires.shard) {
      shard.hear(word);
    } else {
      shard.wires.post(to, word);
    }
  }

 private:
  /// Population 0 has the terminals: it has to run when the word is due.
  void hear(const Word& word) { due[0] = std::min(due[0], terminals->source.flows()->add(word)); }
  void run_one(std::size_t i, Tick now) noexcept {
    if (due[i] > now) return;
    due[i] = kNever;
    const Tick next = populations[i]->run(now);
    due[i] = next < due[i] ? next : due[i];
  }
  /// Populations 0, the terminals, and 1, the switches, make `pairs` pairs of ticks (wave.hpp); `around(block, pair,
  /// run)` calls run().
  template <class Around>
  void run_wave(Tick now, Tick pairs, Around&& around) noexcept {
    Population& interfaces = *populations[0];
    Population& switches = *populations[1];
    const bool together = !wave.terminals.empty();
    if (together) {
      interfaces.begin_wave(now, 2 * pairs);
    } else {
      for (const Tick t : {now, now + 1}) run_one(0, t);
      due[1] = kNever;
    }
    switches.begin_wave(now, 2 * pairs);
    for_each_step(wave.blocks, wave.reach, pairs, wave.backwards, [&](u32 b, Tick pair) {
      around(b, pair, [&] {
        const Tick t = now + 2 * pair;
        if (together) interfaces.run_blocks(wave.terminals[b], wave.terminals[b + 1], t, pair == 0);
        switches.run_blocks(b, b + 1, t, pair == 0);
      });
    });
    if (together) due[0] = interfaces.end_wave();
    due[1] = std::min(together ? kNever : due[1], switches.end_wave());
  }
  template <class Arrival>
  void take(const Mail<Arrival>& mail) {
    if (Inbox* const inbox = wires.inboxes[mail.population]; inbox != nullptr) {
      inbox->add(mail.due, mail.arrival);
    } else {
      populations[mail.population]->take_in(mail.due, mail.arrival);
    }
    Tick& next = due[mail.population];
    next = mail.due < next ? mail.due : next;
  }
};

}  // namespace banyan::engine
