// Reading a whole file.
#pragma once

#include <optional>
#include <string>

namespace banyan {

/// The bytes of a file or of a pipe; nothing when it is neither (a folder, a device) or cannot be read.
[[nodiscard]] std::optional<std::string> read_whole_file(const std::string& path);

}  // namespace banyan
