// banyan._core: the library in Python.
#include "banyan/api/catalog.hpp"
#include "banyan/api/describe.hpp"
#include "banyan/api/version.hpp"
#include "banyan/python/bindings.hpp"

namespace {

PYBIND11_MODULE(_core, module) {
  using namespace banyan;
  module.doc() = "The simulator. Use it through the package banyan.";
  module.attr("version") = api::version();
  python::add_errors(module);
  python::add_results(module);
  python::add_experiments(module);
  python::add_comparisons(module);
  python::add_stepping(module);
  module.def("describe", [](const std::string& name) {
    return name.empty() ? api::describe_all(api::catalog()) : api::describe(api::catalog(), name);
  });
  module.def("describe_json", [](const std::string& name) { return api::describe_json(api::catalog(), name); });
}

}  // namespace
