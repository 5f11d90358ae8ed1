#include "banyan/api/threads.hpp"

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <thread>

namespace banyan::api {
namespace {

/// With fewer, a window is over in about the time that threads take to meet at its end.
constexpr u32 kSwitchesPerThread = 128;
/// Where nobody asked for threads: a core that is only thought to be free costs more than it gives in small networks.
constexpr u32 kSwitchesUnasked = 512;

u32 of_rank(u32 switches, const engine::Ranks* ranks) { return ranks == nullptr ? switches : switches / ranks->size(); }

/// How many of the machine's cores this process may run on.
u32 cores() {
  cpu_set_t set;
  // It fails where there are more cores than a set holds.
  if (sched_getaffinity(0, sizeof set, &set) != 0) return std::max(1U, std::thread::hardware_concurrency());
  return std::max(1U, static_cast<u32>(CPU_COUNT(&set)));
}

}  // namespace

u32 free_cores() {
  double load = 0.0;
  if (getloadavg(&load, 1) != 1) load = 0.0;
  const double idle = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)) - std::round(load);
  return static_cast<u32>(std::clamp(idle, 1.0, static_cast<double>(cores())));
}

u32 threads_for(const Experiment& experiment, u32 switches, u32 wanted) {
  // More threads than cores would wait for each other at every window.
  const u32 most = wanted == 0 ? free_cores() : std::min(wanted, cores());
  if (experiment.run.natural("shards") != 0) return most;
  return std::clamp(switches / (wanted == 0 ? kSwitchesUnasked : kSwitchesPerThread), 1U, most);
}

void share_out(engine::EngineSettings& settings, const Experiment& experiment, u32 switches, u32 wanted,
               engine::Ranks* ranks) {
  settings.ranks = ranks;
  settings.threads = threads_for(experiment, of_rank(switches, ranks), wanted);
  settings.cut_for = settings.threads;
  if (ranks == nullptr) return;
  settings.cut_for =
      ranks->size() * ranks->sum(settings.threads, [](u32& most, u32 more) { most = std::max(most, more); });
}

std::string why_fewer_threads(const Experiment& experiment, const engine::Machine& machine, u32 switches, u32 wanted,
                              const engine::Ranks* ranks) {
  const u32 threads = machine.threads();
  if (threads >= wanted) return "";
  const u32 shards = machine.cut().shards;
  std::string why = fmt::format("it may run on no more than {} here", cores());
  const u32 own = of_rank(switches, ranks);
  const u32 paying = threads_for(experiment, own, wanted);
  if (machine.cut().by == "the switch model") {
    why = fmt::format("the switch {} steps such a network as a whole", experiment.switching.component());
  } else if (paying < std::min(wanted, cores())) {
    why = fmt::format("{} {} switches are too few ({} per thread)", ranks == nullptr ? "its" : "a rank's", own,
                      kSwitchesPerThread);
  } else if (threads < paying) {
    why = fmt::format("the network is cut into no more than {}", shards);
  }
  return fmt::format("{} of {} threads {} this network: {}", threads, wanted, threads == 1 ? "steps" : "step", why);
}

}  // namespace banyan::api
