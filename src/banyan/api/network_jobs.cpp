#include "banyan/api/network_jobs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "banyan/api/stepped_network.hpp"
#include "banyan/base/error.hpp"
#include "banyan/workload/physical.hpp"

namespace banyan::api {
namespace {

using workload::Parcel;
using workload::PhysicalReplay;

constexpr u64 kNothing = ~u64{0};
constexpr Tick kStretch = 1U << 16U;      ///< cycles between two looks at the interrupt
constexpr Tick kJobPatience = 1'000'000;  ///< cycles without a flit that moves
constexpr u32 kLongestPiece = 1U << 24U;
constexpr std::size_t kMostPairs = 1024;  ///< whose latency without load is measured
constexpr Tick kPause = 32;               ///< cycles between two measurements

/// Source and destination of messages: terminals.
using Pair = std::pair<u32, u32>;
/// Cycles from a message's birth to the end of the cycle in which its last flit arrives, of one flit in an idle
/// network.
using Latencies = std::map<Pair, u64>;

void stop_if(const RunOptions& options) {
  if (options.interrupted != nullptr && *options.interrupted) throw Interrupted("interrupted");
}

u64 flits_of(u64 bytes, u32 flit) { return bytes <= flit ? 1 : (bytes + flit - 1) / flit; }

workload::IdealWire wire_of(u32 flit) { return {0, workload::PerByte(1.0 / flit)}; }

workload::ReplayOptions replay_options(const PlacedJob& job) {
  workload::ReplayOptions options;
  options.start = job.start;
  options.repeats = job.repeats;
  return options;
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

/// A network in which every message has its links for itself.
class IdealCarrier final : public PlacedCarrier {
 public:
  IdealCarrier(const PlacedJob& job, u32 flit, const Latencies& latencies, u64 mean)
      : PlacedCarrier(job), flit_(flit), latencies_(latencies), mean_(mean) {}
  void serve(PhysicalReplay& replay) noexcept { replay_ = &replay; }
  void carry(u32 from, u32 to, u64 bytes, u64 at, const Parcel& parcel) override {
    const auto found = latencies_.find({job().terminals[from], job().terminals[to]});
    const u64 latency = found == latencies_.end() ? mean_ : found->second;
    replay_->deliver(parcel, at + latency + flits_of(bytes, flit_) - 1);
  }

 private:
  u32 flit_;
  const Latencies& latencies_;
  u64 mean_;
  PhysicalReplay* replay_ = nullptr;
};

/// All jobs on one network.
class Coupling {
 public:
  Coupling(const Experiment& experiment, u32 flit, const std::vector<PlacedJob>& jobs, const RunOptions& options)
      : network_(experiment, options.threads),
        background_(experiment.traffics.size() > 1),
        flit_(flit),
        wire_(wire_of(flit)),
        options_(options) {
    ends_.reserve(jobs.size());
    for (const PlacedJob& job : jobs) ends_.push_back(std::make_unique<End>(*this, job));
    for (const PlacedJob& job : jobs) total_ += job.program->operations() * job.repeats;
  }

  NetworkJobsOutcome run(const Progress& progress) {
    NetworkJobsOutcome out;
    for (u64 turn = 0;; ++turn) {
      if (turn % kTurns == 0) {
        stop_if(options_);
        if (progress) progress(operations(), total_);
      }
      End* const first = next_end();
      const u64 due = first == nullptr ? kNothing : first->replay.next();
      if (due == kNothing && network_.in_flight() == 0) break;
      if (due <= network_.now() || (network_.in_flight() == 0 && !background_)) {
        first->replay.advance();
        continue;
      }
      if (step(due)) continue;
      out.blockage = blockage();
      if (!out.blockage.empty()) break;
    }
    for (const auto& end : ends_) {
      NetworkJobsOutcome::OfJob job;
      job.outcome = end->replay.finish();
      out.jobs.push_back(std::move(job));
    }
    if (out.blockage.empty()) network_.audit();
    out.hash = network_.hash();
    return out;
  }

  /// Pairs of terminals between which messages went.
  [[nodiscard]] const std::map<Pair, u64>& pairs() const noexcept { return pairs_; }

 private:
  static constexpr u64 kTurns = 4096;

  /// A job's side of the network.
  struct End final : PlacedCarrier {
    End(Coupling& coupling_, const PlacedJob& placed)
        : PlacedCarrier(placed),
          coupling(coupling_),
          options(replay_options(placed)),
          replay(*placed.program, placed.host, coupling_.wire_, options, *this) {}
    void carry(u32 from, u32 to, u64 bytes, u64 at, const Parcel& parcel) override {
      coupling.inject(*this, {job().terminals[from], job().terminals[to]}, bytes, at, parcel);
    }
    Coupling& coupling;
    workload::ReplayOptions options;
    PhysicalReplay replay;
  };
  /// A message in the network; a very long one is injected in pieces.
  struct Flight {
    End* end = nullptr;
    Parcel parcel;
    u64 pieces = 0;
  };

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
    ++pairs_[pair];
    const auto flight = std::make_shared<Flight>(Flight{&end, parcel, 0});
    for (u64 left = flits_of(bytes, flit_); left > 0;) {
      const u64 now = std::min<u64>(left, kLongestPiece);
      flights_[network_.inject(pair.first, pair.second, static_cast<u32>(now), birth)] = flight;
      ++flight->pieces;
      left -= now;
    }
    quiet_since_ = std::max(quiet_since_, birth);
  }

  /// Simulates until something arrives or `due`; true: one of both has come.
  bool step(u64 due) {
    stop_if(options_);
    const Tick most = std::min<u64>(due - network_.now(), kStretch);
    const bool arrived = network_.step_to_delivery(most);
    for (const Delivery& d : network_.delivered()) {
      const auto found = flights_.find(d.id);
      Flight& flight = *found->second;
      if (--flight.pieces == 0) flight.end->replay.deliver(flight.parcel, d.delivered + 1);
      flights_.erase(found);
    }
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
  u32 flit_;
  workload::IdealWire wire_;
  const RunOptions& options_;
  std::vector<std::unique_ptr<End>> ends_;
  std::unordered_map<u64, std::shared_ptr<Flight>> flights_;  ///< [number of the injected message]
  std::map<Pair, u64> pairs_;
  u64 total_ = 0;
  Tick quiet_since_ = 0;
  std::pair<u64, u64> counts_{0, 0};
};

/// Latencies of the pairs, of the first kMostPairs of them measured in the idle network.
Latencies measure(const Experiment& bare, const std::map<Pair, u64>& pairs, const RunOptions& options) {
  Latencies latencies;
  SteppedNetwork network(bare, options.threads);
  for (const auto& entry : pairs) {
    if (latencies.size() == kMostPairs) break;
    stop_if(options);
    network.inject(entry.first.first, entry.first.second);
    if (!network.step_to_delivery(kJobPatience)) continue;
    const Delivery& d = network.delivered().front();
    latencies[entry.first] = d.delivered + 1 - d.injected;
    network.step(kPause);
  }
  return latencies;
}

u64 mean_of(const Latencies& latencies) {
  u64 sum = 0;
  for (const auto& entry : latencies) sum += entry.second;
  return latencies.empty() ? 0 : sum / latencies.size();
}

u64 ideal_completion(const PlacedJob& job, u32 flit, const Latencies& latencies, u64 mean, const RunOptions& options) {
  const workload::IdealWire wire = wire_of(flit);
  const workload::ReplayOptions replaying = replay_options(job);
  IdealCarrier carrier(job, flit, latencies, mean);
  PhysicalReplay replay(*job.program, job.host, wire, replaying, carrier);
  carrier.serve(replay);
  for (u64 turn = 0; replay.next() != kNothing; ++turn) {
    if (turn % kStretch == 0) stop_if(options);
    replay.advance();
  }
  return replay.finish().completion;
}

double ratio(const PlacedJob& job, u64 with, u64 without) {
  if (with <= job.start || without <= job.start) return 1.0;
  return static_cast<double>(with - job.start) / static_cast<double>(without - job.start);
}

}  // namespace

NetworkJobsOutcome run_on_network(const Experiment& experiment, u32 flit, const std::vector<PlacedJob>& jobs,
                                  const RunOptions& options) {
  Coupling coupling(experiment, flit, jobs, options);
  NetworkJobsOutcome out = coupling.run(options.progress);
  const bool stuck =
      std::any_of(out.jobs.begin(), out.jobs.end(), [](const auto& job) { return !job.outcome.explanation.empty(); });
  if (stuck || !out.blockage.empty()) return out;

  Experiment bare = experiment;
  bare.traffics.resize(1);
  const Latencies latencies = measure(bare, coupling.pairs(), options);
  const u64 mean = mean_of(latencies);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    NetworkJobsOutcome::OfJob& job = out.jobs[j];
    const u64 end = job.outcome.completion;
    job.slowdown_ideal = ratio(jobs[j], end, ideal_completion(jobs[j], flit, latencies, mean, options));
    if (jobs.size() == 1 && experiment.traffics.size() == 1) continue;
    const std::vector<PlacedJob> only{jobs[j]};
    Coupling alone(bare, flit, only, options);
    job.slowdown_alone = ratio(jobs[j], end, alone.run({}).jobs.front().outcome.completion);
  }
  return out;
}

}  // namespace banyan::api
