#include "banyan/api/result_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "banyan/api/reader.hpp"
#include "banyan/base/error.hpp"
#include "banyan/config/json.hpp"

namespace banyan::api {
namespace {

using config::JsonFile;
using config::JsonShape;
using nlohmann::ordered_json;

const JsonShape& sweep_shape() {
  static const JsonShape shape = JsonShape::object(
      {{"file", JsonShape::text()},
       {"axes", JsonShape::list_of(JsonShape::text())},
       {"points", JsonShape::list_of(JsonShape::object({{"axes", JsonShape::map_of(JsonShape::text())}}))}});
  return shape;
}

/// What is told of every run at a load, whatever its traffic.
constexpr const char* kOfEveryLoad[] = {"offered_load", "accepted_load", "delivered_packets", "delivered_flits",
                                        "simulated_cycles"};

/// Refuses a result that lacks what it must have with what else it has: an interval is made of groups, and groups are
/// of a metric.
void require_whole(const JsonFile& file, const std::vector<std::string>& path, const Result& result) {
  const auto fail = [&](const char* member, const std::string& cause) {
    std::vector<std::string> place = path;
    if (*member != '\0') place.emplace_back(member);
    file.fail(place, "the result is damaged: " + cause);
  };
  if (result.verdict == Verdict::steady || result.verdict == Verdict::saturated) {
    for (const char* name : kOfEveryLoad) {
      if (result.find(name) == nullptr) {
        fail("metrics",
             fmt::format("the metric {} is missing, which every {} run has", name, to_string(result.verdict)));
      }
    }
  }
  for (const Groups& groups : result.groups) {
    if (result.find(groups.metric) == nullptr) {
      fail("metrics", fmt::format("the metric {} is missing, whose parts \"groups\" holds", groups.metric));
    }
  }
  for (const stats::Metric& metric : result.metrics) {
    if (!metric.half_width) continue;
    const bool found = std::any_of(result.groups.begin(), result.groups.end(),
                                   [&](const Groups& groups) { return groups.metric == metric.name; });
    if (found) continue;
    const bool none = result.groups.empty();
    fail(none ? "" : "groups", fmt::format("{} has an interval, and \"groups\", which it is made of, {}", metric.name,
                                           none ? "is missing" : "lacks it"));
  }
}

/// A single run tells what it cost; a sweep tells it of all points or of none.
JsonShape costs_shape() {
  return JsonShape::object({{"cpu_seconds", JsonShape::anything()}, {"peak_bytes", JsonShape::anything()}});
}

/// Refuses what was changed since it was printed.
Result checked_result(const JsonFile& file, const std::vector<std::string>& path, const ordered_json& object) {
  try {
    Result result = result_from(object);
    if (object.at("configuration").contains("run") &&
        identity_hash(result.configuration) == result.configuration_hash) {
      require_whole(file, path, result);
      return result;
    }
  } catch (const ConfigError& error) {
    if (error.where().line != 0) throw;  // it has its place already
    file.fail(path, error.cause());
  }
  file.fail(path, "the result is damaged: its configuration is not the one that was run");
}

ResultFile read_sweep(const JsonFile& file, const std::string& name) {
  file.require(sweep_shape());
  file.require(JsonShape::object({{"points", JsonShape::list_of(result_shape())}}));
  const ordered_json& sweep = file.json();
  const auto tells_costs = [](const ordered_json& point) {
    return point.contains("cpu_seconds") || point.contains("peak_bytes");
  };
  if (std::any_of(sweep.at("points").begin(), sweep.at("points").end(), tells_costs)) {
    file.require(JsonShape::object({{"points", JsonShape::list_of(costs_shape())}}));
  }
  ResultFile read{{name, sweep.at("axes").get<std::vector<std::string>>(), {}, {}, {}},
                  sweep.at("file").get<std::string>()};
  std::size_t i = 0;
  for (const ordered_json& point : sweep.at("points")) {
    const std::vector<std::string> path{"points", fmt::format("{}", i++)};
    auto& axes = read.runs.axes.emplace_back();
    std::vector<std::string> names;
    for (const auto& [key, value] : point.at("axes").items()) {
      axes.emplace_back(key, value.get<std::string>());
      names.push_back(key);
    }
    if (names != read.runs.axis_names) {
      file.fail(path, fmt::format("the result is damaged: this point has the axes {}, and the sweep has {}",
                                  fmt::join(names, ", "), fmt::join(read.runs.axis_names, ", ")));
    }
    read.runs.results.push_back(checked_result(file, path, point));
    read.runs.printed.push_back(config::dump(point));
  }
  if (!read.runs.results.empty()) return read;
  throw ConfigError({name, 0, 0, ""}, "there is no finished point", "let the sweep finish one");
}

}  // namespace

ResultFile read_result_file(const std::string& text, const std::string& name) {
  const JsonFile file(text, name, "a result of banyan",
                      "give the JSON as \"banyan run --json\" or \"banyan sweep --json\" printed it");
  if (file.json().is_object() && file.json().contains("points")) return read_sweep(file, name);
  file.require(result_shape());
  file.require(costs_shape());
  return {{name, {}, {{}}, {checked_result(file, {}, file.json())}, {config::dump(file.json())}}, ""};
}

}  // namespace banyan::api
