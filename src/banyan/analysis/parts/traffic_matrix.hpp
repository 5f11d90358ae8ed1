// Who sends how much to whom, from the traffics of an experiment.
#pragma once

#include <fmt/core.h>

#include <span>
#include <utility>
#include <vector>

#include "banyan/core/analysis.hpp"

namespace banyan::analysis::parts {

/// Flits per cycle of every pair of terminals: exact for traffics that state them (Traffic::demands); of others the
/// destinations of the first messages are counted, and how often they come.
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
      if (context.generators[i]->fetch_adds()) {
        values.fail(
            "name",
            fmt::format("{} describes messages that stay at their destination, not fetch-and-adds", values.component()),
            "use fetch_add = false");
      }
      if (!add_stated(*context.generators[i])) {
        add_sampled(*context.generators[i]);
        exact_ = false;
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

  [[nodiscard]] bool add_stated(const core::Traffic& traffic) {
    std::vector<double> rates(rate_.size());
    for (u32 from = 0; from < terminals_; ++from) {
      const std::span<double> row(&rates[static_cast<std::size_t>(from) * terminals_], terminals_);
      if (!traffic.demands(from, row)) return false;
    }
    for (std::size_t i = 0; i < rate_.size(); ++i) rate_[i] += rates[i];
    return true;
  }
  /// What one terminal sends in a sample.
  struct Sample {
    std::vector<std::pair<u32, double>> sent;  ///< destination and flits of every message
    double flits = 0.0;
    double rate = 0.0;  ///< flits per tick, relative to other terminals only
  };

  /// The traffic says what all terminals offer together; the sample, how this is shared.
  void add_sampled(const core::Traffic& traffic) {
    std::vector<Sample> samples(terminals_);
    double sum = 0.0;
    for (u32 from = 0; from < terminals_; ++from) {
      samples[from] = sample(traffic, from);
      sum += samples[from].rate;
    }
    for (u32 from = 0; from < terminals_; ++from) {
      const Sample& s = samples[from];
      const double rate = traffic.offered_load() * terminals_ * s.rate / sum;
      for (const auto& [to, flits] : s.sent) at(from, to) += rate * flits / s.flits;
    }
  }
  [[nodiscard]] static Sample sample(const core::Traffic& traffic, u32 from) {
    Sample result;
    core::Message message;
    Tick previous = kNever;
    for (u64 nth = 0; nth < kSample; ++nth) {
      if (!traffic.next(from, nth, previous, message) || message.birth == kNever) break;
      previous = message.birth;
      result.sent.emplace_back(message.destination, message.flits);
      result.flits += message.flits;
    }
    if (!result.sent.empty()) result.rate = result.flits / static_cast<double>(previous + 1);
    return result;
  }

  u32 terminals_;
  std::vector<double> rate_;
  bool exact_ = true;
};

}  // namespace banyan::analysis::parts
