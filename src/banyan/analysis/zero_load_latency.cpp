// The mean latency of a packet that meets nobody, from the paths of the actual routing function and the times that the
// switch model takes.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "banyan/analysis/parts/paths.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::analysis::zero_load_latency {
namespace {

class ZeroLoadLatency final : public core::Analysis {
 public:
  ZeroLoadLatency(double latency, double spread, std::optional<double> hops, bool proven)
      : latency_(latency), spread_(spread), hops_(hops), proven_(proven) {}

  std::vector<core::Prediction> predict() const override {
    std::vector<core::Prediction> all{
        {"packet_latency", latency_, "cycles", false, proven_ ? core::Bound::lower : core::Bound::none, spread_}};
    if (hops_) all.push_back({"hops", *hops_, "switches", false, core::Bound::none, 0.0});
    return all;
  }

 private:
  double latency_;
  double spread_;  ///< standard deviation from pair to pair
  std::optional<double> hops_;
  bool proven_;
};

/// The times of the switch model; fails where it knows none for these parameters.
core::ZeroLoad times_of(const config::Values& analysis, const config::Values& switching, u32 flits) {
  const auto rows = core::switching_rows();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const core::SwitchRow* r) { return r->info.name == switching.component(); });
  if (row == rows.end() || (*row)->zero_load == nullptr) {
    analysis.fail("name", fmt::format("zero_load_latency does not know the times of {}", switching.component()),
                  "use a switch model that tells them");
  }
  core::ZeroLoad times = (*row)->zero_load(switching, flits);
  if (!times.unknown.empty()) analysis.fail("name", "zero_load_latency " + times.unknown, times.remedy);
  return times;
}

std::unique_ptr<core::Analysis> make(const config::Values& values, const core::AnalysisContext& context) {
  const core::Graph& graph = context.topology->graph();
  const parts::TrafficMatrix traffic(values,
                                     context);  // refuses what has no way of its own from one terminal to another
  for (const config::Values* values_of : context.traffics) {
    if (!values_of->all().contains("size_distribution")) {
      values.fail(
          "name",
          fmt::format("zero_load_latency does not know the lengths of the packets of {}", values_of->component()),
          "use a traffic with size_distribution, such as uniform");
    }
    if (values_of->text("size_distribution") != "fixed" || values_of->integer("max_packet") != 0) {
      values.fail("name", "zero_load_latency describes packets of one length",
                  "use size_distribution = \"fixed\" and max_packet = 0");
    }
    if (values_of->integer("size") != context.traffics.front()->integer("size")) {
      values.fail("name", "zero_load_latency describes packets of one length, the same for all traffics",
                  "give all traffics the same size");
    }
  }
  for (const core::Channel& c : graph.channels()) {
    if (c.link.cycles_per_flit == 1) continue;
    values.fail("name", "zero_load_latency describes channels that carry a flit per cycle",
                "use cycles_per_flit = 1 (of a dragonfly, global_cycles_per_flit = 1)");
  }
  parts::Paths paths(values, context);
  const core::ZeroLoad t =
      times_of(values, *context.switching, static_cast<u32>(context.traffics.front()->integer("size")));
  double latency = 0.0;
  double squares = 0.0;
  double hops = 0.0;
  double weight = 0.0;
  for (u32 s = 0; s < traffic.terminals(); ++s) {
    for (u32 d = 0; d < traffic.terminals(); ++d) {
      const double rate = traffic(s, d);
      if (rate <= 0) continue;
      weight += rate;
      double channels = 0.0;
      double own = t.fixed;
      paths.follow(s, d, [&](u32 c, double share) {
        const core::Channel& channel = graph.channel(c);
        const double cycles = channel.link.latency_cycles;
        const bool end = channel.from.terminal || channel.to.terminal;
        own += share * (end ? t.ends * cycles : t.per_hop + t.per_cycle * cycles);
        channels += end ? 0.0 : share;
      });
      if (channels == 0.0) own = t.home.value_or(own);
      if (t.whole) own = std::floor(own + 1e-9);
      latency += rate * own;
      squares += rate * own * own;
      hops += rate * (1.0 + channels);
    }
  }
  if (weight <= 0) values.fail("name", "nobody sends anything", "give the traffic a load above 0");
  // Where switches choose between ways of different lengths, they may take the shorter one more often than assumed.
  const double mean = latency / weight;
  const double spread = std::sqrt(std::max(0.0, squares / weight - mean * mean));
  // A model whose times do not depend on the way has no switches.
  const bool passes = t.per_hop != 0.0 || t.per_cycle != 0.0;
  return std::make_unique<ZeroLoadLatency>(mean, spread, passes ? std::optional(hops / weight) : std::nullopt,
                                           traffic.exact() && !paths.chose());
}

}  // namespace

extern const core::AnalysisRow row_zero_load_latency;
const core::AnalysisRow row_zero_load_latency{
    {"zero_load_latency",
     "Mean latency in an empty network, by the paths of the actual routing function and the times of the switch model.",
     "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, section 3.3",
     {}},
    make};

}  // namespace banyan::analysis::zero_load_latency
