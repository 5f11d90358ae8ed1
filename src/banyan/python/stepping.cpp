// A network that Python steps.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "banyan/api/stepped_network.hpp"
#include "banyan/python/bindings.hpp"

namespace banyan::python {
namespace {

namespace py = pybind11;
using Naturals = py::array_t<u32, py::array::c_style | py::array::forcecast>;

/// Cycles between two looks at what Python has to say, Control-C above all.
constexpr Tick kLook = 10'000;

/// A stepped network whose long steps can be interrupted.
class Stepper {
 public:
  Stepper(const api::Experiment& experiment, u32 threads) : network_(experiment, threads) {}

  void step(Tick cycles) {
    delivered_.clear();
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
  }

  bool step_to_delivery(Tick most) {
    delivered_.clear();
    for (Tick left = most; left > 0;) {
      const Tick now = std::min(left, kLook);
      bool some = false;
      {
        const py::gil_scoped_release released;
        some = network_.step_to_delivery(now);
      }
      if (some) {
        keep();
        return true;
      }
      left -= now;
      if (left > 0 && PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
    return false;
  }

  std::vector<u64> inject_many(const Naturals& sources, const Naturals& destinations, const Naturals& flits) {
    if (sources.size() != destinations.size() || (flits.size() != sources.size() && flits.size() != 1)) {
      throw py::value_error("sources, destinations and flits must be equally many");
    }
    std::vector<u64> ids;
    for (py::ssize_t i = 0; i < sources.size(); ++i) {
      ids.push_back(network_.inject(sources.at(i), destinations.at(i), flits.at(flits.size() == 1 ? 0 : i)));
    }
    return ids;
  }

  void reset(u32 replication) {
    network_.reset(replication);
    delivered_.clear();
  }

  [[nodiscard]] api::SteppedNetwork& network() { return network_; }
  [[nodiscard]] const std::vector<api::Delivery>& delivered() const { return delivered_; }

 private:
  void keep() {
    const auto some = network_.delivered();
    delivered_.insert(delivered_.end(), some.begin(), some.end());
  }

  api::SteppedNetwork network_;
  std::vector<api::Delivery> delivered_;
};

py::dict counts_of(Stepper& stepper) {
  const api::NetworkCounts counts = stepper.network().counts();
  py::dict dict;
  dict["packets_taken"] = counts.packets_taken;
  dict["packets_delivered"] = counts.packets_delivered;
  dict["flits_taken"] = counts.flits_taken;
  dict["flits_delivered"] = counts.flits_delivered;
  return dict;
}

}  // namespace

void add_stepping(py::module_& module) {
  using api::Delivery;
  py::class_<Delivery>(module, "Delivery", "A message of the caller that has arrived.")
      .def_readonly("id", &Delivery::id)
      .def_readonly("source", &Delivery::source)
      .def_readonly("destination", &Delivery::destination)
      .def_readonly("flits", &Delivery::flits)
      .def_readonly("injected", &Delivery::injected)
      .def_readonly("delivered", &Delivery::delivered)
      .def_property_readonly("latency", [](const Delivery& d) { return d.delivered - d.injected; })
      .def("__repr__", [](const Delivery& d) {
        return "<message " + std::to_string(d.id) + " from " + std::to_string(d.source) + " to " +
               std::to_string(d.destination) + " after " + std::to_string(d.delivered - d.injected) + " cycles>";
      });
  py::class_<Stepper>(module, "Network")
      .def(py::init<const api::Experiment&, u32>(), py::arg("point"), py::arg("threads") = 1)
      .def("step", &Stepper::step)
      .def("step_to_delivery", &Stepper::step_to_delivery)
      .def("inject", [](Stepper& s, u32 source, u32 destination, u32 flits,
                        Tick at) { return s.network().inject(source, destination, flits, at); })
      .def("inject_many", &Stepper::inject_many)
      .def("reset", &Stepper::reset)
      .def_property_readonly("delivered", &Stepper::delivered)
      .def_property_readonly("now", [](Stepper& s) { return s.network().now(); })
      .def_property_readonly("terminals", [](Stepper& s) { return s.network().terminals(); })
      .def_property_readonly("in_flight", [](Stepper& s) { return s.network().in_flight(); })
      .def_property_readonly("counts", &counts_of)
      .def_property_readonly("hash", [](Stepper& s) { return s.network().hash(); })
      .def("audit", [](Stepper& s) { s.network().audit(); })
      .def("deadlock", [](Stepper& s) { return s.network().deadlock(); });
}

}  // namespace banyan::python
