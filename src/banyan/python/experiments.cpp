// Experiments: read, checked and run.
#include <fmt/core.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "banyan/api/advice.hpp"
#include "banyan/api/idle.hpp"
#include "banyan/api/needs.hpp"
#include "banyan/api/network.hpp"
#include "banyan/api/reader.hpp"
#include "banyan/api/sweep.hpp"
#include "banyan/api/topology_export.hpp"
#include "banyan/python/bindings.hpp"
#include "banyan/python/watched.hpp"
#include "banyan/report/drawing.hpp"

namespace banyan::python {
namespace {

namespace py = pybind11;
using SetPointer = std::shared_ptr<api::ExperimentSet>;
using PointPointer = std::shared_ptr<api::Experiment>;

SetPointer read_text(const std::string& text, const std::string& name, const api::Overrides& overrides) {
  return std::make_shared<api::ExperimentSet>(api::read_experiments_text(text, name, overrides));
}

/// Throws what the command line would say of a file that cannot be read.
void refuse_file(const std::string& name) { static_cast<void>(api::read_experiments(name, {})); }

PointPointer point_of(const SetPointer& set, std::size_t index) {
  if (index >= set->points.size()) throw py::index_error("the sweep has no such point");
  return {set, &set->points[index]};
}

/// Asks Python about every window, from the thread of the run. What it raises ends the run and is raised again.
class Listener {
 public:
  explicit Listener(py::object function) : function_(std::move(function)) {}

  [[nodiscard]] std::function<bool(const api::Window&)> function() {
    if (function_.is_none()) return {};
    return [this](const api::Window& window) {
      const py::gil_scoped_acquire acquired;
      try {
        return function_(window).cast<py::object>().equal(py::bool_(true));
      } catch (py::error_already_set& error) { error_ = std::move(error); }
      return true;
    };
  }
  void raise() {
    if (error_) throw std::move(*error_);
  }

