#include "banyan/study/spec.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "banyan/base/error.hpp"
#include "banyan/config/toml_reader.hpp"
#include "banyan/config/units.hpp"

namespace banyan::study {
namespace {

using config::Entry;
using config::Node;

constexpr Mode kModes[] = {Mode::quick, Mode::standard, Mode::full};

std::vector<std::string> names_of_modes() {
  std::vector<std::string> names;
  for (const Mode mode : kModes) names.push_back(to_string(mode));
  return names;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const Node& as_table(const Node& node) {
  if (node.kind != Node::Kind::table) throw ConfigError(node.where, "not a table", "write a table of keys and values");
  return node;
}

const Node* find(const Node& table, std::string_view key) {
  const Entry* entry = table.find(key);
  return entry == nullptr ? nullptr : &entry->value;
}

/// The table of a key that may be absent: then one without entries.
const Node& table_or_empty(const Node& parent, std::string_view key) {
  static const Node empty;
  const Node* node = find(parent, key);
  return node == nullptr ? empty : as_table(*node);
}

void only(const Node& table, const std::vector<std::string>& known) {
  for (const Entry& entry : table.entries) {
    if (contains(known, entry.key)) continue;
    const std::string near = nearest_name(entry.key, known);
    throw ConfigError(entry.where, "unknown key", near.empty() ? "remove it" : "did you mean '" + near + "'?");
  }
}

std::string text(const Node& table, std::string_view key, std::optional<std::string> fallback = std::nullopt) {
  const Node* node = find(table, key);
  if (node == nullptr) {
    if (fallback) return *fallback;
    throw ConfigError(table.where, fmt::format("'{}' is missing", key), "give it a text");
  }
  if (node->kind != Node::Kind::text) throw ConfigError(node->where, "not a text", "write it in quotes");
  return node->text;
}

bool flag(const Node& table, std::string_view key) {
  const Node* node = find(table, key);
  if (node == nullptr) return false;
  if (node->kind != Node::Kind::boolean) throw ConfigError(node->where, "not a truth value", "write true or false");
  return node->flag;
}

std::string scalar(const Node& node) {
  if (node.kind == Node::Kind::array || node.kind == Node::Kind::table) {
    throw ConfigError(node.where, "not a plain value", "write a text, a number or a truth value");
  }
  return node.kind == Node::Kind::text ? node.text : config::to_text(node);
}

/// An array or one lone value, as texts.
std::vector<std::string> values(const Node& node) {
  if (node.kind != Node::Kind::array) return {scalar(node)};
  std::vector<std::string> result;
  for (const Node& item : node.items) result.push_back(scalar(item));
  return result;
}

std::vector<std::string> list(const Node& table, std::string_view key) {
  const Node* node = find(table, key);
  return node == nullptr ? std::vector<std::string>{} : values(*node);
}

double positive(const Node& table, std::string_view key) {
  const Node* node = find(table, key);
  if (node == nullptr) return 0.0;
  double value = 0.0;
  if (node->kind == Node::Kind::integer) value = static_cast<double>(node->integer);
  if (node->kind == Node::Kind::real) value = node->real;
  if (!(value > 0.0)) throw ConfigError(node->where, "not a number above 0", "write such a number, or leave it out");
  return value;
}

ModeSpec read_mode(const Node& table, const StudySpec& study) {
  only(table, {"set", "keep"});
  ModeSpec mode;
  if (const Node* set = find(table, "set")) mode.set = values(*set);
  for (const Entry& entry : table_or_empty(table, "keep").entries) {
    if (study.axis(entry.key) == nullptr) throw ConfigError(entry.where, "no such axis", "declare it in [axes]");
    mode.keep[entry.key] = values(entry.value);
  }
  return mode;
}

/// "switch.mark.low=4": what it is the value of.
std::string_view key_of(std::string_view override_text) { return override_text.substr(0, override_text.find('=')); }

/// `parameters` with other values. `search` is a list of tables; the keys of one table move together, and every
/// combination of the tables is a candidate.
std::vector<std::vector<std::string>> candidates(const Node* search, const std::vector<std::string>& parameters) {
  if (search == nullptr) return {};
  if (search->kind != Node::Kind::array) {
    throw ConfigError(search->where, "not a list of tables", "write search = [{ \"key\" = [value, value] }]");
  }
  std::vector<std::vector<std::string>> all{parameters};
  for (const Node& table : search->items) {
    std::vector<std::vector<std::string>> longer;
    const std::size_t lengths = as_table(table).entries.empty() ? 0 : values(table.entries.front().value).size();
    for (const std::vector<std::string>& base : all) {
      for (std::size_t i = 0; i < lengths; ++i) {
        std::vector<std::string> one = base;
        for (const Entry& entry : table.entries) {
          const std::vector<std::string> choices = values(entry.value);
          if (choices.size() != lengths) {
            throw ConfigError(entry.where, "has another number of values than the key before it",
                              "give one value of each key, or a table of its own to what moves alone");
          }
          const std::string chosen = entry.key + "=" + choices[i];
          const auto same_key = [&](const std::string& other) { return key_of(other) == entry.key; };
          const auto old = std::find_if(one.begin(), one.end(), same_key);
          if (old != one.end()) {
            *old = chosen;
          } else {
            one.push_back(chosen);
          }
        }
        longer.push_back(std::move(one));
      }
    }
    all = std::move(longer);
  }
  return all;
}

void read_names(const Node& root, StudySpec& study) {
  for (const Entry& entry : table_or_empty(root, "axes").entries) {
    const Node& table = as_table(entry.value);
    only(table, {"key", "label", "symbol", "unit"});
    study.axes.push_back({entry.key, text(table, "key"), text(table, "label", entry.key),
                          text(table, "symbol", entry.key), text(table, "unit", "")});
  }
  for (const Entry& entry : table_or_empty(root, "metrics").entries) {
    const Node& table = as_table(entry.value);
    only(table, {"label", "symbol", "unit"});
    study.metrics.push_back(
        {entry.key, text(table, "label", entry.key), text(table, "symbol", entry.key), text(table, "unit", "")});
  }
  for (const Entry& entry : table_or_empty(root, "series").entries) {
    const Node& table = as_table(entry.value);
    only(table, {"label", "set", "parameters", "search", "queues", "queues_per_output"});
    const std::vector<std::string> parameters = list(table, "parameters");
    study.series.push_back({entry.key,
                            text(table, "label", entry.key),
                            list(table, "set"),
                            parameters,
                            candidates(find(table, "search"), parameters),
                            {},
                            positive(table, "queues"),
                            positive(table, "queues_per_output")});
  }
}

/// Every name that a figure uses is declared.
void check_names(const Node& table, const FigureSpec& figure, const StudySpec& study) {
  const auto check = [&](const char* key, const std::vector<std::string>& names, const auto& known,
                         const char* remedy) {
    for (const std::string& name : names) {
      if (!known(name)) throw ConfigError(table.find(key)->where, "'" + name + "' is not declared", remedy);
    }
  };
  const auto axis = [&](const std::string& name) { return study.axis(name) != nullptr; };
  if (figure.x.empty() == figure.time_series.empty()) {
    throw ConfigError(table.where, "a figure has either x or time_series", "give exactly one of them");
  }
  if (!figure.x.empty()) check("x", {figure.x}, axis, "declare it in [axes]");
  if (!figure.over.empty()) {
    check("over", {figure.over}, axis, "declare it in [axes]");
    if (figure.x.empty() || !figure.fire.empty()) {
      throw ConfigError(table.find("over")->where, "a figure over time, or of a fire, shows no means over an axis",
                        "leave 'over' out");
    }
  }
  check("lines", figure.lines, axis, "declare it in [axes]");
  check("panels", figure.panels, axis, "declare it in [axes]");
  check(
      "series", figure.series, [&](const auto& name) { return study.find_series(name) != nullptr; },
      "declare it in [series]");
  check(
      "metrics", figure.metrics, [&](const auto& name) { return study.metric(name) != nullptr; },
      "declare it in [metrics]");
  check(
      "modes", list(table, "modes"), [](const auto& name) { return contains(names_of_modes(), name); },
      "use quick, default, full");
}

/// `cycle = "1 ns"` and `time_unit = "us"`: what a cycle lasts, and the unit to draw it in.
void read_time(const Node& table, FigureSpec& figure) {
  const Node* cycle = find(table, "cycle");
  figure.time_unit = text(table, "time_unit", "");
  if ((cycle == nullptr) != figure.time_unit.empty()) {
    throw ConfigError(table.where, "a figure in units of time needs both 'cycle' and 'time_unit'",
                      "write, for example, cycle = \"1 ns\" and time_unit = \"us\"");
  }
  if (cycle == nullptr) return;
  const auto lasts = config::parse_quantity(text(table, "cycle"));
  const auto scale = lasts && !lasts->unit.empty() ? config::convert(*lasts, figure.time_unit) : std::nullopt;
  if (!scale || !(*scale > 0.0)) {
    throw ConfigError(cycle->where, "is no time in " + figure.time_unit, "write a number and a unit, such as \"1 ns\"");
  }
  figure.time_scale = *scale;
}

/// `log_y = true`, or the names of those that it is for.
void read_log_y(const Node& table, FigureSpec& figure) {
  const Node* node = find(table, "log_y");
  if (node == nullptr) return;
  if (node->kind == Node::Kind::boolean) {
    figure.log_y = node->flag;
    return;
  }
  figure.log_y_names = values(*node);
  for (const std::string& name : figure.log_y_names) {
    if (contains(figure.metrics, name) || contains(figure.time_series, name)) continue;
    throw ConfigError(node->where, "'" + name + "' is drawn by no chart of this figure",
                      "write true, or names from its metrics or time_series");
  }
}

FigureSpec read_figure(const Node& table, const StudySpec& study) {
  only(table, {"id",     "title", "caption", "file",    "set",         "fire",    "x",         "lines",
               "panels", "over",  "series",  "metrics", "time_series", "cycle",   "time_unit", "log_x",
               "log_y",  "modes", "quick",   "default", "full",        "seconds", "ports"});
  FigureSpec figure;
  if (table.find("ports") != nullptr) figure.ports = positive(table, "ports");
  figure.seconds = positive(table, "seconds");
  figure.id = text(table, "id");
  figure.title = text(table, "title");
  figure.caption = text(table, "caption", "");
  figure.file = text(table, "file");
  figure.set = list(table, "set");
  figure.fire = text(table, "fire", "");
  figure.x = text(table, "x", "");
  figure.lines = list(table, "lines");
  figure.panels = list(table, "panels");
  figure.over = text(table, "over", "");
  figure.series = list(table, "series");
  figure.metrics = list(table, "metrics");
  figure.time_series = list(table, "time_series");
  read_time(table, figure);
  figure.log_x = flag(table, "log_x");
  read_log_y(table, figure);
  const std::vector<std::string> modes = table.find("modes") == nullptr ? names_of_modes() : list(table, "modes");
  for (const Mode mode : kModes) {
    if (contains(modes, to_string(mode))) figure.modes.push_back(mode);
    if (const Node* special = find(table, to_string(mode))) figure.special[mode] = read_mode(as_table(*special), study);
  }
  check_names(table, figure, study);
  return figure;
}

/// In place of "@name" in the arrays of a figure stands what [lists] has under the name.
void expand_lists(Node& figure, const Node& lists) {
  std::vector<std::string> known;
  for (const Entry& entry : lists.entries) known.push_back(entry.key);
  for (Entry& entry : figure.entries) {
    if (entry.value.kind != Node::Kind::array) continue;
    std::vector<Node> items;
    for (Node& item : entry.value.items) {
      if (item.kind != Node::Kind::text || item.text.empty() || item.text.front() != '@') {
        items.push_back(std::move(item));
        continue;
      }
      const std::string name = item.text.substr(1);
      const Node* named = find(lists, name);
      if (named == nullptr || named->kind != Node::Kind::array) {
        const std::string near = nearest_name(name, known);
        throw ConfigError(item.where, "there is no list '" + name + "'",
                          near.empty() ? "declare it in [lists]" : "did you mean '@" + near + "'?");
      }
      items.insert(items.end(), named->items.begin(), named->items.end());
    }
    entry.value.items = std::move(items);
  }
}

/// Adds a series "<name>_best" to the study and to the figures of the fires for which there is a set.
void add_best(const Entry& entry, StudySpec& study) {
  const SeriesSpec* const tuned = study.find_series(entry.key);
  if (tuned == nullptr) {
    std::vector<std::string> names;
    for (const SeriesSpec& series : study.series) names.push_back(series.name);
    const std::string near = nearest_name(entry.key, names);
    throw ConfigError(entry.where, "there is no series '" + entry.key + "'",
                      near.empty() ? "run the search again" : "did you mean '" + near + "'?");
  }
  SeriesSpec best = *tuned;
  best.name += "_best";
  best.label += ", best set for the fire";
  best.candidates.clear();
  for (const Entry& fire : as_table(entry.value).entries) {
    best.per_fire[fire.key] = values(fire.value);
    bool burns = false;
    for (FigureSpec& figure : study.figures) {
      if (figure.fire != fire.key || !figure.gives_table()) continue;
      const auto place = std::find(figure.series.begin(), figure.series.end(), entry.key);
      if (place == figure.series.end()) continue;
      figure.series.insert(place + 1, best.name);
      burns = true;
    }
    if (!burns) {
      throw ConfigError(fire.where,
                        fmt::format("'{}' has a set for '{}', on which it does not run", entry.key, fire.key),
                        "give the name of a figure's fire, or run the search again");
    }
  }
  study.series.push_back(std::move(best));
}

template <class Named>
const Named* by_name(const std::vector<Named>& entries, std::string_view name) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Named& e) { return e.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

std::optional<double> number(std::string_view digits) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string to_string(Mode mode) {
  switch (mode) {
    case Mode::quick:
      return "quick";
    case Mode::standard:
      return "default";
    case Mode::full:
      return "full";
  }
  return "";
}

bool FigureSpec::has_log_y(const std::string& metric_or_series) const {
  return log_y || contains(log_y_names, metric_or_series);
}

bool FigureSpec::gives_table() const { return !fire.empty() && time_series.empty(); }

const std::vector<std::string>& SeriesSpec::parameters_on(const std::string& fire) const {
  const auto best = per_fire.find(fire);
  return best == per_fire.end() ? parameters : best->second;
}

const AxisSpec* StudySpec::axis(std::string_view axis_name) const { return by_name(axes, axis_name); }

const AxisSpec* StudySpec::axis_of_key(std::string_view key) const {
  const auto found = std::find_if(axes.begin(), axes.end(), [&](const AxisSpec& a) { return a.key == key; });
  return found == axes.end() ? nullptr : &*found;
}

const MetricSpec* StudySpec::metric(std::string_view metric_name) const { return by_name(metrics, metric_name); }

const SeriesSpec* StudySpec::find_series(std::string_view series_name) const { return by_name(series, series_name); }

const FigureSpec* StudySpec::figure(std::string_view id) const {
  const auto found = std::find_if(figures.begin(), figures.end(), [&](const FigureSpec& f) { return f.id == id; });
  return found == figures.end() ? nullptr : &*found;
}

StudySpec parse_study(std::string_view content, std::string name, std::string_view best) {
  const Node root = config::read_toml_text(std::string(content), name + "/study.toml");
  only(root,
       {"title", "reference", "summary", "files", "axes", "metrics", "lists", "search", "series", "mode", "figure"});
  StudySpec study;
  study.name = std::move(name);
  study.title = text(root, "title");
  study.reference = text(root, "reference");
  study.summary = text(root, "summary", "");
  study.files = text(root, "files", "");
  read_names(root, study);
  const Node& modes = table_or_empty(root, "mode");
  only(modes, names_of_modes());
  for (const Mode mode : kModes) {
    if (const Node* table = find(modes, to_string(mode))) study.modes[mode] = read_mode(as_table(*table), study);
  }
  const Node& search = table_or_empty(root, "search");
  only(search, {"most", "least", "set"});
  study.search = {list(search, "most"), list(search, "least"), list(search, "set")};
  const Node& lists = table_or_empty(root, "lists");
  const Node* figures = find(root, "figure");
  if (figures == nullptr && !study.files.empty()) return study;
  if (figures == nullptr || figures->kind != Node::Kind::array) {
    throw ConfigError(root.where, "a study needs figures",
                      "write at least one [[figure]], or the files that it measures");
  }
  for (const Node& written : figures->items) {
    Node node = as_table(written);
    expand_lists(node, lists);
    FigureSpec figure = read_figure(node, study);
    if (study.figure(figure.id) != nullptr) {
      throw ConfigError(node.where, "figure '" + figure.id + "' is there twice", "rename one of them");
    }
    study.figures.push_back(std::move(figure));
  }
  const Node sets = config::read_toml_text(std::string(best), study.name + "/" + kBestFile);
  for (const Entry& entry : sets.entries) add_best(entry, study);
  return study;
}

std::string_view file_text(std::span<const EmbeddedFile> files, std::string_view name) {
  for (const EmbeddedFile& file : files) {
    if (file.name == name) return file.text;
  }
  std::vector<std::string> names;
  for (const EmbeddedFile& file : files) names.emplace_back(file.name);
  const std::string near = nearest_name(name, names);
  throw ConfigError({std::string(name), 0, 0, ""}, "the study has no such file",
                    near.empty() ? "add it to the study's folder" : "did you mean '" + near + "'?");
}

bool same_value(std::string_view a, std::string_view b) {
  const std::optional<double> x = number(a);
  const std::optional<double> y = number(b);
  return x && y ? *x == *y : a == b;
}

}  // namespace banyan::study
