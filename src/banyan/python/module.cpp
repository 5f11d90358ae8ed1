// banyan._core: the library in Python.
#include <dlfcn.h>

#include "banyan/api/catalog.hpp"
#include "banyan/api/describe.hpp"
#include "banyan/api/plugin.hpp"
#include "banyan/api/version.hpp"
#include "banyan/base/error.hpp"
#include "banyan/python/bindings.hpp"

namespace {

/// Something of this module, by which the module is found.
const char here = 0;

/// Plug-ins call the library, which Python has loaded for itself alone: from now on names of it can be found.
void load_plugin(const std::string& file) {
  Dl_info module{};
  if (dladdr(&here, &module) == 0 || dlopen(module.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL) == nullptr) {
    throw banyan::InvariantError("the module of Python does not find itself");
  }
  banyan::api::load_plugin(file);
}

PYBIND11_MODULE(_core, module) {
  using namespace banyan;
  module.doc() = "The simulator. Use it through the package banyan.";
  module.attr("version") = api::version();
  python::add_errors(module);
  python::add_results(module);
  python::add_experiments(module);
  python::add_comparisons(module);
  python::add_stepping(module);
  module.def("load_plugin", &load_plugin);
  module.def("describe", [](const std::string& name) {
    return name.empty() ? api::describe_all(api::catalog()) : api::describe(api::catalog(), name);
  });
  module.def("describe_json", [](const std::string& name) { return api::describe_json(api::catalog(), name); });
}

}  // namespace
