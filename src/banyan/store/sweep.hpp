// A sweep that can be killed and continued: every finished point goes to the store at once, and what the store has is
// not run again.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "banyan/api/sweep.hpp"
#include "banyan/store/parts.hpp"
#include "banyan/store/store.hpp"

namespace banyan::store {

/// The command that continues: "banyan sweep FILE key=value --out FOLDER", quoted for a shell.
[[nodiscard]] std::string continuation(const Source& source, const std::string& folder);

/// Runs the points that the store does not have. `options.finished` is called for them alone, with their place in
/// `set`, once they are kept. `say` gets one line when there is something that the user should know.
/// Results are in the order of the points. Throws as api::sweep; Interrupted and a ConfigError of the store (a full
/// disk) say how many points are kept and how to continue. `tells_kept`: says how many are there already; not where the
/// same command has just run them in parts.
[[nodiscard]] std::vector<api::Result> sweep(const api::ExperimentSet& set, const Source& source, Writer& store,
                                             const api::SweepOptions& options, const Tell& say, bool tells_kept = true);

struct PartResults {
  std::vector<std::size_t> places;  ///< in the sweep
  std::vector<api::Result> results;
};

/// Runs the points of one part into a file of its own; what other files of the folder have is not run again. The folder
/// must exist. Throws as sweep, and a ConfigError when the folder holds another sweep.
[[nodiscard]] PartResults sweep_part(const api::ExperimentSet& set, const Source& source, const std::string& folder,
                                     const SweepPart& part, const api::SweepOptions& options, const Tell& say);

}  // namespace banyan::store
