// What exists, in words: every component with its parameters, units, defaults, ranges and reference.
#pragma once

#include <string>
#include <string_view>

#include "banyan/api/catalog.hpp"

namespace banyan::api {

/// All components, one line each, by kind.
[[nodiscard]] std::string describe_all(const Catalog& catalog);
/// One component (several when kinds share the name), or a metric, or all "metrics", or a parameter ("saqs",
/// "cioq.saqs", "switch.saqs"), or a word that results say ("uncertain"); a component is also found by what others call
/// it, and by a value of its choices. Throws ConfigError that names the nearest.
[[nodiscard]] std::string describe(const Catalog& catalog, const std::string& name);

/// What is called so by others: a component, such as dimension_order for "dor" or "XY", a parameter, such as mark for
/// "ECN", or a word of results; "" where none is known.
[[nodiscard]] std::string_view known_as(std::string_view said);

/// The same as a page of the documentation; `name` "" means all components.
[[nodiscard]] std::string describe_markdown(const Catalog& catalog, const std::string& name = "");
/// The same for programs: an array of {kind, name, summary, reference, parameters: [...]}.
[[nodiscard]] std::string describe_json(const Catalog& catalog, const std::string& name = "");

}  // namespace banyan::api
