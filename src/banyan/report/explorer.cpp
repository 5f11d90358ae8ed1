#include "banyan/report/explorer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "banyan/api/catalog.hpp"
#include "banyan/api/inputs.hpp"
#include "banyan/api/network.hpp"
#include "banyan/api/physical.hpp"
#include "banyan/api/reader.hpp"
#include "banyan/base/error.hpp"
#include "banyan/report/content_policy.hpp"
#include "banyan/report/drawing.hpp"
#include "banyan/report/jobs_figures.hpp"
#include "banyan/report/markup.hpp"

namespace banyan::report {
namespace {

using Json = nlohmann::ordered_json;

/// A terminal t is -1 - t.
i64 number_of(const core::End& end) { return end.terminal ? -1 - i64{end.node} : i64{end.node}; }

Json network_json(const std::string& name, const core::Topology& topology) {
  const core::Graph& graph = topology.graph();
  Json object = {{"name", name},
                 {"shape", shape_of(name, topology)},
                 {"bidirectional", topology.multistage() == nullptr},
                 {"terminals", graph.terminals()},
                 {"sizes", Json::array()},
                 {"levels", Json::array()},
                 {"labels", Json::array()},
                 {"channels", Json::array()}};
  if (topology.grid() != nullptr) object["sizes"] = topology.grid()->size;
  if (topology.hyperx() != nullptr) object["sizes"] = topology.hyperx()->size;
  if (topology.dragonfly() != nullptr) object["sizes"] = {topology.dragonfly()->routers, topology.dragonfly()->groups};
  u32 widest = 0;
  for (u32 s = 0; s < graph.switches(); ++s) {
    object["levels"].push_back(graph.level(s));
    object["labels"].push_back(topology.label(s));
    if (graph.outputs(s) > graph.outputs(widest)) widest = s;
  }
  object["ports"] = Json::array();
  if (graph.switches() != 0) {
    for (u32 p = 0; p < graph.outputs(widest); ++p) object["ports"].push_back(topology.port_label(widest, p));
  }
  Json& channels = object["channels"];
  for (const core::Channel& c : graph.channels()) {
    channels.push_back(number_of(c.from));
    channels.push_back(c.from.port);
    channels.push_back(number_of(c.to));
    channels.push_back(c.to.port);
  }
  return object;
}

std::string network_of(const api::Result& run) {
  const api::Experiment experiment = api::experiment_from(run.configuration, api::catalog());
  const std::unique_ptr<core::Topology> topology = api::build_topology(experiment);
  return network_json(experiment.topology.component(), *topology).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The record has no trees, and tells how links were used over the whole run (links_record).
bool is_still(const api::Result& run) {
  if (run.trees == nullptr) return true;
  const stats::CongestionRecord record = run.trees->record();
  return record.places.empty() && record.samples.size() == 1;
}

}  // namespace

std::string undrawable(const api::Result& run) {
  if (run.trees == nullptr) return "";
  try {
    const api::Experiment experiment = api::experiment_from(run.configuration, api::catalog());
    const std::string changed = api::changed_input(experiment);
    if (changed.empty() && !experiment.inputs.empty()) static_cast<void>(api::build_topology(experiment));
    return changed;
  } catch (const ConfigError& error) { return error.cause(); }
}

bool has_explorer(const std::vector<const api::Result*>& runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [](const api::Result* run) { return run->trees != nullptr && undrawable(*run).empty(); });
}

void add_explorers(Json& data, const std::vector<const api::Result*>& runs, const std::vector<std::string>& titles) {
  if (!has_explorer(runs)) return;
  std::vector<std::string> networks;
  data["explorers"] = Json::array();
  data["networks"] = Json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i]->trees == nullptr || !undrawable(*runs[i]).empty()) continue;
    const std::string network = network_of(*runs[i]);
    auto known = std::find(networks.begin(), networks.end(), network);
    if (known == networks.end()) {
      networks.push_back(network);
      known = networks.end() - 1;
      data["networks"].push_back(Json::parse(network));
    }
    Json one = {{"title", i < titles.size() ? titles[i] : ""},
                {"run", i},
                {"network", known - networks.begin()},
                {"record", base64(runs[i]->trees->bytes())}};
    if (const auto cycle = api::worth_of("cycles", *runs[i])) one["cycle"] = cycle->factor;
    if (const auto flit = api::worth_of("flits", *runs[i])) one["flit"] = flit->factor;
    if (Json paths = paths_of(*runs[i]); !paths.empty()) one["paths"] = std::move(paths);
    data["explorers"].push_back(std::move(one));
  }
}

std::string explorer_section(const std::vector<const api::Result*>& runs) {
  std::set<std::string> reasons;
  for (const api::Result* run : runs) {
    if (const std::string reason = undrawable(*run); !reason.empty()) reasons.insert(reason);
  }
  std::string apology;
  for (const std::string& reason : reasons)
    apology += fmt::format("<p>The network of a run cannot be drawn: {}.</p>\n", escape(reason));
  if (!has_explorer(runs)) return apology.empty() ? "" : "<h2 id=\"network\">The network</h2>\n" + apology;
  const bool still = std::all_of(runs.begin(), runs.end(), [](const api::Result* run) { return is_still(*run); });
  const bool paths =
      still && std::all_of(runs.begin(), runs.end(), [](const api::Result* run) { return has_paths(*run); });
  std::string html = paths   ? "<h2 id=\"network\">The network and the critical paths</h2>\n"
                     : still ? "<h2 id=\"network\">The network and its links by use</h2>\n"
                             : "<h2 id=\"network\">The network over time</h2>\n";
  html += apology;
  html +=
      "<section class=\"explorer\" id=\"explorer\">"
      "<div class=\"static\">\n";
  for (const api::Result* run : runs) {
    if (run->trees == nullptr || !undrawable(*run).empty()) continue;
    std::set<u32> trees;
    const stats::CongestionTree* largest = nullptr;
    u64 at = 0;
    const stats::CongestionRecord record = run->trees->record();
    for (const stats::CongestionSample& sample : record.samples) {
      for (const stats::CongestionTree& tree : sample.trees) {
        trees.insert(tree.id);
        if (largest != nullptr && tree.members.size() <= largest->members.size()) continue;
        largest = &tree;
        at = sample.at;
      }
    }
    if (has_paths(*run)) {
      html += "<p>What the end of each job waited for is below, as a table.</p>\n";
      continue;
    }
    if (still) {
      html += "<p>How much of the measured time each channel was in use is below, as a table.</p>\n";
      continue;
    }
    html += fmt::format("<p>{} samples, {} congestion trees", record.samples.size(), trees.size());
    if (largest != nullptr) {
      const std::string when =
          api::in_physical_units(stats::Metric::exact("at", "cycles", static_cast<double>(at)), *run);
      html +=
          fmt::format("; the largest, tree {}, had {} buffers in {} switches at {}", largest->id,
                      largest->members.size(), largest->switches, when.empty() ? fmt::format("cycle {}", at) : when);
    }
    html += ".</p>\n";
  }
  return html + "</div></section>\n";
}

}  // namespace banyan::report
