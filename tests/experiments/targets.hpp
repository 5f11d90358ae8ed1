// What random experiments are to reach, read from the registration rows: every component, every parameter of it, its
// choices, both booleans and both ends of its range.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "banyan/api/catalog.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/config/resolve.hpp"
#include "experiments/recipe.hpp"

namespace banyan::test::experiments {

/// What the modes of a run set themselves.
inline bool is_mode(const std::string& parameter) {
  return parameter == "audit" || parameter == "step_order" || parameter == "wake" || parameter == "shards";
}

inline bool is_number(const config::Parameter& p) {
  using config::Type;
  return p.type == Type::integer || p.type == Type::real || p.type == Type::integers || p.type == Type::reals;
}

inline bool is_list(const config::Parameter& p) {
  using config::Type;
  return p.type == Type::integers || p.type == Type::reals || p.type == Type::texts;
}

/// A number as a parameter of that type wants it.
inline std::string as_toml(const config::Parameter& p, double value) {
  const bool whole = p.type == config::Type::integer || p.type == config::Type::integers;
  std::string text = whole ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
  if (!whole && text.find_first_of(".e") == std::string::npos) text += ".0";
  return is_list(p) ? "[" + text + "]" : text;
}

struct Target {
  std::string section;
  const config::ComponentInfo* component = nullptr;
  const config::Parameter* parameter = nullptr;  ///< nullptr: the component as such
  std::string edge;                              ///< "": any value; a choice, "true", "its least" ...
  std::string value;                             ///< as TOML; "" where there is no edge

  [[nodiscard]] bool is_least() const { return edge == "its least"; }
  [[nodiscard]] bool is_greatest() const { return edge == "its greatest"; }
  [[nodiscard]] std::string key() const {
    std::string text = section == "run" ? "run" : section + "." + component->name;
    if (parameter != nullptr) text += "." + parameter->name;
    if (!edge.empty()) text += " = " + edge;
    return text;
  }
};

/// The values of a parameter that are targets of their own.
inline std::vector<std::pair<std::string, std::string>> edges_of(const config::Parameter& p) {
  std::vector<std::pair<std::string, std::string>> edges;
  using config::Type;
  if (p.type == Type::boolean) edges = {{"true", "true"}, {"false", "false"}};
  if (p.type == Type::choice || p.type == Type::texts) {
    for (const std::string& choice : p.choices) {
      const std::string quoted = "\"" + choice + "\"";
      edges.emplace_back(choice, is_list(p) ? "[" + quoted + "]" : quoted);
    }
  }
  if (is_number(p)) {
    // Where a range has no end, what is far beyond all sense: it is refused, or done in no time.
    const bool real = p.type == Type::real || p.type == Type::reals;
    if (std::isfinite(p.low) && !p.low_open) edges.emplace_back("its least", as_toml(p, p.low));
    if (std::isfinite(p.low) && p.low_open && real) edges.emplace_back("its least", as_toml(p, p.low + 1e-300));
    if (std::isfinite(p.high) && !p.high_open) edges.emplace_back("its greatest", as_toml(p, p.high));
    if (!std::isfinite(p.high) && real) edges.emplace_back("its greatest", as_toml(p, 1e300));
  }
  return edges;
}

struct Section {
  std::string name;
  std::vector<const config::ComponentInfo*> components;
};

inline const std::vector<Section>& sections() {
  static const std::vector<Section> all = [] {
    std::vector<Section> list;
    for (const api::Kind* kind : api::catalog().kinds()) list.push_back({kind->section, kind->components});
    return list;
  }();
  return all;
}

inline const config::ComponentInfo* find_component(const std::string& section, const std::string& name) {
  for (const Section& s : sections()) {
    if (s.name != section) continue;
    for (const config::ComponentInfo* info : s.components) {
      if (section == "run" || info->name == name) return info;
    }
  }
  return nullptr;
}

/// From components to ends of ranges: what comes first is reached on the way to what comes later.
inline const std::vector<Target>& targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> list;
    for (const Section& s : sections()) {
      for (const config::ComponentInfo* info : s.components) {
        if (s.name != "run") list.push_back({s.name, info, nullptr, "", ""});
        for (const config::Parameter& p : info->parameters) {
          if (s.name == "run" && is_mode(p.name)) continue;
          if (s.name == "job" && p.name == "name") continue;  // every recipe has it, as the name of the component
          list.push_back({s.name, info, &p, "", ""});
          for (const auto& [edge, value] : edges_of(p)) list.push_back({s.name, info, &p, edge, value});
        }
      }
    }
    return list;
  }();
  return all;
}

}  // namespace banyan::test::experiments
