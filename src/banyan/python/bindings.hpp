// What the Python module is made of: each file adds its part of banyan._core. Names and defaults that users see are
// given in python/banyan; here values change hands.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <vector>

#include "banyan/api/experiment.hpp"

namespace banyan::python {

/// Finished points, of a sweep or of one run.
struct Sweep {
  std::shared_ptr<api::ExperimentSet> set;
  std::vector<api::Result> results;  ///< of the points of the set
};

void add_errors(pybind11::module_& module);
void add_experiments(pybind11::module_& module);
void add_results(pybind11::module_& module);
void add_comparisons(pybind11::module_& module);
void add_stepping(pybind11::module_& module);

}  // namespace banyan::python
