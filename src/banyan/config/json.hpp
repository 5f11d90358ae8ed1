// Values as JSON, and parameters as JSON Schema. Only implementation files include this: it brings in the JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "banyan/config/schema.hpp"

namespace banyan::config {

/// Canonical: sorted keys, defaults filled in. `{"name": component, parameter: value, ...}`.
[[nodiscard]] nlohmann::json to_json(const Values& values);
[[nodiscard]] nlohmann::json to_json(const Value& value);

/// One line. Doubles round-trip; a byte that is no UTF-8 becomes U+FFFD; NaN and infinities become null.
[[nodiscard]] std::string dump(const nlohmann::json& json, int indent = -1);
[[nodiscard]] std::string dump(const nlohmann::ordered_json& json, int indent = -1);

/// The JSON Schema (draft 2020-12) of one parameter's value, as editors check it: the number, or a text with a unit.
[[nodiscard]] nlohmann::ordered_json schema_of(const Parameter& parameter);

/// The schema of a component's table: its parameters and, when `with_name`, the key "name" with that one value.
[[nodiscard]] nlohmann::ordered_json schema_of(const ComponentInfo& info, bool with_name);

}  // namespace banyan::config
