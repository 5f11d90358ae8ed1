#include "banyan/api/verify.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "banyan/api/catalog.hpp"
#include "banyan/api/inputs.hpp"
#include "banyan/api/measure/sessions.hpp"
#include "banyan/api/measure/steady.hpp"
#include "banyan/api/measure/stored_differences.hpp"
#include "banyan/api/network.hpp"
#include "banyan/api/reader.hpp"
#include "banyan/api/version.hpp"
#include "banyan/base/error.hpp"

namespace banyan::api {
namespace {

const RunMode kPlain{"plain", false, false, 0};

const std::vector<RunMode>& other_modes() {
  static const std::vector<RunMode> modes{{"step_order = permuted", true, false, 0},
                                          {"wake = all", false, true, 0},
                                          {"shards = 1", false, false, 1},
                                          {"shards = 3", false, false, 3}};
  return modes;
}

/// Runs the experiment in any mode, up to any tick.
class Rerun {
 public:
  Rerun(const Experiment& experiment, const Result& stored, const VerifyOptions& options)
      : experiment_(experiment),
        network_(build_network(experiment)),
        options_(options),
        sessions_(has_sessions(experiment, build_traffics(experiment, *network_.topology))) {
    const Tick measured = planned_end(experiment.run);
    const stats::Metric* simulated = stored.find("simulated_cycles");
    last_ = simulated == nullptr ? measured : static_cast<Tick>(simulated->mean);
    // A run that stopped itself says only when its last packet had arrived.
    end_ = experiment.run.real("precision") > 0.0 || experiment.run.integer("extension") > 1 ? last_ : measured;
  }

  [[nodiscard]] bool sessions() const { return sessions_; }
  [[nodiscard]] Tick last() const { return last_; }

  /// The state hash of the whole run.
  [[nodiscard]] u64 whole(const RunMode& mode) const { return whole_result(mode).state_hash; }

  [[nodiscard]] Result whole_result(const RunMode& mode) const {
    Experiment experiment = experiment_;
    experiment.run.set("step_order", std::string(mode.permuted ? "permuted" : "ascending"));
    experiment.run.set("wake", std::string(mode.step_all ? "all" : "needed"));
    experiment.run.set("shards", i64{mode.shards});
    Result result = run(experiment, options_.run);
    result.state_hash = seen(mode, kNever, kNever, result.state_hash);
    for (Checkpoint& checkpoint : result.checkpoints) {
      checkpoint.hash = sessions_ ? seen(mode, checkpoint.at, kNever, checkpoint.hash)
                                  : seen(mode, 0, checkpoint.at, checkpoint.hash);
    }
    return result;
  }

  /// The hash of one session.
  [[nodiscard]] u64 session(const RunMode& mode, u64 session) const {
    Instance instance = build_instance(experiment_, network_, settings(mode));
    const auto outcome = engine::run_session(*instance.machine, *network_.topology, static_cast<u32>(session),
                                             session_settings(experiment_.run));
    return seen(mode, session, kNever, outcome.hash);
  }

  /// Hashes of the state when all ticks before each of `ticks` (ascending) are done.
  [[nodiscard]] std::vector<u64> states(const RunMode& mode, u64 session, const std::vector<Tick>& ticks) const {
    std::vector<u64> hashes = sessions_ ? states_of_session(mode, session, ticks) : states_of_steady(mode, ticks);
    for (std::size_t i = 0; i < ticks.size(); ++i) hashes[i] = seen(mode, session, ticks[i], hashes[i]);
    return hashes;
  }

 private:
  [[nodiscard]] u64 seen(const RunMode& mode, u64 session, Tick at, u64 hash) const {
    return options_.disturb ? options_.disturb(mode, session, at, hash) : hash;
  }

  [[nodiscard]] engine::EngineSettings settings(const RunMode& mode) const {
    engine::EngineSettings settings = engine_settings(experiment_);
    settings.permuted = mode.permuted;
    settings.step_all = mode.step_all;
    settings.shards = mode.shards;
    return settings;
  }

  void require_going_on() const {
    if (options_.run.interrupted != nullptr && *options_.run.interrupted) throw Interrupted("interrupted");
  }

  [[nodiscard]] std::vector<u64> states_of_steady(const RunMode& mode, const std::vector<Tick>& ticks) const {
    engine::EngineSettings engine = settings(mode);
    engine.steady = steady_plan(experiment_.run, end_ - static_cast<Tick>(experiment_.run.integer("warmup")));
    engine.threads = options_.run.threads;
    Instance instance = build_instance(experiment_, network_, engine);
    instance.machine->reset(0);
    instance.machine->set_window({0, end_ - 1});
    std::vector<u64> hashes;
    for (const Tick tick : ticks) {
      require_going_on();
      instance.machine->run_until(tick);
      hashes.push_back(instance.machine->hash());
    }
    return hashes;
  }

