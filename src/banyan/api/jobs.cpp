#include "banyan/api/jobs.hpp"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "banyan/api/catalog.hpp"
#include "banyan/api/network.hpp"
#include "banyan/api/network_jobs.hpp"
#include "banyan/api/placement.hpp"
#include "banyan/api/reader.hpp"
#include "banyan/api/version.hpp"
#include "banyan/base/cpu_time.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/config/json.hpp"
#include "banyan/config/resolve.hpp"
#include "banyan/config/toml_reader.hpp"
#include "banyan/config/units.hpp"
#include "banyan/core/registry.hpp"
#include "banyan/workload/collectives.hpp"
#include "banyan/workload/formats.hpp"
#include "banyan/workload/inspection.hpp"

namespace banyan::api {
namespace {

using config::Entry;
using config::Node;
using config::Parameter;
using nlohmann::ordered_json;

constexpr double kMostTime = 1e15;
constexpr double kMostPerByte = 1e9;
constexpr double kMostBytes = 9e15;
constexpr double kMostRepeats = 1e9;
constexpr i64 kMostFlit = 1U << 20U;
constexpr i64 kMostPacket = 65535;
constexpr i64 kPacket = 16;  ///< flits of the longest packet, where the switch does not cut messages itself
constexpr u64 kLongestInjected = 1U << 24U;

[[noreturn]] void refuse(const Where& where, const std::string& cause, const std::string& remedy) {
  throw ConfigError(where, cause, remedy);
}

/// host = { overhead = 1 } is host.overhead = 1.
std::vector<Entry> flattened(const Node& table, const std::string& group) {
  std::vector<Entry> flat;
  for (const Entry& entry : table.entries) {
    if (entry.key != group) {
      flat.push_back(entry);
      continue;
    }
    if (entry.value.kind != Node::Kind::table)
      refuse(entry.value.where, fmt::format("{} is no table", group), fmt::format("write {} = {{ ... }}", group));
    for (const Entry& inner : entry.value.entries) flat.push_back({group + "." + inner.key, inner.where, inner.value});
  }
  return flat;
}

/// The name and the parameters of `section = "NAME"` or `section = { name = "NAME", ... }`.
std::pair<std::string, std::vector<Entry>> component_of(const Node& value, const std::string& section) {
  if (value.kind == Node::Kind::text) return {value.text, {}};
  if (value.kind != Node::Kind::table || value.find("name") == nullptr) {
    refuse(value.where, fmt::format("{} does not describe a {}", config::to_text(value), section),
           fmt::format("write {0} = \"NAME\" or {0} = {{ name = \"NAME\", ... }}", section));
  }
  std::vector<Entry> entries;
  for (const Entry& entry : value.entries) {
    if (entry.key != "name") entries.push_back(entry);
  }
  return {value.find("name")->value.text, std::move(entries)};
}

void set_in(Node& node, std::string_view path, const Node& value, const Where& where) {
  const std::size_t dot = path.find('.');
  const std::string key(path.substr(0, dot));
  if (node.kind == Node::Kind::array) {
    for (Node& item : node.items) set_in(item, path, value, where);
    return;
  }
  auto found = std::find_if(node.entries.begin(), node.entries.end(), [&](const Entry& e) { return e.key == key; });
  if (dot == std::string_view::npos) {
    config::assign(node.entries, {key, where, value});
    return;
  }
  if (found == node.entries.end()) {
    node.entries.push_back({key, where, Node{}});
    found = node.entries.end() - 1;
  }
  set_in(found->value, path.substr(dot + 1), value, where);
}

void apply(Node& root, const Overrides& overrides) {
  for (const std::string& text : overrides) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      refuse({"command line", 0, 0, ""}, fmt::format("\"{}\" is not an override", text),
             "write key=value, such as job.host.overhead=1500");
    }
    const std::string key = text.substr(0, equals);
    const Where where{"command line", 0, 0, key};
    set_in(root, key, config::read_toml_value(text.substr(equals + 1), where), where);
  }
}

