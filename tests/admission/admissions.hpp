// Experiments on every switch model, for tests of what admissions make of them.
#pragma once

#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"

namespace banyan::test {

struct Network {
  const char* model;
  std::string text;
};

/// A small network per switch model, messages of several lengths where the model takes them.
inline const std::vector<Network>& networks() {
  static const std::vector<Network> all{
      {"vc_router",
       "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 2, buffer = 4 }\n"
       "routing = 'dimension_order'\ntraffic = { name = 'uniform', load = 0.25, size = 3 }\n"},
      {"vc_router general",
       "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 2, buffer = 4, kernel = "
       "'general' }\nrouting = 'dimension_order'\ntraffic = { name = 'uniform', load = 0.25, size = 9, max_packet = 4 "
       "}\n"},
      {"output_queued",
       "topology = { name = 'extra_stage_cube', terminals = 16 }\nswitch = 'output_queued'\n"
       "routing = 'destination_tag'\ntraffic = { name = 'uniform', load = 0.4 }\n"},
      {"central_buffer",
       "topology = { name = 'bidirectional_min', hosts = 16, ports = 8 }\nswitch = 'central_buffer'\n"
       "routing = 'nearest_common_ancestor'\ntraffic = { name = 'uniform', load = 0.3, size = 16 }\n"},
      {"central_buffer with multicasts",
       "topology = { name = 'bidirectional_min', hosts = 16, ports = 8 }\nswitch = 'central_buffer'\n"
       "routing = 'nearest_common_ancestor'\ntraffic = { name = 'bimodal', load = 0.3 }\n"},
      {"input_buffer",
       "topology = { name = 'bidirectional_min', hosts = 16, ports = 8 }\nswitch = 'input_buffer'\n"
       "routing = 'nearest_common_ancestor'\ntraffic = { name = 'uniform', load = 0.3, size = 16 }\n"},
      {"cioq",
       "topology = { name = 'bidirectional_min', hosts = 16, ports = 4 }\nswitch = { name = 'cioq', packet = 64 }\n"
       "routing = { name = 'nearest_common_ancestor', up = 'd_mod_k' }\n"
       "traffic = { name = 'uniform', load = 0.4, size = 100 }\n"},
      {"circuit",
       "topology = { name = 'torus', size = [4, 4] }\nswitch = 'circuit'\nrouting = 'dimension_order'\n"
       "traffic = { name = 'uniform', load = 0.1, size = 16 }\n"},
      {"packet_node",
       "topology = { name = 'hypercube', degree = 4 }\nswitch = { name = 'packet_node', acquire = 2, header = 2 }\n"
       "routing = 'dimension_order'\ntraffic = { name = 'uniform', load = 0.2, size = 24 }\n"},
      {"ideal",
       "topology = { name = 'mesh', size = [4, 4] }\nswitch = 'ideal'\nrouting = 'dimension_order'\n"
       "traffic = { name = 'uniform', load = 0.2, size = 24 }\n"},
  };
  return all;
}

inline api::Experiment experiment(const std::string& network, const std::string& admission,
                                  const std::string& run = "warmup = 500, measure = 6000, audit = 'full'") {
  const std::string with = admission.empty() ? "" : "admission = " + admission + "\n";
  return api::read_experiments_text(network + with + "run = { " + run + " }\n", "held", {}).points.front();
}

inline api::Result run(const std::string& network, const std::string& admission,
                       const std::string& run = "warmup = 500, measure = 6000, audit = 'full'") {
  return api::run(experiment(network, admission, run), {});
}

}  // namespace banyan::test
