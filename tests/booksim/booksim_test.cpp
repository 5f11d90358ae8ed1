// Do BookSim2's configurations mean the same here, and is everything said that does not?
#include "banyan/booksim/booksim.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "banyan/booksim/keys.hpp"
#include "support/repository.hpp"

namespace banyan::booksim::booksim_test {
namespace {

using Kind = Remark::Kind;

Conversion convert_text(const std::string& text) { return convert(read_settings(text, "test"), "test"); }

Conversion convert_file(const std::string& name) {
  const std::string file = "tests/booksim/" + name;
  return convert(read_settings(test::read_file(test::repository_root() / file), file), file);
}

api::Experiment experiment_of(const Conversion& conversion) {
  return api::read_experiments_text(conversion.toml, "converted", {}).points.front();
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
  EXPECT_EQ(elements_of(settings[1].value, {}), (std::vector<std::string>{"uniform", "hotspot({1,2})"}));
  EXPECT_EQ(elements_of("{{1,5},2}", {}), (std::vector<std::string>{"{1,5}", "2"}));
  EXPECT_THROW(static_cast<void>(elements_of("{1,2},{3,4}", {})), ConfigError);
  EXPECT_EQ(elements_of("3", {}), (std::vector<std::string>{"3"}));
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

TEST(BookSim, VectorsWhoseBracesDoNotMatchAreRefusedWithTheirLine) {
  for (const char* text :
       {"traffic = hotspot({1,2},{3,4});", "traffic = background({1},{2});", "traffic = {uniform},{uniform};",
        "packet_size = {1},{2};", "packet_size = {{1}},{2};", "packet_size = {{1,2}}; packet_size_rate = {1},{2};",
        "injection_rate = {0.1},{0.2};", "injection_process = on_off({1},{2});", "vc_allocator = islip({1},{2});",
        "sw_allocator = islip({1},{2});"}) {
    const std::string words = refusal(std::string(kMesh) + "\nk = 4; n = 2;\n" + text);
    EXPECT_NE(words.find("test:3"), std::string::npos) << text << ": " << words;
    EXPECT_NE(words.find("is no vector"), std::string::npos) << text << ": " << words;
  }
}

TEST(BookSim, ValuesThatATerminalWouldObeyAreRefused) {
  for (const auto& [value, words] : {std::pair{"a\x1b[31m", "U+001B"},
                                     {"a\xc2\x9b", "U+009B"},
                                     {"a\xff", "no UTF-8"},
                                     {"a\xe2\x80\xae", "U+202E"}}) {
    const std::string said = refusal(std::string(kMesh) + "topology = " + value + ";");
    EXPECT_NE(said.find(words), std::string::npos) << said;
    EXPECT_EQ(said.find(value), std::string::npos) << "is shown as it is";
  }
  EXPECT_EQ(refusal("\xe2\x80\xae = 4;").find("\xe2\x80\xae"), std::string::npos);
  EXPECT_EQ(read_settings("// \xff \x1b\nk = 4; // \xe2\x80\xae\n", "test").size(), 1U);
}

TEST(BookSim, DefaultsAreThoseOfBookSim2) {
  const api::Experiment e = experiment_of(convert_text(kMesh));
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
  const api::Experiment e = experiment_of(c);
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
  const api::Experiment e = experiment_of(convert_file("torus"));
  EXPECT_EQ(e.topology.integers("latency"), std::vector<i64>{2});
  EXPECT_EQ(e.traffics[0].text("pattern"), "tornado");
  EXPECT_DOUBLE_EQ(e.traffics[0].real("burst"), 10.0);
  EXPECT_DOUBLE_EQ(e.traffics[0].real("pause"), 20.0);
}

TEST(BookSim, RequestsAndRepliesAreMapped) {
  const Conversion c = convert_file("requests");
  EXPECT_TRUE(c.complete());
  EXPECT_EQ(remarks_on(c, "use_read_write"), std::vector{Kind::differs});
  EXPECT_EQ(remarks_on(c, "read_request_begin_vc"), std::vector{Kind::differs}) << "2 virtual channels, not 8";
  const api::Experiment e = experiment_of(c);
  EXPECT_EQ(e.traffics[0].integers("sizes"), (std::vector<i64>{1, 5}));
  EXPECT_EQ(e.traffics[0].integers("reply_size"), (std::vector<i64>{5, 1}));
  EXPECT_DOUBLE_EQ(e.traffics[0].real("load"), 0.02 * 2);
  EXPECT_EQ(e.routing.text("up"), "random");
}

TEST(BookSim, RequestsAndRepliesKeepToTheirVirtualChannels) {
  const Conversion c = convert_text(std::string(kMesh) + "use_read_write = 1; num_vcs = 16; injection_rate = 0.01;");
  EXPECT_EQ(remarks_on(c, "read_request_begin_vc"), std::vector{Kind::differs}) << "reads 0 to 5, writes 2 to 7";
  const api::Experiment e = experiment_of(c);
  EXPECT_EQ(e.traffics[0].integers("vc_range"), (std::vector<i64>{0, 7}));
  EXPECT_EQ(e.traffics[0].integers("reply_vc_range"), (std::vector<i64>{8, 15}));
}

TEST(BookSim, SubnetworksAreMapped) {
  const std::string requests =
      std::string(kMesh) + "use_read_write = 1; subnets = 2; read_reply_subnet = 1; write_reply_subnet = 1;";
  const api::Experiment e = experiment_of(convert_text(requests));
  EXPECT_EQ(e.topology.integer("subnetworks"), 2);
  EXPECT_EQ(e.traffics.front().integer("subnetwork"), 0);
  EXPECT_EQ(e.traffics.front().integer("reply_subnetwork"), 1);
  const api::Experiment any = experiment_of(convert_text(std::string(kMesh) + "subnets = 3;"));
  EXPECT_EQ(any.topology.integer("subnetworks"), 3);
  EXPECT_EQ(any.traffics.front().integer("subnetwork"), -1);
  const Conversion apart = convert_text(requests + "write_request_subnet = 1;");
  EXPECT_EQ(remarks_on(apart, "write_request_subnet"), std::vector<Kind>{Kind::unmapped});
  EXPECT_FALSE(convert_text(requests + "read_reply_subnet = 2;").complete());
}

TEST(BookSim, PrioritiesAreThoseOfClassesOrAges) {
  const std::string classes = std::string(kMesh) + "classes = 2; class_priority = {0, 3}; priority = class; ";
  const Conversion of_classes =
      convert_text(classes + "vc_allocator = separable_input_first; sw_allocator = wavefront;");
  EXPECT_EQ(experiment_of(of_classes).traffics[0].integer("priority"), 0);
  EXPECT_EQ(experiment_of(of_classes).traffics[1].integer("priority"), 3);
  EXPECT_TRUE(remarks_on(of_classes, "priority").empty());
  const api::Experiment answered = experiment_of(convert_text(classes + "use_read_write = 1;"));
  EXPECT_EQ(answered.traffics[1].integer("reply_priority"), 3);
  EXPECT_EQ(remarks_on(convert_text(classes), "priority"), std::vector<Kind>{Kind::differs});  // islip
  const std::string separable =
      std::string(kMesh) + "vc_allocator = separable_input_first; sw_allocator = separable_output_first; ";
  EXPECT_EQ(experiment_of(convert_text(separable + "priority = age;")).switching.text("arbiter"), "age");
  EXPECT_EQ(experiment_of(convert_text(separable)).switching.text("arbiter"), "round_robin");
  EXPECT_EQ(remarks_on(convert_text(std::string(kMesh) + "priority = age;"), "priority"),
            std::vector<Kind>{Kind::differs});
  EXPECT_EQ(remarks_on(convert_text(separable + "sw_allocator = islip; priority = age;"), "priority"),
            std::vector<Kind>{Kind::unmapped});
  EXPECT_EQ(remarks_on(convert_text(separable + "priority = hop_count;"), "priority"),
            std::vector<Kind>{Kind::unmapped});
  EXPECT_FALSE(convert_text(classes + "class_priority = {0, 300};").complete());
}

TEST(BookSim, ABatchEndsWithItsLastPacket) {
  const api::Result result = run(experiment_of(convert_file("batch")));
  EXPECT_EQ(result.verdict, api::Verdict::finished);
  // Three batches would be equal: nothing of a permutation on one path per pair is random.
  EXPECT_EQ(result.at("deterministic").mean, 1.0);
  EXPECT_EQ(result.at("delivered_packets").mean, 50 * 16);
}

TEST(BookSim, EveryExampleRuns) {
  for (const char* name : {"mesh", "torus", "requests"}) {
    const api::Result result = run(experiment_of(convert_file(name)));
    EXPECT_EQ(result.verdict, api::Verdict::steady) << name;
  }
}

TEST(BookSim, AFlattenedButterflyKeepsItsNumbersAndLengths) {
  const Conversion c = convert_text(
      "topology = flatfly; k = 4; n = 2; c = 4; x = 4; y = 4; xr = 2; yr = 2; routing_function = ran_min;");
  EXPECT_TRUE(c.complete());
  const std::vector<std::string> lines = experiment_of(c).topology.texts("lines");
  const auto has = [&](const std::string& line) { return std::find(lines.begin(), lines.end(), line) != lines.end(); };
  EXPECT_EQ(lines.size(), 16U + 64 + 16 * 6 / 2);
  EXPECT_TRUE(has("terminal node10 router1 latency=1")) << "third of the second row of the chip";
  EXPECT_TRUE(has("link router4 router7 latency=6"));
  EXPECT_TRUE(has("link router2 router14 latency=6"));
  EXPECT_FALSE(has("link router2 router7 latency=4"));
}

TEST(BookSim, TwoOrdersOfTheDimensionsOfAFlattenedButterflyAreO1turn) {
  const std::string flat =
      "topology = flatfly; k = 4; n = 2; c = 4; x = 4; y = 4; xr = 2; yr = 2; use_noc_latency = 0; "
      "num_vcs = 4; injection_rate = 0.2; packet_size = 2; ";
  for (const auto& [function, choice] : {std::pair("xyyx", "random"), std::pair("adaptive_xyyx", "adaptive")}) {
    const Conversion c = convert_text(flat + "routing_function = " + function + ";");
    EXPECT_TRUE(c.complete());
    EXPECT_EQ(remarks_on(c, "topology"), std::vector<Kind>{Kind::differs}) << "terminals have other numbers";
    const api::Experiment e = experiment_of(c);
    EXPECT_EQ(e.topology.component(), "hyperx");
    EXPECT_EQ(e.routing.component(), "o1turn");
    EXPECT_EQ(e.routing.text("choice"), choice);
    EXPECT_EQ(run(e).verdict, api::Verdict::steady);
  }
  EXPECT_EQ(remarks_on(convert_text("topology = flatfly; k = 4; n = 2; c = 4; x = 4; y = 4; xr = 2; yr = 2; "
                                    "routing_function = xyyx;"),
                       "use_noc_latency"),
            std::vector<Kind>{Kind::unmapped});
}

TEST(BookSim, ADragonflyIsBalanced) {
  const api::Experiment e = experiment_of(convert_text(
      "topology = dragonflynew; k = 2; n = 1; routing_function = min; num_vcs = 2; traffic = bad_dragon;"));
  EXPECT_EQ(e.topology.integer("terminals_per_router"), 2);
  EXPECT_EQ(e.topology.integer("routers_per_group"), 4);
  EXPECT_EQ(e.topology.integer("global_ports"), 2);
  EXPECT_EQ(e.topology.integer("global_latency"), 100);
  EXPECT_EQ(e.traffics[0].integer("group_size"), 8);
}

TEST(BookSim, ANetworkOfItsOwnFileIsRead) {
  const std::string file = (test::repository_root() / "tests/booksim/any").string();
  const Conversion c = convert(read_settings(test::read_file(file), file), file);
  EXPECT_TRUE(c.complete());
  const api::Experiment e = experiment_of(c);
  EXPECT_EQ(
      e.topology.texts("lines"),
      (std::vector<std::string>{"switch router0", "switch router1", "terminal node0 router0 latency=1",
                                "terminal node1 router0 latency=3", "terminal node2 router1 latency=1",
                                "link router0 router1 latency=5 one_way", "link router1 router0 latency=1 one_way"}));
  EXPECT_EQ(run(e).verdict, api::Verdict::steady);
}

TEST(BookSim, AnUnknownKeyIsNamedWithTheNearest) {
  const Conversion c = convert_text(std::string(kMesh) + "num_vc = 4;");
  EXPECT_FALSE(c.complete());
  ASSERT_EQ(remarks_on(c, "num_vc"), std::vector{Kind::unmapped});
  EXPECT_NE(c.remarks.front().reason.find("num_vcs"), std::string::npos);
  EXPECT_EQ(to_text(c.remarks.front()).find("test:1: num_vc = 4: not mapped: "), 0U);
}

TEST(BookSim, AMisspeltValueIsNamedWithTheNearest) {
  const auto reason = [](const std::string& text) { return convert_text(text).remarks.front().reason; };
  EXPECT_NE(reason(std::string(kMesh) + "traffic = tornadoo;").find("did you mean \"tornado\"?"), std::string::npos);
  EXPECT_NE(reason("topology = mish; routing_function = dor;").find("did you mean \"mesh\"?"), std::string::npos);
  EXPECT_NE(reason("topology = mesh; routing_function = xyyx;").find("did you mean \"xy_yx\"?"), std::string::npos);
  EXPECT_EQ(reason("topology = mesh; routing_function = nca;").find("did you mean"), std::string::npos);
}

TEST(BookSim, ErrorsOfTheExperimentAreThoseOfSettings) {
  const Conversion c = convert_text("topology = mesh;\nrouting_function = dor;\nnum_vcs = 4;\n");
  // Every origin points at the name of what it made.
  std::vector<std::string> lines{""};
  for (const char character : c.toml) {
    if (character == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += character;
    }
  }
  bool seen = false;
  for (const Origin& origin : c.origins) {
    ASSERT_LE(origin.line, lines.size());
    const std::string rest = lines[origin.line - 1].substr(origin.column - 1);
    ASSERT_FALSE(rest.empty());
    if (origin.setting.key != "num_vcs") continue;
    EXPECT_EQ(rest.find("vcs = 4"), 0U) << rest;
    EXPECT_EQ(origin.setting.where.line, 3U);
    seen = true;
    const ConfigError error({"test", origin.line, origin.column + 6, "switch.vcs"}, "too few", "use more");
    EXPECT_STREQ(in_terms_of_settings(error, c, "test").what(),
                 ConfigError({"test", 3, 1, ""}, "num_vcs = 4: switch.vcs: too few", "use more").what());
    const ConfigError elsewhere({"other", origin.line, 1, ""}, "gone", "look");
    EXPECT_STREQ(in_terms_of_settings(elsewhere, c, "test").what(), elsewhere.what());
  }
  EXPECT_TRUE(seen);
  const ConfigError header({"test", 1, 1, ""}, "odd", "look");
  EXPECT_NE(std::string(in_terms_of_settings(header, c, "test").what()).find("line 1 of the experiment"),
            std::string::npos);
}

TEST(BookSim, WhatCannotBeSaidIsSaid) {
  const auto unmapped = [](const std::string& setting) {
    const Conversion c = convert_text(kMesh + setting + ";");
    const std::string key = setting.substr(0, setting.find(' '));
    const auto kinds = remarks_on(c, key);
    return std::find(kinds.begin(), kinds.end(), Kind::unmapped) != kinds.end() && !c.complete();
  };
  for (const char* setting : {"router = chaos", "link_failures = 2", "priority = hop_count", "subnets = 0",
                              "traffic = hotspot", "vc_allocator = best", "noq = 1", "seed = time",
                              "output_buffer_size = 0", "sim_power = 1", "injection_process = poisson"}) {
    EXPECT_TRUE(unmapped(setting)) << setting;
  }
}

/// A word where a number belongs is named with its key and line, not by whoever reads the experiment.
TEST(BookSim, TargetsOfHotSpotsAreNumbers) {
  for (const char* traffic : {"hotspot(sx)", "hotspot({{1,x}})", "hotspot({{1,2},{3,x}})"}) {
    try {
      static_cast<void>(convert_text(std::string(kMesh) + "traffic = " + traffic + ";"));
      ADD_FAILURE() << traffic;
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.cause().rfind("traffic is ", 0), 0U) << error.cause();
      EXPECT_NE(error.where().line, 0U);
    }
  }
}

TEST(BookSim, WhatNobodyReadsHasAReason) {
  for (const Remark& remark : convert_text("topology = blob; k = 4; n = 2;").remarks) {
    EXPECT_NE(remark.reason, "") << to_text(remark);
  }
}

TEST(BookSim, PimDrawsInAsManyIterationsAsItsParenthesesSay) {
  const Conversion c = convert_text(std::string(kMesh) + "vc_allocator = pim; sw_allocator = pim(3); alloc_iters = 2;");
  EXPECT_TRUE(c.complete());
  EXPECT_TRUE(remarks_on(c, "vc_allocator").empty());
  const api::Experiment e = experiment_of(c);
  EXPECT_EQ(e.switching.text("vc_allocator"), "pim_offset");
  EXPECT_EQ(e.switching.integer("vc_alloc_iterations"), 1);
  EXPECT_EQ(e.switching.text("sw_allocator"), "pim_offset");
  EXPECT_EQ(e.switching.integer("sw_alloc_iterations"), 3);
  EXPECT_EQ(run(e).verdict, api::Verdict::steady);
  EXPECT_EQ(remarks_on(convert_text(std::string(kMesh) + "sw_allocator = pim; priority = class;"), "priority"),
            std::vector<Kind>{Kind::differs});
}

/// BookSim2's dest(): rows of xr x k terminals.
TEST(BookSim, BadpermYarcIsRowsThatSendToColumns) {
  const std::string flat =
      "topology = flatfly; k = 4; n = 2; c = 4; x = 4; y = 4; xr = 2; yr = 2; routing_function = ran_min; ";
  const Conversion c = convert_text(flat + "traffic = badperm_yarc;");
  EXPECT_TRUE(c.complete());
  EXPECT_TRUE(remarks_on(c, "traffic").empty());
  const api::Experiment e = experiment_of(c);
  EXPECT_EQ(e.traffics[0].component(), "row_to_column");
  EXPECT_EQ(e.traffics[0].integer("row"), 8);
  EXPECT_TRUE(e.traffics[0].flag("include_self"));
  EXPECT_EQ(run(e).verdict, api::Verdict::steady);
  const Conversion given =
      convert_text("topology = mesh; k = 8; n = 2; routing_function = dor; traffic = badperm_yarc({4,2,1});");
  EXPECT_EQ(experiment_of(given).traffics[0].integer("row"), 4);
  for (const char* none : {"topology = mesh; k = 8; n = 1; routing_function = dor; traffic = badperm_yarc;",
                           "topology = mesh; k = 8; n = 2; routing_function = dor; traffic = badperm_yarc({3,2,1});",
                           "topology = mesh; k = 8; n = 2; routing_function = dor; traffic = badperm_yarc({8,2,2});"}) {
    EXPECT_EQ(remarks_on(convert_text(none), "traffic"), std::vector<Kind>{Kind::unmapped}) << none;
  }
}

TEST(BookSim, ANetworkThatDoesNotExistHereLeavesNoExperiment) {
  EXPECT_TRUE(convert_text("topology = hypercube; routing_function = nca;").toml.empty());
  EXPECT_TRUE(convert_text("topology = torus; routing_function = valiant;").toml.empty());
  EXPECT_TRUE(convert_text("num_vcs = 4;").toml.empty()) << "a fragment: BookSim2's default routing does not exist";
}

TEST(BookSim, WhatMeansSomethingElseHereIsAnnounced) {
  struct Case {
    std::string settings;
    std::string key;
    std::string words;  ///< of the reason
  };
  const std::string mesh = "topology = mesh; k = 4; ";
  const std::string flat = "topology = flatfly; k = 4; c = 4; x = 4; y = 4; xr = 2; yr = 2; ";
  const std::string dragon = "topology = dragonflynew; k = 2; n = 1; num_vcs = 3; ";
  for (const Case& c : std::vector<Case>{
           {mesh + "routing_function = valiant; num_vcs = 3;", "num_vcs", "use the middle one"},
           {"topology = torus; routing_function = dim_order; num_vcs = 5;", "num_vcs", "use the middle one"},
           {flat + "n = 3; use_noc_latency = 0; routing_function = ugal;", "routing_function",
            "no farther from either end"},
           {mesh + "routing_function = planar_adapt;", "routing_function", "both directions at once"},
           {mesh + "routing_function = min_adapt;", "routing_function", "escape channel"},
           {dragon + "routing_function = ugal;", "routing_function", "can deadlock"},
           {"topology = tree4; k = 4; n = 3; routing_function = anca;", "routing_function", "all channels up at once"},
           {"topology = mesh; k = 6; routing_function = dor; traffic = transpose;", "traffic", "36 terminals"},
           {"topology = mesh; k = 6; routing_function = dor; traffic = bitcomp;", "traffic", "36 terminals"},
           {"topology = mesh; k = 2; n = 3; routing_function = dor; traffic = transpose;", "traffic", "8 terminals"},
           {mesh + "routing_function = dor; sw_alloc_delay = 2;", "sw_alloc_delay", "assertion"},
           {mesh + "routing_function = dor; sim_type = batch;", "sim_type", "batch"},
           {mesh + "routing_function = dor; sim_count = 3;", "sim_count", "as long as all of them"}}) {
    const Conversion conversion = convert_text(c.settings);
    EXPECT_TRUE(conversion.complete()) << c.settings;
    bool said = false;
    for (const Remark& r : conversion.remarks) {
      if (r.setting.key != c.key || r.kind != Kind::differs) continue;
      said = said || r.reason.find(c.words) != std::string::npos;
    }
    EXPECT_TRUE(said) << c.settings;
  }
  EXPECT_EQ(remarks_on(convert_text(std::string(kMesh) + "output_buffer_size = 4;"), "output_buffer_size"),
            std::vector{Kind::no_effect});
  EXPECT_TRUE(convert_text(std::string(kMesh) + "traffic = transpose;").remarks.empty());
}

/// Whatever key is given another value, and in whatever kind of simulation: a remark on it has words.
TEST(BookSim, EveryRemarkHasAReason) {
  for (const char* mode : {"", "sim_type = batch; batch_size = 10;", "sim_type = throughput;", "use_read_write = 1;"}) {
    u32 remarks = 0;
    for (const Key& key : keys()) {
      if (key.fallback.empty() || std::string(mode).find(key.name) != std::string::npos) continue;
      const bool number = key.fallback.find_first_not_of("-.0123456789") == std::string::npos;
      const std::string other = !number ? std::string(key.fallback) : key.fallback == "1" ? "2" : "1";
      Conversion conversion;
      try {
        conversion = convert_text(std::string(kMesh) + mode + std::string(key.name) + " = " + other + ";");
      } catch (const ConfigError&) { continue; }  // refused, with words of its own
      for (const Remark& r : conversion.remarks) {
        EXPECT_FALSE(r.reason.empty()) << mode << " " << key.name << " = " << other << ": " << r.setting.key;
        ++remarks;
      }
    }
    EXPECT_GT(remarks, 30U) << mode;
  }
}

/// What means the same is not announced, so that remarks keep their weight.
TEST(BookSim, RoutingFunctionsThatAreTheSameNeedNoRemark) {
  const std::string flat = "topology = flatfly; k = 4; n = 2; c = 4; x = 4; y = 4; xr = 2; yr = 2; ";
  for (const std::string& settings :
       {std::string("topology = mesh; k = 4; routing_function = valiant;"), flat + "routing_function = valiant;",
        flat + "routing_function = ugal;", std::string("topology = mesh; num_vcs = 3; routing_function = dor;"),
        std::string("topology = mesh; routing_function = dor; vc_buf_size = 2; packet_size = 3;")}) {
    const Conversion conversion = convert_text(settings);
    EXPECT_TRUE(conversion.remarks.empty()) << settings << conversion.toml;
    static_cast<void>(experiment_of(conversion));
  }
}

TEST(BookSim, StagesOfSeveralCyclesDoNotOverlap) {
  for (const char* stage : {"routing_delay", "vc_alloc_delay", "sw_alloc_delay", "st_prepare_delay"}) {
    const api::Experiment e = experiment_of(convert_text(std::string(kMesh) + stage + " = 2;"));
    EXPECT_FALSE(e.switching.flag("overlapping_stages")) << stage;
  }
  EXPECT_TRUE(experiment_of(convert_text(kMesh)).switching.flag("overlapping_stages"));
}

TEST(BookSim, WhatBookSim2PrintsStandsBesideEveryLatency) {
  api::Result result;
  for (const char* name :
       {"packet_latency", "network_latency", "packet_latency.uniform", "packet_latency_p95", "hops"}) {
    stats::Metric& metric = result.metrics.emplace_back();
    metric.name = name;
    metric.mean = 20.0;
    metric.half_width = 0.5;
  }
  const auto names_of = [](const api::Result& r) {
    std::vector<std::string> names;
    for (const stats::Metric& metric : r.metrics) names.push_back(metric.name);
    return names;
  };
  api::Result finished = result;
  finished.verdict = api::Verdict::finished;
  add_printed_latencies(result);
  EXPECT_EQ(names_of(result),
            (std::vector<std::string>{"packet_latency", "booksim2_packet_latency", "network_latency",
                                      "booksim2_network_latency", "packet_latency.uniform",
                                      "booksim2_packet_latency.uniform", "packet_latency_p95", "hops"}));
  EXPECT_EQ(result.at("booksim2_packet_latency").mean, 21.0);
  EXPECT_EQ(result.at("booksim2_packet_latency").half_width, 0.5);
  EXPECT_EQ(result.at("packet_latency").mean, 20.0);
  add_printed_latencies(finished);
  EXPECT_EQ(finished.find("booksim2_packet_latency"), nullptr) << "the packets of a batch wait elsewhere";
  EXPECT_NE(finished.find("booksim2_network_latency"), nullptr);
}

/// What BookSim2 (its repository's state of 2021, -O3) printed for configurations, the mean of three seeds.
struct Printed {
  std::string settings;
  double latency;
};

TEST(BookSim, LatenciesAreThoseThatBookSim2Prints) {
  const std::string mesh = "topology = mesh; k = 4; n = 2; routing_function = dor; num_vcs = 4; injection_rate = 0.4; ";
  const std::string flat =
      "topology = flatfly; k = 4; n = 2; c = 4; x = 4; y = 4; xr = 2; yr = 2; num_vcs = 8; sample_period = 2000; ";
  const std::string five = "packet_size = 5; injection_rate_uses_flits = 1; ";
  for (const Printed& printed : std::vector<Printed>{
           {mesh + "internal_speedup = 2.0;", 13.33},
           {mesh + "internal_speedup = 1.5;", 16.73},
           {mesh + "vc_allocator = loa; sw_allocator = loa;", 22.33},
           {mesh + "vc_allocator = select; sw_allocator = select;", 20.98},
           {mesh + "internal_speedup = 3.0; routing_delay = 0;", 9.53},
           {mesh + "internal_speedup = 1.5; routing_delay = 0;" + five, 21.53},
           {mesh + "internal_speedup = 2.0; routing_delay = 2; st_final_delay = 2;", 20.66},
           {mesh + "routing_delay = 3;", 52.35},
           {mesh + "st_final_delay = 2;", 26.85},
           {mesh + "st_final_delay = 3; routing_delay = 0;" + five, 39.46},
           {mesh + "output_speedup = 2; output_buffer_size = 2;" + five, 29.41},
           {"topology = cmesh; k = 4; n = 2; c = 4; xr = 2; yr = 2; x = 4; y = 4; routing_function = dor;", 21.22},
           {"topology = tree4; k = 4; n = 3; routing_function = nca;", 24.74},
           {"topology = fattree; k = 4; n = 2; routing_function = anca; num_vcs = 4; injection_rate = 0.4;", 15.92},
           {"topology = mesh; k = 4; n = 2; routing_function = valiant; num_vcs = 8; injection_rate = 0.3;", 36.93},
           {"topology = flatfly; k = 4; n = 2; x = 4; y = 4; routing_function = ran_min; num_vcs = 2; vc_buf_size = 2; "
            "wait_for_tail_credit = 1; injection_rate = 0.2;",
            19.27},
           {"topology = mesh; k = 4; n = 2; routing_function = dor; num_vcs = 8; vc_buf_size = 2; packet_size = 3; "
            "injection_rate_uses_flits = 1; injection_rate = 0.2;",
            27.75},
           {flat + "routing_function = valiant; injection_rate = 0.25;", 30.35},
           {flat + "routing_function = ugal; injection_rate = 0.45;", 22.35},
           {"topology = mesh; k = 8; n = 2; routing_function = adaptive_xy_yx; traffic = transpose;", 33.63},
           {"topology = mesh; k = 4; n = 2; routing_function = dor; traffic = background({1,2,3,0});", 19.58}}) {
    api::Result result = run(experiment_of(convert_text(printed.settings)));
    add_printed_latencies(result);
    const double latency = result.at("booksim2_packet_latency").mean;
    EXPECT_NEAR(latency, printed.latency, 0.02 * printed.latency) << printed.settings;
  }
}

TEST(BookSim, TreesKeepTheirShape) {
  const auto count = [](const Conversion& c, const std::string& word) {
    u64 found = 0;
    const api::Experiment e = experiment_of(c);
    for (const std::string& line : e.topology.texts("lines")) found += line.starts_with(word) ? 1U : 0U;
    return found;
  };
  const Conversion tree = convert_text("topology = qtree; k = 4; n = 3; routing_function = nca; sample_period = 100;");
  EXPECT_EQ(count(tree, "switch"), 16U + 4 + 1);
  EXPECT_EQ(count(tree, "link"), 16U + 4);
  const Conversion fat = convert_text("topology = tree4; k = 4; n = 3; routing_function = nca; sample_period = 100;");
  EXPECT_EQ(count(fat, "switch"), 16U + 8 + 4);
  EXPECT_EQ(count(fat, "link"), 32U + 32);
  EXPECT_TRUE(convert_text("topology = qtree; k = 2; n = 3; routing_function = nca;").toml.empty());
}

TEST(BookSim, AConcentratedMeshNumbersItsTerminalsByRowsOfTheChip) {
  const std::string mesh = "topology = cmesh; k = 4; n = 2; c = 4; xr = 2; yr = 2; x = 4; y = 4; ";
  const auto has = [](const std::vector<std::string>& lines, const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  const api::Experiment plain = experiment_of(convert_text(mesh + "routing_function = dor_no_express;"));
  const api::Experiment express = experiment_of(convert_text(mesh + "routing_function = dor;"));
  const std::vector<std::string> lines = express.topology.texts("lines");
  EXPECT_TRUE(has(lines, "terminal node11 router1")) << "fourth of the second row of the chip";
  EXPECT_TRUE(has(lines, "link router0 router8 latency=4")) << "half of the left edge";
  EXPECT_TRUE(has(lines, "link router13 router15 latency=4")) << "half of the upper edge";
  EXPECT_EQ(lines.size(), 16U + 64 + 24 + 8);
  EXPECT_EQ(plain.topology.texts("lines").size(), 16U + 64 + 24);
  EXPECT_EQ(run(express).verdict, api::Verdict::steady);
  EXPECT_TRUE(convert_text(mesh + "routing_function = xy_yx;").toml.empty());
  EXPECT_TRUE(convert_text(mesh + "k = 3; routing_function = dor;").toml.empty());
  EXPECT_FALSE(convert_text(mesh + "c = 2; xr = 2; yr = 1; routing_function = dor;").complete());
}

TEST(BookSim, ABackgroundLeavesItsTerminalsOut) {
  const api::Experiment e = experiment_of(
      convert_text("topology = mesh; k = 2; n = 2; routing_function = dor; traffic = background({{1, 2}});"));
  EXPECT_EQ(e.traffics.front().component(), "hot_spot");
  EXPECT_EQ(e.traffics.front().integers("targets"), (std::vector<i64>{0, 3}));
  EXPECT_EQ(e.traffics.front().real("fraction"), 1.0);
  EXPECT_EQ(remarks_on(convert_text(std::string(kMesh) + "traffic = background({1, 2});"), "traffic"),
            std::vector{Kind::no_effect})
      << "BookSim2 reads the first argument only";
  EXPECT_FALSE(convert_text("topology = mesh; k = 2; n = 1; routing_function = dor; traffic = background({{0, 1}});")
                   .complete());
}

TEST(BookSim, DefaultsWrittenOutNeedNoRemark) {
  const Conversion c = convert_text(std::string(kMesh) + "subnets = 1; noq = 0; priority = none; link_failures = 0;");
  EXPECT_TRUE(c.remarks.empty());
}

TEST(BookSim, NumbersThatMeanNothingAreRefusedWhereTheyStand) {
  const auto expect = [](const std::string& text, const std::string& words) {
    EXPECT_NE(refusal(text).find(words), std::string::npos) << text << "\n" << refusal(text);
  };
  for (const char* topology : {"mesh", "torus", "flatfly", "fly"}) {
    const std::string begin = std::string("topology = ") + topology + ";\nk = 4;\n";
    expect(begin + "n = -2;", "test:3:1: n is -2");
    expect(begin + "n = 0;", "test:3:1: n is 0");
  }
  expect("topology = mesh;\nk = -4;\nn = 2;", "test:2:1: k is -4");
  expect("topology = mesh;\nsample_period = 0;", "test:2:1: sample_period is 0");
  expect("topology = mesh;\nrouter = iqq;", "test:2:1: BookSim2 has no router \"iqq\"");
  expect("topology = mesh;\nclasses = 0;", "test:2:1: classes is 0");
  expect("topology = mesh;\n  traffic = background({{99}});", "test:2:3: there is no terminal 99");
  expect("topology = mesh;\ntraffic = background({{-5}});", "test:2:1: there is no terminal -5");
  expect("packet_size={{1,5}};packet_size_rate={{0,0}};", "test:1:21: no size has a rate above 0");
  expect("packet_size={{1,5}};\npacket_size_rate={{-1,2}};", "test:2:1: the rate -1 is below 0");
  expect("injection_process = on_off(0.5,0.1);", "test:1:1: the arguments of on_off are not in braces");
  expect("burst_alpha = 0.3;\ninjection_process = on_off(x);", "test:2:1: injection_process is \"x\"");
  expect("traffic = hotspot(5)7;", "test:1:1: \"7\" stands behind the arguments of hotspot");
}

/// What is lost with a brace would be a number of the network.
TEST(BookSim, BracketsThatDoNotCloseAreRefused) {
  for (const char* value : {"{0.15", "{{1,5}", "hotspot({{5,12}", "hotspot({{5,9},{3,12}", "background({{5,16})",
                            "hotspot(5", "0.15}", "hotspot({5)}", "hotspot5)"}) {
    const std::string said = refusal(std::string("traffic = ") + value + ";");
    EXPECT_NE(said.find("test:1:"), std::string::npos) << value;
    EXPECT_TRUE(said.find("does not close its") != std::string::npos ||
                said.find("closes nothing") != std::string::npos)
        << value << ": " << said;
  }
}

}  // namespace
}  // namespace banyan::booksim::booksim_test
