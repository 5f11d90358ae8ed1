#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "banyan/api/experiment.hpp"
#include "banyan/api/jobs.hpp"
#include "banyan/api/network.hpp"
#include "banyan/core/dependencies.hpp"

namespace banyan::api {
namespace {

/// Whether messages and replies of all traffics keep to the same virtual channels.
bool same_classes(const Experiment& a, const Experiment& b) {
  const auto same = [](const config::Values& x, const config::Values& y) {
    return std::ranges::all_of(std::array{"vc_range", "reply_vc_range"}, [&](const char* name) {
      const auto of_x = x.all().find(name);
      const auto of_y = y.all().find(name);
      if (of_x == x.all().end() || of_y == y.all().end()) return (of_x == x.all().end()) == (of_y == y.all().end());
      return of_x->second == of_y->second;
    });
  };
  return std::ranges::equal(a.traffics, b.traffics, same);
}

bool same_network(const Experiment& a, const Experiment& b) {
  const auto same = [](const config::Values& x, const config::Values& y) {
    return x.component() == y.component() && x.all() == y.all();
  };
  return same(a.topology, b.topology) && same(a.routing, b.routing) && same(a.switching, b.switching) &&
         same_classes(a, b);
}

u32 longest_packet(const Experiment& experiment, const core::Topology& topology) {
  u32 longest = 1;
  for (const auto& traffic : build_traffics(experiment, topology)) {
    longest = std::max(longest, std::min(traffic->longest_message(), traffic->longest_packet()));
  }
  return longest;
}

DeadlockNote note_on(const Experiment& experiment) {
  const core::SwitchRow& switching = switch_row(experiment);
  if (switching.no_dependencies != nullptr) {
    return {false, false, fmt::format("deadlock: not checked, {}", switching.no_dependencies)};
  }
  const Network network = build_network(experiment);
  core::DependencyReport report = core::check_dependencies(network.topology->one_subnetwork(), *network.routing_in_one,
                                                           switching.vcs(experiment.switching));
  const bool shares = switching.shares_vcs != nullptr &&
                      switching.shares_vcs(experiment.switching, longest_packet(experiment, *network.topology));
  if (shares && report.verdict == core::DependencyVerdict::escape) {
    report.verdict = core::DependencyVerdict::escape_when_empty;
  }
  if (shares && report.verdict == core::DependencyVerdict::escape_when_empty) {
    return {false, true,
            core::explain(report, network.topology->one_subnetwork()) +
                "\n  here it is not: packets may wait behind each other in a circle; remedy: " +
                (switching.shares_vcs_remedy != nullptr
                     ? switching.shares_vcs_remedy
                     : "a routing without escapes, such as the usual one of the topology")};
  }
  const bool bad = report.verdict == core::DependencyVerdict::cyclic || report.verdict == core::DependencyVerdict::lost;
  return {bad, bad, core::explain(report, network.topology->one_subnetwork())};
}

}  // namespace

std::vector<DeadlockNote> check_deadlock(const std::vector<Experiment>& given) {
  std::vector<Experiment> points;
  for (const Experiment& point : given) {
    if (point.jobs.empty()) {
      points.push_back(point);
    } else if (!is_without_contention(point.switching.component())) {
      points.push_back(network_of_jobs(point));
    }
  }
  std::vector<const Experiment*> known;
  std::vector<DeadlockNote> notes;
  for (const Experiment& point : points) {
    const auto seen = [&](const Experiment* other) { return same_network(point, *other); };
    if (std::any_of(known.begin(), known.end(), seen)) continue;
    known.push_back(&point);
    DeadlockNote note = note_on(point);
    const auto said = [&](const DeadlockNote& other) { return other.text == note.text; };
    if (std::none_of(notes.begin(), notes.end(), said)) notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace banyan::api
