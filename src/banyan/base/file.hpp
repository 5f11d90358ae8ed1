// Reading and writing a whole file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "banyan/base/types.hpp"

namespace banyan {

/// The bytes of a file or of a pipe; nothing when it is neither (a folder, a device) or cannot be read. `why` then gets
/// the reason, for people. A pipe that nobody has opened for writing is waited for a few seconds; one that somebody has
/// is read to its end, however long that takes.
[[nodiscard]] std::optional<std::string> read_whole_file(const std::string& path, std::string* why = nullptr);

/// The same of a text, without the byte order mark that some editors write in front.
[[nodiscard]] std::optional<std::string> read_text_file(const std::string& path, std::string* why = nullptr);

/// What some editors write in front of a text in UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Writes a file as a whole or not at all: to a temporary one beside it, which then takes its place, or the place of
/// the file that a symbolic link names. A device or a pipe stays what it is, and gets the text; for the reader of a
/// pipe it is waited a few seconds. Returns why it failed, for people; "": it did not.
[[nodiscard]] std::string write_whole_file(const std::string& path, const std::string& text);

/// The name of a temporary file beside that one.
[[nodiscard]] std::string temporary_beside(const std::string& path);

/// There is something by this name, and it is neither a file nor a folder: renaming a file to it would destroy a pipe
/// or a device.
[[nodiscard]] bool is_pipe_or_device(const std::string& path);

/// A digest of the content of a file; nothing when it is no file or cannot be read. No more than a part of it is held.
[[nodiscard]] std::optional<u64> digest_of_file(const std::string& path);

}  // namespace banyan
