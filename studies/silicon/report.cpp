#include "report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "banyan/config/resolve.hpp"

namespace banyan::study::silicon {
namespace {

/// With linear interpolation between order statistics.
double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0.0;
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

/// Equal values share the mean of their ranks.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    for (std::size_t i = first; i < last; ++i) ranks[order[i]] = static_cast<double>(first + last - 1) / 2.0;
    first = last;
  }
  return ranks;
}

/// Barriers of one trace by one model: those that count.
struct Sample {
  std::vector<double> errors;
  Errors summary;
};

/// `replays`: by all models, in their order.
std::vector<Wait> waits_of(const Trace& trace, const std::vector<Replay>& replays) {
  std::map<std::pair<u32, u32>, Wait> waits;
  for (const Replay& replay : replays) {
    for (const Barrier& barrier : replay.barriers) {
      if (barrier.overlaps_profiler) continue;
      const Processor& processor = trace.processors[barrier.processor];
      Wait& wait = waits[{barrier.processor, barrier.phase}];
      if (wait.modelled.empty()) wait = {trace.name, processor.name, processor.node, barrier.phase, barrier.wait(), {}};
      wait.modelled.push_back(barrier.model_wait);
    }
  }
  std::vector<Wait> all;
  for (auto& [place, wait] : waits) all.push_back(std::move(wait));
  return all;
}

Sample sample_of(const Replay& replay) {
  Sample sample;
  std::vector<double> measured;
  std::vector<double> modelled;
  for (const Barrier& barrier : replay.barriers) {
    if (barrier.overlaps_profiler) continue;
    sample.errors.push_back(barrier.error());
    measured.push_back(static_cast<double>(barrier.end));
    modelled.push_back(barrier.model_end);
  }
  sample.summary = errors_of(sample.errors);
  sample.summary.ranks = rank_correlation(measured, modelled);
  return sample;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

nlohmann::ordered_json to_json(const Errors& errors) {
  if (errors.barriers == 0) {
    return {{"barriers", 0},          {"median_error", nullptr}, {"p90_error", nullptr},
            {"worst_error", nullptr}, {"bias", nullptr},         {"rank_correlation", nullptr}};
  }
  return {{"barriers", errors.barriers},
          {"median_error", errors.median},
          {"p90_error", errors.ninetieth},
          {"worst_error", errors.worst},
          {"bias", errors.bias},
          {"rank_correlation", errors.ranks ? nlohmann::ordered_json(*errors.ranks) : nlohmann::ordered_json(nullptr)}};
}

nlohmann::ordered_json to_json(const std::map<std::string, Errors>& models) {
  nlohmann::ordered_json object;
  for (std::size_t i = 1; i < model_names().size(); ++i)
    object[model_names()[i]] = to_json(models.at(model_names()[i]));
  return object;
}

/// The mean over traces of the ranks, and all errors of a class together.
class ClassSum {
 public:
  void add(const std::string& model, const Sample& sample) {
    std::vector<double>& all = errors_[model];
    all.insert(all.end(), sample.errors.begin(), sample.errors.end());
    if (sample.summary.ranks) ranks_[model].push_back(*sample.summary.ranks);
  }
  [[nodiscard]] std::map<std::string, Errors> result() const {
    std::map<std::string, Errors> models;
    for (const auto& [model, all] : errors_) {
      Errors errors = errors_of(all);
      const auto ranks = ranks_.find(model);
      if (ranks != ranks_.end()) {
        errors.ranks = std::accumulate(ranks->second.begin(), ranks->second.end(), 0.0) /
                       static_cast<double>(ranks->second.size());
      }
      models.emplace(model, errors);
    }
    return models;
  }
  u64 traces = 0;
  std::vector<Wait> waits;

 private:
  std::map<std::string, std::vector<double>> errors_;
  std::map<std::string, std::vector<double>> ranks_;
};

std::string line_of(const std::string& title, const Errors& errors, const std::string& rest) {
  if (errors.barriers == 0) {
    return fmt::format("{:<34} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6}{}\n", title, 0, "-", "-", "-", "-", "-", rest);
  }
  return fmt::format("{:<34} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6}{}\n", title, errors.barriers, percent(errors.median),
                     percent(errors.ninetieth), percent(errors.worst), fmt::format("{:+.1f} %", 100.0 * errors.bias),
                     errors.ranks ? fmt::format("{:.2f}", *errors.ranks) : "-", rest);
}

}  // namespace

Errors errors_of(const std::vector<double>& errors) {
  Errors result;
  result.barriers = errors.size();
  if (errors.empty()) return result;
  std::vector<double> sizes;
  for (const double error : errors) sizes.push_back(std::abs(error));
  result.median = quantile(sizes, 0.5);
  result.ninetieth = quantile(sizes, 0.9);
  result.worst = quantile(sizes, 1.0);
  result.bias = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
  return result;
}

std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 3) return std::nullopt;
  const std::vector<double> x = ranks_of(a);
  const std::vector<double> y = ranks_of(b);
  const double mean = static_cast<double>(a.size() - 1) / 2.0;
  double xy = 0.0;
  double xx = 0.0;
  double yy = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  if (xx == 0.0 || yy == 0.0) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names{"banyan", "zero load", "bottleneck bytes", "max-min"};
  return names;
}

