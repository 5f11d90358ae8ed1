// Incasts: many terminals send to one at the same time. One or several, at once, one after the other or at random
// times: partition and aggregate, storage reads, the fires that remedies against congestion are tried on.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "banyan/base/rng.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/traffic/parts/timed.hpp"

namespace banyan::traffic::incast {
namespace {

constexpr Stream kReceivers{"incast: receivers"};
constexpr Stream kSenders{"incast: senders"};
constexpr Stream kStarts{"incast: starts"};
constexpr Stream kWays{"incast: ways"};

/// What one sender has to send to one receiver. A sender does one after the other.
struct Job {
  Tick begin = 0;  ///< of the incast
  Tick first = 0;  ///< birth of the first message, or later where the sender is busy with the job before
  u64 before = 0;  ///< messages of the sender's jobs before this one
  u64 messages = 0;
  u64 flits = 0;
  u32 receiver = 0;
  u32 stream = 0;
};

class Incast final : public core::Traffic {
 public:
  Incast(const config::Values& values, const core::TrafficContext& context)
      : seed_(context.seed),
        index_(context.index),
        terminals_(context.terminals),
        size_(values.natural("size")),
        limit_(values.natural("limit")),
        gaps_(size_, values.real("load"), context.ticks_per_cycle),
        jobs_(terminals_) {
    const Tick cycle = context.ticks_per_cycle;
    const Tick duration = static_cast<Tick>(values.integer("duration")) * cycle;
    const u64 amount = duration != 0 ? 0 : static_cast<u64>(values.integer("amount"));
    shortest_ = amount % size_ == 0 ? size_ : static_cast<u32>(amount % size_);
    const std::vector<u32> receivers = receivers_of(values);
    const Tick start = static_cast<Tick>(values.integer("start")) * cycle;
    const Tick interval = static_cast<Tick>(values.integer("interval")) * cycle;
    const Tick spread = static_cast<Tick>(values.integer("spread")) * cycle;
    const Random starts(seed_, kStarts, index_, 0);
    for (u32 i = 0; i < receivers.size(); ++i) {
      const Words words = starts.at(i, 0);
      const Tick later = spread == 0 ? 0 : (u64{words[1]} << 32U | words[0]) % spread;
      const Tick begin = start + i * interval + later;
      disturbance_.from = std::min(disturbance_.from, begin);
      for (const u32 sender : senders_of(values, i, receivers[i])) {
        Job job;
        job.begin = begin;
        job.receiver = receivers[i];
        job.flits = amount;
        job.messages = amount == 0 ? messages_within(duration) : (amount + size_ - 1) / size_;
        job.stream = static_cast<u32>(streams_.size());
        streams_.push_back({begin, amount, receivers[i]});
        jobs_[sender].push_back(job);
      }
    }
    for (u32 sender = 0; sender < terminals_; ++sender) line_up(sender);
    if (amount == 0) set_times(duration);
  }

  void begin(u32 replication) override { random_ = Random(seed_, kWays, index_, replication); }
  [[nodiscard]] core::TrafficTraits traits() const noexcept override {
    // When and to whom is drawn once, by the seed, for all replications.
    return {.longest_message = size_,
            .shortest_message = shortest_,
            .random = false,
            .disturbance = disturbance_,
            .streams = static_cast<u32>(streams_.size())};
  }

  bool next(u32 terminal, u64 nth, Tick, core::Message& out) const noexcept override {
    const Job* const job = job_of(terminal, nth);
    if (job == nullptr) return false;
    const u64 within = nth - job->before;
    out.flits = size_;
    if (job->flits != 0) out.flits = static_cast<u32>(std::min<u64>(size_, job->flits - within * size_));
    out.flags = 0;
    out.destination = job->receiver;
    out.word = random_.at(terminal, nth)[0];
    out.birth = job->first + gaps_.at(within);
    return true;
  }

  u32 waiting_limit(u32 terminal) const noexcept override {
    return limit_ == 0 || jobs_[terminal].empty() ? kNone : limit_ * size_;
  }
  Stream stream(u32 number) const noexcept override { return streams_[number]; }
  u32 stream_of(const core::Packet& packet) const noexcept override {
    const Job* const job = job_of(packet.source, packet.message);
    return job == nullptr ? kNone : job->stream;
  }

