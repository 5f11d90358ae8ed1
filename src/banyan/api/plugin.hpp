// Components of somebody else, from a shared library that the program loads (docs/how-to/write-a-plug-in.md).
#pragma once

#include <string>

namespace banyan::api {

/// What a plug-in has to be built for: the version, and a digest of the headers that components include.
[[nodiscard]] std::string interface_name();

/// Adds the components of a plug-in to those of the library, for as long as the program runs. To be called by one
/// thread at a time; experiments that are read already go on as they are. Throws ConfigError: it cannot be loaded, is
/// no plug-in, was built for another interface, or has a component whose name is taken.
void load_plugin(const std::string& file);

}  // namespace banyan::api
