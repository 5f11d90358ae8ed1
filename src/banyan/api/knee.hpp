// Where a network saturates: the knee of the throughput curve, bracketed by bisection on the verdict of steady runs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/api/result.hpp"

namespace banyan::api {

struct KneeOptions {
  /// The load of a traffic that is varied alone, as in an override ("traffic.uniform.load"). Empty: the load of all
  /// traffics that have one, together, in the proportion that the experiment gives them.
  std::string key;
  double width = 0.01;  ///< of the bracket, in offered load
  /// Runs a probe. A caller that keeps results gives back what it has.
  std::function<Result(const Experiment&)> run;
};

/// One run of the search.
struct Probe {
  double load = 0.0;
  Experiment experiment;
  u64 measured = 0;  ///< cycles: run.measure, or more where the verdict was uncertain
  Verdict verdict = Verdict::steady;
  bool certain = true;
  std::string explanation;  ///< of a deadlock, or of an uncertain verdict
};

/// What no steady state exceeds while traffics that are not varied keep their load, and the model that proves it.
struct KneeBound {
  double load = 0.0;      ///< as the bracket counts: of the varied traffics, flits per cycle of a terminal that sends
  double accepted = 0.0;  ///< then, of all traffics in the mean of all terminals: flits per cycle and terminal
  double others = 0.0;    ///< the part of `accepted` that traffics bring which are not varied
  std::string model;
};

/// low is not shown to saturate, high saturates (or deadlocks). Loads in flits per cycle and terminal: the sum over the
/// varied traffics.
struct Knee {
  std::string key;  ///< see KneeOptions
  double low = 0.0;
  double high = 0.0;
  bool found = true;               ///< false: not even the greatest load saturates; low = high = that load
  std::vector<Probe> probes;       ///< in the order of the search
  bool deadlocks = false;          ///< at `high` the network deadlocks: it does not saturate there
  std::string deadlock;            ///< which, when it does
  std::optional<KneeBound> bound;  ///< the least one
  bool contradiction = false;      ///< a run beyond the bound is steady for sure
  double others = 0.0;             ///< load of the traffics that are not varied
  double gigabytes = 0.0;          ///< per second that a flit per cycle is; 0: nobody says what these are worth
  std::vector<double> uncertain;   ///< loads whose verdict stayed uncertain when the run had gone on for longest
};

/// Reads the experiment with overrides; those at the end win.
using ReadExperiments = std::function<ExperimentSet(const Overrides&)>;

/// Throws ConfigError when the experiment has no load to vary or the key names none, when it sweeps something else, or
/// consists of sessions.
[[nodiscard]] Knee find_knee(const ReadExperiments& read, const Overrides& overrides, const KneeOptions& options);

/// What to do about its uncertain verdicts.
[[nodiscard]] std::string why_uncertain(const Knee& knee);

[[nodiscard]] std::string to_text(const Knee& knee);
/// {"low", "high", "found", "key", "others", "bound", "contradiction", "deadlocks", "uncertain", "probes"}; "key" is
/// null where all loads are varied, "bound" {"load", "accepted", "model"} or null.
[[nodiscard]] std::string to_json(const Knee& knee);

}  // namespace banyan::api
