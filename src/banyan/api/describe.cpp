#include "banyan/api/describe.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "banyan/api/metrics.hpp"
#include "banyan/base/error.hpp"
#include "banyan/config/json.hpp"
#include "banyan/config/resolve.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::api {
namespace {

using config::ComponentInfo;
using config::Parameter;
using nlohmann::ordered_json;

struct Item {
  const Kind* kind;
  const ComponentInfo* info;
};

/// What people call a component, a parameter or a word of results, or something that belongs to one. Values of choices
/// are found without a row.
struct Alias {
  std::string_view said;  ///< in lower case, words joined by '_'
  std::string_view name;
};

constexpr Alias kAliases[] = {
    {"adaptive_routing", "minimal_adaptive"},
    {"average_hops", "hops"},
    {"backpressure", "flow_control"},
    {"bisection", "throughput_bounds"},
    {"bisection_bandwidth", "throughput_bounds"},
    {"bit_reversal", "permutation"},
    {"bitcomp", "permutation"},
    {"bitrev", "permutation"},
    {"buffer_depth", "buffer"},
    {"clos", "fat_tree"},
    {"combining", "output_queued"},
    {"credit", "vc_router"},
    {"credits", "vc_router"},
    {"crossbar_speedup", "speedup"},
    {"dateline", "datelines"},
    {"deadlock", "deadlocked"},
    {"delay", "packet_latency"},
    {"dor", "dimension_order"},
    {"e_cube", "ecube"},
    {"ecmp", "nearest_common_ancestor"},
    {"ecn", "mark"},
    {"escape_channel", "fully_adaptive"},
    {"escape_channels", "fully_adaptive"},
    {"fattree", "fat_tree"},
    {"fct", "incast_completion"},
    {"fetch_and_add", "output_queued"},
    {"flattened_butterfly", "hyperx"},
    {"flow_completion_time", "incast_completion"},
    {"folded_clos", "fat_tree"},
    {"head_of_line", "cioq"},
    {"head_of_line_blocking", "cioq"},
    {"hol", "cioq"},
    {"homa", "receiver_credits"},
    {"hop", "hops"},
    {"infiniband", "infiniband_cc"},
    {"injection_rate", "offered_load"},
    {"input_queued", "vc_router"},
    {"iq", "vc_router"},
    {"k_ary_n_cube", "torus"},
    {"k_ary_n_tree", "fat_tree"},
    {"latency", "packet_latency"},
    {"link_latency", "latency"},
    {"link_utilization", "channel_utilization_mean"},
    {"load", "offered_load"},
    {"mpi", "collective"},
    {"ndp", "receiver_credits"},
    {"nearest_neighbor", "permutation"},
    {"neighbor", "permutation"},
    {"on_off_flow_control", "flow_control"},
    {"oq", "output_queued"},
    {"output_buffered", "output_queued"},
    {"output_queueing", "output_queued"},
    {"p99", "packet_latency_p99"},
    {"p99_latency", "packet_latency_p99"},
    {"pfc", "flow_control"},
    {"priority_flow_control", "flow_control"},
    {"qos", "priority"},
    {"recn", "cioq"},
    {"red", "mark"},
    {"ring", "torus"},
    {"roce", "dcqcn"},
    {"saturation", "saturated"},
    {"saturation_throughput", "saturated"},
    {"shuffle", "permutation"},
    {"store_and_forward", "packet_node"},
    {"tail_latency", "packet_latency_p99"},
    {"tornado", "permutation"},
    {"transpose", "permutation"},
    {"ugal_g", "ugal"},
    {"ugal_l", "ugal"},
    {"up*/down*", "up_down"},
    {"updown", "up_down"},
    {"val", "valiant"},
    {"vc", "vcs"},
    {"vct", "packet_node"},
    {"virtual_channel", "vc_router"},
    {"virtual_channels", "vc_router"},
    {"virtual_cut_through", "packet_node"},
    {"virtual_output_queues", "cioq"},
    {"vlb", "valiant"},
    {"voq", "cioq"},
    {"voqs", "cioq"},
    {"warm_up", "warmup"},
    {"wormhole", "vc_router"},
    {"xy", "dimension_order"},
    {"xyz", "dimension_order"},
    {"yx", "dimension_order"},
};

constexpr const char* kMetrics = "metrics";

/// What results say in a word, and columns of their tables that are no metrics. The rules are those of
/// docs/explanation/statistics.md, the parts of a latency those of docs/explanation/latency.md.
struct Word {
  std::string_view word;
  std::string_view meaning;
};

constexpr Word kWords[] = {
    {"behind",
     "In the table of flows: the flow whose packet was ahead most often, and the root of its congestion tree."},
    {"certain", "Every rule of the verdict is met: a longer run is expected to say the same."},
    {"chakra", "Execution traces of AI training (MLCommons), which the file of a job may be: docs/workload/chakra.md."},
    {"connections",
     "Messages between hosts as htsim writes them (.cm), which the file of a job may be: "
     "docs/workload/connections.md."},
    {"deadlocked", "Packets wait for each other in a circle, or for what never comes: nothing moves any more."},
    {"deterministic", "Nothing in the experiment is random: it was run once, and its values have no interval."},
    {"finished", "The run had a fixed length, or its sessions or jobs ended: nothing about it is extrapolated."},
    {"goal",
     "Schedules of sends, receives and computations, as text or binary, which the file of a job may be: "
     "docs/workload/goal.md."},
    {"netrace", "Traces of the caches of a multicore, which the file of a job may be: docs/workload/netrace.md."},
    {"routing_and_allocation", "In the table of flows: cycles in switches without waiting for credit, turns included."},
    {"saturated", "More is offered than is delivered: what waits grows without end."},
    {"steady", "What is offered is delivered, and what waits does not grow."},
    {"uncertain",
     "The run is too short to exclude the other verdict; the explanation names each rule that was not met."},
    {"utilization", "In the table of channels: flits that a channel carried, of those that it could have carried."},
    {"verdict", "What a run says of the network: steady, saturated, deadlocked or finished, each certain or not."},
    {"waiting_for_credit",
     "In the table of flows: cycles at the front of a buffer, waiting for room in the next or for what a packet "
     "holds."},
    {"wire", "In the table of flows: cycles on channels, which is their latency."},
};

/// Writes a name as the table of aliases does: "Odd-Even" becomes odd_even.
std::string as_said(std::string_view text) {
  std::string said;
  for (const char c : text) {
    said += c == '-' || c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return said;
}

/// A parameter and whose it is.
struct Owned {
  Item of;
  const Parameter* parameter = nullptr;
};

/// The parameters of that name: "saqs" of all components that have it; "cioq.saqs" of one; "switch.saqs" of a kind;
/// "mark" all those of a table of that name.
std::vector<Owned> parameters_called(const Catalog& catalog, const std::string& name) {
  std::vector<Owned> found;
  for (const Kind* kind : catalog.kinds()) {
    for (const ComponentInfo* info : kind->components) {
      for (const Parameter& p : info->parameters) {
        if (name == p.name || p.name.starts_with(name + ".") || name == info->name + "." + p.name ||
            name == kind->section + "." + p.name)
          found.push_back({{kind, info}, &p});
      }
    }
  }
  return found;
}

/// Whether the name of a metric has these words: "incast_completion" and "last" are in incast_completion_last.
bool has_words(const MetricRow& row, const std::string& words) {
  return fmt::format("_{}_", row.name).find(fmt::format("_{}_", words)) != std::string::npos;
}

std::string describe_metrics_with(const std::string& name) {
  std::string text;
  for (const MetricRow& row : metric_rows()) {
    if (has_words(row, name)) text += (text.empty() ? "" : "\n") + to_text(row);
  }
  return text;
}

/// The components of that name, or all of them for "".
std::vector<Item> select(const Catalog& catalog, const std::string& name) {
  std::vector<Item> items;
  std::vector<std::string> names;
  for (const Kind* kind : catalog.kinds()) {
    for (const ComponentInfo* info : kind->components) {
      names.push_back(info->name);
      if (name.empty() || info->name == name) items.push_back({kind, info});
    }
  }
  if (items.empty() && !name.empty()) {
    for (const MetricRow& row : metric_rows()) names.emplace_back(row.name);
    names.emplace_back(kMetrics);
    for (const Word& word : kWords) names.emplace_back(word.word);
    const std::string near = nearest_name(name, names);
    throw ConfigError({}, fmt::format("nothing is called \"{}\"", name),
                      near.empty()
                          ? "\"banyan describe\" lists all of them, \"banyan describe metrics\" what is measured"
                          : fmt::format("did you mean \"{}\"?", near));
  }
  return items;
}

std::string capitalized(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string values_text(const Parameter& parameter) {
  const std::string range = config::range_text(parameter);
  const std::string unit = parameter.unit_name.empty() ? "" : " [" + parameter.unit_name + "]";
  return config::type_text(parameter) + unit + (range.empty() ? "" : ", " + range);
}

/// `owner` stands before its name: "", or such as "cioq.".
std::string describe_parameter(const Parameter& parameter, const std::string& owner) {
  std::string text = fmt::format("  {}{} = {}\n    {}\n    {}\n", owner, parameter.name,
                                 config::default_text(parameter), parameter.summary, values_text(parameter));
  if (const std::string in_flight = config::in_flight_text(parameter); !in_flight.empty())
    text += fmt::format("    {}\n", in_flight);
  if (const std::string conditions = config::conditions_text(parameter); !conditions.empty())
    text += fmt::format("    {}\n", conditions);
  return text;
}

/// The routing of experiments on a topology that name none, as "NAME" or "NAME, KEY = VALUE"; "" where there is none.
std::string usual_routing_text(const Item& item) {
  if (item.kind->section != "topology") return {};
  const auto rows = core::topology_rows();
  const auto row = std::ranges::find_if(rows, [&](const auto* r) { return &r->info == item.info; });
  if (row == rows.end() || (*row)->routing.name == nullptr) return {};
  const core::TopologyRow::UsualRouting& usual = (*row)->routing;
  if (usual.parameter == nullptr) return usual.name;
  return fmt::format("{}, {} = {}", usual.name, usual.parameter, usual.value);
}

std::string describe_item(const Item& item) {
  const std::string title = item.kind->section == "run" ? "" : item.kind->section + " ";
  std::string text = fmt::format("{}{}\n  {}\n", title, item.info->name, item.info->summary);
  if (!item.info->reference.empty()) text += fmt::format("  Reference: {}\n", item.info->reference);
  if (const std::string usual = usual_routing_text(item); !usual.empty())
    text += fmt::format("  Routing where none is named: {}\n", usual);
  if (item.info->parameters.empty()) return text + "  It takes no parameters.\n";
  for (const Parameter& parameter : item.info->parameters) text += "\n" + describe_parameter(parameter, "");
  return text;
}

/// A bar would end the cell of a table.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string summary_cell(const Parameter& parameter) {
  std::string text = parameter.summary;
  for (const std::string& note : {config::conditions_text(parameter), config::in_flight_text(parameter)})
    if (!note.empty()) text += " (" + note + ")";
  return text;
}

std::string markdown_item(const Item& item) {
  const std::string kind = item.kind->section == "run" ? "" : fmt::format(" ({})", item.kind->section);
  std::string text = fmt::format("### `{}`{}\n\n{}\n", item.info->name, kind, item.info->summary);
  if (!item.info->reference.empty()) text += fmt::format("\nReference: {}\n", item.info->reference);
  if (const std::string usual = usual_routing_text(item); !usual.empty())
    text += fmt::format("\nRouting where none is named: `{}`\n", usual);
  if (item.info->parameters.empty()) return text + "\nNo parameters.\n";
  text += "\n| parameter | default | values | meaning |\n|---|---|---|---|\n";
  for (const Parameter& parameter : item.info->parameters) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", parameter.name, cell(config::default_text(parameter)),
                        cell(values_text(parameter)), cell(summary_cell(parameter)));
  }
  return text;
}

