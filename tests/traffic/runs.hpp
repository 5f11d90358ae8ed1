// Whole runs of one traffic on a small mesh, for tests of what a closed loop does.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"

namespace banyan::test {

/// A 4 x 4 mesh with full audit; `traffic` is what stands between the braces, `run` the same of the run table.
inline api::Result run_on_mesh(const std::string& traffic, const std::string& run = "sessions = 2",
                               const std::string& switching = "vcs = 4, buffer = 8", u32 threads = 1) {
  const std::string text = fmt::format(
      "topology = {{ name = 'mesh', size = [4, 4] }}\nswitch = {{ name = 'vc_router', {} }}\n"
      "routing = 'dimension_order'\ntraffic = [{}]\nrun = {{ audit = 'full', {} }}\n",
      switching, traffic, run);
  api::RunOptions options;
  options.threads = threads;
  return api::run(api::read_experiments_text(text, "test", {}).points.front(), options);
}

/// States under permuted steps, waking everything, several shards and threads: all must be equal.
inline std::vector<u64> states_of(const std::string& traffic, const std::string& run = "sessions = 2") {
  std::vector<u64> states;
  for (const char* mode : {"", ", step_order = 'permuted'", ", wake = 'all'", ", shards = 3", ", shards = 7"}) {
    states.push_back(run_on_mesh(traffic, run + mode).state_hash);
  }
  states.push_back(run_on_mesh(traffic, run + ", shards = 4", "vcs = 4, buffer = 8", 2).state_hash);
  return states;
}

}  // namespace banyan::test
