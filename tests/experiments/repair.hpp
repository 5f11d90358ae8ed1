// What a refused experiment is changed to, until one runs. What is refused is taken back, or made as the remedy says;
// what the experiment was made for stays as long as possible, and the rest is built around it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "banyan/base/error.hpp"
#include "experiments/generator.hpp"
#include "experiments/targets.hpp"

namespace banyan::test::experiments {

class Repair {
 public:
  static constexpr u32 kMostSteps = 60;  ///< of which the first half keeps what the experiment was made for

  Repair(const Generator& generator, Dice dice) : generator_(&generator), dice_(std::move(dice)) {}

  /// Changes the recipe, which was refused as the file `path`. False when there is nothing left to try.
  [[nodiscard]] bool operator()(Recipe& recipe, const Refusal& refusal, const std::string& path) {
    if (++steps_ > kMostSteps) return false;
    if (refusal.too_large) return shrink(recipe);
    if (steps_ == kMostSteps / 2) release(recipe);
    return mend(recipe, refusal, path) || (release(recipe) && mend(recipe, refusal, path));
  }

 private:
  using Network = Generator::Network;
  using Change = std::function<void(Recipe&)>;

  bool mend(Recipe& recipe, const Refusal& refusal, const std::string& path) {
    const std::optional<Place> place = refusal.where.file == path ? place_of(recipe, refusal.where.line) : std::nullopt;
    if (!place) return other_network(recipe, [](const Network&) { return true; });
    Part& part = recipe.parts[place->part];
    const std::string key = place->setting < part.settings.size()
                                ? part.settings[place->setting].key
                                : refusal.where.key.substr(refusal.where.key.rfind('.') + 1);
    const Setting* const refused = part.find(key);
    const bool kept = part.kept && (refused == nullptr || refused->kept);
    // A remedy is tried where it is needed, and now and then where taking back would do.
    if (dice_.chance(kept ? 0.7 : 0.3) && follow(recipe, place->part, key, refusal.remedy)) return true;
    if (refused != nullptr && !refused->kept && take_back(part, key)) return true;
    return part.kept ? vary(recipe, place->part) : replace(recipe, place->part);
  }

  /// Returns whether there was anything that was kept.
  static bool release(Recipe& recipe) {
    bool kept = false;
    for (Part& part : recipe.parts) {
      kept = kept || part.kept;
      part.kept = false;
      for (Setting& s : part.settings) s.kept = false;
    }
    return kept;
  }

  static bool set(Part& part, const std::string& key, const std::string& value) {
    const Setting* const old = part.find(key);
    if (old != nullptr && (old->kept || old->value == value)) return false;
    part.set(key, value);
    return true;
  }

  /// To the small instance's value, or to the default where it has none.
  static bool take_back(Part& part, const std::string& key) {
    const config::ComponentInfo* const info = find_component(part.section, part.name);
    const Part small = info == nullptr || part.section == "run" ? Part{} : small_part(part.section, *info);
    const Setting* const s = small.find(key);
    if (s != nullptr) return set(part, key, s->value);
    part.remove(key);
    return true;
  }

  /// The component as its small instance, but for what is kept.
  static bool reset(Part& part) {
    const config::ComponentInfo* const info = find_component(part.section, part.name);
    if (info == nullptr || part.section == "run") return false;
    Part small = small_part(part.section, *info);
    small.kept = part.kept;
    for (const Setting& s : part.settings) {
      if (!s.kept) continue;
      small.set(s.key, s.value);
      small.keep(s.key);
    }
    if (pack({{small}, {}}) == pack({{part}, {}})) return false;
    part = small;
    return true;
  }

