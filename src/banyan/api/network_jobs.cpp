#include "banyan/api/network_jobs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "banyan/api/network.hpp"
#include "banyan/api/profiler.hpp"
#include "banyan/api/stepped_network.hpp"
#include "banyan/base/error.hpp"
#include "banyan/base/flat_map.hpp"
#include "banyan/core/registry.hpp"
#include "banyan/engine/run_keeper.hpp"
#include "banyan/workload/physical.hpp"
#include "banyan/workload/trace_back.hpp"

namespace banyan::api {
namespace {

using workload::Parcel;
using workload::PhysicalReplay;

constexpr u64 kNothing = ~u64{0};
constexpr Tick kStretch = 1U << 16U;      ///< cycles between two looks at the interrupt
constexpr Tick kJobPatience = 1'000'000;  ///< cycles without a flit that moves
constexpr u32 kLongestPiece = 1U << 24U;
constexpr u32 kControlDoor = 1;           ///< of the traffics "injected"
constexpr std::size_t kMostPairs = 1024;  ///< whose latency without load is measured
constexpr u32 kLeastStream = 256;         ///< flits of a message of several packets that is measured, about
constexpr u32 kMostMeasured = 1024;       ///< flits of a message whose latency is measured
constexpr std::size_t kMostLast = 16;     ///< ranks that are the last in a measured reduction
constexpr u32 kOneThread = 1;             ///< one message at a time gives two nothing to do
constexpr Tick kQuiet = 100'000;          ///< cycles in which contributions come to where they wait
constexpr Tick kPause = 32;               ///< cycles between two measurements
constexpr std::size_t kMostWatched = 64;  ///< messages of the critical paths that are followed through the network

/// Source and destination of messages: terminals.
using Pair = std::pair<u32, u32>;
/// Cycles from a message's birth to the end of the cycle in which its last flit arrives, in an idle network.
struct Latency {
  double one = 0.0;    ///< of one flit
  double whole = 0.0;  ///< of a packet, or of the longest message, or of kMostMeasured flits, whatever is the least
  double pace = 1.0;   ///< per flit, with the overhead of packets, of what is beyond
};
using Latencies = std::map<Pair, Latency>;

void stop_if(const RunOptions& options) {
  if (options.stops()) throw Interrupted("interrupted");
}

u64 flits_of(u64 bytes, u32 flit) { return bytes <= flit ? 1 : (bytes + flit - 1) / flit; }

workload::IdealWire wire_of(u32 flit) { return {0, workload::PerByte(1.0 / flit)}; }

workload::ReplayOptions replay_options(const PlacedJob& job) {
  workload::ReplayOptions options;
  options.start = job.start;
  options.repeats = job.repeats;
  options.reduces = job.reduces;
  return options;
}

/// The traffics that carry messages of jobs; those behind them are background.
std::size_t own_traffics(const Experiment& experiment) {
  const auto is_own = [](const config::Values& traffic) { return traffic.component() == "injected"; };
  return static_cast<std::size_t>(std::ranges::count_if(experiment.traffics, is_own));
}

/// How many traffics stand for jobs that reduce in the network.
std::size_t reducing_traffics(const Experiment& experiment) {
  const auto reduces = [](const config::Values& traffic) {
    return traffic.component() == "injected" && !traffic.integers("members").empty();
  };
  return static_cast<std::size_t>(std::ranges::count_if(experiment.traffics, reduces));
}

/// Where the ranks of a job are.
class PlacedCarrier : public workload::Carrier {
 public:
  explicit PlacedCarrier(const PlacedJob& job) : job_(job) {}
  [[nodiscard]] bool together(u32 a, u32 b) const override { return job_.terminals[a] == job_.terminals[b]; }

 protected:
  [[nodiscard]] const PlacedJob& job() const noexcept { return job_; }

 private:
  const PlacedJob& job_;
};

/// How messages become packets, and what was measured of them.
struct Pieces {
  Pieces(const Experiment& experiment, u32 flit_) : flit(flit_) {
    const config::Values& injected = experiment.traffics.front();
    const auto framing = switch_row(experiment).framing;
    if (injected.natural("max_packet") != 0) packet = injected.natural("max_packet");
    if (framing != nullptr) {
      const core::Framing made = framing(experiment.switching);
      packet = std::min(packet, made.longest);
      overhead = made.overhead;
    }
    const u32 longest = injected.natural("longest");
    measured = std::min({packet, longest, kMostMeasured});
    if (measured == packet && longest > packet)
      stream = std::min(longest, packet * std::max(2U, kLeastStream / packet));
  }
  /// Flits that a message of so many occupies a link for.
  [[nodiscard]] u64 on_link(u64 flits) const noexcept {
    return flits + overhead * (flits / packet + (flits % packet != 0 ? 1 : 0));
  }

