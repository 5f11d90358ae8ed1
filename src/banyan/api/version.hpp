#pragma once

#include <string>

namespace banyan::api {

/// Of the library: "0.1.0".
[[nodiscard]] std::string version();

}  // namespace banyan::api
