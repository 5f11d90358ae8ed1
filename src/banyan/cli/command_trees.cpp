// banyan trees: the congestion trees of a stored run, as a table, as a timeline, or at one time.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "banyan/api/catalog.hpp"
#include "banyan/api/network.hpp"
#include "banyan/api/physical.hpp"
#include "banyan/api/reader.hpp"
#include "banyan/base/error.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/engine/watchdog.hpp"
#include "banyan/stats/congestion_view.hpp"
#include "banyan/store/store.hpp"

namespace banyan::cli {
namespace {

using nlohmann::ordered_json;
using stats::CongestionEvent;
using stats::CongestionEventKind;
using stats::CongestionRecord;
using stats::CongestionSample;
using stats::CongestionTree;

constexpr std::size_t kTimelineColumns = 72;  ///< of a timeline
constexpr std::size_t kMostRows = 40;         ///< of a table; the rest is counted

/// The life of one tree.
struct Life {
  u32 id = 0;
  u32 root = 0;  ///< the first
  u64 first = 0;
  u64 last = 0;
  CongestionTree most;  ///< with the most members
  u32 victims = 0;
  u32 idle_ports = 0;
};

std::map<u32, Life> lives_of(const CongestionRecord& record) {
  std::map<u32, Life> lives;
  for (const CongestionSample& sample : record.samples) {
    for (const CongestionTree& tree : sample.trees) {
      Life& life = lives[tree.id];
      if (life.id == 0) life = {tree.id, tree.root, sample.at, sample.at, tree, 0, 0};
      life.last = sample.at;
      life.victims = std::max(life.victims, tree.victims);
      life.idle_ports = std::max(life.idle_ports, tree.idle_ports);
      if (tree.members.size() > life.most.members.size()) life.most = tree;
    }
  }
  return lives;
}

class TreePrinter {
 public:
  /// `cycle_ns`: 0 where nobody says how long a cycle is.
  TreePrinter(const CongestionRecord& record, const core::Topology& topology, u64 least, double cycle_ns)
      : record_(record), topology_(topology), cycle_ns_(cycle_ns), lives_(lives_of(record)) {
    std::erase_if(lives_, [&](const auto& life) { return life.second.most.members.size() < least; });
  }

  [[nodiscard]] std::string table() const {
    std::string text = head();
    if (lives_.empty()) return text + "no congestion tree\n";
    text +=
        fmt::format("\n{:<5}  {:<34} {:>9} {:>9} {:>8} {:>8} {:>6} {:>6} {:>8} {:>5}  {}\n", "tree", "root", "first",
                    "last", "members", "switches", "depth", "flows", "victims", "idle", "members per stage");
    // The largest first.
    std::vector<const Life*> order;
    for (const auto& [id, life] : lives_) order.push_back(&life);
    std::stable_sort(order.begin(), order.end(),
                     [](const Life* a, const Life* b) { return a->most.members.size() > b->most.members.size(); });
    for (std::size_t i = 0; i < std::min(order.size(), kMostRows); ++i) {
      const Life& l = *order[i];
      std::string stages;
      for (const u32 n : l.most.per_stage) stages += fmt::format("{}{}", stages.empty() ? "" : " ", n);
      text += fmt::format("{:<5}  {:<34} {:>9} {:>9} {:>8} {:>8} {:>6} {:>6} {:>8} {:>5}  {}\n", l.id,
                          root_name(l.most.root), l.first, l.last, l.most.members.size(), l.most.switches, l.most.depth,
                          l.most.flows, l.victims, l.idle_ports, stages);
    }
    if (order.size() > kMostRows) {
      text += fmt::format("\nand {} smaller ones (--least N shows fewer, --json all)\n", order.size() - kMostRows);
    }
    return text + "\n" + set_aside() +
           "members, switches, depth and flows: when the tree was largest; victims (packets) and idle (ports that "
           "victims want and nobody uses): the most\n";
  }

  [[nodiscard]] std::string events() const {
    std::string text = head();
    for (const CongestionEvent& e : record_.events) {
      if (!lives_.contains(e.tree)) continue;
      text +=
          fmt::format("{:>9}  tree {:<4} {}{}\n", e.at, e.tree, stats::kCongestionEventNames[index(e.kind)], words(e));
    }
    return text;
  }

