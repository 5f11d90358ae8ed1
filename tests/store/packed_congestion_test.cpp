// Are congestion trees the same after a way through the store, and is what is broken refused?
#include "banyan/stats/packed_congestion.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "banyan/api/experiment.hpp"
#include "banyan/store/store.hpp"

namespace banyan::store::packed_congestion_test {
namespace {

constexpr const char* kMesh = R"(
topology = { name = "mesh", size = [4, 4] }
switch = { name = "vc_router", vcs = 2, buffer = 4 }
routing = "dimension_order"
traffic = { name = "hot_spot", load = 0.3, fraction = 0.5, targets = [5], size = 4 }
[run]
warmup = 100
measure = 900
drain = 0
tables = "flows"
trees = true
trees_interval = 20
)";

api::Result run(const std::vector<std::string>& overrides = {}) {
  return api::run(api::read_experiments_text(kMesh, "mesh", overrides).points.front(), {});
}

TEST(PackedCongestion, GivesBackWhatWasRecorded) {
  const api::Result result = run();
  ASSERT_NE(result.trees, nullptr);
  const stats::CongestionRecord record = result.trees->record();
  ASSERT_FALSE(record.events.empty());
  ASSERT_FALSE(record.waits.empty());
  EXPECT_EQ(stats::to_bytes(record), result.trees->bytes());
}

TEST(PackedCongestion, DoesNotDependOnShardsOrOrder) {
  const std::string bytes = run().trees->bytes();
  for (const char* other : {"run.shards=3", "run.step_order=permuted", "run.wake=all"}) {
    EXPECT_EQ(run({other}).trees->bytes(), bytes) << other;
  }
}

TEST(PackedCongestion, RecordingChangesNothing) {
  EXPECT_EQ(run().state_hash, run({"run.trees=false"}).state_hash);
  EXPECT_EQ(run({"run.trees=false"}).trees, nullptr);
}

TEST(PackedCongestion, EveryCutAndEveryOtherFormatIsRefused) {
  const std::string bytes = run().trees->bytes();
  for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 50) {
    EXPECT_THROW(stats::congestion_from(std::string_view(bytes).substr(0, size)), std::out_of_range) << size;
  }
  EXPECT_THROW(stats::congestion_from("BCT2" + bytes.substr(4)), std::out_of_range);
}

TEST(PackedCongestion, ThinsLongRecordsWithoutLosingWhatWasDelivered) {
  const api::Result result = run({"run.trees_interval=1", "run.measure=5000"});
  const stats::CongestionRecord record = result.trees->record();
  EXPECT_LT(record.samples.size(), 2049U);
  EXPECT_EQ(record.interval, 4U);
  u64 flits = 0;
  for (const auto& sample : record.samples) flits += sample.delivered_flits;
  EXPECT_NEAR(static_cast<double>(flits), result.at("delivered_flits").mean, 64.0);  // the last four cycles
}

}  // namespace
}  // namespace banyan::store::packed_congestion_test
