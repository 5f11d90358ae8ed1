#include "carrier.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <map>

#include "banyan/api/stepped_network.hpp"

namespace banyan::study::silicon {
namespace {

/// Cycles that the data of a message take through the port that they come from.
double port_cycles(const Message& message, const Constants& constants) {
  const double rate = dram_controller(message.from) ? constants.dram_rate : constants.l1_rate;
  return flits_of(message.bytes) * kFlitBytes / rate;
}

/// What is on its way, by time of arrival.
class Due {
 public:
  void add(double at, u64 read, bool data) {
    const auto tick = static_cast<Tick>(std::llround(at));
    due_.emplace(tick, Arrival{read, data, tick});
  }
  void take(Tick end, std::vector<Arrival>& arrivals) {
    while (!due_.empty() && due_.begin()->first < end) {
      arrivals.push_back(due_.begin()->second);
      due_.erase(due_.begin());
    }
  }

 private:
  std::multimap<Tick, Arrival> due_;
};

class ZeroLoad final : public Carrier {
 public:
  explicit ZeroLoad(const Constants& constants) : constants_(constants) {}

  void send(const Message& message) override {
    const double flits = message.bytes == 0 ? 1.0 : port_cycles(message, constants_);
    const u32 way = way_latency(message.noc, message.from, message.to, constants_);
    due_.add(static_cast<double>(message.at + way) + flits - 1.0, message.read, message.bytes != 0);
  }
  void run_until(Tick end, std::vector<Arrival>& arrivals) override { due_.take(end, arrivals); }

 private:
  Constants constants_;
  Due due_;
};

class MaxMin final : public Carrier {
 public:
  explicit MaxMin(const Constants& constants)
      : constants_(constants), capacity_(kResources, kFlitBytes), crowd_(kResources), left_(kResources) {
    for (u32 port = 0; port < kNetworks * kNodes; ++port) {
      capacity_[kFirstSource + port] = dram_controller(port % kNodes) ? constants.dram_rate : constants.l1_rate;
    }
    std::fill(capacity_.begin() + kFirstL1, capacity_.end(), constants.l1_shared_rate);
  }

  void send(const Message& message) override {
    if (message.bytes != 0) {
      waiting_.emplace(message.at, message);
      return;
    }
    const u32 way = way_latency(message.noc, message.from, message.to, constants_);
    due_.add(static_cast<double>(message.at + way), message.read, false);
  }

  void run_until(Tick end, std::vector<Arrival>& arrivals) override {
    const auto last = static_cast<double>(end);
    while (now_ < last) {
      bool changed = false;
      while (!waiting_.empty() && static_cast<double>(waiting_.begin()->first) <= now_) {
        start(waiting_.begin()->second);
        waiting_.erase(waiting_.begin());
        changed = true;
      }
      changed = finish() || changed;
      if (changed) share();
      double next = waiting_.empty() ? last : std::min(last, static_cast<double>(waiting_.begin()->first));
      for (const Flow& flow : flows_) next = std::min(next, now_ + std::max(flow.bytes / flow.rate, kLeastStep));
      for (Flow& flow : flows_) flow.bytes -= flow.rate * (next - now_);
      now_ = next;
    }
    due_.take(end, arrivals);
  }

 private:
  // Per network: links, ports out of nodes, ports into nodes. Of both: the memories of workers.
  static constexpr u32 kLinks = 2 * kNodes;
  static constexpr u32 kFirstSource = kNetworks * kLinks;
  static constexpr u32 kFirstSink = kFirstSource + kNetworks * kNodes;
  static constexpr u32 kFirstL1 = kFirstSink + kNetworks * kNodes;
  static constexpr u32 kResources = kFirstL1 + kNodes;
  static constexpr double kLeastStep = 1e-6;  ///< cycles

  struct Flow {
    Message message;
    std::vector<u32> resources;
    double bytes = 0.0;  ///< that are still to go
    double rate = 0.0;
    bool shared = false;  ///< its rate is found
  };

