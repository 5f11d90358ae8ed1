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

/// Why the network of a run cannot be drawn, such as a file that has changed since; "": it can, or nothing is to be
/// drawn on it.
[[nodiscard]] std::string undrawable(const api::Result& run);

/// Whether some run recorded trees, on a network that can be drawn.
[[nodiscard]] bool has_explorer(const std::vector<const api::Result*>& runs);

/// The section that the script fills; it says in words what the largest trees were.
[[nodiscard]] std::string explorer_section(const std::vector<const api::Result*>& runs);

}  // namespace banyan::report
