// Random processes with known means, from addressed randomness, for the tests of the estimators.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "banyan/base/rng.hpp"
#include "banyan/base/types.hpp"
#include "stats/window_series.hpp"

namespace banyan::test {

inline double uniform(const Random& random, u64 event) {
  const Words words = random.at(0, event);
  return unit_real(words[0], words[1]);
}

/// Exponential of mean 1 from the words (high, low).
inline double exponential(u32 high, u32 low) { return -std::log1p(-unit_real(high, low)); }

/// Standard normal (Box and Muller 1958).
inline double normal(const Random& random, u64 event) {
  const Words words = random.at(0, event);
  const double radius = std::sqrt(2.0 * exponential(words[0], words[1]));
  return radius * std::cos(2.0 * std::numbers::pi * unit_real(words[2], words[3]));
}

/// x_(i+1) = phi x_i + e_i with standard normal e, stationary from the first value on, mean 0. The variance of the mean
/// of n is close to 1 / ((1 - phi)^2 n).
inline std::vector<double> autoregressive(double phi, std::size_t n, u64 replication) {
  const Random random(11, Stream{"test"}, 1, static_cast<u32>(replication));
  std::vector<double> values(n);
  double x = normal(random, 0) / std::sqrt(1.0 - phi * phi);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = x;
    x = phi * x + normal(random, i + 1);
  }
  return values;
}

enum class Service { exponential, constant };

/// Time in queue in an M/M/1 or M/D/1 queue, first come first served, by Lindley's recursion
/// w_(i+1) = max(0, w_i + s_i - a_i).
class Queue {
 public:
  static constexpr double kTicks = 1024.0;  ///< per mean service time

  Queue(Service service, double load) : service_(service), load_(load) {}

  /// Mean time in queue, ticks: load / (1 - load) service times, half of it with constant service
  /// (Pollaczek and Khinchine).
  [[nodiscard]] double mean() const {
    return kTicks * load_ / (1.0 - load_) * (service_ == Service::constant ? 0.5 : 1.0);
  }

  /// Windows of the waiting times by arrival, of an empty start.
  [[nodiscard]] stats::TimeSeries run(u64 customers, u64 replication) const {
    const Random random(7, Stream{"test"}, 1, static_cast<u32>(replication));
    stats::TimeSeries series(0, Tick{1} << 14U);
    double wait = 0.0;
    double now = 0.0;
    for (u64 i = 0; i < customers; ++i) {
      series.add(static_cast<Tick>(now), static_cast<u64>(std::llround(wait)));
      const Words words = random.at(0, i);
      const double gap = kTicks / load_ * exponential(words[0], words[1]);
      const double service = kTicks * (service_ == Service::constant ? 1.0 : exponential(words[2], words[3]));
      wait = std::max(0.0, wait + service - gap);
      now += gap;
    }
    return series;
  }

 private:
  Service service_;
  double load_;
};

}  // namespace banyan::test