double nanoseconds_of(const Node& value) {
  if (value.kind == Node::Kind::text) {
    const auto quantity = config::parse_quantity(value.text);
    const auto ns = quantity ? config::convert(*quantity, "ns") : std::nullopt;
    if (ns && *ns > 0.0 && std::isfinite(*ns)) return *ns;
  }
  refuse(value.where, fmt::format("{} is no length of a cycle", config::to_text(value)), "write cycle_time = \"1 ns\"");
}

Job read_job(const Node& node, std::size_t number) {
  if (node.kind != Node::Kind::table) refuse(node.where, "a job is a table", "write [[job]]");
  std::vector<Entry> entries = flattened(node, "host");
  const auto generator =
      std::find_if(entries.begin(), entries.end(), [](const Entry& e) { return e.key == "generator"; });
  Job job;
  Where where = node.where;
  where.key = fmt::format("job.{}", number);
  if (generator != entries.end()) {
    if (generator->value.kind != Node::Kind::table)
      refuse(generator->value.where, "a generator is a table",
             "write generator = { collective = \"all_reduce\", ... }");
    where.key += ".generator";
    job.generator = config::resolve(generator->value.entries, workload::collective_info(), where);
    entries.erase(generator);
  }
  job.values = config::resolve(entries, job_info(), where);
  if (job.generator.has_value() == !job.values.text("file").empty()) {
    refuse(node.where, job.generator ? "a job has a file and a generator" : "a job has neither a file nor a generator",
           "give file = \"x.goal\" or generator = { collective = \"all_reduce\", ... }");
  }
  job.name = job.values.text("name");
  if (job.name.empty()) job.name = fmt::format("job {}", number);
  return job;
}

template <class Rows>
const config::ComponentInfo& info_named(const Rows& rows, const std::string& name, const std::string& section,
                                        const Where& where) {
  std::vector<std::string> names;
  for (const auto* row : rows) {
    if (row->info.name == name) return row->info;
    names.push_back(row->info.name);
  }
  refuse(where, fmt::format("unknown {} \"{}\"", section, name), config::suggestion(name, names, "there are"));
}

void describe(JobExperiment& experiment) {
  nlohmann::json all;
  all["name"] = experiment.name;
  if (experiment.network) {
    all = nlohmann::json::parse(experiment.network->configuration);
    all["run"]["seed"] = experiment.seed;
    all["flit"] = fmt::format("{} B", experiment.flit);
  } else {
    all["topology"] = config::to_json(experiment.topology);
    all["switch"] = config::to_json(experiment.switching);
    all["run"] = {{"seed", experiment.seed}};
  }
  if (experiment.cycle_ns > 0.0) all["cycle_time"] = fmt::format("{} ns", experiment.cycle_ns);
  for (const Job& job : experiment.jobs) {
    nlohmann::json one = config::to_json(job.values);
    if (job.generator) one["generator"] = config::to_json(*job.generator);
    all["job"].push_back(std::move(one));
  }
  experiment.configuration = config::dump(all);
}

workload::Host host_of(const JobExperiment& experiment, const Job& job, const workload::IdealWire& wire) {
  const config::Values& v = job.values;
  const double units = experiment.cycle_ns > 0.0 ? 1.0 / experiment.cycle_ns : 1.0;
  const auto time = [&](const char* name) { return static_cast<u64>(std::llround(v.real(name) * units)); };
  workload::Host host;
  host.overhead = time("host.overhead");
  host.gap = time("host.gap");
  host.overhead_per_byte = workload::PerByte(v.real("host.overhead_per_byte") * units);
  host.gap_per_byte =
      v.given("host.gap_per_byte") ? workload::PerByte(v.real("host.gap_per_byte") * units) : wire.per_byte;
  host.eager = static_cast<u64>(v.integer("host.eager"));
  host.cores = v.natural("host.cores");
  host.nics = v.natural("host.nics");
  host.rules = v.text("host.rules") == "loggopsim" ? workload::HostRules::loggopsim : workload::HostRules::physical;
  host.units_per_ns = units;
  return host;
}

