// Do BookSim2's configurations mean the same here, and is everything said that does not?
#include "banyan/api/booksim.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "banyan/api/experiment.hpp"
#include "support/repository.hpp"

namespace banyan::api::booksim {
namespace {

using Kind = Remark::Kind;

Conversion convert_text(const std::string& text) { return convert(read_settings(text, "test"), "test"); }

Conversion convert_file(const std::string& name) {
  const std::string file = "tests/api/booksim/" + name;
  return convert(read_settings(test::read_file(test::repository_root() / file), file), file);
}

Experiment experiment_of(const Conversion& conversion) {
  return read_experiments_text(conversion.toml, "converted", {}).points.front();
}

/// Kinds of the remarks on a key.
std::vector<Kind> remarks_on(const Conversion& conversion, const std::string& key) {
  std::vector<Kind> kinds;
  for (const Remark& r : conversion.remarks) {
    if (r.setting.key == key) kinds.push_back(r.kind);
  }
  return kinds;
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(convert_text(text));
  } catch (const ConfigError& error) { return error.what(); }
  return "accepted";
}

constexpr const char* kMesh = "topology = mesh; routing_function = dor; ";

TEST(BookSim, ReadsCommentsVectorsAndLines) {
  const auto settings =
      read_settings("// no\nk = 4; // yes\ntraffic = {uniform,\n  hotspot({1, 2})};\nc=islip(4);", "f");
  ASSERT_EQ(settings.size(), 3U);
  EXPECT_EQ(settings[0].key, "k");
  EXPECT_EQ(settings[0].value, "4");
  EXPECT_EQ(settings[0].where.line, 2U);
  EXPECT_EQ(settings[1].value, "{uniform,hotspot({1,2})}");
  EXPECT_EQ(settings[2].where.line, 5U);
  EXPECT_EQ(elements_of(settings[1].value), (std::vector<std::string>{"uniform", "hotspot({1,2})"}));
  EXPECT_EQ(elements_of("{{1,5},2}"), (std::vector<std::string>{"{1,5}", "2"}));
  EXPECT_THROW(static_cast<void>(elements_of("{1,2},{3,4}")), ConfigError);
  EXPECT_EQ(elements_of("3"), (std::vector<std::string>{"3"}));
}

TEST(BookSim, WhatIsNoSettingIsRefusedWithItsLine) {
  EXPECT_NE(refusal("k = 4;\nn = 2").find("test:2"), std::string::npos);
  EXPECT_NE(refusal("k = 4\nn = 2;").find("semicolon"), std::string::npos);
  EXPECT_NE(refusal("k 4;").find("no \"=\""), std::string::npos);
  EXPECT_NE(refusal("= 4;").find("begins no setting"), std::string::npos);
  EXPECT_NE(refusal("k = ;").find("has no value"), std::string::npos);
  EXPECT_NE(refusal(std::string(kMesh) + "k = four;").find("k is \"four\""), std::string::npos);
  EXPECT_NE(refusal(std::string(kMesh) + "k = 4.5;").find("whole number"), std::string::npos);
}

TEST(BookSim, DefaultsAreThoseOfBookSim2) {
  const Experiment e = experiment_of(convert_text(kMesh));
  EXPECT_EQ(e.topology.integers("size"), (std::vector<i64>{8, 8}));
  EXPECT_EQ(e.switching.integer("vcs"), 16);
  EXPECT_EQ(e.switching.integer("buffer"), 8);
  EXPECT_EQ(e.switching.integer("routing_delay"), 1);
  EXPECT_EQ(e.switching.text("vc_allocator"), "islip");
  EXPECT_EQ(e.traffics.front().component(), "uniform");
  EXPECT_TRUE(e.traffics.front().flag("include_self"));
  EXPECT_EQ(e.traffics.front().real("load"), 0.1);
  EXPECT_EQ(e.run.integer("seed"), 0);
  EXPECT_EQ(e.run.integer("warmup"), 3000);
}

TEST(BookSim, EveryKindOfLineOfAMeshIsMapped) {
  const Conversion c = convert_file("mesh");
  EXPECT_TRUE(c.complete());
  EXPECT_EQ(remarks_on(c, "alloc_iters"), std::vector{Kind::no_effect});
  EXPECT_EQ(remarks_on(c, "watch_out"), std::vector{Kind::no_effect});
  EXPECT_EQ(remarks_on(c, "classes"), std::vector{Kind::differs});
  const Experiment e = experiment_of(c);
  EXPECT_EQ(e.switching.integer("vc_alloc_iterations"), 2);
  EXPECT_EQ(e.switching.text("sw_allocator"), "input_first");
  EXPECT_EQ(e.switching.integer("input_speedup"), 2);
  EXPECT_EQ(e.switching.integer("credit_delay"), 2);
  ASSERT_EQ(e.traffics.size(), 2U);
  EXPECT_EQ(e.traffics[0].integers("sizes"), (std::vector<i64>{1, 5}));
  EXPECT_DOUBLE_EQ(e.traffics[0].real("load"), 0.05 * 2) << "the mean of 1 and 5 flits, 3 to 1, is 2";
  EXPECT_EQ(e.traffics[1].component(), "hot_spot");
  EXPECT_EQ(e.traffics[1].integers("targets"), (std::vector<i64>{3, 5}));
  EXPECT_EQ(e.traffics[1].reals("rates"), (std::vector<double>{2, 1}));
  EXPECT_EQ(e.traffics[1].real("fraction"), 1.0);
  EXPECT_DOUBLE_EQ(e.traffics[1].real("load"), 0.04);
}

TEST(BookSim, BurstsHaveTheirMeanLengths) {
  const Experiment e = experiment_of(convert_file("torus"));
  EXPECT_EQ(e.topology.integers("latency"), std::vector<i64>{2});
  EXPECT_EQ(e.traffics[0].text("pattern"), "tornado");
  EXPECT_DOUBLE_EQ(e.traffics[0].real("burst"), 10.0);
  EXPECT_DOUBLE_EQ(e.traffics[0].real("pause"), 20.0);
}

TEST(BookSim, RequestsAndRepliesAreMapped) {
  const Conversion c = convert_file("requests");
  EXPECT_TRUE(c.complete());
  EXPECT_EQ(remarks_on(c, "use_read_write"), std::vector{Kind::differs});
  EXPECT_EQ(remarks_on(c, "read_request_end_vc"), std::vector{Kind::differs});
  const Experiment e = experiment_of(c);
  EXPECT_EQ(e.traffics[0].integers("sizes"), (std::vector<i64>{1, 5}));
  EXPECT_EQ(e.traffics[0].integers("reply_size"), (std::vector<i64>{5, 1}));
  EXPECT_DOUBLE_EQ(e.traffics[0].real("load"), 0.02 * 2);
  EXPECT_EQ(e.routing.text("up"), "random");
}

TEST(BookSim, ABatchEndsWithItsLastPacket) {
  const Result result = run(experiment_of(convert_file("batch")));
  EXPECT_EQ(result.verdict, Verdict::finished);
  EXPECT_EQ(result.at("delivered_packets").mean, 3 * 50 * 16);
}

TEST(BookSim, EveryExampleRuns) {
  for (const char* name : {"mesh", "torus", "requests"}) {
    const Result result = run(experiment_of(convert_file(name)));
    EXPECT_EQ(result.verdict, Verdict::steady) << name;
  }
}

TEST(BookSim, AnUnknownKeyIsNamedWithTheNearest) {
  const Conversion c = convert_text(std::string(kMesh) + "num_vc = 4;");
  EXPECT_FALSE(c.complete());
  ASSERT_EQ(remarks_on(c, "num_vc"), std::vector{Kind::unmapped});
  EXPECT_NE(c.remarks.front().reason.find("num_vcs"), std::string::npos);
  EXPECT_EQ(to_text(c.remarks.front()).find("test:1: num_vc = 4: not mapped: "), 0U);
}

TEST(BookSim, WhatCannotBeSaidIsSaid) {
  const auto unmapped = [](const std::string& setting) {
    const Conversion c = convert_text(kMesh + setting + ";");
    const std::string key = setting.substr(0, setting.find(' '));
    const auto kinds = remarks_on(c, key);
    return std::find(kinds.begin(), kinds.end(), Kind::unmapped) != kinds.end() && !c.complete();
  };
  for (const char* setting : {"router = chaos", "link_failures = 2", "subnets = 2", "priority = class",
                              "traffic = hotspot", "traffic = background({1})", "vc_allocator = select", "noq = 1",
                              "seed = time", "sim_count = 3", "sim_power = 1", "injection_process = poisson"}) {
    EXPECT_TRUE(unmapped(setting)) << setting;
  }
}

TEST(BookSim, ANetworkThatDoesNotExistHereLeavesNoExperiment) {
  EXPECT_TRUE(convert_text("topology = qtree; routing_function = nca;").toml.empty());
  EXPECT_TRUE(convert_text("topology = torus; routing_function = valiant;").toml.empty());
  EXPECT_TRUE(convert_text("num_vcs = 4;").toml.empty()) << "a fragment: BookSim2's default routing does not exist";
}

TEST(BookSim, DefaultsWrittenOutNeedNoRemark) {
  const Conversion c = convert_text(std::string(kMesh) + "subnets = 1; noq = 0; priority = none; link_failures = 0;");
  EXPECT_TRUE(c.remarks.empty());
}

}  // namespace
}  // namespace banyan::api::booksim
