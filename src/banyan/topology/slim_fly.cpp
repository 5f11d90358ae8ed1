// Slim Fly (Besta and Hoefler 2014): the graphs of McKay, Miller and Siran with 2 q^2 switches of degree (3 q - d) / 2
// and diameter 2, q = 4 w + d a prime, d = 1 or -1. Switches are (s, x, y), s = 0 or 1, x and y from the integers
// modulo q:
//   (0, x, y) and (0, x, y') are neighbours when y - y' is in X,
//   (1, m, c) and (1, m, c') when c - c' is in X', (0, x, y) and (1, m, c) when y = m x + c,
// where X and X' are made of powers of a primitive root (Hafner 2004; Besta and Hoefler, section II.B).
#include <fmt/core.h>

#include <algorithm>

#include "banyan/core/topology.hpp"
#include "banyan/topology/parts/damage.hpp"

namespace banyan::topology {
namespace {

bool is_prime(u32 q) {
  for (u32 i = 2; i * i <= q; ++i) {
    if (q % i == 0) return false;
  }
  return q > 1;
}

/// A number whose powers are all non-zero residues of the prime q.
u32 primitive_root(u32 q) {
  for (u32 root = 2;; ++root) {
    u32 order = 1;
    for (u64 power = root; power != 1; power = power * root % q) ++order;
    if (order == q - 1) return root;
  }
}

struct Generators {
  std::vector<u32> x;        ///< X
  std::vector<u32> x_prime;  ///< X'
};

Generators generators(u32 q) {
  const u32 root = primitive_root(q);
  std::vector<u32> power{1};
  while (power.size() < q) power.push_back(static_cast<u32>(u64{power.back()} * root % q));
  Generators sets;
  const u32 w = (q + 1) / 4;
  for (u32 e = 0; e < (q % 4 == 1 ? q - 1 : q); ++e) {
    // q = 4 w + 1: even and odd powers. q = 4 w - 1: even ones up to 2 w - 2 and odd ones from 2 w - 1; for X' one
    // more.
    const bool in_x = q % 4 == 1 ? e % 2 == 0 : e <= 2 * w - 2 ? e % 2 == 0 : e % 2 == 1 && e <= 4 * w - 3;
    const bool in_prime = q % 4 == 1 ? e % 2 == 1 : e <= 2 * w - 1 ? e % 2 == 1 : e % 2 == 0 && e <= 4 * w - 2;
    if (in_x) sets.x.push_back(power[e]);
    if (in_prime) sets.x_prime.push_back(power[e]);
  }
  return sets;
}

class SlimFly final : public core::Topology {
 public:
  explicit SlimFly(const config::Values& values) : q_(values.natural("q")) {
    if (!is_prime(q_) || q_ < 3) {
      u32 lower = q_;
      u32 upper = q_;
      while (lower > 3 && !is_prime(lower)) --lower;
      while (!is_prime(upper) || upper < 3) ++upper;
      values.fail("q", fmt::format("q = {} is no odd prime", q_),
                  fmt::format("use {} or {}", std::max(lower, 3U), upper));
    }
    const Generators sets = generators(q_);
    degree_ = q_ + static_cast<u32>(sets.x.size());
    const u32 asked = values.natural("concentration");
    concentration_ = asked == 0 ? (degree_ + 1) / 2 : asked;
    const core::Link link{values.natural("latency"), 1};
    const core::Link terminal{values.natural("terminal_latency"), 1};
    const u32 switches = 2 * q_ * q_;
    graph_ = core::Graph(switches * concentration_);
    for (u32 s = 0; s < switches; ++s) graph_.add_switch(degree_ + concentration_, degree_ + concentration_);
    std::vector<std::vector<u32>> neighbours(switches);
    for (u32 s = 0; s < switches; ++s) neighbours[s] = neighbours_of(s, sets);
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
  [[nodiscard]] std::vector<u32> neighbours_of(u32 s, const Generators& sets) const {
    const std::vector<u32> c = coordinates(s);
    std::vector<u32> result;
    for (const u32 step : c[0] == 0 ? sets.x : sets.x_prime) {
      result.push_back(c[0] * q_ * q_ + c[1] * q_ + (c[2] + step) % q_);
    }
    for (u32 i = 0; i < q_; ++i) {
      // From (0, x, y) to (1, m, y - m x); from (1, m, c) to (0, x, m x + c).
      const u32 product = static_cast<u32>(u64{i} * c[1] % q_);
      result.push_back(c[0] == 0 ? q_ * q_ + i * q_ + (c[2] + q_ - product) % q_ : i * q_ + (c[2] + product) % q_);
    }
    return result;
  }

  u32 q_;
  u32 degree_ = 0;
  u32 concentration_ = 0;
};

std::unique_ptr<core::Topology> make(const config::Values& values) { return std::make_unique<SlimFly>(values); }

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
         Parameter::integer("q", 5).range(3, 509).doc("An odd prime; the network has 2 q^2 switches."),
         Parameter::integer("concentration", 0)
             .unit("terminals")
             .range(0, 1024)
             .doc("Terminals at each switch; 0: half of the degree, rounded up."),
         Parameter::integer("latency", 1)
             .unit("cycles")
             .range(1, 1 << 20)
             .doc("Latency of the channels between switches."),
         Parameter::integer("terminal_latency", 1)
             .unit("cycles")
             .range(1, 1 << 20)
             .doc("Latency of the channels from and to terminals."),
     })},
    make};

}  // namespace banyan::topology
