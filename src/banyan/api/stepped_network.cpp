#include "banyan/api/stepped_network.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "banyan/api/network.hpp"
#include "banyan/api/profiler.hpp"
#include "banyan/api/threads.hpp"
#include "banyan/base/flat_map.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/traffic/parts/injected.hpp"

namespace banyan::api {
namespace {

constexpr Stream kWaysOfInjected{"injected: ways"};
constexpr const char* kInjected = "injected";
constexpr u64 kMostContributions = u64{1} << 32U;  // tags

/// The places of the traffics that the caller feeds.
std::vector<u32> doors_of(const Experiment& experiment) {
  std::vector<u32> doors;
  for (u32 i = 0; i < experiment.traffics.size(); ++i) {
    if (experiment.traffics[i].component() == kInjected) doors.push_back(i);
  }
  if (doors.empty()) {
    throw ConfigError({"", 0, 0, "traffic"}, fmt::format("no traffic of the experiment is \"{}\"", kInjected),
                      fmt::format("give one: traffic = \"{}\", alone or among others", kInjected));
  }
  return doors;
}

[[noreturn]] void refuse_message(const std::string& cause, const std::string& remedy) {
  throw ConfigError({"", 0, 0, "inject"}, cause, remedy);
}

}  // namespace

struct SteppedNetwork::State {
  State(const Experiment& experiment, u32 threads, const engine::ProbePlan& probe, engine::Ranks* ranks_)
      : ranks(ranks_),
        doors(doors_of(experiment)),
        seed(static_cast<u64>(experiment.run.integer("seed"))),
        network(build_network(experiment)) {
    if (experiment.fork.warm != nullptr) {
      throw ConfigError({"", 0, 0, "fork"}, "a network that is stepped has no warm-up to go on from", "leave out fork");
    }
    if (!experiment.jobs.empty()) {
      experiment.jobs.front().fail("name", "a network that is stepped has no jobs", "leave them out");
    }
    engine::EngineSettings settings = engine_settings(experiment);
    settings.probe = probe;
    const u32 switches = network.topology->graph().switches();
    share_out(settings, experiment, switches, threads, ranks);
    instance = build_instance(experiment, network, settings);
    fewer_threads = why_fewer_threads(experiment, *instance.machine, switches, threads, ranks);
    for (const u32 place : doors) {
      ports.push_back(dynamic_cast<traffic::Injected*>(instance.traffics[place].get()));
      if (ports.back() == nullptr) {
        experiment.topology.fail("subnetworks", "messages are injected into one network", "use subnetworks = 1");
      }
      longest.push_back(experiment.traffics[place].natural("longest"));
      contributions.emplace_back(ports.back()->reduces() ? network.topology->graph().terminals() : 0);
    }
  }

  void reset(u32 replication) {
    instance.machine->reset(replication);
    instance.machine->set_window({0, kNever - 1});
    ways = Random(seed, kWaysOfInjected, doors.front(), replication);
    pending.clear();
    delivered.clear();
    for (auto& of_door : contributions) std::fill(of_door.begin(), of_door.end(), 0);
    reductions.assign(doors.size(), {});
    now = 0;
    next_id = 0;
  }

  void check(u32 source, u32 destination, u32 flits, Tick at, u32 door) {
    if (door >= doors.size()) {
      refuse_message(fmt::format("there is no door {}", door),
                     fmt::format("the experiment has {} traffics \"{}\", from 0 on", doors.size(), kInjected));
    }
    const u32 most = longest[door];
    const u32 terminals = network.topology->traffic_terminals();
    for (const u32 terminal : {source, destination}) {
      if (terminal < terminals) continue;
      refuse_message(fmt::format("there is no terminal {}", terminal),
                     fmt::format("use terminals from 0 to {}", terminals - 1));
    }
    if (flits < 1 || flits > most) {
      refuse_message(fmt::format("a message of {} flits", flits),
                     fmt::format("inject 1 to {} flits, or raise traffic.injected.longest", most));
    }
    if (ports[door]->reduces()) {
      if (source != destination || !ports[door]->is_member(source)) {
        refuse_message(fmt::format("terminal {} contributes to no reduction at {}", source, destination),
                       "let every member of traffic.injected.members send to itself");
      }
      if (contributions[door][source] == kMostContributions / doors.size()) {
        refuse_message("the contributions of a terminal cannot be numbered any more", "inject fewer of them");
      }
      if (contributions[door][source] != 0 && pending.find(last_contribution(source, door)) != nullptr) {
        refuse_message(fmt::format("the contribution of terminal {} before this one has not come back", source),
                       "inject it when the sum has arrived");
      }
      if (const Reduction& others = reduction(source, door);
          others.flits != flits && others.number == contributions[door][source]) {
        refuse_message(fmt::format("a contribution of {} flits to a sum of {}", flits, others.flits),
                       "inject contributions of one length");
      }
    }
    if (at < now) {
      refuse_message(fmt::format("cycle {} is over, {} are done", at, now),
                     "inject into the next cycle or a later one");
    }
    if (at > kLastCycle) {
      refuse_message(fmt::format("there is no cycle {}", at), fmt::format("inject into one up to {}", kLastCycle));
    }
  }

