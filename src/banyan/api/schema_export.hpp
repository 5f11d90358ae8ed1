// The JSON Schema of experiment files, for editors that complete and check TOML while one types.
#pragma once

#include <string>

#include "banyan/api/catalog.hpp"

namespace banyan::api {

/// Draft 2020-12. Every component is a definition; a section takes its name alone or a table with its parameters.
[[nodiscard]] std::string experiment_schema(const Catalog& catalog);

}  // namespace banyan::api