  u32 flit;            ///< bytes that one carries
  u32 packet = kNone;  ///< flits of the longest
  u64 overhead = 0;    ///< flits
  u32 measured = 1;    ///< flits of Latency::whole
  u32 stream = 0;      ///< of a message of several packets, for Latency::pace; 0: there is none, or packets are long
};

/// What messages of a job take in the idle network.
class IdleNetwork {
 public:
  IdleNetwork(const Pieces& pieces, Latencies latencies)
      : pieces_(pieces), latencies_(std::move(latencies)), mean_(mean_of(latencies_)) {}
  [[nodiscard]] const Pieces& pieces() const noexcept { return pieces_; }
  /// Cycles from the birth of a message to the end of the cycle in which its last flit arrives.
  [[nodiscard]] u64 time(const Pair& pair, u64 bytes) const {
    const auto found = latencies_.find(pair);
    const Latency& alone = found == latencies_.end() ? mean_ : found->second;
    const u64 flits = flits_of(bytes, pieces_.flit);
    const u64 most = pieces_.measured;
    if (flits < most) {
      const double part = static_cast<double>(flits - 1) / static_cast<double>(most - 1);
      return static_cast<u64>(std::llround(alone.one + part * std::max(0.0, alone.whole - alone.one)));
    }
    const auto further = static_cast<double>(pieces_.on_link(flits) - pieces_.on_link(most));
    return static_cast<u64>(std::llround(alone.whole + further * alone.pace));
  }

 private:
  static Latency mean_of(const Latencies& latencies) {
    if (latencies.empty()) return {};
    Latency mean{0.0, 0.0, 0.0};
    for (const auto& entry : latencies) {
      const auto pairs = static_cast<double>(latencies.size());
      mean.one += entry.second.one / pairs;
      mean.whole += entry.second.whole / pairs;
      mean.pace += entry.second.pace / pairs;
    }
    return mean;
  }

  Pieces pieces_;
  Latencies latencies_;
  Latency mean_;  ///< for the pairs that were not measured
};

/// A network in which every message has its links for itself, but for that of its sender, over which the messages of
/// a terminal go one after the other.
class IdealCarrier final : public PlacedCarrier {
 public:
  IdealCarrier(const PlacedJob& job, u32 flit, const IdleNetwork& idle, const std::vector<u64>& sums)
      : PlacedCarrier(job),
        flit_(flit),
        idle_(idle),
        sums_(sums),
        contributions_(job.reduces ? job.terminals.size() : 0) {}
  void serve(PhysicalReplay& replay) noexcept { replay_ = &replay; }
  void carry(u32 from, u32 to, u64 bytes, u64 at, const Parcel& parcel) override {
    if (job().reduces && from == to) return contribute(from, bytes, at, parcel);
    double begin = static_cast<double>(at);
    // Questions and answers pass what waits.
    if (PhysicalReplay::is_message(parcel)) {
      double& free = free_[job().terminals[from]];
      begin = std::max(begin, free);
      free = begin + static_cast<double>(idle_.pieces().on_link(flits_of(bytes, flit_))) * job().cycles_per_flit[from];
    }
    const Pair pair{job().terminals[from], job().terminals[to]};
    replay_->deliver(parcel, static_cast<u64>(begin) + idle_.time(pair, bytes));
  }

 private:
  /// Contributions to one reduction; while some ranks wait for its sum, others have gone on to the next one.
  struct Gathering {
    u64 latest = 0;
    std::vector<Parcel> parcels;
  };
  void contribute(u32 rank, u64 bytes, u64 at, const Parcel& parcel) {
    Gathering& all = gatherings_[contributions_[rank]++ % 2];
    all.latest = std::max(all.latest, at);
    all.parcels.push_back(parcel);
    if (all.parcels.size() < contributions_.size()) return;
    for (const Parcel& each : all.parcels)
      replay_->deliver(each, all.latest + sums_[each.send.rank] + flits_of(bytes, flit_) - 1);
    all = {};
  }

