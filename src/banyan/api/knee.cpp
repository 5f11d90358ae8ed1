#include "banyan/api/knee.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "banyan/api/full_load.hpp"
#include "banyan/api/network.hpp"
#include "banyan/api/physical.hpp"
#include "banyan/base/error.hpp"
#include "banyan/config/json.hpp"

namespace banyan::api {
namespace {

using nlohmann::ordered_json;

/// A run of chance offers a little more or less than its load: a load that is so far above a bound does not pass it by
/// chance.
constexpr double kSureBeyond = 0.02;
/// Of what is offered: a certain verdict resolves half as much that stays behind.
constexpr double kSureBehind = 0.002;
constexpr double kGreatestLoad = 1.0;  ///< a terminal generates no more than its channel could carry

/// A key that the search sets, and its part of the load.
struct Varied {
  std::string key;
  double share = 1.0;
};

bool has_load(const config::Values& traffic) { return traffic.all().contains("load"); }

std::string load_key(std::size_t traffic) { return fmt::format("traffic.{}.load", traffic); }

std::vector<Varied> loads_of(const Experiment& experiment) {
  if (!experiment.jobs.empty()) {
    throw ConfigError({experiment.name, 0, 0, "job"},
                      "a run of jobs ends with them, whatever the load beside them: it has no verdict on saturation",
                      "leave out the jobs, or vary what they do with \"banyan sweep\"");
  }
  std::vector<Varied> loads;
  double sum = 0.0;
  for (std::size_t i = 0; i < experiment.traffics.size(); ++i) {
    if (!has_load(experiment.traffics[i])) continue;
    loads.push_back({load_key(i), experiment.traffics[i].real("load")});
    sum += loads.back().share;
  }
  if (loads.empty()) {
    throw ConfigError({experiment.name, 0, 0, "traffic"}, "no traffic of the experiment has a load to vary",
                      "use traffics with a load alone, such as traffic = { name = \"uniform\" }");
  }
  for (Varied& load : loads) load.share = sum > 0.0 ? load.share / sum : 1.0 / static_cast<double>(loads.size());
  return loads;
}

/// A load that may be varied alone, of the traffic that the key speaks of where it has one: "traffic.uniform.load", of
/// several uniform traffics "traffic.0.load". "": there is none.
std::string load_near(const std::string& key, const Experiment& experiment) {
  std::string near;
  for (std::size_t i = 0; i < experiment.traffics.size(); ++i) {
    if (!has_load(experiment.traffics[i])) continue;
    const std::string& name = experiment.traffics[i].component();
    const bool alone = std::ranges::count(experiment.traffics, name, &config::Values::component) == 1;
    const std::string path = alone ? "traffic." + name : fmt::format("traffic.{}", i);
    const bool meant = key.starts_with(path + ".") || key.starts_with(fmt::format("traffic.{}.", i));
    if (near.empty() || meant) near = path + ".load";
  }
  return near;
}

/// What the experiment is with a value of the key, or why it has none.
struct Tried {
  std::vector<config::Values> traffics;
  std::optional<ConfigError> error;
};

Tried try_key(const ReadExperiments& read, Overrides overrides, const std::string& key, double value) {
  overrides.push_back(fmt::format("{}={}", key, value));
  try {
    return {read(overrides).points.front().traffics, std::nullopt};
  } catch (const ConfigError& error) { return {{}, error}; }
}

/// A key is the load of a traffic where that takes the values which the key is given: there are many ways to write one.
/// What is said of a key that does not exist is the same for every value.
void require_load(const ReadExperiments& read, const Overrides& overrides, const Experiment& experiment,
                  const std::string& key) {
  const Tried some = try_key(read, overrides, key, 0.25);
  const Tried more = try_key(read, overrides, key, 0.75);
  if (some.error && more.error && some.error->cause() == more.error->cause()) throw *some.error;
  for (std::size_t i = 0; i < std::min(some.traffics.size(), more.traffics.size()); ++i) {
    if (!has_load(some.traffics[i]) || !has_load(more.traffics[i])) continue;
    if (some.traffics[i].real("load") == 0.25 && more.traffics[i].real("load") == 0.75) return;
  }
  const std::string load = load_near(key, experiment);
  throw ConfigError({experiment.name, 0, 0, "key"}, key + " is no load of a traffic",
                    (load.empty() ? "" : fmt::format("give the key {}, or ", load)) + "vary it with \"banyan sweep\"");
}

double total_load(const Experiment& experiment) {
  double sum = 0.0;
  for (const config::Values& traffic : experiment.traffics) sum += has_load(traffic) ? traffic.real("load") : 0.0;
  return sum;
}

/// A point of a sweep over the load: what it sets beside.
struct Swept {
  double load = 0.0;
  Overrides changes;
};

/// The points of a sweep whose axes are zipped with the load, so that each load has one of them; empty when there is no
/// sweep, or one over something else.
std::vector<Swept> swept_loads(const ExperimentSet& set) {
  std::vector<Swept> all;
  if (set.points.size() < 2) return all;
  for (const Experiment& point : set.points) {
    Swept swept{total_load(point), {}};
    for (const auto& [key, value] : point.axes) swept.changes.push_back(key + "=" + value);
    const auto same = [&](const Swept& other) { return other.load == swept.load; };
    if (std::any_of(all.begin(), all.end(), same)) return {};
    all.push_back(std::move(swept));
  }
  return all;
}

class Search {
 public:
  Search(const ReadExperiments& read, const Overrides& overrides, const KneeOptions& options)
      : read_(read), overrides_(overrides), options_(options) {
    const ExperimentSet set = read(overrides);
    if (!options.key.empty()) require_load(read, overrides, set.points.front(), options.key);
    varied_ = options.key.empty() ? loads_of(set.points.front()) : std::vector<Varied>{{options.key, 1.0}};
    if (options.key.empty()) swept_ = swept_loads(set);
    const Experiment zero = experiment_at(0.0);
    knee_.others = total_load(zero);  // what the search leaves alone
    knee_.key = options.key;
    greatest_ = kGreatestLoad - knee_.others;
    if (greatest_ <= 0.0) {
      throw ConfigError(
          {zero.name, 0, 0, options.key},
          fmt::format("the other traffics have a load of {:g}, and nothing is left to vary", knee_.others),
          "lower their load below 1 in sum");
    }
    refuse_sessions(zero);
  }

