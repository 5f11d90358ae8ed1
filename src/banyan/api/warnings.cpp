#include "banyan/api/warnings.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "banyan/api/measure/vc_turn.hpp"
#include "banyan/config/resolve.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::api {
namespace {

/// Admissions that ask nothing of switches.
std::string admissions_without_help() {
  return core::admissions_with(
      [](const core::AdmissionRow& row) { return !row.needs_marks && !row.needs_utilization; });
}

/// An admission that waits for marks where none are made.
std::string marks_note(const Experiment& experiment) {
  const std::string& name = experiment.admission.component();
  const auto rows = core::admission_rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto* r) { return r->info.name == name; });
  if (row == rows.end() || !(*row)->needs_marks) return {};
  const config::Values& switching = experiment.switching;
  const bool told = switching.all().contains("recn.notify_sources") && switching.flag("recn.notify_sources");
  if (told || marks_packets(experiment)) return {};
  const auto marks = [](const core::SwitchRow& other) {
    return config::find_parameter(other.info, "mark.high") != nullptr;
  };
  return fmt::format(
      "the admission {} holds back what switches mark, and the switch {} marks nothing; {}", name,
      switching.component(),
      marks(switch_row(experiment))
          ? "set switch.mark.low and switch.mark.high, the lengths of a queue between which marks begin"
          : fmt::format("use the switch {} with switch.mark.high, or the admission {}, which needs no marks",
                        core::switches_with(marks), admissions_without_help()));
}

/// An admission that reads what the switch does not write.
std::string utilization_note(const Experiment& experiment) {
  const std::string& name = experiment.admission.component();
  const auto rows = core::admission_rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto* r) { return r->info.name == name; });
  if (row == rows.end() || !(*row)->needs_utilization || switch_row(experiment).writes_utilization) return {};
  return fmt::format(
      "the admission {} reads how busy links are from packets, and the switch {} writes nothing; use the "
      "switch {}, or the admission {}, which needs nothing of switches",
      name, experiment.switching.component(),
      core::switches_with([](const core::SwitchRow& other) { return other.writes_utilization; }),
      admissions_without_help());
}

/// Senders of whose messages nothing is left to be held back when an admission hears of congestion.
std::string memory_note(const Experiment& experiment) {
  const std::string& name = experiment.admission.component();
  const auto rows = core::admission_rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto* r) { return r->info.name == name; });
  const auto memory_of = switch_row(experiment).source_memory;
  if (row == rows.end() || !(*row)->open_until_told || memory_of == nullptr) return {};
  const u64 memory = memory_of(experiment.switching);
  for (const config::Values& traffic : experiment.traffics) {
    if (!traffic.all().contains("amount")) continue;
    const auto amount = static_cast<u64>(traffic.integer("amount"));
    if (amount == 0 || amount > memory) continue;
    return fmt::format(
        "the memory of a terminal's adapter takes {} flits, and a sender of the traffic {} has {}: all of them may "
        "have left "
        "it before the admission {} hears of congestion, which has nothing to hold back then; use a switch.memory "
        "below "
        "that, or an admission with a window",
        memory, traffic.component(), amount, name);
  }
  return {};
}

/// A load that fits the links of terminals, and with what packets take of them beyond their flits does not.
std::string overhead_note(const Experiment& experiment, const Traffics& traffics) {
  const LinkOverhead more = link_overhead(experiment);
  if (!more.at_terminals) return {};
  const u32 cut = switch_row(experiment).framing(experiment.switching).longest;
  double load = 0.0;
  double packets = 0.0;
  for (const auto& traffic : traffics) {
    const u32 longest = std::min({traffic->longest_message(), traffic->longest_packet(), cut});
    load += traffic->offered_load();
    packets += traffic->offered_load() / std::max(1U, longest);
  }
  if (packets == 0.0 || load + packets * more.flits <= 1.0) return {};
  return overhead_text(more, load / packets, load);
}

}  // namespace

std::vector<std::string> warnings_of(const Experiment& experiment, const Network& network, const Traffics& traffics,
                                     bool carried) {
  std::vector<std::string> warnings;
  const core::SwitchRow& row = switch_row(experiment);
  if (row.warning != nullptr) {
    u32 longest = 0;
    for (const auto& traffic : traffics) {
      longest = std::max(longest, std::min(traffic->longest_message(), traffic->longest_packet()));
    }
    warnings.push_back(row.warning(experiment.switching, *network.topology, longest));
  }
  warnings.push_back(marks_note(experiment));
  warnings.push_back(utilization_note(experiment));
  warnings.push_back(memory_note(experiment));
  if (!carried) warnings.push_back(overhead_note(experiment, traffics));
  if (!carried) warnings.push_back(vc_turn_note(experiment, network, traffics));
  std::erase(warnings, std::string());
  return warnings;
}

}  // namespace banyan::api