  u32 flit_;
  const IdleNetwork& idle_;
  const std::vector<u64>& sums_;          ///< [rank]: from the last contribution of one flit on
  std::unordered_map<u32, double> free_;  ///< [terminal]: when its link is
  std::vector<u64> contributions_;        ///< [rank]
  std::array<Gathering, 2> gatherings_;
  PhysicalReplay* replay_ = nullptr;
};

/// All jobs on one network.
class Coupling {
 public:
  Coupling(const Experiment& experiment, u32 flit, const std::vector<PlacedJob>& jobs, const RunOptions& options,
           const engine::ProbePlan& probe = {})
      : network_(experiment, options.threads, probe, options.ranks),
        background_(experiment.traffics.size() > own_traffics(experiment)),
        control_first_(own_traffics(experiment) > 1 + reducing_traffics(experiment)),
        limit_(experiment.run.given("session_limit") ? static_cast<u64>(experiment.run.integer("session_limit"))
                                                     : kNothing),
        flit_(flit),
        wire_(wire_of(flit)),
        options_(options) {
    ends_.reserve(jobs.size());
    for (const PlacedJob& job : jobs)
      ends_.push_back(std::make_unique<End>(*this, job, static_cast<u32>(ends_.size())));
    for (const PlacedJob& job : jobs) {
      total_ += job.program->operations() * job.repeats;
      sends_left_ += job.sends * job.repeats;
      traced_ = traced_ || workload::TraceBack::traces(*job.program, job.repeats);
    }
  }

  /// `keeper`: of checkpoints; nullptr: nobody wants any.
  NetworkJobsOutcome run(const Progress& progress, engine::RunKeeper* keeper = nullptr) {
    const engine::RunKeeper::Part part(keeper, [this](Archive& a) { archive(a); });
    NetworkJobsOutcome out;
    for (u64 turn = 0;; ++turn) {
      if (keeper != nullptr && (options_.stops() || (turn % kTurnsToClock == 0 && keeper->due()))) keeper->save();
      stop_if(options_);
      if (progress && turn % kTurns == 0) progress(operations(), total_);
      End* const first = next_end();
      const u64 due = first == nullptr ? kNothing : first->replay.next();
      if (given_ != arrived_.size() && due > arrived_[given_].delivered) {
        give(arrived_[given_++]);
        continue;
      }
      if (due == kNothing && network_.in_flight() == 0) break;
      if (due <= network_.now() || (network_.in_flight() == 0 && !background_)) {
        first->replay.advance();
        continue;
      }
      if (network_.now() >= limit_) {
        out.late = true;
        break;
      }
      const Tick ahead = lookahead();
      if (step(std::min(due == kNothing ? due : due + ahead, limit_), ahead)) continue;
      out.blockage = blockage();
      if (!out.blockage.empty()) break;
    }
    if (keeper != nullptr) keeper->save();  // what comes now is short, or can be done anew
    for (const auto& end : ends_) {
      NetworkJobsOutcome::OfJob job;
      job.outcome = end->replay.finish();
      out.jobs.push_back(std::move(job));
    }
    if (out.blockage.empty()) network_.audit();
    out.hash = network_.hash();
    out.fewer_threads = network_.fewer_threads();
    out.helper_cpu_seconds = network_.helper_cpu_seconds();
    return out;
  }

  /// `file`: of the first of several ranks, nullptr for the others, who collect with it.
  void log(PacketLogFile* file) {
    network_.log([file](const engine::LoggedPacket& packet) {
      if (file == nullptr) return;
      std::string line;
      file->add_line(line, 0, packet);
      file->write(line);
    });
  }
  void end_log() { network_.end_log(); }
  void watch() { network_.watch(); }
  void add_to(Profile& profile) const { network_.add_to(profile); }
  [[nodiscard]] engine::ProbeReport probed() const { return network_.probed(); }
  [[nodiscard]] u64 flits() const { return network_.counts().flits_taken; }

  /// A piece of a message, in the order in which pieces were handed to the network.
  struct Piece {
    u32 source = 0;
    u32 tag = 0;
    u32 job = 0;
    workload::Place send;
    u32 repeat = 0;
  };
  [[nodiscard]] const std::vector<Piece>& pieces() const noexcept { return pieces_; }

