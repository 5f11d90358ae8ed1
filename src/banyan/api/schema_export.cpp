#include "banyan/api/schema_export.hpp"

#include "banyan/config/json.hpp"

namespace banyan::api {
namespace {

using config::ComponentInfo;
using nlohmann::ordered_json;

std::string definition(const Kind& kind, const ComponentInfo& info) { return kind.section + "." + info.name; }

/// "NAME", or { name = "NAME", parameters ... }.
ordered_json section_schema(const Kind& kind) {
  ordered_json names{{"type", "string"}, {"enum", kind.names()}};
  ordered_json forms = ordered_json::array({names});
  for (const ComponentInfo* info : kind.components) {
    forms.push_back({{"$ref", "#/$defs/" + definition(kind, *info)}});
  }
  ordered_json schema;
  schema["anyOf"] = std::move(forms);
  return schema;
}

ordered_json list_or_one(ordered_json one) {
  ordered_json list{{"type", "array"}, {"items", one}, {"minItems", 1}};
  one["anyOf"].push_back(std::move(list));
  return one;
}

/// A list of values or a range. Dotted keys without quotes arrive as nested tables.
ordered_json sweep_schema() {
  const ordered_json number{{"type", ordered_json::array({"number", "string"})}};
  ordered_json range{
      {"type", "object"},
      {"properties",
       {{"from", number}, {"to", number}, {"step", number}, {"count", {{"type", "integer"}, {"minimum", 1}}}}},
      {"required", ordered_json::array({"from", "to"})}};
  ordered_json list{{"type", "array"}, {"minItems", 1}};
  ordered_json axis;
  axis["anyOf"] = ordered_json::array({list, range, ordered_json{{"type", "object"}}});
  return {{"type", "object"},
          {"description", "Axes: \"section.parameter\" = [values] or { from, to, step } or { from, to, count }"},
          {"additionalProperties", axis}};
}

ordered_json fork_schema() {
  const ordered_json after{{"const", "warmup"}};
  const ordered_json vary{{"type", "string"},
                          {"description", "A swept parameter that may change in flight, such as \"switch.saqs\""}};
  const ordered_json from{
      {"description", "Its value during the warm-up; the first one of its axis where it is left out"}};
  return {{"type", "object"},
          {"description", "One warmed-up state goes on with every value of a swept parameter"},
          {"properties", {{"after", after}, {"vary", vary}, {"from", from}}},
          {"required", ordered_json::array({"after", "vary"})},
          {"additionalProperties", false}};
}

}  // namespace

std::string experiment_schema(const Catalog& catalog) {
  ordered_json schema;
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "Banyan experiment";
  schema["type"] = "object";
  ordered_json properties;
  properties["name"] = {{"type", "string"}, {"description", "Name of the experiment; default: the file's name"}};
  for (const Kind* kind : {&catalog.topology, &catalog.switching, &catalog.routing}) {
    properties[kind->section] = section_schema(*kind);
  }
  properties["traffic"] = list_or_one(section_schema(catalog.traffic));
  if (!catalog.admission.components.empty()) properties["admission"] = section_schema(catalog.admission);
  if (!catalog.analysis.components.empty()) {
    properties["analysis"] = list_or_one(section_schema(catalog.analysis));
    properties["analysis"]["anyOf"].back().erase("minItems");
  }
  if (!catalog.job.components.empty()) {
    const ordered_json job{{"$ref", "#/$defs/job"}};
    properties["job"] = {{"type", "array"}, {"items", job}, {"minItems", 1}};
    for (const config::Parameter& p : catalog.messages.components.front()->parameters)
      properties[p.name] = config::schema_of(p);
  }
  properties["run"] = {{"$ref", "#/$defs/run"}};
  properties["sweep"] = sweep_schema();
  properties["fork"] = fork_schema();
  schema["properties"] = std::move(properties);
  // Jobs need no traffic, and some of them no routing.
  const ordered_json of_traffic{{"required", ordered_json::array({"topology", "switch", "routing", "traffic"})}};
  const ordered_json of_jobs{{"required", ordered_json::array({"topology", "switch", "job"})}};
  if (catalog.job.components.empty()) {
    schema["required"] = of_traffic.at("required");
  } else {
    schema["anyOf"] = ordered_json::array({of_traffic, of_jobs});
  }
  schema["additionalProperties"] = false;
  for (const Kind* kind : {&catalog.topology, &catalog.switching, &catalog.routing, &catalog.traffic,
                           &catalog.admission, &catalog.analysis}) {
    for (const ComponentInfo* info : kind->components) {
      schema["$defs"][definition(*kind, *info)] = config::schema_of(*info, true);
    }
  }
  if (!catalog.job.components.empty())
    schema["$defs"]["job"] = config::schema_of(*catalog.job.components.front(), false);
  schema["$defs"]["run"] = config::schema_of(*catalog.run.components.front(), false);
  return config::dump(schema, 2);
}

}  // namespace banyan::api
