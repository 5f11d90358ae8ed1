// What the page's explorer reads: the network of a run, and its congestion trees over time.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "banyan/api/result.hpp"

namespace banyan::report {

/// "explorers" and "networks" of the page's data (web/src/data.ts): one explorer per run that recorded trees, and
/// every network once. `titles`: of the runs.
void add_explorers(nlohmann::ordered_json& data, const std::vector<const api::Result*>& runs,
                   const std::vector<std::string>& titles);

/// Whether some run recorded trees.
[[nodiscard]] bool has_explorer(const std::vector<const api::Result*>& runs);

/// The section that the script fills; it says in words what the largest trees were.
[[nodiscard]] std::string explorer_section(const std::vector<const api::Result*>& runs);

}  // namespace banyan::report
