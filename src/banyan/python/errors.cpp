// Errors of the library as exceptions of python/banyan/_errors.py.
#include <exception>
#include <new>
#include <system_error>

#include "banyan/base/error.hpp"
#include "banyan/base/memory_reserve.hpp"
#include "banyan/base/printable.hpp"
#include "banyan/python/bindings.hpp"

namespace banyan::python {
namespace {

namespace py = pybind11;

py::object or_none(const std::string& text) { return text.empty() ? py::none() : py::object(py::str(text)); }
py::object or_none(u32 number) { return number == 0 ? py::none() : py::object(py::int_(number)); }

void raise(const char* name, const py::object& error) {
  PyErr_SetObject(py::module_::import("banyan._errors").attr(name).ptr(), error.ptr());
}

void raise_config_error(const ConfigError& error) {
  const Where& where = error.where();
  const py::object told = py::module_::import("banyan._errors").attr("told");
  raise("ConfigError",
        told(with_faults_shown(error.what()), or_none(where.file), or_none(where.line), or_none(where.column),
             or_none(where.key), with_faults_shown(error.cause()), with_faults_shown(error.remedy())));
}

// pybind11 wants its parameter by value.
void translate(std::exception_ptr error) {  // NOLINT(performance-unnecessary-value-param)
  try {
    if (error) std::rethrow_exception(error);
  } catch (const ConfigError& config) { raise_config_error(config); } catch (const InvariantError& broken) {
    raise("InvariantError", py::str(broken.what()));
  } catch (const Interrupted& stop) {
    PyErr_SetString(PyExc_KeyboardInterrupt, stop.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, kNoMemory);
  } catch (const std::system_error& e) {
    if (e.code() != std::errc::resource_unavailable_try_again) throw;  // else a thread could not be started
    PyErr_SetString(PyExc_MemoryError, kNoMemory);
  }
}

}  // namespace

void add_errors(py::module_& module) {
  static_cast<void>(module);
  py::register_exception_translator(&translate);
}

}  // namespace banyan::python
