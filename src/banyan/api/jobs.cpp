#include "banyan/api/jobs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

#include "banyan/api/network.hpp"
#include "banyan/config/json.hpp"
#include "banyan/config/resolve.hpp"
#include "banyan/core/registry.hpp"
#include "banyan/workload/collectives.hpp"

namespace banyan::api {
namespace {

using config::Parameter;
using nlohmann::json;

constexpr double kMostTime = 1e15;
constexpr double kMostPerByte = 1e9;
constexpr double kMostBytes = 9e15;
constexpr double kMostRepeats = 1e9;
constexpr double kMostRate = 1e12;
constexpr i64 kFlit = 32;    ///< bytes
constexpr i64 kPacket = 16;  ///< flits of the longest packet, where the switch does not cut messages itself
constexpr const char* kGenerator = "generator.";
constexpr const char* kCollectives = "collectives.";

std::vector<Parameter> job_parameters() {
  std::vector<Parameter> all{
      Parameter::text("name", "").doc("Name in the result; default: its number"),
      Parameter::text("file", "").file().doc("Workload file; its format is told by its content"),
      Parameter::text("placement", "linear")
          .file({"linear", "random", "blocked", "spread"})
          .doc("Terminals of the ranks: linear, random, blocked, spread, or a file of their numbers"),
      Parameter::real("start", 0.0).unit("ns").range(0, kMostTime).doc("When the job begins"),
      Parameter::integer("repeats", 1).range(1, kMostRepeats).doc("How often each rank runs its schedule"),
      Parameter::real("host.overhead", 0.0).unit("ns").range(0, kMostTime).doc("Of a core per message (o)"),
      Parameter::real("host.gap", 0.0).unit("ns").range(0, kMostTime).doc("Of an interface between messages (g)"),
      Parameter::real("host.gap_per_byte", 0.0)
          .unit("ns")
          .range(0, kMostPerByte)
          .doc("Of an interface per further byte (G); default: that of the network"),
      Parameter::real("host.overhead_per_byte", 0.0)
          .unit("ns")
          .range(0, kMostPerByte)
          .doc("Of a core per further byte (O)"),
      Parameter::integer("host.eager", 65535)
          .unit("bytes")
          .range(0, kMostBytes)
          .doc("Longest message that is sent without asking the receiver (S); sends of a Chakra trace without it never "
               "ask"),
      Parameter::integer("host.cores", 0).range(0, 256).doc("Cores per rank; 0: as many as the schedule names"),
      Parameter::integer("host.nics", 0).range(0, 256).doc("Network interfaces per rank; 0: likewise"),
      Parameter::choice("host.rules", {"physical", "loggopsim"}, "physical").doc("What costs a host when"),
      Parameter::choice("incomplete", {"refuse", "skip"}, "refuse")
          .doc("Collectives of a Chakra trace without type or size, and dependencies on nodes that it lacks: refused, "
               "or "
               "taken for computations and left out"),
      Parameter::text("groups", "").file().doc("JSON file of the groups of a Chakra trace, such as {\"1\": [0, 1]}"),
      Parameter::integer("group", 8)
          .range(1, 1 << 20)
          .doc("Ranks per group where a collective of a Chakra trace is hierarchical"),
      Parameter::integer("contribution", 4096)
          .unit("bytes")
          .range(1, kMostBytes)
          .doc("Of a collective of a Chakra trace that switches reduce: so much of a vector at once"),
      Parameter::real("rate", 0.0)
          .range(0, kMostRate)
          .doc("Operations per ns of computations of a Chakra trace that give num_ops and no time; 0: they take none")};
  for (const std::string& collective : workload::collective_names()) {
    const workload::Collective which = *workload::collective_named(collective);
    std::vector<std::string> names = workload::algorithm_names(which);
    std::string doc =
        fmt::format("How a Chakra trace's {} is done; automatic: by size and ranks, as MPICH does", collective);
    if (workload::has_in_network(which)) {
      names.emplace_back(workload::name_of(workload::Algorithm::in_network));
      doc += "; in_network: by switches, where all ranks take part";
    }
    all.push_back(Parameter::choice(kCollectives + collective, std::move(names), "automatic").doc(doc));
  }
  for (Parameter parameter : workload::collective_info().parameters) {
    if (!parameter.fallback) {  // whether it is needed depends on the others
      parameter.fallback =
          parameter.type == config::Type::choice ? config::Value(parameter.choices.front()) : config::Value(i64{0});
      parameter.low = std::min(parameter.low, 0.0);
    }
    parameter.name = kGenerator + parameter.name;
    all.push_back(std::move(parameter));
  }
  return all;
}

bool is_generated(const config::Values& job) {
  return std::ranges::any_of(
      job.all(), [&](const auto& entry) { return entry.first.starts_with(kGenerator) && job.given(entry.first); });
}

void check_source(const config::Values& job) {
  const bool generated = is_generated(job);
  const char* const remedy = "give file = \"x.goal\" or generator = { collective = \"all_reduce\", ... }";
  if (generated && job.given("file")) job.fail("file", "a job has a file and a generator", remedy);
  if (!generated && job.text("file").empty()) job.fail("file", "a job has neither a file nor a generator", remedy);
  if (!generated) return;
  for (const char* needed : {"generator.collective", "generator.ranks"}) {
    if (!job.given(needed))
      job.fail(needed, "a generator needs it", "write generator = { collective = ..., ranks = ... }");
  }
  if (job.integer("generator.ranks") == 0) job.fail("generator.ranks", "a collective of no ranks", "give 1 at least");
  for (const auto& [name, value] : job.all()) {
    if (is_for_traces(name) && job.given(name)) {
      job.fail(name, "it is for the collectives of a trace, and this job has a generator",
               name.starts_with(kCollectives) ? "write generator = { algorithm = ... }" : "leave it out");
    }
  }
}

const core::SwitchRow* row_named(std::string_view name) {
  for (const core::SwitchRow* row : core::switching_rows()) {
    if (row->info.name == name) return row;
  }
  return nullptr;
}

void refuse_unfit(const Experiment& experiment) {
  if (!is_without_contention(experiment.switching.component())) return;
  if (!experiment.traffics.empty()) {
    experiment.traffics.front().fail("name", "jobs meet nobody on a network without contention, no traffic either",
                                     "leave the traffic out, or use another switch");
  }
  for (const char* key : {"flit", "packet"}) {
    if (!experiment.messages.given(key)) continue;
    experiment.messages.fail(key, "messages of jobs are not cut on a network without contention", "leave it out");
  }
}

/// A name, as a number, says in overrides which job is meant, and in metrics whose they are.
void check_names(const std::vector<config::Values>& jobs) {
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const std::string& name = jobs[j].text("name");
    for (std::size_t k = 0; k < jobs.size(); ++k) {
      if (k < j && jobs[k].text("name") == name)
        jobs[j].fail("name", fmt::format("two jobs are called \"{}\"", name), "give each a name of its own");
      if (k != j && name == std::to_string(k))
        jobs[j].fail("name", fmt::format("\"{}\" is the number of another job", name), "use a name that is no number");
    }
  }
}

}  // namespace