  [[nodiscard]] std::vector<u64> states_of_session(const RunMode& mode, u64 session,
                                                   const std::vector<Tick>& ticks) const {
    Instance instance = build_instance(experiment_, network_, settings(mode));
    engine::SessionSettings one = session_settings(experiment_.run);
    std::vector<u64> hashes;
    one.before_step = [&](const engine::Machine& machine, Tick done) {
      while (hashes.size() < ticks.size() && ticks[hashes.size()] <= done) hashes.push_back(machine.hash());
    };
    const auto outcome = engine::run_session(*instance.machine, *network_.topology, static_cast<u32>(session), one);
    hashes.resize(ticks.size(), outcome.hash);
    return hashes;
  }

  const Experiment& experiment_;
  Network network_;
  const VerifyOptions& options_;
  bool sessions_;
  Tick last_ = 0;
  Tick end_ = 0;
};

/// Narrows (after, before] down to one tick: the two runs are equal at `after` and differ at `before`.
Tick first_difference(const Rerun& rerun, const RunMode& a, const RunMode& b, u64 session, Tick after, Tick before) {
  constexpr Tick kParts = 32;  // each pass runs both from their beginning
  while (before - after > 1) {
    std::vector<Tick> ticks;
    for (Tick i = 1; i < kParts; ++i) {
      const Tick tick = after + (before - after) * i / kParts;
      if (tick > after && (ticks.empty() || tick > ticks.back())) ticks.push_back(tick);
    }
    const std::vector<u64> of_a = rerun.states(a, session, ticks);
    const std::vector<u64> of_b = rerun.states(b, session, ticks);
    const auto differ = std::mismatch(of_a.begin(), of_a.end(), of_b.begin()).first;
    const auto index = static_cast<std::size_t>(differ - of_a.begin());
    if (index < ticks.size()) before = ticks[index];
    if (index > 0) after = ticks[index - 1];
  }
  return after;
}

/// Between which of the stored checkpoints the two part. Sessions: the first that differs.
Parting by_checkpoints(const Result& stored, const Result& found, bool sessions) {
  Parting parting;
  for (const Checkpoint& checkpoint : stored.checkpoints) {
    const auto same = std::find_if(found.checkpoints.begin(), found.checkpoints.end(),
                                   [&](const Checkpoint& other) { return other.at == checkpoint.at; });
    const bool equal = same != found.checkpoints.end() && same->hash == checkpoint.hash;
    if (sessions) {
      if (equal) continue;
      parting.session = checkpoint.at;
      return parting;
    }
    // The newer run may have checkpoints elsewhere when it is longer or shorter: those say nothing.
    if (same == found.checkpoints.end()) continue;
    if (!equal) {
      parting.before = checkpoint.at;
      return parting;
    }
    parting.after = checkpoint.at;
  }
  return parting;
}

u64 stored_session(const Result& stored, u64 session) {
  for (const Checkpoint& checkpoint : stored.checkpoints) {
    if (checkpoint.at == session) return checkpoint.hash;
  }
  return 0;
}

/// Whether a mode gives what was stored where the plain run gives something else.
bool reproduces(const Rerun& rerun, const RunMode& mode, const Result& stored, const Parting& parting) {
  if (parting.session) return rerun.session(mode, *parting.session) == stored_session(stored, *parting.session);
  if (parting.before == kNever) return rerun.whole(mode) == stored.state_hash;
  const u64 hash = rerun.states(mode, 0, {parting.before}).front();
  return std::any_of(stored.checkpoints.begin(), stored.checkpoints.end(), [&](const Checkpoint& checkpoint) {
    return checkpoint.at == parting.before && checkpoint.hash == hash;
  });
}

/// With a mode that reproduces what was stored, both sides can be run, and the tick be found.
void find_tick(const Rerun& rerun, const Result& stored, Parting& parting) {
  for (const RunMode& mode : other_modes()) {
    if (!reproduces(rerun, mode, stored, parting)) continue;
    parting.reproduced_by = mode.name;
    const u64 session = parting.session.value_or(0);
    const Tick before = parting.before == kNever ? rerun.last() + 1 : parting.before;
    if (rerun.states(kPlain, session, {before}) == rerun.states(mode, session, {before})) return;
    parting.tick = first_difference(rerun, kPlain, mode, session, parting.after, before);
    return;
  }
}

/// Given to the configuration again, its axes must not change it. "" when they do not, or when nobody can tell.
std::string wrong_axes(const Experiment& experiment, const VerifyOptions& options) {
  Overrides values;
  std::string text;
  for (const auto& [key, value] : options.axes) {
    values.push_back(key + "=" + value);
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key, value);
  }
  try {
    const Experiment again = experiment_from(experiment.configuration, catalog(), values);
    // Paths of axes are from the folder of the experiment, those of a configuration as they were opened.
    return without_paths(again.configuration) == without_paths(experiment.configuration)
               ? ""
               : "the configuration is not that of " + text;
  } catch (const ConfigError&) { return ""; }
}

std::string program_text(const Result& stored, const Result& found) {
  if (stored.version != found.version) {
    return fmt::format("; the result is of Banyan {}, this is {}", stored.version, found.version);
  }
  if (stored.compiler != found.compiler && !stored.compiler.empty()) {
    return fmt::format("; the result was made by a program built with {}, this one with {}", stored.compiler,
                       found.compiler);
  }
  return "";
}

/// The first few differences, and how many there are.
std::string differences_text(const std::vector<std::string>& differences) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, differences.size()); ++i) {
    text += (text.empty() ? "" : "; ") + differences[i];
  }
  if (differences.size() > kShown) text += fmt::format("; and {} more", differences.size() - kShown);
  return text;
}

