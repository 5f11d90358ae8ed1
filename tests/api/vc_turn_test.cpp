// Is a load that the virtual channels cannot turn fast enough for told before it is simulated, with a bound that is
// exact for one virtual channel, and a remedy that helps?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"

namespace banyan::api::vc_turn_test {
namespace {

struct Router {
  std::string settings;  ///< of the switch, beside vcs and buffer
  double fixed;          ///< cycles of a turn: fixed + per_flit x flits
  double per_flit;
};

std::string line(u32 vcs, const std::string& settings, u32 flits, double load) {
  return fmt::format(
      "topology = {{ name = 'mesh', size = [2] }}\nrouting = 'dimension_order'\n"
      "switch = {{ name = 'vc_router', vcs = {}, buffer = 64{} }}\n"
      "traffic = {{ name = 'uniform', load = {}, size = {} }}\nrun = {{ warmup = 1000, measure = 5000 }}\n",
      vcs, settings, load, flits);
}

Experiment read(const std::string& text, const Overrides& overrides = {}) {
  return read_experiments_text(text, "turn.toml", overrides).points.front();
}

bool notes_turn(const std::string& note) { return note.find("keeps its virtual channel for") != std::string::npos; }

std::string turn_note(const Experiment& experiment) {
  for (const std::string& note : check(experiment)) {
    if (notes_turn(note)) return note;
  }
  return "";
}

TEST(VcTurn, TheFormulaIsWhatOneVirtualChannelCarries) {
  const std::vector<Router> routers{
      {"", 2, 1},
      {", routing_delay = 0", 1, 1},
      {", vc_alloc_delay = 2", 3, 1},
      {", sw_alloc_delay = 2", 2, 2},
      {", traversal_delay = 3, credit_delay = 2", 2, 1},
      {", speculative = true", 1, 1},
      {", internal_speedup = 2.0", 1, 0.5},
      {", flow = 'cut_through'", 2, 1},
      {", wait_for_tail_credit = true", 7, 1},
      {", wait_for_tail_credit = true, speculative = true", 5, 1},
      {", wait_for_tail_credit = true, routing_delay = 3, credit_delay = 2", 11, 1},
      {", wait_for_tail_credit = true, vc_alloc_delay = 2", 9, 1},
      {", wait_for_tail_credit = true, sw_alloc_delay = 2", 8, 2},
      {", hold_switch_for_packet = true", 2, 1},
      {", hold_switch_for_packet = true, sw_alloc_delay = 2", 3, 1},
      {", hold_switch_for_packet = true, sw_alloc_delay = 5", 6, 1},
      {", hold_switch_for_packet = true, sw_alloc_delay = 2, wait_for_tail_credit = true", 9, 1}};
  for (const Router& router : routers) {
    for (const u32 flits : {1U, 4U}) {
      SCOPED_TRACE(router.settings);
      const double carried = std::min(1.0, flits / (router.fixed + router.per_flit * flits));
      const Result result = run(read(line(1, router.settings, flits, 1.0)));
      EXPECT_NEAR(result.at("accepted_load").mean, carried, 0.01 * carried);
      if (carried == 1.0) continue;  // nothing to say
      const std::string cycles = fmt::format("= {:.4g} cycles", router.fixed + router.per_flit * flits);
      EXPECT_NE(result.warning.find(cycles), std::string::npos) << result.warning;
      EXPECT_NE(turn_note(read(line(1, router.settings, flits, 1.0))).find(cycles), std::string::npos);
    }
  }
}

/// "0.8" of a note that says what was measured.
std::optional<double> measured_in(const std::string& note) {
  const auto end = note.find(" are accepted, and ");
  if (end == std::string::npos) return std::nullopt;
  return std::stod(note.substr(note.rfind(' ', end - 1) + 1));
}

/// The least share of its load that an experiment carries with some seeds, of which one is known.
double least_carried(Experiment experiment, double least) {
  for (i64 seed = 2; seed < 10 && least > 0.985; ++seed) {
    experiment.run.set("seed", seed);
    const Result result = run(experiment);
    least = std::min(least, result.at("accepted_load").mean / result.at("offered_load").mean);
  }
  return least;
}

/// Several virtual channels share the stages of an input port, so that they carry less than their turns alone would let
/// them: two of packets of two flits carry 0.8 where the turns would let them carry a full channel. Whatever the delays
/// of the stages, `check` and `run` tell of every load that is not carried, of no other, and how much is.
TEST(VcTurn, TellsOfEveryLoadThatVirtualChannelsDoNotCarry) {
  u32 told = 0;
  u32 measured = 0;
  for (const char* delays :
       {"", ", routing_delay = 0", ", routing_delay = 3", ", vc_alloc_delay = 2", ", vc_alloc_delay = 3",
        ", vc_alloc_delay = 4, sw_alloc_delay = 3", ", sw_alloc_delay = 2", ", speculative = true",
        ", internal_speedup = 2.0", ", sw_allocator = 'pim', vc_allocator = 'pim'", ", overlapping_stages = false"}) {
    for (const u32 vcs : {1U, 2U, 3U}) {
      for (const u32 flits : {1U, 2U, 3U, 8U}) {
        for (const double load : {0.4, 0.95}) {
          const std::string text = line(vcs, delays, flits, load);
          SCOPED_TRACE(text);
          const Experiment experiment = read(text, {"run.extension=1"});
          const Result result = run(experiment);
          const double carried = result.at("accepted_load").mean / result.at("offered_load").mean;
          const std::string note = turn_note(experiment);
          EXPECT_TRUE(carried > 0.96 || notes_turn(result.warning)) << carried;
          // Between the two a load is nearly carried.
          EXPECT_TRUE(carried > 0.96 || !note.empty()) << carried;
          EXPECT_TRUE(note.empty() || least_carried(experiment, carried) < 0.985) << carried << note;
          told += note.empty() ? 0 : 1;
          if (const auto said = measured_in(note)) {
            EXPECT_NEAR(*said, carried * load, 0.1 * load) << note;
            ++measured;
          }
        }
      }
    }
  }
  EXPECT_GT(told, 80U);
  EXPECT_GT(measured, 20U);
}

TEST(VcTurn, TheFormulaBoundsWhatSeveralVirtualChannelsCarry) {
  for (const u32 vcs : {1U, 2U, 3U, 4U}) {
    for (const u32 flits : {1U, 2U, 3U, 4U, 8U}) {
      const double bound = std::min(1.0, vcs * flits / (2.0 + flits));
      const Experiment experiment = read(line(vcs, "", flits, 1.0));
      const Result result = run(experiment);
      const double accepted = result.at("accepted_load").mean;
      // Packets that began before the measurement end in it: at most one per virtual channel and direction.
      EXPECT_LE(accepted, bound + vcs * flits / 5000.0) << vcs << " virtual channels, " << flits << " flits";
      EXPECT_GE(accepted, 0.75 * bound) << "the bound is near";
      if (bound == 1.0) continue;
      const std::string carried = fmt::format("carr{} {:.3g} flits per cycle at most", vcs == 1 ? "ies" : "y", bound);
      EXPECT_NE(result.warning.find(carried), std::string::npos) << result.warning;
      EXPECT_NE(turn_note(experiment).find(carried), std::string::npos) << turn_note(experiment);
    }
  }
}

/// Stages that do not overlap keep a packet longer than the formula says, never shorter, and a switch allocation of
/// several cycles bounds the channel too.
TEST(VcTurn, TheFormulaBoundsStagesThatDoNotOverlap) {
  struct Stages {
    std::string settings;
    double fixed;
    double per_flit;
    double channel = 1.0;
  };
  for (const Stages& stages : {Stages{"routing_delay = 2", 3, 1}, Stages{"routing_delay = 3", 4, 1},
                               Stages{"vc_alloc_delay = 3", 4, 1}, Stages{"traversal_delay = 3", 2, 1},
                               Stages{"sw_alloc_delay = 2", 2, 2, 0.5}, Stages{"sw_alloc_delay = 3", 2, 3, 1.0 / 3},
                               Stages{"sw_alloc_delay = 3, input_speedup = 2, output_speedup = 2", 2, 3, 2.0 / 3},
                               Stages{"routing_delay = 3, sw_alloc_delay = 2", 4, 2, 0.5}}) {
    for (const u32 vcs : {2U, 4U}) {
      for (const u32 flits : {1U, 4U}) {
        const std::string text = line(vcs, ", overlapping_stages = false, " + stages.settings, flits, 1.0);
        SCOPED_TRACE(text);
        const double turns = vcs * flits / (stages.fixed + stages.per_flit * flits);
        const Result result = run(read(text));
        EXPECT_LE(result.at("accepted_load").mean, std::min(turns, stages.channel) + vcs * flits / 5000.0);
        const double carried = result.at("accepted_load").mean;
        EXPECT_TRUE(carried > 0.95 || !turn_note(read(text)).empty()) << carried;
        EXPECT_TRUE(carried < 0.98 || turn_note(read(text)).empty()) << carried << turn_note(read(text));
        const std::string port = fmt::format("a channel carries {:.3g} flits per cycle at most", stages.channel);
        EXPECT_EQ(result.warning.find(port) != std::string::npos, stages.channel < 1.0) << result.warning;
        // A channel that carries less than the load is not helped by virtual channels.
        EXPECT_TRUE(stages.channel == 1.0 || turn_note(read(text)).find("switch.vcs") == std::string::npos);
      }
    }
  }
}

/// The remedies of that: the same router with stages that overlap, or with an allocation of one cycle.
TEST(VcTurn, TheRemediesOfStagesThatDoNotOverlapHelp) {
  const std::string text = line(8, ", overlapping_stages = false, sw_alloc_delay = 3", 1, 0.9);
  EXPECT_LT(run(read(text)).at("accepted_load").mean, 0.35);
  for (const char* remedy : {"switch.overlapping_stages=true", "switch.sw_alloc_delay=1"}) {
    const Result result = run(read(text, {remedy}));
    EXPECT_GT(result.at("accepted_load").mean, 0.85) << remedy;
    EXPECT_EQ(result.warning.find("overlapping_stages"), std::string::npos) << result.warning;
  }
}

/// Replies take turns as well as requests, and a channel carries both.
TEST(VcTurn, RepliesTurnToo) {
  struct Case {
    u32 vcs;
    u32 flits;
    u32 reply;
    bool waits;
  };
  for (const Case& c : {Case{1, 1, 1, false}, Case{1, 1, 4, false}, Case{2, 1, 1, false}, Case{1, 4, 1, false},
                        Case{1, 1, 1, true}, Case{2, 2, 2, true}, Case{2, 1, 3, true}}) {
    const auto text = [&](double load) {
      std::string all = line(c.vcs, c.waits ? ", wait_for_tail_credit = true" : "", c.flits, load);
      return all.replace(all.find(", size = ", all.find("uniform")), 0, fmt::format(", reply_size = [{}]", c.reply));
    };
    SCOPED_TRACE(text(1.0));
    // Turns of both, for a request and its reply: fixed is 2, or 7 with the round trip of a credit.
    const double both = c.flits + c.reply;
    const double bound = c.vcs * both / (2 * (c.waits ? 7.0 : 2.0) + both);
    ASSERT_LT(bound, 1.0);
    const double load = bound * c.flits / both;  // of requests, that needs all of it
    const Result result = run(read(text(1.2 * load)));
    // In overload the longer kind may have a larger share of the channel than the load gives it.
    EXPECT_LE(result.at("accepted_load").mean, 1.03 * bound + c.vcs * c.reply / 5000.0);
    EXPECT_GE(result.at("accepted_load").mean, 0.85 * bound) << "the bound is near";
    EXPECT_NE(turn_note(read(text(1.05 * load))), "");
    EXPECT_NE(run(read(text(1.2 * load))).warning.find("keeps its virtual channel"), std::string::npos);
    EXPECT_EQ(turn_note(read(text(0.95 * load))), "");
  }
}

/// A routing that looks at queues takes no known way; the shortest ways need so much all the same.
TEST(VcTurn, IsToldOfRoutingsThatLookAtQueues) {
  for (const char* routing : {"{ name = 'ugal' }", "{ name = 'o1turn', choice = 'adaptive' }"}) {
    const auto text = [&](double load) {
      return fmt::format(
          "topology = {{ name = 'mesh', size = [4, 4] }}\nrouting = {}\nswitch = {{ name = 'vc_router', vcs = 4, "
          "buffer = 32, wait_for_tail_credit = true }}\ntraffic = {{ name = 'uniform', load = {}, size = 1 }}\n"
          "run = {{ warmup = 2000, measure = 10000 }}\n",
          routing, load);
    };
    // 48 channels with four virtual channels of a flit in 8 cycles each, and packets that cross 8 / 3 of them.
    const double bound = 48 * 4 / 8.0 / (16 * 8.0 / 3);
    EXPECT_NE(turn_note(read(text(1.05 * bound))).find("the channels between switches, in the mean"), std::string::npos)
        << routing << turn_note(read(text(1.05 * bound)));
    // Heads that wait for the queue that they chose carry a third of the bound.
    EXPECT_NE(turn_note(read(text(0.95 * bound))), "") << routing;
    EXPECT_LT(run(read(text(0.95 * bound))).at("accepted_load").mean, 0.7 * bound) << routing;
    EXPECT_EQ(turn_note(read(text(0.25 * bound))), "") << routing;
    EXPECT_LE(run(read(text(1.05 * bound))).at("accepted_load").mean, bound) << routing;
  }
}

/// Where no number of virtual channels is enough: longer packets, or a lower load.
TEST(VcTurn, TheRemedyWithoutVirtualChannelsHelps) {
  const std::string text =
      "topology = { name = 'mesh', size = [2], latency = 100 }\nrouting = 'dimension_order'\n"
      "switch = { name = 'vc_router', vcs = 8, buffer = 512, wait_for_tail_credit = true }\n"
      "traffic = { name = 'uniform', load = 0.8, size = 1 }\nrun = { warmup = 4000, measure = 20000 }\n";
  const std::string note = turn_note(read(text));
  EXPECT_NE(note.find("switch.wait_for_tail_credit = false"), std::string::npos) << note;
  EXPECT_NE(note.find("; use that, longer packets, or a lower load"), std::string::npos) << note;
  EXPECT_LT(run(read(text)).at("accepted_load").mean, 0.1);
  for (const char* remedy : {"switch.wait_for_tail_credit=false", "traffic.size=128", "traffic.load=0.02"}) {
    const Experiment helped = read(text, {remedy});
    EXPECT_EQ(turn_note(helped), "") << remedy;
    const Result result = run(helped);
    EXPECT_GT(result.at("accepted_load").mean, 0.95 * result.at("offered_load").mean) << remedy;
  }
}

TEST(VcTurn, IsToldWhereTheLoadNeedsMoreAndNowhereElse) {
  EXPECT_EQ(turn_note(read(line(1, "", 1, 0.3))), "");
  EXPECT_NE(turn_note(read(line(1, "", 1, 0.36))), "");
  EXPECT_EQ(turn_note(read(line(2, "", 1, 0.6))), "");
  EXPECT_NE(turn_note(read(line(2, "", 1, 0.7))), "");
  EXPECT_EQ(turn_note(read(line(3, "", 1, 1.0))), "");
  EXPECT_EQ(turn_note(read(line(1, "", 8, 0.7))), "");
}

/// "switch.vcs=3" of a note.
std::string remedy_in(const std::string& note) {
  const auto use = note.find("use switch.vcs = ");
  if (use == std::string::npos) return "";
  const std::string number = note.substr(use + 17);
  return "switch.vcs=" + number.substr(0, number.find_first_not_of("0123456789"));
}

/// On lines, rings and grids, with waiting for credits and without; loads that the channels themselves carry.
TEST(VcTurn, TheRemediesHelp) {
  const auto on = [](const std::string& topology, const std::string& routing, const std::string& settings, u32 vcs,
                     double load) {
    return fmt::format(
        "topology = {{ {} }}\nrouting = '{}'\nswitch = {{ name = 'vc_router', vcs = {}, buffer = 32{} }}\n"
        "traffic = {{ name = 'uniform', load = {}, size = 1 }}\nrun = {{ warmup = 2000, measure = 20000 }}\n",
        topology, routing, vcs, settings, load);
  };
  const std::string waits = ", wait_for_tail_credit = true";
  for (const std::string& text : {on("name = 'mesh', size = [2]", "dimension_order", "", 1, 0.9),
                                  on("name = 'mesh', size = [2]", "dimension_order", waits, 1, 0.8),
                                  on("name = 'mesh', size = [2], latency = 5", "dimension_order", waits, 2, 0.8),
                                  on("name = 'torus', size = [8]", "dimension_order", "", 2, 0.4),
                                  on("name = 'torus', size = [8]", "dimension_order", "", 2, 0.6),
                                  on("name = 'mesh', size = [8, 8]", "minimal_adaptive", "", 2, 0.35),
                                  on("name = 'mesh', size = [4, 4]", "dimension_order", waits, 2, 0.5)}) {
    const std::string note = turn_note(read(text));
    const std::string remedy = remedy_in(note);
    ASSERT_NE(remedy, "") << text << note;
    const Experiment helped = read(text, {remedy});
    EXPECT_EQ(turn_note(helped), "") << text;
    const Result result = run(helped);
    EXPECT_GT(result.at("accepted_load").mean, 0.95 * result.at("offered_load").mean) << text << note;
    EXPECT_LT(run(read(text)).at("accepted_load").mean, 0.95 * result.at("accepted_load").mean) << text << note;
  }
}

/// Small buffers need virtual channels too: no number of them carries a twentieth more than the one that is advised.
TEST(VcTurn, TheRemediesAreNotWorseThanOthersOfTheirKind) {
  for (const u32 buffer : {1U, 2U, 3U}) {
    for (const u32 vcs : {1U, 2U, 3U, 4U, 5U}) {
      const std::string text = line(vcs, "", 1, 0.9);
      const std::string small = fmt::format("switch.buffer={}", buffer);
      const std::string remedy = remedy_in(turn_note(read(text, {small})));
      if (remedy.empty()) continue;
      const auto carried = [&](const std::string& channels) {
        return run(read(text, {small, channels, "run.extension=1"})).at("accepted_load").mean;
      };
      const double advised = carried(remedy);
      for (const u32 others : {vcs + 1, vcs + 2, vcs + 4, vcs + 8}) {
        EXPECT_GT(advised, 0.94 * carried(fmt::format("switch.vcs={}", others)))
            << small << " vcs " << vcs << ": " << remedy << ", and not " << others;
      }
    }
  }
}

/// The same of routers whose stages make virtual channels wait for each other, also with packets of several lengths.
TEST(VcTurn, TheRemediesHelpWhereStagesAreShared) {
  u32 tried = 0;
  for (const char* delays : {"", ", routing_delay = 3", ", vc_alloc_delay = 2",
                             ", vc_alloc_delay = 4, sw_alloc_delay = 3", ", speculative = true"}) {
    for (const u32 vcs : {1U, 2U, 3U}) {
      for (const char* size : {"size = 1", "size = 2", "size = 3", "size_distribution = 'list', sizes = [1, 5]"}) {
        std::string text = line(vcs, delays, 1, 0.95);
        text.replace(text.find("size = 1"), 8, size);
        SCOPED_TRACE(text);
        const std::string note = turn_note(read(text));
        if (note.empty()) continue;
        const std::string remedy = remedy_in(note);
        ASSERT_NE(remedy, "") << note;
        ++tried;
        EXPECT_EQ(turn_note(read(text, {remedy})), "");
        const Result result = run(read(text, {remedy, "run.extension=1"}));
        EXPECT_GT(result.at("accepted_load").mean, 0.97 * result.at("offered_load").mean) << note;
      }
    }
  }
  EXPECT_GT(tried, 30U);
}

/// Networks in which several inputs want one output, virtual channels are kept apart, or terminals wait: what is told
/// is what a run shows, and the remedy helps as much as a router without the delays does.
TEST(VcTurn, TellsOfLoadsThatNetworksDoNotCarry) {
  struct Case {
    std::string network;  ///< topology and routing
    u32 vcs;
    std::string settings;
    std::string traffic;
    double load;
  };
  const std::string mesh = "topology = { name = 'mesh', size = [4, 4] }\nrouting = 'dimension_order'\n";
  const std::string pair = "topology = { name = 'mesh', size = [2] }\nrouting = 'dimension_order'\n";
  const std::string o1turn = "topology = { name = 'mesh', size = [4, 4] }\nrouting = 'o1turn'\n";
  const std::string stages =
      "topology = { name = 'multistage_cube', terminals = 8, radix = 2 }\nrouting = 'destination_tag'\n";
  const std::string wide =
      "topology = { name = 'multistage_cube', terminals = 64, radix = 4 }\nrouting = 'destination_tag'\n";
  const std::string tree =
      "topology = { name = 'fat_tree', arity = 4, levels = 2 }\nrouting = 'nearest_common_ancestor'\n";
  const std::string many = "topology = { name = 'mesh', size = [2], concentration = 4 }\nrouting = 'dimension_order'\n";
  const std::string twice = "topology = { name = 'mesh', size = [2], subnetworks = 2 }\nrouting = 'dimension_order'\n";
  const std::string square = "topology = { name = 'mesh', size = [2, 2] }\nrouting = 'dimension_order'\n";
  const std::string waits = ", wait_for_tail_credit = true";
  u32 lost = 0;
  for (const Case& c :
       {Case{mesh, 3, "", "size = 1", 0.7}, Case{mesh, 2, "", "size = 2", 0.4}, Case{o1turn, 3, "", "size = 1", 0.55},
        Case{stages, 3, "", "size = 1", 0.8}, Case{stages, 2, "", "size = 1", 0.6},
        Case{stages, 2, "", "size = 1", 0.35}, Case{wide, 3, "", "size = 1", 0.65}, Case{wide, 2, "", "size = 1", 0.55},
        Case{tree, 2, "", "size = 1", 0.45}, Case{tree, 4, "", "size = 1", 0.45}, Case{many, 3, "", "size = 1", 0.4},
        Case{twice, 1, "", "size = 1, subnetwork = 0", 0.6}, Case{pair, 2, "", "size = 1, vc_range = [0, 0]", 0.6},
        Case{pair, 2, "", "size = 1, vc_range = [0, 0]", 0.3}, Case{square, 1, waits, "size = 4", 0.4},
        Case{square, 2, waits, "size = 4", 0.75}, Case{square, 4, waits, "size = 4", 0.5}}) {
    const std::string text = fmt::format(
        "{}switch = {{ name = 'vc_router', vcs = {}{} }}\ntraffic = {{ name = 'uniform', load = {}, {} }}\n"
        "run = {{ warmup = 2000, measure = 10000, extension = 1 }}\n",
        c.network, c.vcs, c.settings, c.load, c.traffic);
    SCOPED_TRACE(text);
    const auto carried = [&](const Overrides& changes) {
      const Result result = run(read(text, changes));
      return result.at("accepted_load").mean / result.at("offered_load").mean;
    };
    const double as_it_is = carried({});
    const double without =
        carried({"switch.routing_delay=0", "switch.vc_alloc_delay=0", "switch.wait_for_tail_credit=false"});
    const std::string note = turn_note(read(text));
    EXPECT_TRUE(as_it_is > 0.975 * without || !note.empty()) << as_it_is << " " << without;
    EXPECT_TRUE(as_it_is < 0.99 * without || note.empty()) << as_it_is << " " << without << note;
    if (note.empty()) continue;
    ++lost;
    EXPECT_NEAR(measured_in(note).value_or(0.0), as_it_is * c.load, 0.02 * c.load) << note;
    if (const std::string remedy = remedy_in(note); !remedy.empty()) {
      EXPECT_GT(carried({remedy}), 0.97 * without) << note;
    }
  }
  EXPECT_GE(lost, 11U);
}

/// Where a trial would take long, two switches stand for the channel that has to carry most: the middle of a long grid.
TEST(VcTurn, TellsOfLargeNetworksByTwoSwitches) {
  const auto text = [](u32 vcs, double load) {
    return fmt::format(
        "topology = {{ name = 'mesh', size = [18, 16] }}\nrouting = 'dimension_order'\n"
        "switch = {{ name = 'vc_router', vcs = {} }}\ntraffic = {{ name = 'uniform', load = {}, size = 2 }}\n",
        vcs, load);
  };
  const std::string note = turn_note(read(text(2, 0.21)));
  EXPECT_NE(note.find("where they fall into step at a port (measured on two switches)"), std::string::npos) << note;
  EXPECT_EQ(remedy_in(note), "switch.vcs=3") << note;
  EXPECT_EQ(turn_note(read(text(3, 0.21))), "");
  EXPECT_EQ(turn_note(read(text(2, 0.15))), "");
  EXPECT_NE(turn_note(read(text(1, 0.15))).find("so that 1 of them carries 0.5 flits per cycle at most"),
            std::string::npos);
}

/// Packets of several lengths of which the short ones go where others do not: the mean length says nothing, and the
/// load is carried.
TEST(VcTurn, SaysNothingOfALoadThatIsCarried) {
  const std::string text =
      "topology = { name = 'mesh', size = [4] }\nrouting = 'dimension_order'\n"
      "switch = { name = 'vc_router', vcs = 1, buffer = 64 }\ntraffic = [{ name = 'permutation', pattern = "
      "'neighbour', "
      "load = 0.1, size = 1 }, { name = 'hot_spot', fraction = 1.0, targets = [0], load = 0.2, size = 64 }]\n";
  EXPECT_EQ(turn_note(read(text)), "");
  EXPECT_FALSE(notes_turn(run(read(text)).warning));
}

/// Two traffics on virtual channels of their own: what is said of all packets together would be wrong for both.
TEST(VcTurn, IsNotToldOfTrafficsApart) {
  const Experiment apart = read(
      "topology = { name = 'mesh', size = [2] }\nrouting = 'dimension_order'\nswitch = { name = 'vc_router', vcs = 2, "
      "buffer = 64 }\ntraffic = [{ name = 'uniform', size = 1, load = 0.25, vc_range = [0, 0] }, { name = 'uniform', "
      "size = 16, load = 0.5, vc_range = [1, 1] }]\n");
  EXPECT_EQ(turn_note(apart), "");
  const Result result = run(apart);
  EXPECT_GT(result.at("accepted_load").mean, 0.74);
}

TEST(VcTurn, ClassesOfVirtualChannelsTurnByThemselves) {
  // Two phases with two classes each: one virtual channel per class carries a third.
  const std::string text =
      "topology = { name = 'torus', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 4 }\nrouting = 'valiant'\n"
      "traffic = { name = 'uniform', load = 0.5 }\nrun = { warmup = 1000, measure = 4000 }\n";
  const std::string note = turn_note(read(text));
  const std::string more = turn_note(read(text, {"load=0.9"}));
  EXPECT_NE(more.find("so that 1 of them carries 0.333 flits per cycle"), std::string::npos) << more;
  const Result slow = run(read(text));
  EXPECT_TRUE(notes_turn(slow.warning));
  ASSERT_NE(remedy_in(note), "") << note;
  const Experiment helped = read(text, {remedy_in(note)});
  EXPECT_EQ(turn_note(helped), "");
  EXPECT_GT(run(helped).at("accepted_load").mean, 1.1 * slow.at("accepted_load").mean);
}

}  // namespace
}  // namespace banyan::api::vc_turn_test