workload::Program program_of(const Job& job) {
  if (job.generator) return {workload::make_collective(*job.generator), job.name};
  std::filesystem::path path = job.values.text("file");
  // A file beside the experiment, whatever the folder from which it is run.
  const std::filesystem::path beside = std::filesystem::path(job.values.where("file").file).parent_path() / path;
  if (path.is_relative() && std::filesystem::exists(beside)) path = beside;
  return workload::read_workload(path.string());
}

void add(Result& result, const std::string& name, double value, const char* unit) {
  stats::Metric metric;
  metric.name = name;
  metric.mean = value;
  metric.count = 1;
  metric.unit = unit;
  metric.counter = true;
  result.metrics.push_back(std::move(metric));
}

std::string placed(const std::string& job, u32 ranks, u32 terminals) {
  if (ranks <= terminals) return fmt::format("{}: {} ranks on {} terminals, one on each", job, ranks, terminals);
  return fmt::format("{}: {} ranks on {} terminals, at most {} on each", job, ranks, terminals,
                     (ranks + terminals - 1) / terminals);
}

}  // namespace

const config::ComponentInfo& job_info() {
  static const config::ComponentInfo info{
      "job",
      "A schedule of ranks on hosts",
      "Alexandrov, Ionescu, Schauser and Scheiman, LogGP: Incorporating Long Messages into the LogP Model, SPAA 1995; "
      "Hoefler, Schneider and Lumsdaine, LogGOPSim, LSAP 2010",
      {Parameter::text("name", "").doc("Name in the result."),
       Parameter::text("file", "").doc("Workload file; its format is told by its content."),
       Parameter::text("placement", "linear")
           .doc("Terminals of the ranks: linear, random, blocked, spread, or a file of their numbers."),
       Parameter::real("start", 0.0).unit("ns").range(0, kMostTime).doc("When the job begins."),
       Parameter::integer("repeats", 1).range(1, kMostRepeats).doc("How often each rank runs its schedule."),
       Parameter::real("host.overhead", 0.0).unit("ns").range(0, kMostTime).doc("Of a core per message (o)."),
       Parameter::real("host.gap", 0.0).unit("ns").range(0, kMostTime).doc("Of an interface between messages (g)."),
       Parameter::real("host.gap_per_byte", 0.0)
           .unit("ns")
           .range(0, kMostPerByte)
           .doc("Of an interface per further byte (G); default: that of the network."),
       Parameter::real("host.overhead_per_byte", 0.0)
           .unit("ns")
           .range(0, kMostPerByte)
           .doc("Of a core per further byte (O)."),
       Parameter::integer("host.eager", 65535)
           .unit("bytes")
           .range(0, kMostBytes)
           .doc("Longest message that is sent without asking the receiver (S)."),
       Parameter::integer("host.cores", 0).range(0, 256).doc("Cores per rank; 0: as many as the schedule names."),
       Parameter::integer("host.nics", 0).range(0, 256).doc("Network interfaces per rank; 0: likewise."),
       Parameter::choice("host.rules", {"physical", "loggopsim"}, "physical").doc("What costs a host when.")}};
  return info;
}

const config::ComponentInfo& ideal_info() {
  static const config::ComponentInfo info{
      "ideal",
      "A network without contention: latency and bandwidth only",
      "Culler et al., LogP: Towards a Realistic Model of Parallel Computation, PPoPP 1993",
      {Parameter::real("latency", 0.0).unit("cycles").range(0, kMostTime).doc("Of the first byte of a message (L)."),
       Parameter::real("per_byte", 0.0).unit("cycles").range(0, kMostPerByte).doc("Of each further byte (G).")}};
  return info;
}