/// Issue-bound barriers wait for the processor's own last read: no credit for those.
std::string verdict(const ClassResult& one) {
  if (one.trace_class == TraceClass::issue_bound) return "no credit: the processors' own pace decides these waits";
  const Errors& banyan = one.models.at(model_names().front());
  const Errors& shares = one.models.at("max-min");
  const bool median = banyan.median < shares.median;
  const bool ninetieth = banyan.ninetieth < shares.ninetieth;
  if (median && ninetieth) return "Banyan beats max-min shares at the median and at the 90th percentile";
  if (!median && !ninetieth) return "Banyan does not beat max-min shares";
  return fmt::format("Banyan beats max-min shares at the {}, and not at the {}", median ? "median" : "90th percentile",
                     median ? "90th percentile" : "median");
}

Comparison compare(const std::vector<Trace>& traces, const config::Values& values) {
  const Constants constants = constants_of(values);
  Comparison comparison;
  for (const auto& [name, value] : values.all()) comparison.constants.emplace_back(name, config::to_text(value));
  std::map<TraceClass, ClassSum> sums;
  Networks networks(constants);
  for (const Trace& trace : traces) {
    networks.reset();
    const std::unique_ptr<Carrier> alone = zero_load(constants);
    const std::unique_ptr<Carrier> shares = max_min(constants);
    const std::vector<Replay> replays{replay(trace, constants, networks), replay(trace, constants, *alone),
                                      bottleneck(trace, constants), replay(trace, constants, *shares)};
    TraceResult result{trace.name, trace.trace_class, 0, replays[0].empty, trace.others, {}};
    for (const Barrier& barrier : replays[0].barriers) result.left_out += barrier.overlaps_profiler ? 1 : 0;
    ClassSum& sum = sums[trace.trace_class];
    ++sum.traces;
    for (Wait& wait : waits_of(trace, replays)) sum.waits.push_back(std::move(wait));
    for (std::size_t i = 0; i < replays.size(); ++i) {
      const Sample sample = sample_of(replays[i]);
      result.models.emplace(model_names()[i], sample.summary);
      sum.add(model_names()[i], sample);
    }
    comparison.traces.push_back(std::move(result));
  }
  for (auto& [trace_class, sum] : sums)
    comparison.classes.push_back({trace_class, sum.traces, sum.result(), std::move(sum.waits)});
  return comparison;
}

std::string to_table(const Comparison& comparison) {
  std::string text = "Relative error of the wait at a barrier, from the last read before it to its end\n\n";
  const std::string head = fmt::format("{:<34} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6}", "", "barriers", "median", "90th %",
                                       "worst", "bias", "ranks");
  text += head + "\n";
  for (const ClassResult& one : comparison.classes) {
    text += fmt::format("{}, {} traces: {}\n", to_string(one.trace_class), one.traces, verdict(one));
    for (const std::string& model : model_names()) text += line_of("  " + model, one.models.at(model), "");
  }
  text += "\n" + head + "  left out, empty\n";
  for (const TraceResult& trace : comparison.traces) {
    std::string rest = fmt::format("  {}, {}", trace.left_out, trace.empty);
    if (trace.others > 0) rest += fmt::format("; {} events not replayed", trace.others);
    text += line_of(trace.name, trace.models.at(model_names().front()), rest);
  }
  for (const auto& [name, why] : comparison.refused) text += fmt::format("{:<34} not read\n", name);
  text += "\nConstants:";
  for (const auto& [name, value] : comparison.constants) text += fmt::format(" {} = {}", name, value);
  return text + "\n";
}

std::string to_json(const Comparison& comparison) {
  nlohmann::ordered_json root{{"study", "silicon"}};
  for (const auto& [name, value] : comparison.constants) root["constants"][name] = value;
  root["traces"] = nlohmann::ordered_json::array();
  for (const TraceResult& trace : comparison.traces) {
    nlohmann::ordered_json one{{"trace", trace.name}, {"class", to_string(trace.trace_class)}};
    one.update(to_json(trace.models.at(model_names().front())));
    one.update({{"left_out", trace.left_out}, {"empty", trace.empty}, {"not_replayed", trace.others}});
    one["baselines"] = to_json(trace.models);
    root["traces"].push_back(std::move(one));
  }
  root["refused"] = nlohmann::ordered_json::array();
  for (const auto& [name, why] : comparison.refused) root["refused"].push_back({{"trace", name}, {"why", why}});
  root["classes"] = nlohmann::ordered_json::array();
  for (const ClassResult& trace_class : comparison.classes) {
    nlohmann::ordered_json one{{"class", to_string(trace_class.trace_class)}, {"traces", trace_class.traces}};
    one.update(to_json(trace_class.models.at(model_names().front())));
    one["credit"] = trace_class.trace_class != TraceClass::issue_bound;
    one["baselines"] = to_json(trace_class.models);
    root["classes"].push_back(std::move(one));
  }
  return root.dump(2);
}

}  // namespace banyan::study::silicon
