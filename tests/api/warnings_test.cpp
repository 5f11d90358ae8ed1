// Is a load that links do not carry for what packets take of them beyond their flits told before it is simulated, and
// only then? Is an admission that comes too late?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "banyan/api/experiment.hpp"

namespace banyan::api::warnings_test {
namespace {

Experiment adapters(u32 overhead, u32 flits, double load) {
  const std::string text = fmt::format(
      "topology = {{ name = 'bidirectional_min', hosts = 16 }}\n"
      "routing = {{ name = 'nearest_common_ancestor', up = 'destination_digit' }}\n"
      "switch = {{ name = 'cioq', packet = 64, overhead = {} }}\n"
      "traffic = {{ name = 'uniform', load = {}, size = {} }}\nrun = {{ warmup = 2000, measure = 40000 }}\n",
      overhead, load, flits);
  return read_experiments_text(text, "overhead.toml", {}).points.front();
}

/// An incast of 8,192 bytes from each sender.
std::vector<std::string> notes_of(const std::string& admission, u32 memory) {
  const std::string text = fmt::format(
      "topology = {{ name = 'bidirectional_min', hosts = 16 }}\n"
      "routing = {{ name = 'nearest_common_ancestor', up = 'destination_digit' }}\n"
      "switch = {{ name = 'cioq', queues = 'voqsw', memory = {}, mark = {{ low = 16, high = 64 }} }}\nadmission = "
      "'{}'\n"
      "traffic = {{ name = 'incast', receivers = [0], fan_in = 8, amount = 8192, size = 64, start = 1000 }}\n"
      "run = {{ duration = 20000 }}\n",
      memory, admission);
  std::vector<std::string> notes = check(read_experiments_text(text, "incast.toml", {}).points.front());
  std::erase_if(notes, [](const std::string& note) { return note.find("nothing to hold back") == std::string::npos; });
  return notes;
}

TEST(MemoryNote, IsThereWhereAdaptersTakeAllThatASenderHas) {
  EXPECT_EQ(notes_of("dcqcn", 32768).size(), 1U);
  EXPECT_EQ(notes_of("infiniband_cc", 8192).size(), 1U);
  EXPECT_TRUE(notes_of("dcqcn", 8190).empty());
  EXPECT_TRUE(notes_of("dctcp", 32768).empty()) << "a window holds back from the beginning";
  EXPECT_TRUE(notes_of("none", 32768).empty());
}

std::string overhead_note(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    if (note.find("flits more of every link") != std::string::npos) return note;
  }
  return "";
}

TEST(OverheadNote, IsThereWhereTheLinksOfTerminalsCarryLessThanTheLoad) {
  for (const u32 overhead : {0U, 1U, 6U, 64U}) {
    for (const u32 flits : {1U, 8U, 64U, 640U}) {
      const double most = 1.0 / (1.0 + static_cast<double>(overhead) / std::min(flits, 64U));
      for (const double part : {0.5, 0.95, 1.1, 2.0}) {
        const double load = part * most;
        if (load > 1.0) continue;
        const Experiment experiment = adapters(overhead, flits, load);
        const std::string note = overhead_note(check(experiment));
        EXPECT_EQ(!note.empty(), part > 1.0) << overhead << ", " << flits << ", " << load << ": " << note;
        if (note.empty()) continue;
        EXPECT_NE(note.find("switch.overhead"), std::string::npos) << note;
        const Result result = run(experiment);
        EXPECT_EQ(result.verdict, Verdict::saturated) << note;
        EXPECT_LE(result.at("accepted_load").mean, 1.01 * most) << note;
      }
    }
  }
}

/// The remedy: the same load in longer packets has no note, and more of it is accepted.
TEST(OverheadNote, LongerPacketsNeedLess) {
  const Experiment many = adapters(6, 1, 0.6);
  const Experiment few = adapters(6, 64, 0.6);
  EXPECT_NE(overhead_note(check(many)), "");
  EXPECT_EQ(overhead_note(check(few)), "");
  EXPECT_GT(run(few).at("accepted_load").mean, 2.0 * run(many).at("accepted_load").mean);
}

}  // namespace
}  // namespace banyan::api::warnings_test
