#include "banyan/api/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "banyan/api/draft.hpp"
#include "banyan/api/fork.hpp"
#include "banyan/api/inputs.hpp"
#include "banyan/api/jobs.hpp"
#include "banyan/api/reader.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/printable.hpp"
#include "banyan/config/json.hpp"
#include "banyan/config/resolve.hpp"
#include "banyan/config/sweep.hpp"
#include "banyan/config/toml_reader.hpp"
#include "banyan/config/units.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::api {
namespace {

using config::Axis;
using nlohmann::json;

constexpr const char* kSweepPrefix = "sweep.";

Change parse_override(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw ConfigError({"command line", 0, 0, ""}, fmt::format("\"{}\" is not an override", text),
                      "write key=value, such as switch.buffer=8");
  }
  const std::size_t last = text.find_last_not_of(' ', equals - 1);
  std::string key = last == std::string::npos ? "" : text.substr(0, last + 1);
  key.erase(0, key.find_first_not_of(' '));
  const Where where{"command line", 0, 0, key};
  return {key, where, config::read_toml_value(text.substr(equals + 1), where)};
}

/// Names of the file are for the values of the file.
void forget_names(Axis& axis) {
  axis.names.clear();
  axis.named = false;
}

/// An override "sweep.KEY=[...]" adds an axis, or gives one of the file other values.
void change_axis(std::vector<Axis>& axes, const Change& change) {
  const std::string key = change.key.substr(std::string(kSweepPrefix).size());
  std::vector<config::Node> values = config::read_axis_values(change.value, change.key);
  for (Axis& axis : axes) {
    const auto found = std::find(axis.keys.begin(), axis.keys.end(), key);
    if (found == axis.keys.end()) continue;
    if (axis.keys.size() > 1 && values.size() != axis.values.size()) {
      throw ConfigError(change.where,
                        fmt::format("{} moves together with other keys, which have {} values", key, axis.values.size()),
                        "give linked keys equally many values");
    }
    forget_names(axis);
    axis.values.resize(values.size(), {config::Node{}});
    const auto column = static_cast<std::size_t>(found - axis.keys.begin());
    for (std::size_t i = 0; i < values.size(); ++i) axis.values[i][column] = std::move(values[i]);
    return;
  }
  Axis axis{{key}, {change.where}, {}, {}, false};
  for (config::Node& value : values) axis.values.push_back({std::move(value)});
  axes.push_back(std::move(axis));
}

std::vector<Change> changes_at(const std::vector<Axis>& axes, const std::vector<std::size_t>& point) {
  std::vector<Change> changes;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    for (std::size_t k = 0; k < axes[a].keys.size(); ++k) {
      changes.push_back({axes[a].keys[k], axes[a].places[k], axes[a].values[point[a]][k]});
    }
  }
  return changes;
}

void drop_key(Axis& axis, std::size_t k) {
  const auto offset = static_cast<std::ptrdiff_t>(k);
  axis.keys.erase(axis.keys.begin() + offset);
  axis.places.erase(axis.places.begin() + offset);
  for (auto& linked : axis.values) linked.erase(linked.begin() + offset);
}

std::string text_of(const std::vector<config::Node>& linked) {
  std::string text;
  for (const config::Node& value : linked) text += (text.empty() ? "" : ", ") + config::to_text(value);
  return text;
}

void drop_double_values(Axis& axis) {
  std::unordered_set<std::string> seen;
  std::erase_if(axis.values,
                [&](const std::vector<config::Node>& linked) { return !seen.insert(text_of(linked)).second; });
}

/// A point that comes twice is a slip: it would be run once and stand in every table twice.
void refuse_double_values(const std::vector<Axis>& axes) {
  for (const Axis& axis : axes) {
    std::unordered_set<std::string> seen;
    for (const std::vector<config::Node>& linked : axis.values) {
      const std::string text = text_of(linked);
      if (!seen.insert(text).second) {
        throw ConfigError(axis.places.front(), fmt::format("the axis has the value {} twice", text),
                          "give every value once");
      }
    }
  }
}

