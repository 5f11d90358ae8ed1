#include "banyan/api/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "banyan/api/jobs_record.hpp"
#include "banyan/api/physical.hpp"
#include "banyan/api/profile.hpp"
#include "banyan/api/result_file.hpp"
#include "banyan/base/error.hpp"
#include "banyan/config/json.hpp"
#include "banyan/config/resolve.hpp"

namespace banyan::api {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using stats::Metric;
using stats::Series;

constexpr std::pair<Verdict, const char*> kVerdicts[] = {{Verdict::steady, "steady"},
                                                         {Verdict::saturated, "saturated"},
                                                         {Verdict::deadlocked, "deadlocked"},
                                                         {Verdict::finished, "finished"}};

std::string hex(u64 value) { return fmt::format("{:016x}", value); }

[[noreturn]] void refuse_damage(const std::string& cause) {
  throw ConfigError({}, "the result is damaged: " + cause, "give the JSON as \"banyan run --json\" printed it");
}

u64 from_hex(const std::string& text) {
  u64 value = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value, 16);
  if (error != std::errc{} || last != end) refuse_damage(fmt::format("\"{}\" is no hash", text));
  return value;
}

/// JSON has neither NaN nor infinity.
ordered_json finite(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr); }

double number_or_nan(const ordered_json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

ordered_json metric_json(const Metric& metric) {
  ordered_json object;
  object["mean"] = finite(metric.mean);
  if (!metric.counter) {
    object["half_width"] = metric.half_width ? finite(*metric.half_width) : ordered_json(nullptr);
    object["confidence"] = finite(metric.confidence);
  }
  object["count"] = metric.count;
  object["unit"] = metric.unit;
  return object;
}

Metric read_metric(const std::string& name, const ordered_json& object) {
  Metric metric;
  metric.name = name;
  metric.mean = number_or_nan(object.at("mean"));
  metric.counter = !object.contains("half_width");
  if (metric.counter && object.contains("confidence")) refuse_damage(name + " has a confidence and no half_width");
  if (!metric.counter) {
    if (!object.contains("confidence")) refuse_damage(name + " has an interval without a confidence");
    if (object.at("half_width").is_number()) metric.half_width = object.at("half_width").get<double>();
    metric.confidence = number_or_nan(object.at("confidence"));
    if (!(metric.confidence > 0.0 && metric.confidence < 1.0)) refuse_damage(name + " has an impossible interval");
  }
  metric.count = object.at("count").get<u64>();
  metric.unit = object.at("unit").get<std::string>();
  return metric;
}

ordered_json series_json(const Series& series) {
  ordered_json values = ordered_json::array();
  for (const double value : series.values) values.push_back(finite(value));
  return {{"unit", series.unit},
          {"start", finite(series.start)},
          {"interval", finite(series.interval)},
          {"values", values}};
}

Series read_series(const std::string& name, const ordered_json& object) {
  Series series{name,
                object.at("unit").get<std::string>(),
                number_or_nan(object.at("start")),
                number_or_nan(object.at("interval")),
                {}};
  for (const ordered_json& value : object.at("values")) series.values.push_back(number_or_nan(value));
  return series;
}

ordered_json table_json(const Table& table) {
  ordered_json rows = ordered_json::array();
  for (const auto& cells : table.rows) {
    ordered_json row = ordered_json::array();
    for (const Table::Cell& cell : cells) {
      std::visit([&row](const auto& value) { row.push_back(value); }, cell);
    }
    rows.push_back(std::move(row));
  }
  return {{"columns", table.columns}, {"rows", std::move(rows)}};
}

/// Sums and counts as two lists in a text each: thousands of numbers on two lines, and none of them rounded.
ordered_json groups_json(const Result& result) {
  ordered_json sums = ordered_json::object();
  for (const Groups& groups : result.groups) {
    std::string sum;
    std::string count;
    for (const stats::SumCount& group : groups.sums) {
      fmt::format_to(std::back_inserter(sum), "{}{}", sum.empty() ? "" : " ", group.sum);
      fmt::format_to(std::back_inserter(count), "{}{}", count.empty() ? "" : " ", group.count);
    }
    sums[groups.metric] = {{"sums", sum}, {"counts", count}};
  }
  return {{"cycles", result.group_cycles}, {"cut", result.group_cut}, {"metrics", std::move(sums)}};
}

std::vector<u64> read_naturals(const std::string& text) {
  std::vector<u64> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (!numbers.empty() && *at++ != ' ') refuse_damage("a list of sums is no list of numbers");
    const auto [last, error] = std::from_chars(at, end, numbers.emplace_back());
    if (error != std::errc{}) refuse_damage("a list of sums is no list of numbers");
    at = last;
  }
  return numbers;
}

