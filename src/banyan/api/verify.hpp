// Is a stored result what this program gives? And if not: where do the two runs part?
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/api/result.hpp"

namespace banyan::api {

/// A way of running an experiment that must not change its result.
struct RunMode {
  std::string name;  ///< "step_order = permuted"
  bool permuted = false;
  bool step_all = false;
  u32 shards = 0;
};

struct VerifyOptions {
  RunOptions run;
  std::vector<std::pair<std::string, std::string>> axes;  ///< of the point, as its file has them
  std::string printed;  ///< the JSON that the result was read from; "" when it comes from a store
  /// For tests of the search itself: what a run of that mode reports instead of the hash that it finds at a place
  /// (`at`: all ticks before it are done; kNever: the end; session kNever: the whole run).
  std::function<u64(const RunMode& mode, u64 session, Tick at, u64 hash)> disturb;
};

/// Where two runs part, as closely as is known. Ticks within `session` where there are sessions.
struct Parting {
  std::optional<u64> session;
  Tick after = 0;             ///< equal when all ticks before this one are done
  Tick before = kNever;       ///< different when all ticks before this one are done; kNever: at the end
  std::optional<Tick> tick;   ///< the first differing tick itself
  std::string reproduced_by;  ///< the mode that gives the stored state; "" when none does
};

struct Verification {
  bool equal = false;
  u64 stored = 0;
  u64 found = 0;
  std::optional<Parting> parting;        ///< when the states differ
  std::vector<std::string> differences;  ///< when the states are equal: stored values that are not what this run gives
  std::string statement;                 ///< for people
};

/// Runs the result's configuration again and compares the state hash, and when that is equal everything else that was
/// stored: verdict, metrics, series, histograms, groups, trees. On a difference of states the stored checkpoints say
/// between which ticks it begins; then every mode of running is tried, and one that gives the stored state is compared
/// with the plain run to the exact tick. Throws ConfigError when this program cannot run the configuration.
[[nodiscard]] Verification verify(const Result& stored, const VerifyOptions& options = {});

}  // namespace banyan::api