  /// What a mechanism that sets queues aside makes of the trees; "" when there is none.
  [[nodiscard]] std::string set_aside() const {
    const stats::CongestionView view = stats::compare_views(record_);
    if (view.queue_samples == 0) return "";
    std::string text = fmt::format(
        "queues set aside: {} at most, for {} roots of which {} are the root of no tree; {:.1f} % of the queues serve "
        "no "
        "tree\n",
        view.most_queues, view.roots, view.false_roots,
        100.0 * static_cast<double>(view.useless_samples) / static_cast<double>(view.queue_samples));
    text +=
        fmt::format("trees that live for two samples or more: {}, of which {} are detected", view.trees, view.detected);
    if (view.detected != 0) {
      text += fmt::format(" ({:.0f} cycles after they are seen, in the mean)",
                          static_cast<double>(view.delay) / static_cast<double>(view.detected));
    }
    return text + fmt::format(" and {} missed\n", view.missed);
  }

  /// A column shows the largest size of the tree in its time, as a share of the largest of all trees.
  [[nodiscard]] std::string timeline() const {
    std::string text = head();
    if (record_.samples.empty() || lives_.empty()) return text + "no congestion tree\n";
    const u64 end = record_.samples.back().at + 1;
    std::size_t most = 1;
    for (const auto& [id, life] : lives_) most = std::max(most, life.most.members.size());
    std::map<u32, std::vector<std::size_t>> sizes;
    for (const CongestionSample& sample : record_.samples) {
      for (const CongestionTree& tree : sample.trees) {
        if (!lives_.contains(tree.id)) continue;
        std::vector<std::size_t>& row = sizes[tree.id];
        row.resize(kTimelineColumns);
        std::size_t& cell = row[sample.at * kTimelineColumns / end];
        cell = std::max(cell, tree.members.size());
      }
    }
    static constexpr const char* kBars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    std::size_t rows = 0;
    for (const auto& [id, row] : sizes) {
      if (++rows > kMostRows) break;
      text += fmt::format("{:>5} |", id);
      for (const std::size_t size : row) text += kBars[size == 0 ? 0 : 1 + (size - 1) * 8 / most];
      text += fmt::format("| {} members, {}\n", lives_.at(id).most.members.size(), root_name(lives_.at(id).most.root));
    }
    text += fmt::format("       0{:>71} cycles\n", record_.samples.back().at);
    if (sizes.size() > kMostRows) {
      text += fmt::format("and {} more trees (--least N shows fewer)\n", sizes.size() - kMostRows);
    }
    return text;
  }

  /// The trees of the last sample at or before a time, member by member.
  [[nodiscard]] std::string at(u64 time) const {
    const CongestionSample& sample = sample_at(time);
    std::string text = head() + fmt::format("at {}:\n", sample.at);
    for (const CongestionTree& tree : sample.trees) {
      if (!lives_.contains(tree.id)) continue;
      text +=
          fmt::format("tree {}: root {}, {} members in {} switches, depth {}, {} leaves, {} sources cut off\n", tree.id,
                      root_name(tree.root), tree.members.size(), tree.switches, tree.depth, tree.leaves, tree.sources);
      text += fmt::format("  {} packets of {} flows go through the root; {} victims of {} flows; {} idle ports\n",
                          tree.packets, tree.flows, tree.victims, tree.victim_flows, tree.idle_ports);
      text += flow_words("fed by", tree.most_flows) + flow_words("victims", tree.most_victims);
      for (const stats::CongestionMember& m : tree.members) {
        const u32 fill = m.place < sample.fill.size() ? sample.fill[m.place] : 0;
        text += fmt::format("  {:{}}{} {} %{}\n", "", 2 * m.depth, place_name(m.place), (fill * 100 + 127) / 255,
                            m.victims == 0 ? "" : fmt::format(", {} victims", m.victims));
      }
    }
    if (sample.trees.empty()) text += "no congestion tree\n";
    return text;
  }