void read_groups(const ordered_json& object, Result& result) {
  result.group_cycles = number_or_nan(object.at("cycles"));
  result.group_cut = object.at("cut").get<u64>();
  for (const auto& [name, lists] : object.at("metrics").items()) {
    const std::vector<u64> sums = read_naturals(lists.at("sums").get<std::string>());
    const std::vector<u64> counts = read_naturals(lists.at("counts").get<std::string>());
    if (sums.size() != counts.size()) refuse_damage(name + " has other sums than counts");
    Groups& groups = result.groups.emplace_back(Groups{name, {}});
    for (std::size_t i = 0; i < sums.size(); ++i) groups.sums.push_back({sums[i], counts[i]});
    if (result.group_cut > sums.size()) refuse_damage(name + " has fewer windows than its warm-up");
  }
}

/// The place, as text, and the hash there.
ordered_json checkpoints_json(const Result& result) {
  ordered_json object = ordered_json::object();
  for (const Checkpoint& checkpoint : result.checkpoints)
    object[fmt::format("{}", checkpoint.at)] = hex(checkpoint.hash);
  return object;
}

void read_checkpoints(const ordered_json& object, Result& result) {
  for (const auto& [at, hash] : object.items()) {
    const std::vector<u64> place = read_naturals(at);
    if (place.size() != 1) refuse_damage(fmt::format("\"{}\" is no place of a checkpoint", at));
    result.checkpoints.push_back({place.front(), from_hex(hash.get<std::string>())});
  }
  std::sort(result.checkpoints.begin(), result.checkpoints.end(),
            [](const Checkpoint& a, const Checkpoint& b) { return a.at < b.at; });
}

ordered_json profile_json(const Profile& profile) {
  ordered_json threads = ordered_json::array();
  for (const Profile::Thread& thread : profile.threads) {
    threads.push_back({{"work", thread.work}, {"mail", thread.mail}, {"wait", thread.wait}, {"other", thread.other}});
  }
  ordered_json object;
  object["seconds"] = profile.seconds;
  object["build_seconds"] = profile.build_seconds;
  object["run_seconds"] = profile.run_seconds;
  object["threads_asked"] = profile.threads_asked;
  object["fewer_threads"] = profile.fewer_threads;
  object["threads"] = std::move(threads);
  object["imbalance"] = profile.imbalance();
  object["imbalance_in_windows"] = nullptr;
  if (profile.imbalance_in_windows > 0.0) object["imbalance_in_windows"] = profile.imbalance_in_windows;
  object["cut"] = {{"shards", profile.shards},
                   {"by", profile.cut_by},
                   {"channels", profile.channels},
                   {"crossing_channels", profile.crossing_channels},
                   {"heaviest", profile.heaviest}};
  object["window"] = profile.window;
  object["windows"] = profile.windows;
  object["mails"] = profile.mails;
  object["moves"] = profile.moves;
  object["ns_per_move"] = profile.nanoseconds_per_move();
  object["peak_bytes"] = profile.peak_bytes;
  object["switches"] = profile.switches;
  return object;
}

Verdict read_verdict(const std::string& text) {
  for (const auto& [verdict, name] : kVerdicts) {
    if (text == name) return verdict;
  }
  throw ConfigError({}, fmt::format("\"{}\" is not a verdict", text), "the result was written by another program");
}

