// The written forms of a study's result: CSV per figure, JSON for scripts, a table for readers, a dump to load again.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "banyan/api/result_file.hpp"
#include "banyan/base/error.hpp"
#include "banyan/config/json_file.hpp"
#include "banyan/study/study.hpp"

namespace banyan::study {
namespace {

using Json = nlohmann::ordered_json;

/// RFC 4180: quoted where it must be.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string hex(u64 value) { return fmt::format("{:016x}", value); }

/// The axes of a figure in the order of its file's sweep, and its metrics in the order of first appearance.
std::vector<std::string> metric_names(const StudyResult& result, const FigureResult& figure) {
  std::vector<std::string> names;
  for (const Point& point : figure.points) {
    for (const stats::Metric& metric : result.run_of(point).metrics) {
      if (std::find(names.begin(), names.end(), metric.name) == names.end()) names.push_back(metric.name);
    }
  }
  return names;
}

std::string points_csv(const StudyResult& result, const FigureResult& figure) {
  const std::vector<std::string> metrics = metric_names(result, figure);
  std::string text = "series";
  if (!figure.points.empty()) {
    for (const auto& [axis, value] : figure.points.front().axes) text += "," + cell(axis);
  }
  for (const std::string& name : metrics) {
    text += fmt::format(",{0},{1},{2}", cell(name), cell(name + "_half_width"), cell(name + "_count"));
  }
  text += ",verdict,state_hash,certain\n";
  for (const Point& point : figure.points) {
    const api::Result& run = result.run_of(point);
    text += cell(point.series);
    for (const auto& [axis, value] : point.axes) text += "," + cell(value);
    for (const std::string& name : metrics) {
      const auto found =
          std::find_if(run.metrics.begin(), run.metrics.end(), [&](const stats::Metric& m) { return m.name == name; });
      if (found == run.metrics.end()) {
        text += ",,,";
        continue;
      }
      text += fmt::format(",{},{},{}", found->mean, found->half_width ? fmt::format("{}", *found->half_width) : "",
                          found->count);
    }
    text += fmt::format(",{},{},{}\n", api::to_string(run.verdict), hex(run.state_hash), run.certain);
  }
  return text;
}

std::string time_csv(const StudyResult& result, const FigureResult& figure) {
  std::string text = "series";
  if (!figure.points.empty()) {
    for (const auto& [axis, value] : figure.points.front().axes) text += "," + cell(axis);
  }
  text += figure.spec.time_unit.empty() ? ",cycle" : ",time_" + figure.spec.time_unit;
  for (const std::string& name : figure.spec.time_series) text += "," + cell(name);
  text += "\n";
  for (const Point& point : figure.points) {
    const api::Result& run = result.run_of(point);
    std::vector<const stats::Series*> columns;
    std::size_t rows = 0;
    for (const std::string& name : figure.spec.time_series) {
      const auto found =
          std::find_if(run.series.begin(), run.series.end(), [&](const stats::Series& s) { return s.name == name; });
      columns.push_back(found == run.series.end() ? nullptr : &*found);
      if (columns.back() != nullptr) rows = std::max(rows, columns.back()->values.size());
    }
    const auto first = std::find_if(columns.begin(), columns.end(), [](const auto* c) { return c != nullptr; });
    for (std::size_t row = 0; row < rows; ++row) {
      text += cell(point.series);
      for (const auto& [axis, value] : point.axes) text += "," + cell(value);
      const double cycle = (*first)->start + (*first)->interval * static_cast<double>(row);
      text += fmt::format(",{}", cycle * figure.spec.time_scale);
      for (const stats::Series* column : columns) {
        text += ",";
        if (column == nullptr || row >= column->values.size() || !std::isfinite(column->values[row])) continue;
        text += fmt::format("{}", column->values[row]);
      }
      text += "\n";
    }
  }
  return text;
}

/// Columns of the terminal.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Breaks a text at spaces into lines of at most `width` columns (code points).
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = text.find(' ', at);
    if (end == std::string::npos) end = text.size();
    const std::string word = text.substr(at, end - at);
    std::string& line = lines.back();
    if (!line.empty() && width_of(line) + 1 + width_of(word) > width) {
      lines.push_back(word);
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
    at = end + 1;
  }
  return lines;
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

/// One table per fire: a row per remedy.
std::string fires_as_text(const StudyResult& result) {
  std::string text;
  for (const FigureResult& figure : result.figures) {
    std::vector<FireCell> cells = fire_cells(result, figure);
    if (cells.empty()) continue;
    std::size_t width = 0;
    for (const FireCell& cell : cells) width = std::max(width, width_of(result.spec.find_series(cell.remedy)->label));
    std::string units;
    text += fmt::format("{}: {}\n  {}", figure.spec.fire, figure.spec.title, padded("", width));
    for (const FireCell& cell : cells) {
      if (cell.remedy != cells.front().remedy) break;
      const MetricSpec* metric = result.spec.metric(cell.column);
      text += fmt::format(" {:>18}", metric == nullptr ? cell.column : metric->symbol);
      units += fmt::format(" {:>18}", metric == nullptr ? "" : metric->unit);
    }
    text += fmt::format("\n  {}{}", padded("", width), units);
    text.erase(text.find_last_not_of(' ') + 1);
    const std::string* remedy = nullptr;
    for (const FireCell& cell : cells) {
      if (remedy == nullptr || cell.remedy != *remedy) {
        remedy = &cell.remedy;
        text += fmt::format("\n  {}", padded(result.spec.find_series(cell.remedy)->label, width));
      }
      text += fmt::format(" {:>18}", to_string(cell));
    }
    text += "\n\n";
  }
  return text;
}

/// Each warning once, with the series whose runs have it.
std::string warnings_as_text(const StudyResult& result, std::size_t width) {
  std::string text;
  const std::vector<RunWarning> all = warnings(result);
  for (auto it = all.begin(); it != all.end(); ++it) {
    const auto same = [&](const RunWarning& w) { return w.text == it->text; };
    if (std::find_if(all.begin(), it, same) != it) continue;
    std::string where;
    for (const RunWarning& w : all) {
      if (same(w))
        where += fmt::format("{}{}{}{}", where.empty() ? "" : "; ", w.figure, w.series.empty() ? "" : " ", w.series);
    }
    bool first = true;
    for (const std::string& line : wrapped(fmt::format("{} ({})", it->text, where), width - 9)) {
      text += fmt::format("{}{}\n", first ? "warning: " : "         ", line);
      first = false;
    }
  }
  return text.empty() ? "" : text + "\n";
}

ClaimVerdict claim_verdict_from(const std::string& text) {
  using enum ClaimVerdict;
  for (const ClaimVerdict verdict : {reproduced, partly, undecided, not_reproduced, not_tested}) {
    if (to_string(verdict) == text) return verdict;
  }
  throw std::invalid_argument("unknown verdict " + text);
}

/// What dump() writes.
const config::JsonShape& dump_shape() {
  using config::JsonShape;
  static const JsonShape shape = [] {
    const JsonShape text = JsonShape::text();
    const JsonShape point = JsonShape::object(
        {{"series", text}, {"axes", JsonShape::list_of(JsonShape::list_of(text, 2))}, {"run", JsonShape::natural()}});
    const JsonShape figure = JsonShape::object({{"id", text}, {"csv", text}, {"points", JsonShape::list_of(point)}});
    const JsonShape claim = JsonShape::object({{"id", text},
                                               {"section", text},
                                               {"claim", text},
                                               {"measured", text},
                                               {"verdict", text},
                                               {"expected", JsonShape::boolean()},
                                               {"note", text},
                                               {"undecided", JsonShape::natural(), false}});
    return JsonShape::object({{"study", text},
                              {"mode", text},
                              {"figures", JsonShape::list_of(figure)},
                              {"claims", JsonShape::list_of(claim)},
                              {"runs", JsonShape::list_of(api::result_shape())}});
  }();
  return shape;
}

StudyResult load_json(const Json& json) {
  StudyResult result;
  result.spec = spec_of(find_study(json.at("study").get<std::string>()));
  const std::string mode = json.at("mode");
  for (const Mode candidate : {Mode::quick, Mode::standard, Mode::full}) {
    if (to_string(candidate) == mode) result.mode = candidate;
  }
  for (const Json& run : json.at("runs")) result.runs.push_back(api::result_from(run));
  for (const Json& entry : json.at("figures")) {
    const FigureSpec* spec = result.spec.figure(entry.at("id").get<std::string>());
    if (spec == nullptr) throw std::invalid_argument("unknown figure " + entry.at("id").get<std::string>());
    FigureResult figure{*spec, {}, entry.at("csv")};
    for (const Json& p : entry.at("points")) {
      Point point{p.at("series"), {}, p.at("run")};
      if (point.run >= result.runs.size()) throw std::invalid_argument("a point without its run");
      for (const Json& axis : p.at("axes")) point.axes.emplace_back(axis.at(0), axis.at(1));
      figure.points.push_back(std::move(point));
    }
    result.points += figure.points.size();
    result.figures.push_back(std::move(figure));
  }
  for (const Json& c : json.at("claims")) {
    result.claims.push_back({c.at("id"), c.at("section"), c.at("claim"), c.at("measured"),
                             claim_verdict_from(c.at("verdict")), c.at("expected"), c.at("note"),
                             c.value("undecided", std::size_t{0})});
  }
  return result;
}

}  // namespace

std::string to_csv(const StudyResult& result, const FigureResult& figure) {
  return figure.spec.time_series.empty() ? points_csv(result, figure) : time_csv(result, figure);
}

namespace {

std::string unit_of(const StudyResult& result, const FireCell& cell) {
  const MetricSpec* metric = result.spec.metric(cell.column);
  return metric == nullptr ? "" : metric->unit;
}

}  // namespace

std::vector<RunWarning> warnings(const StudyResult& result) {
  std::vector<RunWarning> all;
  for (const FigureResult& figure : result.figures) {
    for (const Point& point : figure.points) {
      const std::string& text = result.run_of(point).warning;
      if (text.empty()) continue;
      const auto same = [&](const RunWarning& w) {
        return w.figure == figure.spec.id && w.series == point.series && w.text == text;
      };
      const auto known = std::find_if(all.begin(), all.end(), same);
      if (known == all.end()) {
        all.push_back({figure.spec.id, point.series, text, 1});
      } else {
        ++known->runs;
      }
    }
  }
  return all;
}

std::string to_json(const StudyResult& result) {
  Json json = {{"study", result.spec.name}, {"figures", Json::array()}, {"claims", Json::array()}};
  for (const FigureResult& figure : result.figures)
    json["figures"].push_back({{"id", figure.spec.id}, {"csv", figure.csv}});
  for (const ClaimResult& claim : result.claims) {
    json["claims"].push_back({{"id", claim.id},
                              {"section", claim.section},
                              {"claim", claim.text},
                              {"measured", claim.measured},
                              {"verdict", to_string(claim.verdict)},
                              {"expected", claim.expected},
                              {"note", claim.note},
                              {"undecided", claim.undecided}});
  }
  json["warnings"] = Json::array();
  for (const RunWarning& warning : warnings(result)) {
    json["warnings"].push_back(
        {{"figure", warning.figure}, {"series", warning.series}, {"runs", warning.runs}, {"warning", warning.text}});
  }
  const std::vector<FireCell> table = fire_table(result);
  if (!table.empty()) json["table"] = Json::array();
  for (const FireCell& cell : table) {
    json["table"].push_back({{"fire", cell.fire},
                             {"remedy", cell.remedy},
                             {"column", cell.column},
                             {"unit", unit_of(result, cell)},
                             {"mean", cell.missing > 0 ? Json() : Json(cell.value.mean)},
                             {"half_width", cell.value.known ? Json(cell.value.half_width) : Json()},
                             {"seeds", cell.seeds},
                             {"missing", cell.missing}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string to_table(const StudyResult& result, std::size_t width) {
  std::string text = fmt::format("{}\n{}\n\n", result.spec.title, result.spec.reference);
  text += fires_as_text(result);
  text += warnings_as_text(result, std::max<std::size_t>(width, 40));
  const std::size_t body = std::max<std::size_t>(width, 40) - 18;
  std::size_t reproduced = 0;
  std::size_t open = 0;
  std::size_t untested = 0;
  for (const ClaimResult& claim : result.claims) {
    reproduced += claim.verdict == ClaimVerdict::reproduced ? 1U : 0U;
    open += claim.verdict == ClaimVerdict::reproduced && claim.undecided > 0 ? 1U : 0U;
    untested += claim.verdict == ClaimVerdict::not_tested ? 1U : 0U;
    bool first = true;
    const auto put = [&](const std::string& prefix, const std::string& words) {
      bool start = true;
      for (const std::string& line : wrapped(words, body - prefix.size())) {
        text += fmt::format("{:<16}  {}{}\n", first ? to_string(claim.verdict) : "",
                            start ? prefix : std::string(prefix.size(), ' '), line);
        first = start = false;
      }
    };
    put("", claim.text + " (" + claim.section + ")");
    if (claim.verdict == ClaimVerdict::not_tested) {
      put("  ", claim.measured);
      continue;
    }
    put("  measured: ", claim.measured);
    if (!claim.note.empty()) put("  note: ", claim.note);
    if (!claim.expected && claim.verdict != ClaimVerdict::reproduced)
      put("  ", "(not expected to be reproduced everywhere)");
  }
  if (open > 0) {
    text += fmt::format(
        "\n{} of the claims that are reproduced {} undecided at some points: there the intervals allow both "
        "readings\n",
        open, open == 1 ? "is" : "are");
  }
  text += fmt::format("\n{} of {} claims reproduced{}; {} figure{}, {} runs, {:.1f} CPU seconds, state hash {}\n",
                      reproduced, result.claims.size() - untested,
                      untested > 0 ? fmt::format(", {} not tested", untested) : "", result.figures.size(),
                      result.figures.size() == 1 ? "" : "s", result.runs.size(), result.cpu_seconds(),
                      hex(result.state_hash()));
  return text;
}

std::string dump(const StudyResult& result) {
  Json json = {{"study", result.spec.name}, {"mode", to_string(result.mode)}, {"figures", Json::array()}};
  for (const FigureResult& figure : result.figures) {
    Json points = Json::array();
    for (const Point& point : figure.points) {
      Json axes = Json::array();
      for (const auto& [name, value] : point.axes) axes.push_back({name, value});
      points.push_back({{"series", point.series}, {"axes", axes}, {"run", point.run}});
    }
    json["figures"].push_back({{"id", figure.spec.id}, {"csv", figure.csv}, {"points", points}});
  }
  json["claims"] = Json::parse(to_json(result)).at("claims");
  json["runs"] = Json::array();
  for (api::Result run : result.runs) {
    // A study is read again for its charts and to be judged: no comparison with another run, no verification.
    run.checkpoints.clear();
    join_groups(run);
    json["runs"].push_back(Json::parse(api::to_json(run)));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

StudyResult load(std::string_view text) {
  const config::JsonFile file(std::string(text), kDumpFile, "a result of this program", "run the study again");
  file.require(dump_shape());
  try {
    return load_json(file.json());
  } catch (const ConfigError&) { throw; } catch (const std::exception& error) {
    throw ConfigError({kDumpFile, 0, 0, ""}, std::string("not a result of this program: ") + error.what(),
                      "run the study again");
  }
}

}  // namespace banyan::study
