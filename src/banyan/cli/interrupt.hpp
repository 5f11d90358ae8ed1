// Control-C: the first asks the run to stop, the second stops the program.
#pragma once

namespace banyan::cli {

/// Installs the handler; returns the flag that it sets, for RunOptions::interrupted.
[[nodiscard]] const bool* watch_interrupt();

}  // namespace banyan::cli
