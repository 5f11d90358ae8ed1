// Circuit switching on a two-dimensional torus with a hot spot, after Safaei, Khonsari, Fathy and Ould-Khaoua.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "banyan/analysis/parts/circuit_torus_model.hpp"
#include "banyan/config/resolve.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::analysis::circuit_torus {
namespace {

using core::Prediction;
using parts::CircuitTorusReading;

class CircuitTorus final : public core::Analysis {
 public:
  CircuitTorus(parts::CircuitTorusInput input, bool saturation, bool intermediates)
      : input_(input), saturation_(saturation), intermediates_(intermediates) {}

  std::vector<Prediction> predict() const override {
    const parts::CircuitTorusSolution s = parts::solve(input_);
    std::vector<Prediction> list;
    const auto add = [&](std::string metric, double value, const char* unit) {
      list.push_back({std::move(metric), value, unit, s.saturated, core::Bound::none});
    };
    add("packet_latency", s.latency, "cycles");
    if (!s.saturated) {
      // Equation 1 stretches what is spent at the source and in the network by the sharing of channels.
      add("network_latency", s.network * s.multiplexing, "cycles");
      add("source_queueing", s.waiting * s.multiplexing, "cycles");
      add("setup_latency", s.setup, "cycles");
      add("multiplexing_degree", s.multiplexing, "circuits");
    }
    if (saturation_)
      list.push_back({"saturation_load", parts::saturation_rate(input_) * input_.flits, "flits/cycle/terminal", false,
                      core::Bound::none});
    if (intermediates_ && !s.saturated) add_intermediates(s, list);
    return list;
  }

 private:
  static void add_intermediates(const parts::CircuitTorusSolution& s, std::vector<Prediction>& list) {
    const auto add = [&](std::string name, double value, const char* unit) {
      list.push_back({std::move(name), value, unit, false, core::Bound::none});
    };
    add("d", s.distance, "channels");
    add("lambda_r", s.regular_rate, "messages/cycle");
    add("C_r", s.regular_setup, "cycles");
    add("S_r", s.regular_network, "cycles");
    add("S_alpha", s.hot_network, "cycles");
    add("S", s.network, "cycles");
    add("W_s", s.waiting, "cycles");
    add("V", s.multiplexing, "circuits");
    add("iterations", s.iterations, "");
    for (u32 j = 1; j < s.rate.size(); ++j) {
      const auto at = [j](const char* name) { return fmt::format("{}_{}", name, j); };
      add(at("p_alpha"), s.probability[j], "");
      add(at("lambda_alpha"), s.hot_rate[j], "messages/cycle");
      add(at("lambda"), s.rate[j], "messages/cycle");
      add(at("C_alpha"), s.hot_setup[j], "cycles");
      add(at("S_alpha"), s.hot_latency[j], "cycles");
      add(at("S"), s.service[j], "cycles");
      add(at("P_V"), s.all_busy[j], "");
      add(at("V"), s.degree[j], "circuits");
    }
  }

