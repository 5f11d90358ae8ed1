// Is the size of a network that its parameters tell the size of the network that is built?
#include "banyan/core/size.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>

#include "banyan/base/error.hpp"
#include "support/rows.hpp"

namespace banyan::test::size_test {
namespace {

void expect_size(const std::string& name, const Settings& given) {
  const core::TopologyRow& row = row_named(core::topology_rows(), name);
  const config::Values values = settings(row.info, given);
  ASSERT_NE(row.size, nullptr) << name;
  const core::NetworkSize size = row.size(values);
  const core::NetworkSize built = core::size_of(row.make(values)->graph());
  EXPECT_EQ(size.terminals, built.terminals) << name;
  EXPECT_EQ(size.switches, built.switches) << name;
  EXPECT_EQ(size.inputs, built.inputs) << name;
  EXPECT_EQ(size.channels, built.channels) << name;
  EXPECT_EQ(size.listed, row.make(values)->graph().wiring() == nullptr) << name;
  EXPECT_GT(size.passed, 0.5 * built.passed) << name;
  EXPECT_LT(size.passed, 2.0 * built.passed + 1.0) << name;
}

using Integers = std::vector<i64>;

TEST(NetworkSize, IsThatOfTheNetworkThatIsBuilt) {
  for (const char* grid : {"mesh", "torus"}) {
    expect_size(grid, {});
    expect_size(grid, {{"size", Integers{7}}});
    expect_size(grid, {{"size", Integers{5, 1, 2, 3}}, {"concentration", i64{3}}});
    expect_size(grid, {{"size", Integers{16, 16}}});
  }
  expect_size("hypercube", {});
  expect_size("hypercube", {{"degree", i64{1}}, {"concentration", i64{4}}});
  for (const char* cube : {"multistage_cube", "extra_stage_cube"}) {
    expect_size(cube, {});
    expect_size(cube, {{"terminals", i64{64}}, {"radix", i64{8}}});
    expect_size(cube, {{"terminals", i64{64}}, {"radix", i64{2}}});
  }
  expect_size("extra_stage_cube", {{"input_stage", std::string("bypassed")}});
  expect_size("extra_stage_cube", {{"output_stage", std::string("bypassed")}});
  expect_size("fat_tree", {});
  expect_size("fat_tree", {{"arity", i64{2}}, {"levels", i64{1}}});
  expect_size("fat_tree", {{"arity", i64{3}}, {"levels", i64{5}}});
  expect_size("xgft", {});
  expect_size("xgft", {{"children", Integers{3, 5, 2}}, {"parents", Integers{1, 4, 3}}});
  expect_size("bidirectional_min", {});
  expect_size("bidirectional_min", {{"hosts", i64{4}}, {"ports", i64{8}}});
  expect_size("bidirectional_min", {{"hosts", i64{32}}, {"ports", i64{8}}});
  expect_size("dragonfly", {});
  expect_size("dragonfly", {{"groups", i64{4}}});
  expect_size("dragonfly", {{"terminals_per_router", i64{3}}, {"routers_per_group", i64{5}}, {"global_ports", i64{3}}});
  expect_size("hyperx", {});
  expect_size("hyperx", {{"size", Integers{3, 4, 5}}, {"concentration", i64{2}}});
  for (const i64 q : {3, 4, 5, 7, 8, 9, 11}) expect_size("slim_fly", {{"q", q}});
  expect_size("slim_fly", {{"q", i64{5}}, {"concentration", i64{3}}});
}

RC_GTEST_PROP(NetworkSize, OfGridsOfAnyShape, ()) {
  Integers size;
  i64 switches = 1;
  for (u32 d = *rc::gen::inRange(1U, 5U); d > 0 && switches < 300; --d) {
    size.push_back(*rc::gen::inRange<i64>(1, 8));
    switches *= size.back();
  }
  const i64 concentration = *rc::gen::inRange<i64>(2, 4);
  for (const char* name : {"mesh", "torus", "hyperx"}) {
    if (std::string(name) == "hyperx" && switches < 2) continue;
    expect_size(name, {{"size", size}, {"concentration", concentration}});
  }
}

/// A topology of parameters alone has no excuse; a graph file is no larger than what was written down.
TEST(NetworkSize, EveryTopologyTellsIt) {
  for (const core::TopologyRow* row : core::topology_rows()) {
    EXPECT_EQ(row->size != nullptr, row->info.name != "graph_file")
        << "the row of " << row->info.name << " has no size";
  }
  for (const core::SwitchRow* row : core::switching_rows())
    EXPECT_NE(row->memory, nullptr) << "the row of " << row->info.name << " has no memory";
}

/// Values for a parameter, besides its default.
std::vector<config::Value> others(const config::Parameter& p) {
  std::vector<config::Value> values;
  const auto fits = [&](i64 v) { return static_cast<double>(v) >= p.low && static_cast<double>(v) <= p.high; };
  if (p.type == config::Type::integer) {
    for (const i64 v : {1, 2, 3, 4, 5, 16}) {
      if (fits(v)) values.emplace_back(v);
    }
  } else if (p.type == config::Type::integers) {
    for (const Integers& v : {Integers{2}, Integers{3, 4}, Integers{2, 3, 4}}) {
      if (std::all_of(v.begin(), v.end(), fits)) values.emplace_back(v);
    }
  } else if (p.type == config::Type::choice) {
    for (const std::string& v : p.choices) values.emplace_back(v);
  }
  return values;
}

/// Whoever adds a topology need not come here.
TEST(NetworkSize, IsThatOfEveryTopologyWhateverOneOfItsParametersIs) {
  for (const core::TopologyRow* row : core::topology_rows()) {
    if (row->size == nullptr) continue;
    expect_size(row->info.name, {});
    for (const config::Parameter& p : row->info.parameters) {
      if (p.name == "subnetworks") continue;  // size tells of one
      u32 built = 0;
      for (const config::Value& value : others(p)) {
        const Settings with{{p.name, value}};
        std::unique_ptr<core::Topology> topology;
        try {
          topology = row->make(settings(row->info, with));
        } catch (const ConfigError&) { continue; }
        SCOPED_TRACE(row->info.name + "." + p.name + ", value " + std::to_string(++built));
        if (p.name.find("fail") == std::string::npos && p.name != "faults") {
          expect_size(row->info.name, with);
        } else {  // the size is that of the whole network
          EXPECT_GE(row->size(settings(row->info, with)).channels, core::size_of(topology->graph()).channels);
        }
      }
    }
  }
}

TEST(NetworkSize, WhatNobodyCanBuildIsTold) {
  const core::TopologyRow& mesh = row_named(core::topology_rows(), "mesh");
  const auto size = mesh.size(settings(mesh.info, {{"size", Integers{16777216, 16777216, 16777216}}}));
  EXPECT_EQ(size.switches, std::pow(2.0, 72));
}

}  // namespace
}  // namespace banyan::test::size_test
