// What an experiment needs, told before anything is built.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/core/size.hpp"

namespace banyan::api {

/// Memory to within a factor of two (kMemoryFactor), times to within one of five on a core of today.
struct Needs {
  core::NetworkSize size;  ///< with subnetworks
  double bytes = 0.0;
  double build_seconds = 0.0;
  std::optional<double> run_seconds;  ///< nothing for sessions, whose length nobody knows
};

/// How far the estimate of memory may be off, either way, while the network is not saturated: tests hold it.
inline constexpr double kMemoryFactor = 2.0;

/// Nothing when the topology cannot tell its size from its parameters (a graph file).
[[nodiscard]] std::optional<Needs> needs_of(const Experiment& experiment);

/// Throws ConfigError when the networks of so many of these experiments at once cannot fit into that many bytes.
void require_fit(const std::vector<Experiment>& points, u32 at_once, double available_bytes);

/// One line for people where the experiments need more than 1 GB or a minute; "" otherwise.
[[nodiscard]] std::string needs_text(const std::vector<Experiment>& points, u32 at_once);

/// Whether building the largest of the networks takes seconds, so that errors in it are found late.
[[nodiscard]] bool slow_to_build(const std::vector<Experiment>& points);

/// What this process may still allocate: of the machine, of its control group, and by its own limit.
[[nodiscard]] double available_memory();

}  // namespace banyan::api