ordered_json parameter_json(const Parameter& parameter) {
  static constexpr const char* kTypes[] = {"boolean", "integer",  "real",  "text",
                                           "choice",  "integers", "reals", "texts"};
  ordered_json object;
  object["name"] = parameter.name;
  object["type"] = kTypes[static_cast<std::size_t>(parameter.type)];
  object["unit"] = parameter.unit_name;
  object["default"] = parameter.fallback ? ordered_json(config::to_json(*parameter.fallback)) : ordered_json(nullptr);
  object["required"] = !parameter.fallback;
  if (std::isfinite(parameter.low)) object[parameter.low_open ? "above" : "minimum"] = parameter.low;
  if (std::isfinite(parameter.high)) object[parameter.high_open ? "below" : "maximum"] = parameter.high;
  if (!parameter.choices.empty()) object["choices"] = parameter.choices;
  object["summary"] = parameter.summary;
  if (const std::string in_flight = config::in_flight_text(parameter); !in_flight.empty())
    object["in_flight"] = in_flight;
  if (const std::string conditions = config::conditions_text(parameter); !conditions.empty())
    object["means_something"] = conditions;
  return object;
}

bool has(const Catalog& catalog, std::string_view name) {
  const auto kinds = catalog.kinds();
  return std::any_of(kinds.begin(), kinds.end(), [&](const Kind* kind) { return kind->find(name) != nullptr; });
}