Result read_result(const ordered_json& object) {
  Result result;
  result.version = object.at("banyan").get<std::string>();
  result.compiler = object.at("compiler").get<std::string>();
  result.state_hash = from_hex(object.at("state_hash").get<std::string>());
  result.configuration = config::dump(json(object.at("configuration")));  // sorted
  result.configuration_hash = from_hex(object.at("configuration_hash").get<std::string>());
  result.seed = object.at("seed").get<u64>();
  result.verdict = read_verdict(object.at("verdict").get<std::string>());
  result.certain = object.at("certain").get<bool>();
  result.explanation = object.at("explanation").get<std::string>();
  result.warning = object.value("warning", "");
  for (const auto& [name, metric] : object.at("metrics").items()) result.metrics.push_back(read_metric(name, metric));
  if (object.contains("series")) {
    for (const auto& [name, series] : object.at("series").items()) result.series.push_back(read_series(name, series));
  }
  if (object.contains("jobs")) result.jobs = config::dump(object.at("jobs"));
  if (object.contains("groups")) read_groups(object.at("groups"), result);
  if (object.contains("checkpoints")) read_checkpoints(object.at("checkpoints"), result);
  if (object.contains("cpu_seconds")) result.cpu_seconds = number_or_nan(object.at("cpu_seconds"));
  result.peak_bytes = object.value("peak_bytes", u64{0});
  return result;
}

/// Digits after the point so that the half width keeps two that matter.
int decimals(double half_width) {
  if (!(half_width > 0.0) || !std::isfinite(half_width)) return 4;
  return std::clamp(1 - static_cast<int>(std::floor(std::log10(half_width))), 0, 9);
}

struct Row {
  std::string name, mean, half_width, unit, count;
};

/// How far a prediction lies from what was measured: "+3.1 %".
std::string deviation(const Result& result, const std::string& name, double predicted) {
  const std::size_t at = name.find(kPredictedBy);
  const Metric* measured = at == std::string::npos ? nullptr : result.find(name.substr(0, at));
  if (measured == nullptr || measured->mean == 0.0) return "";
  return fmt::format("{:+.1f} %", (predicted / measured->mean - 1) * 100);
}

Row row_of(const Result& result, const Metric& metric) {
  if (metric.counter && metric.name.find(kPredictedBy) != std::string::npos) {
    return {metric.name, fmt::format("{:.6g}", metric.mean), deviation(result, metric.name, metric.mean), metric.unit,
            "model"};
  }
  if (metric.counter) { return {metric.name, number_text(metric.mean), "", metric.unit, ""}; }
  Row row{metric.name, fmt::format("{:.6g}", metric.mean), "± ?", metric.unit, fmt::format("{}", metric.count)};
  if (result.find(kDeterministic) != nullptr) row.half_width = "exact";
  if (metric.half_width && *metric.half_width == 0.0) row.half_width = "± 0";
  if (metric.half_width && *metric.half_width > 0.0) {
    const int digits = decimals(*metric.half_width);
    row.mean = fmt::format("{:.{}f}", metric.mean, digits);
    row.half_width = fmt::format("± {:.{}f}", *metric.half_width, digits);
  }
  return row;
}

/// What of a table fits a screen: all events; of channels and flows those that carry most.
constexpr std::size_t kShownRows = 10;