  /// Pairs of terminals between which messages of a job went, ascending.
  [[nodiscard]] std::vector<Pair> pairs(std::size_t job) const {
    std::vector<u64> keys;
    ends_[job]->pairs.for_each([&](u64 key, bool) { keys.push_back(key); });
    std::sort(keys.begin(), keys.end());
    std::vector<Pair> pairs;
    for (const u64 key : keys) pairs.emplace_back(static_cast<u32>(key >> 32U), static_cast<u32>(key));
    return pairs;
  }

 private:
  static constexpr u64 kTurns = 4096;
  static constexpr u64 kTurnsToClock = 64;

  /// A job's side of the network.
  struct End final : PlacedCarrier {
    End(Coupling& coupling_, const PlacedJob& placed, u32 number_)
        : PlacedCarrier(placed),
          coupling(coupling_),
          number(number_),
          options(replay_options(placed)),
          replay(*placed.program, placed.host, coupling_.wire_, options, *this) {}
    void carry(u32 from, u32 to, u64 bytes, u64 at, const Parcel& parcel) override {
      coupling.inject(*this, {job().terminals[from], job().terminals[to]}, bytes, at, parcel);
    }
    [[nodiscard]] u64 program_hash() const { return job().program->hash(); }
    [[nodiscard]] bool reduces() const noexcept { return job().reduces; }
    [[nodiscard]] u32 door() const noexcept { return job().door; }

    Coupling& coupling;
    u32 number;
    workload::ReplayOptions options;
    PhysicalReplay replay;
    FlatMap<bool> pairs;  ///< [source and destination]
  };
  /// A message in the network; a very long one is injected in pieces.
  struct Flight {
    Parcel parcel;
    u64 first = kNothing;  ///< of several pieces: the number of the first
    u32 job = 0;
  };

  /// For so many cycles from the next event of a host, or from the next arrival, no message is injected. The last
  /// arrival, at which the network stops, is not among those cycles while a message is still to be sent.
  [[nodiscard]] Tick lookahead() const {
    if (sends_left_ == 0) return 0;
    u64 least = kStretch;
    for (const auto& end : ends_) least = std::min(least, end->replay.lookahead());
    return least;
  }

  void archive(Archive& a) {
    for (const auto& end : ends_) {
      a.same(end->program_hash());
      a(end->replay, end->pairs);
    }
    a(network_, flights_, pieces_left_, pieces_, arrived_, given_, sends_left_, quiet_since_, counts_);
  }

  [[nodiscard]] u64 operations() const {
    u64 sum = 0;
    for (const auto& end : ends_) sum += end->replay.operations();
    return sum;
  }

  /// The job whose event is the next; of equal ones the first.
  [[nodiscard]] End* next_end() const {
    End* first = nullptr;
    for (const auto& end : ends_) {
      const u64 at = end->replay.next();
      if (at != kNothing && (first == nullptr || at < first->replay.next())) first = end.get();
    }
    return first;
  }

  void inject(End& end, const Pair& pair, u64 bytes, u64 at, const Parcel& parcel) {
    const u64 birth = std::max<u64>(at, network_.now());
    Flight flight{parcel, kNothing, end.number};
    quiet_since_ = std::max(quiet_since_, birth);
    const bool is_message = PhysicalReplay::is_message(parcel);
    const bool contribution = end.reduces() && pair.first == pair.second;  // ranks have terminals of their own then
    if (!contribution) end.pairs[u64{pair.first} << 32U | pair.second] = true;
    if (control_first_ && !is_message) {
      flights_[network_.inject(pair.first, pair.second, 1, birth, kControlDoor)] = flight;
      return;
    }
    if (is_message) --sends_left_;
    if (contribution) {
      flights_[network_.inject(pair.first, pair.second, static_cast<u32>(flits_of(bytes, flit_)), birth, end.door())] =
          flight;
      return;
    }
    for (u64 left = flits_of(bytes, flit_); left > 0;) {
      const u64 now = std::min<u64>(left, kLongestPiece);
      const u64 id = network_.inject(pair.first, pair.second, static_cast<u32>(now), birth);
      if (now < left && flight.first == kNothing) flight.first = id;
      if (flight.first != kNothing) ++pieces_left_[flight.first];
      flights_[id] = flight;
      if (traced_ && is_message)
        pieces_.push_back({pair.first, SteppedNetwork::tag_of(id), end.number, parcel.send, parcel.repeat});
      left -= now;
    }
  }

