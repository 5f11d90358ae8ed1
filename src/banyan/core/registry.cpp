#include "banyan/core/registry.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "banyan/base/error.hpp"

namespace banyan::core {
namespace {

/// The rows of one room.
template <typename Row>
class Room {
 public:
  explicit Room(std::span<const Row* const> built_in) { set({built_in.begin(), built_in.end()}); }

  [[nodiscard]] std::span<const Row* const> rows() const { return *newest_.load(std::memory_order_acquire); }
  /// The name of a row that is there already; empty: there is none.
  [[nodiscard]] std::string clash(std::span<const Row* const> more) const {
    for (const Row* row : more) {
      const auto all = rows();
      if (std::any_of(all.begin(), all.end(), [&](const Row* old) { return old->info.name == row->info.name; }))
        return row->info.name;
    }
    return {};
  }
  void add(std::span<const Row* const> more) {
    List all(rows().begin(), rows().end());
    all.insert(all.end(), more.begin(), more.end());
    std::sort(all.begin(), all.end(), [](const Row* a, const Row* b) { return a->info.name < b->info.name; });
    set(std::move(all));
  }

 private:
  using List = std::vector<const Row*>;
  void set(List list) { newest_.store(&lists_.emplace_back(std::move(list)), std::memory_order_release); }

  std::deque<List> lists_;  ///< all that there were: another thread may read one of them
  std::atomic<const List*> newest_ = nullptr;
};

struct Rooms {
  explicit Rooms(const Components& built_in)
      : topology(built_in.topology),
        routing(built_in.routing),
        switching(built_in.switching),
        traffic(built_in.traffic),
        admission(built_in.admission),
        analysis(built_in.analysis) {}

