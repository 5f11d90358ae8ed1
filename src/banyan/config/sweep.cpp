#include "banyan/config/sweep.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "banyan/config/resolve.hpp"
#include "banyan/config/units.hpp"
#include "banyan/config/value_names.hpp"

namespace banyan::config {
namespace {

constexpr const char* kForms = "write [a, b, c], { from = a, to = b, step = c } or { from = a, to = b, count = n }";

Where at(Where where, const std::string& key) {
  where.key = key;
  return where;
}

/// One end or the step of a range: a number, perhaps with a unit ("1 us").
Quantity range_number(const Node& table, const char* name, const std::string& key) {
  const Entry* entry = table.find(name);
  if (entry == nullptr) {
    throw ConfigError(at(table.where, key), fmt::format("the range has no \"{}\"", name), kForms);
  }
  const Node& node = entry->value;
  std::optional<Quantity> quantity;
  if (node.kind == Node::Kind::integer) quantity = Quantity{static_cast<double>(node.integer), node.integer, ""};
  if (node.kind == Node::Kind::real) quantity = Quantity{node.real, std::nullopt, ""};
  if (node.kind == Node::Kind::text) quantity = parse_quantity(node.text);
  if (!quantity || !std::isfinite(quantity->number)) {
    throw ConfigError(at(node.where, key), fmt::format("\"{}\" of the range is {}, not a number", name, to_text(node)),
                      kForms);
  }
  return *quantity;
}

/// 0.1 + 2 x 0.1 is meant to be 0.3: the nearest number of 12 digits.
double rounded(double value) { return std::strtod(fmt::format("{:.12g}", value).c_str(), nullptr); }

Node range_value(double value, bool whole, const std::string& unit, const Where& where) {
  if (!unit.empty()) return Node::of(fmt::format("{} {}", value, unit), where);
  if (whole) return Node::of(static_cast<i64>(std::llround(value)), where);
  return Node::of(value, where);
}

struct Range {
  Quantity from;
  Quantity to;
  double step = 0.0;
  std::size_t count = 0;
  bool whole = false;
};

void require_same_unit(const Quantity& a, const Quantity& b, const Where& where) {
  if (a.unit == b.unit) return;
  throw ConfigError(where, fmt::format("the range mixes the units \"{}\" and \"{}\"", a.unit, b.unit),
                    "write from, to and step in one unit");
}

[[noreturn]] void endless_range(const Range& range, const Where& where) {
  const bool towards = range.step * (range.to.number - range.from.number) > 0.0;
  throw ConfigError(where,
                    fmt::format("a step of {} {} from {} to {}", range.step,
                                towards ? "takes too many values" : "never leads", range.from.number, range.to.number),
                    "give the step the sign of to - from, and at most 100000 values");
}

void count_steps(Range& range, const Quantity& step, const Where& where) {
  require_same_unit(range.from, step, where);
  range.step = step.number;
  range.whole = range.from.whole && step.whole;
  const double span = range.to.number - range.from.number;
  // The last value counts when it is `to` up to rounding.
  const double steps = span == 0.0 ? 0.0 : std::floor(span / step.number + 1e-9);
  if (!(steps >= 0.0) || steps >= static_cast<double>(kMostPoints)) endless_range(range, where);
  range.count = static_cast<std::size_t>(steps) + 1;
}

void divide_span(Range& range, const Quantity& count, const Where& where) {
  if (!count.whole || *count.whole < 1 || *count.whole > static_cast<i64>(kMostPoints) || !count.unit.empty()) {
    throw ConfigError(where, fmt::format("count = {} is no number of values", count.number), "give count at least 1");
  }
  range.count = static_cast<std::size_t>(*count.whole);
  const double span = range.to.number - range.from.number;
  if (range.count > 1) range.step = span / static_cast<double>(range.count - 1);
  range.whole = range.from.whole && range.to.whole && range.step == std::round(range.step);
}

void require_known_keys(const Node& table, const std::string& key) {
  const std::vector<std::string> known{"from", "to", "step", "count"};
  for (const Entry& entry : table.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    throw ConfigError(at(entry.where, key), fmt::format("a range has no \"{}\"", entry.key),
                      suggestion(entry.key, known, "it has"));
  }
}

std::vector<Node> range_values(const Node& table, const std::string& key) {
  require_known_keys(table, key);
  const Where where = at(table.where, key);
  Range range{range_number(table, "from", key), range_number(table, "to", key)};
  require_same_unit(range.from, range.to, where);
  const bool has_count = table.find("count") != nullptr;
  if (has_count == (table.find("step") != nullptr)) {
    throw ConfigError(where, "a range needs either a step or a count", kForms);
  }
  if (has_count) {
    divide_span(range, range_number(table, "count", key), where);
  } else {
    count_steps(range, range_number(table, "step", key), where);
  }
  std::vector<Node> values;
  for (std::size_t i = 0; i < range.count; ++i) {
    const double value = rounded(range.from.number + static_cast<double>(i) * range.step);
    values.push_back(range_value(value, range.whole, range.from.unit, where));
  }
  return values;
}

bool is_range(const Node& node) {
  return node.kind == Node::Kind::table && (node.find("from") != nullptr || node.find("to") != nullptr);
}

/// Keys may be quoted ("switch.buffer") or dotted (switch.buffer, which TOML reads as tables): both mean the same.
void collect(const Node& table, const std::string& prefix, std::vector<Axis>& axes) {
  for (const Entry& entry : table.entries) {
    const std::string key = prefix.empty() ? entry.key : prefix + "." + entry.key;
    if (prefix.empty() && (entry.key == "zip" || entry.key == "names")) continue;
    if (entry.value.kind == Node::Kind::table && !is_range(entry.value) && !entry.value.entries.empty()) {
      collect(entry.value, key, axes);
      continue;
    }
    Axis axis{{key}, {at(entry.where, "sweep." + key)}, {}, {}, false};
    for (Node& value : read_axis_values(entry.value, "sweep." + key)) axis.values.push_back({std::move(value)});
    axes.push_back(std::move(axis));
  }
}

[[noreturn]] void bad_zip(const Where& where) {
  throw ConfigError(at(where, "sweep.zip"), "zip is a list of lists of swept keys",
                    "write zip = [[\"first.key\", \"second.key\"]]");
}

std::vector<Axis>::iterator find_axis(std::vector<Axis>& axes, const std::string& key) {
  return std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.keys.front() == key; });
}