  /// Whether there are so many cycles behind those that are done.
  void require_cycles(Tick more) const {
    if (more <= kLastCycle - now) return;
    throw ConfigError({"", 0, 0, "cycles"}, fmt::format("{} cycles after the {} that are done", more, now),
                      fmt::format("a network is stepped for {} cycles at most; reset() begins again", kLastCycle));
  }

  /// All cycles before `now`.
  void run() {
    if (watched) {
      const Stopwatch running;
      instance.machine->run_until(now);
      run_seconds += running.seconds();
    } else {
      instance.machine->run_until(now);
    }
    if (packets) packets->look(*instance.machine, now);
  }

  /// The last two reductions of a door: members that have the sum of one may contribute to the other.
  struct Reduction {
    u32 number = kNone;
    u32 flits = 0;
  };
  /// The one that the next contribution of a terminal is for, or the one two before it, if it is the first to come.
  [[nodiscard]] Reduction& reduction(u32 source, u32 door) { return reductions[door][contributions[door][source] % 2]; }
  /// The tag of the next contribution of a terminal, which members give to theirs in the same order.
  [[nodiscard]] u32 contribution_tag(u32 source, u32 door) const {
    return static_cast<u32>(u64{contributions[door][source]} * doors.size() + door);
  }
  /// The key of the contribution before the next one.
  [[nodiscard]] u64 last_contribution(u32 source, u32 door) const {
    return ports[door]->key_of(source, contribution_tag(source, door) - static_cast<u32>(doors.size()));
  }

  void collect() {
    delivered.clear();
    arrivals.clear();
    for (traffic::Injected* const port : ports) port->take(arrivals);
    if (ranks != nullptr) { arrivals = ranks->sum(std::move(arrivals), engine::Ranks::kJoin); }
    if (ports.size() > 1 || ranks != nullptr) std::sort(arrivals.begin(), arrivals.end());
    for (const traffic::Injected::Arrival& arrival : arrivals) {
      delivered.push_back(*pending.find(arrival.key));
      delivered.back().delivered = arrival.at;
      pending.erase(arrival.key);
    }
  }

