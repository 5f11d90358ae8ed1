// Which terminal each rank of each job is at (docs/workload/jobs.md).
#pragma once

#include <string>
#include <vector>

#include "banyan/config/schema.hpp"
#include "banyan/core/topology.hpp"

namespace banyan::api {

/// The terminals of a network, filled by one job after the other.
class Placement {
 public:
  Placement(const core::Topology& topology, u64 seed);

  /// The terminal of each rank of the next job. `values`: of job_info(), whose "placement" is a kind or the path of a
  /// file. Throws ConfigError where the file has too few terminals, or some that do not exist.
  [[nodiscard]] std::vector<u32> place(const config::Values& values, u32 ranks);
  /// How many terminals the file of the last job names beyond its ranks.
  [[nodiscard]] u32 unused() const noexcept { return unused_; }

 private:
  [[nodiscard]] std::vector<u32> order(const std::string& kind) const;

  u64 seed_;
  u32 job_ = 0;
  u32 unused_ = 0;
  std::vector<u32> group_;  ///< [terminal]
  std::vector<u32> ranks_;  ///< [terminal], that are there already
};

}  // namespace banyan::api
