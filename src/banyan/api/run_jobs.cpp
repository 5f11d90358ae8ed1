// Runs of experiments with jobs.
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "banyan/api/jobs.hpp"
#include "banyan/api/jobs_record.hpp"
#include "banyan/api/network.hpp"
#include "banyan/api/network_jobs.hpp"
#include "banyan/api/over_ranks.hpp"
#include "banyan/api/placement.hpp"
#include "banyan/api/profiler.hpp"
#include "banyan/api/recorded.hpp"
#include "banyan/api/version.hpp"
#include "banyan/api/warnings.hpp"
#include "banyan/base/cpu_time.hpp"
#include "banyan/base/error.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/engine/run_keeper.hpp"
#include "banyan/workload/collectives.hpp"
#include "banyan/workload/formats.hpp"
#include "banyan/workload/inspection.hpp"

namespace banyan::api {
namespace {

constexpr u64 kLongestInjected = 1U << 24U;

double cycle_of(const Experiment& experiment) {
  const double own = experiment.messages.real("cycle_time");
  return own > 0.0 ? own : cycle_ns(experiment);
}

/// A time in whole units of the run, so many per unit of the parameter. Throws ConfigError where rounding changes it by
/// more than a hundredth.
u64 whole_units(const config::Values& values, const char* name, double units) {
  const double exact = values.real(name) * units;
  const double whole = std::round(exact);
  if (std::abs(whole - exact) > 0.01 * exact) {
    values.fail(name,
                fmt::format("{:.6g} is no whole number of {}", values.real(name),
                            units == 1.0 ? "the units in which this run counts"
                                         : fmt::format("cycles, which last {:.6g} ns", 1.0 / units)),
                fmt::format("give {:.6g} or {:.6g}", std::floor(exact) / units, std::ceil(exact) / units));
  }
  return static_cast<u64>(whole);
}

workload::IdealWire ideal_wire(const Experiment& experiment) {
  return {whole_units(experiment.switching, "latency", 1.0), workload::PerByte(experiment.switching.real("per_byte"))};
}

/// A job's schedule, and what reading it has shown.
struct Read {
  workload::Program program;
  std::vector<CollectiveCount> collectives;
  std::string note;               ///< of what was left out; ""
  bool reduces = false;           ///< what ranks send to themselves is reduced in the network
  bool waits_for_nobody = false;  ///< a send, however long, unless host.eager says otherwise
};

workload::Host host_of(const Experiment& experiment, const config::Values& v, const workload::IdealWire& wire,
                       const Read& read) {
  const double cycle = cycle_of(experiment);
  const double units = cycle > 0.0 ? 1.0 / cycle : 1.0;
  const auto time = [&](const char* name) { return whole_units(v, name, units); };
  workload::Host host;
  host.overhead = time("host.overhead");
  host.gap = time("host.gap");
  host.overhead_per_byte = workload::PerByte(v.real("host.overhead_per_byte") * units);
  host.gap_per_byte =
      v.given("host.gap_per_byte") ? workload::PerByte(v.real("host.gap_per_byte") * units) : wire.per_byte;
  if (!read.waits_for_nobody || v.given("host.eager")) host.eager = static_cast<u64>(v.integer("host.eager"));
  host.cores = v.natural("host.cores");
  host.nics = v.natural("host.nics");
  host.rules = v.text("host.rules") == "loggopsim" ? workload::HostRules::loggopsim : workload::HostRules::physical;
  host.units_per_ns = units;
  return host;
}

Read generated(const config::Values& job) {
  const config::ComponentInfo& info = workload::collective_info();
  config::Values generator("collective", job.where("generator.collective"));
  for (const config::Parameter& p : info.parameters) {
    const std::string name = "generator." + p.name;
    generator.set(p.name, job.all().at(name), job.where(name), job.given(name));
  }
  return {{workload::make_collective(generator), job.text("name")},
          {{generator.text("collective"), generator.text("algorithm"), u64{1},
            static_cast<u64>(generator.integer("bytes"))}},
          {},
          generator.text("algorithm") == "in_network" && generator.natural("ranks") > 1};
}

Read from_trace(const config::Values& job, const std::string& path) {
  workload::ChakraOptions options;
  options.contribution = static_cast<u64>(job.integer("contribution"));
  options.group = job.natural("group");
  options.skip_incomplete = job.text("incomplete") == "skip";
  options.groups = job.text("groups");
  options.operations_per_ns = job.real("rate");
  const auto algorithm = [&](const std::string& collective) -> const std::string& {
    return job.text("collectives." + collective);
  };
  for (const std::string& collective : workload::collective_names())
    workload::set_algorithm(options, collective, algorithm(collective), job.where("collectives." + collective));
  workload::ChakraNotes notes;
  Read read{{workload::read_chakra(path, options, &notes), path}, {}, {}};
  for (const std::string& name : workload::collective_names()) {
    const auto& kind = notes.by_kind[static_cast<std::size_t>(*workload::collective_named(name))];
    if (kind.count == 0) continue;
    std::string used;
    for (const workload::Algorithm how : kind.algorithms) {
      if (!used.empty()) used += ", ";
      used += workload::name_of(how);
    }
    read.collectives.push_back({name, used, kind.count, kind.bytes});
  }
  read.reduces = notes.reduced != 0;
  read.waits_for_nobody = true;
  if (notes.skipped_nodes != 0) {
    read.note = fmt::format("{}: {} collective{} without type or size skipped", job.text("name"), notes.skipped_nodes,
                            notes.skipped_nodes == 1 ? "" : "s");
    for (std::size_t i = 0; i < std::min<std::size_t>(3, notes.skipped.size()); ++i)
      read.note += (i == 0 ? " (" : ", ") + notes.skipped[i];
    read.note += notes.skipped.size() > 3 ? ", ...)" : ")";
  }
  if (notes.dangling != 0) {
    read.note += fmt::format("{}{} dependencies on nodes that are not there left out", read.note.empty() ? "" : ", ",
                             notes.dangling);
  }
  return read;
}

Read read_job(const config::Values& job) {
  if (job.given("generator.collective")) return generated(job);
  const std::string& path = job.text("file");
  std::error_code problem;
  if (!std::filesystem::exists(path, problem)) {
    job.fail("file", fmt::format("there is no file \"{}\"", path),
             "name a workload file, from the folder of this file");
  }
  const workload::Format* const format = workload::format_of(path);
  if (format != nullptr && std::string_view(format->name) == "chakra") return from_trace(job, path);
  for (const auto& [name, value] : job.all()) {
    if (!is_for_traces(name) || !job.given(name)) continue;
    job.fail(name,
             fmt::format("it is for Chakra traces, and this file is {}",
                         format == nullptr ? "none" : std::string("in the format ") + format->name),
             "leave it out");
  }
  return {workload::read_workload(path), {}, {}};
}

workload::ReplayOptions replay_of(const config::Values& job, const workload::Host& host, const Read& read,
                                  const RunOptions& options) {
  workload::ReplayOptions replay;
  replay.reduces = read.reduces;
  replay.start = whole_units(job, "start", host.units_per_ns);
  replay.repeats = job.natural("repeats");
  replay.progress = options.progress;
  replay.interrupted = options.interrupted;
  return replay;
}

/// The place of what is wrong with a schedule as a whole: where the experiment names it.
[[noreturn]] void fail_in_schedule(const config::Values& job, const workload::Program& program,
                                   const std::string& cause, const std::string& remedy) {
  throw ConfigError(job.where(job.given("file") ? "file" : "generator.collective"), program.path() + ": " + cause,
                    remedy);
}

/// Throws ConfigError where a schedule cannot come to its end.
workload::Untimed require_sound(const config::Values& job, const workload::Program& program, u64 eager = ~u64{0}) {
  try {
    return workload::require_sound(program, eager);
  } catch (const ConfigError& error) { fail_in_schedule(job, program, error.cause(), error.remedy()); }
}

/// Throws ConfigError where one operation takes longer than a run can count.
void require_countable(const config::Values& job, const workload::Host& host, const workload::IdealWire& wire,
                       const workload::Program& program) {
  double per_byte = 0.0;
  for (const workload::PerByte& each : {host.gap_per_byte, host.overhead_per_byte, wire.per_byte})
    per_byte += std::ldexp(static_cast<double>(each.scaled()), -32);
  const double message = static_cast<double>(program.longest_message()) * per_byte;
  const double calculation = static_cast<double>(program.longest_calculation()) * host.units_per_ns;
  constexpr double kMost = static_cast<double>(workload::kLongestOperation) / 2;
  if (std::max(message, calculation) < kMost) return;
  fail_in_schedule(job, program,
                   (message < kMost ? fmt::format("a calculation of {} ns", program.longest_calculation())
                                    : fmt::format("a message of {} bytes", program.longest_message())) +
                       " takes longer than 2^61 units of time, and a run cannot count them",
                   "give shorter ones, or a longer cycle_time");
}

void check_host(const config::Values& job, const workload::Host& host, const workload::IdealWire& wire,
                const Read& read) {
  const workload::Program& program = read.program;
  require_countable(job, host, wire, program);
  static_cast<void>(whole_units(job, "start", host.units_per_ns));
  if (read.reduces && host.rules == workload::HostRules::loggopsim) {
    job.fail("host.rules", "LogGOPSim has no reductions in the network",
             "use rules = \"physical\", or another algorithm");
  }
  if (host.rules == workload::HostRules::physical) {
    const auto refuse_few = [&](const char* name, u32 given, u32 named) {
      if (given == 0 || given >= named) return;
      job.fail(name, fmt::format("the schedule names {}, and there are {}", named, given),
               fmt::format("give at least {}, or leave it out", named));
    };
    refuse_few("host.cores", host.cores, program.cores());
    refuse_few("host.nics", host.nics, program.nics());
  }
  if (!workload::unmatched_of(program).empty()) require_sound(job, program);
}

/// The longest messages of a job, in bytes.
struct Longest {
  u64 message = 0;
  u64 contribution = 0;  ///< to a reduction in the network
};

/// Looks at all messages of a job, and notes in it how many cross the network.
Longest look_at_messages(PlacedJob& job) {
  const workload::Program& program = *job.program;
  Longest longest;
  job.only_reduces = job.reduces;
  for (u32 r = 0; r < program.ranks(); ++r) {
    for (u32 i = 0; i < program.operations(r); ++i) {
      const workload::Operation o = program.operation(r, i);
      if (o.kind != workload::OperationKind::send) continue;
      const bool contribution = job.reduces && o.peer == r;
      job.only_reduces = job.only_reduces && contribution;
      u64& most = contribution ? longest.contribution : longest.message;
      most = std::max(most, o.amount);
      if (contribution || job.terminals[r] != job.terminals[o.peer]) ++job.sends;
    }
    program.release_pages();
  }
  return longest;
}

std::string on_each(u64 most) { return most <= 1 ? "one on each" : fmt::format("at most {} on each", most); }

std::string placed(const config::Values& job, u32 ranks, u32 terminals) {
  const u64 most = terminals == 0 ? 1 : (u64{ranks} + terminals - 1) / terminals;
  return fmt::format("{}: {} ranks on {} of {} terminals, {}", job.text("name"), ranks, std::min(ranks, terminals),
                     terminals, on_each(most));
}

/// Of the links over which terminals send: cycles per flit; 0: without limit.
std::vector<double> cycles_per_flit(const Experiment& experiment, const core::Topology& topology,
                                    const std::vector<u32>& terminals) {
  const core::SwitchRow& row = switch_row(experiment);
  const double most = row.capacity == nullptr ? 1.0 : row.capacity(experiment.switching).injection;
  const core::Graph& graph = topology.graph();
  std::vector<double> cycles;
  cycles.reserve(terminals.size());
  for (const u32 t : terminals) cycles.push_back(graph.channel(graph.injection(t)).link.cycles_per_flit / most);
  return cycles;
}

/// "ring: 8 ranks on 8 of 16 terminals, one on each, linear".
std::string placed_at(const config::Values& job, const std::vector<u32>& terminals, u32 of) {
  std::vector<u32> ranks(of, 0);
  for (const u32 t : terminals) ++ranks[t];
  return fmt::format("{}: {} ranks on {} of {} terminals, {}, {}", job.text("name"), terminals.size(),
                     std::count_if(ranks.begin(), ranks.end(), [](u32 n) { return n != 0; }), of,
                     on_each(*std::max_element(ranks.begin(), ranks.end())), job.text("placement"));
}

/// The parameter by which a job reduces in the network.
std::string reduction_key(const config::Values& job) {
  if (job.given("generator.collective")) return "generator.algorithm";
  for (const std::string& collective : workload::collective_names()) {
    std::string key = "collectives." + collective;
    if (job.text(key) == "in_network") return key;
  }
  return "file";
}

/// The traffic of a job that reduces in the network. Throws ConfigError where it cannot.
config::Values reduction_traffic(const Experiment& experiment, const config::Values& job, const PlacedJob& placed,
                                 u64 longest) {
  const std::string algorithm = reduction_key(job);
  const core::SwitchRow& row = switch_row(experiment);
  if (!row.reduces) {
    job.fail(algorithm, fmt::format("the switch {} does not add up what passes through it", row.info.name),
             fmt::format("use the switch {}, or another algorithm",
                         core::switches_with([](const core::SwitchRow& other) { return other.reduces; })));
  }
  if (!experiment.admission.component().empty() && experiment.admission.component() != "none") {
    experiment.admission.fail("name", "an admission learns from what arrives, and contributions end in switches",
                              "use admission = \"none\", or another algorithm");
  }
  std::vector<i64> members(placed.terminals.begin(), placed.terminals.end());
  std::ranges::sort(members);
  if (const auto twice = std::ranges::adjacent_find(members); twice != members.end()) {
    job.fail(algorithm, fmt::format("two ranks at terminal {} contribute to one reduction in the network", *twice),
             "use at most as many ranks as the network has terminals, each at a terminal of its own");
  }
  if (longest > core::kLongestPacket) {
    const bool generated = job.given("generator.collective");
    const u64 segments =
        (longest + core::kLongestPacket - 1) / core::kLongestPacket * job.natural("generator.segments");
    job.fail(
        generated ? "generator.segments" : "contribution",
        fmt::format("a contribution of {} flits is longer than a packet, of {} at most", longest, core::kLongestPacket),
        generated ? fmt::format("use segments = {}", segments)
                  : fmt::format("use contribution = {}", experiment.messages.integer("flit") * core::kLongestPacket));
  }
  config::Values traffic = network_of_jobs(experiment).traffics.front();
  traffic.set("members", std::move(members));
  traffic.set("longest", static_cast<i64>(longest));
  traffic.set("max_packet", i64{0});
  return traffic;
}

/// The jobs of an experiment on its network, ready to run.
struct Prepared {
  Experiment network;
  std::unique_ptr<core::Topology> topology;
  std::vector<Read> read;
  std::vector<PlacedJob> jobs;
  std::vector<std::string> notes;
};

Prepared prepare(const Experiment& experiment) {
  Prepared all;
  all.network = network_of_jobs(experiment);
  all.topology = build_topology(experiment);
  if (all.topology->subnetworks() > 1) {
    experiment.jobs.front().fail("name", "jobs run on one network, and the topology has several subnetworks",
                                 "use topology.subnetworks = 1");
  }
  Placement placement(*all.topology, static_cast<u64>(experiment.run.integer("seed")));
  const u32 flit = experiment.messages.natural("flit");
  const workload::IdealWire wire{0, workload::PerByte(1.0 / flit)};
  all.read.reserve(experiment.jobs.size());
  u64 longest = 1;
  const config::Values* longest_in = nullptr;
  std::vector<config::Values> reductions;  // of the jobs that reduce in the network
  bool asks = false;                       // messages above host.eager: whether they may come
  for (const config::Values& job : experiment.jobs) {
    if (job.text("host.rules") == "loggopsim") {
      job.fail("host.rules", "the rules of LogGOPSim are those of a network without contention",
               "use rules = \"physical\", or switch = { name = \"ideal\", latency = ..., per_byte = ... }");
    }
    all.read.push_back(read_job(job));
    const workload::Program& program = all.read.back().program;
    PlacedJob here;
    here.program = &program;
    here.host = host_of(experiment, job, wire, all.read.back());
    check_host(job, here.host, wire, all.read.back());
    const workload::ReplayOptions replay = replay_of(job, here.host, all.read.back(), {});
    here.reduces = replay.reduces;
    here.start = replay.start;
    here.repeats = replay.repeats;
    here.terminals = placement.place(job, program.ranks());
    here.cycles_per_flit = cycles_per_flit(experiment, *all.topology, here.terminals);
    all.notes.push_back(placed_at(job, here.terminals, all.topology->traffic_terminals()));
    if (placement.unused() != 0) {
      all.notes.push_back(fmt::format("{}: the last {} of {} terminals in the file are not used", job.text("name"),
                                      placement.unused(), here.terminals.size() + placement.unused()));
    }
    if (!all.read.back().note.empty()) all.notes.push_back(all.read.back().note);
    const Longest bytes = look_at_messages(here);
    const auto flits_of = [&](u64 most) { return std::max<u64>(1, (most + flit - 1) / flit); };
    if (here.reduces) {
      reductions.push_back(reduction_traffic(experiment, job, here, flits_of(bytes.contribution)));
      here.door = static_cast<u32>(reductions.size());  // behind the first, and perhaps the second
    }
    const u64 flits = flits_of(bytes.message);
    constexpr u64 kMostFlits = u64{1} << 40U;
    if (flits > kMostFlits) {
      fail_in_schedule(job, program,
                       fmt::format("a message of {} bytes is {} flits, and no run gets through more than 2^40",
                                   bytes.message, flits),
                       "send less, let a flit carry more, or use switch = \"ideal\"");
    }
    if (bytes.message > here.host.eager) {
      asks = true;
      all.notes.push_back(fmt::format("{}: messages of more than {} byte{} ask their receiver first (host.eager)",
                                      job.text("name"), here.host.eager, here.host.eager == 1 ? "" : "s"));
    }
    if (flits > longest) {
      longest = flits;
      longest_in = &job;
    }
    all.jobs.push_back(std::move(here));
  }
  if (longest > core::kLongestPacket && all.network.traffics.front().natural("max_packet") == 0) {
    fail_in_schedule(*longest_in, *all.jobs[static_cast<std::size_t>(longest_in - experiment.jobs.data())].program,
                     fmt::format("the longest message has {} flits, and {} takes at most {} at once", longest,
                                 experiment.switching.component(), core::kLongestPacket),
                     fmt::format("let a flit carry more: flit = \"{} B\"",
                                 (longest * flit + core::kLongestPacket - 1) / core::kLongestPacket));
  }
  all.network.traffics.front().set("longest", static_cast<i64>(std::min(longest, kLongestInjected)));
  if (asks && switch_row(experiment).serves_classes) {
    config::Values control = all.network.traffics.front();
    control.set("longest", i64{1});
    control.set("priority", i64{1});
    all.network.traffics.insert(all.network.traffics.begin() + 1, std::move(control));
    for (PlacedJob& job : all.jobs) job.door += job.reduces ? 1 : 0;
  }
  const auto behind = all.network.traffics.end() - static_cast<std::ptrdiff_t>(experiment.traffics.size());
  all.network.traffics.insert(behind, reductions.begin(), reductions.end());
  all.notes.push_back(fmt::format("a flit carries {} byte{}", flit, flit == 1 ? "" : "s"));
  if (cycle_of(experiment) == 0.0) all.notes.emplace_back("no cycle_time: a cycle counts as 1 ns");
  return all;
}

/// `network`: with the traffics that carry messages of jobs.
std::vector<std::string> warnings_of_jobs(const Experiment& network) {
  const Network built = build_network(network);
  return warnings_of(network, built, build_traffics(network, *built.topology));
}

void require_network(const Experiment& network) {
  const Network built = build_network(network);
  static_cast<void>(build_instance(network, built, engine_settings(network)));
}

/// Refuses what runs of jobs would pass over in silence.
void require_fitting(const Experiment& experiment, const RunOptions& options) {
  struct Unfit {
    bool asked;
    const char* option;
    const char* cause;
    const char* remedy;
  };
  const bool ideal = is_without_contention(experiment.switching.component());
  const char* const path = "leave it out; the critical path of the result says where messages waited";
  const Unfit unfit[] = {
      {!options.watches.empty(), "--watch", "packets of jobs are not watched", path},
      {options.trace != nullptr, "--record-trace", "messages of jobs are not recorded: the job is their schedule",
       "leave it out; --log FILE writes a line per packet"},
      {static_cast<bool>(options.window), "on_window", "a run of jobs has no windows", "leave it out"},
      {options.profile && ideal, "--profile", "a network without contention is not simulated",
       "leave it out, or choose another switch model"}};
  for (const Unfit& u : unfit) {
    if (u.asked) throw ConfigError({"command line", 0, 0, u.option}, u.cause, u.remedy);
  }
  const auto subnetworks = experiment.topology.all().find("subnetworks");
  if (subnetworks != experiment.topology.all().end() && experiment.topology.integer("subnetworks") > 1 && !ideal) {
    experiment.topology.fail("subnetworks", "jobs run on one network, and this topology is several side by side",
                             "leave it out");
  }
  if (!experiment.analyses.empty())
    experiment.analyses.front().fail("name", "no analytical model describes jobs", "leave analysis out");
  for (const config::Values& traffic : experiment.traffics) {
    if (traffic.component() == "injected")
      traffic.fail("name", "messages of jobs are the traffic \"injected\" already", "leave it out");
  }
  for (const char* key : {"window", "duration", "precision", "warmup", "measure", "settle"}) {
    if (!experiment.run.given(key)) continue;
    experiment.run.fail(key, "a run of jobs ends with the last job", "leave it out");
  }
  const std::string& tables = experiment.run.text("tables");
  if (tables == "flows" || tables == "all") {
    experiment.run.fail("tables", "runs of jobs have no table of flows", "use tables = \"channels\" or \"none\"");
  }
  if (experiment.run.flag("trees"))
    experiment.run.fail("trees", "congestion trees are not recorded beside jobs", "leave it out");
}

void add(Result& result, const std::string& name, double value, const char* unit) {
  result.metrics.push_back(stats::Metric::exact(name, unit, value));
}

void note(Result& result, const std::string& text) {
  result.explanation += (result.explanation.empty() ? "" : "; ") + text;
}

/// Throws ConfigError where a job has not come to its end.
void require_end(const config::Values& job, const JobRecord& made) {
  if (made.outcome.explanation.empty()) return;
  require_sound(job, *made.program, made.host.eager);  // says it better where a cycle is the reason
  fail_in_schedule(job, *made.program, fmt::format("{} cannot go on: {}", made.name, made.outcome.explanation),
                   "give each message its receive, or a larger host.eager where sends wait for each other");
}

void hash_job(Hasher& hasher, const workload::JobOutcome& outcome) {
  hasher.add(outcome.completion);
  for (const u64 end : outcome.ends) hasher.add(end);
  hasher.add(outcome.operations);
  hasher.add(outcome.messages);
  hasher.add(outcome.bytes);
}

/// Says of a job that is too long for it that nobody has looked for its critical path.
void note_untraced(Result& result, const JobRecord& job, u32 repeats) {
  if (job.program->operations() * repeats <= workload::kMostTraced) return;
  note(result,
       fmt::format("{}: no critical path, which is kept of up to {} operations", job.name, workload::kMostTraced));
}

/// What was run: the records refer to the programs.
struct Ran {
  std::vector<Read> read;
  std::vector<JobRecord> jobs;
  std::unique_ptr<core::Topology> topology;  ///< nullptr: without contention it is not asked
};

/// The unit of the times of a run: ns, or cycles where these have no length.
double unit_of(const Experiment& experiment) {
  const double cycle = cycle_of(experiment);
  return cycle > 0.0 ? cycle : 1.0;
}

/// Keeps the state of a job that is replayed without contention.
class JobKeeper final : public workload::ReplayKeeper {
 public:
  JobKeeper(engine::RunKeeper& keeper, const RunOptions& options, const workload::Program& program)
      : keeper_(keeper), options_(options), program_(program) {}
  void begin(std::function<void(Archive&)> state) override {
    part_.emplace(&keeper_, [this, whole = std::move(state)](Archive& a) {
      a.same(program_.hash());
      whole(a);
    });
    if (keeper_.due()) keeper_.save();
  }
  void rest() override {
    if (options_.stops() || keeper_.due()) keeper_.save();
  }