namespace {

/// The name of `switch`, however it is written; "" where there is none.
std::string switch_name(const Node& root) {
  const Entry* entry = root.find("switch");
  return entry == nullptr ? std::string() : component_of(entry->value, "switch").first;
}

void read_ideal(const Entry& entry, JobExperiment& experiment) {
  const Node& value = entry.value;
  if (entry.key == "topology") {
    auto [name, entries] = component_of(value, "topology");
    experiment.topology =
        config::resolve(entries, info_named(core::topology_rows(), name, "topology", value.where), value.where);
  } else if (entry.key == "switch") {
    experiment.switching = config::resolve(component_of(value, "switch").second, ideal_info(), value.where);
  } else if (entry.key == "run" && value.kind == Node::Kind::table) {
    for (const Entry& inner : value.entries) {
      if (inner.key != "seed" || inner.value.kind != Node::Kind::integer)
        refuse(inner.where, fmt::format("run.{} does not concern jobs", inner.key), "give run.seed or nothing");
      experiment.seed = static_cast<u64>(inner.value.integer);
    }
  } else {
    refuse(entry.where, fmt::format("an experiment of jobs on the ideal network has no \"{}\"", entry.key),
           config::suggestion(entry.key, {"name", "topology", "switch", "cycle_time", "job", "run"}, "it has"));
  }
}

/// `flit` and `packet`, which are counts of bytes and of flits.
i64 count_of(const Node& value, const char* key, const char* unit, i64 least, i64 most, const char* remedy) {
  std::optional<double> count;
  if (value.kind == Node::Kind::integer) {
    count = static_cast<double>(value.integer);
  } else if (value.kind == Node::Kind::text) {
    const auto quantity = config::parse_quantity(value.text);
    count = quantity ? config::convert(*quantity, unit) : std::nullopt;
  }
  if (count && *count >= static_cast<double>(least) && *count <= static_cast<double>(most) &&
      *count == std::floor(*count)) {
    return static_cast<i64>(*count);
  }
  refuse(value.where, fmt::format("{} is no {}", config::to_text(value), key), remedy);
}

/// The network is an experiment of its own: messages of the jobs are a traffic before those of the file.
void read_network(const Node& root, JobExperiment& experiment) {
  Node made = root;
  i64 packet = -1;
  std::vector<Node> traffics;
  made.entries.clear();
  for (const Entry& entry : root.entries) {
    const Node& value = entry.value;
    if (entry.key == "flit") {
      experiment.flit =
          static_cast<u32>(count_of(value, "length of a flit", "bytes", 1, kMostFlit, "write flit = \"32 B\""));
    } else if (entry.key == "packet") {
      packet = count_of(value, "length of a packet", "flits", 0, kMostPacket, "write packet = 16, in flits");
    } else if (entry.key == "traffic") {
      traffics = value.kind == Node::Kind::array ? value.items : std::vector<Node>{value};
    } else if (entry.key == "sweep") {
      refuse(entry.where, "jobs are not swept", "run the file once per value, with KEY=VALUE");
    } else if (entry.key != "job" && entry.key != "cycle_time") {
      made.entries.push_back(entry);
    }
  }
  if (packet < 0) {
    // Who has a payload cuts messages into packets itself.
    packet = kPacket;
    for (const core::SwitchRow* row : core::switching_rows()) {
      if (row->info.name == switch_name(root) && config::find_parameter(row->info, "payload") != nullptr) packet = 0;
    }
  }
  const Where where{root.where.file, 0, 0, "job"};
  Node injected;
  injected.where = where;
  injected.entries = {{"name", where, Node::of(std::string("injected"), where)},
                      {"max_packet", where, Node::of(packet, where)}};
  Node all;
  all.where = where;
  all.kind = Node::Kind::array;
  all.items.push_back(std::move(injected));
  all.items.insert(all.items.end(), traffics.begin(), traffics.end());
  made.entries.push_back({"traffic", where, std::move(all)});
  experiment.network = resolve_experiments(made, experiment.name, {}, catalog()).points.front();
  experiment.seed = static_cast<u64>(experiment.network->run.integer("seed"));
  if (experiment.cycle_ns == 0.0) experiment.cycle_ns = cycle_ns(*experiment.network);
}

}  // namespace

