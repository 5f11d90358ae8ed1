// What the end of a job waited for, on the page of a run: the critical path over ranks and time, and each of its
// operations with the message, the queue and the link that held it up.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "banyan/report/page.hpp"

namespace banyan::report {

/// One figure for each job that kept its critical path; none where the jobs of the result cannot be read.
[[nodiscard]] std::vector<Figure> jobs_figures(const api::Result& result);

/// What the explorer shows of the critical paths (web/src/data.ts): of each job the messages that were followed through
/// the network, last first, with the channel that each waited for longest.
[[nodiscard]] nlohmann::ordered_json paths_of(const api::Result& result);
/// Whether there is such a message.
[[nodiscard]] bool has_paths(const api::Result& result);

}  // namespace banyan::report
