// Workload files that commands look at without running them.
#pragma once

#include <string>

#include "banyan/cli/arguments.hpp"
#include "banyan/workload/program.hpp"

namespace banyan::cli {

/// Whether any of the options for Chakra traces was given.
[[nodiscard]] bool is_told(const TraceArguments& trace);
/// Throws ConfigError, also where `trace` says something and the file is no Chakra trace.
[[nodiscard]] workload::Program read_workload_file(const std::string& file, const TraceArguments& trace);

}  // namespace banyan::cli
