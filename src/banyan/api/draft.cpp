#include "banyan/api/draft.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "banyan/api/describe.hpp"
#include "banyan/base/printable.hpp"
#include "banyan/config/resolve.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::api {
namespace {

using config::Entry;
using config::Node;

const std::vector<std::string>& top_level_keys() {
  static const std::vector<std::string> keys{"name",     "topology", "switch", "routing", "traffic", "admission",
                                             "analysis", "run",      "sweep",  "job",     "fork"};
  return keys;
}

Where at(Where where, const std::string& key) {
  where.key = key;
  return where;
}

/// Names are shown on terminals, which obey control characters.
const std::string& printable(const std::string& name, const Where& where) {
  const std::optional<TextFault> fault = text_fault(name);
  if (!fault) return name;
  throw ConfigError(where, fmt::format("the name of an experiment has {}", fault->what),
                    "write it with characters that can be seen");
}

[[noreturn]] void not_a_component(const Node& value, const Kind& kind, const Where& where) {
  const bool run = kind.section == "run" || kind.section == "messages";
  if (kind.section == "job") {
    throw ConfigError(at(where, kind.section), fmt::format("{} does not describe a job", config::to_text(value)),
                      "write [[job]], and its keys below");
  }
  throw ConfigError(at(where, kind.section),
                    fmt::format("{} does not describe {} {}", config::to_text(value),
                                kind.section.starts_with('a') ? "an" : "a", kind.section),
                    run ? fmt::format("write a table, such as {} = {{ {} }}", kind.section,
                                      kind.section == "run" ? "seed = 1" : "flit = \"32 B\"")
                        : fmt::format("write {0} = \"NAME\" or {0} = {{ name = \"NAME\", ... }}", kind.section));
}

std::vector<std::string> split(const std::string& key) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    words.push_back(key.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

bool as_index(const std::string& word, std::size_t& index) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
  return error == std::errc{} && end == word.data() + word.size();
}

[[noreturn]] void unknown_target(const std::string& word, const std::vector<std::string>& known, const Where& where) {
  if (word == "sweep") throw ConfigError(where, "it is not said what is swept", "write sweep.KEY=[a, b, c]");
  if (word == "fork" || word.starts_with("fork.")) {
    throw ConfigError(where, "a fork is given in the experiment file, not by an override",
                      "write it there: fork = { after = \"warmup\", vary = KEY, from = VALUE }");
  }
  throw ConfigError(where, fmt::format("nothing in this experiment is called \"{}\"", word),
                    config::suggestion(word, known, "there are"));
}

/// "traffic uniform", "switch cioq": the components that have a parameter.
std::vector<std::string> owners_of(const Catalog& catalog, const std::string& parameter) {
  std::vector<std::string> owners;
  for (const Kind* kind : catalog.kinds()) {
    for (const config::ComponentInfo* info : kind->components) {
      if (config::find_parameter(*info, parameter) != nullptr) owners.push_back(kind->section + " " + info->name);
    }
  }
  return owners;
}

[[noreturn]] void ambiguous(const std::string& word, const std::vector<std::string>& paths, const Where& where) {
  throw ConfigError(where, fmt::format("\"{}\" is ambiguous", word),
                    fmt::format("write one of {}", fmt::join(paths, ", ")));
}

std::string joined(const std::string& path, const std::string& parameter) { return path + "." + parameter; }

}  // namespace

namespace {

/// How to write what somebody took for a component, and is a value of a component's choice: a pattern, for one.
std::optional<std::string> named_by_choice(const Kind& kind, const std::string& value) {
  for (const config::ComponentInfo* info : kind.components) {
    for (const config::Parameter& parameter : info->parameters) {
      const auto& choices = parameter.choices;
      if (std::find(choices.begin(), choices.end(), value) == choices.end()) continue;
      return fmt::format("write {} = {{ name = \"{}\", {} = \"{}\" }}", kind.section, info->name, parameter.name,
                         value);
    }
  }
  return std::nullopt;
}

/// How to write what somebody took for a part of an experiment, and is a parameter of one: a seed, for one.
std::optional<std::string> belongs_to(const Catalog& catalog, const std::string& key) {
  const auto has = [&](const Kind& kind) {
    return std::any_of(kind.components.begin(), kind.components.end(),
                       [&](const auto* info) { return config::find_parameter(*info, key) != nullptr; });
  };
  if (has(catalog.run)) return fmt::format("it is a parameter of the run: write run = {{ {} = ... }}", key);
  for (const Kind* kind :
       {&catalog.traffic, &catalog.switching, &catalog.topology, &catalog.routing, &catalog.admission}) {
    if (!has(*kind)) continue;
    return fmt::format("it is a parameter: write {} = {{ name = \"NAME\", {} = ... }}", kind->section, key);
  }
  return std::nullopt;
}

}  // namespace

