// Adversarial traffic of dragonflies: all terminals of a group send to one other group, over the one global channel
// that minimal routing has between them.
#include "banyan/traffic/parts/groups.hpp"
#include "banyan/traffic/parts/pattern.hpp"

namespace banyan::traffic::adversarial {
namespace {

class Adversarial final : public Pattern {
 public:
  Adversarial(const config::Values& values, const core::TrafficContext& context, u32 group)
      : Pattern(values, context),
        terminals_(context.terminals),
        group_(group),
        shift_(values.natural("offset") % (context.terminals / group) * group) {}

  u32 destination(u32 terminal, u64, const Words& words) const noexcept override {
    return target(terminal, below(words[2], group_));
  }
  void add_shares(u32 terminal, double weight, std::span<double> shares) const override {
    for (u32 i = 0; i < group_; ++i) shares[target(terminal, i)] += weight / group_;
  }

 private:
  [[nodiscard]] u32 target(u32 terminal, u32 place) const noexcept {
    return (terminal / group_ * group_ + shift_ + place) % terminals_;
  }

  u32 terminals_;
  u32 group_;
  u32 shift_;  ///< terminals between a group and its target
};

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  const u32 group = group_size(values, context);
  if (values.natural("offset") % (context.terminals / group) == 0) {
    values.fail("offset",
                "with " + std::to_string(context.terminals / group) + " groups, every group would send to itself",
                "use an offset that is no multiple of the number of groups, or a smaller group_size");
  }
  return std::make_unique<Adversarial>(values, context, group);
}

config::ComponentInfo info() {
  using config::Parameter;
  config::ComponentInfo row{"adversarial",
                            "Every terminal sends to random terminals of the group that lies a fixed number of groups "
                            "further",
                            "Kim, Dally, Scott, Abts, Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008",
                            Pattern::parameters()};
  row.parameters.push_back(group_parameter());
  row.parameters.push_back(Parameter::integer("offset", 1)
                               .unit("groups")
                               .range(1, 4294967295.0)
                               .doc("Distance from a group to the one that it sends to, in the order of the groups"));
  return row;
}

}  // namespace

extern const core::TrafficRow row_adversarial;
const core::TrafficRow row_adversarial{info(), &make};

}  // namespace banyan::traffic::adversarial
