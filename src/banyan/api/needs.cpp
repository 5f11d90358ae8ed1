#include "banyan/api/needs.hpp"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <map>

#include "banyan/api/measure_steady.hpp"
#include "banyan/base/error.hpp"

namespace banyan::api {
namespace {

constexpr double kProgramBytes = 10e6;  ///< of a program that has built next to nothing
/// Building, first use of the memory included: measured on meshes, tori and hypercubes of 4,096 to 65,536 switches.
constexpr double kBuildSecondsPerInput = 15e-6;
/// Moving a flit through a switch: 20 to 100 ns, by model and by how much of the network the caches hold.
constexpr double kSecondsPerFlitHop = 50e-9;
constexpr double kWorthSaying = 1e9;  ///< bytes
constexpr double kMinute = 60.0;      ///< seconds
constexpr double kPatience = 2.0;     ///< seconds that somebody waits without asking what goes on

/// The shortest packet that a traffic may send, in flits; 1 where its parameters do not say.
double shortest_packet(const Experiment& experiment) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const config::Values& traffic : experiment.traffics) {
    const auto size = traffic.all().find("size");
    const i64* const flits = size == traffic.all().end() ? nullptr : std::get_if<i64>(&size->second);
    shortest = std::min(shortest, flits == nullptr ? 1.0 : std::max(1.0, static_cast<double>(*flits)));
  }
  return std::isfinite(shortest) ? shortest : 1.0;
}

/// Flits per cycle and terminal that are offered, as far as the parameters say; a traffic without a load is finite.
std::optional<double> offered(const Experiment& experiment) {
  double load = 0.0;
  for (const config::Values& traffic : experiment.traffics) {
    const auto given = traffic.all().find("load");
    if (given == traffic.all().end()) continue;
    const double* const real = std::get_if<double>(&given->second);
    if (real == nullptr) return std::nullopt;
    load += *real;
  }
  return load > 0.0 ? std::optional(load) : std::nullopt;
}

struct Together {
  std::vector<double> bytes;  ///< of each point, the largest first
  double seconds = 0.0;
  double build_seconds = 0.0;  ///< of the largest
  core::NetworkSize largest;
  const Experiment* of = nullptr;
};

Together together(const std::vector<Experiment>& points) {
  Together all;
  for (const Experiment& point : points) {
    const std::optional<Needs> needs = needs_of(point);
    if (!needs) continue;
    if (all.of == nullptr || needs->bytes > *std::max_element(all.bytes.begin(), all.bytes.end())) {
      all.of = &point;
      all.largest = needs->size;
      all.build_seconds = needs->build_seconds;
    }
    all.bytes.push_back(needs->bytes);
    all.seconds += needs->build_seconds + needs->run_seconds.value_or(0.0);
  }
  std::sort(all.bytes.begin(), all.bytes.end(), std::greater<>());
  return all;
}

double bytes_at_once(const Together& all, u32 at_once) {
  double sum = 0.0;
  for (std::size_t i = 0; i < std::min<std::size_t>(at_once, all.bytes.size()); ++i) sum += all.bytes[i];
  return sum;
}

std::string bytes_text(double bytes) {
  return bytes < 1e9 ? fmt::format("{:.0f} MB", bytes / 1e6) : fmt::format("{:.3g} GB", bytes / 1e9);
}

std::string duration_text(double seconds) {
  if (seconds < 2 * kMinute) return fmt::format("{:.0f} s", seconds);
  if (seconds < 120 * kMinute) return fmt::format("{:.0f} minutes", seconds / kMinute);
  return seconds < 48 * 60 * kMinute ? fmt::format("{:.0f} hours", seconds / 3600.0)
                                     : fmt::format("{:.0f} days", seconds / 86400.0);
}

/// A number in a file of one line; nothing where there is none ("max").
std::optional<double> number_in(const char* path) {
  std::ifstream stream(path);
  double value = 0.0;
  return stream >> value ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<Needs> needs_of(const Experiment& experiment) {
  const core::TopologyRow& topology = topology_row(experiment);
  const core::SwitchRow& switching = switch_row(experiment);
  if (topology.size == nullptr || switching.memory == nullptr) return std::nullopt;
  Needs needs;
  needs.size = topology.size(experiment.topology);
  const double copies = experiment.topology.natural("subnetworks");
  for (double* part : {&needs.size.terminals, &needs.size.switches, &needs.size.inputs, &needs.size.channels}) {
    *part *= copies;
  }
  needs.bytes = kProgramBytes + core::graph_bytes(needs.size) +
                switching.memory(experiment.switching, needs.size, shortest_packet(experiment));
  needs.build_seconds = needs.size.inputs * kBuildSecondsPerInput;
  if (const std::optional<double> load = offered(experiment)) {
    const auto cycles = static_cast<double>(planned_end(experiment.run));
    needs.run_seconds = cycles * needs.size.terminals / copies * *load * needs.size.passed * kSecondsPerFlitHop;
  }
  return needs;
}

void require_fit(const std::vector<Experiment>& points, u32 at_once, double available_bytes) {
  const Together all = together(points);
  const double bytes = bytes_at_once(all, at_once);
  if (bytes / kMemoryFactor <= available_bytes) return;
  const bool several = at_once > 1 && all.bytes.size() > 1;
  all.of->topology.fail(
      "name",
      fmt::format(
          "{:.0f} switches with {:.0f} input ports need about {}{}, and {} are available", all.largest.switches,
          all.largest.inputs, bytes_text(bytes),
          several ? fmt::format(" for {} points at once", std::min<std::size_t>(at_once, all.bytes.size())) : "",
          bytes_text(available_bytes)),
      several ? "make the network smaller, or run fewer points at once (--threads)"
              : "make the network or the buffers of its switches smaller, or use a machine with more memory");
}

std::string needs_text(const std::vector<Experiment>& points, u32 at_once) {
  const Together all = together(points);
  const double bytes = bytes_at_once(all, at_once);
  if (bytes <= kWorthSaying && all.seconds <= kMinute) return "";
  std::string text = fmt::format("needs about {}", bytes_text(bytes));
  if (all.seconds > kMinute) text += fmt::format(" and {} of CPU time", duration_text(all.seconds));
  if (all.build_seconds > kMinute)
    text += fmt::format(", {} of it before the first cycle", duration_text(all.build_seconds));
  return text;
}

bool slow_to_build(const std::vector<Experiment>& points) { return together(points).build_seconds > kPatience; }

double available_memory() {
  double available = std::numeric_limits<double>::infinity();
  std::ifstream machine("/proc/meminfo");
  for (std::string line; std::getline(machine, line);) {
    constexpr std::string_view kKey = "MemAvailable:";
    if (!line.starts_with(kKey)) continue;
    available = std::strtod(line.c_str() + kKey.size(), nullptr) * 1024.0;
  }
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  if (limit && used) available = std::min(available, std::max(0.0, *limit - *used));
  rlimit own{};
  if (getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY) {
    available = std::min(available, static_cast<double>(own.rlim_cur));
  }
  return available;
}

}  // namespace banyan::api
