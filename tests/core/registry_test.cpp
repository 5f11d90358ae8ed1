// Do remedies name all that has something, and nothing else?
#include "banyan/core/registry.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "banyan/core/notification.hpp"
#include "support/rows.hpp"

namespace banyan::core::registry_test {
namespace {

TEST(Names, AreThoseOfTheRegistry) {
  EXPECT_EQ(switches_with([](const SwitchRow& row) { return row.info.name == "cioq"; }), "cioq");
  EXPECT_EQ(switches_with([](const SwitchRow&) { return false; }), "");
  EXPECT_EQ(admissions_with([](const AdmissionRow& row) { return row.info.name < "e"; }), "dcqcn or dctcp")
      << "none helps nobody";
  EXPECT_EQ(traffics_with([](const TrafficRow& row) { return row.info.name == "uniform"; }), "uniform");
}

TEST(Names, AreOfTopologiesByWhatTheyAre) {
  EXPECT_EQ(topologies_with([](const Topology& t) { return t.tree() != nullptr; }),
            "bidirectional_min, fat_tree or xgft");
  EXPECT_EQ(topologies_with([](const Topology& t) { return t.grid() != nullptr && t.grid()->is_mesh(); }),
            "hypercube or mesh");
  EXPECT_EQ(topologies_with([](const Topology& t) { return t.grid() != nullptr && t.grid()->is_torus(); }),
            "hypercube or torus");
  EXPECT_EQ(topologies_with([](const Topology& t) { return t.grid() != nullptr && t.grid()->is_hypercube(); }),
            "hypercube");
}

TEST(Names, AreOfRoutingsByWhatTheyDoOnSomeTopology) {
  EXPECT_EQ(routings_with([](const Routing& r) { return r.reads_pending(); }),
            "hot_section, isolated_background or isolated_hot_spot");
  EXPECT_EQ(routings_with([](const Routing& r) { return r.multicast_routes() != nullptr; }),
            "destination_tag, nearest_common_ancestor or up_down");
}

TEST(Names, AreOfTrafficsAndAdmissionsByWhatTheyAre) {
  EXPECT_EQ(traffics_with([](const Traffic& t) { return t.disturbance().from != kNever; }), "incast");
  EXPECT_EQ(admissions_with([](const Admission& a) { return dynamic_cast<const HearsSwitches*>(&a) != nullptr; }),
            "dcqcn or infiniband_cc");
}

TEST(Names, AreOfTopologiesWithTheirUsualRouting) {
  EXPECT_EQ(topologies_with([](const Topology& t, const Routing&) { return t.multistage() != nullptr; }),
            "extra_stage_cube or multistage_cube");
  EXPECT_EQ(topologies_with([](const Topology& t, const Routing& r) { return t.tree() != nullptr && !r.in_order(); }),
            "bidirectional_min, fat_tree or xgft");
  EXPECT_EQ(topologies_with([](const Topology& t, const Routing& r) { return t.tree() != nullptr && r.in_order(); }),
            "");
}

RoutingContext on(const Topology& topology) { return {.topology = &topology, .hot_spots = {}, .vcs = 8}; }

TEST(Names, OfRoutingsThatExistHereAreThoseThatAreMade) {
  for (const auto& [name, given] : std::vector<std::pair<std::string, test::Settings>>{
           {"mesh", {{"size", std::vector<i64>{3, 3}}}},
           {"mesh", {{"size", std::vector<i64>{3, 3}}, {"failed_links", std::vector<std::string>{"4 0"}}}},
           {"hypercube", {{"degree", i64{3}}}},
           {"multistage_cube", {{"terminals", i64{16}}, {"radix", i64{2}}}},
           {"fat_tree", {}}}) {
    const auto topology = test::topology(name, given);
    const std::string names = routings_on(on(*topology), "up_down") + ",";
    for (const RoutingRow* row : routing_rows()) {
      // What has nothing against deadlock is made, and no remedy.
      bool made = row->info.name != "up_down" && row->info.name != "fully_adaptive";
      try {
        if (made) static_cast<void>(row->make(config::Values::defaults(row->info), on(*topology)));
      } catch (const ConfigError&) { made = false; }
      const bool named = std::regex_search(names, std::regex("(^| )" + row->info.name + "(,| or )"));
      EXPECT_EQ(named, made) << row->info.name << " on " << name << ": " << names;
    }
  }
}

TEST(Names, OfRoutingsThatCanDeadlockAreThereWherePacketsHoldNothing) {
  const auto mesh = test::topology("mesh", {{"size", std::vector<i64>{3, 3}}});
  RoutingContext context = on(*mesh);
  EXPECT_EQ(routings_on(context, "up_down").find("fully_adaptive"), std::string::npos);
  context.free_first_step = true;
  EXPECT_NE(routings_on(context, "up_down").find("fully_adaptive"), std::string::npos);
}

TEST(Names, OfRoutingsAreLeftOutWhereOneOfThemAsksInItsTurn) {
  const auto mesh = test::topology("mesh", {{"size", std::vector<i64>{3, 3}}});
  RoutingContext context = on(*mesh);
  context.for_remedy = true;
  EXPECT_EQ(routings_on(context, "up_down"), "");
  const auto large = test::topology("mesh", {{"size", std::vector<i64>{65, 64}}});
  EXPECT_EQ(routings_on(on(*large), "up_down"), "") << "nobody waits for an error until all of them are built";
}

}  // namespace
}  // namespace banyan::core::registry_test