std::vector<Change> joined(std::vector<Change> first, const std::vector<Change>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// A key that the command line fixes is no longer swept.
void drop_fixed_axes(std::vector<Axis>& axes, const std::vector<Change>& fixed, const Draft& base) {
  if (axes.empty() || fixed.empty()) return;
  Draft first = base;
  first.apply(joined(changes_at(axes, std::vector<std::size_t>(axes.size(), 0)), fixed));
  std::vector<Target> targets;
  for (const Change& change : fixed) {
    if (change.key != "name") targets.push_back(first.target(change.key, change.where));
  }
  for (Axis& axis : axes) {
    const std::size_t keys = axis.keys.size();
    for (std::size_t k = axis.keys.size(); k-- > 0;) {
      const Target target = first.target(axis.keys[k], axis.places[k]);
      if (std::find(targets.begin(), targets.end(), target) != targets.end()) drop_key(axis, k);
    }
    // What was zipped with a key that is fixed now may have had one value at several of its values.
    if (axis.keys.size() != keys && !axis.keys.empty()) {
      const std::size_t places = axis.values.size();
      drop_double_values(axis);
      if (axis.values.size() != places) forget_names(axis);
    }
  }
  std::erase_if(axes, [](const Axis& axis) { return axis.keys.empty(); });
}

void refuse_double_axes(const std::vector<Axis>& axes, const Draft& base) {
  if (axes.empty()) return;
  Draft first = base;
  first.apply(changes_at(axes, std::vector<std::size_t>(axes.size(), 0)));
  std::vector<Target> seen;
  for (const Axis& axis : axes) {
    for (std::size_t k = 0; k < axis.keys.size(); ++k) {
      const Target target = first.target(axis.keys[k], axis.places[k]);
      if (std::find(seen.begin(), seen.end(), target) != seen.end()) {
        throw ConfigError(axis.places[k], "the same parameter is swept twice", "keep one of the two axes");
      }
      seen.push_back(target);
    }
  }
}

std::size_t count_points(const std::vector<Axis>& axes, const Where& where) {
  std::size_t points = 1;
  for (const Axis& axis : axes) {
    points *= axis.values.size();
    if (points > config::kMostPoints) {
      throw ConfigError(where, fmt::format("the sweep has more than {} points", config::kMostPoints),
                        "give its axes fewer values");
    }
  }
  return points;
}

/// What cycles and flits are worth, and where that stands; 0: nobody says.
struct Worth {
  double cycle_ns = 0.0;
  double flit_bytes = 0.0;
  std::string cycle_by;
  std::string flit_by;
};

/// A unit of the simulation in a physical one.
struct OwnUnit {
  double worth = 0.0;  ///< of one; 0: nobody says
  const char* physical = "";
  std::string said;  ///< what it is worth, and where that stands
};

OwnUnit own_unit(const std::string& unit, const Worth& worth) {
  const std::string cycle = fmt::format("a cycle takes {:.6g} ns ({})", worth.cycle_ns, worth.cycle_by);
  const std::string flit = fmt::format("a flit has {:.6g} B ({})", worth.flit_bytes, worth.flit_by);
  if (unit == "cycles") return {worth.cycle_ns, "ns", cycle};
  if (unit == "flits") return {worth.flit_bytes, "B", flit};
  if (unit == "flits/cycle" && worth.cycle_ns > 0.0) {
    return {worth.flit_bytes / worth.cycle_ns, "bytes/ns", fmt::format("{} and {}", cycle, flit)};
  }
  return {};
}

/// An amount that is a whole number but for what its units cannot be divided exactly, or the amount.
double without_rounding(double amount) {
  constexpr double kRounding = 1e-12;
  const double nearest = std::round(amount);
  return std::abs(amount - nearest) <= kRounding * std::abs(nearest) ? nearest : amount;
}

[[noreturn]] void refuse_unit(const config::Quantity& quantity, const config::Parameter& parameter, const OwnUnit& own,
                              const Where& where) {
  std::vector<std::string> fitting = config::fitting_units(own.physical);
  fitting.insert(fitting.begin(), parameter.unit_name);
  // Who gives a time for a rate has not mistyped it.
  const bool known = config::fitting_units(quantity.unit).size() > 1;
  const std::string near = known ? "" : nearest_name(quantity.unit, fitting);
  throw ConfigError(where,
                    fmt::format("unit \"{}\" does not fit: {} is in {}, where {}", quantity.unit, parameter.name,
                                parameter.unit_name, own.said),
                    fmt::format("write the number alone, or use {}{}", fmt::join(fitting, ", "),
                                near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near)));
}

