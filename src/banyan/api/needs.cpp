#include "banyan/api/needs.hpp"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <variant>
#include <vector>

#include "banyan/api/measure/steady.hpp"
#include "banyan/api/network.hpp"
#include "banyan/base/error.hpp"

namespace banyan::api {
namespace {

constexpr double kProgramBytes = 10e6;  ///< of a program that has built next to nothing
/// Building, first use of the memory included: measured on meshes of 512 x 512 switches of three models.
constexpr double kBuildSecondsPerInput = 1e-6;
constexpr double kBuildSecondsPerByte = 2e-9;
/// Models whose links have a rate look at every cycle in which something happens.
constexpr double kSecondsPerLinkCycle = 100e-9;
constexpr double kEventsPerHop = 6.0;  ///< begin and end of a packet, its credit, at either end of a link
/// Input ports of a network that is built to ask its traffics: some tenths of a second.
constexpr double kFewInputs = 20'000.0;
constexpr double kWorthSaying = 1e9;    ///< bytes
constexpr double kMinute = 60.0;        ///< seconds
constexpr double kLong = 15 * kMinute;  ///< what a run may take if it goes on
constexpr double kPatience = 2.0;       ///< seconds that somebody waits without asking what goes on

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

double copies_of(const Experiment& experiment) { return subnetworks_of(experiment); }

/// The flits of the longest packet that a switch sees.
double longest_packet(const Experiment& experiment) {
  const auto framing = switch_row(experiment).framing;
  return static_cast<double>(framing == nullptr ? kNone : framing(experiment.switching).longest);
}

/// Mean length of the messages of a traffic, in flits: of the first ones, or, where it has to be told what happens
/// before it sends, about.
double mean_message(const core::Traffic& traffic, u32 terminals) {
  constexpr u32 kTerminals = 16;
  constexpr u64 kMessages = 32;
  const core::TrafficTraits traits = traffic.traits();
  double flits = 0.0;
  double messages = 0.0;
  for (u32 t = 0; !traits.answers && t < terminals && messages < kTerminals * kMessages; ++t) {
    core::Message message;
    Tick previous = kNever;
    for (u64 nth = 0; nth < kMessages && traffic.next(t, nth, previous, message); ++nth) {
      if (message.birth == kNever) break;
      previous = message.birth;
      flits += message.flits;
      messages += 1.0;
    }
  }
  if (messages > 0.0) return flits / messages;
  return (static_cast<double>(traits.shortest_message) + traits.longest_message) / 2.0;
}

/// The flits that a traffic sends in so many cycles, and the packets that they are.
struct Sent {
  double flits = 0.0;
  double packets = 0.0;
};
Sent sent_by(const core::Traffic& traffic, u32 terminals, double cycles, double longest) {
  const core::TrafficTraits traits = traffic.traits();
  const double message = mean_message(traffic, terminals);
  Sent sent;
  sent.flits = traits.finite ? static_cast<double>(traits.total_messages) * message
                             : traffic.offered_load() * terminals * cycles * (traits.answers ? 2.0 : 1.0);
  sent.packets = sent.flits / std::min({message, static_cast<double>(traits.longest_packet), longest});
  return sent;
}

/// Mean of a parameter that is a number or a list; 0 where there is none.
double mean_of(const config::Values& values, const char* key) {
  const auto found = values.all().find(key);
  if (found == values.all().end()) return 0.0;
  if (const i64* const one = std::get_if<i64>(&found->second)) return static_cast<double>(*one);
  const auto* const list = std::get_if<std::vector<i64>>(&found->second);
  if (list == nullptr || list->empty()) return 0.0;
  return std::accumulate(list->begin(), list->end(), 0.0) / static_cast<double>(list->size());
}

/// Replies to a stream of requests may be many times as long as these, as far as terminals can send them (`capacity`,
/// in flits per cycle).
Sent requests_and_replies(const core::Traffic& traffic, const config::Values& values, u32 terminals, double cycles,
                          double longest, double capacity) {
  const core::TrafficTraits traits = traffic.traits();
  const double request = std::max(1.0, values.given("sizes") ? mean_of(values, "sizes") : mean_of(values, "size"));
  const double reply = mean_of(values, "reply_size");
  const double packet = std::min(static_cast<double>(traits.longest_packet), longest);
  const double requests = traffic.offered_load() * terminals * cycles;
  const double replies = std::min(requests / request * reply, capacity * terminals * cycles);
  return {requests + replies, requests / std::min(request, packet) + replies / std::clamp(reply, 1.0, packet)};
}

struct Together {
  std::vector<double> bytes;  ///< of each point, the largest first
  double reserved = 0.0;      ///< of the one that reserves most, of those that do not use all of it
  double seconds = 0.0;
  double most_seconds = 0.0;   ///< where runs go on until their verdicts are certain
  bool precise = false;        ///< of these, some do until their intervals are narrow
  bool at_least = false;       ///< one of the times is a bound: Work::at_least
  double build_seconds = 0.0;  ///< of the largest
  core::NetworkSize largest;
  const Experiment* of = nullptr;
};

/// What a point needs; of large buffers what its flits use of them, where it can be told how many there are.
std::optional<Needs> closer_needs_of(const Experiment& point, WorkOfRuns& work_of) {
  std::optional<Needs> needs = needs_of(point);
  if (!needs || needs->bytes <= kWorthSaying) return needs;
  const std::optional<Work> work = work_of(point);
  if (!work || work->at_least) return needs;
  std::optional<Needs> closer = needs_of(point, work->flits * work->passed);
  // Without buffers there is nothing to reserve for them.
  if (!switch_row(point).without_contention) closer->reserved = needs->reserved;
  return closer;
}

/// `time`: also what the runs take.
Together together(const std::vector<Experiment>& points, bool time) {
  Together all;
  WorkOfRuns work_of;
  for (const Experiment& point : points) {
    const std::optional<Needs> needs = closer_needs_of(point, work_of);
    if (!needs) continue;
    if (needs->reserved > needs->bytes) all.reserved = std::max(all.reserved, needs->reserved);
    if (all.of == nullptr || needs->bytes > *std::max_element(all.bytes.begin(), all.bytes.end())) {
      all.of = &point;
      all.largest = needs->size;
      all.build_seconds = needs->build_seconds;
    }
    all.bytes.push_back(needs->bytes);
    if (!time) continue;
    const std::optional<Work> work = work_of(point);
    const double run = work ? seconds_of(point, *work) : 0.0;
    all.at_least = all.at_least || (work && work->at_least);
    all.precise = all.precise || (work && work->most_times > 1.0 && point.run.real("precision") > 0.0);
    all.seconds += needs->build_seconds + run;
    all.most_seconds += needs->build_seconds + run * (work ? work->most_times : 1.0);
  }
  std::sort(all.bytes.begin(), all.bytes.end(), std::greater<>());
  return all;
}

double bytes_at_once(const Together& all, u32 at_once) {
  double sum = 0.0;
  for (std::size_t i = 0; i < std::min<std::size_t>(at_once, all.bytes.size()); ++i) sum += all.bytes[i];
  return sum;
}

double machine_bytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::string bytes_text(double bytes) {
  return bytes < 1e9 ? fmt::format("{:.0f} MB", bytes / 1e6) : fmt::format("{:.3g} GB", bytes / 1e9);
}

/// A number in a file of one line; nothing where there is none ("max").
std::optional<double> number_in(const char* path) {
  std::ifstream stream(path);
  double value = 0.0;
  return stream >> value ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 2 * kMinute) return fmt::format("{:.0f} s", seconds);
  if (seconds < 120 * kMinute) return fmt::format("{:.0f} minutes", seconds / kMinute);
  return seconds < 48 * 60 * kMinute ? fmt::format("{:.0f} hours", seconds / 3600.0)
                                     : fmt::format("{:.0f} days", seconds / 86400.0);
}

std::optional<Needs> needs_of(const Experiment& experiment, double moved) {
  const core::TopologyRow& topology = topology_row(experiment);
  const core::SwitchRow& switching = switch_row(experiment);
  if (topology.size == nullptr || switching.memory == nullptr) return std::nullopt;
  Needs needs;
  needs.size = topology.size(experiment.topology);
  for (double* part : {&needs.size.terminals, &needs.size.switches, &needs.size.inputs, &needs.size.channels}) {
    *part *= copies_of(experiment);
  }
  needs.size.listed |= copies_of(experiment) > 1;
  needs.size.moved = moved;
  needs.bytes = kProgramBytes + core::graph_bytes(needs.size) +
                switching.memory(experiment.switching, needs.size, shortest_packet(experiment));
  needs.reserved = needs.bytes;
  needs.build_seconds = needs.size.inputs * kBuildSecondsPerInput + needs.bytes * kBuildSecondsPerByte;
  return needs;
}

struct WorkOfRuns::Built {
  config::Values parameters;
  std::unique_ptr<core::Topology> topology;
};

WorkOfRuns::WorkOfRuns() = default;
WorkOfRuns::~WorkOfRuns() = default;

std::optional<Work> WorkOfRuns::operator()(const Experiment& experiment) {
  const std::optional<Needs> needs = needs_of(experiment);
  const config::Values& run = experiment.run;
  Work work;
  work.cycles = static_cast<double>(planned_end(run));
  const bool precise = run.real("precision") > 0.0;
  if (!is_fixed(run)) {
    const double times = static_cast<double>(run.integer(precise ? "precision_limit" : "extension"));
    work.most_times = std::max(1.0, times);
  }
  if (needs && needs->size.inputs > kFewInputs) {
    if (const std::optional<double> load = offered(experiment)) {
      work.passed = needs->size.passed;
      work.flits = work.cycles * needs->size.terminals / copies_of(experiment) * *load;
      work.packets = work.flits / std::min(shortest_packet(experiment), longest_packet(experiment));
      return work;
    }
    // A graph without switches is soon built.
    if (!switch_row(experiment).without_contention) return std::nullopt;
  }
  try {
    if (last_ == nullptr || last_->parameters.component() != experiment.topology.component() ||
        last_->parameters.all() != experiment.topology.all()) {
      last_ = std::make_unique<Built>(Built{experiment.topology, build_topology(experiment)});
    }
    const core::Graph& graph = last_->topology->graph();
    work.passed = needs ? needs->size.passed : core::size_of(graph).passed;
    const u32 terminals = graph.terminals();  // less than the parameters say where those of failed switches are gone
    Traffics traffics = build_traffics(experiment, *last_->topology);
    const bool finite = std::any_of(traffics.begin(), traffics.end(), [](const auto& each) { return each->finite(); });
    const bool until_delivered = finite && !is_fixed(run);
    const core::SwitchRow& switching = switch_row(experiment);
    const double capacity = switching.capacity == nullptr ? 1.0 : switching.capacity(experiment.switching).injection;
    for (std::size_t i = 0; i < traffics.size(); ++i) {
      const auto& traffic = traffics[i];
      const double longest = longest_packet(experiment);
      if (until_delivered && !traffic->finite()) {
        work.at_least = true;
        continue;
      }
      traffic->begin(0);
      const bool stream = traffic->answers() && !traffic->finite() && i < experiment.traffics.size();
      const Sent sent =
          stream ? requests_and_replies(*traffic, experiment.traffics[i], terminals, work.cycles, longest, capacity)
                 : sent_by(*traffic, terminals, work.cycles, longest);
      work.flits += sent.flits;
      work.packets += sent.packets;
    }
    if (!until_delivered) return work;
    const auto sessions = static_cast<double>(run.integer("sessions"));
    work.flits *= sessions;
    work.packets *= sessions;
    work.cycles = 0.0;  // as many as the messages take
    return work;
  } catch (const ConfigError&) { return std::nullopt; }
}

double seconds_of(const Experiment& experiment, const Work& work) {
  const core::SwitchRow& row = switch_row(experiment);
  const double flits = work.packets > 0.0 ? work.flits / work.packets : 1.0;
  const double packet = row.hop_cost.packet + std::min(flits * row.hop_cost.flit, row.hop_cost.most_of_flits);
  const double cycle = row.cycle_ns == nullptr ? 0.0 : kSecondsPerLinkCycle;
  // Time goes on at once to what happens next.
  return work.packet_hops() * packet + std::min(work.cycles, kEventsPerHop * work.packet_hops()) * cycle;
}

void require_fit(const std::vector<Experiment>& points, u32 at_once, double available_bytes) {
  const Together all = together(points, false);
  // The system refuses at once what is more than the machine has, whether it will be touched or not.
  const double most = std::max(available_bytes, machine_bytes());
  const bool reserves = all.reserved > most;
  const double bytes = reserves ? all.reserved : bytes_at_once(all, at_once);
  if (!reserves && bytes / kMemoryFactor <= available_bytes) return;
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

std::string needs_text(const std::vector<Experiment>& points, u32 at_once, double available_bytes) {
  const Together all = together(points, true);
  const double bytes = bytes_at_once(all, at_once);
  const bool long_run = all.seconds > kMinute || all.most_seconds > kLong;
  if (bytes <= kWorthSaying && !long_run) return "";
  std::string text = fmt::format("needs about {}", bytes_text(bytes));
  if (long_run) {
    text += fmt::format(" and {}{} of CPU time", all.at_least ? "at least " : "", duration_text(all.seconds));
  }
  if (long_run && all.most_seconds > 2.0 * all.seconds) {
    text += fmt::format(
        ", or up to {} where {}", duration_text(all.most_seconds),
        all.precise ? "intervals stay wide (run.precision_limit)" : "verdicts stay uncertain (run.extension)");
  }
  if (all.build_seconds > kMinute)
    text += fmt::format(", {} of it before the first cycle", duration_text(all.build_seconds));
  if (bytes > available_bytes) text += fmt::format("; it may not fit: {} are available", bytes_text(available_bytes));
  return text;
}

std::string memory_text(const std::vector<Experiment>& points, u32 at_once) {
  const double bytes = bytes_at_once(together(points, false), at_once);
  return bytes <= kWorthSaying ? "" : bytes_text(bytes);
}

bool slow_to_build(const std::vector<Experiment>& points) { return together(points, false).build_seconds > kPatience; }

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
