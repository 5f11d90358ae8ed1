// Does a message on the ideal network take its latency and its bytes, whatever else is on its way?
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "engine/machines.hpp"

namespace banyan::test::ideal_test {
namespace {

const Part kTree{"fat_tree", {{"arity", i64{4}}, {"levels", i64{2}}}};
const Part kRouting{"up_down"};

Part ideal(double latency, double per_byte) { return {"ideal", {{"latency", latency}, {"per_byte", per_byte}}}; }

std::string experiment(const std::string& traffic, const std::string& more = "") {
  return "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\n"
         "switch = { name = \"ideal\", latency = 10, per_byte = 2 }\nrouting = \"up_down\"\n" +
         more + "traffic = " + traffic + "\n[run]\nwarmup = 1000\nmeasure = 2000\naudit = \"full\"\n";
}

api::Result run(const std::string& text) { return api::run(api::read_experiments_text(text, "x", {}).points.front()); }

TEST(Ideal, a_message_takes_its_latency_and_its_bytes) {
  Rig rig(kTree, ideal(10, 2), kRouting);
  for (const u32 flits : {1U, 2U, 5000U}) EXPECT_EQ(rig.latency_of({0, 5, 9, flits}), 10 + 2 * (flits - 1));
  Rig fast(kTree, ideal(3.4, 0.25), kRouting);
  EXPECT_EQ(fast.latency_of({0, 5, 9, 1}), 3U);  // whole cycles
  EXPECT_EQ(fast.latency_of({0, 5, 9, 9}), 5U);
  Rig nothing(kTree, ideal(0, 0), kRouting);
  EXPECT_EQ(nothing.latency_of({0, 5, 9, 9}), 0U);
}

TEST(Ideal, nobody_waits_at_the_highest_load) {
  const api::Result result = run(experiment("{ name = \"uniform\", load = 1, size = 5 }"));
  EXPECT_EQ(result.verdict, api::Verdict::steady);
  EXPECT_DOUBLE_EQ(result.at("packet_latency").mean, 18.0);
  EXPECT_DOUBLE_EQ(result.at("packet_latency_max").mean, 18.0);
  EXPECT_DOUBLE_EQ(result.at("source_queueing").mean, 0.0);
}

/// The bytes of a message follow each other, whatever packets they are in.
TEST(Ideal, packets_of_a_message_take_its_time_together) {
  const api::Result result = run(experiment("{ name = \"uniform\", load = 0.3, size = 5, max_packet = 2 }"));
  EXPECT_DOUBLE_EQ(result.at("message_latency_first").mean, 12.0);
  EXPECT_DOUBLE_EQ(result.at("message_latency_last").mean, 18.0);
}

TEST(Ideal, replies_and_admissions_are_served) {
  const std::string replies = "{ name = \"uniform\", load = 0.3, size = 5, reply_size = 5, outstanding = 2 }";
  EXPECT_DOUBLE_EQ(run(experiment(replies)).at("packet_latency_max").mean, 18.0);
  EXPECT_EQ(run(experiment(replies, "admission = \"swift\"\n")).verdict, api::Verdict::steady);
}

TEST(Ideal, the_state_does_not_depend_on_how_it_is_run) {
  const std::string text = experiment("{ name = \"uniform\", load = 0.3, size = 5, reply_size = 3 }");
  const u64 plain = run(text).state_hash;
  EXPECT_EQ(run(text + "wake = \"all\"\n").state_hash, plain);
  EXPECT_EQ(run(text + "step_order = \"permuted\"\n").state_hash, plain);
}

}  // namespace
}  // namespace banyan::test::ideal_test