 private:
  py::object function_;
  std::optional<py::error_already_set> error_;
};

std::shared_ptr<api::Result> run(const PointPointer& point, u32 threads, const std::vector<std::string>& watches,
                                 const py::object& progress, const Stop* stop, const py::object& on_window) {
  auto result = std::make_shared<api::Result>();
  Listener listener(on_window);
  watched(
      [&](const Attention& attention) {
        api::require_fit({*point}, 1, api::available_memory());
        api::RunOptions options;
        options.threads = std::max(1U, threads);
        options.watches = watches;
        options.progress = attention.progress;
        options.interrupted = attention.interrupted;
        options.window = listener.function();
        *result = api::run(*point, options);
      },
      progress, stop);
  listener.raise();
  return result;
}

/// The points of a sweep that are done, for who stops it.
struct Finished {
  std::map<std::size_t, std::shared_ptr<api::Result>> results;
};

std::shared_ptr<Sweep> sweep(const SetPointer& set, u32 threads, const py::object& progress, Finished& finished) {
  auto sweep = std::make_shared<Sweep>();
  sweep->set = set;
  watched(
      [&](const Attention& attention) {
        const u32 all = threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : threads;
        api::require_fit(set->points, all, api::available_memory());
        api::SweepOptions options;
        options.threads = all;
        options.progress = attention.progress;
        options.interrupted = attention.interrupted;
        options.finished = [&](std::size_t point, const api::Result& result) {
          finished.results[point] = std::make_shared<api::Result>(result);
        };
        sweep->results = api::sweep(*set, options);
      },
      progress, nullptr);
  return sweep;
}

/// Some points of a set, by their numbers.
SetPointer only(const api::ExperimentSet& set, const std::vector<std::size_t>& numbers) {
  auto some = std::make_shared<api::ExperimentSet>();
  some->file = set.file;
  some->axis_names = set.axis_names;
  for (const std::size_t number : numbers) some->points.push_back(set.points.at(number));
  return some;
}

std::vector<std::string> check(const PointPointer& point) {
  std::vector<std::string> notes;
  watched([&](const Attention&) { notes = api::check(*point); }, py::none(), nullptr);
  return notes;
}

py::list check_deadlock(const SetPointer& set) {
  std::vector<api::DeadlockNote> notes;
  watched([&](const Attention&) { notes = api::check_deadlock(set->points); }, py::none(), nullptr);
  py::list list;
  for (const api::DeadlockNote& note : notes) list.append(py::make_tuple(note.bad, note.text));
  return list;
}

}  // namespace

void add_experiments(py::module_& module) {
  py::class_<Stop>(module, "Stop", "A request to stop a run, made by another thread.")
      .def(py::init<>())
      .def("request", &Stop::request);
  py::class_<api::Window>(module, "Window", "What happened in one window of run.window cycles, all traffics together.")
      .def_readonly("number", &api::Window::number)
      .def_readonly("start", &api::Window::from)
      .def_readonly("end", &api::Window::to)
      .def_readonly("offered_load", &api::Window::offered_load, "Flits per cycle and terminal.")
      .def_readonly("accepted_load", &api::Window::accepted_load, "Flits per cycle and terminal.")
      .def_readonly("packet_latency", &api::Window::packet_latency, "Cycles; NaN where no packet arrives.")
      .def_readonly("delivered_packets", &api::Window::delivered_packets)
      .def_readonly("packets_in_network", &api::Window::packets_in_network, "At its end.")
      .def_readonly("source_backlog_flits", &api::Window::source_backlog_flits, "Flits that wait at its end.")
      .def("__repr__",
           [](const api::Window& window) {
             return fmt::format(
                 "<window {} of cycles {} to {}: offered load {:.4g}, accepted load {:.4g}, packet latency {:.4g}, "
                 "{} packets delivered, {} in the network, {} flits wait>",
                 window.number, window.from, window.to, window.offered_load, window.accepted_load,
                 window.packet_latency, window.delivered_packets, window.packets_in_network,
                 window.source_backlog_flits);
           })
      .def(py::pickle(
          [](const api::Window& w) {
            return py::make_tuple(w.number, w.from, w.to, w.offered_load, w.accepted_load, w.packet_latency,
                                  w.delivered_packets, w.packets_in_network, w.source_backlog_flits);
          },
          [](const py::tuple& state) {
            return api::Window{.number = state[0].cast<u64>(),
                               .from = state[1].cast<Tick>(),
                               .to = state[2].cast<Tick>(),
                               .offered_load = state[3].cast<double>(),
                               .accepted_load = state[4].cast<double>(),
                               .packet_latency = state[5].cast<double>(),
                               .delivered_packets = state[6].cast<u64>(),
                               .packets_in_network = state[7].cast<u64>(),
                               .source_backlog_flits = state[8].cast<u64>()};
          }));
  py::class_<api::Experiment, PointPointer>(module, "Point", "One experiment in which every parameter has its value.")
      .def_readonly("name", &api::Experiment::name)
      .def_readonly("configuration", &api::Experiment::configuration)
      .def_readonly("configuration_hash", &api::Experiment::configuration_hash)
      .def_readonly("axes", &api::Experiment::axes)
      .def("check", &check)
      .def("topology_json", [](const api::Experiment& point) { return api::topology_json(point); })
      .def("topology_dot", [](const api::Experiment& point) { return api::topology_dot(point); })
      .def("topology_svg",
           [](const api::Experiment& point) {
             return report::network_svg(point.topology.component(), *api::build_topology(point));
           })
      .def("run", &run, py::arg("threads") = 1, py::arg("watches") = std::vector<std::string>(),
           py::arg("progress") = py::none(), py::arg("stop") = nullptr, py::arg("on_window") = py::none());
  py::class_<api::ExperimentSet, SetPointer>(module, "Points", "An experiment with its sweep expanded.")
      .def_readonly("file", &api::ExperimentSet::file)
      .def_readonly("axis_names", &api::ExperimentSet::axis_names)
      .def("__len__", [](const api::ExperimentSet& set) { return set.points.size(); })
      .def("__getitem__", &point_of)
      .def("check_deadlock", &check_deadlock)
      .def("idle_parameters", [](const api::ExperimentSet& set) { return api::idle_parameters(set.points); })
      .def("advice", [](const api::ExperimentSet& set) { return api::check_choices(set.points); })
      .def("only", &only)
      .def("sweep", &sweep);
  py::class_<Finished>(module, "Finished", "The points of a sweep that are done, by their numbers.")
      .def(py::init<>())
      .def_readonly("results", &Finished::results);
  module.def("refuse_file", &refuse_file);
  module.def("read_text", &read_text, py::arg("text"), py::arg("name"), py::arg("overrides"));
}

}  // namespace banyan::python
