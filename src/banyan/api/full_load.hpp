// The load at which the fullest part of a network is full, while traffics that are not varied keep theirs.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "banyan/api/experiment.hpp"

namespace banyan::api {

/// What models prove of one experiment. In the mean of all terminals, in flits per cycle and terminal.
struct Fullness {
  double ratio = 0.0;          ///< what the fullest part has to carry over what it can; above 1: no steady state
  double offered = 0.0;        ///< of all traffics
  std::optional<double> most;  ///< that is accepted of it however unfairly, where that is less
  std::string model;           ///< that proves the ratio; "": none does
};

[[nodiscard]] Fullness fullness_of(const Experiment& experiment);

struct FullLoad {
  double load = 0.0;
  double offered = 0.0;  ///< by all traffics at that load
  double others = 0.0;   ///< by those that are not varied
  std::string model;
};

/// The greatest load at which nothing is fuller than full; 0 where the others alone fill something. What a part carries
/// grows in proportion to the load, from what the others bring: the ratio is convex and piecewise linear, and some
/// secants find where it is 1. `greatest`: the load that `at` is asked for at the most; beyond it the ratio is taken to
/// grow as before it, no faster than it does. Nothing where no model proves a ratio, or where the load adds nothing to
/// what is fullest.
[[nodiscard]] std::optional<FullLoad> full_load(const std::function<Fullness(double load)>& at, double greatest);

}  // namespace banyan::api
