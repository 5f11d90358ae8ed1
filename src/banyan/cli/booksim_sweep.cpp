// banyan sweep --booksim: settings of a BookSim2 configuration with several values.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "banyan/base/error.hpp"
#include "banyan/booksim/booksim.hpp"
#include "banyan/cli/converted.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/config/sweep.hpp"

namespace banyan::cli {
namespace {

struct Axis {
  std::string key;
  std::vector<std::string> values;
};

const std::string kSweepPrefix = "sweep.";
constexpr const char* kForm = "write injection_rate=[0.1, 0.2]";

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// The values of "[a, b]". Commas within parentheses and braces are BookSim2's: hotspot({{5,9},{2,1}}).
std::vector<std::string> values_in(const std::string& list) {
  std::vector<std::string> values(1);
  int depth = 0;
  for (const char c : list.substr(1, list.size() - 2)) {
    depth += c == '(' || c == '{' ? 1 : c == ')' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0)
      values.emplace_back();
    else
      values.back() += c;
  }
  for (std::string& value : values) value = trimmed(value);
  return values;
}

/// Takes the overrides that are lists out of `overrides`. BookSim2 has no brackets.
std::vector<Axis> take_axes(std::vector<std::string>& overrides) {
  std::vector<Axis> axes;
  std::erase_if(overrides, [&](const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) return false;
    std::string key = trimmed(text.substr(0, equals));
    const bool swept = key.starts_with(kSweepPrefix);
    if (swept) key = key.substr(kSweepPrefix.size());
    const std::string value = trimmed(text.substr(equals + 1));
    if (value.size() < 2 || value.front() != '[' || value.back() != ']') {
      if (swept)
        throw ConfigError({"command line", 0, 0, text.substr(0, equals)}, "a list of values is missing", kForm);
      return false;
    }
    Axis axis{key, values_in(value)};
    const Where where{"command line", 0, 0, key};
    if (std::ranges::find(axis.values, "") != axis.values.end()) throw ConfigError(where, "a value is missing", kForm);
    if (std::ranges::find(axes, key, &Axis::key) != axes.end())
      throw ConfigError(where, "the same setting is swept twice", "keep one of the two lists");
    if (std::set<std::string>(axis.values.begin(), axis.values.end()).size() != axis.values.size())
      throw ConfigError(where, "a value is there twice", "give every value once");
    axes.push_back(std::move(axis));
    return true;
  });
  return axes;
}

void refuse_double_points(const api::ExperimentSet& set) {
  std::set<std::string> seen;
  for (const api::Experiment& point : set.points) {
    if (seen.insert(point.configuration).second) continue;
    std::string at;
    for (const auto& [key, value] : point.axes) at += fmt::format("{}{} = {}", at.empty() ? "" : ", ", key, value);
    throw ConfigError({set.file, 0, 0, ""}, fmt::format("the point {} is the same run as one before it", at),
                      "leave out values that mean the same, and settings that have no effect here");
  }
}

}  // namespace

api::ExperimentSet booksim_sweep(const std::string& file, std::vector<std::string> overrides,
                                 const api::Overrides& of_experiment, bool ignore_unmapped) {
  const std::vector<Axis> axes = take_axes(overrides);
  if (axes.empty()) throw ConfigError({"command line", 0, 0, "key=value"}, "no setting has several values", kForm);
  api::ExperimentSet set;
  set.file = file;
  std::vector<std::size_t> lengths;
  u64 points = 1;
  for (const Axis& axis : axes) {
    set.axis_names.push_back(axis.key);
    lengths.push_back(axis.values.size());
    points *= axis.values.size();
    if (points > config::kMostPoints) {
      throw ConfigError({"command line", 0, 0, axis.key},
                        fmt::format("the sweep has more than {} points", config::kMostPoints), "give fewer values");
    }
  }
  std::set<std::string> said;
  for (const std::vector<std::size_t>& at : config::product(lengths)) {
    std::vector<std::string> settings = overrides;
    api::Experiment point;
    std::vector<std::pair<std::string, std::string>> place;
    std::vector<std::string> labels;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      const std::string& value = axes[a].values[at[a]];
      settings.push_back(axes[a].key + "=" + value);
      place.emplace_back(axes[a].key, value);
      const bool number = value.find_first_not_of("0123456789.eE+-") == std::string::npos;
      labels.push_back(number ? axes[a].key + " = " + value : value);
    }
    const booksim::Conversion conversion = converted(file, settings, ignore_unmapped, [&](const std::string& remark) {
      if (said.insert(remark).second) note(remark);
    });
    try {
      point = api::read_experiments_text(conversion.toml, file, of_experiment).points.front();
    } catch (const ConfigError& error) { throw booksim::in_terms_of_settings(error, conversion, file); }
    point.axes = std::move(place);
    point.labels = std::move(labels);
    set.points.push_back(std::move(point));
  }
  refuse_double_points(set);
  return set;
}

}  // namespace banyan::cli