std::optional<JobExperiment> read_jobs(const std::string& file, const Overrides& overrides) {
  Node root = config::read_toml_file(file);
  if (root.find("job") == nullptr) return std::nullopt;
  apply(root, overrides);
  JobExperiment experiment;
  experiment.name = std::filesystem::path(file).stem().string();
  if (root.find("switch") == nullptr)
    refuse(root.where, "the experiment names no switch", "add switch = { name = \"ideal\", ... }");
  if (root.find("topology") == nullptr)
    refuse(root.where, "the experiment names no topology", "add topology = \"NAME\"");
  const bool ideal = switch_name(root) == ideal_info().name;
  for (const Entry& entry : root.entries) {
    const Node& value = entry.value;
    if (entry.key == "name" && value.kind == Node::Kind::text) {
      experiment.name = value.text;
    } else if (entry.key == "cycle_time") {
      experiment.cycle_ns = nanoseconds_of(value);
    } else if (entry.key == "job") {
      const std::vector<Node> alone = value.kind == Node::Kind::array ? std::vector<Node>{} : std::vector<Node>{value};
      for (const Node& item : alone.empty() ? value.items : alone)
        experiment.jobs.push_back(read_job(item, experiment.jobs.size()));
    } else if (ideal) {
      read_ideal(entry, experiment);
    }
  }
  if (experiment.jobs.empty()) refuse(root.where, "the experiment has no job", "write [[job]]");
  if (!ideal) read_network(root, experiment);
  describe(experiment);
  return experiment;
}

void check_jobs(const JobExperiment& experiment) {
  for (const Job& job : experiment.jobs) workload::require_sound(program_of(job));
}

namespace {

workload::ReplayOptions replay_of(const Job& job, const workload::Host& host, const RunOptions& options) {
  workload::ReplayOptions replay;
  replay.start = static_cast<u64>(std::llround(job.values.real("start") * host.units_per_ns));
  replay.repeats = job.values.natural("repeats");
  replay.progress = options.progress;
  replay.interrupted = options.interrupted;
  return replay;
}

void check_host(const Job& job, const workload::Host& host, const workload::Program& program) {
  if (host.rules == workload::HostRules::physical) {
    const auto refuse_few = [&](const char* name, u32 given, u32 named) {
      if (given == 0 || given >= named) return;
      job.values.fail(name, fmt::format("the schedule names {}, and there are {}", named, given),
                      fmt::format("give at least {}, or leave it out", named));
    };
    refuse_few("host.cores", host.cores, program.cores());
    refuse_few("host.nics", host.nics, program.nics());
  }
  if (!workload::unmatched_of(program).empty()) workload::require_sound(program);
}

/// Checks that a job has come to its end, and adds it to the results.
void add_job(JobsResult& all, Hasher& hasher, const JobExperiment& experiment, const Job& job,
             const workload::Program& program, JobResult made) {
  made.name = job.name;
  made.unit = experiment.cycle_ns > 0.0 ? experiment.cycle_ns : 1.0;
  if (!made.outcome.explanation.empty()) {
    workload::require_sound(program);  // says it better where a cycle is the reason
    refuse({program.path(), 0, 0, ""}, fmt::format("{} cannot go on: {}", job.name, made.outcome.explanation),
           "give each message its receive, or a larger host.eager where sends wait for each other");
  }
  for (const workload::CriticalStep& s : made.outcome.critical_path)
    made.critical_path.push_back({s.place.rank, s.place.operation, workload::to_text(program, s.place), s.end});
  hasher.add(made.outcome.completion);
  for (const u64 end : made.outcome.ends) hasher.add(end);
  hasher.add(made.outcome.operations);
  hasher.add(made.outcome.messages);
  hasher.add(made.outcome.bytes);
  all.jobs.push_back(std::move(made));
}

void note(Result& result, const std::string& text) {
  result.explanation += (result.explanation.empty() ? "" : "; ") + text;
}

void run_on_ideal(JobsResult& all, Hasher& hasher, const JobExperiment& experiment, const RunOptions& options) {
  const auto rows = core::topology_rows();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const auto* r) { return r->info.name == experiment.topology.component(); });
  const u32 terminals = (*row)->make(experiment.topology)->traffic_terminals();
  const workload::IdealWire wire{static_cast<u64>(std::llround(experiment.switching.real("latency"))),
                                 workload::PerByte(experiment.switching.real("per_byte"))};
  for (const Job& job : experiment.jobs) {
    const workload::Program program = program_of(job);
    const workload::Host host = host_of(experiment, job, wire);
    check_host(job, host, program);
    const workload::ReplayOptions replay = replay_of(job, host, options);
    JobResult made;
    made.outcome = host.rules == workload::HostRules::loggopsim
                       ? workload::replay_loggopsim(program, host, wire, replay)
                       : workload::replay_physical(program, host, wire, replay);
    note(all.result, placed(job.name, program.ranks(), terminals));
    add_job(all, hasher, experiment, job, program, std::move(made));
  }
}