/// "3 ns" as a number of cycles, "64 B" as one of flits, "25 GB/s" as one of flits per cycle; what is no text with such
/// a unit stays. `key`: the path of the parameter.
void convert(config::Node& value, const config::Parameter& parameter, const OwnUnit& own, const std::string& key) {
  for (config::Node& item : value.items) convert(item, parameter, own, key);
  if (value.kind != config::Node::Kind::text) return;
  const auto quantity = config::parse_quantity(value.text);
  if (!quantity || quantity->unit.empty() || quantity->unit == parameter.unit_name) return;
  if (config::convert(*quantity, parameter.unit_name)) return;
  Where where = value.where;
  where.key = key;
  const auto amount = config::convert(*quantity, own.physical);
  if (!amount) refuse_unit(*quantity, parameter, own, where);
  const double number = without_rounding(*amount / own.worth);
  const double given_unit = config::convert({1.0, std::nullopt, quantity->unit}, own.physical).value();
  // With as few digits as are read back as the same number.
  const auto in_given_unit = [&](double of_own) {
    constexpr int kMostDigits = 17;
    std::string text;
    for (int digits = 6; digits <= kMostDigits; ++digits) {
      text = fmt::format("{:.{}g} {}", of_own * own.worth / given_unit, digits, quantity->unit);
      const auto read = config::parse_quantity(text);
      const auto back = read ? config::convert(*read, own.physical) : std::nullopt;
      if (back && without_rounding(*back / own.worth) == of_own) break;
    }
    return text;
  };
  const std::string found =
      fmt::format("\"{}\" is {:.6g} {} where {}", value.text, number, parameter.unit_name, own.said);
  if (number < parameter.low || number > parameter.high) {
    throw ConfigError(where, fmt::format("{}: out of range", found),
                      number > parameter.high
                          ? fmt::format("give {} up to {}", parameter.name, in_given_unit(parameter.high))
                          : fmt::format("give {} from {} on", parameter.name, in_given_unit(parameter.low)));
  }
  const bool whole = parameter.type == config::Type::integer || parameter.type == config::Type::integers;
  if (whole && number != std::round(number)) {
    throw ConfigError(where, fmt::format("{}, and {} is a whole number of them", found, parameter.name),
                      fmt::format("give {} as {}, or another multiple of {}", parameter.name,
                                  in_given_unit(std::max(1.0, std::round(number))), in_given_unit(1.0)));
  }
  value = config::Node::of(number, value.where);
}

/// Where a cycle has a length, numbers of cycles may be given as times; where a flit has a size, numbers of flits in
/// bytes; where both have, loads as rates. `path`: of the component.
std::vector<config::Entry> in_own_units(std::vector<config::Entry> entries, const config::ComponentInfo& info,
                                        const Worth& worth, const std::string& path) {
  for (config::Entry& entry : entries) {
    const config::Parameter* parameter = config::find_parameter(info, entry.key);
    if (parameter == nullptr) continue;
    const OwnUnit own = own_unit(parameter->unit_name, worth);
    if (own.worth > 0.0) convert(entry.value, *parameter, own, fmt::format("{}.{}", path, entry.key));
  }
  return entries;
}

