#include "banyan/api/fork.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "banyan/config/json.hpp"
#include "banyan/config/resolve.hpp"

namespace banyan::api {
namespace {

constexpr const char* kForm =
    "write fork = { after = \"warmup\", vary = \"KEY\" }, of a key that is swept or with from = VALUE";

Where at(Where where, const char* key) {
  where.key = key;
  return where;
}

const std::string& text_of(const config::Node& table, const char* key) {
  const config::Entry* entry = table.find(key);
  if (entry == nullptr) throw ConfigError(at(table.where, "fork"), fmt::format("it has no \"{}\"", key), kForm);
  if (entry->value.kind != config::Node::Kind::text) {
    throw ConfigError(at(entry->value.where, "fork"),
                      fmt::format("{} = {} is no text", key, config::to_text(entry->value)), kForm);
  }
  return entry->value.text;
}

/// The values of one component of an experiment that was resolved from `draft`.
const config::Values& values_of(const Experiment& experiment, const Draft& draft, std::size_t part,
                                const Catalog& catalog) {
  const Kind* kind = draft.parts()[part].kind;
  if (kind == &catalog.switching) return experiment.switching;
  if (kind == &catalog.admission) return experiment.admission;
  if (kind == &catalog.topology) return experiment.topology;
  if (kind == &catalog.routing) return experiment.routing;
  if (kind != &catalog.traffic) return experiment.run;
  const auto first = draft.parts().begin();
  const auto before = std::count_if(first, first + static_cast<std::ptrdiff_t>(part),
                                    [&](const Part& other) { return other.kind == kind; });
  return experiment.traffics[static_cast<std::size_t>(before)];
}

/// Lists what may change in this experiment.
std::string changeable(const Draft& draft) {
  std::vector<std::string> paths;
  for (const Part& part : draft.parts()) {
    const config::ComponentInfo* info = part.kind->find(part.name);
    if (info == nullptr) continue;
    for (const config::Parameter& parameter : info->parameters) {
      if (parameter.changes_in_flight != config::InFlight::no) paths.push_back(draft.path(part) + "." + parameter.name);
    }
  }
  return paths.empty() ? "leave out fork, for nothing in this experiment may"
                       : fmt::format("leave out fork, or vary one of {}", fmt::join(paths, ", "));
}

double number_of(const config::Values& values, const std::string& parameter) {
  const config::Value& value = values.all().find(parameter)->second;
  if (const auto* whole = std::get_if<i64>(&value)) return static_cast<double>(*whole);
  const auto* real = std::get_if<double>(&value);
  return real == nullptr ? 0.0 : *real;
}

void require_value(const ForkTable& fork, const config::Parameter& parameter, const config::Values& point,
                   const config::Values& warm) {
  const double from = number_of(warm, parameter.name);
  const double to = number_of(point, parameter.name);
  const char* const first = "put the value of the warm-up first in its axis, or give it as fork.from";
  if (parameter.changes_in_flight == config::InFlight::growing && to < from) {
    throw ConfigError(
        fork.where,
        fmt::format("{} may only grow in flight: it is {} in the warm-up, and then {}", fork.vary, from, to),
        fmt::format("warm up with the smallest: {}", first));
  }
  if (parameter.changes_in_flight == config::InFlight::above_0 && (from == 0.0) != (to == 0.0)) {
    throw ConfigError(
        fork.where,
        fmt::format("{} is {} in the warm-up and then {}, and a network with 0 is another one", fork.vary, from, to),
        fork.given ? std::string("give another fork.from, or the key a value that is not 0, in the file or the axis")
                   : fmt::format("leave 0 out of the axis, or run that point by itself; {}", first));
  }
}

}  // namespace

std::optional<ForkTable> read_fork(const Draft& base, const std::vector<config::Axis>& axes) {
  const config::Node* table = base.fork();
  if (table == nullptr) return std::nullopt;
  if (table->kind != config::Node::Kind::table) {
    throw ConfigError(at(table->where, "fork"), fmt::format("{} is no table", config::to_text(*table)), kForm);
  }
  const std::vector<std::string> known{"after", "vary", "from"};
  for (const config::Entry& entry : table->entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    throw ConfigError(at(entry.where, "fork"), fmt::format("a fork has no \"{}\"", entry.key),
                      config::suggestion(entry.key, known, "it has"));
  }
  if (const std::string& after = text_of(*table, "after"); after != "warmup") {
    throw ConfigError(at(table->find("after")->value.where, "fork"),
                      fmt::format("a run is not forked after \"{}\"", after), "write after = \"warmup\"");
  }
  ForkTable fork{text_of(*table, "vary"), at(table->find("vary")->value.where, "fork"), {}, false};
  if (const config::Entry* from = table->find("from"); from != nullptr) {
    fork.from = from->value;
    fork.given = true;
    return fork;
  }
  for (const config::Axis& axis : axes) {
    for (std::size_t k = 0; k < axis.keys.size(); ++k) {
      if (base.target(axis.keys[k], axis.places[k]) != base.target(fork.vary, fork.where)) continue;
      if (axis.keys.size() > 1) {
        throw ConfigError(
            fork.where,
            fmt::format("{} moves together with other keys, which have their value in the warm-up too", fork.vary),
            "take it out of sweep.zip");
      }
      fork.from = axis.values.front()[k];
      return fork;
    }
  }
  throw ConfigError(fork.where, fmt::format("\"{}\" is not swept", fork.vary),
                    "give [sweep] an axis of it, or fork.from, its value in the warm-up");
}

Fork fork_from(const ForkTable& fork, const Draft& draft, const Experiment& point, Experiment warm,
               const Catalog& catalog) {
  if (!point.jobs.empty()) {
    throw ConfigError(fork.where, "an experiment of jobs has no warm-up to go on from", "leave out fork");
  }
  if (point.run.integer("duration") > 0) {
    throw ConfigError(fork.where, "a run of fixed length (run.duration) has no warm-up to go on from",
                      "leave out fork, or give run.warmup and run.measure instead");
  }
  if (point.run.integer("warmup") == 0) {
    throw ConfigError(fork.where, "run.warmup = 0 leaves no warm-up to go on from",
                      "leave out fork, or give run.warmup");
  }
  const Target target = draft.target(fork.vary, fork.where);
  const bool single = target.part < draft.parts().size();  // not all models at once
  const Part& part = draft.parts()[single ? target.part : 0];
  const config::Parameter* parameter = single ? config::find_parameter(info_of(part), target.parameter) : nullptr;
  if (parameter == nullptr || parameter->changes_in_flight == config::InFlight::no) {
    throw ConfigError(fork.where, fmt::format("{} may not change in flight", fork.vary), changeable(draft));
  }
  const config::Values& values = values_of(warm, draft, target.part, catalog);
  require_value(fork, *parameter, values_of(point, draft, target.part, catalog), values);
  const std::string from = config::to_json(values.all().find(target.parameter)->second).dump();
  return {draft.path(part) + "." + target.parameter, from, std::make_shared<const Experiment>(std::move(warm)),
          fork.where};
}

void require_warm_up(const Experiment& point, const Network& network, bool sessions) {
  if (point.fork.warm == nullptr) return;
  const Where& where = point.fork.where;
  if (sessions) {
    throw ConfigError(where,
                      "a finite traffic makes this an experiment of sessions, and those have no warm-up to go on from",
                      "leave out fork");
  }
  // Where terminals send less than a message each, what comes next was drawn for the old load, and would keep them
  // silent for long.
  const Experiment& warm = *point.fork.warm;
  const Traffics traffics = build_traffics(warm, *network.topology);
  const i64 cycles = warm.run.integer("warmup");
  for (std::size_t i = 0; i < traffics.size(); ++i) {
    if (config::to_json(warm.traffics[i]) == config::to_json(point.traffics[i])) continue;
    const double flits = traffics[i]->offered_load() * static_cast<double>(cycles);
    if (flits >= traffics[i]->shortest_message()) continue;
    throw ConfigError(
        where,
        fmt::format("{} = {} makes {:.3g} flits per terminal in a warm-up of {} cycles, less than a message",
                    point.fork.vary, point.fork.from, flits, cycles),
        "warm up with a higher load, or for longer (run.warmup)");
  }
}

WarmStates::WarmStates(const std::vector<Experiment>& points) {
  for (const Experiment& point : points) {
    if (point.fork.warm == nullptr) continue;
    any_ = true;
    std::shared_ptr<Entry>& entry = entries_[point.fork.warm->configuration];
    if (entry == nullptr) entry = std::make_shared<Entry>();
    ++entry->users;
  }
}

std::shared_ptr<const WarmState> WarmStates::of(const Experiment& warm, const Make& make) {
  const std::shared_ptr<Entry> entry = [&] {
    const std::scoped_lock lock(mutex_);
    std::shared_ptr<Entry>& known = entries_[warm.configuration];
    if (known == nullptr) known = std::make_shared<Entry>();
    return known;
  }();
  const std::scoped_lock making(entry->making);
  if (entry->state == nullptr) {
    auto made = std::make_shared<const WarmState>(make());
    const std::scoped_lock lock(mutex_);
    entry->state = std::move(made);
  }
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<const WarmState> state = entry->state;
  if (entry->users <= 1) {
    entry->state.reset();
  } else {
    --entry->users;
  }
  return state;
}

bool WarmStates::has(const Experiment& point) {
  if (point.fork.warm == nullptr) return false;
  const std::scoped_lock lock(mutex_);
  const auto entry = entries_.find(point.fork.warm->configuration);
  return entry != entries_.end() && entry->second->state != nullptr;
}

}  // namespace banyan::api
