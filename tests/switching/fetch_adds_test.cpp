// Do requests for one memory word combine, get distinct values, and lift the bound of a hot spot as far as they may?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"

namespace banyan::switching::fetch_adds_test {
namespace {

/// A hot spot of fetch-and-adds over a multistage cube, with a full audit of the values of its word.
api::Experiment hot_spot(u32 terminals, u32 radix, const std::string& switching, const std::string& run = "",
                         const std::string& traffic = "load = 0.9, fraction = 0.1") {
  return api::read_experiments_text(
             fmt::format("topology = {{ name = 'multistage_cube', terminals = {}, radix = {} }}\n"
                         "switch = {{ name = 'output_queued', buffer = 4, {} }}\nrouting = 'destination_tag'\n"
                         "traffic = {{ name = 'hot_spot', include_self = true, fetch_add = true, {} }}\n"
                         "run = {{ warmup = 500, measure = 1500, audit = 'full'{} }}\n",
                         terminals, radix, switching, traffic, run),
             "test", {})
      .points.front();
}

double accepted(u32 terminals, u32 radix, const std::string& switching) {
  return api::run(hot_spot(terminals, radix, switching), {}).find("accepted_load")->mean;
}

TEST(FetchAdds, WithoutCombiningTheHotMemoryBoundsEverybodyAndCombiningLiftsTheBound) {
  const double bound = 1.0 / (1.0 + 0.1 * 63);  // Pfister and Norton 1985
  const double without = accepted(64, 2, "combining = 'none'");
  EXPECT_LT(without, 1.05 * bound);
  EXPECT_GT(without, 0.9 * bound);
  EXPECT_GT(accepted(64, 2, "combining = 'any'"), 3.0 * bound);
}

TEST(FetchAdds, PairwiseCombiningHalvesTooLittleInBoxesOfFourInputs) {
  // A box of 4 inputs halves the hot requests at the most: 4^3 / 2^3 of them reach the memory (Lee, Kruskal, Kuck
  // 1986).
  const double bound = 1.0 / (0.1 * 8 + 0.9);
  const double pairwise = accepted(64, 4, "combining = 'pairwise'");
  const double any = accepted(64, 4, "combining = 'any'");
  EXPECT_LT(pairwise, 1.05 * bound);
  EXPECT_LT(pairwise, 0.9 * any);
}

TEST(FetchAdds, WithSmallWaitBuffersTheTreeReturns) {
  const double none = accepted(64, 2, "combining = 'none'");
  const double one = accepted(64, 2, "combining = 'any', wait_buffer = 1");
  const double all = accepted(64, 2, "combining = 'any'");
  EXPECT_GT(one, none);
  EXPECT_LT(one, 0.8 * all);
}

TEST(FetchAdds, ABatchLeavesTheSumInTheWordAndEveryValueOnce) {
  for (const char* combining : {"none", "pairwise", "k_way", "any"}) {
    const api::Result result = api::run(hot_spot(16, 2, fmt::format("combining = '{}'", combining), ", sessions = 2",
                                                 "load = 0.9, fraction = 1.0, batch = 50"),
                                        {});
    EXPECT_EQ(result.find("fetch_adds")->mean, 2.0 * 16 * 50) << combining;
    EXPECT_EQ(result.find("combined_requests")->mean > 0.0, std::string(combining) != "none");
    // What is combined is done with another one.
    EXPECT_EQ(result.find("memory_operations")->mean,
              result.find("fetch_adds")->mean - result.find("combined_requests")->mean)
        << combining;
  }
}

TEST(FetchAdds, TheStateDoesNotDependOnTheOrderOfSteps) {
  for (const char* combining : {"none", "pairwise", "k_way", "any", "any', wait_buffer = 1, space = 'auto"}) {
    const std::string switching = fmt::format("combining = '{}'", combining);
    const u64 state = api::run(hot_spot(64, 4, switching), {}).state_hash;
    for (const char* mode : {", step_order = 'permuted'", ", wake = 'all'", ", shards = 3"}) {
      EXPECT_EQ(api::run(hot_spot(64, 4, switching, mode), {}).state_hash, state) << combining << mode;
    }
  }
}

void expect_refused(const std::string& text, const std::string& key, const std::string& remedy,
                    const std::string& mended) {
  const auto check = [](const std::string& t) { api::check(api::read_experiments_text(t, "test", {}).points.front()); };
  try {
    check(text);
    FAIL() << text;
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find(key), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(remedy), std::string::npos) << error.what();
  }
  EXPECT_NO_THROW(check(mended));
}

TEST(FetchAdds, WhatCannotCombineIsRefusedWithARemedyThatHelps) {
  const auto text = [](const std::string& switching, const std::string& traffic) {
    return fmt::format(
        "topology = {{ name = 'multistage_cube', terminals = 16, radix = 2 }}\nswitch = {{ name = 'output_queued'{} "
        "}}\n"
        "routing = 'destination_tag'\ntraffic = {{ name = 'hot_spot', load = 0.1{} }}\n",
        switching, traffic);
  };
  expect_refused(text(", combining = 'any'", ""), "combining", "fetch_add = true",
                 text(", combining = 'any'", ", fetch_add = true"));
  expect_refused(text(", ways = 4", ", fetch_add = true"), "ways", "combining = \"k_way\"",
                 text(", ways = 4, combining = 'k_way'", ", fetch_add = true"));
  expect_refused(text(", wait_buffer = 4", ", fetch_add = true"), "wait_buffer", "combining = \"pairwise\"",
                 text(", wait_buffer = 4, combining = 'pairwise'", ", fetch_add = true"));
  expect_refused(text(", space = 'next_cycle'", ", fetch_add = true"), "space", "same_cycle",
                 text(", space = 'same_cycle'", ", fetch_add = true"));
  expect_refused(text("", ", fetch_add = true, reply_size = [1]"), "reply_size", "reply_size = [0]",
                 text("", ", fetch_add = true, reply_size = [0]"));
  const auto on = [](const std::string& topology) {
    return fmt::format(
        "topology = '{}'\nswitch = 'output_queued'\ntraffic = {{ name = 'hot_spot', load = 0.1, fetch_add = true }}\n",
        topology);
  };
  for (const char* keeps : {"extra_stage_cube", "multistage_cube"}) {
    expect_refused(on("hypercube"), "source routes only", "the topology extra_stage_cube or multistage_cube",
                   on(keeps));
  }
}

/// Every crossing of a box there or back is a hop of the one packet that crosses it.
TEST(FetchAdds, HopsAreTheBoxesThatARequestCrossed) {
  for (const char* combining : {"none", "pairwise", "any"}) {
    const std::string text = fmt::format(
        "topology = {{ name = 'multistage_cube', terminals = 64, radix = 2 }}\nrouting = 'destination_tag'\n"
        "switch = {{ name = 'output_queued', buffer = 4, combining = '{}' }}\n"
        "traffic = {{ name = 'synchronization', fetch_add = true, mean = 20, deviation = 2 }}\n"
        "run = {{ sessions = 1, activity = true }}\n",
        combining);
    const api::Result result = api::run(api::read_experiments_text(text, "test", {}).points.front(), {});
    EXPECT_EQ(result.at("delivered_packets").mean, 63.0);
    EXPECT_NEAR(result.at("hops").mean * 63, result.at("crossbar_traversals").mean, 1e-9) << combining;
    EXPECT_EQ(result.at("combined_requests").mean > 0, combining != std::string("none"));
  }
}

}  // namespace
}  // namespace banyan::switching::fetch_adds_test