  [[nodiscard]] ordered_json json() const {
    ordered_json object = {{"interval", record_.interval},
                           {"threshold", record_.threshold},
                           {"samples", ordered_json::array()},
                           {"events", ordered_json::array()},
                           {"waits", ordered_json::array()}};
    for (const CongestionSample& sample : record_.samples) object["samples"].push_back(sample_json(sample));
    for (const CongestionEvent& e : record_.events) {
      if (!lives_.contains(e.tree)) continue;
      object["events"].push_back({{"at", e.at},
                                  {"event", stats::kCongestionEventNames[index(e.kind)]},
                                  {"tree", e.tree},
                                  {"other", e.other},
                                  {"root", root_name(e.root)},
                                  {"root_channel", e.root},
                                  {"old_root_channel", e.old_root},
                                  {"members", e.members},
                                  {"depth", e.depth}});
    }
    for (const stats::CongestionWait& w : record_.waits) {
      static constexpr const char* kWhy[] = {"space", "bandwidth", "held"};
      object["waits"].push_back({{"source", w.source},
                                 {"destination", w.destination},
                                 {"why", kWhy[std::min<std::size_t>(w.why, 2)]},
                                 {"behind_source", number(w.behind_source)},
                                 {"behind_destination", number(w.behind_destination)},
                                 {"root_channel", number(w.root)},
                                 {"samples", w.samples}});
    }
    const stats::CongestionView view = stats::compare_views(record_);
    object["set_aside"] = {{"most_queues", view.most_queues},
                           {"trees", view.trees},
                           {"detected", view.detected},
                           {"missed", view.missed},
                           {"delay", view.delay},
                           {"roots", view.roots},
                           {"false_roots", view.false_roots},
                           {"queue_samples", view.queue_samples},
                           {"useless_samples", view.useless_samples}};
    return object;
  }

 private:
  [[nodiscard]] static std::size_t index(CongestionEventKind kind) { return static_cast<std::size_t>(kind); }
  [[nodiscard]] static ordered_json number(u32 value) {
    return value == kNone ? ordered_json(nullptr) : ordered_json(value);
  }

  [[nodiscard]] std::string head() const {
    const std::size_t samples = record_.samples.size();
    return fmt::format("{} sample{} every {} cycles{}; a buffer counts as congested from {} % of its capacity\n",
                       samples, samples == 1 ? "" : "s", record_.interval,
                       cycle_ns_ > 0.0 ? fmt::format(" of {:g} ns", cycle_ns_) : "", record_.threshold * 100.0);
  }

  [[nodiscard]] std::string root_name(u32 channel) const {
    const core::Channel& c = topology_.graph().channel(channel);
    const std::string from = c.from.terminal ? fmt::format("terminal {}", c.from.node)
                                             : fmt::format("{} output {}", topology_.label(c.from.node),
                                                           topology_.port_label(c.from.node, c.from.port));
    return c.to.terminal ? fmt::format("{} to terminal {}", from, c.to.node) : from;
  }

  [[nodiscard]] std::string place_name(u32 place) const {
    const stats::CongestionPlace& p = record_.places[place];
    return engine::place({static_cast<engine::ResourceKind>(p.kind), p.index, p.lane}, topology_);
  }

  [[nodiscard]] std::string words(const CongestionEvent& e) const {
    switch (e.kind) {
      case CongestionEventKind::born:
      case CongestionEventKind::grown:
        return fmt::format(": root {}, {} members, depth {}", root_name(e.root), e.members, e.depth);
      case CongestionEventKind::moved_downstream:
      case CongestionEventKind::moved_upstream:
        return fmt::format(": from {} to {}{}", root_name(e.old_root), root_name(e.root),
                           e.other == e.tree ? "" : fmt::format(", which was tree {}", e.other));
      case CongestionEventKind::merged:
        return fmt::format(" into tree {}: its root was {}", e.other, root_name(e.root));
      case CongestionEventKind::split:
        return fmt::format(" from tree {}: root {}, {} members", e.other, root_name(e.root), e.members);
      case CongestionEventKind::overlap:
        return fmt::format(": with tree {}", e.other);
      case CongestionEventKind::died:
        return fmt::format(": root {}", root_name(e.root));
    }
    return "";
  }

