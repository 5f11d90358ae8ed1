#include "banyan/api/predictions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "banyan/base/error.hpp"
#include "banyan/stats/student.hpp"

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

/// How a measured metric lies to a bound: whether it is beyond it by more than its interval explains, and the sentence.
struct Comparison {
  bool beyond = false;
  std::string text;
};

/// Three half widths of an interval of 95 %, whatever the confidence of the run's own.
double chance_of(const stats::Metric& measured) {
  if (!measured.half_width) return 0.0;
  constexpr double kMany = 1e6;  // degrees of freedom: nearly the normal distribution, and few make it wider still
  const auto width = [](double confidence) { return stats::two_sided_student(confidence, kMany); };
  return 3.0 * *measured.half_width * std::max(1.0, width(0.95) / width(measured.confidence));
}

/// A bound of what is accepted is for the rates that are meant; flows that keep theirs bring as much more as chance has
/// offered more of.
double chance_of_offer(const Result& result, const core::Prediction& p) {
  const stats::Metric* const offered = p.metric == "accepted_load" ? result.find("offered_load") : nullptr;
  return offered == nullptr ? 0.0 : chance_of(*offered);
}

/// By how much a mean may be off because of which packets it is of: were none of the far pairs expected 16 times, that
/// would be as much.
double chance_of_packets(const stats::Metric& measured, const core::Prediction& p) {
  return measured.count == 0 ? 0.0 : 4.0 * p.spread / std::sqrt(static_cast<double>(measured.count));
}

Comparison compare(const stats::Metric& measured, double chance, const core::Prediction& p, const std::string& model) {
  const double slack = chance + 1e-9 * std::abs(p.value);
  const bool upper = p.bound != core::Bound::lower;
  return {upper ? measured.mean - slack > p.value : measured.mean + slack < p.value,
          fmt::format("{} = {:.6g} {} is {} the {} bound {:.6g} that {} proves", p.metric, measured.mean, measured.unit,
                      upper ? "above" : "below", upper ? "upper" : "lower", p.value, model)};
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

/// Proven bounds are of states in which all that is offered arrives (core::Bound), so that only a run that is shown to
/// be in such a state can contradict them. Of others it is said why they may lie beyond.
void judge(Result& result, const core::Prediction& p, const std::string& model) {
  const stats::Metric* const measured = result.find(p.metric);
  if (p.bound == core::Bound::none || result.verdict == Verdict::deadlocked || measured == nullptr) return;
  const double chance = chance_of(*measured) + chance_of_offer(result, p) + chance_of_packets(*measured, p);
  const Comparison comparison = compare(*measured, chance, p, model);
  if (!comparison.beyond) return;
  const bool always = p.bound == core::Bound::overload;
  const bool steady = result.verdict == Verdict::steady && result.certain;
  // A transient takes from buffers and wires what was sent before; without an interval nothing says how much chance is
  // in a mean.
  if (measured->half_width && (steady || (always && result.verdict == Verdict::saturated))) {
    append(result.explanation, "CONTRADICTION: " + comparison.text, "\n");
    append(result.warning, "CONTRADICTION: " + comparison.text, "; ");
  } else if (!always) {
    append(result.explanation,
           comparison.text + (result.verdict == Verdict::saturated
                                  ? " for demands that are all met alike: beyond saturation some get more than others"
                                  : " for a steady state: this run is not shown to be in one"),
           "\n");
  }
}

/// What is offered above a bound of what can be accepted stays behind, however steady a short run looks.
void compare_offered(Result& result, const core::Prediction& p, const std::string& model) {
  const bool upper = p.bound == core::Bound::upper || p.bound == core::Bound::overload;
  if (p.metric != "accepted_load" || !upper || result.verdict != Verdict::steady || result.certain) return;
  const stats::Metric* const offered = result.find("offered_load");
  if (offered == nullptr || !offered->half_width || offered->mean - chance_of(*offered) / 3.0 <= p.value) return;
  append(
      result.explanation,
      fmt::format("offered_load = {:.6g} {} is above {:.6g}, the most that is accepted ({}): a network that is offered "
                  "so much for long saturates",
                  offered->mean, offered->unit, p.value, model),
      "\n");
}

}  // namespace

core::AnalysisContext analysis_context(const Experiment& experiment, const Network& network, const Traffics& traffics) {
  core::AnalysisContext context;
  context.topology = network.topology.get();
  context.switching = &experiment.switching;
  context.routing = &experiment.routing;
  context.router = network.routing.get();
  const core::SwitchRow& row = switch_row(experiment);
  context.vcs = row.vcs(experiment.switching);
  context.ways_apart = row.ways_apart;
  if (row.capacity != nullptr) context.capacity = row.capacity(experiment.switching);
  context.held_back = experiment.admission.component() != "none";
  context.serves_sources = !row.keeps_messages && context.capacity.injection == 1.0;
  for (const config::Values& traffic : experiment.traffics) context.traffics.push_back(&traffic);
  for (const auto& traffic : traffics) {
    traffic->begin(0);
    context.generators.push_back(traffic.get());
  }
  return context;
}

namespace {

/// What a model says of the experiment. Where nothing limits a quantity, as on the network without contention, the
/// model has no number for it.
std::vector<core::Prediction> finite_predictions(const core::Analysis& model) {
  std::vector<core::Prediction> list = model.predict();
  std::erase_if(list, [](const core::Prediction& p) { return !std::isfinite(p.value); });
  return list;
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
  const core::AnalysisContext context = analysis_context(experiment, network, instance.traffics);
  for (std::size_t i = 0; i < experiment.analyses.size(); ++i) {
    const config::Values& analysis = experiment.analyses[i];
    all.push_back(
        {model_name(experiment, i), finite_predictions(*row_of(analysis.component()).make(analysis, context))});
  }
  return all;
}

std::vector<Predictions> proven_bounds(const Experiment& experiment, const Network& network) {
  std::vector<Predictions> all;
  if (network.topology->subnetworks() > 1) return all;
  const Traffics traffics = build_traffics(experiment, *network.topology);
  const core::AnalysisContext context = analysis_context(experiment, network, traffics);
  for (const core::AnalysisRow* row : core::analysis_rows()) {
    std::vector<core::Prediction> list;
    try {
      list = finite_predictions(*row->make(config::Values::defaults(row->info), context));
    } catch (const ConfigError&) { continue; }  // describes something else
    std::erase_if(list, [](const core::Prediction& p) { return p.bound == core::Bound::none || p.saturated; });
    if (!list.empty()) all.push_back({row->info.name, std::move(list)});
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
      insert_behind(result.metrics, p.metric,
                    stats::Metric::exact(p.metric + kPredictedBy + of_model.model, p.unit, p.value));
      judge(result, p, of_model.model);
      compare_offered(result, p, of_model.model);
    }
  }
}

}  // namespace banyan::api
