// Goes on from a machine's state in another machine, built anew, and looks for differences: in what was read, in the
// state some time later, hashed or not.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "banyan/api/measure/steady.hpp"
#include "banyan/api/network.hpp"
#include "banyan/base/archive.hpp"

namespace banyan::test {

/// Whether the bytes of a state tell all: messages that are posted and words of admissions have padding, which is
/// anything once they were copied member by member. Of those, lengths and hashes are compared.
inline bool is_without_padding(const engine::Machine& machine) {
#ifdef __clang__
  return false;  // which cannot clear what lies between the members of a struct
#endif
  for (const core::Traffic* traffic : machine.traffics()) {
    if (traffic->answers()) return false;
  }
  return machine.shards().front().terminals->source.flows() == nullptr;
}

inline std::string state_of(engine::Machine& machine) {
  ArchiveToText text;
  text(machine);
  return text.take();
}

/// Runs to tick `from`, where another machine takes over, and both to tick `to`. Returns what differs; empty: nothing.
/// Throws NotArchived where the state cannot be written.
inline std::string difference_when_resumed(const api::Experiment& experiment, const api::Network& network, Tick from,
                                           Tick to) {
  engine::EngineSettings settings = api::engine_settings(experiment);
  const bool sessions = api::has_sessions(experiment, api::build_traffics(experiment, *network.topology));
  if (!sessions)
    settings.steady = api::steady_plan(experiment.run, static_cast<Tick>(experiment.run.integer("measure")));
  const Tick end = sessions ? kNever : settings.steady.end;
  const auto make = [&] {
    api::Instance instance = api::build_instance(experiment, network, settings);
    instance.machine->reset(0);
    instance.machine->set_window({0, end - 1});
    return instance;
  };
  const api::Instance whole = make();
  whole.machine->run_until(from);
  const std::string state = state_of(*whole.machine);
  const api::Instance resumed = make();
  ArchiveOfText archive(state);
  archive(*resumed.machine);
  if (!archive.ended()) return "not all that was written was read";
  const bool all_bytes = is_without_padding(*whole.machine);
  const std::string again = state_of(*resumed.machine);
  if (again.size() != state.size() || (all_bytes && again != state)) return "what was read is written differently";
  whole.machine->run_until(to);
  resumed.machine->run_until(to);
  if (whole.machine->next() != resumed.machine->next())
    return fmt::format("the next tick is {} instead of {}", resumed.machine->next(), whole.machine->next());
  if (whole.machine->hash() != resumed.machine->hash()) return "the hash is another one";
  const std::string one = state_of(*whole.machine);
  const std::string other = state_of(*resumed.machine);
  if (one.size() != other.size())
    return fmt::format("state that is in no hash has {} bytes instead of {}", other.size(), one.size());
  if (all_bytes && one != other) {
    const auto at = std::mismatch(one.begin(), one.end(), other.begin()).first - one.begin();
    return fmt::format("state that is in no hash differs at byte {} of {}", at, one.size());
  }
  // What is in no hash yet shows later.
  whole.machine->run_until(2 * to);
  resumed.machine->run_until(2 * to);
  if (whole.machine->hash() != resumed.machine->hash()) return "the hash is another one later";
  if (state_of(*whole.machine).size() != state_of(*resumed.machine).size())
    return "the state is longer, or shorter, later";
  return {};
}

}  // namespace banyan::test
