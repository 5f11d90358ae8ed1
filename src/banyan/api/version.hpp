#pragma once

#include <string>

namespace banyan::api {

/// The version of the library: "1.0.0".
[[nodiscard]] std::string version();

}  // namespace banyan::api