bool is_for_traces(std::string_view parameter) {
  constexpr std::array<std::string_view, 5> kOthers{"incomplete", "groups", "group", "contribution", "rate"};
  return parameter.starts_with(kCollectives) || std::ranges::find(kOthers, parameter) != kOthers.end();
}

const config::ComponentInfo& job_info() {
  static const config::ComponentInfo info{
      "job", "A schedule of ranks on hosts",
      "Alexandrov, Ionescu, Schauser and Scheiman, LogGP: Incorporating Long Messages into the LogP Model, SPAA 1995; "
      "Hoefler, Schneider and Lumsdaine, LogGOPSim, LSAP 2010",
      job_parameters()};
  return info;
}

const config::ComponentInfo& messages_info() {
  static const config::ComponentInfo info{
      "messages",
      "How messages of jobs become flits and packets, and how long a cycle is",
      "docs/workload/jobs.md",
      {Parameter::integer("flit", 0)
           .unit("bytes")
           .range(0, 1 << 20)
           .doc("What a flit carries; 0: what the switch model says, else 32 bytes"),
       Parameter::integer("packet", -1)
           .unit("flits")
           .range(-1, 65535)
           .doc("Longest packet that messages are cut into; 0: they are not cut; -1: not where the switch model cuts "
                "them, else 16"),
       Parameter::real("cycle_time", 0.0)
           .unit("ns")
           .range(0, kMostTime)
           .doc("Length of a cycle; 0: what the switch model says; without any, times are cycles")}};
  return info;
}

bool is_without_contention(std::string_view switch_name) {
  const core::SwitchRow* const row = row_named(switch_name);
  return row != nullptr && row->without_contention;
}