const config::ComponentInfo& info_of(const Part& part) {
  if (part.name.empty() && !part.entries.empty()) {
    throw ConfigError(
        part.where, fmt::format("the {} has no name", part.kind->section),
        fmt::format("write name = \"NAME\" among its keys, one of {}", fmt::join(part.kind->names(), ", ")));
  }
  if (part.name.empty()) {
    throw ConfigError(
        part.where, fmt::format("the experiment names no {}", part.kind->section),
        fmt::format("add {} = \"NAME\", one of {}", part.kind->section, fmt::join(part.kind->names(), ", ")));
  }
  if (const config::ComponentInfo* info = part.kind->find(part.name)) return *info;
  const std::string_view known = known_as(part.name);
  if (part.kind->find(std::string(known)) != nullptr) {
    throw ConfigError(part.where, fmt::format("unknown {} \"{}\"", part.kind->section, part.name),
                      fmt::format("it is called \"{}\" here", known));
  }
  const std::vector<std::string> names = part.kind->names();
  // A name that is like none may be that of a component that comes from elsewhere.
  const std::string elsewhere = nearest_name(part.name, names).empty()
                                    ? "; one of a plug-in is there with --plugin FILE, or banyan.load_plugin(FILE)"
                                    : "";
  throw ConfigError(
      part.where, fmt::format("unknown {} \"{}\"", part.kind->section, part.name),
      named_by_choice(*part.kind, part.name).value_or(config::suggestion(part.name, names, "there are") + elsewhere));
}

Draft::Draft(const Node& root, const Catalog& catalog) : catalog_(&catalog) {
  for (const Kind* kind : {&catalog.topology, &catalog.switching, &catalog.routing, &catalog.run}) {
    parts_.push_back({kind, "", at(root.where, kind->section), {}});
  }
  parts_.back().name = "run";
  if (!catalog.admission.components.empty()) {
    parts_.push_back({&catalog.admission, "none", at(root.where, catalog.admission.section), {}});
  }
  const bool jobs = !catalog.job.components.empty() && root.find(catalog.job.section) != nullptr;
  if (jobs) parts_.push_back({&catalog.messages, "messages", at(root.where, catalog.messages.section), {}});
  for (const Entry& entry : root.entries) {
    const auto part = std::find_if(parts_.begin(), parts_.end(),
                                   [&](const Part& candidate) { return candidate.kind->section == entry.key; });
    if (entry.key == "traffic") {
      read_several(entry.value, catalog.traffic);
    } else if (entry.key == "analysis") {
      read_several(entry.value, catalog.analysis);
    } else if (jobs && entry.key == catalog.job.section) {
      read_several(entry.value, catalog.job);
    } else if (jobs && config::find_parameter(*catalog.messages.components.front(), entry.key) != nullptr) {
      const auto messages = parts_of(catalog.messages);
      config::assign(parts_[messages.front()].entries, entry);
    } else if (entry.key == "sweep") {
      sweep_ = &entry.value;
    } else if (entry.key == "fork") {
      fork_ = &entry.value;
    } else if (entry.key == "name" && entry.value.kind == Node::Kind::text) {
      name_ = printable(entry.value.text, entry.value.where);
    } else if (entry.key == "name") {
      throw ConfigError(entry.value.where, "the name of an experiment is a text", "write name = \"NAME\"");
    } else if (part != parts_.end()) {
      read_part(entry.value, *part);
    } else {
      throw ConfigError(
          entry.where, fmt::format("an experiment has no \"{}\"", entry.key),
          belongs_to(catalog, entry.key).value_or(config::suggestion(entry.key, top_level_keys(), "it has")));
    }
  }
  if (jobs && parts_of(catalog.job).empty())
    throw ConfigError(at(root.where, "job"), "the experiment has no job", "write [[job]]");
  if (!jobs && parts_of(catalog.traffic).empty()) {
    parts_.push_back({&catalog.traffic, "", at(root.where, "traffic"), {}});
  }
}

