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

/// An open library, which is closed again unless it is kept.
class Library {
 public:
  explicit Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  [[nodiscard]] bool open() const { return handle_ != nullptr; }
  [[nodiscard]] const void* find(const char* name) const { return dlsym(handle_, name); }
  void keep() { handle_ = nullptr; }

 private:
  void* handle_;
};

}  // namespace

std::string interface_name() { return BANYAN_INTERFACE; }

void load_plugin(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) {
    refuse(file, std::filesystem::exists(file, ignored) ? "is no file" : "no such file", kRemedy);
  }
  // dlopen would look for a name without a folder among the system's libraries.
  const std::string path = std::filesystem::absolute(file).string();
  Library library(path);
  if (!library.open()) {
    const char* const why = dlerror();
    refuse(file, fmt::format("cannot be loaded: {}", why != nullptr ? why : "unknown reason"),
           "build it again for this program; " + std::string(kRemedy));
  }
  // Nothing else of the plug-in is looked at before this text is known to be equal: layouts may differ.
  const auto* const built_for = static_cast<const char*>(library.find("banyan_plugin_interface"));
  const auto* const components = static_cast<const core::Components*>(library.find("banyan_plugin_components"));
  if (built_for == nullptr || components == nullptr) refuse(file, "is no plug-in of Banyan", kRemedy);
  if (built_for != interface_name()) {
    refuse(file, fmt::format("was built for Banyan {}, and this is Banyan {}", built_for, interface_name()),
           "build it again for this program");
  }
  if (const std::string taken = core::add_components(*components); !taken.empty()) {
    refuse(file, fmt::format("has a component \"{}\", and there is one of that name", taken),
           "give it another name, and load every plug-in once");
  }
  library.keep();
}

}  // namespace banyan::api