/// "run.cycle_time, x.toml:7:14"
std::string named_place(const Where& where) {
  if (where.line == 0) return fmt::format("{}, {}", where.key, where.file);
  return fmt::format("{}, {}:{}:{}", where.key, where.file, where.line, where.column);
}

/// Refuses a key that the component lacks and few others of its kind have, and names those; a table of which the
/// component has keys, where something else is given for it, too. Other unknown keys are left to config::resolve.
void refuse_key_of_another(const config::Entry& entry, const Part& part, const config::ComponentInfo& info,
                           const std::string& path) {
  const auto has = [&](const config::ComponentInfo* other) {
    return std::ranges::any_of(other->parameters, [&](const config::Parameter& parameter) {
      return parameter.name == entry.key || parameter.name.starts_with(entry.key + ".");
    });
  };
  Where place = entry.where;
  place.key = fmt::format("{}.{}", path, entry.key);
  if (has(&info)) {
    std::vector<std::string> keys;
    for (const config::Parameter& parameter : info.parameters) {
      if (parameter.name.starts_with(entry.key + ".")) keys.push_back(parameter.name);
    }
    throw ConfigError(place, fmt::format("{} is a table of parameters and has no value of its own", entry.key),
                      fmt::format("give one of {}", fmt::join(keys, ", ")));
  }
  std::vector<std::string> own;
  for (const config::Parameter& parameter : info.parameters) own.push_back(parameter.name);
  if (!nearest_name(entry.key, own).empty()) return;
  constexpr std::size_t kMost = 4;  // more names than that help nobody to choose
  std::vector<std::string> owners;
  for (const config::ComponentInfo* other : part.kind->components) {
    if (has(other)) owners.push_back(other->name);
  }
  if (owners.empty() || owners.size() > kMost) return;
  throw ConfigError(place, fmt::format("the {} {} has no parameter \"{}\"", part.kind->section, info.name, entry.key),
                    fmt::format("remove it, or use the {} {}, which {} it", part.kind->section,
                                fmt::join(owners, " or "), owners.size() == 1 ? "has" : "have"));
}

config::Values resolve_part(const Draft& draft, const Part& part, const Worth& worth = {}) {
  const config::ComponentInfo& info = info_of(part);
  Where where = part.where;
  where.key = draft.path(part);
  for (const config::Entry& entry : part.entries) {
    if (config::find_parameter(info, entry.key) == nullptr) refuse_key_of_another(entry, part, info, where.key);
  }
  return config::resolve(in_own_units(part.entries, info, worth, where.key), info, where);
}

/// Jobs on a network without contention ask no routing.
bool needs_no_routing(const Draft& draft, const Catalog& catalog) {
  const auto is_job = [&](const Part& part) { return part.kind == &catalog.job; };
  if (std::ranges::none_of(draft.parts(), is_job)) return false;
  return std::ranges::any_of(draft.parts(), [&](const Part& part) {
    return part.kind == &catalog.switching && is_without_contention(part.name);
  });
}

/// Reads what a cycle or a flit is worth, before other parameters of the run that may be given in it.
/// `own`: what the switch says; 0: nothing.
double given_worth(const Draft& draft, const Part& run, const char* key, double own, std::string& by) {
  const auto entry = std::find_if(run.entries.rbegin(), run.entries.rend(),
                                  [&](const config::Entry& candidate) { return candidate.key == key; });
  if (entry == run.entries.rend()) return 0.0;
  const config::Values alone = resolve_part(draft, {run.kind, run.name, run.where, {*entry}});
  const bool flit = std::string_view(key) == "flit";
  const double worth = flit ? static_cast<double>(alone.integer(key)) : alone.real(key);
  if (own > 0.0 && worth > 0.0 && worth != own) {
    alone.fail(key, fmt::format("{} says itself what that is, {:.6g} {}", by, own, flit ? "bytes" : "ns"),
               fmt::format("leave out run.{}", key));
  }
  if (worth > 0.0 && own == 0.0) by = named_place(alone.where(key));
  return worth;
}