  void start(const Message& message) {
    Flow flow{message, {}, static_cast<double>(flits_of(message.bytes) * kFlitBytes), 0.0, false};
    flow.resources.push_back(kFirstSource + message.noc * kNodes + message.from);
    for (const u32 link : route(message.noc, message.from, message.to)) {
      flow.resources.push_back(message.noc * kLinks + link);
    }
    flow.resources.push_back(kFirstSink + message.noc * kNodes + message.to);
    if (!dram_controller(message.from)) flow.resources.push_back(kFirstL1 + message.from);
    flows_.push_back(std::move(flow));
  }

  bool finish() {
    const auto done = [this](const Flow& flow) {
      if (flow.bytes > kLeastStep * kFlitBytes) return false;
      const Message& message = flow.message;
      due_.add(now_ + way_latency(message.noc, message.from, message.to, constants_) - 1.0, message.read, true);
      return true;
    };
    const auto end = std::remove_if(flows_.begin(), flows_.end(), done);
    const bool any = end != flows_.end();
    flows_.erase(end, flows_.end());
    return any;
  }

  /// Progressive filling (Bertsekas and Gallager, Data Networks, 1992, section 6.5.2): the resource with the least left
  /// for each of its flows fixes their rates.
  void share() {
    left_ = capacity_;
    std::fill(crowd_.begin(), crowd_.end(), 0U);
    for (Flow& flow : flows_) {
      flow.shared = false;
      for (const u32 r : flow.resources) ++crowd_[r];
    }
    for (std::size_t open = flows_.size(); open > 0;) {
      double least = std::numeric_limits<double>::infinity();
      u32 tight = 0;
      for (u32 r = 0; r < kResources; ++r) {
        if (crowd_[r] == 0 || left_[r] / crowd_[r] >= least) continue;
        least = left_[r] / crowd_[r];
        tight = r;
      }
      for (Flow& flow : flows_) {
        if (flow.shared || std::find(flow.resources.begin(), flow.resources.end(), tight) == flow.resources.end()) {
          continue;
        }
        flow.shared = true;
        flow.rate = least;
        --open;
        for (const u32 r : flow.resources) {
          left_[r] = std::max(0.0, left_[r] - least);
          --crowd_[r];
        }
      }
    }
  }

  Constants constants_;
  std::vector<double> capacity_;  ///< [resource]: bytes per cycle
  std::vector<u32> crowd_;        ///< [resource]: flows without a rate that use it
  std::vector<double> left_;      ///< [resource]: bytes per cycle for them
  std::vector<Flow> flows_;
  std::multimap<Tick, Message> waiting_;  ///< by the time when they come to their ports
  Due due_;
  double now_ = 0.0;
};

}  // namespace

/// The memory of a worker, as far as it keeps its two ports from being as fast as they could: each serves one message
/// after the other, and both together are no faster than the memory.
class SharedMemory {
 public:
  explicit SharedMemory(const Constants& constants) : constants_(&constants) {}

  void add(const Message& message) { ports_[message.noc].waiting.push_back(message); }

  /// Calls start(message, time) for every message that a port begins with before `end`. All that come to the ports
  /// before `end` are known.
  template <typename Start>
  void run_until(double end, const Start& start) {
    while (now_ < end) {
      u32 busy = 0;
      double next = end;
      for (Port& port : ports_) {
        if (port.bytes <= kNothing && !port.waiting.empty()) {
          const Message& first = port.waiting.front();
          if (static_cast<double>(first.at) <= now_) {
            start(first, now_);
            port.bytes = flits_of(first.bytes) * kFlitBytes;
            port.waiting.pop_front();
          } else {
            next = std::min(next, static_cast<double>(first.at));
          }
        }
        busy += port.bytes > kNothing ? 1 : 0;
      }
      const double rate = std::min(constants_->l1_rate, constants_->l1_shared_rate / std::max(1U, busy));
      for (const Port& port : ports_) {
        if (port.bytes > kNothing) next = std::min(next, now_ + port.bytes / rate);
      }
      for (Port& port : ports_) port.bytes = std::max(0.0, port.bytes - rate * (next - now_));
      now_ = next;
    }
  }