void complete_jobs(Experiment& experiment) {
  for (std::size_t j = 0; j < experiment.jobs.size(); ++j) {
    config::Values& job = experiment.jobs[j];
    check_source(job);
    if (job.text("name").empty()) job.set("name", fmt::format("job {}", j), job.where("name"), false);
  }
  check_names(experiment.jobs);
  refuse_unfit(experiment);
  config::Values& messages = experiment.messages;
  const core::SwitchRow& row = switch_row(experiment);
  const double other = cycle_ns(experiment);  // of run.cycle_time, or of the switch model
  const double own = messages.real("cycle_time");
  if (own > 0.0 && other > 0.0 && own != other) {
    const Where by = experiment.run.where("cycle_time");
    const std::string place = by.line == 0 ? by.file : fmt::format("{}:{}:{}", by.file, by.line, by.column);
    messages.fail("cycle_time",
                  fmt::format("a cycle takes {} ns here and {} ns by {}", own, other,
                              row.cycle_ns != nullptr ? row.info.name : fmt::format("run.cycle_time ({})", place)),
                  "leave one of them out");
  }
  const i64 of_run = experiment.run.integer("flit");
  const i64 of_messages = messages.integer("flit");
  if (of_run != 0 && of_messages != 0 && of_run != of_messages) {
    messages.fail("flit", fmt::format("a flit has {} bytes here and {} by run.flit", of_messages, of_run),
                  "leave one of them out");
  }
  const auto bytes = static_cast<i64>(row.flit_bytes);
  if (bytes != 0 && messages.integer("flit") != 0 && messages.integer("flit") != bytes) {
    messages.fail(
        "flit", fmt::format("a flit of {} is {} byte{}", row.info.name, row.flit_bytes, row.flit_bytes == 1 ? "" : "s"),
        "leave it out");
  }
  if (messages.integer("flit") == 0) messages.set("flit", bytes != 0 ? bytes : of_run != 0 ? of_run : kFlit, {}, false);
  if (messages.integer("packet") >= 0) return;
  const bool cuts = config::find_parameter(row.info, "payload") != nullptr || row.framing != nullptr;
  const i64 longest = row.packet_flits != 0 ? i64{row.packet_flits} : kPacket;
  messages.set("packet", cuts ? i64{0} : longest, {}, false);
}

void describe_jobs(const Experiment& experiment, json& all) {
  for (const config::Values& job : experiment.jobs) {
    json one = config::to_json(job);
    one["name"] = job.text("name");
    const bool generated = is_generated(job);
    for (const auto& [name, value] : job.all()) {
      const bool optional = name.starts_with(kGenerator) || is_for_traces(name);
      // These keep what was said: they are for some algorithms and some formats only.
      if ((optional && !job.given(name)) || (name == "file" && generated)) one.erase(name);
    }
    // Their defaults are those of the network and of the file.
    if (!job.given("host.gap_per_byte")) one.erase("host.gap_per_byte");
    if (!job.given("host.eager")) one.erase("host.eager");
    all["job"].push_back(std::move(one));
  }
  if (!is_without_contention(experiment.switching.component())) {
    all["flit"] = experiment.messages.integer("flit");
    all["packet"] = experiment.messages.integer("packet");
  }
  all["cycle_time"] = experiment.messages.real("cycle_time");
}

void keep_run_of_jobs(json& run, bool has_limit) {
  json kept = json::object();
  for (const char* key : {"seed", "shards", "wake", "step_order", "audit", "tables"}) {
    if (run.contains(key)) kept[key] = run.at(key);
  }
  if (has_limit) kept["session_limit"] = run.at("session_limit");
  run = std::move(kept);
}

Experiment network_of_jobs(const Experiment& experiment) {
  Experiment network = experiment;
  network.jobs.clear();
  const auto rows = core::traffic_rows();
  const auto injected = std::ranges::find_if(rows, [](const auto* row) { return row->info.name == "injected"; });
  config::Values messages = config::Values::defaults((*injected)->info);
  // A switch that makes packets of a message itself takes as much of it at once as a record of the engine can say:
  // whole packets, so that it makes the same ones of the rest.
  const core::SwitchRow& row = switch_row(experiment);
  i64 packet = experiment.messages.integer("packet");
  if (packet == 0 && row.framing != nullptr) {
    if (const u32 longest = row.framing(experiment.switching).longest; longest <= core::kLongestPacket) {
      packet = core::kLongestPacket / longest * longest;
    }
  }
  messages.set("max_packet", packet);
  network.traffics.insert(network.traffics.begin(), std::move(messages));
  return network;
}

}  // namespace banyan::api
