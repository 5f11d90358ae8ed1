// Small real runs for the tests of what is measured, compared and verified.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "banyan/api/experiment.hpp"

namespace banyan::api {

/// A mesh that saturates at about 0.6: a run takes a few hundredths of a second.
inline const std::string kMesh =
    "topology = { name = \"mesh\", size = [4, 4] }\n"
    "switch   = { name = \"vc_router\", vcs = 4, buffer = 4 }\n"
    "routing  = \"dimension_order\"\n"
    "traffic  = { name = \"uniform\", load = 0.3 }\n"
    "[run]\n"
    "warmup  = 500\n"
    "measure = 4000\n";

/// Synchronizations over background in a small Extra Stage Cube.
inline const std::string kSessions =
    "topology = { name = \"extra_stage_cube\", terminals = 64, radix = 4 }\n"
    "switch   = { name = \"output_queued\", buffer = 8 }\n"
    "routing  = \"isolated_hot_spot\"\n"
    "[[traffic]]\n"
    "name = \"synchronization\"\n"
    "mean = 200\n"
    "deviation = 10\n"
    "[[traffic]]\n"
    "name = \"uniform\"\n"
    "load = 0.5\n"
    "include_self = true\n"
    "[run]\n"
    "sessions = 24\n";

inline Experiment experiment_of(const std::string& text, const Overrides& overrides = {}) {
  ExperimentSet set = read_experiments_text(text, "test.toml", overrides);
  EXPECT_EQ(set.points.size(), 1U);
  return set.points.front();
}

inline Result run_of(const std::string& text, const Overrides& overrides = {}, u32 threads = 1) {
  RunOptions options;
  options.threads = threads;
  return run(experiment_of(text, overrides), options);
}

}  // namespace banyan::api