 private:
  [[nodiscard]] u64 messages_within(Tick duration) const {
    u64 messages = 0;
    for (u64 step = u64{1} << 40U; step != 0; step /= 2) {
      if (gaps_.at(messages + step - 1) < duration) messages += step;
    }
    return messages;
  }

  [[nodiscard]] std::vector<u32> receivers_of(const config::Values& values) const {
    std::vector<u32> receivers;
    for (const i64 t : values.integers("receivers")) receivers.push_back(checked(values, "receivers", t));
    if (!receivers.empty()) return receivers;
    const auto count = static_cast<u32>(values.natural("incasts"));
    if (count > terminals_) {
      values.fail("incasts",
                  fmt::format("{} incasts have different receivers, and there are {} terminals", count, terminals_),
                  fmt::format("use {} or fewer, or name the receivers", terminals_));
    }
    receivers = shuffled(Random(seed_, kReceivers, index_, 0), 0);
    receivers.resize(count);
    return receivers;
  }

  [[nodiscard]] std::vector<u32> senders_of(const config::Values& values, u32 incast, u32 receiver) const {
    std::vector<u32> senders;
    const std::vector<i64>& range = values.integers("senders");
    if (range.size() == 2) {
      const u32 from = checked(values, "senders", range[0]);
      const u32 to = checked(values, "senders", range[1]);
      if (from > to) {
        values.fail("senders", fmt::format("the first sender, {}, comes after the last, {}", from, to),
                    fmt::format("use [{}, {}]", to, from));
      }
      for (u32 t = from; t <= to; ++t) {
        if (t != receiver) senders.push_back(t);
      }
      return senders;
    }
    if (!range.empty()) {
      values.fail("senders", fmt::format("{} numbers", range.size()),
                  "give the first and the last sender, or [] and fan_in");
    }
    const u32 count = values.natural("fan_in");
    if (count >= terminals_) {
      values.fail("fan_in", fmt::format("{} senders beside a receiver, and there are {} terminals", count, terminals_),
                  fmt::format("use {} or less", terminals_ - 1));
    }
    for (const u32 t : shuffled(Random(seed_, kSenders, index_, 0), incast)) {
      if (senders.size() == count) break;
      if (t != receiver) senders.push_back(t);
    }
    return senders;
  }

  [[nodiscard]] u32 checked(const config::Values& values, const char* name, i64 terminal) const {
    if (terminal < 0 || terminal >= i64{terminals_}) {
      values.fail(name, fmt::format("there is no terminal {}", terminal),
                  fmt::format("use terminals from 0 to {}", terminals_ - 1));
    }
    return static_cast<u32>(terminal);
  }

  [[nodiscard]] std::vector<u32> shuffled(const Random& random, u64 number) const {
    std::vector<u32> order(terminals_);
    std::iota(order.begin(), order.end(), 0U);
    for (u32 n = terminals_; n > 1; --n) std::swap(order[n - 1], order[below(random.at(n, number)[0], n)]);
    return order;
  }

  /// The jobs of a sender one behind the other. Of those that begin together the one for the next terminal comes first,
  /// so that an all-to-all goes round instead of sending all to one receiver after the other.
  void line_up(u32 sender) {
    std::vector<Job>& jobs = jobs_[sender];
    const auto distance = [&](const Job& job) { return (job.receiver + terminals_ - sender) % terminals_; };
    std::stable_sort(jobs.begin(), jobs.end(), [&](const Job& a, const Job& b) {
      return a.begin != b.begin ? a.begin < b.begin : distance(a) < distance(b);
    });
    Tick free = 0;
    u64 messages = 0;
    for (Job& job : jobs) {
      job.first = std::max(job.begin, free);
      job.before = messages;
      messages += job.messages;
      free = std::min(job.first + gaps_.at(job.messages), EvenGaps::kLatest);
    }
  }

