// What random experiments reach: every parameter of every component, its choices and the ends of its range, as set in
// experiments that ran to their end. A value that is always refused tests nothing.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "banyan/api/catalog.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/config/resolve.hpp"
#include "experiments/generator.hpp"
#include "experiments/recipe.hpp"

namespace banyan::test::experiments {

class Coverage {
 public:
  struct Times {
    u64 tried = 0;
    u64 completed = 0;
  };

  /// An experiment as it was generated, and as it ran in the end, without the keys that were refused.
  void tried(const Recipe& recipe) {
    for_each(recipe, [&](const std::string& key) { ++times_[key].tried; });
  }
  void completed(const Recipe& recipe) {
    for_each(recipe, [&](const std::string& key) { ++times_[key].completed; });
  }
  void add(const Coverage& other) {
    for (const auto& [key, times] : other.times_) {
      times_[key].tried += times.tried;
      times_[key].completed += times.completed;
    }
  }

  /// Parameters that no completed experiment sets; with `values`, values of theirs too.
  [[nodiscard]] std::vector<std::string> missing(bool values) const {
    std::vector<std::string> list;
    const auto look = [&](const std::string& key) {
      const auto found = times_.find(key);
      const Times times = found == times_.end() ? Times{} : found->second;
      if (times.completed != 0) return;
      list.push_back(
          fmt::format("{} ({})", key, times.tried == 0 ? "never tried" : fmt::format("refused {} times", times.tried)));
    };
    for (const auto& [section, infos] : sections()) {
      for (const config::ComponentInfo* info : infos) {
        const std::string component = name_of(section, *info);
        if (section != "run") look(component);
        for (const config::Parameter& p : info->parameters) {
          if (section == "run" && is_mode(p.name)) continue;
          look(component + "." + p.name);
          if (!values) continue;
          for (const std::string& value : edges(p)) look(component + "." + p.name + " = " + value);
        }
      }
    }
    return list;
  }

 private:
  using Infos = std::vector<const config::ComponentInfo*>;

  static std::vector<std::pair<std::string, Infos>> sections() {
    const api::Catalog& catalog = api::catalog();
    return {{"topology", catalog.topology.components},
            {"switch", catalog.switching.components},
            {"routing", catalog.routing.components},
            {"traffic", catalog.traffic.components},
            {"admission", catalog.admission.components},
            {"analysis", catalog.analysis.components},
            {"run", {&api::run_info()}}};
  }
  static std::string name_of(const std::string& section, const config::ComponentInfo& info) {
    return section == "run" ? "run" : section + "." + info.name;
  }
  /// Choices, both booleans, both ends of a range as the generator knows it.
  static std::vector<std::string> edges(const config::Parameter& p) {
    if (p.type == config::Type::boolean) return {"true", "false"};
    if (p.type == config::Type::choice) return p.choices;
    if (p.type == config::Type::integer || p.type == config::Type::real) {
      return std::isfinite(p.low) && !p.low_open ? std::vector<std::string>{"its least"} : std::vector<std::string>{};
    }
    return {};
  }

  template <class F>
  static void for_each(const Recipe& recipe, F&& f) {
    static const auto all = sections();
    for (const Part& part : recipe.parts) {
      for (const auto& [section, infos] : all) {
        if (section != part.section) continue;
        for (const config::ComponentInfo* info : infos) {
          if (section != "run" && info->name != part.name) continue;
          const std::string component = name_of(section, *info);
          if (section != "run") f(component);
          for (const Setting& s : part.settings) count(component, *info, s, f);
        }
      }
    }
  }
  template <class F>
  static void count(const std::string& component, const config::ComponentInfo& info, const Setting& s, F&& f) {
    const config::Parameter* const p = config::find_parameter(info, s.key);
    if (p == nullptr) return;
    const std::string key = component + "." + s.key;
    f(key);
    if (p->type == config::Type::boolean || p->type == config::Type::choice) {
      std::string value = s.value;
      std::erase_if(value, [](char c) { return c == '"' || c == '\''; });
      f(key + " = " + value);
    } else if (p->type == config::Type::integer || p->type == config::Type::real) {
      double value = 0.0;
      const auto [end, error] = std::from_chars(s.value.data(), s.value.data() + s.value.size(), value);
      if (error == std::errc{} && value == p->low) f(key + " = its least");
    }
  }

  std::map<std::string, Times> times_;
};

}  // namespace banyan::test::experiments
