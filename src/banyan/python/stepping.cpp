// A network that Python steps.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <structmember.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
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
/// Cycles times terminals of a step for which Python's other threads are let in: some tens of microseconds.
constexpr Tick kWorthAPause = 1024;

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

/// A whole number of Python from 0 up to `most`; nothing: something else.
std::optional<u64> natural_of(PyObject* value, u64 most) {
  if (!PyLong_CheckExact(value)) return std::nullopt;
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow != 0 || number < 0 || static_cast<u64>(number) > most) return std::nullopt;
  return static_cast<u64>(number);
}

/// Elements of an array, wherever they lie.
struct Elements {
  const char* first;
  std::ptrdiff_t stride;
  std::size_t count;
};

template <class Integer, class Number>
bool add_elements(std::vector<Number>& numbers, const Elements& from) {
  numbers.resize(from.count);
  for (std::size_t i = 0; i < from.count; ++i) {
    Integer number = 0;
    std::memcpy(&number, from.first + static_cast<std::ptrdiff_t>(i) * from.stride, sizeof number);
    if (std::cmp_less(number, 0) || std::cmp_greater(number, std::numeric_limits<Number>::max())) return false;
    numbers[i] = static_cast<Number>(static_cast<std::make_unsigned_t<Integer>>(number));
  }
  return true;
}

/// False: not integers of this machine, or some are out of range.
template <class Number>
bool add_array(std::vector<Number>& numbers, const py::array& array) {
  const auto& type = *py::detail::array_descriptor_proxy(py::detail::array_proxy(array.ptr())->descr);
  if (array.ndim() != 1 || (type.kind != 'i' && type.kind != 'u')) return false;
  if (type.byteorder != '=' && type.byteorder != '|' && type.byteorder != '<') {
    return add_array(numbers, py::array_t<i64, py::array::forcecast>(array));
  }
  const Elements from{static_cast<const char*>(array.data()), array.strides(0), static_cast<std::size_t>(array.size())};
  const bool is_signed = type.kind == 'i';
  switch (array.itemsize()) {
    case 1:
      return is_signed ? add_elements<std::int8_t>(numbers, from) : add_elements<u8>(numbers, from);
    case 2:
      return is_signed ? add_elements<std::int16_t>(numbers, from) : add_elements<u16>(numbers, from);
    case 4:
      return is_signed ? add_elements<i32>(numbers, from) : add_elements<u32>(numbers, from);
    default:
      return is_signed ? add_elements<i64>(numbers, from) : add_elements<u64>(numbers, from);
  }
}

/// The numbers of a column that is made of integers, as nearly all are; false: Python has a closer look.
template <class Number>
bool read_column(std::vector<Number>& numbers, py::handle values) {
  if (PyList_CheckExact(values.ptr()) || PyTuple_CheckExact(values.ptr())) {
    const std::span items(PySequence_Fast_ITEMS(values.ptr()),
                          static_cast<std::size_t>(PySequence_Fast_GET_SIZE(values.ptr())));
    numbers.clear();
    for (PyObject* const item : items) {
      const auto number = natural_of(item, std::numeric_limits<Number>::max());
      if (!number) return false;
      numbers.push_back(static_cast<Number>(*number));
    }
    return true;
  }
  return py::isinstance<py::array>(values) && add_array(numbers, py::reinterpret_borrow<py::array>(values));
}

