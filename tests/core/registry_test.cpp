// Do remedies name all that has something, and nothing else?
#include "banyan/core/registry.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace banyan::core::registry_test
