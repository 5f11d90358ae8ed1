// The mean latency of a packet that meets nobody, from the paths of the actual routing function and the times that the
// switch model takes.
#include <cmath>
#include <memory>

#include "banyan/analysis/parts/paths.hpp"

namespace banyan::analysis {
namespace {

/// latency = fixed + per_hop x channels between switches + per_cycle x their latencies + ends x those of the terminals'
/// two channels.
struct Times {
  double fixed = 0.0;
  double per_hop = 0.0;
  double per_cycle = 0.0;
  double ends = 0.0;
};

class ZeroLoadLatency final : public core::Analysis {
 public:
  ZeroLoadLatency(double latency, double hops) : latency_(latency), hops_(hops) {}

  std::vector<core::Prediction> predict() const override {
    return {{"packet_latency", latency_, "cycles", false, core::Bound::lower},
            {"hops", hops_, "switches", false, core::Bound::none}};
  }

 private:
  double latency_;
  double hops_;
};

Times times_of(const config::Values& values, const config::Values& sw, double flits) {
  const std::string& name = sw.component();
  if (name == "circuit") {
    const double hop = static_cast<double>(sw.integer("acquire") + sw.integer("acknowledge"));
    if (!sw.flag("pipeline")) return {flits + static_cast<double>(sw.integer("header")), hop, 0, 0};
    const i64 lanes = (sw.integer("injection_flits") != 0 ? 1 : 0) + (sw.integer("ejection_flits") != 0 ? 1 : 0);
    return {flits - 1 + static_cast<double>(lanes), hop + 1, 0, 0};
  }
  if (name == "output_queued") return {1, 1, 0, 0};  // one cycle per switch
  if (name == "vc_router" && sw.text("flow") != "store_and_forward" && sw.real("internal_speedup") == 1.0) {
    const double vc_and_switch =
        sw.flag("speculative")
            ? static_cast<double>(std::max(sw.integer("vc_alloc_delay"), sw.integer("sw_alloc_delay")))
            : static_cast<double>(sw.integer("vc_alloc_delay") + sw.integer("sw_alloc_delay"));
    const double router =
        static_cast<double>(sw.integer("routing_delay") + sw.integer("traversal_delay")) + vc_and_switch;
    return {router + (flits - 1) * static_cast<double>(sw.integer("sw_alloc_delay")), router, 1, 1};
  }
  values.fail("name", fmt::format("zero_load_latency does not know the times of {}", name),
              "use the switch circuit, output_queued, or vc_router without store-and-forward and internal speedup");
}

std::unique_ptr<core::Analysis> make(const config::Values& values, const core::AnalysisContext& context) {
  const core::Graph& graph = context.topology->graph();
  for (const config::Values* traffic : context.traffics) {
    const auto size = traffic->all().find("size_distribution");
    if (size == traffic->all().end() || traffic->text("size_distribution") != "fixed" ||
        traffic->integer("max_packet") != 0 || traffic->integer("size") != context.traffics.front()->integer("size")) {
      values.fail("name", "zero_load_latency describes packets of one length", "use size_distribution = \"fixed\"");
    }
  }
  const parts::TrafficMatrix traffic(values, context);
  parts::Paths paths(values, context);
  const Times t = times_of(values, *context.switching, static_cast<double>(context.traffics.front()->integer("size")));
  double latency = 0.0;
  double hops = 0.0;
  double weight = 0.0;
  for (u32 s = 0; s < traffic.terminals(); ++s) {
    for (u32 d = 0; d < traffic.terminals(); ++d) {
      const double rate = traffic(s, d);
      if (rate <= 0) continue;
      weight += rate;
      latency += rate * t.fixed;
      hops += rate;
      paths.follow(s, d, [&](u32 c, double share) {
        const core::Channel& channel = graph.channel(c);
        const double cycles = channel.link.latency_cycles;
        if (channel.from.terminal || channel.to.terminal) {
          latency += rate * share * t.ends * cycles;
        } else {
          latency += rate * share * (t.per_hop + t.per_cycle * cycles);
          hops += rate * share;
        }
      });
    }
  }
  if (weight <= 0) values.fail("name", "nobody sends anything", "give the traffic a load above 0");
  return std::make_unique<ZeroLoadLatency>(latency / weight, hops / weight);
}

}  // namespace

extern const core::AnalysisRow row_zero_load_latency;
const core::AnalysisRow row_zero_load_latency{
    {"zero_load_latency",
     "Mean latency in an empty network, by the paths of the actual routing function and the times of the switch model.",
     "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, section 3.3",
     {}},
    make};

}  // namespace banyan::analysis
