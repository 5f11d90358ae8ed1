#include "banyan/api/measure/channel_alone.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "banyan/api/experiment.hpp"
#include "banyan/api/network.hpp"
#include "banyan/api/stepped_network.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/config/resolve.hpp"

namespace banyan::api {
namespace {

constexpr Stream kArrivalsAlone{"channel_alone: arrivals"};
/// Cycles before those that count: virtual channels fall into step with each other in some hundreds.
Tick fill(const ChannelLoad& of) { return 1500 + 2 * Tick{of.latency}; }
constexpr Tick kAloneCycles = 6000;

/// A channel that carries so many flits per cycle whenever one waits.
class Reference {
 public:
  Reference(double rate, Tick from)
      : rate_(rate), from_(static_cast<double>(from)), to_(static_cast<double>(from + kAloneCycles)) {}
  /// Packets must come in the order of time.
  void arrive(Tick at, u32 flits) {
    const double begin = std::max(free_, static_cast<double>(at));
    free_ = begin + flits / rate_;
    carried_ += (std::clamp(free_, from_, to_) - std::clamp(begin, from_, to_)) * rate_;
  }
  /// Flits, in the cycles that count.
  [[nodiscard]] double carried() const { return carried_; }

 private:
  double rate_;
  double from_;
  double to_;
  double free_ = 0.0;
  double carried_ = 0.0;
};

Experiment two_switches(const config::Values& switching, u32 vcs, const ChannelLoad& of) {
  Experiment two =
      read_experiments_text(
          fmt::format("topology = {{ name = 'mesh', size = [2], latency = {} }}\nrouting = 'dimension_order'\n"
                      "switch = '{}'\ntraffic = {{ name = 'injected', longest = {} }}\n",
                      of.latency, switching.component(), *std::max_element(of.packets.begin(), of.packets.end())),
          "two switches", {})
          .points.front();
  two.switching = switching;
  config::change(two.switching, switch_row(two).info, "vcs", i64{vcs});
  // So many that credits never run out.
  constexpr i64 kMostBuffer = 65535;
  const i64 buffer = std::max<i64>(switching.integer("buffer"), 256 + 4 * i64{of.latency});
  two.switching.set("buffer", std::min(buffer, kMostBuffer));
  return two;
}

}  // namespace

double share_carried_alone(const config::Values& switching, u32 vcs, const ChannelLoad& of) {
  SteppedNetwork network(two_switches(switching, vcs, of));
  network.reset();
  const double mean_packet = static_cast<double>(std::accumulate(of.packets.begin(), of.packets.end(), u64{0})) /
                             static_cast<double>(of.packets.size());
  const Random random(1, kArrivalsAlone, 0, 0);
  const Tick first = fill(of);
  double reference = 0.0;
  for (u32 t = 0; t < 2; ++t) {
    Reference channel(of.most, first);
    for (Tick at = 1; at < first + kAloneCycles; ++at) {
      const Words words = random.at(t, at);
      if (unit_real(words[0], words[1]) >= of.load / mean_packet) continue;
      const u32 flits = of.packets[below(words[2], static_cast<u32>(of.packets.size()))];
      static_cast<void>(network.inject(t, 1 - t, flits, at));
      channel.arrive(at, flits);
    }
    reference += channel.carried();
  }
  network.step(first);
  const u64 before = network.counts().flits_delivered;
  network.step(kAloneCycles);
  const u64 carried = network.counts().flits_delivered - before;
  return reference == 0.0 ? 1.0 : static_cast<double>(carried) / reference;
}

}  // namespace banyan::api
