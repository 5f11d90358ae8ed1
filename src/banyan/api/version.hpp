#pragma once

#include <string>

namespace banyan::api {

/// The version of the library: "1.1.0".
[[nodiscard]] std::string version();

/// A digest of the sources that may keep state: two builds of one version need not read each other's.
[[nodiscard]] std::string state_digest();

}  // namespace banyan::api
