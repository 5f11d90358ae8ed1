// netrace: packets between the caches of a multicore, with what each had to wait for (Hestness, Grot, Keckler 2010).
#pragma once

#include <string>
#include <string_view>

#include "banyan/workload/schedule.hpp"

namespace banyan::workload {

struct NetraceNotes {
  std::string benchmark;
  u64 packets = 0;
  u64 local = 0;    ///< packets of a node to itself: they take no message
  u64 notices = 0;  ///< messages of no bytes, where a packet waits for one that another node received
};

/// Whether bytes that a file starts with, uncompressed, are those of such a trace.
[[nodiscard]] bool is_netrace(std::string_view start) noexcept;

/// A schedule of as many ranks as the trace has nodes. A packet leaves at its cycle at the earliest, and after the
/// arrival of the packets that it waits for. Throws ConfigError, with the byte, where the file is not as it must be.
[[nodiscard]] Schedule read_netrace(const std::string& path, NetraceNotes* notes = nullptr);

}  // namespace banyan::workload
