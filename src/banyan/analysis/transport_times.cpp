// Delivery times of the transports of Table 1 in an empty network (Buzzard and Mudge), for first and last data.
//
// The extraction of the table turned subscripts into minus signs: "t_l - a_grm", "kt_l - cct", "kt_l - kkl" and
// "kt_l - gap" are t_l with the subscripts dgrm, cct, kkl and qap, the link-acquisition time of each system. Its packet
// row, k t_l + (L + pH) / BW, is called approximate: it leaves out that a first packet is stored and forwarded k - 1
// times, and that each of the p packets acquires its link unless that is pipelined. With S = (min(P, L) + H) / BW:
//   datagram         first = last = k (t_l + (L + H) / BW)
//   circuit          last = k t_l + (L + H) / BW; its first byte has come over after k t_l + (H + 1) / BW
//   packet           first = k (t_l + S), last = k t_l + (k - 1) S + (L + pH) / BW + (p - 1) t_l
//   virtual circuit  first = k (t_l + S), last = k t_l + (k - 1) S + (L + H) / BW
// Every transmission takes whole ticks.
#include <algorithm>

#include "banyan/core/analysis.hpp"

namespace banyan::analysis::transport_times {
namespace {

struct Times {
  u32 distance;
  u32 length;
  u32 payload;
  u32 header;
  u32 bandwidth;
  u32 acquire;
  bool pipelined;

  [[nodiscard]] double wire(u64 bytes) const {
    const u64 ticks = (bytes + bandwidth - 1) / bandwidth;
    return static_cast<double>(ticks);
  }
};

class TransportTimes final : public core::Analysis {
 public:
  explicit TransportTimes(const Times& t) : t_(t) {}

  [[nodiscard]] std::vector<core::Prediction> predict() const override {
    const double k = t_.distance;
    const double acquire = t_.acquire;
    const double whole = t_.wire(u64{t_.length} + t_.header);
    const u32 packets = (t_.length + t_.payload - 1) / t_.payload;
    const u32 rest = t_.length - (packets - 1) * t_.payload;  // data of the last packet
    const double first = k * (acquire + t_.wire(u64{std::min(t_.payload, t_.length)} + t_.header));
    double more = 0.0;  // the packets behind the first follow it at the pace of one link
    double bare = 0.0;  // the same without headers
    if (packets > 1) {
      const double full = packets - 2.0;
      more = full * t_.wire(u64{t_.payload} + t_.header) + t_.wire(u64{rest} + t_.header);
      if (!t_.pipelined) more += (packets - 1.0) * acquire;
      bare = full * t_.wire(t_.payload) + t_.wire(rest);
    }
    std::vector<core::Prediction> all;
    const auto add = [&](const char* name, double value) { all.push_back({name, value, "cycles", false}); };
    add("datagram_first", k * (acquire + whole));
    add("datagram_last", k * (acquire + whole));
    add("virtual_circuit_first", first);
    add("virtual_circuit_last", first + bare);
    add("circuit_first", k * acquire + t_.wire(u64{t_.header} + 1));
    add("circuit_last", k * acquire + whole);
    add("packet_first", first);
    add("packet_last", first + more);
    return all;
  }

 private:
  Times t_;
};

std::unique_ptr<core::Analysis> make(const config::Values& values, const core::AnalysisContext&) {
  const Times times{values.natural("distance"), values.natural("length"),    values.natural("payload"),
                    values.natural("header"),   values.natural("bandwidth"), values.natural("acquire"),
                    values.flag("pipelined")};
  return std::make_unique<TransportTimes>(times);
}

using config::Parameter;

}  // namespace

extern const core::AnalysisRow row_transport_times;
const core::AnalysisRow row_transport_times{
    {"transport_times",
     "First and last data of datagrams, virtual circuits, circuits and packets in an empty network",
     "Buzzard and Mudge, Short Latency Routing for Hypercube Multiprocessors, Table 1",
     {Parameter::integer("distance", 6).unit("links").range(1, 1024).doc("Links from source to destination, k."),
      Parameter::integer("length", 512).unit("flits").range(1, 1U << 24U).doc("Length of the message, L."),
      Parameter::integer("payload", 64).unit("flits").range(1, 1U << 24U).doc("Data in a packet, P."),
      Parameter::integer("header", 8).unit("flits").range(0, 65535).doc("Header, H."),
      Parameter::integer("bandwidth", 1).unit("flits/cycle").range(1, 4096).doc("Bandwidth of a link, BW."),
      Parameter::integer("acquire", 10)
          .unit("cycles")
          .range(0, 1'000'000)
          .doc("Time to route a packet and acquire a link, t_l."),
      Parameter::boolean("pipelined", false).doc("Whether a link is free while the next packet is routed.")}},
    &make};

}  // namespace banyan::analysis::transport_times
