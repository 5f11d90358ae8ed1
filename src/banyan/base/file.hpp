// Reading a whole file.
#pragma once

#include <optional>
#include <string>

namespace banyan {

/// The bytes of a file or of a pipe; nothing when it is neither (a folder, a device) or cannot be read. `why` then gets
/// the reason, for people. A pipe that nobody has opened for writing is waited for a few seconds; one that somebody has
/// is read to its end, however long that takes.
[[nodiscard]] std::optional<std::string> read_whole_file(const std::string& path, std::string* why = nullptr);

}  // namespace banyan
