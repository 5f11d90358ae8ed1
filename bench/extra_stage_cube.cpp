// Speed of the Extra Stage Cube study's runs: PE-cycles (terminal-cycles) per second of CPU time, engine, statistics
// and all. The program's own counter is the same figure: terminal_cycles / cpu_seconds of `banyan run --json`.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "banyan/api/experiment.hpp"

namespace {

void sessions(benchmark::State& state, const std::string& stage, const std::string& routing, double load,
              int terminals) {
  const std::string text = fmt::format(
      R"(topology = {{ name = "extra_stage_cube", terminals = {}, radix = 4, input_stage = "{}" }}
switch = {{ name = "output_queued", buffer = 12 }}
routing = "{}"
traffic = [{{ name = "synchronization", mean = 3000, deviation = 10 }},
           {{ name = "uniform", load = {}, include_self = true }}]
run = {{ sessions = {} }}
)",
      terminals, stage, routing, load, terminals > 1000 ? 2 : 10);
  const banyan::api::ExperimentSet set = banyan::api::read_experiments_text(text, "bench", {});
  double cycles = 0.0;
  double cpu = 0.0;
  for (auto _ : state) {
    const banyan::api::Result result = banyan::api::run(set.points.at(0));
    cycles += result.at("terminal_cycles").mean;
    cpu += result.cpu_seconds;
  }
  state.counters["PE_cycles_per_second"] = benchmark::Counter(cycles / cpu);
  state.counters["ns_per_PE_cycle"] = benchmark::Counter(1e9 * cpu / cycles);
}

BENCHMARK_CAPTURE(sessions, bypass_load_0 .5, "bypassed", "destination_tag", 0.5, 256)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sessions, bypass_load_0 .8, "bypassed", "destination_tag", 0.8, 256)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sessions, isolated_background_load_0 .5, "enabled", "isolated_background", 0.5, 256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sessions, bypass_load_0 .5_4096_terminals, "bypassed", "destination_tag", 0.5, 4096)
    ->Unit(benchmark::kMillisecond);

}  // namespace
