// Chakra execution traces (MLCommons): one file per rank, each node a protobuf message behind its length.
#pragma once

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/workload/collectives.hpp"
#include "banyan/workload/schedule.hpp"

namespace banyan::workload {

struct ChakraOptions {
  /// [Collective]: how collectives are done.
  std::array<Algorithm, 9> algorithms{};
  u32 group = 8;            ///< ranks per group of the algorithm hierarchical
  u64 contribution = 4096;  ///< bytes of a vector that switches reduce at once
  /// Collectives without type or size take their time alone, and dependencies on nodes that are not there are left out;
  /// else both are refused.
  bool skip_incomplete = false;
  std::string groups;            ///< a JSON file of groups, {"1": [0, 1]}, as ASTRA-sim has it; "": none
  double operations_per_ns = 0;  ///< of computations that give a number of operations and no time; 0: they take none
};

/// Sets one algorithm by name. Throws ConfigError at `where` for a collective or an algorithm that is not there.
void set_algorithm(ChakraOptions& options, std::string_view collective, std::string_view algorithm, const Where& where);

/// What reading a trace has shown beside the schedule.
struct ChakraNotes {
  u64 nodes = 0;
  u64 collectives = 0;  ///< that were expanded, once for all their ranks
  struct Kind {
    u64 count = 0;
    u64 bytes = 0;  ///< of the vectors
    std::set<Algorithm> algorithms;
  };
  std::array<Kind, 9> by_kind{};     ///< [Collective]
  std::vector<std::string> skipped;  ///< names of the collectives that lack type or size, each once
  u64 skipped_nodes = 0;
  u64 dangling = 0;  ///< dependencies on nodes that are not there
  u64 reduced = 0;   ///< collectives that switches reduce (ReplayOptions::reduces)
};

/// Whether bytes that a file starts with, uncompressed, are those of such a trace.
[[nodiscard]] bool is_chakra(std::string_view start) noexcept;

/// The files of all ranks, in their order; of any other path, that. Throws ConfigError where some are missing.
[[nodiscard]] std::vector<std::string> chakra_files(const std::string& path);

/// Reads the files of all ranks: `path` is one of NAME.0.et, NAME.1.et ..., or a folder that holds nothing else of that
/// kind. Throws ConfigError, with the file and the byte, where they are not as they must be.
[[nodiscard]] Schedule read_chakra(const std::string& path, const ChakraOptions& options = {},
                                   ChakraNotes* notes = nullptr);

}  // namespace banyan::workload