/// In seconds and bytes where the run knows.
std::string table_text(const Table& raw, const Result& result) {
  const Table table = in_physical_units(raw, result);
  std::vector<std::size_t> order(table.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::string text = fmt::format("\n{}:\n", table.name);
  const auto flits = std::find(raw.columns.begin(), raw.columns.end(), "flits");
  if (flits != raw.columns.end() && order.size() > kShownRows) {
    const auto column = static_cast<std::size_t>(flits - raw.columns.begin());
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::get<u64>(raw.rows[a][column]) > std::get<u64>(raw.rows[b][column]);
    });
    order.resize(kShownRows);
    text = fmt::format("\n{}, the {} of {} that carry most (all with --json or --out):\n", table.name, kShownRows,
                       table.rows.size());
  }
  std::vector<std::vector<std::string>> cells{table.columns};
  for (const std::size_t row : order) {
    cells.emplace_back();
    for (const Table::Cell& cell : table.rows[row]) cells.back().push_back(to_text(cell));
  }
  std::vector<std::size_t> width(table.columns.size(), 0);
  for (const auto& row : cells) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  for (const auto& row : cells) {
    std::string out = " ";
    for (std::size_t i = 0; i < row.size(); ++i) out += fmt::format(" {:<{}}", row[i], width[i]);
    text += out.substr(0, out.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

/// The metrics in seconds and bytes, where cycles and flits are worth some.
std::string in_other_units(const Result& result) {
  std::vector<std::pair<std::string, std::string>> rows;
  std::size_t width = 0;
  for (const Metric& metric : result.metrics) {
    std::string text = in_physical_units(metric, result);
    if (text.empty()) continue;
    width = std::max(width, metric.name.size());
    rows.emplace_back(metric.name, std::move(text));
  }
  if (rows.empty()) return "";
  std::string text = "\nin other units:\n";
  for (const auto& [name, value] : rows) text += fmt::format("  {:<{}}  {}\n", name, width, value);
  return text;
}

std::string experiment_name(const Result& result) {
  const json configuration = json::parse(result.configuration, nullptr, false);
  return configuration.is_object() ? configuration.value("name", "") : "";
}

}  // namespace

std::string verdict_text(Verdict verdict, bool certain) { return to_string(verdict) + (certain ? "" : " (uncertain)"); }

std::string to_string(Verdict verdict) {
  for (const auto& [value, name] : kVerdicts) {
    if (value == verdict) return name;
  }
  return "unknown";
}

std::string number_text(double value) {
  if (value == std::floor(value)) return fmt::format("{}", value);
  const std::string text = fmt::format("{:.6g}", value);
  return text.find("e+") == std::string::npos ? text : fmt::format("{:.0f}", value);
}

std::string to_text(const Table::Cell& cell) {
  if (const u64* natural = std::get_if<u64>(&cell)) return fmt::format("{}", *natural);
  if (const double* real = std::get_if<double>(&cell)) return fmt::format("{:.6g}", *real);
  return std::get<std::string>(cell);
}

const Metric* Result::find(const std::string& name) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const Metric& m) { return m.name == name; });
  return found == metrics.end() ? nullptr : &*found;
}

const Metric& Result::at(const std::string& name) const {
  if (const Metric* metric = find(name)) return *metric;
  std::vector<std::string> names;
  for (const Metric& metric : metrics) names.push_back(metric.name);
  throw ConfigError({"", 0, 0, name}, "this run reports no such metric", config::suggestion(name, names, "it reports"));
}

std::string to_json(const Result& result) {
  ordered_json object;
  object["banyan"] = result.version;
  object["state_hash"] = hex(result.state_hash);
  object["configuration"] = ordered_json::parse(result.configuration.empty() ? "{}" : result.configuration);
  object["configuration_hash"] = hex(result.configuration_hash);
  object["seed"] = result.seed;
  object["verdict"] = to_string(result.verdict);
  object["certain"] = result.certain;
  object["explanation"] = result.explanation;
  if (!result.warning.empty()) object["warning"] = result.warning;
  object["metrics"] = ordered_json::object();
  for (const Metric& metric : result.metrics) object["metrics"][metric.name] = metric_json(metric);
  if (!result.series.empty()) {
    for (const Series& series : result.series) object["series"][series.name] = series_json(series);
  }
  for (const Table& table : result.tables) object["tables"][table.name] = table_json(table);
  if (!result.jobs.empty()) object["jobs"] = ordered_json::parse(result.jobs);
  if (!result.groups.empty()) object["groups"] = groups_json(result);
  if (!result.checkpoints.empty()) object["checkpoints"] = checkpoints_json(result);
  object["compiler"] = result.compiler;
  object["cpu_seconds"] = finite(result.cpu_seconds);
  object["peak_bytes"] = result.peak_bytes;
  if (result.profile != nullptr) object["profile"] = profile_json(*result.profile);
  return config::dump(object, 2);
}

