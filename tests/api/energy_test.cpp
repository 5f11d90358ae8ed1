// Energy and area: are they the counters times the table, and is a table that cannot be trusted refused?
#include "banyan/api/energy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "api/runs.hpp"
#include "banyan/base/error.hpp"
#include "build_info.hpp"

namespace banyan::api::energy_test {
namespace {

const std::string kSources = "source = \"a test\"";

std::string write_table(const std::string& text) {
  const std::string name = std::string("energy_") + testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / (name + ".toml");
  std::ofstream(path) << text;
  return path.string();
}

std::string cost(const std::string& key, const std::string& value) {
  return key + " = { cost = " + value + ", " + kSources + " }\n";
}

TEST(Energy, IsTheCountersTimesTheTable) {
  const std::string table =
      write_table("unit = \"pJ\"\narea_unit = \"mm2\"\n[events]\n" + cost("buffer_writes", "1") +
                  cost("buffer_reads", "10") + cost("crossbar_traversals", "100") + cost("link_traversals", "1000") +
                  cost("vc_allocations", "0.5") + "[cycles]\n" + cost("switches", "2") + cost("inputs", "3") +
                  "[areas]\n" + cost("crosspoints", "0.25") + cost("channels", "4"));
  const Result result = run_of(kMesh, {"run.energy=" + table});
  const auto of = [&](const char* name) { return result.at(name).mean; };
  const double events = of("buffer_writes") + 10 * of("buffer_reads") + 100 * of("crossbar_traversals") +
                        1000 * of("link_traversals") + 0.5 * of("vc_allocations");
  EXPECT_GT(events, 0.0);
  EXPECT_DOUBLE_EQ(of("energy_dynamic"), events);
  // 4 x 4 switches with a terminal each: 48 channels between switches, 32 of terminals; 64 inputs of switches.
  EXPECT_DOUBLE_EQ(of("energy_static"), (16 * 2 + 64 * 3) * of("simulated_cycles"));
  EXPECT_DOUBLE_EQ(of("energy"), of("energy_dynamic") + of("energy_static"));
  EXPECT_DOUBLE_EQ(of("energy_per_flit"), of("energy") / of("delivered_flits"));
  EXPECT_EQ(result.find("energy_per_bit"), nullptr);
  const Result sized = run_of(kMesh, {"run.energy=" + table, "run.flit=16 B"});
  EXPECT_DOUBLE_EQ(sized.at("energy_per_bit").mean, sized.at("energy_per_flit").mean / 128);
  EXPECT_EQ(sized.at("energy_per_bit").unit, "pJ/bit");
  EXPECT_DOUBLE_EQ(of("energy_per_cycle"), of("energy") / of("simulated_cycles"));
  // Corners have 3 ports, edges 4, the others 5.
  EXPECT_DOUBLE_EQ(of("area"), 0.25 * (4 * 9 + 8 * 16 + 4 * 25) + 4 * 80);
  EXPECT_EQ(result.at("energy").unit, "pJ");
  EXPECT_EQ(result.at("area").unit, "mm2");
  ASSERT_EQ(result.tables.size(), 1U);
  EXPECT_EQ(result.tables.front().rows.size(), 7U);
}

TEST(Energy, ChangesNoResult) {
  const std::string table = write_table("unit = \"pJ\"\n[events]\n" + cost("buffer_reads", "1"));
  EXPECT_EQ(run_of(kMesh, {"run.energy=" + table}).state_hash, run_of(kMesh).state_hash);
}

TEST(Energy, OfSessionsIsOfAllOfThem) {
  const std::string table = write_table("unit = \"pJ\"\n[events]\n" + cost("link_traversals", "2"));
  const Result result = run_of(kSessions, {"run.energy=" + table, "run.sessions=3"});
  EXPECT_DOUBLE_EQ(result.at("energy").mean, 2 * result.at("link_traversals").mean);
  EXPECT_GT(result.at("energy_per_flit").mean, 0.0);
}

/// A cost of what a switch does not have is no error: the table may be one for several switches.
TEST(Energy, ACostThatCountsNothingIsTold) {
  const std::string table =
      write_table("unit = \"pJ\"\n[events]\n" + cost("link_traversals", "2") + cost("vc_allocations", "1"));
  const Result result = run_of(kSessions, {"run.energy=" + table, "run.sessions=3"});
  EXPECT_NE(result.warning.find("the table of costs has vc_allocations, which count nothing here"), std::string::npos)
      << result.warning;
  EXPECT_DOUBLE_EQ(result.at("energy").mean, 2 * result.at("link_traversals").mean);
  EXPECT_EQ(run_of(kMesh, {"run.energy=" + table}).warning.find("vc_allocations"), std::string::npos);
  // Before the run, too.
  const auto warned = [&](const std::string& text) {
    const std::vector<std::string> notes =
        check(read_experiments_text(text, "test.toml", {"run.energy=" + table}).points.front());
    return std::ranges::any_of(notes,
                               [](const auto& note) { return note.find("vc_allocations") != std::string::npos; });
  };
  EXPECT_TRUE(warned(kSessions));
  EXPECT_FALSE(warned(kMesh));
}

TEST(Energy, TheExampleCanBeReadAndSaysItsSources) {
  const CostTable table = read_costs(std::string(BANYAN_SOURCE_DIR) + "/examples/costs/noxim.toml");
  EXPECT_EQ(table.unit, "pJ");
  EXPECT_EQ(table.events.size(), 5U);
  EXPECT_EQ(table.cycles.size(), 3U);
}

struct Refused {
  const char* text;
  const char* part;  ///< of what is said
};

TEST(Energy, RefusesWhatCannotBeTrustedOrUnderstood) {
  for (const Refused& refused :
       {Refused{"unit = \"pJ\"\n[events]\nbuffer_reads = { cost = 1 }\n", "source"},
        Refused{"unit = \"pJ\"\n[events]\nbuffer_reads = 1\n", "a cost is a table"},
        Refused{"unit = \"pJ\"\n[events]\nbuffer_reads = { cost = -1, source = \"x\" }\n", "a number from 0"},
        Refused{"unit = \"pJ\"\n[events]\nbuffer_reads = { cost = \"1\", source = \"x\" }\n", "a number from 0"},
        Refused{"unit = \"pJ\"\n[events]\nbuffer_reads = { source = \"x\" }\n", "missing"},
        Refused{"unit = \"pJ\"\n[events]\nbuffer_read = { cost = 1, source = \"x\" }\n", "buffer_reads"},
        Refused{"unit = \"pJ\"\n[event]\nbuffer_reads = { cost = 1, source = \"x\" }\n", "events"},
        Refused{"[events]\nbuffer_reads = { cost = 1, source = \"x\" }\n", "unit"},
        Refused{"unit = \"pJ\"\n", "events"},
        Refused{"unit = \"pJ\"\n[events]\nbuffer_reads = { cost = 1, source = \"x\" }\n[areas]\nswitches = { cost = 1, "
                "source = \"x\" }\n",
                "area_unit"}}) {
    try {
      static_cast<void>(read_costs(write_table(refused.text)));
      ADD_FAILURE() << "was taken: " << refused.text;
    } catch (const ConfigError& error) {
      const std::string said = error.what();
      EXPECT_NE(said.find(refused.part), std::string::npos) << said;
      EXPECT_NE(said.find("energy_Refuses"), std::string::npos) << "does not name the file: " << said;
    }
  }
}

TEST(Energy, IsCheckedBeforeTheRun) {
  EXPECT_THROW(static_cast<void>(check(experiment_of(kMesh, {"run.energy=no-such-file.toml"}))), ConfigError);
  const std::string table = write_table("unit = \"pJ\"\n[events]\n" + cost("buffer_reads", "1"));
  EXPECT_THROW(static_cast<void>(check(experiment_of(
                   "topology = { name = \"hypercube\", degree = 3 }\nswitch = \"ideal\"\nrouting = \"ecube\"\n"
                   "traffic = { name = \"uniform\", load = 0.1 }\n",
                   {"run.energy=" + table}))),
               ConfigError);
}

}  // namespace
}  // namespace banyan::api::energy_test