 private:
  engine::RunKeeper& keeper_;
  const RunOptions& options_;
  const workload::Program& program_;
  std::optional<engine::RunKeeper::Part> part_;
};

/// The log of jobs without contention: a line per message, in the order of arrivals in each job.
class WireLog {
 public:
  WireLog(const std::string& file, const Experiment& experiment, const core::Topology& topology)
      : file_(file, topology.graph(), {"injected"}),
        placement_(topology, static_cast<u64>(experiment.run.integer("seed"))),
        sent_(topology.graph().terminals()) {}

  void begin(const config::Values& job, u32 ranks) { terminals_ = placement_.place(job, ranks); }
  void add(u64 now, const workload::WireMessage& message) {
    while (!on_the_way_.empty() && on_the_way_.begin()->first < now) write_first();
    const u32 source = terminals_[message.send.rank];
    on_the_way_.emplace(message.arrived,
                        engine::LoggedPacket{.name = {.source = source, .sequence = sent_[source]++, .traffic = 0},
                                             .destination = terminals_[message.to],
                                             .flits = message.bytes,
                                             .birth = message.sent,
                                             .enter = message.sent,
                                             .arrival = message.arrived,
                                             .channels = {}});
  }
  void end() {
    while (!on_the_way_.empty()) write_first();
  }
  void finish() { file_.finish(); }

