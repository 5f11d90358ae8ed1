// Slim Fly (Besta and Hoefler 2014): the graphs of McKay, Miller and Siran with 2 q^2 switches of degree (3 q - d) / 2
// and diameter 2, q = 4 w + d a power of a prime, d = 1, 0 or -1. Switches are (s, x, y), s = 0 or 1, x and y from the
// field of q elements:
//   (0, x, y) and (0, x, y') are neighbours when y - y' is in X,
//   (1, m, c) and (1, m, c') when c - c' is in X', (0, x, y) and (1, m, c) when y = m x + c,
// where X and X' are made of powers of a primitive element (Hafner 2004; Besta and Hoefler, section II.B).
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "banyan/core/topology.hpp"
#include "banyan/topology/parts/damage.hpp"

namespace banyan::topology::slim_fly {
namespace {

/// The prime that q is a power of; 0: of none.
u32 prime_below(u32 q) {
  u32 p = 2;
  while (p <= q && q % p != 0) ++p;
  u64 power = p;
  while (power < q) power *= p;
  return q > 1 && power == q ? p : 0;
}

/// Whether the construction knows a graph for q: powers of odd primes, and of 2 from 4 on.
bool is_order(u32 q) { return q >= 3 && prime_below(q) != 0; }

/// The field of q elements. An element is the number whose digits in base p are the coefficients of a polynomial over
/// the integers modulo p, the constant one lowest; for a prime q the integers modulo q.
class Field {
 public:
  explicit Field(u32 q) : q_(q), p_(prime_below(q)) {
    if (p_ == q_) {
      for (u32 root = 2; !fill([&](u32 x) { return static_cast<u32>(u64{x} * root % q_); }); ++root) {}
      return;
    }
    // x^k = `reduced`, such that x is primitive: the first that is found.
    const u32 top = q_ / p_;
    for (u32 reduced = 1; !fill([&](u32 x) { return add(x % top * p_, times(x / top, reduced)); }); ++reduced) {}
  }

  /// The powers of the primitive element, from 1 on; the last is 1 again.
  [[nodiscard]] const std::vector<u32>& powers() const { return powers_; }
  [[nodiscard]] u32 add(u32 a, u32 b) const {
    u32 sum = 0;
    for (u32 digit = 1; digit < q_; digit *= p_) sum += (a / digit % p_ + b / digit % p_) % p_ * digit;
    return sum;
  }
  [[nodiscard]] u32 negative(u32 a) const { return times(p_ - 1, a); }
  [[nodiscard]] u32 product(u32 a, u32 b) const {
    return a == 0 || b == 0 ? 0 : powers_[(logarithms_[a] + logarithms_[b]) % (q_ - 1)];
  }

 private:
  /// n is below p: n times each digit.
  [[nodiscard]] u32 times(u32 n, u32 a) const {
    u32 result = 0;
    for (u32 digit = 1; digit < q_; digit *= p_) result += a / digit % p_ * n % p_ * digit;
    return result;
  }
  /// False unless the powers of an element are all but 0. `next`: multiplies with the element.
  template <class Next>
  bool fill(Next next) {
    powers_.assign(1, 1);
    logarithms_.assign(q_, kNone);
    for (u32 e = 0; e < q_ - 1; ++e) {
      const u32 x = powers_.back();
      if (x == 0 || logarithms_[x] != kNone) return false;
      logarithms_[x] = e;
      powers_.push_back(next(x));
    }
    return true;
  }