void Draft::read_several(const Node& value, const Kind& kind) {
  const bool several = value.kind == Node::Kind::array;
  if (several && value.items.empty() && &kind == &catalog_->traffic) not_a_component(value, kind, value.where);
  // Before anything is resolved: its time grows with the square of their number.
  if (several && &kind == &catalog_->traffic && value.items.size() > kMostTraffics) {
    throw ConfigError(at(value.items[kMostTraffics].where, fmt::format("traffic.{}", kMostTraffics)),
                      fmt::format("{} traffics", value.items.size()),
                      fmt::format("use at most {} in one experiment", kMostTraffics));
  }
  const std::vector<Node> alone = several ? std::vector<Node>{} : std::vector<Node>{value};
  for (const Node& item : several ? value.items : alone) {
    Part part{&kind, is_single(kind) ? kind.section : "", item.where, {}};
    read_part(item, part);
    parts_.push_back(std::move(part));
  }
}

namespace {

/// Whether parameters of the component begin with `word.`.
bool groups(const Part& part, const std::string& word) {
  const config::ComponentInfo* info = part.kind->find(part.name);
  if (info == nullptr) return false;
  return std::any_of(info->parameters.begin(), info->parameters.end(),
                     [&](const config::Parameter& parameter) { return parameter.name.starts_with(word + "."); });
}

bool anyone_has(const Kind& kind, const std::string& parameter) {
  return std::any_of(kind.components.begin(), kind.components.end(), [&](const config::ComponentInfo* info) {
    return config::find_parameter(*info, parameter) != nullptr;
  });
}

/// A table groups parameters: mark = { low = 8 } is mark.low = 8.
void flatten(Part& part) {
  std::vector<Entry> flat;
  for (Entry& entry : part.entries) {
    if (entry.value.kind != Node::Kind::table || !groups(part, entry.key)) {
      flat.push_back(std::move(entry));
      continue;
    }
    for (Entry& inner : entry.value.entries)
      flat.push_back({joined(entry.key, inner.key), std::move(inner.where), std::move(inner.value)});
  }
  part.entries = std::move(flat);
}

}  // namespace

void Draft::read_part(const Node& value, Part& part) const {
  const bool run = is_single(*part.kind);
  part.where = at(value.where, part.kind->section);
  part.entries.clear();
  if (value.kind == Node::Kind::text && !run) {
    part.name = value.text;
    return;
  }
  if (value.kind != Node::Kind::table) not_a_component(value, *part.kind, value.where);
  for (const Entry& entry : value.entries) {
    if (entry.key != "name" || run) {
      part.entries.push_back(entry);
      continue;
    }
    if (entry.value.kind != Node::Kind::text) not_a_component(entry.value, *part.kind, entry.value.where);
    part.name = entry.value.text;
    part.where = at(entry.value.where, part.kind->section);
  }
  flatten(part);
}

Part Draft::named(const Part& part) const {
  Part named = part;
  if (part.kind != &catalog_->routing || !part.name.empty()) return named;
  const std::string& topology = parts_[part_of(catalog_->topology)].name;
  for (const core::TopologyRow* row : core::topology_rows()) {
    if (row->info.name != topology || row->routing.name == nullptr) continue;
    named.name = row->routing.name;
    const char* const key = row->routing.parameter;
    if (key == nullptr || std::ranges::any_of(part.entries, [&](const Entry& entry) { return entry.key == key; })) {
      continue;
    }
    named.entries.push_back({key, part.where, Node::of(std::string(row->routing.value), part.where)});
  }
  return named;
}