std::string place_text(const Parting& parting, const Result& stored) {
  const std::string session = parting.session ? fmt::format("session {}, ", *parting.session) : "";
  if (parting.tick) return fmt::format("{}tick {} is the first that differs", session, *parting.tick);
  if (parting.session) return fmt::format("session {} is the first that differs", *parting.session);
  if (stored.checkpoints.empty()) return "the result keeps no checkpoints that would tell where";
  if (parting.before == kNever) return fmt::format("the runs part after tick {}", parting.after);
  return fmt::format("the runs part between ticks {} and {}", parting.after, parting.before);
}

std::string cause_text(const Parting& parting, const Result& stored, const Experiment& experiment) {
  if (!parting.reproduced_by.empty()) {
    return fmt::format("with {} this program gives the stored state: its result depends on what it must not depend on",
                       parting.reproduced_by);
  }
  if (experiment.configuration != stored.configuration) {
    return "this Banyan reads the configuration differently: parameters were added or have other defaults";
  }
  if (stored.version != version())
    return fmt::format("the result is of Banyan {}, this is {}", stored.version, version());
  return fmt::format("no mode of running gives the stored state; it was made by a program built with {}",
                     stored.compiler.empty() ? "an unknown compiler" : stored.compiler);
}

}  // namespace

Verification verify(const Result& stored, const VerifyOptions& options) {
  const Experiment experiment = experiment_from(stored.configuration, catalog());
  if (const std::string changed = changed_input(experiment); !changed.empty())
    return {false, stored.state_hash, 0, {}, {}, "not run again: " + changed};
  // The states on the way of a network that jobs run on are not looked for.
  std::optional<Rerun> rerun;
  if (experiment.jobs.empty()) rerun.emplace(experiment, stored, options);
  const Result found = rerun ? rerun->whole_result(kPlain) : run(experiment, options.run);
  Verification verification;
  verification.stored = stored.state_hash;
  verification.found = found.state_hash;
  verification.equal = found.state_hash == stored.state_hash;
  if (verification.equal) {
    verification.differences = differences(stored, options.printed, found);
    if (std::string axes = wrong_axes(experiment, options); !axes.empty()) {
      verification.differences.push_back(std::move(axes));
    }
    verification.equal = verification.differences.empty();
    verification.statement =
        verification.equal
            ? fmt::format("verified: state {:016x} again", stored.state_hash)
            : fmt::format(
                  "different: state {:016x} again, but what was stored beside it is not what this run gives: {}{}",
                  stored.state_hash, differences_text(verification.differences), program_text(stored, found));
    return verification;
  }
  Parting parting = by_checkpoints(stored, found, rerun && rerun->sessions());
  if (rerun && (!rerun->sessions() || parting.session)) find_tick(*rerun, stored, parting);
  verification.statement =
      fmt::format("different: state {:016x} was stored, this run gives {:016x}; {}; {}", stored.state_hash,
                  found.state_hash, place_text(parting, stored), cause_text(parting, stored, experiment));
  verification.parting = std::move(parting);
  return verification;
}

}  // namespace banyan::api
