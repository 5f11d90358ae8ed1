// Is a CIOQ network that is cut into shards the same network, whatever its queues tell each other?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "banyan/core/registry.hpp"
#include "banyan/switching/cioq/events.hpp"

namespace banyan::switching::cioq_shards_test {
namespace {

struct Due {
  Tick at = 0;
  u32 number = 0;
};

TEST(CioqShards, MailIsMergedByTimeBehindWhatIsDueAtTheSame) {
  cioq::Fifo<Due> fifo;
  for (const u32 at : {3U, 5U, 5U, 9U}) fifo.push({at, 0});
  std::vector<Due> mail{{5, 1}, {4, 2}, {11, 3}, {1, 4}};
  fifo.merge(mail);
  fifo.insert({5, 5});
  fifo.insert({20, 6});
  std::string order;
  for (; !fifo.empty(); fifo.pop()) order += fmt::format("{}:{} ", fifo.front().at, fifo.front().number);
  EXPECT_EQ(order, "1:4 3:0 4:2 5:0 5:0 5:1 5:5 9:0 11:3 20:6 ");
  EXPECT_TRUE(mail.empty());
  EXPECT_EQ(fifo.next(), kNever);
}

/// Metrics that do not depend on the machine.
std::string told(const api::Result& result) {
  std::string text = fmt::format("{:016x}", result.state_hash);
  for (const stats::Metric& m : result.metrics) text += fmt::format(" {}={}", m.name, m.mean);
  return text;
}

api::Result run(const std::string& text, u32 shards, u32 threads = 1) {
  api::RunOptions options;
  options.threads = threads;
  return api::run(api::read_experiments_text(text + fmt::format("shards = {}\n", shards), "cut", {}).points.front(),
                  options);
}

void expect_same(const std::string& queues, const std::string& more) {
  const std::string text = fmt::format(
      "topology = {{ name = 'bidirectional_min', hosts = 64 }}\n"
      "routing = {{ name = 'nearest_common_ancestor', up = 'destination_digit' }}\n"
      "switch = {{ name = 'cioq', queues = '{}', {} }}\n"
      "traffic = {{ name = 'congestion', start = '5 us', duration = '10 us' }}\n"
      "[run]\nduration = 15000\naudit = 'full'\ntrees = true\n",
      queues, more);
  SCOPED_TRACE(text);
  const std::string whole = told(run(text, 1));
  for (const u32 shards : {2U, 3U, 5U}) EXPECT_EQ(told(run(text, shards)), whole) << shards;
}

TEST(CioqShards, AnyNumberOfThemGivesTheSame) {
  for (const char* queues : {"1q", "voqsw", "voqnet", "dbbm", "recn_basic", "recn_enhanced"}) {
    for (const char* speedup : {"1", "1.5", "1.1"}) expect_same(queues, fmt::format("speedup = {}", speedup));
  }
  for (const char* queues : {"1q", "voqsw", "recn_enhanced"}) {
    expect_same(queues, "flow_control = 'pause', memory = 32768");
  }
}

/// Links of 33 cycles: with control messages of 20 a window is as long as those.
TEST(CioqShards, ThreadsChangeNothing) {
  const std::string text =
      "topology = { name = 'bidirectional_min', hosts = 64, latency = 33 }\n"
      "switch = { name = 'cioq', speedup = 1.5, memory = 4096, egress_detection = 12, ingress_detection = 6, "
      "propagation = 3, xoff = 9, xon = 3 }\nrouting = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
      "[[traffic]]\nname = 'congestion'\ndestinations = [5]\nshares = [0.4]\nstart = 1000\nduration = 4000\n"
      "[run]\nwarmup = 0\nmeasure = 6000\n";
  EXPECT_EQ(told(run(text, 4, 2)), told(run(text, 1)));
}

TEST(CioqShards, TerminalsMayReceiveInOtherShardsThanTheySendIn) {
  const std::string text =
      "topology = { name = 'multistage_cube', terminals = 16, radix = 2 }\nswitch = { name = 'cioq', speedup = 1.5 }\n"
      "routing = 'destination_tag'\ntraffic = { name = 'uniform', load = 0.5, size = 200 }\n"
      "[run]\nwarmup = 500\nmeasure = 5000\naudit = 'full'\n";
  const std::string whole = told(run(text, 1));
  for (const u32 shards : {2U, 7U}) EXPECT_EQ(told(run(text, shards)), whole) << shards;
}

/// What end hosts hear of the network crosses shards too: marks, values of links, acknowledgments, grants, RECN's
/// words.
TEST(CioqShards, EveryAdmissionHearsTheSame) {
  for (const core::AdmissionRow* row : core::admission_rows()) {
    for (const char* notify : {"false", "true"}) {
      const std::string text = fmt::format(
          "topology = {{ name = 'multistage_cube', terminals = 32, radix = 2 }}\nrouting = 'destination_tag'\n"
          "switch = {{ name = 'cioq', memory = 4096, egress_detection = 12, ingress_detection = 6, propagation = 3, "
          "xoff = 9, xon = 3, mark.low = 2, mark.high = 8, recn.notify_sources = {} }}\nadmission = '{}'\n"
          "traffic = {{ name = 'hot_spot', load = 0.6, size = 200, fraction = 0.3 }}\n"
          "[run]\nwarmup = 1000\nmeasure = 9000\nsessions = 1\naudit = 'full'\n",
          notify, row->info.name);
      SCOPED_TRACE(text);
      try {
        const std::string whole = told(run(text, 1));
        for (const u32 shards : {2U, 7U, 80U}) EXPECT_EQ(told(run(text, shards)), whole) << shards;
      } catch (const ConfigError& error) { EXPECT_STREQ(notify, "true") << error.what(); }
    }
  }
}

}  // namespace
}  // namespace banyan::switching::cioq_shards_test