/// Likewise, or one number for all.
template <class Number>
bool read_column_or_number(std::vector<Number>& numbers, py::handle values) {
  if (const auto number = natural_of(values.ptr(), std::numeric_limits<Number>::max()); number) {
    numbers.assign(1, static_cast<Number>(*number));
    return true;
  }
  return read_column(numbers, values);
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

/// While one exists, other threads of Python run, where that is worth the handing over.
class Pause {
 public:
  explicit Pause(bool worth) {
    if (worth) released_.emplace();
  }

 private:
  std::optional<py::gil_scoped_release> released_;
};

/// A stepped network whose long steps can be interrupted, and which one thread has at a time.
class Stepper {
 public:
  Stepper(const api::Experiment& experiment, u32 threads) : network_(experiment, threads) {}

  /// Returns how many messages arrived.
  std::size_t advance(Tick cycles) {
    const Turn turn(mutex_);
    forget();
    for (Tick left = cycles; left > 0;) {
      const Tick now = before_a_look(left);
      {
        const Pause pause(std::min(now, kLook) * network_.terminals() > kWorthAPause);
        network_.step(now);
      }
      keep();
      left -= now;
      if (left > 0 && PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
    return delivered_->size();
  }
  py::list step(Tick cycles) {
    const Turn turn(mutex_);
    advance(cycles);
    return delivered();
  }

  py::list step_to_delivery(Tick most) {
    const Turn turn(mutex_);
    forget();
    for (Tick left = most; left > 0;) {
      const Tick now = before_a_look(left);
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
  /// given, or one number for all of flits and cycles.
  py::object inject_many(py::handle sources, py::handle destinations, py::handle flits, py::handle at) {
    const Turn turn(mutex_);
    if (!read_column(from_, sources) || !read_column(to_, destinations) || from_.size() != to_.size() ||
        !read_column_or_number(lengths_, flits) || (lengths_.size() != 1 && lengths_.size() != from_.size()) ||
        !read_column_or_number(births_, at) || (births_.size() != 1 && births_.size() != from_.size())) {
      return py::none();
    }
    if (std::any_of(births_.begin(), births_.end(), [](Tick birth) { return birth > api::kLastCycle; }))
      return py::none();
    const auto length_of = [&](std::size_t i) { return lengths_[lengths_.size() == 1 ? 0 : i]; };
    const auto birth_of = [&](std::size_t i) { return births_[births_.size() == 1 ? 0 : i]; };
    // All of them or none: who is refused has no numbers to wait for.
    for (std::size_t i = 0; i < from_.size(); ++i) network_.check(from_[i], to_[i], length_of(i), birth_of(i));
    py::list ids(from_.size());
    for (std::size_t i = 0; i < from_.size(); ++i) {
      const u64 id = network_.inject(from_[i], to_[i], length_of(i), birth_of(i));
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
    if (delivered_->empty()) return py::list(0);
    if (!shown_) shown_ = list_of(*delivered_);
    return py::reinterpret_steal<py::list>(PyList_GetSlice(shown_->ptr(), 0, PyList_GET_SIZE(shown_->ptr())));
  }
  /// The same messages as an array, which keeps the memory that they lie in.
  [[nodiscard]] py::object arrivals() {
    static const bool known = [] {  // not before NumPy is needed
      PYBIND11_NUMPY_DTYPE(Delivery, id, source, destination, flits, injected, delivered);
      return true;
    }();
    static_cast<void>(known);
    const Turn turn(mutex_);
    const py::capsule owner(new std::shared_ptr<std::vector<Delivery>>(delivered_),
                            [](void* p) { delete static_cast<std::shared_ptr<std::vector<Delivery>>*>(p); });
    py::array_t<Delivery> array(static_cast<py::ssize_t>(delivered_->size()), delivered_->data(), owner);
    py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
    return array;
  }

 private:
  /// Cycles that go by without a look at what Python has to say. Those in which nothing happens take no time, and are
  /// not counted.
  [[nodiscard]] Tick before_a_look(Tick left) const {
    const Tick now = network_.now();
    const Tick quiet = std::max(now, network_.next()) - now;
    return quiet < left ? std::min(left, quiet + kLook) : left;
  }
  void forget() {
    if (delivered_.use_count() == 1) {
      delivered_->clear();
    } else {
      delivered_ = std::make_shared<std::vector<Delivery>>();
    }
    shown_.reset();
  }
  void keep() {
    const auto some = network_.delivered();
    delivered_->insert(delivered_->end(), some.begin(), some.end());
  }

  std::recursive_mutex mutex_;
  api::SteppedNetwork network_;
  std::shared_ptr<std::vector<Delivery>> delivered_ = std::make_shared<std::vector<Delivery>>();
  std::optional<py::list> shown_;  ///< of delivered_
  // Columns of the last inject_many, kept for their memory.
  std::vector<u32> from_;
  std::vector<u32> to_;
  std::vector<u32> lengths_;
  std::vector<u64> births_;
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

/// What functions that are called in every cycle are made of. `self`: the network as a capsule, the object that keeps
/// it, and what is called with anything but words of the usual kinds in range: it says what is wrong with them. `work`
/// returns nullptr for those.
template <class Work>
PyObject* call_quickly(PyObject* self, PyObject* const* given, Py_ssize_t unnamed, PyObject* names, const Work& work) {
  auto* const stepper = static_cast<Stepper*>(PyCapsule_GetPointer(PyTuple_GET_ITEM(self, 0), nullptr));
  try {
    if (PyObject* const answer = work(*stepper); answer != nullptr) return answer;
  } catch (py::error_already_set& error) {
    error.restore();
    return nullptr;
  } catch (...) {  // pybind11 translates what its functions throw
    const auto thrown = std::current_exception();
    return PyObject_CallNoArgs(py::cpp_function([thrown] { std::rethrow_exception(thrown); }).ptr());
  }
  return PyObject_Vectorcall(PyTuple_GET_ITEM(self, 2), given, static_cast<std::size_t>(unnamed), names);
}

PyObject* inject_one(PyObject* self, PyObject* const* given, Py_ssize_t unnamed, PyObject* names) {
  const auto named = static_cast<std::size_t>(names == nullptr ? 0 : PyTuple_GET_SIZE(names));
  std::array<u64, 4> words{0, 0, 1, 0};
  const bool usual = words_of_injection({given, static_cast<std::size_t>(unnamed) + named},
                                        static_cast<std::size_t>(unnamed), names, words);
  return call_quickly(self, given, unnamed, names, [&](Stepper& stepper) -> PyObject* {
    if (!usual) return nullptr;
    return PyLong_FromUnsignedLongLong(stepper.with_network([&](api::SteppedNetwork& network) {
      return network.inject(static_cast<u32>(words[0]), static_cast<u32>(words[1]), static_cast<u32>(words[2]),
                            words[3]);
    }));
  });
}

PyObject* inject_columns(PyObject* self, PyObject* const* given, Py_ssize_t unnamed, PyObject* names) {
  return call_quickly(self, given, unnamed, names, [&](Stepper& stepper) -> PyObject* {
    if (names != nullptr || unnamed < 2 || unnamed > 4) return nullptr;
    const py::int_ one(1);
    const py::int_ zero(0);
    py::object ids = stepper.inject_many(given[0], given[1], unnamed > 2 ? given[2] : one.ptr(),
                                         unnamed > 3 ? given[3] : zero.ptr());
    return ids.is_none() ? nullptr : ids.release().ptr();
  });
}

/// The cycles of a call of step() or advance(); nothing: Python has a closer look.
std::optional<Tick> cycles_of(PyObject* const* given, Py_ssize_t unnamed, PyObject* names) {
  if (names != nullptr || unnamed > 1) return std::nullopt;
  return unnamed == 0 ? Tick{1} : natural_of(given[0], api::kLastCycle);
}

PyObject* step_cycles(PyObject* self, PyObject* const* given, Py_ssize_t unnamed, PyObject* names) {
  const std::optional<Tick> cycles = cycles_of(given, unnamed, names);
  return call_quickly(self, given, unnamed, names, [&](Stepper& stepper) -> PyObject* {
    return cycles ? stepper.step(*cycles).release().ptr() : nullptr;
  });
}

PyObject* advance_cycles(PyObject* self, PyObject* const* given, Py_ssize_t unnamed, PyObject* names) {
  const std::optional<Tick> cycles = cycles_of(given, unnamed, names);
  return call_quickly(self, given, unnamed, names, [&](Stepper& stepper) -> PyObject* {
    return cycles ? PyLong_FromSize_t(stepper.advance(*cycles)) : nullptr;
  });
}

PyObject* show_delivered(PyObject* self, PyObject* const* given, Py_ssize_t unnamed, PyObject* names) {
  return call_quickly(self, given, unnamed, names,
                      [](Stepper& stepper) { return stepper.delivered().release().ptr(); });
}

/// A function of a network that Python calls in a tenth of a microsecond; pybind11 takes four times as long to find out
/// what it was given.
py::object quick(const py::object& network, const std::string& name, const py::object& otherwise) {
  using Call = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
  const auto method = [](const char* of, Call call) {
    return PyMethodDef{of, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call)),
                       METH_FASTCALL | METH_KEYWORDS, nullptr};
  };
  // Python reads them, and keeps them.
  static const std::array<PyMethodDef, 5> methods{
      {method("inject", &inject_one), method("inject_many", &inject_columns), method("step", &step_cycles),
       method("advance", &advance_cycles), method("delivered", &show_delivered)}};
  const auto found =
      std::find_if(methods.begin(), methods.end(), [&](const auto& each) { return name == each.ml_name; });
  if (found == methods.end()) throw py::value_error("there is no quick " + name);
  const py::capsule stepper(network.cast<Stepper*>());
  const py::tuple self = py::make_tuple(stepper, network, otherwise);
  return py::reinterpret_steal<py::object>(PyCFunction_New(const_cast<PyMethodDef*>(&*found), self.ptr()));
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
      .def("quick", &quick)
      .def("advance", &Stepper::advance)
      .def_property_readonly("arrivals", &Stepper::arrivals)
      .def("reset", &Stepper::reset)
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
