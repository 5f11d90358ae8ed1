#include "banyan/api/plugin.hpp"

#include <dlfcn.h>
#include <fmt/core.h>

#include <filesystem>
#include <system_error>

#include "banyan/base/error.hpp"
#include "banyan/core/registry.hpp"
#include "banyan_interface.hpp"

namespace banyan::api {
namespace {

constexpr const char* kRemedy = "docs/how-to/write-a-plug-in.md says how one is made";

[[noreturn]] void refuse(const std::string& file, const std::string& cause, const std::string& remedy) {
  throw ConfigError({file, 0, 0, "--plugin"}, cause, remedy);
}

}  // namespace

std::string interface_name() { return BANYAN_INTERFACE; }

void load_plugin(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) {
    refuse(file, std::filesystem::exists(file, ignored) ? "is no file" : "no such file", kRemedy);
  }
  // dlopen would look for a name without a folder among the system's libraries.
  const std::string path = std::filesystem::absolute(file).string();
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    refuse(file, fmt::format("cannot be loaded: {}", why != nullptr ? why : "unknown reason"),
           "build it again for this program; " + std::string(kRemedy));
  }
  // Nothing else of the plug-in is looked at before this text is known to be equal: layouts may differ.
  const auto* const built_for = static_cast<const char*>(dlsym(library, "banyan_plugin_interface"));
  const auto* const components = static_cast<const core::Components*>(dlsym(library, "banyan_plugin_components"));
  if (built_for == nullptr || components == nullptr) refuse(file, "is no plug-in of Banyan", kRemedy);
  if (built_for != interface_name()) {
    refuse(file, fmt::format("was built for Banyan {}, and this is Banyan {}", built_for, interface_name()),
           "build it again for this program");
  }
  if (const std::string taken = core::add_components(*components); !taken.empty()) {
    refuse(file, fmt::format("has a component \"{}\", and there is one of that name", taken),
           "give it another name, and load every plug-in once");
  }
}

}  // namespace banyan::api