/// The components of which a parameter has that value among its choices: "KIND NAME, with PARAMETER = VALUE".
std::string describe_choice(const Catalog& catalog, const std::string& value) {
  std::string text;
  for (const Kind* kind : catalog.kinds()) {
    for (const ComponentInfo* info : kind->components) {
      for (const Parameter& parameter : info->parameters) {
        const auto& choices = parameter.choices;
        if (std::find(choices.begin(), choices.end(), value) == choices.end()) continue;
        text += fmt::format("{}\"{}\" is a value of {}.{}:\n\n{}", text.empty() ? "" : "\n", value, info->name,
                            parameter.name, describe_item({kind, info}));
      }
    }
  }
  return text;
}

/// The parameters of that name.
std::string describe_parameters(const Catalog& catalog, const std::string& name) {
  std::string text;
  for (const Owned& owned : parameters_called(catalog, name)) {
    text += (text.empty() ? "" : "\n") + describe_parameter(*owned.parameter, owned.of.info->name + ".");
  }
  return text;
}

/// The component or value of a parameter that has the same letters: "oddeven" is odd_even; "" where there is none.
std::string written_apart(const Catalog& catalog, std::string_view said) {
  const auto letters = [](std::string_view name) {
    std::string all(name);
    std::erase(all, '_');
    return all;
  };
  const std::string wanted = letters(said);
  for (const Kind* kind : catalog.kinds()) {
    for (const ComponentInfo* info : kind->components) {
      if (letters(info->name) == wanted && info->name != said) return info->name;
      for (const Parameter& parameter : info->parameters) {
        for (const std::string& choice : parameter.choices) {
          if (letters(choice) == wanted && choice != said) return choice;
        }
      }
    }
  }
  return "";
}