  u32 q_;
  u32 p_;
  std::vector<u32> powers_;
  std::vector<u32> logarithms_;
};

struct Generators {
  std::vector<u32> x;        ///< X
  std::vector<u32> x_prime;  ///< X'
};

Generators generators(u32 q, const Field& field) {
  const std::vector<u32>& power = field.powers();
  Generators sets;
  if (q % 4 != 3) {  // even and odd powers; q = 4 w: 1 is in both
    for (u32 e = 0; e + 1 < q; e += 2) sets.x.push_back(power[e]);
    for (u32 e = 1; e < q; e += 2) sets.x_prime.push_back(power[e]);
    return sets;
  }
  // q = 4 w - 1: even ones up to 2 w - 2 and odd ones from 2 w - 1; for X' one more.
  const u32 w = (q + 1) / 4;
  for (u32 e = 0; e < q; ++e) {
    if (e <= 2 * w - 2 ? e % 2 == 0 : e % 2 == 1 && e <= 4 * w - 3) sets.x.push_back(power[e]);
    if (e <= 2 * w - 1 ? e % 2 == 1 : e % 2 == 0 && e <= 4 * w - 2) sets.x_prime.push_back(power[e]);
  }
  return sets;
}

class SlimFly final : public core::Topology {
 public:
  explicit SlimFly(const config::Values& values) : q_(values.natural("q")) {
    if (!is_order(q_)) {
      u32 lower = q_;
      u32 upper = q_;
      while (lower > 3 && !is_order(lower)) --lower;
      while (!is_order(upper)) ++upper;
      values.fail("q", fmt::format("q = {} is no power of a prime", q_),
                  fmt::format("use {} or {}", std::max(lower, 3U), upper));
    }
    const Field field(q_);
    const Generators sets = generators(q_, field);
    degree_ = q_ + static_cast<u32>(sets.x.size());
    const u32 asked = values.natural("concentration");
    concentration_ = asked == 0 ? (degree_ + 1) / 2 : asked;
    const core::Link link{values.natural("latency"), 1};
    const core::Link terminal{values.natural("terminal_latency"), 1};
    const u32 switches = 2 * q_ * q_;
    graph_ = core::Graph(switches * concentration_);
    for (u32 s = 0; s < switches; ++s) graph_.add_switch(degree_ + concentration_, degree_ + concentration_);
    std::vector<std::vector<u32>> neighbours(switches);
    for (u32 s = 0; s < switches; ++s) neighbours[s] = neighbours_of(s, sets, field);
    for (u32 s = 0; s < switches; ++s) {
      for (u32 port = 0; port < degree_; ++port) {
        const std::vector<u32>& far = neighbours[neighbours[s][port]];
        const auto back = std::find(far.begin(), far.end(), s) - far.begin();
        graph_.add_channel(core::End::of_switch(s, port),
                           core::End::of_switch(neighbours[s][port], static_cast<u32>(back)), link);
      }
      for (u32 i = 0; i < concentration_; ++i) {
        const core::End end = core::End::of_terminal(s * concentration_ + i);
        graph_.add_channel(end, core::End::of_switch(s, degree_ + i), terminal);
        graph_.add_channel(core::End::of_switch(s, degree_ + i), end, terminal);
      }
    }
    static_cast<void>(parts::Damage(values, graph_));
  }

  [[nodiscard]] std::string label(u32 s) const override {
    const std::vector<u32> c = coordinates(s);
    return fmt::format("({},{},{})", c[0], c[1], c[2]);
  }
  [[nodiscard]] std::vector<u32> coordinates(u32 s) const override { return {s / (q_ * q_), s / q_ % q_, s % q_}; }
  [[nodiscard]] std::string port_label(u32, u32 port) const override {
    return port < degree_ ? fmt::format("link {}", port) : fmt::format("terminal {}", port - degree_);
  }

 private:
  [[nodiscard]] std::vector<u32> neighbours_of(u32 s, const Generators& sets, const Field& field) const {
    const std::vector<u32> c = coordinates(s);
    std::vector<u32> result;
    for (const u32 step : c[0] == 0 ? sets.x : sets.x_prime) {
      result.push_back(c[0] * q_ * q_ + c[1] * q_ + field.add(c[2], step));
    }
    for (u32 i = 0; i < q_; ++i) {
      // Channels lead from (0, x, y) to (1, m, y - m x), and from (1, m, c) to (0, x, m x + c).
      const u32 product = field.product(i, c[1]);
      result.push_back(c[0] == 0 ? q_ * q_ + i * q_ + field.add(c[2], field.negative(product))
                                 : i * q_ + field.add(c[2], product));
    }
    return result;
  }

  u32 q_;
  u32 degree_ = 0;
  u32 concentration_ = 0;
};

std::unique_ptr<core::Topology> make(const config::Values& values) { return std::make_unique<SlimFly>(values); }

core::NetworkSize size(const config::Values& values) {
  const u32 q = values.natural("q");
  const u32 degree = q + (q % 4 == 3 ? (q + 1) / 2 : q / 2);  // as generators() has it
  const u32 asked = values.natural("concentration");
  const double concentration = asked == 0 ? (degree + 1) / 2 : asked;
  core::NetworkSize all;
  all.switches = 2.0 * q * q;
  all.terminals = all.switches * concentration;
  all.inputs = all.switches * (degree + concentration);
  all.channels = all.switches * (degree + 2.0 * concentration);
  all.passed = 3.0;  // nearly all are two channels away
  return all;
}

}  // namespace

using config::Parameter;
extern const core::TopologyRow row_slim_fly;
const core::TopologyRow row_slim_fly{
    {"slim_fly", "Slim Fly: nearly as many switches as a network of diameter 2 can have.",
     "M. Besta and T. Hoefler, Slim Fly: A Cost Effective Low-Diameter Network Topology, SC 2014; B. D. McKay, M. "
     "Miller "
     "and J. Siran, A Note on Large Graphs of Diameter Two and Given Maximum Degree, J. Combinatorial Theory B 74(1), "
     "1998",
     parts::with_damage({
         Parameter::integer("q", 5).range(3, 509).doc("A power of a prime, not 2; the network has 2 q^2 switches."),
         Parameter::integer("concentration", 0)
             .unit("terminals")
             .range(0, 1024)
             .doc("Terminals at each switch; 0: half of the degree, rounded up."),
         parts::latency_parameter(),
         parts::terminal_latency_parameter(),
     })},
    make,
    size,
    {"shortest_path"}};

}  // namespace banyan::topology::slim_fly
