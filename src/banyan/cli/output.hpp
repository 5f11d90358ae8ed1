// Files and standard output. A file is there as a whole or not at all; what cannot be written is known before a run.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace banyan::cli {

/// Creates the folder when it is missing and proves that a file can be written there. Throws ConfigError.
void require_writable_folder(const std::string& folder);
/// Proves that a file can be written in its folder, which must be there; the file itself must not be a directory.
/// Throws ConfigError.
void require_writable_file(const std::string& path);

/// A file that a command reads or writes, and what names it: "--log", "traffic.0.file".
struct NamedFile {
  std::string name;
  std::string path;
};
/// Two names of one file, there or not. What is no regular file, such as /dev/null, is nobody's to lose: never the
/// same.
[[nodiscard]] bool is_same_file(const std::string& a, const std::string& b);

/// Proves that what a command writes can be written, and that it takes neither the place of what it reads nor of what
/// it writes besides. Files without a path are left out. Throws ConfigError.
void require_outputs(const std::vector<NamedFile>& written, const std::vector<NamedFile>& read);

/// write_whole_file(). Throws ConfigError.
void write_file(const std::string& path, const std::string& text);

/// The whole file. Throws ConfigError.
[[nodiscard]] std::string read_file(const std::string& path);

/// One line on standard error: "banyan: TEXT".
void note(const std::string& text);

/// Writes to standard output, to the end. Throws ConfigError when that fails (a full disk).
void print(const std::string& text);
/// The same of what people read: on a terminal, and wherever COLUMNS is set, lines that are wider are folded, and
/// tables are cut into parts with the first `keys` columns each (report/terminal_text.hpp), in colours where
/// has_colour(). Else it goes into a file or
/// a pipe as it is.
void show_text(const std::string& text, std::size_t keys = 1);

/// Whether the stream is a terminal that shows colours, and NO_COLOR is not set.
[[nodiscard]] bool has_colour(std::FILE* stream);

/// COLUMNS, or the width of the stream's terminal, or 80.
[[nodiscard]] std::size_t columns_of(std::FILE* stream);

}  // namespace banyan::cli
