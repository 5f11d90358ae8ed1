// A network that Python steps.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <structmember.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "banyan/api/stepped_network.hpp"
#include "banyan/python/bindings.hpp"

namespace banyan::python {
namespace {

namespace py = pybind11;
using api::Delivery;

/// Cycles between two looks at what Python has to say, Control-C above all.
constexpr Tick kLook = 10'000;

/// A message that has arrived, as Python sees it. Every step may make dozens: the type is one of Python itself, for
/// objects of pybind11 take ten times as long to make.
struct DeliveryObject {
  PyObject_HEAD  //
      Delivery value;
};

const Delivery& delivery_of(PyObject* self) { return reinterpret_cast<DeliveryObject*>(self)->value; }

Tick latency_of(const Delivery& d) { return d.delivered - d.injected; }

void free_delivery(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* latency_of_delivery(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(latency_of(delivery_of(self)));
}

PyObject* text_of_delivery(PyObject* self) {
  const Delivery& d = delivery_of(self);
  return PyUnicode_FromFormat("<message %llu from %u to %u after %llu cycles>", static_cast<unsigned long long>(d.id),
                              d.source, d.destination, static_cast<unsigned long long>(latency_of(d)));
}

PyTypeObject* make_delivery_type() {
  static_assert(sizeof(unsigned long long) == sizeof(u64) && sizeof(unsigned int) == sizeof(u32));
  constexpr auto place = [](std::size_t inside) {
    return static_cast<Py_ssize_t>(offsetof(DeliveryObject, value) + inside);
  };
  // Python reads these tables and never writes them; it keeps the second.
  static const std::array<PyMemberDef, 7> members{{
      {"id", T_ULONGLONG, place(offsetof(Delivery, id)), READONLY, "what inject() returned"},
      {"source", T_UINT, place(offsetof(Delivery, source)), READONLY, "terminal"},
      {"destination", T_UINT, place(offsetof(Delivery, destination)), READONLY, "terminal"},
      {"flits", T_UINT, place(offsetof(Delivery, flits)), READONLY, "length"},
      {"injected", T_ULONGLONG, place(offsetof(Delivery, injected)), READONLY, "cycle"},
      {"delivered", T_ULONGLONG, place(offsetof(Delivery, delivered)), READONLY, "cycle in which its last flit came"},
      {nullptr, 0, 0, 0, nullptr},
  }};
  static const std::array<PyGetSetDef, 2> computed{{
      {"latency", &latency_of_delivery, nullptr, "cycles from its injection to its last flit", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr},
  }};
  static const char doc[] = "A message of the caller that has arrived.";
  std::array<PyType_Slot, 6> slots{{
      {Py_tp_doc, const_cast<char*>(doc)},
      {Py_tp_members, const_cast<PyMemberDef*>(members.data())},
      {Py_tp_getset, const_cast<PyGetSetDef*>(computed.data())},
      {Py_tp_repr, reinterpret_cast<void*>(&text_of_delivery)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&free_delivery)},
      {0, nullptr},
  }};
  PyType_Spec spec{"banyan._core.Delivery", sizeof(DeliveryObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  PyObject* const type = PyType_FromSpec(&spec);
  if (type == nullptr) throw py::error_already_set();
  return reinterpret_cast<PyTypeObject*>(type);
}

/// Made once, and never given back.
PyTypeObject* delivery_type() {
  static const auto type = make_delivery_type();
  return type;
}

py::list list_of(std::span<const Delivery> deliveries) {
  py::list list(deliveries.size());
  PyTypeObject* const type = delivery_type();
  for (std::size_t i = 0; i < deliveries.size(); ++i) {
    auto* const object = PyObject_New(DeliveryObject, type);
    if (object == nullptr) throw py::error_already_set();
    object->value = deliveries[i];
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), reinterpret_cast<PyObject*>(object));
  }
  return list;
}

/// False: not a number that terminals and flits are counted with.
bool add_natural(std::vector<u32>& numbers, PyObject* value) {
  if (!PyLong_CheckExact(value)) return false;
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow != 0 || number < 0 || number > std::numeric_limits<u32>::max()) return false;
  numbers.push_back(static_cast<u32>(number));
  return true;
}

template <class Integer>
bool add_naturals(std::vector<u32>& numbers, const py::array& values) {
  const py::array_t<Integer, py::array::c_style | py::array::forcecast> integers(values);
  for (const Integer number : std::span(integers.data(), static_cast<std::size_t>(integers.size()))) {
    if (std::cmp_less(number, 0) || std::cmp_greater(number, std::numeric_limits<u32>::max())) return false;
    numbers.push_back(static_cast<u32>(number));
  }
  return true;
}

/// The numbers of a column that is made of integers, as nearly all are; nothing: Python has a closer look.
std::optional<std::vector<u32>> column_of(py::handle values) {
  std::vector<u32> numbers;
  if (PyList_CheckExact(values.ptr()) || PyTuple_CheckExact(values.ptr())) {
    const std::span items(PySequence_Fast_ITEMS(values.ptr()),
                          static_cast<std::size_t>(PySequence_Fast_GET_SIZE(values.ptr())));
    numbers.reserve(items.size());
    for (PyObject* const item : items) {
      if (!add_natural(numbers, item)) return std::nullopt;
    }
    return numbers;
  }
  if (!py::isinstance<py::array>(values)) return std::nullopt;
  const auto array = py::reinterpret_borrow<py::array>(values);
  const char kind = array.dtype().kind();
  if (array.ndim() != 1 || (kind != 'i' && kind != 'u')) return std::nullopt;
  numbers.reserve(static_cast<std::size_t>(array.size()));
  const bool taken = kind == 'i' ? add_naturals<i64>(numbers, array) : add_naturals<u64>(numbers, array);
  return taken ? std::optional(std::move(numbers)) : std::nullopt;
}

/// The turn of one of the threads that share a network. Who waits for it lets the others have the interpreter.
class Turn {
 public:
  explicit Turn(std::recursive_mutex& mutex) : lock_(mutex, std::try_to_lock) {
    if (lock_.owns_lock()) return;
    const py::gil_scoped_release released;
    lock_.lock();
  }

