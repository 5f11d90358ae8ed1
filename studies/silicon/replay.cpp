#include "replay.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "banyan/base/error.hpp"

namespace banyan::study::silicon {
namespace {

constexpr Tick kPatience = 10'000'000;  ///< cycles without an arrival until a read counts as lost

double latency_of(u32 node, const Constants& constants) {
  return dram_controller(node) ? constants.dram_latency : constants.l1_latency;
}

Tick to_tick(double time) { return static_cast<Tick>(std::llround(time)); }

class Driver {
 public:
  Driver(const Trace& trace, const Constants& constants, Carrier& carrier)
      : trace_(trace), constants_(constants), carrier_(carrier), states_(trace.processors.size()) {}

  Replay run() {
    for (u32 p = 0; p < states_.size(); ++p) {
      states_[p].time = static_cast<double>(trace_.processors[p].begin);
      go_on(p);
    }
    // What answers an arrival lies at least so far behind it.
    const double reaction =
        std::min({constants_.l1_latency, constants_.dram_latency, std::max(1.0, constants_.barrier_overhead)});
    const auto stride = static_cast<Tick>(std::max(1.0, std::floor(reaction)));
    std::vector<Arrival> arrivals;
    for (Tick last = 0; open_ > 0;) {
      now_ += stride;
      arrivals.clear();
      carrier_.run_until(now_, arrivals);
      std::stable_sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) {
        return std::tie(a.at, a.read) < std::tie(b.at, b.read);
      });
      for (const Arrival& arrival : arrivals) arrival.data ? take(arrival) : answer(arrival);
      if (!arrivals.empty()) last = now_;
      if (now_ - last > kPatience) {
        throw InvariantError(fmt::format("{}: {} processors wait for reads that do not come back", trace_.name, open_));
      }
    }
    return std::move(result_);
  }

 private:
  struct State {
    std::size_t next = 0;     ///< event
    double time = 0.0;        ///< of the last event, in the model
    Tick measured = 0;        ///< the same in the trace
    double last_issue = 0.0;  ///< in the model
    double last_data = 0.0;
    u32 reads = 0;        ///< since the last barrier
    u32 outstanding = 0;  ///< of them without data
    u32 phase = 0;
    bool waits = false;  ///< at a barrier
  };
  struct Read {
    u32 processor;
    u32 noc;
    u32 target;
    u32 bytes;
  };

  /// Replays events up to a barrier that has to wait.
  void go_on(u32 p) {
    const Processor& processor = trace_.processors[p];
    State& state = states_[p];
    if (state.next == 0) state.measured = processor.begin;
    while (state.next < processor.events.size()) {
      const Event& event = processor.events[state.next];
      if (event.kind == EventKind::barrier_end) {
        if (state.outstanding > 0) {
          state.waits = true;
          ++open_;
          return;
        }
        end_barrier(p, event);
      } else {
        state.time += static_cast<double>(event.at - state.measured);
        if (event.kind == EventKind::read) issue(p, event);
      }
      state.measured = event.at;
      ++state.next;
    }
  }

  void issue(u32 p, const Event& event) {
    State& state = states_[p];
    state.last_issue = state.time;
    ++state.reads;
    ++state.outstanding;
    const u64 number = reads_.size();
    reads_.push_back({p, event.noc, event.target, event.bytes});
    carrier_.send({number, event.noc, trace_.processors[p].node, event.target, 0, std::max(now_, to_tick(state.time))});
  }

  void answer(const Arrival& arrival) {
    const Read& read = reads_[arrival.read];
    const double ready = static_cast<double>(arrival.at) + latency_of(read.target, constants_);
    const u32 to = trace_.processors[read.processor].node;
    carrier_.send({arrival.read, read.noc, read.target, to, read.bytes, std::max(now_, to_tick(ready))});
  }

  void take(const Arrival& arrival) {
    State& state = states_[reads_[arrival.read].processor];
    state.last_data = std::max(state.last_data, static_cast<double>(arrival.at));
    if (--state.outstanding > 0 || !state.waits) return;
    state.waits = false;
    --open_;
    go_on(reads_[arrival.read].processor);
  }