/// What the switch of a draft says that a cycle lasts, or, where it does not, the run. A cycle that has a length by the
/// switch is the time of a byte, and a flit is one.
Worth worth_of(const Draft& draft, const Catalog& catalog) {
  Worth worth;
  for (const Part& part : draft.parts()) {
    if (part.kind != &catalog.switching) continue;
    for (const core::SwitchRow* row : core::switching_rows()) {
      if (row->info.name != part.name) continue;
      worth.cycle_by = worth.flit_by = fmt::format("the switch {}", part.name);
      worth.flit_bytes = row->flit_bytes;
      if (row->cycle_ns != nullptr) worth.cycle_ns = row->cycle_ns(resolve_part(draft, part));
    }
  }
  const Worth own = worth;
  for (const Part& part : draft.parts()) {
    if (part.kind != &catalog.run) continue;
    const double cycle_ns = given_worth(draft, part, "cycle_time", own.cycle_ns, worth.cycle_by);
    if (own.cycle_ns == 0.0) worth.cycle_ns = cycle_ns;
    const double flit_bytes = given_worth(draft, part, "flit", own.flit_bytes, worth.flit_by);
    if (own.flit_bytes == 0.0) worth.flit_bytes = flit_bytes;
  }
  return worth;
}

bool has_admission(const Experiment& experiment) {
  const std::string& name = experiment.admission.component();
  return !name.empty() && name != "none";
}

/// Lengths that a user gives are his: only a run of the default length is extended without being told to.
void choose_extension(config::Values& run) {
  if (run.integer("extension") != 0) return;
  const bool own = run.given("measure") || run.integer("duration") > 0 || run.real("precision") > 0.0;
  run.set("extension", own ? i64{1} : kDefaultExtension, {}, false);
}

void describe_configuration(Experiment& experiment) {
  json all;
  all["name"] = experiment.name;
  all["topology"] = config::to_json(experiment.topology);
  all["switch"] = config::to_json(experiment.switching);
  if (!experiment.routing.component().empty()) all["routing"] = config::to_json(experiment.routing);
  if (!experiment.jobs.empty()) describe_jobs(experiment, all);
  if (experiment.jobs.empty() || !experiment.traffics.empty()) all["traffic"] = json::array();
  for (const config::Values& traffic : experiment.traffics) all["traffic"].push_back(config::to_json(traffic));
  // Left out when there is none: experiments without admission or models keep their identity.
  if (has_admission(experiment)) all["admission"] = config::to_json(experiment.admission);
  for (const config::Values& analysis : experiment.analyses) all["analysis"].push_back(config::to_json(analysis));
  all["run"] = config::to_json(experiment.run);
  all["run"].erase("name");
  if (!experiment.jobs.empty()) keep_run_of_jobs(all["run"], experiment.run.given("session_limit"));
  // The same goes for runs that are not extended.
  if (experiment.run.integer("extension") == 1) all["run"].erase("extension");
  // The same goes for what is not asked for.
  if (experiment.run.text("energy").empty()) all["run"].erase("energy");
  for (const char* worth : {"cycle_time", "flit"}) {
    if (!experiment.run.given(worth)) all["run"].erase(worth);
  }
  if (const Fork& fork = experiment.fork; fork.warm != nullptr) {
    all["fork"] = {{"after", "warmup"}, {"vary", fork.vary}, {"from", json::parse(fork.from)}};
  }
  describe_inputs(experiment, all);
  experiment.configuration = config::dump(all);
  experiment.configuration_hash = identity_hash(experiment.configuration);
}

