// Reading a whole file.
#pragma once

#include <optional>
#include <string>

#include "banyan/base/types.hpp"

namespace banyan {

/// The bytes of a file or of a pipe; nothing when it is neither (a folder, a device) or cannot be read. `why` then gets
/// the reason, for people. A pipe that nobody has opened for writing is waited for a few seconds; one that somebody has
/// is read to its end, however long that takes.
[[nodiscard]] std::optional<std::string> read_whole_file(const std::string& path, std::string* why = nullptr);

/// A digest of the content of a file; nothing when it is no file or cannot be read. No more than a part of it is held.
[[nodiscard]] std::optional<u64> digest_of_file(const std::string& path);

}  // namespace banyan
