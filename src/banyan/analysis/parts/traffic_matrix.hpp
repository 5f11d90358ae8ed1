// Who sends how much to whom, from the traffics of an experiment.
#pragma once

#include <fmt/core.h>

#include <vector>

#include "banyan/core/analysis.hpp"

namespace banyan::analysis::parts {

/// Flits per cycle of every pair of terminals. Exact for the traffics uniform and hot_spot, whose parameters say it; of
/// others the destinations of the first messages are counted, which is exact where a terminal has one destination.
class TrafficMatrix {
 public:
  static constexpr u32 kMostTerminals = 1024;
  static constexpr u64 kSample = 256;  ///< messages per terminal

  TrafficMatrix(const config::Values& values, const core::AnalysisContext& context)
      : terminals_(context.topology->graph().terminals()), rate_(static_cast<std::size_t>(terminals_) * terminals_) {
    if (terminals_ > kMostTerminals) {
      values.fail("name",
                  fmt::format("{} would follow the paths of {} terminals' pairs", values.component(), terminals_),
                  fmt::format("use a network of at most {} terminals", kMostTerminals));
    }
    for (std::size_t i = 0; i < context.traffics.size(); ++i) {
      const std::string& name = context.traffics[i]->component();
      if (context.generators[i]->finite() || context.generators[i]->answers()) {
        values.fail("name", fmt::format("{} describes a steady stream of messages, not {}", values.component(), name),
                    "use an open-loop traffic such as uniform");
      }
      if (name == "uniform" || name == "hot_spot") {
        add_known(*context.traffics[i]);
      } else {
        add_sampled(*context.generators[i]);
      }
    }
  }

  [[nodiscard]] u32 terminals() const noexcept { return terminals_; }
  [[nodiscard]] double operator()(u32 from, u32 to) const noexcept {
    return rate_[static_cast<std::size_t>(from) * terminals_ + to];
  }
  /// Flits per cycle and terminal.
  [[nodiscard]] double offered() const noexcept {
    double sum = 0.0;
    for (const double r : rate_) sum += r;
    return sum / terminals_;
  }

 private:
  double& at(u32 from, u32 to) { return rate_[static_cast<std::size_t>(from) * terminals_ + to]; }

  void add_uniform(u32 from, double load, bool include_self) {
    const double share = load / (include_self ? terminals_ : terminals_ - 1);
    for (u32 to = 0; to < terminals_; ++to) {
      if (to != from || include_self) at(from, to) += share;
    }
  }
  void add_known(const config::Values& traffic) {
    const double load = traffic.real("load");
    const bool include_self = traffic.flag("include_self");
    const bool hot = traffic.component() == "hot_spot";
    const double alpha = hot ? traffic.real("fraction") : 0.0;
    for (u32 from = 0; from < terminals_; ++from) {
      double uniform = load * (1 - alpha);
      if (hot) {
        const std::vector<i64>& targets = traffic.integers("targets");
        const std::vector<double>& rates = traffic.reals("rates");
        double total = 0.0;
        for (std::size_t i = 0; i < targets.size(); ++i) total += rates[rates.size() == 1 ? 0 : i];
        for (std::size_t i = 0; i < targets.size(); ++i) {
          const double share = load * alpha * rates[rates.size() == 1 ? 0 : i] / total;
          const u32 target = static_cast<u32>(targets[i]);
          if (target == from && !include_self) {
            uniform += share;  // a hot spot's own share is uniform
          } else {
            at(from, target) += share;
          }
        }
      }
      add_uniform(from, uniform, include_self);
    }
  }
  void add_sampled(const core::Traffic& traffic) {
    for (u32 from = 0; from < terminals_; ++from) {
      core::Message message;
      Tick previous = kNever;
      std::vector<std::pair<u32, double>> sent;
      double flits = 0.0;
      for (u64 nth = 0; nth < kSample && traffic.next(from, nth, previous, message); ++nth) {
        if (message.birth == kNever) break;
        previous = message.birth;
        sent.emplace_back(message.destination, message.flits);
        flits += message.flits;
      }
      for (const auto& [to, length] : sent) at(from, to) += traffic.offered_load() * length / flits;
    }
  }

  u32 terminals_;
  std::vector<double> rate_;
};

}  // namespace banyan::analysis::parts
