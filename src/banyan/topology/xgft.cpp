// Extended generalized fat trees (Oehring, Ibel, Das, Kumar 1995): any number of children and of parents per level.
#include "banyan/topology/parts/tree.hpp"

namespace banyan::topology::xgft {
namespace {

std::unique_ptr<core::Topology> make(const config::Values& values) {
  const std::vector<i64>& children = values.integers("children");
  const std::vector<i64>& parents = values.integers("parents");
  if (children.empty() || children.size() != parents.size()) {
    values.fail("parents",
                fmt::format("{} numbers of parents for {} levels of children", parents.size(), children.size()),
                "give both per level from below: m_1 .. m_h and w_1 .. w_h");
  }
  if (parents.front() != 1) {
    values.fail("parents", fmt::format("terminals with {} switches each, but a terminal has one channel", parents[0]),
                "begin parents with 1");
  }
  return parts::make_xgft(values, "children", {children.begin(), children.end()}, {parents.begin(), parents.end()});
}

core::NetworkSize size(const config::Values& values) {
  const std::vector<i64>& children = values.integers("children");
  const std::vector<i64>& parents = values.integers("parents");
  return parts::of_wiring(parts::xgft_size({children.begin(), children.end()}, {parents.begin(), parents.end()}),
                          values);
}

}  // namespace

using config::Parameter;
extern const core::TopologyRow row_xgft;
const core::TopologyRow row_xgft{
    {"xgft", "Extended generalized fat tree: any number of children and of parents on each level.",
     "S. R. Oehring, M. Ibel, S. K. Das and M. J. Kumar, On Generalized Fat Trees, IPPS 1995",
     parts::tree_parameters({
         Parameter::integers("children", {4, 4, 4})
             .range(1, 65535)
             .doc("Children of a switch per level from below, m_1 .. m_h."),
         Parameter::integers("parents", {1, 2, 2})
             .range(1, 65535)
             .doc("Parents per level from below, w_1 .. w_h: of a terminal (1), of a switch of the lowest level, ..."),
     })},
    make,
    size,
    {"nearest_common_ancestor", "up", "d_mod_k"}};

}  // namespace banyan::topology::xgft