  /// Smaller, and not as long.
  bool shrink(Recipe& recipe) {
    bool changed = false;
    for (Part& part : recipe.parts) {
      if (part.section == "topology") changed = reset(part) || changed;
      if (part.section != "run") continue;
      for (const Setting& s : short_run()) changed = set(part, s.key, s.value) || changed;
      changed = set(part, "extension", "1") || changed;
      for (const char* key : {"duration", "precision"}) {
        const Setting* const given = part.find(key);
        if (given == nullptr || given->kept) continue;
        part.remove(key);
        changed = true;
      }
    }
    return changed;
  }

  /// What a remedy names: values of parameters, components, parameters that are to be given, numbers.
  bool follow(Recipe& recipe, std::size_t index, const std::string& key, const std::string& remedy) {
    std::vector<Change> changes;
    const std::vector<std::string> words = words_of(remedy);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      if (word == "alone" || word == "one") changes.push_back([](Recipe& r) { leave_one_traffic(r); });
      const bool assigned = i + 2 < words.size() && words[i + 1] == "=";
      for (std::size_t p = 0; p < recipe.parts.size(); ++p) {
        const Part& part = recipe.parts[p];
        const config::ComponentInfo* const info = find_component(part.section, part.name);
        // "switch.vcs = 4", "vcs = 4", "give a batch": of the refused part first of all.
        const std::size_t dot = word.find('.');
        const bool qualified = dot != std::string::npos && word.substr(0, dot) == part.section;
        const std::string name = qualified ? word.substr(dot + 1) : word;
        const config::Parameter* const parameter = info == nullptr ? nullptr : config::find_parameter(*info, name);
        if (parameter == nullptr || (!assigned && !qualified && p != index)) continue;
        std::string value = assigned ? words[i + 2] : generator_->value(*info, *parameter, dice_);
        if (const Setting* const same = assigned ? part.find(value) : nullptr)
          value = same->value;                                                    // "radix = terminals"
        if (assigned && (value.front() == '[') != is_list(*parameter)) continue;  // of another component's
        changes.push_back([=](Recipe& r) { set(r.parts[p], name, value); });
      }
      for (const Section& section : sections()) {
        const config::ComponentInfo* const info =
            section.name == "run"
                ? nullptr
                : find_component(section.name, word.starts_with('"') ? word.substr(1, word.size() - 2) : word);
        if (info != nullptr) {
          changes.push_back([=, this](Recipe& r) { use(r, section.name, *info); });
        }
      }
      const bool digits = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
      if (digits && !(i > 0 && words[i - 1] == "=")) {
        const config::ComponentInfo* const info = find_component(recipe.parts[index].section, recipe.parts[index].name);
        const config::Parameter* const p = info == nullptr ? nullptr : config::find_parameter(*info, key);
        if (p != nullptr) {
          const std::string value =
              as_toml(*p, static_cast<double>(std::min<u64>(std::stoull(word.substr(0, 15)), 1U << 30U)));
          changes.push_back([=](Recipe& r) { set(r.parts[index], key, value); });
        }
      }
    }
    while (!changes.empty()) {
      const u32 at = dice_.below(changes.size());
      const std::string before = pack(recipe);
      changes[at](recipe);
      if (pack(recipe) != before) return true;
      changes.erase(changes.begin() + at);
    }
    return false;
  }

