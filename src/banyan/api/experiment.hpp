// An experiment: one topology, one switch model, one routing function, one or more traffics, and how to run them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "banyan/api/result.hpp"
#include "banyan/config/schema.hpp"

namespace banyan::engine {
class Ranks;
class RunKeeper;
}  // namespace banyan::engine

namespace banyan::api {

struct Experiment;

/// An experiment goes on from the warm-up of another one, in which one parameter has another value.
struct Fork {
  std::string vary;                        ///< path of the parameter: "switch.saqs"
  std::string from;                        ///< its value in the warm-up, as JSON
  std::shared_ptr<const Experiment> warm;  ///< the other one; nullptr: there is none
  Where where;                             ///< of `vary`
};

/// A file that an experiment reads.
struct Input {
  std::string key;            ///< of the parameter that names it: "topology.file", "traffic.0.file"
  std::string path;           ///< from the current folder
  std::optional<u64> digest;  ///< of its content; nothing: nobody can tell before the run reads it
  u64 stamp = 0;              ///< of its size and time when the digest was taken; 0: it is a recorded one
};

/// A fully resolved experiment: every parameter has its value, nothing is looked up later.
struct Experiment {
  std::string name;         ///< from the file ("name"), or the file's stem
  config::Values topology;  ///< component() is the component's name
  config::Values switching;
  config::Values routing;
  bool usual_routing = false;  ///< the file names none: `routing` is the usual one of the topology
  std::vector<config::Values> traffics;
  config::Values admission;              ///< of the component "none" where nothing holds packets back
  std::vector<config::Values> analyses;  ///< models whose predictions stand beside the measured numbers; may be empty
  std::vector<config::Values> jobs;      ///< of job_info(): with any, this is a run of schedules (api/jobs.hpp)
  config::Values messages;               ///< of messages_info(): how messages of jobs become flits
  config::Values run;                    ///< parameters of run_info()
  Fork fork;
  std::vector<Input> inputs;   ///< the files that it reads (api/inputs.hpp)
  std::string configuration;   ///< canonical JSON of everything above: keys sorted, defaults filled in
  u64 configuration_hash = 0;  ///< of `configuration` without what results do not depend on (api/reader.hpp)
  std::vector<std::pair<std::string, std::string>> axes;  ///< sweep axes and this point's values, in axis order
  /// Beside each axis, what its value is called in a legend: "voqsw", "buffer = 8", or a name of sweep.names. Empty for
  /// a key that moves together with the one before.
  std::vector<std::string> labels;
};

/// An experiment file with its sweep expanded: one experiment without `[sweep]`, one per point with it, in the order
/// of the axes in the file (the last axis runs fastest).
struct ExperimentSet {
  std::string file;
  std::vector<std::string> axis_names;
  std::vector<Experiment> points;
};

/// What the value of a point's axis is called where the axis is named beside it: its name of sweep.names, "8" where its
/// label is "buffer = 8"; the value itself where it has no label.
[[nodiscard]] std::string value_name(const Experiment& point, std::size_t axis);

/// An override from the command line: "switch.buffer=8", "traffic.uniform.load=0.5", "routing=hot_section", or the
/// bare parameter name "buffer=8" when only one component of the experiment has it.
using Overrides = std::vector<std::string>;

/// Reads, resolves and range-checks; builds nothing. Throws ConfigError.
[[nodiscard]] ExperimentSet read_experiments(const std::string& file, const Overrides& overrides);
[[nodiscard]] ExperimentSet read_experiments_text(const std::string& text, const std::string& name,
                                                  const Overrides& overrides);

/// What run.extension is where the length of a run is the default one. At 4 % from saturation 64 terminals with packets
/// of 4 flits have certain verdicts after 1 to 32 default lengths, with packets of 16 flits after 32 to 64; half as
/// near would take four times as long. That is some seconds of CPU time per run; one that is certain at once costs
/// nothing more.
inline constexpr i64 kDefaultExtension = 64;

/// The parameters of the [run] table: seed, sessions, warm-up, measurement, precision, audit, limits.
[[nodiscard]] const config::ComponentInfo& run_info();

/// Progress of one run or sweep, for a display: work done and total in arbitrary equal units.
using Progress = std::function<void(u64 done, u64 total)>;

/// Packets and ports of which a run logs every event: "packet=SOURCE:NTH", "port=SWITCH:PORT", "terminal=T".
using Watches = std::vector<std::string>;

/// What happened in one window of a steady run, of run.window cycles: all traffics together.
struct Window {
  u64 number = 0;  ///< from 0
  Tick from = 0;
  Tick to = 0;                   ///< exclusive
  double offered_load = 0.0;     ///< flits/cycle/terminal
  double accepted_load = 0.0;    ///< flits/cycle/terminal
  double packet_latency = 0.0;   ///< cycles, of the packets that arrive in it; NaN where none does
  u64 delivered_packets = 0;     ///< that arrive in it
  u64 packets_in_network = 0;    ///< at its end
  u64 source_backlog_flits = 0;  ///< that wait at their sources at its end
};

/// A run's checkpoints (docs/how-to/resume-a-run.md).
struct CheckpointOptions {
  std::string file;        ///< that is written; "": none
  double seconds = 600.0;  ///< of wall clock between two of them
  std::string resume;      ///< that the run goes on from; "": it begins anew
};

class WarmStates;

struct RunOptions {
  u32 threads = 1;       ///< at most; 0: as many as cores are free, where they shorten the run of one network
  bool profile = false;  ///< fills Result::profile; reads the clock some times per window
  Progress progress;     ///< may be empty; called from one thread at a time
  /// May be empty; called once before the first progress: what that counts, "cycles", "sessions" or "operations".
  std::function<void(const std::string&)> progress_unit;
  Watches watches;
  const bool* interrupted = nullptr;  ///< polled; true stops with Interrupted
  /// Gets every message that left its source queue, of the first session where there are several, as the text of a
  /// trace (docs/traffic/trace.md).
  std::string* trace = nullptr;
  std::string packet_log;  ///< file that gets one line per packet (api/packet_log_file.hpp); empty: none
  /// Gets every finished window, in order, at its end; true ends the run there, which is then reported as far
  /// as it went. Needs run.window, and no sessions. May be empty. A run that is done again for a precision, longer,
  /// tells its windows again.
  std::function<bool(const Window&)> window;
  WarmStates* warm_states = nullptr;    ///< of runs that are forked (api/fork.hpp); nullptr: this one makes its own
  CheckpointOptions checkpoint;         ///< of run() alone
  engine::RunKeeper* keeper = nullptr;  ///< made by run() where `checkpoint` asks for one
  /// The processes that share the run, all of which call it with the same experiment and options; nullptr: there is
  /// one. What cannot be shared is refused (api/over_ranks.hpp).
  engine::Ranks* ranks = nullptr;

  [[nodiscard]] bool stops() const noexcept { return interrupted != nullptr && *interrupted; }
};

/// The experiment whose run wrote a checkpoint. Throws ConfigError.
[[nodiscard]] Experiment experiment_of_checkpoint(const std::string& file);

/// Builds the network without running it: every error that a run's build phase would give. Returns notes (warnings).
std::vector<std::string> check(const Experiment& experiment);

/// What the channel dependencies of a network say about deadlock.
struct DeadlockNote {
  bool bad = false;           ///< a cycle, or packets that find no way
  bool may_deadlock = false;  ///< this, or an escape behind which packets may wait
  std::string text;           ///< one line, and one more per channel of a cycle
};

/// The notes on the networks of these experiments, each network once (core/dependencies.hpp). Throws ConfigError.
[[nodiscard]] std::vector<DeadlockNote> check_deadlock(const std::vector<Experiment>& points);

/// Builds and runs. Throws ConfigError (build phase), InvariantError, Interrupted.
[[nodiscard]] Result run(const Experiment& experiment, const RunOptions& options = {});

}  // namespace banyan::api
