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
  std::vector<Tick> due;  ///< per population: the next tick at which it runs
  Wires wires;
  std::array<std::vector<Parcel>, 2> parcels;  ///< [parity of the window][destination shard]
  std::array<std::vector<u64>, 2> touched;     ///< [parity]: bit per destination shard, for parcels that are not empty

  /// Runs everything that is due at `now`; returns the next tick at which something is.
  Tick run(Tick now) noexcept {
    for (std::size_t i = 0; i < populations.size(); ++i) {
      if (due[i] > now) continue;
      due[i] = kNever;
      const Tick next = populations[i]->run(now);
      due[i] = next < due[i] ? next : due[i];
    }
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
  template <class Arrival>
  void take(const Mail<Arrival>& mail) {
    wires.inboxes[mail.population]->add(mail.due, mail.arrival);
    Tick& next = due[mail.population];
    next = mail.due < next ? mail.due : next;
  }
};

}  // namespace banyan::engine
