// The mean latency of a packet that meets nobody, from the paths of the actual routing function and the times that the
// switch model takes.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "banyan/analysis/parts/paths.hpp"

namespace banyan::analysis::zero_load_latency {
namespace {

/// latency = fixed + per_hop x channels between switches + per_cycle x their latencies + ends x those of the terminals'
/// two channels.
struct Times {
  double fixed = 0.0;
  double per_hop = 0.0;
  double per_cycle = 0.0;
  double ends = 0.0;
  std::optional<double> home = std::nullopt;  ///< between terminals of one switch, where that is different
  bool whole = false;                         ///< what is left of the last cycle does not count
};

class ZeroLoadLatency final : public core::Analysis {
 public:
  ZeroLoadLatency(double latency, double hops, bool proven) : latency_(latency), hops_(hops), proven_(proven) {}

  std::vector<core::Prediction> predict() const override {
    return {{"packet_latency", latency_, "cycles", false, proven_ ? core::Bound::lower : core::Bound::none},
            {"hops", hops_, "switches", false, core::Bound::none}};
  }

 private:
  double latency_;
  double hops_;
  bool proven_;
};

using config::Values;

/// Parameters of the analysis, for refusals; those of the switch; flits of a message.
struct Question {
  const Values& model;
  const Values& sw;
  u32 flits;

  [[nodiscard]] double number(const char* parameter) const { return static_cast<double>(sw.integer(parameter)); }
};

Times circuit(const Question& q) {
  const double hop = q.number("acquire") + q.number("acknowledge");
  const double home = q.flits - 1.0;
  if (!q.sw.flag("pipeline")) return {q.flits + q.number("header"), hop, 0, 0, home};
  const double lanes = (q.number("injection_flits") != 0 ? 1.0 : 0.0) + (q.number("ejection_flits") != 0 ? 1.0 : 0.0);
  return {home + lanes, hop + 1, 0, 0, home};
}

/// One cycle per switch.
Times output_queued(const Question&) { return {1, 1}; }

Times vc_router(const Question& q) {
  if (q.sw.real("internal_speedup") != 1.0) {
    q.model.fail("name", "zero_load_latency does not know what an internal speedup puts into one cycle",
                 "use internal_speedup = 1");
  }
  if (q.flits > 1 && !q.sw.flag("overlapping_stages")) {
    q.model.fail("name", "zero_load_latency does not know how flits wait for stages that do not overlap",
                 "use overlapping_stages = true, or packets of one flit");
  }
  const double vc = q.number("vc_alloc_delay");
  const double allocation = q.number("sw_alloc_delay");
  const double both = q.sw.flag("speculative") ? std::max(vc, allocation) : vc + allocation;
  const double router = q.number("routing_delay") + q.number("traversal_delay") + both;
  const double rest = q.flits - 1.0;
  // Stored and forwarded: the rest of the packet comes in from the terminal, and leaves every switch.
  if (q.sw.text("flow") == "store_and_forward") {
    return {router + rest * (1 + allocation), router + rest * allocation, 1, 1};
  }
  return {router + rest * allocation, router, 1, 1};
}

/// The first packet goes from node to node; the others follow at the pace of one link.
Times packet_node(const Question& q) {
  const auto wire = [&](u64 bytes) {
    const u64 bandwidth = q.sw.natural("bandwidth");
    const u64 ticks = (bytes + bandwidth - 1) / bandwidth;  // whole ones
    return static_cast<double>(ticks);
  };
  const std::string& transport = q.sw.text("transport");
  const u64 payload = transport == "datagram" ? q.flits : std::min(q.sw.natural("payload"), q.flits);
  const u64 header = q.sw.natural("header");
  const u64 packets = (q.flits + payload - 1) / payload;
  const u64 last = q.flits - (packets - 1) * payload;
  const bool headed = transport != "virtual_circuit";  // the later packets are
  const u64 front = headed ? header : 0;
  const double acquire = q.number("acquire");
  const double busy = headed && !q.sw.flag("pipelined") ? acquire : 0.0;  // the link, beside the transmission
  const double first = wire(payload + header);
  double more = 0.0;
  if (packets > 1) {
    more = static_cast<double>(packets - 2) * (busy + wire(payload + front)) + busy + wire(last + front);
  }
  if (q.sw.text("switching") == "cut_through") {
    if (packets > 1) more = static_cast<double>(packets - 1) * (busy + first) + wire(last + header) - first;
    return {first - wire(header) + more, acquire + wire(header) - 1, 1, 0, 0};
  }
  return {more, acquire + first - 1, 1, 0, 0};
}

/// Stored and forwarded over links and crossbars.
Times cioq(const Question& q) {
  if (q.flits > q.sw.natural("packet")) {
    q.model.fail(
        "name", fmt::format("zero_load_latency describes messages of one packet, and cioq cuts those of {} B", q.flits),
        "use messages not longer than packet");
  }
  const double link = q.flits + q.number("overhead");
  const double crossbar = link / q.sw.real("speedup");
  return {2 * link + crossbar, link + crossbar, 1, 1, std::nullopt, true};
}

/// Six cycles per switch, its outgoing link included; a flit per cycle behind the first.
Times buffered_wormhole(const Question& q) {
  if (q.sw.component() == "central_buffer" && q.sw.text("bypass") == "never") {
    q.model.fail("name", "zero_load_latency describes packets that pass an idle switch by its crossbar",
                 "use bypass = \"single_output\" or \"unicast\"");
  }
  return {q.flits + 4.0, 5, 1, 1};
}

struct Row {
  const char* name;
  Times (*times)(const Question&);
};
constexpr std::array<Row, 7> kRows{{{"central_buffer", buffered_wormhole},
                                    {"cioq", cioq},
                                    {"circuit", circuit},
                                    {"input_buffer", buffered_wormhole},
                                    {"output_queued", output_queued},
                                    {"packet_node", packet_node},
                                    {"vc_router", vc_router}}};

Times times_of(const Question& question) {
  const std::string& name = question.sw.component();
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.name == name; });
  if (row != kRows.end()) return row->times(question);
  question.model.fail("name", fmt::format("zero_load_latency does not know the times of {}", name),
                      "use one of the other switch models");
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
  for (const core::Channel& c : graph.channels()) {
    if (c.link.cycles_per_flit == 1) continue;
    values.fail("name", "zero_load_latency describes channels that carry a flit per cycle", "use bandwidth = 1");
  }
  const parts::TrafficMatrix traffic(values, context);
  parts::Paths paths(values, context);
  const Times t = times_of({values, *context.switching, static_cast<u32>(context.traffics.front()->integer("size"))});
  double latency = 0.0;
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
      latency += rate * (t.whole ? std::floor(own + 1e-9) : own);
      hops += rate * (1.0 + channels);
    }
  }
  if (weight <= 0) values.fail("name", "nobody sends anything", "give the traffic a load above 0");
  // Where switches choose between ways of different lengths, they may take the shorter one more often than assumed.
  return std::make_unique<ZeroLoadLatency>(latency / weight, hops / weight, traffic.exact() && !paths.chose());
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
