// Is what remedies and notes propose there, and is it good?
#include "banyan/api/advice.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "banyan/base/error.hpp"
#include "engine/small_instances.hpp"

namespace banyan::api::advice_test {
namespace {

using test::SmallValues;

std::string experiment(const std::string& topology, const std::string& switching, const std::string& routing,
                       const std::string& more = "") {
  return "topology = " + topology + "\nswitch = " + switching + "\nrouting = " + routing +
         "\ntraffic = { name = 'uniform', load = 0.9, size = 64 }\nrun = { warmup = 3000, measure = 8000 }\n" + more;
}

Experiment read(const std::string& text, const Overrides& overrides = {}) {
  return read_experiments_text(text, "advice.toml", overrides).points.front();
}

std::string remedy_of(const std::string& text) {
  try {
    static_cast<void>(check(read(text)));
  } catch (const ConfigError& error) { return error.remedy(); }
  return "";
}

/// What a remedy writes for the routing function: behind "use routing = ".
std::string routing_in(const std::string& remedy) {
  const std::string begin = "use routing = ";
  return remedy.starts_with(begin) ? remedy.substr(begin.size()) : "";
}

const std::vector<std::string> kUp{"d_mod_k", "s_mod_k", "destination_digit", "straight", "hashed"};

TEST(Advice, WhatCioqAdvisesIsNoWorseThanItsAlternatives) {
  for (const char* wiring : {"perfect_shuffle", "k_ary_n_tree"}) {
    const std::string topology =
        fmt::format("{{ name = 'bidirectional_min', hosts = 16, ports = 8, wiring = '{}' }}", wiring);
    const std::string remedy = remedy_of(experiment(topology, "'cioq'", "'nearest_common_ancestor'"));
    ASSERT_NE(routing_in(remedy), "") << remedy;
    const double advised = run(read(experiment(topology, "'cioq'", routing_in(remedy)))).at("accepted_load").mean;
    for (const std::string& up : kUp) {
      const std::string other = fmt::format("{{ name = 'nearest_common_ancestor', up = '{}' }}", up);
      EXPECT_GE(advised, 0.95 * run(read(experiment(topology, "'cioq'", other))).at("accepted_load").mean)
          << wiring << ": " << remedy << " against " << up;
    }
  }
}

TEST(Advice, EveryTopologyGetsARoutingThatRuns) {
  for (const core::TopologyRow* topology : core::topology_rows()) {
    std::set<std::string> tried;
    for (const core::RoutingRow* routing : core::routing_rows()) {
      const SmallValues values = test::small_values({{"load", "0.2"}});
      const auto text = [&](const std::string& of_routing) {
        return fmt::format("topology = {}\nswitch = {}\nrouting = {}\ntraffic = 'uniform'\n",
                           test::small_component(topology->info, values),
                           "{ name = 'cioq', memory = 1024, packet = 8, overhead = 0, queues = '1q' }", of_routing);
      };
      const std::string remedy = remedy_of(text(test::small_component(routing->info, values)));
      if (routing_in(remedy).empty() || !tried.insert(remedy).second) continue;
      EXPECT_EQ(remedy_of(text(routing_in(remedy))), "") << topology->info.name << ": " << remedy;
    }
  }
}

TEST(Advice, AChoiceThatHalvesTheThroughputIsNoted) {
  const auto notes = [](const std::string& wiring, const std::string& up) {
    return check_choices({read(experiment("{ name = 'bidirectional_min', hosts = 64, wiring = '" + wiring + "' }",
                                          "'vc_router'", "{ name = 'nearest_common_ancestor', up = '" + up + "' }"))});
  };
  for (const char* up : {"d_mod_k", "s_mod_k"}) {
    const auto said = notes("perfect_shuffle", up);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_NE(said[0].find(fmt::format("routing.up = \"{}\"", up)), std::string::npos) << said[0];
    EXPECT_NE(said[0].find("destination_digit"), std::string::npos) << said[0];
    EXPECT_TRUE(notes("k_ary_n_tree", up).empty());
  }
  EXPECT_TRUE(notes("perfect_shuffle", "destination_digit").empty());
  EXPECT_TRUE(notes("perfect_shuffle", "adaptive").empty());
}

TEST(Advice, AdaptiveRoutingIsJudgedByTheMeanOfItsChoices) {
  const auto notes = [](const std::string& routing) {
    return check_choices({read(experiment("{ name = 'fat_tree', arity = 4, levels = 2 }", "'vc_router'", routing))});
  };
  const auto root = notes("{ name = 'up_down', order = 'breadth_first' }");
  ASSERT_EQ(root.size(), 1U);
  EXPECT_NE(root[0].find("use order = \"automatic\""), std::string::npos) << root[0];
  EXPECT_TRUE(notes("'up_down'").empty());
  EXPECT_EQ(notes("{ name = 'shortest_path', choice = 'first' }").size(), 1U);
}

TEST(Advice, TheNoteIsTrue) {
  const std::string topology = "{ name = 'bidirectional_min', hosts = 64 }";
  const auto accepted = [&](const char* up) {
    return run(read(experiment(topology, "'vc_router'",
                               fmt::format("{{ name = 'nearest_common_ancestor', up = '{}' }}", up)),
                    {"traffic.size=4", "run.measure=3000"}))
        .at("accepted_load")
        .mean;
  };
  EXPECT_GT(accepted("destination_digit"), 1.6 * accepted("d_mod_k"));
}

/// The number behind a word of a note.
double number_behind(const std::string& note, const std::string& word) {
  const std::size_t at = note.find(word);
  return at == std::string::npos ? 0.0 : std::stod(note.substr(at + word.size()));
}

/// All go over the lowest ports: what queues choose among loads the same channels.
TEST(Advice, WhatNoQueuesLetPassIsNotedAndTrue) {
  for (const char* routing : {"valiant", "ugal"}) {
    const auto text = [&](bool classes) {
      return fmt::format(
          "topology = {{ name = 'fat_tree', arity = 4, levels = 2 }}\n"
          "switch = {{ name = 'vc_router', vcs = 16 }}\n"
          "routing = {{ name = '{}', hop_classes = {} }}\n"
          "traffic = {{ name = 'uniform', load = 1.0, size = 4 }}\n"
          "run = {{ warmup = 1000, measure = 4000 }}\n",
          routing, classes);
    };
    const std::vector<std::string> notes = check_choices({read(text(false))});
    ASSERT_EQ(notes.size(), 1U) << routing;
    EXPECT_NE(notes[0].find("use hop_classes = true"), std::string::npos) << notes[0];
    const double most = number_behind(notes[0], "this traffic has ");
    const double now = run(read(text(false))).at("accepted_load").mean;
    EXPECT_LE(now, most * 1.001) << notes[0];
    EXPECT_GT(run(read(text(true))).at("accepted_load").mean, 1.8 * now) << notes[0];
    EXPECT_TRUE(check_choices({read(text(true))}).empty());
  }
}

/// What a note promises, terminals take, and packets with all that they have beyond their flits.
TEST(Advice, ChannelsOfTerminalsAndOverheadBoundWhatIsPromised) {
  const auto notes = [](int overhead, const char* destinations) {
    return check_choices({read(fmt::format(
        "topology = {{ name = 'fat_tree', arity = 4, levels = 2 }}\nswitch = {{ name = 'cioq', overhead = {} }}\n"
        "routing = {{ name = 'nearest_common_ancestor', up = 'd_mod_k' }}\n"
        "traffic = {{ name = 'flows', sources = [0, 1, 2], destinations = [{}], loads = [1.0], size = 64 }}\n"
        "run.duration = 20000\n",
        overhead, destinations))});
  };
  for (const int overhead : {0, 6, 64}) {
    EXPECT_TRUE(notes(overhead, "4, 4, 4").empty()) << "its channel is the bound, whatever the way";
    const std::vector<std::string> told = notes(overhead, "4, 8, 12");
    ASSERT_EQ(told.size(), 1U);
    EXPECT_NEAR(number_behind(told[0], "fills none before "), 3.0 / 16 * 64 / (64 + overhead), 0.001) << told[0];
  }
}

/// Of several networks of one name the one at hand is judged when no value of the routing function is to blame.
TEST(Advice, TopologiesAreJudgedWhereRoutingIsNotToBlame) {
  const std::string text =
      "topology = { name = 'multistage_cube', terminals = 16, radix = 2, wiring = 'WIRING' }\n"
      "switch = 'vc_router'\nrouting = 'destination_tag'\n"
      "traffic = { name = 'permutation', pattern = 'PATTERN', load = 0.5, include_self = true }\n";
  u32 told = 0;
  for (const core::TopologyRow* row : core::topology_rows()) {
    if (row->info.name != "multistage_cube") continue;
    for (const config::Parameter& p : row->info.parameters) {
      if (p.name != "wiring") continue;
      for (const std::string& wiring : p.choices) {
        for (const char* pattern : {"transpose", "bit_reverse", "shuffle"}) {
          std::string one = text;
          one.replace(one.find("WIRING"), 6, wiring);
          one.replace(one.find("PATTERN"), 7, pattern);
          for (const std::string& note : check_choices({read(one)})) {
            ++told;
            const std::string from = "wiring = \"";
            const std::size_t at = note.find("; use " + from) + 6 + from.size();
            const std::string better = note.substr(at, note.find('"', at) - at);
            EXPECT_TRUE(std::ranges::find(p.choices, better) != p.choices.end()) << note;
            EXPECT_LT(number_behind(note, "this traffic has "), 0.55 * number_behind(note, "fills none before "));
          }
        }
      }
    }
  }
  EXPECT_GT(told, 0U);
}

/// Defaults that carry less uniform traffic than another value, by more than 5 %, and why they stay.
const std::map<std::string, std::string> kWorseByDefault{
    {"dragonfly routing = { name = \"shortest_path\", choice = \"first\" }",
     "the lowest port happens to suit these three routers per group; it halves fat trees"},
    {"mesh routing = { name = \"shortest_path\", choice = \"first\" }",
     "the lowest port is dimension order here, which suits uniform traffic; it halves fat trees"},
    {"dragonfly routing = { name = \"valiant\", early_exit = \"anywhere\" }",
     "Valiant's algorithm goes all the way to the random switch, which is what its bound for any traffic stands on"},
    {"mesh routing = { name = \"turn_model\", rule = \"unrestricted\" }", "it deadlocks"},
    {"hypercube routing = { name = \"turn_model\", rule = \"unrestricted\" }", "it deadlocks"},
};

/// By the mean loads of channels.
TEST(Advice, DefaultsOfEveryTopologyAndRoutingAreNoWorseThanOtherChoices) {
  constexpr u32 kVcs = 16;
  u32 compared = 0;
  for (const core::TopologyRow* topology : core::topology_rows()) {
    const auto made = build_topology(
        read(fmt::format("topology = {}\nswitch = 'vc_router'\nrouting = 'shortest_path'\ntraffic = 'uniform'\n",
                         test::small_component(topology->info, test::small_values({})))));
    for (const core::RoutingRow* routing : core::routing_rows()) {
      double by_default = 0.0;
      for (const RoutingChoice& choice : routing_choices(routing->info)) {
        double throughput = 0.0;
        try {
          throughput = uniform_throughput(*made, *routing->make(choice.values, {made.get(), {}, kVcs, false}), kVcs);
        } catch (const ConfigError&) { continue; }  // does not exist there
        if (by_default == 0.0) by_default = throughput;
        if (throughput == 0.0 || kWorseByDefault.contains(topology->info.name + " " + choice.text)) continue;
        EXPECT_GE(by_default, 0.95 * throughput) << topology->info.name << ": " << choice.text;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 60U);
}

/// What a note proposes, as an override: routing.rule = "unrestricted".
std::string proposal_in(const std::string& note) {
  const std::string part = note.substr(0, note.find('.'));
  const std::size_t at = note.find("; use ") + 6;
  return part + "." + note.substr(at, note.find(", ", at) - at);
}

/// Where nothing deadlocks, nothing does with what a note proposes, for every topology, routing function and value of
/// its choices, under traffics that load few channels.
TEST(Advice, NothingThatIsProposedDeadlocks) {
  u32 proposed = 0;
  for (const core::TopologyRow* topology : core::topology_rows()) {
    for (const core::RoutingRow* routing : core::routing_rows()) {
      for (const RoutingChoice& choice : routing_choices(routing->info)) {
        for (const char* traffic :
             {"{ name = 'uniform', load = 0.3 }", "{ name = 'permutation', pattern = 'transpose' }",
              "{ name = 'permutation', pattern = 'bit_reverse' }"}) {
          for (const u32 vcs : {1U, 4U}) {
            const std::string text =
                fmt::format("topology = {}\nswitch = {{ name = 'vc_router', vcs = {} }}\n{}\ntraffic = {}\n",
                            test::small_component(topology->info, test::small_values({})), vcs, choice.text, traffic);
            try {
              const Experiment one = read(text);
              if (std::ranges::any_of(check_deadlock({one}), &DeadlockNote::may_deadlock)) continue;
              for (const std::string& note : check_choices({one})) {
                ++proposed;
                for (const DeadlockNote& then : check_deadlock({read(text, {proposal_in(note)})}))
                  EXPECT_FALSE(then.may_deadlock) << text << note << "\n" << then.text;
              }
            } catch (const ConfigError&) {}  // does not exist there
          }
        }
      }
    }
  }
  EXPECT_GT(proposed, 10U);
  // Whatever the switch model knows of circles itself.
  for (const char* model : {"central_buffer", "input_buffer", "circuit", "packet_node", "output_queued"}) {
    const auto notes = check_choices(
        {read(fmt::format("topology = {{ name = 'mesh', size = [4, 4] }}\nswitch = '{}'\nrouting = 'turn_model'\n"
                          "traffic = {{ name = 'permutation', pattern = 'transpose', load = 0.2 }}\n",
                          model))});
    for (const std::string& note : notes)
      EXPECT_EQ(note.find("unrestricted"), std::string::npos) << model << ": " << note;
  }
}

TEST(Advice, PointsOfASweepOfLoadsAreLookedAtOnce) {
  const std::string text =
      experiment("{ name = 'bidirectional_min' }", "'vc_router'",
                 "{ name = 'nearest_common_ancestor', up = 'd_mod_k' }", "[sweep]\n'traffic.load' = [0.1, 0.2, 0.3]\n");
  const ExperimentSet set = read_experiments_text(text, "sweep.toml", {});
  EXPECT_EQ(set.points.size(), 3U);
  EXPECT_EQ(check_choices(set.points).size(), 1U);
}

}  // namespace
}  // namespace banyan::api::advice_test
