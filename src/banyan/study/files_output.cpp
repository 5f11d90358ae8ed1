// What a study of files said, written down and read again.
#include <nlohmann/json.hpp>

#include "banyan/base/error.hpp"
#include "banyan/config/json_file.hpp"
#include "banyan/study/study.hpp"

namespace banyan::study {
namespace files_output {
namespace {

using Json = nlohmann::ordered_json;
using config::JsonShape;
using Pairs = std::vector<std::pair<std::string, std::string>>;

const JsonShape& shape() {
  static const JsonShape made = [] {
    const JsonShape text = JsonShape::text();
    const JsonShape texts = JsonShape::list_of(text);
    const JsonShape pairs = JsonShape::list_of(JsonShape::list_of(text, 2));
    const JsonShape dot = JsonShape::object({{"x", JsonShape::number()}, {"y", JsonShape::number()}, {"name", text}});
    const JsonShape series = JsonShape::object({{"label", text}, {"dots", JsonShape::list_of(dot)}});
    const JsonShape figure =
        JsonShape::object({{"id", text},
                           {"title", text},
                           {"caption", text},
                           {"x_label", text},
                           {"y_label", text},
                           {"unit", text},
                           {"scatter", JsonShape::list_of(series)},
                           {"columns", texts},
                           {"rows", JsonShape::list_of(JsonShape::list_of(JsonShape::anything()))}});
    return JsonShape::object({{"study", text},
                              {"measured", text},
                              {"table", text},
                              {"tiles", pairs},
                              {"provenance", pairs},
                              {"figures", JsonShape::list_of(figure)}});
  }();
  return made;
}

Json to_json(const FilesFigure& figure) {
  Json json = {{"id", figure.id},           {"title", figure.title},
               {"caption", figure.caption}, {"x_label", figure.x_label},
               {"y_label", figure.y_label}, {"unit", figure.unit},
               {"scatter", Json::array()},  {"columns", figure.values.columns},
               {"rows", Json::array()}};
  for (const FilesFigure::Series& series : figure.scatter) {
    Json dots = Json::array();
    for (const FilesFigure::Dot& dot : series.dots) dots.push_back({{"x", dot.x}, {"y", dot.y}, {"name", dot.name}});
    json["scatter"].push_back({{"label", series.label}, {"dots", std::move(dots)}});
  }
  for (const std::vector<api::Table::Cell>& row : figure.values.rows) {
    Json cells = Json::array();
    for (const api::Table::Cell& cell : row) std::visit([&](const auto& value) { cells.push_back(value); }, cell);
    json["rows"].push_back(std::move(cells));
  }
  return json;
}

api::Table::Cell cell_from(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_unsigned()) return json.get<u64>();
  return json.get<double>();
}

FilesFigure figure_from(const Json& json) {
  FilesFigure figure{json.at("id"),
                     json.at("title"),
                     json.at("caption"),
                     json.at("x_label"),
                     json.at("y_label"),
                     json.at("unit"),
                     {},
                     {}};
  for (const Json& series : json.at("scatter")) {
    FilesFigure::Series& made = figure.scatter.emplace_back(FilesFigure::Series{series.at("label"), {}});
    for (const Json& dot : series.at("dots")) made.dots.push_back({dot.at("x"), dot.at("y"), dot.at("name")});
  }
  figure.values = {figure.id, json.at("columns").get<std::vector<std::string>>(), {}};
  for (const Json& row : json.at("rows")) {
    if (row.size() != figure.values.columns.size())
      throw std::invalid_argument("a row that is not as long as its table");
    std::vector<api::Table::Cell>& cells = figure.values.rows.emplace_back();
    for (const Json& cell : row) cells.push_back(cell_from(cell));
  }
  return figure;
}

}  // namespace
}  // namespace files_output

std::string dump(const StudySpec& spec, const FilesResult& result) {
  files_output::Json json = {
      {"study", spec.name},    {"measured", result.json},         {"table", result.table},
      {"tiles", result.tiles}, {"provenance", result.provenance}, {"figures", files_output::Json::array()}};
  for (const FilesFigure& figure : result.figures) json["figures"].push_back(files_output::to_json(figure));
  return json.dump(1, ' ', false, files_output::Json::error_handler_t::replace);
}

std::optional<MeasuredFiles> load_files(std::string_view text) {
  const config::JsonFile file(std::string(text), kDumpFile, "a result of this program", "run the study again");
  const files_output::Json& json = file.json();
  if (!json.is_object() || !json.contains("measured")) return std::nullopt;
  file.require(files_output::shape());
  try {
    MeasuredFiles loaded{spec_of(find_study(json.at("study").get<std::string>())),
                         {json.at("table"),
                          json.at("measured"),
                          json.at("tiles").get<files_output::Pairs>(),
                          {},
                          json.at("provenance").get<files_output::Pairs>(),
                          {}}};
    for (const files_output::Json& figure : json.at("figures"))
      loaded.result.figures.push_back(files_output::figure_from(figure));
    return loaded;
  } catch (const ConfigError&) { throw; } catch (const std::exception& error) {
    throw ConfigError({kDumpFile, 0, 0, ""}, std::string("not a result of this program: ") + error.what(),
                      "run the study again");
  }
}

}  // namespace banyan::study
