// From a tree to resolved experiments, against any catalog. experiment.hpp is the door for everybody else.
#pragma once

#include <string>

#include "banyan/api/catalog.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/config/tree.hpp"

namespace banyan::api {

/// Applies overrides, expands the sweep, resolves every point. `catalog` must outlive the call. `stem` names an
/// experiment that names itself not.
[[nodiscard]] ExperimentSet resolve_experiments(const config::Node& root, const std::string& stem,
                                                const Overrides& overrides, const Catalog& catalog);

/// The experiment that a canonical configuration describes. Throws ConfigError when this Banyan does not know it.
[[nodiscard]] Experiment experiment_from(const std::string& configuration, const Catalog& catalog,
                                         const Overrides& overrides = {});

/// The canonical JSON that identifies a run's results: without the experiment's name and without the settings of
/// [run] that results do not depend on (step_order, wake, shards, audit).
[[nodiscard]] std::string identity(const std::string& configuration);
/// What Experiment::configuration_hash is.
[[nodiscard]] u64 identity_hash(const std::string& configuration);

}  // namespace banyan::api
