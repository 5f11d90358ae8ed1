// Do the intervals of sessions cover the mean that many more sessions find? Of 500 intervals of 95 %, 475 +- 10 (two
// standard deviations) do when they are right. Sessions that shared random words would be more alike than their
// intervals say; those of a collective were even equal.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "support/effort.hpp"

namespace banyan::session_coverage_test {
namespace {

constexpr u64 kIntervals = 500;
constexpr u64 kLeast = 460;  // 92 %
constexpr u64 kMost = 490;   // 98 %
constexpr u64 kReference = 5000;

struct Case {
  const char* name;
  const char* text;
  u64 sessions;
  std::vector<std::string> metrics;
  u64 most = kMost;
};

api::Result run(const Case& c, u64 seed, u64 sessions) {
  const std::string run = "\n[run]\nseed = " + std::to_string(seed) + "\nsessions = " + std::to_string(sessions) + "\n";
  return api::run(api::read_experiments_text(c.text + run, c.name, {}).points.front());
}

void expect_coverage(const Case& c) {
  SCOPED_TRACE(c.name);
  const api::Result reference = run(c, 1'000'000, kReference);
  std::vector<u64> covered(c.metrics.size(), 0);
  for (u64 seed = 1; seed <= kIntervals; ++seed) {
    const api::Result result = run(c, seed, c.sessions);
    for (std::size_t m = 0; m < c.metrics.size(); ++m) {
      const stats::Metric& metric = result.at(c.metrics[m]);
      const double off = std::abs(metric.mean - reference.at(c.metrics[m]).mean);
      covered[m] += metric.half_width && off <= *metric.half_width ? 1U : 0U;
    }
  }
  for (std::size_t m = 0; m < c.metrics.size(); ++m) {
    EXPECT_GE(covered[m], kLeast) << c.metrics[m];
    EXPECT_LE(covered[m], c.most) << c.metrics[m];
    ::testing::Test::RecordProperty(std::string(c.name) + "_" + c.metrics[m], static_cast<int>(covered[m]));
  }
}

const Case kCollective{"collective",
                       "topology = { name = \"fat_tree\", arity = 2, levels = 3 }\n"
                       "switch = { name = \"vc_router\", vcs = 2 }\n"
                       "routing = { name = \"nearest_common_ancestor\", up = \"random\" }\n"
                       "traffic = { name = \"collective\", size = 4 }\n",
                       8,
                       {"completion_time", "packet_latency"}};
const Case kMulticastCollective{"multicast_collective",
                                "topology = { name = \"fat_tree\", arity = 2, levels = 4 }\n"
                                "switch = \"central_buffer\"\n"
                                "routing = { name = \"nearest_common_ancestor\", up = \"random\" }\n"
                                "traffic = { name = \"multicast_collective\", operation = \"all_gather\", size = 8, "
                                "implementation = \"software\" }\n",
                                8,
                                {"completion_time", "packet_latency"}};
const Case kSynchronization{"synchronization",
                            "topology = { name = \"extra_stage_cube\", terminals = 16, radix = 4 }\n"
                            "switch = { name = \"output_queued\", buffer = 8 }\n"
                            "routing = { name = \"destination_tag\", input_stage = \"random\" }\n"
                            "[[traffic]]\nname = \"synchronization\"\nmean = 60\ndeviation = 5\n"
                            "[[traffic]]\nname = \"uniform\"\nload = 0.4\ninclude_self = true\n",
                            10,
                            {"mu_syn", "mu_bg_tot", "session_cycles"}};
const Case kHypercube{
    "random first steps of packet_node",
    "topology = { name = \"hypercube\", degree = 4 }\n"
    "switch = \"packet_node\"\nrouting = \"qap_random\"\n"
    "traffic = { name = \"permutation\", pattern = \"bit_reverse\", process = \"at_once\", batch = 4, "
    "size = 8, size_distribution = \"geometric\" }\n",
    8,
    {"completion_time", "packet_latency"}};
/// All messages are equally long: sessions take 182, 208, 234 or 260 cycles and hardly anything else, 26 cycles apart
/// with a standard deviation of 22. Of eight such values Student's interval alone covers 96.8 % (by resampling 1200
/// sessions), and what it is widened by for skewness, which eight values always seem to have, makes that 98.9 %: too
/// wide, and not too narrow.
constexpr u64 kMostOfSteps = 498;
const Case kHypercubeInSteps{
    "random first steps of packet_node, equal messages",
    "topology = { name = \"hypercube\", degree = 4 }\n"
    "switch = \"packet_node\"\nrouting = \"qap_random\"\n"
    "traffic = { name = \"permutation\", pattern = \"bit_reverse\", process = \"at_once\", batch = 4, "
    "size = 8 }\n",
    8,
    {"completion_time", "packet_latency"},
    kMostOfSteps};
const Case kValiant{"valiant",
                    "topology = { name = \"mesh\", size = [4, 4] }\n"
                    "switch = { name = \"vc_router\", vcs = 4 }\nrouting = \"valiant\"\n"
                    "traffic = { name = \"permutation\", pattern = \"transpose\", process = \"at_once\", batch = 4, "
                    "size = 4 }\n",
                    8,
                    {"completion_time", "packet_latency"}};

TEST(SessionCoverage, OfCollectives) {
  if (test::kSanitized) GTEST_SKIP() << "statistics are the other builds' affair";
  expect_coverage(kCollective);
}

TEST(SlowSessionCoverage, OfCollectivesSynchronizationsAndRandomRoutings) {
  if (test::kSanitized) GTEST_SKIP() << "statistics are the other builds' affair";
  for (const Case& c : {kMulticastCollective, kSynchronization, kHypercube, kHypercubeInSteps, kValiant})
    expect_coverage(c);
}

}  // namespace
}  // namespace banyan::session_coverage_test