  Knee find() {
    bracket();
    bound();
    return std::move(knee_);
  }

 private:
  void bracket() {
    knee_.low = 0.0;
    knee_.high = greatest_;
    if (!saturates(greatest_)) {
      knee_.low = greatest_;
      knee_.found = false;
      return;
    }
    while (knee_.high - knee_.low > options_.width) {
      const double middle = (knee_.low + knee_.high) / 2.0;
      if (middle <= knee_.low || middle >= knee_.high) break;
      (saturates(middle) ? knee_.high : knee_.low) = middle;
    }
    // Where the others keep their load, nobody has seen yet that the network carries that.
    if (knee_.low == 0.0 && knee_.others > 0.0 && saturates(0.0)) knee_.high = 0.0;
    for (const Probe& probe : knee_.probes) {
      if (probe.load != knee_.high || probe.verdict != Verdict::deadlocked) continue;
      knee_.deadlocks = true;
      knee_.deadlock = probe.explanation;
    }
  }

  /// What is zipped with the load is as at the bracket's lower end.
  void bound() {
    const auto at = [&](double load) { return fullness_of(experiment_at(load, knee_.low)); };
    const std::optional<FullLoad> full = full_load(at, greatest_);
    if (!full) return;
    knee_.bound = KneeBound{full->load, full->offered, full->others, full->model};
    double steady = 0.0;
    for (const Probe& probe : knee_.probes) {
      if (probe.certain && probe.verdict == Verdict::steady) steady = std::max(steady, probe.load);
    }
    if (steady + knee_.others <= (full->load + knee_.others) * (1.0 + kSureBeyond)) return;
    const Fullness beyond = at(steady);
    knee_.contradiction = !beyond.most || *beyond.most < beyond.offered * (1.0 - kSureBehind);
  }

  [[nodiscard]] Experiment experiment_at(double load) const { return experiment_at(load, load); }