Experiment resolve_point(const Draft& draft, const std::string& stem, const Catalog& catalog, InputDigests& digests) {
  Experiment experiment;
  experiment.name = draft.name().empty() ? stem : draft.name();
  const Worth worth = worth_of(draft, catalog);
  for (const Part& part : draft.parts()) {
    const bool unnamed = part.kind == &catalog.routing && part.name.empty();
    if (unnamed && needs_no_routing(draft, catalog)) continue;
    if (unnamed) experiment.usual_routing = true;
    // No copy of the others: the path to a job or a traffic is found by the part itself.
    config::Values values = unnamed ? resolve_part(draft, draft.named(part), worth) : resolve_part(draft, part, worth);
    if (part.kind == &catalog.topology)
      experiment.topology = std::move(values);
    else if (part.kind == &catalog.switching)
      experiment.switching = std::move(values);
    else if (part.kind == &catalog.routing)
      experiment.routing = std::move(values);
    else if (part.kind == &catalog.admission)
      experiment.admission = std::move(values);
    else if (part.kind == &catalog.run)
      experiment.run = std::move(values);
    else if (part.kind == &catalog.job)
      experiment.jobs.push_back(std::move(values));
    else if (part.kind == &catalog.messages)
      experiment.messages = std::move(values);
    else if (part.kind == &catalog.analysis)
      experiment.analyses.push_back(std::move(values));
    else
      experiment.traffics.push_back(std::move(values));
  }
  choose_extension(experiment.run);
  if (!experiment.jobs.empty()) complete_jobs(experiment);
  find_inputs(experiment, digests);
  describe_configuration(experiment);
  return experiment;
}

/// Makes `point`, resolved from `draft`, go on from a warm-up with another value. What has the same value in its own
/// warm-up is a run like any other, and has the identity of one.
void fork_point(const ForkTable& table, const Draft& draft, const std::string& stem, const Catalog& catalog,
                InputDigests& digests, Experiment& point) {
  Draft other = draft;
  other.apply({{table.vary, table.where, table.from}});
  Experiment warm = resolve_point(other, stem, catalog, digests);
  const bool same = warm.configuration == point.configuration;
  Fork fork = fork_from(table, draft, point, std::move(warm), catalog);
  if (same) return;
  point.fork = std::move(fork);
  describe_configuration(point);
}

/// Different words may mean the same value: 2 and "2 flits".
void refuse_double_points(const ExperimentSet& set, const Where& where) {
  std::map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < set.points.size(); ++i) {
    const auto [place, fresh] = seen.try_emplace(set.points[i].configuration, i);
    if (fresh) continue;
    throw ConfigError(where, fmt::format("points {} and {} of the sweep are the same run", place->second + 1, i + 1),
                      "give every value of an axis once");
  }
}

/// A name from that of a file, as far as it can be shown.
std::string stem_of(const std::string& name) { return without_controls(std::filesystem::path(name).stem().string()); }

config::Node node_from(const json& value, const Where& where) {
  if (value.is_boolean()) return config::Node::of(value.get<bool>(), where);
  if (value.is_number_integer()) return config::Node::of(value.get<i64>(), where);
  if (value.is_number()) return config::Node::of(value.get<double>(), where);
  if (value.is_string()) return config::Node::of(value.get<std::string>(), where);
  config::Node node;
  node.where = where;
  node.kind = value.is_array() ? config::Node::Kind::array : config::Node::Kind::table;
  for (const auto& [key, item] : value.items()) {
    Where inside = where;
    inside.key = where.key.empty() ? key : where.key + "." + key;
    if (value.is_array()) {
      node.items.push_back(node_from(item, inside));
    } else {
      node.entries.push_back({key, inside, node_from(item, inside)});
    }
  }
  return node;
}