std::vector<std::size_t> Draft::parts_of(const Kind& kind) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].kind == &kind) found.push_back(i);
  }
  return found;
}

std::string Draft::path(const Part& part) const {
  if (part.kind == &catalog_->job) {
    const std::vector<std::size_t> jobs = parts_of(*part.kind);
    const auto itself = std::find_if(jobs.begin(), jobs.end(), [&](std::size_t i) { return &parts_[i] == &part; });
    return jobs.size() == 1 ? "job" : fmt::format("job.{}", itself - jobs.begin());
  }
  if (part.kind != &catalog_->traffic) return part.kind->section;
  const std::vector<std::size_t> traffics = parts_of(*part.kind);
  const auto same_name = [&](std::size_t i) { return parts_[i].name == part.name; };
  if (std::count_if(traffics.begin(), traffics.end(), same_name) == 1) return joined("traffic", part.name);
  const auto itself =
      std::find_if(traffics.begin(), traffics.end(), [&](std::size_t i) { return &parts_[i] == &part; });
  return joined("traffic", std::to_string(itself - traffics.begin()));
}

Target Draft::target(const std::string& key, const Where& where) const {
  std::vector<std::string> words = split(key);
  if (key == catalog_->analysis.section) return {Target::kEveryAnalysis, ""};
  if (words.front() == "traffic") return traffic_target(words, key, where);
  if (words.front() == "job" && !parts_of(catalog_->job).empty()) return job_target(words, key, where);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const bool by_section = part.kind->section == words.front();
    const bool by_name = words.size() > 1 && part.name == words.front();
    if (!by_section && !by_name) continue;
    if (part.kind == &catalog_->traffic) return traffic_target(split("traffic." + key), key, where);
    // "switch.output_queued.buffer" says the same as "switch.buffer".
    if (by_section && words.size() == 3 && words[1] == part.name) words.erase(words.begin() + 1);
    if (words.size() == 1 || (words.size() == 2 && words[1] == "name")) return {i, ""};
    if (words.size() == 2) return {i, words[1]};
    // What only others of the kind have is refused where the component's parameters are read, with their names.
    if (words.size() == 3 && (groups(part, words[1]) || anyone_has(*part.kind, joined(words[1], words[2])))) {
      return {i, joined(words[1], words[2])};
    }
    break;
  }
  // "mark.low" and "host.eager" are parameters with a point in their names.
  const auto has = [&](const Part& part) {
    const config::ComponentInfo* info = part.kind->find(named(part).name);
    return info != nullptr && config::find_parameter(*info, key) != nullptr;
  };
  if (words.size() == 1 || std::ranges::any_of(parts_, has)) return bare_target(key, where);
  std::vector<std::string> paths;
  std::vector<std::string> firsts;
  for (const Part& part : parts_) {
    paths.push_back(path(part));
    firsts.push_back(part.kind->section);
    firsts.push_back(part.name);
  }
  // A slip in the first word of "synchronization.mean": the rest may be right.
  const std::string near = nearest_name(words.front(), firsts);
  if (!near.empty() && near != words.front()) {
    throw ConfigError(where, fmt::format("nothing in this experiment is called \"{}\"", key),
                      fmt::format("did you mean \"{}{}\"?", near, key.substr(words.front().size())));
  }
  unknown_target(key, paths, where);
}

Target Draft::job_target(std::vector<std::string> words, const std::string& key, const Where& where) const {
  words.erase(words.begin());
  const std::vector<std::size_t> jobs = parts_of(catalog_->job);
  std::size_t part = jobs.size() == 1 ? jobs.front() : Target::kEveryJob;
  if (words.size() > 1 && !groups(parts_[jobs.front()], words.front())) {
    std::size_t index = 0;
    const bool number = as_index(words.front(), index);
    const auto called = [&](std::size_t i) {
      const auto& entries = parts_[i].entries;
      const auto name = std::find_if(entries.begin(), entries.end(), [](const Entry& e) { return e.key == "name"; });
      return name != entries.end() && name->value.text == words.front();
    };
    const auto named = std::find_if(jobs.begin(), jobs.end(), called);
    if (named == jobs.end() && (!number || index >= jobs.size())) {
      throw ConfigError(
          where, fmt::format("there is no job \"{}\"", words.front()),
          fmt::format("write job.KEY for all jobs, or job.0.KEY to job.{}.KEY, or its name", jobs.size() - 1));
    }
    part = named != jobs.end() ? *named : jobs[index];
    words.erase(words.begin());
  }
  if (words.empty() && part == Target::kEveryJob)
    throw ConfigError(where, fmt::format("\"{}\" is {} jobs", key, jobs.size()), "write job.KEY or job.0.KEY");
  return {part, fmt::format("{}", fmt::join(words, "."))};
}

