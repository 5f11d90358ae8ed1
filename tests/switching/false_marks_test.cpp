// Is a mark called false exactly when its packet goes through no root of a congestion tree?
#include <gtest/gtest.h>

#include <string>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"

namespace banyan::switching::false_marks_test {
namespace {

/// A tree of cioq, in packets of 64 bytes; a mesh of vc_router, in packets of 64 flits.
std::string network(bool tree, const std::string& mark) {
  return tree ? "topology = { name = 'bidirectional_min', hosts = 64 }\n"
                "routing = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
                "switch = { name = 'cioq', queues = '1q', speedup = 1, memory = 2048, mark = { " +
                    mark + " } }\n"
              : "topology = { name = 'mesh', size = [6, 6] }\nrouting = 'dimension_order'\n"
                "switch = { name = 'vc_router', vcs = 4, buffer = 128, mark = { " +
                    mark + " } }\n";
}

const char* const kHot = "{ name = 'hot_spot', load = 0.1, size = 64, targets = [3], fraction = 1.0 }";
const char* const kSampled = ", trees = true, trees_interval = 2000";

api::Result run(const std::string& text, const std::string& how = kSampled) {
  const std::string times = "run = { warmup = 20000, measure = 40000" + how + " }\n";
  return api::run(api::read_experiments_text(text + times, "marks", {}).points.front(), {});
}

/// Nobody meets anybody: there is no root that a marked packet could go to.
TEST(FalseMarks, AreAllWhereThereIsNoTree) {
  const std::string calm = "traffic = { name = 'permutation', pattern = 'neighbour', load = 0.3, size = 64 }\n";
  for (const bool tree : {true, false}) {
    const api::Result result = run(network(tree, "low = 0, high = 1") + calm);
    EXPECT_EQ(result.at("false_marks").mean, 1.0) << tree;
  }
}

/// Every packet goes to the root.
TEST(FalseMarks, AreHardlyAnyWhereAllGoToTheRoot) {
  for (const bool tree : {true, false}) {
    const std::string low = tree ? "low = 8, high = 8" : "low = 128, high = 128";
    const api::Result result = run(network(tree, low) + "traffic = " + kHot + "\n");
    EXPECT_GT(result.at("false_marks").count, 50U) << tree;
    EXPECT_LT(result.at("false_marks").mean, 0.01) << tree;
  }
}

/// Victims behind a tree are marked, and those marks are false; where roots alone mark there are fewer of them.
TEST(FalseMarks, AreThoseOfVictims) {
  const std::string fire = std::string("traffic = [ { name = 'uniform', load = 0.3, size = 64 }, ") + kHot + " ]\n";
  const std::string mark = "low = 128, high = 128";
  const double all = run(network(false, mark) + fire).at("false_marks").mean;
  const double roots = run(network(false, mark + ", root_only = true") + fire).at("false_marks").mean;
  EXPECT_GT(all, 0.2);
  EXPECT_LT(roots, 0.6 * all);
}

/// Who judges changes nothing, and the judgement does not depend on shards or the order of steps.
TEST(FalseMarks, DependOnNothingElse) {
  const std::string fire = std::string("traffic = [ { name = 'uniform', load = 0.3, size = 64 }, ") + kHot + " ]\n";
  for (const bool tree : {true, false}) {
    const std::string text = network(tree, tree ? "low = 8, high = 8" : "low = 128, high = 128") + fire;
    const api::Result first = run(text);
    const api::Result without = run(text, "");
    EXPECT_EQ(without.state_hash, first.state_hash);
    EXPECT_EQ(without.find("false_marks"), nullptr);
    for (const char* how : {", shards = 3", ", step_order = 'permuted'"}) {
      const api::Result other = run(text, std::string(kSampled) + how);
      EXPECT_EQ(other.state_hash, first.state_hash) << how;
      EXPECT_EQ(other.at("false_marks").mean, first.at("false_marks").mean) << how;
      EXPECT_EQ(other.at("false_marks").count, first.at("false_marks").count) << how;
    }
  }
}

/// The table of flows says how many packets of each arrived marked, where switches mark.
TEST(FalseMarks, MarksAreCountedPerFlow) {
  const std::string calm = "traffic = { name = 'permutation', pattern = 'neighbour', load = 0.3, size = 64 }\n";
  for (const bool tree : {true, false}) {
    const api::Result marking = run(network(tree, "low = 0, high = 1") + calm, ", tables = 'flows'");
    ASSERT_EQ(marking.tables.size(), 1U);
    ASSERT_EQ(marking.tables[0].columns.back(), "marked");
    for (const auto& row : marking.tables[0].rows) EXPECT_EQ(row.back(), row[2]) << "every packet is marked";
    const api::Result silent = run(network(tree, "high = 0") + calm, ", tables = 'flows'");
    EXPECT_NE(silent.tables.at(0).columns.back(), "marked");
  }
}

}  // namespace
}  // namespace banyan::switching::false_marks_test