  /// `zipped`: the load whose point says what is zipped with it.
  [[nodiscard]] Experiment experiment_at(double load, double zipped) const {
    // What is zipped with the load has the value of the nearest point; of two overrides of a key the last one holds.
    Overrides changed = overrides_;
    if (const Swept* nearest = nearest_point(zipped)) {
      changed.insert(changed.end(), nearest->changes.begin(), nearest->changes.end());
    }
    for (const Varied& varied : varied_) changed.push_back(fmt::format("{}={}", varied.key, load * varied.share));
    const ExperimentSet set = read_(changed);
    if (set.points.size() != 1) {
      throw ConfigError(
          {set.file, 0, 0, "sweep"},
          fmt::format("the file sweeps {}: {} networks, not one", fmt::join(set.axis_names, ", "), set.points.size()),
          fmt::format("give every swept key one value: {}=VALUE", fmt::join(set.axis_names, "=VALUE ")));
    }
    // A run goes on until its verdict is certain, by the rule of all runs, also where the file gives it a length; for a
    // precision it goes on anyway.
    const config::Values& run = set.points.front().run;
    if (run.real("precision") > 0.0 || run.integer("extension") >= kDefaultExtension) return set.points.front();
    changed.push_back(fmt::format("run.extension={}", kDefaultExtension));
    return read_(changed).points.front();
  }

  [[nodiscard]] const Swept* nearest_point(double load) const {
    const auto nearest = std::min_element(swept_.begin(), swept_.end(), [&](const Swept& a, const Swept& b) {
      return std::abs(a.load - load) < std::abs(b.load - load);
    });
    return nearest == swept_.end() ? nullptr : &*nearest;
  }

  static void refuse_sessions(const Experiment& experiment) {
    if (is_fixed(experiment.run)) {
      experiment.run.fail("duration", "a run of fixed length has no steady state, and so no verdict on saturation",
                          "give run.warmup and run.measure instead");
    }
    const Network network = build_network(experiment);
    if (!has_sessions(experiment, build_traffics(experiment, *network.topology))) return;
    throw ConfigError({experiment.name, 0, 0, "traffic"}, "an experiment of sessions has no load at which it saturates",
                      "leave out the finite traffic, or vary its load with \"banyan sweep\"");
  }

  bool saturates(double load) {
    Experiment experiment = experiment_at(load);
    const Result result = options_.run ? options_.run(experiment) : run(experiment);
    if (const std::optional<Worth> rate = worth_of("flits/cycle", result)) knee_.gigabytes = rate->factor;
    const stats::Metric* const longer = result.find("measured_cycles");
    const u64 measured =
        longer == nullptr ? static_cast<u64>(experiment.run.integer("measure")) : static_cast<u64>(longer->mean);
    knee_.probes.push_back({load, std::move(experiment), measured, result.verdict, result.certain, {}});
    if (result.verdict == Verdict::deadlocked || !result.certain) knee_.probes.back().explanation = result.explanation;
    const bool deadlocks = result.verdict == Verdict::deadlocked;
    if (!result.certain && !deadlocks) knee_.uncertain.push_back(load);
    return result.verdict == Verdict::saturated || deadlocks;
  }