std::vector<std::size_t> Draft::traffics_called(const std::string& word) const {
  const std::vector<std::size_t> traffics = parts_of(catalog_->traffic);
  std::size_t index = 0;
  if (as_index(word, index)) return index < traffics.size() ? std::vector{traffics[index]} : std::vector<std::size_t>{};
  std::vector<std::size_t> named;
  std::copy_if(traffics.begin(), traffics.end(), std::back_inserter(named),
               [&](std::size_t i) { return parts_[i].name == word; });
  return named;
}

std::vector<std::size_t> Draft::traffics_with(const std::string& parameter) const {
  std::vector<std::size_t> traffics = parts_of(catalog_->traffic);
  // Where there is one traffic alone, resolving it finds the nearest parameter.
  if (traffics.size() == 1) return traffics;
  std::erase_if(traffics, [&](std::size_t i) {
    const config::ComponentInfo* info = parts_[i].kind->find(parts_[i].name);
    return info == nullptr || config::find_parameter(*info, parameter) == nullptr;
  });
  return traffics;
}

Target Draft::traffic_target(std::vector<std::string> words, const std::string& key, const Where& where) const {
  words.erase(words.begin());
  const bool asks_name = !words.empty() && words.back() == "name";
  if (asks_name) words.pop_back();
  const std::vector<std::size_t> traffics = parts_of(catalog_->traffic);
  std::vector<std::size_t> matching = words.empty() ? traffics : traffics_called(words.front());
  std::string parameter = words.size() == 2 ? words.back() : "";
  if (words.size() == 1 && matching.empty() && !asks_name) {
    parameter = words.front();
    matching = traffics_with(parameter);
  }
  if (words.size() > 2 || (words.size() == 2 && asks_name)) matching.clear();
  if (matching.size() == 1) return {matching.front(), parameter};
  const bool same_names = matching.size() > 1 && !words.empty() && words.front() != parameter;
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < traffics.size(); ++i) {
    paths.push_back(same_names ? fmt::format("traffic.{}", i) : path(parts_[traffics[i]]));
    const config::ComponentInfo* info = parts_[traffics[i]].kind->find(parts_[traffics[i]].name);
    const bool has = info != nullptr && config::find_parameter(*info, parameter) != nullptr;
    if (has && (words.size() == 2 || !matching.empty())) paths.back() = joined(paths.back(), parameter);
  }
  if (matching.size() > 1) ambiguous(key, paths, where);
  unknown_target(key, paths, where);
}

Target Draft::bare_target(const std::string& name, const Where& where) const {
  std::vector<Target> found;
  std::vector<std::string> paths;
  std::vector<std::string> known = top_level_keys();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const config::ComponentInfo* info = parts_[i].kind->find(named(parts_[i]).name);
    if (info == nullptr) continue;
    for (const config::Parameter& parameter : info->parameters) {
      known.push_back(parameter.name);
      if (parameter.name != name) continue;
      const bool every = parts_[i].kind == &catalog_->job && parts_of(catalog_->job).size() > 1;
      const Target target{every ? Target::kEveryJob : i, name};
      if (std::find(found.begin(), found.end(), target) != found.end()) continue;
      found.push_back(target);
      paths.push_back(joined(path(parts_[i]), name));
    }
  }
  if (found.size() == 1) return found.front();
  // At the top level of a file the name is a key of the messages of jobs, whatever else is called so.
  const auto of_messages = std::find_if(found.begin(), found.end(), [&](const Target& target) {
    return target.part < parts_.size() && parts_[target.part].kind == &catalog_->messages;
  });
  if (of_messages != found.end()) return *of_messages;
  if (found.size() > 1) ambiguous(name, paths, where);
  std::set<std::string> longer;
  for (const std::string& key : known) {
    if (key.ends_with("." + name)) longer.insert(key);
  }
  if (!longer.empty()) {
    throw ConfigError(where, fmt::format("nothing in this experiment is called \"{}\"", name),
                      fmt::format("did you mean \"{}\"?", fmt::join(longer, "\", or \"")));
  }
  const std::vector<std::string> owners = owners_of(*catalog_, name);
  if (!nearest_name(name, known).empty() || name == "sweep" || owners.empty()) unknown_target(name, known, where);
  throw ConfigError(where, fmt::format("nothing in this experiment has a parameter \"{}\"", name),
                    fmt::format("use one of those that have it: {}", fmt::join(owners, ", ")));
}

