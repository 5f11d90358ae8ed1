// One part of the network: its terminals, its populations, and the times at which they want to run.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "banyan/core/topology.hpp"
#include "banyan/engine/io.hpp"
#include "banyan/engine/population.hpp"
#include "banyan/engine/terminals.hpp"

namespace banyan::engine {

struct Shard {
  const core::Topology* topology = nullptr;  ///< names what an explanation speaks of
  std::unique_ptr<Probe> probe;              ///< absent unless the run is to write down more
  std::unique_ptr<Terminals> terminals;
  std::vector<std::unique_ptr<Population>> populations;
  std::vector<Tick> due;     ///< per population: the next tick at which it runs
  bool two_at_once = false;  ///< the last population runs_two, and the others' PODs need no more than that
  Wires wires;
  std::array<std::vector<Parcel>, 2> parcels;  ///< [parity of the window][destination shard]
  std::array<std::vector<u64>, 2> touched;     ///< [parity]: bit per destination shard, for parcels that are not empty

  /// Runs everything that is due at `now`; returns the next tick at which something is.
  Tick run(Tick now) noexcept {
    for (std::size_t i = 0; i < populations.size(); ++i) run(i, now, now);
    return next_due();
  }
  /// Likewise, and of the ticks before `end` the next one with it where the switches may make two at once.
  Tick run(Tick now, Tick end) noexcept {
    if (!two_at_once || now + 1 >= end) return run(now);
    const std::size_t last = populations.size() - 1;
    for (const Tick t : {now, now + 1}) {
      for (std::size_t i = 0; i < last; ++i) run(i, t, t);
    }
    run(last, now, now + 1);
    return next_due();
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
    parcel.clear();
  }

 private:
  /// What population i has to do in the ticks from `first` to `last`, at most two.
  void run(std::size_t i, Tick first, Tick last) noexcept {
    if (due[i] > last) return;
    due[i] = kNever;
    const Tick next = first == last ? populations[i]->run(first) : populations[i]->run_two(first);
    due[i] = next < due[i] ? next : due[i];
  }
  template <class Arrival>
  void take(const Mail<Arrival>& mail) {
    wires.inboxes[mail.population]->add(mail.due, mail.arrival);
    Tick& next = due[mail.population];
    next = mail.due < next ? mail.due : next;
  }
};

}  // namespace banyan::engine