  /// Tells the job whose message has arrived.
  void give(const Delivery& d) {
    const Flight flight = *flights_.find(d.id);
    flights_.erase(d.id);
    if (flight.first != kNothing) {
      if (--pieces_left_[flight.first] != 0) return;
      pieces_left_.erase(flight.first);
    }
    ends_[flight.job]->replay.deliver(flight.parcel, d.delivered + 1);
  }

  /// Simulates until something arrives or `due`; true: one of both has come.
  bool step(u64 due, Tick ahead) {
    // Until something is due in the network, time passes at once. In one that is deadlocked as a whole nothing ever is.
    const Tick next = network_.next() == kNever ? network_.now() : network_.next();
    const Tick idle = std::max(next, network_.now()) - network_.now();
    const Tick most = std::min<u64>(due - network_.now(), std::max(idle, kStretch));
    const bool arrived = network_.step_to_delivery(most, ahead);
    arrived_.assign(network_.delivered().begin(), network_.delivered().end());
    given_ = 0;
    return arrived || network_.now() >= due;
  }

  [[nodiscard]] std::string blockage() {
    if (network_.in_flight() == 0) return {};
    if (std::string text = network_.deadlock(); !text.empty()) return text;
    const NetworkCounts counts = network_.counts();
    const std::pair<u64, u64> seen{counts.flits_taken, counts.flits_delivered};
    if (seen != counts_ || quiet_since_ > network_.now()) {
      counts_ = seen;
      quiet_since_ = std::max<Tick>(quiet_since_, network_.now());
    }
    if (network_.now() < quiet_since_ + kJobPatience) return {};
    return fmt::format("{} messages are on their way, and no flit has moved for {} cycles", network_.in_flight(),
                       kJobPatience);
  }