void Draft::select(const Change& change, Part& part) const {
  if (change.value.kind == Node::Kind::table) {
    if (!is_single(*part.kind)) part.name.clear();
    read_part(change.value, part);
  } else if (change.value.kind != Node::Kind::text || is_single(*part.kind)) {
    not_a_component(change.value, *part.kind, change.where);
  } else if (part.name != change.value.text) {
    part.name = change.value.text;
    part.entries.clear();
  }
  part.where = at(change.value.where, change.key);
}

bool Draft::selects(const std::string& key) const {
  std::vector<std::string> words = split(key);
  if (words.front() == "job" && words.size() > 1) return false;
  if (words.size() > 1 && words.back() == "name") words.pop_back();
  if (words.front() == "traffic" && words.size() == 2) {
    std::size_t index = 0;
    const auto named = [&](const Part& part) { return part.kind == &catalog_->traffic && part.name == words[1]; };
    return as_index(words[1], index) || std::any_of(parts_.begin(), parts_.end(), named);
  }
  const auto is_section = [&](const Part& part) { return part.kind->section == words.front(); };
  return words.size() == 1 && std::any_of(parts_.begin(), parts_.end(), is_section);
}

void Draft::assign(const Target& target, const Change& change) {
  const bool every = target.part == Target::kEveryJob;
  for (const std::size_t i : every ? parts_of(catalog_->job) : std::vector{target.part}) {
    // Only the jobs that are generated have a generator.
    const auto generated = [](const Entry& entry) { return entry.key.starts_with("generator."); };
    if (every && target.parameter.starts_with("generator.") &&
        std::none_of(parts_[i].entries.begin(), parts_[i].entries.end(), generated))
      continue;
    std::vector<Entry>& entries = parts_[i].entries;
    if (change.value.kind != Node::Kind::table || !groups(parts_[i], target.parameter)) {
      config::assign(entries, {target.parameter, change.where, change.value});
      continue;
    }
    std::erase_if(entries, [&](const Entry& entry) { return entry.key.starts_with(target.parameter + "."); });
    for (const Entry& inner : change.value.entries)
      entries.push_back({joined(target.parameter, inner.key), change.where, inner.value});
  }
}

void Draft::apply(const std::vector<Change>& changes) {
  std::vector<const Change*> of_parameters;
  for (const Change& change : changes) {
    if (change.key == "name") {
      const std::string& raw = change.value.raw;
      const bool quoted = change.value.kind == Node::Kind::text && (raw.starts_with('"') || raw.starts_with('\''));
      name_ = printable(quoted ? change.value.text : raw.empty() ? config::to_text(change.value) : raw, change.where);
    } else if (change.key == catalog_->analysis.section) {
      std::erase_if(parts_, [&](const Part& part) { return part.kind == &catalog_->analysis; });
      read_several(change.value, catalog_->analysis);
    } else if (change.key == "traffic" && parts_of(catalog_->traffic).empty()) {
      read_several(change.value, catalog_->traffic);
    } else if (selects(change.key)) {
      select(change, parts_[target(change.key, change.where).part]);
    } else {
      of_parameters.push_back(&change);
    }
  }
  for (const Change* change : of_parameters) { assign(target(change->key, change->where), *change); }
}

}  // namespace banyan::api