Axis take_axis(std::vector<Axis>& axes, const Node& name) {
  if (name.kind != Node::Kind::text) bad_zip(name.where);
  const auto found = find_axis(axes, name.text);
  if (found == axes.end()) {
    std::vector<std::string> keys;
    for (const Axis& axis : axes) keys.push_back(axis.keys.front());
    throw ConfigError(at(name.where, "sweep.zip"), fmt::format("\"{}\" is not swept (or linked twice)", name.text),
                      suggestion(name.text, keys, "swept keys:"));
  }
  Axis axis = std::move(*found);
  axes.erase(found);
  return axis;
}

void append_linked(Axis& head, const Axis& other) {
  if (other.values.size() != head.values.size()) {
    throw ConfigError(other.places.front(),
                      fmt::format("has {} values, but {}, which moves together with it, has {}", other.values.size(),
                                  head.keys.front(), head.values.size()),
                      "give linked keys equally many values");
  }
  head.keys.push_back(other.keys.front());
  head.places.push_back(other.places.front());
  for (std::size_t i = 0; i < head.values.size(); ++i) head.values[i].push_back(other.values[i].front());
}

void link(std::vector<Axis>& axes, const Node& group) {
  if (group.kind != Node::Kind::array || group.items.empty()) bad_zip(group.where);
  // Taking and re-inserting keeps the place of the axis that stands first in the file.
  std::size_t position = axes.size();
  for (const Node& name : group.items) {
    if (name.kind != Node::Kind::text) bad_zip(name.where);
    position = std::min(position, static_cast<std::size_t>(find_axis(axes, name.text) - axes.begin()));
  }
  Axis head = take_axis(axes, group.items.front());
  for (std::size_t i = 1; i < group.items.size(); ++i) append_linked(head, take_axis(axes, group.items[i]));
  position = std::min(position, axes.size());
  axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(position), std::move(head));
}

constexpr const char* kNamesForm =
    "write names = [\"first\", \"second\"] with one axis, names = { \"switch.buffer\" = [\"first\", \"second\"] } with "
    "several";

void give_names(Axis& axis, const Node& list) {
  const Where where = at(list.where, "sweep.names");
  const auto is_text = [](const Node& item) { return item.kind == Node::Kind::text && !item.text.empty(); };
  if (list.kind != Node::Kind::array || !std::all_of(list.items.begin(), list.items.end(), is_text)) {
    throw ConfigError(where, "names are a list of texts", kNamesForm);
  }
  if (list.items.size() != axis.values.size()) {
    throw ConfigError(
        where, fmt::format("{} names for {} values of {}", list.items.size(), axis.values.size(), axis.keys.front()),
        "give every value one name");
  }
  axis.names.clear();
  for (const Node& item : list.items) {
    if (std::find(axis.names.begin(), axis.names.end(), item.text) != axis.names.end()) {
      throw ConfigError(at(item.where, "sweep.names"),
                        fmt::format("\"{}\" names two values of {}", item.text, axis.keys.front()),
                        "give every value a name of its own");
    }
    axis.names.push_back(item.text);
  }
  axis.named = true;
}

