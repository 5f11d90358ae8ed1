#include "banyan/api/measure/stored_differences.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "banyan/api/version.hpp"
#include "banyan/base/printable.hpp"
#include "banyan/config/json.hpp"

namespace banyan::api {
namespace {

using nlohmann::ordered_json;

/// The logarithms and roots behind an interval differ in their last digits between the mathematical libraries of two
/// machines, and counting does not. Of one program on one machine nothing may differ.
constexpr double kOtherProgram = 1e-9;

/// What a result says of the program and the machine, of its place in a sweep, and what is compared as the state.
constexpr const char* kNotCompared[] = {"banyan",        "compiler",   "cpu_seconds",        "peak_bytes",  "axes",
                                        "configuration", "state_hash", "configuration_hash", "checkpoints", "profile"};

std::string shortened(const ordered_json& value) {
  constexpr std::size_t kLongest = 40;
  std::string text = with_faults_shown(config::dump(value));
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

class Differences {
 public:
  explicit Differences(double tolerance) : tolerance_(tolerance) {}

  void compare(const std::string& path, const ordered_json& stored, const ordered_json& found) {
    if (stored.is_object() && found.is_object()) return compare_objects(path, stored, found);
    if (stored.is_array() && found.is_array() && stored.size() == found.size()) {
      for (std::size_t i = 0; i < stored.size(); ++i) compare(fmt::format("{}[{}]", path, i), stored[i], found[i]);
      return;
    }
    if (equal(stored, found)) return;
    add(fmt::format("{} is {}, and {} was stored", path, shortened(found), shortened(stored)));
  }

  void add(std::string sentence) { sentences_.push_back(std::move(sentence)); }
  [[nodiscard]] std::vector<std::string> take() { return std::move(sentences_); }

 private:
  void compare_objects(const std::string& path, const ordered_json& stored, const ordered_json& found) {
    const auto inside = [&path](const std::string& key) { return path.empty() ? key : path + "." + key; };
    for (const auto& [key, value] : stored.items()) {
      if (!found.contains(key)) {
        add(fmt::format("{} was stored, and this run gives none", inside(key)));
      } else {
        compare(inside(key), value, found.at(key));
      }
    }
    for (const auto& [key, value] : found.items()) {
      if (!stored.contains(key)) add(fmt::format("{} is {}, and none was stored", inside(key), shortened(value)));
    }
  }

  [[nodiscard]] bool equal(const ordered_json& a, const ordered_json& b) const {
    if (a.is_number_integer() && b.is_number_integer()) return a == b;
    if (!a.is_number() || !b.is_number()) return a == b;
    const double x = a.get<double>();
    const double y = b.get<double>();
    return x == y || std::abs(x - y) <= tolerance_ * std::max(std::abs(x), std::abs(y));
  }

  double tolerance_;
  std::vector<std::string> sentences_;
};

ordered_json compared_part(ordered_json result) {
  for (const char* key : kNotCompared) result.erase(key);
  // Events are kept of what the command line watched; another run watches nothing.
  if (result.contains("tables") && result["tables"].is_object()) {
    result["tables"].erase("events");
    if (result["tables"].empty()) result.erase("tables");
  }
  return result;
}

ordered_json histograms_json(const Result& result) {
  ordered_json all = ordered_json::object();
  for (const Histogram& histogram : result.histograms) {
    ordered_json buckets = ordered_json::array();
    for (const Histogram::Bucket& b : histogram.buckets) buckets.push_back({b.low, b.high, b.count});
    all[histogram.name] = {{"unit", histogram.unit}, {"buckets", std::move(buckets)}};
  }
  return all;
}

ordered_json of_store(const Result& result) {
  ordered_json object = compared_part(ordered_json::parse(to_json(result)));
  object.erase("tables");  // a store keeps none
  object["histograms"] = histograms_json(result);
  return object;
}

}  // namespace

std::vector<std::string> differences(const Result& stored, const std::string& printed, const Result& found) {
  const bool same_program = stored.version == found.version && stored.compiler == found.compiler;
  Differences differences(same_program ? 0.0 : kOtherProgram);
  if (printed.empty()) {
    differences.compare("", of_store(stored), of_store(found));
    const bool trees =
        stored.trees == nullptr ? found.trees == nullptr : found.trees != nullptr && *stored.trees == *found.trees;
    if (!trees) differences.add("the congestion trees are not those that were stored");
  } else {
    differences.compare("", compared_part(ordered_json::parse(printed)),
                        compared_part(ordered_json::parse(to_json(found))));
  }
  // A store may keep none: then they say nothing. A file has them.
  const bool kept = !stored.checkpoints.empty() || !printed.empty();
  if (kept && stored.checkpoints != found.checkpoints)
    differences.add("the states on the way are not those that were stored");
  return differences.take();
}

}  // namespace banyan::api
