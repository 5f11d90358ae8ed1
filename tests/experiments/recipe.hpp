// A random experiment as what it is written from: tables of keys and values, which can be left out or replaced one by
// one, and the files that it reads.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/base/types.hpp"
#include "engine/small_instances.hpp"

namespace banyan::test::experiments {

struct Setting {
  std::string key;
  std::string value;  ///< as TOML
  bool kept = false;  ///< what the experiment was made for: the rest gives way
};

/// One table: the topology, a traffic, the run ...
struct Part {
  std::string
      section;  ///< "topology", "switch", "routing", "traffic", "job", "messages", "admission", "analysis" or "run"
  std::string name;  ///< of the component; "" for the run
  std::vector<Setting> settings;
  bool kept = false;  ///< as of a setting, its component

  [[nodiscard]] const Setting* find(const std::string& key) const {
    const auto found = std::find_if(settings.begin(), settings.end(), [&](const Setting& s) { return s.key == key; });
    return found == settings.end() ? nullptr : &*found;
  }
  void set(const std::string& key, const std::string& value) {
    for (Setting& s : settings) {
      if (s.key == key) {
        s.value = value;
        return;
      }
    }
    settings.push_back({key, value});
  }
  void keep(const std::string& key) {
    for (Setting& s : settings) s.kept = s.kept || s.key == key;
  }
  /// Lines before the settings: the table and the component. Keys of messages of jobs are in no table.
  [[nodiscard]] u32 head() const { return section == "messages" ? 0 : name.empty() ? 1 : 2; }
  void remove(const std::string& key) {
    std::erase_if(settings, [&](const Setting& s) { return s.key == key; });
  }
};

struct Recipe {
  std::vector<Part> parts;
  std::map<std::string, std::string> files;  ///< by name: what a parameter of files may point to

  [[nodiscard]] std::size_t count(const std::string& section) const {
    return static_cast<std::size_t>(
        std::count_if(parts.begin(), parts.end(), [&](const Part& part) { return part.section == section; }));
  }
  /// The first part of a section; there is one.
  [[nodiscard]] Part& part(const std::string& section) {
    return *std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return p.section == section; });
  }
};

/// The component with the values of its small instance, and defaults for the rest.
inline Part small_part(const std::string& section, const config::ComponentInfo& info) {
  static const SmallValues small = small_values({});
  Part part{section, info.name, {}};
  for (const config::Parameter& p : info.parameters) {
    for (const std::string& key : {info.name + "." + p.name, p.name}) {
      const auto found = small.find(key);
      if (found == small.end()) continue;
      part.set(p.name, found->second);
      break;
    }
  }
  return part;
}

/// The experiment file. Traffics and analyses are arrays of tables, so that every key has a line of its own.
inline std::string to_toml(const Recipe& recipe) {
  std::string text;
  for (const Part& part : recipe.parts) {
    const bool several = part.section == "traffic" || part.section == "analysis" || part.section == "job";
    if (part.head() > 0) text += several ? fmt::format("[[{}]]\n", part.section) : fmt::format("[{}]\n", part.section);
    if (part.head() > 1) text += fmt::format("name = \"{}\"\n", part.name);
    for (const Setting& s : part.settings) text += fmt::format("{} = {}\n", s.key, s.value);
  }
  for (const auto& [name, content] : recipe.files) {
    if (text.find(name) == std::string::npos || name.ends_with(".et")) continue;  // those are no text
    text += fmt::format("# The file {}:\n", name);
    std::size_t begin = 0;
    while (begin < content.size()) {
      const std::size_t end = std::min(content.find('\n', begin), content.size());
      text += fmt::format("#   {}\n", content.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return text;
}

/// The tables in one text, and back, to hand a recipe from process to process; without the files.
inline std::string pack(const Recipe& recipe) {
  std::string text;
  for (const Part& part : recipe.parts) {
    text += fmt::format("{}\n{}\n{}\n", part.section, part.name, part.settings.size());
    for (const Setting& s : part.settings) text += fmt::format("{}\n{}\n", s.key, s.value);
  }
  return text;
}

inline Recipe unpack(const std::string& text) {
  std::istringstream lines(text);
  const auto line = [&] {
    std::string next;
    std::getline(lines, next);
    return next;
  };
  Recipe recipe;
  while (lines.peek() != std::istringstream::traits_type::eof()) {
    Part part{line(), line(), {}};
    for (std::size_t left = std::stoul(line()); left > 0; --left) {
      std::string key = line();
      part.settings.push_back({std::move(key), line()});
    }
    recipe.parts.push_back(std::move(part));
  }
  return recipe;
}

/// What stands on a line of to_toml.
struct Place {
  std::size_t part = 0;
  std::size_t setting = 0;  ///< the number of settings, or more: the table or its name
};

inline std::optional<Place> place_of(const Recipe& recipe, u32 line) {
  u32 first = 1;
  for (std::size_t i = 0; i < recipe.parts.size(); ++i) {
    const Part& part = recipe.parts[i];
    const u32 head = part.head();
    const u32 lines = head + static_cast<u32>(part.settings.size());
    if (line < first + lines) return Place{i, line < first + head ? part.settings.size() : line - first - head};
    first += lines;
  }
  return std::nullopt;
}

/// Why an experiment does not run, and what would help.
struct Refusal {
  Where where;
  std::string cause;
  std::string remedy;
  bool too_large = false;  ///< or too long: nothing is wrong with it otherwise
};

/// Writes the files of the recipe into a folder. Of traces all files of a folder are read: those of others go.
inline void write_files(const Recipe& recipe, const std::filesystem::path& folder) {
  std::error_code ignored;
  for (u32 rank = 0; std::filesystem::remove(folder / fmt::format("trace.{}.et", rank), ignored); ++rank) {}
  for (const auto& [name, content] : recipe.files) { std::ofstream(folder / name, std::ios::binary) << content; }
}

}  // namespace banyan::test::experiments