  const ReadExperiments& read_;
  const Overrides& overrides_;
  const KneeOptions& options_;
  std::vector<Varied> varied_;
  std::vector<Swept> swept_;  ///< see swept_loads
  double greatest_ = kGreatestLoad;
  Knee knee_;
};

std::string remark(const Probe& probe) {
  return fmt::format("{:<8.6g}  {:>9}  {}", probe.load, probe.measured, verdict_text(probe.verdict, probe.certain));
}

/// Of a bracket: nothing where all loads are varied.
std::string of_which(const Knee& knee) {
  if (knee.key.empty()) return "";
  const std::string others = knee.others > 0.0 ? fmt::format(", beside {:g} of other traffics", knee.others) : "";
  return " of " + knee.key + others;
}

/// What the bracket is to be compared with; a steady run above it is a fault of the program or of the model.
std::string remark(const Knee& knee) {
  if (!knee.bound) return "no model proves an upper bound of this network and traffic\n";
  const KneeBound& bound = *knee.bound;
  std::string text = fmt::format("upper bound: {:.4g} flits per cycle and terminal{}", bound.load,
                                 knee.key.empty() ? "" : " of " + knee.key);
  if (bound.load <= 0.0) {
    text += fmt::format(": the other traffics alone reach it ({}", bound.model);
  } else if (bound.others > 0.0) {
    text +=
        fmt::format(" ({}; {:.4g} of all traffics together, in the mean of all terminals", bound.model, bound.accepted);
  } else if (std::abs(bound.load - bound.accepted) > 1e-9 * bound.load) {
    text += fmt::format(" ({}; {:.4g} in the mean of all terminals, of which some send nothing", bound.model,
                        bound.accepted);
  } else {
    text += fmt::format(" ({}", bound.model);
  }
  text += ")\n";
  if (knee.contradiction) return text + "CONTRADICTION: the bracket lies above this bound\n";
  if (knee.low <= bound.load * (1.0 + 1e-9)) return text;
  const bool uncertain = std::ranges::find(knee.uncertain, knee.low) != knee.uncertain.end();
  return text + "the bracket lies above this bound, by " +
         (uncertain ? "verdicts that stayed uncertain\n" : "less than a run can tell\n");
}

}  // namespace

Knee find_knee(const ReadExperiments& read, const Overrides& overrides, const KneeOptions& options) {
  return Search(read, overrides, options).find();
}

std::string why_uncertain(const Knee& knee) {
  const auto is_short = [](const Probe& probe) {
    return probe.certain || probe.explanation.find("a longer run (run.measure) would tell") != std::string::npos;
  };
  return std::ranges::all_of(knee.probes, is_short) ? "longer runs (run.extension) would tell"
                                                    : "\"banyan run\" at that load says why";
}

std::string to_text(const Knee& knee) {
  std::string text = "load        measure  verdict\n";
  for (const Probe& probe : knee.probes) text += remark(probe) + "\n";
  const std::string doubt = knee.uncertain.empty() ? ""
                                                   : fmt::format("the verdict stayed uncertain at {:g}: {}\n",
                                                                 fmt::join(knee.uncertain, ", "), why_uncertain(knee));
  if (!knee.found) {
    return text +
           fmt::format("{} at the greatest load, {:g}{}\n", doubt.empty() ? "not saturated" : "not shown to saturate",
                       knee.high, of_which(knee)) +
           remark(knee) + doubt;
  }
  if (knee.deadlocks) {
    return text +
           fmt::format(
               "deadlocks, and is not shown to saturate, between {:g} and {:g} flits per cycle and "
               "terminal{}; at {:g}: {}\n",
               knee.low, knee.high, of_which(knee), knee.high, knee.deadlock) +
           remark(knee);
  }
  if (knee.high == 0.0) {
    return text +
           fmt::format("the other traffics alone, with {:g}, saturate the network: nothing is left for {}\n",
                       knee.others, knee.key) +
           remark(knee) + doubt;
  }
  text += fmt::format("saturates between {:g} and {:g} flits per cycle and terminal{}", knee.low, knee.high,
                      of_which(knee));
  if (knee.gigabytes > 0.0) {
    text += fmt::format(": {:.4g} and {:.4g} Gbit/s ({:.4g} and {:.4g} GB/s)", 8.0 * knee.low * knee.gigabytes,
                        8.0 * knee.high * knee.gigabytes, knee.low * knee.gigabytes, knee.high * knee.gigabytes);
  }
  text += "\n";
  return text + remark(knee) + doubt;
}

std::string to_json(const Knee& knee) {
  ordered_json all;
  all["low"] = knee.low;
  all["high"] = knee.high;
  all["found"] = knee.found;
  all["key"] = nullptr;
  if (!knee.key.empty()) all["key"] = knee.key;
  all["others"] = knee.others;
  all["bound"] = nullptr;
  if (knee.bound) {
    all["bound"] = {{"load", knee.bound->load}, {"accepted", knee.bound->accepted}, {"model", knee.bound->model}};
  }
  all["contradiction"] = knee.contradiction;
  all["deadlocks"] = knee.deadlocks;
  all["uncertain"] = knee.uncertain;
  all["probes"] = ordered_json::array();
  for (const Probe& probe : knee.probes) {
    all["probes"].push_back({{"load", probe.load},
                             {"measure", probe.measured},
                             {"verdict", to_string(probe.verdict)},
                             {"certain", probe.certain}});
  }
  return config::dump(all, 2);
}

}  // namespace banyan::api