  Room<TopologyRow> topology;
  Room<RoutingRow> routing;
  Room<SwitchRow> switching;
  Room<TrafficRow> traffic;
  Room<AdmissionRow> admission;
  Room<AnalysisRow> analysis;
};

Rooms& rooms() {
  static Rooms all(built_in_components());  // plug-ins
  return all;
}

template <typename Row, typename Has>
std::string names_with(std::span<const Row* const> rows, const Has& has) {
  std::vector<std::string> names;
  for (const Row* row : rows) {
    if (has(*row)) names.push_back(row->info.name);
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return text;
}

/// nullptr: it must be told something, or does not fit.
std::unique_ptr<Topology> by_default(const TopologyRow& row) {
  try {
    return row.make(config::Values::defaults(row.info));
  } catch (const ConfigError&) { return nullptr; }
}
std::unique_ptr<Routing> by_default(const RoutingRow& row, const RoutingContext& context) {
  try {
    return row.make(config::Values::defaults(row.info), context);
  } catch (const ConfigError&) { return nullptr; }
}
std::unique_ptr<Traffic> by_default(const TrafficRow& row, const Topology& topology) {
  try {
    return row.make(config::Values::defaults(row.info),
                    {.topology = &topology, .terminals = topology.graph().terminals()});
  } catch (const ConfigError&) { return nullptr; }
}
std::unique_ptr<Admission> by_default(const AdmissionRow& row) {
  AdmissionContext context;
  context.terminals = 2;
  context.cycle_ns = 1.0;
  try {
    return row.make(config::Values::defaults(row.info), context);
  } catch (const ConfigError&) { return nullptr; }
}
RoutingContext context_of(const Topology& topology) {
  constexpr u32 kVcs = 4;  // enough for the classes of most; no buffers are built
  return {.topology = &topology, .hot_spots = {}, .vcs = kVcs, .for_remedy = true};
}
std::vector<std::unique_ptr<Topology>> topologies_by_default() {
  std::vector<std::unique_ptr<Topology>> topologies;
  for (const TopologyRow* row : topology_rows()) {
    if (auto topology = by_default(*row)) topologies.push_back(std::move(topology));
  }
  return topologies;
}

}  // namespace

std::string switches_with(const std::function<bool(const SwitchRow&)>& has) {
  return names_with(switching_rows(), has);
}
std::string admissions_with(const std::function<bool(const AdmissionRow&)>& has) {
  return names_with(admission_rows(), [&](const AdmissionRow& row) { return row.info.name != "none" && has(row); });
}
std::string admissions_with(const std::function<bool(const Admission&)>& has) {
  return admissions_with([&](const AdmissionRow& row) {
    const std::unique_ptr<Admission> admission = by_default(row);
    return admission != nullptr && has(*admission);
  });
}
std::string traffics_with(const std::function<bool(const TrafficRow&)>& has) { return names_with(traffic_rows(), has); }
std::string traffics_with(const std::function<bool(const Traffic&)>& has) {
  const auto topologies = topologies_by_default();
  return names_with(traffic_rows(), [&](const TrafficRow& row) {
    return std::any_of(topologies.begin(), topologies.end(), [&](const std::unique_ptr<Topology>& topology) {
      const std::unique_ptr<Traffic> traffic = by_default(row, *topology);
      return traffic != nullptr && has(*traffic);
    });
  });
}
std::string topologies_with(const std::function<bool(const Topology&)>& has) {
  return names_with(topology_rows(), [&](const TopologyRow& row) {
    const std::unique_ptr<Topology> topology = by_default(row);
    return topology != nullptr && has(*topology);
  });
}
std::string routings_with(const std::function<bool(const Routing&)>& has) {
  const auto topologies = topologies_by_default();
  return names_with(routing_rows(), [&](const RoutingRow& row) {
    return std::any_of(topologies.begin(), topologies.end(), [&](const std::unique_ptr<Topology>& topology) {
      const std::unique_ptr<Routing> routing = by_default(row, context_of(*topology));
      return routing != nullptr && has(*routing);
    });
  });
}
std::string topologies_with(const std::function<bool(const Topology&, const Routing&)>& has) {
  return names_with(topology_rows(), [&](const TopologyRow& row) {
    const std::unique_ptr<Topology> topology = by_default(row);
    if (topology == nullptr) return false;
    const auto rows = routing_rows();
    return std::any_of(rows.begin(), rows.end(), [&](const RoutingRow* usual) {
      if (row.routing.name == nullptr || usual->info.name != row.routing.name) return false;
      const std::unique_ptr<Routing> routing = by_default(*usual, context_of(*topology));
      return routing != nullptr && has(*topology, *routing);
    });
  });
}
std::string routings_on(const RoutingContext& context, const std::string& but) {
  constexpr u32 kMostTerminals = 4096;
  if (context.for_remedy || context.topology->graph().terminals() > kMostTerminals) return {};
  RoutingContext asked = context;
  asked.for_remedy = true;
  return names_with(routing_rows(),
                    [&](const RoutingRow& row) { return row.info.name != but && by_default(row, asked) != nullptr; });
}

std::string add_components(const Components& more) {
  Rooms& all = rooms();
  for (const std::string& name :
       {all.topology.clash(more.topology), all.routing.clash(more.routing), all.switching.clash(more.switching),
        all.traffic.clash(more.traffic), all.admission.clash(more.admission), all.analysis.clash(more.analysis)}) {
    if (!name.empty()) return name;
  }
  all.topology.add(more.topology);
  all.routing.add(more.routing);
  all.switching.add(more.switching);
  all.traffic.add(more.traffic);
  all.admission.add(more.admission);
  all.analysis.add(more.analysis);
  return {};
}

std::span<const TopologyRow* const> topology_rows() { return rooms().topology.rows(); }
std::span<const RoutingRow* const> routing_rows() { return rooms().routing.rows(); }
std::span<const SwitchRow* const> switching_rows() { return rooms().switching.rows(); }
std::span<const TrafficRow* const> traffic_rows() { return rooms().traffic.rows(); }
std::span<const AdmissionRow* const> admission_rows() { return rooms().admission.rows(); }
std::span<const AnalysisRow* const> analysis_rows() { return rooms().analysis.rows(); }

}  // namespace banyan::core