/// What is no component but is known: the metrics, one of them, a word of results, a parameter, a name that others use,
/// a value of a parameter.
std::string describe_said(const Catalog& catalog, const std::string& name) {
  const std::string said = as_said(name);
  if (said == kMetrics) return metrics_text();
  const std::string parameters = describe_parameters(catalog, name);
  // A metric may have any number behind its dot.
  if (name.find('.') != std::string::npos && !parameters.empty()) return parameters;
  if (const MetricRow* row = find_metric(name)) return to_text(*row);
  if (const auto* const word = std::ranges::find(kWords, said, &Word::word); word != std::end(kWords))
    return fmt::format("{}\n  {}\n", word->word, word->meaning);
  if (has(catalog, said)) return describe(catalog, said);
  if (const std::string_view known = known_as(said); !known.empty()) {
    const std::string more = parameters.empty() ? "" : "\n" + parameters;
    return fmt::format("\"{}\": see {}\n\n{}{}", name, known, describe(catalog, std::string(known)), more);
  }
  if (!parameters.empty()) return parameters;
  if (const std::string choice = describe_choice(catalog, said); !choice.empty()) return choice;
  if (const std::string metrics = describe_metrics_with(said); !metrics.empty()) return metrics;
  const std::string apart = written_apart(catalog, said);
  return apart.empty() ? "" : describe(catalog, apart);
}

