// Random experiments from the registration rows: any topology, switch, routing, traffics, models and settings of the
// run, with values at and inside the edges of every parameter's range. Nothing here has to be told of a new component
// or parameter; the table of fitting values below only makes more of the experiments run instead of being refused.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "banyan/api/catalog.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/workload/collectives.hpp"
#include "engine/small_instances.hpp"
#include "experiments/recipe.hpp"
#include "experiments/targets.hpp"
#include "support/chakra_writer.hpp"

namespace banyan::test::experiments {

/// What a variable of the environment says.
inline u64 number_from(const char* variable, u64 fallback) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? fallback : std::stoull(text);
}

/// What Dice are for: the same experiment's have words of their own.
inline constexpr u32 kRepairs = 1;
inline constexpr u32 kTargets = 2;

/// Random words one after the other, of one experiment of one seed.
class Dice {
 public:
  Dice(u64 seed, u64 experiment, u32 purpose = 0)
      : random_(seed, Stream("tests: random experiments"), purpose, 0), experiment_(experiment) {}

  u32 below(u64 n) { return banyan::below(random_.at(experiment_, drawn_++)[0], static_cast<u32>(n)); }
  double real() {
    const Words words = random_.at(experiment_, drawn_++);
    return unit_real(words[0], words[1]);
  }
  bool chance(double p) { return real() < p; }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[below(list.size())];
  }

 private:
  Random random_;
  u64 experiment_;
  u64 drawn_ = 0;
};

using Values = std::vector<std::string>;