  static void leave_one_traffic(Recipe& recipe) {
    for (std::size_t i = recipe.parts.size(); i-- > 0 && recipe.count("traffic") > 1;) {
      if (recipe.parts[i].section == "traffic" && !recipe.parts[i].kept) {
        recipe.parts.erase(recipe.parts.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }

  /// Words, dotted names, "=" and whole values of a sentence.
  static std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < text.size();) {
      const char c = text[i];
      const auto in_word = [&](char x) { return std::isalnum(static_cast<unsigned char>(x)) != 0 || x == '_'; };
      std::size_t end = i + 1;
      if (c == '"' || c == '[') {
        end = text.find(c == '"' ? '"' : ']', i + 1);
        end = end == std::string::npos ? text.size() : end + 1;
      } else if (in_word(c) || c == '-') {
        while (end < text.size() &&
               (in_word(text[end]) || (text[end] == '.' && end + 1 < text.size() && in_word(text[end + 1]))))
          ++end;
      } else if (c != '=') {
        ++i;
        continue;
      }
      words.push_back(text.substr(i, end - i));
      i = end;
    }
    return words;
  }

  /// The component in place of the one that is there, with the network that it wants.
  bool use(Recipe& recipe, const std::string& section, const config::ComponentInfo& info) {
    if (section == "topology" || section == "switch" || section == "routing") {
      return other_network(recipe, [&](const Network& n) {
        return &info == (section == "topology" ? n.topology : section == "switch" ? n.switching : n.routing);
      });
    }
    if (section == "analysis") return false;  // a model is not needed for anything
    for (Part& part : recipe.parts) {
      if (part.section != section || part.name == info.name || part.kept) continue;
      part = small_part(section, info);
      return true;
    }
    return false;
  }

  /// Another network that goes with what is kept.
  template <class F>
  bool other_network(Recipe& recipe, F&& wanted) {
    std::vector<const Network*> fitting;
    for (const Network& n : generator_->networks()) {
      const auto goes = [&](const char* section, const config::ComponentInfo* info) {
        const Part& part = recipe.part(section);
        return !part.kept || part.name == info->name;
      };
      if (wanted(n) && goes("topology", n.topology) && goes("switch", n.switching) && goes("routing", n.routing)) {
        fitting.push_back(&n);
      }
    }
    if (fitting.empty()) return false;
    const Network& n = *dice_.of(fitting);
    for (const auto& [section, info] :
         {std::pair{"topology", n.topology}, {"switch", n.switching}, {"routing", n.routing}}) {
      Part& part = recipe.part(section);
      if (part.name != info->name) part = small_part(section, *info);
    }
    return true;
  }

  /// Something else than what is kept and refused: its other parameters, or what stands around it.
  bool vary(Recipe& recipe, std::size_t index) {
    Part& part = recipe.parts[index];
    switch (dice_.below(6)) {
      case 0:
      case 1:
        if (other_network(recipe, [](const Network&) { return true; })) return true;
        break;
      case 2:
        if (reset(part)) return true;
        break;
      case 3:
        for (Part& other : recipe.parts) {
          if (other.section != "run" && !other.kept && reset(other)) return true;
        }
        break;
      default:
        break;
    }
    const config::ComponentInfo* const info = find_component(part.section, part.name);
    if (info == nullptr || info->parameters.empty()) return other_network(recipe, [](const Network&) { return true; });
    for (u32 tries = 0; tries < 20; ++tries) {
      const config::Parameter& p = dice_.of(info->parameters);
      if (part.section == "run" && is_mode(p.name)) continue;
      if (set(part, p.name, generator_->value(*info, p, dice_))) return true;
    }
    return false;
  }

  /// A component that is refused as it is, and that nothing was made for.
  bool replace(Recipe& recipe, std::size_t index) {
    Part& part = recipe.parts[index];
    if (part.section == "analysis" || part.section == "admission" ||
        (part.section == "traffic" && recipe.count("traffic") > 1)) {
      recipe.parts.erase(recipe.parts.begin() + static_cast<std::ptrdiff_t>(index));
      return true;
    }
    if (dice_.chance(0.5) && reset(part)) return true;
    if (part.section == "traffic") {
      if (part.name == "uniform") return reset(part) || other_network(recipe, [](const Network&) { return true; });
      part = {"traffic", "uniform", {{"load", "0.3"}}};
      return true;
    }
    if (part.section == "run") return false;
    Part& topology = recipe.part("topology");
    if (dice_.chance(0.5) && reset(topology)) return true;
    return other_network(recipe, [](const Network&) { return true; }) || reset(topology) || reset(part);
  }

  const Generator* generator_;
  Dice dice_;
  u32 steps_ = 0;
};

}  // namespace banyan::test::experiments
