// Connection matrices of htsim (.cm): flows between nodes that start at a time or are triggered by others.
#pragma once

#include <string>
#include <string_view>

#include "banyan/workload/schedule.hpp"

namespace banyan::workload {

/// Whether bytes that a file starts with are those of such a matrix.
[[nodiscard]] bool is_connections(std::string_view start) noexcept;

/// A schedule of as many ranks as the matrix has nodes: a send and a receive per connection. Throws ConfigError, with
/// line and column, where the file is not as it must be.
[[nodiscard]] Schedule read_connections(const std::string& path);

}  // namespace banyan::workload
