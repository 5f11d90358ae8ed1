// Is the number that a remedy gives one that helps: taken at once, whatever the numbers before were?
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "api/runs.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"

namespace banyan::api::numbers_in_remedies_test {
namespace {

/// What is said against an experiment, as a remedy; "": nothing.
std::string remedy_of(const std::string& text, const Overrides& overrides) {
  try {
    check(experiment_of(text, overrides));
  } catch (const ConfigError& error) { return error.remedy(); }
  return "";
}

/// The part of a text that a pattern's group takes; "" where it does not fit.
std::string part_of(const std::string& text, const std::string& pattern) {
  std::smatch found;
  return std::regex_search(text, found, std::regex(pattern)) ? found[1].str() : std::string();
}

/// Bytes and times that are no whole number of flits and cycles of odd sizes.
TEST(NumbersInRemedies, AQuantityThatIsGivenIsAWholeNumber) {
  u32 given = 0;
  for (const char* flit : {"3", "7", "24", "31", "48"}) {
    for (const char* size : {"1 KiB", "1 MB", "100 B", "4095 B", "0.3 KB"}) {
      Overrides overrides{"traffic.max_packet=64", fmt::format("run.flit={}", flit),
                          fmt::format("traffic.size=\"{}\"", size)};
      const std::string better = part_of(remedy_of(kMesh, overrides), "give size as ([^,]+),");
      if (better.empty()) continue;  // a whole number by chance
      ++given;
      overrides.back() = fmt::format("traffic.size=\"{}\"", better);
      EXPECT_EQ(remedy_of(kMesh, overrides), "") << flit << " B, " << size << ": " << better;
    }
  }
  for (const char* cycle : {"1.0296 ns", "0.7 ns", "3.3 ns", "0.07 ns"}) {
    for (const char* latency : {"10 us", "1 us", "17 ns"}) {
      Overrides overrides{fmt::format("run.cycle_time=\"{}\"", cycle), fmt::format("topology.latency=\"{}\"", latency)};
      const std::string better = part_of(remedy_of(kMesh, overrides), "give latency as ([^,]+),");
      if (better.empty()) continue;
      ++given;
      overrides.back() = fmt::format("topology.latency=\"{}\"", better);
      EXPECT_EQ(remedy_of(kMesh, overrides), "") << cycle << ", " << latency << ": " << better;
    }
  }
  EXPECT_GT(given, 25U);
}

/// A buffer that covers the round trip: no warning is left, and none is asked for that no router can have.
TEST(NumbersInRemedies, ABufferThatIsGivenCoversTheRoundTrip) {
  u32 given = 0;
  for (const char* policy : {"private", "shared"}) {
    for (const u32 vcs : {1U, 2U, 3U, 8U}) {
      for (const u32 buffer : {2U, 3U, 8U}) {
        for (const u32 reserved : {1U, 2U, 8U}) {
          for (const u32 latency : {1U, 4U, 15U, 100U}) {
            if (reserved > buffer) continue;
            Overrides overrides{fmt::format("switch.buffer_policy={}", policy), fmt::format("switch.vcs={}", vcs),
                                fmt::format("topology.latency={}", latency), "traffic.size=60",
                                fmt::format("switch.buffer={}", buffer)};
            if (std::string(policy) == "shared") overrides.push_back(fmt::format("switch.reserved={}", reserved));
            const std::vector<std::string> notes = check(experiment_of(kMesh, overrides));
            if (notes.empty()) continue;
            const std::string each = part_of(notes.front(), "together, ([0-9]+) for that of each");
            const std::string better = each.empty() ? part_of(notes.front(), "switch.buffer = ([0-9]+)") : each;
            ASSERT_NE(better, "") << notes.front();
            ++given;
            EXPECT_GT(std::stoul(better), buffer) << notes.front();
            overrides[4] = "switch.buffer=" + better;
            const std::vector<std::string> left = check(experiment_of(kMesh, overrides));
            EXPECT_TRUE(left.empty()) << notes.front() << "\nand then: " << left.front();
          }
        }
      }
    }
  }
  EXPECT_GT(given, 100U);
}

TEST(NumbersInRemedies, NoBufferIsGivenThatNoRouterHas) {
  const std::vector<std::string> notes = check(experiment_of(kMesh, {"topology.latency=200000"}));
  ASSERT_FALSE(notes.empty());
  EXPECT_EQ(notes.front().find("use switch.buffer"), std::string::npos) << notes.front();
  EXPECT_NE(notes.front().find("65535 at most: use shorter channels"), std::string::npos) << notes.front();
}

/// Thresholds that no queue reaches: both remedies help, larger buffers and lower thresholds.
TEST(NumbersInRemedies, ThresholdsAndBuffersThatAreGivenFit) {
  u32 given = 0;
  for (const u32 buffer : {6U, 7U, 24U, 125U}) {
    for (const auto& [low, high] : {std::pair{3U, 300U}, {299U, 300U}, {300U, 300U}, {5U, 1003U}, {0U, 65U}}) {
      Overrides overrides{fmt::format("switch.buffer={}", buffer), fmt::format("switch.mark.low={}", low),
                          fmt::format("switch.mark.high={}", high)};
      const std::string remedy = remedy_of(kMesh, overrides);
      if (remedy.empty()) continue;
      ++given;
      const std::string factor = part_of(remedy, "make the buffers ([0-9.]+) times as large");
      if (!factor.empty()) {
        const double more = std::ceil(buffer * std::stod(factor) - 1e-9);
        EXPECT_GT(more, buffer) << remedy;
        EXPECT_EQ(
            remedy_of(kMesh, {fmt::format("switch.buffer={}", static_cast<u64>(more)), overrides[1], overrides[2]}), "")
            << buffer << ", " << low << ", " << high << ": " << remedy;
      }
      overrides[1] = "switch.mark.low=" + part_of(remedy, "mark.low = ([0-9]+)");
      if (const std::string cut = part_of(remedy, "mark.high = ([0-9]+)"); !cut.empty())
        overrides[2] = "switch.mark.high=" + cut;
      EXPECT_EQ(remedy_of(kMesh, overrides), "") << buffer << ", " << low << ", " << high << ": " << remedy;
    }
  }
  EXPECT_GT(given, 8U);
}

/// A queue of cioq holds as many packets as fit, and packets may be shorter than switch.packet: a threshold is refused
/// where nothing would be marked, and taken where something is.
TEST(NumbersInRemedies, ThresholdsInPacketsFitTheShortestOnes) {
  const std::string incast =
      "topology = { name = 'bidirectional_min', hosts = 16, ports = 4 }\n"
      "switch = { name = 'cioq', queues = '1q', memory = 8000 }\n"
      "routing = { name = 'nearest_common_ancestor', up = 'd_mod_k' }\n"
      "traffic = { name = 'flows', sources = [1, 2, 3, 5, 6], destinations = [0], loads = [0.9] }\n"
      "run = { warmup = 20000, measure = 40000, drain = 0 }\n";
  u32 taken = 0;
  u32 refused = 0;
  for (const u32 size : {30U, 64U, 100U, 250U, 1000U}) {
    for (const u32 packet : {64U, 100U, 1000U}) {
      // Messages are cut into packets, and the last one of each is what is left.
      const u32 shortest = size <= packet ? size : size % packet == 0 ? packet : size % packet;
      for (const u32 high : {8000 / packet + 1, 8000 / shortest - 1, 8000 / shortest, 8000 / shortest + 1}) {
        for (const u32 low : {high / 2, high - 1, high}) {
          Overrides overrides{fmt::format("switch.packet={}", packet), fmt::format("traffic.size={}", size),
                              fmt::format("switch.mark.high={}", high), fmt::format("switch.mark.low={}", low)};
          const std::string remedy = remedy_of(incast, overrides);
          EXPECT_EQ(remedy.empty(), high <= 8000 / shortest && low < 8000 / shortest)
              << size << " of " << packet << ", " << low << " to " << high << ": " << remedy;
          ++(remedy.empty() ? taken : refused);
          const std::string factor = part_of(remedy, "make the buffers ([0-9.]+) times as large");
          if (factor.empty()) continue;
          overrides.push_back(fmt::format("switch.memory={}", static_cast<u64>(8000 * std::stod(factor))));
          EXPECT_EQ(remedy_of(incast, overrides), "") << remedy;
        }
      }
    }
  }
  EXPECT_GT(taken, 50U);
  EXPECT_GT(refused, 50U);
  // 512 packets of 64 bytes where 32 of 1,024 would fit.
  const std::vector<std::string> marking{"switch.memory=32768",   "switch.packet=1024",   "traffic.size=64",
                                         "switch.mark.low=100",   "switch.mark.high=200", "admission=window",
                                         "admission.size=1000000"};
  EXPECT_GT(run_of(incast, marking).at("marked").mean, 0.5);
}

/// No buffer is asked for that no switch has.
TEST(NumbersInRemedies, ThresholdsBeyondAnyBufferAreOnlyCut) {
  const std::string remedy = remedy_of(kMesh, {"switch.mark.high=1000000000"});
  EXPECT_EQ(remedy.find("cut both thresholds in proportion: mark.low"), 0U) << remedy;
}

}  // namespace
}  // namespace banyan::api::numbers_in_remedies_test
