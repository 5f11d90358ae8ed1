// Traffic that prefers its own group of terminals: a cabinet, a dragonfly group, a chip of a package.
#include "banyan/traffic/parts/groups.hpp"
#include "banyan/traffic/parts/pattern.hpp"

namespace banyan::traffic::group_local {
namespace {

class GroupLocal final : public Pattern {
 public:
  GroupLocal(const config::Values& values, const core::TrafficContext& context, u32 group)
      : Pattern(values, context),
        terminals_(context.terminals),
        group_(group),
        local_(values.real("local")),
        include_self_(values.flag("include_self")) {}

  u32 destination(u32 terminal, u64 nth, const Words& words) const noexcept override {
    const u32 first = terminal / group_ * group_;
    const Words choice = choices_.at(terminal, nth);
    if (unit_real(choice[0], choice[1]) >= local_) {
      const u32 other = below(words[2], terminals_ - group_);
      return other < first ? other : other + group_;
    }
    if (include_self_) return first + below(words[2], group_);
    const u32 other = first + below(words[2], group_ - 1);
    return other + (other >= terminal ? 1U : 0U);
  }

  void add_shares(u32 terminal, double weight, std::span<double> shares) const override {
    const u32 first = terminal / group_ * group_;
    for (u32 to = 0; to < terminals_ && group_ < terminals_; ++to) {
      if (to < first || to >= first + group_) shares[to] += weight * (1.0 - local_) / (terminals_ - group_);
    }
    if (local_ > 0.0) add_uniform(terminal - first, weight * local_, include_self_, shares.subspan(first, group_));
  }

 private:
  u32 terminals_;
  u32 group_;
  double local_;
  bool include_self_;
};

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  const u32 group = group_size(values, context);
  if (group == context.terminals && values.real("local") < 1.0) {
    values.fail("local", "there is one group only: no terminal lies outside it",
                "use local = 1, or a smaller group_size");
  }
  if (group == 1 && !values.flag("include_self") && values.real("local") > 0.0) {
    values.fail("include_self", "a group of one terminal has no other destination",
                "use include_self = true, local = 0 or a larger group_size");
  }
  return std::make_unique<GroupLocal>(values, context, group);
}

config::ComponentInfo info() {
  using config::Parameter;
  config::ComponentInfo row{"group_local",
                            "A fixed part of the messages stays in the source's group of terminals, the rest goes to "
                            "the other groups, uniformly",
                            "Reed and Grunwald, The Performance of Multicomputer Interconnection Networks, IEEE "
                            "Computer 20(6), 1987: sphere of locality",
                            Pattern::parameters()};
  row.parameters.push_back(group_parameter());
  row.parameters.push_back(
      Parameter::real("local", 0.9).range(0, 1).doc("Probability that a message stays in the group of its source"));
  row.parameters.push_back(
      Parameter::boolean("include_self", false).doc("Whether a terminal may send to itself, inside its group"));
  return row;
}

}  // namespace

extern const core::TrafficRow row_group_local;
const core::TrafficRow row_group_local{info(), &make};

}  // namespace banyan::traffic::group_local