ExperimentSet resolve(const config::Node& root, const std::string& stem, const Overrides& overrides,
                      const Catalog& catalog, InputDigests& digests) {
  const Draft base(root, catalog);
  std::vector<Axis> axes;
  if (base.sweep() != nullptr) axes = config::read_sweep(*base.sweep());
  std::vector<Change> fixed;
  for (const std::string& text : overrides) {
    Change change = parse_override(text);
    if (change.key.starts_with(kSweepPrefix)) {
      change_axis(axes, change);
    } else {
      fixed.push_back(std::move(change));
    }
  }
  drop_fixed_axes(axes, fixed, base);
  count_points(axes, {root.where.file, 0, 0, "sweep"});  // first of all checks: their time grows with the points
  refuse_double_axes(axes, base);
  refuse_double_values(axes);

  const std::optional<ForkTable> fork = read_fork(base, axes);
  ExperimentSet set;
  set.file = root.where.file;
  std::vector<std::size_t> lengths;
  for (Axis& axis : axes) {
    config::make_names(axis);
    lengths.push_back(axis.values.size());
    set.axis_names.insert(set.axis_names.end(), axis.keys.begin(), axis.keys.end());
  }
  const std::vector<std::string> names = config::short_names(set.axis_names);
  for (const std::vector<std::size_t>& point : config::product(lengths)) {
    const std::vector<Change> swept = changes_at(axes, point);
    Draft draft = base;
    draft.apply(joined(swept, fixed));
    set.points.push_back(resolve_point(draft, stem, catalog, digests));
    Experiment& made = set.points.back();
    if (fork) fork_point(*fork, draft, stem, catalog, digests, made);
    for (const Change& change : swept) made.axes.emplace_back(change.key, config::to_text(change.value));
    for (std::size_t a = 0; a < axes.size(); ++a) {
      made.labels.push_back(config::label_of(axes[a], point[a], names[made.labels.size()]));
      made.labels.insert(made.labels.end(), axes[a].keys.size() - 1, "");
    }
  }
  refuse_double_points(set, {root.where.file, 0, 0, "sweep"});
  return set;
}

}  // namespace

Experiment experiment_from(const std::string& configuration, const Catalog& catalog, const Overrides& overrides) {
  json all = json::parse(configuration, nullptr, false);
  if (!all.is_object()) {
    throw ConfigError({"configuration", 0, 0, ""}, "is no JSON object", "give a result that Banyan wrote");
  }
  InputDigests recorded(take_inputs(all));
  return resolve(node_from(all, {"configuration", 0, 0, ""}), "", overrides, catalog, recorded).points.front();
}

std::string identity(const std::string& configuration) {
  json all = json::parse(configuration);
  all.erase("name");
  leave_out_paths(all);
  for (const char* neutral : {"step_order", "wake", "shards", "audit"}) all["run"].erase(neutral);
  return config::dump(all);
}

u64 identity_hash(const std::string& configuration) {
  Hasher hasher;
  hasher.add(identity(configuration));
  return hasher.value();
}

ExperimentSet resolve_experiments(const config::Node& root, const std::string& stem, const Overrides& overrides,
                                  const Catalog& catalog) {
  InputDigests digests;
  return resolve(root, stem, overrides, catalog, digests);
}

std::string value_name(const Experiment& point, std::size_t axis) {
  const auto& [key, value] = point.axes[axis];
  if (axis >= point.labels.size() || point.labels[axis].empty()) return value;
  const std::string& label = point.labels[axis];
  const std::size_t equals = label.find(" = ");
  const bool keyed = equals != std::string::npos && ("." + key).ends_with("." + label.substr(0, equals));
  return keyed ? label.substr(equals + 3) : label;
}

ExperimentSet read_experiments(const std::string& file, const Overrides& overrides) {
  return resolve_experiments(config::read_toml_file(file), stem_of(file), overrides, catalog());
}

ExperimentSet read_experiments_text(const std::string& text, const std::string& name, const Overrides& overrides) {
  return resolve_experiments(config::read_toml_text(text, name), stem_of(name), overrides, catalog());
}

}  // namespace banyan::api