 private:
  void write_first() {
    std::string line;
    file_.add_line(line, 0, on_the_way_.begin()->second);
    file_.write(line);
    on_the_way_.erase(on_the_way_.begin());
  }

  PacketLogFile file_;
  Placement placement_;
  std::vector<u32> terminals_;                           ///< [rank] of the job
  std::vector<u32> sent_;                                ///< [terminal], messages
  std::multimap<u64, engine::LoggedPacket> on_the_way_;  ///< by arrival
};

Ran run_without_contention(const Experiment& experiment, const RunOptions& options, Result& result) {
  const std::unique_ptr<core::Topology> topology = build_topology(experiment);
  const u32 terminals = topology->traffic_terminals();
  std::optional<WireLog> log;
  if (!options.packet_log.empty()) log.emplace(options.packet_log, experiment, *topology);
  const workload::IdealWire wire = ideal_wire(experiment);
  Ran ran;
  ran.read.reserve(experiment.jobs.size());
  std::vector<workload::JobOutcome> done;  // kept for checkpoints
  const engine::RunKeeper::Part part(options.keeper, [&](Archive& a) { a(done); });
  for (const config::Values& job : experiment.jobs) {
    ran.read.push_back(read_job(job));
    const workload::Program& program = ran.read.back().program;
    const workload::Host host = host_of(experiment, job, wire, ran.read.back());
    check_host(job, host, wire, ran.read.back());
    workload::ReplayOptions replay = replay_of(job, host, ran.read.back(), options);
    if (log) {
      log->begin(job, program.ranks());
      replay.message = [&](u64 now, const workload::WireMessage& message) { log->add(now, message); };
    }
    std::optional<JobKeeper> keeper;
    if (options.keeper != nullptr) replay.keeper = &keeper.emplace(*options.keeper, options, program);
    JobRecord made;
    made.name = job.text("name");
    made.unit = unit_of(experiment);
    made.in_ns = cycle_of(experiment) > 0.0;
    made.program = &program;
    made.host = host;
    made.collectives = ran.read.back().collectives;
    if (ran.jobs.size() < done.size()) {
      made.outcome = done[ran.jobs.size()];
    } else {
      made.outcome = host.rules == workload::HostRules::loggopsim
                         ? workload::replay_loggopsim(program, host, wire, replay)
                         : workload::replay_physical(program, host, wire, replay);
      if (keeper) done.push_back(made.outcome);
      if (log) log->end();
    }
    note(result, placed(job, program.ranks(), terminals));
    if (!ran.read.back().note.empty()) note(result, ran.read.back().note);
    require_end(job, made);
    note_untraced(result, made, replay.repeats);
    ran.jobs.push_back(std::move(made));
  }
  if (log) log->finish();
  return ran;
}

/// `cycles`: of the jobs' run.
void add_channels(Result& result, const core::Topology& topology, const NetworkJobsOutcome& out,
                  const Experiment& experiment, u64 cycles) {
  const std::vector<u64>& flits = out.channel_flits;
  const u32 flit = experiment.messages.natural("flit");
  const auto place = [&](const core::End& end) {
    return end.terminal ? fmt::format("terminal {}", end.node) : topology.label(end.node);
  };
  const auto port = [&](const core::End& end) {
    return end.terminal ? std::string() : topology.port_label(end.node, end.port);
  };
  Table table{"channels", {"channel", "from", "from_port", "to", "to_port", "flits", "bytes", "utilization"}, {}};
  const auto& channels = topology.graph().channels();
  for (u32 c = 0; c < channels.size() && c < flits.size(); ++c) {
    if (channels[c].failed) continue;
    table.rows.push_back({u64{c}, place(channels[c].from), port(channels[c].from), place(channels[c].to),
                          port(channels[c].to), flits[c], flits[c] * flit,
                          utilization(flits[c], out.channel_overhead[c], channels[c].link, experiment, cycles)});
  }
  result.tables.push_back(std::move(table));
}

Ran run_on_switches(const Experiment& experiment, const RunOptions& options, Result& result, Hasher& hasher) {
  Prepared prepared = prepare(experiment);
  if (options.ranks != nullptr) require_shareable(experiment, build_traffics(experiment, *prepared.topology));
  for (const std::string& text : prepared.notes) note(result, text);
  for (const std::string& text : warnings_of_jobs(prepared.network))
    result.warning += (result.warning.empty() ? "" : "; ") + text;
  const u32 flit = experiment.messages.natural("flit");
  const bool tables = experiment.run.text("tables") != "none";
  std::optional<PacketLogFile> log;
  if (!options.packet_log.empty() && (options.ranks == nullptr || options.ranks->rank() == 0))
    log.emplace(options.packet_log, prepared.network, prepared.topology->graph());
  const auto profile = options.profile ? std::make_shared<Profile>() : nullptr;
  const auto run = [&] {
    return run_on_network(prepared.network, flit, prepared.jobs, options, tables, log ? &*log : nullptr, profile.get());
  };
  NetworkJobsOutcome out;
  try {
    out = run();
  } catch (const NotArchived& error) {  // messages of jobs are traffics before those of the experiment
    const std::size_t own = prepared.network.traffics.size() - experiment.traffics.size();
    throw NotArchived(error.what(),
                      error.number() - static_cast<u32>(error.what() == std::string("traffic") ? own : 0));
  }
  result.fewer_threads = out.fewer_threads;
  if (profile != nullptr) {
    profile->threads_asked = std::max(profile->threads_asked, options.threads);
    profile->fewer_threads = out.fewer_threads;
  }
  result.profile = profile;
  result.cpu_seconds = out.helper_cpu_seconds;
  const bool blocked = !out.blockage.empty();
  if (blocked) {
    // A schedule that no network could bring to its end is no fault of this one.
    for (std::size_t j = 0; j < prepared.jobs.size(); ++j) {
      if (!out.jobs[j].outcome.explanation.empty())
        require_sound(experiment.jobs[j], *prepared.jobs[j].program, prepared.jobs[j].host.eager);
    }
    result.verdict = Verdict::deadlocked;
    note(result, out.blockage);
  }
  if (out.late) {
    result.verdict = Verdict::saturated;
    result.certain = false;
    note(result, fmt::format("not all jobs had ended after {} cycles (run.session_limit)",
                             experiment.run.integer("session_limit")));
  }
  if (out.not_followed) {
    note(result, fmt::format("no queues of critical paths and no bytes per link, which take a second run: more than {} "
                             "flits went through the network (run.tables = \"channels\" has them anyway)",
                             kMostFlitsAgain));
  }
  const bool cut_short = blocked || out.late;
  Ran ran;
  for (std::size_t j = 0; j < prepared.jobs.size(); ++j) {
    NetworkJobsOutcome::OfJob& of = out.jobs[j];
    JobRecord made;
    made.name = experiment.jobs[j].text("name");
    made.unit = unit_of(experiment);
    made.in_ns = cycle_of(experiment) > 0.0;
    made.program = prepared.jobs[j].program;
    made.host = prepared.jobs[j].host;
    made.outcome = std::move(of.outcome);
    made.finished = made.outcome.explanation.empty();
    if (cut_short) made.outcome.explanation.clear();
    made.on_network = true;
    made.slowdown_alone = of.slowdown_alone;
    made.slowdown_ideal = of.slowdown_ideal;
    made.collectives = prepared.read[j].collectives;
    made.terminals = prepared.jobs[j].terminals;
    made.watched = std::move(of.watched);
    require_end(experiment.jobs[j], made);
    note_untraced(result, made, prepared.jobs[j].repeats);
    ran.jobs.push_back(std::move(made));
  }
  ran.read = std::move(prepared.read);
  u64 cycles = 0;
  for (const JobRecord& job : ran.jobs) {
    hash_job(hasher, job.outcome);
    cycles = std::max(cycles, job.outcome.completion);
  }
  hasher.add(out.hash);
  if (!out.channel_flits.empty()) add_channels(result, *prepared.topology, out, experiment, cycles);
  ran.topology = std::move(prepared.topology);
  return ran;
}

void add_metrics(Result& result, const std::vector<JobRecord>& jobs, const char* unit) {
  double completion = 0.0;
  u64 operations = 0;
  u64 messages = 0;
  u64 bytes = 0;
  for (const JobRecord& job : jobs) {
    completion = std::max(completion, static_cast<double>(job.outcome.completion) * job.unit);
    operations += job.outcome.operations;
    messages += job.outcome.messages;
    bytes += job.outcome.bytes;
  }
  const bool all_finished = std::ranges::all_of(jobs, [](const JobRecord& job) { return job.finished; });
  if (all_finished) add(result, "completion", completion, unit);
  add(result, "operations", static_cast<double>(operations), "operations");
  add(result, "messages", static_cast<double>(messages), "messages");
  add(result, "message_bytes", static_cast<double>(bytes), "B");
  for (const JobRecord& job : jobs) {
    const std::string suffix = "." + job.name;
    if (!job.finished) continue;
    if (jobs.size() > 1)
      add(result, "completion" + suffix, static_cast<double>(job.outcome.completion) * job.unit, unit);
    if (!job.on_network || !job.slowdown_alone || !job.slowdown_ideal) continue;
    add(result, "slowdown_alone" + suffix, *job.slowdown_alone, "");
    add(result, "slowdown_ideal" + suffix, *job.slowdown_ideal, "");
  }
}

/// Does what require_sound() does; what is odd about a schedule becomes a note.
void note_sound(const config::Values& job, const Read& read, const workload::Host& host,
                std::vector<std::string>& notes) {
  const workload::Program& program = read.program;
  const workload::Untimed untimed = require_sound(job, program, host.eager);
  if (untimed.open) {
    notes.push_back(program.path() +
                    ": who meets whom depends on time, and in a run without a network operations wait "
                    "for each other without end");
  }
  if (std::string text = workload::short_receives_text(program, untimed); !text.empty()) {
    notes.push_back(program.path() + ": " + text);
  }
}

}  // namespace

std::vector<std::string> check_jobs(const Experiment& experiment) {
  require_fitting(experiment, {});
  if (!is_without_contention(experiment.switching.component())) {
    Prepared prepared = prepare(experiment);
    require_network(prepared.network);  // as a run does, which hears of schedules that cannot end when it stands
    for (std::size_t j = 0; j < prepared.jobs.size(); ++j) {
      note_sound(experiment.jobs[j], prepared.read[j], prepared.jobs[j].host, prepared.notes);
    }
    for (std::string& text : warnings_of_jobs(prepared.network)) prepared.notes.push_back(std::move(text));
    return prepared.notes;
  }
  std::vector<std::string> notes;
  const u32 terminals = build_topology(experiment)->traffic_terminals();
  const workload::IdealWire wire = ideal_wire(experiment);
  for (const config::Values& job : experiment.jobs) {
    const Read read = read_job(job);
    const workload::Host host = host_of(experiment, job, wire, read);
    check_host(job, host, wire, read);
    note_sound(job, read, host, notes);
    notes.push_back(placed(job, read.program.ranks(), terminals));
    if (!read.note.empty()) notes.push_back(read.note);
  }
  return notes;
}

Result run_jobs(const Experiment& experiment, const RunOptions& options) {
  const double started = thread_cpu_seconds();
  const Stopwatch watch;
  require_fitting(experiment, options);
  const double cycle = cycle_of(experiment);
  Result result;
  result.verdict = Verdict::finished;
  Hasher hasher;
  Ran ran;
  if (is_without_contention(experiment.switching.component())) {
    ran = run_without_contention(experiment, options, result);
    for (const JobRecord& job : ran.jobs) hash_job(hasher, job.outcome);
  } else {
    ran = run_on_switches(experiment, options, result, hasher);
  }
  result.jobs = jobs_json(ran.jobs, ran.topology.get());
  add_metrics(result, ran.jobs, cycle > 0.0 ? "ns" : "cycles");
  result.state_hash = hasher.value();
  result.version = version();
  result.configuration = experiment.configuration;
  result.configuration_hash = experiment.configuration_hash;
  result.seed = static_cast<u64>(experiment.run.integer("seed"));
  result.cpu_seconds += thread_cpu_seconds() - started;  // what helping threads spent is there already
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  result.peak_bytes = static_cast<u64>(usage.ru_maxrss) * 1024U;
  if (result.profile != nullptr) {
    Profile profile = *result.profile;
    profile.seconds = watch.seconds();
    profile.peak_bytes = result.peak_bytes;
    result.profile = std::make_shared<const Profile>(std::move(profile));
  }
  return result;
}

}  // namespace banyan::api
