#include "banyan/api/axis_units.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "banyan/api/catalog.hpp"
#include "banyan/config/resolve.hpp"
#include "banyan/config/schema.hpp"
#include "banyan/config/units.hpp"

namespace banyan::api {
namespace {

using nlohmann::json;

/// The component that a table of a configuration describes: the one that it names, or the only one of its kind.
const config::ComponentInfo* component_of(const Kind& kind, const json& table) {
  if (!table.is_object()) return nullptr;
  const auto name = table.find("name");
  if (name != table.end() && name->is_string()) {
    if (const auto* found = kind.find(name->get<std::string>())) return found;
  }
  return kind.components.size() == 1 ? kind.components.front() : nullptr;
}

/// Cuts "uniform." or "0." from a key where it chooses this table of a list.
std::optional<std::string_view> chosen(std::string_view key, const json& table, std::size_t place) {
  const std::string_view word = key.substr(0, key.find('.'));
  const bool named = table.is_object() && table.contains("name") && table["name"] == word;
  if (!named && word != std::to_string(place)) return std::nullopt;
  return word.size() == key.size() ? std::string_view() : key.substr(word.size() + 1);
}

/// The units that the parameter of a key has in the tables of one kind.
void add_units(const Kind& kind, const json& section, std::string_view key, std::set<std::string>& units) {
  const auto add = [&](const json& table, std::string_view name) {
    const config::ComponentInfo* component = component_of(kind, table);
    const config::Parameter* parameter = component == nullptr ? nullptr : config::find_parameter(*component, name);
    if (parameter != nullptr) units.insert(parameter->unit_name);
  };
  if (!section.is_array()) return add(section, key);
  for (std::size_t i = 0; i < section.size(); ++i) add(section[i], chosen(key, section[i], i).value_or(key));
}

/// "switch.buffer" is looked for in the switch, "buffer" in every component.
std::set<std::string> units_of(const std::string& key, const json& configuration) {
  std::set<std::string> units;
  for (const Kind* kind : catalog().kinds()) {
    const auto section = configuration.find(kind->section);
    if (section == configuration.end()) continue;
    const bool named = key.starts_with(kind->section + ".");
    if (named) units.clear();
    add_units(*kind, *section, named ? std::string_view(key).substr(kind->section.size() + 1) : key, units);
    if (named) break;
  }
  return units;
}

bool is_bare_number(const std::string& text) {
  const std::optional<config::Quantity> quantity = config::parse_quantity(text);
  return quantity && quantity->unit.empty();
}

}  // namespace

std::vector<std::string> axis_units(const ExperimentSet& set, const std::vector<Result>& results) {
  const std::size_t axes = set.axis_names.size();
  std::vector<std::set<std::string>> found(axes);
  std::vector<bool> numbers(axes, true);
  // Points that differ in numbers alone have the same components: one of them is enough.
  std::set<std::string> seen;
  for (std::size_t i = 0; i < std::min(results.size(), set.points.size()); ++i) {
    const auto& values = set.points[i].axes;
    std::string words;
    for (std::size_t a = 0; a < std::min(axes, values.size()); ++a) {
      if (is_bare_number(values[a].second)) continue;
      numbers[a] = false;
      words += std::to_string(a) + values[a].second + '\n';
    }
    if (!seen.insert(words).second) continue;
    const json configuration = json::parse(results[i].configuration, nullptr, false);
    if (!configuration.is_object()) continue;
    for (std::size_t a = 0; a < axes; ++a) found[a].merge(units_of(set.axis_names[a], configuration));
  }
  std::vector<std::string> units(axes);
  for (std::size_t a = 0; a < axes; ++a) {
    if (numbers[a] && found[a].size() == 1) units[a] = *found[a].begin();
  }
  return units;
}

}  // namespace banyan::api
