// Where a stored result is not what a run gives, value by value.
#pragma once

#include <string>
#include <vector>

#include "banyan/api/result.hpp"

namespace banyan::api {

/// One sentence per value that differs, is missing, or is one too many: "metrics.packet_latency.mean is 12.5, and 13.5
/// was stored". What a run cost and which program made it are no part of it. `printed` is the JSON that the stored
/// result was read from; "" when it comes from a store, which keeps histograms and congestion trees besides.
[[nodiscard]] std::vector<std::string> differences(const Result& stored, const std::string& printed,
                                                   const Result& found);

}  // namespace banyan::api