u64 longest_message(const workload::Program& program) {
  u64 longest = 0;
  for (u32 r = 0; r < program.ranks(); ++r) {
    for (u32 i = 0; i < program.operations(r); ++i) {
      const workload::Operation o = program.operation(r, i);
      if (o.kind == workload::OperationKind::send) longest = std::max(longest, o.amount);
    }
    program.release_pages();
  }
  return longest;
}

/// "8 ranks on 16 terminals, at most 1 on each, linear".
std::string placed_at(const Job& job, const std::vector<u32>& terminals, u32 of) {
  std::vector<u32> ranks(of, 0);
  for (const u32 t : terminals) ++ranks[t];
  const u32 most = *std::max_element(ranks.begin(), ranks.end());
  return fmt::format("{}: {} ranks on {} of {} terminals, {} on each, {}", job.name, terminals.size(),
                     std::count_if(ranks.begin(), ranks.end(), [](u32 n) { return n != 0; }), of,
                     most <= 1 ? "one" : fmt::format("at most {}", most), job.values.text("placement"));
}

void run_on_switches(JobsResult& all, Hasher& hasher, const JobExperiment& experiment, const RunOptions& options) {
  Experiment network = *experiment.network;
  network.run.set("seed", static_cast<i64>(experiment.seed));
  const std::unique_ptr<core::Topology> topology = build_topology(network);
  Placement placement(*topology, experiment.seed);
  const workload::IdealWire wire{0, workload::PerByte(1.0 / experiment.flit)};
  std::vector<workload::Program> programs;
  std::vector<PlacedJob> jobs;
  programs.reserve(experiment.jobs.size());
  u64 longest = 1;
  for (const Job& job : experiment.jobs) {
    if (job.values.text("host.rules") == "loggopsim") {
      job.values.fail("host.rules", "the rules of LogGOPSim are those of a network without contention",
                      "use rules = \"physical\", or switch = { name = \"ideal\", latency = ..., per_byte = ... }");
    }
    programs.push_back(program_of(job));
    const workload::Program& program = programs.back();
    PlacedJob here;
    here.program = &program;
    here.host = host_of(experiment, job, wire);
    check_host(job, here.host, program);
    const workload::ReplayOptions replay = replay_of(job, here.host, {});
    here.start = replay.start;
    here.repeats = replay.repeats;
    here.terminals = placement.place(job.values, program.ranks());
    note(all.result, placed_at(job, here.terminals, topology->traffic_terminals()));
    longest = std::max(longest, (longest_message(program) + experiment.flit - 1) / experiment.flit);
    jobs.push_back(std::move(here));
  }
  network.traffics.front().set("longest", static_cast<i64>(std::min(longest, kLongestInjected)));
  note(all.result, fmt::format("a flit carries {} bytes", experiment.flit));
  if (experiment.cycle_ns == 0.0) note(all.result, "no cycle_time: a cycle counts as 1 ns");

  NetworkJobsOutcome out = run_on_network(network, experiment.flit, jobs, options);
  const bool blocked = !out.blockage.empty();
  if (blocked) {
    all.result.verdict = Verdict::deadlocked;
    note(all.result, out.blockage);
  }
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    JobResult made;
    made.outcome = std::move(out.jobs[j].outcome);
    made.finished = made.outcome.explanation.empty();
    if (blocked) made.outcome.explanation.clear();
    made.on_network = true;
    made.slowdown_alone = out.jobs[j].slowdown_alone;
    made.slowdown_ideal = out.jobs[j].slowdown_ideal;
    add_job(all, hasher, experiment, experiment.jobs[j], programs[j], std::move(made));
  }
  hasher.add(out.hash);
}

}  // namespace

