// What random experiments reach: every parameter of every component, its choices and the ends of its range, as set in
// experiments that ran to their end. A value that is always refused tests nothing.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <vector>

#include "banyan/api/catalog.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/config/resolve.hpp"
#include "experiments/recipe.hpp"
#include "experiments/targets.hpp"

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

  /// What no completed experiment has.
  [[nodiscard]] std::vector<const Target*> missing() const {
    std::vector<const Target*> list;
    for (const Target& target : targets()) {
      if (times(target).completed == 0) list.push_back(&target);
    }
    return list;
  }
  [[nodiscard]] Times times(const Target& target) const {
    const auto found = times_.find(target.key());
    return found == times_.end() ? Times{} : found->second;
  }

 private:
  template <class F>
  static void for_each(const Recipe& recipe, F&& f) {
    for (const Part& part : recipe.parts) {
      const config::ComponentInfo* const info = find_component(part.section, part.name);
      if (info == nullptr) continue;
      const std::string component = part.section == "run" ? "run" : part.section + "." + part.name;
      if (part.section != "run") f(component);
      for (const Setting& s : part.settings) {
        const config::Parameter* const p = config::find_parameter(*info, s.key);
        if (p == nullptr) continue;
        const std::string key = component + "." + s.key;
        f(key);
        for (const auto& [edge, value] : edges_of(*p)) {
          if (has(s.value, value)) f(key + " = " + edge);
        }
      }
    }
  }

  /// Whether a value is this one, or a list with it.
  static bool has(const std::string& text, const std::string& value) {
    const auto items = [](std::string list) {
      std::vector<std::string> all(1);
      for (const char c : list) {
        if (c == ',') all.emplace_back();
        if (c != '[' && c != ']' && c != ' ' && c != ',') all.back() += c == '\'' ? '"' : c;
      }
      return all;
    };
    const auto same = [](const std::string& a, const std::string& b) {
      if (a == b) return true;
      double x = 0.0;
      double y = 0.0;
      const auto read = [](const std::string& number, double& v) {
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), v);
        return error == std::errc{} && end == number.data() + number.size();
      };
      return read(a, x) && read(b, y) && x == y;
    };
    const std::vector<std::string> all = items(text);
    const std::string wanted = items(value).front();
    return std::any_of(all.begin(), all.end(), [&](const std::string& item) { return same(item, wanted); });
  }

  std::map<std::string, Times> times_;
};

}  // namespace banyan::test::experiments