/// Values that fit together more often than others, by "component.parameter" or by "parameter".
inline const std::map<std::string, Values>& fitting_values() {
  static const std::map<std::string, Values> table{
      {"mesh.size",
       {"[4, 4]", "[2, 2]", "[1, 4]", "[8]", "[3, 3]", "[2, 3, 2]", "[1]", "[2]", "[5, 2]", "[2, 2, 2, 2]"}},
      {"torus.size", {"[4, 4]", "[2, 2]", "[1, 4]", "[8]", "[3, 3]", "[2, 3, 2]", "[3]", "[2]", "[5, 2]", "[7]"}},
      {"hyperx.size", {"[4, 4]", "[2, 2]", "[1, 4]", "[8]", "[3, 3]", "[2, 3, 2]", "[2]", "[5, 2]"}},
      {"concentration", {"1", "2", "3", "4"}},
      {"slim_fly.concentration", {"0", "1", "2"}},
      {"terminals", {"4", "8", "16", "64", "9", "27", "32"}},
      {"radix", {"2", "4", "3", "8"}},
      {"hosts", {"16", "4", "8", "64", "2"}},
      {"bidirectional_min.ports", {"4", "8", "6"}},
      {"children", {"[4, 4]", "[2, 2, 2]", "[3, 2]", "[1, 4]", "[16]", "[2, 4]"}},
      {"parents", {"[1, 2]", "[1, 1, 1]", "[2, 1]", "[1, 2, 2]", "[1]", "[1, 3]", "[2, 2]"}},
      {"hypercube.degree", {"1", "2", "3", "4", "5"}},
      {"arity", {"2", "3", "4"}},
      {"levels", {"1", "2", "3"}},
      {"q", {"3", "4", "5"}},
      {"terminals_per_router", {"1", "2"}},
      {"routers_per_group", {"1", "2", "3", "4"}},
      {"global_ports", {"1", "2"}},
      {"groups", {"0", "2", "3", "4"}},
      {"subnetworks", {"1", "1", "1", "2", "3"}},
      {"load", {"0", "0.001", "0.05", "0.2", "0.5", "0.9", "1.0"}},
      {"normal_load", {"0", "0.1", "0.6", "1.0"}},
      {"congestion_load", {"0", "0.5", "1.0"}},
      {"latency", {"1", "2", "7", "[1, 3]", "100"}},
      {"batch", {"0", "1", "3", "20"}},
      {"reply_size", {"[0]", "[1]", "[2, 5]", "[8]"}},
      {"outstanding", {"0", "1", "2", "8"}},
      {"vc_range", {"[]", "[0, 1]", "[0, 2]", "[1, 2]"}},
      {"reply_vc_range", {"[]", "[0, 1]", "[2, 3]", "[1, 2]"}},
      {"subnetwork", {"-1", "0", "1"}},
      {"reply_subnetwork", {"-1", "0", "1"}},
      {"sizes", {"[1]", "[1, 5]", "[2, 16, 3]"}},
      {"size_weights", {"[1.0]", "[1.0, 2.0]", "[0.0, 1.0, 1.0]"}},
      {"size_limit", {"1", "20", "65535"}},
      {"size", {"1", "2", "4", "5", "16", "17", "64", "100"}},
      {"max_packet", {"0", "1", "2", "8", "64"}},
      {"vcs", {"1", "2", "3", "4", "8"}},
      {"vc_router.buffer", {"1", "2", "3", "8", "32"}},
      {"cioq.memory", {"256", "1024", "4096"}},
      {"chunks", {"1", "2", "3", "8", "16", "256"}},
      {"fifo", {"1", "8", "16", "64", "320"}},
      {"faults", {"[]", "['box 1 0']", "['link 1 2']", "['input_bypass 0', 'output_link 1']", "['box 0 1']"}},
      {"failed_links", {"[]", "['0 1']", "['1 2', '0 2']", "['3 0']"}},
      {"failed_switches", {"[]", "[1]", "[0, 2]"}},
      {"random_failed_links", {"0", "1", "2"}},
      {"random_failed_switches", {"0", "1"}},
      {"alternatives", {"[0]", "[1]", "[0, 1]", "[2, 0]"}},
      {"targets", {"[0]", "[0, 3]", "[1]"}},
      {"group_size", {"1", "2", "4", "8"}},
      {"row_to_column.row", {"1", "2", "3", "4", "8"}},
      {"iterations", {"1", "2", "3"}},
      {"destinations", {"[3]", "[0, 1]", "[5, 6, 7, 8]"}},
      {"sources", {"[0, 1, 2, 3]", "[1]", "[2, 2]"}},
      {"compute", {"0", "1", "50"}},
      {"startup", {"0", "1", "50"}},
      {"disks", {"1", "2", "4"}},
      {"graph_file.file", {"'graph.txt'", "''"}},
      {"table.file", {"'table.txt'", "''"}},
      {"trace.file", {"'messages.trace'"}},
      {"storage.file", {"''", "'accesses.spc'"}},
      {"messages.flit", {"0", "8", "32"}},
      {"messages.packet", {"-1", "0", "4", "16"}},
      {"messages.cycle_time", {"0", "1", "2.5"}},
      {"job.placement", {"'linear'", "'random'", "'blocked'", "'spread'"}},
      {"job.start", {"0", "1", "300"}},
      {"job.repeats", {"1", "2", "3"}},
      {"multicast_collective.members", {"[]", "[0, 1, 2]", "[3, 0, 1, 2]"}},  // with the root, which is 0
      {"job.groups", {"''", "'groups.json'"}},
      {"job.generator.bytes", {"0", "1", "100", "4096"}},
      {"job.generator.ranks", {"1", "2", "5", "8", "16"}},
      {"job.generator.root", {"0", "1"}},
      {"job.generator.segments", {"1", "2", "3"}},
      {"run.seed", {"0", "1", "2", "17", "9007199254740991"}},
      {"run.sessions", {"1", "2", "3"}},
      {"run.warmup", {"0", "1", "100", "300"}},
      {"run.measure", {"1", "64", "300", "512", "1024"}},
      {"run.duration", {"0", "0", "1", "100", "700"}},
      {"run.drain", {"0", "1", "700", "2000"}},
      {"run.session_limit", {"1", "100", "700", "2000"}},
      {"run.watchdog", {"0", "1", "1", "256", "1000"}},
      {"run.window", {"0", "1", "10", "100"}},
      {"run.precision", {"0", "0.05", "0.5"}},
      {"run.precision_limit", {"1", "2", "4"}},
      {"run.extension", {"0", "1", "2", "5"}},
      {"run.trees_interval", {"0", "1", "10", "100"}},
  };
  return table;
}