const config::JsonShape& result_shape() {
  using config::JsonShape;
  static const JsonShape shape = [] {
    constexpr double kMost = std::numeric_limits<double>::max();
    constexpr double kMostCycles = 1e18;
    const JsonShape number = JsonShape::number().or_null();
    // Times, counts, shares and ratios: none is below 0.
    const JsonShape metric = JsonShape::object({{"mean", JsonShape::number(0.0, kMost).or_null()},
                                                {"half_width", JsonShape::number(0.0, kMost).or_null(), false},
                                                {"confidence", JsonShape::number(0.0, 1.0).or_null(), false},
                                                {"count", JsonShape::natural()},
                                                {"unit", JsonShape::text()}});
    const JsonShape series = JsonShape::object(
        {{"unit", JsonShape::text()}, {"start", number}, {"interval", number}, {"values", JsonShape::list_of(number)}});
    const JsonShape lists = JsonShape::object({{"sums", JsonShape::numbers()}, {"counts", JsonShape::numbers()}});
    const JsonShape groups = JsonShape::object({{"cycles", JsonShape::number(0.0, kMostCycles)},
                                                {"cut", JsonShape::natural()},
                                                {"metrics", JsonShape::map_of(lists)}});
    const JsonShape table =
        JsonShape::object({{"columns", JsonShape::list_of(JsonShape::text())},
                           {"rows", JsonShape::list_of(JsonShape::list_of(JsonShape::anything()))}});
    const JsonShape section = JsonShape::map_of(JsonShape::anything());
    const JsonShape configuration =
        JsonShape::object({{"name", JsonShape::text(), false}, {"run", section, false}, {"topology", section, false}});
    std::vector<std::string> verdicts;
    for (const auto& [verdict, name] : kVerdicts) verdicts.emplace_back(name);
    return JsonShape::object({{"banyan", JsonShape::text()},
                              {"state_hash", JsonShape::hash()},
                              {"configuration", configuration},
                              {"configuration_hash", JsonShape::hash()},
                              {"seed", JsonShape::natural()},
                              {"verdict", JsonShape::one_of(verdicts)},
                              {"certain", JsonShape::boolean()},
                              {"explanation", JsonShape::text()},
                              {"warning", JsonShape::text(), false},
                              {"metrics", JsonShape::map_of(metric)},
                              {"series", JsonShape::map_of(series), false},
                              {"tables", JsonShape::map_of(table), false},
                              {"jobs", JsonShape::list_of(JsonShape::anything()), false},
                              {"groups", groups, false},
                              {"checkpoints", JsonShape::map_of(JsonShape::hash()), false},
                              {"compiler", JsonShape::text()},
                              {"cpu_seconds", number, false},
                              {"peak_bytes", JsonShape::natural(), false}});
  }();
  return shape;
}

Result result_from(const ordered_json& object) { return read_result(object); }

Result from_json(const std::string& text) {
  const config::JsonFile file(text, "", "a result of banyan", "give the JSON that \"banyan run --json\" prints");
  file.require(result_shape());
  return read_result(file.json());
}

std::string to_table(const Result& result) {
  const std::string name = experiment_name(result);
  std::string text = fmt::format("{}{}{}, seed {}, state {}\n", name, name.empty() ? "" : ": ",
                                 verdict_text(result.verdict, result.certain), result.seed, hex(result.state_hash));
  if (!result.explanation.empty()) text += result.explanation + "\n";
  std::vector<Row> rows{{"metric", "mean", "", "unit", "samples"}};
  double confidence = 0.0;
  for (const Metric& metric : result.metrics) {
    rows.push_back(row_of(result, metric));
    if (metric.half_width) confidence = metric.confidence;
  }
  if (confidence > 0.0) rows.front().half_width = fmt::format("± {:g} %", confidence * 100.0);
  std::size_t width[4] = {0, 0, 0, 0};
  for (const Row& row : rows) {
    width[0] = std::max(width[0], row.name.size());
    width[1] = std::max(width[1], row.mean.size());
    width[2] = std::max(width[2], row.half_width.size());
    width[3] = std::max(width[3], row.unit.size());
  }
  for (const Row& row : rows) {
    text += fmt::format("  {:<{}}  {:>{}} {:<{}}  {:<{}}  {:>8}\n", row.name, width[0], row.mean, width[1],
                        row.half_width, width[2], row.unit, width[3], row.count);
  }
  if (!result.jobs.empty()) text += jobs_text(result.jobs);
  text += in_other_units(result);
  for (const Table& table : result.tables) text += table_text(table, result);
  return text;
}

}  // namespace banyan::api
