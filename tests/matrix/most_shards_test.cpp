// Is a network of any switch that is cut into as many shards as there can be the same network? What keeps the shard
// beside something else in a word (handles of packets, marks of queues) is right for small numbers in any case.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::most_shards_test {
namespace {

/// Each of 255 switches at least.
const std::vector<std::string>& networks() {
  static const std::vector<std::string> all = {
      "topology = { name = 'torus', size = [16, 16] }\nrouting = 'dimension_order'\n",
      "topology = { name = 'hypercube', degree = 8 }\nrouting = 'ecube'\n",
      "topology = { name = 'multistage_cube', terminals = 128, radix = 2 }\nrouting = 'destination_tag'\n",
      "topology = { name = 'fat_tree', arity = 4, levels = 4 }\nrouting = { name = 'nearest_common_ancestor', up = "
      "'d_mod_k' }\n",
  };
  return all;
}

api::Result run(const std::string& text, u32 shards) {
  return api::run(api::read_experiments_text(text + fmt::format("shards = {}\n", shards), "cut", {}).points.front(),
                  {});
}

/// Metrics that do not depend on the machine.
std::string told(const api::Result& result) {
  std::string text = fmt::format("{:016x}", result.state_hash);
  for (const stats::Metric& m : result.metrics) text += fmt::format(" {}={}", m.name, m.mean);
  return text;
}

/// [switch model]: why it did not carry something.
std::map<std::string, std::string>& refusals() {
  static std::map<std::string, std::string> all;
  return all;
}

/// False where the switch refuses the network, or `lines` of [run].
bool tried(const std::string& network, const std::string& name, u32 size, const std::string& lines) {
  const std::string text =
      network + fmt::format("switch = '{}'\ntraffic = {{ name = 'uniform', load = 0.5, size = {} }}\n", name, size) +
      "[run]\naudit = 'full'\n" + lines;
  SCOPED_TRACE(text);
  try {
    const api::Result whole = run(text, 1);
    const stats::Metric* const hops = whole.find("hops");
    EXPECT_TRUE(name == "ideal" || hops == nullptr || hops->mean >= 1.0)  // which has no switches
        << name << " counts no switches on the way of packets";
    EXPECT_EQ(told(run(text, 255)), told(whole)) << "what to look for, in order: docs/explanation/determinism.md";
    return true;
  } catch (const ConfigError& error) {
    refusals()[name] += fmt::format("{}\n", error.what());
    return false;
  }
}

TEST(MostShards, EverySwitchIsTheSameNetworkInThem) {
  std::set<std::string> seen;
  std::set<std::string> counted;
  std::set<std::string> carried;
  for (const core::SwitchRow* row : core::switching_rows()) {
    const std::string& name = row->info.name;
    for (const std::string& network : networks()) {
      // Some move packets of one length only, and not all count what their hardware did. The second run ends while much
      // is on its way.
      const std::string steady = "warmup = 100\nmeasure = 600\nsessions = 1\n";
      const std::string cut = "duration = 601\nactivity = true\n";
      if (tried(network, name, 8, steady) || tried(network, name, 1, steady)) {
        seen.insert(name);
        carried.insert(network);
      }
      if (tried(network, name, 8, cut) || tried(network, name, 1, cut)) counted.insert(name);
    }
  }
  for (const core::SwitchRow* row : core::switching_rows())
    EXPECT_TRUE(seen.contains(row->info.name)) << row->info.name << " carries none of networks():\n"
                                               << refusals()[row->info.name];
  for (const std::string& network : networks()) EXPECT_TRUE(carried.contains(network)) << network;
  for (const char* name : {"vc_router", "input_buffer", "central_buffer", "output_queued"})
    EXPECT_TRUE(counted.contains(name)) << name;
}

/// What arrives leads to a message that is born at once: in whatever shard, its source leaves in the next cycle.
TEST(MostShards, AnswersThatAreBornAtOnceLeaveInEveryCut) {
  const std::string text =
      "topology = { name = \"bidirectional_min\", hosts = 16 }\n"
      "switch = { name = \"cioq\", memory = 1024, packet = 8 }\n"
      "routing = { name = \"nearest_common_ancestor\", up = \"d_mod_k\" }\n"
      "traffic = { name = \"multicast_collective\", operation = \"reduce\", implementation = \"software\" }\n"
      "[run]\nsessions = 2\n";
  const api::Result whole = run(text, 1);
  EXPECT_EQ(whole.verdict, api::Verdict::finished);
  for (const u32 shards : {2U, 3U, 7U}) {
    const api::Result cut = run(text, shards);
    EXPECT_EQ(cut.verdict, api::Verdict::finished) << shards;
    EXPECT_EQ(cut.state_hash, whole.state_hash) << shards;
  }
}

}  // namespace
}  // namespace banyan::most_shards_test
