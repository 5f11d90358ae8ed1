// Exit statuses that scripts rely on.
#pragma once

namespace banyan::cli {

enum ExitStatus : int {
  kDone = 0,    ///< saturated and deadlocked are results of a run, hence done
  kFailed = 1,  ///< a claim failed, `check` found a cycle, or `verify` a difference
  kBadInput = 2,
  kBroken = 3,  ///< a broken invariant
  kInterrupted = 130,
};

}  // namespace banyan::cli
