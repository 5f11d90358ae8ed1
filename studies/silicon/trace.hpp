// Traces of the networks of a Wormhole chip: what each processor asked for, when, and when its barriers ended, as the
// hardware timed it. Format: tenstorrent/tt-npe, doc/noc_trace_format.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::study::silicon {

/// What a trace's barriers depend on; named by the file (DRAM_TO_2x4_HEIGHT.json), as issue-bound ones cannot be told
/// from their events alone.
enum class TraceClass { issue_bound, block_to_block, large_dram, other };
[[nodiscard]] std::string_view to_string(TraceClass trace_class);

enum class EventKind { read, barrier_start, barrier_end };

/// Times are cycles since the first event of the trace.
struct Event {
  EventKind kind = EventKind::read;
  u32 noc = 0;     ///< 0 or 1
  u32 target = 0;  ///< of a read: the node whose memory is read
  u32 bytes = 0;   ///< of a read
  Tick at = 0;
};

/// One of the two processors of a core that move data.
struct Processor {
  u32 node = 0;
  std::string name;
  Tick begin = 0;             ///< of its kernel
  std::vector<Event> events;  ///< in their order
  std::vector<Tick> sends;    ///< when the profiler sent its records over the network (PROFILER-NOC-QUICK-SEND)
};

struct Trace {
  std::string name;  ///< of the file, without its folder
  TraceClass trace_class = TraceClass::other;
  std::vector<Processor> processors;
  u64 others = 0;  ///< events that are neither reads nor their barriers; they are not replayed
};

/// Reads one file. Throws ConfigError with file and event.
[[nodiscard]] Trace read_trace(const std::string& path);
struct Traces {
  std::vector<Trace> read;
  std::vector<std::pair<std::string, std::string>> refused;  ///< name of the file, and why
};
/// All *.json of a folder, by name. Throws ConfigError where there are none, or none that can be read.
[[nodiscard]] Traces read_traces(const std::string& folder);

}  // namespace banyan::study::silicon
