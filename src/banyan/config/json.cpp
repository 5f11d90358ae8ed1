#include "banyan/config/json.hpp"

#include <cmath>

#include "banyan/config/resolve.hpp"

namespace banyan::config {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Bounds as JSON Schema spells them; whole bounds are printed as integers.
ordered_json bound(double value) {
  if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<i64>(value);
  return value;
}

ordered_json number_schema(const Parameter& parameter, bool whole) {
  ordered_json number;
  number["type"] = whole ? "integer" : "number";
  if (std::isfinite(parameter.low)) number[parameter.low_open ? "exclusiveMinimum" : "minimum"] = bound(parameter.low);
  if (std::isfinite(parameter.high))
    number[parameter.high_open ? "exclusiveMaximum" : "maximum"] = bound(parameter.high);
  ordered_json text;
  text["type"] = "string";
  text["pattern"] = "^ *[-+]?[0-9._]+([eE][-+]?[0-9]+)? *[^0-9 ].*$";
  ordered_json schema;
  schema["anyOf"] = ordered_json::array({number, text});
  return schema;
}

ordered_json text_schema(const Parameter& parameter) {
  ordered_json schema;
  schema["type"] = "string";
  if (!parameter.choices.empty()) schema["enum"] = parameter.choices;
  return schema;
}

ordered_json single_schema(const Parameter& parameter) {
  switch (parameter.type) {
    case Type::boolean:
      return {{"type", "boolean"}};
    case Type::integer:
    case Type::integers:
      return number_schema(parameter, true);
    case Type::real:
    case Type::reals:
      return number_schema(parameter, false);
    case Type::text:
    case Type::choice:
    case Type::texts:
      break;
  }
  return text_schema(parameter);
}

bool is_list(Type type) { return type == Type::integers || type == Type::reals || type == Type::texts; }

}  // namespace

json to_json(const Value& value) {
  return std::visit([](const auto& held) { return json(held); }, value);
}

json to_json(const Values& values) {
  json object = json::object();
  for (const auto& [name, value] : values.all()) object[name] = to_json(value);
  object["name"] = values.component();
  return object;
}

std::string dump(const json& json, int indent) { return json.dump(indent, ' ', false, json::error_handler_t::replace); }
std::string dump(const ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json schema_of(const Parameter& parameter) {
  ordered_json schema = single_schema(parameter);
  if (is_list(parameter.type)) {
    const ordered_json list{{"type", "array"}, {"items", schema}};
    ordered_json either;
    either["anyOf"] = ordered_json::array({schema, list});
    schema = std::move(either);
  }
  const std::string unit = parameter.unit_name.empty() ? "" : " [" + parameter.unit_name + "]";
  schema["description"] = parameter.summary + unit;
  if (parameter.fallback) schema["default"] = to_json(*parameter.fallback);
  if (const std::string text = in_flight_text(parameter); !text.empty()) schema["$comment"] = text;
  return schema;
}

ordered_json schema_of(const ComponentInfo& info, bool with_name) {
  ordered_json schema;
  schema["type"] = "object";
  schema["description"] = info.summary;
  ordered_json properties = ordered_json::object();
  ordered_json required = ordered_json::array();
  if (with_name) {
    properties["name"] = {{"const", info.name}};
    required.push_back("name");
  }
  for (const Parameter& parameter : info.parameters) {
    properties[parameter.name] = schema_of(parameter);
    // mark = { low = 8 } is mark.low = 8.
    if (const std::size_t dot = parameter.name.find('.'); dot != std::string::npos) {
      ordered_json& group = properties[parameter.name.substr(0, dot)];
      group["type"] = "object";
      group["properties"][parameter.name.substr(dot + 1)] = schema_of(parameter);
      group["additionalProperties"] = false;
    }
    if (!parameter.fallback) required.push_back(parameter.name);
  }
  schema["properties"] = std::move(properties);
  schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

}  // namespace banyan::config