ordered_json metric_json(const MetricRow& row) {
  return {{"kind", "metric"},          {"name", row.name},       {"unit", row.unit},
          {"summary", row.definition}, {"formula", row.formula}, {"counted", row.counted}};
}

}  // namespace

std::string_view known_as(std::string_view said) {
  const std::string word = as_said(said);
  const auto* const alias = std::ranges::find(kAliases, word, &Alias::said);
  return alias == std::end(kAliases) ? std::string_view() : alias->name;
}

std::string describe_all(const Catalog& catalog) {
  std::size_t width = 0;
  for (const Item& item : select(catalog, "")) width = std::max(width, item.info->name.size());
  std::string text;
  for (const Kind* kind : catalog.kinds()) {
    if (kind->components.empty()) continue;
    text += (text.empty() ? "" : "\n") + capitalized(kind->plural) + "\n";
    for (const ComponentInfo* info : kind->components) {
      text += fmt::format("  {:<{}}  {}\n", info->name, width, info->summary);
    }
  }
  return text +
         "\n\"banyan describe NAME\" tells the parameters of one of them, \"banyan describe metrics\" what is "
         "measured.\n";
}

std::string describe(const Catalog& catalog, const std::string& name) {
  if (!name.empty() && !has(catalog, name)) {
    if (const std::string found = describe_said(catalog, name); !found.empty()) return found;
  }
  std::string text;
  for (const Item& item : select(catalog, name)) text += (text.empty() ? "" : "\n") + describe_item(item);
  return text;
}

std::string describe_markdown(const Catalog& catalog, const std::string& name) {
  if (name == kMetrics && !has(catalog, name)) return metrics_markdown();
  std::string text;
  const Kind* kind = nullptr;
  for (const Item& item : select(catalog, name)) {
    if (!text.empty()) text += "\n";
    if (name.empty() && item.kind != kind) text += fmt::format("## {}\n\n", capitalized(item.kind->plural));
    kind = item.kind;
    text += markdown_item(item);
  }
  return text;
}

std::string describe_json(const Catalog& catalog, const std::string& name) {
  ordered_json list = ordered_json::array();
  if (!name.empty() && !has(catalog, name)) {
    const MetricRow* const metric = find_metric(name);
    for (const MetricRow& row : metric_rows()) {
      if (name == kMetrics || (metric != nullptr ? metric == &row : has_words(row, name)))
        list.push_back(metric_json(row));
    }
    for (const Word& word : kWords) {
      if (name == word.word) list.push_back({{"kind", "word"}, {"name", word.word}, {"summary", word.meaning}});
    }
    for (const Owned& owned : list.empty() ? parameters_called(catalog, name) : std::vector<Owned>()) {
      ordered_json object{{"kind", "parameter"}, {"component", owned.of.info->name}};
      object.update(parameter_json(*owned.parameter));
      list.push_back(std::move(object));
    }
    if (!list.empty()) return config::dump(list, 2);
  }
  for (const Item& item : select(catalog, name)) {
    ordered_json object{{"kind", item.kind->section},
                        {"name", item.info->name},
                        {"summary", item.info->summary},
                        {"reference", item.info->reference},
                        {"parameters", ordered_json::array()}};
    for (const Parameter& parameter : item.info->parameters) object["parameters"].push_back(parameter_json(parameter));
    list.push_back(std::move(object));
  }
  return config::dump(list, 2);
}

}  // namespace banyan::api
