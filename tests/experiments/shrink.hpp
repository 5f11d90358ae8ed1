// The smallest experiment that shows the same fault: leaves out tables and keys, then lowers numbers, as long as the
// same kind of finding remains.
#pragma once

#include <charconv>
#include <string>
#include <vector>

#include "experiments/children.hpp"
#include "experiments/generator.hpp"

namespace banyan::test::experiments {

class Shrinker {
 public:
  Shrinker(std::filesystem::path folder, std::string kind) : folder_(std::move(folder)), kind_(std::move(kind)) {}

  [[nodiscard]] Recipe smallest(Recipe recipe) {
    for (bool smaller = true; smaller;) {
      smaller = false;
      std::vector<Recipe> next = candidates(recipe);
      for (std::size_t i = 0; i < next.size() && tried_ < most_tries();) {
        if (!shows(next[i])) {
          ++i;
          continue;
        }
        recipe = next[i];
        next = candidates(recipe);  // the earlier ones have been tried, nearly as they are
        smaller = true;
      }
    }
    return recipe;
  }

 private:
  /// A try that hangs takes long.
  [[nodiscard]] u32 most_tries() const { return kind_ == kHang ? 12 : tries(400U, 40U); }

  /// Without it an experiment is longer, or larger.
  [[nodiscard]] bool keeps_small(const Part& part, const std::string& key) const {
    const config::ComponentInfo* const info = find_component(part.section, part.name);
    if (kind_ == kHang && info != nullptr && small_part(part.section, *info).find(key) != nullptr) return true;
    if (part.section == "topology")
      return part.find(key)->value.find_first_not_of("0123456789[], ") == std::string::npos;
    const auto& run = short_run();
    return part.section == "run" && std::any_of(run.begin(), run.end(), [&](const Setting& s) { return s.key == key; });
  }

  bool shows(const Recipe& recipe) {
    ++tried_;
    bool same = false;
    judge_in_children(
        0, 1, [&](u64) { return recipe; }, folder_, {},
        [&](const Failure& failure) {
          for (const Finding& f : failure.findings) same = same || f.kind == kind_;
        });
    return same;
  }

  /// From the boldest to the most careful.
  [[nodiscard]] std::vector<Recipe> candidates(const Recipe& recipe) const {
    std::vector<Recipe> all;
    for (std::size_t i = 0; i < recipe.parts.size(); ++i) {
      const std::string& section = recipe.parts[i].section;
      if (section != "analysis" && section != "admission" && (section != "traffic" || recipe.count("traffic") < 2))
        continue;
      all.push_back(recipe);
      all.back().parts.erase(all.back().parts.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (std::size_t i = 0; i < recipe.parts.size(); ++i) {
      const Part& part = recipe.parts[i];
      const std::size_t half = part.settings.size() / 2;
      for (const bool front : {true, false}) {
        Recipe fewer = recipe;
        for (std::size_t k = front ? 0 : half; half > 1 && k < (front ? half : part.settings.size()); ++k) {
          const std::string& key = part.settings[k].key;
          if (!keeps_small(part, key)) fewer.parts[i].remove(key);
        }
        if (fewer.parts[i].settings.size() < part.settings.size()) all.push_back(std::move(fewer));
      }
      for (const Setting& s : part.settings) {
        if (keeps_small(part, s.key)) continue;
        all.push_back(recipe);
        all.back().parts[i].remove(s.key);
      }
    }
    for (std::size_t i = 0; i < recipe.parts.size(); ++i) {
      for (const Setting& s : recipe.parts[i].settings) {
        for (const std::string& value : lower(s.value)) {
          all.push_back(recipe);
          all.back().parts[i].set(s.key, value);
        }
      }
    }
    return all;
  }

  /// Smaller whole numbers; shorter lists.
  static std::vector<std::string> lower(const std::string& value) {
    i64 number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    std::vector<std::string> less;
    if (error == std::errc{} && end == value.data() + value.size()) {
      for (const i64 n : {i64{0}, i64{1}, i64{2}, number / 2, number - 1}) {
        if (n >= 0 && n < number) less.push_back(std::to_string(n));
      }
    } else if (const std::size_t comma = value.rfind(", "); value.starts_with('[') && comma != std::string::npos) {
      less.push_back(value.substr(0, comma) + "]");
    }
    return less;
  }

  std::filesystem::path folder_;
  std::string kind_;
  u32 tried_ = 0;
};

}  // namespace banyan::test::experiments