JobsResult run_jobs(const JobExperiment& as_read, const RunOptions& options) {
  const double started = thread_cpu_seconds();
  JobExperiment experiment = as_read;
  describe(experiment);  // the seed may be another than the file's
  JobsResult all;
  Result& result = all.result;
  result.verdict = Verdict::finished;
  Hasher hasher;
  if (experiment.network) {
    run_on_switches(all, hasher, experiment, options);
  } else {
    run_on_ideal(all, hasher, experiment, options);
  }
  double completion = 0.0;
  u64 operations = 0;
  u64 messages = 0;
  u64 bytes = 0;
  for (const JobResult& job : all.jobs) {
    completion = std::max(completion, static_cast<double>(job.outcome.completion) * job.unit);
    operations += job.outcome.operations;
    messages += job.outcome.messages;
    bytes += job.outcome.bytes;
  }
  add(result, "completion", completion, experiment.cycle_ns > 0.0 ? "ns" : "cycles");
  add(result, "operations", static_cast<double>(operations), "");
  add(result, "messages", static_cast<double>(messages), "");
  add(result, "message_bytes", static_cast<double>(bytes), "B");
  result.state_hash = hasher.value();
  result.version = version();
  result.configuration = experiment.configuration;
  if (experiment.network) {
    result.configuration_hash = identity_hash(experiment.configuration);
  } else {
    Hasher configuration;
    configuration.add(experiment.configuration);
    result.configuration_hash = configuration.value();
  }
  result.seed = experiment.seed;
  result.cpu_seconds = thread_cpu_seconds() - started;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  result.peak_bytes = static_cast<u64>(usage.ru_maxrss) * 1024U;
  return all;
}

std::string to_json(const JobsResult& all) {
  ordered_json object = ordered_json::parse(to_json(all.result));
  ordered_json jobs = ordered_json::array();
  for (const JobResult& job : all.jobs) {
    // Whole numbers stay whole, whatever their size.
    const auto time = [&](u64 t) {
      return job.unit == 1.0 ? ordered_json(t) : ordered_json(static_cast<double>(t) * job.unit);
    };
    ordered_json ranks = ordered_json::array();
    for (const u64 end : job.outcome.ends) ranks.push_back(time(end));
    ordered_json path = ordered_json::array();
    for (const JobResult::Step& s : job.critical_path)
      path.push_back({{"rank", s.rank}, {"operation", s.operation}, {"what", s.what}, {"end", time(s.end)}});
    jobs.push_back({{"name", job.name},
                    {"completion", job.finished ? time(job.outcome.completion) : ordered_json()},
                    {"ranks", std::move(ranks)},
                    {"slowdown_alone", job.slowdown_alone},
                    {"slowdown_ideal", job.slowdown_ideal},
                    {"operations", job.outcome.operations},
                    {"messages", job.outcome.messages},
                    {"bytes", job.outcome.bytes},
                    {"critical_path", std::move(path)}});
  }
  object["jobs"] = std::move(jobs);
  return config::dump(object, 2);
}

std::string to_table(const JobsResult& all) {
  constexpr std::size_t kShown = 20;
  std::string text = to_table(all.result);
  for (const JobResult& job : all.jobs) {
    text += fmt::format("\n{}: {} at {}, {} operations, {} messages, {} bytes\n", job.name,
                        job.finished ? "done" : "blocked after its last end",
                        static_cast<double>(job.outcome.completion) * job.unit, job.outcome.operations,
                        job.outcome.messages, job.outcome.bytes);
    if (job.on_network && job.finished)
      text += fmt::format("  {:.3f} times as long as alone, {:.3f} times as long as without contention\n",
                          job.slowdown_alone, job.slowdown_ideal);
    if (job.critical_path.empty()) continue;
    text += "  what the end waited for, last first:\n";
    for (std::size_t i = 0; i < std::min(kShown, job.critical_path.size()); ++i) {
      const JobResult::Step& s = job.critical_path[job.critical_path.size() - 1 - i];
      text += fmt::format("  {:>14}  {}\n", static_cast<double>(s.end) * job.unit, s.what);
    }
    if (job.critical_path.size() > kShown) text += fmt::format("  and {} before\n", job.critical_path.size() - kShown);
  }
  return text;
}

}  // namespace banyan::api
