// A BookSim2 configuration as the text of an experiment, with its remarks said; and one that is taken for an
// experiment.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/booksim/booksim.hpp"

namespace banyan::cli {

/// Tells every remark. Throws ConfigError when something is not mapped, unless that is to be ignored and an experiment
/// is left.
[[nodiscard]] booksim::Conversion converted(const std::string& file, const std::vector<std::string>& overrides,
                                            bool ignore_unmapped, const std::function<void(const std::string&)>& tell);

/// The experiments of a BookSim2 configuration, some of whose settings have several values, as "num_vcs=[2, 4]" among
/// `overrides`. `of_experiment`: overrides of what it means. Throws ConfigError.
[[nodiscard]] api::ExperimentSet booksim_sweep(const std::string& file, std::vector<std::string> overrides,
                                               const api::Overrides& of_experiment, bool ignore_unmapped);

/// The experiments of a file. Throws as api::read_experiments; of a BookSim2 configuration the error says what it is,
/// and which commands take it.
[[nodiscard]] api::ExperimentSet read_experiments(const std::string& file, const api::Overrides& overrides);

}  // namespace banyan::cli