 private:
  static constexpr double kNothing = 1e-6;  ///< bytes

  struct Port {
    std::deque<Message> waiting;  ///< in the order in which they come
    double bytes = 0.0;           ///< still to be read of the message that is served
  };

  const Constants* constants_;
  std::array<Port, kNetworks> ports_;
  double now_ = 0.0;
};

u32 flits_of(u32 bytes) {
  const u32 packets = std::max(1U, (bytes + kLongestPacketBytes - 1) / kLongestPacketBytes);
  return packets + (bytes + kFlitBytes - 1) / kFlitBytes;
}

u32 way_latency(u32 noc, u32 from, u32 to, const Constants& constants) {
  return 2 * constants.niu_latency + static_cast<u32>(route(noc, from, to).size()) * constants.hop_latency;
}

struct Networks::State {
  explicit State(const Constants& all) : constants(all), memories(kNodes, SharedMemory(constants)) {
    for (u32 noc = 0; noc < kNetworks; ++noc) nets.emplace_back(network(noc, constants));
    sent.resize(kNetworks);
  }

  void inject(const Message& message, Tick at) {
    const bool data = message.bytes != 0;
    nets[message.noc].inject(2 * message.from + (data ? 1 : 0), 2 * message.to + (data ? 0 : 1),
                             flits_of(message.bytes), at);
    sent[message.noc].push_back({message.read, data, 0});
  }

  /// Terminals send a packet without a gap. One whose last flit leaves when a port of its rate has given it begins
  /// later by the gaps; what keeps packets apart is the admission.
  void start(const Message& message, double at) {
    inject(message, static_cast<Tick>(std::llround(at + port_cycles(message, constants) - flits_of(message.bytes))));
  }

  Constants constants;
  std::vector<api::SteppedNetwork> nets;   ///< [network]
  std::vector<std::vector<Arrival>> sent;  ///< [network][number of inject()]
  std::vector<SharedMemory> memories;      ///< [node]: of workers
};

Networks::Networks(const Constants& constants) : state_(std::make_unique<State>(constants)) {}
Networks::~Networks() = default;

void Networks::reset() {
  for (api::SteppedNetwork& net : state_->nets) net.reset();
  for (std::vector<Arrival>& sent : state_->sent) sent.clear();
  state_->memories.assign(kNodes, SharedMemory(state_->constants));
}

void Networks::send(const Message& message) {
  if (message.bytes == 0) return state_->inject(message, message.at);
  if (dram_controller(message.from)) return state_->start(message, static_cast<double>(message.at));
  state_->memories[message.from].add(message);
}

void Networks::run_until(Tick end, std::vector<Arrival>& arrivals) {
  const auto start = [this](const Message& message, double at) { state_->start(message, at); };
  for (SharedMemory& memory : state_->memories) memory.run_until(static_cast<double>(end), start);
  for (u32 noc = 0; noc < kNetworks; ++noc) {
    api::SteppedNetwork& net = state_->nets[noc];
    net.step(end - net.now());
    for (const api::Delivery& delivery : net.delivered()) {
      Arrival arrival = state_->sent[noc][delivery.id];
      arrival.at = delivery.delivered;
      arrivals.push_back(arrival);
    }
  }
}

std::unique_ptr<Carrier> zero_load(const Constants& constants) { return std::make_unique<ZeroLoad>(constants); }
std::unique_ptr<Carrier> max_min(const Constants& constants) { return std::make_unique<MaxMin>(constants); }

}  // namespace banyan::study::silicon
