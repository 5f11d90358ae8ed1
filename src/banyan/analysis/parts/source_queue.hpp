// The queue in front of one server that serves a flit per cycle: the channel from a terminal into its switch, where
// nothing behind it is a bottleneck.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <vector>

#include "banyan/core/analysis.hpp"

namespace banyan::analysis::parts {

/// Moments of the length of packets, in flits.
struct Lengths {
  double mean = 1.0;
  double square = 1.0;  ///< mean of the square
};

/// Moments of the lengths that a traffic declares. Geometric and exponential ones are summed up by their tails: with
/// P(k) = P(length >= k), the mean is the sum of P(k), and that of the square the sum of (2 k - 1) P(k).
inline Lengths lengths_of(const config::Values& traffic) {
  const std::string& kind = traffic.text("size_distribution");
  const double size = static_cast<double>(traffic.integer("size"));
  if (kind == "fixed") return {size, size * size};
  Lengths lengths{0.0, 0.0};
  if (kind == "list") {
    const std::vector<i64>& sizes = traffic.integers("sizes");
    const std::vector<double>& weights = traffic.reals("size_weights");
    double total = 0.0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const double weight = weights[weights.size() == 1 ? 0 : i];
      const double length = static_cast<double>(sizes[i]);
      total += weight;
      lengths.mean += weight * length;
      lengths.square += weight * length * length;
    }
    return {lengths.mean / total, lengths.square / total};
  }
  const bool geometric = kind == "geometric";
  for (i64 k = 1; k <= traffic.integer("size_limit"); ++k) {
    const double at = static_cast<double>(k);
    const double tail = k == 1 ? 1.0 : geometric ? std::pow(1.0 - 1.0 / size, at - 1.0) : std::exp(-(at - 0.5) / size);
    if (tail < 1e-18) break;
    lengths.mean += tail;
    lengths.square += (2.0 * at - 1.0) * tail;
  }
  return lengths;
}

/// Mean wait of packets that arrive by a Poisson process, in cycles, in a system whose clock ticks: arrivals count from
/// their cycle, and a server takes one flit per cycle. With Y flits arriving in a cycle and a load of rho = E[Y] this
/// is E[Y (Y - 1)] / (2 (1 - rho)) + rho / 2, the second term for what came in the same cycle and is ahead. With long
/// packets it is the formula of Pollaczek and Khinchine, rho E[S^2] / (2 E[S] (1 - rho)).
inline double mean_wait(double rho, const Lengths& lengths) {
  const double factorial = rho / lengths.mean * lengths.square + rho * rho - rho;
  return factorial / (2.0 * (1.0 - rho)) + rho / 2.0;
}

/// Refuses what is no such queue, and predicts `source_queueing`.
class SourceQueue final : public core::Analysis {
 public:
  SourceQueue(const config::Values& values, const core::AnalysisContext& context) {
    const config::Values& traffic = *context.traffics.front();
    if (context.traffics.size() != 1 || !traffic.all().contains("process") ||
        !traffic.all().contains("size_distribution")) {
      values.fail("name", "the queue has one stream of arrivals, with a load and a process",
                  "use one traffic such as uniform");
    }
    if (traffic.text("process") != "poisson" || context.generators.front()->answers() ||
        context.generators.front()->finite()) {
      values.fail("name", "the M of the queue's name says that arrivals are a Poisson process",
                  "use process = \"poisson\" in the traffic, without a batch and without replies");
    }
    if (traffic.integer("max_packet") != 0) {
      values.fail("name", "the queue serves whole messages", "use max_packet = 0 in the traffic");
    }
    if (context.held_back) {
      values.fail("name", "the queue is served whenever it is not empty, and an admission holds it back",
                  "use admission = \"none\"");
    }
    if (!context.serves_sources) {
      values.fail("name",
                  fmt::format("the server is the channel of a terminal, a flit per cycle, which is none of {}",
                              context.switching->component()),
                  "use a switch such as vc_router");
    }
    const core::Graph& graph = context.topology->graph();
    for (u32 t = 0; t < graph.terminals(); ++t) {
      if (graph.channel(graph.injection(t)).link.cycles_per_flit == 1) continue;
      values.fail("name", "the server takes a flit per cycle, and a terminal's channel is slower",
                  "use channels of terminals that carry a flit per cycle");
    }
    load_ = traffic.real("load");
    lengths_ = lengths_of(traffic);
  }

  std::vector<core::Prediction> predict() const override {
    const bool saturated = load_ >= 1.0;
    return {{"source_queueing", saturated ? 0.0 : mean_wait(load_, lengths_), "cycles", saturated, core::Bound::none}};
  }

 private:
  double load_ = 0.0;
  Lengths lengths_;
};

}  // namespace banyan::analysis::parts
