// What an experiment needs, told before anything is built.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/core/size.hpp"

namespace banyan::api {

/// What a run does, about: all that its time is told from.
struct Work {
  double cycles = 0.0;
  double flits = 0.0;    ///< that are sent
  double packets = 0.0;  ///< that the switches make of them
  double passed = 1.0;   ///< switches that each of them passes
  /// The run may go on for so many times as long while its verdict is uncertain, or for its precision.
  double most_times = 1.0;
  /// Sessions that end with their finite messages: what other traffic sends beside these is not counted, since nobody
  /// knows how long they take.
  bool at_least = false;

  [[nodiscard]] double packet_hops() const { return packets * passed; }
};

/// Memory to within a factor of two (kMemoryFactor), work to within one of three (kWorkFactor), times to within one of
/// five on a core of today.
struct Needs {
  core::NetworkSize size;  ///< with subnetworks
  double bytes = 0.0;
  double reserved = 0.0;  ///< bytes that are asked for, touched or not
  double build_seconds = 0.0;
};

/// How far the estimate of memory may be off, either way, while the network is not saturated: tests hold it.
inline constexpr double kMemoryFactor = 2.0;

/// The same for the packet hops of a run that does not go on and the cycles of one that is not cut short.
inline constexpr double kWorkFactor = 3.0;

/// Nothing when the topology cannot tell its size from its parameters (a graph file).
/// `moved`: NetworkSize::moved.
[[nodiscard]] std::optional<Needs> needs_of(const Experiment& experiment,
                                            double moved = std::numeric_limits<double>::infinity());

/// What a run does, asked from its traffics; these and the topology are built where that takes no time. Nothing for
/// large networks whose parameters do not say, and where the build fails.
class WorkOfRuns {
 public:
  WorkOfRuns();
  ~WorkOfRuns();
  WorkOfRuns(const WorkOfRuns&) = delete;
  WorkOfRuns& operator=(const WorkOfRuns&) = delete;

  [[nodiscard]] std::optional<Work> operator()(const Experiment& experiment);

 private:
  struct Built;
  std::unique_ptr<Built> last_;  ///< the topology of the experiment before: points of a sweep mostly share it
};

/// CPU time of that work with the switch model of the experiment, on a core of today.
[[nodiscard]] double seconds_of(const Experiment& experiment, const Work& work);

/// Throws ConfigError when the networks of so many of these experiments at once cannot fit into that many bytes.
void require_fit(const std::vector<Experiment>& points, u32 at_once, double available_bytes);

/// One line for people where the experiments need more than 1 GB or a minute; "" otherwise. It says so when they may
/// need more than the bytes that are available, and require_fit() has not refused them: the estimate may be twice too
/// high.
[[nodiscard]] std::string needs_text(const std::vector<Experiment>& points, u32 at_once,
                                     double available_bytes = std::numeric_limits<double>::infinity());

/// "40 s", "12 minutes", "22 hours", "3 days".
[[nodiscard]] std::string duration_text(double seconds);

/// The memory of that: "7 GB"; "" below 1 GB.
[[nodiscard]] std::string memory_text(const std::vector<Experiment>& points, u32 at_once);

/// Whether building the largest of the networks takes seconds, so that errors in it are found late.
[[nodiscard]] bool slow_to_build(const std::vector<Experiment>& points);

/// What this process may still allocate: of the machine, of its control group, and by its own limit.
[[nodiscard]] double available_memory();

}  // namespace banyan::api