  parts::CircuitTorusInput input_;
  bool saturation_;
  bool intermediates_;
};

[[noreturn]] void refuse(const config::Values& values, const std::string& cause, const std::string& remedy) {
  values.fail("name", "circuit_torus " + cause, remedy);
}

void expect_torus(const config::Values& values, const core::Topology& topology) {
  const core::Grid* grid = topology.grid();
  const bool square = grid != nullptr && grid->size.size() == 2 && grid->size[0] == grid->size[1];
  // Two switches are joined once, and no ring.
  if (square && grid->size[0] < 3) {
    refuse(values, "describes rings of three switches and more", "use topology.size = [3, 3]");
  }
  if (!square || !grid->wrap[0] || !grid->wrap[1]) {
    refuse(values, "describes a two-dimensional torus of equal sides",
           "use topology = { name = \"torus\", size = [8, 8] }");
  }
  if (grid->concentration != 1) refuse(values, "describes one terminal per switch", "use topology.concentration = 1");
  if (topology.graph().damaged()) { refuse(values, "describes a whole torus", "leave out what fails of the topology"); }
}

/// The circuits of the paper (assumptions 1 to 8): what is not asked here changes their times, and nothing in the
/// equations.
void expect_circuits(const config::Values& values, const core::AnalysisContext& context) {
  if (context.switching->component() != "circuit") {
    refuse(values, fmt::format("describes circuits, not {}", context.switching->component()),
           "use switch = \"circuit\"");
  }
  const auto rows = core::switching_rows();
  const auto row = std::ranges::find_if(rows, [](const core::SwitchRow* r) { return r->info.name == "circuit"; });
  for (const config::Parameter& p : (*row)->info.parameters) {
    const bool asked = p.name == "vcs" || p.name == "sharing";  // the second is a departure that its study measures
    if (asked || context.switching->all().find(p.name)->second == *p.fallback) continue;
    const std::string usual = config::to_text(*p.fallback);
    context.switching->fail(p.name, fmt::format("circuit_torus describes circuits with {} = {}", p.name, usual),
                            fmt::format("leave {} out, or the model (analysis = [])", p.name));
  }
  const config::Values& routing = *context.routing;
  if (routing.component() != "fully_adaptive" || routing.text("directions") != "both") {
    refuse(values, "describes headers that take any channel that leads nearer, both ways round",
           "use routing = \"fully_adaptive\"");
  }
}

void expect_arrivals(const config::Values& values, const core::AnalysisContext& context) {
  const config::Values& traffic = *context.traffics.front();
  const core::Traffic& generator = *context.generators.front();
  if (context.held_back) { refuse(values, "describes sources that nothing holds back", "use admission = \"none\""); }
  if (traffic.text("process") != "poisson" || generator.answers() || generator.finite()) {
    refuse(values, "describes messages that arrive by a Poisson process",
           "use process = \"poisson\" in the traffic, without a batch and without replies");
  }
  if (traffic.flag("include_self")) {
    refuse(values, "describes messages to other terminals", "use include_self = false in the traffic");
  }
}

std::unique_ptr<core::Analysis> make(const config::Values& values, const core::AnalysisContext& context) {
  expect_torus(values, *context.topology);
  expect_circuits(values, context);
  if (context.traffics.size() != 1) refuse(values, "describes one traffic alone", "keep one traffic");
  const config::Values& traffic = *context.traffics.front();
  const bool hot = traffic.component() == "hot_spot";
  if (!hot && traffic.component() != "uniform") {
    refuse(values, fmt::format("describes uniform traffic and one hot spot, not {}", traffic.component()),
           "use the traffic uniform or hot_spot");
  }
  if (hot && traffic.integers("targets").size() != 1) {
    refuse(values, "describes one hot spot", "give the traffic one target");
  }
  if (traffic.text("size_distribution") != "fixed" || traffic.integer("max_packet") != 0) {
    refuse(values, "describes messages of one length, in one piece",
           "use size_distribution = \"fixed\", max_packet = 0");
  }
  expect_arrivals(values, context);
  parts::CircuitTorusInput input;
  input.k = context.topology->grid()->size[0];
  input.vcs = context.vcs;
  input.flits = static_cast<double>(traffic.integer("size"));
  input.alpha = hot ? traffic.real("fraction") : 0.0;
  input.rate = traffic.real("load") / input.flits;
  const std::string& reading = values.text("reading");
  input.reading = reading == "consistent" ? CircuitTorusReading::consistent
                  : reading == "printed"  ? CircuitTorusReading::printed
                                          : CircuitTorusReading::printed_cycles;
  if (values.real("service_variance") > 0) input.service_variance = values.real("service_variance");
  return std::make_unique<CircuitTorus>(input, values.flag("saturation"), values.flag("intermediates"));
}

}  // namespace

using config::Parameter;
extern const core::AnalysisRow row_circuit_torus;
const core::AnalysisRow row_circuit_torus{
    {"circuit_torus",
     "Latency of circuit switching on a two-dimensional torus with a hot spot, and where it saturates.",
     "F. Safaei, A. Khonsari, M. Fathy, M. Ould-Khaoua, Analysis of Circuit Switching for the Torus Interconnect "
     "Networks "
     "with Hot-Spot Traffic, 2006, equations 1 to 31",
     {Parameter::choice("reading", {"consistent", "printed", "printed_cycles"}, "consistent")
          .doc("A bidirectional torus throughout; or the rates and distances that the paper prints (equation 4 in its "
               "first or its second form)."),
      Parameter::real("service_variance", 0.0)
          .unit("cycles^2")
          .range(0, 1e18)
          .doc("Variance of the service time in equation 23; 0: (S - M - 3d + 1)^2, as printed."),
      Parameter::boolean("saturation", true).doc("Report the load at which the model saturates (bisection, 0.1 s)."),
      Parameter::boolean("intermediates", false).doc("Report every quantity of the equations.")}},
    make};

}  // namespace banyan::analysis::circuit_torus
