// Results: metrics as values, series and histograms as arrays that lie in the result's own memory.
#include <fmt/core.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "banyan/api/export.hpp"
#include "banyan/api/metrics.hpp"
#include "banyan/api/pool_seeds.hpp"
#include "banyan/api/result.hpp"
#include "banyan/base/error.hpp"
#include "banyan/python/bindings.hpp"
#include "banyan/report/sweep_report.hpp"

namespace banyan::python {
namespace {

namespace py = pybind11;
using ResultPointer = std::shared_ptr<api::Result>;

/// A view on values that `owner` keeps alive; nobody writes into results.
template <class T>
py::array_t<T> view(const T* first, std::size_t count, std::size_t stride, const py::object& owner) {
  py::array_t<T> array({static_cast<py::ssize_t>(count)}, {static_cast<py::ssize_t>(stride)}, first, owner);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

/// Values that the array takes over.
template <class T>
py::array_t<T> array_of(std::vector<T> values) {
  auto held = std::make_unique<std::vector<T>>(std::move(values));
  std::vector<T>* const kept = held.release();
  const py::capsule owner(kept, [](void* p) { delete static_cast<std::vector<T>*>(p); });
  return view(kept->data(), kept->size(), sizeof(T), owner);
}

/// A column of a table: whole numbers, numbers, or texts.
py::object column_of(const api::Table& table, std::size_t column) {
  bool whole = true;
  bool numbers = true;
  for (const auto& row : table.rows) {
    whole &= std::holds_alternative<u64>(row[column]);
    numbers &= !std::holds_alternative<std::string>(row[column]);
  }
  if (whole) {
    std::vector<u64> values;
    for (const auto& row : table.rows) values.push_back(std::get<u64>(row[column]));
    return array_of(std::move(values));
  }
  if (numbers) {
    std::vector<double> values;
    for (const auto& row : table.rows) {
      const u64* natural = std::get_if<u64>(&row[column]);
      values.push_back(natural != nullptr ? static_cast<double>(*natural) : std::get<double>(row[column]));
    }
    return array_of(std::move(values));
  }
  py::list texts;
  for (const auto& row : table.rows) texts.append(api::to_text(row[column]));
  py::object array = py::module_::import("numpy").attr("array")(texts, "str");
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

py::dict columns_of(const api::Table& table) {
  py::dict columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) { columns[py::str(table.columns[i])] = column_of(table, i); }
  return columns;
}

std::string to_text(const stats::Metric& metric) {
  std::string text = fmt::format("{:.6g}", metric.mean);
  if (metric.half_width && *metric.half_width > 0.0 && std::isfinite(*metric.half_width)) {
    const int digits = std::clamp(1 - static_cast<int>(std::floor(std::log10(*metric.half_width))), 0, 9);
    text = fmt::format("{:.{}f} ± {:.{}f}", metric.mean, digits, *metric.half_width, digits);
  }
  return metric.unit.empty() ? text : text + " " + metric.unit;
}

/// The element of a vector of the result, which lives as long.
template <class T>
std::shared_ptr<T> named(const ResultPointer& result, std::vector<T>& items, const std::string& name) {
  for (T& item : items) {
    if (item.name == name) return {result, &item};
  }
  return nullptr;
}

template <class T>
std::vector<std::string> names_of(const std::vector<T>& items) {
  std::vector<std::string> names;
  for (const T& item : items) names.push_back(item.name);
  return names;
}

// A result travels between processes as its JSON, with what that leaves out beside it. Numbers have the shortest text
// that gives the same bits again.
using Rows = std::vector<std::vector<std::variant<u64, double, std::string>>>;
using TableState = std::tuple<std::string, std::vector<std::string>, Rows>;
using BucketState = std::tuple<u64, u64, u64>;
using HistogramState = std::tuple<std::string, std::string, std::vector<BucketState>>;

HistogramState state_of_histogram(const api::Histogram& histogram) {
  std::vector<BucketState> buckets;
  for (const auto& bucket : histogram.buckets) buckets.emplace_back(bucket.low, bucket.high, bucket.count);
  return {histogram.name, histogram.unit, std::move(buckets)};
}

api::Histogram histogram_from(const HistogramState& state) {
  api::Histogram histogram{std::get<0>(state), std::get<1>(state), {}};
  for (const auto& [low, high, count] : std::get<2>(state)) histogram.buckets.push_back({low, high, count});
  return histogram;
}

py::tuple state_of_metric(const stats::Metric& m) {
  return py::make_tuple(m.name, m.mean, m.half_width, m.confidence, m.count, m.unit, m.counter);
}

stats::Metric metric_from(const py::tuple& state) {
  return {.name = state[0].cast<std::string>(),
          .mean = state[1].cast<double>(),
          .half_width = state[2].cast<std::optional<double>>(),
          .confidence = state[3].cast<double>(),
          .count = state[4].cast<u64>(),
          .unit = state[5].cast<std::string>(),
          .counter = state[6].cast<bool>()};
}

py::tuple state_of_series(const stats::Series& s) {
  return py::make_tuple(s.name, s.unit, s.start, s.interval, s.values);
}

stats::Series series_from(const py::tuple& state) {
  return {.name = state[0].cast<std::string>(),
          .unit = state[1].cast<std::string>(),
          .start = state[2].cast<double>(),
          .interval = state[3].cast<double>(),
          .values = state[4].cast<std::vector<double>>()};
}

py::tuple state_of(const api::Result& result) {
  std::vector<TableState> tables;
  for (const api::Table& table : result.tables) tables.emplace_back(table.name, table.columns, table.rows);
  std::vector<HistogramState> histograms;
  for (const api::Histogram& histogram : result.histograms) histograms.push_back(state_of_histogram(histogram));
  return py::make_tuple(api::to_json(result), tables, histograms);
}

ResultPointer from_state(const py::tuple& state) {
  auto result = std::make_shared<api::Result>(api::from_json(state[0].cast<std::string>()));
  for (auto& [name, columns, rows] : state[1].cast<std::vector<TableState>>())
    result->tables.push_back({name, columns, rows});
  for (const auto& histogram : state[2].cast<std::vector<HistogramState>>())
    result->histograms.push_back(histogram_from(histogram));
  return result;
}

// A pickled sweep holds what its tables and pages tell of the points, not what they could be run again from.
using Pairs = std::vector<std::pair<std::string, std::string>>;
using PointState = std::tuple<std::string, std::string, u64, Pairs, std::vector<std::string>>;

py::tuple state_of_sweep(const Sweep& sweep) {
  std::vector<PointState> points;
  for (const api::Experiment& point : sweep.set->points)
    points.emplace_back(point.name, point.configuration, point.configuration_hash, point.axes, point.labels);
  py::list results;
  for (const api::Result& result : sweep.results) results.append(state_of(result));
  return py::make_tuple(sweep.set->file, sweep.set->axis_names, points, results);
}

std::shared_ptr<Sweep> sweep_from_state(const py::tuple& state) {
  auto sweep = std::make_shared<Sweep>();
  sweep->set = std::make_shared<api::ExperimentSet>();
  sweep->set->file = state[0].cast<std::string>();
  sweep->set->axis_names = state[1].cast<std::vector<std::string>>();
  for (auto& [name, configuration, hash, axes, labels] : state[2].cast<std::vector<PointState>>()) {
    api::Experiment& point = sweep->set->points.emplace_back();
    point.name = name;
    point.configuration = configuration;
    point.configuration_hash = hash;
    point.axes = axes;
    point.labels = labels;
  }
  for (const py::handle result : state[3]) sweep->results.push_back(*from_state(result.cast<py::tuple>()));
  return sweep;
}

/// Values that are pickled as a tuple are equal where these tuples are.
template <class Value, class... Options>
void add_equality(py::class_<Value, Options...>& type, py::tuple (*state)(const Value&)) {
  type.def("__eq__", [state](const Value& self, const py::object& other) -> py::object {
    if (!py::isinstance<Value>(other)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
    return py::bool_(state(self).equal(state(other.cast<const Value&>())));
  });
  type.def("__hash__", [state](const Value& self) { return py::hash(state(self)); });
}

void add_parts(py::module_& module) {
  using stats::Metric;
  py::class_<Metric, std::shared_ptr<Metric>> metric_class(module, "Metric",
                                                           "A mean with its confidence interval, or a counter.");
  add_equality(metric_class, &state_of_metric);
  metric_class.def_readonly("name", &Metric::name)
      .def_readonly("mean", &Metric::mean)
      .def_readonly("half_width", &Metric::half_width,
                    "Of the confidence interval; None of a counter, and of too few samples.")
      .def_readonly("confidence", &Metric::confidence)
      .def_readonly("count", &Metric::count, "Samples that the mean stands on.")
      .def_readonly("unit", &Metric::unit)
      .def_readonly("counter", &Metric::counter, "True: an exact count, without sampling error.")
      .def("__float__", [](const Metric& metric) { return metric.mean; })
      .def("__str__", &to_text)
      .def("__repr__", [](const Metric& metric) { return "<" + metric.name + ": " + to_text(metric) + ">"; })
      .def(py::pickle(&state_of_metric, &metric_from));
  py::class_<stats::Series, std::shared_ptr<stats::Series>>(module, "Series", "Values over time.")
      .def_readonly("name", &stats::Series::name)
      .def_readonly("unit", &stats::Series::unit)
      .def_readonly("start", &stats::Series::start, "Time of the first value, cycles.")
      .def_readonly("interval", &stats::Series::interval, "Cycles between values.")
      .def_property_readonly("values",
                             [](const py::object& self) {
                               const auto& values = self.cast<const stats::Series&>().values;
                               return view(values.data(), values.size(), sizeof(double), self);
                             })
      .def("__repr__",
           [](const stats::Series& series) {
             return fmt::format("<series of {}{}: {} values, one per {} cycles from {} on>", series.name,
                                series.unit.empty() ? "" : " (" + series.unit + ")", series.values.size(),
                                series.interval, series.start);
           })
      .def(py::pickle(&state_of_series, &series_from));
  using Bucket = api::Histogram::Bucket;
  const auto field = [](const u64 Bucket::*member) {
    return [member](const py::object& self) {
      const auto& buckets = self.cast<const api::Histogram&>().buckets;
      static const Bucket none{};
      return view(&((buckets.empty() ? &none : buckets.data())->*member), buckets.size(), sizeof(Bucket), self);
    };
  };
  py::class_<api::Histogram, std::shared_ptr<api::Histogram>>(module, "Histogram", "Values in buckets, ascending.")
      .def_readonly("name", &api::Histogram::name)
      .def_readonly("unit", &api::Histogram::unit)
      .def_property_readonly("low", field(&Bucket::low), "Least value of each bucket.")
      .def_property_readonly("high", field(&Bucket::high), "Greatest value of each bucket.")
      .def_property_readonly("count", field(&Bucket::count))
      .def("__repr__",
           [](const api::Histogram& histogram) {
             u64 values = 0;
             for (const Bucket& bucket : histogram.buckets) values += bucket.count;
             return fmt::format("<histogram of {} ({}): {} values in {} buckets>", histogram.name, histogram.unit,
                                values, histogram.buckets.size());
           })
      .def(py::pickle([](const api::Histogram& histogram) { return py::make_tuple(state_of_histogram(histogram)); },
                      [](const py::tuple& state) { return histogram_from(state[0].cast<HistogramState>()); }));
}

void add_result(py::module_& module) {
  using api::Result;
  py::class_<Result, ResultPointer>(module, "Result")
      .def_readonly("version", &Result::version)
      .def_readonly("compiler", &Result::compiler)
      .def_property_readonly("state_hash", [](const Result& r) { return fmt::format("{:016x}", r.state_hash); })
      .def_readonly("configuration", &Result::configuration)
      .def_property_readonly("configuration_hash",
                             [](const Result& r) { return fmt::format("{:016x}", r.configuration_hash); })
      .def_readonly("seed", &Result::seed)
      .def_property_readonly("verdict", [](const Result& r) { return api::to_string(r.verdict); })
      .def_readonly("certain", &Result::certain)
      .def_readonly("explanation", &Result::explanation)
      .def_readonly("warning", &Result::warning)
      .def_readonly("cpu_seconds", &Result::cpu_seconds)
      .def_readonly("peak_bytes", &Result::peak_bytes)
      .def_property_readonly("metric_names", [](const Result& r) { return names_of(r.metrics); })
      .def_property_readonly("series_names", [](const Result& r) { return names_of(r.series); })
      .def_property_readonly("histogram_names", [](const Result& r) { return names_of(r.histograms); })
      .def_property_readonly("table_names", [](const Result& r) { return names_of(r.tables); })
      .def("find", [](const ResultPointer& r, const std::string& name) { return named(r, r->metrics, name); })
      .def("at",
           [](const ResultPointer& r, const std::string& name) {
             static_cast<void>(r->at(name));
             return named(r, r->metrics, name);
           })
      .def("series", [](const ResultPointer& r, const std::string& name) { return named(r, r->series, name); })
      .def("histogram", [](const ResultPointer& r, const std::string& name) { return named(r, r->histograms, name); })
      .def("table",
           [](const ResultPointer& r, const std::string& name) {
             const auto table = named(r, r->tables, name);
             return table == nullptr ? py::object(py::none()) : py::object(columns_of(*table));
           })
      .def("json", [](const Result& r) { return api::to_json(r); })
      .def("csv", [](const Result& r) { return api::to_csv(r); })
      .def("text", [](const Result& r) { return api::to_table(r); })
      .def(py::pickle(&state_of, &from_state));
  module.def("points_of", [](const Result& result) {
    auto set = std::make_shared<api::ExperimentSet>();
    api::Experiment& point = set->points.emplace_back();
    const auto configuration = nlohmann::json::parse(result.configuration, nullptr, false);
    if (configuration.is_object()) point.name = configuration.value("name", "");
    point.configuration = result.configuration;
    point.configuration_hash = result.configuration_hash;
    return set;
  });
  module.def("is_metric", [](const std::string& name) { return api::find_metric(name) != nullptr; });
  module.def("pool_seeds", [](const std::vector<ResultPointer>& results, const std::string& metric) {
    std::vector<const Result*> runs;
    for (const ResultPointer& result : results) runs.push_back(result.get());
    const std::optional<stats::Interval> pooled = api::pool_seeds(runs, metric);
    return pooled ? std::optional(std::make_pair(pooled->mean, pooled->half_width)) : std::nullopt;
  });
  module.def("result_from_json",
             [](const std::string& text) { return std::make_shared<Result>(api::from_json(text)); });
}

void add_sweep(py::module_& module) {
  py::class_<Sweep, std::shared_ptr<Sweep>>(module, "Sweep", "Finished points with their results.")
      .def(py::init([](std::shared_ptr<api::ExperimentSet> set, const std::vector<ResultPointer>& results) {
        auto sweep = std::make_shared<Sweep>();
        sweep->set = std::move(set);
        if (results.size() != sweep->set->points.size()) throw py::value_error("one result per point is needed");
        for (const ResultPointer& result : results) sweep->results.push_back(*result);
        return sweep;
      }))
      .def("__len__", [](const Sweep& sweep) { return sweep.results.size(); })
      .def("__getitem__",
           [](const std::shared_ptr<Sweep>& sweep, std::size_t index) {
             if (index >= sweep->results.size()) throw py::index_error("the sweep has no such point");
             return ResultPointer(sweep, &sweep->results[index]);
           })
      .def_property_readonly("axis_names", [](const Sweep& sweep) { return sweep.set->axis_names; })
      .def("axes", [](const Sweep& sweep, std::size_t index) { return sweep.set->points.at(index).axes; })
      .def("csv", [](const Sweep& sweep) { return api::to_csv(*sweep.set, sweep.results); })
      .def("series_csv", [](const Sweep& sweep) { return api::series_csv(*sweep.set, sweep.results); })
      .def("json", [](const Sweep& sweep) { return api::to_json(*sweep.set, sweep.results); })
      .def("text",
           [](const Sweep& sweep, const std::vector<std::string>& metrics) {
             return api::to_table(*sweep.set, sweep.results, metrics);
           })
      .def("html",
           [](const Sweep& sweep) {
             return report::to_html(report::sweep_page(*sweep.set, sweep.results, sweep.results.size()));
           })
      .def("write_page",
           [](const Sweep& sweep, const std::string& folder) {
             return report::write_page(report::sweep_page(*sweep.set, sweep.results, sweep.results.size()), folder);
           })
      .def(py::pickle(&state_of_sweep, &sweep_from_state));
}

}  // namespace

void add_results(py::module_& module) {
  add_parts(module);
  add_result(module);
  add_sweep(module);
}

}  // namespace banyan::python