  [[nodiscard]] static std::string flow_words(const char* what, const std::vector<stats::CongestionFlow>& flows) {
    if (flows.empty()) return "";
    std::string text = fmt::format("  {}:", what);
    for (const auto& f : flows) text += fmt::format(" {}->{} ({})", f.source, f.destination, f.packets);
    return text + "\n";
  }

  [[nodiscard]] const CongestionSample& sample_at(u64 time) const {
    if (record_.samples.empty()) {
      throw ConfigError({"command line", 0, 0, "--at"}, "the run has no sample", "choose a shorter run.trees_interval");
    }
    const CongestionSample* found = &record_.samples.front();
    for (const CongestionSample& sample : record_.samples) {
      if (sample.at <= time) found = &sample;
    }
    return *found;
  }

  [[nodiscard]] ordered_json sample_json(const CongestionSample& sample) const {
    ordered_json trees = ordered_json::array();
    const auto flows = [](const std::vector<stats::CongestionFlow>& list) {
      ordered_json array = ordered_json::array();
      for (const auto& f : list) {
        array.push_back({{"source", f.source}, {"destination", f.destination}, {"packets", f.packets}});
      }
      return array;
    };
    for (const CongestionTree& t : sample.trees) {
      if (!lives_.contains(t.id)) continue;
      ordered_json members = ordered_json::array();
      for (const auto& m : t.members) {
        members.push_back({{"place", place_name(m.place)}, {"depth", m.depth}, {"victims", m.victims}});
      }
      trees.push_back({{"tree", t.id},
                       {"root", root_name(t.root)},
                       {"root_channel", t.root},
                       {"depth", t.depth},
                       {"leaves", t.leaves},
                       {"switches", t.switches},
                       {"sources", t.sources},
                       {"packets", t.packets},
                       {"flows", t.flows},
                       {"victims", t.victims},
                       {"victim_flows", t.victim_flows},
                       {"idle_ports", t.idle_ports},
                       {"members", std::move(members)},
                       {"members_per_stage", t.per_stage},
                       {"most_flows", flows(t.most_flows)},
                       {"most_victims", flows(t.most_victims)}});
    }
    return {{"at", sample.at},
            {"delivered_flits", sample.delivered_flits},
            {"delivered_packets", sample.delivered_packets},
            {"latency", sample.latency},
            {"trees", std::move(trees)},
            {"set_aside", sample.queues.size()}};
  }

  const CongestionRecord& record_;
  const core::Topology& topology_;
  double cycle_ns_;
  std::map<u32, Life> lives_;
};

/// The run that is asked for, or the first that recorded trees.
api::Result find_run(const TreesArguments& arguments) {
  store::Table table = store::Reader(arguments.from).table();
  store::require_whole(table);
  if (arguments.point && *arguments.point >= table.results.size()) {
    throw ConfigError({"command line", 0, 0, "--point"}, fmt::format("there is no point {}", *arguments.point),
                      fmt::format("give a number from 0 to {}", table.results.size() - 1));
  }
  for (std::size_t i = 0; i < table.results.size(); ++i) {
    if (arguments.point && i != *arguments.point) continue;
    if (table.results[i] && table.results[i]->trees != nullptr) return std::move(*table.results[i]);
  }
  throw ConfigError({arguments.from, 0, 0, ""}, "no run here recorded congestion trees",
                    "run it with run.trees=true run.trees_interval=N and --out");
}

}  // namespace

int trees(const TreesArguments& arguments) {
  const api::Result result = find_run(arguments);
  const std::unique_ptr<core::Topology> topology =
      api::build_topology(api::experiment_from(result.configuration, api::catalog()));
  const CongestionRecord record = result.trees->record();
  const std::optional<api::Worth> cycle = api::worth_of("cycles", result);
  const TreePrinter printer(record, *topology, arguments.least, cycle ? cycle->factor : 0.0);
  if (arguments.json) {
    print(printer.json().dump() + "\n");
  } else if (arguments.timeline) {
    show_text(printer.timeline());
  } else if (arguments.events) {
    show_text(printer.events());
  } else if (arguments.at) {
    show_text(printer.at(*arguments.at));
  } else {
    show_text(printer.table());
  }
  return kDone;
}

}  // namespace banyan::cli
