#include "banyan/analysis/parts/circuit_torus_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "banyan/analysis/parts/torus_shells.hpp"

namespace banyan::analysis::parts {
namespace {

constexpr u32 kMostIterations = 50'000;
constexpr double kConverged = 1e-12;
constexpr double kDamping = 0.5;

/// The unknowns of the iteration; all else follows from them.
struct State {
  double regular = 0.0;     ///< S_r
  double setup = 0.0;       ///< C_r
  std::vector<double> hot;  ///< S_alpha_j
};

class Model {
 public:
  explicit Model(const CircuitTorusInput& input) : in_(input) {
    consistent_ = in_.reading == CircuitTorusReading::consistent;
    count();
    const double n = static_cast<double>(in_.k) * in_.k;
    double sum = 0.0;
    out_.probability.assign(farthest_ + 1, 0.0);
    for (u32 j = 1; j <= farthest_; ++j) {
      out_.probability[j] = nodes_[j] / (n - 1);
      sum += j * out_.probability[j];
    }
    // Equation 3 leaves the source out of account; the mean over the other nodes is larger by N / (N - 1).
    out_.distance = consistent_ ? sum : 2.0 * in_.k / 4;
    per_dimension_ = out_.distance / 2;
  }

  CircuitTorusSolution solve() {
    for (const double start : {in_.start, 1.0}) {
      if (iterate(start)) return finish();
      if (in_.start == 1.0) break;  // from below the least solution is found when there is one
    }
    out_.saturated = true;
    return out_;
  }

 private:
  /// Equations 5 to 7: nodes, channels and sources by distance.
  void count() {
    if (consistent_) {
      const TorusShells shells = torus_shells(in_.k);
      farthest_ = shells.farthest();
      for (u32 j = 0; j <= farthest_; ++j) {
        nodes_.push_back(static_cast<double>(shells.nodes[j]));
        channels_.push_back(static_cast<double>(shells.channels[j]));
        sources_.push_back(static_cast<double>(shells.beyond[j]));
      }
      return;
    }
    farthest_ = 2 * in_.k - 2;
    for (u32 r = 0; r <= farthest_; ++r) nodes_.push_back(r < in_.k ? r + 1.0 : 2.0 * in_.k - r - 1.0);
    channels_.push_back(0.0);
    for (u32 j = 1; j <= farthest_; ++j) channels_.push_back(2 * nodes_[j - 1]);
    for (u32 j = 0; j <= farthest_; ++j) { sources_.push_back(std::accumulate(nodes_.begin() + j, nodes_.end(), 0.0)); }
  }

  bool iterate(double start) {
    State state;
    state.regular = start * (in_.flits + 3 * out_.distance);
    state.setup = start * 2 * out_.distance;
    state.hot.assign(farthest_ + 1, 0.0);
    for (u32 j = 1; j <= farthest_; ++j) state.hot[j] = start * (in_.flits + 3.0 * j);
    for (out_.iterations = 1; out_.iterations <= kMostIterations; ++out_.iterations) {
      if (!channels(state)) return false;
      const State next = headers();
      double change = move(state.regular, next.regular);
      change = std::max(change, move(state.setup, next.setup));
      for (u32 j = 1; j <= farthest_; ++j) change = std::max(change, move(state.hot[j], next.hot[j]));
      if (!std::isfinite(change)) return false;
      if (change < kConverged) {
        last_ = state;
        return channels(state);
      }
    }
    return false;
  }
  /// Moves a value towards another by the damping; returns the relative distance.
  static double move(double& value, double to) {
    const double change = std::abs(to - value) / std::max(std::abs(value), 1e-300);
    value += kDamping * (to - value);
    return change;
  }

  /// Equations 4, 7, 8, 11 and 24 to 30. False when a channel has more work than time.
  bool channels(const State& s) {
    const double share = (1 - in_.alpha) * in_.rate;
    switch (in_.reading) {
      case CircuitTorusReading::consistent:
        out_.regular_rate = share * out_.distance / 4;
        break;
      case CircuitTorusReading::printed:
        out_.regular_rate = share * out_.distance / 2;
        break;
      case CircuitTorusReading::printed_cycles:
        out_.regular_rate = share * s.setup / 4;
        break;
    }
    for (auto* v : {&out_.hot_rate, &out_.rate, &out_.service, &out_.all_busy, &out_.degree}) {
      v->assign(farthest_ + 1, 0.0);
    }
    for (u32 j = 1; j <= farthest_; ++j) {
      out_.hot_rate[j] = in_.alpha * in_.rate * sources_[j] / channels_[j];
      out_.rate[j] = out_.regular_rate + out_.hot_rate[j];
      const double hot = out_.rate[j] > 0 ? out_.hot_rate[j] / out_.rate[j] : 0.0;
      out_.service[j] = (1 - hot) * s.regular + hot * s.hot[j];
      const double load = out_.rate[j] * out_.service[j];
      if (!(load < 1)) return false;
      const std::vector<double> p = busy_channels(load, in_.vcs);
      out_.all_busy[j] = p.back();
      double first = 0.0;
      double second = 0.0;
      for (u32 v = 1; v <= in_.vcs; ++v) {
        first += v * p[v];
        second += static_cast<double>(v) * v * p[v];
      }
      out_.degree[j] = first > 0 ? second / first : 1.0;
    }
    return true;
  }

