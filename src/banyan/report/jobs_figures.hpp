// What the end of a job waited for, on the page of a run: the critical path over ranks and time, and each of its
// operations with the message, the queue and the link that held it up.
#pragma once

#include <vector>

#include "banyan/report/page.hpp"

namespace banyan::report {

/// One figure for each job that kept its critical path; none where the jobs of the result cannot be read.
[[nodiscard]] std::vector<Figure> jobs_figures(const api::Result& result);

}  // namespace banyan::report
