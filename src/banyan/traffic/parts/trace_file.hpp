// The text format of message traces: reader and writer. Described in docs/traffic/trace.md.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/base/types.hpp"

namespace banyan::traffic {

struct TraceMessage {
  /// The message waits for another one: until it arrives at this message's source, or leaves it.
  struct After {
    u64 id = 0;
    u64 delay = 0;  ///< cycles
  };
  u64 id = 0;
  u64 cycle = 0;  ///< earliest moment of generation
  u32 source = 0;
  u32 destination = 0;
  u32 flits = 1;
  std::vector<After> after;
  u32 line = 0;  ///< in the file; 0: none
};

/// Messages in the order of the text. `file` is named in errors. Throws ConfigError with the line and the field:
/// numbers that do not parse, ids that repeat or do not exist, waiting for a message that neither begins nor ends at
/// the source, waiting in a circle.
[[nodiscard]] std::vector<TraceMessage> read_trace(std::string_view text, const std::string& file,
                                                   u32 terminals = std::numeric_limits<u32>::max());
/// The text of a file. Throws ConfigError when it cannot be read.
[[nodiscard]] std::string read_trace_text(const std::string& file, const Where& named_at);
/// The inverse of read_trace.
[[nodiscard]] std::string write_trace(const std::vector<TraceMessage>& messages);

}  // namespace banyan::traffic