  SteppedNetwork network_;
  bool background_;
  bool control_first_;  ///< requests and consents are a traffic of their own, more urgent than messages
  u64 limit_;           ///< cycles; kNothing: the jobs may take as long as they do
  u32 flit_;
  workload::IdealWire wire_;
  const RunOptions& options_;
  std::vector<std::unique_ptr<End>> ends_;
  FlatMap<Flight> flights_;        ///< [number of the injected message]
  FlatMap<u32> pieces_left_;       ///< [number of the first piece]
  std::vector<Piece> pieces_;      ///< only where a critical path will be told
  std::vector<Delivery> arrived_;  ///< in the last step
  std::size_t given_ = 0;          ///< how many of them the jobs have
  bool traced_ = false;
  u64 sends_left_ = 0;  ///< messages that are still to be put into the network
  u64 total_ = 0;
  Tick quiet_since_ = 0;
  std::pair<u64, u64> counts_{0, 0};
};

/// Per job the latencies of the first kMostPairs pairs that its messages went between, measured in the idle network.
std::vector<IdleNetwork> measure(const Experiment& bare, u32 flit, const Coupling& coupling, std::size_t jobs,
                                 const RunOptions& options) {
  std::vector<IdleNetwork> of_jobs;
  const Pieces pieces(bare, flit);
  Latencies known;
  SteppedNetwork network(bare, kOneThread, {}, options.ranks);
  const auto alone = [&](const Pair& pair, u32 flits) -> std::optional<double> {
    network.inject(pair.first, pair.second, flits);
    if (!network.step_to_delivery(kJobPatience)) return std::nullopt;
    const Delivery& d = network.delivered().front();
    const u64 took = d.delivered + 1 - d.injected;
    network.step(kPause);
    return static_cast<double>(took);
  };
  // Ways and phases differ from message to message: what is not clearly slower than a link takes a cycle per flit.
  const auto pace = [](double longer, u64 flits) {
    constexpr double kClearly = 1.1;
    const double per_flit = flits == 0 ? 1.0 : longer / static_cast<double>(flits);
    return per_flit > kClearly ? per_flit : 1.0;
  };
  for (std::size_t j = 0; j < jobs; ++j) {
    Latencies own;
    for (const Pair& pair : coupling.pairs(j)) {
      if (own.size() == kMostPairs) break;
      auto found = known.find(pair);
      if (found == known.end()) {
        stop_if(options);
        const auto one = alone(pair, 1);
        const auto whole = pieces.measured == 1 ? one : alone(pair, pieces.measured);
        const auto stream = pieces.stream == 0 ? whole : alone(pair, pieces.stream);
        if (!one || !whole || !stream) continue;
        const double per_flit =
            pieces.stream == 0
                ? pace(*whole - *one, pieces.measured - 1)
                : pace(*stream - *whole, pieces.on_link(pieces.stream) - pieces.on_link(pieces.measured));
        found = known.emplace(pair, Latency{*one, *whole, per_flit}).first;
      }
      own.insert(*found);
    }
    of_jobs.emplace_back(pieces, std::move(own));
  }
  return of_jobs;
}

/// What a reduction takes at each rank of a job from the last contribution on, of one flit in the idle network: the
/// least that was measured with one of the first kMostLast ranks as the last, while all others waited in the switches.
std::vector<u64> measure_sums(const Experiment& bare, const PlacedJob& job, const RunOptions& options) {
  std::vector<u64> least(job.terminals.size(), kNothing);
  SteppedNetwork network(bare, kOneThread, {}, options.ranks);
  for (std::size_t last = 0; last < std::min(kMostLast, least.size()); ++last) {
    for (const u32 t : job.terminals) {
      if (t != job.terminals[last]) network.inject(t, t, 1, 0, job.door);
    }
    static_cast<void>(network.step_to_delivery(kQuiet));
    network.inject(job.terminals[last], job.terminals[last], 1, 0, job.door);
    const u64 at = network.now();
    for (std::size_t arrived = 0; arrived < least.size();) {
      stop_if(options);
      if (!network.step_to_delivery(kJobPatience)) break;
      for (const Delivery& d : network.delivered()) {
        const auto rank = std::ranges::find(job.terminals, d.destination) - job.terminals.begin();
        u64& time = least[static_cast<std::size_t>(rank)];
        time = std::min<u64>(time, d.delivered + 1 - at);
        ++arrived;
      }
    }
    network.step(kPause);
  }
  return least;
}

u64 ideal_completion(const PlacedJob& job, u32 flit, const IdleNetwork& idle, const Experiment& bare,
                     const RunOptions& options) {
  const std::vector<u64> sums = job.reduces ? measure_sums(bare, job, options) : std::vector<u64>{};
  const workload::IdealWire wire = wire_of(flit);
  const workload::ReplayOptions replaying = replay_options(job);
  IdealCarrier carrier(job, flit, idle, sums);
  PhysicalReplay replay(*job.program, job.host, wire, replaying, carrier);
  carrier.serve(replay);
  for (u64 turn = 0; replay.next() != kNothing; ++turn) {
    if (turn % kStretch == 0) stop_if(options);
    replay.advance();
  }
  return replay.finish().completion;
}

/// What a message takes in the idle network, between interfaces that are slower than the link or not.
u64 idle_time(const PlacedJob& job, workload::Place send, u32 flit, const IdleNetwork& network) {
  const workload::Operation o = job.program->operation(send.rank, send.operation);
  const u64 idle = network.time({job.terminals[send.rank], job.terminals[o.peer]}, o.amount);
  const workload::PerByte link(1.0 / flit);
  if (!(link < job.host.gap_per_byte) || o.amount == 0) return idle;
  const u64 beyond = o.amount - 1;
  return idle + job.host.gap_per_byte.of(beyond) - link.of(beyond);
}

/// A message of a critical path that went through the network.
struct Followed {
  std::size_t job = 0;
  std::size_t place = 0;  ///< among the watched of the job
  u64 excess = 0;         ///< cycles beyond its idle time
  engine::WatchedPacket packet;
};

/// The last packets of messages, by the tags that the network gave to them.
void name_packets(std::vector<Followed>& followed, const NetworkJobsOutcome& out,
                  const std::vector<Coupling::Piece>& pieces) {
  std::map<std::array<u32, 4>, Followed*> wanted;  // by job, rank, operation and repeat
  for (Followed& f : followed) {
    const WatchedMessage& message = out.jobs[f.job].watched[f.place];
    wanted[{static_cast<u32>(f.job), message.send.rank, message.send.operation, message.repeat}] = &f;
  }
  for (const Coupling::Piece& piece : pieces) {
    const auto found = wanted.find({piece.job, piece.send.rank, piece.send.operation, piece.repeat});
    if (found != wanted.end()) found->second->packet = {.source = piece.source, .tag = piece.tag};
  }
}

/// Where the head of the last packet of the message with this tag went on, and how long it took to: at its source since
/// its birth, at a switch since it had left the place before.
using Passages = std::vector<WatchedMessage::Passage>;
Passages passages_of(const engine::ProbeReport& report, u32 source, u32 tag) {
  Passages passages;
  u64 before = kNothing;  // when it came to where it leaves next
  bool gone = false;      // its head has left the terminal
  for (const engine::Event& e : report.events) {
    if (e.traffic != 0 || e.source != source || e.message != tag) continue;
    const bool sent = e.kind == engine::EventKind::sent;
    if (e.kind == engine::EventKind::taken || (sent && e.terminal && !gone && before != kNothing)) {
      gone = sent;
      passages.assign(1, {true, e.node, 0, e.at, e.at - e.birth});
      before = e.at;
    }
    const auto left = [&](const WatchedMessage::Passage& p) {
      return p.terminal == e.terminal && p.node == e.node && p.port == e.port;
    };
    if (!sent || e.terminal || before == kNothing || std::ranges::any_of(passages, left)) continue;
    passages.push_back({false, e.node, e.port, e.at, e.at - before});
    before = e.at;
  }
  return passages;
}

/// The same of each of these messages where it is alone in the network.
std::vector<Passages> passages_alone(const Experiment& open, u32 flit, const std::vector<PlacedJob>& jobs,
                                     const RunOptions& options, const std::vector<Followed>& followed,
                                     const NetworkJobsOutcome& out) {
  engine::ProbePlan plan;
  u32 tags = 0;  // messages are numbered as they are injected
  for (const Followed& f : followed) plan.packets.push_back({.source = f.packet.source, .tag = tags++});
  SteppedNetwork network(open, kOneThread, plan, options.ranks);
  for (const Followed& f : followed) {
    stop_if(options);
    const workload::Place send = out.jobs[f.job].watched[f.place].send;
    const workload::Operation o = jobs[f.job].program->operation(send.rank, send.operation);
    network.inject(f.packet.source, jobs[f.job].terminals[o.peer],
                   static_cast<u32>(std::min<u64>(flits_of(o.amount, flit), kLongestPiece)));
    if (!network.step_to_delivery(kJobPatience)) break;
    network.step(kPause);
  }
  const engine::ProbeReport report = network.probed();
  std::vector<Passages> alone;
  for (const engine::WatchedPacket& packet : plan.packets)
    alone.push_back(passages_of(report, packet.source, packet.tag));
  return alone;
}

/// Takes away what passages take alone. Where a way was chosen that it does not take alone, the passage of the same
/// number stands for it, or the longest: what may be a wire is not told as waiting.
void take_away(Passages& passages, const Passages& alone) {
  for (std::size_t i = 0; i < passages.size(); ++i) {
    WatchedMessage::Passage& p = passages[i];
    const auto same = std::ranges::find_if(alone, [&](const WatchedMessage::Passage& a) {
      return a.terminal == p.terminal && a.node == p.node && a.port == p.port;
    });
    u64 least = p.waited;
    if (same != alone.end()) {
      least = same->waited;
    } else if (i < alone.size()) {
      least = alone[i].waited;
    } else if (alone.size() > 1) {
      least = std::ranges::max_element(alone.begin() + 1, alone.end(), {}, &WatchedMessage::Passage::waited)->waited;
    }
    p.waited -= std::min(p.waited, least);
  }
}

/// Runs the network once more, with an eye on these packets and on all channels. `open`: without background and
/// admission.
void follow(const Experiment& experiment, const Experiment& open, u32 flit, const std::vector<PlacedJob>& jobs,
            const RunOptions& options, const std::vector<Followed>& followed, NetworkJobsOutcome& out) {
  engine::ProbePlan plan;
  plan.channels = true;
  for (const Followed& f : followed) plan.packets.push_back(f.packet);
  Coupling again(experiment, flit, jobs, options, plan);
  out.helper_cpu_seconds += again.run({}).helper_cpu_seconds;
  const engine::ProbeReport report = again.probed();
  out.channel_flits = report.channel_flits;
  out.channel_overhead = report.channel_overhead;
  const std::vector<Passages> alone = passages_alone(open, flit, jobs, options, followed, out);
  for (std::size_t i = 0; i < followed.size(); ++i) {
    Passages& passages = out.jobs[followed[i].job].watched[followed[i].place].passages;
    passages = passages_of(report, followed[i].packet.source, followed[i].packet.tag);
    take_away(passages, alone[i]);
  }
}

/// Finds what the messages of critical paths would have taken alone, and where those were that were held up longest.
void explain_paths(const Experiment& experiment, const Experiment& open, u32 flit, const std::vector<PlacedJob>& jobs,
                   const RunOptions& options, const Coupling& coupling, const std::vector<IdleNetwork>& idle_networks,
                   NetworkJobsOutcome& out, bool again) {
  std::vector<Followed> followed;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    NetworkJobsOutcome::OfJob& job = out.jobs[j];
    for (const workload::CriticalStep& step : job.outcome.critical_path) {
      const workload::Operation o = jobs[j].program->operation(step.place.rank, step.place.operation);
      if (o.kind != workload::OperationKind::send || step.arrived == 0) continue;
      if (jobs[j].terminals[step.place.rank] == jobs[j].terminals[o.peer]) continue;
      const u64 idle = idle_time(jobs[j], step.place, flit, idle_networks[j]);
      const u64 took = step.arrived - step.sent;
      followed.push_back({j, job.watched.size(), took - std::min(took, idle), {}});
      job.watched.push_back({step.place, step.repeat, idle, {}});
    }
  }
  out.not_followed = !again && coupling.flits() > kMostFlitsAgain;
  if (out.not_followed) return;
  std::stable_sort(followed.begin(), followed.end(),
                   [](const Followed& a, const Followed& b) { return a.excess > b.excess; });
  if (followed.size() > kMostWatched) followed.resize(kMostWatched);
  name_packets(followed, out, coupling.pieces());
  follow(experiment, open, flit, jobs, options, followed, out);
}

/// What holds packets back belongs to what is in the way.
Experiment without_admission(Experiment experiment) {
  const auto rows = core::admission_rows();
  const auto none = std::ranges::find(rows, std::string_view("none"), [](const auto* row) { return row->info.name; });
  experiment.admission = config::Values::defaults((*none)->info);
  return experiment;
}

double ratio(const PlacedJob& job, u64 with, u64 without) {
  if (with <= job.start || without <= job.start) return 1.0;
  return static_cast<double>(with - job.start) / static_cast<double>(without - job.start);
}

}  // namespace

