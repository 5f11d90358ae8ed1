// Every switch has a channel to every other one. Ports: one per other switch, in the order of their numbers, then one
// per terminal.
#include <string>

#include "banyan/core/topology.hpp"

namespace banyan::topology::complete_graph {
namespace {

class CompleteGraph final : public core::Topology {
 public:
  CompleteGraph(u32 switches, u32 terminals, core::Link link) : others_(switches - 1) {
    graph_ = core::Graph(switches * terminals);
    for (u32 s = 0; s < switches; ++s) graph_.add_switch(others_ + terminals, others_ + terminals);
    for (u32 from = 0; from < switches; ++from) {
      for (u32 to = 0; to < switches; ++to) {
        if (from == to) continue;
        graph_.add_channel(core::End::of_switch(from, port_to(from, to)), core::End::of_switch(to, port_to(to, from)),
                           link);
      }
    }
    for (u32 t = 0; t < graph_.terminals(); ++t) {
      const core::End port = core::End::of_switch(t / terminals, others_ + t % terminals);
      graph_.add_channel(core::End::of_terminal(t), port);
      graph_.add_channel(port, core::End::of_terminal(t));
    }
  }

  [[nodiscard]] std::string label(u32 s) const override { return "switch " + std::to_string(s); }
  [[nodiscard]] std::string port_label(u32 s, u32 port) const override {
    if (port >= others_) return "terminal " + std::to_string(port - others_);
    return "to " + std::to_string(port < s ? port : port + 1);
  }

 private:
  [[nodiscard]] static u32 port_to(u32 from, u32 to) { return to < from ? to : to - 1; }

  u32 others_;
};

std::unique_ptr<core::Topology> make(const config::Values& values) {
  return std::make_unique<CompleteGraph>(values.natural("switches"), values.natural("terminals"),
                                         core::Link{.latency_cycles = values.natural("latency")});
}

using config::Parameter;

}  // namespace

extern const core::TopologyRow row_complete_graph;
const core::TopologyRow row_complete_graph{
    {"complete_graph",
     "Every switch has a channel to every other one",
     "Dally and Towles, Principles and Practices of Interconnection Networks, section 3.1",
     {Parameter::integer("switches", 8).range(2, 256).doc("Number of switches"),
      Parameter::integer("terminals", 2).range(1, 64).doc("Terminals of every switch"),
      Parameter::integer("latency", 1).unit("cycles").range(1, 10000).doc("Of the channels between switches")}},
    &make};

}  // namespace banyan::topology::complete_graph