 private:
  std::unique_lock<std::recursive_mutex> lock_;  // recursive: a handler of signals may ask the network that is stepped
};

/// A stepped network whose long steps can be interrupted, and which one thread has at a time.
class Stepper {
 public:
  Stepper(const api::Experiment& experiment, u32 threads) : network_(experiment, threads) {}

  py::list step(Tick cycles) {
    const Turn turn(mutex_);
    forget();
    for (Tick left = cycles; left > 0;) {
      const Tick now = std::min(left, kLook);
      {
        const py::gil_scoped_release released;
        network_.step(now);
      }
      keep();
      left -= now;
      if (left > 0 && PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
    return delivered();
  }

  py::list step_to_delivery(Tick most) {
    const Turn turn(mutex_);
    forget();
    for (Tick left = most; left > 0;) {
      const Tick now = std::min(left, kLook);
      bool some = false;
      {
        const py::gil_scoped_release released;
        some = network_.step_to_delivery(now);
      }
      if (some) {
        keep();
        break;
      }
      left -= now;
      if (left > 0 && PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
    return delivered();
  }

  /// The numbers of the messages. None: nothing is injected, for something else than equally many whole numbers is
  /// given, or one number of flits for all.
  py::object inject_many(const py::object& sources, const py::object& destinations, const py::object& flits) {
    const auto from = column_of(sources);
    const auto to = column_of(destinations);
    if (!from || !to || from->size() != to->size()) return py::none();
    std::optional<std::vector<u32>> lengths(std::in_place);
    if (!add_natural(*lengths, flits.ptr())) lengths = column_of(flits);
    if (!lengths || (lengths->size() != 1 && lengths->size() != from->size())) return py::none();
    const Turn turn(mutex_);
    const auto length_of = [&](std::size_t i) { return (*lengths)[lengths->size() == 1 ? 0 : i]; };
    // All of them or none: who is refused has no numbers to wait for.
    for (std::size_t i = 0; i < from->size(); ++i) network_.check((*from)[i], (*to)[i], length_of(i));
    py::list ids(from->size());
    for (std::size_t i = 0; i < from->size(); ++i) {
      const u64 id = network_.inject((*from)[i], (*to)[i], length_of(i));
      PyList_SET_ITEM(ids.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromUnsignedLongLong(id));
    }
    return ids;
  }

  void reset(u32 replication) {
    const Turn turn(mutex_);
    network_.reset(replication);
    forget();
  }

  /// What `ask` says of the network.
  template <class Ask>
  auto with_network(const Ask& ask) {
    const Turn turn(mutex_);
    return ask(network_);
  }
  /// A list of the caller's own, of messages that are made once.
  [[nodiscard]] py::list delivered() {
    const Turn turn(mutex_);
    if (!shown_) shown_ = list_of(delivered_);
    return py::reinterpret_steal<py::list>(PyList_GetSlice(shown_->ptr(), 0, PyList_GET_SIZE(shown_->ptr())));
  }

 private:
  void forget() {
    delivered_.clear();
    shown_.reset();
  }
  void keep() {
    const auto some = network_.delivered();
    delivered_.insert(delivered_.end(), some.begin(), some.end());
  }

  std::recursive_mutex mutex_;
  api::SteppedNetwork network_;
  std::vector<Delivery> delivered_;
  std::optional<py::list> shown_;  ///< of delivered_
};

// --- inject(), once per message ---

/// The words of a call of inject(): two to four numbers, the last two by name too. False: something else is given.
bool words_of_injection(std::span<PyObject* const> given, std::size_t unnamed, PyObject* names,
                        std::array<u64, 4>& words) {
  constexpr std::size_t kLeast = 2;
  if (unnamed < kLeast || unnamed > words.size()) return false;
  std::array<PyObject*, 4> values{};
  std::copy_n(given.begin(), unnamed, values.begin());
  for (std::size_t i = unnamed; i < given.size(); ++i) {
    PyObject* const name = PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(i - unnamed));
    const std::size_t place = PyUnicode_CompareWithASCIIString(name, "flits") == 0 ? 2
                              : PyUnicode_CompareWithASCIIString(name, "at") == 0  ? 3
                                                                                   : 0;
    if (place == 0 || values[place] != nullptr) return false;
    values[place] = given[i];
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (values[i] == nullptr) continue;
    int overflow = 0;
    const long long number = PyLong_CheckExact(values[i]) ? PyLong_AsLongLongAndOverflow(values[i], &overflow) : -1;
    if (overflow != 0 || number < 0 || (i < 3 && number > std::numeric_limits<u32>::max())) return false;
    words[i] = static_cast<u64>(number);
  }
  return true;
}

/// `self`: the network as a capsule, the object that keeps it, and what is called with anything but whole numbers in
/// range: it says what is wrong with them.
PyObject* inject_one(PyObject* self, PyObject* const* given, Py_ssize_t unnamed, PyObject* names) {
  const auto named = static_cast<std::size_t>(names == nullptr ? 0 : PyTuple_GET_SIZE(names));
  std::array<u64, 4> words{0, 0, 1, 0};
  if (words_of_injection({given, static_cast<std::size_t>(unnamed) + named}, static_cast<std::size_t>(unnamed), names,
                         words)) {
    auto* const stepper = static_cast<Stepper*>(PyCapsule_GetPointer(PyTuple_GET_ITEM(self, 0), nullptr));
    try {
      return PyLong_FromUnsignedLongLong(stepper->with_network([&](api::SteppedNetwork& network) {
        return network.inject(static_cast<u32>(words[0]), static_cast<u32>(words[1]), static_cast<u32>(words[2]),
                              words[3]);
      }));
    } catch (const std::exception&) {  // nothing was injected, and it is said again below, as Python has it
    }
  }
  return PyObject_Vectorcall(PyTuple_GET_ITEM(self, 2), given, static_cast<std::size_t>(unnamed), names);
}

/// inject() of a network as a function that Python calls in a tenth of a microsecond; pybind11 takes four times as long
/// to find out what it was given.
py::object quick_inject(const py::object& network, const py::object& otherwise) {
  // Python reads it, and keeps it.
  static const PyMethodDef method{
      "inject", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&inject_one)), METH_FASTCALL | METH_KEYWORDS,
      "Generates a message in the next cycle, or in the later cycle `at`; returns its number."};
  const py::capsule stepper(network.cast<Stepper*>());
  const py::tuple self = py::make_tuple(stepper, network, otherwise);
  return py::reinterpret_steal<py::object>(PyCFunction_New(const_cast<PyMethodDef*>(&method), self.ptr()));
}

py::dict counts_of(Stepper& stepper) {
  const api::NetworkCounts counts = stepper.with_network([](api::SteppedNetwork& network) { return network.counts(); });
  py::dict dict;
  dict["packets_taken"] = counts.packets_taken;
  dict["packets_delivered"] = counts.packets_delivered;
  dict["flits_taken"] = counts.flits_taken;
  dict["flits_delivered"] = counts.flits_delivered;
  return dict;
}

py::object delivery_from(u64 id, u32 source, u32 destination, u32 flits, Tick injected, Tick delivered) {
  const Delivery delivery{id, source, destination, flits, injected, delivered};
  return list_of({&delivery, 1})[0];
}

}  // namespace

void add_stepping(py::module_& module) {
  using api::SteppedNetwork;
  module.attr("Delivery") = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(delivery_type()));
  module.def("delivery_from", &delivery_from);
  py::class_<Stepper>(module, "Network")
      .def(py::init<const api::Experiment&, u32>(), py::arg("point"), py::arg("threads") = 1)
      .def("step", &Stepper::step)
      .def("step_to_delivery", &Stepper::step_to_delivery)
      .def("inject",
           [](Stepper& s, u32 source, u32 destination, u32 flits, Tick at) {
             return s.with_network([&](SteppedNetwork& n) { return n.inject(source, destination, flits, at); });
           })
      .def("inject_many", &Stepper::inject_many)
      .def("quick_inject",
           [](const py::object& self, const py::object& otherwise) { return quick_inject(self, otherwise); })
      .def("reset", &Stepper::reset)
      .def_property_readonly("delivered", &Stepper::delivered)
      .def_property_readonly("now",
                             [](Stepper& s) { return s.with_network([](SteppedNetwork& n) { return n.now(); }); })
      .def_property_readonly("terminals",
                             [](Stepper& s) { return s.with_network([](SteppedNetwork& n) { return n.terminals(); }); })
      .def_property_readonly("in_flight",
                             [](Stepper& s) { return s.with_network([](SteppedNetwork& n) { return n.in_flight(); }); })
      .def_property_readonly("counts", &counts_of)
      .def_property_readonly("hash",
                             [](Stepper& s) { return s.with_network([](SteppedNetwork& n) { return n.hash(); }); })
      .def("audit", [](Stepper& s) { s.with_network([](SteppedNetwork& n) { n.audit(); }); })
      .def("deadlock", [](Stepper& s) { return s.with_network([](SteppedNetwork& n) { return n.deadlock(); }); });
}

}  // namespace banyan::python
