// The k-ary n-tree (Petrini and Vanneschi 1997): k^n terminals, n levels of k^(n-1) switches with k ports down and, but
// for the roots, k ports up.
#include "banyan/topology/parts/tree.hpp"

namespace banyan::topology::fat_tree {
namespace {

std::unique_ptr<core::Topology> make(const config::Values& values) {
  const u32 levels = values.natural("levels");
  std::vector<u32> parents(levels, values.natural("arity"));
  parents.front() = 1;
  return parts::make_xgft(values, "levels", std::vector<u32>(levels, values.natural("arity")), parents);
}

core::NetworkSize size(const config::Values& values) {
  const std::vector<double> arity(values.natural("levels"), values.natural("arity"));
  std::vector<double> parents = arity;
  parents.front() = 1.0;
  return parts::of_wiring(parts::xgft_size(arity, parents), values);
}

}  // namespace

using config::Parameter;
extern const core::TopologyRow row_fat_tree;
const core::TopologyRow row_fat_tree{
    {"fat_tree", "Fat tree as a k-ary n-tree: full bisection from switches of one size.",
     "F. Petrini and M. Vanneschi, k-ary n-trees: High Performance Networks for Massively Parallel Architectures, IPPS "
     "1997; C. E. Leiserson, Fat-Trees, IEEE Transactions on Computers C-34(10), 1985",
     parts::tree_parameters({
         Parameter::integer("arity", 4).range(1, 512).doc("Children, and parents, of a switch, k."),
         Parameter::integer("levels", 3).range(1, 24).doc("Levels of switches, n."),
     })},
    make,
    size,
    {"nearest_common_ancestor", "up", "d_mod_k"}};

}  // namespace banyan::topology::fat_tree
