// Who sends how much to whom, from the traffics of an experiment.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "banyan/core/analysis.hpp"

namespace banyan::analysis::parts {

/// Flits per cycle of every pair of terminals. Exact for the traffics uniform and hot_spot, whose parameters say it; of
/// others the destinations of the first messages are counted, which is exact where every terminal that sends has one
/// destination and all send at one rate.
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
      if (context.generators[i]->replicates()) {
        values.fail("name", fmt::format("{} describes messages with one destination, not {}", values.component(), name),
                    "use a traffic such as uniform, or multicast in software");
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
  /// False when rates are estimates from a sample: then nothing that follows from them is proven.
  [[nodiscard]] bool exact() const noexcept { return exact_; }
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
  /// What one terminal sends in a sample.
  struct Sample {
    std::vector<std::pair<u32, double>> sent;  ///< destination and flits of every message
    double flits = 0.0;
    double rate = 0.0;  ///< flits per tick, relative to other terminals only
  };

  /// The traffic says what all terminals offer together; the sample, how this is shared. Terminals whose rates agree
  /// within the scatter of a sample are taken to send alike.
  void add_sampled(const core::Traffic& traffic) {
    std::vector<Sample> samples(terminals_);
    double least = std::numeric_limits<double>::infinity();
    double most = 0.0;
    double senders = 0.0;
    double sum = 0.0;
    for (u32 from = 0; from < terminals_; ++from) {
      samples[from] = sample(traffic, from);
      const double rate = samples[from].rate;
      if (rate <= 0.0) continue;
      least = std::min(least, rate);
      most = std::max(most, rate);
      senders += 1.0;
      sum += rate;
    }
    const bool alike = most <= least * (1.0 + 2.0 * kScatter);
    exact_ = exact_ && alike;
    for (u32 from = 0; from < terminals_; ++from) {
      const Sample& s = samples[from];
      if (s.rate <= 0.0) continue;
      const double rate = traffic.offered_load() * terminals_ * (alike ? 1.0 / senders : s.rate / sum);
      for (const auto& [to, flits] : s.sent) at(from, to) += rate * flits / s.flits;
    }
  }
  [[nodiscard]] Sample sample(const core::Traffic& traffic, u32 from) {
    Sample result;
    core::Message message;
    Tick previous = kNever;
    for (u64 nth = 0; nth < kSample; ++nth) {
      if (!traffic.next(from, nth, previous, message) || message.birth == kNever) {
        if (nth != 0) exact_ = false;  // it ends
        break;
      }
      previous = message.birth;
      result.sent.emplace_back(message.destination, message.flits);
      result.flits += message.flits;
      exact_ = exact_ && message.destination == result.sent.front().first;
    }
    if (!result.sent.empty()) result.rate = result.flits / static_cast<double>(previous + 1);
    return result;
  }

  /// Gaps of a memoryless process scatter by 1 / sqrt(kSample) = 6 %; five times that.
  static constexpr double kScatter = 0.3;

  u32 terminals_;
  std::vector<double> rate_;
  bool exact_ = true;
};

}  // namespace banyan::analysis::parts
