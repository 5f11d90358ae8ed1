// Files of traces, which are often compressed: gzip and bzip2 are told by their first bytes.
#pragma once

#include <string>
#include <string_view>

namespace banyan::workload {

/// The bytes of a file, uncompressed. Throws ConfigError where it cannot be read, is cut short or damaged.
[[nodiscard]] std::string read_uncompressed(const std::string& path);

/// What can be told of the uncompressed bytes from the first bytes of a file; none where that is nothing.
[[nodiscard]] std::string uncompressed_start(std::string_view start);

[[nodiscard]] bool is_gzip(std::string_view start) noexcept;
[[nodiscard]] bool is_bzip2(std::string_view start) noexcept;

}  // namespace banyan::workload