void read_names(std::vector<Axis>& axes, const Node& table) {
  const Entry* names = table.find("names");
  if (names == nullptr) return;
  const Where where = at(names->where, "sweep.names");
  if (names->value.kind != Node::Kind::table) {
    if (axes.size() != 1) {
      throw ConfigError(where, fmt::format("one list of names for {} axes", axes.size()), kNamesForm);
    }
    give_names(axes.front(), names->value);
    return;
  }
  for (const Entry& entry : names->value.entries) {
    const auto has_key = [&](const Axis& axis) {
      return std::find(axis.keys.begin(), axis.keys.end(), entry.key) != axis.keys.end();
    };
    const auto axis = std::find_if(axes.begin(), axes.end(), has_key);
    if (axis == axes.end()) {
      std::vector<std::string> keys;
      for (const Axis& swept : axes) keys.insert(keys.end(), swept.keys.begin(), swept.keys.end());
      throw ConfigError(at(entry.where, "sweep.names"), fmt::format("\"{}\" is not swept", entry.key),
                        suggestion(entry.key, keys, "swept keys:"));
    }
    give_names(*axis, entry.value);
  }
}

}  // namespace

void make_names(Axis& axis) {
  if (axis.named) return;
  const std::size_t places = axis.values.size();
  axis.names.assign(places, "");
  for (std::size_t k = 0; k < axis.keys.size(); ++k) {
    std::vector<Node> column;
    for (const std::vector<Node>& values : axis.values) column.push_back(values[k]);
    const std::vector<std::string> names = value_names(column);
    const bool distinct = [&] {
      std::vector<std::string> sorted = names;
      std::sort(sorted.begin(), sorted.end());
      return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
    }();
    if (distinct) {
      axis.names = names;
      return;
    }
    for (std::size_t i = 0; i < places; ++i) axis.names[i] += (k == 0 ? "" : ", ") + names[i];
  }
}

std::vector<std::string> short_names(const std::vector<std::string>& keys) {
  std::vector<std::string> names;
  for (const std::string& key : keys) {
    std::size_t dot = key.rfind('.');
    const auto ambiguous = [&] {
      const std::string end = key.substr(dot == std::string::npos ? 0 : dot);
      return std::any_of(keys.begin(), keys.end(),
                         [&](const std::string& other) { return other != key && ("." + other).ends_with(end); });
    };
    while (dot != std::string::npos && dot > 0 && ambiguous()) dot = key.rfind('.', dot - 1);
    names.push_back(dot == std::string::npos ? key : key.substr(dot + 1));
  }
  return names;
}

std::string label_of(const Axis& axis, std::size_t place, const std::string& short_name) {
  const std::string& name = axis.names[place];
  const Node& value = axis.values[place].front();
  const bool speaks = axis.named || value.kind == Node::Kind::text || value.kind == Node::Kind::table ||
                      value.kind == Node::Kind::array || axis.keys.size() > 1;
  // "1 us" is a text of the file and a number to its reader.
  const bool quantity =
      value.kind == Node::Kind::text && value.text.find(' ') != std::string::npos && parse_quantity(value.text);
  if (axis.named || (speaks && !quantity)) return name;
  return short_name + " = " + name;
}

std::vector<Node> read_axis_values(const Node& node, const std::string& key) {
  if (is_range(node)) return range_values(node, key);
  if (node.kind != Node::Kind::array) {
    throw ConfigError(at(node.where, key), fmt::format("{} is not an axis of values", to_text(node)), kForms);
  }
  if (node.items.empty()) throw ConfigError(at(node.where, key), "the axis has no values", kForms);
  return node.items;
}

std::vector<Axis> read_sweep(const Node& table) {
  if (table.kind != Node::Kind::table) {
    throw ConfigError(at(table.where, "sweep"), "sweep is a table of keys and their values", kForms);
  }
  std::vector<Axis> axes;
  collect(table, "", axes);
  const auto first_place = [](const Axis& axis) {
    return std::pair(axis.places.front().line, axis.places.front().column);
  };
  std::stable_sort(axes.begin(), axes.end(),
                   [&](const Axis& a, const Axis& b) { return first_place(a) < first_place(b); });
  if (const Entry* zip = table.find("zip")) {
    if (zip->value.kind != Node::Kind::array) bad_zip(zip->where);
    for (const Node& group : zip->value.items) link(axes, group);
  }
  read_names(axes, table);
  return axes;
}

std::vector<std::vector<std::size_t>> product(const std::vector<std::size_t>& lengths) {
  std::vector<std::vector<std::size_t>> points{{}};
  for (const std::size_t length : lengths) {
    std::vector<std::vector<std::size_t>> longer;
    longer.reserve(points.size() * length);
    for (const auto& point : points) {
      for (std::size_t i = 0; i < length; ++i) {
        longer.push_back(point);
        longer.back().push_back(i);
      }
    }
    points = std::move(longer);
  }
  return points;
}

}  // namespace banyan::config
