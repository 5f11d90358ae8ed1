#include "banyan/config/resolve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <utility>
#include <variant>

#include "banyan/config/units.hpp"

namespace banyan::config {
namespace {

/// Integers up to here are exact as doubles.
constexpr double kExact = 9007199254740992.0;

/// Beside a near name, a list longer than this only hides it.
constexpr std::size_t kListed = 12;      ///< beside the nearest
constexpr std::size_t kMostListed = 40;  ///< where none is near: what is read at a glance

std::string with_unit(const Parameter& parameter) {
  const std::string type = type_text(parameter);
  return parameter.unit_name.empty() ? type : fmt::format("{} in {}", type, parameter.unit_name);
}

/// What a line of an error message has room for.
std::string excerpt(const Node& node) {
  constexpr std::size_t kMost = 60;
  const std::string text = to_text(node);
  if (text.size() <= kMost) return text;
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;  // within a character of UTF-8
  return text.substr(0, end) + "...";
}

[[noreturn]] void wrong_type(const Node& node, const Parameter& parameter, const Where& where) {
  throw ConfigError(
      where,
      fmt::format("{} is {}, but {} is {}", excerpt(node), node.kind_name(), parameter.name, with_unit(parameter)),
      fmt::format("give {} {}{}", parameter.name, with_unit(parameter),
                  node.kind == Node::Kind::array ? "; several values of it belong under [sweep]" : ""));
}

bool whole_type(const Parameter& parameter) {
  return parameter.type == Type::integer || parameter.type == Type::integers;
}

[[noreturn]] void wrong_unit(const Quantity& quantity, const Parameter& parameter, const Where& where) {
  std::vector<std::string> fitting = fitting_units(parameter.unit_name);
  if (parameter.unit_name.empty() && whole_type(parameter)) fitting.clear();
  const std::string takes =
      parameter.unit_name.empty() ? "is a pure number" : fmt::format("is in {}", parameter.unit_name);
  std::string remedy = fitting.empty() ? "write the number alone"
                                       : fmt::format("write the number alone, or use {}", fmt::join(fitting, ", "));
  const auto also = [&](const char* given, const char* what, std::string_view physical) {
    const std::vector<std::string> units = fitting_units(physical);
    remedy += fmt::format("; with {} {} fit too ({})", given, what, fmt::join(units, ", "));
    fitting.insert(fitting.end(), units.begin(), units.end());
  };
  if (parameter.unit_name == "cycles") {
    also("the length of a cycle (run.cycle_time)", "times", "ns");
  } else if (parameter.unit_name == "flits") {
    also("the size of a flit (run.flit)", "bytes", "B");
  } else if (parameter.unit_name == "flits/cycle") {
    also("the length of a cycle (run.cycle_time) and the size of a flit (run.flit)", "rates", "bytes/ns");
  }
  // Who gives a time for a rate has not mistyped it.
  const bool known = fitting_units(quantity.unit).size() > 1;
  const std::string near = known ? "" : nearest_name(quantity.unit, fitting);
  throw ConfigError(where, fmt::format("unit \"{}\" does not fit: {} {}", quantity.unit, parameter.name, takes),
                    near.empty() ? remedy : fmt::format("{}; did you mean \"{}\"?", remedy, near));
}

Quantity quantity_of(const Node& node, const Parameter& parameter, const Where& where) {
  if (node.kind == Node::Kind::integer) return {static_cast<double>(node.integer), node.integer, ""};
  if (node.kind == Node::Kind::real) return {node.real, std::nullopt, ""};
  if (node.kind == Node::Kind::text) {
    if (std::optional<Quantity> quantity = parse_quantity(node.text)) return *quantity;
  }
  wrong_type(node, parameter, where);
}

double converted(const Quantity& quantity, const Parameter& parameter, const Where& where) {
  const bool share_of_integer = parameter.unit_name.empty() && whole_type(parameter) && !quantity.unit.empty();
  const std::optional<double> value = convert(quantity, parameter.unit_name);
  if (!value || share_of_integer) wrong_unit(quantity, parameter, where);
  return *value;
}

void check_range(double value, const std::string& written, const Parameter& parameter, const Where& where) {
  const bool low_ok = parameter.low_open ? value > parameter.low : value >= parameter.low;
  const bool high_ok = parameter.high_open ? value < parameter.high : value <= parameter.high;
  if (low_ok && high_ok) return;
  const std::string unit = parameter.unit_name.empty() ? "" : " " + parameter.unit_name;
  throw ConfigError(where, fmt::format("{} is out of range", written),
                    fmt::format("give {} a value in the range {}{}", parameter.name, range_text(parameter), unit));
}

i64 as_integer(const Node& node, const Parameter& parameter, const Where& where) {
  const Quantity quantity = quantity_of(node, parameter, where);
  const double value = converted(quantity, parameter, where);
  const bool unchanged = quantity.whole && static_cast<double>(*quantity.whole) == value;
  // A conversion may leave the last bit off (0.3 us in ps): that close to a whole number, it is one.
  const double rounded = std::round(value);
  const bool is_whole = std::abs(value - rounded) <= 1e-9 * std::abs(rounded);
  if (!unchanged && !(is_whole && std::abs(rounded) <= kExact)) {
    throw ConfigError(where,
                      fmt::format("{} is {}, but {} is {}", excerpt(node),
                                  is_whole ? "too large" : "not a whole number", parameter.name, with_unit(parameter)),
                      fmt::format("give {} a whole number{}", parameter.name, is_whole ? " of at most 2^53 - 1" : ""));
  }
  check_range(unchanged ? value : rounded, to_text(node), parameter, where);
  return unchanged ? *quantity.whole : static_cast<i64>(rounded);
}

double as_real(const Node& node, const Parameter& parameter, const Where& where) {
  const double value = converted(quantity_of(node, parameter, where), parameter, where);
  if (!std::isfinite(value)) {
    throw ConfigError(where, fmt::format("{} is not finite", to_text(node)),
                      fmt::format("give {} a finite number", parameter.name));
  }
  check_range(value, to_text(node), parameter, where);
  return value;
}

std::string as_text(const Node& node, const Parameter& parameter, const Where& where) {
  if (node.kind == Node::Kind::text) return node.text;
  // On the command line nothing tells the word 4 from the number 4.
  if (!node.raw.empty() && node.kind != Node::Kind::array && node.kind != Node::Kind::table) return node.raw;
  wrong_type(node, parameter, where);
}

std::string as_choice(const Node& node, const Parameter& parameter, const Where& where) {
  std::string text = as_text(node, parameter, where);
  if (std::find(parameter.choices.begin(), parameter.choices.end(), text) != parameter.choices.end()) return text;
  throw ConfigError(where, fmt::format("\"{}\" is not a value of {}", text, parameter.name),
                    suggestion(text, parameter.choices, "it is one of"));
}

template <typename T, typename Convert>
std::vector<T> as_list(const Node& node, const Parameter& parameter, const Where& where, Convert convert_one) {
  if (node.kind != Node::Kind::array) return {convert_one(node, parameter, where)};
  std::vector<T> list;
  for (const Node& item : node.items) {
    Where item_where = item.where;
    item_where.key = where.key;
    list.push_back(convert_one(item, parameter, item_where));
  }
  return list;
}

bool as_flag(const Node& node, const Parameter& parameter, const Where& where) {
  if (node.kind != Node::Kind::boolean) wrong_type(node, parameter, where);
  return node.flag;
}

std::vector<std::string> parameter_names(const ComponentInfo& info) {
  std::vector<std::string> names;
  for (const Parameter& parameter : info.parameters) names.push_back(parameter.name);
  return names;
}

[[noreturn]] void unknown_key(const Entry& entry, const ComponentInfo& info, const Where& where) {
  const std::vector<std::string> names = parameter_names(info);
  throw ConfigError(where, fmt::format("{} has no parameter \"{}\"", info.name, entry.key),
                    names.empty() ? fmt::format("remove it: {} takes no parameters", info.name)
                                  : suggestion(entry.key, names, fmt::format("{} takes", info.name)));
}

std::string join_path(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

/// A path of an experiment as it is opened: from the folder of the file that gives it, or, where nothing is there, from
/// the current folder.
std::string located(const std::string& path, const std::string& given_in) {
  namespace fs = std::filesystem;
  if (!fs::path(path).is_relative()) return path;
  const fs::path beside = fs::path(given_in).parent_path() / path;
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::exists(beside, ignored) ? path : beside.lexically_normal().string();
}

/// Finds the files that the values name.
void locate_files(Values& values, const ComponentInfo& info) {
  for (const Parameter& parameter : info.parameters) {
    if (!parameter.names_file) continue;
    const std::string& path = values.text(parameter.name);
    const bool word = std::ranges::find(parameter.words, path) != parameter.words.end();
    if (path.empty() || word) continue;
    const Where where = values.where(parameter.name);
    values.set(parameter.name, located(path, where.file), where, values.given(parameter.name));
    values.add_file(parameter.name);
  }
}

}  // namespace

Value resolve_value(const Node& node, const Parameter& parameter, const Where& where) {
  switch (parameter.type) {
    case Type::boolean:
      return as_flag(node, parameter, where);
    case Type::integer:
      return as_integer(node, parameter, where);
    case Type::real:
      return as_real(node, parameter, where);
    case Type::text:
      return as_text(node, parameter, where);
    case Type::choice:
      return as_choice(node, parameter, where);
    case Type::integers:
      return as_list<i64>(node, parameter, where, as_integer);
    case Type::reals:
      return as_list<double>(node, parameter, where, as_real);
    case Type::texts:
      return as_list<std::string>(node, parameter, where, parameter.choices.empty() ? as_text : as_choice);
  }
  throw std::logic_error("unknown parameter type");
}

Values resolve(const std::vector<Entry>& entries, const ComponentInfo& info, const Where& where) {
  Values values(info.name, where);
  for (const Entry& entry : entries) {
    Where place = entry.where;
    place.key = join_path(where.key, entry.key);
    const Parameter* parameter = find_parameter(info, entry.key);
    if (parameter == nullptr) unknown_key(entry, info, place);
    Where value_place = entry.value.where;
    value_place.key = place.key;
    values.set(parameter->name, resolve_value(entry.value, *parameter, value_place), value_place, true);
  }
  for (const Parameter& parameter : info.parameters) {
    if (values.all().contains(parameter.name)) continue;
    const Where place{where.file, where.line, where.column, join_path(where.key, parameter.name)};
    if (!parameter.fallback) {
      throw ConfigError(place, fmt::format("missing, and {} has no default for it", info.name),
                        fmt::format("give {} a value ({})", parameter.name, with_unit(parameter)));
    }
    values.set(parameter.name, *parameter.fallback, place, false);
  }
  locate_files(values, info);
  return values;
}

const Parameter* find_parameter(const ComponentInfo& info, std::string_view name) {
  const auto found = std::find_if(info.parameters.begin(), info.parameters.end(),
                                  [&](const Parameter& parameter) { return parameter.name == name; });
  return found == info.parameters.end() ? nullptr : &*found;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates, std::string_view lead) {
  const std::string near = nearest_name(name, candidates);
  const std::string all = fmt::format("{} {}", lead, fmt::join(candidates, ", "));
  if (near.empty() && candidates.size() > kMostListed) {
    return fmt::format("{} {} others (banyan describe NAME lists the keys of a component)", lead, candidates.size());
  }
  if (near.empty()) return all;
  return candidates.size() > kListed ? fmt::format("did you mean \"{}\"?", near)
                                     : fmt::format("did you mean \"{}\"? ({})", near, all);
}

std::string type_text(const Parameter& parameter) {
  switch (parameter.type) {
    case Type::boolean:
      return "true or false";
    case Type::integer:
      return "a whole number";
    case Type::real:
      return "a number";
    case Type::text:
      return "a text";
    case Type::choice:
      return fmt::format("one of {}", fmt::join(parameter.choices, ", "));
    case Type::integers:
      return "whole numbers";
    case Type::reals:
      return "numbers";
    case Type::texts:
      break;
  }
  return parameter.choices.empty() ? "texts" : fmt::format("some of {}", fmt::join(parameter.choices, ", "));
}

std::string in_flight_text(const Parameter& parameter) {
  switch (parameter.changes_in_flight) {
    case InFlight::yes:
      return "may change in flight";
    case InFlight::growing:
      return "may grow in flight";
    case InFlight::above_0:
      return "may change in flight, but not from or to 0";
    default:
      return "";
  }
}

std::string range_text(const Parameter& parameter) {
  const bool has_low = std::isfinite(parameter.low);
  const bool has_high = std::isfinite(parameter.high);
  const std::string low = fmt::format("{} {}", parameter.low_open ? "above" : "from", parameter.low);
  const std::string high = fmt::format("{} {}", parameter.high_open ? "below" : "up to", parameter.high);
  if (has_low && has_high) return low + " " + high;
  if (has_low) return low;
  return has_high ? high : "";
}

namespace {

template <typename T>
std::string list_text(const std::vector<T>& list) {
  return fmt::format("[{}]", fmt::join(list, ", "));
}

struct ValueText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(i64 value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const std::vector<i64>& value) const { return list_text(value); }
  std::string operator()(const std::vector<double>& value) const { return list_text(value); }
  std::string operator()(const std::vector<std::string>& value) const { return list_text(value); }
};

}  // namespace

std::string to_text(const Value& value) { return std::visit(ValueText{}, value); }

std::string conditions_text(const Parameter& parameter) {
  std::vector<std::string> texts;
  for (const Condition& condition : parameter.conditions) {
    std::vector<std::string> values;
    for (const std::string& value : condition.values) values.push_back(value.empty() ? "\"\"" : value);
    if (values.empty()) {
      texts.push_back(condition.name);
    } else {
      const std::string last = values.back();
      values.pop_back();
      texts.push_back(
          fmt::format("{} = {}{}{}", condition.name, fmt::join(values, ", "), values.empty() ? "" : " or ", last));
    }
  }
  return texts.empty() ? "" : fmt::format("only with {}", fmt::join(texts, " or "));
}

bool has_meaning(const Parameter& parameter, const Values& values, const ComponentInfo& info) {
  const auto holds = [&](const Condition& condition) {
    if (find_parameter(info, condition.name) == nullptr) {
      throw std::logic_error(
          fmt::format("{}.{} asks for {}, which is none of its parameters", info.name, parameter.name, condition.name));
    }
    const std::string value = to_text(values.all().find(condition.name)->second);
    if (!condition.values.empty()) return std::ranges::find(condition.values, value) != condition.values.end();
    return !value.empty() && value != "0" && value != "false" && value != "[]";
  };
  return parameter.conditions.empty() || std::ranges::any_of(parameter.conditions, holds);
}

std::string default_text(const Parameter& parameter) {
  if (!parameter.fallback) return "required";
  const std::string text = to_text(*parameter.fallback);
  if (text.empty()) return "\"\"";
  return parameter.unit_name.empty() ? text : text + " " + parameter.unit_name;
}

void change(Values& values, const ComponentInfo& info, const std::string& name, const Value& value) {
  const Parameter* const parameter = find_parameter(info, name);
  if (parameter == nullptr) throw std::logic_error(fmt::format("{} declares no parameter {}", info.name, name));
  const Where where = values.where(name);
  if (const i64* const whole = std::get_if<i64>(&value)) {
    check_range(static_cast<double>(*whole), fmt::format("{}", *whole), *parameter, where);
  } else if (const double* const real = std::get_if<double>(&value)) {
    check_range(*real, fmt::format("{}", *real), *parameter, where);
  }
  values.set(name, value, where);
}

}  // namespace banyan::config
