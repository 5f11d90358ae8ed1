#include <sys/resource.h>

#include "banyan/api/experiment.hpp"
#include "banyan/api/measure_sessions.hpp"
#include "banyan/api/measure_steady.hpp"
#include "banyan/api/network.hpp"
#include "banyan/base/cpu_time.hpp"

#ifndef BANYAN_VERSION
#define BANYAN_VERSION "unknown"
#endif
#ifndef BANYAN_COMPILER
#define BANYAN_COMPILER "unknown"
#endif

namespace banyan::api {
namespace {

u64 peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<u64>(usage.ru_maxrss) * 1024U;
}

}  // namespace

std::vector<std::string> check(const Experiment& experiment) {
  const Network network = build_network(experiment);
  static_cast<void>(build_instance(experiment, network, engine_settings(experiment)));
  return {};
}

Result run(const Experiment& experiment, const RunOptions& options) {
  const double started = thread_cpu_seconds();
  const Network network = build_network(experiment);
  const bool sessions = has_sessions(build_instance(experiment, network, engine_settings(experiment)));
  Result result = sessions ? measure_sessions(experiment, network, engine_settings(experiment), options)
                           : measure_steady(experiment, network, engine_settings(experiment), options);
  result.version = BANYAN_VERSION;
  result.compiler = BANYAN_COMPILER;
  result.configuration = experiment.configuration;
  result.configuration_hash = experiment.configuration_hash;
  result.seed = static_cast<u64>(experiment.run.integer("seed"));
  result.cpu_seconds += thread_cpu_seconds() - started;  // what helping threads spent is there already
  result.peak_bytes = peak_bytes();
  return result;
}

}  // namespace banyan::api
