// The formats of workload files. Each reader is one file with its row; which one reads a file is told by its content.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "banyan/workload/chakra.hpp"
#include "banyan/workload/program.hpp"

namespace banyan::workload {

struct Format {
  const char* name;     ///< as docs/workload names it
  const char* summary;  ///< one line, for people
  /// Whether a file that starts with these bytes (4,096 at the most; none of a directory) is of this format.
  bool (*recognizes)(const std::string& path, std::string_view start);
  /// Throws ConfigError with file, line and column (of a binary file: the byte) where it is not as it must be.
  Program (*read)(const std::string& path);
};

// One row per reader, in the file that reads.
extern const Format format_goal_binary;
extern const Format format_goal_text;
extern const Format format_netrace;
extern const Format format_chakra;
extern const Format format_connections;

/// All formats, in the order in which they are asked.
[[nodiscard]] std::span<const Format* const> formats();

/// The format of a file or directory; nullptr: none knows it. Throws ConfigError where it cannot be read.
[[nodiscard]] const Format* format_of(const std::string& path);

/// Reads a workload file of any format. Throws ConfigError.
[[nodiscard]] Program read_workload(const std::string& path);
/// Likewise; the options are for a Chakra trace, and have no effect on other formats.
[[nodiscard]] Program read_workload(const std::string& path, const ChakraOptions& options);

}  // namespace banyan::workload
