// Is a whole run the same, bit for bit, as it was: on any compiler, for any number of threads and any step order?
// After a change that alters simulated numbers on purpose: run this program once with BANYAN_UPDATE_GOLDEN=1, and write
// a line into CHANGELOG.md. An entry is a file, overrides (a sweep's first point runs) and the hash.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "banyan/api/experiment.hpp"
#include "build_info.hpp"

namespace banyan::api::golden_test {
namespace {

const std::string kRoot = BANYAN_SOURCE_DIR;

nlohmann::json golden() {
  std::ifstream file(kRoot + "/tests/golden/hashes.json");
  return nlohmann::json::parse(file);
}

std::string hash_of(const std::string& file, Overrides overrides, u32 threads) {
  const ExperimentSet set = read_experiments(kRoot + "/" + file, overrides);
  RunOptions options;
  options.threads = threads;
  return fmt::format("{:016x}", run(set.points.at(0), options).state_hash);
}

TEST(Golden, EveryRecordedRunHasItsHash) {
  nlohmann::json entries = golden();
  const bool update = std::getenv("BANYAN_UPDATE_GOLDEN") != nullptr;
  for (auto& entry : entries) {
    const std::string file = entry.at("file");
    const Overrides overrides = entry.at("overrides").get<Overrides>();
    const std::string hash = hash_of(file, overrides, 1);
    if (update) {
      entry["state_hash"] = hash;
    } else {
      EXPECT_EQ(hash, entry.at("state_hash").get<std::string>()) << entry.dump();
    }
  }
  if (update) std::ofstream(kRoot + "/tests/golden/hashes.json") << entries.dump(2) << '\n';
}

TEST(Golden, ThreadsShardsStepOrderAndWakingChangeNothing) {
  for (const auto& entry : golden()) {
    const std::string file = entry.at("file");
    const std::string expected = entry.at("state_hash");
    for (const char* more : {"run.step_order=permuted", "run.wake=all", "run.shards=3", "run.audit=full"}) {
      Overrides overrides = entry.at("overrides").get<Overrides>();
      overrides.emplace_back(more);
      EXPECT_EQ(hash_of(file, overrides, 2), expected) << entry.dump() << " with " << more;
    }
  }
}

TEST(Golden, EveryExampleIsRecorded) {
  const nlohmann::json recorded = golden();
  for (const auto& item : std::filesystem::directory_iterator(kRoot + "/examples")) {
    if (item.path().extension() != ".toml") continue;
    const std::string file = "examples/" + item.path().filename().string();
    bool found = false;
    for (const auto& entry : recorded) found |= entry.at("file") == file;
    EXPECT_TRUE(found) << file << " has no entry in tests/golden/hashes.json";
  }
}

}  // namespace
}  // namespace banyan::api::golden_test
