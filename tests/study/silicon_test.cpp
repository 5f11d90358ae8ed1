// Does the study of a chip's networks read its traces, replay them closed, and give what the constants say where nobody
// is in the way?
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "../../studies/silicon/report.hpp"
#include "banyan/base/error.hpp"
#include "banyan/report/study_report.hpp"
#include "banyan/study/study.hpp"

namespace banyan::study::silicon::silicon_test {
namespace {

namespace fs = std::filesystem;

config::Values values() {
  return read_constants(std::string(file_text(find_study("silicon").files, "constants.toml")), {});
}
Constants constants() { return constants_of(values()); }

/// A trace in a file of its own.
class Silicon : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              (std::string("banyan-silicon-") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& text, const std::string& name = "1x1_BLOCK_TO_1x1.json") const {
    const fs::path path = folder_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  /// Throws with the message of `cause`.
  std::string cause_of(const std::string& text) const {
    try {
      static_cast<void>(read_trace(write(text)));
    } catch (const ConfigError& error) { return error.where().key + ": " + error.cause(); }
    return "";
  }

  fs::path folder_;
};

std::string event(u32 x, u32 y, const std::string& rest, u64 at, u32 noc = 0) {
  return fmt::format(R"({{"proc": "{}", "noc": "NOC_{}", "sx": {}, "sy": {}, {}, "timestamp": {}}})",
                     noc == 0 ? "NCRISC" : "BRISC", noc, x, y, rest, at);
}
std::string begin(u32 x, u32 y, u64 at) { return event(x, y, R"("zone": "NCRISC-KERNEL", "zone_phase": "begin")", at); }
std::string read(u32 x, u32 y, u32 dx, u32 dy, u64 at, u32 noc = 0, u32 bytes = 4096) {
  return event(x, y, fmt::format(R"("dx": {}, "dy": {}, "num_bytes": {}, "type": "READ")", dx, dy, bytes), at, noc);
}
std::string barrier(u32 x, u32 y, u64 from, u64 to, u32 noc = 0) {
  return event(x, y, R"("type": "READ_BARRIER_START")", from, noc) + ",\n" +
         event(x, y, R"("type": "READ_BARRIER_END")", to, noc);
}
std::string events(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "[" : ",\n") + one;
  return text + "]";
}

double banyan_wait(const Trace& trace, std::size_t number = 0) {
  Networks networks(constants());
  return replay(trace, constants(), networks).barriers.at(number).model_wait;
}

TEST(SiliconChip, NetworksGoRoundInOppositeWays) {
  EXPECT_EQ(route(0, node_at(9, 11), node_at(0, 0)), (std::vector<u32>{2 * node_at(9, 11), 2 * node_at(0, 11) + 1}));
  EXPECT_EQ(route(1, node_at(0, 0), node_at(9, 11)), (std::vector<u32>{2 * node_at(0, 0) + 1, 2 * node_at(0, 11)}));
  for (const auto& [from, to] : std::vector<std::pair<u32, u32>>{{3, 17}, {118, 4}, {55, 50}}) {
    EXPECT_EQ(route(0, from, to).size(), route(1, to, from).size());
    EXPECT_EQ(route(0, from, to).size() + route(0, to, from).size(),
              (from % 10 == to % 10 ? 0 : kColumns) + (from / 10 == to / 10 ? 0 : kRows));
  }
  u32 ports = 0;
  for (u32 node = 0; node < kNodes; ++node) ports += dram_controller(node) ? 1 : 0;
  EXPECT_EQ(ports, 18U);
}

TEST_F(Silicon, ALoneReadTakesWhatTheConstantsSay) {
  const Constants c = constants();
  struct Case {
    u32 noc, dx, dy, bytes;
  };
  for (const Case& one : {Case{0, 1, 1, 4096}, Case{0, 2, 1, 2048}, Case{1, 4, 7, 4096}, Case{0, 0, 11, 2048}}) {
    const Trace trace = read_trace(
        write(events({read(1, 1, one.dx, one.dy, 300, one.noc, one.bytes), barrier(1, 1, 310, 900, one.noc)})));
    const u32 there = node_at(1, 1);
    const u32 target = node_at(one.dx, one.dy);
    const bool dram = dram_controller(target).has_value();
    const double expected = way_latency(one.noc, there, target, c) + (dram ? c.dram_latency : c.l1_latency) +
                            way_latency(one.noc, target, there, c) +
                            flits_of(one.bytes) * kFlitBytes / (dram ? c.dram_rate : c.l1_rate) - 1 +
                            c.barrier_overhead;
    EXPECT_NEAR(banyan_wait(trace), expected, 1.5);
    const std::unique_ptr<Carrier> alone = zero_load(c);
    const std::unique_ptr<Carrier> shares = max_min(c);
    EXPECT_NEAR(replay(trace, c, *alone).barriers.at(0).model_wait, expected, 1.5);
    EXPECT_NEAR(replay(trace, c, *shares).barriers.at(0).model_wait, expected, 1.5);
    EXPECT_NEAR(bottleneck(trace, c).barriers.at(0).model_wait, expected, 1.5);
  }
}

TEST_F(Silicon, APortServesReadsOneAfterTheOther) {
  const Constants c = constants();
  const std::vector<std::string> two{read(1, 1, 2, 1, 300), read(1, 1, 2, 1, 300), barrier(1, 1, 310, 900)};
  const Trace one = read_trace(write(events({two[0], two[2]})));
  const Trace both = read_trace(write(events(two)));
  EXPECT_NEAR(banyan_wait(both) - banyan_wait(one), flits_of(4096) * kFlitBytes / c.l1_rate, 1.5);
}

TEST_F(Silicon, BothNetworksShareTheMemoryOfAWorker) {
  const Constants c = constants();
  std::vector<std::string> many;
  for (const u32 noc : {0U, 1U}) {
    for (u32 i = 0; i < 8; ++i) many.push_back(read(1, 1, 2, 1, 300, noc));
    many.push_back(barrier(1, 1, 310, 9000, noc));
  }
  const Trace trace = read_trace(write(events(many)));
  EXPECT_NEAR(banyan_wait(trace, 0), 16 * flits_of(4096) * kFlitBytes / c.l1_shared_rate, 400);
  const Trace half = read_trace(write(events({many.begin(), many.begin() + 9})));
  EXPECT_GT(banyan_wait(trace, 0), 1.1 * banyan_wait(half, 0));
}

TEST_F(Silicon, WhatFollowsABarrierFollowsItsSimulatedEnd) {
  const Trace trace = read_trace(write(events({begin(1, 1, 100), read(1, 1, 2, 1, 300), barrier(1, 1, 310, 5000),
                                               read(1, 1, 2, 1, 5100), barrier(1, 1, 5110, 9000)})));
  Networks networks(constants());
  const Replay replayed = replay(trace, constants(), networks);
  ASSERT_EQ(replayed.barriers.size(), 2U);
  const Barrier& first = replayed.barriers[0];
  const Barrier& second = replayed.barriers[1];
  EXPECT_EQ(first.wait(), 4700.0);
  EXPECT_NEAR(second.model_wait, first.model_wait, 1.5);
  EXPECT_NEAR(second.model_end, first.model_end + 100.0 + second.model_wait, 1e-6);
}

TEST_F(Silicon, LeavesOutWhatTheProfilerDisturbs) {
  const std::string sends = event(1, 1, R"("zone": "PROFILER-NOC-QUICK-SEND", "zone_phase": "begin")", 5050);
  const Trace trace =
      read_trace(write(events({read(1, 1, 2, 1, 300), barrier(1, 1, 310, 5000), sends, read(1, 1, 2, 1, 5100),
                               barrier(1, 1, 5110, 9000), barrier(1, 1, 9100, 9180)})));
  const Comparison comparison = compare({trace}, values());
  EXPECT_EQ(comparison.traces[0].left_out, 1U);
  EXPECT_EQ(comparison.traces[0].empty, 1U);
  EXPECT_EQ(comparison.traces[0].models.at("banyan").barriers, 1U);
  const std::string within = event(1, 1, R"("zone": "PROFILER-NOC-QUICK-SEND", "zone_phase": "begin")", 5150);
  const Trace none = read_trace(write(events({within, read(1, 1, 2, 1, 5100), barrier(1, 1, 5110, 9000)})));
  EXPECT_TRUE(nlohmann::json::parse(to_json(compare({none}, values())))["traces"][0]["median_error"].is_null());
}

TEST_F(Silicon, RepeatsItselfAfterReset) {
  std::vector<std::string> all;
  for (const u32 x : {1U, 2U, 3U, 4U}) {
    for (u32 i = 0; i < 6; ++i) all.push_back(read(x, 2, 1, 1, 300 + 20 * i));
    all.push_back(barrier(x, 2, 500, 5000));
  }
  const Trace trace = read_trace(write(events(all)));
  Networks networks(constants());
  const Replay first = replay(trace, constants(), networks);
  networks.reset();
  const Replay second = replay(trace, constants(), networks);
  ASSERT_EQ(first.barriers.size(), second.barriers.size());
  for (std::size_t i = 0; i < first.barriers.size(); ++i) {
    EXPECT_EQ(first.barriers[i].model_end, second.barriers[i].model_end);
  }
}

/// Two messages over one link, one of them also over another: both have half of the link.
TEST(SiliconMaxMin, SharesALinkEvenly) {
  const Constants c = constants();
  const std::unique_ptr<Carrier> shares = max_min(c);
  shares->send({1, 0, node_at(3, 1), node_at(6, 1), 4096, 10});
  shares->send({2, 0, node_at(4, 1), node_at(7, 1), 4096, 10});
  std::vector<Arrival> arrivals;
  shares->run_until(1000, arrivals);
  ASSERT_EQ(arrivals.size(), 2U);
  for (const Arrival& arrival : arrivals) {
    EXPECT_NEAR(static_cast<double>(arrival.at), 10 + 2 * flits_of(4096) - 1 + way_latency(0, 3, 6, c), 1.5);
  }
}

TEST(SiliconReport, ComparesRanksAndErrors) {
  EXPECT_EQ(rank_correlation({1, 2, 3, 4}, {10, 20, 30, 40}), 1.0);
  EXPECT_EQ(rank_correlation({1, 2, 3, 4}, {4, 3, 2, 1}), -1.0);
  EXPECT_NEAR(*rank_correlation({1, 2, 3}, {1, 3, 2}), 0.5, 1e-12);
  EXPECT_NEAR(*rank_correlation({1, 2, 2, 3}, {1, 2, 3, 4}), 0.9487, 1e-4);
  EXPECT_FALSE(rank_correlation({1, 2}, {1, 2}));
  EXPECT_FALSE(rank_correlation({1, 1, 1}, {1, 2, 3}));
  const Errors errors = errors_of({-0.2, 0.1, 0.4});
  EXPECT_DOUBLE_EQ(errors.median, 0.2);
  EXPECT_DOUBLE_EQ(errors.worst, 0.4);
  EXPECT_NEAR(errors.bias, 0.1, 1e-12);
  EXPECT_NEAR(errors.ninetieth, 0.36, 1e-12);
}

TEST_F(Silicon, WritesItsPage) {
  std::vector<std::string> all;
  for (const u32 x : {1U, 2U, 3U, 4U}) {
    all.push_back(read(x, 2, 1, 1, 300));
    all.push_back(barrier(x, 2, 310, 900 + 100 * x));
  }
  write(events(all));
  write(events({read(1, 1, 0, 11, 300), barrier(1, 1, 310, 900)}), "DRAM_TO_8x1_BLOCK.json");
  const Study& study = find_study("silicon");
  const FilesResult result = study.row->measure(study, {folder_.string(), {}});
  ASSERT_EQ(result.figures.size(), 4U);
  EXPECT_EQ(result.figures[0].id, "errors-by-class");
  EXPECT_EQ(result.figures[0].values.rows.size(), 2 * model_names().size());
  EXPECT_EQ(result.figures[3].id, "errors-by-trace");
  EXPECT_EQ(result.figures[3].values.rows.size(), 2 * model_names().size());

  const FilesFigure& waits = result.figures[1];
  EXPECT_EQ(waits.id, "waits-block-to-block");
  ASSERT_EQ(waits.scatter.size(), 2U);
  EXPECT_EQ(waits.scatter[0].label, "max-min");
  EXPECT_EQ(waits.scatter[1].label, "banyan");
  const Replay replayed = [&] {
    Networks networks(constants());
    return replay(read_trace((folder_ / "1x1_BLOCK_TO_1x1.json").string()), constants(), networks);
  }();
  ASSERT_EQ(waits.scatter[1].dots.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const FilesFigure::Dot& dot = waits.scatter[1].dots[i];
    EXPECT_EQ(dot.x, 700.0 + 100.0 * static_cast<double>(i));
    EXPECT_EQ(dot.name, fmt::format("1x1_BLOCK_TO_1x1.json, node ({}, 2), NCRISC, barrier 0", i + 1));
    const auto same = std::find_if(replayed.barriers.begin(), replayed.barriers.end(),
                                   [&](const Barrier& b) { return b.processor == i; });
    EXPECT_EQ(dot.y, same->model_wait);
  }

  const report::Page page = report::page_of(spec_of(study), result);
  const report::Chart& chart = page.figures[1].charts.at(0).chart;
  EXPECT_FALSE(chart.lines[1].joined);
  EXPECT_TRUE(chart.lines[2].analytical);
  const std::string svg = report::to_svg(chart, true);
  const auto curves = [&] {
    std::size_t n = 0;
    for (auto at = svg.find("class=\"curve\""); at != std::string::npos; at = svg.find("class=\"curve\"", at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(curves(), 2U) << "the line of equal waits and its entry of the legend";
  report::write_page(page, folder_ / "page");
  for (const char* file : {"report.html", "waits-block-to-block.svg", "waits-large-DRAM.csv", "errors-by-trace.csv"})
    EXPECT_TRUE(fs::is_regular_file(folder_ / "page" / file)) << file;
}

TEST_F(Silicon, TellsClassesByName) {
  const std::string text = events({read(1, 1, 2, 1, 300), barrier(1, 1, 310, 900)});
  EXPECT_EQ(read_trace(write(text, "DRAM_TO_1x8_BLOCK.json")).trace_class, TraceClass::issue_bound);
  EXPECT_EQ(read_trace(write(text, "DRAM_TO_2x4_HEIGHT.json")).trace_class, TraceClass::issue_bound);
  EXPECT_EQ(read_trace(write(text, "DRAM_TO_8x1_BLOCK.json")).trace_class, TraceClass::large_dram);
  EXPECT_EQ(read_trace(write(text, "1x2_BLOCK_TO_2x4_HEIGHT.json")).trace_class, TraceClass::block_to_block);
  EXPECT_EQ(read_trace(write(text, "mine.json")).trace_class, TraceClass::other);
}

TEST_F(Silicon, SaysWhereATraceIsWrong) {
  EXPECT_EQ(cause_of("[{"), ": is no JSON: wrong at byte 3");
  EXPECT_EQ(cause_of("{}"), ": holds no array of events");
  EXPECT_EQ(cause_of(events({read(1, 1, 2, 1, 300), read(10, 1, 2, 1, 300)})),
            "event 2: \"sx\" is no whole number from 0 to 9");
  EXPECT_EQ(cause_of(R"([{"sx": 1, "sy": 1}])"), "event 1: has no \"timestamp\"");
  EXPECT_EQ(cause_of(events({read(1, 1, 2, 1, 300, 2)})), "event 1: there is no network \"NOC_2\"");
  EXPECT_EQ(cause_of(events({read(1, 1, 2, 1, 300), read(1, 1, 2, 1, 299)})),
            "event 2: lies before the event ahead of it");
  EXPECT_EQ(cause_of(events({event(1, 1, R"("type": "READ_BARRIER_END")", 5)})), "event 1: no barrier is open");
  EXPECT_EQ(cause_of(events({event(1, 1, R"("type": "READ_BARRIER_START")", 5)})),
            ": the last barrier of NCRISC at node (1, 1) does not end");
  EXPECT_EQ(cause_of(events({read(1, 1, 2, 1, 300, 0, 0)})), "event 1: reads no byte");
  EXPECT_THROW(static_cast<void>(read_traces(folder_ / "none")), ConfigError);
}

TEST(SiliconConstants, AreCheckedLikeParameters) {
  const std::string text(file_text(find_study("silicon").files, "constants.toml"));
  EXPECT_EQ(constants_of(read_constants(text, {"buffer=32"})).buffer, 32U);
  EXPECT_THROW(static_cast<void>(read_constants(text, {"bufer=32"})), ConfigError);
  EXPECT_THROW(static_cast<void>(read_constants(text, {"l1_rate=64"})), ConfigError);
  EXPECT_THROW(static_cast<void>(read_constants(text, {"l1_rate"})), ConfigError);
}

TEST(SiliconStudy, HasNoFiguresToRun) { EXPECT_THROW(static_cast<void>(run_study("silicon")), ConfigError); }

}  // namespace
}  // namespace banyan::study::silicon::silicon_test
