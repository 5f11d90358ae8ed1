// The model of Safaei, Khonsari, Fathy and Ould-Khaoua for circuit switching on a k-ary 2-cube with a hot spot:
// equations 1 to 31, solved by damped iteration. How it departs from the print: docs/analysis/circuit_torus.md.
#pragma once

#include <optional>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::analysis::parts {

/// consistent: a bidirectional torus throughout. printed: channels and distances as equations 4 (its first form) to 7
/// and 17 to 19 say. printed_cycles: equation 4 in its second form, with the set-up time as traffic.
enum class CircuitTorusReading : u8 { consistent, printed, printed_cycles };

struct CircuitTorusInput {
  u32 k = 8;           ///< nodes per dimension
  u32 vcs = 2;         ///< V
  double flits = 32;   ///< M
  double alpha = 0.0;  ///< fraction of messages to the hot spot
  double rate = 0.0;   ///< lambda_g: messages per node and cycle
  CircuitTorusReading reading = CircuitTorusReading::consistent;
  double start = 1.0;  ///< the iteration starts at so many times the latencies without load
  /// Variance of the service time for equation 23; absent: (S - M - 3 d + 1)^2.
  std::optional<double> service_variance;
};

/// Everything that the equations name. Vectors are by distance j from the hot node; [0] is unused.
struct CircuitTorusSolution {
  bool saturated = false;  ///< no steady state: nothing else is meaningful
  u32 iterations = 0;
  double latency = 0.0;             ///< equation 1
  double network = 0.0;             ///< S, equation 2
  double waiting = 0.0;             ///< W_s, equation 23
  double multiplexing = 0.0;        ///< V, equation 31
  double setup = 0.0;               ///< mean of C over both kinds of messages
  double distance = 0.0;            ///< d, equation 3
  double regular_rate = 0.0;        ///< lambda_r, equation 4
  double regular_setup = 0.0;       ///< C_r, equation 15
  double regular_network = 0.0;     ///< S_r, equation 9
  double hot_network = 0.0;         ///< S_alpha, equation 13
  std::vector<double> hot_rate;     ///< lambda_alpha_j, equation 7
  std::vector<double> rate;         ///< lambda_j, equation 8
  std::vector<double> hot_setup;    ///< C_alpha_j, equation 16
  std::vector<double> hot_latency;  ///< S_alpha_j, equation 10
  std::vector<double> service;      ///< S_j, equation 11
  std::vector<double> probability;  ///< p_alpha_j, equation 12
  std::vector<double> all_busy;     ///< P_V at distance j, equation 29
  std::vector<double> degree;       ///< V_j, equation 30
};

[[nodiscard]] CircuitTorusSolution solve(const CircuitTorusInput& input);

/// The largest rate with a steady state, by bisection to a millionth of it; `input.rate` is not used.
[[nodiscard]] double saturation_rate(CircuitTorusInput input);

/// Equation 14: mean time of a header over hops whose blocking probabilities are `blocked`, from the source on.
/// Infinite when some hop is always blocked.
[[nodiscard]] double setup_time(const std::vector<double>& blocked);

/// Equations 24 to 29: probabilities of 0 .. V busy virtual channels of a channel with `load` = lambda_j S_j < 1.
[[nodiscard]] std::vector<double> busy_channels(double load, u32 vcs);

/// Equation 18 for `left` hops left of `hops`: the probability that only one dimension is left.
[[nodiscard]] double one_dimension_left(u32 left, u32 hops, double hops_per_dimension);

}  // namespace banyan::analysis::parts
