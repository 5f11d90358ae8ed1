// Block-I/O traces: the common public text formats, and synthetic self-similar activity. Described in
// docs/traffic/storage.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::traffic {

/// One access of a host to a disk.
struct IoAccess {
  double at = 0.0;        ///< seconds from the first access on
  double service = -1.0;  ///< seconds until the disk answers; below 0: the trace does not say
  u32 host = 0;           ///< numbered in the order of first appearance
  u32 disk = 0;           ///< likewise
  u32 bytes = 0;
  bool write = false;
};

/// SPC: "ASU,LBA,size,opcode,timestamp[,...]". MSR: "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime"
/// (SNIA's Microsoft traces; times in 100 ns). SRT: HP's traces as text, "time device address bytes R|W [response]".
enum class IoFormat : u8 { spc, msr, srt };

/// The format of the first line that is no comment. Throws ConfigError when it is none of them.
[[nodiscard]] IoFormat guess_io_format(std::string_view text, const std::string& file);

/// Accesses by time. `file` is named in errors. Throws ConfigError with file, line and field for a line that does not
/// parse.
[[nodiscard]] std::vector<IoAccess> read_io_trace(std::string_view text, IoFormat format, const std::string& file);

/// Accesses of hosts that are on and off in turn for times with heavy tails, which together are self-similar.
/// Bytes.
inline constexpr u32 kLongestSyntheticAccess = 65536;

struct SyntheticIo {
  u64 seed = 1;
  u32 index = 0;  ///< of the traffic
  u32 replication = 0;
  u32 hosts = 1;
  u32 disks = 1;
  double seconds = 1.0;
  double accesses_per_second = 1000;  ///< of all hosts together, on average
  double tail = 1.4;                  ///< exponent of the Pareto lengths; Hurst parameter (3 - tail) / 2
  double burst_seconds = 0.01;        ///< mean length of a burst
  double on = 0.25;                   ///< fraction of the time in bursts
  double reads = 0.6;
  double skew = 1.0;  ///< of the disks' popularity: Zipf's exponent
};
[[nodiscard]] std::vector<IoAccess> synthesize_io(const SyntheticIo& plan);

}  // namespace banyan::traffic