  /// Incasts of a time: each sender has its own, which begins when it is done with the one before.
  void set_times(Tick duration) {
    disturbance_.to = disturbance_.from;
    for (const std::vector<Job>& jobs : jobs_) {
      for (const Job& job : jobs) {
        streams_[job.stream].from = job.first;
        streams_[job.stream].to = job.first + duration;
        disturbance_.to = std::max(disturbance_.to, job.first + duration);
      }
    }
  }

  /// nullptr: behind the last.
  [[nodiscard]] const Job* job_of(u32 terminal, u64 nth) const noexcept {
    const std::vector<Job>& jobs = jobs_[terminal];
    const auto after =
        std::upper_bound(jobs.begin(), jobs.end(), nth, [](u64 n, const Job& job) { return n < job.before; });
    if (after == jobs.begin()) return nullptr;
    const Job& job = *(after - 1);
    return nth - job.before < job.messages ? &job : nullptr;
  }

  u64 seed_;
  u32 index_;
  u32 terminals_;
  u32 size_;
  u32 shortest_ = 1;  ///< message: the last of a sender may be one
  u32 limit_;
  EvenGaps gaps_;
  core::Disturbance disturbance_;
  std::vector<std::vector<Job>> jobs_;  ///< [sender], in the order in which it does them
  std::vector<Stream> streams_;
  Random random_;
};

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  if (context.terminals < 2) {
    values.fail("receivers", "a network of one terminal has no other to send to", "use a larger network");
  }
  return std::make_unique<Incast>(values, context);
}

using config::Parameter;

}  // namespace

extern const core::TrafficRow row_incast;
const core::TrafficRow row_incast{
    {"incast",
     "Many terminals send to one at the same time: one incast or several, together, in turn, or at random times",
     "M. Handley et al., Re-architecting Datacenter Networks and Stacks for Low Latency and High Performance, SIGCOMM "
     "2017, section 6 (incast beside long flows); A. Phanishayee et al., Measurement and Analysis of TCP Throughput "
     "Collapse in Cluster-based Storage Systems, FAST 2008",
     {
         Parameter::integers("receivers", {0})
             .unit("terminals")
             .doc("One incast each; []: `incasts` different terminals at random"),
         Parameter::integer("incasts", 1)
             .only_with("receivers", {"[]"})
             .range(1, 1 << 20)
             .doc("Incasts, where the receivers are drawn"),
         Parameter::integers("senders", {})
             .unit("terminals")
             .doc(
                 "First and last sender of every incast, the receiver left out; []: `fan_in` terminals, drawn for each "
                 "incast"),
         Parameter::integer("fan_in", 8)
             .only_with("senders", {"[]"})
             .unit("terminals")
             .range(1, 1 << 24)
             .doc("Senders of an incast, where they are drawn"),
         Parameter::integer("amount", 4096)
             .only_with("duration", {"0"})
             .unit("flits")
             .range(1, 1e15)
             .doc("What each sender of an incast sends; the incast ends when it has arrived"),
         Parameter::integer("duration", 0)
             .unit("cycles")
             .range(0, 1e15)
             .doc("How long each sender sends instead; 0: until it has sent its amount"),
         Parameter::real("load", 1.0)
             .unit("flits/cycle")
             .above(0)
             .range(0, EvenGaps::kMostLoad)
             .doc("Rate at which a sender generates its messages"),
         Parameter::integer("start", 0).unit("cycles").range(0, 1e15).doc("When the first incast begins"),
         Parameter::integer("interval", 0)
             .unit("cycles")
             .range(0, 1e15)
             .doc("Time from one incast to the next; 0: they begin together"),
         Parameter::integer("spread", 0)
             .unit("cycles")
             .range(0, 1e15)
             .doc("Every incast begins later by a random time below this"),
         Parameter::integer("size", 64)
             .unit("flits")
             .range(1, 1 << 24)
             .doc("Length of a message; the last one of an amount may be shorter"),
         Parameter::integer("limit", 0)
             .unit("messages")
             .range(0, 1 << 20)
             .doc("Messages that may wait at a sender; more are not generated. 0: no limit"),
     }},
    &make};

}  // namespace banyan::traffic::incast