  std::string fewer_threads;
  engine::Ranks* ranks;    ///< nullptr: this process is alone
  std::vector<u32> doors;  ///< places of the traffics that the caller feeds
  u64 seed;
  Network network;
  Instance instance;
  std::vector<traffic::Injected*> ports;             ///< [door]
  std::vector<u32> longest;                          ///< [door], flits
  std::vector<std::vector<u32>> contributions;       ///< [door][terminal], so far; of a door that does not reduce none
  std::vector<std::array<Reduction, 2>> reductions;  ///< [door]
  Random ways;
  FlatMap<Delivery> pending;  ///< [Injected::key_of]
  std::vector<traffic::Injected::Arrival> arrivals;
  std::vector<Delivery> delivered;
  Tick now = 0;
  u64 next_id = 0;
  std::optional<engine::PacketLog> packets;
  bool watched = false;
  double run_seconds = 0.0;
};

SteppedNetwork::SteppedNetwork(const Experiment& experiment, u32 threads, const engine::ProbePlan& probe,
                               engine::Ranks* ranks)
    : state_(std::make_unique<State>(experiment, threads, probe, ranks)) {
  state_->reset(0);
}
SteppedNetwork::~SteppedNetwork() = default;
SteppedNetwork::SteppedNetwork(SteppedNetwork&&) noexcept = default;
SteppedNetwork& SteppedNetwork::operator=(SteppedNetwork&&) noexcept = default;

void SteppedNetwork::reset(u32 replication) { state_->reset(replication); }

u64 SteppedNetwork::inject(u32 source, u32 destination, u32 flits, Tick at, u32 door) {
  State& state = *state_;
  const Tick birth = at == 0 ? state.now : at;
  state.check(source, destination, flits, birth, door);
  const u64 id = state.next_id++;
  core::Message message;
  message.birth = birth;
  message.destination = destination;
  message.flits = flits;
  // Ascending: of two messages of one source and cycle the earlier goes first.
  message.tag = tag_of(id);
  if (state.ports[door]->reduces()) {
    message.tag = state.contribution_tag(source, door);
    state.reduction(source, door) = {state.contributions[door][source], flits};
    ++state.contributions[door][source];
  }
  message.word = state.ways.at(id, 0)[0];
  state.pending[state.ports[door]->key_of(source, message.tag)] = {id, source, destination, flits, birth, 0};
  state.ports[door]->make_room(state.pending.size());
  state.instance.machine->post(state.doors[door], source, message);
  return id;
}

void SteppedNetwork::check(u32 source, u32 destination, u32 flits, Tick at, u32 door) const {
  state_->check(source, destination, flits, at == 0 ? state_->now : at, door);
}

void SteppedNetwork::step(Tick cycles) {
  state_->require_cycles(cycles);
  state_->now += cycles;
  state_->run();
  state_->collect();
}

bool SteppedNetwork::step_to_delivery(Tick most, Tick ahead) {
  State& state = *state_;
  const Tick end = state.now + std::min(most, kLastCycle - state.now);
  const engine::Machine& machine = *state.instance.machine;
  while (state.now < end) {
    // Nothing is due before next(): those cycles pass at once.
    const Tick due = std::max(state.now, machine.next());
    state.now = due < end ? due + 1 + std::min(ahead, end - due - 1) : end;
    state.run();
    state.collect();
    if (!state.delivered.empty()) return true;
  }
  return false;
}

std::span<const Delivery> SteppedNetwork::delivered() const noexcept { return state_->delivered; }
Tick SteppedNetwork::now() const noexcept { return state_->now; }
Tick SteppedNetwork::next() const noexcept { return state_->instance.machine->next(); }
u32 SteppedNetwork::terminals() const noexcept { return state_->network.topology->traffic_terminals(); }
std::size_t SteppedNetwork::in_flight() const noexcept { return state_->pending.size(); }

NetworkCounts SteppedNetwork::counts() const {
  const engine::Totals totals = state_->instance.machine->totals().of_load();
  return {totals.taken, totals.delivered, totals.taken_flits, totals.delivered_flits};
}

engine::ProbeReport SteppedNetwork::probed() const { return state_->instance.machine->probed(); }
u64 SteppedNetwork::hash() const { return state_->instance.machine->hash(); }
void SteppedNetwork::log(engine::PacketLog::Listener listener) {
  state_->packets.emplace(state_->network.topology->graph(), std::move(listener));
}
void SteppedNetwork::end_log() {
  if (state_->packets) state_->packets->finish(*state_->instance.machine);
  state_->packets.reset();
}
void SteppedNetwork::watch() {
  state_->watched = true;
  state_->instance.machine->watch();
}
void SteppedNetwork::add_to(Profile& profile) const {
  const engine::Machine& machine = *state_->instance.machine;
  add_run(profile, machine, state_->run_seconds);
  add_cut(profile, machine);
  profile.threads_asked = std::max(profile.threads_asked, machine.threads());
  profile.moves += machine.totals().movements;
  profile.switches = state_->network.topology->graph().switches();
}
const std::string& SteppedNetwork::fewer_threads() const noexcept { return state_->fewer_threads; }
double SteppedNetwork::helper_cpu_seconds() const noexcept { return state_->instance.machine->helper_cpu_seconds(); }
void SteppedNetwork::archive(Archive& a) {
  State& state = *state_;
  state.instance.machine->archive(a);
  a(state.pending, state.contributions, state.reductions, state.now, state.next_id);
  for (traffic::Injected* const port : state.ports) port->make_room(state.pending.size());
}
void SteppedNetwork::audit() const { state_->instance.machine->audit(); }

std::string SteppedNetwork::deadlock() const {
  const engine::Machine& machine = *state_->instance.machine;
  const engine::Totals totals = machine.totals();
  const Tick done = state_->now == 0 ? 0 : state_->now - 1;
  return totals.taken != totals.delivered && machine.asleep(done) ? machine.explain_blockage() : std::string();
}

}  // namespace banyan::api
