// Exit statuses that scripts rely on.
#pragma once

#include <array>
#include <utility>

namespace banyan::cli {

enum ExitStatus : int {
  kDone = 0,    ///< saturated and deadlocked are results of a run, hence done
  kFailed = 1,  ///< a claim failed, `check` found a cycle, or `verify` a difference
  kBadInput = 2,
  kBroken = 3,  ///< a broken invariant
  kInterrupted = 130,
  kTerminated = 143,  ///< given by the shell: SIGTERM ends the program at once
};

/// What people read about each status.
inline constexpr std::array<std::pair<ExitStatus, const char*>, 6> kExitMeanings{{
    {kDone, "Done; saturated and deadlocked are results."},
    {kFailed, "A claim that is expected to hold was not reproduced, check found a cycle, or verify a difference."},
    {kBadInput, "Bad input: one line of cause, one of remedy."},
    {kBroken, "A broken invariant."},
    {kInterrupted, "Interrupted; finished points are kept, and the message says how to continue."},
    {kTerminated, "Ended by SIGTERM, as a shell reports it; finished points are kept, and the same command continues."},
}};

}  // namespace banyan::cli