  /// Equations 9, 10, 14 to 19.
  State headers() {
    State next;
    // A regular header meets any channel: what blocks it is the mean over channels.
    double one = 0.0;
    double two = 0.0;
    for (u32 j = 1; j <= farthest_; ++j) {
      one += out_.probability[j] * out_.all_busy[j];
      two += out_.probability[j] * out_.all_busy[j] * out_.all_busy[j];
    }
    const auto regular = [&](u32 hops) {
      std::vector<double> blocked;
      for (u32 done = 0; done < hops; ++done) {
        const double last = last_dimension(done, hops);
        blocked.push_back((1 - last) * two + last * one);
      }
      return setup_time(blocked);
    };
    const double whole = std::floor(out_.distance);
    const u32 shorter = static_cast<u32>(whole);
    const double rest = out_.distance - whole;
    const double mean = rest > 0 ? (1 - rest) * regular(shorter) + rest * regular(shorter + 1) : regular(shorter);
    next.setup = mean + out_.distance;
    next.regular = in_.flits + out_.distance + next.setup;
    next.hot.assign(farthest_ + 1, 0.0);
    out_.hot_setup.assign(farthest_ + 1, 0.0);
    for (u32 j = 1; j <= farthest_; ++j) {
      std::vector<double> blocked;
      for (u32 done = 0; done < j; ++done) {
        const double busy = out_.all_busy[j - done];
        const double last = last_dimension(done, j);
        blocked.push_back((1 - last) * busy * busy + last * busy);
      }
      out_.hot_setup[j] = setup_time(blocked) + j;
      next.hot[j] = in_.flits + j + out_.hot_setup[j];
    }
    return next;
  }
  /// The print takes the hops that are done, equation 14's index, for those that are left, equation 18's.
  [[nodiscard]] double last_dimension(u32 done, u32 hops) const {
    return one_dimension_left(consistent_ ? hops - done : done, hops, per_dimension_);
  }

  /// Equations 1, 2, 13, 23 and 31, from the converged state.
  CircuitTorusSolution finish() {
    out_.regular_network = last_.regular;
    out_.regular_setup = last_.setup;
    out_.hot_latency = last_.hot;
    double hot_setup = 0.0;
    for (u32 j = 1; j <= farthest_; ++j) {
      out_.hot_network += out_.probability[j] * last_.hot[j];
      hot_setup += out_.probability[j] * out_.hot_setup[j];
      out_.multiplexing += out_.probability[j] * out_.degree[j];
    }
    const double s = out_.network = (1 - in_.alpha) * out_.regular_network + in_.alpha * out_.hot_network;
    out_.setup = (1 - in_.alpha) * out_.regular_setup + in_.alpha * hot_setup;
    const double rate = in_.rate / in_.vcs;
    if (!(rate * s < 1)) {
      out_.saturated = true;
      return out_;
    }
    const double spread = s - in_.flits - 3 * out_.distance + 1;
    const double variance = in_.service_variance.value_or(spread * spread);
    out_.waiting = rate * (s * s + variance) / (2 * (1 - rate * s));
    out_.latency = (s + out_.waiting) * out_.multiplexing;
    return out_;
  }

  CircuitTorusInput in_;
  bool consistent_ = true;
  u32 farthest_ = 0;
  double per_dimension_ = 0.0;
  std::vector<double> nodes_;
  std::vector<double> channels_;
  std::vector<double> sources_;
  State last_;
  CircuitTorusSolution out_;
};

}  // namespace

CircuitTorusSolution solve(const CircuitTorusInput& input) { return Model(input).solve(); }

double saturation_rate(CircuitTorusInput input) {
  double low = 0.0;
  double high = input.vcs / input.flits;  // no source serves more
  while (high - low > 1e-6 * high) {
    input.rate = (low + high) / 2;
    (solve(input).saturated ? high : low) = input.rate;
  }
  return low;
}

double setup_time(const std::vector<double>& blocked) {
  // C_i = a + b C_0, from the last hop backwards.
  double a = 0.0;
  double free = 1.0;  // 1 - b
  for (std::size_t i = blocked.size(); i-- > 0;) {
    a = (1 - blocked[i]) * (a + 1) + blocked[i] * static_cast<double>(i);
    free *= 1 - blocked[i];
  }
  return free > 0 ? a / free : std::numeric_limits<double>::infinity();
}

std::vector<double> busy_channels(double load, u32 vcs) {
  std::vector<double> q{1.0};
  for (u32 v = 1; v < vcs; ++v) q.push_back(q.back() * load);
  q.push_back(q.back() * load / (1 - load));
  const double sum = std::accumulate(q.begin(), q.end(), 0.0);
  for (double& p : q) p /= sum;
  return q;
}

double one_dimension_left(u32 left, u32 hops, double hops_per_dimension) {
  if (left == 0 || left > hops) return 0.0;
  return hops - left >= hops_per_dimension ? 2.0 / (left + 1) : 0.0;
}

}  // namespace banyan::analysis::parts
