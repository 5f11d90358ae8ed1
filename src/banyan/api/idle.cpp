#include "banyan/api/idle.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "banyan/api/catalog.hpp"
#include "banyan/config/resolve.hpp"

namespace banyan::api {
namespace {

/// What a parameter is in some of the points.
struct Use {
  std::string note;      ///< of the first point in which it changes nothing; "": of none
  bool matters = false;  ///< in one of them
};

/// The values that the conditions of a parameter look at: "queues = voqsw".
std::string beside(const config::Parameter& parameter, const config::Values& values) {
  std::set<std::string> names;
  std::vector<std::string> texts;
  for (const config::Condition& condition : parameter.conditions) {
    if (!names.insert(condition.name).second) continue;
    const std::string value = config::to_text(values.all().find(condition.name)->second);
    texts.push_back(fmt::format("{} = {}", condition.name, value.empty() ? "\"\"" : value));
  }
  return fmt::format("{}", fmt::join(texts, " and "));
}

/// The file gives the parameter, and the command line the value beside which it means nothing: whoever writes that
/// knows what it replaces, or compares.
bool replaced(const config::Parameter& parameter, const config::Values& values) {
  const auto overridden = [&](const config::Condition& condition) {
    return values.given(condition.name) && values.where(condition.name).line == 0;
  };
  return values.where(parameter.name).line != 0 && std::ranges::any_of(parameter.conditions, overridden);
}

void look_at(const config::Values& values, const Kind& kind, std::map<std::string, Use>& uses) {
  const config::ComponentInfo* const info = kind.find(values.component());
  if (info == nullptr) return;
  for (const config::Parameter& parameter : info->parameters) {
    if (parameter.conditions.empty() || !values.given(parameter.name)) continue;
    const Where where = values.where(parameter.name);
    Use& use = uses[where.key];
    if (config::has_meaning(parameter, values, *info)) {
      use.matters = true;
      continue;
    }
    const config::Value& value = values.all().find(parameter.name)->second;
    if (!use.note.empty() || (parameter.fallback && value == *parameter.fallback)) continue;
    if (replaced(parameter, values)) continue;
    const std::string text = fmt::format("{} changes nothing with {}; it means something {}", config::to_text(value),
                                         beside(parameter, values), config::conditions_text(parameter));
    use.note = ConfigError(where, text, "").what();
  }
}

}  // namespace

std::vector<std::string> idle_parameters(const std::vector<Experiment>& points) {
  const Catalog& all = catalog();
  std::map<std::string, Use> uses;
  for (const Experiment& point : points) {
    look_at(point.topology, all.topology, uses);
    look_at(point.switching, all.switching, uses);
    look_at(point.routing, all.routing, uses);
    for (const config::Values& traffic : point.traffics) look_at(traffic, all.traffic, uses);
    look_at(point.admission, all.admission, uses);
    for (const config::Values& model : point.analyses) look_at(model, all.analysis, uses);
    for (const config::Values& job : point.jobs) look_at(job, all.job, uses);
    look_at(point.messages, all.messages, uses);
    look_at(point.run, all.run, uses);
  }
  std::vector<std::string> notes;
  for (const auto& [key, use] : uses) {
    if (!use.matters && !use.note.empty()) notes.push_back(use.note);
  }
  return notes;
}

}  // namespace banyan::api