  /// state.time is the begin of the wait.
  void end_barrier(u32 p, const Event& event) {
    State& state = states_[p];
    const Processor& processor = trace_.processors[p];
    if (state.reads == 0) ++result_.empty;
    state.time = std::max(state.time, state.reads == 0 ? 0.0 : state.last_data) + constants_.barrier_overhead;
    if (state.reads > 0) {
      Barrier barrier;
      barrier.processor = p;
      barrier.phase = state.phase;
      barrier.last_issue = last_issue_before(processor, state.next);
      barrier.end = event.at;
      barrier.model_end = state.time;
      barrier.model_wait = state.time - state.last_issue;
      const Tick begin = begin_of_phase(processor, state.next);
      barrier.overlaps_profiler = std::any_of(processor.sends.begin(), processor.sends.end(),
                                              [&](Tick at) { return begin <= at && at <= event.at; });
      result_.barriers.push_back(barrier);
    }
    state.reads = 0;
    ++state.phase;
  }

  static Tick last_issue_before(const Processor& processor, std::size_t event) {
    while (processor.events[event].kind != EventKind::read) --event;
    return processor.events[event].at;
  }
  static Tick begin_of_phase(const Processor& processor, std::size_t event) {
    while (event > 0 && processor.events[event - 1].kind != EventKind::barrier_end) --event;
    return event == 0 ? processor.begin : processor.events[event - 1].at;
  }

  const Trace& trace_;
  const Constants& constants_;
  Carrier& carrier_;
  std::vector<State> states_;
  std::vector<Read> reads_;
  Replay result_;
  Tick now_ = 0;
  std::size_t open_ = 0;  ///< processors that wait
};

}  // namespace

Replay replay(const Trace& trace, const Constants& constants, Carrier& carrier) {
  return Driver(trace, constants, carrier).run();
}

Replay bottleneck(const Trace& trace, const Constants& constants) {
  // A resource of a phase: {phase, kind and network, number}.
  enum Kind : u32 { kLink = 0, kSource = 2, kSink = 4, kL1 = 6 };
  using Resource = std::tuple<u32, u32, u32>;
  struct Load {
    double bytes = 0.0;
    double begin = 1e300;  ///< the first data for it
  };
  std::map<Resource, Load> loads;
  const auto resources_of = [](u32 phase, u32 node, const Event& read) {
    std::vector<Resource> all{{phase, kSource + read.noc, read.target}, {phase, kSink + read.noc, node}};
    for (const u32 link : route(read.noc, read.target, node)) all.emplace_back(phase, kLink + read.noc, link);
    if (!dram_controller(read.target)) all.emplace_back(phase, kL1, read.target);
    return all;
  };
  const auto capacity = [&](const Resource& resource) {
    const u32 kind = std::get<1>(resource);
    if (kind == kL1) return constants.l1_shared_rate;
    if (kind / 2 != kSource / 2) return static_cast<double>(kFlitBytes);
    return dram_controller(std::get<2>(resource)) ? constants.dram_rate : constants.l1_rate;
  };
  const auto data_begin = [&](u32 node, const Event& read) {
    return static_cast<double>(read.at + way_latency(read.noc, node, read.target, constants)) +
           latency_of(read.target, constants);
  };
  const auto each_read = [](const Processor& processor, const auto& use) {
    u32 phase = 0;
    for (const Event& event : processor.events) {
      if (event.kind == EventKind::read) use(phase, event);
      if (event.kind == EventKind::barrier_end) ++phase;
    }
  };
  for (const Processor& processor : trace.processors) {
    each_read(processor, [&](u32 phase, const Event& read) {
      for (const Resource& resource : resources_of(phase, processor.node, read)) {
        Load& load = loads[resource];
        load.bytes += flits_of(read.bytes) * kFlitBytes;
        load.begin = std::min(load.begin, data_begin(processor.node, read));
      }
    });
  }
  const std::unique_ptr<Carrier> alone = zero_load(constants);
  Replay result = replay(trace, constants, *alone);
  for (Barrier& barrier : result.barriers) {
    const Processor& processor = trace.processors[barrier.processor];
    double last = 0.0;
    each_read(processor, [&](u32 phase, const Event& read) {
      if (phase != barrier.phase) return;
      const u32 way = way_latency(read.noc, read.target, processor.node, constants);
      for (const Resource& resource : resources_of(phase, processor.node, read)) {
        const Load& load = loads.at(resource);
        last = std::max(last, load.begin + load.bytes / capacity(resource) + way);
      }
    });
    const double wait = last + constants.barrier_overhead - static_cast<double>(barrier.last_issue);
    barrier.model_wait = std::max(barrier.model_wait, wait);
    barrier.model_end = static_cast<double>(barrier.last_issue) + barrier.model_wait;
  }
  return result;
}

}  // namespace banyan::study::silicon