/// Greatest values where a parameter makes an experiment large or long, by the same names.
inline const std::map<std::string, double>& caps() {
  static const std::map<std::string, double> table{
      {"size", 128},
      {"hyperx.size", 4},
      {"mesh.size", 5},
      {"torus.size", 5},
      {"degree", 6},
      {"arity", 4},
      {"levels", 4},
      {"terminals", 64},
      {"hosts", 64},
      {"radix", 8},
      {"q", 5},
      {"concentration", 4},
      {"children", 4},
      {"parents", 3},
      {"groups", 5},
      {"routers_per_group", 4},
      {"global_ports", 3},
      {"ports", 8},
      {"latency", 200},
      {"local_latency", 200},
      {"global_latency", 200},
      {"subnetworks", 4},
      {"terminal_latency", 200},
      {"terminals_per_router", 3},
      {"run.measure", 1024},
      {"run.warmup", 500},
      {"run.duration", 1024},
      {"run.drain", 2000},
      {"run.sessions", 4},
      {"run.session_limit", 2000},
      {"run.precision_limit", 4},
      {"run.extension", 5},
      {"iterations", 4},
      {"multicast_phases.draws", 100},
      {"job.repeats", 3},
      {"job.generator.bytes", 10'000},
      {"job.generator.ranks", 32},
      {"job.generator.segments", 4},
      {"storage.length", 8'000},  // with the rate of the small instance, 16,000 accesses
  };
  return table;
}

/// What a run of every random experiment begins with: short, and long enough to deliver something.
inline const std::vector<Setting>& short_run() {
  static const std::vector<Setting> settings{{"warmup", "50"},        {"measure", "300"},        {"drain", "1500"},
                                             {"sessions", "2"},       {"session_limit", "1500"}, {"watchdog", "500"},
                                             {"precision_limit", "3"}};
  return settings;
}

class Generator {
 public:
  Generator() { find_networks(); }

  struct Network {
    const config::ComponentInfo* topology = nullptr;
    const config::ComponentInfo* switching = nullptr;
    const config::ComponentInfo* routing = nullptr;
  };

  /// Half of the experiments are made for one target, the others for none.
  [[nodiscard]] Recipe make(u64 seed, u64 experiment) const {
    Dice dice(seed, experiment);
    return make(dice.chance(0.5) ? &dice.of(targets()) : nullptr, dice);
  }

  /// An experiment with that component, parameter and value, if there is a target.
  [[nodiscard]] Recipe make(const Target* target, Dice& dice) const {
    Recipe recipe;
    const Network network = choose_network(target, dice);
    const api::Catalog& catalog = api::catalog();
    // From experiments that leave nearly everything as it is to such that change most of it.
    static const std::vector<double> kRates{0.0, 0.03, 0.06, 0.1, 0.2, 0.5};
    const double rate = target == nullptr ? dice.of(kRates) : kRates[dice.below(3)];
    recipe.parts.push_back(part("topology", *network.topology, rate, dice));
    recipe.parts.push_back(part("switch", *network.switching, rate, dice));
    recipe.parts.push_back(part("routing", *network.routing, rate, dice));
    const auto wanted = [&](const char* section, const api::Kind& kind) {
      return target != nullptr && target->section == section ? target->component : dice.of(kind.components);
    };
    const bool messages = target != nullptr && target->section == "messages";
    const bool jobs = target == nullptr ? dice.chance(0.08) : messages || target->section == "job";
    if (messages || (jobs && dice.chance(0.3))) {
      recipe.parts.insert(recipe.parts.begin(), part("messages", *catalog.messages.components.front(), rate, dice));
    }
    for (u32 more = jobs ? 1 + dice.below(2) : 0; more > 0; --more) {
      recipe.parts.push_back(part("job", *catalog.job.components.front(), rate, dice));
    }
    if (!jobs || dice.chance(0.2)) {
      recipe.parts.push_back(part("traffic", *wanted("traffic", catalog.traffic), rate, dice));
    }
    for (u32 more = jobs || dice.chance(target == nullptr ? 0.75 : 0.95) ? 0 : 1 + dice.below(2); more > 0; --more) {
      recipe.parts.push_back(part("traffic", *dice.of(catalog.traffic.components), rate, dice));
    }
    const bool admission = target != nullptr && target->section == "admission";
    if (admission || dice.chance(target == nullptr ? 0.3 : 0.05)) {
      recipe.parts.push_back(part("admission", *wanted("admission", catalog.admission), rate, dice));
    }
    if (target != nullptr && target->section == "analysis") {
      recipe.parts.push_back(part("analysis", *target->component, rate, dice));
    }
    while (dice.chance(target == nullptr ? 0.3 : 0.05)) {
      recipe.parts.push_back(part("analysis", *dice.of(catalog.analysis.components), rate, dice));
    }
    recipe.parts.push_back(run(rate, dice));
    if (jobs) shorten(recipe.parts.back());
    if (target != nullptr) keep(recipe, *target, dice);
    write_graph(recipe, dice);
    write_inputs(recipe, dice);
    for (Part& part : recipe.parts) {
      if (part.section == "job") give_schedule(recipe, part, dice);
    }
    return recipe;
  }

  [[nodiscard]] const std::vector<Network>& networks() const { return networks_; }

  /// A value that the parameter may have, and now and then one that it may not.
  static std::string value(const config::ComponentInfo& info, const config::Parameter& p, Dice& dice) {
    const Values* values = fitting(info, p.name);
    if (values != nullptr && dice.chance(0.5)) return dice.of(*values);
    if (dice.chance(0.004)) return misfit(p, dice);
    using config::Type;
    switch (p.type) {
      case Type::boolean:
        return dice.chance(0.5) ? "true" : "false";
      case Type::choice:
        return fmt::format("\"{}\"", dice.of(p.choices));
      case Type::text:
        return "\"\"";
      case Type::texts: {
        if (!p.choices.empty()) return fmt::format("[\"{}\"]", dice.of(p.choices));
        return dice.chance(0.5) ? "[]" : fmt::format("[\"{} {}\"]", dice.below(8), dice.below(4));
      }
      case Type::integer:
        return integer(info, p, dice);
      case Type::real:
        return real(info, p, dice);
      case Type::integers:
      case Type::reals:
        break;
    }
    Values list;
    const u32 length = dice.below(20) == 0 ? 0 : 1 + dice.below(3);
    for (u32 i = 0; i < length; ++i) {
      list.push_back(p.type == Type::integers ? integer(info, p, dice) : real(info, p, dice));
    }
    return fmt::format("[{}]", fmt::join(list, ", "));
  }

 private:
  Network choose_network(const Target* target, Dice& dice) const {
    const api::Catalog& catalog = api::catalog();
    Network any{dice.of(catalog.topology.components), dice.of(catalog.switching.components),
                dice.of(catalog.routing.components)};
    if (target == nullptr) return dice.chance(0.9) ? dice.of(networks_) : any;
    std::vector<const Network*> fitting;
    for (const Network& n : networks_) {
      const bool in_network =
          target->section == "topology" || target->section == "switch" || target->section == "routing";
      const bool with =
          target->component == n.topology || target->component == n.switching || target->component == n.routing;
      if (with || !in_network) fitting.push_back(&n);
    }
    return fitting.empty() ? any : *dice.of(fitting);
  }

  static void keep(Recipe& recipe, const Target& target, Dice& dice) {
    for (Part& part : recipe.parts) {
      if (part.section != target.section || (part.section != "run" && part.name != target.component->name)) continue;
      part.kept = true;
      if (target.parameter == nullptr) return;
      const std::string& key = target.parameter->name;
      part.set(key, target.value.empty() ? value(*target.component, *target.parameter, dice) : target.value);
      part.keep(key);
      return;
    }
  }

  /// Which topologies, switches and routings go together at all: a choice of each by itself seldom does.
  void find_networks() {
    const core::TrafficRow* uniform = nullptr;
    for (const core::TrafficRow* row : core::traffic_rows()) {
      if (row->info.name == "uniform") uniform = row;
    }
    for (const core::TopologyRow* topology : core::topology_rows()) {
      for (const core::SwitchRow* switching : core::switching_rows()) {
        for (const core::RoutingRow* routing : core::routing_rows()) {
          try {
            api::check(Combination{topology, switching, routing, uniform}.experiment("measure = 10"));
            networks_.push_back({&topology->info, &switching->info, &routing->info});
          } catch (const ConfigError&) { continue; }
        }
      }
    }
  }

  static const Values* fitting(const config::ComponentInfo& info, const std::string& parameter) {
    for (const std::string& key : {info.name + "." + parameter, parameter}) {
      const auto found = fitting_values().find(key);
      if (found != fitting_values().end()) return &found->second;
    }
    return nullptr;
  }

  /// A component with the small instance's values, of which a share is replaced.
  static Part part(const std::string& section, const config::ComponentInfo& info, double rate, Dice& dice) {
    Part part = small_part(section, info);
    const bool shape = section == "topology" && dice.chance(0.6);
    for (const config::Parameter& p : info.parameters) {
      const Values* values = fitting(info, p.name);
      if (dice.chance(rate)) {
        part.set(p.name, value(info, p, dice));
      } else if (values != nullptr && (p.name == "load" || (shape && p.name != "file"))) {
        part.set(p.name, dice.of(*values));
      }
    }
    if (dice.chance(0.005)) part.set("no_such_parameter", "1");
    return part;
  }

  static Part run(double rate, Dice& dice) {
    Part run{"run", "", short_run()};
    run.set("seed", std::to_string(dice.below(1000)));
    for (const config::Parameter& p : api::run_info().parameters) {
      if (!is_mode(p.name) && dice.chance(std::max(rate, 0.03))) run.set(p.name, value(api::run_info(), p, dice));
    }
    return run;
  }

  /// A run of jobs ends with the last job, and refuses what says something else.
  static void shorten(Part& run) {
    for (const char* key : {"window", "duration", "precision", "warmup", "measure", "settle"}) run.remove(key);
  }

  /// What no parameter of the kind may be.
  static std::string misfit(const config::Parameter& p, Dice& dice) {
    static const Values kNone{"\"x\"", "true",  "[[1]]",         "{ a = 1 }",           "nan", "inf",
                              "-1",    "1e300", "\"3 parsecs\"", "9223372036854775807", "0.5"};
    if (p.type == config::Type::text) return "7";
    return dice.of(kNone);
  }

  static double cap(const config::ComponentInfo& info, const config::Parameter& p, double fallback) {
    double most = std::max(64.0, 2 * fallback);
    for (const std::string& key : {info.name + "." + p.name, p.name}) {
      const auto found = caps().find(key);
      if (found == caps().end()) continue;
      most = found->second;
      break;
    }
    return std::min(most, p.high);
  }

  static std::string integer(const config::ComponentInfo& info, const config::Parameter& p, Dice& dice) {
    const double low = std::isfinite(p.low) ? p.low : -1;
    double fallback = low;
    if (p.fallback && std::holds_alternative<i64>(*p.fallback)) {
      fallback = static_cast<double>(std::get<i64>(*p.fallback));
    }
    const double most = std::max(low, cap(info, p, fallback));
    const bool limited = caps().contains(p.name) || caps().contains(info.name + "." + p.name);
    double value = low;
    switch (dice.below(11)) {
      case 0:
        value = low;
        break;
      case 1:
        value = low + 1;
        break;
      case 2:
        value = fallback;
        break;
      case 3:
        value = fallback + 1;
        break;
      case 4:
        value = fallback - 1;
        break;
      case 5:
        value = 2 * fallback;
        break;
      case 6:
      case 7:
        value = low + dice.below(8);
        break;
      case 8:
        value = low + dice.below(static_cast<u64>(most - low) + 1);
        break;
      case 9:
        value = std::exp2(dice.below(8));
        break;
      default:
        value = most;
    }
    // The far end of the range, where it makes neither a huge network nor an endless run.
    if (!limited && std::isfinite(p.high) && dice.below(40) == 0) return fmt::format("{:.0f}", p.high);
    return fmt::format("{:.0f}", std::clamp(value, low, most));
  }

  static std::string real(const config::ComponentInfo& info, const config::Parameter& p, Dice& dice) {
    const double low = std::isfinite(p.low) ? p.low : 0.0;
    double fallback = low;
    if (p.fallback && std::holds_alternative<double>(*p.fallback)) fallback = std::get<double>(*p.fallback);
    const double most = std::min(p.high, std::max(1.0, 2 * fallback));
    double value = low;
    switch (dice.below(9)) {
      case 0:
        value = low;
        break;
      case 1:
        value = low + 1e-9;
        break;
      case 2:
        value = fallback;
        break;
      case 3:
        value = 2 * fallback;
        break;
      case 4:
        value = fallback / 2;
        break;
      case 5:
        value = 1.0;
        break;
      case 6:
        value = std::isfinite(p.high) && dice.below(4) == 0 ? p.high : most;
        break;
      default:
        value = low + dice.real() * (most - low);
    }
    const auto limit = caps().find(info.name + "." + p.name);
    value = std::clamp(value, low, limit == caps().end() ? p.high : std::min(p.high, limit->second));
    if (value == p.low && p.low_open) value = low + 1e-6;
    if (value == p.high && p.high_open) value = std::nextafter(p.high, p.low);
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
  }

  /// A random connected graph, and now and then a table of shortest paths over it.
  static void write_graph(Recipe& recipe, Dice& dice) {
    Part& topology = recipe.part("topology");
    if (topology.name != "graph_file" || !dice.chance(0.8)) return;
    struct Step {
      u32 to = 0;
      u32 port = 0;
    };
    const u32 switches = 1 + dice.below(7);
    std::vector<std::vector<Step>> steps(switches);
    std::vector<u32> ports(switches, 0);
    Values lines;
    for (u32 s = 0; s < switches; ++s) lines.push_back(fmt::format("switch s{}", s));
    std::vector<u32> homes;
    std::vector<u32> home_ports;
    const u32 terminals = 2 + dice.below(9);
    for (u32 t = 0; t < terminals; ++t) {
      const u32 s = t < switches && dice.chance(0.7) ? t : dice.below(switches);
      homes.push_back(s);
      home_ports.push_back(ports[s]++);
      lines.push_back(fmt::format("terminal t{} s{}{}", t, s, dice.chance(0.1) ? " latency=3" : ""));
    }
    const auto link = [&](u32 a, u32 b, bool one_way) {
      std::string line = fmt::format("link s{} s{}", a, b);
      if (dice.chance(0.15)) line += fmt::format(" latency={}", 1 + dice.below(40));
      if (dice.chance(0.1)) line += fmt::format(" cycles_per_flit={}", 1 + dice.below(4));
      if (one_way) line += " one_way";
      steps[a].push_back({b, ports[a]++});
      const u32 port = ports[b]++;
      if (!one_way) steps[b].push_back({a, port});
      lines.push_back(line);
    };
    const bool ring = switches > 2 && dice.chance(0.15);  // in one direction
    for (u32 s = 1; s < switches; ++s) link(ring ? s - 1 : dice.below(s), s, ring);
    if (ring) link(switches - 1, 0, true);
    for (u32 more = switches > 1 ? dice.below(switches + 1) : 0; more > 0; --more) {
      const u32 a = dice.below(switches);
      const u32 b = dice.below(switches);
      if (a != b) link(a, b, dice.chance(0.1));
    }
    if (dice.chance(0.05)) lines.push_back("link s0 nowhere");
    set_lines(recipe, topology, "graph.txt", lines, dice);
    Part& routing = recipe.part("routing");
    if (routing.name != "table") return;
    Values table;
    for (u32 t = 0; t < terminals; ++t) {
      // Backwards from the terminal's switch.
      std::vector<u32> distance(switches, kNone);
      std::vector<u32> queue{homes[t]};
      distance[homes[t]] = 0;
      for (std::size_t i = 0; i < queue.size(); ++i) {
        for (u32 s = 0; s < switches; ++s) {
          for (const Step& step : steps[s]) {
            if (step.to != queue[i] || distance[s] != kNone) continue;
            distance[s] = distance[queue[i]] + 1;
            queue.push_back(s);
          }
        }
      }
      for (u32 s = 0; s < switches; ++s) {
        for (const Step& step : steps[s]) {
          if (distance[s] == kNone || distance[s] == 0 || distance[step.to] + 1 != distance[s]) continue;
          table.push_back(fmt::format("{} {} {}{}", s, t, step.port, dice.chance(0.05) ? " 0 1" : ""));
        }
      }
    }
    if (dice.chance(0.05) && !table.empty()) table.pop_back();
    set_lines(recipe, routing, "table.txt", table, dice);
  }

  /// As lines of the experiment or in a file.
  static void set_lines(Recipe& recipe, Part& part, const std::string& file, const Values& lines, Dice& dice) {
    const auto kept = [&](const char* key) { return part.find(key) != nullptr && part.find(key)->kept; };
    const bool in_file = kept("file") || (!kept("lines") && dice.chance(0.3));
    if (!kept("file")) part.remove("file");
    if (!kept("lines")) part.remove("lines");
    if (in_file) {
      recipe.files[file] = fmt::format("{}\n", fmt::join(lines, "\n"));
      part.set("file", fmt::format("'{}'", file));
    } else {
      Values quoted;
      for (const std::string& line : lines) quoted.push_back("'" + line + "'");
      part.set("lines", fmt::format("[{}]", fmt::join(quoted, ", ")));
    }
  }

  /// The other files that parameters name.
  static void write_inputs(Recipe& recipe, Dice& dice) {
    for (Part& part : recipe.parts) {
      const Setting* file = part.find("file");
      if (part.section != "traffic" || file == nullptr) continue;
      if (part.name == "trace" && (dice.chance(0.8) || file->value == "'messages.trace'")) {
        part.set("file", "'messages.trace'");
        std::string& text = recipe.files["messages.trace"];
        text = "# banyan trace 1\n";
        std::vector<std::array<u32, 2>> ends;
        const u32 messages = dice.below(12) == 0 ? 0 : 1 + dice.below(30);
        const u32 terminals = 2 + dice.below(8);
        for (u32 i = 0; i < messages; ++i) {
          u32 from = dice.below(terminals);
          const u32 to = dice.below(terminals);
          std::string after;
          if (i > 0 && dice.chance(0.4)) {
            const u32 cause = dice.below(i);
            from = ends[cause][dice.below(2)];
            after = fmt::format(" after {}{}", cause, dice.chance(0.5) ? fmt::format("+{}", dice.below(50)) : "");
          }
          ends.push_back({from, to});
          text += fmt::format("{} {} {} {} {}{}\n", i, dice.below(200), from, to, 1 + dice.below(9), after);
        }
      } else if (part.name == "storage" && file->value == "'accesses.spc'") {
        std::string& text = recipe.files["accesses.spc"];
        const Setting* const format = part.find("format");
        const std::string name = format == nullptr ? "spc" : format->value;
        for (u32 i = 1 + dice.below(20); i > 0; --i) text += access_line(name, dice);
      }
    }
    for (const char* name : {"graph.txt", "table.txt"}) {  // named without being written
      if (to_toml(recipe).find(name) != std::string::npos && !recipe.files.contains(name)) recipe.files[name] = "";
    }
  }

  /// An access in a format of the traffic "storage", of which there are three.
  static std::string access_line(const std::string& format, Dice& dice) {
    const u32 disk = dice.below(3);
    const u32 bytes = 512 * (1 + dice.below(3));
    const double at = 1e-6 * dice.below(3);
    const bool read = dice.chance(0.5);
    if (format.find("msr") != std::string::npos) {
      return fmt::format("{},usr,{},{},{},{},{}\n", 128166372002869395 + dice.below(30), disk, read ? "Read" : "Write",
                         dice.below(1000000), bytes, dice.below(100));
    }
    if (format.find("srt") != std::string::npos) {
      return fmt::format("{:.6f} {} {} {} {}\n", at, disk, dice.below(1000000), bytes, read ? "R" : "W");
    }
    return fmt::format("{},{},{},{},{:.6f}\n", disk, dice.below(1000000), bytes, read ? "R" : "W", at);
  }

  static bool starts_with_one_of(const std::string& key, const Values& beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(), [&](const std::string& b) { return key.starts_with(b); });
  }

  /// A generator, a schedule in GOAL, or a Chakra trace: a job has one of them, and parameters of that one.
  static void give_schedule(Recipe& recipe, Part& job, Dice& dice) {
    static const Values of_generators{"generator."};
    static const Values of_traces{"collectives.", "incomplete", "group", "rate"};
    const auto kept = [&](const Values& keys) {
      return std::any_of(job.settings.begin(), job.settings.end(),
                         [&](const Setting& s) { return s.kept && starts_with_one_of(s.key, keys); });
    };
    const auto leave_out = [&](const Values& keys) {
      std::erase_if(job.settings, [&](const Setting& s) { return !s.kept && starts_with_one_of(s.key, keys); });
    };
    if (kept(of_traces) || (!kept(of_generators) && dice.chance(0.2))) {
      leave_out(of_generators);
      write_trace(recipe, dice);
      job.set("file", "'trace.0.et'");
    } else if (kept({"file"}) || (!kept(of_generators) && dice.chance(0.4))) {
      leave_out(of_generators);
      leave_out(of_traces);
      write_goal(recipe, dice);
      job.set("file", "'job.goal'");
    } else {
      leave_out(of_traces);
      job.remove("file");
      if (kept({"generator.group"})) job.set("generator.algorithm", "\"hierarchical\"");
      const Setting* const collective = job.find("generator.collective");
      if (collective == nullptr || !collective->kept) job.set("generator.collective", fitting_collective(job, dice));
      if (job.find("generator.ranks") == nullptr) job.set("generator.ranks", std::to_string(1 + dice.below(9)));
      if (job.find("generator.bytes") == nullptr) job.set("generator.bytes", std::to_string(dice.below(3000)));
    }
  }

  /// One that has the algorithm, if one is given.
  static std::string fitting_collective(const Part& job, Dice& dice) {
    const Setting* const given = job.find("generator.algorithm");
    Values all;
    for (const std::string& name : workload::collective_names()) {
      const Values algorithms = workload::algorithm_names(*workload::collective_named(name));
      const bool has = given == nullptr || std::any_of(algorithms.begin(), algorithms.end(), [&](const std::string& a) {
                         return "\"" + a + "\"" == given->value;
                       });
      if (has) all.push_back("\"" + name + "\"");
    }
    return all.empty() ? "\"all_reduce\"" : dice.of(all);
  }

  /// Messages between two to five ranks, each after some of what its ranks did before.
  static void write_goal(Recipe& recipe, Dice& dice) {
    const u32 ranks = 2 + dice.below(4);
    std::vector<Values> lines(ranks);
    const auto add = [&](u32 rank, const std::string& what) {
      const std::size_t nth = lines[rank].size();
      std::string line = fmt::format("l{}: {}\n", nth, what);
      lines[rank].push_back(line);
      // Only of what stands before it: such a schedule has no cycle, and its messages arrive in some order.
      for (std::size_t before = 0; before < nth; ++before) {
        if (dice.below(4) != 0) continue;
        lines[rank][nth] += fmt::format("l{} {} l{}\n", nth, dice.chance(0.8) ? "requires" : "irequires", before);
      }
    };
    for (u32 left = 1 + dice.below(12); left > 0; --left) {
      const u32 from = dice.below(ranks);
      if (dice.chance(0.2)) {
        add(from, fmt::format("calc {} cpu {}", dice.below(2000), dice.below(2)));
        continue;
      }
      const u32 to = (from + 1 + dice.below(ranks - 1)) % ranks;
      const u32 bytes = dice.chance(0.1) ? 0 : 1 + dice.below(3000);
      const u32 tag = dice.below(2);
      add(from, fmt::format("send {}b to {} tag {}", bytes, to, tag));
      add(to, fmt::format("recv {}b from {} tag {}", bytes, from, tag));
    }
    std::string& text = recipe.files["job.goal"];
    text = fmt::format("num_ranks {}\n", ranks);
    for (u32 r = 0; r < ranks; ++r) text += fmt::format("rank {} {{\n{}}}\n", r, fmt::join(lines[r], ""));
  }

  /// The same collectives on each of two to four ranks, one after the other, with computations between them.
  static void write_trace(Recipe& recipe, Dice& dice) {
    constexpr u32 kTypes = 10;
    const u32 ranks = 2 + dice.below(3);
    Values nodes(ranks);
    u64 id = 0;
    for (u32 left = 1 + dice.below(4); left > 0; --left, ++id) {
      const u32 type = dice.below(kTypes);
      const u32 bytes = 1 + dice.below(4000);
      const bool compute = dice.chance(0.3);
      const bool group = dice.chance(0.3);
      for (std::string& text : nodes) {
        chakra::Node node = compute ? chakra::compute(id, dice.below(5)) : chakra::collective(id, type, bytes);
        if (id > 0) node.after({id - 1});
        if (!compute && group) node.group("1");
        text += node.text();
      }
    }
    std::string all;
    std::erase_if(recipe.files, [](const auto& file) { return file.first.ends_with(".et"); });  // of another job
    for (u32 r = 0; r < ranks; ++r) {
      recipe.files[fmt::format("trace.{}.et", r)] = chakra::kMetadata + nodes[r];
      all += (r == 0 ? "" : ", ") + std::to_string(r);
    }
    recipe.files["groups.json"] = fmt::format("{{\"1\": [{}]}}\n", all);
  }

  std::vector<Network> networks_;
};

}  // namespace banyan::test::experiments
