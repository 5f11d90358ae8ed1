#include "banyan/api/predictions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace banyan::api {
namespace {

const core::AnalysisRow& row_of(const std::string& name) {
  for (const core::AnalysisRow* row : core::analysis_rows()) {
    if (row->info.name == name) return *row;
  }
  throw std::logic_error("component vanished: " + name);
}

void insert_behind(std::vector<stats::Metric>& metrics, const std::string& measured, stats::Metric metric) {
  const auto is_measured = [&](const stats::Metric& m) { return m.name == measured; };
  auto place = std::find_if(metrics.begin(), metrics.end(), is_measured);
  while (place != metrics.end() && (is_measured(*place) || place->name.starts_with(measured + kPredictedBy))) ++place;
  metrics.insert(place, std::move(metric));
}

/// "" when the run agrees with the bound, within its interval.
std::string contradiction(const Result& result, const core::Prediction& p, const std::string& model) {
  if (p.bound == core::Bound::none || result.verdict == Verdict::saturated || result.verdict == Verdict::deadlocked) {
    return "";
  }
  const stats::Metric* measured = result.find(p.metric);
  if (measured == nullptr) return "";
  const double slack = 3 * measured->half_width.value_or(0.0) + 1e-9 * std::abs(p.value);
  const bool upper = p.bound == core::Bound::upper;
  if (upper ? measured->mean - slack <= p.value : measured->mean + slack >= p.value) return "";
  return fmt::format("CONTRADICTION: {} = {:.6g} {} is {} the {} bound {:.6g} that {} proves", p.metric, measured->mean,
                     measured->unit, upper ? "above" : "below", upper ? "upper" : "lower", p.value, model);
}

/// The model's name; its number in the experiment follows where one model occurs several times, with other parameters.
std::string model_name(const Experiment& experiment, std::size_t analysis) {
  const std::string& name = experiment.analyses[analysis].component();
  const auto same = [&](const config::Values& other) { return other.component() == name; };
  const bool alone = std::count_if(experiment.analyses.begin(), experiment.analyses.end(), same) == 1;
  return alone ? name : fmt::format("{}.{}", name, analysis);
}

void append(std::string& text, const std::string& more, const char* between) {
  if (!text.empty()) text += between;
  text += more;
}

}  // namespace

std::vector<Predictions> predict(const Experiment& experiment, const Network& network) {
  std::vector<Predictions> all;
  if (experiment.analyses.empty()) return all;
  if (network.topology->subnetworks() > 1) {
    experiment.analyses.front().fail("name", "the models know of one network, and the topology has several subnetworks",
                                     "remove the analysis, or use topology.subnetworks = 1");
  }
  const Instance instance = build_instance(experiment, network, engine_settings(experiment));
  core::AnalysisContext context;
  context.topology = network.topology.get();
  context.switching = &experiment.switching;
  context.routing = &experiment.routing;
  context.router = network.routing.get();
  context.vcs = switch_row(experiment).vcs(experiment.switching);
  for (const config::Values& traffic : experiment.traffics) context.traffics.push_back(&traffic);
  for (const auto& traffic : instance.traffics) {
    traffic->begin(0);
    context.generators.push_back(traffic.get());
  }
  for (std::size_t i = 0; i < experiment.analyses.size(); ++i) {
    const config::Values& analysis = experiment.analyses[i];
    all.push_back({model_name(experiment, i), row_of(analysis.component()).make(analysis, context)->predict()});
  }
  return all;
}

void add_predictions(Result& result, const std::vector<Predictions>& predictions) {
  for (const Predictions& of_model : predictions) {
    for (const core::Prediction& p : of_model.list) {
      if (p.saturated) {
        append(result.explanation, fmt::format("{}: no steady state at this load, no {}", of_model.model, p.metric),
               "\n");
        continue;
      }
      stats::Metric metric;
      metric.name = p.metric + kPredictedBy + of_model.model;
      metric.mean = p.value;
      metric.unit = p.unit;
      metric.count = 1;
      metric.counter = true;
      insert_behind(result.metrics, p.metric, std::move(metric));
      if (const std::string text = contradiction(result, p, of_model.model); !text.empty()) {
        append(result.explanation, text, "\n");
        append(result.warning, text, "; ");
      }
    }
  }
}

}  // namespace banyan::api