NetworkJobsOutcome run_on_network(const Experiment& experiment, u32 flit, const std::vector<PlacedJob>& jobs,
                                  const RunOptions& options, bool again, PacketLogFile* log, Profile* profile) {
  engine::ProbePlan probe;
  probe.every_packet = !options.packet_log.empty();
  const Stopwatch building;
  Coupling coupling(experiment, flit, jobs, options, probe);
  const double build_seconds = building.seconds();
  if (probe.every_packet) coupling.log(log);
  if (profile != nullptr) coupling.watch();
  NetworkJobsOutcome out = coupling.run(options.progress, options.keeper);
  if (probe.every_packet) coupling.end_log();
  if (log != nullptr) log->finish();
  if (profile != nullptr) {
    coupling.add_to(*profile);
    profile->build_seconds = build_seconds;
  }
  const bool stuck =
      std::any_of(out.jobs.begin(), out.jobs.end(), [](const auto& job) { return !job.outcome.explanation.empty(); });
  if (stuck || out.late || !out.blockage.empty()) return out;

  for (NetworkJobsOutcome::OfJob& job : out.jobs) job.slowdown_alone = job.slowdown_ideal = 1.0;
  Experiment bare = experiment;
  bare.traffics.resize(own_traffics(experiment));
  const Experiment open = without_admission(bare);
  const std::vector<IdleNetwork> idle = measure(open, flit, coupling, jobs.size(), options);
  explain_paths(experiment, open, flit, jobs, options, coupling, idle, out, again);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    NetworkJobsOutcome::OfJob& job = out.jobs[j];
    const u64 end = job.outcome.completion;
    // Contributions do not compete: a job of nothing else takes without contention what it takes alone.
    if (!jobs[j].only_reduces)
      job.slowdown_ideal = ratio(jobs[j], end, ideal_completion(jobs[j], flit, idle[j], open, options));
    if (jobs.size() == 1 && experiment.traffics.size() == own_traffics(experiment)) continue;
    const std::vector<PlacedJob> only{jobs[j]};
    Coupling alone(bare, flit, only, options);
    const NetworkJobsOutcome without = alone.run({});
    job.slowdown_alone = ratio(jobs[j], end, without.jobs.front().outcome.completion);
    out.helper_cpu_seconds += without.helper_cpu_seconds;
    if (jobs[j].only_reduces) job.slowdown_ideal = job.slowdown_alone;
  }
  return out;
}

}  // namespace banyan::api
